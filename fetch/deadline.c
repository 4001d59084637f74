/* Deadlines: timers of our own that end a transfer, whatever libcurl believes.
 *
 *  (1) A phase (connecting, waiting for the headers, the body) has its own time, and the
 *      whole has one that no redirect renews.
 *  (2) A body that comes too slowly ends the transfer: less than 100 bytes a second, over the
 *      time that is set for it.
 *  (3) One timer for all, moved only when it would come too late, and a place in the heap
 *      that is left only when it would: most transfers are over long before, so moving on
 *      costs no more than writing down a moment.
 */
#include "fetch/fetch_int.h"
#include <stdio.h>

enum { SLOW_BYTES_PER_SECOND = 100 };

static msec now_of(const struct fetch_transfer *t)
{
    return clock_mono(t->fetch->o.clock);
}

static void set_timer(struct fetch *fe, msec now)
{
    const struct heap_node *first = heap_min(&fe->deadlines);
    if (!first || first->at >= fe->deadline_at)
        return;
    fe->deadline_at = first->at;
    loop_timer_set(fe->loop, &fe->deadline_timer, first->at - now);
}

static void arm(struct fetch_transfer *t, msec now)
{
    msec at = t->phase_until < t->total_until ? t->phase_until : t->total_until;
    if (heap_node_is_in(&t->deadline) && t->deadline.at <= at)
        return; /* (3) */
    heap_set(&t->fetch->deadlines, &t->deadline, at, /* order= */ 0);
    set_timer(t->fetch, now);
}

void fetch_deadline_begin(struct fetch_transfer *t)
{
    t->began = now_of(t);
    t->total_until = t->began + t->limits.total;
    t->phase_until = MSEC_NEVER;
}

void fetch_deadline_phase(struct fetch_transfer *t, enum fetch_phase phase)
{
    msec now = now_of(t);
    t->phase = phase;
    t->phase_until = now + (phase == FETCH_CONNECTING       ? t->limits.connect
                                   : phase == FETCH_WAITING ? t->limits.first_byte
                                                            : t->limits.slow);
    arm(t, now);
}

void fetch_deadline_pause(struct fetch_transfer *t)
{
    t->phase_until = MSEC_NEVER;
}

void fetch_deadline_end(struct fetch_transfer *t)
{
    heap_remove(&t->fetch->deadlines, &t->deadline);
}

/* (2) */
static bool is_too_slow(struct fetch_transfer *t)
{
    struct fetch_run *run = t->run;
    uint64_t came = run->body_wire_bytes - run->slow_mark;
    run->slow_mark = run->body_wire_bytes;
    return came * MSEC_PER_SECOND < (uint64_t)(SLOW_BYTES_PER_SECOND * t->limits.slow);
}

static void look_at(struct fetch_transfer *t, msec now)
{
    char *why = t->run->why;
    if (now >= t->total_until) {
        fetch_reason_timeout(t, /* total= */ true, why);
    } else if (now < t->phase_until) {
        arm(t, now);
        return;
    } else if (t->phase == FETCH_BODY && !is_too_slow(t)) {
        fetch_deadline_phase(t, FETCH_BODY);
        return;
    } else if (t->phase == FETCH_BODY) {
        fetch_reason_slow(t, why);
    } else {
        fetch_reason_timeout(t, /* total= */ false, why);
    }
    fetch_transfer_report_failure(t, t->run->headers.status, why); /* (1) */
}

static void expired(struct loop_timer *timer)
{
    struct fetch *fe = container_of(timer, struct fetch, deadline_timer);
    struct heap_node *first;
    msec now = clock_mono(fe->o.clock);
    fe->deadline_at = MSEC_NEVER;
    while ((first = heap_min(&fe->deadlines)) && first->at <= now) {
        heap_remove(&fe->deadlines, first);
        look_at(container_of(first, struct fetch_transfer, deadline), now);
    }
    set_timer(fe, now);
}

void fetch_deadlines_open(struct fetch *fe)
{
    heap_init(&fe->deadlines);
    fe->deadline_at = MSEC_NEVER;
    loop_timer_init(&fe->deadline_timer, expired);
}

void fetch_deadlines_close(struct fetch *fe)
{
    loop_timer_stop(fe->loop, &fe->deadline_timer);
    heap_done(&fe->deadlines);
}
