/* HTML: our tokens through libxml2's tree rules into the builder.
 *
 * libxml2 gets a clean stream: tags with nothing but the number of their attributes (which
 * stay with us), and text with only < and & escaped.  What comes back in its SAX events is
 * which element ends where, and that is all we take from it.  It must hold that
 *  (1) no text is lost: every byte shown that goes in comes out, or the page is refused,
 *  (2) html, head and body are taken as they are written, by our own rules: the parser would
 *      invent or discard them, and
 *  (3) time stays in proportion to the page: an end tag makes the parser search its stack,
 *      so the sum of these searches has a limit.
 */
#include "page/page_int.h"
#include <libxml/HTMLparser.h>
#include <libxml/parserInternals.h>
#include <stdlib.h>

enum { CHUNK = 16 * 1024, SINK_TAG = 0x68746d6c };
#define SEARCH_MAX ((uint64_t)400 * 1000 * 1000)

/* Names that the parser has no opinion about stand for those it handles wrongly. */
#define OWN_PREFIX "vigil-"

struct reader {
    struct token_sink sink;
    uint32_t tag;
    struct build *b;
    htmlParserCtxtPtr ctxt;
    struct buf chunk;      /* on its way to the parser */
    struct buf attrs;      /* struct pair, of every element so far */
    struct buf attr_at;    /* size_t: where an element's begin; one more than elements */
    struct buf attr_texts; /* their strings */
    uint64_t shown_bytes;  /* of text that went in */
    uint64_t searched;     /* (3) */
    bool seen_html, seen_head, seen_body, seen_content;
    bool in_head, in_head_child; /* a child that has text, like title */
    bool finished;               /* the parser reached the mark behind the page */
    bool failed;
};

/* ---- from the parser to the builder
 * --------------------------------------------------------------- */

static struct reader *reader_of(void *arg)
{
    struct reader *r = arg;
    CHECK(r->tag == SINK_TAG);
    return r;
}

static struct pair *element_attrs(struct reader *r, const xmlChar **atts, size_t *ret_n)
{
    int64_t number;

    *ret_n = 0;
    if (!atts || !atts[0] || !atts[1] || !str_to_int(str_of((const char *)atts[1]), &number))
        return NULL;
    const size_t *at = (const size_t *)(const void *)r->attr_at.data + number;
    struct pair *all = (struct pair *)(void *)r->attrs.data + at[0];
    *ret_n = at[1] - at[0];
    for (size_t i = 0; i < *ret_n; i++) { /* offsets until now: the buffer may have moved */
        all[i].name.ptr = r->attr_texts.data + (uintptr_t)all[i].name.ptr;
        all[i].value.ptr = r->attr_texts.data + (uintptr_t)all[i].value.ptr;
    }
    return all;
}

static void on_start(void *arg, const xmlChar *name, const xmlChar **atts)
{
    struct reader *r = reader_of(arg);
    struct str n = str_of((const char *)name);
    size_t nattrs;
    struct pair *attrs = element_attrs(r, atts, &nattrs);

    if (str_starts_nocase(n, STR(OWN_PREFIX "mark"))) {
        r->finished = true;
        return;
    }
    if (str_starts_nocase(n, STR(OWN_PREFIX "root")))
        return;
    if (str_starts_nocase(n, STR(OWN_PREFIX))) {
        n.ptr += sizeof(OWN_PREFIX) - 1;
        n.len -= sizeof(OWN_PREFIX) - 1;
    }
    build_open(r->b, n, attrs, nattrs);
    if (r->b->too_deep || r->b->overflowed)
        xmlStopParser(r->ctxt);
}

static void on_end(void *arg, const xmlChar *name)
{
    struct reader *r = reader_of(arg);
    struct str n = str_of((const char *)name);

    if (str_starts_nocase(n, STR(OWN_PREFIX "mark")) ||
            str_starts_nocase(n, STR(OWN_PREFIX "root")))
        return;
    build_close(r->b);
}

static void on_text(void *arg, const xmlChar *text, int len)
{
    build_text(reader_of(arg)->b, (struct str){(const char *)text, (size_t)len});
}

static void on_error(void *arg, xmlErrorPtr error)
{
    (void)arg; /* pages are full of them; what matters is checked at the end */
    (void)error;
}

/* ---- from our tokens to the parser
 * ---------------------------------------------------------------- */

static void flush(struct reader *r, bool last)
{
    if (r->failed)
        return;
    htmlParseChunk(r->ctxt, buf_text(&r->chunk), (int)r->chunk.len, last);
    r->failed = r->ctxt->disableSAX || r->chunk.overflowed;
    buf_clear(&r->chunk);
}

static void written(struct reader *r)
{
    if (r->chunk.len >= CHUNK)
        flush(r, false);
}

/* A name the parser reads back as it is. */
static void put_tag_name(struct reader *r, struct str name, bool own)
{
    size_t len = name.len < 80 ? name.len : 80;

    if (own)
        buf_puts(&r->chunk, OWN_PREFIX);
    if (!buf_append(&r->chunk, name.ptr, len))
        return;
    for (char *p = r->chunk.data + r->chunk.len - len; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9') || *p == '-' ||
                     *p == '_' || *p == ':' || *p == '.';
        *p = plain ? *p : '_';
    }
}

static void put_start(struct reader *r, struct str name, bool own, struct pair *attrs, size_t n)
{
    buf_putc(&r->chunk, '<');
    put_tag_name(r, name, own);
    if (n) {
        buf_printf(&r->chunk, " n=\"%zu\"", r->attr_at.len / sizeof(size_t) - 1);
        for (size_t i = 0; i < n; i++) {
            struct pair p = attrs[i];
            p.name.ptr = (const char *)(uintptr_t)r->attr_texts.len;
            buf_append(&r->attr_texts, attrs[i].name.ptr, p.name.len);
            p.value.ptr = (const char *)(uintptr_t)r->attr_texts.len;
            buf_append(&r->attr_texts, attrs[i].value.ptr, p.value.len);
            buf_append(&r->attrs, &p, sizeof p);
        }
        size_t end = r->attrs.len / sizeof(struct pair);
        buf_append(&r->attr_at, &end, sizeof end);
    }
    buf_putc(&r->chunk, '>');
    if (r->attr_texts.overflowed || r->attrs.overflowed || r->attr_at.overflowed)
        r->failed = true;
}

static void put_end(struct reader *r, struct str name, bool own)
{
    buf_puts(&r->chunk, "</");
    put_tag_name(r, name, own);
    buf_putc(&r->chunk, '>');
    r->searched += build_depth(r->b) + 8; /* (3) */
    if (r->searched > SEARCH_MAX)
        r->failed = true;
}

static bool belongs_in_head(struct str name)
{
    static const char *const names[] = {
            "title", "meta", "link", "base", "basefont", "bgsound", "noframes"};
    return name_is_one_of(name, names, countof(names));
}

/* Elements that have no end tag, of which the parser does not know. */
static bool is_new_void(struct str name)
{
    static const char *const names[] = {"embed", "source", "track", "wbr", "keygen", "bgsound"};
    return name_is_one_of(name, names, countof(names));
}

static bool is_void(struct str name)
{
    static const char *const names[] = {"area", "base", "basefont", "br", "col", "frame", "hr",
            "img", "input", "isindex", "link", "meta", "param"};
    return name_is_one_of(name, names, countof(names)) || is_new_void(name);
}

static void head_ends(struct reader *r)
{
    if (r->in_head)
        put_end(r, STR("head"), true);
    r->in_head = false;
}

/* (2); true when the tag was one of these three. */
static bool frame_start(struct reader *r, struct str name, struct pair *attrs, size_t n)
{
    bool html = str_equal(name, STR("html")), body = str_equal(name, STR("body"));
    bool head = str_equal(name, STR("head"));
    bool *seen = html ? &r->seen_html : body ? &r->seen_body : &r->seen_head;

    if (!html && !body && !head)
        return false;
    if (body)
        head_ends(r);
    /* a second one, and one that comes too late to hold what it should, is nothing */
    bool late = (head && (r->seen_body || r->seen_content)) ||
                (html && (r->seen_head || r->seen_body || r->seen_content));
    if (!*seen && !late) {
        put_start(r, name, true, attrs, n);
        r->in_head |= head;
    }
    *seen = true;
    return true;
}

static void sink_start(struct token_sink *sink, struct str name, struct pair *attrs, size_t n,
        bool self_closing)
{
    struct reader *r = container_of(sink, struct reader, sink);

    if (frame_start(r, name, attrs, n))
        return;
    if (r->in_head && !belongs_in_head(name))
        head_ends(r);
    r->seen_content |= !r->in_head;
    if (str_equal(name, STR("image"))) /* so says the standard */
        name = STR("img");
    r->in_head_child = r->in_head && !is_void(name);
    put_start(r, name, false, attrs, n);
    if (is_new_void(name) || (self_closing && !is_void(name)))
        put_end(r, name, false);
    written(r);
}

static void sink_end(struct token_sink *sink, struct str name)
{
    struct reader *r = container_of(sink, struct reader, sink);

    r->in_head_child = false;
    if (str_equal(name, STR("head")))
        head_ends(r);
    else if (str_equal(name, STR("br")))
        put_start(r, name, false, NULL, 0);
    else if (!is_void(name) && !str_equal(name, STR("html")) && !str_equal(name, STR("body")))
        put_end(r, name, false);
    written(r);
}

static void sink_text(struct token_sink *sink, struct str text)
{
    struct reader *r = container_of(sink, struct reader, sink);
    uint64_t shown = 0;
    size_t from = 0;

    for (size_t i = 0; i < text.len; i++)
        shown += !is_space(text.ptr[i]);
    r->shown_bytes += shown;
    if (shown && !r->in_head_child) {
        head_ends(r);
        r->seen_content = true;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '<' && text.ptr[i] != '&')
            continue;
        buf_append(&r->chunk, text.ptr + from, i - from);
        buf_puts(&r->chunk, text.ptr[i] == '<' ? "&lt;" : "&amp;");
        from = i + 1;
    }
    buf_append(&r->chunk, text.ptr + from, text.len - from);
    written(r);
}

static bool sink_is_over(struct token_sink *sink)
{
    return container_of(sink, struct reader, sink)->failed;
}

/* ---- the whole
 * -------------------------------------------------------------------------------------- */

static bool parser_new(struct reader *r)
{
    htmlSAXHandler sax = {.startElement = on_start,
            .endElement = on_end,
            .characters = on_text,
            .ignorableWhitespace = on_text,
            .cdataBlock = on_text,
            .serror = on_error,
            .initialized = XML_SAX2_MAGIC};

    r->ctxt = htmlCreatePushParserCtxt(&sax, r, NULL, 0, NULL, XML_CHAR_ENCODING_UTF8);
    if (!r->ctxt)
        return false;
    htmlCtxtUseOptions(r->ctxt, HTML_PARSE_NOIMPLIED | HTML_PARSE_NOERROR |
                                        HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
                                        HTML_PARSE_RECOVER);
    r->ctxt->options |= XML_PARSE_HUGE; /* else it stops quietly at 256 levels */
    return true;
}

static void reader_done(struct reader *r)
{
    if (r->ctxt)
        htmlFreeParserCtxt(r->ctxt);
    buf_done(&r->chunk);
    buf_done(&r->attrs);
    buf_done(&r->attr_at);
    buf_done(&r->attr_texts);
}

static enum err reader_result(struct reader *r, struct fault *f)
{
    if (r->b->too_deep || r->b->overflowed)
        return OK; /* build_finish refuses, and knows why */
    if (r->searched > SEARCH_MAX)
        return fault_set(f, ERR_LIMIT, "the page's tags are too tangled to be read");
    if (r->failed || !r->finished || r->b->shown_bytes != r->shown_bytes) /* (1) */
        return fault_set(f, ERR_LIMIT, "the HTML parser lost part of the page");
    return OK;
}

enum err html_read(struct str text, struct build *b, struct fault *f)
{
    CLEANUP(reader_done)
    struct reader r = {
            .tag = SINK_TAG, .b = b, .sink = {sink_start, sink_end, sink_text, sink_is_over}};
    size_t room = 16 * text.len + 64 * CHUNK, zero = 0;

    buf_init(&r.chunk, room);
    buf_init(&r.attrs, room);
    buf_init(&r.attr_at, room);
    buf_init(&r.attr_texts, room);
    buf_append(&r.attr_at, &zero, sizeof zero);
    if (!parser_new(&r))
        return fault_set(f, ERR_LIMIT, "no memory to read the page");
    buf_puts(&r.chunk, "<" OWN_PREFIX "root>");
    enum err e = tokens_read(text, &r.sink, f);
    if (e)
        return e;
    buf_puts(&r.chunk, "<" OWN_PREFIX "mark>");
    flush(&r, true);
    return reader_result(&r, f);
}
