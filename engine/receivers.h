/* receivers -- who is told, and how much may be under way to each of them at once.
 *
 * A receiver is what answers for many lanes: a web server, the mail server, the program.  Its
 * lanes take turns.
 *
 *  (1) What was sent and is not committed as sent is exposed: a kill repeats it.  So little is
 *      exposed at first, and more only as commits come back: an engine that has just started
 *      commits slowest, and one that falls again and again repeats next to nothing.  (As TCP
 *      does with a road it does not know.)
 *  (2) One that does not answer falls back to the beginning, and its lanes give their places
 *      to others.
 *
 * Loop thread only.
 */
#pragma once
#include "base/arena.h"
#include "base/list.h"
#include "base/map.h"

struct receiver {
    struct map_node node;
    struct list waiting; /* turns; the next one first */
    size_t lanes;        /* the engine works on */
    size_t flying;       /* sent and not answered */
    size_t exposed;      /* sent and not committed */
    size_t window;       /* most that may be exposed: (1) */
    char key[];
};

struct receivers {
    struct map by_key;
    size_t most_flying, most_lanes;
    size_t full; /* those with most_lanes or more */
};

void receivers_init(struct receivers *all, size_t most_flying, size_t most_lanes);
void receivers_done(struct receivers *all); /* all lanes have gone */

/* The receiver of a lane; each lane lets it go once. */
struct receiver *receiver_take(struct receivers *all, const char *method, const char *target);
void receiver_let_go(struct receivers *all, struct receiver *r);

bool receiver_has_room(const struct receivers *all, const struct receiver *r);
void receiver_sent(struct receiver *r);
void receiver_answered(struct receiver *r);
void receiver_is_away(struct receiver *r); /* (2) */
/* One that was exposed is not any more: it is committed, or could not be.  False: nobody needs
 * the receiver any more, and it is gone. */
bool receiver_settled(struct receivers *all, struct receiver *r, bool committed);

/* The keys of those that have their share of lanes, as the store's claim knows them. */
const char *const *receivers_full(
        const struct receivers *all, struct arena *life, size_t *ret_n);
