/* Opening a digest block: its layout is in block.h, finish.c writes it.
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
#include "page/opening.h"
#include <stddef.h>

/* (4) */
static bool is_text(const char *s, size_t len)
{
    return utf8_is_valid(s, len) && !memchr(s, 0, len);
}

/* ---- names and kinds --------------------------------------------------------------------- */

/* The names of tags, or of attributes: numbered as kinds first tell them. */
struct name_table {
    struct str *all;
    uint32_t count;
    uint32_t *by_code; /* number + 1; 0: not told yet */
};

struct naming {
    struct part *p;     /* PART_NAMES */
    char *to;           /* where the next new name is written */
    struct str *new_of; /* names by order of PART_NAMES */
    uint32_t new_names; /* so many so far */
    uint32_t new_max;   /* there cannot be more */
};

static void name_add(struct name_table *t, uint32_t code, struct str name)
{
    t->all[t->count] = name;
    t->by_code[code] = ++t->count;
}

/* The next name of PART_NAMES, copied; false: there is none. */
static bool name_take(struct naming *n)
{
    size_t len = take_varint(n->p);
    const char *bytes = take_bytes(n->p, len);

    if (!bytes || n->new_names == n->new_max || !is_text(bytes, len))
        return false;
    memcpy(n->to, bytes, len);
    n->to[len] = 0;
    n->new_of[n->new_names++] = (struct str){n->to, len};
    n->to += len + 1;
    return true;
}

/* The number of the name that a kind tells by `code`. */
static bool name_open(
        struct naming *n, struct name_table *t, uint32_t code, uint32_t *ret_number)
{
    if (code == NAME_NEW) {
        if (!name_take(n))
            return false;
        code = NAME_COMMON_MAX + n->new_names;
    }
    if (code > NAME_COMMON_MAX + n->new_names) /* (2) */
        return false;
    if (!t->by_code[code]) {
        const char *common = common_name(code);
        if (code <= NAME_COMMON_MAX && !common)
            return false;
        name_add(t, code, common ? str_of(common) : n->new_of[code - NAME_COMMON_MAX - 1]);
    }
    *ret_number = t->by_code[code] - 1;
    return true;
}

static bool kind_open(struct opening *o, struct part *p, struct naming *n,
        struct name_table *tags, struct name_table *names, struct kind *k)
{
    uint32_t code = take_varint(p), shape = take_varint(p);

    if (p->bad || !name_open(n, tags, code, &k->tag))
        return false;
    k->children = shape % (KIND_MANY + 1);
    k->nattrs = shape / (KIND_MANY + 1);
    if (k->nattrs > part_left(p))
        return false;
    for (uint32_t i = 0; i < k->nattrs; i++) {
        code = take_varint(p);
        if (p->bad || !name_open(n, names, code, &o->kind_names[k->first_name + i]))
            return false;
    }
    return true;
}

static bool kinds_open(struct opening *o)
{
    struct part *p = &o->parts[PART_KINDS], *new_ = &o->parts[PART_NAMES];
    size_t room = part_left(p), codes = NAME_COMMON_MAX + 1 + part_left(new_);
    uint32_t kinds = o->counts[COUNT_KINDS], first_name = 0;
    struct naming n = {.p = new_, .new_max = (uint32_t)part_left(new_)};
    struct name_table tables[2];

    if (kinds > room) /* each name has a byte at least, and each kind two */
        return false;
    o->kinds = arena_alloc(o->life, (kinds + 1) * sizeof *o->kinds);
    o->kind_names = arena_alloc(o->life, (room + 1) * sizeof(uint32_t));
    n.to = arena_alloc(o->life, 2 * part_left(new_) + 1);
    n.new_of = arena_alloc(o->life, (part_left(new_) + 1) * sizeof(struct str));
    for (size_t i = 0; i < countof(tables); i++)
        tables[i] = (struct name_table){
                .all = arena_alloc(o->life, (room + 1) * sizeof(struct str)),
                .by_code = arena_array_of(o->life, codes, uint32_t)};
    name_add(&tables[0], NAME_NEW, STR("#text")); /* no kind tells it by this code */
    for (uint32_t i = 0; i < kinds; i++) {
        o->kinds[i].first_name = first_name;
        if (!kind_open(o, p, &n, &tables[0], &tables[1], &o->kinds[i]))
            return false;
        first_name += o->kinds[i].nattrs;
    }
    o->d->tag_name_of = tables[0].all;
    o->d->tag_names = tables[0].count;
    o->d->attr_name_of = tables[1].all;
    o->d->attr_names = tables[1].count;
    return is_used_up(p) && is_used_up(new_);
}

/* ---- addresses --------------------------------------------------------------------------- */

struct address_pieces {
    struct str first, second; /* one behind the other */
    bool from_base;
};

/* What an address is made of: of the one before and bytes, or of the base and a value. */
static bool address_take(
        const struct opening *o, struct part *p, struct str before, struct address_pieces *ret)
{
    uint32_t value = take_varint(p);
    size_t first = take_varint(p);

    if (value == ADDRESS_SPELLED) {
        size_t more = take_varint(p);
        const char *bytes = take_bytes(p, more);
        *ret = (struct address_pieces){{before.ptr, first}, {bytes, more}, false};
        return bytes && first <= before.len && !memchr(bytes, 0, more);
    }
    struct str base = o->d->base;
    if (p->bad || value > o->d->attr_values || first > base.len ||
            ((unsigned char)base.ptr[first] & 0xC0) == 0x80) /* (2), (4) */
        return false;
    *ret = (struct address_pieces){{base.ptr, first}, o->d->attr_value_of[value - 1], true};
    return true;
}

/* Sorted and each once: where one differs from the one before, it is the greater. */
static struct str *addresses_open(
        struct opening *o, struct part *p, uint32_t count, uint32_t bytes)
{
    struct str before = {"", 0}, *all;
    size_t of_base = 0; /* bytes of the base that the one before begins with */
    char *from, *to, *end;

    if (count > part_left(p)) {
        p->bad = true;
        return NULL;
    }
    all = arena_alloc(o->life, (count + 1) * sizeof *all);
    from = to = arena_alloc(o->life, (size_t)bytes + 1);
    end = to + bytes;
    for (uint32_t i = 0; i < count && !p->bad; i++) {
        struct address_pieces two;
        if (!address_take(o, p, before, &two) ||
                two.first.len + two.second.len >= (size_t)(end - to)) {
            p->bad = true;
            break;
        }
        memcpy(to, two.first.ptr, two.first.len);
        memcpy(to + two.first.len, two.second.ptr, two.second.len);
        all[i] = (struct str){to, two.first.len + two.second.len};
        to[all[i].len] = 0;
        size_t same = two.first.len;
        if (two.from_base && of_base < same)
            same = of_base;
        of_base = two.from_base || two.first.len < of_base ? two.first.len : of_base;
        p->bad = i > 0 && strcmp(before.ptr + same, to + same) >= 0;
        to += all[i].len + 1;
        before = all[i];
    }
    p->bad |= to != end || !utf8_is_valid(from, (size_t)(to - from)); /* (4) */
    return all;
}

/* ---- the whole --------------------------------------------------------------------------- */

static enum err header_open(struct opening *o, const void *block, size_t len, struct fault *f)
{
    struct digest_header *h = &o->h;
    struct part counts = {
            (const unsigned char *)block, (const unsigned char *)block + len, false};
    uint64_t total = 0, repeated = 0;

    memset(h, 0, sizeof *h);
    memcpy(h, block, len < sizeof *h ? len : sizeof *h);
    if (len < offsetof(struct digest_header, type) || memcmp(h->magic, DIGEST_MAGIC, 8) != 0)
        return fault_set(f, ERR_SYNTAX, "this is no page digest");
    if (h->version != DIGEST_VERSION)
        return fault_set(f, ERR_UNSUPPORTED,
                "the page digest has version %u, this program reads %d", h->version,
                DIGEST_VERSION);
    take_bytes(&counts, sizeof *h);
    for (size_t i = 0; i < COUNT_COUNT; i++)
        o->counts[i] = take_varint(&counts);
    for (size_t i = 0; i < PART_COUNT; i++) {
        uint32_t bytes = o->counts[COUNT_PARTS + i];
        total += bytes;
        const char *at = take_bytes(&counts, bytes);
        if (at)
            o->parts[i] = (struct part){counts.at - bytes, counts.at, false};
    }
    repeated = (uint64_t)o->counts[COUNT_VALUE_BYTES] + o->counts[COUNT_LINK_BYTES] +
               o->counts[COUNT_IMAGE_BYTES]; /* (5) */
    if (!is_used_up(&counts) || total > len || h->type >= PAGE_TYPE_COUNT ||
            h->malformed_xml > 1 || h->unused || repeated > PAGE_DIGEST_MAX) /* (1) */
        return fault_set(f, ERR_SYNTAX, "the page digest is damaged: its length is wrong");
    o->end = counts.end;
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

static bool base_open(struct opening *o)
{
    const struct part *base = &o->parts[PART_BASE];
    size_t len = part_left(base);

    if (!is_text((const char *)base->at, len))
        return false;
    o->d->base = (struct str){arena_strndup(o->life, (const char *)base->at, len), len};
    return true;
}

static bool addresses_all_open(struct opening *o)
{
    struct part *links = &o->parts[PART_LINKS], *images = &o->parts[PART_IMAGES];
    struct page_digest *d = o->d;

    d->links = o->counts[COUNT_LINKS];
    d->images = o->counts[COUNT_IMAGES];
    d->link_of = addresses_open(o, links, d->links, o->counts[COUNT_LINK_BYTES]);
    d->image_of = addresses_open(o, images, d->images, o->counts[COUNT_IMAGE_BYTES]);
    return is_used_up(links) && is_used_up(images);
}

enum err page_digest_open(struct arena *life, const void *block, size_t len, struct fault *f,
        struct page_digest **ret_digest)
{
    struct opening o = {.life = life};
    enum err e = header_open(&o, block, len, f);

    if (e)
        return e;
    struct page_digest *d = o.d = arena_new_of(life, struct page_digest);
    if (!base_open(&o) || !kinds_open(&o) || !opening_tree(&o) || !addresses_all_open(&o))
        return fault_set(f, ERR_SYNTAX, "the page digest is damaged");
    d->type = o.h.type;
    d->malformed_xml = o.h.malformed_xml;
    d->source = o.h.source;
    d->source_bytes = o.counts[COUNT_SOURCE_BYTES];
    memcpy(d->hash, o.h.hash, sizeof d->hash);
    d->whole = hash128_of(d->hash, (PAGE_CONTENT + 1) * sizeof d->hash[0]);
    *ret_digest = d;
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
