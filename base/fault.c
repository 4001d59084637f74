#include "base/fault.h"
#include "base/str.h"
#include <stdarg.h>
#include <stdio.h>

enum err fault_set(struct fault *f, enum err code, const char *fmt, ...)
{
    if (!f)
        return code;
    va_list ap;
    va_start(ap, fmt);
    char whole[sizeof f->message * 2];
    vsnprintf(whole, sizeof whole, fmt, ap);
    va_end(ap);
    *f = (struct fault){.code = code};
    str_copy(f->message, sizeof f->message, whole);
    return code;
}

void fault_hint(struct fault *f, const char *fmt, ...)
{
    if (!f)
        return;
    va_list ap;
    va_start(ap, fmt);
    char whole[sizeof f->hint * 2];
    vsnprintf(whole, sizeof whole, fmt, ap);
    va_end(ap);
    str_copy(f->hint, sizeof f->hint, whole);
}

void fault_prefix(struct fault *f, const char *fmt, ...)
{
    if (!f)
        return;
    va_list ap;
    va_start(ap, fmt);
    char whole[sizeof f->message * 2];
    int n = vsnprintf(whole, sizeof f->message, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n >= sizeof f->message)
        return;
    snprintf(whole + n, sizeof whole - (size_t)n, "%s", f->message);
    str_copy(f->message, sizeof f->message, whole);
}

const char *err_name(enum err code)
{
    static const char *const names[ERR_COUNT] = {
            [OK] = "ok",
            [ERR_SYNTAX] = "syntax",
            [ERR_NAME] = "name",
            [ERR_RANGE] = "range",
            [ERR_LIMIT] = "limit",
            [ERR_NET] = "net",
            [ERR_STORE] = "store",
            [ERR_IO] = "io",
            [ERR_BUSY] = "busy",
            [ERR_UNSUPPORTED] = "unsupported",
    };
    CHECK(code < ERR_COUNT);
    return names[code];
}
