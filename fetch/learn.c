/* The learned interval: look twice as often as the page changes, as far as we know.
 *
 * A page begins at one hour.  The gaps between the changes seen are kept, the newest
 * eight, and half their weighted mean is the interval.  It must hold that
 *  (1) a change is dated by the server's Last-Modified where that is believable, that is
 *      after our last fetch and not after now, else in the middle of the two fetches;
 *  (2) three changes on three looks running, none dated by the server, mean that we
 *      probably miss some: the interval is at least halved then;
 *  (3) a page that is quiet for longer than its mean is looked at less and less; and
 *  (4) the interval is whole seconds, rounded down, inside the limits.
 *
 * A wall clock that was set back counts as standing still.
 */
#include "fetch/learn.h"
#include <string.h>

const struct fetch_learn_limits fetch_learn_defaults = {
        .first = MSEC_PER_HOUR, .least = 5 * MSEC_PER_MINUTE, .most = 7 * MSEC_PER_DAY};

static msec settle(const struct fetch_learn_limits *limits, msec p)
{
    if (!limits)
        limits = &fetch_learn_defaults;
    if (p > limits->most)
        p = limits->most;
    if (p < limits->least)
        p = limits->least;
    return p - p % MSEC_PER_SECOND; /* (4) */
}

msec fetch_learn_baseline(struct fetch_learned *l, const struct fetch_learn_limits *limits,
        msec now, msec last_modified)
{
    *l = (struct fetch_learned){
            .last_fetch = now, .last_change = last_modified <= now ? last_modified : now};
    l->interval = settle(limits, limits ? limits->first : fetch_learn_defaults.first);
    return l->interval;
}

msec fetch_learn_estimate(const struct fetch_learned *l)
{
    msec sum = 0, weights = 0, weight = 1;
    for (unsigned i = 0; i < l->ngaps && i < FETCH_LEARN_GAPS; i++, weight *= 2) {
        sum += l->gaps[i] * weight;
        weights += weight;
    }
    return weights ? sum / weights : 0;
}

static void note_gap(struct fetch_learned *l, msec gap)
{
    if (l->ngaps == FETCH_LEARN_GAPS) {
        memmove(l->gaps, l->gaps + 1, sizeof(l->gaps) - sizeof(l->gaps[0]));
        l->ngaps--;
    }
    l->gaps[l->ngaps++] = gap;
}

msec fetch_learn_changed(struct fetch_learned *l, const struct fetch_learn_limits *limits,
        msec now, msec last_modified)
{
    if (now < l->last_fetch)
        now = l->last_fetch;
    bool dated = last_modified > l->last_fetch && last_modified <= now;
    msec at = dated ? last_modified : l->last_fetch + (now - l->last_fetch) / 2; /* (1) */
    note_gap(l, at > l->last_change ? at - l->last_change : 0);
    l->last_change = at;
    l->last_fetch = now;
    l->run = last_modified == MSEC_NEVER ? l->run + 1 : 0;

    msec p = fetch_learn_estimate(l) / 2;
    if (l->run >= 3 && p > l->interval / 2)
        p = l->interval / 2; /* (2) */
    l->interval = settle(limits, p);
    return l->interval;
}

msec fetch_learn_unchanged(
        struct fetch_learned *l, const struct fetch_learn_limits *limits, msec now)
{
    if (now < l->last_fetch)
        now = l->last_fetch;
    l->last_fetch = now;
    l->run = 0;
    if (l->ngaps == 0 || now - l->last_change > fetch_learn_estimate(l))
        l->interval += l->interval / 2; /* (3) */
    l->interval = settle(limits, l->interval);
    return l->interval;
}
