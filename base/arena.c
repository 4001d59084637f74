/* A bump allocator in growing blocks.
 *
 *  (1) An arena's memory is given back only as a whole.
 *  (2) Deferred releases run newest first, before any memory of the arena goes.
 *  (3) A child goes before its parent's memory does.
 *  (4) What is used after a reset is noticed by the address sanitizer, as after a free.
 */
#include "base/arena.h"
#include "base/list.h"
#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 512, LARGEST_BLOCK = 64 * 1024, ALIGN = 16 };

struct block {
    struct block *next;
    size_t size, used;
    _Alignas(ALIGN) char bytes[];
};

struct deferred {
    struct deferred *next;
    void (*release)(void *);
    void *obj;
};

struct arena {
    struct arena *parent;
    struct list sibling, children;
    const char *name;
    struct block *blocks; /* the newest first; only it is bumped */
    struct deferred *deferred;
    size_t bytes, next_block, kept;
};

struct arena *arena_new(struct arena *parent, const char *name)
{
    struct arena *a = calloc(1, sizeof *a);
    CHECK(a);
    a->parent = parent;
    a->name = name;
    a->bytes = sizeof *a;
    a->next_block = FIRST_BLOCK;
    a->kept = ARENA_KEPT_BYTES;
    list_init(&a->children);
    list_init(&a->sibling);
    if (parent)
        list_append(&parent->children, &a->sibling);
    return a;
}

static void release_all(struct arena *a)
{
    while (!list_is_empty(&a->children)) /* (3), newest first */
        arena_free(list_entry(a->children.prev, struct arena, sibling));
    while (a->deferred) { /* (2) */
        struct deferred *d = a->deferred;
        a->deferred = d->next;
        d->release(d->obj);
    }
}

static void free_blocks(struct arena *a)
{
    for (struct block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    a->blocks = NULL;
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    release_all(a);
    free_blocks(a);
    list_remove(&a->sibling);
    free(a);
}

/* What took several blocks will fit into one next time. */
void arena_reset(struct arena *a)
{
    struct block *b = a->blocks;
    release_all(a);
    if (b && !b->next && b->size <= a->kept) {
        b->used = 0;
        ASAN_POISON_MEMORY_REGION(b->bytes, b->size); /* (4) */
        return;
    }
    size_t held = a->bytes - sizeof *a;
    free_blocks(a);
    a->bytes = sizeof *a;
    a->next_block = held <= a->kept ? held : FIRST_BLOCK;
}

void arena_keep(struct arena *a, size_t bytes)
{
    a->kept = bytes;
}

void arena_freep(struct arena **a)
{
    arena_free(*a);
    *a = NULL;
}

static struct block *block_new(struct arena *a, size_t bytes)
{
    CHECK(bytes < SIZE_MAX / 2);
    struct block *b = malloc(sizeof *b + bytes);
    CHECK(b);
    b->size = bytes;
    b->used = 0;
    a->bytes += sizeof *b + bytes;
    return b;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    struct block *b = a->blocks;
    if (b && b->size - b->used >= bytes) {
        void *p = b->bytes + b->used;
        ASAN_UNPOISON_MEMORY_REGION(p, bytes);
        b->used += bytes;
        return p;
    }
    if (bytes > a->next_block / 2 && b) {
        /* A big one gets its own block behind the current one, whose rest stays usable. */
        struct block *own = block_new(a, bytes);
        own->used = bytes;
        own->next = b->next;
        b->next = own;
        return own->bytes;
    }
    size_t size = bytes > a->next_block ? bytes : a->next_block;
    b = block_new(a, size);
    b->used = bytes;
    b->next = a->blocks;
    a->blocks = b;
    if (a->next_block < LARGEST_BLOCK)
        a->next_block *= 2;
    return b->bytes;
}

void *arena_zalloc(struct arena *a, size_t bytes)
{
    return memset(arena_alloc(a, bytes), 0, bytes);
}

size_t arena_array_bytes(size_t n, size_t each)
{
    size_t bytes;
    CHECK(!__builtin_mul_overflow(n, each, &bytes));
    return bytes;
}

void *arena_memdup(struct arena *a, const void *bytes, size_t len)
{
    void *p = arena_alloc(a, len ? len : 1);
    if (len)
        memcpy(p, bytes, len);
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
    char *p = arena_alloc(a, len + 1);
    if (len)
        memcpy(p, s, len);
    p[len] = 0;
    return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
    return arena_strndup(a, s, strlen(s));
}

char *arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    CHECK(n >= 0);
    char *p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *p = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return p;
}

void arena_defer(struct arena *a, void (*release)(void *), void *obj)
{
    struct deferred *d = arena_new_of(a, struct deferred);
    d->release = release;
    d->obj = obj;
    d->next = a->deferred;
    a->deferred = d;
}

size_t arena_bytes(const struct arena *a)
{
    size_t sum = a->bytes;
    list_each (pos, (struct list *)&a->children)
        sum += arena_bytes(list_entry(pos, struct arena, sibling));
    return sum;
}
