/* Bringing the schema up to this program.
 *
 *  (1) Each migration is one transaction with its own row in vigil_kb.migration: cut off
 *      anywhere, the next start goes on where it stopped.
 *  (2) Two programs that start at once take turns (advisory lock inside the transaction).
 *  (3) A schema newer than this program, or one made from other files, is left alone.
 */
#include "store/store_int.h"
#include "base/crash.h"
#include "base/str.h"
#include <stdio.h>

static void checksum_of(const struct migration *m, char hex[65])
{
    struct sha256 sum = sha256_of(m->sql, strlen(m->sql));
    sha256_hex(&sum, hex);
}

static enum err too_new(int64_t theirs, struct fault *f)
{
    enum err e = fault_set(f, ERR_STORE,
            "the database has schema %lld, this vigil knows schemas up to %d",
            (long long)theirs, migrations[migration_count - 1].number);
    fault_hint(f, "It was used by a newer vigil; install that one, or name another database.");
    return e;
}

static enum err too_different(const struct migration *m, struct fault *f)
{
    enum err e = fault_set(f, ERR_STORE,
            "schema %d of the database (%s) was made by a different vigil", m->number, m->name);
    fault_hint(f, "Use the vigil that made it, or name another database.");
    return e;
}

static const struct migration *numbered(int64_t number)
{
    for (size_t i = 0; i < migration_count; i++)
        if (migrations[i].number == number)
            return &migrations[i];
    return NULL;
}

/* How many migrations are there, and are they ours? (3) */
static enum err look(struct conn *c, struct fault *f, size_t *ret_applied)
{
    RESULT there = NULL;
    RESULT list = NULL;
    enum err e = conn_run(c, SQL_MIGRATION_TABLE, NULL, f, &there);
    if (e)
        return e;
    *ret_applied = 0;
    if (PQgetvalue(there, 0, 0)[0] != 't')
        return OK;
    e = conn_run(c, SQL_MIGRATION_LIST, NULL, f, &list);
    if (e)
        return e;
    for (int i = 0; i < PQntuples(list); i++) {
        char hex[65];
        int64_t number = result_int(list, i, 0);
        const struct migration *m = numbered(number);
        if (!m)
            return too_new(result_int(list, PQntuples(list) - 1, 0), f);
        checksum_of(m, hex);
        if (strcmp(hex, PQgetvalue(list, i, 1)) != 0)
            return too_different(m, f);
    }
    *ret_applied = (size_t)PQntuples(list);
    return OK;
}

static enum err apply_one(struct conn *c, const struct migration *m, msec now, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "migration");
    char hex[65];
    checksum_of(m, hex);
    enum err e = OK;
    if (m->number == 1) {
        e = conn_run(c, SQL_MIGRATION_SCHEMA, NULL, f, NULL);
        if (!e)
            e = conn_run(c, SQL_MIGRATION_CREATE, NULL, f, NULL);
    }
    if (!e)
        e = conn_script(c, m->sql, f);
    CRASH_POINT("after_migration_script");
    if (e)
        return e;
    PARAMS(p, scratch);
    params_int(&p, m->number);
    params_text(&p, m->name);
    params_text(&p, hex);
    params_int(&p, now);
    return conn_run(c, SQL_MIGRATION_NOTE, &p, f, NULL);
}

/* What the last migration brought belongs to the right people at once.  Where the login may
 * not make roles, all else works, and whoever starts the program is told. */
enum err migrate_set_up_roles(struct conn *c, bool quiet, struct fault *f)
{
    RESULT r = NULL;
    enum err e = conn_run(c, SQL_SET_UP_ROLES, NULL, f, &r);
    if (!e && PQgetvalue(r, 0, 0)[0] && !quiet)
        fprintf(stderr,
                "vigil: %s; logins of their own need them, docs/sql.md tells how to make "
                "them\n",
                PQgetvalue(r, 0, 0));
    return e;
}

/* One step, in a transaction of its own: (1).  Whoever waited for the lock looks again: (2). */
static enum err step(struct conn *c, bool quiet, msec now, struct fault *f, bool *ret_done)
{
    size_t applied = 0;
    enum err e = conn_run(c, SQL_BEGIN, NULL, f, NULL);
    if (!e)
        e = conn_run(c, SQL_MIGRATION_LOCK, NULL, f, NULL);
    if (!e)
        e = look(c, f, &applied);
    if (!e && applied < migration_count)
        e = apply_one(c, &migrations[applied], now, f);
    if (!e && applied + 1 == migration_count)
        e = migrate_set_up_roles(c, quiet, f);
    if (e) {
        conn_roll_back(c);
        if (applied < migration_count)
            fault_prefix(f, "migration %s: ", migrations[applied].name);
        return e;
    }
    *ret_done = applied == migration_count;
    CRASH_POINT("before_migration_commit");
    e = conn_run(c, SQL_COMMIT, NULL, f, NULL);
    CRASH_POINT("after_migration_commit");
    return e;
}

/* Whether somebody is at it: the schema is not there at all, a step is under way, or one was
 * made while we looked. */
static enum err is_under_way(struct conn *c, size_t applied, struct fault *f, bool *ret_is)
{
    *ret_is = applied == 0;
    for (int looks = 0; looks < 3 && !*ret_is; looks++) {
        RESULT r = NULL;
        size_t now = 0;
        pause_ms(20); /* between two steps nobody holds the lock */
        enum err e = conn_run(c, SQL_MIGRATION_TRY, NULL, f, &r);
        if (!e)
            e = look(c, f, &now);
        if (e)
            return e;
        *ret_is = PQgetvalue(r, 0, 0)[0] != 't' || now != applied;
    }
    return OK;
}

/* The schema is not ours to change. */
static enum err say_older(struct conn *c, size_t applied, struct fault *f)
{
    int has = applied ? migrations[applied - 1].number : 0,
        needs = migrations[migration_count - 1].number;
    bool under_way;
    enum err e = is_under_way(c, applied, f, &under_way);
    if (e)
        return e;
    if (under_way) {
        e = fault_set(f, ERR_BUSY,
                "the running engine is bringing its database to schema %d, it is at %d", needs,
                has);
        fault_hint(f, "Try again in a moment.");
        return e;
    }
    e = fault_set(f, ERR_STORE, "the running engine uses schema %d, this vigil needs schema %d",
            has, needs);
    fault_hint(f, "Stop the engine and start it again with this vigil.");
    return e;
}

enum err migrate(struct conn *c, bool may_change, bool quiet, msec now, struct fault *f)
{
    size_t applied;
    enum err e = look(c, f, &applied);
    if (e || applied == migration_count)
        return e;
    if (!may_change)
        return say_older(c, applied, f);
    for (bool done = false; !e && !done;)
        e = step(c, quiet, now, f, &done);
    return e;
}
