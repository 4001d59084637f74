/* Expressions of a trace: ["SEQ", "A", ["PLUS", "B", 5]]. */
#include "tests/led/trace_int.h"
#include <string.h>

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
            trace_integer(run, arg, "time in expression is not an integer in range", &span);
        else
            err = trace_build(run, arg, f, &e[count++]);
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

static enum err build_any(
        struct run *run, const json_t *expr, struct fault *f, struct led_event **ret)
{
    struct led_event *e[LED_ANY_MAX] = {NULL};
    int64_t needed;
    size_t count = json_array_size(expr) - 2;
    if (json_array_size(expr) < 3 || count > LED_ANY_MAX ||
            !trace_integer(run, json_array_get(expr, 1), "ANY wants a number first", &needed)) {
        trace_fail(run, ERR_SYNTAX, "ANY wants a number and 1 to 32 events");
        return OK;
    }
    enum err err = OK;
    for (size_t i = 0; i < count && !err && !run->err; i++)
        err = trace_build(run, json_array_get(expr, i + 2), f, &e[i]);
    if (!err && !run->err)
        err = led_any(run->led, needed < 0 || needed > 99 ? 99 : (unsigned)needed,
                (unsigned)count, e, f, ret);
    for (size_t i = 0; i < count; i++)
        if (e[i] && !led_event_name(e[i]))
            led_event_drop(run->led, e[i]);
    return err;
}

enum err trace_build(
        struct run *run, const json_t *expr, struct fault *f, struct led_event **ret)
{
    if (json_is_string(expr) && *json_string_value(expr)) {
        *ret = led_event_find(run->led, json_string_value(expr));
        if (!*ret)
            *ret = led_primitive(run->led, json_string_value(expr));
        return OK;
    }
    const char *op = json_string_value(json_array_get(expr, 0));
    if (op && strcasecmp(op, "ANY") == 0)
        return build_any(run, expr, f, ret);
    for (size_t i = 0; op && i < countof(shapes); i++) {
        const struct shape *s = &shapes[i];
        if (strcasecmp(op, s->name) != 0)
            continue;
        if (json_array_size(expr) == 1 + s->events + (s->span_at >= 0))
            return build_shape(run, s, expr, f, ret);
        trace_fail(run, ERR_SYNTAX, "%s has %zu arguments and wants %u", s->name,
                json_array_size(expr) - 1, s->events + (s->span_at >= 0));
        return OK;
    }
    if (op)
        trace_fail(run, ERR_SYNTAX, "unknown operator \"%s\"", op);
    else
        trace_fail(run, ERR_SYNTAX, "expression is neither a name nor [operator, ...]");
    return OK;
}
