/* What libcurl calls while a transfer runs: connect, request, headers, body.
 *
 *  (1) The address is judged for this very connect, after DNS, and once more before the
 *      request is sent, since the connection may be an old one.
 *  (2) Not a byte more than the caps is kept, and a transfer over one ends at once.
 *  (3) Of a body that is not the page (an error's, a redirect's) only so much is read as
 *      keeps the connection usable; none of it is kept.
 *
 * Nothing here calls back into libcurl, and nothing of the user's is called from here.
 */
#include "fetch/fetch_int.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

enum { DECORATION_BYTES_MAX = 64 * 1024 };

static unsigned port_of(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET)
        return ntohs(((const struct sockaddr_in *)(const void *)sa)->sin_port);
    return ntohs(((const struct sockaddr_in6 *)(const void *)sa)->sin6_port);
}

/* The operator's own proxy or renderer, wherever it stands. */
static bool is_trusted(const struct fetch_transfer *t)
{
    return t->fetch->o.proxy || t->rendered_url;
}

curl_socket_t fetch_on_socket_open(
        void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct fetch_transfer *t = TAGGED(struct fetch_transfer, arg, FETCH_TRANSFER_TAG);
    struct fetch_run *run = t->run;
    struct fetch_address a;
    if (purpose != CURLSOCKTYPE_IPCXN || !fetch_address_of(&address->addr, &a)) {
        snprintf(run->refused, sizeof(run->refused), "only IPv4 and IPv6 are connected to");
        return CURL_SOCKET_BAD;
    }
    if (!is_trusted(t) && !fetch_address_is_allowed(&t->fetch->policy, &a)) {
        fetch_reason_refused(&a, run->refused);
        if (t->cargo) /* another setting than for pages */
            fetch_cargo_refused(&a, run->refused);
        return CURL_SOCKET_BAD; /* (1) */
    }
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0) {
        snprintf(run->refused, sizeof(run->refused), "no socket can be opened here: %s",
                strerror(errno));
        return CURL_SOCKET_BAD;
    }
    run->has_tried = true;
    run->address = a;
    run->port = port_of(&address->addr);
    t->fetch->stats.connections++;
    fetch_multi_opened(t->fetch, fd);
    fetch_queue_reached(t, &a);
    return fd;
}

int fetch_on_request(void *arg, char *remote, char *local, int remote_port, int local_port)
{
    (void)local, (void)remote_port, (void)local_port;
    struct fetch_transfer *t = TAGGED(struct fetch_transfer, arg, FETCH_TRANSFER_TAG);
    struct fetch_address a;
    if (!is_trusted(t) && (!fetch_address_parse(remote, &a) ||
                                  !fetch_address_is_allowed(&t->fetch->policy, &a))) {
        snprintf(t->run->why, sizeof(t->run->why),
                "the connection leads to %s, which is not allowed", remote);
        return CURL_PREREQFUNC_ABORT; /* (1) */
    }
    if (!is_trusted(t))
        fetch_queue_reached(t, &a);
    fetch_deadline_phase(t, FETCH_WAITING);
    return CURL_PREREQFUNC_OK;
}

/* The cap is hit: that is the end of it, one way or the other. */
static bool too_long(struct fetch_transfer *t)
{
    char size[FETCH_NUMBER_SIZE];
    if (t->takes_part)
        t->run->has_part = true;
    else
        snprintf(t->run->why, sizeof(t->run->why), "the page is larger than %s",
                fetch_size_text(t->body_bytes_max, size));
    return false;
}

/* The memory of bodies is used again, the warmest first: a page fits where one was before. */
static void body_take(struct fetch_transfer *t)
{
    struct fetch *fe = t->fetch;
    struct buf *body = &t->run->body;
    if (body->cap > 0)
        return; /* that of an earlier hop */
    if (fe->nspare > 0)
        *body = fe->spare[--fe->nspare];
    body->max = t->body_bytes_max;
}

void fetch_body_give_back(struct fetch_transfer *t)
{
    struct fetch *fe = t->fetch;
    struct buf *body = &t->run->body;
    if (body->cap == 0 || body->cap > FETCH_SPARE_BYTES_MAX ||
            fe->nspare == countof(fe->spare)) {
        buf_done(body);
        return;
    }
    buf_clear(body);
    fe->spare[fe->nspare++] = *body;
}

static bool headers_came(struct fetch_transfer *t)
{
    const struct fetch_headers *h = &t->run->headers;
    fetch_deadline_phase(t, FETCH_BODY);
    t->run->is_wanted = !t->cargo && (h->status == 200 || h->status == 203);
    fetch_inflate_init(&t->run->inflate, h->coding);
    if (t->run->is_wanted && h->has_length && h->length > t->body_bytes_max && !t->takes_part)
        return too_long(t);
    if (t->run->is_wanted)
        body_take(t);
    if (t->run->is_wanted && h->has_length && h->length < FETCH_SPARE_BYTES_MAX)
        return buf_reserve(&t->run->body, h->length); /* a small promise is believed */
    return true;
}

size_t fetch_on_header(char *data, size_t size, size_t n, void *arg)
{
    struct fetch_transfer *t = TAGGED(struct fetch_transfer, arg, FETCH_TRANSFER_TAG);
    struct fetch_run *run = t->run;
    struct str line = {data, size * n};
    bool was_complete = run->headers.is_complete;
    run->header_bytes += line.len;
    t->wire_bytes += line.len;
    if (run->header_bytes > t->fetch->o.max_header_bytes) {
        char limit[FETCH_NUMBER_SIZE];
        snprintf(run->why, sizeof(run->why), "the response headers are larger than %s",
                fetch_size_text(t->fetch->o.max_header_bytes, limit));
        return 0; /* (2) */
    }
    if (!fetch_headers_line(&run->headers, t->life, line, run->why))
        return 0;
    if (run->headers.is_complete && !was_complete && !headers_came(t))
        return 0;
    return line.len;
}

static bool take_compressed(struct fetch_transfer *t, const char *data, size_t len)
{
    struct fetch_run *run = t->run;
    switch (fetch_inflate(&run->inflate, data, len, &run->body)) {
    case FETCH_INFLATE_OK:
        return true;
    case FETCH_INFLATE_FULL:
        return too_long(t);
    case FETCH_INFLATE_BOMB:
        snprintf(run->why, sizeof(run->why),
                "the compressed body swells to more than 200 times its size");
        return false;
    case FETCH_INFLATE_BROKEN:
        snprintf(run->why, sizeof(run->why), "the compressed body is damaged");
        return false;
    case FETCH_INFLATE_RESULT_COUNT:
        break;
    }
    CHECK(!"a result of inflate");
    return false;
}

size_t fetch_on_body(char *data, size_t size, size_t n, void *arg)
{
    struct fetch_transfer *t = TAGGED(struct fetch_transfer, arg, FETCH_TRANSFER_TAG);
    struct fetch_run *run = t->run;
    size_t len = size * n;
    run->body_wire_bytes += len;
    t->wire_bytes += len;
    if (!run->is_wanted)
        return run->body_wire_bytes > DECORATION_BYTES_MAX ? 0 : len; /* (3) */
    if (run->headers.coding)
        return take_compressed(t, data, len) ? len : 0;
    size_t room = run->body.max - run->body.len;
    if (!buf_append(&run->body, data, len < room ? len : room))
        return 0; /* no memory */
    if (len > room)
        too_long(t); /* (2) */
    return len > room ? 0 : len;
}
