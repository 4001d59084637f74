/* A visit: one version's way through digest, graph and store.
 *
 *     loop:  who waits, which old versions they need  ->  read those back if not at hand
 *            at the same time a page reader parses the new body, once
 *     pool:  compare it for every stream
 *     loop:  drop the verdicts of sentinels that left meanwhile
 *     store: version, changes, counters and notices in one transaction
 *     loop:  now it happened: remember it, show it
 *
 *  (1) Nothing is remembered here before it is committed.
 *  (2) A page that cannot be read whole is an error, never a version.
 *  (3) A stream compares with versions it has itself seen.
 */
#include "engine/visit_int.h"
#include "base/log.h"
#include <stdlib.h>

static void copy_source(struct visit *v, const struct visit_source *s)
{
    struct arena *a = v->arena;
    v->source = *s;
    v->source.body = arena_memdup(a, s->body, s->body_bytes);
    v->source.content_type = s->content_type ? arena_strdup(a, s->content_type) : NULL;
    v->source.final_url = arena_strdup(a, s->final_url ? s->final_url : v->page->url);
    v->source.etag = s->etag ? arena_strdup(a, s->etag) : NULL;
    v->source.last_modified = s->last_modified ? arena_strdup(a, s->last_modified) : NULL;
    const char **frames = arena_array_of(a, s->nframes + 1, const char *);
    for (size_t i = 0; i < s->nframes; i++)
        frames[i] = arena_strdup(a, s->frames[i]);
    v->source.frames = frames;
}

static void collect_looks(struct visit *v)
{
    struct webpage *p = v->page;
    size_t n = 0;
    list_each (pos, &p->streams)
        n++;
    v->looks = arena_array_of(v->arena, n + 1, struct cdg_look);
    list_each (pos, &p->streams) {
        struct stream *s = list_entry(pos, struct stream, of_page);
        if (!s->waiting || stream_version(s) >= v->version)
            continue;
        s->waiting = false;
        s->looking_at = v->version;
        s->look_due = s->last_tick == MSEC_NEVER
                              ? engine_wall(p->engine) /* it looks because somebody else did */
                              : engine_wall_of(p->engine, s->last_tick);
        v->want_source = v->want_source || s->want_source;
        v->looks[v->nlooks++] = (struct cdg_look){
                /* (3) */
                .page_id = s->id,
                .position = s->position + 1,
                .seen = arena_memdup(v->arena, s->seen.all ? s->seen.all : &s->position,
                        s->seen.count * sizeof *s->seen.all),
                .nseen = s->seen.count,
        };
    }
    v->plan = cdg_plan_take_looks(p->engine->cdg, v->looks, v->nlooks);
}

static int compare_ids(const void *a, const void *b)
{
    const struct remembered *x = a, *y = b;
    return (x->sentinel_id > y->sentinel_id) - (x->sentinel_id < y->sentinel_id);
}

/* What members remember is copied, for the loop goes on while the pool compares. */
static void collect_remembered(struct visit *v)
{
    for (int round = 0; round < 2; round++) {
        size_t n = 0;
        for (size_t i = 0; i < v->nlooks; i++) {
            list_each (m, &visit_stream(v->page, v->looks[i].page_id)->members) {
                const struct place *at = list_entry(m, struct place, in_stream);
                const char *answers = at->remembers ? place_sight(at)->answers : NULL;
                if (!answers)
                    continue;
                if (round)
                    v->remembered[n] = (struct remembered){
                            at->life->sentinel->id, arena_strdup(v->arena, answers)};
                n++;
            }
        }
        if (!round)
            v->remembered = arena_array_of(v->arena, n + 1, struct remembered);
        v->nremembered = n;
    }
    qsort(v->remembered, v->nremembered, sizeof *v->remembered, compare_ids);
}

static void old_need(struct visit *v, int64_t version)
{
    if (version <= 0 || (v->is_new && version == v->version))
        return;
    for (size_t i = 0; i < v->nolds; i++)
        if (v->olds[i].version == version)
            return;
    struct old *o = &v->olds[v->nolds++];
    o->visit = v;
    o->version = version;
    struct webpage *p = v->page;
    if (version == p->latest && p->digest && !v->want_source) {
        /* The block leaves the cache for the time of the visit, so nobody can evict it. */
        o->block = webpage_take_digest(p, &o->bytes);
    }
}

static void submit(struct visit *v)
{
    if (v->unreadable.code != OK) {
        inbox_push(&v->engine->compared, &v->link);
        return;
    }
    v->task.run = visit_compare;
    cdg_locks_submit(v->engine->locks, v->page->id, &v->task);
}

void visit_loaded(struct visit *v)
{
    if (--v->loading == 0)
        submit(v);
}

static void loaded(struct store_job *job);

static void load(struct old *o, bool want_body)
{
    struct visit *v = o->visit;
    o->load = (struct store_load_job){
            .job = {.kind = STORE_JOB_LOAD, .done = loaded},
            .page_id = v->page->id,
            .version = o->version,
            .want_body = want_body,
            .want_key = v->is_new && !v->key && o->version == v->page->latest,
            .life = v->arena,
    };
    buf_init(&o->load.digest, DIGEST_MAX);
    buf_init(&o->load.body, PAGE_BODY_MAX);
    engine_submit(v->engine, &o->load.job);
}

/* A digest that was not kept, or that another vigil made, is made again from the body. */
static void take_loaded(struct old *o)
{
    bool is_there = page_digest_is_current(o->load.digest.data, o->load.digest.len),
         had_body = o->load.want_body;
    if (is_there)
        o->block = buf_take(&o->load.digest, &o->bytes);
    if (o->load.key) {
        store_key_free(o->visit->key); /* it was loaded again */
        o->visit->key = o->load.key;
    }
    if (had_body)
        visit_read_old(o); /* which needs the body until it was read */
    buf_done(&o->load.digest);
    if (is_there || had_body)
        visit_loaded(o->visit);
    else
        load(o, /* want_body= */ true);
}

static void loaded(struct store_job *job)
{
    struct old *o = container_of(job, struct old, load.job);
    struct visit *v = o->visit;
    engine_answered(v->engine);
    if (job->err == OK && o->load.found) {
        take_loaded(o);
        return;
    }
    if (job->err != OK)
        log_error("%s: version %lld could not be read back: %s", v->page->url,
                (long long)o->version, job->fault.message);
    buf_done(&o->load.digest);
    buf_done(&o->load.body);
    visit_loaded(v);
}

static void load_olds(struct visit *v)
{
    for (size_t i = 0; i < v->nolds; i++)
        v->loading += !v->olds[i].block;
    if (v->loading == 0) {
        submit(v);
        return;
    }
    for (size_t i = 0; i < v->nolds; i++)
        if (!v->olds[i].block)
            load(&v->olds[i], v->want_source);
}

void visit_start(struct webpage *p, const struct visit_source *fetched)
{
    struct arena *a = arena_new(NULL, "visit");
    struct visit *v = arena_new_of(a, struct visit);
    v->arena = a;
    v->engine = p->engine;
    v->page = p;
    v->is_new = fetched != NULL;
    v->version = v->is_new ? p->latest + 1 : p->latest;
    buf_init(&v->digest, DIGEST_MAX);
    if (fetched)
        copy_source(v, fetched);
    collect_looks(v);
    collect_remembered(v);

    const int64_t *needs = NULL;
    size_t nneeds = v->plan ? cdg_plan_needs(v->plan, &needs) : 0;
    if (v->is_new)
        v->key = webpage_take_key(p);
    v->olds = arena_array_of(a, nneeds + 1, struct old);
    for (size_t i = 0; i < nneeds; i++)
        old_need(v, needs[i]);
    if (!v->is_new)
        old_need(v, v->version);
    p->busy = true;
    p->visiting = v->version;
    v->engine->visits++;
    if (v->is_new)
        visit_read_new(v);
    load_olds(v);
}

/* ---- and back from the pool ----------------------------------------------------------- */

/* Puts the streams back to waiting: the version did not come to pass. */
static void put_back(struct visit *v)
{
    for (size_t i = 0; i < v->nlooks; i++) {
        struct stream *s = visit_stream(v->page, v->looks[i].page_id);
        if (!s)
            continue;
        stream_saw(s, 0);
        s->waiting = true;
    }
}

static void unreadable(struct visit *v)
{
    struct webpage *p = v->page;
    struct fault f = v->unreadable;
    put_back(v);
    visit_free(v);
    webpage_unreadable(p, f.message, 0);
}

/* It shows other frames than it was put together of. */
static void incomplete(struct visit *v)
{
    struct webpage *p = v->page;
    struct arena *a = v->arena;
    struct visit_source main = v->source;
    const char *const *frames = v->frames;
    size_t nframes = v->nframes;
    put_back(v);
    v->arena = NULL; /* what is handed on lives in it */
    visit_free(v);
    if (list_is_empty(&p->streams))
        webpage_settled(p); /* nobody is left to see it */
    else
        webframes_gather(p, &main, frames, nframes);
    arena_free(a);
}

void visit_compared(struct engine *e)
{
    struct list done = LIST_INIT(done);
    inbox_take(&e->compared, &done);
    engine_catch_up(e);
    list_each (pos, &done) {
        struct visit *v = list_entry(pos, struct visit, link);
        list_remove(pos);
        if (v->unreadable.code != OK)
            unreadable(v);
        else if (v->is_incomplete)
            incomplete(v);
        else
            visit_commit(v);
    }
    engine_settle(e);
}

void visit_abandon(struct engine *e)
{
    struct list done = LIST_INIT(done);
    inbox_take(&e->compared, &done);
    list_each (pos, &done) {
        list_remove(pos);
        visit_free(list_entry(pos, struct visit, link));
    }
}
