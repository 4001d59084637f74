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

void visit_free(struct visit *v)
{
    cdg_plan_give_back(v->engine->cdg, v->plan);
    v->page->visiting = 0;
    for (size_t i = 0; i < v->nolds; i++) {
        struct old *o = &v->olds[i];
        if (o->version == v->page->latest && !v->page->digest && o->block) {
            webpage_cache(v->page, o->block, o->bytes, webpage_take_key(v->page));
            o->block = NULL;
        }
        free(o->block);
        buf_done(&o->text);
    }
    if (v->key) { /* it was not remembered with a version */
        size_t bytes;
        char *digest = webpage_take_digest(v->page, &bytes);
        webpage_cache(v->page, digest, bytes, v->key);
    }
    buf_done(&v->digest);
    buf_done(&v->text);
    v->engine->visits--;
    arena_free(v->arena);
}

void visit_show(struct engine *e, const char *url, const struct store_version_job *job)
{
    for (size_t i = 0; i < job->nchanges; i++) {
        const struct store_change *c = &job->changes[i];
        struct sentinel *s = directory_get(&e->directory, c->sentinel_id);
        e->changes++;
        if (!s || !e->options.changed)
            continue;
        struct engine_change shown = {
                .sentinel = s->name,
                .url = url,
                .summary = c->summary,
                .detail = c->detail,
                .id = job->ret_change_ids[i],
                .old_version = c->old_version,
                .new_version = job->version,
                .inserted = c->inserted,
                .deleted = c->deleted,
                .updated = c->updated,
                .moved = c->moved,
                .at = job->fetched_at,
        };
        e->options.changed(&shown, e->options.arg);
    }
}

/* What was committed is remembered here, too: (1). */
static void see_to_end(struct place *at, bool happened)
{
    struct sight *sight = place_sight(at);
    sight->last_version = stream_version(at->stream);
    if (happened && at->answers) {
        free(sight->answers);
        sight->answers = at->answers;
    } else {
        free(at->answers);
    }
    at->answers = NULL;
}

/* Its digest, and what its successors will be differences of. */
static void remember_version(struct visit *v)
{
    size_t bytes;
    char *digest = buf_take(&v->digest, &bytes);
    if (!v->job.packed.of) {
        store_key_free(v->key);
        v->key = store_key_new(&v->job);
    }
    webpage_cache(v->page, digest, bytes, v->key);
    v->key = NULL;
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
        for (size_t i = 0; i < v->nverdicts; i++)
            joint_undo(v, &v->verdicts[i]);
    } else {
        if (v->is_new) { /* (1) */
            p->latest = v->version;
            p->body = v->source.sha;
            e->versions++;
            webpage_readable(p, v->source.etag, v->source.last_modified);
            remember_version(v);
        }
        cdg_plan_note(e->cdg, v->plan, v->job.fetched_at);
        visit_show(e, p->url, &v->job);
    }
    for (size_t i = 0; i < v->nlooks; i++) {
        struct stream *s = visit_stream(p, v->looks[i].page_id);
        if (!s)
            continue;
        stream_saw(s, job->err == OK ? v->version : 0);
        list_each (m, &s->members)
            see_to_end(list_entry(m, struct place, in_stream), job->err == OK);
    }
    visit_free(v);
    webpage_settled(p);
    webpage_resume_postponed(e);
    engine_settle(e);
}

/* The versions a place still needs once it has seen this one: those it will compare with,
 * the others as 0. */
static struct store_sight sight_of(
        struct visit *v, const struct cdg_look *look, const struct place *at)
{
    struct life *l = at->life;
    bool all = true;
    int64_t oldest = cdg_oldest_needed_by(
            v->engine->cdg, look->page_id, l->sentinel->id, look->position, &all);
    if (oldest == 0 || oldest > look->position)
        oldest = look->position;
    size_t n = (size_t)(look->position - oldest) + 1;
    int64_t *seen = arena_array_of(v->arena, n, int64_t);
    struct seen before = {.all = (int64_t *)look->seen, .count = look->nseen};
    for (size_t back = 1; back < n; back++)
        seen[n - 1 - back] = all || back == n - 1 ? seen_at(&before, back - 1) : 0;
    seen[n - 1] = v->version;
    return (struct store_sight){
            .sentinel_id = l->sentinel->id,
            .place = at->number,
            .since = l->sentinel->entered_at,
            .seen = seen,
            .nseen = n,
            .answers = at->answers,
    };
}

/* Everybody in a stream has been shown the version, also those it is the first for. */
static void collect_seen(struct visit *v)
{
    size_t n = 0, nsights = 0;
    struct store_sight *sights = NULL;
    for (int round = 0; round < 2; round++) {
        int64_t *ids = round ? arena_array_of(v->arena, n + 1, int64_t) : NULL;
        sights = round ? arena_array_of(v->arena, nsights + 1, struct store_sight) : NULL;
        n = nsights = 0;
        for (size_t i = 0; i < v->nlooks; i++) {
            struct stream *s = visit_stream(v->page, v->looks[i].page_id);
            if (!s)
                continue;
            list_each (m, &s->members) {
                const struct place *at = list_entry(m, struct place, in_stream);
                bool keeps = at->looks_back || at->number || at->answers;
                if (ids)
                    ids[n] = at->life->sentinel->id;
                if (sights && keeps)
                    sights[nsights] = sight_of(v, &v->looks[i], at);
                nsights += keeps;
                n += at->number == 0;
            }
        }
        v->job.seen_by = ids;
    }
    v->job.nseen_by = n;
    v->job.sights = sights;
    v->job.nsights = nsights;
}

/* Whom it concerns.  NULL: it has left meanwhile, or left and come back; then this is not its
 * affair. */
static struct place *concerned(struct visit *v, const struct cdg_verdict *verdict)
{
    struct sentinel *s = directory_get(&v->engine->directory, verdict->sentinel_id);
    int64_t old = verdict->finding->old_version;
    for (unsigned i = 0; s && s->life && i < s->life->nplaces; i++) {
        struct place *at = &s->life->places[i];
        if (at->page == v->page && at->stream) /* 0: not known any more, to be told so */
            return !old || old >= place_sight(at)->base_version ? at : NULL;
    }
    return NULL;
}

static void remember(struct place *at, const struct cdg_verdict *verdict)
{
    char *before = at->answers;
    at->answers = answers_with(
            before ? before : place_sight(at)->answers, verdict->part, verdict->state);
    free(before);
}

static void tally_verdicts(struct visit *v, struct tally *t)
{
    struct list touched = LIST_INIT(touched);
    for (size_t i = 0; i < v->nverdicts; i++) {
        const struct cdg_verdict *verdict = &v->verdicts[i];
        struct place *at = concerned(v, verdict); /* (2) */
        if (!at)
            continue;
        if (verdict->state.ptr)
            remember(at, verdict);
        if (verdict->finding->notice)
            tally_note(t, verdict->sentinel_id, verdict->finding->notice);
        if (at->life->joint)
            joint_offer(v, t, at->life->joint, verdict, &touched);
        else
            tally_verdict(t, verdict, at->stream->look_due);
    }
    joint_conclude(v, t, &touched);
}

void visit_commit(struct visit *v)
{
    struct engine *e = v->engine;
    struct webpage *p = v->page;
    struct tally t = tally_new(v->arena, v->nverdicts);
    if (v->is_new)
        webpage_learn(p, /* is_new= */ true, v->source.last_modified_at);
    tally_verdicts(v, &t);
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
    tally_into(&t, job, v->arena);
    engine_submit(e, &job->job);
}
