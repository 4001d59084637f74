/* Snapshots: the whole detector as plain bytes, and back.
 *
 *  (1) Restoring and going on gives the same detections as never having stopped.  What a
 *      snapshot cannot hold are functions: rules get theirs back by their key.
 *  (2) Order: clocks and counters, events (operands first), nodes with their state (operands
 *      first), rules.  Everything points backwards only.
 *  (3) The bytes need not be trusted.  Whatever is wrong with them, the answer is a fault and
 *      no detector; a half-built one goes with its arena.
 */
#include "led/led_int.h"
#include <stdlib.h>
#include <string.h>

#define MAGIC UINT64_C(0x0000000344454c56) /* "VLED", and the version */

/* ---- clocks and counters ---- */

/* No run gets there; from here on they have fields of 56 bits. */
#define COUNTER_MAX (UINT64_C(1) << 55)

static void sync_head(struct led_stream *s)
{
    struct led *led = s->led;
    led_sync_time(s, &led->now);
    led_sync_time(s, &led->offset);
    led->real = led->now;
    led->last_node_id = led_sync_below(s, led->last_node_id, COUNTER_MAX);
    led->last_timer = led_sync_below(s, led->last_timer, COUNTER_MAX);
    led->last_arrival = led_sync_below(s, led->last_arrival, UINT64_MAX);
    led_sync_u64(s, &led->stats.raised);
    led_sync_u64(s, &led->stats.detected);
    led_sync_u64(s, &led->stats.dropped);
    led_sync_u64(s, &led->stats.refused);
}

/* ---- events ---- */

/* Operands are less high than what is made of them. */
static struct led_event **events_by_height(const struct led *led, struct arena *scratch)
{
    struct led_event **all = arena_array_of(scratch, led->stats.events + 1, struct led_event *);
    size_t below[LED_HEIGHT_MAX + 2] = {0}; /* how many are less high */
    struct led_event *e;
    for (size_t at = 0; (e = led_index_next(led, &at));)
        below[e->height + 1]++;
    for (unsigned h = 1; h < countof(below); h++)
        below[h] += below[h - 1];
    for (size_t at = 0; (e = led_index_next(led, &at));)
        all[below[e->height]++] = e;
    return all;
}

/* What is left of an event besides what made it. */
static void sync_event_rest(struct led_stream *s, struct led_event *e)
{
    bool is_keyed = e->is_keyed, is_deleted = e->is_deleted, is_over = e->is_over;
    led_sync_u32(s, &e->holds);
    led_sync_bool(s, &is_keyed);
    led_sync_bool(s, &is_deleted);
    led_sync_bool(s, &is_over);
    e->is_deleted = is_deleted;
    e->is_over = is_over;
    if (!s->is_saving && is_keyed && !s->has_failed &&
            (led_op(e)->param != LED_PARAM_NAME || e->has_name))
        led_event_key(s->led, e);
    if (led_op(e)->leaf_sync)
        led_op(e)->leaf_sync(s, e);
}

static void save_event(struct led_stream *s, struct led_event *e)
{
    led_sync_below(s, e->op, led_op_count);
    led_sync_below(s, led_arity(e), LED_ANY_MAX + 1);
    for (unsigned i = 0; i < led_arity(e); i++) {
        struct led_event *operand = led_operand(e, i);
        led_sync_event(s, &operand);
    }
    char *name = (char *)led_event_name(e);
    if (led_op(e)->param == LED_PARAM_NAME)
        led_sync_text(s, &name);
    led_sync_note(s, &e->param);
    sync_event_rest(s, e);
    s->numbers[led_mem_place(&s->led->mem, e)] = (uint32_t)++s->event_count;
}

static bool param_is_sound(const struct led_wish *w)
{
    switch (w->op->param) {
    case LED_PARAM_NONE:
    case LED_PARAM_NAME:
        return true;
    case LED_PARAM_WALL:
        return w->param <= MSEC_NEVER / 4 && w->param >= -(MSEC_NEVER / 4);
    case LED_PARAM_SPAN:
        return w->param > 0 && w->param <= LED_SPAN_MAX;
    case LED_PARAM_NEEDED:
        return w->param >= 1 && (w->param <= w->arity || w->arity == 0);
    }
    return false;
}

static bool arity_is_sound(const struct led_op *op, uint64_t arity)
{
    if (arity == 0) /* a leaf, or a deleted event that somebody holds */
        return true;
    return op->operands == LED_ANY_MAX ? arity <= LED_ANY_MAX : arity == op->operands;
}

static void restore_event(struct led_stream *s)
{
    const struct led_op *op = led_ops[led_sync_below(s, 0, led_op_count)];
    uint64_t arity = led_sync_below(s, 0, LED_ANY_MAX + 1);
    struct led_event *operands[LED_ANY_MAX];
    if (!arity_is_sound(op, arity))
        led_sync_fail(s);
    for (uint64_t i = 0; i < arity && !s->has_failed; i++) {
        led_sync_event(s, &operands[i]);
        if (!operands[i] || operands[i]->is_deleted || operands[i]->height >= LED_HEIGHT_MAX)
            led_sync_fail(s);
    }
    struct led_wish w = {.op = op, .arity = (unsigned)arity, .operands = operands};
    char *name = NULL;
    if (op->param == LED_PARAM_NAME)
        led_sync_text(s, &name);
    led_sync_note(s, &w.param);
    if (s->has_failed || !param_is_sound(&w)) {
        led_sync_fail(s);
        return;
    }
    struct led_event *e = led_event_new(s->led, &w, name);
    led_index_add(s->led, e);
    s->events = led_sync_room(s, s->events, s->event_count, &s->event_cap);
    s->events[s->event_count++] = e;
    sync_event_rest(s, e);
    if (arity == 0 && op->operands && !e->is_deleted)
        led_sync_fail(s);
}

static void sync_events(struct led_stream *s)
{
    if (s->is_saving)
        s->events = events_by_height(s->led, s->scratch);
    while (led_sync_more(s, s->is_saving && s->events[s->event_count])) {
        if (s->is_saving)
            save_event(s, s->events[s->event_count]);
        else
            restore_event(s);
    }
}

/* ---- nodes ---- */

static struct led_event *sync_event_name(struct led_stream *s, struct led_event *e)
{
    led_sync_event(s, &e);
    if (!e || e->is_deleted) {
        led_sync_fail(s);
        return NULL;
    }
    return e;
}

static bool has_operands(const struct led_event *e, enum led_context context)
{
    for (unsigned i = 0; i < e->arity; i++)
        if (!led_is_leaf(led_operand(e, i)) && !led_node_find(led_operand(e, i), context))
            return false;
    return true;
}

static void need_operands(struct led *led, const struct led_node *n)
{
    const struct led_event *e = led_event_of(n);
    for (unsigned i = 0; i < e->arity; i++)
        if (!led_operand_is_repeated(e, i))
            (void)led_need_restored(led, led_operand(e, i), n->context); /* they are there */
}

/* Ids must grow: `after` is the last one's. */
static struct led_node *sync_node(struct led_stream *s, struct led_node *n, uint64_t after)
{
    struct led_event *e = sync_event_name(s, n ? led_event_of(n) : NULL);
    enum led_context context =
            (enum led_context)led_sync_below(s, n ? n->context : 0, LED_CONTEXT_COUNT);
    uint64_t id = led_sync_below(s, n ? n->id : 0, s->led->last_node_id + 1);
    if (s->has_failed)
        return NULL;
    if (!s->is_saving) {
        if (led_is_leaf(e) || id <= after || led_node_find(e, context) ||
                !has_operands(e, context)) {
            led_sync_fail(s);
            return NULL;
        }
        n = led_node_new(s->led, e, context, id);
        need_operands(s->led, n);
    }
    led_sync_u64(s, &n->count);
    if (led_op(e)->sync)
        led_op(e)->sync(s, n);
    return n;
}

static void sync_nodes(struct led_stream *s)
{
    struct led_node **all = s->is_saving ? led_nodes_by_age(s->led, s->scratch) : NULL;
    uint64_t after = 0;
    for (size_t i = 0; led_sync_more(s, all && all[i]); i++) {
        struct led_node *n = sync_node(s, all ? all[i] : NULL, after);
        after = n ? n->id : after;
    }
}

/* ---- rules: (1) ---- */

struct binding {
    led_bind_fn *bind;
    void *ctx;
};

static void sync_spec(struct led_stream *s, struct led_rule_spec *spec)
{
    int64_t priority = spec->priority;
    led_sync_u64(s, &spec->key);
    led_sync_note(s, &priority);
    spec->priority = (int)priority;
    spec->context = (enum led_context)led_sync_below(s, spec->context, LED_CONTEXT_COUNT);
    spec->coupling = (enum led_coupling)led_sync_below(s, spec->coupling, LED_COUPLING_COUNT);
    spec->mode = (enum led_mode)led_sync_below(s, spec->mode, LED_MODE_COUNT);
}

static void restore_rule(struct led_stream *s, struct led_event *e, const struct binding *b)
{
    struct led_rule_spec spec = {0};
    msec since = 0;
    bool is_enabled = false;
    sync_spec(s, &spec);
    led_sync_time(s, &since);
    led_sync_bool(s, &is_enabled);
    if (s->has_failed)
        return;
    struct led_rule *r = led_rule_add(s->led, e, &spec);
    struct led_rule_spec bound = spec;
    r->since = since;
    if (!b->bind(b->ctx, r, &bound) || !bound.action) {
        led_sync_fail(s);
        return;
    }
    spec.condition = bound.condition;
    spec.action = bound.action;
    spec.arg = bound.arg;
    led_rule_set_spec(s->led, r, &spec);
    r->is_enabled = is_enabled;
    if (is_enabled && !led_need_restored(s->led, e, spec.context))
        led_sync_fail(s);
}

static void save_rule(struct led_stream *s, const struct led_rule *r)
{
    struct led_rule_spec spec = *led_rule_spec(r);
    msec since = r->since;
    bool is_enabled = r->is_enabled;
    spec.key = r->key;
    sync_spec(s, &spec);
    led_sync_time(s, &since);
    led_sync_bool(s, &is_enabled);
}

static void save_rules(struct led_stream *s)
{
    for (size_t i = 0; i < s->event_count; i++) {
        struct led_event *e = s->events[i];
        for (struct led_rule *r = led_rule_first(e); r; r = led_rule_next(r)) {
            led_sync_more(s, true);
            sync_event_name(s, e);
            save_rule(s, r);
        }
    }
    led_sync_more(s, false);
}

static void restore_rules(struct led_stream *s, const struct binding *b)
{
    while (led_sync_more(s, false)) {
        struct led_event *e = sync_event_name(s, NULL);
        if (e)
            restore_rule(s, e, b);
    }
}

/* ---- the whole ---- */

/* What nobody needs would never be taken apart again. */
static bool everything_is_needed(const struct led *led)
{
    struct led_event *e;
    for (size_t at = 0; (e = led_index_next(led, &at));) {
        for (struct led_node *n = led_node_first(e); n; n = led_node_next(n))
            if (n->users == 0)
                return false;
        if (led_event_is_absolute(e, NULL) && e->needs == 0 &&
                heap_node_is_in(led_leaf_state(e)))
            return false;
    }
    return true;
}

enum err led_save(struct led *led, struct buf *out, struct fault *f)
{
    if (led->is_running)
        return fault_set(f, ERR_BUSY, "a rule is running");
    SCRATCH struct arena *scratch = arena_new(NULL, "led save");
    struct led_stream s = {.led = led, .is_saving = true, .out = out, .scratch = scratch};
    size_t before = out->len;
    s.numbers = arena_array_of(scratch, led->mem.used / LED_MEM_GRAIN, uint32_t);
    map_init(&s.saved);
    led_sync_below(&s, MAGIC, UINT64_MAX);
    sync_head(&s);
    sync_events(&s);
    sync_nodes(&s);
    save_rules(&s);
    map_done(&s.saved);
    if (!s.has_failed)
        return OK;
    return fault_set(f, ERR_LIMIT, "snapshot is larger than %zu bytes", out->max - before);
}

enum err led_restore(const void *bytes, size_t len, led_bind_fn *bind, void *ctx,
        struct fault *f, struct led **ret_led)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "led restore");
    struct led *led = led_new(0, 0);
    struct led_stream s = {.led = led, .in = bytes, .left = len, .scratch = scratch};
    struct binding b = {bind, ctx};
    uint64_t magic = 0;
    led_sync_u64(&s, &magic);
    if (magic != MAGIC) {
        led_free(led);
        return fault_set(f, ERR_SYNTAX, "not a snapshot of this version");
    }
    sync_head(&s);
    sync_events(&s);
    sync_nodes(&s);
    restore_rules(&s, &b);
    if (s.has_failed || s.left || !everything_is_needed(led)) { /* (3) */
        led_free(led);
        return fault_set(f, ERR_SYNTAX, "snapshot is damaged");
    }
    *ret_led = led;
    return OK;
}
