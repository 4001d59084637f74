/* Pages that are no markup: text line by line, anything else by its bytes.
 *
 * A text is one element, and a line of it a block of its own, so that a change is reported
 * by the line.  Of data there is nothing to compare but whether it is the same, so its
 * digest is one node that carries its length and its hash.
 */
#include "page/page_int.h"
#include <inttypes.h>
#include <stdio.h>

/* Takes what stands before the next such byte off the text. */
static struct str take_until(struct str *text, char c)
{
    const char *end = text->len ? memchr(text->ptr, c, text->len) : NULL;
    struct str front = {text->ptr, end ? (size_t)(end - text->ptr) : text->len};
    size_t taken = front.len + (end != NULL);

    *text = (struct str){text->ptr + taken, text->len - taken};
    return front;
}

/* Lines end with LF, CR or both. */
enum err plain_read(struct str text, struct build *b, struct fault *f)
{
    (void)f;
    build_open(b, STR("text"), NULL, 0);
    while (text.len) {
        struct str rest = take_until(&text, '\n');
        while (rest.len) {
            struct str line = str_trim(take_until(&rest, '\r'));
            if (line.len == 0)
                continue;
            build_text(b, line);
            build_break(b);
        }
    }
    build_close(b);
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
