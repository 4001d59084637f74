/* hash -- signatures of bytes.  XXH3-128 in memory, SHA-256 where it is stored, HMAC where a
 * stranger is to believe it. */
#pragma once
#include "base/check.h"

struct hash128 {
    uint64_t lo, hi;
};

struct sha256 {
    unsigned char bytes[32];
};

struct hash128 hash128_of(const void *bytes, size_t len);
/* With a key that whoever chose the bytes does not know. */
struct hash128 hash128_keyed(const void *bytes, size_t len, uint64_t key);
static inline bool hash128_equal(struct hash128 a, struct hash128 b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

/* The sum of its contents that a zstd frame carries: four bytes of XXH64. */
uint32_t hash_zstd_sum(const void *bytes, size_t len);

/* For tables whose keys strangers choose: another function in each process. */
uint64_t hash64_keyed(const void *bytes, size_t len);

struct sha256 sha256_of(const void *bytes, size_t len);
bool sha256_equal(const struct sha256 *a, const struct sha256 *b);
void sha256_hex(const struct sha256 *d, char hex[65]);

/* RFC 2104: who knows the key signed these bytes. */
struct sha256 hmac_sha256(const void *key, size_t key_len, const void *bytes, size_t len);
