/* When to try again, and when to give up.
 *
 *  (1) Full jitter: anything between nothing and the whole wait is as likely, so that a
 *      receiver that comes back is not met by everybody at once.
 *  (2) A receiver that says how long is obeyed.
 */
#include "notify/notify_int.h"
#include <stdio.h>

msec notify_backoff(unsigned failures, msec retry_after, uint64_t random)
{
    if (retry_after > 0)
        return retry_after; /* (2) */
    msec most = failures < 9 ? MSEC_PER_MINUTE << failures : 6 * MSEC_PER_HOUR;
    if (most > 6 * MSEC_PER_HOUR)
        most = 6 * MSEC_PER_HOUR;
    return (msec)(random % (uint64_t)most) + 1; /* (1) */
}

bool notify_is_hopeless(msec due, msec failing_since, msec now)
{
    msec since = failing_since != MSEC_NEVER && failing_since > due ? failing_since : due;
    if (failing_since == MSEC_NEVER)
        since = now; /* this is its first failure */
    return now - since >= NOTIFY_GIVE_UP_AFTER;
}

bool notify_quiet_parse(const char *text, int *ret_from, int *ret_to)
{
    unsigned h1, m1, h2, m2;
    char rest;
    *ret_from = *ret_to = 0;
    if (!*text)
        return true;
    if (sscanf(text, "%2u:%2u-%2u:%2u%c", &h1, &m1, &h2, &m2, &rest) != 4)
        return false;
    if (h1 > 23 || h2 > 24 || m1 > 59 || m2 > 59 || h2 * 60 + m2 > 24 * 60)
        return false;
    *ret_from = (int)(h1 * 60 + m1);
    *ret_to = (int)(h2 * 60 + m2);
    return true;
}
