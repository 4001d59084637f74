/* Traces that are wrong: what is said about them, and where. */
#include "tests/led/trace.h"
#include "tests/test.h"
#include <string.h>

/* What the detector refuses is an outcome of the trace; what nobody could run is a fault. */
static void expect_fault(const char *text, const char *message)
{
    struct fault f = {0};
    json_t *traces = NULL;
    struct trace_options opt = {0};
    struct trace_result r = {0};
    if (trace_parse(text, strlen(text), &f, &traces) == OK) {
        if (trace_run(json_array_get(traces, 0), &opt, &f, &r) == OK) {
            test_fail(__FILE__, __LINE__, "accepted: %s", text);
            json_decref(r.output);
        }
        json_decref(traces);
    }
    EXPECT_TEXT(f.message, message);
}

static void expect_hint(const char *text, const char *hint)
{
    struct fault f = {0};
    json_t *traces = NULL;
    struct trace_options opt = {0};
    struct trace_result r;
    REQUIRE(trace_parse(text, strlen(text), &f, &traces) == OK);
    EXPECT(trace_run(json_array_get(traces, 0), &opt, &f, &r) != OK);
    EXPECT_TEXT(f.hint, hint);
    json_decref(traces);
}

TEST(place, "a wrong trace is told with its place")
{
    expect_fault(
            "{}", "a trace is an object with \"expr\" or a list of \"rules\", and \"history\"");
    expect_fault("[7]",
            "a trace is an object with \"expr\" or a list of \"rules\", and \"history\"");
    expect_fault("{\"expr\": \"A\", \"context\": \"newest\"}", "unknown context \"newest\"");
    expect_fault(
            "{\"expr\": \"A\", \"history\": 5}", "history: not a list of [time, what happens]");
    expect_fault("{\"expr\": \"A\", \"history\": [[1, \"A\"], [\"x\", \"A\"]]}",
            "history[1]: the time is not an integer");
    expect_fault("{\"expr\": \"A\", \"history\": [[1, \"A\"], [0, \"A\"]]}",
            "history[1]: time goes back from 1 to 0");
    expect_fault("{\"expr\": \"A\", \"history\": [[1, \"A\", 3]]}",
            "history[0]: not [time, what happens]");
    expect_fault("{\"expr\": \"A\", \"history\": [[1, {\"op\": \"dance\"}]]}",
            "history[0]: unknown operation \"dance\"");
    expect_fault("{\"expr\": \"A\", \"history\": [[1, {\"op\": \"down\"}]]}",
            "history[0]: down and stall want an integer, \"until\"");
    expect_fault("{\"expr\": \"A\", \"history\": [[9, {\"op\": \"down\", \"until\": 3}]]}",
            "history[0]: a gap that ends at 3 has not begun");
    expect_fault(
            "{\"expr\": \"A\", \"history\": [], \"until\": \"noon\"}", "until: not an integer");
}

TEST(expression, "a wrong expression is told with what it wants")
{
    expect_fault("{\"expr\": [\"SEQ\", \"A\"]}", "expression: SEQ has 1 arguments and wants 2");
    expect_fault("{\"expr\": [\"XOR\", \"A\", \"B\"]}", "expression: unknown operator \"XOR\"");
    expect_fault(
            "{\"expr\": 7}", "expression: expression is neither a name nor [operator, ...]");
    expect_fault("{\"expr\": [\"PLUS\", \"A\", \"B\"]}",
            "expression: time of PLUS is not an integer in range");
    expect_fault(
            "{\"expr\": [\"ANY\", 2]}", "expression: ANY wants a number and 1 to 32 events");
}

TEST(rule, "a wrong rule is told with its number")
{
    expect_fault("{\"rules\": [{\"name\": \"a\", \"event\": \"E\"}, {\"event\": \"E\"}]}",
            "rules[1]: a rule wants a name and an event");
    expect_fault("{\"rules\": [{\"name\": \"a\", \"event\": \"E\", \"coupling\": \"loose\"}]}",
            "rules[0]: unknown coupling \"loose\"");
    expect_fault("{\"rules\": [{\"name\": \"a\", \"event\": \"E\", \"mode\": \"LATER\"}]}",
            "rules[0]: mode \"LATER\" is neither NOW nor PREVIOUS");
    expect_fault("{\"rules\": [{\"name\": \"a\", \"event\": \"E\", \"condition\": 0}]}",
            "rules[0]: condition is neither true nor false");
    expect_fault("{\"rules\": [{\"name\": \"a\", \"event\": \"E\", \"do\": [[\"sing\"]]}],"
                 " \"history\": [[1, \"E\"]]}",
            "rules[0]: unknown operation \"sing\"");
}

TEST(argument, "an operation without its argument is told with what it wants")
{
    expect_fault("{\"expr\": \"A\", \"history\": [[1, {\"op\": \"raise\"}]]}",
            "history[0]: raise wants an \"event\", the name of a primitive one");
    expect_fault("{\"expr\": \"A\", \"history\": [[1, {\"op\": \"delete_rule\"}]]}",
            "history[0]: delete_rule wants a \"rule\", its name");
    expect_fault("{\"expr\": \"A\", \"history\": [[1, {\"op\": \"start\", \"s\": 7}]]}",
            "history[0]: start wants \"s\", the name of who starts");
    expect_fault("{\"rules\": [{\"name\": \"a\", \"event\": \"E\", \"do\": [[\"raise\"]]}]}",
            "rules[0]: raise wants an \"event\", the name of a primitive one");
    expect_fault("{\"expr\": [\"ANY\", -1, \"A\", \"B\"]}",
            "expression: ANY wants a number and 1 to 32 events");
}

TEST(remedy, "what is wrong is told with what to write")
{
    expect_hint("{\"expr\": [\"XOR\", \"A\", \"B\"]}",
            "Operators are OR, AND, SEQ, NOT, ANY, A, A*, P, P*, PLUS and ABS.");
    expect_hint(
            "{\"expr\": [\"P\", \"A\", \"B\", 10]}", "Write [\"P\", \"from\", 10, \"to\"].");
    expect_hint("{\"expr\": \"A\", \"context\": \"newest\"}",
            "Contexts are unrestricted, recent, chronicle, continuous and cumulative.");
    expect_hint(
            "{\"expr\": \"A\", \"history\": [5]}", "Write [1, \"A\"] or [1, {\"op\": ...}].");
}

TEST(expectation, "an expectation that says nothing is told")
{
    expect_fault("{\"expr\": \"A\", \"expect\": {\"detectd\": []}}",
            "expect: speaks of neither \"detected\" nor \"log\" nor \"error\"");
    expect_fault("{\"expr\": \"A\", \"expect\": {\"detected\": 5}}",
            "expect: \"detected\" is not a list");
    expect_fault(
            "{\"expr\": \"A\", \"expect\": {\"detected\": [{\"t\": \"x\", \"parts\": []}]}}",
            "expect: \"detected\"[0] is not a detection");
    expect_fault("{\"expr\": \"A\", \"expect\": {\"log\": 5}}",
            "expect: \"log\" is not a list of texts");
}

TEST(json, "what is not JSON is told with line and column")
{
    static const char text[] = "{\"expr\": \"A\",\n \"history\": [[1, A]]}";
    struct fault f = {0};
    json_t *traces;
    EXPECT(trace_parse(text, sizeof text - 1, &f, &traces) == ERR_SYNTAX);
    EXPECT_INT(f.line, 2);
}

TEST_MAIN()
