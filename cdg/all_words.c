/* all words: the set of words, less the words of EXCEPT; with `counted`, how often each
 * occurs.  Words are compared as written, the exclusion is without regard to case. */
#include "base/map.h"
#include "cdg/detect_int.h"

struct excluded {
    struct map_node by_text;
    struct str text;
};

struct prepared {
    struct map excluded;
};

static void release(void *arg)
{
    struct prepared *p = arg;
    map_done(&p->excluded);
}

static void *prepare(const struct cdg_leaf *leaf, struct arena *life)
{
    struct prepared *p = arena_new_of(life, struct prepared);
    BUF(fold, 1 << 20);

    map_init(&p->excluded);
    arena_defer(life, release, p);
    for (size_t i = 0; i < leaf->nwords; i++) {
        struct str word;
        for (size_t at = 0; page_word_next(str_of(leaf->words[i]), &at, &word);) {
            struct excluded *e = arena_new_of(life, struct excluded);
            buf_clear(&fold);
            page_word_fold(word, &fold);
            e->text = str_of(arena_strndup(life, buf_text(&fold), fold.len));
            map_insert(&p->excluded, &e->by_text, map_hash(e->text.ptr, e->text.len));
        }
    }
    return p;
}

static bool is_excluded(const struct prepared *p, struct str word)
{
    BUF(fold, 1 << 26);

    if (p->excluded.count == 0)
        return false;
    page_word_fold(word, &fold);
    struct str text = {buf_text(&fold), fold.len};
    struct map_node *n = map_first(&p->excluded, map_hash(text.ptr, text.len));
    for (; n; n = map_next(n))
        if (str_equal(container_of(n, struct excluded, by_text)->text, text))
            return true;
    return false;
}

/* Whether the word's counts differ in a way that is asked for, as far as the gaps say. */
static bool may_differ(const struct question *q, const struct vocabulary_word *w)
{
    uint32_t old = w->counts[0], new_ = w->counts[1];

    return q->leaf->counted ? old != new_ : (old == 0) != (new_ == 0);
}

static void add_word(
        const struct question *q, const struct vocabulary_word *w, struct answer *a)
{
    uint32_t old = w->counts[0] + w->rest, new_ = w->counts[1] + w->rest;
    struct str text = q->leaf->counted ? with_counts(q->life, w->text, old, new_) : w->text;
    struct change c = {.how = new_ > old ? CHANGE_INSERTED : CHANGE_DELETED, .of_block = true};

    if (new_ > old)
        c.new_ = text;
    else
        c.old = text;
    c.at[new_ > old] = vocabulary_text(q, w, new_ > old) + 1;
    answer_add(a, q->life, c);
}

static void compare(const struct question *q, struct answer *a)
{
    const struct page_digest *old = q->old->digest, *new_ = q->new_->digest;

    if (hash128_equal(old->hash[PAGE_CONTENT], new_->hash[PAGE_CONTENT]) &&
            hash128_equal(old->hash[PAGE_BLOCKS], new_->hash[PAGE_BLOCKS]))
        return;
    struct vocabulary *v = vocabulary_changed(q, /* folded= */ false);
    for (size_t i = 0; i < v->count; i++)
        v->all[i]->wanted =
                may_differ(q, v->all[i]) && !is_excluded(q->prepared, v->all[i]->text);
    vocabulary_settle(q, /* folded= */ false, q->leaf->counted);
    for (size_t i = 0; i < v->count; i++) {
        const struct vocabulary_word *w = v->all[i];
        if (may_differ(q, w) && (q->leaf->counted || w->rest == 0) &&
                !is_excluded(q->prepared, w->text))
            add_word(q, w, a);
    }
}

static struct str_list parts(const struct question *q, const struct cdg_version *v)
{
    struct str_list all = page_words(v->digest, q->life);
    size_t kept = 0;

    for (size_t i = 0; i < all.count; i++)
        if (!is_excluded(q->prepared, all.all[i]))
            all.all[kept++] = all.all[i];
    all.count = kept;
    return all;
}

const struct cdg_kind cdg_kind_all_words = {
        .prepare = prepare, .compare = compare, .parts = parts};
