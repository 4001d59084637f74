/* Values on their way into a statement.
 *
 * Text may come from a page or a header: PostgreSQL refuses bytes that are no UTF-8, and
 * jsonb refuses U+0000, and a change must not be lost over either.  So both are replaced by
 * U+FFFD here, in the one place every value passes.
 */
#include "store/store_int.h"
#include "base/str.h"
#include <limits.h>

static void put(struct params *p, const char *value, size_t len, int format)
{
    CHECK(p->n < PARAMS_MAX && len <= INT_MAX);
    p->values[p->n] = value;
    p->lengths[p->n] = (int)len;
    p->formats[p->n] = format;
    p->n++;
}

void params_int(struct params *p, int64_t n)
{
    put(p, arena_printf(p->scratch, "%lld", (long long)n), 0, 0);
}

void params_id(struct params *p, int64_t id)
{
    if (id)
        params_int(p, id);
    else
        put(p, NULL, 0, 0);
}

void params_time(struct params *p, msec at)
{
    if (at == MSEC_NEVER)
        put(p, NULL, 0, 0);
    else
        params_int(p, at);
}

void params_text(struct params *p, const char *s)
{
    put(p, text_clean(p->scratch, s), 0, 0);
}

void params_json(struct params *p, const char *s)
{
    put(p, json_clean(p->scratch, s), 0, 0);
}

void params_bool(struct params *p, bool b)
{
    put(p, b ? "t" : "f", 0, 0);
}

void params_bytes(struct params *p, const void *bytes, size_t len)
{
    put(p, bytes, len, 1);
}

void params_raw_text(struct params *p, const char *s)
{
    put(p, s, s ? strlen(s) : 0, 1);
}

const char *text_clean(struct arena *scratch, const char *s)
{
    if (!s || utf8_is_valid(s, strlen(s)))
        return s;
    size_t len = strlen(s), to = 0;
    char *clean = arena_alloc(scratch, arena_array_bytes(len, 3) + 1);
    for (size_t i = 0; i < len;) {
        size_t n = utf8_length(s + i, len - i);
        memcpy(clean + to, n ? s + i : "\xef\xbf\xbd", n ? n : 3);
        to += n ? n : 3;
        i += n ? n : 1;
    }
    clean[to] = 0;
    return clean;
}

const char *json_clean(struct arena *scratch, const char *s)
{
    s = text_clean(scratch, s);
    if (!s || !strstr(s, "\\u0000"))
        return s;
    char *clean = arena_strdup(scratch, s);
    for (char *at = clean; (at = strchr(at, '\\')); at += 2) { /* an escape is two at least */
        if (strncmp(at, "\\u0000", 6) == 0)
            memcpy(at, "\\ufffd", 6);
        else if (!at[1])
            break;
    }
    return clean;
}

void array_begin(struct buf *b)
{
    buf_clear(b);
    buf_putc(b, '{');
}

static void comma(struct buf *b)
{
    if (b->len > 1)
        buf_putc(b, ',');
}

void array_int(struct buf *b, int64_t n)
{
    comma(b);
    buf_printf(b, "%lld", (long long)n);
}

void array_bool(struct buf *b, bool v)
{
    comma(b);
    buf_putc(b, v ? 't' : 'f');
}

void array_null(struct buf *b)
{
    comma(b);
    buf_puts(b, "NULL");
}

void array_text(struct buf *b, struct arena *scratch, const char *s)
{
    comma(b);
    s = text_clean(scratch, s);
    if (!s) {
        buf_puts(b, "NULL");
        return;
    }
    buf_putc(b, '"');
    while (*s) {
        size_t plain = strcspn(s, "\"\\");
        buf_append(b, s, plain);
        s += plain;
        if (*s) {
            buf_putc(b, '\\');
            buf_putc(b, *s++);
        }
    }
    buf_putc(b, '"');
}

void array_end(struct buf *b)
{
    buf_putc(b, '}');
}
