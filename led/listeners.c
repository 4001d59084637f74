/* Listeners: the nodes to which a leaf or a node is an operand.
 *
 * Nearly always there is one, which then stands in the place itself; several stand in a row
 * behind it, in blocks of four bytes each.
 *  (1) A row is in order of age, for new nodes come last; so a member is found by halving,
 *      first among the blocks, then in one.
 *  (2) Who leaves moves only its block, and blocks that got empty are joined: a million that
 *      leave one event take a million short steps, in any order.
 *  (3) In which roles a node listens is written in its event's operands, and not here.
 */
#include "led/led_int.h"
#include <string.h>

enum { BLOCK_MIN = 4, BLOCK = 256, BLOCKS_MIN = 1 };

struct block {
    uint64_t first;  /* no member is older than that id */
    led_link *nodes; /* BLOCK_MIN, doubled up to BLOCK */
    uint32_t count, cap;
};

struct row {
    struct block *blocks; /* none is empty */
    uint32_t count, cap;
};

static struct row *row_of(const struct led_listeners *l)
{
    return l->is_row ? led_linked(l, l->who) : NULL;
}

/* ---- blocks ---- */

static struct led_node *member(const struct block *b, uint32_t i)
{
    return led_linked(b->nodes, b->nodes[i]);
}

/* An array made longer, or shorter. */
static void *resize(struct led *led, void *array, size_t each, uint32_t used, uint32_t *cap,
        uint32_t new_cap)
{
    void *other = led_alloc(led, new_cap * each);
    if (array) {
        memcpy(other, array, used * each);
        led_release(led, array, *cap * each);
    }
    *cap = new_cap;
    return other;
}

static void block_resize(struct led *led, struct block *b, uint32_t cap)
{
    b->nodes = resize(led, b->nodes, sizeof b->nodes[0], b->count, &b->cap, cap);
}

static void row_resize(struct led *led, struct row *r, uint32_t cap)
{
    r->blocks = resize(led, r->blocks, sizeof r->blocks[0], r->count, &r->cap, cap);
}

static struct block *block_new(struct led *led, struct row *r, uint64_t first)
{
    if (r->count == r->cap)
        row_resize(led, r, r->cap ? 2 * r->cap : BLOCKS_MIN);
    r->blocks[r->count] = (struct block){.first = first};
    block_resize(led, &r->blocks[r->count], BLOCK_MIN);
    return &r->blocks[r->count++];
}

static void block_free(struct led *led, struct row *r, uint32_t at)
{
    struct block *b = &r->blocks[at];
    led_release(led, b->nodes, b->cap * sizeof b->nodes[0]);
    memmove(b, b + 1, (r->count - at - 1) * sizeof *b);
    r->count--;
    if (r->cap > BLOCKS_MIN && r->count <= r->cap / 4)
        row_resize(led, r, r->cap / 2);
}

/* ---- coming ---- */

static void row_add(struct led *led, struct row *r, struct led_node *n)
{
    struct block *b = r->count ? &r->blocks[r->count - 1] : NULL;
    CHECK(!b || member(b, b->count - 1)->id < n->id); /* (1) */
    if (!b || b->count == BLOCK)
        b = block_new(led, r, n->id);
    else if (b->count == b->cap)
        block_resize(led, b, 2 * b->cap);
    b->nodes[b->count++] = led_link_to(n);
}

void led_listeners_add(struct led *led, struct led_listeners *l, struct led_node *n)
{
    if (!l->who) {
        l->who = led_link_to(n);
        return;
    }
    if (!l->is_row) {
        struct led_node *only = led_linked(l, l->who);
        struct row *r = led_alloc_of(led, struct row);
        row_add(led, r, only);
        l->who = led_link_to(r);
        l->is_row = true;
    }
    row_add(led, row_of(l), n);
}

/* ---- going: (2) ---- */

/* The last block that does not begin behind `id`. */
static uint32_t find_block(const struct row *r, uint64_t id)
{
    uint32_t low = 0, high = r->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (r->blocks[middle].first <= id)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint32_t find_member(const struct block *b, uint64_t id)
{
    uint32_t low = 0, high = b->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (member(b, middle)->id <= id)
            low = middle;
        else
            high = middle;
    }
    CHECK(low < b->count && member(b, low)->id == id);
    return low;
}

/* Two neighbours that together fill half a block become one. */
static void join(struct led *led, struct row *r, uint32_t at)
{
    if (at + 1 >= r->count || r->blocks[at].count + r->blocks[at + 1].count > BLOCK / 2)
        return;
    struct block *b = &r->blocks[at], *next = b + 1;
    if (b->cap < BLOCK)
        block_resize(led, b, BLOCK);
    memcpy(b->nodes + b->count, next->nodes, next->count * sizeof next->nodes[0]);
    b->count += next->count;
    block_free(led, r, at + 1);
}

static void row_remove(struct led *led, struct row *r, const struct led_node *n)
{
    uint32_t at = find_block(r, n->id);
    struct block *b = &r->blocks[at];
    uint32_t i = find_member(b, n->id);
    b->count--;
    memmove(&b->nodes[i], &b->nodes[i + 1], (b->count - i) * sizeof b->nodes[0]);
    if (b->count == 0) {
        block_free(led, r, at);
    } else {
        join(led, r, at);
        if (at)
            join(led, r, at - 1);
    }
}

void led_listeners_remove(struct led *led, struct led_listeners *l, struct led_node *n)
{
    struct row *r = row_of(l);
    if (!r) {
        CHECK(l->who == led_link_to(n));
        l->who = 0;
        return;
    }
    row_remove(led, r, n);
    if (r->count > 1 || r->blocks[0].count > 1)
        return;
    l->who = led_link_to(member(&r->blocks[0], 0));
    l->is_row = false;
    block_free(led, r, 0);
    led_release(led, r->blocks, r->cap * sizeof r->blocks[0]);
    led_release(led, r, sizeof *r);
}

/* ---- each ---- */

struct led_node *led_listeners_next(const struct led_listeners *l, size_t *i)
{
    const struct row *r = row_of(l);
    if (!r)
        return (*i)++ ? NULL : led_linked(l, l->who);
    for (; *i / BLOCK < r->count; *i += BLOCK - *i % BLOCK) {
        const struct block *b = &r->blocks[*i / BLOCK];
        if (*i % BLOCK < b->count)
            return member(b, (uint32_t)((*i)++ % BLOCK));
    }
    return NULL;
}
