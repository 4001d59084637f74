/* Malformed and ordinary HTML, reasoned from the HTML standard. */
#include "tests/page/page_help.h"

TEST(example, "the example of the page digest")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char page[] = "<div><p id=a>one</p><p>two</p></div>";
    CLEANUP(made_done) struct made m = make(life, page, sizeof page - 1, "text/html");
    REQUIRE(m.d && m.d->nodes == 5 && m.d->texts == 2);
    static const uint32_t children[] = {2, 1, 0, 1, 0};
    static const char *const tags[] = {"div", "p", "#text", "p", "#text"};
    for (uint32_t i = 0; i < 5; i++) {
        EXPECT_INT(m.d->children[i], children[i]);
        EXPECT_TEXT(page_tag_name(m.d, m.d->tags[i]).ptr, tags[i]);
    }
    EXPECT_INT(m.d->attr_at[1], 0);
    EXPECT_INT(m.d->attr_at[2], 1);
    EXPECT_TEXT(page_attr_name(m.d, 0).ptr, "id");
    EXPECT_TEXT(page_attr_value(m.d, 0).ptr, "a");
    EXPECT_INT(m.d->text_node[0], 2);
    EXPECT_INT(m.d->text_node[1], 4);
    EXPECT_TEXT(page_text(m.d, 1).ptr, "two");
}

TEST(comments, "comments end where the standard says")
{
    EXPECT_TREE("a<!-->b", "\"ab\"");
    EXPECT_TREE("a<!--->b", "\"ab\"");
    EXPECT_TREE("a<!-- x --!>b", "\"ab\"");
    EXPECT_TREE("a<!-- x -- y -->b", "\"ab\"");
    EXPECT_TREE("a<!-- x --->b", "\"ab\"");
    EXPECT_TREE("a<!-- x > y", "\"a\"");
    EXPECT_TREE("a<!-- <p> -->b<!--c-->d", "\"abd\"");
}

TEST(bogus, "what looks like a declaration is dropped up to the next >")
{
    EXPECT_TREE("<!doctype html><p>x", "p(\"x\")");
    EXPECT_TREE("a<?php echo 1 ?>b", "\"ab\"");
    EXPECT_TREE("a</ x>b", "\"ab\"");
    EXPECT_TREE("a</>b", "\"ab\"");
    EXPECT_TREE("a<![CDATA[x]]>b", "\"ab\"");
    EXPECT_TREE("a<!ELEMENT x>b", "\"ab\"");
}

TEST(foreign_cdata, "CDATA is text in foreign content only")
{
    EXPECT_TREE("<svg><text><![CDATA[a<b]]></text></svg>", "svg(text(\"a<b\"))");
    EXPECT_TREE("<svg></svg>a<![CDATA[b]]>c", "svg \"ac\"");
    /* 13.2.5.42: the seven characters are matched exactly; anything else is a bogus comment,
     * which ends at the next ">". */
    EXPECT_TREE("<svg><text>a<![cdata[b<i>c]]></text></svg>", "svg(text(\"ac]]>\"))");
    EXPECT_TREE("<svg><text><![CData[b>c</text></svg>", "svg(text(\"c\"))");
}

TEST(less_than, "a < that begins nothing is text")
{
    EXPECT_TREE("1 < 2 <3 <", "\"1 < 2 <3 <\"");
    EXPECT_TREE("a<>b", "\"a<>b\"");
}

TEST(unfinished, "a tag that the page does not end is no tag")
{
    EXPECT_TREE("a<p", "\"a\"");
    EXPECT_TREE("a<p class=\"x", "\"a\"");
    EXPECT_TREE("a</p", "\"a\"");
}

TEST(title, "the content of title and textarea is text")
{
    EXPECT_TREE("<title>a <b>c</b> &amp; d</title>x", "title(\"a <b>c</b> & d\") \"x\"");
    EXPECT_TREE("<textarea><p>x</textarea>", "textarea(\"<p>x\")");
    EXPECT_TREE("<textarea>a</texta</TEXTAREA >b", "textarea(\"a</texta\") \"b\"");
    EXPECT_TREE("<title>open", "title(\"open\")");
}

TEST(scripts, "scripts, styles, noscripts and templates leave no trace")
{
    EXPECT_TREE("a<script>'</p>' <b></script>b", "\"ab\"");
    EXPECT_TREE("a<script><!-- <script> </script> --></script>b", "\"ab\"");
    EXPECT_TREE("a<style>p{}</style><noscript><p>x</noscript>b", "\"ab\"");
    EXPECT_TREE("a<template><p>x</p><template>y</template>z</template>b", "\"ab\"");
    EXPECT_TREE("a<script nonce=1>x", "\"a\"");
    EXPECT_TREE("a</script>b", "\"ab\"");
    EXPECT_TREE("a<SCRIPT>x</Script\n>b", "\"ab\"");
}

TEST(raw_text, "the content of iframe and xmp is text, plaintext never ends")
{
    EXPECT_TREE("<xmp><b>x</xmp>y", "xmp(\"<b>x\") \"y\"");
    EXPECT_TREE("<iframe><p></iframe>", "iframe(\"<p>\")");
    EXPECT_TREE("<plaintext>a<b></plaintext>", "plaintext(\"a<b></plaintext>\")");
}

TEST(named, "named references of HTML 5, also without a semicolon where that is allowed")
{
    EXPECT_TREE("&check;&lbrace;", "\"\xE2\x9C\x93{\"");
    EXPECT_TREE("&copy 2024 &copyx", "\"\xC2\xA9 2024 \xC2\xA9x\"");
    EXPECT_TREE("&notit; &notin;", "\"\xC2\xACit; \xE2\x88\x89\"");
    EXPECT_TREE("&check &nosuch; & &;", "\"&check &nosuch; & &;\"");
    EXPECT_TREE("&amp;amp; &AMP &lt;p&gt;", "\"&amp; & <p>\"");
    EXPECT_TREE("&nbsp;x&nbsp;&nbsp;y", "\"x y\"");
}

TEST(numbers, "numeric references never yield what is no character")
{
    EXPECT_TREE("&#65;&#x42;&#X43&#68x", "\"ABCDx\"");
    EXPECT_TREE("&#128;&#x99;", "\"\xE2\x82\xAC\xE2\x84\xA2\"");
    EXPECT_TREE("&#0;&#xD800;&#x110000;&#99999999999;",
            "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
    EXPECT_TREE("&#;&#x;&#xg", "\"&#;&#x;&#xg\"");
}

TEST(in_attributes, "references in attributes leave addresses alone")
{
    EXPECT_TREE(
            "<a href='?a=1&copy=2&lt=3&reg'>x", "a@href=\"?a=1&copy=2&lt=3\xC2\xAE\"(\"x\")");
    EXPECT_TREE("<a title='&eacute;&#39;\"'>x", "a@title=\"\xC3\xA9'\"\"(\"x\")");
}

TEST(attributes, "attributes are read as the standard reads them")
{
    EXPECT_TREE("<p B=2 a='1' c>x", "p@a=\"1\"@b=\"2\"@c=\"\"(\"x\")");
    EXPECT_TREE("<p a=1 a=2 A=3>x", "p@a=\"1\"(\"x\")");
    EXPECT_TREE("<p a=x/y/>z", "p@a=\"x/y/\"(\"z\")");
    EXPECT_TREE("<p/a/b=1>z", "p@a=\"\"@b=\"1\"(\"z\")");
    EXPECT_TREE("<p =x a = b>z", "p@=x=\"\"@a=\"b\"(\"z\")");
    EXPECT_TREE("<p a=>z", "p@a=\"\"(\"z\")");
    EXPECT_TREE("<p a=\"x\"b='y'>z", "p@a=\"x\"@b=\"y\"(\"z\")");
    EXPECT_TREE("<p title='  a \n b '>z", "p@title=\"a b\"(\"z\")");
    EXPECT_TREE("<p @click=f [x]=y #r *if=z>t",
            "p@#r=\"\"@*if=\"z\"@@click=\"f\"@[x]=\"y\"(\"t\")");
    EXPECT_TREE("<p a=`x\"y`>z", "p@a=\"`x\"y`\"(\"z\")");
}

TEST(optional_ends, "end tags that may be left out may be left out")
{
    EXPECT_TREE("<ul><li>a<li>b</ul>c", "ul(li(\"a\") li(\"b\")) \"c\"");
    EXPECT_TREE("<p>a<p>b<div>c</div>", "p(\"a\") p(\"b\") div(\"c\")");
    EXPECT_TREE("<dl><dt>a<dd>b<dt>c</dl>", "dl(dt(\"a\") dd(\"b\") dt(\"c\"))");
    EXPECT_TREE("<table><tr><td>a<td>b<tr><th>c</table>d",
            "table(tr(td(\"a\") td(\"b\")) tr(th(\"c\"))) \"d\"");
    EXPECT_TREE("<select><option>a<option>b</select>", "select(option(\"a\") option(\"b\"))");
}

TEST(voids, "void elements have no content, whatever their end tags say")
{
    EXPECT_TREE("<p>a<br>b<br/>c</br>d", "p(\"a\" br \"b\" br \"c\" br \"d\")");
    EXPECT_TREE("<img src=x>a</img>b", "img@src=\"x\" \"ab\"");
    EXPECT_TREE("<video><source src=a><track>x</video>y",
            "video(source@src=\"a\" track \"x\") \"y\"");
    EXPECT_TREE("a<wbr>b<embed>c", "\"a\" wbr \"b\" embed \"c\"");
}

TEST(self_closing, "only foreign elements close themselves")
{
    EXPECT_TREE("<div/>a<p/>b", "div(\"a\" p(\"b\"))");
    EXPECT_TREE("<svg><g/><path d=x /></svg>a", "svg(g path@d=\"x\") \"a\"");
    EXPECT_TREE("<svg/>a", "svg \"a\"");
}

TEST(frame, "html, head and body are what the page wrote, once")
{
    EXPECT_TREE("<html lang=en><head><title>t</title></head><body id=b><p>x</body></html>y",
            "html@lang=\"en\"(head(title(\"t\")) body@id=\"b\"(p(\"xy\")))");
}

TEST(head_ends, "the head ends at the first thing that does not belong there")
{
    EXPECT_TREE("<head><title>t</title><p>x", "head(title(\"t\")) p(\"x\")");
    EXPECT_TREE("<head><meta name=a>text<p>x", "head(meta@name=\"a\") \"text\" p(\"x\")");
    EXPECT_TREE("<html><head><link href=/x></head><div>y</div></html>",
            "html(head(link@href=\"/x\") div(\"y\"))");
    EXPECT_TREE("<body>a<body class=x>b<html lang=q>c<head>d",
            "html@lang=\"q\"(body@class=\"x\"(\"abcd\"))");
    EXPECT_TREE("<body class=x id=i>a<body class=y lang=de>b",
            "body@class=\"x\"@id=\"i\"@lang=\"de\"(\"ab\")");
    EXPECT_TREE("<head></head><title>late</title><body>x", "head(title(\"late\")) body(\"x\")");
}

TEST(misnesting, "text survives misnested and unknown tags")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char *const pages[] = {"<b>1<i>2</b>3</i>4", "</div></p>1234</span>",
            "<table>1<td>2</table>34", "<p><table>1</p>2</table>34", "<a>1<a>2<a>3</a>4",
            "<x-y>1<foo:bar>2</foo:bar>3</x-y>4", "<form>1<form>2</form>3</form>4",
            "<ul>1<ol>2</ul>3</ol>4", "<h1>1<h2>2</h1>3</h2>4", "<button>1<p>2</button>3</p>4",
            "<ol><ul>1</ul>2</ol><pre>3<listing>4", "<select>1<p>2</select><frameset>34"};
    for (size_t i = 0; i < countof(pages); i++) {
        CLEANUP(made_done) struct made m = make(life, pages[i], strlen(pages[i]), "text/html");
        BUF(text, 1000);
        REQUIRE(m.d);
        for (uint32_t t = 0; t < m.d->texts; t++)
            buf_puts(&text, page_text(m.d, t).ptr);
        EXPECT_TEXT(buf_text(&text), "1234");
    }
}

TEST(formatting, "formatting that was closed too early is opened again")
{
    EXPECT_TREE("<b>1<i>2</b>3</i>4", "b(\"1\" i(\"2\")) i(\"3\") \"4\"");
    EXPECT_TREE("<p><b>1</p><p>2</b>3", "p(b(\"1\")) p(b(\"2\") \"3\")");
    EXPECT_TREE("<b>1<p>2</b>3</p>", "b(\"1\") p(b(\"2\") \"3\")");
    EXPECT_TREE("<a href=1>x<a href=2>y", "a@href=\"1\"(\"x\") a@href=\"2\"(\"y\")");
    EXPECT_TREE("<a>1<div>2<a>3", "a(\"1\") div(a(\"2\") a(\"3\"))");
    EXPECT_TREE("<p><b><b><b><b>x<p>y", "p(b(b(b(b(\"x\"))))) p(b(b(b(\"y\"))))");
    EXPECT_TREE("<font><p>a</font>b", "font p(font(\"a\") \"b\")");
}

TEST(tables, "what does not belong into a table stands before it")
{
    EXPECT_TREE("<table>x<tr><td>y</table>", "\"x\" table(tr(td(\"y\")))");
    EXPECT_TREE("<table><td>a<td>b</table>", "table(tr(td(\"a\") td(\"b\")))");
    EXPECT_TREE("<table><p>x<tr><td>y</table>z", "p(\"x\") table(tr(td(\"y\"))) \"z\"");
    EXPECT_TREE("<table><tbody><tr><td>a</tbody><tfoot><tr><td>b</table>",
            "table(tbody(tr(td(\"a\"))) tfoot(tr(td(\"b\"))))");
    EXPECT_TREE("<table><caption>c<tr><td>d</table>", "table(caption(\"c\") tr(td(\"d\")))");
    EXPECT_TREE("<table><col span=2><tr><td>d</table>", "table(col@span=\"2\" tr(td(\"d\")))");
    EXPECT_TREE("<table><tr><td><table><tr><td>in</table>out</table>",
            "table(tr(td(table(tr(td(\"in\"))) \"out\")))");
    EXPECT_TREE("<table><tr><td>a</div>b</table>", "table(tr(td(\"ab\")))");
    EXPECT_TREE("<!doctype html><p>a<table></table>b", "p(\"a\") table \"b\"");
    EXPECT_TREE("<td>a</td><td>b</td>", "\"ab\"");
}

TEST(scopes, "an end tag closes what is in its scope, and nothing else")
{
    EXPECT_TREE("<div><span>a</div>b", "div(span(\"a\")) \"b\"");
    EXPECT_TREE("<p><button>a</p>b</button>c", "p(button(\"a\" p \"b\") \"c\")");
    EXPECT_TREE("<ul><li>a<ul></li><li>b</ul>c", "ul(li(\"a\" ul(li(\"b\")) \"c\"))");
    EXPECT_TREE("<h1>a</h2>b", "h1(\"a\") \"b\"");
    EXPECT_TREE("<h1>a<h2>b", "h1(\"a\") h2(\"b\")");
    EXPECT_TREE("<div>a</p>b</div>", "div(\"a\" p \"b\")");
    EXPECT_TREE("<form><div>a</form>b</div>c", "form(div(\"ab\")) \"c\"");
    EXPECT_TREE("<object><p>a</object>b", "object(p(\"a\")) \"b\"");
    EXPECT_TREE("<ruby>a<rt>b<rp>c</ruby>", "ruby(\"a\" rt(\"b\") rp(\"c\"))");
}

TEST(foreign, "SVG and MathML end where HTML begins again")
{
    EXPECT_TREE("<svg><g>a<p>b", "svg(g(\"a\")) p(\"b\")");
    EXPECT_TREE("<svg><foreignObject><p>a</p></foreignObject></svg>b",
            "svg(foreignobject(p(\"a\"))) \"b\"");
    EXPECT_TREE("<math><mi>x<b>y</b></mi></math>", "math(mi(\"x\" b(\"y\")))");
    EXPECT_TREE("<svg><title>a <b>c</svg>", "svg(title(\"a \" b(\"c\")))");
    EXPECT_TREE("<svg><script/>a</svg>b", "svg(\"a\") \"b\"");
    EXPECT_TREE("<span><math><mi>a</span>b", "span(math(mi(\"ab\")))");
    EXPECT_TREE("<span><svg><desc>a</span>b", "span(svg(desc(\"ab\")))");
    EXPECT_TREE("<span><svg><g>a</span>b", "span(svg(g(\"a\"))) \"b\"");
    EXPECT_TREE("<a><svg><desc><a>x", "a(svg(desc(a(\"x\"))))");
    EXPECT_TREE("<svg></p>a", "svg p \"a\"");
}

TEST(foreign_left_out,
        "what is left out in SVG is left out as markup, up to where it ends there")
{
    EXPECT_TREE("<svg><style></svg>a", "svg \"a\"");
    EXPECT_TREE("<svg><style><p>a</svg>b", "svg p(\"ab\")");
    EXPECT_TREE("<svg><style>.a{}</style><g/></svg>b", "svg(g) \"b\"");
    EXPECT_TREE("<svg><style>a<![CDATA[</style>]]>b</style><g/></svg>c", "svg(g) \"c\"");
    EXPECT_TREE("<svg><style/><script href=x /><g/></svg>a", "svg(g) \"a\"");
    EXPECT_TREE("<svg><template/></svg>a", "svg \"a\"");
    EXPECT_TREE("<svg><template><g/></template>a</svg>b", "svg(\"a\") \"b\"");
    EXPECT_TREE("<svg><script><g>x</g></script>a</svg>b", "svg(\"a\") \"b\"");
    EXPECT_TREE("<svg><desc><style></svg></style>a</desc></svg>b", "svg(desc(\"a\")) \"b\"");
    EXPECT_TREE("<svg><desc><script/>x</script>a", "svg(desc(\"a\"))");
    EXPECT_TREE("<math><style></math>a", "math \"a\"");
    EXPECT_TREE("<math><mi><style></math></style>a", "math(mi(\"a\"))");
}

TEST(framesets, "a frameset stands in place of the body, with nothing but frames in it")
{
    EXPECT_TREE("<html><head><title>T</title></head><frameset cols='1,*'><frame src=a.html>"
                "<frame name=b src=b.html></frameset></html>",
            "html(head(title(\"T\")) frameset@cols=\"1,*\"(frame@src=\"a.html\" "
            "frame@name=\"b\"@src=\"b.html\"))");
    EXPECT_TREE(
            "<frameset><frameset><frame></frameset>x<b>y</b><frame src=z></frameset><frame>x"
            "<noframes>old <p></noframes><p>x",
            "frameset(frameset(frame) frame@src=\"z\") noframes(\"old <p>\")");
    EXPECT_TREE("<a></a> <frameset><frame>", "frameset(frame)"); /* nothing was shown yet */
    EXPECT_TREE("<input type=hidden><frameset><frame>", "frameset(frame)");
    EXPECT_TREE("x<frameset><frame>y", "\"xy\"");
    EXPECT_TREE("<body><frameset><frame></frameset>y", "body(\"y\")");
    EXPECT_TREE("<img><frameset><frame>y", "img \"y\"");
    EXPECT_TREE("<svg>x</svg><frameset><frame>y", "svg(\"x\") \"y\"");
    EXPECT_TREE("<p>x<frame src=a>y", "p(\"xy\")");
    EXPECT_TREE("<frameset id=a><html lang=x><frame></html><frame>",
            "html@lang=\"x\"(frameset@id=\"a\"(frame frame))");
}

static char *frames_of(struct arena *life, const char *source, const char *content_type)
{
    CLEANUP(made_done) struct made m = make(life, source, strlen(source), content_type);
    struct page_frame *frames = NULL;
    BUF(out, 1 << 16);

    size_t n = m.d ? page_frames(m.d, life, &frames) : 0;
    for (size_t i = 0; i < n; i++) {
        EXPECT_TEXT(page_tag_name(m.d, m.d->tags[frames[i].node]).ptr, "frame");
        buf_printf(&out, "%s%s", i ? " " : "", frames[i].url);
    }
    return arena_strdup(life, buf_text(&out));
}

TEST(frame_pages, "the pages of frames are known in their order, nested framesets included")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    EXPECT_TEXT(
            frames_of(life,
                    "<base href='/sub/'><frameset><frame src=a><frameset><frame src='../b?c'>"
                    "<frame></frameset><frame src='about:blank'><frame src=a></frameset>",
                    "text/html"),
            "http://x.org/sub/a http://x.org/b?c http://x.org/sub/a");
    EXPECT_TEXT(frames_of(life, "<p>x<frameset><frame src=a>", "text/html"), "");
    EXPECT_TEXT(frames_of(life,
                        "<html xmlns='http://www.w3.org/1999/xhtml'><frameset><frame "
                        "src='a'/></frameset></html>",
                        "application/xhtml+xml"),
            "http://x.org/d/a");
    EXPECT_TEXT(frames_of(life, "<film><frameset><frame src='a'/></frameset></film>",
                        "application/xml"),
            "");
}

TEST(quirks, "a table ends a paragraph only in a page that has a doctype of this century")
{
    EXPECT_TREE("<p>a<table>", "p(\"a\" table)");
    EXPECT_TREE("<!doctype html><p>a<table>", "p(\"a\") table");
    EXPECT_TREE(" <!-- c --><?xml version='1.0'?><!DOCTYPEhtml><p>a<table>", "p(\"a\") table");
    EXPECT_TREE("x<!doctype html><p>a<table>", "\"x\" p(\"a\" table)");
    EXPECT_TREE("<script></script><!doctype html><p>a<table>", "p(\"a\" table)");
    EXPECT_TREE("<!doctype html><!doctype x><p>a<table>", "p(\"a\") table");
    EXPECT_TREE("<!doctype><p>a<table>", "p(\"a\" table)");
    EXPECT_TREE("<!doctype other><p>a<table>", "p(\"a\" table)");
    EXPECT_TREE("<!doctype html junk><p>a<table>", "p(\"a\" table)");
    EXPECT_TREE("<!doctype html SYSTEM 'about:legacy-compat'><p>a<table>", "p(\"a\") table");
    EXPECT_TREE("<!doctype html SYSTEM><p>a<table>", "p(\"a\" table)");
    EXPECT_TREE("<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.01 Transitional//EN'><p>a<table>",
            "p(\"a\" table)");
    EXPECT_TREE("<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\" "
                "\"http://www.w3.org/TR/html4/loose.dtd\"><p>a<table>",
            "p(\"a\") table");
    EXPECT_TREE("<!DOCTYPE HTML PUBLIC '-//w3c//dtd html 4.0 transitional//EN' 'x'><p>a<table>",
            "p(\"a\" table)");
    EXPECT_TREE("<!DOCTYPE HTML PUBLIC 'HTML' 'x' y><p>a<table>", "p(\"a\" table)");
    EXPECT_TREE("<!DOCTYPE HTML PUBLIC 'other' 'x' y><p>a<table>", "p(\"a\") table");
    EXPECT_TREE("<!DOCTYPE HTML PUBLIC 'no end><p>a<table>", "p(\"a\" table)");
}

TEST(spaces, "white space is what a browser shows of it")
{
    EXPECT_TREE("<p> a  b </p> <p>\n</p>", "p(\"a b\") p");
    EXPECT_TREE("<p>x <b>y</b> z</p>", "p(\"x \" b(\"y\") \" z\")");
    EXPECT_TREE("<p>x<b> y </b> z</p>", "p(\"x\" b(\" y \") \"z\")");
    EXPECT_TREE("<p>x <b> </b> y</p>", "p(\"x \" b \"y\")");
    EXPECT_TREE("<p>x<b> </b></p>", "p(\"x\" b)");
    EXPECT_TREE("<p>x<b> </b><i></i></p><p>y</p>", "p(\"x\" b i) p(\"y\")");
    EXPECT_TREE("<p>x<b> </b>y</p>", "p(\"x\" b(\" \") \"y\")");
    EXPECT_TREE("<p>a <br> b</p>", "p(\"a\" br \"b\")");
    EXPECT_TREE("<b>a</b> <b>b</b>", "b(\"a\") \" \" b(\"b\")");
    EXPECT_TREE("a\r\nb\tc\fd", "\"a b c d\"");
}

TEST(controls, "control characters and zero bytes are not text")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char page[] = "<p>a\0b\x01"
                               "c\x0B"
                               "d\x7F\xEF\xBF\xBF</p><p x\0y=1>z";
    CLEANUP(made_done)
    struct made m = make(life, page, sizeof page - 1, "text/html; charset=utf-8");
    EXPECT_TEXT(show(life, m.d), "p(\"abcd\x7F\") p@x_y=\"1\"(\"z\")");
}

TEST(depth, "nesting is kept at 300 and 3,000 levels and refused at 100,000")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const int depths[] = {300, 3000, 9999};
    for (size_t i = 0; i < countof(depths); i++) {
        BUF(page, 1 << 24);
        for (int k = 0; k < depths[i]; k++)
            buf_puts(&page, "<div>");
        buf_puts(&page, "deep");
        CLEANUP(made_done) struct made m = make(life, page.data, page.len, "text/html");
        REQUIRE(m.d);
        EXPECT_INT(m.d->nodes, depths[i] + 1);
        EXPECT_TEXT(page_text(m.d, 0).ptr, "deep");
    }
    BUF(page, 1 << 24);
    for (int k = 0; k < 100000; k++)
        buf_puts(&page, "<div>");
    CLEANUP(made_done) struct made m = make(life, page.data, page.len, "text/html");
    EXPECT(!m.d && m.f.code == ERR_LIMIT);
}

TEST(many_attributes, "a thousand attributes are read, a hundred thousand are refused at once")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char *const types[] = {"text/html", "application/xml"};
    for (size_t t = 0; t < countof(types); t++)
        for (int n = 1000; n <= 100000; n *= 100) {
            BUF(page, 1 << 24);
            buf_puts(&page, "<p");
            for (int k = 0; k < n; k++)
                buf_printf(&page, " a%d='1'", k);
            buf_puts(&page, ">x</p>");
            CLEANUP(made_done) struct made m = make(life, page.data, page.len, types[t]);
            if (n == 1000)
                EXPECT(m.d && m.d->attributes == 1000);
            else
                EXPECT(!m.d && m.f.code == ERR_LIMIT);
        }
}

TEST(tangled, "a million end tags under thousands of open elements are not waited for")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char *const tags[][2] = {{"<i>", "</b>"}, {"<x-a>", "</x-b>"}};
    for (size_t i = 0; i < countof(tags); i++) {
        BUF(page, 1 << 24);
        for (int k = 0; k < 9000; k++)
            buf_puts(&page, tags[i][0]);
        for (int k = 0; k < 1000000; k++)
            buf_puts(&page, tags[i][1]);
        CLEANUP(made_done) struct made m = make(life, page.data, page.len, "text/html");
        EXPECT(m.d ? m.d->nodes == 9000 : m.f.code == ERR_LIMIT);
    }
}

TEST(many_nodes, "a page of millions of elements is refused")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(page, 1 << 24);
    for (int k = 0; k < 1100000; k++)
        buf_puts(&page, "<p>");
    CLEANUP(made_done) struct made m = make(life, page.data, page.len, "text/html");
    EXPECT(!m.d && m.f.code == ERR_LIMIT);
    EXPECT(strstr(m.f.message, "elements and texts") != NULL);
}

TEST(long_things, "long names, values and texts are kept")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(page, 1 << 24);
    buf_puts(&page, "<p title='");
    for (int k = 0; k < 100000; k++)
        buf_puts(&page, "abcdefghij");
    buf_puts(&page, "'>");
    for (int k = 0; k < 100000; k++)
        buf_puts(&page, "klmnopqrst");
    CLEANUP(made_done) struct made m = make(life, page.data, page.len, "text/html");
    REQUIRE(m.d);
    EXPECT_INT(page_attr_value(m.d, 0).len, 1000000);
    EXPECT_INT(page_text(m.d, 0).len, 1000000);
}

TEST(small_room, "a digest that does not fit is a fault, not a shortened digest")
{
    struct page_source src = {"<p>some text that needs room", 28, "text/html", BASE_URL};
    BUF(out, 200);
    struct fault f;
    EXPECT_INT(page_digest_make(&src, &out, &f), ERR_LIMIT);
}

TEST(nfc, "composed and decomposed letters are the same text")
{
    EXPECT_TREE("<p title='e\xCC\x81'>e\xCC\x81</p>", "p@title=\"\xC3\xA9\"(\"\xC3\xA9\")");
    EXPECT_TREE("\xE1\x84\x80\xE1\x85\xA1", "\"\xEA\xB0\x80\"");
    EXPECT_TREE("\xE2\x84\xAB", "\"\xC3\x85\""); /* the angstrom sign is the letter */
}

TEST(large, "a large page is read, and one with too many elements is told which limit it met")
{
    enum { BYTES = 26 << 20, PIECES = 600000 };
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(page, 64 << 20);
    buf_puts(&page, "<p>");
    while (page.len < BYTES)
        buf_puts(&page, "some words that are to be read ");
    CLEANUP(made_done) struct made m = make(life, page.data, page.len, "text/html");
    EXPECT(m.d && m.d->nodes == 2);

    buf_clear(&page);
    for (unsigned i = 0; i < PIECES; i++)
        buf_puts(&page, "<b>x</b>");
    CLEANUP(made_done) struct made many = make(life, page.data, page.len, "text/html");
    EXPECT_TEXT(many.f.message, "the page has more than 1000000 elements and texts");
    EXPECT(many.f.hint[0]);
}

TEST_MAIN()
