/* any change: the table of the semantics, then what might break it. */
#include "tests/cdg/cdg_help.h"

#define EXPECT_ANY(before, after, expected) EXPECT_KIND("any change", before, after, expected)

static struct cdg_leaf raw(void)
{
    struct cdg_leaf l = leaf_of("any change");
    l.raw = true;
    return l;
}

TEST(AC1, "AC1: another price is a change, told as an update")
{
    EXPECT_ANY("<p>Price 10</p>", "<p>Price 12</p>", "~Price 10→Price 12");
}

TEST(AC2, "AC2: more white space is none")
{
    EXPECT_ANY("<p>Price   10</p>\n", "<p>Price 10</p>", "N");
}

TEST(AC3, "AC3: the order of attributes does not count")
{
    EXPECT_ANY("<p class=a id=b>x</p>", "<p id=b class=a>x</p>", "N");
}

TEST(AC4, "AC4: comments do not count")
{
    EXPECT_ANY("<p>x</p><!--1-->", "<p>x</p><!--2-->", "N");
}

TEST(AC5, "AC5: scripts count for the raw page only")
{
    EXPECT_ANY("<p>x</p><script>t=1</script>", "<p>x</p><script>t=2</script>", "N");
    EXPECT_LEAF(raw(), "<p>x</p><script>t=1</script>", "<p>x</p><script>t=2</script>", "C");
}

TEST(AC6, "AC6: a word made bold is a change without a change of text")
{
    EXPECT_ANY("<p>x y</p>", "<p>x <b>y</b></p>", "~→<b>");
}

TEST(AC7, "AC7: a character is the same however it is written")
{
    EXPECT_ANY("<p>caf&eacute;</p>", "<p>caf\xC3\xA9</p>", "N");
    EXPECT_ANY("<p>cafe\xCC\x81</p>", "<p>caf\xC3\xA9</p>", "N");
}

TEST(raw_same, "the raw page is unchanged when its bytes are")
{
    EXPECT_LEAF(raw(), "<p>x", "<p>x", "N");
    EXPECT_LEAF(raw(), "<p>x", "<p>x ", "C");
    EXPECT_LEAF(raw(), "<p>x", "<p>y", "+y −x");
}

TEST(blocks, "paragraphs come, go and move as a whole")
{
    EXPECT_ANY("<p>one</p><p>two</p>", "<p>one</p><p>new</p><p>two</p>", "+new");
    EXPECT_ANY("<p>one</p><p>two</p>", "<p>two</p>", "−one");
    EXPECT_ANY(
            "<p>one</p><p>two</p><p>three</p>", "<p>three</p><p>one</p><p>two</p>", "»three");
}

TEST(attributes, "an attribute that changes is an update with its path")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    const struct cdg_finding *f = compare_leaf(life, leaf_of("any change"),
            "<ul><li>a<li class=x>b</ul>", "<ul><li>a<li class=y>b</ul>", "text/html");
    EXPECT_TEXT(show(life, f), "~class=\"x\"→class=\"y\"");
    EXPECT(strstr(f->detail, "\"path\":\"/ul/li[2]/@class\"") != NULL);
    EXPECT_INT(f->updated, 1);
    EXPECT_ANY("<p>a</p>", "<p id=q>a</p>", "~→id=\"q\"");
    EXPECT_ANY("<p a=1 b=2 c=3>a</p>", "<p a=1 c=4>a</p>", "~b=\"2\"→ ~c=\"3\"→c=\"4\"");
}

TEST(nesting, "the same texts and tags in another nesting are a change")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    const struct cdg_finding *f = compare_leaf(life, leaf_of("any change"),
            "<div><p>a</p></div><p>b</p>", "<div><p>a</p><p>b</p></div>", "text/html");
    EXPECT_INT(f->result, CDG_C);
    EXPECT_INT(f->updated, 1);
}

TEST(both, "an image that came is told beside a text that changed")
{
    EXPECT_ANY("<p>a b c</p>", "<p>a b d</p><img src=x.png>",
            "~a b c→a b d ~→<img src=\"x.png\">");
    EXPECT_ANY("<p>a</p>", "<p>a</p><h2>b</h2>", "+b"); /* the h2 is told by its text */
}

TEST(inline_space, "a space that a browser shows counts, one that it does not show does not")
{
    EXPECT_ANY("<p>x <b>y</b></p>", "<p>x<b>y</b></p>", "+xy −x y");
    EXPECT_ANY("<p> x <b> y</b> </p>", "<p>x <b>y</b></p>", "N");
    EXPECT_ANY("<p>x&nbsp;y</p>", "<p>x y</p>", "N");
    EXPECT_ANY("<td>x</td>", "<td> x\n</td>", "N");
}

TEST(empty, "nothing and something differ, nothing and nothing do not")
{
    EXPECT_ANY("", "", "N");
    EXPECT_ANY("", "<!-- x -->", "N");
    EXPECT_ANY("", "x", "+x");
    EXPECT_ANY("x", "", "−x");
}

TEST(markup_noise, "spelling of markup does not count")
{
    EXPECT_ANY("<P CLASS='a'>x", "<p class=a>x</p>", "N");
    EXPECT_ANY("<ul><li>a<li>b</ul>", "<ul><li>a</li><li>b</li></ul>", "N");
    EXPECT_ANY("<br/>x", "<br>x", "N");
    EXPECT_ANY("<a href='?a&amp;b'>x</a>", "<a href='?a&b'>x</a>", "N");
}

TEST(pairing, "a deleted text is paired with the first that shares half of its words")
{
    EXPECT_ANY("<p>a b c d</p>", "<p>q r s t</p><p>a b x y</p>", "+q r s t ~a b c d→a b x y");
    EXPECT_ANY("<p>a b c d</p>", "<p>a x y z</p>", "+a x y z −a b c d");
}

TEST(hostile, "a hundred thousand new paragraphs are counted, and some of them listed")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(page, 1 << 24);
    for (int i = 0; i < 100000; i++)
        buf_printf(&page, "<p>line %d</p>", i);
    const struct cdg_finding *f =
            compare_leaf(life, leaf_of("any change"), "<p>x</p>", buf_text(&page), "text/html");
    EXPECT_INT(f->result, CDG_C);
    EXPECT_INT(f->inserted, 100000);
    EXPECT_INT(f->deleted, 1);
    EXPECT(strstr(f->detail, "\"left_out\":99500") != NULL);
    EXPECT(strlen(f->summary) < 400);
}

TEST(huge_shuffle, "two large pages without a common order are compared in bounded time")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(a, 1 << 24);
    BUF(b, 1 << 24);
    for (int i = 0; i < 20000; i++) {
        buf_printf(&a, "<p>line %d of some words</p>", i);
        buf_printf(&b, "<p>line %d of some words</p>", (i * 7919) % 20000);
    }
    const struct cdg_finding *f =
            compare_leaf(life, leaf_of("any change"), buf_text(&a), buf_text(&b), "text/html");
    EXPECT_INT(f->result, CDG_C);
    EXPECT_INT(f->inserted, f->deleted); /* nothing came and nothing went but in pairs */
    EXPECT(strstr(f->detail, "\"coarse\":true") != NULL);
}

TEST(unparsed, "a page that could not be parsed is not called unchanged")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct cdg_version *old = version_of(life, 1, "<p>x", "text/html");
    struct cdg_version *new_ = version_of(life, 2, "<p>x", "text/html");
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = leaf_of("any change")};
    const struct cdg_finding *f;
    new_->digest = NULL;
    new_->no_digest = "elements are nested more than 10000 deep";
    EXPECT(cdg_compare_once(&e, old, new_, life, NULL, &f) == OK);
    EXPECT_TEXT(show(life, f), "U: elements are nested more than 10000 deep");
}

TEST(data, "what is no text changes with its bytes")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct cdg_leaf any = leaf_of("any change");
    EXPECT_INT(compare_leaf(life, any, "\x89PNG1", "\x89PNG2", "image/png")->result, CDG_C);
    EXPECT_INT(compare_leaf(life, any, "\x89PNG1", "\x89PNG1", "image/png")->result, CDG_N);
}

TEST(plain, "plain text changes line by line")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    EXPECT_TEXT(show(life, compare_leaf(life, leaf_of("any change"), "one\ntwo <b>\n",
                                   "one\n\ntwo <b>\nthree\n", "text/plain")),
            "+three");
}

TEST(json, "JSON changes member by member, and how it is set does not count")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct cdg_leaf any = leaf_of("any change");
    EXPECT_TEXT(show(life, compare_leaf(life, any, "{\"a\":1,\"b\":[2,3]}",
                                   "{\n  \"a\": 1,\n  \"b\": [2, 3]\n}", "application/json")),
            "N");
    EXPECT_TEXT(show(life, compare_leaf(life, any, "{\"a\":\"x, {y\",\"b\":2}",
                                   "{\"a\":\"x, {y\",\"b\":3}", "application/json")),
            "~b: 2→b: 3");
    EXPECT_INT(compare_leaf(life, any, "{\"a\":[]}", "{\"a\":{}}", "application/json")->result,
            CDG_C);
    EXPECT_INT(
            compare_leaf(life, any, "{\"a\":1}", "{\"a\":\"1\"}", "application/json")->result,
            CDG_C);
    EXPECT_INT(
            compare_leaf(life, any, "{\"a\":\"un", "{\"a\":\"\\", "application/json")->result,
            CDG_C);
}

TEST(json_elements, "members of JSON are elements, and regions are found in it")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char old[] = "{\"shop\": [{\"name\": \"tv\", \"price\": 5},"
                              " {\"name\": \"cam\", \"price\": 7}]}";
    static const char new_[] = "{\"shop\": [{\"name\": \"tv\", \"price\": 6},"
                               " {\"name\": \"cam\", \"price\": 7},"
                               " {\"name\": \"fax\", \"price\": 9}]}";
    struct cdg_leaf l = leaf_of("element");
    l.text = "item";
    l.status = CDG_NEW;
    EXPECT_TEXT(show(life, compare_leaf(life, l, old, new_, "application/json")), "+fax 9");
    l.text = "price";
    l.status = CDG_UPDATED;
    EXPECT_TEXT(show(life, compare_leaf(life, l, old, new_, "application/json")), "~5→6");
    l = leaf_of("all words");
    l.region = CDG_REGION_XPATH;
    l.selector = "/json/shop/item[1]/price";
    EXPECT_TEXT(show(life, compare_leaf(life, l, old, new_, "application/json")), "+6 −5");
    l.selector = "/json/shop/item[2]";
    EXPECT_TEXT(show(life, compare_leaf(life, l, old, new_, "application/json")), "N");
}

TEST(text_whole, "plain text is one element")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct cdg_leaf l = leaf_of("tags");
    EXPECT_TEXT(show(life, compare_leaf(life, l, "a\nb", "a\nc", "text/plain")), "N");
    l = leaf_of("content");
    EXPECT_TEXT(show(life, compare_leaf(life, l, "a\nb", "a\nc", "text/plain")), "+c −b");
    l = leaf_of("keywords");
    static const char *const words[] = {"one two"};
    l.words = words;
    l.nwords = 1;
    EXPECT_TEXT(show(life, compare_leaf(life, l, "one", "one\ntwo", "text/plain")), "+one two");
}

TEST(data_types, "of what is no text only whether it is the same is known")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char *const never[] = {"links", "images", "all words", "content", "structure",
            "tags", "attributes", "table", "list"};
    static const char why[] =
            "U: the page is neither markup nor text: only any change can be asked of it";
    for (size_t i = 0; i < countof(never); i++) {
        struct cdg_leaf l = leaf_of(never[i]);
        EXPECT_TEXT(show(life, compare_leaf(life, l, "\x89PNG1 a", "\x89PNG2 b", "image/png")),
                why);
    }
    struct cdg_leaf l = leaf_of("any change");
    EXPECT_INT(compare_leaf(life, l, "\x89PNG1 a", "\x89PNG2 b", "image/png")->result, CDG_C);
    l.changed_over = true;
    EXPECT_TEXT(
            show(life, compare_leaf(life, l, "\x89PNG1 a", "\x89PNG2 b", "image/png")), why);
}

TEST_MAIN()
