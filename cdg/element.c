/* element: elements of a name that are new, updated, deleted or unchanged, or exist, and
 * that contain given words. */
#include "cdg/match.h"

static enum err check(const struct cdg_leaf *leaf, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "element");

    if (!leaf->text || !leaf->text[0])
        return fault_set(f, ERR_RANGE, "the element has no name");
    if (leaf->contains && keyword_read(leaf->contains, scratch).count == 0)
        return fault_set(f, ERR_RANGE, "\"%.80s\" has no letter or digit", leaf->contains);
    return OK;
}

static void *prepare(const struct cdg_leaf *leaf, struct arena *life)
{
    struct keyword *k = arena_new_of(life, struct keyword);

    if (leaf->contains)
        *k = keyword_read(leaf->contains, life);
    return k;
}

/* Whether an element of this tag is asked for, by number of the tag. */
static const bool *named(const struct question *q, const struct page_digest *d)
{
    struct str wanted = str_of(q->leaf->text);
    bool *is = arena_array_of(q->life, d->tag_names + 1, bool);

    for (uint32_t i = 1; i < d->tag_names; i++)
        is[i] = d->type == PAGE_XML ? str_equal(page_tag_name(d, i), wanted)
                                    : str_equal_nocase(page_tag_name(d, i), wanted);
    return is;
}

/* The texts that are children of the element itself. */
static struct str own_text(const struct page_digest *d, uint32_t node, struct arena *life)
{
    BUF(own, PAGE_DIGEST_MAX);

    for (uint32_t c = node + 1; c < d->end[node]; c = d->end[c]) {
        if (d->tags[c] != 0)
            continue;
        struct str s = subtree_text(d, c, c + 1, life);
        if (own.len)
            buf_putc(&own, ' ');
        buf_append(&own, s.ptr, s.len);
    }
    return (struct str){arena_strndup(life, buf_text(&own), own.len), own.len};
}

/* Whether an element of the right name contains what it must. */
static bool qualifies(const struct question *q, const struct page_digest *d, uint32_t node)
{
    if (!q->leaf->contains)
        return true;
    SCRATCH struct arena *scratch = arena_new(NULL, "element");
    struct str text = q->leaf->strict ? own_text(d, node, scratch)
                                      : subtree_text(d, node, d->end[node], scratch);
    return keyword_occurs(q->prepared, text);
}

static struct str text_at(const struct question *q, const struct page_digest *d, uint32_t node)
{
    return subtree_text(d, node, d->end[node], q->life);
}

static bool is_wanted(const struct question *q, struct matching *m, uint32_t node)
{
    uint32_t twin = m->new_.match[node];

    if (q->leaf->status == CDG_NEW)
        return twin == NO_NODE;
    return twin != NO_NODE && matched_same(m, twin, node) == (q->leaf->status == CDG_UNCHANGED);
}

static void add_new_side(
        const struct question *q, struct answer *a, struct matching *m, uint32_t node)
{
    const struct page_digest *new_ = m->new_.d;

    if (!is_wanted(q, m, node) || !qualifies(q, new_, node))
        return;
    struct change c = {
            .how = CHANGE_FOUND, .new_ = text_at(q, new_, node), .at = {0, node + 1}};
    if (q->leaf->status == CDG_NEW)
        c.how = CHANGE_INSERTED;
    if (q->leaf->status == CDG_UPDATED) {
        c.how = CHANGE_UPDATED;
        c.old = text_at(q, m->old.d, m->new_.match[node]);
        c.at[0] = m->new_.match[node] + 1;
        c.by_path = true;
    }
    answer_add(a, q->life, c);
}

static void add_existing(const struct question *q, struct answer *a)
{
    const struct page_digest *d = q->new_->digest;
    const bool *is_named = named(q, d);

    for (uint32_t i = 0; i < d->nodes; i++)
        if (is_named[d->tags[i]] && qualifies(q, d, i))
            answer_add(a, q->life,
                    (struct change){CHANGE_FOUND, .new_ = text_at(q, d, i), .at = {0, i + 1}});
}

static void add_deleted(const struct question *q, struct answer *a, const struct matching *m)
{
    const struct page_digest *d = m->old.d;
    const bool *is_named = named(q, d);

    for (uint32_t i = 0; i < d->nodes; i++)
        if (is_named[d->tags[i]] && m->old.match[i] == NO_NODE && qualifies(q, d, i))
            answer_add(a, q->life,
                    (struct change){CHANGE_DELETED, .old = text_at(q, d, i), .at = {i + 1, 0}});
}

static void compare(const struct question *q, struct answer *a)
{
    if (q->old->digest->malformed_xml || q->new_->digest->malformed_xml) {
        answer_unknown(a, "the page is not well-formed XML");
        return;
    }
    bool same = hash128_equal(q->old->digest->whole, q->new_->digest->whole);
    if (q->leaf->status == CDG_EXISTS || (same && q->leaf->status == CDG_UNCHANGED)) {
        add_existing(q, a); /* all that are there, and nothing has to be matched */
        return;
    }
    if (same)
        return;
    struct matching *m = matching_of(q);
    if (q->leaf->status == CDG_DELETED) {
        add_deleted(q, a, m);
        return;
    }
    const bool *is_named = named(q, m->new_.d);
    const uint32_t *tags = m->new_.d->tags, nodes = m->new_.d->nodes;
    for (uint32_t j = 0; j < nodes; j++)
        if (is_named[tags[j]])
            add_new_side(q, a, m, j);
}

const struct cdg_kind cdg_kind_element = {
        .check = check, .prepare = prepare, .compare = compare};
