/* buf -- bytes that grow, up to a maximum that must be named.
 *
 * Whatever an outsider sizes (a page, a message, a file) is collected in one of these.
 * When the maximum is hit or memory is short the append says so and the buffer stays as
 * it was and remembers `overflowed`, so a writer may append many times and ask once.
 */
#pragma once
#include "base/check.h"
#include <stdarg.h>

struct buf {
    char *data; /* data[len] is always 0 once something was appended */
    size_t len, cap, max;
    bool overflowed;
};

void buf_init(struct buf *b, size_t max);
void buf_done(struct buf *b);
void buf_clear(struct buf *b); /* empty again, memory kept */

bool buf_append(struct buf *b, const void *bytes, size_t len);
bool buf_puts(struct buf *b, const char *s);
bool buf_putc(struct buf *b, char c);
bool buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
bool buf_vprintf(struct buf *b, const char *fmt, va_list ap);
bool buf_reserve(struct buf *b, size_t more);   /* room for `more` bytes beyond len */
const char *buf_text(const struct buf *b);      /* "" when nothing was appended */
char *buf_take(struct buf *b, size_t *ret_len); /* hands the heap block over; free() it */

#define BUF(name, max_bytes) CLEANUP(buf_done) struct buf name = {.max = (max_bytes)}
