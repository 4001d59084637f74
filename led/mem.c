/* Recycled memory.
 *
 * Occurrences, timers, nodes come and go for years, so blocks are never given back to the
 * system but kept by size for the next of that size:
 *  (1) a run of any length needs no more than its busiest moment did.
 * Up to 512 bytes there is a size every 8 bytes, since a million of something is common
 * there; above, sizes double.
 *  (2) All blocks of a detector lie in one stretch of addresses, so that they can name each
 *      other in four bytes (led_link).  The addresses are reserved when the detector is made,
 *      which costs nothing, and opened as they are needed.
 */
#include "led/led_int.h"
#include <string.h>
#include <sys/mman.h>

/* Under the address sanitizer a free block may not be touched, as if it had been freed, and
 * what only a rule points at has not leaked. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/lsan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(block, bytes) ((void)(block), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(block, bytes) ((void)(block), (void)(bytes))
#define __lsan_register_root_region(block, bytes) ((void)(block), (void)(bytes))
#define __lsan_unregister_root_region(block, bytes) ((void)(block), (void)(bytes))
#endif

enum { SMALL_MAX = (LED_MEM_SMALL - 1) * LED_MEM_GRAIN, STEP = 64 * 1024 };

/* ---- addresses: (2) ---- */

/* `bytes` of them, a power of two, at a multiple of it; NULL if there are not so many. */
static char *reserve(size_t bytes)
{
    char *twice = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (twice == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)twice % bytes;
    if (before)
        munmap(twice, before);
    munmap(twice + before + bytes, bytes - before);
    return twice + before;
}

void led_mem_init(struct led_mem *m)
{
    /* Where the process may not have that many (ulimit -v), fewer will do. */
    for (m->reserved = LED_MEM_SPAN; !(m->base = reserve(m->reserved)); m->reserved /= 2)
        CHECK(m->reserved > STEP);
    m->used = LED_MEM_GRAIN; /* nothing stands where a link would be 0 */
    __lsan_register_root_region(m->base, m->reserved);
}

void led_mem_done(struct led_mem *m)
{
    ASAN_UNPOISON_MEMORY_REGION(m->base, m->used);
    __lsan_unregister_root_region(m->base, m->reserved);
    munmap(m->base, m->reserved);
}

static void *fresh(struct led_mem *m, size_t bytes)
{
    CHECK(bytes <= m->reserved - m->used);
    if (m->used + bytes > m->open) {
        size_t more = (m->used + bytes - m->open + STEP - 1) / STEP * STEP;
        CHECK(mprotect(m->base + m->open, more, PROT_READ | PROT_WRITE) == 0);
        m->open += more;
    }
    void *block = m->base + m->used;
    m->used += bytes;
    return block;
}

/* ---- blocks: (1) ---- */

static void **free_list(struct led_mem *m, size_t *bytes)
{
    if (*bytes <= SMALL_MAX) {
        *bytes = (*bytes + LED_MEM_GRAIN - 1) / LED_MEM_GRAIN * LED_MEM_GRAIN;
        return &m->small[*bytes / LED_MEM_GRAIN];
    }
    size_t size = 2 * SMALL_MAX, i = 0;
    for (; size < *bytes; size *= 2)
        i++;
    CHECK(i < LED_MEM_LARGE);
    *bytes = size;
    return &m->large[i];
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
