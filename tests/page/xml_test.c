/* XML pages: what is read, what is never done, and what happens to broken ones. */
#include "tests/page/page_help.h"

static char *xml(struct arena *life, const char *text, bool *ret_malformed)
{
    CLEANUP(made_done) struct made m = make(life, text, strlen(text), "application/xml");
    *ret_malformed = m.d && m.d->malformed_xml;
    return show(life, m.d);
}

#define EXPECT_XML(text, broken, expected)                                                     \
    do {                                                                                       \
        SCRATCH struct arena *xml_life = arena_new(NULL, "t");                                 \
        bool xml_malformed;                                                                    \
        EXPECT_TEXT(xml(xml_life, (text), &xml_malformed), (expected));                        \
        EXPECT(xml_malformed == (broken));                                                     \
    } while (0)

TEST(names, "names keep their case and their prefix")
{
    EXPECT_XML("<Cat xmlns:d='u'><d:Item N='1'>a</d:Item></Cat>", false,
            "Cat@xmlns:d=\"u\"(d:Item@N=\"1\"(\"a\"))");
}

TEST(declared, "the declared charset was dealt with before and does not count again")
{
    EXPECT_XML("<?xml version='1.0' encoding='iso-8859-1'?>\n<a>\xE9</a>", false,
            "a(\"\xC3\xA9\")");
    EXPECT_XML("<?xml version='1.0' encoding='utf-16'?><a>x</a>", false, "a(\"x\")");
}

TEST(cdata, "CDATA and references are text, comments and instructions are nothing")
{
    EXPECT_XML("<a><![CDATA[<b>]]> &lt;&#65;&amp;<!-- c --><?p i?>d</a>", false,
            "a(\"<b> <A&d\")");
}

TEST(style_is_data, "in a catalogue script and style are words like any other, in XHTML not")
{
    EXPECT_XML("<album><style>jazz</style><script>roman</script></album>", false,
            "album(style(\"jazz\") script(\"roman\"))");
    EXPECT_XML("<html xmlns='http://www.w3.org/1999/xhtml'><script>x</script><p>y</p></html>",
            false, "html@xmlns=\"http://www.w3.org/1999/xhtml\"(p(\"y\"))");
}

TEST(malformed, "XML that is not well-formed is read as HTML and says so")
{
    EXPECT_XML("<a><b>x</a>", true, "a(b(\"x\"))");
    EXPECT_XML("<a>x", true, "a(\"x\")");
    EXPECT_XML("<a b=1>x</a>", true, "a@b=\"1\"(\"x\")");
    EXPECT_XML("", true, "");
}

/* What is shown when each of the two is read alone. */
#define EXPECT_SAME_XML(one, other)                                                            \
    do {                                                                                       \
        SCRATCH struct arena *same_life = arena_new(NULL, "t");                                \
        bool same_broken;                                                                      \
        EXPECT_TEXT(xml(same_life, one, &same_broken), xml(same_life, other, &same_broken));   \
        EXPECT(!same_broken);                                                                  \
    } while (0)

TEST(own_names, "what a document names as plain text is put in")
{
#define DTD                                                                                    \
    "<?xml version='1.0'?><!-- c --><!DOCTYPE l [<!ENTITY co \"A 'B' &amp; &#67;\">"           \
    "<!ENTITY co 'later'><!ENTITY none ''><!ELEMENT l (#PCDATA)><!-- ]> '\" -->]>"
    EXPECT_SAME_XML(DTD "<l>&co; x</l>", "<l>A 'B' &amp; C x</l>");
    EXPECT_SAME_XML(DTD "<l a='&co;' b=\"&co;\">x</l>",
            "<l a='A &apos;B&apos; &amp; C' b=\"A 'B' &amp; C\">x</l>");
    EXPECT_SAME_XML(DTD "<l>a&none;b</l>", "<l>ab</l>");
    EXPECT_SAME_XML(DTD "<l><![CDATA[&co;]]><!-- &co; --></l>", "<l><![CDATA[&co;]]></l>");
    EXPECT_SAME_XML("<!DOCTYPE l SYSTEM 'x>y' [<!ENTITY v 'w'>] ><l>&v;</l>", "<l>w</l>");
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char *const left[] = {DTD "<l>&other;</l>",
            "<!DOCTYPE l [<!ENTITY e '<b/>'>]><l>&e;</l>",
            "<!DOCTYPE l [<!ENTITY e '&e;'>]><l>&e;</l>",
            "<!DOCTYPE l [<!ENTITY e 'x'><l>&e;</l>", "<!DOCTYPE l [<!ENTITY e 'x><l>&e;</l>",
            "<!DOCTYPE l [<!ENTITY"};
    for (size_t i = 0; i < countof(left); i++) {
        bool broken;
        xml(life, left[i], &broken);
        EXPECT(broken);
    }
#undef DTD
}

TEST(much, "what is put in is at most as much again as the document has")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    BUF(page, 1 << 20);
    bool broken;
    buf_puts(&page, "<!DOCTYPE l [<!ENTITY e '");
    for (int i = 0; i < 20000; i++)
        buf_puts(&page, "x");
    buf_puts(&page, "'>]><l>");
    for (int i = 0; i < 1000; i++)
        buf_puts(&page, "&e;");
    buf_puts(&page, "</l>");
    xml(life, buf_text(&page), &broken);
    EXPECT(broken);
}

TEST(entities, "no entity that could grow or is elsewhere is ever expanded")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    bool broken;
    char *laugh = xml(life,
            "<!DOCTYPE l [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>"
            "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'>]><l>&c;</l>",
            &broken);
    EXPECT(strstr(laugh, "haha") == NULL);
    char *file = xml(
            life, "<!DOCTYPE l [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><l>&x;</l>", &broken);
    EXPECT(strstr(file, "root:") == NULL);
    char *parameter = xml(life,
            "<!DOCTYPE l [<!ENTITY % p SYSTEM 'http://127.0.0.1:1/x.dtd'> %p;]><l>x</l>",
            &broken);
    EXPECT(strstr(parameter, "\"x\"") != NULL);
}

TEST(xhtml_entities, "XHTML with its doctype may use the names of HTML")
{
    EXPECT_XML("<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN' "
               "'http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd'><html><p>a&eacute;b</p></"
               "html>",
            false,
            "html(p(\"a\xC3\xA9"
            "b\"))");
}

TEST(long_reference, "a reference nobody knows is text as it is written, however long")
{
    EXPECT_XML("<!DOCTYPE a SYSTEM "
               "'x.dtd'><a>&\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
               "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3"
               "\xA9\xC3\xA9\xC3\xA9"
               "xx\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9;</a>",
            false,
            "a(\"&\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
            "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
            "\xC3\xA9\xC3\xA9"
            "xx\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9;\")");
}

TEST(deep, "deep XML is kept, and too deep is refused")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    for (int depth = 3000; depth <= 30000; depth *= 10) {
        BUF(page, 1 << 22);
        for (int k = 0; k < depth; k++)
            buf_puts(&page, "<a>");
        buf_puts(&page, "x");
        for (int k = 0; k < depth; k++)
            buf_puts(&page, "</a>");
        CLEANUP(made_done) struct made m = make(life, page.data, page.len, "text/xml");
        if (depth == 3000)
            EXPECT(m.d && m.d->nodes == 3001 && !m.d->malformed_xml);
        else
            EXPECT(!m.d && m.f.code == ERR_LIMIT);
    }
}

TEST(feed, "links of a feed are found by their href")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char page[] =
            "<feed><link href='/a'/><entry><link rel='x' href='b'/></entry></feed>";
    CLEANUP(made_done)
    struct made m = make(life, page, sizeof page - 1, "application/atom+xml");
    REQUIRE(m.d && m.d->links == 2);
    EXPECT_TEXT(page_link(m.d, 0).ptr, "http://x.org/a");
    EXPECT_TEXT(page_link(m.d, 1).ptr, "http://x.org/d/b");
}

TEST_MAIN()
