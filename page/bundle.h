/* bundle -- what bundle.c shares with the readers of this folder. */
#pragma once
#include "page/page_int.h"

enum { BUNDLE_DEPTH = 5, BUNDLE_TIMES = 200 };

/* A bundle while it is read. */
struct bundle {
    const struct page_part *parts;
    size_t count;
    unsigned depth, times;
    struct str base[BUNDLE_DEPTH + 1];               /* of the pages that are open */
    const struct page_part *shown[BUNDLE_DEPTH + 1]; /* likewise */
    enum err err;
    struct fault *f;
};

/* A frame was opened: its page goes below it. */
void bundle_fill_frame(struct build *b, uint32_t attrs, uint32_t nattrs);
MUST_USE enum err bundle_digest(
        const struct page_source *src, struct buf *out, struct fault *f);
MUST_USE enum err bundle_decode(
        const struct page_source *src, struct buf *out, struct fault *f);
