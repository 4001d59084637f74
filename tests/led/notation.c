#include "tests/led/notation.h"
#include "tests/led/trace.h"
#include "tests/test.h"

static json_t *operation(const char *word, const char *value)
{
    long n = atol(value);
    if (strcmp(word, "down") == 0 || strcmp(word, "stall") == 0)
        return json_pack("{s:s, s:I}", "op", word, "until", (json_int_t)n);
    if (strcmp(word, "jump") == 0)
        return json_pack("{s:s, s:I}", "op", "wall_jump", "by", (json_int_t)n);
    if (strcmp(word, "rearm") == 0)
        return json_pack("{s:s, s:I}", "op", "rearm", "T", (json_int_t)n);
    return json_pack("{s:s}", "op", "delete_event");
}

static void history(json_t *trace, const char *text)
{
    json_t *items = json_pack("[]");
    char *copy = strdup(text), *rest = copy;
    for (char *token; (token = strsep(&rest, " "));) {
        if (!*token)
            continue;
        char *at = strrchr(token, '@'), *colon = strchr(token, ':');
        CHECK(at);
        *at++ = 0;
        if (colon)
            *colon++ = 0;
        json_t *what = colon || strcmp(token, "delete") == 0
                               ? operation(token, colon ? colon : "")
                               : json_string(token);
        if (strcmp(token, "until") == 0) {
            json_object_set_new(trace, "until", json_integer(atol(at)));
            json_decref(what);
        } else {
            json_array_append_new(items, json_pack("[I, o]", (json_int_t)atol(at), what));
        }
    }
    free(copy);
    json_object_set_new(trace, "history", items);
}

static void write_one(const json_t *d, struct buf *out)
{
    long long t = json_integer_value(json_object_get(d, "t"));
    long long start = json_integer_value(json_object_get(d, "start"));
    const json_t *parts = json_object_get(d, "parts");
    if (start != t)
        buf_printf(out, "%lld-", start);
    buf_printf(out, "%lld:(", t);
    for (size_t i = 0; i < json_array_size(parts); i++)
        buf_printf(out, "%s%s", i ? " " : "", json_string_value(json_array_get(parts, i)));
    buf_putc(out, ')');
    if (json_object_get(d, "late"))
        buf_printf(
                out, " {late=%lld}", (long long)json_integer_value(json_object_get(d, "late")));
    if (json_object_get(d, "missed"))
        buf_printf(out, " {missed=%lld}",
                (long long)json_integer_value(json_object_get(d, "missed")));
}

static json_t *trace_of(const char *expr, const char *context, const char *text)
{
    char *json = strdup(expr);
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json_t *e = json_loads(json, JSON_DECODE_ANY, NULL);
    CHECK(e);
    free(json);
    json_t *trace = json_pack("{s:o, s:s}", "expr", e, "context", context);
    history(trace, text);
    return trace;
}

void notation_run(
        const char *expr, const char *context, const char *text, long cut, struct buf *out)
{
    json_t *trace = trace_of(expr, context, text);
    struct trace_options opt = {.cut = cut};
    struct trace_result r;
    struct fault f = {0};
    if (trace_run(trace, &opt, &f, &r)) {
        buf_printf(out, "MALFORMED %s", f.message);
    } else {
        const json_t *error = json_object_get(r.output, "error");
        const json_t *all = json_object_get(r.output, "detected");
        if (error)
            buf_printf(out, "ERR %s", json_string_value(error));
        for (size_t i = 0; i < json_array_size(all); i++) {
            buf_puts(out, i ? "; " : "");
            write_one(json_array_get(all, i), out);
        }
        json_decref(r.output);
    }
    json_decref(trace);
}

void notation_check(const char *file, int line, const char *expr, const char *context,
        const char *text, const char *expected)
{
    for (long cut = 0; cut >= -1; cut--) {
        BUF(got, 1024 * 1024);
        notation_run(expr, context, text, cut, &got);
        if (strcmp(buf_text(&got), expected) != 0)
            test_fail(file, line, "%s in %s over %s%s\n#   %s\n# expected\n#   %s", expr,
                    context, text, cut ? ", cut everywhere" : "", buf_text(&got), expected);
    }
}
