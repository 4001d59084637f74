/* robots.txt: the examples of RFC 9309 and what sites really write. */
#include "fetch/robots.h"
#include "tests/test.h"

struct row {
    const char *robots, *path;
    bool allowed;
};

static void expect_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        SCRATCH struct arena *life = arena_new(NULL, "test");
        struct fetch_robots *r =
                fetch_robots_parse(life, rows[i].robots, strlen(rows[i].robots), "vigil");
        if (fetch_robots_allows(r, rows[i].path, NULL) != rows[i].allowed)
            test_fail(__FILE__, __LINE__, "%s should be %s by\n# %s", rows[i].path,
                    rows[i].allowed ? "allowed" : "forbidden", rows[i].robots);
    }
}

#define ALL "User-agent: *\n"

TEST(groups, "our own group counts, else the one for everybody, else nothing")
{
    static const struct row rows[] = {
            {"", "/x", true},
            {ALL "Disallow: /", "/x", false},
            {ALL "Disallow:", "/x", true},
            {"User-agent: vigil\nDisallow: /", "/x", false},
            {"User-agent: VIGIL\nDisallow: /", "/x", false},
            {"User-agent: Vigil/2.0 (x)\nDisallow: /", "/x", false},
            {"User-agent: vigilant\nDisallow: /", "/x", true},
            {"User-agent: other\nDisallow: /", "/x", true},
            {"User-agent: other\nDisallow: /\n\n" ALL "Allow: /", "/x", true},
            {"User-agent: vigil\nAllow: /\n\n" ALL "Disallow: /", "/x", true},
            {"User-agent: vigil\nDisallow:\n\n" ALL "Disallow: /", "/x", true},
            {"User-agent: vigil\n\n" ALL "Disallow: /", "/x", false}, /* one group of both */
            {"User-agent: other\nUser-agent: vigil\nDisallow: /a", "/a", false},
            {"User-agent: vigil\nUser-agent: other\nDisallow: /a", "/a", false},
            {"User-agent: vigil\nDisallow: /a\nUser-agent: vigil\nDisallow: /b", "/a", false},
            {"User-agent: vigil\nDisallow: /a\nUser-agent: vigil\nDisallow: /b", "/b", false},
            {"User-agent: vigil\nDisallow: /a\nUser-agent: other\nDisallow: /b", "/b", true},
            {ALL "Disallow: /a\n" ALL "Disallow: /b", "/a", false},
            {"Disallow: /\n" ALL "Allow: /", "/x", true}, /* a rule before any group */
            {"User-agent: vigil\nSitemap: http://x/s.xml\nUser-agent: o\nDisallow: /", "/x",
                    false},
            {"User-agent: vigil\nCrawl-delay: 5\nDisallow: /", "/x", false},
    };
    expect_rows(rows, countof(rows));
}

TEST(longest, "the longest rule that matches decides, and Allow wins a tie")
{
    static const struct row rows[] = {
            {ALL "Allow: /p\nDisallow: /", "/page", true},
            {ALL "Disallow: /\nAllow: /p", "/page", true},
            {ALL "Allow: /folder\nDisallow: /folder", "/folder/page", true},
            {ALL "Disallow: /folder\nAllow: /folder", "/folder/page", true},
            {ALL "Allow: /page\nDisallow: /*.htm", "/page.htm", false},
            {ALL "Allow: /page\nDisallow: /*.ph", "/page.php5", true},
            {ALL "Allow: /$\nDisallow: /", "/", true},
            {ALL "Allow: /$\nDisallow: /", "/page.htm", false},
            {ALL "Disallow: /x/\nAllow: /x/y\nDisallow: /x/y/z", "/x/y/z/1", false},
            {ALL "Disallow: /x/\nAllow: /x/y\nDisallow: /x/y/z", "/x/y/1", true},
    };
    expect_rows(rows, countof(rows));
}

TEST(patterns, "a path is matched from its start; * and $ are special, nothing else is")
{
    static const struct row rows[] = {
            {ALL "Disallow: /fish", "/fish", false},
            {ALL "Disallow: /fish", "/fish.html", false},
            {ALL "Disallow: /fish", "/fishheads/yummy.html", false},
            {ALL "Disallow: /fish", "/fish.php?id=anything", false},
            {ALL "Disallow: /fish", "/Fish.asp", true},
            {ALL "Disallow: /fish", "/catfish", true},
            {ALL "Disallow: /fish*", "/fish.html", false},
            {ALL "Disallow: /fish/", "/fish", true},
            {ALL "Disallow: /fish/", "/fish/?id=1", false},
            {ALL "Disallow: /*.php", "/folder/any.php.file.html", false},
            {ALL "Disallow: /*.php", "/windows.PHP", true},
            {ALL "Disallow: /*.php$", "/filename.php", false},
            {ALL "Disallow: /*.php$", "/filename.php?parameters", true},
            {ALL "Disallow: /*.php$", "/filename.php5", true},
            {ALL "Disallow: /*.php$", "/a.php/b.php", false},
            {ALL "Disallow: /fish*.php", "/fishheads/catfish.php?x", false},
            {ALL "Disallow: /fish*.php", "/Fish.PHP", true},
            {ALL "Disallow: *", "/x", false},
            {ALL "Disallow: /**//*x", "/a//bx", false},
            {ALL "Disallow: /a$b", "/a$b", false},
            {ALL "Disallow: /a$b", "/a", true},
            {ALL "Disallow: /x*y$", "/xy", false},
            {ALL "Disallow: /x*xy$", "/xy", true}, /* pieces do not overlap */
            {ALL "Disallow: /[ab]", "/a", true},
            {ALL "Disallow: /a?b", "/axb", true},
            {ALL "Disallow: /", "/robots.txt", true},
            {ALL "Disallow: /", "http://example.org/x", false},
            {ALL "Disallow: /x", "http://example.org/x?y#z", false},
            {ALL "Disallow: /$", "http://example.org", false},
            {ALL "Disallow: /x", "http://example.org", true},
    };
    expect_rows(rows, countof(rows));
}

TEST(percent, "both sides are compared in one spelling")
{
    static const struct row rows[] = {
            {ALL "Disallow: /foo/bar?baz=quz", "/foo/bar?baz=quz", false},
            {ALL "Disallow: /foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar",
                    false},
            {ALL "Disallow: /foo/bar/\xe3\x83\x84", "/foo/bar/%E3%83%84", false},
            {ALL "Disallow: /foo/bar/%E3%83%84", "/foo/bar/%e3%83%84", false},
            {ALL "Disallow: /foo/bar/%62%61%7A", "/foo/bar/baz", false},
            {ALL "Disallow: /foo/bar/baz", "/foo/bar/%62%61%7a", false},
            {ALL "Disallow: /a%2fb", "/a%2Fb", false},
            {ALL "Disallow: /a%2fb", "/a/b", true},
            {ALL "Disallow: /100%", "/100%", false},
    };
    expect_rows(rows, countof(rows));
}

TEST(spelling, "line ends, spaces, comments, case and a byte order mark do not matter")
{
    static const struct row rows[] = {
            {"user-AGENT:*\r\nDISALLOW:/a\r\n", "/a", false},
            {"User-agent: *\rDisallow: /a\r", "/a", false},
            {"  User-agent :  *  # all\n\tDisallow\t:\t/a # this\n", "/a", false},
            {"\xef\xbb\xbfUser-agent: *\nDisallow: /a", "/a", false},
            {"# User-agent: *\nDisallow: /a", "/a", true},
            {ALL "# nothing\n\n\nDisallow: /a", "/a", false},
            {ALL "Disallow /a\nnonsense\n:\n:x\nDisallow: /b", "/b", false},
            {ALL "Disallow: /a#b", "/a", false},
    };
    expect_rows(rows, countof(rows));
}

TEST(answers, "a site without robots.txt allows all, one in trouble nothing")
{
    static const struct {
        int status;
        bool allowed;
    } rows[] = {{200, false}, {301, true}, {401, true}, {403, true}, {404, true}, {410, true},
            {429, true}, {500, false}, {503, false}, {0, false}};
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const char *text = ALL "Disallow: /";
    for (size_t i = 0; i < countof(rows); i++) {
        struct fetch_robots *r =
                fetch_robots_of_answer(life, rows[i].status, text, strlen(text), "vigil");
        EXPECT_INT(fetch_robots_allows(r, "/x", NULL), rows[i].allowed);
        EXPECT(fetch_robots_allows(r, "/robots.txt", NULL));
    }
}

TEST(rule, "the line that decided can be shown")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const char *text = ALL "Disallow: /private/\nAllow: /private/open", *rule;
    struct fetch_robots *r = fetch_robots_parse(life, text, strlen(text), "vigil");
    EXPECT(!fetch_robots_allows(r, "/private/x", &rule));
    EXPECT_TEXT(rule, "Disallow: /private/");
    EXPECT(fetch_robots_allows(r, "/private/open.html", &rule));
    EXPECT_TEXT(rule, "Allow: /private/open");
    EXPECT(fetch_robots_allows(r, "/", &rule));
    EXPECT(rule == NULL);
}

TEST(hostile, "half a megabyte of nonsense or of stars costs little")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    enum { N = 600 * 1024 };
    char *text = arena_alloc(life, N);
    for (int i = 0; i < N; i++)
        text[i] = "\0\xff#:*$/%\r\n aA"[(i * 7 + i / 13) % 13];
    fetch_robots_allows(fetch_robots_parse(life, text, N, "vigil"), "/a/b", NULL);

    int n = snprintf(text, N, ALL "Disallow: /");
    for (; n + 2 < N; n += 2)
        memcpy(text + n, "*a", 2);
    char path[4001] = "/";
    memset(path + 1, 'a', 3998);
    path[3999] = 0;
    struct fetch_robots *r = fetch_robots_parse(life, text, (size_t)n, "vigil");
    EXPECT(fetch_robots_allows(r, path, NULL)); /* more letters are asked for than there are */

    /* What lies beyond the limit is not read. */
    memset(text, '\n', N);
    memcpy(text + 520 * 1024, ALL "Disallow: /", 26);
    r = fetch_robots_parse(life, text, N, "vigil");
    EXPECT(fetch_robots_allows(r, "/x", NULL));
    memcpy(text + 500 * 1024, ALL "Disallow: /", 25);
    r = fetch_robots_parse(life, text, N, "vigil");
    EXPECT(!fetch_robots_allows(r, "/x", NULL));
}
TEST_MAIN()
