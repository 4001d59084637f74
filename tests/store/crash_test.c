/* Ending an engine in the worst places: the history afterwards is that of a quiet run. */
#include "tests/store/store_fixture.h"
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { VERSIONS = 400, ROUNDS = 30 };

static int writing[2]; /* a pipe: the engine has begun to write */

static void keep_page(const struct store_page *row, void *arg)
{
    *(struct store_page *)arg = *row;
}

static void keep_sentinel(const struct store_sentinel *row, void *arg)
{
    *(struct store_sentinel *)arg = *row;
}

/* An engine in small: reads how far it had come, goes on to the last version, a few jobs at
 * a time so that there are groups and single commits. */
static void engine(struct fixture *x)
{
    struct store_page page = {0};
    struct store_sentinel sentinel = {0};
    REQUIRE(fixture_open(x, STORE_ENGINE) == OK);
    REQUIRE(store_load_sentinels(x->store, &x->fault, keep_sentinel, &sentinel) == OK);
    if (!sentinel.id)
        sentinel.id = add_sentinel(x, "news", "http://x/", NULL);
    REQUIRE(store_load_pages(x->store, &x->fault, keep_page, &page) == OK);
    REQUIRE(fixture_writer(x, NULL) == OK);
    EXPECT(write(writing[1], "x", 1) == 1);
    struct version_fixture *v = arena_array_of(x->life, VERSIONS + 1, struct version_fixture);
    for (int64_t n = page.latest_version + 1; n <= VERSIONS; n++) {
        version_init(&v[n], page.id, sentinel.id, n);
        store_writer_submit(x->writer, &v[n].job.job);
        if (n % 4 == 0)
            EXPECT(fixture_drain(x, 20 * MSEC_PER_SECOND));
    }
    EXPECT(fixture_drain(x, 20 * MSEC_PER_SECOND));
    fixture_close(x);
}

static void expect_whole(struct fixture *x)
{
    REQUIRE(fixture_open(x, STORE_COMMAND) == OK);
    EXPECT_TEXT(sql(x, "SELECT concat_ws(' ', (SELECT count(*) FROM vigil.versions), count(*),"
                       " count(DISTINCT new_version), min(new_version), max(new_version),"
                       " bool_and(old_version = new_version - 1),"
                       " (SELECT count(*) FROM vigil.notifications)) FROM vigil.changes"),
            "400 399 399 2 400 t 399");
    EXPECT_TEXT(
            sql(x, "SELECT concat_ws(' ', evaluations, changes, notifications, last_version)"
                   " FROM vigil.status"),
            "399 399 399 400");
    EXPECT_INT(sql_int(x, "SELECT count(*) FROM vigil.events"), 1);
}

static const char *crash_at;

static void crashing_engine(struct fixture *x)
{
    setenv("VIGIL_CRASH_POINT", crash_at, 1);
    engine(x);
}

TEST(points, "an engine cut off around a commit goes on without loss or repetition")
{
    static const char *const points[] = {"after_version_row:3", "in_transaction:2",
            "before_commit:2", "after_commit:2", "before_done:2", "after_commit:4"};
    FIXTURE_MADE(x);
    for (size_t i = 0; i < countof(points); i++) {
        crash_at = points[i];
        int status = in_child(crashing_engine, &x);
        if (status != 137)
            test_fail(__FILE__, __LINE__, "%s was not reached: %d", crash_at, status);
    }
    EXPECT_INT(in_child(engine, &x), 0);
    expect_whole(&x);
}

static bool has_begun(void *arg)
{
    char sign;
    (void)arg;
    return read(writing[0], &sign, 1) == 1;
}

TEST(any_moment, "an engine killed at any moment goes on without loss or repetition")
{
    FIXTURE_MADE(x);
    unsigned seed = (unsigned)time(NULL);
    printf("# seed %u\n", seed);
    int killed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        pid_t child = start_child(engine, &x);
        if (round % 5 != 1) /* every fifth is killed while it starts */
            EXPECT(eventually(has_begun, NULL, 30 * MSEC_PER_SECOND));
        /* Not waiting for anything: the moment is what is being tried out. */
        usleep((useconds_t)(rand_r(&seed) % (round % 5 == 1 ? 200000 : 20000)));
        kill(child, SIGKILL);
        killed += wait_child(child) == 128 + SIGKILL;
        (void)has_begun(NULL); /* it may have got that far */
    }
    EXPECT(killed > ROUNDS / 2);
    EXPECT_INT(in_child(engine, &x), 0);
    expect_whole(&x);
}

int main(int argc, char **argv)
{
    CHECK(pipe2(writing, O_NONBLOCK) == 0);
    return test_run_all(argc, argv);
}
