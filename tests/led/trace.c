/* Running a trace: its words are turned into calls of the detector.
 *
 *  (1) Time goes from deadline to deadline, as it would under an event loop that is never
 *      late; only `down` and `stall` make a gap.
 *  (2) At any point the detector may be cut: saved, freed, restored.  Nothing here but the
 *      rules' numbers refers to it across a cut.
 *  (3) While the process is down whatever reaches it is lost; while it is stalled it arrives
 *      when the stall is over.  The wall clock jumps on its own in both.
 */
#include "tests/led/trace_int.h"
#include <stdlib.h>
#include <string.h>

/* ---- what all files of a run need ---- */

static void fail(struct run *run, enum err code, const char *fmt, va_list ap)
{
    BUF(text, 1000);
    if (run->part && json_is_array(json_object_get(run->trace, run->part)))
        buf_printf(&text, "%s[%zu]: ", run->part, run->item);
    else if (run->part)
        buf_printf(&text, "%s: ", run->part);
    buf_vprintf(&text, fmt, ap);
    run->err = fault_set(run->f, code, "%s", buf_text(&text));
}

void trace_fail(struct run *run, enum err code, const char *fmt, ...)
{
    if (run->err)
        return;
    va_list ap;
    va_start(ap, fmt);
    fail(run, code, fmt, ap);
    va_end(ap);
}

void trace_fail_hint(struct run *run, const char *hint, const char *fmt, ...)
{
    if (run->err)
        return;
    va_list ap;
    va_start(ap, fmt);
    fail(run, ERR_SYNTAX, fmt, ap);
    va_end(ap);
    fault_hint(run->f, "%s", hint);
}

size_t trace_limit(const struct run *run)
{
    return run->opt->step_max ? (size_t)run->opt->step_max : STEP_MAX;
}

void trace_note(struct run *run, const char *text)
{
    json_array_append_new(run->log, json_string(text));
    if (json_array_size(run->log) > trace_limit(run))
        trace_fail(run, ERR_LIMIT, "trace logs without end");
}

void trace_note_fault(struct run *run, const struct fault *f)
{
    BUF(text, 1000);
    buf_printf(&text, "ERR %s", f->message);
    trace_note(run, buf_text(&text));
}

bool trace_integer(struct run *run, const json_t *v, const char *what, int64_t *ret)
{
    if (json_is_integer(v) && json_integer_value(v) <= TIME_MAX &&
            json_integer_value(v) >= -TIME_MAX) {
        *ret = json_integer_value(v);
        return true;
    }
    trace_fail(run, ERR_SYNTAX, "%s", what);
    return false;
}

const char *trace_text(const json_t *object, const char *key, const char *otherwise)
{
    const json_t *v = json_object_get(object, key);
    if (!v)
        return otherwise;
    return json_is_string(v) ? json_string_value(v) : "";
}

/* ---- cutting ---- */

static void cut_here(struct run *run)
{
    BUF(bytes, SNAPSHOT_MAX);
    struct fault f;
    if (led_save(run->led, &bytes, &f)) {
        trace_fail(run, f.code, "%s", f.message);
        return;
    }
    struct led *again;
    enum err err = led_restore(bytes.data, bytes.len, trace_rule_bind, run, &f, &again);
    if (err) {
        trace_fail(run, err, "%s", f.message);
        return;
    }
    led_free(run->led);
    run->led = again;
    led_on_rule_gone(again, trace_rule_gone, run);
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
    for (msec next; (next = led_next(run->led)) <= to && !run->err;) {
        if (++run->steps > trace_limit(run)) {
            trace_fail(run, ERR_LIMIT, "trace has too many deadlines");
            return;
        }
        led_advance(run->led, next, next + run->offset);
        cut_point(run);
    }
    if (to > led_now(run->led))
        led_advance(run->led, to, to + run->offset);
}

static void gap(struct run *run, msec t, const json_t *op, bool is_down)
{
    int64_t until;
    if (!trace_integer(run, json_object_get(op, "until"),
                "down and stall want an integer, \"until\"", &until))
        return;
    if (until < t) {
        trace_fail_hint(run, "\"until\" is a time, not a length: give one that is later.",
                "a gap that ends at %lld has not begun", (long long)until);
        return;
    }
    if (until <= led_now(run->led))
        return; /* inside an earlier stall */
    if ((until - led_now(run->led)) / run->shortest_star > STEP_MAX) {
        trace_fail(run, ERR_LIMIT, "a gap has too many ticks");
        return;
    }
    if (is_down)
        run->down_until = until;
    led_wake(run->led, until, until + run->offset);
}

static void apply(struct run *run, msec t, const json_t *what)
{
    if (json_is_string(what) && *json_string_value(what)) {
        trace_raise(run, json_string_value(what));
        return;
    }
    const char *op = json_string_value(json_object_get(what, "op"));
    int64_t by;
    if (!op) {
        trace_fail(run, ERR_SYNTAX,
                "what happens is neither a name nor an operation like {\"op\": \"down\", ...}");
    } else if (strcmp(op, "down") == 0 || strcmp(op, "stall") == 0) {
        gap(run, t, what, op[0] == 'd');
    } else if (strcmp(op, "wall_jump") == 0) {
        if (trace_integer(run, json_object_get(what, "by"),
                    "wall_jump wants an integer, \"by\"", &by)) {
            run->offset += by;
            led_advance(run->led, led_now(run->led), led_now(run->led) + run->offset);
        }
    } else {
        trace_operate(run, op, what);
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
    run->part = "history";
    if (items && !json_is_array(items))
        trace_fail_hint(run, "Write [[1, \"A\"], [5, \"B\"]], the earliest first.",
                "not a list of [time, what happens]");
    for (size_t i = 0; i < json_array_size(items) && !run->err; i++) {
        const json_t *item = json_array_get(items, i), *what = json_array_get(item, 1);
        int64_t t;
        run->item = i;
        if (json_array_size(item) != 2)
            trace_fail_hint(
                    run, "Write [1, \"A\"] or [1, {\"op\": ...}].", "not [time, what happens]");
        if (!trace_integer(run, json_array_get(item, 0), "the time is not an integer", &t))
            return;
        if (t < last)
            trace_fail_hint(run,
                    "A history is in order of time; what the wall clock does is "
                    "told by wall_jump.",
                    "time goes back from %lld to %lld", (long long)last, (long long)t);
        last = t;
        if (run->err || is_lost(run, t, what))
            continue;
        advance(run, t);
        cut_point(run);
        if (!run->err)
            apply(run, t, what);
        cut_point(run);
    }
    run->part = "until";
    if (json_object_get(run->trace, "until") &&
            trace_integer(run, json_object_get(run->trace, "until"), "not an integer", &until))
        advance(run, until);
}

/* ---- the whole ---- */

static msec first_time(const json_t *trace)
{
    const json_t *t = json_array_get(json_array_get(json_object_get(trace, "history"), 0), 0);
    int64_t first = json_is_integer(t) ? json_integer_value(t) : 0;
    return first < 0 && first >= -TIME_MAX ? first : 0;
}

static void check_detection(struct run *run, size_t i, const json_t *d)
{
    static const char *const numbers[] = {"t", "start", "late", "missed"};
    bool is_sound = json_is_integer(json_object_get(d, "t")) &&
                    json_is_array(json_object_get(d, "parts"));
    for (size_t n = 0; n < countof(numbers); n++)
        if (json_object_get(d, numbers[n]) && !json_is_integer(json_object_get(d, numbers[n])))
            is_sound = false;
    if (!is_sound)
        trace_fail_hint(run, "Write {\"t\": 3, \"start\": 1, \"parts\": [\"A1\", \"B1\"]}.",
                "\"detected\"[%zu] is not a detection", i);
}

static void check_expectation(struct run *run)
{
    const json_t *expect = json_object_get(run->trace, "expect");
    run->part = "expect";
    const json_t *detected = json_object_get(expect, "detected");
    const json_t *log = json_object_get(expect, "log"),
                 *error = json_object_get(expect, "error");
    if (expect && !detected && !log && !error)
        trace_fail(run, ERR_SYNTAX, "speaks of neither \"detected\" nor \"log\" nor \"error\"");
    if (log && !json_is_array(log))
        trace_fail(run, ERR_SYNTAX, "\"log\" is not a list of texts");
    if (error && !json_is_string(error))
        trace_fail(run, ERR_SYNTAX, "\"error\" is not a text");
    if (detected && !json_is_array(detected))
        trace_fail(run, ERR_SYNTAX, "\"detected\" is not a list");
    for (size_t i = 0; i < json_array_size(detected); i++)
        check_detection(run, i, json_array_get(detected, i));
    run->part = NULL;
}

static enum err setup(struct run *run, struct fault *f)
{
    check_expectation(run);
    const json_t *expr = json_object_get(run->trace, "expr");
    const json_t *rules = json_object_get(run->trace, "rules");
    const char *context = trace_text(run->trace, "context", "recent");
    if (!json_is_object(run->trace) || (!expr && !rules) || (rules && !json_is_array(rules)))
        trace_fail(run, ERR_SYNTAX,
                "a trace is an object with \"expr\" or a list of \"rules\", and \"history\"");
    else if (!led_context_parse(context, &run->context))
        trace_fail_hint(run, CONTEXTS, "unknown context \"%s\"", context);
    enum err err = OK;
    run->part = "expression";
    if (expr && !run->err)
        err = trace_rule_make(run, expr, NULL, f);
    run->part = "rules";
    for (size_t i = 0; i < json_array_size(rules) && !err && !run->err; i++) {
        const json_t *def = json_array_get(rules, i);
        run->item = i;
        if (!json_object_get(def, "event") || !*trace_text(def, "name", ""))
            trace_fail(run, ERR_SYNTAX, "a rule wants a name and an event");
        else
            err = trace_rule_make(run, json_object_get(def, "event"), def, f);
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
    led_on_rule_gone(run->led, trace_rule_gone, run);

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
