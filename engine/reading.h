/* reading -- bodies on their way through the page readers (page/worker.h).
 *
 * Loop thread only.  A reading is the caller's struct, in the queue or with a reader until
 * `done` is called, on the loop, exactly once. */
#pragma once
#include "base/list.h"
#include "base/loop.h"
#include "base/time.h"
#include "page/worker.h"

struct reading {
    struct page_wish wish; /* what lies behind it must stay until `done` */
    void (*done)(struct reading *r);
    struct fault fault; /* code OK: it was read */
    bool killed;        /* the page cost a reader: it crashed, or took too long */
    struct list link;   /* where it waits */
};

struct readers;

struct readers_options {
    struct loop *loop;
    const struct clock *clock;
    unsigned most;       /* readers at once; 0: one for each core */
    msec deadline;       /* for one page */
    const char *program; /* that is started as a reader; NULL: this one */
};

/* Starts the first reader and waits until it is up, so that a machine that cannot confine
 * readers is found out at once; the others are started when they are needed. */
MUST_USE enum err readers_new(
        const struct readers_options *o, struct fault *f, struct readers **ret_readers);
/* What still waits or is being read comes back with a fault first.  NULL is fine. */
void readers_free(struct readers *r);

void readers_submit(struct readers *r, struct reading *reading);

struct readers_stats {
    unsigned workers, busy;
    size_t queued;
    uint64_t read, killed, started;
};
void readers_stats_get(const struct readers *r, struct readers_stats *ret_stats);
/* The processes of the idle and the busy, at most so many.  Returns their number. */
size_t readers_pids_get(const struct readers *r, int *pids, size_t most);
