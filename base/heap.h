/* heap -- an intrusive binary-in-spirit (4-ary) heap of deadlines.
 *
 * The object keeps its own index, so cancelling and re-arming in place are O(log n).
 * Equal deadlines come out by `order`, a second key that the user of the heap chooses
 * (registration number, class), so the result never depends on the heap's shape.
 */
#pragma once
#include "base/time.h"

struct heap_node {
    msec at;
    uint64_t order;
    uint32_t index; /* HEAP_OUT when not in a heap */
    uint32_t tag;   /* the owner's: the place would be empty otherwise */
};

#define HEAP_OUT UINT32_MAX

struct heap {
    struct heap_node **nodes;
    uint32_t count, cap;
};

void heap_init(struct heap *h);
void heap_done(struct heap *h);

void heap_node_init(struct heap_node *n);
static inline bool heap_node_is_in(const struct heap_node *n)
{
    return n->index != HEAP_OUT;
}

/* Inserts, or moves if it is already in. */
void heap_set(struct heap *h, struct heap_node *n, msec at, uint64_t order);
void heap_remove(struct heap *h, struct heap_node *n); /* not being in is fine */
struct heap_node *heap_min(const struct heap *h);      /* NULL when empty */
