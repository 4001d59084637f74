/* A disk that is full or read-only: small file systems of our own, where that is allowed. */
#include "tests/store/store_fixture.h"
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Runs in a child with mounts of its own, so that nothing stays mounted whatever happens. */
static bool mount_small(struct fixture *x, const char *size)
{
    char options[64];
    snprintf(options, sizeof options, "size=%s,mode=0755", size);
    if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
            mount("tmpfs", x->dir, "tmpfs", 0, options) == 0)
        return true;
    printf("# SKIP mounting is not permitted\n");
    return false;
}

static void open_read_only(struct fixture *x)
{
    if (!mount_small(x, "200m"))
        return;
    CHECK(mount(NULL, x->dir, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
    EXPECT_INT(fixture_open(x, STORE_ENGINE), ERR_IO);
    EXPECT(strstr(x->fault.message, "Read-only file system"));
    EXPECT(strstr(x->fault.hint, "read-only"));

    CHECK(mount(NULL, x->dir, NULL, MS_REMOUNT, NULL) == 0);
    REQUIRE(fixture_open(x, STORE_ENGINE) == OK);
    fixture_close(x);
    CHECK(mount(NULL, x->dir, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
    EXPECT_INT(fixture_open(x, STORE_ENGINE), ERR_IO);
    EXPECT(strstr(x->fault.hint, "read-only"));
}

TEST(read_only, "a read-only disk is refused with the reason, new or used before")
{
    FIXTURE(x);
    EXPECT_INT(in_child(open_read_only, &x), 0);
}

static void open_full(struct fixture *x)
{
    if (!mount_small(x, "12m"))
        return;
    EXPECT_INT(fixture_open(x, STORE_ENGINE), ERR_IO);
    EXPECT(strstr(x->fault.message, "No space left"));
    EXPECT(strstr(x->fault.hint, "Free some space"));
    CHECK(mount(NULL, x->dir, NULL, MS_REMOUNT, "size=200m") == 0);
    EXPECT(fixture_open(x, STORE_ENGINE) == OK); /* and nothing half-made is in the way */
    fixture_close(x);
}

TEST(full_at_start,
        "a disk too full for a new database is refused, and works when there is room")
{
    FIXTURE(x);
    EXPECT_INT(in_child(open_full, &x), 0);
}

static bool fill(struct fixture *x)
{
    char path[128];
    static char block[1 << 16];
    snprintf(path, sizeof path, "%s/filler", x->dir);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    if (fd < 0)
        return false;
    while (write(fd, block, sizeof block) > 0)
        ;
    close(fd);
    return true;
}

static void empty(struct fixture *x)
{
    char path[128];
    snprintf(path, sizeof path, "%s/filler", x->dir);
    unlink(path);
}

static bool lost;
static char why_lost[400];

static void availability(bool available, const char *why, void *arg)
{
    (void)arg;
    if (!available && !lost)
        snprintf(why_lost, sizeof why_lost, "%s", why);
    lost |= !available;
}

static bool was_lost(void *arg)
{
    (void)arg;
    return lost;
}

enum { JOBS = 60, BODY = 1 << 20 };

static void fill_up_under_load(struct fixture *x)
{
    if (!mount_small(x, "250m"))
        return;
    struct store_writer_hooks hooks = {NULL, availability, NULL};
    REQUIRE(fixture_open(x, STORE_ENGINE) == OK);
    int64_t page, id = add_sentinel(x, "news", "http://x/", &page);
    REQUIRE(fixture_writer(x, &hooks) == OK);
    REQUIRE(fill(x));

    /* Bodies that do not compress, more than the free rest can hold. */
    struct version_fixture *v = arena_array_of(x->life, JOBS, struct version_fixture);
    uint64_t noise = 88172645463325252u;
    for (int i = 0; i < JOBS; i++) {
        version_init(&v[i], page, id, i + 1);
        uint64_t *body = arena_alloc(x->life, BODY);
        for (size_t k = 0; k < BODY / sizeof *body; k++) {
            noise ^= noise << 13;
            noise ^= noise >> 7;
            noise ^= noise << 17;
            body[k] = noise;
        }
        v[i].job.body = body;
        v[i].job.body_bytes = BODY;
        v[i].job.body_sha256 = sha256_of(body, BODY);
        store_writer_submit(x->writer, &v[i].job.job);
    }
    EXPECT(fixture_run_until(x, was_lost, NULL, 30 * MSEC_PER_SECOND));
    printf("# the engine was told: %s\n", why_lost);
    EXPECT(store_writer_pending(x->writer) > 0);
    empty(x);
    EXPECT(fixture_drain(x, 60 * MSEC_PER_SECOND));
    for (int i = 0; i < JOBS; i++)
        EXPECT_INT(v[i].job.job.err, OK);
    EXPECT_TEXT(sql(x, "SELECT concat_ws(' ', (SELECT count(*) FROM vigil.versions), changes)"
                       " FROM vigil.status"),
            "60 59");
    fixture_close(x);
}

TEST(full_under_load,
        "a disk that fills up under a running engine is waited out, nothing is lost")
{
    FIXTURE(x);
    EXPECT_INT(in_child(fill_up_under_load, &x), 0);
}

TEST_MAIN()
