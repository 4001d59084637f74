/* Planning requests, from text to steps, without a database. */
#include "engine/request.h"
#include "tests/test.h"

static struct arena *life;
static struct directory directory;
static struct settings settings;
static msec now = 1794830400000; /* 2026-11-16 12:00 UTC */

static void fresh(void)
{
    life = arena_new(NULL, "test");
    directory_init(&directory, life);
    settings_init(&settings, life);
}

static void over(void)
{
    directory_done(&directory);
    arena_free(life);
}

static struct request_plan *ask(const char *verb, const char *text)
{
    struct request_context c = {
            .directory = &directory, .settings = &settings, .now = now, .owner = "ann"};
    return request_plan_make(life, &c, verb, text);
}

/* What an engine or a command does when the store has said yes. */
static void carry_out(struct request_plan *p)
{
    static int64_t next_id;
    for (size_t i = 0; i < p->nsteps; i++) {
        struct request_subject *s = &p->subjects[i];
        if (s->made) {
            if (s->known)
                directory_remove(&directory, s->known);
            s->made->id = ++next_id;
            directory_insert(&directory, s->made);
            s->made = NULL;
        } else if (p->steps[i].kind == STORE_STEP_DROP) {
            directory_remove(&directory, s->known);
        } else if (s->stop) {
            s->known->phase = PHASE_ENDED;
        } else {
            s->known->enabled = s->enable;
        }
    }
}

static void install(const char *text)
{
    struct request_plan *p = ask("add", text);
    EXPECT_INT(p->exit_code, 0);
    carry_out(p);
}

static bool says(const struct request_plan *p, const char *part)
{
    return strstr(p->answer, part) != NULL;
}

TEST(create, "a definition becomes a step with everything the store needs")
{
    fresh();
    struct request_plan *p =
            ask("add", "CREATE SENTINEL s USING HTTP://X.org:80/a/../b MONITOR "
                       "links FETCH EVERY 2 hours FOR 1 day");
    REQUIRE(p->exit_code == 0 && p->nsteps == 1);
    struct store_step *st = &p->steps[0];
    EXPECT(st->kind == STORE_STEP_CREATE);
    EXPECT_TEXT(st->name, "s");
    EXPECT_TEXT(st->owner, "ann");
    EXPECT_TEXT(st->url, "http://x.org/b");
    EXPECT_TEXT(st->monitor, "links");
    EXPECT_TEXT(st->fetch, "every 2 hours");
    EXPECT_TEXT(st->compare, "pairwise");
    EXPECT_TEXT(st->state, "waiting");
    EXPECT_INT(st->starts_at, now);
    EXPECT_INT(st->ends_at, now + MSEC_PER_DAY);
    EXPECT(says(p, "s: installed"));
    request_plan_abandon(p);
    over();
}

TEST(all_or_none, "one wrong statement and nothing is planned, with every error told")
{
    fresh();
    struct request_plan *p = ask("add", "CREATE SENTINEL a USING http://x.org MONITOR links;\n"
                                        "CREATE SENTINEL b USING http://x.org MONITOR lniks;\n"
                                        "CREATE SENTINEL c USING nosuch MONITOR links;\n");
    EXPECT_INT(p->exit_code, 1);
    EXPECT_INT(p->nsteps, 0);
    EXPECT(says(p, "(sql):2:46: error: E054") && says(p, "(sql):3:25: error: E040"));
    EXPECT(!says(p, "installed"));
    over();
}

TEST(files, "errors name the file they are in, also the second of two")
{
    fresh();
    BUF(text, 1 << 16);
    request_begin(&text, false);
    request_add_file(
            &text, "one.vigil", "CREATE SENTINEL a USING http://x.org MONITOR links;", 51);
    request_add_file(&text, "two words.vigil", "\nCREATE SENTINEL a", 18);
    struct request_plan *p = ask("add", buf_text(&text));
    EXPECT_INT(p->exit_code, 1);
    EXPECT(says(p, "two words.vigil:2:"));
    EXPECT(!says(p, "one.vigil:"));
    over();
}

TEST(later_sees_earlier, "a later statement and a later file see what earlier ones did")
{
    fresh();
    BUF(text, 1 << 16);
    static const char one[] = "CREATE SENTINEL a USING http://x.org MONITOR links FOR 1 day;";
    static const char two[] =
            "CREATE SENTINEL b USING http://x.org MONITOR links FROM end(a) + "
            "1 hour; DISABLE SENTINEL a;";
    request_add_file(&text, "1", one, sizeof one - 1);
    request_add_file(&text, "2", two, sizeof two - 1);
    struct request_plan *p = ask("add", buf_text(&text));
    EXPECT_INT(p->exit_code, 0);
    REQUIRE(p->nsteps == 2);
    EXPECT_TEXT(p->steps[0].state, "waiting-disabled");
    EXPECT_INT(p->steps[1].starts_at, MSEC_NEVER);
    EXPECT(says(p, "b: installed, waits for \"a\""));
    request_plan_abandon(p);
    over();
}

TEST(exists, "a name that is taken is refused, in any case of letters; OR REPLACE replaces")
{
    fresh();
    install("CREATE SENTINEL News USING http://x.org MONITOR links");
    struct request_plan *p =
            ask("add", "CREATE SENTINEL NEWS USING http://x.org MONITOR links");
    EXPECT_INT(p->exit_code, 1);
    EXPECT(says(p, "E044"));
    p = ask("add", "CREATE OR REPLACE SENTINEL NEWS USING http://y.org MONITOR any change");
    REQUIRE(p->exit_code == 0 && p->nsteps == 1);
    EXPECT(p->steps[0].kind == STORE_STEP_REPLACE);
    EXPECT_INT(p->steps[0].sentinel_id, directory_find(&directory, "news")->id);
    EXPECT_TEXT(p->steps[0].url, "http://y.org/");
    request_plan_abandon(p);
    over();
}

TEST(ensure, "ensuring leaves alone what is there and installs the rest")
{
    fresh();
    install("CREATE SENTINEL a USING http://x.org MONITOR links");
    struct request_plan *p =
            ask("ensure", "CREATE SENTINEL a USING http://x.org MONITOR links;"
                          "CREATE SENTINEL b USING http://x.org MONITOR links");
    EXPECT_INT(p->exit_code, 0);
    REQUIRE(p->nsteps == 1);
    EXPECT_TEXT(p->steps[0].name, "b");
    EXPECT(says(p, "a: is there already"));
    request_plan_abandon(p);
    over();
}

TEST(check, "checking plans nothing and accepts what cannot be run yet")
{
    fresh();
    struct request_plan *p = ask("check", "CREATE SENTINEL a USING http://x.org MONITOR links "
                                          "NOTIFY BY email a@b.org COMPARE every:4");
    EXPECT_INT(p->exit_code, 0);
    EXPECT_INT(p->nsteps, 0);
    over();
}

TEST(cannot, "what cannot be run yet is refused where it stands, and nothing is stored")
{
    fresh();
    struct request_plan *p = ask("add", "CREATE SENTINEL a USING http://x.org MONITOR links\n"
                                        "NOTIFY BY email a@b.org");
    EXPECT_INT(p->exit_code, 1);
    EXPECT_INT(p->nsteps, 0);
    EXPECT(says(p, "(sql):2:1: error: E090: no mail can be sent: the setting notify.smtp is "
                   "empty"));
    static const char *const others[] = {
            "CREATE SENTINEL a USING http://x.org MONITOR links WITH (header 'A: ${SECRET x}')",
            "CREATE SENTINEL a USING http://x.org MONITOR links WITH (render = on)",
            "subscription T refresh 'http://x.org/' weekly report when daily",
    };
    for (size_t i = 0; i < countof(others); i++) {
        p = ask("add", others[i]);
        EXPECT_INT(p->exit_code, 1);
        EXPECT_INT(p->nsteps, 0);
        EXPECT(says(p, "E090"));
    }
    over();
}

TEST(names, "enable, disable, stop and drop take names, and tell of every one that is wrong")
{
    fresh();
    install("CREATE SENTINEL news USING http://x.org MONITOR links;"
            "CREATE SENTINEL b USING http://x.org MONITOR links");
    struct request_plan *p = ask("disable", "NEWS\nnew\nzebra\n");
    EXPECT_INT(p->exit_code, 1);
    EXPECT(says(p, "there is no sentinel \"new\"") && says(p, "Did you mean \"news\"?"));
    EXPECT(says(p, "there is no sentinel \"zebra\"") && says(p, "`vigil list`"));
    p = ask("disable", "NEWS\n");
    REQUIRE(p->exit_code == 0 && p->nsteps == 1);
    EXPECT_TEXT(p->steps[0].state, "waiting-disabled");
    EXPECT_TEXT(p->steps[0].event_kind, "disable");
    carry_out(p);
    p = ask("disable", "news\n");
    EXPECT_INT(p->exit_code, 0);
    EXPECT(says(p, "was disabled already") && !p->steps[0].event_kind);
    p = ask("stop", "b\n");
    REQUIRE(p->exit_code == 0 && p->nsteps == 1);
    EXPECT_TEXT(p->steps[0].state, "ended");
    EXPECT_TEXT(p->steps[0].end_reason, "stopped");
    carry_out(p);
    EXPECT_INT(ask("enable", "b\n")->exit_code, 1);
    p = ask("drop", "b\nnews\n");
    EXPECT_INT(p->exit_code, 0);
    EXPECT_INT(p->nsteps, 2);
    over();
}

TEST(dependants, "what others wait for is dropped only with CASCADE, which ends them")
{
    fresh();
    install("CREATE SENTINEL a USING http://x.org MONITOR links;"
            "CREATE SENTINEL b USING http://x.org MONITOR links FROM end(a)");
    struct request_plan *p = ask("drop", "a\n");
    EXPECT_INT(p->exit_code, 1);
    EXPECT(says(p, "1 sentinel depends on \"a\": b"));
    p = ask("drop", "CASCADE\na\n");
    REQUIRE(p->exit_code == 0 && p->nsteps == 2);
    EXPECT_TEXT(p->steps[0].name, "b");
    EXPECT_TEXT(p->steps[0].end_reason, "dependency");
    EXPECT_TEXT(p->steps[0].state, "ended");
    EXPECT(p->steps[1].kind == STORE_STEP_DROP);
    over();
}

TEST(json, "an answer asked for in JSON is one object a line, also when it is no")
{
    fresh();
    struct request_plan *p = ask("add", "-- vigil: json\nCREATE SENTINEL a USING http://x.org "
                                        "MONITOR links");
    EXPECT_TEXT(p->answer, "{\"sentinel\":\"a\",\"action\":\"installed\"}\n");
    request_plan_abandon(p);
    p = ask("add", "-- vigil: json\nCREATE SENTINEL a");
    EXPECT_INT(p->exit_code, 1);
    EXPECT(strncmp(p->answer, "{\"code\":\"E0", 11) == 0);
    p = ask("enable", "-- vigil: json\nx\n");
    EXPECT(says(p, "{\"severity\":\"error\",\"message\":\"there is no sentinel \\\"x\\\"\""));
    over();
}

TEST(replace_twice, "of two definitions of one name in one request the last word counts")
{
    fresh();
    struct request_plan *p =
            ask("add", "CREATE SENTINEL a USING http://x.org MONITOR links;"
                       "CREATE OR REPLACE SENTINEL a USING http://y.org MONITOR links");
    REQUIRE(p->exit_code == 0 && p->nsteps == 1);
    EXPECT(p->steps[0].kind == STORE_STEP_CREATE);
    EXPECT_TEXT(p->steps[0].url, "http://y.org/");
    request_plan_abandon(p);
    over();
}

TEST(taken_back, "what a file creates and drops again leaves nothing, however much it is")
{
    enum { MANY = 20000 }; /* each used to move all that stood behind it */
    fresh();
    install("CREATE SENTINEL old USING http://x.org/ MONITOR links");
    BUF(text, 64 << 20);
    for (int i = 0; i < MANY; i++)
        buf_printf(&text, "CREATE SENTINEL s%d USING http://x.org/%d MONITOR links;", i, i);
    buf_puts(&text, "CREATE OR REPLACE SENTINEL old USING http://x.org/ MONITOR images;");
    for (int i = 0; i < MANY; i++)
        if (i != 7)
            buf_printf(&text, "DROP SENTINEL s%d;", i);
    buf_puts(&text, "CREATE OR REPLACE SENTINEL s7 USING http://x.org/ MONITOR images;");
    buf_puts(&text, "CREATE SENTINEL s8 USING http://x.org/8 MONITOR links; DROP SENTINEL old");
    struct request_plan *p = ask("add", buf_text(&text));
    REQUIRE(p->exit_code == 0 && p->nsteps == 3);
    EXPECT_TEXT(p->steps[0].name, "s7");
    EXPECT_TEXT(p->steps[0].monitor, "images");
    EXPECT_TEXT(p->steps[1].name, "s8");
    EXPECT(p->steps[2].kind == STORE_STEP_DROP);
    EXPECT_TEXT(p->steps[2].name, "old");
    carry_out(p);
    over(); /* which used to free them twice */
}

TEST_MAIN()
