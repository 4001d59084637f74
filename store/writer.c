/* The loop thread's side of the writing thread: jobs go out, results, requests and the state
 * of the database come back.
 *
 *  (1) A job belongs to the submitter, then to the thread, then to the submitter again; it
 *      is on exactly one list on its way.
 *  (2) Nothing here waits, except store_writer_stop.
 *  (3) The private server is started from this thread and no other: it is tied to the life
 *      of the thread that forks it.
 */
#include "store/writer.h"
#include "base/str.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

static void wake_thread(struct store_writer *w)
{
    uint64_t one = 1;
    (void)!write(w->wake_fd, &one, sizeof one); /* full means it is awake already */
}

/* Moves a whole list to the end of another one. */
static void splice(struct list *to, struct list *from)
{
    list_each (l, from) {
        list_remove(l);
        list_append(to, l);
    }
}

void writer_give_back(struct store_writer *w, struct list *jobs)
{
    lock_take(&w->lock);
    splice(&w->finished, jobs);
    pthread_cond_broadcast(&w->changed);
    lock_release(&w->lock);
    loop_waker_wake(&w->waker);
}

static size_t return_jobs(struct store_writer *w, struct list *finished)
{
    size_t n = 0;
    while (!list_is_empty(finished)) {
        struct store_job *job = list_entry(list_first(finished), struct store_job, link);
        list_remove(&job->link);
        atomic_fetch_sub(&w->pending, 1);
        n++;
        if (job->done)
            job->done(job);
    }
    return n;
}

static void tell_requests(struct store_writer *w, struct list *asked)
{
    while (!list_is_empty(asked)) {
        struct asked *a = list_entry(list_first(asked), struct asked, link);
        list_remove(&a->link);
        if (w->hooks.requested)
            w->hooks.requested(&a->request, w->hooks.arg);
        free(a);
    }
}

/* (3): the thread asked, and waits for the answer. */
static void see_to_server(struct store_writer *w)
{
    struct fault f = {0};
    lock_take(&w->lock);
    bool wanted = w->wants_server;
    lock_release(&w->lock);
    if (!wanted)
        return;
    if (embedded_ensure(w->store->embedded, &f) == OK)
        f = (struct fault){0};
    lock_take(&w->lock);
    w->wants_server = false;
    w->server_seen_to = true;
    w->server_fault = f;
    pthread_cond_broadcast(&w->changed);
    lock_release(&w->lock);
}

static void deliver(struct store_writer *w)
{
    struct list finished, asked;
    char why[sizeof w->why];
    list_init(&finished);
    list_init(&asked);
    lock_take(&w->lock);
    splice(&finished, &w->finished);
    splice(&asked, &w->asked);
    bool available = w->available, for_good = w->for_good;
    str_copy(why, sizeof why, w->why);
    lock_release(&w->lock);

    if (available != w->told_available || for_good != w->told_for_good ||
            (!available && strcmp(why, w->told_why) != 0)) {
        str_copy(w->told_why, sizeof w->told_why, why);
        w->told_available = available;
        w->told_for_good = for_good;
        if (w->hooks.availability)
            w->hooks.availability(available, available ? "" : why, w->hooks.arg);
    }
    return_jobs(w, &finished);
    tell_requests(w, &asked);
}

static void woken(struct loop_waker *waker)
{
    struct store_writer *w = container_of(waker, struct store_writer, waker);
    see_to_server(w);
    deliver(w);
}

/* Signals are the loop thread's business. */
static int start_thread(struct store_writer *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&w->thread, NULL, writer_main, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static void release(struct store_writer *w)
{
    loop_waker_stop(w->loop, &w->waker);
    conn_close(&w->conn);
    close(w->wake_fd);
    free(w->delivered);
    pthread_cond_destroy(&w->changed);
    lock_done(&w->lock);
    free(w);
}

enum err store_writer_start(struct store *s, struct loop *loop,
        const struct store_writer_hooks *hooks, struct fault *f, struct store_writer **ret_w)
{
    CHECK(s->options.role == STORE_ENGINE && !s->has_writer);
    struct store_writer *w = calloc(1, sizeof *w);
    CHECK(w);
    w->store = s;
    w->loop = loop;
    w->hooks = *hooks;
    w->available = w->told_available = true;
    w->look_for_requests = true;
    list_init(&w->queue);
    list_init(&w->finished);
    list_init(&w->asked);
    lock_init(&w->lock, LOCK_STORE);
    CHECK(pthread_cond_init(&w->changed, NULL) == 0);
    CHECK(getrandom(&w->jitter, sizeof w->jitter, 0) == (ssize_t)sizeof w->jitter);
    w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    loop_waker_init(&w->waker, woken);
    loop_waker_start(loop, &w->waker);

    /* The connection that holds the engine's lock is the one that writes; a reader gets
     * another one when it asks. */
    w->conn = s->conn;
    w->conn.give_up = &w->give_up;
    w->lock_backend = w->conn.backend;
    s->conn = (struct conn){0};
    int failed = w->wake_fd < 0 ? errno : start_thread(w);
    if (failed) {
        release(w);
        return fault_set(f, ERR_IO, "cannot start the writing thread: %s", strerror(failed));
    }
    s->has_writer = true;
    *ret_w = w;
    return OK;
}

void store_writer_submit(struct store_writer *w, struct store_job *job)
{
    job->err = OK;
    job->fault = (struct fault){0};
    atomic_fetch_add(&w->pending, 1);
    lock_take(&w->lock);
    bool too_late = w->ended;
    list_append(too_late ? &w->finished : &w->queue, &job->link);
    lock_release(&w->lock);
    if (too_late)
        job->err = fault_set(&job->fault, ERR_STORE, "the engine is stopping");
    else
        wake_thread(w);
}

size_t store_writer_pending(const struct store_writer *w)
{
    return atomic_load(&w->pending);
}

bool store_writer_is_available(const struct store_writer *w)
{
    return w->told_available;
}

/* Waits until the thread has nothing left to do; what it finished is given back meanwhile,
 * and may submit more. */
static void drain(struct store_writer *w, msec until)
{
    while (store_writer_pending(w) > 0) {
        see_to_server(w);
        deliver(w);
        msec left = until - clock_mono(&clock_system);
        if (left <= 0)
            break;
        lock_take(&w->lock);
        if (list_is_empty(&w->finished) && !w->wants_server && atomic_load(&w->pending) > 0)
            lock_wait_for(&w->lock, &w->changed, left < 100 ? left : 100);
        lock_release(&w->lock);
    }
}

size_t store_writer_stop(struct store_writer *w, msec wait)
{
    drain(w, clock_mono(&clock_system) + wait);
    atomic_store(&w->give_up, true);
    lock_take(&w->lock);
    w->stopping = true;
    pthread_cond_broadcast(&w->changed);
    lock_release(&w->lock);
    wake_thread(w);
    CHECK(pthread_join(w->thread, NULL) == 0);
    deliver(w);

    lock_take(&w->lock);
    w->ended = true;
    struct list left;
    list_init(&left);
    splice(&left, &w->queue);
    lock_release(&w->lock);
    list_each (l, &left) {
        struct store_job *job = list_entry(l, struct store_job, link);
        job->err = fault_set(&job->fault, ERR_STORE, "given up: %s",
                w->why[0] ? w->why : "the database did not answer in time");
    }
    size_t given_up = return_jobs(w, &left);
    given_up += return_jobs(w, &w->finished); /* submitted by those just given up */
    w->store->has_writer = false;
    release(w);
    return given_up;
}
