/* The engine's own door: a unix socket that answers `status`, `settings`, `graph` and
 * `explain NAME`.
 *
 * It needs no database, so it can say that the database is away.  A question is one line, the
 * answer is everything until the connection closes.  The socket lies in a directory only the
 * engine's user can enter; a question may only look, never change.
 */
#include "engine/engine_int.h"
#include "base/json.h"
#include <errno.h>
#include <stdio.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { QUESTION_MAX = 128, ANSWER_MAX = 64 << 20, CALLERS_MAX = 16 };

struct caller {
    struct list link;
    struct control *control;
    struct loop_io io;
    int fd;
    char question[QUESTION_MAX];
    size_t asked;
    struct buf answer;
    size_t sent;
};

struct control {
    struct engine *engine;
    struct loop_io io;
    int fd;
    char path[108];
    struct list callers;
    unsigned ncallers;
};

static void hang_up(struct caller *c)
{
    loop_io_stop(c->control->engine->loop, &c->io);
    close(c->fd);
    buf_done(&c->answer);
    list_remove(&c->link);
    c->control->ncallers--;
    free(c);
}

static void answer(struct caller *c)
{
    struct engine *e = c->control->engine;
    if (strcmp(c->question, "status") == 0)
        engine_status_json(e, &c->answer);
    else if (strcmp(c->question, "graph") == 0)
        engine_graph_dot(e, &c->answer);
    else if (strncmp(c->question, "explain ", 8) == 0)
        engine_explain_json(e, c->question + 8, &c->answer);
    else if (strcmp(c->question, "settings") == 0)
        settings_json(e->settings, &c->answer);
    else
        buf_puts(&c->answer, "{\"error\":\"unknown question\"}\n");
    loop_io_set(e->loop, &c->io, c->fd, LOOP_WRITE);
}

static void caller_ready(struct loop_io *io, int events)
{
    struct caller *c = container_of(io, struct caller, io);
    if (events & LOOP_WRITE) {
        ssize_t n =
                send(c->fd, c->answer.data + c->sent, c->answer.len - c->sent, MSG_NOSIGNAL);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        c->sent += n > 0 ? (size_t)n : 0;
        if (n <= 0 || c->sent == c->answer.len)
            hang_up(c);
        return;
    }
    ssize_t n = recv(c->fd, c->question + c->asked, sizeof c->question - 1 - c->asked, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        hang_up(c);
        return;
    }
    c->asked += (size_t)n;
    c->question[c->asked] = 0;
    char *end = strchr(c->question, '\n');
    if (end) {
        *end = 0;
        answer(c);
    } else if (c->asked == sizeof c->question - 1) {
        hang_up(c);
    }
}

static void called(struct loop_io *io, int events)
{
    (void)events;
    struct control *control = container_of(io, struct control, io);
    int fd = accept4(control->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (control->ncallers >= CALLERS_MAX) {
        close(fd);
        return;
    }
    struct caller *c = calloc(1, sizeof *c);
    CHECK(c);
    c->control = control;
    c->fd = fd;
    buf_init(&c->answer, ANSWER_MAX);
    list_append(&control->callers, &c->link);
    control->ncallers++;
    loop_io_init(&c->io, caller_ready);
    loop_io_set(control->engine->loop, &c->io, fd, LOOP_READ);
}

static bool address_of(const char *path, struct sockaddr_un *to)
{
    *to = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof to->sun_path)
        return false;
    memcpy(to->sun_path, path, strlen(path) + 1);
    return true;
}

enum err control_start(struct engine *e, struct fault *f)
{
    struct sockaddr_un address;
    const char *path = store_control_path(e->store);
    if (!address_of(path, &address))
        return fault_set(f, ERR_IO, "the socket path \"%s\" is too long", path);
    struct control *c = calloc(1, sizeof *c);
    CHECK(c);
    c->engine = e;
    list_init(&c->callers);
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    memcpy(c->path, address.sun_path, sizeof c->path);
    unlink(path); /* left by an engine that was killed; we hold its lock now */
    if (c->fd < 0 || bind(c->fd, (struct sockaddr *)&address, sizeof address) != 0 ||
            listen(c->fd, CALLERS_MAX) != 0) {
        enum err err =
                fault_set(f, ERR_IO, "cannot listen on \"%s\": %s", path, strerror(errno));
        if (c->fd >= 0)
            close(c->fd);
        free(c);
        return err;
    }
    loop_io_init(&c->io, called);
    loop_io_set(e->loop, &c->io, c->fd, LOOP_READ);
    e->control = c;
    return OK;
}

void control_stop(struct engine *e)
{
    struct control *c = e->control;
    if (!c)
        return;
    list_each (pos, &c->callers)
        hang_up(list_entry(pos, struct caller, link));
    loop_io_stop(e->loop, &c->io);
    close(c->fd);
    unlink(c->path);
    free(c);
    e->control = NULL;
}

/* ---- the other side: a command ------------------------------------------------------- */

enum { ASK_TIMEOUT_S = 5 };

enum err control_ask(const char *path, const char *question, struct arena *life,
        struct fault *f, char **ret_answer)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval patience = {.tv_sec = ASK_TIMEOUT_S};
    if (fd < 0 || !address_of(path, &address) ||
            setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
            connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        if (fd >= 0)
            close(fd);
        return fault_set(f, ERR_NET, "no engine answers");
    }
    char line[QUESTION_MAX];
    int len = snprintf(line, sizeof line, "%s\n", question);
    BUF(all, ANSWER_MAX);
    char part[4096];
    ssize_t n = send(fd, line, (size_t)len, MSG_NOSIGNAL);
    while (n > 0 && (n = recv(fd, part, sizeof part, 0)) > 0)
        buf_append(&all, part, (size_t)n);
    close(fd);
    if (n < 0 || all.len == 0)
        return fault_set(f, ERR_BUSY, "an engine is running, but it does not answer");
    *ret_answer = arena_strndup(life, all.data, all.len);
    return OK;
}
