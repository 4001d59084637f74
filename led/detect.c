/* Detection: how an occurrence goes through the graph.
 *
 *  (1) Nodes are served oldest first, so each has received everything of this raise from its
 *      operands before it is served, and the result does not depend on how nodes are shared.
 *  (2) What a node received is handed to it from the last role to the first: an occurrence
 *      can end a window before it opens its own.
 *  (3) No rule runs in here.
 */
#include "led/led_int.h"
#include <stdlib.h>

/* ---- what waits to be served: a binary heap by node, then role, then arrival ---- */

enum { QUEUE_KEPT = 1024 };

static bool is_before(const struct led_arrival *a, const struct led_arrival *b)
{
    return a->id != b->id ? a->id < b->id : a->order < b->order;
}

static void queue_push(struct led *led, struct led_arrival a)
{
    if (led->queued == led->queue_cap) {
        led->queue_cap = led->queue_cap ? 2 * led->queue_cap : QUEUE_KEPT;
        led->queue = realloc(led->queue, led->queue_cap * sizeof led->queue[0]);
        CHECK(led->queue);
    }
    size_t i = led->queued++;
    while (i > 0 && is_before(&a, &led->queue[(i - 1) / 2])) {
        led->queue[i] = led->queue[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    led->queue[i] = a;
}

static struct led_arrival queue_pop(struct led *led)
{
    struct led_arrival first = led->queue[0], last = led->queue[--led->queued];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= led->queued)
            break;
        if (child + 1 < led->queued && is_before(&led->queue[child + 1], &led->queue[child]))
            child++;
        if (is_before(&last, &led->queue[child]))
            break;
        led->queue[i] = led->queue[child];
        i = child;
    }
    led->queue[i] = last;
    return first;
}

/* ---- from node to node ---- */

enum { ROLE_SHIFT = 58 }; /* above the number of arrivals in one raise */

static unsigned role_of(const struct led_arrival *a)
{
    return LED_ANY_MAX - (unsigned)(a->order >> ROLE_SHIFT);
}

/* To each node that listens, in each role that the event has for it. */
static void deliver(struct led *led, const struct led_listeners *l, const struct led_event *e,
        struct led_occurrence *o)
{
    struct led_node *to;
    for (size_t i = 0; (to = led_listeners_next(l, &i));) {
        const struct led_event *of = led_event_of(to);
        for (uint32_t role = 0; role < of->arity; role++) {
            if (led_operand(of, role) != e)
                continue;
            uint64_t order = (uint64_t)(LED_ANY_MAX - role) << ROLE_SHIFT; /* (2) */
            queue_push(led, (struct led_arrival){.id = to->id,
                                    .order = order | ++led->last_queued,
                                    .to = led_link_to(to),
                                    .o = led_link_to(led_ref(o))});
        }
    }
}

void led_emit_leaf(struct led *led, struct led_event *e, struct led_occurrence *o)
{
    led_trigger(led, e, /* context= */ 0, o);
    deliver(led, &e->listeners, e, o);
    led_unref(led, o);
}

void led_emit(struct led *led, struct led_node *n, struct led_occurrence *o)
{
    const struct led_event *e = led_event_of(n);
    n->count++;
    led_trigger(led, e, n->context, o);
    deliver(led, &n->listeners, e, o);
    led_unref(led, o);
}

void led_detect(struct led *led, struct led_node *n, const struct led_occurrence *detector)
{
    led->stats.detected++;
    led_emit(led, n, led_mix_take(led, detector));
}

void led_detect_now(struct led *led, struct led_node *n, uint32_t missed)
{
    struct led_occurrence *o = led_mix_take_at(led, led->now);
    o->missed = missed;
    led->stats.detected++;
    led_emit(led, n, o);
}

void led_detect_run(struct led *led)
{
    while (led->queued) {
        struct led_arrival a = queue_pop(led); /* (1) */
        struct led_node *to = led_linked(led->mem.base, a.to);
        struct led_occurrence *o = led_linked(led->mem.base, a.o);
        led_op(led_event_of(to))->notify(led, to, role_of(&a), o);
        led_unref(led, o);
    }
    led->last_queued = 0;
    if (led->queue_cap > QUEUE_KEPT) { /* one raise that a million heard */
        free(led->queue);
        led->queue = NULL;
        led->queue_cap = 0;
    }
}
