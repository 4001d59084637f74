/* The words of a pair, counted once for all who ask about words.
 *
 * However many sentinels watch for however many words, a version's text is cut into words
 * once; a question is then a look at this table.  Words are compared as they are written,
 * or folded, by who asks.
 *
 * Versions of a page share most of their blocks, and what both have as often need not be
 * counted to be known not to differ.  So the table of what changed holds only the blocks
 * that have no match and some words around them, and it must hold that
 *  (1) a word or row of words that is not in it occurs as often in both versions, and
 *  (2) the counts of a word whose counts differ are those of the whole versions.
 */
#include "cdg/cdg_int.h"

/* ---- the table --------------------------------------------------------------------------- */

static size_t slot_of(const struct vocabulary *v, struct str text, uint64_t hash)
{
    size_t i = hash & v->mask;

    for (; v->slots[i]; i = (i + 1) & v->mask) {
        const struct vocabulary_word *w = v->all[v->slots[i] - 1];
        if (w->hash == hash && str_equal(w->text, text))
            break;
    }
    return i;
}

const struct vocabulary_word *vocabulary_find(const struct vocabulary *v, struct str text)
{
    uint32_t number =
            v->mask ? v->slots[slot_of(v, text, hash64_keyed(text.ptr, text.len))] : 0;

    return number ? v->all[number - 1] : NULL;
}

static void *grown(struct arena *life, const void *all, size_t count, size_t *cap, size_t each)
{
    size_t bigger = *cap ? 2 * *cap : 64;
    void *to = arena_alloc(life, arena_array_bytes(bigger, each));

    if (count)
        memcpy(to, all, count * each);
    *cap = bigger;
    return to;
}

static void slots_grow(struct vocabulary *v, struct arena *life)
{
    size_t slots = v->mask ? 2 * (v->mask + 1) : 256;

    v->slots = arena_array_of(life, slots, uint32_t);
    v->mask = slots - 1;
    for (size_t i = 0; i < v->count; i++)
        v->slots[slot_of(v, v->all[i]->text, v->all[i]->hash)] = (uint32_t)i + 1;
}

/* `borrowed`: the text will not stay. */
static struct vocabulary_word *word_get(
        struct vocabulary *v, struct str text, bool borrowed, struct arena *life)
{
    if (2 * v->count >= v->mask)
        slots_grow(v, life);
    uint64_t hash = hash64_keyed(text.ptr, text.len);
    size_t slot = slot_of(v, text, hash);
    if (v->slots[slot])
        return v->all[v->slots[slot] - 1];
    struct vocabulary_word *w = arena_new_of(life, struct vocabulary_word);
    w->text = text;
    if (borrowed)
        w->text.ptr = arena_strndup(life, text.ptr, text.len);
    w->hash = hash;
    w->number = (uint32_t)v->count;
    if (v->count == v->cap)
        v->all = grown(life, v->all, v->count, &v->cap, sizeof(struct vocabulary_word *));
    v->all[v->count++] = w;
    v->slots[slot] = w->number + 1;
    return w;
}

static void seq_add(struct vocabulary *v, int side, uint32_t number, struct arena *life)
{
    if (v->nseq[side] == v->seq_cap[side])
        v->seq[side] =
                grown(life, v->seq[side], v->nseq[side], &v->seq_cap[side], sizeof(uint32_t));
    v->seq[side][v->nseq[side]++] = number;
}

static struct str folded_word(struct str word, struct buf *fold)
{
    buf_clear(fold);
    return page_word_fold(word, fold) ? (struct str){fold->data, fold->len} : word;
}

/* ---- filling it -------------------------------------------------------------------------- */

struct filling {
    struct vocabulary *v;
    bool folded;
    struct arena *life;
    struct buf fold;
};

static void add_word(struct filling *f, int side, struct str text)
{
    if (f->folded)
        text = folded_word(text, &f->fold);
    struct vocabulary_word *w = word_get(f->v, text, f->folded, f->life);
    w->counts[side]++;
    seq_add(f->v, side, w->number, f->life);
}

static void add_block(struct filling *f, int side, const struct page_block *b)
{
    struct str word;

    for (size_t at = 0; page_word_next(b->text, &at, &word);)
        add_word(f, side, word);
}

const struct vocabulary *vocabulary_of(const struct question *q, bool folded)
{
    struct vocabulary **slot = folded ? &q->cache->folded : &q->cache->words;

    if (*slot)
        return *slot;
    const struct blocks *b = blocks_of(q);
    struct filling f = {arena_new_of(q->cache->life, struct vocabulary), folded, q->cache->life,
            {.max = 1 << 26}};
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < b->count[side]; i++)
            add_block(&f, side, &b->all[side][i]);
    buf_done(&f.fold);
    *slot = f.v;
    return f.v;
}

/* ---- where the versions differ ----------------------------------------------------------- */

/* Which blocks are taken, by side and block. */
struct taken {
    const struct blocks *b;
    bool *in[2];
    uint32_t *old_match; /* by old block */
};

static unsigned words_in(struct str text)
{
    struct str word;
    unsigned n = 0;

    for (size_t at = 0; n < VOCABULARY_MARGIN && page_word_next(text, &at, &word);)
        n++;
    return n;
}

/* Takes matched blocks next to a gap, on both sides alike, until there are words enough. */
static void take_margin(struct taken *t, int64_t new_, int64_t step)
{
    unsigned words = 0;

    for (; new_ >= 0 && new_ < (int64_t)t->b->count[1] && words < VOCABULARY_MARGIN;
            new_ += step) {
        if (t->b->match[new_] == LCS_NONE)
            return; /* another gap, which has its own margin */
        t->in[1][new_] = true;
        t->in[0][t->b->match[new_]] = true;
        words += words_in(t->b->all[1][new_].text);
    }
}

/* The same from an old block: the nearest block in that direction that has a match. */
static void take_old_margin(struct taken *t, int64_t old, int64_t step)
{
    while (old >= 0 && old < (int64_t)t->b->count[0] && t->old_match[old] == LCS_NONE)
        old += step;
    if (old >= 0 && old < (int64_t)t->b->count[0])
        take_margin(t, t->old_match[old], step);
}

static struct taken blocks_take(const struct blocks *b, struct arena *life)
{
    struct taken t = {b,
            {arena_array_of(life, b->count[0] + 1, bool),
                    arena_array_of(life, b->count[1] + 1, bool)},
            arena_array_of(life, b->count[0] + 1, uint32_t)};

    memset(t.old_match, 0xFF, b->count[0] * sizeof *t.old_match);
    for (size_t j = 0; j < b->count[1]; j++)
        if (b->match[j] != LCS_NONE)
            t.old_match[b->match[j]] = (uint32_t)j;
    for (size_t j = 0; j < b->count[1]; j++) {
        if (b->match[j] != LCS_NONE)
            continue;
        t.in[1][j] = true;
        take_margin(&t, (int64_t)j - 1, -1);
        take_margin(&t, (int64_t)j + 1, 1);
    }
    for (size_t i = 0; i < b->count[0]; i++) {
        if (t.old_match[i] != LCS_NONE)
            continue;
        t.in[0][i] = true;
        take_old_margin(&t, (int64_t)i - 1, -1);
        take_old_margin(&t, (int64_t)i + 1, 1);
    }
    return t;
}

/* The words of these places, as they are written. */
static const struct vocabulary *places_of(const struct question *q)
{
    struct pair_cache *cache = q->cache;

    if (cache->places)
        return cache->places;
    const struct blocks *b = blocks_of(q);
    struct filling f = {.v = arena_new_of(cache->life, struct vocabulary), .life = cache->life};
    struct taken t = blocks_take(b, cache->life);
    uint32_t apart = word_get(f.v, STR(""), false, f.life)->number; /* between the places */
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < b->count[side]; i++) {
            if (!t.in[side][i])
                continue;
            if (i > 0 && !t.in[side][i - 1])
                seq_add(f.v, side, apart, f.life);
            add_block(&f, side, &b->all[side][i]);
        }
    cache->taken = arena_memdup(cache->life, &t, sizeof t);
    cache->places = f.v;
    return f.v;
}

/* A copy to count further in, each word folded once however often it occurs. */
static void copy_words(struct filling *f, const struct vocabulary *from)
{
    uint32_t *number = arena_alloc(f->life, (from->count + 1) * sizeof *number);

    for (size_t i = 0; i < from->count; i++) {
        struct str text = from->all[i]->text;
        struct vocabulary_word *w = word_get(
                f->v, f->folded ? folded_word(text, &f->fold) : text, f->folded, f->life);
        w->counts[0] += from->all[i]->counts[0];
        w->counts[1] += from->all[i]->counts[1];
        number[i] = w->number;
    }
    for (int side = 0; side < 2; side++) {
        f->v->seq[side] = arena_alloc(f->life, (from->nseq[side] + 1) * sizeof(uint32_t));
        f->v->nseq[side] = f->v->seq_cap[side] = from->nseq[side];
        for (size_t i = 0; i < from->nseq[side]; i++)
            f->v->seq[side][i] = number[from->seq[side][i]];
    }
}

/* Which words could be one whose counts differ, by first byte and length. */
struct sieve {
    bool may[1024];
};

static unsigned sieve_at(struct str s, bool folded)
{
    unsigned char c = s.len ? (unsigned char)s.ptr[0] : 0;

    if (c >= 0x80)
        return 0; /* folding may change it, and its length */
    if (folded && c >= 'A' && c <= 'Z')
        c |= 0x20;
    return (unsigned)c << 3 | (s.len & 7);
}

static bool has_high(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] & 0x80)
            return true;
    return false;
}

static bool sieve_fill(struct sieve *sieve, const struct vocabulary *v, bool folded)
{
    bool any = false;

    *sieve = (struct sieve){.may = {true}};
    for (size_t i = 0; i < v->count; i++) {
        const struct vocabulary_word *w = v->all[i];
        unsigned at = sieve_at(w->text, folded);
        if (w->counts[0] == w->counts[1])
            continue;
        any = true;
        sieve->may[at] = true;
        if (folded && has_high(w->text)) /* written otherwise it may have another length */
            memset(&sieve->may[at & ~7u], true, 8);
    }
    return any;
}

/* (2): what the blocks both have say of words whose counts differ. */
static void add_rest(struct filling *f, const struct taken *t)
{
    struct vocabulary *v = f->v;
    struct sieve sieve;
    struct str word;
    bool any = sieve_fill(&sieve, v, f->folded);

    for (size_t j = 0; any && j < t->b->count[1]; j++) {
        if (t->in[1][j])
            continue;
        for (size_t at = 0; page_word_next(t->b->all[1][j].text, &at, &word);) {
            if (!sieve.may[sieve_at(word, f->folded)] && !(f->folded && has_high(word)))
                continue;
            struct str text = f->folded ? folded_word(word, &f->fold) : word;
            uint32_t number = v->slots[slot_of(v, text, hash64_keyed(text.ptr, text.len))];
            struct vocabulary_word *w = number ? v->all[number - 1] : NULL;
            if (!w || w->counts[0] == w->counts[1])
                continue;
            w->counts[0]++;
            w->counts[1]++;
        }
    }
}

const struct vocabulary *vocabulary_changed(const struct question *q, bool folded)
{
    struct vocabulary **slot = folded ? &q->cache->changed_folded : &q->cache->changed;

    if (*slot)
        return *slot;
    const struct vocabulary *places = places_of(q);
    struct filling f = {arena_new_of(q->cache->life, struct vocabulary), folded, q->cache->life,
            {.max = 1 << 26}};
    copy_words(&f, places);
    add_rest(&f, q->cache->taken);
    buf_done(&f.fold);
    *slot = f.v;
    return f.v;
}

/* ---- blocks ------------------------------------------------------------------------------ */

static bool blocks_equal(const void *arg, size_t old, size_t new_)
{
    const struct blocks *b = arg;
    return str_equal(b->all[0][old].text, b->all[1][new_].text);
}

/* Blocks need not be matched as well as can be: a block without a match costs time only. */
static void blocks_match(struct blocks *b)
{
    struct lcs_pair pair = {b->count[0], b->count[1], blocks_equal, b, 0};

    if (lcs_match_few(&pair, b->match))
        return;
    size_t head = 0, tail = 0, n[2] = {b->count[0], b->count[1]};
    memset(b->match, 0xFF, n[1] * sizeof *b->match);
    for (; head < n[0] && head < n[1] && blocks_equal(b, head, head); head++)
        b->match[head] = (uint32_t)head;
    for (; tail < n[0] - head && tail < n[1] - head &&
            blocks_equal(b, n[0] - 1 - tail, n[1] - 1 - tail);
            tail++)
        b->match[n[1] - 1 - tail] = (uint32_t)(n[0] - 1 - tail);
}

const struct blocks *blocks_of(const struct question *q)
{
    struct arena *life = q->cache->life;

    if (q->cache->blocks)
        return q->cache->blocks;
    struct blocks *b = arena_new_of(life, struct blocks);
    b->count[0] = page_blocks(q->old->digest, life, &b->all[0]);
    b->count[1] = page_blocks(q->new_->digest, life, &b->all[1]);
    b->match = arena_array_of(life, b->count[1] + 1, uint32_t);
    blocks_match(b);
    q->cache->blocks = b;
    return b;
}

/* ---- words of one version ---------------------------------------------------------------- */

struct str_list page_words(const struct page_digest *d, struct arena *life)
{
    struct page_block *blocks;
    size_t n = page_blocks(d, life, &blocks), cap = 0;
    struct str_list list = {NULL, 0};

    for (size_t i = 0; i < n; i++) {
        struct str word;
        for (size_t at = 0; page_word_next(blocks[i].text, &at, &word);) {
            if (list.count == cap)
                list.all = grown(life, list.all, list.count, &cap, sizeof *list.all);
            list.all[list.count++] = word;
        }
    }
    return list;
}

struct str with_counts(struct arena *life, struct str word, uint32_t old, uint32_t new_)
{
    return str_of(arena_printf(life, "%.*s (%u→%u)", (int)word.len, word.ptr, old, new_));
}
