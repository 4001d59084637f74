/* bytes16 -- sixteen bytes at once, on whatever machine.
 *
 * Operators work on each byte; a comparison gives 0xFF where it holds and 0 where it does not.
 */
#pragma once
#include <stdint.h>
#include <string.h>

typedef unsigned char bytes16 __attribute__((vector_size(16)));

static inline bytes16 bytes16_at(const char *p)
{
    bytes16 x;
    memcpy(&x, p, sizeof x);
    return x;
}

/* The first byte of a comparison that holds; 16: none does. */
static inline unsigned bytes16_first(bytes16 x)
{
#ifdef __SSE2__
    typedef char signed16 __attribute__((vector_size(16)));
    unsigned bits = (unsigned)__builtin_ia32_pmovmskb128((signed16)x);
    return bits ? (unsigned)__builtin_ctz(bits) : 16;
#else
    uint64_t half[2];
    memcpy(half, &x, sizeof half);
    if ((half[0] | half[1]) == 0)
        return 16;
    unsigned second = half[0] == 0;
    unsigned bit = (unsigned)(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
                                      ? __builtin_ctzll(half[second])
                                      : __builtin_clzll(half[second]));
    return 8 * second + bit / 8;
#endif
}
