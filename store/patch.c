/* A delta between two that are nearly the same, without searching.
 *
 * Mostly one word of a page changes.  Then what comes before it stands where it stood, seen
 * from the beginning, and what comes after it, seen from the end.  Only there is looked for
 * what is the same; with more than a few places that differ, zstd's search does better.
 *
 * What is written is a zstd frame like any other delta's (RFC 8878), and read by the same
 * decoder: each stretch that is the same is a block of one sequence, whose three codes stand
 * for themselves (RLE mode), so that all there is to write are their extra bits.
 *
 *  (1) The frame is one segment: its window is its contents, so that the base can be reached
 *      to the end.
 *  (2) No block holds more than BLOCK_MOST bytes, and no match fewer than three.
 *  (3) An offset counts back over what is written and the base before it.  It is written with
 *      three added: smaller ones would mean offsets used before.
 */
#include "store/store_int.h"
#include "base/hash.h"
#include <endian.h>
#include <string.h>

enum { BLOCK_MOST = 128 << 10, MATCH_LEAST = 3 };

/* A stretch that is the same is worth a block from here on; and so many, or so much between
 * them, are few. */
enum { STRETCH_LEAST = 24, STRETCHES_MOST = 12, BETWEEN_MOST = 1000 };

/* Below, a block may be larger than the whole; above, offsets would not fit every reader. */
enum { BYTES_LEAST = 1 << 10, BYTES_MOST = 1 << 26 };

enum block_kind { BLOCK_RAW = 0, BLOCK_COMPRESSED = 2 };

struct patch {
    const unsigned char *bytes, *base;
    size_t len, base_len;
    size_t from; /* up to here it is written */
    unsigned stretches;
    size_t between; /* bytes */
    struct buf *out;
};

static void put_number(struct buf *out, uint64_t n, unsigned bytes)
{
    n = htole64(n);
    buf_append(out, &n, bytes);
}

static void put_block_head(struct patch *p, enum block_kind kind, size_t size, bool is_last)
{
    put_number(p->out, (uint64_t)is_last | (uint64_t)kind << 1 | (uint64_t)size << 3, 3);
}

/* ---- lengths as codes with extra bits ---- */

struct code {
    unsigned code, bits;
    uint64_t extra;
};

/* Where a code begins, from `first` on; those before stand for themselves. */
struct code_table {
    unsigned first, count;
    uint32_t begins[24];
    uint8_t bits[24];
};

static const struct code_table literals_table = {
        .first = 16,
        .count = 20,
        .begins = {16, 18, 20, 22, 24, 28, 32, 40, 48, 64, 128, 256, 512, 1024, 2048, 4096,
                8192, 16384, 32768, 65536},
        .bits = {1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
};

/* Less MATCH_LEAST. */
static const struct code_table match_table = {
        .first = 32,
        .count = 21,
        .begins = {32, 34, 36, 38, 40, 44, 48, 56, 64, 80, 96, 128, 256, 512, 1024, 2048, 4096,
                8192, 16384, 32768, 65536},
        .bits = {1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
};

static struct code code_of(const struct code_table *t, size_t n)
{
    unsigned i = t->count;
    if (n < t->first)
        return (struct code){(unsigned)n, 0, 0};
    while (t->begins[i - 1] > n)
        i--;
    return (struct code){t->first + i - 1, t->bits[i - 1], n - t->begins[i - 1]};
}

static struct code code_of_offset(size_t offset)
{
    uint64_t n = offset + 3; /* (3) */
    unsigned bits = 63 - (unsigned)__builtin_clzll(n);
    return (struct code){bits, bits, n - ((uint64_t)1 << bits)};
}

/* ---- blocks ---- */

/* Literals as they are, one sequence: so many bytes from so far back. */
static void put_stretch(struct patch *p, size_t literals, size_t offset, size_t len)
{
    struct code l = code_of(&literals_table, literals),
                m = code_of(&match_table, len - MATCH_LEAST), o = code_of_offset(offset);
    /* The last to be written is the first to be read: the offset's, behind a one. */
    uint64_t bits = l.extra | m.extra << l.bits | o.extra << (l.bits + m.bits) |
                    (uint64_t)1 << (l.bits + m.bits + o.bits);
    unsigned bits_bytes = (l.bits + m.bits + o.bits) / 8 + 1,
             head_bytes = literals < 32 ? 1 : 2;
    bool is_last = p->from + literals + len == p->len;

    put_block_head(p, BLOCK_COMPRESSED, head_bytes + literals + 5 + bits_bytes, is_last);
    if (head_bytes == 1)
        put_number(p->out, literals << 3, 1);
    else
        put_number(p->out, literals << 4 | 1 << 2, 2);
    buf_append(p->out, p->bytes + p->from, literals);
    put_number(p->out, 1, 1);    /* sequence */
    put_number(p->out, 0x54, 1); /* each code in RLE mode */
    put_number(p->out, l.code, 1);
    put_number(p->out, o.code, 1);
    put_number(p->out, m.code, 1);
    put_number(p->out, bits, bits_bytes);
    p->from += literals + len;
}

/* What is the same from `at` on, `offset` back; what was not written before it comes first. */
static void put_same(struct patch *p, size_t at, size_t offset, size_t len)
{
    while (len > 0) { /* (2) */
        size_t literals = at - p->from, most = BLOCK_MOST - literals;
        size_t piece = len <= most ? len : len - most < MATCH_LEAST ? most - MATCH_LEAST : most;
        put_stretch(p, literals, offset, piece);
        at += piece;
        len -= piece;
    }
}

static void put_rest(struct patch *p)
{
    size_t rest = p->len - p->from;
    if (rest == 0)
        return; /* the last stretch said so */
    put_block_head(p, BLOCK_RAW, rest, /* is_last= */ true);
    buf_append(p->out, p->bytes + p->from, rest);
    p->from = p->len;
}

/* ---- what is the same ---- */

static size_t count_same(const unsigned char *a, const unsigned char *b, size_t most)
{
    size_t n = 0;
    for (; n + 8 <= most; n += 8) {
        uint64_t x, y;
        memcpy(&x, a + n, 8);
        memcpy(&y, b + n, 8);
        if (x != y)
            return n + (size_t)__builtin_ctzll(htole64(x ^ y)) / 8;
    }
    while (n < most && a[n] == b[n])
        n++;
    return n;
}

/* How much of what comes at `at` stands at the same place of the base. */
static size_t same_from_begin(const struct patch *p, size_t at)
{
    size_t most = p->len < p->base_len ? p->len : p->base_len;
    return at < most ? count_same(p->bytes + at, p->base + at, most - at) : 0;
}

/* The same, with places counted from the end. */
static size_t same_from_end(const struct patch *p, size_t at)
{
    size_t left = p->len - at;
    return left <= p->base_len ? count_same(p->bytes + at, p->base + (p->base_len - left), left)
                               : 0;
}

static bool is_stretch(const struct patch *p, size_t at, size_t same)
{
    return same >= STRETCH_LEAST || (same >= MATCH_LEAST && at + same == p->len);
}

/* False: there is more between them than a little. */
static bool put_all(struct patch *p)
{
    for (size_t at = 0; at < p->len;) {
        size_t begin = same_from_begin(p, at), end = same_from_end(p, at);
        size_t same = begin >= end ? begin : end;
        if (!is_stretch(p, at, same)) {
            at++;
            if (++p->between > BETWEEN_MOST)
                return false;
            continue;
        }
        if (++p->stretches > STRETCHES_MOST)
            return false;
        put_same(p, at, begin >= end ? p->base_len : p->len, same); /* (3) */
        at += same;
    }
    put_rest(p);
    return true;
}

bool patch(const void *bytes, size_t len, const void *base, size_t base_len, struct buf *out)
{
    struct patch p = {
            .bytes = bytes, .base = base, .len = len, .base_len = base_len, .out = out};
    buf_clear(out);
    if (len < BYTES_LEAST || len > BYTES_MOST || base_len == 0 || base_len > BYTES_MOST)
        return false;
    put_number(out, 0xFD2FB528, 4);
    put_number(out, 2 << 6 | 1 << 5 | 1 << 2, 1); /* length in four bytes; (1); a sum */
    put_number(out, len, 4);
    if (!put_all(&p))
        return false;
    put_number(out, hash_zstd_sum(bytes, len), 4);
    return !out->overflowed;
}
