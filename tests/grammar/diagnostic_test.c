/* How a mistake is shown to people and to programs. */
#include "tests/grammar/world.h"

static const char *shown(struct arena *life, const char *text)
{
    BUF(out, 1 << 16);
    for (const struct grammar_diagnostic *d = run(life, text)->diagnostics; d; d = d->next)
        grammar_diagnostic_print(&out, d);
    return arena_strdup(life, buf_text(&out));
}

TEST(text, "a mistake is shown with file, place, code, line, caret and advice")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    EXPECT_TEXT(shown(life, "CREATE SENTINEL t\n  USING http://x.org\n  MONITOR linsk"),
            "test.vigil:3:11: error: E054: unknown change type \"linsk\"\n"
            "      MONITOR linsk\n"
            "              ^\n"
            "    Did you mean LINKS?\n");
    EXPECT_TEXT(
            shown(life, "CREATE SENTINEL t USING http://x.org MONITOR links FROM 13/02/2027"),
            "test.vigil:1:57: error: E031: no such date (month/day/year is expected)\n"
            "    CREATE SENTINEL t USING http://x.org MONITOR links FROM 13/02/2027\n"
            "                                                            ^\n"
            "    Did you mean 02/13/2027?\n");
}

TEST(caret, "the caret stands under its place, behind tabs and wide characters too")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    EXPECT_TEXT(shown(life, "SHOW SENTINEL s1;\n\tSHOW\tSENTINEL x9\r\n"),
            "test.vigil:2:16: error: E040: unknown sentinel \"x9\"\n"
            "    \tSHOW\tSENTINEL x9\n"
            "    \t    \t         ^\n");
    EXPECT_TEXT(shown(life, "ALTER SENTINEL s1 TOPIC '日本é' PRIORITY 0"),
            "test.vigil:1:40: error: E028: a priority lies between 1 and 1000000\n"
            "    ALTER SENTINEL s1 TOPIC '日本é' PRIORITY 0\n"
            "                                             ^\n");
}

TEST(end, "a mistake at the end of the file points behind it")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    EXPECT_TEXT(shown(life, "ENABLE SENTINEL"),
            "test.vigil:1:16: error: E010: expected the name of a sentinel, found the end\n"
            "    ENABLE SENTINEL\n"
            "                   ^\n");
}

TEST(control, "control characters of a definition do not reach the terminal")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    EXPECT(!strchr(shown(life, "ENABLE \033[31mSENTINEL"), '\033'));
}

TEST(warning, "a warning is no error")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct grammar_script *s =
            run(life, "SUBSCRIPTION s VIRTUAL Team.Person REPORT WHEN daily");
    EXPECT(s->n_errors == 0 && s->n_warnings == 1 && !s->statements->has_errors);
    EXPECT(strncmp(shown(life, "SUBSCRIPTION s VIRTUAL Team.Person REPORT WHEN daily"),
                   "test.vigil:1:16: warning: W002: ", 32) == 0);
}

TEST(json, "programs get the same as an object")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct grammar_script *s = run(life, "SHOW SENTINEL s2");
    BUF(out, 10000);
    struct json j;
    json_init(&j, &out);
    grammar_diagnostic_json(&j, s->diagnostics);
    EXPECT_TEXT(buf_text(&out),
            "{\"code\":\"E040\",\"severity\":\"error\",\"file\":\"test.vigil\",\"line\":1,"
            "\"column\":15,"
            "\"message\":\"unknown sentinel \\\"s2\\\"\",\"hint\":\"Did you mean \\\"s1\\\"?\","
            "\"source\":\"SHOW SENTINEL s2\"}");
}

TEST(complaints, "who finds fault later tells it in the same way")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct grammar_script *s = run(life, "SHOW SENTINEL s1;\nENABLE SENTINEL act");
    struct fault f = {.message = "cannot be enabled today", .hint = "Try tomorrow."};
    BUF(out, 1000);
    grammar_diagnostic_print(
            &out, grammar_complain(s, GRAMMAR_E090, s->statements->next->name_pos, &f));
    EXPECT_TEXT(buf_text(&out), "test.vigil:2:17: error: E090: cannot be enabled today\n"
                                "    ENABLE SENTINEL act\n"
                                "                    ^\n"
                                "    Try tomorrow.\n");
    EXPECT_INT(s->n_errors, 1);
}

TEST(messages, "messages say what is wrong in the words of the manual")
{
    static const struct {
        const char *text, *message;
    } cases[] = {
            {"CREATE SENTINEL b Monitor links", "expected USING or AS, found \"Monitor\""},
            {"CREATE SENTINEL b USING http://x.org", "clause MONITOR is missing in \"b\""},
            {"CREATE SENTINEL s1 USING http://x.org MONITOR links",
                    "sentinel \"s1\" exists already"},
            {"CREATE SENTINEL now USING s1", "\"now\" is reserved and cannot be a name"},
            {"ALTER SENTINEL s1 FETCH every 10 seconds",
                    "shorter than the minimum of 60 s (fetch.min_interval)"},
            {"ALTER SENTINEL s1 FETCH every 1 month",
                    "month has no fixed length; use days or weeks"},
            {"ALTER SENTINEL s1 MONITOR regexp 'Rev ([0-9.]+'",
                    "regular expression: missing closing parenthesis (offset 12)"},
            {"ALTER SENTINEL s1 MONITOR links AND", "expected a change type, found the end"},
            {"ALTER SENTINEL s1 TO end(s1)",
                    "dependency cycle through \"s1\": it names itself"},
            {"ALTER SENTINEL s1 COMPARE both",
                    "expected PAIRWISE, MOVING:n or EVERY:n, found \"both\""},
            {"DROP SENTINEL base9", "1 sentinel depends on \"base9\": rel"},
            {"ALTER SENTINEL s1 FROM 06/02/03", "FROM is in the past: 2003-06-02T00:00:00Z"},
    };
    for (size_t i = 0; i < countof(cases); i++) {
        SCRATCH struct arena *life = arena_new(NULL, "test");
        struct grammar_script *s = run(life, cases[i].text);
        REQUIRE(s->diagnostics);
        EXPECT_TEXT(s->diagnostics->message, cases[i].message);
    }
}

TEST_MAIN()
