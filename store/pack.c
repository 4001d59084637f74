/* Packing a version: as what differs from its page's key, or whole as the next key.
 *
 * A key is a version whose body and digest are whole.  Packing with it at hand takes a quarter
 * of the time of packing anew, and what is to be written is a hundredth.
 *
 *  (1) A version is read back in one step: every delta is one of a key.
 *  (2) What differs from a key grows with every version; when it is no longer small, the
 *      version is the next key.
 *  (3) A page that has nothing in common with itself is not compared with its key again and
 *      again, only now and then.
 *  (4) A key's body was once unpacked when a version was packed, which takes longer than what
 *      is done with it then; whoever keeps the key decides whether it stays like that.
 */
#include "store/store_int.h"
#include <stdlib.h>
#include <string.h>

/* Small: an eighth of what it would be when whole, and below that what a row itself takes. */
enum { SMALL_PART = 8, SMALL_BYTES = 200, DIGEST_SHRINKS = 2 };

/* (3): misses in a row, and how often it is tried all the same. */
enum { MISSES_MOST = 2, TRIED_EVERY = 8 };

enum { BODY_MOST = 1 << 30 };

/* ---- keys ---- */

static char *copy(const void *bytes, size_t len)
{
    char *to = malloc(len + 1);
    CHECK(to);
    memcpy(to, bytes, len);
    to[len] = 0;
    return to;
}

struct store_key *store_key_new(const struct store_version_job *job)
{
    if (job->packed.of || !job->packed.body || !job->packed.digest)
        return NULL;
    struct store_key *k = calloc(1, sizeof *k);
    CHECK(k);
    k->version = job->version;
    k->body_sha256 = job->body_sha256;
    k->body = copy(job->packed.body, job->packed.body_bytes);
    k->body_bytes = job->packed.body_bytes;
    k->digest = copy(job->packed.digest, job->packed.digest_bytes);
    k->digest_bytes = job->packed.digest_bytes;
    k->digest_is_packed = true;
    k->misses = job->packed.misses;
    return k;
}

size_t store_key_bytes(const struct store_key *k)
{
    return k ? sizeof *k + k->body_bytes + k->plain_bytes + k->digest_bytes : 0;
}

void store_key_shrink(struct store_key *k)
{
    if (!k)
        return;
    free(k->plain);
    k->plain = NULL;
    k->plain_bytes = 0;
}

void store_key_free(struct store_key *k)
{
    if (!k)
        return;
    free(k->body);
    free(k->plain);
    free(k->digest);
    free(k);
}

/* ---- versions ---- */

static bool is_small(size_t delta, size_t whole)
{
    return delta <= whole / SMALL_PART || (delta <= SMALL_BYTES && delta <= whole / 2);
}

/* (4) */
static bool unpack_body(struct store_key *k)
{
    BUF(plain, BODY_MOST);
    if (k->plain)
        return true;
    if (!unzip(k->body, k->body_bytes, &plain))
        return false;
    k->plain = buf_take(&plain, &k->plain_bytes);
    return true;
}

static bool pack_body(struct store_version_job *job, struct store_key *k, struct buf *out)
{
    if (sha256_equal(&job->body_sha256, &k->body_sha256)) { /* it is there */
        buf_clear(out);
        return buf_puts(out, "");
    }
    return unpack_body(k) &&
           zip_delta(job->body ? job->body : "", job->body_bytes, k->plain, k->plain_bytes,
                   out) &&
           is_small(out->len, k->body_bytes);
}

static bool pack_digest(
        struct store_version_job *job, const struct store_key *k, struct buf *out)
{
    BUF(unpacked, BODY_MOST);
    const char *base = k->digest;
    size_t len = k->digest_bytes;
    if (k->digest_is_packed && !(base = plain_contents(k->digest, k->digest_bytes, &len))) {
        if (!unzip(k->digest, k->digest_bytes, &unpacked))
            return false;
        base = unpacked.data;
        len = unpacked.len;
    }
    return zip_digest_delta(job->digest, job->digest_bytes, base, len, out) &&
           is_small(out->len, len / DIGEST_SHRINKS);
}

static void set_packed(struct store_version_job *job, struct arena *life,
        const struct buf *body, const struct buf *digest)
{
    job->packed.body = arena_memdup(life, body->data, body->len);
    job->packed.body_bytes = body->len;
    job->packed.digest = arena_memdup(life, digest->data, digest->len);
    job->packed.digest_bytes = digest->len;
}

static bool pack_difference(struct store_version_job *job, struct arena *life)
{
    struct store_key *k = job->key;
    bool is_churning = k && k->version == job->version - 1 && k->misses > MISSES_MOST;
    if (!k || !k->digest || !job->digest ||
            (is_churning && job->version % TRIED_EVERY)) /* (3) */
        return false;
    BUF(body, zip_most(job->body_bytes) + 1);
    BUF(digest, zip_most(job->digest_bytes) + 1);
    if (!pack_body(job, k, &body) || !pack_digest(job, k, &digest)) /* (2) */
        return false;
    set_packed(job, life, &body, &digest);
    job->packed.of = k;
    return true;
}

void store_version_pack(struct store_version_job *job, struct arena *life)
{
    memset(&job->packed, 0, sizeof job->packed);
    if (pack_difference(job, life))
        return;
    BUF(body, zip_most(job->body_bytes) + 1);
    BUF(digest, zip_most(job->digest_bytes) + 1);
    if (job->key && job->key->version == job->version - 1)
        job->packed.misses = job->key->misses + 1;
    if (zip(job->body ? job->body : "", job->body_bytes, &body)) {
        job->packed.body = arena_memdup(life, body.data, body.len);
        job->packed.body_bytes = body.len;
    }
    if (job->digest && zip_digest(job->digest, job->digest_bytes, &digest)) {
        job->packed.digest = arena_memdup(life, digest.data, digest.len);
        job->packed.digest_bytes = digest.len;
    }
}

void store_version_pack_whole(struct store_version_job *job)
{
    job->key = NULL;
    memset(&job->packed, 0, sizeof job->packed);
}
