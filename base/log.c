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

/* Characters that could draw or forge a line are written by their bytes: \x1b.  Returns how
 * much of the line is used. */
static size_t put_harmless(char *line, size_t size, size_t used, const char *message)
{
    enum { LONGEST = 4 * 4 }; /* a character of four bytes, each written as four */
    size_t bytes = strlen(message);
    for (size_t i = 0, n; i < bytes && used + LONGEST < size; i += n) {
        uint32_t c = 0;
        bool whole = (n = utf8_length(message + i, bytes - i)) > 0;
        n = whole ? utf8_decode(message + i, bytes - i, &c) : 1;
        bool harmless = whole && utf8_is_harmless(c);
        for (size_t k = 0; k < n; k++)
            if (harmless)
                line[used++] = message[i + k];
            else
                used += (size_t)snprintf(
                        line + used, size - used, "\\x%02x", (unsigned char)message[i + k]);
    }
    return used;
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
    size_t len = put_harmless(line, sizeof line - 1, (size_t)n, message);
    line[len++] = '\n';
    /* One write(2) a line, so that threads do not interleave and no lock is needed; a full
     * or closed stderr is nothing we could report anywhere. */
    ssize_t written = write(STDERR_FILENO, line, len);
    (void)written;
}
