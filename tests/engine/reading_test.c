/* Page readers on the loop: who is blamed for what, and what a reader gone mad can do.
 *
 * The program is its own reader.  Parsing is wrapped (meson.build), so that pages beginning
 * with certain words make their reader die, dawdle or go mad, the way a page might that has
 * found a hole in the parser. */
#include "engine/reading.h"
#include "page/worker_int.h"
#include "tests/test.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { DEADLINE = 1000, SLOW = 300 };

/* ---- in the reader ------------------------------------------------------------------------
 */

enum err __real_page_digest_make(
        const struct page_source *src, struct buf *out, struct fault *f);
enum err __wrap_page_digest_make(
        const struct page_source *src, struct buf *out, struct fault *f);

static bool begins(const struct page_source *src, const char *word)
{
    return src->len >= strlen(word) && memcmp(src->bytes, word, strlen(word)) == 0;
}

static void dawdle(msec how_long)
{
    for (msec until = clock_mono(&clock_system) + how_long; clock_mono(&clock_system) < until;)
        ;
}

static unsigned random_of(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static struct area *shared; /* with whoever started us */

struct area *__real_area_map(int fd);
struct area *__wrap_area_map(int fd);

struct area *__wrap_area_map(int fd)
{
    return shared = __real_area_map(fd);
}

/* Pretends to sleep, to have begun with what it has not, and the other way round. */
static void scribble_requests(unsigned *state)
{
    struct area_request *r = &shared->requests[random_of(state) % AREA_SLOTS];
    atomic_store(&shared->is_asleep, random_of(state) % 2);
    atomic_store(&shared->given, random_of(state) % 50);
    atomic_store(&r->turn, random_of(state) % 100);
    r->head.slot = (uint16_t)random_of(state);
    r->head.job = random_of(state) % 50;
}

/* Writes over everything that is shared, while whoever started us reads there. */
static void scribble(const struct page_source *src)
{
    union {
        const char *at;
        char *body;
    } u = {.at = src->bytes};
    struct area_slot *slot = container_of(u.body, struct area_slot, body);
    uint64_t job = 0;
    unsigned state = 7;
    char bell = FRAME_BELL;
    for (msec until = clock_mono(&clock_system) + SLOW; clock_mono(&clock_system) < until;) {
        struct frame_answer h;
        const struct buf digest = {.len = random_of(&state) % AREA_ANSWER_MAX}, none = {0};
        const struct fault fine = {.code = OK};
        frame_answer_make(&h, ++job % 50, &digest, &none, &fine, AREA_ANSWER_MAX);
        slot->head = h;
        for (int i = 0; i < 100; i++)
            slot->answer[random_of(&state) % AREA_ANSWER_MAX] = (char)random_of(&state);
        atomic_store(&slot->answered, job % 50);
        scribble_requests(&state);
        slot->head.digest_bytes = random_of(&state);
        if (job % 100 == 0)
            (void)!write(WORKER_FD, &bell, 1);
    }
}

enum err __wrap_page_digest_make(
        const struct page_source *src, struct buf *out, struct fault *f)
{
    if (begins(src, "DIE"))
        __builtin_trap();
    if (begins(src, "HANG"))
        dawdle(100 * DEADLINE);
    if (begins(src, "SLOW"))
        dawdle(SLOW);
    if (begins(src, "SLEEP")) {
        char c;
        (void)!read(WORKER_FD, &c, 1);
    }
    if (begins(src, "SCRIBBLE"))
        scribble(src);
    if (begins(src, "BELLS")) {
        static const char bells[100] = {FRAME_BELL};
        (void)!write(WORKER_FD, bells, sizeof bells);
        dawdle(SLOW); /* so that they are heard before the answer is there */
    }
    return __real_page_digest_make(src, out, f);
}

/* ---- on the loop --------------------------------------------------------------------------
 */

enum { ITEMS_MAX = 64 };

struct world {
    struct loop *loop;
    struct readers *readers;
    struct item {
        struct reading reading;
        struct world *world;
        struct buf body, digest;
        unsigned done, turn; /* how often, and as which */
    } items[ITEMS_MAX];
    unsigned count, over;
    struct loop_timer tick;
};

static void ticked(struct loop_timer *t)
{
    loop_stop(container_of(t, struct world, tick)->loop);
}

static long resident_kb(int pid)
{
    char path[40];
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    FILE *f = fopen(path, "r");
    CHECK(f && fscanf(f, "%*d %ld", &pages) == 1);
    fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void world_free(struct world *w)
{
    readers_free(w->readers);
    loop_free(w->loop);
    for (unsigned i = 0; i < w->count; i++) {
        buf_done(&w->items[i].body);
        buf_done(&w->items[i].digest);
    }
}

static struct world *world_on_clock(struct world *w, unsigned most, const struct clock *clock)
{
    *w = (struct world){.loop = loop_new()};
    loop_timer_init(&w->tick, ticked);
    struct readers_options o = {
            .loop = w->loop, .clock = clock, .most = most, .deadline = DEADLINE};
    struct fault f = {.code = OK};
    if (readers_new(&o, &f, &w->readers) != OK)
        printf("# %s\n", f.message);
    return w;
}

static struct world *world_new(struct world *w, unsigned most)
{
    return world_on_clock(w, most, &clock_system);
}

static void item_done(struct reading *r)
{
    struct item *it = container_of(r, struct item, reading);
    it->done++;
    it->turn = ++it->world->over;
    if (it->world->over == it->world->count)
        loop_stop(it->world->loop);
}

static struct item *give(struct world *w, const char *begin, size_t bytes)
{
    struct item *it = &w->items[w->count++];
    *it = (struct item){.world = w};
    buf_init(&it->body, PAGE_BODY_MAX);
    buf_init(&it->digest, PAGE_DIGEST_MAX);
    buf_puts(&it->body, begin);
    for (unsigned i = 0; it->body.len < bytes; i++)
        buf_printf(&it->body, "<p id=x%u>paragraph %u of page %u", i, i, w->count);
    it->reading = (struct reading){
            .wish = {.source = {it->body.data, it->body.len, "text/html", "http://a.example/"},
                    .digest = &it->digest},
            .done = item_done};
    readers_submit(w->readers, &it->reading);
    return it;
}

static bool is_right(const struct item *it)
{
    BUF(here, PAGE_DIGEST_MAX);
    const struct page_source *src = &it->reading.wish.source;
    return it->done == 1 && it->reading.fault.code == OK && !it->reading.killed &&
           __real_page_digest_make(src, &here, NULL) == OK && here.len == it->digest.len &&
           memcmp(here.data, it->digest.data, here.len) == 0;
}

static bool is_blamed(const struct item *it, const char *why)
{
    if (!strstr(it->reading.fault.message, why))
        printf("# %s\n", it->reading.fault.message);
    return it->done == 1 && it->reading.killed && strstr(it->reading.fault.message, why);
}

static struct readers_stats stats(const struct world *w)
{
    struct readers_stats s;
    readers_stats_get(w->readers, &s);
    return s;
}

TEST(stream, "pages of all sizes, many at once: each gets its own digest, in order")
{
    CLEANUP(world_free) struct world w;
    REQUIRE(world_new(&w, 1)->readers);
    static const size_t sizes[] = {100, 5000, 40000, 140000, 300, 600000, 2000, 100000, 10};
    for (unsigned i = 0; i < 60; i++)
        give(&w, "<!DOCTYPE html>", sizes[i % countof(sizes)]);
    loop_run(w.loop);
    for (unsigned i = 0; i < w.count; i++) {
        EXPECT(is_right(&w.items[i]));
        EXPECT_INT(w.items[i].turn, i + 1);
    }
    EXPECT_INT(stats(&w).read, 60);
    EXPECT_INT(stats(&w).started, 1);
    EXPECT(stats(&w).busy == 0 && stats(&w).queued == 0);
}

TEST(several, "with several readers every page is read once")
{
    CLEANUP(world_free) struct world w;
    REQUIRE(world_new(&w, 3)->readers);
    for (unsigned i = 0; i < 60; i++)
        give(&w, i % 20 == 7 ? "DIE" : "<p>", i * 3000);
    loop_run(w.loop);
    for (unsigned i = 0; i < w.count; i++)
        EXPECT(i % 20 == 7 ? w.items[i].reading.killed : is_right(&w.items[i]));
    EXPECT_INT(stats(&w).killed, 3);
}

TEST(guilty,
        "a reader dies with several pages: the one it was at is blamed, the others are read")
{
    CLEANUP(world_free) struct world w;
    REQUIRE(world_new(&w, 1)->readers);
    for (unsigned i = 0; i < 7; i++)
        give(&w, i == 2 ? "DIE" : "<p>", 3000);
    loop_run(w.loop);
    for (unsigned i = 0; i < w.count; i++)
        EXPECT(i == 2 ? is_blamed(&w.items[i], "the reader ") : is_right(&w.items[i]));
    EXPECT_INT(stats(&w).killed, 1);
    EXPECT_INT(stats(&w).started, 2);
}

TEST(hanging,
        "a page that hangs among others is killed at the deadline, and it alone is blamed")
{
    CLEANUP(world_free) struct world w;
    REQUIRE(world_new(&w, 1)->readers);
    msec from = clock_mono(&clock_system);
    for (unsigned i = 0; i < 7; i++)
        give(&w, i == 2 ? "HANG" : "<p>", 3000);
    loop_run(w.loop);
    for (unsigned i = 0; i < w.count; i++)
        EXPECT(i == 2 ? is_blamed(&w.items[i], "killed after 1 s") : is_right(&w.items[i]));
    EXPECT_INT(stats(&w).killed, 1);
    EXPECT(clock_mono(&clock_system) - from >= DEADLINE);
}

TEST(patience, "pages that wait at a reader have the whole deadline each, from their own turn")
{
    CLEANUP(world_free) struct world w;
    REQUIRE(world_new(&w, 1)->readers);
    for (unsigned i = 0; i < 5; i++)
        give(&w, "SLOW", 300); /* together they take longer than one may */
    loop_run(w.loop);
    for (unsigned i = 0; i < w.count; i++)
        EXPECT(is_right(&w.items[i]));
    EXPECT_INT(stats(&w).killed, 0);
}

TEST(behind, "pages behind one that hangs are read by others, long before it is killed")
{
    CLEANUP(world_free) struct world w;
    REQUIRE(world_new(&w, 2)->readers);
    for (unsigned i = 0; i < 12; i++)
        give(&w, i == 0 ? "HANG" : "<p>", 3000);
    loop_run(w.loop);
    EXPECT(is_blamed(&w.items[0], "killed after 1 s"));
    EXPECT_INT(w.items[0].turn, 12);
    for (unsigned i = 1; i < w.count; i++)
        EXPECT(is_right(&w.items[i]));
    EXPECT_INT(stats(&w).killed, 1);
}

/* A clock that runs four times as fast: the reader has a quarter of a processor, so to say. */
static msec fast_mono(const struct clock *c)
{
    (void)c;
    return clock_mono(&clock_system) * 4;
}

static const struct clock fast_clock = {.mono = fast_mono};

TEST(starved, "a page is not blamed for the time its reader waited for a processor")
{
    CLEANUP(world_free) struct world w;
    REQUIRE(world_on_clock(&w, 1, &fast_clock)->readers);
    for (unsigned i = 0; i < 3; i++)
        give(&w, i == 2 ? "HANG" : "SLOW", 300);
    loop_run(w.loop);
    EXPECT(is_right(&w.items[0]) && is_right(&w.items[1]));
    EXPECT(is_blamed(&w.items[2], "killed after 1 s"));
    EXPECT_INT(stats(&w).killed, 1);
}

TEST(sleeping, "a reader that sleeps over a page is killed at the deadline, not later")
{
    CLEANUP(world_free) struct world w;
    REQUIRE(world_new(&w, 1)->readers);
    msec from = clock_mono(&clock_system);
    give(&w, "SLEEP", 300);
    loop_run(w.loop);
    EXPECT(is_blamed(&w.items[0], "killed after 1 s"));
    EXPECT(clock_mono(&clock_system) - from < 5 * DEADLINE);
}

TEST(rest, "memory that large pages needed is given back by a reader that has nothing to do")
{
    CLEANUP(world_free) struct world w;
    int pid;
    REQUIRE(world_new(&w, 1)->readers && readers_pids_get(w.readers, &pid, 1) == 1);
    long before = resident_kb(pid);
    for (unsigned i = 0; i < 3; i++)
        give(&w, "<p>", 3000000);
    loop_run(w.loop);
    long after = resident_kb(pid), rested = after;
    EXPECT(is_right(&w.items[2]));
    bool can_rest = page_worker_is_confined(); /* a sanitizer keeps memory for itself */
    for (unsigned i = 0; can_rest && i < 100 && rested >= before + (after - before) / 4; i++) {
        loop_timer_set(w.loop, &w.tick, 100);
        loop_run(w.loop);
        rested = resident_kb(pid);
    }
    printf("# %ld kB, %ld after large pages, %ld at rest\n", before, after, rested);
    if (can_rest)
        EXPECT(after > before + 4000 && rested < before + (after - before) / 4);
    give(&w, "<p>", 3000000);
    give(&w, "<p>", 3000);
    loop_run(w.loop);
    EXPECT(is_right(&w.items[3]) && is_right(&w.items[4]));
    EXPECT_INT(stats(&w).started, 1);
}

TEST(late, "an answer that came in time counts, however late we look")
{
    CLEANUP(world_free) struct world w;
    REQUIRE(world_new(&w, 1)->readers);
    for (unsigned i = 0; i < 3; i++)
        give(&w, "<p>", 3000);
    dawdle(DEADLINE + 500);
    loop_run(w.loop);
    for (unsigned i = 0; i < w.count; i++)
        EXPECT(is_right(&w.items[i]));
    EXPECT_INT(stats(&w).killed, 0);
}

TEST(stop, "stopping gives back every page, with a reader or waiting for one, unblamed")
{
    struct world w;
    REQUIRE(world_new(&w, 1)->readers);
    for (unsigned i = 0; i < 20; i++)
        give(&w, "HANG", 300);
    readers_free(w.readers);
    w.readers = NULL;
    for (unsigned i = 0; i < w.count; i++)
        EXPECT(w.items[i].done == 1 && !w.items[i].reading.killed &&
                w.items[i].reading.fault.code == ERR_BUSY && w.items[i].turn == i + 1);
    world_free(&w);
}

TEST(bells, "a reader that calls without having anything to say is of no use")
{
    CLEANUP(world_free) struct world w;
    REQUIRE(world_new(&w, 1)->readers);
    give(&w, "<p>", 300);
    give(&w, "BELLS", 300);
    give(&w, "<p>", 300);
    loop_run(w.loop);
    EXPECT(is_right(&w.items[0]));
    EXPECT(is_blamed(&w.items[1], "the reader's answer is damaged"));
    EXPECT(is_right(&w.items[2]));
}

/* What it forges may be taken for an answer, to this page and to those it has besides: whoever
 * has taken a reader over can say what he likes.  But it is an answer within its bounds, it
 * stays as it was when it was checked, and each page gets one. */
TEST(scribble, "a reader that writes over shared memory while we read there can but lie")
{
    CLEANUP(world_free) struct world w;
    REQUIRE(world_new(&w, 2)->readers); /* so that pages are taken back from it */
    for (unsigned i = 0; i < 20; i++)
        give(&w, i % 4 == 1 ? "SCRIBBLE" : "<p>", 3000);
    loop_run(w.loop);
    for (unsigned i = 0; i < w.count; i++) {
        struct item *it = &w.items[i];
        SCRATCH struct arena *life = arena_new(NULL, "test");
        struct page_digest *d;
        EXPECT_INT(it->done, 1);
        EXPECT(it->digest.len <= AREA_ANSWER_MAX);
        if (it->reading.fault.code == OK)
            (void)!page_digest_open(life, it->digest.data, it->digest.len, NULL, &d);
    }
    EXPECT(is_right(&w.items[0]));
}

int main(int argc, char **argv)
{
    if (page_worker_is_asked(argc, argv))
        return page_worker_main();
    return test_run_all(argc, argv);
}
