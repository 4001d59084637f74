/* Xyleme's form: SUBSCRIPTION name, then monitoring and continuous queries, refresh
 * statements, references to other subscriptions' queries, and one report.
 *
 *  (1) A monitoring query is called by the element of its template, or by the tag its variable
 *      is bound to.
 *  (2) A query in somebody else's language is kept as text, up to WHEN or TRY.
 */
#include "grammar/grammar_int.h"

enum { QUERY_MAX_BYTES = 64 * 1024, MAX_PARTS = 1000, MAX_ATTRIBUTES = 64, MAX_BINDS = 16 };

static const struct grammar_bind *bind_find(
        const struct grammar_monitoring *m, const char *name)
{
    for (unsigned i = 0; i < m->n_binds; i++)
        if (grammar_name_equal(m->binds[i].variable, name))
            return &m->binds[i];
    return NULL;
}

/* ---- monitoring --------------------------------------------------------------------- */

static bool parse_attribute(struct parser *p, struct grammar_monitoring *m)
{
    struct grammar_attribute a = {0};
    if (m->n_attributes == MAX_ATTRIBUTES) {
        parse_error(p, GRAMMAR_E028, p->tok.pos, "at most %d attributes", MAX_ATTRIBUTES);
        return false;
    }
    if (p->tok.kind != T_NAME)
        return parse_expected(p, GRAMMAR_E010, "an attribute or \"/>\"");
    a.name = arena_strndup(p->life, p->tok.text.ptr, p->tok.text.len);
    parse_advance(p);
    if (!parse_need_symbol(p, '=', "\"=\""))
        return false;
    a.is_text = p->tok.kind == T_STRING;
    if (a.is_text) {
        a.value = string_value(p->life, &p->tok);
    } else if (p->tok.kind == T_NAME) {
        a.value = arena_strndup(p->life, p->tok.text.ptr, p->tok.text.len);
    } else {
        return parse_expected(p, GRAMMAR_E010, "a string, URL, DATE or a variable");
    }
    parse_advance(p);
    *GROW(p->life, m->attributes, m->n_attributes) = a;
    return true;
}

static bool parse_template(struct parser *p, struct grammar_monitoring *m)
{
    if (p->tok.kind != T_NAME)
        return parse_expected(p, GRAMMAR_E010, "the name of an element");
    m->name = m->element = arena_strndup(p->life, p->tok.text.ptr, p->tok.text.len); /* (1) */
    parse_advance(p);
    while (!parse_take_symbol(p, SYM_TAG_END))
        if (!parse_attribute(p, m))
            return false;
    return true;
}

static bool parse_bind(struct parser *p, struct grammar_monitoring *m)
{
    struct grammar_bind b = {.pos = p->tok.pos};
    if (m->n_binds == MAX_BINDS) {
        parse_error(p, GRAMMAR_E028, p->tok.pos, "at most %d variables", MAX_BINDS);
        return false;
    }
    if (!parse_need(p, W_SELF))
        return false;
    b.any_depth = parse_is_symbol(p, SYM_SLASHES);
    if (!b.any_depth && !parse_is_symbol(p, '/'))
        return parse_expected(p, GRAMMAR_E010, "\"/\" or \"//\"");
    parse_advance(p);
    if (p->tok.kind != T_NAME)
        return parse_expected(p, GRAMMAR_E010, "the name of an element");
    b.element = arena_strndup(p->life, p->tok.text.ptr, p->tok.text.len);
    parse_advance(p);
    struct grammar_pos pos = p->tok.pos;
    if (!parse_name(p, "a variable", &b.variable))
        return false;
    if (bind_find(m, b.variable))
        parse_error(p, GRAMMAR_E012, pos, "variable \"%s\" given twice", b.variable);
    *GROW(p->life, m->binds, m->n_binds) = b;
    return true;
}

static bool parse_binds(struct parser *p, struct grammar_monitoring *m)
{
    do {
        if (!parse_bind(p, m))
            return false;
    } while (parse_take_symbol(p, ','));
    return true;
}

/* What SELECT names must be bound by FROM. */
static void check_variables(
        struct parser *p, struct grammar_monitoring *m, struct grammar_pos pos)
{
    if (m->variable) {
        const struct grammar_bind *b = bind_find(m, m->variable);
        if (b)
            m->name = b->element; /* (1) */
        else
            parse_error(p, GRAMMAR_E010, pos, "expected a variable of FROM, found \"%s\"",
                    m->variable);
    }
    for (unsigned i = 0; i < m->n_attributes; i++) {
        const char *value = m->attributes[i].value;
        if (!m->attributes[i].is_text && !grammar_name_equal(value, "URL") &&
                !grammar_name_equal(value, "DATE") && !bind_find(m, value))
            parse_error(p, GRAMMAR_E010, pos,
                    "expected URL, DATE or a variable of FROM, found \"%s\"", value);
    }
}

static bool parse_monitoring(struct parser *p, struct grammar_subscription *s)
{
    struct grammar_monitoring m = {.pos = p->tok.pos};
    parse_advance(p);
    if (!parse_need(p, W_SELECT))
        return false;
    struct grammar_pos selected = p->tok.pos;
    if (parse_take_symbol(p, '<')) {
        if (!parse_template(p, &m))
            return false;
    } else if (!parse_name(p, "\"<\" or a variable", &m.variable)) {
        return false;
    } else {
        m.name = m.variable;
    }
    if (parse_take(p, W_FROM) && !parse_binds(p, &m))
        return false;
    check_variables(p, &m, selected);
    if (!parse_need(p, W_WHERE) || !parse_where(p, &m))
        return false;
    *GROW(p->life, s->monitoring, s->n_monitoring) = m;
    return true;
}

/* ---- the other parts ---------------------------------------------------------------- */

/* (2) Leaves p->tok at WHEN or TRY. */
static bool parse_query(struct parser *p, const char **ret_query)
{
    BUF(text, QUERY_MAX_BYTES);
    lex_rewind(&p->lx, &p->tok);
    struct token t = lex_query(&p->lx, &text);
    uint32_t begin = p->tok.pos.offset;
    parse_note_comments(p, begin, begin + (uint32_t)t.text.len);
    parse_resume(p);
    if (t.kind == T_UNCLOSED) {
        parse_error(p, GRAMMAR_E002, t.pos, "string not closed");
        return false;
    }
    if (text.overflowed) {
        parse_error(
                p, GRAMMAR_E028, t.pos, "a query is at most %d bytes long", QUERY_MAX_BYTES);
        return false;
    }
    *ret_query = text.len ? arena_strndup(p->life, text.data, text.len) : NULL;
    return true;
}

static bool parse_reference(
        struct parser *p, const char **ret_subscription, const char **ret_query)
{
    return parse_name(p, "a subscription and its query, like Team.Person", ret_subscription) &&
           parse_need_symbol(p, '.', "\".\" and the name of a query") &&
           parse_name(p, "the name of a query", ret_query);
}

static bool parse_continuous(struct parser *p, struct grammar_subscription *s)
{
    struct grammar_continuous c = {.pos = p->tok.pos};
    parse_advance(p);
    c.delta = parse_take(p, W_DELTA);
    if (!parse_name(p, "a name for the query", &c.name) || !parse_query(p, &c.query))
        return false;
    if (!c.query)
        return parse_expected(p, GRAMMAR_E010, "a query");
    if (!parse_take(p, W_WHEN) && !parse_take(p, W_TRY))
        return parse_expected(p, GRAMMAR_E010, "WHEN or TRY behind the query");
    bool is_reference = p->tok.kind == T_NAME && p->lx.text[p->lx.at.offset] == '.';
    if (is_reference ? !parse_reference(p, &c.when_subscription, &c.when_query)
                     : !parse_freq(p, &c.freq))
        return false;
    *GROW(p->life, s->continuous, s->n_continuous) = c;
    return true;
}

static bool parse_refresh(struct parser *p, struct grammar_subscription *s)
{
    struct grammar_refresh r = {.pos = p->tok.pos};
    parse_advance(p);
    if (!parse_url(p, &r.url) || !parse_freq(p, &r.freq))
        return false;
    *GROW(p->life, s->refresh, s->n_refresh) = r;
    return true;
}

static bool parse_virtual(struct parser *p, struct grammar_subscription *s)
{
    struct grammar_virtual v = {.pos = p->tok.pos};
    parse_advance(p);
    if (!parse_reference(p, &v.subscription, &v.query))
        return false;
    *GROW(p->life, s->virtuals, s->n_virtuals) = v;
    return true;
}

static bool parse_report_part(struct parser *p, struct grammar_subscription *s)
{
    struct grammar_pos pos = p->tok.pos;
    const char *query;
    if (s->report)
        parse_error(p, GRAMMAR_E012, pos, "clause REPORT given twice");
    s->report = arena_new_of(p->life, struct grammar_report);
    s->report->pos = pos;
    parse_advance(p);
    if (!parse_query(p, &query))
        return false;
    s->report->query = query;
    return parse_report(p, s);
}

static bool parse_part(struct parser *p, struct grammar_subscription *s)
{
    if (s->n_monitoring + s->n_continuous + s->n_refresh + s->n_virtuals >= MAX_PARTS) {
        parse_error(
                p, GRAMMAR_E028, p->tok.pos, "a subscription has at most %d parts", MAX_PARTS);
        return false;
    }
    if (parse_is(p, W_MONITORING))
        return parse_monitoring(p, s);
    if (parse_is(p, W_CONTINUOUS))
        return parse_continuous(p, s);
    if (parse_is(p, W_REFRESH))
        return parse_refresh(p, s);
    if (parse_is(p, W_VIRTUAL))
        return parse_virtual(p, s);
    return parse_report_part(p, s);
}

bool parse_subscription(struct parser *p)
{
    struct grammar_subscription *s = arena_new_of(p->life, struct grammar_subscription);
    p->st->subscription = s;
    p->st->name_pos = p->tok.pos;
    if (!parse_name(p, "a name for the subscription", &p->st->name))
        return false;
    if (parse_at_end(p))
        return parse_expected(
                p, GRAMMAR_E010, "MONITORING, CONTINUOUS, REFRESH, VIRTUAL or REPORT");
    while (!parse_at_end(p)) {
        struct grammar_pos before = p->tok.pos;
        if (p->tok.kind == T_NAME && word_flags(p->tok.word) & PART) {
            if (!parse_part(p, s))
                parse_recover(p, PART);
        } else {
            parse_stray(p, PART);
            if (p->tok.pos.offset == before.offset)
                return true; /* another statement begins */
        }
    }
    return true;
}
