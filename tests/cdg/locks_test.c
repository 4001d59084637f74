/* The lock hash table under several threads: order within a page, no overlap, no page that
 * keeps a thread from another.  Meant to be run under the thread sanitizer as well. */
#include "cdg/cdg.h"
#include "tests/test.h"
#include <pthread.h>
#include <stdatomic.h>

enum { PAGES = 50, TASKS = 4000, THREADS = 6, SUBMITTERS = 3 };

struct page {
    int running;   /* not atomic: the table is what protects it */
    unsigned next; /* likewise */
    unsigned submitted;
    pthread_mutex_t order; /* submitters agree on the order they submit in */
};

struct job {
    struct cdg_task task;
    struct page *page;
    unsigned number;
};

static struct page pages[PAGES];
static atomic_uint overlaps, disorders, ran;

static void job_run(struct cdg_task *task)
{
    struct job *j = container_of(task, struct job, task);
    struct page *p = j->page;

    if (p->running++)
        atomic_fetch_add(&overlaps, 1);
    if (p->next++ != j->number)
        atomic_fetch_add(&disorders, 1);
    p->running--;
    atomic_fetch_add(&ran, 1);
    free(j); /* the table must not look at it any more */
}

static void *submitter(void *arg)
{
    struct cdg_locks *l = arg;
    unsigned state = (unsigned)(uintptr_t)pthread_self();

    for (int i = 0; i < TASKS; i++) {
        state = state * 1664525u + 1013904223u;
        unsigned n = (state >> 16) % PAGES;
        n = state >> 31 ? 0 : n; /* one page is popular */
        struct job *j = calloc(1, sizeof *j);
        j->task.run = job_run;
        j->page = &pages[n];
        pthread_mutex_lock(&pages[n].order);
        j->number = pages[n].submitted++;
        cdg_locks_submit(l, n, &j->task);
        pthread_mutex_unlock(&pages[n].order);
    }
    return NULL;
}

TEST(hammer, "tasks of a page run one at a time and in order, whoever submits them")
{
    struct pool *pool = pool_new(THREADS, "test");
    struct cdg_locks *l = cdg_locks_new(pool, 7);
    pthread_t threads[SUBMITTERS];
    struct cdg_locks_stats stats;

    for (int i = 0; i < PAGES; i++)
        pthread_mutex_init(&pages[i].order, NULL);
    for (int i = 0; i < SUBMITTERS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, submitter, l) == 0);
    for (int i = 0; i < SUBMITTERS; i++)
        pthread_join(threads[i], NULL);
    while (atomic_load(&ran) < SUBMITTERS * TASKS)
        sched_yield();
    pool_free(pool);
    cdg_locks_stats_get(l, &stats);
    EXPECT_INT(atomic_load(&ran), SUBMITTERS * TASKS);
    EXPECT_INT(atomic_load(&overlaps), 0);
    EXPECT_INT(atomic_load(&disorders), 0);
    EXPECT_INT(stats.pages, 0);
    EXPECT_INT(stats.waiting, 0);
    EXPECT_INT(stats.done, SUBMITTERS * TASKS);
    EXPECT(stats.waited > 0);
    cdg_locks_free(l);
}

/* ---- a page in use does not keep the threads
 * -------------------------------------------------------- */

struct gate {
    struct cdg_task task;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool open;
    atomic_uint *passed;
};

static void gate_run(struct cdg_task *task)
{
    struct gate *g = container_of(task, struct gate, task);
    pthread_mutex_lock(&g->mutex);
    while (!g->open)
        pthread_cond_wait(&g->changed, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
}

struct counting {
    struct cdg_task task;
    atomic_uint *passed;
};

static void counting_run(struct cdg_task *task)
{
    atomic_fetch_add(container_of(task, struct counting, task)->passed, 1);
}

TEST(no_sleeping, "with two threads and a page stuck, all other pages go on behind it")
{
    struct pool *pool = pool_new(2, "test");
    struct cdg_locks *l = cdg_locks_new(pool, 16);
    atomic_uint same = 0, others = 0;
    struct gate gate = {.task.run = gate_run,
            .mutex = PTHREAD_MUTEX_INITIALIZER,
            .changed = PTHREAD_COND_INITIALIZER};
    struct counting behind[10], elsewhere[100];
    struct cdg_locks_stats stats;

    cdg_locks_submit(l, 1, &gate.task);
    for (size_t i = 0; i < countof(behind); i++) {
        behind[i] = (struct counting){.task.run = counting_run, .passed = &same};
        cdg_locks_submit(l, 1, &behind[i].task);
    }
    for (size_t i = 0; i < countof(elsewhere); i++) {
        elsewhere[i] = (struct counting){.task.run = counting_run, .passed = &others};
        cdg_locks_submit(l, 2 + (int64_t)i, &elsewhere[i].task);
    }
    while (atomic_load(&others) < countof(elsewhere))
        sched_yield();
    EXPECT_INT(atomic_load(&same), 0);
    cdg_locks_stats_get(l, &stats);
    EXPECT_INT(stats.waiting, countof(behind));
    pthread_mutex_lock(&gate.mutex);
    gate.open = true;
    pthread_cond_signal(&gate.changed);
    pthread_mutex_unlock(&gate.mutex);
    while (atomic_load(&same) < countof(behind))
        sched_yield();
    pool_free(pool);
    cdg_locks_free(l);
}

/* ---- order of what is sent
 * -------------------------------------------------------------------------------- */

struct relay {
    struct cdg_task task;
    struct cdg_locks *locks;
    unsigned left;
    unsigned *count;
    atomic_bool *over;
};

static void relay_run(struct cdg_task *task)
{
    struct relay *r = container_of(task, struct relay, task);
    ++*r->count;
    if (--r->left)
        cdg_locks_submit(r->locks, 5, &r->task); /* from within, for the page in use */
    else
        atomic_store(r->over, true);
}

TEST(from_within, "a task may submit the next for its own page")
{
    struct pool *pool = pool_new(3, "test");
    struct cdg_locks *l = cdg_locks_new(pool, 4);
    unsigned count = 0;
    atomic_bool over = false;
    struct relay r = {
            .task.run = relay_run, .locks = l, .left = 1000, .count = &count, .over = &over};

    cdg_locks_submit(l, 5, &r.task);
    while (!atomic_load(&over))
        sched_yield();
    pool_free(pool);
    EXPECT_INT(count, 1000);
    cdg_locks_free(l);
}

TEST_MAIN()
