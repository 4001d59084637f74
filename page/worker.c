/* The side that starts page readers and talks to them; never waits but where it says so.
 *
 *  (1) A reader inherits nothing: no environment, no descriptor but its socket, and the memory
 *      it shares with us.
 *  (2) Answers in the order of the pages, and nothing else: any byte too many, too few or too
 *      early makes the reader unfit for use.
 *  (3) A reader is reaped when it is freed, so none is left as a zombie, and killed first, so
 *      that freeing never waits for a page.
 *  (4) All that a reader said before it died is heard, so the page it died of is the oldest
 *      that has no answer.
 */
#include "page/worker_int.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* At most so much is moved in one turn, so that a large page does not hold up others. */
enum { TURN_BYTES = 1 << 20, SOCKET_BYTES = 1 << 20 };

struct errand { /* a page that the reader has, or that is on its way to it */
    const struct page_wish *wish;
    struct frame_request head;
    struct iovec parts[4]; /* of the request, what is still to be sent */
    size_t first;          /* of them */
};

struct page_worker {
    pid_t pid;
    int fd;
    struct area *area;
    bool is_up;
    bool is_deaf; /* it takes no more; what it said before is still to be heard: (4) */
    uint64_t job, pages;
    struct errand errands[PAGE_WORKER_MOST]; /* a ring, in the order they were given */
    unsigned oldest, count, sent;            /* the first so many of them are sent */
    struct frame_reader answer;              /* to the oldest */
    char said[256];                          /* what came in and was not looked at yet */
    size_t said_at, said_end;
    uint64_t in_slots, bells; /* answers in slots, and bells that told of them, so far */
};

/* ---- start and end
 * ----------------------------------------------------------------------------
 */

static void close_pair(int (*fds)[2])
{
    for (int i = 0; i < 2; i++)
        if ((*fds)[i] >= 0)
            close((*fds)[i]);
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static void area_drop(struct area **area)
{
    area_free(*area);
}

/* (1) */
static int spawn(const char *program, int socket, int area, pid_t *ret_pid)
{
    static char *const no_environment[] = {NULL};
    char name[] = "vigil", word[] = PAGE_WORKER_WORD;
    char *const argv[] = {name, word, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    if (posix_spawn_file_actions_init(&files) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&how) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return ENOMEM;
    }
    posix_spawn_file_actions_adddup2(&files, socket, WORKER_FD);
    posix_spawn_file_actions_adddup2(&files, area, WORKER_AREA_FD);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDOUT_FILENO);
    if (page_worker_is_confined()) /* a sanitizer's report should be seen */
        posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files, WORKER_AREA_FD + 1);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setsigmask(&how, &none);
    /* A session of its own: Ctrl-C at the terminal is for the engine alone. */
    posix_spawnattr_setflags(
            &how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    int e = posix_spawn(ret_pid, program, &files, &how, argv, no_environment);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return e;
}

static enum err open_socket(int fds[2], struct fault *f)
{
    int bytes = SOCKET_BYTES;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0 ||
            fcntl(fds[0], F_SETFL, O_NONBLOCK) != 0)
        return fault_set(f, ERR_IO, "no socket for a page reader: %s", strerror(errno));
    /* As much as the kernel allows; with less, a large page takes a few turns more. */
    for (int i = 0; i < 2; i++)
        (void)setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    return OK;
}

/* Out of the way of the numbers that the reader will know them by. */
static int moved_up(int fd)
{
    int up = fd > WORKER_AREA_FD ? fd : fcntl(fd, F_DUPFD_CLOEXEC, WORKER_AREA_FD + 1);
    if (up != fd)
        close(fd);
    return up;
}

enum err page_worker_start(
        const char *program, struct fault *f, struct page_worker **ret_worker)
{
    CLEANUP(close_pair) int fds[2] = {-1, -1};
    CLEANUP(close_one) int area_fd = -1;
    CLEANUP(area_drop) struct area *area = NULL;
    pid_t pid;

    if (!program)
        program = "/proc/self/exe";
    if (open_socket(fds, f) != OK || area_new(f, &area_fd, &area) != OK)
        return ERR_IO;
    fds[1] = moved_up(fds[1]);
    area_fd = moved_up(area_fd);
    int e = fds[1] < 0 || area_fd < 0 ? EMFILE : spawn(program, fds[1], area_fd, &pid);
    if (e != 0)
        return fault_set(f, ERR_IO, "a page reader could not be started from %s: %s", program,
                strerror(e));
    struct page_worker *w = calloc(1, sizeof *w);
    CHECK(w);
    w->pid = pid;
    w->fd = fds[0];
    w->area = area;
    fds[0] = -1;
    area = NULL;
    frame_reader_init(&w->answer, JOB_HELLO, NULL, NULL, NULL);
    *ret_worker = w;
    return OK;
}

void page_worker_free(struct page_worker *w)
{
    if (!w)
        return;
    close(w->fd);
    if (w->pid > 0) { /* (3) */
        kill(w->pid, SIGKILL);
        while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    frame_reader_done(&w->answer);
    area_free(w->area);
    free(w);
}

void page_worker_kill(struct page_worker *w)
{
    if (w->pid > 0)
        kill(w->pid, SIGKILL);
}

bool page_worker_is_gone(struct page_worker *w)
{
    char rest[4096];
    ssize_t n;
    if (w->pid <= 0)
        return true;
    while ((n = recv(w->fd, rest, sizeof rest, 0)) > 0)
        ;
    return n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

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

bool page_worker_takes(const struct page_worker *w, const struct page_wish *wish)
{
    if (w->count == 0)
        return true;
    /* One that is not small never has company, so the oldest speaks for all. */
    return w->count < countof(w->errands) && is_small(wish) &&
           is_small(w->errands[w->oldest].wish);
}

/* The first that is free: with one page at a time it is always the same, and warm. */
static uint16_t slot_get(struct page_worker *w)
{
    unsigned taken = 0;
    uint16_t slot = 0;
    for (unsigned i = 0; i < w->count; i++)
        taken |= 1u << errand(w, i)->head.slot;
    while (taken & (1u << slot))
        slot++;
    return slot;
}

/* From here on the answer to the oldest is expected. */
static void listen_for(struct page_worker *w)
{
    const struct errand *e = errand(w, 0);
    const char *slot =
            e->head.slot == AREA_NO_SLOT ? NULL : w->area->slots[e->head.slot].answer;
    frame_reader_init(&w->answer, e->head.job, e->wish->digest, e->wish->text, slot);
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

static bool is_too_large(const struct errand *e)
{
    return e->wish->source.len > PAGE_BODY_MAX;
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

enum page_turn page_worker_give(struct page_worker *w, const struct page_wish *wish)
{
    const struct page_source *s = &wish->source;
    CHECK(page_worker_takes(w, wish));
    uint16_t slot = s->len <= AREA_BODY_MAX ? slot_get(w) : AREA_NO_SLOT;
    struct errand *e = errand(w, w->count++);
    e->wish = wish;
    frame_request_make(&e->head, ++w->job, wish, slot);
    if (slot != AREA_NO_SLOT && s->len)
        memcpy(w->area->slots[slot].body, s->bytes, s->len);
    atomic_store_explicit(&w->area->given, w->job, memory_order_relaxed);
    e->parts[0] = part(&e->head, sizeof e->head);
    e->parts[1] =
            part(s->content_type, e->head.type_bytes == UINT32_MAX ? 0 : e->head.type_bytes);
    e->parts[2] = part(s->url, e->head.url_bytes == UINT32_MAX ? 0 : e->head.url_bytes);
    e->parts[3] = part(s->bytes, slot == AREA_NO_SLOT ? s->len : 0);
    e->first = 0;
    if (w->is_up && w->count == 1)
        listen_for(w);
    send_more(w);
    return to_wait_for(w);
}

/* Does the answer to the oldest lie in its slot? */
static bool slot_is_ready(const struct page_worker *w)
{
    const struct errand *e = &w->errands[w->oldest];
    return w->is_up && w->sent > 0 && e->head.slot != AREA_NO_SLOT &&
           atomic_load_explicit(&w->area->slots[e->head.slot].answered, memory_order_acquire) ==
                   e->head.job;
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
        if (is_between && slot_is_ready(w)) { /* even if it is dead by now: (4) */
            const struct area_slot *slot = &w->area->slots[errand(w, 0)->head.slot];
            struct frame_answer head = slot->head;
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

/* What became of a reader whose socket is closed.  The kernel closes it last, after the memory
 * is gone, so there is nothing left to wait for. */
static void describe_end(struct page_worker *w, char *text, size_t size)
{
    int status = 0;
    kill(w->pid, SIGKILL); /* in case it only closed its socket */
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
        ;
    w->pid = 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        snprintf(text, size, "the reader died of a forbidden system call");
    else if (WIFSIGNALED(status))
        snprintf(text, size, "the reader died of signal %d, %s", WTERMSIG(status),
                strsignal(WTERMSIG(status)));
    else
        snprintf(text, size, "the reader ended");
}

static enum page_turn dead(struct page_worker *w, const char *how, struct fault *f)
{
    char text[100];
    if (!how) {
        describe_end(w, text, sizeof text);
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
        return dead(w, "the reader spoke without being asked", f); /* (2) */
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
            return dead(w, "the reader answered before it had the page", f); /* (2) */
        if (w->answer.is_whole) {
            enum page_turn t = answered(w, f);
            if (t != PAGE_TURN_READ)
                return t;
        }
    }
    return to_wait_for(w);
}

void page_worker_overran(msec deadline, struct fault *f)
{
    char span[TIME_TEXT_SIZE];
    fault_set(f, ERR_LIMIT, "the page could not be read: the reader was killed after %s",
            time_span(deadline, span));
}

void page_worker_did_not_start(struct fault *f)
{
    char span[TIME_TEXT_SIZE];
    fault_set(f, ERR_BUSY, "the page could not be read: a reader did not come up in %s",
            time_span(PAGE_WORKER_START_MSEC, span));
}

/* ---- for programs without a loop
 * --------------------------------------------------------------
 */

enum err page_worker_read(struct page_worker *w, const struct page_wish *wish, msec deadline,
        struct fault *f, bool *ret_alive)
{
    struct fault own = {.code = OK};
    bool was_up = w->is_up;
    msec until = clock_mono(&clock_system) + (was_up ? deadline : PAGE_WORKER_START_MSEC);

    if (!f)
        f = &own;
    *ret_alive = false;
    CHECK(w->count == 0);
    enum page_turn t = page_worker_give(w, wish);
    if (!was_up || t != PAGE_TURN_READ) /* else it was asked this moment: no answer yet */
        t = page_worker_turn(w, f);
    for (;; t = page_worker_turn(w, f)) {
        msec now = clock_mono(&clock_system);
        if (t == PAGE_TURN_DEAD)
            return f->code;
        if (t == PAGE_TURN_DONE) {
            if (w->said_at == w->said_end)
                (void)receive(w); /* the bell, so that the next poll does not hear it */
            *ret_alive = true;
            return f->code;
        }
        if (w->is_up && !was_up) {
            was_up = true;
            until = now + deadline;
        }
        if (now >= until) {
            if (was_up)
                page_worker_overran(deadline, f);
            else
                page_worker_did_not_start(f);
            return f->code;
        }
        struct pollfd p = {w->fd, t == PAGE_TURN_WRITE ? POLLIN | POLLOUT : POLLIN, 0};
        (void)poll(&p, 1, until - now < 1000 ? (int)(until - now) : 1000);
    }
}
