/* What goes to a reader and comes back: lengths first, each checked before it is used.
 *
 * The reader has parsed hostile bytes, so what it answers may be anything.  It must hold that
 *  (1) nothing is taken that was not asked for, and no more of it than its buffer may hold,
 *  (2) an answer with another job's number, or more than an answer, is broken, and
 *  (3) the words of a fault reach people as text: UTF-8, one line, cut to length, and
 *  (4) bytes in shared memory, which may change at any time, are copied once and not looked at.
 */
#include "page/worker_int.h"

enum { REQUEST_MAGIC = 0x56677031, ANSWER_MAGIC = 0x56676131, MESSAGE_MAX = 1024 };

/* A header or an address longer than anybody needs counts as none. */
static uint32_t text_bytes(const char *s, size_t most)
{
    size_t len = s ? strnlen(s, most + 1) : most + 1;
    return len <= most ? (uint32_t)len : UINT32_MAX;
}

void frame_request_make(struct frame_request *h, uint64_t job, const struct page_wish *wish)
{
    const struct page_source *s = &wish->source;
    *h = (struct frame_request){
            .magic = REQUEST_MAGIC,
            .wishes =
                    (uint16_t)((wish->digest ? WISH_DIGEST : 0) | (wish->text ? WISH_TEXT : 0)),
            .slot = AREA_NO_SLOT,
            .job = job,
            .body_bytes = s->len,
            .type_bytes = text_bytes(s->content_type, FRAME_TYPE_MAX),
            .url_bytes = text_bytes(s->url, FRAME_URL_MAX),
    };
}

void frame_request_rest(struct frame_request *h, uint64_t job)
{
    *h = (struct frame_request){.magic = REQUEST_MAGIC,
            .wishes = WISH_REST,
            .slot = AREA_NO_SLOT,
            .job = job,
            .type_bytes = UINT32_MAX,
            .url_bytes = UINT32_MAX};
}

size_t frame_request_bytes(const struct frame_request *h)
{
    return (size_t)h->body_bytes + (h->type_bytes == UINT32_MAX ? 0 : h->type_bytes + 1) +
           (h->url_bytes == UINT32_MAX ? 0 : h->url_bytes + 1);
}

bool frame_request_is_sound(const struct frame_request *h)
{
    return h->magic == REQUEST_MAGIC && h->job != JOB_HELLO &&
           (h->type_bytes <= FRAME_TYPE_MAX || h->type_bytes == UINT32_MAX) &&
           (h->url_bytes <= FRAME_URL_MAX || h->url_bytes == UINT32_MAX) &&
           h->body_bytes <= PAGE_BODY_MAX &&
           (h->slot == AREA_NO_SLOT ||
                   (h->slot == AREA_WHOLE && frame_request_bytes(h) <= AREA_WHOLE_MAX) ||
                   (h->slot < AREA_SLOTS && frame_request_bytes(h) <= AREA_BODY_MAX));
}

void frame_answer_make(struct frame_answer *h, uint64_t job, const struct buf *digest,
        const struct buf *text, const struct fault *f, size_t room)
{
    bool good = f->code == OK;
    bool fits = room && good && digest->len <= room && text->len <= room - digest->len;
    *h = (struct frame_answer){
            .magic = ANSWER_MAGIC,
            .code = (uint16_t)f->code,
            .where = fits ? ANSWER_IN_SLOT : ANSWER_FOLLOWS,
            .job = job,
            .digest_bytes = good ? digest->len : 0,
            .text_bytes = good ? text->len : strlen(f->message),
    };
}

/* ---- reading an answer
 * ------------------------------------------------------------------------
 */

void frame_reader_init(struct frame_reader *r, uint64_t job, struct buf *digest,
        struct buf *text, const char *slot, size_t room)
{
    *r = (struct frame_reader){
            .job = job, .digest = digest, .text = text, .slot = slot, .room = room};
    buf_init(&r->message, MESSAGE_MAX);
    if (digest)
        buf_clear(digest);
    if (text)
        buf_clear(text);
}

void frame_reader_done(struct frame_reader *r)
{
    buf_done(&r->message);
}

static struct buf *text_of(struct frame_reader *r)
{
    return r->head.code == OK ? r->text : &r->message;
}

/* Has the part room for so much?  Nothing is expected where there is no buffer. */
static bool part_fits(struct buf *b, uint64_t bytes)
{
    if (!b)
        return bytes == 0; /* (1) */
    if (bytes > b->max || !buf_reserve(b, (size_t)bytes))
        return false;
    b->data[b->len] = 0;
    return true;
}

static bool place_is_sound(const struct frame_reader *r)
{
    const struct frame_answer *h = &r->head;
    if (h->where == ANSWER_FOLLOWS)
        return true;
    return h->where == ANSWER_IN_SLOT && r->slot && h->code == OK && /* (1) */
           h->digest_bytes <= r->room && h->text_bytes <= r->room - h->digest_bytes;
}

static bool head_is_sound(struct frame_reader *r)
{
    const struct frame_answer *h = &r->head;
    return h->magic == ANSWER_MAGIC && h->job == r->job && h->code < ERR_COUNT && /* (2) */
           place_is_sound(r) && (h->code == OK || h->digest_bytes == 0) &&
           part_fits(h->code == OK ? r->digest : NULL, h->digest_bytes) &&
           part_fits(text_of(r), h->text_bytes);
}

static bool part_is_whole(const struct buf *b, uint64_t bytes)
{
    return !b || b->len == bytes;
}

static void settle(struct frame_reader *r)
{
    r->is_whole = !r->is_broken && r->head_got == sizeof r->head &&
                  (r->head.code != OK || part_is_whole(r->digest, r->head.digest_bytes)) &&
                  part_is_whole(text_of(r), r->head.text_bytes);
}

/* (4): what is kept and checked from here on is the copy. */
static void take_from_slot(struct frame_reader *r)
{
    if (r->digest && !buf_append(r->digest, r->slot, (size_t)r->head.digest_bytes))
        r->is_broken = true;
    if (r->text &&
            !buf_append(r->text, r->slot + r->head.digest_bytes, (size_t)r->head.text_bytes))
        r->is_broken = true;
}

char *frame_reader_room(struct frame_reader *r, size_t *ret_bytes)
{
    if (r->is_broken || r->is_whole)
        return NULL;
    if (r->head_got < sizeof r->head) {
        *ret_bytes = sizeof r->head - r->head_got;
        return (char *)&r->head + r->head_got;
    }
    struct buf *b = text_of(r);
    uint64_t bytes = r->head.text_bytes;
    if (r->head.code == OK && !part_is_whole(r->digest, r->head.digest_bytes)) {
        b = r->digest;
        bytes = r->head.digest_bytes;
    }
    *ret_bytes = (size_t)bytes - b->len;
    return b->data + b->len;
}

void frame_reader_got(struct frame_reader *r, size_t bytes)
{
    if (r->head_got < sizeof r->head) {
        r->head_got += bytes;
        if (r->head_got == sizeof r->head)
            r->is_broken = !head_is_sound(r);
        if (r->head_got == sizeof r->head && !r->is_broken && r->head.where == ANSWER_IN_SLOT)
            take_from_slot(r);
    } else {
        struct buf *b = text_of(r);
        if (r->head.code == OK && !part_is_whole(r->digest, r->head.digest_bytes))
            b = r->digest;
        b->len += bytes;
        b->data[b->len] = 0;
    }
    settle(r);
}

enum err frame_reader_result(const struct frame_reader *r, struct fault *f)
{
    CHECK(r->is_whole);
    if (r->head.code == OK)
        return OK;
    const char *words = buf_text(&r->message);
    bool plain = r->message.len > 0 && utf8_is_valid(words, r->message.len);
    for (size_t i = 0; i < r->message.len; i++)
        plain = plain && (unsigned char)words[i] >= ' ' && words[i] != 0x7F; /* (3) */
    return fault_set(f, (enum err)r->head.code, "%s",
            plain ? words : "the page could not be read, and the reader gave no reason");
}
