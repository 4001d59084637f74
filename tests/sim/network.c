/* The simulated network: fetch/fetch.h over the pages of a scenario.
 *
 * A fetch finds its world by the clock in its options.  The answer is what the page is when it
 * is due; validators work as those of an honest server, and a page nobody wrote is a 404.
 */
#include "tests/sim/network.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NETWORK_TAG = 0x53494d4e };

struct fetch_transfer {
    struct list link;
    struct arena *arena;
    struct fetch *fetch;
    struct loop_timer answer;
    const char *url, *path, *etag, *last_modified;
    fetch_done_fn *done;
    void *arg;
    msec began;
};

struct sim_page *network_page(struct list *pages, const char *path)
{
    list_each (pos, pages) {
        struct sim_page *p = list_entry(pos, struct sim_page, link);
        if (strcmp(p->path, path) == 0)
            return p;
    }
    return NULL;
}

static void release(void *arg)
{
    struct fetch *fe = TAGGED(struct fetch, arg, NETWORK_TAG);
    list_each (pos, &fe->running)
        fetch_cancel(list_entry(pos, struct fetch_transfer, link));
}

enum err fetch_new(struct arena *life, struct loop *loop, const struct fetch_options *o,
        struct fault *f, struct fetch **ret_fetch)
{
    (void)f;
    struct fetch *fe = arena_new_of(life, struct fetch);
    fe->tag = NETWORK_TAG;
    fe->life = life;
    fe->loop = loop;
    fe->world = container_of(o->clock, struct world, clock);
    list_init(&fe->running);
    arena_defer(life, release, fe);
    *ret_fetch = fe;
    return OK;
}

/* No page of a scenario sets a cookie, so there is nothing to keep. */
struct fetch_jar {
    uint32_t tag;
};

struct fetch_jar *fetch_jar_new(struct arena *life)
{
    return arena_new_of(life, struct fetch_jar);
}

static void forget(struct fetch_transfer *t)
{
    loop_timer_stop(t->fetch->loop, &t->answer);
    list_remove(&t->link);
    t->fetch->stats.running--;
    arena_free(t->arena);
}

void fetch_cancel(struct fetch_transfer *t)
{
    forget(t);
}

void fetch_stats_get(const struct fetch *fe, struct fetch_stats *ret_stats)
{
    *ret_stats = fe->stats;
}

/* "Mon, 16 Nov 2026 12:00:00 GMT" */
static const char *http_date(struct arena *life, msec wall)
{
    time_t seconds = (time_t)(wall / 1000);
    struct tm tm;
    char text[64];
    gmtime_r(&seconds, &tm);
    strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    return arena_strdup(life, text);
}

static bool is_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static const char *body_now(struct fetch_transfer *t, const struct sim_page *p)
{
    if (!p->every)
        return p->body;
    long long turn = t->fetch->world->elapsed / p->every;
    return arena_printf(t->arena, "%s<p>turn %lld</p>", p->body ? p->body : "", turn);
}

static void fill(struct fetch_transfer *t, const struct sim_page *p, struct fetch_response *r)
{
    r->status = p ? p->status : 404;
    r->retry_after = p ? p->retry_after : 0;
    r->final_url = t->url;
    r->last_modified_at = MSEC_NEVER;
    r->gone = r->status == 404 || r->status == 410;
    r->took = t->fetch->world->elapsed - t->began;
    if (p && p->failure) {
        r->status = 0;
        r->gone = false;
        r->reason = p->failure;
        return;
    }
    if (r->status != 200) {
        r->reason = arena_printf(t->arena, "the server answered %d", r->status);
        return;
    }
    r->etag = p->etag;
    if (p->modified != MSEC_NEVER) {
        r->last_modified = http_date(t->arena, p->modified);
        r->last_modified_at = p->modified - p->modified % 1000;
    }
    r->content_type = p->type ? p->type : "text/html; charset=utf-8";
    if (t->etag ? is_same(t->etag, r->etag) : is_same(t->last_modified, r->last_modified)) {
        r->outcome = FETCH_NOT_MODIFIED;
        r->status = 304;
        return;
    }
    r->outcome = FETCH_OK;
    r->body = body_now(t, p);
    r->body_bytes = r->wire_bytes = strlen(r->body);
}

static void answer(struct loop_timer *timer)
{
    struct fetch_transfer *t = container_of(timer, struct fetch_transfer, answer);
    struct fetch *fe = t->fetch;
    struct fetch_response r = {.outcome = FETCH_FAILED};
    fill(t, network_page(&fe->world->pages, t->path), &r);
    fe->stats.ok += r.outcome == FETCH_OK;
    fe->stats.not_modified += r.outcome == FETCH_NOT_MODIFIED;
    fe->stats.failed += r.outcome == FETCH_FAILED;
    list_remove(&t->link); /* a `done` that ends the fetch must not meet us */
    fe->stats.running--;
    t->done(&r, t->arg);
    arena_free(t->arena);
}

static const char *dup_or_null(struct arena *life, const char *text)
{
    return text ? arena_strdup(life, text) : NULL;
}

struct fetch_transfer *fetch_start(
        struct fetch *fe, const struct fetch_request *r, fetch_done_fn *done, void *arg)
{
    struct world *w = fe->world;
    struct arena *a = arena_new(NULL, "transfer");
    struct fetch_transfer *t = arena_new_of(a, struct fetch_transfer);
    t->arena = a;
    t->fetch = fe;
    t->url = arena_strdup(a, r->url);
    t->path = t->url +
              (strncmp(t->url, SIM_HOST, sizeof SIM_HOST - 1) == 0 ? sizeof SIM_HOST - 1 : 0);
    t->etag = dup_or_null(a, r->etag);
    t->last_modified = dup_or_null(a, r->last_modified);
    t->done = done;
    t->arg = arg;
    t->began = w->elapsed;
    list_append(&fe->running, &t->link);
    fe->stats.requests++;
    fe->stats.running++;

    struct sim_fetch *seen = arena_new_of(w->life, struct sim_fetch);
    seen->path = arena_strdup(w->life, t->path);
    seen->elapsed = w->elapsed;
    seen->wall = w->wall;
    seen->conditional = t->etag || t->last_modified;
    list_append(&w->fetches, &seen->link);

    struct sim_page *p = network_page(&w->pages, t->path);
    loop_timer_init(&t->answer, answer);
    loop_timer_set(fe->loop, &t->answer, p ? p->takes : 0);
    return t;
}
