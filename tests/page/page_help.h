/* What the tests of page/ share: a source to its digest, and a digest as text. */
#pragma once
#include "page/page.h"
#include "tests/test.h"
#include <inttypes.h>

#define BASE_URL "http://x.org/d/p.html"

struct made {
    struct buf block;
    struct page_digest *d; /* NULL: refused */
    struct fault f;
};

static inline struct made make(
        struct arena *life, const char *bytes, size_t len, const char *content_type)
{
    struct page_source src = {bytes, len, content_type, BASE_URL};
    struct made m = {.f = {.code = OK}};

    buf_init(&m.block, PAGE_DIGEST_MAX);
    if (page_digest_make(&src, &m.block, &m.f) != OK)
        return m;
    if (page_digest_open(life, m.block.data, m.block.len, &m.f, &m.d) != OK) {
        test_fail(__FILE__, __LINE__, "made a digest that does not open: %s", m.f.message);
        m.d = NULL;
    }
    return m;
}

static inline void made_done(struct made *m)
{
    buf_done(&m->block);
}

/* div(p@id="a"("one") p("two")) */
static inline uint32_t show_node(
        const struct page_digest *d, uint32_t i, uint32_t *text, struct buf *out)
{
    if (d->tags[i] == 0) {
        buf_printf(out, "\"%s\"", page_text(d, (*text)++).ptr);
        return i + 1;
    }
    buf_puts(out, page_tag_name(d, d->tags[i]).ptr);
    for (uint32_t a = d->attr_at[i]; a < d->attr_at[i + 1]; a++)
        buf_printf(out, "@%s=\"%s\"", page_attr_name(d, a).ptr, page_attr_value(d, a).ptr);
    uint32_t n = d->children[i], next = i + 1;
    if (n)
        buf_putc(out, '(');
    for (uint32_t c = 0; c < n; c++) {
        if (c)
            buf_putc(out, ' ');
        next = show_node(d, next, text, out);
    }
    if (n)
        buf_putc(out, ')');
    return next;
}

static inline char *show(struct arena *life, const struct page_digest *d)
{
    BUF(out, 1 << 24);
    uint32_t text = 0;

    if (!d)
        return arena_strdup(life, "(refused)");
    for (uint32_t i = 0; i < d->nodes;) {
        if (i)
            buf_putc(&out, ' ');
        i = show_node(d, i, &text, &out);
    }
    return arena_strdup(life, buf_text(&out));
}

static inline char *tree_of(struct arena *life, const char *html)
{
    CLEANUP(made_done)
    struct made m = make(life, html, strlen(html), "text/html; charset=utf-8");
    return show(life, m.d);
}

#define EXPECT_TREE(html, expected)                                                            \
    do {                                                                                       \
        SCRATCH struct arena *tree_life = arena_new(NULL, "tree");                             \
        EXPECT_TEXT(tree_of(tree_life, (html)), (expected));                                   \
    } while (0)
