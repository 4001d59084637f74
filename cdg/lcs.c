/* Longest common subsequences of symbols.
 *
 * Of several longest ones the one with the smallest positions in the new sequence is taken,
 * so that a result does not depend on how it was computed.  The table that gives it grows
 * with the product of the lengths, so sequences that hardly differ go another way (few.c) to
 * the same result; above CELLS_MAX the sequences are first cut at landmarks
 * (symbols that occur once on either side, in the same order), and a piece that is still
 * too large is left unmatched: a correct difference, though not the smallest.
 */
#include "cdg/detect_int.h"

enum { CELLS_MAX = 6 * 1000 * 1000, SMALL = 1000 };

struct piece {
    const uint32_t *a, *b;
    size_t na, nb;
    uint32_t from_a, from_b; /* where it stands in the whole */
};

static bool fits(size_t na, size_t nb)
{
    size_t less = na < nb ? na : nb;
    return less < UINT16_MAX && (na + 1) <= CELLS_MAX / (nb + 1);
}

/* table[i * (nb + 1) + j]: how long a common subsequence of a[i..] and b[j..] can be. */
static uint16_t *table_new(const struct piece *p, struct arena *scratch)
{
    size_t width = p->nb + 1;
    uint16_t *t = arena_array_of(scratch, (p->na + 1) * width, uint16_t);

    for (size_t i = p->na; i-- > 0;)
        for (size_t j = p->nb; j-- > 0;) {
            uint16_t down = t[(i + 1) * width + j], right = t[i * width + j + 1];
            t[i * width + j] = p->a[i] == p->b[j] ? (uint16_t)(t[(i + 1) * width + j + 1] + 1)
                               : down > right     ? down
                                                  : right;
        }
    return t;
}

static void match_exactly(const struct piece *p, uint32_t *match)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "lcs");
    const uint16_t *t = table_new(p, scratch);
    size_t width = p->nb + 1, i = 0;
    unsigned left = t[0];

    for (size_t j = 0; j < p->nb && left; j++) {
        size_t k = i;
        while (k < p->na && p->a[k] != p->b[j])
            k++;
        if (k == p->na || t[(k + 1) * width + j + 1] + 1u != left)
            continue;
        match[p->from_b + j] = p->from_a + (uint32_t)k;
        i = k + 1;
        left--;
    }
}

static struct piece piece_of(const struct piece *p, size_t a, size_t na, size_t b, size_t nb)
{
    return (struct piece){
            p->a + a, p->b + b, na, nb, p->from_a + (uint32_t)a, p->from_b + (uint32_t)b};
}

/* ---- landmarks --------------------------------------------------------------------------- */

struct landmark {
    uint32_t a, b;
    uint32_t before; /* the landmark before it in the longest ascending row */
};

static uint32_t symbols_end(const uint32_t *s, size_t n, uint32_t end)
{
    for (size_t i = 0; i < n; i++)
        end = s[i] >= end ? s[i] + 1 : end;
    return end;
}

enum { NOWHERE = UINT32_MAX, SEVERAL = UINT32_MAX - 1 };

static uint32_t *places(const uint32_t *s, size_t n, uint32_t end, struct arena *scratch)
{
    uint32_t *at = arena_array_of(scratch, end, uint32_t);

    memset(at, 0xFF, end * sizeof *at);
    for (size_t i = 0; i < n; i++)
        at[s[i]] = at[s[i]] == NOWHERE ? (uint32_t)i : SEVERAL;
    return at;
}

/* Marks of the longest row that ascends on both sides; returns how many. */
static size_t landmarks(const struct piece *p, struct arena *scratch, struct landmark *marks)
{
    uint32_t end = symbols_end(p->b, p->nb, symbols_end(p->a, p->na, 0));
    uint32_t *in_a = places(p->a, p->na, end, scratch),
             *in_b = places(p->b, p->nb, end, scratch);
    uint32_t *tails = arena_array_of(scratch, p->na + 1, uint32_t);
    size_t n = 0, longest = 0;

    for (size_t i = 0; i < p->na; i++) {
        uint32_t s = p->a[i];
        if (in_a[s] >= SEVERAL || in_b[s] >= SEVERAL)
            continue;
        size_t low = 0, high = longest;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (marks[tails[middle]].b < in_b[s])
                low = middle + 1;
            else
                high = middle;
        }
        marks[n] = (struct landmark){(uint32_t)i, in_b[s], low ? tails[low - 1] : NOWHERE};
        tails[low] = (uint32_t)n++;
        longest += low == longest;
    }
    /* walk the row back, then put it to the front */
    uint32_t at = longest ? tails[longest - 1] : 0;
    struct landmark *row = arena_array_of(scratch, longest + 1, struct landmark);
    for (size_t i = longest; i-- > 0; at = row[i].before)
        row[i] = marks[at];
    memcpy(marks, row, longest * sizeof *row);
    return longest;
}

static bool match_piece(const struct piece *p, uint32_t *match, bool cut);

static bool match_between_landmarks(const struct piece *p, uint32_t *match)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "landmarks");
    struct landmark *marks = arena_array_of(scratch, p->na + 1, struct landmark);
    size_t n = landmarks(p, scratch, marks), a = 0, b = 0;

    for (size_t i = 0; i <= n; i++) {
        size_t to_a = i < n ? marks[i].a : p->na, to_b = i < n ? marks[i].b : p->nb;
        struct piece gap = piece_of(p, a, to_a - a, b, to_b - b);
        (void)match_piece(&gap, match, /* cut= */ true); /* the whole is coarse anyway */
        if (i < n)
            match[p->from_b + to_b] = p->from_a + (uint32_t)to_a;
        a = to_a + 1;
        b = to_b + 1;
    }
    return false;
}

/* ---- the whole --------------------------------------------------------------------------- */

static bool match_piece(const struct piece *whole, uint32_t *match, bool cut)
{
    size_t head = 0, tail = 0;

    while (head < whole->na && head < whole->nb && whole->a[head] == whole->b[head]) {
        match[whole->from_b + head] = whole->from_a + (uint32_t)head;
        head++;
    }
    struct piece p = piece_of(whole, head, whole->na - head, head, whole->nb - head);
    if (p.na == 0 || p.nb == 0)
        return true;
    if (fits(p.na, p.nb)) {
        match_exactly(&p, match);
        return true;
    }
    while (tail < p.na && tail < p.nb && p.a[p.na - 1 - tail] == p.b[p.nb - 1 - tail]) {
        match[p.from_b + p.nb - 1 - tail] = p.from_a + (uint32_t)(p.na - 1 - tail);
        tail++;
    }
    p.na -= tail;
    p.nb -= tail;
    if (fits(p.na, p.nb)) {
        match_exactly(&p, match);
        return false;
    }
    return cut ? false : match_between_landmarks(&p, match);
}

static bool symbols_equal(const void *arg, size_t a, size_t b)
{
    const struct piece *p = arg;
    return p->a[a] == p->b[b];
}

bool lcs_match(const uint32_t *a, size_t na, const uint32_t *b, size_t nb, uint32_t *ret_match)
{
    struct piece whole = {a, b, na, nb, 0, 0};
    struct lcs_pair pair = {na, nb, symbols_equal, &whole, 0, NULL, {a, b}, {NULL, NULL}};

    if (na * nb > SMALL && lcs_match_few(&pair, ret_match))
        return true;

    for (size_t j = 0; j < nb; j++)
        ret_match[j] = LCS_NONE;
    return match_piece(&whole, ret_match, /* cut= */ false);
}

size_t lcs_length(const uint32_t *a, size_t na, const uint32_t *b, size_t nb)
{
    size_t head = 0;

    while (head < na && head < nb && a[head] == b[head])
        head++;
    a += head;
    b += head;
    na -= head;
    nb -= head;
    while (na && nb && a[na - 1] == b[nb - 1]) {
        na--;
        nb--;
        head++;
    }
    if (na == 0 || nb == 0)
        return head;
    struct piece whole = {a, b, na, nb, 0, 0};
    struct lcs_pair pair = {na, nb, symbols_equal, &whole, 0, NULL, {a, b}, {NULL, NULL}};
    size_t length;
    if (na * nb > SMALL && lcs_length_few(&pair, &length))
        return head + length;
    SCRATCH struct arena *scratch = arena_new(NULL, "lcs");
    uint32_t *row = arena_array_of(scratch, nb + 1, uint32_t);
    for (size_t i = 0; i < na; i++) {
        uint32_t before = 0; /* row[j - 1] of the row above */
        for (size_t j = 1; j <= nb; j++) {
            uint32_t above = row[j];
            row[j] = a[i] == b[j - 1] ? before + 1 : above > row[j - 1] ? above : row[j - 1];
            before = above;
        }
    }
    return head + row[nb];
}
