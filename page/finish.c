/* From the builder's arrays to one flat block.
 *
 * It must hold that
 *  (1) the block is a function of the page's canonical tree and addresses, so equal pages
 *      have equal hashes, array by array: strings are numbered anew, in the order in which
 *      the finished tree first names them, and
 *  (2) a page that hit a limit has no block at all.
 *
 * The block is small, because it is stored with every version: an element is mostly one
 * byte, the number of its kind (name, names of attributes, few children); a text is one byte
 * and its bytes; a value is written once, as what it adds to the one before.
 */
#include "page/page_int.h"
#include <stdlib.h>

/* Strings by the builder's number, and their new numbers. */
struct numbering {
    struct buf map;   /* uint32_t by the builder's number; NO_NODE: not met yet */
    struct buf order; /* uint32_t: the builder's numbers, in their new order */
};

struct writer {
    struct build *b;
    struct numbering tags, names, values;
    struct buf last_value; /* uint32_t by new number of a name: the value before */
    struct intern kinds;   /* their bytes as they are written */
    struct buf parts[PART_COUNT];
    struct buf children, tag_array, attr_array, value_pool; /* what is hashed */
    struct buf kind;
    uint32_t nodes, attributes;
    uint64_t value_bytes;
    bool full;
};

static uint32_t *numbers(const struct buf *b)
{
    return (uint32_t *)(void *)b->data;
}

static bool numbering_init(struct numbering *n, size_t max, uint32_t count)
{
    buf_init(&n->map, max);
    buf_init(&n->order, max);
    if (!buf_reserve(&n->map, count * sizeof(uint32_t)) ||
            !buf_reserve(&n->order, count * sizeof(uint32_t)))
        return false;
    memset(n->map.data, 0xFF, count * sizeof(uint32_t));
    return true;
}

static uint32_t numbering_count(const struct numbering *n)
{
    return (uint32_t)(n->order.len / sizeof(uint32_t));
}

/* `*ret_is_new`: met for the first time. */
static uint32_t number_of(struct numbering *n, uint32_t old, bool *ret_is_new)
{
    uint32_t *map = numbers(&n->map);

    *ret_is_new = map[old] == NO_NODE;
    if (*ret_is_new) {
        map[old] = numbering_count(n);
        buf_push(&n->order, &old, sizeof old);
    }
    return map[old];
}

static bool writer_init(struct writer *w, struct build *b)
{
    size_t nodes = b->nodes.len / sizeof(struct build_node);

    *w = (struct writer){.b = b};
    struct buf *all[] = {&w->last_value, &w->children, &w->tag_array, &w->attr_array,
            &w->value_pool, &w->kind};
    for (size_t i = 0; i < countof(all); i++)
        buf_init(all[i], b->max);
    for (size_t i = 0; i < PART_COUNT; i++)
        buf_init(&w->parts[i], b->max);
    intern_init(&w->kinds, b->max);
    return numbering_init(&w->tags, b->max, b->tag_names.count) &&
           numbering_init(&w->names, b->max, b->attr_strings.count) &&
           numbering_init(&w->values, b->max, b->attr_strings.count) &&
           buf_reserve(&w->children, nodes * sizeof(uint32_t)) &&
           buf_reserve(&w->tag_array, nodes * sizeof(uint32_t)) &&
           buf_reserve(&w->parts[PART_NODES], 2 * nodes) &&
           buf_reserve(&w->parts[PART_TEXTS], b->text_pool.len);
}

static void writer_done(struct writer *w)
{
    struct buf *all[] = {&w->tags.map, &w->tags.order, &w->names.map, &w->names.order,
            &w->values.map, &w->values.order, &w->last_value, &w->children, &w->tag_array,
            &w->attr_array, &w->value_pool, &w->kind};
    for (size_t i = 0; i < countof(all); i++)
        buf_done(all[i]);
    for (size_t i = 0; i < PART_COUNT; i++)
        buf_done(&w->parts[i]);
    intern_done(&w->kinds);
}

static bool writer_is_full(const struct writer *w)
{
    bool full = w->full || intern_is_full(&w->kinds) || w->last_value.overflowed ||
                w->children.overflowed || w->tag_array.overflowed || w->attr_array.overflowed ||
                w->value_pool.overflowed || w->kind.overflowed;

    for (size_t i = 0; i < PART_COUNT; i++)
        full |= w->parts[i].overflowed;
    return full;
}

/* ---- the parts --------------------------------------------------------------------------- */

static void put_byte(struct buf *out, unsigned char c)
{
    buf_push_char(out, (char)c);
}

static void put_varint(struct buf *out, uint32_t n)
{
    for (; n >= 0x80; n >>= 7)
        put_byte(out, (unsigned char)(n | 0x80));
    put_byte(out, (unsigned char)n);
}

static void put_number(struct buf *out, uint32_t n)
{
    buf_push(out, &n, sizeof n);
}

/* What `s` adds to `before`. */
static void put_added(struct buf *out, struct str before, struct str s)
{
    size_t same = 0, most = before.len < s.len ? before.len : s.len;

    while (same < most && before.ptr[same] == s.ptr[same])
        same++;
    put_varint(out, (uint32_t)same);
    put_varint(out, (uint32_t)(s.len - same));
    buf_push(out, s.ptr + same, s.len - same);
}

/* A value's number, and where it is new the value itself, behind the name's one before. */
static void put_value(struct writer *w, uint32_t name, uint32_t old)
{
    bool is_new;
    uint32_t value = number_of(&w->values, old, &is_new);
    uint32_t *last = &numbers(&w->last_value)[name];

    put_varint(&w->parts[PART_NODES], is_new ? 0 : value + 1);
    put_number(&w->attr_array, value);
    if (is_new) {
        struct str s = intern_text(&w->b->attr_strings, old), before = {"", 0};
        if (*last != NO_NODE)
            before = intern_text(&w->b->attr_strings, *last);
        put_added(&w->parts[PART_VALUES], before, s);
        buf_push(&w->value_pool, s.ptr, s.len + 1);
        w->value_bytes += s.len + 1;
        *last = old;
    }
    w->attributes++;
}

static uint32_t name_number(struct writer *w, uint32_t old)
{
    bool is_new;
    uint32_t name = number_of(&w->names, old, &is_new);

    if (is_new)
        put_number(&w->last_value, NO_NODE);
    return name;
}

static void put_element(struct writer *w, const struct build_node *n)
{
    const struct build_attr *attrs =
            (const struct build_attr *)(const void *)buf_text(&w->b->attrs) + n->attrs;
    struct buf *out = &w->parts[PART_NODES];
    bool is_new;
    uint32_t tag = number_of(&w->tags, n->tag, &is_new);

    w->kind.len = 0;
    put_varint(&w->kind, tag);
    put_varint(&w->kind, n->children < KIND_MANY ? n->children : KIND_MANY);
    put_varint(&w->kind, n->nattrs);
    put_number(&w->attr_array, n->nattrs);
    for (uint32_t i = 0; i < n->nattrs; i++)
        put_varint(&w->kind, name_number(w, attrs[i].name));
    uint32_t kind = intern_get(&w->kinds, (struct str){w->kind.data, w->kind.len});
    put_byte(out, (unsigned char)(kind < CODE_KIND_LONG ? kind : CODE_KIND_LONG));
    if (kind >= CODE_KIND_LONG)
        put_varint(out, kind - CODE_KIND_LONG);
    if (n->children >= KIND_MANY)
        put_varint(out, n->children - KIND_MANY);
    for (uint32_t i = 0; i < n->nattrs; i++) {
        uint32_t name = name_number(w, attrs[i].name);
        put_number(&w->attr_array, name);
        put_value(w, name, attrs[i].value);
    }
    put_number(&w->children, n->children);
    put_number(&w->tag_array, tag);
    w->nodes++;
}

static void put_text(struct writer *w, uint32_t text)
{
    struct span s = ((const struct span *)(const void *)w->b->text_spans.data)[text];
    struct buf *out = &w->parts[PART_NODES];
    unsigned begins = w->b->text_block.data[text] ? CODE_TEXT_BEGINS : 0;

    put_byte(out, (unsigned char)(CODE_TEXT | begins |
                                  (s.len < CODE_TEXT_LONG ? s.len : CODE_TEXT_LONG)));
    if (s.len >= CODE_TEXT_LONG)
        put_varint(out, s.len - CODE_TEXT_LONG);
    buf_push(&w->parts[PART_TEXTS], w->b->text_pool.data + s.at, s.len);
    put_number(&w->attr_array, 0);
    put_number(&w->children, 0);
    put_number(&w->tag_array, 0);
    w->nodes++;
}

static void put_tree(struct writer *w)
{
    const struct build_node *all = (const struct build_node *)(const void *)w->b->nodes.data;
    size_t n = w->b->nodes.len / sizeof *all;
    uint32_t text = 0;
    bool is_new;

    number_of(&w->tags, 0, &is_new); /* #text is the first */
    for (size_t i = 0; i < n; i++) {
        if (all[i].tag == 0)
            put_text(w, text++);
        else if (all[i].tag != NO_NODE) /* NO_NODE: a text that became empty */
            put_element(w, &all[i]);
    }
}

static void put_names(struct buf *out, const struct intern *strings, const struct numbering *n)
{
    for (uint32_t i = 0; i < numbering_count(n); i++) {
        struct str s = intern_text(strings, numbers(&n->order)[i]);
        put_varint(out, (uint32_t)s.len);
        buf_push(out, s.ptr, s.len);
    }
}

/* Returns how many bytes they are when written out. */
static uint64_t put_addresses(struct buf *out, const struct addresses *a)
{
    struct str before = {"", 0};
    uint64_t bytes = 0;

    for (size_t i = 0; i < a->count; i++) {
        struct str s = {a->text.data + address_spans(a)[i].at, address_spans(a)[i].len};
        put_added(out, before, s);
        bytes += s.len + 1;
        before = s;
    }
    return bytes;
}

/* ---- hashes ------------------------------------------------------------------------------ */

static struct hash128 hash_buf(const struct buf *b)
{
    return hash128_of(b->len ? b->data : "", b->len);
}

static void hashes_fill(const struct writer *w, const struct addresses *links,
        const struct addresses *images, struct digest_header *h)
{
    struct hash128 tags[2] = {hash_buf(&w->tag_array), hash_buf(&w->parts[PART_TAGS])};
    struct hash128 attrs[3] = {hash_buf(&w->attr_array), hash_buf(&w->parts[PART_NAMES]),
            hash_buf(&w->value_pool)};

    h->hash[PAGE_CHILDREN] = hash_buf(&w->children);
    h->hash[PAGE_TAGS] = hash128_of(tags, sizeof tags);
    h->hash[PAGE_ATTRIBUTES] = hash128_of(attrs, sizeof attrs);
    h->hash[PAGE_CONTENT] = hash_buf(&w->b->text_pool);
    h->hash[PAGE_BLOCKS] = hash_buf(&w->b->text_block);
    h->hash[PAGE_LINKS] = addresses_hash(links);
    h->hash[PAGE_IMAGES] = addresses_hash(images);
    h->whole = hash128_of(h->hash, (PAGE_CONTENT + 1) * sizeof h->hash[0]);
}

/* ---- the whole --------------------------------------------------------------------------- */

/* A base that nothing can be seen from is none, says the HTML standard. */
static bool is_base(struct str url)
{
    return !str_starts_nocase(url, STR("data:")) && !str_starts_nocase(url, STR("javascript:"));
}

static struct str base_address(struct build *b, const struct page_source *src, struct buf *base)
{
    bool usable = src->url && utf8_is_valid(src->url, strlen(src->url));
    struct str url = str_of(usable ? src->url : ""), own = {buf_text(&b->base), b->base.len};

    if (b->has_base && page_url_resolve(url, own, base) &&
            is_base((struct str){base->data, base->len}))
        return (struct str){base->data, base->len};
    return url;
}

static struct digest_header header_make(const struct writer *w, enum page_type type,
        bool malformed_xml, const struct page_source *src)
{
    struct digest_header h = {.magic = DIGEST_MAGIC,
            .version = DIGEST_VERSION,
            .type = (uint16_t)type,
            .malformed_xml = malformed_xml,
            .source_bytes = src->len,
            .source = hash128_of(src->len ? src->bytes : "", src->len),
            .nodes = w->nodes,
            .tag_names = numbering_count(&w->tags),
            .attr_names = numbering_count(&w->names),
            .kinds = w->kinds.count,
            .values = numbering_count(&w->values),
            .attributes = w->attributes,
            .texts = (uint32_t)(w->b->text_spans.len / sizeof(struct span)),
            .value_bytes = (uint32_t)w->value_bytes,
            .total = sizeof h};

    for (size_t i = 0; i < PART_COUNT; i++) {
        h.part_bytes[i] = (uint32_t)w->parts[i].len;
        h.total += w->parts[i].len;
    }
    return h;
}

static enum err too_large(size_t max, struct fault *f)
{
    return fault_set(f, ERR_LIMIT, "the page's digest is larger than %zu bytes", max);
}

static enum err block_write(struct writer *w, struct str base, enum page_type type,
        bool malformed_xml, const struct page_source *src, struct buf *out, struct fault *f)
{
    CLEANUP(addresses_done) struct addresses links = {.count = 0}, images = {.count = 0};
    struct build *b = w->b;

    if (!addresses_resolve(b, &b->links, base, &links) ||
            !addresses_resolve(b, &b->images, base, &images))
        return fault_set(
                f, ERR_LIMIT, "the page's addresses are larger than %zu bytes", b->max);
    put_tree(w);
    put_names(&w->parts[PART_TAGS], &b->tag_names, &w->tags);
    put_names(&w->parts[PART_NAMES], &b->attr_strings, &w->names);
    for (uint32_t i = 0; i < w->kinds.count; i++) {
        struct str kind = intern_text(&w->kinds, i);
        buf_push(&w->parts[PART_KINDS], kind.ptr, kind.len);
    }
    uint64_t link_bytes = put_addresses(&w->parts[PART_LINKS], &links);
    uint64_t image_bytes = put_addresses(&w->parts[PART_IMAGES], &images);
    buf_push(&w->parts[PART_BASE], base.ptr, base.len);
    if (writer_is_full(w) || w->value_bytes + link_bytes + image_bytes > PAGE_DIGEST_MAX)
        return too_large(b->max, f);

    struct digest_header h = header_make(w, type, malformed_xml, src);
    h.links = (uint32_t)links.count;
    h.images = (uint32_t)images.count;
    h.link_bytes = (uint32_t)link_bytes;
    h.image_bytes = (uint32_t)image_bytes;
    hashes_fill(w, &links, &images, &h);
    buf_clear(out);
    buf_push(out, &h, sizeof h);
    for (size_t i = 0; i < PART_COUNT; i++)
        buf_push(out, buf_text(&w->parts[i]), w->parts[i].len);
    return out->overflowed ? too_large(out->max, f) : OK;
}

enum err build_finish(struct build *b, enum page_type type, bool malformed_xml,
        const struct page_source *src, struct buf *out, struct fault *f)
{
    CLEANUP(writer_done) struct writer w;
    BUF(base_buf, b->max);

    build_end(b);
    bool room = writer_init(&w, b);
    if (b->too_deep) /* (2) */
        return fault_set(f, ERR_LIMIT, "elements are nested more than %d deep", PAGE_DEPTH_MAX);
    if (b->too_many)
        return fault_set(
                f, ERR_LIMIT, "the page has more than %d elements and texts", PAGE_NODES_MAX);
    if (b->overflowed || !room)
        return too_large(b->max, f);
    return block_write(&w, base_address(b, src, &base_buf), type, malformed_xml, src, out, f);
}
