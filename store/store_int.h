/* store_int -- what the files of store/ share. */
#pragma once
#include "store/embedded.h"
#include "store/store.h"
#include <libpq-fe.h>
#include <stdatomic.h>

/* ---- statements ---- */

enum statement {
#define STATEMENT(name, text) SQL_##name,
#include "store/statements.def"
#undef STATEMENT
    SQL_COUNT
};

/* ---- conn.c: one connection, and what its errors mean ---- */

enum conn_trouble {
    CONN_FINE,
    CONN_LOST,    /* connect again; what was sent may have happened */
    CONN_WAIT,    /* nothing happened; the same may work later: disk full, deadlock, ... */
    CONN_REFUSED, /* it will not work however often it is tried */
};

struct conn {
    PGconn *pg; /* NULL: not connected */
    unsigned char prepared[(SQL_COUNT + 7) / 8];
    enum conn_trouble trouble; /* of the newest error */
    char sqlstate[6];
    /* Statements on their way whose answers have not been read: see conn_pipeline. */
    bool pipelined;
    size_t sent, sent_cap;
    PGresult ***slots; /* where each answer goes; NULL: nowhere */
    int backend;       /* process of the server's side, kept after a loss */
    msec patience;     /* for one answer; 0: half a minute */
    /* Set by another thread: stop waiting, nobody needs the answer any more. */
    const atomic_bool *give_up;
};

struct conn_target {
    const char *conninfo;
    const char *dbname; /* instead of the one in conninfo; NULL: as it says */
    const char *name;   /* application_name */
};

MUST_USE enum err conn_open(
        struct conn *c, const struct conn_target *t, msec wait, struct fault *f);
void conn_close(struct conn *c);

/* Values for one statement; texts are borrowed, numbers written into `room`. */
enum { PARAMS_MAX = 24 };

struct params {
    struct arena *scratch;
    int n;
    const char *values[PARAMS_MAX];
    int lengths[PARAMS_MAX], formats[PARAMS_MAX];
};

#define PARAMS(name, arena) struct params name = {.scratch = (arena)}
void params_int(struct params *p, int64_t n);
void params_id(struct params *p, int64_t id);      /* 0 is null */
void params_time(struct params *p, msec at);       /* MSEC_NEVER is null */
void params_text(struct params *p, const char *s); /* bad UTF-8 is repaired; NULL is null */
void params_json(struct params *p, const char *s); /* and what jsonb refuses is replaced */
void params_bool(struct params *p, bool b);
void params_bytes(struct params *p, const void *bytes, size_t len);
void params_raw_text(struct params *p, const char *s); /* bytes of a server's header */

/* Arrays are given as PostgreSQL writes them: {1,2}, {"a","b"}. */
void array_begin(struct buf *b);
void array_int(struct buf *b, int64_t n);
void array_text(struct buf *b, struct arena *scratch, const char *s);
void array_bool(struct buf *b, bool v);
void array_null(struct buf *b);
void array_end(struct buf *b);
const char *text_clean(struct arena *scratch, const char *s);
const char *json_clean(struct arena *scratch, const char *s);

/* Runs a prepared statement.  ret_result may be NULL when the rows do not matter.
 * On an error c->trouble says which kind. */
MUST_USE enum err conn_run(struct conn *c, enum statement st, const struct params *p,
        struct fault *f, PGresult **ret_result);
/* From now on statements are sent one after the other without waiting for each other's
 * answers: conn_run waits only when its rows are asked for, and reports then what went wrong
 * before; conn_send never waits.  After an error the rest is not carried out.  Ends with
 * `false`, with everything answered. */
MUST_USE enum err conn_pipeline(struct conn *c, bool on, struct fault *f);
/* Sends; *ret_result is there after conn_settle, and cleared with `life`. */
MUST_USE enum err conn_send(struct conn *c, enum statement st, const struct params *p,
        struct arena *life, struct fault *f, PGresult **ret_result);
/* Waits for what was sent. */
MUST_USE enum err conn_settle(struct conn *c, struct fault *f);
/* The same, row by row as they arrive and in PostgreSQL's binary form, so that a million of
 * them take no more memory than one. */
typedef void conn_row_fn(const PGresult *row, void *arg);
MUST_USE enum err conn_stream(
        struct conn *c, enum statement st, conn_row_fn *each, void *arg, struct fault *f);
/* What is written from now on, or once: in this transaction, is found by its keys. */
MUST_USE enum err conn_write_by_key(struct conn *c, bool once, struct fault *f);
/* Ends a transaction that failed; what the failure was is kept in `c`. */
void conn_roll_back(struct conn *c);
/* Runs a whole script (a migration), not prepared. */
MUST_USE enum err conn_script(struct conn *c, const char *sql, struct fault *f);
/* Waits for a notification (true) or until `wait` has passed; `extra_fd` also ends it. */
MUST_USE enum err conn_wait(
        struct conn *c, int extra_fd, msec wait, struct fault *f, bool *ret_notified);

void result_freep(PGresult **r);
#define RESULT CLEANUP(result_freep) PGresult *
int64_t result_int(const PGresult *r, int row, int column);      /* null is 0 */
msec result_time(const PGresult *r, int row, int column);        /* null is MSEC_NEVER */
const char *result_text(const PGresult *r, int row, int column); /* null is NULL */
int64_t result_affected(PGresult *r);

/* ---- columns.c: many rows for one statement ---- */
enum { COLUMNS_MAX = 24 };

struct column {
    uint32_t type; /* 0: nothing was put yet */
    bool has_null;
    struct buf bytes;
};

struct columns {
    struct arena *scratch;
    int count, at; /* at: where the next value goes */
    size_t rows;
    struct column all[COLUMNS_MAX];
};

void columns_init(struct columns *c, struct arena *scratch, int count);
void columns_done(struct columns *c);
#define COLUMNS(name, arena, count)                                                            \
    CLEANUP(columns_done) struct columns name;                                                 \
    columns_init(&name, arena, count)
/* Values row by row, from left to right; what is null is as for params_. */
void columns_int(struct columns *c, int64_t n);
void columns_id(struct columns *c, int64_t id);
void columns_time(struct columns *c, msec at);
void columns_bool(struct columns *c, bool b);
void columns_text(struct columns *c, const char *s);
void columns_json(struct columns *c, const char *s);
void columns_bytes(struct columns *c, const void *bytes, size_t len); /* NULL is null */
void columns_raw_text(struct columns *c, const char *s);
/* There must be rows.  The arrays are borrowed until the statement is sent. */
MUST_USE enum err columns_params(struct columns *c, struct params *p, struct fault *f);
/* conn_run with the columns as all there is; without rows nothing is run. */
MUST_USE enum err columns_run(struct conn *conn, enum statement st, struct columns *c,
        struct fault *f, PGresult **ret_result);

/* ---- zip.c ---- */
size_t zip_most(size_t len); /* what a frame of so many bytes takes at most */
MUST_USE bool zip(const void *bytes, size_t len, struct buf *out);
MUST_USE bool zip_digest(const void *bytes, size_t len, struct buf *out);
MUST_USE bool unzip(const void *bytes, size_t len, struct buf *out);
/* With others at hand, which must be the same for both. */
MUST_USE bool zip_delta(
        const void *bytes, size_t len, const void *base, size_t base_len, struct buf *out);
/* The same for digests, larger by a sixth and read in half the time. */
MUST_USE bool zip_digest_delta(
        const void *bytes, size_t len, const void *base, size_t base_len, struct buf *out);
MUST_USE bool unzip_delta(
        const void *bytes, size_t len, const void *base, size_t base_len, struct buf *out);

/* Whoever reads this frame finds out whether it is what was written. */
bool zip_has_sum(const void *bytes, size_t len);

/* ---- plain.c ---- */
/* A frame of this many bytes at most, as they are. */
enum { PLAIN_MOST = 128 << 10 };
MUST_USE bool plain(const void *bytes, size_t len, struct buf *out);
/* Where they stand in it, their sum not looked at; NULL: it is another kind of frame. */
const char *plain_contents(const void *bytes, size_t len, size_t *ret_len);

/* ---- patch.c ---- */
/* As zip_delta, where little differs; false where more does. */
MUST_USE bool patch(
        const void *bytes, size_t len, const void *base, size_t base_len, struct buf *out);

/* ---- pack.c ---- */
/* Whatever was packed is forgotten: it will be written whole. */
void store_version_pack_whole(struct store_version_job *job);

/* ---- migrate.c ---- */
struct migration {
    int number;
    const char *name, *sql;
};
extern const struct migration migrations[]; /* made from sql/ by the build */
extern const size_t migration_count;

MUST_USE enum err migrate(
        struct conn *c, bool may_change, bool quiet, msec now, struct fault *f);

MUST_USE enum err migrate_set_up_roles(struct conn *c, bool quiet, struct fault *f);

/* ---- apply*.c: a job in the transaction that is open ---- */
MUST_USE enum err apply(struct conn *c, struct store_job *job, msec now, struct arena *scratch,
        struct fault *f);
/* Of jobs of one kind, in this order, which is also that of the versions of a page. */
MUST_USE enum err apply_versions(struct conn *c, struct store_version_job *const *jobs,
        size_t n, struct arena *scratch, struct fault *f);
MUST_USE enum err apply_touches(struct conn *c, struct store_touch_job *const *jobs, size_t n,
        struct arena *scratch, struct fault *f);

/* Reads them together: all are asked for before the first is answered. */
MUST_USE enum err apply_loads(struct conn *c, struct store_load_job *const *jobs, size_t n,
        struct arena *scratch, struct fault *f);
/* A body of the store, whole, whatever it is kept as; checked against its key. */
MUST_USE enum err load_body(struct conn *c, const void *sha256, struct arena *scratch,
        struct fault *f, struct buf *body);
/* Those of an array of bodies ("{...}") that nobody has or is a delta of any more go. */
MUST_USE enum err drop_unused_bodies(
        struct conn *c, const char *bodies, struct arena *scratch, struct fault *f);

/* ---- sweep*.c: forgetting and packing, for the sweeper's thread ---- */
struct sweep_tally {
    int64_t released, packed, saved_bytes;
};
/* Releases versions of the pages ("{1,2}") fetched before `cutoff` that nobody needs. */
MUST_USE enum err sweep_release(
        struct conn *c, const char *pages, msec cutoff, struct sweep_tally *t, struct fault *f);
/* Takes away the digests of these pages that nobody compares with, where that pays. */
MUST_USE enum err sweep_digests(struct conn *c, const char *pages, struct fault *f);
/* Makes a page's older bodies deltas of their successors, where that pays. */
MUST_USE enum err sweep_pack(
        struct conn *c, int64_t page_id, struct sweep_tally *t, struct fault *f);

/* ---- sweeper.c ---- */
struct store_sweeper;
/* From any thread: the page has a new version, and it is another key than the one before. */
void sweeper_note(struct store_sweeper *w, int64_t page_id, bool is_next_key);

/* ---- open.c ---- */
struct store {
    struct store_options options;
    struct embedded *embedded; /* NULL: --db */
    const char *conninfo, *describe, *run_dir, *control_path;
    bool engine_running;
    char session[40];   /* this engine's life, in vigil_kb.engine */
    struct conn conn;   /* the caller's thread */
    unsigned listening; /* channels subscribed on conn, one bit each */
    bool has_writer;
    struct store_sweeper *sweeper; /* NULL: none runs */
};

/* Makes sure that the caller's connection is there. */
MUST_USE enum err store_connect(struct store *s, struct fault *f);
void store_target(const struct store *s, struct conn_target *ret_target);

/* ---- engine_lock.c ---- */
MUST_USE enum err engine_lock_take(struct conn *c, struct store *s, struct fault *f);
/* By an engine, or somebody who could be one. */
MUST_USE enum err engine_lock_is_held(struct conn *c, struct fault *f, bool *ret_held);
MUST_USE enum err engine_lock_sign(struct conn *c, struct store *s, struct fault *f);
/* After a loss: takes the lock again from our own dead connection, and reads the number of
 * the newest committed job.  ERR_BUSY: another engine has taken over, for good. */
MUST_USE enum err engine_lock_regain(struct conn *c, const struct store *s, int old_backend,
        struct fault *f, int64_t *ret_job);
