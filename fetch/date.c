/* Dates in HTTP headers: IMF-fixdate, and the two forms that were before it.
 *
 * A server's date is only ever compared with the same server's dates or used as a hint,
 * so a reading that is strict costs nothing: what is not one of the three forms to the
 * last character is no date.
 */
#include "fetch/date.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char month_names[12][4] = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct parts {
    char month[4];
    int day, year, hour, minute, second;
};

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static bool to_msec(const struct parts *p, msec *ret_wall)
{
    static const int month_days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int month = 0;
    while (month < 12 && strcmp(p->month, month_names[month]) != 0)
        month++;
    if (month == 12 || p->year < 1900 || p->year > 9999 || p->hour > 23 || p->minute > 59 ||
            p->second > 60)
        return false;
    int days = month_days[month] + (month == 1 && is_leap(p->year));
    if (p->day < 1 || p->day > days)
        return false;

    struct tm tm = {.tm_year = p->year - 1900,
            .tm_mon = month,
            .tm_mday = p->day,
            .tm_hour = p->hour,
            .tm_min = p->minute,
            .tm_sec = p->second};
    *ret_wall = (msec)timegm(&tm) * MSEC_PER_SECOND;
    return true;
}

/* Did the pattern match to the last character?  (%n is reached only by a full match.) */
#define WHOLE(text, pattern, ...)                                                              \
    (end = -1, sscanf((text), pattern "%n", __VA_ARGS__, &end), end >= 0 && (text)[end] == 0)

/* sscanf takes signs and spaces before numbers; a date has neither but in asctime's day. */
static bool has_odd_characters(const char *text)
{
    return strpbrk(text, "+\t\r\n\v\f") || strstr(text, " -") || strstr(text, ":-") ||
           strstr(text, "--") || strstr(text, ": ");
}

bool fetch_date_parse(const char *text, msec *ret_wall)
{
    struct parts p = {.year = 0};
    int end;
    if (strlen(text) > 40 || has_odd_characters(text))
        return false;
    if (WHOLE(text, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT", &p.day, p.month, &p.year,
                &p.hour, &p.minute, &p.second))
        return to_msec(&p, ret_wall);
    if (WHOLE(text, "%*9[A-Za-z], %2d-%3[A-Za-z]-%2d %2d:%2d:%2d GMT", &p.day, p.month, &p.year,
                &p.hour, &p.minute, &p.second)) {
        p.year += p.year < 70 ? 2000 : 1900;
        return to_msec(&p, ret_wall);
    }
    if (WHOLE(text, "%*3[A-Za-z] %3[A-Za-z] %2d %2d:%2d:%2d %4d", p.month, &p.day, &p.hour,
                &p.minute, &p.second, &p.year))
        return to_msec(&p, ret_wall);
    return false;
}
