/* Expressions of a trace: ["SEQ", "A", ["PLUS", "B", 5]]. */
#include "tests/led/trace_int.h"
#include <stdlib.h>
#include <string.h>

struct shape {
    const char *name;
    unsigned events; /* operands that are events */
    int span_at;     /* position of the time among the arguments; -1 if there is none */
    const char *example;
};

static const struct shape shapes[] = {{"OR", 2, -1, "Write [\"OR\", \"A\", \"B\"]."},
        {"AND", 2, -1, "Write [\"AND\", \"A\", \"B\"]."},
        {"SEQ", 2, -1, "Write [\"SEQ\", \"A\", \"B\"]."},
        {"NOT", 3, -1, "Write [\"NOT\", \"forbidden\", \"from\", \"to\"]."},
        {"A", 3, -1, "Write [\"A\", \"from\", \"each\", \"to\"]."},
        {"A*", 3, -1, "Write [\"A*\", \"from\", \"each\", \"to\"]."},
        {"P", 2, 1, "Write [\"P\", \"from\", 10, \"to\"]."},
        {"P*", 2, 1, "Write [\"P*\", \"from\", 10, \"to\"]."},
        {"PLUS", 1, 1, "Write [\"PLUS\", \"A\", 10]."}, {"ABS", 0, 0, "Write [\"ABS\", 100]."}};

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
        if ((int)i - 1 != shape->span_at)
            err = trace_build(run, arg, f, &e[count++]);
        else if (!json_is_integer(arg) || llabs(json_integer_value(arg)) > TIME_MAX)
            trace_fail_hint(
                    run, shape->example, "time of %s is not an integer in range", shape->name);
        else
            span = json_integer_value(arg);
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
    const json_t *first = json_array_get(expr, 1);
    json_int_t needed = json_integer_value(first);
    size_t count = json_array_size(expr) - 2;
    if (json_array_size(expr) < 3 || count > LED_ANY_MAX || !json_is_integer(first) ||
            needed < 0 || needed > LED_ANY_MAX) {
        trace_fail_hint(run, "Write [\"ANY\", 2, \"A\", \"B\", \"C\"].",
                "ANY wants a number and 1 to 32 events");
        return OK;
    }
    enum err err = OK;
    for (size_t i = 0; i < count && !err && !run->err; i++)
        err = trace_build(run, json_array_get(expr, i + 2), f, &e[i]);
    if (!err && !run->err)
        err = led_any(run->led, (unsigned)needed, (unsigned)count, e, f, ret);
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
        trace_fail_hint(run, s->example, "%s has %zu arguments and wants %u", s->name,
                json_array_size(expr) - 1, s->events + (s->span_at >= 0));
        return OK;
    }
    if (op)
        trace_fail_hint(run,
                "Operators are OR, AND, SEQ, NOT, ANY, A, A*, P, P*, PLUS and ABS.",
                "unknown operator \"%s\"", op);
    else
        trace_fail_hint(run, "Write \"A\" or [\"SEQ\", \"A\", \"B\"].",
                "expression is neither a name nor [operator, ...]");
    return OK;
}
