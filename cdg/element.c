/* element: elements of a name that are new, updated, deleted or unchanged, or exist, and
 * that contain given words. */
#include "cdg/cdg_int.h"

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

static bool has_name(const struct question *q, const struct page_digest *d, uint32_t node)
{
    struct str name = page_tag_name(d, d->tags[node]), wanted = str_of(q->leaf->text);

    if (d->tags[node] == 0)
        return false;
    return d->type == PAGE_XML ? str_equal(name, wanted) : str_equal_nocase(name, wanted);
}

/* The texts that are children of the element itself. */
static struct str own_text(const struct tree *t, uint32_t node, struct arena *life)
{
    BUF(own, PAGE_DIGEST_MAX);

    for (uint32_t c = node + 1; c < t->end[node]; c = t->end[c]) {
        if (t->d->tags[c] != 0)
            continue;
        struct str s = subtree_text(t->d, c, c + 1, life);
        if (own.len)
            buf_putc(&own, ' ');
        buf_append(&own, s.ptr, s.len);
    }
    return (struct str){arena_strndup(life, buf_text(&own), own.len), own.len};
}

static bool qualifies(const struct question *q, const struct tree *t, uint32_t node)
{
    if (!has_name(q, t->d, node))
        return false;
    if (!q->leaf->contains)
        return true;
    SCRATCH struct arena *scratch = arena_new(NULL, "element");
    struct str text = q->leaf->strict ? own_text(t, node, scratch)
                                      : subtree_text(t->d, node, t->end[node], scratch);
    return keyword_occurs(q->prepared, text);
}

static struct str text_at(const struct question *q, const struct tree *t, uint32_t node)
{
    return subtree_text(t->d, node, t->end[node], q->life);
}

static void add_new_side(const struct question *q, struct answer *a, const struct tree *old,
        const struct tree *new_, uint32_t node)
{
    uint32_t twin = new_->match[node];
    bool same = twin != NO_NODE && hash128_equal(old->hash[twin], new_->hash[node]);
    bool wanted = (q->leaf->status == CDG_NEW && twin == NO_NODE) ||
                  (q->leaf->status == CDG_UPDATED && twin != NO_NODE && !same) ||
                  (q->leaf->status == CDG_UNCHANGED && same);

    if (!wanted || !qualifies(q, new_, node))
        return;
    struct change c = {.how = CHANGE_FOUND, .new_ = text_at(q, new_, node)};
    if (q->leaf->status == CDG_NEW)
        c.how = CHANGE_INSERTED;
    if (q->leaf->status == CDG_UPDATED) {
        c.how = CHANGE_UPDATED;
        c.old = text_at(q, old, twin);
        c.path = element_path(q, a, new_->d, node);
    }
    answer_add(a, q->life, c);
}

static void add_existing(const struct question *q, struct answer *a)
{
    const struct page_digest *d = q->new_->digest;
    struct tree t = {.d = d, .end = d->end};

    for (uint32_t i = 0; i < d->nodes; i++)
        if (d->tags[i] != 0 && qualifies(q, &t, i))
            answer_add(a, q->life, (struct change){CHANGE_FOUND, .new_ = text_at(q, &t, i)});
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
    struct tree old = tree_of(q->old->digest, q->life),
                new_ = tree_of(q->new_->digest, q->life);
    trees_match(&old, &new_, q->life);
    if (q->leaf->status != CDG_DELETED) {
        for (uint32_t j = 0; j < new_.d->nodes; j++)
            if (new_.d->tags[j] != 0)
                add_new_side(q, a, &old, &new_, j);
        return;
    }
    for (uint32_t i = 0; i < old.d->nodes; i++)
        if (old.d->tags[i] != 0 && old.match[i] == NO_NODE && qualifies(q, &old, i))
            answer_add(a, q->life, (struct change){CHANGE_DELETED, .old = text_at(q, &old, i)});
}

const struct cdg_kind cdg_kind_element = {
        .check = check, .prepare = prepare, .compare = compare};
