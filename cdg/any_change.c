/* any change: the canonical trees differ, or with `raw` the bytes.
 *
 * Whether there is a change is a comparison of two hashes.  The list is the difference of
 * the block texts; elements and attributes that differ without a text difference are listed
 * as updates with their path.  It must hold that
 *  (1) a change has something in its list, and
 *  (2) a tag that came or went with a text of its own is told by that text alone.
 */
#include "cdg/detect_int.h"

/* ---- texts ------------------------------------------------------------------------------- */

/* The blocks of a pair, and how they are told: a value of JSON says little without its key. */
struct told {
    const struct question *q;
    const struct blocks *b;
    bool keyed;
};

static bool is_json(const struct page_digest *d)
{
    return d->type == PAGE_TEXT && d->nodes &&
           str_equal(page_tag_name(d, d->tags[0]), STR("json"));
}

/* The name of the element the block stands in. */
static struct str key_of(const struct told *t, bool new_, size_t i)
{
    const struct page_digest *d = new_ ? t->q->new_->digest : t->q->old->digest;
    uint32_t parent = d->parent[d->text_node[t->b->all[new_][i].from]];

    return parent < d->nodes ? page_tag_name(d, d->tags[parent]) : STR("");
}

static bool told_equal(const void *arg, size_t old, size_t new_)
{
    const struct told *t = arg;

    return str_same(block_text(t->b, false, old), block_text(t->b, true, new_)) &&
           (!t->keyed || str_equal(key_of(t, false, old), key_of(t, true, new_)));
}

static struct diff_item told_item(const void *arg, bool new_, size_t i)
{
    const struct told *t = arg;
    struct str text = block_text(t->b, new_, i);

    if (t->keyed)
        text = str_of(arena_printf(t->q->life, "%s: %s", key_of(t, new_, i).ptr, text.ptr));
    return (struct diff_item){.text = text};
}

static uint32_t told_text(const void *arg, bool new_, size_t i)
{
    return ((const struct told *)arg)->b->all[new_][i].from;
}

static void compare_texts(const struct question *q, struct answer *a)
{
    const struct page_digest *old = q->old->digest, *new_ = q->new_->digest;
    struct diff d;

    if (hash128_equal(old->hash[PAGE_CONTENT], new_->hash[PAGE_CONTENT]) &&
            hash128_equal(old->hash[PAGE_BLOCKS], new_->hash[PAGE_BLOCKS]))
        return;
    struct told t = {q, blocks_of(q), is_json(old) && is_json(new_)};
    struct diff_input in = {t.b->count[0], t.b->count[1], told_equal, told_item, &t,
            t.b->exact && !t.keyed ? t.b->match : NULL, NULL, {NULL, NULL}, {NULL, NULL},
            .node = told_text, .of_blocks = true};
    diff_compare(&in, q->life, &d);
    answer_add_items(a, q->life, &d, &in);
}

/* ---- elements ---------------------------------------------------------------------------- */

static void add_element_edit(const struct question *q, struct answer *a,
        const struct diff_edit *e, const struct element_pair *pair, bool text_differs)
{
    const struct elements *old = &pair->old, *new_ = &pair->new_;
    struct change c = {.how = CHANGE_UPDATED, .by_path = true};

    if (e->how == DIFF_UPDATE && element_pair_same_name(pair, e->old, e->new_)) {
        answer_add_attributes(a, q, pair, e->old, e->new_);
        return;
    }
    bool textual = (e->old == LCS_NONE || element_has_text(old, e->old)) &&
                   (e->new_ == LCS_NONE || element_has_text(new_, e->new_));
    if (text_differs && textual) /* (2) */
        return;
    if (e->old != LCS_NONE) {
        c.old = element_item(old, e->old)->text;
        c.at[0] = old->node[e->old] + 1;
    }
    if (e->new_ != LCS_NONE) {
        c.new_ = element_item(new_, e->new_)->text;
        c.at[1] = new_->node[e->new_] + 1;
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
    const struct element_pair *pair = element_pair_of(q);
    struct diff_input in = {pair->old.count, pair->new_.count, element_pair_equal,
            element_pair_item, pair, NULL, element_pair_run, {NULL, NULL}, {NULL, NULL}};
    diff_compare(&in, q->life, &d);
    for (size_t i = 0; i < d.count; i++)
        add_element_edit(q, a, &d.edits[i], pair, text_differs);
    a->coarse |= d.coarse;
}

static void compare_trees(const struct question *q, struct answer *a)
{
    if (hash128_equal(q->old->digest->whole, q->new_->digest->whole))
        return;
    compare_texts(q, a);
    compare_elements(q, a);
    if (a->result != CDG_C)
        answer_add_first_difference(a, q); /* (1) */
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

static struct str_list parts(const struct question *q, const struct cdg_version *v)
{
    return page_words(v->digest, q->life);
}

const struct cdg_kind cdg_kind_any_change = {
        .compare = compare, .parts = parts, .of_data = true};
