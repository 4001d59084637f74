/* AND: both operands, in any order, also at the same instant.
 *
 *  (1) Either side may initiate; the later arrival detects.
 *  (2) In the chronicle and continuous contexts an arrival that detected is used up itself:
 *      it does not wait for the other side as well.
 *  (3) In the recent context both sides stay until newer ones replace them.
 */
#include "led/led_int.h"

struct and_state {
    struct led_bag side[2];
};

static void collect(
        struct led *led, struct and_state *st, struct led_node *self, struct led_occurrence *o)
{
    for (unsigned i = 0; i < 2; i++) {
        for (struct led_cell *c = st->side[i].first; c; c = c->next)
            led_mix(led, c->o);
        led_bag_clear(led, &st->side[i]);
    }
    led_detect(led, self, o);
}

static void and_notify(
        struct led *led, struct led_node *self, unsigned role, struct led_occurrence *o)
{
    struct and_state *st = led_state(self);
    struct led_bag *own = &st->side[role], *other = &st->side[1 - role];
    bool keep = true;

    switch (self->context) {
    case LED_UNRESTRICTED:
    case LED_RECENT:
        led_pair(led, self, self->context, other, led_fits_always, o); /* (3) */
        break;
    case LED_CHRONICLE:
    case LED_CONTINUOUS:
        keep = !led_pair(led, self, self->context, other, led_fits_always, o); /* (2) */
        break;
    case LED_CUMULATIVE:
        led_bag_add(led, own, o, 0);
        if (other->first)
            collect(led, st, self, o);
        keep = false;
        break;
    case LED_CONTEXT_COUNT:
        break;
    }
    if (keep)
        led_initiate(led, self, own, o, 0); /* (1) */
}

static void and_close(struct led *led, struct led_node *self)
{
    struct and_state *st = led_state(self);
    led_bag_clear(led, &st->side[0]);
    led_bag_clear(led, &st->side[1]);
}

static void and_sync(struct led_stream *s, struct led_node *self)
{
    struct and_state *st = led_state(self);
    led_sync_bag(s, &st->side[0]);
    led_sync_bag(s, &st->side[1]);
}

const struct led_op led_op_and = {
        .name = "AND",
        .operands = 2,
        .state_bytes = sizeof(struct and_state),
        .notify = and_notify,
        .close = and_close,
        .sync = and_sync,
};

enum err led_and(struct led *led, struct led_event *e1, struct led_event *e2, struct fault *f,
        struct led_event **ret_event)
{
    if (e1 == e2)
        return fault_set(f, ERR_RANGE, "operands must differ");
    struct led_event *operands[] = {e1, e2};
    struct led_wish w = {&led_op_and, 0, 2, operands};
    return led_event_make(led, &w, f, ret_event);
}
