/* cdg_int -- what the files of this folder share.
 *
 * A *question* is a change type with its arguments; it and the composites above it are
 * nodes, stored once for the whole graph whoever asks (node.c).  What is asked of which
 * page, and for which version pairs, is in pages, groups and members (graph.c).
 */
#pragma once
#include "base/list.h"
#include "base/map.h"
#include "cdg/cdg.h"

/* ---- nodes: node.c -------------------------------------------------------------------------
 */

struct cdg_node {
    struct map_node by_key;
    uint32_t refs;
    enum cdg_op op;
    struct cdg_node *left, *right;
    struct arena *life; /* a leaf's arguments and what was made of them */
    struct cdg_leaf leaf;
    void *prepared;  /* by the kind, read-only once made */
    const char *key; /* a leaf's canonical form */

    /* used while a plan is taken */
    uint64_t plan_mark;
    uint32_t plan_index;
};

struct node_table {
    struct map by_key;
    struct list spare; /* nodes to be used again, by_key.next as link */
    size_t leaves, composites;
};

void node_table_init(struct node_table *t);
void node_table_done(struct node_table *t);
/* The node for this expression, counted once more.  The expression was checked. */
struct cdg_node *node_ref_expr(
        struct node_table *t, struct arena *life, const struct cdg_expr *e);
void node_unref(struct node_table *t, struct cdg_node *n);

/* ---- kinds: kinds.c, and a file each
 * ---------------------------------------------------------- */

/* One difference. */
enum change_how {
    CHANGE_INSERTED,
    CHANGE_DELETED,
    CHANGE_UPDATED,
    CHANGE_MOVED,
    CHANGE_HOW_COUNT
};

struct change {
    enum change_how how;
    struct str old, new_; /* deleted: old; inserted, moved: new_ */
    const char *path;     /* where, NULL: not known */
};

struct answer {
    enum cdg_result result;
    const char *reason;     /* U: why; C: a remark for the summary, or NULL */
    struct change *changes; /* at most CHANGES_LISTED of each how */
    size_t nchanges, cap;
    size_t counts[CHANGE_HOW_COUNT]; /* all there were */
    bool coarse;                     /* correct, but perhaps not the smallest list */
};

enum { CHANGES_LISTED = 500 };

/* What a comparison may use.  Strings in the answer may point into the digests. */
struct question {
    const struct cdg_leaf *leaf;
    const void *prepared;
    const struct cdg_version *old, *new_;
    struct arena *life; /* of the findings */
};

struct cdg_kind {
    /* Refuses arguments it cannot work with.  NULL: none are looked at. */
    enum err (*check)(const struct cdg_leaf *leaf, struct fault *f);
    /* Makes what every comparison needs, once.  NULL: nothing. */
    void *(*prepare)(const struct cdg_leaf *leaf, struct arena *life);
    /* Answers.  `a` comes as N without changes. */
    void (*compare)(const struct question *q, struct answer *a);
};

const struct cdg_kind *kind_of(int kind);
enum err leaf_check(const struct cdg_leaf *leaf, struct fault *f);

/* ---- answers: answer.c
 * -------------------------------------------------------------------------- */

void answer_add(struct answer *a, struct arena *life, struct change c);
/* The difference of two sorted sets of a digest's strings. */
void answer_add_sets(struct answer *a, const struct question *q, uint32_t nold, uint32_t nnew,
        struct str (*get)(const struct page_digest *d, uint32_t i));
void answer_unknown(struct answer *a, const char *reason);

/* ---- sequences: lcs.c, diff.c
 * ------------------------------------------------------------------- */

/* Longest common subsequence of two sequences of symbols; of several, the one with the
 * smallest positions in `b`.  Writes for each of b's positions the position in `a` it is
 * matched with, or LCS_NONE.  False: too large, matched by landmarks, perhaps not longest. */
#define LCS_NONE UINT32_MAX
bool lcs_match(const uint32_t *a, size_t na, const uint32_t *b, size_t nb, uint32_t *ret_match);
/* Its length only; one row of memory. */
size_t lcs_length(const uint32_t *a, size_t na, const uint32_t *b, size_t nb);

struct diff_item {
    struct str text;
    const struct str *parts; /* what the change ratio counts; NULL: the words of the text */
    size_t nparts;
};

enum diff_how { DIFF_INSERT, DIFF_DELETE, DIFF_UPDATE, DIFF_MOVE };

struct diff_edit {
    enum diff_how how;
    uint32_t old, new_; /* positions; the one that does not apply is LCS_NONE */
};

struct diff {
    struct diff_edit *edits; /* in the order of the new sequence, deletions where they were */
    size_t count;
    bool coarse;
};

void diff_sequences(const struct diff_item *old, size_t nold, const struct diff_item *new_,
        size_t nnew, struct arena *life, struct diff *ret);
/* 1 - 2 LCS / (|a| + |b|) over the parts; 0 for two empty lists. */
double diff_ratio(const struct diff_item *a, const struct diff_item *b);
/* Adds a diff's edits to an answer. */
void answer_add_diff(struct answer *a, struct arena *life, const struct diff *d,
        const struct diff_item *old, const struct diff_item *new_);

/* ---- pages, groups, members: graph.c
 * -------------------------------------------------------------- */

struct page_node {
    struct map_node by_id;
    int64_t id;
    struct list groups;
};

struct group {
    struct list in_page;
    struct page_node *page;
    struct cdg_compare compare;
    int64_t phase; /* every:n: base modulo n - 1 */
    struct list members;
    size_t count;
};

struct member {
    struct map_node by_id; /* page and sentinel */
    struct list in_group;
    struct group *group;
    int64_t sentinel_id, base;
    struct cdg_node *root;
};

struct cdg {
    struct arena *life;
    struct map pages, members;
    struct node_table nodes;
    struct list spare_pages, spare_groups, spare_members;
    size_t ngroups, nplans;
    uint64_t plan_mark;
};

struct page_node *graph_page(const struct cdg *g, int64_t page_id);
/* The old version of the pair that `version` completes for the member; 0: none. */
int64_t member_old_version(const struct member *m, int64_t version);

/* ---- plans: plan.c, run.c
 * ---------------------------------------------------------------------------- */

struct plan_node {
    const struct cdg_node *node;
    uint32_t left, right; /* indexes; children stand before parents */
};

struct plan_member {
    int64_t sentinel_id;
    uint32_t node, pair;
};

struct cdg_plan {
    struct arena *life;
    int64_t version;
    struct plan_node *nodes;
    size_t nnodes;
    struct plan_member *members;
    size_t nmembers;
    int64_t *olds; /* ascending */
    size_t nolds;
    struct cdg_node **held; /* the members' roots, each counted */
    size_t nheld;
};

/* What is known for one pair while a plan runs. */
struct pair_run {
    const struct plan_node *nodes;
    const struct cdg_version *old, *new_;
    int64_t old_number;
    struct answer **answers;       /* of leaves, NULL: not asked yet */
    struct cdg_finding **findings; /* of roots */
    struct arena *life;
};

const struct cdg_finding *run_finding(struct pair_run *r, uint32_t root);
/* summary and detail, for a root that is C. */
void report_finding(struct pair_run *r, uint32_t root, struct cdg_finding *f);
