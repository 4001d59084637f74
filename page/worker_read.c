/* One page at a time, for programs without a loop: they wait for the answer.
 *
 * To have a page read is a call then, and one processor is enough for both sides: the reader
 * runs where we did, the page still in that processor's caches, and nobody has to wake another
 * processor from its sleep, twice for each page, which takes longer than a small page does.
 * The kernel would rather put a process that is woken on a processor that is idle, so for the
 * time of the call both are bound to the one we are on.  But
 *  (1) not for longer than a usual page takes: that processor may have much else to do, and
 *  (2) whoever calls is left as he was found, and the reader too before it is used otherwise.
 */
#include "page/worker_int.h"
#include <poll.h>

struct seats {
    cpu_set_t all; /* where we were allowed to run before */
    bool is_shared;
};

static void sit_together(struct page_worker *w, struct seats *s)
{
    cpu_set_t one;
    int cpu = sched_getcpu();
    CPU_ZERO(&one);
    s->is_shared = false;
    if (!w->is_up || cpu < 0 || cpu >= CPU_SETSIZE ||
            sched_getaffinity(0, sizeof s->all, &s->all) != 0 || CPU_COUNT(&s->all) < 2)
        return;
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        return;
    s->is_shared = true;
    w->seats = s->all;
    if (w->seat != cpu + 1 && sched_setaffinity(w->pid, sizeof one, &one) == 0)
        w->seat = cpu + 1;
}

/* (2) */
static void stand_up(struct seats *s)
{
    if (s->is_shared)
        (void)sched_setaffinity(0, sizeof s->all, &s->all);
    s->is_shared = false;
}

void worker_sit_apart(struct page_worker *w)
{
    if (w->seat && w->pid > 0)
        (void)sched_setaffinity(w->pid, sizeof w->seats, &w->seats);
    w->seat = 0;
}

/* Waits for whatever comes first. */
static void pause_for(const struct page_worker *w, enum page_turn t, msec most)
{
    struct pollfd p = {w->fd, t == PAGE_TURN_WRITE ? POLLIN | POLLOUT : POLLIN, 0};
    (void)poll(&p, 1, most < 1000 ? (int)most : 1000);
}

/* Is it over with the page, or with coming up?  Else, when to look again. */
static bool is_late(struct page_worker *w, msec spent, msec deadline, msec *ret_left)
{
    if (!w->is_up)
        return (*ret_left = PAGE_WORKER_START_MSEC - spent) <= 0;
    if (spent < PAGE_WORKER_LOOK_MSEC && spent < deadline)
        *ret_left = PAGE_WORKER_LOOK_MSEC - spent;
    else
        *ret_left = page_worker_look(w, spent, deadline);
    return *ret_left <= 0;
}

enum err page_worker_read(struct page_worker *w, const struct page_wish *wish, msec deadline,
        struct fault *f, bool *ret_alive)
{
    struct fault own = {.code = OK}, after = {.code = OK};
    bool was_up = w->is_up;
    msec since = clock_mono(&clock_system), left;
    CLEANUP(stand_up) struct seats seats;

    if (!f)
        f = &own;
    *ret_alive = false;
    CHECK(w->count == 0);
    sit_together(w, &seats);
    enum page_turn t = worker_give(w, wish);
    if (!was_up || t != PAGE_TURN_READ) /* else it was asked this moment: no answer yet */
        t = page_worker_turn(w, f);
    for (;; t = page_worker_turn(w, f)) {
        if (t == PAGE_TURN_DEAD)
            return f->code;
        if (t == PAGE_TURN_DONE) { /* and its bell, so that the next poll does not hear it */
            *ret_alive = page_worker_turn(w, &after) != PAGE_TURN_DEAD;
            return f->code;
        }
        msec now = clock_mono(&clock_system);
        if (w->is_up && !was_up) {
            was_up = true;
            since = now;
        }
        if (is_late(w, now - since, deadline, &left)) {
            if (was_up)
                page_worker_overran(deadline, f);
            else
                page_worker_did_not_start(f);
            return f->code;
        }
        if (now - since >= PAGE_WORKER_LOOK_MSEC && seats.is_shared) { /* (1) */
            worker_sit_apart(w);
            stand_up(&seats);
        }
        pause_for(w, t, left);
    }
}
