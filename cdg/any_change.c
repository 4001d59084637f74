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

static void add_element_edit(const struct question *q, struct answer *a,
        const struct diff_edit *e, const struct elements *old, const struct elements *new_,
        bool text_differs)
{
    struct change c = {.how = CHANGE_UPDATED};

    if (e->how == DIFF_UPDATE &&
            str_equal(old->items[e->old].parts[0], new_->items[e->new_].parts[0])) {
        answer_add_attributes(a, q, &old->items[e->old], &new_->items[e->new_],
                element_path(q, a, new_->d, new_->node[e->new_]));
        return;
    }
    bool textual = (e->old == LCS_NONE || old->has_text[e->old]) &&
                   (e->new_ == LCS_NONE || new_->has_text[e->new_]);
    if (text_differs && textual) /* (2) */
        return;
    if (e->old != LCS_NONE) {
        c.old = old->items[e->old].text;
        c.path = element_path(q, a, old->d, old->node[e->old]);
    }
    if (e->new_ != LCS_NONE) {
        c.new_ = new_->items[e->new_].text;
        c.path = element_path(q, a, new_->d, new_->node[e->new_]);
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

const struct cdg_kind cdg_kind_any_change = {.compare = compare, .parts = parts};
