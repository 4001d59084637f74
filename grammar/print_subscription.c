/* Subscriptions in canonical form: monitoring, continuous, refresh, virtual, report. */
#include "grammar/print_int.h"

static void print_template(struct buf *out, const struct grammar_monitoring *m)
{
    print(out, "<%s", m->element);
    for (unsigned i = 0; i < m->n_attributes; i++) {
        print(out, " %s=", m->attributes[i].name);
        if (m->attributes[i].is_text)
            print_quoted(out, m->attributes[i].value);
        else
            print(out, "%s", m->attributes[i].value);
    }
    print(out, "/>");
}

static void print_text_cond(struct buf *out, const char *left, const char *text)
{
    print(out, "%s ", left);
    print_quoted(out, text);
}

static const char *status_word(enum grammar_status s)
{
    static const char *const words[GRAMMAR_STATUS_COUNT] = {
            "", "new ", "updated ", "deleted ", "unchanged "};
    return words[s];
}

static void print_cond(struct buf *out, const struct grammar_cond *c)
{
    static const char *const cmps[] = {"<", "<=", "=", ">=", ">"};
    switch (c->kind) {
    case GRAMMAR_URL_EXTENDS:
        print_text_cond(out, "URL extends", c->text);
        break;
    case GRAMMAR_URL_IS:
        print_text_cond(out, "URL =", c->text);
        break;
    case GRAMMAR_DOCID_IS:
        print(out, "DOCID = %jd", (intmax_t)c->number);
        break;
    case GRAMMAR_DTDID_IS:
        print(out, "DTDID = %jd", (intmax_t)c->number);
        break;
    case GRAMMAR_DTD_IS:
        print_text_cond(out, "DTD =", c->text);
        break;
    case GRAMMAR_DOMAIN_IS:
        print_text_cond(out, "domain =", c->text);
        break;
    case GRAMMAR_FILENAME_IS:
        print_text_cond(out, "filename =", c->text);
        break;
    case GRAMMAR_LAST_ACCESSED:
    case GRAMMAR_LAST_UPDATE:
        print(out, "%s %s ", c->kind == GRAMMAR_LAST_ACCESSED ? "LastAccessed" : "LastUpdate",
                cmps[c->cmp]);
        grammar_print_time(out, &c->when);
        break;
    case GRAMMAR_SELF_CONTAINS:
        print_text_cond(out, "self contains", c->text);
        break;
    case GRAMMAR_SELF_STATUS:
        print(out, "%sself", status_word(c->status));
        break;
    case GRAMMAR_ELEMENT_IS:
        print(out, "%s%s", status_word(c->status), c->element);
        if (c->text)
            print_text_cond(out, c->strict ? " strict contains" : " contains", c->text);
        break;
    case GRAMMAR_COND_COUNT:
        break;
    }
}

static void print_monitoring(struct buf *out, const struct grammar_monitoring *m)
{
    print(out, "MONITORING SELECT ");
    if (m->variable)
        print(out, "%s", m->variable);
    else
        print_template(out, m);
    for (unsigned i = 0; i < m->n_binds; i++)
        print(out, "%s self%s%s %s", i ? "," : " FROM", m->binds[i].any_depth ? "//" : "/",
                m->binds[i].element, m->binds[i].variable);
    for (unsigned i = 0; i < m->n_conds; i++) {
        print(out, i ? " AND " : " WHERE ");
        print_cond(out, &m->conds[i]);
    }
}

static void print_continuous(struct buf *out, const struct grammar_continuous *c)
{
    print(out, "CONTINUOUS %s%s %s WHEN ", c->delta ? "delta " : "", c->name, c->query);
    if (c->when_query)
        print(out, "%s.%s", c->when_subscription, c->when_query);
    else
        print(out, "%s", freq_name(c->freq));
}

static const char *day_ending(int day)
{
    if (day >= 11 && day <= 13)
        return "th";
    return day % 10 == 1 ? "st" : day % 10 == 2 ? "nd" : day % 10 == 3 ? "rd" : "th";
}

static void print_event(struct buf *out, const struct grammar_revent *e)
{
    switch (e->kind) {
    case GRAMMAR_REPORT_IMMEDIATE:
        print(out, "immediate");
        break;
    case GRAMMAR_REPORT_FREQ:
        print(out, "%s", freq_name(e->freq));
        break;
    case GRAMMAR_REPORT_WEEKDAY:
        print(out, "each %s", weekday_names[e->weekday - 1]);
        break;
    case GRAMMAR_REPORT_MONTHDAY:
        print(out, "each %s%d%s", month_names[e->month - 1], e->day, day_ending(e->day));
        break;
    case GRAMMAR_REPORT_COUNT:
        print(out, "count");
        if (e->name)
            print(out, "(%s)", e->name);
        print(out, " %s %jd", e->at_least ? ">=" : ">", (intmax_t)e->count);
        break;
    case GRAMMAR_REPORT_NOTIFIED:
        print(out, "%s", e->name);
        break;
    }
}

static void print_report(struct buf *out, const struct grammar_report *r)
{
    print(out, "REPORT%s%s", r->query ? " " : "", r->query ? r->query : "");
    for (unsigned i = 0; i < r->n_events; i++) {
        print(out, i ? " OR " : " WHEN ");
        print_event(out, &r->events[i]);
    }
    if (r->atmost_count)
        print(out, " ATMOST %jd", (intmax_t)r->atmost_count);
    if (r->atmost_freq != GRAMMAR_NO_FREQ)
        print(out, " ATMOST %s", freq_name(r->atmost_freq));
    if (r->archive != GRAMMAR_NO_FREQ)
        print(out, " ARCHIVE %s", freq_name(r->archive));
}

/* ---- parts by number ---------------------------------------------------------------- */

unsigned subscription_parts(const struct grammar_subscription *s)
{
    return s->n_monitoring + s->n_continuous + s->n_refresh + s->n_virtuals +
           (s->report != NULL);
}

struct grammar_pos subscription_part_pos(const struct grammar_subscription *s, unsigned part)
{
    if (part < s->n_monitoring)
        return s->monitoring[part].pos;
    part -= s->n_monitoring;
    if (part < s->n_continuous)
        return s->continuous[part].pos;
    part -= s->n_continuous;
    if (part < s->n_refresh)
        return s->refresh[part].pos;
    part -= s->n_refresh;
    return part < s->n_virtuals ? s->virtuals[part].pos : s->report->pos;
}

void print_part(struct buf *out, const struct grammar_subscription *s, unsigned part)
{
    if (part < s->n_monitoring) {
        print_monitoring(out, &s->monitoring[part]);
        return;
    }
    part -= s->n_monitoring;
    if (part < s->n_continuous) {
        print_continuous(out, &s->continuous[part]);
        return;
    }
    part -= s->n_continuous;
    if (part < s->n_refresh) {
        print(out, "REFRESH ");
        print_url(out, s->refresh[part].url);
        print(out, " %s", freq_name(s->refresh[part].freq));
        return;
    }
    part -= s->n_refresh;
    if (part < s->n_virtuals)
        print(out, "VIRTUAL %s.%s", s->virtuals[part].subscription, s->virtuals[part].query);
    else
        print_report(out, s->report);
}
