/* More than a plain GET: methods, bodies, headers, cookies, proxies, and robots.txt before
 * any of it. */
#include "tests/fetch/web.h"

static struct answer *ask(struct web *w, struct fetch_request r)
{
    struct answer *a = arena_new_of(w->life, struct answer);
    web_start(w, a, &r);
    web_wait(w, a);
    return a;
}

#define SERVER(web, options, port)                                                             \
    WEB(web, options);                                                                         \
    unsigned port = server_hostile(web.life, "127.0.0.1")

static bool has(const struct answer *a, const char *text)
{
    return strstr(a->body, text) != NULL;
}

TEST(post, "a body is sent as it is, by POST unless another method is named")
{
    SERVER(w, &web_options, port);
    struct fetch_header json = {.line = "Content-Type: application/json"};
    struct fetch_request r = {
            .url = arena_printf(w.life, "http://127.0.0.1:%u/echo-whole", port),
            .body = "{\"a\": 1}",
            .headers = &json,
            .nheaders = 1,
            .etag = "\"x\"",
            .user_agent = "somebody/2"};
    struct answer *a = ask(&w, r);
    EXPECT_INT(a->outcome, FETCH_OK);
    EXPECT(strncmp(a->body, "POST /echo-whole ", 17) == 0);
    EXPECT(has(a, "Content-Type: application/json\r\n"));
    EXPECT(has(a, "User-Agent: somebody/2\r\n"));
    EXPECT(has(a, "\r\n\r\n{\"a\": 1}"));
    EXPECT(!has(a, "If-None-Match")); /* only a GET is asked conditionally */
    EXPECT(!has(a, "Expect:"));
    r.method = "PUT";
    EXPECT(strncmp(ask(&w, r)->body, "PUT ", 4) == 0);
    r.body = NULL;
    r.method = "POST";
    EXPECT(has(ask(&w, r), "Content-Length: 0\r\n"));
}

TEST(redirected_post,
        "a POST becomes a GET after a redirect, or stays one on the same site only")
{
    SERVER(w, &web_options, port);
    struct fetch_request r = {.body = "x"};
    r.url = arena_printf(w.life, "http://127.0.0.1:%u/redirect/302//echo-whole", port);
    EXPECT(strncmp(ask(&w, r)->body, "GET ", 4) == 0);
    r.url = arena_printf(w.life, "http://127.0.0.1:%u/redirect/307//echo-whole", port);
    EXPECT(strncmp(ask(&w, r)->body, "POST ", 5) == 0);
    r.url = arena_printf(w.life,
            "http://127.0.0.1:%1$u/redirect/307/http://localhost:%1$u/echo-whole", port);
    EXPECT_TEXT(ask(&w, r)->reason,
            "the server redirects a POST to another site, which is refused");
}

TEST(private_headers, "what is for one site does not go to another it redirects to")
{
    SERVER(w, &web_options, port);
    const struct fetch_header headers[] = {
            {"X-Open: 1", false}, {"Authorization: Bearer abc", true}};
    struct fetch_request r = {.headers = headers, .nheaders = 2};
    r.url = arena_printf(w.life, "http://127.0.0.1:%u/redirect/302//echo", port);
    struct answer *a = ask(&w, r);
    EXPECT(has(a, "X-Open: 1") && has(a, "Authorization: Bearer abc"));
    r.url = arena_printf(
            w.life, "http://127.0.0.1:%1$u/redirect/302/http://localhost:%1$u/echo", port);
    a = ask(&w, r);
    EXPECT(has(a, "X-Open: 1") && !has(a, "Authorization"));
}

TEST(limits, "time and redirects are as the request says")
{
    SERVER(w, &web_options, port);
    struct fetch_request r = {
            .url = arena_printf(w.life, "http://127.0.0.1:%u/silent", port), .timeout = 300};
    EXPECT_TEXT(ask(&w, r)->reason, "timed out after 0.3 s with 0 bytes received");
    r = (struct fetch_request){.url = arena_printf(w.life, "http://127.0.0.1:%u/hops/7", port),
            .has_follow = true,
            .follow = 7};
    EXPECT_INT(ask(&w, r)->outcome, FETCH_OK);
    r.follow = 6;
    EXPECT_TEXT(ask(&w, r)->reason, "gave up after 6 redirects");
}

TEST(hindrance, "a request that cannot be made is reported from the loop, and not made")
{
    SERVER(w, &web_options, port);
    struct fetch_request r = {.url = arena_printf(w.life, "http://127.0.0.1:%u/good", port),
            .hindrance = "a secret is missing"};
    EXPECT_TEXT(ask(&w, r)->reason, "a secret is missing");
    EXPECT_TEXT(web_get(&w, "http://127.0.0.1:%u/count-of/good", port)->body, "0");
}

TEST(cookies, "cookies go back to where they came from, for whoever keeps them")
{
    SERVER(w, &web_options, port);
    struct arena *life = arena_new(w.life, "jar");
    struct fetch_jar *mine = fetch_jar_new(life), *other = fetch_jar_new(life);
    struct fetch_request r = {.jar = mine};
    r.url = arena_printf(w.life, "http://127.0.0.1:%u/set-cookie/a=1;path=/", port);
    EXPECT_INT(ask(&w, r)->outcome, FETCH_OK);
    r.url = arena_printf(w.life, "http://127.0.0.1:%u/echo", port);
    EXPECT(has(ask(&w, r), "Cookie: a=1\r\n"));
    r.jar = other;
    EXPECT(!has(ask(&w, r), "Cookie"));
    r.jar = NULL;
    EXPECT(!has(ask(&w, r), "Cookie"));
    r.jar = mine;
    r.url = arena_printf(w.life, "http://localhost:%u/echo", port);
    EXPECT(!has(ask(&w, r), "Cookie"));
    arena_free(life);
}

TEST(proxy, "a proxy that was named is asked for everything, and nobody else is")
{
    struct fetch_options o = web_options;
    SCRATCH struct arena *life = arena_new(NULL, "test");
    unsigned port = server_hostile(life, "127.0.0.1");
    o.proxy = arena_printf(life, "http://127.0.0.1:%u", port);
    o.nallow = 0;
    WEB(w, &o);
    EXPECT_TEXT(
            web_get(&w, "http://nosuch.invalid/x")->body, "by proxy: http://nosuch.invalid/x");
    EXPECT_TEXT(web_get(&w, "http://10.0.0.1/")->reason,
            "10.0.0.1 is not a public address; allow it with --allow 10.0.0.0/8");
    EXPECT(strstr(web_get(&w, "http://localhost/")->reason, "not a public address"));
    static const char *const wrong[] = {
            "10.0.0.1:3128", "ftp://x", "http://me:secret@10.0.0.1:3128"};
    for (size_t i = 0; i < countof(wrong); i++) {
        struct fault f;
        struct fetch *fe;
        o.proxy = wrong[i];
        EXPECT(fetch_new(life, w.loop, &o, &f, &fe) == ERR_SYNTAX);
        EXPECT(!strstr(f.message, "secret"));
    }
}

/* ---- robots.txt ---- */

static struct fetch_options obedient(void)
{
    struct fetch_options o = web_options;
    o.robots = FETCH_ROBOTS_ALL;
    return o;
}

TEST(robots, "what robots.txt forbids is not asked for, and it is asked for once")
{
    struct fetch_options o = obedient();
    SERVER(w, &o, port);
    {
        WEB(say, &web_options);
        web_get(&say,
                "http://127.0.0.1:%u/robots-say/200/User-agent:%%20*%%0ADisallow:%%20/good",
                port);
    }
    struct answer all[20];
    char *url = arena_printf(w.life, "http://127.0.0.1:%u/good", port);
    for (size_t i = 0; i < countof(all); i++)
        web_start(&w, &all[i], &(struct fetch_request){.url = url});
    for (size_t i = 0; i < countof(all); i++)
        web_wait(&w, &all[i]);
    EXPECT_INT(all[19].outcome, FETCH_FAILED);
    EXPECT_TEXT(all[19].reason,
            arena_printf(w.life, "the robots.txt of 127.0.0.1:%u forbids it: Disallow: /good",
                    port));
    /* A redirect is asked about as well. */
    EXPECT(strstr(
            web_get(&w, "http://127.0.0.1:%u/redirect/302//good", port)->reason, "forbids it"));
    EXPECT_INT(web_get(&w, "http://127.0.0.1:%u/hops/2", port)->outcome, FETCH_OK);
    EXPECT_TEXT(web_get(&w, "http://127.0.0.1:%u/count-of/good", port)->body, "0");
    EXPECT_TEXT(web_get(&w, "http://127.0.0.1:%u/count-of/robots.txt", port)->body, "1");
    struct fetch_stats s;
    fetch_stats_get(w.fetch, &s);
    EXPECT_INT(s.robots_refused, 21);
}

TEST(discovered, "robots.txt has a say in all pages, in those found by ourselves, or in none")
{
    static const struct {
        enum fetch_robots_use use;
        bool named, found; /* is it fetched although forbidden? */
    } rows[] = {
            {FETCH_ROBOTS_DISCOVERED, true, false},
            {FETCH_ROBOTS_ALL, false, false},
            {FETCH_ROBOTS_OFF, true, true},
    };
    EXPECT_INT(web_options.robots, FETCH_ROBOTS_DISCOVERED); /* unless somebody says else */
    for (size_t i = 0; i < countof(rows); i++) {
        struct fetch_options o = web_options;
        o.robots = rows[i].use;
        SERVER(w, &o, port);
        WEB(free, &web_options);
        web_get(&free,
                "http://127.0.0.1:%u/robots-say/200/User-agent:%%20vigil%%0ADisallow:%%20/",
                port);
        struct fetch_request r = {
                .url = arena_printf(w.life, "http://127.0.0.1:%u/good", port)};
        EXPECT_INT(ask(&w, r)->outcome, rows[i].named ? FETCH_OK : FETCH_FAILED);
        bool was_asked =
                strcmp(web_get(&free, "http://127.0.0.1:%u/count-of/robots.txt", port)->body,
                        "0") != 0;
        EXPECT(was_asked == !rows[i].named); /* nor is robots.txt asked for in vain */
        r.is_discovered = true;
        EXPECT_INT(ask(&w, r)->outcome, rows[i].found ? FETCH_OK : FETCH_FAILED);
        EXPECT_TEXT(web_get(&free, "http://127.0.0.1:%u/count-of/good", port)->body,
                rows[i].named && rows[i].found ? "2"
                : rows[i].named                ? "1"
                                               : "0");
    }
}

static msec ahead;

static msec shifted_wall(const struct clock *c)
{
    (void)c;
    return clock_wall(&clock_system) + ahead;
}

static msec shifted_mono(const struct clock *c)
{
    (void)c;
    return clock_mono(&clock_system) + ahead;
}

TEST(answers, "no robots.txt allows, none to be had forbids, and an old one goes on counting")
{
    static const struct clock shifted = {shifted_wall, shifted_mono};
    struct fetch_options o = obedient();
    o.clock = &shifted;
    ahead = 0;
    SERVER(w, &o, port);
    WEB(say, &web_options);
    static const struct {
        msec later;
        const char *says;
        bool allowed;
        int asked; /* so often by now */
    } rows[] = {
            {0, "404/nothing", true, 1},
            {23 * MSEC_PER_HOUR, "200/User-agent:%20*%0ADisallow:%20/", true,
                    1}, /* still good */
            {2 * MSEC_PER_HOUR, "200/User-agent:%20*%0ADisallow:%20/", false, 2},
            {25 * MSEC_PER_HOUR, "200/User-agent:%20*%0AAllow:%20/", true, 3},
            {25 * MSEC_PER_HOUR, "500/broken", true, 4}, /* what was known goes on counting */
            {MSEC_PER_MINUTE, "500/broken", true, 4},
            {11 * MSEC_PER_MINUTE, "200/User-agent:%20*%0ADisallow:%20/", false, 5},
            {25 * MSEC_PER_HOUR, "301//nowhere", true, 6}, /* 404 there */
    };
    for (size_t i = 0; i < countof(rows); i++) {
        ahead += rows[i].later;
        web_get(&say, "http://127.0.0.1:%u/robots-say/%s", port, rows[i].says);
        struct answer *a = web_get(&w, "http://127.0.0.1:%u/good", port);
        if ((a->outcome == FETCH_OK) != rows[i].allowed)
            test_fail(__FILE__, __LINE__, "row %zu: %s", i, a->reason);
        struct answer *n = web_get(&say, "http://127.0.0.1:%u/count-of/robots.txt", port);
        if (strtol(n->body, NULL, 10) != rows[i].asked)
            test_fail(__FILE__, __LINE__, "row %zu: asked %s times", i, n->body);
    }
    /* A stranger whose robots.txt cannot be had: nothing is allowed. */
    web_get(&say, "http://127.0.0.1:%u/robots-say/503/busy", port);
    EXPECT_TEXT(web_get(&w, "http://localhost:%u/good", port)->reason,
            arena_printf(w.life,
                    "the robots.txt of localhost:%u, without which everything there is "
                    "forbidden, cannot be had: the server answered 503 Service Unavailable",
                    port));
}

TEST(endless_robots, "a robots.txt without end is read as far as it counts")
{
    struct fetch_options o = obedient();
    SERVER(w, &o, port);
    {
        WEB(say, &web_options);
        web_get(&say, "http://127.0.0.1:%u/robots-without-end", port);
    }
    EXPECT_INT(web_get(&w, "http://127.0.0.1:%u/good", port)->outcome, FETCH_OK);
    EXPECT(strstr(web_get(&w, "http://127.0.0.1:%u/hops/1", port)->reason, "Disallow: /hops"));
}

TEST(cancelled_while_asking,
        "whoever waits for robots.txt may be cancelled, and the fetch ended")
{
    struct fetch_options o = obedient();
    SERVER(w, &o, port);
    struct answer kept, dropped, left;
    char *url = arena_printf(w.life, "http://127.0.0.1:%u/good", port);
    dropped = (struct answer){.web = &w};
    struct fetch_transfer *t =
            fetch_start(w.fetch, &(struct fetch_request){.url = url}, NULL, &dropped);
    web_start(&w, &kept, &(struct fetch_request){.url = url});
    fetch_cancel(t);
    web_wait(&w, &kept);
    EXPECT_INT(kept.outcome, FETCH_OK);
    url = arena_printf(w.life, "http://localhost:%u/good", port);
    web_start(&w, &left, &(struct fetch_request){.url = url}); /* the end comes meanwhile */
    EXPECT_INT(left.done, 0);
}

/* ---- politeness ---- */

TEST(one_host, "a thousand pages of one host: two at once, and the gap between them")
{
    enum { PAGES = 1000, GAP = 2 };
    struct fetch_options o = web_options;
    o.max_host_connections = 2;
    o.private_gap = GAP;
    SERVER(w, &o, port);
    struct answer *all = arena_array_of(w.life, PAGES, struct answer);
    msec began = clock_mono(&clock_system);
    char *url = arena_printf(w.life, "http://127.0.0.1:%u/measured", port);
    for (size_t i = 0; i < PAGES; i++)
        web_start(&w, &all[i], &(struct fetch_request){.url = url});
    unsigned ok = 0;
    for (size_t i = 0; i < PAGES; i++) {
        web_wait(&w, &all[i]);
        ok += all[i].outcome == FETCH_OK;
    }
    EXPECT_INT(ok, PAGES);
    EXPECT(clock_mono(&clock_system) - began >= (PAGES - 1) * GAP);
    struct fetch_stats s;
    fetch_stats_get(w.fetch, &s);
    EXPECT(s.connections <= 2 + s.requests / 100); /* kept, but for what libcurl let go */
    EXPECT(strtol(web_get(&w, "http://127.0.0.1:%u/most-at-once", port)->body, NULL, 10) <= 2);
}

TEST(own_network, "a network of one's own has its own gap, also under a name")
{
    struct fetch_options o = web_options;
    o.host_gap = 60000; /* would be noticed */
    SERVER(w, &o, port);
    struct answer all[10];
    char *url = arena_printf(w.life, "http://localhost:%u/good", port);
    for (size_t i = 0; i < countof(all); i++)
        web_start(&w, &all[i], &(struct fetch_request){.url = url});
    for (size_t i = 0; i < countof(all); i++)
        web_wait(&w, &all[i]);
    EXPECT_INT(all[9].outcome, FETCH_OK);
}
TEST_MAIN()
