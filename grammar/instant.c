/* Points in time: now, dates in four spellings, and the start or end of another sentinel.
 *
 * A date stays a day, a clock and a zone here.  Which instant that is depends on the zone of
 * the server and on whether it stands after FROM or TO; grammar_check knows.
 */
#include "grammar/grammar_int.h"
#include "base/str.h"
#include <ctype.h>

const char *const month_names[12] = {"January", "February", "March", "April", "May", "June",
        "July", "August", "September", "October", "November", "December"};

static bool no_such_date(struct parser *p, struct grammar_pos pos, const char *expected)
{
    parse_error(p, GRAMMAR_E031, pos, "no such date (%s is expected)", expected);
    return false;
}

/* Reads digits off the front of *s: at least one, at most `max`. */
static bool take_digits(struct str *s, size_t max, int *ret, size_t *ret_n)
{
    size_t n = 0;
    int value = 0;
    while (n < s->len && n < max && isdigit((unsigned char)s->ptr[n]))
        value = value * 10 + (s->ptr[n++] - '0');
    if (n == 0 || (n < s->len && isdigit((unsigned char)s->ptr[n])))
        return false;
    s->ptr += n;
    s->len -= n;
    *ret = value;
    if (ret_n)
        *ret_n = n;
    return true;
}

static bool take_char(struct str *s, const char *set)
{
    if (s->len == 0 || !strchr(set, *s->ptr))
        return false;
    s->ptr++;
    s->len--;
    return true;
}

static bool day_exists(const struct grammar_date *d)
{
    return d->year >= 1900 && d->year <= 9999 && d->month >= 1 && d->month <= 12 &&
           d->day >= 1 && d->day <= civil_month_days(d->year, d->month);
}

static bool clock_exists(const struct grammar_date *d)
{
    return d->hour <= 23 && d->minute <= 59 && d->second <= 59;
}

/* HH:MM[:SS[.mmm]] */
static bool take_clock(struct str *s, struct grammar_date *d)
{
    if (!take_digits(s, 2, &d->hour, NULL) || !take_char(s, ":") ||
            !take_digits(s, 2, &d->minute, NULL))
        return false;
    if (s->len > 0 && *s->ptr == ':' &&
            (!take_char(s, ":") || !take_digits(s, 2, &d->second, NULL)))
        return false;
    if (take_char(s, ".")) {
        size_t n;
        if (!take_digits(s, 3, &d->ms, &n))
            return false;
        for (; n < 3; n++)
            d->ms *= 10;
    }
    d->has_clock = true;
    return true;
}

/* ±HH:MM or ±HHMM, kept as ±HH:MM; an offset of nothing is UTC. */
static bool take_offset(struct parser *p, struct str *s, const char **ret_zone)
{
    char sign = *s->ptr;
    int h, m;
    struct str rest = {s->ptr + 1, s->len - 1};
    if (rest.len == 4 && !memchr(rest.ptr, ':', 4)) {
        struct str hh = {rest.ptr, 2}, mm = {rest.ptr + 2, 2};
        if (!take_digits(&hh, 2, &h, NULL) || !take_digits(&mm, 2, &m, NULL))
            return false;
        rest.len = 0;
    } else if (!take_digits(&rest, 2, &h, NULL) || !take_char(&rest, ":") ||
               !take_digits(&rest, 2, &m, NULL)) {
        return false;
    }
    if (rest.len > 0 || h > 14 || m > 59)
        return false;
    *ret_zone = h || m ? arena_printf(p->life, "%c%02d:%02d", sign, h, m) : "UTC";
    s->len = 0;
    return true;
}

/* Z, GMT and UTC are one; abbreviations are written in capitals. */
static const char *zone_spelled(struct parser *p, struct str s)
{
    if (str_equal_nocase(s, STR("Z")) || str_equal_nocase(s, STR("GMT")) ||
            str_equal_nocase(s, STR("UTC")))
        return "UTC";
    for (size_t i = 0; i < n_zone_abbreviations; i++)
        if (str_equal_nocase(s, str_of(zone_abbreviations[i])))
            return zone_abbreviations[i];
    return arena_strndup(p->life, s.ptr, s.len);
}

/* ---- what may follow a day ---------------------------------------------------------- */

/* A word behind a date is a zone, unless the statement goes on with it. */
static bool is_zone(const struct parser *p)
{
    if (p->tok.kind != T_NAME ||
            word_flags(p->tok.word) & (RESERVED | CLAUSE | CQ | PART | VERB))
        return false;
    return p->tok.text.len < 4 || p->tok.text.ptr[p->tok.text.len] == '/' ||
           !word_nearest_flagged(p->tok.text, CLAUSE | CQ);
}

static void parse_zone(struct parser *p, struct grammar_date *d)
{
    lex_rewind(&p->lx, &p->tok);
    struct token run = lex_run(&p->lx, "/+-");
    parse_resume(p);
    d->zone = zone_spelled(p, run.text);
    d->zone_pos = run.pos;
}

static bool parse_clock_and_zone(struct parser *p, struct grammar_date *d)
{
    if (p->tok.kind == T_NUMBER || p->tok.kind == T_DECIMAL) {
        lex_rewind(&p->lx, &p->tok);
        struct token run = lex_run(&p->lx, ":.");
        struct str s = run.text;
        parse_resume(p);
        if (!take_clock(&s, d) || s.len > 0 || !clock_exists(d)) {
            parse_error(p, GRAMMAR_E031, run.pos,
                    "no such time of day (hh:mm or hh:mm:ss is expected)");
            return false;
        }
    }
    if (is_zone(p))
        parse_zone(p, d);
    return true;
}

/* ---- the four spellings ------------------------------------------------------------- */

/* MM/DD/YY or MM/DD/YYYY */
static bool slash_date(struct parser *p, struct token run, struct grammar_date *d)
{
    struct str s = run.text;
    size_t digits = 0;
    if (!take_digits(&s, 2, &d->month, NULL) || !take_char(&s, "/") ||
            !take_digits(&s, 2, &d->day, NULL) || !take_char(&s, "/") ||
            !take_digits(&s, 4, &d->year, &digits) || s.len > 0 || digits == 1 || digits == 3)
        return no_such_date(p, run.pos, "month/day/year");
    if (digits == 2)
        d->year += d->year < 70 ? 2000 : 1900;
    if (day_exists(d))
        return parse_clock_and_zone(p, d);
    struct grammar_date swapped = {.year = d->year, .month = d->day, .day = d->month};
    no_such_date(p, run.pos, "month/day/year");
    if (day_exists(&swapped))
        report_hint(
                p->script, p->said, "Did you mean %02d/%02d/%d?", d->day, d->month, d->year);
    return false;
}

/* YYYY-MM-DD[THH:MM[:SS][Z|±HH:MM]] */
static bool iso_date(struct parser *p, struct token run, struct grammar_date *d)
{
    struct str s = run.text;
    if (!take_digits(&s, 4, &d->year, NULL) || !take_char(&s, "-") ||
            !take_digits(&s, 2, &d->month, NULL) || !take_char(&s, "-") ||
            !take_digits(&s, 2, &d->day, NULL) || !day_exists(d))
        return no_such_date(p, run.pos, "year-month-day");
    if (s.len == 0)
        return parse_clock_and_zone(p, d);

    if (!take_char(&s, "Tt") || !take_clock(&s, d) || !clock_exists(d))
        return no_such_date(p, run.pos, "year-month-dayThh:mm:ss");
    d->zone_pos = run.pos;
    if (s.len > 0 && (*s.ptr == '+' || *s.ptr == '-')) {
        if (!take_offset(p, &s, &d->zone))
            return no_such_date(p, run.pos, "an offset like +01:00");
    } else if (take_char(&s, "Zz")) {
        d->zone = "UTC";
    }
    if (s.len > 0)
        return no_such_date(p, run.pos, "year-month-dayThh:mm:ss");
    if (!d->zone && is_zone(p))
        parse_zone(p, d);
    return true;
}

/* M-D-YYYY-H-M-ZONE, as WebCQ has it */
static bool dashed_date(struct parser *p, struct token run, struct grammar_date *d)
{
    struct str s = run.text;
    if (!take_digits(&s, 2, &d->month, NULL) || !take_char(&s, "-") ||
            !take_digits(&s, 2, &d->day, NULL) || !take_char(&s, "-") ||
            !take_digits(&s, 4, &d->year, NULL) || !take_char(&s, "-") ||
            !take_digits(&s, 2, &d->hour, NULL) || !take_char(&s, "-") ||
            !take_digits(&s, 2, &d->minute, NULL) || !take_char(&s, "-") || s.len == 0 ||
            !day_exists(d) || !clock_exists(d))
        return no_such_date(p, run.pos, "month-day-year-hour-minute-zone");
    d->has_clock = true;
    d->zone = zone_spelled(p, s);
    d->zone_pos = run.pos;
    d->zone_pos.offset += (uint32_t)(s.ptr - run.text.ptr);
    d->zone_pos.column += (uint32_t)(s.ptr - run.text.ptr);
    return true;
}

static int month_find(struct str s)
{
    for (int m = 0; m < 12; m++) {
        struct str name = str_of(month_names[m]), shortened = {month_names[m], 3};
        if (str_equal_nocase(s, name) || str_equal_nocase(s, shortened))
            return m + 1;
    }
    return 0;
}

/* March 3, 2027 */
static bool spelled_date(struct parser *p, struct grammar_date *d)
{
    struct grammar_pos pos = p->tok.pos;
    d->month = month_find(p->tok.text);
    parse_advance(p);
    int64_t day = 0, year = 0;
    if (p->tok.kind != T_NUMBER || !str_to_int(p->tok.text, &day))
        return no_such_date(p, pos, "Month day, year");
    parse_advance(p);
    if (!parse_need_symbol(p, ',', "a comma and the year"))
        return false;
    if (p->tok.kind != T_NUMBER || p->tok.text.len != 4 || !str_to_int(p->tok.text, &year))
        return no_such_date(p, pos, "Month day, year");
    parse_advance(p);
    d->day = day <= 31 ? (int)day : 0;
    d->year = (int)year;
    return day_exists(d) ? parse_clock_and_zone(p, d) : no_such_date(p, pos, "Month day, year");
}

bool parse_date(struct parser *p, struct grammar_time *t)
{
    t->kind = GRAMMAR_TIME_DATE;
    t->pos = p->tok.pos;
    if (p->tok.kind == T_NAME && month_find(p->tok.text))
        return spelled_date(p, &t->date);
    if (p->tok.kind != T_NUMBER && p->tok.kind != T_DECIMAL)
        return parse_expected(p, GRAMMAR_E030, "a time");

    lex_rewind(&p->lx, &p->tok);
    struct token run = lex_run(&p->lx, "/-:+.");
    parse_resume(p);
    size_t digits = strspn(run.text.ptr, "0123456789");
    if (memchr(run.text.ptr, '/', run.text.len) && run.text.ptr[digits] == '/')
        return slash_date(p, run, &t->date);
    if (digits == 4 && run.text.len > 4 && run.text.ptr[4] == '-')
        return iso_date(p, run, &t->date);
    if (digits < 4 && run.text.ptr[digits] == '-')
        return dashed_date(p, run, &t->date);
    parse_error(
            p, GRAMMAR_E030, run.pos, "expected a time, found %s", token_shown(p->life, &run));
    report_hint(p->script, p->said,
            "Write for instance 2027-03-31, 03/31/2027 18:30 or now + 2 days.");
    return false;
}

/* ---- relative times ----------------------------------------------------------------- */

static bool parse_offset(struct parser *p, msec *ret_offset)
{
    bool minus = parse_is_symbol(p, '-');
    if (!minus && !parse_is_symbol(p, '+'))
        return true;
    parse_advance(p);
    if (!parse_duration(p, ret_offset))
        return false;
    if (minus)
        *ret_offset = -*ret_offset;
    return true;
}

static bool parse_relative(struct parser *p, struct grammar_time *t)
{
    t->kind = parse_is(p, W_START) ? GRAMMAR_TIME_START : GRAMMAR_TIME_END;
    parse_advance(p);
    return parse_need_symbol(p, '(', "\"(\" and the name of a sentinel") &&
           parse_name(p, "the name of a sentinel", &t->of) &&
           parse_need_symbol(p, ')', "\")\"") && parse_offset(p, &t->offset);
}

bool parse_time(struct parser *p, struct grammar_time *ret_time)
{
    static const char *const choices[] = {"now", "start", "end"};
    struct grammar_time t = {.pos = p->tok.pos, .at = MSEC_NEVER};
    bool ok;
    if (parse_take(p, W_NOW)) {
        t.kind = GRAMMAR_TIME_NOW;
        ok = parse_offset(p, &t.offset);
    } else if (parse_is(p, W_START) || parse_is(p, W_END)) {
        ok = parse_relative(p, &t);
    } else {
        struct token found = p->tok;
        ok = parse_date(p, &t);
        if (!ok && found.kind == T_NAME)
            report_nearest(
                    p->script, p->said, word_nearest(found.text, choices, countof(choices)));
        if (!ok)
            report_hint(p->script, p->said,
                    "Write for instance now, 2027-03-31, 03/31/2027 18:30, now + 2 days or "
                    "end(NAME) + 1 hour.");
    }
    *ret_time = t;
    return ok;
}
