/* Deadlines: timers of our own that end a transfer, whatever libcurl believes.
 *
 *  (1) A phase (connecting, waiting for the headers, the body) has its own time, and the
 *      whole has one that no redirect renews.
 *  (2) A body that comes too slowly ends the transfer: less than 100 bytes a second, over the
 *      time that is set for it.
 *  (3) One timer for each transfer, moved only when it would come too late: most transfers
 *      are over long before it, so moving on costs no more than writing down a moment.
 */
#include "fetch/fetch_int.h"
#include <stdio.h>

enum { SLOW_BYTES_PER_SECOND = 100 };

static msec now_of(const struct fetch_transfer *t)
{
    return clock_mono(t->fetch->o.clock);
}

static void arm(struct fetch_transfer *t, msec now)
{
    msec at = t->phase_until < t->total_until ? t->phase_until : t->total_until;
    if (loop_timer_is_set(&t->timer) && t->timer_at <= at)
        return; /* (3) */
    t->timer_at = at;
    loop_timer_set(t->fetch->loop, &t->timer, at - now);
}

void fetch_deadline_begin(struct fetch_transfer *t)
{
    t->total_until = now_of(t) + t->limits.total;
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
    loop_timer_stop(t->fetch->loop, &t->timer);
}

/* (2) */
static bool is_too_slow(struct fetch_transfer *t)
{
    struct fetch_run *run = t->run;
    uint64_t came = run->body_wire_bytes - run->slow_mark;
    run->slow_mark = run->body_wire_bytes;
    return came * MSEC_PER_SECOND < (uint64_t)(SLOW_BYTES_PER_SECOND * t->limits.slow);
}

static void expired(struct loop_timer *timer)
{
    struct fetch_transfer *t = container_of(timer, struct fetch_transfer, timer);
    char *why = t->run->why;
    msec now = now_of(t);
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

void fetch_deadline_init(struct fetch_transfer *t)
{
    loop_timer_init(&t->timer, expired);
}
