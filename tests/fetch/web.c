#include "tests/fetch/web.h"
#include "base/str.h"

static const char *const loopback[] = {"127.0.0.1", "::1"};

#define COMMON                                                                                 \
    .user_agent = "vigil-test", .allow = loopback, .nallow = 2, .max_body_bytes = 4 << 20,     \
    .max_redirects = 5, .max_host_connections = 256, .max_connections = 256

const struct fetch_options web_options = {
        COMMON, .connect_timeout = 10000, .first_byte_timeout = 10000, .total_timeout = 20000};

const struct fetch_options web_hasty_options = {COMMON, .connect_timeout = 2000,
        .first_byte_timeout = 400, .slow_timeout = 1000, .total_timeout = 3000};

void web_open(struct web *w, const struct fetch_options *o)
{
    struct fault f;
    w->life = arena_new(NULL, "web");
    w->loop = loop_new();
    w->fetch = NULL;
    if (fetch_new(w->life, w->loop, o, &f, &w->fetch) != OK)
        test_fail(__FILE__, __LINE__, "%s", f.message);
}

void web_close(struct web *w)
{
    arena_free(w->life);
    loop_free(w->loop);
}

static void put(char *to, size_t size, const char *from)
{
    str_copy(to, size, from ? from : "");
}

static void done(const struct fetch_response *r, void *arg)
{
    struct answer *a = arg;
    a->done++;
    a->outcome = r->outcome;
    a->status = r->status;
    a->gone = r->gone;
    a->retry_after = r->retry_after;
    a->last_modified_at = r->last_modified_at;
    a->body_bytes = r->body_bytes;
    a->wire_bytes = r->wire_bytes;
    a->redirects = r->redirects;
    put(a->reason, sizeof(a->reason), r->reason);
    put(a->etag, sizeof(a->etag), r->etag);
    put(a->last_modified, sizeof(a->last_modified), r->last_modified);
    put(a->content_type, sizeof(a->content_type), r->content_type);
    put(a->final_url, sizeof(a->final_url), r->final_url);
    a->body = arena_strndup(a->web->life, r->body ? r->body : "", r->body_bytes);
    loop_stop(a->web->loop);
}

void web_start(struct web *w, struct answer *a, const struct fetch_request *r)
{
    *a = (struct answer){.web = w};
    fetch_start(w->fetch, r, done, a);
}

struct patience {
    struct loop_timer timer;
    struct web *web;
    bool is_over;
};

static void patience_over(struct loop_timer *timer)
{
    struct patience *p = container_of(timer, struct patience, timer);
    p->is_over = true;
    loop_stop(p->web->loop);
}

void web_wait(struct web *w, struct answer *a)
{
    struct patience p = {.web = w};
    loop_timer_init(&p.timer, patience_over);
    loop_timer_set(w->loop, &p.timer, 15000);
    while (!a->done && !p.is_over)
        loop_run(w->loop);
    loop_timer_stop(w->loop, &p.timer);
    if (!a->done)
        test_fail(__FILE__, __LINE__, "no answer within 15 s");
}

struct answer *web_get(struct web *w, const char *url_format, ...)
{
    struct answer *a = arena_new_of(w->life, struct answer);
    va_list ap;
    va_start(ap, url_format);
    struct fetch_request r = {.url = arena_vprintf(w->life, url_format, ap)};
    va_end(ap);
    web_start(w, a, &r);
    web_wait(w, a);
    return a;
}
