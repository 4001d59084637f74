/* doc_page -- pages of the size and shape of documentation, made and edited by number. */
#pragma once
#include "base/buf.h"

/* What another version of the page has otherwise. */
struct doc_edits {
    unsigned script; /* what is in the script, which nobody is shown */
    unsigned every;  /* one word in this many is another; 0: none */
};

static inline void doc_words(
        struct buf *out, unsigned *state, unsigned *count, unsigned n, struct doc_edits edits)
{
    static const char *const words[] = {"change", "of", "the", "page", "version", "caf\xC3\xA9",
            "and", "sentinel", "&amp;", "monitor", "10.50", "price", "<b>bold</b>",
            "<i>some</i>", "text,"};
    for (unsigned i = 0; i < n; i++) {
        *state = *state * 1664525u + 1013904223u;
        if (edits.every && ++*count % edits.every == 0)
            buf_printf(out, "edited%u ", *count);
        else
            buf_printf(out, "%s ", words[(*state >> 16) % countof(words)]);
    }
}

static inline void doc_page(struct buf *out, unsigned sections, struct doc_edits edits)
{
    unsigned state = sections, count = 0;
    buf_printf(out,
            "<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>A page</title>"
            "<link rel=stylesheet href=/s.css><script>var x = %u;</script></head><body>\n",
            edits.script);
    for (unsigned i = 0; i < sections; i++) {
        buf_printf(out,
                "<div class=\"section level%u\" id=\"s%u\">\n<h2>Section %u<a "
                "class=\"headerlink\" "
                "href=\"#s%u\" title=\"Permalink\">&para;</a></h2>\n<p>",
                i % 3, i, i, i);
        doc_words(out, &state, &count, 40, edits);
        buf_puts(out, "</p>\n<ul>\n");
        for (unsigned k = 0; k < 4; k++) {
            buf_printf(
                    out, "<li><a class=\"reference internal\" href=\"/doc/%u/%u.html\">", i, k);
            doc_words(out, &state, &count, 5, edits);
            buf_puts(out, "</a></li>\n");
        }
        buf_puts(out, "</ul>\n<table><tr><td>1</td><td>2</td></tr></table>\n</div>\n");
    }
    buf_puts(out, "</body></html>\n");
}
