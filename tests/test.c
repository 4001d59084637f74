#include "tests/test.h"
#include <stdarg.h>

struct test_case *test_first, **test_last = &test_first;
int test_failures;

void test_fail(const char *file, int line, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    printf("# %s:%d: ", file, line);
    vprintf(fmt, ap);
    printf("\n");
    va_end(ap);
    test_failures++;
}

int test_run_all(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : NULL;
    int number = 0, bad = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    for (struct test_case *t = test_first; t; t = t->next) {
        if (only && !strstr(t->name, only) && !strstr(t->sentence, only))
            continue;
        test_failures = 0;
        t->run();
        if (test_failures)
            bad++;
        printf("%sok %d - %s\n", test_failures ? "not " : "", ++number, t->sentence);
    }
    printf("1..%d\n", number);
    return bad ? 1 : 0;
}
