/* pool -- threads that run tasks.
 *
 * A task runs once on some thread and then calls `done` there; whoever wants the result
 * on the loop pushes it into an inbox from `run`.  Tasks start in the order given.
 * The pool keeps no order between tasks that run at once: that is what the lock hash
 * table of cdg is for.
 */
#pragma once
#include "base/list.h"

struct pool;

struct pool_task {
    struct list link;
    void (*run)(struct pool_task *task);
};

struct pool_stats {
    unsigned threads, busy;
    size_t queued;
    uint64_t done;
};

struct pool *pool_new(unsigned threads, const char *name);
/* Runs what is queued, then ends the threads and frees the pool. */
void pool_free(struct pool *p);
void pool_submit(struct pool *p, struct pool_task *task);
void pool_stats_get(struct pool *p, struct pool_stats *ret_stats);
