/* Primitive events: what the program raises, and how.
 *
 *  (1) Whatever follows from a raise has happened when it returns.
 *  (2) Raises inside each other go LED_DEPTH_MAX deep; the next is refused, so a rule that
 *      raises its own event is an error and not the end of the stack.  All that follows
 *      from one signal are LED_CASCADE_MAX raises at most: two rules that raise each other's
 *      event twice would not end for ages otherwise.
 */
#include "led/led_int.h"

const struct led_op led_op_primitive = {
        .name = "primitive",
        .param = LED_PARAM_NAME,
        .instant = true,
};

enum err led_raise_at(
        struct led *led, struct led_event *e, msec at, uint64_t data, struct fault *f)
{
    if (e->is_deleted)
        return fault_set(f, ERR_NAME, "event is deleted");
    if (led_op(e) != &led_op_primitive)
        return fault_set(f, ERR_UNSUPPORTED, "only a primitive event can be raised");
    if (at > led->now)
        return fault_set(f, ERR_RANGE, "an event cannot be raised ahead of its time");
    if (led->depth >= LED_DEPTH_MAX) { /* (2) */
        led->stats.refused++;
        return fault_set(f, ERR_LIMIT, "cascade depth");
    }
    if (led->cascade >= LED_CASCADE_MAX) {
        led->stats.refused++;
        return fault_set(f, ERR_LIMIT, "cascade size");
    }

    msec now = led->now;
    led->now = at;
    led->depth++;
    led->cascade++;
    struct led_occurrence *o = led_occurrence_leaf(led, e, at);
    o->data = data;
    bool is_outermost = led_signal_begin(led);
    led_emit_leaf(led, e, o);
    led_signal_end(led, is_outermost); /* (1) */
    led->depth--;
    led->now = now;
    return OK;
}

enum err led_raise(struct led *led, struct led_event *e, uint64_t data, struct fault *f)
{
    return led_raise_at(led, e, led->now, data, f);
}
