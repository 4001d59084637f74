/* The graph: three values, one notification a pair, compare options, joining and leaving. */
#include "tests/cdg/cdg_help.h"

/* ---- a page with versions, and a diary of who was told what
 * ---------------------------------- */

enum { VERSIONS_MAX = 64 };

struct site {
    struct arena *life;
    struct cdg *g;
    struct cdg_version *versions[VERSIONS_MAX];
    int64_t latest;
    struct buf diary; /* "(1,2)→S1+S2 " for each version */
    unsigned asked;   /* old versions asked for */
};

static void site_done(struct site *s)
{
    buf_done(&s->diary);
    arena_free(s->life);
}

static struct site site_new(void)
{
    struct site s = {.life = arena_new(NULL, "site")};
    s.g = cdg_new(s.life);
    buf_init(&s.diary, 1 << 20);
    return s;
}

static const struct cdg_version *old_version(int64_t number, void *arg)
{
    struct site *s = arg;
    s->asked++;
    return number < VERSIONS_MAX ? s->versions[number] : NULL;
}

static void join_expr(
        struct site *s, int64_t sentinel, const struct cdg_expr *e, struct cdg_compare c)
{
    struct cdg_subscription sub = {1, sentinel, e, c, s->latest};
    struct fault f = {.code = OK};
    if (cdg_join(s->g, &sub, &f) != OK)
        test_fail(__FILE__, __LINE__, "join: %s", f.message);
}

static void join(struct site *s, int64_t sentinel, enum cdg_compare_kind kind, unsigned n)
{
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = leaf_of("any change")};
    join_expr(s, sentinel, &e, (struct cdg_compare){kind, n});
}

static void leave(struct site *s, int64_t sentinel)
{
    cdg_leave(s->g, 1, sentinel);
}

/* A new version; appends to the diary, pair by pair, who has a change of it. */
static void publish_html(struct site *s, const char *html)
{
    const struct cdg_verdict *v;
    int64_t n = ++s->latest;
    s->versions[n] = version_of(s->life, n, html, "text/html");
    struct cdg_plan *p = cdg_plan_take(s->g, 1, n);
    if (!p)
        return;
    size_t count = cdg_plan_run(p, s->versions[n], old_version, s, s->life, &v);
    int64_t last = -1;
    for (size_t i = 0; i < count; i++) {
        if (v[i].finding->result != CDG_C)
            continue;
        if (v[i].finding->old_version != last)
            buf_printf(&s->diary, "%s(%d,%d)→S%d", s->diary.len ? " " : "",
                    (int)v[i].finding->old_version, (int)n, (int)v[i].sentinel_id);
        else
            buf_printf(&s->diary, "+S%d", (int)v[i].sentinel_id);
        last = v[i].finding->old_version;
    }
    cdg_plan_give_back(s->g, p);
}

static void publish(struct site *s, unsigned times)
{
    while (times--)
        publish_html(s, arena_printf(s->life, "<p>%d</p>", (int)s->latest));
}

/* ---- C.2
 * ------------------------------------------------------------------------------------------ */

/* With a new version that cannot be parsed: raw is C, NOT raw is N, links is U. */
static struct cdg_expr *operand(struct arena *life, char value)
{
    struct cdg_expr *e = arena_new_of(life, struct cdg_expr),
                    *leaf = arena_new_of(life, struct cdg_expr);

    *leaf = (struct cdg_expr){
            .op = CDG_LEAF, .leaf = leaf_of(value == 'U' ? "links" : "any change")};
    leaf->leaf.raw = value != 'U';
    *e = *leaf;
    if (value == 'N')
        *e = (struct cdg_expr){.op = CDG_NOT, .left = leaf};
    return e;
}

static char result_of(struct arena *life, const struct cdg_expr *e)
{
    struct cdg_version *old = version_of(life, 1, "<p>a", "text/html");
    struct cdg_version *new_ = version_of(life, 2, "<p>b", "text/html");
    const struct cdg_finding *f = NULL;
    new_->digest = NULL;
    EXPECT(cdg_compare_once(e, old, new_, life, NULL, &f) == OK);
    return f ? "CNU"[f->result] : '?';
}

TEST(three_values, "AND, OR and NOT follow the three-valued tables")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char and_table[3][4] = {"CNU", "NNN", "UNU"},
                      or_table[3][4] = {"CCC", "CNU", "CUU"};
    static const char values[] = "CNU", not_table[] = "NCU";
    for (int i = 0; i < 3; i++) {
        struct cdg_expr *x = operand(life, values[i]);
        EXPECT_INT(result_of(life, x), values[i]);
        struct cdg_expr negated = {.op = CDG_NOT, .left = x};
        EXPECT_INT(result_of(life, &negated), not_table[i]);
        for (int j = 0; j < 3; j++) {
            struct cdg_expr *y = operand(life, values[j]);
            struct cdg_expr both = {.op = CDG_AND, .left = x, .right = y};
            struct cdg_expr either = {.op = CDG_OR, .left = x, .right = y};
            EXPECT_INT(result_of(life, &both), and_table[i][j]);
            EXPECT_INT(result_of(life, &either), or_table[i][j]);
        }
    }
}

/* ---- C.3
 * ------------------------------------------------------------------------------------------ */

#define LEAF(name, kind) struct cdg_expr name = {.op = CDG_LEAF, .leaf = leaf_of(kind)}
#define BOTH(name, x, y) struct cdg_expr name = {.op = CDG_AND, .left = &(x), .right = &(y)}
#define EITHER(name, x, y) struct cdg_expr name = {.op = CDG_OR, .left = &(x), .right = &(y)}
#define NOT(name, x) struct cdg_expr name = {.op = CDG_NOT, .left = &(x)}

static const char v1[] = "<p>a</p>", v2[] = "<p>b</p>",
                  v3[] = "<p>b</p><a href=/l>l</a><img src=/i.png>";

static char *types_listed(
        struct arena *life, const struct cdg_expr *e, const char *a, const char *b)
{
    const struct cdg_finding *f = NULL;
    EXPECT(cdg_compare_once(e, version_of(life, 1, a, "text/html"),
                   version_of(life, 2, b, "text/html"), life, NULL, &f) == OK);
    if (!f || f->result != CDG_C)
        return arena_strdup(life, f && f->result == CDG_N ? "N" : "U");
    json_t *root = json_loads(f->detail, 0, NULL), *leaf;
    BUF(out, 1000);
    size_t i;
    json_array_foreach(json_object_get(root, "leaves"), i, leaf) buf_printf(
            &out, "%s%s", i ? ", " : "", json_string_value(json_object_get(leaf, "type")));
    json_decref(root);
    return arena_strdup(life, out.len ? buf_text(&out) : "nothing");
}

TEST(one_notification, "one notification for a sentinel and pair, with every leaf that changed")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    LEAF(c1, "any change");
    LEAF(c2, "links");
    LEAF(c3, "images");
    EITHER(s1, c1, c2);
    BOTH(s2, c1, c2);
    BOTH(s3, s1, c3);
    EXPECT_TEXT(types_listed(life, &s1, v1, v2), "any change");
    EXPECT_TEXT(types_listed(life, &s1, v2, v3), "any change, links");
    EXPECT_TEXT(types_listed(life, &s2, v1, v2), "N");
    EXPECT_TEXT(types_listed(life, &s2, v2, v3), "any change, links");
    EXPECT_TEXT(types_listed(life, &s3, v1, v2), "N");
    EXPECT_TEXT(types_listed(life, &s3, v2, v3), "any change, links, images");
}

TEST(scenario, "the scenario of three sentinels gives three notifications in all")
{
    CLEANUP(site_done) struct site s = site_new();
    LEAF(c1, "any change");
    LEAF(c2, "links");
    LEAF(c3, "images");
    EITHER(s1, c1, c2);
    BOTH(s2, c1, c2);
    BOTH(s3, s1, c3);
    join_expr(&s, 1, &s1, (struct cdg_compare){CDG_PAIRWISE, 0});
    join_expr(&s, 2, &s2, (struct cdg_compare){CDG_PAIRWISE, 0});
    join_expr(&s, 3, &s3, (struct cdg_compare){CDG_PAIRWISE, 0});
    publish_html(&s, v1);
    publish_html(&s, v2);
    publish_html(&s, v3);
    EXPECT_TEXT(buf_text(&s.diary), "(1,2)→S1 (2,3)→S1+S2+S3");
}

TEST(negation,
        "NOT is told when a pair was compared and nothing changed there, with nothing to list")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    LEAF(any, "any change");
    LEAF(images, "images");
    NOT(no_images, images);
    BOTH(elsewhere, any, no_images);
    EXPECT_TEXT(types_listed(life, &no_images, v1, v2), "nothing");
    EXPECT_TEXT(types_listed(life, &no_images, v2, v3), "N");
    EXPECT_TEXT(types_listed(life, &elsewhere, v1, v2), "any change");
    EXPECT_TEXT(types_listed(life, &elsewhere, v2, v3), "N");
    NOT(twice, no_images);
    EXPECT_TEXT(types_listed(life, &twice, v2, v3), "nothing");
}

/* ---- C.4 to C.6
 * -------------------------------------------------------------------------------------- */

TEST(TL0, "TL0: every:4 compares with its own base, and a newcomer joins whose base agrees")
{
    CLEANUP(site_done) struct site s = site_new();
    struct cdg_stats stats;
    join(&s, 1, CDG_EVERY, 4);
    publish(&s, 2);
    join(&s, 2, CDG_EVERY, 4);
    publish(&s, 2);
    join(&s, 3, CDG_EVERY, 4);
    cdg_stats_get(s.g, &stats);
    EXPECT_INT(stats.groups, 2); /* {S1, S3} and {S2} */
    publish(&s, 3);
    EXPECT_TEXT(buf_text(&s.diary), "(1,4)→S1 (2,5)→S2 (4,7)→S1+S3");
}

struct waits {
    struct buf *out;
    uint64_t group;
};

static void note_group(const struct cdg_group_view *v, void *arg)
{
    ((struct waits *)arg)->group = v->number;
}

static void note_nothing(const struct cdg_node_view *v, void *arg)
{
    (void)v;
    (void)arg;
}

static void note_waiting(const struct cdg_member_view *v, void *arg)
{
    struct waits *w = arg;
    buf_printf(w->out, "S%d@%d w=%d ", (int)v->sentinel_id, (int)w->group, (int)v->waiting);
}

/* Who waits in which group for how many versions. */
static const char *waiting(struct site *s)
{
    static const struct cdg_viewer viewer = {note_group, note_nothing, note_waiting};
    BUF(out, 1000);
    struct waits w = {&out, 0};
    cdg_view_page(s->g, 1, s->latest, &viewer, &w);
    return arena_strdup(s->life, buf_text(&out));
}

TEST(TL0_waiting, "TL0: how many versions each group of every:4 still waits for")
{
    CLEANUP(site_done) struct site s = site_new();
    join(&s, 1, CDG_EVERY, 4);
    EXPECT_TEXT(waiting(&s), "S1@1 w=4 ");
    publish(&s, 1);
    EXPECT_TEXT(waiting(&s), "S1@1 w=3 ");
    publish(&s, 1);
    join(&s, 2, CDG_EVERY, 4);
    EXPECT_TEXT(waiting(&s), "S1@1 w=2 S2@2 w=3 ");
    publish(&s, 2);
    join(&s, 3, CDG_EVERY, 4);
    EXPECT_TEXT(waiting(&s), "S1@1 w=3 S3@1 w=3 S2@2 w=1 ");
    publish(&s, 1);
    EXPECT_TEXT(waiting(&s), "S1@1 w=2 S3@1 w=2 S2@2 w=3 ");
    publish(&s, 2);
    EXPECT_TEXT(waiting(&s), "S1@1 w=3 S3@1 w=3 S2@2 w=1 ");
}

TEST(TL1, "TL1: two that arrive before any version are one group")
{
    CLEANUP(site_done) struct site s = site_new();
    join(&s, 1, CDG_EVERY, 3);
    join(&s, 2, CDG_EVERY, 3);
    publish(&s, 5);
    EXPECT_TEXT(buf_text(&s.diary), "(1,3)→S1+S2 (3,5)→S1+S2");
}

TEST(TL2, "TL2: who arrives at the base joins")
{
    CLEANUP(site_done) struct site s = site_new();
    join(&s, 1, CDG_EVERY, 3);
    publish(&s, 1);
    join(&s, 2, CDG_EVERY, 3);
    publish(&s, 4);
    EXPECT_TEXT(buf_text(&s.diary), "(1,3)→S1+S2 (3,5)→S1+S2");
}

TEST(TL3, "TL3: disabled and enabled, a sentinel counts anew")
{
    CLEANUP(site_done) struct site s = site_new();
    join(&s, 1, CDG_EVERY, 4);
    publish(&s, 2);
    leave(&s, 1);
    publish(&s, 1);
    join(&s, 1, CDG_EVERY, 4);
    publish(&s, 3);
    EXPECT_TEXT(buf_text(&s.diary), "(3,6)→S1");
}

TEST(TL4, "TL4: every:2 and moving:2 are pairwise, and one group")
{
    CLEANUP(site_done) struct site s = site_new();
    struct cdg_stats stats;
    join(&s, 1, CDG_EVERY, 2);
    publish(&s, 2);
    join(&s, 2, CDG_PAIRWISE, 0);
    publish(&s, 1);
    join(&s, 3, CDG_MOVING, 2);
    publish(&s, 1);
    EXPECT_TEXT(buf_text(&s.diary), "(1,2)→S1 (2,3)→S1+S2 (3,4)→S1+S2+S3");
    cdg_stats_get(s.g, &stats);
    EXPECT_INT(stats.groups, 1);
    EXPECT_INT(stats.questions, 1);
}

TEST(TL5, "TL5: three compare options side by side")
{
    CLEANUP(site_done) struct site s = site_new();
    join(&s, 1, CDG_EVERY, 3);
    join(&s, 2, CDG_MOVING, 3);
    join(&s, 3, CDG_PAIRWISE, 0);
    publish(&s, 5);
    EXPECT_TEXT(buf_text(&s.diary),
            "(1,2)→S3 (1,3)→S1+S2 (2,3)→S3 (2,4)→S2 (3,4)→S3 (3,5)→S1+S2 (4,5)→S3");
    EXPECT_INT(s.asked, 7); /* equal pairs of different groups are one */
}

TEST(TL6, "TL6: a newcomer is not told of what was before it; a page without members is gone")
{
    CLEANUP(site_done) struct site s = site_new();
    struct cdg_stats stats;
    join(&s, 1, CDG_MOVING, 3);
    publish(&s, 2);
    join(&s, 2, CDG_MOVING, 3);
    publish(&s, 3);
    leave(&s, 1);
    leave(&s, 2);
    cdg_stats_get(s.g, &stats);
    EXPECT_INT(stats.groups + stats.pages + stats.members + stats.questions, 0);
    publish(&s, 1);
    join(&s, 3, CDG_EVERY, 3);
    publish(&s, 2);
    EXPECT_TEXT(buf_text(&s.diary), "(1,3)→S1 (2,4)→S1+S2 (3,5)→S1+S2 (6,8)→S3");
}

TEST(needed, "a version is needed while some sentinel will compare with it")
{
    CLEANUP(site_done) struct site s = site_new();
    EXPECT_INT(cdg_oldest_needed(s.g, 1, 0), 0);
    join(&s, 1, CDG_PAIRWISE, 0);
    publish(&s, 3);
    EXPECT_INT(cdg_oldest_needed(s.g, 1, 3), 3);
    join(&s, 2, CDG_MOVING, 4);
    EXPECT_INT(cdg_oldest_needed(s.g, 1, 3), 3); /* it begins at 3 */
    publish(&s, 4);
    EXPECT_INT(cdg_oldest_needed(s.g, 1, 7), 5); /* the next pair is (5,8) */
    leave(&s, 2);
    join(&s, 3, CDG_EVERY, 4);
    publish(&s, 2);
    EXPECT_INT(cdg_oldest_needed(s.g, 1, 9), 7);
    publish(&s, 1);
    EXPECT_INT(cdg_oldest_needed(s.g, 1, 10), 10);
}

/* ---- sharing, snapshots, refusals
 * ------------------------------------------------------------------------ */

TEST(shared, "a thousand sentinels with one question are one node and one finding")
{
    CLEANUP(site_done) struct site s = site_new();
    struct cdg_stats stats;
    const struct cdg_verdict *v;
    for (int64_t i = 1; i <= 1000; i++)
        join(&s, i, CDG_PAIRWISE, 0);
    cdg_stats_get(s.g, &stats);
    EXPECT_INT(stats.questions, 1);
    EXPECT_INT(stats.members, 1000);
    EXPECT(stats.bytes / 1000 < 300);
    publish(&s, 1);
    s.versions[2] = version_of(s.life, 2, "<p>q", "text/html");
    struct cdg_plan *p = cdg_plan_take(s.g, 1, 2);
    REQUIRE(p);
    EXPECT_INT(cdg_plan_run(p, s.versions[2], old_version, &s, s.life, &v), 1000);
    for (size_t i = 1; i < 1000; i++)
        EXPECT(v[i].finding == v[0].finding && v[i].sentinel_id != v[0].sentinel_id);
    cdg_plan_give_back(s.g, p);
}

TEST(snapshot,
        "a plan is for the members of the moment it was taken, whatever happens meanwhile")
{
    CLEANUP(site_done) struct site s = site_new();
    struct cdg_stats stats;
    const struct cdg_verdict *v;
    join(&s, 1, CDG_PAIRWISE, 0);
    publish(&s, 1);
    s.versions[2] = version_of(s.life, 2, "<p>q", "text/html");
    struct cdg_plan *p = cdg_plan_take(s.g, 1, 2);
    REQUIRE(p);
    leave(&s, 1);
    join(&s, 2, CDG_PAIRWISE, 0);
    EXPECT(!cdg_is_member(s.g, 1, 1) && cdg_is_member(s.g, 1, 2));
    REQUIRE(cdg_plan_run(p, s.versions[2], old_version, &s, s.life, &v) == 1);
    EXPECT_INT(v[0].sentinel_id, 1);
    EXPECT_INT(v[0].finding->result, CDG_C);
    leave(&s, 2);
    cdg_stats_get(s.g, &stats);
    EXPECT_INT(stats.questions, 1); /* the plan still holds it */
    cdg_plan_give_back(s.g, p);
    cdg_stats_get(s.g, &stats);
    EXPECT_INT(stats.questions, 0);
    EXPECT_INT(stats.plans, 0);
}

TEST(composites, "equal composites are one node, different ones share their leaves")
{
    CLEANUP(site_done) struct site s = site_new();
    struct cdg_stats stats;
    LEAF(any, "any change");
    LEAF(links, "links");
    BOTH(both, any, links);
    BOTH(again, any, links);
    EITHER(either, any, links);
    join_expr(&s, 1, &both, (struct cdg_compare){CDG_PAIRWISE, 0});
    join_expr(&s, 2, &again, (struct cdg_compare){CDG_PAIRWISE, 0});
    join_expr(&s, 3, &either, (struct cdg_compare){CDG_PAIRWISE, 0});
    cdg_stats_get(s.g, &stats);
    EXPECT_INT(stats.composites, 2);
    EXPECT_INT(stats.questions, 2);
    leave(&s, 1);
    leave(&s, 3);
    cdg_stats_get(s.g, &stats);
    EXPECT_INT(stats.composites, 1);
    leave(&s, 2);
    cdg_stats_get(s.g, &stats);
    EXPECT_INT(stats.composites + stats.questions, 0);
}

TEST(gone, "an old version that is gone is not called unchanged")
{
    CLEANUP(site_done) struct site s = site_new();
    const struct cdg_verdict *v;
    join(&s, 1, CDG_PAIRWISE, 0);
    publish(&s, 1);
    s.versions[1] = NULL;
    struct cdg_version *new_ = version_of(s.life, 2, "<p>q", "text/html");
    struct cdg_plan *p = cdg_plan_take(s.g, 1, 2);
    REQUIRE(p && cdg_plan_run(p, new_, old_version, &s, s.life, &v) == 1);
    EXPECT_INT(v[0].finding->result, CDG_U);
    EXPECT_TEXT(v[0].finding->summary, "version 1 is not kept any more");
    EXPECT(v[0].finding->detail == NULL);
    cdg_plan_give_back(s.g, p);
}

TEST(refused, "what cannot be done is refused, and nothing is joined")
{
    CLEANUP(site_done) struct site s = site_new();
    struct cdg_expr bad = {.op = CDG_LEAF, .leaf = {.kind = -1}};
    struct cdg_subscription sub = {1, 1, &bad, {CDG_PAIRWISE, 0}, 0};
    struct fault f;
    EXPECT_INT(cdg_join(s.g, &sub, &f), ERR_UNSUPPORTED);
    LEAF(any, "any change");
    sub.expr = &any;
    sub.compare = (struct cdg_compare){CDG_EVERY, 1};
    EXPECT_INT(cdg_join(s.g, &sub, &f), ERR_RANGE);
    EXPECT(!cdg_is_member(s.g, 1, 1));
    EXPECT(cdg_plan_take(s.g, 1, 2) == NULL);
    cdg_leave(s.g, 1, 1);
    EXPECT_INT(cdg_kind_find("colours"), -1);
    EXPECT(cdg_kind_find("Any-Change") == cdg_kind_find("any change"));
}

TEST(every_kind, "every kind has a name and a sentence")
{
    int n = 0;
    for (const struct cdg_kind_info *k; (k = cdg_kind_get(n)); n++) {
        EXPECT(k->name[0] && k->help[0] && k->help[strlen(k->help) - 1] == '.');
        EXPECT_INT(cdg_kind_find(k->name), n);
    }
    EXPECT(n >= 3 && cdg_kind_get(-1) == NULL);
}

TEST(no_growth, "a graph that comes and goes does not grow")
{
    CLEANUP(site_done) struct site s = site_new();
    struct cdg_stats before, after;
    for (int round = 0; round < 100000; round++) {
        if (round == 1000)
            cdg_stats_get(s.g, &before);
        for (int64_t i = 1; i <= 3; i++)
            join(&s, i, i == 1 ? CDG_PAIRWISE : CDG_MOVING, (unsigned)i + 1);
        cdg_plan_give_back(s.g, cdg_plan_take(s.g, 1, 9));
        for (int64_t i = 1; i <= 3; i++)
            leave(&s, i);
    }
    cdg_stats_get(s.g, &after);
    EXPECT_INT(after.bytes, before.bytes);
}

TEST_MAIN()
