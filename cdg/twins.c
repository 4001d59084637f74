/* Identical subtrees: where the twin of a new one stands in the old version.
 *
 * It is looked for where it stood, among the children of the element its parent is matched
 * with; only then elsewhere, among those of the same name, weight and size.  When comparing
 * them takes long, all old subtrees are indexed by their hashes.  It must hold that
 *  (1) whichever way, the same one is found: of those with a matched parent the first, else
 *      the first of all that are free; and
 *  (2) time stays in proportion to the pages.
 */
#include "base/map.h"
#include "cdg/match.h"

enum { SHAPES_BITS = 10, SHAPES = 1 << SHAPES_BITS, CHILDREN_MAX = 256, ROW_MAX = 1000 };
enum { LARGE = 64, SCANS_MAX = 24 }; /* subtrees of that many nodes are looked for one by one */

struct keyed {
    struct map_node by_hash;
    uint32_t node;
    struct keyed *next; /* of the same hash, in document order */
};

struct twins {
    unsigned scans;
    uint32_t first[SHAPES]; /* old elements by their shape, in document order */
    uint32_t *next;         /* by old node: the next one of its shape; NULL: not filled yet */
    uint64_t steps;
    struct hash128 *old_hash, *new_hash; /* by node; NULL: not indexed yet */
    struct map index;                    /* struct keyed */
};

/* ---- without hashes ---------------------------------------------------------------------- */

static uint32_t shape_of(const struct tree *t, uint32_t node, uint32_t new_tag)
{
    uint64_t n = weight_of(t, node) * 0x9E3779B97F4A7C15u + (t->d->end[node] - node);
    return (uint32_t)(((n ^ new_tag) * 0xC2B2AE3D27D4EB4Fu) >> (64 - SHAPES_BITS));
}

static void shapes_fill(struct matching *m)
{
    struct twins *w = m->twins;
    const struct page_digest *d = m->old.d;

    w->next = arena_alloc(m->life, (d->nodes + 1) * sizeof *w->next);
    memset(w->first, 0xFF, sizeof w->first);
    const uint32_t *tags = d->tags, *match = m->old.match;
    for (uint32_t i = d->nodes; i-- > 0;) {
        if (match[i] != NO_NODE || tags[i] == 0) /* not free */
            continue;                            /* nor is it asked for */
        uint32_t *first = &w->first[shape_of(&m->old, i, m->same.tag[tags[i]])];
        w->next[i] = *first;
        *first = i;
    }
}

static bool is_twin(struct matching *m, uint32_t old, uint32_t new_)
{
    return is_free(&m->old, old) && weight_of(&m->old, old) == weight_of(&m->new_, new_) &&
           same_subtrees(&m->same, old, new_);
}

static uint32_t find_child(struct matching *m, uint32_t parent, uint32_t new_)
{
    for (uint32_t i = parent + 1; i < m->old.d->end[parent]; i = m->old.d->end[i])
        if (is_twin(m, i, new_))
            return i;
    return NO_NODE;
}

/* Large ones come first, when nearly all are free, and are few: filling in shapes can wait
 * until most have found their twins. */
static uint32_t find_large(struct matching *m, uint32_t new_)
{
    const struct page_digest *d = m->old.d;
    uint32_t n = m->new_.d->end[new_] - new_;

    for (uint32_t i = 0; i + n <= d->nodes; i++)
        if (d->end[i] == i + n && is_twin(m, i, new_))
            return i;
    return NO_NODE;
}

static uint32_t find_anywhere(struct matching *m, uint32_t new_)
{
    struct twins *w = m->twins;

    if (!w->next) {
        if (m->new_.d->end[new_] - new_ >= LARGE && w->scans++ < SCANS_MAX)
            return find_large(m, new_);
        shapes_fill(m);
    }
    uint32_t *link = &w->first[shape_of(&m->new_, new_, m->new_.d->tags[new_])];

    for (; *link != NO_NODE; w->steps++) {
        uint32_t i = *link;
        if (!is_free(&m->old, i)) {
            *link = w->next[i]; /* and never will be */
            continue;
        }
        if (is_twin(m, i, new_))
            return i;
        link = &w->next[i];
    }
    return NO_NODE;
}

/* ---- with them --------------------------------------------------------------------------- */

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

/* Of every subtree, children before parents. */
static struct hash128 *subtree_hashes(const struct page_digest *d, struct arena *life)
{
    static const struct hash128 children_begin = {1, 2};
    struct hash128 *hash = arena_alloc(life, (d->nodes + 1) * sizeof *hash);
    SCRATCH struct arena *scratch = arena_new(NULL, "hashes");
    struct hash128 *tags = hashes_of(d->tag_name_of, d->tag_names, scratch),
                   *names = hashes_of(d->attr_name_of, d->attr_names, scratch),
                   *values = hashes_of(d->attr_value_of, d->attr_values, scratch);
    uint32_t text = d->texts;

    for (uint32_t i = d->nodes; i-- > 0;) {
        if (d->tags[i] == 0) {
            struct str s = d->text_of[--text];
            hash[i] = hash128_of(s.ptr, s.len);
            continue;
        }
        struct hash128 h = mixed(children_begin, tags[d->tags[i]]);
        for (uint32_t a = d->attr_at[i]; a < d->attr_at[i + 1]; a++)
            h = mixed(mixed(h, names[d->attr_name[a]]), values[d->attr_value[a]]);
        h = mixed(h, children_begin); /* attributes end */
        for (uint32_t c = i + 1; c < d->end[i]; c = d->end[c])
            h = mixed(h, hash[c]);
        hash[i] = h;
    }
    return hash;
}

static struct keyed *keyed_find(const struct twins *w, struct hash128 hash)
{
    for (struct map_node *n = map_first(&w->index, hash.lo); n; n = map_next(n)) {
        struct keyed *k = container_of(n, struct keyed, by_hash);
        if (hash128_equal(w->old_hash[k->node], hash))
            return k;
    }
    return NULL;
}

static void index_done(void *arg)
{
    map_done(arg);
}

/* The old elements by their hash, those of one hash in a row. */
static void index_make(struct matching *m)
{
    struct twins *w = m->twins;

    w->old_hash = subtree_hashes(m->old.d, m->life);
    w->new_hash = subtree_hashes(m->new_.d, m->life);
    map_init(&w->index);
    arena_defer(m->life, index_done, &w->index);
    for (uint32_t i = m->old.d->nodes; i-- > 0;) {
        if (!is_free(&m->old, i))
            continue;
        struct keyed *k = arena_alloc(m->life, sizeof *k), *first;
        k->node = i;
        k->next = NULL;
        first = keyed_find(w, w->old_hash[i]);
        if (first) { /* put in front: swap the numbers, so that the map need not change */
            k->next = first->next;
            first->next = k;
            k->node = first->node;
            first->node = i;
        } else {
            map_insert(&w->index, &k->by_hash, w->old_hash[i].lo);
        }
    }
}

static uint32_t find_in_index(struct matching *m, uint32_t wanted_parent, uint32_t new_)
{
    if (!m->twins->old_hash)
        index_make(m);
    struct keyed *row = keyed_find(m->twins, m->twins->new_hash[new_]);
    uint32_t first = NO_NODE;

    while (row && !is_free(&m->old, row->node) && row->next) { /* drop what is taken */
        struct keyed *gone = row->next;
        row->node = gone->node;
        row->next = gone->next;
    }
    for (unsigned steps = 0; row && steps < ROW_MAX; row = row->next, steps++) {
        if (!is_free(&m->old, row->node))
            continue;
        if (wanted_parent != NO_NODE && m->old.d->parent[row->node] == wanted_parent)
            return row->node;
        if (first == NO_NODE)
            first = row->node;
    }
    return first;
}

/* ---- both -------------------------------------------------------------------------------- */

static bool takes_long(const struct matching *m)
{
    return m->same.work >
           16 * ((uint64_t)m->old.d->nodes + m->new_.d->nodes) + 100000; /* (2) */
}

static void twins_init(struct matching *m)
{
    struct twins *w = m->twins = arena_alloc(m->life, sizeof *w);

    w->scans = 0;
    w->steps = 0;
    w->next = NULL;
    w->old_hash = w->new_hash = NULL;
}

bool matched_same(struct matching *m, uint32_t old, uint32_t new_)
{
    if (!takes_long(m))
        return same_subtrees(&m->same, old, new_);
    if (!m->twins) /* nobody was free, so nobody was looked for */
        twins_init(m);
    if (!m->twins->old_hash)
        index_make(m);
    return hash128_equal(m->twins->old_hash[old], m->twins->new_hash[new_]);
}

uint32_t twin_find(struct matching *m, uint32_t new_)
{
    uint32_t parent = m->new_.d->parent[new_];
    uint32_t wanted = parent == NO_NODE ? NO_NODE : m->new_.match[parent];

    if (!m->twins)
        twins_init(m);
    if (m->twins->old_hash || takes_long(m))
        return find_in_index(m, wanted, new_);
    if (wanted != NO_NODE) {
        if (m->old.d->children[wanted] > CHILDREN_MAX)
            return find_in_index(m, wanted, new_);
        uint32_t i = find_child(m, wanted, new_);
        if (i != NO_NODE)
            return i;
    }
    return find_anywhere(m, new_);
}
