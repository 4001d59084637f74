/* structure, tags, attributes, content: one array of the page digest each.
 *
 * Whether it differs is a comparison of hashes.  The list aligns elements by the order of
 * their tags and tells what differs between aligned ones.  An element that came or went
 * shifts all that stand behind it, which makes `attributes` differ too; then there may be
 * no aligned element to list.
 */
#include "cdg/detect_int.h"

static bool differs(const struct question *q, enum page_array array)
{
    return !hash128_equal(q->old->digest->hash[array], q->new_->digest->hash[array]);
}

/* Elements by their name alone; the same for all who ask about a pair. */
struct aligned {
    const struct element_pair *pair;
    struct diff_input in;
    struct diff diff;
    const uint32_t *match; /* by new element: the old one it is aligned with, or LCS_NONE */
};

static struct diff_item name_item(const void *arg, bool new_, size_t i)
{
    const struct element_pair *p = arg;
    const struct elements *e = new_ ? &p->new_ : &p->old;
    struct str name = page_tag_name(e->d, e->d->tags[e->node[i]]);

    return (struct diff_item){
            .text = str_of(arena_printf(e->life, "<%.*s>", (int)name.len, name.ptr))};
}

static uint32_t name_node(const void *arg, bool new_, size_t i)
{
    const struct element_pair *p = arg;
    return (new_ ? &p->new_ : &p->old)->node[i];
}

/* A coarse difference has pairs that the match does not. */
static const uint32_t *match_from_diff(const struct aligned *a, struct arena *life)
{
    bool *gone = arena_array_of(life, a->pair->old.count + 1, bool);
    uint32_t *match = arena_array_of(life, a->pair->new_.count + 1, uint32_t);
    size_t old = 0;

    for (size_t i = 0; i < a->diff.count; i++) {
        const struct diff_edit *e = &a->diff.edits[i];
        if (e->old != LCS_NONE)
            gone[e->old] = true;
        if (e->new_ != LCS_NONE)
            match[e->new_] = LCS_NONE;
    }
    for (size_t j = 0; j < a->pair->new_.count; j++) {
        if (match[j] == LCS_NONE)
            continue;
        while (old < a->pair->old.count && gone[old])
            old++;
        match[j] = old < a->pair->old.count ? (uint32_t)old++ : LCS_NONE;
    }
    return match;
}

static const struct aligned *align(const struct question *q)
{
    if (q->cache->aligned)
        return q->cache->aligned;
    struct question lasting = *q;
    struct aligned *a = arena_new_of(q->cache->life, struct aligned);

    lasting.life = q->cache->life;
    a->pair = element_pair_of(q);
    a->in = (struct diff_input){a->pair->old.count, a->pair->new_.count, element_pair_same_name,
            name_item, a->pair, NULL, element_pair_name_run, {NULL, NULL}, {NULL, NULL},
            .node = name_node};
    diff_compare(&a->in, lasting.life, &a->diff);
    a->match = a->diff.coarse ? match_from_diff(a, lasting.life) : a->diff.match;
    q->cache->aligned = a;
    return a;
}

static void compare_structure(const struct question *q, struct answer *answer)
{
    if (!differs(q, PAGE_CHILDREN))
        return;
    const struct aligned *a = align(q);
    const struct elements *from = &a->pair->old, *to = &a->pair->new_;
    answer_add_items(answer, q->life, &a->diff, &a->in);
    for (size_t j = 0; j < to->count; j++) {
        if (a->match[j] == LCS_NONE)
            continue;
        size_t known = element_pair_known(a->pair, a->match[j], j);
        if (known) {
            j += known - 1;
            continue;
        }
        uint32_t old = from->node[a->match[j]], new_ = to->node[j];
        uint32_t before = from->d->children[old], after = to->d->children[new_];
        if (before == after)
            continue;
        struct change c = {CHANGE_UPDATED, .at = {old + 1, new_ + 1}, .by_path = true};
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
    const struct aligned *a = align(q);
    answer_add_items(answer, q->life, &a->diff, &a->in);
    if (answer->result != CDG_C) /* a text came or went */
        answer_add_first_difference(answer, q);
}

static void compare_attributes(const struct question *q, struct answer *answer)
{
    if (!differs(q, PAGE_ATTRIBUTES))
        return;
    const struct aligned *a = align(q);
    for (size_t j = 0; j < a->pair->new_.count; j++) {
        size_t known =
                a->match[j] == LCS_NONE ? 1 : element_pair_known(a->pair, a->match[j], j);
        if (known)
            j += known - 1;
        else if (!element_pair_equal(a->pair, a->match[j], j))
            answer_add_attributes(answer, q, a->pair, a->match[j], j);
    }
    if (answer->result != CDG_C)
        answer->reason = "elements that came or went shifted the others";
    answer->result = CDG_C;
    answer->coarse |= a->diff.coarse;
}

struct texts {
    const struct page_digest *old, *new_;
    const struct spans *spans;
};

static bool texts_equal(const void *arg, size_t old, size_t new_)
{
    const struct texts *t = arg;
    return str_same(t->old->text_of[old], t->new_->text_of[new_]);
}

static size_t texts_run(const void *arg, size_t old, size_t new_)
{
    const struct spans *s = ((const struct texts *)arg)->spans;
    return span_run(s->all, s->count, SPAN_TEXTS, old, new_, texts_equal, arg);
}

static struct diff_item text_item(const void *arg, bool new_, size_t i)
{
    const struct texts *t = arg;
    return (struct diff_item){.text = page_text(new_ ? t->new_ : t->old, (uint32_t)i)};
}

static uint32_t text_node(const void *arg, bool new_, size_t i)
{
    const struct texts *t = arg;
    return (new_ ? t->new_ : t->old)->text_node[i];
}

static void compare_content(const struct question *q, struct answer *answer)
{
    if (!differs(q, PAGE_CONTENT))
        return;
    struct texts t = {q->old->digest, q->new_->digest, spans_of(q)};
    struct diff_input in = {t.old->texts, t.new_->texts, texts_equal, text_item, &t, NULL,
            texts_run, {NULL, NULL}, {t.old->text_of, t.new_->text_of},
            {t.spans->all, t.spans->count, SPAN_TEXTS}, .node = text_node};
    struct diff d;

    diff_compare(&in, q->life, &d);
    answer_add_items(answer, q->life, &d, &in);
}

/* ---- what CHANGED > n% counts ------------------------------------------------------------ */

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
