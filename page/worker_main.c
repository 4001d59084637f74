/* The page reader itself: confines itself, then turns pages into digests until its socket
 * closes.
 *
 *  (1) Whatever would open a file later (the C library's charset modules, the parser's own
 *      tables) is loaded before the sandbox shuts.
 *  (2) It ends when whoever started it is gone: the socket closes, and the kernel sends a
 *      signal should it be busy just then.
 */
#include "page/worker_int.h"
#include "page/page_int.h"
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* Memory that is kept between pages: of the heap, and of where pages and answers lie. */
enum { KEEP_BYTES = 32 << 20, KEEP_DESK_BYTES = 8 << 20, TOP_PAD_BYTES = 1 << 20 };

/* What came over the socket and was not asked for yet. */
struct inflow {
    char bytes[4 << 10];
    size_t at, end;
};

static bool get(struct inflow *in, void *to, size_t bytes)
{
    for (char *at = to; bytes > 0;) {
        if (in->at == in->end && bytes < sizeof in->bytes) {
            ssize_t n = read(WORKER_FD, in->bytes, sizeof in->bytes);
            if (n <= 0)
                return false; /* (2) */
            in->at = 0;
            in->end = (size_t)n;
        }
        size_t have = in->end - in->at, take = have < bytes ? have : bytes;
        if (have) {
            memcpy(at, in->bytes + in->at, take);
            in->at += take;
        } else {
            ssize_t n = read(WORKER_FD, at, bytes);
            if (n <= 0)
                return false; /* (2) */
            take = (size_t)n;
        }
        at += take;
        bytes -= take;
    }
    return true;
}

/* In one call as far as the socket takes it: whoever waits is woken once. */
static void put(struct iovec *parts, int n)
{
    while (n > 0) {
        ssize_t sent = writev(WORKER_FD, parts, n);
        if (sent < 0)
            _exit(0); /* (2) */
        for (; n > 0 && (size_t)sent >= parts->iov_len; parts++, n--)
            sent -= (ssize_t)parts->iov_len;
        if (n > 0) {
            parts->iov_base = (char *)parts->iov_base + sent;
            parts->iov_len -= (size_t)sent;
        }
    }
}

static bool get_part(struct inflow *in, struct buf *b, size_t bytes)
{
    buf_clear(b);
    if (!buf_reserve(b, bytes) || !get(in, b->data, bytes))
        return false;
    b->len = bytes;
    b->data[bytes] = 0;
    return true;
}

static void put_answer(const struct frame_answer *h, const struct buf *digest,
        const struct buf *text, struct fault *f)
{
    struct frame_answer head = *h;
    struct iovec parts[] = {
            {&head, sizeof head}, {digest->data, digest->len}, {text->data, text->len}};
    if (f->code != OK) {
        parts[1].iov_len = 0;
        parts[2] = (struct iovec){f->message, strlen(f->message)};
    }
    put(parts, countof(parts));
}

static void answer_hello(struct fault *f)
{
    const struct buf none = {0};
    struct frame_answer h;
    frame_answer_make(&h, JOB_HELLO, &none, &none, f, /* room= */ 0);
    put_answer(&h, &none, &none, f);
}

/* A page with more links than qsort sorts without asking how much memory there is. */
static void warm_up_sorting(void)
{
    BUF(page, PAGE_BODY_MAX);
    BUF(digest, PAGE_DIGEST_MAX);
    for (int i = 0; i < 2000; i++)
        buf_printf(&page, "<a href=%d class=x id=y>z<img src=%d></a>", i * 7 % 2000, i);
    struct page_source s = {page.data, page.len, "text/html", "http://example.org/a"};
    CHECK(page_digest_make(&s, &digest, NULL) == OK);
}

/* One of each sort of page is read before anything is shut. */
static void warm_up(void)
{
    static const char *const pages[][2] = {
            {"text/html", "<!DOCTYPE html><p class=a>caf\xC3\xA9 &eacute;<a href=b>c</a>"},
            {"text/xml", "<?xml version='1.0'?><a b='c'>d&amp;e</a>"},
            {"application/json", "{\"a\": [1, \"b\"]}"},
            {"text/plain", "a\nb"},
            {"application/octet-stream", "\x01"},
    };
    for (size_t i = 0; i < countof(pages); i++) {
        BUF(digest, PAGE_DIGEST_MAX);
        struct page_source s = {
                pages[i][1], strlen(pages[i][1]), pages[i][0], "http://example.org/a"};
        CHECK(page_digest_make(&s, &digest, NULL) == OK);
    }
}

static void NORETURN lost(void)
{
    static const char said[] = "vigil: a page reader is started by vigil itself\n";
    (void)!write(STDERR_FILENO, said, sizeof said - 1);
    _exit(1);
}

static struct area *enter(void)
{
    struct fault f = {.code = OK};
    int type;
    socklen_t len = sizeof type;
    if (getsockopt(WORKER_FD, SOL_SOCKET, SO_TYPE, &type, &len) != 0)
        lost();
    struct area *area = area_map(WORKER_AREA_FD);
    if (!area)
        lost();
    close(WORKER_AREA_FD);                    /* what is mapped stays */
    (void)prctl(PR_SET_NAME, "vigil-reader"); /* for people who look at processes */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);   /* (2): the socket tells as well */
    /* Memory once had is kept for the next page: getting it anew costs more than all else that
     * the sandbox costs.  It goes back when we are told to rest, and from huge pages. */
    mallopt(M_MMAP_THRESHOLD, KEEP_BYTES);
    mallopt(M_TRIM_THRESHOLD, KEEP_BYTES);
    mallopt(M_TOP_PAD, TOP_PAD_BYTES);
    page_start();
    charset_load_all(); /* (1) */
    warm_up();
    warm_up_sorting();
    if (sandbox_enter(&f) != OK) {
        answer_hello(&f);
        _exit(1);
    }
    answer_hello(&f);
    return area;
}

void page_worker_enter(void)
{
    (void)enter();
}

struct desk { /* where a page lies while it is read */
    struct inflow in;
    struct area *area;
    uint64_t job;   /* the last that was looked at */
    bool is_unrung; /* answers lie in their slots that nobody was told of */
    bool has_place; /* this page lies in the area; else it came over the socket */
    struct area_place place;
    struct page_source source;
    struct buf body, digest, text;
};

static uint64_t newest(const struct desk *d)
{
    return atomic_load(&d->area->given);
}

static bool ring(struct desk *d)
{
    char bell = FRAME_BELL;
    d->is_unrung = false;
    return write(WORKER_FD, &bell, 1) == 1;
}

/* Until there is more to do; false: there never will be.  Whoever gives us something and takes
 * the mark away calls us, so exactly one bell comes unless we take it away ourselves. */
static bool sleep_well(struct desk *d)
{
    char bell;
    if (d->is_unrung && !ring(d))
        return false;
    atomic_store(&d->area->is_asleep, 1);
    if (newest(d) != d->job && atomic_exchange(&d->area->is_asleep, 0))
        return true;
    return get(&d->in, &bell, 1);
}

/* The next request that nobody has taken back. */
static bool next_request(struct desk *d, struct frame_request *ret_request)
{
    for (;;) {
        while (newest(d) == d->job)
            if (!sleep_well(d))
                return false; /* (2) */
        struct area_request *r = &d->area->requests[++d->job % AREA_REQUESTS];
        uint64_t turn = AREA_GIVEN(d->job);
        if (atomic_compare_exchange_strong(&r->turn, &turn, AREA_BEGUN(d->job))) {
            *ret_request = r->head;
            return true;
        }
    }
}

/* The page lies in its slot, or comes over the socket. */
static bool get_page(const struct frame_request *h, struct desk *d)
{
    const char *at;
    d->has_place = h->slot != AREA_NO_SLOT;
    if (d->has_place) {
        d->place = area_place(d->area, h->slot);
        at = d->place.body;
    } else {
        if (!get_part(&d->in, &d->body, frame_request_bytes(h)))
            return false;
        at = buf_text(&d->body);
    }
    d->source = (struct page_source){.bytes = at, .len = (size_t)h->body_bytes};
    at += h->body_bytes;
    if (h->type_bytes != UINT32_MAX) {
        d->source.content_type = at;
        at += h->type_bytes + 1;
    }
    if (h->url_bytes != UINT32_MAX)
        d->source.url = at;
    return true;
}

static void read_page(const struct frame_request *h, struct desk *d, struct fault *f)
{
    buf_clear(&d->digest);
    buf_clear(&d->text);
    if ((h->wishes & WISH_DIGEST) && page_digest_make(&d->source, &d->digest, f) != OK)
        return;
    if ((h->wishes & WISH_TEXT) && page_decode(&d->source, &d->text, f, NULL) != OK)
        buf_clear(&d->text);
}

/* Whoever waits is woken in time to hand over more before this reader runs dry, or when it
 * has, and not more often: being woken costs more than all else here.  Answers in their slots
 * are safe meanwhile, whatever the next page does to this reader. */
enum { RING_LEFT = PAGE_WORKER_MOST / 4 };

static void answer(struct desk *d, struct fault *f)
{
    struct frame_answer h;
    frame_answer_make(
            &h, d->job, &d->digest, &d->text, f, d->has_place ? d->place.answer_max : 0);
    if (h.where == ANSWER_FOLLOWS) {
        put_answer(&h, &d->digest, &d->text, f);
        return;
    }
    memcpy(d->place.answer, buf_text(&d->digest), d->digest.len);
    memcpy(d->place.answer + d->digest.len, buf_text(&d->text), d->text.len);
    *d->place.head = h;
    atomic_store(d->place.answered, d->job);
    d->is_unrung = true;
    if (newest(d) - d->job == RING_LEFT && !ring(d))
        _exit(0); /* (2) */
}

static void rest(struct desk *d)
{
    buf_done(&d->body);
    buf_done(&d->digest);
    buf_done(&d->text);
    malloc_trim(0);
}

int page_worker_main(void)
{
    struct desk d = {.body = {.max = PAGE_BODY_MAX + FRAME_TYPE_MAX + FRAME_URL_MAX + 2},
            .digest = {.max = PAGE_DIGEST_MAX},
            .text = {.max = FRAME_TEXT_MAX}};
    struct frame_request h;

    d.area = enter();
    while (next_request(&d, &h) && frame_request_is_sound(&h)) {
        struct fault f = {.code = OK};
        if (h.wishes & WISH_REST) {
            rest(&d);
            continue;
        }
        if (!get_page(&h, &d))
            break;
        read_page(&h, &d, &f);
        answer(&d, &f);
        if (d.body.cap + d.digest.cap + d.text.cap > KEEP_DESK_BYTES)
            rest(&d);
    }
    _exit(0);
}

bool page_worker_is_asked(int argc, char **argv)
{
    return argc == 2 && strcmp(argv[1], PAGE_WORKER_WORD) == 0;
}
