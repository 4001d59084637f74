/* phrase: the ten cases of the context bounding box, and what is remembered between pairs. */
#include "tests/cdg/cdg_help.h"

static const char *const panic[] = {"the movie is Panic Room"};

static struct cdg_leaf phrase(unsigned box)
{
    struct cdg_leaf l = leaf_of("phrase");
    l.words = panic;
    l.nwords = 1;
    l.box = box;
    return l;
}

#define BEFORE "<p>b1 b2 b3 b4 the movie is Panic Room e1 e2 e3 e4</p>"
#define EXPECT_PHRASE(after, expected)                                                         \
    EXPECT_LEAF(phrase(4), BEFORE, "<p>" after "</p>", expected)
#define P "the movie is Panic Room"
#define HEAT "the movie is Heat"

TEST(ph0, "PH0: unchanged")
{
    EXPECT_PHRASE("b1 b2 b3 b4 " P " e1 e2 e3 e4", "N");
    EXPECT_PHRASE("x y b1 b2 b3 b4 " P " e1 e2 e3 e4 z", "N");
}

TEST(ph1, "PH1: another wording between the same words is an update")
{
    EXPECT_PHRASE("b1 b2 b3 b4 " HEAT " e1 e2 e3 e4", "~" P "→" HEAT);
}

TEST(ph1d, "PH1d: nothing between the same words is a deletion")
{
    EXPECT_PHRASE("b1 b2 b3 b4 e1 e2 e3 e4", "−" P);
}

TEST(ph2, "PH2: the words before changed, the phrase did not")
{
    EXPECT_PHRASE("X b2 b3 b4 " P " e1 e2 e3 e4", "N");
}

TEST(ph3, "PH3: the words behind changed, the phrase did not")
{
    EXPECT_PHRASE("b1 b2 b3 b4 " P " e1 e2 e3 X", "N");
}

TEST(ph4, "PH4: both sides changed, the phrase did not")
{
    EXPECT_PHRASE("X b2 b3 b4 " P " e1 e2 e3 X", "N");
    EXPECT_PHRASE("nothing is " P " as it was", "N");
}

TEST(ph5, "PH5: the outermost word before is given up")
{
    EXPECT_PHRASE("X b2 b3 b4 " HEAT " e1 e2 e3 e4", "~" P "→" HEAT);
}

TEST(ph6, "PH6: the outermost word behind is given up")
{
    EXPECT_PHRASE("b1 b2 b3 b4 " HEAT " e1 e2 e3 X", "~" P "→" HEAT);
}

TEST(ph7, "PH7: a word is given up on both sides")
{
    EXPECT_PHRASE("X b2 b3 b4 " HEAT " e1 e2 e3 X", "~" P "→" HEAT);
}

TEST(ph8, "PH8: the word next to the phrase changed before it")
{
    EXPECT_PHRASE("b1 b2 b3 X " HEAT " e1 e2 e3 e4", "U: context lost");
}

TEST(ph8h, "PH8h: half of the words before are gone")
{
    EXPECT_PHRASE("X Y b3 b4 " HEAT " e1 e2 e3 e4", "U: context lost");
}

TEST(ph9, "PH9: the word next to the phrase changed behind it")
{
    EXPECT_PHRASE("b1 b2 b3 b4 " HEAT " X e2 e3 e4", "U: context lost");
}

TEST(ph10, "PH10: the words next to the phrase changed on both sides")
{
    EXPECT_PHRASE("b1 b2 b3 X " HEAT " X e2 e3 e4", "U: context lost");
}

TEST(disappeared, "a page without three words in a row of it has lost the phrase")
{
    EXPECT_PHRASE("quite another page about b1 X b2", "−" P);
    EXPECT_PHRASE("", "−" P);
    EXPECT_PHRASE("another page with b2 b3 b4 left", "U: context lost");
    EXPECT_PHRASE("another page: movie is Panic", "U: context lost");
}

TEST(edges, "a side without words is the edge of the page")
{
    EXPECT_LEAF(phrase(4), "<p>" P " e1 e2 e3 e4</p>", "<p>" HEAT " e1 e2 e3 e4</p>",
            "~" P "→" HEAT);
    EXPECT_LEAF(phrase(4), "<p>b1 b2 b3 b4 " P "</p>", "<p>b1 b2 b3 b4 " HEAT "</p>",
            "~" P "→" HEAT);
    EXPECT_LEAF(phrase(4), "<p>" P "</p>", "<p>quite another text</p>",
            "~" P "→quite another text");
    EXPECT_LEAF(phrase(4), "<p>b4 " P " e1</p>", "<p>b4 " HEAT " e1</p>", "~" P "→" HEAT);
}

TEST(punctuation, "punctuation and markup are not part of it, capitals are")
{
    EXPECT_PHRASE("b1 b2, b3 b4: \"" P "\". (e1 e2 e3 e4)", "N");
    EXPECT_PHRASE("b1 b2 b3</p><p>b4 the <b>movie</b> is Panic Room</p><p>e1 e2 e3 e4", "N");
    EXPECT_PHRASE("b1 b2 b3 b4 the movie is panic room e1 e2 e3 e4",
            "~" P "→the movie is panic room");
    EXPECT_PHRASE("b1 b2 b3 b4 the movie</p><p>is Panic Room e1 e2 e3 e4", "N");
}

TEST(moved, "a phrase that moved with or without its context has not changed")
{
    EXPECT_PHRASE("e1 e2 e3 e4 and then b1 b2 b3 b4 " P " e1 e2 e3 e4", "N");
    EXPECT_PHRASE("e1 e2 e3 e4 b1 b2 b3 b4 " P, "N");
}

TEST(closest, "of several places the closest pair of words around it counts")
{
    EXPECT_PHRASE("b1 b2 b3 b4 far away and b1 b2 b3 b4 " HEAT " e1 e2 e3 e4 or e1 e2 e3 e4",
            "~" P "→" HEAT);
}

TEST(occurrence, "the occurrence chosen is the one that is followed")
{
    struct cdg_leaf second = phrase(4);
    second.occurrence = 2;
    static const char two[] = "<p>a1 a2 a3 a4 " P " c1 c2 c3 c4</p>" BEFORE;
    EXPECT_LEAF(
            phrase(4), two, "<p>a1 a2 a3 a4 " HEAT " c1 c2 c3 c4</p>" BEFORE, "~" P "→" HEAT);
    EXPECT_LEAF(second, two, "<p>a1 a2 a3 a4 " HEAT " c1 c2 c3 c4</p>" BEFORE, "N");
    second.occurrence = 3;
    EXPECT_LEAF(second, two, two, "U: the phrase is not in the page");
}

TEST(absent, "a phrase that is nowhere is U, one that comes is an insertion")
{
    EXPECT_LEAF(phrase(4), "<p>x</p>", "<p>y</p>", "U: the phrase is not in the page");
    EXPECT_LEAF(phrase(4), "<p>x</p>", BEFORE, "+" P);
}

TEST(several, "several phrases are followed each for itself")
{
    static const char *const both[] = {P, "five other words stand here"};
    struct cdg_leaf l = phrase(4);
    l.words = both;
    l.nwords = 2;
    static const char old[] =
            BEFORE "<p>x1 x2 x3 x4 five other words stand here y1 y2 y3 y4</p>";
    EXPECT_LEAF(l, old, old, "N");
    EXPECT_LEAF(l, old, BEFORE "<p>x1 x2 x3 x4 five more words stand here y1 y2 y3 y4</p>",
            "~five other words stand here→five more words stand here");
    EXPECT_LEAF(l, old, BEFORE "<p>x1 x2 x3 Z five more words stand here y1 y2 y3 y4</p>",
            "U: context lost");
    EXPECT_LEAF(l, old,
            "<p>b1 b2 b3 b4 " HEAT " e1 e2 e3 e4</p>"
            "<p>x1 x2 x3 Z five more words stand here y1 y2 y3 y4</p>",
            "~" P "→" HEAT);
}

TEST(ratio, "CHANGED counts the words of the phrase")
{
    struct cdg_leaf l = phrase(4);
    l.changed_over = true;
    l.percent = 50;
    EXPECT_LEAF(l, BEFORE, "<p>b1 b2 b3 b4 the movie is Heat e1 e2 e3 e4</p>", "N");
    EXPECT_LEAF(
            l, BEFORE, "<p>b1 b2 b3 b4 we show Heat e1 e2 e3 e4</p>", "~" P "→we show Heat");
}

TEST(arguments, "phrases are long enough, boxes are in range")
{
    struct fault f;
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = phrase(31)};
    struct cdg_compare pairwise = {.kind = CDG_PAIRWISE};
    EXPECT_INT(cdg_check(&e, pairwise, &f), ERR_RANGE);
    static const char *const four[] = {"only four words -- here"};
    e.leaf = phrase(10);
    EXPECT_INT(cdg_check(&e, pairwise, &f), OK);
    EXPECT(cdg_wants_state(&e));
    e.leaf.words = four;
    EXPECT_INT(cdg_check(&e, pairwise, &f), ERR_RANGE);
    e.leaf = leaf_of("links");
    EXPECT(!cdg_wants_state(&e));
}

/* ---- through versions -------------------------------------------------------------------- */

struct story {
    struct arena *life;
    struct cdg *g;
    struct cdg_version *last;
    struct str state; /* what an engine would have committed */
    int64_t version;
    const char *notice;
};

static const struct cdg_version *give_old(int64_t number, void *arg)
{
    struct story *s = arg;
    return number == s->last->number ? s->last : NULL;
}

static struct str give_state(int64_t sentinel_id, unsigned part, void *arg)
{
    (void)sentinel_id;
    (void)part;
    return ((struct story *)arg)->state;
}

static struct story story_new(struct arena *life, const struct cdg_expr *e, const char *first)
{
    struct story s = {.life = life, .g = cdg_new(life), .version = 1};
    struct cdg_subscription sub = {
            .page_id = 1, .sentinel_id = 7, .expr = e, .base_version = 1};
    if (cdg_join(s.g, &sub, NULL) != OK)
        test_fail(__FILE__, __LINE__, "refused");
    s.last = version_of(life, 1, first, "text/html");
    return s;
}

static char *story_next(struct story *s, const char *words)
{
    const struct cdg_verdict *v;
    char *page = arena_printf(s->life, "<p>%s</p>", words);
    struct cdg_version *now = version_of(s->life, ++s->version, page, "text/html");
    struct cdg_plan *p = cdg_plan_take(s->g, 1, s->version);

    if (cdg_plan_run_states(p, now, give_old, give_state, s, s->life, &v) != 1)
        test_fail(__FILE__, __LINE__, "no verdict");
    if (v[0].state.ptr)
        s->state = v[0].state;
    s->notice = v[0].finding->notice;
    s->last = now;
    char *shown = show(s->life, v[0].finding);
    cdg_plan_give_back(s->g, p);
    return shown;
}

TEST(followed, "a phrase is followed from wording to wording")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = phrase(4)};
    struct story s = story_new(life, &e, BEFORE);
    EXPECT_TEXT(story_next(&s, "b1 b2 b3 b4 " HEAT " e1 e2 e3 e4"), "~" P "→" HEAT);
    EXPECT_TEXT(story_next(&s, "b1 b2 b3 b4 " HEAT " e1 e2 e3 e4 x"), "N");
    EXPECT_TEXT(story_next(&s, "b1 b2 b3 b4 today Alien e1 e2 e3 e4"), "~" HEAT "→today Alien");
    EXPECT_TEXT(story_next(&s, "b1 b2 b3 b4 e1 e2 e3 e4"), "−today Alien");
    EXPECT_TEXT(story_next(&s, "b1 b2 b3 b4 e1 e2 e3 e4 y"), "N");
    EXPECT_TEXT(story_next(&s, "b1 b2 b3 b4 back e1 e2 e3 e4"), "+back");
}

TEST(box_moves, "the words around it are read again where the phrase was found itself")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = phrase(4)};
    struct story s = story_new(life, &e, BEFORE);
    EXPECT_TEXT(story_next(&s, "n1 n2 n3 n4 " P " m1 m2 m3 m4"), "N");
    EXPECT_TEXT(story_next(&s, "n1 n2 n3 n4 " HEAT " m1 m2 m3 m4"), "~" P "→" HEAT);
}

TEST(box_shrinks, "words that were given up do not come back")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = phrase(4)};
    struct story s = story_new(life, &e, BEFORE);
    EXPECT_TEXT(story_next(&s, "X b2 b3 b4 " HEAT " e1 e2 e3 e4"), "~" P "→" HEAT);
    EXPECT_TEXT(story_next(&s, "Y b2 b3 b4 Alien e1 e2 e3 e4"), "~" HEAT "→Alien"); /* case 1 */
}

TEST(told_once, "after three times in a row the owner is told, once")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = phrase(4)};
    struct story s = story_new(life, &e, BEFORE);
    for (int i = 1; i <= 6; i++) {
        char *page = arena_printf(life, "b1 b2 b3 X " HEAT " X e2 e3 e4 %d", i);
        EXPECT_TEXT(story_next(&s, page), "U: context lost");
        EXPECT((s.notice != NULL) == (i == 3));
    }
    EXPECT_TEXT(story_next(&s, "b1 b2 b3 b4 " P " e1 e2 e3 e4"), "N");
    EXPECT_TEXT(story_next(&s, "b1 b2 b3 b4 " HEAT " e1 e2 e3 e4"), "~" P "→" HEAT);
}

TEST(gone_once, "that it disappeared is told once, and that it came back as well")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = phrase(4)};
    struct story s = story_new(life, &e, BEFORE);
    EXPECT_TEXT(story_next(&s, "nothing left"), "−" P);
    EXPECT_TEXT(story_next(&s, "nothing left still"), "N");
    EXPECT_TEXT(story_next(&s, "now " P " again"), "+" P);
    EXPECT_TEXT(story_next(&s, "now " HEAT " again"), "~" P "→" HEAT);
}

TEST(with_others, "a composite keeps the state of each phrase, and answers the rest as ever")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char *const other[] = {"five other words stand here"};
    struct cdg_leaf second = phrase(4);
    second.words = other;
    struct cdg_expr a = {.op = CDG_LEAF, .leaf = phrase(4)},
                    b = {.op = CDG_LEAF, .leaf = second},
                    links = {.op = CDG_LEAF, .leaf = leaf_of("links")},
                    both = {.op = CDG_OR, .left = &a, .right = &b},
                    none = {.op = CDG_NOT, .left = &links},
                    all = {.op = CDG_AND, .left = &both, .right = &none};
    struct story s = story_new(life, &all,
            "<p>b1 b2 b3 b4 " P " e1 e2 e3 e4 five other words stand here y1 y2 y3 y4</p>");
    EXPECT_TEXT(story_next(&s, "b1 b2 b3 b4 " HEAT " e1 e2 e3 e4 five other words stand here "
                               "y1 y2 y3 y4"),
            "~" P "→" HEAT);
    EXPECT_TEXT(story_next(&s, "b1 b2 b3 b4 " HEAT " e1 e2 e3 e4 five more words y1 y2 y3 y4"),
            "~five other words stand here→five more words");
    EXPECT_TEXT(story_next(&s, "b1 b2 b3 b4 Alien e1 e2 e3 e4 five more words y1 y2 y3 y4"
                               "<a href=/n></a>"),
            "N");
}

TEST(damaged_state, "a state that is none begins anew")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = phrase(4)};
    static const char *const bad[] = {
            "", "\n\n", "0\t0", "\t\t\t\t\t\t\t", "x\t0\t0\t0\ta\tb\tc\n"};
    for (size_t i = 0; i < countof(bad); i++) {
        struct story s = story_new(life, &e, BEFORE);
        s.state = str_of(bad[i]);
        EXPECT_TEXT(story_next(&s, "b1 b2 b3 b4 " HEAT " e1 e2 e3 e4"), "~" P "→" HEAT);
    }
}

TEST_MAIN()
