/* keyword_index -- what keyword_index.c (who comes and goes) and keyword_look.c (what a pair
 * changes for whom) share. */
#pragma once
#include "cdg/cdg_int.h"

enum { PATTERN_NONE = UINT32_MAX, OPEN_BYTES = 32, ARRAY_MAX = 1 << 30 };

enum form { PLAIN, OPEN_FRONT, OPEN_BACK, OPEN_BOTH, ROW, ANCHOR, FORM_COUNT };

struct pattern {
    uint64_t hash;
    uint32_t text, len; /* in texts */
    uint32_t first;     /* posting; of an anchor: row */
    uint32_t next_row;  /* of the same anchor */
    uint32_t form, anchor_at;
};

struct posting {
    uint32_t leaf, keyword, next;
};

struct leaf_entry {
    const struct cdg_node *leaf; /* NULL: it left */
    uint32_t uses;
};

struct slots {
    uint32_t *all; /* number + 1; 0: free */
    size_t mask, count;
};

struct keyword_index {
    struct buf patterns, postings, leaves, texts;
    struct slots by_key, by_leaf;
    uint32_t lengths[FORM_COUNT]; /* of open words: bit n is set when one has n + 1 bytes */
    uint32_t handleless;          /* the chain of those, by next_row */
    unsigned longest_row;         /* words; 0: there are no rows */
    size_t alive, dead;           /* postings */
};

static inline struct pattern *pattern_at(const struct keyword_index *ix, uint32_t i)
{
    return (struct pattern *)(void *)ix->patterns.data + i;
}

static inline struct posting *posting_at(const struct keyword_index *ix, uint32_t i)
{
    return (struct posting *)(void *)ix->postings.data + i;
}

static inline struct leaf_entry *leaf_at(const struct keyword_index *ix, uint32_t i)
{
    return (struct leaf_entry *)(void *)ix->leaves.data + i;
}

/* A pattern of this form and text, whose hash is hash64_keyed's; PATTERN_NONE: there is none.
 */
uint32_t pattern_find(
        const struct keyword_index *ix, enum form form, struct str text, uint64_t text_hash);
