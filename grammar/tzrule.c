/* The rule at the end of a zone file: "CET-1CEST,M3.5.0,M10.5.0/3" (POSIX TZ).
 *
 * It says for every year to come when summer time begins and ends.  Its offsets count west of
 * Greenwich as positive, ours east.
 */
#include "grammar/zone_int.h"
#include <ctype.h>

static bool take_number(struct str *s, int max, int *ret)
{
    int n = 0;
    size_t digits = 0;
    while (s->len > 0 && isdigit((unsigned char)*s->ptr) && digits < 4) {
        n = n * 10 + (*s->ptr - '0');
        s->ptr++, s->len--;
        digits++;
    }
    *ret = n;
    return digits > 0 && n <= max;
}

static bool take_mark(struct str *s, char mark)
{
    if (s->len == 0 || *s->ptr != mark)
        return false;
    s->ptr++, s->len--;
    return true;
}

/* [+-]hh[:mm[:ss]] */
static bool take_time(struct str *s, msec *ret)
{
    int h, m = 0, sec = 0;
    bool minus = take_mark(s, '-');
    if (!minus)
        (void)take_mark(s, '+');
    if (!take_number(s, 167, &h) || (take_mark(s, ':') && !take_number(s, 59, &m)) ||
            (take_mark(s, ':') && !take_number(s, 59, &sec)))
        return false;
    *ret = h * MSEC_PER_HOUR + m * MSEC_PER_MINUTE + sec * MSEC_PER_SECOND;
    if (minus)
        *ret = -*ret;
    return true;
}

/* CET, or <+03> for those without letters. */
static bool take_abbreviation(struct str *s)
{
    if (take_mark(s, '<')) {
        while (s->len > 0 && *s->ptr != '>')
            s->ptr++, s->len--;
        return take_mark(s, '>');
    }
    size_t n = 0;
    while (s->len > 0 && isalpha((unsigned char)*s->ptr))
        s->ptr++, s->len--, n++;
    return n >= 3;
}

static bool take_day(struct str *s, struct tzday *d)
{
    d->time = 2 * MSEC_PER_HOUR;
    if (take_mark(s, 'M')) {
        d->kind = TZ_MONTH;
        if (!take_number(s, 12, &d->month) || d->month < 1 || !take_mark(s, '.') ||
                !take_number(s, 5, &d->week) || d->week < 1 || !take_mark(s, '.') ||
                !take_number(s, 6, &d->weekday))
            return false;
    } else {
        d->kind = take_mark(s, 'J') ? TZ_JULIAN : TZ_ORDINAL;
        if (!take_number(s, 365, &d->day))
            return false;
    }
    return !take_mark(s, '/') || take_time(s, &d->time);
}

bool tzrule_parse(struct str s, struct tzrule *ret)
{
    struct tzrule r = {0};
    if (!take_abbreviation(&s) || !take_time(&s, &r.standard))
        return false;
    r.standard = -r.standard;
    if (s.len > 0) {
        if (!take_abbreviation(&s))
            return false;
        r.has_summer = true;
        r.summer = r.standard + MSEC_PER_HOUR;
        if (s.len > 0 && *s.ptr != ',') {
            if (!take_time(&s, &r.summer))
                return false;
            r.summer = -r.summer;
        }
        if (!take_mark(&s, ',') || !take_day(&s, &r.begin) || !take_mark(&s, ',') ||
                !take_day(&s, &r.end))
            return false;
    }
    *ret = r;
    return s.len == 0;
}

/* The local time of the change in that year, as if local time were UTC. */
static msec change_in(const struct tzday *d, int year)
{
    int64_t day = 0;
    switch (d->kind) {
    case TZ_MONTH: {
        int64_t first = civil_days(year, d->month, 1);
        int64_t weekday = ((first + 4) % 7 + 7) % 7; /* 1970-01-01 was a Thursday */
        day = first + (d->weekday - weekday + 7) % 7 + 7 * (d->week - 1);
        while (day >= first + civil_month_days(year, d->month))
            day -= 7;
        break;
    }
    case TZ_JULIAN:
        day = civil_days(year, 1, 1) + d->day - 1 +
              (d->day >= 60 && civil_month_days(year, 2) == 29);
        break;
    case TZ_ORDINAL:
        day = civil_days(year, 1, 1) + d->day;
        break;
    }
    return day * MSEC_PER_DAY + d->time;
}

msec tzrule_offset(const struct tzrule *rule, msec at)
{
    if (!rule->has_summer)
        return rule->standard;
    int year, month, day;
    msec local = at + rule->standard;
    civil_from_days(
            (local - (local % MSEC_PER_DAY + MSEC_PER_DAY) % MSEC_PER_DAY) / MSEC_PER_DAY,
            &year, &month, &day);
    msec begin = change_in(&rule->begin, year) - rule->standard;
    msec end = change_in(&rule->end, year) - rule->summer;
    bool summer = begin < end ? at >= begin && at < end : at >= begin || at < end;
    return summer ? rule->summer : rule->standard;
}
