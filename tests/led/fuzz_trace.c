/* fuzz_trace: any bytes as a trace file.
 *
 * Whatever the bytes are, the answer is a result or a fault; and a detector that is saved and
 * restored at every point gives the same result as one that is left alone.  With libFuzzer:
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -DLIBFUZZER ...
 *
 * Without it this is an ordinary program that replays the files it is given, or its input;
 * `--mutate N SEED` replays N damaged copies of each file as well.
 */
#include "tests/led/trace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_MAX = 64 * 1024, STEPS = 2000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void differ(const json_t *a, const json_t *b)
{
    char *x = json_dumps(a, JSON_COMPACT), *y = json_dumps(b, JSON_COMPACT);
    fprintf(stderr, "whole %s\ncut   %s\n", x ? x : "?", y ? y : "?");
    abort();
}

static void run_one(const json_t *trace)
{
    struct trace_options whole = {.step_max = STEPS}, cut = {.step_max = STEPS, .cut = -1};
    struct trace_result a, b;
    struct fault f;
    enum err err = trace_run(trace, &whole, &f, &a);
    if (err) {
        if (!f.message[0] || (err != ERR_SYNTAX && err != ERR_LIMIT))
            abort();
        return;
    }
    if (a.points < 200) {
        if (trace_run(trace, &cut, &f, &b))
            abort();
        if (!json_equal(a.output, b.output))
            differ(a.output, b.output);
        json_decref(b.output);
    }
    json_decref(a.output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *traces;
    if (size > INPUT_MAX || trace_parse((const char *)data, size, NULL, &traces))
        return 0;
    for (size_t i = 0; i < json_array_size(traces) && i < 16; i++)
        run_one(json_array_get(traces, i));
    json_decref(traces);
    return 0;
}

#ifndef LIBFUZZER

static size_t slurp(FILE *from, uint8_t bytes[INPUT_MAX])
{
    size_t len = fread(bytes, 1, INPUT_MAX, from);
    return len;
}

static uint64_t state;

static size_t chance(size_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(state >> 33) % below;
}

/* A damaged copy: some bytes replaced, dropped or doubled, mostly by what JSON is made of. */
static size_t damage(const uint8_t *from, size_t len, uint8_t to[INPUT_MAX])
{
    static const char spice[] = "0123456789[]{},:\"ABZMPNX*-";
    size_t out = 0, every = 20 + chance(400);
    for (size_t i = 0; i < len && out + 2 < INPUT_MAX; i++) {
        to[out++] = from[i];
        if (chance(every) != 0)
            continue;
        switch (chance(3)) {
        case 0:
            to[out - 1] = (uint8_t)spice[chance(sizeof spice - 1)];
            break;
        case 1:
            out--;
            break;
        default:
            to[out++] = (uint8_t)spice[chance(sizeof spice - 1)];
        }
    }
    return out;
}

int main(int argc, char **argv)
{
    static uint8_t bytes[INPUT_MAX], damaged[INPUT_MAX];
    long copies = 0;
    int first = 1;
    if (argc > 3 && strcmp(argv[1], "--mutate") == 0) {
        copies = atol(argv[2]);
        state = strtoull(argv[3], NULL, 10);
        first = 4;
    }
    if (first == argc)
        LLVMFuzzerTestOneInput(bytes, slurp(stdin, bytes));
    for (int i = first; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) {
            perror(argv[i]);
            return 2;
        }
        size_t len = slurp(f, bytes);
        fclose(f);
        LLVMFuzzerTestOneInput(bytes, len);
        for (long k = 0; k < copies; k++)
            LLVMFuzzerTestOneInput(damaged, damage(bytes, len, damaged));
    }
    return 0;
}

#endif
