/* How fast HTML becomes a digest, beside a bare walk of libxml2's SAX parser over the same
 * bytes, and how large digests are beside their bodies.  Pages are made at run time. */
#include "base/time.h"
#include "page/page.h"
#include <libxml/HTMLparser.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void put_words(struct buf *out, unsigned *state, unsigned n)
{
    static const char *const words[] = {"change", "of", "the", "page", "version", "caf\xC3\xA9",
            "and", "sentinel", "&amp;", "monitor", "10.50", "price", "<b>bold</b>",
            "<i>some</i>", "text,"};
    for (unsigned i = 0; i < n; i++) {
        *state = *state * 1664525u + 1013904223u;
        buf_printf(out, "%s ", words[(*state >> 16) % countof(words)]);
    }
}

static void page_make(struct buf *out, unsigned sections)
{
    unsigned state = sections;
    buf_puts(out,
            "<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>A page</title>"
            "<link rel=stylesheet href=/s.css><script>var x = 1;</script></head><body>\n");
    for (unsigned i = 0; i < sections; i++) {
        buf_printf(out,
                "<div class=\"section level%u\" id=\"s%u\">\n<h2>Section %u<a "
                "class=\"headerlink\" "
                "href=\"#s%u\" title=\"Permalink\">&para;</a></h2>\n<p>",
                i % 3, i, i, i);
        put_words(out, &state, 40);
        buf_puts(out, "</p>\n<ul>\n");
        for (unsigned k = 0; k < 4; k++) {
            buf_printf(
                    out, "<li><a class=\"reference internal\" href=\"/doc/%u/%u.html\">", i, k);
            put_words(out, &state, 5);
            buf_puts(out, "</a></li>\n");
        }
        buf_puts(out, "</ul>\n<table><tr><td>1</td><td>2</td></tr></table>\n</div>\n");
    }
    buf_puts(out, "</body></html>\n");
}

static void on_start(void *arg, const xmlChar *name, const xmlChar **atts)
{
    (void)name;
    (void)atts;
    ++*(size_t *)arg;
}

static void on_text(void *arg, const xmlChar *text, int len)
{
    (void)text;
    *(size_t *)arg += (size_t)len;
}

static void on_error(void *arg, xmlErrorPtr error)
{
    (void)arg;
    (void)error;
}

static double walk_seconds(const struct buf *page, unsigned rounds)
{
    double best = 1e9;
    for (unsigned i = 0; i < rounds; i++) {
        size_t sum = 0;
        htmlSAXHandler sax = {.startElement = on_start,
                .characters = on_text,
                .serror = on_error,
                .initialized = XML_SAX2_MAGIC};
        double from = cpu_seconds();
        htmlParserCtxtPtr c =
                htmlCreatePushParserCtxt(&sax, &sum, NULL, 0, NULL, XML_CHAR_ENCODING_UTF8);
        htmlParseChunk(c, page->data, (int)page->len, 1);
        htmlFreeParserCtxt(c);
        double spent = cpu_seconds() - from;
        best = spent < best ? spent : best;
    }
    return best;
}

static double digest_seconds(const struct buf *page, unsigned rounds, size_t *ret_bytes)
{
    struct page_source src = {page->data, page->len, "text/html", "http://x.org/"};
    double best = 1e9;
    for (unsigned i = 0; i < rounds; i++) {
        BUF(out, PAGE_DIGEST_MAX);
        double from = cpu_seconds();
        CHECK(page_digest_make(&src, &out, NULL) == OK);
        double spent = cpu_seconds() - from;
        best = spent < best ? spent : best;
        *ret_bytes = out.len;
    }
    return best;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 30;
    static const unsigned sections[] = {5, 50, 500};

    page_start();
    printf("%10s %12s %12s %8s %14s\n", "body", "SAX walk", "digest", "ratio", "digest/body");
    for (size_t i = 0; i < countof(sections); i++) {
        BUF(page, 1 << 26);
        size_t bytes = 0;
        page_make(&page, sections[i]);
        double walk = walk_seconds(&page, rounds), made = digest_seconds(&page, rounds, &bytes);
        printf("%8zu B %9.0f us %9.0f us %8.2f %14.2f\n", page.len, walk * 1e6, made * 1e6,
                made / walk, (double)bytes / (double)page.len);
    }
    return 0;
}
