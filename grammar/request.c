/* WITH (..): how to ask for the pages.
 *
 * What is written here goes into a request as it is, so that
 *  (1) nothing that could end a header line gets in, and
 *  (2) a secret is only ever a reference, ${SECRET name}, filled in when it is sent.
 */
#include "grammar/grammar_int.h"
#include "base/str.h"
#include <ctype.h>

enum { MAX_HEADERS = 64, MAX_FOLLOW = 20 };
#define TIMEOUT_MAX (10 * MSEC_PER_MINUTE)

enum option {
#define OPTION(id, name, value) OPTION_##id,
#include "grammar/options.def"
#undef OPTION
    OPTION_COUNT
};

static const char *const option_names[OPTION_COUNT] = {
#define OPTION(id, name, value) name,
#include "grammar/options.def"
#undef OPTION
};

/* ---- secrets ------------------------------------------------------------------------ */

static bool is_secret_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

bool grammar_secret_next(
        const char *value, size_t *at, struct str *ret_whole, struct str *ret_name)
{
    for (const char *begin = value + *at; (begin = strstr(begin, "${SECRET ")); begin++) {
        const char *name = begin + strlen("${SECRET ");
        name += strspn(name, " ");
        const char *end = name;
        while (is_secret_char(*end))
            end++;
        const char *close = end + strspn(end, " ");
        if (end == name || *close != '}')
            continue;
        *ret_whole = (struct str){begin, (size_t)(close + 1 - begin)};
        *ret_name = (struct str){name, (size_t)(end - name)};
        *at = (size_t)(close + 1 - value);
        return true;
    }
    return false;
}

/* Every "${" must be one we understand: a misspelt reference would be sent as text. */
static bool secrets_are_valid(const char *value)
{
    size_t at = 0, opened = 0, found = 0;
    struct str whole, name;
    for (const char *p = value; (p = strstr(p, "${")); p += 2)
        opened++;
    while (grammar_secret_next(value, &at, &whole, &name))
        found++;
    return opened == found;
}

/* ---- values ------------------------------------------------------------------------- */

static bool is_field_name(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr("!#$%&'*+-.^_`|~", s[i]))
            return false;
    return n > 0;
}

static bool is_one_line(const char *s)
{
    for (; *s; s++)
        if (((unsigned char)*s < 0x20 && *s != '\t') || *s == 0x7f)
            return false;
    return true;
}

static void check_field(struct parser *p, struct grammar_pos pos, const char *value)
{
    if (!is_one_line(value)) /* (1) */
        parse_error(p, GRAMMAR_E019, pos,
                "a line break or control character cannot be in a header");
    else if (!secrets_are_valid(value)) /* (2) */
        parse_error(p, GRAMMAR_E019, pos, "a secret is written ${SECRET name}");
}

/* These are ours: a second one, or another value, would break the exchange. */
static bool is_our_header(const char *name)
{
    static const char *const ours[] = {"Host", "Content-Length", "Transfer-Encoding",
            "Connection", "If-None-Match", "If-Modified-Since", "Accept-Encoding"};
    for (size_t i = 0; i < countof(ours); i++)
        if (grammar_name_equal(name, ours[i]))
            return true;
    return false;
}

static bool parse_header(struct parser *p, struct grammar_request *r)
{
    struct grammar_header h = {.pos = p->tok.pos};
    const char *line;
    if (!parse_string(p, "a header line, as a string", &line))
        return false;
    const char *colon = strchr(line, ':');
    if (!colon || !is_field_name(line, (size_t)(colon - line))) {
        parse_error(p, GRAMMAR_E019, h.pos, "not a header: \"Name: value\" is expected");
        return true;
    }
    struct str value = str_trim(str_of(colon + 1));
    h.name = arena_strndup(p->life, line, (size_t)(colon - line));
    h.value = arena_strndup(p->life, value.ptr, value.len);
    check_field(p, h.pos, colon + 1);
    if (is_our_header(h.name))
        parse_error(p, GRAMMAR_E019, h.pos, "header %s is set by the engine", h.name);
    if (r->n_headers == MAX_HEADERS) {
        parse_error(p, GRAMMAR_E028, h.pos, "at most %d headers", MAX_HEADERS);
        return false;
    }
    *GROW(p->life, r->headers, r->n_headers) = h;
    return true;
}

static bool parse_http_method(struct parser *p, struct grammar_request *r)
{
    static const char *const methods[] = {"GET", "POST", "PUT"};
    struct token t = p->tok;
    if (t.kind != T_STRING && t.kind != T_NAME)
        return parse_expected(p, GRAMMAR_E010, "GET, POST or PUT");
    const char *text = t.kind == T_STRING ? string_value(p->life, &t)
                                          : arena_strndup(p->life, t.text.ptr, t.text.len);
    parse_advance(p);
    r->method = NULL;
    for (size_t i = 0; i < countof(methods); i++)
        if (grammar_name_equal(text, methods[i]))
            r->method = methods[i];
    if (!r->method)
        parse_error(p, GRAMMAR_E018, t.pos, "expected GET, POST or PUT, found %s",
                token_shown(p->life, &t));
    return true;
}

static bool parse_switch(struct parser *p, bool *ret_on)
{
    bool on = p->tok.kind == T_NAME && str_equal_nocase(p->tok.text, STR("on"));
    if (!on && !(p->tok.kind == T_NAME && str_equal_nocase(p->tok.text, STR("off"))))
        return parse_expected(p, GRAMMAR_E010, "on or off");
    parse_advance(p);
    *ret_on = on;
    return true;
}

static bool parse_value(struct parser *p, enum option o, struct grammar_request *r)
{
    struct grammar_pos pos = p->tok.pos;
    int64_t n;
    switch (o) {
    case OPTION_METHOD:
        return parse_http_method(p, r);
    case OPTION_BODY:
        if (!parse_string(p, "the body, as a string", &r->body))
            return false;
        if (!secrets_are_valid(r->body)) /* (2) */
            parse_error(p, GRAMMAR_E019, pos, "a secret is written ${SECRET name}");
        return true;
    case OPTION_USER_AGENT:
        if (!parse_string(p, "a string", &r->user_agent))
            return false;
        check_field(p, pos, r->user_agent);
        return true;
    case OPTION_TIMEOUT:
        if (!parse_duration(p, &r->timeout))
            return false;
        if (r->timeout > TIMEOUT_MAX)
            parse_error(p, GRAMMAR_E028, pos, "a timeout is at most 10 minutes");
        return true;
    case OPTION_FOLLOW:
        if (!parse_number(p, "a number of redirects", 0, MAX_FOLLOW, &n))
            return false;
        r->follow = (int)n;
        return true;
    case OPTION_COOKIES:
        return parse_switch(p, &r->cookies);
    case OPTION_RENDER:
        return parse_switch(p, &r->render);
    case OPTION_HEADER:
    case OPTION_COUNT:
        break;
    }
    return false;
}

static bool unknown_option(struct parser *p)
{
    struct token found = p->tok;
    if (found.kind != T_NAME)
        return parse_expected(p, GRAMMAR_E018, "a request option");
    parse_error(p, GRAMMAR_E018, found.pos, "unknown request option %s",
            token_shown(p->life, &found));
    report_nearest(p->script, p->said, word_nearest(found.text, option_names, OPTION_COUNT));
    report_hint(p->script, p->said,
            "There are method, body, header, user_agent, timeout, follow, cookies and render.");
    return false;
}

static bool parse_option(struct parser *p, struct grammar_request *r, unsigned *given)
{
    enum option o = 0;
    while (o < OPTION_COUNT &&
            !(p->tok.kind == T_NAME && str_equal_nocase(p->tok.text, str_of(option_names[o]))))
        o++;
    if (o == OPTION_COUNT)
        return unknown_option(p);
    if (o == OPTION_HEADER) {
        parse_advance(p);
        (void)parse_take_symbol(p, '='); /* harmless, and easily written */
        return parse_header(p, r);
    }
    if (*given >> o & 1)
        parse_error(p, GRAMMAR_E012, p->tok.pos, "option %s given twice", option_names[o]);
    *given |= 1u << o;
    parse_advance(p);
    return parse_need_symbol(p, '=', "\"=\"") && parse_value(p, o, r);
}

bool parse_request(struct parser *p, struct grammar_request *r)
{
    unsigned given = 0;
    *r = (struct grammar_request){.follow = -1};
    if (!parse_need_symbol(p, '(', "\"(\""))
        return false;
    do {
        if (!parse_option(p, r, &given))
            return false;
    } while (parse_take_symbol(p, ','));
    return parse_need_symbol(p, ')', "\",\" or \")\"");
}
