/* A visit's end: what was found goes into the store in one transaction; then it happened.
 *
 *  (1) Nothing is remembered here before it is committed.
 *  (2) The verdict about a sentinel that left meanwhile is dropped.
 */
#include "engine/visit_int.h"
#include "base/log.h"
#include <stdlib.h>

struct stream *visit_stream(struct webpage *p, int64_t id)
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

void visit_free(struct visit *v)
{
    give_back(v);
    for (size_t i = 0; i < v->nolds; i++) {
        struct old *o = &v->olds[i];
        if (o->version == v->page->latest && !v->page->digest && o->block) {
            webpage_cache(v->page, o->block, o->bytes);
            o->block = NULL;
        }
        free(o->block);
        buf_done(&o->text);
    }
    buf_done(&v->digest);
    buf_done(&v->text);
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
            struct stream *s = visit_stream(p, v->looks[i].stream_id);
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
            struct stream *s = visit_stream(v->page, v->looks[i].stream_id);
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

void visit_commit(struct visit *v)
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
