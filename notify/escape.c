/* The one writer of foreign text.
 *
 * Whatever came from a page, a server or a definition leaves through here (or, in JSON,
 * through base/json.h), so there is one place to be right about it:
 *  (1) in HTML none of & < > " ' is left, so text can neither open a tag nor leave a quoted
 *      attribute;
 *  (2) nowhere is a character left that moves a cursor, ends a line, or makes text run
 *      backwards; and
 *  (3) what comes out is UTF-8, whatever went in.
 */
#include "notify/notify_int.h"

static const char replacement[] = "\xEF\xBF\xBD";

static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    }
    return NULL;
}

void escape(struct buf *out, enum escape_place place, struct str s, size_t most)
{
    size_t shown = 0;
    for (size_t i = 0; i < s.len; shown++) {
        if (most && shown == most) {
            buf_puts(out, "…");
            return;
        }
        size_t n = utf8_length(s.ptr + i, s.len - i);
        uint32_t c = 0;
        if (n)
            utf8_decode(s.ptr + i, s.len - i, &c);
        const char *named = place == ESCAPE_HTML && n == 1 ? entity(s.ptr[i]) : NULL;
        if (named)
            buf_puts(out, named); /* (1) */
        else if (c == '\n' || c == '\t' || (c == '\r' && n))
            buf_putc(out, ' ');
        else if (n == 0 || !utf8_is_harmless(c))
            buf_puts(out, replacement); /* (2), (3) */
        else
            buf_append(out, s.ptr + i, n);
        i += n ? n : 1;
    }
}

void escape_text(struct buf *out, enum escape_place place, const char *s)
{
    if (s)
        escape(out, place, str_of(s), 0);
}

/* ---- headers of a mail ---- */

enum { LINE_COLUMNS = 76, WORD_FRAME = 12 }; /* =?UTF-8?B??= */

static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] < 0x20 || (unsigned char)s.ptr[i] >= 0x7F)
            return false;
    return true;
}

/* Looks like an encoded word although it is not one. */
static bool is_ambiguous(struct str s)
{
    for (size_t i = 0; i + 1 < s.len; i++)
        if (s.ptr[i] == '=' && s.ptr[i + 1] == '?')
            return true;
    return false;
}

static void put_base64(struct buf *out, struct str s)
{
    static const char digits[] =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < s.len; i += 3) {
        unsigned long bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (i + k < s.len ? (unsigned char)s.ptr[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            buf_putc(out, i + k > s.len ? '=' : digits[bits >> (18 - 6 * k) & 63]);
    }
}

/* Plain words, folded between them. */
static void put_folded(struct buf *out, struct str s, size_t used)
{
    while (s.len) {
        size_t word = 0;
        while (word < s.len && s.ptr[word] == ' ')
            word++;
        while (word < s.len && s.ptr[word] != ' ')
            word++;
        if (used + word > LINE_COLUMNS && used > 1 && s.ptr[0] == ' ') {
            buf_puts(out, "\r\n");
            used = 0;
        }
        buf_append(out, s.ptr, word);
        used += word;
        s.ptr += word;
        s.len -= word;
    }
}

static bool has_long_word(struct str s)
{
    size_t run = 0;
    for (size_t i = 0; i < s.len; i++) {
        run = s.ptr[i] == ' ' ? 0 : run + 1;
        if (run > LINE_COLUMNS - 20)
            return true;
    }
    return false;
}

void escape_header(struct buf *out, const char *text, size_t used)
{
    BUF(clean, 64 << 10);
    escape(&clean, ESCAPE_PLAIN, str_of(text), 400);
    struct str s = str_trim((struct str){buf_text(&clean), clean.len});
    if (is_plain(s) && !is_ambiguous(s) && !has_long_word(s)) {
        put_folded(out, s, used);
        return;
    }
    for (size_t at = 0; at < s.len;) {
        size_t n = 0, room = (LINE_COLUMNS - WORD_FRAME - used) / 4 * 3;
        while (at + n < s.len) {
            size_t c = utf8_length(s.ptr + at + n, s.len - at - n);
            if (n + c > room)
                break;
            n += c;
        }
        if (at > 0)
            buf_puts(out, "\r\n ");
        buf_puts(out, "=?UTF-8?B?");
        put_base64(out, (struct str){s.ptr + at, n});
        buf_puts(out, "?=");
        at += n;
        used = 1;
    }
}
