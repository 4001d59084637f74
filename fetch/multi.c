/* libcurl's multi interface by its socket callbacks, on the loop.
 *
 * libcurl says which sockets and which moment it waits for; the loop says when they are
 * there.  It must hold that
 *  (1) libcurl is entered only from the loop, never from one of its own callbacks, and
 *  (2) what it finished is handed on only after it has returned.
 *
 * The watchers of sockets are recycled: their number is bounded by the connections.
 */
#include "fetch/fetch_int.h"

struct socket_watch {
    uint32_t tag; /* FETCH_SOCKET_TAG */
    struct list link;
    struct fetch *fetch;
    int fd;
    struct loop_io io;
};

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
    fetch_pump(fe);
}

static void act(struct fetch *fe, curl_socket_t fd, int events)
{
    int running;
    curl_multi_socket_action(fe->multi, fd, events, &running);
    hand_on_finished(fe); /* (2) */
}

static void socket_ready(struct loop_io *io, int events)
{
    struct socket_watch *w = container_of(io, struct socket_watch, io);
    int flags = (events & LOOP_READ ? CURL_CSELECT_IN : 0) |
                (events & LOOP_WRITE ? CURL_CSELECT_OUT : 0);
    act(w->fetch, w->fd, flags);
}

static void timer_expired(struct loop_timer *timer)
{
    act(container_of(timer, struct fetch, curl_timer), CURL_SOCKET_TIMEOUT, 0);
}

static struct socket_watch *watch_new(struct fetch *fe, curl_socket_t fd)
{
    struct list *free = list_first(&fe->free_sockets);
    struct socket_watch *w = free ? list_entry(free, struct socket_watch, link)
                                  : arena_new_of(fe->life, struct socket_watch);
    if (free)
        list_remove(free);
    *w = (struct socket_watch){.tag = FETCH_SOCKET_TAG, .fetch = fe, .fd = fd};
    list_init(&w->link);
    loop_io_init(&w->io, socket_ready);
    curl_multi_assign(fe->multi, fd, w);
    return w;
}

static int socket_changed(CURL *easy, curl_socket_t fd, int what, void *arg, void *watch)
{
    (void)easy;
    struct fetch *fe = TAGGED(struct fetch, arg, FETCH_TAG);
    struct socket_watch *w =
            watch ? TAGGED(struct socket_watch, watch, FETCH_SOCKET_TAG) : watch_new(fe, fd);
    if (what == CURL_POLL_REMOVE) {
        loop_io_stop(fe->loop, &w->io);
        list_append(&fe->free_sockets, &w->link);
        curl_multi_assign(fe->multi, fd, NULL);
        return 0;
    }
    loop_io_set(fe->loop, &w->io, fd,
            (what & CURL_POLL_IN ? LOOP_READ : 0) | (what & CURL_POLL_OUT ? LOOP_WRITE : 0));
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
}
