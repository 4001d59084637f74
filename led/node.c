/* Nodes: an operator at work in one context.
 *
 *  (1) A node exists exactly while an enabled rule needs it, itself or through a node above.
 *      When the last need goes its state and timers go with it, and a later one starts empty.
 *  (2) A node is younger than its operands' nodes: their ids order detection.
 *  (3) Leaves have no use for a context, and so no node; their event counts who needs it.
 */
#include "led/led_int.h"

struct led_node *led_node_find(const struct led_event *e, enum led_context context)
{
    struct led_node *n = led_node_first(e);
    while (n && n->context != context)
        n = led_node_next(n);
    return n;
}

static size_t bytes_of(const struct led_event *e)
{
    return sizeof(struct led_node) + led_op(e)->state_bytes;
}

bool led_operand_is_repeated(const struct led_event *e, unsigned role)
{
    for (unsigned i = 0; i < role; i++)
        if (e->operands[i] == e->operands[role])
            return true;
    return false;
}

static struct led_listeners *listeners_of(struct led_event *e, enum led_context context)
{
    return led_is_leaf(e) ? &e->listeners : &led_node_find(e, context)->listeners;
}

struct led_node *led_node_new(
        struct led *led, struct led_event *e, enum led_context context, uint64_t id)
{
    struct led_node *n = led_alloc(led, bytes_of(e));
    n->event = led_link_to(e);
    n->id = id;
    n->context = context;
    for (unsigned i = 0; i < e->arity; i++)
        if (!led_operand_is_repeated(e, i))
            led_listeners_add(led, listeners_of(led_operand(e, i), context), n);
    n->next = e->nodes;
    e->nodes = led_link_to(n);
    led->stats.nodes++;
    return n;
}

static void node_free(struct led *led, struct led_node *n)
{
    struct led_event *e = led_event_of(n);
    if (led_op(e)->close) /* (1) */
        led_op(e)->close(led, n);
    led_link *at = &e->nodes;
    while (*at != led_link_to(n))
        at = &((struct led_node *)led_linked(n, *at))->next;
    *at = n->next;
    for (unsigned i = 0; i < e->arity; i++) {
        if (led_operand_is_repeated(e, i))
            continue;
        led_listeners_remove(led, listeners_of(led_operand(e, i), n->context), n);
        led_unneed(led, led_operand(e, i), n->context);
    }
    led_release(led, n, bytes_of(e));
    led->stats.nodes--;
}

static void leaf_need(struct led *led, struct led_event *e) /* (3) */
{
    if (e->needs++)
        return;
    led->needed_leaves++;
    if (led_op(e)->leaf_open)
        led_op(e)->leaf_open(led, e);
}

void led_need(struct led *led, struct led_event *e, enum led_context context)
{
    if (led_is_leaf(e)) {
        leaf_need(led, e);
        return;
    }
    struct led_node *n = led_node_find(e, context);
    if (!n) {
        for (unsigned i = 0; i < e->arity; i++)
            if (!led_operand_is_repeated(e, i))
                led_need(led, led_operand(e, i), context);
        n = led_node_new(led, e, context, ++led->last_node_id); /* (2) */
        if (led_op(e)->open)
            led_op(e)->open(led, n);
    }
    n->users++;
}

static void leaf_unneed(struct led *led, struct led_event *e)
{
    CHECK(e->needs > 0);
    if (--e->needs)
        return;
    led->needed_leaves--;
    if (led_op(e)->leaf_close)
        led_op(e)->leaf_close(led, e);
}

void led_unneed(struct led *led, struct led_event *e, enum led_context context)
{
    if (led_is_leaf(e)) {
        leaf_unneed(led, e);
        return;
    }
    struct led_node *n = led_node_find(e, context);
    CHECK(n && n->users > 0);
    if (--n->users == 0)
        node_free(led, n);
}

bool led_need_restored(struct led *led, struct led_event *e, enum led_context context)
{
    struct led_node *n = led_node_find(e, context);
    if (led_is_leaf(e))
        led->needed_leaves += e->needs++ == 0;
    else if (n)
        n->users++;
    return n || led_is_leaf(e);
}
