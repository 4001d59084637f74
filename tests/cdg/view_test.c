/* Looking at the graph: groups, sharing, and what each node was last found to be. */
#include "tests/cdg/cdg_help.h"

enum { VERSIONS_MAX = 20, PAGES = 3 };

struct site {
    struct arena *life;
    struct cdg *g;
    struct cdg_version *versions[PAGES][VERSIONS_MAX];
    int64_t latest[PAGES];
    int64_t page; /* whose versions are asked for */
};

static void site_done(struct site *s)
{
    arena_free(s->life);
}

static struct site site_new(void)
{
    struct site s = {.life = arena_new(NULL, "site")};
    s.g = cdg_new(s.life);
    return s;
}

static const struct cdg_version *old_version(int64_t number, void *arg)
{
    struct site *s = arg;
    return s->versions[s->page][number];
}

static struct cdg_plan *compare(struct site *s, int64_t page, const char *html)
{
    const struct cdg_verdict *v;
    int64_t n = ++s->latest[page];
    s->page = page;
    s->versions[page][n] = version_of(s->life, n, html, "text/html");
    struct cdg_plan *p = cdg_plan_take(s->g, page, n);
    if (p)
        cdg_plan_run(p, s->versions[page][n], old_version, s, s->life, &v);
    return p;
}

/* A version that comes to pass, at a time that tells which it was. */
static void publish(struct site *s, int64_t page, const char *html)
{
    struct cdg_plan *p = compare(s, page, html);
    cdg_plan_note(s->g, p, 1000 * page + s->latest[page]);
    cdg_plan_give_back(s->g, p);
}

static void join_part(struct site *s, int64_t page, int64_t sentinel, unsigned part,
        const struct cdg_expr *e, struct cdg_compare c)
{
    struct cdg_subscription sub = {page, sentinel, e, c, s->latest[page], part};
    EXPECT(cdg_join(s->g, &sub, NULL) == OK);
}

static void join(struct site *s, int64_t page, int64_t sentinel, const struct cdg_expr *e)
{
    join_part(s, page, sentinel, 0, e, (struct cdg_compare){CDG_PAIRWISE, 0});
}

/* ---- what is seen, as text ------------------------------------------------------------- */

static void put_group(const struct cdg_group_view *v, void *arg)
{
    buf_printf(arg, "[%d of %zu] ", (int)v->number, v->members);
}

static void put_node(const struct cdg_node_view *v, void *arg)
{
    static const char *const words[] = {[CDG_AND] = "AND", [CDG_OR] = "OR", [CDG_NOT] = "NOT"};
    buf_puts(arg, v->op == CDG_LEAF ? cdg_kind_get(v->leaf->kind)->name : words[v->op]);
    if (v->shared && v->shared->total) {
        buf_printf(arg, "*%zu(", v->shared->total);
        for (size_t i = 0; i < v->shared->total && i < CDG_SHARERS_SHOWN; i++)
            buf_printf(arg, "%s%d", i ? "," : "", (int)v->shared->ids[i]);
        buf_puts(arg, ")");
    }
    if (!v->last)
        buf_puts(arg, "=? ");
    else
        buf_printf(arg, "=%c%s:%d-%d@%d%s%s ", "CNU"[v->last->result],
                v -> last -> differs ? "!" : "", (int)v->last->old_version,
                (int)v->last->new_version, (int)v->last->at,
                *v->last->reason ? " because " : "", v->last->reason);
}

static void put_member(const struct cdg_member_view *v, void *arg)
{
    buf_printf(arg, "S%d/%u base %d w=%d ", (int)v->sentinel_id, v->part, (int)v->base,
            (int)v->waiting);
}

static const struct cdg_viewer viewer = {put_group, put_node, put_member};

static const char *seen(struct site *s, int64_t page, int64_t sentinel)
{
    BUF(out, 10000);
    if (sentinel)
        cdg_view_sentinel(s->g, page, sentinel, s->latest[page], &viewer, &out);
    else
        cdg_view_page(s->g, page, s->latest[page], &viewer, &out);
    return arena_strdup(s->life, buf_text(&out));
}

#define LEAF(name, kind) struct cdg_expr name = {.op = CDG_LEAF, .leaf = leaf_of(kind)}
#define WORDS(name, ...)                                                                       \
    LEAF(name, "keywords");                                                                    \
    const char *name##_words[] = {__VA_ARGS__};                                                \
    name.leaf.words = name##_words;                                                            \
    name.leaf.nwords = countof(name##_words)

/* ---- tests ------------------------------------------------------------------------------ */

TEST(each_node, "each node of a condition knows what it was found to be")
{
    CLEANUP(site_done) struct site s = site_new();
    LEAF(any, "any change");
    LEAF(images, "images");
    struct cdg_expr none = {.op = CDG_NOT, .left = &images};
    struct cdg_expr both = {.op = CDG_AND, .left = &any, .right = &none};
    join(&s, 1, 1, &both);
    publish(&s, 1, "<p>1");
    EXPECT_TEXT(seen(&s, 1, 1), "[1 of 1] any change=? images=? NOT=? AND=? S1/0 base 1 w=1 ");
    publish(&s, 1, "<p>2");
    EXPECT_TEXT(seen(&s, 1, 1),
            "[1 of 1] any change=C:1-2@1002 images=N:1-2@1002 NOT=C:1-2@1002 "
            "AND=C:1-2@1002 S1/0 base 2 w=1 ");
    publish(&s, 1, "<img src=a>");
    EXPECT_TEXT(seen(&s, 1, 1),
            "[1 of 1] any change=C:2-3@1003 images=C:2-3@1003 NOT=N:2-3@1003 "
            "AND=N:2-3@1003 S1/0 base 3 w=1 ");
    EXPECT_TEXT(seen(&s, 1, 7), "");
    EXPECT_TEXT(seen(&s, 2, 1), "");
}

TEST(each_page, "a node that several pages share has each page's own result")
{
    CLEANUP(site_done) struct site s = site_new();
    struct cdg_stats stats;
    LEAF(any, "any change");
    join(&s, 1, 1, &any);
    join(&s, 2, 2, &any);
    publish(&s, 1, "<p>1");
    publish(&s, 2, "<p>1");
    publish(&s, 1, "<p>2");
    EXPECT_TEXT(seen(&s, 2, 2), "[1 of 1] any change=? S2/0 base 1 w=1 ");
    publish(&s, 2, "<p>1<!---->");
    EXPECT_TEXT(seen(&s, 1, 1), "[1 of 1] any change=C:1-2@1002 S1/0 base 2 w=1 ");
    EXPECT_TEXT(seen(&s, 2, 2), "[1 of 1] any change=N:1-2@2002 S2/0 base 2 w=1 ");
    cdg_stats_get(s.g, &stats);
    EXPECT_INT(stats.questions, 1);
}

TEST(each_group, "a node that several groups of a page share has each group's own result")
{
    CLEANUP(site_done) struct site s = site_new();
    LEAF(any, "any change");
    join(&s, 1, 1, &any);
    join_part(&s, 1, 2, 0, &any, (struct cdg_compare){CDG_EVERY, 3});
    publish(&s, 1, "<p>1");
    publish(&s, 1, "<p>2");
    publish(&s, 1, "<p>1");
    EXPECT_TEXT(seen(&s, 1, 0), "[1 of 1] any change=C:2-3@1003 S1/0 base 3 w=1 "
                                "[2 of 1] any change=N:1-3@1003 S2/0 base 3 w=2 ");
    publish(&s, 1, "<p>1<!-- -->");
    EXPECT_TEXT(seen(&s, 1, 0), "[1 of 1] any change=N:3-4@1004 S1/0 base 4 w=1 "
                                "[2 of 1] any change=N:1-3@1003 S2/0 base 3 w=1 ");
}

TEST(newcomer, "who came later is not shown what was found before")
{
    CLEANUP(site_done) struct site s = site_new();
    LEAF(any, "any change");
    WORDS(new_word, "other");
    WORDS(word, "word");
    join(&s, 1, 1, &any);
    join(&s, 1, 3, &word);
    publish(&s, 1, "<p>1");
    publish(&s, 1, "<p>2");
    join(&s, 1, 2, &any);
    join(&s, 1, 4, &new_word);
    EXPECT_TEXT(seen(&s, 1, 1), "[1 of 4] any change*1(2)=C:1-2@1002 S1/0 base 2 w=1 ");
    EXPECT_TEXT(seen(&s, 1, 2), "[1 of 4] any change*1(1)=? S2/0 base 2 w=1 ");
    EXPECT_TEXT(seen(&s, 1, 3), "[1 of 4] keywords=N:1-2@1002 S3/0 base 2 w=1 ");
    EXPECT_TEXT(seen(&s, 1, 4), "[1 of 4] keywords=? S4/0 base 2 w=1 ");
    publish(&s, 1, "<p>word");
    EXPECT_TEXT(seen(&s, 1, 2), "[1 of 4] any change*1(1)=C:2-3@1003 S2/0 base 3 w=1 ");
    EXPECT_TEXT(seen(&s, 1, 3), "[1 of 4] keywords=C:2-3@1003 S3/0 base 3 w=1 ");
    EXPECT_TEXT(seen(&s, 1, 4), "[1 of 4] keywords=N:2-3@1003 S4/0 base 3 w=1 ");
}

TEST(unknown, "what could not be computed says why, node by node")
{
    CLEANUP(site_done) struct site s = site_new();
    LEAF(any, "any change");
    LEAF(third, "table");
    third.leaf.number = 3;
    struct cdg_expr either = {.op = CDG_OR, .left = &third, .right = &any};
    WORDS(word, "word");
    join(&s, 1, 1, &either);
    join(&s, 1, 2, &word);
    publish(&s, 1, "<p>1");
    publish(&s, 1, "<p>2");
    const char *text = seen(&s, 1, 1);
    EXPECT(strstr(text, "table=U:1-2@1002 because "));
    EXPECT(strstr(text, " any change=C:1-2@1002 OR=C:1-2@1002 S1"));
    s.versions[1][2] = NULL;
    publish(&s, 1, "<p>3");
    EXPECT_TEXT(seen(&s, 1, 1),
            "[1 of 2] table=U:2-3@1003 because version 2 is not kept any more "
            "any change=U:2-3@1003 because version 2 is not kept any more "
            "OR=U:2-3@1003 because version 2 is not kept any more S1/0 base 3 w=1 ");
    EXPECT_TEXT(seen(&s, 1, 2),
            "[1 of 2] keywords=U:2-3@1003 because version 2 is not kept any "
            "more S2/0 base 3 w=1 ");
}

TEST(sharing, "a node says who else in its group asks it, each once")
{
    CLEANUP(site_done) struct site s = site_new();
    LEAF(any, "any change");
    LEAF(links, "links");
    struct cdg_expr both = {.op = CDG_AND, .left = &any, .right = &links};
    struct cdg_expr twice = {.op = CDG_OR, .left = &both, .right = &any};
    join(&s, 1, 1, &both);
    join(&s, 1, 2, &twice);
    join(&s, 1, 3, &links);
    join_part(&s, 1, 4, 0, &links, (struct cdg_compare){CDG_MOVING, 3});
    for (unsigned part = 3; part > 0; part--) /* a condition over several pages */
        join_part(&s, 1, 5, part, part == 2 ? &any : &links, (struct cdg_compare){0, 0});
    EXPECT_TEXT(seen(&s, 1, 1), "[1 of 4] any change*2(2,5)=? links*3(2,3,5)=? AND*1(2)=? "
                                "S1/0 base 1 w=2 ");
    EXPECT_TEXT(seen(&s, 1, 5), "[1 of 4] links*3(1,2,3)=? S5/1 base 1 w=2 "
                                "any change*2(1,2)=? S5/2 base 1 w=2 S5/3 base 1 w=2 ");
    EXPECT_TEXT(seen(&s, 1, 4), "[2 of 1] links=? S4/0 base 1 w=3 ");
    for (int64_t id = 100; id < 130; id++)
        join(&s, 1, id, &links);
    EXPECT(strstr(seen(&s, 1, 4), "links=?"));
    EXPECT(strstr(seen(&s, 1, 3), "links*33(1,2,5,"));
}

TEST(not_committed, "a version that did not come to pass leaves what was found before")
{
    CLEANUP(site_done) struct site s = site_new();
    LEAF(any, "any change");
    join(&s, 1, 1, &any);
    publish(&s, 1, "<p>1");
    publish(&s, 1, "<p>2");
    cdg_plan_give_back(s.g, compare(&s, 1, "<p>3"));
    s.latest[1]--;
    EXPECT_TEXT(seen(&s, 1, 1), "[1 of 1] any change=C:1-2@1002 S1/0 base 2 w=1 ");
}

TEST(left, "a group that left while it was compared is not written to")
{
    CLEANUP(site_done) struct site s = site_new();
    LEAF(any, "any change");
    LEAF(links, "links");
    join(&s, 1, 1, &any);
    publish(&s, 1, "<p>1");
    struct cdg_plan *p = compare(&s, 1, "<p>2");
    cdg_leave(s.g, 1, 1);
    join(&s, 2, 2, &links); /* in what the other left */
    cdg_plan_note(s.g, p, 5);
    cdg_plan_give_back(s.g, p);
    EXPECT_TEXT(seen(&s, 2, 2), "[1 of 1] links=? S2/0 base 1 w=2 ");
}

/* What was found takes its place from what was found before. */
TEST(no_growth, "a page that changes for ever does not fill the memory with what was found")
{
    CLEANUP(site_done) struct site s = site_new();
    struct cdg_stats before, after;
    LEAF(any, "any change");
    join(&s, 1, 1, &any);
    for (int i = 0; i < 200; i++) {
        s.latest[1] %= VERSIONS_MAX - 2;
        publish(&s, 1, i % 2 ? "<p>1" : "<p>2");
        if (i == 20)
            cdg_stats_get(s.g, &before);
    }
    cdg_stats_get(s.g, &after);
    EXPECT_INT(after.bytes, before.bytes);
    cdg_leave(s.g, 1, 1);
    struct cdg_stats empty;
    cdg_stats_get(s.g, &empty);
    EXPECT(empty.bytes < after.bytes);
}

TEST_MAIN()
