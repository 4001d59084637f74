/* A request as a text: equal requests have equal texts, reading gives back what was written,
 * and secrets are filled in from a file that only its owner can read. */
#include "engine/webrequest.h"
#include "tests/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena *life;

static const struct grammar_request *request(const char *with)
{
    char *text =
            arena_printf(life, "CREATE SENTINEL s USING http://x.org MONITOR links %s", with);
    struct grammar_script *script;
    struct grammar_world world = {0};
    CHECK(grammar_parse(life, "t", text, strlen(text), &script) == OK);
    CHECK(grammar_check(script, &world) == OK);
    return &script->statements->effective->request;
}

static char *text_of(const char *with)
{
    return webrequest_text(life, request(with), "s");
}

static char *file(const char *text, mode_t mode)
{
    char *path = arena_strdup(life, "/tmp/vigil-secrets-XXXXXX");
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    CHECK(fchmod(fd, mode) == 0);
    close(fd);
    return path;
}

static void fresh(void)
{
    arena_free(life);
    life = arena_new(NULL, "test");
}

TEST(equal, "requests that ask the same have one text, others do not")
{
    fresh();
    EXPECT_TEXT(text_of(""), "");
    EXPECT_TEXT(text_of("WITH (method = 'GET', cookies = off)"), "");
    EXPECT_TEXT(text_of("WITH (header 'x-b: 2', header 'ACCEPT: text/html')"),
            text_of("WITH (header 'Accept: text/html', header 'X-B:   2')"));
    EXPECT_TEXT(text_of("WITH (body = 'a')"), text_of("WITH (body = 'a', method = 'POST')"));
    /* The order of equal names says something, their values do. */
    EXPECT(strcmp(text_of("WITH (header 'A: 1', header 'A: 2')"),
                   text_of("WITH (header 'A: 2', header 'A: 1')")) != 0);
    EXPECT(strcmp(text_of("WITH (header 'A: b')"), text_of("WITH (header 'A: B')")) != 0);
    EXPECT_TEXT(text_of("WITH (cookies = on)"), "cookies s\n");
    EXPECT(webrequest_wants_cookies("method POST\ncookies s\nbody\nx"));
    EXPECT(!webrequest_wants_cookies("method POST\nbody\ncookies s\n"));
}

TEST(back, "reading gives back what was written")
{
    fresh();
    char *text =
            text_of("WITH (method = 'PUT', body = 'one\nbody\nfollow 3', user_agent = 'me',"
                    " header 'B: 2', header 'A:', timeout = 3 seconds, follow = 0)");
    struct secrets *none = secrets_new(life, "");
    struct fetch_request r = {0};
    struct fault f = {0};
    REQUIRE(webrequest_read(text, none, life, &f, &r) == OK);
    EXPECT_TEXT(r.method, "PUT");
    EXPECT_TEXT(r.body, "one\nbody\nfollow 3");
    EXPECT_TEXT(r.user_agent, "me");
    EXPECT_INT(r.nheaders, 2);
    EXPECT_TEXT(r.headers[0].line, "A: ");
    EXPECT_TEXT(r.headers[1].line, "B: 2");
    EXPECT_INT(r.timeout, 3000);
    EXPECT(r.has_follow && r.follow == 0 && !r.render);
    struct fetch_request rendered = {0};
    EXPECT(webrequest_read("render\n", none, life, &f, &rendered) == OK && rendered.render);
}

TEST(discovered, "a page found by ourselves is asked for with the same patience, and without "
                 "what is for the page that led to it")
{
    fresh();
    char *text = text_of("WITH (method = 'POST', header 'Authorization: Basic x', cookies = on,"
                         " user_agent = 'me', timeout = 3 seconds, follow = 2, render = on,"
                         " body = 'x\nuser-agent you\n')");
    char *found = webrequest_discovered(life, text);
    EXPECT_TEXT(found, "user-agent me\ntimeout 3000\ndiscovered\n");
    EXPECT_TEXT(webrequest_discovered(life, found), found);
    EXPECT_TEXT(webrequest_discovered(life, NULL), "discovered\n");
    EXPECT_TEXT(webrequest_discovered(life, text_of("WITH (user_agent = 'u ${SECRET a}')")),
            "discovered\n");
    struct fetch_request r = {0};
    struct fault f = {0};
    REQUIRE(webrequest_read(found, secrets_new(life, ""), life, &f, &r) == OK);
    EXPECT(r.is_discovered && !r.method && !r.body && !r.nheaders);
    EXPECT_TEXT(r.user_agent, "me");
}

TEST(secrets, "secrets are filled in, and what holds one is for one site only")
{
    fresh();
    char *path = file("# all of them\n\n token = a=b c \nother=2\n", 0600);
    struct secrets *s = secrets_new(life, path);
    struct fetch_request r = {0};
    struct fault f = {0};
    char *text = text_of("WITH (header 'Authorization: Basic x', header 'X: <${SECRET token}>',"
                         " header 'Y: y', user_agent = 'u ${SECRET other}',"
                         " body = '${SECRET token}${SECRET other}')");
    EXPECT(!strstr(text, "a=b"));
    REQUIRE(webrequest_read(text, s, life, &f, &r) == OK);
    EXPECT_TEXT(r.body, "a=b c2");
    EXPECT_TEXT(r.headers[0].line, "Authorization: Basic x");
    EXPECT_TEXT(r.headers[1].line, "X: <a=b c>");
    EXPECT_TEXT(r.headers[2].line, "Y: y");
    EXPECT_TEXT(r.headers[3].line, "User-Agent: u 2");
    EXPECT(r.headers[0].is_private && r.headers[1].is_private && r.headers[3].is_private);
    EXPECT(!r.headers[2].is_private);
    unlink(path);
}

TEST(bound, "a secret can be for one host alone, whoever writes the definition")
{
    fresh();
    char *path =
            file("token@api.example.org = canary\ntoken@other.org=second\nfree = x\n", 0600);
    static const struct {
        const char *url, *value;
    } rows[] = {
            {"https://api.example.org/x", "canary"},
            {"http://API.example.org:8080?x", "canary"},
            {"https://other.org", "second"},
            {"https://evil.example/api.example.org", NULL},
            {"https://api.example.org.evil.example/", NULL},
            {"https://example.org/", NULL},
            {NULL, NULL},
    };
    struct secrets *s = secrets_new(life, path);
    for (size_t i = 0; i < countof(rows); i++) {
        struct fault f = {0};
        const char *value = NULL;
        enum err e = secrets_get(s, STR("token"), rows[i].url, &f, &value);
        if ((e == OK) != (rows[i].value != NULL) ||
                (e == OK && strcmp(value, rows[i].value) != 0))
            test_fail(__FILE__, __LINE__, "row %zu: %s", i, f.message);
        if (e != OK)
            EXPECT_TEXT(f.message, "the secret \"token\" is for another host");
        EXPECT(secrets_get(s, STR("free"), rows[i].url, &f, &value) == OK);
    }
    unlink(path);
}

TEST(refused,
        "a file that others can read, or that is wrong, is refused in words without values")
{
    fresh();
    static const struct {
        const char *text;
        mode_t mode;
        const char *says;
    } rows[] = {
            {"token = canary", 0644, "only its owner can read"},
            {"token = canary", 0620, "only its owner can read"},
            {"token canary", 0600, ":1: expected name = value"},
            {"x = 1\ntoken = cana\001ry", 0600, ":2: a control character"},
            {"tokens = canary", 0600, "the secret \"token\" is not in"},
    };
    for (size_t i = 0; i < countof(rows); i++) {
        char *path = file(rows[i].text, rows[i].mode);
        struct fault f = {0};
        const char *value;
        EXPECT(secrets_get(secrets_new(life, path), STR("token"), NULL, &f, &value) != OK);
        if (!strstr(f.message, rows[i].says) || strstr(f.message, "canary") ||
                strstr(f.hint, "canary"))
            test_fail(__FILE__, __LINE__, "row %zu: %s", i, f.message);
        unlink(path);
    }
    struct fault f = {0};
    const char *value;
    EXPECT(secrets_get(secrets_new(life, "/nowhere/x"), STR("a"), NULL, &f, &value) == ERR_IO);
    EXPECT(secrets_get(secrets_new(life, "/tmp"), STR("a"), NULL, &f, &value) == ERR_IO);
    EXPECT(secrets_get(secrets_new(life, ""), STR("a"), NULL, &f, &value) == ERR_NAME);
    arena_freep(&life);
}
TEST_MAIN()
