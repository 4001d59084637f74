#include "base/json.h"
#include <math.h>
#include <string.h>

void json_init(struct json *j, struct buf *out)
{
    *j = (struct json){.out = out};
}

/* Most of what is written is short and there is room for it; `cap` is at most max + 1. */
static inline bool has_room(const struct buf *b, size_t n)
{
    return b->len + n < b->cap && !b->overflowed;
}

static inline void put_char(struct buf *b, char c)
{
    if (!has_room(b, 1)) {
        buf_putc(b, c);
        return;
    }
    b->data[b->len++] = c;
    b->data[b->len] = 0;
}

/* Called before each value: writes the comma that is due, unless a key was just written. */
static void value_begins(struct json *j)
{
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    if (j->has_member >> j->depth & 1)
        put_char(j->out, ',');
    j->has_member |= (uint64_t)1 << j->depth;
}

static void open_level(struct json *j, char c)
{
    value_begins(j);
    put_char(j->out, c);
    CHECK(j->depth < 63);
    j->depth++;
    j->has_member &= ~((uint64_t)1 << j->depth);
}

static void close_level(struct json *j, char c)
{
    CHECK(j->depth > 0 && !j->after_key);
    j->depth--;
    put_char(j->out, c);
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

/* Sixteen bytes at once, on whatever machine. */
typedef signed char signed16 __attribute__((vector_size(16)));
typedef uint64_t two64 __attribute__((vector_size(16)));

/* Whether the first byte of a word is its lowest: then the first that stops is known. */
#define ENDS_KNOWN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

/* How many of sixteen bytes are plain ASCII and no control character, quote or backslash, up
 * to the first that is not; less than sixteen without ENDS_KNOWN: there is one. */
static inline size_t plain_of_16(const char *s)
{
    signed16 x;

    memcpy(&x, s, sizeof x);
    two64 stops = (two64)((x < ' ') | (x == '"') | (x == '\\') | (x == 0x7F));
    if ((stops[0] | stops[1]) == 0) /* bytes above ASCII are negative */
        return 16;
    return stops[0] ? (size_t)__builtin_ctzll(stops[0]) / 8
                    : 8 + (size_t)__builtin_ctzll(stops[1]) / 8;
}

/* The same of eight. */
static inline size_t plain_of_8(uint64_t x)
{
    const uint64_t each = 0x0101010101010101u;
    uint64_t quote = x ^ each * '"', slash = x ^ each * '\\', del = x ^ each * 0x7F;
    uint64_t below = each * 0x7F; /* added, it sets the high bit of all but zero bytes */
    uint64_t plain =
            ~x & (x + each * (0x80 - ' ')) & (quote + below) & (slash + below) & (del + below);
    uint64_t stops = ~plain & each << 7; /* right up to the first of them */
    return stops ? (size_t)__builtin_ctzll(stops) / 8 : 8;
}

static size_t plain_slowly(const char *s, size_t len)
{
    size_t i = 0;

    while (i < len && (signed char)s[i] >= ' ' && s[i] != '"' && s[i] != '\\' && s[i] != 0x7F)
        i++;
    return i;
}

static inline uint64_t eight_bytes(const char *s)
{
    uint64_t x;
    memcpy(&x, s, sizeof x);
    return x;
}

static inline uint64_t four_bytes(const char *s)
{
    uint32_t x;
    memcpy(&x, s, sizeof x);
    return x;
}

/* How many bytes from here on stand in JSON as they are: most of all there is. */
static size_t plain_length(const char *s, size_t len)
{
    size_t i = 0, n = 0;

    for (; len - i >= 16; i += 16)
        if ((n = plain_of_16(s + i)) < 16)
            return ENDS_KNOWN ? i + n : i + plain_slowly(s + i, len - i);
    if (len - i >= 8) {
        if ((n = plain_of_8(eight_bytes(s + i))) < 8)
            return ENDS_KNOWN ? i + n : i + plain_slowly(s + i, len - i);
        i += 8;
    }
    /* The last, some of them again. */
    if (i > 0)
        n = plain_of_8(eight_bytes(s + len - 8));
    else if (len >= 4)
        n = plain_of_8(four_bytes(s) << 32 | four_bytes(s + len - 4));
    return n == 8 ? len : i + plain_slowly(s + i, len - i);
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
        n = i < len && (s[i] & 0x80) ? utf8_length(s + i, len - i) : 0;
        if (n == 0 || is_control(s + i, n))
            return i;
    }
}

static void write_escaped(struct buf *out, struct str s)
{
    if (s.len + 2 <= out->max - out->len &&
            (plain_length(s.ptr, s.len) == s.len || unescaped_length(s.ptr, s.len) == s.len) &&
            (has_room(out, s.len + 2) || buf_reserve(out, s.len + 2))) {
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

void json_key(struct json *j, const char *key)
{
    CHECK(!j->after_key);
    value_begins(j);
    write_escaped(j->out, str_of(key));
    put_char(j->out, ':');
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
