/* After a failure: try again soon, then less and less soon, never later than planned.
 *
 * It must hold that
 *  (1) the k-th failure waits 2^k times 30 s, but not longer than the page's interval and
 *      not past its next tick, so that failing never makes a page be looked at less often;
 *  (2) a server that says how long to stay away is obeyed, up to a day; and
 *  (3) one 404 is not the end of a page, two on different ticks are, and it is said once.
 *      A failure that is not an answer (a timeout) neither counts nor ends the row.
 */
#include "fetch/backoff.h"
#include "fetch/date.h"

#define FIRST_STEP (30 * MSEC_PER_SECOND)

msec fetch_backoff(unsigned failures, msec interval, msec until_tick, msec retry_after)
{
    if (retry_after > 0)
        return retry_after < FETCH_RETRY_AFTER_MAX ? retry_after
                                                   : FETCH_RETRY_AFTER_MAX; /* (2) */

    msec wait = FIRST_STEP << (failures < 24 ? failures : 24); /* 2^24 steps are 15 years */
    if (wait > interval)
        wait = interval;
    if (wait > until_tick)
        wait = until_tick; /* (1) */
    return wait;
}

void fetch_gone_init(struct fetch_gone *g)
{
    *g = (struct fetch_gone){.first_tick = MSEC_NEVER};
}

bool fetch_gone_answered(struct fetch_gone *g, msec tick, bool gone)
{
    if (!gone) {
        fetch_gone_init(g);
        return false;
    }
    if (g->first_tick == MSEC_NEVER)
        g->first_tick = tick;
    if (g->is_gone || g->first_tick == tick)
        return false;
    g->is_gone = true; /* (3) */
    return true;
}
