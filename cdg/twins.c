/* Identical subtrees: where the twin of a new one stands in the old version.
 *
 * It is looked for where it stood, among the children of the element its parent is matched
 * with; only then elsewhere, among those that look the same.  When comparing them takes long,
 * all old subtrees are indexed by their hashes.  It must hold that
 *  (1) whichever way, the same one is found: of those with a matched parent the first, else
 *      the first of all that are free; and
 *  (2) time stays in proportion to the pages.
 */
#include "base/map.h"
#include "cdg/match.h"

enum { LOOKS = 1024, ROW_MAX = 1000 };

struct keyed {
    struct map_node by_hash;
    uint32_t node;
    struct keyed *next; /* of the same hash, in document order */
};

struct twins {
    uint32_t first[LOOKS]; /* old elements by their looks, in document order */
    uint32_t *next;        /* by old node: the next one in its row; NULL: not filled yet */
    uint32_t *print;       /* the same: how it looks */
    struct hash128 *old_hash, *new_hash; /* by node; NULL: not indexed yet */
    struct map index;                    /* struct keyed */
};

/* ---- looks ------------------------------------------------------------------------------- */

static uint64_t stirred(uint64_t h, uint64_t more)
{
    h = (h ^ more) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}

/* Its length, and what it begins and ends with. */
static uint64_t glimpse(struct str s)
{
    if (s.len >= 8)
        return (eight_bytes(s.ptr) + 3 * eight_bytes(s.ptr + s.len - 8)) ^ s.len << 32;
    if (s.len >= 4)
        return (four_bytes(s.ptr) | (uint64_t)four_bytes(s.ptr + s.len - 4) << 32) + s.len;
    uint64_t n = s.len;
    for (size_t i = 0; i < s.len; i++)
        n = n << 8 | (unsigned char)s.ptr[i];
    return n;
}

/* Size, name, first and last attribute, first and last text. */
uint32_t subtree_print(const struct matching *m, bool new_, uint32_t node)
{
    const struct tree *t = new_ ? &m->new_ : &m->old;
    const struct page_digest *d = t->d;
    uint32_t end = d->end[node], a = d->attr_at[node], attrs = d->attr_at[end] - a;
    uint32_t tag = new_ ? d->tags[node] : m->same.tag[d->tags[node]];
    uint32_t text = t->texts[node], texts = t->texts[end] - text;
    uint64_t h = stirred((uint64_t)tag << 32 | (end - node), (uint64_t)attrs << 32 | texts);

    if (attrs > 0)
        h = stirred(h, glimpse(d->attr_value_of[d->attr_value[a]]));
    if (attrs > 1)
        h = stirred(h, glimpse(d->attr_value_of[d->attr_value[a + attrs - 1]]));
    if (texts > 0)
        h = stirred(h, glimpse(d->text_of[text]));
    if (texts > 1)
        h = stirred(h, glimpse(d->text_of[text + texts - 1]));
    return (uint32_t)h;
}

/* ---- without hashes ---------------------------------------------------------------------- */

static void looks_fill(struct matching *m)
{
    struct twins *w = m->twins;
    const struct page_digest *d = m->old.d;
    uint32_t *end[LOOKS]; /* of each row */

    w->next = arena_alloc(m->life, (d->nodes + 1) * sizeof *w->next);
    w->print = arena_alloc(m->life, (d->nodes + 1) * sizeof *w->print);
    for (size_t i = 0; i < LOOKS; i++)
        end[i] = &w->first[i];
    for (uint32_t i = 0; i < d->nodes; i = m->old.whole[i] ? d->end[i] : i + 1) {
        if (!is_free(&m->old, i))
            continue;
        uint32_t print = w->print[i] = subtree_print(m, /* new_= */ false, i);
        *end[print % LOOKS] = i;
        end[print % LOOKS] = &w->next[i];
    }
    for (size_t i = 0; i < LOOKS; i++)
        *end[i] = NO_NODE;
}

static bool has_size(const struct matching *m, uint32_t old, uint32_t new_)
{
    const struct page_digest *x = m->old.d, *y = m->new_.d;
    uint32_t n = y->end[new_] - new_;

    return x->end[old] - old == n && m->same.tag[x->tags[old]] == y->tags[new_] &&
           x->attr_at[old + n] - x->attr_at[old] == y->attr_at[new_ + n] - y->attr_at[new_];
}

static uint32_t find_child(struct matching *m, uint32_t parent, uint32_t new_)
{
    for (uint32_t i = parent + 1; i < m->old.d->end[parent]; i = m->old.d->end[i]) {
        m->same.work++; /* there may be many */
        if (is_free(&m->old, i) && has_size(m, i, new_) && same_subtrees(&m->same, i, new_))
            return i;
    }
    return NO_NODE;
}

static uint32_t find_anywhere(struct matching *m, uint32_t new_)
{
    struct twins *w = m->twins;

    if (!w->next)
        looks_fill(m);
    uint32_t print = subtree_print(m, /* new_= */ true, new_);

    for (uint32_t *link = &w->first[print % LOOKS]; *link != NO_NODE;) {
        uint32_t i = *link;
        if (!is_free(&m->old, i)) {
            *link = w->next[i]; /* and never will be */
            continue;
        }
        m->same.work++;
        if (w->print[i] == print && same_subtrees(&m->same, i, new_))
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

bool twins_take_long(const struct matching *m)
{
    return m->same.work >
           16 * ((uint64_t)m->old.d->nodes + m->new_.d->nodes) + 100000; /* (2) */
}

static void twins_init(struct matching *m)
{
    struct twins *w = m->twins = arena_alloc(m->life, sizeof *w);

    w->next = NULL;
    w->old_hash = w->new_hash = NULL;
}

bool matched_same(struct matching *m, uint32_t old, uint32_t new_)
{
    if (!twins_take_long(m))
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
    if (m->twins->old_hash || twins_take_long(m))
        return find_in_index(m, wanted, new_);
    if (wanted != NO_NODE) {
        uint32_t i = find_child(m, wanted, new_);
        if (i != NO_NODE)
            return i;
    }
    return find_anywhere(m, new_);
}
