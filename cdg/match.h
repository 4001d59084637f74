/* match -- what matching the trees of a pair is made of: match.c, ids.c, settled.c, heavy.c,
 * twins.c, same.c. */
#pragma once
#include "cdg/detect_int.h"

/* ---- same.c: whether nodes of two digests are the same ----------------------------------- */

enum { RUNS_KEPT = 64 };

/* The nodes from `old` to `end` are the same as those as many further on in the new version,
 * and the one at `end` is not. */
struct same_run {
    int64_t apart; /* new - old */
    uint32_t old, end;
};

struct same {
    const struct page_digest *old, *new_;
    const struct spans *spans;
    const uint32_t *old_texts, *new_texts; /* by node: how many texts stand before it */
    const uint32_t *tag;                   /* of spans */
    bool in_row; /* numbers of names are the same in both, and texts lie in a row */
    struct same_run runs[RUNS_KEPT];
    uint64_t work;
};

struct same same_init(
        const struct spans *spans, const uint32_t *old_texts, const uint32_t *new_texts);
/* Whether what is below the nodes, and they themselves, is the same. */
bool same_subtrees(struct same *s, uint32_t old, uint32_t new_);

/* ---- match.c ----------------------------------------------------------------------------- */

/* Numbers of the names "id" and "xml:id" among the digest's names. */
struct id_names {
    uint32_t id, xml_id;
};

/* A digest's tree as matching sees it; all arrays are by node. */
struct tree {
    const struct page_digest *d;
    struct id_names names;
    uint32_t *texts; /* how many stand before it; one more at the end */
    uint32_t *match; /* of elements: in the other tree; NO_NODE: none */
    bool *whole;     /* nobody at or below it is free */
};

struct matching {
    struct tree old, new_;
    struct arena *life;
    struct same same;
    struct twins *twins; /* NULL: nobody had to be looked for elsewhere yet */
};

static inline bool is_free(const struct tree *t, uint32_t node)
{
    return t->d->tags[node] != 0 && t->match[node] == NO_NODE;
}

static inline void pair_up(struct matching *m, uint32_t old, uint32_t new_)
{
    m->old.match[old] = new_;
    m->new_.match[new_] = old;
}

/* Which element of the old tree is which of the new one; made once for a pair. */
struct matching *matching_of(const struct question *q);
/* Whether two matched elements are the same, and all below them. */
bool matched_same(struct matching *m, uint32_t old, uint32_t new_);

/* ---- ids.c ------------------------------------------------------------------------------- */

struct id_names id_names_of(const struct page_digest *d);
/* The attribute that is a node's id; NO_NODE: it has none. */
uint32_t id_of(const struct tree *t, uint32_t node);
/* (2) of match.c.  True: elements with ids that lie in spans are matched there. */
bool match_ids(struct matching *m);

/* ---- settled.c --------------------------------------------------------------------------- */

/* Pairs the subtrees that did not change and are in nobody's way.  True: that was all (3) of
 * match.c has to do. */
bool match_settled(struct matching *m);

/* ---- heavy.c ----------------------------------------------------------------------------- */

/* (3) of match.c for who is left. */
void match_identical(struct matching *m);

/* ---- twins.c ----------------------------------------------------------------------------- */

/* The free old subtree that is identical with the new one, as (3) of match.c chooses;
 * NO_NODE: there is none. */
uint32_t twin_find(struct matching *m, uint32_t new_);
/* How a subtree looks: equal ones look equal, and most others do not. */
uint32_t subtree_print(const struct matching *m, bool new_, uint32_t node);
/* Comparing took so long that hashes are cheaper. */
bool twins_take_long(const struct matching *m);
