/* Looking at a detector: expressions as text, figures, the live graph. */
#include "led/led_int.h"
#include <inttypes.h>
#include <stdlib.h>

/* ---- an expression as people write it ---- */

static void operands_text(
        const struct led_event *e, unsigned first, unsigned count, struct buf *out)
{
    for (unsigned i = 0; i < count; i++) {
        if (i)
            buf_puts(out, ", ");
        led_event_text(e->operands[first + i], out);
    }
}

static void leaf_text(const struct led_event *e, struct buf *out)
{
    if (e->op->param == LED_PARAM_WALL)
        buf_printf(out, "%s(%" PRId64 ")", e->op->name, e->wall);
    else if (led_event_name(e))
        buf_puts(out, e->name);
    else
        buf_printf(out, "#%" PRIu64, led_event_id(e));
}

void led_event_text(const struct led_event *e, struct buf *out)
{
    if (e->op->operands == 0 || e->is_deleted) {
        leaf_text(e, out);
        return;
    }
    buf_printf(out, "%s(", e->op->name);
    if (e->op == &led_op_not) {
        led_event_text(e->operands[1], out);
        buf_puts(out, ")[");
        led_event_text(e->operands[0], out);
        buf_puts(out, ", ");
        led_event_text(e->operands[2], out);
        buf_putc(out, ']');
        return;
    }
    if (e->op->param == LED_PARAM_NEEDED)
        buf_printf(out, "%" PRIu64 ", ", e->needed);
    if (e->op->param == LED_PARAM_SPAN) { /* PLUS(E, t), P(E, t, F) */
        operands_text(e, 0, 1, out);
        buf_printf(out, ", %" PRId64, e->span);
        if (e->arity > 1)
            buf_puts(out, ", ");
        operands_text(e, 1, e->arity - 1u, out);
    } else {
        operands_text(e, 0, e->arity, out);
    }
    buf_putc(out, ')');
}

/* ---- figures ---- */

void led_stats_get(const struct led *led, struct led_stats *ret_stats)
{
    *ret_stats = led->stats;
    ret_stats->timers = (size_t)led->delays.count + led->walls.count;
    ret_stats->bytes = arena_bytes(led->mem.arena) +
                       ((size_t)led->delays.cap + led->walls.cap) * sizeof(struct heap_node *) +
                       (led->events_by_id.mask + led->events_by_key.mask + 2) * sizeof(void *);
}

/* ---- the live graph ---- */

static int by_age(const void *a, const void *b)
{
    const struct led_node *x = *(struct led_node *const *)a, *y = *(struct led_node *const *)b;
    return x->id < y->id ? -1 : x->id > y->id;
}

struct led_node **led_nodes_by_age(const struct led *led, struct arena *scratch)
{
    struct led_node **nodes = arena_array_of(scratch, led->stats.nodes + 1, struct led_node *);
    size_t count = 0;
    map_each (m, &led->events_by_id) {
        struct led_event *e = container_of(m, struct led_event, by_id);
        for (struct led_node *n = e->nodes; n; n = n->next)
            nodes[count++] = n;
    }
    CHECK(count == led->stats.nodes);
    qsort(nodes, count, sizeof *nodes, by_age);
    return nodes;
}

/* One pass over the timers, however many nodes there are: next[i] belongs to nodes[i]. */
static void earliest(
        const struct heap *h, struct led_node **nodes, size_t count, msec offset, msec *next)
{
    for (uint32_t i = 0; i < h->count; i++) {
        struct led_timer *t = container_of(h->nodes[i], struct led_timer, heap);
        struct led_node **n = bsearch(&t->node, nodes, count, sizeof *nodes, by_age);
        CHECK(n);
        if (t->heap.at - offset < next[n - nodes])
            next[n - nodes] = t->heap.at - offset;
    }
}

static void view(const struct led_node *n, msec next, struct led_node_view *v)
{
    *v = (struct led_node_view){
            .id = n->id,
            .operator_name = n->event->op->name,
            .event = n->event,
            .context = n->context,
            .occurrences = n->count,
            .pending_timers = n->timers,
            .operand_count = n->event->arity,
            .next = next,
    };
    for (unsigned i = 0; i < n->event->arity; i++)
        v->operands[i] = n->edges[i].operand->id;
    list_each (l, &n->event->rules)
        v->rules += list_entry(l, struct led_rule, link)->node == n;
}

void led_each_node(const struct led *led, led_node_fn *fn, void *ctx)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "led view");
    struct led_node **nodes = led_nodes_by_age(led, scratch);
    size_t count = led->stats.nodes;
    msec *next = arena_array_of(scratch, count + 1, msec);
    for (size_t i = 0; i < count; i++)
        next[i] = MSEC_NEVER;
    earliest(&led->delays, nodes, count, 0, next);
    earliest(&led->walls, nodes, count, led->offset, next);
    for (size_t i = 0; i < count; i++) {
        struct led_node_view v;
        view(nodes[i], next[i], &v);
        fn(ctx, &v);
    }
}
