/* WHERE: the conditions of a monitoring query, all of which must hold.
 *
 *  (1) A conjunction: OR is refused, since alerts are found by sets of events.
 *  (2) At least one condition must be strong.  That a document is new, was updated or did not
 *      change is weak: it would raise an alert for every page there is.
 */
#include "grammar/grammar_int.h"

enum { MAX_CONDITIONS = 64 };

static bool parse_equals_text(
        struct parser *p, struct grammar_cond *c, enum grammar_cond_kind kind)
{
    c->kind = kind;
    parse_advance(p);
    return parse_need_symbol(p, '=', "\"=\"") && parse_string(p, "a string", &c->text);
}

static bool parse_equals_number(
        struct parser *p, struct grammar_cond *c, enum grammar_cond_kind kind)
{
    c->kind = kind;
    parse_advance(p);
    return parse_need_symbol(p, '=', "\"=\"") &&
           parse_number(p, "an identifier", 0, INT64_MAX, &c->number);
}

static bool parse_url_cond(struct parser *p, struct grammar_cond *c)
{
    parse_advance(p);
    if (parse_take(p, W_EXTENDS)) {
        struct grammar_pos pos = p->tok.pos;
        c->kind = GRAMMAR_URL_EXTENDS;
        if (!parse_string(p, "the beginning of a URL, as a string", &c->text))
            return false;
        if (!*c->text)
            parse_error(p, GRAMMAR_E045, pos, "not the beginning of a URL");
        return true;
    }
    c->kind = GRAMMAR_URL_IS;
    if (!parse_need_symbol(p, '=', "EXTENDS or \"=\""))
        return false;
    if (p->tok.kind != T_STRING)
        return parse_expected(p, GRAMMAR_E010, "a URL, as a string");
    return parse_url(p, &c->text);
}

static bool parse_date_cond(
        struct parser *p, struct grammar_cond *c, enum grammar_cond_kind kind)
{
    static const struct {
        int symbol;
        enum grammar_cmp cmp;
    } symbols[] = {{'<', GRAMMAR_LT}, {SYM_LE, GRAMMAR_LE}, {'=', GRAMMAR_EQ},
            {SYM_GE, GRAMMAR_GE}, {'>', GRAMMAR_GT}};
    c->kind = kind;
    parse_advance(p);
    for (size_t i = 0; i < countof(symbols); i++) {
        if (!parse_take_symbol(p, symbols[i].symbol))
            continue;
        c->cmp = symbols[i].cmp;
        return parse_date(p, &c->when);
    }
    return parse_expected(p, GRAMMAR_E010, "<, <=, =, >= or >");
}

static bool parse_self(struct parser *p, struct grammar_cond *c)
{
    c->kind = GRAMMAR_SELF_CONTAINS;
    parse_advance(p);
    return parse_need(p, W_CONTAINS) && parse_string(p, "a string", &c->text);
}

/* [status] tag-or-variable [[strict] contains text], or status SELF. */
static bool parse_element(
        struct parser *p, struct grammar_monitoring *m, struct grammar_cond *c)
{
    static const struct {
        enum word word;
        enum grammar_status status;
    } statuses[] = {{W_NEW, GRAMMAR_NEW}, {W_UPDATED, GRAMMAR_UPDATED},
            {W_MODIFIED, GRAMMAR_UPDATED}, {W_DELETED, GRAMMAR_DELETED},
            {W_UNCHANGED, GRAMMAR_UNCHANGED}};
    struct token next = parse_peek(p);
    bool names_follow = next.kind == T_NAME && next.word != W_AND && next.word != W_OR &&
                        next.word != W_CONTAINS && next.word != W_STRICT &&
                        !(word_flags(next.word) & (PART | VERB));
    for (size_t i = 0; names_follow && i < countof(statuses); i++) {
        if (parse_take(p, statuses[i].word)) {
            c->status = statuses[i].status;
            break;
        }
    }
    if (c->status != GRAMMAR_EXISTS && parse_take(p, W_SELF)) {
        c->kind = GRAMMAR_SELF_STATUS;
        return true;
    }
    c->kind = GRAMMAR_ELEMENT_IS;
    c->variable = -1;
    if (p->tok.kind != T_NAME || word_flags(p->tok.word) & RESERVED)
        return parse_expected(p, GRAMMAR_E010, "a condition");
    c->element = arena_strndup(p->life, p->tok.text.ptr, p->tok.text.len);
    parse_advance(p);
    for (unsigned i = 0; i < m->n_binds; i++)
        if (grammar_name_equal(m->binds[i].variable, c->element))
            c->variable = (int)i;
    c->strict = parse_take(p, W_STRICT);
    if (!c->strict && !parse_is(p, W_CONTAINS))
        return true;
    return parse_need(p, W_CONTAINS) && parse_string(p, "a string", &c->text);
}

static bool parse_cond(struct parser *p, struct grammar_monitoring *m, struct grammar_cond *c)
{
    c->pos = p->tok.pos;
    c->variable = -1;
    if (p->tok.kind != T_NAME)
        return parse_expected(p, GRAMMAR_E010, "a condition");
    struct token next = parse_peek(p);
    bool compares =
            next.kind == T_SYMBOL && strchr("<=>", next.symbol < 128 ? next.symbol : '<');
    switch (compares ? p->tok.word : next.word == W_EXTENDS ? W_URL : W_NONE) {
    case W_URL:
        return parse_url_cond(p, c);
    case W_DOCID:
        return parse_equals_number(p, c, GRAMMAR_DOCID_IS);
    case W_DTDID:
        return parse_equals_number(p, c, GRAMMAR_DTDID_IS);
    case W_DTD:
        return parse_equals_text(p, c, GRAMMAR_DTD_IS);
    case W_DOMAIN:
        return parse_equals_text(p, c, GRAMMAR_DOMAIN_IS);
    case W_FILENAME:
        return parse_equals_text(p, c, GRAMMAR_FILENAME_IS);
    case W_LASTACCESSED:
        return parse_date_cond(p, c, GRAMMAR_LAST_ACCESSED);
    case W_LASTUPDATE:
        return parse_date_cond(p, c, GRAMMAR_LAST_UPDATE);
    default:
        return parse_is(p, W_SELF) ? parse_self(p, c) : parse_element(p, m, c);
    }
}

static bool is_strong(const struct grammar_cond *c)
{
    return c->kind != GRAMMAR_SELF_STATUS || c->status == GRAMMAR_DELETED;
}

bool parse_where(struct parser *p, struct grammar_monitoring *m)
{
    struct grammar_pos pos = p->tok.pos;
    bool strong = false;
    do {
        struct grammar_cond c = {0};
        if (m->n_conds == MAX_CONDITIONS) {
            parse_error(p, GRAMMAR_E028, p->tok.pos, "at most %d conditions", MAX_CONDITIONS);
            return false;
        }
        if (!parse_cond(p, m, &c))
            return false;
        strong |= is_strong(&c);
        *GROW(p->life, m->conds, m->n_conds) = c;
    } while (parse_take(p, W_AND));

    if (parse_is(p, W_OR)) { /* (1) */
        parse_error(p, GRAMMAR_E015, p->tok.pos,
                "a WHERE clause is a conjunction; write two monitoring queries");
        return false;
    }
    if (!strong) { /* (2) */
        struct grammar_diagnostic *d = parse_error(
                p, GRAMMAR_E016, pos, "a WHERE clause needs at least one strong condition");
        report_hint(p->script, d, "Add for instance URL EXTENDS 'http://..'.");
    }
    return true;
}
