/* FROM and TO, dates and zones, as they are run. */
#include "grammar/zone_int.h"
#include "tests/grammar/world.h"

#define X "CREATE SENTINEL t USING http://x.org MONITOR links "

static struct grammar_time from(struct arena *life, const char *clauses)
{
    const struct grammar_definition *d = effective(life, arena_printf(life, X "%s", clauses));
    EXPECT(d);
    return d ? d->from : (struct grammar_time){0};
}

static struct grammar_time to(struct arena *life, const char *clauses)
{
    const struct grammar_definition *d = effective(life, arena_printf(life, X "%s", clauses));
    EXPECT(d);
    return d ? d->to : (struct grammar_time){0};
}

#define EXPECT_AT(time, iso)                                                                   \
    do {                                                                                       \
        SCRATCH struct arena *life = arena_new(NULL, "at");                                    \
        struct grammar_time t_ = (time);                                                       \
        char a_[TIME_TEXT_SIZE];                                                               \
        EXPECT_INT(t_.kind, GRAMMAR_TIME_AT);                                                  \
        EXPECT_TEXT(time_iso(t_.at, a_), iso);                                                 \
    } while (0)

TEST(defaults, "without FROM and TO a sentinel lives a year from now")
{
    EXPECT_AT(from(life, ""), "2026-11-16T12:00:00Z");
    EXPECT_AT(to(life, ""), "2027-11-16T12:00:00Z");
    EXPECT_AT(to(life, "FROM 2027-01-01T00:00Z"), "2028-01-01T00:00:00Z");
    SCRATCH struct arena *life = arena_new(NULL, "test");
    EXPECT(from(life, "").is_now);
    EXPECT(from(life, "FROM now").is_now);
    EXPECT(!from(life, "FROM now + 1 s").is_now);
    struct grammar_time t = to(life, "FROM end(s1)");
    EXPECT(t.kind == GRAMMAR_TIME_FOR && t.offset == 365 * DAY);
}

TEST(days, "a day begins for FROM and ends for TO")
{
    EXPECT_AT(from(life, "FROM 12/05/26"), "2026-12-05T00:00:00Z");
    EXPECT_AT(to(life, "TO 12/05/26"), "2026-12-06T00:00:00Z");
    EXPECT_AT(to(life, "FROM 12/05/26 TO 12/05/26"), "2026-12-06T00:00:00Z");
    EXPECT_AT(to(life, "TO 2026-12-31T18:30Z"), "2026-12-31T18:30:00Z");
    EXPECT_AT(to(life, "TO 11/16/26"), "2026-11-17T00:00:00Z"); /* today is not over */
}

TEST(typing, "what was now when one began to type is now")
{
    EXPECT_AT(from(life, "FROM 2026-11-16T11:59:00Z"), "2026-11-16T12:00:00Z");
    EXPECT_AT(from(life, "FROM 11/16/26"), "2026-11-16T12:00:00Z");
    EXPECT_AT(from(life, "FROM 2026-11-16"), "2026-11-16T12:00:00Z");
    EXPECT_CODES(X "FROM 2026-11-16T11:58:59Z", "1:57 E033");
    EXPECT_CODES(X "FROM 11/16/26 00:00", "1:57 E033"); /* a clock was given */
}

TEST(zones, "zones are abbreviations, offsets or places")
{
    EXPECT_AT(from(life, "FROM 12/31/2027 18:30 PST"), "2028-01-01T02:30:00Z");
    EXPECT_AT(from(life, "FROM 7-1-2027-0-0-EST"), "2027-07-01T05:00:00Z");
    EXPECT_AT(from(life, "FROM 7/1/2027 0:00 EDT"), "2027-07-01T04:00:00Z");
    EXPECT_AT(from(life, "FROM 2026-12-01T08:00:00+01:00"), "2026-12-01T07:00:00Z");
    EXPECT_AT(from(life, "FROM 2026-12-01T08:00:00-05:30"), "2026-12-01T13:30:00Z");
    EXPECT_AT(from(life, "FROM 12/01/2026 08:00 Europe/Berlin"), "2026-12-01T07:00:00Z");
    EXPECT_AT(from(life, "FROM 07/01/2027 08:00 Europe/Berlin"), "2027-07-01T06:00:00Z");
    EXPECT_AT(from(life, "FROM 07/01/2027 08:00 America/New_York"), "2027-07-01T12:00:00Z");
    EXPECT_AT(from(life, "FROM 07/01/2060 08:00 America/New_York"), "2060-07-01T12:00:00Z");
    EXPECT_AT(from(life, "FROM 01/01/2027 08:00 Asia/Kolkata"), "2027-01-01T02:30:00Z");
    EXPECT_AT(from(life, "FROM 01/15/2027 08:00 Australia/Sydney"), "2027-01-14T21:00:00Z");
    EXPECT_AT(to(life, "TO 12/31/2026 CET"), "2026-12-31T23:00:00Z");
}

TEST(clock_changes, "a time that is skipped or comes twice is still one instant")
{
    /* Berlin 2027: forward on 28 March 02:00 -> 03:00, back on 31 October 03:00 -> 02:00. */
    EXPECT_AT(from(life, "FROM 03/28/2027 02:30 Europe/Berlin"), "2027-03-28T01:30:00Z");
    EXPECT_AT(from(life, "FROM 03/28/2027 01:59 Europe/Berlin"), "2027-03-28T00:59:00Z");
    EXPECT_AT(from(life, "FROM 03/28/2027 03:00 Europe/Berlin"), "2027-03-28T01:00:00Z");
    EXPECT_AT(from(life, "FROM 10/31/2027 02:30 Europe/Berlin"), "2027-10-31T00:30:00Z");
    EXPECT_AT(from(life, "FROM 10/31/2027 03:00 Europe/Berlin"), "2027-10-31T02:00:00Z");
    EXPECT_AT(to(life, "TO 03/28/2027 Europe/Berlin"), "2027-03-28T22:00:00Z");
}

TEST(server_zone, "a date without a zone is the server's")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct grammar_world w = world_make();
    struct grammar_script *s;
    const char *text = X "FROM 12/05/26 TO 12/06/26 10:00";
    w.zone = "America/Los_Angeles";
    REQUIRE(grammar_parse(life, "t", text, strlen(text), &s) == OK &&
            grammar_check(s, &w) == OK);
    EXPECT(s->statements->effective->from.at == at("2026-12-05T08:00:00Z"));
    EXPECT(s->statements->effective->to.at == at("2026-12-06T18:00:00Z"));
    w.zone = "UTC";
    w.zoneinfo = "/nonexistent";
    text = X "FROM 12/05/26 Europe/Berlin";
    REQUIRE(grammar_parse(life, "t", text, strlen(text), &s) == OK);
    EXPECT(grammar_check(s, &w) == ERR_RANGE);
    EXPECT(s->diagnostics->code == GRAMMAR_E032);
}

TEST(duration, "FOR counts from the own start")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct grammar_time t = to(life, "FROM 2026-12-01T00:00Z FOR 1 week");
    EXPECT_INT(t.kind, GRAMMAR_TIME_FOR);
    EXPECT_INT(t.offset, 7 * MSEC_PER_DAY);
    t = to(life, "FROM end(s1) + 5 hours FOR 7 hours");
    EXPECT(t.kind == GRAMMAR_TIME_FOR && t.offset == 7 * HOUR);
    EXPECT(to(life, "TO never").kind == GRAMMAR_TIME_NEVER);
}

TEST(relative, "a start or end of another hangs on its event")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct grammar_time t = from(life, "FROM end(S1) + 1 day");
    EXPECT(t.kind == GRAMMAR_TIME_END && t.offset == DAY && t.at == MSEC_NEVER);
    EXPECT_TEXT(t.of, "S1");
    t = from(life, "FROM start(s1)");
    EXPECT(t.kind == GRAMMAR_TIME_START && t.offset == 0);
    t = to(life, "TO end(act)");
    EXPECT(t.kind == GRAMMAR_TIME_END);
}

TEST(negative, "a negative offset is an instant, known and ahead")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct grammar_time t = from(life, "FROM start(s1) - 2 hours");
    EXPECT(t.kind == GRAMMAR_TIME_START && t.offset == -2 * HOUR);
    EXPECT(t.at == at("2026-11-30T22:00:00Z"));
    EXPECT(to(life, "TO end(act) - 1 day").at == at("2026-12-09T00:00:00Z"));
    EXPECT_CODES(X "FROM start(s1) - 16 days", "1:57 E043");
    EXPECT_CODES("CREATE SENTINEL a USING http://x.org MONITOR links FROM start(s1) + 1 day;" X
                 "FROM start(a) - 1 hour",
            ""); /* known through s1 */
    EXPECT_MARKED("CREATE SENTINEL a USING http://x.org MONITOR links FROM end(rel);" X
                  "FROM ¤start(a) - 1 hour",
            "E043");
    EXPECT_CODES(
            "CREATE SENTINEL a USING http://x.org MONITOR links FROM 2027-01-01 FOR 2 days;" X
            "FROM end(a) - 1 hour",
            "");
}

TEST(started, "the start of a running sentinel counts as far as it is ahead")
{
    /* act started on 10 November */
    EXPECT_AT(from(life, "FROM start(act) + 7 days"), "2026-11-17T00:00:00Z");
    EXPECT_CODES(X "FROM start(act) + 6 days", "1:57 E042");
    EXPECT_AT(to(life, "TO start(act) + 10 days"), "2026-11-20T00:00:00Z");
}

TEST(same_file, "sentinels of one file have not started yet")
{
    EXPECT_CODES("CREATE SENTINEL a USING http://x.org MONITOR links; " X
                 "FROM start(a) TO end(a)",
            "");
    EXPECT_CODES(X "FROM start(a); CREATE SENTINEL a USING http://x.org MONITOR links",
            "1:57 E040"); /* only earlier ones */
    EXPECT_CODES("STOP SENTINEL s1; " X "FROM end(s1)", "1:75 E041");
    EXPECT_CODES("DROP SENTINEL s1; " X "FROM end(s1)", "1:75 E040");
}

TEST(instants, "a single time, for options of the command")
{
    struct grammar_world w = world_make();
    struct fault f;
    msec t = 0;
    EXPECT(grammar_parse_instant("now - 2 days", &w, &f, &t) == OK);
    EXPECT(t == w.now - 2 * DAY);
    EXPECT(grammar_parse_instant("01/02/2026 10:00 EST", &w, &f, &t) == OK);
    EXPECT(t == at("2026-01-02T15:00:00Z"));
    EXPECT(grammar_parse_instant("yesterday", &w, &f, &t) == ERR_SYNTAX);
    EXPECT_TEXT(f.message, "E030: expected a time, found \"yesterday\"");
    EXPECT_INT(f.column, 1);
    EXPECT(grammar_parse_instant("now TO never", &w, &f, &t) == ERR_SYNTAX);
    EXPECT(grammar_parse_instant("01/01/2026 XXX", &w, &f, &t) == ERR_SYNTAX);
    EXPECT(grammar_parse_instant("start(s1)", &w, &f, &t) == ERR_SYNTAX);
    EXPECT(grammar_parse_instant("", &w, &f, &t) == ERR_SYNTAX);
}

TEST(civil, "days are counted right over four centuries")
{
    int64_t expected = civil_days(1899, 12, 31);
    for (int y = 1900; y < 2300; y++) {
        for (int m = 1; m <= 12; m++) {
            for (int d = 1; d <= civil_month_days(y, m); d++) {
                int yy, mm, dd;
                if (civil_days(y, m, d) != ++expected)
                    test_fail(__FILE__, __LINE__, "%d-%d-%d", y, m, d);
                civil_from_days(expected, &yy, &mm, &dd);
                if (yy != y || mm != m || dd != d)
                    test_fail(__FILE__, __LINE__, "%d-%d-%d", y, m, d);
            }
        }
    }
    EXPECT_INT(civil_days(1970, 1, 1), 0);
    EXPECT_INT(civil_days(2000, 3, 1), 11017);
}

TEST(broken_zones, "a zone file that lies is refused")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    size_t len;
    const struct zone *z = NULL;
    char *bytes = slurp(life, "/usr/share/zoneinfo/Europe/Berlin", &len);
    REQUIRE(zone_parse(life, bytes, len, &z));
    EXPECT(zone_instant(z, at("2027-07-01T08:00:00Z")) == at("2027-07-01T06:00:00Z"));
    for (size_t n = 0; n < len - 20; n += 7) {
        const struct zone *cut = NULL;
        char *copy =
                arena_memdup(life, bytes, n ? n : 1); /* so that a sanitizer sees the end */
        (void)zone_parse(life, copy, n, &cut);
    }
    EXPECT(!zone_parse(life, "TZif2", 5, &z));
    EXPECT(!zone_find(life, NULL, "../../../etc/passwd", &z));
    EXPECT(!zone_find(life, NULL, "/etc/passwd", &z));
    EXPECT(!zone_find(life, NULL, "Europe", &z)); /* a folder */
    EXPECT(!zone_find(life, NULL, "tzdata.zi", &z));
    EXPECT(!zone_find(life, NULL, "", &z));
}

static void expect_offset(const char *rule, const char *iso, msec minutes)
{
    struct tzrule r;
    if (!tzrule_parse(str_of(rule), &r))
        test_fail(__FILE__, __LINE__, "%s does not parse", rule);
    else if (tzrule_offset(&r, at(iso)) != minutes * MSEC_PER_MINUTE)
        test_fail(__FILE__, __LINE__, "%s at %s is %jd min, expected %jd", rule, iso,
                (intmax_t)(tzrule_offset(&r, at(iso)) / MSEC_PER_MINUTE), (intmax_t)minutes);
}

TEST(rules, "a zone's rule tells summer from winter in all its spellings")
{
    static const char berlin[] = "CET-1CEST,M3.5.0,M10.5.0/3",
                      sydney[] = "AEST-10AEDT,M10.1.0,M4.1.0/3";
    static const char dublin[] = "IST-1GMT0,M10.5.0,M3.5.0/1",
                      tehran[] = "<+0330>-3:30<+0430>,J79/24,J263/24";
    static const char ordinal[] = "EST5EDT,60,300", plain[] = "<-0230>+2:30";
    expect_offset(berlin, "2027-03-28T00:59:59Z", 60);
    expect_offset(berlin, "2027-03-28T01:00:00Z", 120);
    expect_offset(berlin, "2027-10-31T00:59:59Z", 120);
    expect_offset(berlin, "2027-10-31T01:00:00Z", 60);
    expect_offset(sydney, "2027-01-01T00:00:00Z", 660);
    expect_offset(sydney, "2027-07-01T00:00:00Z", 600);
    expect_offset(dublin, "2027-07-01T00:00:00Z", 60);
    expect_offset(dublin, "2027-01-01T00:00:00Z", 0);
    expect_offset(tehran, "2027-03-20T20:29:59Z", 210);
    expect_offset(tehran, "2027-03-20T20:30:00Z", 270);
    expect_offset(tehran, "2028-03-20T20:30:00Z", 270); /* J days know no leap day */
    expect_offset(tehran, "2028-03-20T20:29:59Z", 210);
    expect_offset(ordinal, "2027-03-02T06:59:59Z", -300);
    expect_offset(ordinal, "2027-03-02T07:00:00Z", -240);
    expect_offset(ordinal, "2028-03-01T07:00:00Z", -240); /* the others do */
    expect_offset(plain, "2027-07-01T00:00:00Z", -150);

    static const char *const wrong[] = {"", "C", "CET", "CET-1CEST", "CET-1CEST,M3.5.0",
            "CET-1CEST,M13.1.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-1X,M3.5.0,M10.5.0",
            "CET-1CEST,M3.5.0,M10.5.0x", "<+03-3", "CET-200", "CET-1:60"};
    for (size_t i = 0; i < countof(wrong); i++) {
        struct tzrule r;
        if (tzrule_parse(str_of(wrong[i]), &r))
            test_fail(__FILE__, __LINE__, "\"%s\" parses", wrong[i]);
    }
}

TEST_MAIN()
