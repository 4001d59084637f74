/* Strings stored once, numbered in order of first appearance.
 *
 * The numbers are a function of the sequence of strings alone, so two pages with the same
 * sequence have the same arrays, and hashing the arrays compares the pages.
 */
#include "page/page_int.h"

struct slot {
    uint64_t hash;
    uint32_t number; /* + 1; 0: empty */
    uint32_t unused;
};

enum { FIRST_SLOTS = 64 };

void intern_init(struct intern *in, size_t max)
{
    *in = (struct intern){.count = 0};
    buf_init(&in->slots, max);
    buf_init(&in->spans, max);
    buf_init(&in->pool, max < UINT32_MAX ? max : UINT32_MAX);
}

void intern_done(struct intern *in)
{
    buf_done(&in->slots);
    buf_done(&in->spans);
    buf_done(&in->pool);
}

bool intern_is_full(const struct intern *in)
{
    return in->slots.overflowed || in->spans.overflowed || in->pool.overflowed;
}

static void slot_put(struct slot *slots, uint32_t mask, struct slot s)
{
    uint32_t i = (uint32_t)s.hash & mask;
    while (slots[i].number)
        i = (i + 1) & mask;
    slots[i] = s;
}

static bool grow(struct intern *in)
{
    uint32_t slots = in->mask ? (in->mask + 1) * 2 : FIRST_SLOTS;
    struct buf bigger;

    buf_init(&bigger, in->slots.max);
    if (!buf_reserve(&bigger, slots * sizeof(struct slot))) {
        in->slots.overflowed = true;
        return false;
    }
    memset(bigger.data, 0, slots * sizeof(struct slot));
    struct slot *old = (struct slot *)(void *)in->slots.data;
    for (uint32_t i = 0; in->mask && i <= in->mask; i++)
        if (old[i].number)
            slot_put((struct slot *)(void *)bigger.data, slots - 1, old[i]);
    buf_done(&in->slots);
    in->slots = bigger;
    in->mask = slots - 1;
    return true;
}

static uint32_t add(struct intern *in, struct str s, uint64_t hash)
{
    struct span span = {(uint32_t)in->pool.len, (uint32_t)s.len};

    buf_push(&in->pool, s.ptr, s.len);
    buf_push_char(&in->pool, 0);
    buf_push(&in->spans, &span, sizeof span);
    if (intern_is_full(in))
        return 0;
    slot_put((struct slot *)(void *)in->slots.data, in->mask,
            (struct slot){hash, ++in->count, 0});
    return in->count - 1;
}

uint32_t intern_get(struct intern *in, struct str s)
{
    uint64_t hash = hash64_keyed(s.ptr, s.len);

    if (intern_is_full(in))
        return 0;
    if ((in->count + 1) * 2 > in->mask && !grow(in))
        return 0;
    const struct slot *slots = (const struct slot *)(const void *)in->slots.data;
    const struct span *spans = (const struct span *)(const void *)in->spans.data;
    for (uint32_t i = (uint32_t)hash & in->mask; slots[i].number; i = (i + 1) & in->mask) {
        const struct span *span = &spans[slots[i].number - 1];
        if (slots[i].hash == hash && span->len == s.len &&
                memcmp(in->pool.data + span->at, s.ptr, s.len) == 0)
            return slots[i].number - 1;
    }
    return add(in, s, hash);
}
