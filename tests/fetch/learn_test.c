/* The learned interval: the worked table, its rules one by one, and its text. */
#include "fetch/learn.h"
#include "tests/test.h"

#define S MSEC_PER_SECOND

TEST(table, "the worked example: eleven looks at a page that changes four times")
{
    static const struct {
        msec at;
        bool changed;
        msec est, next; /* seconds, est rounded down; 0: not known */
    } rows[] = {{3600, false, 0, 5400}, {9000, false, 0, 8100}, {17100, true, 13050, 6525},
            {23625, false, 13050, 6525}, {30150, true, 13575, 6787}, {36937, true, 9621, 4810},
            {41747, true, 7582, 2405}, {44152, false, 7582, 2405}, {46557, false, 7582, 2405},
            {48962, false, 7582, 3607}};
    struct fetch_learned l;
    msec at = 0, p = fetch_learn_baseline(&l, NULL, 0, MSEC_NEVER);
    EXPECT_INT(p, 3600 * S);
    for (size_t i = 0; i < countof(rows); i++) {
        at += p;
        EXPECT_INT(at, rows[i].at * S); /* the rule itself produces the times */
        p = rows[i].changed ? fetch_learn_changed(&l, NULL, at, MSEC_NEVER)
                            : fetch_learn_unchanged(&l, NULL, at);
        EXPECT_INT(fetch_learn_estimate(&l) / S, rows[i].est);
        EXPECT_INT(p, rows[i].next * S);
    }
}

TEST(last_modified, "a change is dated by the server where that can be true")
{
    struct fetch_learned l;
    fetch_learn_baseline(&l, NULL, 10000 * S, 4000 * S);
    EXPECT_INT(l.last_change, 4000 * S);
    EXPECT_INT(fetch_learn_changed(&l, NULL, 20000 * S, 16000 * S), 6000 * S);
    EXPECT_INT(l.last_change, 16000 * S);
    /* A date before our last fetch, and one in the future, cannot be: the middle it is. */
    fetch_learn_changed(&l, NULL, 30000 * S, 19000 * S);
    EXPECT_INT(l.last_change, 25000 * S);
    fetch_learn_changed(&l, NULL, 40000 * S, 50000 * S);
    EXPECT_INT(l.last_change, 35000 * S);
}

TEST(baseline_future, "a first Last-Modified from the future counts as now")
{
    struct fetch_learned l;
    fetch_learn_baseline(&l, NULL, 10000 * S, 20000 * S);
    EXPECT_INT(l.last_change, 10000 * S);
}

TEST(dated_run, "changes that the server dates do not count as a run that misses some")
{
    struct fetch_learned l;
    msec at = 0, p = fetch_learn_baseline(&l, NULL, 0, MSEC_NEVER);
    for (int i = 0; i < 6; i++) {
        at += p;
        p = fetch_learn_changed(&l, NULL, at, at - S);
    }
    EXPECT_INT(l.run, 0);
    EXPECT(p > 300 * S); /* halving six times would have hit the floor */
}

TEST(limits, "the interval stays between five minutes and seven days")
{
    struct fetch_learned l;
    msec at = 0, p = fetch_learn_baseline(&l, NULL, 0, MSEC_NEVER);
    for (int i = 0; i < 40; i++)
        p = fetch_learn_unchanged(&l, NULL, at += p);
    EXPECT_INT(p, 7 * MSEC_PER_DAY);
    for (int i = 0; i < 40; i++)
        p = fetch_learn_changed(&l, NULL, at += p, MSEC_NEVER);
    EXPECT_INT(p, 5 * MSEC_PER_MINUTE);
    EXPECT_INT(l.ngaps, FETCH_LEARN_GAPS);

    const struct fetch_learn_limits quick = {.first = 10 * S, .least = 2 * S, .most = 20 * S};
    EXPECT_INT(fetch_learn_baseline(&l, &quick, 0, MSEC_NEVER), 10 * S);
    EXPECT_INT(fetch_learn_unchanged(&l, &quick, 10 * S), 15 * S);
    EXPECT_INT(fetch_learn_unchanged(&l, &quick, 25 * S), 20 * S);
    EXPECT_INT(fetch_learn_changed(&l, &quick, 25 * S + 1, MSEC_NEVER), 12 * S);
}

TEST(clock_back, "a clock that was set back makes no negative gaps")
{
    struct fetch_learned l;
    fetch_learn_baseline(&l, NULL, 100000 * S, MSEC_NEVER);
    EXPECT_INT(fetch_learn_changed(&l, NULL, 50000 * S, MSEC_NEVER), 300 * S);
    EXPECT_INT(l.last_fetch, 100000 * S);
    EXPECT_INT(l.gaps[0], 0);
}

TEST(text, "the state survives being written and read")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct fetch_learned l, back;
    struct fault f;
    msec at = 1763000000000, p = fetch_learn_baseline(&l, NULL, at, MSEC_NEVER);
    for (int i = 0; i < 12; i++) {
        memset(&back, 0xff, sizeof(back));
        REQUIRE(fetch_learn_read(fetch_learn_write(&l, life), &f, &back) == OK);
        EXPECT(back.interval == l.interval && back.last_fetch == l.last_fetch);
        EXPECT(back.last_change == l.last_change && back.ngaps == l.ngaps && back.run == l.run);
        EXPECT(memcmp(back.gaps, l.gaps, l.ngaps * sizeof(l.gaps[0])) == 0);
        p = fetch_learn_changed(&l, NULL, at += p, MSEC_NEVER);
    }
    EXPECT(fetch_learn_read("{\"gaps\": [1, 2], \"run\": 2, \"interval\": 3600000, "
                            "\"last_fetch\": 5, \"last_change\": -4}",
                   &f, &back) == OK);
    EXPECT(back.ngaps == 2 && back.gaps[1] == 2 && back.run == 2 && back.last_change == -4);
}

TEST(bad_text, "a damaged state is refused")
{
    static const char *const wrong[] = {"", "{}", "[]", "null", "{", "{\"interval\":3600000}",
            "{\"interval\":0,\"last_fetch\":1,\"last_change\":1,\"gaps\":[],\"run\":0}",
            "{\"interval\":-1000,\"last_fetch\":1,\"last_change\":1,\"gaps\":[],\"run\":0}",
            "{\"interval\":1000,\"last_fetch\":1,\"last_change\":1,\"gaps\":[-1],\"run\":0}",
            "{\"interval\":1000,\"last_fetch\":1,\"last_change\":1,\"gaps\":[1,],\"run\":0}",
            "{\"interval\":1000,\"last_fetch\":1,\"last_change\":1,\"gaps\":[1,2,3,4,5,6,7,8,9]"
            ","
            "\"run\":0}",
            "{\"interval\":1000,\"last_fetch\":1,\"last_change\":1,\"gaps\":[],\"run\":-1}",
            "{\"interval\":1000,\"last_fetch\":1,\"last_change\":1,\"gaps\":[],\"run\":0}x",
            "{\"interval\":1000,\"last_fetch\":99999999999999999999,\"last_change\":1,"
            "\"gaps\":[],\"run\":0}",
            "{\"interval\":1000,\"last_fetch\":1,\"last_change\":1,\"gaps\":[],\"walk\":0}"};
    struct fault f;
    struct fetch_learned l;
    for (size_t i = 0; i < countof(wrong); i++)
        if (fetch_learn_read(wrong[i], &f, &l) != ERR_SYNTAX)
            test_fail(__FILE__, __LINE__, "%s is accepted", wrong[i]);
}
TEST_MAIN()
