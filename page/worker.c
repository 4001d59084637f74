/* The side that gives pages to readers and hears what they answer; never waits.
 *
 *  (1) Answers in the order of the pages, and nothing else: any byte too many, too few or too
 *      early makes the reader unfit for use.
 *  (2) All that a reader said before it died is heard, so the page it died of is the oldest
 *      that has no answer.
 *  (3) A page that a reader has begun with stays with it; one that it has not can be taken
 *      back.  Both sides agree which it is by one exchange of a number in shared memory.
 *  (4) While both sides are awake nothing but shared memory is used: the kernel is asked only
 *      to wake the other, which costs as much as a small page.
 *  (5) What lies where an answer is expected before its page was given, such as the bytes of a
 *      large page from another site, is no answer.
 */
#include "page/worker_int.h"
#include <errno.h>
#include <sys/socket.h>

/* At most so much is moved in one turn, so that a large page does not hold up others. */
enum { TURN_BYTES = 1 << 20 };

int page_worker_fd(const struct page_worker *w)
{
    return w->fd;
}

int page_worker_pid(const struct page_worker *w)
{
    return w->pid;
}

bool page_worker_is_up(const struct page_worker *w)
{
    return w->is_up;
}

uint64_t page_worker_pages(const struct page_worker *w)
{
    return w->pages;
}

/* ---- a page
 * -----------------------------------------------------------------------------------
 */

static struct iovec part(const void *bytes, size_t len)
{
    union {
        const void *borrowed;
        void *base;
    } p = {.borrowed = bytes};
    return (struct iovec){p.base, len};
}

static struct errand *errand(struct page_worker *w, unsigned n)
{
    return &w->errands[(w->oldest + n) % countof(w->errands)];
}

/* Larger ones are read alone: it would not save much, and those behind would wait long. */
enum { COMPANY_MAX = 128 << 10 };

static bool is_small(const struct page_wish *wish)
{
    return wish->source.len <= COMPANY_MAX;
}

_Static_assert(COMPANY_MAX + FRAME_TYPE_MAX + 1 + FRAME_URL_MAX + 1 <= AREA_BODY_MAX,
        "whatever is small fits into a slot");

bool page_worker_takes(const struct page_worker *w, const struct page_wish *wish)
{
    if (w->count == 0)
        return true;
    /* One that is not small never has company, so the oldest speaks for all. */
    return w->count < countof(w->errands) && !w->is_held && is_small(wish) &&
           is_small(w->errands[w->oldest].wish);
}

/* The first that is free: with one page at a time it is always the same, and warm. */
static uint16_t slot_get(const struct page_worker *w)
{
    unsigned taken = 0;
    uint16_t slot = 0;
    for (unsigned i = 0; i < w->count; i++)
        taken |= 1u << w->errands[(w->oldest + i) % countof(w->errands)].head.slot;
    while (taken & (1u << slot))
        slot++;
    return slot;
}

/* Where it is to lie; `bytes` with its texts. */
static uint16_t place_get(
        const struct page_worker *w, const struct page_wish *wish, size_t bytes)
{
    if (is_small(wish))
        return slot_get(w);
    return bytes <= AREA_WHOLE_MAX ? AREA_WHOLE : AREA_NO_SLOT;
}

static struct area_place place_of(const struct page_worker *w, const struct errand *e)
{
    return e->head.slot == AREA_NO_SLOT ? (struct area_place){0}
                                        : area_place(w->area, e->head.slot);
}

/* From here on the answer to the oldest is expected. */
static void listen_for(struct page_worker *w)
{
    const struct errand *e = errand(w, 0);
    struct area_place p = place_of(w, e);
    frame_reader_init(
            &w->answer, e->head.job, e->wish->digest, e->wish->text, p.answer, p.answer_max);
}

static bool is_too_large(const struct errand *e)
{
    return e->wish->source.len > PAGE_BODY_MAX;
}

/* The body and the two texts, as the reader will want them: with their zeros. */
static void parts_make(const struct page_source *s, struct errand *e)
{
    const struct frame_request *h = &e->head;
    e->parts[0] = part(s->bytes, s->len);
    e->parts[1] = part(s->content_type, h->type_bytes == UINT32_MAX ? 0 : h->type_bytes + 1);
    e->parts[2] = part(s->url, h->url_bytes == UINT32_MAX ? 0 : h->url_bytes + 1);
    e->first = 0;
}

static void lay_down(struct errand *e, char *to)
{
    for (; e->first < countof(e->parts); e->first++) {
        const struct iovec *p = &e->parts[e->first];
        if (p->iov_len)
            memcpy(to, p->iov_base, p->iov_len);
        to += p->iov_len;
    }
}

/* Shows the newest request to the reader, and calls it if it sleeps: (4).  A bell that does not
 * go through is none that a reader in its senses waits for. */
static void show(struct page_worker *w, const struct frame_request *h)
{
    struct area *a = w->area;
    struct area_request *r = &a->requests[h->job % AREA_REQUESTS];
    char bell = FRAME_BELL;
    r->head = *h;
    atomic_store(&r->turn, AREA_GIVEN(h->job));
    atomic_store(&a->given, h->job);
    if (atomic_load(&a->is_asleep) && atomic_exchange(&a->is_asleep, 0) &&
            send(w->fd, &bell, sizeof bell, MSG_NOSIGNAL) < 0 && errno == EPIPE)
        w->is_deaf = true;
}

static void sent(struct errand *e, size_t bytes)
{
    while (e->first < countof(e->parts) && bytes >= e->parts[e->first].iov_len)
        bytes -= e->parts[e->first++].iov_len;
    if (bytes > 0) {
        struct iovec *p = &e->parts[e->first];
        *p = part((char *)p->iov_base + bytes, p->iov_len - bytes);
    }
}

/* As much as the socket takes. */
static void send_more(struct page_worker *w)
{
    while (w->sent < w->count && !w->is_deaf) {
        struct errand *e = errand(w, w->sent);
        struct msghdr m = {
                .msg_iov = &e->parts[e->first], .msg_iovlen = countof(e->parts) - e->first};
        if (is_too_large(e))
            return; /* the reader never hears of it */
        ssize_t n = sendmsg(w->fd, &m, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n < 0 && errno != EINTR)
            w->is_deaf = true;
        if (n >= 0)
            sent(e, (size_t)n);
        w->sent += e->first == countof(e->parts);
    }
}

static enum page_turn to_wait_for(const struct page_worker *w)
{
    return w->sent < w->count && !w->is_deaf ? PAGE_TURN_WRITE : PAGE_TURN_READ;
}

enum page_turn worker_give(struct page_worker *w, const struct page_wish *wish)
{
    CHECK(page_worker_takes(w, wish));
    struct errand *e = errand(w, w->count);
    e->wish = wish;
    frame_request_make(&e->head, ++w->job, wish);
    e->head.slot = place_get(w, wish, frame_request_bytes(&e->head));
    parts_make(&wish->source, e);
    w->had_large |= !is_small(wish);
    w->count++;
    if (w->is_up && w->count == 1)
        listen_for(w);
    if (is_too_large(e))
        return to_wait_for(w); /* the reader never hears of it */
    if (e->head.slot != AREA_NO_SLOT) {
        struct area_place p = place_of(w, e);
        atomic_store(p.answered, JOB_HELLO); /* a larger page may have lain here: (5) */
        lay_down(e, p.body);
        w->sent++;
    }
    show(w, &e->head);
    send_more(w);
    return to_wait_for(w);
}

enum page_turn page_worker_give(struct page_worker *w, const struct page_wish *wish)
{
    if (w->seat)
        worker_sit_apart(w);
    return worker_give(w, wish);
}

unsigned page_worker_take_back(struct page_worker *w)
{
    unsigned n = 0;
    for (; w->count > 1; n++) {
        uint64_t job = errand(w, w->count - 1)->head.job, turn = AREA_GIVEN(job);
        if (!atomic_compare_exchange_strong(
                    &w->area->requests[job % AREA_REQUESTS].turn, &turn, 0))
            break; /* (3) */
        w->count--;
        w->sent--;
    }
    w->is_held |= n > 0;
    return n;
}

bool page_worker_wants_rest(const struct page_worker *w)
{
    return w->had_large && w->count == 0;
}

void page_worker_rest(struct page_worker *w)
{
    struct frame_request h;
    CHECK(w->count == 0);
    w->had_large = false;
    area_clear(w->area);
    frame_request_rest(&h, ++w->job);
    show(w, &h);
}

/* Does the answer to the oldest lie in its slot? */
static bool slot_is_ready(const struct page_worker *w)
{
    const struct errand *e = &w->errands[w->oldest];
    struct area_place p = place_of(w, e);
    return w->is_up && w->sent > 0 && p.answered &&
           atomic_load_explicit(p.answered, memory_order_acquire) == e->head.job;
}

/* What is read here stays where it is until it is asked for. */
static ssize_t receive(struct page_worker *w)
{
    ssize_t n = recv(w->fd, w->said, sizeof w->said, 0);
    w->said_at = 0;
    w->said_end = n > 0 ? (size_t)n : 0;
    return n;
}

static bool is_later(ssize_t n)
{
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

/* One bell may tell of several answers, and come when they are known already; but there are
 * never more bells than answers.  False: there were. */
static bool skip_bells(struct page_worker *w)
{
    for (; w->said_at < w->said_end && w->said[w->said_at] == FRAME_BELL; w->said_at++)
        w->bells++;
    return w->bells <= w->in_slots + w->count;
}

static void take(struct page_worker *w, const void *bytes, size_t len)
{
    size_t room = 0;
    char *at = frame_reader_room(&w->answer, &room);
    CHECK(at && len <= room);
    memcpy(at, bytes, len);
    frame_reader_got(&w->answer, len);
}

enum heard { HEARD_MORE, HEARD_NOTHING, HEARD_NONSENSE, HEARD_END };

/* Hands on what the reader said, a piece at a time. */
static enum heard hear_more(struct page_worker *w, size_t *ret_bytes)
{
    size_t room = 0, have = w->said_end - w->said_at;
    char *at = frame_reader_room(&w->answer, &room);
    bool is_between = w->answer.head_got == 0;
    ssize_t n = 1;

    *ret_bytes = 0;
    if (have == 0 && room >= sizeof w->said) { /* the bytes of a large answer */
        n = recv(w->fd, at, room < TURN_BYTES ? room : TURN_BYTES, 0);
        if (n > 0)
            frame_reader_got(&w->answer, *ret_bytes = (size_t)n);
    } else {
        if (have == 0 && !(is_between && slot_is_ready(w)))
            n = receive(w);
        if (is_between && !skip_bells(w))
            return HEARD_NONSENSE;
        if (is_between && slot_is_ready(w)) { /* even if it is dead by now: (2) */
            struct frame_answer head = *place_of(w, errand(w, 0)).head;
            w->in_slots++;
            take(w, &head, *ret_bytes = sizeof head);
            return HEARD_MORE;
        }
        have = w->said_end - w->said_at;
        *ret_bytes = have < room ? have : room;
        take(w, w->said + w->said_at, *ret_bytes);
        w->said_at += *ret_bytes;
    }
    if (*ret_bytes)
        return HEARD_MORE;
    return n > 0 || (is_later(n) && !w->is_deaf) ? HEARD_NOTHING : HEARD_END;
}

static enum page_turn dead(struct page_worker *w, const char *how, struct fault *f)
{
    char text[100];
    if (!how) {
        worker_describe_end(w, text, sizeof text);
        how = text;
    }
    fault_set(f, ERR_LIMIT, "the page could not be read: %s", how);
    return PAGE_TURN_DEAD;
}

/* The first answer is about the reader, not about a page. */
static enum page_turn came_up(struct page_worker *w, struct fault *f)
{
    if (frame_reader_result(&w->answer, f) != OK) {
        fault_hint(f, "Pages are read only where the kernel can confine the reader.");
        return PAGE_TURN_DEAD;
    }
    w->is_up = true;
    frame_reader_done(&w->answer);
    if (w->count)
        listen_for(w);
    return w->count ? PAGE_TURN_READ : PAGE_TURN_DONE;
}

/* The oldest is over. */
static enum page_turn over(struct page_worker *w)
{
    w->oldest = (w->oldest + 1) % countof(w->errands);
    w->count--;
    w->is_held &= w->count > 0;
    if (w->is_up && w->count)
        listen_for(w);
    return PAGE_TURN_DONE;
}

static enum page_turn answered(struct page_worker *w, struct fault *f)
{
    if (!w->is_up)
        return came_up(w, f);
    (void)frame_reader_result(&w->answer, f); /* in `f` */
    frame_reader_done(&w->answer);
    w->pages++;
    w->sent--;
    return over(w);
}

static enum page_turn too_large(struct page_worker *w, struct fault *f)
{
    fault_set(f, ERR_LIMIT, "the page has %zu bytes, more than %d",
            errand(w, 0)->wish->source.len, PAGE_BODY_MAX);
    if (w->is_up)
        frame_reader_done(&w->answer);
    return over(w);
}

/* Nothing is expected but a late bell; is there something all the same? */
static enum page_turn idle(struct page_worker *w, struct fault *f)
{
    ssize_t n = w->said_at < w->said_end ? 1 : receive(w);
    if (n > 0 && (!skip_bells(w) || w->said_at < w->said_end))
        return dead(w, "the reader spoke without being asked", f); /* (1) */
    return n > 0 || is_later(n) ? PAGE_TURN_DONE : dead(w, NULL, f);
}

enum page_turn page_worker_turn(struct page_worker *w, struct fault *f)
{
    f->code = OK;
    if (w->is_up && !w->count)
        return idle(w, f);
    if (w->count && is_too_large(errand(w, 0)))
        return too_large(w, f);
    for (size_t moved = 0, n; moved < TURN_BYTES; moved += n) {
        send_more(w);
        enum heard heard = hear_more(w, &n);
        if (heard == HEARD_NOTHING)
            break;
        if (heard == HEARD_END)
            return dead(w, NULL, f);
        if (heard == HEARD_NONSENSE || w->answer.is_broken)
            return dead(w, "the reader's answer is damaged", f);
        if (w->is_up && w->answer.is_whole && w->sent == 0)
            return dead(w, "the reader answered before it had the page", f); /* (1) */
        if (w->answer.is_whole) {
            enum page_turn t = answered(w, f);
            if (t != PAGE_TURN_READ)
                return t;
        }
    }
    return to_wait_for(w);
}
