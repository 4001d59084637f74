/* Deltas between two that are nearly the same, read back by zstd itself. */
#include "store/store_int.h"
#include "tests/test.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 600 << 10 };

static uint64_t state;

static unsigned below(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

static void fill(char *to, size_t len)
{
    for (size_t i = 0; i < len; i++)
        to[i] = (char)below(256);
}

/* Replaces `out` bytes at `at` by `in` others; the new length. */
static size_t edit(char *bytes, size_t len, size_t at, size_t out, size_t in)
{
    at = at > len ? len : at;
    out = out > len - at ? len - at : out;
    memmove(bytes + at + in, bytes + at + out, len - at - out);
    fill(bytes + at, in);
    return len - out + in;
}

static bool is_same_again(
        const char *bytes, size_t len, const char *base, size_t base_len, bool *ret_patched)
{
    BUF(packed, zip_most(MOST) + 1);
    BUF(again, MOST);
    *ret_patched = patch(bytes, len, base, base_len, &packed);
    if (!*ret_patched && !zip_delta(bytes, len, base, base_len, &packed))
        return false;
    return unzip_delta(packed.data, packed.len, base, base_len, &again) && again.len == len &&
           memcmp(again.data, bytes, len) == 0 && (!*ret_patched || packed.len < 2000);
}

TEST(one_word, "one word that changed is told in a few bytes, wherever it stands")
{
    char *base = malloc(MOST), *bytes = malloc(MOST);
    CHECK(base && bytes);
    const size_t lens[] = {
            1100, 5000, 42000, 131071, 131072, 131073, 131075, 262143, 262144, 262147, 400000};
    for (size_t i = 0; i < countof(lens); i++) {
        const size_t at[] = {0, 1, 2, 3, 30, lens[i] / 2, 131070, lens[i] - 40, lens[i] - 12,
                lens[i] - 11, lens[i] - 10};
        fill(base, lens[i]);
        for (size_t k = 0; k < countof(at); k++)
            for (size_t in = 0; in < 50; in += 7) {
                bool patched = false;
                memcpy(bytes, base, lens[i]);
                size_t len = edit(bytes, lens[i], at[k], 10, in);
                EXPECT(is_same_again(bytes, len, base, lens[i], &patched) && patched);
            }
    }
    free(base);
    free(bytes);
}

TEST(same, "contents that did not change, or lost an end, are told too")
{
    char *base = malloc(MOST);
    CHECK(base);
    bool patched = false;
    fill(base, 300000);
    EXPECT(is_same_again(base, 300000, base, 300000, &patched) && patched);
    EXPECT(is_same_again(base, 2000, base, 300000, &patched) && patched);
    EXPECT(is_same_again(base + 298000, 2000, base, 300000, &patched) && patched);
    EXPECT(is_same_again(base, 300000, base, 299990, &patched) && patched);
    EXPECT(is_same_again(base, 300000, base + 10, 299990, &patched) && patched);
    free(base);
}

TEST(others, "what has little in common is left to zstd")
{
    char *base = malloc(MOST), *bytes = malloc(MOST);
    CHECK(base && bytes);
    bool patched = true;
    fill(base, 5000);
    fill(bytes, 5000);
    EXPECT(is_same_again(bytes, 5000, base, 5000, &patched) && !patched);
    EXPECT(is_same_again(bytes, 5000, base, 0, &patched) && !patched);
    EXPECT(is_same_again(bytes, 0, base, 5000, &patched) && !patched);
    EXPECT(is_same_again(base, 1000, base, 5000, &patched) && !patched);
    free(base);
    free(bytes);
}

TEST(many, "whatever is edited, zstd reads back what was there")
{
    char *base = malloc(MOST), *bytes = malloc(MOST);
    CHECK(base && bytes);
    unsigned patches = 0;
    for (unsigned round = 0; round < 3000; round++) {
        bool patched = false;
        size_t base_len = below(round % 50 ? 20000 : 300000), len = base_len;
        unsigned kinds = 1 + below(255), edits = below(8);
        for (size_t i = 0; i < base_len; i++)
            base[i] = (char)below(kinds);
        memcpy(bytes, base, base_len);
        for (unsigned i = 0; i < edits; i++) {
            unsigned out = below(4) ? below(40) : below(3000), in = below(3) ? out : below(900);
            len = edit(bytes, len, below((unsigned)len + 1), out, in);
        }
        EXPECT(is_same_again(bytes, len, base, base_len, &patched));
        patches += patched;
    }
    EXPECT(patches > 1000);
    free(base);
    free(bytes);
}

TEST(other_base, "with another base at hand it is refused")
{
    char base[5000], bytes[5000];
    BUF(packed, MOST);
    BUF(again, MOST);
    fill(base, sizeof base);
    memcpy(bytes, base, sizeof base);
    bytes[2500] ^= 1;
    EXPECT(patch(bytes, sizeof bytes, base, sizeof base, &packed));
    base[100] ^= 1;
    EXPECT(!unzip_delta(packed.data, packed.len, base, sizeof base, &again));
}

static bool is_plain(const struct buf *frame, const char *bytes, size_t len)
{
    size_t inside = 0;
    const char *at = plain_contents(frame->data, frame->len, &inside);
    return at && inside == len && memcmp(at, bytes, len) == 0;
}

TEST(plain, "a digest that hardly shrinks is kept as it is, and read as any other")
{
    static char bytes[PLAIN_MOST + 1];
    const size_t lens[] = {
            1, 2, 255, 256, 31000, 65535, 65536, PLAIN_MOST - 1, PLAIN_MOST, PLAIN_MOST + 1};
    BUF(packed, MOST);
    BUF(again, MOST);
    fill(bytes, sizeof bytes);
    for (size_t i = 0; i < countof(lens); i++) {
        EXPECT(zip_digest(bytes, lens[i], &packed) && packed.len <= zip_most(lens[i]));
        EXPECT(is_plain(&packed, bytes, lens[i]) == (lens[i] <= PLAIN_MOST));
        EXPECT(zip_has_sum(packed.data, packed.len));
        EXPECT(unzip(packed.data, packed.len, &again) && again.len == lens[i] &&
                memcmp(again.data, bytes, lens[i]) == 0);
    }
    EXPECT(zip_digest(bytes, 0, &packed) && unzip(packed.data, packed.len, &again));
    EXPECT_INT(again.len, 0);
    memset(bytes, 'a', 31000); /* it shrinks: it is packed */
    EXPECT(zip_digest(bytes, 31000, &packed) && packed.len < 1000);
    EXPECT(!is_plain(&packed, bytes, 31000) && unzip(packed.data, packed.len, &again));
    EXPECT(again.len == 31000 && memcmp(again.data, bytes, 31000) == 0);
}

TEST(plain_damaged, "what is kept as it is has a sum, and no other shape is taken for it")
{
    char bytes[300];
    size_t inside;
    BUF(packed, MOST);
    BUF(again, MOST);
    fill(bytes, sizeof bytes);
    EXPECT(plain(bytes, sizeof bytes, &packed));
    for (size_t i = 0; i < packed.len; i++) {
        packed.data[i] ^= 4;
        EXPECT(!unzip(packed.data, packed.len, &again));
        EXPECT(i >= 12 || !plain_contents(packed.data, packed.len, &inside));
        packed.data[i] ^= 4;
        EXPECT(!plain_contents(packed.data, i, &inside));
        EXPECT(!unzip(packed.data, i, &again));
    }
    buf_putc(&packed, 0);
    EXPECT(!plain_contents(packed.data, packed.len, &inside));
    EXPECT(!zip_has_sum("", 0) && !zip_has_sum("abcd\4", 5));
}

TEST_MAIN()
