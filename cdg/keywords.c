/* keywords: whether given words are there, or with `counted` how often.
 *
 * A keyword is one word or several adjacent ones, without regard to case; a * in front of a
 * word or behind it stands for anything.  It must hold that
 *  (1) `any` tells each keyword whose presence changed, and
 *  (2) `all` tells when the presence of all of them together changed.
 *
 * Whose keywords changed at all is found for all members of a group together
 * (keyword_index.c); only in a region, where the words are its own, each is looked for.
 */
#include "cdg/detect_int.h"

/* ---- reading keywords -------------------------------------------------------------------- */

/* The next piece without white space; false at the end. */
static bool next_piece(const char **at, struct str *ret)
{
    while (**at == ' ' || (**at >= '\t' && **at <= '\r'))
        ++*at;
    const char *from = *at;
    while (**at && **at != ' ' && !(**at >= '\t' && **at <= '\r'))
        ++*at;
    *ret = (struct str){from, (size_t)(*at - from)};
    return ret->len > 0;
}

static bool term_read(struct str piece, struct arena *life, struct keyword_term *ret)
{
    struct keyword_term t = {.open_front = piece.ptr[0] == '*',
            .open_back = piece.len > 1 && piece.ptr[piece.len - 1] == '*'};
    size_t at = 0;
    struct str word;
    BUF(fold, 1 << 20);

    if (!page_word_next(piece, &at, &word) || !page_word_fold(word, &fold))
        return false;
    t.text = str_of(arena_strndup(life, buf_text(&fold), fold.len));
    *ret = t;
    return true;
}

struct keyword keyword_read(const char *written, struct arena *life)
{
    struct str piece;
    size_t pieces = 0;

    for (const char *at = written; next_piece(&at, &piece);)
        pieces++;
    struct keyword k = {
            .written = written, .terms = arena_array_of(life, pieces, struct keyword_term)};
    for (const char *at = written; next_piece(&at, &piece);)
        if (term_read(piece, life, &k.terms[k.count]))
            k.count++;
    return k;
}

static enum err check(const struct cdg_leaf *leaf, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "keywords");

    if (leaf->nwords == 0)
        return fault_set(f, ERR_RANGE, "there are no keywords");
    for (size_t i = 0; i < leaf->nwords; i++)
        if (keyword_read(leaf->words[i], scratch).count == 0)
            return fault_set(f, ERR_RANGE, "the keyword \"%.80s\" has no letter or digit",
                    leaf->words[i]);
    return OK;
}

static bool is_exact(const struct keyword *k)
{
    return k->count == 1 && !k->terms[0].open_front && !k->terms[0].open_back;
}

static void *prepare(const struct cdg_leaf *leaf, struct arena *life)
{
    struct keywords *words = arena_new_of(life, struct keywords);

    words->all = arena_array_of(life, leaf->nwords, struct keyword);
    words->count = leaf->nwords;
    for (size_t i = 0; i < leaf->nwords; i++)
        words->all[i] = keyword_read(leaf->words[i], life);
    return words;
}

/* ---- counting ---------------------------------------------------------------------------- */

bool keyword_term_matches(const struct keyword_term *t, struct str word)
{
    if (word.len < t->text.len)
        return false;
    if (!t->open_front && !t->open_back)
        return str_equal(word, t->text);
    if (t->open_front && t->open_back)
        return memmem(word.ptr, word.len, t->text.ptr, t->text.len) != NULL;
    size_t from = t->open_front ? word.len - t->text.len : 0;
    return memcmp(word.ptr + from, t->text.ptr, t->text.len) == 0;
}

bool keyword_occurs(const struct keyword *k, struct str text)
{
    BUF(fold, 1 << 26);
    struct str word;

    for (size_t from = 0, next = 0; page_word_next(text, &next, &word); from = next) {
        size_t t = 0;
        for (size_t at = from; t < k->count && page_word_next(text, &at, &word); t++) {
            buf_clear(&fold);
            if (!page_word_fold(word, &fold) ||
                    !keyword_term_matches(&k->terms[t], (struct str){fold.data, fold.len}))
                break;
        }
        if (t == k->count)
            return true;
    }
    return false;
}

static void count_single(
        const struct keyword_term *t, const struct vocabulary *v, uint32_t counts[2])
{
    if (!t->open_front && !t->open_back) {
        const struct vocabulary_word *w = vocabulary_find(v, t->text);
        counts[0] = w ? w->counts[0] : 0;
        counts[1] = w ? w->counts[1] : 0;
        return;
    }
    for (size_t i = 0; i < v->count; i++)
        if (keyword_term_matches(t, v->all[i]->text)) {
            counts[0] += v->all[i]->counts[0];
            counts[1] += v->all[i]->counts[1];
        }
}

static uint32_t count_adjacent(const struct keyword *k, const struct vocabulary *v, int side)
{
    uint32_t n = 0;

    for (size_t i = 0; i + k->count <= v->nseq[side]; i++) {
        size_t t = 0;
        while (t < k->count &&
                keyword_term_matches(&k->terms[t], v->all[v->seq[side][i + t]]->text))
            t++;
        n += t == k->count;
    }
    return n;
}

void keyword_count(const struct keyword *k, const struct vocabulary *v, uint32_t counts[2])
{
    counts[0] = counts[1] = 0;
    if (k->count == 1) {
        count_single(&k->terms[0], v, counts);
        return;
    }
    counts[0] = count_adjacent(k, v, 0);
    counts[1] = count_adjacent(k, v, 1);
}

/* ---- comparing --------------------------------------------------------------------------- */

enum { LOOKED_BYTES = 4 << 20 }; /* as far as it is worth to find out where keywords stand */

/* The block in which a keyword that is no single word stands first, of those that differ, or of
 * all; LCS_NONE: it was not found, or goes from one block to the next. */
static uint32_t block_with(
        const struct question *q, const struct keyword *k, bool new_, size_t *left)
{
    const struct blocks *b = blocks_of(q);

    for (size_t i = 0; i < b->ngaps; i++)
        for (size_t at = b->gaps[i].from[new_]; at < b->gaps[i].end[new_]; at++) {
            struct str text = block_text(b, new_, at);
            if (text.len > *left)
                return LCS_NONE;
            *left -= text.len;
            if (keyword_occurs(k, text))
                return (uint32_t)at;
        }
    return LCS_NONE;
}

/* Where it stands: the first text of its block, + 1; 0: not known. */
static uint32_t text_with(const struct question *q, const struct answer *a,
        const struct keyword *k, bool new_, size_t *left)
{
    const struct vocabulary *all[] = {q->cache->changed_folded, q->cache->folded};

    if (a->counts[new_ ? CHANGE_INSERTED : CHANGE_DELETED] >= CHANGES_LISTED)
        return 0;
    for (size_t i = 0; i < countof(all) && is_exact(k); i++) {
        const struct vocabulary_word *w =
                all[i] ? vocabulary_find(all[i], k->terms[0].text) : NULL;
        if (w && w->counts[new_])
            return vocabulary_text(q, w, new_) + 1;
    }
    uint32_t block = block_with(q, k, new_, left);
    return block == LCS_NONE ? 0 : blocks_of(q)->all[new_][block].from + 1;
}

static void add(const struct question *q, struct answer *a, bool appeared,
        const struct keyword *k, struct str text, size_t *left)
{
    struct change c = {.how = appeared ? CHANGE_INSERTED : CHANGE_DELETED, .of_block = true};

    *(appeared ? &c.new_ : &c.old) = text;
    c.at[appeared] = text_with(q, a, k, appeared, left);
    answer_add(a, q->life, c);
}

static void compare_all(const struct question *q, struct answer *a)
{
    const struct keywords *p = q->prepared;
    const struct vocabulary *v = vocabulary_of(q, /* folded= */ true);
    bool before = true, after = true;
    size_t left = LOOKED_BYTES;

    for (size_t i = 0; i < p->count; i++) {
        uint32_t counts[2];
        keyword_count(&p->all[i], v, counts);
        before &= counts[0] > 0;
        after &= counts[1] > 0;
    }
    for (size_t i = 0; i < p->count && before != after; i++) /* (2) */
        add(q, a, after, &p->all[i], str_of(p->all[i].written), &left);
}

static bool counts_differ(const struct question *q, const uint32_t n[2])
{
    return q->leaf->counted ? n[0] != n[1] : (n[0] > 0) != (n[1] > 0);
}

/* Whether the keyword stands anywhere in a version.  Bit t of `ends` says that its terms up to
 * t stand in a row that ends here. */
static bool is_somewhere(const struct question *q, const struct keyword *k, bool new_)
{
    const struct blocks *b = blocks_of(q);
    uint32_t ends = 0, last = (uint32_t)1 << (k->count - 1);
    BUF(fold, 1 << 26);

    for (size_t i = 0; i < b->count[new_]; i++) {
        struct str text = block_text(b, new_, i), word;
        for (size_t at = 0; page_word_next(text, &at, &word);) {
            buf_clear(&fold);
            if (page_word_fold(word, &fold))
                word = (struct str){fold.data, fold.len};
            ends = ends << 1 | 1;
            for (size_t t = 0; t < k->count; t++)
                if (ends >> t & 1 && !keyword_term_matches(&k->terms[t], word))
                    ends &= ~((uint32_t)1 << t);
            if (ends & last)
                return true;
        }
    }
    return false;
}

/* How often the keyword occurs in both, true where it matters; words of `v` are settled. */
static void count_changed(const struct question *q, const struct keyword *k,
        const struct vocabulary *v, uint32_t n[2])
{
    if (k->count > VOCABULARY_ROW) {
        keyword_count(k, vocabulary_of(q, /* folded= */ true), n);
        return;
    }
    if (is_exact(k)) {
        const struct vocabulary_word *w = vocabulary_find(v, k->terms[0].text);
        n[0] = w ? w->counts[0] + w->rest : 0;
        n[1] = w ? w->counts[1] + w->rest : 0;
        return;
    }
    keyword_count(k, k->count == 1 ? v : vocabulary_rows(q, (unsigned)k->count - 1), n);
    if (!counts_differ(q, n))
        return;
    if (q->leaf->counted) /* others may stand elsewhere */
        keyword_count(k, vocabulary_of(q, /* folded= */ true), n);
    else
        n[n[1] > 0 ? 0 : 1] = is_somewhere(q, k, /* new_= */ n[0] > 0);
}

/* Without an index each is looked for. */
static const struct leaf_hits *look(const struct question *q)
{
    const struct keywords *p = q->prepared;
    struct vocabulary *v = vocabulary_changed(q, /* folded= */ true);
    struct leaf_hits *hits = arena_new_of(q->life, struct leaf_hits);

    hits->all = arena_array_of(q->life, p->count, struct keyword_hit);
    for (uint32_t i = 0; i < p->count; i++) {
        struct vocabulary_word *w =
                is_exact(&p->all[i]) ? vocabulary_find(v, p->all[i].terms[0].text) : NULL;
        if (w)
            w->wanted = counts_differ(q, w->counts);
    }
    vocabulary_settle(q, /* folded= */ true, q->leaf->counted);
    for (uint32_t i = 0; i < p->count; i++) {
        struct keyword_hit one = {.keyword = i};
        count_changed(q, &p->all[i], v, one.counts);
        if (counts_differ(q, one.counts))
            hits->all[hits->count++] = one;
    }
    return hits;
}

bool keywords_have_same_text(const struct question *q)
{
    const struct page_digest *old = q->old->digest, *new_ = q->new_->digest;

    return hash128_equal(old->hash[PAGE_CONTENT], new_->hash[PAGE_CONTENT]) &&
           hash128_equal(old->hash[PAGE_BLOCKS], new_->hash[PAGE_BLOCKS]);
}

static void compare(const struct question *q, struct answer *a)
{
    const struct keywords *p = q->prepared;

    if (keywords_have_same_text(q))
        return;
    const struct leaf_hits *hits = q->hits ? q->hits : look(q);
    if (hits->count && q->leaf->all && !q->leaf->counted) {
        compare_all(q, a); /* one must change for all to change */
        return;
    }
    size_t left = LOOKED_BYTES;
    for (size_t i = 0; i < hits->count; i++) { /* (1) */
        const uint32_t *n = hits->all[i].counts;
        const struct keyword *one = &p->all[hits->all[i].keyword];
        struct str written = str_of(one->written);
        add(q, a, n[1] > n[0], one,
                q->leaf->counted ? with_counts(q->life, written, n[0], n[1]) : written, &left);
    }
}

/* The keywords that are there. */
static struct str_list parts(const struct question *q, const struct cdg_version *version)
{
    const struct keywords *p = q->prepared;
    const struct vocabulary *v = vocabulary_of(q, /* folded= */ true);
    struct str_list list = {arena_array_of(q->life, p->count, struct str), 0};

    for (size_t i = 0; i < p->count; i++) {
        uint32_t counts[2];
        keyword_count(&p->all[i], v, counts);
        if (counts[version == q->new_])
            list.all[list.count++] = str_of(p->all[i].written);
    }
    return list;
}

const struct cdg_kind cdg_kind_keywords = {
        .check = check,
        .prepare = prepare,
        .compare = compare,
        .parts = parts,
        .is_keyed = true,
};
