/* Bodies and digests are kept compressed; zstd is at home here. */
#include "store/store_int.h"
#include <zstd.h>

/* Level 3 makes a page four to five times smaller in a tenth of a millisecond; the next
 * levels cost three times as much for a tenth less. */
enum { LEVEL = 3 };

bool zip(const void *bytes, size_t len, struct buf *out)
{
    size_t most = ZSTD_compressBound(len);
    buf_clear(out);
    if (ZSTD_isError(most) || !buf_reserve(out, most))
        return false;
    size_t n = ZSTD_compress(out->data, most, bytes, len, LEVEL);
    if (ZSTD_isError(n))
        return false;
    out->len = n;
    return true;
}

bool unzip(const void *bytes, size_t len, struct buf *out)
{
    unsigned long long size = ZSTD_getFrameContentSize(bytes, len);
    buf_clear(out);
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > out->max ||
            !buf_reserve(out, (size_t)size))
        return false;
    size_t n = ZSTD_decompress(out->data, (size_t)size, bytes, len);
    if (ZSTD_isError(n) || n != size)
        return false;
    out->len = n;
    out->data[n] = 0;
    return true;
}
