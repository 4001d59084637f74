/* Many rows for one statement, which takes them apart with unnest(): an array a column.
 *
 * Arrays go in PostgreSQL's binary form (array_recv in its source): five numbers, then each
 * value behind its length.  Nothing has to be escaped in it, and bytes stay as they are.
 */
#include "store/store_int.h"
#include <arpa/inet.h>
#include <endian.h>
#include <string.h>

/* Enough for the lists of every change of one version; the engine limits each of them. */
enum { COLUMN_MAX_BYTES = 256 << 20 };

/* Types of PostgreSQL's own catalogue; these numbers never change. */
enum { OID_BOOL = 16, OID_BYTEA = 17, OID_INT8 = 20, OID_TEXT = 25 };

enum { HEAD_NUMBERS = 5 };

void columns_init(struct columns *c, struct arena *scratch, int count)
{
    CHECK(count <= COLUMNS_MAX);
    *c = (struct columns){.scratch = scratch, .count = count};
    for (int i = 0; i < count; i++)
        buf_init(&c->all[i].bytes, COLUMN_MAX_BYTES);
}

void columns_done(struct columns *c)
{
    for (int i = 0; i < c->count; i++)
        buf_done(&c->all[i].bytes);
}

static void put_number(struct buf *b, uint32_t n)
{
    n = htonl(n);
    buf_append(b, &n, sizeof n);
}

/* The place of the next value; a column has the type of its first. */
static struct column *next(struct columns *c, uint32_t type)
{
    struct column *k = &c->all[c->at];
    c->at = (c->at + 1) % c->count;
    c->rows += c->at == 0;
    if (!k->type) {
        k->type = type;
        for (int i = 0; i < HEAD_NUMBERS; i++)
            put_number(&k->bytes, 0);
    }
    CHECK(k->type == type);
    return k;
}

static void put(struct columns *c, uint32_t type, const void *bytes, size_t len)
{
    struct column *k = next(c, type);
    if (!bytes || len > COLUMN_MAX_BYTES) {
        k->has_null = true;
        k->bytes.overflowed |= bytes != NULL;
        put_number(&k->bytes, UINT32_MAX);
        return;
    }
    put_number(&k->bytes, (uint32_t)len);
    buf_append(&k->bytes, bytes, len);
}

void columns_int(struct columns *c, int64_t n)
{
    uint64_t wire = htobe64((uint64_t)n);
    put(c, OID_INT8, &wire, sizeof wire);
}

void columns_id(struct columns *c, int64_t id)
{
    if (id)
        columns_int(c, id);
    else
        put(c, OID_INT8, NULL, 0);
}

void columns_time(struct columns *c, msec at)
{
    if (at == MSEC_NEVER)
        put(c, OID_INT8, NULL, 0);
    else
        columns_int(c, at);
}

void columns_bool(struct columns *c, bool b)
{
    char wire = b;
    put(c, OID_BOOL, &wire, 1);
}

void columns_text(struct columns *c, const char *s)
{
    s = text_clean(c->scratch, s);
    put(c, OID_TEXT, s, s ? strlen(s) : 0);
}

void columns_json(struct columns *c, const char *s)
{
    s = json_clean(c->scratch, s);
    put(c, OID_TEXT, s, s ? strlen(s) : 0);
}

void columns_bytes(struct columns *c, const void *bytes, size_t len)
{
    put(c, OID_BYTEA, bytes, len);
}

void columns_raw_text(struct columns *c, const char *s)
{
    put(c, OID_BYTEA, s, s ? strlen(s) : 0);
}

enum err columns_params(struct columns *c, struct params *p, struct fault *f)
{
    CHECK(c->at == 0 && c->rows > 0);
    for (int i = 0; i < c->count; i++) {
        struct column *k = &c->all[i];
        if (k->bytes.overflowed)
            return fault_set(f, ERR_LIMIT,
                    "what is to be written at once takes more than %d MB",
                    COLUMN_MAX_BYTES >> 20);
        const uint32_t head[HEAD_NUMBERS] = {htonl(1), htonl(k->has_null), htonl(k->type),
                htonl((uint32_t)c->rows), htonl(1)};
        memcpy(k->bytes.data, head, sizeof head);
        params_bytes(p, k->bytes.data, k->bytes.len);
    }
    return OK;
}

enum err columns_run(struct conn *conn, enum statement st, struct columns *c, struct fault *f,
        PGresult **ret_result)
{
    PARAMS(p, c->scratch);
    if (c->rows == 0)
        return OK;
    enum err e = columns_params(c, &p, f);
    return e ? e : conn_run(conn, st, &p, f, ret_result);
}
