/* NOTIFY BY: whom to tell, how, and how often. */
#include "grammar/grammar_int.h"
#include <ctype.h>

enum { MAX_METHODS = 32 };

static const char *const method_names[GRAMMAR_METHOD_COUNT] = {
#define METHOD(id, name, takes) [GRAMMAR_##id] = name,
#include "grammar/methods.def"
#undef METHOD
};

const char *grammar_method_name(enum grammar_method_kind kind)
{
    return method_names[kind];
}

/* A mail address, bare or as a string. */
static bool parse_mail(struct parser *p, const char **ret_mail)
{
    struct token t = p->tok;
    if (t.kind == T_STRING) {
        *ret_mail = string_value(p->life, &t);
        parse_advance(p);
    } else {
        lex_rewind(&p->lx, &t);
        t = lex_bare(&p->lx);
        *ret_mail = arena_strndup(p->life, t.text.ptr, t.text.len);
        if (!memchr(t.text.ptr, '@', t.text.len)) {
            lex_rewind(&p->lx, &p->tok);
            lex_next(&p->lx, &p->tok);
            return parse_expected(p, GRAMMAR_E062, "a mail address");
        }
        parse_resume(p);
    }
    if (!mail_is_valid(*ret_mail))
        parse_error(p, GRAMMAR_E062, t.pos, "not a mail address: %s", token_shown(p->life, &t));
    return true;
}

static bool parse_email(struct parser *p, struct grammar_method *m)
{
    m->kind = GRAMMAR_EMAIL;
    if (!parse_take_symbol(p, '('))
        return parse_mail(p, &m->target);
    return parse_mail(p, &m->target) && parse_need_symbol(p, ')', "\")\"");
}

/* Digits, with the marks people put between them. */
static bool number_is_valid(const char *s)
{
    size_t digits = 0;
    for (const char *c = s; *c; c++) {
        if (isdigit((unsigned char)*c))
            digits++;
        else if (!strchr(" -()./", *c) && !(*c == '+' && c == s))
            return false;
    }
    return digits >= 3 && digits <= 20;
}

static bool parse_telephone(struct parser *p, struct grammar_method *m)
{
    struct token t = p->tok;
    if (!parse_string(p, "a number, as a string", &m->target))
        return false;
    if (!number_is_valid(m->target))
        parse_error(
                p, GRAMMAR_E062, t.pos, "not a telephone number: %s", token_shown(p->life, &t));
    return true;
}

static bool unknown_method(struct parser *p)
{
    struct token found = p->tok;
    if (found.kind != T_NAME || word_flags(found.word) & CLAUSE)
        return parse_expected(p, GRAMMAR_E060, "a notification method");
    parse_error(p, GRAMMAR_E060, found.pos, "unknown notification method %s",
            token_shown(p->life, &found));
    report_nearest(
            p->script, p->said, word_nearest(found.text, method_names, GRAMMAR_METHOD_COUNT));
    report_hint(p->script, p->said,
            "There are email, webhook, fax, phone, dashboard, interactive and personalized "
            "web-bulletin.");
    return false;
}

static bool is_bare_mail(struct parser *p)
{
    if (p->tok.kind == T_STRING)
        return memchr(p->tok.text.ptr, '@', p->tok.text.len) != NULL;
    struct lexer lx = p->lx;
    lex_rewind(&lx, &p->tok);
    struct token t = lex_bare(&lx);
    return memchr(t.text.ptr, '@', t.text.len) != NULL;
}

static bool parse_method(struct parser *p, struct grammar_method *m)
{
    m->pos = p->tok.pos;
    if (parse_at_end(p))
        return parse_expected(p, GRAMMAR_E060, "a notification method");
    if (is_bare_mail(p)) {
        m->kind = GRAMMAR_EMAIL;
        return parse_mail(p, &m->target);
    }
    if (parse_take(p, W_EMAIL) || parse_take(p, W_E_MAIL))
        return parse_email(p, m);
    if (parse_take(p, W_WEBHOOK)) {
        m->kind = GRAMMAR_WEBHOOK;
        return parse_url(p, &m->target);
    }
    if (parse_is(p, W_FAX) || parse_is(p, W_PHONE)) {
        m->kind = parse_is(p, W_FAX) ? GRAMMAR_FAX : GRAMMAR_PHONE;
        parse_advance(p);
        return parse_telephone(p, m);
    }
    if (parse_is(p, W_DASHBOARD) || parse_is(p, W_INTERACTIVE)) {
        m->kind = parse_is(p, W_DASHBOARD) ? GRAMMAR_DASHBOARD : GRAMMAR_INTERACTIVE;
        parse_advance(p);
        return true;
    }
    if (parse_take(p, W_PERSONALIZED)) {
        m->kind = GRAMMAR_BULLETIN;
        return parse_need(p, W_WEB_BULLETIN);
    }
    return unknown_method(p);
}

bool parse_methods(struct parser *p, struct grammar_notify *n)
{
    *n = (struct grammar_notify){0};
    do {
        struct grammar_method m = {0};
        if (n->n_methods == MAX_METHODS) {
            parse_error(p, GRAMMAR_E028, p->tok.pos, "at most %d notification methods",
                    MAX_METHODS);
            return false;
        }
        if (!parse_method(p, &m))
            return false;
        *GROW(p->life, n->methods, n->n_methods) = m;
    } while (parse_take_symbol(p, ','));

    if (parse_take(p, W_IMMEDIATE) || !parse_take(p, W_EVERY))
        return true;
    if (parse_take(p, W_BEST)) {
        n->best_effort = true;
        return parse_need(p, W_EFFORT);
    }
    return parse_duration(p, &n->every);
}
