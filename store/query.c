/* Reading for people: prepared SELECTs over the views, and their rows as text.
 *
 * Instants come back in the one form Vigil writes everywhere, 2026-11-16T12:00:00.250Z.
 */
#include "store/store_int.h"
#include "base/str.h"

_Static_assert(SQL_Q_NAMES - SQL_Q_LIST == STORE_Q_NAMES - STORE_Q_LIST &&
                       SQL_Q_NAMES + 1 == SQL_COUNT && STORE_Q_NAMES + 1 == STORE_QUERY_COUNT,
        "the questions stand in the same order in both lists");

/* Types of PostgreSQL's own catalogue; these numbers never change. */
enum {
    OID_BOOL = 16,
    OID_INT8 = 20,
    OID_INT2 = 21,
    OID_INT4 = 23,
    OID_JSON = 114,
    OID_TEXT_LIST = 1009,
    OID_TIMESTAMPTZ = 1184,
    OID_NUMERIC = 1700,
    OID_JSONB = 3802
};

struct store_rows {
    PGresult *result;
    int rows, columns;
    const char **cells; /* instants rewritten; NULL where the result's own text stands */
};

static void release_result(void *obj)
{
    PQclear(obj);
}

enum store_type store_rows_type(const struct store_rows *r, int column)
{
    switch (PQftype(r->result, column)) {
    case OID_BOOL:
        return STORE_BOOL;
    case OID_INT2:
    case OID_INT4:
    case OID_INT8:
    case OID_NUMERIC:
        return STORE_INT;
    case OID_JSON:
    case OID_JSONB:
        return STORE_JSON;
    case OID_TIMESTAMPTZ:
        return STORE_TIME;
    case OID_TEXT_LIST:
        return STORE_NAMES;
    }
    return STORE_TEXT;
}

static void rewrite_times(struct store_rows *r, struct arena *life)
{
    r->cells = arena_array_of(life, (size_t)r->rows * (size_t)r->columns + 1, const char *);
    for (int column = 0; column < r->columns; column++)
        for (int row = 0; store_rows_type(r, column) == STORE_TIME && row < r->rows; row++) {
            char iso[TIME_TEXT_SIZE];
            msec at;
            const char *text = result_text(r->result, row, column);
            if (text && time_parse_iso(text, &at))
                r->cells[row * r->columns + column] = arena_strdup(life, time_iso(at, iso));
        }
}

static enum err run(struct store *s, enum statement st, const struct params *p, struct fault *f,
        PGresult **ret)
{
    enum err e = store_connect(s, f);
    if (!e)
        e = conn_run(&s->conn, st, p, f, ret);
    if (!e || s->conn.trouble != CONN_LOST)
        return e;
    conn_close(&s->conn); /* reading twice does no harm: the server may just have restarted */
    e = store_connect(s, f);
    return e ? e : conn_run(&s->conn, st, p, f, ret);
}

enum err store_query(struct store *s, enum store_query q, int nparams,
        const char *const *params, struct arena *life, struct fault *f,
        struct store_rows **ret_rows)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "query");
    PARAMS(p, scratch);
    CHECK(q < STORE_QUERY_COUNT);
    for (int i = 0; i < nparams; i++)
        params_text(&p, params[i]);
    PGresult *result;
    enum err e = run(s, (enum statement)(SQL_Q_LIST + q), &p, f, &result);
    if (e)
        return e;
    struct store_rows *r = arena_new_of(life, struct store_rows);
    arena_defer(life, release_result, result);
    r->result = result;
    r->rows = PQntuples(result);
    r->columns = PQnfields(result);
    rewrite_times(r, life);
    *ret_rows = r;
    return OK;
}

int store_rows_count(const struct store_rows *r)
{
    return r->rows;
}

int store_rows_columns(const struct store_rows *r)
{
    return r->columns;
}

const char *store_rows_name(const struct store_rows *r, int column)
{
    return PQfname(r->result, column);
}

const char *store_rows_text(const struct store_rows *r, int row, int column)
{
    const char *rewritten = r->cells[row * r->columns + column];
    return rewritten ? rewritten : result_text(r->result, row, column);
}

const char *store_rows_get(const struct store_rows *r, int row, const char *column)
{
    for (int i = 0; i < r->columns; i++)
        if (strcmp(store_rows_name(r, i), column) == 0)
            return store_rows_text(r, row, i);
    CHECK(!"a column of this name");
    return NULL;
}
