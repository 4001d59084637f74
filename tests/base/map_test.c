#include "base/map.h"
#include "tests/test.h"

struct entry {
    struct map_node node;
    int key;
};

static struct entry *find(struct map *m, int key)
{
    struct map_node *n = map_first(m, map_hash(&key, sizeof key));
    for (; n; n = map_next(n))
        if (container_of(n, struct entry, node)->key == key)
            return container_of(n, struct entry, node);
    return NULL;
}

TEST(many, "what was put in is found, what was taken out is not, through growth")
{
    enum { N = 5000 };
    static struct entry entries[N];
    struct map m;
    map_init(&m);
    for (int i = 0; i < N; i++) {
        entries[i].key = i;
        map_insert(&m, &entries[i].node, map_hash(&i, sizeof i));
    }
    for (int i = 0; i < N; i += 2)
        map_remove(&m, &entries[i].node);
    for (int i = 0; i < N; i++)
        EXPECT((find(&m, i) == &entries[i]) == (i % 2 == 1));
    EXPECT_INT(m.count, N / 2);
    map_done(&m);
}

TEST(walk_removing, "every member is met once, and may be removed when met")
{
    enum { N = 300 };
    static struct entry entries[N];
    struct map m;
    map_init(&m);
    for (int i = 0; i < N; i++) {
        entries[i].key = 0;
        map_insert(&m, &entries[i].node, map_hash(&i, sizeof i));
    }
    int met = 0;
    map_each (n, &m) {
        met++;
        container_of(n, struct entry, node)->key++;
        map_remove(&m, n);
    }
    EXPECT_INT(met, N);
    EXPECT_INT(m.count, 0);
    for (int i = 0; i < N; i++)
        EXPECT_INT(entries[i].key, 1);
    map_done(&m);
}

TEST(same_hash, "members of one hash are all found, newest first")
{
    struct entry a = {.key = 1}, b = {.key = 2};
    struct map m;
    map_init(&m);
    map_insert(&m, &a.node, 7);
    map_insert(&m, &b.node, 7);
    struct map_node *n = map_first(&m, 7);
    EXPECT(n == &b.node && map_next(n) == &a.node && !map_next(&a.node));
    map_done(&m);
}

TEST_MAIN()
