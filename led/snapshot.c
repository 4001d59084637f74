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

#define MAGIC UINT64_C(0x0000000144454c56) /* "VLED", and the version */

/* ---- clocks and counters ---- */

static void sync_head(struct led_stream *s)
{
    struct led *led = s->led;
    led_sync_time(s, &led->now);
    led_sync_time(s, &led->offset);
    led->real = led->now;
    led_sync_u64(s, &led->last_event_id);
    led_sync_u64(s, &led->last_node_id);
    led_sync_u64(s, &led->last_rule_id);
    led_sync_u64(s, &led->last_timer);
    led->last_arrival = led_sync_below(s, led->last_arrival, UINT64_MAX);
    led_sync_u64(s, &led->stats.raised);
    led_sync_u64(s, &led->stats.detected);
    led_sync_u64(s, &led->stats.dropped);
    led_sync_u64(s, &led->stats.refused);
}

/* ---- events ---- */

static int by_id(const void *a, const void *b)
{
    uint64_t x = led_event_id(*(struct led_event *const *)a);
    uint64_t y = led_event_id(*(struct led_event *const *)b);
    return x < y ? -1 : x > y;
}

static struct led_event **events_by_age(const struct led *led, struct arena *scratch)
{
    struct led_event **all = arena_array_of(scratch, led->stats.events + 1, struct led_event *);
    size_t count = 0;
    map_each (n, &led->events_by_id)
        all[count++] = container_of(n, struct led_event, by_id);
    CHECK(count == led->stats.events);
    qsort(all, count, sizeof all[0], by_id);
    return all;
}

static size_t op_index(const struct led_op *op)
{
    size_t i = 0;
    while (led_ops[i] != op)
        i++;
    return i;
}

/* What is left of an event besides what made it. */
static void sync_event_rest(struct led_stream *s, struct led_event *e)
{
    bool is_keyed = e->is_keyed;
    led_sync_u64(s, &e->count);
    led_sync_u32(s, &e->holds);
    led_sync_bool(s, &is_keyed);
    led_sync_bool(s, &e->is_deleted);
    led_sync_bool(s, &e->is_over);
    if (!s->is_saving && is_keyed && !s->has_failed &&
            (e->op->param != LED_PARAM_NAME || e->name))
        led_event_key(s->led, e);
}

static void save_event(struct led_stream *s, struct led_event *e)
{
    led_sync_below(s, led_event_id(e), UINT64_MAX);
    led_sync_below(s, op_index(e->op), led_op_count);
    led_sync_below(s, e->arity, LED_ANY_MAX + 1);
    for (unsigned i = 0; i < e->arity; i++)
        led_sync_below(s, led_event_id(e->operands[i]), UINT64_MAX);
    if (e->op->param == LED_PARAM_NAME)
        led_sync_text(s, &e->name);
    else
        led_sync_note(s, &e->span);
    sync_event_rest(s, e);
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

/* Returns the event's id; they must grow. */
static uint64_t restore_event(struct led_stream *s, uint64_t after)
{
    uint64_t id = led_sync_below(s, 0, s->led->last_event_id + 1);
    const struct led_op *op = led_ops[led_sync_below(s, 0, led_op_count)];
    uint64_t arity = led_sync_below(s, 0, LED_ANY_MAX + 1);
    struct led_event *operands[LED_ANY_MAX];
    if (id <= after || !arity_is_sound(op, arity))
        led_sync_fail(s);
    for (uint64_t i = 0; i < arity && !s->has_failed; i++) {
        struct map_node *n = map_first(&s->led->events_by_id, led_sync_below(s, 0, id));
        operands[i] = n ? container_of(n, struct led_event, by_id) : NULL;
        if (!n || operands[i]->is_deleted || operands[i]->height >= LED_HEIGHT_MAX)
            led_sync_fail(s);
    }
    struct led_wish w = {.op = op, .arity = (unsigned)arity, .operands = operands};
    char *name = NULL;
    if (op->param == LED_PARAM_NAME)
        led_sync_text(s, &name);
    else
        led_sync_note(s, &w.param);
    if (s->has_failed || !param_is_sound(&w)) {
        led_sync_fail(s);
        return 0;
    }
    struct led_event *e = led_event_new(s->led, &w, name, id);
    if (name)
        led_release(s->led, name, strlen(name) + 1);
    sync_event_rest(s, e);
    if (arity == 0 && op->operands && !e->is_deleted)
        led_sync_fail(s);
    return id;
}

static void sync_events(struct led_stream *s)
{
    struct led_event **all = s->is_saving ? events_by_age(s->led, s->scratch) : NULL;
    uint64_t after = 0;
    for (size_t i = 0; led_sync_more(s, all && all[i]); i++) {
        if (s->is_saving)
            save_event(s, all[i]);
        else
            after = restore_event(s, after);
    }
}

/* ---- nodes ---- */

static struct led_event *sync_event_name(struct led_stream *s, struct led_event *e)
{
    uint64_t id = e ? led_event_id(e) : 0;
    led_sync_u64(s, &id);
    if (s->is_saving)
        return e;
    e = s->has_failed ? NULL : led_event_by_id(s->led, id);
    if (!e)
        led_sync_fail(s);
    return e;
}

static bool has_operands(const struct led_event *e, enum led_context context)
{
    for (unsigned i = 0; i < e->arity; i++)
        if (!led_node_find(e->operands[i], context))
            return false;
    return true;
}

static struct led_node *sync_node(struct led_stream *s, struct led_node *n)
{
    struct led_event *e = sync_event_name(s, n ? n->event : NULL);
    enum led_context context =
            (enum led_context)led_sync_below(s, n ? n->context : 0, LED_CONTEXT_COUNT);
    uint64_t id = led_sync_below(s, n ? n->id : 0, s->led->last_node_id + 1);
    if (s->has_failed)
        return NULL;
    if (!s->is_saving) {
        if (led_node_find(e, context) || !has_operands(e, context)) {
            led_sync_fail(s);
            return NULL;
        }
        n = led_node_new(s->led, e, context, id);
    }
    led_sync_u64(s, &n->count);
    if (e->op->sync)
        e->op->sync(s, n);
    return n;
}

static void sync_nodes(struct led_stream *s)
{
    struct led_node **all = s->is_saving ? led_nodes_by_age(s->led, s->scratch) : NULL;
    uint64_t after = 0;
    for (size_t i = 0; led_sync_more(s, all && all[i]); i++) {
        struct led_node *n = sync_node(s, all ? all[i] : NULL);
        if (n && n->id <= after)
            led_sync_fail(s);
        after = n ? n->id : after;
    }
}

/* ---- rules: (1) ---- */

struct binding {
    led_bind_fn *bind;
    void *ctx;
};

static void sync_rule_fields(struct led_stream *s, struct led_rule *r, bool *enabled)
{
    struct led_rule_spec *spec = &r->spec;
    int64_t priority = spec->priority;
    r->id = led_sync_below(s, r->id, s->led->last_rule_id + 1);
    led_sync_u64(s, &spec->key);
    led_sync_note(s, &priority);
    spec->priority = (int)priority;
    spec->context = (enum led_context)led_sync_below(s, spec->context, LED_CONTEXT_COUNT);
    spec->coupling = (enum led_coupling)led_sync_below(s, spec->coupling, LED_COUPLING_COUNT);
    spec->mode = (enum led_mode)led_sync_below(s, spec->mode, LED_MODE_COUNT);
    led_sync_time(s, &r->since);
    led_sync_bool(s, enabled);
}

static void restore_rule(struct led_stream *s, struct led_event *e, const struct binding *b)
{
    struct led_rule *r = led_alloc_of(s->led, struct led_rule);
    bool enabled = false;
    sync_rule_fields(s, r, &enabled);
    if (s->has_failed)
        return;
    r->refs = 1;
    r->event = e;
    e->users++;
    list_append(&e->rules, &r->link);
    s->led->stats.rules++;

    struct led_rule_spec spec = r->spec;
    if (!b->bind(b->ctx, r, &spec) || !spec.action) {
        led_sync_fail(s);
        return;
    }
    r->spec.condition = spec.condition;
    r->spec.action = spec.action;
    r->spec.arg = spec.arg;
    if (enabled) {
        r->node = led_node_find(e, r->spec.context);
        if (r->node)
            r->node->users++;
        else
            led_sync_fail(s);
    }
}

static void save_rule(struct led_stream *s, struct led_rule *r)
{
    bool enabled = r->node != NULL;
    sync_rule_fields(s, r, &enabled);
}

static void save_rules(struct led_stream *s)
{
    struct led_event **all = events_by_age(s->led, s->scratch);
    for (size_t i = 0; all[i]; i++) {
        list_each (l, &all[i]->rules) {
            led_sync_more(s, true);
            sync_event_name(s, all[i]);
            save_rule(s, list_entry(l, struct led_rule, link));
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

static bool every_node_is_used(const struct led *led, struct arena *scratch)
{
    struct led_node **all = led_nodes_by_age(led, scratch);
    for (size_t i = 0; all[i]; i++)
        if (all[i]->users == 0)
            return false;
    return true;
}

enum err led_save(struct led *led, struct buf *out, struct fault *f)
{
    if (led->is_running)
        return fault_set(f, ERR_BUSY, "a rule is running");
    SCRATCH struct arena *scratch = arena_new(NULL, "led save");
    struct led_stream s = {.led = led, .is_saving = true, .out = out, .scratch = scratch};
    size_t before = out->len;
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
    if (s.has_failed || s.left || !every_node_is_used(led, scratch)) { /* (3) */
        led_free(led);
        return fault_set(f, ERR_SYNTAX, "snapshot is damaged");
    }
    *ret_led = led;
    return OK;
}
