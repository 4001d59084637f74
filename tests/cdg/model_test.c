/* The whole graph against a naive model: random joins, leaves, versions and faults.
 *
 * The model knows of a page's version only what was put into it (which links, which images,
 * which words), keeps for each sentinel the list of versions it has seen, and answers each
 * question by looking at two of them.  The graph gets the same through groups, shared nodes,
 * positions and plans.  Every verdict must be the model's, and no other may come.
 *
 *     VIGIL_TEST_STEPS=n    more or fewer steps than 100,000
 *     VIGIL_TEST_SEED=n     another walk
 */
#include "tests/cdg/cdg_help.h"
#include <stdlib.h>

enum { PAGES = 6, STREAMS = 3, SENTINELS = 120, SEEN_MAX = 40, DEPTH = 3 };

/* ---- what a version holds -------------------------------------------------------------- */

enum { FEATURES = 8, CONTENTS = 1 << FEATURES };
/* bits 0-1: links a, b; bit 2: an image; bits 3-4: words alpha, beta; bit 5: other text;
 * bit 6: it cannot be parsed; bit 7: far away, alpha once more and a long word */
#define HAS(content, bit) (((content) >> (bit)) & 1)
enum { UNREADABLE = 6 };
#define LONG_WORD "supercalifragilisticexpialidocious"
#define FILLER "filler filler filler filler filler filler filler filler filler filler"

struct held {
    unsigned content;
    struct cdg_version *version;
};

/* What a version says, with an element around what stands together. */
static const char *html_of(struct arena *life, unsigned c)
{
    return arena_printf(life, "<p>%s%s%s</p><p>" FILLER "</p><p>" FILLER "</p>%s%s%s%s",
            HAS(c, 3) ? "alpha " : "", HAS(c, 4) ? "Beta, " : "", HAS(c, 5) ? "other" : "same",
            HAS(c, 7) ? "<p>alpha far " LONG_WORD "</p>" : "",
            HAS(c, 0) ? "<a href=/a>l</a> " : "", HAS(c, 1) ? "<a href=/b>l</a> " : "",
            HAS(c, 2) ? "<img src=/i>" : "");
}

/* The same as words, as a reader would note them down. */
static size_t words_of(unsigned c, const char *words[])
{
    size_t n = 0;
    if (HAS(c, 3))
        words[n++] = "alpha";
    if (HAS(c, 4))
        words[n++] = "beta";
    words[n++] = HAS(c, 5) ? "other" : "same";
    for (int i = 0; i < 20; i++)
        words[n++] = "filler";
    if (HAS(c, 7)) {
        words[n++] = "alpha";
        words[n++] = "far";
        words[n++] = LONG_WORD;
    }
    for (int i = 0; i < 2; i++)
        if (HAS(c, i))
            words[n++] = "l";
    return n;
}

/* ---- questions -------------------------------------------------------------------------- */

enum ask { ASK_ANY, ASK_RAW, ASK_LINKS, ASK_IMAGES, ASK_KEYWORDS, ASK_COUNT };

/* Plain and open words, rows of them, rows that only have open words, words and rows too long
 * for an index.  Words of a sentinel's own make sets different. */
enum { OWN = 40, KEYWORDS_MOST = 4 };
static const char *const patterns[] = {"alpha", "beta", "BETA", "other", "far", "l", "al*",
        "*eta", "*e*", "*a*", "*l*", "same*", "alpha beta", "beta other", "alpha *ther",
        "*lph* beta", "a* b* o*", "filler alpha", "l* l", "far " LONG_WORD,
        "*percalifragilisticexpialidocious*", FILLER " alpha", "nowhere"};

struct asked { /* the model's own tree */
    enum cdg_op op;
    enum ask ask;
    struct asked *left, *right;
    const char *words[KEYWORDS_MOST];
    size_t nwords;
    bool all, counted;
};

static struct cdg_expr *leaf_expr(struct arena *life, const struct asked *a)
{
    static const char *const kinds[ASK_COUNT] = {
            "any change", "any change", "links", "images", "keywords"};
    struct cdg_expr *e = arena_new_of(life, struct cdg_expr);
    *e = (struct cdg_expr){.op = CDG_LEAF, .leaf = leaf_of(kinds[a->ask])};
    e->leaf.raw = a->ask == ASK_RAW;
    e->leaf.all = a->all;
    e->leaf.counted = a->counted;
    e->leaf.words = a->words;
    e->leaf.nwords = a->nwords;
    return e;
}

static struct cdg_expr *expr_of(struct arena *life, const struct asked *a)
{
    if (a->op == CDG_LEAF)
        return leaf_expr(life, a);
    struct cdg_expr *e = arena_new_of(life, struct cdg_expr);
    *e = (struct cdg_expr){.op = a->op,
            .left = expr_of(life, a->left),
            .right = a->right ? expr_of(life, a->right) : NULL};
    return e;
}

/* Whether one word of a keyword, `len` bytes, stands for this word. */
static bool naive_matches(const char *pattern, size_t len, const char *word)
{
    bool front = pattern[0] == '*', back = pattern[len - 1] == '*';
    char *text = strndup(pattern + front, len - front - back);
    size_t n = strlen(text), all = strlen(word);
    bool found = false;
    for (char *c = text; *c; c++)
        *c |= 0x20;
    for (size_t at = 0; n <= all && at <= all - n; at++)
        if (strncmp(word + at, text, n) == 0 && (at == 0 || front) && (at + n == all || back))
            found = true;
    free(text);
    return found;
}

static unsigned naive_count(const char *keyword, unsigned content)
{
    const char *words[64];
    size_t n = words_of(content, words);
    unsigned count = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        const char *k = keyword;
        while (*k && at < n && naive_matches(k, strcspn(k, " "), words[at])) {
            k += strcspn(k, " ");
            k += *k == ' ';
            at++;
        }
        count += !*k;
    }
    return count;
}

struct told {
    char result; /* C N U */
    unsigned inserted, deleted;
    const struct asked *listed[1 << DEPTH]; /* equal questions are one */
    size_t nlisted;
    bool counts; /* inserted and deleted are known */
};

/* How many keywords of the set appeared, and how many disappeared. */
static void naive_keywords(
        const struct asked *a, unsigned old, unsigned new_, unsigned *in, unsigned *out)
{
    bool before = true, after = true;
    *in = *out = 0;
    for (size_t i = 0; i < a->nwords; i++) {
        unsigned x = naive_count(a->words[i], old), y = naive_count(a->words[i], new_);
        before &= x > 0;
        after &= y > 0;
        *in += a->counted ? y > x : y && !x;
        *out += a->counted ? x > y : x && !y;
    }
    if (a->all && !a->counted) {
        *in = after && !before ? (unsigned)a->nwords : 0;
        *out = before && !after ? (unsigned)a->nwords : 0;
    }
}

static void count_bit(struct told *t, unsigned old, unsigned new_, int bit)
{
    t->inserted += !HAS(old, bit) && HAS(new_, bit);
    t->deleted += HAS(old, bit) && !HAS(new_, bit);
}

static char naive_leaf(
        const struct asked *asked, const struct held *old, const struct held *new_)
{
    if (!old)
        return 'U';
    unsigned a = old->content, b = new_->content, in, out;
    if (asked->ask == ASK_RAW)
        return a == b ? 'N' : 'C';
    if (HAS(a, UNREADABLE) || HAS(b, UNREADABLE))
        return 'U';
    switch (asked->ask) {
    case ASK_ANY:
        return a == b ? 'N' : 'C';
    case ASK_LINKS:
        return (a & 3) == (b & 3) ? 'N' : 'C';
    case ASK_IMAGES:
        return HAS(a, 2) == HAS(b, 2) ? 'N' : 'C';
    case ASK_KEYWORDS:
        naive_keywords(asked, a, b, &in, &out);
        return in + out ? 'C' : 'N';
    default:
        return '?';
    }
}

static char naive_result(const struct asked *a, const struct held *old, const struct held *new_)
{
    if (a->op == CDG_LEAF)
        return naive_leaf(a, old, new_);
    char x = naive_result(a->left, old, new_);
    if (a->op == CDG_NOT)
        return x == 'C' ? 'N' : x == 'N' ? 'C' : 'U';
    char y = naive_result(a->right, old, new_);
    char stop = a->op == CDG_AND ? 'N' : 'C', go = a->op == CDG_AND ? 'C' : 'N';
    if (x == stop || y == stop)
        return stop;
    return x == 'U' || y == 'U' ? 'U' : go;
}

static bool is_same_question(const struct asked *a, const struct asked *b)
{
    if (a->ask != b->ask || a->nwords != b->nwords || a->all != b->all ||
            a->counted != b->counted)
        return false;
    for (size_t i = 0; i < a->nwords; i++)
        if (strcmp(a->words[i], b->words[i]) != 0)
            return false;
    return true;
}

/* What is listed: every changed leaf that no NOT stands above, each question once. */
static void naive_lists(
        const struct asked *a, const struct held *old, const struct held *new_, struct told *t)
{
    if (a->op == CDG_NOT)
        return;
    if (a->op != CDG_LEAF) {
        naive_lists(a->left, old, new_, t);
        naive_lists(a->right, old, new_, t);
        return;
    }
    for (size_t i = 0; i < t->nlisted; i++)
        if (is_same_question(t->listed[i], a))
            return;
    if (naive_leaf(a, old, new_) != 'C')
        return;
    t->listed[t->nlisted++] = a;
    unsigned from = old->content, to = new_->content, in, out;
    if (a->ask == ASK_LINKS) {
        count_bit(t, from, to, 0);
        count_bit(t, from, to, 1);
    } else if (a->ask == ASK_IMAGES) {
        count_bit(t, from, to, 2);
    } else if (a->ask == ASK_KEYWORDS) {
        naive_keywords(a, from, to, &in, &out);
        t->inserted += in;
        t->deleted += out;
    } else {
        t->counts = false;
    }
}

/* ---- the world -------------------------------------------------------------------------- */

struct modelled { /* one sentinel, as the rules say it */
    bool joined;
    int page, stream;
    struct cdg_compare compare;
    struct asked *asked;
    struct arena *life;
    int64_t seen[SEEN_MAX]; /* versions from the one that was current when it arrived */
    size_t nseen, base;     /* base: every:n's, as an index */
};

struct stream {
    int64_t position;
    int64_t seen[1000];
    size_t nseen; /* what an engine would keep: only what is needed */
};

struct world {
    struct arena *life;
    struct cdg *g;
    struct cdg_version *contents[CONTENTS];
    struct held history[PAGES][256]; /* by version modulo 256 */
    int64_t latest[PAGES];
    struct stream streams[PAGES][STREAMS];
    struct modelled sentinels[SENTINELS];
    uint64_t random;
    size_t verdicts, changes, unknown;
    int64_t gone; /* this old version cannot be had */
    int at;       /* the page that is looked at */
};

static struct world w;

static uint32_t pick(uint32_t n)
{
    w.random = w.random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(w.random >> 33) % n;
}

static void random_keywords(struct arena *life, struct asked *a)
{
    while (a->nwords < 1 + pick(KEYWORDS_MOST - 1))
        a->words[a->nwords++] = patterns[pick(countof(patterns))];
    if (pick(2))
        a->words[a->nwords++] = arena_printf(life, "own%u", pick(OWN));
    a->all = pick(4) == 0;
    a->counted = pick(3) == 0;
}

static struct asked *random_question(struct arena *life, unsigned depth)
{
    struct asked *a = arena_new_of(life, struct asked);
    uint32_t dice = depth ? pick(6) : 0;
    a->op = dice < 3 ? CDG_LEAF : dice == 3 ? CDG_NOT : dice == 4 ? CDG_AND : CDG_OR;
    a->ask = (enum ask)pick(ASK_COUNT + 3); /* half of them look for words */
    if (a->ask >= ASK_KEYWORDS) {
        a->ask = ASK_KEYWORDS;
        random_keywords(life, a);
    }
    if (a->op != CDG_LEAF)
        a->left = random_question(life, depth - 1);
    if (a->op == CDG_AND || a->op == CDG_OR)
        a->right = random_question(life, depth - 1);
    return a;
}

static int64_t stream_id(int page, int stream)
{
    return 1 + page * STREAMS + stream;
}

static int64_t stream_version(const struct stream *s)
{
    return s->nseen ? s->seen[s->nseen - 1] : 0;
}

static void join(int i)
{
    static const struct cdg_compare options[] = {{CDG_PAIRWISE, 0}, {CDG_MOVING, 2},
            {CDG_MOVING, 3}, {CDG_MOVING, 5}, {CDG_EVERY, 2}, {CDG_EVERY, 3}, {CDG_EVERY, 4}};
    struct modelled *m = &w.sentinels[i];
    m->joined = true;
    m->page = (int)pick(PAGES);
    m->stream = (int)pick(STREAMS);
    m->compare = options[pick(countof(options))];
    m->life = arena_new(NULL, "sentinel");
    m->asked = random_question(m->life, DEPTH);
    const struct stream *s = &w.streams[m->page][m->stream];
    m->nseen = m->base = 0;
    if (stream_version(s))
        m->seen[m->nseen++] = stream_version(s);
    SCRATCH struct arena *scratch = arena_new(NULL, "join");
    struct cdg_subscription sub = {
            .page_id = stream_id(m->page, m->stream),
            .sentinel_id = i,
            .expr = expr_of(scratch, m->asked),
            .compare = m->compare,
            .base_version = s->position,
    };
    EXPECT(cdg_join(w.g, &sub, NULL) == OK);
}

static void leave(int i)
{
    struct modelled *m = &w.sentinels[i];
    cdg_leave(w.g, stream_id(m->page, m->stream), i);
    m->joined = false;
    arena_free(m->life);
}

static void join_or_leave(void)
{
    int i = (int)pick(SENTINELS);
    if (w.sentinels[i].joined)
        leave(i);
    else
        join(i);
}

/* The old side of the pair the newest version completes; 0: it completes none. */
static int64_t naive_pair(struct modelled *m)
{
    size_t n = m->compare.kind == CDG_PAIRWISE ? 2 : m->compare.n, last = m->nseen - 1;
    if (m->compare.kind == CDG_EVERY) {
        if (last - m->base != n - 1)
            return 0;
        int64_t old = m->seen[m->base];
        m->base = last; /* the compared version is the next base */
        return old;
    }
    return m->nseen >= n ? m->seen[m->nseen - n] : 0;
}

static void naive_see(struct modelled *m, int64_t version)
{
    if (m->nseen == SEEN_MAX) { /* nothing looks back farther than five */
        size_t drop = SEEN_MAX / 2;
        memmove(m->seen, m->seen + drop, (SEEN_MAX - drop) * sizeof m->seen[0]);
        m->nseen -= drop;
        m->base -= drop;
    }
    m->seen[m->nseen++] = version;
}

static const struct held *held_of(int page, int64_t version)
{
    return &w.history[page][version % 256];
}

static const struct cdg_version *give_old(int64_t number, void *arg)
{
    (void)arg;
    return number == w.gone ? NULL : held_of(w.at, number)->version;
}

static void check_verdict(const struct cdg_verdict *v, int64_t old, const struct held *new_)
{
    const struct modelled *m = &w.sentinels[v->sentinel_id];
    const struct held *from = old == w.gone ? NULL : held_of(m->page, old);
    struct told t = {.result = naive_result(m->asked, from, new_), .counts = true};
    const struct cdg_finding *f = v->finding;
    EXPECT_INT(f->old_version, old);
    EXPECT_INT("CNU"[f->result], t.result);
    w.verdicts++;
    w.changes += t.result == 'C';
    w.unknown += t.result == 'U';
    if (t.result != 'C')
        return;
    naive_lists(m->asked, from, new_, &t);
    if (t.counts) {
        EXPECT_INT(f->inserted, t.inserted);
        EXPECT_INT(f->deleted, t.deleted);
    }
}

static void keep_needed(struct stream *s, int64_t id)
{
    int64_t oldest = cdg_oldest_needed(w.g, id, s->position);
    size_t keep = oldest && oldest < s->position ? (size_t)(s->position - oldest) + 1 : 1;
    if (keep < s->nseen) {
        memmove(s->seen, s->seen + (s->nseen - keep), keep * sizeof s->seen[0]);
        s->nseen = keep;
    }
}

static void publish(void)
{
    int page = w.at = (int)pick(PAGES);
    int64_t version = ++w.latest[page], expected[SENTINELS];
    bool looks[STREAMS], was_there[SENTINELS];
    struct cdg_look look[STREAMS];
    size_t n = 0;
    unsigned content = pick(CONTENTS);
    if (pick(8)) /* most can be read */
        content &= ~(1u << UNREADABLE);
    struct held *now = &w.history[page][version % 256];
    *now = (struct held){content, w.contents[content]};
    struct cdg_version seen = *now->version;
    seen.number = version;
    w.gone = 0;
    for (int s = 0; s < STREAMS; s++) {
        struct stream *st = &w.streams[page][s];
        looks[s] = pick(3) > 0;
        if (looks[s])
            look[n++] = (struct cdg_look){
                    stream_id(page, s), st->position + 1, st->seen, st->nseen};
    }
    struct cdg_plan *plan = cdg_plan_take_looks(w.g, look, n);
    for (int who = 0; who < SENTINELS; who++) {
        struct modelled *m = &w.sentinels[who];
        was_there[who] = m->joined && m->page == page && looks[m->stream];
        expected[who] = 0;
        if (!was_there[who])
            continue;
        naive_see(m, version);
        expected[who] = naive_pair(m);
    }
    const int64_t *needs;
    size_t nneeds = plan ? cdg_plan_needs(plan, &needs) : 0;
    if (nneeds && pick(10) == 0)
        w.gone = needs[pick((uint32_t)nneeds)];
    int i = (int)pick(SENTINELS); /* leaves while the version is compared */
    bool leaves = pick(4) == 0 && w.sentinels[i].joined;
    if (leaves)
        cdg_leave(w.g, stream_id(w.sentinels[i].page, w.sentinels[i].stream), i);
    SCRATCH struct arena *life = arena_new(NULL, "run");
    const struct cdg_verdict *verdicts;
    size_t count = plan ? cdg_plan_run(plan, &seen, give_old, NULL, life, &verdicts) : 0;
    for (size_t k = 0; k < count; k++) {
        int64_t who = verdicts[k].sentinel_id;
        EXPECT(was_there[who] && expected[who] > 0);
        check_verdict(&verdicts[k], expected[who], now);
        expected[who] = 0; /* a second one would not be expected */
    }
    for (int who = 0; who < SENTINELS; who++)
        EXPECT_INT(expected[who], 0); /* nobody was forgotten */
    if (leaves)
        leave(i); /* leaving twice is fine */
    cdg_plan_give_back(w.g, plan);
    for (int s = 0; s < STREAMS; s++) {
        struct stream *st = &w.streams[page][s];
        if (!looks[s])
            continue;
        CHECK(st->nseen < countof(st->seen));
        st->seen[st->nseen++] = version;
        st->position++;
        keep_needed(st, stream_id(page, s));
    }
}

static long from_environment(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

TEST(model, "100,000 random joins, leaves, versions and faults end as a naive model says")
{
    long steps = from_environment("VIGIL_TEST_STEPS", 100000);
    w.random = (uint64_t)from_environment("VIGIL_TEST_SEED", 8);
    w.life = arena_new(NULL, "world");
    w.g = cdg_new(w.life);
    for (unsigned c = 0; c < CONTENTS; c++) {
        w.contents[c] = version_of(w.life, 0, html_of(w.life, c), "text/html");
        w.contents[c]->body = hash128_of(&c, sizeof c);
        if (HAS(c, UNREADABLE))
            w.contents[c]->digest = NULL;
    }
    for (long step = 0; step < steps && test_failures == 0; step++)
        if (pick(5) < 2)
            join_or_leave();
        else
            publish();
    printf("# %zu verdicts, %zu changes, %zu not computed\n", w.verdicts, w.changes, w.unknown);
    EXPECT(w.changes > 0 && w.unknown > 0);
    for (int i = 0; i < SENTINELS; i++)
        if (w.sentinels[i].joined)
            leave(i);
    struct cdg_stats stats;
    cdg_stats_get(w.g, &stats);
    EXPECT_INT(stats.pages + stats.groups + stats.members + stats.questions + stats.composites +
                       stats.plans,
            0);
    arena_free(w.life);
}

TEST_MAIN()
