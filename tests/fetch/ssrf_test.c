/* Addresses that are not public are never connected to, however they are written.
 *
 * The canary listens on every address of this machine and counts who comes: it must be
 * nobody.  The server that redirects is the one address that is allowed.
 */
#include "fetch/deliver.h"
#include "tests/fetch/web.h"
#include "tests/servers/private.h"

static const char *const only_ours[] = {"127.0.0.3/32"};

/* Fixed names for the canary's port. */
static struct fetch_options options_for(struct arena *life, unsigned port)
{
    const char **names = arena_array_of(life, 3, const char *);
    names[0] = arena_printf(life, "private.example:%u:127.0.0.1", port);
    names[1] = arena_printf(life, "private6.example:%u:[::1]", port);
    names[2] = arena_printf(life, "both.example:%u:[::1],127.0.0.1,10.0.0.1", port);
    struct fetch_options o = web_options;
    o.allow = only_ours;
    o.nallow = 1;
    o.resolve = names;
    o.nresolve = 3;
    return o;
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static const char *form_url(struct arena *life, size_t i, unsigned port)
{
    return arena_printf(life, private_urls[i], port);
}

TEST(direct, "no way of writing a private address gets through")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct server_canary canary;
    server_canary(life, "::", &canary);
    struct fetch_options o = options_for(life, canary.port);
    WEB(w, &o);
    for (size_t i = 0; i < countof(private_urls); i++) {
        struct answer *a = web_get(&w, "%s", form_url(life, i, canary.port));
        if (a->outcome != FETCH_FAILED || a->status != 0)
            test_fail(__FILE__, __LINE__, "%s was fetched", private_urls[i]);
    }
    EXPECT_INT(server_canary_accepts(&canary), 0);
}

TEST(redirected, "no redirect gets through either")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct server_canary canary;
    server_canary(life, "::", &canary);
    struct fetch_options o = options_for(life, canary.port);
    WEB(w, &o);
    unsigned port = server_hostile(life, "127.0.0.3"), reached = 0;
    for (size_t i = 0; i < countof(private_urls); i++) {
        struct answer *a = web_get(&w, "http://127.0.0.3:%u/redirect/302/%s", port,
                form_url(life, i, canary.port));
        if (a->outcome != FETCH_FAILED)
            test_fail(__FILE__, __LINE__, "%s was fetched after a redirect", private_urls[i]);
        reached += a->wire_bytes > 0;
    }
    EXPECT_INT(reached, countof(private_urls)); /* it did redirect, every time */
    EXPECT_INT(server_canary_accepts(&canary), 0);
}

/* The allowed address does not listen at the canary's port; libcurl tries the next. */
static struct fetch_options rebound_options(
        struct arena *life, unsigned port, unsigned canary, const char *address)
{
    const char **names = arena_array_of(life, 3, const char *);
    names[0] = arena_printf(life, "rebound.example:%u:127.0.0.3", port);
    names[1] = arena_printf(life, "rebound.example:%u:%s", canary, address);
    names[2] = arena_printf(life, "both.example:%u:%s,10.0.0.1", canary, address);
    struct fetch_options o = web_options;
    o.allow = only_ours;
    o.nallow = 1;
    o.resolve = names;
    o.nresolve = 3;
    return o;
}

TEST(rebinding, "a name that leads to an allowed address first and to a private one then")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct server_canary canary;
    server_canary(life, "::", &canary);
    unsigned port = server_hostile(life, "127.0.0.3");
    for (size_t i = 0; i < countof(private_addresses); i++) {
        struct fetch_options o = rebound_options(life, port, canary.port, private_addresses[i]);
        WEB(w, &o);
        EXPECT_INT(web_get(&w, "http://rebound.example:%u/good", port)->outcome, FETCH_OK);
        EXPECT_INT(
                web_get(&w, "http://rebound.example:%u/", canary.port)->outcome, FETCH_FAILED);
        EXPECT_INT(web_get(&w, "http://both.example:%u/", canary.port)->outcome, FETCH_FAILED);
        EXPECT_INT(
                web_get(&w, "http://rebound.example:%u/redirect/302/http://rebound.example:%u/",
                        port, canary.port)
                        ->outcome,
                FETCH_FAILED);
    }
    EXPECT_INT(server_canary_accepts(&canary), 0);
}

TEST(reused, "a connection that one policy made is not used by another")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    unsigned port = server_hostile(life, "127.0.0.1");
    WEB(open, &web_options);
    struct fetch_options o = options_for(life, port);
    WEB(shut, &o);
    for (size_t i = 0; i < countof(private_urls); i++) {
        EXPECT_INT(web_get(&open, "http://127.0.0.1:%u/good", port)->outcome, FETCH_OK);
        struct answer *a = web_get(&shut, "%s", form_url(life, i, port));
        if (a->outcome != FETCH_FAILED || a->wire_bytes)
            test_fail(__FILE__, __LINE__, "%s was fetched", private_urls[i]);
    }
    char *good = web_get(&open, "http://127.0.0.1:%u/count-of/good", port)->body;
    EXPECT_INT(strtol(good, NULL, 10), countof(private_urls));
    EXPECT_TEXT(web_get(&open, "http://127.0.0.1:%u/count-of/", port)->body, "0");
}

TEST(robots, "robots.txt is no way in either, neither asked for nor by its redirects")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct server_canary canary;
    server_canary(life, "::", &canary);
    struct fetch_options o = options_for(life, canary.port);
    unsigned port = server_hostile(life, "127.0.0.3");
    WEB(say, &o);
    o.robots = FETCH_ROBOTS_ALL;
    for (size_t i = 0; i < countof(private_urls); i++) {
        WEB(w, &o);
        EXPECT_INT(web_get(&w, "%s", form_url(life, i, canary.port))->outcome, FETCH_FAILED);
        web_get(&say, "http://127.0.0.3:%u/robots-say/302/%s", port,
                form_url(life, i, canary.port));
        web_get(&w, "http://127.0.0.3:%u/good",
                port); /* a redirect to no URL forbids nothing */
    }
    char *asked = web_get(&say, "http://127.0.0.3:%u/count-of/robots.txt", port)->body;
    EXPECT_INT(
            strtol(asked, NULL, 10), countof(private_urls)); /* it did redirect, every time */
    EXPECT_INT(server_canary_accepts(&canary), 0);
}

/* ---- the same for what is sent: a webhook's receiver is as foreign as a page ---- */

struct receipt {
    struct web *web;
    bool accepted;
    int status;
    char reason[400];
};

static void delivered(const struct fetch_receipt *r, void *arg)
{
    struct receipt *to = arg;
    to->accepted = r->accepted;
    to->status = r->status;
    snprintf(to->reason, sizeof to->reason, "%s", r->reason ? r->reason : "");
    loop_stop(to->web->loop);
}

static struct receipt web_post(struct web *w, const char *url)
{
    static const char *const headers[] = {"Content-Type: application/json", NULL};
    struct fetch_parcel p = {
            .url = url, .method = "POST", .headers = headers, .body = "{}", .body_bytes = 2};
    struct receipt r = {.web = w};
    fetch_deliver(w->fetch, &p, delivered, &r);
    loop_run(w->loop);
    return r;
}

TEST(posted, "no way of writing a private address gets a webhook through")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct server_canary canary;
    server_canary(life, "::", &canary);
    struct fetch_options o = options_for(life, canary.port);
    WEB(w, &o);
    for (size_t i = 0; i < countof(private_urls); i++) {
        struct receipt r = web_post(&w, form_url(life, i, canary.port));
        if (r.accepted || r.status || !r.reason[0])
            test_fail(__FILE__, __LINE__, "%s was posted to: %d %s", private_urls[i], r.status,
                    r.reason);
    }
    EXPECT_INT(server_canary_accepts(&canary), 0);
    EXPECT_TEXT(web_post(&w, "http://127.0.0.1/").reason,
            "127.0.0.1 is not a public address; allow it with notify.allow = 127.0.0.0/8");
}

TEST(posted_on, "a receiver that redirects a webhook gets nobody anywhere, public or not")
{
    static const int codes[] = {301, 302, 303, 307, 308};
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct server_canary canary, allowed;
    server_canary(life, "::", &canary);
    server_canary(life, "127.0.0.3", &allowed);
    struct fetch_options o = options_for(life, canary.port);
    WEB(w, &o);
    unsigned port = server_hostile(life, "127.0.0.3");
    for (size_t i = 0; i < countof(private_urls); i++) {
        int code = codes[i % countof(codes)];
        struct receipt r = web_post(&w, arena_printf(life, "http://127.0.0.3:%u/redirect/%d/%s",
                                                port, code, form_url(life, i, canary.port)));
        if (r.accepted || r.status != code || !strstr(r.reason, "never sent elsewhere"))
            test_fail(__FILE__, __LINE__, "%s after a redirect: %d %s", private_urls[i],
                    r.status, r.reason);
    }
    for (size_t i = 0; i < countof(codes); i++)
        EXPECT_INT(web_post(&w, arena_printf(life,
                                        "http://127.0.0.3:%u/redirect/%d/http://127.0.0.3:%u/",
                                        port, codes[i], allowed.port))
                           .status,
                codes[i]);
    EXPECT_INT(server_canary_accepts(&canary), 0);
    EXPECT_INT(server_canary_accepts(&allowed), 0);
}

TEST(posted_rebound, "a webhook's name that leads to a private address later, or also")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct server_canary canary;
    server_canary(life, "::", &canary);
    unsigned port = server_hostile(life, "127.0.0.3");
    for (size_t i = 0; i < countof(private_addresses); i++) {
        struct fetch_options o = rebound_options(life, port, canary.port, private_addresses[i]);
        WEB(w, &o);
        EXPECT(web_post(&w, arena_printf(life, "http://rebound.example:%u/good", port))
                        .accepted);
        EXPECT(!web_post(&w, arena_printf(life, "http://rebound.example:%u/", canary.port))
                        .accepted);
        EXPECT(!web_post(&w, arena_printf(life, "http://both.example:%u/", canary.port))
                        .accepted);
    }
    EXPECT_INT(server_canary_accepts(&canary), 0);
}

TEST(alive, "the canary would have noticed")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct server_canary canary;
    server_canary(life, "::", &canary);
    WEB(w, &web_hasty_options);
    web_get(&w, "http://127.0.0.1:%u/", canary.port);
    web_get(&w, "http://[::1]:%u/", canary.port);
    EXPECT_INT(server_canary_accepts(&canary), 2);
}

TEST(words, "a refusal says which address it was and how to allow it")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct fetch_options o = options_for(life, 81);
    WEB(w, &o);
    EXPECT_TEXT(web_get(&w, "http://127.0.0.1/")->reason,
            "127.0.0.1 is not a public address; allow it with --allow 127.0.0.0/8");
    EXPECT_TEXT(web_get(&w, "http://[::1]/")->reason,
            "::1 is not a public address; allow it with --allow ::1/128");
    EXPECT_TEXT(web_get(&w, "http://private.example:81/")->reason,
            "127.0.0.1 is not a public address; allow it with --allow 127.0.0.0/8");
    EXPECT_TEXT(web_get(&w, "http://[::ffff:10.1.1.1]/")->reason,
            "::ffff:10.1.1.1 is not a public address; allow it with --allow 10.0.0.0/8");
}

TEST(ambient, "proxies of the environment are not used")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct server_canary canary;
    server_canary(life, "127.0.0.1", &canary);
    const char *proxy = arena_printf(life, "http://127.0.0.1:%u/", canary.port);
    setenv("http_proxy", proxy, 1);
    setenv("https_proxy", proxy, 1);
    setenv("ALL_PROXY", proxy, 1);
    {
        WEB(w, &web_options);
        unsigned port = server_hostile(life, "127.0.0.1");
        EXPECT_INT(web_get(&w, "http://127.0.0.1:%u/good", port)->outcome, FETCH_OK);
        web_get(&w, "http://nosuch.invalid/");
        web_get(&w, "https://nosuch.invalid/");
    }
    unsetenv("http_proxy");
    unsetenv("https_proxy");
    unsetenv("ALL_PROXY");
    EXPECT_INT(server_canary_accepts(&canary), 0);
}

TEST(bad_allow, "a setting that allows nonsense is refused when the fetch is made")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    static const char *const wrong[] = {"127.0.0.0/8", "everything"};
    struct fetch_options o = {.allow = wrong, .nallow = 2};
    struct loop *loop = loop_new();
    struct fetch *fe = NULL;
    struct fault f;
    EXPECT(fetch_new(life, loop, &o, &f, &fe) == ERR_SYNTAX);
    EXPECT(fe == NULL);
    loop_free(loop);
}
TEST_MAIN()
