#include "engine/settings.h"
#include "tests/test.h"
#include <unistd.h>

static struct arena *life;
static struct settings s;
static struct fault f;

static void fresh(void)
{
    arena_free(life);
    life = arena_new(NULL, "test");
    settings_init(&s, life);
    f = (struct fault){0};
}

TEST(defaults, "without a word the defaults hold")
{
    fresh();
    EXPECT_INT(settings_number(&s, SETTING_FETCH_MIN_INTERVAL), 60000);
    EXPECT_INT(settings_number(&s, SETTING_FETCH_MAX_BODY), 8 << 20);
    EXPECT_TEXT(settings_text(&s, SETTING_TIME_ZONE), "UTC");
    EXPECT_INT(s.values[SETTING_FETCH_ALLOW].nlist, 0);
}

TEST(later_wins, "the environment beats the file, --set beats both")
{
    fresh();
    char path[] = "/tmp/vigil-settings-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    static const char ini[] = "# mine\n[fetch]\nmin_interval = 10s\nhost_gap=2s\n\n"
                              "[log]\n; quiet\nlevel = error\n";
    REQUIRE(write(fd, ini, sizeof ini - 1) == sizeof ini - 1);
    close(fd);
    EXPECT(settings_read_file(&s, path, &f) == OK);
    EXPECT_INT(settings_number(&s, SETTING_FETCH_MIN_INTERVAL), 10000);
    EXPECT_INT(settings_number(&s, SETTING_FETCH_HOST_GAP), 2000);
    EXPECT_INT(settings_number(&s, SETTING_LOG_LEVEL), 0);
    char *env[] = {"HOME=/x", "VIGIL_FETCH_MIN_INTERVAL=5s", "VIGIL_DB=x", NULL};
    EXPECT(settings_read_environment(&s, env, &f) == OK);
    EXPECT_INT(settings_number(&s, SETTING_FETCH_MIN_INTERVAL), 5000);
    EXPECT(settings_set_pair(&s, "fetch.min_interval = 2s", &f) == OK);
    EXPECT_INT(settings_number(&s, SETTING_FETCH_MIN_INTERVAL), 2000);
    unlink(path);
}

TEST(wrong, "a wrong value names where it came from and what would be right")
{
    fresh();
    EXPECT(settings_set_pair(&s, "fetch.min_interval=soon", &f) == ERR_RANGE);
    EXPECT_TEXT(f.message, "--set: setting fetch.min_interval: \"soon\" is not understood");
    EXPECT_TEXT(f.hint, "Give a time such as 90s, 2 min or 1h.");
    EXPECT(settings_set_pair(&s, "fetch.min_interval=10ms", &f) == ERR_RANGE);
    EXPECT(strstr(f.message, "out of range") != NULL);
    EXPECT(settings_set_pair(&s, "fetch.min_interval", &f) == ERR_SYNTAX);
    char *env[] = {"VIGIL_CDG_THREADS=many", NULL};
    EXPECT(settings_read_environment(&s, env, &f) == ERR_RANGE);
    EXPECT(strncmp(f.message, "VIGIL_CDG_THREADS: ", 19) == 0);
    EXPECT_INT(settings_number(&s, SETTING_FETCH_MIN_INTERVAL), 60000);
}

TEST(unknown, "an unknown setting is refused with the nearest name there is")
{
    fresh();
    EXPECT(settings_set_pair(&s, "fetch.min_intervall=1s", &f) == ERR_NAME);
    EXPECT_TEXT(f.hint, "Did you mean fetch.min_interval?");
    EXPECT(settings_set_pair(&s, "colour=red", &f) == ERR_NAME);
    EXPECT_TEXT(f.hint, "`vigil settings` lists them all.");
}

TEST(file_errors, "a broken file is told by line")
{
    fresh();
    char path[] = "/tmp/vigil-settings-XXXXXX";
    int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    REQUIRE(write(fd, "[fetch]\nmin_interval 5s\n", 24) == 24);
    close(fd);
    EXPECT(settings_read_file(&s, path, &f) == ERR_SYNTAX);
    EXPECT(strstr(f.message, ":2: expected name = value") != NULL);
    unlink(path);
    EXPECT(settings_read_file(&s, "/nonexistent/x.ini", &f) == ERR_IO);
}

TEST(allow, "--allow adds networks, and a wrong one is refused")
{
    fresh();
    EXPECT(settings_allow(&s, "10.0.0.0/8", &f) == OK);
    EXPECT(settings_allow(&s, "::1", &f) == OK);
    EXPECT_INT(s.values[SETTING_FETCH_ALLOW].nlist, 2);
    EXPECT(settings_allow(&s, "10.0.0.0/33", &f) != OK);
    EXPECT_INT(s.values[SETTING_FETCH_ALLOW].nlist, 2);
}

TEST(sizes, "sizes are read with decimal and binary units")
{
    fresh();
    EXPECT(settings_set_pair(&s, "fetch.max_body=64KiB", &f) == OK);
    EXPECT_INT(settings_number(&s, SETTING_FETCH_MAX_BODY), 65536);
    EXPECT(settings_set_pair(&s, "fetch.max_body=2 MB", &f) == OK);
    EXPECT_INT(settings_number(&s, SETTING_FETCH_MAX_BODY), 2000000);
    EXPECT(settings_set_pair(&s, "fetch.max_body=1 acre", &f) == ERR_RANGE);
}

TEST(text, "a line break cannot be smuggled into a header")
{
    fresh();
    EXPECT(settings_set(&s, "fetch.user_agent", "x\r\nCookie: y", "--set", &f) == ERR_RANGE);
    arena_free(life);
    life = NULL;
}

TEST_MAIN()
