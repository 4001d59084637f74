/* map -- an intrusive chained hash table with a random seed.
 *
 * Keys are chosen by strangers (URLs, words), so the hash is SipHash-1-3 with a seed of
 * this process.  The node lives inside the object and keeps the full hash; inserting
 * cannot fail: if the table cannot grow, chains get longer.
 *
 *     struct map_node *n = map_first(&m, map_hash(key, len));
 *     for (; n; n = map_next(n)) if (container_of(n, struct page, node) is it) ...
 */
#pragma once
#include "base/check.h"

struct map_node {
    struct map_node *next;
    uint64_t hash;
};

struct map {
    struct map_node **buckets;
    size_t count, mask; /* mask = buckets - 1, 0 while there are none */
};

uint64_t map_hash(const void *key, size_t len);
uint64_t map_hash_text(const char *key);
uint64_t map_hash_id(uint64_t id);

void map_init(struct map *m);
void map_done(struct map *m); /* frees the table, not the members */

void map_insert(struct map *m, struct map_node *n, uint64_t hash);
void map_remove(struct map *m, struct map_node *n);

/* Members with exactly this hash, newest first; compare the keys yourself. */
struct map_node *map_first(const struct map *m, uint64_t hash);
struct map_node *map_next(const struct map_node *n);

/* Every member, in no order.  The current one may be removed. */
struct map_node *map_walk(const struct map *m, size_t *bucket, struct map_node *after);

#define map_each(pos, m)                                                                       \
    for (size_t pos##_b = 0, pos##_once = 1; pos##_once; pos##_once = 0)                       \
        for (struct map_node *pos = map_walk((m), &pos##_b, NULL),                             \
                             *pos##_n = pos ? map_walk((m), &pos##_b, pos) : NULL;             \
                pos; pos = pos##_n, pos##_n = pos ? map_walk((m), &pos##_b, pos) : NULL)
