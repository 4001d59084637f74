/* The difference of two sequences, as a person would tell it.
 *
 * Equal items are matched by their longest common subsequence.  Then, in this order:
 *  (1) in each gap between matches every deleted item, in order, is paired with the first
 *      inserted item behind the last pair that shares at least half of its words: updated;
 *  (2) equal text left over as deleted here and inserted there: moved; and
 *  (3) what remains is deleted or inserted.
 *
 * Comparing words is bounded too: once WORK_MAX is used up, nothing more is paired, and the
 * result says that it is coarse.
 */
#include "cdg/cdg_int.h"

#define WORK_MAX ((uint64_t)40 * 1000 * 1000)

struct symbol {
    struct map_node by_text;
    struct str text;
    uint32_t number;
};

struct symbols {
    struct map map;
    struct arena *life;
    uint32_t count;
};

struct words {
    uint32_t *all;
    size_t count;
    bool known;
};

struct side {
    const struct diff_item *items;
    size_t count;
    uint32_t *symbols;
    struct words *words;
};

struct work {
    struct arena *scratch;
    struct symbols texts, words;
    struct side old, new_;
    uint64_t spent;
    struct arena *life;
    struct diff *diff;
    size_t cap;
};

static uint32_t symbol_of(struct symbols *s, struct str text)
{
    uint64_t hash = map_hash(text.ptr, text.len);

    for (struct map_node *n = map_first(&s->map, hash); n; n = map_next(n)) {
        struct symbol *k = container_of(n, struct symbol, by_text);
        if (str_equal(k->text, text))
            return k->number;
    }
    struct symbol *k = arena_new_of(s->life, struct symbol);
    k->text = text;
    k->number = s->count++;
    map_insert(&s->map, &k->by_text, hash);
    return k->number;
}

/* ---- change ratio
 * --------------------------------------------------------------------------------- */

static struct words words_of(struct symbols *s, const struct diff_item *item)
{
    size_t n = 0, at = 0;
    struct str word;

    if (item->parts) {
        uint32_t *all = arena_array_of(s->life, item->nparts + 1, uint32_t);
        for (size_t i = 0; i < item->nparts; i++)
            all[i] = symbol_of(s, item->parts[i]);
        return (struct words){all, item->nparts, true};
    }
    while (page_word_next(item->text, &at, &word))
        n++;
    uint32_t *all = arena_array_of(s->life, n + 1, uint32_t);
    at = n = 0;
    while (page_word_next(item->text, &at, &word))
        all[n++] = symbol_of(s, word);
    return (struct words){all, n, true};
}

static double ratio_of(const struct words *a, const struct words *b)
{
    if (a->count + b->count == 0)
        return 0;
    size_t common = lcs_length(a->all, a->count, b->all, b->count);
    return 1.0 - 2.0 * (double)common / (double)(a->count + b->count);
}

/* Longer lists than a table of this many cells are matched by landmarks. */
#define RATIO_CELLS ((uint64_t)64 * 1000 * 1000)

static size_t common_length(const struct words *a, const struct words *b, struct arena *scratch)
{
    if ((uint64_t)a->count * b->count <= RATIO_CELLS)
        return lcs_length(a->all, a->count, b->all, b->count);
    uint32_t *match = arena_array_of(scratch, b->count, uint32_t);
    size_t n = 0;
    (void)lcs_match(a->all, a->count, b->all, b->count, match); /* a ratio may be approximate */
    for (size_t i = 0; i < b->count; i++)
        n += match[i] != LCS_NONE;
    return n;
}

double list_ratio(struct str_list a, struct str_list b)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "ratio");
    struct symbols s = {.life = scratch};
    struct diff_item x = {.parts = a.all, .nparts = a.count},
                     y = {.parts = b.all, .nparts = b.count};

    if (a.count + b.count == 0)
        return 0;
    map_init(&s.map);
    struct words old = words_of(&s, &x), new_ = words_of(&s, &y);
    map_done(&s.map);
    return 1.0 -
           2.0 * (double)common_length(&old, &new_, scratch) / (double)(a.count + b.count);
}

static struct words *item_words(struct work *w, struct side *side, size_t i)
{
    if (!side->words[i].known)
        side->words[i] = words_of(&w->words, &side->items[i]);
    return &side->words[i];
}

static bool is_update(struct work *w, size_t old, size_t new_)
{
    struct words *a = item_words(w, &w->old, old), *b = item_words(w, &w->new_, new_);
    size_t less = a->count < b->count ? a->count : b->count;

    w->spent += 4;
    if (4 * less < a->count + b->count) /* too different in length to share half */
        return false;
    w->spent += (uint64_t)a->count * b->count + 16;
    return w->spent <= WORK_MAX && ratio_of(a, b) <= 0.5;
}

/* ---- edits
 * ------------------------------------------------------------------------------------------ */

static void add(struct work *w, enum diff_how how, uint32_t old, uint32_t new_)
{
    struct diff *d = w->diff;

    if (d->count == w->cap) {
        size_t cap = w->cap ? 2 * w->cap : 16;
        struct diff_edit *bigger = arena_array_of(w->life, cap, struct diff_edit);
        if (d->count)
            memcpy(bigger, d->edits, d->count * sizeof *bigger);
        d->edits = bigger;
        w->cap = cap;
    }
    d->edits[d->count++] = (struct diff_edit){how, old, new_};
}

static void add_range(struct work *w, enum diff_how how, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        add(w, how, how == DIFF_DELETE ? (uint32_t)i : LCS_NONE,
                how == DIFF_INSERT ? (uint32_t)i : LCS_NONE);
}

/* old[a..to_a) was replaced by new[b..to_b). */
static void gap(struct work *w, size_t a, size_t to_a, size_t b, size_t to_b)
{
    for (size_t i = a; i < to_a && b < to_b && w->spent <= WORK_MAX; i++) { /* (1) */
        size_t j = b;
        while (j < to_b && w->spent <= WORK_MAX && !is_update(w, i, j))
            j++;
        if (j == to_b || w->spent > WORK_MAX)
            continue;
        add_range(w, DIFF_DELETE, a, i);
        add_range(w, DIFF_INSERT, b, j);
        if (w->old.symbols[i] != w->new_.symbols[j]) /* a coarse match may leave equal ones */
            add(w, DIFF_UPDATE, (uint32_t)i, (uint32_t)j);
        a = i + 1;
        b = j + 1;
    }
    add_range(w, DIFF_DELETE, a, to_a);
    add_range(w, DIFF_INSERT, b, to_b);
}

/* Turns a deletion and an insertion of the same text into one move. */
static void find_moves(struct work *w)
{
    struct diff *d = w->diff;
    /* for each text the deletions of it, first one first */
    uint32_t *first = arena_array_of(w->scratch, w->texts.count + 1, uint32_t);
    uint32_t *next = arena_array_of(w->scratch, d->count + 1, uint32_t);

    memset(first, 0xFF, (w->texts.count + 1) * sizeof *first);
    for (size_t i = d->count; i-- > 0;) {
        if (d->edits[i].how != DIFF_DELETE)
            continue;
        uint32_t s = w->old.symbols[d->edits[i].old];
        next[i] = first[s];
        first[s] = (uint32_t)i;
    }
    size_t kept = 0;
    for (size_t i = 0; i < d->count; i++) {
        struct diff_edit *e = &d->edits[i];
        uint32_t from = e->how == DIFF_INSERT ? first[w->new_.symbols[e->new_]] : LCS_NONE;
        if (from == LCS_NONE)
            continue;
        first[w->new_.symbols[e->new_]] = next[from];
        e->how = DIFF_MOVE; /* (2) */
        e->old = d->edits[from].old;
        d->edits[from].old = LCS_NONE; /* told by the move */
    }
    for (size_t i = 0; i < d->count; i++)
        if (d->edits[i].how != DIFF_DELETE || d->edits[i].old != LCS_NONE)
            d->edits[kept++] = d->edits[i];
    d->count = kept;
}

/* ---- the whole
 * ---------------------------------------------------------------------------------------- */

static void side_init(struct work *w, struct side *s, const struct diff_item *items, size_t n)
{
    s->items = items;
    s->count = n;
    s->symbols = arena_array_of(w->scratch, n + 1, uint32_t);
    s->words = arena_array_of(w->scratch, n + 1, struct words);
    for (size_t i = 0; i < n; i++)
        s->symbols[i] = symbol_of(&w->texts, items[i].key.ptr ? items[i].key : items[i].text);
}

void diff_sequences(const struct diff_item *old, size_t nold, const struct diff_item *new_,
        size_t nnew, struct arena *life, struct diff *ret)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "diff");
    struct work w = {.scratch = scratch, .life = life, .diff = ret};

    *ret = (struct diff){.edits = NULL};
    w.texts.life = w.words.life = scratch;
    map_init(&w.texts.map);
    map_init(&w.words.map);
    side_init(&w, &w.old, old, nold);
    side_init(&w, &w.new_, new_, nnew);

    uint32_t *match = arena_array_of(scratch, nnew + 1, uint32_t);
    ret->coarse = !lcs_match(w.old.symbols, nold, w.new_.symbols, nnew, match);
    size_t a = 0, b = 0;
    for (size_t j = 0; j < nnew; j++) {
        if (match[j] == LCS_NONE)
            continue;
        gap(&w, a, match[j], b, j);
        a = match[j] + 1;
        b = j + 1;
    }
    gap(&w, a, nold, b, nnew);
    find_moves(&w);
    ret->coarse |= w.spent > WORK_MAX;
    map_done(&w.texts.map);
    map_done(&w.words.map);
}
