/* Which element is which: matching the trees of two versions.
 *
 * In this order, so that the result is always the same:
 *  (1) roots of one name;
 *  (2) elements of one name and one id;
 *  (3) identical subtrees, the heaviest first; of several the one whose parent is matched
 *      with ours, then the first; all that is below them is matched too;
 *  (4) upwards: parents of matched elements, of one name and without id;
 *  (5) downwards: children of matched elements, of one name and without id, in order.
 *
 * Most of a new version is identical with what stands in the same place of the old one, and
 * is matched at once (settled.c).  Only where others look the same are subtrees weighed
 * (heavy.c), compared node by node (same.c) and looked for elsewhere (twins.c).
 */
#include "cdg/match.h"

/* How many texts stand before each of the nodes up to `to`, where `from` is known. */
static void texts_count(struct tree *t, uint32_t from, uint32_t to)
{
    const uint32_t *tags = t->d->tags;
    uint32_t *restrict texts = t->texts, n = texts[from];

    for (uint32_t i = from; i < to; i++) {
        texts[i] = n;
        n += tags[i] == 0;
    }
    texts[to] = n;
}

/* The old ones from the new ones, where they lie in spans. */
static void texts_fill(struct tree *old, struct tree *new_, const struct spans *s)
{
    uint32_t done = 0;

    old->texts[0] = new_->texts[0] = 0;
    texts_count(new_, 0, new_->d->nodes);
    for (size_t i = 0; i < s->count; i++) {
        uint32_t from = s->all[i].at[SPAN_NODES][0], n = s->all[i].len[SPAN_NODES];
        texts_count(old, done, from);
        const uint32_t *texts = new_->texts + s->all[i].at[SPAN_NODES][1];
        uint32_t *restrict to = old->texts + from, more = to[0] - texts[0];
        for (uint32_t k = 0; k <= n;
                k++) /* a plain loop, which the compiler makes a wide one */
            to[k] = texts[k] + more;
        done = from + n;
    }
    texts_count(old, done, old->d->nodes);
}

static struct tree tree_new(const struct page_digest *d, struct arena *life)
{
    struct tree t = {.d = d,
            .names = id_names_of(d),
            .texts = arena_alloc(life, (d->nodes + 1) * sizeof(uint32_t)),
            .match = arena_alloc(life, (d->nodes + 1) * sizeof(uint32_t)),
            .whole = arena_array_of(life, d->nodes + 1, bool)};

    memset(t.match, 0xFF, (d->nodes + 1) * sizeof *t.match);
    return t;
}

static bool same_name(const struct matching *m, uint32_t old, uint32_t new_)
{
    return m->same.tag[m->old.d->tags[old]] == m->new_.d->tags[new_];
}

static bool has_id(const struct tree *t, uint32_t node)
{
    return id_of(t, node) != NO_NODE;
}

/* (1) and (5): free children of one name, in order; `anonymous`: only those without id. */
static void match_children(struct matching *m, uint32_t old, uint32_t old_end, uint32_t new_,
        uint32_t new_end, bool anonymous)
{
    uint32_t budget = 1000; /* names that never meet must not cost the square of the children */
    const uint32_t *ends = m->old.d->end;

    for (uint32_t j = new_; j < new_end; j = m->new_.d->end[j]) {
        if (!is_free(&m->new_, j) || (anonymous && has_id(&m->new_, j)))
            continue;
        uint32_t steps = 0;
        for (uint32_t i = old; i < old_end && steps < budget; i = ends[i], steps++) {
            if (!is_free(&m->old, i) || (anonymous && has_id(&m->old, i)) ||
                    !same_name(m, i, j))
                continue;
            pair_up(m, i, j);
            break;
        }
        while (old < old_end && !is_free(&m->old, old))
            old = ends[old]; /* what is taken need not be seen again */
    }
}

/* ---- (4), (5) ---------------------------------------------------------------------------- */

/* The next element behind j that may still have somebody free around or below it. */
static uint32_t next_of(const struct tree *t, uint32_t j)
{
    return t->whole[j] ? t->d->end[j] : j + 1;
}

static void match_upwards(struct matching *m)
{
    for (uint32_t j = 0; j < m->new_.d->nodes; j = next_of(&m->new_, j)) {
        uint32_t y = j, x = m->new_.match[j];
        while (x != NO_NODE) {
            x = m->old.d->parent[x];
            y = m->new_.d->parent[y];
            if (x == NO_NODE || y == NO_NODE || !is_free(&m->old, x) || !is_free(&m->new_, y) ||
                    has_id(&m->old, x) || has_id(&m->new_, y) || !same_name(m, x, y))
                break;
            pair_up(m, x, y);
        }
    }
}

static void match_downwards(struct matching *m)
{
    for (uint32_t j = 0; j < m->new_.d->nodes; j = next_of(&m->new_, j)) {
        uint32_t i = m->new_.match[j];
        if (i != NO_NODE && m->new_.d->tags[j] != 0 && !m->new_.whole[j])
            match_children(m, i + 1, m->old.d->end[i], j + 1, m->new_.d->end[j],
                    /* anonymous= */ true);
    }
}

struct matching *matching_of(const struct question *q)
{
    struct arena *life = q->cache->life;

    if (q->cache->matching)
        return q->cache->matching;
    struct matching *m = arena_new_of(life, struct matching);
    m->life = life;
    m->old = tree_new(q->old->digest, life);
    m->new_ = tree_new(q->new_->digest, life);
    texts_fill(&m->old, &m->new_, spans_of(q));
    m->same = same_init(spans_of(q), m->old.texts, m->new_.texts);
    match_children(
            m, 0, m->old.d->nodes, 0, m->new_.d->nodes, /* anonymous= */ false); /* (1) */
    if (!match_ids(m) || !match_settled(m))
        match_identical(m);
    match_upwards(m);
    match_downwards(m);
    q->cache->matching = m;
    return m;
}
