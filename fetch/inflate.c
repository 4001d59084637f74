/* One layer of compression, in pieces, with a limit on what comes out.
 *
 *  (1) Nothing is appended beyond the buffer's maximum.
 *  (2) After the first MiB, what came out is at most 200 times what came in: real pages
 *      reach 30, bombs 1000.
 *  (3) A stream that is cut anywhere is not complete, nor one whose checksum is wrong (brotli
 *      has none).
 *  (4) A decoder's own memory is bounded, whatever window a stream asks for: 32 KiB for gzip,
 *      16 MiB for brotli, 8 MiB for zstd, as RFC 9659 wants it.
 */
#include "fetch/inflate.h"
#include <brotli/decode.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

enum {
    BOMB_RATIO = 200,
    BOMB_FREE_BYTES = 1 << 20,
    PIECE = 16 * 1024,
    GZIP_WINDOW = 15 + 16, /* zlib's way of saying gzip and nothing else */
    ZSTD_WINDOW = 23
};

/* What is left to read, and where the result goes. */
struct piece {
    const unsigned char *in;
    size_t in_bytes;
    unsigned char *out;
    size_t out_bytes;
};

enum step {
    STEP_MORE, /* wants input, or room */
    STEP_END,  /* of the stream */
    STEP_BROKEN,
};

/* A coding is a row. */
struct decoder {
    struct str name, old_name;
    void *(*open)(void); /* NULL: no memory */
    enum step (*step)(void *d, struct piece *p);
    bool (*begins_again)(void *d, unsigned char first); /* is what follows the end another? */
    void (*close)(void *d);
};

/* ---- gzip ---- */

static void *gzip_open(void)
{
    z_stream *z = calloc(1, sizeof *z);
    if (z && inflateInit2(z, GZIP_WINDOW) == Z_OK)
        return z;
    free(z);
    return NULL;
}

static enum step gzip_step(void *d, struct piece *p)
{
    z_stream *z = d;
    z->next_in = (unsigned char *)(uintptr_t)p->in; /* zlib does not write there */
    z->avail_in = (unsigned)p->in_bytes;
    z->next_out = p->out;
    z->avail_out = (unsigned)p->out_bytes;
    int r = inflate(z, Z_NO_FLUSH);
    *p = (struct piece){z->next_in, z->avail_in, z->next_out, z->avail_out};
    if (r == Z_STREAM_END)
        return STEP_END;
    return r == Z_OK || r == Z_BUF_ERROR ? STEP_MORE : STEP_BROKEN;
}

/* Anything else behind a stream is padding. */
static bool gzip_begins_again(void *d, unsigned char first)
{
    return first == 0x1f && inflateReset(d) == Z_OK;
}

static void gzip_close(void *d)
{
    inflateEnd(d);
    free(d);
}

/* ---- brotli ---- */

static void *brotli_open(void)
{
    return BrotliDecoderCreateInstance(NULL, NULL, NULL); /* (4): without large windows */
}

static enum step brotli_step(void *d, struct piece *p)
{
    BrotliDecoderResult r = BrotliDecoderDecompressStream(
            d, &p->in_bytes, &p->in, &p->out_bytes, &p->out, /* total_out= */ NULL);
    if (r == BROTLI_DECODER_RESULT_SUCCESS)
        return STEP_END;
    return r == BROTLI_DECODER_RESULT_ERROR ? STEP_BROKEN : STEP_MORE;
}

static bool brotli_begins_again(void *d, unsigned char first)
{
    (void)d, (void)first;
    return false; /* a body is one stream */
}

static void brotli_close(void *d)
{
    BrotliDecoderDestroyInstance(d);
}

/* ---- zstd ---- */

static void *zstd_open(void)
{
    ZSTD_DStream *z = ZSTD_createDStream();
    if (z)
        CHECK(!ZSTD_isError(ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, ZSTD_WINDOW)));
    return z; /* (4) */
}

static enum step zstd_step(void *d, struct piece *p)
{
    ZSTD_inBuffer in = {p->in, p->in_bytes, 0};
    ZSTD_outBuffer out = {p->out, p->out_bytes, 0};
    size_t r = ZSTD_decompressStream(d, &out, &in);
    *p = (struct piece){
            p->in + in.pos, p->in_bytes - in.pos, p->out + out.pos, p->out_bytes - out.pos};
    if (ZSTD_isError(r))
        return STEP_BROKEN;
    return r == 0 ? STEP_END : STEP_MORE;
}

/* Frames, also those to be skipped, may follow each other; what is neither is damage. */
static bool zstd_begins_again(void *d, unsigned char first)
{
    (void)d, (void)first;
    return true;
}

static void zstd_close(void *d)
{
    ZSTD_freeDStream(d);
}

/* ---- all of them ---- */

static const struct decoder decoders[FETCH_CODING_COUNT] = {
        [FETCH_CODING_NONE] = {{"identity", 8}, {"", 0}, NULL, NULL, NULL, NULL},
        [FETCH_CODING_GZIP] = {{"gzip", 4}, {"x-gzip", 6}, gzip_open, gzip_step,
                gzip_begins_again, gzip_close},
        [FETCH_CODING_BROTLI] = {{"br", 2}, {"br", 2}, brotli_open, brotli_step,
                brotli_begins_again, brotli_close},
        [FETCH_CODING_ZSTD] = {{"zstd", 4}, {"zstd", 4}, zstd_open, zstd_step,
                zstd_begins_again, zstd_close},
};

bool fetch_coding_of(struct str name, enum fetch_coding *ret_coding)
{
    for (unsigned i = 0; i < FETCH_CODING_COUNT; i++)
        if (str_equal_nocase(name, decoders[i].name) ||
                str_equal_nocase(name, decoders[i].old_name)) {
            *ret_coding = (enum fetch_coding)i;
            return true;
        }
    return false;
}

void fetch_inflate_init(struct fetch_inflate *in, enum fetch_coding coding)
{
    *in = (struct fetch_inflate){.coding = coding};
}

void fetch_inflate_done(struct fetch_inflate *in)
{
    if (in->decoder)
        decoders[in->coding].close(in->decoder);
    in->decoder = NULL;
}

static bool is_bomb(const struct fetch_inflate *in, const struct buf *out)
{
    return out->len > BOMB_FREE_BYTES && out->len / BOMB_RATIO > in->in_bytes;
}

/* One step; *ret_more when there is something left to do. */
static enum fetch_inflate_result inflate_piece(
        struct fetch_inflate *in, struct piece *p, struct buf *out, bool *ret_more)
{
    const struct decoder *d = &decoders[in->coding];
    unsigned char bytes[PIECE];
    p->out = bytes;
    p->out_bytes = sizeof(bytes);
    enum step step = d->step(in->decoder, p);
    if (step == STEP_BROKEN)
        return FETCH_INFLATE_BROKEN;
    if (!buf_append(out, bytes, sizeof(bytes) - p->out_bytes))
        return FETCH_INFLATE_FULL; /* (1) */
    if (step == STEP_END)
        in->is_complete = p->in_bytes == 0 || !d->begins_again(in->decoder, p->in[0]);
    *ret_more = !in->is_complete && (p->in_bytes > 0 || p->out_bytes == 0);
    return is_bomb(in, out) ? FETCH_INFLATE_BOMB : FETCH_INFLATE_OK; /* (2) */
}

enum fetch_inflate_result fetch_inflate(
        struct fetch_inflate *in, const void *bytes, size_t len, struct buf *out)
{
    const struct decoder *d = &decoders[in->coding];
    struct piece p = {.in = bytes, .in_bytes = len};
    if (len == 0)
        return FETCH_INFLATE_OK;
    if (!in->decoder && !(in->decoder = d->open()))
        return FETCH_INFLATE_FULL; /* only for want of memory */
    in->in_bytes += len;
    if (in->is_complete && !d->begins_again(in->decoder, p.in[0]))
        return FETCH_INFLATE_OK; /* padding */
    in->is_complete = false;
    enum fetch_inflate_result r = FETCH_INFLATE_OK;
    for (bool more = true; more && r == FETCH_INFLATE_OK;)
        r = inflate_piece(in, &p, out, &more);
    return r;
}

bool fetch_inflate_is_complete(const struct fetch_inflate *in)
{
    return in->is_complete || in->in_bytes == 0; /* (3) */
}
