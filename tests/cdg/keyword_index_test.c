/* Many sets of keywords on one page: who is told, while sets come and go. */
#include "tests/cdg/cdg_help.h"

static struct cdg *g;

static void join(int64_t id, const char *word, bool counted)
{
    const char *words[] = {word};
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = leaf_of("keywords")};
    e.leaf.words = words;
    e.leaf.nwords = 1;
    e.leaf.counted = counted;
    struct cdg_subscription s = {
            .page_id = 1, .sentinel_id = id, .expr = &e, .base_version = 1};
    EXPECT(cdg_join(g, &s, NULL) == OK);
}

static const struct cdg_version *give(int64_t number, void *arg)
{
    (void)number;
    return arg;
}

/* The sentinels that are told of a change, and the list of the last: "3 4: word (1→2)". */
static const char *told(struct arena *life, const char *before, const char *after)
{
    struct cdg_plan *p = cdg_plan_take(g, 1, 2);
    const struct cdg_verdict *v;
    struct cdg_version *old = version_of(life, 1, before, "text/html");
    size_t n = p ? cdg_plan_run(p, version_of(life, 2, after, "text/html"), give, old, life, &v)
                 : 0;
    BUF(out, 1 << 16);
    const char *summary = "";
    for (int64_t id = 0; id < 1000; id++)
        for (size_t i = 0; i < n; i++)
            if (v[i].sentinel_id == id && v[i].finding->result == CDG_C) {
                buf_printf(&out, "%lld ", (long long)id);
                summary = v[i].finding->summary;
            }
    cdg_plan_give_back(g, p);
    return arena_printf(life, "%s: %s", buf_text(&out), summary);
}

TEST(shared_leaf, "a set that two look for stays while one of them is there, whoever else goes")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    g = cdg_new(life);
    join(1, "storm", false);
    join(2, "storm", false);
    for (int64_t i = 100; i < 200; i++)
        join(i, arena_printf(life, "word%lld", (long long)i), false);
    for (int64_t i = 100; i < 200; i++)
        cdg_leave(g, 1, i); /* the index is made anew on the way */
    cdg_leave(g, 1, 1);
    EXPECT_TEXT(
            told(life, "<p>calm", "<p>storm word150"), "2 : keywords 1 inserted: + \"storm\"");
    cdg_leave(g, 1, 2);
    struct cdg_stats stats;
    cdg_stats_get(g, &stats);
    EXPECT_INT(stats.questions + stats.groups, 0);
}

TEST(counts, "counts are those of the whole page, for words, open words and rows")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const char *far = "<p>call for papers, start";
    BUF(filler, 1 << 16);
    for (int i = 0; i < 30; i++)
        buf_puts(&filler, "<p>one two three four five six seven");
    const char *before = arena_printf(life, "%s%s<p>nothing", far, buf_text(&filler));
    const char *after =
            arena_printf(life, "%s%s<p>call for papers art", far, buf_text(&filler));
    static const struct {
        const char *word, *expected;
    } rows[] = {{"papers", "1 : keywords 1 inserted: + \"papers (1→2)\""},
            {"*art", "1 : keywords 1 inserted: + \"*art (1→2)\""},
            {"pap*", "1 : keywords 1 inserted: + \"pap* (1→2)\""},
            {"*aper*", "1 : keywords 1 inserted: + \"*aper* (1→2)\""},
            {"call for papers", "1 : keywords 1 inserted: + \"call for papers (1→2)\""},
            {"c* f* p*", "1 : keywords 1 inserted: + \"c* f* p* (1→2)\""}, {"two three", ": "}};
    for (size_t i = 0; i < countof(rows); i++) {
        SCRATCH struct arena *own = arena_new(NULL, "graph");
        g = cdg_new(own);
        join(1, rows[i].word, /* counted= */ true);
        join(2, rows[i].word, /* counted= */ false); /* it is there all the time */
        EXPECT_TEXT(told(life, before, after), rows[i].expected);
    }
}

TEST_MAIN()
