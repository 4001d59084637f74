/* Longest common subsequences of sequences that hardly differ, which versions of a page are.
 *
 * Myers' greedy algorithm, from the end to the beginning: reached[d][k] is how near to the
 * beginning one comes on diagonal k (place in a minus place in b) when d items are left
 * over.  It costs the length and the square of the differences, and compares items
 * themselves, so nobody has to number them first.  It must hold that
 *  (1) the result is the one lcs.c's table gives: of several longest matches the one with the
 *      smallest positions in b.  So b is walked from its beginning, and an item is matched
 *      with the first equal one of a whenever what remains can still be had for the
 *      differences that remain;
 *  (2) sequences that differ in more than FEW places are left to others; and
 *  (3) items without an equal one on the other side are left out before, where that is less
 *      work: they are never matched, and most differences are such items.
 */
#include "cdg/detect_int.h"

enum { FEW = 1500, ROWS_FIRST = 16 * 1024 };
#define UNREACHED INT64_MAX

struct greedy {
    const struct lcs_pair *p;
    struct buf rows; /* int32_t; row d begins at d * d, as the rows before have odd lengths */
};

static int32_t *row_of(const struct greedy *g, int64_t d)
{
    return (int32_t *)(void *)g->rows.data + d * d + d; /* indexed from -d to d */
}

static int64_t slide(const struct lcs_pair *p, int64_t a, int64_t b)
{
    if (p->run && a > 0 && b > 0)
        return a - (int64_t)p->run(p->arg, (size_t)a, (size_t)b);
    while (a > 0 && b > 0 && p->equal(p->arg, (size_t)a - 1, (size_t)b - 1)) {
        a--;
        b--;
    }
    return a;
}

/* False: it would not get anywhere. */
static bool may_slide(const struct lcs_pair *p, int64_t a, int64_t b)
{
    if (a == 0 || b == 0)
        return false;
    if (p->prints[0])
        return p->prints[0][a - 1] == p->prints[1][b - 1];
    return !p->texts[0] || p->texts[0][a - 1].len == p->texts[1][b - 1].len;
}

static int64_t ends_of(const struct greedy *g)
{
    return (int64_t)g->p->na - (int64_t)g->p->nb;
}

/* Where on diagonal k one stands with d items left over, before equal ones are passed.
 * Diagonals are counted from the one of the two ends. */
static int64_t start_of(const struct greedy *g, int64_t d, int64_t k)
{
    const int32_t *before = d ? row_of(g, d - 1) : NULL;
    int64_t best = UNREACHED;

    if (d == 0)
        return (int64_t)g->p->na;
    if (k + 1 <= d - 1 && before[k + 1] > 0) /* one of a left over */
        best = before[k + 1] - 1;
    if (k - 1 >= -(d - 1) && before[k - 1] >= 0) { /* one of b */
        int64_t a = before[k - 1];
        if (a - (k + ends_of(g)) >= 0 && a < best)
            best = a;
    }
    return best;
}

/* One row from the one before; true: the beginning was reached.  As start_of() says for
 * every other k, without asking at each whether there is a neighbour. */
static bool next_row(const struct greedy *g, int64_t d)
{
    const int32_t *before = row_of(g, d - 1);
    int64_t ends = ends_of(g);
    int32_t *row = row_of(g, d); /* every other one of it is used */

    for (int64_t k = -d; k <= d; k += 2) {
        int64_t a = k < d - 1 && before[k + 1] > 0 ? before[k + 1] - 1 : INT32_MAX;
        if (k > 1 - d && before[k - 1] >= k + ends && before[k - 1] >= 0 && before[k - 1] < a)
            a = before[k - 1];
        if (a == INT32_MAX) {
            row[k] = -1;
            continue;
        }
        if (may_slide(g->p, a, a - (k + ends)))
            a = slide(g->p, a, a - (k + ends));
        row[k] = (int32_t)a;
        if (a != 0 || k != -ends)
            continue;
        for (k += 2; k <= d; k += 2)
            row[k] = -1;
        return true;
    }
    return false;
}

/* How many items are left over in all; -1: more than FEW, or than anybody wants to know. */
static int64_t differences(struct greedy *g)
{
    int64_t most = g->p->most && g->p->most < FEW ? (int64_t)g->p->most : FEW;
    int64_t na = (int64_t)g->p->na, nb = (int64_t)g->p->nb;

    if (!buf_reserve(&g->rows, na * nb > ROWS_FIRST ? ROWS_FIRST : sizeof(int32_t)))
        return -1;
    row_of(g, 0)[0] = (int32_t)slide(g->p, na, nb);
    if (row_of(g, 0)[0] == 0 && na == nb)
        return 0;
    for (int64_t d = 1; d <= most; d++) {
        if (!buf_reserve(&g->rows, (size_t)(d + 1) * (size_t)(d + 1) * sizeof(int32_t)))
            return -1;
        if (next_row(g, d))
            return d;
    }
    return -1;
}

/* Whether what follows (a, b) can be had with `left` items left over. */
static bool suffices(const struct greedy *g, int64_t a, int64_t b, int64_t left)
{
    int64_t k = a - b - ends_of(g);

    if ((left - k) % 2 != 0)
        left--;
    if (left < 0 || k > left || k < -left)
        return false;
    int32_t reached = row_of(g, left)[k];
    return reached >= 0 && a >= reached;
}

/* How many items from (a, b) on are known to be equal: those passed on the way here. */
static size_t passed(const struct greedy *g, size_t a, size_t b, int64_t left)
{
    int64_t k = (int64_t)a - (int64_t)b - ends_of(g);

    if ((left - k) % 2 != 0 || k > left || k < -left)
        return 0;
    int64_t reached = row_of(g, left)[k];
    if (reached < 0 || reached > (int64_t)a)
        return 0;
    int64_t start = start_of(g, left, k);
    return start == UNREACHED || start <= (int64_t)a ? 0 : (size_t)start - a;
}

static void match_fill(uint32_t *restrict match, uint32_t from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) /* a plain loop, which the compiler makes a wide one of */
        match[i] = from + i;
}

static void walk(const struct greedy *g, int64_t left, uint32_t *match)
{
    const struct lcs_pair *p = g->p;
    size_t a = 0;

    for (size_t b = 0; b < p->nb; b++) { /* (1) */
        size_t known = passed(g, a, b, left);
        if (known) {
            match_fill(match + b, (uint32_t)a, (uint32_t)known);
            a += known;
            b += known - 1;
            continue;
        }
        size_t i = a;
        while (i < p->na && (int64_t)(i - a) <= left && !p->equal(p->arg, i, b))
            i++;
        int64_t rest = left - (int64_t)(i - a);
        if (i < p->na && rest >= 0 && suffices(g, (int64_t)i + 1, (int64_t)b + 1, rest)) {
            match[b] = (uint32_t)i;
            left = rest;
            a = i + 1;
        } else {
            match[b] = LCS_NONE;
            left--;
        }
    }
}

/* Reads the differences; -1: too many.  The caller gives the rows back. */
static int64_t greedy_init(struct greedy *g, const struct lcs_pair *p)
{
    size_t apart = p->na > p->nb ? p->na - p->nb : p->nb - p->na;

    *g = (struct greedy){.p = p};
    buf_init(&g->rows, (size_t)(FEW + 1) * (FEW + 1) * sizeof(int32_t));
    if (apart > FEW || p->na > INT32_MAX || p->nb > INT32_MAX) /* (2) */
        return -1;
    return differences(g);
}

/* ---- (3) --------------------------------------------------------------------------------- */

enum { APART_SLOTS = 256 };

/* The items of both that stand in no span, by their prints. */
struct apart {
    uint16_t first[APART_SLOTS]; /* + 1 */
    uint16_t next[FEW];          /* the same */
    uint32_t print[FEW], item[FEW];
    bool of_b[FEW], meets[FEW]; /* it has an equal one */
    size_t count;
    size_t work, most; /* comparisons: more are not worth it */
};

/* What is left of a pair. */
struct kept {
    const struct lcs_pair *p;
    uint32_t *item[2];
    size_t count[2];
    struct span *spans; /* the same, where they stand now; they call the items nodes */
};

static uint32_t print_of(const struct lcs_pair *p, bool of_b, size_t i)
{
    return p->prints[of_b] ? p->prints[of_b][i] : (uint32_t)p->texts[of_b][i].len;
}

static void apart_add(struct apart *s, const struct lcs_pair *p, bool of_b, size_t i)
{
    uint32_t print = print_of(p, of_b, i);
    uint16_t *first = &s->first[print % APART_SLOTS];

    s->print[s->count] = print;
    s->item[s->count] = (uint32_t)i;
    s->of_b[s->count] = of_b;
    s->meets[s->count] = false;
    s->next[s->count] = *first;
    *first = (uint16_t)++s->count;
}

static void apart_fill(struct apart *s, const struct lcs_pair *p, bool of_b)
{
    size_t i = 0;

    for (size_t n = 0; n < p->spans.count; n++) {
        const struct span *k = &p->spans.all[n];
        for (; i < k->at[p->spans.of][of_b]; i++)
            apart_add(s, p, of_b, i);
        i += k->len[p->spans.of];
    }
    for (; i < (of_b ? p->nb : p->na); i++)
        apart_add(s, p, of_b, i);
}

/* Who of them is equal to an item in a span, which stands at a and b, is not looked for again:
 * who is equal to him is equal to that item too. */
static inline void meet(
        struct apart *s, const struct lcs_pair *p, size_t a, size_t b, uint32_t print)
{
    uint16_t *link = &s->first[print % APART_SLOTS];

    while (*link && s->work <= s->most) {
        size_t i = *link - 1u;
        s->work++;
        if (s->print[i] == print && (s->of_b[i] ? p->equal(p->arg, a, s->item[i])
                                                : p->equal(p->arg, s->item[i], b))) {
            s->meets[i] = true;
            *link = s->next[i];
        } else {
            link = &s->next[i];
        }
    }
}

static void meet_each_other(struct apart *s, const struct lcs_pair *p)
{
    for (size_t j = s->count; j-- > 0 && s->of_b[j];)
        for (uint16_t n = s->first[s->print[j] % APART_SLOTS]; n; n = s->next[n - 1]) {
            size_t i = n - 1u;
            if (!s->of_b[i] && s->print[i] == s->print[j] && !(s->meets[i] && s->meets[j]) &&
                    p->equal(p->arg, s->item[i], s->item[j]))
                s->meets[i] = s->meets[j] = true;
        }
}

/* Made once for prints and once for texts, the other being NULL: most are nobody's. */
static inline void meet_rows(struct apart *s, const struct lcs_pair *p, const uint32_t *prints,
        const struct str *texts)
{
    enum span_of of = p->spans.of;

    for (size_t n = 0; n < p->spans.count; n++) {
        const struct span *k = &p->spans.all[n];
        size_t a = k->at[of][0], b = k->at[of][1], len = k->len[of];
        for (size_t i = 0; i < len; i++) {
            uint32_t print = prints ? prints[b + i] : (uint32_t)texts[b + i].len;
            if (s->first[print % APART_SLOTS])
                meet(s, p, a + i, b + i, print);
        }
    }
}

/* False: too many look alike, such as numbers of one length. */
static bool apart_meet(struct apart *s, const struct lcs_pair *p)
{
    if (p->prints[1])
        meet_rows(s, p, p->prints[1], NULL);
    else
        meet_rows(s, p, NULL, p->texts[1]);
    if (s->work <= s->most)
        meet_each_other(s, p);
    return s->work <= s->most;
}

static void keep_row(struct kept *k, bool of_b, uint32_t from, uint32_t n)
{
    match_fill(k->item[of_b] + k->count[of_b], from, n);
    k->count[of_b] += n;
}

static void keep(struct kept *k, const struct apart *s, bool of_b)
{
    const struct lcs_spans *spans = &k->p->spans;
    size_t i = 0;

    while (i < s->count && s->of_b[i] != of_b)
        i++;
    for (size_t n = 0; n <= spans->count; n++) {
        const struct span *row = n < spans->count ? &spans->all[n] : NULL;
        for (; i < s->count && s->of_b[i] == of_b &&
                (!row || s->item[i] < row->at[spans->of][of_b]);
                i++)
            if (s->meets[i])
                keep_row(k, of_b, s->item[i], 1);
        if (!row)
            break;
        k->spans[n].at[SPAN_NODES][of_b] = (uint32_t)k->count[of_b];
        k->spans[n].len[SPAN_NODES] = row->len[spans->of];
        keep_row(k, of_b, row->at[spans->of][of_b], row->len[spans->of]);
    }
}

static bool kept_equal(const void *arg, size_t a, size_t b)
{
    const struct kept *k = arg;
    return k->p->equal(k->p->arg, k->item[0][a], k->item[1][b]);
}

static size_t kept_run(const void *arg, size_t a, size_t b)
{
    const struct kept *k = arg;
    return span_run(k->spans, k->p->spans.count, SPAN_NODES, a, b, kept_equal, k);
}

/* Whether leaving out is less work than the square of the differences, which are known to be
 * few: what is in spans is common. */
static bool is_worth_leaving_out(const struct lcs_pair *p)
{
    size_t left = p->na + p->nb;

    for (size_t n = 0; n < p->spans.count; n++)
        left -= 2 * (size_t)p->spans.all[n].len[p->spans.of];
    return p->spans.count && left <= FEW && (!p->most || left <= p->most) && /* (2) */
           left * left > p->na + p->nb;
}

/* Where nothing else is left. */
static void match_spans(const struct lcs_pair *p, uint32_t *match)
{
    size_t j = 0;

    for (size_t n = 0; n < p->spans.count; n++) {
        const struct span *k = &p->spans.all[n];
        uint32_t a = k->at[p->spans.of][0], b = k->at[p->spans.of][1],
                 len = k->len[p->spans.of];
        for (; j < b; j++)
            match[j] = LCS_NONE;
        match_fill(match + b, a, len);
        j += len;
    }
    for (; j < p->nb; j++)
        match[j] = LCS_NONE;
}

/* Whether a span is matched with itself: its ends are, so all of it is, or more could be. */
static bool is_whole(const struct span *k, const uint32_t *found)
{
    uint32_t a = k->at[SPAN_NODES][0], b = k->at[SPAN_NODES][1], n = k->len[SPAN_NODES];

    return n && found[b] == a && found[b + n - 1] == a + n - 1;
}

/* The match of what was kept as one of all; what was left out is told already. */
static void kept_tell(const struct kept *k, const uint32_t *found, uint32_t *match)
{
    size_t n = 0;

    for (size_t j = 0; j < k->count[1];) {
        const struct span *row = n < k->p->spans.count ? &k->spans[n] : NULL;
        if (row && row->at[SPAN_NODES][1] <= j) {
            n++;
            if (is_whole(row, found)) {
                uint32_t a = k->item[0][row->at[SPAN_NODES][0]], b = k->item[1][j],
                         len = row->len[SPAN_NODES];
                match_fill(match + b, a, len);
                j += len;
            }
            continue;
        }
        match[k->item[1][j]] = found[j] == LCS_NONE ? LCS_NONE : k->item[0][found[j]];
        j++;
    }
}

/* False: leaving out takes too long itself. */
static bool match_kept(const struct lcs_pair *p, uint32_t *match)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "few");
    struct apart *s = arena_alloc(scratch, sizeof *s);
    struct kept k = {.p = p,
            .item = {arena_alloc(scratch, (p->na + 1) * sizeof(uint32_t)),
                    arena_alloc(scratch, (p->nb + 1) * sizeof(uint32_t))},
            .spans = arena_alloc(scratch, (p->spans.count + 1) * sizeof(struct span))};

    memset(s->first, 0, sizeof s->first);
    s->count = s->work = 0;
    apart_fill(s, p, false);
    apart_fill(s, p, true);
    s->most = s->count * s->count + p->na + p->nb; /* about what is to be saved */
    if (!apart_meet(s, p))
        return false;
    if (!memchr(s->meets, true, s->count)) {
        match_spans(p, match);
        return true;
    }
    keep(&k, s, false);
    keep(&k, s, true);
    uint32_t *found = arena_alloc(scratch, (k.count[1] + 1) * sizeof *found);
    struct lcs_pair less = {k.count[0], k.count[1], kept_equal, &k, 0, kept_run};
    if (!lcs_match_few(&less, found))
        return false;
    for (size_t i = 0; i < s->count; i++)
        if (s->of_b[i])
            match[s->item[i]] = LCS_NONE;
    kept_tell(&k, found, match);
    return true;
}

/* ---- both -------------------------------------------------------------------------------- */

bool lcs_match_few(const struct lcs_pair *p, uint32_t *ret_match)
{
    struct greedy g;

    if (is_worth_leaving_out(p) && match_kept(p, ret_match))
        return true;
    int64_t left = greedy_init(&g, p);

    if (left >= 0)
        walk(&g, left, ret_match);
    buf_done(&g.rows);
    return left >= 0;
}

bool lcs_length_few(const struct lcs_pair *p, size_t *ret_length)
{
    struct greedy g;
    int64_t left = greedy_init(&g, p);

    buf_done(&g.rows);
    if (left >= 0)
        *ret_length = (p->na + p->nb - (size_t)left) / 2;
    return left >= 0;
}
