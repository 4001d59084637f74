/* Bodies and digests are kept compressed; zstd is at home here.
 *
 * A delta is an ordinary frame that was made with another body at hand (a prefix), and can
 * be read with the same body at hand only.  Two versions of a page are mostly the same bytes,
 * so the delta of one against the other is little more than what differs.  It carries a sum of
 * what it stands for: with another base at hand it is refused, not misread.
 */
#include "store/store_int.h"
#include <endian.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Level 2 makes a page three to six times smaller in a tenth of a millisecond; level 3 takes
 * half as long again for a fiftieth less.  With a base at hand the level matters little. */
enum { LEVEL = 2, DELTA_LEVEL = 1 };

/* For digests, which are read more often than they are written whole: long matches only, and
 * literals as they are (so it is below level 0, and with a target), which is a tenth larger and
 * a third faster than level 1. */
enum { DIGEST_LEVEL = -1, DIGEST_MATCH = 7, DIGEST_TARGET = 1 };

/* One that shrinks by less than this part is kept as it is: a server sends the difference in
 * less time than it takes to unpack the rest. */
enum { DIGEST_SAVES = 3 };

/* A thread keeps what zstd works in: making it anew costs a third of packing a page. */
struct workspace {
    ZSTD_CCtx *pack;
    ZSTD_DCtx *unpack;
};

static pthread_key_t workspace_key;
static pthread_once_t workspace_once = PTHREAD_ONCE_INIT;

static void workspace_free(void *arg)
{
    struct workspace *w = arg;
    ZSTD_freeCCtx(w->pack);
    ZSTD_freeDCtx(w->unpack);
    free(w);
}

static void workspace_key_make(void)
{
    CHECK(pthread_key_create(&workspace_key, workspace_free) == 0);
}

static struct workspace *workspace(void)
{
    CHECK(pthread_once(&workspace_once, workspace_key_make) == 0);
    struct workspace *w = pthread_getspecific(workspace_key);
    if (w)
        return w;
    w = calloc(1, sizeof *w);
    CHECK(w && (w->pack = ZSTD_createCCtx()) && (w->unpack = ZSTD_createDCtx()));
    CHECK(pthread_setspecific(workspace_key, w) == 0);
    return w;
}

size_t zip_most(size_t len)
{
    return ZSTD_compressBound(len);
}

static bool is_set(ZSTD_CCtx *c, ZSTD_cParameter what, int value)
{
    return !ZSTD_isError(ZSTD_CCtx_setParameter(c, what, value));
}

/* With what was set and referred to; the context is as new afterwards. */
static bool zip_with(ZSTD_CCtx *c, const void *bytes, size_t len, struct buf *out)
{
    size_t most = ZSTD_compressBound(len), n = 0;
    buf_clear(out);
    bool ok = !ZSTD_isError(most) && buf_reserve(out, most) &&
              !ZSTD_isError(n = ZSTD_compress2(c, out->data, most, bytes, len));
    (void)ZSTD_CCtx_reset(c, ZSTD_reset_session_and_parameters); /* cannot fail */
    out->len = ok ? n : 0;
    return ok;
}

bool zip(const void *bytes, size_t len, struct buf *out)
{
    ZSTD_CCtx *c = workspace()->pack;
    return is_set(c, ZSTD_c_compressionLevel, LEVEL) && zip_with(c, bytes, len, out);
}

bool zip_digest(const void *bytes, size_t len, struct buf *out)
{
    ZSTD_CCtx *c = workspace()->pack;
    bool ok = is_set(c, ZSTD_c_compressionLevel, DIGEST_LEVEL) &&
              is_set(c, ZSTD_c_minMatch, DIGEST_MATCH) && is_set(c, ZSTD_c_checksumFlag, 1) &&
              zip_with(c, bytes, len, out);
    bool is_smaller = ok && out->len <= len - len / DIGEST_SAVES;
    return is_smaller || len == 0 || len > PLAIN_MOST ? ok : plain(bytes, len, out);
}

/* A window that reaches back over all of both, up to what every reader takes. */
static int window_for(size_t len)
{
    int log = 10;
    while (log < 27 && ((size_t)1 << log) < len)
        log++;
    return log;
}

static bool zip_with_base(ZSTD_CCtx *c, const void *bytes, size_t len, const void *base,
        size_t base_len, struct buf *out)
{
    return is_set(c, ZSTD_c_compressionLevel, DELTA_LEVEL) &&
           is_set(c, ZSTD_c_windowLog, window_for(len + base_len)) &&
           is_set(c, ZSTD_c_checksumFlag, 1) &&
           !ZSTD_isError(ZSTD_CCtx_refPrefix(c, base, base_len)) &&
           zip_with(c, bytes, len, out);
}

bool zip_delta(
        const void *bytes, size_t len, const void *base, size_t base_len, struct buf *out)
{
    return patch(bytes, len, base, base_len, out) ||
           zip_with_base(workspace()->pack, bytes, len, base, base_len, out);
}

bool zip_digest_delta(
        const void *bytes, size_t len, const void *base, size_t base_len, struct buf *out)
{
    ZSTD_CCtx *c = workspace()->pack;
    if (patch(bytes, len, base, base_len, out))
        return true;
    return is_set(c, ZSTD_c_minMatch, DIGEST_MATCH) &&
           is_set(c, ZSTD_c_targetLength, DIGEST_TARGET) &&
           zip_with_base(c, bytes, len, base, base_len, out);
}

/* Room for what a frame says it holds; false when it says nothing sensible. */
static bool make_room(const void *bytes, size_t len, struct buf *out, size_t *ret_size)
{
    unsigned long long size = ZSTD_getFrameContentSize(bytes, len);
    buf_clear(out);
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > out->max ||
            !buf_reserve(out, (size_t)size))
        return false;
    *ret_size = (size_t)size;
    return true;
}

static bool filled(struct buf *out, size_t n, size_t size)
{
    if (ZSTD_isError(n) || n != size)
        return false;
    out->len = n;
    out->data[n] = 0;
    return true;
}

bool unzip(const void *bytes, size_t len, struct buf *out)
{
    size_t size;
    return make_room(bytes, len, out, &size) &&
           filled(out, ZSTD_decompressDCtx(workspace()->unpack, out->data, size, bytes, len),
                   size);
}

bool zip_has_sum(const void *bytes, size_t len)
{
    enum { FLAGS = 4, SUM = 1 << 2 };
    const uint32_t magic = htole32(ZSTD_MAGICNUMBER);
    return len > FLAGS && memcmp(bytes, &magic, FLAGS) == 0 &&
           (((const char *)bytes)[FLAGS] & SUM);
}

bool unzip_delta(
        const void *bytes, size_t len, const void *base, size_t base_len, struct buf *out)
{
    size_t size, n = 0;
    if (!make_room(bytes, len, out, &size))
        return false;
    ZSTD_DCtx *d = workspace()->unpack;
    bool ok = !ZSTD_isError(ZSTD_DCtx_refPrefix(d, base, base_len));
    if (ok)
        n = ZSTD_decompressDCtx(d, out->data, size, bytes, len);
    (void)ZSTD_DCtx_reset(d, ZSTD_reset_session_and_parameters); /* cannot fail */
    return ok && filled(out, n, size);
}
