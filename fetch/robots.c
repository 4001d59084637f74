/* robots.txt by RFC 9309: groups, rules, and which rule decides.
 *
 *  (1) Groups for our product are merged; only when there are none do those for "*" count.
 *  (2) The longest pattern that matches decides, and of two equally long ones the one that
 *      allows; no match allows.
 *  (3) Both sides are compared in one spelling of percent signs.
 *  (4) Matching takes time in proportion to the pattern and the path, whatever stars a
 *      stranger wrote: each piece between stars is searched once, from left to right.
 *  (5) Lines that mean nothing to us do not end a group.
 */
#include "fetch/robots.h"
#include "base/str.h"
#include <stdio.h>

struct rule {
    bool allows;
    const char *pattern; /* in the one spelling */
    size_t len;
    const char *line; /* for people */
};

struct fetch_robots {
    struct rule *rules;
    size_t count;
    bool forbids_all;
};

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_unreserved(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("-._~", c);
}

/* (3): %41 is A, %2f is %2F, ä is %C3%A4; in a query also %2F is / and %3A is :. */
static char *spell(struct arena *life, struct str s, size_t *ret_len)
{
    static const char digits[] = "0123456789ABCDEF";
    char *out = arena_alloc(life, 3 * s.len + 1);
    size_t n = 0;
    bool in_query = false;
    for (size_t i = 0; i < s.len; i++) {
        int c = (unsigned char)s.ptr[i];
        bool encoded = c == '%' && i + 2 < s.len && hex_value(s.ptr[i + 1]) >= 0 &&
                       hex_value(s.ptr[i + 2]) >= 0;
        if (encoded) {
            c = hex_value(s.ptr[i + 1]) * 16 + hex_value(s.ptr[i + 2]);
            i += 2;
        }
        in_query |= !encoded && c == '?';
        bool plain = encoded ? c && (is_unreserved(c) || (in_query && (c == '/' || c == ':')))
                             : c > 0x20 && c < 0x7f;
        if (plain) {
            out[n++] = (char)c;
        } else {
            out[n++] = '%';
            out[n++] = digits[c >> 4];
            out[n++] = digits[c & 15];
        }
    }
    out[n] = 0;
    *ret_len = n;
    return out;
}

struct line {
    struct str key, value;
};

/* Takes the next line that has a key and a value. */
static bool next_line(struct str *text, struct line *ret_line)
{
    while (text->len > 0) {
        size_t len = 0;
        while (len < text->len && text->ptr[len] != '\n' && text->ptr[len] != '\r')
            len++;
        struct str line = {text->ptr, len};
        text->ptr += len + (len < text->len);
        text->len -= len + (len < text->len);

        const char *hash = line.len ? memchr(line.ptr, '#', line.len) : NULL;
        if (hash)
            line.len = (size_t)(hash - line.ptr);
        const char *colon = line.len ? memchr(line.ptr, ':', line.len) : NULL;
        if (!colon)
            continue;
        size_t before = (size_t)(colon - line.ptr);
        ret_line->key = str_trim((struct str){line.ptr, before});
        ret_line->value = str_trim((struct str){colon + 1, line.len - before - 1});
        return true;
    }
    return false;
}

enum audience { NOBODY, EVERYBODY, US };

/* "ExampleBot/1.2 (x)" is for ExampleBot; "*" for everybody. */
static enum audience audience_of(struct str agent, const char *product)
{
    if (agent.len > 0 && agent.ptr[0] == '*' && (agent.len == 1 || agent.ptr[1] == ' '))
        return EVERYBODY;
    size_t len = 0;
    while (len < agent.len &&
            ((agent.ptr[len] | 0x20) >= 'a'
                            ? (agent.ptr[len] | 0x20) <= 'z' || agent.ptr[len] == '_'
                            : agent.ptr[len] == '-'))
        len++;
    return str_equal_nocase((struct str){agent.ptr, len}, str_of(product)) ? US : NOBODY;
}

/* Goes through the rules of all groups for one audience; counts them, and keeps them where
 * there is room. */
struct collector {
    struct arena *life;
    const char *product;
    enum audience wanted;
    struct rule *rules; /* NULL: only count */
    size_t count;
    bool group_seen;
};

static void collect_rule(struct collector *c, const struct line *l, bool allows)
{
    if (l->value.len == 0)
        return; /* "Disallow:" forbids nothing */
    if (c->rules) {
        struct rule *r = &c->rules[c->count];
        r->allows = allows;
        r->pattern = spell(c->life, l->value, &r->len);
        r->line = arena_printf(c->life, "%s: %.*s", allows ? "Allow" : "Disallow",
                l->value.len > 200 ? 200 : (int)l->value.len, l->value.ptr);
    }
    c->count++;
}

static void collect(struct collector *c, struct str text)
{
    bool in_agents = false, is_ours = false;
    struct line l;
    c->count = 0;
    while (next_line(&text, &l)) {
        if (str_equal_nocase(l.key, STR("user-agent"))) {
            bool ours = audience_of(l.value, c->product) == c->wanted;
            is_ours = in_agents ? is_ours || ours : ours;
            c->group_seen |= ours;
            in_agents = true;
            continue;
        }
        bool allows = str_equal_nocase(l.key, STR("allow"));
        if (!allows && !str_equal_nocase(l.key, STR("disallow")))
            continue; /* (5) */
        in_agents = false;
        if (is_ours)
            collect_rule(c, &l, allows);
    }
}

struct fetch_robots *fetch_robots_parse(
        struct arena *life, const char *text, size_t len, const char *product)
{
    struct fetch_robots *r = arena_new_of(life, struct fetch_robots);
    struct str s = {text, len < FETCH_ROBOTS_BYTES_MAX ? len : FETCH_ROBOTS_BYTES_MAX};
    if (s.len >= 3 && memcmp(s.ptr, "\xef\xbb\xbf", 3) == 0)
        s = (struct str){s.ptr + 3, s.len - 3};

    struct collector c = {.life = life, .product = product, .wanted = US};
    collect(&c, s);
    if (!c.group_seen) {
        c.wanted = EVERYBODY; /* (1) */
        collect(&c, s);
    }
    c.rules = arena_array_of(life, c.count ? c.count : 1, struct rule);
    collect(&c, s);
    r->rules = c.rules;
    r->count = c.count;
    return r;
}

struct fetch_robots *fetch_robots_of_answer(
        struct arena *life, int status, const char *text, size_t len, const char *product)
{
    if (status >= 200 && status < 300)
        return fetch_robots_parse(life, text, len, product);
    struct fetch_robots *r = arena_new_of(life, struct fetch_robots);
    r->forbids_all = status == 0 || status >= 500;
    return r;
}

/* Does the piece stand at the end of the rest? */
static bool ends_with(struct str rest, struct str piece)
{
    return rest.len >= piece.len &&
           memcmp(rest.ptr + rest.len - piece.len, piece.ptr, piece.len) == 0;
}

/* (4) */
static bool matches(const struct rule *r, struct str path)
{
    struct str pattern = {r->pattern, r->len};
    bool to_the_end = pattern.len && pattern.ptr[pattern.len - 1] == '$';
    if (to_the_end)
        pattern.len--;
    for (bool at_start = true;; at_start = false) {
        const char *star = pattern.len ? memchr(pattern.ptr, '*', pattern.len) : NULL;
        struct str piece = {pattern.ptr, star ? (size_t)(star - pattern.ptr) : pattern.len};
        if (at_start) {
            if (path.len < piece.len || memcmp(path.ptr, piece.ptr, piece.len) != 0)
                return false;
            path = (struct str){path.ptr + piece.len, path.len - piece.len};
            if (!star)
                return !to_the_end || path.len == 0;
        } else if (!star && to_the_end) {
            return ends_with(path, piece);
        } else {
            const char *found =
                    piece.len ? memmem(path.ptr, path.len, piece.ptr, piece.len) : path.ptr;
            if (!found)
                return false;
            path.len -= (size_t)(found - path.ptr) + piece.len;
            path.ptr = found + piece.len;
            if (!star)
                return true;
        }
        pattern = (struct str){star + 1, pattern.len - piece.len - 1};
    }
}

/* The path and query of a URL; a path stays itself. */
static struct str path_of(const char *url)
{
    const char *scheme = url[0] == '/' ? NULL : strstr(url, "://");
    const char *path = scheme ? scheme + 3 + strcspn(scheme + 3, "/?#") : url;
    return (struct str){path, strcspn(path, "#")};
}

bool fetch_robots_allows(const struct fetch_robots *r, const char *url, const char **ret_rule)
{
    SCRATCH struct arena *a = arena_new(NULL, "robots");
    struct str path = path_of(url);
    const struct rule *best = NULL;
    if (ret_rule)
        *ret_rule = NULL;
    if (str_equal(path, STR("/robots.txt")))
        return true;
    if (r->forbids_all)
        return false;
    path.ptr = spell(a, path.len && path.ptr[0] == '/' ? path : STR("/"), &path.len);
    for (size_t i = 0; i < r->count; i++) {
        const struct rule *rule = &r->rules[i];
        bool better = !best || rule->len > best->len ||
                      (rule->len == best->len && rule->allows && !best->allows); /* (2) */
        if (better && matches(rule, path))
            best = rule;
    }
    if (best && ret_rule)
        *ret_rule = best->line;
    return !best || best->allows;
}
