#include "base/heap.h"
#include <stdlib.h>

enum { ARITY = 4 };

void heap_init(struct heap *h)
{
    *h = (struct heap){0};
}

void heap_done(struct heap *h)
{
    free(h->nodes);
    heap_init(h);
}

void heap_node_init(struct heap_node *n)
{
    *n = (struct heap_node){.index = HEAP_OUT};
}

static bool before(const struct heap_node *a, const struct heap_node *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void place(struct heap *h, struct heap_node *n, uint32_t i)
{
    h->nodes[i] = n;
    n->index = i;
}

static void sift_up(struct heap *h, struct heap_node *n, uint32_t i)
{
    while (i > 0) {
        uint32_t parent = (i - 1) / ARITY;
        if (!before(n, h->nodes[parent]))
            break;
        place(h, h->nodes[parent], i);
        i = parent;
    }
    place(h, n, i);
}

static void sift_down(struct heap *h, struct heap_node *n, uint32_t i)
{
    for (;;) {
        uint64_t first = (uint64_t)i * ARITY + 1;
        if (first >= h->count)
            break;
        uint32_t least = (uint32_t)first;
        for (uint64_t c = first + 1; c < first + ARITY && c < h->count; c++)
            if (before(h->nodes[c], h->nodes[least]))
                least = (uint32_t)c;
        if (!before(h->nodes[least], n))
            break;
        place(h, h->nodes[least], i);
        i = least;
    }
    place(h, n, i);
}

static void settle(struct heap *h, struct heap_node *n, uint32_t i)
{
    if (i > 0 && before(n, h->nodes[(i - 1) / ARITY]))
        sift_up(h, n, i);
    else
        sift_down(h, n, i);
}

void heap_set(struct heap *h, struct heap_node *n, msec at, uint64_t order)
{
    n->at = at;
    n->order = order;
    if (heap_node_is_in(n)) {
        settle(h, n, n->index);
        return;
    }
    if (h->count == h->cap) {
        CHECK(h->cap < UINT32_MAX / 2);
        /* By a quarter, for what doubles is half empty half of the time. */
        uint32_t cap = h->cap ? h->cap + h->cap / 4 : 64;
        struct heap_node **nodes = realloc(h->nodes, cap * sizeof *nodes);
        CHECK(nodes);
        h->nodes = nodes;
        h->cap = cap;
    }
    h->count++;
    sift_up(h, n, h->count - 1);
}

void heap_remove(struct heap *h, struct heap_node *n)
{
    if (!heap_node_is_in(n))
        return;
    uint32_t i = n->index;
    CHECK(i < h->count && h->nodes[i] == n);
    n->index = HEAP_OUT;
    struct heap_node *last = h->nodes[--h->count];
    if (last != n)
        settle(h, last, i);
}

struct heap_node *heap_min(const struct heap *h)
{
    return h->count ? h->nodes[0] : NULL;
}
