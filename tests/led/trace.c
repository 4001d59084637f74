/* Running a trace: its words are turned into calls of the detector.
 *
 *  (1) Time goes from deadline to deadline, as it would under an event loop that is never
 *      late; only `down` and `stall` make a gap.
 *  (2) At any point the detector may be cut: saved, freed, restored.  Nothing here but the
 *      rules' numbers refers to it across a cut.
 *  (3) While the process is down whatever reaches it is lost; while it is stalled it arrives
 *      when the stall is over.  The wall clock jumps on its own in both.
 */
#include "tests/led/trace.h"
#include "led/led.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { RULE_MAX = 4096, STEP_MAX = 1000 * 1000, SNAPSHOT_MAX = 256 * 1024 * 1024 };
#define TIME_MAX INT64_C(1000000000000)

struct rule {
    struct run *run;
    struct led_rule *rule; /* NULL once deleted */
    char *name;            /* NULL for the one that collects detections */
    const json_t *todo;    /* borrowed from the trace */
    bool condition;
};

struct run {
    const json_t *trace;
    const struct trace_options *opt;
    struct fault *f;
    enum err err; /* the trace is malformed or does not end */
    struct led *led;
    enum led_context context;
    msec offset;        /* wall - monotonic */
    msec down_until;    /* whatever comes before that is lost */
    msec shortest_star; /* interval of a P*; MSEC_NEVER if there is none */
    long steps, points;
    struct rule *rules[RULE_MAX];
    size_t rule_count;
    json_t *active; /* the set of sentinels that share DS and DE */
    json_t *detected, *log;
};

static void fail(struct run *run, enum err code, const char *what)
{
    if (!run->err)
        run->err = fault_set(run->f, code, "%s", what);
}

static void note(struct run *run, const char *text)
{
    json_array_append_new(run->log, json_string(text));
    if (json_array_size(run->log) > STEP_MAX)
        fail(run, ERR_LIMIT, "trace logs without end");
}

static void note_fault(struct run *run, const struct fault *f)
{
    BUF(text, 1000);
    buf_printf(&text, "ERR %s", f->message);
    note(run, buf_text(&text));
}

static bool integer(struct run *run, const json_t *v, const char *what, int64_t *ret)
{
    if (json_is_integer(v) && json_integer_value(v) <= TIME_MAX &&
            json_integer_value(v) >= -TIME_MAX) {
        *ret = json_integer_value(v);
        return true;
    }
    fail(run, ERR_SYNTAX, what);
    return false;
}

/* ---- expressions ---- */

static enum err build(struct run *run, const json_t *expr, struct fault *f,
        struct led_event **ret);

struct shape {
    const char *name;
    unsigned events; /* operands that are events */
    int span_at;     /* position of the time among the arguments; -1 if there is none */
};

static const struct shape shapes[] = {{"OR", 2, -1}, {"AND", 2, -1}, {"SEQ", 2, -1},
        {"NOT", 3, -1}, {"A", 3, -1}, {"A*", 3, -1}, {"P", 2, 1}, {"P*", 2, 1}, {"PLUS", 1, 1},
        {"ABS", 0, 0}};

static enum err call(struct run *run, const char *op, struct led_event **e, msec span,
        struct fault *f, struct led_event **ret)
{
    struct led *led = run->led;
    if (strcmp(op, "OR") == 0)
        return led_or(led, e[0], e[1], f, ret);
    if (strcmp(op, "AND") == 0)
        return led_and(led, e[0], e[1], f, ret);
    if (strcmp(op, "SEQ") == 0)
        return led_seq(led, e[0], e[1], f, ret);
    if (strcmp(op, "NOT") == 0)
        return led_not(led, e[0], e[1], e[2], f, ret);
    if (strcmp(op, "A") == 0)
        return led_aperiodic(led, e[0], e[1], e[2], f, ret);
    if (strcmp(op, "A*") == 0)
        return led_aperiodic_star(led, e[0], e[1], e[2], f, ret);
    if (strcmp(op, "P") == 0)
        return led_periodic(led, e[0], span, e[1], f, ret);
    if (strcmp(op, "P*") == 0)
        return led_periodic_star(led, e[0], span, e[1], f, ret);
    if (strcmp(op, "PLUS") == 0)
        return led_plus(led, e[0], span, f, ret);
    return led_absolute(led, span, f, ret);
}

static enum err build_shape(struct run *run, const struct shape *shape, const json_t *expr,
        struct fault *f, struct led_event **ret)
{
    struct led_event *e[3] = {NULL};
    int64_t span = 0;
    unsigned count = 0;
    enum err err = OK;
    for (size_t i = 1; i < json_array_size(expr) && !err && !run->err; i++) {
        const json_t *arg = json_array_get(expr, i);
        if ((int)i - 1 == shape->span_at)
            integer(run, arg, "time in expression is not an integer in range", &span);
        else
            err = build(run, arg, f, &e[count++]);
    }
    if (!err && !run->err)
        err = call(run, shape->name, e, span, f, ret);
    if (strcmp(shape->name, "P*") == 0 && span > 0 && span < run->shortest_star)
        run->shortest_star = span;
    for (unsigned i = 0; i < count; i++)
        if (e[i] && !led_event_name(e[i]))
            led_event_drop(run->led, e[i]);
    return err;
}

static enum err build_any(struct run *run, const json_t *expr, struct fault *f,
        struct led_event **ret)
{
    struct led_event *e[LED_ANY_MAX] = {NULL};
    int64_t needed;
    size_t count = json_array_size(expr) - 2;
    if (json_array_size(expr) < 3 || count > LED_ANY_MAX ||
            !integer(run, json_array_get(expr, 1), "ANY wants a number first", &needed)) {
        fail(run, ERR_SYNTAX, "ANY wants a number and 1 to 32 events");
        return OK;
    }
    enum err err = OK;
    for (size_t i = 0; i < count && !err && !run->err; i++)
        err = build(run, json_array_get(expr, i + 2), f, &e[i]);
    if (!err && !run->err)
        err = led_any(run->led, needed < 0 || needed > 99 ? 99 : (unsigned)needed,
                (unsigned)count, e, f, ret);
    for (size_t i = 0; i < count; i++)
        if (e[i] && !led_event_name(e[i]))
            led_event_drop(run->led, e[i]);
    return err;
}

/* Named events are held for good, so that they go on counting; the others are the caller's
 * to drop.  A malformed expression sets run->err and yields no event. */
static enum err build(struct run *run, const json_t *expr, struct fault *f,
        struct led_event **ret)
{
    if (json_is_string(expr) && *json_string_value(expr)) {
        *ret = led_event_find(run->led, json_string_value(expr));
        if (!*ret)
            *ret = led_primitive(run->led, json_string_value(expr));
        return OK;
    }
    const char *op = json_string_value(json_array_get(expr, 0));
    if (op && strcmp(op, "ANY") == 0)
        return build_any(run, expr, f, ret);
    for (size_t i = 0; op && i < countof(shapes); i++) {
        const struct shape *s = &shapes[i];
        if (strcmp(op, s->name) != 0)
            continue;
        if (json_array_size(expr) == 1 + s->events + (s->span_at >= 0))
            return build_shape(run, s, expr, f, ret);
        fail(run, ERR_SYNTAX, "operator has a wrong number of arguments");
        return OK;
    }
    fail(run, ERR_SYNTAX, "expression is neither a name nor [operator, ...]");
    return OK;
}

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
    if (json_array_size(run->detected) > STEP_MAX)
        fail(run, ERR_LIMIT, "trace detects without end");
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
    note(run, buf_text(&text));
}

static void operate(struct run *run, const char *op, const json_t *arg);

static bool condition(void *arg, const struct led_occurrence *o)
{
    (void)o;
    return ((struct rule *)arg)->condition;
}

static void action(void *arg, const struct led_occurrence *o)
{
    struct rule *r = arg;
    struct run *run = r->run;
    if (!r->name) {
        collect(run, o);
        return;
    }
    note_rule(run, r, o);
    const json_t *todo = r->todo; /* the rule may delete itself */
    for (size_t i = 0; i < json_array_size(todo) && !run->err; i++) {
        const json_t *step = json_array_get(todo, i);
        operate(run, json_string_value(json_array_get(step, 0)), json_array_get(step, 1));
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
            {"detached_dependent", LED_DETACHED_DEPENDENT}};
    for (size_t i = 0; i < countof(words); i++) {
        if (strcmp(text, words[i].text) == 0) {
            *ret = words[i].coupling;
            return true;
        }
    }
    return false;
}

static const char *text_of(const json_t *object, const char *key, const char *otherwise)
{
    const json_t *v = json_object_get(object, key);
    if (!v)
        return otherwise;
    return json_is_string(v) ? json_string_value(v) : "";
}

static bool spec_parse(struct run *run, const json_t *def, struct led_rule_spec *spec)
{
    const char *mode = json_object_get(def, "mode") ? text_of(def, "mode", NULL) : NULL;
    int64_t priority = LED_PRIORITY;
    if (json_object_get(def, "priority") &&
            (!integer(run, json_object_get(def, "priority"), "priority is not an integer",
                     &priority) ||
                    priority > INT32_MAX || priority < INT32_MIN)) {
        fail(run, ERR_SYNTAX, "priority is out of range");
        return false;
    }
    spec->priority = (int)priority;
    spec->context = run->context;
    spec->mode = mode && strcmp(mode, "PREVIOUS") == 0 ? LED_PREVIOUS : LED_NOW;
    if (mode && spec->mode == LED_NOW && strcmp(mode, "NOW") != 0)
        fail(run, ERR_SYNTAX, "mode is neither NOW nor PREVIOUS");
    if (!coupling_parse(text_of(def, "coupling", "immediate"), &spec->coupling))
        fail(run, ERR_SYNTAX, "unknown coupling");
    const char *context = text_of(def, "context", led_context_name(run->context));
    if (!led_context_parse(context, &spec->context))
        fail(run, ERR_SYNTAX, "unknown context");
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

/* A refusal of the detector is an outcome (fills `f`); nonsense is not (sets run->err). */
static enum err rule_make(struct run *run, const json_t *expr, const json_t *def, struct fault *f)
{
    struct led_rule_spec spec = {.condition = condition, .action = action};
    if (run->rule_count == RULE_MAX)
        fail(run, ERR_LIMIT, "too many rules");
    if (!actions_are_sound(json_object_get(def, "do")))
        fail(run, ERR_SYNTAX, "\"do\" is not a list of [action, argument]");
    struct led_event *e = NULL;
    if (run->err || !spec_parse(run, def, &spec))
        return OK;
    enum err err = build(run, expr, f, &e);
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

static void rule_gone(void *ctx, struct led_rule *rule, void *arg)
{
    (void)ctx;
    (void)rule;
    ((struct rule *)arg)->rule = NULL;
}

/* ---- operations, of the history and of rules ---- */

static void raise_named(struct run *run, const char *name)
{
    struct led_event *e = led_event_find(run->led, name);
    struct fault f;
    if (!e)
        e = led_primitive(run->led, name);
    if (led_raise(run->led, e, 0, &f))
        note_fault(run, &f);
}

/* The page's clock runs while anybody is active: see "sharing" in docs/led.md. */
static void share(struct run *run, const char *name, bool starts)
{
    bool known = json_object_get(run->active, name) != NULL;
    if (starts == known)
        return;
    if (starts) {
        if (json_object_size(run->active) == 0)
            raise_named(run, "DS");
        json_object_set_new(run->active, name, json_true());
    } else {
        if (json_object_size(run->active) == 1)
            raise_named(run, "DE");
        json_object_del(run->active, name);
    }
}

static void delete_rule(struct run *run, struct rule *r)
{
    struct led_rule *rule = r->rule;
    r->rule = NULL;
    led_rule_delete(run->led, rule);
}

static void delete_event(struct run *run, const json_t *op)
{
    const json_t *which = json_object_get(op, "event");
    bool cascade = !which || json_is_true(json_object_get(op, "cascade"));
    struct led_event *e = NULL;
    struct fault f;
    if (which) {
        if (build(run, which, &f, &e) || !e)
            return;
    } else { /* that of the trace, and with it whoever watches it */
        for (size_t i = 0; i < run->rule_count && !e; i++)
            if (run->rules[i]->rule)
                e = led_rule_event(run->rules[i]->rule);
        if (!e)
            return;
    }
    led_event_hold(e);
    bool was_made = which && !led_event_name(e);
    if (led_event_delete(run->led, e, cascade, &f))
        note_fault(run, &f);
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

static void rearm(struct run *run, const json_t *op)
{
    int64_t interval;
    if (!integer(run, json_object_get(op, "T"), "rearm wants an integer T", &interval))
        return;
    struct rearming r = {.run = run};
    struct fault f;
    led_each_node(run->led, find_periodic, &r);
    for (size_t i = 0; i < r.count; i++)
        if (led_rearm(run->led, r.found[i], interval, &f))
            note_fault(run, &f);
    if (interval > 0 && interval < run->shortest_star && run->shortest_star != MSEC_NEVER)
        run->shortest_star = interval;
}

static void operate(struct run *run, const char *op, const json_t *arg)
{
    const char *name = json_is_object(arg) ? NULL : json_string_value(arg);
    if (strcmp(op, "raise") == 0 && name && *name) {
        raise_named(run, name);
    } else if (strcmp(op, "log") == 0 && name) {
        note(run, name);
    } else if (strcmp(op, "fail") == 0) {
        led_fail(run->led);
    } else if (strcmp(op, "start") == 0 || strcmp(op, "end") == 0) {
        name = name ? name : text_of(arg, "s", "");
        share(run, name, op[0] == 's');
    } else if (strcmp(op, "delete_event") == 0) {
        delete_event(run, arg);
    } else if (strcmp(op, "rearm") == 0) {
        rearm(run, arg);
    } else if (strcmp(op, "create_rule") == 0) {
        const json_t *def = json_object_get(arg, "rule") ? json_object_get(arg, "rule") : arg;
        struct fault f;
        if (!json_object_get(def, "event") || !*text_of(def, "name", ""))
            fail(run, ERR_SYNTAX, "a rule wants a name and an event");
        else if (rule_make(run, json_object_get(def, "event"), def, &f))
            note_fault(run, &f);
    } else {
        struct rule *r = rule_find(run, name ? name : text_of(arg, "rule", ""));
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
            fail(run, ERR_SYNTAX, "unknown operation");
        }
    }
}

/* ---- cutting ---- */

static bool bind(void *ctx, struct led_rule *rule, struct led_rule_spec *spec)
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

static void cut_here(struct run *run)
{
    BUF(bytes, SNAPSHOT_MAX);
    struct fault f;
    if (led_save(run->led, &bytes, &f)) {
        fail(run, f.code, f.message);
        return;
    }
    struct led *again;
    enum err err = led_restore(bytes.data, bytes.len, bind, run, &f, &again);
    if (err) {
        fail(run, err, f.message);
        return;
    }
    led_free(run->led);
    run->led = again;
    led_on_rule_gone(again, rule_gone, run);
}

static void cut_point(struct run *run)
{
    run->points++;
    if (!run->err && (run->opt->cut == -1 || run->opt->cut == run->points))
        cut_here(run);
}

/* ---- history ---- */

static void advance(struct run *run, msec to) /* (1) */
{
    long limit = run->opt->step_max ? run->opt->step_max : STEP_MAX;
    for (msec next; (next = led_next(run->led)) <= to && !run->err;) {
        if (++run->steps > limit) {
            fail(run, ERR_LIMIT, "trace has too many deadlines");
            return;
        }
        led_advance(run->led, next, next + run->offset);
        cut_point(run);
    }
    if (to > led_now(run->led))
        led_advance(run->led, to, to + run->offset);
}

static void gap(struct run *run, const json_t *op, bool is_down)
{
    int64_t until;
    if (!integer(run, json_object_get(op, "until"), "a gap wants an integer until", &until))
        return;
    if (until < led_now(run->led)) {
        fail(run, ERR_SYNTAX, "a gap ends before it begins");
        return;
    }
    if ((until - led_now(run->led)) / run->shortest_star > STEP_MAX) {
        fail(run, ERR_LIMIT, "a gap has too many ticks");
        return;
    }
    if (is_down)
        run->down_until = until;
    led_wake(run->led, until, until + run->offset);
}

static void apply(struct run *run, const json_t *what)
{
    if (json_is_string(what) && *json_string_value(what)) {
        raise_named(run, json_string_value(what));
        return;
    }
    const char *op = json_string_value(json_object_get(what, "op"));
    int64_t by;
    if (!op) {
        fail(run, ERR_SYNTAX, "what happens is neither a name nor an operation");
    } else if (strcmp(op, "down") == 0 || strcmp(op, "stall") == 0) {
        gap(run, what, op[0] == 'd');
    } else if (strcmp(op, "wall_jump") == 0) {
        if (integer(run, json_object_get(what, "by"), "wall_jump wants an integer by", &by)) {
            run->offset += by;
            led_advance(run->led, led_now(run->led), led_now(run->led) + run->offset);
        }
    } else {
        operate(run, op, what);
    }
}

static bool is_lost(const struct run *run, msec t, const json_t *what) /* (3) */
{
    const char *op = json_string_value(json_object_get(what, "op"));
    return t < run->down_until && !(op && strcmp(op, "wall_jump") == 0);
}

static void history(struct run *run)
{
    const json_t *items = json_object_get(run->trace, "history");
    int64_t last = INT64_MIN, until = 0;
    if (!json_is_array(items))
        fail(run, ERR_SYNTAX, "history is not a list");
    for (size_t i = 0; i < json_array_size(items) && !run->err; i++) {
        const json_t *item = json_array_get(items, i), *what = json_array_get(item, 1);
        int64_t t;
        if (!integer(run, json_array_get(item, 0), "a time in history is not an integer", &t))
            return;
        if (t < last)
            fail(run, ERR_SYNTAX, "history is not in order of time");
        last = t;
        if (run->err || is_lost(run, t, what))
            continue;
        advance(run, t);
        cut_point(run);
        if (!run->err)
            apply(run, what);
        cut_point(run);
    }
    if (json_object_get(run->trace, "until") &&
            integer(run, json_object_get(run->trace, "until"), "until is not an integer", &until))
        advance(run, until);
}

/* ---- the whole ---- */

static msec first_time(const json_t *trace)
{
    const json_t *t = json_array_get(json_array_get(json_object_get(trace, "history"), 0), 0);
    int64_t first = json_is_integer(t) ? json_integer_value(t) : 0;
    return first < 0 && first >= -TIME_MAX ? first : 0;
}

static enum err setup(struct run *run, struct fault *f)
{
    const json_t *expr = json_object_get(run->trace, "expr");
    const json_t *rules = json_object_get(run->trace, "rules");
    if (!json_is_object(run->trace) || (!expr && !rules) || (rules && !json_is_array(rules)))
        fail(run, ERR_SYNTAX, "a trace is an object with \"expr\" or \"rules\", and \"history\"");
    else if (!led_context_parse(text_of(run->trace, "context", "recent"), &run->context))
        fail(run, ERR_SYNTAX, "unknown context");
    enum err err = OK;
    if (expr && !run->err)
        err = rule_make(run, expr, NULL, f);
    for (size_t i = 0; i < json_array_size(rules) && !err && !run->err; i++) {
        const json_t *def = json_array_get(rules, i);
        if (!json_object_get(def, "event") || !*text_of(def, "name", ""))
            fail(run, ERR_SYNTAX, "a rule wants a name and an event");
        else
            err = rule_make(run, json_object_get(def, "event"), def, f);
    }
    return err;
}

static void done(struct run *run)
{
    led_free(run->led);
    for (size_t i = 0; i < run->rule_count; i++) {
        free(run->rules[i]->name);
        free(run->rules[i]);
    }
    json_decref(run->active);
    json_decref(run->detected);
    json_decref(run->log);
    free(run);
}

static json_t *output(const struct run *run, const struct fault *refused)
{
    json_t *o = json_pack("{}");
    if (json_object_get(run->trace, "id"))
        json_object_set(o, "id", json_object_get(run->trace, "id"));
    if (refused)
        json_object_set_new(o, "error", json_string(refused->message));
    if (!refused && json_object_get(run->trace, "expr"))
        json_object_set(o, "detected", run->detected);
    if (!refused && (json_object_get(run->trace, "rules") || json_array_size(run->log)))
        json_object_set(o, "log", run->log);
    return o;
}

enum err trace_run(const json_t *trace, const struct trace_options *opt, struct fault *f,
        struct trace_result *ret)
{
    struct run *run = calloc(1, sizeof *run);
    struct fault refused;
    msec start = first_time(trace);
    run->trace = trace;
    run->opt = opt;
    run->f = f;
    run->led = led_new(start, start);
    run->down_until = INT64_MIN;
    run->shortest_star = MSEC_NEVER;
    run->active = json_pack("{}");
    run->detected = json_pack("[]");
    run->log = json_pack("[]");
    led_on_rule_gone(run->led, rule_gone, run);

    enum err is_refused = setup(run, &refused);
    if (!is_refused && !run->err) {
        cut_point(run);
        history(run);
    }
    enum err err = run->err;
    if (!err)
        *ret = (struct trace_result){output(run, is_refused ? &refused : NULL), run->points};
    done(run);
    return err;
}

static bool entry_matches(const json_t *expected, const json_t *got)
{
    static const char *const numbers[] = {"t", "start", "late", "missed"};
    for (size_t i = 0; i < countof(numbers); i++)
        if (json_integer_value(json_object_get(expected, numbers[i])) !=
                json_integer_value(json_object_get(got, numbers[i])))
            return false;
    return json_equal(json_object_get(expected, "parts"), json_object_get(got, "parts"));
}

bool trace_matches(const json_t *trace, const json_t *output)
{
    const json_t *expect = json_object_get(trace, "expect");
    const json_t *wanted = json_object_get(expect, "detected");
    const json_t *got = json_object_get(output, "detected");
    if (!expect)
        return true;
    if (json_object_get(expect, "log") &&
            !json_equal(json_object_get(expect, "log"), json_object_get(output, "log")))
        return false;
    if (!json_equal(json_object_get(expect, "error"), json_object_get(output, "error")) &&
            (json_object_get(expect, "error") || json_object_get(output, "error")))
        return false;
    if (!wanted)
        return true;
    if (json_array_size(wanted) != json_array_size(got) || !got)
        return false;
    for (size_t i = 0; i < json_array_size(wanted); i++)
        if (!entry_matches(json_array_get(wanted, i), json_array_get(got, i)))
            return false;
    return true;
}

static enum err as_array(json_t *whole, const json_error_t *e, struct fault *f, json_t **ret)
{
    if (!whole) {
        enum err err = fault_set(f, ERR_SYNTAX, "%s", e->text);
        if (f) {
            f->line = e->line;
            f->column = e->column;
        }
        return err;
    }
    json_t *traces = json_object_get(whole, "traces");
    if (json_is_array(whole))
        *ret = json_incref(whole);
    else if (json_is_array(traces))
        *ret = json_incref(traces);
    else
        *ret = json_pack("[O]", whole);
    json_decref(whole);
    return OK;
}

enum err trace_parse(const char *text, size_t len, struct fault *f, json_t **ret_array)
{
    json_error_t e;
    json_t *whole = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
    return as_array(whole, &e, f, ret_array);
}

enum err trace_load(const char *path, struct fault *f, json_t **ret_array)
{
    json_error_t e;
    json_t *whole = strcmp(path, "-") == 0 ? json_loadf(stdin, JSON_REJECT_DUPLICATES, &e)
                                           : json_load_file(path, JSON_REJECT_DUPLICATES, &e);
    return as_array(whole, &e, f, ret_array);
}
