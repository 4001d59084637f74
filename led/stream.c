/* The bytes of a snapshot, in both directions.
 *
 * An operator's sync hook names its fields in order, and the same function saves and
 * restores them; so the two cannot disagree.
 *  (1) Numbers are little-endian, 8 bytes; the format does not depend on the machine.
 *  (2) An occurrence is written where it is first met and named by its index afterwards, so
 *      what was shared is shared again.  Events, which come first, are named likewise.
 *  (3) Bytes that are restored need not be trusted: whatever does not fit fails the stream,
 *      and a failed stream yields zeros, ends every list, and reads nothing more.
 */
#include "led/led_int.h"
#include <endian.h>
#include <string.h>

struct saved {
    struct map_node node;
    const struct led_occurrence *o;
    uint64_t index;
};

void led_sync_fail(struct led_stream *s)
{
    s->has_failed = true;
    s->left = 0;
}

void led_sync_u64(struct led_stream *s, uint64_t *v)
{
    uint64_t bytes = htole64(*v); /* (1) */
    if (s->is_saving) {
        if (!buf_append(s->out, &bytes, 8))
            led_sync_fail(s);
        return;
    }
    bytes = 0;
    if (s->left < 8) {
        led_sync_fail(s);
    } else {
        memcpy(&bytes, s->in, 8);
        s->in += 8;
        s->left -= 8;
    }
    *v = le64toh(bytes);
}

uint64_t led_sync_below(struct led_stream *s, uint64_t v, uint64_t limit)
{
    led_sync_u64(s, &v);
    if (v >= limit) {
        led_sync_fail(s);
        return 0;
    }
    return v;
}

void led_sync_u32(struct led_stream *s, uint32_t *v)
{
    *v = (uint32_t)led_sync_below(s, *v, (uint64_t)UINT32_MAX + 1);
}

void led_sync_bool(struct led_stream *s, bool *v)
{
    *v = led_sync_below(s, *v, 2);
}

/* Far from the ends, so that sums of two times cannot overflow. */
void led_sync_time(struct led_stream *s, msec *v)
{
    uint64_t bits = (uint64_t)*v;
    led_sync_u64(s, &bits);
    *v = (msec)bits;
    if (*v > MSEC_NEVER / 4 || *v < -(MSEC_NEVER / 4)) {
        *v = 0;
        led_sync_fail(s);
    }
}

void led_sync_note(struct led_stream *s, int64_t *v)
{
    uint64_t bits = (uint64_t)*v;
    led_sync_u64(s, &bits);
    *v = (int64_t)bits;
}

bool led_sync_more(struct led_stream *s, bool more)
{
    led_sync_bool(s, &more);
    return more && !s->has_failed;
}

void led_sync_text(struct led_stream *s, char **text)
{
    if (!led_sync_more(s, *text != NULL))
        return;
    uint64_t len = s->is_saving ? strlen(*text) : 0;
    len = led_sync_below(s, len, s->is_saving ? SIZE_MAX : s->left);
    if (s->has_failed)
        return;
    if (s->is_saving) {
        if (!buf_append(s->out, *text, len))
            led_sync_fail(s);
        return;
    }
    if (len > s->left || memchr(s->in, 0, len)) {
        led_sync_fail(s);
        return;
    }
    *text = arena_strndup(s->scratch, (const char *)s->in, len);
    s->in += len;
    s->left -= len;
}

/* ---- names: (2) ---- */

void *led_sync_room(struct led_stream *s, void *pointers, size_t count, size_t *cap)
{
    if (count < *cap)
        return pointers;
    *cap = *cap ? 2 * *cap : 256;
    void *more = arena_zalloc(s->scratch, arena_array_bytes(*cap, sizeof(void *)));
    if (count)
        memcpy(more, pointers, count * sizeof(void *));
    return more;
}

void led_sync_event(struct led_stream *s, struct led_event **e)
{
    uint64_t number = s->is_saving && *e ? s->numbers[led_mem_place(&s->led->mem, *e)] : 0;
    number = led_sync_below(s, number, s->event_count + 1);
    if (!s->is_saving)
        *e = number ? s->events[number - 1] : NULL;
}

/* ---- occurrences: (2) ---- */

static struct saved *find_saved(struct led_stream *s, const struct led_occurrence *o)
{
    struct map_node *n = map_first(&s->saved, o->arrival); /* unique, and even in low bits */
    return n ? container_of(n, struct saved, node) : NULL;
}

static void remember(struct led_stream *s, struct led_occurrence *o)
{
    if (s->is_saving) {
        struct saved *v = arena_new_of(s->scratch, struct saved);
        v->o = o;
        v->index = s->count++;
        map_insert(&s->saved, &v->node, o->arrival);
        return;
    }
    s->restored = led_sync_room(s, s->restored, s->count, &s->cap);
    s->restored[s->count++] = o;
}

static void sync_event_of(struct led_stream *s, struct led_occurrence *o)
{
    struct led_event *e = o->event;
    led_sync_event(s, &e);
    if (s->is_saving || !e)
        return;
    if (!led_is_leaf(e)) {
        led_sync_fail(s);
        return;
    }
    o->event = e;
    e->occurrences++;
}

static void sync_fields(struct led_stream *s, struct led_occurrence *o)
{
    led_sync_time(s, &o->start);
    led_sync_time(s, &o->end);
    led_sync_time(s, &o->late);
    o->arrival = led_sync_below(s, o->arrival, s->led->last_arrival + 1);
    led_sync_u64(s, &o->number);
    led_sync_u64(s, &o->data);
    led_sync_u32(s, &o->missed);
    sync_event_of(s, o);
    if (o->start > o->end)
        led_sync_fail(s);
}

static struct led_occurrence *restore_new(struct led_stream *s)
{
    uint64_t parts = led_sync_below(s, 0, s->left / 8 + 1);
    uint64_t arrival = s->led->last_arrival;
    struct led_occurrence *o = led_occurrence_new(s->led, (uint32_t)parts);
    s->led->last_arrival = arrival;
    o->part_count = 0; /* until they are there */
    for (uint32_t i = 0; i < parts; i++) {
        struct led_occurrence *part = NULL;
        led_sync_occurrence(s, &part);
        if (part->part_count)
            led_sync_fail(s); /* parts are primitive */
        o->parts[i] = part;
    }
    o->part_count = (uint32_t)parts;
    sync_fields(s, o);
    return o;
}

static void save_new(struct led_stream *s, struct led_occurrence *o)
{
    led_sync_below(s, o->part_count, UINT64_MAX);
    for (uint32_t i = 0; i < o->part_count; i++)
        led_sync_occurrence(s, &o->parts[i]);
    sync_fields(s, o);
}

/* 0 means one not met before, else its index + 1. */
void led_sync_occurrence(struct led_stream *s, struct led_occurrence **o)
{
    const struct saved *known = s->is_saving ? find_saved(s, *o) : NULL;
    uint64_t name = led_sync_below(s, known ? known->index + 1 : 0, s->count + 1);
    if (name && !s->is_saving) {
        *o = led_ref(s->restored[name - 1]);
    } else if (!name) {
        if (s->is_saving)
            save_new(s, *o);
        else
            *o = restore_new(s);
        remember(s, *o);
    }
}

/* ---- what operators keep ---- */

void led_sync_bag(struct led_stream *s, struct led_bag *b)
{
    struct led_cell *c = b->first;
    while (led_sync_more(s, c != NULL)) {
        struct led_occurrence *o = c ? c->o : NULL;
        int64_t note = c ? c->note : 0;
        led_sync_occurrence(s, &o);
        led_sync_note(s, &note);
        if (s->is_saving) {
            c = c->next;
        } else {
            led_bag_put(s->led, b, o, note);
            led_unref(s->led, o);
        }
    }
}

void led_sync_timer(struct led_stream *s, struct led_node *n, struct led_timer *t,
        enum led_timer_class class)
{
    bool is_set = s->is_saving && led_timer_is_set(t);
    uint64_t order = t->heap.order;
    msec at = is_set ? t->heap.at : 0;
    led_sync_u64(s, &order);
    led_sync_bool(s, &is_set);
    led_sync_time(s, &at);
    if (s->is_saving)
        return;
    heap_node_init(&t->heap);
    t->heap.order = order;
    t->node = led_link_to(n);
    led_timer_set_class(t, class);
    if (is_set && !s->has_failed)
        led_timer_set(s->led, t, at);
}
