/* SEQ: the first operand, and then the second.
 *
 *  (1) "Then" is meant of whole intervals: the first has ended before the second starts.
 *      (B ; (A ; C)) is not detected by A B C, for A came before B.
 *  (2) A second one that finds no first one is forgotten.
 */
#include "led/led_int.h"

enum { FIRST, THEN };

static void seq_notify(
        struct led *led, struct led_node *self, unsigned role, struct led_occurrence *o)
{
    struct led_bag *first = led_state(self);
    if (role == THEN)
        (void)led_pair(led, self, self->context, first, led_fits_before, o); /* (1), (2) */
    else
        led_initiate(led, self, first, o, 0);
}

static void seq_close(struct led *led, struct led_node *self)
{
    led_bag_clear(led, led_state(self));
}

static void seq_sync(struct led_stream *s, struct led_node *self)
{
    led_sync_bag(s, led_state(self));
}

const struct led_op led_op_seq = {
        .name = "SEQ",
        .operands = 2,
        .state_bytes = sizeof(struct led_bag),
        .notify = seq_notify,
        .close = seq_close,
        .sync = seq_sync,
};

enum err led_seq(struct led *led, struct led_event *first, struct led_event *then,
        struct fault *f, struct led_event **ret_event)
{
    struct led_event *operands[] = {first, then};
    struct led_wish w = {&led_op_seq, 0, 2, operands};
    return led_event_make(led, &w, f, ret_event);
}
