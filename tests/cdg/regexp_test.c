/* Regular expressions: the table of the semantics, then patterns and pages that are hostile. */
#include "base/time.h"
#include "tests/cdg/cdg_help.h"
#include <signal.h>
#include <sys/time.h>
#include <time.h>

static struct cdg_leaf pattern(const char *text, bool on_text)
{
    struct cdg_leaf l = leaf_of("regexp");
    l.text = text;
    l.on_text = on_text;
    return l;
}

#define EXPECT_SOURCE(regexp, before, after, expected)                                         \
    EXPECT_LEAF(pattern(regexp, false), before, after, expected)
#define EXPECT_ON_TEXT(regexp, before, after, expected)                                        \
    EXPECT_LEAF(pattern(regexp, true), before, after, expected)

#define JAVA "<b>(Java.*?)</b>"

TEST(RX1, "RX1: what the group matched has changed")
{
    EXPECT_SOURCE(JAVA, "<b>Java 1</b>", "<b>Java 2</b>", "~Java 1→Java 2");
}

static const char *remark_of(struct arena *life, const char *before, const char *after)
{
    const struct cdg_finding *f =
            compare_leaf(life, pattern(JAVA, false), before, after, "text/html");
    const char *at = f->detail ? strstr(f->detail, "\"remark\":\"") : NULL;
    return at ? arena_strndup(life, at + 10, strcspn(at + 10, "\"")) : "";
}

TEST(RX2, "RX2, RX3: a match that disappeared, one that appeared")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    EXPECT_SOURCE(JAVA, "<b>Java 1</b>", "<i>Java 1</i>", "−Java 1");
    EXPECT_TEXT(remark_of(life, "<b>Java 1</b>", "<i>Java 1</i>"), "disappeared");
    EXPECT_SOURCE(JAVA, "", "<b>Java 1</b>", "+Java 1");
    EXPECT_TEXT(remark_of(life, "", "<b>Java 1</b>"), "appeared");
    EXPECT_TEXT(remark_of(life, "<b>Java 1</b>", "<b>Java 2</b>"), "");
}

TEST(RX4, "RX4: what is not matched does not count")
{
    EXPECT_SOURCE(JAVA, "<p>x</p><b>Java 1</b>", "<p>y</p><b>Java 1</b>", "N");
}

TEST(RX5, "RX5: the order of matches counts")
{
    EXPECT_SOURCE("\\$\\d+", "$5 $6", "$6 $5", "»$5");
}

TEST(RX6, "RX6: on the text, markup and white space do not count")
{
    EXPECT_ON_TEXT("Total: \\d+", "<p>Total:\n <b>5</b></p>", "<p>Total: <i>5</i></p>", "N");
    EXPECT_ON_TEXT("Total: \\d+", "<p>Total:\n <b>5</b></p>", "<p>Total: <i>6</i></p>",
            "~Total: 5→Total: 6");
}

TEST(dot, "a dot matches a line end, and blocks of the text are lines")
{
    EXPECT_SOURCE("a.b", "x", "a\nb", "+a\nb");
    EXPECT_ON_TEXT("(?m)^b$", "<p>a</p>", "<p>a</p><p>b</p>", "+b");
}

TEST(scripts, "the source has scripts and comments, the text has not")
{
    EXPECT_SOURCE("v=(\\d+)", "<script>v=1</script>", "<script>v=2</script>", "+2 −1");
    EXPECT_ON_TEXT("v=(\\d+)", "<script>v=1</script>", "<script>v=2</script>", "N");
}

TEST(utf, "characters are characters, not bytes")
{
    EXPECT_SOURCE("^.$", "x", "\xC3\xA9", "+\xC3\xA9 −x");
    EXPECT_ON_TEXT("caf.", "", "caf&eacute;", "+caf\xC3\xA9");
}

TEST(empty_matches, "empty matches and groups that took no part do no harm")
{
    EXPECT_SOURCE("x*", "axa", "aya", "+ −x");
    EXPECT_SOURCE("a|(b)", "a", "ab", "+b");
    EXPECT_SOURCE("$", "a", "b", "N");
}

TEST(many, "matches behind the first windows are found")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(before, 1 << 22);
    for (int i = 0; i < 300000; i++)
        buf_puts(&before, i % 100 ? "\xC3\xA9" : " needle ");
    BUF(after, 1 << 22);
    buf_append(&after, before.data, before.len);
    buf_puts(&after, "needles");
    EXPECT_TEXT(show(life, compare_leaf(life, pattern("needle\\w*", false), buf_text(&before),
                                   buf_text(&after), "text/html")),
            "+needles");
}

TEST(bomb, "a pattern that would take minutes is cut short, and that is not \"no match\"")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(page, 1 << 20);
    for (int i = 0; i < 200000; i++)
        buf_putc(&page, 'a');
    static const char *const bombs[] = {
            "a{0,150}a{0,150}a{0,2}[bc]", "(a+)+[bc]", "(?:a|aa)+[bc]"};
    for (size_t i = 0; i < countof(bombs); i++) {
        msec from = clock_thread();
        const struct cdg_finding *f =
                compare_leaf(life, pattern(bombs[i], false), "x", buf_text(&page), "text/html");
        EXPECT_INT(f->result, CDG_U);
        EXPECT(clock_thread() - from < 3000);
    }
}

static void let_others_run(int signal)
{
    (void)signal;
    nanosleep(&(struct timespec){.tv_nsec = 250 * 1000 * 1000}, NULL);
}

TEST(late_bomb, "a pattern that is quick for long and then would take minutes is cut short too")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(page, 1 << 20);
    for (int i = 0; i < 800000; i++)
        buf_putc(&page, i < 600000 ? 'x' : 'a');
    msec from = clock_thread();
    const struct cdg_finding *f = compare_leaf(life,
            pattern("a{0,150}a{0,150}a{0,2}[bc]", false), "x", buf_text(&page), "text/html");
    EXPECT_INT(f->result, CDG_U);
    EXPECT(clock_thread() - from < 3000);
}

TEST(steps, "a match may take half a million steps, also far into a page")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(page, 1 << 20);
    for (int i = 0; i < 300000; i++)
        buf_putc(&page, i < 299000 || i > 299200 ? 'x' : 'a');
    const struct cdg_finding *f =
            compare_leaf(life, pattern("xa{0,100}a{0,100}a{0,100}[bc]|x(?=a{201})", false), "y",
                    buf_text(&page), "text/html");
    EXPECT_INT(f->result, CDG_C);
}

TEST(busy, "a machine that has other things to do is not the pattern's fault")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(page, 1 << 22);
    for (int i = 0; i < 200000; i++)
        buf_puts(&page, "aab ");
    struct page_pattern *p;
    struct str *matches;
    size_t count = 1;
    REQUIRE(page_pattern_new(life, "a{1,40}[cd]", NULL, &p) == OK);

    /* the search is stopped in its middle for longer than it may take */
    struct sigaction act = {.sa_handler = let_others_run};
    struct itimerval soon = {.it_value = {.tv_usec = 2000}};
    REQUIRE(sigaction(SIGALRM, &act, NULL) == 0 && setitimer(ITIMER_REAL, &soon, NULL) == 0);
    EXPECT_INT(page_pattern_find(
                       p, (struct str){page.data, page.len}, life, NULL, &matches, &count),
            OK);
    EXPECT_INT(count, 0);
}

TEST(too_many, "more matches than anybody reads are not compared")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(page, 1 << 20);
    for (int i = 0; i < 20000; i++)
        buf_puts(&page, "x ");
    EXPECT_INT(
            compare_leaf(life, pattern("x", false), "y", buf_text(&page), "text/html")->result,
            CDG_U);
}

TEST(refused, "a wrong pattern is refused with the place where it is wrong")
{
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = pattern("Rev ([0-9.]+", false)};
    struct fault f;
    EXPECT_INT(cdg_check(&e, (struct cdg_compare){CDG_PAIRWISE, 0}, &f), ERR_SYNTAX);
    EXPECT(strstr(f.message, "parenthesis") != NULL);
    e.leaf.text = NULL;
    EXPECT_INT(cdg_check(&e, (struct cdg_compare){CDG_PAIRWISE, 0}, &f), ERR_RANGE);
}

TEST(source_wanted, "whether the source is needed can be asked beforehand")
{
    struct cdg_expr source = {.op = CDG_LEAF, .leaf = pattern("x", false)};
    struct cdg_expr text = {.op = CDG_LEAF, .leaf = pattern("x", true)};
    struct cdg_expr both = {.op = CDG_AND, .left = &text, .right = &source};
    struct cdg_expr not_text = {.op = CDG_NOT, .left = &text};
    EXPECT(cdg_wants_source(&source) && cdg_wants_source(&both));
    EXPECT(!cdg_wants_source(&text) && !cdg_wants_source(&not_text));
}

TEST(no_source, "without the old source the answer is that it could not be looked")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct cdg_version *old = version_of(life, 1, "x 1", "text/html");
    struct cdg_version *new_ = version_of(life, 2, "x 2", "text/html");
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = pattern("\\d", false)};
    const struct cdg_finding *f;
    old->source = NULL;
    EXPECT(cdg_compare_once(&e, old, new_, life, NULL, &f) == OK);
    EXPECT_TEXT(show(life, f), "U: the source of version 1 is not at hand");
}

TEST(of_lines, "patterns that may see more than a line are not taken for ones that do not")
{
    static const char *const yes[] = {"a", "Section \\d+", "[a-d]+", "(a|b)c", "Rev ([0-9.]+)",
            "\\$\\d+\\.\\d{2}", "\\bab?\\b", "a{2,}", "caf\xC3\xA9", "[\\w-]+x", "a+?b",
            "a++b"};
    static const char *const no[] = {".", "a.b", "^a", "a$", "[^a]", "\\s", "\\W", "\\D",
            "\\Ba", "(?i)a", "(?s:a)", "a(?=b)", "(?<=b)a", "(?<!\\n)a", "a+b+", "(a)+",
            "(a+)?", "a\nb", "(*UTF)a", "\\Qa\\E", "a?", "a*", "b|a*", "[[:alpha:]]", "\\x0a",
            "\\n", "[\\n]", "[a\\s]", "[\t-z]", "(a)\\1", "\\Aa", "a\\z", "a\\K", "\\R",
            "\\p{L}", "a{,3}b", "a{2", "[]a]", "\\N", "\\Ka",
            "a?a?a?a?a?a?a?a?a?a?a?a?aaaaaaaaaaaa"};
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct page_pattern_lines lines;

    for (size_t i = 0; i < countof(yes) + countof(no); i++) {
        const char *text = i < countof(yes) ? yes[i] : no[i - countof(yes)];
        struct page_pattern *p;
        EXPECT(page_pattern_new(life, text, NULL, &p) == OK);
        bool of_lines = page_pattern_is_of_lines(p, &lines);
        if (of_lines != (i < countof(yes)))
            EXPECT_TEXT(text, "");
    }
}

/* Some blocks of a few short words; the same seed with another edit is a page like it. */
static char *little_page(struct arena *life, unsigned seed, unsigned edits)
{
    static const char *const words[] = {"a", "b", "ab", "abc", "a1", "12", "b-a", "c", "(a)",
            "aab", "<b>a</b>b",
            "\xC3\xA9"
            "a"};
    unsigned state = seed, other = seed * 31 + edits;
    BUF(page, 10000);

    for (unsigned block = 0; block < 6; block++) {
        buf_puts(&page, "<p>");
        for (unsigned i = 0; i < 4; i++) {
            state = state * 1664525u + 1013904223u;
            other = other * 1664525u + 1013904223u;
            unsigned pick = edits && other % 1000 > 900 ? other : state;
            if ((pick >> 8) % 20 == 0)
                buf_puts(&page, "</p><p>");
            buf_printf(&page, "%s ", words[(pick >> 16) % countof(words)]);
        }
        buf_puts(&page, "</p>");
    }
    return arena_strdup(life, buf_text(&page));
}

TEST(gaps, "searching only what differs finds what searching everything finds")
{
    static const char *const all[] = {"[a-b]+", "\\bab?\\b", "a|bc", "(a)b{1,2}", "a{2}",
            "\\d+", "a[ab]*?b", "a b", "\\w+", "(b)|a", "b-\\w", "a ", "\\(a\\)", "a\\b"};
    unsigned changed = 0;

    for (unsigned seed = 1; seed <= 60; seed++)
        for (size_t i = 0; i < countof(all); i++) {
            SCRATCH struct arena *life = arena_new(NULL, "t");
            char *old = little_page(life, seed, 0), *new_ = little_page(life, seed, 1);
            const char *whole = arena_printf(life, "(?:)%s", all[i]);
            const struct cdg_finding *f =
                    compare_leaf(life, pattern(whole, true), old, new_, "text/html");
            changed += f->result == CDG_C;
            EXPECT_ON_TEXT(all[i], old, new_, show(life, f));
        }
    EXPECT(changed > 50 && changed < 60 * countof(all) - 50);
}

TEST_MAIN()
