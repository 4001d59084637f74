/* Opening a digest block: the tree, its attributes and texts.
 *
 * All that makes a page large is read here, in one pass over the nodes.  Behind it, (1) to (5)
 * of digest.c hold for what it wrote:
 *  - a node's parent and its end are known when it is complete: until then `end` counts the
 *    children that are still to come, so a promise that is not kept is an element left open;
 *  - strings are checked all at once, where they lie one behind the other with a zero byte
 *    between them: the bytes that are told have none, so each zero is the end of one, and what
 *    is UTF-8 as a whole is so in each of its pieces.
 */
#include "page/opening.h"
#include "page/scan.h"

/* What is written, and how far. */
struct tree_writing {
    struct part nodes, values, texts;
    const unsigned char *block_end; /* up to where bytes may be read */
    const struct kind *kinds;
    const uint32_t *kind_names;
    uint32_t *children, *tags, *attr_at, *attr_name, *attr_value, *text_node, *end, *parent;
    uint8_t *text_block;
    struct str *text_of, *value_of;
    uint32_t *last_value; /* by number of a name: the number of its last value + 1 */
    char *text_to, *value_to, *value_end;
    uint32_t nkinds, nnodes, nattributes, ntexts, nvalues; /* how many there are to be */
    uint32_t attribute, text, value;
};

/* ---- room -------------------------------------------------------------------------------- */

static bool has_zero(const struct part *p)
{
    return part_left(p) && memchr(p->at, 0, part_left(p));
}

static bool room_make(const struct opening *o, struct tree_writing *w)
{
    size_t stream = part_left(&w->nodes), text_bytes = part_left(&w->texts);
    size_t value_bytes = o->counts[COUNT_VALUE_BYTES];

    w->nkinds = o->counts[COUNT_KINDS];
    w->nnodes = o->counts[COUNT_NODES];
    w->nattributes = o->counts[COUNT_ATTRIBUTES];
    w->ntexts = o->counts[COUNT_TEXTS];
    w->nvalues = o->counts[COUNT_VALUES];
    /* (5): a node, an attribute and a text each have a byte at least */
    if (w->nnodes > stream || w->nattributes > stream || w->ntexts > w->nnodes ||
            w->nvalues > w->nattributes || has_zero(&w->texts) ||
            has_zero(&w->values)) /* (4) */
        return false;
    size_t numbers = 5 * (size_t)w->nnodes + 1 + 2 * (size_t)w->nattributes + w->ntexts;
    w->children = arena_alloc(o->life, numbers * sizeof(uint32_t));
    w->tags = w->children + w->nnodes;
    w->attr_at = w->tags + w->nnodes;
    w->attr_name = w->attr_at + w->nnodes + 1;
    w->attr_value = w->attr_name + w->nattributes;
    w->text_node = w->attr_value + w->nattributes;
    w->end = w->text_node + w->ntexts;
    w->parent = w->end + w->nnodes;
    w->text_block = arena_alloc(o->life, w->ntexts + 1);
    w->text_of =
            arena_alloc(o->life, ((size_t)w->ntexts + w->nvalues + 1) * sizeof(struct str));
    w->value_of = w->text_of + w->ntexts;
    w->last_value = arena_array_of(o->life, o->d->attr_names + 1, uint32_t);
    w->text_to = arena_alloc(o->life, text_bytes + w->ntexts + COPY_STEP);
    w->value_to = arena_alloc(o->life, value_bytes + COPY_STEP);
    w->value_end = w->value_to + value_bytes;
    return true;
}

/* ---- values ------------------------------------------------------------------------------ */

static inline size_t value_length(struct tree_writing *w, unsigned told)
{
    return told < VALUE_LONG ? told : (size_t)told + take_varint(&w->nodes);
}

/* A new value, written out behind the others. */
static inline bool value_open(struct tree_writing *w, uint32_t name)
{
    uint32_t last = w->last_value[name];
    struct str before = last ? w->value_of[last - 1] : (struct str){w->value_to, 0};

    if (w->nodes.at == w->nodes.end || w->value == w->nvalues)
        return false;
    unsigned head = *w->nodes.at++;
    size_t same = value_length(w, head >> 4), more = value_length(w, head & 15);
    const char *bytes = take_bytes(&w->values, more);
    if (!bytes || same > before.len || same + more >= (size_t)(w->value_end - w->value_to))
        return false;
    copy_near(w->value_to, before.ptr, same, COPY_STEP); /* there is a step behind the last */
    copy_near(w->value_to + same, bytes, more,
            (size_t)(w->block_end - (const unsigned char *)bytes));
    w->value_to[same + more] = 0;
    w->value_of[w->value++] = (struct str){w->value_to, same + more};
    w->last_value[name] = w->value;
    w->value_to += same + more + 1;
    return true;
}

static inline bool attributes_open(struct tree_writing *w, const struct kind *k)
{
    const uint32_t *names = w->kind_names + k->first_name;

    if (k->nattrs > w->nattributes - w->attribute) /* (1) */
        return false;
    for (uint32_t i = 0; i < k->nattrs; i++) {
        uint32_t value = take_varint(&w->nodes);
        if (value == VALUE_NEW) {
            if (!value_open(w, names[i]))
                return false;
            value = w->value;
        }
        if (value > w->value) /* (2) */
            return false;
        w->attr_name[w->attribute] = names[i];
        w->attr_value[w->attribute++] = value - 1;
    }
    return true;
}

/* ---- nodes ------------------------------------------------------------------------------- */

static inline bool text_open(struct tree_writing *w, unsigned code, uint32_t node)
{
    size_t len = code & CODE_TEXT_LONG;

    if (len == CODE_TEXT_LONG)
        len += take_varint(&w->nodes);
    const unsigned char *bytes = w->texts.at;
    if (len > part_left(&w->texts) || len == 0 || w->text == w->ntexts)
        return false;
    w->texts.at += len;
    copy_near(w->text_to, (const char *)bytes, len, (size_t)(w->block_end - bytes));
    w->text_to[len] = 0;
    w->text_of[w->text] = (struct str){w->text_to, len};
    w->text_to += len + 1;
    w->text_node[w->text] = node;
    w->text_block[w->text++] = (code & CODE_TEXT_BEGINS) != 0;
    w->tags[node] = 0;
    return true;
}

static inline bool element_open(
        struct tree_writing *w, unsigned code, uint32_t node, uint32_t *ret_children)
{
    uint64_t kind = code;

    if (code == CODE_KIND_LONG)
        kind += take_varint(&w->nodes);
    if (kind >= w->nkinds) /* (2) */
        return false;
    const struct kind *k = &w->kinds[kind];
    uint64_t children = k->children;
    if (children == KIND_MANY)
        children += take_varint(&w->nodes);
    if (children > w->nnodes)
        return false;
    w->tags[node] = k->tag;
    *ret_children = (uint32_t)children;
    return k->nattrs == 0 || attributes_open(w, k);
}

/* One node after the other. */
static bool nodes_open(struct tree_writing *all)
{
    struct tree_writing own = *all, *w = &own; /* which no byte that is written can change */
    uint32_t open = NO_NODE;                   /* the innermost element that is not complete */
    uint32_t missing = 0;                      /* of its children */

    for (uint32_t i = 0; i < w->nnodes; i++) {
        if (w->nodes.at == w->nodes.end)
            return false;
        unsigned code = *w->nodes.at++;
        uint32_t children = 0;
        w->attr_at[i] = w->attribute;
        w->parent[i] = open;
        if (!(code & CODE_TEXT ? text_open(w, code, i) : element_open(w, code, i, &children)))
            return false;
        w->children[i] = children;
        if (children) {
            if (open != NO_NODE)
                w->end[open] = missing;
            missing = children;
            open = i;
            continue;
        }
        w->end[i] = i + 1;
        missing--;
        while (missing == 0 && open != NO_NODE) {
            w->end[open] = i + 1;
            open = w->parent[open];
            missing = open == NO_NODE ? 0 : w->end[open];
            missing--;
        }
    }
    w->attr_at[w->nnodes] = w->attribute;
    *all = own;
    return open == NO_NODE; /* (3) */
}

static void view_fill(const struct tree_writing *w, struct page_digest *d)
{
    d->nodes = w->nnodes;
    d->attributes = w->nattributes;
    d->texts = w->ntexts;
    d->children = w->children;
    d->tags = w->tags;
    d->attr_at = w->attr_at;
    d->end = w->end;
    d->parent = w->parent;
    d->attr_name = w->attr_name;
    d->attr_value = w->attr_value;
    d->attr_values = w->nvalues;
    d->text_node = w->text_node;
    d->text_block = w->text_block;
    d->texts_in_row = true;
    d->text_of = w->text_of;
    d->attr_value_of = w->value_of;
}

bool opening_tree(struct opening *o)
{
    struct tree_writing w = {.nodes = o->parts[PART_NODES],
            .values = o->parts[PART_VALUES],
            .texts = o->parts[PART_TEXTS],
            .block_end = o->end,
            .kinds = o->kinds,
            .kind_names = o->kind_names};

    if (!room_make(o, &w))
        return false;
    const char *texts = w.text_to, *values = w.value_to;
    if (!nodes_open(&w) || !is_used_up(&w.nodes) || !is_used_up(&w.values) ||
            !is_used_up(&w.texts) || w.text != w.ntexts || w.value != w.nvalues ||
            w.attribute != w.nattributes || w.value_to != w.value_end) /* (1) */
        return false;
    if (!utf8_is_valid(texts, (size_t)(w.text_to - texts)) ||
            !utf8_is_valid(values, (size_t)(w.value_to - values))) /* (4) */
        return false;
    view_fill(&w, o->d);
    return true;
}
