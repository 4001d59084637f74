/* The block's inside: all that can be written is read back, and what is put together wrongly,
 * though its lengths are right, is refused. */
#include "page/block.h"
#include "tests/page/page_help.h"

/* A block taken apart: counts, and the parts as they may be changed. */
struct apart {
    struct digest_header h;
    uint32_t counts[COUNT_COUNT];
    struct buf parts[PART_COUNT];
};

static uint32_t number_take(const unsigned char **at)
{
    uint32_t n = 0;

    for (unsigned shift = 0;; shift += 7) {
        unsigned char c = *(*at)++;
        n |= (uint32_t)(c & 0x7F) << shift;
        if (!(c & 0x80))
            return n;
    }
}

static struct apart take_apart(const struct buf *block)
{
    struct apart a;
    const unsigned char *at = (const unsigned char *)block->data + sizeof a.h;

    memcpy(&a.h, block->data, sizeof a.h);
    for (size_t i = 0; i < COUNT_COUNT; i++)
        a.counts[i] = number_take(&at);
    for (size_t i = 0; i < PART_COUNT; i++) {
        buf_init(&a.parts[i], 1 << 20);
        buf_append(&a.parts[i], at, a.counts[COUNT_PARTS + i]);
        at += a.counts[COUNT_PARTS + i];
    }
    return a;
}

static void apart_done(struct apart *a)
{
    for (size_t i = 0; i < PART_COUNT; i++)
        buf_done(&a->parts[i]);
}

/* Whether what was put together again opens; its lengths are made right. */
static bool opens(struct apart *a)
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct page_digest *d;
    BUF(out, 1 << 20);

    buf_append(&out, &a->h, sizeof a->h);
    for (size_t i = 0; i < PART_COUNT; i++)
        a->counts[COUNT_PARTS + i] = (uint32_t)a->parts[i].len;
    for (size_t i = 0; i < COUNT_COUNT; i++) {
        uint32_t n = a->counts[i];
        for (; n >= 0x80; n >>= 7)
            buf_putc(&out, (char)(n | 0x80));
        buf_putc(&out, (char)n);
    }
    for (size_t i = 0; i < PART_COUNT; i++)
        buf_append(&out, buf_text(&a->parts[i]), a->parts[i].len);
    /* in memory of its own size, where a sanitizer sees what is read behind it */
    char *own = malloc(out.len);
    memcpy(own, out.data, out.len);
    bool ok = page_digest_open(life, own, out.len, NULL, &d) == OK;
    free(own);
    return ok;
}

static struct apart small(struct arena *life)
{
    static const char page[] = "<p id=ab>on\xC3\xA9</p><x-y id=abc>two</x-y><a href=/l>l</a>";
    struct made m = make(life, page, sizeof page - 1, "text/html");
    struct apart a = take_apart(&m.block);
    made_done(&m);
    return a;
}

static void set(struct apart *a, enum digest_part part, const void *bytes, size_t n)
{
    buf_clear(&a->parts[part]);
    buf_append(&a->parts[part], bytes, n);
}

/* Whether a block opens in which one part has other bytes. */
static bool opens_with(enum digest_part part, const void *bytes, size_t n)
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    CLEANUP(apart_done) struct apart a = small(life);
    set(&a, part, bytes, n);
    return opens(&a);
}

#define OPENS_WITH(part, bytes) opens_with(part, bytes, sizeof(bytes) - 1)

TEST(apart, "a block taken apart and put together is the block")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    CLEANUP(apart_done) struct apart a = small(life);
    EXPECT(opens(&a));
    EXPECT(a.parts[PART_NAMES].len == 4); /* x-y; the others are common */
    EXPECT(a.parts[PART_VALUES].len == 5 && memcmp(a.parts[PART_VALUES].data, "abc/l", 5) == 0);
    EXPECT(a.parts[PART_TEXTS].len == 8 && a.counts[COUNT_TEXTS] == 3);
}

TEST(strings, "strings that are no text are refused, wherever they stand")
{
    EXPECT(OPENS_WITH(PART_TEXTS, "on\xC3\xA9two!"));
    EXPECT(!OPENS_WITH(PART_TEXTS, "o\xC3\xA9ntwo\xC3")); /* cut at the end */
    EXPECT(!OPENS_WITH(PART_TEXTS, "on\xC3twol!"));       /* a character's half */
    EXPECT(!OPENS_WITH(PART_TEXTS, "one\xC3\xA9tw!"));    /* two texts share a character */
    EXPECT(!OPENS_WITH(PART_TEXTS, "on\xC3\xA9t\0o!"));
    EXPECT(!OPENS_WITH(PART_TEXTS, "on\xC3\xA9two"));
    EXPECT(!OPENS_WITH(PART_TEXTS, "on\xC3\xA9two!!"));
    EXPECT(OPENS_WITH(PART_VALUES, "xbc/m"));
    EXPECT(!OPENS_WITH(PART_VALUES, "a\0c/m"));
    EXPECT(!OPENS_WITH(PART_VALUES, "a\xFF"
                                    "c/m"));
    EXPECT(!OPENS_WITH(PART_VALUES, "a\xC3\xA9/m")); /* "a\xC3" is a value of its own */
    EXPECT(!OPENS_WITH(PART_NAMES, "\3x\0y"));
    EXPECT(!OPENS_WITH(PART_NAMES, "\3x\xFFy"));
    EXPECT(!OPENS_WITH(PART_NAMES, "\2x"));
    EXPECT(!OPENS_WITH(PART_NAMES, ""));
    EXPECT(!OPENS_WITH(PART_NAMES, "\3x-y\1z")); /* one that nobody has */
    EXPECT(!OPENS_WITH(PART_BASE, "http://x.org/\xC3"));
}

TEST(kinds, "kinds of names that there are none of are refused")
{
    static const unsigned wrong[] = {NAME_COMMON_MAX, NAME_COMMON_MAX + 2, 0x7F};
    SCRATCH struct arena *life = arena_new(NULL, "t");

    for (size_t place = 0; place < 3; place += 2) /* its tag, the name of its attribute */
        for (size_t i = 0; i < countof(wrong); i++) {
            CLEANUP(apart_done) struct apart a = small(life);
            a.parts[PART_KINDS].data[place] = (char)wrong[i];
            EXPECT(!opens(&a));
        }
    CLEANUP(apart_done) struct apart a = small(life);
    a.parts[PART_KINDS].data[1] = 0x7F; /* more attributes than follow */
    EXPECT(!opens(&a));
}

TEST(tree, "children that do not come, and come unasked, are refused")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    CLEANUP(apart_done) struct apart a = small(life);
    unsigned char *shape = (unsigned char *)a.parts[PART_KINDS].data + 1;

    REQUIRE(*shape == kind_shape(1, 1));
    *shape = (unsigned char)kind_shape(2, 1); /* p takes x-y, and all is a tree */
    EXPECT(opens(&a));
    *shape = (unsigned char)kind_shape(5, 1);
    EXPECT(!opens(&a));
    *shape = (unsigned char)kind_shape(0, 1); /* roots are as many as they are */
    EXPECT(opens(&a));
    *shape = (unsigned char)kind_shape(1, 1);
    a.counts[COUNT_NODES]++;
    EXPECT(!opens(&a));
    a.counts[COUNT_NODES] -= 2;
    EXPECT(!opens(&a));
}

TEST(counts, "a count that is not what the parts hold is refused")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");

    for (int i = COUNT_KINDS; i < COUNT_PARTS; i++)
        for (int by = -1; by <= 1; by += 2) {
            CLEANUP(apart_done) struct apart a = small(life);
            if (by < 0 && a.counts[i] == 0)
                continue;
            a.counts[i] += (uint32_t)by;
            EXPECT(!opens(&a));
            a.counts[i] = UINT32_MAX;
            EXPECT(!opens(&a));
        }
}

TEST(addresses, "addresses of values, of bases and of bytes that are not there are refused")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    CLEANUP(apart_done) struct apart a = small(life);
    const struct buf *links = &a.parts[PART_LINKS];

    REQUIRE(links->len == 2 && links->data[0] == 3 && links->data[1] == 12);
    EXPECT(!OPENS_WITH(PART_LINKS, "\4\14"));  /* there are three values */
    EXPECT(!OPENS_WITH(PART_LINKS, "\3\177")); /* the base is not so long */
    EXPECT(!OPENS_WITH(PART_LINKS, "\3"));
    EXPECT(OPENS_WITH(PART_LINKS, "\0\0\16http://x.org/m"));
    EXPECT(!OPENS_WITH(PART_LINKS, "\0\0\16http://x.org\0m"));
    EXPECT(!OPENS_WITH(PART_LINKS, "\0\1\15ttp://x.org/m")); /* of none before */
    set(&a, PART_BASE, "http://x.or\xC3\xA9/", 14);
    EXPECT(!opens(&a)); /* 12 bytes of it end inside a character */
    set(&a, PART_LINKS, "\3\13", 2);
    a.counts[COUNT_LINK_BYTES]--;
    EXPECT(opens(&a));
    a.counts[COUNT_LINKS] = 2;
    a.counts[COUNT_LINK_BYTES] *= 2;
    set(&a, PART_LINKS, "\3\13\3\13", 4);
    EXPECT(!opens(&a)); /* twice the same */
}

/* ---- all that can be written ------------------------------------------------------------- */

TEST(round, "names, kinds, children, values and texts of every length come back")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(page, 1 << 22);
    BUF(expected, 1 << 22);

    for (unsigned i = 0; i < 300; i++) { /* more kinds and names than a byte can tell */
        char text[301], value[301];
        memset(text, 'a' + (int)(i % 26), i + 1);
        memset(value, 'v', i); /* begins as the one before */
        text[i + 1] = value[i] = 0;
        buf_printf(&page, "<t%u k%u=1 class='%s'>%s", i, i, value, text);
        buf_printf(&expected, " t%u@class=\"%s\"@k%u=\"1\"(\"%s\"", i, value, i, text);
        for (unsigned k = 0; k < i % 9; k++) {
            buf_puts(&page, "<br>");
            buf_puts(&expected, " br");
        }
        buf_printf(&page, "</t%u>", i);
        buf_putc(&expected, ')');
    }
    CLEANUP(made_done) struct made m = make(life, page.data, page.len, "text/html");
    REQUIRE(m.d);
    EXPECT_INT(m.d->tag_names, 302);
    EXPECT_INT(m.d->attr_names, 301);
    BUF(seen, 1 << 22);
    for (uint32_t i = 0, text = 0; i < m.d->nodes;) {
        buf_putc(&seen, ' ');
        i = show_node(m.d, i, &text, &seen);
    }
    EXPECT_TEXT(buf_text(&seen), buf_text(&expected));
}

TEST(shape, "parents and ends are those of the child counts")
{
    static const char page[] = "<div><p>a<b>b<i>c</i></b></p><p></p></div><hr>x<ul><li>1<li>2";
    SCRATCH struct arena *life = arena_new(NULL, "t");
    CLEANUP(made_done) struct made m = make(life, page, sizeof page - 1, "text/html");
    REQUIRE(m.d);
    for (uint32_t i = 0; i < m.d->nodes; i++) {
        uint32_t at = i + 1;
        for (uint32_t c = 0; c < m.d->children[i]; c++) {
            EXPECT(m.d->parent[at] == i);
            at = m.d->end[at];
        }
        EXPECT(m.d->end[i] == at);
    }
}

TEST(common, "common names are in order, and each is found")
{
    for (uint32_t i = 1; common_name(i); i++) {
        EXPECT_INT(common_name_find(str_of(common_name(i))), i);
        EXPECT(i == 1 || strcmp(common_name(i - 1), common_name(i)) < 0);
    }
    EXPECT_INT(common_name_find(STR("clas")), NAME_NEW);
    EXPECT_INT(common_name_find(STR("classes")), NAME_NEW);
    EXPECT_INT(common_name_find(STR("")), NAME_NEW);
    EXPECT(!common_name(NAME_NEW) && !common_name(NAME_COMMON_MAX + 1));
}

/* ---- what the parse does in steps of sixteen, and from stems ----------------------------- */

TEST(stems, "a reference behind a stem is what resolving gives")
{
    static const char *const bases[] = {"http://x.org/d/p.html?q#f", "HTTP://X.org:80", "",
            "http://x.org/a/../b/./c/", "mailto:someone", "file:///a/b", "http://", "foo:/a/b",
            "https://u:P@h:8443/%7e/\xC3\xA9/x y", "http://h?q/r", "//h/x", "ftp://h/a//b"};
    static const char *const references[] = {"/x", "x", "#x", "/", "#", "?y", "", "//h2/z",
            "/a/./b", "/a/../b", "./x", "../x", "a/../b", "a/.b", "/.a", "/%2e/x", "%2e%2E/x",
            "a/%2e./b", "x:y", "/x:y", "#x:y", "x?a:b", "http:x", "http://Y.org/A", "a b",
            " /x ", "/x\ty", "a\\b", "/a\\..\\b", "\xC3\xA9", "/\"x\"", "#<x>", "/`", "a^|{}",
            "javascript:x", "/a//b/", "x;p?q=/../r#s/../t", "/x?y/./z", "#/./x", "/x\x7F"};

    for (size_t i = 0; i < countof(bases); i++) {
        CLEANUP(url_base_done) struct url_base u;
        url_base_init(&u, str_of(bases[i]), 1000);
        for (size_t k = 0; k < countof(references); k++) {
            BUF(quick, 1000);
            BUF(slow, 1000);
            bool from_base,
                    one = url_base_resolve(&u, str_of(references[k]), &quick, &from_base),
                    other = page_url_resolve(str_of(bases[i]), str_of(references[k]), &slow);
            EXPECT(one == other);
            EXPECT_TEXT(buf_text(&quick), buf_text(&slow));
        }
    }
}

TEST(squeezed, "text is squeezed the same, wherever in it something is")
{
    static const char *const odd[][2] = {{"  ", " "}, {"\n\t", " "}, {"\xC2\xA0", " "},
            {"\x01", ""}, {"\xC3\xA9", "\xC3\xA9"}, {"\xEF\xBF\xBE", ""}, {" \xC2\xA0 ", " "},
            {"e\xCC\x81", "\xC3\xA9"}, {"\xEF\xBC\x81", "\xEF\xBC\x81"}, {"\x7F", "\x7F"}};
    SCRATCH struct arena *life = arena_new(NULL, "t");

    for (size_t i = 0; i < countof(odd); i++)
        for (int before = 1; before < 36; before++)
            for (int behind = 1; behind < 20; behind += 6) {
                static const char letters[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqr";
                char *page = arena_printf(
                        life, "<p>%.*s%s%.*s", before, letters, odd[i][0], behind, letters);
                char *expected = arena_printf(
                        life, "p(\"%.*s%s%.*s\")", before, letters, odd[i][1], behind, letters);
                CLEANUP(made_done) struct made m = make(life, page, strlen(page), "text/html");
                REQUIRE(m.d);
                EXPECT_TEXT(show(life, m.d), expected);
                page = arena_printf(life, "<p title=\"%.*s%s%.*s\">", before, letters,
                        odd[i][0], behind, letters);
                CLEANUP(made_done) struct made n = make(life, page, strlen(page), "text/html");
                REQUIRE(n.d);
                expected = arena_printf(
                        life, "%.*s%s%.*s", before, letters, odd[i][1], behind, letters);
                EXPECT_TEXT(page_attr_value(n.d, 0).ptr, expected);
            }
}

TEST(letters, "names and values in other letters are the same in each place of a tag")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char page[] =
            "<DIV ID='A&amp;B' cLaSs=x&lt;y Data-\x01=1 title='&quot;' ALT>z";
    CLEANUP(made_done) struct made m = make(life, page, sizeof page - 1, "text/html");
    REQUIRE(m.d);
    EXPECT_TEXT(show(life, m.d),
            "div@alt=\"\"@class=\"x<y\"@data-_=\"1\"@id=\"A&B\"@title=\"\"\""
            "(\"z\")");
}

TEST_MAIN()
