/* Text as people compare it: white space squeezed, Unicode composed.
 *
 * Two servers may write the same é as one character or as two, and the same gap as a space,
 * a line end or U+00A0.  It must hold that
 *  (1) runs of white space become one space, and what was not white space stays,
 *  (2) the result is in normal form C, and
 *  (3) plain ASCII, nearly all there is, pays for neither.
 */
#include "page/page_int.h"
#include <stdlib.h>
#include <utf8proc.h>

/* Characters that are composed already and never join with a neighbour from this same set:
 * Latin, Cyrillic, general punctuation, kana, ideographs, Hangul syllables. */
static bool stays_composed(uint32_t c)
{
    return c < 0x300 || (c >= 0x400 && c <= 0x482) || (c >= 0x48A && c <= 0x52F) ||
           (c >= 0x2010 && c <= 0x205E) || c == 0x20AC || (c >= 0x3041 && c <= 0x3096) ||
           (c >= 0x309B && c <= 0x30FF) || (c >= 0x4E00 && c <= 0x9FFF) ||
           (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xFF01 && c <= 0xFF9D);
}

static bool is_composed(const char *s, size_t len)
{
    for (size_t i = 0; i < len;) {
        if (!(s[i] & 0x80)) {
            i++;
            continue;
        }
        uint32_t c;
        i += utf8_decode(s + i, len - i, &c);
        if (!stays_composed(c))
            return false;
    }
    return true;
}

/* Composes out->data[from..] in place. */
static bool compose_tail(struct buf *out, size_t from)
{
    utf8proc_uint8_t *composed = NULL;
    utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)out->data + from,
            (utf8proc_ssize_t)(out->len - from), &composed, UTF8PROC_STABLE | UTF8PROC_COMPOSE);

    if (n < 0)
        return false; /* memory; the text itself is valid */
    out->len = from;
    bool ok = buf_append(out, composed, (size_t)n);
    free(composed);
    return ok;
}

bool text_normalise(struct str s, struct buf *out)
{
    size_t from = out->len;
    bool ascii = true, in_space = false;

    if (!buf_reserve(out, s.len + 1))
        return false;
    char *to = out->data + from;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        bool nbsp = c == 0xC2 && i + 1 < s.len && (unsigned char)s.ptr[i + 1] == 0xA0;
        if (nbsp || is_space((char)c)) {
            i += nbsp;
            if (!in_space) /* (1) */
                *to++ = ' ';
            in_space = true;
            continue;
        }
        in_space = false;
        if (c == 0) /* it would end the text in the digest */
            continue;
        ascii &= c < 0x80;
        *to++ = (char)c;
    }
    out->len = (size_t)(to - out->data);
    out->data[out->len] = 0;
    if (ascii || is_composed(out->data + from, out->len - from)) /* (3) */
        return true;
    return compose_tail(out, from);
}
