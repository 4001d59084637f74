/* libcurl's multi interface by its socket callbacks, on the loop.
 *
 * libcurl says which sockets and which moment it waits for; the loop says when they are
 * there.  It must hold that
 *  (1) libcurl is entered only from the loop, never from one of its own callbacks, and
 *  (2) what it finished is handed on only after it has returned.
 *
 *  (3) A kept connection keeps its watcher, so that the next request on it costs the kernel
 *      no call; what comes meanwhile, a goodbye mostly, only ends the watching.
 *
 * The watchers of sockets are recycled: their number is bounded by the connections.
 */
#include "fetch/fetch_int.h"
#include <stdlib.h>
#include <unistd.h>

struct fetch_socket {
    struct list link; /* in fetch.free_sockets */
    struct fetch *fetch;
    int fd;
    int events;         /* that are watched; 0: none */
    bool is_connection; /* opened for a transfer, so we are told when it is closed */
    bool is_kept;       /* libcurl waits for nothing on it */
    struct loop_io io;
};

static void stop_watching(struct fetch_socket *s)
{
    loop_io_stop(s->fetch->loop, &s->io);
    s->events = 0;
}

static void hand_on_finished(struct fetch *fe)
{
    CURLMsg *m;
    int left;
    while ((m = curl_multi_info_read(fe->multi, &left))) {
        void *arg = NULL;
        CURLcode code = m->data.result; /* the message does not outlive the handle */
        if (m->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &arg);
        fetch_transfer_ended(TAGGED(struct fetch_transfer, arg, FETCH_TRANSFER_TAG), code);
    }
}

static void act(struct fetch *fe, curl_socket_t fd, int events)
{
    int running;
    fe->pumps_anyway = true;
    curl_multi_socket_action(fe->multi, fd, events, &running);
    hand_on_finished(fe); /* (2) */
    fe->pumps_anyway = false;
    fetch_pump(fe);
}

static void socket_ready(struct loop_io *io, int events)
{
    struct fetch_socket *s = container_of(io, struct fetch_socket, io);
    int flags = (events & LOOP_READ ? CURL_CSELECT_IN : 0) |
                (events & LOOP_WRITE ? CURL_CSELECT_OUT : 0);
    if (s->is_kept)
        stop_watching(s); /* (3) */
    else
        act(s->fetch, s->fd, flags);
}

static void timer_expired(struct loop_timer *timer)
{
    act(container_of(timer, struct fetch, curl_timer), CURL_SOCKET_TIMEOUT, 0);
}

static void socket_forget(struct fetch *fe, int fd)
{
    struct fetch_socket *s = fe->sockets[fd];
    stop_watching(s);
    list_append(&fe->free_sockets, &s->link);
    fe->sockets[fd] = NULL;
}

static struct fetch_socket *socket_new(struct fetch *fe, int fd)
{
    struct list *free = list_first(&fe->free_sockets);
    struct fetch_socket *s = free ? list_entry(free, struct fetch_socket, link)
                                  : arena_new_of(fe->life, struct fetch_socket);
    if (free)
        list_remove(free);
    *s = (struct fetch_socket){.fetch = fe, .fd = fd};
    list_init(&s->link);
    loop_io_init(&s->io, socket_ready);
    return fe->sockets[fd] = s;
}

static void make_room(struct fetch *fe, int fd)
{
    size_t n = fe->nsockets;
    if ((size_t)fd < n)
        return;
    fe->nsockets = (size_t)fd * 2 + 16;
    fe->sockets = reallocarray(fe->sockets, fe->nsockets, sizeof fe->sockets[0]);
    CHECK(fe->sockets);
    memset(fe->sockets + n, 0, (fe->nsockets - n) * sizeof fe->sockets[0]);
}

void fetch_multi_opened(struct fetch *fe, int fd)
{
    make_room(fe, fd);
    if (fe->sockets[fd])
        socket_forget(fe, fd);
    socket_new(fe, fd)->is_connection = true;
}

int fetch_multi_closes(void *arg, curl_socket_t fd)
{
    struct fetch *fe = TAGGED(struct fetch, arg, FETCH_TAG);
    if ((size_t)fd < fe->nsockets && fe->sockets[fd])
        socket_forget(fe, fd);
    return close(fd);
}

static int socket_changed(CURL *easy, curl_socket_t fd, int what, void *arg, void *unused)
{
    (void)easy, (void)unused;
    struct fetch *fe = TAGGED(struct fetch, arg, FETCH_TAG);
    make_room(fe, fd);
    struct fetch_socket *s = fe->sockets[fd] ? fe->sockets[fd] : socket_new(fe, fd);
    s->is_kept = what == CURL_POLL_REMOVE;
    if (s->is_kept) {
        if (!s->is_connection)
            socket_forget(fe, fd);
        else if (s->events != LOOP_READ)
            stop_watching(s); /* it can always be written to */
        return 0;
    }
    int events =
            (what & CURL_POLL_IN ? LOOP_READ : 0) | (what & CURL_POLL_OUT ? LOOP_WRITE : 0);
    if (s->events != events)
        loop_io_set(fe->loop, &s->io, fd, events);
    s->events = events;
    return 0;
}

/* Called by libcurl from inside itself, so even "at once" goes through the loop: (1). */
static int timer_changed(CURLM *multi, long after, void *arg)
{
    (void)multi;
    struct fetch *fe = TAGGED(struct fetch, arg, FETCH_TAG);
    if (after < 0)
        loop_timer_stop(fe->loop, &fe->curl_timer);
    else
        loop_timer_set(fe->loop, &fe->curl_timer, after);
    return 0;
}

void fetch_multi_open(struct fetch *fe)
{
    list_init(&fe->free_sockets);
    loop_timer_init(&fe->curl_timer, timer_expired);
    fe->multi = curl_multi_init();
    fe->share = curl_share_init();
    CHECK(fe->multi && fe->share);
    curl_multi_setopt(fe->multi, CURLMOPT_SOCKETFUNCTION, socket_changed);
    curl_multi_setopt(fe->multi, CURLMOPT_SOCKETDATA, fe);
    curl_multi_setopt(fe->multi, CURLMOPT_TIMERFUNCTION, timer_changed);
    curl_multi_setopt(fe->multi, CURLMOPT_TIMERDATA, fe);
    curl_multi_setopt(fe->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)fe->o.max_connections);
    curl_multi_setopt(fe->multi, CURLMOPT_MAXCONNECTS, (long)fe->o.max_connections);
    curl_share_setopt(fe->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
}

bool fetch_multi_add(struct fetch_transfer *t)
{
    return curl_multi_add_handle(t->fetch->multi, t->run->easy) == CURLM_OK;
}

void fetch_multi_close(struct fetch *fe)
{
    curl_multi_cleanup(fe->multi);
    curl_share_cleanup(fe->share);
    loop_timer_stop(fe->loop, &fe->curl_timer);
    free(fe->sockets);
}
