/* Opening a digest block: its layout is in page_int.h, finish.c writes it.
 *
 * A block comes back from the database or from a worker that parsed hostile bytes, so
 * page_digest_open believes nothing.  Behind it, it must hold that
 *  (1) every part lies in the block, and every count is what the part holds;
 *  (2) every number in an array is a valid index of the one it points into;
 *  (3) child counts describe a forest: no child is promised that does not come;
 *  (4) strings are UTF-8, cut at characters, have no zero byte inside and end in one; and
 *  (5) a block costs memory in proportion to its size, but for values and addresses, which
 *      repeat what is before them: those have a limit of their own.
 */
#include "page/page_int.h"
#include <stddef.h>

/* A part while it is read; `bad` once it promised more than it has. */
struct part {
    const unsigned char *at, *end;
    bool bad;
};

struct kind {
    uint32_t tag, children, nattrs, first_name; /* first_name: in kind_names */
};

struct opening {
    struct digest_header h;
    struct part parts[PART_COUNT];
    struct arena *life;
    struct page_digest *d;
    struct kind *kinds;
    uint32_t *kind_names;
    uint32_t *children, *tags, *attr_at, *attr_name, *attr_value, *text_node, *end, *parent;
    uint8_t *text_block;
    struct str *texts, *values;
    const struct str **last_value; /* by number of a name */
    char *text_bytes, *value_bytes;
    uint32_t nvalues;
};

/* ---- reading a part ---------------------------------------------------------------------- */

static uint32_t take_varint(struct part *p)
{
    uint32_t n = 0;

    for (unsigned shift = 0; shift < 35 && p->at < p->end; shift += 7) {
        unsigned char c = *p->at++;
        if (shift == 28 && c > 15)
            break;
        n |= (uint32_t)(c & 0x7F) << shift;
        if (!(c & 0x80))
            return n;
    }
    p->bad = true;
    return 0;
}

static const char *take_bytes(struct part *p, size_t n)
{
    const char *bytes = (const char *)p->at;

    if (p->bad || n > (size_t)(p->end - p->at)) {
        p->bad = true;
        return NULL;
    }
    p->at += n;
    return bytes;
}

static bool is_used_up(const struct part *p)
{
    return !p->bad && p->at == p->end;
}

/* (4) */
static bool is_text(const char *s, size_t len)
{
    return utf8_is_valid(s, len) && !memchr(s, 0, len);
}

/* ---- names and kinds --------------------------------------------------------------------- */

static struct str *names_open(struct opening *o, struct part *p, uint32_t count)
{
    struct str *all;
    char *to;

    if (count > (size_t)(p->end - p->at)) { /* each has at least its length */
        p->bad = true;
        return NULL;
    }
    all = arena_array_of(o->life, count + 1, struct str);
    to = arena_alloc(o->life, (size_t)(p->end - p->at) + count + 1);
    for (uint32_t i = 0; i < count && !p->bad; i++) {
        size_t len = take_varint(p);
        const char *bytes = take_bytes(p, len);
        if (!bytes || !is_text(bytes, len)) {
            p->bad = true;
            break;
        }
        memcpy(to, bytes, len);
        to[len] = 0;
        all[i] = (struct str){to, len};
        to += len + 1;
    }
    return all;
}

static bool kinds_open(struct opening *o)
{
    struct part *p = &o->parts[PART_KINDS];
    size_t room = (size_t)(p->end - p->at);
    uint32_t names = 0;

    if (o->h.kinds > room)
        return false;
    o->kinds = arena_alloc(o->life, (o->h.kinds + 1) * sizeof *o->kinds);
    o->kind_names = arena_alloc(o->life, (room + 1) * sizeof(uint32_t));
    for (uint32_t i = 0; i < o->h.kinds && !p->bad; i++) {
        struct kind *k = &o->kinds[i];
        k->tag = take_varint(p);
        k->children = take_varint(p);
        k->nattrs = take_varint(p);
        k->first_name = names;
        if (k->tag == 0 || k->tag >= o->h.tag_names || k->children > KIND_MANY ||
                k->nattrs > (size_t)(p->end - p->at)) /* (2) */
            return false;
        for (uint32_t a = 0; a < k->nattrs; a++) {
            uint32_t name = take_varint(p);
            if (name >= o->h.attr_names)
                return false;
            o->kind_names[names++] = name;
        }
    }
    return is_used_up(p);
}

/* ---- the tree ---------------------------------------------------------------------------- */

/* Writes out what is told by what it adds to `before`; NULL: wrong. */
static const char *take_added(
        struct part *p, struct str before, char *to, const char *end, size_t *ret_len)
{
    size_t same = take_varint(p), more = take_varint(p);
    const char *bytes = take_bytes(p, more);

    if (!bytes || same > before.len || same + more >= (size_t)(end - to))
        return NULL;
    memcpy(to, before.ptr, same);
    memcpy(to + same, bytes, more);
    to[same + more] = 0;
    *ret_len = same + more;
    return is_text(to, *ret_len) ? to : NULL;
}

static bool value_open(struct opening *o, uint32_t name)
{
    struct str before = {"", 0};
    size_t len;

    if (o->nvalues >= o->h.values)
        return false;
    if (o->last_value[name])
        before = *o->last_value[name];
    const char *value = take_added(&o->parts[PART_VALUES], before, o->value_bytes,
            o->values[0].ptr + o->h.value_bytes, &len);
    if (!value)
        return false;
    o->values[o->nvalues] = (struct str){value, len};
    o->last_value[name] = &o->values[o->nvalues];
    o->value_bytes += len + 1;
    o->nvalues++;
    return true;
}

static bool element_open(struct opening *o, struct part *p, uint32_t kind, uint32_t i)
{
    const struct kind *k = &o->kinds[kind];
    uint32_t at = o->attr_at[i];

    o->tags[i] = k->tag;
    o->children[i] = k->children;
    if (k->children == KIND_MANY) {
        uint64_t children = (uint64_t)take_varint(p) + KIND_MANY;
        if (children > o->h.nodes)
            return false;
        o->children[i] = (uint32_t)children;
    }
    if (k->nattrs > o->h.attributes - at)
        return false;
    for (uint32_t a = 0; a < k->nattrs; a++, at++) {
        uint32_t name = o->kind_names[k->first_name + a], value = take_varint(p);
        if (value == 0 && !value_open(o, name))
            return false;
        value = value ? value - 1 : o->nvalues - 1;
        if (value >= o->nvalues) /* (2) */
            return false;
        o->attr_name[at] = name;
        o->attr_value[at] = value;
    }
    o->attr_at[i + 1] = at;
    return !p->bad;
}

static bool text_open(
        struct opening *o, struct part *p, unsigned code, uint32_t i, uint32_t text)
{
    size_t len = code & CODE_TEXT_LONG;

    if (len == CODE_TEXT_LONG)
        len += take_varint(p);
    const char *bytes = take_bytes(&o->parts[PART_TEXTS], len);
    if (!bytes || len == 0 || text >= o->h.texts || ((unsigned char)bytes[0] & 0xC0) == 0x80)
        return false;
    memcpy(o->text_bytes, bytes, len);
    o->text_bytes[len] = 0;
    o->texts[text] = (struct str){o->text_bytes, len};
    o->text_bytes += len + 1;
    o->text_node[text] = i;
    o->text_block[text] = (code & CODE_TEXT_BEGINS) != 0;
    o->tags[i] = o->children[i] = 0;
    o->attr_at[i + 1] = o->attr_at[i];
    return !p->bad;
}

static bool tree_open(struct opening *o)
{
    struct part *p = &o->parts[PART_NODES];
    uint64_t promised = 0; /* (3) */
    uint32_t text = 0;

    o->attr_at[0] = 0;
    for (uint32_t i = 0; i < o->h.nodes; i++) {
        if (p->at == p->end)
            return false;
        unsigned code = *p->at++;
        uint64_t kind = code;
        if (code == CODE_KIND_LONG)
            kind += take_varint(p);
        bool ok = code & CODE_TEXT ? text_open(o, p, code, i, text++)
                                   : kind < o->h.kinds && element_open(o, p, (uint32_t)kind, i);
        if (!ok)
            return false;
        promised -= promised > 0;
        promised += o->children[i];
        if (promised > o->h.nodes - 1 - i)
            return false;
    }
    return promised == 0 && is_used_up(p) && is_used_up(&o->parts[PART_VALUES]) &&
           is_used_up(&o->parts[PART_TEXTS]) && text == o->h.texts &&
           o->nvalues == o->h.values && o->attr_at[o->h.nodes] == o->h.attributes; /* (1) */
}

static bool arrays_open(struct opening *o)
{
    const struct digest_header *h = &o->h;
    const struct part *texts = &o->parts[PART_TEXTS];
    size_t stream = (size_t)(o->parts[PART_NODES].end - o->parts[PART_NODES].at);
    size_t text_bytes = (size_t)(texts->end - texts->at);

    /* (5): a node, an attribute and a text each have a byte at least */
    if (h->nodes > stream || h->attributes > stream || h->texts > h->nodes ||
            h->values > h->attributes || !is_text((const char *)texts->at, text_bytes))
        return false;
    uint32_t *numbers = arena_alloc(
            o->life, (5 * (size_t)h->nodes + 1 + 2 * (size_t)h->attributes + h->texts) *
                             sizeof(uint32_t));
    o->children = numbers;
    o->tags = o->children + h->nodes;
    o->attr_at = o->tags + h->nodes;
    o->attr_name = o->attr_at + h->nodes + 1;
    o->attr_value = o->attr_name + h->attributes;
    o->text_node = o->attr_value + h->attributes;
    o->end = o->text_node + h->texts;
    o->parent = o->end + h->nodes;
    o->text_block = arena_alloc(o->life, h->texts + 1);
    o->texts = arena_alloc(o->life, (h->texts + 1) * sizeof(struct str));
    o->values = arena_alloc(o->life, (h->values + 1) * sizeof(struct str));
    o->last_value = arena_array_of(o->life, h->attr_names + 1, const struct str *);
    o->text_bytes = arena_alloc(o->life, text_bytes + h->texts + 1);
    o->value_bytes = arena_alloc(o->life, (size_t)h->value_bytes + 1);
    o->values[0] = (struct str){o->value_bytes, 0};
    return true;
}

/* ---- addresses --------------------------------------------------------------------------- */

/* Sorted and each once: where one differs from the one before, it is the greater. */
static struct str *addresses_open(
        struct opening *o, struct part *p, uint32_t count, uint32_t bytes)
{
    struct str before = {"", 0}, *all;
    char *to, *end;

    if (count > (size_t)(p->end - p->at)) {
        p->bad = true;
        return NULL;
    }
    all = arena_alloc(o->life, (count + 1) * sizeof *all);
    to = arena_alloc(o->life, (size_t)bytes + 1);
    end = to + bytes;
    for (uint32_t i = 0; i < count && !p->bad; i++) {
        size_t len;
        const char *s = take_added(p, before, to, end, &len);
        if (!s || strcmp(before.ptr, s) >= (i > 0 ? 0 : 1)) {
            p->bad = true;
            break;
        }
        all[i] = before = (struct str){s, len};
        to += len + 1;
    }
    p->bad |= to != end;
    return all;
}

/* ---- the whole --------------------------------------------------------------------------- */

static enum err header_open(
        const void *block, size_t len, struct digest_header *ret, struct fault *f)
{
    uint64_t total = sizeof *ret;

    memset(ret, 0, sizeof *ret);
    memcpy(ret, block, len < sizeof *ret ? len : sizeof *ret);
    if (len < offsetof(struct digest_header, total) || memcmp(ret->magic, DIGEST_MAGIC, 8) != 0)
        return fault_set(f, ERR_SYNTAX, "this is no page digest");
    if (ret->version != DIGEST_VERSION)
        return fault_set(f, ERR_UNSUPPORTED,
                "the page digest has version %u, this program reads %d", ret->version,
                DIGEST_VERSION);
    for (size_t i = 0; i < PART_COUNT; i++)
        total += ret->part_bytes[i];
    uint64_t repeated =
            (uint64_t)ret->value_bytes + ret->link_bytes + ret->image_bytes; /* (5) */
    if (len < sizeof *ret || ret->total != len || total != len ||
            ret->type >= PAGE_TYPE_COUNT || ret->malformed_xml > 1 || ret->unused ||
            repeated > PAGE_DIGEST_MAX) /* (1) */
        return fault_set(f, ERR_SYNTAX, "the page digest is damaged: its length is wrong");
    return OK;
}

bool page_digest_is_current(const void *block, size_t len)
{
    struct digest_header h;

    if (len < sizeof h)
        return false;
    memcpy(&h, block, sizeof h);
    return memcmp(h.magic, DIGEST_MAGIC, 8) == 0 && h.version == DIGEST_VERSION;
}

/* What child counts say of the shape, told from the end: children before parents. */
static void shape_fill(struct opening *o)
{
    for (uint32_t i = o->h.nodes; i-- > 0;) {
        uint32_t at = i + 1;
        o->parent[i] = NO_NODE;
        for (uint32_t c = o->children[i]; c > 0; c--) {
            o->parent[at] = i;
            at = o->end[at];
        }
        o->end[i] = at;
    }
}

static void view_fill(struct opening *o)
{
    const struct digest_header *h = &o->h;
    struct page_digest *d = o->d;

    d->type = h->type;
    d->malformed_xml = h->malformed_xml;
    d->whole = h->whole;
    d->source = h->source;
    d->source_bytes = h->source_bytes;
    memcpy(d->hash, h->hash, sizeof d->hash);
    d->nodes = h->nodes;
    d->tag_names = h->tag_names;
    d->attributes = h->attributes;
    d->texts = h->texts;
    d->links = h->links;
    d->images = h->images;
    d->children = o->children;
    d->tags = o->tags;
    d->attr_at = o->attr_at;
    d->end = o->end;
    d->parent = o->parent;
    d->attr_name = o->attr_name;
    d->attr_value = o->attr_value;
    d->attr_names = h->attr_names;
    d->attr_values = h->values;
    d->text_node = o->text_node;
    d->text_block = o->text_block;
    d->texts_in_row = true;
    d->text_of = o->texts;
    d->attr_value_of = o->values;
}

static bool strings_open(struct opening *o)
{
    struct page_digest *d = o->d;
    struct part *base = &o->parts[PART_BASE];
    size_t base_len = (size_t)(base->end - base->at);

    d->tag_name_of = names_open(o, &o->parts[PART_TAGS], o->h.tag_names);
    d->attr_name_of = names_open(o, &o->parts[PART_NAMES], o->h.attr_names);
    d->link_of = addresses_open(o, &o->parts[PART_LINKS], o->h.links, o->h.link_bytes);
    d->image_of = addresses_open(o, &o->parts[PART_IMAGES], o->h.images, o->h.image_bytes);
    if (!is_text((const char *)base->at, base_len))
        return false;
    d->base = (struct str){arena_strndup(o->life, (const char *)base->at, base_len), base_len};
    return is_used_up(&o->parts[PART_TAGS]) && is_used_up(&o->parts[PART_NAMES]) &&
           is_used_up(&o->parts[PART_LINKS]) && is_used_up(&o->parts[PART_IMAGES]) &&
           o->h.tag_names > 0 && str_equal(d->tag_name_of[0], STR("#text"));
}

enum err page_digest_open(struct arena *life, const void *block, size_t len, struct fault *f,
        struct page_digest **ret_digest)
{
    struct opening o = {.life = life};
    enum err e = header_open(block, len, &o.h, f);

    if (e)
        return e;
    const unsigned char *at = (const unsigned char *)block + sizeof o.h;
    for (size_t i = 0; i < PART_COUNT; i++) {
        o.parts[i] = (struct part){at, at + o.h.part_bytes[i], false};
        at += o.h.part_bytes[i];
    }
    o.d = arena_new_of(life, struct page_digest);
    if (!strings_open(&o) || !kinds_open(&o) || !arrays_open(&o) || !tree_open(&o))
        return fault_set(f, ERR_SYNTAX, "the page digest is damaged");
    shape_fill(&o);
    view_fill(&o);
    *ret_digest = o.d;
    return OK;
}

/* ---- strings ----------------------------------------------------------------------------- */

struct str page_tag_name(const struct page_digest *d, uint32_t tag)
{
    return d->tag_name_of[tag];
}

struct str page_attr_name(const struct page_digest *d, uint32_t attr)
{
    return d->attr_name_of[d->attr_name[attr]];
}

struct str page_attr_value(const struct page_digest *d, uint32_t attr)
{
    return d->attr_value_of[d->attr_value[attr]];
}

struct str page_text(const struct page_digest *d, uint32_t text)
{
    return d->text_of[text];
}

struct str page_link(const struct page_digest *d, uint32_t link)
{
    return d->link_of[link];
}

struct str page_image(const struct page_digest *d, uint32_t image)
{
    return d->image_of[image];
}

struct str page_base(const struct page_digest *d)
{
    return d->base;
}
