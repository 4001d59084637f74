/* Recycled memory.
 *
 * Occurrences, timers, nodes come and go for years, so blocks are never given back to the
 * system but kept by size for the next of that size:
 *  (1) a run of any length needs no more than its busiest moment did.
 * Up to 512 bytes there is a size every 8 bytes, since a million of something is common
 * there; above, sizes double.
 */
#include "led/led_int.h"
#include <string.h>

/* Under the address sanitizer a free block may not be touched, as if it had been freed. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(block, bytes) ((void)(block), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(block, bytes) ((void)(block), (void)(bytes))
#endif

enum { GRAIN = 8, SMALL_MAX = (LED_MEM_SMALL - 1) * GRAIN, CHUNK = 64 * 1024 };

static void **free_list(struct led_mem *m, size_t *bytes)
{
    if (*bytes <= SMALL_MAX) {
        *bytes = (*bytes + GRAIN - 1) / GRAIN * GRAIN;
        return &m->small[*bytes / GRAIN];
    }
    size_t size = 2 * SMALL_MAX, i = 0;
    for (; size < *bytes; size *= 2)
        i++;
    CHECK(i < LED_MEM_LARGE);
    *bytes = size;
    return &m->large[i];
}

static void *fresh(struct led_mem *m, size_t bytes)
{
    if (bytes > SMALL_MAX)
        return arena_alloc(m->arena, bytes);
    if (m->chunk_bytes < bytes) {
        m->chunk = arena_alloc(m->arena, CHUNK);
        m->chunk_bytes = CHUNK;
    }
    void *block = m->chunk;
    m->chunk += bytes;
    m->chunk_bytes -= bytes;
    return block;
}

void *led_alloc(struct led *led, size_t bytes)
{
    void **list = free_list(&led->mem, &bytes);
    void *block = *list;
    if (block) {
        ASAN_UNPOISON_MEMORY_REGION(block, bytes);
        memcpy(list, block, sizeof(void *)); /* the next free one stands in it */
    } else {
        block = fresh(&led->mem, bytes);
    }
    return memset(block, 0, bytes);
}

void led_release(struct led *led, void *block, size_t bytes)
{
    void **list = free_list(&led->mem, &bytes);
    memcpy(block, list, sizeof(void *));
    *list = block;
    ASAN_POISON_MEMORY_REGION(block, bytes);
}

void *led_grow(struct led *led, void *array, size_t each, size_t *cap)
{
    size_t old = *cap * each;
    *cap = *cap ? 2 * *cap : 64;
    void *more = led_alloc(led, *cap * each);
    if (array) {
        memcpy(more, array, old);
        led_release(led, array, old);
    }
    return more;
}
