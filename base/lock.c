#include "base/lock.h"
#include <time.h>

/* The ranks this thread holds; locks nest a few deep at most. */
enum { DEEPEST = 8 };
static _Thread_local enum lock_rank held_ranks[DEEPEST];
static _Thread_local unsigned held_count;

void lock_init(struct lock *l, enum lock_rank rank)
{
    *l = (struct lock){.rank = rank};
    CHECK(pthread_mutex_init(&l->mutex, NULL) == 0);
}

void lock_done(struct lock *l)
{
    CHECK(!l->held);
    pthread_mutex_destroy(&l->mutex);
}

static void note_taken(struct lock *l)
{
    held_ranks[held_count++] = l->rank;
    l->held = true;
    l->holder = pthread_self();
}

static void note_released(struct lock *l)
{
    lock_assert_held(l);
    l->held = false;
    CHECK(held_count > 0 && held_ranks[held_count - 1] == l->rank); /* last in, first out */
    held_count--;
}

void lock_take(struct lock *l)
{
    CHECK(held_count < DEEPEST);
    CHECK(held_count == 0 || held_ranks[held_count - 1] < l->rank); /* out of rank */
    CHECK(pthread_mutex_lock(&l->mutex) == 0);
    note_taken(l);
}

void lock_release(struct lock *l)
{
    note_released(l);
    CHECK(pthread_mutex_unlock(&l->mutex) == 0);
}

void lock_assert_held(const struct lock *l)
{
    CHECK(l->held && pthread_equal(l->holder, pthread_self()));
}

void lock_wait(struct lock *l, pthread_cond_t *cond)
{
    note_released(l);
    CHECK(pthread_cond_wait(cond, &l->mutex) == 0);
    note_taken(l);
}

bool lock_wait_for(struct lock *l, pthread_cond_t *cond, int64_t ms)
{
    struct timespec until;
    CHECK(clock_gettime(CLOCK_REALTIME, &until) == 0);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    note_released(l);
    int r = pthread_cond_timedwait(cond, &l->mutex, &until);
    note_taken(l);
    return r == 0;
}
