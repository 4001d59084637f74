/* phrase: a passage, known by its own words (track.c) or by a text it contains.
 *
 * With a text, the object is the smallest block element that contains it.  It must hold that
 *  (1) another wording of the passage is an update;
 *  (2) a passage of which no three words in a row are left has disappeared; and
 *  (3) one whose text is gone while words of it are left is lost, and that is no change.
 */
#include "cdg/detect_int.h"

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

/* Where a text stands in a version. */
struct found {
    const struct joined *j;
    const struct page_digest *d;
    size_t len;
    struct buf places; /* size_t, ascending */
};

/* memmem is slow to begin and memchr is not, as long as the first byte is no common one. */
static const char *find_next(struct str text, const char *from, struct str wanted)
{
    const char *end = text.ptr + text.len;

    for (unsigned tries = 0; tries < 32 && (size_t)(end - from) >= wanted.len; tries++) {
        from = memchr(from, wanted.ptr[0], (size_t)(end - from) - wanted.len + 1);
        if (!from || memcmp(from, wanted.ptr, wanted.len) == 0)
            return from;
        from++;
    }
    return memmem(from, (size_t)(end - from), wanted.ptr, wanted.len);
}

static struct found found_of(const struct question *q, const struct cdg_version *v)
{
    struct str wanted = str_of(q->leaf->text);
    struct found f = {joined_of(q, v == q->new_), v->digest, wanted.len, {.max = SIZE_MAX / 4}};
    const char *at = f.j->text.ptr;

    while ((at = find_next(f.j->text, at, wanted))) {
        size_t place = (size_t)(at++ - f.j->text.ptr);
        buf_append(&f.places, &place, sizeof place);
    }
    return f;
}

static void found_done(struct found *f)
{
    buf_done(&f->places);
}

/* Where the text of these nodes lies in the joined one. */
static struct str text_between(const struct found *f, uint32_t node, uint32_t end)
{
    uint32_t from = first_text(f->d, node), to = first_text(f->d, end);

    if (from == to)
        return (struct str){"", 0};
    size_t at = f->j->at[from];
    return (struct str){
            f->j->text.ptr + at, f->j->at[to - 1] + page_text(f->d, to - 1).len - at};
}

static bool contains(const struct found *f, uint32_t node, uint32_t end)
{
    const size_t *places = (const size_t *)(const void *)f->places.data;
    struct str text = text_between(f, node, end);
    size_t low = 0, n = f->places.len / sizeof *places, high = n;
    size_t from = (size_t)(text.ptr - f->j->text.ptr);

    if (text.len < f->len)
        return false;
    while (low < high) { /* the first place in it or behind it */
        size_t middle = (low + high) / 2;
        if (places[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && places[low] + f->len <= from + text.len;
}

/* The passage; ptr NULL when the page does not contain the text.  Going from the outside to
 * the inside, the first child that contains it is followed. */
static struct str passage(
        const struct question *q, const struct cdg_version *v, uint32_t *ret_node)
{
    CLEANUP(found_done) struct found f = found_of(q, v);
    const struct page_digest *d = v->digest;
    uint32_t from = 0, to = d->nodes;

    if (f.places.len == 0)
        return (struct str){NULL, 0};
    for (uint32_t i = from; i < to;) {
        if (d->tags[i] == 0 || !contains(&f, i, d->end[i])) {
            i = d->end[i];
            continue;
        }
        if (page_tag_is_inline(page_tag_name(d, d->tags[i]))) {
            i++; /* look inside, but it is no object itself */
            continue;
        }
        from = i++;
        to = d->end[from];
    }
    *ret_node = from;
    struct str text = text_between(&f, from, to);
    return (struct str){arena_strndup(q->life, text.ptr, text.len), text.len};
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
        CLEANUP(found_done) struct found f = found_of(q, q->new_);
        if (f.places.len == 0)
            answer_unknown(a, "there is no such phrase");
        return;
    }
    uint32_t was = 0, is = 0;
    struct str old = passage(q, q->old, &was), new_ = passage(q, q->new_, &is);
    struct str_list before = words_of(old, q->life);

    if (!old.ptr && !new_.ptr) {
        answer_unknown(a, "there is no such phrase");
    } else if (!old.ptr) {
        answer_add(
                a, q->life, (struct change){CHANGE_INSERTED, .new_ = new_, .at = {0, is + 1}});
        a->reason = "phrase appeared";
    } else if (new_.ptr) {
        if (!same_words(before, words_of(new_, q->life))) /* (1) */
            answer_add(a, q->life,
                    (struct change){CHANGE_UPDATED, old, new_, NULL, {was + 1, is + 1}});
    } else if (is_left(before, page_words(q->new_->digest, q->life))) {
        answer_unknown(a, "phrase lost"); /* (3) */
    } else {
        answer_add(a, q->life,
                (struct change){CHANGE_DELETED, .old = old, .at = {was + 1, 0}}); /* (2) */
        a->reason = "phrase disappeared";
    }
}

static struct str_list parts(const struct question *q, const struct cdg_version *v)
{
    uint32_t node;

    return keeps(q->leaf) ? track_parts(q, v) : words_of(passage(q, v, &node), q->life);
}

const struct cdg_kind cdg_kind_phrase = {
        .check = check, .compare = compare, .parts = parts, .keeps = keeps};
