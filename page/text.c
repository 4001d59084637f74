/* Text as people compare it: white space squeezed, Unicode composed.
 *
 * Two servers may write the same é as one character or as two, and the same gap as a space,
 * a line end or U+00A0.  It must hold that
 *  (1) runs of white space become one space, and what was not white space stays, but for
 *      control characters and noncharacters, which nobody sees,
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

bool text_compose(struct buf *out, size_t from)
{
    utf8proc_uint8_t *composed = NULL;

    if (is_composed(out->data + from, out->len - from)) /* (3) */
        return true;
    utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)out->data + from,
            (utf8proc_ssize_t)(out->len - from), &composed, UTF8PROC_STABLE | UTF8PROC_COMPOSE);

    if (n < 0)
        return false; /* memory; the text itself is valid */
    out->len = from;
    bool ok = buf_append(out, composed, (size_t)n);
    free(composed);
    return ok;
}

enum byte_class { BYTE_PLAIN, BYTE_SPACE, BYTE_CONTROL, BYTE_HIGH };

static enum byte_class class_of(unsigned char c)
{
    if (c >= 0x80)
        return BYTE_HIGH;
    if (c > ' ')
        return BYTE_PLAIN;
    return is_space((char)c) ? BYTE_SPACE : BYTE_CONTROL;
}

char *text_squeeze(struct str s, char *to, bool *at_space, bool *unicode)
{
    const char *p = s.ptr, *end = s.ptr + s.len;

    while (p < end) {
        const char *from = p;
        while (p<end && * p> ' ') /* signed: neither control nor high */
            p++;
        if (p > from) {
            memcpy(to, from, (size_t)(p - from));
            to += p - from;
            *at_space = false;
            if (p == end)
                break;
        }
        unsigned char c = (unsigned char)*p++, d = p < end ? (unsigned char)*p : 0;
        enum byte_class class = class_of(c);
        if (class == BYTE_HIGH && c == 0xC2 && d == 0xA0) {
            class = BYTE_SPACE;
            p++;
        }
        if (class == BYTE_HIGH && c == 0xEF && d == 0xBF && end - p >= 2 &&
                (unsigned char)p[1] >= 0xBE) {
            class = BYTE_CONTROL; /* U+FFFE, U+FFFF: no characters */
            p += 2;
        }
        if (class == BYTE_HIGH) {
            *to++ = (char)c;
            *at_space = false;
            *unicode = true;
        } else if (class == BYTE_SPACE && !*at_space) { /* (1) */
            *to++ = ' ';
            *at_space = true;
        }
    }
    return to;
}

bool text_normalise(struct str s, struct buf *out)
{
    size_t from = out->len;
    bool at_space = false, unicode = false;

    if (!buf_reserve(out, s.len + 1))
        return false;
    out->len = (size_t)(text_squeeze(s, out->data + from, &at_space, &unicode) - out->data);
    out->data[out->len] = 0;
    return !unicode || text_compose(out, from); /* (2) */
}
