/* match -- what matching the trees of a pair is made of: match.c, same.c, twins.c. */
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

/* Whether what is below the nodes, and they themselves, is the same. */
bool same_subtrees(struct same *s, uint32_t old, uint32_t new_);

/* ---- match.c ----------------------------------------------------------------------------- */

/* A digest's tree as matching sees it; all arrays are by node. */
struct tree {
    const struct page_digest *d;
    uint64_t *weight_before; /* length of the canonical text of all nodes before this one */
    uint32_t *texts_before;  /* how many there are */
    uint32_t *id;            /* an attribute of the digest; NO_NODE: none */
    uint32_t *with_id;       /* the nodes that have one, ascending */
    uint32_t nwith_id;
    uint32_t *match; /* in the other tree; NO_NODE: none */
    bool *whole;     /* nobody at or below it is free; NULL in the old tree */
};

struct matching {
    struct tree old, new_;
    struct arena *life;
    struct same same;
    struct twins *twins; /* NULL: nobody had to be looked for elsewhere yet */
};

struct same same_init(
        const struct spans *spans, const struct tree *old, const struct tree *new_);

static inline uint64_t weight_of(const struct tree *t, uint32_t node)
{
    return t->weight_before[t->d->end[node]] - t->weight_before[node];
}

static inline bool is_free(const struct tree *t, uint32_t node)
{
    return t->d->tags[node] != 0 && t->match[node] == NO_NODE;
}

/* Which element of the old tree is which of the new one; made once for a pair. */
struct matching *matching_of(const struct question *q);
/* Whether two matched elements are the same, and all below them. */
bool matched_same(struct matching *m, uint32_t old, uint32_t new_);

/* ---- twins.c ----------------------------------------------------------------------------- */

/* The free old subtree that is identical with the new one, as (3) of match.c chooses;
 * NO_NODE: there is none. */
uint32_t twin_find(struct matching *m, uint32_t new_);
