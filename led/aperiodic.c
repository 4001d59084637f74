/* A(from, each, to): each `each` inside the window opened by `from` and closed by `to`.
 *
 *  (1) The window is (end of from, start of to]: what comes at the very instant of `from` is
 *      outside, and a `to` at that instant does not close it.  Inside the last instant the
 *      order of arrival decides.
 *  (2) `each` detects but does not terminate: outside the cumulative context every open
 *      window sees it, and nothing is used up.
 *  (3) `to` closes all windows; in the chronicle context the oldest only, first in first out.
 *  (4) The cumulative context uses up the initiators it reports.
 */
#include "led/led_int.h"

enum { FROM, EACH, TO };

static enum led_context pairing(enum led_context c) /* (2), (4) */
{
    return c == LED_RECENT || c == LED_CUMULATIVE ? c : LED_UNRESTRICTED;
}

static void close_windows(
        struct led *led, struct led_node *self, struct led_bag *from, struct led_occurrence *to)
{
    for (struct led_cell *c = from->first, *before = NULL, *next; c; c = next) {
        next = c->next;
        if (!led_fits_before(c, to)) { /* (1) */
            before = c;
            continue;
        }
        led_bag_cut(led, from, before);
        if (self->context == LED_CHRONICLE) /* (3) */
            return;
    }
}

static void aperiodic_notify(
        struct led *led, struct led_node *self, unsigned role, struct led_occurrence *o)
{
    struct led_bag *from = led_state(self);
    if (role == TO)
        close_windows(led, self, from, o);
    else if (role == EACH)
        (void)led_pair(led, self, pairing(self->context), from, led_fits_before, o);
    else
        led_initiate(led, self, from, o, 0);
}

static void aperiodic_close(struct led *led, struct led_node *self)
{
    led_bag_clear(led, led_state(self));
}

static void aperiodic_sync(struct led_stream *s, struct led_node *self)
{
    led_sync_bag(s, led_state(self));
}

const struct led_op led_op_aperiodic = {
        .name = "A",
        .operands = 3,
        .state_bytes = sizeof(struct led_bag),
        .notify = aperiodic_notify,
        .close = aperiodic_close,
        .sync = aperiodic_sync,
};

enum err led_aperiodic(struct led *led, struct led_event *from, struct led_event *each,
        struct led_event *to, struct fault *f, struct led_event **ret_event)
{
    struct led_event *operands[] = {from, each, to};
    struct led_wish w = {&led_op_aperiodic, 0, 3, operands};
    return led_event_make(led, &w, f, ret_event);
}
