/* cdg_int -- what the files of this folder share.
 *
 * A *question* is a change type with its arguments; it and the composites above it are
 * nodes, stored once for the whole graph whoever asks (node.c).  What is asked of which
 * page, and for which version pairs, is in pages, groups and members (graph.c).
 */
#pragma once
#include "base/list.h"
#include "base/map.h"
#include "cdg/detect_int.h"

/* ---- nodes: node.c ----------------------------------------------------------------------- */

struct cdg_node {
    struct map_node by_key;
    struct list unused; /* spare, or leaving */
    uint32_t refs;
    enum cdg_op op;
    struct cdg_node *left, *right;
    struct arena *life; /* a leaf's arguments and what was made of them */
    struct cdg_leaf leaf;
    struct page_selector *region; /* NULL: the whole page */
    bool keeps;                   /* it, or something below it, keeps a state */
    bool is_keyed;                /* a leaf that is found through its words: keyword_index.c */
    void *prepared;               /* by the kind, read-only once made */
    const char *key;              /* a leaf's canonical form */

    uint64_t id;      /* never given twice */
    uint64_t left_at; /* nobody counts it since this plan was the newest */
};

struct node_table {
    struct map by_key;
    struct list spare;   /* nodes to be used again */
    struct list leaving; /* nobody counts them, but a plan may read them */
    size_t leaves, composites;
    uint64_t made;
    uint64_t newest_plan, oldest_plan; /* that are out; oldest PLAN_NONE: none is */
};
#define PLAN_NONE UINT64_MAX

/* For tables of nodes and something small; numbers we give out need no key. */
static inline uint64_t node_hash(const struct cdg_node *n, uint64_t with)
{
    uint64_t h = (n->id + (with << 40)) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}

void node_table_init(struct node_table *t);
void node_table_done(struct node_table *t);
/* The node for this expression, counted once more.  The expression was checked. */
struct cdg_node *node_ref_expr(
        struct node_table *t, struct arena *life, const struct cdg_expr *e);
void node_unref(struct node_table *t, struct cdg_node *n);
/* Plans before `oldest` are back: what only they could read goes. */
void node_table_settle(struct node_table *t, uint64_t oldest);

/* ---- rosters: roster.c ---------------------------------------------------------------------
 */

/* Who is in a group, for the graph and for plans at once. */
struct roster_entry {
    int64_t sentinel_id, base;
    struct cdg_node *root;
    unsigned part;
    bool is_keyed, keeps; /* the root, which need not be looked at to know */
};

struct roster {
    unsigned refs; /* loop thread */
    uint32_t count, cap;
    struct roster_entry *all;
    struct keyword_index *keywords; /* of all roots; NULL: there are none */
};

struct roster *roster_new(void);
struct roster *roster_ref(struct roster *r);
void roster_unref(struct roster *r);
/* These change *r, or put a changed copy there when a plan holds it. */
void roster_add(struct roster **r, const struct roster_entry *entry);
void roster_remove(struct roster **r, uint32_t number); /* the last takes its place */
size_t roster_bytes(const struct roster *r);

/* ---- pages, groups, members: graph.c ----------------------------------------------------- */

struct page_node {
    struct map_node by_id;
    int64_t id;
    struct list groups;
};

struct group {
    struct list in_page;
    struct page_node *page;
    struct cdg_compare compare;
    int64_t phase;   /* every:n: base modulo n - 1 */
    uint64_t number; /* 0: it is gone */
    struct roster *roster;
    struct record *last; /* of the plan it was last part of; NULL: none yet */
    uint32_t last_pair;  /* its pair there, */
    int64_t last_base;   /* which concerned members whose base is no later */
};

struct member {
    struct map_node by_id; /* page and sentinel */
    struct group *group;
    uint32_t number; /* in its roster */
};

/* What running a plan takes, for the next one. */
struct plan_memory {
    struct arena *shared;  /* what the questions share */
    struct arena *scratch; /* of one question at a time */
};
enum { PLANS_SPARE = 4, PLAN_KEPT_BYTES = 1 << 20 };

struct cdg {
    struct arena *life;
    struct map pages, members;
    struct node_table nodes;
    struct list spare_pages, spare_groups, spare_members;
    struct list plans; /* that are out, in the order they were taken */
    size_t ngroups, nplans, record_bytes;
    uint64_t groups_made;
    struct plan_memory spare[PLANS_SPARE]; /* empty, and ready */
    size_t nspare;
};

/* plan.c */
void plan_memory_done(struct cdg *g);

struct page_node *graph_page(const struct cdg *g, int64_t page_id);
/* The old side of the pair that `version` completes for a group; 0: none.  It is for members
 * whose base is no later. */
int64_t group_old_version(const struct group *group, int64_t version);
/* The oldest position a member with this base will compare with, once `latest` was seen: the
 * old side of its next pair. */
int64_t member_needs(struct cdg_compare c, int64_t base, int64_t latest);
/* The sentinel's members at a page; NULL: there is none (more). */
struct member *member_find(const struct cdg *g, int64_t page_id, int64_t sentinel_id);
struct member *member_next(const struct member *m);

/* ---- plans: plan.c, run.c ---------------------------------------------------------------- */

struct plan_group {
    struct group *group; /* loop thread: it is the same while it has this number */
    uint64_t number;
    struct roster *roster; /* counted */
    int64_t old;           /* position: those that came later are not concerned */
    uint32_t pair;
};

struct cdg_plan {
    struct arena *life;
    struct plan_memory memory; /* the runner's */
    struct list in_graph;
    uint64_t number;
    struct plan_group *groups;
    size_t ngroups;
    int64_t *olds; /* ascending */
    size_t nolds;
    /* the runner's; NULL: it was not run */
    struct asked_table *asked;
    int64_t compared; /* the new version */
    struct record *record;
};

/* What was found of a node for a pair, and for a state where it keeps one. */
struct asked {
    struct cdg_node *node; /* a runner only reads it */
    uint32_t pair;
    bool is_known, is_collected; /* its state */
    bool differs; /* it keeps a state, and not everybody's led to the same result */
    enum cdg_result result;
    const char *why, *notice;
    struct answer *answer;       /* of a leaf */
    struct cdg_finding *finding; /* of a root */
    uint64_t listed;             /* the report that lists it, by number */
};

struct asked_table {
    struct arena *life;
    struct asked **slots;
    size_t mask, count;
};

struct asked_table *asked_table_new(struct arena *life);
struct asked *asked_get(struct asked_table *t, struct cdg_node *node, uint32_t pair);

/* What is known for one pair while a plan runs. */
struct pair_run {
    uint32_t number;
    const struct cdg_version *old, *new_;
    int64_t old_number;
    struct pair_cache cache;
    struct cdg_finding *quiet; /* of leaves that no word leads to */
};

/* Somebody asks of a pair. */
struct asking {
    struct pair_run *pair;
    struct asked_table *shared;
    struct asked_table *own;         /* of what keeps a state */
    struct str state;                /* own: the sentinel's */
    const struct keyword_hits *hits; /* of its group; NULL: it looks for no words */
    struct arena *life, *scratch;    /* scratch: for one question at a time */
    uint64_t *reports;
};

const struct asked *asking_of(const struct asking *by, struct cdg_node *node);
/* summary and detail, for a root that is C. */
void report_finding(const struct asking *by, struct cdg_node *root, struct cdg_finding *f);

/* ---- records: record.c ------------------------------------------------------------------- */

struct record_entry {
    uint64_t node; /* its number */
    uint32_t pair;
    uint32_t why : 28, result : 2, differs : 1;
};

struct record_pair {
    int64_t old_version;
    enum cdg_result quiet; /* what leaves are that no word led to */
    uint32_t why;
};

struct record {
    unsigned refs; /* by the plan and by groups */
    bool is_noted;
    msec at;
    int64_t new_version;
    struct record_pair *pairs;
    struct record_entry *entries; /* in no order */
    size_t npairs, count, bytes;
    char *texts; /* reasons */
};

/* Of a plan that was run; on the thread that ran it. */
struct record *record_new(const struct cdg_plan *p, const struct pair_run *pairs);
void record_unref(struct cdg *g, struct record *r); /* NULL is fine */
