/* led-trace [--check] FILE.json...: runs traces and prints what was detected, one JSON object a
 * line.  With --check it compares with what they expect instead.
 *
 * Exit 0: done.  1: a trace came out differently; both results are shown.  2: the file or a
 * trace in it is malformed.
 */
#include "tests/led/trace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `trace 3, "its id"` */
static void print_place(FILE *to, const char *path, size_t index, const json_t *trace)
{
    const char *id = json_string_value(json_object_get(trace, "id"));
    fprintf(to, "%s: trace %zu", path, index + 1);
    if (id)
        fprintf(to, ", \"%s\"", id);
}

static bool is_among(const char *key, const char *const *words)
{
    while (*words && strcmp(key, *words) != 0)
        words++;
    return *words != NULL;
}

/* A field misspelt is a field left out, which may well go unnoticed. */
static void warn_unknown(const char *path, size_t index, json_t *trace)
{
    static const char *const of_trace[] = {"id", "expr", "rules", "context", "history", "until",
            "expect", "note", "comment", NULL};
    static const char *const of_rule[] = {"name", "event", "context", "priority", "coupling",
            "mode", "condition", "enabled", "do", "note", "comment", NULL};
    const char *key;
    json_t *value;
    json_object_foreach(trace, key, value)
    {
        if (is_among(key, of_trace))
            continue;
        fprintf(stderr, "led-trace: ");
        print_place(stderr, path, index, trace);
        fprintf(stderr, ": warning: field \"%s\" means nothing here\n", key);
    }
    const json_t *rules = json_object_get(trace, "rules");
    for (size_t i = 0; i < json_array_size(rules); i++) {
        json_object_foreach(json_array_get(rules, i), key, value)
        {
            if (is_among(key, of_rule))
                continue;
            fprintf(stderr, "led-trace: ");
            print_place(stderr, path, index, trace);
            fprintf(stderr, ": rules[%zu]: warning: field \"%s\" means nothing here\n", i, key);
        }
    }
}

static void print(FILE *to, const char *before, const json_t *v)
{
    char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
    fprintf(to, "%s%s\n", before, text ? text : "null");
    free(text);
}

struct tally {
    size_t checked, unexpecting;
};

static int run_one(const char *path, size_t index, json_t *trace, struct tally *checks)
{
    warn_unknown(path, index, trace);
    struct fault f = {0};
    struct trace_options opt = {0};
    struct trace_result r;
    if (trace_run(trace, &opt, &f, &r)) {
        fprintf(stderr, "led-trace: ");
        print_place(stderr, path, index, trace);
        fprintf(stderr, ": %s\n", f.message);
        if (f.hint[0])
            fprintf(stderr, "  %s\n", f.hint);
        return 2;
    }
    int status = 0;
    if (!checks) {
        print(stdout, "", r.output);
    } else if (!trace_matches(trace, r.output)) {
        print_place(stdout, path, index, trace);
        printf(" differs\n");
        print(stdout, "  expected ", json_object_get(trace, "expect"));
        print(stdout, "  got      ", r.output);
        status = 1;
    } else {
        checks->checked++;
        checks->unexpecting += !json_object_get(trace, "expect");
    }
    json_decref(r.output);
    return status;
}

static int run_file(const char *path, struct tally *checks)
{
    struct fault f = {0};
    json_t *traces;
    if (trace_load(path, &f, &traces)) {
        if (f.line > 0)
            fprintf(stderr, "led-trace: %s:%d:%d: %s\n", path, f.line, f.column, f.message);
        else
            fprintf(stderr, "led-trace: %s\n", f.message);
        return 2;
    }
    int status = 0;
    for (size_t i = 0; i < json_array_size(traces) && status == 0; i++)
        status = run_one(path, i, json_array_get(traces, i), checks);
    json_decref(traces);
    return status;
}

static int usage(FILE *to)
{
    fprintf(to, "usage: led-trace [--check] FILE.json...\n"
                "Runs event traces and prints what was detected, one JSON object a line; - is\n"
                "standard input.  With --check, stops at the first that is not what its\n"
                "\"expect\" says, with exit 1.  docs/led.md describes the files.\n");
    return to == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
    bool check = false;
    int files = 0, status = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--check") == 0)
            check = true;
        else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return usage(stdout);
        else if (argv[i][0] == '-' && argv[i][1])
            return usage(stderr);
        else
            files++;
    }
    if (files == 0)
        return usage(stderr);
    struct tally checks = {0};
    for (int i = 1; i < argc && status == 0; i++)
        if (strcmp(argv[i], "--check") != 0)
            status = run_file(argv[i], check ? &checks : NULL);
    if (check && status == 0)
        printf("%zu traces as expected\n", checks.checked - checks.unexpecting);
    if (check && status == 0 && checks.unexpecting)
        printf("%zu traces have nothing to compare with\n", checks.unexpecting);
    return status;
}
