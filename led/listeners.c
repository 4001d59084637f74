/* Listeners: the nodes to which a leaf or a node is an operand.
 *
 * Nearly always there is one, which then stands in the place itself; several stand in a row
 * behind it.
 *  (1) A row is in order of age, for new nodes come last; so a member is found by halving.
 *  (2) Who leaves a row leaves a hole, and a row that is more hole than row is closed up: a
 *      million that leave one event take a million steps, in any order.
 *  (3) In which roles a node listens is written in its event's operands, and not here.
 */
#include "led/led_int.h"
#include <string.h>

struct entry {
    uint64_t id;
    struct led_node *node; /* NULL: a hole */
};

struct row {
    uint32_t count, cap, holes;
    struct entry entries[];
};

enum { ROW_MIN = 4 };

static struct row *row_of(const struct led_listeners *l)
{
    return l->is_row ? led_linked(l, l->who) : NULL;
}

static size_t bytes_of(uint32_t cap)
{
    return sizeof(struct row) + cap * sizeof(struct entry);
}

static struct row *row_new(struct led *led, struct led_listeners *l, uint32_t cap)
{
    struct row *r = led_alloc(led, bytes_of(cap));
    r->cap = cap;
    l->who = led_link_to(r);
    l->is_row = true;
    return r;
}

static void row_add(struct row *r, struct led_node *n)
{
    CHECK(r->count == 0 || r->entries[r->count - 1].id < n->id); /* (1) */
    r->entries[r->count++] = (struct entry){n->id, n};
}

/* The same without holes, in a row of `cap`. */
static struct row *row_again(
        struct led *led, struct led_listeners *l, struct row *old, uint32_t cap)
{
    struct row *r = row_new(led, l, cap);
    for (uint32_t i = 0; i < old->count; i++)
        if (old->entries[i].node)
            r->entries[r->count++] = old->entries[i];
    led_release(led, old, bytes_of(old->cap));
    return r;
}

void led_listeners_add(struct led *led, struct led_listeners *l, struct led_node *n)
{
    struct row *r = row_of(l);
    if (!l->who) {
        l->who = led_link_to(n);
        return;
    }
    if (!r) {
        struct led_node *only = led_linked(l, l->who);
        r = row_new(led, l, ROW_MIN);
        row_add(r, only);
    } else if (r->count == r->cap) {
        r = row_again(led, l, r, r->holes > r->count / 2 ? r->cap : 2 * r->cap);
    }
    row_add(r, n);
}

static struct entry *find(struct row *r, uint64_t id)
{
    uint32_t low = 0, high = r->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (r->entries[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    CHECK(low < r->count && r->entries[low].id == id);
    return &r->entries[low];
}

void led_listeners_remove(struct led *led, struct led_listeners *l, struct led_node *n)
{
    struct row *r = row_of(l);
    if (!r) {
        CHECK(l->who == led_link_to(n));
        l->who = 0;
        return;
    }
    find(r, n->id)->node = NULL;
    r->holes++;
    uint32_t left = r->count - r->holes;
    if (left == 1) {
        size_t i = 0;
        struct led_node *only = led_listeners_next(l, &i);
        led_release(led, r, bytes_of(r->cap));
        l->who = led_link_to(only);
        l->is_row = false;
    } else if (r->cap > ROW_MIN && left <= r->cap / 4) { /* (2) */
        row_again(led, l, r, r->cap / 2);
    }
}

struct led_node *led_listeners_next(const struct led_listeners *l, size_t *i)
{
    struct row *r = row_of(l);
    if (!r)
        return (*i)++ ? NULL : led_linked(l, l->who);
    while (*i < r->count) {
        struct led_node *n = r->entries[(*i)++].node;
        if (n)
            return n;
    }
    return NULL;
}
