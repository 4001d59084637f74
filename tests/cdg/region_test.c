/* Regions: a question about a part of a page. */
#include "tests/cdg/cdg_help.h"

static struct cdg_leaf in(const char *kind, enum cdg_region language, const char *selector)
{
    struct cdg_leaf l = leaf_of(kind);
    l.region = language;
    l.selector = selector;
    return l;
}

#define EXPECT_XPATH(kind, selector, before, after, expected)                                  \
    EXPECT_LEAF(in(kind, CDG_REGION_XPATH, selector), before, after, expected)
#define EXPECT_CSS(kind, selector, before, after, expected)                                    \
    EXPECT_LEAF(in(kind, CDG_REGION_CSS, selector), before, after, expected)

/* Which texts a selector chooses: those that are new when the page comes from nothing. */
static const char page[] =
        "<html><body><h1 id=top class='a b'>t</h1><div class=b><p>1</p><p>2</p>"
        "<ul><li>3</li><li title=x>4</li></ul></div><p>5</p><p lang=de-CH>6</p>"
        "<table><tr><td>7</td></tr></table></body></html>";

static char *selected(struct arena *life, enum cdg_region language, const char *selector)
{
    struct cdg_leaf l = in("content", language, selector);
    return show(life, compare_leaf(life, l, "", page, "text/html"));
}

#define EXPECT_SELECTED(language, selector, expected)                                          \
    do {                                                                                       \
        SCRATCH struct arena *sel_life = arena_new(NULL, "t");                                 \
        EXPECT_TEXT(selected(sel_life, language, selector), expected);                         \
    } while (0)

TEST(xpath, "paths choose by name, place, attribute and text")
{
    static const struct {
        const char *path, *expected;
    } cases[] = {{"//p", "+1 +2 +5 +6"}, {"/html/body/p", "+5 +6"}, {"/html/body/p[2]", "+6"},
            {"//p[1]", "+1 +5"}, {"//div/p[last()]", "+2"}, {"//*[@id='top']", "+t"},
            {"//li[@title]", "+4"}, {"//p[@lang='de-CH']", "+6"},
            {"//li[contains(., '3')]", "+3"}, {"//p[.='5']", "+5"}, {"//p[text()='2']", "+2"},
            {"//p[starts-with(@lang,'de')]", "+6"}, {"//h1 | //li", "+t +3 +4"},
            {"//div//li[2]", "+4"}, {"//div/*[3]/li", "+3 +4"},
            {"//li[@title and contains(.,'4')]", "+4"}, {"//p[@lang][1]", "+6"},
            {"//p[2][@lang]", "+6"}, {"h1", "+t"},
            {"//div[contains(@class,'b')]", "+1 +2 +3 +4"},
            {"/html/body/table/tbody/tr/td", "+7"}, {"//div[ul]", "+1 +2 +3 +4"},
            {"//p[not(@lang)]", "+1 +2 +5"}, {"//p[@lang or . = 1]", "+1 +6"},
            {"//p[position() > 1]", "+2 +6"}, {"//p[position() mod 2 = 1]", "+1 +5"},
            {"//li[. > 3]", "+4"}, {"//li[. = 2 + 2]", "+4"}, {"//li/..", "+3 +4"},
            {"//li[2]/preceding-sibling::li", "+3"}, {"//h1/following-sibling::p", "+5 +6"},
            {"//h1/following::li", "+3 +4"}, {"//td/preceding::li[1]", "+4"},
            {"//li[1]/ancestor::div/p", "+1 +2"}, {"//p[count(../p) = 2][1]", "+1 +5"},
            {"//*[string-length(@class) = 3]", "+t"}, {"//*[name() = 'h1']", "+t"},
            {"id('top')", "+t"}, {"//div/p/text()", "+1 +2"}, {"//*[@title]/@title", "+4"},
            {"(//p)[3]", "+5"}, {"(//p)[last()]", "+6"},
            {"//p[normalize-space(.) = '5']", "+5"},
            {"//p[substring-after(@lang, '-') = 'CH']", "+6"},
            {"//p[translate(@lang, 'DECH', 'dech') = 'de-ch']", "+6"},
            {"//ul[sum(li) = 7]", "+3 +4"}, {"//p[self::p and true()]", "+1 +2 +5 +6"},
            {"//div/descendant::li[2]", "+4"},
            {"//p[. = //li]", "U: the region is in neither version"}, {"//P[@LANG]", "+6"},
            {"//p[0]", "U: the region is in neither version"},
            {"//q", "U: the region is in neither version"},
            {"/p", "U: the region is in neither version"}};
    for (size_t i = 0; i < countof(cases); i++)
        EXPECT_SELECTED(CDG_REGION_XPATH, cases[i].path, cases[i].expected);
}

TEST(css, "selectors choose by name, id, class, attribute and place")
{
    static const struct {
        const char *selector, *expected;
    } cases[] = {{"p", "+1 +2 +5 +6"}, {"div p", "+1 +2"}, {"body > p", "+5 +6"},
            {"#top", "+t"}, {".a", "+t"}, {"h1.a.b", "+t"}, {".b", "+t +1 +2 +3 +4"},
            {"li[title]", "+4"}, {"li[title=x]", "+4"}, {"p[lang^='de']", "+6"},
            {"p[lang$=CH]", "+6"}, {"p[lang*='-']", "+6"}, {"[class~=a]", "+t"},
            {"li:first-child", "+3"}, {"li:last-child", "+4"}, {"li:nth-child(2)", "+4"},
            {"p:nth-of-type(1)", "+1 +5"}, {"p:first-of-type", "+1 +5"},
            {"h1 + div > ul", "+3 +4"}, {"div ~ p", "+5 +6"}, {"div + p", "+5"},
            {"h1, li", "+t +3 +4"}, {"*#top", "+t"}, {"div p:not(:first-child)", "+2"},
            {"li:not(.x, [title])", "+3"}, {"li:nth-child(even)", "+4"},
            {"li:nth-child(odd)", "+3"}, {"li:nth-child(n)", "+3 +4"},
            {"li:nth-child(2n + 2)", "+4"}, {"li:nth-child(-n+1)", "+3"},
            {"li:nth-last-child(2)", "+3"}, {"p:nth-last-of-type(1)", "+2 +6"},
            {".none", "U: the region is in neither version"}};
    for (size_t i = 0; i < countof(cases); i++)
        EXPECT_SELECTED(CDG_REGION_CSS, cases[i].selector, cases[i].expected);
}

TEST(many_siblings, "the place among very many siblings is found")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(many, 1 << 20);
    for (int i = 1; i <= 30000; i++)
        buf_printf(&many, "<p>%d</p>", i);
    struct cdg_leaf l = in("content", CDG_REGION_CSS, "p:nth-last-child(2)");
    EXPECT_TEXT(show(life, compare_leaf(life, l, "", buf_text(&many), "text/html")), "+29999");
}

TEST(left_out, "what a page leaves out and a browser shows all the same may be named")
{
    static const struct {
        const char *selector, *page, *expected;
    } cases[] = {{"body", "<p>a", "+a"}, {"BODY > P", "<p>a", "+a"}, {"html p", "<p>a", "+a"},
            {"body > p", "<html><head><title>t</title></head><p>a", "+a"},
            {"html > head > title", "<title>t</title><p>a", "+t"},
            {"tbody tr", "<table><tr><td>a</table>", "+a"},
            {"table > tbody > tr", "<table><tbody><tr><td>a</table><table><tr><td>b</table>",
                    "+a +b"},
            {"head", "<p>a", "U: the region is in neither version"},
            {"div tbody", "<div><p>a</div>", "U: the region is in neither version"},
            {"div > body", "<div><p>a</div>", "U: the region is in neither version"}};
    for (size_t i = 0; i < countof(cases); i++)
        EXPECT_CSS("all words", cases[i].selector, "", cases[i].page, cases[i].expected);
    static const struct {
        const char *path, *page, *expected;
    } paths[] = {{"/html/body", "<p>a", "+a"}, {"/html/body/p", "<p>a", "+a"},
            {"/html/body[1]/p[2]", "<p>a<p>b", "+b"},
            {"//tbody/tr", "<table><tbody><tr><td>a</table><table><tr><td>b</table>", "+a +b"},
            {"//tbody", "<p>a", "U: the region is in neither version"},
            {"//head", "<p>a", "U: the region is in neither version"},
            {"//colgroup", "<p>a", "U: the region is in neither version"}};
    for (size_t i = 0; i < countof(paths); i++)
        EXPECT_LEAF(in("all words", CDG_REGION_XPATH, paths[i].path), "", paths[i].page,
                paths[i].expected);
}

TEST(only_inside, "what is outside the region does not count")
{
    EXPECT_CSS(
            "any change", "#n", "<p>a</p><div id=n>x</div>", "<p>b</p><div id=n>x</div>", "N");
    EXPECT_CSS("any change", "#n", "<p>a</p><div id=n>x</div>", "<p>a</p><div id=n>y</div>",
            "+y −x");
    EXPECT_CSS("links", "nav", "<nav><a href=/a>a</a></nav>",
            "<nav><a href=/a>a</a></nav><a href=/b>b</a>", "N");
    EXPECT_CSS("links", "nav", "<nav><a href=/a>a</a></nav>",
            "<nav><a href=/a>a</a><a href=c>b</a></nav>", "+http://x.org/d/c");
}

TEST(came_and_went, "a region that went is all deleted, one that came all inserted")
{
    EXPECT_CSS("any change", "#n", "<div id=n>x</div>", "<p>x</p>", "−x");
    EXPECT_CSS("all words", "#n", "<div id=n>x y</div>", "<p>x</p>", "−x −y");
    EXPECT_CSS("all words", "#n", "<p>x</p>", "<div id=n>x y</div>", "+x +y");
    EXPECT_CSS("links", "#n", "<div id=n><a href=/a>x</a></div>", "<p>", "−http://x.org/a");
}

TEST(separate, "selected parts are blocks of their own: their words do not join")
{
    EXPECT_CSS("all words", "b", "", "<p><b>a</b><b>b</b></p>", "+a +b");
    EXPECT_CSS("all words", "p", "", "<p><b>a</b><b>b</b></p>", "+ab");
}

TEST(base, "references in a region are seen from the page's base")
{
    EXPECT_CSS("links", "#n", "", "<base href=http://y.org/q/><div id=n><a href=a>x</a></div>",
            "+http://y.org/q/a");
    EXPECT_CSS("images", "#n", "", "<div id=n><img src=a.png></div>", "+http://x.org/d/a.png");
}

TEST(nested, "a part inside a selected part is not taken twice")
{
    EXPECT_CSS("all words", "div", "", "<div>a<div>b</div></div>", "+a +b");
    struct cdg_leaf l = in("all words", CDG_REGION_CSS, "div");
    l.counted = true;
    EXPECT_LEAF(l, "", "<div>a<div>b</div></div>", "+a (0→1) +b (0→1)");
}

TEST(other_kinds, "tables, lists, elements and patterns have regions too")
{
    EXPECT_CSS("table", "#n",
            "<table><tr><td>a</table><div id=n><table><tr><td>1</table></div>",
            "<table><tr><td>b</table><div id=n><table><tr><td>1</table></div>", "N");
    EXPECT_CSS("list", "#n", "<ul><li>q</ul><div id=n><ul><li>a</ul></div>",
            "<div id=n><ul><li>a<li>b</ul></div>", "+b");
    struct cdg_leaf r = in("regexp", CDG_REGION_CSS, "#n");
    r.text = "\\d+";
    r.on_text = true;
    EXPECT_LEAF(r, "1<div id=n>2</div>", "9<div id=n>3</div>", "+3 −2");
    struct cdg_leaf e = in("element", CDG_REGION_CSS, "#n");
    e.text = "li";
    e.status = CDG_NEW;
    EXPECT_LEAF(e, "<div id=n><ul><li>a</ul></div>",
            "<ul><li>c</ul><div id=n><ul><li>a<li>b</ul></div>", "+b");
}

static enum err checked(enum cdg_region language, const char *selector)
{
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = in("any change", language, selector)};
    struct fault f;
    return cdg_check(&e, (struct cdg_compare){CDG_PAIRWISE, 0}, &f);
}

TEST(refused, "what is not understood is refused, not misread")
{
    static const char *const paths[] = {"", "//", "//p[", "//p[]", "//p[foo(.)]", "//p[@]",
            "count(//p)", "//namespace::p", "//p]", "string(/)", "1", "'p'", "//p[$x]",
            "//p[document('x')]", "//p[unparsed-text('/etc/passwd')]", "//p/comment()",
            "//p[contains(.)]", "//p[not()]", "//p = 1", "//p[1", "//p[(1]", "//p[. = 'x]"};
    static const char *const selectors[] = {"", ">", "p >", "p:hover", "p[", "p[a", "p,", "#",
            "li:nth-child(0)", "li:nth-child(2n+)", "li:nth-child(2n +-1)", "li:nth-child()",
            "p:not", "p:not()", "p:not(a b)", "p:not(a", "p::before", "p{}"};
    for (size_t i = 0; i < countof(paths); i++)
        EXPECT_INT(checked(CDG_REGION_XPATH, paths[i]), ERR_SYNTAX);
    for (size_t i = 0; i < countof(selectors); i++)
        EXPECT_INT(checked(CDG_REGION_CSS, selectors[i]), ERR_SYNTAX);
    struct cdg_expr raw = {.op = CDG_LEAF, .leaf = in("any change", CDG_REGION_CSS, "p")};
    struct fault f;
    raw.leaf.raw = true;
    EXPECT_INT(cdg_check(&raw, (struct cdg_compare){CDG_PAIRWISE, 0}, &f), ERR_UNSUPPORTED);
}

TEST(any_tokens, "any row of XPath's words is read or refused, and what was read answers")
{
    static const char *const tokens[] = {"/", "//", "p", "li", "*", "@", "@class", "[", "]",
            "(", ")", ".", "..", "|", "and", "or", "not(", "=", "!=", "<", "+", "-", "div",
            "mod", "1", "2.5", "'x'", "text()", "node()", "last()", "position()", "count(",
            "string(",
            "::", "ancestor::", "following::", "preceding-sibling::", "self::", "substring(",
            ",", "concat(", "id(", "sum(", "translate(", "normalize-space("};
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct cdg_version *v = version_of(life, 1, page, "text/html");
    uint32_t state = 5;
    unsigned read = 0;
    for (int round = 0; round < 30000; round++) {
        SCRATCH struct arena *own = arena_new(NULL, "t");
        BUF(text, 1000);
        struct page_selector *s;
        struct page_digest *region;
        struct fault f = {.code = OK};
        bool found;
        for (unsigned n = 1 + round % 9; n > 0; n--) {
            state = state * 1664525u + 1013904223u;
            buf_printf(&text, "%s ", tokens[(state >> 12) % countof(tokens)]);
        }
        if (page_selector_new(own, PAGE_XPATH, buf_text(&text), &f, &s) != OK) {
            EXPECT(f.code == ERR_SYNTAX && f.message[0]);
            continue;
        }
        read++;
        REQUIRE(page_region(v->digest, s, own, &f, &region, &found) == OK);
        EXPECT(found == (region->nodes > 0));
    }
    EXPECT(read > 300);
}

TEST(bounded, "a test on the text of thousands of nested elements is given up, not waited for")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(deep, 1 << 22);
    for (int i = 0; i < 9000; i++)
        buf_puts(&deep, "<div>");
    for (int i = 0; i < 20000; i++)
        buf_puts(&deep, "text ");
    const struct cdg_finding *f = compare_leaf(life,
            in("any change", CDG_REGION_XPATH, "//*[contains(., 'nothing')]"), "<p>x",
            buf_text(&deep), "text/html");
    EXPECT_INT(f->result, CDG_U);
}

TEST_MAIN()
