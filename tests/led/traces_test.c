/* Every trace in the files beside this one, whole and cut: see trace.h. */
#include "tests/led/trace.h"
#include "tests/test.h"

/* The traces that came with the semantics, and ours behind them. */
static json_t *load(void)
{
    static const char *const files[] = {
            "traces.json", "hand_traces.json", "nested_traces.json"};
    json_t *all = json_pack("[]");
    for (size_t i = 0; i < countof(files); i++) {
        BUF(path, 1000);
        buf_printf(&path, "%s/%s", TRACES, files[i]);
        json_t *traces = NULL;
        struct fault f = {0};
        if (trace_load(buf_text(&path), &f, &traces))
            test_fail(__FILE__, __LINE__, "%s", f.message);
        json_array_extend(all, traces);
        json_decref(traces);
    }
    return all;
}

/* Returns how many points there are to cut at. */
static long check(const json_t *trace, long cut)
{
    struct fault f = {0};
    struct trace_options opt = {.cut = cut};
    struct trace_result r = {0};
    if (trace_run(trace, &opt, &f, &r)) {
        test_fail(__FILE__, __LINE__, "%s: %s", json_string_value(json_object_get(trace, "id")),
                f.message);
        return 0;
    }
    if (!trace_matches(trace, r.output)) {
        char *got = json_dumps(r.output, JSON_COMPACT);
        test_fail(__FILE__, __LINE__, "%s, cut at %ld: %s",
                json_string_value(json_object_get(trace, "id")), cut, got);
        free(got);
    }
    json_decref(r.output);
    return r.points;
}

TEST(whole, "every trace of the semantics comes out as written")
{
    json_t *traces = load();
    EXPECT_INT(json_array_size(traces), 109 + 148 + 112);
    for (size_t i = 0; i < json_array_size(traces); i++)
        check(json_array_get(traces, i), 0);
    json_decref(traces);
}

TEST(cut, "a detector saved and restored at any one point detects the same")
{
    json_t *traces = load();
    for (size_t i = 0; i < json_array_size(traces); i++) {
        long points = check(json_array_get(traces, i), 0);
        EXPECT(points > 0 ||
                json_object_get(json_object_get(json_array_get(traces, i), "expect"), "error"));
        for (long cut = 1; cut <= points; cut++)
            check(json_array_get(traces, i), cut);
    }
    json_decref(traces);
}

TEST(shredded, "a detector saved and restored at every point detects the same")
{
    json_t *traces = load();
    for (size_t i = 0; i < json_array_size(traces); i++)
        check(json_array_get(traces, i), -1);
    json_decref(traces);
}

TEST_MAIN()
