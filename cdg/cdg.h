/* cdg -- the change-detection graph: who asks what of which page, and the answers.
 *
 * Owns pages (URL nodes), questions (change-type nodes), composites (AND, OR, NOT), groups
 * and their members (sentinels).  It knows nothing of HTTP, SQL or clocks: a new version's
 * digest goes in, a verdict for each sentinel comes out.
 *
 * Threads: the graph belongs to the loop thread.  For a version that was fetched, the loop
 * thread takes a *plan*: an unchanging snapshot of the members, their questions and the
 * version pairs they want.  Any one thread runs the plan, without a look at the graph, and
 * the loop thread gives the plan back.  So joining and leaving never wait for a comparison,
 * a version in flight is finished for the members it began with, and whoever receives the
 * verdicts skips sentinels that ended meanwhile (cdg_is_member).  cdg_locks, below, is the
 * only part that has locks: it keeps the versions of one page in order on a pool.
 *
 * Failures: cdg_join refuses what it cannot do; nothing else fails.  What could not be
 * compared is the verdict U with a reason.
 */
#pragma once
#include "base/arena.h"
#include "base/fault.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/pool.h"
#include "base/str.h"
#include "base/time.h"
#include "page/page.h"

/* ---- kinds: what can be asked ------------------------------------------------------- */

/* One row for each change type, in the order of cdg/kinds.def. */
struct cdg_kind_info {
    const char *name; /* as the language spells it: "any change", "links" */
    const char *form; /* with its arguments: "any change [raw]" */
    const char *help; /* one sentence */
};

/* By the language's canonical name, case and - or space alike; -1: there is none. */
int cdg_kind_find(const char *name);
/* NULL behind the last. */
const struct cdg_kind_info *cdg_kind_get(int kind);
/* Whether CHANGED > n% may be asked of it. */
bool cdg_kind_measures(int kind);

/* ---- questions ---------------------------------------------------------------------- */

enum cdg_status { CDG_EXISTS, CDG_NEW, CDG_UPDATED, CDG_DELETED, CDG_UNCHANGED };
enum cdg_region { CDG_REGION_NONE, CDG_REGION_XPATH, CDG_REGION_CSS };

/* A change type with its arguments.  What a kind does not use stays zero; a zeroed leaf
 * with a kind is the plain question. */
struct cdg_leaf {
    int kind;               /* of cdg_kind_find */
    bool raw;               /* any change: bytes instead of the canonical tree */
    bool counted;           /* words, keywords: how often, not only whether */
    bool all;               /* keywords: all of them as one */
    bool on_text;           /* regexp: on the text, not on the source */
    bool strict;            /* element: only its own text counts for `contains` */
    unsigned number;        /* table, list: which one, from 1; 0: the first, or by text */
    unsigned box;           /* phrase: words of context, 0: 10 */
    unsigned occurrence;    /* phrase: which one, from 1; 0: the first */
    enum cdg_status status; /* element */
    const char *text;       /* table, list: identifying text; regexp: the pattern; element: the
                               name; phrase containing: the text.  NULL: none */
    const char *contains;   /* element: NULL: none */
    const char *const *words; /* keywords, phrases, and the words of EXCEPT */
    size_t nwords;
    bool changed_over; /* CHANGED > percent%: a smaller change is none */
    bool at_least;     /* with it: CHANGED >= percent% */
    double percent;
    enum cdg_region region;
    const char *selector;
};

enum cdg_op { CDG_LEAF, CDG_AND, CDG_OR, CDG_NOT, CDG_OP_COUNT };

/* The caller's; copied by cdg_join. */
struct cdg_expr {
    enum cdg_op op;
    const struct cdg_expr *left, *right; /* NOT: left only */
    struct cdg_leaf leaf;                /* CDG_LEAF */
    unsigned place; /* CDG_LEAF: which page it is about; only joints look at it */
};

enum { CDG_EXPR_DEPTH_MAX = 64, CDG_COMPARE_MAX = 1000 };

enum cdg_compare_kind { CDG_PAIRWISE, CDG_MOVING, CDG_EVERY };

struct cdg_compare {
    enum cdg_compare_kind kind;
    unsigned n; /* moving, every: 2 to CDG_COMPARE_MAX; n = 2 is pairwise */
};

/* ---- the graph: loop thread --------------------------------------------------------- */

struct cdg;

struct cdg *cdg_new(struct arena *life);

struct cdg_subscription {
    int64_t page_id, sentinel_id;
    const struct cdg_expr *expr;
    struct cdg_compare compare;
    /* The version current when the sentinel arrived: position 1 of its counting.  Pairs
     * whose old side is before it do not concern it.  0: there is none yet. */
    int64_t base_version;
    unsigned part; /* which of its questions about the page; 0 when there is one */
};

/* Says whether cdg_join would take this expression, and joins nothing. */
MUST_USE enum err cdg_check(
        const struct cdg_expr *expr, struct cdg_compare compare, struct fault *f);

/* Whether answering takes the bytes of both versions (cdg_version.source), not only their
 * digests: a regular expression on the source. */
bool cdg_wants_source(const struct cdg_expr *expr);

/* Whether answering takes what the answer before told to remember: a phrase followed by its
 * own words. */
bool cdg_wants_state(const struct cdg_expr *expr);

/* A part of a sentinel joins a page once; joining again is our own mistake.  All parts leave
 * together, and leaving twice is fine. */
MUST_USE enum err cdg_join(struct cdg *g, const struct cdg_subscription *s, struct fault *f);
void cdg_leave(struct cdg *g, int64_t page_id, int64_t sentinel_id);
bool cdg_is_member(const struct cdg *g, int64_t page_id, int64_t sentinel_id);

struct cdg_stats {
    size_t pages, groups, members, questions, composites, plans;
    size_t bytes;
};
void cdg_stats_get(const struct cdg *g, struct cdg_stats *ret_stats);

/* How many of a page's newest versions are still wanted as an old side, given the latest
 * version: the oldest version number needed, or 0 when nobody needs any. */
int64_t cdg_oldest_needed(const struct cdg *g, int64_t page_id, int64_t latest);

/* The same for one sentinel; `ret_all`: not only that one, but every one after it. */
int64_t cdg_oldest_needed_by(const struct cdg *g, int64_t page_id, int64_t sentinel_id,
        int64_t latest, bool *ret_all);

/* ---- looking at it, for people -------------------------------------------------------- */

enum cdg_result { CDG_C, CDG_N, CDG_U };

/* What was found of a node for its group's newest pair. */
struct cdg_last {
    enum cdg_result result;
    const char *reason; /* U: why, "" if that was not kept */
    bool differs;       /* it keeps a state, and others in the group were told otherwise */
    int64_t old_version, new_version;
    msec at; /* as cdg_plan_note was told */
};

enum { CDG_SHARERS_SHOWN = 10 };

/* Other sentinels. */
struct cdg_sharers {
    int64_t ids[CDG_SHARERS_SHOWN]; /* the first of them */
    size_t total;
};

struct cdg_group_view {
    uint64_t number; /* among the page's groups, from 1 */
    struct cdg_compare compare;
    size_t members; /* sentinels, with one part or several */
};

struct cdg_node_view {
    uint64_t id; /* of the node, which groups may share */
    enum cdg_op op;
    const struct cdg_leaf *leaf;      /* CDG_LEAF */
    uint64_t left, right;             /* 0: none */
    const struct cdg_sharers *shared; /* who else in the group asks it; NULL: not counted */
    const struct cdg_last *last;      /* NULL: it was not asked since it is there */
};

struct cdg_member_view {
    int64_t sentinel_id;
    unsigned part;
    int64_t waiting; /* versions still to come until its next pair, after `latest` */
    int64_t base;    /* position: the old side of that pair */
    uint64_t root;
};

struct cdg_viewer {
    void (*group)(const struct cdg_group_view *view, void *arg);
    void (*node)(const struct cdg_node_view *view, void *arg);
    void (*member)(const struct cdg_member_view *view, void *arg);
};

/* Group by group: the group, each of its nodes once, operands before what is above them, and
 * its members. */
void cdg_view_page(const struct cdg *g, int64_t page_id, int64_t latest,
        const struct cdg_viewer *to, void *arg);
/* One sentinel's group, and for each of its parts, in order: its nodes, each once, then the
 * member.  Nothing when it has not joined. */
void cdg_view_sentinel(const struct cdg *g, int64_t page_id, int64_t sentinel_id,
        int64_t latest, const struct cdg_viewer *to, void *arg);

/* ---- plans: taken and given back on the loop thread, run anywhere --------------------- */

struct cdg_plan;

/* What is to be done for this version of the page; NULL when no member wants anything of
 * it (nobody watches, or it is everybody's first). */
struct cdg_plan *cdg_plan_take(struct cdg *g, int64_t page_id, int64_t version);
/* What its run found came to pass: from now on it is what was found last, for people. */
void cdg_plan_note(struct cdg *g, struct cdg_plan *p, msec at); /* NULL is fine */
void cdg_plan_give_back(struct cdg *g, struct cdg_plan *p);     /* NULL is fine */

/* Somebody who counts for himself: of a page's versions he has seen some, and his members'
 * "versions" are his positions.  What he calls position `position - 1` is the version
 * seen[nseen - 1], and so on backwards; 0 or beyond: it is not known any more. */
struct cdg_look {
    int64_t page_id; /* under which his members joined */
    int64_t position;
    const int64_t *seen;
    size_t nseen;
};

/* One plan for several who look at the same version of the same page.  From here on all
 * numbers are the page's: equal pairs are one pair, whoever looks. */
struct cdg_plan *cdg_plan_take_looks(struct cdg *g, const struct cdg_look *looks, size_t n);

/* The old versions it compares with, ascending, each once. */
size_t cdg_plan_needs(const struct cdg_plan *p, const int64_t **ret_versions);

/* A version as comparing sees it.  Without a digest every question but `any change raw` is
 * answered U; without a source, those about the source are.  */
struct cdg_version {
    int64_t number;
    const struct page_digest *digest; /* NULL: could not be parsed */
    const char *no_digest; /* why, for people; NULL: "the page could not be parsed" */
    struct hash128 body;   /* of its bytes */
    const struct page_source *source; /* its bytes; NULL: not at hand */
};

/* Gives an old version, or NULL when it is gone.  Called on the thread that runs the plan,
 * at most once for each version; the answer must stay until the run is over. */
typedef const struct cdg_version *(*cdg_old_fn)(int64_t number, void *arg);

/* What was found for one expression and one version pair; shared by all who asked. */
struct cdg_finding {
    enum cdg_result result;
    int64_t old_version, new_version;
    unsigned inserted, deleted, updated, moved;
    const char *summary; /* C: one line for people; N: ""; U: the reason */
    const char *detail;  /* C: JSON {"leaves":[...]}; else NULL */
    const char *notice;  /* a sentence the owner is to be told once; NULL: none */
};

struct cdg_verdict {
    int64_t sentinel_id;
    unsigned part;
    const struct cdg_finding *finding;
    struct str state; /* what to remember for the sentinel, one text; ptr NULL: as before */
};

/* Compares.  Each question is asked once for a version pair, whoever asks; a sentinel gets
 * exactly one verdict for each part.  Everything returned lives in `life`. */
size_t cdg_plan_run(struct cdg_plan *p, const struct cdg_version *new_version, cdg_old_fn old,
        void *arg, struct arena *life, const struct cdg_verdict **ret_verdicts);

/* What is remembered for a sentinel's part since its last computed pair; ptr NULL: nothing yet.
 * Called on the thread that runs the plan; the answer must stay until the run is over. */
typedef struct str (*cdg_state_fn)(int64_t sentinel_id, unsigned part, void *arg);

/* The same for plans whose members may keep a state (cdg_wants_state).  The states in the
 * verdicts are to be committed with the version, and to be given at the next pair. */
size_t cdg_plan_run_states(struct cdg_plan *p, const struct cdg_version *new_version,
        cdg_old_fn old, cdg_state_fn state, void *arg, struct arena *life,
        const struct cdg_verdict **ret_verdicts);

/* One expression between two versions, without a graph: for `vigil compare`, replay. */
MUST_USE enum err cdg_compare_once(const struct cdg_expr *expr, const struct cdg_version *old,
        const struct cdg_version *new_version, struct arena *life, struct fault *f,
        const struct cdg_finding **ret_finding);

/* ---- joints: one condition over several pages; loop thread ----------------------------- */

/* What is asked of one page, for one conjunct of the condition; a part of a subscription. */
struct cdg_joint_part {
    unsigned conjunct, place;
    bool forbids; /* a change here is one there must not be */
    const struct cdg_expr *expr;
};

/* The condition as parts, in an order that depends on it alone; all in `life`. */
MUST_USE enum err cdg_joint_form(struct arena *life, const struct cdg_expr *expr,
        struct fault *f, const struct cdg_joint_part **ret_parts, size_t *ret_count);

/* A change one part found, or for a part that forbids also that it could not look. */
struct cdg_constituent {
    struct list link;
    unsigned part;
    msec at; /* when its version was fetched */
    int64_t old_version, new_version;
    unsigned inserted, deleted, updated, moved;
    const char *summary, *detail; /* as in a finding */
};

/* What is to be remembered of the step, so that it can be done again. */
struct cdg_joint_outcome {
    unsigned conjunct;
    msec forget_before; /* what its sides found before this is gone; MSEC_NEVER: all of it */
    bool keeps;         /* the constituent itself is kept */
};

struct cdg_joint *cdg_joint_new(const struct cdg_joint_part *parts, size_t count, msec within);
void cdg_joint_free(struct cdg_joint *j); /* NULL is fine */
void cdg_joint_restore(struct cdg_joint *j, const struct cdg_constituent *kept);
bool cdg_joint_forbids(const struct cdg_joint *j, unsigned part);

/* Takes a constituent, in the order of time.  What is to be told now, oldest first, is
 * appended to `told` and the caller's: cdg_constituents_free. */
struct cdg_joint_outcome cdg_joint_take(
        struct cdg_joint *j, const struct cdg_constituent *c, struct list *told);
/* When absence will be known next, and what is told then; false: nothing is due. */
msec cdg_joint_deadline(const struct cdg_joint *j);
bool cdg_joint_due(
        struct cdg_joint *j, msec now, struct list *told, unsigned *ret_conjunct, msec *ret_at);
/* The version did not come to pass. */
void cdg_joint_undo(struct cdg_joint *j, unsigned part, int64_t new_version);
void cdg_constituents_free(struct list *all);
struct cdg_constituent *cdg_constituent_copy(const struct cdg_constituent *c);

/* ---- the lock hash table: any thread ------------------------------------------------- */

/* Tasks of one page run one at a time, in the order they were submitted; those of
 * different pages run in parallel.  No thread ever sleeps on a page. */
struct cdg_locks;

struct cdg_task {
    struct list link;
    /* On a pool thread.  The task is the callee's from here on: it may be freed or handed
     * to another thread before `run` returns.  What `run` sends before it returns is sent
     * before the page's next task begins. */
    void (*run)(struct cdg_task *task);
};

struct cdg_locks_stats {
    size_t pages;    /* in use now */
    size_t waiting;  /* tasks behind them now */
    uint64_t waited; /* tasks that ever had to */
    uint64_t done;
};

struct cdg_locks *cdg_locks_new(struct pool *pool, unsigned buckets);
/* Every task must be done: free the pool first. */
void cdg_locks_free(struct cdg_locks *l);
void cdg_locks_submit(struct cdg_locks *l, int64_t page_id, struct cdg_task *task);
void cdg_locks_stats_get(struct cdg_locks *l, struct cdg_locks_stats *ret_stats);
