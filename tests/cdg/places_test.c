/* Where what is listed stands: a path that XPath takes, in the page it is about. */
#include "tests/cdg/cdg_help.h"
#include "tests/page/doc_page.h"

static void show_place(struct buf *out, const json_t *place)
{
    if (out->len)
        buf_putc(out, ' ');
    if (json_is_array(place))
        buf_printf(out, "%s→%s", json_string_value(json_array_get(place, 0)),
                json_string_value(json_array_get(place, 1)));
    else
        buf_puts(out, json_is_string(place) ? json_string_value(place) : "(not known)");
}

/* The places of the only leaf, in the order of its lists; as many as the lists have entries. */
static char *places(struct arena *life, const struct cdg_finding *f)
{
    static const char *const lists[] = {"inserted", "deleted", "updated", "moved", "found"};
    BUF(out, 1 << 24);
    EXPECT_INT(f->result, CDG_C);
    json_t *root = json_loads(f->detail, 0, NULL);
    json_t *leaf = json_array_get(json_object_get(root, "leaves"), 0);
    for (size_t i = 0; i < countof(lists); i++) {
        json_t *all = json_object_get(json_object_get(leaf, "places"), lists[i]), *one;
        size_t k;
        EXPECT_INT(json_array_size(all), json_array_size(json_object_get(leaf, lists[i])));
        json_array_foreach(all, k, one) show_place(&out, one);
    }
    json_decref(root);
    return arena_strdup(life, buf_text(&out));
}

#define EXPECT_PLACES(leaf, before, after, type, expected)                                     \
    do {                                                                                       \
        SCRATCH struct arena *t_life = arena_new(NULL, "t");                                   \
        EXPECT_TEXT(places(t_life, compare_leaf(t_life, (leaf), (before), (after), (type))),   \
                (expected));                                                                   \
    } while (0)

#define PAGE(inside) "<html><body><h1>Shop</h1>" inside "</body></html>"

static const char before[] = PAGE("<ul><li>apples</li><li>pears <a href=/p>p</a></li></ul>"
                                  "<table><tr><td>a</td><td>1</td></tr>"
                                  "<tr><td>b</td><td>2</td></tr></table>"
                                  "<p>One <b>two</b> three</p><p>going away now</p>");
static const char after[] = PAGE("<p>new words here</p><ul><li>apples</li>"
                                 "<li>cherries <a href=/q>q</a></li>"
                                 "<li>pears <a href=/p>p</a></li></ul>"
                                 "<table><tr><td>a</td><td>1</td></tr>"
                                 "<tr><td>b</td><td>3</td></tr></table>"
                                 "<p>One <b>two</b> four</p>");

TEST(types, "each type says where what it lists stands")
{
    static const struct {
        const char *kind, *expected;
    } cases[] = {
            {"any change", "/html/body/p[1] /html/body/ul/li[2] /html/body/table/tr[2]/td[2] "
                           "/html/body/table/tr[2]/td[2] /html/body/p[2] "
                           "/html/body/p[1]→/html/body/p[2]"},
            {"links", "/html/body/ul/li[2]/a"},
            {"all words", "/html/body/p[1] /html/body/p[1] /html/body/p[1] "
                          "/html/body/ul/li[2] /html/body/ul/li[2] "
                          "/html/body/table/tr[2]/td[2] /html/body/p[2] "
                          "/html/body/table/tr[2]/td[2] /html/body/p[1] /html/body/p[2] "
                          "/html/body/p[2] /html/body/p[2]"},
            {"table", "/html/body/table/tr[2]/td[2]→/html/body/table/tr[2]/td[2]"},
            {"list", "/html/body/ul/li[2]"},
            {"structure", "/html/body/ul/li[3] /html/body/ul/li[3]/a "
                          "/html/body/ul→/html/body/ul /html/body/p[2]→/html/body/p[1]"},
            {"tags", "/html/body/ul/li[3] /html/body/ul/li[3]/a "
                     "/html/body/p[2]→/html/body/p[1]"},
            {"attributes", "/html/body/ul/li[2]/a/@href→/html/body/ul/li[2]/a/@href"},
            {"content", "/html/body/p[1] /html/body/ul/li[2] /html/body/ul/li[2]/a "
                        "/html/body/table/tr[2]/td[2] /html/body/p[2] "
                        "/html/body/table/tr[2]/td[2] /html/body/p[1] /html/body/p[2]"},
    };
    for (size_t i = 0; i < countof(cases); i++)
        EXPECT_PLACES(leaf_of(cases[i].kind), before, after, "text/html", cases[i].expected);
}

TEST(words, "a keyword, a phrase and a match stand in the block they begin in")
{
    struct cdg_leaf keywords = leaf_of("keywords"), phrase = leaf_of("phrase");
    struct cdg_leaf match = leaf_of("regexp");
    keywords.words = (const char *const[]){"cherries", "going away", "fou*"};
    keywords.nwords = 3;
    EXPECT_PLACES(keywords, before, after, "text/html",
            "/html/body/ul/li[2] /html/body/p[2] /html/body/p[2]");
    keywords.counted = true;
    EXPECT_PLACES(keywords, before, after, "text/html",
            "/html/body/ul/li[2] /html/body/p[2] /html/body/p[2]");
    keywords.counted = false;
    keywords.all = true;
    keywords.words = (const char *const[]){"cherries", "apples"};
    keywords.nwords = 2;
    EXPECT_PLACES(
            keywords, before, after, "text/html", "/html/body/ul/li[2] /html/body/ul/li[1]");
    phrase.text = "One two";
    EXPECT_PLACES(phrase, before, after, "text/html", "/html/body/p[1]→/html/body/p[2]");
    match.on_text = true;
    match.text = "\\w+ries|t\\w+e";
    EXPECT_PLACES(match, before, after, "text/html", "/html/body/ul/li[2] /html/body/p[1]");
}

TEST(followed, "a phrase followed by its words stands where these are")
{
    struct cdg_leaf phrase = leaf_of("phrase");
    phrase.words = (const char *const[]){"the price of it is 10 euros today"};
    phrase.nwords = 1;
    EXPECT_PLACES(phrase,
            "<body><p>one two three four five six seven eight nine ten</p>"
            "<p>the price of it is 10 euros today</p>"
            "<p>eleven twelve thirteen fourteen fifteen sixteen a b c d</p></body>",
            "<body><h1>x</h1><p>one two three four five six seven eight nine ten</p>"
            "<p>x</p><p>the price of it is 12 euros today</p>"
            "<p>eleven twelve thirteen fourteen fifteen sixteen a b c d</p></body>",
            "text/html", "/body/p[2]→/body/p[2]");
}

TEST(elements, "elements stand where they are, whether they came, went or stay")
{
    struct cdg_leaf li = leaf_of("element");
    li.text = "li";
    li.status = CDG_NEW;
    EXPECT_PLACES(li, before, after, "text/html", "/html/body/ul/li[2]");
    li.status = CDG_DELETED;
    EXPECT_PLACES(li, after, before, "text/html", "/html/body/ul/li[2]");
    li.status = CDG_EXISTS;
    EXPECT_PLACES(li, after, before, "text/html", "/html/body/ul/li[1] /html/body/ul/li[2]");
    li.status = CDG_UPDATED;
    EXPECT_PLACES(li, "<ul><li id=a>x</li></ul>", "<p>y</p><ul><li id=a>z</li></ul>",
            "text/html", "/ul/li→/ul/li");
}

TEST(region, "what changed in a region stands in the page")
{
    struct cdg_leaf any = leaf_of("any change");
    any.region = CDG_REGION_CSS;
    any.selector = "ul";
    EXPECT_PLACES(any, before, after, "text/html", "/html/body/ul/li[2]");
    any = leaf_of("links");
    any.region = CDG_REGION_XPATH;
    any.selector = "/html/body/ul/li";
    EXPECT_PLACES(any, before, after, "text/html", "/html/body/ul/li[2]/a");
}

TEST(source, "a match in the source stands in a line")
{
    struct cdg_leaf match = leaf_of("regexp");
    match.text = "v\\d";
    EXPECT_PLACES(match, "<p>\nv1</p>", "<p>\n<!-- é --> v2</p>", "text/html; charset=utf-8",
            "line 2, column 12 line 2, column 1");
}

static void put_long(struct buf *out, const char *what, int times)
{
    for (int i = 0; i < times; i++)
        buf_puts(out, what);
}

TEST(long_source, "lines and columns are counted in long lines, and for matches in any order")
{
    BUF(old, 1 << 20);
    BUF(new_, 1 << 20);
    struct cdg_leaf match = leaf_of("regexp");
    match.text = "v\\d";
    put_long(&old, "é", 5000);
    buf_puts(&old, "v1");
    put_long(&old, "x\n", 5000);
    buf_puts(&old, "v2 v3");
    put_long(&new_, "é", 4095);
    buf_puts(&new_, "v3 v4\n\n");
    put_long(&new_, "é", 2048);
    put_long(&new_, "x", 4093);
    buf_puts(&new_, "v1 v2");
    EXPECT_PLACES(match, buf_text(&old), buf_text(&new_), "text/plain; charset=utf-8",
            "line 1, column 4099 line 5001, column 4→line 1, column 4096");
}

TEST(others, "texts at the top, names that XPath does not take, addresses of another base")
{
    EXPECT_PLACES(leaf_of("content"), "a<br>b", "a<br>c", "text/html", "/ /");
    EXPECT_PLACES(leaf_of("any change"), "{\"a b\": {\"c\": 1}}", "{\"a b\": {\"c\": 2}}",
            "application/json", "/json/*[name()=\"a b\"]/c→/json/*[name()=\"a b\"]/c");
    EXPECT_PLACES(leaf_of("links"), "<base href=http://a.org/><p><a href=x>x</a>",
            "<base href=http://b.org/><p><a href=x>x</a>", "text/html", "/p/a /p/a");
    EXPECT_PLACES(
            leaf_of("images"), "<p>x", "<p><img src=' /A/../b.png'>", "text/html", "/p/img");
}

/* ---- many, and deep ---------------------------------------------------------------------- */

TEST(selects, "the path of an element selects that element")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char *const names[] = {"p", "li", "b", "a", "td"};
    BUF(page, 1 << 22);
    doc_page(&page, 20, (struct doc_edits){.script = 1});
    const struct page_digest *d = version_of(life, 1, page.data, "text/html")->digest;
    for (size_t i = 0; i < countof(names); i++) {
        struct cdg_leaf leaf = leaf_of("element");
        leaf.text = names[i];
        const struct cdg_finding *f =
                compare_leaf(life, leaf, page.data, page.data, "text/html");
        json_t *root = json_loads(f->detail, 0, NULL), *one;
        json_t *all = json_array_get(json_object_get(root, "leaves"), 0);
        json_t *texts = json_object_get(all, "found");
        all = json_object_get(json_object_get(all, "places"), "found");
        EXPECT(json_array_size(all) >= 20 && json_array_size(all) == json_array_size(texts));
        size_t k;
        json_array_foreach(all, k, one)
        {
            SCRATCH struct arena *scratch = arena_new(NULL, "t");
            struct page_selector *s;
            struct page_digest *region;
            struct page_block *blocks;
            bool found;
            EXPECT(page_selector_new(scratch, PAGE_XPATH, json_string_value(one), NULL, &s) ==
                    OK);
            EXPECT(page_region(d, s, scratch, NULL, &region, &found) == OK && found);
            size_t n = page_blocks(region, scratch, &blocks);
            EXPECT(n >= 1 && region->parent[0] == UINT32_MAX &&
                    region->end[0] == region->nodes);
            EXPECT_TEXT(page_tag_name(region, region->tags[0]).ptr, names[i]);
            if (n == 1)
                EXPECT_TEXT(str_trim(blocks[0].text).ptr,
                        str_trim(str_of(json_string_value(json_array_get(texts, k)))).ptr);
        }
        json_decref(root);
    }
}

TEST(moved, "what moved among many siblings stands where it was and where it is")
{
    enum { MANY = 60000, MOVED = 400 };
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(from, 1 << 22);
    BUF(to, 1 << 22);
    for (unsigned i = 0; i < MANY; i++)
        buf_printf(&from, "<p>number %u", i);
    for (unsigned i = MOVED; i-- > 0;) /* backwards, so that none comes in order */
        buf_printf(&to, "<p>number %u", 100 * i + 50);
    for (unsigned i = 0; i < MANY; i++)
        if (i % 100 != 50 || i >= 100 * MOVED)
            buf_printf(&to, "<p>number %u", i);
    const struct cdg_finding *f =
            compare_leaf(life, leaf_of("any change"), from.data, to.data, "text/html");
    EXPECT_INT(f->moved, MOVED);
    char *all = places(life, f);
    EXPECT(strncmp(all, "/p[39951]→/p[1] /p[39851]→/p[2] ", 35) == 0);
    EXPECT(strstr(all, " /p[51]→/p[400]"));
}

TEST(deep, "a path that nobody could read is not written, and the report is whole")
{
    enum { DEEP = 5000, WIDE = 200 };
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(from, 1 << 22);
    BUF(to, 1 << 22);
    struct buf *both[] = {&from, &to};
    for (size_t k = 0; k < countof(both); k++) {
        for (unsigned i = 0; i < DEEP; i++)
            buf_puts(both[k], "<div>");
        for (unsigned i = 0; i < WIDE; i++)
            buf_printf(both[k], "<p class=\"%s\">x", k ? "new" : "old");
    }
    const struct cdg_finding *f =
            compare_leaf(life, leaf_of("attributes"), from.data, to.data, "text/html");
    EXPECT_INT(f->updated, WIDE);
    EXPECT(strncmp(places(life, f), "(null)→(null) (null)", 20) == 0);
}

TEST_MAIN()
