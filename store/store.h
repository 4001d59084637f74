/* store -- the knowledge base in PostgreSQL, and the only home of libpq.
 *
 * Owns the schema, the private server under the data directory, the reading connection of
 * a command and the writing thread of an engine.  It knows rows, not sentinels' meaning:
 * what a state word or a definition says is the engine's business.
 *
 * Promises
 *  (1) A job is one unit: a new version, its changes, the counters and the notifications
 *      they owe are committed together or not at all.
 *  (2) A job whose commit had an unknown outcome is resolved by its key and never applied
 *      twice (a version by page and number, a transition by sentinel and kind, a request
 *      by its id).
 *  (3) Jobs are applied in the order they were submitted.
 *  (4) Time is passed in; no statement reads the server's clock.
 *
 * Threads: store_open, store_query and store_run belong to the caller's thread and block;
 * they are for commands and for start-up.  A writer's jobs are submitted from the loop
 * thread, run on the writer's thread, and come back to the loop thread.
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/time.h"

struct store;

/* ---- opening ----------------------------------------------------------------------- */

enum store_role {
    STORE_ENGINE,  /* holds the engine lock until closed; a second one is refused, told who */
    STORE_COMMAND, /* uses a running engine's server, else starts one and stops it at close */
};

struct store_options {
    const char *db;   /* a PostgreSQL URL or conninfo; NULL: the private server under data */
    const char *data; /* data directory; made when missing */
    enum store_role role;
    const char *who; /* for people: "run", "list": who holds the directory */
    bool bare;       /* STORE_ENGINE: as it is found, with no schema made; for restoring */
    bool quiet;      /* do not say "making a database ..." on stderr */
    const struct clock *clock;
    const char *pg_bin;  /* directory of the server's programs; NULL: the newest installed */
    const char *pg_user; /* whom the server runs as when root starts it; NULL: "postgres" */
};

/* Opens, making and migrating what is missing.  Blocks, about 2 s on first use. */
MUST_USE enum err store_open(struct arena *life, const struct store_options *o, struct fault *f,
        struct store **ret_store);
void store_close(struct store *s); /* NULL is fine; stops the server it started */

/* Is an engine running on this database?  (STORE_COMMAND; answered at open.) */
bool store_engine_is_running(const struct store *s);

/* "the private PostgreSQL in /var/lib/vigil" or "PostgreSQL at host:port/db". */
const char *store_describe(const struct store *s);

/* What psql needs: a conninfo string that works for the invoking user. */
const char *store_conninfo(const struct store *s);

/* Directory for sockets of this database: short, 0700.  It is there while a private server or
 * an engine runs, and goes with the last of them when nothing is left in it. */
const char *store_run_dir(const struct store *s);

/* Where the engine of this database answers `status` (also when the database is away). */
const char *store_control_path(const struct store *s);

/* The same without opening anything, for when the database is away.  The path is named
 * whether an engine listens there or not; NULL: nobody can have made one. */
const char *store_find_control(struct arena *life, const struct store_options *o);

/* Filling an empty database from a dump (pg_restore is the caller's): before, which refuses
 * when it is not empty (ERR_BUSY), and after.  The store must have been opened bare. */
MUST_USE enum err store_restore_begin(struct store *s, struct fault *f);
MUST_USE enum err store_restore_end(struct store *s, struct fault *f);

/* ---- reading, for commands --------------------------------------------------------- */

/* Each is one prepared SELECT over the public views; see store/query.c for parameters. */
enum store_query {
    STORE_Q_LIST,          /* $1 state, $2 owner, $3 topic, each or NULL: of vigil.status */
    STORE_Q_SHOW,          /* $1 name: one row of vigil.status, all columns + definition */
    STORE_Q_CHANGES,       /* $1 name or NULL, $2 since (timestamptz text) or NULL, $3 limit */
    STORE_Q_CHANGES_AFTER, /* $1 name or NULL, $2 change id: those after it, by id */
    STORE_Q_CHANGE,        /* $1 name, $2 change id or NULL for the newest */
    STORE_Q_LAST_CHANGE,   /* newest change id */
    STORE_Q_EVENTS,        /* $1 name: its events, newest last */
    STORE_Q_VERSIONS,      /* $1 url */
    STORE_Q_NOTIFICATIONS, /* $1 name or NULL, $2 state or NULL */
    STORE_Q_PRESENTATION,  /* $1 change id: page_id, presentation of its sentinel */
    STORE_Q_RESEND,        /* $1 number of a notification: one row, whether it will be */
    STORE_Q_FIGURES,       /* one row: counts of sentinels by state, pages, versions, changes,
                              pending, bytes */
    STORE_Q_PAGE,          /* $1 url: when it is fetched, and why then; its newest version */
    STORE_Q_STORED, /* $1 url, $2 request: page_id, version and fetched_at of each kept */
    STORE_Q_NAMES,  /* every name, for "did you mean" */
    STORE_QUERY_COUNT
};

struct store_rows; /* lives in the arena it was asked into */

MUST_USE enum err store_query(struct store *s, enum store_query q, int nparams,
        const char *const *params, struct arena *life, struct fault *f,
        struct store_rows **ret_rows);

int store_rows_count(const struct store_rows *r);
int store_rows_columns(const struct store_rows *r);
const char *store_rows_name(const struct store_rows *r, int column);
const char *store_rows_text(const struct store_rows *r, int row, int column); /* NULL = null */
const char *store_rows_get(const struct store_rows *r, int row, const char *column);

/* How a column's text is to be written in JSON. */
enum store_type { STORE_TEXT, STORE_INT, STORE_BOOL, STORE_JSON, STORE_TIME, STORE_NAMES };
enum store_type store_rows_type(const struct store_rows *r, int column);

/* Blocks until the channel is notified, `wait` has passed (false) or the connection is
 * lost (fault).  The first call subscribes. Channels: "vigil_changes", "vigil_answers". */
MUST_USE enum err store_listen(
        struct store *s, const char *channel, msec wait, struct fault *f, bool *ret_notified);

/* Asks the running engine for something and waits for its answer (at most `wait`).
 * Verb and text as in struct store_request; the answer is the engine's own text. */
MUST_USE enum err store_ask(struct store *s, const char *verb, const char *text, msec wait,
        struct arena *life, struct fault *f, int *ret_exit_code, char **ret_answer);

/* ---- loading at start --------------------------------------------------------------- */

struct store_sentinel {
    int64_t id;
    const char *name, *owner;
    const char *definition; /* canonical text, parsed again at load */
    const char *state;      /* "waiting", "active", "disabled", "waiting-disabled", "ended" */
    msec installed_at;
    msec starts_at, ends_at;   /* nominal; MSEC_NEVER: not known (a chain), or never */
    msec started_at, ended_at; /* MSEC_NEVER: has not */
    msec entered_at;           /* when it last took its place among those who look */
    const char *url;           /* of its page */
    int64_t page_id;           /* 0 before the first page row exists */
    int64_t base_version;      /* pairs older than this do not concern it */
    int64_t last_version;      /* the newest version it was shown */
    bool has_points;           /* false: written by an older engine, see STORE_STEP_POINTS */
    const int64_t *seen;       /* the versions it will compare with, as in store_sight */
    size_t nseen;
    const char *answers; /* what its questions remember; NULL: nothing */
};

/* A further page of a sentinel over several pages. */
struct store_place {
    int64_t sentinel_id, page_id;
    unsigned place; /* from 1 */
    const char *url;
    const int64_t *seen; /* as in store_sight */
    size_t nseen;
    const char *answers;
};

struct store_page {
    int64_t id;
    const char *url;                  /* normalised */
    const char *request;              /* what is asked beyond a plain GET of it; "" nothing */
    int64_t latest_version;           /* 0: none yet */
    msec last_fetch_at, verified_at;  /* MSEC_NEVER: not yet */
    msec next_fetch_at;               /* as the newest fetch planned it */
    msec last_change_at;              /* when a version after the first was fetched */
    const char *etag, *last_modified; /* the server's own bytes, newest; NULL: none */
    const char *error;                /* why the newest fetch failed; NULL: it did not */
    int64_t fetches, failures;        /* failures in a row */
    const char *learned;              /* JSON of fetch/learn.h, NULL: nothing learned */
    struct sha256 body;               /* of the latest version */
};

/* Rows come one by one, in the order they were made, however many there are; their texts
 * last until `each` returns. */
MUST_USE enum err store_load_sentinels(struct store *s, struct fault *f,
        void (*each)(const struct store_sentinel *row, void *arg), void *arg);
/* After the sentinels: by sentinel and place; by sentinel and time. */
struct store_constituent;
MUST_USE enum err store_load_places(struct store *s, struct fault *f,
        void (*each)(const struct store_place *row, void *arg), void *arg);
MUST_USE enum err store_load_constituents(struct store *s, struct fault *f,
        void (*each)(const struct store_constituent *row, void *arg), void *arg);
/* Hosts whose validators are not believed. */
MUST_USE enum err store_load_hosts(struct store *s, struct fault *f,
        void (*each)(const char *name, msec distrusted_until, void *arg), void *arg);
MUST_USE enum err store_load_pages(struct store *s, struct fault *f,
        void (*each)(const struct store_page *row, void *arg), void *arg);

/* ---- writing: jobs ------------------------------------------------------------------ */

enum store_job_kind {
    STORE_JOB_VERSION, /* struct store_version_job */
    STORE_JOB_TOUCH,   /* struct store_touch_job */
    STORE_JOB_PLAN,    /* struct store_plan_job */
    STORE_JOB_LOAD,    /* struct store_load_job */
    /* of the outbox, see store/outbox.h */
    STORE_JOB_CLAIM,
    STORE_JOB_SETTLE,
    STORE_JOB_BULLETIN,
    STORE_JOB_PUBLISH,
};

/* Filled by whoever submits; must stay as it is until `done`.  The job's memory belongs
 * to the submitter, who gets it back in done(), on the loop thread (or in store_run). */
struct store_job {
    struct list link;
    enum store_job_kind kind;
    enum err err;       /* result: OK, or why not; a lost connection is never reported, */
    struct fault fault; /* the writer tries again until it is answered */
    void (*done)(struct store_job *job);
};

struct store_change {
    int64_t sentinel_id;
    int64_t old_version;
    unsigned inserted, deleted, updated, moved;
    const char *summary; /* one line */
    const char *detail;  /* JSON: the lists of each leaf */
    msec tick;           /* the instant it counts for; 0: when the version was fetched */
};

/* One of those a sentinel's changes are told to; what is owed to them for a change is
 * written with the change. */
struct store_tell {
    const char *method; /* "dashboard", "email", ... */
    const char *target; /* "" for the dashboard */
    bool at_commit;     /* the commit itself delivers: the database is the receiver */
    bool combined;      /* in one queue with all of the owner's */
    bool of_operator;   /* not of the definition */
};

struct store_evaluation { /* every sentinel a version was looked at for, changed or not */
    int64_t sentinel_id;
    char result;        /* 'C', 'N', 'U' */
    const char *reason; /* for U */
};

/* What a sentinel keeps in mind of a page after this version. */
struct store_sight {
    int64_t sentinel_id;
    unsigned place;      /* which of its pages */
    msec since;          /* when it took its place: the memory is of that stay */
    const int64_t *seen; /* versions by position, the newest last; 0: counted, not needed */
    size_t nseen;        /* 0: nothing new of this */
    const char *answers; /* of its questions; NULL: nothing new of this */
};

/* A change that waits for others on other pages, or one there must not be. */
struct store_constituent {
    int64_t sentinel_id;
    unsigned conjunct, part;
    bool forbids; /* it takes the place of the part's one before */
    msec at;
    int64_t old_version, new_version;
    unsigned inserted, deleted, updated, moved;
    const char *summary, *detail; /* detail NULL: none */
};

struct store_note { /* a row in vigil.events */
    int64_t sentinel_id;
    const char *kind, *detail;
};

struct store_forget { /* what a conjunct has collected; done before constituents are put */
    int64_t sentinel_id;
    unsigned conjunct;
    msec before; /* MSEC_NEVER: all of it */
};

/* What a fetch left behind, with a version or without. Absolute values: applying twice
 * is applying once. */
struct store_fetch_state {
    int64_t page_id;
    msec last_fetch_at, verified_at,
            next_fetch_at; /* MSEC_NEVER: unknown, kept as it is for verified_at */
    const char *etag, *last_modified, *error, *learned; /* NULL: none */
    int64_t fetches, failures;
    msec took; /* the newest fetch, redirects included; 0: none */
};

struct store_version_job {
    struct store_job job;
    struct store_fetch_state fetch;
    int64_t version;
    bool exists; /* the version is stored already; only who looked at it now is new */
    msec fetched_at;
    const char *media_type, *final_url, *content_type;
    struct sha256 body_sha256;
    const void *body; /* decoded bytes as received; compressed by the store */
    size_t body_bytes;
    const void *digest; /* page digest block; NULL when the page could not be parsed */
    size_t digest_bytes;
    struct store_key *key; /* of its page; NULL: not at hand, so it is written whole */
    struct {               /* by store_version_pack; NULL: the store does it */
        const void *body, *digest;
        size_t body_bytes, digest_bytes;
        const struct store_key *of; /* what they are differences of; NULL: they are whole */
        unsigned misses;            /* how often in a row a key was the next version's */
    } packed;
    const struct store_change *changes;
    size_t nchanges;
    const struct store_evaluation *evaluations;
    size_t nevaluations;
    /* sentinels whose first page this is and that were shown the version, evaluated or not;
     * what others have seen is in `sights` */
    const int64_t *seen_by;
    size_t nseen_by;
    const struct store_sight *sights;
    size_t nsights;
    const struct store_forget *forgets;
    size_t nforgets;
    const struct store_constituent *constituents;
    size_t nconstituents;
    const struct store_note *notes;
    size_t nnotes;
    int64_t *ret_change_ids; /* room for nchanges; filled before done; 0: the sentinel was
                                dropped meanwhile, so its change was not recorded */
};

/* Compresses body and digest into `life`, on any thread: it takes longer than the writing, so
 * that it is better done where there are more threads than one.  With the page's key at hand
 * only what differs from it is kept, as long as that is little. */
void store_version_pack(struct store_version_job *job, struct arena *life);

/* What a page's newest versions are kept as differences of, for whoever writes the next. */
struct store_key {
    int64_t version;
    struct sha256 body_sha256;
    char *body; /* packed; malloc'ed, as are the others */
    size_t body_bytes;
    char *plain; /* the body again, as the last version was packed with it; NULL: not kept */
    size_t plain_bytes;
    char *digest;
    size_t digest_bytes;
    bool digest_is_packed;
    unsigned misses;
};

/* After the job was done: what it wrote as the page's key; NULL: it did not. */
struct store_key *store_key_new(const struct store_version_job *job);
size_t store_key_bytes(const struct store_key *k); /* it takes in memory; NULL takes none */
void store_key_free(struct store_key *k);          /* NULL is fine */
void store_key_shrink(struct store_key *k);        /* keeps nothing twice; NULL is fine */

struct store_touch_job {
    struct store_job job;
    struct store_fetch_state fetch;
};

/* A plan is what a request, a start or an end does to sentinels: all of it or none. */
enum store_step_kind {
    STORE_STEP_CREATE,  /* insert; ret_id (and ret_page_id) are filled */
    STORE_STEP_REPLACE, /* CREATE OR REPLACE, ALTER: same id, new definition and times */
    STORE_STEP_STATE,   /* state (NULL: kept), started_at, ended_at, base_version, end_reason;
                           starts_at and ends_at unless they are 0 */
    STORE_STEP_DROP,    /* sentinel, its changes and notifications; page when unused */
    STORE_STEP_EVENT,   /* a row in vigil.events only */
    STORE_STEP_HOST,    /* `url`: a host whose validators are not believed until ends_at */
    STORE_STEP_POINTS,  /* what FROM and TO say, for a row of an older engine */
    STORE_STEP_OVERDUE, /* a fetch of page_id is, since event_at; the next one ends it */
};

struct store_step {
    enum store_step_kind kind;
    int64_t sentinel_id; /* except for CREATE */
    const char *name, *owner, *definition, *state, *url, *monitor, *fetch, *compare;
    const char *request; /* with `url`: what the page is; NULL or "": a plain GET */
    const char *from_point, *from_of, *to_point, *to_of; /* FROM, TO, and whose they name */
    int64_t page_id;
    msec installed_at, starts_at, ends_at, started_at, ended_at; /* MSEC_NEVER = null */
    msec entered_at;
    int64_t base_version;
    unsigned change_history; /* CREATE, REPLACE: versions of so many changes are kept */
    bool keeps_place;        /* REPLACE: what it looks at is the same, and where it stands */
    const char *end_reason;  /* "to-reached", "stopped", "never-started", "dependency" */
    /* CREATE, REPLACE: whom to tell; none: the dashboard */
    const struct store_tell *tells;
    size_t ntells;
    msec tell_every;          /* one message a period; 0: each at once */
    const char *topic;        /* NULL: none */
    unsigned priority;        /* 0: 1 */
    const char *presentation; /* "side", "merged", "only"; NULL: only */
    /* the row in vigil.events that goes with it; NULL: none */
    const char *event_kind;   /* "create", "start", "end", "enable", "disable", "error", ... */
    const char *event_detail; /* text; NULL: none */
    msec event_at;            /* nominal */
    msec event_actual_at;     /* when it was carried out */
    const char *const *more_urls; /* CREATE, REPLACE: its further pages */
    size_t nmore;
    int64_t *ret_more_ids; /* room for nmore */
    bool enters; /* STATE: it takes its place, and has seen base_version and no other */
    const struct store_sight *sights; /* and what it begins with on its further pages */
    size_t nsights;
    int64_t ret_id, ret_page_id;
    bool ret_takes_up; /* one of its pages has versions, and nobody watched it any more */
};

/* A page with versions that a plan's sentinels take up again. */
struct store_taken_up {
    struct store_taken_up *next;
    struct store_page page;
};

struct store_plan_job {
    struct store_job job;
    struct store_step *steps;
    size_t nsteps;
    /* the request this answers; 0: none */
    int64_t request_id;
    int exit_code;
    const char *answer;
    struct arena *life; /* where what is taken up goes; NULL: it is not wanted */
    struct store_taken_up *ret_taken_up;
};

/* Reads a stored version's digest (and body when wanted). */
struct store_load_job {
    struct store_job job;
    int64_t page_id, version;
    bool want_body;
    struct arena
            *life; /* where the texts below go, which come with the body; NULL: not wanted */
    const char *content_type, *final_url; /* NULL: none */
    struct buf digest, body;              /* initialised by the submitter, with their maximum */
    bool want_key;
    struct store_key *key; /* wanted, for the submitter to free; NULL: there is none */
    bool found;
};

/* Runs one job now, on this thread and the store's own connection: for commands. */
MUST_USE enum err store_run(struct store *s, struct store_job *job, struct fault *f);

/* ---- writing: the engine's thread --------------------------------------------------- */

struct store_writer;

/* What SQL or a command asked of the engine (table behind vigil.create_sentinel() etc.). */
struct store_request {
    int64_t id;
    const char *verb;  /* "add", "check", "enable", "disable", "stop", "drop" */
    const char *text;  /* definitions, or names one a line */
    const char *owner; /* who asked */
    bool only_own;     /* who may not touch other people's sentinels */
};

struct store_writer_hooks {
    /* All on the loop thread. */
    void (*requested)(const struct store_request *r, void *arg);
    /* The database went away (why) or is back.  Told once more, while it is away, when there
     * is another reason, also the one that it will not come back: another engine has taken
     * over the database. */
    void (*availability)(bool available, const char *why, void *arg);
    void *arg;
};

MUST_USE enum err store_writer_start(struct store *s, struct loop *loop,
        const struct store_writer_hooks *hooks, struct fault *f, struct store_writer **ret_w);
void store_writer_submit(struct store_writer *w, struct store_job *job);
size_t store_writer_pending(const struct store_writer *w); /* jobs not yet done */
bool store_writer_is_available(const struct store_writer *w);

/* Finishes what is pending when the database answers within `wait`, then ends the thread.
 * Returns how many jobs were given up (their done is called with ERR_STORE). */
size_t store_writer_stop(struct store_writer *w, msec wait);

/* ---- the sweeper: what may be forgotten, and what is kept small ----------------------- */

/* A thread with a connection of its own.  It releases versions that nobody compares with, that
 * no CHANGEHISTORY speaks of and that are older than `keep`, drops digests nobody needs,
 * and makes older bodies deltas.  It works in small transactions and never makes a commit wait
 * for longer than one of them; whatever fails is tried again in the next round. */
struct store_sweeper;

struct store_sweep_options {
    msec keep;          /* versions younger than this stay; MSEC_NEVER: all stay */
    int64_t keep_bytes; /* while bodies and digests take more, `keep` is shortened; 0: never */
    msec every;         /* a round over all pages; one with a new version has its turn soon */
};

struct store_sweep_figures {
    int64_t rounds, released, packed, saved_bytes, failures;
    int64_t kept_bytes; /* as the newest round found them; 0: not asked for */
    char error[160];    /* why the newest turn failed; "": it did not */
};

/* Before the writer, and stopped after it. */
MUST_USE enum err store_sweeper_start(struct store *s, const struct store_sweep_options *o,
        struct fault *f, struct store_sweeper **ret_w);
void store_sweeper_figures(struct store_sweeper *w, struct store_sweep_figures *ret);
void store_sweeper_stop(struct store_sweeper *w); /* NULL is fine */
