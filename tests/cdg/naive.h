/* naive -- what every change type answers, computed slowly and straight from its definition.
 *
 * Shares nothing with cdg/: every sequence is compared by the full table of longest common
 * subsequences, every page is cut into words whole, every subtree is written out.  It reads
 * digests, so what it says is about comparing, not about parsing.
 */
#pragma once
#include "cdg/cdg.h"

/* "N", "U", or the changes as show_all() in oracle.c writes them. */
char *naive_answer(struct arena *life, const struct cdg_leaf *leaf,
        const struct page_digest *old, const struct page_digest *new_);
