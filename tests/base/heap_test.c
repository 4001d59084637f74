#include "base/heap.h"
#include "tests/test.h"

TEST(sorted, "deadlines come out earliest first, equal ones by their order")
{
    enum { N = 2000 };
    static struct heap_node nodes[N];
    struct heap h;
    heap_init(&h);
    unsigned seed = 12345;
    for (int i = 0; i < N; i++) {
        heap_node_init(&nodes[i]);
        seed = seed * 1103515245 + 12345;
        heap_set(&h, &nodes[i], seed >> 24, (uint64_t)i);
    }
    for (int i = 0; i < N; i += 3) /* move a third of them */
        heap_set(&h, &nodes[i], 256 - nodes[i].at, nodes[i].order);
    for (int i = 1; i < N; i += 5) /* cancel some */
        heap_remove(&h, &nodes[i]);

    msec at = -1;
    uint64_t order = 0;
    size_t seen = 0;
    for (struct heap_node *n; (n = heap_min(&h)); seen++) {
        EXPECT(n->at > at || (n->at == at && n->order > order));
        at = n->at;
        order = n->order;
        heap_remove(&h, n);
        EXPECT(!heap_node_is_in(n));
    }
    EXPECT_INT(seen, N - N / 5);
    heap_done(&h);
}

TEST(cancel_twice, "cancelling what is not there does no harm")
{
    struct heap h;
    struct heap_node n;
    heap_init(&h);
    heap_node_init(&n);
    heap_remove(&h, &n);
    heap_set(&h, &n, 5, 1);
    heap_remove(&h, &n);
    heap_remove(&h, &n);
    EXPECT(!heap_min(&h));
    heap_done(&h);
}

TEST_MAIN()
