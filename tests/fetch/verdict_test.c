/* Is it new?  Every row of the table, and what an audit changes. */
#include "fetch/verdict.h"
#include "tests/test.h"

static const struct sha256 digest_a = {{1}}, digest_b = {{2}};

#define MONDAY "Mon, 16 Nov 2026 00:00:00 GMT"
#define TUESDAY "Tue, 17 Nov 2026 00:00:00 GMT"
enum { MONDAY_AT = 1000, TUESDAY_AT = 2000 };

static const char *const names[] = {"verified", "same", "new", "compare"};

static void expect(int line, struct fetch_identity stored, struct fetch_identity arrived,
        bool not_modified, bool audit, enum fetch_verdict expected, bool expected_lie)
{
    bool lied;
    enum fetch_verdict v = fetch_verdict(&stored, &arrived, not_modified, audit, &lied);
    if (v != expected || lied != expected_lie)
        test_fail(__FILE__, line, "%s%s, expected %s%s", names[v], lied ? " (lied)" : "",
                names[expected], expected_lie ? " (lied)" : "");
}

#define ID(...) ((struct fetch_identity){__VA_ARGS__})
#define ON_MONDAY .last_modified = MONDAY, .last_modified_at = MONDAY_AT
#define ON_TUESDAY .last_modified = TUESDAY, .last_modified_at = TUESDAY_AT
#define UNDATED(text) .last_modified = text, .last_modified_at = MSEC_NEVER
#define A .digest = &digest_a
#define B .digest = &digest_b

TEST(rows, "the table of validators, row by row")
{
    expect(__LINE__, ID(A), ID(), true, false, FETCH_VERIFIED, false);
    /* ETag equal, strong or weak: no version, whatever else differs */
    expect(__LINE__, ID(A, .etag = "\"x\""), ID(B, .etag = "\"x\""), false, false, FETCH_SAME,
            false);
    expect(__LINE__, ID(.etag = "W/\"x\"", ON_MONDAY), ID(.etag = "W/\"x\"", ON_TUESDAY), false,
            false, FETCH_SAME, false);
    /* ETag differs: the bodies decide */
    expect(__LINE__, ID(A, .etag = "\"x\""), ID(.etag = "\"y\""), false, false, FETCH_COMPARE,
            false);
    expect(__LINE__, ID(A, .etag = "\"x\""), ID(A, .etag = "\"y\""), false, false, FETCH_SAME,
            false);
    expect(__LINE__, ID(A, .etag = "\"x\""), ID(B, .etag = "\"y\""), false, false, FETCH_NEW,
            false);
    expect(__LINE__, ID(A, .etag = "W/\"x\""), ID(B, .etag = "\"x\""), false, false, FETCH_NEW,
            false);
    /* The first ETag a page ever had proves nothing */
    expect(__LINE__, ID(A), ID(.etag = "\"y\""), false, false, FETCH_COMPARE, false);
    /* Last-Modified equal, no ETag */
    expect(__LINE__, ID(A, ON_MONDAY), ID(B, ON_MONDAY), false, false, FETCH_SAME, false);
    /* Last-Modified newer */
    expect(__LINE__, ID(A, ON_MONDAY, .body_bytes = 5), ID(ON_TUESDAY, .body_bytes = 6), false,
            false, FETCH_NEW, false);
    expect(__LINE__, ID(A, ON_MONDAY, .body_bytes = 5), ID(ON_TUESDAY, .body_bytes = 5), false,
            false, FETCH_COMPARE, false);
    expect(__LINE__, ID(A, ON_MONDAY, .body_bytes = 5), ID(A, ON_TUESDAY, .body_bytes = 5),
            false, false, FETCH_SAME, false);
    /* Last-Modified went backwards */
    expect(__LINE__, ID(A, ON_TUESDAY, .body_bytes = 5), ID(ON_MONDAY, .body_bytes = 6), false,
            false, FETCH_COMPARE, false);
    /* A date that is none is only a text: equal is equal, other is compared */
    expect(__LINE__, ID(A, UNDATED("x")), ID(UNDATED("x")), false, false, FETCH_SAME, false);
    expect(__LINE__, ID(A, UNDATED("x")), ID(UNDATED("y")), false, false, FETCH_COMPARE, false);
    /* Neither */
    expect(__LINE__, ID(A), ID(), false, false, FETCH_COMPARE, false);
    expect(__LINE__, ID(A), ID(A), false, false, FETCH_SAME, false);
    expect(__LINE__, ID(A), ID(B), false, false, FETCH_NEW, false);
    /* A digest of the server's own */
    expect(__LINE__, ID(A, .body_digest = "d"), ID(.body_digest = "d"), false, false,
            FETCH_SAME, false);
    expect(__LINE__, ID(A, .body_digest = "d"), ID(.body_digest = "e"), false, false,
            FETCH_COMPARE, false);
}

TEST(first_answer, "the first answer is a new version, whatever it carries")
{
    struct fetch_identity arrived = ID(A, .etag = "\"x\"", ON_MONDAY);
    EXPECT(fetch_verdict(NULL, &arrived, false, false, NULL) == FETCH_NEW);
}

TEST(audit, "under audit only bodies count, and an unchanged validator over a changed body is "
            "a lie")
{
    expect(__LINE__, ID(A, .etag = "\"x\""), ID(B, .etag = "\"x\""), false, true, FETCH_NEW,
            true);
    expect(__LINE__, ID(A, .etag = "\"x\""), ID(A, .etag = "\"x\""), false, true, FETCH_SAME,
            false);
    expect(__LINE__, ID(A, .etag = "\"x\""), ID(B, .etag = "\"y\""), false, true, FETCH_NEW,
            false);
    expect(__LINE__, ID(A, ON_MONDAY), ID(B, ON_MONDAY), false, true, FETCH_NEW, true);
    expect(__LINE__, ID(A, ON_MONDAY), ID(B, ON_TUESDAY), false, true, FETCH_NEW, false);
    expect(__LINE__, ID(A, .etag = "\"x\""), ID(.etag = "\"x\""), false, true, FETCH_COMPARE,
            false);
    expect(__LINE__, ID(A), ID(B), false, true, FETCH_NEW, false);
}

TEST(sixteenth, "every 16th fetch of a page is an audit")
{
    struct fetch_audit a = {0};
    for (int i = 1; i <= 64; i++)
        EXPECT_INT(fetch_audit_next(&a), i % 16 == 0);
}

TEST(distrust, "a host that lied is not believed for 30 days")
{
    struct fetch_trust t = {0};
    EXPECT(fetch_trust_is_given(&t, 1000));
    fetch_trust_lied(&t, 1000);
    EXPECT(!fetch_trust_is_given(&t, 1000));
    EXPECT(!fetch_trust_is_given(&t, 999 + 30 * MSEC_PER_DAY));
    EXPECT(fetch_trust_is_given(&t, 1000 + 30 * MSEC_PER_DAY));
}
TEST_MAIN()
