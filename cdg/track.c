/* A phrase followed by its own words, through versions in which it and its context change.
 *
 * What is remembered of a phrase is its wording p and the words around it, B before and E
 * behind.  In a new version it must hold that
 *  (1) what stands between B and E is the phrase now: another wording is an update;
 *  (2) where they are not both left but p is, nothing changed, and the words around it are
 *      read again;
 *  (3) where p is gone as well, a side that is missing may give up words, those farthest from
 *      the phrase and fewer than half, and what stands between is the phrase now;
 *  (4) a side that cannot be adjusted means that we cannot look: the context is lost; and
 *  (5) a page without any three words in a row of B, p or E has lost the phrase itself.
 * A side without words is the edge of the page.  Words are compared as they are written.
 */
#include "cdg/detect_int.h"
#include <inttypes.h>
#include <stdio.h>

enum { BOX_DEFAULT = 10, LOST_TELL = 3, NONE = -1 };
#define NO_WORD UINT32_MAX

struct run_of_words {
    uint32_t *all; /* numbers of the vocabulary; NO_WORD: a word neither version has */
    size_t count;
    struct str text; /* the words with a space between them */
};

static const struct run_of_words nothing = {.text = {"", 0}};

/* What is remembered of one phrase. */
struct tracked {
    struct run_of_words p, before, behind;
    unsigned lost; /* how many times in a row we could not look */
    bool gone;     /* told that it disappeared */
};

/* By block, old and new: how many words stand before it; NULL: nobody asked. */
struct word_counts {
    uint32_t *before[2];
};

struct tracking {
    const struct question *q;
    struct answer *a;
    const struct vocabulary *v;
    struct buf *state;
    unsigned number; /* which phrase of the leaf */
    struct word_counts *counts;
};

/* ---- words ------------------------------------------------------------------------------- */

static struct run_of_words words_of_text(const struct tracking *t, struct str text)
{
    struct run_of_words r = {.all = arena_array_of(t->q->life, text.len / 2 + 2, uint32_t)};
    struct str word;
    BUF(joined, 1 << 26);

    for (size_t at = 0; page_word_next(text, &at, &word);) {
        const struct vocabulary_word *w = vocabulary_find(t->v, word);
        r.all[r.count++] = w ? w->number : NO_WORD;
        if (joined.len)
            buf_putc(&joined, ' ');
        buf_append(&joined, word.ptr, word.len);
    }
    r.text = (struct str){arena_strndup(t->q->life, buf_text(&joined), joined.len), joined.len};
    return r;
}

static struct run_of_words slice_of(
        const struct tracking *t, int side, size_t from, size_t count)
{
    struct run_of_words r = {t->v->seq[side] + from, count, {"", 0}};
    BUF(joined, 1 << 26);

    for (size_t i = 0; i < count; i++) {
        struct str word = t->v->all[r.all[i]]->text;
        if (joined.len)
            buf_putc(&joined, ' ');
        buf_append(&joined, word.ptr, word.len);
    }
    r.text = (struct str){arena_strndup(t->q->life, buf_text(&joined), joined.len), joined.len};
    return r;
}

static bool stands_at(
        const struct tracking *t, int side, const uint32_t *words, size_t count, size_t at)
{
    const uint32_t *page = t->v->seq[side];

    for (size_t i = 0; i < count; i++)
        if (page[at + i] != words[i])
            return false;
    return true;
}

/* The next place, from `at` on, where these words stand in a row; NONE: there is none. */
static int64_t find_from(
        const struct tracking *t, int side, const uint32_t *words, size_t count, size_t at)
{
    for (; at + count <= t->v->nseq[side]; at++)
        if (stands_at(t, side, words, count, at))
            return (int64_t)at;
    return NONE;
}

/* ---- the box ----------------------------------------------------------------------------- */

static size_t box_words(const struct tracking *t)
{
    return t->q->leaf->box ? t->q->leaf->box : BOX_DEFAULT;
}

/* Reads the words around the `count` words at `at`. */
static void box_read(
        const struct tracking *t, int side, size_t at, size_t count, struct tracked *s)
{
    size_t n = box_words(t), behind = t->v->nseq[side] - at - count;
    size_t before = at < n ? at : n;

    s->before = slice_of(t, side, at - before, before);
    s->behind = slice_of(t, side, at + count, behind < n ? behind : n);
}

/* Where an occurrence of p has most of its old context. */
static int64_t find_best(const struct tracking *t, const struct tracked *s)
{
    const uint32_t *page = t->v->seq[1];
    size_t nb = s->before.count, ne = s->behind.count, n = t->v->nseq[1];
    int64_t best = NONE, most = -1;

    if (s->p.count == 0)
        return NONE;
    for (int64_t at = find_from(t, 1, s->p.all, s->p.count, 0); at != NONE;
            at = find_from(t, 1, s->p.all, s->p.count, (size_t)at + 1)) {
        size_t end = (size_t)at + s->p.count, same = 0;
        for (size_t i = 1; i <= nb && i <= (size_t)at; i++)
            same += page[(size_t)at - i] == s->before.all[nb - i];
        for (size_t i = 0; i < ne && end + i < n; i++)
            same += page[end + i] == s->behind.all[i];
        if ((int64_t)same > most) {
            most = (int64_t)same;
            best = at;
        }
    }
    return best;
}

/* The closest pair of the two sides: from where to where the phrase stands between them. */
static bool between(const struct tracking *t, struct run_of_words before,
        struct run_of_words behind, size_t *ret_from, size_t *ret_to)
{
    size_t n = t->v->nseq[1];
    int64_t last = before.count ? NONE : 0, closest = INT64_MAX;

    for (size_t at = 0; at <= n; at++) {
        if (before.count && at >= before.count &&
                stands_at(t, 1, before.all, before.count, at - before.count))
            last = (int64_t)at;
        bool ends = behind.count ? at + behind.count <= n &&
                                           stands_at(t, 1, behind.all, behind.count, at)
                                 : at == n;
        if (!ends || last == NONE || (int64_t)at - last >= closest)
            continue;
        closest = (int64_t)at - last;
        *ret_from = (size_t)last;
        *ret_to = at;
    }
    return closest != INT64_MAX;
}

static bool is_left(const struct tracking *t, struct run_of_words r)
{
    return r.count == 0 || find_from(t, 1, r.all, r.count, 0) != NONE;
}

/* (3): the longest part next to the phrase that is still there; false: too short. */
static bool adjust(const struct tracking *t, struct run_of_words *side, bool is_before)
{
    for (size_t given_up = 0; 2 * given_up < side->count; given_up++) {
        struct run_of_words part = {
                side->all + (is_before ? given_up : 0), side->count - given_up, {"", 0}};
        if (find_from(t, 1, part.all, part.count, 0) == NONE)
            continue;
        *side = slice_of(t, 1, (size_t)find_from(t, 1, part.all, part.count, 0), part.count);
        return true;
    }
    return side->count == 0;
}

/* (5) */
static bool anything_left(const struct tracking *t, const struct tracked *s)
{
    const struct run_of_words *all[] = {&s->before, &s->p, &s->behind};

    for (size_t i = 0; i < countof(all); i++) {
        size_t need = all[i]->count < 3 ? all[i]->count : 3;
        for (size_t k = 0; need && k + need <= all[i]->count; k++)
            if (find_from(t, 1, all[i]->all + k, need, 0) != NONE)
                return true;
    }
    return false;
}

/* ---- answering --------------------------------------------------------------------------- */

static bool same_words(struct run_of_words a, struct run_of_words b)
{
    return a.count == b.count && memcmp(a.all, b.all, a.count * sizeof *a.all) == 0;
}

static uint32_t *count_words(const struct tracking *t, int side)
{
    const struct blocks *b = blocks_of(t->q);
    uint32_t *before = arena_alloc(t->q->life, (b->count[side] + 1) * sizeof *before), n = 0;

    for (size_t i = 0; i < b->count[side]; i++) {
        struct str text = block_text(b, side, i), word;
        before[i] = n;
        for (size_t at = 0; page_word_next(text, &at, &word);)
            n++;
    }
    return before;
}

/* The first text of the block in which a word of the version stands, + 1; 0: not known. */
static uint32_t text_of_word(const struct tracking *t, int side, int64_t word)
{
    const struct blocks *b = blocks_of(t->q);
    size_t low = 0, high = b->count[side];

    if (word == NONE || high == 0)
        return 0;
    if (!t->counts->before[side])
        t->counts->before[side] = count_words(t, side);
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (t->counts->before[side][middle] <= word)
            low = middle;
        else
            high = middle;
    }
    return b->all[side][low].from + 1;
}

/* `at`: the first word of the new one; NONE: there is none. */
static void add(const struct tracking *t, struct run_of_words before, struct str new_,
        int64_t at, const char *remark)
{
    struct str old = before.text;
    struct change c = {.how = old.len == 0    ? CHANGE_INSERTED
                              : new_.len == 0 ? CHANGE_DELETED
                                              : CHANGE_UPDATED,
            .old = old,
            .new_ = new_,
            .of_block = true};

    if (t->counts) {
        if (before.count)
            c.at[0] = text_of_word(t, 0, find_from(t, 0, before.all, before.count, 0));
        c.at[1] = text_of_word(t, 1, at);
    }
    answer_add(t->a, t->q->life, c);
    if (remark)
        t->a->reason = remark;
}

/* (1): what stands between the sides is the phrase now. */
static void take_between(const struct tracking *t, struct tracked *s, size_t from, size_t to)
{
    struct run_of_words now = slice_of(t, 1, from, to - from);

    if (s->gone || !same_words(now, s->p))
        add(t, s->gone ? nothing : s->p, now.text, (int64_t)from,
                s->gone ? "phrase appeared" : NULL);
    s->p = now;
    s->lost = 0;
    s->gone = false;
}

static void take_again(const struct tracking *t, struct tracked *s, size_t at)
{
    if (s->gone)
        add(t, nothing, s->p.text, (int64_t)at, "phrase appeared");
    box_read(t, 1, at, s->p.count, s);
    s->lost = 0;
    s->gone = false;
}

static void give_up(const struct tracking *t, struct tracked *s)
{
    if (s->gone && !anything_left(t, s))
        return; /* it was told, and nothing changed since */
    if (!anything_left(t, s)) {
        struct run_of_words was = s->p;
        if (!was.text.len)
            was.text = STR("phrase");
        add(t, was, (struct str){"", 0}, NONE, "phrase disappeared");
        s->gone = true;
        s->lost = 0;
        return;
    }
    if (t->a->result != CDG_C)
        answer_unknown(t->a, "context lost"); /* (4) */
    if (++s->lost == LOST_TELL)
        t->a->notice = arena_printf(t->q->life,
                "the context of the phrase \"%.80s\" was lost, so it cannot be followed",
                s->p.text.ptr);
}

static void follow(const struct tracking *t, struct tracked *s)
{
    size_t from, to;
    bool sides_left = is_left(t, s->before) && is_left(t, s->behind);

    if (sides_left && between(t, s->before, s->behind, &from, &to)) { /* (1) */
        take_between(t, s, from, to);
        return;
    }
    int64_t at = find_best(t, s);
    if (at != NONE) { /* (2) */
        take_again(t, s, (size_t)at);
        return;
    }
    struct run_of_words before = s->before, behind = s->behind;
    bool adjusted = !sides_left && adjust(t, &before, true) & adjust(t, &behind, false);
    if (adjusted && between(t, before, behind, &from, &to)) { /* (3) */
        s->before = before;
        s->behind = behind;
        take_between(t, s, from, to);
        return;
    }
    give_up(t, s);
}

/* ---- what is remembered ------------------------------------------------------------------ */

/* A line each: leaf, phrase, lost, gone, p, B, E; with tabs between, as no word has one. */
static bool state_read(const struct tracking *t, struct tracked *s)
{
    char head[64];
    struct str all = t->q->state;
    size_t head_len =
            (size_t)snprintf(head, sizeof head, "%016" PRIx64 "\t%u\t", t->q->key, t->number);

    for (size_t at = 0; all.ptr && at < all.len;) {
        const char *end = memchr(all.ptr + at, '\n', all.len - at);
        struct str line = {all.ptr + at, (end ? (size_t)(end - all.ptr) : all.len) - at};
        struct str fields[5];
        size_t n = 0, from = head_len;
        at += line.len + 1;
        if (line.len < head_len || memcmp(line.ptr, head, head_len) != 0)
            continue;
        for (size_t i = head_len; i <= line.len && n < countof(fields); i++)
            if (i == line.len || line.ptr[i] == '\t') {
                fields[n++] = (struct str){line.ptr + from, i - from};
                from = i + 1;
            }
        if (n < countof(fields))
            return false;
        int64_t lost;
        s->lost =
                str_to_int(fields[0], &lost) && lost > 0 && lost < 1000000 ? (unsigned)lost : 0;
        s->gone = str_equal(fields[1], STR("1"));
        s->p = words_of_text(t, fields[2]);
        s->before = words_of_text(t, fields[3]);
        s->behind = words_of_text(t, fields[4]);
        return true;
    }
    return false;
}

static void state_write(const struct tracking *t, const struct tracked *s)
{
    buf_printf(t->state, "%016" PRIx64 "\t%u\t%u\t%d\t%s\t%s\t%s\n", t->q->key, t->number,
            s->lost, s->gone, s->p.text.ptr, s->before.text.ptr, s->behind.text.ptr);
}

/* The first time: the phrase as it was given, in the old version. */
static bool begin(const struct tracking *t, struct tracked *s, int side)
{
    unsigned n = t->q->leaf->occurrence ? t->q->leaf->occurrence : 1;
    int64_t at = find_from(t, side, s->p.all, s->p.count, 0);

    while (at != NONE && --n)
        at = find_from(t, side, s->p.all, s->p.count, (size_t)at + 1);
    if (at == NONE)
        return false;
    box_read(t, side, (size_t)at, s->p.count, s);
    return true;
}

static bool track_one(const struct tracking *t, struct tracked *s)
{
    *s = (struct tracked){.p = {.count = 0}};
    if (state_read(t, s)) {
        follow(t, s);
        return true;
    }
    s->p = words_of_text(t, str_of(t->q->leaf->words[t->number]));
    if (begin(t, s, 0)) {
        follow(t, s);
        return true;
    }
    if (begin(t, s, 1)) {
        add(t, nothing, s->p.text, find_from(t, 1, s->p.all, s->p.count, 0), "phrase appeared");
        return true;
    }
    if (t->a->result != CDG_C)
        answer_unknown(t->a, "the phrase is not in the page");
    return false;
}

/* Where the text is the same and all is well, so will be what is remembered. */
static bool nothing_to_do(const struct question *q, struct answer *a)
{
    const struct page_digest *old = q->old->digest, *new_ = q->new_->digest;
    char head[24];
    size_t head_len = (size_t)snprintf(head, sizeof head, "%016" PRIx64 "\t", q->key), n = 0;
    BUF(lines, STATE_BYTES);

    if (!q->state.ptr || !hash128_equal(old->hash[PAGE_CONTENT], new_->hash[PAGE_CONTENT]) ||
            !hash128_equal(old->hash[PAGE_BLOCKS], new_->hash[PAGE_BLOCKS]))
        return false;
    for (size_t at = 0; at < q->state.len;) {
        const char *line = q->state.ptr + at, *end = memchr(line, '\n', q->state.len - at);
        size_t len = end ? (size_t)(end - line) + 1 : q->state.len - at;
        at += len;
        if (len < head_len || memcmp(line, head, head_len) != 0)
            continue;
        const char *number_end = memchr(line + head_len, '\t', len - head_len);
        if (!number_end || strncmp(number_end, "\t0\t0\t", 5) != 0)
            return false;
        buf_append(&lines, line, len);
        n++;
    }
    if (n != q->leaf->nwords || lines.overflowed)
        return false;
    a->state = (struct str){arena_strndup(q->life, lines.data, lines.len), lines.len};
    return true;
}

void track_compare(const struct question *q, struct answer *a)
{
    if (nothing_to_do(q, a))
        return;
    BUF(state, STATE_BYTES);
    struct word_counts counts = {{NULL, NULL}};
    struct tracking t = {q, a, vocabulary_of(q, /* folded= */ false), &state, 0, &counts};
    bool unknown = false, changed = false;
    const char *why = NULL;

    for (; t.number < q->leaf->nwords; t.number++) { /* each for itself */
        struct tracked s;
        a->result = CDG_N;
        if (track_one(&t, &s))
            state_write(&t, &s);
        changed |= a->result == CDG_C;
        if (a->result == CDG_U) {
            unknown = true;
            why = a->reason;
            a->reason = NULL;
        }
    }
    a->result = changed ? CDG_C : unknown ? CDG_U : CDG_N;
    if (a->result == CDG_U)
        a->reason = why;
    if (state.len && !state.overflowed)
        a->state = (struct str){arena_strndup(q->life, state.data, state.len), state.len};
}

struct str_list track_parts(const struct question *q, const struct cdg_version *version)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "parts");
    struct answer ignored = {.result = CDG_N};
    struct question inner = *q;
    BUF(words, 1 << 26);
    BUF(unused, 1);
    struct tracking t = {&inner, &ignored, vocabulary_of(q, false), &unused, 0, NULL};

    inner.life = scratch;
    for (; t.number < q->leaf->nwords; t.number++) {
        struct tracked s = {.p = {.count = 0}};
        if (version == q->new_) {
            if (!track_one(&t, &s) || s.gone)
                continue;
        } else if (!state_read(&t, &s)) {
            s.p = words_of_text(&t, str_of(q->leaf->words[t.number]));
        }
        buf_printf(&words, "%s%s", words.len ? " " : "", s.p.text.ptr);
    }
    struct str text = {arena_strndup(q->life, buf_text(&words), words.len), words.len}, word;
    struct str_list list = {arena_array_of(q->life, text.len / 2 + 2, struct str), 0};
    for (size_t at = 0; page_word_next(text, &at, &word);)
        list.all[list.count++] = word;
    return list;
}
