/* Header lines, one at a time. */
#include "fetch/headers.h"
#include "base/buf.h"
#include "tests/test.h"

struct reader {
    struct fetch_headers h;
    char why[FETCH_WHY_SIZE];
    bool is_refused;
};

/* Lines separated by \n, as a server would send them. */
static struct reader read_all(struct arena *life, const char *text)
{
    struct reader r = {.is_refused = false};
    while (*text && !r.is_refused) {
        size_t len = strcspn(text, "\n");
        BUF(line, 70000);
        buf_append(&line, text, len);
        buf_puts(&line, "\r\n");
        r.is_refused =
                !fetch_headers_line(&r.h, life, (struct str){line.data, line.len}, r.why);
        text += len + (text[len] == '\n');
    }
    return r;
}

TEST(plain, "what a response says is read, in any case and spacing")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct reader r =
            read_all(life, "HTTP/1.1 200 OK\nCONTENT-LENGTH:12\netag:  \"a b\"  \n"
                           "Last-Modified: x\nContent-Type:\ttext/html\n"
                           "content-encoding: GZIP\nRetry-After: 5\nLocation: /y\n\n");
    EXPECT(!r.is_refused && r.h.is_complete);
    EXPECT_INT(r.h.status, 200);
    EXPECT(r.h.has_length && r.h.length == 12 && r.h.coding == FETCH_CODING_GZIP &&
            !r.h.is_chunked);
    EXPECT_TEXT(r.h.etag, "\"a b\"");
    EXPECT_TEXT(r.h.last_modified, "x");
    EXPECT_TEXT(r.h.content_type, "text/html");
    EXPECT_TEXT(r.h.retry_after, "5");
    EXPECT_TEXT(r.h.location, "/y");
    EXPECT(!r.h.is_framed && !fetch_headers_body_digest(&r.h));
}

TEST(interim, "what came with an interim answer is forgotten, trailers are not read")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct reader r = read_all(life, "HTTP/1.1 103 Early Hints\nETag: \"hint\"\n");
    EXPECT(!r.h.is_complete);
    r = read_all(life, "HTTP/1.1 103 Early Hints\nETag: \"hint\"\n\nHTTP/2 200\nX: y\n\n"
                       "ETag: \"trailer\"\nContent-Length: 5\n");
    EXPECT(r.h.is_complete && !r.h.etag && !r.h.has_length && r.h.is_framed);
    EXPECT_INT(r.h.status, 200);
}

TEST(lengths, "a length is a plain number, and there is only one")
{
    static const char *const wrong[] = {
            "-1", "+1", "1.5", "0x10", "ten", "", "99999999999999999999", "5, 5", "5 5"};
    SCRATCH struct arena *life = arena_new(NULL, "test");
    for (size_t i = 0; i < countof(wrong); i++) {
        struct reader r = read_all(
                life, arena_printf(life, "HTTP/1.1 200 OK\nContent-Length: %s\n\n", wrong[i]));
        if (!r.is_refused || !r.why[0])
            test_fail(__FILE__, __LINE__, "length \"%s\" is taken", wrong[i]);
    }
    EXPECT(!read_all(life, "HTTP/1.1 200 OK\nContent-Length: 5\nContent-Length: 5\n\n")
                    .is_refused);
    EXPECT(read_all(life, "HTTP/1.1 200 OK\nContent-Length: 5\nContent-Length: 6\n\n")
                    .is_refused);
}

TEST(encodings, "one layer of what was asked for and plain chunks, nothing else")
{
    static const struct {
        const char *line;
        bool refused;
    } rows[] = {{"Content-Encoding: gzip", false}, {"Content-Encoding: x-gzip", false},
            {"Content-Encoding: identity", false}, {"Content-Encoding: br", false},
            {"Content-Encoding: ZSTD", false}, {"Content-Encoding: compress", true},
            {"Content-Encoding: br\nContent-Encoding: gzip", true},
            {"Content-Encoding: deflate", true}, {"Content-Encoding: gzip, gzip", true},
            {"Content-Encoding: gzip\nContent-Encoding: gzip", true},
            {"Content-Encoding: identity\nContent-Encoding: gzip", false},
            {"Transfer-Encoding: chunked", false}, {"Transfer-Encoding: Chunked", false},
            {"Transfer-Encoding: gzip, chunked", true}, {"Transfer-Encoding: gzip", true},
            {"Transfer-Encoding: chunked\nTransfer-Encoding: chunked", true}};
    SCRATCH struct arena *life = arena_new(NULL, "test");
    for (size_t i = 0; i < countof(rows); i++) {
        struct reader r =
                read_all(life, arena_printf(life, "HTTP/1.1 200 OK\n%s\n\n", rows[i].line));
        if (r.is_refused != rows[i].refused)
            test_fail(__FILE__, __LINE__, "%s", rows[i].line);
    }
}

TEST(odd_values,
        "a value too long or with control characters is dropped, folded lines are skipped")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    char *long_value = arena_zalloc(life, 1026);
    memset(long_value, 'x', 1025);
    struct reader r = read_all(life, arena_printf(life,
                                             "HTTP/1.1 200 OK\nETag: %s\n"
                                             "Last-Modified: a\x01"
                                             "b\n\n",
                                             long_value));
    EXPECT(!r.h.etag && !r.h.last_modified);
    long_value[1024] = 0;
    r = read_all(life, arena_printf(life, "HTTP/1.1 200 OK\nETag: %s\n\n", long_value));
    EXPECT_TEXT(r.h.etag, long_value);
    r = read_all(life,
            "HTTP/1.1 200 OK\nX: y\n ETag: \"folded\"\n\tContent-Length: 3\nnonsense\n\n");
    EXPECT(!r.h.etag && !r.h.has_length && r.h.is_complete);
}

TEST(digests, "the server's own digest is kept, Repr-Digest before Content-MD5")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct reader r = read_all(life, "HTTP/1.1 200 OK\nContent-MD5: m\n\n");
    EXPECT_TEXT(fetch_headers_body_digest(&r.h), "m");
    r = read_all(life, "HTTP/1.1 200 OK\nRepr-Digest: r\nContent-MD5: m\n\n");
    EXPECT_TEXT(fetch_headers_body_digest(&r.h), "r");
    r = read_all(life, "HTTP/1.1 200 OK\nContent-MD5: m\nRepr-Digest: r\n\n");
    EXPECT_TEXT(fetch_headers_body_digest(&r.h), "r");
}

TEST(status_lines, "a status line that is none gives no status, so nothing is complete")
{
    static const char *const wrong[] = {
            "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 20", "HTTP/1.1 abc", "HTTP/1.1 -20 x", "HTTP/"};
    SCRATCH struct arena *life = arena_new(NULL, "test");
    for (size_t i = 0; i < countof(wrong); i++) {
        struct reader r = read_all(life, arena_printf(life, "%s\n\n", wrong[i]));
        EXPECT(r.h.status == 0 && !r.h.is_complete);
    }
}
TEST_MAIN()
