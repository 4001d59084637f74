/* One directory, many who want it: engines are refused, commands take turns or join in. */
#include "tests/store/store_fixture.h"
#include <signal.h>
#include <unistd.h>

static int to_child[2], to_parent[2];

static void make_pipes(void)
{
    CHECK(pipe(to_child) == 0 && pipe(to_parent) == 0);
}

static void close_pipes(void)
{
    close(to_child[0]);
    close(to_child[1]);
    close(to_parent[0]);
    close(to_parent[1]);
}

static void tell(int fd)
{
    CHECK(write(fd, "x", 1) == 1);
}

static void hear(int fd)
{
    char c;
    CHECK(read(fd, &c, 1) == 1);
}

static void hold(struct fixture *x, enum store_role role)
{
    REQUIRE(fixture_open(x, role) == OK);
    tell(to_parent[1]);
    hear(to_child[0]);
    store_close(x->store);
    x->store = NULL;
}

static void hold_as_engine(struct fixture *x)
{
    hold(x, STORE_ENGINE);
}

static void hold_as_command(struct fixture *x)
{
    hold(x, STORE_COMMAND);
}

TEST(second_engine, "a second engine is refused at once and told who holds the directory")
{
    FIXTURE_MADE(x);
    make_pipes();
    pid_t first = start_child(hold_as_engine, &x);
    hear(to_parent[0]);
    pid_t server = fixture_server(&x);
    msec begun = clock_mono(&clock_system);
    EXPECT_INT(fixture_open(&x, STORE_ENGINE), ERR_BUSY);
    EXPECT(clock_mono(&clock_system) - begun < 5 * MSEC_PER_SECOND); /* a command waits ten */
    EXPECT_TEXT(x.fault.message,
            arena_printf(x.life,
                    "the data directory \"%s\" is in use by the engine, process %ld", x.data,
                    (long)first));
    EXPECT(x.fault.hint[0]);
    EXPECT_INT(fixture_server(&x), server);
    EXPECT(process_is_alive(server));
    tell(to_child[1]);
    EXPECT_INT(wait_child(first), 0);
    close_pipes();
    EXPECT(fixture_open(&x, STORE_ENGINE) == OK);
}

TEST(beside_engine, "a command next to a running engine uses its server and leaves it running")
{
    FIXTURE_MADE(x);
    make_pipes();
    pid_t engine = start_child(hold_as_engine, &x);
    hear(to_parent[0]);
    pid_t server = fixture_server(&x);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK);
    EXPECT(store_engine_is_running(x.store));
    EXPECT_TEXT(sql(&x, "SELECT count(*) FROM vigil.status"), "0");
    struct store_step step = step_create("a", "http://x/");
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN, .steps = &step, .nsteps = 1};
    EXPECT_INT(store_run(x.store, &plan.job, &x.fault), ERR_BUSY);
    struct store_options o = fixture_options(&x, STORE_COMMAND, "status");
    EXPECT_TEXT(store_find_control(x.life, &o), store_control_path(x.store));
    fixture_close(&x);
    EXPECT_INT(fixture_server(&x), server);
    EXPECT(process_is_alive(server));
    tell(to_child[1]);
    EXPECT_INT(wait_child(engine), 0);
    close_pipes();
}

static void wait_for_turn(struct fixture *x, enum store_role role)
{
    make_pipes();
    pid_t first = start_child(hold_as_command, x);
    hear(to_parent[0]);
    /* It lets go when we are already waiting: a moment after we began. */
    pid_t nudge = fork();
    if (nudge == 0) {
        usleep(300000);
        tell(to_child[1]);
        _exit(0);
    }
    EXPECT(fixture_open(x, role) == OK);
    EXPECT_INT(wait_child(first), 0);
    EXPECT_INT(wait_child(nudge), 0);
    EXPECT(!store_engine_is_running(x->store));
    close_pipes();
}

TEST(command_waits, "a command waits for another command")
{
    FIXTURE_MADE(x);
    wait_for_turn(&x, STORE_COMMAND);
}

TEST(engine_waits, "an engine waits for a command that is about to end")
{
    FIXTURE_MADE(x);
    wait_for_turn(&x, STORE_ENGINE);
}

TEST(patience_ends, "after ten seconds a command says which command it waited for")
{
    FIXTURE_MADE(x);
    make_pipes();
    pid_t first = start_child(hold_as_command, &x);
    hear(to_parent[0]);
    EXPECT_INT(fixture_open(&x, STORE_COMMAND), ERR_BUSY);
    EXPECT_TEXT(x.fault.message,
            arena_printf(x.life,
                    "the data directory \"%s\" is in use by the command \"list\", process %ld",
                    x.data, (long)first));
    tell(to_child[1]);
    EXPECT_INT(wait_child(first), 0);
    close_pipes();
}

static bool is_gone(void *arg)
{
    return !process_is_alive(*(pid_t *)arg);
}

TEST(parent_killed, "the server of an engine killed with -9 ends too, and the next start works")
{
    FIXTURE_MADE(x);
    make_pipes();
    pid_t engine = start_child(hold_as_engine, &x);
    hear(to_parent[0]);
    pid_t server = fixture_server(&x);
    kill(engine, SIGKILL);
    EXPECT_INT(wait_child(engine), 128 + SIGKILL);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK); /* at once: it waits for the old one */
    EXPECT(!process_is_alive(server));
    EXPECT(fixture_server(&x) != server);
    close_pipes();
}

TEST(parent_killed_alone, "the server of an engine killed with -9 ends by itself")
{
    FIXTURE_MADE(x);
    make_pipes();
    pid_t engine = start_child(hold_as_engine, &x);
    hear(to_parent[0]);
    pid_t server = fixture_server(&x);
    kill(engine, SIGKILL);
    wait_child(engine);
    EXPECT(eventually(is_gone, &server, 10 * MSEC_PER_SECOND));
    close_pipes();
}

TEST(terminal, "a Ctrl-C at the terminal does not reach the server")
{
    FIXTURE_MADE(x);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    EXPECT(getpgid(fixture_server(&x)) != getpgrp());
    EXPECT(getsid(fixture_server(&x)) != getsid(0));
}

TEST(not_root, "the server never runs as root and inherits nothing of our environment")
{
    FIXTURE_MADE(x);
    setenv("VIGIL_TEST_SECRET", "do not pass on", 1);
    REQUIRE(fixture_open(&x, STORE_ENGINE) == OK);
    unsetenv("VIGIL_TEST_SECRET");
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%ld/environ", (long)fixture_server(&x));
    FILE *file = fopen(path, "r");
    REQUIRE(file);
    size_t n = fread(text, 1, sizeof text, file);
    fclose(file);
    EXPECT(n > 0 && !memmem(text, n, "SECRET", 6));
    snprintf(path, sizeof path, "/proc/%ld/status", (long)fixture_server(&x));
    file = fopen(path, "r");
    REQUIRE(file);
    long uid = 0;
    while (fgets(text, sizeof text, file))
        if (sscanf(text, "Uid: %ld", &uid) == 1)
            break;
    fclose(file);
    EXPECT(uid > 0);
}

TEST_MAIN()
