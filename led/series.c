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

static bool opens_by_leaf(const struct led_node *n)
{
    return led_is_leaf(n->event->operands[0]);
}

static void opener_keep(struct led_series *s, struct led_occurrence *from)
{
    s->from.end = from->end;
    if (opens_by_leaf(s->timer.node)) {
        s->from.arrival = from->arrival;
        s->from.number = from->number;
        s->from.data = from->data;
    } else {
        s->from.kept = led_ref(from);
    }
}

void led_series_mix(struct led *led, const struct led_series *s)
{
    const struct led_node *n = s->timer.node;
    if (!opens_by_leaf(n)) {
        led_mix(led, s->from.kept);
        return;
    }
    struct led_occurrence *o = led_occurrence_again(
            led, n->event->operands[0], s->from.end, s->from.arrival, s->from.number);
    o->data = s->from.data;
    led_mix(led, o);
    led_unref(led, o);
}

/* ---- the ring of a node's series ---- */

struct led_series *led_series_oldest(struct led_node *self)
{
    struct led_series_ring *ring = led_state(self);
    return ring->newest ? ring->newest->next : NULL;
}

struct led_series *led_series_after(struct led_node *self, const struct led_series *s)
{
    struct led_series_ring *ring = led_state(self);
    return s == ring->newest ? NULL : s->next;
}

static size_t bytes_of(const struct led_node *n)
{
    bool collects = led_op(n->event) == &led_op_periodic_star;
    return sizeof(struct led_series) + (collects ? sizeof(struct led_bag) : 0);
}

static struct led_series *append(struct led *led, struct led_node *self)
{
    struct led_series_ring *ring = led_state(self);
    struct led_series *s = led_alloc(led, bytes_of(self));
    s->next = ring->newest ? ring->newest->next : s;
    if (ring->newest)
        ring->newest->next = s;
    ring->newest = s;
    self->open++;
    return s;
}

/* The one after `before` (NULL: the oldest) goes. */
static void cut(struct led *led, struct led_node *self, struct led_series *before)
{
    struct led_series_ring *ring = led_state(self);
    if (!before)
        before = ring->newest;
    struct led_series *s = before->next;
    before->next = s->next;
    if (ring->newest == s)
        ring->newest = before == s ? NULL : before;
    self->open--;
    led_timer_stop(led, &s->timer);
    if (!opens_by_leaf(self))
        led_unref(led, s->from.kept);
    if (bytes_of(self) > sizeof *s)
        led_bag_clear(led, s->collected);
    led_release(led, s, bytes_of(self));
}

void led_series_close(struct led *led, struct led_node *self)
{
    while (self->open)
        cut(led, self, NULL);
}

/* ---- opening and ending ---- */

static void arm(struct led *led, struct led_series *s)
{
    led_timer_set(led, &s->timer, s->last + s->timer.node->event->span);
}

void led_series_open(
        struct led *led, struct led_node *self, struct led_occurrence *from, msec last_tick)
{
    if (self->context == LED_RECENT) /* (2) */
        led_series_close(led, self);
    if (self->context == LED_UNRESTRICTED && self->open == LED_KEEP_MAX) {
        cut(led, self, NULL);
        led->stats.dropped++;
    }
    struct led_series *s = append(led, self);
    led_timer_init(led, &s->timer, self, LED_TICK);
    opener_keep(s, from);
    s->last = last_tick;
    if (self->context != LED_CUMULATIVE || self->open == 1)
        arm(led, s); /* (1) */
}

/* The clock of the oldest has gone with it; the next one's grid goes on from now. */
static void take_over(struct led *led, struct led_series *s)
{
    msec interval = s->timer.node->event->span;
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
        msec at = s->last + self->event->span;
        led_timer_set(led, &s->timer, at > led->now ? at : led->now); /* (3) */
    }
}

/* ---- snapshots ---- */

static void opener_sync(struct led_stream *st, struct led_opener *from, bool is_leaf)
{
    led_sync_time(st, &from->end);
    if (!is_leaf) {
        led_sync_occurrence(st, &from->kept);
        return;
    }
    from->arrival = led_sync_below(st, from->arrival, st->led->last_arrival + 1);
    led_sync_u64(st, &from->number);
    led_sync_u64(st, &from->data);
}

void led_series_sync(struct led_stream *st, struct led_node *self)
{
    struct led_series *s = led_series_oldest(self);
    while (led_sync_more(st, s != NULL)) {
        if (!st->is_saving)
            s = append(st->led, self);
        led_sync_timer(st, self, &s->timer, LED_TICK);
        led_sync_u32(st, &s->timer.heap.tag);
        opener_sync(st, &s->from, opens_by_leaf(self));
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
    for (struct led_node *n = e->nodes; n; n = n->next)
        led_op(e)->rearm(led, n);
    return OK;
}
