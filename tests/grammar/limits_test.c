/* What a hostile or broken file costs. */
#include "grammar/grammar_int.h"
#include "tests/grammar/world.h"
#include <pthread.h>

#define X "CREATE SENTINEL t USING http://x.org MONITOR "

static const char *repeat(struct arena *life, const char *piece, unsigned n)
{
    size_t len = strlen(piece);
    char *text = arena_alloc(life, len * n + 1);
    for (unsigned i = 0; i < n; i++)
        memcpy(text + i * len, piece, len);
    text[len * n] = 0;
    return text;
}

static const char *nested(
        struct arena *life, unsigned depth, const char *open, const char *close)
{
    return arena_printf(
            life, X "%slinks%s", repeat(life, open, depth), repeat(life, close, depth));
}

TEST(depth, "expressions may nest 199 deep, and are refused beyond, not crashed on")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    EXPECT_CODES(nested(life, PARSE_MAX_DEPTH - 1, "(", ")"), "");
    EXPECT_CODES(nested(life, PARSE_MAX_DEPTH - 1, "NOT ", ""), "");
    EXPECT_CODES(nested(life, PARSE_MAX_DEPTH, "(", ")"), "1:246 E003");
    EXPECT_CODES(nested(life, PARSE_MAX_DEPTH, "NOT ", ""), "1:846 E003");
    EXPECT_CODES(nested(life, 1000000, "(", ")"), "1:246 E003");
    EXPECT_CODES(nested(life, 1000000, "NOT(", ")"), "1:446 E003");
}

TEST(chains, "a chain of operators may be as long as somebody cares to write")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const char *text =
            arena_printf(life, X "links%s", repeat(life, " AND links OR tags", 100000));
    EXPECT_CODES(text, "");
}

TEST(bytes, "what is no text is told with its place, and the rest is read")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct grammar_script *s;
    static const char nul[] = X "links TOPIC 'a\0b'; ENABLE SENTINEL";
    EXPECT(grammar_parse(life, "t", nul, sizeof nul - 1, &s) == ERR_SYNTAX);
    EXPECT_INT(s->n_errors, 2);
    EXPECT_INT(s->diagnostics->pos.column, 60);
    EXPECT_TEXT(s->diagnostics->message, "unexpected character: byte 0x00 cannot be in a text");
    EXPECT(s->diagnostics->next->code == GRAMMAR_E010);

    EXPECT_CODES("-- caf\xe9\n" X "colours", "1:7 E001 2:46 E054");
    EXPECT_CODES(
            X "keywords {'\xed\xa0\x80'}", "1:57 E001 1:58 E001 1:59 E001"); /* a surrogate */
    EXPECT_CODES(X "links \xff", "1:52 E001");
    EXPECT_CODES(repeat(life, "\xff", 100000), "1:1 E001 1:2 E001 1:3 E001 1:4 E001 1:5 E001 "
                                               "1:6 E001 1:7 E001 1:8 E001 1:9 E001 1:10 "
                                               "E001 1:11 E001 1:12 E001 1:13 E001 1:14 E001 "
                                               "1:15 E001 1:16 E001 1:17 E001 1:18 E001 "
                                               "1:19 E001 1:20 E001");
}

TEST(errors, "a file that is all errors tells a thousand of them, and counts the rest")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct grammar_script *s = run(life, repeat(life, "MAKE x;\n", 5000));
    size_t told = 0;
    for (const struct grammar_diagnostic *d = s->diagnostics; d; d = d->next)
        told++;
    EXPECT_INT(told, 1000);
    EXPECT_INT(s->n_errors, 5000);
}

TEST(long_lines, "of a very long line only the part that matters is kept")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct grammar_script *s = run(life, repeat(life, "MAKE é;", 100000));
    for (const struct grammar_diagnostic *d = s->diagnostics; d; d = d->next) {
        EXPECT(strlen(d->source_line) <= 400);
        EXPECT(utf8_is_valid(d->source_line, strlen(d->source_line)));
        EXPECT(strncmp(d->source_line + d->caret, "", 0) == 0 && d->caret <= 160);
    }
    EXPECT(arena_bytes(life) < (size_t)20 << 20);
}

TEST(memory, "memory is in proportion to the input")
{
    size_t bytes[2];
    for (int i = 0; i < 2; i++) {
        SCRATCH struct arena *life = arena_new(NULL, "test");
        const char *text = repeat(
                life, "ALTER SENTINEL s1 FETCH every 6 hours TO never;\n", i ? 40000 : 10000);
        bytes[i] = arena_bytes(life);
        EXPECT_INT(run(life, text)->n_errors, 0);
        bytes[i] = arena_bytes(life) - bytes[i];
    }
    EXPECT(bytes[1] < 5 * bytes[0]);
}

TEST(chain_of_sentinels, "a chain as long as the file is followed without a stack")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    BUF(text, 64 << 20);
    (void)buf_puts(&text, "CREATE SENTINEL c0 USING http://x.org MONITOR links;\n");
    for (int i = 1; i < 50000; i++)
        (void)buf_printf(&text,
                "CREATE SENTINEL c%d USING http://x.org MONITOR links FROM end(c%d);\n", i,
                i - 1);
    (void)buf_puts(&text,
            "CREATE OR REPLACE SENTINEL c0 USING http://x.org MONITOR links FROM end(c49999)");
    EXPECT_TEXT(codes(life, buf_text(&text)), "50001:69 E048");
}

TEST(broken_off, "a file that breaks off anywhere is an error, never worse")
{
    static const char whole[] =
            "CREATE SENTINEL t USING http://a.org AS a, “http://b.org” AS b MONITOR (a.phrase "
            "'a b c d e' "
            "box 4 OR b.keywords all {x, 'y z'}) AND NOT a.table containing 'x' in css 'p' "
            "changed >= "
            "5.5% FETCH every PT1H30M FROM March 3, 2027 10:00 Europe/Berlin TO end(s1) + 1 w "
            "NOTIFY "
            "BY email (a@b.org), webhook http://c.org, phone '123' EVERY 2 days COMPARE "
            "moving:3 WITH "
            "(header 'A: b', timeout = 3 s); SUBSCRIPTION s MONITORING SELECT <A b=URL/> FROM "
            "self//c V WHERE URL extends 'x' AND new V CONTINUOUS q select 'x' WHEN daily "
            "REPORT WHEN "
            "count(A) >= 3 OR each May1st ATMOST weekly;";
    for (size_t n = 0; n < sizeof whole; n++) {
        SCRATCH struct arena *life = arena_new(NULL, "test");
        struct grammar_script *s;
        char *part = arena_memdup(life, whole, n + 1);
        struct grammar_world w = world_make();
        enum err e = grammar_parse(life, "t", part, n, &s);
        EXPECT((e == OK) == (s->n_errors == 0));
        EXPECT((grammar_check(s, &w) == OK) == (s->n_errors == 0));
    }
}

TEST(open_quotes, "a file full of open quotes is read in one go")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    EXPECT(run(life, repeat(life, "CREATE SENTINEL t TOPIC “x\n", 300000))->n_errors > 0);
    EXPECT(run(life, repeat(life, "SHOW SENTINEL 'x\n", 300000))->n_errors > 0);
    EXPECT(run(life, repeat(life, "SHOW 'x\"\n", 300000))->n_errors > 0);
}

TEST(comments, "a statement full of comments is formatted in one go")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const char *text =
            arena_printf(life, "CREATE SENTINEL t%s\nUSING http://x.org MONITOR links",
                    repeat(life, "\n-- comment", 100000));
    BUF(out, 64 << 20);
    struct grammar_script *s;
    EXPECT(grammar_fmt(life, "t", text, strlen(text), &out, &s) == OK);
    EXPECT(out.len > 100000 * strlen("-- comment\n"));
}

TEST(many_dependants, "what many depend on is not dropped, and the message stays short")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    BUF(text, 64 << 20);
    for (int i = 0; i < 50000; i++)
        (void)buf_printf(
                &text, "CREATE SENTINEL c%d USING http://x.org MONITOR links FROM end(s1);", i);
    (void)buf_puts(&text, "DROP SENTINEL s1");
    struct grammar_script *s = run(life, buf_text(&text));
    REQUIRE(s->n_errors == 1);
    EXPECT_TEXT(s->diagnostics->message, "50000 sentinels depend on \"s1\": c49999, c49998, "
                                         "c49997, c49996, c49995 and 49995 more");
}

static void *parse_often(void *arg)
{
    const char **result = arg;
    *result = "right";
    for (int i = 0; i < 300; i++) {
        SCRATCH struct arena *life = arena_new(NULL, "thread");
        const char *text, *expected = marked_codes(life,
                                  "CREATE SENTINEL t USING s1 MONITOR regexp 'a+' FROM "
                                  "03/03/2027 10:00 Europe/Berlin; "
                                  "CREATE SENTINEL u USING t MONITOR ¤colours",
                                  "E054", &text);
        if (strcmp(codes(life, text), expected) != 0)
            *result = "wrong";
    }
    return NULL;
}

TEST(threads, "two definitions may be compiled at once")
{
    pthread_t threads[4];
    const char *results[4] = {0};
    for (int i = 0; i < 4; i++)
        EXPECT(pthread_create(&threads[i], NULL, parse_often, &results[i]) == 0);
    for (int i = 0; i < 4; i++) {
        EXPECT(pthread_join(threads[i], NULL) == 0);
        EXPECT_TEXT(results[i], "right");
    }
}

TEST_MAIN()
