/* From the builder's arrays to one flat block.
 *
 * It must hold that
 *  (1) the block is a function of the page's canonical tree and addresses, so equal pages
 *      have equal hashes, array by array, and
 *  (2) a page that hit a limit has no block at all.
 */
#include "page/page_int.h"
#include <stdlib.h>

/* ---- addresses: absolute, sorted, each once -------------------------------------------------
 */

static bool scheme_is_link(struct str url)
{
    static const char *const kept[] = {"http:", "https:", "ftp:", "file:", "gopher:", "news:",
            "nntp:", "telnet:", "wais:"};

    for (size_t i = 0; i < countof(kept); i++)
        if (str_starts_nocase(url, str_of(kept[i])))
            return true;
    return false;
}

/* A long base makes each short reference long, so their sum has a limit as well. */
struct addresses {
    struct buf text; /* one behind the other, NUL-terminated */
    struct buf all;  /* struct span */
    size_t count;
};

static void addresses_done(struct addresses *a)
{
    buf_done(&a->text);
    buf_done(&a->all);
}

static const struct span *address_spans(const struct addresses *a)
{
    return (const struct span *)(const void *)a->all.data;
}

static int compare_spans(const void *a, const void *b, void *arg)
{
    const struct span *x = a, *y = b;
    const char *text = arg;
    size_t n = x->len < y->len ? x->len : y->len;
    int c = memcmp(text + x->at, text + y->at, n);
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

static void addresses_sort(struct addresses *a)
{
    struct span *all = (struct span *)(void *)a->all.data;
    size_t n = a->all.len / sizeof *all;

    if (n)
        qsort_r(all, n, sizeof *all, compare_spans, a->text.data);
    for (size_t i = 0; i < n; i++)
        if (a->count == 0 || compare_spans(&all[a->count - 1], &all[i], a->text.data) != 0)
            all[a->count++] = all[i];
}

static bool addresses_resolve(
        const struct build *b, const struct buf *spans, struct str base, struct addresses *ret)
{
    const struct span *span = (const struct span *)(const void *)spans->data;

    buf_init(&ret->text, b->max < UINT32_MAX ? b->max : UINT32_MAX);
    buf_init(&ret->all, b->max);
    for (size_t i = 0; i < spans->len / sizeof *span; i++) {
        struct str written = {b->addresses.data + span[i].at, span[i].len};
        size_t at = ret->text.len;
        bool ok = page_url_resolve(base, written, &ret->text);
        struct span s = {(uint32_t)at, (uint32_t)(ret->text.len - at)};
        if (ret->text.overflowed)
            return false;
        if (ok && scheme_is_link((struct str){ret->text.data + at, s.len})) {
            buf_append(&ret->all, &s, sizeof s);
            buf_putc(&ret->text, 0);
        } else {
            ret->text.len = at;
        }
    }
    addresses_sort(ret);
    return !ret->text.overflowed && !ret->all.overflowed;
}

/* ---- nodes
 * ------------------------------------------------------------------------------------ */

static uint32_t *numbers(const struct buf *b)
{
    return (uint32_t *)(void *)b->data;
}

/* Closes the gaps that texts which became empty left behind. */
static void nodes_compact(struct build *b)
{
    uint32_t n = (uint32_t)(b->tags.len / sizeof(uint32_t)), to = 0, text = 0;
    uint32_t *children = numbers(&b->children), *tags = numbers(&b->tags);
    uint32_t *attr_at = numbers(&b->attr_at), *text_node = numbers(&b->text_node);

    if (b->removed == 0)
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (tags[i] == NO_NODE)
            continue;
        if (tags[i] == 0)
            text_node[text++] = to;
        children[to] = children[i];
        tags[to] = tags[i];
        attr_at[to] = attr_at[i];
        to++;
    }
    b->children.len = b->tags.len = b->attr_at.len = to * sizeof(uint32_t);
    b->removed = 0;
}

/* ---- hashes
 * ----------------------------------------------------------------------------------- */

static struct hash128 hash_parts(const struct hash128 *parts, size_t n)
{
    return hash128_of(parts, n * sizeof *parts);
}

static struct hash128 hash_buf(const struct buf *b)
{
    return hash128_of(b->len ? b->data : "", b->len);
}

static struct hash128 hash_addresses(const struct addresses *a)
{
    struct hash128 all = {0, a->count};

    const struct span *spans = address_spans(a);

    for (size_t i = 0; i < a->count; i++) {
        struct hash128 two[2] = {all, hash128_of(a->text.data + spans[i].at, spans[i].len)};
        all = hash_parts(two, 2);
    }
    return all;
}

static void hashes_fill(const struct build *b, const struct addresses *links,
        const struct addresses *images, struct digest_header *h)
{
    struct hash128 tags[2] = {hash_buf(&b->tags), hash_buf(&b->tag_names.pool)};
    struct hash128 attrs[3] = {
            hash_buf(&b->attr_at), hash_buf(&b->attrs), hash_buf(&b->attr_strings.pool)};

    h->hash[PAGE_CHILDREN] = hash_buf(&b->children);
    h->hash[PAGE_TAGS] = hash_parts(tags, 2);
    h->hash[PAGE_ATTRIBUTES] = hash_parts(attrs, 3);
    h->hash[PAGE_CONTENT] = hash_buf(&b->text_pool);
    h->hash[PAGE_BLOCKS] = hash_buf(&b->text_block);
    h->hash[PAGE_LINKS] = hash_addresses(links);
    h->hash[PAGE_IMAGES] = hash_addresses(images);
    h->whole = hash_parts(h->hash, PAGE_CONTENT + 1);
}

/* ---- writing
 * ------------------------------------------------------------------------------------ */

static void put_spans(struct buf *out, const struct buf *spans, uint64_t shift)
{
    const struct span *s = (const struct span *)(const void *)spans->data;

    for (size_t i = 0; i < spans->len / sizeof *s; i++) {
        struct page_span moved = {(uint32_t)(s[i].at + shift), s[i].len};
        buf_append(out, &moved, sizeof moved);
    }
}

static void put_attribute_spans(struct buf *out, const struct build *b, uint64_t shift)
{
    const struct span *strings = (const struct span *)(const void *)b->attr_strings.spans.data;
    const uint32_t *attrs = numbers(&b->attrs);

    for (size_t i = 0; i < b->attrs.len / sizeof *attrs; i++) {
        struct span s = strings[attrs[i]];
        struct page_span moved = {(uint32_t)(s.at + shift), s.len};
        buf_append(out, &moved, sizeof moved);
    }
}

static uint64_t put_address_spans(struct buf *out, const struct addresses *a, uint64_t at)
{
    for (size_t i = 0; i < a->count; i++) {
        struct page_span s = {(uint32_t)at, address_spans(a)[i].len};
        buf_append(out, &s, sizeof s);
        at += s.len + 1;
    }
    return at;
}

static void put_buf(struct buf *out, const struct buf *from)
{
    buf_append(out, from->len ? from->data : "", from->len);
}

static uint64_t address_bytes(const struct addresses *a)
{
    uint64_t n = 0;
    for (size_t i = 0; i < a->count; i++)
        n += address_spans(a)[i].len + 1;
    return n;
}

static void put_addresses(struct buf *out, const struct addresses *a)
{
    for (size_t i = 0; i < a->count; i++)
        buf_append(out, a->text.data + address_spans(a)[i].at, address_spans(a)[i].len + 1);
}

static void block_write(const struct build *b, const struct addresses *links,
        const struct addresses *images, const struct addresses *base,
        const struct digest_header *h, struct buf *out)
{
    uint32_t attr_end = h->attributes;
    uint64_t tags_len = b->tag_names.pool.len, attrs_len = b->attr_strings.pool.len;

    buf_append(out, h, sizeof *h);
    put_buf(out, &b->children);
    put_buf(out, &b->tags);
    put_buf(out, &b->attr_at);
    buf_append(out, &attr_end, sizeof attr_end);
    put_buf(out, &b->text_node);
    put_spans(out, &b->tag_names.spans, 0);
    put_attribute_spans(out, b, tags_len);
    put_spans(out, &b->text_spans, tags_len + attrs_len);
    uint64_t at = put_address_spans(out, links, tags_len + attrs_len + b->text_pool.len);
    at = put_address_spans(out, images, at);
    put_address_spans(out, base, at);
    put_buf(out, &b->text_block);
    put_buf(out, &b->tag_names.pool);
    put_buf(out, &b->attr_strings.pool);
    put_buf(out, &b->text_pool);
    put_addresses(out, links);
    put_addresses(out, images);
    put_addresses(out, base);
    while (out->len % 8 && buf_putc(out, 0))
        ;
}

static struct str base_address(struct build *b, const struct page_source *src, struct buf *base)
{
    bool usable = src->url && utf8_is_valid(src->url, strlen(src->url));
    struct str url = str_of(usable ? src->url : ""), own = {buf_text(&b->base), b->base.len};

    if (b->has_base && page_url_resolve(url, own, base))
        return (struct str){base->data, base->len};
    return url;
}

/* The base as a list of one, written like the others. */
static bool base_keep(struct str base, size_t max, struct addresses *ret)
{
    struct span span = {0, (uint32_t)base.len};

    buf_init(&ret->text, max);
    buf_init(&ret->all, max);
    ret->count = 1;
    return buf_append(&ret->text, base.ptr, base.len) && buf_putc(&ret->text, 0) &&
           buf_append(&ret->all, &span, sizeof span);
}

static struct digest_header header_make(const struct build *b, const struct addresses *links,
        const struct addresses *images, const struct addresses *base)
{
    struct digest_header h = {.magic = DIGEST_MAGIC, .version = DIGEST_VERSION};

    h.nodes = (uint32_t)(b->tags.len / sizeof(uint32_t));
    h.tag_names = b->tag_names.count;
    h.attributes = (uint32_t)(b->attrs.len / (2 * sizeof(uint32_t)));
    h.texts = (uint32_t)(b->text_node.len / sizeof(uint32_t));
    h.links = (uint32_t)links->count;
    h.images = (uint32_t)images->count;
    h.string_bytes = b->tag_names.pool.len + b->attr_strings.pool.len + b->text_pool.len +
                     address_bytes(links) + address_bytes(images) + address_bytes(base);
    h.total = digest_total(&h);
    hashes_fill(b, links, images, &h);
    return h;
}

enum err build_finish(struct build *b, enum page_type type, bool malformed_xml,
        const struct page_source *src, struct buf *out, struct fault *f)
{
    CLEANUP(addresses_done) struct addresses links = {.count = 0}, images = {.count = 0};
    CLEANUP(addresses_done) struct addresses base_kept = {.count = 0};
    BUF(base_buf, b->max);

    build_end(b);
    if (b->too_deep) /* (2) */
        return fault_set(f, ERR_LIMIT, "elements are nested more than %d deep", PAGE_DEPTH_MAX);
    if (b->too_many)
        return fault_set(
                f, ERR_LIMIT, "the page has more than %d elements and texts", PAGE_NODES_MAX);
    if (b->overflowed)
        return fault_set(f, ERR_LIMIT, "the page's digest is larger than %zu bytes", b->max);
    nodes_compact(b);

    struct str base = base_address(b, src, &base_buf);
    if (!addresses_resolve(b, &b->links, base, &links) ||
            !addresses_resolve(b, &b->images, base, &images))
        return fault_set(
                f, ERR_LIMIT, "the page's addresses are larger than %zu bytes", b->max);
    if (!base_keep(base, b->max, &base_kept))
        return fault_set(f, ERR_LIMIT, "the page's address is larger than %zu bytes", b->max);
    struct digest_header h = header_make(b, &links, &images, &base_kept);
    h.type = (uint16_t)type;
    h.malformed_xml = malformed_xml;
    h.source_bytes = src->len;
    h.source = hash128_of(src->len ? src->bytes : "", src->len);
    buf_clear(out);
    if (h.string_bytes < UINT32_MAX && h.total <= out->max)
        block_write(b, &links, &images, &base_kept, &h, out);
    if (out->overflowed || out->len != h.total)
        return fault_set(f, ERR_LIMIT, "the page's digest is larger than %zu bytes", out->max);
    return OK;
}
