/* What the history of a trace and the actions of its rules can do. */
#include "tests/led/trace_int.h"
#include <string.h>

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

/* ---- all of them ---- */

/* One that is not there any more is as good as deleted or disabled. */
static void operate_rule(struct run *run, const char *op, const char *name)
{
    struct rule *r = trace_rule_find(run, name);
    if (!r)
        return;
    if (strcmp(op, "delete_rule") == 0)
        delete_rule(run, r);
    else if (strcmp(op, "disable_rule") == 0)
        led_rule_disable(run->led, r->rule);
    else
        led_rule_enable(run->led, r->rule);
}

/* The history says {"op": op, key: name}, an action [op, name]. */
static const struct {
    const char *op, *key; /* NULL: no name */
    const char *wants;
} operations[] = {
        {"raise", "event", "raise wants an \"event\", the name of a primitive one"},
        {"log", "text", "log wants a \"text\""},
        {"fail", NULL, NULL},
        {"start", "s", "start wants \"s\", the name of who starts"},
        {"end", "s", "end wants \"s\", the name of who ends"},
        {"delete_event", NULL, NULL},
        {"rearm", NULL, NULL},
        {"create_rule", NULL, NULL},
        {"delete_rule", "rule", "delete_rule wants a \"rule\", its name"},
        {"disable_rule", "rule", "disable_rule wants a \"rule\", its name"},
        {"enable_rule", "rule", "enable_rule wants a \"rule\", its name"},
};

static const char *name_of(const json_t *arg, const char *key)
{
    return json_is_object(arg) ? trace_text(arg, key, "") : json_string_value(arg);
}

bool trace_operation_is_sound(struct run *run, const char *op, const json_t *arg)
{
    for (size_t i = 0; i < countof(operations); i++) {
        if (strcmp(op, operations[i].op) != 0)
            continue;
        const char *name = operations[i].key ? name_of(arg, operations[i].key) : "none";
        if (!name || !*name)
            trace_fail(run, ERR_SYNTAX, "%s", operations[i].wants);
        return !run->err;
    }
    trace_fail_hint(run,
            "Operations are down, stall, wall_jump, rearm, start, end, raise, log, "
            "fail, delete_event, and create_, delete_, disable_, enable_rule.",
            "unknown operation \"%s\"", op);
    return false;
}

void trace_operate(struct run *run, const char *op, const json_t *arg)
{
    if (!trace_operation_is_sound(run, op, arg))
        return;
    if (strcmp(op, "raise") == 0)
        trace_raise(run, name_of(arg, "event"));
    else if (strcmp(op, "log") == 0)
        trace_note(run, name_of(arg, "text"));
    else if (strcmp(op, "fail") == 0)
        led_fail(run->led);
    else if (strcmp(op, "start") == 0 || strcmp(op, "end") == 0)
        share(run, name_of(arg, "s"), op[0] == 's');
    else if (strcmp(op, "delete_event") == 0)
        delete_event(run, arg);
    else if (strcmp(op, "rearm") == 0)
        rearm(run, arg);
    else if (strcmp(op, "create_rule") == 0)
        create_rule(run, arg);
    else
        operate_rule(run, op, name_of(arg, "rule"));
}
