/* Occurrences: made, mixed, counted.
 *
 *  (1) The interval of a composite spans the intervals of what it was mixed from.  PLUS and
 *      P are instants instead, although they list what they were built from.
 *  (2) Parts are the primitive occurrences underneath, by end and arrival, each once even if
 *      it came by two paths.  They are flat: a part of a part does not exist.  What arrived
 *      once has one arrival number, also if it was made again from what a P remembers.
 */
#include "led/led_int.h"
#include <stdlib.h>
#include <string.h>

static size_t bytes_of(uint32_t parts)
{
    return sizeof(struct led_occurrence) + parts * sizeof(struct led_occurrence *);
}

struct led_occurrence *led_occurrence_new(struct led *led, uint32_t parts)
{
    struct led_occurrence *o = led_alloc(led, bytes_of(parts));
    o->refs = 1;
    o->part_count = parts;
    o->arrival = ++led->last_arrival;
    led->stats.occurrences++;
    return o;
}

struct led_occurrence *led_occurrence_leaf(struct led *led, struct led_event *e, msec at)
{
    struct led_occurrence *o = led_occurrence_new(led, 0);
    o->start = o->end = at;
    o->late = led->real - at;
    o->event = e;
    o->number = led_op(e) == &led_op_primitive ? ++e->count : 1;
    e->occurrences++;
    led->stats.raised++;
    return o;
}

struct led_occurrence *led_occurrence_again(
        struct led *led, struct led_event *e, msec at, uint64_t arrival, uint64_t number)
{
    uint64_t last = led->last_arrival;
    struct led_occurrence *o = led_occurrence_new(led, 0);
    led->last_arrival = last; /* nothing has arrived */
    o->start = o->end = at;
    o->arrival = arrival;
    o->event = e;
    o->number = number;
    if (e)
        e->occurrences++;
    return o;
}

struct led_occurrence *led_occurrence_tick(
        struct led *led, msec at, uint64_t number, msec nominal)
{
    struct led_occurrence *o = led_occurrence_new(led, 0);
    o->start = o->end = at;
    o->late = led->real - at;
    o->number = number;
    o->data = (uint64_t)nominal;
    led->stats.raised++;
    return o;
}

void led_unref(struct led *led, struct led_occurrence *o)
{
    if (--o->refs)
        return;
    for (uint32_t i = 0; i < o->part_count; i++)
        led_unref(led, o->parts[i]);
    struct led_event *e = o->event;
    led_release(led, o, bytes_of(o->part_count));
    led->stats.occurrences--;
    if (e) {
        e->occurrences--;
        led_event_reap(led, e);
    }
}

uint32_t led_part_count(const struct led_occurrence *o)
{
    return o->part_count ? o->part_count : 1;
}

const struct led_occurrence *led_part(const struct led_occurrence *o, uint32_t index)
{
    CHECK(index < led_part_count(o));
    return o->part_count ? o->parts[index] : o;
}

/* ---- mixing ---- */

static int compare(const void *a, const void *b)
{
    const struct led_occurrence *x = *(struct led_occurrence *const *)a;
    const struct led_occurrence *y = *(struct led_occurrence *const *)b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->arrival < y->arrival ? -1 : x->arrival > y->arrival;
}

static void mix_part(struct led *led, struct led_occurrence *part)
{
    struct led_mixer *m = &led->mixer;
    if (m->count == m->cap)
        m->parts = led_grow(led, m->parts, sizeof m->parts[0], &m->cap);
    if (m->count && compare(&m->parts[m->count - 1], &part) >= 0)
        m->is_sorted = false;
    m->parts[m->count++] = led_ref(part);
}

void led_mix(struct led *led, struct led_occurrence *o)
{
    struct led_mixer *m = &led->mixer;
    if (m->count == 0) {
        m->start = o->start;
        m->end = o->end;
        m->is_sorted = true;
    }
    m->start = o->start < m->start ? o->start : m->start; /* (1) */
    m->end = o->end > m->end ? o->end : m->end;
    if (o->part_count == 0)
        mix_part(led, o);
    for (uint32_t i = 0; i < o->part_count; i++)
        mix_part(led, o->parts[i]);
}

static void sort_parts(struct led *led, struct led_mixer *m) /* (2) */
{
    if (m->is_sorted)
        return;
    if (m->count == 2 && m->parts[0]->arrival != m->parts[1]->arrival) {
        struct led_occurrence *later = m->parts[0];
        m->parts[0] = m->parts[1];
        m->parts[1] = later;
        return;
    }
    qsort(m->parts, m->count, sizeof(struct led_occurrence *), compare);
    size_t kept = 1;
    for (size_t i = 1; i < m->count; i++)
        if (m->parts[i]->arrival != m->parts[kept - 1]->arrival)
            m->parts[kept++] = m->parts[i];
        else
            led_unref(led, m->parts[i]);
    m->count = kept;
}

static struct led_occurrence *take(struct led *led, msec start, msec end)
{
    struct led_mixer *m = &led->mixer;
    CHECK(m->count > 0 && m->count <= UINT32_MAX);
    sort_parts(led, m);
    struct led_occurrence *o = led_occurrence_new(led, (uint32_t)m->count);
    o->start = start;
    o->end = end;
    for (size_t i = 0; i < m->count; i++)
        o->parts[i] = m->parts[i]; /* the mixer's reference goes over */
    m->count = 0;
    return o;
}

struct led_occurrence *led_mix_take(struct led *led, const struct led_occurrence *detector)
{
    struct led_occurrence *o = take(led, led->mixer.start, led->mixer.end);
    o->late = detector->late;
    o->missed = detector->missed;
    return o;
}

struct led_occurrence *led_mix_take_at(struct led *led, msec at)
{
    struct led_occurrence *o = take(led, at, at);
    o->late = led->real - at;
    return o;
}
