#include "base/pool.h"
#include "base/lock.h"
#include <signal.h>
#include <stdlib.h>

struct pool {
    struct lock lock;
    pthread_cond_t work;
    /* under lock */
    struct list tasks;
    size_t queued;
    unsigned busy;
    uint64_t done;
    bool ending;
    /* constant */
    unsigned nthreads;
    pthread_t threads[];
};

static void *pool_thread(void *arg)
{
    struct pool *p = arg;

    lock_take(&p->lock);
    for (;;) {
        struct list *first = list_first(&p->tasks);
        if (!first) {
            if (p->ending)
                break;
            lock_wait(&p->lock, &p->work);
            continue;
        }
        list_remove(first);
        p->queued--;
        p->busy++;
        lock_release(&p->lock);
        struct pool_task *task = list_entry(first, struct pool_task, link);
        task->run(task); /* the task may be gone after this */
        lock_take(&p->lock);
        p->busy--;
        p->done++;
    }
    lock_release(&p->lock);
    return NULL;
}

struct pool *pool_new(unsigned threads, const char *name)
{
    CHECK(threads > 0);
    struct pool *p = calloc(1, sizeof *p + threads * sizeof p->threads[0]);
    CHECK(p);
    lock_init(&p->lock, LOCK_POOL);
    CHECK(pthread_cond_init(&p->work, NULL) == 0);
    list_init(&p->tasks);
    p->nthreads = threads;

    /* Signals are the loop's business: the workers start with all of them blocked. */
    sigset_t all, before;
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
    for (unsigned i = 0; i < threads; i++) {
        CHECK(pthread_create(&p->threads[i], NULL, pool_thread, p) == 0);
        pthread_setname_np(p->threads[i], name);
    }
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    return p;
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    lock_take(&p->lock);
    p->ending = true;
    lock_release(&p->lock);
    pthread_cond_broadcast(&p->work);
    for (unsigned i = 0; i < p->nthreads; i++)
        CHECK(pthread_join(p->threads[i], NULL) == 0);
    pthread_cond_destroy(&p->work);
    lock_done(&p->lock);
    free(p);
}

void pool_submit(struct pool *p, struct pool_task *task)
{
    lock_take(&p->lock);
    CHECK(!p->ending || p->busy > 0); /* a running task may add its own successor */
    list_append(&p->tasks, &task->link);
    p->queued++;
    lock_release(&p->lock);
    pthread_cond_signal(&p->work);
}

void pool_stats_get(struct pool *p, struct pool_stats *ret_stats)
{
    lock_take(&p->lock);
    *ret_stats = (struct pool_stats){
            .threads = p->nthreads, .busy = p->busy, .queued = p->queued, .done = p->done};
    lock_release(&p->lock);
}
