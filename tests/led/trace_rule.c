/* Rules of a trace. */
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
        trace_fail_hint(run,
                "Couplings are immediate, deferred, detached, detached dependent and settled.",
                "unknown coupling \"%s\"", coupling);
    const char *context = trace_text(def, "context", led_context_name(run->context));
    if (!led_context_parse(context, &spec->context))
        trace_fail_hint(run, CONTEXTS, "unknown context \"%s\"", context);
    for (size_t i = 0; i < countof(switches); i++)
        if (json_object_get(def, switches[i]) &&
                !json_is_boolean(json_object_get(def, switches[i])))
            trace_fail(run, ERR_SYNTAX, "%s is neither true nor false", switches[i]);
    return !run->err;
}

struct rule *trace_rule_find(struct run *run, const char *name)
{
    for (size_t i = run->rule_count; name && i-- > 0;) {
        struct rule *r = run->rules[i];
        if (r->rule && r->name && strcmp(r->name, name) == 0)
            return r;
    }
    return NULL;
}

static void check_actions(struct run *run, const json_t *todo)
{
    if (todo && !json_is_array(todo))
        trace_fail_hint(run, "Write [[\"raise\", \"A\"], [\"log\", \"done\"]].",
                "\"do\" is not a list of [action, argument]");
    for (size_t i = 0; i < json_array_size(todo) && !run->err; i++) {
        const json_t *step = json_array_get(todo, i);
        const char *op = json_string_value(json_array_get(step, 0));
        if (op)
            (void)trace_operation_is_sound(run, op, json_array_get(step, 1));
        else
            trace_fail_hint(run, "Write [\"raise\", \"A\"].",
                    "\"do\"[%zu] is not [action, argument]", i);
    }
}

enum err trace_rule_make(
        struct run *run, const json_t *expr, const json_t *def, struct fault *f)
{
    struct led_rule_spec spec = {.condition = condition, .action = action};
    if (run->rule_count == RULE_MAX)
        trace_fail(run, ERR_LIMIT, "too many rules");
    check_actions(run, json_object_get(def, "do"));
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
