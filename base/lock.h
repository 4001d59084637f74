/* lock -- a mutex with a rank.
 *
 * The list below is the whole lock order: a thread may take a lock only if its rank is
 * higher than that of every lock it holds.  Taking one out of rank stops the process.
 */
#pragma once
#include "base/check.h"
#include <pthread.h>

enum lock_rank {
    LOCK_CDG_BUCKET = 10, /* cdg: a bucket of the lock hash table */
    LOCK_POOL = 20,       /* base/pool: the queue of tasks */
    LOCK_STORE = 30,      /* store: what the writing thread and the loop share */
    LOCK_SWEEPER = 35,    /* store: which pages the sweeper has yet to see to */
    LOCK_INBOX = 40,      /* base/inbox: a queue between two threads */
    LOCK_LOG = 50,        /* base/log */
};

struct lock {
    pthread_mutex_t mutex;
    enum lock_rank rank;
    pthread_t holder;
    bool held;
};

void lock_init(struct lock *l, enum lock_rank rank);
void lock_done(struct lock *l);
void lock_take(struct lock *l);
void lock_release(struct lock *l);
void lock_assert_held(const struct lock *l);

/* Waits on `cond` with the lock given up meanwhile, like pthread_cond_wait. */
void lock_wait(struct lock *l, pthread_cond_t *cond);
/* The same, at most `ms` milliseconds; false when the time ran out. */
bool lock_wait_for(struct lock *l, pthread_cond_t *cond, int64_t ms);
