/* Statements, and how reading goes on after an error.
 *
 * A hand-written descent, because the messages are the product: it knows at each place what
 * was expected there, in the user's words.
 *  (1) All errors that do not follow from each other are told in one run: after one, reading
 *      goes on at the next clause, or at the next statement.
 *  (2) A statement with errors stays in the list, so that others may refer to its name
 *      without being told that it does not exist.
 *  (3) Every loop takes a token or ends.
 */
#include "grammar/grammar_int.h"

void parse_note_comments(struct parser *p, uint32_t from, uint32_t to)
{
    struct grammar_inner *in = p->script->inner;
    if (!in->keep_comments)
        return;
    struct lexer lx = p->lx;
    struct token t;
    for (lx.at.offset = from; lx.at.offset < to;) {
        const char *here = lx.text + lx.at.offset;
        size_t n = lex_comment(here, to - lx.at.offset, lx.at.offset ? here[-1] : ' ');
        if (n > 0) {
            *GROW(p->life, in->comments, in->n_comments) =
                    (struct comment){lx.at.offset, (uint32_t)n};
            lx.at.offset += (uint32_t)n;
        } else if (strchr(" \t\r\n\v\f", *here)) {
            lx.at.offset++;
        } else {
            lex_next(&lx, &t); /* a query has words and strings */
        }
    }
}

static void next_token(struct parser *p)
{
    lex_next(&p->lx, &p->tok);
    parse_note_comments(p, p->consumed, p->tok.pos.offset);
}

void parse_advance(struct parser *p)
{
    p->consumed = p->tok.pos.offset + (uint32_t)p->tok.text.len;
    p->behind = p->lx.at;
    next_token(p);
}

void parse_resume(struct parser *p)
{
    p->behind = p->lx.at;
    p->consumed = p->behind.offset;
    next_token(p);
}

bool parse_is(const struct parser *p, enum word w)
{
    return p->tok.kind == T_NAME && p->tok.word == w;
}

bool parse_is_symbol(const struct parser *p, int symbol)
{
    return p->tok.kind == T_SYMBOL && p->tok.symbol == symbol;
}

bool parse_take(struct parser *p, enum word w)
{
    if (!parse_is(p, w))
        return false;
    parse_advance(p);
    return true;
}

bool parse_take_symbol(struct parser *p, int symbol)
{
    if (!parse_is_symbol(p, symbol))
        return false;
    parse_advance(p);
    return true;
}

struct token parse_peek(const struct parser *p)
{
    struct lexer lx = p->lx;
    struct token t;
    lex_next(&lx, &t);
    return t;
}

bool parse_at_end(const struct parser *p)
{
    return p->tok.kind == T_END || parse_is_symbol(p, ';');
}

/* ---- errors ------------------------------------------------------------------------- */

const char *token_shown(struct arena *life, const struct token *tok)
{
    enum { MAX_SHOWN = 40 };
    if (tok->kind == T_END)
        return "the end";
    size_t n = tok->text.len;
    if (n <= MAX_SHOWN)
        return arena_printf(life, "\"%.*s\"", (int)n, tok->text.ptr);
    for (n = MAX_SHOWN; n > 0 && ((unsigned char)tok->text.ptr[n] & 0xc0) == 0x80;)
        n--;
    return arena_printf(life, "\"%.*s...\"", (int)n, tok->text.ptr);
}

struct grammar_diagnostic *parse_error(
        struct parser *p, enum grammar_code code, struct grammar_pos pos, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *message = arena_vprintf(p->life, fmt, ap);
    va_end(ap);
    p->st->has_errors = true;
    p->said = report(p->script, code, pos, "%s", message);
    return p->said;
}

bool parse_expected(struct parser *p, enum grammar_code code, const char *what)
{
    const char *shown = token_shown(p->life, &p->tok);
    /* What is missing at the end is missing behind the last word, not below it. */
    bool at_end = p->tok.kind == T_END && p->behind.line;
    if (p->tok.kind == T_UNCLOSED)
        parse_error(p, GRAMMAR_E002, p->tok.pos, "string not closed");
    else if (p->tok.kind == T_BAD)
        parse_error(p, GRAMMAR_E001, p->tok.pos, "unexpected character %s", shown);
    else
        parse_error(
                p, code, at_end ? p->behind : p->tok.pos, "expected %s, found %s", what, shown);
    return false;
}

static bool begins_statement(const struct parser *p)
{
    if (p->tok.kind != T_NAME || !(word_flags(p->tok.word) & VERB))
        return false;
    struct token next = parse_peek(p);
    return next.kind == T_NAME && (p->tok.word == W_SUBSCRIPTION || next.word == W_SENTINEL ||
                                          (p->tok.word == W_CREATE && next.word == W_OR));
}

void parse_recover(struct parser *p, unsigned flags)
{
    while (!parse_at_end(p) && !(p->tok.kind == T_NAME && word_flags(p->tok.word) & flags) &&
            !begins_statement(p))
        parse_advance(p);
}

void parse_stray(struct parser *p, unsigned flags)
{
    if (p->st->has_errors && begins_statement(p))
        return; /* the semicolon was lost in an error before */
    const char *nearest =
            p->tok.kind == T_NAME ? word_nearest_flagged(p->tok.text, flags) : NULL;
    struct grammar_diagnostic *d;
    if (p->tok.kind == T_BAD || p->tok.kind == T_UNCLOSED) {
        parse_expected(p, GRAMMAR_E001, "a clause");
    } else if (nearest) {
        d = parse_error(p, GRAMMAR_E010, p->tok.pos, "expected a clause, found %s",
                token_shown(p->life, &p->tok));
        report_nearest(p->script, d, nearest);
    } else {
        d = parse_error(p, GRAMMAR_E013, p->tok.pos, "text after the end of the statement: %s",
                token_shown(p->life, &p->tok));
        if (begins_statement(p)) {
            report_hint(p->script, d, "Put a semicolon between two statements.");
            return; /* the statement loop goes on here */
        }
    }
    parse_advance(p); /* (3) */
    parse_recover(p, flags);
}

bool parse_need(struct parser *p, enum word w)
{
    if (parse_take(p, w))
        return true;
    const char *text = word_text(w);
    struct token found = p->tok;
    parse_expected(p, GRAMMAR_E010, text);
    if (found.kind != T_NAME || !word_nearest(found.text, &text, 1))
        return false;
    report_nearest(p->script, p->said, text);
    parse_advance(p); /* (1): surely meant */
    return true;
}

bool parse_need_symbol(struct parser *p, int symbol, const char *what)
{
    return parse_take_symbol(p, symbol) || parse_expected(p, GRAMMAR_E010, what);
}

/* ---- small things ------------------------------------------------------------------- */

void *grow(struct arena *life, void *array, unsigned n, size_t each)
{
    if (n & (n - 1))
        return array; /* n is no power of two: there is room */
    void *bigger = arena_zalloc(life, arena_array_bytes(n ? 2 * (size_t)n : 1, each));
    if (n)
        memcpy(bigger, array, n * each);
    return bigger;
}

bool parse_name(struct parser *p, const char *what, const char **ret_name)
{
    if (p->tok.kind != T_NAME) {
        bool at_end = parse_at_end(p);
        parse_expected(p, GRAMMAR_E010, what);
        if (!at_end)
            report_hint(p->script, p->said,
                    "A name begins with a letter or _ and goes on with these, digits and -.");
        return false;
    }
    if (word_flags(p->tok.word) & RESERVED) {
        parse_error(p, GRAMMAR_E011, p->tok.pos, "%s is reserved and cannot be a name",
                token_shown(p->life, &p->tok));
    } else if (p->tok.text.len > NAME_MAX_BYTES) {
        parse_error(p, GRAMMAR_E017, p->tok.pos, "a name longer than %d bytes", NAME_MAX_BYTES);
    }
    *ret_name = arena_strndup(p->life, p->tok.text.ptr, p->tok.text.len);
    parse_advance(p);
    return true;
}

char *string_value(struct arena *life, const struct token *tok)
{
    const char *from = tok->text.ptr;
    size_t quote = *from == '\'' || *from == '"' ? 1 : 3, len = tok->text.len - 2 * quote;
    char *value = arena_strndup(life, from + quote, len), *to = value;
    if (quote == 1) {
        for (size_t i = 0; i < len; i++) {
            *to++ = value[i];
            i += value[i] == *from; /* the quote stands there twice */
        }
        *to = 0;
    }
    return value;
}

bool parse_string(struct parser *p, const char *what, const char **ret_text)
{
    if (p->tok.kind != T_STRING)
        return parse_expected(p, GRAMMAR_E010, what);
    *ret_text = string_value(p->life, &p->tok);
    parse_advance(p);
    return true;
}

bool parse_number(struct parser *p, const char *what, int64_t min, int64_t max, int64_t *ret)
{
    if (p->tok.kind != T_NUMBER)
        return parse_expected(p, GRAMMAR_E010, what);
    if (!str_to_int(p->tok.text, ret) || *ret < min || *ret > max) {
        parse_error(p, GRAMMAR_E028, p->tok.pos, "%s lies between %jd and %jd", what,
                (intmax_t)min, (intmax_t)max);
        *ret = min;
    }
    parse_advance(p);
    return true;
}

bool parse_url(struct parser *p, const char **ret_url)
{
    struct token t = p->tok;
    if (t.kind == T_END || t.kind == T_UNCLOSED || parse_is_symbol(p, ';'))
        return parse_expected(p, GRAMMAR_E010, "a URL");
    const char *url;
    if (t.kind == T_STRING) {
        url = string_value(p->life, &t);
        parse_advance(p);
    } else {
        lex_rewind(&p->lx, &t);
        t = lex_bare(&p->lx);
        if (t.text.len == 0)
            return lex_next(&p->lx, &p->tok), parse_expected(p, GRAMMAR_E010, "a URL");
        url = arena_strndup(p->life, t.text.ptr, t.text.len);
        parse_resume(p);
    }
    if (url_complete(p->life, url, ret_url))
        return true;
    struct grammar_diagnostic *d =
            parse_error(p, GRAMMAR_E045, t.pos, "not a URL: %s", token_shown(p->life, &t));
    report_hint(p->script, d, "Write an address like https://example.org/page.");
    *ret_url = url;
    return true; /* the clause can go on */
}

/* ---- statements --------------------------------------------------------------------- */

void definition_init(struct grammar_definition *d)
{
    *d = (struct grammar_definition){0};
    d->request.follow = -1;
    d->compare.n = 2;
}

static void parse_clauses(struct parser *p, struct grammar_definition *d)
{
    while (!parse_at_end(p)) {
        if (p->tok.kind == T_NAME && word_flags(p->tok.word) & CLAUSE) {
            if (!parse_clause(p, d))
                parse_recover(p, CLAUSE);
        } else {
            parse_stray(p, CLAUSE);
            if (begins_statement(p))
                return;
        }
    }
}

/* Something must be watched: by MONITOR, or by inheriting it from the one sentinel USING
 * names. */
static void need_monitor(struct parser *p, const struct grammar_definition *d)
{
    bool inherits = d->n_pages == 1 && d->pages[0].sentinel;
    if (grammar_is_given(d, GRAMMAR_MONITOR) || inherits || d->n_pages == 0)
        return;
    struct grammar_diagnostic *e = parse_error(p, GRAMMAR_E014, p->st->name_pos,
            "clause MONITOR is missing in \"%s\"", p->st->name);
    report_hint(p->script, e, "Say what to look for, for instance MONITOR any change.");
}

static bool parse_create(struct parser *p)
{
    struct grammar_definition *d = arena_new_of(p->life, struct grammar_definition);
    definition_init(d);
    p->st->definition = d;
    if (parse_take(p, W_OR)) {
        if (!parse_need(p, W_REPLACE))
            return false;
        p->st->or_replace = true;
    }
    if (!parse_need(p, W_SENTINEL))
        return false;
    p->st->name_pos = p->tok.pos;
    if (!parse_name(p, "a name for the sentinel", &p->st->name))
        return false;
    if (parse_take(p, W_AS))
        return parse_webcq(p, d);
    if (!parse_is(p, W_USING))
        parse_expected(p, GRAMMAR_E010, "USING or AS");
    parse_clauses(p, d);
    need_monitor(p, d);
    return true;
}

static bool parse_alter(struct parser *p)
{
    struct grammar_definition *d = arena_new_of(p->life, struct grammar_definition);
    definition_init(d);
    p->st->definition = d;
    if (!parse_need(p, W_SENTINEL))
        return false;
    p->st->name_pos = p->tok.pos;
    if (!parse_name(p, "the name of a sentinel", &p->st->name))
        return false;
    if (parse_at_end(p))
        return parse_expected(p, GRAMMAR_E010, "a clause to change");
    if (parse_is(p, W_USING)) {
        struct grammar_diagnostic *e =
                parse_error(p, GRAMMAR_E010, p->tok.pos, "expected a clause other than USING");
        report_hint(p->script, e, "Pages cannot be altered: use CREATE OR REPLACE SENTINEL.");
    }
    parse_clauses(p, d);
    return true;
}

static bool parse_manage(struct parser *p)
{
    if (!parse_need(p, W_SENTINEL))
        return false;
    p->st->name_pos = p->tok.pos;
    if (!parse_name(p, "the name of a sentinel", &p->st->name))
        return false;
    if (p->st->verb == GRAMMAR_DROP)
        p->st->cascade = parse_take(p, W_CASCADE);
    if (!parse_at_end(p))
        parse_stray(p, 0);
    return true;
}

static const struct {
    enum word word;
    bool (*parse)(struct parser *p);
} verbs[GRAMMAR_VERB_COUNT] = {
        [GRAMMAR_CREATE] = {W_CREATE, parse_create},
        [GRAMMAR_ALTER] = {W_ALTER, parse_alter},
        [GRAMMAR_ENABLE] = {W_ENABLE, parse_manage},
        [GRAMMAR_DISABLE] = {W_DISABLE, parse_manage},
        [GRAMMAR_STOP] = {W_STOP, parse_manage},
        [GRAMMAR_SHOW] = {W_SHOW, parse_manage},
        [GRAMMAR_DROP] = {W_DROP, parse_manage},
        [GRAMMAR_SUBSCRIPTION] = {W_SUBSCRIPTION, parse_subscription},
};

static void parse_statement(struct parser *p)
{
    struct grammar_statement *st = arena_new_of(p->life, struct grammar_statement);
    st->pos = st->name_pos = p->tok.pos;
    p->st = st;
    while (st->verb < GRAMMAR_VERB_COUNT && !parse_is(p, verbs[st->verb].word))
        st->verb++;

    if (st->verb == GRAMMAR_VERB_COUNT) {
        struct token found = p->tok;
        parse_expected(p, GRAMMAR_E010, "a statement");
        if (found.kind == T_NAME)
            report_nearest(p->script, p->said, word_nearest_flagged(found.text, VERB));
        report_hint(p->script, p->said,
                "A statement begins with CREATE, ALTER, ENABLE, DISABLE, STOP, DROP, SHOW or "
                "SUBSCRIPTION.");
        parse_recover(p, 0);
    } else {
        parse_advance(p);
        if (!verbs[st->verb].parse(p))
            parse_recover(p, 0);
    }
    if (parse_is_symbol(p, ';'))
        parse_advance(p);
    st->end = p->consumed;
    if (st->name) { /* (2) */
        *p->script->inner->last_statement = st;
        p->script->inner->last_statement = &st->next;
        p->script->n_statements++;
    }
}

/* ---- scripts ------------------------------------------------------------------------ */

/* Reports bytes that are no text and replaces them, so that the rest can be read (1). */
static void repair_text(struct grammar_script *s, struct lexer *lx, char *text)
{
    enum { MAX_REPORTS = 20 };
    unsigned reports = 0;
    size_t plain = 0;
    while (plain < s->len && text[plain] > 0)
        plain++;
    if (utf8_is_valid(text + plain, s->len - plain) && !memchr(text, 0, s->len))
        return;
    struct lexer at;
    lex_init(&at, text, s->len);
    lx->repaired = true;
    while (at.at.offset < s->len) {
        char *here = text + at.at.offset;
        size_t n = utf8_length(here, s->len - at.at.offset);
        if (n == 0 || *here == 0) {
            if (++reports <= MAX_REPORTS)
                report(s, GRAMMAR_E001, at.at, "unexpected character: byte 0x%02x %s",
                        (unsigned char)*here, *here ? "is not UTF-8" : "cannot be in a text");
            else
                s->n_errors++;
            *here = REPAIRED_BYTE;
            n = 1;
        }
        lex_advance(&at, n);
    }
}

struct grammar_script *script_new(
        struct arena *life, const char *file, const char *text, size_t len)
{
    struct grammar_script *s = arena_new_of(life, struct grammar_script);
    s->life = life;
    s->file = file;
    s->text = arena_strndup(life, text, len);
    s->len = len;
    s->inner = arena_new_of(life, struct grammar_inner);
    s->inner->last_statement = &s->statements;
    return s;
}

static void parser_init(struct parser *p, struct grammar_script *s)
{
    *p = (struct parser){.script = s, .life = s->life};
    lex_init(&p->lx, s->text, s->len);
    repair_text(s, &p->lx, (char *)s->text);
    p->behind = p->lx.at;
    p->consumed = p->behind.offset;
    next_token(p);
}

enum err script_parse(struct grammar_script *s)
{
    struct parser p;
    parser_init(&p, s);
    while (p.tok.kind != T_END) {
        if (parse_is_symbol(&p, ';'))
            parse_advance(&p);
        else
            parse_statement(&p);
    }
    report_sort(s);
    return s->n_errors ? ERR_SYNTAX : OK;
}

enum err grammar_parse(struct arena *life, const char *file, const char *text, size_t len,
        struct grammar_script **ret_script)
{
    if (len >= UINT32_MAX) {
        struct grammar_script *s = script_new(life, file, "", 0);
        struct grammar_pos start = {1, 1, 0};
        report(s, GRAMMAR_E003, start, "a file of definitions is limited to 4 GB");
        *ret_script = s;
        return ERR_LIMIT;
    }
    *ret_script = script_new(life, file, text, len);
    return script_parse(*ret_script);
}

static enum err first_error(const struct grammar_script *s, struct fault *f)
{
    const struct grammar_diagnostic *d = s->diagnostics;
    enum err e = fault_set(f, ERR_SYNTAX, "%s: %s", grammar_code_name(d->code), d->message);
    if (f) {
        f->line = (int)d->pos.line;
        f->column = (int)d->pos.column;
    }
    if (d->hint)
        fault_hint(f, "%s", d->hint);
    return e;
}

enum err grammar_parse_change(struct arena *life, const char *text, struct fault *f,
        struct grammar_change **ret_change)
{
    struct parser p;
    parser_init(&p, script_new(life, "expression", text, strlen(text)));
    p.st = arena_new_of(life, struct grammar_statement);
    struct grammar_change *change = NULL;
    if (parse_change(&p, &change) && p.tok.kind != T_END)
        parse_expected(&p, GRAMMAR_E013, "the end of the expression");
    if (p.script->n_errors)
        return first_error(p.script, f);
    *ret_change = change;
    return OK;
}
