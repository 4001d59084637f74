/* Rules of a trace, and what they and the history can do. */
#include "tests/led/trace_int.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what rules do ---- */

static void part_text(const struct led_occurrence *part, struct buf *out)
{
    msec wall;
    if (!part->event)
        buf_printf(out, "@%" PRId64, part->end);
    else if (led_event_is_absolute(part->event, &wall))
        buf_printf(out, "abs%" PRId64, wall);
    else
        buf_printf(out, "%s%" PRIu64, led_event_name(part->event), part->number);
}

static void collect(struct run *run, const struct led_occurrence *o)
{
    json_t *parts = json_pack("[]");
    for (uint32_t i = 0; i < led_part_count(o); i++) {
        BUF(text, 4096);
        part_text(led_part(o, i), &text);
        json_array_append_new(parts, json_string(buf_text(&text)));
    }
    json_t *d = json_pack("{s:I, s:I, s:o}", "t", (json_int_t)o->end, "start",
            (json_int_t)o->start, "parts", parts);
    if (o->late)
        json_object_set_new(d, "late", json_integer(o->late));
    if (o->missed)
        json_object_set_new(d, "missed", json_integer(o->missed));
    json_array_append_new(run->detected, d);
    if (json_array_size(run->detected) > trace_limit(run))
        trace_fail(run, ERR_LIMIT, "trace detects without end");
}

static void note_rule(struct run *run, const struct rule *r, const struct led_occurrence *o)
{
    BUF(text, 1024 * 1024);
    buf_printf(&text, "%s:", r->name);
    for (uint32_t i = 0; i < led_part_count(o); i++) {
        if (i)
            buf_putc(&text, '+');
        part_text(led_part(o, i), &text);
    }
    buf_printf(&text, "@%" PRId64, o->end);
    trace_note(run, buf_text(&text));
}

static bool condition(void *arg, const struct led_occurrence *o)
{
    (void)o;
    return ((struct rule *)arg)->condition;
}

static void action(void *arg, const struct led_occurrence *o)
{
    struct rule *r = arg;
    struct run *run = r->run;
    if (run->err)
        return;
    if (!r->name) {
        collect(run, o);
        return;
    }
    note_rule(run, r, o);
    const json_t *todo = r->todo; /* the rule may delete itself */
    for (size_t i = 0; i < json_array_size(todo) && !run->err; i++) {
        const json_t *step = json_array_get(todo, i);
        trace_operate(run, json_string_value(json_array_get(step, 0)), json_array_get(step, 1));
    }
}

/* ---- rules ---- */

static bool coupling_parse(const char *text, enum led_coupling *ret)
{
    static const struct {
        const char *text;
        enum led_coupling coupling;
    } words[] = {{"immediate", LED_IMMEDIATE}, {"deferred", LED_DEFERRED},
            {"detached", LED_DETACHED}, {"detached independent", LED_DETACHED},
            {"detached-independent", LED_DETACHED}, {"detached_independent", LED_DETACHED},
            {"detached dependent", LED_DETACHED_DEPENDENT},
            {"detached-dependent", LED_DETACHED_DEPENDENT},
            {"detached_dependent", LED_DETACHED_DEPENDENT}, {"settled", LED_SETTLED}};
    for (size_t i = 0; i < countof(words); i++) {
        if (strcasecmp(text, words[i].text) == 0) {
            *ret = words[i].coupling;
            return true;
        }
    }
    return false;
}

static bool spec_parse(struct run *run, const json_t *def, struct led_rule_spec *spec)
{
    static const char *const switches[] = {"condition", "enabled"};
    const char *mode = json_object_get(def, "mode") ? trace_text(def, "mode", NULL) : NULL;
    int64_t priority = LED_PRIORITY;
    if (json_object_get(def, "priority") &&
            (!trace_integer(run, json_object_get(def, "priority"), "priority is not an integer",
                     &priority) ||
                    priority > INT32_MAX || priority < INT32_MIN)) {
        trace_fail(run, ERR_SYNTAX, "priority is out of range");
        return false;
    }
    spec->priority = (int)priority;
    spec->context = run->context;
    spec->mode = mode && strcasecmp(mode, "PREVIOUS") == 0 ? LED_PREVIOUS : LED_NOW;
    if (mode && spec->mode == LED_NOW && strcasecmp(mode, "NOW") != 0)
        trace_fail(run, ERR_SYNTAX, "mode \"%s\" is neither NOW nor PREVIOUS", mode);
    const char *coupling = trace_text(def, "coupling", "immediate");
    if (!coupling_parse(coupling, &spec->coupling))
        trace_fail(run, ERR_SYNTAX, "unknown coupling \"%s\"", coupling);
    const char *context = trace_text(def, "context", led_context_name(run->context));
    if (!led_context_parse(context, &spec->context))
        trace_fail(run, ERR_SYNTAX, "unknown context \"%s\"", context);
    for (size_t i = 0; i < countof(switches); i++)
        if (json_object_get(def, switches[i]) &&
                !json_is_boolean(json_object_get(def, switches[i])))
            trace_fail(run, ERR_SYNTAX, "%s is neither true nor false", switches[i]);
    return !run->err;
}

static struct rule *rule_find(struct run *run, const char *name)
{
    for (size_t i = run->rule_count; name && i-- > 0;) {
        struct rule *r = run->rules[i];
        if (r->rule && r->name && strcmp(r->name, name) == 0)
            return r;
    }
    return NULL;
}

static bool actions_are_sound(const json_t *todo)
{
    if (todo && !json_is_array(todo))
        return false;
    for (size_t i = 0; i < json_array_size(todo); i++)
        if (!json_is_string(json_array_get(json_array_get(todo, i), 0)))
            return false;
    return true;
}

enum err trace_rule_make(
        struct run *run, const json_t *expr, const json_t *def, struct fault *f)
{
    struct led_rule_spec spec = {.condition = condition, .action = action};
    if (run->rule_count == RULE_MAX)
        trace_fail(run, ERR_LIMIT, "too many rules");
    if (!actions_are_sound(json_object_get(def, "do")))
        trace_fail(run, ERR_SYNTAX, "\"do\" is not a list of [action, argument]");
    struct led_event *e = NULL;
    if (run->err || !spec_parse(run, def, &spec))
        return OK;
    enum err err = trace_build(run, expr, f, &e);
    if (err || run->err)
        return err;

    const char *name = json_string_value(json_object_get(def, "name"));
    struct rule *r = calloc(1, sizeof *r);
    *r = (struct rule){.run = run,
            .name = name ? strdup(name) : NULL,
            .todo = json_object_get(def, "do"),
            .condition = !json_is_false(json_object_get(def, "condition"))};
    spec.arg = r;
    spec.key = run->rule_count;
    run->rules[run->rule_count++] = r;
    err = led_rule_new(run->led, e, &spec, f, &r->rule);
    if (!led_event_name(e))
        led_event_drop(run->led, e);
    if (!err && json_is_false(json_object_get(def, "enabled")))
        led_rule_disable(run->led, r->rule);
    return err;
}

bool trace_rule_bind(void *ctx, struct led_rule *rule, struct led_rule_spec *spec)
{
    struct run *run = ctx;
    if (spec->key >= run->rule_count)
        return false;
    struct rule *r = run->rules[spec->key];
    r->rule = rule;
    spec->condition = condition;
    spec->action = action;
    spec->arg = r;
    return true;
}

void trace_rule_gone(void *ctx, struct led_rule *rule, void *arg)
{
    (void)ctx;
    (void)rule;
    ((struct rule *)arg)->rule = NULL;
}

/* ---- operations, of the history and of rules ---- */

void trace_raise(struct run *run, const char *name)
{
    struct led_event *e = led_event_find(run->led, name);
    struct fault f;
    if (!e)
        e = led_primitive(run->led, name);
    if (led_raise(run->led, e, 0, &f))
        trace_note_fault(run, &f);
}

/* One clock runs while anybody is active: see "sharing" in docs/led.md. */
static void share(struct run *run, const char *name, bool starts)
{
    bool known = json_object_get(run->active, name) != NULL;
    if (starts == known)
        return;
    if (starts) {
        if (json_object_size(run->active) == 0)
            trace_raise(run, "DS");
        json_object_set_new(run->active, name, json_true());
    } else {
        if (json_object_size(run->active) == 1)
            trace_raise(run, "DE");
        json_object_del(run->active, name);
    }
}

static void delete_rule(struct run *run, struct rule *r)
{
    struct led_rule *rule = r->rule;
    r->rule = NULL;
    led_rule_delete(run->led, rule);
}

/* {"event": expression, "cascade": ...}, or just an expression; or nothing: that of the
 * trace, and with it whoever watches it. */
static void delete_event(struct run *run, const json_t *arg)
{
    const json_t *which = json_is_object(arg) ? json_object_get(arg, "event") : arg;
    bool cascade = !which || json_is_true(json_object_get(arg, "cascade"));
    struct led_event *e = NULL;
    struct fault f;
    if (which) {
        if (trace_build(run, which, &f, &e))
            trace_note_fault(run, &f);
    } else {
        for (size_t i = 0; i < run->rule_count && !e; i++)
            if (run->rules[i]->rule)
                e = led_rule_event(run->rules[i]->rule);
    }
    if (!e)
        return;
    led_event_hold(e);
    bool was_made = which && !led_event_name(e);
    if (led_event_delete(run->led, e, cascade, &f))
        trace_note_fault(run, &f);
    led_event_drop(run->led, e);
    if (was_made)
        led_event_drop(run->led, e);
}

struct rearming {
    struct run *run;
    struct led_event *found[1024];
    size_t count;
};

static void find_periodic(void *ctx, const struct led_node_view *v)
{
    struct rearming *r = ctx;
    struct led_event *e = led_event_by_id(r->run->led, led_event_id(v->event));
    if (v->operator_name[0] == 'P' && v->operator_name[1] != 'L' && r->count < 1024)
        r->found[r->count++] = e;
}

static void rearm(struct run *run, const json_t *arg)
{
    int64_t interval;
    const json_t *t = json_is_object(arg) ? json_object_get(arg, "T") : arg;
    if (!trace_integer(run, t, "rearm wants an integer, \"T\"", &interval))
        return;
    struct rearming r = {.run = run};
    struct fault f;
    led_each_node(run->led, find_periodic, &r);
    for (size_t i = 0; i < r.count; i++)
        if (led_rearm(run->led, r.found[i], interval, &f))
            trace_note_fault(run, &f);
    if (interval > 0 && interval < run->shortest_star && run->shortest_star != MSEC_NEVER)
        run->shortest_star = interval;
}

static void create_rule(struct run *run, const json_t *arg)
{
    const json_t *def = json_object_get(arg, "rule") ? json_object_get(arg, "rule") : arg;
    struct fault f;
    if (!json_object_get(def, "event") || !*trace_text(def, "name", ""))
        trace_fail(run, ERR_SYNTAX, "a rule wants a name and an event");
    else if (trace_rule_make(run, json_object_get(def, "event"), def, &f))
        trace_note_fault(run, &f);
}

/* One that is not there any more is as good as deleted or disabled. */
static bool operate_rule(struct run *run, const char *op, const char *name)
{
    struct rule *r = rule_find(run, name);
    if (strcmp(op, "delete_rule") == 0) {
        if (r)
            delete_rule(run, r);
    } else if (strcmp(op, "disable_rule") == 0) {
        if (r)
            led_rule_disable(run->led, r->rule);
    } else if (strcmp(op, "enable_rule") == 0) {
        if (r)
            led_rule_enable(run->led, r->rule);
    } else {
        return false;
    }
    return true;
}

/* The history says {"op": op, key: name}, an action [op, name]. */
static const char *name_of(const json_t *arg, const char *key)
{
    return json_is_object(arg) ? json_string_value(json_object_get(arg, key))
                               : json_string_value(arg);
}

void trace_operate(struct run *run, const char *op, const json_t *arg)
{
    const char *name = NULL;
    if (strcmp(op, "raise") == 0 && (name = name_of(arg, "event")) && *name)
        trace_raise(run, name);
    else if (strcmp(op, "log") == 0 && (name = name_of(arg, "text")))
        trace_note(run, name);
    else if (strcmp(op, "fail") == 0)
        led_fail(run->led);
    else if ((strcmp(op, "start") == 0 || strcmp(op, "end") == 0) && (name = name_of(arg, "s")))
        share(run, name, op[0] == 's');
    else if (strcmp(op, "delete_event") == 0)
        delete_event(run, arg);
    else if (strcmp(op, "rearm") == 0)
        rearm(run, arg);
    else if (strcmp(op, "create_rule") == 0)
        create_rule(run, arg);
    else if (!operate_rule(run, op, name_of(arg, "rule")))
        trace_fail(run, ERR_SYNTAX, "unknown operation \"%s\", or without its argument", op);
}
