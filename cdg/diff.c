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
#include "base/map.h"
#include "cdg/detect_int.h"

#define WORK_MAX ((uint64_t)40 * 1000 * 1000)
enum { LISTS_SHORT = 1500 }; /* what few.c takes on */

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
    const struct str *all;
    size_t count;
    bool known;
};

/* Most items are never looked at, so what is known of them is made when first asked for. */
struct known_item {
    struct diff_item item;
    struct words words;
    uint32_t symbol; /* + 1; 0: not known */
};

enum { ITEMS = 32 }; /* of a page of them */

struct side {
    bool is_new;
    struct known_item ***pages; /* NULL: nobody asked for any of them, or for this one */
    size_t count;
};

struct work {
    const struct diff_input *in;
    struct arena *scratch;
    struct symbols texts;
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

/* ---- change ratio ------------------------------------------------------------------------ */

static struct words words_of(struct arena *life, const struct diff_item *item)
{
    size_t n = 0, cap = 16;
    struct str word, *all;

    if (item->parts)
        return (struct words){item->parts, item->nparts, true};
    all = arena_alloc(life, cap * sizeof *all);
    for (size_t at = 0; page_word_next(item->text, &at, &word); all[n++] = word) {
        if (n < cap)
            continue;
        struct str *bigger = arena_alloc(life, 2 * cap * sizeof *all);
        memcpy(bigger, all, n * sizeof *all);
        all = bigger;
        cap *= 2;
    }
    return (struct words){all, n, true};
}

struct two_lists {
    const struct str *a, *b;
};

static bool words_equal(const void *arg, size_t a, size_t b)
{
    const struct two_lists *t = arg;
    return str_equal(t->a[a], t->b[b]);
}

/* Longer lists than a table of this many cells are matched by landmarks. */
#define RATIO_CELLS ((uint64_t)64 * 1000 * 1000)

/* The slow way, for lists that have little in common. */
static size_t common_length(const struct words *a, const struct words *b)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "ratio");
    struct symbols s = {.life = scratch};
    uint32_t *x = arena_array_of(scratch, a->count + 1, uint32_t);
    uint32_t *y = arena_array_of(scratch, b->count + 1, uint32_t), *match;
    size_t n = 0;

    map_init(&s.map);
    for (size_t i = 0; i < a->count; i++)
        x[i] = symbol_of(&s, a->all[i]);
    for (size_t i = 0; i < b->count; i++)
        y[i] = symbol_of(&s, b->all[i]);
    map_done(&s.map);
    if ((uint64_t)a->count * b->count <= RATIO_CELLS)
        return lcs_length(x, a->count, y, b->count);
    match = arena_array_of(scratch, b->count, uint32_t);
    (void)lcs_match(x, a->count, y, b->count, match); /* a ratio may be approximate */
    for (size_t i = 0; i < b->count; i++)
        n += match[i] != LCS_NONE;
    return n;
}

static double ratio_of(const struct words *a, const struct words *b)
{
    struct two_lists lists = {a->all, b->all};
    struct lcs_pair pair = {
            a->count, b->count, words_equal, &lists, 0, NULL, {NULL, NULL}, {a->all, b->all}};
    size_t common;

    if (a->count + b->count == 0)
        return 0;
    if (!lcs_length_few(&pair, &common))
        common = common_length(a, b);
    return 1.0 - 2.0 * (double)common / (double)(a->count + b->count);
}

/* Whether at least half of two lists is common: the ratio is 0.5 at most. */
static bool share_half(const struct words *a, const struct words *b)
{
    struct two_lists lists = {a->all, b->all};
    size_t most = (a->count + b->count) / 2, common;
    struct lcs_pair pair = {a->count, b->count, words_equal, &lists, most ? most : 1, NULL,
            {NULL, NULL}, {a->all, b->all}};

    if (lcs_length_few(&pair, &common))
        return 4 * common >= a->count + b->count;
    return most > LISTS_SHORT && ratio_of(a, b) <= 0.5;
}

double list_ratio(struct str_list a, struct str_list b)
{
    struct words old = {a.all, a.count, true}, new_ = {b.all, b.count, true};
    return ratio_of(&old, &new_);
}

static struct known_item *item_at(struct work *w, struct side *side, size_t i)
{
    struct known_item ***page = &side->pages[i / ITEMS];

    if (!*page)
        *page = arena_array_of(w->scratch, ITEMS, struct known_item *);
    struct known_item **k = &(*page)[i % ITEMS];
    if (!*k) {
        *k = arena_new_of(w->scratch, struct known_item);
        (*k)->item = w->in->item(w->in->arg, side->is_new, i);
    }
    return *k;
}

static struct words *item_words(struct work *w, struct side *side, size_t i)
{
    struct known_item *k = item_at(w, side, i);

    if (!k->words.known)
        k->words = words_of(w->scratch, &k->item);
    return &k->words;
}

static uint32_t item_symbol(struct work *w, struct side *side, size_t i)
{
    struct known_item *k = item_at(w, side, i);

    if (!k->symbol)
        k->symbol = 1 + symbol_of(&w->texts, k->item.key.ptr ? k->item.key : k->item.text);
    return k->symbol - 1;
}

/* ---- what two items share ---------------------------------------------------------------- */

static size_t count_words(struct str text, size_t most)
{
    struct str word;
    size_t n = 0;

    for (size_t at = 0; n < most && page_word_next(text, &at, &word);)
        n++;
    return n;
}

/* The same as share_half for texts that begin and end alike, of which only the middle is cut
 * into words.  With c words in common outside of it and a common subsequence of l inside,
 * 4 (c + l) >= 2 c + na + nb must hold; mostly c alone suffices, and is not counted further
 * than that. */
static bool texts_share_half(
        struct work *w, struct str a, struct str b, size_t head, size_t tail)
{
    struct diff_item x = {.text = {a.ptr + head, a.len - head - tail}},
                     y = {.text = {b.ptr + head, b.len - head - tail}};
    struct words p = words_of(w->scratch, &x), q = words_of(w->scratch, &y);
    size_t n = p.count + q.count, c = count_words((struct str){a.ptr, head}, n);

    if (2 * c < n)
        c += count_words((struct str){a.ptr + a.len - tail, tail}, n);
    w->spent += (uint64_t)p.count * q.count + 16;
    if (2 * c >= n || w->spent > WORK_MAX)
        return w->spent <= WORK_MAX;
    size_t least = (n - 2 * c + 3) / 4, common; /* of l */
    struct two_lists lists = {p.all, q.all};
    struct lcs_pair pair = {
            p.count, q.count, words_equal, &lists, n - 2 * least ? n - 2 * least : 1, NULL};
    if (lcs_length_few(&pair, &common))
        return common >= least;
    return n - 2 * least > LISTS_SHORT && common_length(&p, &q) >= least;
}

static bool is_update(struct work *w, size_t old, size_t new_)
{
    const struct diff_item *x = &item_at(w, &w->old, old)->item,
                           *y = &item_at(w, &w->new_, new_)->item;

    if (!x->parts && !y->parts) {
        struct str s = x->text, t = y->text;
        size_t less_bytes = s.len < t.len ? s.len : t.len, head = text_cut_front(s, t);
        size_t tail = text_cut_back((struct str){s.ptr + head, s.len - head},
                (struct str){t.ptr + head, t.len - head});
        if (2 * (head + tail) >= less_bytes)
            return texts_share_half(w, s, t, head, tail);
    }
    struct words *a = item_words(w, &w->old, old), *b = item_words(w, &w->new_, new_);
    size_t less = a->count < b->count ? a->count : b->count;

    w->spent += 4;
    if (4 * less < a->count + b->count) /* too different in length to share half */
        return false;
    w->spent += (uint64_t)a->count * b->count + 16;
    return w->spent <= WORK_MAX && share_half(a, b);
}

/* ---- edits ------------------------------------------------------------------------------- */

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
        if (!w->in->equal(w->in->arg, i, j)) /* a coarse match may leave equal ones */
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
    uint32_t *of = arena_array_of(w->scratch, d->count + 1, uint32_t); /* text by edit */

    for (size_t i = 0; i < d->count; i++)
        if (d->edits[i].how == DIFF_DELETE)
            of[i] = item_symbol(w, &w->old, d->edits[i].old);
        else if (d->edits[i].how == DIFF_INSERT)
            of[i] = item_symbol(w, &w->new_, d->edits[i].new_);
    /* for each text the deletions of it, first one first */
    uint32_t *first = arena_array_of(w->scratch, w->texts.count + 1, uint32_t);
    uint32_t *next = arena_array_of(w->scratch, d->count + 1, uint32_t);

    memset(first, 0xFF, (w->texts.count + 1) * sizeof *first);
    for (size_t i = d->count; i-- > 0;) {
        if (d->edits[i].how != DIFF_DELETE)
            continue;
        next[i] = first[of[i]];
        first[of[i]] = (uint32_t)i;
    }
    size_t kept = 0;
    for (size_t i = 0; i < d->count; i++) {
        struct diff_edit *e = &d->edits[i];
        uint32_t from = e->how == DIFF_INSERT ? first[of[i]] : LCS_NONE;
        if (from == LCS_NONE)
            continue;
        first[of[i]] = next[from];
        e->how = DIFF_MOVE; /* (2) */
        e->old = d->edits[from].old;
        d->edits[from].old = LCS_NONE; /* told by the move */
    }
    for (size_t i = 0; i < d->count; i++)
        if (d->edits[i].how != DIFF_DELETE || d->edits[i].old != LCS_NONE)
            d->edits[kept++] = d->edits[i];
    d->count = kept;
}

/* ---- the whole --------------------------------------------------------------------------- */

static struct side side_of(struct work *w, bool is_new, size_t count)
{
    return (struct side){
            is_new, arena_array_of(w->scratch, count / ITEMS + 1, struct known_item **), count};
}

static uint32_t *symbols_of(struct work *w, struct side *s)
{
    uint32_t *all = arena_array_of(w->scratch, s->count + 1, uint32_t);

    for (size_t i = 0; i < s->count; i++)
        all[i] = item_symbol(w, s, i);
    return all;
}

static const uint32_t *match_items(struct work *w, bool *ret_coarse)
{
    const struct diff_input *in = w->in;
    struct lcs_pair pair = {in->nold, in->nnew, in->equal, in->arg, 0, in->run,
            {in->prints[0], in->prints[1]}, {in->texts[0], in->texts[1]}, in->spans};

    *ret_coarse = false;
    if (in->match)
        return in->match;
    uint32_t *match = arena_alloc(w->life, (in->nnew + 1) * sizeof *match);
    if (!lcs_match_few(&pair, match))
        *ret_coarse = !lcs_match(
                symbols_of(w, &w->old), in->nold, symbols_of(w, &w->new_), in->nnew, match);
    return match;
}

size_t match_row(const uint32_t *match, size_t count, uint32_t old)
{
    size_t n = 0;

    for (; n + 8 <= count; n += 8) {
        uint32_t differ = 0;
        for (uint32_t i = 0; i < 8; i++) /* which the compiler makes a wide one of */
            differ |= match[n + i] ^ (old + (uint32_t)n + i);
        if (differ)
            break;
    }
    while (n < count && match[n] == old + n)
        n++;
    return n;
}

void diff_compare(const struct diff_input *in, struct arena *life, struct diff *ret)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "diff");
    struct work w = {.in = in, .scratch = scratch, .life = life, .diff = ret};

    *ret = (struct diff){.edits = NULL};
    w.texts.life = scratch;
    map_init(&w.texts.map);
    w.old = side_of(&w, false, in->nold);
    w.new_ = side_of(&w, true, in->nnew);

    const uint32_t *match = ret->match = match_items(&w, &ret->coarse);
    size_t a = 0, b = 0;
    while (b < in->nnew) {
        size_t same = match_row(match + b, in->nnew - b, (uint32_t)a);
        a += same;
        b += same;
        size_t j = b;
        while (j < in->nnew && match[j] == LCS_NONE)
            j++;
        if (j == in->nnew)
            break;
        gap(&w, a, match[j], b, j);
        a = match[j];
        b = j;
    }
    gap(&w, a, in->nold, b, in->nnew);
    find_moves(&w);
    ret->coarse |= w.spent > WORK_MAX;
    map_done(&w.texts.map);
}

/* ---- items that are all there ------------------------------------------------------------ */

struct given {
    const struct diff_item *old, *new_;
};

static bool given_equal(const void *arg, size_t old, size_t new_)
{
    const struct given *g = arg;
    const struct diff_item *x = &g->old[old], *y = &g->new_[new_];

    return str_equal(x->key.ptr ? x->key : x->text, y->key.ptr ? y->key : y->text);
}

static struct diff_item given_item(const void *arg, bool new_, size_t i)
{
    const struct given *g = arg;
    return new_ ? g->new_[i] : g->old[i];
}

void diff_sequences(const struct diff_item *old, size_t nold, const struct diff_item *new_,
        size_t nnew, struct arena *life, struct diff *ret)
{
    struct given g = {old, new_};
    struct diff_input in = {
            nold, nnew, given_equal, given_item, &g, NULL, NULL, {NULL, NULL}, {NULL, NULL}};

    diff_compare(&in, life, ret);
}
