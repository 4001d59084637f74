#include "base/check.h"
#include <stdio.h>
#include <stdlib.h>

void check_failed(const char *file, int line, const char *expr)
{
    fprintf(stderr,
            "vigil: %s:%d: CHECK(%s) failed; stopping, the store brings everything back\n",
            file, line, expr);
    abort();
}

void *check_tag(void *object, uint32_t expected, const char *file, int line)
{
    if (!object || *(uint32_t *)object != expected)
        check_failed(file, line, "object has the expected tag");
    return object;
}
