/* What stands outside the gaps of a pair: whether, or how often, some words of the gaps do.
 *
 * A page is long and the words that are wanted are few, so text is not cut into words to be
 * looked up.  A word begins where its first bytes stand behind something that is neither letter
 * nor digit of ASCII; only the text between spaces around such a place is cut.  It must hold
 * that
 *  (1) no place is passed where a wanted word begins; and
 *  (2) folding is thought of: what is not ASCII may fold to it, and a letter may be one with
 *      the accent that follows.
 */
#include "base/bytes16.h"
#include "cdg/detect_int.h"

enum { HEADS = 8 };

/* How wanted words begin: the byte, and the next one unless it may be any. */
struct head {
    bytes16 first, second, any; /* each sixteen times */
};

struct search {
    struct vocabulary *v;
    bool folded, counted;
    struct vocabulary_word **words; /* that are wanted and not found yet */
    size_t left;
    uint32_t begin_with[256]; /* how many of them begin with a byte, as it may be written */
    size_t letters;           /* how many first bytes they have */
    size_t heads_letters;     /* the same when the heads were filled */
    struct head heads[HEADS];
    size_t nheads; /* 0: there would be too many, each byte is looked at */
    struct buf fold;
};

static unsigned char byte_of(const struct vocabulary_word *w, size_t i)
{
    return (unsigned char)(i < w->text.len ? w->text.ptr[i] : 0);
}

/* Counts a word, n being 1 or -1, for what it may begin with. */
static void count_begin(struct search *s, const struct vocabulary_word *w, uint32_t n)
{
    unsigned char c = byte_of(w, 0);

    s->letters -= s->begin_with[c] != 0;
    s->begin_with[c] += n;
    s->letters += s->begin_with[c] != 0;
    if (s->folded && c >= 'a' && c <= 'z')
        s->begin_with[c - 0x20] += n;
}

static bytes16 sixteen(unsigned c)
{
    return (bytes16){0} + (unsigned char)c;
}

static bool head_add(struct search *s, unsigned char first, unsigned char second, bool any)
{
    for (size_t i = 0; i < s->nheads; i++) {
        const struct head *h = &s->heads[i];
        if (h->first[0] == first && (h->any[0] || (!any && h->second[0] == second)))
            return true;
    }
    if (s->nheads == HEADS)
        return false;
    s->heads[s->nheads++] =
            (struct head){sixteen(first), sixteen(second), sixteen(any ? 0xFF : 0)};
    return true;
}

/* By two bytes, or by one. */
static bool heads_try(struct search *s, bool by_two)
{
    s->nheads = 0;
    for (size_t i = 0; i < s->left; i++) {
        const struct vocabulary_word *w = s->words[i];
        unsigned char first = byte_of(w, 0), second = byte_of(w, 1);
        bool any = !by_two || w->text.len < 2;
        if (s->folded && first >= 0x80) /* (2) */
            return false;
        if (s->folded) {
            any |= second >= 0x80; /* (2) */
            first |= 0x20;
            second |= 0x20;
        }
        if (!head_add(s, first, any ? 0 : second, any))
            return false;
    }
    return true;
}

static void heads_fill(struct search *s)
{
    s->heads_letters = s->letters;
    if (s->letters > HEADS)
        s->nheads = 0;
    else if (!heads_try(s, /* by_two= */ true) && !heads_try(s, /* by_two= */ false))
        s->nheads = 0;
}

static void search_init(struct search *s, struct arena *life)
{
    s->words = arena_alloc(life, (s->v->count + 1) * sizeof(struct vocabulary_word *));
    for (size_t i = 0; i < s->v->count; i++) {
        struct vocabulary_word *w = s->v->all[i];
        if (!w->wanted)
            continue;
        s->words[s->left++] = w;
        count_begin(s, w, 1);
        if (s->folded && byte_of(w, 0) >= 0x80) /* (2) */
            for (unsigned c = 0; c < 256; c++)
                s->begin_with[c]++;
    }
    for (unsigned c = 0xC0; s->folded && c < 256; c++)
        s->begin_with[c]++; /* (2) */
    heads_fill(s);
}

static void word_found(struct search *s, struct vocabulary_word *w)
{
    size_t i = 0;

    w->rest++;
    if (s->counted)
        return;
    w->wanted = false; /* that it is there is enough */
    while (s->words[i] != w)
        i++;
    s->words[i] = s->words[--s->left];
    count_begin(s, w, UINT32_MAX);
    if (2 * s->letters <= s->heads_letters || (s->nheads == 0 && s->letters == HEADS))
        heads_fill(s); /* fewer are worth it */
}

static void search_run(struct search *s, struct str run)
{
    struct str word;

    for (size_t at = 0; page_word_next(run, &at, &word);) {
        if (s->folded) {
            buf_clear(&s->fold);
            if (page_word_fold(word, &s->fold))
                word = (struct str){s->fold.data, s->fold.len};
        }
        struct vocabulary_word *w = vocabulary_find(s->v, word);
        if (w && w->wanted)
            word_found(s, w);
    }
}

/* ---- where words begin ------------------------------------------------------------------- */

static bytes16 is_alnum(bytes16 x)
{
    bytes16 letter = (x | 0x20) - 'a', digit = x - '0';
    return (bytes16)(letter <= 'z' - 'a') | (bytes16)(digit <= 9);
}

/* Which of sixteen bytes have what a wanted word begins with. */
static bytes16 may_begin(const struct search *s, const char *p)
{
    bytes16 x = bytes16_at(p), next = bytes16_at(p + 1), may = {0};
    bytes16 more = {0};

    if (s->folded) { /* (2) */
        may = (bytes16)(x >= 0xC0);
        more = (bytes16)(next >= 0x80);
        x |= 0x20;
        next |= 0x20;
    }
    for (size_t i = 0; i < s->nheads; i++) {
        const struct head *h = &s->heads[i];
        may |= (bytes16)(x == h->first) & ((bytes16)(next == h->second) | h->any | more);
    }
    return may;
}

static bool begins_at(const struct search *s, const char *p, const char *text)
{
    unsigned char before = (unsigned char)(p > text ? p[-1] : ' ');
    unsigned letter = (before | 0x20u) - 'a', digit = before - '0';

    return s->begin_with[(unsigned char)*p] && letter > 'z' - 'a' && digit > 9;
}

/* The next place at or behind p where a wanted word may begin; `end`: there is none. */
static const char *next_begin(
        const struct search *s, const char *p, const char *text, const char *end)
{
    if (p == text && p < end && !begins_at(s, p, text))
        p++;
    while (p > text && s->nheads && end - p > 16) {
        bytes16 may = may_begin(s, p);
        unsigned at = bytes16_first(may);
        if (at < 16)
            at = bytes16_first(may & ~is_alnum(bytes16_at(p - 1)));
        p += at;
        if (at < 16)
            return p;
    }
    while (p < end && !begins_at(s, p, text))
        p++;
    return p;
}

static void search_text(struct search *s, struct str text)
{
    const char *p = text.ptr, *end = text.ptr + text.len;

    while (s->left && (p = next_begin(s, p, text.ptr, end)) < end) { /* (1) */
        const char *from = p, *space = memchr(p, ' ', (size_t)(end - p));
        while (from > text.ptr && from[-1] != ' ')
            from--;
        const char *to = space ? space : end;
        search_run(s, (struct str){from, (size_t)(to - from)});
        p = space ? space + 1 : end;
    }
}

/* Where a block of the new version begins, and where it ends, in the joined text. */
static size_t block_at(const struct blocks *b, const struct joined *j, size_t i)
{
    return i < b->count[1] ? j->at[b->all[1][i].from] : j->text.len;
}

static void search_between_gaps(
        struct search *s, const struct blocks *b, const struct joined *j)
{
    size_t from = 0;

    for (size_t i = 0; i < b->ngaps && s->left; i++) {
        const struct gap *g = &b->gaps[i];
        if (g->from[1] == g->end[1])
            continue;
        size_t to = block_at(b, j, g->from[1]) + g->head;
        search_text(s, (struct str){j->text.ptr + from, to - from});
        from = block_at(b, j, g->end[1] - 1) + b->all[1][g->end[1] - 1].len - g->tail;
    }
    search_text(s, (struct str){j->text.ptr + from, j->text.len - from});
}

void vocabulary_settle(const struct question *q, bool folded, bool counted)
{
    struct search s = {
            .v = vocabulary_changed(q, folded), .folded = folded, .counted = counted};

    for (size_t i = 0; i < s.v->count; i++) {
        struct vocabulary_word *w = s.v->all[i];
        enum vocabulary_rest known = counted ? REST_COUNTED : REST_SEEN;
        w->wanted = w->wanted && w->rest_known < known;
        if (w->wanted) {
            w->rest = 0;
            w->rest_known = (uint8_t)known;
        }
    }
    buf_init(&s.fold, 1 << 26);
    search_init(&s, q->life);
    if (s.left)
        search_between_gaps(&s, blocks_of(q), joined_of(q, /* new_= */ true));
    for (size_t i = 0; i < s.v->count; i++)
        s.v->all[i]->wanted = false;
    buf_done(&s.fold);
}
