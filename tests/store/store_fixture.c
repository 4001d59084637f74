#include "tests/store/store_fixture.h"
#include <errno.h>
#include <ftw.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A new cluster for each test is mostly waiting for a disk; memory will do where there is
 * enough of it. */
static const char *roomy_place(void)
{
    struct statvfs v;
    bool is_roomy = statvfs("/dev/shm", &v) == 0 && access("/dev/shm", W_OK) == 0 &&
                    (uint64_t)v.f_bavail * v.f_frsize > (uint64_t)2 << 30;
    return is_roomy ? "/dev/shm" : "/tmp";
}

void fixture_init(struct fixture *x)
{
    *x = (struct fixture){0};
    snprintf(x->dir, sizeof x->dir, "%s/vst-XXXXXX", roomy_place());
    CHECK(mkdtemp(x->dir));
    CHECK(chmod(x->dir, 0755) == 0); /* user postgres must pass when root runs the tests */
    snprintf(x->data, sizeof x->data, "%s/data", x->dir);
    x->life = arena_new(NULL, "fixture");
    clock_fixed_init(&x->clock, NOON, 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    (void)remove(path);
    return 0;
}

void fixture_close(struct fixture *x)
{
    PQfinish(x->sql);
    x->sql = NULL;
    if (x->writer)
        store_writer_stop(x->writer, 10 * MSEC_PER_SECOND);
    x->writer = NULL;
    loop_free(x->loop);
    x->loop = NULL;
    store_close(x->store);
    x->store = NULL;
}

void fixture_done(struct fixture *x)
{
    fixture_close(x);
    pid_t server = fixture_server(x);
    if (server)
        test_fail(__FILE__, __LINE__, "server %ld was left running", (long)server);
    arena_free(x->life);
    (void)nftw(x->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* What fixture_init_made() copies; it goes with the process that made it. */
static struct fixture pattern;
static pid_t pattern_owner;

static void remove_pattern(void)
{
    if (pattern_owner == getpid()) /* not a child that leaves by exit() */
        fixture_done(&pattern);
}

static void copy_data(const char *from, const char *to)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        execlp("cp", "cp", "-a", "--reflink=auto", from, to, NULL);
        _exit(127);
    }
    CHECK(wait_child(pid) == 0);
}

void fixture_init_made(struct fixture *x)
{
    if (!pattern_owner) {
        fixture_init(&pattern);
        CHECK(fixture_open(&pattern, STORE_ENGINE) == OK);
        fixture_close(&pattern);
        pattern_owner = getpid();
        CHECK(atexit(remove_pattern) == 0);
    }
    fixture_init(x);
    copy_data(pattern.data, x->data);
}

struct store_options fixture_options(struct fixture *x, enum store_role role, const char *who)
{
    return (struct store_options){
            .data = x->data,
            .role = role,
            .who = who,
            .quiet = true,
            .clock = &x->clock.clock,
    };
}

enum err fixture_open(struct fixture *x, enum store_role role)
{
    struct store_options o = fixture_options(x, role, role == STORE_ENGINE ? "run" : "list");
    enum err e = store_open(x->life, &o, &x->fault, &x->store);
    if (e)
        printf("# store_open: %s (%s)\n", x->fault.message, x->fault.hint);
    return e;
}

enum err fixture_open_other(struct fixture *x, struct arena *life, enum store_role role,
        const char *who, struct fault *f, struct store **ret_store)
{
    struct store_options o = fixture_options(x, role, who);
    return store_open(life, &o, f, ret_store);
}

const char *sql(struct fixture *x, const char *text)
{
    if (x->sql && PQstatus(x->sql) != CONNECTION_OK) {
        PQfinish(x->sql);
        x->sql = NULL;
    }
    if (!x->sql)
        x->sql = PQconnectdb(store_conninfo(x->store));
    PGresult *r = PQexec(x->sql, text);
    const char *answer;
    if (PQresultStatus(r) == PGRES_TUPLES_OK)
        answer = PQntuples(r) ? arena_strdup(x->life, PQgetvalue(r, 0, 0)) : "(no row)";
    else if (PQresultStatus(r) == PGRES_COMMAND_OK)
        answer = arena_strdup(x->life, PQcmdStatus(r));
    else
        answer = arena_printf(x->life, "(error) %s", PQerrorMessage(x->sql));
    PQclear(r);
    return answer;
}

long long sql_int(struct fixture *x, const char *text)
{
    const char *answer = sql(x, text);
    char *end;
    long long n = strtoll(answer, &end, 10);
    if (*end || end == answer)
        test_fail(__FILE__, __LINE__, "%s gave %s", text, answer);
    return n;
}

pid_t fixture_server(struct fixture *x)
{
    char path[128];
    long pid = 0;
    snprintf(path, sizeof path, "%s/pg/postmaster.pid", x->data);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    if (fscanf(file, "%ld", &pid) != 1)
        pid = 0;
    fclose(file);
    return (pid_t)pid;
}

bool process_is_alive(pid_t pid)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    if (!fgets(text, sizeof text, file))
        text[0] = 0;
    fclose(file);
    const char *after = strrchr(text, ')');
    return after && after[2] != 'Z' && after[2] != 'X';
}

bool eventually(bool (*holds)(void *arg), void *arg, msec ms)
{
    msec until = clock_mono(&clock_system) + ms;
    while (!holds(arg)) {
        if (clock_mono(&clock_system) >= until)
            return false;
        struct timespec nap = {0, 5000000};
        nanosleep(&nap, NULL);
    }
    return true;
}

pid_t start_child(void (*body)(struct fixture *x), struct fixture *x)
{
    fflush(stdout);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        test_failures = 0;
        body(x);
        fflush(stdout);
        _exit(test_failures ? 99 : 0);
    }
    return pid;
}

int wait_child(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        CHECK(errno == EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int in_child(void (*body)(struct fixture *x), struct fixture *x)
{
    return wait_child(start_child(body, x));
}

struct store_step step_create(const char *name, const char *url)
{
    return (struct store_step){
            .kind = STORE_STEP_CREATE,
            .name = name,
            .owner = "ann",
            .definition = "CREATE SENTINEL ...",
            .state = "active",
            .url = url,
            .monitor = "any change",
            .fetch = "every 2 seconds",
            .compare = "pairwise",
            .installed_at = NOON,
            .starts_at = NOON,
            .ends_at = MSEC_NEVER,
            .started_at = NOON,
            .ended_at = MSEC_NEVER,
            .event_kind = "create",
            .event_at = NOON,
            .event_actual_at = NOON + 5,
    };
}

int64_t add_sentinel(struct fixture *x, const char *name, const char *url, int64_t *ret_page)
{
    struct store_step step = step_create(name, url);
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN, .steps = &step, .nsteps = 1};
    if (store_run(x->store, &plan.job, &x->fault) != OK)
        test_fail(__FILE__, __LINE__, "add %s: %s", name, x->fault.message);
    if (ret_page)
        *ret_page = step.ret_page_id;
    return step.ret_id;
}

static void version_done(struct store_job *job)
{
    container_of(job, struct version_fixture, job.job)->done = true;
}

void version_init(struct version_fixture *v, int64_t page, int64_t sentinel, int64_t n)
{
    *v = (struct version_fixture){0};
    snprintf(v->body, sizeof v->body, "<p>version %lld of page %lld</p>", (long long)n,
            (long long)page);
    v->change = (struct store_change){
            .sentinel_id = sentinel,
            .old_version = n - 1,
            .inserted = 1,
            .deleted = 2,
            .summary = "1 inserted, 2 deleted",
            .detail = "{\"any change\":{\"inserted\":[\"x\"]}}",
    };
    v->evaluation = (struct store_evaluation){.sentinel_id = sentinel, .result = 'C'};
    bool changed = n > 1 && sentinel;
    v->job = (struct store_version_job){
            .job = {.kind = STORE_JOB_VERSION, .done = version_done},
            .fetch = {.page_id = page,
                    .last_fetch_at = NOON + n * 1000,
                    .verified_at = NOON + n * 1000,
                    .next_fetch_at = NOON + n * 1000 + 2000,
                    .etag = "\"abc\"",
                    .fetches = n},
            .version = n,
            .fetched_at = NOON + n * 1000,
            .media_type = "text/html",
            .content_type = "text/html; charset=utf-8",
            .final_url = "http://x/",
            .body_sha256 = sha256_of(v->body, strlen(v->body)),
            .body = v->body,
            .body_bytes = strlen(v->body),
            .digest = "DIGEST",
            .digest_bytes = 6,
            .changes = &v->change,
            .nchanges = changed,
            .evaluations = &v->evaluation,
            .nevaluations = changed,
            .ret_change_ids = &v->change_id,
    };
}

enum err fixture_writer(struct fixture *x, const struct store_writer_hooks *hooks)
{
    static const struct store_writer_hooks none;
    x->loop = loop_new();
    return store_writer_start(x->store, x->loop, hooks ? hooks : &none, &x->fault, &x->writer);
}

static void tick(struct loop_timer *timer)
{
    (void)timer; /* only there so that a round of the loop ends */
}

bool fixture_run_until(struct fixture *x, bool (*holds)(void *arg), void *arg, msec ms)
{
    msec until = clock_mono(&clock_system) + ms;
    struct loop_timer timer;
    loop_timer_init(&timer, tick);
    bool held;
    while (!(held = holds(arg)) && clock_mono(&clock_system) < until) {
        loop_timer_set(x->loop, &timer, 20);
        loop_run_once(x->loop);
    }
    loop_timer_stop(x->loop, &timer);
    return held;
}

static bool nothing_pending(void *arg)
{
    return store_writer_pending(((struct fixture *)arg)->writer) == 0;
}

bool fixture_drain(struct fixture *x, msec ms)
{
    return fixture_run_until(x, nothing_pending, x, ms);
}
