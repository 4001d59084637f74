/* The words of a pair, each once, for all who ask about words.
 *
 * However many sentinels watch for however many words, a version's text is cut into words
 * once; a question is then a look at this table.  Words are compared as they are written,
 * or folded, by who asks.
 */
#include "cdg/detect_int.h"

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

struct vocabulary_word *vocabulary_find(const struct vocabulary *v, struct str text)
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

/* ---- filling it -------------------------------------------------------------------------- */

struct vocabulary_filling vocabulary_fill(struct arena *life, bool folded)
{
    return (struct vocabulary_filling){
            arena_new_of(life, struct vocabulary), folded, life, {.max = 1 << 26}};
}

struct vocabulary *vocabulary_filled(struct vocabulary_filling *f)
{
    buf_done(&f->fold);
    return f->v;
}

/* Whether it is folded as it stands, which most words are. */
static bool is_folded(struct str word)
{
    for (size_t i = 0; i < word.len; i++)
        if ((word.ptr[i] & 0x80) || (word.ptr[i] >= 'A' && word.ptr[i] <= 'Z'))
            return false;
    return true;
}

static struct vocabulary_word *word_of(struct vocabulary_filling *f, struct str text)
{
    bool folds = f->folded && !is_folded(text);

    if (folds) {
        buf_clear(&f->fold);
        if (page_word_fold(text, &f->fold))
            text = (struct str){f->fold.data, f->fold.len};
    }
    return word_get(f->v, text, folds, f->life);
}

static void count_word(struct vocabulary_filling *f, int side, struct vocabulary_word *w)
{
    if (w->counts[side]++ == 0)
        w->block[side] = f->block;
    seq_add(f->v, side, w->number, f->life);
}

void vocabulary_add(struct vocabulary_filling *f, int side, struct str text)
{
    struct str word;

    for (size_t at = 0; page_word_next(text, &at, &word);)
        count_word(f, side, word_of(f, word));
}

void vocabulary_add_both(struct vocabulary_filling *f, struct str word)
{
    struct vocabulary_word *w = word_of(f, word);

    count_word(f, 0, w);
    count_word(f, 1, w);
}

void vocabulary_add_apart(struct vocabulary_filling *f)
{
    uint32_t apart = word_get(f->v, STR(""), false, f->life)->number;

    seq_add(f->v, 0, apart, f->life);
    seq_add(f->v, 1, apart, f->life);
}

const struct vocabulary *vocabulary_of(const struct question *q, bool folded)
{
    struct vocabulary **slot = folded ? &q->cache->folded : &q->cache->words;

    if (*slot)
        return *slot;
    const struct blocks *b = blocks_of(q);
    struct vocabulary_filling f = vocabulary_fill(q->cache->life, folded);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < b->count[side]; i++) {
            f.block = (uint32_t)i;
            vocabulary_add(&f, side, block_text(b, side, i));
        }
    *slot = vocabulary_filled(&f);
    return *slot;
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

uint32_t vocabulary_text(const struct question *q, const struct vocabulary_word *w, bool new_)
{
    return blocks_of(q)->all[new_][w->block[new_]].from;
}

struct str with_counts(struct arena *life, struct str word, uint32_t old, uint32_t new_)
{
    return str_of(arena_printf(life, "%.*s (%u→%u)", (int)word.len, word.ptr, old, new_));
}
