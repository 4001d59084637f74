/* Durations: "1 week 2 days", "6h", PT6H.
 *
 * Only units of a fixed length: a month is none, in ISO form neither (there M before the T
 * is a month, after it a minute).
 */
#include "grammar/grammar_int.h"
#include "base/str.h"
#include <ctype.h>

/* A hundred years: beyond, a sum of instants could leave the calendar. */
#define DURATION_MAX (36525 * MSEC_PER_DAY)

static const struct {
    const char *name;
    msec length; /* 0: has none */
} units[] = {
        {"second", MSEC_PER_SECOND},
        {"seconds", MSEC_PER_SECOND},
        {"minute", MSEC_PER_MINUTE},
        {"minutes", MSEC_PER_MINUTE},
        {"hour", MSEC_PER_HOUR},
        {"hours", MSEC_PER_HOUR},
        {"day", MSEC_PER_DAY},
        {"days", MSEC_PER_DAY},
        {"week", 7 * MSEC_PER_DAY},
        {"weeks", 7 * MSEC_PER_DAY},
        {"s", MSEC_PER_SECOND},
        {"sec", MSEC_PER_SECOND},
        {"min", MSEC_PER_MINUTE},
        {"h", MSEC_PER_HOUR},
        {"d", MSEC_PER_DAY},
        {"w", 7 * MSEC_PER_DAY},
        {"month", 0},
        {"months", 0},
        {"year", 0},
        {"years", 0},
};

static bool no_fixed_length(struct parser *p, struct grammar_pos pos, const char *unit)
{
    parse_error(p, GRAMMAR_E023, pos, "%s has no fixed length; use days or weeks", unit);
    return false;
}

static bool unit_find(struct parser *p, msec *ret_length)
{
    const char *names[countof(units)];
    for (size_t i = 0; i < countof(units); i++) {
        names[i] = units[i].name;
        if (p->tok.kind != T_NAME || !str_equal_nocase(p->tok.text, str_of(units[i].name)))
            continue;
        if (units[i].length == 0)
            return no_fixed_length(
                    p, p->tok.pos, tolower(*p->tok.text.ptr) == 'm' ? "month" : "year");
        *ret_length = units[i].length;
        return true;
    }
    struct token found = p->tok;
    parse_expected(p, GRAMMAR_E020, "a time unit");
    const char *nearest = found.kind == T_NAME && found.text.len > 2
                                  ? word_nearest(found.text, names, 10)
                                  : NULL;
    report_nearest(p->script, p->said, nearest);
    report_hint(p->script, p->said, "Units are second, minute, hour, day and week.");
    return false;
}

static bool add(
        struct parser *p, struct grammar_pos pos, struct str digits, msec unit, msec *sum)
{
    int64_t n;
    msec more;
    if (!str_to_int(digits, &n) || __builtin_mul_overflow(n, unit, &more) ||
            __builtin_add_overflow(*sum, more, sum) || *sum > DURATION_MAX) {
        parse_error(p, GRAMMAR_E028, pos, "a duration is at most a hundred years");
        return false;
    }
    return true;
}

static msec iso_unit(bool in_time, int letter)
{
    switch (letter) {
    case 'W':
        return in_time ? 0 : 7 * MSEC_PER_DAY;
    case 'D':
        return in_time ? 0 : MSEC_PER_DAY;
    case 'H':
        return in_time ? MSEC_PER_HOUR : 0;
    case 'M':
        return in_time ? MSEC_PER_MINUTE : 0;
    case 'S':
        return in_time ? MSEC_PER_SECOND : 0;
    default:
        return 0;
    }
}

/* One number and its letter off the front of *s. */
static bool take_iso_part(
        struct parser *p, const struct token *run, struct str *s, bool *in_time, msec *sum)
{
    if (!*in_time && toupper((unsigned char)*s->ptr) == 'T' && s->len > 1) {
        *in_time = true;
        s->ptr++, s->len--;
    }
    size_t n = 0;
    while (n < s->len && isdigit((unsigned char)s->ptr[n]))
        n++;
    if (n > 0 && n < s->len && strchr(".,", s->ptr[n])) {
        parse_error(p, GRAMMAR_E022, run->pos, "whole numbers only in a duration");
        return false;
    }
    int letter = n > 0 && n < s->len ? toupper((unsigned char)s->ptr[n]) : 0;
    if (!*in_time && (letter == 'M' || letter == 'Y'))
        return no_fixed_length(p, run->pos, letter == 'M' ? "month" : "year");
    msec unit = iso_unit(*in_time, letter);
    if (unit == 0) {
        parse_error(p, GRAMMAR_E020, run->pos, "expected a time unit in the duration %s",
                token_shown(p->life, run));
        return false;
    }
    if (!add(p, run->pos, (struct str){s->ptr, n}, unit, sum))
        return false;
    s->ptr += n + 1, s->len -= n + 1;
    return true;
}

/* The token is the P: the whole run of letters, digits and dots is the duration. */
static bool parse_iso(struct parser *p, msec *sum)
{
    lex_rewind(&p->lx, &p->tok);
    struct token run = lex_run(&p->lx, ".,");
    while (run.text.len > 0 && strchr(".,", run.text.ptr[run.text.len - 1])) {
        run.text.len--; /* punctuation behind it */
        p->lx.at.offset--;
        p->lx.at.column--;
    }
    parse_resume(p);

    struct str s = {run.text.ptr + 1, run.text.len - 1};
    bool in_time = false;
    while (s.len > 0)
        if (!take_iso_part(p, &run, &s, &in_time, sum))
            return false;
    return true;
}

static bool begins_iso(const struct token *t)
{
    if (t->kind != T_NAME || t->text.len < 3 || toupper((unsigned char)t->text.ptr[0]) != 'P')
        return false;
    bool t_first = toupper((unsigned char)t->text.ptr[1]) == 'T';
    return isdigit((unsigned char)t->text.ptr[t_first ? 2 : 1]);
}

static bool parse_units(struct parser *p, msec *sum)
{
    do {
        struct token number = p->tok;
        if (number.kind == T_DECIMAL) {
            parse_error(p, GRAMMAR_E022, number.pos, "whole numbers only in a duration");
            return false;
        }
        msec unit;
        parse_advance(p);
        if (!unit_find(p, &unit) || !add(p, number.pos, number.text, unit, sum))
            return false;
        parse_advance(p);
    } while (p->tok.kind == T_NUMBER || p->tok.kind == T_DECIMAL);
    return true;
}

bool parse_duration(struct parser *p, msec *ret_duration)
{
    struct grammar_pos pos = p->tok.pos;
    bool negative = parse_take_symbol(p, '-');
    msec sum = 0;
    if (begins_iso(&p->tok)) {
        if (!parse_iso(p, &sum))
            return false;
    } else if (p->tok.kind == T_NUMBER || p->tok.kind == T_DECIMAL) {
        if (!parse_units(p, &sum))
            return false;
    } else {
        parse_expected(p, GRAMMAR_E010, "a duration");
        report_hint(p->script, p->said, "Write for instance 6 hours, or 1 day 12 h.");
        return false;
    }
    if (sum == 0 || negative) {
        parse_error(p, GRAMMAR_E021, pos, "a duration must be positive");
        return false;
    }
    *ret_duration = sum;
    return true;
}
