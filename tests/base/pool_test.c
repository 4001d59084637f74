#include "base/pool.h"
#include "tests/test.h"
#include <stdatomic.h>

static atomic_int ran;

static void count(struct pool_task *t)
{
    (void)t;
    atomic_fetch_add(&ran, 1);
}

TEST(all_run, "every task runs once before the pool is gone")
{
    enum { N = 10000 };
    static struct pool_task tasks[N];
    ran = 0;
    struct pool *p = pool_new(4, "test");
    for (int i = 0; i < N; i++) {
        tasks[i].run = count;
        pool_submit(p, &tasks[i]);
    }
    pool_free(p);
    EXPECT_INT(ran, N);
}

static int sequence[100], nsequence;

static void note_order(struct pool_task *t)
{
    static struct pool_task *first;
    if (!first)
        first = t;
    sequence[nsequence++] = (int)(t - first);
}

TEST(in_order, "one thread runs tasks in the order they were given")
{
    static struct pool_task tasks[100];
    struct pool *p = pool_new(1, "test");
    for (int i = 0; i < 100; i++) {
        tasks[i].run = note_order;
        pool_submit(p, &tasks[i]);
    }
    pool_free(p);
    EXPECT_INT(nsequence, 100);
    for (int i = 0; i < 100; i++)
        EXPECT_INT(sequence[i], i);
}

TEST_MAIN()
