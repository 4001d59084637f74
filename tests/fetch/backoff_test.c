/* Waiting after failures, and pages that are gone. */
#include "fetch/backoff.h"
#include "tests/test.h"

#define S MSEC_PER_SECOND

TEST(doubling, "each failure in a row doubles the wait, up to the page's own interval")
{
    const msec day = MSEC_PER_DAY;
    EXPECT_INT(fetch_backoff(1, day, MSEC_NEVER, 0), 60 * S);
    EXPECT_INT(fetch_backoff(2, day, MSEC_NEVER, 0), 120 * S);
    EXPECT_INT(fetch_backoff(5, day, MSEC_NEVER, 0), 960 * S);
    EXPECT_INT(fetch_backoff(20, day, MSEC_NEVER, 0), day);
    EXPECT_INT(fetch_backoff(4000000000u, day, MSEC_NEVER, 0), day);
    EXPECT_INT(fetch_backoff(3, 100 * S, MSEC_NEVER, 0), 100 * S);
    EXPECT_INT(fetch_backoff(1, 2 * S, MSEC_NEVER, 0), 2 * S);
}

TEST(tick, "a retry never comes later than the next planned look")
{
    EXPECT_INT(fetch_backoff(6, MSEC_PER_HOUR, 45 * S, 0), 45 * S);
    EXPECT_INT(fetch_backoff(1, MSEC_PER_HOUR, 45 * MSEC_PER_MINUTE, 0), 60 * S);
}

TEST(asked, "a server that asks us to stay away is obeyed, up to a day")
{
    EXPECT_INT(fetch_backoff(1, 60 * S, 30 * S, 7 * S), 7 * S);
    EXPECT_INT(fetch_backoff(1, 60 * S, 30 * S, 3 * MSEC_PER_HOUR), 3 * MSEC_PER_HOUR);
    EXPECT_INT(fetch_backoff(1, 60 * S, 30 * S, 9 * MSEC_PER_DAY), MSEC_PER_DAY);
}

TEST(gone, "a page is gone after two 404 on different ticks, and that is said once")
{
    struct fetch_gone g;
    fetch_gone_init(&g);
    EXPECT(!fetch_gone_answered(&g, 100, true));
    EXPECT(!fetch_gone_answered(&g, 100, true)); /* a retry within the same tick */
    EXPECT(!g.is_gone);
    EXPECT(fetch_gone_answered(&g, 200, true));
    EXPECT(!fetch_gone_answered(&g, 300, true));
    EXPECT(g.is_gone);
    EXPECT(!fetch_gone_answered(&g, 400, false)); /* it is back */
    EXPECT(!g.is_gone);
    EXPECT(!fetch_gone_answered(&g, 500, true));
    EXPECT(fetch_gone_answered(&g, 600, true));
}

TEST(not_gone, "a page that answers in between is not gone")
{
    struct fetch_gone g;
    fetch_gone_init(&g);
    EXPECT(!fetch_gone_answered(&g, 1, true));
    EXPECT(!fetch_gone_answered(&g, 2, false));
    EXPECT(!fetch_gone_answered(&g, 3, true));
    EXPECT(!g.is_gone);
}
TEST_MAIN()
