/* learn -- how often a page that is watched "on change" should be looked at.
 *
 * Pure: the state is a small struct, time is an argument.  The state belongs to a page,
 * is shared by everybody who watches it on change, and outlives restarts as JSON text.
 * Errors do not touch it: waiting after a failure is backoff.h.
 */
#pragma once
#include "base/arena.h"
#include "base/fault.h"
#include "base/time.h"

enum { FETCH_LEARN_GAPS = 8 };

struct fetch_learned {
    msec interval;               /* p: the next look is this long after the last fetch */
    msec last_fetch;             /* wall time of the last successful fetch */
    msec last_change;            /* when the page is thought to have changed last */
    msec gaps[FETCH_LEARN_GAPS]; /* between changes, oldest first */
    unsigned ngaps;
    unsigned run; /* changed on so many looks running, without a Last-Modified */
};

struct fetch_learn_limits {
    msec first, least, most;
};

/* One hour; five minutes; seven days. */
extern const struct fetch_learn_limits fetch_learn_defaults;

/* `last_modified` is MSEC_NEVER when the server gave none.  Each returns the interval to
 * the next look.  NULL limits are the defaults. */
msec fetch_learn_baseline(struct fetch_learned *l, const struct fetch_learn_limits *limits,
        msec now, msec last_modified);
msec fetch_learn_changed(struct fetch_learned *l, const struct fetch_learn_limits *limits,
        msec now, msec last_modified);
msec fetch_learn_unchanged(
        struct fetch_learned *l, const struct fetch_learn_limits *limits, msec now);

/* The mean time between changes, weighted towards the newest; 0: not known yet. */
msec fetch_learn_estimate(const struct fetch_learned *l);

char *fetch_learn_write(const struct fetch_learned *l, struct arena *life);
MUST_USE enum err fetch_learn_read(
        const char *json, struct fault *f, struct fetch_learned *ret_learned);
