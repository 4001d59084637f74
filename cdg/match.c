/* Which element is which: matching the trees of two versions.
 *
 * In this order, so that the result is always the same:
 *  (1) roots of one name;
 *  (2) elements of one name and one id;
 *  (3) identical subtrees, the heaviest first; of several the one whose parent is matched
 *      with ours, then the first; all that is below them is matched too;
 *  (4) upwards: parents of matched elements, of one name and without id;
 *  (5) downwards: children of matched elements, of one name and without id, in order.
 */
#include "cdg/cdg_int.h"
#include <stdlib.h>

/* ---- trees
 * ------------------------------------------------------------------------------------- */

static void parents_fill(struct tree *t)
{
    for (uint32_t i = 0; i < t->d->nodes; i++)
        t->parent[i] = NO_NODE;
    for (uint32_t i = 0; i < t->d->nodes; i++)
        for (uint32_t c = i + 1; c < t->end[i]; c = t->end[c])
            t->parent[c] = i;
}

static struct str id_of(const struct page_digest *d, uint32_t node)
{
    for (uint32_t a = d->attr_at[node]; a < d->attr_at[node + 1]; a++)
        if (str_equal(page_attr_name(d, a), STR("id")) ||
                str_equal(page_attr_name(d, a), STR("xml:id")))
            return page_attr_value(d, a);
    return (struct str){NULL, 0};
}

/* Hash and weight of a node whose children have theirs; `text` is its number among texts. */
static void node_sum_up(struct tree *t, uint32_t i, uint32_t text, struct buf *scratch)
{
    const struct page_digest *d = t->d;
    struct str name = page_tag_name(d, d->tags[i]);

    buf_clear(scratch);
    buf_append(scratch, name.ptr, name.len + 1);
    if (d->tags[i] == 0) {
        struct str s = page_text(d, text);
        buf_append(scratch, s.ptr, s.len);
        t->weight[i] = s.len;
    } else {
        for (uint32_t a = d->attr_at[i]; a < d->attr_at[i + 1]; a++) {
            struct str n = page_attr_name(d, a), v = page_attr_value(d, a);
            buf_append(scratch, n.ptr, n.len + 1);
            buf_append(scratch, v.ptr, v.len + 1);
        }
        t->weight[i] = 2 * name.len + scratch->len;
        buf_putc(scratch, 1); /* attributes end, children begin */
    }
    for (uint32_t c = i + 1; c < t->end[i]; c = t->end[c]) {
        buf_append(scratch, &t->hash[c], sizeof t->hash[c]);
        t->weight[i] += t->weight[c];
    }
    t->hash[i] = hash128_of(scratch->data, scratch->len);
}

struct tree tree_of(const struct page_digest *d, struct arena *life)
{
    struct tree t = {.d = d,
            .end = subtree_ends(d, life),
            .parent = arena_array_of(life, d->nodes + 1, uint32_t),
            .weight = arena_array_of(life, d->nodes + 1, uint64_t),
            .hash = arena_array_of(life, d->nodes + 1, struct hash128),
            .id = arena_array_of(life, d->nodes + 1, struct str),
            .match = arena_array_of(life, d->nodes + 1, uint32_t)};
    BUF(scratch, PAGE_DIGEST_MAX);

    parents_fill(&t);
    uint32_t text = d->texts;
    for (uint32_t i = d->nodes; i-- > 0;) {
        text -= d->tags[i] == 0;
        node_sum_up(&t, i, text, &scratch);
        t.id[i] = id_of(d, i);
        t.match[i] = NO_NODE;
    }
    return t;
}

/* ---- matching
 * ---------------------------------------------------------------------------------- */

struct matching {
    struct tree *old, *new_;
    struct arena *life;
};

static bool same_name(const struct matching *m, uint32_t old, uint32_t new_)
{
    return str_equal(page_tag_name(m->old->d, m->old->d->tags[old]),
            page_tag_name(m->new_->d, m->new_->d->tags[new_]));
}

static bool is_free(const struct tree *t, uint32_t node)
{
    return t->d->tags[node] != 0 && t->match[node] == NO_NODE;
}

static void pair_up(struct matching *m, uint32_t old, uint32_t new_)
{
    m->old->match[old] = new_;
    m->new_->match[new_] = old;
}

/* (1) and (5): free children of one name, in order; `anonymous`: only those without id. */
static void match_children(struct matching *m, uint32_t old, uint32_t old_end, uint32_t new_,
        uint32_t new_end, bool anonymous)
{
    uint32_t budget = 1000; /* names that never meet must not cost the square of the children */

    for (uint32_t j = new_; j < new_end; j = m->new_->end[j]) {
        if (!is_free(m->new_, j) || (anonymous && m->new_->id[j].ptr))
            continue;
        uint32_t steps = 0;
        for (uint32_t i = old; i < old_end && steps < budget; i = m->old->end[i], steps++) {
            if (!is_free(m->old, i) || (anonymous && m->old->id[i].ptr) || !same_name(m, i, j))
                continue;
            pair_up(m, i, j);
            break;
        }
        while (old < old_end &&
                !is_free(m->old, old)) /* what is taken need not be seen again */
            old = m->old->end[old];
    }
}

/* ---- (2)
 * --------------------------------------------------------------------------------------- */

struct keyed {
    struct map_node by_key;
    uint32_t node;
    struct keyed *next; /* of the same hash, in document order */
};

static void match_ids(struct matching *m)
{
    struct map ids;

    map_init(&ids);
    for (uint32_t i = m->old->d->nodes;
            i-- > 0;) { /* newest first: the first one is found first */
        if (!m->old->id[i].ptr)
            continue;
        struct keyed *k = arena_new_of(m->life, struct keyed);
        k->node = i;
        map_insert(&ids, &k->by_key, map_hash(m->old->id[i].ptr, m->old->id[i].len));
    }
    for (uint32_t j = 0; j < m->new_->d->nodes; j++) {
        struct str id = m->new_->id[j];
        if (!id.ptr || !is_free(m->new_, j))
            continue;
        struct map_node *n = map_first(&ids, map_hash(id.ptr, id.len));
        for (unsigned steps = 0; n && steps < 100; n = map_next(n), steps++) {
            uint32_t i = container_of(n, struct keyed, by_key)->node;
            if (is_free(m->old, i) && str_equal(m->old->id[i], id) && same_name(m, i, j)) {
                pair_up(m, i, j);
                break;
            }
        }
    }
    map_done(&ids);
}

/* ---- (3)
 * --------------------------------------------------------------------------------------- */

static int heavier_first(const void *a, const void *b, void *arg)
{
    const struct tree *t = arg;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    if (t->weight[x] != t->weight[y])
        return t->weight[x] > t->weight[y] ? -1 : 1;
    return x < y ? -1 : 1;
}

static struct keyed *keyed_find(
        const struct map *map, const struct tree *t, struct hash128 hash)
{
    for (struct map_node *n = map_first(map, hash.lo); n; n = map_next(n)) {
        struct keyed *k = container_of(n, struct keyed, by_key);
        if (hash128_equal(t->hash[k->node], hash))
            return k;
    }
    return NULL;
}

/* The old elements by their hash, those of one hash in a row. */
static void subtrees_index(struct matching *m, struct map *map)
{
    map_init(map);
    for (uint32_t i = m->old->d->nodes; i-- > 0;) {
        if (!is_free(m->old, i))
            continue;
        struct keyed *k = arena_new_of(m->life, struct keyed), *first;
        k->node = i;
        first = keyed_find(map, m->old, m->old->hash[i]);
        if (first) { /* put in front: swap the numbers, so that the map need not change */
            k->next = first->next;
            first->next = k;
            k->node = first->node;
            first->node = i;
        } else {
            map_insert(map, &k->by_key, m->old->hash[i].lo);
        }
    }
}

static uint32_t choose_twin(struct matching *m, const struct keyed *row, uint32_t new_)
{
    uint32_t parent = m->new_->parent[new_], first = NO_NODE;
    uint32_t wanted = parent == NO_NODE ? NO_NODE : m->new_->match[parent];

    for (unsigned steps = 0; row && steps < 1000; row = row->next, steps++) {
        if (!is_free(m->old, row->node))
            continue;
        if (wanted != NO_NODE && m->old->parent[row->node] == wanted)
            return row->node;
        if (first == NO_NODE)
            first = row->node;
    }
    return first;
}

static void match_identical(struct matching *m)
{
    uint32_t n = 0, *order = arena_array_of(m->life, m->new_->d->nodes + 1, uint32_t);
    struct map map;

    subtrees_index(m, &map);
    for (uint32_t j = 0; j < m->new_->d->nodes; j++)
        if (is_free(m->new_, j))
            order[n++] = j;
    qsort_r(order, n, sizeof *order, heavier_first, m->new_);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t j = order[k];
        struct keyed *row =
                is_free(m->new_, j) ? keyed_find(&map, m->old, m->new_->hash[j]) : NULL;
        uint32_t i = row ? choose_twin(m, row, j) : NO_NODE;
        if (i == NO_NODE)
            continue;
        while (row && !is_free(m->old, row->node) && row->next) { /* drop what is taken */
            struct keyed *gone = row->next;
            row->node = gone->node;
            row->next = gone->next;
        }
        for (uint32_t s = 0; s < m->new_->end[j] - j; s++)
            if (is_free(m->new_, j + s) && is_free(m->old, i + s))
                pair_up(m, i + s, j + s);
    }
    map_done(&map);
}

/* ---- (4), (5)
 * ---------------------------------------------------------------------------------- */

static void match_upwards(struct matching *m)
{
    for (uint32_t j = 0; j < m->new_->d->nodes; j++) {
        uint32_t y = j, x = m->new_->match[j];
        while (x != NO_NODE) {
            x = m->old->parent[x];
            y = m->new_->parent[y];
            if (x == NO_NODE || y == NO_NODE || !is_free(m->old, x) || !is_free(m->new_, y) ||
                    m->old->id[x].ptr || m->new_->id[y].ptr || !same_name(m, x, y))
                break;
            pair_up(m, x, y);
        }
    }
}

void trees_match(struct tree *old, struct tree *new_, struct arena *life)
{
    struct matching m = {old, new_, life};

    match_children(&m, 0, old->d->nodes, 0, new_->d->nodes, /* anonymous= */ false); /* (1) */
    match_ids(&m);
    match_identical(&m);
    match_upwards(&m);
    for (uint32_t j = 0; j < new_->d->nodes; j++) { /* (5), parents before children */
        uint32_t i = new_->match[j];
        if (i != NO_NODE && new_->d->tags[j] != 0)
            match_children(&m, i + 1, old->end[i], j + 1, new_->end[j], /* anonymous= */ true);
    }
}
