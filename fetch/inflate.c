/* Gzip, one layer, in pieces, with a limit on what comes out.
 *
 *  (1) Nothing is appended beyond the buffer's maximum.
 *  (2) After the first MiB, what came out is at most 200 times what came in: real pages
 *      reach 30, bombs 1000.
 *  (3) A stream that is cut anywhere is not complete, nor one whose checksum is wrong.
 */
#include "fetch/inflate.h"

enum { BOMB_RATIO = 200, BOMB_FREE_BYTES = 1 << 20, PIECE = 16 * 1024, GZIP_WINDOW = 15 + 16 };

void fetch_inflate_init(struct fetch_inflate *in)
{
    *in = (struct fetch_inflate){.is_open = false};
}

void fetch_inflate_done(struct fetch_inflate *in)
{
    if (in->is_open)
        inflateEnd(&in->z);
    in->is_open = false;
}

static bool is_bomb(const struct fetch_inflate *in, const struct buf *out)
{
    return out->len > BOMB_FREE_BYTES && out->len / BOMB_RATIO > in->in_bytes;
}

/* A file may be several gzip streams one after the other; anything else behind the first
 * one is padding. */
static bool is_next_member(struct fetch_inflate *in)
{
    return in->z.avail_in > 0 && in->z.next_in[0] == 0x1f && inflateReset(&in->z) == Z_OK;
}

static enum fetch_inflate_result inflate_piece(struct fetch_inflate *in, struct buf *out)
{
    unsigned char piece[PIECE];
    in->z.next_out = piece;
    in->z.avail_out = sizeof(piece);
    int r = inflate(&in->z, Z_NO_FLUSH);
    if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
        return FETCH_INFLATE_BROKEN;
    if (!buf_append(out, piece, sizeof(piece) - in->z.avail_out))
        return FETCH_INFLATE_FULL; /* (1) */
    if (r == Z_STREAM_END)
        in->is_complete = !is_next_member(in);
    return is_bomb(in, out) ? FETCH_INFLATE_BOMB : FETCH_INFLATE_OK; /* (2) */
}

enum fetch_inflate_result fetch_inflate(
        struct fetch_inflate *in, const void *bytes, size_t len, struct buf *out)
{
    if (!in->is_open && inflateInit2(&in->z, GZIP_WINDOW) != Z_OK)
        return FETCH_INFLATE_FULL; /* only for want of memory */
    in->is_open = true;
    in->in_bytes += len;
    in->z.next_in = (unsigned char *)(uintptr_t)bytes; /* zlib does not write there */
    in->z.avail_in = (unsigned)len;

    if (in->is_complete)
        in->is_complete = !is_next_member(in);
    enum fetch_inflate_result r = FETCH_INFLATE_OK;
    do {
        if (!in->is_complete)
            r = inflate_piece(in, out);
    } while (r == FETCH_INFLATE_OK && !in->is_complete &&
             (in->z.avail_in > 0 || in->z.avail_out == 0));
    return r;
}

bool fetch_inflate_is_complete(const struct fetch_inflate *in)
{
    return in->is_complete || in->in_bytes == 0; /* (3) */
}
