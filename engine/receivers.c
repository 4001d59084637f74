/* Who is told, and how much may be under way to each of them at once.
 *
 * A key is what stands before the path of a URL, else the method; SQL_CLAIM makes it, too.
 */
#include "engine/receivers.h"
#include <stdlib.h>
#include <string.h>

void receivers_init(struct receivers *all, size_t most_flying, size_t most_lanes)
{
    map_init(&all->by_key);
    all->most_flying = most_flying;
    all->most_lanes = most_lanes;
    all->full = 0;
}

void receivers_done(struct receivers *all)
{
    map_done(&all->by_key);
}

static size_t key_of(const char *method, const char *target, const char **ret_key)
{
    size_t scheme = strspn(target, "abcdefghijklmnopqrstuvwxyz");
    *ret_key = method;
    if (!scheme || strncmp(target + scheme, "://", 3) != 0)
        return strlen(method);
    *ret_key = target;
    return scheme + 3 + strcspn(target + scheme + 3, "/?#");
}

struct receiver *receiver_take(struct receivers *all, const char *method, const char *target)
{
    const char *key;
    size_t len = key_of(method, target, &key);
    uint64_t hash = map_hash(key, len);
    struct receiver *r = NULL;
    for (struct map_node *n = map_first(&all->by_key, hash); n && !r; n = map_next(n)) {
        struct receiver *it = container_of(n, struct receiver, node);
        if (strlen(it->key) == len && memcmp(it->key, key, len) == 0)
            r = it;
    }
    if (!r) {
        r = calloc(1, sizeof *r + len + 1);
        CHECK(r);
        memcpy(r->key, key, len);
        list_init(&r->waiting);
        map_insert(&all->by_key, &r->node, hash);
    }
    if (++r->lanes == all->most_lanes)
        all->full++;
    return r;
}

void receiver_let_go(struct receivers *all, struct receiver *r)
{
    if (r->lanes-- == all->most_lanes)
        all->full--;
    if (r->lanes)
        return;
    map_remove(&all->by_key, &r->node);
    free(r);
}

bool receiver_has_room(const struct receivers *all, const struct receiver *r)
{
    return r->flying < all->most_flying;
}

const char *const *receivers_full(
        const struct receivers *all, struct arena *life, size_t *ret_n)
{
    *ret_n = 0;
    if (!all->full)
        return NULL;
    const char **keys = arena_array_of(life, all->full, const char *);
    map_each (n, &all->by_key) {
        const struct receiver *r = container_of(n, struct receiver, node);
        if (r->lanes >= all->most_lanes)
            keys[(*ret_n)++] = arena_strdup(life, r->key);
    }
    return keys;
}
