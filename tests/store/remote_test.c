/* A database named with --db: same schema, same code, found by its lock. */
#include "tests/store/store_fixture.h"
#include <sys/stat.h>
#include <unistd.h>

/* The private server of the fixture plays the far one; `url` names a fresh database on it. */
struct remote {
    struct fixture x;
    const char *url;
    struct arena *life;
    struct fault fault;
};

static bool remote_init(struct remote *r)
{
    *r = (struct remote){0};
    fixture_init_made(&r->x);
    r->life = arena_new(NULL, "remote");
    if (fixture_open(&r->x, STORE_COMMAND) != OK)
        return false;
    EXPECT_TEXT(sql(&r->x, "CREATE DATABASE far"), "CREATE DATABASE");
    r->url = arena_printf(r->life, "host=%s user=vigil dbname=far", store_run_dir(r->x.store));
    return true;
}

static void remote_done(struct remote *r)
{
    arena_free(r->life);
    fixture_done(&r->x);
}

#define REMOTE(name)                                                                           \
    CLEANUP(remote_done) struct remote name;                                                   \
    REQUIRE(remote_init(&name))

static enum err open_far(struct remote *r, enum store_role role, struct store **ret)
{
    struct store_options o = {.db = r->url,
            .role = role,
            .who = "test",
            .quiet = true,
            .clock = &r->x.clock.clock};
    enum err e = store_open(r->life, &o, &r->fault, ret);
    if (e)
        printf("# store_open: %s (%s)\n", r->fault.message, r->fault.hint);
    return e;
}

static const char *far_sql(struct remote *r, const char *text)
{
    PGconn *c = PQconnectdb(r->url);
    PGresult *q = PQexec(c, text);
    const char *answer = PQntuples(q) ? arena_strdup(r->life, PQgetvalue(q, 0, 0)) : "";
    PQclear(q);
    PQfinish(c);
    return answer;
}

TEST(far, "a named database gets the same schema and answers the same questions")
{
    REMOTE(r);
    struct store *s;
    struct store_rows *rows;
    REQUIRE(open_far(&r, STORE_COMMAND, &s) == OK);
    EXPECT(!store_engine_is_running(s));
    EXPECT(strstr(store_describe(s), "/far"));
    struct store_options o = {.db = r.url};
    EXPECT_TEXT(store_find_control(r.life, &o), store_control_path(s));
    struct store_step step = step_create("a", "http://x/");
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN, .steps = &step, .nsteps = 1};
    EXPECT_INT(store_run(s, &plan.job, &r.fault), OK);
    REQUIRE(store_query(s, STORE_Q_NAMES, 0, NULL, r.life, &r.fault, &rows) == OK);
    EXPECT_TEXT(store_rows_text(rows, 0, 0), "a");
    store_close(s);
}

TEST(one_engine, "a second engine on the same database is refused and told who is there")
{
    REMOTE(r);
    struct store *first, *second = NULL;
    struct stat st;
    char host[256];
    gethostname(host, sizeof host);
    REQUIRE(open_far(&r, STORE_ENGINE, &first) == OK);
    EXPECT(stat(store_run_dir(first), &st) == 0 && (st.st_mode & 0777) == 0700);
    EXPECT_INT(open_far(&r, STORE_ENGINE, &second), ERR_BUSY);
    EXPECT(strstr(
            r.fault.message, arena_printf(r.life, "is in use by the engine on %s, process %ld",
                                     host, (long)getpid())));
    store_close(first);
    REQUIRE(open_far(&r, STORE_ENGINE, &second) == OK);
    store_close(second);
    EXPECT(stat(store_run_dir(second), &st) != 0);
}

TEST(command_finds, "a command finds a running engine by its lock and does not write beside it")
{
    REMOTE(r);
    struct store *engine, *command;
    REQUIRE(open_far(&r, STORE_ENGINE, &engine) == OK);
    REQUIRE(open_far(&r, STORE_COMMAND, &command) == OK);
    EXPECT(store_engine_is_running(command));
    struct store_step step = step_create("a", "http://x/");
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN, .steps = &step, .nsteps = 1};
    EXPECT_INT(store_run(command, &plan.job, &r.fault), ERR_BUSY);
    store_close(command);
    store_close(engine);
}

static void note_availability(bool available, const char *why, void *arg)
{
    if (!available)
        snprintf(arg, 400, "%s", why);
}

static bool has_text(void *arg)
{
    return strstr(arg, "taken over") != NULL;
}

TEST(taken_over, "an engine that was replaced by another one never writes again")
{
    REMOTE(r);
    char why[400] = "";
    struct store_writer_hooks hooks = {NULL, note_availability, why};
    struct fixture y = {.life = r.life, .clock = r.x.clock};
    REQUIRE(open_far(&r, STORE_ENGINE, &y.store) == OK);
    int64_t page, id = add_sentinel(&y, "news", "http://x/", &page);
    REQUIRE(fixture_writer(&y, &hooks) == OK);
    far_sql(&r,
            "UPDATE vigil_kb.engine SET session = 'another', host = 'elsewhere', process = 7");
    struct version_fixture v;
    version_init(&v, page, id, 1);
    store_writer_submit(y.writer, &v.job.job);
    EXPECT(fixture_run_until(&y, has_text, why, 10 * MSEC_PER_SECOND));
    EXPECT(strstr(why, "elsewhere, process 7"));
    EXPECT_INT(store_writer_stop(y.writer, 100), 1);
    EXPECT_TEXT(far_sql(&r, "SELECT count(*) FROM vigil.versions"), "0");
    store_close(y.store);
    loop_free(y.loop);
}

TEST(cut, "connections cut again and again cost nothing")
{
    REMOTE(r);
    struct fixture y = {.life = r.life, .clock = r.x.clock};
    REQUIRE(open_far(&r, STORE_ENGINE, &y.store) == OK);
    int64_t page, id = add_sentinel(&y, "news", "http://x/", &page);
    REQUIRE(fixture_writer(&y, NULL) == OK);
    struct version_fixture v[40];
    for (int i = 0; i < 40; i++) {
        version_init(&v[i], page, id, i + 1);
        store_writer_submit(y.writer, &v[i].job.job);
        if (i % 10 == 9) {
            far_sql(&r, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        " WHERE application_name = 'vigil engine' AND datname = 'far'");
            EXPECT(fixture_drain(&y, 20 * MSEC_PER_SECOND));
        }
    }
    EXPECT_TEXT(
            far_sql(&r, "SELECT concat_ws(' ', (SELECT count(*) FROM vigil.versions), changes)"
                        " FROM vigil.status"),
            "40 39");
    EXPECT_INT(store_writer_stop(y.writer, MSEC_PER_SECOND), 0);
    store_close(y.store);
    loop_free(y.loop);
}

TEST(wrong, "a --db that cannot be read, or leads nowhere, is refused with the reason")
{
    SCRATCH struct arena *life = arena_new(NULL, "wrong");
    struct fault f;
    struct store *s;
    struct store_options o = {.role = STORE_COMMAND, .who = "list", .clock = &clock_system};
    o.db = "postgresql://[::1";
    EXPECT_INT(store_open(life, &o, &f, &s), ERR_RANGE);
    EXPECT(strstr(f.message, "--db is wrong"));
    o.db = "postgresql://127.0.0.1:1/nothing";
    EXPECT_INT(store_open(life, &o, &f, &s), ERR_STORE);
    EXPECT(strstr(f.message, "cannot connect to the database"));
    EXPECT(strstr(f.hint, "--db"));
    o.db = NULL;
    EXPECT_INT(store_open(life, &o, &f, &s), ERR_RANGE);
}

TEST_MAIN()
