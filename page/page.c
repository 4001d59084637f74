/* From a source to its digest: decode, choose the reader, build. */
#include "page/bundle.h"
#include <libxml/parser.h>
#include <libxml/xmlIO.h>
#include <pthread.h>

static xmlParserInputPtr refuse_external(const char *url, const char *id, xmlParserCtxtPtr ctxt)
{
    (void)url;
    (void)id;
    (void)ctxt;
    return NULL;
}

static void start(void)
{
    xmlInitParser();
    xmlSetExternalEntityLoader(refuse_external);
}

void page_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    CHECK(pthread_once(&once, start) == 0);
}

static enum err read_markup(struct str text, enum page_type *type, bool *ret_malformed,
        struct build *b, struct fault *f)
{
    if (*type == PAGE_XML) {
        struct fault why = {.code = OK};
        enum err e = xml_read(text, b, &why);
        if (e != ERR_SYNTAX) {
            if (e && f)
                *f = why;
            return e;
        }
        size_t max = b->max;
        build_done(b);
        build_init(b, max, /* xml= */ false);
        *type = PAGE_HTML;
        *ret_malformed = true;
    }
    return html_read(text, b, f);
}

static enum err read_text(struct str text, bool json, struct build *b, struct fault *f)
{
    size_t max = b->max;

    b->no_inline = true;
    if (json && json_read(text, b))
        return OK;
    if (json) {
        build_done(b);
        build_init(b, max, /* xml= */ true);
    }
    return plain_read(text, b, f);
}

enum err page_digest_make(const struct page_source *src, struct buf *out, struct fault *f)
{
    enum page_type type =
            content_type_page(src->content_type, (struct str){src->bytes, src->len});
    bool malformed = false;
    BUF(text, 4 * (size_t)PAGE_BODY_MAX);
    enum err e = OK;

    page_start();
    if (src->len > PAGE_BODY_MAX)
        return fault_set(
                f, ERR_LIMIT, "the page has %zu bytes, more than %d", src->len, PAGE_BODY_MAX);
    if (page_is_bundle(src->content_type))
        return bundle_digest(src, out, f);
    struct str s = {"", 0};
    if (type != PAGE_DATA)
        e = decode_text(src, &text, f, &s);
    if (e)
        return e;
    CLEANUP(build_done) struct build b;
    build_init(&b, out->max, type == PAGE_XML || type == PAGE_TEXT);
    switch (type) {
    case PAGE_HTML:
    case PAGE_XML:
        e = read_markup(s, &type, &malformed, &b, f);
        break;
    case PAGE_TEXT:
        e = read_text(s, content_type_is_json(src->content_type), &b, f);
        break;
    case PAGE_DATA:
    case PAGE_TYPE_COUNT:
        e = data_read(src, &b, f);
        break;
    }
    return e ? e : build_finish(&b, type, malformed, src, out, f);
}
