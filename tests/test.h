/* test -- tests that register themselves and print TAP.
 *
 *     TEST(asleep, "a chain we slept through keeps the times it was due")
 *     {
 *         EXPECT(led_advance(led, DAY) == MSEC_NEVER);
 *     }
 *     TEST_MAIN()
 *
 * A test is named by a sentence a user would agree with.  An EXPECT that fails is noted
 * with file and line and the test goes on; a REQUIRE ends it there.  Any argument on the
 * command line runs only the tests whose name or sentence contains it.
 */
#pragma once
#include "base/check.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_case {
    const char *name, *sentence;
    void (*run)(void);
    struct test_case *next;
};

extern struct test_case *test_first, **test_last;
extern int test_failures;

void test_fail(const char *file, int line, const char *fmt, ...) PRINTF_LIKE(3, 4);
int test_run_all(int argc, char **argv);

#define TEST(ident, text)                                                                      \
    static void test_##ident(void);                                                            \
    static struct test_case test_case_##ident = {#ident, text, test_##ident, NULL};            \
    __attribute__((constructor)) static void test_register_##ident(void)                       \
    {                                                                                          \
        *test_last = &test_case_##ident;                                                       \
        test_last = &test_case_##ident.next;                                                   \
    }                                                                                          \
    static void test_##ident(void)

#define EXPECT(expr)                                                                           \
    do {                                                                                       \
        if (!(expr))                                                                           \
            test_fail(__FILE__, __LINE__, "%s", #expr);                                        \
    } while (0)

#define REQUIRE(expr)                                                                          \
    do {                                                                                       \
        if (!(expr)) {                                                                         \
            test_fail(__FILE__, __LINE__, "%s", #expr);                                        \
            return;                                                                            \
        }                                                                                      \
    } while (0)

#define EXPECT_INT(actual, expected)                                                           \
    do {                                                                                       \
        intmax_t test_a = (intmax_t)(actual), test_e = (intmax_t)(expected);                   \
        if (test_a != test_e)                                                                  \
            test_fail(__FILE__, __LINE__, "%s is %jd, expected %jd", #actual, test_a, test_e); \
    } while (0)

#define EXPECT_TEXT(actual, expected)                                                          \
    do {                                                                                       \
        const char *test_a = (actual), *test_e = (expected);                                   \
        if (!test_a || !test_e || strcmp(test_a, test_e) != 0)                                 \
            test_fail(__FILE__, __LINE__, "%s is\n#   %s\n# expected\n#   %s", #actual,        \
                    test_a ? test_a : "(null)", test_e ? test_e : "(null)");                   \
    } while (0)

#define TEST_MAIN()                                                                            \
    int main(int argc, char **argv)                                                            \
    {                                                                                          \
        return test_run_all(argc, argv);                                                       \
    }
