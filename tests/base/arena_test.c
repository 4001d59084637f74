#include "base/arena.h"
#include "tests/test.h"

static int order[8], norder;

static void note(void *obj)
{
    order[norder++] = *(int *)obj;
}

TEST(defer, "what is tied to an arena is released newest first, children before parents")
{
    static int one = 1, two = 2, three = 3;
    norder = 0;
    struct arena *a = arena_new(NULL, "a");
    struct arena *b = arena_new(a, "b");
    arena_defer(a, note, &one);
    arena_defer(a, note, &two);
    arena_defer(b, note, &three);
    arena_free(a);
    REQUIRE(norder == 3);
    EXPECT(order[0] == 3 && order[1] == 2 && order[2] == 1);
}

TEST(aligned,
        "every allocation is aligned and keeps its bytes beside small and large neighbours")
{
    SCRATCH struct arena *a = arena_new(NULL, "a");
    unsigned char *p[200];
    for (size_t i = 0; i < countof(p); i++) {
        size_t n = i % 7 == 0 ? 5000 : i + 1;
        p[i] = arena_alloc(a, n);
        EXPECT(((uintptr_t)p[i] & 15) == 0);
        memset(p[i], (int)i, n);
    }
    for (size_t i = 0; i < countof(p); i++) {
        size_t n = i % 7 == 0 ? 5000 : i + 1;
        EXPECT(p[i][0] == (unsigned char)i && p[i][n - 1] == (unsigned char)i);
    }
}

TEST(bytes, "an arena counts its own memory and that of the arenas below it")
{
    SCRATCH struct arena *a = arena_new(NULL, "a");
    size_t before = arena_bytes(a);
    struct arena *b = arena_new(a, "b");
    arena_alloc(b, 100000);
    EXPECT(arena_bytes(a) >= before + 100000);
    arena_free(b);
    EXPECT(arena_bytes(a) == before);
}

TEST(reset, "an arena that is reset lets go of everything but the memory for as much again")
{
    static int one = 1, two = 2;
    SCRATCH struct arena *a = arena_new(NULL, "a");
    size_t held = 0;
    for (int round = 0; round < 100; round++) {
        norder = 0;
        arena_defer(a, note, &one);
        arena_defer(arena_new(a, "b"), note, &two);
        for (size_t n = 1; n < 2000; n *= 3)
            memset(arena_alloc(a, n), round, n);
        if (round == 1)
            held = arena_bytes(a);
        arena_reset(a);
        REQUIRE(norder == 2);
        EXPECT(order[0] == 2 && order[1] == 1);
    }
    arena_zalloc(a, 1000);
    EXPECT(arena_bytes(a) <= held); /* no more than it had, all rounds from the same block */

    arena_alloc(a, 10 * ARENA_KEPT_BYTES);
    arena_reset(a);
    EXPECT(arena_bytes(a) < ARENA_KEPT_BYTES);
}

TEST(text, "text is copied and formatted whole")
{
    SCRATCH struct arena *a = arena_new(NULL, "a");
    EXPECT_TEXT(arena_printf(a, "%s-%d", "x", 42), "x-42");
    EXPECT_TEXT(arena_strndup(a, "abcdef", 3), "abc");
    char *big = arena_printf(a, "%01000d", 7);
    EXPECT_INT(strlen(big), 1000);
}

TEST_MAIN()
