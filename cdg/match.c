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

/* ---- trees ------------------------------------------------------------------------------- */

/* Numbers of the names "id" and "xml:id" among the digest's names. */
struct id_names {
    uint32_t id, xml_id;
};

static struct id_names id_names_of(const struct page_digest *d)
{
    struct id_names n = {NO_NODE, NO_NODE};

    for (uint32_t i = 0; i < d->attr_names; i++) {
        if (str_equal(d->attr_name_of[i], STR("id")))
            n.id = i;
        else if (str_equal(d->attr_name_of[i], STR("xml:id")))
            n.xml_id = i;
    }
    return n;
}

static struct str id_of(const struct page_digest *d, struct id_names names, uint32_t node)
{
    for (uint32_t a = d->attr_at[node]; a < d->attr_at[node + 1]; a++)
        if (d->attr_name[a] == names.id || d->attr_name[a] == names.xml_id)
            return page_attr_value(d, a);
    return (struct str){NULL, 0};
}

/* Hashes of the digest's strings, each computed once. */
struct string_hashes {
    struct hash128 *tags, *names, *values;
};

static struct hash128 *hashes_of(const struct str *all, uint32_t n, struct arena *life)
{
    struct hash128 *h = arena_alloc(life, (n + 1) * sizeof *h);

    for (uint32_t i = 0; i < n; i++)
        h[i] = hash128_of(all[i].ptr, all[i].len);
    return h;
}

/* What was hashed so far, and one more thing behind it; order counts. */
static struct hash128 mixed(struct hash128 h, struct hash128 more)
{
    h.lo = (h.lo ^ more.lo) * 0x9E3779B97F4A7C15u;
    h.hi = (h.hi ^ more.hi) * 0xC2B2AE3D27D4EB4Fu;
    h.lo ^= h.lo >> 29;
    h.hi ^= h.hi >> 31;
    h.lo += h.hi;
    return h;
}

/* Hash and weight of a node whose children have theirs; `text` is its number among texts. */
static void node_sum_up(
        struct tree *t, uint32_t i, uint32_t text, const struct string_hashes *strings)
{
    static const struct hash128 children_begin = {1, 2};
    const struct page_digest *d = t->d;

    if (d->tags[i] == 0) {
        struct str s = page_text(d, text);
        t->weight[i] = s.len;
        t->hash[i] = hash128_of(s.ptr, s.len);
        return;
    }
    struct hash128 h = mixed(children_begin, strings->tags[d->tags[i]]);
    uint64_t weight = 3 * page_tag_name(d, d->tags[i]).len + 1;
    for (uint32_t a = d->attr_at[i]; a < d->attr_at[i + 1]; a++) {
        h = mixed(mixed(h, strings->names[d->attr_name[a]]), strings->values[d->attr_value[a]]);
        weight += page_attr_name(d, a).len + page_attr_value(d, a).len + 2;
    }
    h = mixed(h, children_begin); /* attributes end */
    for (uint32_t c = i + 1; c < t->end[i]; c = t->end[c]) {
        h = mixed(h, t->hash[c]);
        weight += t->weight[c];
    }
    t->hash[i] = h;
    t->weight[i] = weight;
}

struct tree tree_of(const struct page_digest *d, struct arena *life)
{
    struct tree t = {.d = d,
            .end = d->end,
            .parent = d->parent,
            .weight = arena_alloc(life, (d->nodes + 1) * sizeof(uint64_t)),
            .hash = arena_alloc(life, (d->nodes + 1) * sizeof(struct hash128)),
            .id = arena_alloc(life, (d->nodes + 1) * sizeof(struct str)),
            .match = arena_alloc(life, (d->nodes + 1) * sizeof(uint32_t))};
    struct string_hashes strings = {hashes_of(d->tag_name_of, d->tag_names, life),
            hashes_of(d->attr_name_of, d->attr_names, life),
            hashes_of(d->attr_value_of, d->attr_values, life)};
    struct id_names names = id_names_of(d);

    uint32_t text = d->texts;
    for (uint32_t i = d->nodes; i-- > 0;) {
        text -= d->tags[i] == 0;
        node_sum_up(&t, i, text, &strings);
        t.id[i] = id_of(d, names, i);
        t.match[i] = NO_NODE;
    }
    return t;
}

/* ---- matching ---------------------------------------------------------------------------- */

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

/* ---- (2) --------------------------------------------------------------------------------- */

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

/* ---- (3) --------------------------------------------------------------------------------- */

/* Elements still to be looked at, the heaviest on top, of equals the first of the page.  A
 * parent is heavier than what is below it, so who lies in a subtree that found its twin never
 * gets here. */
struct queue {
    const struct tree *t;
    uint32_t *all;
    size_t count;
};

static bool comes_first(const struct tree *t, uint32_t x, uint32_t y)
{
    return t->weight[x] != t->weight[y] ? t->weight[x] > t->weight[y] : x < y;
}

static void queue_put(struct queue *q, uint32_t node)
{
    size_t i = q->count++;

    for (; i > 0 && comes_first(q->t, node, q->all[(i - 1) / 2]); i = (i - 1) / 2)
        q->all[i] = q->all[(i - 1) / 2];
    q->all[i] = node;
}

static uint32_t queue_take(struct queue *q)
{
    uint32_t top = q->all[0], last = q->all[--q->count];
    size_t i = 0, child;

    for (; (child = 2 * i + 1) < q->count; i = child) {
        if (child + 1 < q->count && comes_first(q->t, q->all[child + 1], q->all[child]))
            child++;
        if (!comes_first(q->t, q->all[child], last))
            break;
        q->all[i] = q->all[child];
    }
    q->all[i] = last;
    return top;
}

static void queue_put_children(struct queue *q, uint32_t from, uint32_t to)
{
    for (uint32_t c = from; c < to; c = q->t->end[c])
        if (q->t->d->tags[c] != 0)
            queue_put(q, c);
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
        struct keyed *k = arena_alloc(m->life, sizeof *k), *first;
        k->node = i;
        k->next = NULL;
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

/* True: the subtree found its twin. */
static bool match_subtree(struct matching *m, const struct map *map, uint32_t j)
{
    struct keyed *row = is_free(m->new_, j) ? keyed_find(map, m->old, m->new_->hash[j]) : NULL;
    uint32_t i = row ? choose_twin(m, row, j) : NO_NODE;

    if (i == NO_NODE)
        return false;
    while (row && !is_free(m->old, row->node) && row->next) { /* drop what is taken */
        struct keyed *gone = row->next;
        row->node = gone->node;
        row->next = gone->next;
    }
    for (uint32_t s = 0; s < m->new_->end[j] - j; s++)
        if (is_free(m->new_, j + s) && is_free(m->old, i + s))
            pair_up(m, i + s, j + s);
    return true;
}

static bool has_free_below(const struct tree *t, uint32_t node)
{
    for (uint32_t i = node + 1; i < t->end[node]; i++)
        if (is_free(t, i))
            return true;
    return false;
}

static void match_identical(struct matching *m)
{
    struct queue q = {
            m->new_, arena_alloc(m->life, (m->new_->d->nodes + 1) * sizeof(uint32_t)), 0};
    struct map map;

    subtrees_index(m, &map);
    queue_put_children(&q, 0, m->new_->d->nodes);
    while (q.count) {
        uint32_t j = queue_take(&q);
        /* below a twin there may be elements that stayed free, as theirs were taken */
        if (!match_subtree(m, &map, j) || has_free_below(m->new_, j))
            queue_put_children(&q, j + 1, m->new_->end[j]);
    }
    map_done(&map);
}

/* ---- (4), (5) ---------------------------------------------------------------------------- */

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
