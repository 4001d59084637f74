#include "base/hash.h"
#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h> /* the same functions, the fastest this processor can do */
#endif

struct hash128 hash128_of(const void *bytes, size_t len)
{
    XXH128_hash_t h = XXH3_128bits(bytes, len);
    return (struct hash128){.lo = h.low64, .hi = h.high64};
}

uint32_t hash_zstd_sum(const void *bytes, size_t len)
{
    return (uint32_t)XXH64(bytes, len, 0);
}

static uint64_t seed;
static pthread_once_t seed_once = PTHREAD_ONCE_INIT;

static void seed_make(void)
{
    CHECK(getrandom(&seed, sizeof seed, 0) == sizeof seed);
}

uint64_t hash64_keyed(const void *bytes, size_t len)
{
    pthread_once(&seed_once, seed_make);
    return XXH3_64bits_withSeed(bytes, len, seed);
}

struct hash128 hash128_keyed(const void *bytes, size_t len, uint64_t key)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(bytes, len, key);
    return (struct hash128){.lo = h.low64, .hi = h.high64};
}

struct sha256 sha256_of(const void *bytes, size_t len)
{
    struct sha256 d;
    unsigned n = 0;
    CHECK(EVP_Digest(bytes, len, d.bytes, &n, EVP_sha256(), NULL) == 1 && n == sizeof d.bytes);
    return d;
}

bool sha256_equal(const struct sha256 *a, const struct sha256 *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

void sha256_hex(const struct sha256 *d, char hex[65])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < sizeof d->bytes; i++) {
        hex[2 * i] = digits[d->bytes[i] >> 4];
        hex[2 * i + 1] = digits[d->bytes[i] & 15];
    }
    hex[64] = 0;
}

struct sha256 hmac_sha256(const void *key, size_t key_len, const void *bytes, size_t len)
{
    struct sha256 d;
    unsigned n = 0;
    CHECK(key_len <= INT_MAX);
    CHECK(HMAC(EVP_sha256(), key, (int)key_len, bytes, len, d.bytes, &n) &&
            n == sizeof d.bytes);
    return d;
}
