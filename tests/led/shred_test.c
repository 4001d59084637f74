/* Random traces with everything in them: nested operators, timers, gaps, jumps, deletions, in
 * every context.  There is no oracle for these; but a detector that is thrown away and restored
 * at every point must come to the same result as one that is left alone, and neither may trip
 * over itself.  LED_SEED and LED_ROUNDS as in random_test.c.
 */
#include "tests/led/trace.h"
#include "tests/test.h"

static uint64_t state;

static int chance(int below)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (int)((z ^ z >> 31) % (uint64_t)below);
}

static const char *name(void)
{
    static const char *const names[] = {"A", "B", "C", "D"};
    return names[chance(4)];
}

static json_t *expr(int depth)
{
    json_t *e[3];
    if (depth == 0 || chance(3) == 0)
        return chance(8) ? json_string(name()) : json_pack("[s, i]", "ABS", 1 + chance(60));
    for (int i = 0; i < 3; i++)
        e[i] = expr(depth - 1);
    static const char *const two[] = {"OR", "AND", "SEQ"}, *const three[] = {"NOT", "A", "A*"};
    switch (chance(5)) {
    case 0:
        return json_pack("[s, o, o, o]", three[chance(3)], e[0], e[1], e[2]);
    case 1:
        return json_pack("[s, i, o, o, o]", "ANY", 1 + chance(3), e[0], e[1], e[2]);
    case 2:
        json_decref(e[2]);
        return json_pack("[s, o, i, o]", chance(2) ? "P" : "P*", e[0], 1 + chance(9), e[1]);
    case 3:
        json_decref(e[1]);
        json_decref(e[2]);
        return json_pack("[s, o, i]", "PLUS", e[0], 1 + chance(12));
    default:
        json_decref(e[2]);
        return json_pack("[s, o, o]", two[chance(3)], e[0], e[1]);
    }
}

static const char *context(void)
{
    static const char *const contexts[] = {
            "unrestricted", "recent", "chronicle", "continuous", "cumulative"};
    return contexts[chance(5)];
}

static json_t *rule(int number)
{
    static const char *const couplings[] = {
            "immediate", "deferred", "detached", "detached dependent"};
    static const char *const acts[] = {"raise", "disable_rule", "delete_rule", "enable_rule"};
    char called[8], other[8];
    snprintf(called, sizeof called, "r%d", number);
    snprintf(other, sizeof other, "r%d", chance(4));
    int act = chance(8);
    const char *what = act == 0 ? name() : other;
    json_t *todo = act < 4 ? json_pack("[[s, s]]", acts[act], what) : json_pack("[]");
    return json_pack("{s:s, s:o, s:i, s:s, s:s, s:s, s:o}", "name", called, "event",
            expr(chance(3)), "priority", chance(3), "coupling", couplings[chance(4)], "mode",
            chance(2) ? "NOW" : "PREVIOUS", "context", context(), "do", todo);
}

static json_t *happening(int t, int *rules)
{
    char other[8];
    snprintf(other, sizeof other, "r%d", chance(4));
    switch (chance(24)) {
    case 0:
        return json_pack("{s:s, s:i}", "op", "down", "until", t + chance(30));
    case 1:
        return json_pack("{s:s, s:i}", "op", "stall", "until", t + chance(30));
    case 2:
        return json_pack("{s:s, s:i}", "op", "wall_jump", "by", chance(60) - 25);
    case 3:
        return json_pack("{s:s, s:i}", "op", "rearm", "T", 1 + chance(9));
    case 4:
        return json_pack("{s:s, s:s}", "op", "disable_rule", "rule", other);
    case 5:
        return json_pack("{s:s, s:s}", "op", "enable_rule", "rule", other);
    case 6:
        return json_pack("{s:s, s:o}", "op", "create_rule", "rule", rule((*rules)++));
    case 7:
        if (chance(4) == 0)
            return json_pack("{s:s, s:s, s:b}", "op", "delete_event", "event", name(),
                    "cascade", chance(2));
        return json_pack("{s:s, s:s}", "op", "delete_rule", "rule", other);
    default:
        return json_string(name());
    }
}

static json_t *trace_make(void)
{
    int rules = 0, t = 0, count = 3 + chance(14);
    json_t *all = json_pack("[]"), *history = json_pack("[]");
    for (int n = chance(4); rules < n;)
        json_array_append_new(all, rule(rules++));
    json_t *trace = json_pack(
            "{s:o, s:o, s:s}", "expr", expr(1 + chance(3)), "rules", all, "context", context());
    for (int i = 0; i < count; i++) {
        t += chance(4);
        json_array_append_new(history, json_pack("[i, o]", t, happening(t, &rules)));
    }
    json_object_set_new(trace, "history", history);
    json_object_set_new(trace, "until", json_integer(t + chance(30)));
    return trace;
}

/* Returns how much came out. */
static size_t compare(const json_t *trace)
{
    struct trace_options whole = {.step_max = 3000}, cut = {.step_max = 3000, .cut = -1};
    struct trace_result a, b = {0};
    struct fault f = {0};
    if (trace_run(trace, &whole, &f, &a)) {
        if (f.code != ERR_LIMIT)
            test_fail(__FILE__, __LINE__, "%s", f.message);
        return 0;
    }
    enum err err = trace_run(trace, &cut, &f, &b);
    if (err || !json_equal(a.output, b.output)) {
        char *t = json_dumps(trace, JSON_COMPACT), *x = json_dumps(a.output, JSON_COMPACT),
             *y = b.output ? json_dumps(b.output, JSON_COMPACT) : NULL;
        test_fail(
                __FILE__, __LINE__, "%s\n#   whole %s\n#   cut   %s", t, x, y ? y : f.message);
        free(t);
        free(x);
        free(y);
    }
    size_t out = json_array_size(json_object_get(a.output, "detected")) +
                 json_array_size(json_object_get(a.output, "log"));
    json_decref(a.output);
    json_decref(b.output);
    return out;
}

TEST(shred, "random traces come out the same when the detector is restored at every point")
{
    const char *seed = getenv("LED_SEED"), *rounds = getenv("LED_ROUNDS");
    long count = rounds ? atol(rounds) : 5000, lively = 0;
    state = seed ? strtoull(seed, NULL, 10) : 4;
    printf("# seed %" PRIu64 "\n", state);
    for (long i = 0; i < count && test_failures == 0; i++) {
        json_t *trace = trace_make();
        lively += compare(trace) > 0;
        json_decref(trace);
    }
    printf("# %ld of %ld detected something\n", lively, count);
    EXPECT(lively > count / 3);
}

TEST_MAIN()
