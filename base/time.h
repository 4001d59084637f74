/* time -- instants and spans are integer milliseconds, and clocks are given, not read.
 *
 * A wall instant counts from 1970-01-01 UTC, a monotonic one from wherever its clock
 * began.  Only `clock_system` looks at the machine; tests hand out a clock of their own,
 * which is how a month passes in a test as fast as we can count.
 */
#pragma once
#include "base/check.h"

typedef int64_t msec;

#define MSEC_NEVER INT64_MAX
#define MSEC_PER_SECOND ((msec)1000)
#define MSEC_PER_MINUTE (60 * MSEC_PER_SECOND)
#define MSEC_PER_HOUR (60 * MSEC_PER_MINUTE)
#define MSEC_PER_DAY (24 * MSEC_PER_HOUR)

struct clock {
    msec (*wall)(const struct clock *self);
    msec (*mono)(const struct clock *self);
};

extern const struct clock clock_system;

static inline msec clock_wall(const struct clock *c)
{
    return c->wall(c);
}

static inline msec clock_mono(const struct clock *c)
{
    return c->mono(c);
}

/* How long this thread has run, not waited: what a computation took, on a busy machine too. */
msec clock_thread(void);

/* A clock that stands still until told: for tests and for `--now`. */
struct clock_fixed {
    struct clock clock;
    msec wall, mono;
};
void clock_fixed_init(struct clock_fixed *c, msec wall, msec mono);

enum { TIME_TEXT_SIZE = 40 };

/* "2026-11-16T12:00:00.250Z", milliseconds only where there are any.  Returns `text`. */
const char *time_iso(msec wall, char text[TIME_TEXT_SIZE]);

/* "1 day 2 hours", "1.5 s", the way a person would say it.  Returns `text`. */
const char *time_span(msec span, char text[TIME_TEXT_SIZE]);

/* Reads the form of time_iso, also with a space for the T, a zone offset, or a bare date. */
bool time_parse_iso(const char *text, msec *ret_wall);

/* "90s", "2 min", "1h", "250ms", "3 days"; a bare number is seconds. */
bool time_parse_span(const char *text, msec *ret_span);
