/* Opening the store: a private server or a named one, then the same road for both:
 * connect, bring the schema up to date, and find out or become who runs the engine. */
#include "store/store_int.h"
#include "base/str.h"
#include <errno.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const msec connect_within = 15 * MSEC_PER_SECOND;

/* How long a command waits for an engine that is just making the database. */
static const msec patience = 10 * MSEC_PER_SECOND;

static const char *dup_or_null(struct arena *life, const char *s)
{
    return s ? arena_strdup(life, s) : NULL;
}

static void keep_options(struct arena *life, const struct store_options *o, struct store *s)
{
    s->options = *o;
    s->options.db = dup_or_null(life, o->db);
    s->options.data = dup_or_null(life, o->data);
    s->options.who = arena_strdup(life, o->who ? o->who : "");
    s->options.pg_bin = dup_or_null(life, o->pg_bin);
    s->options.pg_user = dup_or_null(life, o->pg_user);
    if (!o->clock)
        s->options.clock = &clock_system;
}

/* ---- a named server ---- */

struct address {
    const char *host, *port, *dbname;
};

static const char *or_environment(
        struct arena *life, const char *value, const char *name, const char *otherwise)
{
    if (!value || !*value)
        value = getenv(name);
    return arena_strdup(life, value && *value ? value : otherwise);
}

/* Where --db leads, for people and as the key of its socket directory. */
static enum err read_address(
        struct arena *life, const char *db, struct fault *f, struct address *ret)
{
    char *why = NULL;
    bool is_name = !strstr(db, "://") && !strchr(db, '=');
    PQconninfoOption *all = PQconninfoParse(is_name ? "" : db, &why);
    if (!all) {
        struct str text = str_trim(str_of(why ? why : "it cannot be read"));
        enum err e = fault_set(f, ERR_RANGE, "--db is wrong: %.*s", (int)text.len, text.ptr);
        fault_hint(f, "Write it like postgresql://user@host:5432/database.");
        PQfreemem(why);
        return e;
    }
    const char *host = NULL, *hostaddr = NULL, *port = NULL, *dbname = is_name ? db : NULL,
               *user = NULL;
    for (PQconninfoOption *o = all; o->keyword; o++) {
        const char **field = strcmp(o->keyword, "host") == 0       ? &host
                             : strcmp(o->keyword, "hostaddr") == 0 ? &hostaddr
                             : strcmp(o->keyword, "port") == 0     ? &port
                             : strcmp(o->keyword, "dbname") == 0   ? &dbname
                             : strcmp(o->keyword, "user") == 0     ? &user
                                                                   : NULL;
        if (field && o->val)
            *field = o->val;
    }
    ret->host = or_environment(life, host ? host : hostaddr, "PGHOST", "localhost");
    ret->port = or_environment(life, port, "PGPORT", "5432");
    ret->dbname = or_environment(life, dbname, "PGDATABASE", user ? user : "postgres");
    PQconninfoFree(all);
    return OK;
}

static const char *address_key(struct arena *life, const struct address *a)
{
    return arena_printf(life, "%s:%s/%s", a->host, a->port, a->dbname);
}

static enum err open_named(struct arena *life, struct store *s, struct fault *f)
{
    struct address a;
    enum err e = read_address(life, s->options.db, f, &a);
    if (e)
        return e;
    struct account me = {.uid = geteuid(), .gid = getegid(), .name = "you"};
    const char *key = address_key(life, &a);
    s->run_dir = rundir_path(life, NULL, key, me.uid);
    if (s->options.role == STORE_ENGINE)
        e = rundir_prepare(life, NULL, key, &me, f, &s->run_dir);
    if (e)
        return e;
    s->conninfo = s->options.db;
    s->describe = arena_printf(life, "PostgreSQL at %s", key);
    return OK;
}

/* ---- the private server ---- */

static enum err open_private(struct arena *life, struct store *s, struct fault *f)
{
    if (!s->options.data) {
        enum err e =
                fault_set(f, ERR_RANGE, "neither a data directory nor a database is named");
        fault_hint(f, "Give --data DIR or --db URL.");
        return e;
    }
    enum err e = embedded_open(life, &s->options, f, &s->embedded);
    if (e)
        return e;
    s->run_dir = s->embedded->run_dir;
    s->conninfo = s->embedded->conninfo;
    s->engine_running = s->embedded->engine_running;
    s->describe = arena_printf(life, "the private PostgreSQL in %s", s->embedded->data);
    return OK;
}

void store_target(const struct store *s, struct conn_target *ret_target)
{
    *ret_target = (struct conn_target){
            .conninfo = s->conninfo,
            .name = s->options.role == STORE_ENGINE ? "vigil engine" : "vigil command",
    };
}

enum err store_connect(struct store *s, struct fault *f)
{
    struct conn_target t;
    if (s->conn.pg && PQstatus(s->conn.pg) == CONNECTION_OK)
        return OK;
    s->listening = 0;
    store_target(s, &t);
    return conn_open(&s->conn, &t, connect_within, f);
}

static bool has_no_database(const struct fault *f)
{
    return strstr(f->message, "database") && strstr(f->message, "does not exist");
}

/* The engine whose server it is makes it in this very moment. */
static enum err wait_for_database(struct store *s, struct fault *f)
{
    msec until = clock_mono(&clock_system) + patience;
    for (;; pause_ms(50)) {
        enum err e = store_connect(s, f);
        if (!e || !has_no_database(f))
            return e;
        if (clock_mono(&clock_system) < until)
            continue;
        e = fault_set(f, ERR_STORE, "the running engine has not made its database yet");
        fault_hint(f, "Try again in a moment; if that does not help see what the engine says.");
        return e;
    }
}

/* A new cluster has no database "vigil" yet.  Interrupted here, the next one makes it. */
static enum err connect_private(struct store *s, struct fault *f)
{
    enum err e = store_connect(s, f);
    if (!e || !has_no_database(f))
        return e;
    if (s->engine_running)
        return wait_for_database(s, f);
    struct conn_target t;
    store_target(s, &t);
    t.dbname = "postgres";
    e = conn_open(&s->conn, &t, connect_within, f);
    if (!e)
        e = conn_script(&s->conn, "CREATE DATABASE vigil", f);
    conn_close(&s->conn);
    return e ? e : store_connect(s, f);
}

/* ---- both ---- */

static void new_session(char session[40])
{
    unsigned char bytes[16];
    CHECK(getrandom(bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(session + 2 * i, 3, "%02x", bytes[i]);
}

/* A command on a named server learns of an engine by trying the lock, shared and only for
 * the length of a statement. */
static enum err find_engine(struct store *s, struct fault *f)
{
    RESULT r = NULL;
    enum err e = conn_run(&s->conn, SQL_COMMAND_LOCK, NULL, f, &r);
    if (!e && PQgetvalue(r, 0, 0)[0] != 't')
        e = engine_lock_is_held(&s->conn, f, &s->engine_running);
    return e;
}

/* An engine that is just making or changing the schema is waited for. */
static enum err bring_up_to_date(struct store *s, struct fault *f)
{
    msec until = clock_mono(&clock_system) + patience;
    for (;; pause_ms(50)) {
        enum err e = migrate(&s->conn, !s->engine_running, s->options.quiet,
                clock_wall(s->options.clock), f);
        if (e != ERR_BUSY || clock_mono(&clock_system) >= until)
            return e;
    }
}

static enum err enter(struct store *s, struct fault *f)
{
    enum err e = s->embedded ? connect_private(s, f) : store_connect(s, f);
    if (!e && !s->embedded && s->options.role == STORE_COMMAND)
        e = find_engine(s, f);
    if (!e && s->options.role == STORE_ENGINE) /* first: a running engine's schema stays */
        e = engine_lock_take(&s->conn, s, f);
    if (!e && !s->options.bare)
        e = bring_up_to_date(s, f);
    if (!e && s->options.role == STORE_ENGINE)
        new_session(s->session);
    if (!e && s->options.role == STORE_ENGINE && !s->options.bare)
        e = engine_lock_sign(&s->conn, s, f);
    return e;
}

enum err store_open(struct arena *life, const struct store_options *o, struct fault *f,
        struct store **ret_store)
{
    struct fault unasked;
    struct store *s = arena_new_of(life, struct store);
    if (!f)
        f = &unasked;
    *f = (struct fault){0};
    keep_options(life, o, s);
    enum err e = s->options.db ? open_named(life, s, f) : open_private(life, s, f);
    if (!e)
        e = enter(s, f);
    if (e) {
        store_close(s);
        return e;
    }
    s->control_path = arena_printf(life, "%s/control", s->run_dir);
    *ret_store = s;
    return OK;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    CHECK(!s->has_writer && !s->sweeper);
    conn_close(&s->conn);
    embedded_close(s->embedded);
    if (!s->embedded && s->session[0]) /* we were the engine here */
        (void)rmdir(s->run_dir);       /* what is still in it has an owner */
    s->embedded = NULL;
}

bool store_engine_is_running(const struct store *s)
{
    return s->engine_running;
}

const char *store_describe(const struct store *s)
{
    return s->describe;
}

const char *store_conninfo(const struct store *s)
{
    return s->conninfo;
}

const char *store_run_dir(const struct store *s)
{
    return s->run_dir;
}

const char *store_control_path(const struct store *s)
{
    return s->control_path;
}

const char *store_find_control(struct arena *life, const struct store_options *o)
{
    struct address a;
    struct stat st;
    if (o->db) {
        if (read_address(life, o->db, NULL, &a) != OK)
            return NULL;
        return arena_printf(
                life, "%s/control", rundir_path(life, NULL, address_key(life, &a), geteuid()));
    }
    if (!o->data)
        return NULL;
    const char *data = datadir_absolute(life, o->data);
    if (stat(arena_printf(life, "%s/pg", data), &st) != 0)
        return NULL;
    return arena_printf(life, "%s/control",
            rundir_path(life, arena_printf(life, "%s/run", data), data, st.st_uid));
}
