/* How a change looks: on a terminal, in a text, in HTML. */
#include "notify/notify_int.h"
#include "tests/test.h"

static const char *show(struct buf *out, struct notify_line *lines, size_t n,
        enum notify_look look, enum notify_form form, unsigned width)
{
    struct notify_part part = {.type = "any change", .lines = lines, .nlines = n};
    struct notify_item it = {.parts = &part, .nparts = 1, .look = look};
    buf_clear(out);
    notify_show(out, &it, (struct notify_style){form, width});
    return buf_text(out);
}

TEST(looks, "each look in plain text: signs say what colour says")
{
    struct notify_line lines[] = {{.mark = NOTIFY_SAME, .now = "stays"},
            {.mark = NOTIFY_UPDATED, .old = "the old word", .now = "the new word"},
            {.mark = NOTIFY_INSERTED, .now = "came"}, {.mark = NOTIFY_DELETED, .old = "went"},
            {.mark = NOTIFY_UPDATED, .shape = NOTIFY_ROW, .old = "a\t1", .now = "a\t2"},
            {.mark = NOTIFY_INSERTED, .shape = NOTIFY_IMAGE, .now = "http://x/i.png"}};
    BUF(out, 1 << 16);
    EXPECT_TEXT(show(&out, lines, 6, NOTIFY_ONLY, NOTIFY_PLAIN, 40),
            "  - the old word\n  + the new word\n  + came\n  - went\n"
            "  ~ a | [-1-] {+2+}\n  + [image] http://x/i.png\n");
    EXPECT_TEXT(show(&out, lines, 6, NOTIFY_MERGED, NOTIFY_PLAIN, 40),
            "    stays\n  ~ the [-old-] {+new+} word\n  + came\n  - went\n"
            "  ~ a | [-1-] {+2+}\n  + [image] http://x/i.png\n");
    EXPECT_TEXT(show(&out, lines, 6, NOTIFY_SIDE, NOTIFY_PLAIN, 43),
            "stays                  stays\n"
            "the old word         | the new word\n"
            "                     > came\n"
            "went                 <\n"
            "a | 1                | a | 2\n"
            "                     > [image]\n"
            "                     > http://x/i.png\n");
}

static struct notify_line prices[] = {
        {.mark = NOTIFY_SAME, .shape = NOTIFY_HEAD, .now = "Drink\tSmall\tLarge"},
        {.mark = NOTIFY_UPDATED, .shape = NOTIFY_ROW, .old = "Tea\t2\t", .now = "Tea\t2.50\t3"},
        {.mark = NOTIFY_INSERTED, .shape = NOTIFY_ROW, .now = "K\xC3\xA4se\t\t4"},
        {.mark = NOTIFY_DELETED, .shape = NOTIFY_ROW, .old = "Wine"},
        {.mark = NOTIFY_INSERTED, .now = "no row"},
        {.mark = NOTIFY_DELETED, .shape = NOTIFY_ROW, .old = "a\tb"},
};

TEST(tables, "a table is a table: columns below each other, what differs marked in its cell")
{
    static const char aligned[] = "    Drink | Small          | Large\n"
                                  "  ~ Tea   | [-2-] {+2.50+} | {+3+}\n"
                                  "  + K\xC3\xA4se  |                | 4\n"
                                  "  - Wine\n"
                                  "  + no row\n"
                                  "  - a | b\n";
    BUF(out, 1 << 16);
    EXPECT_TEXT(show(&out, prices, 6, NOTIFY_ONLY, NOTIFY_PLAIN, 80), aligned);
    EXPECT_TEXT(show(&out, prices, 6, NOTIFY_MERGED, NOTIFY_PLAIN, 80), aligned);
    EXPECT_TEXT(show(&out, prices, 2, NOTIFY_MERGED, NOTIFY_COLOUR, 80),
            "    Drink | Small  | Large\033[0m\n"
            "\033[33m  ~ \033[0mTea   | \033[9;31m2\033[0m \033[1;32m2.50\033[0m | "
            "\033[1;32m3\033[0m\n");
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

TEST(html_tables, "in HTML rows that stand together are one table, in every look")
{
    BUF(out, 1 << 16);
    for (int look = 0; look < NOTIFY_LOOK_COUNT; look++) {
        const char *html = show(&out, prices, 6, (enum notify_look)look, NOTIFY_HTML, 0);
        EXPECT_INT(count(html, "<div style=\"overflow-x:auto"), 2);
        EXPECT_INT(count(html, "<table"), count(html, "</table>"));
        EXPECT_INT(count(html, "<div"), count(html, "</div>"));
        EXPECT(strstr(html, ">2</del> <ins"));
        EXPECT(strstr(html, "font-weight:600;") && strstr(html, ">Drink</td>"));
    }
}

TEST(hidden, "an update whose text is the same says so, instead of showing it twice")
{
    struct notify_line line = {.mark = NOTIFY_UPDATED, .old = "same", .now = "same"};
    BUF(out, 1 << 16);
    for (int look = NOTIFY_MERGED; look < NOTIFY_LOOK_COUNT; look++)
        EXPECT_TEXT(show(&out, &line, 1, (enum notify_look)look, NOTIFY_PLAIN, 80),
                "  ~ same\n    (not in its text: in what is around or inside it)\n");
}

TEST_MAIN()
