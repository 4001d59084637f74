/* Packing: an older body that is whole becomes a delta of the next one that is.
 *
 * Most versions are written as deltas of their page's key (pack.c); what is left are the keys
 * themselves, once there is another one, and what was written without one at hand.
 *
 *  (1) The base of a delta is whole at the moment it becomes one; so no chain is a ring, and
 *      the height of a body bounds the chain below it.
 *  (2) A chain has at most CHAIN bodies; then one stays whole and another chain begins.
 *  (3) A body is tried once.  If its delta is not much smaller it stays as it is.
 *  (4) The newest of a page that is whole has no successor, so it is whole while others are
 *      made deltas of it.
 */
#include "store/store_int.h"
#include "base/crash.h"
#include <string.h>

/* A chain of sixteen is read and put together in a millisecond or two, and the one whole
 * body among them costs less than the deltas of a lively page. */
enum { CHAIN = 16, LOOK_BACK = 64, LOOK_BACK_MOST = 1 << 20 };

/* Below this a row's own overhead is most of what it takes. */
enum { TINY = 200 };

enum { BODY_MOST = 1 << 30, BATCH = 32 };

struct body {
    const char *sha256; /* 32 bytes */
    bool packed, whole;
    int64_t height, stored;
};

/* A body and its bytes, while they are at hand. */
struct held {
    const struct body *of; /* NULL: none */
    struct buf bytes;
};

static enum err hold(struct conn *c, struct held *h, const struct body *b,
        struct arena *scratch, struct fault *f)
{
    if (h->of == b)
        return OK;
    h->of = NULL;
    enum err e = load_body(c, b->sha256, scratch, f, &h->bytes);
    if (!e)
        h->of = b;
    return e;
}

static enum err keep_whole(
        struct conn *c, struct body *b, struct arena *scratch, struct fault *f)
{
    PARAMS(p, scratch);
    params_bytes(&p, b->sha256, sizeof(struct sha256));
    enum err e = conn_run(c, SQL_SWEEP_WHOLE, &p, f, NULL);
    b->packed = !e;
    return e;
}

static enum err put_delta(struct conn *c, struct body *b, struct body *base,
        const struct buf *delta, struct arena *scratch, struct fault *f, bool *ret_done)
{
    RESULT r = NULL;
    RESULT raised = NULL;
    PARAMS(up, scratch);
    params_bytes(&up, base->sha256, sizeof(struct sha256));
    params_bytes(&up, b->sha256, sizeof(struct sha256));
    params_int(&up, CHAIN);
    enum err e = conn_run(c, SQL_SWEEP_RAISE, &up, f, &raised);
    if (e || result_affected(raised) == 0) /* gone, or a delta by now: (1) */
        return e;
    PARAMS(p, scratch);
    params_bytes(&p, b->sha256, sizeof(struct sha256));
    params_bytes(&p, delta->data, delta->len);
    params_bytes(&p, base->sha256, sizeof(struct sha256));
    e = conn_run(c, SQL_SWEEP_PACK, &p, f, &r);
    if (e || result_affected(r) == 0)
        return e;
    b->packed = true;
    b->whole = false;
    if (base->height <= b->height)
        base->height = b->height + 1;
    *ret_done = true;
    return OK;
}

/* Body b, whose successor is `base`; `here` holds b's bytes or something else, `next` will hold
 * base's. */
static enum err pack_one(struct conn *c, struct body *b, struct body *base, struct held *here,
        struct held *next, struct sweep_tally *t, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "pack");
    if (b->height + 1 >= CHAIN || b->stored < TINY) /* (2) */
        return keep_whole(c, b, scratch, f);
    enum err e = hold(c, here, b, scratch, f);
    if (!e)
        e = hold(c, next, base, scratch, f);
    if (e)
        return e;
    BUF(delta, zip_most(here->bytes.len) + 1);
    bool pays = zip_delta(here->bytes.data, here->bytes.len, next->bytes.data, next->bytes.len,
                        &delta) &&
                (int64_t)delta.len < b->stored / 4 * 3;
    if (!pays)
        return keep_whole(c, b, scratch, f); /* (3) */
    bool done = false;
    CRASH_POINT("before_delta");
    e = put_delta(c, b, base, &delta, scratch, f, &done);
    CRASH_POINT("after_delta");
    if (!e && done) {
        t->packed++;
        t->saved_bytes += b->stored - (int64_t)delta.len;
    }
    return e;
}

static enum err commit(struct conn *c, struct fault *f)
{
    CRASH_POINT("before_pack_commit");
    enum err e = conn_run(c, SQL_COMMIT, NULL, f, NULL);
    CRASH_POINT("after_pack_commit");
    return e;
}

/* The body that b[at] can be a delta of; n: there is none yet: (1), (4). */
static size_t successor(const struct body *b, size_t n, size_t at)
{
    size_t next = at + 1;
    while (next < n && (!b[next].whole || memcmp(b[next].sha256, b[at].sha256,
                                                  sizeof(struct sha256)) == 0))
        next++;
    return next;
}

static bool is_to_be_packed(const struct body *b, size_t n, size_t at)
{
    return at < n && !b[at].packed && b[at].whole && successor(b, n, at) < n;
}

static enum err pack_all(
        struct conn *c, struct body *b, size_t n, struct sweep_tally *t, struct fault *f)
{
    struct held held[2] = {{.bytes.max = BODY_MOST}, {.bytes.max = BODY_MOST}};
    struct sweep_tally mine = {0};
    size_t waiting = 0, done = 0;
    enum err e = OK;
    for (size_t i = 0; !e && i < n; i++) {
        if (!is_to_be_packed(b, n, i))
            continue;
        if (waiting == 0)
            e = conn_run(c, SQL_BEGIN, NULL, f, NULL);
        if (!e) /* what was the base of one is mostly the next to be packed */
            e = pack_one(c, &b[i], &b[successor(b, n, i)], &held[done % 2],
                    &held[(done + 1) % 2], &mine, f);
        done++;
        if (!e && ++waiting == BATCH) {
            e = commit(c, f);
            waiting = 0;
        }
    }
    if (!e && waiting)
        e = commit(c, f);
    if (e)
        conn_roll_back(c);
    else
        *t = (struct sweep_tally){
                t->released, t->packed + mine.packed, t->saved_bytes + mine.saved_bytes};
    buf_done(&held[0].bytes);
    buf_done(&held[1].bytes);
    return e;
}

static const char *bytes_of_hex(struct arena *life, const char *text)
{
    char *bytes = arena_alloc(life, sizeof(struct sha256));
    for (size_t i = 0; i < sizeof(struct sha256); i++) {
        const char *at = text + 2 + 2 * i; /* after \x */
        int high = at[0] <= '9' ? at[0] - '0' : at[0] - 'a' + 10;
        int low = at[1] <= '9' ? at[1] - '0' : at[1] - 'a' + 10;
        bytes[i] = (char)(high << 4 | low);
    }
    return bytes;
}

enum err sweep_pack(struct conn *c, int64_t page_id, struct sweep_tally *t, struct fault *f)
{
    for (int64_t look = LOOK_BACK;; look *= 8) {
        SCRATCH struct arena *scratch = arena_new(NULL, "bodies");
        RESULT r = NULL;
        PARAMS(p, scratch);
        params_int(&p, page_id);
        params_int(&p, look);
        enum err e = conn_run(c, SQL_SWEEP_BODIES, &p, f, &r);
        if (e)
            return e;
        size_t n = (size_t)PQntuples(r);
        struct body *b = arena_array_of(scratch, n + 1, struct body);
        for (int i = 0; i < (int)n; i++)
            b[i] = (struct body){
                    .sha256 = bytes_of_hex(scratch, PQgetvalue(r, i, 1)),
                    .packed = PQgetvalue(r, i, 2)[0] == 't',
                    .whole = PQgetvalue(r, i, 3)[0] == 't',
                    .height = result_int(r, i, 4),
                    .stored = result_int(r, i, 6),
            };
        /* The oldest first, or those before it would find no whole base. */
        if ((int64_t)n >= look && is_to_be_packed(b, n, 0) && look < LOOK_BACK_MOST)
            continue;
        return pack_all(c, b, n, t, f);
    }
}
