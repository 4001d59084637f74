/* any change: the canonical trees differ, or with `raw` the bytes.
 *
 * Whether there is a change is a comparison of two hashes.  The list is the difference of
 * the block texts; elements and attributes that differ without a text difference are listed
 * as updates with their path.  It must hold that
 *  (1) a change has something in its list, and
 *  (2) a tag that came or went with a text of its own is told by that text alone.
 */
#include "cdg/cdg_int.h"

/* ---- texts
 * ----------------------------------------------------------------------------------------- */

static struct diff_item *block_items(
        const struct page_digest *d, struct arena *life, size_t *ret_n)
{
    struct page_block *blocks;
    size_t n = page_blocks(d, life, &blocks);
    struct diff_item *items = arena_array_of(life, n + 1, struct diff_item);

    for (size_t i = 0; i < n; i++)
        items[i].text = blocks[i].text;
    *ret_n = n;
    return items;
}

static void compare_texts(const struct question *q, struct answer *a)
{
    const struct page_digest *old = q->old->digest, *new_ = q->new_->digest;
    size_t nold, nnew;
    struct diff d;

    if (hash128_equal(old->hash[PAGE_CONTENT], new_->hash[PAGE_CONTENT]) &&
            hash128_equal(old->hash[PAGE_BLOCKS], new_->hash[PAGE_BLOCKS]))
        return;
    struct diff_item *from = block_items(old, q->life, &nold);
    struct diff_item *to = block_items(new_, q->life, &nnew);
    diff_sequences(from, nold, to, nnew, q->life, &d);
    answer_add_diff(a, q->life, &d, from, to);
}

/* ---- elements
 * -------------------------------------------------------------------------------------- */

struct elements {
    const struct page_digest *d;
    struct diff_item *items; /* "<a href=\"x\">", parts: name, then each attribute */
    uint32_t *node;
    bool *has_text; /* by item: a text stands below it */
    size_t count;
};

/* Behind the last node below each node. */
static uint32_t *subtree_ends(const struct page_digest *d, struct arena *scratch)
{
    uint32_t *end = arena_array_of(scratch, d->nodes + 1, uint32_t);

    end[d->nodes] = d->nodes;
    for (uint32_t i = d->nodes; i-- > 0;) {
        uint32_t e = i + 1;
        for (uint32_t c = 0; c < d->children[i]; c++)
            e = end[e];
        end[i] = e;
    }
    return end;
}

static struct diff_item element_item(
        const struct page_digest *d, uint32_t node, struct arena *life)
{
    uint32_t from = d->attr_at[node], n = d->attr_at[node + 1] - from;
    struct str *parts = arena_array_of(life, n + 1, struct str);
    struct str name = page_tag_name(d, d->tags[node]);
    size_t bytes = name.len + 3;

    parts[0] = name;
    for (uint32_t i = 0; i < n; i++) {
        parts[i + 1] = str_of(arena_printf(life, "%s=\"%s\"", page_attr_name(d, from + i).ptr,
                page_attr_value(d, from + i).ptr));
        bytes += parts[i + 1].len + 1;
    }
    char *text = arena_alloc(life, bytes), *at = text;
    *at++ = '<';
    for (uint32_t i = 0; i <= n; i++) {
        if (i)
            *at++ = ' ';
        memcpy(at, parts[i].ptr, parts[i].len);
        at += parts[i].len;
    }
    *at++ = '>';
    return (struct diff_item){{text, (size_t)(at - text)}, parts, n + 1};
}

static struct elements elements_of(const struct page_digest *d, struct arena *life)
{
    uint32_t *end = subtree_ends(d, life),
             *texts = arena_array_of(life, d->nodes + 1, uint32_t);
    struct elements e = {.d = d,
            .items = arena_array_of(life, d->nodes + 1, struct diff_item),
            .node = arena_array_of(life, d->nodes + 1, uint32_t),
            .has_text = arena_array_of(life, d->nodes + 1, bool)};

    for (uint32_t i = 0; i < d->nodes; i++)
        texts[i + 1] = texts[i] + (d->tags[i] == 0);
    for (uint32_t i = 0; i < d->nodes; i++) {
        if (d->tags[i] == 0)
            continue;
        e.items[e.count] = element_item(d, i, life);
        e.node[e.count] = i;
        e.has_text[e.count] = texts[end[i]] > texts[i];
        e.count++;
    }
    return e;
}

static const char *path_of(const struct question *q, const struct answer *a,
        const struct page_digest *d, uint32_t node)
{
    if (a->counts[CHANGE_UPDATED] >= CHANGES_LISTED)
        return NULL; /* will not be listed */
    return page_path(d, node, q->life);
}

/* The attributes in which two elements of one name differ, each as an update. */
static void compare_attributes(const struct question *q, struct answer *a,
        const struct diff_item *old, const struct diff_item *new_, const char *path)
{
    size_t i = 1, j = 1;

    while (i < old->nparts || j < new_->nparts) {
        struct str x = i < old->nparts ? old->parts[i] : (struct str){"", 0};
        struct str y = j < new_->nparts ? new_->parts[j] : (struct str){"", 0};
        size_t nx = strcspn(x.ptr, "="), ny = strcspn(y.ptr, "=");
        int c = i == old->nparts    ? 1
                : j == new_->nparts ? -1
                                    : strncmp(x.ptr, y.ptr, nx > ny ? nx : ny);
        struct change change = {CHANGE_UPDATED, .path = path};
        if (c <= 0)
            change.old = x;
        if (c >= 0)
            change.new_ = y;
        if (c != 0 || !str_equal(x, y)) {
            change.path = arena_printf(q->life, "%s/@%.*s", path ? path : "",
                    (int)(c <= 0 ? nx : ny), c <= 0 ? x.ptr : y.ptr);
            answer_add(a, q->life, change);
        }
        i += c <= 0;
        j += c >= 0;
    }
}

static void add_element_edit(const struct question *q, struct answer *a,
        const struct diff_edit *e, const struct elements *old, const struct elements *new_,
        bool text_differs)
{
    struct change c = {.how = CHANGE_UPDATED};

    if (e->how == DIFF_UPDATE &&
            str_equal(old->items[e->old].parts[0], new_->items[e->new_].parts[0])) {
        compare_attributes(q, a, &old->items[e->old], &new_->items[e->new_],
                path_of(q, a, new_->d, new_->node[e->new_]));
        return;
    }
    bool textual = (e->old == LCS_NONE || old->has_text[e->old]) &&
                   (e->new_ == LCS_NONE || new_->has_text[e->new_]);
    if (text_differs && textual) /* (2) */
        return;
    if (e->old != LCS_NONE) {
        c.old = old->items[e->old].text;
        c.path = path_of(q, a, old->d, old->node[e->old]);
    }
    if (e->new_ != LCS_NONE) {
        c.new_ = new_->items[e->new_].text;
        c.path = path_of(q, a, new_->d, new_->node[e->new_]);
    }
    answer_add(a, q->life, c);
}

static bool same_tags(const struct page_digest *a, const struct page_digest *b)
{
    return hash128_equal(a->hash[PAGE_TAGS], b->hash[PAGE_TAGS]) &&
           hash128_equal(a->hash[PAGE_ATTRIBUTES], b->hash[PAGE_ATTRIBUTES]);
}

static void compare_elements(const struct question *q, struct answer *a)
{
    bool text_differs = a->result == CDG_C;
    struct diff d;

    if (same_tags(q->old->digest, q->new_->digest))
        return;
    struct elements old = elements_of(q->old->digest, q->life);
    struct elements new_ = elements_of(q->new_->digest, q->life);
    diff_sequences(old.items, old.count, new_.items, new_.count, q->life, &d);
    for (size_t i = 0; i < d.count; i++)
        add_element_edit(q, a, &d.edits[i], &old, &new_, text_differs);
    a->coarse |= d.coarse;
}

/* (1): same texts and same tags in another nesting, or texts joined in another way. */
static void add_first_difference(const struct question *q, struct answer *a)
{
    const struct page_digest *old = q->old->digest, *new_ = q->new_->digest;
    uint32_t i = 0;

    while (i < old->nodes && i < new_->nodes && old->children[i] == new_->children[i] &&
            str_equal(page_tag_name(old, old->tags[i]), page_tag_name(new_, new_->tags[i])))
        i++;
    const struct page_digest *d = i < new_->nodes ? new_ : old;
    struct change c = {CHANGE_UPDATED, .path = i < d->nodes ? page_path(d, i, q->life) : "/"};
    if (i < old->nodes)
        c.old = str_of(arena_printf(q->life, "<%s> with %u children",
                page_tag_name(old, old->tags[i]).ptr, old->children[i]));
    if (i < new_->nodes)
        c.new_ = str_of(arena_printf(q->life, "<%s> with %u children",
                page_tag_name(new_, new_->tags[i]).ptr, new_->children[i]));
    answer_add(a, q->life, c);
}

static void compare_trees(const struct question *q, struct answer *a)
{
    if (hash128_equal(q->old->digest->whole, q->new_->digest->whole))
        return;
    compare_texts(q, a);
    compare_elements(q, a);
    if (a->result != CDG_C)
        add_first_difference(q, a);
}

static void compare(const struct question *q, struct answer *a)
{
    if (!q->leaf->raw) {
        compare_trees(q, a);
        return;
    }
    if (hash128_equal(q->old->body, q->new_->body))
        return;
    if (q->old->digest && q->new_->digest)
        compare_trees(q, a);
    if (a->result != CDG_C)
        a->reason = "the source differs, what it shows does not";
    a->result = CDG_C;
}

const struct cdg_kind cdg_kind_any_change = {.compare = compare};
