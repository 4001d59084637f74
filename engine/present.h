/* present -- a stored change as people look at it: `vigil diff`. */
#pragma once
#include "engine/telling.h"
#include "store/store.h"

/* The lines of a page as a person reads it: blocks of text, rows of tables, images. */
size_t present_lines(
        struct arena *life, const void *digest, size_t bytes, struct notify_line **ret_lines);

/* Fills the item's parts with both versions laid beside each other; when only what changed is
 * to be seen, with what its lists speak of where it stands in the page.  False: one of the
 * versions is not there any more. */
bool present_versions(struct arena *life, struct store *s, int64_t page_id, int64_t old_version,
        int64_t new_version, struct notify_item *item);
/* The same from lines that were read already. */
void present_pair(struct arena *life, const struct notify_line *old, size_t nold,
        const struct notify_line *now, size_t nnow, struct notify_item *item);
/* Whether the versions show more than the lists do. */
bool present_wants_versions(const struct notify_item *item);
