/* A*(from, each, to): once, when `to` closes the window, with every `each` in it.
 *
 *  (1) The window is (end of from, start of to], as for A.
 *  (2) A window with nothing in it closes silently.
 *  (3) `each` is kept once for all windows: those a window may report are those that start
 *      after its `from` ended, so younger windows find in the same bag what is theirs.
 *  (4) A new `from` in the recent context forgets what was collected.
 */
#include "led/led_int.h"

enum { FROM, EACH, TO };

struct star_state {
    struct led_bag from, each;
};

static bool mix_each(struct led *led, const struct led_bag *each, msec after, msec until)
{
    bool any = false;
    for (const struct led_cell *c = each->first; c; c = c->next) {
        if (c->o->start > after && c->o->end <= until) { /* (1) */
            led_mix(led, c->o);
            any = true;
        }
    }
    return any;
}

/* What no open window can report any more goes: (3). */
static void forget(struct led *led, struct star_state *st)
{
    msec oldest = st->from.first ? st->from.first->o->end : MSEC_NEVER;
    for (struct led_cell *c = st->each.first, *before = NULL, *next; c; c = next) {
        next = c->next;
        if (c->o->start <= oldest)
            led_bag_cut(led, &st->each, before);
        else
            before = c;
    }
}

static void close_one(struct led *led, struct led_node *self, struct led_occurrence *from,
        struct led_occurrence *to)
{
    struct star_state *st = led_state(self);
    if (!mix_each(led, &st->each, from->end, to->start))
        return; /* (2) */
    led_mix(led, from);
    led_mix(led, to);
    led_detect(led, self, to);
}

static void close_all_as_one(struct led *led, struct led_node *self, struct led_occurrence *to)
{
    struct star_state *st = led_state(self);
    struct led_cell *oldest = st->from.first;
    if (!oldest || !led_fits_before(oldest, to))
        return;
    bool any = mix_each(led, &st->each, oldest->o->end, to->start);
    while (st->from.first && led_fits_before(st->from.first, to)) {
        if (any)
            led_mix(led, st->from.first->o);
        led_bag_cut(led, &st->from, NULL);
    }
    if (any) {
        led_mix(led, to);
        led_detect(led, self, to);
    }
}

static void close_windows(struct led *led, struct led_node *self, struct led_occurrence *to)
{
    struct star_state *st = led_state(self);
    while (st->from.first && led_fits_before(st->from.first, to)) {
        close_one(led, self, st->from.first->o, to);
        led_bag_cut(led, &st->from, NULL);
        if (self->context == LED_CHRONICLE)
            break;
    }
}

static void star_notify(
        struct led *led, struct led_node *self, unsigned role, struct led_occurrence *o)
{
    struct star_state *st = led_state(self);
    if (role == TO) {
        if (self->context == LED_CUMULATIVE)
            close_all_as_one(led, self, o);
        else
            close_windows(led, self, o);
        forget(led, st);
    } else if (role == EACH) {
        if (st->from.first && led_fits_before(st->from.first, o))
            led_bag_add(led, &st->each, o, 0);
    } else {
        led_initiate(led, self, &st->from, o, 0);
        if (self->context == LED_RECENT)
            led_bag_clear(led, &st->each); /* (4) */
    }
}

static void star_close(struct led *led, struct led_node *self)
{
    struct star_state *st = led_state(self);
    led_bag_clear(led, &st->from);
    led_bag_clear(led, &st->each);
}

static void star_sync(struct led_stream *s, struct led_node *self)
{
    struct star_state *st = led_state(self);
    led_sync_bag(s, &st->from);
    led_sync_bag(s, &st->each);
}

const struct led_op led_op_aperiodic_star = {
        .name = "A*",
        .operands = 3,
        .state_bytes = sizeof(struct star_state),
        .notify = star_notify,
        .close = star_close,
        .sync = star_sync,
};

enum err led_aperiodic_star(struct led *led, struct led_event *from, struct led_event *each,
        struct led_event *to, struct fault *f, struct led_event **ret_event)
{
    struct led_event *operands[] = {from, each, to};
    struct led_wish w = {&led_op_aperiodic_star, 0, 3, operands};
    return led_event_make(led, &w, f, ret_event);
}
