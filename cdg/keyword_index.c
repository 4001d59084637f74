/* The words a group looks for, each with who looks for it.
 *
 * A hundred thousand sentinels may each have keywords of their own.  So a version's words are
 * not shown to each of them: each word that changed is looked up here (keyword_look.c).  The
 * unit is a *pattern*, a keyword as it is compared ("art", "art*", "call for papers"), held
 * once with its *postings*, the leaves it is a keyword of.  It must hold that
 *  (1) every pattern has a handle that a word of the page leads to: a plain word is found as
 *      it is; an open one ("art*") by every beginning, end or piece of a word that is as long
 *      as one there is; a row of words by its *anchor*, the longest of its words that is not
 *      open.  What has none stands in a chain of its own and is looked for each time;
 *  (2) leaves that left cost memory only, and no more than those that stayed: beyond that the
 *      index is made anew; and
 *  (3) there are no pointers among the arrays, so a copy is a copy of bytes: members come and
 *      go in one while a plan reads the other (roster.c).
 */
#include "cdg/keyword_index.h"
#include <stdlib.h>

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

uint32_t pattern_find(
        const struct keyword_index *ix, enum form form, struct str text, uint64_t text_hash)
{
    uint64_t hash = key_hash(form, text_hash);

    if (!ix->by_key.all)
        return PATTERN_NONE;
    for (size_t i = hash & ix->by_key.mask; ix->by_key.all[i]; i = (i + 1) & ix->by_key.mask) {
        const struct pattern *p = pattern_at(ix, ix->by_key.all[i] - 1);
        struct str own = {ix->texts.data + p->text, p->len};
        if (p->hash == hash && p->form == form && str_equal(own, text))
            return ix->by_key.all[i] - 1;
    }
    return PATTERN_NONE;
}

static uint64_t leaf_hash(const struct cdg_node *leaf)
{
    return node_hash(leaf, 0);
}

static uint32_t leaf_find(const struct keyword_index *ix, const struct cdg_node *leaf)
{
    if (!ix->by_leaf.all)
        return PATTERN_NONE;
    for (size_t i = leaf_hash(leaf) & ix->by_leaf.mask; ix->by_leaf.all[i];
            i = (i + 1) & ix->by_leaf.mask)
        if (leaf_at(ix, ix->by_leaf.all[i] - 1)->leaf == leaf)
            return ix->by_leaf.all[i] - 1;
    return PATTERN_NONE;
}

/* ---- coming ------------------------------------------------------------------------------ */

struct keyword_index *keyword_index_new(void)
{
    struct keyword_index *ix = calloc(1, sizeof *ix);

    CHECK(ix);
    struct buf *all[] = {&ix->patterns, &ix->postings, &ix->leaves, &ix->texts};
    for (size_t i = 0; i < countof(all); i++)
        buf_init(all[i], ARRAY_MAX);
    ix->handleless = PATTERN_NONE;
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
            .first = PATTERN_NONE,
            .next_row = PATTERN_NONE,
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

    *ret_is_new = number == PATTERN_NONE;
    return number == PATTERN_NONE ? pattern_new(ix, form, text, hash) : number;
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

/* The word of a row it is found by; PATTERN_NONE: it has none. */
static uint32_t anchor_of(const struct keyword *k)
{
    uint32_t best = PATTERN_NONE;

    if (k->count > VOCABULARY_ROW) /* it may change where no word near it does */
        return PATTERN_NONE;
    for (uint32_t i = 0; i < k->count; i++) {
        const struct keyword_term *t = &k->terms[i];
        if (!t->open_front && !t->open_back &&
                (best == PATTERN_NONE || t->text.len > k->terms[best].text.len))
            best = i;
    }
    return best;
}

static void chain(struct keyword_index *ix, uint32_t pattern, uint32_t *first)
{
    pattern_at(ix, pattern)->next_row = *first;
    *first = pattern;
}

static void give_handle(
        struct keyword_index *ix, uint32_t pattern, const struct keyword *k) /* (1) */
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
    uint32_t at = form == ROW ? anchor_of(k) : PATTERN_NONE;
    if (at == PATTERN_NONE) {
        chain(ix, pattern, &ix->handleless);
        return;
    }
    uint32_t anchor = pattern_get(ix, ANCHOR, k->terms[at].text, &is_new);
    pattern_at(ix, pattern)->anchor_at = at;
    chain(ix, pattern, &pattern_at(ix, anchor)->first);
    if (k->count > ix->longest_row)
        ix->longest_row = (unsigned)k->count;
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

    if (number != PATTERN_NONE) {
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

static void make_anew(struct keyword_index *ix) /* (2) */
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
    enum { WORTH_IT = 16 };
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

struct keyword_index *keyword_index_copy(const struct keyword_index *ix) /* (3) */
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
