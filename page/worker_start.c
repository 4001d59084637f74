/* How page readers come into the world and leave it.
 *
 *  (1) A reader inherits nothing: no environment, no descriptor but its socket, and the memory
 *      it shares with us.
 *  (2) A reader is reaped when it is freed, so none is left as a zombie, and killed first, so
 *      that freeing never waits for a page.
 */
#include "page/worker_int.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOCKET_BYTES = 1 << 20 };

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
    frame_reader_init(&w->answer, JOB_HELLO, NULL, NULL, NULL, 0);
    *ret_worker = w;
    return OK;
}

void page_worker_free(struct page_worker *w)
{
    if (!w)
        return;
    close(w->fd);
    if (w->pid > 0) { /* (2) */
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

/* The kernel closes the socket last, after the memory is gone, so there is nothing left to wait
 * for. */
void worker_describe_end(struct page_worker *w, char *text, size_t size)
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
