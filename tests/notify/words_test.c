/* What differs inside lines, and two texts as one. */
#include "notify/notify_int.h"
#include "tests/test.h"

static struct arena *life;

static const char *marked(const struct words *w)
{
    BUF(b, 1 << 16);
    for (size_t i = 0; i < w->n; i++) {
        buf_puts(&b, w->runs[i].changed ? "[" : "");
        buf_append(&b, w->runs[i].text.ptr, w->runs[i].text.len);
        buf_puts(&b, w->runs[i].changed ? "]" : "");
    }
    return arena_strdup(life, buf_text(&b));
}

static void expect_words(const char *a, const char *b, const char *ma, const char *mb)
{
    struct words x, y;
    words_compare(life, str_of(a), str_of(b), &x, &y);
    EXPECT_TEXT(marked(&x), ma);
    EXPECT_TEXT(marked(&y), mb);
}

TEST(words, "only the words that differ are marked")
{
    life = arena_new(NULL, "test");
    expect_words("the quick brown fox", "the quick red fox", "the quick [brown ]fox",
            "the quick [red ]fox");
    expect_words("a b c", "a b c", "a b c", "a b c");
    expect_words("a b", "a x b", "a b", "a [x ]b");
    expect_words("", "new", "", "[new]");
    expect_words("one  two", "one two", "one  two", "one two"); /* spaces are no words */
    expect_words("x", "y", "[x]", "[y]");
    arena_free(life);
}

/* Lines as letters: "abc" are three lines; the answer is " a -b +x". */
static const char *compared(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    struct notify_line *old = arena_array_of(life, n + 1, struct notify_line);
    struct notify_line *now = arena_array_of(life, m + 1, struct notify_line);
    for (size_t i = 0; i < n; i++)
        old[i].now = arena_strndup(life, a + i, 1);
    for (size_t i = 0; i < m; i++)
        now[i].now = arena_strndup(life, b + i, 1);
    struct notify_part part = {0};
    notify_compare(life, old, n, now, m, &part);
    BUF(out, 1 << 20);
    for (size_t i = 0; i < part.nlines; i++)
        buf_printf(&out, "%c%s", " +-~»"[part.lines[i].mark],
                part.lines[i].now ? part.lines[i].now : part.lines[i].old);
    return arena_strdup(life, buf_text(&out));
}

TEST(lines, "two texts become one list of lines, none lost and none invented")
{
    life = arena_new(NULL, "test");
    EXPECT_TEXT(compared("abc", "abc"), " a b c");
    EXPECT_TEXT(compared("abc", "axc"), " a-b+x c");
    EXPECT_TEXT(compared("", "ab"), "+a+b");
    EXPECT_TEXT(compared("ab", ""), "-a-b");
    EXPECT_TEXT(compared("abcd", "bcde"), "-a b c d+e");
    /* Any two texts can be read back out of their list. */
    uint32_t random = 7;
    for (int round = 0; round < 3000; round++) {
        char a[24], b[24], x[24] = "", y[24] = "";
        for (int side = 0; side < 2; side++) {
            random = random * 1664525u + 1013904223u;
            int len = (int)(random >> 20) % 20;
            char *to = side ? b : a;
            for (int i = 0; i < len; i++) {
                random = random * 1664525u + 1013904223u;
                to[i] = (char)('a' + (random >> 24) % 4);
            }
            to[len] = 0;
        }
        const char *list = compared(a, b);
        size_t kept = 0;
        for (const char *c = list; *c; c += 2) {
            if (*c != '+')
                strncat(x, c + 1, 1);
            if (*c != '-')
                strncat(y, c + 1, 1);
            kept += *c == ' ';
        }
        /* The longest common subsequence, by the book. */
        size_t best[25][25] = {{0}};
        for (size_t i = strlen(a); i-- > 0;)
            for (size_t k = strlen(b); k-- > 0;) {
                size_t down = best[i + 1][k], right = best[i][k + 1];
                best[i][k] = a[i] == b[k]   ? best[i + 1][k + 1] + 1
                             : down > right ? down
                                            : right;
            }
        if (strcmp(x, a) != 0 || strcmp(y, b) != 0 || kept != best[0][0])
            test_fail(__FILE__, __LINE__, "%s and %s give %s", a, b, list);
    }
    arena_free(life);
}

TEST(ratio, "the ratio is one minus twice what is kept over all words")
{
    life = arena_new(NULL, "test");
    struct notify_line lines[] = {{.mark = NOTIFY_SAME, .now = "a b"},
            {.mark = NOTIFY_UPDATED, .old = "c d", .now = "x y"}};
    struct notify_part part = {.lines = lines, .nlines = 2};
    EXPECT(notify_ratio(&part) == 0.5); /* abcd and abxy */
    part.nlines = 1;
    EXPECT(notify_ratio(&part) == 0);
    part.nlines = 0;
    EXPECT(notify_ratio(&part) == 0);
    arena_free(life);
}

TEST_MAIN()
