/* Time: timers, and how it passes.
 *
 *  (1) What is due occurs at the time it was due, earliest first, however late we come.
 *  (2) At one instant: ticks of P and P*, then PLUS, then absolute events, each by
 *      registration; whatever the program raises at that instant comes after them.
 *  (3) Absolute events wait on the wall clock, all others on the monotonic one.  A wall
 *      clock that jumps over an absolute event makes it occur now, late by the amount; one
 *      that jumps back makes what is pending wait longer, and repeats nothing.
 *  (4) After a gap a P does not tick once for each tick missed: see periodic.c.
 *  (5) An instant is over when no timer is due at it any more; then settled rules run.  At
 *      the end of a gap that is before the ticks that make up for it.
 */
#include "led/led_int.h"

enum { CLASS_SHIFT = 60 };

uint64_t led_timer_order(struct led *led, enum led_timer_class class) /* (2) */
{
    return (uint64_t) class << CLASS_SHIFT | ++led->last_timer;
}

void led_timer_init(
        struct led *led, struct led_timer *t, struct led_node *n, enum led_timer_class class)
{
    heap_node_init(&t->heap);
    t->heap.order = led_timer_order(led, class);
    t->node = led_link_to(n);
}

uint64_t led_timer_reorder(uint64_t order, enum led_timer_class class)
{
    uint64_t registration = order & (((uint64_t)1 << CLASS_SHIFT) - 1);
    return (uint64_t) class << CLASS_SHIFT | registration;
}

void led_timer_set_class(struct led_timer *t, enum led_timer_class class)
{
    t->heap.order = led_timer_reorder(t->heap.order, class);
}

enum led_timer_class led_timer_class(const struct led_timer *t)
{
    return (enum led_timer_class)(t->heap.order >> CLASS_SHIFT);
}

void led_timer_set(struct led *led, struct led_timer *t, msec at)
{
    heap_set(&led->delays, &t->heap, at, t->heap.order);
}

void led_timer_stop(struct led *led, struct led_timer *t)
{
    heap_remove(&led->delays, &t->heap);
}

/* ---- time passes ---- */

/* The first timer that is due, on the monotonic line. */
struct due {
    struct heap_node *timer; /* NULL: none */
    bool on_wall;
    msec at;
};

/* An absolute event that the clock jumped over is due at `floor`. */
static struct due first_due(const struct led *led, msec floor)
{
    struct heap_node *d = heap_min(&led->delays), *w = heap_min(&led->walls);
    struct due delay = {.timer = d, .at = d ? d->at : MSEC_NEVER};
    if (!w)
        return delay;
    struct due wall = {.timer = w, .on_wall = true, .at = w->at - led->offset}; /* (3) */
    if (wall.at < floor)
        wall.at = floor;
    if (!d || wall.at < delay.at || (wall.at == delay.at && w->order < d->order))
        return wall;
    return delay;
}

static void expire(struct led *led, const struct due *due)
{
    led->now = due->at; /* (1) */
    bool is_outermost = led_signal_begin(led);
    if (due->on_wall) {
        led_absolute_expire(led, due->timer);
    } else {
        struct led_timer *t = container_of(due->timer, struct led_timer, heap);
        led_timer_stop(led, t);
        struct led_node *n = led_timer_node(t);
        led_op(led_event_of(n))->expire(led, n, t);
    }
    led_signal_end(led, is_outermost);
}

/* Whether the instant we are at is not over before that. */
static bool belongs_to_now(const struct led *led, const struct due *due)
{
    if (due->at > led->now)
        return false;
    return due->on_wall ||
           led_timer_class(container_of(due->timer, struct led_timer, heap)) != LED_CATCH_UP;
}

static msec pass(struct led *led, msec mono, msec wall, bool in_gap)
{
    CHECK(!led->is_running);
    msec floor = led->now;
    led->real = mono > led->now ? mono : led->now;
    led->offset = wall - led->real;
    led->in_gap = in_gap;
    led->is_passing = true;
    for (;;) {
        struct due due = first_due(led, floor);
        bool is_due = due.timer && due.at <= led->real;
        if (!list_is_empty(&led->settled) && !(is_due && belongs_to_now(led, &due)))
            led_settle(led); /* (5); it may have set timers */
        else if (is_due)
            expire(led, &due);
        else
            break;
    }
    led->now = led->real;
    led->in_gap = led->is_passing = false;
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
    return first_due(led, led->now).at;
}

msec led_now(const struct led *led)
{
    return led->now;
}

msec led_wall(const struct led *led)
{
    return led->now + led->offset;
}
