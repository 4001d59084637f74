/* Nodes: an event at work in one context.
 *
 *  (1) A node exists exactly while an enabled rule needs it, itself or through a node above.
 *      When the last need goes its state and timers go with it, and a later one starts empty.
 *  (2) A node is younger than its operands' nodes: their ids order detection.
 *  (3) Leaves have no use for a context: one node serves them all.
 */
#include "led/led_int.h"

static enum led_context context_for(const struct led_event *e, enum led_context context)
{
    return e->op->operands == 0 ? LED_UNRESTRICTED : context; /* (3) */
}

struct led_node *led_node_find(const struct led_event *e, enum led_context context)
{
    context = context_for(e, context);
    struct led_node *n = e->nodes;
    while (n && n->context != context)
        n = n->next;
    return n;
}

static size_t bytes_of(const struct led_event *e)
{
    return sizeof(struct led_node) + e->arity * sizeof(struct led_edge) + e->op->state_bytes;
}

struct led_node *led_node_new(
        struct led *led, struct led_event *e, enum led_context context, uint64_t id)
{
    struct led_node *n = led_alloc(led, bytes_of(e));
    n->event = e;
    n->id = id;
    n->context = context_for(e, context);
    list_init(&n->listeners);
    for (unsigned i = 0; i < e->arity; i++) {
        struct led_edge *edge = &n->edges[i];
        edge->role = i;
        edge->operand = led_node_find(e->operands[i], context);
        edge->operand->users++;
        list_append(&edge->operand->listeners, &edge->link);
    }
    n->next = e->nodes;
    e->nodes = n;
    led->stats.nodes++;
    return n;
}

static struct led_node *need(struct led *led, struct led_event *e, enum led_context context)
{
    struct led_node *n = led_node_find(e, context);
    if (n)
        return n;
    for (unsigned i = 0; i < e->arity; i++)
        need(led, e->operands[i], context);
    n = led_node_new(led, e, context, ++led->last_node_id); /* (2) */
    if (e->op->open)
        e->op->open(led, n);
    return n;
}

struct led_node *led_node_use(struct led *led, struct led_event *e, enum led_context context)
{
    struct led_node *n = need(led, e, context);
    n->users++;
    return n;
}

void led_node_unuse(struct led *led, struct led_node *n)
{
    CHECK(n->users > 0);
    if (--n->users)
        return;
    struct led_event *e = n->event;
    if (e->op->close) /* (1) */
        e->op->close(led, n);
    struct led_node **at = &e->nodes;
    while (*at != n)
        at = &(*at)->next;
    *at = n->next;
    for (unsigned i = 0; i < e->arity; i++) {
        list_remove(&n->edges[i].link);
        led_node_unuse(led, n->edges[i].operand);
    }
    led_release(led, n, bytes_of(e));
    led->stats.nodes--;
}

bool led_node_is_instant(const struct led_node *n)
{
    if (n->event->op != &led_op_or)
        return n->event->op->instant;
    return led_node_is_instant(n->edges[0].operand) && led_node_is_instant(n->edges[1].operand);
}
