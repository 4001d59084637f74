/* Politeness as numbers. */
#include "fetch/polite.h"
#include "fetch/date.h"
#include "tests/test.h"
#include <stdio.h>
#include <time.h>

#define S MSEC_PER_SECOND

TEST(gap, "the next request to a host waits for the gap")
{
    struct fetch_polite p = {0};
    fetch_polite_began(&p, 1000, 1500);
    EXPECT_INT(p.next_at, 2500);
    EXPECT_INT(fetch_polite_stopped_for(&p, 1000), 0);
    EXPECT_INT(fetch_polite_forget_at(&p), 2500);
}

TEST(stop, "429 and 503 stop the whole host for as long as it asked, at most a day")
{
    struct fetch_polite p = {0};
    fetch_polite_answered(&p, 0, 503, 120 * S);
    EXPECT_INT(fetch_polite_stopped_for(&p, 0), 120 * S);
    EXPECT_INT(fetch_polite_stopped_for(&p, 119 * S), 1 * S);
    EXPECT_INT(fetch_polite_stopped_for(&p, 120 * S), 0);
    fetch_polite_answered(&p, 200 * S, 429, 90 * MSEC_PER_DAY);
    EXPECT_INT(fetch_polite_stopped_for(&p, 200 * S), MSEC_PER_DAY);
}

TEST(doubling, "a host that does not say how long gets a minute, then two, then four")
{
    struct fetch_polite p = {0};
    msec now = 0, expected = MSEC_PER_MINUTE;
    for (int i = 0; i < 40; i++) {
        fetch_polite_answered(&p, now, 429, 0);
        EXPECT_INT(fetch_polite_stopped_for(&p, now), expected);
        now += expected;
        expected = expected * 2 < MSEC_PER_DAY ? expected * 2 : MSEC_PER_DAY;
    }
    fetch_polite_answered(&p, now, 200, 0); /* forgiven */
    fetch_polite_answered(&p, now, 503, 0);
    EXPECT_INT(fetch_polite_stopped_for(&p, now), MSEC_PER_MINUTE);
}

TEST(retry_after, "two hundred ways of asking for time are obeyed, or were no such thing")
{
    const msec now = 1763294400 * S; /* 2025-11-16T12:00:00Z */
    for (int i = 0; i < 200; i++) {
        char text[80];
        msec wait = (msec)(i * i + 1) * 7 * S, expected = wait;
        time_t at = (time_t)((now + wait) / S);
        struct tm tm;
        gmtime_r(&at, &tm);
        switch (i % 5) {
        case 0:
            snprintf(text, sizeof(text), "%lld", (long long)(wait / S));
            break;
        case 1:
            strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm);
            break;
        case 2: /* past */
            at = (time_t)((now - wait) / S);
            gmtime_r(&at, &tm);
            strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm);
            expected = 0;
            break;
        case 3: /* garbage */
            snprintf(text, sizeof(text), "%d minutes, -%d;", i, i);
            expected = 0;
            break;
        default:
            snprintf(text, sizeof(text), "%d000000000000", i + 1);
            expected = MSEC_PER_DAY;
        }
        if (expected > MSEC_PER_DAY)
            expected = MSEC_PER_DAY;
        struct fetch_polite p = {0};
        fetch_polite_answered(&p, 0, i & 1 ? 429 : 503, fetch_retry_after(text, now));
        msec stopped = fetch_polite_stopped_for(&p, 0);
        if (stopped != (expected ? expected : MSEC_PER_MINUTE))
            test_fail(__FILE__, __LINE__, "\"%s\": stopped for %lld ms", text,
                    (long long)stopped);
    }
}

TEST(late_answer, "an answer that was on its way when the host stopped us does not unstop it")
{
    struct fetch_polite p = {0};
    fetch_polite_answered(&p, 0, 429, 100 * S);
    fetch_polite_answered(&p, 1 * S, 200, 0);
    fetch_polite_answered(&p, 2 * S, 0, 0); /* no answer at all */
    EXPECT_INT(fetch_polite_stopped_for(&p, 2 * S), 98 * S);
    EXPECT_INT(p.strikes, 1);
    fetch_polite_answered(&p, 3 * S, 503, 10 * S); /* nor does a shorter wait shorten it */
    EXPECT_INT(fetch_polite_stopped_for(&p, 3 * S), 97 * S);
}

TEST(jitter, "intervals are spread by a tenth to both sides, evenly, and always the same")
{
    enum { N = 10000, BUCKETS = 20 };
    int buckets[BUCKETS] = {0};
    char key[64];
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof(key), "http://example.org/%d", i);
        msec j = fetch_jitter(key, 3600 * S, 10);
        EXPECT(j >= 3240 * S && j <= 3960 * S);
        EXPECT_INT(fetch_jitter(key, 3600 * S, 10), j);
        buckets[(j - 3240 * S) * BUCKETS / (720 * S + 1)]++;
    }
    for (int b = 0; b < BUCKETS; b++)
        EXPECT(buckets[b] <= N / BUCKETS * 3 / 2 && buckets[b] >= N / BUCKETS / 2);
    EXPECT_INT(fetch_jitter("x", 0, 10), 0);
    EXPECT_INT(fetch_jitter("x", 3600 * S, 0), 3600 * S);
}
TEST_MAIN()
