/* One engine a database.
 *
 * An engine holds an advisory lock in the session that writes, and has signed the row in
 * vigil_kb.engine.  The lock keeps a second engine out; the row tells it who is there.
 *
 *  (1) After its connection was lost an engine takes the lock again before it writes, so its
 *      own old session is over, and what that session was about to commit is decided.
 *  (2) An engine that finds another signature in the row never writes again: what it knows
 *      of the database is out of date.
 */
#include "store/store_int.h"
#include "base/crash.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const msec patience = 10 * MSEC_PER_SECOND;

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

static enum err try_lock(struct conn *c, struct fault *f, bool *ret_mine, int64_t *ret_backend)
{
    RESULT lock = NULL;
    RESULT holder = NULL;
    enum err e = conn_run(c, SQL_ENGINE_LOCK, NULL, f, &lock);
    if (e)
        return e;
    *ret_mine = PQgetvalue(lock, 0, 0)[0] == 't';
    *ret_backend = 0;
    if (*ret_mine)
        return OK;
    e = conn_run(c, SQL_ENGINE_HOLDER, NULL, f, &holder);
    if (!e && PQntuples(holder) > 0)
        *ret_backend = result_int(holder, 0, 0);
    return e;
}

enum err engine_lock_take(struct conn *c, struct store *s, struct fault *f)
{
    msec until = clock_mono(&clock_system) + patience;
    for (;; pause_ms(50)) {
        bool mine;
        int64_t backend;
        struct holder h;
        enum err e = try_lock(c, f, &mine, &backend);
        if (!e && mine)
            return OK;
        if (!e)
            e = read_row(c, f, &h);
        if (e)
            return e;
        /* A command holds it shared for a moment; a dead engine's session ends by itself. */
        bool will_pass = !backend || is_dead_here(&h);
        if (!will_pass || clock_mono(&clock_system) >= until)
            return busy(&h, s, f);
    }
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

static enum err end_old_session(struct conn *c, int64_t backend)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "end");
    PARAMS(p, scratch);
    params_int(&p, backend);
    return conn_run(c, SQL_END_BACKEND, &p, NULL, NULL);
}

enum err engine_lock_regain(struct conn *c, const struct store *s, int old_backend,
        struct fault *f, int64_t *ret_job)
{
    bool mine = false;
    struct holder h = {0};
    for (int tries = 0; tries < 50; tries++) { /* (1) */
        int64_t backend;
        enum err e = try_lock(c, f, &mine, &backend);
        if (!e && !mine && backend == old_backend)
            e = end_old_session(c, backend);
        if (e)
            return e;
        if (mine || backend != old_backend)
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
        return fault_set(f, ERR_STORE, "another session holds the engine's lock");
    }
    *ret_job = h.job;
    return OK;
}
