/* Looking up: which leaves of a keyword index a pair changes something for.
 *
 * It must hold that
 *  (1) a leaf is hit with every keyword whose count or presence, whichever it asks for,
 *      differs, and with the counts of the whole versions; a leaf that is not hit is N; and
 *  (2) the work grows with the words that changed and the leaves that are hit, and with the
 *      words of the page, once, when something else than plain words is hit.
 */
#include "cdg/keyword_index.h"
#include <stdlib.h>

/* ---- hits -------------------------------------------------------------------------------- */

struct keyword_hits {
    struct arena *life;
    struct leaf_hits **slots;
    size_t mask, count;
};

static struct leaf_hits **hits_slot(const struct keyword_hits *h, const struct cdg_node *leaf)
{
    size_t i = node_hash(leaf, 0) & h->mask;

    while (h->slots[i] && h->slots[i]->leaf != leaf)
        i = (i + 1) & h->mask;
    return &h->slots[i];
}

struct leaf_hits *keyword_hits_of(const struct keyword_hits *h, const struct cdg_node *leaf)
{
    return h->mask ? *hits_slot(h, leaf) : NULL;
}

static void hits_grow(struct keyword_hits *h)
{
    struct keyword_hits bigger = {
            .life = h->life, .count = h->count, .mask = h->mask ? 2 * h->mask + 1 : 63};

    bigger.slots = arena_array_of(h->life, bigger.mask + 1, struct leaf_hits *);
    for (size_t i = 0; h->mask && i <= h->mask; i++)
        if (h->slots[i])
            *hits_slot(&bigger, h->slots[i]->leaf) = h->slots[i];
    *h = bigger;
}

static void hit(struct keyword_hits *h, const struct cdg_node *leaf, struct keyword_hit one)
{
    if (2 * (h->count + 1) > h->mask)
        hits_grow(h);
    struct leaf_hits **slot = hits_slot(h, leaf), *to = *slot;
    if (!to) {
        to = *slot = arena_new_of(h->life, struct leaf_hits);
        to->leaf = leaf;
        h->count++;
    }
    if (to->count == to->cap) {
        size_t cap = to->cap ? 2 * to->cap : 2;
        struct keyword_hit *all = arena_alloc(h->life, cap * sizeof *all);
        if (to->count)
            memcpy(all, to->all, to->count * sizeof *all);
        to->all = all;
        to->cap = cap;
    }
    to->all[to->count++] = one;
}

/* ---- looking a pair's words up ----------------------------------------------------------- */

struct looking {
    const struct keyword_index *ix;
    const struct question *pair;
    struct vocabulary *changed;
    struct keyword_hits *hits;
    struct arena *life;
    /* by pattern, where there are others than plain words */
    uint32_t (*counts)[2];
    uint32_t *last_word; /* that was counted, + 1 */
    bool *is_touched;
    struct buf touched; /* uint32_t, patterns */
};

static void hit_all(struct looking *l, uint32_t pattern, const uint32_t n[2])
{
    const struct keyword_index *ix = l->ix;

    if (n[0] == n[1])
        return;
    for (uint32_t i = pattern_at(ix, pattern)->first; i != PATTERN_NONE;
            i = posting_at(ix, i)->next) {
        const struct posting *p = posting_at(ix, i);
        const struct cdg_node *leaf = leaf_at(ix, p->leaf)->leaf;
        if (leaf && (leaf->leaf.counted || (n[0] > 0) != (n[1] > 0))) /* (1) */
            hit(l->hits, leaf, (struct keyword_hit){p->keyword, {n[0], n[1]}});
    }
}

/* What a pattern looks like; NULL: all who looked for it left. */
static const struct keyword *keyword_of(const struct keyword_index *ix, uint32_t pattern)
{
    for (uint32_t i = pattern_at(ix, pattern)->first; i != PATTERN_NONE;
            i = posting_at(ix, i)->next) {
        const struct cdg_node *leaf = leaf_at(ix, posting_at(ix, i)->leaf)->leaf;
        if (leaf)
            return &((const struct keywords *)leaf->prepared)->all[posting_at(ix, i)->keyword];
    }
    return NULL;
}

static void touch(struct looking *l, uint32_t pattern)
{
    if (l->is_touched[pattern])
        return;
    l->is_touched[pattern] = true;
    CHECK(buf_append(&l->touched, &pattern, sizeof pattern));
}

static bool is_counted_by_anybody(const struct keyword_index *ix, uint32_t pattern)
{
    for (uint32_t i = pattern_at(ix, pattern)->first; i != PATTERN_NONE;
            i = posting_at(ix, i)->next) {
        const struct cdg_node *leaf = leaf_at(ix, posting_at(ix, i)->leaf)->leaf;
        if (leaf && leaf->leaf.counted)
            return true;
    }
    return false;
}

/* A word's counts are those of the gaps, and what stands elsewhere is found out for all that
 * somebody looks for at once. */
static void find_plain(struct looking *l)
{
    const struct vocabulary *v = l->changed;
    uint32_t *patterns = arena_alloc(l->life, (v->count + 1) * sizeof *patterns);
    bool counted = false;

    for (size_t i = 0; i < v->count; i++) {
        struct vocabulary_word *w = v->all[i];
        patterns[i] = w->counts[0] == w->counts[1]
                              ? PATTERN_NONE
                              : pattern_find(l->ix, PLAIN, w->text, w->hash);
        w->wanted = patterns[i] != PATTERN_NONE;
        counted |= w->wanted && is_counted_by_anybody(l->ix, patterns[i]);
    }
    vocabulary_settle(l->pair, /* folded= */ true, counted);
    for (size_t i = 0; i < v->count; i++) {
        uint32_t n[2] = {
                v->all[i]->counts[0] + v->all[i]->rest, v->all[i]->counts[1] + v->all[i]->rest};
        if (patterns[i] != PATTERN_NONE)
            hit_all(l, patterns[i], n);
    }
}

/* ---- open words -------------------------------------------------------------------------- */

typedef void open_fn(struct looking *l, uint32_t pattern, const struct vocabulary_word *w);

static void try_piece(struct looking *l, enum form form, const struct vocabulary_word *w,
        size_t from, size_t len, open_fn *fn)
{
    const char *piece = w->text.ptr + from;
    uint32_t pattern =
            pattern_find(l->ix, form, (struct str){piece, len}, hash64_keyed(piece, len));

    if (pattern != PATTERN_NONE)
        fn(l, pattern, w);
}

static void each_open(struct looking *l, const struct vocabulary_word *w, open_fn *fn)
{
    size_t all = w->text.len;

    for (size_t len = 1; len <= OPEN_BYTES && len <= all; len++) {
        uint32_t bit = 1u << (len - 1);
        if (l->ix->lengths[OPEN_BACK] & bit)
            try_piece(l, OPEN_BACK, w, 0, len, fn);
        if (l->ix->lengths[OPEN_FRONT] & bit)
            try_piece(l, OPEN_FRONT, w, all - len, len, fn);
        if (l->ix->lengths[OPEN_BOTH] & bit)
            for (size_t from = 0; from + len <= all; from++)
                try_piece(l, OPEN_BOTH, w, from, len, fn);
    }
}

static void open_touch(struct looking *l, uint32_t pattern, const struct vocabulary_word *w)
{
    (void)w;
    touch(l, pattern);
}

static void open_count(struct looking *l, uint32_t pattern, const struct vocabulary_word *w)
{
    if (!l->is_touched[pattern] || l->last_word[pattern] == w->number + 1)
        return; /* a piece may occur twice in a word */
    l->last_word[pattern] = w->number + 1;
    l->counts[pattern][0] += w->counts[0];
    l->counts[pattern][1] += w->counts[1];
}

static const struct vocabulary *whole(const struct looking *l)
{
    return vocabulary_of(l->pair, /* folded= */ true);
}

static void hit_touched(struct looking *l)
{
    const uint32_t *touched = (const uint32_t *)(const void *)l->touched.data;

    for (size_t i = 0; i < l->touched.len / sizeof *touched; i++)
        hit_all(l, touched[i], l->counts[touched[i]]);
    buf_clear(&l->touched);
}

static void find_open(struct looking *l)
{
    const uint32_t *lengths = l->ix->lengths;

    if (!(lengths[OPEN_FRONT] | lengths[OPEN_BACK] | lengths[OPEN_BOTH]))
        return;
    for (size_t i = 0; i < l->changed->count; i++)
        if (l->changed->all[i]->counts[0] != l->changed->all[i]->counts[1])
            each_open(l, l->changed->all[i], open_touch);
    if (l->touched.len == 0)
        return;
    for (size_t i = 0; i < whole(l)->count; i++) /* (2): others of its words may stand there */
        each_open(l, whole(l)->all[i], open_count);
    hit_touched(l);
}

/* ---- rows -------------------------------------------------------------------------------- */

static bool row_stands_at(
        const struct keyword *k, const struct vocabulary *v, int side, size_t from)
{
    if (from + k->count > v->nseq[side])
        return false;
    for (size_t t = 0; t < k->count; t++)
        if (!keyword_term_matches(&k->terms[t], v->all[v->seq[side][from + t]]->text))
            return false;
    return true;
}

/* Counts rows whose anchor stands at `at`; those that are touched, or all. */
static void count_rows_at(struct looking *l, uint32_t anchor, const struct vocabulary *v,
        int side, size_t at, bool only_touched)
{
    const struct keyword_index *ix = l->ix;

    for (uint32_t row = pattern_at(ix, anchor)->first; row != PATTERN_NONE;
            row = pattern_at(ix, row)->next_row) {
        size_t before = pattern_at(ix, row)->anchor_at;
        const struct keyword *k = before > at || (only_touched && !l->is_touched[row])
                                          ? NULL
                                          : keyword_of(ix, row);
        if (!k || !row_stands_at(k, v, side, at - before))
            continue;
        l->counts[row][side]++;
        if (!only_touched)
            touch(l, row);
    }
}

static void count_rows(struct looking *l, const struct vocabulary *v, bool only_touched)
{
    uint32_t *anchor = arena_alloc(l->life, (v->count + 1) * sizeof *anchor);

    for (size_t i = 0; i < v->count; i++)
        anchor[i] = pattern_find(l->ix, ANCHOR, v->all[i]->text, v->all[i]->hash);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < v->nseq[side]; i++)
            if (anchor[v->seq[side][i]] != PATTERN_NONE)
                count_rows_at(l, anchor[v->seq[side][i]], v, side, i, only_touched);
}

/* Those that stand as often in both changed places need not be counted elsewhere, and those
 * that stand in both only if somebody counts them. */
static void leave_out_equal(struct looking *l)
{
    uint32_t *touched = (uint32_t *)(void *)l->touched.data;
    size_t n = l->touched.len / sizeof *touched, kept = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t *counts = l->counts[touched[i]];
        bool differs = (counts[0] > 0) != (counts[1] > 0) ||
                       (counts[0] != counts[1] && is_counted_by_anybody(l->ix, touched[i]));
        l->is_touched[touched[i]] = differs;
        if (differs)
            touched[kept++] = touched[i];
        counts[0] = counts[1] = 0;
    }
    l->touched.len = kept * sizeof *touched;
}

static void find_rows(struct looking *l)
{
    if (l->ix->longest_row == 0)
        return;
    count_rows(l, vocabulary_rows(l->pair, l->ix->longest_row - 1), /* only_touched= */ false);
    leave_out_equal(l);
    if (l->touched.len == 0)
        return;
    count_rows(l, whole(l), /* only_touched= */ true);
    hit_touched(l);
}

static void find_handleless(struct looking *l)
{
    for (uint32_t i = l->ix->handleless; i != PATTERN_NONE;
            i = pattern_at(l->ix, i)->next_row) {
        const struct keyword *k = keyword_of(l->ix, i);
        uint32_t counts[2] = {0, 0};
        if (k)
            keyword_count(k, whole(l), counts);
        hit_all(l, i, counts);
    }
}

static int compare_hits(const void *a, const void *b)
{
    const struct keyword_hit *x = a, *y = b;
    return (x->keyword > y->keyword) - (x->keyword < y->keyword);
}

const struct keyword_hits *keyword_index_look(
        const struct keyword_index *ix, const struct question *pair, struct arena *life)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "keyword index");
    struct keyword_hits *hits = arena_new_of(life, struct keyword_hits);
    size_t n = ix->patterns.len / sizeof(struct pattern) + 1;

    hits->life = life;
    if (keywords_have_same_text(pair))
        return hits;
    struct looking l = {.ix = ix,
            .pair = pair,
            .changed = vocabulary_changed(pair, /* folded= */ true),
            .hits = hits,
            .life = scratch};
    find_plain(&l);
    if (ix->longest_row || ix->lengths[OPEN_FRONT] || ix->lengths[OPEN_BACK] ||
            ix->lengths[OPEN_BOTH]) {
        l.counts = arena_zalloc(scratch, n * sizeof *l.counts);
        l.last_word = arena_array_of(scratch, n, uint32_t);
        l.is_touched = arena_array_of(scratch, n, bool);
        buf_init(&l.touched, ARRAY_MAX);
        find_open(&l);
        find_rows(&l);
        buf_done(&l.touched);
    }
    find_handleless(&l);
    for (size_t i = 0; hits->mask && i <= hits->mask; i++)
        if (hits->slots[i])
            qsort(hits->slots[i]->all, hits->slots[i]->count, sizeof *hits->slots[i]->all,
                    compare_hits);
    return hits;
}
