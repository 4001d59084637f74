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
#include "page/scan.h"
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
            i += len - i >= SCAN_STEP ? scan_ascii(s + i) : 1;
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

/* What is no plain character, at p: writes what it becomes, returns the place behind it. */
static const char *squeeze_odd(
        const char *p, const char *end, char **to, bool *at_space, bool *unicode)
{
    unsigned char c = (unsigned char)*p++, d = p < end ? (unsigned char)*p : 0;
    bool space = is_space((char)c);

    if (c == 0xC2 && d == 0xA0) {
        space = true;
        p++;
    } else if (c == 0xEF && d == 0xBF && end - p >= 2 && (unsigned char)p[1] >= 0xBE) {
        return p + 2; /* U+FFFE, U+FFFF: no characters */
    } else if (c >= 0x80) {
        *(*to)++ = (char)c;
        *at_space = false;
        *unicode = true;
        return p;
    }
    if (space && !*at_space) { /* (1) */
        *(*to)++ = ' ';
        *at_space = true;
    }
    return p;
}

char *text_squeeze(struct str s, const char *limit, char *to, bool *at_space, bool *unicode)
{
    const char *p = s.ptr, *end = s.ptr + s.len;

    while (p < end) {
        size_t n = 0;
        if (limit - p >=
                SCAN_STEP) { /* what is behind the end is copied too, and overwritten */
            unsigned spaces, high, odd = scan_text(p, &spaces, &high);
            unsigned stops = odd | (spaces & (spaces << 1 | *at_space));
            size_t left = (size_t)(end - p);
            n = left < SCAN_STEP ? left : SCAN_STEP;
            if (stops && (size_t)__builtin_ctz(stops) < n)
                n = (size_t)__builtin_ctz(stops);
            memcpy(to, p, SCAN_STEP);
            unsigned taken = (1u << n) - 1;
            *unicode |= (high & taken) != 0;
            if (n)
                *at_space = spaces >> (n - 1) & 1;
            to += n;
            p += n;
            if (n == SCAN_STEP || p == end)
                continue;
        } else if (*p > ' ') { /* signed: neither control nor high */
            *to++ = *p++;
            *at_space = false;
            continue;
        }
        p = squeeze_odd(p, end, &to, at_space, unicode);
    }
    return to;
}

bool text_normalise(struct str s, struct buf *out)
{
    size_t from = out->len;
    bool at_space = false, unicode = false;

    if (!buf_reserve(out, s.len + TEXT_SQUEEZE_ROOM))
        return false;
    out->len = (size_t)(text_squeeze(s, s.ptr + s.len, out->data + from, &at_space, &unicode) -
                        out->data);
    out->data[out->len] = 0;
    return !unicode || text_compose(out, from); /* (2) */
}
