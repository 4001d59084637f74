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

static void arm(struct led *led, struct led_series *s)
{
    msec at = s->last + s->timer.node->event->span;
    led_timer_set(led, &s->timer, at);
}

static struct led_series *append(struct led *led, struct led_node *self)
{
    struct led_series_list *all = led_state(self);
    struct led_series *s = led_alloc_of(led, struct led_series);
    if (all->last)
        all->last->next = s;
    else
        all->first = s;
    all->last = s;
    all->count++;
    return s;
}

static void cut(struct led *led, struct led_series_list *all, struct led_series *before)
{
    struct led_series *s = before ? before->next : all->first;
    if (before)
        before->next = s->next;
    else
        all->first = s->next;
    if (all->last == s)
        all->last = before;
    all->count--;
    led_timer_stop(led, &s->timer);
    led_unref(led, s->from);
    if (s->collected) {
        led_bag_clear(led, s->collected);
        led_release(led, s->collected, sizeof *s->collected);
    }
    led_release(led, s, sizeof *s);
}

void led_series_close(struct led *led, struct led_node *self)
{
    struct led_series_list *all = led_state(self);
    while (all->first)
        cut(led, all, NULL);
}

void led_series_open(
        struct led *led, struct led_node *self, struct led_occurrence *from, msec last_tick)
{
    struct led_series_list *all = led_state(self);
    if (self->context == LED_RECENT) /* (2) */
        led_series_close(led, self);
    if (self->context == LED_UNRESTRICTED && all->count == LED_KEEP_MAX) {
        cut(led, all, NULL);
        led->stats.dropped++;
    }
    struct led_series *s = append(led, self);
    led_timer_init(led, &s->timer, self, LED_TICK);
    s->from = led_ref(from);
    s->last = last_tick;
    if (self->context != LED_CUMULATIVE || s == all->first)
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
    struct led_series_list *all = led_state(self);
    struct led_series *before = NULL, *next;
    for (struct led_series *s = all->first; s; s = next) {
        next = s->next;
        if (s->from->end >= to->start) { /* (1): at its very start nothing ends */
            before = s;
            continue;
        }
        if (report)
            report(led, self, s, to);
        cut(led, all, before);
        if (self->context == LED_CHRONICLE)
            return;
    }
    if (self->context == LED_CUMULATIVE && all->first && !led_timer_is_set(&all->first->timer))
        take_over(led, all->first);
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
    struct led_series_list *all = led_state(self);
    for (struct led_series *s = all->first; s; s = s->next) {
        /* At the end of a gap the interval is read again anyway. */
        if (!led_timer_is_set(&s->timer) || led_timer_class(&s->timer) == LED_CATCH_UP)
            continue;
        msec at = s->last + self->event->span;
        led_timer_set(led, &s->timer, at > led->now ? at : led->now); /* (3) */
    }
}

void led_series_sync(struct led_stream *st, struct led_node *self)
{
    struct led_series *s = ((struct led_series_list *)led_state(self))->first;
    for (; led_sync_more(st, s != NULL); s = s->next) {
        if (!st->is_saving)
            s = append(st->led, self);
        led_sync_occurrence(st, &s->from);
        led_sync_timer(st, self, &s->timer, LED_TICK);
        led_sync_time(st, &s->last);
        led_sync_u32(st, &s->ticks);
        if (led_sync_more(st, s->collected != NULL)) {
            if (!s->collected)
                s->collected = led_alloc_of(st->led, struct led_bag);
            led_sync_bag(st, s->collected);
        }
    }
}

enum err led_rearm(struct led *led, struct led_event *e, msec interval, struct fault *f)
{
    if (!e->op->rearm)
        return fault_set(f, ERR_UNSUPPORTED, "only P and P* have an interval to change");
    enum err err = led_span_check("interval", interval, f);
    if (err)
        return err;
    if (e->is_deleted)
        return fault_set(f, ERR_NAME, "event is deleted");
    led_event_unkey(led, e); /* it is no longer what its key says */
    e->span = interval;
    for (struct led_node *n = e->nodes; n; n = n->next)
        e->op->rearm(led, n);
    return OK;
}
