#include "base/json.h"
#include "base/bytes16.h"
#include <math.h>
#include <string.h>

void json_init(struct json *j, struct buf *out)
{
    *j = (struct json){.out = out};
}

/* Called before each value: writes the comma that is due, unless a key was just written. */
static void value_begins(struct json *j)
{
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (j->has_member >> j->depth & 1)
        buf_putc(j->out, ',');
    j->has_member |= (uint64_t)1 << j->depth;
}

static void open_level(struct json *j, char c)
{
    value_begins(j);
    buf_putc(j->out, c);
    CHECK(j->depth < 63);
    j->depth++;
    j->has_member &= ~((uint64_t)1 << j->depth);
}

static void close_level(struct json *j, char c)
{
    CHECK(j->depth > 0 && !j->after_key);
    j->depth--;
    buf_putc(j->out, c);
}

void json_object_begin(struct json *j)
{
    open_level(j, '{');
}

void json_object_end(struct json *j)
{
    close_level(j, '}');
}

void json_array_begin(struct json *j)
{
    open_level(j, '[');
}

void json_array_end(struct json *j)
{
    close_level(j, ']');
}

/* Those of sixteen bytes that are not plain ASCII, or are control characters, quotes or
 * backslashes. */
static bytes16 not_plain(bytes16 x)
{
    typedef signed char signed16 __attribute__((vector_size(16)));
    bytes16 low = (bytes16)((signed16)x < ' '); /* bytes above ASCII are negative */

    return low | (bytes16)(x == '"') | (bytes16)(x == '\\') | (bytes16)(x == 0x7F);
}

/* Copies less than sixteen bytes. */
static void copy_few(char *to, const char *from, size_t len)
{
    if (len >= 8) {
        memcpy(to, from, 8);
        memcpy(to + len - 8, from + len - 8, 8);
    } else if (len >= 4) {
        memcpy(to, from, 4);
        memcpy(to + len - 4, from + len - 4, 4);
    } else if (len) {
        to[0] = from[0];
        to[len / 2] = from[len / 2];
        to[len - 1] = from[len - 1];
    }
}

/* How many bytes from here on stand in JSON as they are: most of all there is. */
static size_t plain_length(const char *s, size_t len)
{
    size_t i = 0;

    for (; len - i >= 16; i += 16) {
        unsigned plain = bytes16_first(not_plain(bytes16_at(s + i)));
        if (plain < 16)
            return i + plain;
    }
    if (i < len) {
        char last[16];
        memset(last, ' ', sizeof last);
        if (i) /* some of them again */
            memcpy(last, s + len - 16, 16);
        else
            copy_few(last, s, len);
        if (bytes16_first(not_plain(bytes16_at(last))) == 16)
            return len;
    }
    while (i < len && (signed char)s[i] >= ' ' && s[i] != '"' && s[i] != '\\' && s[i] != 0x7F)
        i++;
    return i;
}

/* C1 controls: a terminal acts on them. */
static bool is_control(const char *s, size_t n)
{
    return n == 2 && (unsigned char)s[0] == 0xC2 && (unsigned char)s[1] < 0xA0;
}

/* The same with characters beyond ASCII. */
static size_t unescaped_length(const char *s, size_t len)
{
    for (size_t i = 0, n;; i += n) {
        i += plain_length(s + i, len - i);
        unsigned char c = (unsigned char)(i < len ? s[i] : 0);
        n = c >= 0xC3 && c <= 0xDF && len - i >= 2 && (s[i + 1] & 0xC0) == 0x80 ? 2
            : c & 0x80 ? utf8_length(s + i, len - i)
                       : 0;
        if (n == 0 || is_control(s + i, n))
            return i;
    }
}

static void write_escaped(struct buf *out, struct str s)
{
    if (s.len + 2 <= out->max - out->len && unescaped_length(s.ptr, s.len) == s.len &&
            buf_reserve(out, s.len + 2)) {
        char *at = out->data + out->len;
        at[0] = at[s.len + 1] = '"';
        if (s.len)
            memcpy(at + 1, s.ptr, s.len);
        at[s.len + 2] = 0;
        out->len += s.len + 2;
        return;
    }
    buf_putc(out, '"');
    for (size_t i = 0; i < s.len;) {
        size_t plain = unescaped_length(s.ptr + i, s.len - i);
        if (plain) {
            buf_append(out, s.ptr + i, plain);
            i += plain;
            continue;
        }
        unsigned char c = (unsigned char)s.ptr[i];
        size_t n = utf8_length(s.ptr + i, s.len - i);
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c == '\n')
            buf_puts(out, "\\n");
        else if (c == '\t')
            buf_puts(out, "\\t");
        else if (c < 0x20 || c == 0x7F)
            buf_printf(out, "\\u%04x", c);
        else if (is_control(s.ptr + i, n))
            buf_printf(out, "\\u%04x", (unsigned char)s.ptr[i + 1]);
        else
            buf_puts(out, "\xEF\xBF\xBD"); /* U+FFFD for each byte that is no character */
        i += n ? n : 1;
    }
    buf_putc(out, '"');
}

/* The usual key, with its comma, in one go. */
static bool write_plain_key(struct json *j, struct str key)
{
    bool comma = j->has_member >> j->depth & 1;

    if (key.len + 4 > j->out->max - j->out->len || plain_length(key.ptr, key.len) < key.len ||
            !buf_reserve(j->out, key.len + 4))
        return false;
    char *at = j->out->data + j->out->len;
    *at = ',';
    at += comma;
    *at++ = '"';
    memcpy(at, key.ptr, key.len);
    memcpy(at + key.len, "\":", 3); /* and the zero behind it */
    j->out->len += comma + key.len + 3;
    j->has_member |= (uint64_t)1 << j->depth;
    return true;
}

void json_key(struct json *j, const char *key)
{
    CHECK(!j->after_key);
    if (!write_plain_key(j, str_of(key))) {
        value_begins(j);
        write_escaped(j->out, str_of(key));
        buf_putc(j->out, ':');
    }
    j->after_key = true;
}

void json_str(struct json *j, struct str s)
{
    value_begins(j);
    write_escaped(j->out, s);
}

void json_text(struct json *j, const char *s)
{
    if (s)
        json_str(j, str_of(s));
    else
        json_none(j);
}

void json_int(struct json *j, int64_t n)
{
    value_begins(j);
    buf_printf(j->out, "%lld", (long long)n);
}

void json_number(struct json *j, double n)
{
    value_begins(j);
    if (isfinite(n))
        buf_printf(j->out, "%.10g", n);
    else
        buf_puts(j->out, "null");
}

void json_bool(struct json *j, bool b)
{
    value_begins(j);
    buf_puts(j->out, b ? "true" : "false");
}

void json_none(struct json *j)
{
    value_begins(j);
    buf_puts(j->out, "null");
}

void json_raw(struct json *j, const char *json_text)
{
    value_begins(j);
    /* Text inside may hold controls that JSON allows but a terminal acts on. */
    for (const char *p = json_text; *p;) {
        size_t plain = strcspn(p, "\x7F\xC2");
        buf_append(j->out, p, plain);
        p += plain;
        if (*p == 0x7F) {
            buf_puts(j->out, "\\u007f");
            p++;
        } else if (*p) {
            bool control = (unsigned char)p[1] >= 0x80 && (unsigned char)p[1] < 0xA0;
            if (control)
                buf_printf(j->out, "\\u%04x", (unsigned char)p[1]);
            else
                buf_putc(j->out, *p);
            p += control ? 2 : 1;
        }
    }
}
