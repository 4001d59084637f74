/* led, inside -- memory that is recycled, and links between its blocks: see mem.c. */
#pragma once
#include "base/check.h"

struct led;

enum { LED_MEM_GRAIN = 8, LED_MEM_SMALL = 65, LED_MEM_LARGE = 32 };

/* The addresses that belong to one detector: a stretch of at most this, which never lies
 * across a multiple of it. */
#define LED_MEM_SPAN ((uintptr_t)16 << 30)

struct led_mem {
    char *base;
    size_t reserved, used, open; /* bytes from the base on; used <= open <= reserved */
    void *small[LED_MEM_SMALL];  /* free blocks of 8, 16, ... 512 bytes */
    void *large[LED_MEM_LARGE];  /* free blocks of 1024, 2048, ... */
};

/* How many grains a block lies behind the base. */
static inline size_t led_mem_place(const struct led_mem *m, const void *block)
{
    return (size_t)((const char *)block - m->base) / LED_MEM_GRAIN;
}

void led_mem_init(struct led_mem *m);
void led_mem_done(struct led_mem *m);

void *led_alloc(struct led *led, size_t bytes); /* cleared */
void led_release(struct led *led, void *block, size_t bytes);
/* An array twice as large as `*cap` says, what is new cleared; NULL to begin with. */
void *led_grow(struct led *led, void *array, size_t each, size_t *cap);
#define led_alloc_of(led, type) ((type *)led_alloc((led), sizeof(type)))

/* A pointer from one block to another of the same detector, in half the room: the blocks have
 * the upper bits of their addresses in common, so the pointer's owner knows them.  0: NULL. */
typedef uint32_t led_link;

static inline led_link led_link_to(const void *block)
{
    return (led_link)((uintptr_t)block % LED_MEM_SPAN / LED_MEM_GRAIN);
}

static inline void *led_linked(const void *owner, led_link link)
{
    uintptr_t common = (uintptr_t)owner & ~(LED_MEM_SPAN - 1);
    return link ? (void *)(common + (uintptr_t)link * LED_MEM_GRAIN) : NULL;
}
