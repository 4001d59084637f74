/* Plans on a pool while sentinels join and leave: each version is compared for exactly those
 * who were there when its plan was taken, as a naive count per sentinel says, and in order.
 * Meant to be run under the thread sanitizer as well.
 *
 *     VIGIL_TEST_SECONDS=n    goes on for so long
 */
#include "base/inbox.h"
#include "tests/cdg/cdg_help.h"
#include "base/time.h"
#include <stdatomic.h>
#include <stdlib.h>

enum { PAGES = 1000, SENTINELS = 24, VERSIONS = 40, STEPS = 40000, OPTIONS = 4, THREADS = 8 };

struct sentinel { /* the naive model: one sentinel on one page */
    bool joined;
    int64_t base;
    struct cdg_compare compare;
};

struct expected {
    int64_t sentinel, old;
};

struct job {
    struct cdg_task task;
    struct list link;
    struct cdg_plan *plan;
    int page;
    int64_t version;
    struct arena *life;
    const struct cdg_verdict *verdicts;
    size_t count;
    struct expected expected[SENTINELS];
    size_t nexpected;
};

struct world {
    struct arena *life;
    struct cdg *g;
    struct cdg_version *versions[VERSIONS + 1];
    struct sentinel model[PAGES][SENTINELS];
    int64_t latest[PAGES], delivered[PAGES];
    size_t pending;
    uint32_t state;
};

static struct world world;
static struct inbox inbox;

static uint32_t pick(uint32_t n)
{
    world.state = world.state * 1664525u + 1013904223u;
    return (world.state >> 8) % n;
}

static const struct cdg_version *old_version(int64_t number, void *arg)
{
    (void)arg;
    return world.versions[number];
}

static void job_run(struct cdg_task *task)
{
    struct job *j = container_of(task, struct job, task);
    j->life = arena_new(NULL, "job");
    j->count = cdg_plan_run(
            j->plan, world.versions[j->version], old_version, NULL, j->life, &j->verdicts);
    inbox_push(&inbox, &j->link);
}

static void nothing(void *arg)
{
    (void)arg;
}

/* The old side of the pair that a version completes, by the definition of each option. */
static int64_t naive_old(const struct sentinel *s, int64_t version)
{
    int64_t n = s->compare.kind == CDG_PAIRWISE ? 2 : s->compare.n, base = s->base;

    if (s->compare.kind == CDG_EVERY) {
        while (base + n - 1 < version) /* each compared version is the next base */
            base += n - 1;
        return base + n - 1 == version ? base : 0;
    }
    return version - n + 1 >= base ? version - n + 1 : 0;
}

static void join_or_leave(void)
{
    static const struct cdg_compare options[OPTIONS] = {
            {CDG_PAIRWISE, 0}, {CDG_MOVING, 3}, {CDG_EVERY, 3}, {CDG_EVERY, 4}};
    int page = (int)pick(PAGES), i = (int)pick(SENTINELS);
    struct sentinel *s = &world.model[page][i];

    if (s->joined) {
        cdg_leave(world.g, page, i);
        s->joined = false;
        return;
    }
    struct cdg_expr any = {.op = CDG_LEAF, .leaf = leaf_of("any change")};
    struct cdg_expr links = {.op = CDG_LEAF, .leaf = leaf_of("links")};
    struct cdg_expr either = {.op = CDG_OR, .left = &any, .right = &links};
    char own[16];
    const char *words[] = {"tick", own};
    struct cdg_expr keywords = {.op = CDG_LEAF, .leaf = leaf_of("keywords")};
    keywords.leaf.words = words;
    keywords.leaf.nwords = countof(words);
    keywords.leaf.counted = true;
    snprintf(own, sizeof own, "own%u", pick(100));
    const struct cdg_expr *asked[] = {&any, &either, &keywords};
    s->joined = true;
    s->compare = options[pick(OPTIONS)];
    s->base = world.latest[page] ? world.latest[page] : 1;
    struct cdg_subscription sub = {
            page, i, asked[pick(countof(asked))], s->compare, world.latest[page]};
    EXPECT(cdg_join(world.g, &sub, NULL) == OK);
}

static void publish(struct cdg_locks *locks)
{
    int page = (int)pick(PAGES);
    if (world.latest[page] == VERSIONS)
        return;
    struct job *j = calloc(1, sizeof *j);
    j->task.run = job_run;
    j->page = page;
    j->version = ++world.latest[page];
    for (int i = 0; i < SENTINELS; i++) {
        struct sentinel *s = &world.model[page][i];
        int64_t old = s->joined ? naive_old(s, j->version) : 0;
        if (old)
            j->expected[j->nexpected++] = (struct expected){i, old};
    }
    j->plan = cdg_plan_take(world.g, page, j->version);
    EXPECT((j->plan != NULL) == (j->nexpected > 0));
    if (!j->plan) {
        free(j);
        return;
    }
    world.pending++;
    cdg_locks_submit(locks, page, &j->task);
}

static void check(struct job *j)
{
    EXPECT_INT(j->count, j->nexpected);
    for (size_t e = 0; e < j->nexpected; e++) {
        unsigned told = 0;
        for (size_t v = 0; v < j->count; v++)
            if (j->verdicts[v].sentinel_id == j->expected[e].sentinel) {
                told++;
                EXPECT_INT(j->verdicts[v].finding->old_version, j->expected[e].old);
                EXPECT_INT(j->verdicts[v].finding->result, CDG_C);
            }
        EXPECT_INT(told, 1);
    }
    EXPECT(j->version > world.delivered[j->page]); /* in order */
    world.delivered[j->page] = j->version;
}

static void receive(void)
{
    struct list taken;
    list_init(&taken);
    inbox_take(&inbox, &taken);
    list_each (l, &taken) {
        struct job *j = list_entry(l, struct job, link);
        check(j);
        cdg_plan_give_back(world.g, j->plan);
        arena_free(j->life);
        free(j);
        world.pending--;
    }
}

/* Every page begins anew: nobody is there, no version was seen. */
static void empty(void)
{
    struct cdg_stats stats;
    for (int p = 0; p < PAGES; p++)
        for (int i = 0; i < SENTINELS; i++)
            cdg_leave(world.g, p, i);
    cdg_stats_get(world.g, &stats);
    EXPECT_INT(stats.pages + stats.groups + stats.members + stats.questions + stats.composites +
                       stats.plans,
            0);
    memset(world.model, 0, sizeof world.model);
    memset(world.latest, 0, sizeof world.latest);
    memset(world.delivered, 0, sizeof world.delivered);
}

static void hammer(struct cdg_locks *locks)
{
    for (int step = 0; step < STEPS; step++) {
        if (pick(3) == 0)
            publish(locks);
        else
            join_or_leave();
        receive();
    }
    while (world.pending)
        receive();
    empty();
}

TEST(model,
        "joins, leaves and versions of 1,000 pages on eight threads agree with a naive count")
{
    const char *seconds = getenv("VIGIL_TEST_SECONDS");
    msec until = clock_mono(&clock_system) + (seconds ? strtoll(seconds, NULL, 10) * 1000 : 0);
    world.life = arena_new(NULL, "world");
    world.g = cdg_new(world.life);
    world.state = 2026;
    inbox_init(&inbox, nothing, NULL);
    BUF(ticks, 1 << 16);
    for (int64_t v = 1; v <= VERSIONS; v++) { /* one tick more than the one before */
        buf_puts(&ticks, "tick ");
        world.versions[v] = version_of(world.life, v,
                arena_printf(world.life, "<p>version %d</p><a href=/%d>x</a><p>%s", (int)v,
                        (int)v, buf_text(&ticks)),
                "text/html");
    }
    struct pool *pool = pool_new(THREADS, "test");
    struct cdg_locks *locks = cdg_locks_new(pool, 64);
    do
        hammer(locks);
    while (clock_mono(&clock_system) < until);
    pool_free(pool);
    cdg_locks_free(locks);
    inbox_done(&inbox);
    arena_free(world.life);
}

TEST_MAIN()
