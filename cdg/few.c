/* Longest common subsequences of sequences that hardly differ, which versions of a page are.
 *
 * Myers' greedy algorithm, from the end to the beginning: reached[d][k] is how near to the
 * beginning one comes on diagonal k (place in a minus place in b) when d items are left
 * over.  It costs the length and the square of the differences, and compares items
 * themselves, so nobody has to number them first.  It must hold that
 *  (1) the result is the one lcs.c's table gives: of several longest matches the one with the
 *      smallest positions in b.  So b is walked from its beginning, and an item is matched
 *      with the first equal one of a whenever what remains can still be had for the
 *      differences that remain; and
 *  (2) sequences that differ in more than FEW places are left to others.
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

static void walk(const struct greedy *g, int64_t left, uint32_t *match)
{
    const struct lcs_pair *p = g->p;
    size_t a = 0;

    for (size_t b = 0; b < p->nb; b++) { /* (1) */
        size_t known = passed(g, a, b, left);
        if (known) {
            for (size_t n = 0; n < known; n++)
                match[b + n] = (uint32_t)(a + n);
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

bool lcs_match_few(const struct lcs_pair *p, uint32_t *ret_match)
{
    struct greedy g;
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
