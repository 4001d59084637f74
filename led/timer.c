/* Time: timers, and how it passes.
 *
 *  (1) What is due occurs at the time it was due, earliest first, however late we come.
 *  (2) At one instant: ticks of P and P*, then PLUS, then absolute events, each by
 *      registration; whatever the program raises at that instant comes after them.
 *  (3) Absolute events wait on the wall clock, all others on the monotonic one.  A wall
 *      clock that jumps over an absolute event makes it occur now, late by the amount; one
 *      that jumps back makes what is pending wait longer, and repeats nothing.
 *  (4) After a gap a P does not tick once for each tick missed: see series.c.
 */
#include "led/led_int.h"

enum { CLASS_SHIFT = 60 };

void led_timer_init(
        struct led *led, struct led_timer *t, struct led_node *n, enum led_timer_class class)
{
    heap_node_init(&t->heap);
    t->heap.order = ++led->last_timer;
    t->node = n;
    led_timer_set_class(t, class);
}

void led_timer_set_class(struct led_timer *t, enum led_timer_class class) /* (2) */
{
    uint64_t registration = t->heap.order & (((uint64_t)1 << CLASS_SHIFT) - 1);
    t->heap.order = (uint64_t) class << CLASS_SHIFT | registration;
}

enum led_timer_class led_timer_class(const struct led_timer *t)
{
    return (enum led_timer_class)(t->heap.order >> CLASS_SHIFT);
}

static struct heap *heap_of(struct led *led, const struct led_timer *t)
{
    return led_timer_class(t) == LED_WALL ? &led->walls : &led->delays; /* (3) */
}

void led_timer_set(struct led *led, struct led_timer *t, msec at)
{
    if (!led_timer_is_set(t))
        t->node->timers++;
    heap_set(heap_of(led, t), &t->heap, at, t->heap.order);
}

void led_timer_stop(struct led *led, struct led_timer *t)
{
    if (led_timer_is_set(t))
        t->node->timers--;
    heap_remove(heap_of(led, t), &t->heap);
}

/* ---- time passes ---- */

/* On the monotonic line; an absolute event that the clock jumped over is due at `floor`. */
static msec due_at(const struct led *led, const struct heap_node *n, msec floor)
{
    const struct led_timer *t = container_of(n, struct led_timer, heap);
    if (led_timer_class(t) != LED_WALL)
        return n->at;
    msec at = n->at - led->offset;
    return at < floor ? floor : at;
}

/* The earlier of the two heaps' first timers; NULL if both are empty. */
static struct heap_node *first_due(const struct led *led, msec floor, msec *ret_due)
{
    struct heap_node *d = heap_min(&led->delays), *w = heap_min(&led->walls), *n;
    if (d && w) {
        msec at_d = due_at(led, d, floor), at_w = due_at(led, w, floor);
        n = at_d != at_w ? (at_d < at_w ? d : w) : (d->order < w->order ? d : w);
    } else {
        n = d ? d : w;
    }
    *ret_due = n ? due_at(led, n, floor) : MSEC_NEVER;
    return n;
}

static void expire(struct led *led, struct led_timer *t, msec due)
{
    led->now = due; /* (1) */
    led->wall_late = led->real + led->offset - t->heap.at;
    led_timer_stop(led, t);
    bool is_outermost = led_signal_begin(led);
    t->node->event->op->expire(led, t->node, t);
    led_signal_end(led, is_outermost);
}

static msec pass(struct led *led, msec mono, msec wall, bool in_gap)
{
    CHECK(!led->is_running);
    msec floor = led->now;
    led->real = mono > led->now ? mono : led->now;
    led->offset = wall - led->real;
    led->in_gap = in_gap;
    for (;;) {
        msec due;
        struct heap_node *n = first_due(led, floor, &due);
        if (!n || due > led->real)
            break;
        expire(led, container_of(n, struct led_timer, heap), due);
    }
    led->now = led->real;
    led->in_gap = false;
    return led_next(led);
}

msec led_advance(struct led *led, msec mono, msec wall)
{
    return pass(led, mono, wall, /* in_gap= */ false);
}

msec led_wake(struct led *led, msec mono, msec wall)
{
    return pass(led, mono, wall, /* in_gap= */ true); /* (4) */
}

msec led_next(const struct led *led)
{
    msec due;
    first_due(led, led->now, &due);
    return due;
}

msec led_now(const struct led *led)
{
    return led->now;
}

msec led_wall(const struct led *led)
{
    return led->now + led->offset;
}
