/* links and images: the tables of the semantics, then what might break them. */
#include "tests/cdg/cdg_help.h"

#define EXPECT_LINKS(before, after, expected) EXPECT_KIND("links", before, after, expected)
#define EXPECT_IMAGES(before, after, expected) EXPECT_KIND("images", before, after, expected)
#define A(address) "<a href=\"" address "\">x</a>"
#define IMG(address) "<img src=\"" address "\">"

TEST(LK1, "LK1: a new link is told by its absolute address")
{
    EXPECT_LINKS("<a href=/a>", "<a href=/a><a href=b>", "+http://x.org/d/b");
}

TEST(LK2, "LK2: the same address spelt otherwise, with another text, is the same link")
{
    EXPECT_LINKS("<a href=/a>A</a>", "<a href=\"HTTP://X.ORG:80/a\">other</a>", "N");
}

TEST(LK3, "LK3: a link that went is told, one that was doubled is not")
{
    EXPECT_LINKS(A("/a") A("/c"), A("/c") A("/c"), "−http://x.org/a");
}

TEST(LK4, "LK4: the order of links does not count")
{
    EXPECT_LINKS(A("/a") A("/b"), A("/b") A("/a"), "N");
}

TEST(LK5, "LK5: mail addresses and scripts are no links")
{
    EXPECT_LINKS(A("mailto:a@b.org") A("javascript:f()"), "", "N");
    EXPECT_LINKS(A("tel:+1") A("data:text/plain,x") A("JavaScript:f()"), "", "N");
}

TEST(LK6, "LK6: forms and values count as links")
{
    EXPECT_LINKS("<form action=/s></form>",
            "<form action=/t><select><option value=http://y.org></select></form>",
            "+http://x.org/t +http://y.org/ −http://x.org/s");
}

TEST(LK7, "LK7: the fragment is part of the address")
{
    EXPECT_LINKS(A("/a#x"), A("/a#y"), "+http://x.org/a#y −http://x.org/a#x");
}

TEST(base, "the first base counts, for links before it too, and is no link itself")
{
    EXPECT_LINKS("<base href='http://y.org/q/'><base href=http://z.org/>" A("a"),
            A("a") "<base href='http://y.org/q/'>", "N");
    EXPECT_LINKS("", "<base href='/q/r'>" A("a"), "+http://x.org/q/a");
    EXPECT_LINKS("<base target=x><base href=/q/>" A("a"), A("/q/a"), "N");
}

TEST(no_base, "a base that nothing can be seen from is none")
{
    EXPECT_LINKS("<base href='javascript:x'>" A("a"), A("a"), "N");
    EXPECT_LINKS("<base href='data:text/html,'>" A("a"), A("a"), "N");
    EXPECT_LINKS("<base href='http://'>" A("a"), A("a"), "N");
}

TEST(dots, "dot segments, empty paths and default ports are normalised")
{
    EXPECT_LINKS(A("/a/./b/../c"), A("http://x.org/a/c"), "N");
    EXPECT_LINKS(A("../../../e"), A("/e"), "N");
    EXPECT_LINKS(A("http://Y.org"), A("http://y.org:80/"), "N");
    EXPECT_LINKS(A("https://y.org:443/x"), A("https://y.org/x"), "N");
    EXPECT_LINKS(A("https://y.org:80/x"), A("https://y.org/x"),
            "+https://y.org/x −https://y.org:80/x");
    EXPECT_LINKS(A("//y.org/x"), A("http://y.org/x"), "N");
}

TEST(query, "a query counts, and only a query replaces the page's own")
{
    EXPECT_LINKS(A("?a=1"), A("http://x.org/d/p.html?a=1"), "N");
    EXPECT_LINKS(A("/q?a=1"), A("/q?a=2"), "+http://x.org/q?a=2 −http://x.org/q?a=1");
    EXPECT_LINKS(A("#top"), A("http://x.org/d/p.html#top"), "N");
}

TEST(space, "white space around and inside an address is read as browsers read it")
{
    EXPECT_LINKS(A(" /a \n"), A("/a"), "N");
    EXPECT_LINKS(A("/a\n/b"), A("/a/b"), "N");
    EXPECT_LINKS(A("/a b"), A("/a%20b"), "N");
}

TEST(case_kept, "paths keep their case, schemes and hosts do not")
{
    EXPECT_LINKS(A("/A"), A("/a"), "+http://x.org/a −http://x.org/A");
    EXPECT_LINKS(A("HTTPS://EXAMPLE.org/A"), A("https://example.ORG/A"), "N");
    EXPECT_LINKS(A("http://B\xC3\x9C"
                   "CHER.de/"),
            A("http://b\xC3\xBC"
              "cher.de/"),
            "N");
}

TEST(values, "a value is a link only when it begins like one")
{
    EXPECT_LINKS("", "<input value='see http://y.org'>", "N");
    EXPECT_LINKS("", "<input value='ftp://y.org/f'>", "+ftp://y.org/f");
}

TEST(hidden, "links in scripts, comments and templates are not there")
{
    EXPECT_LINKS("",
            "<!-- " A("/a") "--><script>\"<a href=/b>\"</script><template>" A(
                    "/c") "</template><noscript>" A("/d") "</noscript>",
            "N");
}

TEST(any_element, "every href counts, wherever it stands")
{
    EXPECT_LINKS("",
            "<link rel=next href=n.html><map><area href=/m></map><svg><a href=/s></a></svg>",
            "+http://x.org/d/n.html +http://x.org/m +http://x.org/s");
}

TEST(schemes, "other schemes of the list are links")
{
    EXPECT_LINKS("", A("gopher://g.org/1") A("news:comp.lang.c") A("blob:x") A("about:blank"),
            "+gopher://g.org/1 +news:comp.lang.c");
}

TEST(broken, "an address that is none is not a link")
{
    EXPECT_LINKS("", A("http://") A("https:") A("http:///y") A("://x"), "+http://x.org/d/://x");
    EXPECT_LINKS("", A("http:b"), "+http://x.org/d/b"); /* as browsers read it */
}

TEST(many, "ten thousand links are counted, the first five hundred listed")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(page, 1 << 22);
    for (int i = 0; i < 10000; i++)
        buf_printf(&page, "<a href=/%d>x</a>", i);
    const struct cdg_finding *f =
            compare_leaf(life, leaf_of("links"), "", buf_text(&page), "text/html");
    EXPECT_INT(f->inserted, 10000);
    EXPECT(strstr(f->detail, "\"left_out\":9500") != NULL);
}

/* ---- images ------------------------------------------------------------------------------ */

TEST(IM1, "IM1: a new image is told")
{
    EXPECT_IMAGES(IMG("a.png"), IMG("a.png") IMG("b.png"), "+http://x.org/d/b.png");
}

TEST(IM2, "IM2: alternative text and size do not count")
{
    EXPECT_IMAGES("<img src=a.png alt=x>", "<img src=a.png alt=y width=9>", "N");
}

TEST(IM3, "IM3: the query counts")
{
    EXPECT_IMAGES(IMG("a.png?v=1"), IMG("a.png?v=2"),
            "+http://x.org/d/a.png?v=2 −http://x.org/d/a.png?v=1");
}

TEST(IM4, "IM4: an image that was loaded lazily and no longer is, is the same")
{
    EXPECT_IMAGES("<img src=\"data:image/gif;base64,R0\" data-src=/l.png>", IMG("/l.png"), "N");
}

TEST(IM5, "IM5: an input is an image only by its type")
{
    EXPECT_IMAGES("<input type=image src=/go.gif>", "<input type=submit src=/go.gif>",
            "−http://x.org/go.gif");
}

TEST(IM6, "IM6: repetition does not count")
{
    EXPECT_IMAGES(IMG("a.png") IMG("a.png"), IMG("a.png"), "N");
}

TEST(image_edges, "data without a lazy source, srcset and other elements are no images")
{
    EXPECT_IMAGES("", "<img src='data:image/png;base64,AA'>", "N");
    EXPECT_IMAGES("", "<img srcset='a.png 2x'><video src=v.mp4><iframe src=f.html>", "N");
    EXPECT_IMAGES("", "<img data-src=/l.png>", "+http://x.org/l.png");
    EXPECT_IMAGES("", "<img src=/s.png data-src=/l.png>", "+http://x.org/s.png");
    EXPECT_IMAGES("", "<IMG SRC=/s.png><INPUT TYPE=Image SRC=/t.png>",
            "+http://x.org/s.png +http://x.org/t.png");
    EXPECT_IMAGES("", "<image src=/old.png>", "+http://x.org/old.png");
    EXPECT_IMAGES("<img src=/a.png title=1>", "<picture><img src=/a.png></picture>", "N");
    EXPECT_IMAGES("", "<base href=//i.org/><img src=a.png>", "+http://i.org/a.png");
    EXPECT_IMAGES("<noscript><img src=/n.png></noscript>", "", "N");
    EXPECT_IMAGES("<img src=''>", "<img src=''>", "N");
}

TEST_MAIN()
