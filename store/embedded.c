/* Opening a data directory: who is there, what is missing, who serves.
 *
 * An engine wants the directory for itself and is told at once when another engine has it.
 * A command uses the server of a running engine, or holds the directory for the moment it
 * needs; engine and commands wait for such a moment, but not for ever.
 */
#include "store/embedded.h"
#include "base/str.h"
#include <errno.h>
#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const msec patience = 10 * MSEC_PER_SECOND;

/* Making a cluster takes seconds, on a busy machine many. */
static const msec making_patience = MSEC_PER_MINUTE;

/* Recovery after a crash replays at most a few hundred megabytes; a slow disk needs minutes. */
static const msec recovery_patience = 10 * MSEC_PER_MINUTE;

/* Longer paths do not fit into PostgreSQL's own buffers. */
enum { LONGEST_DATA = 900 };

static const char *conninfo_for(struct arena *life, const char *run_dir)
{
    return arena_printf(life, "host=%s port=5432 dbname=vigil user=vigil", run_dir);
}

static bool answers(const char *conninfo)
{
    return PQping(conninfo) == PQPING_OK;
}

/* ---- whose directory is it ---- */

static void attach(struct arena *life, struct embedded *e, const struct dirlock_holder *h)
{
    e->engine_running = true;
    e->run_dir = arena_strdup(life, h->run_dir);
    e->conninfo = conninfo_for(life, e->run_dir);
}

static bool is_made(const struct embedded *e)
{
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/pg/PG_VERSION", e->data);
    return stat(path, &st) == 0;
}

static enum err no_answer(const struct embedded *e, long pid, bool made, struct fault *f)
{
    enum err r =
            made ? fault_set(f, ERR_STORE,
                           "the database of the running engine, process %ld, does not "
                           "answer",
                           pid)
                 : fault_set(f, ERR_STORE,
                           "the running engine, process %ld, has not made its database yet",
                           pid);
    fault_hint(f, "See what the engine says; \"%s/pg.log\" is the server's log.", e->data);
    return r;
}

/* Either the lock is ours (lock_fd), or a running engine's server answers. */
static enum err settle(struct arena *life, struct embedded *e, struct fault *f)
{
    bool is_engine = e->options->role == STORE_ENGINE;
    msec begun = clock_mono(&clock_system), until = begun + patience;
    for (msec nap = 5;; nap = nap < 100 ? nap * 2 : nap) {
        struct dirlock_holder h;
        enum err r = dirlock_try(e->data, f, &e->lock_fd, &h);
        if (r != ERR_BUSY)
            return r;
        /* A killed engine's lock may live on for a moment in a child it had just forked. */
        bool is_dead = h.pid && kill((pid_t)h.pid, 0) != 0 && errno == ESRCH;
        if (h.is_engine && is_engine && !is_dead)
            return r;
        if (h.is_engine && h.run_dir[0] && answers(conninfo_for(life, h.run_dir))) {
            attach(life, e, &h);
            return OK;
        }
        bool made = is_made(e);
        msec now = clock_mono(&clock_system);
        if (h.is_engine && !is_engine && !made && now - begun < making_patience)
            until = now + patience; /* its server is started afterwards */
        if (now >= until)
            return !h.is_engine || is_engine ? r : no_answer(e, h.pid, made, f);
        pause_ms(nap);
    }
}

/* ---- serving it ---- */

static enum err make_cluster(struct embedded *e, struct fault *f)
{
    const struct server *s = &e->server;
    char path[4096];
    struct stat st;
    snprintf(path, sizeof path, "%s/PG_VERSION", s->cluster);
    if (stat(path, &st) == 0)
        return OK;
    if (stat(s->cluster, &st) == 0 && rmdir(s->cluster) != 0) {
        enum err r = fault_set(
                f, ERR_IO, "\"%s\" is there but is no PostgreSQL cluster", s->cluster);
        fault_hint(f, "Give another --data, or move it out of the way.");
        return r;
    }
    if (!e->options->quiet)
        fprintf(stderr, "vigil: making a database in %s ...\n", e->data);
    return cluster_make(s, f);
}

/* A start that failed only because an earlier server is not quite gone (shared memory of
 * an orphan, for instance) is worth another try. */
static bool is_worth_retrying(const struct fault *f)
{
    return f->code == ERR_BUSY || strstr(f->message, "is still in use") ||
           strstr(f->message, "already exists");
}

static enum err serve(struct embedded *e, struct fault *f)
{
    struct server *s = &e->server;
    msec begun = clock_mono(&clock_system);
    struct fault why = {0};
    for (msec nap = 2;; nap = nap < 64 ? nap * 2 : nap) {
        msec spent = clock_mono(&clock_system) - begun;
        if (server_is_alive(s)) {
            if (server_holds_directory(s) && answers(e->conninfo))
                return OK;
            if (spent > recovery_patience)
                return fault_set(f, ERR_STORE,
                        "the private PostgreSQL did not come up; see \"%s\"", s->log);
        } else {
            enum err r = server_start(s, &why);
            if (r && (r != ERR_BUSY || spent > patience)) {
                *f = why;
                return r;
            }
        }
        pause_ms(nap);
        if (!s->pid || server_is_alive(s))
            continue;
        enum err r = server_last_words(s, "the private PostgreSQL did not start", &why);
        if (!is_worth_retrying(&why) || spent > patience) {
            *f = why;
            return r;
        }
    }
}

static enum err host(struct arena *life, struct embedded *e, struct fault *f)
{
    struct server *s = &e->server;
    const struct store_options *o = e->options;
    s->data = e->data;
    s->cluster = arena_printf(life, "%s/pg", e->data);
    s->log = arena_printf(life, "%s/pg.log", e->data);
    enum err r = programs_find_for(o->pg_bin, s->cluster, f, &s->programs);
    if (!r)
        r = rundir_prepare(life, arena_printf(life, "%s/run", e->data), e->data, &s->account, f,
                &s->run_dir);
    if (!r)
        r = dirlock_sign(e->lock_fd, e->data, o->role, o->who, s->run_dir, f);
    if (!r)
        r = make_cluster(e, f);
    if (r)
        return r;
    e->run_dir = s->run_dir;
    e->conninfo = conninfo_for(life, s->run_dir);
    return serve(e, f);
}

enum err embedded_open(struct arena *life, const struct store_options *o, struct fault *f,
        struct embedded **ret_embedded)
{
    struct fault unasked;
    struct embedded *e = arena_new_of(life, struct embedded);
    e->options = o;
    e->data = datadir_absolute(life, o->data);
    e->lock_fd = -1;
    if (!f)
        f = &unasked;
    if (strlen(e->data) > LONGEST_DATA)
        return datadir_fault(f, ENAMETOOLONG, "use", e->data);

    enum err r = account_choose(e->data, o->pg_user, f, &e->server.account);
    if (!r)
        r = datadir_prepare(e->data, &e->server.account, f);
    if (!r)
        r = settle(life, e, f);
    if (!r && e->lock_fd >= 0)
        r = host(life, e, f);
    if (r) {
        embedded_close(e);
        return r;
    }
    *ret_embedded = e;
    return OK;
}

void embedded_close(struct embedded *e)
{
    if (!e)
        return;
    server_stop(&e->server);
    if (e->lock_fd >= 0 && e->server.run_dir)
        (void)rmdir(e->server.run_dir); /* not empty: somebody else's socket is in it */
    dirlock_release(e->lock_fd);
    e->lock_fd = -1;
}

enum err embedded_ensure(struct embedded *e, struct fault *f)
{
    if (server_is_alive(&e->server))
        return OK;
    return server_start(&e->server, f);
}
