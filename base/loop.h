/* loop -- the one event loop of a process, and the only home of libev.
 *
 * Sources are embedded in their owner and start stopped.  Callbacks run on the thread in
 * loop_run(), one at a time; only loop_waker_wake() may be called from elsewhere.
 * Nothing called from here may block.
 *
 * A loop may be given a clock.  Its timers then follow that clock and nothing else, and
 * whoever moves the clock runs the loop round by round: that is how the whole engine runs in
 * simulated time.
 */
#pragma once
#include "base/time.h"

struct loop;

enum { LOOP_READ = 1, LOOP_WRITE = 2 };

/* Room for libev's own watcher, so that its header stays in loop.c. */
struct loop_space {
    _Alignas(16) char bytes[96];
};

struct loop_io {
    void (*ready)(struct loop_io *io, int events);
    struct loop_space space;
};

struct loop_timer {
    void (*expired)(struct loop_timer *timer);
    struct loop_space space;
};

struct loop_signal {
    void (*raised)(struct loop_signal *sig, int signum);
    struct loop_space space;
};

struct loop_waker {
    void (*woken)(struct loop_waker *waker);
    struct loop_space space;
    struct loop *loop;
};

struct loop *loop_new(void);
struct loop *loop_new_on_clock(const struct clock *clock); /* not for loop_run */
void loop_free(struct loop *l);
void loop_run(struct loop *l);      /* until loop_stop */
void loop_run_once(struct loop *l); /* one round, waiting for something to happen */
/* On a clock: when the earliest timer is due, as clock_mono says it; MSEC_NEVER: none is set.
 */
msec loop_next_timer(const struct loop *l);
void loop_stop(struct loop *l);

void loop_io_init(struct loop_io *io, void (*ready)(struct loop_io *, int events));
void loop_io_set(struct loop *l, struct loop_io *io, int fd, int events); /* start or change */
void loop_io_stop(struct loop *l, struct loop_io *io);

void loop_timer_init(struct loop_timer *t, void (*expired)(struct loop_timer *));
void loop_timer_set(struct loop *l, struct loop_timer *t, msec after); /* once; start or move */
void loop_timer_stop(struct loop *l, struct loop_timer *t);
bool loop_timer_is_set(const struct loop_timer *t);

void loop_signal_init(struct loop_signal *s, void (*raised)(struct loop_signal *, int signum));
void loop_signal_start(struct loop *l, struct loop_signal *s, int signum);
void loop_signal_stop(struct loop *l, struct loop_signal *s);

void loop_waker_init(struct loop_waker *w, void (*woken)(struct loop_waker *));
void loop_waker_start(struct loop *l, struct loop_waker *w);
void loop_waker_stop(struct loop *l, struct loop_waker *w);
void loop_waker_wake(struct loop_waker *w); /* any thread */
