/* Jobs of a page, inside the transaction that is open: a version and all it owes, a fetch
 * that brought nothing new.
 *
 *  (1) The version's row decides: if it is there already, with the same contents, the whole
 *      job was done before and nothing of it is done again.
 *  (2) A sentinel that was dropped meanwhile loses its change, not the others theirs.
 *  (3) Many versions are written with as little waiting as one: each step is sent for all of
 *      them before the answers are read.
 */
#include "store/store_int.h"
#include "base/crash.h"

/* Enough for the lists of every change of one version; the engine limits each of them. */
enum { ARRAY_MAX_BYTES = 256 << 20 };

static enum err no_page(int64_t page_id, struct fault *f)
{
    return fault_set(f, ERR_NAME, "page %lld is not in the store any more", (long long)page_id);
}

/* ---- what a fetch left behind ---- */

static void fetch_params(struct params *p, const struct store_fetch_state *s)
{
    params_int(p, s->page_id);
    params_time(p, s->last_fetch_at);
    params_time(p, s->verified_at);
    params_time(p, s->next_fetch_at);
    params_raw_text(p, s->etag);
    params_raw_text(p, s->last_modified);
    params_text(p, s->error);
    params_json(p, s->learned);
    params_int(p, s->fetches);
    params_int(p, s->failures);
    params_id(p, s->took);
}

enum err apply_touch(
        struct conn *c, struct store_touch_job *job, struct arena *scratch, struct fault *f)
{
    RESULT r = NULL;
    PARAMS(p, scratch);
    fetch_params(&p, &job->fetch);
    enum err e = conn_run(c, SQL_FETCH_STATE, &p, f, &r);
    CRASH_POINT("after_touch");
    return e ? e : result_affected(r) ? OK : no_page(job->fetch.page_id, f);
}

/* ---- a version ---- */

static enum err cannot_pack(const char *what, size_t bytes, struct fault *f)
{
    return fault_set(f, ERR_LIMIT, "a %s of %zu bytes cannot be compressed", what, bytes);
}

void store_version_pack(struct store_version_job *job, struct arena *life)
{
    BUF(body, zip_most(job->body_bytes) + 1);
    BUF(digest, zip_most(job->digest_bytes) + 1);
    if (zip(job->body ? job->body : "", job->body_bytes, &body)) {
        job->packed.body = arena_memdup(life, body.data, body.len);
        job->packed.body_bytes = body.len;
    }
    if (job->digest && zip_quickly(job->digest, job->digest_bytes, &digest)) {
        job->packed.digest = arena_memdup(life, digest.data, digest.len);
        job->packed.digest_bytes = digest.len;
    }
}

static enum err put_body(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f)
{
    if (!job->packed.body)
        return cannot_pack("body", job->body_bytes, f);
    PARAMS(p, scratch);
    params_bytes(&p, job->body_sha256.bytes, sizeof job->body_sha256.bytes);
    params_int(&p, (int64_t)job->body_bytes);
    params_bytes(&p, job->packed.body, job->packed.body_bytes);
    return conn_run(c, SQL_BODY_PUT, &p, f, NULL);
}

static enum err put_version_row(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f, PGresult **ret_row)
{
    if (job->digest && !job->packed.digest)
        return cannot_pack("digest", job->digest_bytes, f);
    PARAMS(p, scratch);
    params_int(&p, job->fetch.page_id);
    params_int(&p, job->version);
    params_time(&p, job->fetched_at);
    params_text(&p, job->media_type);
    params_text(&p, job->content_type);
    params_text(&p, job->final_url);
    params_raw_text(&p, job->fetch.etag);
    params_raw_text(&p, job->fetch.last_modified);
    params_bytes(&p, job->body_sha256.bytes, sizeof job->body_sha256.bytes);
    params_bytes(&p, job->packed.digest, job->packed.digest_bytes);
    return conn_send(c, SQL_VERSION_PUT, &p, scratch, f, ret_row);
}

/* The row was not written: is it the same one, another one, or is there no such page? */
static enum err check_same(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f)
{
    RESULT r = NULL;
    PARAMS(p, scratch);
    params_int(&p, job->fetch.page_id);
    params_int(&p, job->version);
    params_bytes(&p, job->body_sha256.bytes, sizeof job->body_sha256.bytes);
    enum err e = conn_run(c, SQL_VERSION_SAME, &p, f, &r);
    if (e)
        return e;
    if (PQntuples(r) == 0)
        return no_page(job->fetch.page_id, f);
    if (PQgetvalue(r, 0, 0)[0] == 't')
        return OK;
    return fault_set(f, ERR_STORE,
            "version %lld of page %lld is in the store with other contents",
            (long long)job->version, (long long)job->fetch.page_id);
}

/* Rows (id, sentinel_id) to where the submitter wants them; 0 for those without a row: (2).
 * The rows stand in the order of the changes, since numbers were given out in that order;
 * those of other jobs of the same version may stand between them. */
static bool give_ids(const struct store_version_job *job, const PGresult *r)
{
    int next = 0, rows = PQntuples(r);
    bool any = false;
    for (size_t i = 0; i < job->nchanges; i++) {
        int row = next;
        while (row < rows && result_int(r, row, 1) != job->changes[i].sentinel_id)
            row++;
        job->ret_change_ids[i] = row < rows ? result_int(r, row, 0) : 0;
        if (row < rows) {
            next = row + 1;
            any = true;
        }
    }
    return any;
}

static enum err find_changes(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f, bool *ret_any)
{
    RESULT r = NULL;
    PARAMS(p, scratch);
    params_int(&p, job->fetch.page_id);
    params_int(&p, job->version);
    enum err e = conn_run(c, SQL_CHANGE_IDS, &p, f, &r);
    if (!e)
        *ret_any = give_ids(job, r);
    return e;
}

static enum err too_big(struct fault *f)
{
    return fault_set(f, ERR_LIMIT, "the changes of one version take more than %d MB",
            ARRAY_MAX_BYTES >> 20);
}

static enum err put_changes(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f, PGresult **ret_ids)
{
    enum { COLUMNS = 8 };
    struct buf a[COLUMNS];
    enum err e = OK;
    PARAMS(p, scratch);
    params_int(&p, job->fetch.page_id);
    params_int(&p, job->version);
    params_time(&p, job->fetched_at);
    for (int k = 0; k < COLUMNS; k++) {
        buf_init(&a[k], ARRAY_MAX_BYTES);
        array_begin(&a[k]);
        for (size_t i = 0; i < job->nchanges; i++) {
            const struct store_change *ch = &job->changes[i];
            const int64_t numbers[] = {ch->sentinel_id, ch->old_version, ch->inserted,
                    ch->deleted, ch->updated, ch->moved};
            if (k < 6)
                array_int(&a[k], numbers[k]);
            else if (k == 6)
                array_text(&a[k], scratch, ch->summary ? ch->summary : "");
            else
                array_text(&a[k], scratch, json_clean(scratch, ch->detail));
        }
        array_end(&a[k]);
        if (a[k].overflowed)
            e = too_big(f);
        params_text(&p, buf_text(&a[k]));
    }
    if (!e)
        e = conn_send(c, SQL_CHANGES_PUT, &p, scratch, f, ret_ids);
    for (int k = 0; k < COLUMNS; k++)
        buf_done(&a[k]);
    return e;
}

/* One for each receiver of each change, by what is known of the sentinels. */
static enum err owe(struct conn *c, const struct store_version_job *job, struct arena *scratch,
        struct fault *f)
{
    BUF(sentinels, ARRAY_MAX_BYTES);
    BUF(changes, ARRAY_MAX_BYTES);
    BUF(ticks, ARRAY_MAX_BYTES);
    struct buf *all[] = {&sentinels, &changes, &ticks};
    for (size_t k = 0; k < countof(all); k++)
        array_begin(all[k]);
    for (size_t i = 0; i < job->nchanges; i++) {
        if (!job->ret_change_ids[i])
            continue; /* (2) */
        array_int(&sentinels, job->changes[i].sentinel_id);
        array_int(&changes, job->ret_change_ids[i]);
        array_int(&ticks, job->changes[i].tick ? job->changes[i].tick : job->fetched_at);
    }
    PARAMS(p, scratch);
    for (size_t k = 0; k < countof(all); k++) {
        array_end(all[k]);
        if (all[k]->overflowed)
            return too_big(f);
        params_text(&p, buf_text(all[k]));
    }
    params_time(&p, job->fetched_at);
    return conn_run(c, SQL_OWE, &p, f, NULL);
}

static enum err count_changes(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f)
{
    BUF(sentinels, ARRAY_MAX_BYTES);
    array_begin(&sentinels);
    for (size_t i = 0; i < job->nchanges; i++)
        array_int(&sentinels, job->changes[i].sentinel_id);
    array_end(&sentinels);
    if (sentinels.overflowed)
        return too_big(f);
    PARAMS(p, scratch);
    params_time(&p, job->fetched_at);
    params_text(&p, buf_text(&sentinels));
    return conn_run(c, SQL_CHANGE_COUNTS, &p, f, NULL);
}

static const char *result_word(char result)
{
    return result == 'C' ? "changed" : result == 'N' ? "unchanged" : "not computed";
}

static enum err count_evaluations(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f)
{
    BUF(sentinels, ARRAY_MAX_BYTES);
    BUF(results, ARRAY_MAX_BYTES);
    BUF(reasons, ARRAY_MAX_BYTES);
    array_begin(&sentinels);
    array_begin(&results);
    array_begin(&reasons);
    for (size_t i = 0; i < job->nevaluations; i++) {
        const struct store_evaluation *v = &job->evaluations[i];
        array_int(&sentinels, v->sentinel_id);
        array_text(&results, scratch, result_word(v->result));
        array_text(&reasons, scratch, v->reason);
    }
    array_end(&sentinels);
    array_end(&results);
    array_end(&reasons);
    if (sentinels.overflowed || results.overflowed || reasons.overflowed)
        return too_big(f);
    PARAMS(p, scratch);
    params_text(&p, buf_text(&sentinels));
    params_text(&p, buf_text(&results));
    params_text(&p, buf_text(&reasons));
    params_int(&p, job->version);
    return conn_run(c, SQL_EVALUATIONS, &p, f, NULL);
}

static enum err note_seen(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f)
{
    BUF(sentinels, ARRAY_MAX_BYTES);
    array_begin(&sentinels);
    for (size_t i = 0; i < job->nseen_by; i++)
        array_int(&sentinels, job->seen_by[i]);
    array_end(&sentinels);
    if (sentinels.overflowed)
        return too_big(f);
    PARAMS(p, scratch);
    params_text(&p, buf_text(&sentinels));
    params_int(&p, job->version);
    return conn_run(c, SQL_SEEN, &p, f, NULL);
}

static enum err put_state(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f)
{
    PARAMS(p, scratch);
    fetch_params(&p, &job->fetch);
    if (job->exists)
        return conn_run(c, SQL_FETCH_STATE, &p, f, NULL);
    params_int(&p, job->version);
    params_bytes(&p, job->body_sha256.bytes, sizeof job->body_sha256.bytes);
    params_time(&p, job->fetched_at);
    return conn_run(c, SQL_VERSION_STATE, &p, f, NULL);
}

/* ---- the whole, in three steps ---- */

/* How far one job has come.  Between two steps answers are waited for, and many jobs take a
 * step together. */
struct progress {
    struct store_version_job *job;
    PGresult *row, *ids; /* answers to come */
    bool was_done;
};

static enum err begin_version(
        struct conn *c, struct progress *g, struct arena *scratch, struct fault *f)
{
    if (g->job->exists)
        return OK;
    struct store_version_job packed = *g->job;
    if (!packed.packed.body)
        store_version_pack(&packed, scratch);
    enum err e = put_body(c, &packed, scratch, f);
    CRASH_POINT("after_body_row");
    return e ? e : put_version_row(c, &packed, scratch, f, &g->row);
}

/* Was it done before?  A version is known by its row; when that was there already and only
 * who looked at it is new, the job is known by its changes: (1). */
static enum err find_out(
        struct conn *c, struct progress *g, struct arena *scratch, struct fault *f)
{
    const struct store_version_job *job = g->job;
    bool is_new = job->exists || result_affected(g->row) > 0, known = false;
    enum err e = is_new ? OK : check_same(c, job, scratch, f);
    if (!e && job->nchanges && (!is_new || job->exists))
        e = find_changes(c, job, scratch, f, &known);
    g->was_done = !is_new || known;
    return e;
}

static enum err record_changes(
        struct conn *c, struct progress *g, struct arena *scratch, struct fault *f)
{
    enum err e = find_out(c, g, scratch, f);
    if (!e && (!g->was_done || g->job->exists)) /* putting it twice is putting it once */
        e = put_constituents(c, g->job, scratch, f);
    if (e || g->was_done)
        return e;
    CRASH_POINT("after_version_row");
    return g->job->nchanges ? put_changes(c, g->job, scratch, f, &g->ids) : OK;
}

static enum err finish_version(
        struct conn *c, struct progress *g, struct arena *scratch, struct fault *f)
{
    const struct store_version_job *job = g->job;
    enum err e = OK;
    if (g->was_done)
        return OK;
    CRASH_POINT("after_change_rows");
    if (job->nchanges)
        (void)give_ids(job, g->ids); /* none, when all who asked are gone */
    if (job->nchanges)
        e = owe(c, job, scratch, f);
    CRASH_POINT("after_notices");
    if (!e && job->nchanges)
        e = count_changes(c, job, scratch, f);
    CRASH_POINT("after_change_counts");
    if (!e && job->nevaluations)
        e = count_evaluations(c, job, scratch, f);
    CRASH_POINT("after_evaluations");
    if (!e && job->nseen_by)
        e = note_seen(c, job, scratch, f);
    CRASH_POINT("after_seen");
    if (!e && job->nnotes)
        e = put_notes(c, job, scratch, f);
    if (!e && job->nsights)
        e = put_sights(c, job->sights, job->nsights, scratch, f);
    if (!e)
        e = put_state(c, job, scratch, f);
    CRASH_POINT("after_page_state");
    return e;
}

enum err apply_versions(struct conn *c, struct store_version_job *const *jobs, size_t n,
        struct arena *scratch, struct fault *f)
{
    struct progress *all = arena_array_of(scratch, n, struct progress);
    enum err e = OK;
    for (size_t i = 0; !e && i < n; i++) {
        all[i].job = jobs[i];
        e = begin_version(c, &all[i], scratch, f);
    }
    if (!e)
        e = conn_settle(c, f);
    for (size_t i = 0; !e && i < n; i++)
        e = record_changes(c, &all[i], scratch, f);
    if (!e)
        e = conn_settle(c, f);
    for (size_t i = 0; !e && i < n; i++)
        e = finish_version(c, &all[i], scratch, f);
    return e;
}

enum err apply_version(
        struct conn *c, struct store_version_job *job, struct arena *scratch, struct fault *f)
{
    return apply_versions(c, &job, 1, scratch, f);
}

enum err apply(
        struct conn *c, struct store_job *job, msec now, struct arena *scratch, struct fault *f)
{
    switch (job->kind) {
    case STORE_JOB_VERSION:
        return apply_version(c, container_of(job, struct store_version_job, job), scratch, f);
    case STORE_JOB_TOUCH:
        return apply_touch(c, container_of(job, struct store_touch_job, job), scratch, f);
    case STORE_JOB_PLAN:
        return apply_plan(c, container_of(job, struct store_plan_job, job), now, scratch, f);
    case STORE_JOB_LOAD:
        return apply_load(c, container_of(job, struct store_load_job, job), scratch, f);
    case STORE_JOB_CLAIM:
    case STORE_JOB_SETTLE:
    case STORE_JOB_BULLETIN:
    case STORE_JOB_PUBLISH:
        break; /* the outbox has a connection of its own */
    }
    CHECK(!"a kind of job");
    return ERR_STORE;
}
