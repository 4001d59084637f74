/* replay -- what definitions would have told on versions that are stored.
 *
 * Nothing is changed and nothing fetched: the stored versions of each page pass once more
 * through the same graph.  A sentinel that looks on change sees all of them; one with an
 * interval sees what was current at its ticks, counted from the beginning.  FROM and TO are
 * not looked at: the question is what would have been, had it been there all the time.
 */
#pragma once
#include "base/fault.h"
#include "engine/cli.h"
#include "engine/directory.h"

struct replay_options {
    msec since; /* what was current then is the first version; MSEC_NEVER: all that is kept */
    msec now;
    msec deadline; /* for reading a body again */
    void (*told)(const struct shown_change *c, void *arg);
    void *arg;
};

struct replay_figures { /* of one sentinel */
    size_t versions;    /* it would have seen, of all its pages */
    size_t changes;
    size_t unknown;      /* comparisons that could not be made */
    const char *reason;  /* of the last of these */
    const char *without; /* a page of which nothing is kept; NULL: all have versions */
};

/* Sentinels as a plan made them, not listed.  `figures` has room for each of them. */
MUST_USE enum err replay(struct arena *life, struct store *store,
        struct sentinel *const *sentinels, size_t n, const struct replay_options *o,
        struct fault *f, struct replay_figures *figures);
