/* Politeness, as numbers.
 *
 *  (1) Between two requests to a host there is the gap.
 *  (2) A host that says 429 or 503 is left alone as a whole: for as long as it says, else
 *      a minute, then two, then four; never longer than a day.
 *  (3) Jitter is a hash, not a die: a page keeps its place, and a test can check it.
 */
#include "fetch/polite.h"
#include "fetch/date.h"
#include "base/hash.h"
#include <string.h>

void fetch_polite_began(struct fetch_polite *p, msec now, msec gap)
{
    p->next_at = now + gap; /* (1) */
}

void fetch_polite_answered(struct fetch_polite *p, msec now, int status, msec retry_after)
{
    if (status != 429 && status != 503) {
        if (status != 0 && now >= p->stopped_until)
            p->strikes = 0;
        return;
    }
    unsigned doublings = p->strikes < 11 ? p->strikes : 11; /* 2^11 minutes are over a day */
    msec wait = retry_after > 0 ? retry_after : MSEC_PER_MINUTE << doublings;
    if (wait > FETCH_RETRY_AFTER_MAX)
        wait = FETCH_RETRY_AFTER_MAX;
    if (p->stopped_until < now + wait)
        p->stopped_until = now + wait; /* (2) */
    p->strikes++;
}

msec fetch_polite_stopped_for(const struct fetch_polite *p, msec now)
{
    return p->stopped_until > now ? p->stopped_until - now : 0;
}

msec fetch_polite_forget_at(const struct fetch_polite *p)
{
    msec strikes_until = p->strikes ? p->stopped_until + MSEC_PER_DAY : 0;
    return strikes_until > p->next_at ? strikes_until : p->next_at;
}

/* A number in [0, 2^53), the same for the same key in every process: (3). */
static uint64_t number_of(const char *key)
{
    return hash128_of(key, strlen(key)).lo >> 11;
}

static msec part_of(uint64_t number, msec span)
{
    return (msec)((unsigned __int128)number * (uint64_t)span >> 53);
}

msec fetch_jitter(const char *key, msec interval, unsigned percent)
{
    msec most = interval / 100 * percent;
    return interval - most + part_of(number_of(key), 2 * most + 1);
}
