/* What the questions of one place remember from pair to pair, as one text.
 *
 * A sentinel over several pages may ask more than one question of a page, so each part's text
 * stands behind a line with its number and length: "0 57\n" and 57 bytes.
 */
#include "engine/directory.h"
#include "base/str.h"
#include <stdlib.h>

/* The next part behind *at; false at the end, or where it cannot be read. */
static bool next_part(const char **at, unsigned *ret_part, struct str *ret_text)
{
    char *end;
    unsigned long part = strtoul(*at, &end, 10);
    if (end == *at || *end != ' ')
        return false;
    unsigned long long len = strtoull(end + 1, &end, 10);
    if (*end != '\n' || strlen(end + 1) < len)
        return false;
    *ret_part = (unsigned)part;
    *ret_text = (struct str){end + 1, (size_t)len};
    *at = end + 1 + len;
    return true;
}

struct str answers_get(const char *text, unsigned part)
{
    unsigned found;
    struct str s;
    for (const char *at = text ? text : ""; next_part(&at, &found, &s);)
        if (found == part)
            return s;
    return (struct str){NULL, 0};
}

char *answers_with(const char *text, unsigned part, struct str answer)
{
    BUF(out, ANSWERS_MAX);
    unsigned found;
    struct str s;
    buf_printf(&out, "%u %zu\n", part, answer.len);
    buf_append(&out, answer.ptr, answer.len);
    for (const char *at = text ? text : ""; next_part(&at, &found, &s);)
        if (found != part) {
            buf_printf(&out, "%u %zu\n", found, s.len);
            buf_append(&out, s.ptr, s.len);
        }
    char *copy = out.overflowed ? NULL : strdup(buf_text(&out));
    CHECK(copy || out.overflowed);
    return copy;
}
