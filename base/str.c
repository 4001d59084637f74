#include "base/str.h"
#include <ctype.h>
#include <endian.h>

bool str_equal(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

bool str_equal_nocase(struct str a, struct str b)
{
    return a.len == b.len && str_starts_nocase(a, b);
}

bool str_starts_nocase(struct str s, struct str prefix)
{
    if (s.len < prefix.len)
        return false;
    for (size_t i = 0; i < prefix.len; i++)
        if (lower(s.ptr[i]) != lower(prefix.ptr[i]))
            return false;
    return true;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
    while (s.len && is_space(s.ptr[0]))
        s.ptr++, s.len--;
    while (s.len && is_space(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

void str_copy(char *to, size_t size, const char *from)
{
    CHECK(size > 0);
    size_t len = strlen(from);
    if (len >= size) {
        len = size - 1;
        while (len > 0 && ((unsigned char)from[len] & 0xC0) == 0x80)
            len--;
    }
    memcpy(to, from, len);
    to[len] = 0;
}

bool str_to_int(struct str s, int64_t *ret)
{
    bool negative = s.len && s.ptr[0] == '-';
    size_t i = negative || (s.len && s.ptr[0] == '+') ? 1 : 0;
    int64_t n = 0;
    if (i == s.len)
        return false;
    for (; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
        int digit = s.ptr[i] - '0';
        if (__builtin_mul_overflow(n, 10, &n) ||
                __builtin_add_overflow(n, negative ? -digit : digit, &n))
            return false;
    }
    *ret = n;
    return true;
}

/* Well-formed as in Unicode table 3-7: no overlong forms, no surrogates, nothing above
 * U+10FFFF. */
size_t utf8_length(const char *s, size_t len)
{
    const unsigned char *p = (const unsigned char *)s;
    if (len == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    size_t n = p[0] >= 0xC2 && p[0] <= 0xDF   ? 2
               : (p[0] & 0xF0) == 0xE0        ? 3
               : p[0] >= 0xF0 && p[0] <= 0xF4 ? 4
                                              : 0;
    if (n == 0 || len < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
            (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F))
        return 0;
    return n;
}

/* How many of the eight bytes at s are ASCII before the first that is not. */
static size_t ascii_of_eight(const char *s)
{
    uint64_t eight;

    memcpy(&eight, s, 8);
    eight = le64toh(eight) & 0x8080808080808080u;
    return eight ? (size_t)__builtin_ctzll(eight) / 8 : 8;
}

bool utf8_is_valid(const char *s, size_t len)
{
    const char *end = s + len;

    while (s < end) {
        if (end - s >= 8) { /* ASCII, eight at a time */
            size_t plain = ascii_of_eight(s);
            s += plain;
            if (plain == 8)
                continue;
        }
        const unsigned char *p = (const unsigned char *)s;
        if (end - s >= 2 && p[0] >= 0xC2 && p[0] <= 0xDF && (p[1] & 0xC0) == 0x80) {
            s += 2; /* what most letters with accents are */
            continue;
        }
        size_t n = utf8_length(s, (size_t)(end - s));
        if (n == 0)
            return false;
        s += n;
    }
    return true;
}

size_t utf8_decode(const char *s, size_t len, uint32_t *ret_char)
{
    size_t n = utf8_length(s, len);
    const unsigned char *p = (const unsigned char *)s;
    CHECK(n > 0);
    static const unsigned char first_bits[5] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t c = p[0] & first_bits[n];
    for (size_t i = 1; i < n; i++)
        c = c << 6 | (p[i] & 0x3Fu);
    *ret_char = c;
    return n;
}

size_t utf8_encode(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first_mark[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (c & 0x3F));
        c >>= 6;
    }
    out[0] = (char)(first_mark[n] | c);
    return n;
}

size_t utf8_count(const char *s)
{
    size_t n = 0;
    for (size_t len = strlen(s), i = 0; i < len; n++) {
        size_t bytes = utf8_length(s + i, len - i);
        i += bytes ? bytes : 1;
    }
    return n;
}

bool utf8_is_harmless(uint32_t c)
{
    static const struct {
        uint32_t from, to;
    } odd[] = {{0, 0x1F}, {0x7F, 0x9F}, {0x061C, 0x061C}, {0x200E, 0x200F}, {0x2028, 0x202E},
            {0x2066, 0x2069}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}};
    for (size_t i = 0; i < countof(odd); i++)
        if (c >= odd[i].from && c <= odd[i].to)
            return false;
    return true;
}

enum { DISTANCE_LONGEST = 64 };

unsigned str_distance(struct str a, struct str b, unsigned limit)
{
    if (a.len > DISTANCE_LONGEST || b.len > DISTANCE_LONGEST ||
            (a.len > b.len ? a.len - b.len : b.len - a.len) > limit)
        return limit + 1;

    /* Three rows of the classic table are enough, the third for transpositions. */
    unsigned rows[3][DISTANCE_LONGEST + 1];
    unsigned *above2 = rows[0], *above = rows[1], *row = rows[2];
    for (unsigned j = 0; j <= b.len; j++)
        above[j] = j;
    for (unsigned i = 1; i <= a.len; i++) {
        row[0] = i;
        for (unsigned j = 1; j <= b.len; j++) {
            bool same = lower(a.ptr[i - 1]) == lower(b.ptr[j - 1]);
            unsigned best = above[j - 1] + !same;
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && lower(a.ptr[i - 1]) == lower(b.ptr[j - 2]) &&
                    lower(a.ptr[i - 2]) == lower(b.ptr[j - 1]) && above2[j - 2] + 1 < best)
                best = above2[j - 2] + 1;
            row[j] = best;
        }
        unsigned *spare = above2;
        above2 = above;
        above = row;
        row = spare;
    }
    return above[b.len] > limit ? limit + 1 : above[b.len];
}
