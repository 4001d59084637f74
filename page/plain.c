/* Pages that are no markup: text line by line, anything else by its bytes.
 *
 * A line of a text is a block of its own, so that a change is reported by the line.  JSON is
 * set in lines first, a member each, so that how it was set does not count.  Of
 * data there is nothing to compare but whether it is the same, so its digest is one node
 * that carries its length and its hash.
 */
#include "page/page_int.h"
#include <inttypes.h>
#include <stdio.h>

enum err plain_read(struct str text, struct build *b, struct fault *f)
{
    (void)f;
    build_open(b, STR("text"), NULL, 0);
    for (size_t at = 0; at < text.len;) {
        const char *end = memchr(text.ptr + at, '\n', text.len - at);
        size_t to = end ? (size_t)(end - text.ptr) : text.len;
        struct str line = str_trim((struct str){text.ptr + at, to - at});
        at = to + 1;
        if (line.len == 0)
            continue;
        build_open(b, STR("line"), NULL, 0);
        build_text(b, line);
        build_close(b);
    }
    build_close(b);
    return OK;
}

static void put_line(struct build *b, struct buf *line)
{
    if (line->len == 0)
        return;
    build_open(b, STR("line"), NULL, 0);
    build_text(b, (struct str){line->data, line->len});
    build_close(b);
    buf_clear(line);
}

/* Copies the string whose quote is at s[i]; returns the place behind it. */
static size_t put_string(struct str s, size_t i, struct buf *line)
{
    size_t from = i++;

    while (i < s.len && s.ptr[i] != '"')
        i += s.ptr[i] == '\\' ? 2 : 1;
    i = i < s.len ? i + 1 : s.len;
    buf_append(line, s.ptr + from, i - from);
    return i;
}

enum err json_read(struct str text, struct build *b, struct fault *f)
{
    BUF(line, text.len * 2 + 16);

    (void)f;
    build_open(b, STR("json"), NULL, 0);
    for (size_t i = 0; i < text.len;) {
        char c = text.ptr[i];
        if (c == '"') {
            i = put_string(text, i, &line);
            continue;
        }
        i++;
        if (is_space(c))
            continue;
        if (c == '}' || c == ']')
            put_line(b, &line);
        if (c != ',') /* a member that is no longer the last has not changed */
            buf_putc(&line, c);
        if (c == ':')
            buf_putc(&line, ' ');
        if (c == ',' || c == '{' || c == '[')
            put_line(b, &line);
    }
    put_line(b, &line);
    build_close(b);
    b->overflowed |= line.overflowed;
    return OK;
}

enum err data_read(const struct page_source *src, struct build *b, struct fault *f)
{
    struct hash128 h = hash128_of(src->len ? src->bytes : "", src->len);
    char bytes[32], hash[40];

    (void)f;
    snprintf(bytes, sizeof bytes, "%zu", src->len);
    snprintf(hash, sizeof hash, "%016" PRIx64 "%016" PRIx64, h.hi, h.lo);
    struct pair attrs[] = {{.name = STR("bytes"), .value = str_of(bytes)},
            {.name = STR("hash"), .value = str_of(hash)}};
    build_open(b, STR("data"), attrs, countof(attrs));
    build_close(b);
    return OK;
}
