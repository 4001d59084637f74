/* inflate -- compressed bodies, decoded by us so that we see both sizes and the end.
 *
 * libcurl could do this, but it does not say whether a compressed body was complete, and
 * it decodes as many layers as a server likes to name.
 */
#pragma once
#include "base/buf.h"
#include "base/str.h"

enum fetch_coding {
    FETCH_CODING_NONE,
    FETCH_CODING_GZIP,
    FETCH_CODING_BROTLI,
    FETCH_CODING_ZSTD,
    FETCH_CODING_COUNT
};

/* What we ask for, as Accept-Encoding says it. */
#define FETCH_CODINGS "gzip, br, zstd"

/* By the name in Content-Encoding; false: it is none of ours. */
bool fetch_coding_of(struct str name, enum fetch_coding *ret_coding);

enum fetch_inflate_result {
    FETCH_INFLATE_OK,
    FETCH_INFLATE_BROKEN, /* not what it says it is, or damaged */
    FETCH_INFLATE_FULL,   /* the buffer's maximum was reached */
    FETCH_INFLATE_BOMB,   /* more than 200 bytes out of each byte in */
    FETCH_INFLATE_RESULT_COUNT
};

struct fetch_inflate {
    enum fetch_coding coding;
    void *decoder; /* NULL until something came */
    bool is_complete;
    uint64_t in_bytes;
};

/* All zero is one that was never used, too. */
void fetch_inflate_init(struct fetch_inflate *in, enum fetch_coding coding);
void fetch_inflate_done(struct fetch_inflate *in); /* also when never used */

enum fetch_inflate_result fetch_inflate(
        struct fetch_inflate *in, const void *bytes, size_t len, struct buf *out);

/* Did the compressed stream end where it says it ends?  Nothing at all is an empty body. */
bool fetch_inflate_is_complete(const struct fetch_inflate *in);
