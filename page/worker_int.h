/* worker_int -- what the files of the page reader share: frame.c (what goes over the socket),
 * area.c (memory that both sides see), worker.c (the side that starts readers), worker_main.c
 * (the reader) and sandbox.c. */
#pragma once
#include "page/worker.h"
#include <stdatomic.h>

/* The reader's end of the socket, and the area, which it closes once it has it in memory. */
enum { WORKER_FD = 3, WORKER_AREA_FD = 4 };

/* What goes through shared memory.  Larger ones, which are rare and take long anyway, go over
 * the socket. */
enum { AREA_SLOTS = PAGE_WORKER_MOST, AREA_BODY_MAX = 512 << 10, AREA_ANSWER_MAX = 512 << 10 };
enum { AREA_NO_SLOT = 0xFFFF };

/* ---- frame.c: the same program on both sides, so numbers go over as they are ------------- */

enum { WISH_DIGEST = 1, WISH_TEXT = 2 };

struct frame_request { /* then content type, URL and, without a slot, the body */
    uint32_t magic;
    uint16_t wishes, slot; /* where the body lies and the answer may; or AREA_NO_SLOT */
    uint64_t job, body_bytes;
    uint32_t type_bytes, url_bytes; /* UINT32_MAX: none */
};

enum { ANSWER_FOLLOWS, ANSWER_IN_SLOT };

struct frame_answer { /* then digest and text, unless in the slot, or the message of a fault */
    uint32_t magic;
    uint16_t code, where;
    uint64_t job, digest_bytes, text_bytes;
};

/* Between answers a reader may send this byte: look into the slots.  No frame begins with it.
 */
enum { FRAME_BELL = 0 };

/* The job number of the answer a reader sends of itself when it is up and confined; a fault
 * in it says why it could not be. */
enum { JOB_HELLO = 0 };

enum { FRAME_TYPE_MAX = 4096, FRAME_URL_MAX = 64 << 10, FRAME_TEXT_MAX = 4 * PAGE_BODY_MAX };

void frame_request_make(
        struct frame_request *h, uint64_t job, const struct page_wish *wish, uint16_t slot);
/* For the reader: are the lengths ones it can take? */
bool frame_request_is_sound(const struct frame_request *h);
/* `has_slot`: an answer that fits there is to be put there, as `where` says. */
void frame_answer_make(struct frame_answer *h, uint64_t job, const struct buf *digest,
        const struct buf *text, const struct fault *f, bool has_slot);

/* An answer as it comes in, piece by piece, from a side that is not trusted. */
struct frame_reader {
    uint64_t job;       /* the one that is waited for */
    struct buf *digest; /* NULL: must not come */
    struct buf *text;   /* NULL: must not come */
    const char *slot;   /* AREA_ANSWER_MAX bytes that it may lie in; NULL: it must follow */
    struct frame_answer head;
    size_t head_got;
    struct buf message; /* of a fault */
    bool is_broken, is_whole;
};

void frame_reader_init(struct frame_reader *r, uint64_t job, struct buf *digest,
        struct buf *text, const char *slot);
void frame_reader_done(struct frame_reader *r);
/* Where the next bytes are to be put, and how many at most; NULL when it is whole or broken. */
char *frame_reader_room(struct frame_reader *r, size_t *ret_bytes);
void frame_reader_got(struct frame_reader *r, size_t bytes);
/* Of a whole one: OK, or the page's fault as the reader tells it. */
enum err frame_reader_result(const struct frame_reader *r, struct fault *f);

/* ---- area.c: pages and answers that are small enough lie in memory both sides see -------- */

struct area {
    /* The number of the newest job: tells a reader whether it may rest after this one. */
    _Alignas(4096) _Atomic uint64_t given;
    struct area_slot {
        _Alignas(4096) _Atomic uint64_t answered; /* the job whose answer lies here, whole */
        struct frame_answer head;
        char answer[AREA_ANSWER_MAX]; /* digest, then text */
        char body[AREA_BODY_MAX];
    } slots[AREA_SLOTS];
};

MUST_USE enum err area_new(struct fault *f, int *ret_fd, struct area **ret_area);
struct area *area_map(int fd); /* NULL: it could not be */
void area_free(struct area *area);

/* ---- charset.c: what comes after may have no files any more ------------------------------ */

/* Makes the C library load the modules of every charset, and keep them. */
void charset_load_all(void);

/* ---- sandbox.c ------------------------------------------------------------------------------
 */

/* Gives up everything a reader does not need; there is no way back. */
MUST_USE enum err sandbox_enter(struct fault *f);
