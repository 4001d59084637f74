/* What robots.txt says is asked before a transfer joins its host's queue.
 *
 *  (1) A transfer that robots.txt has a say in does not begin before the answer is known, and
 *      each redirect is asked about like a URL somebody typed.
 *  (2) One request for robots.txt serves all that wait, and its answer a day at most; it is
 *      an ordinary transfer, with the same guards, gaps and limits.
 *  (3) When it cannot be had everything is forbidden, but what was known before goes on
 *      counting, and it is asked for again soon.
 *  (4) What is remembered is bounded: the oldest sites are forgotten.
 *
 * A site is scheme, name and port, as robots.txt counts it; a host (queue.c) is the name.
 */
#include "fetch/fetch_int.h"
#include "fetch/robots.h"
#include <stdlib.h>

enum { SITES_MAX = 4096 };
#define KEPT_FOR MSEC_PER_DAY
#define ASKED_AGAIN_AFTER (10 * MSEC_PER_MINUTE)

static const char product[] = "vigil";

struct site {
    uint32_t tag; /* FETCH_SITE_TAG */
    struct map_node node;
    struct list by_age; /* in fetch.sites_by_age */
    struct fetch *fetch;
    struct list waiting;        /* transfers */
    bool is_asking;             /* for its robots.txt */
    bool is_refused;            /* not even that may be asked for */
    struct arena *life;         /* of the rules */
    struct fetch_robots *rules; /* NULL: not known */
    const char *hindrance;      /* why they could not be had; NULL: they could */
    msec good_until;
    char name[]; /* "http://host:port" */
};

static void site_free(struct fetch *fe, struct site *s)
{
    map_remove(&fe->sites, &s->node);
    list_remove(&s->by_age);
    arena_free(s->life);
    free(s);
}

/* (4) */
static void forget_oldest(struct fetch *fe)
{
    list_each (pos, &fe->sites_by_age) {
        struct site *s = list_entry(pos, struct site, by_age);
        if (fe->sites.count <= SITES_MAX)
            return;
        if (!s->is_asking)
            site_free(fe, s);
    }
}

static struct site *site_get(struct fetch *fe, const char *url)
{
    size_t len = fetch_url_origin_bytes(url);
    uint64_t hash = map_hash(url, len);
    for (struct map_node *n = map_first(&fe->sites, hash); n; n = map_next(n)) {
        struct site *s = container_of(n, struct site, node);
        if (strlen(s->name) == len && memcmp(s->name, url, len) == 0)
            return s;
    }
    forget_oldest(fe);
    struct site *s = calloc(1, sizeof *s + len + 1);
    CHECK(s);
    s->tag = FETCH_SITE_TAG;
    s->fetch = fe;
    memcpy(s->name, url, len);
    list_init(&s->waiting);
    list_append(&fe->sites_by_age, &s->by_age);
    map_insert(&fe->sites, &s->node, hash);
    return s;
}

static void decide(struct site *s, struct fetch_transfer *t, bool first)
{
    char why[FETCH_WHY_SIZE];
    const char *rule;
    if (fetch_robots_allows(s->rules, t->url, &rule)) {
        fetch_queue_put(t, first);
        return;
    }
    t->fetch->stats.robots_refused++;
    t->is_refused = rule || s->is_refused;
    fetch_reason_robots(strstr(s->name, "://") + 3, rule, s->hindrance, why);
    fetch_transfer_doom(t, why);
}

static void learn(struct site *s, const struct fetch_response *r)
{
    bool broken = r->outcome != FETCH_OK && (r->status < 300 || r->status >= 500);
    msec now = clock_mono(s->fetch->o.clock);
    s->is_refused = r->refused;
    s->good_until = now + (broken ? ASKED_AGAIN_AFTER : KEPT_FOR);
    if (broken && s->rules)
        return; /* (3) */
    arena_free(s->life);
    s->life = arena_new(NULL, "robots.txt");
    s->rules = fetch_robots_of_answer(
            s->life, broken ? 0 : r->status, r->body, r->body_bytes, product);
    s->hindrance = broken && r->reason ? arena_strdup(s->life, r->reason) : NULL;
    list_remove(&s->by_age);
    list_append(&s->fetch->sites_by_age, &s->by_age);
}

static void answered(const struct fetch_response *r, void *arg)
{
    struct site *s = TAGGED(struct site, arg, FETCH_SITE_TAG);
    struct list waiting = LIST_INIT(waiting), *l;
    bool was_asked = r->status || !r->retry_after; /* else the host is to be left alone */
    if (was_asked)
        learn(s, r);
    s->is_asking = false;
    while ((l = list_first(&s->waiting))) {
        list_remove(l);
        list_append(&waiting, l);
    }
    while ((l = list_first(&waiting))) {
        struct fetch_transfer *t = list_entry(l, struct fetch_transfer, link);
        list_remove(l);
        if (was_asked) {
            decide(s, t, /* first= */ t->redirects > 0);
        } else {
            t->doom_retry_after = r->retry_after;
            fetch_transfer_doom(t, r->reason);
        }
    }
}

/* (2) */
static void ask(struct site *s)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "robots.txt");
    struct fetch_request r = {.url = arena_printf(scratch, "%s/robots.txt", s->name)};
    struct fetch_transfer *t = fetch_transfer_new(s->fetch, &r, answered, s);
    t->asks_robots = false;
    t->takes_part = true;
    t->body_bytes_max = FETCH_ROBOTS_BYTES_MAX;
    s->is_asking = true;
    fetch_queue_put(t, /* first= */ false);
}

void fetch_site_pass(struct fetch_transfer *t, bool first)
{
    if (!t->asks_robots) {
        fetch_queue_put(t, first);
        return;
    }
    struct site *s = site_get(t->fetch, t->url);
    if (s->rules && clock_mono(t->fetch->o.clock) < s->good_until) {
        decide(s, t, first);
        return;
    }
    t->phase = FETCH_ASKING; /* (1) */
    list_append(&s->waiting, &t->link);
    if (!s->is_asking)
        ask(s);
}

void fetch_sites_open(struct fetch *fe)
{
    map_init(&fe->sites);
    list_init(&fe->sites_by_age);
}

void fetch_sites_close(struct fetch *fe)
{
    map_each (n, &fe->sites)
        site_free(fe, container_of(n, struct site, node));
    map_done(&fe->sites);
}
