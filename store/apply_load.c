/* Versions read back: one row by its key, and a body along a bounded chain.
 *
 * A digest is whole, or what differs from the digest of its page's key, which comes in the same
 * answer.  A body is whole, or a delta of another one, and that one perhaps of a third.  The
 * chain comes back in one answer, the whole body first.
 *
 * What is put together is a body only if it is the one that was asked for.
 */
#include "store/apply.h"
#include <stdlib.h>
#include <string.h>

/* Columns of VERSION_GET, and of VERSION_GET_KEY after them. */
enum { DIGEST, KEY_VERSION, KEY_DIGEST, KEY_BODY, KEY_ZSTD };

/* Columns of VERSION_SOURCE. */
enum { CONTENT_TYPE, FINAL_URL, BODY };

static enum err damaged(const char *what, struct fault *f)
{
    return fault_set(
            f, ERR_STORE, "a stored %s is damaged, or larger than is allowed now", what);
}

static bool unzip_value(const PGresult *r, int row, int column, struct buf *out)
{
    return unzip(PQgetvalue(r, row, column), (size_t)PQgetlength(r, row, column), out);
}

static bool unzip_delta_value(
        const PGresult *r, int row, int column, const struct buf *base, struct buf *out)
{
    return unzip_delta(PQgetvalue(r, row, column), (size_t)PQgetlength(r, row, column),
            base->data, base->len, out);
}

static enum err damaged_body(const PGresult *chain, const struct sha256 *key, struct fault *f)
{
    char hex[65];
    sha256_hex(key, hex);
    if (PQntuples(chain) == 0)
        return fault_set(f, ERR_STORE, "body %s is not in the store", hex);
    return fault_set(f, ERR_STORE, "stored body %.16s... is damaged%s, or larger than allowed",
            hex, PQntuples(chain) > 1 ? " (or one it is a delta of)" : "");
}

enum err load_body(struct conn *c, const void *sha256, struct arena *scratch, struct fault *f,
        struct buf *body)
{
    RESULT r = NULL;
    BUF(other, body->max);
    PARAMS(p, scratch);
    struct sha256 key, found;
    memcpy(key.bytes, sha256, sizeof key.bytes);
    params_bytes(&p, key.bytes, sizeof key.bytes);
    enum err e = conn_run(c, SQL_BODY_GET, &p, f, &r);
    if (e)
        return e;
    bool ok = PQntuples(r) > 0 && unzip_value(r, 0, 0, body);
    for (int i = 1; ok && i < PQntuples(r); i++) {
        struct buf base = *body;
        *body = other;
        other = base;
        ok = unzip_delta_value(r, i, 0, &other, body);
    }
    if (ok) {
        found = sha256_of(body->data, body->len);
        ok = sha256_equal(&found, &key);
    }
    return ok ? OK : damaged_body(r, &key, f);
}

/* ---- digests ---- */

/* What the successors of this version may be differences of. */
static void take_key(const PGresult *r, struct store_load_job *job, const struct buf *digest)
{
    if (PQgetisnull(r, 0, KEY_ZSTD) || !digest->data)
        return;
    struct store_key *k = calloc(1, sizeof *k);
    CHECK(k);
    k->version = result_int(r, 0, KEY_VERSION);
    memcpy(k->body_sha256.bytes, PQgetvalue(r, 0, KEY_BODY), sizeof k->body_sha256.bytes);
    k->body_bytes = (size_t)PQgetlength(r, 0, KEY_ZSTD);
    k->digest_bytes = digest->len;
    k->body = malloc(k->body_bytes + 1);
    k->digest = malloc(k->digest_bytes + 1);
    CHECK(k->body && k->digest);
    memcpy(k->body, PQgetvalue(r, 0, KEY_ZSTD), k->body_bytes);
    memcpy(k->digest, digest->data, k->digest_bytes);
    job->key = k;
}

/* The key's digest; where it stands, if that is enough: if the difference from it has a sum,
 * and nobody keeps it. */
static bool read_base(const PGresult *r, bool want_key, struct buf *room, const char **ret_base,
        size_t *ret_len)
{
    if (!want_key && zip_has_sum(PQgetvalue(r, 0, DIGEST), (size_t)PQgetlength(r, 0, DIGEST))) {
        *ret_base = plain_contents(
                PQgetvalue(r, 0, KEY_DIGEST), (size_t)PQgetlength(r, 0, KEY_DIGEST), ret_len);
        if (*ret_base)
            return *ret_len <= room->max;
    }
    if (!unzip_value(r, 0, KEY_DIGEST, room))
        return false;
    *ret_base = room->data;
    *ret_len = room->len;
    return true;
}

static bool read_difference(const PGresult *r, struct store_load_job *job)
{
    BUF(room, job->digest.max);
    const char *base;
    size_t len;
    if (!read_base(r, job->want_key, &room, &base, &len) ||
            !unzip_delta(PQgetvalue(r, 0, DIGEST), (size_t)PQgetlength(r, 0, DIGEST), base, len,
                    &job->digest))
        return false;
    if (job->want_key)
        take_key(r, job, &room);
    return true;
}

/* Without its key a digest is as good as none: it can be made again. */
static enum err read_digest(const PGresult *r, struct store_load_job *job, struct fault *f)
{
    bool is_whole = PQgetisnull(r, 0, KEY_VERSION);
    buf_clear(&job->digest);
    if (PQgetisnull(r, 0, DIGEST) || (!is_whole && PQgetisnull(r, 0, KEY_DIGEST)))
        return OK;
    bool is_key = !is_whole && PQgetlength(r, 0, DIGEST) == 0, ok;
    if (is_whole || is_key)
        ok = unzip_value(r, 0, is_whole ? DIGEST : KEY_DIGEST, &job->digest);
    else
        ok = read_difference(r, job);
    if (ok && is_key && job->want_key)
        take_key(r, job, &job->digest);
    return ok ? OK : damaged("digest", f);
}

/* ---- the whole ---- */

/* What one job asked for. */
struct answers {
    PGresult *digest, *source; /* source: where the body is wanted */
};

static enum err send_one(struct conn *c, const struct store_load_job *job,
        struct arena *scratch, struct fault *f, struct answers *ret)
{
    PARAMS(p, scratch);
    params_int(&p, job->page_id);
    params_int(&p, job->version);
    enum err e = conn_send(c, job->want_key ? SQL_VERSION_GET_KEY : SQL_VERSION_GET, &p,
            scratch, f, &ret->digest);
    if (!e && job->want_body)
        e = conn_send(c, SQL_VERSION_SOURCE, &p, scratch, f, &ret->source);
    return e;
}

static enum err take_source(struct conn *c, const PGresult *r, struct store_load_job *job,
        struct arena *scratch, struct fault *f)
{
    if (job->life) {
        const char *type = result_text(r, 0, CONTENT_TYPE), *url = result_text(r, 0, FINAL_URL);
        job->content_type = type ? arena_strdup(job->life, type) : NULL;
        job->final_url = url ? arena_strdup(job->life, url) : NULL;
    }
    return load_body(c, PQgetvalue(r, 0, BODY), scratch, f, &job->body);
}

static enum err take(struct conn *c, const struct answers *a, struct store_load_job *job,
        struct arena *scratch, struct fault *f)
{
    /* It may be forgotten between the two. */
    job->found = PQntuples(a->digest) > 0 && (!a->source || PQntuples(a->source) > 0);
    if (!job->found)
        return OK;
    store_key_free(job->key); /* of an attempt that was cut off */
    job->key = NULL;
    enum err e = read_digest(a->digest, job, f);
    if (!e && a->source)
        e = take_source(c, a->source, job, scratch, f);
    return e;
}

enum err apply_loads(struct conn *c, struct store_load_job *const *jobs, size_t n,
        struct arena *scratch, struct fault *f)
{
    struct answers *all = arena_array_of(scratch, n, struct answers);
    enum err e = OK;
    for (size_t i = 0; !e && i < n; i++)
        e = send_one(c, jobs[i], scratch, f, &all[i]);
    if (!e)
        e = conn_settle(c, f);
    for (size_t i = 0; !e && i < n; i++)
        e = take(c, &all[i], jobs[i], scratch, f);
    return e;
}
