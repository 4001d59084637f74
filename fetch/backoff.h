/* backoff -- when to look again after a failure, and when a page counts as gone.  Pure. */
#pragma once
#include "base/time.h"

/* The wait after the `failures`-th failure in a row (1 is the first) of a page looked at
 * every `interval`, whose next tick comes in `until_tick` (MSEC_NEVER: none).  The server's
 * Retry-After (0: none) is obeyed up to a day, also past ticks. */
msec fetch_backoff(unsigned failures, msec interval, msec until_tick, msec retry_after);

/* Two answers of 404 or 410 in a row, on different ticks, and the page is gone. */
struct fetch_gone {
    msec first_tick; /* of the row of such answers; MSEC_NEVER: there is none */
    bool is_gone;
};

void fetch_gone_init(struct fetch_gone *g);
/* True exactly once, when the page becomes gone. */
bool fetch_gone_answered(struct fetch_gone *g, msec tick, bool gone);
