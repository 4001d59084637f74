/* phrase: a passage, known by its own words (track.c) or by a text it contains.
 *
 * With a text, the object is the smallest block element that contains it.  It must hold that
 *  (1) another wording of the passage is an update;
 *  (2) a passage of which no three words in a row are left has disappeared; and
 *  (3) one whose text is gone while words of it are left is lost, and that is no change.
 */
#include "cdg/cdg_int.h"

static bool keeps(const struct cdg_leaf *leaf)
{
    return leaf->nwords > 0;
}

static enum err check(const struct cdg_leaf *leaf, struct fault *f)
{
    enum { WORDS_MIN = 5, BOX_MIN = 3, BOX_MAX = 30 };

    if (leaf->nwords == 0 && (!leaf->text || !leaf->text[0]))
        return fault_set(f, ERR_RANGE, "there is no phrase");
    if (leaf->box && (leaf->box < BOX_MIN || leaf->box > BOX_MAX))
        return fault_set(f, ERR_RANGE, "the box of a phrase has %d to %d words, not %u",
                BOX_MIN, BOX_MAX, leaf->box);
    for (size_t i = 0; i < leaf->nwords; i++) {
        struct str text = str_of(leaf->words[i]), word;
        unsigned n = 0;
        for (size_t at = 0; page_word_next(text, &at, &word);)
            n++;
        if (n < WORDS_MIN) {
            enum err e = fault_set(
                    f, ERR_RANGE, "the phrase \"%.80s\" has %u words", leaf->words[i], n);
            if (f)
                fault_hint(f, "Give at least %d, or use KEYWORDS or PHRASE CONTAINING.",
                        WORDS_MIN);
            return e;
        }
    }
    return OK;
}

static bool contains(const struct page_digest *d, uint32_t node, uint32_t end, const char *text)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "phrase");
    struct str all = subtree_text(d, node, end, scratch);
    return memmem(all.ptr, all.len, text, strlen(text)) != NULL;
}

/* The passage; ptr NULL when the page does not contain the text.  Going from the outside to
 * the inside, the first child that contains it is followed, so each text is read once a level.
 */
static struct str passage(const struct question *q, const struct page_digest *d)
{
    const uint32_t *ends = d->end;
    uint32_t from = 0, to = d->nodes;
    uint64_t work = 0, limit = (uint64_t)d->nodes * 64 + 1000000;
    bool found = contains(d, 0, d->nodes, q->leaf->text);

    for (uint32_t i = from; found && i < to && work < limit;) {
        work += ends[i] - i;
        if (d->tags[i] == 0 || !contains(d, i, ends[i], q->leaf->text)) {
            i = ends[i];
            continue;
        }
        if (page_tag_is_inline(page_tag_name(d, d->tags[i]))) {
            i++; /* look inside, but it is no object itself */
            continue;
        }
        from = i++;
        to = ends[from];
    }
    if (!found)
        return (struct str){NULL, 0};
    return subtree_text(d, from, to, q->life);
}

static struct str_list words_of(struct str text, struct arena *life)
{
    struct str_list list = {arena_array_of(life, text.len / 2 + 2, struct str), 0};
    struct str word;

    for (size_t at = 0; text.ptr && page_word_next(text, &at, &word);)
        list.all[list.count++] = word;
    return list;
}

/* Whether some three words in a row (or all, of fewer) of the passage stand in the page. */
static bool is_left(struct str_list passage_words, struct str_list page)
{
    size_t need = passage_words.count < 3 ? passage_words.count : 3;

    for (size_t i = 0; need && i + need <= page.count; i++)
        for (size_t k = 0; k + need <= passage_words.count && k < 200; k++) {
            size_t n = 0;
            while (n < need && str_equal(page.all[i + n], passage_words.all[k + n]))
                n++;
            if (n == need)
                return true;
        }
    return false;
}

static bool same_words(struct str_list a, struct str_list b)
{
    if (a.count != b.count)
        return false;
    for (size_t i = 0; i < a.count; i++)
        if (!str_equal(a.all[i], b.all[i]))
            return false;
    return true;
}

static void compare(const struct question *q, struct answer *a)
{
    if (keeps(q->leaf)) {
        track_compare(q, a);
        return;
    }
    const struct page_digest *d = q->new_->digest;
    if (hash128_equal(q->old->digest->whole, d->whole)) {
        if (!contains(d, 0, d->nodes, q->leaf->text))
            answer_unknown(a, "there is no such phrase");
        return;
    }
    struct str old = passage(q, q->old->digest), new_ = passage(q, d);
    struct str_list before = words_of(old, q->life);

    if (!old.ptr && !new_.ptr) {
        answer_unknown(a, "there is no such phrase");
    } else if (!old.ptr) {
        answer_add(a, q->life, (struct change){CHANGE_INSERTED, .new_ = new_});
        a->reason = "phrase appeared";
    } else if (new_.ptr) {
        if (!same_words(before, words_of(new_, q->life))) /* (1) */
            answer_add(a, q->life, (struct change){CHANGE_UPDATED, old, new_, NULL});
    } else if (is_left(before, page_words(q->new_->digest, q->life))) {
        answer_unknown(a, "phrase lost"); /* (3) */
    } else {
        answer_add(a, q->life, (struct change){CHANGE_DELETED, .old = old}); /* (2) */
        a->reason = "phrase disappeared";
    }
}

static struct str_list parts(const struct question *q, const struct cdg_version *v)
{
    return keeps(q->leaf) ? track_parts(q, v) : words_of(passage(q, v->digest), q->life);
}

const struct cdg_kind cdg_kind_phrase = {
        .check = check, .compare = compare, .parts = parts, .keeps = keeps};
