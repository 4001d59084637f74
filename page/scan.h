/* scan -- where a run of plain bytes ends, sixteen bytes at a time.
 *
 * Pages are long runs of bytes that mean nothing special.  Each question is asked of sixteen
 * bytes and answered by sixteen bits, by the processor's own means where it has them.
 */
#pragma once
#include "base/check.h"
#include <stddef.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { SCAN_STEP = 16, SCAN_ALL = 0xFFFF };

#ifdef __SSE2__

static inline unsigned scan_bits(__m128i v)
{
    return (unsigned)_mm_movemask_epi8(v);
}

/* Which are `a` or `b`. */
static inline unsigned scan_two_of(const char *p, char a, char b)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    return scan_bits(_mm_or_si128(
            _mm_cmpeq_epi8(v, _mm_set1_epi8(a)), _mm_cmpeq_epi8(v, _mm_set1_epi8(b))));
}

/* Which are no letters, digits or signs of ASCII: space, controls, all above. */
static inline unsigned scan_odd(const char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    return ~scan_bits(_mm_cmpgt_epi8(v, _mm_set1_epi8(' '))) & SCAN_ALL;
}

/* Of text: which are spaces, which are no ASCII, and which (returned) are controls or may
 * begin a character that is white space or none at all. */
static inline unsigned scan_text(const char *p, unsigned *ret_spaces, unsigned *ret_high)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i leads = _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8((char)0xC2)),
            _mm_cmpeq_epi8(v, _mm_set1_epi8((char)0xEF)));
    *ret_high = scan_bits(v);
    *ret_spaces = scan_bits(_mm_cmpeq_epi8(v, _mm_set1_epi8(' ')));
    return (scan_bits(_mm_cmplt_epi8(v, _mm_set1_epi8(' '))) & ~*ret_high) | scan_bits(leads);
}

#else

static inline unsigned scan_two_of(const char *p, char a, char b)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < SCAN_STEP; i++)
        bits |= (unsigned)(p[i] == a || p[i] == b) << i;
    return bits;
}

static inline unsigned scan_odd(const char *p)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < SCAN_STEP; i++)
        bits |= (unsigned)((signed char)p[i] <= ' ') << i;
    return bits;
}

static inline unsigned scan_text(const char *p, unsigned *ret_spaces, unsigned *ret_high)
{
    unsigned odd = 0;

    *ret_spaces = *ret_high = 0;
    for (unsigned i = 0; i < SCAN_STEP; i++) {
        unsigned char c = (unsigned char)p[i];
        *ret_spaces |= (unsigned)(c == ' ') << i;
        *ret_high |= (unsigned)(c >= 0x80) << i;
        odd |= (unsigned)(c < ' ' || c == 0xC2 || c == 0xEF) << i;
    }
    return odd;
}

#endif

/* How many of sixteen bytes are ASCII before the first that is not. */
static inline unsigned scan_ascii(const char *p)
{
    unsigned spaces, high;

    scan_text(p, &spaces, &high);
    return high ? (unsigned)__builtin_ctz(high) : SCAN_STEP;
}

/* The first byte that is `a` or `b`; `end` when there is none. */
static inline const char *scan_to(const char *p, const char *end, char a, char b)
{
    for (; end - p >= SCAN_STEP; p += SCAN_STEP) {
        unsigned stops = scan_two_of(p, a, b);
        if (stops)
            return p + __builtin_ctz(stops);
    }
    while (p < end && *p != a && *p != b)
        p++;
    return p;
}

/* The first byte that is `quote`, '&', or no letter, digit or sign of ASCII (DEL is none). */
static inline const char *scan_value(const char *p, const char *end, char quote)
{
    for (; end - p >= SCAN_STEP; p += SCAN_STEP) {
        unsigned stops = scan_two_of(p, quote, '&') | scan_two_of(p, 0x7F, 0x7F) | scan_odd(p);
        if (stops)
            return p + __builtin_ctz(stops);
    }
    while (p < end && *p != quote && *p != '&' && *p != 0x7F && (signed char)*p > ' ')
        p++;
    return p;
}

/* Copies n bytes; where that may be done quicker, up to COPY_STEP.  There must be room for so
 * many; `readable` bytes, n at least, may be read. */
enum { COPY_STEP = 32 };
static inline void copy_near(char *to, const char *from, size_t n, size_t readable)
{
    if (n <= COPY_STEP && readable >= COPY_STEP) {
        unsigned __int128 all[2]; /* read as a whole before it is written */
        memcpy(all, from, sizeof all);
        memcpy(to, all, sizeof all);
    } else {
        memcpy(to, from, n);
    }
}
