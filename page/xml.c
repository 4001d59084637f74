/* XML: libxml2's SAX events into the builder.
 *
 * Nothing outside the document is ever asked for, and the parser defines no entity: a
 * declaration is read and forgotten, so there is nothing that could grow.  What the document
 * names as plain text is put in before (xml_names.c).  A reference to
 * a name of HTML is understood where the document has a DTD that might define it (XHTML).
 * A page that is not well-formed is the caller's to read as HTML.
 */
#include "page/page_int.h"
#include <libxml/parser.h>
#include <libxml/parserInternals.h>

enum { READER_TAG = 0x786d6c20 };

struct reader {
    uint32_t tag;
    struct build *b;
    xmlParserCtxtPtr ctxt;
};

static struct reader *reader_of(void *arg)
{
    struct reader *r = arg;
    CHECK(r->tag == READER_TAG);
    return r;
}

static void on_start(void *arg, const xmlChar *name, const xmlChar **atts)
{
    struct reader *r = reader_of(arg);
    struct pair attrs[PAGE_ATTRIBUTES_MAX];
    size_t n = 0;

    for (; atts && atts[2 * n] && n < PAGE_ATTRIBUTES_MAX; n++)
        attrs[n] = (struct pair){.name = str_of((const char *)atts[2 * n]),
                .value = str_of(atts[2 * n + 1] ? (const char *)atts[2 * n + 1] : "")};
    build_open(r->b, str_of((const char *)name), attrs, n);
    if (r->b->too_deep || r->b->overflowed)
        xmlStopParser(r->ctxt);
}

static void on_end(void *arg, const xmlChar *name)
{
    (void)name;
    build_close(reader_of(arg)->b);
}

static void on_text(void *arg, const xmlChar *text, int len)
{
    build_text(reader_of(arg)->b, (struct str){(const char *)text, (size_t)len});
}

/* An entity nobody defined for us: HTML's meaning, else as it is written. */
static void on_reference(void *arg, const xmlChar *name)
{
    struct build *b = reader_of(arg)->b;
    char meaning[8];
    size_t len;
    BUF(written, PAGE_BODY_MAX);

    buf_printf(&written, "&%s;", (const char *)name);
    struct str whole = {buf_text(&written), written.len};
    if (reference_read(whole, false, meaning, &len) == whole.len)
        whole = (struct str){meaning, len};
    build_text(b, whole);
}

static void on_error(void *arg, xmlErrorPtr error)
{
    (void)arg; /* well-formedness is asked for at the end */
    (void)error;
}

/* The declaration speaks of the charset before decoding, so it goes. */
static struct str without_declaration(struct str s)
{
    while (s.len && is_space(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    if (s.len > 5 && memcmp(s.ptr, "<?xml", 5) == 0 && is_space(s.ptr[5])) {
        const char *end = memmem(s.ptr, s.len, "?>", 2);
        if (end)
            return (struct str){end + 2, s.len - (size_t)(end + 2 - s.ptr)};
    }
    return s;
}

/* Comparing each attribute with each other takes the parser minutes for a tag made to that
 * end, so tags are counted through before it sees them. */
static bool attributes_are_few(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        const char *p = memchr(s.ptr + i, '<', s.len - i);
        if (!p)
            return true;
        unsigned n = 0;
        char quote = 0;
        for (i = (size_t)(p - s.ptr) + 1; i < s.len; i++) {
            char c = s.ptr[i];
            if (quote)
                quote = c == quote ? 0 : quote;
            else if (c == '"' || c == '\'')
                quote = c;
            else if (c == '>' || c == '<')
                break;
            else if (c == '=' && ++n > PAGE_ATTRIBUTES_MAX)
                return false;
        }
        i -= i < s.len && s.ptr[i] == '<';
    }
    return true;
}

static void parser_free(xmlParserCtxtPtr *ctxt)
{
    if (!*ctxt)
        return;
    if ((*ctxt)->myDoc) /* where it puts declarations it was not asked to keep */
        xmlFreeDoc((*ctxt)->myDoc);
    xmlFreeParserCtxt(*ctxt);
}

enum err xml_read(struct str text, struct build *b, struct fault *f)
{
    struct reader r = {.tag = READER_TAG, .b = b};
    xmlSAXHandler sax = {.startElement = on_start,
            .endElement = on_end,
            .characters = on_text,
            .ignorableWhitespace = on_text,
            .cdataBlock = on_text,
            .reference = on_reference,
            .serror = on_error,
            .initialized = 1};

    BUF(named, 0);

    text = xml_names_put_in(without_declaration(text), &named);
    if (!attributes_are_few(text))
        return fault_set(
                f, ERR_LIMIT, "an element has more than %d attributes", PAGE_ATTRIBUTES_MAX);
    CLEANUP(parser_free)
    xmlParserCtxtPtr ctxt = xmlCreatePushParserCtxt(&sax, &r, NULL, 0, NULL);
    if (!ctxt)
        return fault_set(f, ERR_LIMIT, "no memory to read the page");
    r.ctxt = ctxt;
    ctxt->sax->initialized = 1; /* the events of SAX 1: names as they are written */
    xmlCtxtUseOptions(ctxt, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                                    XML_PARSE_IGNORE_ENC | XML_PARSE_HUGE | XML_PARSE_SAX1);
    xmlSwitchEncoding(ctxt, XML_CHAR_ENCODING_UTF8);
    for (size_t at = 0, n; at < text.len && !ctxt->disableSAX; at += n) {
        n = text.len - at < 65536 ? text.len - at : 65536;
        xmlParseChunk(ctxt, text.ptr + at, (int)n, 0);
    }
    xmlParseChunk(ctxt, "", 0, 1);
    if (b->too_deep || b->overflowed)
        return OK; /* build_finish refuses, and knows why */
    if (!ctxt->wellFormed)
        return fault_set(f, ERR_SYNTAX, "the page is not well-formed XML (line %d)",
                ctxt->lastError.line);
    return OK;
}
