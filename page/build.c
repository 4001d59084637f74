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

/* Names that addresses are looked for under have fixed numbers, so that asking is cheap. */
enum { TAG_TEXT, TAG_BASE, TAG_FORM, TAG_IMG, TAG_INPUT, FIXED_TAGS };
enum { ATTR_HREF, ATTR_ACTION, ATTR_VALUE, ATTR_SRC, ATTR_DATA_SRC, ATTR_TYPE, FIXED_ATTRS };
static const char *const fixed_tags[FIXED_TAGS] = {"#text", "base", "form", "img", "input"};
static const char *const fixed_attrs[FIXED_ATTRS] = {
        "href", "action", "value", "src", "data-src", "type"};

bool page_tag_is_inline(struct str name)
{
    return name_is_one_of(name, inline_names, countof(inline_names));
}

void build_init(struct build *b, size_t max, bool xml)
{
    *b = (struct build){.max = max, .xml = xml, .drop_scripts = !xml, .at_space = true};
    struct buf *all[] = {&b->nodes, &b->attrs, &b->text_spans, &b->text_block, &b->links,
            &b->images, &b->base, &b->open, &b->scratch};
    for (size_t i = 0; i < countof(all); i++)
        buf_init(all[i], max);
    buf_init(&b->text_pool, max < UINT32_MAX ? max : UINT32_MAX);
    intern_init(&b->tag_names, max);
    intern_init(&b->attr_strings, max);
    for (size_t i = 0; i < FIXED_TAGS; i++)
        intern_get(&b->tag_names, str_of(fixed_tags[i]));
    for (size_t i = 0; i < FIXED_ATTRS; i++)
        intern_get(&b->attr_strings, str_of(fixed_attrs[i]));
    b->overflowed = intern_is_full(&b->tag_names) || intern_is_full(&b->attr_strings);
}

void build_expect(struct build *b, size_t source_bytes)
{
    struct {
        struct buf *buf;
        size_t bytes;
    } all[] = {{&b->text_pool, source_bytes},
            {&b->nodes, source_bytes / 24 * sizeof(struct build_node)},
            {&b->text_spans, source_bytes / 48 * sizeof(struct span)},
            {&b->attrs, source_bytes / 64 * sizeof(struct build_attr)}};

    for (size_t i = 0; i < countof(all); i++)
        if (all[i].bytes < all[i].buf->max) /* a guess may not make it too large */
            buf_reserve(all[i].buf, all[i].bytes);
}

void build_done(struct build *b)
{
    struct buf *all[] = {&b->nodes, &b->attrs, &b->text_spans, &b->text_block, &b->text_pool,
            &b->links, &b->images, &b->base, &b->open, &b->scratch};
    for (size_t i = 0; i < countof(all); i++)
        buf_done(all[i]);
    intern_done(&b->tag_names);
    intern_done(&b->attr_strings);
}

size_t build_depth(const struct build *b)
{
    return b->open.len / sizeof(struct open_element);
}

static struct open_element *innermost(const struct build *b)
{
    return b->open.len ? (struct open_element *)(void *)(b->open.data + b->open.len) - 1 : NULL;
}

static struct build_node *node_at(const struct build *b, uint32_t node)
{
    return (struct build_node *)(void *)b->nodes.data + node;
}

/* A new node under the innermost open element; returns its number. */
static inline uint32_t node_add(
        struct build *b, const struct open_element *parent, struct build_node n)
{
    uint32_t node = (uint32_t)(b->nodes.len / sizeof n);

    if (node >= PAGE_NODES_MAX)
        b->too_many = b->overflowed = true;
    if (!buf_push(&b->nodes, &n, sizeof n))
        b->overflowed = true;
    else if (parent)
        node_at(b, parent->node)->children++;
    return node;
}

/* ---- text -------------------------------------------------------------------------------- */

void build_text_within(struct build *b, struct str text, const char *limit)
{
    if (b->skip_depth || b->overflowed)
        return;
    size_t room = text.len + TEXT_SQUEEZE_ROOM;
    if (b->text_pool.cap - b->text_pool.len <= room && !buf_reserve(&b->text_pool, room)) {
        b->overflowed = true;
        return;
    }
    char *to = b->text_pool.data + b->text_pool.len;
    b->text_pool.len = (size_t)(text_squeeze(text, limit, to, &b->at_space, &b->unicode) -
                                b->text_pool.data); /* (1) */
}

void build_text(struct build *b, struct str text)
{
    build_text_within(b, text, text.ptr + text.len);
}

static void text_end(struct build *b)
{
    struct open_element *parent = innermost(b);

    if (b->unicode && !text_compose(&b->text_pool, b->text_from)) {
        b->overflowed = true;
        return;
    }
    struct span span = {(uint32_t)b->text_from, (uint32_t)(b->text_pool.len - b->text_from)};
    b->last_parent = parent ? parent->node : NO_NODE;
    node_add(b, parent, (struct build_node){.tag = TAG_TEXT});
    if (!buf_push(&b->text_spans, &span, sizeof span) ||
            !buf_push_char(&b->text_block, b->block_has_text ? 0 : 1) ||
            !buf_push_char(&b->text_pool, 0))
        b->overflowed = true;
    b->text_from = b->text_pool.len;
    b->block_has_text = true;
    b->unicode = false;
}

static inline void text_flush(struct build *b)
{
    if (b->text_pool.len != b->text_from && !b->overflowed) /* (3) */
        text_end(b);
}

static void text_remove_last(struct build *b)
{
    uint32_t last = (uint32_t)(b->nodes.len / sizeof(struct build_node)) - 1;

    while (node_at(b, last)->tag != TAG_TEXT)
        last--;
    node_at(b, last)->tag = NO_NODE; /* skipped in finish.c */
    if (b->last_parent != NO_NODE)
        node_at(b, b->last_parent)->children--;
    b->text_spans.len -= sizeof(struct span);
    b->text_block.len--;
    b->text_pool.len--;
    b->removed++;
}

static void block_end(struct build *b)
{
    text_flush(b);
    if (b->block_has_text && b->at_space && !b->overflowed) { /* (1) */
        struct span *spans = (struct span *)(void *)b->text_spans.data;
        struct span *last = &spans[b->text_spans.len / sizeof(struct span) - 1];
        last->len--;
        b->text_pool.len--;
        b->text_pool.data[b->text_pool.len - 1] = 0;
        if (last->len == 0)
            text_remove_last(b);
        b->text_from = b->text_pool.len;
    }
    b->block_has_text = false;
    b->at_space = true;
}

/* ---- addresses --------------------------------------------------------------------------- */

static void address_add(struct build *b, struct buf *to, uint32_t raw)
{
    b->overflowed |= !buf_push(to, &raw, sizeof raw);
}

static bool is_address_value(struct str v)
{
    return str_starts_nocase(v, STR("http://")) || str_starts_nocase(v, STR("https://")) ||
           str_starts_nocase(v, STR("ftp://"));
}

/* `src` and `data_src` are attributes, NULL where there is none. */
static void image_note(
        struct build *b, const struct build_attr *src, const struct build_attr *data_src)
{
    bool usable = src && !str_starts_nocase(str_trim(intern_text(&b->attr_strings, src->raw)),
                                 STR("data:"));

    if (usable)
        address_add(b, &b->images, src->raw);
    else if (data_src)
        address_add(b, &b->images, data_src->raw);
}

static void base_note(struct build *b, struct str value)
{
    if (!b->has_base)
        buf_push(&b->base, value.ptr, value.len);
    b->has_base = true;
}

/* What a page refers to is taken from attributes as they were written. */
static void addresses_note(struct build *b, uint32_t tag, uint32_t from, uint32_t n)
{
    const struct build_attr *attrs = (const struct build_attr *)(const void *)b->attrs.data;
    const struct build_attr *src = NULL, *data_src = NULL;
    bool image = tag == TAG_IMG;

    for (uint32_t i = from; i < from + n; i++) {
        if (attrs[i].name >= FIXED_ATTRS)
            continue;
        struct str value = intern_text(&b->attr_strings, attrs[i].raw);
        switch (attrs[i].name) {
        case ATTR_HREF:
            if (tag == TAG_BASE)
                base_note(b, value);
            else
                address_add(b, &b->links, attrs[i].raw);
            break;
        case ATTR_ACTION:
            if (tag == TAG_FORM)
                address_add(b, &b->links, attrs[i].raw);
            break;
        case ATTR_VALUE:
            if (is_address_value(value))
                address_add(b, &b->links, attrs[i].raw);
            break;
        case ATTR_SRC:
            src = &attrs[i];
            break;
        case ATTR_DATA_SRC:
            data_src = &attrs[i];
            break;
        case ATTR_TYPE:
            image |= tag == TAG_INPUT && str_equal_nocase(str_trim(value), STR("image"));
            break;
        }
    }
    if (image)
        image_note(b, src, data_src);
}

/* ---- attributes -------------------------------------------------------------------------- */

static int compare_names(struct str a, struct str b)
{
    size_t n = a.len < b.len ? a.len : b.len;

    if (n && a.ptr[0] != b.ptr[0])
        return (unsigned char)a.ptr[0] - (unsigned char)b.ptr[0];
    int c = memcmp(a.ptr, b.ptr, n);
    return c ? c : (a.len > b.len) - (a.len < b.len);
}

/* By name; twins in the order they were written. */
static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    int c = compare_names(x->name, y->name);

    return c ? c : (x->place > y->place) - (x->place < y->place);
}

/* Few as they mostly are, each is put into its place. */
static void pairs_sort(struct pair *attrs, size_t n)
{
    enum { FEW = 12 };

    for (size_t i = 1; i < n && n <= FEW; i++) {
        struct pair p = attrs[i];
        size_t to = i;
        for (; to > 0 && compare_names(attrs[to - 1].name, p.name) > 0; to--)
            attrs[to] = attrs[to - 1];
        attrs[to] = p;
    }
    for (size_t i = 0; i < n && n > FEW; i++)
        attrs[i].place = (uint32_t)i;
    if (n > FEW)
        qsort(attrs, n, sizeof *attrs, compare_pairs);
}

static size_t without_twins(struct pair *attrs, size_t n)
{
    size_t kept = 0;

    pairs_sort(attrs, n);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || !str_equal(attrs[kept - 1].name, attrs[i].name))
            attrs[kept++] = attrs[i];
    return kept;
}

/* Nothing to squeeze, trim, drop or compose. */
static bool is_tidy(struct str s)
{
    bool space = true;

    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] > ' ' && s.ptr[i] != 0x7F)
            space = false;
        else if (s.ptr[i] == ' ' && !space)
            space = true;
        else
            return false;
    }
    return !space || s.len == 0;
}

static struct build_attr attribute_make(struct build *b, const struct pair *a)
{
    struct build_attr made = {.name = intern_get_name(&b->attr_strings, a->name)};

    made.value = made.raw = intern_get(&b->attr_strings, a->value);
    if (a->tidy || is_tidy(a->value))
        return made;
    buf_clear(&b->scratch);
    b->overflowed |= !text_normalise(a->value, &b->scratch);
    made.value = intern_get(
            &b->attr_strings, str_trim((struct str){buf_text(&b->scratch), b->scratch.len}));
    return made;
}

size_t build_attributes(struct build *b, struct pair *attrs, size_t n)
{
    n = without_twins(attrs, n);
    for (size_t i = 0; i < n; i++) {
        struct build_attr a = attribute_make(b, &attrs[i]);
        if (!buf_push(&b->attrs, &a, sizeof a))
            b->overflowed = true;
    }
    b->overflowed |= intern_is_full(&b->attr_strings);
    return b->overflowed ? 0 : n;
}

size_t build_attributes_join(
        struct build *b, uint32_t first, uint32_t nfirst, uint32_t second, uint32_t nsecond)
{
    size_t n = 0;

    for (uint32_t i = 0, k = 0; i < nfirst || k < nsecond; n++) {
        const struct build_attr *attrs = (const struct build_attr *)(const void *)b->attrs.data;
        int c = i == nfirst ? 1
                : k == nsecond
                        ? -1
                        : compare_names(intern_text(&b->attr_strings, attrs[first + i].name),
                                  intern_text(&b->attr_strings, attrs[second + k].name));
        struct build_attr a = attrs[c <= 0 ? first + i : second + k];
        i += c <= 0;
        k += c >= 0;
        if (!buf_push(&b->attrs, &a, sizeof a))
            b->overflowed = true;
    }
    return b->overflowed ? 0 : n;
}

/* ---- elements ---------------------------------------------------------------------------- */

void build_open_numbers(
        struct build *b, uint32_t tag, bool is_inline, uint32_t attrs, uint32_t nattrs)
{
    if (build_depth(b) >= PAGE_DEPTH_MAX)
        b->too_deep = true;
    if (b->too_deep || b->overflowed)
        return;
    if (is_inline)
        text_flush(b);
    else
        block_end(b); /* (2) */
    struct build_node n = {.tag = tag, .attrs = attrs, .nattrs = nattrs};
    struct open_element e = {node_add(b, innermost(b), n), is_inline};
    if (nattrs)
        addresses_note(b, tag, attrs, nattrs);
    b->overflowed |= !buf_push(&b->open, &e, sizeof e);
}

void build_open(struct build *b, struct str name, struct pair *attrs, size_t nattrs)
{
    if (b->skip_depth ||
            (b->drop_scripts && name_is_one_of(name, dropped_names, countof(dropped_names)))) {
        b->skip_depth++; /* (4): the text before stays open */
        return;
    }
    if (b->xml && b->nodes.len == 0) /* a page in XML has scripts, a catalogue has none */
        b->drop_scripts =
                str_equal_nocase(name, STR("html")) || str_equal_nocase(name, STR("svg"));
    if (b->too_deep || b->overflowed)
        return;
    uint32_t from = (uint32_t)(b->attrs.len / sizeof(struct build_attr));
    size_t n = build_attributes(b, attrs, nattrs);
    uint32_t tag = intern_get(&b->tag_names, name);
    b->overflowed |= intern_is_full(&b->tag_names);
    build_open_numbers(b, tag, !b->no_inline && page_tag_is_inline(name), from, (uint32_t)n);
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
