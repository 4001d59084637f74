/* What PostgreSQL may refuse for a while: nothing is lost, nothing doubled, the status says so.
 *
 * A trigger raises an error of the server's own kinds at a chosen table, once; so every
 * statement of a version's commit meets every trouble that passes.
 */
#include "tests/store/store_fixture.h"

static const char *const codes[] = {
        "40001", /* serialization failure */
        "40P01", /* deadlock */
        "55P03", /* lock timeout */
        "57014", /* statement timeout */
        "53100", /* disk full */
        "53200", /* out of memory */
        "25006", /* read-only */
        "58030", /* I/O error */
};
static const char *const places[] = {"INSERT ON vigil_kb.body", "INSERT ON vigil_kb.version",
        "INSERT ON vigil_kb.change", "UPDATE ON vigil_kb.sentinel_state",
        "UPDATE ON vigil_kb.page_state", "UPDATE ON vigil_kb.engine"};

static unsigned away, back;
static char last_why[400];

static void availability(bool available, const char *why, void *arg)
{
    (void)arg;
    away += !available;
    back += available;
    if (!available)
        snprintf(last_why, sizeof last_why, "%s", why);
}

TEST(passing, "each trouble that passes, met at each statement of a commit, is waited out")
{
    FIXTURE_MADE(x);
    int64_t page;
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    int64_t sentinel = add_sentinel(&x, "news", "http://x/", &page);
    struct store_writer_hooks hooks = {.availability = availability};
    REQUIRE(fixture_writer(&x, &hooks) == OK);
    EXPECT_TEXT(sql(&x, "CREATE SEQUENCE public.met"), "CREATE SEQUENCE");
    int64_t n = 2; /* the first would have no change */
    for (size_t c = 0; c < countof(codes); c++) {
        sql(&x, arena_printf(x.life,
                        "CREATE OR REPLACE FUNCTION public.refuse() RETURNS trigger LANGUAGE"
                        " plpgsql AS 'BEGIN IF nextval(''public.met'') = 1 THEN RAISE SQLSTATE"
                        " ''%s'' USING MESSAGE = ''refused with %s''; END IF; RETURN NEW; END'",
                        codes[c], codes[c]));
        for (size_t p = 0; p < countof(places); p++) {
            struct version_fixture v;
            sql(&x, "SELECT setval('public.met', 1, false)");
            const char *made = sql(&x, arena_printf(x.life,
                                               "CREATE TRIGGER refuse BEFORE %s FOR EACH ROW"
                                               " EXECUTE FUNCTION public.refuse()",
                                               places[p]));
            EXPECT_TEXT(made, "CREATE TRIGGER");
            unsigned before = away;
            version_init(&v, page, sentinel, n++);
            store_writer_submit(x.writer, &v.job.job);
            EXPECT(fixture_drain(&x, 20 * MSEC_PER_SECOND));
            EXPECT_INT(v.job.job.err, OK);
            EXPECT_INT(away, before + 1);
            EXPECT(strstr(last_why, arena_printf(x.life, "refused with %s", codes[c])) != NULL);
            const char *on = strstr(places[p], "ON ") + 3;
            EXPECT_TEXT(sql(&x, arena_printf(x.life, "DROP TRIGGER refuse ON %s", on)),
                    "DROP TRIGGER");
        }
    }
    EXPECT_INT(away, back);
    int64_t met = (int64_t)(countof(codes) * countof(places));
    printf("# %lld refusals\n", (long long)met);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.versions"), met);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.changes"), met);
    EXPECT_INT(sql_int(&x, "SELECT changes FROM vigil.status"), met);
    EXPECT_INT(sql_int(&x, "SELECT evaluations FROM vigil.status"), met);
}

TEST_MAIN()
