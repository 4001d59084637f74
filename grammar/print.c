/* Statements in canonical form: keywords of clauses in capitals, clauses in one order, one
 * spelling for each thing.
 *
 *  (1) Reading what was printed gives the same tree, whatever strings it holds.
 *  (2) Equal trees print equal: the engine uses these texts as keys.
 */
#include "grammar/print_int.h"

void print(struct buf *out, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)buf_vprintf(out, fmt, ap);
    va_end(ap);
}

void print_quoted(struct buf *out, const char *s)
{
    (void)buf_putc(out, '\'');
    for (; *s; s++) {
        if (*s == '\'')
            (void)buf_putc(out, '\'');
        (void)buf_putc(out, *s);
    }
    (void)buf_putc(out, '\'');
}

/* Can it stand bare, up to the next white space? */
static bool is_bare(const char *s)
{
    for (const char *c = s; *c; c++)
        if ((unsigned char)*c <= 0x20 || strchr(",;()'\"<>", *c))
            return false;
    return *s && !strstr(s, "\xe2\x80\x9c") && !strstr(s, "\xe2\x80\x9d");
}

void print_url(struct buf *out, const char *url)
{
    if (is_bare(url))
        print(out, "%s", url);
    else
        print_quoted(out, url);
}

/* ---- times -------------------------------------------------------------------------- */

void grammar_print_duration(struct buf *out, msec d)
{
    static const struct {
        msec length;
        const char *name;
    } units[] = {{7 * MSEC_PER_DAY, "week"}, {MSEC_PER_DAY, "day"}, {MSEC_PER_HOUR, "hour"},
            {MSEC_PER_MINUTE, "minute"}, {MSEC_PER_SECOND, "second"}};
    const char *before = "";
    for (size_t i = 0; i < countof(units); i++) {
        int64_t n = d / units[i].length;
        if (n == 0 && !(*before == 0 && i + 1 == countof(units)))
            continue;
        print(out, "%s%jd %s%s", before, (intmax_t)n, units[i].name, n == 1 ? "" : "s");
        before = " ";
        d %= units[i].length;
    }
}

static void print_offset(struct buf *out, msec offset)
{
    if (offset == 0)
        return;
    print(out, offset < 0 ? " - " : " + ");
    grammar_print_duration(out, offset < 0 ? -offset : offset);
}

static void print_clock(struct buf *out, const struct grammar_date *d)
{
    print(out, "%02d:%02d", d->hour, d->minute);
    if (d->second || d->ms)
        print(out, ":%02d", d->second);
    if (d->ms)
        print(out, ".%03d", d->ms);
}

/* ISO where it can say it; named zones only go with the slash form. */
static void print_date(struct buf *out, const struct grammar_date *d)
{
    bool utc = d->zone && strcmp(d->zone, "UTC") == 0;
    bool offset = d->zone && (d->zone[0] == '+' || d->zone[0] == '-');
    if (d->zone && !(d->has_clock && (utc || offset))) {
        print(out, "%02d/%02d/%04d ", d->month, d->day, d->year);
        if (d->has_clock) {
            print_clock(out, d);
            print(out, " ");
        }
        print(out, "%s", d->zone);
        return;
    }
    print(out, "%04d-%02d-%02d", d->year, d->month, d->day);
    if (d->has_clock) {
        print(out, "T");
        print_clock(out, d);
        print(out, "%s", utc ? "Z" : offset ? d->zone : "");
    }
}

static void print_instant(struct buf *out, msec at)
{
    struct grammar_date d = {.has_clock = true, .zone = "UTC"};
    int64_t day = at / MSEC_PER_DAY - (at % MSEC_PER_DAY < 0);
    msec rest = at - day * MSEC_PER_DAY;
    civil_from_days(day, &d.year, &d.month, &d.day);
    d.hour = (int)(rest / MSEC_PER_HOUR);
    d.minute = (int)(rest / MSEC_PER_MINUTE % 60);
    d.second = (int)(rest / MSEC_PER_SECOND % 60);
    d.ms = (int)(rest % MSEC_PER_SECOND);
    print_date(out, &d);
}

void grammar_print_time(struct buf *out, const struct grammar_time *t)
{
    switch (t->kind) {
    case GRAMMAR_TIME_MISSING:
    case GRAMMAR_TIME_NOW:
        print(out, "now");
        print_offset(out, t->offset);
        break;
    case GRAMMAR_TIME_DATE:
        print_date(out, &t->date);
        break;
    case GRAMMAR_TIME_AT:
        print_instant(out, t->at);
        break;
    case GRAMMAR_TIME_START:
    case GRAMMAR_TIME_END:
        print(out, "%s(%s)", t->kind == GRAMMAR_TIME_START ? "start" : "end", t->of);
        print_offset(out, t->offset);
        break;
    case GRAMMAR_TIME_FOR:
        grammar_print_duration(out, t->offset);
        break;
    case GRAMMAR_TIME_NEVER:
        print(out, "never");
        break;
    }
}

/* ---- small clauses ------------------------------------------------------------------ */

void grammar_print_fetch(struct buf *out, msec fetch_every)
{
    if (fetch_every == 0) {
        print(out, "on change");
        return;
    }
    print(out, "every ");
    grammar_print_duration(out, fetch_every);
}

void grammar_print_compare(struct buf *out, struct grammar_compare c)
{
    if (c.kind == GRAMMAR_PAIRWISE)
        print(out, "pairwise");
    else
        print(out, "%s:%u", c.kind == GRAMMAR_MOVING ? "moving" : "every", c.n);
}

const char *grammar_presentation_name(enum grammar_presentation p)
{
    static const char *const names[] = {"by type", "dual frame", "only change", "merged"};
    return names[p];
}

void grammar_print_methods(struct buf *out, const struct grammar_notify *n)
{
    for (unsigned i = 0; i < n->n_methods; i++) {
        const struct grammar_method *m = &n->methods[i];
        print(out, "%s%s", i ? ", " : "", grammar_method_name(m->kind));
        if (!m->target)
            continue;
        print(out, " ");
        if (m->kind == GRAMMAR_FAX || m->kind == GRAMMAR_PHONE || strchr("%-", m->target[0]))
            print_quoted(out, m->target);
        else
            print_url(out, m->target);
    }
    if (n->best_effort) {
        print(out, " EVERY best effort");
    } else if (n->every) {
        print(out, " EVERY ");
        grammar_print_duration(out, n->every);
    }
}

static void print_request(struct buf *out, const struct grammar_request *r)
{
    const char *before = "";
    const struct {
        const char *name, *value;
    } texts[] = {{"method", r->method}, {"body", r->body}, {"user_agent", r->user_agent}};
    for (size_t i = 0; i < countof(texts); i++) {
        if (!texts[i].value)
            continue;
        print(out, "%s%s = ", before, texts[i].name);
        print_quoted(out, texts[i].value);
        before = ", ";
    }
    for (unsigned i = 0; i < r->n_headers; i++) {
        BUF(line, 1 << 20);
        (void)buf_printf(&line, "%s: %s", r->headers[i].name, r->headers[i].value);
        print(out, "%sheader ", before);
        print_quoted(out, buf_text(&line));
        before = ", ";
    }
    if (r->timeout) {
        print(out, "%stimeout = ", before);
        grammar_print_duration(out, r->timeout);
        before = ", ";
    }
    if (r->follow >= 0) {
        print(out, "%sfollow = %d", before, r->follow);
        before = ", ";
    }
    if (r->cookies) {
        print(out, "%scookies = on", before);
        before = ", ";
    }
    if (r->render)
        print(out, "%srender = on", before);
}

static void print_pages(struct buf *out, const struct grammar_definition *d)
{
    for (unsigned i = 0; i < d->n_pages; i++) {
        print(out, "%s", i ? ", " : "");
        if (d->pages[i].url)
            print_url(out, d->pages[i].url);
        else
            print(out, "%s", d->pages[i].sentinel);
        if (d->pages[i].alias)
            print(out, " AS %s", d->pages[i].alias);
    }
}

void print_clause(struct buf *out, const struct grammar_definition *d, enum grammar_clause c)
{
    bool is_for = c == GRAMMAR_TO && d->to.kind == GRAMMAR_TIME_FOR;
    print(out, "%s ", is_for ? "FOR" : clause_text(c));
    switch (c) {
    case GRAMMAR_USING:
        print_pages(out, d);
        break;
    case GRAMMAR_MONITOR:
        if (d->monitor)
            grammar_print_change(out, d->monitor);
        break;
    case GRAMMAR_FETCH:
        grammar_print_fetch(out, d->fetch_every);
        break;
    case GRAMMAR_FROM:
        grammar_print_time(out, &d->from);
        break;
    case GRAMMAR_TO:
        grammar_print_time(out, &d->to);
        break;
    case GRAMMAR_NOTIFY:
        print(out, "BY ");
        grammar_print_methods(out, &d->notify);
        break;
    case GRAMMAR_COMPARE:
        grammar_print_compare(out, d->compare);
        break;
    case GRAMMAR_CHANGEHISTORY:
        print(out, "%u", d->changehistory);
        break;
    case GRAMMAR_PRESENTATION:
        print(out, "%s", grammar_presentation_name(d->presentation));
        break;
    case GRAMMAR_WITHIN:
        grammar_print_duration(out, d->within);
        break;
    case GRAMMAR_PRIORITY:
        print(out, "%u", d->priority);
        break;
    case GRAMMAR_TOPIC:
        print_quoted(out, d->topic ? d->topic : "");
        break;
    case GRAMMAR_WITH:
        print(out, "(");
        print_request(out, &d->request);
        print(out, ")");
        break;
    case GRAMMAR_CLAUSE_COUNT:
        break;
    }
}

/* ---- statements --------------------------------------------------------------------- */

void grammar_print_definition(
        struct buf *out, const char *name, const struct grammar_definition *d)
{
    print(out, "CREATE SENTINEL %s", name);
    for (enum grammar_clause c = 0; c < GRAMMAR_CLAUSE_COUNT; c++) {
        if (!grammar_is_given(d, c))
            continue;
        print(out, " ");
        print_clause(out, d, c);
    }
}

/* What follows from the rest of the request need not be said. */
static bool request_is_plain(const struct grammar_request *r)
{
    return !r->body && !r->user_agent && r->n_headers == 0 && r->timeout == 0 &&
           r->follow < 0 && !r->cookies && !r->render &&
           (!r->method || strcmp(r->method, "GET") == 0);
}

void grammar_print_effective(
        struct buf *out, const char *name, const struct grammar_definition *d)
{
    struct grammar_definition all = *d;
    all.given = (1u << GRAMMAR_CLAUSE_COUNT) - 1;
    if (!all.topic)
        all.given &= ~(1u << GRAMMAR_TOPIC);
    if (request_is_plain(&all.request))
        all.given &= ~(1u << GRAMMAR_WITH);
    grammar_print_definition(out, name, &all);
}

void print_head(struct buf *out, const struct grammar_statement *st)
{
    static const char *const verbs[GRAMMAR_VERB_COUNT] = {
            "CREATE", "ALTER", "ENABLE", "DISABLE", "STOP", "SHOW", "DROP", "SUBSCRIPTION"};
    print(out, "%s%s%s %s%s", verbs[st->verb], st->or_replace ? " OR REPLACE" : "",
            st->verb == GRAMMAR_SUBSCRIPTION ? "" : " SENTINEL", st->name,
            st->cascade ? " CASCADE" : "");
}

void grammar_print(struct buf *out, const struct grammar_statement *st)
{
    print_head(out, st);
    for (enum grammar_clause c = 0; st->definition && c < GRAMMAR_CLAUSE_COUNT; c++) {
        if (!grammar_is_given(st->definition, c))
            continue;
        print(out, " ");
        print_clause(out, st->definition, c);
    }
    for (unsigned i = 0; st->subscription && i < subscription_parts(st->subscription); i++) {
        print(out, " ");
        print_part(out, st->subscription, i);
    }
}
