/* The words of where two versions differ.
 *
 * What both versions have as often need not be counted to be known not to differ, so the
 * table of what changed holds the words of gaps (blocks.c) and nothing else.  It must hold
 * that
 *  (1) a word that is not in it occurs as often in both versions;
 *  (2) whether and how often a word occurs outside the gaps is looked up only for words that
 *      somebody wants to know it of, and once for all who do; and
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

/* ---- what stands outside the gaps -------------------------------------------------------- */

/* How the first byte of a word tells whether it may be one that is wanted. */
enum first { FIRST_SKIPPED, FIRST_OTHER, FIRST_WANTED, FIRST_HIGH, FIRST_SPACE };

/* Sixteen bytes at once, on whatever machine. */
typedef unsigned char bytes16 __attribute__((vector_size(16)));

struct search {
    struct vocabulary *v;
    bool folded, counted;
    uint8_t first[256];   /* enum first */
    uint32_t wanted[256]; /* how many begin with it and are not found yet */
    size_t left;          /* the same, all of them */
    bytes16 letters[8];   /* which of them these are, sixteen times each */
    size_t nletters;      /* more than there is room for: every word is looked at */
    struct buf fold;
};

static unsigned char first_of(const struct vocabulary_word *w)
{
    return (unsigned char)(w->text.len ? w->text.ptr[0] : 0);
}

static void set_first(struct search *s, unsigned char c, enum first first)
{
    if (c >= 0x80)
        return; /* all of those are looked at */
    s->first[c] = first;
    if (s->folded && c >= 'a' && c <= 'z')
        s->first[c - 0x20] = first;
}

static void letters_fill(struct search *s)
{
    s->nletters = 0;
    for (unsigned c = 0; c < 0x80; c++)
        if (s->wanted[c] && s->nletters++ < countof(s->letters))
            s->letters[s->nletters - 1] = (bytes16){0} + (unsigned char)c;
}

static void search_init(struct search *s)
{
    for (unsigned c = 0; c < 256; c++) {
        bool word =
                (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
        s->first[c] = c >= 0x80  ? FIRST_HIGH
                      : c <= ' ' ? FIRST_SPACE
                      : word     ? FIRST_OTHER
                                 : FIRST_SKIPPED;
    }
    for (size_t i = 0; i < s->v->count; i++) {
        const struct vocabulary_word *w = s->v->all[i];
        if (!w->wanted)
            continue;
        s->wanted[first_of(w)]++;
        s->left++;
        set_first(s, first_of(w), FIRST_WANTED);
    }
    letters_fill(s);
}

static void word_found(struct search *s, struct vocabulary_word *w)
{
    w->rest++;
    if (s->counted)
        return;
    w->wanted = false; /* that it is there is enough */
    s->left--;
    if (--s->wanted[first_of(w)] == 0) {
        set_first(s, first_of(w), FIRST_OTHER);
        letters_fill(s);
    }
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

/* Whether a byte inside a word cannot be, or begin, a space: ASCII, and the two bytes of
 * U+00C0 to U+07FF. */
static bool is_inside(unsigned char c)
{
    return c > ' ' && c < 0xE0 && c != 0xC2;
}

static bytes16 sixteen_bytes(const char *p)
{
    bytes16 x;
    memcpy(&x, p, sizeof x);
    return x;
}

/* The first byte that is not zero; 16: all are. */
static unsigned first_set(bytes16 x)
{
    uint64_t half[2];
    memcpy(half, &x, sizeof half);
    if ((half[0] | half[1]) == 0)
        return 16;
    bool second = half[0] == 0;
    unsigned bit = (unsigned)(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
                                      ? __builtin_ctzll(half[second])
                                      : __builtin_clzll(half[second]));
    return 8 * second + bit / 8;
}

/* Which bytes are neither letter nor digit of ASCII, or what a wanted word begins with. */
static bytes16 may_begin(const struct search *s, bytes16 x)
{
    bytes16 lower = x | 0x20, compared = s->folded ? lower : x;
    bytes16 may = (bytes16)(lower - 'a' > 'z' - 'a') & (bytes16)(x - '0' > '9' - '0');

    for (size_t i = 0; i < s->nletters; i++)
        may |= (bytes16)(compared == s->letters[i]);
    return may;
}

/* Where the next text between spaces begins that may be, or contain, a wanted word.  `p` begins
 * one itself. */
static const char *next_run(const struct search *s, const char *p, const char *end)
{
    const char *begin = p;

    if (s->nletters > countof(s->letters) || p == end || *p == ' ')
        return p;
    if (s->first[(unsigned char)*p] != FIRST_OTHER)
        return p;
    for (p++; end - p >= 16; p += 16) {
        bytes16 x = sixteen_bytes(p), before = sixteen_bytes(p - 1);
        bytes16 stops = (bytes16)(x >= 0xE0) | (bytes16)(x == 0xC2) | (bytes16)(x < ' ');
        unsigned hit = first_set(stops | ((bytes16)(before == ' ') & may_begin(s, x)));
        if (hit < 16) {
            p += hit;
            break;
        }
    }
    while (p > begin && p[-1] != ' ') /* back to where it begins */
        p--;
    return p;
}

/* Text between spaces is one word unless it has bytes that may be other spaces, so most of it
 * need not be cut: the first letter says that it is nobody's. */
static void search_text(struct search *s, struct str text)
{
    const char *p = text.ptr, *end = text.ptr + text.len;

    while (p < end && s->left) {
        const char *from = p = next_run(s, p, end);
        while (p < end && s->first[(unsigned char)*p] == FIRST_SKIPPED)
            p++;
        if (p == end)
            return;
        enum first first = s->first[(unsigned char)*p];
        if (first == FIRST_OTHER)
            while (p < end && is_inside((unsigned char)*p))
                p++;
        if (first == FIRST_WANTED || first == FIRST_HIGH || (p < end && *p != ' ')) {
            const char *space = memchr(p, ' ', (size_t)(end - p));
            p = space ? space : end;
            search_run(s, (struct str){from, (size_t)(p - from)});
        }
        if (p < end)
            p++;
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

    for (size_t i = 0; i < s.v->count; i++) { /* (2) */
        struct vocabulary_word *w = s.v->all[i];
        enum vocabulary_rest known = counted ? REST_COUNTED : REST_SEEN;
        w->wanted = w->wanted && w->rest_known < known;
        if (w->wanted) {
            w->rest = 0;
            w->rest_known = (uint8_t)known;
        }
    }
    buf_init(&s.fold, 1 << 26);
    search_init(&s);
    if (s.left)
        search_between_gaps(&s, blocks_of(q), joined_of(q, /* new_= */ true));
    for (size_t i = 0; i < s.v->count; i++)
        s.v->all[i]->wanted = false;
    buf_done(&s.fold);
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
            vocabulary_add(&r->f, 0, word);
            vocabulary_add(&r->f, 1, word);
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
