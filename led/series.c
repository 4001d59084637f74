/* What P and P* share: windows with a clock in them.
 *
 *  (1) A window is (end of from, start of to].  Its grid is end of from + k * interval: no
 *      tick at the start, one exactly at the end counts, for timers come before raises.
 *  (2) unrestricted, continuous: a series for each `from`, all closed by `to`.
 *      recent: one; a new `from` starts it anew.
 *      chronicle: a series for each `from`, the oldest closed by `to`.
 *      cumulative: one clock, that of the oldest `from`; all closed by `to`.
 *  (3) Another interval moves the next tick to the last one (or the start) + interval, or to
 *      now if that is over; the count of ticks goes on.
 */
#include "led/led_int.h"

/* ---- what opened a window ---- */

static void opener_keep(
        struct led_series *s, const struct led_event *operand, struct led_occurrence *from)
{
    s->from.end = from->end;
    if (from->event == operand && from->data == 0) {
        s->from.arrival = from->arrival;
        s->from.number = from->number;
    } else {
        s->from.kept = led_ref(from);
    }
}

void led_series_mix(struct led *led, const struct led_series *s)
{
    if (!s->from.arrival) {
        led_mix(led, s->from.kept);
        return;
    }
    struct led_event *of = led_operand(led_event_of(led_timer_node(&s->timer)), 0);
    struct led_occurrence *o =
            led_occurrence_again(led, of, s->from.end, s->from.arrival, s->from.number);
    led_mix(led, o);
    led_unref(led, o);
}

/* ---- the ring of a node's series ---- */

static struct led_series *newest(const struct led_node *self)
{
    const struct led_series_ring *ring = led_state((struct led_node *)self);
    return led_linked(ring, ring->newest);
}

static struct led_series *next_of(const struct led_series *s)
{
    return led_linked(s, s->timer.next);
}

struct led_series *led_series_oldest(struct led_node *self)
{
    return newest(self) ? next_of(newest(self)) : NULL;
}

struct led_series *led_series_after(struct led_node *self, const struct led_series *s)
{
    return s == newest(self) ? NULL : next_of(s);
}

static uint32_t count(struct led_node *self)
{
    return ((struct led_series_ring *)led_state(self))->count;
}

static size_t bytes_of(const struct led_node *n)
{
    bool collects = led_op(led_event_of(n)) == &led_op_periodic_star;
    return sizeof(struct led_series) + (collects ? sizeof(struct led_bag) : 0);
}

static struct led_series *append(struct led *led, struct led_node *self)
{
    struct led_series_ring *ring = led_state(self);
    struct led_series *s = led_alloc(led, bytes_of(self)), *before = newest(self);
    s->timer.next = before ? before->timer.next : led_link_to(s);
    if (before)
        before->timer.next = led_link_to(s);
    ring->newest = led_link_to(s);
    ring->count++;
    return s;
}

/* The one after `before` (NULL: the oldest) goes. */
static void cut(struct led *led, struct led_node *self, struct led_series *before)
{
    struct led_series_ring *ring = led_state(self);
    if (!before)
        before = newest(self);
    struct led_series *s = next_of(before);
    before->timer.next = s->timer.next;
    if (newest(self) == s)
        ring->newest = before == s ? 0 : led_link_to(before);
    ring->count--;
    led_timer_stop(led, &s->timer);
    if (!s->from.arrival)
        led_unref(led, s->from.kept);
    if (bytes_of(self) > sizeof *s)
        led_bag_clear(led, s->collected);
    led_release(led, s, bytes_of(self));
}

void led_series_close(struct led *led, struct led_node *self)
{
    while (count(self))
        cut(led, self, NULL);
}

/* ---- opening and ending ---- */

static void arm(struct led *led, struct led_series *s)
{
    led_timer_set(led, &s->timer, s->last + led_event_of(led_timer_node(&s->timer))->span);
}

void led_series_open(
        struct led *led, struct led_node *self, struct led_occurrence *from, msec last_tick)
{
    if (self->context == LED_RECENT) /* (2) */
        led_series_close(led, self);
    if (self->context == LED_UNRESTRICTED && count(self) == LED_KEEP_MAX) {
        cut(led, self, NULL);
        led->stats.dropped++;
    }
    struct led_series *s = append(led, self);
    led_timer_init(led, &s->timer, self, LED_TICK);
    opener_keep(s, led_operand(led_event_of(self), 0), from);
    s->last = last_tick;
    if (self->context != LED_CUMULATIVE || count(self) == 1)
        arm(led, s); /* (1) */
}

/* The clock of the oldest has gone with it; the next one's grid goes on from now. */
static void take_over(struct led *led, struct led_series *s)
{
    msec interval = led_event_of(led_timer_node(&s->timer))->span;
    s->last += (led->now - s->last) / interval * interval;
    arm(led, s);
}

void led_series_end(struct led *led, struct led_node *self, struct led_occurrence *to,
        led_series_fn *report)
{
    struct led_series *before = NULL, *next;
    for (struct led_series *s = led_series_oldest(self); s; s = next) {
        next = led_series_after(self, s);
        if (s->from.end >= to->start) { /* (1): at its very start nothing ends */
            before = s;
            continue;
        }
        if (report)
            report(led, self, s, to);
        cut(led, self, before);
        if (self->context == LED_CHRONICLE)
            return;
    }
    struct led_series *oldest = led_series_oldest(self);
    if (self->context == LED_CUMULATIVE && oldest && !led_timer_is_set(&oldest->timer))
        take_over(led, oldest);
}

void led_series_next(struct led *led, struct led_series *s, msec at)
{
    s->last = at;
    arm(led, s);
}

void led_series_resume(
        struct led *led, struct led_node *self, struct led_occurrence *from, msec last_tick)
{
    led_series_open(led, self, from, last_tick == MSEC_NEVER ? from->end : last_tick);
}

void led_series_rearm(struct led *led, struct led_node *self)
{
    for (struct led_series *s = led_series_oldest(self); s; s = led_series_after(self, s)) {
        /* At the end of a gap the interval is read again anyway. */
        if (!led_timer_is_set(&s->timer) || led_timer_class(&s->timer) == LED_CATCH_UP)
            continue;
        msec at = s->last + led_event_of(self)->span;
        led_timer_set(led, &s->timer, at > led->now ? at : led->now); /* (3) */
    }
}

/* ---- snapshots ---- */

static void opener_sync(struct led_stream *st, struct led_opener *from, bool is_leaf)
{
    led_sync_time(st, &from->end);
    from->arrival = led_sync_below(st, from->arrival, st->led->last_arrival + 1);
    if (from->arrival && is_leaf)
        led_sync_u64(st, &from->number);
    else if (from->arrival)
        led_sync_fail(st);
    else
        led_sync_occurrence(st, &from->kept);
}

void led_series_sync(struct led_stream *st, struct led_node *self)
{
    struct led_series *s = led_series_oldest(self);
    while (led_sync_more(st, s != NULL)) {
        if (!st->is_saving)
            s = append(st->led, self);
        led_sync_timer(st, self, &s->timer, LED_TICK);
        led_sync_u32(st, &s->timer.heap.tag);
        opener_sync(st, &s->from, led_is_leaf(led_operand(led_event_of(self), 0)));
        led_sync_time(st, &s->last);
        if (bytes_of(self) > sizeof *s)
            led_sync_bag(st, s->collected);
        s = led_series_after(self, s);
    }
}

enum err led_rearm(struct led *led, struct led_event *e, msec interval, struct fault *f)
{
    if (!led_op(e)->rearm)
        return fault_set(f, ERR_UNSUPPORTED, "only P and P* have an interval to change");
    enum err err = led_span_check("interval", interval, f);
    if (err)
        return err;
    if (e->is_deleted)
        return fault_set(f, ERR_NAME, "event is deleted");
    led_event_unkey(led, e); /* it is no longer what its key says */
    e->span = interval;
    for (struct led_node *n = led_node_first(e); n; n = led_node_next(n))
        led_op(e)->rearm(led, n);
    return OK;
}
