/* The words a group looks for, each with who looks for it.
 *
 * A hundred thousand sentinels may each have keywords of their own.  So a version's words are
 * not shown to each of them: each word that changed is looked up here.  The unit is a
 * *pattern*, a keyword as it is compared ("art", "art*", "call for papers"), held once with
 * its *postings*, the leaves it is a keyword of.  It must hold that
 *  (1) a leaf is hit with every keyword whose count or presence, whichever it asks for,
 *      differs, and with the counts of the whole versions; a leaf that is not hit is N;
 *  (2) the work for a pair grows with the words that changed and the leaves that are hit, and
 *      with the words of the page, once, when something else than plain words is hit; and
 *  (3) leaves that left cost memory only, and no more than those that stayed: beyond that the
 *      index is made anew.
 *
 * A plain word is found as it is.  An open one ("art*") is found by every beginning, end or
 * piece of a word that is as long as one there is.  A row of words is found by its *anchor*,
 * the longest of its words that is not open.  What has no such handle stands in a chain of its
 * own and is looked for each time.
 *
 * There are no pointers among the arrays, so a copy is a copy of bytes: members come and go in
 * one while a plan reads the other (roster.c).
 */
#include "cdg/cdg_int.h"
#include <stdlib.h>

enum { NONE = UINT32_MAX, OPEN_BYTES = 32, ARRAY_MAX = 1 << 30 };

enum form { PLAIN, OPEN_FRONT, OPEN_BACK, OPEN_BOTH, ROW, ANCHOR, FORM_COUNT };

struct pattern {
    uint64_t hash;
    uint32_t text, len; /* in texts */
    uint32_t first;     /* posting; of an anchor: row */
    uint32_t next_row;  /* of the same anchor */
    uint32_t form, anchor_at;
};

struct posting {
    uint32_t leaf, keyword, next;
};

struct leaf_entry {
    const struct cdg_node *leaf; /* NULL: it left */
    uint32_t uses;
};

struct slots {
    uint32_t *all; /* number + 1; 0: free */
    size_t mask, count;
};

struct keyword_index {
    struct buf patterns, postings, leaves, texts;
    struct slots by_key, by_leaf;
    uint32_t lengths[FORM_COUNT]; /* of open words: bit n is set when one has n + 1 bytes */
    uint32_t handleless;          /* the chain of those, by next_row */
    bool has_rows;
    size_t alive, dead; /* postings */
};

static struct pattern *pattern_at(const struct keyword_index *ix, uint32_t i)
{
    return (struct pattern *)(void *)ix->patterns.data + i;
}

static struct posting *posting_at(const struct keyword_index *ix, uint32_t i)
{
    return (struct posting *)(void *)ix->postings.data + i;
}

static struct leaf_entry *leaf_at(const struct keyword_index *ix, uint32_t i)
{
    return (struct leaf_entry *)(void *)ix->leaves.data + i;
}

static uint32_t append(struct buf *to, const void *one, size_t bytes)
{
    uint32_t number = (uint32_t)(to->len / bytes);

    CHECK(buf_append(to, one, bytes));
    return number;
}

/* ---- tables of numbers ------------------------------------------------------------------- */

static void slots_put(struct slots *s, uint64_t hash, uint32_t number)
{
    size_t i = hash & s->mask;

    while (s->all[i])
        i = (i + 1) & s->mask;
    s->all[i] = number + 1;
    s->count++;
}

/* True: there was no room, and all must be put again. */
static bool slots_grow(struct slots *s)
{
    if (s->all && 4 * (s->count + 1) <= 3 * (s->mask + 1))
        return false;
    size_t n = s->all ? 2 * (s->mask + 1) : 8;
    free(s->all);
    s->all = calloc(n, sizeof *s->all);
    CHECK(s->all);
    s->mask = n - 1;
    s->count = 0;
    return true;
}

static uint64_t key_hash(enum form form, uint64_t text_hash)
{
    return text_hash + form * 0x9E3779B97F4A7C15u; /* a plain word's is the vocabulary's */
}

static uint32_t pattern_find(
        const struct keyword_index *ix, enum form form, struct str text, uint64_t text_hash)
{
    uint64_t hash = key_hash(form, text_hash);

    if (!ix->by_key.all)
        return NONE;
    for (size_t i = hash & ix->by_key.mask; ix->by_key.all[i]; i = (i + 1) & ix->by_key.mask) {
        const struct pattern *p = pattern_at(ix, ix->by_key.all[i] - 1);
        struct str own = {ix->texts.data + p->text, p->len};
        if (p->hash == hash && p->form == form && str_equal(own, text))
            return ix->by_key.all[i] - 1;
    }
    return NONE;
}

static uint64_t leaf_hash(const struct cdg_node *leaf)
{
    return node_hash(leaf, 0);
}

static uint32_t leaf_find(const struct keyword_index *ix, const struct cdg_node *leaf)
{
    if (!ix->by_leaf.all)
        return NONE;
    for (size_t i = leaf_hash(leaf) & ix->by_leaf.mask; ix->by_leaf.all[i];
            i = (i + 1) & ix->by_leaf.mask)
        if (leaf_at(ix, ix->by_leaf.all[i] - 1)->leaf == leaf)
            return ix->by_leaf.all[i] - 1;
    return NONE;
}

/* ---- coming ------------------------------------------------------------------------------ */

struct keyword_index *keyword_index_new(void)
{
    struct keyword_index *ix = calloc(1, sizeof *ix);

    CHECK(ix);
    struct buf *all[] = {&ix->patterns, &ix->postings, &ix->leaves, &ix->texts};
    for (size_t i = 0; i < countof(all); i++)
        buf_init(all[i], ARRAY_MAX);
    ix->handleless = NONE;
    return ix;
}

void keyword_index_free(struct keyword_index *ix)
{
    if (!ix)
        return;
    struct buf *all[] = {&ix->patterns, &ix->postings, &ix->leaves, &ix->texts};
    for (size_t i = 0; i < countof(all); i++)
        buf_done(all[i]);
    free(ix->by_key.all);
    free(ix->by_leaf.all);
    free(ix);
}

static uint32_t pattern_new(
        struct keyword_index *ix, enum form form, struct str text, uint64_t text_hash)
{
    struct pattern p = {.hash = key_hash(form, text_hash),
            .text = (uint32_t)ix->texts.len,
            .len = (uint32_t)text.len,
            .first = NONE,
            .next_row = NONE,
            .form = form};

    CHECK(buf_append(&ix->texts, text.ptr, text.len));
    uint32_t number = append(&ix->patterns, &p, sizeof p);
    if (!slots_grow(&ix->by_key)) {
        slots_put(&ix->by_key, p.hash, number);
        return number;
    }
    for (uint32_t i = 0; i <= number; i++)
        slots_put(&ix->by_key, pattern_at(ix, i)->hash, i);
    return number;
}

static uint32_t pattern_get(
        struct keyword_index *ix, enum form form, struct str text, bool *ret_is_new)
{
    uint64_t hash = hash64_keyed(text.ptr, text.len);
    uint32_t number = pattern_find(ix, form, text, hash);

    *ret_is_new = number == NONE;
    return number == NONE ? pattern_new(ix, form, text, hash) : number;
}

static enum form form_of(const struct keyword *k)
{
    const struct keyword_term *t = &k->terms[0];

    if (k->count > 1)
        return ROW;
    return t->open_front  ? t->open_back ? OPEN_BOTH : OPEN_FRONT
           : t->open_back ? OPEN_BACK
                          : PLAIN;
}

/* What is the same for keywords that are compared alike. */
static struct str key_of(const struct keyword *k, struct buf *scratch)
{
    if (k->count == 1)
        return k->terms[0].text;
    buf_clear(scratch);
    for (size_t i = 0; i < k->count; i++) {
        const struct keyword_term *t = &k->terms[i];
        buf_puts(scratch, t->open_front ? " *" : " ");
        buf_append(scratch, t->text.ptr, t->text.len);
        buf_puts(scratch, t->open_back ? "*" : "");
    }
    return (struct str){scratch->data, scratch->len};
}

/* The word of a row it is found by; NONE: it has none. */
static uint32_t anchor_of(const struct keyword *k)
{
    uint32_t best = NONE;

    if (k->count > VOCABULARY_MARGIN + 1) /* it may change where no word near it does */
        return NONE;
    for (uint32_t i = 0; i < k->count; i++) {
        const struct keyword_term *t = &k->terms[i];
        if (!t->open_front && !t->open_back &&
                (best == NONE || t->text.len > k->terms[best].text.len))
            best = i;
    }
    return best;
}

static void chain(struct keyword_index *ix, uint32_t pattern, uint32_t *first)
{
    pattern_at(ix, pattern)->next_row = *first;
    *first = pattern;
}

static void give_handle(struct keyword_index *ix, uint32_t pattern, const struct keyword *k)
{
    enum form form = form_of(k);
    size_t len = k->terms[0].text.len;
    bool is_new;

    if (form == PLAIN)
        return;
    if (form != ROW && len <= OPEN_BYTES) {
        ix->lengths[form] |= 1u << (len - 1);
        return;
    }
    uint32_t at = form == ROW ? anchor_of(k) : NONE;
    if (at == NONE) {
        chain(ix, pattern, &ix->handleless);
        return;
    }
    uint32_t anchor = pattern_get(ix, ANCHOR, k->terms[at].text, &is_new);
    pattern_at(ix, pattern)->anchor_at = at;
    chain(ix, pattern, &pattern_at(ix, anchor)->first);
    ix->has_rows = true;
}

static void post(struct keyword_index *ix, uint32_t leaf, uint32_t keyword,
        const struct keyword *k, struct buf *scratch)
{
    bool is_new;
    uint32_t number = pattern_get(ix, form_of(k), key_of(k, scratch), &is_new);

    if (is_new)
        give_handle(ix, number, k);
    struct posting p = {leaf, keyword, pattern_at(ix, number)->first};
    uint32_t posting = append(&ix->postings, &p, sizeof p);
    pattern_at(ix, number)->first = posting;
    ix->alive++;
}

void keyword_index_add(struct keyword_index *ix, const struct cdg_node *leaf)
{
    const struct keywords *words = leaf->prepared;
    uint32_t number = leaf_find(ix, leaf);
    BUF(scratch, 1 << 24);

    if (number != NONE) {
        leaf_at(ix, number)->uses++;
        return;
    }
    struct leaf_entry entry = {leaf, 1};
    number = append(&ix->leaves, &entry, sizeof entry);
    if (slots_grow(&ix->by_leaf)) {
        for (uint32_t i = 0; i < number; i++)
            if (leaf_at(ix, i)->leaf)
                slots_put(&ix->by_leaf, leaf_hash(leaf_at(ix, i)->leaf), i);
    }
    slots_put(&ix->by_leaf, leaf_hash(leaf), number);
    for (uint32_t i = 0; i < words->count; i++)
        post(ix, number, i, &words->all[i], &scratch);
}

/* ---- and going --------------------------------------------------------------------------- */

static void make_anew(struct keyword_index *ix) /* (3) */
{
    struct keyword_index *fresh = keyword_index_new(), old = *ix;

    for (uint32_t i = 0; i < ix->leaves.len / sizeof(struct leaf_entry); i++) {
        const struct leaf_entry *entry = leaf_at(ix, i);
        if (!entry->leaf)
            continue;
        keyword_index_add(fresh, entry->leaf);
        leaf_at(fresh, leaf_find(fresh, entry->leaf))->uses = entry->uses;
    }
    *ix = *fresh;
    *fresh = old;
    keyword_index_free(fresh);
}

void keyword_index_remove(struct keyword_index *ix, const struct cdg_node *leaf)
{
    enum { WORTH_IT = 64 };
    const struct keywords *words = leaf->prepared;
    struct leaf_entry *entry = leaf_at(ix, leaf_find(ix, leaf));

    if (--entry->uses)
        return;
    entry->leaf = NULL;
    ix->alive -= words->count;
    ix->dead += words->count;
    if (ix->dead > ix->alive + WORTH_IT)
        make_anew(ix);
}

bool keyword_index_is_empty(const struct keyword_index *ix)
{
    return ix->alive == 0;
}

static void copy_slots(struct slots *s)
{
    if (!s->all)
        return;
    uint32_t *all = malloc((s->mask + 1) * sizeof *all);
    CHECK(all);
    memcpy(all, s->all, (s->mask + 1) * sizeof *all);
    s->all = all;
}

struct keyword_index *keyword_index_copy(const struct keyword_index *ix)
{
    struct keyword_index *to = malloc(sizeof *to);

    CHECK(to);
    *to = *ix;
    struct buf *all[] = {&to->patterns, &to->postings, &to->leaves, &to->texts};
    for (size_t i = 0; i < countof(all); i++) {
        struct buf from = *all[i];
        buf_init(all[i], ARRAY_MAX);
        CHECK(buf_append(all[i], from.data, from.len));
    }
    copy_slots(&to->by_key);
    copy_slots(&to->by_leaf);
    return to;
}

size_t keyword_index_bytes(const struct keyword_index *ix)
{
    size_t slots = (ix->by_key.all ? ix->by_key.mask + 1 : 0) +
                   (ix->by_leaf.all ? ix->by_leaf.mask + 1 : 0);

    return sizeof *ix + ix->patterns.cap + ix->postings.cap + ix->leaves.cap + ix->texts.cap +
           slots * sizeof(uint32_t);
}

/* ---- hits -------------------------------------------------------------------------------- */

struct keyword_hits {
    struct arena *life;
    struct leaf_hits **slots;
    size_t mask, count;
};

static struct leaf_hits **hits_slot(const struct keyword_hits *h, const struct cdg_node *leaf)
{
    size_t i = leaf_hash(leaf) & h->mask;

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
    const struct vocabulary *changed;
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
    for (uint32_t i = pattern_at(ix, pattern)->first; i != NONE; i = posting_at(ix, i)->next) {
        const struct posting *p = posting_at(ix, i);
        const struct cdg_node *leaf = leaf_at(ix, p->leaf)->leaf;
        if (leaf && (leaf->leaf.counted || (n[0] > 0) != (n[1] > 0))) /* (1) */
            hit(l->hits, leaf, (struct keyword_hit){p->keyword, {n[0], n[1]}});
    }
}

/* What a pattern looks like; NULL: all who looked for it left. */
static const struct keyword *keyword_of(const struct keyword_index *ix, uint32_t pattern)
{
    for (uint32_t i = pattern_at(ix, pattern)->first; i != NONE; i = posting_at(ix, i)->next) {
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
    append(&l->touched, &pattern, sizeof pattern);
}

static void find_plain(struct looking *l)
{
    for (size_t i = 0; i < l->changed->count; i++) {
        const struct vocabulary_word *w = l->changed->all[i];
        uint32_t pattern = w->counts[0] == w->counts[1]
                                   ? NONE
                                   : pattern_find(l->ix, PLAIN, w->text, w->hash);
        if (pattern != NONE)
            hit_all(l, pattern, w->counts);
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

    if (pattern != NONE)
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

    for (uint32_t row = pattern_at(ix, anchor)->first; row != NONE;
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
            if (anchor[v->seq[side][i]] != NONE)
                count_rows_at(l, anchor[v->seq[side][i]], v, side, i, only_touched);
}

/* Those that stand as often in both changed places need not be counted elsewhere. */
static void leave_out_equal(struct looking *l)
{
    uint32_t *touched = (uint32_t *)(void *)l->touched.data;
    size_t n = l->touched.len / sizeof *touched, kept = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t *counts = l->counts[touched[i]];
        l->is_touched[touched[i]] = counts[0] != counts[1];
        if (counts[0] != counts[1])
            touched[kept++] = touched[i];
        counts[0] = counts[1] = 0;
    }
    l->touched.len = kept * sizeof *touched;
}

static void find_rows(struct looking *l)
{
    if (!l->ix->has_rows)
        return;
    count_rows(l, l->changed, /* only_touched= */ false);
    leave_out_equal(l);
    if (l->touched.len == 0)
        return;
    count_rows(l, whole(l), /* only_touched= */ true);
    hit_touched(l);
}

static void find_handleless(struct looking *l)
{
    for (uint32_t i = l->ix->handleless; i != NONE; i = pattern_at(l->ix, i)->next_row) {
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
    if (ix->has_rows || ix->lengths[OPEN_FRONT] || ix->lengths[OPEN_BACK] ||
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
