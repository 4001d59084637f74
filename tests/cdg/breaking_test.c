/* More cases for each type, chosen to break it; reasoned from what the types mean. */
#include "tests/cdg/cdg_help.h"

struct example {
    const char *before, *after, *expected;
};

#define EXPECT_ALL(leaf, cases)                                                                \
    for (size_t case_ = 0; case_ < countof(cases); case_++)                                    \
    EXPECT_LEAF((leaf), (cases)[case_].before, (cases)[case_].after, (cases)[case_].expected)

#define D "http://x.org/d/"

TEST(images, "images: which addresses are images")
{
    static const struct example cases[] = {
            {"<img src=a.png>", "<img src=./a.png><img src=../d/a.png>", "N"},
            {"<img src=a.png>", "<IMG SRC='a.png'>", "N"},
            {"<img>", "<img src=''>", "+" D "p.html"},
            {"", "<img data-src=l.png>", "+" D "l.png"},
            {"<img src=a.png data-src=l.png>", "<img src=a.png data-src=m.png>", "N"},
            {"", "<img src='data:image/gif;base64,AA'>", "N"},
            {"", "<img src=' DATA:x' data-src=l.png>", "+" D "l.png"},
            {"", "<picture><source srcset=b.png><img src=a.png></picture>", "+" D "a.png"},
            {"", "<image src=a.png>", "+" D "a.png"},
            {"<input type=IMAGE src=g.png>", "<input type=text src=g.png>", "−" D "g.png"},
            {"", "<noscript><img src=a.png></noscript>", "N"},
            {"<a href=a.png>x</a>", "<a href=b.png>x</a>", "N"},
            {"<base href=/q/><img src=a.png>", "<img src=/q/a.png>", "N"},
            {"<img src=a.png#x>", "<img src=a.png#y>", "+" D "a.png#y −" D "a.png#x"},
            {"<img src='a b.png'>", "<img src=a%20b.png>", "N"},
    };
    EXPECT_ALL(leaf_of("images"), cases);
}

TEST(links, "links: what an address is")
{
    static const struct example cases[] = {
            {"<a href=a>", "<a href=./a><a href=b/../a>", "N"},
            {"<a href=//y.org/a>", "<a href=http://y.org:80/a>", "N"},
            {"", "<link rel=next href=n><area href=m>", "+" D "m +" D "n"},
            {"", "<a name=x>", "N"},
            {"", "<a href=tel:1><a href=data:x><a href=MAILTO:x@y>", "N"},
            {"<a href=/a?x=1&amp;y=2>", "<a href=/a?x=1&y=2>", "N"},
            {"<a href=/%61>", "<a href=/a>", "+http://x.org/a −http://x.org/%61"},
            {"", "<svg><a href=/s>x</a></svg>", "+http://x.org/s"},
            {"<form action=>", "<form>", "−" D "p.html"},
            {"", "<option value=https://y.org/q>", "+https://y.org/q"},
            {"", "<a href='ht\ntp://y.org/z'>", "+http://y.org/z"},
            {"<a href=http://x.org>", "<a href=http://X.ORG/>", "N"},
    };
    EXPECT_ALL(leaf_of("links"), cases);
}

TEST(words, "all words: what a word is")
{
    static const struct example cases[] = {
            {"a&nbsp;b", "a b", "N"},
            {"(a), [b]; \"c\"!", "a b c", "N"},
            {"x<sup>2</sup>", "x2", "N"},
            {"x<br>2", "x2", "+x2 −x −2"},
            {"50%", "50", "+50 −50%"},
            {"$5", "5", "N"},
            {"5€", "5", "+5 −5€"},
            {"don't", "dont", "+dont −don't"},
            {"-- ... !!", "", "N"},
            {"<title>t</title>x", "x", "−t"},
            {"<p title=alt>x", "<p title=other>x", "N"},
            {"caf&eacute;", "cafe\xCC\x81", "N"},
            {"<textarea>a b</textarea>", "a b", "N"},
            {"<select><option>a<option>b</select>", "b a", "N"},
    };
    EXPECT_ALL(leaf_of("all words"), cases);
    struct cdg_leaf counted = leaf_of("all words");
    counted.counted = true;
    EXPECT_LEAF(counted, "x x y", "x y y", "+y (1→2) −x (2→1)");
    EXPECT_LEAF(counted, "x y", "y x", "N");
}

static struct cdg_leaf keywords(const char *const *words, size_t n)
{
    struct cdg_leaf l = leaf_of("keywords");
    l.words = words;
    l.nwords = n;
    return l;
}

TEST(keywords, "keywords: case, rows, and what * stands for")
{
    static const char *const words[] = {"Stra\xC3\x9F"
                                        "e",
            "call for papers", "art*", "*art", "*art*", "new york"};
    static const struct example cases[] = {
            {"x", "STRASSE",
                    "+Stra\xC3\x9F"
                    "e"},
            {"call for", "Call for: \"papers\"", "+call for papers"},
            {"x", "call for<br>papers", "+call for papers"},
            {"x", "call for<b>pap</b>ers", "N"},
            {"x", "artist", "+art* +*art*"},
            {"x", "smart", "+*art +*art*"},
            {"x", "party", "+*art*"},
            {"artist", "artful", "N"},
            {"art", "start", "−art*"},
            {"New York", "York New", "−new york"},
            {"new york", "new<i> </i>york", "N"},
            {"new york new york", "new york", "N"},
            {"a new york b", "b a new york", "N"},
    };
    EXPECT_ALL(keywords(words, countof(words)), cases);
}

TEST(keyword_far, "keywords: a row that two changes made stands where nothing changed")
{
    static const char *const words[] = {"one two three four five six seven eight nine ten"};
    EXPECT_LEAF(keywords(words, 1),
            "<p>one two three four five</p><p>x</p><p>six seven eight nine ten</p>",
            "<p>one two three four five</p><p>six seven eight nine ten</p>",
            "+one two three four five six seven eight nine ten");
}

#define ROW(...) "<tr><td>" __VA_ARGS__
#define T(rows) "<table>" rows "</table>"

TEST(tables, "table: rows, cells and what is around them")
{
    static const struct example cases[] = {
            {T(ROW("a")), "<div>" T(ROW("a")) "</div>", "N"},
            {T(ROW("a<td>b")), T("<tr><td colspan=2>a<td align=left>b"), "N"},
            {T(ROW("a")), T("<caption>c</caption>" ROW("a")), "N"},
            {T(ROW("a")), T("<thead><tr><th>a</thead>"), "N"},
            {T(ROW("a") ROW("b")), T(ROW("a") ROW("") ROW("b")), "+"},
            {T(ROW("a<td>b<td>c")), T(ROW("a<td>b<td>d")), "~c→d"},
            {T(ROW("a<td>b")), T(ROW("a<td>b<td>c")), "~→c"},
            {T(ROW("a b")), T(ROW("a<td>b")), "+a b −a b"},
            {T(ROW("a") ROW("a")), T(ROW("a")), "−a"},
            {T(ROW("x")) T(ROW("y")), T(ROW("x")) T(ROW("z")), "N"},
            {"<p>x", "<p>y", "U: there is no such table"},
            {"<p>x", T(ROW("a")), "+table appeared"},
            {T(ROW("a<p>b</p>")), T(ROW("a b")), "N"},
            {T(""), T(""), "N"},
            {T("<td>a<td>b"), T(ROW("a<td>b")), "N"},
    };
    EXPECT_ALL(leaf_of("table"), cases);
}

TEST(lists, "list: items and what is around them")
{
    static const struct example cases[] = {
            {"<ul><li>a</ul>", "<ol><li>a</ol>", "N"},
            {"<ul><li>a<ul><li>b</ul></ul>", "<ul><li>a<ul><li>b<li>c</ul></ul>", "~a b→a b c"},
            {"<dl><dt>a<dd>b</dl>", "<dl><dt>a<dd>c</dl>", "+c −b"},
            {"<ul><li>a<li>a</ul>", "<ul><li>a</ul>", "−a"},
            {"<ul></ul>", "<ul><li>a</ul>", "+a"},
            {"<ul><li>a</ul>", "<ul>a</ul>", "−a"},
            {"<ul><li>one two<li>x</ul>", "<ul><li>x<li>one two</ul>", "»one two"},
            {"<ul><li>one two three four</ul>", "<ul><li>one two five six</ul>",
                    "~one two three four→one two five six"},
            {"<ul><li>one two three</ul>", "<ul><li>one four five</ul>",
                    "+one four five −one two three"},
            {"<ul><li><a href=x>a</a></ul>", "<ul><li><a href=y>a</a></ul>", "N"},
            {"<menu><li>a</menu>", "<menu><li>b</menu>", "U: there is no such list"},
            {"<ul><li>b c<li>a</ul>", "<ul><li>a<li>b d</ul>", "+b d −b c"},
    };
    EXPECT_ALL(leaf_of("list"), cases);
}

TEST(structures, "structure: the shape and nothing else")
{
    static const struct example cases[] = {
            {"<p>a", "<h1 id=x>b", "N"},
            {"<p>a<p>b", "<p>a<h2>b</h2>", "N"},
            {"<p>a", "<p>", "~1 children→0 children"},
            {"<p>a<!--x-->", "<p>a", "N"},
            {"<p>a<script>x</script>", "<p>a", "N"},
            {"<p>a</p>", "<p> a </p>\n", "N"},
            {"<p>a <b>b</b></p>", "<p>a <i>b</i></p>", "N"},
    };
    EXPECT_ALL(leaf_of("structure"), cases);
    static const struct example differ[] = {
            {"<div><p>a</div>", "<div></div><p>a", ""},
            {"<p>ab", "<p>a<br>b", ""},
            {"", "<p>", ""},
    };
    for (size_t i = 0; i < countof(differ); i++) {
        SCRATCH struct arena *life = arena_new(NULL, "t");
        EXPECT_INT(compare_leaf(life, leaf_of("structure"), differ[i].before, differ[i].after,
                           "text/html")
                           ->result,
                CDG_C);
    }
}

TEST(tags, "tags: names in their order")
{
    static const struct example cases[] = {
            {"<p>a", "<P>b", "N"},
            {"<p><b>a</b></p>", "<p><i>a</i></p>", "+<i> −<b>"},
            {"<p>a<p>b", "<p>a<div>b", "+<div> −<p>"},
            {"<p a=1>x", "<p b=2>x", "N"},
            {"<p>x", "<p>x<hr>", "+<hr>"},
            {"<hr><p>x", "<p>x<hr>", "»<hr>"},
            {"<x-a>t</x-a>", "<x-b>t</x-b>", "+<x-b> −<x-a>"},
            {"<img src=a><br>", "<img src=b><br>", "N"},
            {"<image>", "<img>", "N"},
            {"<p>a<style>x</style>", "<p>a", "N"},
    };
    EXPECT_ALL(leaf_of("tags"), cases);
}

TEST(attributes, "attributes: names and values, place by place")
{
    static const struct example cases[] = {
            {"<p a=1 b=2>x", "<p b='2' A=\"1\">x", "N"},
            {"<p a=1>x", "<p>x", "~a=\"1\"→"},
            {"<p>x", "<p a>x", "~→a=\"\""},
            {"<p title=' a  b '>x", "<p title='a b'>x", "N"},
            {"<p a=x>x", "<p a=X>x", "~a=\"x\"→a=\"X\""},
            {"<p a=1>x</p><p>y", "<p>x</p><p a=1>y", "~a=\"1\"→ ~→a=\"1\""},
            {"<p a=1>x", "<h1 a=1>x", "N"},
            {"<p a=1 a=2>x", "<p a=1>x", "N"},
            {"<p title='&eacute;'>x", "<p title='\xC3\xA9'>x", "N"},
            {"<p a=1>x", "<p a=1>other", "N"},
            {"<script a=1></script><p>x", "<p>x", "N"},
            {"<p a<b=1>x", "<p a a<b=1>x", "~→a=\"\""}, /* "<" comes before "=" */
            {"<p =a=1>x", "<p =a=2>x", "~=a=\"1\"→=a=\"2\""},
    };
    EXPECT_ALL(leaf_of("attributes"), cases);
}

TEST(contents, "content: texts in their order")
{
    static const struct example cases[] = {
            {"<p>a", "<div>a</div>", "N"},
            {"<p>a b", "<p>a <b>b</b>", "+b ~a b→a "},
            {"<p>a<p>b", "<p>b<p>a", "»a"},
            {"<p>a<p>a", "<p>a", "−a"},
            {"<p>one two three<p>x", "<p>one two four<p>x", "~one two three→one two four"},
            {"<p>a\n\n b", "<p>a b", "N"},
            {"<p>&lt;b&gt;", "<p>&lt;i&gt;", "+<i> −<b>"},
            {"<p>a&#x41;", "<p>aA", "N"},
            {"<title>a</title><p>b", "<title>c</title><p>b", "+c −a"},
            {"<p hidden>a", "<p>a", "N"},
    };
    EXPECT_ALL(leaf_of("content"), cases);
}

TEST(regexps, "regexp on the text: matches in their order")
{
    struct cdg_leaf l = leaf_of("regexp");
    l.text = "[A-Z]\\w+: (\\d+)";
    l.on_text = true;
    static const struct example cases[] = {
            {"<p>Total: 5", "<p>Total: <b>5</b>", "N"},
            {"<p>Total: 5", "<p>Sum: 5", "N"},
            {"<p>Total: 5<p>Rest: 6", "<p>Rest: 6<p>Total: 5", "»5"},
            {"<p>Total: 5", "<p>Total: 5<p>More: 5", "+5"},
            {"<p>Total: 5", "<p>total: 5", "−5"},
            {"<p>Total:<br>5", "<p>Total: 5", "+5"},
            {"<p>x", "<p>y", "N"},
            {"<p>\xC3\x84nd: 5", "<p>\xC3\x84nd: 6", "N"},
            {"<p title='Total: 5'>x", "<p title='Total: 6'>x", "N"},
            {"<p>Total: 5", "<div>Total: 55</div>", "+55 −5"},
    };
    EXPECT_ALL(l, cases);
}

TEST(any, "any change: what can be seen of a page")
{
    static const struct example cases[] = {
            {"<p>a<p>b", "<p>b<p>a", "»a"},
            {"<p>a</p>", "<p>a", "N"},
            {"<p>a<b></b>", "<p>a", "~<b>→"},
            {"<table><tr><td>a</table>", "<table><tbody><tr><td>a</table>", "~→<tbody>"},
            {"<p style='x'>a", "<p style=x>a", "N"},
            {"<P>a", "<p>a", "N"},
            {"<p>a<noscript>b</noscript>", "<p>a", "N"},
            {"<p>a<template><p>b</template>", "<p>a", "N"},
            {"&amp;", "&", "N"},
            {"<p>a b", "<p>a\tb", "N"},
            {"<a href=x>a</a>", "<a href='x'>a</a>", "N"},
            {"<p>a<br>b", "<p>a<br/>b", "N"},
    };
    EXPECT_ALL(leaf_of("any change"), cases);
}

TEST(thresholds, "CHANGED: at the border and beyond it")
{
    struct cdg_leaf l = leaf_of("all words");
    l.changed_over = true;
    l.percent = 50;
    EXPECT_LEAF(l, "a b c d", "a b x y", "N");
    l.at_least = true;
    EXPECT_LEAF(l, "a b c d", "a b x y", "+x +y −c −d");
    l.at_least = false;
    l.percent = 49.9;
    EXPECT_LEAF(l, "a b c d", "a b x y", "+x +y −c −d");
    l = leaf_of("links");
    l.changed_over = true;
    l.percent = 30;
    EXPECT_LEAF(l, "<a href=1><a href=2><a href=3>", "<a href=1><a href=2><a href=3><a href=4>",
            "N");
    l.percent = 0;
    EXPECT_LEAF(l, "<a href=1>", "<a href=1><a href=2>", "+" D "2");
}

TEST_MAIN()
