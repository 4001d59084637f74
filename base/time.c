#include "base/time.h"
#include "base/str.h"
#include <stdio.h>
#include <time.h>

static msec read_clock(clockid_t id)
{
    struct timespec ts;
    CHECK(clock_gettime(id, &ts) == 0);
    return (msec)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static msec system_wall(const struct clock *self)
{
    (void)self;
    return read_clock(CLOCK_REALTIME);
}

/* Time passes while the machine sleeps: what was due then is overdue when it wakes up. */
static msec system_mono(const struct clock *self)
{
    (void)self;
    return read_clock(CLOCK_BOOTTIME);
}

const struct clock clock_system = {system_wall, system_mono};

msec clock_thread(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static msec fixed_wall(const struct clock *self)
{
    return container_of(self, const struct clock_fixed, clock)->wall;
}

static msec fixed_mono(const struct clock *self)
{
    return container_of(self, const struct clock_fixed, clock)->mono;
}

void clock_fixed_init(struct clock_fixed *c, msec wall, msec mono)
{
    *c = (struct clock_fixed){{fixed_wall, fixed_mono}, wall, mono};
}

const char *time_iso(msec wall, char text[TIME_TEXT_SIZE])
{
    if (wall == MSEC_NEVER) {
        snprintf(text, TIME_TEXT_SIZE, "never");
        return text;
    }
    msec ms = wall % 1000;
    time_t seconds = (time_t)(wall / 1000);
    if (ms < 0) {
        ms += 1000;
        seconds--;
    }
    struct tm tm;
    if (!gmtime_r(&seconds, &tm)) {
        snprintf(text, TIME_TEXT_SIZE, "out of range");
        return text;
    }
    size_t n = strftime(text, TIME_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
    if (ms)
        n += (size_t)snprintf(text + n, TIME_TEXT_SIZE - n, ".%03d", (int)ms);
    snprintf(text + n, TIME_TEXT_SIZE - n, "Z");
    return text;
}

const char *time_span(msec span, char text[TIME_TEXT_SIZE])
{
    static const struct {
        msec unit;
        const char *name;
    } units[] = {{MSEC_PER_DAY, "day"}, {MSEC_PER_HOUR, "hour"}, {MSEC_PER_MINUTE, "minute"},
            {MSEC_PER_SECOND, "second"}};

    if (span == MSEC_NEVER) {
        snprintf(text, TIME_TEXT_SIZE, "for ever");
        return text;
    }
    if (span < 0)
        span = 0;
    if (span < MSEC_PER_SECOND) {
        snprintf(text, TIME_TEXT_SIZE, "%d ms", (int)span);
        return text;
    }
    /* The two largest units that are not nothing say enough. */
    size_t n = 0;
    int parts = 0;
    for (size_t i = 0; i < countof(units) && parts < 2; i++) {
        long long count = span / units[i].unit;
        span %= units[i].unit;
        if (count == 0) {
            if (parts)
                break;
            continue;
        }
        n += (size_t)snprintf(text + n, TIME_TEXT_SIZE - n, "%s%lld %s%s", parts ? " " : "",
                count, units[i].name, count == 1 ? "" : "s");
        parts++;
    }
    return text;
}

static bool digits(const char **p, int n, int *ret)
{
    int value = 0;
    for (int i = 0; i < n; i++) {
        if ((*p)[i] < '0' || (*p)[i] > '9')
            return false;
        value = value * 10 + ((*p)[i] - '0');
    }
    *p += n;
    *ret = value;
    return true;
}

static bool literal(const char **p, char c)
{
    if (**p != c)
        return false;
    (*p)++;
    return true;
}

static bool parse_clock_time(const char **p, struct tm *tm, int *ms)
{
    if (!digits(p, 2, &tm->tm_hour) || !literal(p, ':') || !digits(p, 2, &tm->tm_min))
        return false;
    if (literal(p, ':') && !digits(p, 2, &tm->tm_sec))
        return false;
    if (literal(p, '.')) {
        int scale = 100;
        if (**p < '0' || **p > '9')
            return false;
        for (; **p >= '0' && **p <= '9'; (*p)++, scale /= 10)
            *ms += (**p - '0') * scale;
    }
    return tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec < 60;
}

static bool parse_offset(const char **p, int *ret_minutes)
{
    int hours = 0, minutes = 0;
    *ret_minutes = 0;
    if (literal(p, 'Z') || **p == 0)
        return true;
    int sign = **p == '+' ? 1 : **p == '-' ? -1 : 0;
    if (!sign)
        return false;
    (*p)++;
    if (!digits(p, 2, &hours))
        return false;
    (void)literal(p, ':');
    if (**p && !digits(p, 2, &minutes))
        return false;
    *ret_minutes = sign * (hours * 60 + minutes);
    return hours < 24 && minutes < 60;
}

bool time_parse_iso(const char *text, msec *ret_wall)
{
    const char *p = text;
    struct tm tm = {0};
    int year, month, day, ms = 0, offset = 0;
    if (!digits(&p, 4, &year) || !literal(&p, '-') || !digits(&p, 2, &month) ||
            !literal(&p, '-') || !digits(&p, 2, &day))
        return false;
    tm.tm_year = year - 1900;
    tm.tm_mon = month - 1;
    tm.tm_mday = day;
    if ((*p == 'T' || *p == ' ') && p[1]) {
        p++;
        if (!parse_clock_time(&p, &tm, &ms) || !parse_offset(&p, &offset))
            return false;
    }
    if (*p || month < 1 || month > 12 || day < 1)
        return false;
    time_t seconds = timegm(&tm); /* normalises: a 31st of April comes back as the 1st of May */
    if (tm.tm_mday != day || tm.tm_mon != month - 1)
        return false;
    *ret_wall = ((msec)seconds - offset * 60) * 1000 + ms;
    return true;
}

bool time_parse_span(const char *text, msec *ret_span)
{
    static const struct {
        const char *name;
        msec unit;
    } units[] = {{"", MSEC_PER_SECOND}, {"ms", 1}, {"s", MSEC_PER_SECOND},
            {"sec", MSEC_PER_SECOND}, {"second", MSEC_PER_SECOND}, {"seconds", MSEC_PER_SECOND},
            {"min", MSEC_PER_MINUTE}, {"minute", MSEC_PER_MINUTE}, {"minutes", MSEC_PER_MINUTE},
            {"h", MSEC_PER_HOUR}, {"hour", MSEC_PER_HOUR}, {"hours", MSEC_PER_HOUR},
            {"d", MSEC_PER_DAY}, {"day", MSEC_PER_DAY}, {"days", MSEC_PER_DAY},
            {"w", 7 * MSEC_PER_DAY}, {"week", 7 * MSEC_PER_DAY}, {"weeks", 7 * MSEC_PER_DAY}};

    struct str s = str_trim(str_of(text));
    size_t n = 0;
    while (n < s.len && s.ptr[n] >= '0' && s.ptr[n] <= '9')
        n++;
    int64_t count;
    if (n == 0 || !str_to_int((struct str){s.ptr, n}, &count))
        return false;
    struct str unit = str_trim((struct str){s.ptr + n, s.len - n});
    for (size_t i = 0; i < countof(units); i++)
        if (str_equal_nocase(unit, str_of(units[i].name)))
            return !__builtin_mul_overflow(count, units[i].unit, ret_span);
    return false;
}
