/* A visit: one version's way through digest, graph and store.
 *
 *     loop:  who waits, which old versions they need  ->  read those back if not at hand
 *     pool:  parse the new body once, compare it for every stream
 *     loop:  drop the verdicts of sentinels that left meanwhile
 *     store: version, changes, counters and notices in one transaction
 *     loop:  now it happened: remember it, show it
 *
 *  (1) Nothing is remembered here before it is committed.
 *  (2) A page that cannot be read whole is an error, never a version.
 *  (3) A stream compares with the newest version it has itself seen.
 */
#include "engine/engine_int.h"
#include "base/log.h"
#include "page/page.h"
#include <stdlib.h>

enum { DIGEST_MAX = PAGE_DIGEST_MAX };

/* One stream's part. */
struct look {
    int64_t stream_id, position;
    int64_t old_version; /* what its position before this one was */
    msec tick;           /* the instant it was due, on the wall clock */
    struct cdg_plan *plan;
    const struct cdg_verdict *verdicts;
    size_t nverdicts;
};

/* A stored version that is needed. */
struct old {
    struct store_load_job load;
    struct visit *visit;
    int64_t version;
    char *block; /* malloc'ed; NULL: could not be had */
    size_t bytes;
    struct page_source source; /* bytes: NULL, unless somebody asks about them */
};

struct visit {
    struct cdg_task task;
    struct list link;
    struct arena *arena;
    struct engine *engine;
    struct webpage *page;
    int64_t version;
    bool is_new;
    struct visit_source source; /* is_new: copies */
    struct buf digest;          /* is_new: made by the pool */
    struct look *looks;
    size_t nlooks;
    struct old *olds;
    size_t nolds, loading;
    bool want_source;        /* somebody's question is about the bytes of both versions */
    struct fault unreadable; /* code OK: it was readable */
    struct store_version_job job;
};

/* ---- on the loop: getting ready ------------------------------------------------------ */

static void copy_source(struct visit *v, const struct visit_source *s)
{
    struct arena *a = v->arena;
    v->source = *s;
    v->source.body = arena_memdup(a, s->body, s->body_bytes);
    v->source.content_type = s->content_type ? arena_strdup(a, s->content_type) : NULL;
    v->source.final_url = arena_strdup(a, s->final_url ? s->final_url : v->page->url);
    v->source.etag = s->etag ? arena_strdup(a, s->etag) : NULL;
    v->source.last_modified = s->last_modified ? arena_strdup(a, s->last_modified) : NULL;
}

static void collect_looks(struct visit *v)
{
    struct webpage *p = v->page;
    size_t n = 0;
    list_each (pos, &p->streams)
        n++;
    v->looks = arena_array_of(v->arena, n + 1, struct look);
    list_each (pos, &p->streams) {
        struct stream *s = list_entry(pos, struct stream, of_page);
        if (!s->waiting || s->version >= v->version)
            continue;
        s->waiting = false;
        struct look *look = &v->looks[v->nlooks++];
        look->stream_id = s->id;
        look->position = s->position + 1;
        look->old_version = s->version;
        look->tick = engine_wall_of(p->engine, s->last_tick);
        v->want_source = v->want_source || s->want_source;
        look->plan = cdg_plan_take(p->engine->cdg, s->id, look->position);
    }
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
        o->block = p->digest;
        o->bytes = p->digest_bytes;
        p->digest = NULL;
        p->engine->cached_bytes -= p->digest_bytes;
        p->digest_bytes = 0;
        list_remove(&p->in_cached);
    }
}

static void compare_on_pool(struct cdg_task *task);

static void submit(struct visit *v)
{
    v->task.run = compare_on_pool;
    cdg_locks_submit(v->engine->locks, v->page->id, &v->task);
}

static void take_loaded(struct old *o)
{
    struct arena *a = o->visit->arena;
    o->block = buf_take(&o->load.digest, &o->bytes);
    if (!o->load.want_body)
        return;
    o->source = (struct page_source){
            .bytes = arena_memdup(a, o->load.body.data, o->load.body.len),
            .len = o->load.body.len,
            .content_type = o->load.content_type,
            .url = o->load.final_url,
    };
}

static void loaded(struct store_job *job)
{
    struct old *o = container_of(job, struct old, load.job);
    struct visit *v = o->visit;
    engine_answered(v->engine);
    if (job->err == OK && o->load.found && o->load.digest.len)
        take_loaded(o);
    else if (job->err != OK)
        log_error("%s: version %lld could not be read back: %s", v->page->url,
                (long long)o->version, job->fault.message);
    buf_done(&o->load.digest);
    buf_done(&o->load.body);
    if (--v->loading == 0)
        submit(v);
}

static void load_olds(struct visit *v)
{
    for (size_t i = 0; i < v->nolds; i++) {
        struct old *o = &v->olds[i];
        if (!o->block) {
            v->loading++;
            o->load.job.kind = STORE_JOB_LOAD;
            o->load.job.done = loaded;
            o->load.page_id = v->page->id;
            o->load.version = o->version;
            o->load.want_body = v->want_source;
            o->load.life = v->arena;
            buf_init(&o->load.digest, DIGEST_MAX);
            buf_init(&o->load.body, PAGE_BODY_MAX);
        }
    }
    if (v->loading == 0) {
        submit(v);
        return;
    }
    for (size_t i = 0; i < v->nolds; i++)
        if (!v->olds[i].block)
            engine_submit(v->engine, &v->olds[i].load.job);
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

    v->olds = arena_array_of(a, v->nlooks + 1, struct old);
    for (size_t i = 0; i < v->nlooks; i++)
        if (v->looks[i].plan)
            old_need(v, v->looks[i].old_version);
    if (!v->is_new)
        old_need(v, v->version);
    p->busy = true;
    v->engine->visits++;
    load_olds(v);
}

/* ---- on the pool: parse and compare -------------------------------------------------- */

static struct old *old_find(struct visit *v, int64_t version)
{
    for (size_t i = 0; i < v->nolds; i++)
        if (v->olds[i].version == version)
            return &v->olds[i];
    return NULL;
}

/* A stored version as the graph wants to see it, numbered by the stream's position. */
static void see(struct visit *v, struct cdg_version *to, const void *block, size_t bytes,
        int64_t number)
{
    struct page_digest *digest;
    struct fault f = {0};
    *to = (struct cdg_version){.number = number, .no_digest = "the stored digest is gone"};
    if (!block)
        return;
    if (page_digest_open(v->arena, block, bytes, &f, &digest) != OK) {
        to->no_digest = arena_strdup(v->arena, f.message);
        return;
    }
    to->digest = digest;
    to->body = digest->source;
}

struct old_request {
    struct visit *visit;
    const struct look *look;
};

static const struct cdg_version *give_old(int64_t number, void *arg)
{
    const struct old_request *r = arg;
    if (number != r->look->position - 1)
        return NULL; /* only the stream's previous position is kept */
    struct old *o = old_find(r->visit, r->look->old_version);
    if (!o || !o->block)
        return NULL;
    struct cdg_version *seen = arena_new_of(r->visit->arena, struct cdg_version);
    see(r->visit, seen, o->block, o->bytes, number);
    seen->source = o->source.bytes ? &o->source : NULL;
    return seen;
}

static bool read_new(struct visit *v, struct cdg_version *to, struct page_source *source)
{
    if (!v->is_new) {
        struct old *o = old_find(v, v->version);
        see(v, to, o ? o->block : NULL, o ? o->bytes : 0, 0);
        to->source = o && o->source.bytes ? &o->source : NULL;
        return true;
    }
    *source = (struct page_source){
            .bytes = v->source.body,
            .len = v->source.body_bytes,
            .content_type = v->source.content_type,
            .url = v->source.final_url,
    };
    if (page_digest_make(source, &v->digest, &v->unreadable) != OK)
        return false; /* (2) */
    see(v, to, v->digest.data, v->digest.len, 0);
    to->source = source;
    return true;
}

static void compare_on_pool(struct cdg_task *task)
{
    struct visit *v = container_of(task, struct visit, task);
    struct cdg_version now;
    struct page_source source;
    if (read_new(v, &now, &source)) {
        for (size_t i = 0; i < v->nlooks; i++) {
            struct look *look = &v->looks[i];
            struct old_request r = {v, look};
            now.number = look->position;
            if (look->plan)
                look->nverdicts =
                        cdg_plan_run(look->plan, &now, give_old, &r, v->arena, &look->verdicts);
        }
    }
    inbox_push(&v->engine->compared, &v->link);
}

/* ---- on the loop: committing --------------------------------------------------------- */

static struct stream *stream_by_id(struct webpage *p, int64_t id)
{
    list_each (pos, &p->streams) {
        struct stream *s = list_entry(pos, struct stream, of_page);
        if (s->id == id)
            return s;
    }
    return NULL;
}

static void give_back(struct visit *v)
{
    for (size_t i = 0; i < v->nlooks; i++) {
        cdg_plan_give_back(v->engine->cdg, v->looks[i].plan);
        v->looks[i].plan = NULL;
    }
}

static void visit_free(struct visit *v)
{
    give_back(v);
    for (size_t i = 0; i < v->nolds; i++) {
        struct old *o = &v->olds[i];
        if (o->version == v->page->latest && !v->page->digest && o->block) {
            webpage_cache(v->page, o->block, o->bytes);
            o->block = NULL;
        }
        free(o->block);
    }
    buf_done(&v->digest);
    v->engine->visits--;
    arena_free(v->arena);
}

static void show(struct visit *v)
{
    struct engine *e = v->engine;
    for (size_t i = 0; i < v->job.nchanges; i++) {
        const struct store_change *c = &v->job.changes[i];
        struct sentinel *s = directory_get(&e->directory, c->sentinel_id);
        e->changes++;
        if (!s || !e->options.changed)
            continue;
        struct engine_change shown = {
                .sentinel = s->name,
                .url = v->page->url,
                .summary = c->summary,
                .detail = c->detail,
                .id = v->job.ret_change_ids[i],
                .old_version = c->old_version,
                .new_version = v->version,
                .inserted = c->inserted,
                .deleted = c->deleted,
                .updated = c->updated,
                .moved = c->moved,
                .at = v->job.fetched_at,
        };
        e->options.changed(&shown, e->options.arg);
    }
}

static void committed(struct store_job *job)
{
    struct visit *v = container_of(job, struct visit, job.job);
    struct webpage *p = v->page;
    struct engine *e = v->engine;
    engine_answered(e);
    engine_catch_up(e);
    if (job->err != OK) {
        /* The rows went away under us (the sentinel was dropped), or the store refused them. */
        if (p->lives)
            log_error("%s: version %lld was not recorded: %s", p->url, (long long)v->version,
                    job->fault.message);
    } else {
        if (v->is_new) { /* (1) */
            p->latest = v->version;
            p->body = v->source.sha;
            e->versions++;
            webpage_readable(p, v->source.etag, v->source.last_modified);
            size_t bytes;
            char *digest = buf_take(&v->digest, &bytes);
            webpage_cache(p, digest, bytes);
        }
        for (size_t i = 0; i < v->nlooks; i++) {
            struct stream *s = stream_by_id(p, v->looks[i].stream_id);
            if (!s)
                continue;
            s->position = v->looks[i].position;
            s->version = v->version;
            list_each (m, &s->members) {
                struct sentinel *who = list_entry(m, struct life, in_stream)->sentinel;
                who->last_version = v->version;
            }
        }
        show(v);
    }
    visit_free(v);
    webpage_settled(p);
    webpage_resume_postponed(e);
    engine_settle(e);
}

struct tally {
    struct store_change *changes;
    struct store_evaluation *evaluations;
    size_t nchanges, nevaluations;
};

/* Whom a change is told to is in the store, with the sentinel. */
static void tally_verdict(
        struct tally *t, const struct look *look, const struct cdg_verdict *verdict)
{
    const struct cdg_finding *found = verdict->finding;
    t->evaluations[t->nevaluations++] = (struct store_evaluation){
            .sentinel_id = verdict->sentinel_id,
            .result = found->result == CDG_C   ? 'C'
                      : found->result == CDG_N ? 'N'
                                               : 'U',
            .reason = found->result == CDG_U ? found->summary : NULL,
    };
    if (found->result != CDG_C)
        return;
    t->changes[t->nchanges] = (struct store_change){
            .sentinel_id = verdict->sentinel_id,
            .old_version = look->old_version,
            .inserted = found->inserted,
            .deleted = found->deleted,
            .updated = found->updated,
            .moved = found->moved,
            .summary = found->summary,
            .detail = found->detail,
            .tick = look->tick,
    };
    t->nchanges++;
}

/* Everybody in a stream has been shown the version, also those it is the first for. */
static void collect_seen(struct visit *v)
{
    size_t n = 0;
    for (int round = 0; round < 2; round++) {
        int64_t *ids = round ? arena_array_of(v->arena, n + 1, int64_t) : NULL;
        n = 0;
        for (size_t i = 0; i < v->nlooks; i++) {
            struct stream *s = stream_by_id(v->page, v->looks[i].stream_id);
            if (!s)
                continue;
            list_each (m, &s->members) {
                if (ids)
                    ids[n] = list_entry(m, struct life, in_stream)->sentinel->id;
                n++;
            }
        }
        v->job.seen_by = ids;
    }
    v->job.nseen_by = n;
}

static void commit(struct visit *v)
{
    struct engine *e = v->engine;
    struct webpage *p = v->page;
    size_t most = 0;
    for (size_t i = 0; i < v->nlooks; i++)
        most += v->looks[i].nverdicts;
    struct tally t = {
            .changes = arena_array_of(v->arena, most + 1, struct store_change),
            .evaluations = arena_array_of(v->arena, most + 1, struct store_evaluation),
    };
    for (size_t i = 0; i < v->nlooks; i++) {
        const struct look *look = &v->looks[i];
        for (size_t k = 0; k < look->nverdicts; k++)
            if (cdg_is_member(e->cdg, look->stream_id, look->verdicts[k].sentinel_id))
                tally_verdict(&t, look, &look->verdicts[k]);
    }
    collect_seen(v);
    struct store_version_job *job = &v->job;
    job->job.kind = STORE_JOB_VERSION;
    job->job.done = committed;
    webpage_fetch_state(p, v->arena, &job->fetch);
    if (v->is_new) {
        /* What holds once this is committed; until then the page keeps the old validators, or
         * a 304 could hide a version that was never stored. */
        job->fetch.etag = v->source.etag;
        job->fetch.last_modified = v->source.last_modified;
        job->fetch.verified_at = v->source.fetched_at;
        job->fetch.error = NULL;
        job->fetch.failures = 0;
    }
    job->version = v->version;
    job->exists = !v->is_new;
    job->fetched_at = v->is_new ? v->source.fetched_at : p->last_fetch;
    job->final_url = v->source.final_url;
    job->content_type = v->source.content_type;
    job->body_sha256 = v->source.sha;
    job->body = v->source.body;
    job->body_bytes = v->source.body_bytes;
    job->digest = v->digest.data;
    job->digest_bytes = v->digest.len;
    job->changes = t.changes;
    job->nchanges = t.nchanges;
    job->evaluations = t.evaluations;
    job->nevaluations = t.nevaluations;
    job->ret_change_ids = arena_array_of(v->arena, t.nchanges + 1, int64_t);
    engine_submit(e, &job->job);
}

/* Puts the streams back to waiting: the version did not come to pass. */
static void unreadable(struct visit *v)
{
    struct webpage *p = v->page;
    for (size_t i = 0; i < v->nlooks; i++) {
        struct stream *s = stream_by_id(p, v->looks[i].stream_id);
        if (s)
            s->waiting = true;
    }
    struct fault f = v->unreadable;
    visit_free(v);
    webpage_unreadable(p, f.message);
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
        else
            commit(v);
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
