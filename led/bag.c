/* Bags: the occurrences an operator keeps of one operand, oldest first.
 *
 *  (1) A bag never holds more than LED_KEEP_MAX of one operand: a stream that initiates for
 * ever and is never terminated costs its oldest initiators, not the process.
 */
#include "led/led_int.h"

void led_bag_cut(struct led *led, struct led_bag *b, struct led_cell *before)
{
    struct led_cell *c = before ? before->next : b->first;
    if (before)
        before->next = c->next;
    else
        b->first = c->next;
    if (b->last == c)
        b->last = before;
    b->count--;
    led_unref(led, c->o);
    led_release(led, c, sizeof *c);
}

void led_bag_put(struct led *led, struct led_bag *b, struct led_occurrence *o, int64_t note)
{
    struct led_cell *c = led_alloc_of(led, struct led_cell);
    c->o = led_ref(o);
    c->note = note;
    if (b->last)
        b->last->next = c;
    else
        b->first = c;
    b->last = c;
    b->count++;
}

void led_bag_add(struct led *led, struct led_bag *b, struct led_occurrence *o, int64_t note)
{
    if (b->count >= LED_KEEP_MAX) { /* (1) */
        led_bag_cut(led, b, NULL);
        led->stats.dropped++;
    }
    led_bag_put(led, b, o, note);
}

void led_bag_clear(struct led *led, struct led_bag *b)
{
    while (b->first)
        led_bag_cut(led, b, NULL);
}
