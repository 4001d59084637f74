#include "base/log.h"
#include "base/str.h"
#include "base/time.h"
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static enum log_level threshold = LOG_INFO; /* set once at start, before any thread */

static const char *const level_names[LOG_LEVEL_COUNT] = {"error", "warning", "info", "debug"};

void log_set_level(enum log_level level)
{
    threshold = level;
}

bool log_level_parse(const char *text, enum log_level *ret_level)
{
    for (int i = 0; i < LOG_LEVEL_COUNT; i++) {
        if (str_equal_nocase(str_of(text), str_of(level_names[i]))) {
            *ret_level = (enum log_level)i;
            return true;
        }
    }
    return false;
}

void log_write(enum log_level level, const char *fmt, ...)
{
    if (level > threshold)
        return;
    char message[1500], line[4096], at[TIME_TEXT_SIZE];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);

    int n = snprintf(line, sizeof line, "%s %s: ", time_iso(clock_wall(&clock_system), at),
            level_names[level]);
    size_t len = (size_t)n;
    for (const char *p = message; *p && len < sizeof line - 8; p++) {
        unsigned char c = (unsigned char)*p;
        if (c < 0x20 || c == 0x7F)
            len += (size_t)snprintf(line + len, sizeof line - len, "\\x%02x", c);
        else
            line[len++] = *p;
    }
    line[len++] = '\n';
    /* One write(2) a line, so that threads do not interleave and no lock is needed; a full
     * or closed stderr is nothing we could report anywhere. */
    ssize_t written = write(STDERR_FILENO, line, len);
    (void)written;
}
