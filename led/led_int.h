/* led, inside -- what the files of this folder share.
 *
 * Three things must not be mixed up:
 *   event  an expression.  It has no state but how often it was raised.
 *   node   an event at work in one context.  It exists while an enabled rule needs it,
 *          directly or through the operators above it, and holds the operator's state.
 *   occurrence  that an event happened.  Counted, never changed once it was emitted.
 *
 * One raise goes: occurrence -> detection through the whole graph (detect.c) -> rules
 * (agenda.c).  Rules run only when detection is over, so no operator ever sees the graph
 * change under it.
 */
#pragma once
#include "base/arena.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "led/led.h"

enum {
    LED_DEPTH_MAX = 64,       /* raises inside each other */
    LED_CASCADE_MAX = 100000, /* raises that follow from one signal */
    LED_KEEP_MAX = 10000,     /* occurrences an operator keeps of one operand */
    LED_HEIGHT_MAX = 200      /* operators above each other in one expression */
};

/* A span longer than this is a mistake, and sums with it could overflow. */
#define LED_SPAN_MAX (200 * 366 * MSEC_PER_DAY)

/* ---- memory: everything comes and goes, so everything is recycled (mem.c) ---- */

enum { LED_MEM_SMALL = 65, LED_MEM_LARGE = 32 };

struct led_mem {
    struct arena *arena;
    char *chunk; /* what is left of the newest chunk */
    size_t chunk_bytes;
    void *small[LED_MEM_SMALL]; /* free blocks of 8, 16, ... 512 bytes */
    void *large[LED_MEM_LARGE]; /* free blocks of 1024, 2048, ... */
};

void *led_alloc(struct led *led, size_t bytes); /* cleared */
void led_release(struct led *led, void *block, size_t bytes);
/* An array of pointers, twice as large as `*cap` says; NULL to begin with. */
void *led_grow(struct led *led, void *array, size_t *cap);
#define led_alloc_of(led, type) ((type *)led_alloc((led), sizeof(type)))

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
    unsigned operands;    /* how many; LED_ANY_MAX means any number up to that */
    bool instant;         /* its occurrences have start == end, whatever the operands' */
    size_t state_bytes;

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
};

extern const struct led_op *const led_ops[];
extern const size_t led_op_count;
#define LED_OP(ident) extern const struct led_op led_op_##ident;
#include "led/ops.def"
#undef LED_OP

/* ---- events (event.c) ---- */

struct led_event {
    struct map_node by_id;  /* its hash is the id itself */
    struct map_node by_key; /* by name, or by operator, operands and parameter */
    const struct led_op *op;
    union {
        char *name; /* LED_PARAM_NAME; may be NULL */
        msec span;  /* LED_PARAM_SPAN */
        msec wall;  /* LED_PARAM_WALL */
        uint64_t needed;
    };
    uint64_t count;         /* primitive: times raised */
    struct led_node *nodes; /* one for each context in use */
    struct list rules;      /* oldest first, disabled ones too */
    uint32_t holds;         /* by callers */
    uint32_t users;         /* rules on it, and operands that it is */
    uint32_t occurrences;   /* alive, that point at it */
    uint8_t arity;          /* 0 once deleted */
    uint8_t arity_made;     /* what it was made with */
    uint8_t height;         /* operators above each other, this one included */
    bool is_keyed;          /* findable by key */
    bool is_deleted;
    bool is_over; /* absolute: has occurred */
    struct led_event *operands[];
};

/* What a maker asks for. */
struct led_wish {
    const struct led_op *op;
    int64_t param;
    unsigned arity;
    struct led_event *const *operands;
};
MUST_USE enum err led_event_make(struct led *led, const struct led_wish *wish, struct fault *f,
        struct led_event **ret_event);
struct led_event *led_event_new(
        struct led *led, const struct led_wish *wish, const char *name, uint64_t id);
void led_event_key(struct led *led, struct led_event *e);
void led_event_unkey(struct led *led, struct led_event *e);
/* Frees it if nothing needs it; unusing takes one need away first. */
void led_event_reap(struct led *led, struct led_event *e);
void led_event_unuse(struct led *led, struct led_event *e);
MUST_USE enum err led_span_check(const char *what, msec span, struct fault *f);

/* ---- occurrences (occurrence.c) ---- */

struct led_occurrence *led_occurrence_primitive(struct led *led, struct led_event *e, msec at);
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

/* Beyond LED_KEEP_MAX the oldest is let go and counted. */
void led_bag_add(struct led *led, struct led_bag *b, struct led_occurrence *o, int64_t note);
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

struct led_edge {
    struct list link; /* among the operand's listeners */
    struct led_node *operand;
    uint32_t role;
};

struct led_arrival {
    struct led_arrival *next;
    struct led_occurrence *o;
    uint32_t role;
};

struct led_inbox {
    struct led_arrival *first, *last;
};

struct led_node {
    struct led_event *event;
    struct led_node *next;   /* the same event in another context */
    struct list listeners;   /* edges of the nodes above */
    struct led_inbox *inbox; /* while it is queued for detection */
    uint64_t id, count;
    uint32_t users;  /* enabled rules and nodes above */
    uint32_t timers; /* set ones */
    enum led_context context;
    struct led_edge edges[]; /* one for each operand; the state follows */
};

static inline void *led_state(struct led_node *n)
{
    return &n->edges[n->event->arity];
}

struct led_node *led_node_find(const struct led_event *e, enum led_context context);
struct led_node *led_node_use(struct led *led, struct led_event *e, enum led_context context);
void led_node_unuse(struct led *led, struct led_node *n);
/* Nobody uses it yet, it uses its operands' nodes, and its state is cleared. */
struct led_node *led_node_new(
        struct led *led, struct led_event *e, enum led_context context, uint64_t id);
bool led_node_is_instant(const struct led_node *n);

/* Every node, oldest first, with a NULL behind them (view.c). */
struct led_node **led_nodes_by_age(const struct led *led, struct arena *scratch);

/* ---- detection (detect.c) ---- */

/* The node occurs: its rules are triggered, the nodes above are queued.  Takes `o` over. */
void led_emit(struct led *led, struct led_node *n, struct led_occurrence *o);
/* The same for what was mixed, as a composite detected by `detector`. */
void led_detect(struct led *led, struct led_node *n, const struct led_occurrence *detector);
/* The same as an instant, now. */
void led_detect_now(struct led *led, struct led_node *n, uint32_t missed);
void led_detect_run(struct led *led);

/* ---- timers (timer.c) ---- */

/* At one instant, in this order; catching up is what a P does at the end of a gap. */
enum led_timer_class { LED_TICK, LED_DELAY, LED_WALL, LED_CATCH_UP };

struct led_timer {
    struct heap_node heap;
    struct led_node *node;
};

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

/* ---- what P and P* share (series.c) ---- */

/* An open window and its ticks. */
struct led_series {
    struct led_timer timer; /* in the cumulative context only the oldest one's is set */
    struct led_series *next;
    struct led_occurrence *from;
    struct led_bag *collected; /* P*: the ticks; NULL until the first */
    msec last;                 /* the newest tick on its grid, or the start */
    uint32_t ticks;            /* so far */
    uint32_t missed;           /* ticks of a gap, to be reported at its end */
};

/* The state of both operators. */
struct led_series_list {
    struct led_series *first, *last;
    uint32_t count;
};

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

struct led_rule {
    struct list link; /* among its event's rules */
    struct led_event *event;
    struct led_node *node; /* NULL while disabled */
    struct led_rule_spec spec;
    uint64_t id;
    msec since;    /* created or enabled then */
    uint32_t refs; /* itself while it is not deleted, and jobs */
    bool is_deleted;
};

void led_rule_unref(struct led *led, struct led_rule *r);

struct led_job {
    struct list link;
    struct led_rule *rule;
    struct led_occurrence *o;
    unsigned depth; /* of the raise that triggered it */
};

void led_trigger(struct led *led, struct led_node *n, struct led_occurrence *o);
/* Brackets detection: begin, emit, end.  The end runs the rules. */
bool led_signal_begin(struct led *led); /* whether it is the outermost one */
void led_signal_end(struct led *led, bool is_outermost);

/* ---- the detector ---- */

struct led {
    struct led_mem mem;

    /* time: now <= real; they differ only while something is replayed */
    msec now, real;
    msec offset;    /* wall - monotonic */
    msec wall_late; /* of the absolute event being signalled */
    bool in_gap;
    struct heap delays; /* on the monotonic clock */
    struct heap walls;  /* absolute events, on the wall clock */

    /* graph */
    struct map events_by_id, events_by_key;
    uint64_t last_event_id, last_node_id, last_rule_id, last_timer, last_arrival;

    /* detection */
    struct led_mixer mixer;
    struct led_node **queue; /* a heap by id: operands before operators */
    size_t queued, queue_cap;

    /* rules */
    unsigned depth;   /* raises inside each other just now */
    uint32_t cascade; /* raises since the outermost signal began */
    bool is_running, failed;
    struct list triggered, deferred, detached;
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
    struct led_occurrence **restored; /* by index */
    size_t count, cap;                /* occurrences met so far */
};

uint64_t led_sync_below(struct led_stream *s, uint64_t v, uint64_t limit);
void led_sync_note(struct led_stream *s, int64_t *v);
void led_sync_fail(struct led_stream *s); /* what was restored does not fit */
void led_sync_u64(struct led_stream *s, uint64_t *v);
void led_sync_u32(struct led_stream *s, uint32_t *v);
void led_sync_time(struct led_stream *s, msec *v);
void led_sync_bool(struct led_stream *s, bool *v);
void led_sync_text(struct led_stream *s, char **text); /* NULL and all; led_alloc'd */
void led_sync_occurrence(struct led_stream *s, struct led_occurrence **o); /* never NULL */
void led_sync_bag(struct led_stream *s, struct led_bag *b);
/* A timer of `n`; when restoring, it is initialised and set as it was. */
void led_sync_timer(struct led_stream *s, struct led_node *n, struct led_timer *t,
        enum led_timer_class class);
/* For a list of unknown length: true while there is another one. */
bool led_sync_more(struct led_stream *s, bool more);
