/* Bytes to UTF-8, whatever the server sent.
 *
 * libxml2 would do this too, but one bad byte makes it read the rest of the page as
 * Latin-1: a false change over a whole page.  So it must hold that
 *  (1) the charset is chosen once, for the whole page: byte order mark, then the header,
 *      then what the document declares, then UTF-8 if it looks like it, else windows-1252,
 *  (2) each bad byte becomes one U+FFFD and spoils nothing else, and
 *  (3) what comes out is UTF-8 without exception.
 */
#include "page/bundle.h"
#include <errno.h>
#include <iconv.h>

static const char replacement[] = "\xEF\xBF\xBD";

const uint16_t page_high_1252[32] = {
        0x20AC,
        0x81,
        0x201A,
        0x0192,
        0x201E,
        0x2026,
        0x2020,
        0x2021,
        0x02C6,
        0x2030,
        0x0160,
        0x2039,
        0x0152,
        0x8D,
        0x017D,
        0x8F,
        0x90,
        0x2018,
        0x2019,
        0x201C,
        0x201D,
        0x2022,
        0x2013,
        0x2014,
        0x02DC,
        0x2122,
        0x0161,
        0x203A,
        0x0153,
        0x9D,
        0x017E,
        0x0178,
};

static bool append_char(struct buf *out, uint32_t c)
{
    char utf8[4];
    size_t n = utf8_encode(c, utf8);
    return buf_append(out, utf8, n);
}

static void decode_utf8(struct str s, struct buf *out)
{
    size_t good = 0;

    for (size_t i = 0; i < s.len;) {
        size_t n = s.ptr[i] & 0x80 ? utf8_length(s.ptr + i, s.len - i) : 1;
        if (n) {
            i += n;
            continue;
        }
        buf_append(out, s.ptr + good, i - good);
        buf_append(out, replacement, 3); /* (2) */
        good = ++i;
    }
    buf_append(out, s.ptr + good, s.len - good);
}

static void decode_1252(struct str s, struct buf *out)
{
    for (size_t i = 0; i < s.len;) {
        size_t from = i;
        while (i < s.len && !(s.ptr[i] & 0x80))
            i++;
        buf_append(out, s.ptr + from, i - from);
        for (; i < s.len && (s.ptr[i] & 0x80); i++) {
            unsigned char c = (unsigned char)s.ptr[i];
            append_char(out, c < 0xA0 ? page_high_1252[c - 0x80] : c);
        }
    }
}

static uint32_t unit_16(struct str s, size_t i, bool big)
{
    unsigned char a = (unsigned char)s.ptr[i], b = (unsigned char)s.ptr[i + 1];
    return big ? (uint32_t)(a << 8 | b) : (uint32_t)(b << 8 | a);
}

static void decode_utf16(struct str s, bool big, struct buf *out)
{
    size_t i = 0;

    while (i + 1 < s.len) {
        uint32_t u = unit_16(s, i, big);
        i += 2;
        if (u < 0xD800 || u > 0xDFFF) {
            append_char(out, u);
            continue;
        }
        uint32_t low = u < 0xDC00 && i + 1 < s.len ? unit_16(s, i, big) : 0;
        if (low < 0xDC00 || low > 0xDFFF) {
            append_char(out, 0xFFFD);
            continue;
        }
        append_char(out, 0x10000 + ((u - 0xD800) << 10) + (low - 0xDC00));
        i += 2;
    }
    if (i < s.len)
        append_char(out, 0xFFFD);
}

/* Some charsets (windows-1255, windows-1258, Big5-HKSCS) hold a letter back, for a mark may
 * follow that belongs to it.  Takes it out of the converter's hands. */
static void iconv_flush(iconv_t cd, struct buf *out)
{
    char last[64], *to = last;
    size_t room = sizeof last;

    if (iconv(cd, NULL, NULL, &to, &room) != (size_t)-1)
        buf_append(out, last, (size_t)(to - last));
}

static bool decode_iconv(struct str s, const char *name, struct buf *out)
{
    iconv_t cd = iconv_open("UTF-8", name);
    char *in = (char *)(uintptr_t)s.ptr, chunk[8192];
    size_t left = s.len;
    bool shifts = strcmp(name, "ISO-2022-JP") == 0; /* flushing would forget the alphabet */
    bool is_gb = strcmp(name, "GB18030") == 0;

    if (cd == (iconv_t)-1)
        return false;
    while (left && !out->overflowed) {
        char *to = chunk;
        size_t room = sizeof(chunk);
        size_t n = iconv(cd, &in, &left, &to, &room);
        int why = n == (size_t)-1 ? errno : 0;
        buf_append(out, chunk, (size_t)(to - chunk));
        if ((why == EILSEQ || why == EINVAL) && left) {
            if (!shifts)
                iconv_flush(cd, out);
            if (is_gb && *in == '\x80') /* which Windows made of it, and the web after it */
                append_char(out, 0x20AC);
            else
                buf_append(out, replacement, 3); /* (2) */
            in++;
            left--;
        }
    }
    iconv_flush(cd, out);
    iconv_close(cd);
    return true;
}

/* Undeclared bytes are UTF-8 when its sequences outnumber the bytes that break it: a page
 * with one bad byte stays UTF-8, a page in windows-1252 hardly ever looks like it. */
static bool looks_like_utf8(struct str s)
{
    size_t good = 0, bad = 0;

    if (utf8_is_valid(s.ptr, s.len))
        return true;
    for (size_t i = 0; i < s.len;) {
        size_t n = s.ptr[i] & 0x80 ? utf8_length(s.ptr + i, s.len - i) : 1;
        good += n > 1;
        bad += n == 0;
        i += n ? n : 1;
    }
    return bad == 0 || good > bad;
}

static size_t byte_order_mark(struct str s, struct charset *ret)
{
    if (s.len >= 3 && memcmp(s.ptr, "\xEF\xBB\xBF", 3) == 0) {
        *ret = (struct charset){CHARSET_UTF8, "utf-8"};
        return 3;
    }
    if (s.len >= 2 && memcmp(s.ptr, "\xFF\xFE", 2) == 0) {
        *ret = (struct charset){CHARSET_UTF16LE, "utf-16le"};
        return 2;
    }
    if (s.len >= 2 && memcmp(s.ptr, "\xFE\xFF", 2) == 0) {
        *ret = (struct charset){CHARSET_UTF16BE, "utf-16be"};
        return 2;
    }
    return 0;
}

/* UTF-16 that begins with "<" and something, as XML's appendix F tells it without a byte order
 * mark; in HTML only what begins like an XML declaration. */
static bool begins_like_utf16(struct str s, enum page_type type, struct charset *ret)
{
    bool is_big = s.len >= 4 && s.ptr[0] == 0;
    size_t low = is_big ? 1 : 0; /* where the bytes are that tell letters */

    if (s.len < 4 || s.ptr[low] != '<' || s.ptr[1 - low] || !s.ptr[low + 2] || s.ptr[3 - low])
        return false;
    if (type != PAGE_XML && (type != PAGE_HTML || s.ptr[low + 2] != '?'))
        return false;
    *ret = is_big ? (struct charset){CHARSET_UTF16BE, "utf-16be"}
                  : (struct charset){CHARSET_UTF16LE, "utf-16le"};
    return true;
}

static struct charset choose(struct str s, const char *content_type, size_t *ret_skip)
{
    struct charset c;
    struct str label = content_type_charset(content_type);
    enum page_type type = content_type_page(content_type, s);

    *ret_skip = byte_order_mark(s, &c);
    if (*ret_skip)
        return c;
    if (label.len && charset_find(label, &c))
        return c;
    if (begins_like_utf16(s, type, &c) || charset_declared_xml(s, &c))
        return c;
    if (type != PAGE_TEXT && charset_declared_html(s, &c))
        return c;
    if (looks_like_utf8(s))
        return (struct charset){CHARSET_UTF8, "utf-8"};
    return (struct charset){CHARSET_1252, "windows-1252"};
}

static void decode_as(struct str s, struct charset *c, struct buf *out)
{
    if (c->how == CHARSET_ICONV && !decode_iconv(s, c->name, out))
        *c = (struct charset){CHARSET_1252, "windows-1252"}; /* not known to this machine */
    switch (c->how) {
    case CHARSET_UTF8:
        decode_utf8(s, out);
        break;
    case CHARSET_1252:
        decode_1252(s, out);
        break;
    case CHARSET_UTF16LE:
    case CHARSET_UTF16BE:
        decode_utf16(s, c->how == CHARSET_UTF16BE, out);
        break;
    case CHARSET_ICONV:
        break;
    }
}

/* Valid UTF-8 stays where it is. */
static enum err decode(const struct page_source *src, struct buf *out, struct fault *f,
        struct charset *ret_charset, struct str *ret_text)
{
    struct str s = {src->len ? src->bytes : "", src->len};
    size_t skip;

    if (src->len > PAGE_BODY_MAX)
        return fault_set(
                f, ERR_LIMIT, "the page has %zu bytes, more than %d", src->len, PAGE_BODY_MAX);
    *ret_charset = choose(s, src->content_type, &skip);
    s.ptr += skip;
    s.len -= skip;
    buf_clear(out);
    *ret_text = s;
    if (s.len == 0 || (ret_charset->how == CHARSET_UTF8 && utf8_is_valid(s.ptr, s.len)))
        return OK;
    decode_as(s, ret_charset, out);
    if (out->overflowed)
        return fault_set(f, ERR_LIMIT, "the decoded page is larger than %zu bytes", out->max);
    *ret_text = (struct str){buf_text(out), out->len};
    return OK;
}

enum err decode_text(
        const struct page_source *src, struct buf *out, struct fault *f, struct str *ret_text)
{
    struct charset c;
    return decode(src, out, f, &c, ret_text);
}

enum err page_decode(const struct page_source *src, struct buf *out, struct fault *f,
        const char **ret_charset)
{
    struct charset c;
    struct str text;
    if (page_is_bundle(src->content_type)) {
        if (ret_charset)
            *ret_charset = "utf-8";
        return bundle_decode(src, out, f);
    }
    enum err e = decode(src, out, f, &c, &text);

    if (e)
        return e;
    if (out->len == 0 && !buf_append(out, text.ptr, text.len))
        return fault_set(f, ERR_LIMIT, "the decoded page is larger than %zu bytes", out->max);
    if (ret_charset)
        *ret_charset = c.name;
    return OK;
}
