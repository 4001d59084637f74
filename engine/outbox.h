/* outbox -- the wiring between what the store owes and notify, on the engine's loop.
 *
 * It claims lanes that are due, delivers from their heads, and settles.  It knows the loop,
 * the clock and the settings, and nothing of sentinels.
 */
#pragma once
#include "base/loop.h"
#include "base/pool.h"
#include "engine/settings.h"
#include "store/store.h"

struct outbox;

struct outbox_options {
    struct loop *loop;
    struct store *store;
    struct pool *pool; /* writes feeds */
    const struct clock *clock;
    const struct settings *settings;
};

MUST_USE enum err outbox_start(struct arena *life, const struct outbox_options *o,
        struct fault *f, struct outbox **ret_outbox);
/* Delivers what is due now, for at most so long: for an engine that is about to go. */
void outbox_finish(struct outbox *o, msec wait);
/* No new deliveries; those under way get so long to be answered.  NULL is fine. */
void outbox_stop(struct outbox *o, msec patience);
/* When the pool has ended, too. */
void outbox_free(struct outbox *o);

/* Looks whether something is due now: for whoever knows that it may be, though nothing new is
 * owed, and for whoever moves the clock by hand.  NULL is fine. */
void outbox_look(struct outbox *o);

struct outbox_stats {
    uint64_t accepted, failed, dead; /* attempts */
    size_t lanes, flying;
    bool asking; /* something is under way with the database */
    bool busy;   /* the same, or with a receiver */
};
void outbox_stats_get(const struct outbox *o, struct outbox_stats *ret);
