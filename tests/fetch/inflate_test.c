/* Gzip in pieces: whole, cut, damaged, hostile. */
#include "fetch/inflate.h"
#include "tests/test.h"

enum { ROOM = 8 << 20 };

/* Compresses `len` bytes; the result is to be freed. */
static unsigned char *pack(const void *bytes, size_t len, size_t *ret_len)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)bytes, .avail_in = (unsigned)len};
    size_t room = len + 1024;
    unsigned char *out = malloc(room);
    deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    z.next_out = out;
    z.avail_out = (unsigned)room;
    deflate(&z, Z_FINISH);
    *ret_len = room - z.avail_out;
    deflateEnd(&z);
    return out;
}

/* Feeds `len` bytes in pieces of `piece`. */
static enum fetch_inflate_result feed(struct fetch_inflate *in, const unsigned char *bytes,
        size_t len, size_t piece, struct buf *out)
{
    enum fetch_inflate_result r = FETCH_INFLATE_OK;
    for (size_t at = 0; at < len && r == FETCH_INFLATE_OK; at += piece)
        r = fetch_inflate(in, bytes + at, len - at < piece ? len - at : piece, out);
    return r;
}

static const char text[] = "one layer of gzip, in pieces of any size, to its very last byte";

TEST(pieces, "a stream comes out whole, whatever pieces it came in")
{
    size_t len;
    unsigned char *packed = pack(text, sizeof(text), &len);
    for (size_t piece = 1; piece <= len; piece++) {
        struct fetch_inflate in;
        BUF(out, ROOM);
        fetch_inflate_init(&in);
        EXPECT(feed(&in, packed, len, piece, &out) == FETCH_INFLATE_OK);
        EXPECT(fetch_inflate_is_complete(&in));
        EXPECT(out.len == sizeof(text) && memcmp(out.data, text, sizeof(text)) == 0);
        fetch_inflate_done(&in);
    }
    free(packed);
}

TEST(cut,
        "a stream cut anywhere is not complete, one with a wrong bit never comes out as it was")
{
    size_t len;
    unsigned char *packed = pack(text, sizeof(text), &len);
    for (size_t n = 1; n < len; n++) {
        struct fetch_inflate in;
        BUF(out, ROOM);
        fetch_inflate_init(&in);
        EXPECT(feed(&in, packed, n, 7, &out) == FETCH_INFLATE_OK);
        EXPECT(!fetch_inflate_is_complete(&in));
        fetch_inflate_done(&in);
    }
    for (size_t bit = 10 * 8; bit < len * 8; bit++) { /* behind the header's idle fields */
        struct fetch_inflate in;
        BUF(out, ROOM);
        fetch_inflate_init(&in);
        packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
        bool whole = feed(&in, packed, len, len, &out) == FETCH_INFLATE_OK &&
                     fetch_inflate_is_complete(&in);
        EXPECT(!whole ||
                (out.len == sizeof(text) && memcmp(out.data, text, sizeof(text)) == 0));
        packed[bit / 8] ^= (unsigned char)(1 << bit % 8);
        fetch_inflate_done(&in);
    }
    free(packed);
}

TEST(members, "streams one after the other are one body, padding behind them is ignored")
{
    size_t len;
    unsigned char *packed = pack(text, sizeof(text), &len), twice[1024] = {0};
    memcpy(twice, packed, len);
    memcpy(twice + len, packed, len);
    for (size_t piece = 1; piece <= 2 * len; piece += 5) {
        struct fetch_inflate in;
        BUF(out, ROOM);
        fetch_inflate_init(&in);
        EXPECT(feed(&in, twice, 2 * len + 20, piece, &out) == FETCH_INFLATE_OK);
        EXPECT(fetch_inflate_is_complete(&in));
        EXPECT_INT(out.len, 2 * sizeof(text));
        fetch_inflate_done(&in);
    }
    free(packed);
}

TEST(nothing, "nothing at all is an empty body, one byte is not")
{
    struct fetch_inflate in;
    BUF(out, ROOM);
    fetch_inflate_init(&in);
    EXPECT(fetch_inflate_is_complete(&in));
    EXPECT(fetch_inflate(&in, "\x1f", 1, &out) == FETCH_INFLATE_OK);
    EXPECT(!fetch_inflate_is_complete(&in));
    fetch_inflate_done(&in);
}

TEST(bomb, "a body that swells without measure is stopped soon after the first MiB")
{
    enum { N = 64 << 20 };
    char *zeros = calloc(1, N);
    size_t len;
    unsigned char *packed = pack(zeros, N, &len);
    struct fetch_inflate in;
    BUF(out, ROOM);
    fetch_inflate_init(&in);
    EXPECT(feed(&in, packed, len, 1400, &out) == FETCH_INFLATE_BOMB);
    EXPECT(out.len < 3 << 20);
    fetch_inflate_done(&in);

    BUF(small, 100000);
    fetch_inflate_init(&in);
    EXPECT(feed(&in, packed, len, 1400, &small) == FETCH_INFLATE_FULL);
    EXPECT(small.len <= 100000);
    fetch_inflate_done(&in);
    free(packed);

    packed = pack(zeros, 1 << 20, &len); /* a megabyte of nothing is no bomb yet */
    BUF(fits, ROOM);
    fetch_inflate_init(&in);
    EXPECT(feed(&in, packed, len, 1400, &fits) == FETCH_INFLATE_OK);
    EXPECT(fetch_inflate_is_complete(&in));
    fetch_inflate_done(&in);
    free(packed);
    free(zeros);
}
TEST_MAIN()
