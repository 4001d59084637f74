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
 * Most of a new version is identical with what stands in the same place of the old one, so
 * subtrees are compared node by node (same.c), and looked for elsewhere only then (twins.c).
 */
#include "base/map.h"
#include "cdg/match.h"

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

static struct tree tree_new(const struct page_digest *d, bool is_new, struct arena *life)
{
    struct tree t = {.d = d,
            .weight_before = arena_alloc(life, (d->nodes + 1) * sizeof(uint64_t)),
            .texts_before = arena_alloc(life, (d->nodes + 1) * sizeof(uint32_t)),
            .id = arena_alloc(life, (d->nodes + 1) * sizeof(uint32_t)),
            .with_id = arena_alloc(life, (d->nodes + 1) * sizeof(uint32_t)),
            .match = arena_alloc(life, (d->nodes + 1) * sizeof(uint32_t)),
            .whole = is_new ? arena_array_of(life, d->nodes + 1, bool) : NULL};

    memset(t.match, 0xFF, (d->nodes + 1) * sizeof *t.match);
    return t;
}

/* What a node adds to the length of the canonical text, by tag; texts add their length. */
static const uint64_t *tag_weights(const struct page_digest *d, struct arena *life)
{
    uint64_t *w = arena_alloc(life, (d->tag_names + 1) * sizeof *w);

    for (uint32_t i = 0; i < d->tag_names; i++)
        w[i] = 3 * d->tag_name_of[i].len + 1;
    return w;
}

/* Weights, texts and ids of the nodes from `from` to `to`, whose place before is known. */
static void tree_read(
        struct tree *t, struct id_names names, const uint64_t *tags, uint32_t from, uint32_t to)
{
    const struct page_digest *d = t->d;
    uint64_t weight = t->weight_before[from], *restrict weights = t->weight_before;
    uint32_t text = t->texts_before[from], *restrict texts = t->texts_before;
    uint32_t *restrict ids = t->id, a = d->attr_at[from];
    const uint32_t *kinds = d->tags, *attr_at = d->attr_at;
    const struct str *text_of = d->text_of;

    for (uint32_t i = from; i < to; i++) {
        uint32_t id = NO_NODE;
        weights[i] = weight;
        texts[i] = text;
        if (kinds[i] == 0) {
            weight += text_of[text++].len;
            ids[i] = NO_NODE;
            continue;
        }
        weight += tags[kinds[i]];
        for (uint32_t end = attr_at[i + 1]; a < end; a++) {
            uint32_t name = d->attr_name[a];
            weight += d->attr_name_of[name].len + d->attr_value_of[d->attr_value[a]].len + 2;
            if (id == NO_NODE && (name == names.id || name == names.xml_id))
                id = a; /* the first of them counts */
        }
        ids[i] = id;
        if (id != NO_NODE)
            t->with_id[t->nwith_id++] = i;
    }
    weights[to] = weight;
    texts[to] = text;
}

/* The same for nodes that lie in a span, from the other version, which was read. */
static void tree_copy(struct tree *t, const struct tree *other, const struct span *k)
{
    uint32_t from = k->at[SPAN_NODES][0], twin = k->at[SPAN_NODES][1], n = k->len[SPAN_NODES];
    uint64_t heavier = t->weight_before[from] - other->weight_before[twin];
    uint32_t more_texts = t->texts_before[from] - other->texts_before[twin];
    uint32_t more_attrs = t->d->attr_at[from] - other->d->attr_at[twin];

    uint64_t *restrict weight = t->weight_before + from;
    uint32_t *restrict texts = t->texts_before + from, *restrict id = t->id + from;
    const uint64_t *other_weight = other->weight_before + twin;
    const uint32_t *other_texts = other->texts_before + twin, *other_id = other->id + twin;

    for (uint32_t i = 0; i <= n; i++) /* plain loops, which the compiler makes wide ones of */
        weight[i] = other_weight[i] + heavier;
    for (uint32_t i = 0; i <= n; i++)
        texts[i] = other_texts[i] + more_texts;
    for (uint32_t i = 0; i < n; i++)
        id[i] = other_id[i] == NO_NODE ? NO_NODE : other_id[i] + more_attrs;
}

static void trees_fill(
        const struct spans *s, struct tree *old, struct tree *new_, struct arena *life)
{
    struct id_names names[2] = {id_names_of(old->d), id_names_of(new_->d)};
    const uint64_t *tags[2] = {tag_weights(old->d, life), tag_weights(new_->d, life)};
    uint32_t done = 0, with_id = 0;

    new_->weight_before[0] = old->weight_before[0] = 0;
    new_->texts_before[0] = old->texts_before[0] = 0;
    tree_read(new_, names[1], tags[1], 0, new_->d->nodes);
    for (size_t i = 0; i < s->count; i++) {
        const struct span *k = &s->all[i];
        uint32_t from = k->at[SPAN_NODES][0], twin = k->at[SPAN_NODES][1];
        tree_read(old, names[0], tags[0], done, from);
        tree_copy(old, new_, k);
        done = from + k->len[SPAN_NODES];
        while (with_id < new_->nwith_id && new_->with_id[with_id] < twin)
            with_id++;
        for (; with_id < new_->nwith_id && new_->with_id[with_id] < twin + (done - from);
                with_id++)
            old->with_id[old->nwith_id++] = new_->with_id[with_id] - twin + from;
    }
    tree_read(old, names[0], tags[0], done, old->d->nodes);
}

/* ---- matching ---------------------------------------------------------------------------- */

static bool same_name(const struct matching *m, uint32_t old, uint32_t new_)
{
    return m->same.tag[m->old.d->tags[old]] == m->new_.d->tags[new_];
}

static bool has_id(const struct tree *t, uint32_t node)
{
    return t->id[node] != NO_NODE;
}

static void pair_up(struct matching *m, uint32_t old, uint32_t new_)
{
    m->old.match[old] = new_;
    m->new_.match[new_] = old;
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

/* ---- (2) --------------------------------------------------------------------------------- */

/* The old elements of one name and one id, in document order; ids may be given twice. */
struct with_id {
    struct map_node by_id; /* of the first */
    struct with_id *next;
    struct str id;
    uint32_t node, tag; /* tag: its number in the new version */
};

static struct str id_text(const struct tree *t, uint32_t node)
{
    return t->d->attr_value_of[t->d->attr_value[t->id[node]]];
}

static struct with_id *row_find(const struct map *ids, struct str id, uint32_t tag)
{
    for (struct map_node *at = map_first(ids, map_hash(id.ptr, id.len)); at;
            at = map_next(at)) {
        struct with_id *k = container_of(at, struct with_id, by_id);
        if (k->tag == tag && str_equal(k->id, id))
            return k;
    }
    return NULL;
}

static void ids_put(struct matching *m, struct map *ids, uint32_t i)
{
    struct with_id *k = arena_new_of(m->life, struct with_id), *first;

    *k = (struct with_id){
            .id = id_text(&m->old, i), .node = i, .tag = m->same.tag[m->old.d->tags[i]]};
    first = row_find(ids, k->id, k->tag);
    if (!first) {
        map_insert(ids, &k->by_id, map_hash(k->id.ptr, k->id.len));
        return;
    }
    k->node =
            first->node; /* put in front: the numbers change places, the map need not change */
    k->next = first->next;
    first->node = i;
    first->next = k;
}

/* The first one of the row that is free, NO_NODE if none is; those before it are dropped. */
static uint32_t row_first_free(const struct matching *m, struct with_id *row)
{
    while (row->node != NO_NODE && !is_free(&m->old, row->node)) {
        struct with_id *next = row->next;
        row->node = next ? next->node : NO_NODE;
        row->next = next ? next->next : NULL;
    }
    return row->node;
}

static void match_ids(struct matching *m)
{
    struct map ids;

    map_init(&ids);
    for (uint32_t n = m->old.nwith_id; n-- > 0;)
        ids_put(m, &ids, m->old.with_id[n]);
    for (uint32_t n = 0; n < m->new_.nwith_id && ids.count; n++) {
        uint32_t j = m->new_.with_id[n];
        if (!is_free(&m->new_, j))
            continue;
        struct with_id *row = row_find(&ids, id_text(&m->new_, j), m->new_.d->tags[j]);
        uint32_t i = row ? row_first_free(m, row) : NO_NODE;
        if (i != NO_NODE)
            pair_up(m, i, j);
    }
    map_done(&ids);
}

/* ---- (3) --------------------------------------------------------------------------------- */

/* Elements still to be looked at, the heaviest on top, of equals the first of the page.  A
 * parent is heavier than what is below it, so who lies in a subtree that found its twin never
 * gets here. */
struct queue {
    const struct tree *t;
    uint64_t *all; /* the weight, and below it the node so that smaller ones are more */
    size_t count;
};

static void queue_put(struct queue *q, uint32_t node)
{
    uint64_t weight = weight_of(q->t, node); /* of a digest: 32 bits hold it */
    uint64_t new_ = (weight < UINT32_MAX ? weight : UINT32_MAX) << 32 | (UINT32_MAX - node);
    size_t i = q->count++;

    for (; i > 0 && new_ > q->all[(i - 1) / 2]; i = (i - 1) / 2)
        q->all[i] = q->all[(i - 1) / 2];
    q->all[i] = new_;
}

static uint32_t queue_take(struct queue *q)
{
    uint64_t top = q->all[0], last = q->all[--q->count];
    size_t i = 0, child;

    for (; (child = 2 * i + 1) < q->count; i = child) {
        child += child + 1 < q->count && q->all[child + 1] > q->all[child];
        if (q->all[child] <= last)
            break;
        q->all[i] = q->all[child];
    }
    q->all[i] = last;
    return UINT32_MAX - (uint32_t)top;
}

static void queue_put_children(struct queue *q, uint32_t from, uint32_t to)
{
    for (uint32_t c = from; c < to; c = q->t->d->end[c])
        if (q->t->d->tags[c] != 0)
            queue_put(q, c);
}

/* Pairs two identical subtrees; elements stay free whose counterparts are taken. */
static void pair_subtrees(struct matching *m, uint32_t old, uint32_t new_)
{
    uint32_t n = m->new_.d->end[new_] - new_;
    const uint32_t *tags = m->new_.d->tags + new_; /* texts are texts in both */
    uint32_t *restrict old_match = m->old.match + old, *restrict match = m->new_.match + new_;
    bool whole = true;

    for (uint32_t s = 0; s < n; s++) {
        if (tags[s] == 0 || match[s] != NO_NODE)
            continue;
        if (old_match[s] == NO_NODE) {
            old_match[s] = new_ + s;
            match[s] = old + s;
        } else {
            whole = false;
        }
    }
    m->new_.whole[new_] = whole;
}

static void match_identical(struct matching *m)
{
    struct queue q = {
            &m->new_, arena_alloc(m->life, (m->new_.d->nodes + 1) * sizeof(uint64_t)), 0};

    queue_put_children(&q, 0, m->new_.d->nodes);
    while (q.count) {
        uint32_t j = queue_take(&q), i = is_free(&m->new_, j) ? twin_find(m, j) : NO_NODE;
        if (i != NO_NODE)
            pair_subtrees(m, i, j);
        if (!m->new_.whole[j])
            queue_put_children(&q, j + 1, m->new_.d->end[j]);
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
    m->old = tree_new(q->old->digest, false, life);
    m->new_ = tree_new(q->new_->digest, true, life);
    trees_fill(spans_of(q), &m->old, &m->new_, life);
    m->same = same_init(spans_of(q), &m->old, &m->new_);
    match_children(
            m, 0, m->old.d->nodes, 0, m->new_.d->nodes, /* anonymous= */ false); /* (1) */
    match_ids(m);
    match_identical(m);
    match_upwards(m);
    match_downwards(m);
    q->cache->matching = m;
    return m;
}
