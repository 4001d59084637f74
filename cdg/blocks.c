/* The blocks of a pair: which of the old is which of the new, and what lies between.
 *
 * Versions of a page share most of their blocks, and of those that differ most of the text.
 * A gap is a stretch of blocks without a match, less the words both sides begin and end with,
 * so it must hold that
 *  (1) what is not in a gap is the same words in the same order on both sides, and
 *  (2) a gap is cut at spaces, so that no word is.
 * A block of several texts is written out when somebody reads it, which is seldom.
 */
#include "cdg/detect_int.h"

/* What a span of blocks counts. */
#define BLOCKS SPAN_NODES

struct str block_write(const struct blocks *b, bool new_, size_t i)
{
    struct block *k = &b->all[new_][i];
    const struct page_digest *d = b->d[new_];

    char *text = arena_alloc(b->life, k->len + 1), *at = text;
    for (uint32_t t = k->from; t < k->end; t++) {
        struct str s = d->text_of[t];
        memcpy(at, s.ptr, s.len);
        at += s.len;
    }
    *at = 0;
    k->text = text;
    return (struct str){text, k->len};
}

static size_t block_length(const struct page_digest *d, uint32_t from, uint32_t end)
{
    size_t len = 0;

    if (d->texts_in_row) /* less the zero bytes between them */
        return (size_t)(d->text_of[end - 1].ptr - d->text_of[from].ptr) +
               d->text_of[end - 1].len - (end - 1 - from);
    for (uint32_t i = from; i < end; i++)
        len += d->text_of[i].len;
    return len;
}

/* Which texts begin a block, and how many texts there are behind the last of them. */
static size_t starts_fill(const struct page_digest *d, uint32_t *restrict starts)
{
    const uint8_t *begins = d->text_block;
    uint32_t texts = d->texts;
    size_t n = texts > 0;

    starts[0] = 0; /* the first may not say */
    for (uint32_t i = 1; i < texts; i++) {
        starts[n] = i;
        n += begins[i] != 0;
    }
    starts[n] = texts;
    return n;
}

static size_t blocks_fill(const struct page_digest *d, struct arena *life, struct block **ret,
        uint32_t **ret_prints)
{
    uint32_t *starts = arena_alloc(life, ((size_t)d->texts + 2) * sizeof *starts), from = 0;
    size_t n = starts_fill(d, starts);
    struct block *all = arena_alloc(life, (n + 1) * sizeof *all);
    const struct str *text_of = d->text_of;

    for (size_t i = 0; i < n; i++) {
        uint32_t end = starts[i + 1];
        size_t len = end == from + 1 ? text_of[from].len : block_length(d, from, end);
        all[i] = (struct block){from, end, len, end == from + 1 ? text_of[from].ptr : NULL};
        starts[i] = (uint32_t)len; /* which is its print */
        from = end;
    }
    *ret = all;
    *ret_prints = starts;
    return n;
}

/* Most that differ begin or end with other texts, and need not be written out to know it. */
static bool may_be_equal(const struct blocks *b, const struct block *x, const struct block *y)
{
    struct str s = b->d[0]->text_of[x->from], t = b->d[1]->text_of[y->from];
    size_t n = s.len < t.len ? s.len : t.len;

    if (same_front(s.ptr, t.ptr, n) < n)
        return false;
    s = b->d[0]->text_of[x->end - 1];
    t = b->d[1]->text_of[y->end - 1];
    return same_back(s, t) == (s.len < t.len ? s.len : t.len);
}

/* Texts of a block one by one, most of the time cut alike in both. */
static bool blocks_equal(const void *arg, size_t old, size_t new_)
{
    const struct blocks *b = arg;
    const struct block *x = &b->all[0][old], *y = &b->all[1][new_];

    if (x->len != y->len)
        return false;
    if (!may_be_equal(b, x, y))
        return false;
    if (x->end - x->from != y->end - y->from)
        return str_same(block_text(b, false, old), block_text(b, true, new_));
    for (uint32_t i = 0; i < x->end - x->from; i++) {
        struct str s = b->d[0]->text_of[x->from + i], t = b->d[1]->text_of[y->from + i];
        if (s.len != t.len)
            return str_same(block_text(b, false, old), block_text(b, true, new_));
        if (!str_same(s, t))
            return false;
    }
    return true;
}

/* The first block that begins at or behind a text. */
static uint32_t first_block(const struct blocks *b, int side, uint32_t text)
{
    size_t low = 0, high = b->count[side];

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (b->all[side][middle].from < text)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

/* The blocks that lie in spans, as far as they are cut alike. */
static void blocks_span(struct blocks *b, const struct spans *s)
{
    b->spans = arena_alloc(b->life, (s->count + 1) * sizeof *b->spans);
    for (size_t i = 0; i < s->count; i++) {
        const struct span *k = &s->all[i];
        uint32_t n = k->len[SPAN_TEXTS], old = k->at[SPAN_TEXTS][0],
                 new_ = k->at[SPAN_TEXTS][1];
        if (n < 2 || memcmp(b->d[0]->text_block + old, b->d[1]->text_block + new_, n) != 0)
            continue;
        uint32_t x = first_block(b, 0, old), y = first_block(b, 1, new_);
        uint32_t last = first_block(b, 1, new_ + n); /* the one before it may go on behind */
        if (last > y && b->all[1][last - 1].end > new_ + n)
            last--;
        if (last > y && x < b->count[0] &&
                b->all[0][x].from - old == b->all[1][y].from - new_ &&
                b->all[0][x + (last - y) - 1].end - old == b->all[1][last - 1].end - new_)
            b->spans[b->nspans++] =
                    (struct span){.at[BLOCKS] = {x, y}, .len[BLOCKS] = last - y};
    }
}

static size_t blocks_run(const void *arg, size_t old, size_t new_)
{
    const struct blocks *b = arg;
    return span_run(b->spans, b->nspans, BLOCKS, old, new_, blocks_equal, b);
}

/* Where they differ in too many places, only what both begin and end with is matched: a block
 * without a match costs time only. */
static void blocks_match(struct blocks *b)
{
    struct lcs_pair pair = {b->count[0], b->count[1], blocks_equal, b, 0, blocks_run,
            {b->prints[0], b->prints[1]}, {NULL, NULL}, {b->spans, b->nspans, BLOCKS}};

    b->exact = lcs_match_few(&pair, b->match);
    if (b->exact)
        return;
    size_t head = 0, n[2] = {b->count[0], b->count[1]};
    memset(b->match, 0xFF, n[1] * sizeof *b->match);
    for (; head < n[0] && head < n[1] && blocks_equal(b, head, head); head++)
        b->match[head] = (uint32_t)head;
    for (size_t tail = 1; tail <= n[0] - head && tail <= n[1] - head &&
                          blocks_equal(b, n[0] - tail, n[1] - tail);
            tail++)
        b->match[n[1] - tail] = (uint32_t)(n[0] - tail);
}

/* ---- gaps -------------------------------------------------------------------------------- */

size_t text_cut_front(struct str a, struct str b)
{
    size_t n = same_front(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);

    while (n > 0 && a.ptr[n - 1] != ' ') /* (2) */
        n--;
    return n;
}

size_t text_cut_back(struct str a, struct str b)
{
    size_t n = same_back(a, b), at = a.len - n;

    while (at < a.len && a.ptr[at] != ' ')
        at++;
    return a.len - at;
}

static void gap_trim(const struct blocks *b, struct gap *g)
{
    if (g->from[0] == g->end[0] || g->from[1] == g->end[1])
        return;
    struct str old = block_text(b, false, g->from[0]), new_ = block_text(b, true, g->from[1]);
    g->head = text_cut_front(old, new_);
    old = block_text(b, false, g->end[0] - 1);
    new_ = block_text(b, true, g->end[1] - 1);
    if (g->end[0] - g->from[0] == 1)
        old = (struct str){old.ptr + g->head, old.len - g->head};
    if (g->end[1] - g->from[1] == 1)
        new_ = (struct str){new_.ptr + g->head, new_.len - g->head};
    g->tail = text_cut_back(old, new_);
}

static void gap_add(struct blocks *b, size_t old, size_t old_end, size_t new_, size_t new_end)
{
    if (old == old_end && new_ == new_end)
        return;
    struct gap *g = &b->gaps[b->ngaps++];
    *g = (struct gap){.from = {old, new_}, .end = {old_end, new_end}};
    gap_trim(b, g);
}

/* How many rows of blocks are matched one by one: there is at most one gap more. */
static size_t rows_count(const struct blocks *b)
{
    size_t rows = 0;

    for (size_t j = 0; j < b->count[1];) {
        bool matched = b->match[j] != LCS_NONE;
        j += matched ? match_row(b->match + j, b->count[1] - j, b->match[j]) : 1;
        rows += matched;
    }
    return rows;
}

static void gaps_fill(struct blocks *b)
{
    size_t old = 0, new_ = 0;

    b->gaps = arena_alloc(b->life, (rows_count(b) + 1) * sizeof *b->gaps);
    for (size_t j = 0; j < b->count[1];) {
        if (b->match[j] == LCS_NONE) {
            j++;
            continue;
        }
        gap_add(b, old, b->match[j], new_, j);
        size_t n = match_row(b->match + j, b->count[1] - j, b->match[j]);
        old = b->match[j] + n;
        new_ = j += n;
    }
    gap_add(b, old, b->count[0], new_, b->count[1]);
}

const struct blocks *blocks_of(const struct question *q)
{
    struct arena *life = q->cache->life;

    if (q->cache->blocks)
        return q->cache->blocks;
    struct blocks *b = arena_new_of(life, struct blocks);
    b->life = life;
    b->d[0] = q->old->digest;
    b->d[1] = q->new_->digest;
    for (int side = 0; side < 2; side++)
        b->count[side] = blocks_fill(b->d[side], life, &b->all[side], &b->prints[side]);
    b->match = arena_alloc(life, (b->count[1] + 1) * sizeof *b->match);
    blocks_span(b, spans_of(q));
    blocks_match(b);
    gaps_fill(b);
    q->cache->blocks = b;
    return b;
}

/* ---- whole versions ---------------------------------------------------------------------- */

/* Most texts are short, and copying a fixed number of bytes is cheaper. */
enum { COPIED = 32, SPAN_JOINED = 4 };

struct joining {
    const struct page_digest *d;
    char *text;
    size_t *at; /* as in struct joined */
    uint32_t joined, safe;
    size_t bytes;
};

/* Before this text there are as many bytes to read behind where any of them begins. */
static uint32_t far_from_end(const struct page_digest *d)
{
    uint32_t i = d->texts;
    const char *end = i ? d->text_of[i - 1].ptr + d->text_of[i - 1].len : NULL;

    while (i > 0 && end - d->text_of[i - 1].ptr < COPIED)
        i--;
    return i;
}

/* Joins the texts from j->joined on up to `to`. */
static void join_texts(struct joining *j, uint32_t to)
{
    const struct str *text_of = j->d->text_of;
    const uint8_t *begins = j->d->text_block;
    size_t at = j->bytes, *restrict ats = j->at;
    uint32_t safe = j->safe < to ? j->safe : to, i = j->joined;
    char *restrict text = j->text;

    if (i == 0 && to > 0) { /* before it there is no space */
        memcpy(text, text_of[0].ptr, text_of[0].len);
        ats[0] = 0;
        at = text_of[0].len;
        i = 1;
    }
    for (; i < to; i++) {
        const char *from = text_of[i].ptr;
        size_t len = text_of[i].len;
        text[at] = ' ';
        at += begins[i] != 0;
        ats[i] = at;
        if (len <= COPIED && i < safe)
            memcpy(text + at, from, COPIED); /* what is too much is written over */
        else
            memcpy(text + at, from, len);
        at += len;
    }
    j->bytes = at;
    j->joined = to;
}

/* The same for texts of a span but the first, which were joined for the new version. */
static void join_span(struct joining *j, const struct joined *new_, const struct span *k)
{
    uint32_t old = k->at[SPAN_TEXTS][0], twin = k->at[SPAN_TEXTS][1], n = k->len[SPAN_TEXTS];

    join_texts(j, old + 1);
    size_t from = new_->at[twin] + j->d->text_of[old].len;
    size_t end = new_->at[twin + n - 1] + j->d->text_of[old + n - 1].len;
    size_t less = from - j->bytes; /* wraps around where the old one is behind */
    memcpy(j->text + j->bytes, new_->text.ptr + from, end - from);
    for (uint32_t i = 1; i < n; i++)
        j->at[old + i] = new_->at[twin + i] - less;
    j->bytes += end - from;
    j->joined = old + n;
}

static void join_old(struct joining *j, const struct question *q)
{
    const struct spans *s = spans_of(q);
    const struct joined *new_ = joined_of(q, /* new_= */ true);

    for (size_t i = 0; i < s->count; i++) {
        const struct span *k = &s->all[i];
        uint32_t old = k->at[SPAN_TEXTS][0], twin = k->at[SPAN_TEXTS][1],
                 n = k->len[SPAN_TEXTS];
        if (n < SPAN_JOINED || memcmp(q->old->digest->text_block + old + 1,
                                       q->new_->digest->text_block + twin + 1, n - 1) != 0)
            continue;
        join_texts(j, old);
        join_span(j, new_, k);
    }
}

const struct joined *joined_of(const struct question *q, bool new_)
{
    struct arena *life = q->cache->life;
    const struct page_digest *d = (new_ ? q->new_ : q->old)->digest;
    size_t bytes = 0;

    if (q->cache->joined[new_])
        return q->cache->joined[new_];
    struct joined *j = arena_new_of(life, struct joined);
    if (d->texts)
        bytes = block_length(d, 0, d->texts) + d->texts; /* and a space each */
    struct joining to = {.d = d,
            .text = arena_alloc(life, bytes + 1 + COPIED),
            .at = arena_alloc(life, (d->texts + 1) * sizeof *j->at),
            .safe = d->texts_in_row ? far_from_end(d) : 0};
    if (!new_ && q->cache->joined[1])
        join_old(&to, q);
    join_texts(&to, d->texts);
    to.text[to.bytes] = 0;
    j->at = to.at;
    j->text = (struct str){to.text, to.bytes};
    q->cache->joined[new_] = j;
    return j;
}
