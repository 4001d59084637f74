/* A request as a text.
 *
 *  (1) Equal requests have equal texts: header names in one spelling, headers in the order of
 *      their names, what equals the default left out.
 *  (2) Reading gives back what was written.
 *  (3) What holds a secret, and what logs somebody in, is for one site only.
 *  (4) A page that was discovered is another one than the same page named: what robots.txt
 *      says of it need not be the same.
 */
#include "engine/webrequest.h"
#include <ctype.h>
#include <stdlib.h>

enum { TEXT_MAX = 1 << 20 };

/* "accept-LANGUAGE" is Accept-Language, as most people write it. */
static char *spell_name(struct arena *life, const char *name)
{
    char *to = arena_strdup(life, name);
    bool begins = true;
    for (char *p = to; *p; p++) {
        *p = (char)(begins ? toupper((unsigned char)*p) : tolower((unsigned char)*p));
        begins = *p == '-';
    }
    return to;
}

static void put_headers(struct buf *out, struct arena *life, const struct grammar_request *r)
{
    struct grammar_header *h = arena_array_of(life, r->n_headers + 1, struct grammar_header);
    for (unsigned i = 0; i < r->n_headers; i++) {
        struct grammar_header one = {
                .name = spell_name(life, r->headers[i].name), .value = r->headers[i].value};
        unsigned at = i;
        while (at > 0 && strcmp(h[at - 1].name, one.name) > 0) { /* few, and equal ones stay */
            h[at] = h[at - 1];
            at--;
        }
        h[at] = one; /* (1) */
    }
    for (unsigned i = 0; i < r->n_headers; i++)
        buf_printf(out, "header %s: %s\n", h[i].name, h[i].value);
}

char *webrequest_text(struct arena *life, const struct grammar_request *r, const char *sentinel)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "request");
    BUF(out, TEXT_MAX);
    if (r->method && strcmp(r->method, "GET") != 0)
        buf_printf(&out, "method %s\n", r->method);
    put_headers(&out, scratch, r);
    if (r->user_agent)
        buf_printf(&out, "user-agent %s\n", r->user_agent);
    if (r->timeout)
        buf_printf(&out, "timeout %lld\n", (long long)r->timeout);
    if (r->follow >= 0)
        buf_printf(&out, "follow %d\n", r->follow);
    if (r->cookies)
        buf_printf(&out, "cookies %s\n", sentinel);
    if (r->render)
        buf_puts(&out, "render\n");
    if (r->body)
        buf_printf(&out, "body\n%s", r->body);
    return arena_strndup(life, buf_text(&out), out.len);
}

/* Where the line ends; a body has no lines. */
static size_t line_length(const char *text)
{
    return strncmp(text, "body\n", 5) == 0 ? strlen(text) : strcspn(text, "\n");
}

char *webrequest_discovered(struct arena *life, const char *text)
{
    BUF(out, TEXT_MAX);
    while (text && *text) {
        size_t len = line_length(text), at = 0;
        const char *line = arena_strndup(life, text, len);
        struct str whole, name;
        bool is_agent = strncmp(line, "user-agent ", 11) == 0 &&
                        !grammar_secret_next(line, &at, &whole, &name);
        if (is_agent || strncmp(line, "timeout ", 8) == 0)
            buf_printf(&out, "%s\n", line);
        text += len + (text[len] == '\n');
    }
    buf_puts(&out, "discovered\n");
    return arena_strndup(life, buf_text(&out), out.len);
}

static bool logs_in(struct str header)
{
    return str_starts_nocase(header, STR("Authorization:")) ||
           str_starts_nocase(header, STR("Proxy-Authorization:")) ||
           str_starts_nocase(header, STR("Cookie:"));
}

struct reading {
    struct secrets *secrets;
    struct arena *life;
    struct fault *fault;
    struct fetch_header *headers; /* room for all */
    struct fetch_request *r;
};

static enum err take_header(struct reading *in, const char *line)
{
    bool held;
    struct fetch_header *h = &in->headers[in->r->nheaders];
    enum err e =
            secrets_fill(in->secrets, in->life, line, in->r->url, in->fault, &h->line, &held);
    if (e != OK)
        return e;
    h->is_private = held || logs_in(str_of(line)); /* (3) */
    in->r->nheaders++;
    return OK;
}

/* One that holds a secret goes the way of headers that do. */
static enum err take_user_agent(struct reading *in, const char *value)
{
    size_t at = 0;
    struct str whole, name;
    if (grammar_secret_next(value, &at, &whole, &name))
        return take_header(in, arena_printf(in->life, "User-Agent: %s", value));
    in->r->user_agent = value;
    return OK;
}

static enum err take_line(struct reading *in, const char *key, const char *value)
{
    struct fetch_request *r = in->r;
    if (strcmp(key, "header") == 0)
        return take_header(in, value);
    if (strcmp(key, "user-agent") == 0)
        return take_user_agent(in, value);
    if (strcmp(key, "method") == 0)
        r->method = value;
    else if (strcmp(key, "timeout") == 0)
        r->timeout = strtoll(value, NULL, 10);
    else if (strcmp(key, "render") == 0)
        r->render = true;
    else if (strcmp(key, "discovered") == 0)
        r->is_discovered = true; /* (4) */
    else if (strcmp(key, "follow") == 0) {
        r->has_follow = true;
        r->follow = (unsigned)strtoul(value, NULL, 10);
    }
    return OK;
}

enum err webrequest_read(const char *text, struct secrets *s, struct arena *life,
        struct fault *f, struct fetch_request *ret_request)
{
    size_t lines = 1;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    struct reading in = {.secrets = s,
            .life = life,
            .fault = f,
            .headers = arena_array_of(life, lines, struct fetch_header),
            .r = ret_request};
    while (*text) {
        size_t key = strcspn(text, " \n"), line = strcspn(text, "\n");
        const char *behind = text + line + (text[line] == '\n');
        if (key == line && strncmp(text, "body", key) == 0)
            return secrets_fill(s, life, behind, ret_request->url, f, &ret_request->body, NULL);
        enum err e = take_line(&in, arena_strndup(life, text, key),
                key < line ? arena_strndup(life, text + key + 1, line - key - 1) : "");
        if (e != OK)
            return e;
        ret_request->headers = in.headers;
        text = behind;
    }
    return OK; /* (2) */
}

bool webrequest_wants_cookies(const char *text)
{
    const char *body = strncmp(text, "body\n", 5) == 0 ? text : strstr(text, "\nbody\n");
    const char *cookies = strncmp(text, "cookies ", 8) == 0 ? text : strstr(text, "\ncookies ");
    return cookies && (!body || cookies < body);
}
