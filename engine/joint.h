/* joint -- one change made of what several pages found. */
#pragma once
#include "cdg/cdg.h"
#include "store/store.h"

/* All constituents in `told`, which has at least one, as one change; returns the newest.
 * `urls`: by place.  Filed under the newest one's versions; the sentinel is the caller's. */
const struct cdg_constituent *joint_merge(struct arena *a, const struct list *told,
        const struct cdg_joint_part *parts, const char *const *urls, struct store_change *ret);
