/* What a document says about itself before it is decoded: media type and charset.
 *
 * The header, the XML declaration and the meta element of HTML may each name a charset.
 * The HTML one is found by the standard's prescan: only the first 1024 bytes, comments
 * skipped, since a parser cannot be asked before the bytes are decoded.  A document that
 * could be read this far in ASCII is not UTF-16, whatever it claims.
 */
#include "page/page_int.h"

enum { PRESCAN_BYTES = 1024 };

static struct str cut(struct str s, size_t from, size_t to)
{
    return (struct str){s.ptr + from, to - from};
}

static size_t skip_space(struct str s, size_t i)
{
    while (i < s.len && is_space(s.ptr[i]))
        i++;
    return i;
}

/* "charset = x" or "charset='x'" anywhere in s, as in content="text/html; charset=x". */
static struct str charset_in(struct str s)
{
    static const struct str word = {"charset", 7};

    for (size_t i = 0; i + word.len <= s.len; i++) {
        if (!str_starts_nocase(cut(s, i, s.len), word))
            continue;
        size_t at = skip_space(s, i + word.len);
        if (at >= s.len || s.ptr[at] != '=')
            continue;
        at = skip_space(s, at + 1);
        char quote = at < s.len && (s.ptr[at] == '"' || s.ptr[at] == '\'') ? s.ptr[at] : 0;
        size_t from = at + (quote != 0), to = from;
        while (to < s.len &&
                (quote ? s.ptr[to] != quote : !is_space(s.ptr[to]) && s.ptr[to] != ';'))
            to++;
        if (quote && to == s.len)
            return (struct str){NULL, 0};
        return cut(s, from, to);
    }
    return (struct str){NULL, 0};
}

struct str content_type_charset(const char *content_type)
{
    return charset_in(str_of(content_type));
}

static bool readable_as_ascii(struct charset *c)
{
    if (c->how == CHARSET_UTF16LE || c->how == CHARSET_UTF16BE)
        *c = (struct charset){CHARSET_UTF8, "utf-8"};
    return true;
}

bool charset_declared_xml(struct str bytes, struct charset *ret)
{
    static const struct str word = {"encoding", 8};

    if (bytes.len > PRESCAN_BYTES)
        bytes.len = PRESCAN_BYTES;
    if (!str_starts_nocase(bytes, STR("<?xml")))
        return false;
    const char *close = memmem(bytes.ptr, bytes.len, "?>", 2);
    if (!close)
        return false;
    struct str s = {bytes.ptr, (size_t)(close - bytes.ptr)};
    for (size_t i = 0; i + word.len <= s.len; i++) {
        if (!str_starts_nocase(cut(s, i, s.len), word))
            continue;
        size_t at = skip_space(s, i + word.len);
        if (at >= s.len || s.ptr[at] != '=')
            return false;
        at = skip_space(s, at + 1);
        if (at >= s.len || (s.ptr[at] != '"' && s.ptr[at] != '\''))
            return false;
        const char *end = memchr(s.ptr + at + 1, s.ptr[at], s.len - at - 1);
        return end && charset_find(cut(s, at + 1, (size_t)(end - s.ptr)), ret) &&
               readable_as_ascii(ret);
    }
    return false;
}

/* One attribute of the tag at *at, the way the prescan reads them; false at the tag's end. */
static bool prescan_attribute(struct str s, size_t *at, struct pair *ret)
{
    size_t i = *at;

    while (i < s.len && (is_space(s.ptr[i]) || s.ptr[i] == '/'))
        i++;
    size_t name = i;
    while (i < s.len && !is_space(s.ptr[i]) && s.ptr[i] != '=' && s.ptr[i] != '>' &&
            s.ptr[i] != '/')
        i++;
    *ret = (struct pair){cut(s, name, i), {"", 0}};
    size_t eq = skip_space(s, i);
    if (eq < s.len && s.ptr[eq] == '=') {
        i = skip_space(s, eq + 1);
        char quote = i < s.len && (s.ptr[i] == '"' || s.ptr[i] == '\'') ? s.ptr[i] : 0;
        size_t from = i + (quote != 0);
        i = from;
        while (i < s.len &&
                (quote ? s.ptr[i] != quote : !is_space(s.ptr[i]) && s.ptr[i] != '>'))
            i++;
        ret->value = cut(s, from, i);
        i += quote != 0 && i < s.len;
    }
    *at = i;
    return i < s.len && (ret->name.len > 0 || s.ptr[i] != '>') && i > name;
}

/* The charset a meta element's attributes name. */
static bool meta_charset(struct str s, size_t at, struct charset *ret)
{
    struct str direct = {NULL, 0}, content = {NULL, 0};
    bool pragma = false;
    struct pair a;

    while (prescan_attribute(s, &at, &a)) {
        if (str_equal_nocase(a.name, STR("http-equiv")))
            pragma = str_equal_nocase(a.value, STR("content-type"));
        else if (str_equal_nocase(a.name, STR("content")) && !content.ptr)
            content = charset_in(a.value);
        else if (str_equal_nocase(a.name, STR("charset")) && !direct.ptr)
            direct = a.value;
    }
    if (direct.ptr)
        return charset_find(direct, ret) && readable_as_ascii(ret);
    return pragma && content.ptr && charset_find(content, ret) && readable_as_ascii(ret);
}

static bool is_meta(struct str s)
{
    return s.len > 5 && str_starts_nocase(s, STR("<meta")) &&
           (is_space(s.ptr[5]) || s.ptr[5] == '/');
}

static bool is_letter(char c)
{
    return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}

/* Where the attributes of the tag whose name is at `i` end: what looks like a meta element in
 * the value of one is none. */
static size_t behind_attributes(struct str s, size_t i)
{
    struct pair a;

    while (i < s.len && !is_space(s.ptr[i]) && s.ptr[i] != '>')
        i++;
    while (prescan_attribute(s, &i, &a))
        ;
    return i;
}

bool charset_declared_html(struct str bytes, struct charset *ret)
{
    struct str s = bytes;

    if (s.len > PRESCAN_BYTES)
        s.len = PRESCAN_BYTES;
    for (size_t i = 0; i < s.len; i++) {
        struct str rest = cut(s, i, s.len);
        if (s.ptr[i] != '<')
            continue;
        if (rest.len >= 4 && memcmp(rest.ptr, "<!--", 4) == 0) {
            const char *end = memmem(rest.ptr + 2, rest.len - 2, "-->", 3);
            if (!end)
                return false;
            i = (size_t)(end - s.ptr) + 2;
        } else if (is_meta(rest)) {
            if (meta_charset(s, i + 5, ret))
                return true;
        } else if (rest.len > 1 && is_letter(rest.ptr[1])) {
            i = behind_attributes(s, i + 1) - 1;
        }
    }
    return false;
}

static bool type_is(struct str type, const char *prefix)
{
    return str_starts_nocase(type, str_of(prefix));
}

/* Types that say nothing: servers send them for whatever they do not know. */
static bool says_nothing(struct str type)
{
    return type.len == 0 || type_is(type, "application/octet-stream") ||
           type_is(type, "unknown/unknown") || type_is(type, "application/unknown") ||
           type_is(type, "*/*");
}

static enum page_type type_by_bytes(struct str bytes)
{
    size_t i = skip_space(bytes, 0), look = bytes.len < 512 ? bytes.len : 512;
    bool utf16 = bytes.len > 1 && (memcmp(bytes.ptr, "\xFF\xFE", 2) == 0 ||
                                          memcmp(bytes.ptr, "\xFE\xFF", 2) == 0);

    if (bytes.len > 3 && memcmp(bytes.ptr, "\xEF\xBB\xBF", 3) == 0)
        i = skip_space(bytes, 3);
    if (str_starts_nocase(cut(bytes, i, bytes.len), STR("<?xml")))
        return PAGE_XML;
    if (look && !utf16 && memchr(bytes.ptr, 0, look))
        return PAGE_DATA;
    return PAGE_HTML;
}

/* "text/html" of "Text/HTML; charset=x". */
static struct str media_type(const char *content_type)
{
    struct str type = str_of(content_type);
    const char *semicolon = type.len ? memchr(type.ptr, ';', type.len) : NULL;

    if (semicolon)
        type.len = (size_t)(semicolon - type.ptr);
    return str_trim(type);
}

static bool ends_in(struct str s, struct str end)
{
    return s.len > end.len && str_equal_nocase(cut(s, s.len - end.len, s.len), end);
}

bool content_type_is_json(const char *content_type)
{
    struct str type = media_type(content_type);
    return type_is(type, "application/json") || str_equal_nocase(type, STR("text/json")) ||
           ends_in(type, STR("+json"));
}

enum page_type content_type_page(const char *content_type, struct str bytes)
{
    struct str type = media_type(content_type);

    if (says_nothing(type))
        return type_by_bytes(bytes);
    if (str_equal_nocase(type, STR("text/html")))
        return PAGE_HTML;
    if (ends_in(type, STR("+xml")) || str_equal_nocase(type, STR("text/xml")) ||
            str_equal_nocase(type, STR("application/xml")))
        return PAGE_XML;
    if (type_is(type, "text/") || content_type_is_json(content_type) ||
            type_is(type, "application/javascript") || type_is(type, "application/x-ndjson") ||
            type_is(type, "application/yaml") || type_is(type, "application/toml") ||
            type_is(type, "message/"))
        return PAGE_TEXT;
    return PAGE_DATA;
}
