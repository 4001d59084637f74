/* JSON as a tree: members and items are elements, what they hold is text.
 *
 *     {"name": "tv", "tags": ["a", 7]}
 *     <json type="object"><name>tv</name>
 *         <tags type="array"><item>a</item><item type="number">7</item></tags></json>
 *
 * So a region or an element of a page in JSON is named like one of a page in XML.  How the
 * text is set does not count.  It must hold that
 *  (1) what is not JSON from beginning to end is no tree: it is read as plain text;
 *  (2) the types of values are kept, so 1 and "1" differ; and
 *  (3) nesting costs no stack of ours.
 */
#include "page/page_int.h"

enum json_inside { INSIDE_OBJECT = 1, INSIDE_ARRAY };

struct json_reader {
    struct str s;
    size_t at;
    struct build *b;
    struct buf inside; /* enum json_inside, outermost first */
    struct buf text;
};

static void skip_space(struct json_reader *r)
{
    while (r->at < r->s.len && is_space(r->s.ptr[r->at]))
        r->at++;
}

static char peek(const struct json_reader *r)
{
    return r->at < r->s.len ? r->s.ptr[r->at] : 0;
}

static bool take(struct json_reader *r, char c)
{
    skip_space(r);
    if (peek(r) != c || r->at >= r->s.len)
        return false;
    r->at++;
    return true;
}

/* ---- strings ----------------------------------------------------------------------------- */

static int hex_value(char c)
{
    return c >= '0' && c <= '9'                       ? c - '0'
           : to_lower(c) >= 'a' && to_lower(c) <= 'f' ? to_lower(c) - 'a' + 10
                                                      : -1;
}

static bool take_unit(struct json_reader *r, uint32_t *ret)
{
    uint32_t n = 0;

    for (int i = 0; i < 4; i++, r->at++) {
        int v = hex_value(peek(r));
        if (v < 0)
            return false;
        n = n * 16 + (uint32_t)v;
    }
    *ret = n;
    return true;
}

/* The character behind \u; a half of a pair without the other is none. */
static bool take_character(struct json_reader *r)
{
    uint32_t c, low;
    char utf8[4];

    if (!take_unit(r, &c))
        return false;
    if (c >= 0xD800 && c < 0xDC00 && r->at + 1 < r->s.len && peek(r) == '\\' &&
            r->s.ptr[r->at + 1] == 'u') {
        size_t back = r->at;
        r->at += 2;
        if (!take_unit(r, &low))
            return false;
        if (low >= 0xDC00 && low < 0xE000)
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
        else
            r->at = back;
    }
    if (c >= 0xD800 && c < 0xE000)
        c = 0xFFFD;
    return c == 0 || buf_append(&r->text, utf8, utf8_encode(c, utf8));
}

static bool take_escape(struct json_reader *r)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/ \f\n\r\t";
    char c = peek(r);
    const char *p = c ? strchr(from, c) : NULL;

    r->at++;
    if (c == 'u')
        return take_character(r);
    return p && buf_putc(&r->text, to[p - from]);
}

/* Into r->text, behind its quote. */
static bool take_string(struct json_reader *r)
{
    buf_clear(&r->text);
    while (r->at < r->s.len) {
        size_t from = r->at;
        while (r->at < r->s.len && peek(r) != '"' && peek(r) != '\\' &&
                (unsigned char)peek(r) >= ' ')
            r->at++;
        buf_append(&r->text, r->s.ptr + from, r->at - from);
        if (r->at >= r->s.len)
            return false;
        char c = r->s.ptr[r->at++];
        if (c == '"')
            return !r->text.overflowed;
        if (c != '\\' || !take_escape(r)) /* a control character, or no escape */
            return false;
    }
    return false;
}

static struct str text_of(const struct json_reader *r)
{
    return (struct str){buf_text(&r->text), r->text.len};
}

/* ---- values ------------------------------------------------------------------------------ */

static size_t digits(const struct json_reader *r, size_t at)
{
    size_t from = at;

    while (at < r->s.len && r->s.ptr[at] >= '0' && r->s.ptr[at] <= '9')
        at++;
    return at - from;
}

static size_t number_length(const struct json_reader *r)
{
    size_t at = r->at + (peek(r) == '-'), n = digits(r, at);

    if (n == 0 || (n > 1 && r->s.ptr[at] == '0'))
        return 0;
    at += n;
    if (at < r->s.len && r->s.ptr[at] == '.') {
        n = digits(r, at + 1);
        if (n == 0)
            return 0;
        at += 1 + n;
    }
    if (at < r->s.len && to_lower(r->s.ptr[at]) == 'e') {
        at++;
        at += at < r->s.len && (r->s.ptr[at] == '+' || r->s.ptr[at] == '-');
        n = digits(r, at);
        if (n == 0)
            return 0;
        at += n;
    }
    return at - r->at;
}

/* The length of a number or word, and what type it is. */
static size_t scalar_length(const struct json_reader *r, const char **ret_type)
{
    static const struct {
        const char *word, *type;
    } words[] = {{"true", "boolean"}, {"false", "boolean"}, {"null", "null"}};

    *ret_type = "number";
    for (size_t i = 0; i < countof(words); i++) {
        size_t n = strlen(words[i].word);
        if (r->s.len - r->at >= n && memcmp(r->s.ptr + r->at, words[i].word, n) == 0) {
            *ret_type = words[i].type;
            return n;
        }
    }
    return number_length(r);
}

static void open_element(struct json_reader *r, struct str name, const char *type)
{
    struct pair attr = {.name = STR("type"), .value = str_of(type)};

    build_open(r->b, name.len ? name : STR("_"), &attr, type ? 1 : 0); /* (2) */
}

/* The value at hand, as the content of an element of this name.  An object or array stays
 * open. */
static bool take_value(struct json_reader *r, struct str name)
{
    const char *type;

    skip_space(r);
    char c = peek(r);
    if (c == '{' || c == '[') {
        char inside = c == '{' ? INSIDE_OBJECT : INSIDE_ARRAY;
        r->at++;
        open_element(r, name, c == '{' ? "object" : "array");
        return buf_putc(&r->inside, inside); /* (3) */
    }
    if (c == '"') {
        open_element(r, name, NULL); /* before the name's bytes go */
        r->at++;
        if (!take_string(r))
            return false;
        build_text(r->b, text_of(r));
        build_close(r->b);
        return true;
    }
    size_t n = scalar_length(r, &type);
    if (n == 0)
        return false;
    open_element(r, name, type);
    build_text(r->b, (struct str){r->s.ptr + r->at, n});
    build_close(r->b);
    r->at += n;
    return true;
}

/* One member or item of what is innermost, or its end; `first`: nothing stood there yet. */
static bool take_next(struct json_reader *r, bool *first)
{
    bool object = r->inside.data[r->inside.len - 1] == INSIDE_OBJECT;
    size_t depth = r->inside.len;

    if (take(r, object ? '}' : ']')) {
        build_close(r->b);
        r->inside.len--;
        *first = false;
        return true;
    }
    if (!*first && !take(r, ','))
        return false;
    if (object && (!take(r, '"') || !take_string(r) || !take(r, ':')))
        return false;
    BUF(name, PAGE_BODY_MAX);
    if (object && !buf_append(&name, text_of(r).ptr, text_of(r).len))
        return false;
    if (!take_value(r, object ? (struct str){buf_text(&name), name.len} : STR("item")))
        return false;
    *first = r->inside.len > depth;
    return true;
}

static bool take_document(struct json_reader *r)
{
    bool first = true, ok = take_value(r, STR("json"));

    while (ok && r->inside.len && !r->b->too_deep && !r->b->overflowed)
        ok = take_next(r, &first);
    skip_space(r);
    return ok && (r->at == r->s.len || r->b->too_deep || r->b->overflowed);
}

bool json_read(struct str text, struct build *b)
{
    struct json_reader r = {.s = text, .b = b};

    buf_init(&r.inside, PAGE_DEPTH_MAX + 16);
    buf_init(&r.text, 4 * text.len + 64);
    bool ok = take_document(&r); /* (1) */
    buf_done(&r.inside);
    buf_done(&r.text);
    return ok;
}
