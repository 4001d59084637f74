/* trace, inside -- a run of one trace, as its files share it. */
#pragma once
#include "led/led.h"
#include "tests/led/trace.h"

enum { RULE_MAX = 4096, STEP_MAX = 1000 * 1000, SNAPSHOT_MAX = 256 * 1024 * 1024 };
#define TIME_MAX INT64_C(1000000000000000)

#define CONTEXTS "Contexts are unrestricted, recent, chronicle, continuous and cumulative."

struct rule {
    struct run *run;
    struct led_rule *rule; /* NULL once deleted */
    char *name;            /* NULL for the one that collects detections */
    const json_t *todo;    /* borrowed from the trace */
    bool condition;
};

struct run {
    const json_t *trace;
    const char *part; /* of the trace that is being read: "history", "rules", ... or NULL */
    size_t item;      /* in it, from 0 */
    const struct trace_options *opt;
    struct fault *f;
    enum err err; /* the trace is malformed or does not end */
    struct led *led;
    enum led_context context;
    msec offset;        /* wall - monotonic */
    msec down_until;    /* whatever comes before that is lost */
    msec shortest_star; /* interval of a P*; MSEC_NEVER if there is none */
    size_t steps;
    long points;
    struct rule *rules[RULE_MAX];
    size_t rule_count;
    json_t *active; /* the set of names that share DS and DE */
    json_t *detected, *log;
};

/* The trace is nonsense, or does not end; the first such finding stays, with its place. */
void trace_fail(struct run *run, enum err code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The same with what to do about it, a sentence. */
void trace_fail_hint(struct run *run, const char *hint, const char *fmt, ...) PRINTF_LIKE(3, 4);
size_t trace_limit(const struct run *run);
void trace_note(struct run *run, const char *text); /* into the log */
void trace_note_fault(struct run *run, const struct fault *f);
bool trace_integer(struct run *run, const json_t *v, const char *what, int64_t *ret);
const char *trace_text(const json_t *object, const char *key, const char *otherwise);

/* trace_expr.c.  Named events are held for good, so that they go on counting; the others are
 * the caller's to drop.  A malformed expression sets run->err and yields no event. */
enum err trace_build(
        struct run *run, const json_t *expr, struct fault *f, struct led_event **ret);

/* trace_rule.c.  A refusal of the detector is an outcome (fills `f`); nonsense is not (sets
 * run->err). */
enum err trace_rule_make(
        struct run *run, const json_t *expr, const json_t *def, struct fault *f);
void trace_rule_gone(void *ctx, struct led_rule *rule, void *arg);
struct rule *trace_rule_find(struct run *run, const char *name); /* alive; or NULL */
bool trace_rule_bind(void *ctx, struct led_rule *rule, struct led_rule_spec *spec);
void trace_raise(struct run *run, const char *name);

/* trace_operate.c.  What the history and the actions of rules can do. */
void trace_operate(struct run *run, const char *op, const json_t *arg);
/* Sets run->err unless `op` is known and has the argument it wants. */
bool trace_operation_is_sound(struct run *run, const char *op, const json_t *arg);
