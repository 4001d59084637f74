/* Jobs inside the transaction that is open: which kind is done by whom, and the smallest of
 * them, a fetch that brought nothing new. */
#include "store/apply.h"
#include "base/crash.h"

enum err apply_no_page(int64_t page_id, struct fault *f)
{
    return fault_set(f, ERR_NAME, "page %lld is not in the store any more", (long long)page_id);
}

void columns_page(struct columns *rows, const struct store_fetch_state *s)
{
    columns_int(rows, s->page_id);
    columns_time(rows, s->last_fetch_at);
    columns_time(rows, s->verified_at);
    columns_time(rows, s->next_fetch_at);
    columns_raw_text(rows, s->etag);
    columns_raw_text(rows, s->last_modified);
    columns_text(rows, s->error);
    columns_json(rows, s->learned);
    columns_int(rows, s->fetches);
    columns_int(rows, s->failures);
    columns_id(rows, s->took);
}

static bool is_among(struct store_touch_job *const *jobs, size_t n, int64_t page_id)
{
    for (size_t i = 0; i < n; i++)
        if (jobs[i]->fetch.page_id == page_id)
            return true;
    return false;
}

static bool has_row(const PGresult *r, int64_t page_id)
{
    for (int row = 0; row < PQntuples(r); row++)
        if (result_int(r, row, 0) == page_id)
            return true;
    return false;
}

/* No page twice: one statement. */
static enum err touch(struct conn *c, struct store_touch_job *const *jobs, size_t n,
        struct arena *scratch, struct fault *f)
{
    RESULT r = NULL;
    COLUMNS(rows, scratch, PAGE_COLUMNS);
    for (size_t i = 0; i < n; i++) {
        columns_page(&rows, &jobs[i]->fetch);
        columns_id(&rows, 0); /* no version */
        columns_bytes(&rows, NULL, 0);
        columns_time(&rows, MSEC_NEVER);
    }
    enum err e = columns_run(c, SQL_PAGES_SAW, &rows, f, &r);
    CRASH_POINT("after_touch");
    for (size_t i = 0; !e && i < n && PQntuples(r) < (int)n; i++)
        if (!has_row(r, jobs[i]->fetch.page_id))
            e = apply_no_page(jobs[i]->fetch.page_id, f);
    return e;
}

enum err apply_touches(struct conn *c, struct store_touch_job *const *jobs, size_t n,
        struct arena *scratch, struct fault *f)
{
    enum err e = OK;
    for (size_t at = 0; !e && at < n;) {
        size_t count = 1;
        while (at + count < n && !is_among(jobs + at, count, jobs[at + count]->fetch.page_id))
            count++;
        e = touch(c, jobs + at, count, scratch, f);
        at += count;
    }
    return e;
}

enum err apply(
        struct conn *c, struct store_job *job, msec now, struct arena *scratch, struct fault *f)
{
    struct store_version_job *version;
    struct store_touch_job *touched;
    struct store_load_job *loaded;
    switch (job->kind) {
    case STORE_JOB_VERSION:
        version = container_of(job, struct store_version_job, job);
        return apply_versions(c, &version, 1, scratch, f);
    case STORE_JOB_TOUCH:
        touched = container_of(job, struct store_touch_job, job);
        return apply_touches(c, &touched, 1, scratch, f);
    case STORE_JOB_PLAN:
        return apply_plan(c, container_of(job, struct store_plan_job, job), now, scratch, f);
    case STORE_JOB_LOAD:
        loaded = container_of(job, struct store_load_job, job);
        return apply_loads(c, &loaded, 1, scratch, f);
    case STORE_JOB_CLAIM:
    case STORE_JOB_SETTLE:
    case STORE_JOB_BULLETIN:
    case STORE_JOB_PUBLISH:
        break; /* the outbox has a connection of its own */
    }
    CHECK(!"a kind of job");
    return ERR_STORE;
}
