#include "base/buf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.max = max};
}

void buf_done(struct buf *b)
{
    free(b->data);
    *b = (struct buf){.max = b->max};
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->overflowed = false;
    if (b->data)
        b->data[0] = 0;
}

bool buf_reserve(struct buf *b, size_t more)
{
    if (b->overflowed || more > b->max - b->len) {
        b->overflowed = true;
        return false;
    }
    size_t need = b->len + more + 1; /* the terminating zero is not counted in max */
    if (need <= b->cap)
        return true;
    size_t cap = b->cap ? b->cap : 64;
    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    if (cap > b->max + 1)
        cap = b->max + 1;
    char *data = realloc(b->data, cap);
    if (!data) {
        b->overflowed = true;
        return false;
    }
    b->data = data;
    b->cap = cap;
    return true;
}

bool buf_append(struct buf *b, const void *bytes, size_t len)
{
    if (!buf_reserve(b, len))
        return false;
    if (len)
        memcpy(b->data + b->len, bytes, len);
    b->len += len;
    b->data[b->len] = 0;
    return true;
}

bool buf_puts(struct buf *b, const char *s)
{
    return buf_append(b, s, strlen(s));
}

bool buf_putc(struct buf *b, char c)
{
    if (b->overflowed || b->len + 1 >= b->cap || b->len >= b->max)
        return buf_append(b, &c, 1);
    b->data[b->len++] = c;
    b->data[b->len] = 0;
    return true;
}

bool buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    size_t room = b->overflowed || !b->data ? 0 : b->cap - b->len; /* it mostly fits */
    int n = vsnprintf(room ? b->data + b->len : NULL, room, fmt, again);
    va_end(again);
    CHECK(n >= 0);
    if (!buf_reserve(b, (size_t)n)) {
        if (room)
            b->data[b->len] = 0;
        return false;
    }
    if ((size_t)n < room) {
        b->len += (size_t)n;
        return true;
    }
    vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
    b->len += (size_t)n;
    return true;
}

bool buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    bool fits = buf_vprintf(b, fmt, ap);
    va_end(ap);
    return fits;
}

const char *buf_text(const struct buf *b)
{
    return b->data ? b->data : "";
}

char *buf_take(struct buf *b, size_t *ret_len)
{
    char *data = b->data;
    if (ret_len)
        *ret_len = b->len;
    *b = (struct buf){.max = b->max};
    return data;
}
