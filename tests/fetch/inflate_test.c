/* Compressed bodies in pieces: whole, cut, damaged, hostile. */
#include "fetch/inflate.h"
#include "tests/test.h"
#include <brotli/encode.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

enum { ROOM = 8 << 20 };

static size_t pack_gzip(const void *bytes, size_t len, unsigned char *out, size_t room)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)bytes, .avail_in = (unsigned)len};
    deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    z.next_out = out;
    z.avail_out = (unsigned)room;
    deflate(&z, Z_FINISH);
    deflateEnd(&z);
    return room - z.avail_out;
}

/* Compresses `len` bytes; the result is to be freed. */
static unsigned char *pack(
        enum fetch_coding coding, const void *bytes, size_t len, size_t *ret_len)
{
    size_t room = len + 1024;
    unsigned char *out = malloc(room);
    *ret_len = room;
    if (coding == FETCH_CODING_GZIP)
        *ret_len = pack_gzip(bytes, len, out, room);
    else if (coding == FETCH_CODING_BROTLI)
        CHECK(BrotliEncoderCompress(
                5, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, len, bytes, ret_len, out));
    else
        *ret_len = ZSTD_compress(out, room, bytes, len, 3);
    return out;
}

#define each_coding(c)                                                                         \
    for (enum fetch_coding c = FETCH_CODING_GZIP; c < FETCH_CODING_COUNT; c++)

/* Feeds `len` bytes in pieces of `piece`. */
static enum fetch_inflate_result feed(struct fetch_inflate *in, const unsigned char *bytes,
        size_t len, size_t piece, struct buf *out)
{
    enum fetch_inflate_result r = FETCH_INFLATE_OK;
    for (size_t at = 0; at < len && r == FETCH_INFLATE_OK; at += piece)
        r = fetch_inflate(in, bytes + at, len - at < piece ? len - at : piece, out);
    return r;
}

static const char text[] = "one layer of it, in pieces of any size, to its very last byte";

TEST(pieces, "a stream comes out whole, whatever pieces it came in")
{
    each_coding(c)
    {
        size_t len;
        unsigned char *packed = pack(c, text, sizeof(text), &len);
        for (size_t piece = 1; piece <= len; piece++) {
            struct fetch_inflate in;
            BUF(out, ROOM);
            fetch_inflate_init(&in, c);
            EXPECT(feed(&in, packed, len, piece, &out) == FETCH_INFLATE_OK);
            EXPECT(fetch_inflate_is_complete(&in));
            EXPECT(out.len == sizeof(text) && memcmp(out.data, text, sizeof(text)) == 0);
            fetch_inflate_done(&in);
        }
        free(packed);
    }
}

TEST(long_ones, "what is longer than any buffer of ours comes out whole as well")
{
    enum { N = 3 << 20 };
    unsigned char *page = malloc(N);
    uint32_t dice = 1;
    for (size_t i = 0; i < N; i++) {
        dice = dice * 1664525 + 1013904223;
        page[i] = (unsigned char)('a' + (dice >> 24) % 20);
    }
    each_coding(c)
    {
        size_t len;
        unsigned char *packed = pack(c, page, N, &len);
        struct fetch_inflate in;
        BUF(out, ROOM);
        fetch_inflate_init(&in, c);
        EXPECT(feed(&in, packed, len, 64 * 1024 + 1, &out) == FETCH_INFLATE_OK);
        EXPECT(fetch_inflate_is_complete(&in));
        EXPECT(out.len == N && memcmp(out.data, page, N) == 0);
        fetch_inflate_done(&in);
        free(packed);
    }
    free(page);
}

TEST(cut, "a stream cut anywhere is not complete")
{
    each_coding(c)
    {
        size_t len;
        unsigned char *packed = pack(c, text, sizeof(text), &len);
        for (size_t n = 1; n < len; n++) {
            struct fetch_inflate in;
            BUF(out, ROOM);
            fetch_inflate_init(&in, c);
            EXPECT(feed(&in, packed, n, 7, &out) == FETCH_INFLATE_OK);
            EXPECT(!fetch_inflate_is_complete(&in));
            fetch_inflate_done(&in);
        }
        free(packed);
    }
}

/* Brotli has no checksum, and that of zstd is rarely there. */
TEST(damaged,
        "no bit can be wrong without notice where there is a checksum, and none does harm")
{
    each_coding(c)
    {
        size_t len;
        unsigned char *packed = pack(c, text, sizeof(text), &len);
        for (size_t bit = 10 * 8; bit < len * 8; bit++) { /* behind gzip's idle fields */
            struct fetch_inflate in;
            BUF(out, ROOM);
            fetch_inflate_init(&in, c);
            packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
            bool whole = feed(&in, packed, len, len, &out) == FETCH_INFLATE_OK &&
                         fetch_inflate_is_complete(&in);
            EXPECT(!whole || c != FETCH_CODING_GZIP ||
                    (out.len == sizeof(text) && memcmp(out.data, text, sizeof(text)) == 0));
            packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
            fetch_inflate_done(&in);
        }
        free(packed);
    }
}

TEST(members, "streams of gzip or zstd one after the other are one body")
{
    static const enum fetch_coding both[] = {FETCH_CODING_GZIP, FETCH_CODING_ZSTD};
    for (size_t i = 0; i < countof(both); i++) {
        size_t len;
        unsigned char *packed = pack(both[i], text, sizeof(text), &len), twice[1024] = {0};
        memcpy(twice, packed, len);
        memcpy(twice + len, packed, len);
        size_t padding = both[i] == FETCH_CODING_GZIP ? 20 : 0;
        for (size_t piece = 1; piece <= 2 * len; piece += 5) {
            struct fetch_inflate in;
            BUF(out, ROOM);
            fetch_inflate_init(&in, both[i]);
            EXPECT(feed(&in, twice, 2 * len + padding, piece, &out) == FETCH_INFLATE_OK);
            EXPECT(fetch_inflate_is_complete(&in));
            EXPECT_INT(out.len, 2 * sizeof(text));
            fetch_inflate_done(&in);
        }
        free(packed);
    }
}

TEST(nothing, "nothing at all is an empty body, one byte is not")
{
    each_coding(c)
    {
        struct fetch_inflate in;
        BUF(out, ROOM);
        fetch_inflate_init(&in, c);
        EXPECT(fetch_inflate_is_complete(&in));
        EXPECT(fetch_inflate(&in, c == FETCH_CODING_ZSTD ? "\x28" : "\x1f", 1, &out) ==
                FETCH_INFLATE_OK);
        EXPECT(!fetch_inflate_is_complete(&in));
        fetch_inflate_done(&in);
    }
}

TEST(bomb, "a body that swells without measure is stopped soon after the first MiB")
{
    enum { N = 64 << 20 };
    char *zeros = calloc(1, N);
    each_coding(c)
    {
        size_t len;
        unsigned char *packed = pack(c, zeros, N, &len);
        struct fetch_inflate in;
        BUF(out, ROOM);
        fetch_inflate_init(&in, c);
        EXPECT(feed(&in, packed, len, 1400, &out) == FETCH_INFLATE_BOMB);
        EXPECT(out.len < 3 << 20);
        fetch_inflate_done(&in);

        BUF(small, 100000);
        fetch_inflate_init(&in, c);
        EXPECT(feed(&in, packed, len, 1400, &small) == FETCH_INFLATE_FULL);
        EXPECT(small.len <= 100000);
        fetch_inflate_done(&in);
        free(packed);

        packed = pack(c, zeros, 1 << 20, &len); /* a megabyte of nothing is no bomb yet */
        BUF(fits, ROOM);
        fetch_inflate_init(&in, c);
        EXPECT(feed(&in, packed, len, 1400, &fits) == FETCH_INFLATE_OK);
        EXPECT(fetch_inflate_is_complete(&in));
        fetch_inflate_done(&in);
        free(packed);
    }
    free(zeros);
}

TEST(window, "a stream that wants more memory than a page may is refused")
{
    enum { N = 40 << 20 };
    char *zeros = calloc(1, N), *out = malloc(N);
    ZSTD_CCtx *c = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, 25);
    size_t len = ZSTD_compress2(c, out, N, zeros, N);
    REQUIRE(!ZSTD_isError(len));
    struct fetch_inflate in;
    BUF(page, ROOM);
    fetch_inflate_init(&in, FETCH_CODING_ZSTD);
    EXPECT(fetch_inflate(&in, out, len, &page) == FETCH_INFLATE_BROKEN);
    fetch_inflate_done(&in);
    ZSTD_freeCCtx(c);
    free(out);
    free(zeros);
}
TEST_MAIN()
