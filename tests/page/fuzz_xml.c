/* Any bytes, as XML: a digest that opens, or a fault with a reason; what is well-formed for us
 * is well-formed when it comes in one piece as well, and says the same. */
#include "tests/page/fuzz.h"
#include "page/page.h"
#include <libxml/parser.h>
#include <libxml/parserInternals.h>

/* What libxml2 says of the bytes when it is given all of them at once. */
struct memory {
    size_t elements, text_bytes;
};

static void on_start(void *arg, const xmlChar *name, const xmlChar **atts)
{
    (void)name;
    (void)atts;
    ((struct memory *)arg)->elements++;
}

static void on_error(void *arg, xmlErrorPtr error)
{
    (void)arg;
    (void)error;
}

static bool whole_is_sound(const char *bytes, size_t len, struct memory *m)
{
    xmlSAXHandler sax = {.startElement = on_start, .serror = on_error, .initialized = 1};
    xmlParserCtxtPtr c = xmlCreateMemoryParserCtxt(bytes, (int)len);

    if (!c)
        return false;
    xmlSAXHandlerPtr own = c->sax;
    c->sax = &sax;
    c->userData = m;
    xmlCtxtUseOptions(c, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                                 XML_PARSE_IGNORE_ENC | XML_PARSE_HUGE | XML_PARSE_SAX1);
    xmlParseDocument(c);
    bool sound = c->wellFormed;
    c->sax = own;
    if (c->myDoc)
        xmlFreeDoc(c->myDoc);
    xmlFreeParserCtxt(c);
    return sound;
}

static bool is_plain(const uint8_t *data, size_t size)
{
    if (size == 0 || data[0] != '<')
        return false;
    for (size_t i = 0; i < size; i++)
        if (data[i] >= 0x80 || data[i] == '?' || data[i] == '!' || data[i] == '&')
            return false; /* charsets, declarations and entities are read our own way */
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SCRATCH struct arena *life = arena_new(NULL, "fuzz");
    struct page_source src = {(const char *)data, size, "application/xml", "http://x.org/"};
    struct page_digest *d;
    struct fault f = {.code = OK};
    struct memory m = {0, 0};
    BUF(block, 1 << 24);

    if (page_digest_make(&src, &block, &f) != OK) {
        CHECK(f.code != OK && f.message[0]);
        return 0;
    }
    CHECK(page_digest_open(life, block.data, block.len, &f, &d) == OK);
    if (!is_plain(data, size) || memchr(data, 0, size))
        return 0;
    bool sound = whole_is_sound((const char *)data, size, &m);
    CHECK(sound == !d->malformed_xml);
    if (!sound || d->type != PAGE_XML)
        return 0;
    size_t elements = 0;
    for (uint32_t i = 0; i < d->nodes; i++)
        elements += d->tags[i] != 0;
    bool dropped = str_equal_nocase(page_tag_name(d, d->tags[0]), STR("html")) ||
                   str_equal_nocase(page_tag_name(d, d->tags[0]), STR("svg"));
    CHECK(dropped ? elements <= m.elements : elements == m.elements);
    return 0;
}
