/* What the contexts mean where an initiator meets a terminator: SEQ, NOT, AND and A all
 * detect by pairing what has just arrived with what was kept.
 *
 *  unrestricted  with each that fits; nothing is used up
 *  recent        with the newest, if that one fits; it stays
 *  chronicle     with the oldest that fits, which is used up
 *  continuous    with each that fits, one detection each; they are used up
 *  cumulative    with all that fit in one detection; they are used up
 */
#include "led/led_int.h"

bool led_fits_before(const struct led_cell *from, const struct led_occurrence *o)
{
    return from->o->end < o->start;
}

bool led_fits_always(const struct led_cell *from, const struct led_occurrence *o)
{
    (void)from;
    (void)o;
    return true;
}

static void detect_with(struct led *led, struct led_node *self, struct led_occurrence *from,
        struct led_occurrence *o)
{
    led_mix(led, from);
    led_mix(led, o);
    led_detect(led, self, o);
}

static bool pair_recent(struct led *led, struct led_node *self, struct led_bag *from,
        led_fits_fn *fits, struct led_occurrence *o)
{
    if (!from->last || !fits(from->last, o))
        return false;
    detect_with(led, self, from->last->o, o);
    return true;
}

bool led_pair(struct led *led, struct led_node *self, enum led_context context,
        struct led_bag *from, led_fits_fn *fits, struct led_occurrence *o)
{
    if (context == LED_RECENT)
        return pair_recent(led, self, from, fits, o);

    bool any = false;
    for (struct led_cell *c = from->first, *before = NULL, *next; c; c = next) {
        next = c->next;
        if (!fits(c, o)) {
            before = c;
            continue;
        }
        any = true;
        if (context == LED_CUMULATIVE)
            led_mix(led, c->o);
        else
            detect_with(led, self, c->o, o);
        if (context == LED_UNRESTRICTED)
            before = c;
        else
            led_bag_cut(led, from, before);
        if (context == LED_CHRONICLE)
            break;
    }
    if (any && context == LED_CUMULATIVE) {
        led_mix(led, o);
        led_detect(led, self, o);
    }
    return any;
}

void led_initiate(struct led *led, struct led_node *self, struct led_bag *from,
        struct led_occurrence *o, int64_t note)
{
    if (self->context == LED_RECENT)
        led_bag_clear(led, from);
    led_bag_add(led, from, o, note);
}
