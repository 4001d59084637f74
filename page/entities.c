/* Character references, as the HTML standard reads them.
 *
 * libxml2 knows the names of HTML 4 only and wants their semicolon, so a page that begins
 * to write &check; or &copy without one would look changed or garbled.  It must hold that
 *  (1) a name is matched as long as possible, with its semicolon if it has one,
 *  (2) without a semicolon only the old names count, and in an attribute not even those
 *      when a letter, digit or '=' follows (?a=1&copy=2 is an address, not a sign), and
 *  (3) a number never yields what is no character.
 */
#include "page/page_int.h"
#include <stdlib.h>

struct entity {
    const char *name;
    bool bare; /* may stand without its semicolon */
    const char *utf8;
};

static const struct entity entities[] = {
#include "page/entities.inc"
};

enum { NAME_MAX_LEN = 32 };

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int compare_name(struct str s, const char *name)
{
    int c = strncmp(s.ptr, name, s.len);
    return c ? c : (name[s.len] ? -1 : 0);
}

static const struct entity *entity_find(struct str name)
{
    size_t low = 0, high = countof(entities);

    while (low < high) {
        size_t middle = (low + high) / 2;
        int c = compare_name(name, entities[middle].name);
        if (c == 0)
            return &entities[middle];
        if (c < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static int digit_value(char c, unsigned radix)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (radix == 16 && to_lower(c) >= 'a' && to_lower(c) <= 'f')
        return to_lower(c) - 'a' + 10;
    return -1;
}

static uint32_t number_meaning(uint32_t n)
{
    if (n >= 0x80 && n < 0xA0)
        return page_high_1252[n - 0x80];
    if (n == 0 || n > 0x10FFFF || (n >= 0xD800 && n < 0xE000)) /* (3) */
        return 0xFFFD;
    return n;
}

static size_t number_read(struct str s, char out[8], size_t *ret_len)
{
    unsigned radix = s.len > 2 && to_lower(s.ptr[2]) == 'x' ? 16 : 10;
    size_t first = radix == 16 ? 3 : 2, i = first;
    uint32_t n = 0;

    for (; i < s.len && digit_value(s.ptr[i], radix) >= 0; i++)
        n = n > 0x10FFFF ? n : n * radix + (uint32_t)digit_value(s.ptr[i], radix);
    if (i == first)
        return 0;
    *ret_len = utf8_encode(number_meaning(n), out);
    return i < s.len && s.ptr[i] == ';' ? i + 1 : i;
}

static size_t give(const struct entity *e, size_t taken, char out[8], size_t *ret_len)
{
    *ret_len = strlen(e->utf8);
    memcpy(out, e->utf8, *ret_len);
    return taken;
}

size_t reference_read(struct str s, bool in_attribute, char out[8], size_t *ret_len)
{
    if (s.len > 1 && s.ptr[1] == '#')
        return number_read(s, out, ret_len);

    size_t len = 0;
    while (len < NAME_MAX_LEN && 1 + len < s.len && is_alnum(s.ptr[1 + len]))
        len++;
    if (len == 0)
        return 0;
    if (1 + len < s.len && s.ptr[1 + len] == ';') {
        const struct entity *e = entity_find((struct str){s.ptr + 1, len});
        if (e)
            return give(e, len + 2, out, ret_len);
    }
    for (; len > 1; len--) { /* (1) */
        const struct entity *e = entity_find((struct str){s.ptr + 1, len});
        if (!e || !e->bare)
            continue;
        char next = 1 + len < s.len ? s.ptr[1 + len] : 0;
        if (in_attribute && (next == '=' || is_alnum(next))) /* (2) */
            return 0;
        return give(e, len + 1, out, ret_len);
    }
    return 0;
}
