/* The index: every event, and those that can be found by what they are.
 *
 *  (1) Two makers asking for the same operator over the same operands with the same parameter
 *      get the same event: a hash table whose chains run through the events themselves.
 *  (2) A map of the memory tells where events start, so all of them can be visited, in the
 *      order of their places, though nothing in them is spent on it.
 */
#include "led/led_int.h"
#include <stdlib.h>
#include <string.h>

/* ---- all of them: (2) ---- */

enum { WORD = 64 };

void led_index_add(struct led *led, struct led_event *e)
{
    struct led_index *x = &led->index;
    size_t at = led_mem_place(&led->mem, e);
    if (at / WORD >= x->start_cap) {
        size_t old = x->start_cap;
        x->start_cap = led->mem.used / LED_MEM_GRAIN / WORD * 5 / 4 + WORD;
        x->starts = realloc(x->starts, x->start_cap * sizeof x->starts[0]);
        CHECK(x->starts);
        memset(x->starts + old, 0, (x->start_cap - old) * sizeof x->starts[0]);
    }
    x->starts[at / WORD] |= (uint64_t)1 << at % WORD;
    led->stats.events++;
}

void led_index_remove(struct led *led, struct led_event *e)
{
    size_t at = led_mem_place(&led->mem, e);
    led->index.starts[at / WORD] &= ~((uint64_t)1 << at % WORD);
    led->stats.events--;
}

static struct led_event *at_place(const struct led *led, size_t place)
{
    return (struct led_event *)(led->mem.base + place * LED_MEM_GRAIN);
}

struct led_event *led_index_next(const struct led *led, size_t *at)
{
    const struct led_index *x = &led->index;
    size_t from = *at + 1, word = from / WORD;
    uint64_t unseen = ~(uint64_t)0 << from % WORD;
    for (; word < x->start_cap; word++, unseen = ~(uint64_t)0) {
        uint64_t found = x->starts[word] & unseen;
        if (found) {
            *at = word * WORD + (size_t)__builtin_ctzll(found);
            return at_place(led, *at);
        }
    }
    return NULL;
}

struct led_event *led_event_by_id(const struct led *led, uint64_t id)
{
    const struct led_index *x = &led->index;
    if (id > UINT32_MAX)
        return NULL;
    const struct led_event *e = led_linked(led->mem.base, (led_link)id);
    size_t at = led_mem_place(&led->mem, e); /* far off if it lies before the base */
    if (at / WORD >= x->start_cap || !(x->starts[at / WORD] >> at % WORD & 1))
        return NULL;
    return at_place(led, at)->is_deleted ? NULL : at_place(led, at);
}

/* ---- by what they are: (1) ---- */

enum { BUCKETS_MIN = 64, CHAIN = 2 /* events, on average, when the table grows */ };

size_t led_op_index(const struct led_op *op)
{
    size_t i = 0;
    while (led_ops[i] != op)
        i++;
    return i;
}

static uint64_t wish_hash(const struct led_wish *w)
{
    uint64_t key[2 + LED_ANY_MAX] = {led_op_index(w->op), (uint64_t)w->param};
    for (unsigned i = 0; i < w->arity; i++)
        key[2 + i] = led_link_to(w->operands[i]);
    return map_hash(key, (2 + w->arity) * sizeof key[0]);
}

static uint64_t event_hash(const struct led_event *e)
{
    if (led_event_name(e))
        return map_hash_text(led_event_name(e));
    struct led_event *operands[LED_ANY_MAX];
    for (unsigned i = 0; i < e->arity; i++)
        operands[i] = led_operand(e, i);
    struct led_wish w = {
            led_op(e), led_op(e)->param == LED_PARAM_NONE ? 0 : e->param, e->arity, operands};
    return wish_hash(&w);
}

static bool is_wished(const struct led_event *e, const struct led_wish *w)
{
    if (led_op(e) != w->op || e->arity != w->arity)
        return false;
    if (w->op->param != LED_PARAM_NONE && e->param != w->param)
        return false;
    for (unsigned i = 0; i < w->arity; i++)
        if (led_operand(e, i) != w->operands[i])
            return false;
    return true;
}

static led_link *bucket_of(const struct led_index *x, uint64_t hash)
{
    return &x->buckets[hash & (x->bucket_count - 1)];
}

static void chain(struct led_index *x, struct led_event *e)
{
    led_link *bucket = bucket_of(x, event_hash(e));
    e->next_keyed = *bucket;
    *bucket = led_link_to(e);
}

static void grow(struct led *led)
{
    struct led_index *x = &led->index;
    led_link *old = x->buckets;
    uint32_t old_count = x->bucket_count;
    x->bucket_count = old ? 2 * old_count : BUCKETS_MIN;
    x->buckets = calloc(x->bucket_count, sizeof x->buckets[0]);
    CHECK(x->buckets);
    for (uint32_t i = 0; i < old_count; i++) {
        struct led_event *e, *next;
        for (e = led_linked(led->mem.base, old[i]); e; e = next) {
            next = led_linked(e, e->next_keyed);
            chain(x, e);
        }
    }
    free(old);
}

void led_event_key(struct led *led, struct led_event *e)
{
    struct led_index *x = &led->index;
    if (x->keyed >= CHAIN * x->bucket_count)
        grow(led);
    chain(x, e);
    x->keyed++;
    e->is_keyed = true;
}

void led_event_unkey(struct led *led, struct led_event *e)
{
    if (!e->is_keyed)
        return;
    led_link *at = bucket_of(&led->index, event_hash(e));
    while (*at != led_link_to(e))
        at = &((struct led_event *)led_linked(e, *at))->next_keyed;
    *at = e->next_keyed;
    led->index.keyed--;
    e->is_keyed = false;
}

/* The first of the chain in which events of that hash are. */
static struct led_event *chained(const struct led *led, uint64_t hash)
{
    return led->index.buckets ? led_linked(led->mem.base, *bucket_of(&led->index, hash)) : NULL;
}

struct led_event *led_event_keyed(const struct led *led, const struct led_wish *w)
{
    struct led_event *e = chained(led, wish_hash(w));
    while (e && !is_wished(e, w))
        e = led_linked(e, e->next_keyed);
    return e;
}

struct led_event *led_event_find(const struct led *led, const char *name)
{
    struct led_event *e = chained(led, map_hash_text(name));
    while (e && !(led_event_name(e) && strcmp(led_event_name(e), name) == 0))
        e = led_linked(e, e->next_keyed);
    return e;
}

void led_index_done(struct led *led)
{
    free(led->index.starts);
    free(led->index.buckets);
}

size_t led_index_bytes(const struct led *led)
{
    const struct led_index *x = &led->index;
    return x->start_cap * sizeof x->starts[0] + x->bucket_count * sizeof x->buckets[0];
}
