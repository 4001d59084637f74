/* Sequences: the examples of lists and change ratios, and a naive model beside the fast one. */
#include "cdg/cdg_int.h"
#include "tests/test.h"

#define ITEMS_MAX 64

static size_t split(char *text, struct diff_item *items)
{
    size_t n = 0;
    char *save = NULL;
    for (char *p = strtok_r(text, "|", &save); p; p = strtok_r(NULL, "|", &save))
        items[n++] = (struct diff_item){.text = str_of(p)};
    return n;
}

static char *difference(struct arena *life, const char *before, const char *after)
{
    struct diff_item old[ITEMS_MAX], new_[ITEMS_MAX];
    size_t nold = split(arena_strdup(life, before), old);
    size_t nnew = split(arena_strdup(life, after), new_);
    struct diff d;
    BUF(out, 1 << 16);

    diff_sequences(old, nold, new_, nnew, life, &d);
    for (size_t i = 0; i < d.count; i++) {
        const struct diff_edit *e = &d.edits[i];
        const char *x = e->old == LCS_NONE ? "" : old[e->old].text.ptr;
        const char *y = e->new_ == LCS_NONE ? "" : new_[e->new_].text.ptr;
        if (e->how == DIFF_UPDATE)
            buf_printf(&out, "~%s→%s;", x, y);
        else
            buf_printf(&out, "%s%s;",
                    e->how == DIFF_INSERT   ? "+"
                    : e->how == DIFF_DELETE ? "-"
                                            : ">",
                    e->how == DIFF_DELETE ? x : y);
    }
    return arena_strdup(life, buf_text(&out));
}

#define EXPECT_DIFF(before, after, expected)                                                   \
    do {                                                                                       \
        SCRATCH struct arena *diff_life = arena_new(NULL, "t");                                \
        EXPECT_TEXT(difference(diff_life, (before), (after)), (expected));                     \
    } while (0)

TEST(lists, "items come, go, change and move")
{
    EXPECT_DIFF("alpha|beta", "alpha|beta|gamma", "+gamma;");
    EXPECT_DIFF("alpha|beta", "beta", "-alpha;");
    EXPECT_DIFF("a b c d|k", "a b c x|k", "~a b c d→a b c x;");
    EXPECT_DIFF("one|two|three", "three|one|two", ">three;");
    EXPECT_DIFF("", "", "");
    EXPECT_DIFF("x", "x", "");
    EXPECT_DIFF("", "x|y", "+x;+y;");
}

TEST(smallest, "of several longest matches the one nearest the front is taken")
{
    EXPECT_DIFF("a|b", "b|a", ">a;");              /* b, at the front of the new one, stays */
    EXPECT_DIFF("x|a", "y|a|z|a", "-x;+y;+z;+a;"); /* the first a is the one that stayed */
}

TEST(repeats, "repeated items are matched one for one")
{
    EXPECT_DIFF("x|x|x", "x|x", "-x;");
    EXPECT_DIFF("x|y|x", "x|x|y", ">y;");
}

TEST(in_gap, "pairs keep their order and do not cross a match")
{
    EXPECT_DIFF("a b|K|c d", "c d e|K|a b f", "-a b;+c d e;-c d;+a b f;");
}

static struct str_list words_of(struct arena *life, const char *text)
{
    struct str_list list = {arena_array_of(life, strlen(text) + 1, struct str), 0};
    struct str word;
    for (size_t at = 0; page_word_next(str_of(text), &at, &word);)
        list.all[list.count++] = word;
    return list;
}

static bool ratio_is(const char *a, const char *b, double expected)
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    double r = list_ratio(words_of(life, a), words_of(life, b));
    return r > expected - 1e-9 && r < expected + 1e-9;
}

TEST(RA1, "RA1: the same words have not changed")
{
    EXPECT(ratio_is("a b c d", "a b c d", 0));
}

TEST(RA2, "RA2: half of the words")
{
    EXPECT(ratio_is("a b c d", "a b x y", 0.5));
}

TEST(RA3, "RA3: all of the words")
{
    EXPECT(ratio_is("a b c d", "w x y z", 1));
}

TEST(RA4, "RA4: as many words again")
{
    EXPECT(ratio_is("a b c d", "a b c d e f g h", 1.0 / 3));
}

TEST(ratio_edges, "no words, all words new, the order of words")
{
    EXPECT(ratio_is("", "", 0));
    EXPECT(ratio_is("", "x", 1));
    EXPECT(ratio_is("x", "", 1));
    EXPECT(ratio_is("a b", "b a", 0.5));
    EXPECT(ratio_is("a a a a", "a", 0.6));
}

/* ---- the table against a naive one ------------------------------------------------------- */

static size_t naive_length(const uint32_t *a, size_t na, const uint32_t *b, size_t nb)
{
    if (na == 0 || nb == 0)
        return 0;
    if (a[0] == b[0])
        return 1 + naive_length(a + 1, na - 1, b + 1, nb - 1);
    size_t x = naive_length(a + 1, na - 1, b, nb), y = naive_length(a, na, b + 1, nb - 1);
    return x > y ? x : y;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

TEST(model, "matching is longest and earliest for random sequences")
{
    uint32_t state = 42, a[8], b[8], match[8];
    for (int round = 0; round < 3000; round++) {
        size_t na = next_random(&state) % 9, nb = next_random(&state) % 9, n = 0;
        uint32_t last = 0;
        for (size_t i = 0; i < na; i++)
            a[i] = next_random(&state) % 4;
        for (size_t i = 0; i < nb; i++)
            b[i] = next_random(&state) % 4;
        EXPECT(lcs_match(a, na, b, nb, match));
        size_t longest = naive_length(a, na, b, nb);
        for (size_t j = 0; j < nb; j++) {
            if (match[j] == LCS_NONE)
                continue;
            EXPECT(a[match[j]] == b[j] && match[j] + 1 > last);
            last = match[j] + 1;
            n++;
        }
        EXPECT_INT(n, longest);
        EXPECT_INT(lcs_length(a, na, b, nb), longest);
        /* earliest: a position of b is matched whenever that leaves the rest long enough */
        size_t i = 0, left = longest;
        for (size_t j = 0; j < nb && left; j++) {
            bool could = false;
            for (size_t k = i; k < na && !could; k++)
                could = a[k] == b[j] &&
                        naive_length(a + k + 1, na - k - 1, b + j + 1, nb - j - 1) + 1 == left;
            EXPECT(could == (match[j] != LCS_NONE));
            if (match[j] == LCS_NONE)
                continue;
            i = match[j] + 1;
            left--;
        }
    }
}

struct two {
    const uint32_t *a, *b;
};

static bool two_equal(const void *arg, size_t a, size_t b)
{
    const struct two *t = arg;
    return t->a[a] == t->b[b];
}

TEST(few, "sequences that hardly differ are matched as the table matches them")
{
    uint32_t state = 7, a[30], b[30], table[30], few[30];
    for (int round = 0; round < 20000; round++) {
        size_t na = next_random(&state) % 30, nb = next_random(&state) % 30, length;
        uint32_t symbols = 2 + next_random(&state) % 20;
        for (size_t i = 0; i < na; i++)
            a[i] = next_random(&state) % symbols;
        for (size_t i = 0; i < nb; i++)
            b[i] = i < na && next_random(&state) % 3 ? a[i] : next_random(&state) % symbols;
        struct two t = {a, b};
        struct lcs_pair pair = {na, nb, two_equal, &t, 0, NULL};
        REQUIRE(lcs_match(a, na, b, nb, table) && lcs_match_few(&pair, few));
        EXPECT(memcmp(table, few, nb * sizeof *few) == 0);
        EXPECT(lcs_length_few(&pair, &length) && length == lcs_length(a, na, b, nb));
    }
}

TEST(spans, "known equal rows change nothing in what is matched")
{
    enum { N = 60 };
    uint32_t state = 11, a[N], b[N], table[N], few[N];
    for (int round = 0; round < 20000; round++) {
        size_t na = 0, nb = 0, nspans = 0;
        uint32_t symbols = 2 + next_random(&state) % 60;
        struct span spans[N];
        while (na + 8 < N && nb + 8 < N) { /* a row, and what differs behind it */
            uint32_t row = next_random(&state) % 6, more = next_random(&state) % 3,
                     other = next_random(&state) % 3;
            if (next_random(&state) % 4) /* or an equal row nobody knows of */
                spans[nspans++] = (struct span){
                        .at[SPAN_TEXTS] = {(uint32_t)na, (uint32_t)nb}, .len[SPAN_TEXTS] = row};
            for (; row; row--)
                a[na++] = b[nb++] = next_random(&state) % symbols;
            for (; more; more--)
                a[na++] = next_random(&state) % symbols;
            for (; other; other--)
                b[nb++] = next_random(&state) % symbols;
        }
        struct two t = {a, b};
        struct lcs_pair pair = {na, nb, two_equal, &t, 0, NULL, {a, b}, {NULL, NULL},
                {spans, nspans, SPAN_TEXTS}};
        REQUIRE(lcs_match(a, na, b, nb, table) && lcs_match_few(&pair, few));
        EXPECT(memcmp(table, few, nb * sizeof *few) == 0);
    }
}

struct counting {
    struct two two;
    size_t *calls;
};

static bool counting_equal(const void *arg, size_t a, size_t b)
{
    const struct counting *c = arg;
    ++*c->calls;
    return two_equal(&c->two, a, b);
}

TEST(alike, "items that all look alike, such as numbers of one length, do not cost a square")
{
    enum { N = 60000, EACH = 120, LEFT = 2 * N / EACH };
    SCRATCH struct arena *life = arena_new(NULL, "t");
    uint32_t *a = arena_array_of(life, N, uint32_t), *b = arena_array_of(life, N, uint32_t),
             *match = arena_array_of(life, N, uint32_t), *looks[2];
    struct span *spans = arena_array_of(life, N / EACH, struct span);
    size_t calls = 0;
    looks[0] = looks[1] = arena_array_of(life, N, uint32_t);
    for (uint32_t i = 0; i < N; i++) {
        a[i] = i;
        b[i] = i % EACH == 0 ? N + i : i;
    }
    for (uint32_t i = 0; i < N / EACH; i++)
        spans[i] = (struct span){
                .at[SPAN_TEXTS] = {i * EACH + 1, i * EACH + 1}, .len[SPAN_TEXTS] = EACH - 1};
    struct counting c = {{a, b}, &calls};
    struct lcs_pair pair = {N, N, counting_equal, &c, 0, NULL, {looks[0], looks[1]},
            {NULL, NULL}, {spans, N / EACH, SPAN_TEXTS}};
    REQUIRE(lcs_match_few(&pair, match));
    for (uint32_t j = 0; j < N; j++)
        EXPECT(match[j] == (j % EACH == 0 ? LCS_NONE : j));
    EXPECT(calls < 4 * ((size_t)LEFT * LEFT + 2 * N));
}

TEST(large, "sequences too large for the table are still matched in order, and say so")
{
    enum { N = 20000 };
    SCRATCH struct arena *life = arena_new(NULL, "t");
    uint32_t *a = arena_array_of(life, N, uint32_t), *b = arena_array_of(life, N, uint32_t);
    uint32_t *match = arena_array_of(life, N, uint32_t);
    uint32_t last = 0;
    size_t n = 0;
    for (uint32_t i = 0; i < N; i++) {
        a[i] = i;
        b[i] = i % 10 == 0 ? N + i : i; /* each tenth is new */
    }
    EXPECT(!lcs_match(a, N, b, N, match));
    for (size_t j = 0; j < N; j++) {
        if (match[j] == LCS_NONE)
            continue;
        EXPECT(a[match[j]] == b[j] && match[j] + 1 > last);
        last = match[j] + 1;
        n++;
    }
    EXPECT_INT(n, N - N / 10);
}

TEST_MAIN()
