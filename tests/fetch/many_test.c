/* Many at once: limits, turns, cancelling, ending. */
#include "tests/fetch/web.h"
#include <stdlib.h>
#include <sys/resource.h>

static struct answer *start(struct web *w, const char *url)
{
    struct answer *a = arena_new_of(w->life, struct answer);
    web_start(w, a, &(struct fetch_request){.url = url});
    return a;
}

TEST(in_flight, "two hundred transfers are in flight at once")
{
    WEB(w, &web_options);
    const char *url = arena_printf(
            w.life, "http://127.0.0.1:%u/slow-good", server_hostile(w.life, "127.0.0.1"));
    struct answer *all[200];
    struct fetch_stats s;
    unsigned most = 0;
    for (size_t i = 0; i < countof(all); i++)
        all[i] = start(&w, url);
    for (size_t i = 0; i < countof(all); i++) {
        while (!all[i]->done) {
            loop_run_once(w.loop);
            fetch_stats_get(w.fetch, &s);
            most = s.running > most ? s.running : most;
        }
        EXPECT_INT(all[i]->outcome, FETCH_OK);
    }
    EXPECT_INT(most, 200);
    fetch_stats_get(w.fetch, &s);
    EXPECT_INT(s.running, 0);
}

TEST(slowloris, "hundreds of stalled servers do not cost an honest page a single check")
{
    const char *text = getenv("VIGIL_TEST_STALLED"); /* 2,000 in scripts/soak */
    size_t n = text ? strtoul(text, NULL, 10) : 300;
    struct fetch_options o = web_options;
    o.first_byte_timeout = 3000;
    o.max_connections = o.max_host_connections = (unsigned)n + 50;
    WEB(w, &o);
    unsigned port = server_hostile(w.life, "127.0.0.1"), checks = 0;
    static const char *const ways[] = {"silent", "slow-headers", "slow-body", "stalled-body"};
    struct answer *stuck = arena_array_of(w.life, n, struct answer);
    for (size_t i = 0; i < n; i++)
        web_start(&w, &stuck[i],
                &(struct fetch_request){.url = arena_printf(w.life, "http://localhost:%u/%s",
                                                port, ways[i % 4])});
    for (size_t i = 0; i < n / 4; i++)
        checks += web_get(&w, "http://127.0.0.1:%u/good", port)->outcome == FETCH_OK;
    EXPECT_INT(checks, n / 4);
    struct fetch_stats s;
    fetch_stats_get(w.fetch, &s);
    EXPECT(s.running + s.failed > 0); /* they were there all the while */
    for (size_t i = 0; i < n; i += 4) {
        web_wait(&w, &stuck[i]);
        EXPECT_TEXT(stuck[i].reason, "timed out after 3 s waiting for the first byte");
    }
}

TEST(limits, "no more than the limits run, in all and for each host")
{
    struct fetch_options o = web_options;
    o.max_host_connections = 2;
    o.max_connections = 3;
    WEB(w, &o);
    unsigned port = server_hostile(w.life, "127.0.0.1");
    const char *a = arena_printf(w.life, "http://127.0.0.1:%u/slow-good", port);
    const char *b = arena_printf(w.life, "http://localhost:%u/slow-good", port);
    struct answer *all[20];
    struct fetch_stats s;
    for (size_t i = 0; i < countof(all); i++)
        all[i] = start(&w, i < 10 ? a : b);
    for (size_t i = 0; i < countof(all); i++) {
        while (!all[i]->done) {
            loop_run_once(w.loop);
            fetch_stats_get(w.fetch, &s);
            EXPECT(s.running <= 3);
        }
        EXPECT_INT(all[i]->outcome, FETCH_OK);
    }
}

TEST(turns, "a host whose server is silent does not keep another host from its turn")
{
    struct fetch_options o = web_options;
    o.max_host_connections = 2;
    o.max_connections = 4;
    WEB(w, &o);
    unsigned port = server_hostile(w.life, "127.0.0.1");
    const char *silent = arena_printf(w.life, "http://127.0.0.1:%u/silent", port);
    struct answer *stuck = NULL;
    for (int i = 0; i < 50; i++)
        stuck = start(&w, silent);
    struct answer *good = web_get(&w, "http://localhost:%u/good", port);
    EXPECT_INT(good->outcome, FETCH_OK);
    EXPECT_INT(stuck->done, 0);
}

TEST(gap, "requests to one host keep their distance, other hosts do not wait for it")
{
    struct fetch_options o = web_options;
    o.private_gap = 200;
    WEB(w, &o);
    unsigned port = server_hostile(w.life, "127.0.0.1");
    const char *url = arena_printf(w.life, "http://127.0.0.1:%u/good", port);
    struct answer *all[5];
    msec began = clock_mono(&clock_system);
    for (size_t i = 0; i < countof(all); i++)
        all[i] = start(&w, url);
    struct answer *other = web_get(&w, "http://localhost:%u/good", port);
    EXPECT_INT(other->outcome, FETCH_OK);
    EXPECT_INT(all[4]->done, 0);
    for (size_t i = 0; i < countof(all); i++) {
        web_wait(&w, all[i]);
        EXPECT_INT(all[i]->outcome, FETCH_OK);
        EXPECT(clock_mono(&clock_system) - began >= (msec)i * 200);
    }
}

TEST(left_alone,
        "a host that asked to be left alone is not asked again, and the caller learns why")
{
    struct fetch_options o = web_options;
    o.private_gap = 1;
    WEB(w, &o);
    unsigned port = server_hostile(w.life, "127.0.0.1");
    struct answer *a = web_get(&w, "http://127.0.0.1:%u/status/503+x", port);
    EXPECT_INT(a->retry_after, 120000);
    a = web_get(&w, "http://127.0.0.1:%u/good", port);
    EXPECT_INT(a->outcome, FETCH_FAILED);
    EXPECT_INT(a->status, 0);
    EXPECT(strncmp(a->reason, "127.0.0.1 asked to be left alone, for ", 38) == 0);
    EXPECT(a->retry_after > 100000 && a->retry_after <= 120000);
    a = web_get(&w, "http://localhost:%u/good", port); /* another host */
    EXPECT_INT(a->outcome, FETCH_OK);
    EXPECT_TEXT(web_get(&w, "http://localhost:%u/count-of/good", port)->body, "1");
}

TEST(no_descriptors, "where no socket can be opened the reason says so")
{
    WEB(w, &web_options);
    struct rlimit before, none;
    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &none);
    struct answer *a = web_get(&w, "http://127.0.0.1:9/");
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_TEXT(a->reason, "no socket can be opened here: Too many open files");
}

TEST(cancel, "a cancelled transfer is not reported, wherever it was")
{
    struct fetch_options o = web_options;
    o.max_host_connections = 1;
    WEB(w, &o);
    unsigned port = server_hostile(w.life, "127.0.0.1");
    const char *silent = arena_printf(w.life, "http://127.0.0.1:%u/silent", port);
    struct fetch_request r = {.url = silent}, nonsense = {.url = "nonsense"};
    struct fetch_stats s;
    struct fetch_transfer *running = fetch_start(w.fetch, &r, NULL, NULL);
    struct fetch_transfer *queued = fetch_start(w.fetch, &r, NULL, NULL);
    struct fetch_transfer *doomed = fetch_start(w.fetch, &nonsense, NULL, NULL);
    fetch_cancel(doomed);
    do {
        loop_run_once(w.loop);
        fetch_stats_get(w.fetch, &s);
    } while (s.connections == 0);
    fetch_cancel(queued);
    fetch_cancel(running);
    fetch_stats_get(w.fetch, &s);
    EXPECT_INT(s.running + s.waiting, 0);
    EXPECT_INT(web_get(&w, "http://127.0.0.1:%u/good", port)->outcome, FETCH_OK);
}

struct chain {
    struct web *web;
    const char *url;
    struct fetch_transfer *other; /* to be cancelled from inside */
    int left;
};

static void next_one(const struct fetch_response *r, void *arg)
{
    struct chain *c = arg;
    EXPECT_INT(r->outcome, FETCH_OK);
    if (c->other)
        fetch_cancel(c->other);
    c->other = NULL;
    if (--c->left > 0)
        fetch_start(c->web->fetch, &(struct fetch_request){.url = c->url}, next_one, c);
    else
        loop_stop(c->web->loop);
}

TEST(from_inside, "a report may start the next transfer and cancel another one")
{
    WEB(w, &web_options);
    unsigned port = server_hostile(w.life, "127.0.0.1");
    struct fetch_request silent = {
            .url = arena_printf(w.life, "http://127.0.0.1:%u/silent", port)};
    struct chain c = {.web = &w, .left = 20};
    c.url = arena_printf(w.life, "http://127.0.0.1:%u/good", port);
    c.other = fetch_start(w.fetch, &silent, NULL, NULL);
    fetch_start(w.fetch, &(struct fetch_request){.url = c.url}, next_one, &c);
    loop_run(w.loop);
    EXPECT_INT(c.left, 0);
}

static void never(const struct fetch_response *r, void *arg)
{
    (void)r, (void)arg;
    test_fail(__FILE__, __LINE__, "a transfer was reported that must not be");
}

TEST(not_inside, "a failure is never reported from inside the start")
{
    WEB(w, &web_options);
    struct fetch_transfer *t =
            fetch_start(w.fetch, &(struct fetch_request){.url = "gopher://x"}, never, NULL);
    fetch_cancel(t);
}

TEST(ending, "ending a fetch ends its transfers, wherever they are")
{
    WEB(w, &web_options);
    unsigned port = server_hostile(w.life, "127.0.0.1");
    struct fetch_request silent = {
            .url = arena_printf(w.life, "http://127.0.0.1:%u/silent", port)};
    struct fetch_request name = {.url = "http://nosuch.invalid/"};
    struct fetch_stats s;
    for (int i = 0; i < 300; i++)
        fetch_start(w.fetch, &silent, never, NULL);
    fetch_start(w.fetch, &name, never, NULL);
    fetch_start(w.fetch, &(struct fetch_request){.url = "nonsense"}, never, NULL);
    struct fetch_transfer *last = fetch_start(w.fetch, &silent, never, NULL);
    (void)last;
    /* The doomed one would be reported in the first round of the loop: cancel it by ending. */
    fetch_stats_get(w.fetch, &s);
    EXPECT_INT(s.waiting, 302);
}

TEST(memory, "a hundred thousand rounds leave no memory behind")
{
    WEB(w, &web_options);
    unsigned port = server_hostile(w.life, "127.0.0.1");
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct fetch *fe;
    struct fault f;
    struct answer a;
    REQUIRE(fetch_new(life, w.loop, &web_options, &f, &fe) == OK);
    struct web own = {w.life, w.loop, fe};
    struct fetch_request r = {.url = arena_printf(w.life, "http://127.0.0.1:%u/good", port)};
    for (int i = 0; i < 20; i++) {
        web_start(&own, &a, &r);
        web_wait(&own, &a);
    }
    size_t before = arena_bytes(life);
    for (int i = 0; i < 300; i++) {
        web_start(&own, &a, &r);
        web_wait(&own, &a);
    }
    for (int i = 0; i < 100000; i++)
        fetch_cancel(fetch_start(fe, &r, never, NULL));
    EXPECT_INT(arena_bytes(life), before);
}
TEST_MAIN()
