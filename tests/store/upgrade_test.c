/* From every earlier schema, with data in it, to this one; and cut off on the way. */
#include "store/store_int.h"
#include "tests/store/store_fixture.h"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static long rows_wanted(void)
{
    const char *text = getenv("VIGIL_TEST_ROWS"); /* versions; the long form has 100,000 */
    return text ? strtol(text, NULL, 10) : 2000;
}

/* What an engine of the first schema would have left: nothing that came later is named. */
static const char fill[] =
        "INSERT INTO vigil_kb.page (id, url, url_sha256) SELECT i, 'http://x/' || i,"
        "   sha256(i::text::bytea) FROM generate_series(1, 20) i;"
        "INSERT INTO vigil_kb.page_state (page_id, latest_version, body_sha256, etag, fetches)"
        "   SELECT i, %ld / 20, sha256((i || ' ' || %ld / 20)::bytea), 'abc', 7"
        "   FROM generate_series(1, 20) i;"
        "INSERT INTO vigil_kb.body SELECT sha256((p || ' ' || v)::bytea), 100, '\\x00'"
        "   FROM generate_series(1, 20) p, generate_series(1, %ld / 20) v;"
        "INSERT INTO vigil_kb.version (page_id, version, fetched_at, body_sha256, digest_zstd)"
        "   SELECT p, v, to_timestamp(v), sha256((p || ' ' || v)::bytea), '\\x01'"
        "   FROM generate_series(1, 20) p, generate_series(1, %ld / 20) v;"
        "INSERT INTO vigil_kb.sentinel (id, name, owner, definition, monitor, fetch_rule, "
        "compare,"
        "   state, page_id, base_version, installed_at, started_at, entered_at)"
        "   SELECT i, 's' || i, 'ann', 'CREATE SENTINEL s' || i || ' USING http://x/' || i ||"
        "   ' MONITOR links', 'links', 'on change', 'pairwise', 'active', i, 1, 'epoch', "
        "'epoch',"
        "   'epoch' FROM generate_series(1, 20) i;"
        "INSERT INTO vigil_kb.sentinel_state (sentinel_id, last_version, changes)"
        "   SELECT i, %ld / 20, 3 FROM generate_series(1, 20) i;"
        "INSERT INTO vigil_kb.change (sentinel_id, page_id, old_version, new_version, at, "
        "inserted,"
        "   deleted, updated, moved, summary, detail) SELECT i, i, v - 1, v, to_timestamp(v), "
        "1, 2,"
        "   3, 4, 'summary', '{\"leaves\":[]}' FROM generate_series(1, 20) i,"
        "   generate_series(2, 4) v;"
        "INSERT INTO vigil_kb.notification (change_id, at, method, target, state)"
        "   SELECT id, at, 'dashboard', '', 'sent' FROM vigil_kb.change;"
        "INSERT INTO vigil_kb.event (sentinel_id, sentinel, kind, at)"
        "   SELECT id, name, 'create', 'epoch' FROM vigil_kb.sentinel;"
        "INSERT INTO vigil_kb.request (verb, text, owner) VALUES ('enable', 's1', 'ann')";

/* What must be there afterwards, whatever came between. */
static const char facts[] =
        "SELECT concat_ws(' ', (SELECT count(*) FROM vigil.status),"
        " (SELECT count(*) FROM vigil.versions), (SELECT sum(size) FROM vigil.versions),"
        " (SELECT count(*) FROM vigil.changes), (SELECT sum(inserted + 10 * deleted) FROM"
        "   vigil.changes), (SELECT count(*) FROM vigil.notifications),"
        " (SELECT count(*) FROM vigil.events), (SELECT count(*) FROM vigil.requests),"
        " (SELECT string_agg(DISTINCT state, ',') FROM vigil.status),"
        " (SELECT md5(string_agg(digest, '' ORDER BY url, version)) FROM vigil.versions))";

static void run_sql(struct fixture *x, const char *text)
{
    const char *answer = sql(x, text);
    if (strncmp(answer, "(error)", 7) == 0)
        test_fail(__FILE__, __LINE__, "%s", answer);
}

/* A database as the vigil that knew `count` migrations left it. */
static const char *make_old(struct fixture *x, size_t count, const char *name)
{
    run_sql(x, arena_printf(x->life, "CREATE DATABASE %s", name));
    PQfinish(x->sql);
    const char *db = arena_printf(x->life, "%s dbname=%s", store_conninfo(x->store), name);
    x->sql = PQconnectdb(db);
    run_sql(x, "CREATE SCHEMA vigil_kb; CREATE TABLE vigil_kb.migration (number integer PRIMARY"
               " KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT"
               " NULL)");
    long n = rows_wanted();
    for (size_t i = 0; i < count; i++) {
        char hex[65];
        struct sha256 sum = sha256_of(migrations[i].sql, strlen(migrations[i].sql));
        sha256_hex(&sum, hex);
        run_sql(x, migrations[i].sql);
        run_sql(x, arena_printf(x->life,
                           "INSERT INTO vigil_kb.migration VALUES (%d, '%s', '%s', 'epoch')",
                           migrations[i].number, migrations[i].name, hex));
        if (i == 0)
            run_sql(x, arena_printf(x->life, fill, n, n, n, n, n));
    }
    PQfinish(x->sql);
    x->sql = NULL;
    return db;
}

static const char *facts_of(struct fixture *x, const char *db)
{
    PQfinish(x->sql);
    x->sql = PQconnectdb(db);
    const char *answer = sql(x, facts);
    PQfinish(x->sql);
    x->sql = NULL;
    return answer;
}

static const char *target; /* for the children */

static struct store_options named(struct fixture *x)
{
    struct store_options o = fixture_options(x, STORE_COMMAND, "list");
    o.db = target;
    o.data = NULL;
    return o;
}

static void open_and_close(struct fixture *x)
{
    SCRATCH struct arena *life = arena_new(NULL, "upgrade");
    struct store_options o = named(x);
    struct store *s;
    struct fault f = {0};
    if (store_open(life, &o, &f, &s) != OK)
        test_fail(__FILE__, __LINE__, "%s (%s)", f.message, f.hint);
    else
        store_close(s);
}

TEST(each, "a database of every earlier schema keeps all it holds")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    char expected[200];
    snprintf(expected, sizeof expected, "20 %ld %ld 60 1260 60 20 1 active ", rows_wanted(),
            rows_wanted() * 100);
    for (size_t count = 1; count < migration_count; count++) {
        target = make_old(&x, count, arena_printf(x.life, "old%zu", count));
        open_and_close(&x);
        const char *found = facts_of(&x, target);
        if (strncmp(found, expected, strlen(expected)) != 0)
            test_fail(__FILE__, __LINE__, "from schema %zu: %s", count, found);
    }
    /* and what came to be in each is what a new one has */
    const char shape[] =
            "SELECT md5(string_agg(concat_ws('|', table_schema, table_name, column_name,"
            " data_type, column_default, is_nullable), ',' ORDER BY table_schema, table_name,"
            " ordinal_position)) FROM information_schema.columns WHERE table_schema IN "
            "('vigil',"
            " 'vigil_kb')";
    const char *young = sql(&x, shape);
    PQfinish(x.sql);
    x.sql = PQconnectdb(target);
    EXPECT_TEXT(sql(&x, shape), young);
}

static void crashing(struct fixture *x)
{
    open_and_close(x);
}

TEST(cut_off, "killed twenty times on the way, at named places and at any moment, it arrives")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    static const char *const points[] = {
            "after_migration_script", "before_migration_commit", "after_migration_commit"};
    unsigned seed = (unsigned)getpid();
    int kills = 0;
    for (int round = 0; kills < 20 && round < 60; round++) {
        if (round % 6 == 0)
            target = make_old(&x, 1 + (size_t)round / 6 % (migration_count - 1),
                    arena_printf(x.life, "cut%d", round));
        const char *point = points[round % 3];
        if (round % 2) { /* at any moment */
            pid_t child = start_child(crashing, &x);
            usleep((useconds_t)(rand_r(&seed) % 60000));
            kill(child, SIGKILL);
            kills += wait_child(child) == 128 + SIGKILL;
        } else {
            setenv("VIGIL_CRASH_POINT", point, 1);
            kills += in_child(crashing, &x) == 137;
            unsetenv("VIGIL_CRASH_POINT");
        }
        if (round % 6 == 5) {
            open_and_close(&x);
            char expected[100];
            snprintf(expected, sizeof expected, "20 %ld %ld 60 1260 60 20 1 active ",
                    rows_wanted(), rows_wanted() * 100);
            EXPECT(strncmp(facts_of(&x, target), expected, strlen(expected)) == 0);
        }
    }
    open_and_close(&x);
    printf("# %d kills, %ld versions\n", kills, rows_wanted());
    EXPECT(kills >= 20);
}

TEST_MAIN()
