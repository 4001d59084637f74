/* The lock hash table: one page at a time, without a thread ever waiting for a page.
 *
 * A page in use has an entry in its bucket; behind it wait the tasks for that page.  What
 * runs on the pool is the entry, which takes its first task, runs it, and goes to the end
 * of the pool's queue again while tasks are left, so that a busy page does not keep a
 * thread from the others.  It must hold that
 *  (1) an entry is on the pool at most once, so tasks of a page never overlap,
 *  (2) tasks of a page run in the order they were submitted, and
 *  (3) nothing touches a task once its run has been called: it may be gone.
 *
 * Locks: a bucket's is taken first, the pool's inside it (base/lock.h).
 */
#include "base/lock.h"
#include "cdg/cdg_int.h"
#include <stdatomic.h>

struct entry {
    struct pool_task on_pool;
    struct list in_bucket; /* or in the bucket's spare list */
    struct cdg_locks *locks;
    struct bucket *bucket;
    int64_t page_id;
    struct list tasks;
};

struct bucket {
    struct lock lock;
    /* under lock */
    struct list entries, spare;
    struct arena *life;
};

struct cdg_locks {
    struct arena *life;
    struct pool *pool;
    unsigned nbuckets;
    struct bucket *buckets;
    atomic_size_t pages, waiting;
    _Atomic uint64_t waited, done;
};

struct cdg_locks *cdg_locks_new(struct pool *pool, unsigned buckets)
{
    CHECK(buckets > 0);
    struct arena *life = arena_new(NULL, "cdg locks");
    struct cdg_locks *l = arena_new_of(life, struct cdg_locks);

    l->life = life;
    l->pool = pool;
    l->nbuckets = buckets;
    l->buckets = arena_array_of(life, buckets, struct bucket);
    for (unsigned i = 0; i < buckets; i++) {
        struct bucket *b = &l->buckets[i];
        lock_init(&b->lock, LOCK_CDG_BUCKET);
        list_init(&b->entries);
        list_init(&b->spare);
        b->life = arena_new(life, "cdg bucket");
    }
    return l;
}

void cdg_locks_free(struct cdg_locks *l)
{
    if (!l)
        return;
    CHECK(atomic_load(&l->pages) == 0);
    for (unsigned i = 0; i < l->nbuckets; i++)
        lock_done(&l->buckets[i].lock);
    arena_free(l->life);
}

static struct entry *entry_find(struct bucket *b, int64_t page_id)
{
    lock_assert_held(&b->lock);
    list_each (e, &b->entries) {
        struct entry *entry = list_entry(e, struct entry, in_bucket);
        if (entry->page_id == page_id)
            return entry;
    }
    return NULL;
}

static struct cdg_task *first_task(struct entry *e)
{
    lock_assert_held(&e->bucket->lock);
    struct list *first = list_first(&e->tasks);
    CHECK(first);
    list_remove(first);
    return list_entry(first, struct cdg_task, link);
}

static void entry_run(struct pool_task *on_pool)
{
    struct entry *e = container_of(on_pool, struct entry, on_pool);
    struct cdg_locks *l = e->locks;

    lock_take(&e->bucket->lock);
    struct cdg_task *task = first_task(e);
    lock_release(&e->bucket->lock);
    task->run(task); /* (3) */
    atomic_fetch_add(&l->done, 1);

    lock_take(&e->bucket->lock);
    if (list_is_empty(&e->tasks)) {
        list_remove(&e->in_bucket);
        list_append(&e->bucket->spare, &e->in_bucket);
        atomic_fetch_sub(&l->pages, 1);
    } else {
        atomic_fetch_sub(&l->waiting, 1);
        pool_submit(l->pool, &e->on_pool); /* (1): we were the only ones on the pool */
    }
    lock_release(&e->bucket->lock);
}

static struct entry *entry_new(struct cdg_locks *l, struct bucket *b, int64_t page_id)
{
    struct list *spare = list_first(&b->spare);
    struct entry *e;

    lock_assert_held(&b->lock);
    if (spare) {
        list_remove(spare);
        e = list_entry(spare, struct entry, in_bucket);
    } else {
        e = arena_new_of(b->life, struct entry);
    }
    *e = (struct entry){.on_pool.run = entry_run, .locks = l, .bucket = b, .page_id = page_id};
    list_init(&e->on_pool.link);
    list_init(&e->tasks);
    list_append(&b->entries, &e->in_bucket);
    atomic_fetch_add(&l->pages, 1);
    return e;
}

void cdg_locks_submit(struct cdg_locks *l, int64_t page_id, struct cdg_task *task)
{
    struct bucket *b = &l->buckets[map_hash_id((uint64_t)page_id) % l->nbuckets];

    lock_take(&b->lock);
    struct entry *e = entry_find(b, page_id);
    if (e) {
        list_append(&e->tasks, &task->link); /* (2) */
        atomic_fetch_add(&l->waiting, 1);
        atomic_fetch_add(&l->waited, 1);
    } else {
        e = entry_new(l, b, page_id);
        list_append(&e->tasks, &task->link);
        pool_submit(l->pool, &e->on_pool);
    }
    lock_release(&b->lock);
}

void cdg_locks_stats_get(struct cdg_locks *l, struct cdg_locks_stats *ret_stats)
{
    *ret_stats = (struct cdg_locks_stats){.pages = atomic_load(&l->pages),
            .waiting = atomic_load(&l->waiting),
            .waited = atomic_load(&l->waited),
            .done = atomic_load(&l->done)};
}
