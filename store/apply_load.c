/* A version read back: one row by its key, and its body along a bounded chain.
 *
 * The newest version of a page is whole, so is its digest; an older body is a delta of the
 * body after it, and that one perhaps of the next.  The chain comes back in one answer, the
 * whole body first.
 */
#include "store/apply.h"

static enum err damaged(const char *what, struct fault *f)
{
    return fault_set(
            f, ERR_STORE, "a stored %s is damaged, or larger than is allowed now", what);
}

enum err load_body(struct conn *c, const void *sha256, struct arena *scratch, struct fault *f,
        struct buf *body)
{
    RESULT r = NULL;
    BUF(other, body->max);
    PARAMS(p, scratch);
    params_bytes(&p, sha256, sizeof(struct sha256));
    enum err e = conn_run(c, SQL_BODY_GET, &p, f, &r);
    if (e)
        return e;
    bool ok =
            PQntuples(r) > 0 && unzip(PQgetvalue(r, 0, 0), (size_t)PQgetlength(r, 0, 0), body);
    for (int i = 1; ok && i < PQntuples(r); i++) {
        struct buf base = *body;
        *body = other;
        other = base;
        ok = unzip_delta(
                PQgetvalue(r, i, 0), (size_t)PQgetlength(r, i, 0), other.data, other.len, body);
    }
    return ok ? OK : damaged("body", f);
}

static enum err read_digest(const PGresult *r, struct store_load_job *job, struct fault *f)
{
    buf_clear(&job->digest);
    if (PQgetisnull(r, 0, 0) ||
            unzip(PQgetvalue(r, 0, 0), (size_t)PQgetlength(r, 0, 0), &job->digest))
        return OK;
    return damaged("digest", f);
}

enum err apply_load(
        struct conn *c, struct store_load_job *job, struct arena *scratch, struct fault *f)
{
    RESULT r = NULL;
    PARAMS(p, scratch);
    params_int(&p, job->page_id);
    params_int(&p, job->version);
    enum err e = conn_run(c, SQL_VERSION_GET, &p, f, &r);
    if (e)
        return e;
    job->found = PQntuples(r) > 0;
    if (!job->found)
        return OK;
    if (job->life) {
        const char *type = result_text(r, 0, 1), *url = result_text(r, 0, 2);
        job->content_type = type ? arena_strdup(job->life, type) : NULL;
        job->final_url = url ? arena_strdup(job->life, url) : NULL;
    }
    e = read_digest(r, job, f);
    if (!e && job->want_body)
        e = load_body(c, PQgetvalue(r, 0, 3), scratch, f, &job->body);
    return e;
}
