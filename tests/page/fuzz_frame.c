/* Any bytes, as the answer of a reader gone mad: taken within its bounds, or refused.
 *
 * The first byte says what was asked for, whether the head is mended (so that what lies behind
 * it is reached), whether the answer may lie in shared memory, and in what pieces the bytes
 * arrive. */
#define FUZZ_MUTATIONS 125000 /* a million frames in all: each costs a microsecond or two */
#include "tests/page/fuzz.h"
#include "page/worker_int.h"

enum { JOB = 7, DIGEST_MOST = 4096, TEXT_MOST = 512 };

static void mend(uint8_t *bytes, size_t len)
{
    struct frame_answer h, good;
    const struct buf none = {0};
    const struct fault fine = {.code = OK};
    if (len < sizeof h)
        return;
    memcpy(&h, bytes, sizeof h);
    frame_answer_make(&good, JOB, &none, &none, &fine, 0);
    h.magic = good.magic;
    h.job = JOB;
    h.code %= ERR_COUNT + 1;
    h.where %= ANSWER_IN_SLOT + 2;
    memcpy(bytes, &h, sizeof h);
}

static void check_whole(const struct frame_reader *r)
{
    SCRATCH struct arena *life = arena_new(NULL, "fuzz");
    struct fault f = {.code = OK};
    struct page_digest *d;
    enum err e = frame_reader_result(r, &f);
    CHECK(e < ERR_COUNT && e == f.code);
    CHECK(e == OK || (f.message[0] && utf8_is_valid(f.message, strlen(f.message))));
    CHECK(!r->digest || r->digest->len <= DIGEST_MOST);
    CHECK(!r->text || r->text->len <= TEXT_MOST);
    if (e == OK && r->digest && r->digest->len)
        (void)!page_digest_open(life, r->digest->data, r->digest->len, &f, &d);
}

static char shared[AREA_ANSWER_MAX];

/* What follows a head lies there just as well. */
static void lay_out(const char *bytes, size_t len)
{
    size_t head = sizeof(struct frame_answer);
    if (len > head)
        memcpy(shared, bytes + head, len - head < sizeof shared ? len - head : sizeof shared);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    BUF(digest, DIGEST_MOST);
    BUF(text, TEXT_MOST);
    BUF(bytes, 1 << 20);
    struct frame_reader r;
    size_t room;
    char *at;

    if (size < 1 || !buf_append(&bytes, data + 1, size - 1))
        return 0;
    if (data[0] & 4)
        mend((uint8_t *)bytes.data, bytes.len);
    lay_out(bytes.data, bytes.len);
    frame_reader_init(&r, JOB, data[0] & 1 ? &digest : NULL, data[0] & 2 ? &text : NULL,
            data[0] & 128 ? shared : NULL, sizeof shared);
    size_t piece = (size_t)(data[0] >> 3 & 15) + 1, used = 0;
    while (used < bytes.len && (at = frame_reader_room(&r, &room))) {
        size_t n = bytes.len - used < piece ? bytes.len - used : piece;
        CHECK(room > 0);
        n = n < room ? n : room;
        memcpy(at, bytes.data + used, n);
        frame_reader_got(&r, n);
        used += n;
    }
    CHECK(!(r.is_whole && r.is_broken));
    if (r.is_whole)
        check_whole(&r);
    frame_reader_done(&r);
    return 0;
}
