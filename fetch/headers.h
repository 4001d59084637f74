/* headers -- what of a response's header lines matters to us.
 *
 * Lines go in one at a time as they arrive; a line that makes the response one we cannot
 * read whole is refused with the reason.  No clock, no sockets.
 */
#pragma once
#include "fetch/inflate.h"
#include "base/arena.h"
#include "base/str.h"

enum { FETCH_WHY_SIZE = 400 };

struct fetch_headers {
    int status;       /* 0: no status line yet */
    bool is_complete; /* the empty line after the final status came */
    bool is_framed;   /* by the protocol itself: HTTP/2 says where a body ends */
    bool is_chunked;
    enum fetch_coding coding; /* of the body */
    bool has_length;
    uint64_t length;
    /* The server's own bytes, in the arena; NULL: none. */
    const char *etag, *last_modified, *content_type, *retry_after, *location;
    const char *repr_digest, *content_md5;
};

/* The server's own digest of the body: RFC 9530's, else the old Content-MD5; NULL: none. */
const char *fetch_headers_body_digest(const struct fetch_headers *h);

/* One line with or without its line end.  False: refused, `why` says so. */
bool fetch_headers_line(
        struct fetch_headers *h, struct arena *life, struct str line, char why[FETCH_WHY_SIZE]);
