/* arena -- memory with a lifetime.
 *
 * Choose a lifetime, not a free(): whatever is allocated in an arena goes with it, and
 * an arena goes with its parent.  Allocation never returns NULL: for the small, bounded
 * things arenas hold, running out of memory stops the process.  Bytes whose number an
 * outsider chooses go through a `struct buf` (buf.h), which has a maximum.
 *
 * Not locked: an arena belongs to one thread at a time.
 */
#pragma once
#include "base/check.h"
#include <stdarg.h>

struct arena;

/* `name` is borrowed and only for people. `parent` may be NULL. */
struct arena *arena_new(struct arena *parent, const char *name);
void arena_free(struct arena *a); /* NULL is fine */

/* As if new, for the next of many that are alike: what is in it goes as at its end, but enough
 * memory is kept for as much again, up to ARENA_KEPT_BYTES, or what was said. */
enum { ARENA_KEPT_BYTES = 16 * 1024 };
void arena_reset(struct arena *a);
void arena_keep(struct arena *a, size_t bytes);

void *arena_alloc(struct arena *a, size_t bytes);  /* aligned for anything, not cleared */
void *arena_zalloc(struct arena *a, size_t bytes); /* cleared */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
char *arena_vprintf(struct arena *a, const char *fmt, va_list ap);
void *arena_memdup(struct arena *a, const void *bytes, size_t len);

#define arena_new_of(a, type) ((type *)arena_zalloc((a), sizeof(type)))
#define arena_array_of(a, n, type)                                                             \
    ((type *)arena_zalloc((a), arena_array_bytes((n), sizeof(type))))
size_t arena_array_bytes(size_t n, size_t each); /* n * each, CHECKed against overflow */

/* Ties a foreign object (xmlDoc, PGresult, pcre2_code) to the arena's end.
 * Called newest first, before any of the arena's memory goes. */
void arena_defer(struct arena *a, void (*release)(void *), void *obj);

/* Bytes held from the system by this arena and those below it. */
size_t arena_bytes(const struct arena *a);

/* A local arena that goes with its scope: SCRATCH struct arena *a = arena_new(NULL, "x"); */
void arena_freep(struct arena **a);
#define SCRATCH CLEANUP(arena_freep)
