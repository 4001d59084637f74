/* A server as it should be: nginx. */
#include "tests/fetch/web.h"

static struct answer *get_if(
        struct web *w, const char *url, const char *etag, const char *modified)
{
    struct answer *a = arena_new_of(w->life, struct answer);
    web_start(
            w, a, &(struct fetch_request){.url = url, .etag = etag, .last_modified = modified});
    web_wait(w, a);
    return a;
}

/* One nginx for all tests of this program. */
static struct arena *nginx_life;
static struct server_nginx nginx;

__attribute__((destructor)) static void stop_nginx(void)
{
    arena_free(nginx_life);
}

#define PAGE "<!doctype html><title>x</title><p>page</p>\n"

static struct fetch_options nginx_options(void)
{
    if (!nginx_life) {
        nginx_life = arena_new(NULL, "nginx");
        server_nginx(nginx_life, &nginx);
        server_write(nginx.root, "page.html", PAGE);
        char *large = arena_zalloc(nginx_life, 50001);
        memset(large, 'x', 50000);
        server_write(nginx.root, "large.html", large);
    }
    struct fetch_options o = web_options;
    o.ca_file = nginx.ca;
    return o;
}

#define NGINX(web)                                                                             \
    struct fetch_options options = nginx_options();                                            \
    WEB(web, &options)

TEST(page, "a page comes with its validators and its type")
{
    NGINX(w);
    struct answer *a = web_get(&w, "http://127.0.0.1:%u/page.html", nginx.http);
    EXPECT_INT(a->outcome, FETCH_OK);
    EXPECT_INT(a->status, 200);
    EXPECT_TEXT(a->body, PAGE);
    EXPECT_TEXT(a->content_type, "text/html");
    EXPECT(a->etag[0] == '"' && a->last_modified_at > 0 && a->last_modified_at != MSEC_NEVER);
    EXPECT_TEXT(a->reason, "");
}

TEST(etag, "an unchanged page answers 304 to its ETag, a changed one does not")
{
    NGINX(w);
    struct answer *a = web_get(&w, "http://127.0.0.1:%u/page.html", nginx.http);
    struct answer *b = get_if(&w, a->final_url, a->etag, NULL);
    EXPECT_INT(b->outcome, FETCH_NOT_MODIFIED);
    EXPECT_TEXT(b->etag, a->etag);
    server_write(nginx.root, "page.html", PAGE PAGE);
    EXPECT_INT(get_if(&w, a->final_url, a->etag, NULL)->outcome, FETCH_OK);
    server_write(nginx.root, "page.html", PAGE);
}

TEST(last_modified, "an unchanged page answers 304 to its Last-Modified")
{
    NGINX(w);
    struct answer *a = web_get(&w, "http://127.0.0.1:%u/no-etag/page.html", nginx.http);
    EXPECT_TEXT(a->etag, "");
    EXPECT_INT(get_if(&w, a->final_url, NULL, a->last_modified)->outcome, FETCH_NOT_MODIFIED);
    EXPECT_INT(
            get_if(&w, a->final_url, NULL, "Sun, 06 Nov 1994 08:49:37 GMT")->outcome, FETCH_OK);
}

TEST(gzip, "a large page comes compressed and whole")
{
    NGINX(w);
    struct answer *a = web_get(&w, "http://127.0.0.1:%u/gzip/large.html", nginx.http);
    EXPECT_INT(a->outcome, FETCH_OK);
    EXPECT_INT(a->body_bytes, 50000);
    EXPECT(a->wire_bytes < 2000);
    EXPECT(strncmp(a->etag, "W/", 2) == 0);
    EXPECT_INT(
            get_if(&w, a->final_url, a->etag, a->last_modified)->outcome, FETCH_NOT_MODIFIED);
}

TEST(chunked, "a page in chunks comes whole")
{
    NGINX(w);
    struct answer *a = web_get(&w, "http://127.0.0.1:%u/chunked/large.html", nginx.http);
    EXPECT_INT(a->outcome, FETCH_OK);
    EXPECT_INT(a->body_bytes, 50000);
}

TEST(tls, "https works, by HTTP/2, where the certificate is trusted")
{
    NGINX(w);
    struct answer *a = web_get(&w, "https://127.0.0.1:%u/protocol", nginx.https);
    EXPECT_INT(a->outcome, FETCH_OK);
    EXPECT_TEXT(a->body, "HTTP/2.0");
    EXPECT_INT(web_get(&w, "https://localhost:%u/page.html", nginx.https)->outcome, FETCH_OK);
    a = web_get(&w, "http://127.0.0.1:%u/protocol", nginx.http);
    EXPECT_TEXT(a->body, "HTTP/1.1");
}

TEST(http2, "HTTP/2 knows conditions, compression and errors as well")
{
    NGINX(w);
    struct answer *a = web_get(&w, "https://127.0.0.1:%u/gzip/large.html", nginx.https);
    EXPECT_INT(a->outcome, FETCH_OK);
    EXPECT_INT(a->body_bytes, 50000);
    EXPECT_INT(get_if(&w, a->final_url, a->etag, NULL)->outcome, FETCH_NOT_MODIFIED);
    a = web_get(&w, "https://127.0.0.1:%u/nothing-here", nginx.https);
    EXPECT_TEXT(a->reason, "the server answered 404 Not Found");
    EXPECT(a->gone);
}

TEST(untrusted, "a certificate that nobody signed, or for another name, is refused")
{
    struct fetch_options o = nginx_options();
    const char *names[] = {arena_printf(nginx_life, "other.example:%u:127.0.0.1", nginx.https)};
    o.resolve = names;
    o.nresolve = 1;
    WEB(w, &o);
    struct answer *a = web_get(&w, "https://other.example:%u/page.html", nginx.https);
    EXPECT_INT(a->outcome, FETCH_FAILED);
    EXPECT_TEXT(a->reason, "the certificate of other.example is not for that name");
    o.ca_file = NULL;
    WEB(strict, &o);
    a = web_get(&strict, "https://127.0.0.1:%u/page.html", nginx.https);
    EXPECT_INT(a->outcome, FETCH_FAILED);
    EXPECT(strncmp(a->reason, "the certificate of 127.0.0.1 is not trusted: ", 45) == 0);
    a = web_get(&strict, "https://127.0.0.1:%u/page.html", nginx.http);
    EXPECT_TEXT(a->reason, "no secure connection could be made with 127.0.0.1");
}

TEST(redirects, "a redirect may lead to https, and never back to http")
{
    NGINX(w);
    struct answer *a = web_get(&w, "http://127.0.0.1:%u/moved", nginx.http);
    EXPECT_INT(a->outcome, FETCH_OK);
    EXPECT_TEXT(
            a->final_url, arena_printf(w.life, "http://127.0.0.1:%u/page.html", nginx.http));
    a = web_get(&w, "http://127.0.0.1:%u/to-https", nginx.http);
    EXPECT_INT(a->outcome, FETCH_OK);
    EXPECT_INT(a->redirects, 1);
    EXPECT(strncmp(a->final_url, "https:", 6) == 0);
    a = web_get(&w, "https://127.0.0.1:%u/to-http", nginx.https);
    EXPECT_INT(a->outcome, FETCH_FAILED);
    EXPECT_TEXT(a->reason, "the server redirects from https to http, which is refused");
}

TEST(reuse, "fifty requests, one connection; over TLS, too")
{
    NGINX(w);
    struct fetch_stats s;
    for (int i = 0; i < 50; i++)
        EXPECT_INT(web_get(&w, "http://127.0.0.1:%u/page.html", nginx.http)->outcome, FETCH_OK);
    fetch_stats_get(w.fetch, &s);
    EXPECT_INT(s.requests, 50);
    EXPECT_INT(s.ok, 50);
    EXPECT_INT(s.connections, 1);
    for (int i = 0; i < 50; i++)
        EXPECT_INT(
                web_get(&w, "https://127.0.0.1:%u/page.html", nginx.https)->outcome, FETCH_OK);
    fetch_stats_get(w.fetch, &s);
    EXPECT_INT(s.connections, 2);
    EXPECT_INT(s.running + s.waiting, 0);
    EXPECT(s.wire_bytes > 100 * (sizeof(PAGE) - 1));
}

TEST(ten_thousand,
        "ten thousand transfers started at once all arrive, few connections serve them")
{
    struct fetch_options o = nginx_options();
    o.max_host_connections = 8;
    o.total_timeout = 60000;
    WEB(w, &o);
    enum { N = 10000 };
    struct answer *all = arena_array_of(w.life, N, struct answer);
    struct fetch_stats s;
    for (int i = 0; i < N; i++)
        web_start(&w, &all[i],
                &(struct fetch_request){
                        .url = arena_printf(
                                w.life, "http://127.0.0.1:%u/page.html?%d", nginx.http, i)});
    fetch_stats_get(w.fetch, &s);
    EXPECT_INT(s.running, 0); /* nothing begins inside fetch_start */
    EXPECT_INT(s.waiting, N);
    int wrong = 0;
    for (int i = 0; i < N; i++) {
        web_wait(&w, &all[i]);
        wrong += all[i].outcome != FETCH_OK || all[i].done != 1 ||
                 strcmp(all[i].body, PAGE) != 0;
    }
    EXPECT_INT(wrong, 0);
    fetch_stats_get(w.fetch, &s);
    EXPECT_INT(s.ok, N);
    EXPECT_INT(s.connections, 8);
}
TEST_MAIN()
