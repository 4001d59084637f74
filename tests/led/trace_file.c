/* Trace files, and whether what came out is what they expect. */
#include "tests/led/trace.h"
#include <string.h>

static bool same_number(const json_t *expected, const json_t *got, const char *key)
{
    return json_integer_value(json_object_get(expected, key)) ==
           json_integer_value(json_object_get(got, key));
}

/* P, PLUS and ABS are late themselves; what is built from them is so only by hearsay, and that
 * is looked at only if the expectation speaks of it. */
static bool is_own_clock(const json_t *expr)
{
    const char *op = json_string_value(json_array_get(expr, 0));
    return op && (strcmp(op, "P") == 0 || strcmp(op, "PLUS") == 0 || strcmp(op, "ABS") == 0);
}

static bool entry_matches(const json_t *expected, const json_t *got, bool own_clock)
{
    static const char *const gaps[] = {"late", "missed"};
    for (size_t i = 0; i < countof(gaps); i++)
        if ((own_clock || json_object_get(expected, gaps[i])) &&
                !same_number(expected, got, gaps[i]))
            return false;
    bool is_instant = !json_object_get(expected, "start"); /* starts when it ends */
    return same_number(expected, got, "t") &&
           (is_instant ? json_equal(json_object_get(got, "start"), json_object_get(got, "t"))
                       : same_number(expected, got, "start")) &&
           json_equal(json_object_get(expected, "parts"), json_object_get(got, "parts"));
}

static bool log_matches(const json_t *expected, const json_t *got)
{
    if (!expected || (!got && json_is_array(expected) && !json_array_size(expected)))
        return true;
    return json_equal(expected, got);
}

bool trace_matches(const json_t *trace, const json_t *output)
{
    const json_t *expect = json_object_get(trace, "expect");
    const json_t *wanted = json_object_get(expect, "detected");
    const json_t *got = json_object_get(output, "detected");
    const json_t *error = json_object_get(expect, "error");
    if (!expect)
        return true;
    if (!log_matches(json_object_get(expect, "log"), json_object_get(output, "log")))
        return false;
    if ((error || json_object_get(output, "error")) &&
            !json_equal(error, json_object_get(output, "error")))
        return false;
    if (!wanted)
        return true;
    if (json_array_size(wanted) != json_array_size(got) || !got)
        return false;
    bool own_clock = is_own_clock(json_object_get(trace, "expr"));
    for (size_t i = 0; i < json_array_size(wanted); i++)
        if (!entry_matches(json_array_get(wanted, i), json_array_get(got, i), own_clock))
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
    if (traces && !json_is_array(traces)) {
        json_decref(whole);
        enum err err = fault_set(f, ERR_SYNTAX, "\"traces\" is not a list");
        if (f)
            f->line = f->column = 1;
        return err;
    }
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
