/* Page readers on the loop: who reads what, for how long, and who replaces whom.
 *
 *  (1) Readings are begun in the order they came; one that finds no idle reader waits, and the
 *      memory its body holds is what makes fetching pause.
 *  (2) A reader has a page for the deadline and no longer, counted from when it is up: then it
 *      is killed, the page gets an error, and the next reading a fresh reader.
 *  (3) Nothing here waits: a killed reader is reaped when the kernel is through with it.
 *  (4) A reader is retired after a while, long before its limit of CPU time, so that neither
 *      leaks nor whoever might have taken one over stay for ever.
 */
#include "engine/reading.h"
#include "base/log.h"
#include <stdlib.h>
#include <unistd.h>

enum { RETIRE_PAGES = 1000, RETIRE_BUSY_MS = 60000 };
/* After a reader could not be started, the next attempt waits so long. */
enum { RESTART_MS = 1000 };

struct reader {
    struct list link; /* in idle, busy or dying */
    struct readers *all;
    struct page_worker *worker;
    struct loop_io io;
    struct loop_timer overrun;
    struct reading *reading; /* while busy */
    bool is_timed;           /* the deadline runs, since it is up */
    msec since, busy_ms;
};

struct readers {
    struct readers_options o;
    struct list idle, busy, dying, queue;
    unsigned count; /* idle and busy */
    size_t queued;
    uint64_t read, killed, started;
    struct loop_timer restart;
    bool stopping;
};

static void serve(struct readers *all);

/* ---- a reader's end
 * ---------------------------------------------------------------------------
 */

static void reader_free(struct reader *r)
{
    loop_io_stop(r->all->o.loop, &r->io);
    loop_timer_stop(r->all->o.loop, &r->overrun);
    list_remove(&r->link);
    page_worker_free(r->worker);
    free(r);
}

static void last_breath(struct loop_io *io, int events)
{
    (void)events;
    struct reader *r = container_of(io, struct reader, io);
    if (page_worker_is_gone(r->worker))
        reader_free(r);
}

/* (3) */
static void reader_kill(struct reader *r)
{
    struct readers *all = r->all;
    list_remove(&r->link);
    list_append(&all->dying, &r->link);
    all->count--;
    loop_timer_stop(all->o.loop, &r->overrun);
    loop_io_stop(all->o.loop, &r->io);
    page_worker_kill(r->worker);
    if (page_worker_is_gone(r->worker)) {
        reader_free(r);
        return;
    }
    loop_io_init(&r->io, last_breath);
    loop_io_set(all->o.loop, &r->io, page_worker_fd(r->worker), LOOP_READ);
}

/* ---- a reading's end
 * --------------------------------------------------------------------------
 */

static void finish(struct reading *reading, const struct fault *f, bool killed)
{
    reading->fault = *f;
    reading->killed = killed;
    reading->done(reading);
}

/* Takes the reading out of the reader's hands, which is busy no more. */
static struct reading *reading_take(struct reader *r)
{
    struct reading *reading = r->reading;
    r->reading = NULL;
    loop_timer_stop(r->all->o.loop, &r->overrun);
    r->busy_ms += clock_mono(r->all->o.clock) - r->since;
    return reading;
}

static void lost(struct reader *r, const struct fault *f, bool by_page)
{
    struct readers *all = r->all;
    struct reading *reading = r->reading ? reading_take(r) : NULL;
    int pid = page_worker_pid(r->worker);
    reader_kill(r);
    if (reading) {
        all->killed += by_page;
        finish(reading, f, by_page);
    } else {
        log_warn("page reader %d is replaced: %s", pid, f->message);
    }
    serve(all);
}

static void overran(struct loop_timer *t)
{
    struct reader *r = container_of(t, struct reader, overrun);
    struct fault f = {.code = OK};
    if (r->is_timed)
        page_worker_overran(r->all->o.deadline, &f); /* (2) */
    else
        page_worker_did_not_start(&f);
    lost(r, &f, r->is_timed);
}

/* ---- a reader at work
 * -------------------------------------------------------------------------
 */

static void rest(struct reader *r)
{
    struct readers *all = r->all;
    if (page_worker_pages(r->worker) >= RETIRE_PAGES ||
            r->busy_ms >= RETIRE_BUSY_MS) { /* (4) */
        reader_kill(r);
        return;
    }
    list_remove(&r->link);
    list_append(&all->idle, &r->link);
    loop_io_set(all->o.loop, &r->io, page_worker_fd(r->worker), LOOP_READ);
}

static void go_on(struct reader *r)
{
    struct readers *all = r->all;
    struct fault f = {.code = OK};
    enum page_turn turn = page_worker_turn(r->worker, &f);
    if (r->reading && !r->is_timed && page_worker_is_up(r->worker)) {
        r->is_timed = true;
        loop_timer_set(all->o.loop, &r->overrun, all->o.deadline);
    }
    switch (turn) {
    case PAGE_TURN_WRITE:
        loop_io_set(all->o.loop, &r->io, page_worker_fd(r->worker), LOOP_READ | LOOP_WRITE);
        break;
    case PAGE_TURN_READ:
        loop_io_set(all->o.loop, &r->io, page_worker_fd(r->worker), LOOP_READ);
        break;
    case PAGE_TURN_DONE:
        if (r->reading) {
            struct reading *reading = reading_take(r);
            all->read++;
            rest(r);
            finish(reading, &f, /* killed= */ false);
            serve(all);
        }
        break;
    case PAGE_TURN_DEAD:
        lost(r, &f, r->is_timed);
        break;
    }
}

static void ready(struct loop_io *io, int events)
{
    (void)events;
    go_on(container_of(io, struct reader, io));
}

static void hand_over(struct reader *r, struct reading *reading)
{
    struct readers *all = r->all;
    list_remove(&r->link);
    list_append(&all->busy, &r->link);
    r->reading = reading;
    r->since = clock_mono(all->o.clock);
    page_worker_give(r->worker, &reading->wish);
    r->is_timed = page_worker_is_up(r->worker);
    loop_timer_set(all->o.loop, &r->overrun,
            r->is_timed ? all->o.deadline : (msec)PAGE_WORKER_START_MSEC);
    /* The caller may be in the middle of something: nothing is called back from here. */
    loop_io_set(all->o.loop, &r->io, page_worker_fd(r->worker), LOOP_READ | LOOP_WRITE);
}

static struct reader *reader_new(struct readers *all, struct fault *f)
{
    struct page_worker *w;
    if (page_worker_start(all->o.program, f, &w) != OK)
        return NULL;
    struct reader *r = calloc(1, sizeof *r);
    CHECK(r);
    r->all = all;
    r->worker = w;
    loop_io_init(&r->io, ready);
    loop_timer_init(&r->overrun, overran);
    list_init(&r->link);
    all->count++;
    all->started++;
    list_append(&all->idle, &r->link);
    return r;
}

/* ---- who reads what
 * ---------------------------------------------------------------------------
 */

static struct reader *reader_get(struct readers *all)
{
    struct list *first = list_first(&all->idle);
    struct fault f = {.code = OK};
    if (first)
        return list_entry(first, struct reader, link);
    if (all->count >= all->o.most || loop_timer_is_set(&all->restart))
        return NULL;
    struct reader *r = reader_new(all, &f);
    if (!r) {
        log_error("%s; tried again in a second", f.message);
        loop_timer_set(all->o.loop, &all->restart, RESTART_MS);
    }
    return r;
}

/* (1) */
static void serve(struct readers *all)
{
    struct reader *r;
    while (!all->stopping && !list_is_empty(&all->queue) && (r = reader_get(all))) {
        struct reading *reading = list_entry(list_first(&all->queue), struct reading, link);
        list_remove(&reading->link);
        all->queued--;
        hand_over(r, reading);
    }
}

static void try_again(struct loop_timer *t)
{
    serve(container_of(t, struct readers, restart));
}

void readers_submit(struct readers *all, struct reading *reading)
{
    list_init(&reading->link);
    list_append(&all->queue, &reading->link);
    all->queued++;
    serve(all);
}

void readers_stats_get(const struct readers *all, struct readers_stats *ret_stats)
{
    unsigned busy = 0;
    list_each (pos, (struct list *)&all->busy)
        busy++;
    *ret_stats = (struct readers_stats){
            .workers = all->count,
            .busy = busy,
            .queued = all->queued,
            .read = all->read,
            .killed = all->killed,
            .started = all->started,
    };
}

/* ---- start and stop
 * ---------------------------------------------------------------------------
 */

/* Reads an empty page: whoever can do that is up and confined. */
static enum err try_first(struct readers *all, struct fault *f)
{
    struct reader *r = reader_new(all, f);
    BUF(digest, PAGE_DIGEST_MAX);
    struct page_wish wish = {.source = {"", 0, "text/plain", NULL}, .digest = &digest};
    bool alive = false;
    if (!r)
        return f->code;
    enum err e = page_worker_read(r->worker, &wish, PAGE_WORKER_START_MSEC, f, &alive);
    if (e == OK)
        loop_io_set(all->o.loop, &r->io, page_worker_fd(r->worker), LOOP_READ);
    return e;
}

enum err readers_new(
        const struct readers_options *o, struct fault *f, struct readers **ret_readers)
{
    struct readers *all = calloc(1, sizeof *all);
    CHECK(all);
    all->o = *o;
    if (!all->o.most) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        all->o.most = cores > 0 ? (unsigned)cores : 1;
    }
    list_init(&all->idle);
    list_init(&all->busy);
    list_init(&all->dying);
    list_init(&all->queue);
    loop_timer_init(&all->restart, try_again);
    enum err e = try_first(all, f);
    if (e != OK) {
        readers_free(all);
        return e;
    }
    *ret_readers = all;
    return OK;
}

static void free_all(struct list *readers)
{
    list_each (pos, readers)
        reader_free(list_entry(pos, struct reader, link));
}

void readers_free(struct readers *all)
{
    struct fault f = {.code = OK};
    if (!all)
        return;
    all->stopping = true;
    fault_set(&f, ERR_BUSY, "the page was not read: the engine stops");
    loop_timer_stop(all->o.loop, &all->restart);
    list_each (pos, &all->busy) {
        struct reader *r = list_entry(pos, struct reader, link);
        struct reading *reading = reading_take(r);
        reader_kill(r);
        finish(reading, &f, /* killed= */ false);
    }
    list_each (pos, &all->queue) {
        list_remove(pos);
        finish(list_entry(pos, struct reading, link), &f, /* killed= */ false);
    }
    free_all(&all->idle);
    free_all(&all->dying);
    free(all);
}
