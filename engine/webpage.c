/* One page: what is known of it, in memory and for the store.
 *
 * A page is a normalised request; all sentinels that ask the same share it, and pages of one
 * host share what is known of the host's honesty.  What is known:
 *  (1) the newest version's number and body digest, and its page digest while there is room;
 *  (2) the server's own validators, byte for byte;
 *  (3) how often it failed, since when, why, and when it may be asked again; and
 *  (4) how often it seems to change, when somebody wants to know.
 * What a fetch does with it is in webfetch.c.
 */
#include "engine/engine_int.h"
#include "base/log.h"
#include "fetch/polite.h"
#include <stdlib.h>

/* ---- pages come and go --------------------------------------------------------------- */

static struct webpage *webpage_new(
        struct engine *e, int64_t id, const char *url, const char *request)
{
    struct webpage *p = calloc(1, sizeof *p);
    CHECK(p);
    p->engine = e;
    p->id = id;
    p->url = strdup(url);
    p->request = request && *request ? strdup(request) : NULL;
    CHECK(p->url && (p->request || !request || !*request));
    p->last_fetch = p->verified = p->next_fetch = p->not_before = MSEC_NEVER;
    p->host = webhost_get(e, url);
    fetch_gone_init(&p->gone);
    list_init(&p->streams);
    list_init(&p->in_cached);
    list_init(&p->in_postponed);
    map_insert(&e->pages_by_id, &p->by_id, map_hash_id((uint64_t)id));
    return p;
}

struct webpage *webpage_find(const struct engine *e, int64_t id)
{
    struct map_node *n = map_first(&e->pages_by_id, map_hash_id((uint64_t)id));
    for (; n; n = map_next(n))
        if (container_of(n, struct webpage, by_id)->id == id)
            return container_of(n, struct webpage, by_id);
    return NULL;
}

struct webpage *webpage_of(struct engine *e, const struct sentinel *s, unsigned place)
{
    int64_t id = place ? s->further->all[place - 1].page_id : s->page_id;
    const char *url = place ? s->further->all[place - 1].url : s->url;
    struct webpage *known = webpage_find(e, id);
    if (known)
        return known;
    SCRATCH struct arena *scratch = arena_new(NULL, "page");
    return webpage_new(e, id, url, sentinel_words(s, scratch).request);
}

void webpage_set_text(char **to, const char *from)
{
    if (*to == from)
        return;
    free(*to);
    *to = from ? strdup(from) : NULL;
    CHECK(!from || *to);
}

struct webpage *webpage_load(struct engine *e, const struct store_page *row)
{
    struct webpage *p = webpage_new(e, row->id, row->url, row->request);
    p->latest = row->latest_version;
    p->body = row->body;
    p->last_fetch = row->last_fetch_at;
    p->verified = row->verified_at;
    p->fetches = row->fetches;
    p->failures = row->failures;
    webpage_set_text(&p->etag, row->etag);
    webpage_set_text(&p->last_modified, row->last_modified);
    webpage_set_text(&p->error, row->error);
    p->gone.is_gone =
            row->error && strncmp(row->error, WEBPAGE_GONE, strlen(WEBPAGE_GONE)) == 0;
    if (p->failures && row->next_fetch_at != MSEC_NEVER)
        p->not_before = row->next_fetch_at;
    struct fetch_learned learned;
    if (row->learned && fetch_learn_read(row->learned, NULL, &learned) == OK) {
        p->learned = malloc(sizeof learned);
        CHECK(p->learned);
        *p->learned = learned;
    }
    return p;
}

void webpage_retry_cancel(struct webpage *p)
{
    struct led *led = p->engine->led;
    if (!p->retry_rule)
        return;
    led_rule_delete(led, p->retry_rule);
    led_event_drop(led, p->retry_event);
    led_event_drop(led, p->retry_trigger);
    p->retry_rule = NULL;
    p->retry_event = p->retry_trigger = NULL;
}

static size_t cached_bytes(const struct webpage *p)
{
    return p->digest_bytes + store_key_bytes(p->key);
}

char *webpage_take_digest(struct webpage *p, size_t *ret_bytes)
{
    char *digest = p->digest;
    *ret_bytes = p->digest_bytes;
    p->engine->cached_bytes -= p->digest_bytes;
    p->digest = NULL;
    p->digest_bytes = 0;
    if (!p->key)
        list_remove(&p->in_cached);
    return digest;
}

struct store_key *webpage_take_key(struct webpage *p)
{
    struct store_key *key = p->key;
    p->engine->cached_bytes -= store_key_bytes(key);
    p->key = NULL;
    if (!p->digest)
        list_remove(&p->in_cached);
    return key;
}

void webpage_cache(struct webpage *p, char *digest, size_t bytes, struct store_key *key)
{
    struct engine *e = p->engine;
    list_remove(&p->in_cached);
    e->cached_bytes -= cached_bytes(p);
    free(p->digest);
    store_key_free(p->key);
    p->digest = digest;
    p->digest_bytes = digest ? bytes : 0;
    p->key = key;
    if (!digest && !key)
        return;
    size_t most = e->options.once ? 0 /* nobody will ask again */
                                  : (size_t)settings_number(e->settings, SETTING_CDG_CACHE);
    if (e->cached_bytes + cached_bytes(p) >
            most / 2) /* it saves less than another page would */
        store_key_shrink(key);
    e->cached_bytes += cached_bytes(p);
    list_append(&e->cached, &p->in_cached);
    while (e->cached_bytes > most) {
        struct webpage *oldest = list_entry(list_first(&e->cached), struct webpage, in_cached);
        webpage_cache(oldest, NULL, 0, NULL);
    }
}

void webpage_free(struct webpage *p)
{
    struct engine *e = p->engine;
    if (p->transfer)
        fetch_cancel(p->transfer);
    webpage_retry_cancel(p);
    webpage_cache(p, NULL, 0, NULL);
    list_remove(&p->in_postponed);
    map_remove(&e->pages_by_id, &p->by_id);
    webhost_drop(e, p->host);
    webframes_forget(p);
    arena_freep(&p->jar_life);
    free(p->url);
    free(p->request);
    free(p->etag);
    free(p->body_digest);
    free(p->learned);
    free(p->killer);
    free(p->last_modified);
    free(p->error);
    free(p);
}

/* A page nobody watches is forgotten here once it is idle.  The store drops its rows, or keeps
 * them for changes of those who went elsewhere; then they come back with the plan that takes it
 * up again. */
void webpage_free_if_unused(struct webpage *p)
{
    if (!list_is_empty(&p->streams))
        return;
    if (p->transfer) {
        fetch_cancel(p->transfer);
        p->transfer = NULL;
        p->busy = false;
        webframes_drop(p);
        webpage_hold(p, 0);
    }
    if (!p->lives && !p->busy)
        webpage_free(p);
}

/* ---- what it costs -------------------------------------------------------------------- */

/* A body is kept as it came, as its digest, and in the working memory of comparing. */
enum { COPIES = 4 };

void webpage_hold(struct webpage *p, size_t body_bytes)
{
    struct engine *e = p->engine;
    e->held_bytes -= p->held;
    p->held = body_bytes * COPIES;
    e->held_bytes += p->held;
}

/* ---- telling the store --------------------------------------------------------------- */

static msec next_fetch(const struct webpage *p)
{
    msec next = MSEC_NEVER;
    list_each (pos, (struct list *)&p->streams) {
        msec tick = stream_next_tick(list_entry(pos, struct stream, of_page));
        if (tick < next)
            next = tick;
    }
    if (p->not_before != MSEC_NEVER && p->not_before > p->last_fetch &&
            (p->not_before < next || p->failures))
        next = p->not_before;
    return next;
}

void webpage_fetch_state(struct webpage *p, struct arena *life, struct store_fetch_state *ret)
{
    *ret = (struct store_fetch_state){
            .page_id = p->id,
            .last_fetch_at = p->last_fetch,
            .verified_at = p->verified,
            .next_fetch_at = p->next_fetch = next_fetch(p),
            .etag = p->etag ? arena_strdup(life, p->etag) : NULL,
            .last_modified = p->last_modified ? arena_strdup(life, p->last_modified) : NULL,
            .error = p->error ? arena_strdup(life, p->error) : NULL,
            .learned = p->learned ? fetch_learn_write(p->learned, life) : NULL,
            .fetches = p->fetches,
            .failures = p->failures,
            .took = p->took,
    };
}

struct touch {
    struct store_touch_job job;
    struct engine *engine;
    struct arena *arena;
};

static void touch_done(struct store_job *job)
{
    struct touch *t = container_of(job, struct touch, job.job);
    struct engine *e = t->engine;
    if (job->err != OK && job->err != ERR_NAME) /* a page may be dropped meanwhile */
        log_error("the outcome of a fetch was not recorded: %s", job->fault.message);
    arena_free(t->arena);
    engine_answered(e);
}

void webpage_touch(struct webpage *p)
{
    struct arena *a = arena_new(NULL, "touch");
    struct touch *t = arena_new_of(a, struct touch);
    t->arena = a;
    t->engine = p->engine;
    t->job.job.kind = STORE_JOB_TOUCH;
    t->job.job.done = touch_done;
    webpage_fetch_state(p, a, &t->job.fetch);
    engine_submit(p->engine, &t->job.job);
}

struct news {
    struct store_plan_job plan;
    struct engine *engine;
    struct arena *arena;
};

static void news_done(struct store_job *job)
{
    if (job->err != OK)
        log_error("an event was not recorded: %s", job->fault.message);
    struct news *news = container_of(job, struct news, plan.job);
    engine_answered(news->engine);
    arena_free(news->arena);
}

/* A row in the events of everybody who watches the page: it began to fail, it recovered. */
void webpage_tell(struct webpage *p, const char *kind, const char *detail)
{
    size_t n = 0;
    list_each (pos, &p->streams) {
        list_each (m, &list_entry(pos, struct stream, of_page)->members)
            n++;
    }
    if (n == 0)
        return;
    struct arena *a = arena_new(NULL, "news");
    struct news *news = arena_new_of(a, struct news);
    news->arena = a;
    news->engine = p->engine;
    news->plan.job.kind = STORE_JOB_PLAN;
    news->plan.job.done = news_done;
    news->plan.steps = arena_array_of(a, n, struct store_step);
    char *text = detail ? arena_strdup(a, detail) : NULL;
    list_each (pos, &p->streams) {
        list_each (m, &list_entry(pos, struct stream, of_page)->members) {
            struct sentinel *s = list_entry(m, struct place, in_stream)->life->sentinel;
            news->plan.steps[news->plan.nsteps++] = (struct store_step){
                    .kind = STORE_STEP_EVENT,
                    .sentinel_id = s->id,
                    .name = arena_strdup(a, s->name),
                    .event_kind = kind,
                    .event_detail = text,
                    .event_at = engine_wall(p->engine),
                    .event_actual_at = engine_wall(p->engine),
            };
        }
    }
    engine_submit(p->engine, &news->plan.job);
}

/* ---- the learned interval ------------------------------------------------------------- */

/* Pages that learned the same interval do not come due together: each has its own place
 * around it, always the same. */
msec webpage_learned_interval(const struct webpage *p)
{
    msec learned = p->learned ? p->learned->interval : fetch_learn_defaults.first;
    return fetch_jitter(p->url, learned,
            (unsigned)settings_number(p->engine->settings, SETTING_FETCH_JITTER));
}
