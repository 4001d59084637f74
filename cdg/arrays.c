/* structure, tags, attributes, content: one array of the page digest each.
 *
 * Whether it differs is a comparison of hashes.  The list aligns elements by the order of
 * their tags and tells what differs between aligned ones.  An element that came or went
 * shifts all that stand behind it, which makes `attributes` differ too; then there may be
 * no aligned element to list.
 */
#include "cdg/cdg_int.h"

static bool differs(const struct question *q, enum page_array array)
{
    return !hash128_equal(q->old->digest->hash[array], q->new_->digest->hash[array]);
}

/* Elements by their name alone. */
static struct diff_item *names_of(const struct elements *e, struct arena *life)
{
    struct diff_item *items = arena_array_of(life, e->count + 1, struct diff_item);

    for (size_t i = 0; i < e->count; i++) {
        struct str name = e->items[i].parts[0];
        items[i].text = str_of(arena_printf(life, "<%.*s>", (int)name.len, name.ptr));
    }
    return items;
}

struct aligned {
    struct elements old, new_;
    struct diff_item *old_names, *new_names;
    struct diff diff;
    uint32_t *match; /* by new element: the old one it is aligned with, or LCS_NONE */
};

static void match_from_diff(struct aligned *a, struct arena *life)
{
    bool *gone = arena_array_of(life, a->old.count + 1, bool);
    size_t old = 0;

    a->match = arena_array_of(life, a->new_.count + 1, uint32_t);
    for (size_t i = 0; i < a->diff.count; i++) {
        const struct diff_edit *e = &a->diff.edits[i];
        if (e->old != LCS_NONE)
            gone[e->old] = true;
        if (e->new_ != LCS_NONE)
            a->match[e->new_] = LCS_NONE;
    }
    for (size_t j = 0; j < a->new_.count; j++) {
        if (a->match[j] == LCS_NONE)
            continue;
        while (old < a->old.count && gone[old])
            old++;
        a->match[j] = old < a->old.count ? (uint32_t)old++ : LCS_NONE;
    }
}

static struct aligned align(const struct question *q)
{
    struct aligned a = {.old = elements_of(q->old->digest, q->life),
            .new_ = elements_of(q->new_->digest, q->life)};

    a.old_names = names_of(&a.old, q->life);
    a.new_names = names_of(&a.new_, q->life);
    diff_sequences(a.old_names, a.old.count, a.new_names, a.new_.count, q->life, &a.diff);
    match_from_diff(&a, q->life);
    return a;
}

static void compare_structure(const struct question *q, struct answer *answer)
{
    if (!differs(q, PAGE_CHILDREN))
        return;
    struct aligned a = align(q);
    answer_add_diff(answer, q->life, &a.diff, a.old_names, a.new_names);
    for (size_t j = 0; j < a.new_.count; j++) {
        if (a.match[j] == LCS_NONE)
            continue;
        uint32_t old = a.old.node[a.match[j]], new_ = a.new_.node[j];
        uint32_t before = a.old.d->children[old], after = a.new_.d->children[new_];
        if (before == after)
            continue;
        struct change c = {CHANGE_UPDATED, .path = element_path(q, answer, a.new_.d, new_)};
        c.old = str_of(arena_printf(q->life, "%u children", before));
        c.new_ = str_of(arena_printf(q->life, "%u children", after));
        answer_add(answer, q->life, c);
    }
    if (answer->result != CDG_C)
        answer_add_first_difference(answer, q);
}

static void compare_tags(const struct question *q, struct answer *answer)
{
    if (!differs(q, PAGE_TAGS))
        return;
    struct aligned a = align(q);
    answer_add_diff(answer, q->life, &a.diff, a.old_names, a.new_names);
    if (answer->result != CDG_C) /* a text came or went */
        answer_add_first_difference(answer, q);
}

static void compare_attributes(const struct question *q, struct answer *answer)
{
    if (!differs(q, PAGE_ATTRIBUTES))
        return;
    struct aligned a = align(q);
    for (size_t j = 0; j < a.new_.count; j++) {
        const struct diff_item *old = &a.old.items[a.match[j] == LCS_NONE ? 0 : a.match[j]];
        const struct diff_item *new_ = &a.new_.items[j];
        if (a.match[j] != LCS_NONE && !str_equal(old->text, new_->text))
            answer_add_attributes(
                    answer, q, old, new_, element_path(q, answer, a.new_.d, a.new_.node[j]));
    }
    if (answer->result != CDG_C)
        answer->reason = "elements that came or went shifted the others";
    answer->result = CDG_C;
    answer->coarse |= a.diff.coarse;
}

static struct diff_item *texts_of(const struct page_digest *d, struct arena *life)
{
    struct diff_item *items = arena_array_of(life, d->texts + 1, struct diff_item);

    for (uint32_t i = 0; i < d->texts; i++)
        items[i].text = page_text(d, i);
    return items;
}

static void compare_content(const struct question *q, struct answer *answer)
{
    const struct page_digest *old = q->old->digest, *new_ = q->new_->digest;
    struct diff d;

    if (!differs(q, PAGE_CONTENT))
        return;
    struct diff_item *from = texts_of(old, q->life), *to = texts_of(new_, q->life);
    diff_sequences(from, old->texts, to, new_->texts, q->life, &d);
    answer_add_diff(answer, q->life, &d, from, to);
}

/* ---- what CHANGED > n% counts
 * ------------------------------------------------------------------ */

static struct str_list structure_parts(const struct question *q, const struct cdg_version *v)
{
    const struct page_digest *d = v->digest;
    struct str_list list = {arena_array_of(q->life, d->nodes + 1, struct str), d->nodes};

    for (uint32_t i = 0; i < d->nodes; i++)
        list.all[i] = str_of(arena_printf(q->life, "%u", d->children[i]));
    return list;
}

static struct str_list tags_parts(const struct question *q, const struct cdg_version *v)
{
    const struct page_digest *d = v->digest;
    struct str_list list = {arena_array_of(q->life, d->nodes + 1, struct str), d->nodes};

    for (uint32_t i = 0; i < d->nodes; i++)
        list.all[i] = page_tag_name(d, d->tags[i]);
    return list;
}

static struct str_list attributes_parts(const struct question *q, const struct cdg_version *v)
{
    const struct page_digest *d = v->digest;
    struct str_list list = {
            arena_array_of(q->life, d->attributes + 1, struct str), d->attributes};

    for (uint32_t i = 0; i < d->attributes; i++)
        list.all[i] = str_of(arena_printf(
                q->life, "%s=%s", page_attr_name(d, i).ptr, page_attr_value(d, i).ptr));
    return list;
}

static struct str_list content_parts(const struct question *q, const struct cdg_version *v)
{
    return page_words(v->digest, q->life);
}

const struct cdg_kind cdg_kind_structure = {
        .compare = compare_structure, .parts = structure_parts};
const struct cdg_kind cdg_kind_tags = {.compare = compare_tags, .parts = tags_parts};
const struct cdg_kind cdg_kind_attributes = {
        .compare = compare_attributes, .parts = attributes_parts};
const struct cdg_kind cdg_kind_content = {.compare = compare_content, .parts = content_parts};
