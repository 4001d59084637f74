/* What the files of engine/ share.  Read engine.c for how it fits together, then life.c
 * (a sentinel's lifespan), stream.c (when to fetch), webfetch.c (fetching), visit.c (a new
 * version's way through digest, graph and store). */
#pragma once
#include "base/inbox.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/pool.h"
#include "cdg/cdg.h"
#include "engine/directory.h"
#include "engine/engine.h"
#include "engine/outbox.h"
#include "engine/request.h"
#include "engine/webrequest.h"
#include "fetch/fetch.h"
#include "fetch/backoff.h"
#include "fetch/learn.h"
#include "fetch/verdict.h"
#include "led/led.h"
#include "store/store.h"

struct engine {
    struct arena *arena;
    const struct clock *clock;
    const struct settings *settings;
    struct engine_options options;
    struct loop *loop;
    struct store *store;
    struct store_writer *writer;
    struct store_sweeper *sweeper;
    struct fetch *fetch;
    struct readers *readers; /* reading.h */
    struct pool *pool;
    struct cdg *cdg;
    struct cdg_locks *locks;
    struct directory directory;

    struct led *led;
    msec mono_shift;  /* detector's monotonic line = clock_mono + mono_shift */
    msec wall_offset; /* its wall clock = that line + this, until the clock is really set */
    struct loop_timer led_timer, overdue_timer;
    msec overdue_look; /* when it will be looked for, on the detector's line */

    struct map pages_by_id, hosts;
    struct secrets *secrets;
    uint64_t hash_key;  /* of this process, for hashes of what strangers send */
    struct list cached; /* pages of which something is in memory, oldest use first */
    size_t cached_bytes;
    int64_t next_stream_id;

    struct inbox compared; /* visits that come back from the pool */
    struct loop_waker compared_waker;
    size_t visits; /* under way */

    struct list postponed;    /* pages to fetch when the database is back or has room */
    struct list requests;     /* being carried out */
    bool available, stopping; /* the database answers; we are on the way out */
    bool replaying;           /* catching up after a restart: nothing is fetched yet */
    size_t held_bytes;        /* of bodies and digests on their way into the database */
    msec answered_at;         /* when the database last finished a job, or had none to do */
    char *away_because;
    msec away_since;

    struct loop_signal on_int, on_term;
    struct control *control;
    struct outbox *outbox;
    msec started_at;
    uint64_t changes, versions, shared_fetches, late_wakes;
    msec worst_lateness;
    msec round_began; /* see round.c */
};

/* ---- engine.c ------------------------------------------------------------------------ */

/* To be called at the beginning of whatever touches the detector: lets it catch up with the
 * present, so that what is raised now is raised now. */
void engine_catch_up(struct engine *e);
/* To be called at the end of whatever touched the detector: sets the timer anew. */
void engine_settle(struct engine *e);
msec engine_wall(const struct engine *e);
/* What the detector calls an instant is on its own line; this is the wall clock's name for
 * it.  They differ only after the wall clock jumped. */
msec engine_wall_of(const struct engine *e, msec detector);
bool engine_has_room(const struct engine *e);   /* for another fetch */
bool engine_has_memory(const struct engine *e); /* for another body */
/* Every job goes in and comes back through these. */
void engine_submit(struct engine *e, struct store_job *job);
void engine_answered(struct engine *e);
/* How long the database has not finished anything it was given; 0: it has nothing to do. */
msec engine_silence(const struct engine *e);

/* ---- life.c: a sentinel's lifespan --------------------------------------------------- */

struct life {
    struct engine *engine;
    struct sentinel *sentinel;
    struct led_event *start, *end;          /* Start(s), End(s); made when somebody listens */
    struct led_rule *start_rule, *end_rule; /* pending */
    struct place *places;                   /* one for each page it watches */
    unsigned nplaces;
    bool enabled_alone;  /* it was enabled while no engine ran */
    bool has_entered;    /* has taken its places, and the store does not know yet */
    struct joint *joint; /* while in the graph, of a condition over several pages */
};

/* A sentinel at one of its pages. */
struct place {
    struct life *life;
    unsigned number; /* among the sentinel's */
    struct webpage *page;
    struct stream *stream; /* while in the graph */
    struct list in_stream;
    bool lingers;      /* has ended, but is still owed what its last tick brings */
    bool wants_source; /* its question is about bytes, not only about the digest */
    bool looks_back;   /* it compares with more than the version before */
    bool remembers;    /* its questions take what was answered before */
    char *answers;     /* what they will remember once the visit is committed; NULL: no news */
};

/* Puts a sentinel that was just created to work; starts it if it is time.  One that replaces
 * another takes over the events others wait for; else NULL. */
void life_begin(
        struct engine *e, struct sentinel *s, struct led_event *start, struct led_event *end);
void life_give_events(
        struct sentinel *s, struct led_event **ret_start, struct led_event **ret_end);
/* ALTER: the life goes over to the new definition, which is listed then, and follows it. */
void life_move(struct sentinel *from, struct sentinel *to);
void life_altered(struct sentinel *s, bool keeps_place);
/* At start-up: `life_prepare` for every sentinel, then `life_resume` for every one. */
void life_prepare(struct engine *e, struct sentinel *s);
void life_resume(struct engine *e, struct sentinel *s);
/* `other`, which it precedes by a fixed time, has new instants. */
void life_follow(struct sentinel *s, const struct sentinel *other);
/* Ends it when what it waits for was stopped or dropped while no engine ran; its own
 * dependants follow. */
void life_give_up(struct engine *e, struct sentinel *s);
/* The earliest thing that should have happened to it; MSEC_NEVER: nothing is due. */
msec life_due(const struct engine *e, const struct sentinel *s);

void life_set_enabled(struct sentinel *s, bool enabled);
void life_stop(struct sentinel *s, const char *reason); /* ends now; the plan wrote it */
void life_leave(struct sentinel *s); /* everything undone; before it is freed */

/* ---- place.c: a sentinel at its pages ------------------------------------------------- */

struct places {
    struct place *all;
    unsigned count;
};

/* Its places as its definition says; what it had before is given up later. */
void places_take_up(struct life *l);
void places_give_up(struct places old);
struct places places_hold(const struct life *l);   /* its pages stay until given up */
struct sight *place_sight(const struct place *at); /* the sentinel's, of that page */

/* Into the graph.  `since`: when, on the wall clock; a start may be noticed a little late, and
 * the ticks count from when it was due. */
void places_enter(struct life *l, bool resume, msec since);
void places_leave(struct life *l);
void places_linger_or_leave(struct life *l);
/* The fetch it lingered for is over. */
void place_release(struct place *at);
/* What the store is to know of the further places it just took. */
void places_begin_with(struct life *l, struct arena *a, struct store_step *step);

/* ---- joint.c: what several pages find, put together ----------------------------------- */

void joint_begin(
        struct life *l, const struct cdg_joint_part *parts, size_t n, msec within, bool resume);
void joint_end(struct life *l); /* fine without one */

/* ---- stream.c: what one fetch rule sees ---------------------------------------------- */

struct stream {
    struct list of_page;
    struct webpage *page;
    int64_t id;
    msec period;   /* 0: on change, at the learned interval */
    msec interval; /* of the ticks now */
    msec opened;   /* when its first member joined, on the detector's line */
    msec last_tick;
    struct led_event *opener, *closer, *ticks;
    struct led_rule *rule;
    struct list members; /* struct place */
    unsigned nmembers;
    int64_t position;     /* of the newest version it has seen; counts up, see stream_join */
    int64_t looked;       /* how many it has seen since it opened */
    struct seen seen;     /* the versions at its newest positions */
    int64_t looking_at;   /* the version it is being shown, 0: none */
    msec look_due;        /* the instant the look under way counts for, on the wall clock */
    bool waiting;         /* for the fetch under way */
    bool closed;          /* ticks no more; its members only linger */
    msec wanted;          /* waiting: since when, on the detector's line */
    unsigned want_source; /* how many members ask about the source */
};

/* Takes a place in the stream of this page, period and phase; `entered` as the sentinel
 * says.  Resuming after a restart keeps the phase and what was seen, else the stream opens
 * now.  Returns the position that is the first one for this place. */
int64_t stream_join(struct place *at, bool resume);
void stream_leave(struct place *at);
int64_t stream_version(const struct stream *s); /* the newest it has seen, 0: none */
/* The version on its way was committed, or did not come to pass. */
void stream_saw(struct stream *s, int64_t version);
msec stream_next_tick(const struct stream *s);
void stream_close_if_all_linger(struct stream *s);
void stream_set_interval(struct stream *s, msec interval);

/* ---- webhost.c, webpage.c: one page and what is known of it -------------------------- */

/* Pages of one host share what is known of its honesty. */
struct webhost {
    struct map_node by_name;
    size_t pages;
    struct fetch_trust trust;
    char name[];
};

struct webhost *webhost_get(struct engine *e, const char *url);
void webhost_drop(struct engine *e, struct webhost *h);
void webhost_load(const char *name, msec distrusted_until, void *engine); /* at start */
void webhost_lied(struct engine *e, struct webhost *h);
void webhost_free_all(struct engine *e);

struct webpage {
    struct map_node by_id;
    struct list in_cached, in_postponed;
    struct engine *engine;
    int64_t id;
    char *url, *request;    /* beyond a plain GET of it (webrequest.h); NULL: nothing */
    struct arena *jar_life; /* of its cookies */
    struct fetch_jar *jar;  /* NULL: none yet, or none wanted */
    struct list streams;
    size_t lives; /* sentinels that name this page, in the graph or not */

    int64_t latest;     /* newest version, 0: none */
    int64_t visiting;   /* the version a visit is under way for, 0: none */
    struct sha256 body; /* of it */
    char *etag, *last_modified, *body_digest, *error;
    msec last_fetch, verified, next_fetch, took;
    msec not_before; /* after a failure: no fetch before this; MSEC_NEVER: no such wait */
    int64_t fetches, failures;
    struct fetch_learned *learned; /* NULL: nothing yet */
    struct hash128 quick;          /* of the body that came last, */
    int64_t quick_version;         /* which is that of this version */

    struct fetch_transfer *transfer; /* under way */
    bool is_back;                    /* read again for the plan that is being carried out */
    bool busy;               /* from the start of a fetch until all it led to is committed */
    bool in_round;           /* see round.c */
    bool overdue;            /* and that was written down */
    bool postponed;          /* wanted, but the database is away or its queue is full */
    unsigned kills;          /* readers it cost in a row; see visit_read.c */
    struct sha256 *killer;   /* the body that did it last; NULL: none, so nearly always */
    size_t body_bytes, held; /* of the newest body; what is counted in held_bytes for it */
    struct led_event *retry_trigger, *retry_event;
    struct led_rule *retry_rule; /* a failed fetch will be tried again */

    struct fetch_gone gone; /* 404 or 410, again and again */
    struct webhost *host;

    char *digest; /* of the newest version; NULL: not in memory */
    size_t digest_bytes;
    struct store_key *key; /* what its newest versions are kept as differences of; likewise */

    struct webframes *frames;           /* being put together; see webframes.c */
    struct webframes_seen *frames_seen; /* when they last were; NULL: it has none, or not yet */
};

/* The page a sentinel names, made when it is not there yet. */
struct webpage *webpage_of(struct engine *e, const struct sentinel *s, unsigned place);
struct webpage *webpage_find(const struct engine *e, int64_t id); /* NULL: nobody watches it */
struct webpage *webpage_load(struct engine *e, const struct store_page *row);
void webpage_free_if_unused(struct webpage *p);
void webpage_free(struct webpage *p);

/* Counts what a fetch of this page keeps in memory until it is committed. */
void webpage_hold(struct webpage *p, size_t body_bytes);

void webpage_set_text(char **to, const char *from);
void webpage_retry_cancel(struct webpage *p);
/* Writes down how the newest fetch went. */
void webpage_touch(struct webpage *p);
/* A row in the events of everybody who watches the page: it began to fail, it recovered. */
void webpage_tell(struct webpage *p, const char *kind, const char *detail);
/* How an error begins when the page is gone. */
#define WEBPAGE_GONE "gone: "
#define WEBPAGE_MISSING "missing: " /* likewise, of one that is not there today */

/* The interval of on-change sentinels, with the page's own place around it. */
msec webpage_learned_interval(const struct webpage *p);

/* Remembers or forgets the newest version's digest, and the page's key; takes the malloc'ed
 * blocks over. */
void webpage_cache(struct webpage *p, char *digest, size_t bytes, struct store_key *key);
/* Hands out what is remembered, so that nobody can evict it; NULL: nothing is. */
char *webpage_take_digest(struct webpage *p, size_t *ret_bytes);
struct store_key *webpage_take_key(struct webpage *p);

/* What the store is to know of the newest fetch; texts are borrowed from the page. */
void webpage_fetch_state(struct webpage *p, struct arena *life, struct store_fetch_state *ret);

/* A round is under way, and the page is still to be fetched in it, or being fetched. */
bool round_wants(const struct webpage *p);

/* ---- webfetch.c: what a fetch of it does --------------------------------------------- */

/* What was read from the store has its streams: a wait that was asked for, or that we owe,
 * goes on. */
void webpage_resume(struct webpage *p);
/* The stream wants to see the page as it is now. */
void webpage_want(struct webpage *p, struct stream *s);
/* The database is back, or has room again. */
void webpage_resume_postponed(struct engine *e);
/* What came back is whole and equals the newest version (now): the validators that came with
 * it are believed from here on, and an error is over. */
void webpage_readable(struct webpage *p, const char *etag, const char *last_modified);
/* It was fetched, but cannot be read: an error, never a version. */
void webpage_unreadable(struct webpage *p, const char *reason, msec asked_to_wait);
struct visit_source;
/* All of it is there: a new version, or the newest one again. */
void webpage_arrived(struct webpage *p, struct visit_source *s);
void webpage_learn(struct webpage *p, bool is_new, msec last_modified);
/* What its sentinels ask beyond a plain GET; *r is filled, with secrets, in `life`. */
void webpage_fill_request(struct webpage *p, struct arena *life, struct fetch_request *r);
/* A visit is over: what it found is committed. */
void webpage_settled(struct webpage *p);

/* ---- webframes.c: pages made of frames ------------------------------------------------ */

/* Fetches the frames of a frameset, which `main` is unless that is at hand already, and has
 * all of it arrive. */
void webframes_gather(
        struct webpage *p, const struct visit_source *main, const char *const *urls, size_t n);
/* The same, if it is a frameset that was read before. */
bool webframes_gather_seen(struct webpage *p, const struct visit_source *main);
void webframes_drop(struct webpage *p);   /* what is at hand */
void webframes_forget(struct webpage *p); /* and what is known */
/* The frames it was last put together of, borrowed; 0: it is not known to have any. */
size_t webframes_urls(const struct webpage *p, const char *const **ret);

/* ---- visit.c: a version's way through digest, graph and store ------------------------ */

struct visit_source { /* what a fetch brought; NULL for a look at what is stored */
    const char *body;
    size_t body_bytes;
    const char *content_type, *final_url;
    const char *etag, *last_modified;
    struct sha256 sha;
    msec fetched_at, last_modified_at; /* the latter MSEC_NEVER: the server does not say */
    const char *const *frames;         /* the pages it was put together of, beside its own */
    size_t nframes;
};

/* Compares the page's newest version, or the new one just fetched, for every stream that
 * waits.  The page stays busy until the commit; then webpage_settled is called. */
void visit_start(struct webpage *p, const struct visit_source *fetched);
void visit_compared(struct engine *e); /* on the loop: some come back from the pool */
/* It cost several readers in a row: the body that did is not read again. */
bool visit_is_quarantined(const struct webpage *p);
void visit_abandon(struct engine *e); /* at the very end: those that came back too late */

/* ---- overdue.c: what should have happened long ago ----------------------------------- */

enum { OVERDUE_MS = 60 * 1000 }; /* a start or end this late is; a fetch after 2 intervals */
void overdue_start(struct engine *e);
void overdue_stop(struct engine *e);
void overdue_look(struct engine *e);
void overdue_expect(const struct stream *s); /* it is new, or ticks at another interval */

/* ---- requests.c: what SQL or a command asks of a running engine ---------------------- */

void requests_take(struct engine *e, const struct store_request *r);
int requests_run_now(struct engine *e, const char *verb, const char *text, struct arena *life,
        char **answer, struct request_plan **ret_plan);

/* ---- control.c: answers `status` even when the database is away ---------------------- */

struct control;
MUST_USE enum err control_start(struct engine *e, struct fault *f);
void control_stop(struct engine *e);
/* Asks the engine behind this socket.  ERR_NET: nobody listens; ERR_BUSY: no answer came. */
MUST_USE enum err control_ask(const char *path, const char *question, struct arena *life,
        struct fault *f, char **ret_answer);
void engine_status_json(struct engine *e, struct buf *out);

/* graph.c: the event graph, the pages and who listens, in Graphviz's language. */
void engine_graph_dot(struct engine *e, struct buf *out);

/* explain_engine.c: where a sentinel stands in the graph, and what its nodes last were. */
void engine_explain_json(struct engine *e, const char *name, struct buf *out);
