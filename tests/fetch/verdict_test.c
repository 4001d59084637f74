#include "fetch/verdict.h"
#include "tests/test.h"

static struct sha256 one, two;

static struct fetch_identity version(
        const char *etag, const char *last_modified, const char *digest, const struct sha256 *b)
{
    return (struct fetch_identity){
            .etag = etag, .last_modified = last_modified, .body_digest = digest, .body = b};
}

static void bodies(void)
{
    one = sha256_of("one", 3);
    two = sha256_of("two", 3);
}

TEST(body, "the body decides, whatever is said about it")
{
    bodies();
    struct fetch_identity a = version("\"1\"", "Mon", "x", &one);
    struct fetch_identity b = version("\"1\"", "Mon", "x", &two);
    struct fetch_identity c = version("\"2\"", "Tue", "y", &one);
    EXPECT(fetch_is_new(NULL, &a));
    EXPECT(!fetch_is_new(&a, &a));
    EXPECT(fetch_is_new(&a, &b));  /* all validators equal, other bytes */
    EXPECT(!fetch_is_new(&a, &c)); /* all validators new, same bytes */
}

TEST(lies, "a validator that stays while the body changes is a lie; one that changes is not")
{
    bodies();
    static const struct {
        const char *etag, *modified, *digest, *new_etag, *new_modified, *new_digest;
        bool lie;
    } rows[] = {
            {"\"1\"", NULL, NULL, "\"1\"", NULL, NULL, true},
            {"\"1\"", NULL, NULL, "\"2\"", NULL, NULL, false},
            {"W/\"1\"", NULL, NULL, "W/\"1\"", NULL, NULL, true},
            {"W/\"1\"", NULL, NULL, "\"1\"", NULL, NULL, false}, /* byte for byte */
            {NULL, "Mon", NULL, NULL, "Mon", NULL, true},
            {NULL, "Mon", NULL, NULL, "Tue", NULL, false},
            {"\"1\"", "Mon", NULL, "\"2\"", "Mon", NULL, false}, /* seconds are coarse */
            {"\"1\"", "Mon", NULL, "\"1\"", "Tue", NULL, true},
            {"\"1\"", "Mon", NULL, NULL, "Mon", NULL, false}, /* it no longer claims anything */
            {NULL, NULL, "d", NULL, NULL, "d", true},
            {NULL, NULL, "d", NULL, NULL, "e", false},
            {"\"1\"", NULL, "d", "\"2\"", NULL, "d", true},
            {NULL, NULL, NULL, NULL, NULL, NULL, false},
    };
    for (size_t i = 0; i < countof(rows); i++) {
        struct fetch_identity a = version(rows[i].etag, rows[i].modified, rows[i].digest, &one);
        struct fetch_identity b =
                version(rows[i].new_etag, rows[i].new_modified, rows[i].new_digest, &two);
        if (fetch_is_lie(&a, &b) != rows[i].lie)
            test_fail(__FILE__, __LINE__, "row %zu", i);
    }
}

TEST(audit, "one fetch in sixteen is an audit, and the first is not")
{
    unsigned audits = 0;
    for (int64_t i = 0; i < 160; i++)
        audits += fetch_is_audit(i);
    EXPECT_INT(audits, 10);
    EXPECT(!fetch_is_audit(0));
    EXPECT(fetch_is_audit(15));
}

TEST(trust, "a host that lied is not believed for thirty days")
{
    struct fetch_trust t = {0};
    EXPECT(fetch_trust_is_given(&t, 5));
    fetch_trust_lied(&t, 1000);
    EXPECT(!fetch_trust_is_given(&t, 1000));
    EXPECT(!fetch_trust_is_given(&t, 1000 + 30 * MSEC_PER_DAY - 1));
    EXPECT(fetch_trust_is_given(&t, 1000 + 30 * MSEC_PER_DAY));
}
TEST_MAIN()
