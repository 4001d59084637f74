/* The one spelling of a URL. */
#include "fetch/fetch.h"
#include "tests/test.h"

TEST(spellings, "different spellings of one page come out the same, and stay so")
{
    static const struct {
        const char *from, *to;
    } rows[] = {
            {"http://example.org", "http://example.org/"},
            {"HTTP://EXAMPLE.ORG/", "http://example.org/"},
            {"http://example.org:80/a", "http://example.org/a"},
            {"https://example.org:443", "https://example.org/"},
            {"http://example.org:443/", "http://example.org:443/"},
            {"http://example.org:0080/", "http://example.org/"},
            {"http://example.org/a/./b/../c", "http://example.org/a/c"},
            {"http://example.org/../../x", "http://example.org/x"},
            {"http://example.org/a#part", "http://example.org/a"},
            {"http://example.org/#", "http://example.org/"},
            {"http://example.org/%7euser/%c3%a4", "http://example.org/%7Euser/%C3%A4"},
            {"http://example.org/ä b", "http://example.org/%C3%A4%20b"},
            {"http://example.org/?q=%e4&b=c", "http://example.org/?q=%E4&b=c"},
            {"http://example.org?x=1", "http://example.org/?x=1"},
            {"http://example.org/A/b?C=D", "http://example.org/A/b?C=D"},
            {"http://bücher.example/", "http://xn--bcher-kva.example/"},
            {"http://BÜCHER.example/", "http://xn--bcher-kva.example/"},
            {"http://[::1]/", "http://[::1]/"},
            {"http://[0:0:0:0:0:0:0:1]:8080/", "http://[::1]:8080/"},
            {"http://127.0.0.1:8000/news.html", "http://127.0.0.1:8000/news.html"},
            {"http://0x7f.1/", "http://127.0.0.1/"},
            {"http://0177.0.0.1/", "http://127.0.0.1/"},
            {"http://2130706433/", "http://127.0.0.1/"},
            {"http://127.1/", "http://127.0.0.1/"},
            {"http://%31%32%37.0.0.1/", "http://127.0.0.1/"},
            {"http://①②⑦.0.0.1/", "http://127.0.0.1/"},
    };
    SCRATCH struct arena *life = arena_new(NULL, "test");
    for (size_t i = 0; i < countof(rows); i++) {
        struct fault f = {.code = OK};
        char *once = NULL, *twice = NULL;
        if (fetch_url_normalise(life, rows[i].from, &f, &once) != OK) {
            test_fail(__FILE__, __LINE__, "%s: %s", rows[i].from, f.message);
            continue;
        }
        EXPECT_TEXT(once, rows[i].to);
        EXPECT(fetch_url_normalise(life, once, &f, &twice) == OK);
        EXPECT_TEXT(twice, once);
    }
}

TEST(refused, "what is not a page on the web is refused with a reason and a hint")
{
    static const char *const wrong[] = {"", " ", "example.org", "/news.html", "//example.org/",
            "file:///etc/passwd", "ftp://example.org/", "gopher://example.org/", "javascript:1",
            "mailto:a@example.org", "http:", "http://", "http://:80/",
            "http://user@example.org/", "http://user:secret@example.org/",
            "http://example.org\\@127.0.0.1/", "http:\\\\example.org\\",
            "http://example.org:0/", "http://example.org:65536/", "http://example.org:80x/",
            "http://exa mple.org/", "http://example.org/\nHost: x", "http://example.org/\x01",
            "http://[::1/", "http://[fe80::1%25eth0]/", "http://[::g]/",
            "http://exa%00mple.org/", "http://exa%2fmple.org/", "http://example.org/\xff\xfe",
            "dict://127.0.0.1/"};
    SCRATCH struct arena *life = arena_new(NULL, "test");
    for (size_t i = 0; i < countof(wrong); i++) {
        struct fault f = {.code = OK};
        char *url = NULL;
        if (fetch_url_normalise(life, wrong[i], &f, &url) == OK)
            test_fail(__FILE__, __LINE__, "\"%s\" came out as %s", wrong[i], url);
        else if (!f.message[0] || !f.hint[0])
            test_fail(__FILE__, __LINE__, "\"%s\": no message or no hint", wrong[i]);
        EXPECT(url == NULL);
    }
}

TEST(secret, "a password in a URL is refused without being repeated")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct fault f;
    char *url;
    EXPECT(fetch_url_normalise(life, "http://me:hunter2@example.org/", &f, &url) == ERR_SYNTAX);
    EXPECT(!strstr(f.message, "hunter2") && !strstr(f.hint, "hunter2"));
}

TEST(long_url, "a URL of any length costs no more than a refusal")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct fault f;
    char *url, *text = arena_alloc(life, 1 << 20);
    memset(text, 'a', (1 << 20) - 1);
    text[(1 << 20) - 1] = 0;
    memcpy(text, "http://x/", 9);
    EXPECT(fetch_url_normalise(life, text, &f, &url) == ERR_LIMIT);
}

/* Pieces that parsers disagree about, put together at random. */
TEST(random_urls, "whatever comes out is http or https and is its own spelling")
{
    static const char *const pieces[] = {"http", "https", ":", "//", "/", "@", "#", "?", "%",
            "%2e", "%2F", "..", ".", "\\", "a", "Ä", "。", "1", "0x7f", "[", "]", "::1", "&",
            "=", ":80", "xn--", " ", "127.0.0.1", "example.org", "%41", "%ff", ";", "+", "~"};
    uint32_t seed = 7;
    int came_out = 0;
    for (int i = 0; i < 20000; i++) {
        SCRATCH struct arena *life = arena_new(NULL, "test");
        char text[256] = "http://", *once, *twice;
        struct fault f;
        for (int k = 0; k < 8; k++) {
            seed = seed * 1664525 + 1013904223;
            strcat(text, pieces[(seed >> 16) % countof(pieces)]);
        }
        if (fetch_url_normalise(life, text, &f, &once) != OK)
            continue;
        came_out++;
        if (strncmp(once, "http://", 7) != 0 || strpbrk(once, "#\\ \n") ||
                strchr(once + 7, '\t'))
            test_fail(__FILE__, __LINE__, "%s came out as %s", text, once);
        if (fetch_url_normalise(life, once, &f, &twice) != OK || strcmp(once, twice) != 0)
            test_fail(__FILE__, __LINE__, "%s came out as %s, which is not stable", text, once);
    }
    EXPECT(came_out > 1000);
}
TEST_MAIN()
