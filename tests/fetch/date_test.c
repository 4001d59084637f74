/* HTTP dates in their three forms (RFC 9110 5.6.7), and Retry-After. */
#include "fetch/date.h"
#include "tests/test.h"
#include <stdio.h>
#include <time.h>

TEST(forms, "the three forms of an HTTP date mean the same instant")
{
    const msec expected = 784111777 * MSEC_PER_SECOND; /* the example of RFC 9110 */
    static const char *const forms[] = {"Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"};
    for (size_t i = 0; i < countof(forms); i++) {
        msec at = 0;
        EXPECT(fetch_date_parse(forms[i], &at));
        EXPECT_INT(at, expected);
    }
    msec leap;
    EXPECT(fetch_date_parse("Thu, 29 Feb 2024 00:00:00 GMT", &leap));
    EXPECT_INT(leap, 1709164800 * MSEC_PER_SECOND);
}

TEST(every_day, "every day of five centuries is the instant that the C library says it is")
{
    struct tm tm;
    char text[64];
    msec at;
    for (time_t day = -25567; day < 157000; day++) { /* 1900 to 2399 */
        time_t seconds = day * 86400 + 3661;
        strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&seconds, &tm));
        REQUIRE(fetch_date_parse(text, &at));
        REQUIRE(at == seconds * MSEC_PER_SECOND);
    }
}

TEST(nonsense, "what is not a date to the last character is no date")
{
    static const char *const wrong[] = {"", "0", "now", "Sun, 06 Nov 1994",
            "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 06 Nov 1994 08:49:37 GMTx",
            "Sun, 31 Feb 1994 08:49:37 GMT", "Wed, 29 Feb 2023 00:00:00 GMT",
            "Sun, 06 Nox 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
            "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:-9:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 0000 08:49:37 GMT", "1994-11-06T08:49:37Z",
            "Sun, 06 Nov 19940 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT and a great many more words after it"};
    for (size_t i = 0; i < countof(wrong); i++) {
        msec at = 42;
        if (fetch_date_parse(wrong[i], &at))
            test_fail(__FILE__, __LINE__, "\"%s\" is taken for a date", wrong[i]);
        EXPECT_INT(at, 42);
    }
}

TEST(seconds, "Retry-After in seconds is a span, at most a day")
{
    const msec now = 1000000 * MSEC_PER_SECOND;
    EXPECT_INT(fetch_retry_after("120", now), 120 * MSEC_PER_SECOND);
    EXPECT_INT(fetch_retry_after(" 7 ", now), 7 * MSEC_PER_SECOND);
    EXPECT_INT(fetch_retry_after("0", now), 0);
    EXPECT_INT(fetch_retry_after("86400", now), MSEC_PER_DAY);
    EXPECT_INT(fetch_retry_after("86401", now), MSEC_PER_DAY);
    EXPECT_INT(fetch_retry_after("1000000000000", now), MSEC_PER_DAY);
    EXPECT_INT(fetch_retry_after("99999999999999999999999999", now), MSEC_PER_DAY);
}

TEST(dates, "Retry-After as a date counts from now, a past one is none")
{
    const msec now = 784111777 * MSEC_PER_SECOND;
    EXPECT_INT(fetch_retry_after("Sun, 06 Nov 1994 08:50:37 GMT", now), MSEC_PER_MINUTE);
    EXPECT_INT(fetch_retry_after("Sunday, 06-Nov-94 09:49:37 GMT", now), MSEC_PER_HOUR);
    EXPECT_INT(fetch_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now), 0);
    EXPECT_INT(fetch_retry_after("Sat, 05 Nov 1994 08:49:37 GMT", now), 0);
    EXPECT_INT(fetch_retry_after("Sun, 06 Nov 2094 08:49:37 GMT", now), MSEC_PER_DAY);
}

TEST(garbage, "a Retry-After that nobody understands is none")
{
    static const char *const wrong[] = {"", " ", "-5", "+5", "1.5", "5s", "soon", "1e9", "0x10",
            "120 120", "Sun, 06 Nov 1994", "12:00"};
    for (size_t i = 0; i < countof(wrong); i++)
        EXPECT_INT(fetch_retry_after(wrong[i], 0), 0);
}
TEST_MAIN()
