/* A frame that holds its contents as they are, so that they can be used where they stand.
 *
 * What hardly shrinks costs more to unpack than to carry.  The digest of a key is read with
 * every version that differs from it, so it is kept like this (see zip.c, which decides): a
 * zstd frame (RFC 8878) of one raw block behind a head of a fixed shape, read by the same
 * decoder as any other.
 *
 * The sum behind the contents is left to that decoder.  Whoever uses them in place must find
 * out otherwise whether they are damaged: what is put together with a delta has a sum of its
 * own (zip_has_sum).
 */
#include "store/store_int.h"
#include "base/hash.h"
#include <endian.h>
#include <string.h>

struct head {
    uint32_t magic;
    uint8_t flags;
    uint32_t len;
    uint8_t block[3];
} __attribute__((packed));

enum { HEAD_BYTES = sizeof(struct head), SUM_BYTES = 4 };

static struct head head_for(size_t len)
{
    uint32_t block = 1 | (uint32_t)len << 3; /* the last one, raw */
    return (struct head){
            .magic = htole32(0xFD2FB528),
            .flags = 2 << 6 | 1 << 5 | 1 << 2, /* length in four bytes; one segment; a sum */
            .len = htole32((uint32_t)len),
            .block = {block & 0xff, block >> 8 & 0xff, block >> 16 & 0xff},
    };
}

bool plain(const void *bytes, size_t len, struct buf *out)
{
    if (len == 0 || len > PLAIN_MOST)
        return false;
    struct head head = head_for(len);
    uint32_t sum = htole32(hash_zstd_sum(bytes, len));
    buf_clear(out);
    buf_append(out, &head, sizeof head);
    buf_append(out, bytes, len);
    buf_append(out, &sum, sizeof sum);
    return !out->overflowed;
}

const char *plain_contents(const void *bytes, size_t len, size_t *ret_len)
{
    if (len <= HEAD_BYTES + SUM_BYTES || len > HEAD_BYTES + PLAIN_MOST + SUM_BYTES)
        return NULL;
    size_t inside = len - HEAD_BYTES - SUM_BYTES;
    struct head head = head_for(inside);
    if (memcmp(bytes, &head, sizeof head) != 0)
        return NULL;
    *ret_len = inside;
    return (const char *)bytes + HEAD_BYTES;
}
