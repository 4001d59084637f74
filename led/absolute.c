/* ABS: occurs once, when the wall clock reaches a time.
 *
 *  (1) The time must lie ahead when the event is made.
 *  (2) Once is once: when it has occurred, a wall clock set back does not repeat it, and
 *      somebody who then asks for the same time gets a new event.
 *  (3) Its occurrence stands on the monotonic line like all others; `late` is how far the
 *      wall clock was beyond the time when we came to know.
 */
#include "led/led_int.h"

static void absolute_open(struct led *led, struct led_node *self)
{
    struct led_timer *timer = led_state(self);
    led_timer_init(led, timer, self, LED_WALL);
    if (!self->event->is_over && self->event->wall > led_wall(led))
        led_timer_set(led, timer, self->event->wall);
}

static void absolute_expire(struct led *led, struct led_node *self, struct led_timer *timer)
{
    (void)timer;
    self->event->is_over = true; /* (2) */
    led_event_unkey(led, self->event);
    struct led_occurrence *o = led_occurrence_primitive(led, self->event, led->now);
    o->late = led->wall_late; /* (3) */
    led_emit(led, self, o);
}

static void absolute_close(struct led *led, struct led_node *self)
{
    led_timer_stop(led, led_state(self));
}

static void absolute_sync(struct led_stream *s, struct led_node *self)
{
    led_sync_timer(s, self, led_state(self), LED_WALL);
}

const struct led_op led_op_absolute = {
        .name = "ABS",
        .param = LED_PARAM_WALL,
        .instant = true,
        .state_bytes = sizeof(struct led_timer),
        .open = absolute_open,
        .expire = absolute_expire,
        .close = absolute_close,
        .sync = absolute_sync,
};

enum err led_absolute(struct led *led, msec wall, struct fault *f, struct led_event **ret_event)
{
    if (wall <= led_wall(led)) { /* (1) */
        enum err err = fault_set(f, ERR_RANGE, "time lies in the past");
        fault_hint(f, "Give a time that is still ahead.");
        return err;
    }
    if (wall > MSEC_NEVER / 4)
        return fault_set(f, ERR_RANGE, "time lies beyond any calendar");
    struct led_wish w = {.op = &led_op_absolute, .param = wall};
    return led_event_make(led, &w, f, ret_event);
}
