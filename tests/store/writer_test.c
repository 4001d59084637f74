/* The writing thread: order, groups, and a database that goes away and comes back. */
#include "tests/store/store_fixture.h"
#include <signal.h>
#include <unistd.h>

enum { MANY = 300 };

struct seen {
    struct fixture *x;
    int lost, back, requests;
    pid_t killed;
    char why[400];
    struct store_request last;
    char verb[16], text[200], owner[64];
};

static void availability(bool available, const char *why, void *arg)
{
    struct seen *s = arg;
    if (available) {
        s->back++;
        return;
    }
    s->lost += s->lost == s->back; /* told again when there is another reason */
    snprintf(s->why, sizeof s->why, "%s", why);
}

static void requested(const struct store_request *r, void *arg)
{
    struct seen *s = arg;
    s->requests++;
    s->last = *r;
    snprintf(s->verb, sizeof s->verb, "%s", r->verb);
    snprintf(s->text, sizeof s->text, "%s", r->text);
    snprintf(s->owner, sizeof s->owner, "%s", r->owner);
}

static bool was_lost(void *arg)
{
    return ((struct seen *)arg)->lost > 0;
}

static bool is_back(void *arg)
{
    struct seen *s = arg;
    return s->back > 0 && s->back == s->lost;
}

/* A backend outlives its server for a moment, and may even finish what it was given. */
static bool another_serves(void *arg)
{
    struct seen *s = arg;
    pid_t server = fixture_server(s->x);
    return server && server != s->killed && is_back(s);
}

static bool was_asked(void *arg)
{
    return ((struct seen *)arg)->requests > 0;
}

struct work {
    int64_t page, sentinel;
    struct version_fixture versions[MANY];
};

static struct work *new_work(struct fixture *x)
{
    struct work *w = arena_new_of(x->life, struct work);
    w->sentinel = add_sentinel(x, "news", "http://x/", &w->page);
    for (int i = 0; i < MANY; i++)
        version_init(&w->versions[i], w->page, w->sentinel, i + 1);
    return w;
}

static void submit(struct fixture *x, struct work *w, int from, int to)
{
    for (int i = from; i < to; i++)
        store_writer_submit(x->writer, &w->versions[i].job.job);
}

/* Nothing lost, nothing doubled: the chain of versions and changes has no gap and no extra,
 * and the counters agree. */
static void expect_chain(struct fixture *x, struct work *w, int n)
{
    for (int i = 0; i < n; i++) {
        EXPECT(w->versions[i].done);
        EXPECT_INT(w->versions[i].job.job.err, OK);
        EXPECT_INT(sql_int(x, arena_printf(x->life,
                                      "SELECT count(*) FROM vigil.changes WHERE id = %lld AND"
                                      " new_version = %d",
                                      (long long)w->versions[i].change_id, i + 1)),
                i > 0);
    }
    EXPECT_TEXT(sql(x, "SELECT concat_ws(' ', count(*), min(version), max(version)) FROM "
                       "vigil.versions"),
            arena_printf(x->life, "%d 1 %d", n, n));
    EXPECT_TEXT(sql(x, "SELECT concat_ws(' ', count(*), min(new_version), max(new_version),"
                       " bool_and(old_version = new_version - 1)) FROM vigil.changes"),
            arena_printf(x->life, "%d 2 %d t", n - 1, n));
    EXPECT_TEXT(
            sql(x, "SELECT concat_ws(' ', evaluations, changes, notifications, last_version)"
                   " FROM vigil.status"),
            arena_printf(x->life, "%d %d %d %d", n - 1, n - 1, n - 1, n));
    EXPECT_INT(sql_int(x, "SELECT count(*) FROM vigil.notifications"), n - 1);
}

static int order_of_done, done_in_order;
static void note_order(struct store_job *job)
{
    struct version_fixture *v = container_of(job, struct version_fixture, job.job);
    v->done = true;
    done_in_order += v->job.version == ++order_of_done;
}

TEST(order, "jobs are applied in the order they were submitted, many to a commit under load")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct work *w = new_work(&x);
    REQUIRE(fixture_writer(&x, NULL) == OK);
    order_of_done = done_in_order = 0;
    for (int i = 0; i < MANY; i++)
        w->versions[i].job.job.done = note_order;
    submit(&x, w, 0, MANY);
    EXPECT(store_writer_pending(x.writer) > 0);
    EXPECT(fixture_drain(&x, 30 * MSEC_PER_SECOND));
    EXPECT_INT(done_in_order, MANY);
    expect_chain(&x, w, MANY);
    EXPECT(sql_int(&x, "SELECT job FROM vigil_kb.engine") < MANY / 4);
}

enum { PAGES = 40, TIMES = 6 };

/* The sentinel of page 0 also looks at page 1, as one over several pages does. */
static void also_looks(struct version_fixture *v, int64_t sentinel)
{
    static struct store_evaluation both[2];
    both[0] = v->evaluation;
    both[1] = (struct store_evaluation){.sentinel_id = sentinel, .result = 'N'};
    v->job.evaluations = both;
    v->job.nevaluations = 2;
}

TEST(together, "versions of many pages written together, some of them of one page or for one"
               " sentinel, count as if each came alone")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    static struct version_fixture v[TIMES][PAGES];
    static struct store_touch_job touch[PAGES];
    int64_t page[PAGES], sentinel[PAGES];
    for (int p = 0; p < PAGES; p++)
        sentinel[p] = add_sentinel(&x, arena_printf(x.life, "s%d", p),
                arena_printf(x.life, "http://x/%d", p), &page[p]);
    for (int n = 0; n < TIMES; n++)
        for (int p = 0; p < PAGES; p++)
            version_init(&v[n][p], page[p], sentinel[p], n + 1);
    also_looks(&v[TIMES - 1][1], sentinel[0]);
    REQUIRE(fixture_writer(&x, NULL) == OK);
    /* Pairs of versions of a page side by side, and a fetch that brought nothing between. */
    for (int n = 0; n < TIMES; n += 2)
        for (int p = 0; p < PAGES; p++) {
            store_writer_submit(x.writer, &v[n][p].job.job);
            store_writer_submit(x.writer, &v[n + 1][p].job.job);
        }
    for (int p = 0; p < PAGES; p++) {
        touch[p] = (struct store_touch_job){
                .job.kind = STORE_JOB_TOUCH, .fetch = v[TIMES - 1][p].job.fetch};
        touch[p].fetch.fetches = 100 + p;
        touch[p].fetch.page_id = page[p / 2]; /* each page twice: the second counts */
        store_writer_submit(x.writer, &touch[p].job);
    }
    REQUIRE(fixture_drain(&x, 20000));
    for (int n = 0; n < TIMES; n++)
        for (int p = 0; p < PAGES; p++) {
            EXPECT_INT(v[n][p].job.job.err, OK);
            EXPECT((v[n][p].change_id > 0) == (n > 0));
        }
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.versions"), TIMES * PAGES);
    EXPECT_INT(
            sql_int(&x,
                    "SELECT count(*) FROM vigil.changes WHERE old_version = new_version - 1"),
            (TIMES - 1) * PAGES);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.notifications"), (TIMES - 1) * PAGES);
    EXPECT_TEXT(
            sql(&x, "SELECT string_agg(DISTINCT concat_ws(' ', evaluations, changes, "
                    "notifications,"
                    " last_version, last_result), ', ') FROM vigil.status WHERE name <> 's0'"),
            "5 5 5 6 changed");
    EXPECT_TEXT(
            sql(&x, "SELECT concat_ws(' ', evaluations, changes, last_result) FROM vigil.status"
                    " WHERE name = 's0'"),
            "6 5 unchanged");
    EXPECT_TEXT(sql(&x, "SELECT string_agg(fetches::text, ' ' ORDER BY url) FROM vigil.pages"
                        " WHERE url IN ('http://x/0', 'http://x/1', 'http://x/30')"),
            "101 103 6");
    /* Each change is the one its sentinel was told about. */
    for (int p = 0; p < PAGES; p += 13)
        EXPECT_TEXT(sql(&x, arena_printf(x.life,
                                    "SELECT sentinel || ' ' || new_version FROM vigil.changes"
                                    " WHERE id = %lld",
                                    (long long)v[3][p].change_id)),
                arena_printf(x.life, "s%d 4", p));
}

TEST(page_gone,
        "a fetch of a page that is gone reports its fault, those written with it are done")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    int64_t page;
    add_sentinel(&x, "s", "http://x/", &page);
    struct store_touch_job touch[3] = {0};
    REQUIRE(fixture_writer(&x, NULL) == OK);
    for (int i = 0; i < 3; i++) {
        touch[i].job.kind = STORE_JOB_TOUCH;
        touch[i].fetch = (struct store_fetch_state){.page_id = i == 1 ? page + 999 : page,
                .last_fetch_at = NOON,
                .verified_at = MSEC_NEVER,
                .next_fetch_at = MSEC_NEVER,
                .fetches = i + 1};
        store_writer_submit(x.writer, &touch[i].job);
    }
    REQUIRE(fixture_drain(&x, 20000));
    EXPECT_INT(touch[0].job.err, OK);
    EXPECT_INT(touch[1].job.err, ERR_NAME);
    EXPECT_INT(touch[2].job.err, OK);
    EXPECT_INT(sql_int(&x, "SELECT fetches FROM vigil.pages"), 3);
}

TEST(bad_one, "one bad job in a group reports its fault, the others are done")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct work *w = new_work(&x);
    REQUIRE(fixture_writer(&x, NULL) == OK);
    struct version_fixture bad;
    version_init(&bad, 4711, 0, 1);
    submit(&x, w, 0, 10);
    store_writer_submit(x.writer, &bad.job.job);
    submit(&x, w, 10, 20);
    EXPECT(fixture_drain(&x, 10 * MSEC_PER_SECOND));
    EXPECT_INT(bad.job.job.err, ERR_NAME);
    EXPECT(strstr(bad.job.job.fault.message, "page 4711"));
    expect_chain(&x, w, 20);
}

TEST(terminated, "a connection cut under load costs nothing and doubles nothing")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct work *w = new_work(&x);
    REQUIRE(fixture_writer(&x, NULL) == OK);
    for (int i = 0; i < MANY; i += 30) {
        submit(&x, w, i, i + 30);
        loop_run_once(x.loop);
        sql(&x, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'vigil engine'");
    }
    EXPECT(fixture_drain(&x, 60 * MSEC_PER_SECOND));
    expect_chain(&x, w, MANY);
}

static bool is_waiting_in_commit(void *arg)
{
    struct seen *s = arg;
    return sql_int(s->x,
                   "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == 1;
}

TEST(unknown_outcome, "a commit that happened although its answer was lost is not made again")
{
    FIXTURE_MADE(x);
    struct seen seen = {.x = &x};
    struct store_writer_hooks hooks = {requested, availability, &seen};
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct work *w = new_work(&x);
    REQUIRE(fixture_writer(&x, &hooks) == OK);

    /* A standby that does not exist: the commit is on disk, its answer never comes. */
    sql(&x, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    sql(&x, "SELECT pg_reload_conf()");
    /* The server takes the setting up in its own time: the first few may still go through. */
    int n = 2;
    submit(&x, w, 0, n);
    bool waiting = fixture_run_until(&x, is_waiting_in_commit, &seen, MSEC_PER_SECOND);
    for (; !waiting && n < 20; n++) {
        submit(&x, w, n, n + 1);
        waiting = fixture_run_until(&x, is_waiting_in_commit, &seen, MSEC_PER_SECOND);
    }
    REQUIRE(waiting);
    sql(&x, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = "
            "'SyncRep'");
    EXPECT(fixture_run_until(&x, is_back, &seen, 10 * MSEC_PER_SECOND));
    long long xmin = sql_int(&x, "SELECT xmin::text::bigint FROM vigil_kb.engine");
    sql(&x, "ALTER SYSTEM RESET synchronous_standby_names");
    sql(&x, "SELECT pg_reload_conf()");
    EXPECT(fixture_drain(&x, 10 * MSEC_PER_SECOND));
    EXPECT(w->versions[n - 1].done);
    EXPECT_INT(w->versions[n - 1].job.job.err, OK);
    EXPECT(xmin > 0);
    expect_chain(&x, w, n);
}

static void kill_server_under_load(int sig)
{
    FIXTURE_MADE(x);
    struct seen seen = {.x = &x};
    struct store_writer_hooks hooks = {requested, availability, &seen};
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct work *w = new_work(&x);
    REQUIRE(fixture_writer(&x, &hooks) == OK);
    for (int i = 0; i < MANY; i += 100) {
        seen.killed = fixture_server(&x);
        submit(&x, w, i, i + 50);
        loop_run_once(x.loop);
        EXPECT(kill(seen.killed, sig) == 0);
        submit(&x, w, i + 50, i + 100);
        EXPECT(fixture_drain(&x, 60 * MSEC_PER_SECOND));
        EXPECT(fixture_run_until(&x, another_serves, &seen, 20 * MSEC_PER_SECOND));
    }
    EXPECT(seen.lost >= 1);
    EXPECT(fixture_run_until(&x, is_back, &seen, 10 * MSEC_PER_SECOND));
    EXPECT(store_writer_is_available(x.writer));
    expect_chain(&x, w, MANY);
}

TEST(killed, "a server killed under load is started again, nothing lost, nothing doubled")
{
    kill_server_under_load(SIGKILL);
}

TEST(quit, "a server stopped at once under load is started again, nothing lost or doubled")
{
    kill_server_under_load(SIGQUIT);
}

TEST(idle, "a server that dies while nothing is to do is noticed and started again")
{
    FIXTURE_MADE(x);
    struct seen seen = {.x = &x};
    struct store_writer_hooks hooks = {requested, availability, &seen};
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    REQUIRE(fixture_writer(&x, &hooks) == OK);
    EXPECT(kill(fixture_server(&x), SIGKILL) == 0);
    EXPECT(fixture_run_until(&x, was_lost, &seen, 10 * MSEC_PER_SECOND));
    EXPECT(seen.why[0]);
    EXPECT(fixture_run_until(&x, is_back, &seen, 20 * MSEC_PER_SECOND));
}

TEST(read_only, "a database that turned read-only is waited for, and says so")
{
    FIXTURE_MADE(x);
    struct seen seen = {.x = &x};
    struct store_writer_hooks hooks = {requested, availability, &seen};
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct work *w = new_work(&x);
    REQUIRE(fixture_writer(&x, &hooks) == OK);
    submit(&x, w, 0, 1);
    EXPECT(fixture_drain(&x, 10 * MSEC_PER_SECOND));
    sql(&x, "ALTER SYSTEM SET default_transaction_read_only = on");
    sql(&x, "SELECT pg_reload_conf()");
    sql(&x, "SELECT pg_sleep(0.2)"); /* the reload reaches the writer's session */
    submit(&x, w, 1, 5);
    EXPECT(fixture_run_until(&x, was_lost, &seen, 10 * MSEC_PER_SECOND));
    EXPECT(strstr(seen.why, "read-only"));
    EXPECT(!store_writer_is_available(x.writer));
    EXPECT_INT(store_writer_pending(x.writer), 4);
    sql(&x, "ALTER SYSTEM RESET default_transaction_read_only");
    sql(&x, "SELECT pg_reload_conf()");
    EXPECT(fixture_drain(&x, 30 * MSEC_PER_SECOND));
    EXPECT(fixture_run_until(&x, is_back, &seen, 10 * MSEC_PER_SECOND));
    expect_chain(&x, w, 5);
}

TEST(stop, "stopping finishes what is pending when the database answers")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct work *w = new_work(&x);
    REQUIRE(fixture_writer(&x, NULL) == OK);
    submit(&x, w, 0, 100);
    EXPECT_INT(store_writer_stop(x.writer, 20 * MSEC_PER_SECOND), 0);
    x.writer = NULL;
    expect_chain(&x, w, 100);
}

static bool is_dead(void *arg)
{
    return !process_is_alive(*(pid_t *)arg);
}

TEST(stop_restarts, "stopping starts a dead server once more for what is pending")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct work *w = new_work(&x);
    REQUIRE(fixture_writer(&x, NULL) == OK);
    /* A backend does yet what it gets before it notices, the writer's and our own. */
    pid_t backend = (pid_t)sql_int(&x, "SELECT pid FROM pg_stat_activity"
                                       " WHERE application_name = 'vigil engine'");
    pid_t own = (pid_t)sql_int(&x, "SELECT pg_backend_pid()");
    EXPECT(kill(fixture_server(&x), SIGKILL) == 0);
    EXPECT(eventually(is_dead, &backend, 10 * MSEC_PER_SECOND));
    EXPECT(eventually(is_dead, &own, 10 * MSEC_PER_SECOND));
    sql(&x, "SELECT 1"); /* our connection notices, too */
    submit(&x, w, 0, 10);
    EXPECT_INT(store_writer_stop(x.writer, 30 * MSEC_PER_SECOND), 0);
    x.writer = NULL;
    expect_chain(&x, w, 10);
}

TEST(stop_away, "stopping with the database away gives up after its time, and says how much")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct work *w = new_work(&x);
    REQUIRE(fixture_writer(&x, NULL) == OK);
    pid_t server = fixture_server(&x);
    sql_int(&x, "SELECT 1");
    EXPECT(kill(server, SIGSTOP) == 0); /* new connections are not answered */
    sql(&x, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'vigil engine'");
    submit(&x, w, 0, 3);
    msec begun = clock_mono(&clock_system);
    size_t given_up = store_writer_stop(x.writer, 300);
    EXPECT(clock_mono(&clock_system) - begun < 3 * MSEC_PER_SECOND);
    x.writer = NULL;
    kill(server, SIGCONT);
    EXPECT_INT(given_up, 3);
    for (int i = 0; i < 3; i++)
        EXPECT(w->versions[i].done && w->versions[i].job.job.err == ERR_STORE);
}

TEST(asked_by_sql, "what SQL asks reaches the engine, and its answer is there to read")
{
    FIXTURE_MADE(x);
    struct seen seen = {.x = &x};
    struct store_writer_hooks hooks = {requested, availability, &seen};
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    REQUIRE(fixture_writer(&x, &hooks) == OK);
    long long id = sql_int(&x, "SELECT vigil.create_sentinel('CREATE SENTINEL a ...')");
    EXPECT(fixture_run_until(&x, was_asked, &seen, 5 * MSEC_PER_SECOND));
    EXPECT_INT(seen.last.id, id);
    EXPECT_TEXT(seen.verb, "add");
    EXPECT_TEXT(seen.text, "CREATE SENTINEL a ...");
    EXPECT_TEXT(seen.owner, "vigil");

    struct store_step step = step_create("a", "http://x/");
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN,
            .steps = &step,
            .nsteps = 1,
            .request_id = id,
            .answer = "a: installed\n"};
    store_writer_submit(x.writer, &plan.job);
    EXPECT(fixture_drain(&x, 5 * MSEC_PER_SECOND));
    EXPECT_TEXT(sql(&x, "SELECT concat_ws(' ', id, verb, state, exit_code, answer) FROM "
                        "vigil.requests"),
            "1 add done 0 a: installed\n");
    EXPECT_TEXT(sql(&x, "SELECT name FROM vigil.status"), "a");

    /* The same plan again, as after a lost answer: done once, same numbers. */
    int64_t first = step.ret_id;
    step.ret_id = 0;
    store_writer_submit(x.writer, &plan.job);
    EXPECT(fixture_drain(&x, 5 * MSEC_PER_SECOND));
    EXPECT_INT(plan.job.err, OK);
    EXPECT_INT(step.ret_id, first);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.events"), 1);
    EXPECT_INT(seen.requests, 1);
}

TEST(taken_up,
        "what is stored of a page nobody watched comes back with the plan that takes it up")
{
    FIXTURE_MADE(x);
    struct seen seen = {.x = &x};
    struct store_writer_hooks hooks = {requested, availability, &seen};
    SCRATCH struct arena *life = arena_new(NULL, "test");
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    REQUIRE(fixture_writer(&x, &hooks) == OK);
    struct store_step first = step_create("a", "http://x/"),
                      beside = step_create("c", "http://x/"),
                      second = step_create("b", "http://x/");
    struct store_plan_job plan = {
            .job.kind = STORE_JOB_PLAN, .steps = &first, .nsteps = 1, .life = life};
    store_writer_submit(x.writer, &plan.job);
    EXPECT(fixture_drain(&x, 5 * MSEC_PER_SECOND));
    EXPECT(!plan.ret_taken_up); /* it is new */

    sql(&x, "UPDATE vigil_kb.page_state SET latest_version = 3, etag = '\\x2261ff22',"
            " learned = '{}', fetches = 7 RETURNING 1");
    plan.steps = &beside;
    store_writer_submit(x.writer, &plan.job);
    EXPECT(fixture_drain(&x, 5 * MSEC_PER_SECOND));
    EXPECT(!plan.ret_taken_up); /* it is watched */

    sql(&x, "UPDATE vigil_kb.sentinel SET page_id = NULL RETURNING 1");
    plan.steps = &second;
    plan.request_id = sql_int(&x, "SELECT vigil.create_sentinel('CREATE SENTINEL b ...')");
    for (int again = 0; again < 2; again++) { /* the second time as after a lost answer */
        plan.ret_taken_up = NULL;
        store_writer_submit(x.writer, &plan.job);
        EXPECT(fixture_drain(&x, 5 * MSEC_PER_SECOND));
        EXPECT_INT(plan.job.err, OK);
        REQUIRE(plan.ret_taken_up && !plan.ret_taken_up->next);
        const struct store_page *page = &plan.ret_taken_up->page;
        EXPECT_INT(page->id, second.ret_page_id);
        EXPECT_TEXT(page->url, "http://x/");
        EXPECT_INT(page->latest_version, 3);
        EXPECT_INT(page->fetches, 7);
        EXPECT_TEXT(page->etag, "\"a\xff\"");
        EXPECT_TEXT(page->learned, "{}");
        EXPECT(!page->last_modified && page->last_fetch_at == MSEC_NEVER);
    }
}

TEST(verbs, "each function asks with its own verb")
{
    static const char *const asks[][2] = {{"SELECT vigil.enable('n')", "enable"},
            {"SELECT vigil.disable('n')", "disable"}, {"SELECT vigil.stop('n')", "stop"},
            {"SELECT vigil.drop_sentinel('n')", "drop"}};
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    for (size_t i = 0; i < countof(asks); i++) {
        sql_int(&x, asks[i][0]);
        EXPECT_TEXT(sql(&x, "SELECT verb || ' ' || text FROM vigil.requests ORDER BY id DESC"),
                arena_printf(x.life, "%s n", asks[i][1]));
    }
}

static bool asked_twice(void *arg)
{
    return ((struct seen *)arg)->requests >= 2;
}

TEST(asked_early, "a request made before the engine started, or while the database was away, "
                  "is told once")
{
    FIXTURE_MADE(x);
    struct seen seen = {.x = &x};
    struct store_writer_hooks hooks = {requested, availability, &seen};
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    sql_int(&x, "SELECT vigil.enable('early')");
    REQUIRE(fixture_writer(&x, &hooks) == OK);
    EXPECT(fixture_run_until(&x, was_asked, &seen, 5 * MSEC_PER_SECOND));
    EXPECT_TEXT(seen.text, "early");
    sql(&x, "BEGIN");
    sql_int(&x, "SELECT vigil.enable('meanwhile')");
    sql(&x, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'vigil engine'");
    sql(&x, "COMMIT");
    EXPECT(fixture_run_until(&x, asked_twice, &seen, 10 * MSEC_PER_SECOND));
    EXPECT_TEXT(seen.text, "meanwhile");
    EXPECT_INT(seen.requests, 2);
}

static void ask_as_command(struct fixture *x)
{
    SCRATCH struct arena *life = arena_new(NULL, "command");
    struct fault f;
    struct store *s;
    int code = -1;
    char *answer = NULL;
    REQUIRE(fixture_open_other(x, life, STORE_COMMAND, "disable", &f, &s) == OK);
    EXPECT(store_engine_is_running(s));
    EXPECT(store_ask(s, "disable", "news\nrefs", 10 * MSEC_PER_SECOND, life, &f, &code,
                   &answer) == OK);
    EXPECT_INT(code, 1);
    EXPECT_TEXT(answer, "there is no sentinel \"refs\"\n");
    store_close(s);
}

TEST(asked_by_command, "a command next to a running engine asks it and gets its answer")
{
    FIXTURE_MADE(x);
    struct seen seen = {.x = &x};
    struct store_writer_hooks hooks = {requested, availability, &seen};
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    REQUIRE(fixture_writer(&x, &hooks) == OK);
    pid_t child = start_child(ask_as_command, &x);
    EXPECT(fixture_run_until(&x, was_asked, &seen, 10 * MSEC_PER_SECOND));
    EXPECT_TEXT(seen.verb, "disable");
    EXPECT_TEXT(seen.text, "news\nrefs");
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN,
            .request_id = seen.last.id,
            .exit_code = 1,
            .answer = "there is no sentinel \"refs\"\n"};
    store_writer_submit(x.writer, &plan.job);
    EXPECT(fixture_drain(&x, 5 * MSEC_PER_SECOND));
    EXPECT_INT(wait_child(child), 0);
}

static void ask_in_vain(struct fixture *x)
{
    SCRATCH struct arena *life = arena_new(NULL, "command");
    struct fault f;
    struct store *s;
    int code;
    char *answer;
    REQUIRE(fixture_open_other(x, life, STORE_COMMAND, "drop", &f, &s) == OK);
    EXPECT(store_ask(s, "drop", "news", 200, life, &f, &code, &answer) == ERR_STORE);
    EXPECT(strstr(f.message, "did not answer in time"));
    store_close(s);
}

TEST(withdrawn, "a request nobody waits for any more is not carried out later")
{
    FIXTURE_MADE(x);
    struct seen seen = {.x = &x};
    struct store_writer_hooks hooks = {requested, availability, &seen};
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    struct work *w = new_work(&x);
    REQUIRE(fixture_writer(&x, &hooks) == OK);
    EXPECT_INT(in_child(ask_in_vain, &x), 0);
    EXPECT(fixture_run_until(&x, was_asked, &seen, 5 * MSEC_PER_SECOND) || seen.requests == 0);
    struct store_step step = {.kind = STORE_STEP_DROP, .sentinel_id = w->sentinel};
    struct store_plan_job plan = {
            .job.kind = STORE_JOB_PLAN, .steps = &step, .nsteps = 1, .request_id = 1};
    store_writer_submit(x.writer, &plan.job);
    EXPECT(fixture_drain(&x, 5 * MSEC_PER_SECOND));
    EXPECT_INT(plan.job.err, ERR_NAME);
    EXPECT_TEXT(sql(&x, "SELECT name FROM vigil.status"), "news");
}

TEST(reads_beside, "an engine may still ask questions while its writer runs")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    new_work(&x);
    REQUIRE(fixture_writer(&x, NULL) == OK);
    struct store_rows *r;
    REQUIRE(store_query(x.store, STORE_Q_NAMES, 0, NULL, x.life, &x.fault, &r) == OK);
    EXPECT_TEXT(store_rows_text(r, 0, 0), "news");
}

TEST_MAIN()
