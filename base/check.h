/* check -- what every file here may take for granted.
 *
 * CHECK() is for our own mistakes only, and stays on in production: a process that
 * goes on with a broken invariant can lose a change, one that stops is brought back
 * from the store.  What a user, a site, PostgreSQL or the disk can do is a fault
 * (fault.h), never a CHECK.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MUST_USE __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define NORETURN __attribute__((noreturn))
#define UNUSED __attribute__((unused))

/* Runs fn(&variable) when the variable leaves its scope: every exit is a plain return. */
#define CLEANUP(fn) __attribute__((cleanup(fn)))

#define CHECK(expr)                                                                            \
    do {                                                                                       \
        if (__builtin_expect(!(expr), 0))                                                      \
            check_failed(__FILE__, __LINE__, #expr);                                           \
    } while (0)

NORETURN void check_failed(const char *file, int line, const char *expr);

#define countof(array) (sizeof(array) / sizeof((array)[0]))
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* Everything that crosses a `void *` begins with `uint32_t tag`; this turns it back into
 * what it was, or stops here rather than somewhere strange. */
#define TAGGED(type, ptr, expected) ((type *)check_tag((ptr), (expected), __FILE__, __LINE__))

void *check_tag(void *object, uint32_t expected, const char *file, int line);
