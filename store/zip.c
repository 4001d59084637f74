/* Bodies and digests are kept compressed; zstd is at home here.
 *
 * A delta is an ordinary frame that was made with another body at hand (a prefix), and can
 * be read with the same body at hand only.  Two versions of a page are mostly the same bytes,
 * so the delta of one against the other is little more than what differs.
 */
#include "store/store_int.h"
#include <pthread.h>
#include <stdlib.h>
#include <zstd.h>

/* Level 2 makes a page three to six times smaller in a tenth of a millisecond; level 3 takes
 * half as long again for a fiftieth less, and the newest body is a delta of its successor soon.
 */
enum { LEVEL = 2, DELTA_LEVEL = 3 };

/* For digests, which are gone when nobody compares with their version any more. */
enum { QUICK_LEVEL = -1 };

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

static bool zip_at(const void *bytes, size_t len, int level, struct buf *out)
{
    size_t most = ZSTD_compressBound(len);
    buf_clear(out);
    if (ZSTD_isError(most) || !buf_reserve(out, most))
        return false;
    size_t n = ZSTD_compressCCtx(workspace()->pack, out->data, most, bytes, len, level);
    if (ZSTD_isError(n))
        return false;
    out->len = n;
    return true;
}

bool zip(const void *bytes, size_t len, struct buf *out)
{
    return zip_at(bytes, len, LEVEL, out);
}

bool zip_quickly(const void *bytes, size_t len, struct buf *out)
{
    return zip_at(bytes, len, QUICK_LEVEL, out);
}

/* A window that reaches back over all of both, up to what every reader takes. */
static int window_for(size_t len)
{
    int log = 10;
    while (log < 27 && ((size_t)1 << log) < len)
        log++;
    return log;
}

bool zip_delta(
        const void *bytes, size_t len, const void *base, size_t base_len, struct buf *out)
{
    size_t most = ZSTD_compressBound(len), n = 0;
    buf_clear(out);
    if (ZSTD_isError(most) || !buf_reserve(out, most))
        return false;
    ZSTD_CCtx *c = ZSTD_createCCtx();
    bool ok = c &&
              !ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, DELTA_LEVEL)) &&
              !ZSTD_isError(ZSTD_CCtx_setParameter(
                      c, ZSTD_c_windowLog, window_for(len + base_len))) &&
              !ZSTD_isError(ZSTD_CCtx_refPrefix(c, base, base_len)) &&
              !ZSTD_isError(n = ZSTD_compress2(c, out->data, most, bytes, len));
    ZSTD_freeCCtx(c);
    out->len = ok ? n : 0;
    return ok;
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

bool unzip_delta(
        const void *bytes, size_t len, const void *base, size_t base_len, struct buf *out)
{
    size_t size, n = 0;
    if (!make_room(bytes, len, out, &size))
        return false;
    ZSTD_DCtx *d = ZSTD_createDCtx();
    bool ok = d && !ZSTD_isError(ZSTD_DCtx_refPrefix(d, base, base_len));
    if (ok)
        n = ZSTD_decompressDCtx(d, out->data, size, bytes, len);
    ZSTD_freeDCtx(d);
    return ok && filled(out, n, size);
}
