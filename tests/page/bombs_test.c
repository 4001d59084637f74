/* Patterns and selectors made to take for ever, on pages of a megabyte made to help them: each
 * ends within its limit, and one that was cut short says so.
 *
 * The short form takes a sample; with VIGIL_TEST_BOMBS=all every pattern meets every page and
 * every number, some 200 patterns and 100 selectors. */
#include "tests/page/page_help.h"
#include <time.h>

/* What may be spent on one, in walks over its page byte by byte (bare_walk): one that is not
 * cut short takes millions of them. */
enum { PAGE_BYTES = 1000000, WALKS_MAX = 4000 };

/* %d: a number; the longer ones grow with it. */
static const char *const patterns[] = {"(a+)+$", "([a-zA-Z]+)*$", "(a|aa)+$", "(a|a?)+$",
        "(.*a){%d}$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y", "(a*)*b", "(?:a|a)*b",
        "a{0,%d}a{0,%d}a{0,2}[bc]", "(.+)+=", "(\\w+\\s?)*!", "^(\\w+\\s?)*$x",
        "(a?){%d}a{%d}b", "([^\"]|\"\")*x\"\\d", "(<.*>)+#", "(\\s+)+\\S\\d", "((a*)*)*b",
        "(a+)(a+)(a+)(a+)b", "(?:.*,){%d}P", "^(?:a+)+$(?!a)", "(\\d+|[a-f]+|\\w)+#",
        "(a(b?a)+)+c", "(?=(a+))\\1+b", "(a+?)*?b", "(?:(?:a+b?)+c?)+d", "^((a|b)+)*c$",
        "([ab]*?)*?z\\d", "(.|\\n)*?q{3}z", "((.)(?!\\2))*b{2}!", "(?:a*+a?)*z!",
        "([a-z]+)+@([a-z]+\\.)+z", "(?<x>a|(?&x)a)+b", "(a|b|ab)*(bc|c)d!",
        "(?s)(.*?)x(.*?)y(.*?)z!", "\\b(\\w+)\\b(?=.*\\b\\1\\b)!", "(?:[a-z0-9]+[-._]?)*@",
        "^(.*?,){%d}!", "(a*b*)*!", "(?>a*)*(a|b)*!"};

static const char *const pieces[] = {"a", "ab", "aaaaaaaa ", "a,b,", "x\"y ", "<b>a</b>"};

/* How often a search was cut short, and how often it ran to its end. */
static unsigned cut, ended;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* CPU time of a bare walk over a page: the unit that the machine, busy or not, gives us. */
static double bare_walk(void)
{
    enum { TIMES = 20 };
    static char page[PAGE_BYTES];
    double best = 1e9;

    memset(page, 'a', sizeof page);
    for (int i = 0; i < TIMES; i++) {
        volatile unsigned sum = 0;
        double from = cpu_seconds();
        for (size_t k = 0; k < sizeof page; k++)
            sum += (unsigned char)page[k];
        double spent = cpu_seconds() - from;
        best = spent < best ? spent : best;
    }
    return best;
}

static void expect_few_walks(const char *what, double seconds, double walk)
{
    if (seconds > WALKS_MAX * walk)
        test_fail(__FILE__, __LINE__, "%s: as much as %.0f walks over the page", what,
                seconds / walk);
}

static void search(const char *pattern, struct str page, double walk)
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct page_pattern *p;
    struct fault f = {.code = OK};
    struct str *matches;
    size_t count;
    if (page_pattern_new(life, pattern, &f, &p) != OK)
        return; /* what cannot be compiled cannot run */
    double from = cpu_seconds();
    enum err e = page_pattern_find(p, page, life, &f, &matches, &count);
    expect_few_walks(pattern, cpu_seconds() - from, walk);
    EXPECT(e == OK || (e == ERR_LIMIT && f.message[0]));
    cut += e == ERR_LIMIT;
    ended += e == OK;
}

static void fill(struct buf *out, const char *piece)
{
    while (out->len < PAGE_BYTES)
        buf_puts(out, piece);
}

static bool is_long(void)
{
    const char *how = getenv("VIGIL_TEST_BOMBS");
    return how && strcmp(how, "all") == 0;
}

TEST(patterns, "a pattern that would take for ever is cut short, on any page, and says so")
{
    static const int numbers[] = {20, 30, 50, 100, 150};
    size_t nnumbers = is_long() ? countof(numbers) : 1,
           npieces = is_long() ? countof(pieces) : 1;
    double walk = bare_walk();
    cut = ended = 0;
    for (size_t i = 0; i < countof(patterns); i += is_long() ? 1 : 2) {
        for (size_t k = 0; k < nnumbers && (k == 0 || strchr(patterns[i], '%')); k++) {
            char text[200];
            int n = numbers[k];
            snprintf(text, sizeof text, patterns[i], n, n);
            for (size_t page = 0; page < npieces; page++) {
                BUF(bytes, 2 * PAGE_BYTES);
                fill(&bytes, pieces[is_long() ? page : i % countof(pieces)]);
                search(text, (struct str){bytes.data, bytes.len}, walk);
            }
        }
    }
    printf("# %u cut short, %u ran to their end\n", cut, ended);
    EXPECT(cut > 0);
}

static const char *const paths[] = {"//*//*//*//*//*//*", "//*[contains(., 'zzz')]",
        "//*[contains(., 'a')]//*[contains(., 'b')]//*[contains(., 'zz')]", "//*[.='zzz']",
        "//div//div//div//div[@id='none']", "//*[@class='a'][contains(., 'x')][2]",
        "//*[starts-with(., 'zzz')]", "//*[text()='zzz']",
        "//p[contains(., 'a')] | //p[contains(., 'b')] | //*[contains(., 'c')]",
        "//*[last()]//*[last()]//*[last()]", "//*[1]//*[1]//*[1]//*[contains(., 'q')]",
        "//p[count(//p) > 0]", "//*[string(/) = 'x']", "//*[count(//*[count(//*) > 0]) > 0]",
        "//*[contains(string(/), 'zzz')]", "//*[normalize-space(.) = 'zzz']",
        "//*[preceding::*[following::*]]", "//*[ancestor::*[descendant::*]]",
        "//*[translate(., 'a', 'b') = 'zzz']", "//*[not(contains(., following::*))]"};
static const char *const selectors[] = {"* * * * * * * *", "* > * > * > *", "* ~ * ~ * ~ *",
        "* + * + * ~ * p", "div div div div div p", ":nth-child(1) :nth-child(1)",
        "p:first-child ~ p:last-child", "[class] [class] [id]", "*:nth-of-type(2) *",
        "div, p, a, div *, p *, a *, * a, * p"};

static void deep_page(struct buf *out)
{
    for (int i = 0; i < 9000; i++)
        buf_puts(out, "<div class=a>a b c ");
    while (out->len < PAGE_BYTES)
        buf_puts(out, "some text at the very bottom ");
}

static void wide_page(struct buf *out)
{
    buf_puts(out, "<div>");
    for (int i = 0; out->len < PAGE_BYTES; i++)
        buf_printf(out, "<p class=a id=p%d>a<b>b</b></p>", i);
}

static void select_all(const char *const *texts, size_t n, enum page_selector_language language,
        const struct page_digest *d, double walk)
{
    for (size_t i = 0; i < n; i++) {
        SCRATCH struct arena *life = arena_new(NULL, "t");
        struct page_selector *s;
        struct page_digest *region;
        struct fault f = {.code = OK};
        bool found;
        if (page_selector_new(life, language, texts[i], &f, &s) != OK) {
            EXPECT(f.message[0]); /* refused before anybody installs it */
            continue;
        }
        double from = cpu_seconds();
        enum err e = page_region(d, s, life, &f, &region, &found);
        expect_few_walks(texts[i], cpu_seconds() - from, walk);
        EXPECT(e == OK || (e == ERR_LIMIT && f.message[0]));
        cut += e == ERR_LIMIT;
        ended += e == OK;
    }
}

TEST(selectors, "a selector costs what its page is worth, or is cut short and says so")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    void (*const pages[])(struct buf *) = {deep_page, wide_page};
    double walk = bare_walk();
    cut = ended = 0;
    for (size_t i = 0; i < countof(pages); i++) {
        BUF(bytes, 4 * PAGE_BYTES);
        pages[i](&bytes);
        CLEANUP(made_done) struct made m = make(life, bytes.data, bytes.len, "text/html");
        REQUIRE(m.d);
        select_all(paths, countof(paths), PAGE_XPATH, m.d, walk);
        select_all(selectors, countof(selectors), PAGE_CSS, m.d, walk);
    }
    printf("# %u cut short, %u ran to their end\n", cut, ended);
    EXPECT(cut > 0);
}

TEST_MAIN()
