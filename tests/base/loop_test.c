#include "base/loop.h"
#include "tests/test.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static struct loop *loop;
static int fired[4], nfired;
static struct loop_timer timers[3];

static void expired(struct loop_timer *t)
{
    fired[nfired++] = (int)(t - timers);
    if (nfired == 2)
        loop_stop(loop);
}

TEST(timers, "timers fire in order of their deadline, a stopped one does not")
{
    loop = loop_new();
    nfired = 0;
    for (int i = 0; i < 3; i++)
        loop_timer_init(&timers[i], expired);
    loop_timer_set(loop, &timers[0], 20);
    loop_timer_set(loop, &timers[1], 1);
    loop_timer_set(loop, &timers[2], 5);
    loop_timer_stop(loop, &timers[2]);
    EXPECT(!loop_timer_is_set(&timers[2]) && loop_timer_is_set(&timers[0]));
    loop_run(loop);
    EXPECT(nfired == 2 && fired[0] == 1 && fired[1] == 0);
    loop_free(loop);
}

static int woken;

static void on_woken(struct loop_waker *w)
{
    woken++;
    loop_stop(w->loop);
}

static void *wake_from_elsewhere(void *arg)
{
    loop_waker_wake(arg);
    return NULL;
}

TEST(waker, "another thread can wake the loop")
{
    loop = loop_new();
    woken = 0;
    struct loop_waker w;
    loop_waker_init(&w, on_woken);
    loop_waker_start(loop, &w);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, NULL, wake_from_elsewhere, &w) == 0);
    loop_run(loop);
    pthread_join(thread, NULL);
    EXPECT_INT(woken, 1);
    loop_waker_stop(loop, &w);
    loop_free(loop);
}

static int read_events;

static void on_ready(struct loop_io *io, int events)
{
    (void)io;
    read_events = events;
    loop_stop(loop);
}

TEST(io, "a descriptor that can be read is reported")
{
    int fds[2];
    REQUIRE(pipe(fds) == 0);
    loop = loop_new();
    struct loop_io io;
    loop_io_init(&io, on_ready);
    loop_io_set(loop, &io, fds[0], LOOP_READ);
    REQUIRE(write(fds[1], "x", 1) == 1);
    loop_run(loop);
    EXPECT_INT(read_events, LOOP_READ);
    loop_io_stop(loop, &io);
    loop_free(loop);
    close(fds[0]);
    close(fds[1]);
}

static int got_signal;

static void on_signal(struct loop_signal *s, int signum)
{
    (void)s;
    got_signal = signum;
    loop_stop(loop);
}

TEST(signals, "a signal is told on the loop")
{
    loop = loop_new();
    struct loop_signal s;
    loop_signal_init(&s, on_signal);
    loop_signal_start(loop, &s, SIGUSR1);
    raise(SIGUSR1);
    loop_run(loop);
    EXPECT_INT(got_signal, SIGUSR1);
    loop_signal_stop(loop, &s);
    loop_free(loop);
}

static char order[8];

static void note_first(struct loop_timer *t)
{
    (void)t;
    strcat(order, "1");
}

static void note_second(struct loop_timer *t)
{
    strcat(order, "2");
    if (strlen(order) < 4)
        loop_timer_set(loop, t, 0); /* for now: in the next round */
}

TEST(on_clock,
        "on a given clock timers expire when that clock says so, in the order they were set")
{
    struct clock_fixed c;
    struct loop_timer first, second, stopped;
    clock_fixed_init(&c, 0, 5000);
    loop = loop_new_on_clock(&c.clock);
    loop_timer_init(&first, note_first);
    loop_timer_init(&second, note_second);
    loop_timer_init(&stopped, note_first);
    EXPECT(loop_next_timer(loop) == MSEC_NEVER);
    loop_timer_set(loop, &stopped, 10);
    loop_timer_set(loop, &first, MSEC_PER_DAY);
    loop_timer_set(loop, &second, MSEC_PER_DAY);
    loop_timer_stop(loop, &stopped);
    EXPECT(loop_timer_is_set(&first) && !loop_timer_is_set(&stopped));
    EXPECT_INT(loop_next_timer(loop), 5000 + MSEC_PER_DAY);
    c.mono += MSEC_PER_DAY;
    loop_run_once(loop);
    EXPECT_TEXT(order, "12");
    EXPECT(!loop_timer_is_set(&first));
    EXPECT_INT(loop_next_timer(loop), c.mono);
    loop_run_once(loop);
    loop_run_once(loop);
    EXPECT_TEXT(order, "1222");
    EXPECT(loop_next_timer(loop) == MSEC_NEVER);
    loop_free(loop);
}

TEST_MAIN()
