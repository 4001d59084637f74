/* The demo site's server: libmicrohttpd with a thread of its own.
 *
 *  (1) It listens on loopback only.
 *  (2) Validators are honest: 304 exactly when the bytes are what the client has.
 */
#include "web/site.h"
#include "web/pages.h"
#include "base/hash.h"
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SITE_TAG = 0x53495445 };

struct web_site {
    uint32_t tag; /* SITE_TAG */
    const struct clock *clock;
    struct MHD_Daemon *daemon;
    char url[64];
};

static void http_date(msec at, char text[40])
{
    time_t seconds = (time_t)(at / MSEC_PER_SECOND);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    strftime(text, 40, "%a, %d %b %Y %H:%M:%S GMT", &tm); /* the C locale's names */
}

static bool asks_for(struct MHD_Connection *c, const char *header, const char *value)
{
    const char *sent = MHD_lookup_connection_value(c, MHD_HEADER_KIND, header);
    return sent && strcmp(sent, value) == 0;
}

/* Sets the validator; true when the client has this version already: (2). */
static bool add_validator(struct MHD_Connection *c, struct MHD_Response *r,
        const struct web_page *page, const struct buf *body)
{
    char text[64];
    switch (page->validator) {
    case WEB_PLAIN:
        return false;
    case WEB_ETAG:
        snprintf(text, sizeof(text), "\"%016llx\"",
                (unsigned long long)hash128_of(body->data, body->len).lo);
        MHD_add_response_header(r, MHD_HTTP_HEADER_ETAG, text);
        return asks_for(c, MHD_HTTP_HEADER_IF_NONE_MATCH, text);
    case WEB_LAST_MODIFIED:
        http_date(page->changed_at, text);
        MHD_add_response_header(r, MHD_HTTP_HEADER_LAST_MODIFIED, text);
        return asks_for(c, MHD_HTTP_HEADER_IF_MODIFIED_SINCE, text);
    }
    return false;
}

static enum MHD_Result send_text(struct MHD_Connection *c, unsigned status, const char *text)
{
    struct MHD_Response *r = MHD_create_response_from_buffer(
            strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
    enum MHD_Result sent = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return sent;
}

static enum MHD_Result send_page(
        struct MHD_Connection *c, const struct web_page *page, const struct buf *body)
{
    struct MHD_Response *whole =
            MHD_create_response_from_buffer(body->len, body->data, MHD_RESPMEM_MUST_COPY);
    struct MHD_Response *nothing =
            MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(whole, MHD_HTTP_HEADER_CONTENT_TYPE, "text/html; charset=utf-8");
    bool known = add_validator(c, whole, page, body);
    add_validator(c, nothing, page, body);
    enum MHD_Result sent = MHD_queue_response(
            c, known ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, known ? nothing : whole);
    MHD_destroy_response(whole);
    MHD_destroy_response(nothing);
    return sent;
}

/* The site's thread. */
static enum MHD_Result answer(void *arg, struct MHD_Connection *c, const char *path,
        const char *method, const char *version, const char *upload, size_t *upload_bytes,
        void **state)
{
    (void)version, (void)upload, (void)upload_bytes, (void)state;
    struct web_site *s = TAGGED(struct web_site, arg, SITE_TAG);
    BUF(body, WEB_PAGE_BYTES_MAX);
    struct web_page page;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return send_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "This site can only be read.\n");
    if (!web_page_write(path, clock_wall(s->clock), &body, &page))
        return send_text(c, MHD_HTTP_NOT_FOUND, "There is no such page, or no longer.\n");
    return send_page(c, &page, &body);
}

void web_site_stop(struct web_site *s)
{
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    s->daemon = NULL;
}

static void site_release(void *arg)
{
    web_site_stop(TAGGED(struct web_site, arg, SITE_TAG));
}

enum err web_site_start(struct arena *life, const struct clock *clock, unsigned port,
        struct fault *f, struct web_site **ret_site)
{
    struct web_site *s = arena_new_of(life, struct web_site);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK); /* (1) */
    s->tag = SITE_TAG;
    s->clock = clock;
    if (port <= UINT16_MAX)
        s->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, (uint16_t)port, NULL, NULL,
                answer, s, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_LIMIT, 256u,
                MHD_OPTION_CONNECTION_TIMEOUT, 30u, MHD_OPTION_END);
    if (!s->daemon) {
        enum err e = fault_set(f, ERR_NET, "the demo site cannot listen on port %u", port);
        fault_hint(f, "Give another port, or 0 for any free one.");
        return e;
    }
    const union MHD_DaemonInfo *info =
            MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT);
    CHECK(info);
    snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u", (unsigned)info->port);
    arena_defer(life, site_release, s);
    *ret_site = s;
    return OK;
}

const char *web_site_url(const struct web_site *s)
{
    return s->url;
}
