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
        led_event_text(led_operand(e, first + i), out);
    }
}

static void leaf_text(const struct led_event *e, struct buf *out)
{
    if (led_op(e)->param == LED_PARAM_WALL)
        buf_printf(out, "%s(%" PRId64 ")", led_op(e)->name, e->wall);
    else if (led_event_name(e))
        buf_puts(out, led_event_name(e));
    else
        buf_printf(out, "#%" PRIu64, led_event_id(e));
}

void led_event_text(const struct led_event *e, struct buf *out)
{
    if (led_is_leaf(e) || e->is_deleted) {
        leaf_text(e, out);
        return;
    }
    buf_printf(out, "%s(", led_op(e)->name);
    if (led_op(e) == &led_op_not) {
        led_event_text(led_operand(e, 1), out);
        buf_puts(out, ")[");
        led_event_text(led_operand(e, 0), out);
        buf_puts(out, ", ");
        led_event_text(led_operand(e, 2), out);
        buf_putc(out, ']');
        return;
    }
    if (led_op(e)->param == LED_PARAM_NEEDED)
        buf_printf(out, "%" PRIu64 ", ", e->needed);
    if (led_op(e)->param == LED_PARAM_SPAN) { /* PLUS(E, t), P(E, t, F) */
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
    ret_stats->nodes += led->needed_leaves;
    ret_stats->timers = (size_t)led->delays.count + led->walls.count;
    ret_stats->bytes = sizeof *led + led->mem.open + led->queue_cap * sizeof led->queue[0] +
                       ((size_t)led->delays.cap + led->walls.cap) * sizeof(struct heap_node *) +
                       (led->manners.mask + 1) * sizeof(void *) + led_index_bytes(led);
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
    struct led_event *e;
    for (size_t at = 0; (e = led_index_next(led, &at));)
        for (struct led_node *n = led_node_first(e); n; n = led_node_next(n))
            nodes[count++] = n;
    CHECK(count == led->stats.nodes);
    qsort(nodes, count, sizeof *nodes, by_age);
    return nodes;
}

/* Leaves have their event's id; nodes come behind all of them. */
static uint64_t view_id(const struct led_node *n)
{
    return ((uint64_t)1 << 32) + n->id;
}

static size_t rules_on(const struct led_event *e, enum led_context context)
{
    size_t count = 0;
    for (struct led_rule *r = led_rule_first(e); r; r = led_rule_next(r))
        count += r->is_enabled && (led_is_leaf(e) || led_rule_spec(r)->context == context);
    return count;
}

static void view_leaf(const struct led *led, struct led_event *e, struct led_node_view *v)
{
    *v = (struct led_node_view){.id = led_event_id(e),
            .operator_name = led_op(e)->name,
            .event = e,
            .occurrences = led_event_count(e),
            .rules = rules_on(e, 0),
            .next = MSEC_NEVER};
    if (led_event_is_absolute(e, NULL) && heap_node_is_in(led_leaf_state(e))) {
        v->pending_timers = 1;
        v->next = e->wall - led->offset;
    }
}

struct pending {
    msec next;
    size_t timers;
};

/* One pass over the timers, however many nodes there are: pending[i] belongs to nodes[i]. */
static void look_at_timers(
        const struct heap *h, struct led_node **nodes, size_t count, struct pending *pending)
{
    for (uint32_t i = 0; i < h->count; i++) {
        struct led_timer *t = container_of(h->nodes[i], struct led_timer, heap);
        struct led_node *of = led_timer_node(t);
        struct led_node **n = bsearch(&of, nodes, count, sizeof *nodes, by_age);
        CHECK(n);
        struct pending *c = &pending[n - nodes];
        if (c->timers++ == 0 || t->heap.at < c->next)
            c->next = t->heap.at;
    }
}

static void view_node(
        const struct led_node *n, const struct pending *c, struct led_node_view *v)
{
    const struct led_event *e = led_event_of(n);
    *v = (struct led_node_view){
            .id = view_id(n),
            .operator_name = led_op(e)->name,
            .event = e,
            .context = n->context,
            .occurrences = n->count,
            .pending_timers = c->timers,
            .rules = rules_on(e, n->context),
            .operand_count = e->arity,
            .next = c->timers ? c->next : MSEC_NEVER,
    };
    for (unsigned i = 0; i < e->arity; i++) {
        struct led_event *operand = led_operand(e, i);
        struct led_node *node = led_node_find(operand, n->context);
        v->operands[i] = node ? view_id(node) : led_event_id(operand);
    }
}

void led_each_node(const struct led *led, led_node_fn *fn, void *ctx)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "led view");
    struct led_node **nodes = led_nodes_by_age(led, scratch);
    size_t count = led->stats.nodes;
    struct pending *pending = arena_array_of(scratch, count + 1, struct pending);
    struct led_node_view v;
    struct led_event *e;
    for (size_t at = 0; (e = led_index_next(led, &at));) {
        if (led_leaf_is_needed(e)) {
            view_leaf(led, e, &v);
            fn(ctx, &v);
        }
    }
    look_at_timers(&led->delays, nodes, count, pending);
    for (size_t i = 0; i < count; i++) {
        view_node(nodes[i], &pending[i], &v);
        fn(ctx, &v);
    }
}
