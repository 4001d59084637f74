/* The outbox's thread: a connection that claims, settles and hears of what is newly owed.
 *
 *  (1) Jobs are done one at a time, in order, each in a transaction of its own; but what
 *      settles goes before what claims: until it is committed a kill repeats what people were
 *      told.
 *  (2) A job whose connection was lost is done again on the next one: every one of them may
 *      be done twice.
 *  (3) While the database is away, jobs wait; the writer is who says so to people and who
 *      starts a private server again.
 *  (4) After a connection was lost the loop thread is told to look, whatever it was lost at.
 */
#include "store/outbox_int.h"
#include "base/lock.h"
#include "base/crash.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct store_outbox {
    /* constant */
    struct store *store;
    struct loop *loop;
    struct store_outbox_hooks hooks;
    pthread_t thread;
    int wake_fd;
    struct loop_waker waker;

    struct lock lock;
    pthread_cond_t changed;
    /* under lock */
    struct list queue, finished;
    bool stirred;

    /* any thread */
    atomic_bool give_up;
    atomic_size_t pending;

    /* the thread */
    struct conn conn;
};

static const msec connect_within = 10 * MSEC_PER_SECOND;
static const msec longest_nap = MSEC_PER_SECOND;

static void wake_thread(struct store_outbox *o)
{
    uint64_t one = 1;
    (void)!write(o->wake_fd, &one, sizeof one); /* full means it is awake already */
}

/* ---- the loop thread's side ---- */

static void give_back(struct store_outbox *o)
{
    struct list finished = LIST_INIT(finished);
    lock_take(&o->lock);
    list_each (l, &o->finished) {
        list_remove(l);
        list_append(&finished, l);
    }
    bool stirred = o->stirred;
    o->stirred = false;
    lock_release(&o->lock);
    while (!list_is_empty(&finished)) {
        struct store_job *job = list_entry(list_first(&finished), struct store_job, link);
        list_remove(&job->link);
        atomic_fetch_sub(&o->pending, 1);
        job->done(job);
    }
    if (stirred && o->hooks.stirred)
        o->hooks.stirred(o->hooks.arg);
}

static void woken(struct loop_waker *waker)
{
    give_back(container_of(waker, struct store_outbox, waker));
}

/* What it stands before: (1). */
static struct list *place_of(struct store_outbox *o, const struct store_job *job)
{
    list_each (l, &o->queue)
        if (job->kind == STORE_JOB_SETTLE &&
                list_entry(l, struct store_job, link)->kind == STORE_JOB_CLAIM)
            return l;
    return &o->queue;
}

void store_outbox_submit(struct store_outbox *o, struct store_job *job)
{
    job->err = OK;
    job->fault = (struct fault){0};
    atomic_fetch_add(&o->pending, 1);
    lock_take(&o->lock);
    list_append(place_of(o, job), &job->link);
    lock_release(&o->lock);
    wake_thread(o);
}

/* ---- the thread ---- */

static void nap(struct store_outbox *o, msec span)
{
    msec until = clock_mono(&clock_system) + span;
    lock_take(&o->lock);
    while (!atomic_load(&o->give_up)) {
        msec left = until - clock_mono(&clock_system);
        if (left <= 0)
            break;
        lock_wait_for(&o->lock, &o->changed, left);
    }
    lock_release(&o->lock);
}

static void stir(struct store_outbox *o)
{
    lock_take(&o->lock);
    o->stirred = true;
    lock_release(&o->lock);
    loop_waker_wake(&o->waker);
}

/* False: given up.  What was said while nobody listened was not heard: (4). */
static bool reconnect(struct store_outbox *o)
{
    struct conn_target t;
    struct fault f;
    store_target(o->store, &t);
    for (msec span = 100; !atomic_load(&o->give_up);
            span = span * 2 < longest_nap ? span * 2 : longest_nap) {
        if (conn_open(&o->conn, &t, connect_within, &f) == OK &&
                conn_run(&o->conn, SQL_LISTEN_OUTBOX, NULL, &f, NULL) == OK) {
            stir(o);
            return true;
        }
        conn_close(&o->conn);
        nap(o, span);
    }
    return false;
}

static enum err attempt(struct store_outbox *o, struct store_job *job)
{
    struct fault *f = &job->fault;
    SCRATCH struct arena *scratch = arena_new(NULL, "outbox");
    if (job->kind == STORE_JOB_SETTLE)
        CRASH_POINT("before_settle");
    enum err e = conn_pipeline(&o->conn, true, f);
    if (!e)
        e = conn_run(&o->conn, SQL_BEGIN, NULL, f, NULL);
    if (!e)
        e = outbox_apply(&o->conn, job, o->store->session, scratch, f);
    CRASH_POINT("before_outbox_commit");
    if (!e)
        e = conn_run(&o->conn, SQL_COMMIT, NULL, f, NULL);
    e = e ? e : conn_pipeline(&o->conn, false, f);
    CRASH_POINT("after_outbox_commit");
    if (job->kind == STORE_JOB_SETTLE)
        CRASH_POINT("after_settle");
    if (!e && job->kind == STORE_JOB_CLAIM)
        CRASH_POINT("after_claim");
    return e;
}

/* Until it is clear what became of it: (2).  False: given up. */
static bool run(struct store_outbox *o, struct store_job *job)
{
    for (msec span = 100; !atomic_load(&o->give_up);
            span = span * 2 < longest_nap ? span * 2 : longest_nap) {
        job->err = attempt(o, job);
        if (job->err == OK)
            return true;
        switch (o->conn.trouble) {
        case CONN_LOST:
            conn_close(&o->conn);
            if (!reconnect(o))
                return false;
            break;
        case CONN_WAIT:
            conn_roll_back(&o->conn);
            nap(o, span);
            break;
        case CONN_REFUSED:
        case CONN_FINE:
            conn_roll_back(&o->conn);
            return true; /* it reports its fault */
        }
    }
    return false;
}

static struct store_job *take_job(struct store_outbox *o)
{
    lock_take(&o->lock);
    struct list *first = list_first(&o->queue);
    if (first)
        list_remove(first);
    lock_release(&o->lock);
    return first ? list_entry(first, struct store_job, link) : NULL;
}

static void finish(struct store_outbox *o, struct store_job *job)
{
    lock_take(&o->lock);
    list_append(&o->finished, &job->link);
    pthread_cond_broadcast(&o->changed);
    lock_release(&o->lock);
    loop_waker_wake(&o->waker);
}

/* Nothing to do: waits for a job or for news of something owed. */
static void idle(struct store_outbox *o)
{
    struct fault f;
    bool notified = false;
    if (conn_wait(&o->conn, o->wake_fd, MSEC_NEVER, &f, &notified) != OK) {
        conn_close(&o->conn);
        (void)reconnect(o); /* false: the thread ends, and whoever ended it knows */
    }
    if (notified)
        stir(o);
}

static void *outbox_main(void *arg)
{
    struct store_outbox *o = arg;
    while (!atomic_load(&o->give_up)) {
        uint64_t count;
        (void)!read(o->wake_fd, &count, sizeof count); /* empty is fine */
        struct store_job *job = take_job(o);
        if (!job) {
            idle(o);
        } else if (run(o, job)) {
            finish(o, job);
        } else {
            lock_take(&o->lock);
            list_prepend(&o->queue, &job->link);
            lock_release(&o->lock);
        }
    }
    return NULL;
}

/* ---- start and stop ---- */

static enum err prepare(struct store_outbox *o, const struct store_outbox_options *options,
        struct arena *life, struct fault *f, const char **ret_instance)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "outbox");
    struct conn_target t;
    RESULT r = NULL;
    store_target(o->store, &t);
    enum err e = conn_open(&o->conn, &t, connect_within, f);
    if (!e)
        e = conn_run(&o->conn, SQL_LISTEN_OUTBOX, NULL, f, NULL);
    if (!e)
        e = outbox_prepare(&o->conn, options, scratch, f);
    if (!e)
        e = conn_run(&o->conn, SQL_INSTANCE, NULL, f, &r);
    if (!e)
        *ret_instance = arena_strdup(life, PQgetvalue(r, 0, 0));
    return e;
}

static void release(struct store_outbox *o)
{
    loop_waker_stop(o->loop, &o->waker);
    conn_close(&o->conn);
    if (o->wake_fd >= 0)
        close(o->wake_fd);
    pthread_cond_destroy(&o->changed);
    lock_done(&o->lock);
    free(o);
}

/* Signals are the loop thread's business. */
static int start_thread(struct store_outbox *o)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&o->thread, NULL, outbox_main, o);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

enum err store_outbox_start(struct store *s, struct loop *loop,
        const struct store_outbox_options *options, const struct store_outbox_hooks *hooks,
        struct arena *life, struct fault *f, struct store_outbox **ret_o,
        const char **ret_instance)
{
    struct store_outbox *o = calloc(1, sizeof *o);
    CHECK(o);
    o->store = s;
    o->loop = loop;
    o->hooks = *hooks;
    list_init(&o->queue);
    list_init(&o->finished);
    lock_init(&o->lock, LOCK_STORE);
    CHECK(pthread_cond_init(&o->changed, NULL) == 0);
    o->conn.give_up = &o->give_up;
    o->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    loop_waker_init(&o->waker, woken);
    loop_waker_start(loop, &o->waker);
    enum err e = o->wake_fd < 0 ? fault_set(f, ERR_IO, "no eventfd for the outbox")
                                : prepare(o, options, life, f, ret_instance);
    int failed = e ? 0 : start_thread(o);
    if (failed)
        e = fault_set(f, ERR_IO, "cannot start the outbox's thread: %s", strerror(failed));
    if (e) {
        release(o);
        return e;
    }
    *ret_o = o;
    return OK;
}

/* What is left when the thread has ended; giving it back may submit more. */
static void fail_queued(struct store_outbox *o)
{
    do {
        lock_take(&o->lock);
        list_each (l, &o->queue) {
            struct store_job *job = list_entry(l, struct store_job, link);
            list_remove(l);
            job->err = fault_set(&job->fault, ERR_STORE, "the database did not answer in time");
            list_append(&o->finished, l);
        }
        lock_release(&o->lock);
        give_back(o);
    } while (!list_is_empty(&o->queue));
}

void store_outbox_stop(struct store_outbox *o, msec wait)
{
    msec until = clock_mono(&clock_system) + wait;
    while (atomic_load(&o->pending) > 0 && clock_mono(&clock_system) < until) {
        give_back(o);
        lock_take(&o->lock);
        if (list_is_empty(&o->finished) && atomic_load(&o->pending) > 0)
            lock_wait_for(&o->lock, &o->changed, 50);
        lock_release(&o->lock);
    }
    atomic_store(&o->give_up, true);
    lock_take(&o->lock);
    pthread_cond_broadcast(&o->changed);
    lock_release(&o->lock);
    wake_thread(o);
    CHECK(pthread_join(o->thread, NULL) == 0);
    fail_queued(o);
    release(o);
}
