/* str -- small questions about text that C leaves open. */
#pragma once
#include "base/check.h"
#include <string.h>

/* Text that is not ours to terminate: a slice of a page, of a definition. */
struct str {
    const char *ptr;
    size_t len;
};

#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})
static inline struct str str_of(const char *s)
{
    return (struct str){s, s ? strlen(s) : 0};
}

bool str_equal(struct str a, struct str b);
bool str_equal_nocase(struct str a, struct str b); /* ASCII case only */
bool str_starts_nocase(struct str s, struct str prefix);
struct str str_trim(struct str s); /* ASCII white space */

/* Copies at most size-1 bytes, never cuts a UTF-8 character in two, always terminates. */
void str_copy(char *to, size_t size, const char *from);

/* Whole text as a number; false on anything left over or out of range. */
bool str_to_int(struct str s, int64_t *ret);

/* Length in bytes of the well-formed UTF-8 character at the start, 0 if it is not one. */
size_t utf8_length(const char *s, size_t len);
bool utf8_is_valid(const char *s, size_t len);
/* Decodes the character at s (which must be well formed), returns its length. */
size_t utf8_decode(const char *s, size_t len, uint32_t *ret_char);
size_t utf8_encode(uint32_t c, char out[4]);
size_t utf8_count(const char *s); /* characters; bytes that are none count as one each */
/* Shown, it stays in its line and its place: neither a control nor a mark that makes text run
 * backwards or cannot be seen. */
bool utf8_is_harmless(uint32_t c);

/* Levenshtein distance with transposition, ASCII case ignored; gives up above `limit`. */
unsigned str_distance(struct str a, struct str b, unsigned limit);
