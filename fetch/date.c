/* Dates in HTTP headers: IMF-fixdate, and the two forms that were before it.
 *
 * A server's date is only ever compared with the same server's dates or used as a hint,
 * so a reading that is strict costs nothing: what is not one of the three forms to the
 * last character is no date.
 */
#include "fetch/date.h"
#include <string.h>

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

/* How many days there were before 1 January of `year`, from 1970 on (or until then). */
static int days_before_year(int year)
{
    int y = year - 1;
    return 365 * (year - 1970) + y / 4 - y / 100 + y / 400 -
           (1969 / 4 - 1969 / 100 + 1969 / 400);
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

    days = days_before_year(p->year) + p->day - 1;
    for (int m = 0; m < month; m++)
        days += month_days[m] + (m == 1 && is_leap(p->year));
    *ret_wall = days * MSEC_PER_DAY + p->hour * MSEC_PER_HOUR + p->minute * MSEC_PER_MINUTE +
                p->second * MSEC_PER_SECOND;
    return true;
}

/* Reads at most `most` digits, at least one. */
static bool take_number(const char **at, int most, int *ret)
{
    int n = 0;
    for (*ret = 0; n < most && **at >= '0' && **at <= '9'; n++)
        *ret = *ret * 10 + (*(*at)++ - '0');
    return n > 0;
}

static bool take_letters(const char **at, int most, char *ret)
{
    int n = 0;
    while (n < most && ((**at | 0x20) >= 'a' && (**at | 0x20) <= 'z')) {
        if (ret)
            ret[n] = **at;
        n++;
        (*at)++;
    }
    if (ret)
        ret[n] = 0;
    return n > 0;
}

static bool take(const char **at, char field, struct parts *p)
{
    switch (field) {
    case 'w':
        return take_letters(at, 3, NULL);
    case 'W':
        return take_letters(at, 9, NULL);
    case 'M':
        return take_letters(at, 3, p->month);
    case 'D':
        return take_number(at, 2, &p->day);
    case 'Y':
        return take_number(at, 4, &p->year);
    case 'y':
        return take_number(at, 2, &p->year);
    case 'h':
        return take_number(at, 2, &p->hour);
    case 'm':
        return take_number(at, 2, &p->minute);
    case 's':
        return take_number(at, 2, &p->second);
    case 'Z':
        if (strncmp(*at, "GMT", 3) != 0)
            return false;
        *at += 3;
        return true;
    case '_': /* a space, and another one before a day of one digit */
        *at += **at == ' ';
        *at += **at == ' ';
        return (*at)[-1] == ' ';
    }
    return *(*at)++ == field;
}

/* Is the text of this form, to the last character? */
static bool matches(const char *text, const char *form, struct parts *p)
{
    for (; *form; form++)
        if (!take(&text, *form, p))
            return false;
    return *text == 0;
}

bool fetch_date_parse(const char *text, msec *ret_wall)
{
    struct parts p = {.year = 0};
    if (matches(text, "w, D M Y h:m:s Z", &p))
        return to_msec(&p, ret_wall);
    if (matches(text, "W, D-M-y h:m:s Z", &p)) {
        p.year += p.year < 70 ? 2000 : 1900;
        return to_msec(&p, ret_wall);
    }
    return matches(text, "w M_D h:m:s Y", &p) && to_msec(&p, ret_wall);
}
