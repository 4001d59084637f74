/* The documents are right: every example is read, every word, clause and message is described.
 */
#include "grammar/grammar_int.h"
#include "tests/grammar/world.h"
#include <dirent.h>

#ifndef SOURCE_ROOT
#error "SOURCE_ROOT is the folder of the sources"
#endif

static char *document(struct arena *life, const char *path)
{
    size_t len;
    return slurp(life, arena_printf(life, "%s/%s", SOURCE_ROOT, path), &len);
}

/* The codes that a text gives where nothing exists yet. */
static const char *codes_alone(struct arena *life, const char *text, size_t len)
{
    struct grammar_world w = {.now = at(NOW_TEXT), .min_interval = MSEC_PER_MINUTE};
    struct grammar_script *s;
    enum err parsed = grammar_parse(life, "doc", text, len, &s);
    enum err checked = grammar_check(s, &w);
    EXPECT((parsed == OK && checked == OK) == (s->n_errors == 0));
    const char *list = "";
    for (const struct grammar_diagnostic *d = s->diagnostics; d; d = d->next)
        list = arena_printf(life, "%s%s%s", list, *list ? " " : "", grammar_code_name(d->code));
    return list;
}

TEST(blocks, "every example of the manual is accepted, and every wrong one refused as it says")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const char *p = document(life, "docs/language.md");
    unsigned n = 0;
    while ((p = strstr(p, "```vigil"))) {
        const char *info = p + strlen("```vigil"), *body = strchr(info, '\n') + 1;
        const char *end = strstr(body, "```");
        REQUIRE(end);
        size_t skip = strspn(info, " ");
        const char *expected =
                arena_strndup(life, info + skip, (size_t)(body - 1 - info) - skip);
        const char *got = codes_alone(life, body, (size_t)(end - body));
        if (strcmp(got, expected) != 0)
            test_fail(__FILE__, __LINE__, "%.*s\n#   gave \"%s\", expected \"%s\"",
                    (int)(end - body), body, got, expected);
        p = end + 3;
        n++;
    }
    EXPECT(n >= 15);
}

TEST(manual_page, "the example of the manual page is accepted")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const char *page = document(life, "docs/vigil-sentinel.5");
    const char *body = strstr(page, ".Bd -literal");
    REQUIRE(body);
    body = strchr(body, '\n') + 1;
    const char *end = strstr(body, ".Ed");
    REQUIRE(end);
    EXPECT_TEXT(codes_alone(life, body, (size_t)(end - body)), "");
}

TEST(examples, "the ten examples are right, before and after formatting")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const char *folder = arena_printf(life, "%s/examples", SOURCE_ROOT);
    const char *readme = document(life, "examples/README.md");
    DIR *dir = opendir(folder);
    unsigned n = 0;
    REQUIRE(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        const char *dot = strrchr(e->d_name, '.');
        if (!dot || strcmp(dot, ".vigil") != 0)
            continue;
        n++;
        size_t len;
        char *text = slurp(life, arena_printf(life, "%s/%s", folder, e->d_name), &len);
        const char *got = codes_alone(life, text, len);
        if (*got)
            test_fail(__FILE__, __LINE__, "%s gave %s", e->d_name, got);
        EXPECT(strstr(readme, e->d_name));
        BUF(once, 1 << 20);
        BUF(twice, 1 << 20);
        struct grammar_script *s;
        EXPECT(grammar_fmt(life, e->d_name, text, len, &once, &s) == OK);
        EXPECT(grammar_fmt(life, e->d_name, buf_text(&once), once.len, &twice, &s) == OK);
        EXPECT_TEXT(buf_text(&twice), buf_text(&once));
        EXPECT_TEXT(codes_alone(life, buf_text(&once), once.len), "");
    }
    (void)closedir(dir);
    EXPECT_INT(n, 10);
}

/* Is it there, regardless of case, and not inside a longer word? */
static bool mentions(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = text; (p = strcasestr(p, word)); p++) {
        bool begins =
                p == text || !strchr("abcdefghijklmnopqrstuvwxyz0123456789_", p[-1] | 0x20);
        bool ends = !p[n] || !strchr("abcdefghijklmnopqrstuvwxyz0123456789_", p[n] | 0x20);
        if (begins && ends)
            return true;
    }
    return false;
}

TEST(codes, "every message has its line in the manual")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const char *manual = document(life, "docs/language.md");
    for (int c = 0; c < GRAMMAR_CODE_COUNT; c++)
        if (!strstr(manual, arena_printf(life, "\n| %s | ", grammar_code_name(c))))
            test_fail(__FILE__, __LINE__, "%s is not described", grammar_code_name(c));
}

TEST(words, "every word is found by its text, described, and coloured")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const char *manual = document(life, "docs/language.md");
    const char *vim = document(life, "docs/vim/syntax/vigil.vim");
    const char *dictionary = document(life, "tests/grammar/grammar.dict");
    const char *reserved = strstr(manual, "These cannot be names");
    REQUIRE(reserved);
    for (int w = 1; w < N_WORDS; w++) {
        const char *text = word_text(w);
        EXPECT_INT(word_find(str_of(text)), w);
        if (!mentions(manual, text))
            test_fail(__FILE__, __LINE__, "%s is not in the manual", text);
        if (!mentions(vim, text))
            test_fail(__FILE__, __LINE__, "%s is not in the syntax file", text);
        EXPECT(strstr(dictionary, arena_printf(life, "\"%s\"", text)));
        EXPECT(mentions(reserved, text) == !!(word_flags(w) & RESERVED));
    }
}

TEST(tables, "every clause, default, change type, method and option is in the manual")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const char *manual = document(life, "docs/language.md");
#define CLAUSE_ROW(id, word, text) EXPECT(strstr(manual, "| `" #word "` | " text " |"));
#include "grammar/clauses.def"
#undef CLAUSE_ROW
#define TYPE(id, name, help)                                                                   \
    EXPECT(strstr(manual, "| `" name));                                                        \
    EXPECT_TEXT(grammar_type_name(GRAMMAR_##id), name);
#include "grammar/types.def"
#undef TYPE
#define METHOD(id, name, takes)                                                                \
    EXPECT(strstr(manual, "`" name));                                                          \
    EXPECT_TEXT(grammar_method_name(GRAMMAR_##id), name);
#include "grammar/methods.def"
#undef METHOD
#define OPTION(id, name, value) EXPECT(strstr(manual, "| `" name));
#include "grammar/options.def"
#undef OPTION
}

TEST_MAIN()
