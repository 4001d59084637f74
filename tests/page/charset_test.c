/* Bytes to UTF-8: which charset is chosen, and what becomes of bytes that break it. */
#include "tests/page/page_help.h"

static char *decoded(struct arena *life, const char *bytes, size_t len, const char *type,
        const char **charset)
{
    struct page_source src = {bytes, len, type, NULL};
    BUF(out, 1 << 20);
    struct fault f;
    if (page_decode(&src, &out, &f, charset) != OK)
        return arena_strdup(life, "(refused)");
    return arena_strndup(life, buf_text(&out), out.len);
}

#define EXPECT_DECODED(bytes, type, expected_charset, expected)                                \
    do {                                                                                       \
        SCRATCH struct arena *dec_life = arena_new(NULL, "t");                                 \
        const char *dec_charset = "?";                                                         \
        EXPECT_TEXT(decoded(dec_life, (bytes), sizeof(bytes) - 1, (type), &dec_charset),       \
                (expected));                                                                   \
        EXPECT_TEXT(dec_charset, (expected_charset));                                          \
    } while (0)

#define E_ACUTE "\xC3\xA9"
#define BAD "\xEF\xBF\xBD"

TEST(bom, "a byte order mark beats the header and the page")
{
    EXPECT_DECODED("\xEF\xBB\xBF" E_ACUTE, "text/html; charset=iso-8859-1", "utf-8", E_ACUTE);
    EXPECT_DECODED(
            "\xFF\xFE<\0p\0>\0\xE9\0", "text/html; charset=utf-8", "utf-16le", "<p>" E_ACUTE);
    EXPECT_DECODED("\xFE\xFF\0<\0p\0>\0\xE9", "text/html", "utf-16be", "<p>" E_ACUTE);
}

TEST(header, "the header beats the page")
{
    EXPECT_DECODED("<meta charset=utf-8>\xE9", "text/html; charset=windows-1252",
            "windows-1252", "<meta charset=utf-8>" E_ACUTE);
    EXPECT_DECODED("\xE9", "text/html;charset=\"ISO-8859-1\"", "windows-1252", E_ACUTE);
    EXPECT_DECODED("\xE9", "text/html; Charset = latin1 ; x=y", "windows-1252", E_ACUTE);
    EXPECT_DECODED(E_ACUTE, "text/html; charset=no-such-thing", "utf-8", E_ACUTE);
}

TEST(latin1, "iso-8859-1 means windows-1252: curly quotes and the euro sign are there")
{
    EXPECT_DECODED("\x93x\x94 \x80", "text/html; charset=iso-8859-1", "windows-1252",
            "\xE2\x80\x9Cx\xE2\x80\x9D \xE2\x82\xAC");
    EXPECT_DECODED(
            "\x81\x8D", "text/html; charset=us-ascii", "windows-1252", "\xC2\x81\xC2\x8D");
}

TEST(meta, "a meta element is found in both forms, and not in a comment")
{
    EXPECT_DECODED("<meta charset=iso-8859-1>\xE9", "text/html", "windows-1252",
            "<meta charset=iso-8859-1>" E_ACUTE);
    EXPECT_DECODED(
            "<META http-equiv='Content-Type' content='text/html; charset=iso-8859-2'>\xB1",
            "text/html", "ISO-8859-2",
            "<META http-equiv='Content-Type' content='text/html; charset=iso-8859-2'>\xC4\x85");
    EXPECT_DECODED(
            "<meta content='text/html; charset=iso-8859-2' http-equiv=content-type />\xB1",
            NULL, "ISO-8859-2",
            "<meta content='text/html; charset=iso-8859-2' http-equiv=content-type />\xC4\x85");
    EXPECT_DECODED("<!-- <meta charset=iso-8859-1> -->" E_ACUTE, "text/html", "utf-8",
            "<!-- <meta charset=iso-8859-1> -->" E_ACUTE);
    EXPECT_DECODED("<meta name=x content='charset=koi8-r'>" E_ACUTE, "text/html", "utf-8",
            "<meta name=x content='charset=koi8-r'>" E_ACUTE);
}

TEST(meta_quoted, "what looks like a meta element in the value of an attribute is none")
{
    EXPECT_DECODED("<p title='<meta charset=koi8-r>'>" E_ACUTE, "text/html", "utf-8",
            "<p title='<meta charset=koi8-r>'>" E_ACUTE);
    EXPECT_DECODED("<p title='>'><meta charset=koi8-r>\xC1", "text/html", "KOI8-R",
            "<p title='>'><meta charset=koi8-r>\xD0\xB0");
    EXPECT_DECODED("<html><head><p/><meta\tcharset=koi8-r>\xC1", "text/html", "KOI8-R",
            "<html><head><p/><meta\tcharset=koi8-r>\xD0\xB0");
}

TEST(meta_utf16, "a page that is readable as ASCII is not UTF-16, whatever it says")
{
    EXPECT_DECODED("<meta charset=utf-16>" E_ACUTE, "text/html", "utf-8",
            "<meta charset=utf-16>" E_ACUTE);
}

TEST(meta_late, "a meta element behind the first 1024 bytes is not looked for")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    const char *charset;
    char page[1200];
    memset(page, ' ', sizeof page);
    memcpy(page + 1030, "<meta charset=koi8-r>", 21);
    decoded(life, page, sizeof page, "text/html", &charset);
    EXPECT_TEXT(charset, "utf-8");
}

TEST(xml_declaration, "the XML declaration counts")
{
    EXPECT_DECODED("<?xml version='1.0' encoding='iso-8859-1'?><a>\xE9</a>", "application/xml",
            "windows-1252", "<?xml version='1.0' encoding='iso-8859-1'?><a>" E_ACUTE "</a>");
    EXPECT_DECODED("<?xml version=\"1.0\" encoding = \"KOI8-R\" ?>\xC1", "text/xml", "KOI8-R",
            "<?xml version=\"1.0\" encoding = \"KOI8-R\" ?>\xD0\xB0");
}

TEST(undeclared, "undeclared bytes are UTF-8 if they look like it, else windows-1252")
{
    EXPECT_DECODED("caf" E_ACUTE, "text/html", "utf-8", "caf" E_ACUTE);
    EXPECT_DECODED("caf\xE9", "text/html", "windows-1252", "caf" E_ACUTE);
    EXPECT_DECODED("plain", NULL, "utf-8", "plain");
    EXPECT_DECODED("", NULL, "utf-8", "");
}

TEST(one_bad_byte, "one bad byte becomes one mark and spoils nothing else")
{
    EXPECT_DECODED(E_ACUTE "\xFF" E_ACUTE E_ACUTE, "text/html; charset=utf-8", "utf-8",
            E_ACUTE BAD E_ACUTE E_ACUTE);
    EXPECT_DECODED(E_ACUTE "\xFF" E_ACUTE E_ACUTE, "text/html", "utf-8",
            E_ACUTE BAD E_ACUTE E_ACUTE); /* also where nothing is declared */
}

TEST(bad_utf8, "overlong forms, surrogates and cut characters are bad bytes, each of them")
{
    EXPECT_DECODED("\xC0\xAF", "text/html; charset=utf-8", "utf-8", BAD BAD);
    EXPECT_DECODED("\xED\xA0\x80", "text/html; charset=utf-8", "utf-8", BAD BAD BAD);
    EXPECT_DECODED("x\xE2\x82", "text/html; charset=utf-8", "utf-8", "x" BAD BAD);
    EXPECT_DECODED("\xF5\x80\x80\x80", "text/html; charset=utf-8", "utf-8", BAD BAD BAD BAD);
}

TEST(bad_utf16, "half a pair and half a unit are marked")
{
    EXPECT_DECODED("\xFF\xFE\x3D\xD8x\0", NULL, "utf-16le", BAD "x");
    EXPECT_DECODED("\xFF\xFEx\0y", NULL, "utf-16le", "x" BAD);
    EXPECT_DECODED("\xFF\xFE\x3D\xD8\x00\xDE", NULL, "utf-16le", "\xF0\x9F\x98\x80");
}

TEST(asia, "East Asian charsets are read as the web means them")
{
    EXPECT_DECODED("\x93\xFA\x96\x7B", "text/html; charset=Shift_JIS", "CP932",
            "\xE6\x97\xA5\xE6\x9C\xAC");
    EXPECT_DECODED("\xC6\xFC\xCB\xDC", "text/html; charset=euc-jp", "EUC-JP-MS",
            "\xE6\x97\xA5\xE6\x9C\xAC");
    EXPECT_DECODED("\xAD\xA1\xA1\xC1", "text/html; charset=x-euc-jp", "EUC-JP-MS",
            "\xE2\x91\xA0\xEF\xBD\x9E"); /* a circled one, and what Windows writes for ~ */
    EXPECT_DECODED("\x1B$BF|\x1B(Bx", "text/html; charset=iso-2022-jp", "ISO-2022-JP",
            "\xE6\x97\xA5x");
    EXPECT_DECODED("\x81\x30\x81\x30", "text/html; charset=gb18030", "GB18030", "\xC2\x80");
    EXPECT_DECODED("\xD6\xD0", "text/html; charset=gb2312", "GB18030", "\xE4\xB8\xAD");
    EXPECT_DECODED("\xA4\xA4", "text/html; charset=big5", "BIG5-HKSCS", "\xE4\xB8\xAD");
    EXPECT_DECODED("\xB0\xA1", "text/html; charset=euc-kr", "CP949", "\xEA\xB0\x80");
    EXPECT_DECODED("\xCF\xF0", "text/html; charset=windows-1251", "CP1251", "\xD0\x9F\xD1\x80");
}

TEST(bad_other, "bad bytes of other charsets are marked one by one too")
{
    EXPECT_DECODED(
            "\x93\xFA\xFFz", "text/html; charset=shift_jis", "CP932", "\xE6\x97\xA5" BAD "z");
    EXPECT_DECODED("z\x93", "text/html; charset=shift_jis", "CP932", "z" BAD);
    EXPECT_DECODED("\xB0<p>\xB0\xA1", "text/html; charset=euc-kr", "CP949",
            BAD "<p>\xEA\xB0\x80"); /* half a character does not eat the markup */
    EXPECT_DECODED("\xD6\xD0\xFF\xD6\xD0\xD6", "text/html; charset=gbk", "GB18030",
            "\xE4\xB8\xAD" BAD "\xE4\xB8\xAD" BAD);
    EXPECT_DECODED("\x1B$BF|\xFFK\\", "text/html; charset=iso-2022-jp", "ISO-2022-JP",
            "\xE6\x97\xA5" BAD "\xE6\x9C\xAC");
}

TEST(held_back, "a letter that a mark could follow is not lost at the end, nor misplaced")
{
    EXPECT_DECODED("\xE0", "text/plain; charset=windows-1255", "CP1255", "\xD7\x90");
    EXPECT_DECODED(
            "\xE0\xFFx", "text/plain; charset=windows-1255", "CP1255", "\xD7\x90" BAD "x");
    EXPECT_DECODED("Gia", "text/plain; charset=windows-1258", "CP1258", "Gia");
    EXPECT_DECODED("Gia\xD2", "text/plain; charset=windows-1258", "CP1258",
            "Gi\xE1\xBA\xA3"); /* the hook above, with its letter */
    EXPECT_DECODED("x\x88\x66", "text/plain; charset=big5-hkscs", "BIG5-HKSCS", "x\xC3\x8A");
}

TEST(labels, "servers write the same charset in many ways")
{
    EXPECT_DECODED("\xB1", "text/html; charset=ISO_8859-2:1987", "ISO-8859-2", "\xC4\x85");
    EXPECT_DECODED("\xB1", "text/html; charset=iso88592", "ISO-8859-2", "\xC4\x85");
    EXPECT_DECODED("\xE1", "text/html; charset=greek", "ISO-8859-7", "\xCE\xB1");
    EXPECT_DECODED("\xE1", "text/html; charset=x-cp1253", "CP1253", "\xCE\xB1");
    EXPECT_DECODED("\xA4", "text/html; charset=KOI8-RU", "KOI8-U", "\xD1\x94");
    EXPECT_DECODED("\x80", "text/html; charset=x-mac-roman", "MACINTOSH", "\xC3\x84");
    EXPECT_DECODED("\xD6\xD0", "text/html; charset=gb_2312", "GB18030", "\xE4\xB8\xAD");
    EXPECT_DECODED("\xB0\xA1", "text/html; charset=korean", "CP949", "\xEA\xB0\x80");
    EXPECT_DECODED("\xFD", "text/html; charset=latin5", "CP1254", "\xC4\xB1");
    EXPECT_DECODED("x\0", "text/html; charset=unicode", "utf-16le", "x");
    EXPECT_DECODED(E_ACUTE, "text/html; charset=unicode11utf8", "utf-8", E_ACUTE);
}

TEST(stable, "a bad byte that comes or goes changes its own paragraph only")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char page[] = "<p>a\xFF</p><p>" E_ACUTE "</p>";
    CLEANUP(made_done)
    struct made m = make(life, page, sizeof page - 1, "text/html; charset=utf-8");
    EXPECT_TEXT(show(life, m.d), "p(\"a" BAD "\") p(\"" E_ACUTE "\")");
}

TEST(types, "the media type decides how a page is read")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const struct {
        const char *type, *bytes;
        enum page_type expected;
    } cases[] = {{"text/html", "<p>", PAGE_HTML}, {"TEXT/HTML; charset=x", "<p>", PAGE_HTML},
            {"application/xhtml+xml", "<p/>", PAGE_XML},
            {"application/rss+xml", "<r/>", PAGE_XML}, {"text/xml", "<r/>", PAGE_XML},
            {"image/svg+xml", "<svg/>", PAGE_XML}, {"text/plain", "<p>", PAGE_TEXT},
            {"application/json", "{}", PAGE_TEXT},
            {"application/vnd.api+json", "{}", PAGE_TEXT}, {"image/png", "\x89PNG", PAGE_DATA},
            {"application/pdf", "%PDF", PAGE_DATA}, {NULL, "<p>", PAGE_HTML},
            {NULL, "<?xml version='1.0'?><r/>", PAGE_XML},
            {"application/octet-stream", "<p>", PAGE_HTML}, {"", "hello", PAGE_HTML}};
    for (size_t i = 0; i < countof(cases); i++) {
        CLEANUP(made_done)
        struct made m = make(life, cases[i].bytes, strlen(cases[i].bytes), cases[i].type);
        REQUIRE(m.d);
        EXPECT_INT(m.d->type, cases[i].expected);
    }
    CLEANUP(made_done) struct made nul = make(life, "GIF\0\1\2", 6, NULL);
    EXPECT(nul.d && nul.d->type == PAGE_DATA);
}

TEST(gbk_euro, "0x80 is the euro sign where Chinese is read, as a lead byte only")
{
    /* Encoding standard, gb18030 decoder: "If byte is 0x80, return code point U+20AC." */
    EXPECT_DECODED("\x80", "text/html; charset=gbk", "GB18030", "\xE2\x82\xAC");
    EXPECT_DECODED("\xD6\xD0\x80\x80x", "text/html; charset=gb18030", "GB18030",
            "\xE4\xB8\xAD\xE2\x82\xAC\xE2\x82\xACx");
    EXPECT_DECODED("\x81\x80", "text/html; charset=gb2312", "GB18030", "\xE4\xBA\x90");
    EXPECT_DECODED("\xFF\x80", "text/html; charset=gbk", "GB18030", BAD "\xE2\x82\xAC");
}

TEST(utf16_unmarked, "XML in UTF-16 is known by its first bytes")
{
    /* XML 1.0, appendix F.1: 00 3C 00 3F and 3C 00 3F 00, without a byte order mark. */
    EXPECT_DECODED(
            "\0<\0?\0x\0m\0l\0?\0>\0<\0a\0/\0>", "application/xml", "utf-16be", "<?xml?><a/>");
    EXPECT_DECODED(
            "<\0?\0x\0m\0l\0?\0>\0<\0a\0/\0>\0", "application/xml", "utf-16le", "<?xml?><a/>");
    EXPECT_DECODED("\0<\0a\0/\0>", "text/xml", "utf-16be", "<a/>");
    EXPECT_DECODED("<\0a\0>\0\xE9\0<\0/\0a\0>\0", "application/rss+xml", "utf-16le",
            "<a>" E_ACUTE "</a>");
    /* The header is asked first, and HTML is only if it begins like a declaration. */
    EXPECT_DECODED("<a/>", "application/xml; charset=utf-8", "utf-8", "<a/>");
    EXPECT_DECODED("<\0?\0x\0", "text/html", "utf-16le", "<?x");
    EXPECT_DECODED("<\0p\0", "text/html", "utf-8", "<\0p\0");
}

TEST(utf16_unmarked_tree, "and read as the XML it is, whatever its declaration says")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char xml[] = "<?xml version='1.0' encoding='UTF-16'?><a><b>x</b></a>";
    char wide[2 * sizeof xml];
    for (size_t i = 0; i < sizeof xml; i++) {
        wide[2 * i] = 0;
        wide[2 * i + 1] = xml[i];
    }
    CLEANUP(made_done)
    struct made m = make(life, wide, 2 * (sizeof xml - 1), "application/xml");
    EXPECT_TEXT(show(life, m.d), "a(b(\"x\"))");
    EXPECT(m.d && m.d->type == PAGE_XML && !m.d->malformed_xml);
}

TEST(lone_cr, "lines of a text end with LF, CR or both")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char text[] = "one\rtwo\r\nthree\n\rfour\r\r five ";
    CLEANUP(made_done) struct made m = make(life, text, sizeof text - 1, "text/plain");
    struct page_block *blocks;
    EXPECT_INT(page_blocks(m.d, life, &blocks), 5);
    EXPECT_TEXT(blocks[1].text.ptr, "two");
    EXPECT_TEXT(blocks[3].text.ptr, "four");
    EXPECT_TEXT(blocks[4].text.ptr, "five");
}

TEST_MAIN()
