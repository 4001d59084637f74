#include "base/loop.h"
#include "base/heap.h"
#include <ev.h>
#include <stdlib.h>

struct loop {
    struct ev_loop *ev;
    const struct clock *clock; /* NULL: timers are libev's */
    struct heap timers;        /* on a clock: struct clocked */
    uint64_t set;              /* how many were; equal deadlines expire in that order */
};

/* A timer is libev's or, on a clock, an entry in our own heap. */
struct clocked {
    struct ev_timer ev;
    struct heap_node due;
    struct loop_timer *timer;
};

_Static_assert(sizeof(struct ev_io) <= sizeof(struct loop_space), "room for ev_io");
_Static_assert(sizeof(struct clocked) <= sizeof(struct loop_space), "room for a timer");
_Static_assert(sizeof(struct ev_signal) <= sizeof(struct loop_space), "room for ev_signal");
_Static_assert(sizeof(struct ev_async) <= sizeof(struct loop_space), "room for ev_async");

struct loop *loop_new(void)
{
    struct loop *l = calloc(1, sizeof *l);
    CHECK(l);
    l->ev = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
    CHECK(l->ev);
    heap_init(&l->timers);
    return l;
}

struct loop *loop_new_on_clock(const struct clock *clock)
{
    struct loop *l = loop_new();
    l->clock = clock;
    return l;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    ev_loop_destroy(l->ev);
    heap_done(&l->timers);
    free(l);
}

void loop_run(struct loop *l)
{
    CHECK(!l->clock);
    ev_run(l->ev, 0);
}

/* Those that are due now; what they set for now waits for the next round. */
static bool expire_due(struct loop *l)
{
    uint64_t until = l->set;
    bool any = false;
    for (;;) {
        struct heap_node *n = heap_min(&l->timers);
        if (!n || n->at > clock_mono(l->clock) || n->order >= until)
            return any;
        heap_remove(&l->timers, n);
        struct loop_timer *t = container_of(n, struct clocked, due)->timer;
        t->expired(t);
        any = true;
    }
}

void loop_run_once(struct loop *l)
{
    bool any = l->clock && expire_due(l);
    ev_run(l->ev, any ? EVRUN_NOWAIT : EVRUN_ONCE);
}

msec loop_next_timer(const struct loop *l)
{
    const struct heap_node *n = heap_min(&l->timers);
    return n ? n->at : MSEC_NEVER;
}

void loop_stop(struct loop *l)
{
    ev_break(l->ev, EVBREAK_ALL);
}

/* libev's watcher is the first thing in `space`, and its data pointer leads back to us. */

#define WATCHER(source, type) ((struct type *)(void *)(source)->space.bytes)

static void io_cb(struct ev_loop *ev, struct ev_io *w, int revents)
{
    (void)ev;
    struct loop_io *io = w->data;
    io->ready(io, (revents & EV_READ ? LOOP_READ : 0) | (revents & EV_WRITE ? LOOP_WRITE : 0));
}

void loop_io_init(struct loop_io *io, void (*ready)(struct loop_io *, int events))
{
    io->ready = ready;
    struct ev_io *w = WATCHER(io, ev_io);
    ev_io_init(w, io_cb, -1, 0);
    w->data = io;
}

void loop_io_set(struct loop *l, struct loop_io *io, int fd, int events)
{
    struct ev_io *w = WATCHER(io, ev_io);
    ev_io_stop(l->ev, w);
    ev_io_set(w, fd, (events & LOOP_READ ? EV_READ : 0) | (events & LOOP_WRITE ? EV_WRITE : 0));
    ev_io_start(l->ev, w);
}

void loop_io_stop(struct loop *l, struct loop_io *io)
{
    ev_io_stop(l->ev, WATCHER(io, ev_io));
}

static void timer_cb(struct ev_loop *ev, struct ev_timer *w, int revents)
{
    (void)ev, (void)revents;
    struct loop_timer *t = w->data;
    t->expired(t);
}

void loop_timer_init(struct loop_timer *t, void (*expired)(struct loop_timer *))
{
    t->expired = expired;
    struct clocked *c = WATCHER(t, clocked);
    ev_timer_init(&c->ev, timer_cb, 0., 0.);
    c->ev.data = t;
    heap_node_init(&c->due);
    c->timer = t;
}

void loop_timer_set(struct loop *l, struct loop_timer *t, msec after)
{
    struct clocked *c = WATCHER(t, clocked);
    if (after < 0)
        after = 0;
    if (l->clock) {
        heap_set(&l->timers, &c->due, clock_mono(l->clock) + after, l->set++);
        return;
    }
    ev_timer_stop(l->ev, &c->ev);
    ev_now_update(l->ev); /* a long callback must not shorten what starts after it */
    ev_timer_set(&c->ev, (double)after / 1000., 0.);
    ev_timer_start(l->ev, &c->ev);
}

void loop_timer_stop(struct loop *l, struct loop_timer *t)
{
    struct clocked *c = WATCHER(t, clocked);
    heap_remove(&l->timers, &c->due);
    ev_timer_stop(l->ev, &c->ev);
}

bool loop_timer_is_set(const struct loop_timer *t)
{
    const struct clocked *c = (const struct clocked *)(const void *)t->space.bytes;
    return heap_node_is_in(&c->due) || ev_is_active(&c->ev);
}

static void signal_cb(struct ev_loop *ev, struct ev_signal *w, int revents)
{
    (void)ev, (void)revents;
    struct loop_signal *s = w->data;
    s->raised(s, w->signum);
}

void loop_signal_init(struct loop_signal *s, void (*raised)(struct loop_signal *, int signum))
{
    s->raised = raised;
    struct ev_signal *w = WATCHER(s, ev_signal);
    ev_signal_init(w, signal_cb, 0);
    w->data = s;
}

void loop_signal_start(struct loop *l, struct loop_signal *s, int signum)
{
    struct ev_signal *w = WATCHER(s, ev_signal);
    ev_signal_set(w, signum);
    ev_signal_start(l->ev, w);
}

void loop_signal_stop(struct loop *l, struct loop_signal *s)
{
    ev_signal_stop(l->ev, WATCHER(s, ev_signal));
}

static void waker_cb(struct ev_loop *ev, struct ev_async *w, int revents)
{
    (void)ev, (void)revents;
    struct loop_waker *waker = w->data;
    waker->woken(waker);
}

void loop_waker_init(struct loop_waker *w, void (*woken)(struct loop_waker *))
{
    w->woken = woken;
    w->loop = NULL;
    struct ev_async *a = WATCHER(w, ev_async);
    ev_async_init(a, waker_cb);
    a->data = w;
}

void loop_waker_start(struct loop *l, struct loop_waker *w)
{
    w->loop = l;
    ev_async_start(l->ev, WATCHER(w, ev_async));
}

void loop_waker_stop(struct loop *l, struct loop_waker *w)
{
    ev_async_stop(l->ev, WATCHER(w, ev_async));
}

void loop_waker_wake(struct loop_waker *w)
{
    ev_async_send(w->loop->ev, WATCHER(w, ev_async));
}
