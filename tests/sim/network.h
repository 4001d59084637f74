/* network -- what network.c (pages) and post.c (receivers) share. */
#pragma once
#include "fetch/fetch.h"
#include "tests/sim/sim.h"

struct fetch {
    uint32_t tag;
    struct arena *life;
    struct loop *loop;
    struct world *world;
    struct list running;
    struct fetch_stats stats;
};
