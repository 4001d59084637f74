/* From the builder's arrays to one flat block.
 *
 * It must hold that
 *  (1) the block is a function of the page's canonical tree and addresses, so equal pages
 *      have equal hashes, array by array: strings are numbered anew, in the order in which
 *      the finished tree first names them, and
 *  (2) a page that hit a limit has no block at all.
 *
 * What is hashed are the arrays, not the block: another way to write them down leaves the
 * hashes as they are.
 */
#include "page/block.h"
#include "page/scan.h"
#include <stdlib.h>

/* Strings by the builder's number, and their new numbers. */
struct numbering {
    struct buf map;   /* uint32_t by the builder's number; NO_NODE: not met yet */
    struct buf order; /* uint32_t: the builder's numbers, in their new order */
    struct buf codes; /* uint32_t by new number: how a kind tells this name; tags, names */
};

struct writer {
    struct build *b;
    struct numbering tags, names, values;
    struct buf last_value; /* uint32_t by new number of a name: the value before */
    struct intern kinds;   /* by what makes them one: new numbers */
    struct buf parts[PART_COUNT];
    struct buf children, tag_array, attr_array, value_pool; /* what is hashed */
    struct buf kind;
    uint32_t nodes, attributes, new_names;
    uint64_t value_bytes;
};

static uint32_t *numbers(const struct buf *b)
{
    return (uint32_t *)(void *)b->data;
}

static bool numbering_init(struct numbering *n, size_t max, uint32_t count)
{
    buf_init(&n->map, max);
    buf_init(&n->order, max);
    buf_init(&n->codes, max);
    if (!buf_reserve(&n->map, count * sizeof(uint32_t)) ||
            !buf_reserve(&n->order, count * sizeof(uint32_t)))
        return false;
    memset(n->map.data, 0xFF, count * sizeof(uint32_t));
    return true;
}

static void numbering_done(struct numbering *n)
{
    buf_done(&n->map);
    buf_done(&n->order);
    buf_done(&n->codes);
}

static uint32_t numbering_count(const struct numbering *n)
{
    return (uint32_t)(n->order.len / sizeof(uint32_t));
}

/* `*ret_is_new`: met for the first time.  There is room for each. */
static inline uint32_t number_of(struct numbering *n, uint32_t old, bool *ret_is_new)
{
    uint32_t *map = numbers(&n->map);

    *ret_is_new = map[old] == NO_NODE;
    if (*ret_is_new) {
        map[old] = numbering_count(n);
        numbers(&n->order)[map[old]] = old;
        n->order.len += sizeof old;
    }
    return map[old];
}

/* Bytes are asked for before it is known how many are needed; whether the block is too large
 * is seen when it is put together. */
enum { MAX_SLACK = 65536 };

static bool writer_init(struct writer *w, struct build *b)
{
    size_t nodes = b->nodes.len / sizeof(struct build_node);
    size_t max = b->max < SIZE_MAX / 2 ? b->max + MAX_SLACK : b->max;

    *w = (struct writer){.b = b};
    struct buf *all[] = {&w->last_value, &w->children, &w->tag_array, &w->attr_array,
            &w->value_pool, &w->kind};
    for (size_t i = 0; i < countof(all); i++)
        buf_init(all[i], max);
    for (size_t i = 0; i < PART_COUNT; i++)
        buf_init(&w->parts[i], max);
    intern_init(&w->kinds, max);
    return numbering_init(&w->tags, max, b->tag_names.count) &&
           numbering_init(&w->names, max, b->attr_strings.count) &&
           numbering_init(&w->values, max, b->attr_strings.count) &&
           buf_reserve(&w->children, nodes * sizeof(uint32_t)) &&
           buf_reserve(&w->tag_array, nodes * sizeof(uint32_t)) &&
           buf_reserve(&w->attr_array, 2 * nodes * sizeof(uint32_t)) &&
           buf_reserve(&w->parts[PART_NODES], 2 * nodes) &&
           buf_reserve(&w->parts[PART_VALUES], b->attr_strings.pool.len / 2) &&
           buf_reserve(&w->value_pool, b->attr_strings.pool.len) &&
           buf_reserve(&w->parts[PART_TEXTS], b->text_pool.len + COPY_STEP);
}

static void writer_done(struct writer *w)
{
    struct buf *all[] = {&w->last_value, &w->children, &w->tag_array, &w->attr_array,
            &w->value_pool, &w->kind};
    for (size_t i = 0; i < countof(all); i++)
        buf_done(all[i]);
    for (size_t i = 0; i < PART_COUNT; i++)
        buf_done(&w->parts[i]);
    numbering_done(&w->tags);
    numbering_done(&w->names);
    numbering_done(&w->values);
    intern_done(&w->kinds);
}

static bool writer_is_full(const struct writer *w)
{
    bool full = intern_is_full(&w->kinds) || w->last_value.overflowed ||
                w->attr_array.overflowed || w->value_pool.overflowed || w->kind.overflowed ||
                w->tags.codes.overflowed || w->names.codes.overflowed;

    for (size_t i = 0; i < PART_COUNT; i++)
        full |= w->parts[i].overflowed;
    return full;
}

/* ---- bytes ------------------------------------------------------------------------------- */

enum { VARINT_MAX = 5 };

/* Where `n` bytes may be written; NULL: nowhere. */
static inline unsigned char *room(struct buf *out, size_t n)
{
    if (out->cap - out->len <= n && !buf_reserve(out, n))
        return NULL;
    return (unsigned char *)out->data + out->len;
}

static inline void filled(struct buf *out, const unsigned char *to)
{
    out->len = (size_t)((const char *)to - out->data);
}

static inline unsigned char *varint(unsigned char *to, uint32_t n)
{
    for (; n >= 0x80; n >>= 7)
        *to++ = (unsigned char)(n | 0x80);
    *to++ = (unsigned char)n;
    return to;
}

static void put_varint(struct buf *out, uint32_t n)
{
    unsigned char *to = room(out, VARINT_MAX);

    if (to)
        filled(out, varint(to, n));
}

static void put_string(struct buf *out, struct str s)
{
    put_varint(out, (uint32_t)s.len);
    buf_push(out, s.ptr, s.len);
}

static size_t in_common(struct str a, struct str b)
{
    size_t same = 0, most = a.len < b.len ? a.len : b.len;

    while (same < most && a.ptr[same] == b.ptr[same])
        same++;
    return same;
}

/* ---- the tree ---------------------------------------------------------------------------- */

/* A name of a kind: the first time by what it is, later by its code. */
static void put_name(struct writer *w, struct numbering *n, uint32_t number, struct str name)
{
    struct buf *out = &w->parts[PART_KINDS];

    if (number < n->codes.len / sizeof(uint32_t)) {
        put_varint(out, numbers(&n->codes)[number]);
        return;
    }
    uint32_t code = common_name_find(name);
    put_varint(out, code);
    if (code == NAME_NEW) {
        put_string(&w->parts[PART_NAMES], name);
        code = NAME_COMMON_MAX + 1 + w->new_names++;
    }
    buf_push(&n->codes, &code, sizeof code); /* numbers are given in this very order */
}

static void put_kind(struct writer *w, const struct build_node *n, uint32_t tag)
{
    const struct build *b = w->b;
    const struct build_attr *attrs =
            (const struct build_attr *)(const void *)buf_text(&b->attrs) + n->attrs;

    put_name(w, &w->tags, tag, intern_text(&b->tag_names, n->tag));
    put_varint(&w->parts[PART_KINDS], kind_shape(n->children, n->nattrs));
    for (uint32_t i = 0; i < n->nattrs; i++)
        put_name(w, &w->names, numbers(&w->names.map)[attrs[i].name],
                intern_text(&b->attr_strings, attrs[i].name));
}

/* The number of the element's kind; the numbers of its names are in attr_array. */
static inline uint32_t kind_of(
        struct writer *w, const struct build_node *n, uint32_t tag, const uint32_t *names)
{
    unsigned char *from = room(&w->kind, VARINT_MAX * (2 + (size_t)n->nattrs)), *to;
    uint32_t known = w->kinds.count;

    if (!from)
        return 0;
    to = varint(varint(from, tag), kind_shape(n->children, n->nattrs));
    for (uint32_t i = 0; i < n->nattrs; i++)
        to = varint(to, names[2 * i]);
    struct str key = {(const char *)from, (size_t)(to - from)};
    uint32_t kind = intern_get_name(&w->kinds, key);
    if (w->kinds.count > known)
        put_kind(w, n, tag);
    return kind;
}

static uint32_t name_number(struct writer *w, uint32_t old)
{
    static const uint32_t none = NO_NODE;
    bool is_new;
    uint32_t name = number_of(&w->names, old, &is_new);

    if (is_new)
        buf_push(&w->last_value, &none, sizeof none);
    return name;
}

static inline unsigned char *long_part(unsigned char *to, size_t n)
{
    return n < VALUE_LONG ? to : varint(to, (uint32_t)(n - VALUE_LONG));
}

/* A value that was not met before; its head is written to `to`. */
static unsigned char *put_new_value(
        struct writer *w, unsigned char *to, uint32_t name, uint32_t old)
{
    uint32_t *last = &numbers(&w->last_value)[name];
    struct str s = intern_text(&w->b->attr_strings, old), before = {"", 0};

    if (*last != NO_NODE)
        before = intern_text(&w->b->attr_strings, *last);
    size_t same = in_common(before, s), more = s.len - same;
    *to++ = (unsigned char)((same < VALUE_LONG ? same : VALUE_LONG) << 4 |
                            (more < VALUE_LONG ? more : VALUE_LONG));
    to = long_part(long_part(to, same), more);
    buf_push(&w->parts[PART_VALUES], s.ptr + same, more);
    buf_push(&w->value_pool, s.ptr, s.len + 1);
    w->value_bytes += s.len + 1;
    *last = old;
    return to;
}

static inline void put_element(struct writer *w, const struct build_node *n)
{
    const struct build_attr *attrs =
            (const struct build_attr *)(const void *)buf_text(&w->b->attrs) + n->attrs;
    struct buf *out = &w->parts[PART_NODES];
    bool is_new;
    uint32_t tag = number_of(&w->tags, n->tag, &is_new);
    unsigned char *hashed = room(&w->attr_array, (1 + 2 * (size_t)n->nattrs) * sizeof tag);
    unsigned char *to =
            room(out, 1 + 2 * VARINT_MAX + (1 + 3 * VARINT_MAX) * (size_t)n->nattrs);

    if (!to || !hashed)
        return;
    uint32_t *array = (uint32_t *)(void *)hashed;
    *array++ = n->nattrs;
    for (uint32_t i = 0; i < n->nattrs; i++)
        array[2 * i] = name_number(w, attrs[i].name);
    uint32_t kind = kind_of(w, n, tag, array);
    *to++ = (unsigned char)(kind < CODE_KIND_LONG ? kind : CODE_KIND_LONG);
    if (kind >= CODE_KIND_LONG)
        to = varint(to, kind - CODE_KIND_LONG);
    if (n->children >= KIND_MANY)
        to = varint(to, n->children - KIND_MANY);
    for (uint32_t i = 0; i < n->nattrs; i++, array += 2) {
        array[1] = number_of(&w->values, attrs[i].value, &is_new);
        to = varint(to, is_new ? VALUE_NEW : array[1] + 1);
        if (is_new)
            to = put_new_value(w, to, array[0], attrs[i].value);
    }
    filled(out, to);
    filled(&w->attr_array, (const unsigned char *)array);
    numbers(&w->children)[w->nodes] = n->children;
    numbers(&w->tag_array)[w->nodes] = tag;
    w->attributes += n->nattrs;
    w->nodes++;
}

static inline void put_text(struct writer *w, struct span s, bool begins)
{
    static const uint32_t no_attributes = 0;
    struct buf *out = &w->parts[PART_NODES], *texts = &w->parts[PART_TEXTS];
    unsigned char *to = room(out, 1 + VARINT_MAX);

    if (!to)
        return;
    *to++ = (unsigned char)(CODE_TEXT | (begins ? CODE_TEXT_BEGINS : 0) |
                            (s.len < CODE_TEXT_LONG ? s.len : CODE_TEXT_LONG));
    if (s.len >= CODE_TEXT_LONG)
        to = varint(to, s.len - CODE_TEXT_LONG);
    filled(out, to);
    copy_near(texts->data + texts->len, w->b->text_pool.data + s.at, s.len,
            w->b->text_pool.len - s.at); /* there is room for all */
    texts->len += s.len;
    buf_push(&w->attr_array, &no_attributes, sizeof no_attributes);
    numbers(&w->children)[w->nodes] = 0;
    numbers(&w->tag_array)[w->nodes] = 0;
    w->nodes++;
}

static void put_tree(struct writer *w)
{
    const struct build_node *all = (const struct build_node *)(const void *)w->b->nodes.data;
    const struct span *span = (const struct span *)(const void *)w->b->text_spans.data;
    const char *begins = w->b->text_block.data;
    size_t n = w->b->nodes.len / sizeof *all;
    static const uint32_t untold = 0;
    bool is_new;

    number_of(&w->tags, 0, &is_new); /* #text is the first */
    buf_push(&w->tags.codes, &untold, sizeof untold);
    for (size_t i = 0; i < n; i++) {
        if (all[i].tag == 0)
            put_text(w, *span++, *begins++);
        else if (all[i].tag != NO_NODE) /* NO_NODE: a text that became empty */
            put_element(w, &all[i]);
    }
    w->children.len = w->tag_array.len = w->nodes * sizeof(uint32_t);
}

/* ---- addresses --------------------------------------------------------------------------- */

/* Whether the address is the value it was written as, behind some of the base. */
static bool is_value(const struct writer *w, struct str s, struct str base, uint32_t written)
{
    struct str value = intern_text(&w->b->attr_strings, written);
    size_t front = s.len - value.len;

    return numbers(&w->values.map)[written] != NO_NODE && value.len <= s.len &&
           front <= base.len && memcmp(s.ptr + front, value.ptr, value.len) == 0 &&
           memcmp(s.ptr, base.ptr, front) == 0;
}

/* Returns how many bytes they are when written out. */
static uint64_t put_addresses(
        struct writer *w, struct buf *out, const struct addresses *a, struct str base)
{
    struct str before = {"", 0};
    uint64_t bytes = 0;

    for (size_t i = 0; i < a->count; i++) {
        struct str s = address_text(a, i);
        uint32_t written = address_at(a, i)->written;
        if (is_value(w, s, base, written)) {
            put_varint(out, numbers(&w->values.map)[written] + 1);
            put_varint(out, (uint32_t)(s.len - intern_text(&w->b->attr_strings, written).len));
        } else {
            size_t same = in_common(before, s);
            put_varint(out, ADDRESS_SPELLED);
            put_varint(out, (uint32_t)same);
            put_string(out, (struct str){s.ptr + same, s.len - same});
        }
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

static struct hash128 hash_names(
        struct writer *w, const struct intern *strings, const struct numbering *n)
{
    struct buf *out = &w->kind;

    out->len = 0;
    for (uint32_t i = 0; i < numbering_count(n); i++)
        put_string(out, intern_text(strings, numbers(&n->order)[i]));
    return hash_buf(out);
}

static void hashes_fill(struct writer *w, const struct addresses *links,
        const struct addresses *images, struct digest_header *h)
{
    struct hash128 tags[2] = {
            hash_buf(&w->tag_array), hash_names(w, &w->b->tag_names, &w->tags)};
    struct hash128 attrs[3] = {hash_buf(&w->attr_array),
            hash_names(w, &w->b->attr_strings, &w->names), hash_buf(&w->value_pool)};

    h->hash[PAGE_CHILDREN] = hash_buf(&w->children);
    h->hash[PAGE_TAGS] = hash128_of(tags, sizeof tags);
    h->hash[PAGE_ATTRIBUTES] = hash128_of(attrs, sizeof attrs);
    h->hash[PAGE_CONTENT] = hash_buf(&w->b->text_pool);
    h->hash[PAGE_BLOCKS] = hash_buf(&w->b->text_block);
    h->hash[PAGE_LINKS] = addresses_hash(links);
    h->hash[PAGE_IMAGES] = addresses_hash(images);
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

static enum err too_large(size_t max, struct fault *f)
{
    enum err e = fault_set(f, ERR_LIMIT,
            "the page's digest would have more than %zu MiB, or takes more memory than a page "
            "reader has",
            max >> 20);
    if (f)
        fault_hint(f, "Watch a smaller page; fetch.max_body says how much is fetched at most.");
    return e;
}

static void counts_fill(const struct writer *w, uint32_t counts[COUNT_COUNT])
{
    counts[COUNT_KINDS] = w->kinds.count;
    counts[COUNT_NODES] = w->nodes;
    counts[COUNT_ATTRIBUTES] = w->attributes;
    counts[COUNT_TEXTS] = (uint32_t)(w->b->text_spans.len / sizeof(struct span));
    counts[COUNT_VALUES] = numbering_count(&w->values);
    counts[COUNT_VALUE_BYTES] = (uint32_t)w->value_bytes;
    for (size_t i = 0; i < PART_COUNT; i++)
        counts[COUNT_PARTS + i] = (uint32_t)w->parts[i].len;
}

/* Puts the block together. */
static enum err block_put(const struct writer *w, const struct digest_header *h,
        const uint32_t counts[COUNT_COUNT], struct buf *out, struct fault *f)
{
    size_t bytes = sizeof *h + COUNT_COUNT * VARINT_MAX;

    for (size_t i = 0; i < PART_COUNT; i++)
        bytes += w->parts[i].len;
    buf_clear(out);
    if (bytes <= out->max)
        buf_reserve(out, bytes);
    buf_push(out, h, sizeof *h);
    for (size_t i = 0; i < COUNT_COUNT; i++) {
        unsigned char number[VARINT_MAX];
        buf_push(out, number, (size_t)(varint(number, counts[i]) - number));
    }
    for (size_t i = 0; i < PART_COUNT; i++)
        buf_push(out, buf_text(&w->parts[i]), w->parts[i].len);
    return out->overflowed ? too_large(out->max, f) : OK;
}

static enum err block_write(struct writer *w, struct str base, enum page_type type,
        bool malformed_xml, const struct page_source *src, struct buf *out, struct fault *f)
{
    CLEANUP(addresses_done) struct addresses links = {.count = 0}, images = {.count = 0};
    CLEANUP(url_base_done) struct url_base from;
    struct build *b = w->b;

    url_base_init(&from, base, b->max);
    if (!addresses_resolve(b, &b->links, &from, &links) ||
            !addresses_resolve(b, &b->images, &from, &images))
        return fault_set(
                f, ERR_LIMIT, "the page's addresses are larger than %zu bytes", b->max);
    put_tree(w);
    uint64_t link_bytes = put_addresses(w, &w->parts[PART_LINKS], &links, base);
    uint64_t image_bytes = put_addresses(w, &w->parts[PART_IMAGES], &images, base);
    buf_push(&w->parts[PART_BASE], base.ptr, base.len);
    if (writer_is_full(w) || w->value_bytes + link_bytes + image_bytes > PAGE_DIGEST_MAX)
        return too_large(b->max, f);

    struct digest_header h = {.magic = DIGEST_MAGIC,
            .version = DIGEST_VERSION,
            .type = (uint8_t)type,
            .malformed_xml = malformed_xml,
            .source = hash128_of(src->len ? src->bytes : "", src->len)};
    uint32_t counts[COUNT_COUNT] = {
            [COUNT_SOURCE_BYTES] = (uint32_t)src->len,
            [COUNT_LINKS] = (uint32_t)links.count,
            [COUNT_IMAGES] = (uint32_t)images.count,
            [COUNT_LINK_BYTES] = (uint32_t)link_bytes,
            [COUNT_IMAGE_BYTES] = (uint32_t)image_bytes,
    };
    counts_fill(w, counts);
    hashes_fill(w, &links, &images, &h);
    return block_put(w, &h, counts, out, f);
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
    if (b->too_many) {
        enum err e = fault_set(
                f, ERR_LIMIT, "the page has more than %d elements and texts", PAGE_NODES_MAX);
        if (f)
            fault_hint(f, "Watch a smaller page, such as one part of a long list.");
        return e;
    }
    if (b->overflowed || !room)
        return too_large(b->max, f);
    return block_write(&w, base_address(b, src, &base_buf), type, malformed_xml, src, out, f);
}
