/* led, inside -- what the files of this folder share.
 *
 * Three things must not be mixed up:
 *   event  an expression.  It has no state but how often it was raised.
 *   node   an operator at work in one context.  It exists while an enabled rule needs it,
 *          directly or through the operators above it, and holds the operator's state.
 *          A leaf (an event without operands) has no use for a context and needs no node:
 *          whoever listens to it hangs on the event itself.
 *   occurrence  that an event happened.  Counted, never changed once it was emitted.
 *
 * One raise goes: occurrence -> detection through the whole graph (detect.c) -> rules
 * (agenda.c).  Rules run only when detection is over, so no operator ever sees the graph
 * change under it.
 *
 * There may be millions of everything but operators, so the structs below are packed: they
 * name each other by links of four bytes, what few have stands behind what all have, and what
 * can be found is not kept.
 */
#pragma once
#include "base/arena.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "led/led.h"
#include "led/mem.h"

enum {
    LED_DEPTH_MAX = 64,       /* raises inside each other */
    LED_CASCADE_MAX = 100000, /* raises that follow from one signal */
    LED_KEEP_MAX = 10000,     /* occurrences an operator keeps of one operand */
    LED_HEIGHT_MAX = 200      /* operators above each other in one expression */
};

/* A span longer than this is a mistake, and sums with it could overflow. */
#define LED_SPAN_MAX (200 * 366 * MSEC_PER_DAY)

/* ---- operators: one file and one row in ops.def each ---- */

struct led_node;
struct led_timer;
struct led_stream;

enum led_param {
    LED_PARAM_NONE,
    LED_PARAM_NAME,
    LED_PARAM_WALL,
    LED_PARAM_SPAN,
    LED_PARAM_NEEDED
};

struct led_op {
    const char *name;
    enum led_param param; /* what the event carries besides its operands */
    unsigned operands;    /* how many, 0 for a leaf; LED_ANY_MAX: any number up to that */
    bool instant;         /* its occurrences have start == end, whatever the operands' */
    size_t state_bytes;   /* of a node; of a leaf: behind its event */

    /* All optional.  A node comes alive with cleared state. */
    void (*open)(struct led *led, struct led_node *self);
    void (*notify)(
            struct led *led, struct led_node *self, unsigned role, struct led_occurrence *o);
    void (*expire)(struct led *led, struct led_node *self, struct led_timer *timer);
    void (*rearm)(struct led *led, struct led_node *self); /* its interval has changed */
    void (*resume)(struct led *led, struct led_node *self, struct led_occurrence *from,
            msec last_tick);
    void (*close)(struct led *led, struct led_node *self);
    /* Saves or restores the state, whichever the stream does. */
    void (*sync)(struct led_stream *s, struct led_node *self);

    /* The same for leaves: the first who needs it has come, the last has gone. */
    void (*leaf_open)(struct led *led, struct led_event *self);
    void (*leaf_close)(struct led *led, struct led_event *self);
    void (*leaf_sync)(struct led_stream *s, struct led_event *self);
};

extern const struct led_op *const led_ops[];
extern const size_t led_op_count;
#define LED_OP(ident) extern const struct led_op led_op_##ident;
#include "led/ops.def"
#undef LED_OP

/* ---- events (event.c) ---- */

/* Who listens to a leaf or a node: see listeners.c. */
struct led_listeners {
    uint32_t who : 31; /* a link */
    uint32_t is_row : 1;
};

struct led_event {
    led_link next_keyed; /* see index.c */
    uint32_t holds;      /* by callers */
    uint32_t users;      /* rules on it, and events whose operand it is */
    uint8_t op;          /* its place in led_ops */
    uint8_t arity;       /* see led_arity() */
    uint8_t height;      /* operators above each other, this one included */
    bool is_keyed : 1;   /* findable by key */
    bool is_deleted : 1; /* out of the graph, though somebody holds it */
    bool is_over : 1;    /* absolute: has occurred */
    bool has_name : 1;   /* primitive: it stands behind the event */
    union {
        uint64_t count; /* primitive: times raised */
        int64_t param;  /* of any sort: */
        msec span;      /* LED_PARAM_SPAN */
        msec wall;      /* LED_PARAM_WALL */
        uint64_t needed;
    };
    led_link rules; /* the oldest; disabled ones too */
    union {
        led_link nodes;                 /* operator: one for each context in use */
        struct led_listeners listeners; /* leaf */
    };
    union {
        struct {                  /* leaf */
            uint32_t needs;       /* enabled rules and listeners */
            uint32_t occurrences; /* alive, that point at it */
        };
        struct { /* operator */
            struct {
            } first;
            led_link operands[];
        };
    };
};

static inline const struct led_op *led_op(const struct led_event *e)
{
    return led_ops[e->op];
}

static inline bool led_is_leaf(const struct led_event *e)
{
    return led_op(e)->operands == 0;
}

static inline struct led_event *led_operand(const struct led_event *e, unsigned role)
{
    return led_linked(e, e->operands[role]);
}

/* How many operands it has now: a deleted event has let them go. */
static inline unsigned led_arity(const struct led_event *e)
{
    return e->is_deleted ? 0 : e->arity;
}

/* What stands behind a leaf: a name, or state_bytes of its operator. */
static inline void *led_leaf_state(struct led_event *e)
{
    return e + 1;
}

/* Whether its occurrences always have start == end. */
bool led_event_is_instant(const struct led_event *e);

/* ---- the index of events (index.c) ---- */

struct led_index {
    uint64_t *starts;  /* a bit for each grain of memory: whether an event starts there */
    size_t start_cap;  /* in words */
    led_link *buckets; /* chains of those that can be found by what they are */
    uint32_t bucket_count, keyed;
};

void led_index_add(struct led *led, struct led_event *e);
void led_index_remove(struct led *led, struct led_event *e);
/* Every event, deleted ones too: for (size_t at = 0; (e = led_index_next(led, &at));) */
struct led_event *led_index_next(const struct led *led, size_t *at);
size_t led_index_bytes(const struct led *led);
void led_index_done(struct led *led);

/* What a maker asks for. */
struct led_wish {
    const struct led_op *op;
    int64_t param;
    unsigned arity;
    struct led_event *const *operands;
};
size_t led_op_index(const struct led_op *op);
MUST_USE enum err led_event_make(struct led *led, const struct led_wish *wish, struct fault *f,
        struct led_event **ret_event);
/* Not yet in the index. */
struct led_event *led_event_new(struct led *led, const struct led_wish *wish, const char *name);
void led_event_key(struct led *led, struct led_event *e);   /* findable (index.c) */
void led_event_unkey(struct led *led, struct led_event *e); /* no longer */
struct led_event *led_event_keyed(const struct led *led, const struct led_wish *wish);
/* Frees it if nothing needs it; unusing takes one need away first. */
void led_event_reap(struct led *led, struct led_event *e);
void led_event_unuse(struct led *led, struct led_event *e);
MUST_USE enum err led_span_check(const char *what, msec span, struct fault *f);

/* ---- occurrences (occurrence.c) ---- */

/* Of a leaf, which counts it. */
struct led_occurrence *led_occurrence_leaf(struct led *led, struct led_event *e, msec at);
/* One that happened before, told by what identifies it; `e` is NULL if no leaf was it. */
struct led_occurrence *led_occurrence_again(
        struct led *led, struct led_event *e, msec at, uint64_t arrival, uint64_t number);
struct led_occurrence *led_occurrence_tick(
        struct led *led, msec at, uint64_t number, msec nominal);
struct led_occurrence *led_occurrence_new(struct led *led, uint32_t parts);
static inline struct led_occurrence *led_ref(struct led_occurrence *o)
{
    o->refs++;
    return o;
}
void led_unref(struct led *led, struct led_occurrence *o);

/* Composites are mixed from occurrences: led_mix() each, then take what came out.  Late
 * and missed are those of `detector`, the one at whose arrival it was detected. */
void led_mix(struct led *led, struct led_occurrence *o);
struct led_occurrence *led_mix_take(struct led *led, const struct led_occurrence *detector);
struct led_occurrence *led_mix_take_at(struct led *led, msec at);

struct led_mixer {
    struct led_occurrence **parts;
    size_t count, cap;
    msec start, end;
    bool is_sorted;
};

/* ---- bags: occurrences an operator keeps, oldest first (bag.c) ---- */

struct led_cell {
    struct led_cell *next;
    struct led_occurrence *o;
    int64_t note; /* the operator's */
};

struct led_bag {
    struct led_cell *first, *last;
    uint32_t count;
};

/* Beyond LED_KEEP_MAX the oldest is let go and counted; the second leaves that to the caller.
 */
void led_bag_add(struct led *led, struct led_bag *b, struct led_occurrence *o, int64_t note);
void led_bag_put(struct led *led, struct led_bag *b, struct led_occurrence *o, int64_t note);
void led_bag_clear(struct led *led, struct led_bag *b);
/* Removes the cell after `before` (NULL: the first). */
void led_bag_cut(struct led *led, struct led_bag *b, struct led_cell *before);

/* ---- what several operators do alike (pair.c) ---- */

typedef bool led_fits_fn(const struct led_cell *from, const struct led_occurrence *o);
bool led_fits_before(const struct led_cell *from, const struct led_occurrence *o);
bool led_fits_always(const struct led_cell *from, const struct led_occurrence *o);

/* Pairs `o` with what fits in `from` the way `context` says; true if anything was detected. */
bool led_pair(struct led *led, struct led_node *self, enum led_context context,
        struct led_bag *from, led_fits_fn *fits, struct led_occurrence *o);
/* Keeps an initiator: alone in the recent context, behind the others elsewhere. */
void led_initiate(struct led *led, struct led_node *self, struct led_bag *from,
        struct led_occurrence *o, int64_t note);

/* ---- nodes (node.c) ---- */

/* 32 bytes; the state follows. */
struct led_node {
    led_link event;
    led_link next; /* the same event in another context */
    struct led_listeners listeners;
    uint32_t users; /* enabled rules and listeners */
    uint64_t count; /* occurrences */
    uint64_t id : 56;
    enum led_context context : 8;
};

static inline struct led_event *led_event_of(const struct led_node *n)
{
    return led_linked(n, n->event);
}

/* Every node of an event, deleted or not: a leaf has none. */
static inline struct led_node *led_node_first(const struct led_event *e)
{
    return led_is_leaf(e) ? NULL : led_linked(e, e->nodes);
}

static inline struct led_node *led_node_next(const struct led_node *n)
{
    return led_linked(n, n->next);
}

static inline void *led_state(struct led_node *n)
{
    return n + 1;
}

/* ---- who listens (listeners.c) ---- */

/* One whose id is larger than any before. */
void led_listeners_add(struct led *led, struct led_listeners *l, struct led_node *n);
void led_listeners_remove(struct led *led, struct led_listeners *l, struct led_node *n);
/* Each: for (size_t i = 0; (n = led_listeners_next(l, &i));) */
struct led_node *led_listeners_next(const struct led_listeners *l, size_t *i);

/* Of an operator; NULL if it is not at work in that context. */
struct led_node *led_node_find(const struct led_event *e, enum led_context context);
/* Somebody needs the event in that context; makes what nodes there must be.  Or no longer. */
void led_need(struct led *led, struct led_event *e, enum led_context context);
void led_unneed(struct led *led, struct led_event *e, enum led_context context);
/* Nobody needs it yet, it listens to its operands, and its state is cleared. */
struct led_node *led_node_new(
        struct led *led, struct led_event *e, enum led_context context, uint64_t id);
/* Whether the operand has an earlier role, too: it is listened to once. */
bool led_operand_is_repeated(const struct led_event *e, unsigned role);
/* A need counted, by somebody who comes with a snapshot; false if there is no such node. */
bool led_need_restored(struct led *led, struct led_event *e, enum led_context context);

/* Every node, oldest first, with a NULL behind them (view.c). */
struct led_node **led_nodes_by_age(const struct led *led, struct arena *scratch);

static inline bool led_leaf_is_needed(const struct led_event *e)
{
    return led_is_leaf(e) && e->needs;
}

/* ---- detection (detect.c) ---- */

struct led_arrival {
    uint64_t id;    /* of the node */
    uint64_t order; /* its last role first, then as they came */
    led_link to;
    led_link o;
};

/* The leaf or node occurs: its rules are triggered, who listens is queued.  Takes `o` over. */
void led_emit_leaf(struct led *led, struct led_event *e, struct led_occurrence *o);
void led_emit(struct led *led, struct led_node *n, struct led_occurrence *o);
/* The same for what was mixed, as a composite detected by `detector`. */
void led_detect(struct led *led, struct led_node *n, const struct led_occurrence *detector);
/* The same as an instant, now. */
void led_detect_now(struct led *led, struct led_node *n, uint32_t missed);
void led_detect_run(struct led *led);

/* ---- timers (timer.c) ---- */

/* At one instant, in this order; catching up is what a P does at the end of a gap. */
enum led_timer_class { LED_TICK, LED_DELAY, LED_WALL, LED_CATCH_UP };

/* On the monotonic clock.  Absolute events have a bare heap_node, on the wall clock. */
struct led_timer {
    struct heap_node heap;
    led_link node;
    led_link next; /* the owner's: the place would be empty otherwise */
};

static inline struct led_node *led_timer_node(const struct led_timer *t)
{
    return led_linked(t, t->node);
}

/* What orders timers that are due at one instant: a new registration. */
uint64_t led_timer_order(struct led *led, enum led_timer_class class);
uint64_t led_timer_reorder(
        uint64_t order, enum led_timer_class class); /* the same, but for that */
void led_timer_init(
        struct led *led, struct led_timer *t, struct led_node *n, enum led_timer_class class);
void led_timer_set(struct led *led, struct led_timer *t, msec at);
void led_timer_set_class(struct led_timer *t, enum led_timer_class class); /* before setting */
enum led_timer_class led_timer_class(const struct led_timer *t);
void led_timer_stop(struct led *led, struct led_timer *t);
static inline bool led_timer_is_set(const struct led_timer *t)
{
    return heap_node_is_in(&t->heap);
}
void led_absolute_expire(struct led *led, struct heap_node *timer); /* absolute.c */

/* ---- what P and P* share (series.c) ---- */

/* What opened a window.  Of a raise that carried no data, which is usual, a few numbers are
 * enough to make the occurrence again; any other is kept. */
struct led_opener {
    msec end;
    uint64_t arrival; /* 0: it is kept */
    union {
        uint64_t number;
        struct led_occurrence *kept;
    };
};

/* An open window and its ticks.  The timer's tag counts the ticks so far, its next is the
 * next younger series, the newest one's the oldest. */
struct led_series {
    struct led_timer timer; /* in the cumulative context only the oldest one's is set */
    struct led_opener from;
    msec last;                  /* the newest tick on its grid, or the start */
    struct led_bag collected[]; /* P*: one, of its ticks */
};

/* The state of both operators. */
struct led_series_ring {
    led_link newest;
    uint32_t count;
};

/* Each of a node, oldest first; the current one may be cut. */
struct led_series *led_series_oldest(struct led_node *self);
struct led_series *led_series_after(struct led_node *self, const struct led_series *s);
void led_series_mix(struct led *led, const struct led_series *s); /* its opener */
void led_series_open(
        struct led *led, struct led_node *self, struct led_occurrence *from, msec last_tick);
/* `to` has come: calls `report` (if any) for each series it closes, then cuts that. */
typedef void led_series_fn(struct led *led, struct led_node *self, struct led_series *s,
        struct led_occurrence *to);
void led_series_end(struct led *led, struct led_node *self, struct led_occurrence *to,
        led_series_fn *report);
/* Notes that `s` ticked at `at` and sets its timer for the next tick. */
void led_series_next(struct led *led, struct led_series *s, msec at);
void led_series_resume(
        struct led *led, struct led_node *self, struct led_occurrence *from, msec last_tick);
void led_series_rearm(struct led *led, struct led_node *self);
void led_series_close(struct led *led, struct led_node *self);
void led_series_sync(struct led_stream *s, struct led_node *self);

/* ---- rules (rule.c) and their execution (agenda.c) ---- */

/* What many rules have alike, kept once: see rule.c. */
struct led_manner {
    struct map_node by_hash;
    struct led_rule_spec spec; /* without arg and key */
    uint32_t rules;
};

struct led_rule {
    led_link next, prev; /* among its event's rules, a ring without a head */
    led_link event;
    led_link manner;
    void *arg;
    uint64_t key;
    msec since;         /* created or enabled then */
    uint32_t refs : 30; /* itself while it is not deleted, and jobs */
    bool is_enabled : 1, is_deleted : 1;
};

static inline const struct led_rule_spec *led_rule_spec(const struct led_rule *r)
{
    return &((const struct led_manner *)led_linked(r, r->manner))->spec;
}

/* The rule stands behind its event's others, and is not enabled. */
struct led_rule *led_rule_add(
        struct led *led, struct led_event *e, const struct led_rule_spec *spec);
void led_rule_set_spec(struct led *led, struct led_rule *r, const struct led_rule_spec *spec);
/* Oldest first; NULL at the end. */
struct led_rule *led_rule_first(const struct led_event *e);
struct led_rule *led_rule_next(const struct led_rule *r);
void led_rule_unref(struct led *led, struct led_rule *r);

struct led_job {
    struct list link;
    struct led_rule *rule;
    struct led_occurrence *o;
    unsigned depth; /* of the raise that triggered it */
};

/* The event has occurred, in that context unless it is a leaf. */
void led_trigger(struct led *led, const struct led_event *e, enum led_context context,
        struct led_occurrence *o);
/* Brackets detection: begin, emit, end.  The end runs the rules. */
bool led_signal_begin(struct led *led); /* whether it is the outermost one */
void led_signal_end(struct led *led, bool is_outermost);
void led_settle(struct led *led); /* the instant is over */

/* ---- the detector ---- */

struct led {
    struct led_mem mem;

    /* time: now <= real; they differ only while something is replayed */
    msec now, real;
    msec offset; /* wall - monotonic */
    bool in_gap;
    struct heap delays; /* on the monotonic clock */
    struct heap walls;  /* absolute events, on the wall clock */

    /* graph */
    struct led_index index;
    struct map manners;
    uint64_t last_node_id, last_timer, last_arrival;
    size_t needed_leaves;

    /* detection */
    struct led_mixer mixer;
    struct led_arrival *queue; /* a heap: operands before operators */
    size_t queued, queue_cap;
    uint64_t last_queued; /* since it was empty */

    /* rules */
    unsigned depth;   /* raises inside each other just now */
    uint32_t cascade; /* raises since the outermost signal began */
    bool is_running, failed;
    bool is_passing; /* time passes: the instant may not be over yet */
    struct list triggered, deferred, detached, settled;
    led_gone_fn *gone;
    void *gone_ctx;

    struct led_stats stats;
};

/* ---- snapshots (snapshot.c, stream.c) ---- */

/* One function of an operator both saves and restores: it names its fields in order.  When
 * restoring, a stream that has failed yields zeros and empty bags. */
struct led_stream {
    struct led *led;
    bool is_saving, has_failed;
    struct buf *out;
    const unsigned char *in;
    size_t left;
    struct map saved; /* occurrence -> index */
    struct arena *scratch;
    struct led_event **events; /* operands first; the first has number 1 */
    size_t event_count, event_cap;
    uint32_t *numbers;                /* saving: of the events, by their place in memory */
    struct led_occurrence **restored; /* by index */
    size_t count, cap;                /* occurrences met so far */
};

/* An array of pointers in scratch with room for one more. */
void *led_sync_room(struct led_stream *s, void *pointers, size_t count, size_t *cap);
uint64_t led_sync_below(struct led_stream *s, uint64_t v, uint64_t limit);
void led_sync_note(struct led_stream *s, int64_t *v);
void led_sync_fail(struct led_stream *s); /* what was restored does not fit */
void led_sync_u64(struct led_stream *s, uint64_t *v);
void led_sync_u32(struct led_stream *s, uint32_t *v);
void led_sync_time(struct led_stream *s, msec *v);
void led_sync_bool(struct led_stream *s, bool *v);
void led_sync_text(struct led_stream *s, char **text);           /* NULL and all; in scratch */
void led_sync_event(struct led_stream *s, struct led_event **e); /* deleted or not; NULL */
void led_sync_occurrence(struct led_stream *s, struct led_occurrence **o); /* never NULL */
void led_sync_bag(struct led_stream *s, struct led_bag *b);
/* A timer of `n`; when restoring, it is initialised and set as it was. */
void led_sync_timer(struct led_stream *s, struct led_node *n, struct led_timer *t,
        enum led_timer_class class);
/* For a list of unknown length: true while there is another one. */
bool led_sync_more(struct led_stream *s, bool more);
