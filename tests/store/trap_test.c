/* The traps of a private PostgreSQL, each provoked: handled, or refused with the remedy. */
#include "tests/store/store_fixture.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_root(void)
{
    return geteuid() == 0;
}

static void skip(const char *why)
{
    printf("# SKIP %s\n", why);
}

static void become_owner(struct fixture *x)
{
    struct stat st;
    char pg[128];
    snprintf(pg, sizeof pg, "%s/pg", x->data);
    CHECK(stat(pg, &st) == 0);
    if (is_root())
        CHECK(setgroups(0, NULL) == 0 && setgid(st.st_gid) == 0 && setuid(st.st_uid) == 0);
}

/* The socket directory goes with whoever used it last; this brings it back. */
static void make_run_dir(const struct fixture *x)
{
    struct stat st;
    char pg[128], run[128];
    snprintf(pg, sizeof pg, "%s/pg", x->data);
    snprintf(run, sizeof run, "%s/run", x->data);
    CHECK(stat(pg, &st) == 0);
    CHECK(mkdir(run, 0700) == 0 || errno == EEXIST);
    CHECK(chown(run, st.st_uid, st.st_gid) == 0);
}

static bool holds_directory(void *arg)
{
    return fixture_server(arg) > 0 && access(((struct fixture *)arg)->data, F_OK) == 0;
}

static bool has_socket(void *arg)
{
    char path[160];
    snprintf(path, sizeof path, "%s/run/.s.PGSQL.5432", ((struct fixture *)arg)->data);
    return access(path, F_OK) == 0 && holds_directory(arg);
}

/* A server that somebody else started, a child of this process. */
static pid_t start_foreign_server(struct fixture *x)
{
    make_run_dir(x);
    pid_t pid = fork();
    if (pid == 0) {
        char pg[128], sockets[200];
        become_owner(x);
        snprintf(pg, sizeof pg, "%s/pg", x->data);
        snprintf(sockets, sizeof sockets, "unix_socket_directories=%s/run", x->data);
        int null = open("/dev/null", O_RDWR);
        dup2(null, 1);
        dup2(null, 2);
        execl("/usr/lib/postgresql/15/bin/postgres", "postgres", "-D", pg, "-c",
                "listen_addresses=", "-c", sockets, NULL);
        _exit(127);
    }
    CHECK(eventually(has_socket, x, 10 * MSEC_PER_SECOND));
    return pid;
}

TEST(zombie, "a dead server that nobody has reaped does not stop the next one") // trap 1
{
    FIXTURE_MADE(x);
    pid_t zombie = start_foreign_server(&x);
    kill(zombie, SIGKILL);
    siginfo_t info;
    waitid(P_PID, (id_t)zombie, &info, WEXITED | WNOWAIT); /* dead, and still there */
    EXPECT(kill(zombie, 0) == 0);
    EXPECT_INT(fixture_server(&x), zombie);
    EXPECT(fixture_open(&x, STORE_ENGINE) == OK);
    fixture_close(&x);
    EXPECT_INT(wait_child(zombie), 128 + SIGKILL);
}

static bool accepts(void *conninfo)
{
    return PQping(conninfo) == PQPING_OK;
}

static pid_t backend_in(struct fixture *x, PGconn **ret)
{
    char *conninfo = arena_printf(x->life, "host=%s/run user=vigil dbname=vigil", x->data);
    EXPECT(eventually(accepts, conninfo, 10 * MSEC_PER_SECOND));
    *ret = PQconnectdb(conninfo);
    return PQstatus(*ret) == CONNECTION_OK ? PQbackendPID(*ret) : 0;
}

TEST(orphans, "orphan backends of a crashed server are waited for") // trap 2
{
    FIXTURE_MADE(x);
    pid_t server = start_foreign_server(&x);
    PGconn *busy;
    pid_t orphan = backend_in(&x, &busy);
    REQUIRE(orphan > 0);
    /* Busy with itself for some time: it does not notice that its server is gone. */
    PQsendQuery(busy, "DO $$ DECLARE until timestamptz = clock_timestamp() + '1500 ms'; BEGIN "
                      "WHILE clock_timestamp() < until LOOP END LOOP; END $$");
    kill(server, SIGKILL);
    wait_child(server);
    EXPECT(process_is_alive(orphan));
    EXPECT(fixture_open(&x, STORE_ENGINE) == OK);
    EXPECT(!process_is_alive(orphan));
    PQfinish(busy);
}

TEST(lasting_orphan,
        "an orphan that does not end is named, and no second server starts beside it") // trap 2
{
    FIXTURE_MADE(x);
    pid_t server = start_foreign_server(&x);
    PGconn *busy;
    pid_t orphan = backend_in(&x, &busy);
    REQUIRE(orphan > 0);
    kill(orphan, SIGSTOP);
    kill(server, SIGKILL);
    wait_child(server);
    EXPECT_INT(fixture_open(&x, STORE_ENGINE), ERR_BUSY);
    EXPECT(strstr(x.fault.message, "still runs in"));
    EXPECT(x.fault.hint[0]);
    kill(orphan, SIGKILL);
    PQfinish(busy);
    EXPECT(fixture_open(&x, STORE_ENGINE) == OK);
}

TEST(stale_pid,
        "a postmaster.pid that names some other living process is seen through") // trap 3
{
    FIXTURE_MADE(x);
    make_run_dir(&x);
    pid_t other = fork();
    if (other == 0) {
        become_owner(&x);
        for (;;)
            pause();
    }
    static const char *const files[] = {"pg/postmaster.pid", "run/.s.PGSQL.5432.lock"};
    for (size_t i = 0; i < countof(files); i++) {
        char path[160];
        snprintf(path, sizeof path, "%s/%s", x.data, files[i]);
        FILE *file = fopen(path, "w");
        REQUIRE(file);
        fprintf(file, "%ld\n%s/pg\n1700000000\n5432\n%s/run\n\n  5432001 0\nready   \n",
                (long)other, x.data, x.data);
        fclose(file);
    }
    EXPECT(fixture_open(&x, STORE_ENGINE) == OK);
    EXPECT(process_is_alive(other));
    kill(other, SIGKILL);
    wait_child(other);
}

TEST(foreign_server,
        "a server started by hand is not taken for our own, and is left alone") // trap 4
{
    FIXTURE_MADE(x);
    pid_t foreign = start_foreign_server(&x);
    EXPECT_INT(fixture_open(&x, STORE_ENGINE), ERR_BUSY);
    EXPECT(strstr(x.fault.message, "earlier PostgreSQL server"));
    EXPECT(strstr(x.fault.hint, "pg_ctl"));
    EXPECT(process_is_alive(foreign));
    kill(foreign, SIGINT);
    wait_child(foreign);
}

TEST(a_file, "a file where the data directory should be is refused") // trap 6
{
    FIXTURE(x);
    close(open(x.data, O_CREAT | O_WRONLY, 0600));
    EXPECT_INT(fixture_open(&x, STORE_ENGINE), ERR_IO);
    EXPECT(strstr(x.fault.message, x.data));
    EXPECT(x.fault.hint[0]);
}

TEST(closed_parent, "a parent directory the server's user cannot search is named") // trap 6
{
    FIXTURE(x);
    if (!is_root()) {
        skip("only root runs the server as somebody else");
        return;
    }
    char parent[80];
    snprintf(parent, sizeof parent, "%s/closed", x.dir);
    snprintf(x.data, sizeof x.data, "%s/data", parent);
    mkdir(parent, 0700);
    EXPECT_INT(fixture_open(&x, STORE_ENGINE), ERR_IO);
    EXPECT_TEXT(x.fault.message,
            arena_printf(x.life,
                    "user \"postgres\", who runs the private PostgreSQL, cannot enter \"%s\"",
                    parent));
    EXPECT(strstr(x.fault.hint, "/var/lib/vigil"));
}

TEST(open_to_all, "a directory that others may write in is refused and left as it is") // trap 6
{
    FIXTURE(x);
    struct stat st;
    mkdir(x.data, 0777);
    chmod(x.data, 01777);
    char file[128];
    snprintf(file, sizeof file, "%s/letter", x.data);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    EXPECT_INT(fixture_open(&x, STORE_ENGINE), ERR_IO);
    EXPECT(strstr(x.fault.message, "others may write"));
    EXPECT(stat(x.data, &st) == 0 && (st.st_mode & 07777) == 01777);
}

TEST(not_empty,
        "a directory of mine that holds other things is used without being taken away") // trap
                                                                                        // 6
{
    FIXTURE(x);
    struct stat st;
    mkdir(x.data, 0755);
    chmod(x.data, 0755);
    char file[128];
    snprintf(file, sizeof file, "%s/letter", x.data);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    EXPECT(fixture_open(&x, STORE_ENGINE) == OK);
    EXPECT(stat(x.data, &st) == 0 && (st.st_mode & 0777) == 0755 && st.st_uid == geteuid());
}

TEST(wrong_mode, "a cluster whose mode PostgreSQL would refuse is put right") // trap 6
{
    FIXTURE_MADE(x);
    char pg[128];
    snprintf(pg, sizeof pg, "%s/pg", x.data);
    chmod(pg, 0777);
    EXPECT(fixture_open(&x, STORE_ENGINE) == OK);
}

static enum err open_long(struct fixture *x)
{
    struct store_options o = fixture_options(x, STORE_ENGINE, "run");
    o.data = arena_printf(x->life, "%s/%0150d", x->dir, 0);
    return store_open(x->life, &o, &x->fault, &x->store);
}

TEST(long_path, "a data directory too deep for a socket gets a short run directory") // trap 6
{
    FIXTURE(x);
    REQUIRE(open_long(&x) == OK);
    struct stat st;
    EXPECT(strlen(store_run_dir(x.store)) < 90);
    EXPECT(lstat(store_run_dir(x.store), &st) == 0 && (st.st_mode & 0777) == 0700);
    EXPECT_TEXT(sql(&x, "SELECT 1"), "1");
    const char *run = arena_strdup(x.life, store_run_dir(x.store));
    fixture_close(&x);
    EXPECT(access(run, F_OK) != 0);
}

TEST(odd_path, "spaces, commas and quotes in the data directory do no harm") // trap 6
{
    FIXTURE(x);
    snprintf(x.data, sizeof x.data, "%s/it's, \"odd\" \\ @x", x.dir);
    EXPECT(fixture_open(&x, STORE_ENGINE) == OK);
    EXPECT_TEXT(sql(&x, "SELECT 1"), "1");
    const char *run = arena_strdup(x.life, store_run_dir(x.store));
    fixture_close(&x);
    EXPECT(access(run, F_OK) != 0);
}

TEST(squatted, "a run directory that somebody else made, or a symlink, is refused") // trap 6
{
    FIXTURE(x);
    REQUIRE(open_long(&x) == OK);
    const char *run = arena_strdup(x.life, store_run_dir(x.store));
    fixture_close(&x);
    REQUIRE(symlink(x.dir, run) == 0);
    EXPECT_INT(open_long(&x), ERR_IO);
    EXPECT(strstr(x.fault.message, "is not a directory"));
    unlink(run);
    if (is_root()) {
        mkdir(run, 0700);
        CHECK(chown(run, 65534, 65534) == 0);
        EXPECT_INT(open_long(&x), ERR_IO);
        EXPECT(strstr(x.fault.message, "belongs to another user"));
        rmdir(run);
    }
    x.store = NULL;
}

static bool initdb_is_at_work(void *arg)
{
    glob_t found;
    char pattern[160];
    snprintf(pattern, sizeof pattern, "%s/pg.new*/base", ((struct fixture *)arg)->data);
    bool any = glob(pattern, 0, NULL, &found) == 0;
    globfree(&found);
    return any;
}

static void open_as_engine(struct fixture *x)
{
    (void)!fixture_open(x, STORE_ENGINE); /* killed on the way */
}

TEST(half_initdb, "making the database, cut off half way, is begun anew") // trap 7
{
    FIXTURE(x);
    pid_t child = start_child(open_as_engine, &x);
    EXPECT(eventually(initdb_is_at_work, &x, 10 * MSEC_PER_SECOND));
    kill(child, SIGKILL);
    EXPECT_INT(wait_child(child), 128 + SIGKILL);
    EXPECT(fixture_open(&x, STORE_ENGINE) == OK);
    EXPECT(!eventually(initdb_is_at_work, &x, 0));
}

TEST(no_programs, "without PostgreSQL's programs the Debian package is named") // trap 8
{
    FIXTURE(x);
    struct store_options o = fixture_options(&x, STORE_ENGINE, "run");
    o.pg_bin = x.dir;
    EXPECT_INT(store_open(x.life, &o, &x.fault, &x.store), ERR_IO);
    EXPECT(strstr(x.fault.message, "no PostgreSQL server"));
    EXPECT(strstr(x.fault.hint, "Debian package postgresql"));
}

TEST(no_user, "without a user to run the server as, root is told what to do") // trap 8
{
    FIXTURE(x);
    if (!is_root()) {
        skip("only root needs another user");
        return;
    }
    struct store_options o = fixture_options(&x, STORE_ENGINE, "run");
    o.pg_user = "no-such-user";
    EXPECT_INT(store_open(x.life, &o, &x.fault, &x.store), ERR_IO);
    EXPECT(strstr(x.fault.message, "no user \"no-such-user\""));
    EXPECT(strstr(x.fault.hint, "Debian package postgresql"));
    o.pg_user = "root";
    EXPECT_INT(store_open(x.life, &o, &x.fault, &x.store), ERR_IO);
}

TEST(other_major,
        "a cluster of another major version is left alone, with the way out") // trap 8
{
    FIXTURE_MADE(x);
    char path[128];
    snprintf(path, sizeof path, "%s/pg/PG_VERSION", x.data);
    FILE *file = fopen(path, "w");
    REQUIRE(file);
    fputs("11\n", file);
    fclose(file);
    EXPECT_INT(fixture_open(&x, STORE_ENGINE), ERR_IO);
    EXPECT(strstr(x.fault.message, "was made by PostgreSQL 11, but PostgreSQL"));
    EXPECT(strstr(x.fault.hint, "postgresql-11"));
}

static void as_user(struct fixture *x, uid_t uid)
{
    CHECK(chown(x->dir, uid, uid) == 0);
    CHECK(setgroups(0, NULL) == 0 && setgid(uid) == 0 && setuid(uid) == 0);
}

static void work_as_nobody(struct fixture *x)
{
    as_user(x, 65534);
    REQUIRE(fixture_open(x, STORE_ENGINE) == OK);
    EXPECT_TEXT(sql(x, "SELECT current_user"), "vigil");
    fixture_close(x);
}

static void fail_as_nobody(struct fixture *x)
{
    CHECK(setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0);
    EXPECT_INT(fixture_open(x, STORE_ENGINE), ERR_IO);
    EXPECT(strstr(x->fault.message, "Permission denied"));
    EXPECT(strstr(x->fault.hint, "--data"));
}

static void fail_without_name(struct fixture *x)
{
    as_user(x, 54321);
    EXPECT_INT(fixture_open(x, STORE_ENGINE), ERR_IO);
    EXPECT(strstr(x->fault.message, "user number 54321 has no name"));
}

TEST(ordinary_user,
        "an ordinary user runs the server as themselves, and root may look at it") // trap 8
{
    FIXTURE(x);
    if (!is_root()) {
        skip("every other test here shows it");
        return;
    }
    EXPECT_INT(in_child(work_as_nobody, &x), 0);
    REQUIRE(fixture_open(&x, STORE_COMMAND) == OK); /* now root, on nobody's cluster */
    EXPECT_TEXT(sql(&x, "SELECT current_user"), "vigil");
}

TEST(no_permission, "a data directory without permission is refused") // trap 6
{
    FIXTURE(x);
    if (!is_root()) {
        skip("needs root to become somebody else");
        return;
    }
    EXPECT_INT(in_child(fail_as_nobody, &x), 0);
    mkdir(x.data, 0700);
    EXPECT_INT(in_child(fail_as_nobody, &x), 0);
}

TEST(nameless_user, "a user number without a name is refused with the reason") // trap 8
{
    FIXTURE(x);
    if (!is_root()) {
        skip("needs root to become somebody else");
        return;
    }
    EXPECT_INT(in_child(fail_without_name, &x), 0);
}

TEST_MAIN()
