/* Entities that an XML document defines for itself.
 *
 *     <!DOCTYPE cat [<!ENTITY co "Acme">]><cat by="&co;">&co; sells</cat>
 *
 * They are written out before the parser sees the document, which itself never expands
 * anything.  It must hold that
 *  (1) only plain text is put in: a value with markup or with another entity in it is left
 *      alone, so nothing nests and nothing can be opened from outside;
 *  (2) what is put in is at most as much again as the document has, else nothing is; and
 *  (3) comments, CDATA and instructions stay as they are.
 * A reference that is left makes the document not well-formed, and it is read as HTML.
 */
#include "page/page_int.h"

enum { NAMES_MAX = 256, PUT_IN_LEAST = 4096 };

struct entity {
    struct str name, value;
};

struct names {
    struct str s;
    struct entity all[NAMES_MAX];
    size_t count;
};

static bool stands_at(struct str s, size_t i, struct str what)
{
    return s.len - i >= what.len && memcmp(s.ptr + i, what.ptr, what.len) == 0;
}

/* Behind the next `what`; the end when there is none. */
static size_t behind(struct str s, size_t i, struct str what)
{
    const char *p = i < s.len ? memmem(s.ptr + i, s.len - i, what.ptr, what.len) : NULL;
    return p ? (size_t)(p - s.ptr) + what.len : s.len;
}

static size_t skip_space(struct str s, size_t i)
{
    while (i < s.len && is_space(s.ptr[i]))
        i++;
    return i;
}

/* Behind a comment, CDATA section or instruction that begins here; else i. */
static size_t behind_opaque(struct str s, size_t i)
{
    if (stands_at(s, i, STR("<!--")))
        return behind(s, i + 4, STR("-->"));
    if (stands_at(s, i, STR("<![CDATA[")))
        return behind(s, i, STR("]]>"));
    if (stands_at(s, i, STR("<?")))
        return behind(s, i, STR("?>"));
    return i;
}

static struct str name_at(struct str s, size_t i)
{
    size_t from = i;

    while (i < s.len && !is_space(s.ptr[i]) && !strchr("\"'<>&;%[]", s.ptr[i]))
        i++;
    return (struct str){s.ptr + from, i - from};
}

/* (1): references to characters and to what XML itself names are text. */
static bool is_plain(struct str value)
{
    static const char *const known[] = {"amp", "apos", "gt", "lt", "quot"};

    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] == '<' || value.ptr[i] == '%')
            return false;
        if (value.ptr[i] != '&' || (i + 1 < value.len && value.ptr[i + 1] == '#'))
            continue;
        if (!name_is_one_of(name_at(value, i + 1), known, countof(known)))
            return false;
    }
    return true;
}

static const struct entity *find(const struct names *n, struct str name)
{
    for (size_t i = 0; i < n->count; i++)
        if (str_equal(n->all[i].name, name))
            return &n->all[i];
    return NULL;
}

/* <!ENTITY name "value">, from behind the word. */
static void define(struct names *n, size_t i)
{
    struct str name = name_at(n->s, i = skip_space(n->s, i));

    i = skip_space(n->s, i + name.len);
    char quote = i < n->s.len ? n->s.ptr[i] : 0;
    const char *end = quote == '"' || quote == '\''
                              ? memchr(n->s.ptr + i + 1, quote, n->s.len - i - 1)
                              : NULL; /* SYSTEM, PUBLIC or a parameter */
    if (!end || name.len == 0 || n->count == NAMES_MAX || find(n, name))
        return; /* the first definition holds */
    struct str value = {n->s.ptr + i + 1, (size_t)(end - n->s.ptr) - i - 1};
    if (is_plain(value))
        n->all[n->count++] = (struct entity){name, value};
}

/* Behind the declaration that begins here, quotes skipped. */
static size_t behind_declaration(struct str s, size_t i)
{
    char quote = 0;

    for (; i < s.len; i++) {
        if (quote)
            quote = s.ptr[i] == quote ? 0 : quote;
        else if (s.ptr[i] == '"' || s.ptr[i] == '\'')
            quote = s.ptr[i];
        else if (s.ptr[i] == '>')
            return i + 1;
    }
    return s.len;
}

/* Reads the part of the DTD that is in the document; returns where its content begins. */
static size_t read_doctype(struct names *n, size_t i)
{
    bool inside = false;

    while (i < n->s.len) {
        char c = n->s.ptr[i];
        size_t past = behind_opaque(n->s, i);
        if (past > i) {
            i = past;
        } else if (c == '"' || c == '\'') {
            i = behind(n->s, i + 1, (struct str){&n->s.ptr[i], 1});
        } else if (inside && c == '<') {
            if (stands_at(n->s, i, STR("<!ENTITY")))
                define(n, i + 8);
            i = behind_declaration(n->s, i);
        } else if (!inside && c == '>') {
            return i + 1;
        } else {
            inside = c == '[' || (inside && c != ']');
            i++;
        }
    }
    return n->s.len;
}

/* Inside a tag the quote of the value must not be closed by what is put in. */
static bool put(struct buf *out, struct str value, char quote)
{
    for (size_t i = 0; i < value.len; i++)
        if (quote && value.ptr[i] == quote ? !buf_puts(out, quote == '"' ? "&quot;" : "&apos;")
                                           : !buf_putc(out, value.ptr[i]))
            return false;
    return true;
}

static bool write_out(const struct names *n, size_t i, struct buf *out)
{
    struct str s = n->s;
    bool in_tag = false;
    char quote = 0;

    while (i < s.len) {
        size_t from = i, past = in_tag ? i : behind_opaque(s, i); /* (3) */
        const struct entity *e = NULL;
        if (past > i) {
            i = past;
        } else if (s.ptr[i] == '&') {
            struct str name = name_at(s, i + 1);
            i += 1 + name.len;
            if (i < s.len && s.ptr[i] == ';' && (e = find(n, name)))
                i++;
        } else {
            char c = s.ptr[i++];
            if (!in_tag)
                in_tag = c == '<';
            else if (quote)
                quote = c == quote ? 0 : quote;
            else if (c == '"' || c == '\'')
                quote = c;
            else
                in_tag = c != '>';
        }
        if (e ? !put(out, e->value, quote) : !buf_append(out, s.ptr + from, i - from))
            return false;
    }
    return true;
}

struct str xml_names_put_in(struct str text, struct buf *out)
{
    struct names n = {.s = text};
    size_t i = skip_space(text, 0);

    for (size_t past; (past = behind_opaque(text, i)) > i;)
        i = skip_space(text, past);
    if (!stands_at(text, i, STR("<!DOCTYPE")))
        return text;
    i = read_doctype(&n, i + 9);
    if (n.count == 0)
        return text;
    out->max = 2 * text.len + PUT_IN_LEAST; /* (2) */
    if (!buf_append(out, text.ptr, i) || !write_out(&n, i, out))
        return text;
    return (struct str){out->data, out->len};
}
