/* Nothing owed is overlooked, whoever held its lane, died over it, or was cut off meanwhile.
 *
 * Nobody stirs the outbox here: it must find by itself, or be told, that there is something
 * to do.  Others work at the database over connections of their own.
 */
#include "tests/engine/outbox_world.h"

static PGconn *other_login(void)
{
    PGconn *c = PQconnectdb(store_conninfo(w.x.store));
    CHECK(PQstatus(c) == CONNECTION_OK);
    return c;
}

static void say(PGconn *c, const char *text)
{
    PGresult *r = PQexec(c, text);
    if (PQresultStatus(r) == PGRES_FATAL_ERROR)
        test_fail(__FILE__, __LINE__, "%s: %s", text, PQerrorMessage(c));
    PQclear(r);
}

static void nothing(struct loop_timer *t)
{
    (void)t;
}

/* Lets the loop run, and the engine's clock as fast as anybody's. */
static void run_for(msec span)
{
    struct loop_timer tick;
    msec begun = clock_mono(&clock_system), wall = w.x.clock.wall, mono = w.x.clock.mono;
    loop_timer_init(&tick, nothing);
    for (msec now = begun; now - begun < span; now = clock_mono(&clock_system)) {
        w.x.clock.wall = wall + now - begun;
        w.x.clock.mono = mono + now - begun;
        loop_timer_set(w.x.loop, &tick, 5);
        loop_run_once(w.x.loop);
    }
    loop_timer_stop(w.x.loop, &tick);
}

/* The same until so many messages went; false when they did not. */
static bool goes(size_t n, msec within)
{
    msec until = clock_mono(&clock_system) + within;
    while (nsents < n && clock_mono(&clock_system) < until)
        run_for(10);
    return nsents >= n;
}

/* Whatever the test began with is over: only what follows may wake it. */
static void calm(void)
{
    settle();
    run_for(50);
    forget();
}

static const char *lane_of(const char *target)
{
    return arena_printf(w.life, "SELECT id FROM vigil_kb.lane WHERE target = '%s'", target);
}

TEST(locked, "a message whose lane is locked goes when it is free, though nobody says so")
{
    open_world();
    struct watched a = watch("a", "http://locked/", 0, false, 1);
    calm();
    PGconn *c = other_login();
    change_for(&a, w.x.clock.wall); /* the notice of it is heard while the lane is locked */
    say(c, arena_printf(w.life, "BEGIN; %s FOR UPDATE", lane_of("http://locked/")));
    EXPECT(!goes(1, 500));
    say(c, "ROLLBACK");
    EXPECT(goes(1, 5000));
    EXPECT_INT(nsents, 1);
    PQfinish(c);
}

TEST(dead, "a claim that a dead engine's last transaction makes after we looked is void")
{
    struct watched b = watch("b", "http://dead/", 0, false, 1);
    calm();
    PGconn *c = other_login();
    change_for(&b, w.x.clock.wall);
    say(c, "BEGIN; UPDATE vigil_kb.lane SET claimed_by = 'an engine that died', next_at = NULL"
           " WHERE target = 'http://dead/'");
    EXPECT(!goes(1, 500));
    say(c, "COMMIT");
    EXPECT(goes(1, 5000));
    EXPECT_INT(nsents, 1);
    PQfinish(c);
}

/* Stops whoever writes notifications of a sentinel: written, but the lane not yet looked at by
 * the check that it exists. */
static void halt_writers(void)
{
    static const char function[] =
            "CREATE FUNCTION public.halt() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF"
            " current_setting(''application_name'') = ''halts'' THEN PERFORM"
            " pg_advisory_xact_lock(42); END IF; RETURN NULL; END'";
    EXPECT_TEXT(sql(&w.x, function), "CREATE FUNCTION");
    EXPECT_TEXT(sql(&w.x, "CREATE TRIGGER \"A_halt\" AFTER INSERT ON vigil_kb.notification FOR"
                          " EACH ROW EXECUTE FUNCTION public.halt()"),
            "CREATE TRIGGER");
}

static bool is_halted(void *arg)
{
    (void)arg;
    return sql_int(&w.x, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid"
                         " = 42 AND NOT granted") == 1;
}

TEST(meanwhile, "what is owed while its lane is let go of is not overlooked, however long its"
                " commit takes")
{
    struct watched d = watch("d", "http://meanwhile/", 0, false, 1);
    calm();
    halt_writers();
    PGconn *gate = other_login(), *writer = other_login();
    say(gate, "SELECT pg_advisory_lock(42)");
    say(writer, "SET application_name = 'halts'");
    silent = true;
    change_for(&d, w.x.clock.wall); /* under way, and its lane owes nothing else */
    EXPECT(goes(1, 5000));
    CHECK(PQsendQuery(
            writer, arena_printf(w.life,
                            "SELECT vigil_kb.owe(ARRAY[%lld]::bigint[], '{0}'::bigint[],"
                            " '{0}'::bigint[], '{gone}', 'failing', vigil_kb.ts(%lld))",
                            (long long)d.id, (long long)w.x.clock.wall)));
    EXPECT(eventually(is_halted, NULL, 5000));
    silent = false;
    loop_timer_set(w.x.loop, &w.answers, 0); /* it is accepted, and settled if it can be */
    run_for(500);
    say(gate, "SELECT pg_advisory_unlock(42)");
    PQclear(PQgetResult(writer));
    EXPECT(goes(2, 5000));
    run_for(300);
    EXPECT_TEXT(states("d"), "sent 1, sent 1");
    PQfinish(gate);
    PQfinish(writer);
}

TEST(due_already, "and not when that lane was due already")
{
    struct watched e = watch("e", "http://due/", 0, false, 1);
    calm();
    PGconn *gate = other_login(), *writer = other_login(), *holder = other_login();
    say(gate, "SELECT pg_advisory_lock(42)");
    say(writer, "SET application_name = 'halts'");
    change_for(&e, w.x.clock.wall); /* due, and locked before the outbox hears of it */
    say(holder, arena_printf(w.life, "BEGIN; %s FOR KEY SHARE", lane_of("http://due/")));
    EXPECT(!goes(1, 100));
    CHECK(PQsendQuery(
            writer, arena_printf(w.life,
                            "SELECT vigil_kb.owe(ARRAY[%lld]::bigint[], '{0}'::bigint[],"
                            " '{0}'::bigint[], '{gone}', 'failing', vigil_kb.ts(%lld))",
                            (long long)e.id, (long long)w.x.clock.wall)));
    EXPECT(eventually(is_halted, NULL, 5000));
    say(holder, "COMMIT");
    run_for(2000); /* time enough to claim, send and settle, if it may */
    say(gate, "SELECT pg_advisory_unlock(42)");
    PQclear(PQgetResult(writer));
    EXPECT(goes(2, 5000));
    run_for(300);
    EXPECT_TEXT(states("e"), "sent 1, sent 1");
    PQfinish(gate);
    PQfinish(writer);
    PQfinish(holder);
    EXPECT_TEXT(sql(&w.x, "DROP TRIGGER \"A_halt\" ON vigil_kb.notification"), "DROP TRIGGER");
}

TEST(cut_off, "what was said while a settling had lost its connection is heard all the same")
{
    struct watched f = watch("f", "http://slow/", 0, false, 1);
    struct watched g = watch("g", "http://other/", 0, false, 1);
    calm();
    PGconn *c = other_login();
    silent = true;
    change_for(&f, w.x.clock.wall);
    change_for(&f, w.x.clock.wall);
    EXPECT(goes(1, 5000));
    say(c, "BEGIN; LOCK vigil_kb.notification IN SHARE MODE");
    silent = false;
    loop_timer_set(w.x.loop, &w.answers, 0);
    while (nsents < 2) /* the first is accepted, its mark waits for us; the second goes */
        loop_run_once(w.x.loop);
    silent = true; /* and its receiver takes its time */
    run_for(200);
    say(c, arena_printf(w.life,
                   "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation ="
                   " 'vigil_kb.notification'::regclass AND NOT granted;"
                   "SELECT vigil_kb.owe(ARRAY[%lld]::bigint[], '{0}'::bigint[],"
                   " '{0}'::bigint[], '{gone}', 'failing', vigil_kb.ts(%lld)); COMMIT",
                   (long long)g.id, (long long)w.x.clock.wall));
    EXPECT(goes(3, 5000));
    EXPECT_TEXT(states("g"), "pending 0");
    silent = false;
    loop_timer_set(w.x.loop, &w.answers, 0);
    run_for(500);
    EXPECT_TEXT(states("f"), "sent 1, sent 1");
    EXPECT_TEXT(states("g"), "sent 1");
    PQfinish(c);
}

static void refuse(const char *table, int times)
{
    sql(&w.x, "CREATE SEQUENCE IF NOT EXISTS public.met");
    sql(&w.x, "SELECT setval('public.met', 1, false)");
    sql(&w.x,
            arena_printf(w.life,
                    "CREATE OR REPLACE FUNCTION public.refuse() RETURNS trigger LANGUAGE"
                    " plpgsql AS 'BEGIN IF nextval(''public.met'') <= %d THEN RAISE ''the test"
                    " refuses''; END IF; RETURN NEW; END'",
                    times));
    EXPECT_TEXT(sql(&w.x, arena_printf(w.life,
                                  "CREATE TRIGGER refuse BEFORE UPDATE ON vigil_kb.%s FOR"
                                  " EACH ROW EXECUTE FUNCTION public.refuse()",
                                  table)),
            "CREATE TRIGGER");
}

TEST(no_claim, "a claim that the database refuses is made again")
{
    struct watched h = watch("h", "http://refused/", 0, false, 1);
    calm();
    change_for(&h, w.x.clock.wall);
    refuse("lane", 1);
    EXPECT(goes(1, 5000));
    EXPECT_TEXT(sql(&w.x, "DROP TRIGGER refuse ON vigil_kb.lane"), "DROP TRIGGER");
    settle();
    EXPECT_TEXT(states("h"), "sent 1");
}

TEST(no_settling,
        "what was accepted and cannot be recorded is sent again, but not over and over")
{
    struct watched i = watch("i", "http://unrecorded/", 0, false, 1);
    calm();
    refuse("notification", 1000000);
    change_for(&i, w.x.clock.wall);
    EXPECT(goes(1, 5000));
    run_for(2500);
    EXPECT(nsents >= 2 && nsents <= 3);
    EXPECT_TEXT(sents[1].key, sents[0].key);
    EXPECT_TEXT(sql(&w.x, "DROP TRIGGER refuse ON vigil_kb.notification"), "DROP TRIGGER");
    run_for(5000);
    EXPECT_TEXT(states("i"), "sent 1");
}

TEST(over, "and nothing is left behind")
{
    close_world();
}

TEST_MAIN()
