/* One private server for the whole run, with one database that each scenario gets as new.
 *
 * CREATE DATABASE takes a quarter of a second, emptying the tables a hundredth.  Rows that the
 * migrations themselves left are kept aside and put back.  The scenario's own connection stays
 * when the database is "down": it is how we look and how we bring it up again, and it is not
 * the engine's.
 */
#include "tests/sim/sim.h"
#include "store/store.h"
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct server {
    char dir[64];
    struct arena *life;
    struct store *store;
    PGconn *admin;
};

/* A cluster is mostly waiting for a disk; memory will do where there is enough of it. */
static const char *roomy_place(void)
{
    struct statvfs v;
    bool is_roomy = statvfs("/dev/shm", &v) == 0 && access("/dev/shm", W_OK) == 0 &&
                    (uint64_t)v.f_bavail * v.f_frsize > (uint64_t)1 << 30;
    return is_roomy ? "/dev/shm" : "/tmp";
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    (void)remove(path); /* what cannot be removed is in a temporary directory */
    return 0;
}

static const char *conninfo_of(const struct server *s, struct arena *life, const char *name)
{
    return arena_printf(life, "%s dbname=%s options='-c synchronous_commit=off -c jit=off'",
            store_conninfo(s->store), name);
}

static enum err run(PGconn *c, struct fault *f, const char *text)
{
    PGresult *r = PQexec(c, text);
    ExecStatusType status = PQresultStatus(r);
    PQclear(r);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK)
        return OK;
    return fault_set(f, ERR_STORE, "%s: %s", text, PQerrorMessage(c));
}

static enum err connect_to(const char *conninfo, struct fault *f, PGconn **ret)
{
    *ret = PQconnectdb(conninfo);
    if (PQstatus(*ret) == CONNECTION_OK)
        return OK;
    return fault_set(f, ERR_STORE, "%s", PQerrorMessage(*ret));
}

/* A procedure that makes every table of ours what it is now.  Most are empty most of the time,
 * so looking is cheaper than TRUNCATE, which makes new files for each. */
static const char prepare[] =
        "CREATE SCHEMA sim;"
        "DO $$ DECLARE t regclass; s regclass; n bigint; script text := ''; BEGIN"
        "  FOR t IN SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        "      WHERE c.relkind = 'r' AND n.nspname IN ('vigil', 'vigil_kb') LOOP"
        "    script := script || format('IF EXISTS (SELECT 1 FROM %s) THEN DELETE FROM %s; END "
        "IF;', t, t);"
        "    EXECUTE format('SELECT count(*) FROM %s', t) INTO n;"
        "    IF n > 0 THEN"
        "      EXECUTE format('CREATE TABLE sim.%I AS TABLE %s', 'kept_' || t::oid, t);"
        "      script := script || format('INSERT INTO %s OVERRIDING SYSTEM VALUE TABLE "
        "sim.%I;',"
        "          t, 'kept_' || t::oid);"
        "    END IF;"
        "  END LOOP;"
        "  FOR s IN SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        "      WHERE c.relkind = 'S' AND n.nspname IN ('vigil', 'vigil_kb') LOOP"
        "    script := script || format('PERFORM setval(%L, 1, false);', s);"
        "  END LOOP;"
        "  EXECUTE format('CREATE PROCEDURE sim.reset() LANGUAGE plpgsql AS %L',"
        "      'BEGIN SET LOCAL session_replication_role = replica; ' || script || ' END');"
        "END $$";

static enum err make_database(struct server *s, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "database");
    struct store *store;
    PGconn *sql = NULL;
    enum err e = run(s->admin, f, "CREATE DATABASE sim");
    if (e)
        return e;
    struct store_options o = {
            .db = conninfo_of(s, scratch, "sim"),
            .role = STORE_COMMAND,
            .who = "sim",
            .quiet = true,
    };
    e = store_open(scratch, &o, f, &store);
    if (e)
        return e;
    store_close(store);
    e = connect_to(o.db, f, &sql);
    if (!e)
        e = run(sql, f, prepare);
    PQfinish(sql);
    return e;
}

enum err server_begin(struct arena *life, struct fault *f, struct server **ret)
{
    struct server *s = arena_new_of(life, struct server);
    s->life = life;
    snprintf(s->dir, sizeof s->dir, "%s/vsim-XXXXXX", roomy_place());
    if (!mkdtemp(s->dir) || chmod(s->dir, 0755) != 0)
        return fault_set(f, ERR_IO, "cannot make a temporary directory");
    struct store_options o = {
            .data = arena_printf(life, "%s/data", s->dir),
            .role = STORE_COMMAND,
            .who = "sim",
            .quiet = true,
    };
    *ret = s;
    enum err e = store_open(life, &o, f, &s->store);
    if (!e)
        e = connect_to(conninfo_of(s, life, "postgres"), f, &s->admin);
    if (!e)
        e = make_database(s, f);
    return e;
}

void server_end(struct server *s)
{
    PQfinish(s->admin);
    store_close(s->store);
    (void)nftw(s->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void admin(struct database *d, const char *fmt)
{
    char text[256];
    struct fault f = {0};
    snprintf(text, sizeof text, fmt, d->name);
    if (run(d->server->admin, &f, text) != OK)
        fprintf(stderr, "vigil-sim: %s\n", f.message);
}

enum err database_make(
        struct server *s, struct arena *life, struct fault *f, struct database *ret)
{
    *ret = (struct database){.server = s, .name = "sim"};
    ret->conninfo = conninfo_of(s, life, ret->name);
    enum err e = connect_to(ret->conninfo, f, &ret->sql);
    if (!e)
        e = run(ret->sql, f, "CALL sim.reset()");
    if (!e)
        e = run(ret->sql, f, "LISTEN vigil_answers");
    return e;
}

void database_done(struct database *d)
{
    if (d->is_stuck)
        database_release_writes(d);
    if (d->is_away)
        database_up(d);
    PQfinish(d->sql);
    d->sql = NULL;
}

void database_down(struct database *d)
{
    char text[200];
    admin(d, "ALTER DATABASE %s ALLOW_CONNECTIONS false");
    snprintf(text, sizeof text,
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = "
            "'%%s' "
            "AND pid <> %d",
            PQbackendPID(d->sql));
    admin(d, text);
    d->is_away = true;
}

void database_up(struct database *d)
{
    admin(d, "ALTER DATABASE %s ALLOW_CONNECTIONS true");
    d->is_away = false;
}

/* SHARE lets readers pass and keeps writers waiting. */
void database_hold_writes(struct database *d)
{
    CHECK(run(d->sql, NULL, "BEGIN") == OK);
    CHECK(run(d->sql, NULL,
                  "LOCK TABLE vigil_kb.engine, vigil_kb.page, vigil_kb.page_state, "
                  "vigil_kb.version, "
                  "vigil_kb.sentinel, vigil_kb.sentinel_state, vigil_kb.event, "
                  "vigil_kb.request "
                  "IN SHARE MODE") == OK);
    d->is_stuck = true;
}

void database_release_writes(struct database *d)
{
    CHECK(run(d->sql, NULL, "ROLLBACK") == OK);
    d->is_stuck = false;
}

bool database_has_waiters(struct database *d)
{
    char text[128];
    snprintf(text, sizeof text,
            "SELECT 1 FROM pg_stat_activity WHERE datname = '%s' AND wait_event_type = 'Lock'",
            d->name);
    PGresult *r = PQexec(d->server->admin, text);
    bool any = PQntuples(r) > 0;
    PQclear(r);
    return any;
}

PGresult *database_query(struct database *d, const char *text, int n, const char *const *params,
        const char **why)
{
    PGresult *r = PQexecParams(d->sql, text, n, NULL, params, NULL, NULL, 0);
    if (PQresultStatus(r) == PGRES_TUPLES_OK)
        return r;
    *why = PQerrorMessage(d->sql);
    PQclear(r);
    return NULL;
}
