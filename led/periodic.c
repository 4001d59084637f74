/* P(from, [interval], to): a tick every interval in the window opened by `from` and closed
 * by `to`.
 *
 *  (1) A tick is an instant and lists what opened the window, and itself.
 *  (2) After a gap the ticks missed are not made up one by one: a burst of stale ticks is of
 *      no use to anybody.  A series that is still open when everything else of the gap has
 *      been replayed ticks once, at its end, with their number, and goes on along its old grid.
 *
 * The windows and the contexts are in series.c.
 */
#include "led/led_int.h"

enum { FROM, TO };

static void periodic_notify(
        struct led *led, struct led_node *self, unsigned role, struct led_occurrence *o)
{
    if (role == TO)
        led_series_end(led, self, o, /* report= */ NULL);
    else
        led_series_open(led, self, o, o->end);
}

static void tick(struct led *led, struct led_node *self, struct led_series *s, uint32_t missed)
{
    s->timer.heap.tag += missed ? missed : 1;
    struct led_occurrence *t = led_occurrence_tick(led, led->now, s->timer.heap.tag, s->last);
    led_series_mix(led, s);
    if (self->context == LED_CUMULATIVE)
        for (struct led_series *other = s; (other = led_series_after(self, other));)
            led_series_mix(led, other);
    led_mix(led, t);
    led_unref(led, t);
    led_detect_now(led, self, missed); /* (1) */
}

/* The first tick of the gap is noted as the last one; at the end we shall see how many more
 * there were: (2). */
static void wait_for_end(struct led *led, struct led_series *s)
{
    s->last = led->now;
    led_timer_set_class(&s->timer, LED_CATCH_UP);
    led_timer_set(led, &s->timer, led->real);
}

static void catch_up(struct led *led, struct led_node *self, struct led_series *s)
{
    msec interval = led_event_of(self)->span, more = (led->now - s->last) / interval;
    led_timer_set_class(&s->timer, LED_TICK);
    led_series_next(led, s, s->last + more * interval);
    tick(led, self, s, more < UINT32_MAX ? (uint32_t)more + 1 : UINT32_MAX);
}

static void periodic_expire(struct led *led, struct led_node *self, struct led_timer *timer)
{
    struct led_series *s = container_of(timer, struct led_series, timer);
    if (led_timer_class(timer) == LED_CATCH_UP) {
        catch_up(led, self, s);
    } else if (led->in_gap) {
        wait_for_end(led, s);
    } else {
        led_series_next(led, s, led->now);
        tick(led, self, s, 0);
    }
}

const struct led_op led_op_periodic = {
        .name = "P",
        .param = LED_PARAM_SPAN,
        .operands = 2,
        .instant = true,
        .state_bytes = sizeof(struct led_series_ring),
        .notify = periodic_notify,
        .expire = periodic_expire,
        .rearm = led_series_rearm,
        .resume = led_series_resume,
        .close = led_series_close,
        .sync = led_series_sync,
};

enum err led_periodic(struct led *led, struct led_event *from, msec interval,
        struct led_event *to, struct fault *f, struct led_event **ret_event)
{
    enum err err = led_span_check("interval", interval, f);
    if (err)
        return err;
    struct led_event *operands[] = {from, to};
    struct led_wish w = {&led_op_periodic, interval, 2, operands};
    return led_event_make(led, &w, f, ret_event);
}
