/* The side that starts page readers and talks to them; never waits but where it says so.
 *
 *  (1) A reader inherits nothing: no environment, no descriptor but its socket.
 *  (2) One page at a time, and its answer only: any byte too many, too few or too early makes
 *      the reader unfit for use.
 *  (3) A reader is reaped when it is freed, so none is left as a zombie, and killed first, so
 *      that freeing never waits for a page.
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

struct page_worker {
    pid_t pid;
    int fd;
    bool is_up;
    uint64_t job, pages;
    const struct page_wish *wish; /* NULL: idle */
    struct frame_request head;
    struct iovec parts[4]; /* of the request, what is still to be sent */
    size_t first;          /* of them */
    struct frame_reader answer;
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

/* (1) */
static int spawn(const char *program, int socket, pid_t *ret_pid)
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
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDOUT_FILENO);
    if (page_worker_is_confined()) /* a sanitizer's report should be seen */
        posix_spawn_file_actions_adddup2(&files, STDIN_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files, WORKER_FD + 1);
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

enum err page_worker_start(
        const char *program, struct fault *f, struct page_worker **ret_worker)
{
    CLEANUP(close_pair) int fds[2] = {-1, -1};
    int bytes = SOCKET_BYTES;
    pid_t pid;

    if (!program)
        program = "/proc/self/exe";
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return fault_set(f, ERR_IO, "no socket for a page reader: %s", strerror(errno));
    if (fds[1] == WORKER_FD) /* its copy at the same place would close with exec */
        (void)fcntl(fds[1], F_SETFD, 0);
    /* As much as the kernel allows; with less, a page takes a few turns more. */
    for (int i = 0; i < 2; i++)
        (void)setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    if (fcntl(fds[0], F_SETFL, O_NONBLOCK) != 0)
        return fault_set(f, ERR_IO, "no socket for a page reader: %s", strerror(errno));
    int e = spawn(program, fds[1], &pid);
    if (e != 0)
        return fault_set(f, ERR_IO, "a page reader could not be started from %s: %s", program,
                strerror(e));
    struct page_worker *w = calloc(1, sizeof *w);
    CHECK(w);
    w->pid = pid;
    w->fd = fds[0];
    fds[0] = -1;
    frame_reader_init(&w->answer, JOB_HELLO, NULL, NULL);
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

void page_worker_give(struct page_worker *w, const struct page_wish *wish)
{
    const struct page_source *s = &wish->source;
    CHECK(!w->wish);
    w->wish = wish;
    frame_request_make(&w->head, ++w->job, wish);
    w->parts[0] = part(&w->head, sizeof w->head);
    w->parts[1] =
            part(s->content_type, w->head.type_bytes == UINT32_MAX ? 0 : w->head.type_bytes);
    w->parts[2] = part(s->url, w->head.url_bytes == UINT32_MAX ? 0 : w->head.url_bytes);
    w->parts[3] = part(s->bytes, s->len);
    w->first = 0;
    if (w->is_up)
        frame_reader_init(&w->answer, w->job, wish->digest, wish->text);
}

static void sent(struct page_worker *w, size_t bytes)
{
    while (w->first < countof(w->parts) && bytes >= w->parts[w->first].iov_len)
        bytes -= w->parts[w->first++].iov_len;
    if (bytes > 0) {
        struct iovec *p = &w->parts[w->first];
        *p = part((char *)p->iov_base + bytes, p->iov_len - bytes);
    }
}

/* False: the other end is gone.  Sets *ret_full when the socket takes no more for now. */
static bool send_more(struct page_worker *w, bool *ret_full)
{
    struct msghdr m = {
            .msg_iov = &w->parts[w->first], .msg_iovlen = countof(w->parts) - w->first};
    ssize_t n = sendmsg(w->fd, &m, MSG_NOSIGNAL);
    *ret_full = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (n >= 0)
        sent(w, (size_t)n);
    return n >= 0 || *ret_full || errno == EINTR;
}

/* False: the other end is gone.  Sets *ret_bytes to 0 when nothing is there for now. */
static bool receive_more(struct page_worker *w, size_t *ret_bytes)
{
    size_t room = 0;
    char *at = frame_reader_room(&w->answer, &room);
    ssize_t n = recv(w->fd, at, room < TURN_BYTES ? room : TURN_BYTES, 0);
    *ret_bytes = n > 0 ? (size_t)n : 0;
    if (n > 0)
        frame_reader_got(&w->answer, (size_t)n);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
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
    if (w->wish)
        frame_reader_init(&w->answer, w->job, w->wish->digest, w->wish->text);
    return w->wish ? PAGE_TURN_READ : PAGE_TURN_DONE;
}

static enum page_turn answered(struct page_worker *w, struct fault *f)
{
    if (!w->is_up)
        return came_up(w, f);
    (void)frame_reader_result(&w->answer, f); /* in `f` */
    frame_reader_done(&w->answer);
    w->wish = NULL;
    w->pages++;
    return PAGE_TURN_DONE;
}

/* Nothing is expected; is there something all the same? */
static enum page_turn idle(struct page_worker *w, struct fault *f)
{
    char c;
    ssize_t n = recv(w->fd, &c, 1, MSG_PEEK);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return PAGE_TURN_DONE;
    return dead(w, n > 0 ? "the reader spoke without being asked" : NULL, f); /* (2) */
}

/* The reader never hears of it. */
static enum page_turn too_large(struct page_worker *w, struct fault *f)
{
    fault_set(f, ERR_LIMIT, "the page has %zu bytes, more than %d", w->wish->source.len,
            PAGE_BODY_MAX);
    w->wish = NULL;
    return PAGE_TURN_DONE;
}

enum page_turn page_worker_turn(struct page_worker *w, struct fault *f)
{
    size_t moved = 0, n;
    bool full = false;
    f->code = OK;
    if (w->is_up && !w->wish)
        return idle(w, f);
    if (w->wish && w->wish->source.len > PAGE_BODY_MAX)
        return too_large(w, f);
    while (moved < TURN_BYTES) {
        bool asked = false;
        while (w->wish && w->first < countof(w->parts) && !full) {
            if (!send_more(w, &full))
                return dead(w, NULL, f);
            asked = w->first == countof(w->parts);
        }
        if (asked && w->is_up)
            break; /* it was asked this moment: there is no answer yet */
        if (!receive_more(w, &n))
            return dead(w, NULL, f);
        if (w->answer.is_broken)
            return dead(w, "the reader's answer is damaged", f);
        bool early = w->is_up && w->answer.is_whole && w->first < countof(w->parts);
        if (early)
            return dead(w, "the reader answered before it had the page", f); /* (2) */
        if (w->answer.is_whole) {
            enum page_turn t = answered(w, f);
            if (t != PAGE_TURN_READ)
                return t;
        } else if (n == 0) {
            break;
        }
        moved += n;
    }
    return w->wish && w->first < countof(w->parts) ? PAGE_TURN_WRITE : PAGE_TURN_READ;
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
    page_worker_give(w, wish);
    for (;;) {
        enum page_turn t = page_worker_turn(w, f);
        msec now = clock_mono(&clock_system);
        if (t == PAGE_TURN_DEAD)
            return f->code;
        if (t == PAGE_TURN_DONE) {
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
