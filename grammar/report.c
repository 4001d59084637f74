/* REPORT .. WHEN: what makes a subscription send its report, and how much of it. */
#include "grammar/grammar_int.h"
#include "base/str.h"
#include <ctype.h>

enum { MAX_EVENTS = 64 };

static const char *const freq_names[GRAMMAR_FREQ_COUNT] = {
        NULL, "hourly", "daily", "weekly", "biweekly", "monthly"};

const char *const weekday_names[7] = {
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};

const char *freq_name(enum grammar_freq f)
{
    return freq_names[f];
}

static enum grammar_freq freq_find(const struct token *t)
{
    for (int f = 1; f < GRAMMAR_FREQ_COUNT; f++)
        if (t->kind == T_NAME && str_equal_nocase(t->text, str_of(freq_names[f])))
            return (enum grammar_freq)f;
    return GRAMMAR_NO_FREQ;
}

bool parse_freq(struct parser *p, enum grammar_freq *ret_freq)
{
    struct token found = p->tok;
    *ret_freq = freq_find(&found);
    if (*ret_freq != GRAMMAR_NO_FREQ) {
        parse_advance(p);
        return true;
    }
    if (found.kind != T_NAME || word_flags(found.word) & (PART | VERB))
        return parse_expected(p, GRAMMAR_E026, "a frequency");
    parse_error(
            p, GRAMMAR_E026, found.pos, "unknown frequency %s", token_shown(p->life, &found));
    report_nearest(p->script, p->said,
            word_nearest(found.text, freq_names + 1, GRAMMAR_FREQ_COUNT - 1));
    report_hint(p->script, p->said, "There are hourly, daily, weekly, biweekly and monthly.");
    return false;
}

/* ---- EACH --------------------------------------------------------------------------- */

/* "January1st": a month, a day, and the ending people give it. */
static bool monthday_find(struct str s, int *ret_month, int *ret_day)
{
    static const char *const endings[] = {"st", "nd", "rd", "th"};
    for (int m = 0; m < 12; m++) {
        struct str name = str_of(month_names[m]);
        if (!str_starts_nocase(s, name))
            continue;
        struct str rest = {s.ptr + name.len, s.len - name.len};
        int day = 0;
        while (rest.len > 0 && isdigit((unsigned char)*rest.ptr) && day < 100) {
            day = day * 10 + (*rest.ptr - '0');
            rest.ptr++, rest.len--;
        }
        bool ends = rest.len == 0;
        for (size_t i = 0; i < countof(endings); i++)
            ends |= str_equal_nocase(rest, str_of(endings[i]));
        *ret_month = m + 1;
        *ret_day = day;
        return ends && day >= 1 && day <= civil_month_days(2000, m + 1);
    }
    return false;
}

static bool parse_each(struct parser *p, struct grammar_revent *e)
{
    struct token found = p->tok;
    if (found.kind != T_NAME)
        return parse_expected(p, GRAMMAR_E027, "a weekday, or a day like January1st");
    for (int i = 0; i < 7; i++) {
        if (!str_equal_nocase(found.text, str_of(weekday_names[i])))
            continue;
        e->kind = GRAMMAR_REPORT_WEEKDAY;
        e->weekday = i + 1;
        parse_advance(p);
        return true;
    }
    e->kind = GRAMMAR_REPORT_MONTHDAY;
    if (monthday_find(found.text, &e->month, &e->day)) {
        parse_advance(p);
        return true;
    }
    parse_error(p, GRAMMAR_E027, found.pos, "unknown date pattern %s",
            token_shown(p->life, &found));
    report_nearest(p->script, p->said, word_nearest(found.text, weekday_names, 7));
    report_hint(p->script, p->said, "Write a weekday, or a day like January1st.");
    return false;
}

/* ---- events ------------------------------------------------------------------------- */

static bool parse_count_event(struct parser *p, struct grammar_revent *e)
{
    e->kind = GRAMMAR_REPORT_COUNT;
    parse_advance(p);
    if (parse_take_symbol(p, '(') && (!parse_name(p, "the name of a query", &e->name) ||
                                             !parse_need_symbol(p, ')', "\")\"")))
        return false;
    e->at_least = parse_is_symbol(p, SYM_GE);
    if (!e->at_least && !parse_is_symbol(p, '>'))
        return parse_expected(p, GRAMMAR_E010, "\">\" or \">=\"");
    parse_advance(p);
    return parse_number(p, "a number of notifications", 0, 1000000000, &e->count);
}

static bool parse_event(struct parser *p, struct grammar_revent *e)
{
    e->pos = p->tok.pos;
    struct token next = parse_peek(p);
    if (parse_is(p, W_NOTIFICATIONS) && next.kind == T_SYMBOL && next.symbol == '.') {
        parse_advance(p);
        parse_advance(p);
        return parse_is(p, W_COUNT) ? parse_count_event(p, e) : parse_need(p, W_COUNT);
    }
    if (parse_is(p, W_COUNT) && next.kind == T_SYMBOL && next.symbol != ';')
        return parse_count_event(p, e);
    if (parse_take(p, W_IMMEDIATE)) {
        e->kind = GRAMMAR_REPORT_IMMEDIATE;
        return true;
    }
    if (parse_take(p, W_EACH))
        return parse_each(p, e);
    e->freq = freq_find(&p->tok);
    if (e->freq != GRAMMAR_NO_FREQ) {
        e->kind = GRAMMAR_REPORT_FREQ;
        parse_advance(p);
        return true;
    }
    e->kind = GRAMMAR_REPORT_NOTIFIED;
    return parse_name(
            p, "a frequency, EACH, COUNT, IMMEDIATE or the name of a query", &e->name);
}

/* A number limits the notifications in a report, a frequency the reports in a time. */
static bool parse_atmost(struct parser *p, struct grammar_report *r)
{
    struct grammar_pos pos = p->tok.pos;
    if (p->tok.kind != T_NUMBER) {
        if (r->atmost_freq != GRAMMAR_NO_FREQ)
            parse_error(p, GRAMMAR_E012, pos, "ATMOST with a frequency given twice");
        return parse_freq(p, &r->atmost_freq);
    }
    if (r->atmost_count)
        parse_error(p, GRAMMAR_E012, pos, "ATMOST with a number given twice");
    return parse_number(p, "a number of notifications", 1, 1000000000, &r->atmost_count);
}

bool parse_report(struct parser *p, struct grammar_subscription *s)
{
    struct grammar_report *r = s->report;
    if (!parse_need(p, W_WHEN))
        return false;
    do {
        struct grammar_revent e = {0};
        if (r->n_events == MAX_EVENTS) {
            parse_error(p, GRAMMAR_E028, p->tok.pos, "at most %d conditions", MAX_EVENTS);
            return false;
        }
        if (!parse_event(p, &e))
            return false;
        *GROW(p->life, r->events, r->n_events) = e;
    } while (parse_take(p, W_OR));
    while (parse_take(p, W_ATMOST))
        if (!parse_atmost(p, r))
            return false;
    return !parse_take(p, W_ARCHIVE) || parse_freq(p, &r->archive);
}
