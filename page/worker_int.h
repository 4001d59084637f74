/* worker_int -- what the files of the page reader share: frame.c (answers, and how they are
 * checked), area.c (memory that both sides see), worker.c (the side that gives pages),
 * worker_start.c and worker_watch.c (how it starts, ends and looks after readers),
 * worker_read.c (one page at a time), worker_main.c (the reader) and sandbox.c. */
#pragma once
#include "page/worker.h"
#include <sched.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <sys/uio.h>

/* The reader's end of the socket, and the area, which it closes once it has it in memory. */
enum { WORKER_FD = 3, WORKER_AREA_FD = 4 };

/* Pages and answers lie in slots of shared memory; a page that is read alone has all of it.
 * What is larger still, which is rare and takes long anyway, goes over the socket. */
enum {
    AREA_SLOTS = PAGE_WORKER_MOST,
    AREA_BODY_MAX = 200 << 10,
    AREA_ANSWER_MAX = 308 << 10,
    AREA_WHOLE_MAX = 4 << 20, /* of a body, and of an answer */
};
/* One to rest is not answered, so the reader may still be at it when it has all pages that it
 * can have. */
enum { AREA_REQUESTS = 2 * AREA_SLOTS };
enum { AREA_WHOLE = AREA_SLOTS, AREA_NO_SLOT = 0xFFFF }; /* instead of a slot's number */

/* ---- frame.c: the same program on both sides, so numbers go over as they are ------------- */

/* WISH_REST: no page, and no answer; memory that large pages needed is to be given back. */
enum { WISH_DIGEST = 1, WISH_TEXT = 2, WISH_REST = 4 };

/* It lies in the area.  In the slot, or without one over the socket, come the body, the content
 * type and the URL, each of these two with a zero behind it. */
struct frame_request {
    uint32_t magic;
    uint16_t wishes, slot; /* where the body lies and the answer may */
    uint64_t job, body_bytes;
    uint32_t type_bytes, url_bytes; /* UINT32_MAX: none */
};

enum { ANSWER_FOLLOWS, ANSWER_IN_SLOT };

struct frame_answer { /* then digest and text, unless in the slot, or the message of a fault */
    uint32_t magic;
    uint16_t code, where;
    uint64_t job, digest_bytes, text_bytes;
};

/* Between answers a reader may send this byte: look into the slots.  No answer begins with it.
 * To a reader that says it is asleep the same byte is sent: look into the area. */
enum { FRAME_BELL = 0 };

/* The job number of the answer a reader sends of itself when it is up and confined; a fault
 * in it says why it could not be. */
enum { JOB_HELLO = 0 };

enum { FRAME_TYPE_MAX = 4096, FRAME_URL_MAX = 64 << 10, FRAME_TEXT_MAX = 4 * PAGE_BODY_MAX };

/* Still without a slot. */
void frame_request_make(struct frame_request *h, uint64_t job, const struct page_wish *wish);
void frame_request_rest(struct frame_request *h, uint64_t job);
/* For the reader: are the lengths ones it can take? */
bool frame_request_is_sound(const struct frame_request *h);
/* Bytes that the body and the two texts take, with their zeros. */
size_t frame_request_bytes(const struct frame_request *h);
/* `room`: an answer of at most so many bytes is to be put into its slot, as `where` says. */
void frame_answer_make(struct frame_answer *h, uint64_t job, const struct buf *digest,
        const struct buf *text, const struct fault *f, size_t room);

/* An answer as it comes in, piece by piece, from a side that is not trusted. */
struct frame_reader {
    uint64_t job;       /* the one that is waited for */
    struct buf *digest; /* NULL: must not come */
    struct buf *text;   /* NULL: must not come */
    const char *slot;   /* bytes that it may lie in; NULL: it must follow */
    size_t room;        /* how many */
    struct frame_answer head;
    size_t head_got;
    struct buf message; /* of a fault */
    bool is_broken, is_whole;
};

void frame_reader_init(struct frame_reader *r, uint64_t job, struct buf *digest,
        struct buf *text, const char *slot, size_t room);
void frame_reader_done(struct frame_reader *r);
/* Where the next bytes are to be put, and how many at most; NULL when it is whole or broken. */
char *frame_reader_room(struct frame_reader *r, size_t *ret_bytes);
void frame_reader_got(struct frame_reader *r, size_t bytes);
/* Of a whole one: OK, or the page's fault as the reader tells it. */
enum err frame_reader_result(const struct frame_reader *r, struct fault *f);

/* ---- area.c: what lies in memory that both sides see ------------------------------------- */

struct area_slot {
    _Alignas(4096) _Atomic uint64_t answered; /* the job whose answer lies here, whole */
    struct frame_answer head;
    char answer[AREA_ANSWER_MAX]; /* digest, then text */
    char body[AREA_BODY_MAX];
};

struct area_whole { /* the same for a page that is read alone */
    _Alignas(4096) _Atomic uint64_t answered;
    struct frame_answer head;
    char answer[AREA_WHOLE_MAX];
    char body[AREA_WHOLE_MAX];
};

/* Who has a request: a job's number times two, plus one once the reader has begun with it.  The
 * side that gave it may take it back until then, by any other number. */
#define AREA_GIVEN(job) ((job)*2)
#define AREA_BEGUN(job) ((job)*2 + 1)

struct area {
    _Alignas(4096) _Atomic uint64_t given; /* the newest job */
    _Atomic uint32_t is_asleep;            /* the reader is to be called when there is more */
    struct area_request {
        _Alignas(64) _Atomic uint64_t turn;
        struct frame_request head;
    } requests[AREA_REQUESTS]; /* by job, modulo their number */
    union {
        struct area_slot slots[AREA_SLOTS];
        struct area_whole whole;
    };
};

struct area_place { /* a slot or the whole */
    _Atomic uint64_t *answered;
    struct frame_answer *head;
    char *answer, *body;
    size_t answer_max, body_max;
};

MUST_USE enum err area_new(struct fault *f, int *ret_fd, struct area **ret_area);
struct area *area_map(int fd); /* NULL: it could not be */
void area_free(struct area *area);
struct area_place area_place(struct area *area, unsigned slot); /* not AREA_NO_SLOT */
/* Gives back the memory of all slots; nobody may be using one. */
void area_clear(struct area *area);

/* ---- worker.c, worker_start.c, worker_watch.c, worker_read.c ----------------------------- */

/* What became of a reader whose socket is closed, in words.  It is reaped. */
void worker_describe_end(struct page_worker *w, char *text, size_t size);

struct errand { /* a page that the reader has, or that is on its way to it */
    const struct page_wish *wish;
    struct frame_request head;
    struct iovec parts[3]; /* what is still to be sent of one without a slot */
    size_t first;          /* of them */
};

struct page_worker {
    pid_t pid;
    int fd;
    struct area *area;
    bool is_up;
    bool is_deaf; /* it takes no more; what it said before is still to be heard */
    bool is_held; /* pages were taken back: it gets no others before it is through */
    bool had_large;
    uint64_t job, pages;
    struct errand errands[PAGE_WORKER_MOST]; /* a ring, in the order they were given */
    unsigned oldest, count, sent;            /* the first so many of them are sent */
    struct frame_reader answer;              /* to the oldest */
    char said[256];                          /* what came in and was not looked at yet */
    size_t said_at, said_end;
    uint64_t in_slots, bells; /* answers in slots, and bells that told of them, so far */
    uint64_t looked_at;       /* the job that was looked after last */
    msec cpu_before;          /* what the reader had used before it */
    int seat;                 /* the processor it is bound to, plus one; 0: to none */
    cpu_set_t seats;          /* those it may use when it is not */
};

/* page_worker_give for whoever waits for the answer, the reader sitting where it may. */
enum page_turn worker_give(struct page_worker *w, const struct page_wish *wish);
void worker_sit_apart(struct page_worker *w); /* it may run anywhere */

/* ---- charset.c: what comes after may have no files any more ------------------------------ */

/* Makes the C library load the modules of every charset, and keep them. */
void charset_load_all(void);

/* ---- sandbox.c ------------------------------------------------------------------------------
 */

/* Gives up everything a reader does not need; there is no way back. */
MUST_USE enum err sandbox_enter(struct fault *f);
