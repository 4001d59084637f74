#include "base/time.h"
#include "tests/test.h"

TEST(iso, "an instant is written and read back the same")
{
    char text[TIME_TEXT_SIZE];
    msec back;
    EXPECT_TEXT(time_iso(0, text), "1970-01-01T00:00:00Z");
    EXPECT_TEXT(time_iso(1794830400250, text), "2026-11-16T12:00:00.250Z");
    EXPECT(time_parse_iso(text, &back) && back == 1794830400250);
    EXPECT_TEXT(time_iso(-1, text), "1969-12-31T23:59:59.999Z");
    EXPECT(time_parse_iso(text, &back) && back == -1);
}

TEST(iso_forms, "zones, a space for the T and bare dates are understood")
{
    msec t;
    EXPECT(time_parse_iso("2026-12-01T08:00:00+01:00", &t) && t == 1796108400000);
    EXPECT(time_parse_iso("2026-12-01 07:00:00+00", &t) && t == 1796108400000);
    EXPECT(time_parse_iso("2026-12-01 07:00", &t) && t == 1796108400000);
    EXPECT(time_parse_iso("2026-12-01", &t) && t == 1796083200000);
}

TEST(iso_wrong, "dates that are none are refused")
{
    msec t;
    static const char *const wrong[] = {"", "2026", "2026-13-01", "2026-02-30", "2026-00-10",
            "2026-12-01T25:00", "2026-12-01T10:00:00X", "2026-12-01Tx", "2026-12-01T10:60",
            "2026-12-01T10:00:00+99:00", "next week"};
    for (size_t i = 0; i < countof(wrong); i++)
        EXPECT(!time_parse_iso(wrong[i], &t));
    EXPECT(time_parse_iso("2028-02-29", &t) && !time_parse_iso("2026-02-29", &t));
}

TEST(spans, "spans are read in the units people write")
{
    msec s;
    EXPECT(time_parse_span("90s", &s) && s == 90000);
    EXPECT(time_parse_span("2 min", &s) && s == 120000);
    EXPECT(time_parse_span(" 3 Days ", &s) && s == 3 * MSEC_PER_DAY);
    EXPECT(time_parse_span("250ms", &s) && s == 250);
    EXPECT(time_parse_span("60", &s) && s == 60000);
    EXPECT(!time_parse_span("1 month", &s) && !time_parse_span("s", &s));
    EXPECT(!time_parse_span("-1s", &s) && !time_parse_span("99999999999999999999s", &s));
    EXPECT(!time_parse_span("9223372036854775807s", &s));
}

TEST(span_text, "a span is said with its two largest units")
{
    char text[TIME_TEXT_SIZE];
    EXPECT_TEXT(time_span(1500, text), "1 second");
    EXPECT_TEXT(time_span(MSEC_PER_DAY + 2 * MSEC_PER_HOUR + 5, text), "1 day 2 hours");
    EXPECT_TEXT(time_span(MSEC_PER_DAY + 5 * MSEC_PER_MINUTE, text), "1 day");
    EXPECT_TEXT(time_span(250, text), "250 ms");
    EXPECT_TEXT(time_span(MSEC_NEVER, text), "for ever");
}

TEST(fixed, "a fixed clock says what it was told")
{
    struct clock_fixed c;
    clock_fixed_init(&c, 5, 7);
    EXPECT_INT(clock_wall(&c.clock), 5);
    c.mono = 8;
    EXPECT_INT(clock_mono(&c.clock), 8);
}

TEST_MAIN()
