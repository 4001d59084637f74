/* The words of a pair, counted once for all who ask about words.
 *
 * However many sentinels watch for however many words, a version's text is cut into words
 * once; a question is then a look at this table.  Words are compared as they are written,
 * or folded, by who asks.
 */
#include "cdg/cdg_int.h"

const struct vocabulary_word *vocabulary_find(const struct vocabulary *v, struct str text)
{
    struct map_node *n = map_first(&v->by_text, map_hash(text.ptr, text.len));

    for (; n; n = map_next(n)) {
        struct vocabulary_word *w = container_of(n, struct vocabulary_word, by_text);
        if (str_equal(w->text, text))
            return w;
    }
    return NULL;
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

static struct vocabulary_word *word_get(
        struct vocabulary *v, struct str text, bool borrowed, struct arena *life)
{
    union {
        const struct vocabulary_word *found;
        struct vocabulary_word *ours;
    } known = {.found = vocabulary_find(v, text)};

    if (known.ours)
        return known.ours;
    struct vocabulary_word *w = arena_new_of(life, struct vocabulary_word);
    w->text = text;
    if (borrowed)
        w->text.ptr = arena_strndup(life, text.ptr, text.len);
    w->number = (uint32_t)v->count;
    if (v->count == v->cap)
        v->all = grown(life, v->all, v->count, &v->cap, sizeof *v->all);
    v->all[v->count++] = w;
    map_insert(&v->by_text, &w->by_text, map_hash(text.ptr, text.len));
    return w;
}

static void add_version(struct vocabulary *v, int side, const struct page_digest *d,
        bool folded, struct arena *life)
{
    struct str_list words = page_words(d, life);
    BUF(fold, 1 << 26);

    v->seq[side] = arena_array_of(life, words.count + 1, uint32_t);
    for (size_t i = 0; i < words.count; i++) {
        struct str text = words.all[i];
        buf_clear(&fold);
        if (folded && page_word_fold(text, &fold))
            text = (struct str){fold.data, fold.len};
        struct vocabulary_word *w = word_get(v, text, folded, life);
        w->counts[side]++;
        v->seq[side][v->nseq[side]++] = w->number;
    }
}

static void release(void *arg)
{
    struct vocabulary *v = arg;
    map_done(&v->by_text);
}

const struct vocabulary *vocabulary_of(const struct question *q, bool folded)
{
    struct vocabulary **slot = folded ? &q->cache->folded : &q->cache->words;

    if (*slot)
        return *slot;
    struct vocabulary *v = arena_new_of(q->cache->life, struct vocabulary);
    map_init(&v->by_text);
    arena_defer(q->cache->life, release, v);
    add_version(v, 0, q->old->digest, folded, q->cache->life);
    add_version(v, 1, q->new_->digest, folded, q->cache->life);
    *slot = v;
    return v;
}

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
