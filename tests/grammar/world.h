/* The world of the language's examples: 2026-11-16 12:00 UTC, five sentinels. */
#pragma once
#include "grammar/grammar.h"
#include "tests/test.h"

#define NOW_TEXT "2026-11-16T12:00:00Z"
#define DAY MSEC_PER_DAY
#define HOUR MSEC_PER_HOUR

msec at(const char *iso);
struct grammar_world world_make(void);

/* Parses and checks in the world above. */
struct grammar_script *run(struct arena *life, const char *text);
/* "" when it is right, else "line:column code" of every error and warning, by spaces. */
const char *codes(struct arena *life, const char *text);
/* Takes each ¤ out of a text and gives back where they stood with the codes of the list, as
 * codes() would. */
const char *marked_codes(
        struct arena *life, const char *marked, const char *list, const char **ret_text);
/* The effective definition of the last statement, NULL when it has errors. */
const struct grammar_definition *effective(struct arena *life, const char *text);
/* One statement in canonical form; the errors when it has some. */
const char *canonical(struct arena *life, const char *text);
/* A whole file. */
char *slurp(struct arena *life, const char *path, size_t *ret_len);

#define EXPECT_CODES(text, expected)                                                           \
    do {                                                                                       \
        SCRATCH struct arena *life_ = arena_new(NULL, "codes");                                \
        const char *got_ = codes(life_, (text));                                               \
        if (strcmp(got_, (expected)) != 0)                                                     \
            test_fail(__FILE__, __LINE__, "%s\n#   gave \"%s\", expected \"%s\"", (text),      \
                    got_, (expected));                                                         \
    } while (0)

/* The same with a ¤ before each place that is to be told. */
#define EXPECT_MARKED(marked, list)                                                            \
    do {                                                                                       \
        SCRATCH struct arena *life_ = arena_new(NULL, "codes");                                \
        const char *text_, *expected_ = marked_codes(life_, (marked), (list), &text_);         \
        const char *got_ = codes(life_, text_);                                                \
        if (strcmp(got_, expected_) != 0)                                                      \
            test_fail(__FILE__, __LINE__, "%s\n#   gave \"%s\", expected \"%s\"", (marked),    \
                    got_, expected_);                                                          \
    } while (0)

#define EXPECT_CANONICAL(text, expected)                                                       \
    do {                                                                                       \
        SCRATCH struct arena *life_ = arena_new(NULL, "canonical");                            \
        EXPECT_TEXT(canonical(life_, (text)), (expected));                                     \
    } while (0)
