/* pages -- what the pages of the demo site say at a given moment.  Pure. */
#pragma once
#include "base/buf.h"
#include "base/time.h"

enum web_validator { WEB_PLAIN, WEB_ETAG, WEB_LAST_MODIFIED };

struct web_page {
    enum web_validator validator; /* what the server says about its version */
    msec changed_at;              /* when it last became what it is at `now` */
};

enum { WEB_PAGE_BYTES_MAX = 64 * 1024 };

/* Writes the page; false when there is none at that path. */
bool web_page_write(const char *path, msec now, struct buf *out, struct web_page *ret_page);
