/* parse(print(tree)) = tree, for random trees. */
#include "tests/grammar/equal.h"
#include "tests/grammar/random.h"
#include "tests/test.h"

enum { ROUNDS = 100000 };

TEST(trees, "whatever tree is printed is the tree that is read")
{
    struct random r = {.state = 20261116};
    BUF(text, 1 << 20);
    for (int i = 0; i < ROUNDS && test_failures < 5; i++) {
        SCRATCH struct arena *life = arena_new(NULL, "round");
        r.life = life;
        const struct grammar_statement *st = random_statement(&r);
        buf_clear(&text);
        grammar_print(&text, st);
        struct grammar_script *s;
        enum err e = grammar_parse(life, "round", buf_text(&text), text.len, &s);
        if (e == OK && s->n_statements == 1 && same_statement(st, s->statements))
            continue;
        BUF(why, 1 << 16);
        if (s->diagnostics)
            grammar_diagnostic_print(&why, s->diagnostics);
        test_fail(__FILE__, __LINE__, "round %d: %s\n%s", i, buf_text(&text), buf_text(&why));
    }
}

TEST(formatted, "formatting keeps the meaning, and formatting again changes nothing")
{
    struct random r = {.state = 42};
    BUF(text, 1 << 20);
    BUF(once, 1 << 20);
    BUF(twice, 1 << 20);
    for (int i = 0; i < ROUNDS / 20 && test_failures < 5; i++) {
        SCRATCH struct arena *life = arena_new(NULL, "round");
        r.life = life;
        buf_clear(&text), buf_clear(&once), buf_clear(&twice);
        const struct grammar_statement *first = random_statement(&r),
                                       *second = random_statement(&r);
        (void)buf_puts(&text, "-- head\n\n");
        grammar_print(&text, first);
        (void)buf_puts(&text, "; % behind\n");
        grammar_print(&text, second);
        struct grammar_script *s;
        EXPECT(grammar_fmt(life, "fmt", buf_text(&text), text.len, &once, &s) == OK);
        EXPECT(grammar_fmt(life, "fmt", buf_text(&once), once.len, &twice, &s) == OK);
        EXPECT_TEXT(buf_text(&twice), buf_text(&once));
        EXPECT(strstr(buf_text(&once), "-- head") && strstr(buf_text(&once), "% behind"));
        EXPECT(s->statements && same_statement(first, s->statements));
        EXPECT(s->statements && s->statements->next &&
                same_statement(second, s->statements->next));
    }
}

TEST_MAIN()
