/* Framesets with the pages of their frames: one source, one tree. */
#include "tests/page/page_help.h"

static struct page_part html(const char *url, const char *bytes)
{
    return (struct page_part){
            .url = url, .content_type = "text/html", .bytes = bytes, .len = strlen(bytes)};
}

static struct made bundle_make(
        struct arena *life, const struct page_part *parts, size_t n, struct buf *bytes)
{
    char type[PAGE_BUNDLE_TYPE_BYTES];
    EXPECT(page_bundle_write(parts, n, bytes, type));
    return make(life, bytes->data, bytes->len, type);
}

#define SET(...) "<html><frameset>" __VA_ARGS__ "</frameset></html>"

TEST(one_tree, "a frame's page stands in the frame, its links are seen from its own address")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    BUF(bytes, 1 << 20);
    struct page_part parts[] = {
            html(BASE_URL, SET("<frame src=a.html><frame src='/b.html#x'>")),
            html("http://x.org/d/a.html", "<p>one <a href=q>l</a>"),
            html("http://x.org/b.html", "<base href=http://y.org/z/><img src=i.png><p>two"),
    };
    parts[1].final_url = "http://w.org/deep/a.html"; /* redirected */
    CLEANUP(made_done) struct made m = bundle_make(life, parts, countof(parts), &bytes);
    REQUIRE(m.d);
    EXPECT_TEXT(show(life, m.d),
            "html(frameset(frame@src=\"a.html\"(p(\"one \" a@href=\"q\"(\"l\"))) "
            "frame@src=\"/b.html#x\"(base@href=\"http://y.org/z/\" img@src=\"i.png\" "
            "p(\"two\"))))");
    REQUIRE(m.d->links == 1 && m.d->images == 1);
    EXPECT_TEXT(page_link(m.d, 0).ptr, "http://w.org/deep/q");
    EXPECT_TEXT(page_image(m.d, 0).ptr, "http://y.org/z/i.png");
}

TEST(nested, "frames of frames are listed with absolute addresses, and filled when they came")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    BUF(without, 1 << 20);
    BUF(with, 1 << 20);
    struct page_part parts[] = {
            html(BASE_URL, SET("<frame src=in/a.html>")),
            html("http://x.org/d/in/a.html", SET("<frame src=b.html>")),
            html("http://x.org/d/in/b.html", "<p>deep"),
    };
    CLEANUP(made_done) struct made half = bundle_make(life, parts, 2, &without);
    struct page_frame *frames;
    REQUIRE(half.d);
    REQUIRE(page_frames(half.d, life, &frames) == 2);
    EXPECT_TEXT(frames[0].url, "http://x.org/d/in/a.html");
    EXPECT_TEXT(frames[1].url, "http://x.org/d/in/b.html");
    CLEANUP(made_done) struct made m = bundle_make(life, parts, 3, &with);
    REQUIRE(m.d);
    EXPECT(strstr(show(life, m.d), "\"deep\"") != NULL);
    EXPECT(page_frames(m.d, life, &frames) == 2);
}

TEST(circles, "pages that show each other are shown once inside themselves, and it ends")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    BUF(bytes, 1 << 20);
    BUF(wide, 1 << 20);
    for (int i = 0; i < 40; i++)
        buf_puts(&wide, "<frame src=a.html><frame src=b.html>");
    struct page_part parts[] = {
            html(BASE_URL, arena_printf(life, SET("%s"), buf_text(&wide))),
            html("http://x.org/d/a.html", arena_printf(life, SET("%s"), buf_text(&wide))),
            html("http://x.org/d/b.html", arena_printf(life, SET("%s"), buf_text(&wide))),
    };
    CLEANUP(made_done) struct made m = bundle_make(life, parts, countof(parts), &bytes);
    REQUIRE(m.d);
    EXPECT(m.d->nodes < 200 * 100);
}

TEST(same_bytes, "the same parts are the same bytes, and can be taken out again")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    char types[3][PAGE_BUNDLE_TYPE_BYTES];
    BUF(a, 1 << 20);
    BUF(b, 1 << 20);
    BUF(c, 1 << 20);
    struct page_part parts[] = {html("u", "one\r\n--vigil-"), html("v", ""), html("w", "x")};
    struct page_part other[] = {parts[0], parts[2], parts[1]}, *got;
    parts[1].content_type = "text/plain\r\nContent-Length: 9";
    EXPECT(page_bundle_write(parts, 3, &a, types[0]));
    EXPECT(page_bundle_write(parts, 3, &b, types[1]));
    EXPECT(page_bundle_write(other, 3, &c, types[2]));
    EXPECT(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
    EXPECT_TEXT(types[0], types[1]);
    EXPECT(a.len != c.len || memcmp(a.data, c.data, a.len) != 0);
    EXPECT(page_is_bundle(types[0]) && !page_is_bundle("multipart/related") &&
            !page_is_bundle(NULL));
    REQUIRE(page_bundle_read((struct str){a.data, a.len}, life, &got) == 3);
    EXPECT_TEXT(got[0].url, "u");
    EXPECT(got[0].len == parts[0].len && memcmp(got[0].bytes, parts[0].bytes, got[0].len) == 0);
    EXPECT_TEXT(got[1].content_type, "text/plain  Content-Length: 9");
    EXPECT_INT(got[1].len, 0);
}

TEST(kinds, "frames may show text or a picture, each in its own charset")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    BUF(bytes, 1 << 20);
    BUF(text, 1 << 20);
    char type[PAGE_BUNDLE_TYPE_BYTES];
    struct fault f = {.code = OK};
    struct page_part parts[] = {
            html(BASE_URL, SET("<frame src=a.txt><frame src=b.gif><frame src=c.html>")),
            {"http://x.org/d/a.txt", NULL, "text/plain; charset=iso-8859-1", "caf\xE9", 4},
            {"http://x.org/d/b.gif", NULL, "image/gif", "GIF89a", 6},
            html("http://x.org/d/c.html", "<p>caf\xC3\xA9"),
    };
    CLEANUP(made_done) struct made m = bundle_make(life, parts, countof(parts), &bytes);
    REQUIRE(m.d);
    EXPECT(strstr(show(life, m.d), "text(\"café\")") != NULL);
    EXPECT(strstr(show(life, m.d), "data@bytes=\"6\"") != NULL);
    EXPECT(strstr(show(life, m.d), "p(\"café\")") != NULL);
    buf_clear(&bytes);
    EXPECT(page_bundle_write(parts, countof(parts), &bytes, type));
    struct page_source src = {bytes.data, bytes.len, type, BASE_URL};
    EXPECT(page_decode(&src, &text, &f, NULL) == OK);
    EXPECT(strstr(buf_text(&text), "frame src=a.txt") && strstr(buf_text(&text), "café\n"));
}

TEST(damaged, "a bundle that is cut or made by a stranger is read as far as it is one")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    BUF(bytes, 1 << 20);
    char type[PAGE_BUNDLE_TYPE_BYTES];
    struct page_part parts[] = {html(BASE_URL, SET("<frame src=a.html>")),
            html("http://x.org/d/a.html", "<p>whole")};
    EXPECT(page_bundle_write(parts, 2, &bytes, type));
    for (size_t n = 0; n < bytes.len; n++) { /* every cut, and every byte damaged */
        CLEANUP(made_done) struct made cut = make(life, bytes.data, n, type);
        char was = bytes.data[n];
        bytes.data[n] = '9';
        CLEANUP(made_done) struct made hurt = make(life, bytes.data, bytes.len, type);
        bytes.data[n] = was;
        EXPECT(cut.d || cut.f.code != OK);
        EXPECT(hurt.d || hurt.f.code != OK);
    }
}

TEST_MAIN()
