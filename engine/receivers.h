/* receivers -- who is told, and how much may be under way to each of them at once.
 *
 * A receiver is what answers for many lanes: a web server, the mail server, the program.  Its
 * lanes take turns, so that it gets no more at once than it has connections for, and what waits
 * for one that hangs is still ours to let go.
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

/* The keys of those that have their share of lanes, as the store's claim knows them. */
const char *const *receivers_full(
        const struct receivers *all, struct arena *life, size_t *ret_n);
