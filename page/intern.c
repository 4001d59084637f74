/* Strings stored once, numbered in order of first appearance.
 *
 * The numbers are a function of the sequence of strings alone, so two pages with the same
 * sequence have the same arrays, and hashing the arrays compares the pages.
 *
 * Each tag and each attribute of a page is looked up here, and nearly all are short, so the
 * hash is made on the spot: of up to 16 bytes, two words that say them all, multiplied with
 * keys that whoever wrote the page does not know.
 */
#include "page/page_int.h"

struct slot {
    uint32_t hash;
    uint32_t number; /* + 1; 0: empty */
};

enum { FIRST_SLOTS = 64 };

void intern_init(struct intern *in, size_t max)
{
    *in = (struct intern){.keys = {hash64_keyed("a", 1), hash64_keyed("b", 1)}};
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

/* ---- words of a string ------------------------------------------------------------------- */

struct words {
    uint64_t a, b;
};

/* All of at most 16 bytes: of equal length, they are equal when these are. */
static inline struct words words_of(const char *p, size_t len)
{
    if (len >= 8)
        return (struct words){word8(p), word8(p + len - 8)};
    if (len >= 4)
        return (struct words){word4(p), word4(p + len - 4)};
    if (len == 0)
        return (struct words){0, 0};
    return (struct words){(unsigned char)p[0],
            (uint64_t)(unsigned char)p[len / 2] << 8 | (unsigned char)p[len - 1]};
}

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 both = (unsigned __int128)a * b;
    return (uint64_t)both ^ (uint64_t)(both >> 64);
}

static inline uint32_t hash_of(const struct intern *in, struct str s)
{
    uint64_t state = in->keys[1] ^ s.len;
    const char *p = s.ptr;

    if (s.len > 16) {
        const char *last = s.ptr + s.len - 16;
        for (; p < last; p += 16)
            state = fold(word8(p) ^ in->keys[0], word8(p + 8) ^ state);
        p = last;
    }
    struct words w = words_of(p, s.len > 16 ? 16 : s.len);
    state = fold(w.a ^ in->keys[0], w.b ^ state);
    return (uint32_t)fold(state ^ in->keys[1], in->keys[0]);
}

static inline bool is_same(const char *a, const char *b, size_t len)
{
    if (len > 16)
        return memcmp(a, b, len) == 0;
    struct words x = words_of(a, len), y = words_of(b, len);
    return x.a == y.a && x.b == y.b;
}

/* ---- the table --------------------------------------------------------------------------- */

static void slot_put(struct slot *slots, uint32_t mask, struct slot s)
{
    uint32_t i = s.hash & mask;
    while (slots[i].number)
        i = (i + 1) & mask;
    slots[i] = s;
}

static bool grow(struct intern *in)
{
    uint32_t slots = in->mask ? (in->mask + 1) * 4 : FIRST_SLOTS;
    struct buf bigger;

    buf_init(&bigger, in->slots.max);
    if (!buf_reserve(&bigger, slots * sizeof(struct slot))) {
        in->is_full = true;
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

static uint32_t add(struct intern *in, struct str s, uint32_t hash)
{
    struct span span = {(uint32_t)in->pool.len, (uint32_t)s.len};

    if ((in->count + 1) * 2 > in->mask && !grow(in))
        return 0;
    if (!buf_push(&in->pool, s.ptr, s.len) || !buf_push_char(&in->pool, 0) ||
            !buf_push(&in->spans, &span, sizeof span)) {
        in->is_full = true;
        return 0;
    }
    slot_put((struct slot *)(void *)in->slots.data, in->mask, (struct slot){hash, ++in->count});
    return in->count - 1;
}

uint32_t intern_get(struct intern *in, struct str s)
{
    uint32_t hash = hash_of(in, s);

    if (in->is_full)
        return 0;
    const struct slot *slots = (const struct slot *)(const void *)in->slots.data;
    const struct span *spans = (const struct span *)(const void *)in->spans.data;
    for (uint32_t i = hash & in->mask; in->mask && slots[i].number; i = (i + 1) & in->mask) {
        const struct span *span = &spans[slots[i].number - 1];
        if (slots[i].hash == hash && span->len == s.len &&
                is_same(in->pool.data + span->at, s.ptr, s.len))
            return slots[i].number - 1;
    }
    return add(in, s, hash);
}

uint32_t intern_get_again(struct intern *in, struct str s, struct intern_memo *m, uint64_t key)
{
    uint32_t number = intern_get(in, s);

    if (!in->is_full)
        *m = (struct intern_memo){key, (uint32_t)s.len, number};
    return number;
}
