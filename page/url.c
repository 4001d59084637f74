/* Addresses: what a reference means when seen from a page.
 *
 * The rules of RFC 3986, section 5, with what browsers do to real-world references: white
 * space around is cut, tabs and line ends inside are dropped, backslashes are slashes in
 * web schemes, and characters that may not stand in an address are percent-encoded.  It
 * must hold that two spellings of one address come out equal and that
 *  (1) resolving an absolute result again changes nothing.
 */
#include "page/page_int.h"
#include <utf8proc.h>

struct parts {
    struct str scheme, authority, path, query, fragment; /* ptr NULL: there is none */
};

static struct str slice(struct str s, size_t from, size_t to)
{
    return (struct str){s.ptr + from, to - from};
}

static size_t find(struct str s, size_t from, char c)
{
    const char *p = from < s.len ? memchr(s.ptr + from, c, s.len - from) : NULL;
    return p ? (size_t)(p - s.ptr) : s.len;
}

static bool is_letter(char c)
{
    return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}

static size_t scheme_length(struct str s)
{
    size_t i = 0;

    if (s.len == 0 || !is_letter(s.ptr[0]))
        return 0;
    while (i < s.len && (is_letter(s.ptr[i]) || (s.ptr[i] >= '0' && s.ptr[i] <= '9') ||
                                s.ptr[i] == '+' || s.ptr[i] == '-' || s.ptr[i] == '.'))
        i++;
    return i < s.len && s.ptr[i] == ':' ? i : 0;
}

static struct parts split(struct str s)
{
    struct parts p = {.path = {"", 0}};
    size_t scheme = scheme_length(s);

    if (scheme) {
        p.scheme = slice(s, 0, scheme);
        s = slice(s, scheme + 1, s.len);
    }
    size_t hash = find(s, 0, '#');
    if (hash < s.len)
        p.fragment = slice(s, hash + 1, s.len);
    s.len = hash;
    size_t question = find(s, 0, '?');
    if (question < s.len)
        p.query = slice(s, question + 1, s.len);
    s.len = question;
    if (s.len >= 2 && s.ptr[0] == '/' && s.ptr[1] == '/') {
        size_t end = find(s, 2, '/');
        p.authority = slice(s, 2, end);
        s = slice(s, end, s.len);
    }
    p.path = s;
    return p;
}

static bool has_authority_scheme(struct str scheme)
{
    static const char *const web[] = {"http", "https", "ftp", "file", "gopher", "ws", "wss"};

    for (size_t i = 0; i < countof(web); i++)
        if (str_equal_nocase(scheme, str_of(web[i])))
            return true;
    return false;
}

/* Without outer white space, tabs and line ends; backslashes of a web address that stand
 * before its query become slashes.  In place where nothing is to be done, else in `out`. */
static struct str tidy(struct str s, bool web, struct buf *out)
{
    bool in_path = true, plain = true;

    while (s.len && (unsigned char)s.ptr[0] <= ' ')
        s = slice(s, 1, s.len);
    while (s.len && (unsigned char)s.ptr[s.len - 1] <= ' ')
        s.len--;
    for (size_t i = 0; i < s.len; i++)
        plain &= (unsigned char)s.ptr[i] >= ' ' && s.ptr[i] != '\\';
    if (plain)
        return s;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '\t' || c == '\n' || c == '\r')
            continue;
        in_path &= c != '?' && c != '#';
        buf_push_char(out, web && in_path && c == '\\' ? '/' : c);
    }
    return (struct str){buf_text(out), out->len};
}

static void put_encoded(struct buf *out, struct str s)
{
    size_t from = 0;

    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c > ' ' && c < 0x7F && c != '"' && c != '<' && c != '>' && c != '`')
            continue;
        buf_push(out, s.ptr + from, i - from);
        buf_printf(out, "%%%02X", c);
        from = i + 1;
    }
    buf_push(out, s.ptr + from, s.len - from);
}

static const char *default_port(struct str scheme)
{
    static const struct {
        const char *scheme, *port;
    } ports[] = {{"http", "80"}, {"https", "443"}, {"ftp", "21"}, {"gopher", "70"},
            {"ws", "80"}, {"wss", "443"}, {"nntp", "119"}, {"telnet", "23"}};

    for (size_t i = 0; i < countof(ports); i++)
        if (str_equal_nocase(scheme, str_of(ports[i].scheme)))
            return ports[i].port;
    return NULL;
}

/* In lower case, letters of other alphabets too: names of hosts have none of the other. */
static void put_host(struct buf *out, struct str host)
{
    for (size_t i = 0; i < host.len;) {
        uint32_t c;
        char utf8[4];
        if (!(host.ptr[i] & 0x80) || utf8_length(host.ptr + i, host.len - i) == 0) {
            buf_push_char(out, to_lower(host.ptr[i++]));
            continue;
        }
        i += utf8_decode(host.ptr + i, host.len - i, &c);
        buf_push(out, utf8, utf8_encode((uint32_t)utf8proc_tolower((utf8proc_int32_t)c), utf8));
    }
}

static void put_authority(struct buf *out, struct str scheme, struct str authority)
{
    size_t at = authority.len, colon = authority.len;

    while (at > 0 && authority.ptr[at - 1] != '@')
        at--;
    for (size_t i = authority.len; i > at && authority.ptr[i - 1] != ']'; i--)
        if (authority.ptr[i - 1] == ':')
            colon = i - 1;
    put_encoded(out, slice(authority, 0, at));
    put_host(out, slice(authority, at, colon));
    if (colon + 1 >= authority.len)
        return; /* no port, or an empty one */
    struct str port = slice(authority, colon + 1, authority.len);
    while (port.len > 1 && port.ptr[0] == '0')
        port = slice(port, 1, port.len);
    const char *usual = default_port(scheme);
    if (usual && str_equal(port, str_of(usual)))
        return;
    buf_push_char(out, ':');
    buf_push(out, port.ptr, port.len);
}

static bool is_dot(struct str segment, unsigned dots)
{
    size_t i = 0;

    while (i < segment.len && dots) {
        if (segment.ptr[i] == '.')
            i++;
        else if (str_starts_nocase(slice(segment, i, segment.len), STR("%2e")))
            i += 3;
        else
            return false;
        dots--;
    }
    return dots == 0 && i == segment.len;
}

/* Writes an absolute path without "." and ".." segments. */
static void put_path(struct buf *out, struct str path)
{
    size_t root = out->len, i = 0;

    while (i < path.len) {
        size_t from = i + (path.ptr[i] == '/'), end = find(path, from, '/');
        struct str segment = slice(path, from, end);
        bool last = end == path.len;
        i = end;
        if (is_dot(segment, 2)) {
            while (out->len > root && out->data[out->len - 1] != '/')
                out->len--;
            out->len -= out->len > root;
        } else if (!is_dot(segment, 1)) {
            buf_push_char(out, '/');
            put_encoded(out, segment);
            continue;
        }
        if (last)
            buf_push_char(out, '/');
    }
    if (out->len == root)
        buf_push_char(out, '/');
}

/* The base's path up to its last slash, then the reference's. */
static bool merge(struct str base, struct str path, bool has_authority, struct buf *out)
{
    size_t keep = base.len;

    while (keep > 0 && base.ptr[keep - 1] != '/')
        keep--;
    if (keep == 0 && has_authority)
        buf_push_char(out, '/');
    buf_push(out, base.ptr, keep);
    return buf_push(out, path.ptr, path.len);
}

static void put_scheme(struct buf *out, struct str scheme)
{
    for (size_t i = 0; i < scheme.len; i++)
        buf_push_char(out, to_lower(scheme.ptr[i]));
    buf_push_char(out, ':');
}

/* No host has control characters or spaces in its name. */
static bool is_host(struct str authority)
{
    for (size_t i = 0; i < authority.len; i++)
        if ((unsigned char)authority.ptr[i] <= ' ' || authority.ptr[i] == 0x7F)
            return false;
    return true;
}

static bool put_whole(struct buf *out, const struct parts *p)
{
    if (!is_host(p->authority))
        return false;
    if (p->authority.ptr && p->authority.len == 0 && has_authority_scheme(p->scheme) &&
            !str_equal_nocase(p->scheme, STR("file")))
        return false; /* "http://" and no host */
    put_scheme(out, p->scheme);
    if (p->authority.ptr) {
        buf_puts(out, "//");
        put_authority(out, p->scheme, p->authority);
        put_path(out, p->path);
    } else if (has_authority_scheme(p->scheme)) {
        return false; /* "http:" and nothing usable behind it */
    } else {
        put_encoded(out, p->path);
    }
    if (p->query.ptr) {
        buf_push_char(out, '?');
        put_encoded(out, p->query);
    }
    if (p->fragment.ptr) {
        buf_push_char(out, '#');
        put_encoded(out, p->fragment);
    }
    return true;
}

bool page_url_resolve(struct str base, struct str reference, struct buf *out)
{
    size_t before = out->len;
    BUF(clean, out->max);
    BUF(merged, out->max);
    struct parts b = split(base), r;

    r = split(tidy(reference, !b.scheme.ptr || has_authority_scheme(b.scheme), &clean));
    if (clean.overflowed)
        return false;
    if (r.scheme.ptr && !r.authority.ptr && has_authority_scheme(r.scheme)) {
        if (!b.scheme.ptr || !str_equal_nocase(b.scheme, r.scheme))
            return false;
        r.scheme = (struct str){NULL, 0}; /* "http:x" is read as "x" */
    }
    if (!r.scheme.ptr) {
        if (!b.scheme.ptr)
            return false;
        r.scheme = b.scheme;
        if (!r.authority.ptr) {
            r.authority = b.authority;
            if (r.path.len == 0) {
                r.path = b.path;
                r.query = r.query.ptr ? r.query : b.query;
            } else if (r.path.ptr[0] != '/') {
                merge(b.path, r.path, b.authority.ptr != NULL, &merged);
                r.path = (struct str){buf_text(&merged), merged.len};
            }
        }
    }
    if (!put_whole(out, &r) || out->overflowed) {
        out->len = before;
        return false;
    }
    return true;
}

/* ---- many references seen from one base -------------------------------------------------- */

enum { SIGN_USUAL = 1, SIGN_COLON = 2 };

/* What may stand in an address as it is and means nothing but itself; the dot, the slash and
 * the percent sign are looked at. */
static const uint8_t signs[256] = {
        ['!'] = SIGN_USUAL,
        ['#' ... '9'] = SIGN_USUAL,
        [':'] = SIGN_USUAL | SIGN_COLON,
        [';'] = SIGN_USUAL,
        ['='] = SIGN_USUAL,
        ['?' ... '['] = SIGN_USUAL,
        [']' ... '_'] = SIGN_USUAL,
        ['a' ... '~'] = SIGN_USUAL,
};

/* Whether the reference is written as resolving would write it: nothing to trim, encode or
 * take out.  `*ret_colon`: it has a colon, and may begin with a scheme. */
static bool is_usual(struct str s, bool *ret_colon)
{
    unsigned all = SIGN_USUAL, some = 0;

    for (size_t i = 0; i < s.len; i++) {
        all &= signs[(unsigned char)s.ptr[i]];
        some |= signs[(unsigned char)s.ptr[i]];
        if (s.ptr[i] == '/' && i + 1 < s.len && (s.ptr[i + 1] == '.' || s.ptr[i + 1] == '%'))
            return false; /* may be a dot segment */
    }
    *ret_colon = some & SIGN_COLON;
    return all;
}

/* What a reference made of usual signs is put behind: what resolving `example` gives, without
 * the example itself. */
static struct str stem(struct str base, struct str example, struct buf *out)
{
    size_t from = out->len;

    if (!page_url_resolve(base, example, out) || out->len - from <= example.len ||
            memcmp(out->data + out->len - example.len, example.ptr, example.len) != 0)
        return (struct str){NULL, 0};
    out->len -= example.len;
    return (struct str){NULL, out->len - from};
}

void url_base_init(struct url_base *u, struct str base, size_t max)
{
    struct str *all[] = {&u->origin, &u->folder, &u->page};
    struct str examples[] = {STR("/x"), STR("x"), STR("#x")};

    *u = (struct url_base){.base = base};
    buf_init(&u->text, max);
    for (size_t i = 0; i < countof(all); i++)
        *all[i] = stem(base, examples[i], &u->text);
    const char *at = buf_text(&u->text);
    for (size_t i = 0; i < countof(all); i++) {
        if (all[i]->len)
            all[i]->ptr = at;
        at += all[i]->len;
    }
}

void url_base_done(struct url_base *u)
{
    buf_done(&u->text);
}

bool url_base_resolve(
        const struct url_base *u, struct str reference, struct buf *out, bool *ret_from_base)
{
    bool colon;
    struct str before = {NULL, 0};

    *ret_from_base = false;
    if (reference.len && is_usual(reference, &colon)) {
        char c = reference.ptr[0];
        if (c == '#')
            before = u->page;
        else if (c == '/' && reference.len > 1 && reference.ptr[1] != '/')
            before = u->origin;
        else if (c != '/' && c != '?' && c != '.' && c != '%' && !colon)
            before = u->folder;
    }
    if (!before.ptr)
        return page_url_resolve(u->base, reference, out);
    *ret_from_base = true;
    return buf_push(out, before.ptr, before.len) && buf_push(out, reference.ptr, reference.len);
}
