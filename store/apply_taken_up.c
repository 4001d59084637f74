/* Pages that a plan takes up again.
 *
 * A page that keeps changes of those who went elsewhere stays in the store when nobody watches
 * it, but an engine need not keep it in mind.  Whoever names it again must go on with its
 * versions: so what is stored of it comes back with the plan.
 */
#include "store/apply.h"
#include <string.h>

/* A server's bytes, which end with a zero here. */
static const char *bytes_of(struct arena *life, const PGresult *r, int row, int column)
{
    size_t len;
    if (PQgetisnull(r, row, column))
        return NULL;
    unsigned char *raw =
            PQunescapeBytea((const unsigned char *)PQgetvalue(r, row, column), &len);
    CHECK(raw);
    const char *copy = arena_strndup(life, (const char *)raw, len);
    PQfreemem(raw);
    return copy;
}

static const char *text_of(struct arena *life, const PGresult *r, int row, int column)
{
    const char *text = result_text(r, row, column);
    return text ? arena_strdup(life, text) : NULL;
}

static struct sha256 sha256_at(const PGresult *r, int row, int column)
{
    struct sha256 sum = {{0}};
    size_t len;
    unsigned char *raw =
            PQunescapeBytea((const unsigned char *)PQgetvalue(r, row, column), &len);
    CHECK(raw);
    if (len == sizeof sum.bytes)
        memcpy(sum.bytes, raw, len);
    PQfreemem(raw);
    return sum;
}

static struct store_taken_up *taken_up_of(struct arena *life, const PGresult *r, int row)
{
    struct store_taken_up *t = arena_new_of(life, struct store_taken_up);
    t->page = (struct store_page){
            .id = result_int(r, row, 0),
            .url = text_of(life, r, row, 1),
            .request = text_of(life, r, row, 2),
            .latest_version = result_int(r, row, 3),
            .last_fetch_at = result_time(r, row, 4),
            .verified_at = result_time(r, row, 5),
            .next_fetch_at = result_time(r, row, 6),
            .last_change_at = result_time(r, row, 7),
            .etag = bytes_of(life, r, row, 8),
            .last_modified = bytes_of(life, r, row, 9),
            .error = text_of(life, r, row, 10),
            .fetches = result_int(r, row, 11),
            .failures = result_int(r, row, 12),
            .learned = text_of(life, r, row, 13),
            .body = sha256_at(r, row, 14),
    };
    return t;
}

static void put_ids(struct buf *ids, const struct store_step *st)
{
    buf_printf(ids, "%s%lld", ids->len > 1 ? "," : "", (long long)st->ret_page_id);
    for (size_t i = 0; i < st->nmore; i++)
        buf_printf(ids, ",%lld", (long long)st->ret_more_ids[i]);
}

enum err find_taken_up(struct conn *c, struct store_plan_job *job, bool all,
        struct arena *scratch, struct fault *f)
{
    BUF(ids, 1 << 30);
    RESULT r = NULL;
    job->ret_taken_up = NULL;
    buf_puts(&ids, "{");
    for (size_t i = 0; job->life && i < job->nsteps; i++) {
        const struct store_step *st = &job->steps[i];
        bool has_pages = st->kind == STORE_STEP_CREATE || st->kind == STORE_STEP_REPLACE;
        if (has_pages && (all || st->ret_takes_up))
            put_ids(&ids, st);
    }
    if (ids.len == 1)
        return OK;
    buf_puts(&ids, "}");
    PARAMS(p, scratch);
    params_text(&p, buf_text(&ids));
    enum err e = conn_run(c, SQL_PAGES_GET, &p, f, &r);
    for (int row = 0; !e && row < PQntuples(r); row++) {
        struct store_taken_up *t = taken_up_of(job->life, r, row);
        t->next = job->ret_taken_up;
        job->ret_taken_up = t;
    }
    return e;
}
