/* Page readers on the loop: who reads what, for how long, and who replaces whom.
 *
 *  (1) Readings are handed out in the order they came; one that finds no idle reader goes to
 *      the one with the fewest, so that no reader waits for us between pages, and waits itself
 *      when all have as many as they take.  The memory its body holds is what makes fetching
 *      pause.  Those that find themselves behind a page that takes long are taken back, and
 *      handed out again before all others.
 *  (2) A reader has a page for the deadline and no longer (page/worker_watch.c), counted from
 *      when it is up and through with the page before: then it is killed, and the page gets an
 *      error.
 *  (3) Whatever a reader dies of is blamed on the page it was at.  Those behind it are not
 *      blamed: they are handed out again, before all others.
 *  (4) Nothing here waits: a killed reader is reaped when the kernel is through with it.
 *  (5) A reader is retired after a while, long before its limit of CPU time, so that neither
 *      leaks nor whoever might have taken one over stay for ever.
 */
#include "engine/reading.h"
#include "base/log.h"
#include <stdlib.h>
#include <unistd.h>

/* Starting one takes as much as some hundred small pages do: (5) must not cost more than they.
 */
enum { RETIRE_PAGES = 10000, RETIRE_BUSY_MS = 60000 };
/* A reader with pages waiting tells of several answers at once.  So that (2) holds for those
 * behind, and (1), it is looked after so often. */
enum { LOOK_MS = PAGE_WORKER_LOOK_MSEC };
/* An idle reader keeps the memory of large pages so long. */
enum { REST_MS = 1000 };
/* After a reader could not be started, the next attempt waits so long. */
enum { RESTART_MS = 1000 };

struct reader {
    struct list link; /* in idle, busy or dying */
    struct readers *all;
    struct page_worker *worker;
    struct loop_io io;
    int waits_for; /* of LOOP_READ and LOOP_WRITE */
    struct loop_timer look;
    struct list readings; /* while busy: what it was given, the one it is at first */
    unsigned count;       /* of them */
    bool is_timed;        /* the deadline runs, since it is up */
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

/* The kernel is told only of what is new. */
static void wait_for(struct reader *r, int events)
{
    if (r->waits_for == events)
        return;
    r->waits_for = events;
    loop_io_set(r->all->o.loop, &r->io, page_worker_fd(r->worker), events);
}

/* ---- a reader's end
 * ---------------------------------------------------------------------------
 */

static void reader_free(struct reader *r)
{
    loop_io_stop(r->all->o.loop, &r->io);
    loop_timer_stop(r->all->o.loop, &r->look);
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

/* (4) */
static void reader_kill(struct reader *r)
{
    struct readers *all = r->all;
    list_remove(&r->link);
    list_append(&all->dying, &r->link);
    all->count--;
    loop_timer_stop(all->o.loop, &r->look);
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

/* Takes the reading it is at out of the reader's hands; NULL: it has none. */
static struct reading *reading_take(struct reader *r)
{
    struct list *first = list_first(&r->readings);
    if (!first)
        return NULL;
    list_remove(first);
    r->count--;
    loop_timer_stop(r->all->o.loop, &r->look);
    msec now = clock_mono(r->all->o.clock);
    r->busy_ms += now - r->since;
    r->since = now;
    return list_entry(first, struct reading, link);
}

/* The last `n` of those it has go to where they came from. */
static void hand_back(struct reader *r, unsigned n)
{
    r->count -= n;
    for (; n > 0; n--) {
        struct list *last = r->readings.prev;
        list_remove(last);
        list_prepend(&r->all->queue, last);
        r->all->queued++;
    }
}

static void lost(struct reader *r, const struct fault *f, bool by_page)
{
    struct readers *all = r->all;
    struct reading *reading = reading_take(r);
    int pid = page_worker_pid(r->worker);
    hand_back(r, r->count); /* (3) */
    reader_kill(r);
    if (reading) {
        all->killed += by_page;
        finish(reading, f, by_page);
    } else {
        log_warn("page reader %d is replaced: %s", pid, f->message);
    }
    serve(all);
}

/* ---- a reader at work
 * -------------------------------------------------------------------------
 */

static bool is_worn(const struct reader *r) /* (5) */
{
    return page_worker_pages(r->worker) >= RETIRE_PAGES || r->busy_ms >= RETIRE_BUSY_MS;
}

static msec spent(const struct reader *r)
{
    return clock_mono(r->all->o.clock) - r->since;
}

/* A page has just begun: when to look whether it is over. */
static void watch(struct reader *r)
{
    msec first = r->all->o.deadline < LOOK_MS ? r->all->o.deadline : LOOK_MS;
    r->is_timed = page_worker_is_up(r->worker);
    msec left = r->is_timed ? first - spent(r) : PAGE_WORKER_START_MSEC;
    loop_timer_set(r->all->o.loop, &r->look, left > 0 ? left : 0);
}

/* The page it was at is answered: it goes on with the next, rests, or goes.  False: gone. */
static bool next_page(struct reader *r)
{
    if (r->count > 0) {
        watch(r);
        return true;
    }
    if (is_worn(r)) {
        reader_kill(r);
        return false;
    }
    list_remove(&r->link);
    list_append(&r->all->idle, &r->link);
    wait_for(r, LOOP_READ);
    if (page_worker_wants_rest(r->worker))
        loop_timer_set(r->all->o.loop, &r->look, REST_MS);
    return true;
}

enum state { GONE, WAITS, HAS_MORE };

static enum state answered(struct reader *r, const struct fault *f)
{
    struct readers *all = r->all;
    struct reading *reading = reading_take(r);
    if (!reading)
        return WAITS; /* it came up, and nobody waits for it */
    all->read++;
    bool stays = next_page(r);
    finish(reading, f, /* killed= */ false);
    serve(all);
    return stays ? HAS_MORE : GONE;
}

/* One turn. */
static enum state go_on(struct reader *r)
{
    struct fault f = {.code = OK};
    enum page_turn turn = page_worker_turn(r->worker, &f);
    if (r->count > 0 && !r->is_timed && page_worker_is_up(r->worker)) {
        r->since = clock_mono(r->all->o.clock);
        watch(r);
    }
    switch (turn) {
    case PAGE_TURN_WRITE:
        wait_for(r, LOOP_READ | LOOP_WRITE);
        break;
    case PAGE_TURN_READ:
        wait_for(r, LOOP_READ);
        break;
    case PAGE_TURN_DONE:
        return answered(r, &f);
    case PAGE_TURN_DEAD:
        lost(r, &f, r->is_timed);
        return GONE;
    }
    return WAITS;
}

static void ready(struct loop_io *io, int events)
{
    (void)events;
    struct reader *r = container_of(io, struct reader, io);
    while (go_on(r) == HAS_MORE)
        ;
}

/* (2) */
static void overran(struct reader *r)
{
    struct fault f = {.code = OK};
    if (r->is_timed)
        page_worker_overran(r->all->o.deadline, &f);
    else
        page_worker_did_not_start(&f);
    lost(r, &f, r->is_timed);
}

/* It has been at the same page all the time. */
static void look_after(struct reader *r)
{
    struct readers *all = r->all;
    msec left = r->is_timed ? page_worker_look(r->worker, spent(r), all->o.deadline) : 0;
    if (left <= 0) {
        overran(r);
        return;
    }
    if (all->o.most > 1)
        hand_back(r, page_worker_take_back(r->worker)); /* (1) */
    loop_timer_set(all->o.loop, &r->look, r->count > 1 && left > LOOK_MS ? LOOK_MS : left);
    serve(all);
}

static void look(struct loop_timer *t)
{
    struct reader *r = container_of(t, struct reader, look);
    uint64_t pages = page_worker_pages(r->worker);
    bool was_timed = r->is_timed;
    enum state state;
    if (r->count == 0) {
        page_worker_rest(r->worker);
        return;
    }
    while ((state = go_on(r)) == HAS_MORE) /* it is we who are late if the answer is there */
        ;
    if (state != GONE && r->count > 0 && page_worker_pages(r->worker) == pages &&
            r->is_timed == was_timed)
        look_after(r);
}

/* The caller may be in the middle of something: nothing is called back from here. */
static void hand_over(struct reader *r, struct reading *reading)
{
    struct readers *all = r->all;
    list_append(&r->readings, &reading->link);
    if (++r->count == 1) {
        list_remove(&r->link);
        list_append(&all->busy, &r->link);
        r->since = clock_mono(all->o.clock);
    }
    if (r->count == 1)
        watch(r);
    enum page_turn turn = page_worker_give(r->worker, &reading->wish);
    wait_for(r, turn == PAGE_TURN_WRITE ? LOOP_READ | LOOP_WRITE : LOOP_READ);
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
    loop_timer_init(&r->look, look);
    list_init(&r->link);
    list_init(&r->readings);
    all->count++;
    all->started++;
    list_append(&all->idle, &r->link);
    return r;
}

/* ---- who reads what
 * ---------------------------------------------------------------------------
 */

static struct reader *idle_get(struct readers *all)
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

/* A busy one that takes one more, the one with the fewest. */
static struct reader *busy_get(struct readers *all, const struct reading *reading)
{
    struct reader *best = NULL;
    list_each (pos, &all->busy) {
        struct reader *r = list_entry(pos, struct reader, link);
        if (r->is_timed && !is_worn(r) && (!best || r->count < best->count) &&
                page_worker_takes(r->worker, &reading->wish))
            best = r;
    }
    return best;
}

/* (1) */
static void serve(struct readers *all)
{
    while (!all->stopping && !list_is_empty(&all->queue)) {
        struct reading *reading = list_entry(list_first(&all->queue), struct reading, link);
        struct reader *r = idle_get(all);
        if (!r)
            r = busy_get(all, reading);
        if (!r)
            return;
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

size_t readers_pids_get(const struct readers *all, int *pids, size_t most)
{
    const struct list *both[] = {&all->idle, &all->busy};
    size_t n = 0;
    for (size_t i = 0; i < countof(both); i++) {
        list_each (pos, (struct list *)both[i])
            if (n < most)
                pids[n++] = page_worker_pid(list_entry(pos, struct reader, link)->worker);
    }
    return n;
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
        wait_for(r, LOOP_READ);
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
        hand_back(r, r->count);
        reader_kill(r);
    }
    while (!list_is_empty(&all->queue)) {
        struct list *pos = list_first(&all->queue);
        list_remove(pos);
        finish(list_entry(pos, struct reading, link), &f, /* killed= */ false);
    }
    free_all(&all->idle);
    free_all(&all->dying);
    free(all);
}
