/* One engine a database.
 *
 * An engine holds an advisory lock in the session that writes, and has signed the row in
 * vigil_kb.engine.  The lock keeps a second engine out; the row tells it who is there.
 *
 *  (1) After its connection was lost an engine takes the lock again before it writes, so its
 *      own old session is over, and what that session was about to commit is decided.
 *  (2) An engine that finds another signature in the row never writes again: what it knows
 *      of the database is out of date.
 *  (3) Every login can take an advisory lock.  One that may not sign the row is no engine: its
 *      session is ended where we may do that, and else named.
 */
#include "store/store_int.h"
#include "base/crash.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const msec patience = 10 * MSEC_PER_SECOND;

/* A command holds the lock, shared, for the length of one statement. */
static const msec longest_look = 2 * MSEC_PER_SECOND;

struct holder {
    bool known;
    char session[40], host[256], since[TIME_TEXT_SIZE];
    int64_t process, job;
};

static enum err read_row(struct conn *c, struct fault *f, struct holder *ret)
{
    RESULT r = NULL;
    enum err e = conn_run(c, SQL_ENGINE_ROW, NULL, f, &r);
    *ret = (struct holder){0};
    if (e && c->trouble == CONN_REFUSED)
        return OK; /* no such table: the other engine is just making the schema */
    if (e || PQntuples(r) == 0)
        return e;
    ret->known = true;
    snprintf(ret->session, sizeof ret->session, "%s", PQgetvalue(r, 0, 0));
    ret->job = result_int(r, 0, 1);
    snprintf(ret->host, sizeof ret->host, "%s", PQgetvalue(r, 0, 2));
    ret->process = result_int(r, 0, 3);
    time_iso(result_time(r, 0, 4), ret->since);
    return OK;
}

static void host_name(char name[256])
{
    if (gethostname(name, 256) != 0)
        snprintf(name, 256, "?");
    name[255] = 0;
}

static bool is_dead_here(const struct holder *h)
{
    char here[256];
    host_name(here);
    return h->known && strcmp(h->host, here) == 0 && kill((pid_t)h->process, 0) != 0 &&
           errno == ESRCH;
}

static enum err busy(const struct holder *h, const struct store *s, struct fault *f)
{
    enum err e = h->known ? fault_set(f, ERR_BUSY,
                                    "%s is in use by the engine on %s, process %lld, since %s",
                                    store_describe(s), h->host, (long long)h->process, h->since)
                          : fault_set(f, ERR_BUSY, "%s is in use by another engine",
                                    store_describe(s));
    fault_hint(f, "Stop that engine, or name another database.");
    return e;
}

struct hold {        /* of the lock, by another session */
    int64_t backend; /* 0: nobody's */
    bool is_whole;   /* not shared: not a command that looks */
    bool by_engine;  /* or by somebody who could be one */
    char role[64];
};

static enum err find_hold(struct conn *c, struct fault *f, struct hold *ret)
{
    RESULT r = NULL;
    *ret = (struct hold){0};
    enum err e = conn_run(c, SQL_ENGINE_HOLDER, NULL, f, &r);
    if (e || PQntuples(r) == 0)
        return e;
    ret->backend = result_int(r, 0, 0);
    ret->is_whole = PQgetvalue(r, 0, 1)[0] == 't';
    ret->by_engine = PQgetvalue(r, 0, 2)[0] == 't';
    snprintf(ret->role, sizeof ret->role, "%s", PQgetvalue(r, 0, 3));
    return OK;
}

static enum err try_lock(struct conn *c, struct fault *f, bool *ret_mine, struct hold *ret_hold)
{
    RESULT lock = NULL;
    enum err e = conn_run(c, SQL_ENGINE_LOCK, NULL, f, &lock);
    if (e)
        return e;
    *ret_mine = PQgetvalue(lock, 0, 0)[0] == 't';
    *ret_hold = (struct hold){0};
    return *ret_mine ? OK : find_hold(c, f, ret_hold);
}

static enum err end_session(struct conn *c, int64_t backend, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "end");
    PARAMS(p, scratch);
    params_int(&p, backend);
    return conn_run(c, SQL_END_BACKEND, &p, f, NULL);
}

static enum err held_by_stranger(const struct hold *h, const struct store *s, struct fault *f)
{
    enum err e = fault_set(f, ERR_BUSY,
            "the login \"%.63s\", which is no engine, holds the engine's lock of %s", h->role,
            store_describe(s));
    fault_hint(f, "End its session: SELECT pg_terminate_backend(%lld), as a superuser.",
            (long long)h->backend);
    return e;
}

/* (3) */
static enum err end_stranger(
        struct conn *c, const struct hold *h, const struct store *s, struct fault *f)
{
    struct fault why;
    enum err e = end_session(c, h->backend, &why);
    if (!e || c->trouble != CONN_REFUSED) {
        *f = why;
        return e;
    }
    return held_by_stranger(h, s, f);
}

enum err engine_lock_take(struct conn *c, struct store *s, struct fault *f)
{
    msec begun = clock_mono(&clock_system);
    for (;; pause_ms(50)) {
        bool mine;
        struct hold hold = {0};
        struct holder h = {0};
        enum err e = try_lock(c, f, &mine, &hold);
        if (!e && mine)
            return OK;
        if (!e)
            e = read_row(c, f, &h);
        msec waited = clock_mono(&clock_system) - begun;
        bool is_stranger = hold.backend && !hold.by_engine;
        if (!e && is_stranger && (hold.is_whole || waited > longest_look))
            e = end_stranger(c, &hold, s, f);
        if (e)
            return e;
        /* A command holds it shared for a moment; a dead engine's session ends by itself. */
        bool will_pass = !hold.backend || !hold.is_whole || is_stranger || is_dead_here(&h);
        if (!will_pass || waited >= patience)
            return is_stranger ? held_by_stranger(&hold, s, f) : busy(&h, s, f);
    }
}

enum err engine_lock_is_held(struct conn *c, struct fault *f, bool *ret_held)
{
    struct hold hold;
    enum err e = find_hold(c, f, &hold);
    if (!e)
        *ret_held = hold.backend && hold.is_whole && hold.by_engine;
    return e;
}

enum err engine_lock_sign(struct conn *c, struct store *s, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "sign");
    char here[256];
    host_name(here);
    PARAMS(p, scratch);
    params_text(&p, s->session);
    params_text(&p, here);
    params_int(&p, getpid());
    params_int(&p, clock_wall(s->options.clock));
    CRASH_POINT("before_engine_sign");
    enum err e = conn_run(c, SQL_ENGINE_SIGN, &p, f, NULL);
    CRASH_POINT("after_engine_sign");
    return e;
}

enum err engine_lock_regain(struct conn *c, const struct store *s, int old_backend,
        struct fault *f, int64_t *ret_job)
{
    bool mine = false;
    struct hold hold = {0};
    struct holder h = {0};
    for (int tries = 0; tries < 50; tries++) { /* (1) */
        enum err e = try_lock(c, f, &mine, &hold);
        if (!e && !mine && hold.backend == old_backend)
            e = end_session(c, hold.backend, f);
        bool is_stranger = hold.backend && hold.is_whole && !hold.by_engine;
        if (!e && is_stranger && end_session(c, hold.backend, f) != OK) {
            if (c->trouble != CONN_REFUSED)
                return f->code;
            break; /* we may not: it is named */
        }
        if (e)
            return e;
        if (mine || (hold.backend != old_backend && !is_stranger))
            break;
        pause_ms(50);
    }
    enum err e = read_row(c, f, &h);
    if (e)
        return e;
    if (!h.known || strcmp(h.session, s->session) != 0) { /* (2) */
        e = h.known ? fault_set(f, ERR_BUSY,
                              "the engine on %s, process %lld, has taken over the database",
                              h.host, (long long)h.process)
                    : fault_set(f, ERR_BUSY, "the database was replaced by another one");
        fault_hint(f, "Start this engine again.");
        return e;
    }
    if (!mine) {
        c->trouble = CONN_WAIT;
        return fault_set(f, ERR_STORE, "another session, of \"%.63s\", holds the engine's lock",
                hold.role);
    }
    *ret_job = h.job;
    return OK;
}
