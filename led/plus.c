/* PLUS: E + [T] occurs once, T after E.
 *
 *  (1) The delay counts from when E occurred, not from when we heard of it.
 *  (2) Each E has a timer of its own, and equal deadlines keep their order.
 *  (3) recent: an E before the delay is over starts it anew.
 *  (4) cumulative: the first E starts the delay, later ones join it.
 */
#include "led/led_int.h"

/* The node's state is the list of these. */
struct pending {
    struct list link;
    struct led_timer timer; /* (4): in the cumulative context only the first one's is set */
    struct led_occurrence *of;
};

static void plus_open(struct led *led, struct led_node *self)
{
    (void)led;
    list_init(led_state(self));
}

static struct pending *pending_new(
        struct led *led, struct led_node *self, struct led_occurrence *of)
{
    struct pending *p = led_alloc_of(led, struct pending);
    led_timer_init(led, &p->timer, self, LED_DELAY);
    p->of = led_ref(of);
    list_append(led_state(self), &p->link);
    return p;
}

static void pending_free(struct led *led, struct pending *p)
{
    led_timer_stop(led, &p->timer);
    list_remove(&p->link);
    led_unref(led, p->of);
    led_release(led, p, sizeof *p);
}

static void plus_close(struct led *led, struct led_node *self)
{
    list_each (l, (struct list *)led_state(self))
        pending_free(led, list_entry(l, struct pending, link));
}

static void plus_notify(
        struct led *led, struct led_node *self, unsigned role, struct led_occurrence *o)
{
    (void)role;
    if (self->context == LED_RECENT)
        plus_close(led, self); /* (3) */
    bool joins = self->context == LED_CUMULATIVE && !list_is_empty(led_state(self));
    struct pending *p = pending_new(led, self, o);
    if (!joins)
        led_timer_set(led, &p->timer, o->end + led_event_of(self)->span); /* (1) */
}

static void plus_expire(struct led *led, struct led_node *self, struct led_timer *timer)
{
    struct pending *due = container_of(timer, struct pending, timer); /* (2) */
    led_mix(led, due->of);
    pending_free(led, due);
    if (self->context == LED_CUMULATIVE) { /* (4) */
        list_each (l, (struct list *)led_state(self))
            led_mix(led, list_entry(l, struct pending, link)->of);
        plus_close(led, self);
    }
    led_detect_now(led, self, /* missed= */ 0);
}

static void plus_resume(
        struct led *led, struct led_node *self, struct led_occurrence *from, msec last_tick)
{
    (void)last_tick;
    plus_notify(led, self, 0, from);
}

static void plus_sync(struct led_stream *s, struct led_node *self)
{
    struct list *all = led_state(self);
    if (!s->is_saving)
        list_init(all);
    struct list *at = all->next;
    for (; led_sync_more(s, at != all); at = at->next) {
        struct pending *p = s->is_saving ? list_entry(at, struct pending, link)
                                         : led_alloc_of(s->led, struct pending);
        led_sync_occurrence(s, &p->of);
        led_sync_timer(s, self, &p->timer, LED_DELAY);
        if (!s->is_saving)
            list_append(all, at = &p->link);
    }
}

const struct led_op led_op_plus = {
        .name = "PLUS",
        .param = LED_PARAM_SPAN,
        .operands = 1,
        .instant = true,
        .state_bytes = sizeof(struct list),
        .open = plus_open,
        .notify = plus_notify,
        .expire = plus_expire,
        .resume = plus_resume,
        .close = plus_close,
        .sync = plus_sync,
};

enum err led_plus(struct led *led, struct led_event *of, msec delay, struct fault *f,
        struct led_event **ret_event)
{
    enum err err = led_span_check("delay", delay, f);
    if (err)
        return err;
    struct led_wish w = {&led_op_plus, delay, 1, &of};
    return led_event_make(led, &w, f, ret_event);
}
