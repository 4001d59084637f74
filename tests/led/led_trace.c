/* led-trace FILE.json [--check]: runs traces and prints what was detected, one JSON object a
 * line.  With --check it compares with what they expect instead.
 *
 * Exit 0: done.  1: a trace came out differently; both results are shown.  2: the file or a
 * trace in it is malformed.
 */
#include "tests/led/trace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *id_of(const json_t *trace)
{
    const char *id = json_string_value(json_object_get(trace, "id"));
    return id ? id : "trace";
}

static void print(FILE *to, const char *before, const json_t *v)
{
    char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
    fprintf(to, "%s%s\n", before, text ? text : "null");
    free(text);
}

static int run_one(const json_t *trace, bool check)
{
    struct fault f = {0};
    struct trace_options opt = {0};
    struct trace_result r;
    if (trace_run(trace, &opt, &f, &r)) {
        fprintf(stderr, "led-trace: %s: %s\n", id_of(trace), f.message);
        return 2;
    }
    int status = 0;
    if (!check) {
        print(stdout, "", r.output);
    } else if (!trace_matches(trace, r.output)) {
        printf("%s: differs\n", id_of(trace));
        print(stdout, "  expected ", json_object_get(trace, "expect"));
        print(stdout, "  got      ", r.output);
        status = 1;
    }
    json_decref(r.output);
    return status;
}

int main(int argc, char **argv)
{
    const char *path = NULL;
    bool check = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--check") == 0)
            check = true;
        else if (!path && (argv[i][0] != '-' || argv[i][1] == 0))
            path = argv[i];
        else
            path = NULL, i = argc;
    }
    if (!path) {
        fprintf(stderr, "usage: led-trace FILE.json [--check]\n");
        return 2;
    }
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
    size_t count = json_array_size(traces);
    for (size_t i = 0; i < count && status == 0; i++)
        status = run_one(json_array_get(traces, i), check);
    if (check && status == 0)
        printf("%zu traces as expected\n", count);
    json_decref(traces);
    return status;
}
