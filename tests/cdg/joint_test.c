/* Conditions over several pages: what is told, and when.  Times are minutes, the window 60. */
#include "tests/cdg/cdg_help.h"

enum { WINDOW = 60 };

struct world {
    struct arena *life;
    const struct cdg_joint_part *parts;
    size_t nparts;
    struct cdg_joint *j;
    struct buf diary;
    int64_t versions;
};

static struct cdg_expr *leaf(struct arena *life, unsigned place, const char *kind)
{
    struct cdg_expr *e = arena_new_of(life, struct cdg_expr);
    *e = (struct cdg_expr){.op = CDG_LEAF, .leaf = leaf_of(kind), .place = place};
    return e;
}

static struct cdg_expr *op(
        struct arena *life, enum cdg_op o, struct cdg_expr *left, struct cdg_expr *right)
{
    struct cdg_expr *e = arena_new_of(life, struct cdg_expr);
    *e = (struct cdg_expr){.op = o, .left = left, .right = right};
    return e;
}

#define A leaf(w->life, 0, "links")
#define A2 leaf(w->life, 0, "images")
#define B leaf(w->life, 1, "links")
#define C leaf(w->life, 2, "links")
#define AND(x, y) op(w->life, CDG_AND, x, y)
#define OR(x, y) op(w->life, CDG_OR, x, y)
#define NOT(x) op(w->life, CDG_NOT, x, NULL)

static void begin(struct world *w, const struct cdg_expr *e)
{
    struct fault f = {.code = OK};
    if (cdg_joint_form(w->life, e, &f, &w->parts, &w->nparts) != OK)
        test_fail(__FILE__, __LINE__, "refused: %s", f.message);
    w->j = cdg_joint_new(w->parts, w->nparts, WINDOW);
}

static void tell(struct world *w, msec at, struct list *told)
{
    if (list_is_empty(told))
        return;
    buf_printf(&w->diary, "%s%d:", w->diary.len ? " " : "", (int)at);
    list_each (l, told) {
        const struct cdg_constituent *c = list_entry(l, struct cdg_constituent, link);
        buf_printf(&w->diary, "%c%d", 'a' + (char)w->parts[c->part].place, (int)c->at);
    }
    cdg_constituents_free(told);
}

static void pass(struct world *w, msec now)
{
    struct list told = LIST_INIT(told);
    unsigned conjunct;
    msec at;
    while (cdg_joint_due(w->j, now, &told, &conjunct, &at))
        tell(w, at, &told);
}

/* The page changed in what every part about it asks for. */
static void changes(struct world *w, char page, msec at)
{
    struct list told = LIST_INIT(told);
    pass(w, at - 1); /* a change at the very end of the window is still inside */
    w->versions++;
    for (size_t i = 0; i < w->nparts; i++) {
        struct cdg_constituent c = {.part = (unsigned)i, .at = at, .new_version = w->versions};
        if (w->parts[i].place == (unsigned)(page - 'a'))
            (void)cdg_joint_take(w->j, &c, &told);
    }
    tell(w, at, &told);
}

static void world_done(struct world *w)
{
    cdg_joint_free(w->j);
    buf_done(&w->diary);
    arena_free(w->life);
}

static struct world world_new(void)
{
    struct world w = {.life = arena_new(NULL, "joint")};
    buf_init(&w.diary, 1 << 16);
    return w;
}

#define WORLD(expr)                                                                            \
    CLEANUP(world_done) struct world the_world = world_new();                                  \
    struct world *w = &the_world;                                                              \
    begin(w, expr)

TEST(and, "AND: one notification with all that was collected when each page has changed")
{
    WORLD(AND(A, B));
    changes(w, 'a', 1000);
    changes(w, 'a', 1020);
    changes(w, 'b', 1050);
    EXPECT_TEXT(buf_text(&w->diary), "1050:a1000a1020b1050");
    changes(w, 'b', 1060); /* what was told is not told again */
    EXPECT_TEXT(buf_text(&w->diary), "1050:a1000a1020b1050");
}

TEST(expiry, "AND: what is older than the newest by more than the window is forgotten")
{
    WORLD(AND(A, B));
    changes(w, 'a', 1000);
    changes(w, 'b', 1070);
    EXPECT_INT(w->diary.len, 0);
    changes(w, 'a', 1075);
    EXPECT_TEXT(buf_text(&w->diary), "1075:b1070a1075");
}

TEST(edge, "AND: exactly a window apart is together")
{
    WORLD(AND(A, B));
    changes(w, 'a', 1000);
    changes(w, 'b', 1060);
    EXPECT_TEXT(buf_text(&w->diary), "1060:a1000b1060");
}

TEST(or, "OR: each change is told at once")
{
    WORLD(OR(A, B));
    changes(w, 'a', 1000);
    changes(w, 'b', 1001);
    changes(w, 'a', 1002);
    EXPECT_TEXT(buf_text(&w->diary), "1000:a1000 1001:b1001 1002:a1002");
}

TEST(absence, "a AND NOT b: told a window after a, if b did not change")
{
    WORLD(AND(A, NOT(B)));
    changes(w, 'a', 1000);
    changes(w, 'b', 1050);
    pass(w, 1199);
    EXPECT_INT(w->diary.len, 0);
    changes(w, 'a', 1200);
    EXPECT_INT(cdg_joint_deadline(w->j), 1260);
    pass(w, 1259);
    EXPECT_INT(w->diary.len, 0);
    pass(w, 1260);
    EXPECT_TEXT(buf_text(&w->diary), "1260:a1200");
    EXPECT(cdg_joint_deadline(w->j) == MSEC_NEVER);
}

TEST(absence_before, "a AND NOT b: b just before a counts, too")
{
    WORLD(AND(A, NOT(B)));
    changes(w, 'b', 1000);
    changes(w, 'a', 1060); /* 1000 is in [1060 - 60, 1060 + 60] */
    pass(w, 2000);
    EXPECT_INT(w->diary.len, 0);
    changes(w, 'b', 3000);
    changes(w, 'a', 3061);
    pass(w, 4000);
    EXPECT_TEXT(buf_text(&w->diary), "3121:a3061");
}

TEST(absence_edge, "a AND NOT b: b at the very end of the window still counts")
{
    WORLD(AND(A, NOT(B)));
    changes(w, 'a', 1000);
    changes(w, 'b', 1060);
    pass(w, 2000);
    EXPECT_INT(w->diary.len, 0);
}

TEST(absence_joins, "a AND NOT b: further changes of a before the deadline are told with it")
{
    WORLD(AND(A, NOT(B)));
    changes(w, 'a', 1000);
    changes(w, 'a', 1030);
    changes(w, 'a', 1100); /* a new one: the first has been told */
    pass(w, 2000);
    EXPECT_TEXT(buf_text(&w->diary), "1060:a1000a1030 1160:a1100");
}

TEST(three, "two pages and not a third: a window after both")
{
    WORLD(AND(AND(A, B), NOT(C)));
    changes(w, 'a', 1000);
    changes(w, 'b', 1040);
    EXPECT_INT(cdg_joint_deadline(w->j), 1100);
    pass(w, 1100);
    EXPECT_TEXT(buf_text(&w->diary), "1100:a1000b1040");
    changes(w, 'a', 2000);
    changes(w, 'b', 2010);
    changes(w, 'c', 2020);
    pass(w, 3000);
    EXPECT_TEXT(buf_text(&w->diary), "1100:a1000b1040");
}

TEST(one_page, "what a conjunct asks of one page is one part, answered by that page's pair")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct world only = {.life = life}, *w = &only;
    const struct cdg_joint_part *p;
    size_t n;

    EXPECT(cdg_joint_form(life, AND(AND(A, NOT(A2)), B), NULL, &p, &n) == OK);
    EXPECT_INT(n, 2);
    EXPECT(p[0].place == 0 && p[0].expr->op == CDG_AND && p[0].expr->right->op == CDG_NOT);
    EXPECT(!p[0].forbids && !p[1].forbids && p[1].place == 1);
    EXPECT(cdg_joint_form(life, OR(NOT(A), AND(A, NOT(B))), NULL, &p, &n) == OK);
    EXPECT_INT(n, 3); /* NOT a alone is a's own affair; b forbids */
    EXPECT(p[0].conjunct == 0 && p[0].expr->op == CDG_NOT && !p[0].forbids);
    EXPECT(p[1].conjunct == 1 && !p[1].forbids && p[2].forbids && p[2].expr->op == CDG_LEAF);
}

TEST(distributed, "AND over OR becomes a conjunct each, and NOT moves inwards")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct world only = {.life = life}, *w = &only;
    const struct cdg_joint_part *p;
    size_t n;

    EXPECT(cdg_joint_form(life, AND(A, OR(B, C)), NULL, &p, &n) == OK);
    EXPECT_INT(n, 4);
    EXPECT_INT(p[n - 1].conjunct, 1);
    EXPECT(cdg_joint_form(life, AND(C, NOT(OR(A, B))), NULL, &p, &n) == OK);
    EXPECT_INT(n, 3);
    EXPECT(!p[0].forbids && p[1].forbids && p[2].forbids);
}

TEST(refused, "only absences on several pages, and too many conjuncts, are refused")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct world only = {.life = life}, *w = &only;
    const struct cdg_joint_part *p;
    size_t n;
    struct fault f = {.code = OK};

    EXPECT_INT(cdg_joint_form(life, AND(NOT(A), NOT(B)), &f, &p, &n), ERR_RANGE);
    EXPECT_TEXT(f.message, "a NOT over several pages needs a positive partner");
    struct cdg_expr *e = OR(A, B);
    for (int i = 0; i < 4; i++)
        e = AND(e, OR(A, B)); /* 2^5 */
    EXPECT_INT(cdg_joint_form(life, e, &f, &p, &n), ERR_LIMIT);
}

TEST(same_change, "a change that completes two conjuncts is told once with what both collected")
{
    WORLD(AND(A, OR(B, C)));
    changes(w, 'b', 1000);
    changes(w, 'c', 1010);
    changes(w, 'a', 1020);
    EXPECT_TEXT(buf_text(&w->diary), "1020:b1000a1020c1010a1020");
}

TEST(bounded, "a page that changes all the time does not fill the memory")
{
    WORLD(AND(A, B));
    for (msec t = 0; t < 100000; t++)
        changes(w, 'a', 1000 + t / 10000);
    changes(w, 'b', 1010);
    size_t told = 0;
    for (const char *c = buf_text(&w->diary); *c; c++)
        told += *c == 'a';
    EXPECT_INT(told, 100);
}

TEST_MAIN()
