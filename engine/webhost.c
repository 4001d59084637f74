/* Hosts: pages of one host share what is known of its honesty.
 *
 *  (1) A host whose validators lied is not believed for thirty days, also after a restart,
 *      and also when nobody watches it meanwhile.
 */
#include "engine/engine_int.h"
#include "base/log.h"
#include <stdlib.h>

/* "http://host:port" of a normalised URL. */
static size_t host_length(const char *url)
{
    const char *authority = strstr(url, "://");
    authority = authority ? authority + 3 : url;
    return (size_t)(authority - url) + strcspn(authority, "/?#");
}

static struct webhost *host_find(struct engine *e, const char *name, size_t len)
{
    uint64_t hash = map_hash(name, len);
    for (struct map_node *n = map_first(&e->hosts, hash); n; n = map_next(n)) {
        struct webhost *h = container_of(n, struct webhost, by_name);
        if (strlen(h->name) == len && memcmp(h->name, name, len) == 0)
            return h;
    }
    struct webhost *h = calloc(1, sizeof *h + len + 1);
    CHECK(h);
    memcpy(h->name, name, len);
    map_insert(&e->hosts, &h->by_name, hash);
    return h;
}

struct webhost *webhost_get(struct engine *e, const char *url)
{
    struct webhost *h = host_find(e, url, host_length(url));
    h->pages++;
    return h;
}

void webhost_drop(struct engine *e, struct webhost *h)
{
    if (--h->pages || !fetch_trust_is_given(&h->trust, engine_wall(e)))
        return; /* (1) */
    map_remove(&e->hosts, &h->by_name);
    free(h);
}

void webhost_load(const char *name, msec distrusted_until, void *engine)
{
    host_find(engine, name, strlen(name))->trust.distrusted_until = distrusted_until;
}

void webhost_free_all(struct engine *e)
{
    map_each (n, &e->hosts)
        free(container_of(n, struct webhost, by_name));
    map_done(&e->hosts);
}

struct note {
    struct store_plan_job plan;
    struct store_step step;
    struct engine *engine;
    struct arena *arena;
};

static void noted(struct store_job *job)
{
    struct note *n = container_of(job, struct note, plan.job);
    if (job->err != OK)
        log_error("a host's lie was not recorded: %s", job->fault.message);
    engine_answered(n->engine);
    arena_free(n->arena);
}

void webhost_lied(struct engine *e, struct webhost *h)
{
    msec now = engine_wall(e);
    if (!fetch_trust_is_given(&h->trust, now))
        return;
    log_warn("%s: its validators stay while a page changes; not believed for 30 days", h->name);
    fetch_trust_lied(&h->trust, now);

    struct arena *a = arena_new(NULL, "host");
    struct note *n = arena_new_of(a, struct note);
    n->arena = a;
    n->engine = e;
    n->step = (struct store_step){.kind = STORE_STEP_HOST,
            .url = arena_strdup(a, h->name),
            .ends_at = h->trust.distrusted_until,
            .event_at = now};
    n->plan.job.kind = STORE_JOB_PLAN;
    n->plan.job.done = noted;
    n->plan.steps = &n->step;
    n->plan.nsteps = 1;
    engine_submit(e, &n->plan.job);
}
