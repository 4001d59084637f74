/* What an engine reads when it starts: every sentinel and every page, in the order they
 * were made. */
#include "store/store_int.h"
#include <stdlib.h>
#include <string.h>

static int nibble(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Headers are the server's own bytes and travel as hex. */
static char *from_hex(struct arena *life, const char *hex)
{
    if (!hex)
        return NULL;
    size_t n = strlen(hex) / 2;
    char *bytes = arena_alloc(life, n + 1);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (char)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
    bytes[n] = 0;
    return bytes;
}

static const char *keep(struct arena *life, const char *s)
{
    return s ? arena_strdup(life, s) : NULL;
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

enum err store_load_sentinels(struct store *s, struct arena *life, struct fault *f,
        void (*each)(const struct store_sentinel *row, void *arg), void *arg)
{
    RESULT r = NULL;
    enum err e = store_connect(s, f);
    if (!e)
        e = conn_run(&s->conn, SQL_LOAD_SENTINELS, NULL, f, &r);
    for (int i = 0; !e && i < PQntuples(r); i++) {
        struct store_sentinel row = {
                .id = result_int(r, i, 0),
                .name = keep(life, result_text(r, i, 1)),
                .owner = keep(life, result_text(r, i, 2)),
                .definition = keep(life, result_text(r, i, 3)),
                .state = keep(life, result_text(r, i, 4)),
                .installed_at = result_time(r, i, 5),
                .starts_at = result_time(r, i, 6),
                .ends_at = result_time(r, i, 7),
                .started_at = result_time(r, i, 8),
                .ended_at = result_time(r, i, 9),
                .page_id = result_int(r, i, 10),
                .base_version = result_int(r, i, 11),
                .entered_at = result_time(r, i, 12),
                .last_version = result_int(r, i, 13),
                .url = keep(life, result_text(r, i, 14)),
                .has_points = result_text(r, i, 15)[0] == 't',
                .answers = keep(life, result_text(r, i, 17)),
        };
        row.seen = numbers(life, result_text(r, i, 16), &row.nseen);
        each(&row, arg);
    }
    return e;
}

enum err store_load_places(struct store *s, struct arena *life, struct fault *f,
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
                .url = keep(life, result_text(r, i, 3)),
                .answers = keep(life, result_text(r, i, 5)),
        };
        row.seen = numbers(life, result_text(r, i, 4), &row.nseen);
        each(&row, arg);
    }
    return e;
}

enum err store_load_constituents(struct store *s, struct arena *life, struct fault *f,
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
                .summary = keep(life, result_text(r, i, 11)),
                .detail = keep(life, result_text(r, i, 12)),
        };
        each(&row, arg);
    }
    return e;
}

enum err store_load_hosts(struct store *s, struct arena *life, struct fault *f,
        void (*each)(const char *name, msec distrusted_until, void *arg), void *arg)
{
    RESULT r = NULL;
    enum err e = store_connect(s, f);
    if (!e)
        e = conn_run(&s->conn, SQL_LOAD_HOSTS, NULL, f, &r);
    for (int i = 0; !e && i < PQntuples(r); i++)
        each(keep(life, result_text(r, i, 0)), result_time(r, i, 1), arg);
    return e;
}

enum err store_load_pages(struct store *s, struct arena *life, struct fault *f,
        void (*each)(const struct store_page *row, void *arg), void *arg)
{
    RESULT r = NULL;
    enum err e = store_connect(s, f);
    if (!e)
        e = conn_run(&s->conn, SQL_LOAD_PAGES, NULL, f, &r);
    for (int i = 0; !e && i < PQntuples(r); i++) {
        struct store_page row = {
                .id = result_int(r, i, 0),
                .url = keep(life, result_text(r, i, 1)),
                .request = keep(life, result_text(r, i, 14)),
                .latest_version = result_int(r, i, 2),
                .last_fetch_at = result_time(r, i, 3),
                .verified_at = result_time(r, i, 4),
                .last_change_at = result_time(r, i, 5),
                .etag = from_hex(life, result_text(r, i, 6)),
                .last_modified = from_hex(life, result_text(r, i, 7)),
                .error = keep(life, result_text(r, i, 8)),
                .fetches = result_int(r, i, 9),
                .failures = result_int(r, i, 10),
                .learned = keep(life, result_text(r, i, 11)),
                .next_fetch_at = result_time(r, i, 13),
        };
        const char *body = from_hex(life, result_text(r, i, 12));
        if (body)
            memcpy(row.body.bytes, body, sizeof row.body.bytes);
        each(&row, arg);
    }
    return e;
}
