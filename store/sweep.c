/* Forgetting: versions nobody needs any more, and digests nobody compares with.
 *
 *  (1) What somebody still compares with, what CHANGEHISTORY speaks of, and a page's newest
 *      version are never released: the views vigil_kb.need and vigil_kb.history say which.
 *  (2) A change stays in the history when its versions are gone, and so do version numbers.
 *  (3) Small transactions: a release takes so many versions and is repeated until none is
 *      left.
 *  (4) The digest of a key stays while one that is needed differs from it.  Bodies stay longer:
 *      no statement takes away one that another is a delta of.
 */
#include "store/store_int.h"
#include "base/crash.h"

enum { BATCH = 500 };

static enum err commit(struct conn *c, enum err e, struct fault *f)
{
    if (e) {
        conn_roll_back(c);
        return e;
    }
    CRASH_POINT("before_release_commit");
    e = conn_run(c, SQL_COMMIT, NULL, f, NULL);
    CRASH_POINT("after_release_commit");
    return e;
}

static enum err release_some(
        struct conn *c, const char *pages, msec cutoff, struct fault *f, int64_t *ret_n)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "release");
    RESULT r = NULL;
    PARAMS(p, scratch);
    params_text(&p, pages);
    params_int(&p, cutoff);
    params_int(&p, BATCH);
    enum err e = conn_run(c, SQL_BEGIN, NULL, f, NULL);
    if (!e)
        e = conn_run(c, SQL_SWEEP_RELEASE, &p, f, &r);
    if (!e)
        *ret_n = result_int(r, 0, 0);
    CRASH_POINT("after_release");
    if (!e)
        e = drop_unused_bodies(c, PQgetvalue(r, 0, 1), scratch, f);
    return commit(c, e, f);
}

enum err sweep_digests(struct conn *c, const char *pages, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "digests");
    PARAMS(p, scratch);
    params_text(&p, pages);
    enum err e = conn_run(c, SQL_BEGIN, NULL, f, NULL);
    if (!e)
        e = conn_run(c, SQL_SWEEP_DIGESTS, &p, f, NULL);
    if (!e) /* (4) */
        e = conn_run(c, SQL_SWEEP_KEYS, &p, f, NULL);
    return commit(c, e, f);
}

enum err sweep_release(
        struct conn *c, const char *pages, msec cutoff, struct sweep_tally *t, struct fault *f)
{
    enum err e = OK;
    for (int64_t n = BATCH; !e && n == BATCH && cutoff > 0;) { /* (3) */
        n = 0;
        e = release_some(c, pages, cutoff, f, &n);
        if (!e)
            t->released += n;
    }
    return e;
}
