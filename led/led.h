/* led -- the local event detector.
 *
 * Owns the event graph of Snoop: primitive events at the leaves, operators above them,
 * rules hung on any of them.  It knows nothing of files, sockets or clocks: time is a pair
 * of numbers that led_advance() is told, so a month passes in a test as fast as we can
 * count.  The monotonic one orders everything and carries PLUS and P; the wall one only
 * says when absolute events are due.  Every occurrence is stamped on the monotonic line,
 * which may be a virtual one that goes on across restarts of the process.
 *
 * An event is an expression.  Equal expressions are one event, whoever makes them; each
 * maker call adds a hold, led_event_drop() gives one up, and an event goes when nobody
 * holds it and no rule and no other event uses it.  The parameter context belongs to the
 * rule: the state of an expression exists once for each context in which an enabled rule
 * needs it, and exactly as long.
 *
 * One thread.  Nothing here blocks, and nothing fails but what returns `enum err`.
 * Conditions and actions may call anything here except led_advance, led_wake, led_free
 * and the snapshot functions.
 */
#pragma once
#include "base/buf.h"
#include "base/fault.h"
#include "base/time.h"

struct led;
struct led_event;
struct led_rule;

enum led_context {
    LED_UNRESTRICTED, /* every combination; for tests and small streams */
    LED_RECENT,       /* only the newest initiator, until a newer one comes */
    LED_CHRONICLE,    /* first in, first out */
    LED_CONTINUOUS,   /* each initiator opens a window, one terminator closes them all */
    LED_CUMULATIVE,   /* everything collected goes into one detection */
    LED_CONTEXT_COUNT
};

/* That something happened.  Borrowed: valid during the condition or action it is given to. */
struct led_occurrence {
    msec start, end;         /* its interval on the monotonic line; detected at `end` */
    msec late;               /* how long after `end` we came to know, 0 if in time; of a part
                              * that opened a P it is not remembered */
    uint64_t arrival;        /* grows with each occurrence */
    struct led_event *event; /* of a primitive one: its event; NULL for a tick, a composite, or
                              * a composite of which led_resume_...() knows only the time */
    uint64_t number;         /* of a primitive one: the how many-th of its event, from 1 */
    uint64_t data;           /* of a primitive one: what the raiser gave along;
                              * of a tick: the newest time on its grid that it stands for */
    uint32_t missed;         /* ticks that fell into a gap and are reported by this one */
    uint32_t refs;           /* the detector's */
    uint32_t part_count;     /* see led_part() */
    struct led_occurrence *parts[]; /* the detector's */
};

/* The primitive occurrences it was built from, by end and arrival, each once.  A primitive
 * occurrence is its own only part. */
uint32_t led_part_count(const struct led_occurrence *o);
const struct led_occurrence *led_part(const struct led_occurrence *o, uint32_t index);

/* ---- the detector ---- */

struct led *led_new(msec mono, msec wall);
void led_free(struct led *led); /* and every event and rule; NULL is fine */

/* Lets time pass up to `mono`: everything due occurs, earliest first, each at the time it
 * was due.  A wall clock that moved otherwise than the monotonic one has jumped: what it
 * jumped over occurs now, late.  Returns the monotonic time of the next deadline,
 * MSEC_NEVER if there is none. */
msec led_advance(struct led *led, msec mono, msec wall);

/* The same after a gap (the process was down, or the loop blocked): what was due meanwhile
 * is replayed as if at its time, except that the ticks an open P missed are reported by
 * one tick now, with their number in `missed`.  Its phase is kept.  A loop that is merely a
 * little late uses led_advance(), which delivers each tick at its time. */
msec led_wake(struct led *led, msec mono, msec wall);

msec led_next(const struct led *led); /* the deadline again */
msec led_now(const struct led *led);  /* while something is replayed: its virtual time */
msec led_wall(const struct led *led); /* the wall time that belongs to led_now() */

/* ---- events ---- */

/* Raised by the program.  With a name it is found again by that name; without one (NULL) it
 * is a new event each time and costs the least. */
MUST_USE struct led_event *led_primitive(struct led *led, const char *name);
struct led_event *led_event_find(const struct led *led, const char *name); /* no hold */

/* Occurs once, when the wall clock reaches `wall`, which must lie ahead. */
MUST_USE enum err led_absolute(
        struct led *led, msec wall, struct fault *f, struct led_event **ret_event);

MUST_USE enum err led_or(struct led *led, struct led_event *e1, struct led_event *e2,
        struct fault *f, struct led_event **ret_event);
MUST_USE enum err led_and(struct led *led, struct led_event *e1, struct led_event *e2,
        struct fault *f, struct led_event **ret_event);
MUST_USE enum err led_seq(struct led *led, struct led_event *first, struct led_event *then,
        struct fault *f, struct led_event **ret_event);

/* `from`, then `to`, and no `forbidden` between them. */
MUST_USE enum err led_not(struct led *led, struct led_event *forbidden, struct led_event *from,
        struct led_event *to, struct fault *f, struct led_event **ret_event);

/* `needed` different ones of the `count` events, in any order; at most LED_ANY_MAX events. */
enum { LED_ANY_MAX = 32 };
MUST_USE enum err led_any(struct led *led, unsigned needed, unsigned count,
        struct led_event *const events[], struct fault *f, struct led_event **ret_event);

/* Each `each` in the window opened by `from` and closed by `to`; A* once, at its end. */
MUST_USE enum err led_aperiodic(struct led *led, struct led_event *from, struct led_event *each,
        struct led_event *to, struct fault *f, struct led_event **ret_event);
MUST_USE enum err led_aperiodic_star(struct led *led, struct led_event *from,
        struct led_event *each, struct led_event *to, struct fault *f,
        struct led_event **ret_event);

/* A tick every `interval` in the window (from, to]; P* once, at its end, with all ticks. */
MUST_USE enum err led_periodic(struct led *led, struct led_event *from, msec interval,
        struct led_event *to, struct fault *f, struct led_event **ret_event);
MUST_USE enum err led_periodic_star(struct led *led, struct led_event *from, msec interval,
        struct led_event *to, struct fault *f, struct led_event **ret_event);

/* Once, `delay` after `of`. */
MUST_USE enum err led_plus(struct led *led, struct led_event *of, msec delay, struct fault *f,
        struct led_event **ret_event);

void led_event_hold(struct led_event *e);
void led_event_drop(struct led *led, struct led_event *e); /* gives one hold up; NULL is fine */

/* Takes the event out of the graph whoever holds it (the handles stay valid until they are
 * dropped, but raising and using it is refused).  Refused while a rule or another event uses
 * it, unless `cascade`, which deletes those first. */
MUST_USE enum err led_event_delete(
        struct led *led, struct led_event *e, bool cascade, struct fault *f);

/* Changes the interval of a P or P*, the open series included: the next tick comes at
 * last tick (or start) + interval, or now if that is over. */
MUST_USE enum err led_rearm(
        struct led *led, struct led_event *periodic, msec interval, struct fault *f);

const char *led_event_name(const struct led_event *e); /* NULL for one without */
/* Unique among the living; another one after a restore, and later ones may have it again. */
uint64_t led_event_id(const struct led_event *e);
struct led_event *led_event_by_id(const struct led *led, uint64_t id); /* no hold; or NULL */
uint64_t led_event_count(const struct led_event *e);             /* how often it was raised */
void led_event_text(const struct led_event *e, struct buf *out); /* "SEQ(A, PLUS(B, 5))" */
bool led_event_is_absolute(const struct led_event *e, msec *ret_wall); /* ret may be NULL */

/* ---- raising ---- */

/* The event occurs now; all that follows from it has happened when this returns.  Refused:
 * a deleted event, an event that is not primitive, the 65th raise inside each other, and the
 * 100,001st that follows from one. */
enum err led_raise(struct led *led, struct led_event *e, uint64_t data, struct fault *f);

/* The same as if it had been heard of at `at`, which must not lie ahead. */
enum err led_raise_at(
        struct led *led, struct led_event *e, msec at, uint64_t data, struct fault *f);

/* After a restart without a snapshot: puts back what was under way.  The rules that need
 * the event must exist again (with mode LED_PREVIOUS, for the initiator is older than they
 * are); then led_wake() brings everything up to the present.
 *
 * An open series of P or P*: opened at `opened`, its newest tick at `last_tick` (the tick's
 * `data`, which is on the grid even when it reported a gap), MSEC_NEVER if it had none. */
MUST_USE enum err led_resume_periodic(struct led *led, struct led_event *periodic,
        enum led_context context, msec opened, msec last_tick, struct fault *f);
/* A pending PLUS whose operand occurred at `since`. */
MUST_USE enum err led_resume_plus(struct led *led, struct led_event *plus,
        enum led_context context, msec since, struct fault *f);

/* ---- rules ---- */

typedef bool led_condition_fn(void *arg, const struct led_occurrence *o);
typedef void led_action_fn(void *arg, const struct led_occurrence *o);

enum led_coupling {
    LED_IMMEDIATE,          /* inside the raise, by priority */
    LED_DEFERRED,           /* at the end of the outermost raise */
    LED_DETACHED,           /* after it, as a job of its own */
    LED_DETACHED_DEPENDENT, /* likewise, and not at all if the outermost one failed */
    /* When its instant is over: every timer due at that instant has had its effect, with all
     * that followed but other settled rules.  By priority, then first come first served, each
     * as a job of its own; still before what the program raises at that instant, and before
     * the ticks that make up for a gap.  If some rules must see all that others do at the
     * same instant, whether that comes from an absolute event, a PLUS or a raise of a third
     * rule ("all ends before all starts"), the former are settled and the latter immediate.
     * Triggered by a raise of the program, they run at the end of that. */
    LED_SETTLED,
    LED_COUPLING_COUNT
};

enum led_mode {
    LED_NOW,      /* only what was built from occurrences not older than the rule */
    LED_PREVIOUS, /* older ones count too */
    LED_MODE_COUNT
};

enum { LED_PRIORITY = 1 };

struct led_rule_spec {
    led_condition_fn *condition; /* NULL: always */
    led_action_fn *action;
    void *arg;
    uint64_t key; /* the caller's: names the rule when a snapshot is restored */
    int priority; /* larger first; the usual one is LED_PRIORITY */
    enum led_context context;
    enum led_coupling coupling;
    enum led_mode mode;
};

/* The rule keeps its event alive.  Fails only for a deleted event. */
MUST_USE enum err led_rule_new(struct led *led, struct led_event *e,
        const struct led_rule_spec *spec, struct fault *f, struct led_rule **ret_rule);
void led_rule_enable(struct led *led, struct led_rule *r); /* starts empty */
/* Drops the state nobody else needs. */
void led_rule_disable(struct led *led, struct led_rule *r);
bool led_rule_is_enabled(const struct led_rule *r);
/* It never runs again, also if it is queued; NULL is fine. */
void led_rule_delete(struct led *led, struct led_rule *r);
struct led_event *led_rule_event(const struct led_rule *r);

/* For conditions and actions: the outermost raise has failed. */
void led_fail(struct led *led);

/* Told of each rule that goes because its event was deleted with `cascade`, so that whoever
 * keeps rules can forget it. */
typedef void led_gone_fn(void *ctx, struct led_rule *r, void *arg);
void led_on_rule_gone(struct led *led, led_gone_fn *gone, void *ctx);

/* ---- snapshots ---- */

/* Appends the whole state as plain bytes.  Not from inside a rule. */
MUST_USE enum err led_save(struct led *led, struct buf *out, struct fault *f);

/* Gives condition, action and arg back to a rule; the rest of the spec is as it was saved.
 * False refuses the snapshot. */
typedef bool led_bind_fn(void *ctx, struct led_rule *r, struct led_rule_spec *spec);

/* Makes a detector from such bytes, which need not be trusted.  Events come back with the
 * holds they had; they are found by their names or their rules. */
MUST_USE enum err led_restore(const void *bytes, size_t len, led_bind_fn *bind, void *ctx,
        struct fault *f, struct led **ret_led);

/* ---- looking at it ---- */

struct led_stats {
    size_t events, nodes, rules, occurrences, timers;
    size_t bytes;      /* held from the system */
    uint64_t raised;   /* primitive occurrences, ticks and absolute ones */
    uint64_t detected; /* composite ones */
    uint64_t dropped;  /* oldest ones let go because an operator held too many */
    uint64_t refused;  /* raises inside each other too deep */
};
void led_stats_get(const struct led *led, struct led_stats *ret_stats);

/* One live node of the graph: an operator in one context, or a leaf that somebody needs. */
struct led_node_view {
    uint64_t id;               /* operands have smaller ones; operators' grow with age */
    const char *operator_name; /* "primitive", "SEQ", ... */
    const struct led_event *event;
    enum led_context context;
    uint64_t occurrences;
    size_t pending_timers, rules, operand_count;
    uint64_t operands[LED_ANY_MAX]; /* ids */
    msec next;                      /* the earliest of its timers; MSEC_NEVER if none */
};
typedef void led_node_fn(void *ctx, const struct led_node_view *view);
/* Leaves first, then operators, oldest first. */
void led_each_node(const struct led *led, led_node_fn *fn, void *ctx);

const char *led_context_name(enum led_context c);
bool led_context_parse(const char *text, enum led_context *ret_context);
