/* Detection: how an occurrence goes through the graph.
 *
 *  (1) Nodes are served oldest first, so each has received everything of this raise from its
 *      operands before it is served, and the result does not depend on how nodes are shared.
 *  (2) What a node received is handed to it from the last role to the first: an occurrence
 *      can end a window before it opens its own.
 *  (3) No rule runs in here.
 */
#include "led/led_int.h"

/* ---- the nodes waiting to be served: a binary heap by id ---- */

static void queue_push(struct led *led, struct led_node *n)
{
    if (led->queued == led->queue_cap)
        led->queue = led_grow(led, led->queue, &led->queue_cap);
    size_t i = led->queued++;
    while (i > 0 && n->id < led->queue[(i - 1) / 2]->id) {
        led->queue[i] = led->queue[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    led->queue[i] = n;
}

static struct led_node *queue_pop(struct led *led)
{
    struct led_node *first = led->queue[0], *last = led->queue[--led->queued];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= led->queued)
            break;
        if (child + 1 < led->queued && led->queue[child + 1]->id < led->queue[child]->id)
            child++;
        if (last->id < led->queue[child]->id)
            break;
        led->queue[i] = led->queue[child];
        i = child;
    }
    led->queue[i] = last;
    return first;
}

/* ---- from node to node ---- */

static void deliver(
        struct led *led, struct led_node *to, uint32_t role, struct led_occurrence *o)
{
    if (!to->inbox) {
        to->inbox = led_alloc_of(led, struct led_inbox);
        queue_push(led, to);
    }
    struct led_arrival *a = led_alloc_of(led, struct led_arrival);
    a->o = led_ref(o);
    a->role = role;
    if (to->inbox->last)
        to->inbox->last->next = a;
    else
        to->inbox->first = a;
    to->inbox->last = a;
}

static struct led_node *listener(struct led_edge *edge)
{
    return container_of(edge - edge->role, struct led_node, edges);
}

void led_emit(struct led *led, struct led_node *n, struct led_occurrence *o)
{
    n->count++;
    if (!list_is_empty(&n->event->rules))
        led_trigger(led, n, o);
    list_each (l, &n->listeners) {
        struct led_edge *edge = list_entry(l, struct led_edge, link);
        deliver(led, listener(edge), edge->role, o);
    }
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

static void serve(struct led *led, struct led_node *n)
{
    struct led_inbox *in = n->inbox;
    n->inbox = NULL;
    for (unsigned role = n->event->arity; role-- > 0;) /* (2) */
        for (struct led_arrival *a = in->first; a; a = a->next)
            if (a->role == role)
                n->event->op->notify(led, n, role, a->o);
    while (in->first) {
        struct led_arrival *a = in->first;
        in->first = a->next;
        led_unref(led, a->o);
        led_release(led, a, sizeof *a);
    }
    led_release(led, in, sizeof *in);
}

void led_detect_run(struct led *led)
{
    while (led->queued)
        serve(led, queue_pop(led)); /* (1) */
}
