/* NOT(forbidden)[from, to]: a sequence with nothing forbidden in it.
 *
 *  (1) The forbidden one counts if it lies in the closed interval from the end of `from` to
 *      the start of `to` and has arrived before `to` is processed.  A later arrival in the
 *      same instant revokes nothing.
 *  (2) Of all that are forbidden to one `from`, the first spoils it: it ends earliest.  So a
 *      cell needs to remember only when it was spoilt, and no list is kept.
 *  (3) What came at the very instant of `from`, but before it, spoils it too.  It must be an
 *      instant itself then.  An occurrence that is both does not spoil itself, so the two
 *      newest instants are kept.
 *  (4) If `to` is always an instant, a spoilt `from` can never be used and goes at once.
 */
#include "led/led_int.h"

enum { FROM, FORBIDDEN, TO };

struct not_state {
    struct led_bag from;     /* a cell's note: spoilt then, or MSEC_NEVER */
    struct led_bag instants; /* (3): at most two different ones */
};

static bool fits(const struct led_cell *from, const struct led_occurrence *to)
{
    return from->o->end < to->start && from->note > to->start;
}

static void spoil(struct led *led, struct led_node *self, struct led_occurrence *o)
{
    struct not_state *st = led_state(self);
    bool useless = led_event_is_instant(led_operand(led_event_of(self), TO));
    for (struct led_cell *c = st->from.first, *before = NULL, *next; c; c = next) {
        next = c->next;
        if (c->note == MSEC_NEVER && c->o->end <= o->start) /* (1), (2) */
            c->note = o->end;
        if (c->note != MSEC_NEVER && useless)
            led_bag_cut(led, &st->from, before); /* (4) */
        else
            before = c;
    }
    if (o->start < o->end || (st->instants.last && st->instants.last->o == o))
        return;
    if (st->instants.count == 2)
        led_bag_cut(led, &st->instants, NULL);
    led_bag_add(led, &st->instants, o, 0);
}

static msec spoilt_before(const struct not_state *st, const struct led_occurrence *from)
{
    for (const struct led_cell *c = st->instants.first; c; c = c->next)
        if (c->o != from && c->o->start >= from->end) /* (3) */
            return c->o->end;
    return MSEC_NEVER;
}

static void not_notify(
        struct led *led, struct led_node *self, unsigned role, struct led_occurrence *o)
{
    struct not_state *st = led_state(self);
    if (role == TO)
        (void)led_pair(led, self, self->context, &st->from, fits, o);
    else if (role == FORBIDDEN)
        spoil(led, self, o);
    else
        led_initiate(led, self, &st->from, o, spoilt_before(st, o));
}

static void not_close(struct led *led, struct led_node *self)
{
    struct not_state *st = led_state(self);
    led_bag_clear(led, &st->from);
    led_bag_clear(led, &st->instants);
}

static void not_sync(struct led_stream *s, struct led_node *self)
{
    struct not_state *st = led_state(self);
    led_sync_bag(s, &st->from);
    led_sync_bag(s, &st->instants);
}

const struct led_op led_op_not = {
        .name = "NOT",
        .operands = 3,
        .state_bytes = sizeof(struct not_state),
        .notify = not_notify,
        .close = not_close,
        .sync = not_sync,
};

enum err led_not(struct led *led, struct led_event *forbidden, struct led_event *from,
        struct led_event *to, struct fault *f, struct led_event **ret_event)
{
    struct led_event *operands[] = {from, forbidden, to};
    struct led_wish w = {&led_op_not, 0, 3, operands};
    return led_event_make(led, &w, f, ret_event);
}
