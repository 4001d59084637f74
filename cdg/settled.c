/* Subtrees that did not change and are in nobody's way: most of (3) of match.c.
 *
 * A subtree that lies whole in a span is the same at its place in the old version.  Those that
 * are free and whose parent is not one of them are called clean here, all other free elements
 * dirty.  Heaviest first and in document order, each clean one finds the one at its place:
 * those before it that are identical have found theirs, unless
 *  (1) a dirty element of either version is identical with it,
 *  (2) its parent is matched with another element than the parent of its twin, or
 *  (3) somebody around whom it stands, or one identical with it, is identical with another.
 * Then all that look like it are in dispute: settled here when they hold nothing but texts, by
 * heavy.c else.  Looks are compared, which may put more into dispute than there is, and costs
 * time only.  Dirty elements that look like nobody in the other version have no twin.
 */
#include "cdg/match.h"

enum { PROBES_MAX = 64, KINDS = 256 };

struct clean {
    uint32_t node, twin; /* new, old */
    uint32_t look;       /* place in `looks`; NO_NODE: it was not looked at */
};

struct dirty {
    uint32_t node;
    uint32_t look; /* NO_NODE: nobody of the old version looks like it */
    uint32_t next; /* old ones of the same look, + 1 */
};

/* How some subtrees look. */
struct look {
    uint32_t print;
    uint32_t dirty; /* old ones, + 1 */
    bool clean, disputed;
};

struct settling {
    struct matching *m;
    struct arena *scratch;
    struct clean *clean;
    struct dirty *dirty[2]; /* old, new */
    size_t nclean, ndirty[2];
    struct look *looks;
    uint32_t nlooks, *slots, mask; /* open addressing: place in looks + 1 */
    bool filled;                   /* all clean ones were looked at */
    bool left;                     /* somebody may have another twin */
    bool deep;                     /* and among them are elements with others in them */
};

/* ---- looks ------------------------------------------------------------------------------- */

/* Its slot; when there are too many around it, one that others share. */
static uint32_t *slot_of(const struct settling *s, uint32_t print)
{
    uint32_t at = print & s->mask;

    for (unsigned n = 0; n < PROBES_MAX && s->slots[at]; n++) {
        if (s->looks[s->slots[at] - 1].print == print)
            break;
        at = (at + 1) & s->mask;
    }
    return &s->slots[at];
}

static uint32_t look_put(struct settling *s, uint32_t print)
{
    uint32_t *slot = slot_of(s, print);

    if (*slot == 0) {
        s->looks[s->nlooks] = (struct look){.print = print};
        *slot = ++s->nlooks;
    }
    return *slot - 1;
}

/* ---- who is clean, who is dirty ---------------------------------------------------------- */

/* The spans from the beginning to the end, as nodes are passed. */
struct passing {
    const struct span *at, *end;
    int side;
};

/* The node of the other version where a subtree stands whole in a span; NO_NODE: it does not.
 */
static uint32_t twin_at(struct passing *p, const struct page_digest *d, uint32_t node)
{
    while (p->at < p->end && p->at->at[SPAN_NODES][p->side] + p->at->len[SPAN_NODES] <= node)
        p->at++;
    if (p->at == p->end || p->at->at[SPAN_NODES][p->side] > node ||
            d->end[node] > p->at->at[SPAN_NODES][p->side] + p->at->len[SPAN_NODES])
        return NO_NODE;
    return node - p->at->at[SPAN_NODES][p->side] + p->at->at[SPAN_NODES][!p->side];
}

static void dirty_add(struct settling *s, int side, uint32_t node)
{
    s->dirty[side][s->ndirty[side]++].node = node;
}

/* False: elements in spans are matched with others than those at their places. */
static bool look_at_new(struct settling *s)
{
    const struct matching *m = s->m;
    const struct page_digest *d = m->new_.d;
    struct passing p = {m->same.spans->all, m->same.spans->all + m->same.spans->count, 1};

    for (uint32_t j = 0; j < d->nodes; j++) {
        if (d->tags[j] == 0)
            continue;
        bool is_free_ = m->new_.match[j] == NO_NODE;
        uint32_t i = twin_at(&p, d, j);
        if (i == NO_NODE) {
            if (is_free_)
                dirty_add(s, 1, j);
            continue;
        }
        if (is_free_ != (m->old.match[i] == NO_NODE) || (!is_free_ && m->new_.match[j] != i))
            return false;
        if (is_free_) {
            s->clean[s->nclean++] = (struct clean){j, i, NO_NODE};
            j = d->end[j] - 1;
        }
    }
    return true;
}

static void look_at_old(struct settling *s)
{
    const struct matching *m = s->m;
    const struct page_digest *d = m->old.d;
    struct passing p = {m->same.spans->all, m->same.spans->all + m->same.spans->count, 0};

    for (uint32_t i = 0; i < d->nodes; i++) {
        if (m->old.match[i] != NO_NODE || d->tags[i] == 0)
            continue;
        if (twin_at(&p, d, i) != NO_NODE)
            i = d->end[i] - 1; /* clean, as seen from the new version */
        else
            dirty_add(s, 0, i);
    }
}

/* Size and name, as a bit of `kinds`. */
static unsigned size_kind(const struct matching *m, bool new_, uint32_t node)
{
    const struct page_digest *d = new_ ? m->new_.d : m->old.d;
    uint32_t tag = new_ ? d->tags[node] : m->same.tag[d->tags[node]];

    return ((d->end[node] - node) * 31 + tag) % KINDS;
}

static void clean_look(struct settling *s, struct clean *c)
{
    c->look = look_put(s, subtree_print(s->m, /* new_= */ true, c->node));
    s->looks[c->look].clean = true;
}

/* Most of the clean ones have no dirty one of their size and name, and are not looked at. */
static void looks_fill(struct settling *s)
{
    uint64_t kinds[KINDS / 64] = {0};
    uint32_t size = 16;

    while (size < 2 * (s->nclean + s->ndirty[0]))
        size *= 2;
    s->slots = arena_array_of(s->scratch, size, uint32_t);
    s->mask = size - 1;
    s->looks = arena_alloc(s->scratch, (s->nclean + s->ndirty[0] + 1) * sizeof *s->looks);
    for (int side = 0; side < 2; side++)
        for (size_t n = 0; n < s->ndirty[side]; n++) {
            unsigned kind = size_kind(s->m, side, s->dirty[side][n].node);
            kinds[kind / 64] |= 1ull << kind % 64;
        }
    for (size_t n = 0; n < s->nclean; n++) {
        unsigned kind = size_kind(s->m, /* new_= */ true, s->clean[n].node);
        if (kinds[kind / 64] >> kind % 64 & 1)
            clean_look(s, &s->clean[n]);
    }
    for (size_t n = s->ndirty[0]; n-- > 0;) {
        struct dirty *x = &s->dirty[0][n];
        x->look = look_put(s, subtree_print(s->m, /* new_= */ false, x->node));
        x->next = s->looks[x->look].dirty;
        s->looks[x->look].dirty = (uint32_t)n + 1;
    }
}

/* The others, when somebody wants to know. */
static void looks_fill_rest(struct settling *s)
{
    for (size_t n = 0; n < s->nclean && !s->filled; n++)
        if (s->clean[n].look == NO_NODE)
            clean_look(s, &s->clean[n]);
    s->filled = true;
}

/* ---- disputes ---------------------------------------------------------------------------- */

/* (3): who looks like somebody below a node. */
static void dispute_below(struct settling *s, bool new_, uint32_t node)
{
    const struct page_digest *d = new_ ? s->m->new_.d : s->m->old.d;

    for (uint32_t i = node + 1; i < d->end[node]; i++) {
        if (d->tags[i] == 0)
            continue;
        looks_fill_rest(s);
        uint32_t slot = *slot_of(s, subtree_print(s->m, new_, i));
        if (slot)
            s->looks[slot - 1].disputed = true;
    }
}

/* Whether a dirty element of the new version has a twin among those of the old one. */
static bool has_dirty_twin(struct settling *s, const struct look *k, uint32_t new_)
{
    for (uint32_t n = k->dirty; n; n = s->dirty[0][n - 1].next)
        if (twins_take_long(s->m) || same_subtrees(&s->m->same, s->dirty[0][n - 1].node, new_))
            return true;
    return false;
}

/* Whether other elements stand in it. */
static bool is_deep(const struct tree *t, uint32_t node)
{
    uint32_t end = t->d->end[node];
    return t->texts[end] - t->texts[node] != end - node - 1;
}

/* (1) */
static void dispute_dirty(struct settling *s, bool new_)
{
    const struct tree *t = new_ ? &s->m->new_ : &s->m->old;
    uint32_t done = 0; /* what is below those that were disputed was disputed with them */

    for (size_t n = 0; n < s->ndirty[new_]; n++) {
        struct dirty *x = &s->dirty[new_][n];
        if (new_)
            x->look = *slot_of(s, subtree_print(s->m, /* new_= */ true, x->node)) - 1;
        if (x->look == NO_NODE)
            continue;
        struct look *k = &s->looks[x->look];
        if (!k->clean && !(new_ && has_dirty_twin(s, k, x->node)))
            continue;
        k->disputed = s->left = true;
        s->deep |= is_deep(t, x->node);
        if (x->node >= done) {
            dispute_below(s, new_, x->node);
            done = t->d->end[x->node];
        }
    }
}

/* (2) */
static void dispute_clean(struct settling *s)
{
    const struct matching *m = s->m;

    for (size_t n = 0; n < s->nclean; n++) {
        const struct clean *c = &s->clean[n];
        uint32_t parent = m->new_.d->parent[c->node];
        uint32_t wanted = parent == NO_NODE ? NO_NODE : m->new_.match[parent];
        if (wanted == NO_NODE || wanted == m->old.d->parent[c->twin])
            continue;
        looks_fill_rest(s);
        s->looks[c->look].disputed = true;
    }
}

static bool is_disputed(const struct settling *s, uint32_t look)
{
    return look != NO_NODE && s->looks[look].disputed;
}

/* ---- disputes about elements with nothing but texts in them ------------------------------ */

/* Old elements of one look, in document order. */
struct row {
    uint32_t node, next; /* + 1 */
};

/* By look: the first of its row, + 1. */
static uint32_t *rows_fill(struct settling *s, struct row *rows)
{
    uint32_t *first = arena_array_of(s->scratch, s->nlooks + 1, uint32_t), count = 0;
    size_t i = s->nclean, k = s->ndirty[0];

    while (i > 0 || k > 0) {
        bool clean = i > 0 && (k == 0 || s->clean[i - 1].twin > s->dirty[0][k - 1].node);
        uint32_t node = clean ? s->clean[--i].twin : s->dirty[0][--k].node;
        uint32_t look = clean ? s->clean[i].look : s->dirty[0][k].look;
        if (!is_disputed(s, look))
            continue;
        rows[count] = (struct row){node, first[look]};
        first[look] = ++count;
    }
    return first;
}

/* The one a new element takes, of the row of those that look like it. */
static void take(struct matching *m, struct row *rows, uint32_t *first, uint32_t new_)
{
    uint32_t parent = m->new_.d->parent[new_], *found = NULL;
    uint32_t wanted = parent == NO_NODE ? NO_NODE : m->new_.match[parent];

    for (uint32_t *link = first; *link; link = &rows[*link - 1].next) {
        uint32_t i = rows[*link - 1].node;
        m->same.work++;
        if ((found && m->old.d->parent[i] != wanted) || !same_subtrees(&m->same, i, new_))
            continue;
        if (!found || m->old.d->parent[i] == wanted)
            found = link;
        if (wanted == NO_NODE || m->old.d->parent[i] == wanted)
            break;
    }
    if (!found)
        return;
    uint32_t i = rows[*found - 1].node;
    *found = rows[*found - 1].next;
    pair_up(m, i, new_);
    m->old.whole[i] = m->new_.whole[new_] = true;
}

/* They do not stand in each other, so only those that look alike meet, in document order.
 * False: it takes too long. */
static bool settle_disputes(struct settling *s)
{
    struct matching *m = s->m;
    struct row *rows = arena_alloc(s->scratch, (s->nclean + s->ndirty[0] + 1) * sizeof *rows);
    uint32_t *first = rows_fill(s, rows);
    size_t i = 0, k = 0;

    while (i < s->nclean || k < s->ndirty[1]) {
        bool clean =
                i < s->nclean && (k == s->ndirty[1] || s->clean[i].node < s->dirty[1][k].node);
        uint32_t node = clean ? s->clean[i].node : s->dirty[1][k].node;
        uint32_t look = clean ? s->clean[i++].look : s->dirty[1][k++].look;
        if (twins_take_long(m))
            return false;
        if (is_disputed(s, look))
            take(m, rows, &first[look], node);
    }
    return true;
}

/* ---- the others -------------------------------------------------------------------------- */

/* Pairs rows of nodes; texts too, which nobody asks about. */
static void settle(struct matching *m, uint32_t old, uint32_t new_, uint32_t n)
{
    uint32_t *restrict old_match = m->old.match + old, *restrict match = m->new_.match + new_;

    for (uint32_t i = 0; i < n; i++) /* plain loops, which the compiler makes wide ones of */
        old_match[i] = new_ + i;
    for (uint32_t i = 0; i < n; i++)
        match[i] = old + i;
}

/* Neighbours are paired together; who is in dispute is left. */
static void settle_all(struct settling *s)
{
    struct matching *m = s->m;
    uint32_t old = 0, new_ = 0, n = 0;
    size_t left = 0;

    for (size_t i = 0; i < s->nclean; i++) {
        const struct clean *c = &s->clean[i];
        if (is_disputed(s, c->look)) {
            s->left = true;
            s->deep |= is_deep(&m->new_, c->node);
            s->clean[left++] = *c; /* the others are not needed any more */
            continue;
        }
        m->old.whole[c->twin] = m->new_.whole[c->node] = true;
        if (c->node != new_ + n || c->twin != old + n) {
            settle(m, old, new_, n);
            old = c->twin;
            new_ = c->node;
            n = 0;
        }
        n += m->new_.d->end[c->node] - c->node;
    }
    settle(m, old, new_, n);
    s->nclean = left;
}

bool match_settled(struct matching *m)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "settled");
    struct settling s = {.m = m,
            .scratch = scratch,
            .clean = arena_alloc(scratch, (m->new_.d->nodes + 1) * sizeof(struct clean)),
            .dirty = {arena_alloc(scratch, (m->old.d->nodes + 1) * sizeof(struct dirty)),
                    arena_alloc(scratch, (m->new_.d->nodes + 1) * sizeof(struct dirty))}};

    if (!look_at_new(&s))
        return false;
    look_at_old(&s);
    looks_fill(&s);
    dispute_dirty(&s, /* new_= */ false);
    dispute_dirty(&s, /* new_= */ true);
    dispute_clean(&s);
    settle_all(&s);
    return !s.left || (!s.deep && settle_disputes(&s));
}
