/* The living site's server: libmicrohttpd with a thread of its own.
 *
 *  (1) It listens on loopback only.
 *  (2) Validators are honest: 304 exactly when the bytes are what the client has.
 *  (3) Of the living pages every third has an ETag, every third a date, every third neither.
 *  (4) Connections are kept, as those of any server are.
 */
#include "web/site.h"
#include "web/pages.h"
#include "base/hash.h"
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SITE_TAG = 0x53495445, CONNECTIONS_MAX = 1024 };

struct web_site {
    uint32_t tag; /* SITE_TAG */
    struct web_site_options o;
    struct MHD_Daemon *daemon;
    char url[64];
    msec *looked; /* when each living page was first asked for, 0: not yet; [0] is not used */
};

const char *web_failure_name(enum web_failure failure)
{
    static const char *const names[] = {"well", "500", "503", "404", "cut", "drop"};
    return failure < WEB_FAILURES ? names[failure] : NULL;
}

/* ---- validators ----------------------------------------------------------------------- */

struct validator {
    const char *header, *asks; /* NULL: none */
    char text[64];
};

static void validator_etag(struct validator *v, uint64_t signature)
{
    v->header = MHD_HTTP_HEADER_ETAG;
    v->asks = MHD_HTTP_HEADER_IF_NONE_MATCH;
    snprintf(v->text, sizeof(v->text), "\"%016llx\"", (unsigned long long)signature);
}

static void validator_date(struct validator *v, msec at)
{
    time_t seconds = (time_t)(at / MSEC_PER_SECOND);
    struct tm tm;
    v->header = MHD_HTTP_HEADER_LAST_MODIFIED;
    v->asks = MHD_HTTP_HEADER_IF_MODIFIED_SINCE;
    gmtime_r(&seconds, &tm);
    strftime(v->text, sizeof(v->text), "%a, %d %b %Y %H:%M:%S GMT", &tm); /* C locale's names */
}

/* The client has this version already: (2). */
static bool validator_known(const struct validator *v, struct MHD_Connection *c)
{
    const char *sent =
            v->asks ? MHD_lookup_connection_value(c, MHD_HEADER_KIND, v->asks) : NULL;
    return sent && strcmp(sent, v->text) == 0;
}

/* ---- answers -------------------------------------------------------------------------- */

static enum MHD_Result send_response(struct MHD_Connection *c, unsigned status,
        struct MHD_Response *r, const struct validator *v)
{
    if (v->header)
        MHD_add_response_header(r, v->header, v->text);
    enum MHD_Result sent = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return sent;
}

static enum MHD_Result send_text(struct MHD_Connection *c, unsigned status, const char *text)
{
    struct MHD_Response *r = MHD_create_response_from_buffer(
            strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
    return send_response(c, status, r, &(struct validator){0});
}

static enum MHD_Result send_not_modified(struct MHD_Connection *c, const struct validator *v)
{
    struct MHD_Response *r =
            MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    return send_response(c, MHD_HTTP_NOT_MODIFIED, r, v);
}

/* The body becomes libmicrohttpd's. */
static enum MHD_Result send_page(
        struct MHD_Connection *c, const struct validator *v, struct buf *body)
{
    size_t bytes;
    char *data = buf_take(body, &bytes);
    struct MHD_Response *r =
            MHD_create_response_from_buffer(bytes, data, MHD_RESPMEM_MUST_FREE);
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/html; charset=utf-8");
    return send_response(c, MHD_HTTP_OK, r, v);
}

struct half {
    char *data;
    size_t bytes;
};

static ssize_t half_read(void *arg, uint64_t from, char *to, size_t room)
{
    struct half *h = arg;
    if (from >= h->bytes / 2)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    size_t n = h->bytes / 2 - (size_t)from;
    n = n < room ? n : room;
    memcpy(to, h->data + from, n);
    return (ssize_t)n;
}

static void half_free(void *arg)
{
    struct half *h = arg;
    free(h->data);
    free(h);
}

static enum MHD_Result send_half(struct MHD_Connection *c, struct buf *body)
{
    struct half *h = calloc(1, sizeof(*h));
    CHECK(h);
    h->data = buf_take(body, &h->bytes);
    struct MHD_Response *r =
            MHD_create_response_from_callback(h->bytes, 32 << 10, half_read, h, half_free);
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/html; charset=utf-8");
    return send_response(c, MHD_HTTP_OK, r, &(struct validator){0});
}

/* ---- living pages --------------------------------------------------------------------- */

enum { STEP = 4000, STAGGER = 1237 };

static uint64_t step_at(uint32_t number, msec now)
{
    now += number * STAGGER;
    return now < 0 ? 0 : (uint64_t)(now / STEP);
}

static msec begin_of(uint32_t number, uint64_t step)
{
    return (msec)step * STEP - number * STAGGER;
}

/* The step after the one that was first seen may come early; the clock catches up with it.
 * At least a second after that one began, or its date would be the same: (2). */
static uint64_t step_early(struct web_site *s, uint32_t number, msec now, msec *ret_begun)
{
    uint64_t step = step_at(number, now);
    *ret_begun = begin_of(number, step);
    if (!s->o.first_turn)
        return step;
    if (!s->looked[number])
        s->looked[number] = now;
    uint64_t first = step_at(number, s->looked[number]);
    msec early = s->looked[number] + s->o.first_turn;
    if (early < begin_of(number, first) + MSEC_PER_SECOND)
        early = begin_of(number, first) + MSEC_PER_SECOND;
    if (step > first + 1 || now < early || early > begin_of(number, first + 1))
        return step;
    *ret_begun = early;
    return first + 1;
}

/* Without a host: one kind after the other has its turn, the noise each time. */
static enum web_failure state_by_clock(
        struct web_site *s, struct web_living *page, msec *ret_changed_at)
{
    uint64_t step = step_early(s, page->number, clock_wall(s->o.clock), ret_changed_at);
    for (unsigned kind = 0; kind < WEB_NOISE; kind++)
        page->turns[kind] = (uint32_t)((step + WEB_NOISE - kind) / WEB_NOISE);
    page->turns[WEB_NOISE] = (uint32_t)step;
    return WEB_WELL;
}

static void tell(
        const struct web_site *s, const struct web_living *page, unsigned status, size_t bytes)
{
    if (s->o.host && s->o.host->answered)
        s->o.host->answered(page, status, bytes, s->o.host->arg);
}

static enum MHD_Result answer_failure(const struct web_site *s, struct MHD_Connection *c,
        const struct web_living *page, enum web_failure failure)
{
    static const unsigned status[] = {
            [WEB_500] = MHD_HTTP_INTERNAL_SERVER_ERROR,
            [WEB_503] = MHD_HTTP_SERVICE_UNAVAILABLE,
            [WEB_404] = MHD_HTTP_NOT_FOUND,
    };
    if (failure == WEB_CUT) {
        BUF(body, WEB_LIVING_BYTES_MAX);
        web_living_write(page, &body);
        tell(s, page, 0, body.len / 2);
        return send_half(c, &body);
    }
    tell(s, page, failure == WEB_DROP ? 0 : status[failure], 0);
    if (failure == WEB_DROP)
        return MHD_NO;
    return send_text(c, status[failure], "Something went wrong. Please come back later.\n");
}

static enum MHD_Result answer_living(
        struct web_site *s, struct MHD_Connection *c, struct web_living *page)
{
    struct validator v = {0};
    msec changed_at = 0;
    enum web_failure failure = s->o.host ? s->o.host->state(page, &changed_at, s->o.host->arg)
                                         : state_by_clock(s, page, &changed_at);
    if (failure != WEB_WELL)
        return answer_failure(s, c, page, failure);
    if (page->number % 3 == 0) /* (3) */
        validator_etag(&v, web_living_signature(page));
    else if (page->number % 3 == 1)
        validator_date(&v, changed_at);
    if (validator_known(&v, c)) {
        tell(s, page, MHD_HTTP_NOT_MODIFIED, 0);
        return send_not_modified(c, &v);
    }
    BUF(body, WEB_LIVING_BYTES_MAX);
    web_living_write(page, &body);
    CHECK(!body.overflowed);
    tell(s, page, MHD_HTTP_OK, body.len);
    return send_page(c, &v, &body);
}

static bool is_living(const struct web_site *s, const char *path, struct web_living *ret_page)
{
    unsigned number;
    int end = -1;
    if (sscanf(path, "/living/%u.html%n", &number, &end) != 1 || end < 0 || path[end] ||
            number == 0 || number > s->o.living)
        return false;
    *ret_page = (struct web_living){.number = number};
    return true;
}

/* ---- the server ----------------------------------------------------------------------- */

static enum MHD_Result answer_town(
        const struct web_site *s, struct MHD_Connection *c, const char *path)
{
    BUF(body, WEB_PAGE_BYTES_MAX);
    struct web_page page;
    struct validator v = {0};
    if (!web_page_write(path, clock_wall(s->o.clock), &body, &page))
        return send_text(c, MHD_HTTP_NOT_FOUND, "There is no such page, or no longer.\n");
    if (page.validator == WEB_ETAG)
        validator_etag(&v, hash128_of(body.data, body.len).lo);
    else if (page.validator == WEB_LAST_MODIFIED)
        validator_date(&v, page.changed_at);
    return validator_known(&v, c) ? send_not_modified(c, &v) : send_page(c, &v, &body);
}

/* The site's thread. */
static enum MHD_Result answer(void *arg, struct MHD_Connection *c, const char *path,
        const char *method, const char *version, const char *upload, size_t *upload_bytes,
        void **state)
{
    (void)version, (void)upload, (void)upload_bytes;
    struct web_site *s = TAGGED(struct web_site, arg, SITE_TAG);
    struct web_living page;
    if (!*state) { /* answered before the request is read, the connection would be closed: (4)
                    */
        *state = s;
        return MHD_YES;
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return send_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "This site can only be read.\n");
    return is_living(s, path, &page) ? answer_living(s, c, &page) : answer_town(s, c, path);
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

enum err web_site_start(struct arena *life, const struct web_site_options *o, struct fault *f,
        struct web_site **ret_site)
{
    struct web_site *s = arena_new_of(life, struct web_site);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)o->port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK); /* (1) */
    s->tag = SITE_TAG;
    s->o = *o;
    s->looked = arena_array_of(life, (size_t)o->living + 1, msec);
    if (o->port <= UINT16_MAX)
        s->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, (uint16_t)o->port, NULL,
                NULL, answer, s, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_LIMIT,
                (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, 30u, MHD_OPTION_END);
    if (!s->daemon) {
        enum err e = fault_set(f, ERR_NET, "the site cannot listen on port %u", o->port);
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
