/* Jobs of a page, inside the transaction that is open: a version and all it owes, a fetch
 * that brought nothing new, a version read back.
 *
 *  (1) The version's row decides: if it is there already, with the same contents, the whole
 *      job was done before and nothing of it is done again.
 *  (2) A sentinel that was dropped meanwhile loses its change, not the others theirs.
 */
#include "store/store_int.h"
#include "store/crash.h"

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
}

enum err apply_touch(
        struct conn *c, struct store_touch_job *job, struct arena *scratch, struct fault *f)
{
    RESULT r = NULL;
    PARAMS(p, scratch);
    fetch_params(&p, &job->fetch);
    enum err e = conn_run(c, SQL_FETCH_STATE, &p, f, &r);
    return e ? e : result_affected(r) ? OK : no_page(job->fetch.page_id, f);
}

/* ---- a version ---- */

static enum err put_body(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f)
{
    BUF(packed, job->body_bytes + (job->body_bytes >> 7) + 1024);
    if (!zip(job->body, job->body_bytes, &packed))
        return fault_set(
                f, ERR_LIMIT, "a body of %zu bytes cannot be compressed", job->body_bytes);
    PARAMS(p, scratch);
    params_bytes(&p, job->body_sha256.bytes, sizeof job->body_sha256.bytes);
    params_int(&p, (int64_t)job->body_bytes);
    params_bytes(&p, packed.data, packed.len);
    return conn_run(c, SQL_BODY_PUT, &p, f, NULL);
}

static enum err put_version_row(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f, bool *ret_is_new)
{
    BUF(packed, job->digest_bytes + (job->digest_bytes >> 7) + 1024);
    if (job->digest && !zip(job->digest, job->digest_bytes, &packed))
        return fault_set(
                f, ERR_LIMIT, "a digest of %zu bytes cannot be compressed", job->digest_bytes);
    RESULT r = NULL;
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
    params_bytes(&p, job->digest ? packed.data : NULL, packed.len);
    enum err e = conn_run(c, SQL_VERSION_PUT, &p, f, &r);
    if (!e)
        *ret_is_new = result_affected(r) > 0;
    return e;
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
        struct arena *scratch, struct fault *f)
{
    enum { COLUMNS = 8 };
    struct buf a[COLUMNS];
    enum err e = OK;
    RESULT r = NULL;
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
        e = conn_run(c, SQL_CHANGES_PUT, &p, f, &r);
    if (!e)
        (void)give_ids(job, r); /* none, when all who asked are gone */
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

/* Was it done before?  A version is known by its row; when that was there already and only
 * who looked at it is new, the job is known by its changes: (1). */
static enum err begin_version(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f, bool *ret_was_done)
{
    bool is_new = true, known = false;
    enum err e = OK;
    if (!job->exists) {
        e = put_body(c, job, scratch, f);
        if (!e)
            e = put_version_row(c, job, scratch, f, &is_new);
        if (!e && !is_new)
            e = check_same(c, job, scratch, f);
    }
    if (!e && job->nchanges && (!is_new || job->exists))
        e = find_changes(c, job, scratch, f, &known);
    *ret_was_done = !is_new || known;
    return e;
}

enum err apply_version(
        struct conn *c, struct store_version_job *job, struct arena *scratch, struct fault *f)
{
    bool was_done = false;
    enum err e = begin_version(c, job, scratch, f, &was_done);
    if (!e && (!was_done || job->exists)) /* putting it twice is putting it once */
        e = put_constituents(c, job, scratch, f);
    if (e || was_done)
        return e;
    CRASH_POINT("after_version_row");
    if (job->nchanges)
        e = put_changes(c, job, scratch, f);
    if (!e && job->nchanges)
        e = owe(c, job, scratch, f);
    if (!e && job->nchanges)
        e = count_changes(c, job, scratch, f);
    if (!e && job->nevaluations)
        e = count_evaluations(c, job, scratch, f);
    if (!e && job->nseen_by)
        e = note_seen(c, job, scratch, f);
    if (!e && job->nnotes)
        e = put_notes(c, job, scratch, f);
    if (!e && job->nsights)
        e = put_sights(c, job->sights, job->nsights, scratch, f);
    if (!e)
        e = put_state(c, job, scratch, f);
    return e;
}

/* ---- a version read back ---- */

static enum err unpack(
        const PGresult *r, int column, struct buf *out, const char *what, struct fault *f)
{
    buf_clear(out);
    if (PQgetisnull(r, 0, column))
        return OK;
    if (unzip(PQgetvalue(r, 0, column), (size_t)PQgetlength(r, 0, column), out))
        return OK;
    return fault_set(
            f, ERR_STORE, "a stored %s is damaged, or larger than is allowed now", what);
}

enum err apply_load(
        struct conn *c, struct store_load_job *job, struct arena *scratch, struct fault *f)
{
    RESULT r = NULL;
    PARAMS(p, scratch);
    params_int(&p, job->page_id);
    params_int(&p, job->version);
    params_bool(&p, job->want_body);
    enum err e = conn_run(c, SQL_VERSION_GET, &p, f, &r);
    if (e)
        return e;
    job->found = PQntuples(r) > 0;
    if (!job->found)
        return OK;
    if (job->life) {
        const char *type = result_text(r, 0, 2), *url = result_text(r, 0, 3);
        job->content_type = type ? arena_strdup(job->life, type) : NULL;
        job->final_url = url ? arena_strdup(job->life, url) : NULL;
    }
    e = unpack(r, 0, &job->digest, "digest", f);
    return e ? e : unpack(r, 1, &job->body, "body", f);
}

enum err apply(
        struct conn *c, struct store_job *job, msec now, struct arena *scratch, struct fault *f)
{
    c->trouble = CONN_FINE;
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
