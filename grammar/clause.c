/* The clauses of the WebVigiL form.
 *
 *  (1) In any order, each at most once; TO and FOR count as one.
 */
#include "grammar/grammar_int.h"

enum { MAX_PAGES = 64, MAX_HISTORY = 100000, MAX_PRIORITY = 1000000, MAX_WINDOW = 10000 };

static const enum word clause_words[GRAMMAR_CLAUSE_COUNT] = {
#define CLAUSE_ROW(id, word, text) [GRAMMAR_##id] = W_##word,
#include "grammar/clauses.def"
#undef CLAUSE_ROW
};

const char *clause_text(enum grammar_clause c)
{
    return word_text(clause_words[c]);
}

bool clause_begin(struct parser *p, struct grammar_definition *d, enum grammar_clause c,
        const char *shown)
{
    bool again = grammar_is_given(d, c);
    if (again)
        parse_error(p, GRAMMAR_E012, p->tok.pos, "clause %s given twice%s", shown,
                c == GRAMMAR_TO ? " (TO and FOR count as one)" : "");
    else
        d->clause_pos[c] = p->tok.pos;
    d->given |= 1u << c;
    return !again; /* (1) */
}

/* ---- USING -------------------------------------------------------------------------- */

static bool parse_page(struct parser *p, struct grammar_page *page)
{
    page->pos = p->tok.pos;
    lex_rewind(&p->lx, &p->tok);
    struct token bare = lex_bare(&p->lx);
    bool is_name = p->tok.kind == T_NAME && bare.text.len == p->tok.text.len;
    lex_rewind(&p->lx, &p->tok);
    lex_next(&p->lx, &p->tok);
    if (is_name) {
        if (!parse_name(p, "a URL or the name of a sentinel", &page->sentinel))
            return false;
    } else if (!parse_url(p, &page->url)) {
        return false;
    }
    return !parse_take(p, W_AS) || parse_name(p, "a name for the page", &page->alias);
}

bool parse_pages(struct parser *p, struct grammar_definition *d)
{
    do {
        if (d->n_pages == MAX_PAGES) {
            parse_error(p, GRAMMAR_E028, p->tok.pos, "a sentinel watches at most %d pages",
                    MAX_PAGES);
            return false;
        }
        if (p->tok.kind == T_NAME && word_flags(p->tok.word) & CLAUSE)
            return parse_expected(p, GRAMMAR_E010, "a URL or the name of a sentinel");
        struct grammar_page page = {0};
        if (!parse_page(p, &page))
            return false;
        *GROW(p->life, d->pages, d->n_pages) = page;
    } while (parse_take_symbol(p, ','));
    return true;
}

/* ---- FETCH, COMPARE, PRESENTATION and the numbers ----------------------------------- */

static bool parse_on_change(struct parser *p)
{
    if (parse_take(p, W_ONCHANGE) || parse_take(p, W_ON_CHANGE))
        return true;
    return parse_take(p, W_BEST) ? parse_need(p, W_EFFORT) : parse_need(p, W_CHANGE);
}

static bool parse_fetch(struct parser *p, struct grammar_definition *d)
{
    d->fetch_every = 0;
    if (parse_take(p, W_ON) || parse_is(p, W_ONCHANGE) || parse_is(p, W_ON_CHANGE) ||
            parse_is(p, W_BEST))
        return parse_on_change(p);
    bool every = parse_take(p, W_EVERY);
    bool number =
            p->tok.kind == T_NUMBER || p->tok.kind == T_DECIMAL || parse_is_symbol(p, '-');
    if (every || number || (p->tok.kind == T_NAME && (*p->tok.text.ptr | 0x20) == 'p'))
        return parse_duration(p, &d->fetch_every);
    static const char *const choices[] = {"EVERY", "ON CHANGE", "ON", "BEST EFFORT"};
    struct token found = p->tok;
    parse_expected(p, GRAMMAR_E010, "ON CHANGE or EVERY and a duration");
    if (found.kind == T_NAME)
        report_nearest(p->script, p->said, word_nearest(found.text, choices, countof(choices)));
    return false;
}

static bool parse_compare(struct parser *p, struct grammar_definition *d)
{
    static const char *const choices[] = {"PAIRWISE", "MOVING", "EVERY"};
    struct grammar_compare *c = &d->compare;
    *c = (struct grammar_compare){GRAMMAR_PAIRWISE, 2};
    if (parse_take(p, W_PAIRWISE) || parse_take(p, W_PAIR_WISE))
        return true;
    if (!parse_is(p, W_MOVING) && !parse_is(p, W_EVERY)) {
        struct token found = p->tok;
        parse_expected(p, GRAMMAR_E055, "PAIRWISE, MOVING:n or EVERY:n");
        report_nearest(p->script, p->said,
                found.kind == T_NAME ? word_nearest(found.text, choices, 3) : NULL);
        return false;
    }
    c->kind = parse_is(p, W_MOVING) ? GRAMMAR_MOVING : GRAMMAR_EVERY;
    parse_advance(p);
    (void)parse_take_symbol(p, ':'); /* optional */
    struct grammar_pos pos = p->tok.pos;
    int64_t n;
    if (p->tok.kind != T_NUMBER)
        return parse_expected(p, GRAMMAR_E056, "a number of versions, at least 2");
    if (str_to_int(p->tok.text, &n) && n < 2) {
        parse_error(p, GRAMMAR_E056, pos, "n of at least 2 is needed");
        parse_advance(p);
        return true;
    }
    if (!parse_number(p, "a number of versions", 2, MAX_WINDOW, &n))
        return false;
    c->n = (unsigned)n;
    return true;
}

static bool parse_presentation(struct parser *p, struct grammar_definition *d)
{
    static const char *const choices[] = {
            "DUAL FRAME", "ONLY CHANGE", "MERGED", "DUAL", "ONLY"};
    if (parse_take(p, W_DUAL)) {
        d->presentation = GRAMMAR_DUAL_FRAME;
        return parse_need(p, W_FRAME);
    }
    if (parse_take(p, W_ONLY)) {
        d->presentation = GRAMMAR_ONLY_CHANGE;
        return parse_need(p, W_CHANGE);
    }
    if (parse_take(p, W_MERGED)) {
        d->presentation = GRAMMAR_MERGED;
        return true;
    }
    struct token found = p->tok;
    if (found.kind != T_NAME)
        return parse_expected(p, GRAMMAR_E057, "DUAL FRAME, ONLY CHANGE or MERGED");
    parse_error(p, GRAMMAR_E057, found.pos, "unknown presentation %s",
            token_shown(p->life, &found));
    report_nearest(p->script, p->said, word_nearest(found.text, choices, countof(choices)));
    report_hint(p->script, p->said, "There are DUAL FRAME, ONLY CHANGE and MERGED.");
    return false;
}

static bool parse_count(struct parser *p, const char *what, int64_t max, unsigned *ret)
{
    int64_t n;
    if (!parse_number(p, what, 1, max, &n))
        return false;
    *ret = (unsigned)n;
    return true;
}

bool parse_topic(struct parser *p, struct grammar_definition *d)
{
    struct grammar_pos pos = p->tok.pos;
    if (!parse_string(p, "a topic, as a string", &d->topic))
        return false;
    if (!*d->topic)
        parse_error(p, GRAMMAR_E051, pos, "an empty topic");
    else if (strpbrk(d->topic, "\r\n"))
        parse_error(
                p, GRAMMAR_E019, pos, "a topic is one line: it goes into the subject of mails");
    return true;
}

static bool parse_to(struct parser *p, struct grammar_definition *d)
{
    if (!parse_is(p, W_NEVER))
        return parse_time(p, &d->to);
    d->to = (struct grammar_time){
            .kind = GRAMMAR_TIME_NEVER, .pos = p->tok.pos, .at = MSEC_NEVER};
    parse_advance(p);
    return true;
}

static bool parse_for(struct parser *p, struct grammar_definition *d)
{
    d->to = (struct grammar_time){
            .kind = GRAMMAR_TIME_FOR, .pos = p->tok.pos, .at = MSEC_NEVER};
    return parse_duration(p, &d->to.offset);
}

static bool read_clause(
        struct parser *p, struct grammar_definition *d, enum grammar_clause c, enum word w)
{
    switch (c) {
    case GRAMMAR_USING:
        return parse_pages(p, d);
    case GRAMMAR_MONITOR:
        return parse_change(p, &d->monitor);
    case GRAMMAR_FETCH:
        return parse_fetch(p, d);
    case GRAMMAR_FROM:
        return parse_time(p, &d->from);
    case GRAMMAR_TO:
        return w == W_FOR ? parse_for(p, d) : parse_to(p, d);
    case GRAMMAR_NOTIFY:
        return parse_need(p, W_BY) && parse_methods(p, &d->notify);
    case GRAMMAR_COMPARE:
        return parse_compare(p, d);
    case GRAMMAR_CHANGEHISTORY:
        return parse_count(p, "a number of versions", MAX_HISTORY, &d->changehistory);
    case GRAMMAR_PRESENTATION:
        return parse_presentation(p, d);
    case GRAMMAR_WITHIN:
        return parse_duration(p, &d->within);
    case GRAMMAR_PRIORITY:
        return parse_count(p, "a priority", MAX_PRIORITY, &d->priority);
    case GRAMMAR_TOPIC:
        return parse_topic(p, d);
    case GRAMMAR_WITH:
        return parse_request(p, &d->request);
    case GRAMMAR_CLAUSE_COUNT:
        break;
    }
    return false;
}

bool parse_clause(struct parser *p, struct grammar_definition *d)
{
    enum word w = p->tok.word;
    enum grammar_clause c = GRAMMAR_TO;
    size_t errors = p->script->n_errors;
    if (w != W_FOR)
        for (c = 0; c < GRAMMAR_CLAUSE_COUNT && clause_words[c] != w;)
            c++;
    CHECK(c < GRAMMAR_CLAUSE_COUNT);
    (void)clause_begin(p, d, c, word_text(w)); /* told; read it all the same */
    parse_advance(p);
    bool ok = read_clause(p, d, c, w);
    if (p->script->n_errors > errors)
        d->broken |= 1u << c;
    return ok;
}
