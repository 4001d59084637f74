/* ABS: occurs once, when the wall clock reaches a time.
 *
 *  (1) The time must lie ahead when the event is made.
 *  (2) Once is once: when it has occurred, a wall clock set back does not repeat it, and
 *      somebody who then asks for the same time gets a new event.
 *  (3) Its occurrence stands on the monotonic line like all others; `late` is how far the
 *      wall clock was beyond the time when we came to know.
 */
#include "led/led_int.h"

static void absolute_open(struct led *led, struct led_event *self)
{
    struct heap_node *timer = led_leaf_state(self);
    heap_node_init(timer);
    if (!self->is_over && self->wall > led_wall(led))
        heap_set(&led->walls, timer, self->wall, led_timer_order(led, LED_WALL));
}

void led_absolute_expire(struct led *led, struct heap_node *timer)
{
    struct led_event *self = (struct led_event *)timer - 1; /* it stands behind the event */
    heap_remove(&led->walls, timer);
    led_event_unkey(led, self); /* (2) */
    self->is_over = true;
    struct led_occurrence *o = led_occurrence_leaf(led, self, led->now);
    o->late = led->real + led->offset - self->wall; /* (3) */
    led_emit_leaf(led, self, o);
}

static void absolute_close(struct led *led, struct led_event *self)
{
    heap_remove(&led->walls, led_leaf_state(self));
}

static void absolute_sync(struct led_stream *s, struct led_event *self)
{
    struct heap_node *timer = led_leaf_state(self);
    if (!s->is_saving)
        heap_node_init(timer);
    if (!led_sync_more(s, s->is_saving && self->needs && heap_node_is_in(timer)))
        return;
    uint64_t order = timer->order;
    led_sync_u64(s, &order);
    if (!s->is_saving && !s->has_failed)
        heap_set(&s->led->walls, timer, self->wall, led_timer_reorder(order, LED_WALL));
}

const struct led_op led_op_absolute = {
        .name = "ABS",
        .param = LED_PARAM_WALL,
        .instant = true,
        .state_bytes = sizeof(struct heap_node),
        .leaf_open = absolute_open,
        .leaf_close = absolute_close,
        .leaf_sync = absolute_sync,
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
