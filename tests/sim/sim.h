/* sim -- the simulated world: the whole engine under a clock that is told the time.
 *
 * Grammar, detector, graph, pages, engine and store are the real ones, on a real PostgreSQL;
 * only the clock and the network are ours.  Time stands still while the engine has anything
 * to do, and then jumps to the next thing that is due, so a month takes as long as its work.
 *
 * Three lines of time.  `elapsed` is the time that really went by in the world, which pages
 * follow; `mono` is what the machine's monotonic clock says and `wall` what its wall clock
 * says, which somebody may set.  They run alike until a scenario makes them differ.
 *
 * One thread drives everything; the engine's own threads are the engine's.
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/list.h"
#include "base/time.h"
#include "engine/settings.h"
#include <libpq-fe.h>

/* ---- database.c: one server, and a database that is as new for each scenario ---------------
 */

struct server;

MUST_USE enum err server_begin(struct arena *life, struct fault *f, struct server **ret);
void server_end(struct server *s);

struct database {
    struct server *server;
    char name[32];
    const char *conninfo;
    PGconn *sql;   /* the scenario's own eyes */
    bool is_away;  /* nobody else gets in */
    bool is_stuck; /* whoever writes waits */
};

MUST_USE enum err database_make(
        struct server *s, struct arena *life, struct fault *f, struct database *ret);
void database_done(struct database *d);
void database_down(struct database *d); /* cuts every connection but ours, lets nobody in */
void database_up(struct database *d);
void database_hold_writes(struct database *d);    /* commits wait until ... */
void database_release_writes(struct database *d); /* ... this */
bool database_has_waiters(struct database *d);    /* does one wait now? */
/* Rows as text, or NULL with the reason in `why`; free with PQclear. */
PGresult *database_query(struct database *d, const char *text, int n, const char *const *params,
        const char **why);

/* ---- network.c: the pages of the world, and fetch/fetch.h over them -------------------- */

struct sim_page {
    struct list link;
    const char *path;
    const char *body, *type;
    const char *etag, *failure;
    msec modified;    /* wall; MSEC_NEVER: the server does not say */
    msec retry_after; /* 0: none */
    msec takes;       /* an answer comes so much later */
    msec every;       /* a new text this often; 0: the text stays */
    int status;
};

struct sim_fetch { /* a request that reached the network */
    struct list link;
    const char *path;
    msec elapsed, wall;
    bool conditional;
};

struct sim_page *network_page(struct list *pages, const char *path); /* NULL: there is none */

/* ---- post.c: those who are told, and fetch/deliver.h over them -------------------------- */

struct sim_receiver { /* who is not one accepts at once */
    struct list link;
    const char *name;    /* "/path" at the site, or a mail address */
    const char *failure; /* the message does not reach it */
    const char *unseen;  /* it accepts, but nobody hears of that */
    int status;          /* HTTP's or SMTP's */
    int times;           /* it is so for so many messages; 0: for all */
    msec retry_after;    /* 0: none */
    msec takes;          /* an answer comes so much later */
};

struct sim_parcel { /* a message that was sent */
    struct list link;
    const char *to, *key;
    const char *items; /* "s1:2+s2:ended"; a mail's is "mail" */
    msec elapsed, wall;
    bool is_accepted;
};

/* ---- world.c -------------------------------------------------------------------------- */

#define SIM_HOST "http://web.test"

enum disturbance { DISTURB_NOT, DISTURB_RESTART, DISTURB_KILL, DISTURB_LOSE };

struct world {
    struct clock clock; /* first: the network finds its world by the clock it is given */
    msec elapsed, mono, wall;
    msec began; /* wall */
    struct arena *life;
    struct settings settings;
    struct database db;
    struct store *store;
    struct engine *engine; /* NULL: none runs */
    struct loop *loop;     /* the engine's */

    msec glance; /* when it next looks for what is overdue, on `mono` */

    struct list pages;   /* struct sim_page */
    struct list coming;  /* struct sim_coming, by time */
    struct list fetches; /* struct sim_fetch, in order */

    struct list receivers; /* struct sim_receiver */
    struct list parcels;   /* struct sim_parcel, in order */
    size_t flying;         /* parcels that are not answered yet */
    bool tells;            /* somebody asked to be told: messages may be owed */

    unsigned steps; /* how often the clock stopped because something was due */
    enum disturbance disturbance;
    unsigned disturb_at; /* the step; 0: at every one */
    struct fault fault;  /* the first thing that went wrong with the world itself */
    bool is_broken;
};

struct sim_coming { /* how a page or a receiver will be */
    struct list link;
    msec at;               /* elapsed */
    struct sim_page *page; /* or */
    struct sim_receiver *receiver;
};

void world_init(struct world *w, struct arena *life);
void world_done(struct world *w);
void world_put_page(struct world *w, struct sim_page *page);
void world_put_receiver(struct world *w, struct sim_receiver *receiver);

/* Each leaves the engine with nothing to do at this instant; false: world->fault says why. */
MUST_USE bool world_start(struct world *w);
bool world_stop(struct world *w, bool kill);
MUST_USE bool world_advance(struct world *w, msec span);
MUST_USE bool world_sleep(struct world *w, msec span);     /* nobody looks meanwhile */
MUST_USE bool world_set_clock(struct world *w, msec wall); /* somebody sets the wall clock */
MUST_USE bool world_database(struct world *w, bool is_up);
/* Asks for something as SQL does, or as a command does when no engine runs. */
MUST_USE bool world_ask(struct world *w, const char *verb, const char *text, int *ret_exit_code,
        const char **ret_answer);

/* ---- scenario.c: files into scenarios -------------------------------------------------- */

struct statement {
    int line;
    char *text; /* without comment */
};

struct scenario {
    const char *file, *title;
    int line;
    struct statement *statements;
    size_t nstatements;
};

MUST_USE enum err scenario_read(struct arena *life, const char *file, struct fault *f,
        struct scenario **ret_scenarios, size_t *ret_n);

enum { WORDS_MAX = 400 };
struct words {
    char *word[WORDS_MAX + 1]; /* quotes taken off; NULL at the end */
    int n;
};
void words_split(struct arena *life, const char *text, struct words *ret);

/* "2 days 3 hours", "1d12h", "90s", "0". */
bool span_parse(const char *text, msec *ret_span);
char *span_text(struct arena *life, msec span); /* "1d12h" */

/* ---- play.c: a scenario is played, once or with disturbances ---------------------------- */

enum { KNOWN_BUG_SIZE = 200 };

struct play {
    struct server *server;
    const struct scenario *scenario;
    struct world *world; /* of the run under way */
    struct arena *life;  /* likewise */
    int line;            /* of the statement under way */
    bool failed;
    bool verbose;
    struct buf *complaints;
    char *known_bug; /* room of KNOWN_BUG_SIZE; "": it should work */
    int exit_code;   /* of the newest request */
    const char *answer;
    bool refusal_is_due; /* it was refused, and nobody has said that it should be */
    enum disturbance repeat;
    bool repeat_at_each;      /* one run for each step, else one run for all of them */
    const char *disturbed_by; /* for people; NULL: this is the plain run */
};

/* Plays it and says how it went: true when everything was as expected. */
bool play_scenario(struct server *s, const struct scenario *scenario, bool verbose,
        struct buf *complaints, char known_bug[KNOWN_BUG_SIZE]);

void play_fail(struct play *p, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* expect.c: `words` after the word "expect". */
void expect(struct play *p, const struct words *words);
/* A span is the time that went by, an instant the wall clock's. */
bool is_instant(const char *text, msec elapsed, msec wall);
void expect_number(struct play *p, const char *what, const char *who, long long got,
        const char *op, const char *expected);
/* expect_told.c: `words` after the word "told", "tried", "doubled". */
void expect_told(struct play *p, char *const *words);
void expect_tried(struct play *p, char *const *words);
void expect_doubled(struct play *p, char *const *words);
/* A time on the wall clock: an ISO instant, or a span since the scenario began. */
bool wall_parse(const struct play *p, const char *text, msec *ret_wall);
