/* Jobs: each kind, all or nothing, once. */
#include "tests/store/store_fixture.h"

static enum err run(struct fixture *x, struct store_job *job)
{
    return store_run(x->store, job, &x->fault);
}

static const char *row_text(struct fixture *x, const struct store_rows *r, int row)
{
    BUF(all, 4096);
    for (int i = 0; i < store_rows_columns(r); i++)
        buf_printf(&all, "%s%s=%s", i ? " " : "", store_rows_name(r, i),
                store_rows_text(r, row, i) ? store_rows_text(r, row, i) : "-");
    return arena_strdup(x->life, buf_text(&all));
}

TEST(status, "a sentinel that was added is shown with all it said")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    int64_t page;
    EXPECT(add_sentinel(&x, "News", "http://x/news.html", &page) > 0);
    EXPECT(page > 0);
    struct store_rows *r;
    REQUIRE(store_query(x.store, STORE_Q_SHOW, 1, (const char *[]){"nEWS"}, x.life, &x.fault,
                    &r) == OK);
    REQUIRE(store_rows_count(r) == 1);
    EXPECT_TEXT(row_text(&x, r, 0),
            "name=News owner=ann state=active url=http://x/news.html monitor=any change "
            "fetch=every 2 seconds compare=pairwise installed_at=2026-09-21T14:13:20Z "
            "starts_at=2026-09-21T14:13:20Z ends_at=- started_at=2026-09-21T14:13:20Z "
            "ended_at=- "
            "last_fetch_at=- last_version=- last_change_at=- last_notified_at=- "
            "next_fetch_at=- "
            "evaluations=0 changes=0 notifications=0 last_result=- error=- "
            "definition=CREATE SENTINEL ... waiting_for=- dependants={} overdue_since=-");
    EXPECT_INT(store_rows_type(r, 0), STORE_TEXT);
    EXPECT_INT(store_rows_type(r, 7), STORE_TIME);
    EXPECT_INT(store_rows_type(r, 17), STORE_INT);
    EXPECT_TEXT(sql(&x, "SELECT id || ' ' || sentinel || ' ' || kind FROM vigil.events"),
            "1 News create");
}

TEST(all_or_none, "a plan with one wrong step leaves nothing behind")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    add_sentinel(&x, "a", "http://x/", NULL);
    struct store_step steps[] = {
            step_create("b", "http://x/b"), step_create("A", "http://x/c")};
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN, .steps = steps, .nsteps = 2};
    EXPECT_INT(run(&x, &plan.job), ERR_NAME);
    EXPECT_TEXT(x.fault.message, "sentinel \"A\" exists already");
    EXPECT_TEXT(sql(&x, "SELECT string_agg(name, ',') FROM vigil.status"), "a");
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil_kb.page"), 1);
}

TEST(many,
        "a thousand definitions in a row are installed whole, in order, each with its pages and"
        " receivers; with one name that is taken, none of them")
{
    enum { MANY = 1003 };
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    static struct store_step steps[MANY];
    static int64_t more[MANY][2];
    const char *further[] = {"http://x/shared", "http://x/other"};
    const struct store_tell tells[] = {{.method = "dashboard", .target = "", .at_commit = true},
            {.method = "email", .target = "a@x.org"},
            {.method = "email", .target = "all@x.org", .combined = true}};
    for (int i = 0; i < MANY; i++) {
        steps[i] = step_create(
                arena_printf(x.life, "s%d", i), arena_printf(x.life, "http://x/%d", i / 3));
        steps[i].tells = tells;
        steps[i].ntells = 3;
        steps[i].more_urls = further;
        steps[i].nmore = i % 2 ? 2 : 0;
        steps[i].ret_more_ids = more[i];
    }
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN, .steps = steps, .nsteps = MANY};
    steps[MANY - 1].name = "S7";
    EXPECT_INT(run(&x, &plan.job), ERR_NAME);
    EXPECT_TEXT(x.fault.message, "sentinel \"S7\" exists already");
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.status"), 0);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil_kb.page"), 0);
    steps[MANY - 1].name = "last";
    REQUIRE(run(&x, &plan.job) == OK);
    EXPECT_TEXT(
            sql(&x, "SELECT concat_ws(' ', count(*), count(DISTINCT url)) FROM vigil.status"),
            "1003 335");
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil_kb.page"), 337);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil_kb.page_state"), 337);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.events WHERE kind = 'create'"), MANY);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil_kb.sight WHERE page_id IS NOT NULL"),
            2 * (MANY / 2));
    EXPECT_TEXT(
            sql(&x, "SELECT string_agg(n, ' ' ORDER BY n) FROM (SELECT count(*) || method ||"
                    " count(DISTINCT lane_id) AS n FROM vigil_kb.tell GROUP BY method, target) "
                    "t"),
            "1003dashboard0 1003email1 1003email1003");
    for (int i = 0; i < MANY; i += 167)
        EXPECT_TEXT(
                sql(&x, arena_printf(x.life,
                                "SELECT concat_ws(' ', name, p.url, p.id) FROM "
                                "vigil_kb.sentinel s"
                                " JOIN vigil_kb.page p ON p.id = s.page_id WHERE s.id = %lld",
                                (long long)steps[i].ret_id)),
                arena_printf(x.life, "%s %s %lld", steps[i].name, steps[i].url,
                        (long long)steps[i].ret_page_id));
    EXPECT_INT(more[1][0], more[3][0]);
    EXPECT(more[1][1] && more[1][1] != more[1][0]);
}

TEST(shared_page, "two sentinels on one URL share its page")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    struct store_step steps[] = {step_create("a", "http://x/"), step_create("b", "http://x/")};
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN, .steps = steps, .nsteps = 2};
    REQUIRE(run(&x, &plan.job) == OK);
    EXPECT(steps[0].ret_page_id);
    EXPECT_INT(steps[0].ret_page_id, steps[1].ret_page_id);
    EXPECT(steps[0].ret_id != steps[1].ret_id);
}

TEST(long_url, "a URL longer than an index entry is a page like any other")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    char url[20001];
    memset(url, 'u', sizeof url - 1);
    url[sizeof url - 1] = 0;
    int64_t one, two;
    add_sentinel(&x, "a", url, &one);
    add_sentinel(&x, "b", url, &two);
    EXPECT_INT(one, two);
}

TEST(version, "a version, its change, counters and notification arrive together")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    int64_t page, id = add_sentinel(&x, "news", "http://x/", &page);
    struct version_fixture v1, v2;
    version_init(&v1, page, id, 1);
    version_init(&v2, page, id, 2);
    REQUIRE(run(&x, &v1.job.job) == OK);
    REQUIRE(run(&x, &v2.job.job) == OK);
    EXPECT(v1.done && v2.done);
    EXPECT(v2.change_id > 0);

    EXPECT_TEXT(
            sql(&x, "SELECT concat_ws(' ', last_version, evaluations, changes, notifications,"
                    " last_result, vigil_kb.ms(last_change_at) - 1790000000000,"
                    " vigil_kb.ms(last_notified_at) - 1790000000000,"
                    " vigil_kb.ms(next_fetch_at) - 1790000000000, error) FROM vigil.status"),
            "2 1 1 1 changed 2000 2000 4000");
    struct store_rows *r;
    REQUIRE(store_query(x.store, STORE_Q_CHANGES, 3, (const char *[]){"news", NULL, "10"},
                    x.life, &x.fault, &r) == OK);
    REQUIRE(store_rows_count(r) == 1);
    EXPECT_TEXT(row_text(&x, r, 0),
            "id=1 sentinel=news at=2026-09-21T14:13:22Z url=http://x/ old_version=1 "
            "new_version=2 "
            "inserted=1 deleted=2 updated=0 moved=0 summary=1 inserted, 2 deleted "
            "detail={\"any change\": {\"inserted\": [\"x\"]}}");
    EXPECT_INT(store_rows_type(r, 11), STORE_JSON);
    REQUIRE(store_query(x.store, STORE_Q_VERSIONS, 1, (const char *[]){"http://x/"}, x.life,
                    &x.fault, &r) == OK);
    REQUIRE(store_rows_count(r) == 2);
    char hex[65];
    sha256_hex(&v2.job.body_sha256, hex);
    EXPECT_TEXT(store_rows_get(r, 1, "digest"), hex);
    EXPECT_TEXT(store_rows_get(r, 1, "etag"), "\"abc\"");
    EXPECT_INT(atoi(store_rows_get(r, 1, "size")), strlen(v2.body));
    REQUIRE(store_query(x.store, STORE_Q_NOTIFICATIONS, 2, (const char *[]){NULL, NULL}, x.life,
                    &x.fault, &r) == OK);
    REQUIRE(store_rows_count(r) == 1);
    EXPECT_TEXT(row_text(&x, r, 0),
            "id=1 sentinel=news at=2026-09-21T14:13:22Z method=dashboard target= state=sent "
            "attempts=1 next_try_at=- sent_at=2026-09-21T14:13:22Z error=- kind=change "
            "owner=ann change=1 message=1");
}

TEST(twice, "the same version given twice is recorded once")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    int64_t page, id = add_sentinel(&x, "news", "http://x/", &page);
    struct version_fixture v1, v2, again;
    version_init(&v1, page, id, 1);
    version_init(&v2, page, id, 2);
    version_init(&again, page, id, 2);
    REQUIRE(run(&x, &v1.job.job) == OK);
    REQUIRE(run(&x, &v2.job.job) == OK);
    REQUIRE(run(&x, &again.job.job) == OK);
    EXPECT_INT(again.change_id, v2.change_id);
    EXPECT_TEXT(sql(&x, "SELECT concat_ws(' ', (SELECT count(*) FROM vigil.versions),"
                        " (SELECT count(*) FROM vigil.changes),"
                        " (SELECT count(*) FROM vigil.notifications), evaluations, changes,"
                        " notifications) FROM vigil.status"),
            "2 1 1 1 1 1");
}

TEST(other_contents, "a version number that is taken by other contents is refused")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    int64_t page, id = add_sentinel(&x, "news", "http://x/", &page);
    struct version_fixture v, other;
    version_init(&v, page, id, 1);
    version_init(&other, page, id, 1);
    strcpy(other.body, "something else");
    other.job.body_bytes = strlen(other.body);
    other.job.body_sha256 = sha256_of(other.body, strlen(other.body));
    REQUIRE(run(&x, &v.job.job) == OK);
    EXPECT_INT(run(&x, &other.job.job), ERR_STORE);
    EXPECT(strstr(x.fault.message, "other contents"));
}

TEST(equal_bodies, "equal bodies are kept once: A, B, A makes three versions and two bodies")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    int64_t page;
    add_sentinel(&x, "news", "http://x/", &page);
    for (int i = 1; i <= 3; i++) {
        struct version_fixture v;
        version_init(&v, page, 0, i);
        snprintf(v.body, sizeof v.body, i == 2 ? "B" : "A");
        v.job.body_bytes = 1;
        v.job.body_sha256 = sha256_of(v.body, 1);
        REQUIRE(run(&x, &v.job.job) == OK);
    }
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.versions"), 3);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil_kb.body"), 2);
}

TEST(load, "a stored version gives back its digest and body as they were")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    int64_t page, id = add_sentinel(&x, "news", "http://x/", &page);
    struct version_fixture v;
    version_init(&v, page, id, 1);
    char *big = arena_zalloc(x.life, 300000); /* compresses well, with zeros inside */
    for (size_t i = 0; i < 300000; i += 7)
        big[i] = (char)(i % 251);
    v.job.body = big;
    v.job.body_bytes = 300000;
    v.job.body_sha256 = sha256_of(big, 300000);
    REQUIRE(run(&x, &v.job.job) == OK);
    EXPECT(sql_int(&x, "SELECT length(zstd) FROM vigil_kb.body") < 100000);

    struct store_load_job load = {
            .job.kind = STORE_JOB_LOAD, .page_id = page, .version = 1, .want_body = true};
    buf_init(&load.digest, 1 << 20);
    buf_init(&load.body, 1 << 20);
    REQUIRE(run(&x, &load.job) == OK);
    EXPECT(load.found);
    EXPECT_TEXT(buf_text(&load.digest), "DIGEST");
    EXPECT(load.body.len == 300000 && memcmp(load.body.data, big, 300000) == 0);

    load.version = 2;
    EXPECT(run(&x, &load.job) == OK && !load.found);
    load.version = 1;
    buf_done(&load.body);
    buf_init(&load.body, 1000);
    EXPECT_INT(run(&x, &load.job), ERR_STORE);
    buf_done(&load.digest);
    buf_done(&load.body);
}

TEST(touch, "a fetch that brought nothing new leaves its traces, absolute values")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    int64_t page;
    add_sentinel(&x, "news", "http://x/", &page);
    struct store_touch_job t = {.job.kind = STORE_JOB_TOUCH,
            .fetch = {.page_id = page,
                    .last_fetch_at = NOON + 7,
                    .verified_at = NOON + 6,
                    .next_fetch_at = NOON + 9,
                    .error = "HTTP status 500",
                    .learned = "{\"a\":1}",
                    .fetches = 4,
                    .failures = 2}};
    REQUIRE(run(&x, &t.job) == OK);
    REQUIRE(run(&x, &t.job) == OK);
    t.fetch.verified_at = MSEC_NEVER; /* kept as it is */
    REQUIRE(run(&x, &t.job) == OK);
    EXPECT_TEXT(sql(&x, "SELECT concat_ws(' ', error, fetches, failures, learned,"
                        " vigil_kb.ms(verified_at) - 1790000000000) FROM vigil_kb.page_state"),
            "HTTP status 500 4 2 {\"a\":1} 6");
    EXPECT_TEXT(sql(&x, "SELECT error FROM vigil.status"), "HTTP status 500");
    t.fetch.page_id = 999;
    EXPECT_INT(run(&x, &t.job), ERR_NAME);
}

TEST(bytes, "bytes that are no UTF-8 and a zero in JSON do not lose a change")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    int64_t page, id = add_sentinel(&x, "news", "http://x/", &page);
    struct version_fixture v1, v2;
    version_init(&v1, page, id, 1);
    version_init(&v2, page, id, 2);
    v2.job.fetch.etag = "\"caf\xe9\"";
    v2.job.content_type = "text/html; charset=\xff\xfe";
    v2.change.summary = "caf\xe9 \"quoted\" \\ {braces}, comma";
    v2.change.detail = "{\"x\":\"a\\u0000b\\\\u0000\"}";
    REQUIRE(run(&x, &v1.job.job) == OK);
    REQUIRE(run(&x, &v2.job.job) == OK);
    EXPECT_TEXT(sql(&x, "SELECT summary FROM vigil.changes"),
            "caf\xef\xbf\xbd \"quoted\" \\ {braces}, comma");
    EXPECT_TEXT(sql(&x, "SELECT detail->>'x' FROM vigil.changes"), "a\xef\xbf\xbd"
                                                                   "b\\u0000");
    EXPECT_TEXT(sql(&x, "SELECT etag FROM vigil.versions WHERE version = 2"), "\"caf\\351\"");
}

struct kept {
    struct arena *life;
    struct store_page page;
    struct store_sentinel sentinel;
};

static void keep_page(const struct store_page *row, void *arg)
{
    struct kept *k = arg;
    k->page = *row;
    k->page.url = arena_strdup(k->life, row->url);
    k->page.etag = row->etag ? arena_strdup(k->life, row->etag) : NULL;
}

static void keep_sentinel(const struct store_sentinel *row, void *arg)
{
    struct kept *k = arg;
    k->sentinel = *row;
    k->sentinel.state = arena_strdup(k->life, row->state);
}

TEST(loading, "what was written is what an engine reads at its next start")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    int64_t page, id = add_sentinel(&x, "news", "http://x/", &page);
    struct version_fixture v1, v2;
    version_init(&v1, page, id, 1);
    version_init(&v2, page, id, 2);
    v2.job.fetch.etag = "\"caf\xe9\"";
    REQUIRE(run(&x, &v1.job.job) == OK);
    REQUIRE(run(&x, &v2.job.job) == OK);
    fixture_close(&x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);

    struct kept k = {.life = x.life};
    REQUIRE(store_load_pages(x.store, &x.fault, keep_page, &k) == OK);
    REQUIRE(store_load_sentinels(x.store, &x.fault, keep_sentinel, &k) == OK);
    struct store_page p = k.page;
    struct store_sentinel s = k.sentinel;
    EXPECT_TEXT(p.url, "http://x/");
    EXPECT_INT(p.latest_version, 2);
    EXPECT_TEXT(p.etag, "\"caf\xe9\"");
    EXPECT(!p.last_modified && !p.error && !p.learned);
    EXPECT_INT(p.last_fetch_at, NOON + 2000);
    EXPECT_INT(p.last_change_at, NOON + 2000);
    EXPECT(sha256_equal(&p.body, &v2.job.body_sha256));
    EXPECT_INT(s.id, id);
    EXPECT_INT(s.page_id, p.id);
    EXPECT_TEXT(s.state, "active");
    EXPECT_INT(s.starts_at, NOON);
    EXPECT(s.ends_at == MSEC_NEVER && s.ended_at == MSEC_NEVER);
}

TEST(transitions, "state, start and end are kept, and a transition given twice is one event")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    int64_t id = add_sentinel(&x, "news", "http://x/", NULL);
    struct store_step step = {.kind = STORE_STEP_STATE,
            .sentinel_id = id,
            .state = "ended",
            .started_at = NOON,
            .ended_at = NOON + 60,
            .base_version = 3,
            .end_reason = "to-reached",
            .event_kind = "end",
            .event_detail = "to-reached",
            .event_at = NOON + 60,
            .event_actual_at = NOON + 61};
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN, .steps = &step, .nsteps = 1};
    REQUIRE(run(&x, &plan.job) == OK);
    REQUIRE(run(&x, &plan.job) == OK);
    EXPECT_TEXT(sql(&x, "SELECT concat_ws(' ', state, base_version, end_reason,"
                        " vigil_kb.ms(ended_at) - 1790000000000,"
                        " vigil_kb.ms(starts_at) - 1790000000000) FROM vigil_kb.sentinel"),
            "ended 3 to-reached 60 0");
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.events WHERE kind = 'end'"), 1);

    step.state = NULL; /* kept */
    step.starts_at = NOON + 5;
    step.ends_at = MSEC_NEVER;
    step.event_kind = NULL;
    REQUIRE(run(&x, &plan.job) == OK);
    EXPECT_TEXT(sql(&x, "SELECT concat_ws(' ', state, vigil_kb.ms(starts_at) - 1790000000000,"
                        " ends_at) FROM vigil_kb.sentinel"),
            "ended 5");
}

TEST(replaced, "a replaced sentinel keeps its number and history, and may move to another page")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    int64_t page, id = add_sentinel(&x, "news", "http://x/", &page);
    struct version_fixture v1, v2;
    version_init(&v1, page, id, 1);
    version_init(&v2, page, id, 2);
    REQUIRE(run(&x, &v1.job.job) == OK);
    REQUIRE(run(&x, &v2.job.job) == OK);

    struct store_step step = step_create("NEWS", "http://y/");
    step.kind = STORE_STEP_REPLACE;
    step.sentinel_id = id;
    step.event_kind = "replace";
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN, .steps = &step, .nsteps = 1};
    REQUIRE(run(&x, &plan.job) == OK);
    EXPECT_INT(step.ret_id, id);
    EXPECT(step.ret_page_id && step.ret_page_id != page);
    EXPECT_TEXT(sql(&x, "SELECT url || ' ' || changes FROM vigil.status WHERE name = 'NEWS'"),
            "http://y/ 1");
    EXPECT_TEXT(sql(&x, "SELECT sentinel || ' ' || url FROM vigil.changes"), "NEWS http://x/");

    struct store_step drop = {.kind = STORE_STEP_DROP, .sentinel_id = id};
    plan.steps = &drop;
    REQUIRE(run(&x, &plan.job) == OK);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil_kb.page"), 0);
}

TEST(dropped, "dropping removes the sentinel, its changes, and pages and bodies nobody needs")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    int64_t page, id = add_sentinel(&x, "a", "http://x/", &page);
    int64_t other = add_sentinel(&x, "b", "http://x/", NULL);
    struct version_fixture v1, v2;
    version_init(&v1, page, id, 1);
    version_init(&v2, page, id, 2);
    REQUIRE(run(&x, &v1.job.job) == OK);
    REQUIRE(run(&x, &v2.job.job) == OK);

    struct store_step step = {.kind = STORE_STEP_DROP,
            .sentinel_id = id,
            .event_kind = "drop",
            .event_at = NOON,
            .event_actual_at = NOON};
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN, .steps = &step, .nsteps = 1};
    REQUIRE(run(&x, &plan.job) == OK);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.changes"), 0);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.notifications"), 0);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.versions"), 2);
    EXPECT_TEXT(sql(&x, "SELECT sentinel || ' ' || kind FROM vigil.events ORDER BY id DESC"),
            "a drop");
    step.sentinel_id = other;
    REQUIRE(run(&x, &plan.job) == OK);
    EXPECT_TEXT(sql(&x, "SELECT concat_ws(' ', (SELECT count(*) FROM vigil_kb.page),"
                        " (SELECT count(*) FROM vigil_kb.version),"
                        " (SELECT count(*) FROM vigil_kb.body),"
                        " (SELECT count(*) FROM vigil_kb.page_state))"),
            "0 0 0 0");
    EXPECT_INT(run(&x, &plan.job), ERR_NAME);
}

TEST(dropped_meanwhile,
        "a change for a sentinel dropped meanwhile does not cost the others theirs")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    int64_t page, id = add_sentinel(&x, "a", "http://x/", &page);
    struct version_fixture v;
    version_init(&v, page, id, 2);
    struct store_change changes[] = {v.change, v.change, v.change};
    int64_t ids[3];
    changes[0].sentinel_id = 12345;
    changes[2].sentinel_id = 12346;
    v.job.changes = changes;
    v.job.nchanges = 3;
    v.job.ret_change_ids = ids;
    REQUIRE(run(&x, &v.job.job) == OK);
    EXPECT(ids[0] == 0 && ids[1] > 0 && ids[2] == 0);
    EXPECT_TEXT(sql(&x, "SELECT changes || ' ' || notifications FROM vigil.status"), "1 1");
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.notifications"), 1);
}

TEST(seen_later, "a version shown later to another sentinel adds its change, once")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    int64_t page, first = add_sentinel(&x, "a", "http://x/", &page);
    int64_t second = add_sentinel(&x, "b", "http://x/", NULL);
    struct version_fixture v1, v2, later, again;
    version_init(&v1, page, first, 1);
    version_init(&v2, page, first, 2);
    version_init(&later, page, second, 2);
    version_init(&again, page, second, 2);
    v2.job.seen_by = &first;
    later.job.seen_by = again.job.seen_by = &second;
    v2.job.nseen_by = later.job.nseen_by = again.job.nseen_by = 1;
    later.job.exists = again.job.exists = true;
    REQUIRE(run(&x, &v1.job.job) == OK);
    REQUIRE(run(&x, &v2.job.job) == OK);
    REQUIRE(run(&x, &later.job.job) == OK);
    REQUIRE(run(&x, &again.job.job) == OK);
    EXPECT(later.change_id > v2.change_id);
    EXPECT_INT(again.change_id, later.change_id);
    EXPECT_INT(sql_int(&x, "SELECT count(*) FROM vigil.versions"), 2);
    EXPECT_TEXT(sql(&x, "SELECT string_agg(concat_ws(' ', name, evaluations, changes, "
                        "notifications),"
                        " ', ' ORDER BY name) FROM vigil.status"),
            "a 1 1 1, b 1 1 1");
    EXPECT_TEXT(
            sql(&x, "SELECT string_agg(last_version::text, ' ') FROM vigil_kb.sentinel_state"),
            "2 2");
}

TEST(announced, "a change is announced on vigil_changes as one JSON object, cut to fit")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    int64_t page, id = add_sentinel(&x, "news", "http://x/", &page);
    struct version_fixture v1, v2, v3;
    char *summary = arena_zalloc(x.life, 20001);
    version_init(&v1, page, id, 1);
    version_init(&v2, page, id, 2);
    version_init(&v3, page, id, 3);
    memset(summary, '"', 20000);
    v3.change.summary = summary;
    sql(&x, "LISTEN vigil_changes");
    REQUIRE(run(&x, &v1.job.job) == OK);
    REQUIRE(run(&x, &v2.job.job) == OK);
    REQUIRE(run(&x, &v3.job.job) == OK);
    sql(&x, "SELECT 1");
    PGnotify *n = PQnotifies(x.sql);
    REQUIRE(n);
    EXPECT_TEXT(n->extra,
            "{\"id\" : 1, \"sentinel\" : \"news\", \"at\" : \"2026-09-21T14:13:22.000Z\", "
            "\"url\" : \"http://x/\", \"old_version\" : 1, \"new_version\" : 2, \"inserted\" : "
            "1, "
            "\"deleted\" : 2, \"updated\" : 0, \"moved\" : 0, \"summary\" : \"1 inserted, 2 "
            "deleted\"}");
    PQfreemem(n);
    n = PQnotifies(x.sql);
    REQUIRE(n);
    EXPECT(strlen(n->extra) > 3000 && strlen(n->extra) < 8000);
    PQfreemem(n);
    EXPECT_INT(sql_int(&x, "SELECT length(summary) FROM vigil.changes WHERE new_version = 3"),
            20000);
}

TEST_MAIN()
