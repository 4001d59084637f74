#include "base/map.h"
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <sys/random.h>

/* ---- SipHash-1-3 (Aumasson, Bernstein), keyed once a process ------------------------- */

static uint64_t key[2];
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void key_make(void)
{
    CHECK(getrandom(key, sizeof key, 0) == sizeof key);
}

#define ROTL(x, b) (((x) << (b)) | ((x) >> (64 - (b))))

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1], v[1] = ROTL(v[1], 13), v[1] ^= v[0], v[0] = ROTL(v[0], 32);
    v[2] += v[3], v[3] = ROTL(v[3], 16), v[3] ^= v[2];
    v[0] += v[3], v[3] = ROTL(v[3], 21), v[3] ^= v[0];
    v[2] += v[1], v[1] = ROTL(v[1], 17), v[1] ^= v[2], v[2] = ROTL(v[2], 32);
}

uint64_t map_hash(const void *bytes, size_t len)
{
    pthread_once(&key_once, key_make);
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
            key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
    const unsigned char *p = bytes;
    uint64_t last = (uint64_t)len << 56;

    for (; len >= 8; p += 8, len -= 8) {
        uint64_t m;
        memcpy(&m, p, 8);
        v[3] ^= m;
        sip_round(v);
        v[0] ^= m;
    }
    for (size_t i = 0; i < len; i++)
        last |= (uint64_t)p[i] << (8 * i);
    v[3] ^= last;
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    sip_round(v), sip_round(v), sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t map_hash_text(const char *text)
{
    return map_hash(text, strlen(text));
}

uint64_t map_hash_id(uint64_t id)
{
    return map_hash(&id, sizeof id);
}

/* ---- the table ----------------------------------------------------------------------- */

void map_init(struct map *m)
{
    *m = (struct map){0};
}

void map_done(struct map *m)
{
    free(m->buckets);
    map_init(m);
}

/* Growing is an improvement, not a need: without memory the chains get longer. */
static void map_grow(struct map *m)
{
    size_t n = m->buckets ? (m->mask + 1) * 2 : 16;
    struct map_node **buckets = calloc(n, sizeof *buckets);
    if (!buckets) {
        CHECK(m->buckets);
        return;
    }
    for (size_t i = 0; m->buckets && i <= m->mask; i++) {
        for (struct map_node *p = m->buckets[i], *next; p; p = next) {
            next = p->next;
            p->next = buckets[p->hash & (n - 1)];
            buckets[p->hash & (n - 1)] = p;
        }
    }
    free(m->buckets);
    m->buckets = buckets;
    m->mask = n - 1;
}

void map_insert(struct map *m, struct map_node *n, uint64_t hash)
{
    if (!m->buckets || m->count > m->mask)
        map_grow(m);
    n->hash = hash;
    n->next = m->buckets[hash & m->mask];
    m->buckets[hash & m->mask] = n;
    m->count++;
}

void map_remove(struct map *m, struct map_node *n)
{
    CHECK(m->buckets);
    struct map_node **p = &m->buckets[n->hash & m->mask];
    while (*p != n) {
        CHECK(*p);
        p = &(*p)->next;
    }
    *p = n->next;
    n->next = NULL;
    m->count--;
}

static struct map_node *same_hash(struct map_node *n, uint64_t hash)
{
    while (n && n->hash != hash)
        n = n->next;
    return n;
}

struct map_node *map_first(const struct map *m, uint64_t hash)
{
    return m->buckets ? same_hash(m->buckets[hash & m->mask], hash) : NULL;
}

struct map_node *map_next(const struct map_node *n)
{
    return same_hash(n->next, n->hash);
}

struct map_node *map_walk(const struct map *m, size_t *bucket, struct map_node *after)
{
    if (!m->buckets)
        return NULL;
    if (after && after->next)
        return after->next;
    for (size_t i = after ? *bucket + 1 : 0; i <= m->mask; i++) {
        if (m->buckets[i]) {
            *bucket = i;
            return m->buckets[i];
        }
    }
    return NULL;
}
