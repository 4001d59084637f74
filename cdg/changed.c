/* The words of where two versions differ.
 *
 * What both versions have as often need not be counted to be known not to differ, so the
 * table of what changed holds the words of gaps (blocks.c) and nothing else.  It must hold
 * that
 *  (1) a word that is not in it occurs as often in both versions;
 *  (2) whether and how often a word occurs outside the gaps is looked up only for words that
 *      somebody wants to know it of, and once for all who do (outside.c); and
 *  (3) the rows are those of the gaps and `margin` words around each, so that a row of at
 *      most margin + 1 words that is not in them occurs as often in both.
 */
#include "cdg/detect_int.h"

static void gap_words(
        struct vocabulary_filling *f, const struct blocks *b, const struct gap *g, int side)
{
    for (size_t i = g->from[side]; i < g->end[side]; i++) {
        struct str s = block_text(b, side, i);
        if (i + 1 == g->end[side])
            s.len -= g->tail;
        if (i == g->from[side])
            s = (struct str){s.ptr + g->head, s.len - g->head};
        f->block = (uint32_t)i;
        vocabulary_add(f, side, s);
    }
}

struct vocabulary *vocabulary_changed(const struct question *q, bool folded)
{
    struct vocabulary **slot = folded ? &q->cache->changed_folded : &q->cache->changed;

    if (*slot)
        return *slot;
    const struct blocks *b = blocks_of(q);
    struct vocabulary_filling f = vocabulary_fill(q->cache->life, folded);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < b->ngaps; i++)
            gap_words(&f, b, &b->gaps[i], side);
    *slot = vocabulary_filled(&f);
    return *slot;
}

/* ---- rows -------------------------------------------------------------------------------- */

/* A place between words of the new version. */
struct place {
    size_t block, at;
};

struct rows {
    struct vocabulary_filling f;
    const struct blocks *b;
    struct place told; /* up to here */
};

static bool is_before(struct place a, struct place b)
{
    return a.block != b.block ? a.block < b.block : a.at < b.at;
}

static unsigned count_words(struct str text, unsigned most)
{
    struct str word;
    unsigned n = 0;

    for (size_t at = 0; n < most && page_word_next(text, &at, &word);)
        n++;
    return n;
}

/* Goes back over this many words, or a few more, but not beyond `told`. */
static struct place go_back(const struct rows *r, struct place p, unsigned words)
{
    while (words && is_before(r->told, p)) {
        if (p.at == 0) {
            p.block--;
            p.at = block_text(r->b, true, p.block).len;
            continue;
        }
        struct str s = block_text(r->b, true, p.block);
        size_t end = p.at;
        while (p.at > 0 && s.ptr[p.at - 1] == ' ')
            p.at--;
        while (p.at > 0 && s.ptr[p.at - 1] != ' ')
            p.at--;
        words -= count_words((struct str){s.ptr + p.at, end - p.at}, words);
    }
    return is_before(r->told, p) ? p : r->told;
}

/* Tells both sides the words up to `to`, at most `words` of them. */
static void tell_same(struct rows *r, struct place to, size_t words)
{
    struct str word;

    while (words && is_before(r->told, to)) {
        struct str s = block_text(r->b, true, r->told.block);
        if (r->told.block == to.block)
            s.len = to.at;
        while (words && page_word_next(s, &r->told.at, &word)) {
            vocabulary_add_both(&r->f, word);
            words--;
        }
        if (words && r->told.block < to.block)
            r->told = (struct place){r->told.block + 1, 0};
        else if (words)
            r->told = to;
    }
}

const struct vocabulary *vocabulary_rows(const struct question *q, unsigned margin)
{
    struct pair_cache *cache = q->cache;

    if (cache->rows && cache->rows_margin >= margin)
        return cache->rows;
    struct rows r = {.f = vocabulary_fill(cache->life, /* folded= */ true), .b = blocks_of(q)};
    vocabulary_add_apart(&r.f);
    for (size_t i = 0; i < r.b->ngaps; i++) { /* (3) */
        const struct gap *g = &r.b->gaps[i];
        struct place from = {g->from[1], g->head}, until = {r.b->count[1], 0};
        struct place back = go_back(&r, from, margin);
        if (is_before(r.told, back))
            vocabulary_add_apart(&r.f);
        r.told = back;
        tell_same(&r, from, SIZE_MAX);
        gap_words(&r.f, r.b, g, 0);
        gap_words(&r.f, r.b, g, 1);
        r.told = (struct place){g->end[1], 0};
        if (g->from[1] < g->end[1])
            r.told = (struct place){
                    g->end[1] - 1, block_text(r.b, true, g->end[1] - 1).len - g->tail};
        if (i + 1 < r.b->ngaps)
            until = (struct place){g[1].from[1], g[1].head};
        tell_same(&r, until, margin);
    }
    cache->rows = vocabulary_filled(&r.f);
    cache->rows_margin = margin;
    return cache->rows;
}
