/* What an engine reads when it starts: every sentinel and every page, in the order they
 * were made.
 *
 *  (1) There may be a million of each: rows are handed on as they arrive, so one is in
 *      memory at a time.
 *  (2) Values come in PostgreSQL's binary form, which needs no parsing.
 */
#include "store/store_int.h"
#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* Whom the rows are for. */
struct loading {
    void (*sentinel)(const struct store_sentinel *row, void *arg);
    void (*page)(const struct store_page *row, void *arg);
    void *arg;
};

static int64_t int_of(const PGresult *r, int column)
{
    uint64_t n = 0;
    if (PQgetisnull(r, 0, column))
        return 0;
    CHECK(PQgetlength(r, 0, column) == (int)sizeof n);
    memcpy(&n, PQgetvalue(r, 0, column), sizeof n);
    return (int64_t)be64toh(n);
}

/* Microseconds since 2000. */
static msec time_of(const PGresult *r, int column)
{
    const int64_t year_2000 = 946684800000;
    if (PQgetisnull(r, 0, column))
        return MSEC_NEVER;
    int64_t us = int_of(r, column);
    return year_2000 + (us >= 0 ? us : us - 999) / 1000;
}

/* Texts of a result end with a zero; bytes (a server's header) do, too. */
static const char *text_of(const PGresult *r, int column)
{
    return result_text(r, 0, column);
}

/* {4,0,9} as numbers. */
static const int64_t *numbers(struct arena *life, const char *array, size_t *ret_count)
{
    size_t n = 0;
    for (const char *c = array; c && *c; c++)
        n += *c == ',' || *c == '}';
    int64_t *all = arena_array_of(life, n + 1, int64_t);
    *ret_count = 0;
    for (const char *at = array ? array + 1 : ""; *at && *at != '}';) {
        char *end;
        all[(*ret_count)++] = strtoll(at, &end, 10);
        at = *end == ',' ? end + 1 : end;
    }
    return all;
}

static void take_sentinel(const PGresult *r, void *arg)
{
    struct loading *l = arg;
    struct store_sentinel row = {
            .id = int_of(r, 0),
            .name = text_of(r, 1),
            .owner = text_of(r, 2),
            .definition = text_of(r, 3),
            .state = text_of(r, 4),
            .installed_at = time_of(r, 5),
            .starts_at = time_of(r, 6),
            .ends_at = time_of(r, 7),
            .started_at = time_of(r, 8),
            .ended_at = time_of(r, 9),
            .page_id = int_of(r, 10),
            .base_version = int_of(r, 11),
            .entered_at = time_of(r, 12),
            .last_version = int_of(r, 13),
            .url = text_of(r, 14),
            .has_points = PQgetvalue(r, 0, 15)[0] != 0,
            .answers = text_of(r, 17),
    };
    SCRATCH struct arena *scratch = arena_new(NULL, "seen");
    row.seen = numbers(scratch, text_of(r, 16), &row.nseen);
    l->sentinel(&row, l->arg);
}

static void take_page(const PGresult *r, void *arg)
{
    struct loading *l = arg;
    struct store_page row = {
            .id = int_of(r, 0),
            .url = text_of(r, 1),
            .request = text_of(r, 14),
            .latest_version = int_of(r, 2),
            .last_fetch_at = time_of(r, 3),
            .verified_at = time_of(r, 4),
            .last_change_at = time_of(r, 5),
            .etag = text_of(r, 6),
            .last_modified = text_of(r, 7),
            .error = text_of(r, 8),
            .fetches = int_of(r, 9),
            .failures = int_of(r, 10),
            .learned = text_of(r, 11),
            .next_fetch_at = time_of(r, 13),
    };
    if (PQgetlength(r, 0, 12) == (int)sizeof row.body.bytes)
        memcpy(row.body.bytes, PQgetvalue(r, 0, 12), sizeof row.body.bytes);
    l->page(&row, l->arg);
}

/* Reading a million rows takes longer than a statement usually may. */
static enum err load(struct store *s, enum statement st, conn_row_fn *take, struct loading *l,
        struct fault *f)
{
    enum err e = store_connect(s, f);
    if (!e)
        e = conn_run(&s->conn, SQL_NO_TIMEOUT, NULL, f, NULL);
    if (!e)
        e = conn_stream(&s->conn, st, take, l, f);
    return e ? e : conn_run(&s->conn, SQL_USUAL_TIMEOUT, NULL, f, NULL);
}

enum err store_load_sentinels(struct store *s, struct fault *f,
        void (*each)(const struct store_sentinel *row, void *arg), void *arg)
{
    struct loading l = {.sentinel = each, .arg = arg};
    return load(s, SQL_LOAD_SENTINELS, take_sentinel, &l, f);
}

/* There are few of these. */
enum err store_load_places(struct store *s, struct fault *f,
        void (*each)(const struct store_place *row, void *arg), void *arg)
{
    RESULT r = NULL;
    enum err e = store_connect(s, f);
    if (!e)
        e = conn_run(&s->conn, SQL_LOAD_PLACES, NULL, f, &r);
    for (int i = 0; !e && i < PQntuples(r); i++) {
        struct store_place row = {
                .sentinel_id = result_int(r, i, 0),
                .place = (unsigned)result_int(r, i, 1),
                .page_id = result_int(r, i, 2),
                .url = result_text(r, i, 3),
                .answers = result_text(r, i, 5),
        };
        SCRATCH struct arena *scratch = arena_new(NULL, "place");
        row.seen = numbers(scratch, result_text(r, i, 4), &row.nseen);
        each(&row, arg);
    }
    return e;
}

enum err store_load_constituents(struct store *s, struct fault *f,
        void (*each)(const struct store_constituent *row, void *arg), void *arg)
{
    RESULT r = NULL;
    enum err e = store_connect(s, f);
    if (!e)
        e = conn_run(&s->conn, SQL_LOAD_CONSTITUENTS, NULL, f, &r);
    for (int i = 0; !e && i < PQntuples(r); i++) {
        struct store_constituent row = {
                .sentinel_id = result_int(r, i, 0),
                .conjunct = (unsigned)result_int(r, i, 1),
                .part = (unsigned)result_int(r, i, 2),
                .forbids = result_text(r, i, 3)[0] == 't',
                .at = result_time(r, i, 4),
                .old_version = result_int(r, i, 5),
                .new_version = result_int(r, i, 6),
                .inserted = (unsigned)result_int(r, i, 7),
                .deleted = (unsigned)result_int(r, i, 8),
                .updated = (unsigned)result_int(r, i, 9),
                .moved = (unsigned)result_int(r, i, 10),
                .summary = result_text(r, i, 11),
                .detail = result_text(r, i, 12),
        };
        each(&row, arg);
    }
    return e;
}

enum err store_load_hosts(struct store *s, struct fault *f,
        void (*each)(const char *name, msec distrusted_until, void *arg), void *arg)
{
    RESULT r = NULL;
    enum err e = store_connect(s, f);
    if (!e)
        e = conn_run(&s->conn, SQL_LOAD_HOSTS, NULL, f, &r);
    for (int i = 0; !e && i < PQntuples(r); i++)
        each(result_text(r, i, 0), result_time(r, i, 1), arg);
    return e;
}

enum err store_load_pages(struct store *s, struct fault *f,
        void (*each)(const struct store_page *row, void *arg), void *arg)
{
    struct loading l = {.page = each, .arg = arg};
    return load(s, SQL_LOAD_PAGES, take_page, &l, f);
}
