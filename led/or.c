/* OR: each occurrence of either operand, as it is.
 *
 * Contexts do not matter here: nothing is kept.  Both operands at one instant give two
 * occurrences.
 */
#include "led/led_int.h"

static void or_notify(
        struct led *led, struct led_node *self, unsigned role, struct led_occurrence *o)
{
    (void)role;
    led_emit(led, self, led_ref(o));
}

const struct led_op led_op_or = {
        .name = "OR",
        .operands = 2,
        .notify = or_notify,
};

enum err led_or(struct led *led, struct led_event *e1, struct led_event *e2, struct fault *f,
        struct led_event **ret_event)
{
    struct led_event *operands[] = {e1, e2};
    struct led_wish w = {&led_op_or, 0, 2, operands};
    return led_event_make(led, &w, f, ret_event);
}
