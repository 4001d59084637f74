/* Opening: a fresh directory, the second time, the schema people rely on. */
#include "tests/store/store_fixture.h"
#include <sys/stat.h>
#include <unistd.h>

TEST(fresh, "a missing data directory becomes a private PostgreSQL that answers")
{
    FIXTURE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    EXPECT_TEXT(sql(&x, "SELECT current_user || ' ' || current_database()"), "vigil vigil");
    EXPECT_TEXT(sql(&x, "SHOW listen_addresses"), "");
    EXPECT_TEXT(sql(&x, "SHOW fsync"), "on");
    EXPECT_TEXT(sql(&x, "SHOW full_page_writes"), "on");
    EXPECT_TEXT(sql(&x, "SHOW server_encoding"), "UTF8");
    EXPECT_TEXT(
            sql(&x, "SELECT datcollate FROM pg_database WHERE datname = 'vigil'"), "C.UTF-8");
    EXPECT(!store_engine_is_running(x.store));
    EXPECT(strstr(store_describe(x.store), x.data));

    struct stat st;
    REQUIRE(stat(x.data, &st) == 0);
    EXPECT_INT(st.st_mode & 0777, 0700);
    REQUIRE(stat(store_run_dir(x.store), &st) == 0);
    EXPECT_INT(st.st_mode & 0777, 0700);
}

TEST(closes, "closing stops the server it started")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    pid_t server = fixture_server(&x);
    EXPECT(server > 0 && process_is_alive(server));
    fixture_close(&x);
    EXPECT(!process_is_alive(server));
    EXPECT_INT(fixture_server(&x), 0);
}

TEST(again, "the second start takes less than a second and keeps what was there")
{
    FIXTURE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    add_sentinel(&x, "news", "http://x/", NULL);
    msec least = MSEC_NEVER; /* of three: the machine may be busy */
    for (int i = 0; i < 3 && least >= MSEC_PER_SECOND; i++) {
        fixture_close(&x);
        msec begun = clock_mono(&clock_system);
        REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
        msec spent = clock_mono(&clock_system) - begun;
        least = spent < least ? spent : least;
    }
    EXPECT(least < MSEC_PER_SECOND);
    EXPECT_TEXT(sql(&x, "SELECT name FROM vigil.status"), "news");
}

TEST(parents, "parents of the data directory are made too")
{
    FIXTURE(x);
    snprintf(x.data, sizeof x.data, "%s/a/b/data", x.dir);
    EXPECT(fixture_open(&x, STORE_COMMAND) == OK);
}

TEST(migrates_once, "migrations are applied once and noted with their checksum")
{
    FIXTURE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    long long count = sql_int(&x, "SELECT count(*) FROM vigil_kb.migration");
    EXPECT(count >= 3);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil_kb.migration WHERE checksum ~ "
                           "'^[0-9a-f]{64}$'"),
            count);
    const char *first = sql(&x, "SELECT string_agg(xmin::text, ',') FROM vigil_kb.migration");
    fixture_close(&x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    EXPECT_TEXT(sql(&x, "SELECT string_agg(xmin::text, ',') FROM vigil_kb.migration"), first);
}

TEST(newer, "a schema newer than the program is refused, with the way out")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    sql(&x, "INSERT INTO vigil_kb.migration VALUES (9999, '9999_future.sql', '', "
            "'2030-01-01')");
    fixture_close(&x);
    EXPECT(fixture_open(&x, STORE_COMMAND) == ERR_STORE);
    EXPECT(strstr(x.fault.message, "schema 9999"));
    EXPECT(strstr(x.fault.hint, "newer vigil"));
}

TEST(changed_migration, "a schema made from other files is refused")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    sql(&x, "UPDATE vigil_kb.migration SET checksum = repeat('0', 64) WHERE number = 2");
    fixture_close(&x);
    EXPECT(fixture_open(&x, STORE_COMMAND) == ERR_STORE);
    EXPECT(strstr(x.fault.message, "different vigil"));
}

static void crash_in_migration(struct fixture *x)
{
    setenv("VIGIL_CRASH_POINT", "before_migration_commit:2", 1);
    EXPECT(fixture_open(x, STORE_COMMAND) == OK); /* not reached */
}

TEST(half_migrated, "a program killed between two migrations leaves a database that goes on")
{
    FIXTURE(x);
    EXPECT_INT(in_child(crash_in_migration, &x), 137);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    EXPECT_TEXT(sql(&x, "SELECT count(*) FROM vigil.status"), "0");
}

static const char *columns_of(struct fixture *x, const char *view)
{
    return sql(x, arena_printf(x->life,
                          "SELECT string_agg(column_name, ', ' ORDER BY ordinal_position)"
                          " FROM information_schema.columns"
                          " WHERE table_schema = 'vigil' AND table_name = '%s'",
                          view));
}

TEST(views, "the views have exactly the columns people rely on, in that order")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    EXPECT_TEXT(columns_of(&x, "status"),
            "name, owner, state, url, monitor, fetch, compare, "
            "installed_at, starts_at, ends_at, "
            "started_at, ended_at, last_fetch_at, last_version, "
            "last_change_at, last_notified_at, "
            "next_fetch_at, evaluations, changes, notifications, "
            "last_result, error, definition, waiting_for, dependants, overdue_since");
    EXPECT_TEXT(columns_of(&x, "changes"), "id, sentinel, at, url, old_version, new_version, "
                                           "inserted, deleted, updated, moved, "
                                           "summary, detail");
    EXPECT_TEXT(columns_of(&x, "versions"),
            "url, version, fetched_at, last_modified, etag, size, digest, request");
    EXPECT_TEXT(columns_of(&x, "notifications"), "id, sentinel, at, method, target, state, "
                                                 "attempts, next_try_at, sent_at, error, kind, "
                                                 "owner, change, message");
    EXPECT_TEXT(columns_of(&x, "events"), "id, at, sentinel, kind, detail, actual_at");
    EXPECT_TEXT(columns_of(&x, "requests"), "id, verb, text, state, exit_code, answer");
    EXPECT_INT(
            sql_int(&x,
                    "SELECT count(*) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid"
                    " WHERE c.relnamespace = 'vigil'::regnamespace AND a.attnum > 0"
                    "   AND col_description(c.oid, a.attnum) IS NULL"),
            0);
    EXPECT_INT(
            sql_int(&x,
                    "SELECT count(*) FROM pg_class c WHERE relnamespace = 'vigil'::regnamespace"
                    " AND obj_description(c.oid) IS NULL"),
            0);
}

static const enum store_query all_queries[] = {STORE_Q_LIST, STORE_Q_SHOW, STORE_Q_CHANGES,
        STORE_Q_CHANGES_AFTER, STORE_Q_CHANGE, STORE_Q_LAST_CHANGE, STORE_Q_EVENTS,
        STORE_Q_VERSIONS, STORE_Q_NOTIFICATIONS, STORE_Q_PRESENTATION, STORE_Q_RESEND,
        STORE_Q_FIGURES, STORE_Q_PAGE, STORE_Q_STORED, STORE_Q_NAMES};

TEST(queries, "every question is answered, also by an empty store")
{
    static const int params[] = {3, 1, 3, 2, 2, 0, 1, 1, 2, 1, 1, 0, 1, 2, 0};
    static const int rows[] = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0};
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    REQUIRE(countof(all_queries) == STORE_QUERY_COUNT);
    for (size_t i = 0; i < countof(all_queries); i++) {
        const char *const values[] = {
                all_queries[i] == STORE_Q_LIST ? NULL
                : all_queries[i] == STORE_Q_RESEND || all_queries[i] == STORE_Q_PRESENTATION
                        ? "7"
                        : "nobody",
                all_queries[i] == STORE_Q_CHANGES_AFTER ? "0" : NULL, "10"}; /* LIST: a topic */
        struct store_rows *r = NULL;
        enum err e =
                store_query(x.store, all_queries[i], params[i], values, x.life, &x.fault, &r);
        EXPECT_INT(e, OK);
        if (e)
            printf("# query %zu: %s\n", i, x.fault.message);
        else
            EXPECT_INT(store_rows_count(r), rows[i]);
    }
}

TEST_MAIN()
