/* The builder: open, text and close in, the digest's arrays out.
 *
 * What a page says is what a browser would show of it, so it must hold that
 *  (1) a space at the start or the end of a block, or behind another space of the same block,
 *      is gone, and any other space stays in the text it stood in;
 *  (2) inline elements do not end a block, all others do, where they open and where they
 *      close;
 *  (3) a text left empty leaves no node; and
 *  (4) script, style, noscript and template leave no trace: the text before and the text
 *      behind are one.
 *
 * Whether a space is the last of its block is known only later.  Then it is cut off the
 * text written last, and if nothing is left its node is marked and skipped in finish.c.
 */
#include "page/page_int.h"
#include <stdlib.h>

struct open_element {
    uint32_t node;
    bool is_inline;
};

static const char *const inline_names[] = {
        "a", "b", "code", "em", "font", "i", "span", "strong", "sub", "sup", "u"};
static const char *const dropped_names[] = {"noscript", "script", "style", "template"};

bool page_tag_is_inline(struct str name)
{
    return name_is_one_of(name, inline_names, countof(inline_names));
}

void build_init(struct build *b, size_t max, bool xml)
{
    *b = (struct build){.max = max, .xml = xml, .drop_scripts = !xml};
    struct buf *all[] = {&b->children, &b->tags, &b->attr_at, &b->attrs, &b->text_node,
            &b->text_spans, &b->text_block, &b->links, &b->images, &b->addresses, &b->base,
            &b->open, &b->raw, &b->scratch};
    for (size_t i = 0; i < countof(all); i++)
        buf_init(all[i], max);
    buf_init(&b->text_pool, max < UINT32_MAX ? max : UINT32_MAX);
    intern_init(&b->tag_names, max);
    intern_init(&b->attr_strings, max);
    intern_get(&b->tag_names, STR("#text"));
}

void build_done(struct build *b)
{
    struct buf *all[] = {&b->children, &b->tags, &b->attr_at, &b->attrs, &b->text_node,
            &b->text_spans, &b->text_block, &b->text_pool, &b->links, &b->images, &b->addresses,
            &b->base, &b->open, &b->raw, &b->scratch};
    for (size_t i = 0; i < countof(all); i++)
        buf_done(all[i]);
    intern_done(&b->tag_names);
    intern_done(&b->attr_strings);
}

static void put(struct buf *to, uint32_t n)
{
    buf_append(to, &n, sizeof n);
}

static uint32_t *numbers(const struct buf *b)
{
    return (uint32_t *)(void *)b->data;
}

size_t build_depth(const struct build *b)
{
    return b->open.len / sizeof(struct open_element);
}

static struct open_element *innermost(const struct build *b)
{
    size_t n = build_depth(b);
    return n ? (struct open_element *)(void *)b->open.data + n - 1 : NULL;
}

/* A new node under the innermost open element; returns its number. */
static uint32_t node_add(struct build *b, uint32_t tag)
{
    uint32_t node = (uint32_t)(b->tags.len / sizeof(uint32_t));
    struct open_element *parent = innermost(b);

    put(&b->children, 0);
    put(&b->tags, tag);
    put(&b->attr_at, (uint32_t)(b->attrs.len / (2 * sizeof(uint32_t))));
    if (node >= PAGE_NODES_MAX)
        b->too_many = b->overflowed = true;
    if (b->children.overflowed || b->tags.overflowed || b->attr_at.overflowed)
        b->overflowed = true;
    else if (parent)
        numbers(&b->children)[parent->node]++;
    return node;
}

/* ---- text ----------------------------------------------------------------------------------
 */

static void text_add(struct build *b, struct str text)
{
    struct open_element *parent = innermost(b);
    struct span span = {(uint32_t)b->text_pool.len, (uint32_t)text.len};

    b->last_parent = parent ? parent->node : NO_NODE;
    put(&b->text_node, node_add(b, 0));
    buf_append(&b->text_spans, &span, sizeof span);
    buf_putc(&b->text_block, b->block_has_text ? 0 : 1);
    buf_append(&b->text_pool, text.ptr, text.len);
    buf_putc(&b->text_pool, 0);
    b->block_has_text = true;
    b->ends_in_space = text.ptr[text.len - 1] == ' ';
}

static void text_flush(struct build *b)
{
    if (b->raw.len == 0)
        return;
    buf_clear(&b->scratch);
    bool ok = text_normalise((struct str){b->raw.data, b->raw.len}, &b->scratch);
    buf_clear(&b->raw);
    b->overflowed |= !ok;
    if (!ok || b->overflowed)
        return;
    struct str text = {b->scratch.data, b->scratch.len};
    if (text.len && text.ptr[0] == ' ' && (!b->block_has_text || b->ends_in_space)) { /* (1) */
        text.ptr++;
        text.len--;
    }
    if (text.len) /* (3) */
        text_add(b, text);
}

static void text_remove_last(struct build *b)
{
    size_t last = b->text_node.len / sizeof(uint32_t) - 1;

    numbers(&b->tags)[numbers(&b->text_node)[last]] = NO_NODE; /* skipped in finish.c */
    if (b->last_parent != NO_NODE)
        numbers(&b->children)[b->last_parent]--;
    b->text_node.len -= sizeof(uint32_t);
    b->text_spans.len -= sizeof(struct span);
    b->text_block.len--;
    b->text_pool.len--;
    b->removed++;
}

static void block_end(struct build *b)
{
    text_flush(b);
    if (b->ends_in_space && !b->overflowed) { /* (1) */
        struct span *spans = (struct span *)(void *)b->text_spans.data;
        struct span *last = &spans[b->text_spans.len / sizeof(struct span) - 1];
        last->len--;
        b->text_pool.len--;
        b->text_pool.data[b->text_pool.len - 1] = 0;
        if (last->len == 0)
            text_remove_last(b);
    }
    b->block_has_text = b->ends_in_space = false;
}

void build_text(struct build *b, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        b->shown_bytes += !is_space(text.ptr[i]);
    if (!b->skip_depth)
        b->overflowed |= !buf_append(&b->raw, text.ptr, text.len);
}

/* ---- elements ------------------------------------------------------------------------------
 */

static void address_add(struct build *b, struct buf *to, struct str address)
{
    struct span span = {(uint32_t)b->addresses.len, (uint32_t)address.len};

    if (!buf_append(&b->addresses, address.ptr, address.len) ||
            !buf_append(to, &span, sizeof span))
        b->overflowed = true;
}

static bool is_address_value(struct str v)
{
    return str_starts_nocase(v, STR("http://")) || str_starts_nocase(v, STR("https://")) ||
           str_starts_nocase(v, STR("ftp://"));
}

static void image_note(struct build *b, struct str src, struct str data_src)
{
    bool usable = src.ptr && !str_starts_nocase(str_trim(src), STR("data:"));

    if (usable)
        address_add(b, &b->images, src);
    else if (data_src.ptr)
        address_add(b, &b->images, data_src);
}

/* What a page refers to is taken from attributes as they were written. */
static void addresses_note(struct build *b, struct str tag, const struct pair *attrs, size_t n)
{
    bool is_base = str_equal(tag, STR("base")), is_form = str_equal(tag, STR("form"));
    bool is_input = str_equal(tag, STR("input")), image_input = false;
    struct str src = {NULL, 0}, data_src = {NULL, 0};

    for (size_t i = 0; i < n; i++) {
        struct str name = attrs[i].name, value = attrs[i].value;
        if (str_equal(name, STR("href")) && is_base) {
            if (!b->has_base)
                buf_append(&b->base, value.ptr, value.len);
            b->has_base = true;
        } else if (str_equal(name, STR("href")) ||
                   (is_form && str_equal(name, STR("action"))) ||
                   (str_equal(name, STR("value")) && is_address_value(value))) {
            address_add(b, &b->links, value);
        } else if (str_equal(name, STR("src"))) {
            src = value;
        } else if (str_equal(name, STR("data-src"))) {
            data_src = value;
        } else if (is_input && str_equal(name, STR("type"))) {
            image_input = str_equal_nocase(str_trim(value), STR("image"));
        }
    }
    if (image_input || str_equal(tag, STR("img")))
        image_note(b, src, data_src);
}

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    size_t n = x->name.len < y->name.len ? x->name.len : y->name.len;
    int c = memcmp(x->name.ptr, y->name.ptr, n);

    if (c == 0 && x->name.len != y->name.len)
        c = x->name.len < y->name.len ? -1 : 1;
    if (c == 0) /* twins: the one that was written first */
        c = (uintptr_t)x->name.ptr < (uintptr_t)y->name.ptr ? -1 : 1;
    return c;
}

static void attribute_add(struct build *b, const struct pair *a)
{
    buf_clear(&b->scratch);
    b->overflowed |= !text_normalise(a->value, &b->scratch);
    struct str value = str_trim((struct str){buf_text(&b->scratch), b->scratch.len});
    put(&b->attrs, intern_get(&b->attr_strings, a->name));
    put(&b->attrs, intern_get(&b->attr_strings, value));
}

static size_t without_twins(struct pair *attrs, size_t n)
{
    size_t kept = 0;

    if (n > 1)
        qsort(attrs, n, sizeof *attrs, compare_pairs);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || !str_equal(attrs[kept - 1].name, attrs[i].name))
            attrs[kept++] = attrs[i];
    return kept;
}

void build_open(struct build *b, struct str name, struct pair *attrs, size_t nattrs)
{
    if (b->skip_depth ||
            (b->drop_scripts && name_is_one_of(name, dropped_names, countof(dropped_names)))) {
        b->skip_depth++; /* (4): the text before stays open */
        return;
    }
    if (build_depth(b) >= PAGE_DEPTH_MAX)
        b->too_deep = true;
    if (b->too_deep || b->overflowed)
        return;
    if (b->xml && b->tags.len == 0) /* a page in XML has scripts, a catalogue has none */
        b->drop_scripts =
                str_equal_nocase(name, STR("html")) || str_equal_nocase(name, STR("svg"));

    bool is_inline = page_tag_is_inline(name);
    if (is_inline)
        text_flush(b);
    else
        block_end(b); /* (2) */
    struct open_element e = {node_add(b, intern_get(&b->tag_names, name)), is_inline};
    nattrs = without_twins(attrs, nattrs);
    for (size_t i = 0; i < nattrs; i++)
        attribute_add(b, &attrs[i]);
    addresses_note(b, name, attrs, nattrs);
    buf_append(&b->open, &e, sizeof e);
    b->overflowed |= b->open.overflowed || b->attrs.overflowed ||
                     intern_is_full(&b->tag_names) || intern_is_full(&b->attr_strings);
}

void build_close(struct build *b)
{
    if (b->skip_depth) {
        b->skip_depth--;
        return;
    }
    if (b->too_deep || b->overflowed)
        return;
    struct open_element *e = innermost(b);
    CHECK(e);
    if (e->is_inline)
        text_flush(b);
    else
        block_end(b); /* (2) */
    b->open.len -= sizeof(struct open_element);
}

void build_end(struct build *b)
{
    b->skip_depth = 0;
    while (build_depth(b) && !b->too_deep && !b->overflowed)
        build_close(b);
    block_end(b);
}

void build_break(struct build *b)
{
    block_end(b);
}
