/* The index: every event by its id, and those that can be found by what they are.
 *
 *  (1) An id is a place in a table of pages; whoever takes a place that became free takes its
 *      id over.  Among the living it is unique, and a snapshot brings it back.
 *  (2) Two makers asking for the same operator over the same operands with the same parameter
 *      get the same event: `keys` is an open hash table of ids, eight bytes an entry.
 */
#include "led/led_int.h"
#include <stdlib.h>
#include <string.h>

enum { PAGE = 512, ID_MAX = INT32_MAX, KEYS_MIN = 64 };

/* ---- by id: (1) ---- */

/* A free place holds the next free id, marked as no pointer could be. */
static struct led_event *free_mark(uint32_t next)
{
    return (struct led_event *)((uintptr_t)next << 1 | 1);
}

static bool is_free(const struct led_event *place)
{
    return !place || (uintptr_t)place & 1;
}

static struct led_event **place_of(const struct led_index *x, uint64_t id)
{
    struct led_event **page = id / PAGE < x->page_cap ? x->pages[id / PAGE] : NULL;
    return page ? &page[id % PAGE] : NULL;
}

static struct led_event **place_make(struct led *led, uint32_t id)
{
    struct led_index *x = &led->index;
    while (id / PAGE >= x->page_cap)
        x->pages = led_grow(led, x->pages, sizeof x->pages[0], &x->page_cap);
    struct led_event ***page = &x->pages[id / PAGE];
    if (!*page)
        *page = led_alloc(led, PAGE * sizeof(struct led_event *));
    if (id >= x->count)
        x->count = id + 1;
    return &(*page)[id % PAGE];
}

void led_index_add(struct led *led, struct led_event *e)
{
    struct led_index *x = &led->index;
    e->id = x->free;
    if (e->id)
        x->free = (uint32_t)((uintptr_t)*place_of(x, e->id) >> 1);
    else
        e->id = x->count ? x->count : 1; /* 0 is nobody's */
    CHECK(e->id < ID_MAX);
    *place_make(led, e->id) = e;
    led->stats.events++;
}

bool led_index_put(struct led *led, struct led_event *e, uint32_t id)
{
    if (id == 0 || id >= ID_MAX || led_index_get(led, id))
        return false;
    e->id = id;
    *place_make(led, id) = e;
    led->stats.events++;
    return true;
}

void led_index_restored(struct led *led)
{
    struct led_index *x = &led->index;
    for (uint32_t id = x->count; id-- > 1;) {
        struct led_event **place = place_of(x, id);
        if (!place) {
            id -= id % PAGE; /* a page nobody is on is not there */
        } else if (!*place) {
            *place = free_mark(x->free);
            x->free = id;
        }
    }
}

void led_index_remove(struct led *led, struct led_event *e)
{
    *place_of(&led->index, e->id) = free_mark(led->index.free);
    led->index.free = e->id;
    led->stats.events--;
}

struct led_event *led_index_get(const struct led *led, uint64_t id)
{
    struct led_event **place = place_of(&led->index, id);
    return place && !is_free(*place) ? *place : NULL;
}

struct led_event *led_index_next(const struct led *led, uint32_t *id)
{
    while (++*id < led->index.count) {
        struct led_event **place = place_of(&led->index, *id);
        if (!place)
            *id |= PAGE - 1;
        else if (!is_free(*place))
            return *place;
    }
    return NULL;
}

/* ---- by what they are: (2) ---- */

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
        key[2 + i] = w->operands[i]->id;
    return map_hash(key, (2 + w->arity) * sizeof key[0]);
}

static uint64_t event_hash(const struct led_event *e)
{
    if (led_event_name(e))
        return map_hash_text(led_event_name(e));
    struct led_wish w = {led_op(e), led_op(e)->param == LED_PARAM_NONE ? 0 : e->param, e->arity,
            e->operands};
    return wish_hash(&w);
}

static bool is_wished(const struct led_event *e, const struct led_wish *w)
{
    if (led_op(e) != w->op || e->arity != w->arity)
        return false;
    if (w->op->param != LED_PARAM_NONE && e->param != w->param)
        return false;
    for (unsigned i = 0; i < w->arity; i++)
        if (e->operands[i] != w->operands[i])
            return false;
    return true;
}

/* Where a tag belongs: entries stand in the order of their tags, as far as there is room. */
static uint32_t home_of(const struct led_index *x, uint32_t tag)
{
    return (uint32_t)((uint64_t)tag * x->key_cap >> 32);
}

static uint32_t behind(const struct led_index *x, uint32_t at)
{
    return at + 1 == x->key_cap ? 0 : at + 1;
}

static uint32_t distance(const struct led_index *x, uint32_t from, uint32_t to)
{
    return to >= from ? to - from : to + x->key_cap - from;
}

static void key_put(struct led_index *x, struct led_key k)
{
    uint32_t at = home_of(x, k.tag);
    while (x->keys[at].id)
        at = behind(x, at);
    x->keys[at] = k;
}

/* By a quarter, for a table that doubles is half empty half of the time. */
static void keys_grow(struct led_index *x)
{
    struct led_key *old = x->keys;
    uint32_t old_cap = x->key_cap;
    x->key_cap = old_cap ? old_cap + old_cap / 4 : KEYS_MIN;
    x->keys = calloc(x->key_cap, sizeof x->keys[0]);
    CHECK(x->keys);
    for (uint32_t i = 0; i < old_cap; i++)
        if (old[i].id)
            key_put(x, old[i]);
    free(old);
}

void led_event_key(struct led *led, struct led_event *e)
{
    struct led_index *x = &led->index;
    if (x->key_count >= x->key_cap - x->key_cap / 8)
        keys_grow(x);
    key_put(x, (struct led_key){e->id, (uint32_t)event_hash(e)});
    x->key_count++;
    e->is_keyed = true;
}

/* Closes the gap: whoever stands behind it moves up unless that is before its own place. */
void led_event_unkey(struct led *led, struct led_event *e)
{
    struct led_index *x = &led->index;
    if (!e->is_keyed)
        return;
    e->is_keyed = false;
    x->key_count--;
    uint32_t gap = home_of(x, (uint32_t)event_hash(e));
    while (x->keys[gap].id != e->id)
        gap = behind(x, gap);
    for (uint32_t at = behind(x, gap); x->keys[at].id; at = behind(x, at)) {
        uint32_t home = home_of(x, x->keys[at].tag);
        if (distance(x, home, at) >= distance(x, gap, at)) {
            x->keys[gap] = x->keys[at];
            gap = at;
        }
    }
    x->keys[gap] = (struct led_key){0};
}

/* The next keyed event with that tag, from `*at` on; NULL if there is none. */
static struct led_event *probe(const struct led *led, uint32_t tag, uint32_t *at)
{
    const struct led_index *x = &led->index;
    while (x->key_cap && x->keys[*at].id) {
        struct led_key k = x->keys[*at];
        *at = behind(x, *at);
        if (k.tag == tag)
            return led_index_get(led, k.id);
    }
    return NULL;
}

struct led_event *led_event_keyed(const struct led *led, const struct led_wish *w)
{
    uint32_t tag = (uint32_t)wish_hash(w), at = home_of(&led->index, tag);
    struct led_event *e;
    while ((e = probe(led, tag, &at)) && !is_wished(e, w))
        ;
    return e;
}

struct led_event *led_event_find(const struct led *led, const char *name)
{
    uint32_t tag = (uint32_t)map_hash_text(name), at = home_of(&led->index, tag);
    struct led_event *e;
    while ((e = probe(led, tag, &at)))
        if (led_event_name(e) && strcmp(led_event_name(e), name) == 0)
            break;
    return e;
}

struct led_event *led_event_by_id(const struct led *led, uint64_t id)
{
    struct led_event *e = led_index_get(led, id);
    return e && !e->is_deleted ? e : NULL;
}

void led_index_done(struct led *led)
{
    free(led->index.keys);
}

size_t led_index_bytes(const struct led *led)
{
    return led->index.key_cap * sizeof led->index.keys[0]; /* the pages are in the pool */
}
