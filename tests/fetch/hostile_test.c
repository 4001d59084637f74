/* A web that misbehaves: whatever it does ends in time, with a reason, and never as a page. */
#include "tests/fetch/web.h"
#include "base/time.h"
#include <stdlib.h>

static const char *address = "127.0.0.1";

#define HOSTILE(web, port)                                                                     \
    WEB(web, &web_options);                                                                    \
    unsigned port = server_hostile(web.life, address)

struct row {
    const char *path;
    int status;
    const char *reason;
};

static void expect_failures(const struct fetch_options *o, const struct row *rows, size_t n)
{
    WEB(w, o);
    unsigned port = server_hostile(w.life, address);
    for (size_t i = 0; i < n; i++) {
        struct answer *a = web_get(&w, "http://127.0.0.1:%u/%s", port, rows[i].path);
        if (a->outcome != FETCH_FAILED || a->status != rows[i].status ||
                strcmp(a->reason, rows[i].reason) != 0)
            test_fail(__FILE__, __LINE__,
                    "/%s: outcome %d, status %d\n#   %s\n# expected %d\n#   %s", rows[i].path,
                    a->outcome, a->status, a->reason, rows[i].status, rows[i].reason);
        EXPECT_INT(a->done, 1);
        EXPECT_INT(a->body_bytes, 0);
    }
    struct answer *after = web_get(&w, "http://127.0.0.1:%u/good", port);
    EXPECT_INT(after->outcome, FETCH_OK);
}

TEST(good_pages, "what a server may rightly do is a page")
{
    static const struct {
        const char *path, *body;
    } rows[] = {{"good", "<p>good</p>\n"}, {"chunked", "hello world"},
            {"until-close", "<p>old</p>"}, {"gzip-members", "one two"}, {"gzip-empty", ""},
            {"early-hints", "after the hint"}, {"te-and-cl", "hello"},
            {"status/203+Changed", "body"}};
    HOSTILE(w, port);
    for (size_t i = 0; i < countof(rows); i++) {
        struct answer *a = web_get(&w, "http://127.0.0.1:%u/%s", port, rows[i].path);
        if (a->outcome != FETCH_OK)
            test_fail(__FILE__, __LINE__, "/%s: %s", rows[i].path, a->reason);
        EXPECT_TEXT(a->body, rows[i].body);
        EXPECT_TEXT(a->etag, ""); /* neither a trailer's nor an interim answer's */
    }
}

TEST(nuls, "a page with NULs in it comes whole")
{
    HOSTILE(w, port);
    struct answer *a = web_get(&w, "http://127.0.0.1:%u/nuls", port);
    REQUIRE(a->outcome == FETCH_OK && a->body_bytes == 5);
    EXPECT(memcmp(a->body, "a\0b\0c", 5) == 0);
}

TEST(lying_type, "a lying content type is handed on as it was said")
{
    HOSTILE(w, port);
    struct answer *a = web_get(&w, "http://127.0.0.1:%u/lying-type", port);
    EXPECT_INT(a->outcome, FETCH_OK);
    EXPECT_TEXT(a->content_type, "image/png; charset=klingon");
}

TEST(gzip, "a compressed page is unpacked, and the wire is counted")
{
    HOSTILE(w, port);
    struct answer *a = web_get(&w, "http://127.0.0.1:%u/gzipped", port);
    EXPECT_INT(a->outcome, FETCH_OK);
    EXPECT_INT(a->body_bytes, 1300);
    EXPECT(a->wire_bytes > 50 && a->wire_bytes < 300);
}

/* "hello, brotli" and "hello, zstd" as the command line tools of both pack them. */
TEST(codings,
        "brotli and zstd are unpacked as well, and nothing but them and gzip is asked for")
{
    HOSTILE(w, port);
    EXPECT_TEXT(web_get(&w, "http://127.0.0.1:%u/encoded/br/0b068068656c6c6f2c2062726f746c6903",
                        port)
                        ->body,
            "hello, brotli");
    EXPECT_TEXT(web_get(&w,
                        "http://127.0.0.1:%u/encoded/zstd/"
                        "28b52ffd240b59000068656c6c6f2c207a7374647896213c",
                        port)
                        ->body,
            "hello, zstd");
    EXPECT_TEXT(web_get(&w, "http://127.0.0.1:%u/encoded/br/0b068068656c6c6f", port)->reason,
            "the compressed body ended early, after 8 bytes");
    EXPECT_TEXT(web_get(&w, "http://127.0.0.1:%u/encoded/zstd/ffffffffff", port)->reason,
            "the compressed body is damaged");
}

TEST(slow, "servers that are silent or slow are cut off, and the reason says where")
{
    static const struct row rows[] = {
            {"silent", 0, "timed out after 0.4 s waiting for the first byte"},
            {"slow-headers", 200, "timed out after 0.4 s waiting for the end of the headers"},
            {"slow-body", 200, "the server sent less than 100 bytes a second for 1 s"},
            {"stalled-body", 200, "the server sent less than 100 bytes a second for 1 s"},
    };
    expect_failures(&web_hasty_options, rows, countof(rows));
}

TEST(too_much, "whatever has no end or is too large is cut off at the cap")
{
    static const struct row rows[] = {
            {"endless-headers", 200, "the response headers are larger than 64 KiB"},
            {"many-headers", 200, "the response headers are larger than 64 KiB"},
            {"long-header", 200, "the response headers are too large"},
            {"endless-interim", 103, "the response headers are larger than 64 KiB"},
            {"endless-body", 200, "the page is larger than 4 MiB"},
            {"endless-chunks", 200, "the page is larger than 4 MiB"},
            {"announced-huge", 200, "the page is larger than 4 MiB"},
            {"endless-error", 500, "the server answered 500 Internal Server Error"},
            {"gzip-bomb", 200, "the compressed body swells to more than 200 times its size"},
    };
    expect_failures(&web_options, rows, countof(rows));
}

TEST(cap_decoded, "the cap counts unpacked bytes")
{
    struct fetch_options o = web_options;
    o.max_body_bytes = 100 << 10;
    WEB(w, &o);
    unsigned port = server_hostile(w.life, address);
    struct answer *a = web_get(&w, "http://127.0.0.1:%u/gzip-large", port);
    EXPECT_INT(a->outcome, FETCH_FAILED);
    EXPECT_TEXT(a->reason, "the page is larger than 100 KiB");
}

TEST(incomplete, "half a page is never a page")
{
    static const struct row rows[] = {
            {"short-body", 200, "the body ended early: 1,000 of 4,096 bytes"},
            {"empty-body", 200, "the body ended early: 0 of 4,096 bytes"},
            {"cut-chunks", 200, "the body ended early, after 8 bytes"},
            {"no-last-chunk", 200, "the body ended early, after 5 bytes"},
            {"bad-chunk-size", 200, "the body ended early, after 0 bytes"},
            {"huge-chunk-size", 200, "the body ended early, after 0 bytes"},
            {"two-lengths", 200, "the server does not say clearly how long the body is"},
            {"odd-length", 200, "the response headers are broken"},
            {"gzip-in-gzip", 200,
                    "the server sent the body as \"gzip, gzip\", which was not asked for"},
            {"gzip-twice-named", 200,
                    "the server sent the body as \"gzip\", which was not asked for"},
            {"gzip-transfer", 200,
                    "the server sent the message as \"gzip, chunked\", which was not asked "
                    "for"},
            {"unasked-encoding", 200,
                    "the server sent the body as \"compress\", which was not asked for"},
            {"not-gzip", 200, "the compressed body is damaged"},
            {"cut-gzip", 200, "the compressed body ended early, after 3,000 bytes"},
            {"gzip-bad-sum", 200, "the compressed body is damaged"},
            {"reset-body", 200, "the body ended early: 1,000 of 4,096 bytes"},
            {"reset-close-body", 200, "the body ended early, after 1,000 bytes"},
            {"reset-at-once", 0, "the connection broke before the answer came"},
            {"close-at-once", 0, "the server closed the connection without an answer"},
            {"not-http", 0, "the answer is not HTTP"},
            {"garbage", 0, "the answer is not HTTP"},
            {"nul-header", 200, "the response headers are broken"},
    };
    expect_failures(&web_options, rows, countof(rows));
}

/* Every prefix of a response, all at once. */
static void expect_all_cuts_fail(struct web *w, unsigned port, const char *kind)
{
    struct answer *size = web_get(w, "http://127.0.0.1:%u/size-of/%s", port, kind);
    unsigned total = (unsigned)strtoul(size->body, NULL, 10);
    /* Of chunks, the very last line feed adds nothing. */
    unsigned complete = strstr(kind, "chunked") ? total - 1 : total, wrong = total + 1;
    struct answer *all = arena_array_of(w->life, total + 1, struct answer);
    for (unsigned n = 0; n <= total; n++)
        web_start(w, &all[n],
                &(struct fetch_request){
                        .url = arena_printf(
                                w->life, "http://127.0.0.1:%u/cut/%s/%u", port, kind, n)});
    for (unsigned n = 0; n <= total; n++) {
        web_wait(w, &all[n]);
        bool is_whole = all[n].outcome == FETCH_OK && all[n].body_bytes == 3 * 32;
        bool is_right = is_whole ? n >= complete : all[n].outcome == FETCH_FAILED && n < total;
        if (!is_right && wrong > total)
            wrong = n;
    }
    if (wrong <= total)
        test_fail(__FILE__, __LINE__, "%s cut after %u of %u bytes: outcome %d, %s", kind,
                wrong, total, all[wrong].outcome, all[wrong].reason);
}

TEST(cut_anywhere, "a response cut after any byte is a failure, in every framing")
{
    HOSTILE(w, port);
    expect_all_cuts_fail(&w, port, "length");
    expect_all_cuts_fail(&w, port, "chunked");
    expect_all_cuts_fail(&w, port, "gzip");
    expect_all_cuts_fail(&w, port, "gzip-chunked");
    expect_all_cuts_fail(&w, port, "gzip-close");
}

/* So many in a test run, more where somebody has the time: scripts/soak. */
static int many(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text ? (int)strtol(text, NULL, 10) : otherwise;
}

TEST(damaged, "a thousand damaged responses are each reported once, and hurt nobody else")
{
    struct fetch_options o = web_options;
    o.max_host_connections = 32;
    WEB(w, &o);
    unsigned port = server_hostile(w.life, address);
    int n = many("VIGIL_TEST_DAMAGED", 1000);
    struct answer *all = arena_array_of(w.life, (size_t)n, struct answer);
    for (int i = 0; i < n; i++)
        web_start(&w, &all[i],
                &(struct fetch_request){.url = arena_printf(w.life,
                                                "http://127.0.0.1:%u/damaged/%d", port, i)});
    struct answer *good = web_get(&w, "http://127.0.0.1:%u/good", port);
    EXPECT_TEXT(good->reason, "");
    for (int i = 0; i < n; i++) {
        web_wait(&w, &all[i]);
        EXPECT_INT(all[i].done, 1);
        EXPECT(all[i].outcome == FETCH_OK ? all[i].status == 200 : all[i].reason[0] != 0);
    }
}

TEST(statuses, "an answer that is not the page is a failure with its name")
{
    static const struct row rows[] = {
            {"status/500+x", 500, "the server answered 500 Internal Server Error"},
            {"status/403+x", 403, "the server answered 403 Forbidden"},
            {"status/404+x", 404, "the server answered 404 Not Found"},
            {"status/410+x", 410, "the server answered 410 Gone"},
            {"status/204+x", 204, "the server answered 204 No Content, which is not a page"},
            {"status/205+x", 205, "the server answered 205 Reset Content, which is not a page"},
            {"partial", 206,
                    "the server answered 206 Partial Content, though the whole page was asked "
                    "for"},
            {"status/304+x", 304,
                    "the server answered 304 Not Modified, though nothing was said of an "
                    "earlier "
                    "version"},
            {"status/299+x", 299, "the server answered 299, which is not a page"},
            {"status/999+x", 999, "the server answered 999"},
            {"no-location", 302, "the server answered 302 Found"},
    };
    expect_failures(&web_options, rows, countof(rows));
}

TEST(gone, "404 and 410 say that the page is gone, others do not")
{
    HOSTILE(w, port);
    EXPECT(web_get(&w, "http://127.0.0.1:%u/status/404+x", port)->gone);
    EXPECT(web_get(&w, "http://127.0.0.1:%u/status/410+x", port)->gone);
    EXPECT(!web_get(&w, "http://127.0.0.1:%u/status/403+x", port)->gone);
    EXPECT(!web_get(&w, "http://127.0.0.1:%u/good", port)->gone);
}

TEST(retry_after, "Retry-After is read in both forms, capped, and ignored when it is nonsense")
{
    HOSTILE(w, port);
    EXPECT_INT(web_get(&w, "http://127.0.0.1:%u/status/503+x", port)->retry_after, 120000);
    EXPECT_INT(web_get(&w, "http://127.0.0.1:%u/status/429+x", port)->retry_after, 0);
    EXPECT_INT(
            web_get(&w, "http://127.0.0.1:%u/retry-for-ever", port)->retry_after, MSEC_PER_DAY);
    msec hour = web_get(&w, "http://127.0.0.1:%u/retry-date", port)->retry_after;
    EXPECT(hour > 3590000 && hour <= 3600000);
    EXPECT_INT(web_get(&w, "http://127.0.0.1:%u/status/500+x", port)->retry_after, 0);
}

TEST(validators, "validators go back byte for byte, over-long ones are dropped")
{
    HOSTILE(w, port);
    struct answer *a = web_get(&w, "http://127.0.0.1:%u/odd-etag", port), *b;
    EXPECT_TEXT(a->etag, "W/\"\xe4 %s\"");
    struct fetch_request again = {
            .url = arena_printf(w.life, "http://127.0.0.1:%u/echo-conditions", port),
            .etag = a->etag,
            .last_modified = "yesterday, they say"};
    b = arena_new_of(w.life, struct answer);
    web_start(&w, b, &again);
    web_wait(&w, b);
    EXPECT_TEXT(
            b->body, "If-Modified-Since: yesterday, they say\nIf-None-Match: W/\"\xe4 %s\"");

    a = web_get(&w, "http://127.0.0.1:%u/long-etag", port);
    EXPECT_TEXT(a->etag, "");
    EXPECT_TEXT(a->last_modified, "not a date at all");
    EXPECT_INT(a->last_modified_at, MSEC_NEVER);
}

TEST(injection, "a validator cannot smuggle a header line")
{
    HOSTILE(w, port);
    struct answer a;
    struct fetch_request r = {.url = arena_printf(w.life, "http://127.0.0.1:%u/echo", port),
            .etag = "\"x\"\r\nX-Evil: 1"};
    web_start(&w, &a, &r);
    web_wait(&w, &a);
    EXPECT_INT(a.outcome, FETCH_OK);
    EXPECT(!strstr(a.body, "Evil") && !strstr(a.body, "If-None-Match"));
    EXPECT(strstr(a.body, "User-Agent: vigil-test\r\n") &&
            strstr(a.body, "Accept-Encoding: gzip, br, zstd\r\n"));
}

TEST(clock_behind, "a server whose clock is a year behind still answers 304 to its own date")
{
    HOSTILE(w, port);
    struct answer *first = web_get(&w, "http://127.0.0.1:%u/clock-behind", port), second;
    struct fetch_request r = {.url = first->final_url, .last_modified = first->last_modified};
    EXPECT_INT(first->outcome, FETCH_OK);
    EXPECT_INT(first->last_modified_at, 1763208000000);
    web_start(&w, &second, &r);
    web_wait(&w, &second);
    EXPECT_INT(second.outcome, FETCH_NOT_MODIFIED);
    EXPECT_INT(second.status, 304);
}

TEST(redirects, "redirects are followed, counted, and end somewhere")
{
    HOSTILE(w, port);
    struct answer *a = web_get(&w, "http://127.0.0.1:%u/hops/5", port);
    EXPECT_INT(a->outcome, FETCH_OK);
    EXPECT_INT(a->redirects, 5);
    EXPECT_TEXT(a->body, "arrived");
    EXPECT_TEXT(a->final_url, arena_printf(w.life, "http://127.0.0.1:%u/hops/0", port));
    a = web_get(&w, "http://127.0.0.1:%u/hops/6", port);
    EXPECT_INT(a->outcome, FETCH_FAILED);
    EXPECT_TEXT(a->reason, "gave up after 5 redirects");
    a = web_get(&w, "http://127.0.0.1:%u/loop", port);
    EXPECT_TEXT(a->reason, "gave up after 5 redirects");
    a = web_get(&w, "http://127.0.0.1:%u/endless-redirect", port);
    EXPECT_INT(a->outcome, FETCH_OK);
    EXPECT_TEXT(a->body, "<p>good</p>\n");
}

TEST(no_redirects, "redirects are not followed where the setting says so")
{
    struct fetch_options o = web_options;
    o.max_redirects = 0;
    WEB(w, &o);
    unsigned port = server_hostile(w.life, address);
    struct answer *a = web_get(&w, "http://127.0.0.1:%u/hops/1", port);
    EXPECT_INT(a->outcome, FETCH_FAILED);
    EXPECT_INT(a->status, 302);
    EXPECT_TEXT(a->reason, "the server redirects, and redirects are not followed");
}

TEST(dropped_connections, "a kept connection that the server dropped is made anew, unnoticed")
{
    HOSTILE(w, port);
    for (int i = 0; i < 50; i++)
        EXPECT_TEXT(web_get(&w, "http://127.0.0.1:%u/good-then-close", port)->reason, "");
}

/* A server that owns a connection can answer the next question on it before it was asked, and
 * nobody could tell; so "response" is not in the way only where it comes before the question.
 */
TEST(leftovers, "what a server says unasked on a kept connection is not the next page's answer")
{
    static const char *const framings[] = {"length", "chunked", "empty"};
    static const char *const extras[] = {"garbage/at-once", "garbage/later", "garbage/next",
            "text/at-once", "text/later", "text/next", "response/at-once"};
    HOSTILE(w, port);
    for (size_t i = 0; i < countof(framings); i++)
        for (size_t k = 0; k < countof(extras); k++) {
            struct answer *first = web_get(
                    &w, "http://127.0.0.1:%u/and-more/%s/%s", port, framings[i], extras[k]);
            EXPECT_TEXT(first->reason, "");
            EXPECT_TEXT(first->body, i == 2 ? "" : "<p>first</p>\n");
            struct answer *second = web_get(&w, "http://127.0.0.1:%u/good", port);
            if (strcmp(second->body, "<p>good</p>\n") != 0)
                test_fail(__FILE__, __LINE__, "after %s/%s: %s%s", framings[i], extras[k],
                        second->body, second->reason);
        }
}

TEST(bad_redirects, "a redirect to what is no public page is refused with the reason")
{
    static const struct row rows[] = {
            {"redirect/302/file:///etc/passwd", 302,
                    "the server redirects, but \"file:///etc/passwd\" is neither http nor "
                    "https"},
            {"redirect/301/gopher://127.0.0.1/x", 301,
                    "the server redirects, but \"gopher://127.0.0.1/x\" is neither http nor "
                    "https"},
            {"redirect/307/http://me:pw@127.0.0.1/", 307,
                    "the server redirects, but the URL holds a user name or password"},
            {"redirect/302/http://127.0.0.2:9/", 0,
                    "127.0.0.2 is not a public address; allow it with --allow 127.0.0.0/8"},
            {"redirect/302/http://169.254.169.254/latest/meta-data/", 0,
                    "169.254.169.254 is not a public address; allow it with --allow "
                    "169.254.0.0/16"},
    };
    expect_failures(&web_options, rows, countof(rows));
}

TEST(no_server, "a name that is none, a port where nobody listens, a URL that is none")
{
    WEB(w, &web_options);
    unsigned port = server_free_port();
    struct answer *a = web_get(&w, "http://127.0.0.1:%u/", port);
    EXPECT_TEXT(
            a->reason, arena_printf(w.life, "connection refused by 127.0.0.1 port %u", port));
    a = web_get(&w, "http://nosuch.invalid/");
    EXPECT_TEXT(a->reason, "the name nosuch.invalid does not resolve");
    a = web_get(&w, "file:///etc/passwd");
    EXPECT_TEXT(a->reason, "\"file:///etc/passwd\" is neither http nor https");
    EXPECT_INT(a->status, 0);
}
TEST_MAIN()
