/* P*(from, [interval], to): once, when `to` closes the window, with all its ticks.
 *
 *  (1) A window without a tick closes silently.
 *  (2) Ticks are collected at their time on the grid, also those of a gap: nobody is called
 *      for them, so none needs to be left out.
 *  (3) The window ends where `to` starts; ticks beyond that are not in it.
 *  (4) cumulative: one detection with every `from`; the ticks are the oldest one's.
 */
#include "led/led_int.h"

enum { FROM, TO };

static bool mix_ticks(struct led *led, const struct led_series *s, msec until)
{
    bool any = false;
    for (struct led_cell *c = s->collected->first; c; c = c->next) {
        if (c->o->end > until) /* (3) */
            break;
        led_mix(led, c->o);
        any = true;
    }
    return any;
}

static void report(
        struct led *led, struct led_node *self, struct led_series *s, struct led_occurrence *to)
{
    if (!mix_ticks(led, s, to->start)) /* (1) */
        return;
    led_series_mix(led, s);
    if (self->context == LED_CUMULATIVE) /* (4) */
        for (struct led_series *other = s; (other = led_series_after(self, other));)
            if (other->from.end < to->start)
                led_series_mix(led, other);
    led_mix(led, to);
    led_detect(led, self, to);
}

static void star_notify(
        struct led *led, struct led_node *self, unsigned role, struct led_occurrence *o)
{
    if (role == TO)
        led_series_end(led, self, o, report);
    else
        led_series_open(led, self, o, o->end);
}

static void star_expire(struct led *led, struct led_node *self, struct led_timer *timer)
{
    (void)self;
    struct led_series *s = container_of(timer, struct led_series, timer);
    led_series_next(led, s, led->now);
    struct led_occurrence *tick =
            led_occurrence_tick(led, led->now, ++timer->heap.tag, s->last);
    led_bag_add(led, s->collected, tick, 0); /* (2) */
    led_unref(led, tick);
}

const struct led_op led_op_periodic_star = {
        .name = "P*",
        .param = LED_PARAM_SPAN,
        .operands = 2,
        .state_bytes = sizeof(struct led_series_ring),
        .notify = star_notify,
        .expire = star_expire,
        .rearm = led_series_rearm,
        .resume = led_series_resume,
        .close = led_series_close,
        .sync = led_series_sync,
};

enum err led_periodic_star(struct led *led, struct led_event *from, msec interval,
        struct led_event *to, struct fault *f, struct led_event **ret_event)
{
    enum err err = led_span_check("interval", interval, f);
    if (err)
        return err;
    struct led_event *operands[] = {from, to};
    struct led_wish w = {&led_op_periodic_star, interval, 2, operands};
    return led_event_make(led, &w, f, ret_event);
}
