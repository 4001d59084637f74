/* What the sandbox costs: pages through readers beside the same pages parsed right here, taking
 * turns, so that a noisy machine disturbs both alike.
 *
 *  - A stream of pages as the engine reads them: one reader, pages waiting (engine/reading.c).
 *    What counts on a busy machine: the time of both processes together, and pages a second.
 *  - One page at a time as a command reads it: each waits for the reader to be woken and for
 *    us to be woken, which is the kernel's time and most of it on small pages.
 *
 * The reader's answer is checked as the engine checks it, which costs so much by itself; it is
 * opened for comparing all the same wherever it was made, so that counts for neither. */
#include "base/loop.h"
#include "engine/reading.h"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { VARIANTS = 8 }; /* pages of a size that differ */

static double seconds(clockid_t clock)
{
    struct timespec t;
    CHECK(clock_gettime(clock, &t) == 0);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void page_make(struct buf *out, size_t bytes, unsigned state)
{
    static const char *const words[] = {"change", "of", "the", "page", "version", "caf\xC3\xA9",
            "and", "sentinel", "&amp;", "monitor", "10.50", "price", "<b>bold</b>",
            "<i>some</i>", "text,"};
    buf_puts(out, "<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>A "
                  "page</title></head><body>\n");
    for (unsigned i = 0; out->len < bytes; i++) {
        buf_printf(out, "<div class=\"section level%u\" id=\"s%u\">\n<h2>Section %u</h2>\n<p>",
                i % 3, i, i);
        for (int k = 0; k < 40; k++) {
            state = state * 1664525u + 1013904223u;
            buf_printf(out, "%s ", words[(state >> 16) % countof(words)]);
        }
        buf_printf(
                out, "</p>\n<ul><li><a href=\"/doc/%u.html\">more</a></li></ul>\n</div>\n", i);
    }
    buf_puts(out, "</body></html>\n");
}

struct pages {
    struct buf bytes[VARIANTS];
    struct page_source sources[VARIANTS];
};

static void pages_make(struct pages *p, size_t bytes)
{
    for (unsigned i = 0; i < VARIANTS; i++) {
        buf_init(&p->bytes[i], 1 << 26);
        page_make(&p->bytes[i], bytes, 7 + i);
        p->sources[i] = (struct page_source){
                p->bytes[i].data, p->bytes[i].len, "text/html", "http://x.org/"};
    }
}

static void pages_done(struct pages *p)
{
    for (unsigned i = 0; i < VARIANTS; i++)
        buf_done(&p->bytes[i]);
}

static void least(double *best, double spent)
{
    *best = spent < *best ? spent : *best;
}

/* ---- a stream ---------------------------------------------------------------------------- */

struct cost { /* seconds for each page; the least of all rounds */
    double wall, cpu, reader_cpu;
};

static void cost_least(struct cost *best, const struct cost *c)
{
    if (c->cpu + c->reader_cpu < best->cpu + best->reader_cpu) {
        best->cpu = c->cpu;
        best->reader_cpu = c->reader_cpu;
    }
    least(&best->wall, c->wall);
}

static struct cost stream_here(const struct pages *p, unsigned n)
{
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (unsigned i = 0; i < n; i++) {
        BUF(digest, PAGE_DIGEST_MAX);
        CHECK(page_digest_make(&p->sources[i % VARIANTS], &digest, NULL) == OK);
    }
    return (struct cost){.wall = (seconds(CLOCK_MONOTONIC) - wall) / n,
            .cpu = (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / n};
}

enum { WAITING = 3 * PAGE_WORKER_MOST / 2 }; /* readings under way or in the queue */

struct stream {
    struct loop *loop;
    struct readers *readers;
    const struct pages *pages;
    unsigned next, left, under_way;
};

struct item {
    struct reading reading;
    struct buf digest;
    struct stream *stream;
};

static void item_submit(struct item *it);

static void item_done(struct reading *r)
{
    struct item *it = container_of(r, struct item, reading);
    struct stream *s = it->stream;
    CHECK(r->fault.code == OK);
    buf_done(&it->digest);
    s->under_way--;
    item_submit(it);
    if (!s->under_way)
        loop_stop(s->loop);
}

static void item_submit(struct item *it)
{
    struct stream *s = it->stream;
    if (!s->left)
        return;
    s->left--;
    s->under_way++;
    it->reading = (struct reading){
            .wish = {.source = s->pages->sources[s->next++ % VARIANTS], .digest = &it->digest},
            .done = item_done};
    readers_submit(s->readers, &it->reading);
}

static struct cost stream_there(struct stream *s, clockid_t reader, unsigned n)
{
    struct item items[WAITING];
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double reader_cpu = seconds(reader);
    s->left = n;
    for (unsigned i = 0; i < WAITING; i++) {
        items[i] = (struct item){.stream = s};
        buf_init(&items[i].digest, PAGE_DIGEST_MAX);
        item_submit(&items[i]);
    }
    loop_run(s->loop);
    return (struct cost){.wall = (seconds(CLOCK_MONOTONIC) - wall) / n,
            .cpu = (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / n,
            .reader_cpu = (seconds(reader) - reader_cpu) / n};
}

/* A fresh reader for each size, whose clock is known: there is only one. */
static struct readers *one_reader(struct loop *loop, clockid_t *ret_clock)
{
    struct readers *r;
    int pid;
    struct readers_options o = {
            .loop = loop, .clock = &clock_system, .most = 1, .deadline = 60 * MSEC_PER_SECOND};
    CHECK(readers_new(&o, NULL, &r) == OK);
    CHECK(readers_pids_get(r, &pid, 1) == 1 && clock_getcpuclockid(pid, ret_clock) == 0);
    return r;
}

static void stream_measure(size_t bytes, unsigned rounds)
{
    struct cost here = {1e9, 1e9, 0}, there = {1e9, 1e9, 0};
    /* Short rounds, that some be undisturbed, but more than are under way at once. */
    unsigned n = bytes > 200000 ? 8 : bytes > 60000 ? 20 : 40;
    CHECK(rounds * n < 10000); /* more, and the reader is retired */
    clockid_t reader;
    struct pages pages;
    struct stream s = {.loop = loop_new(), .pages = &pages};
    pages_make(&pages, bytes);
    s.readers = one_reader(s.loop, &reader);
    for (unsigned k = 0; k < rounds; k++) {
        struct cost c = stream_here(&pages, n);
        cost_least(&here, &c);
        c = stream_there(&s, reader, n);
        cost_least(&there, &c);
    }
    double both = there.cpu + there.reader_cpu;
    printf("%8zu B %9.0f us %9.0f us (%3.0f + %.0f)%*s%6.2f %9.0f %9.0f %8.2f\n",
            pages.bytes[0].len, here.cpu * 1e6, both * 1e6, there.cpu * 1e6,
            there.reader_cpu * 1e6, there.reader_cpu < 1e-3 ? 3 : 1, "", both / here.cpu,
            1 / here.wall, 1 / there.wall, there.wall / here.wall);
    readers_free(s.readers);
    loop_free(s.loop);
    pages_done(&pages);
}

/* ---- one page at a time ------------------------------------------------------------------ */

static double here(const struct page_source *src)
{
    BUF(digest, PAGE_DIGEST_MAX);
    double from = seconds(CLOCK_MONOTONIC);
    CHECK(page_digest_make(src, &digest, NULL) == OK);
    return seconds(CLOCK_MONOTONIC) - from;
}

static double there(struct page_worker *w, const struct page_source *src)
{
    BUF(digest, PAGE_DIGEST_MAX);
    struct page_wish wish = {.source = *src, .digest = &digest};
    struct fault f = {.code = OK};
    bool alive;
    double from = seconds(CLOCK_MONOTONIC);
    if (page_worker_read(w, &wish, 60 * MSEC_PER_SECOND, &f, &alive) != OK) {
        fprintf(stderr, "%s\n", f.message);
        exit(1);
    }
    return seconds(CLOCK_MONOTONIC) - from;
}

static double check(const struct page_source *src)
{
    SCRATCH struct arena *life = arena_new(NULL, "bench");
    BUF(digest, PAGE_DIGEST_MAX);
    struct page_digest *d;
    CHECK(page_digest_make(src, &digest, NULL) == OK);
    double from = seconds(CLOCK_MONOTONIC);
    CHECK(page_digest_open(life, digest.data, digest.len, NULL, &d) == OK);
    return seconds(CLOCK_MONOTONIC) - from;
}

static void single_measure(struct page_worker *w, size_t bytes, unsigned rounds)
{
    double bare = 1e9, boxed = 1e9, checked = 1e9;
    struct pages pages;
    pages_make(&pages, bytes);
    for (unsigned k = 0; k < rounds; k++) {
        const struct page_source *src = &pages.sources[k % VARIANTS];
        least(&bare, here(src));
        least(&boxed, there(w, src));
        least(&checked, check(src));
    }
    printf("%8zu B %9.0f us %9.0f us %8.2f %9.0f us %9.0f us\n", pages.bytes[0].len, bare * 1e6,
            boxed * 1e6, boxed / bare, (boxed - bare) * 1e6, checked * 1e6);
    pages_done(&pages);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {2000, 10000, 41000, 100000, 1000000};
    struct page_worker *w;
    if (page_worker_is_asked(argc, argv))
        return page_worker_main();
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 200;
    page_start();
    /* Parsing here keeps its memory as a reader does, or it would pay for faults of fresh pages
     * and look dearer than it is. */
    mallopt(M_MMAP_THRESHOLD, 64 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    printf("A stream of pages through the engine's readers, one reader, for each page, best of "
           "%u rounds:\n\n"
           "%10s %12s %27s %6s %9s %9s %8s\n%10s %12s %27s %6s %9s %9s %8s\n",
            rounds, "", "CPU,", "CPU, sandboxed", "", "pages/s", "pages/s", "", "body",
            "in-process", "(core + reader)", "ratio", "in-proc.", "sandboxed", "ratio");
    for (size_t i = 0; i < countof(sizes); i++)
        stream_measure(sizes[i], sizes[i] > 500000 ? rounds / 10 + 1 : rounds);
    CHECK(page_worker_start(NULL, NULL, &w) == OK);
    printf("\nOne page at a time, wall time, best of %u; a reader that sleeps is woken for "
           "each, "
           "and then we are:\n\n%10s %12s %12s %8s %12s %12s\n",
            rounds, "body", "in-process", "sandboxed", "ratio", "difference", "(checking)");
    for (size_t i = 0; i < countof(sizes); i++)
        single_measure(w, sizes[i], sizes[i] > 500000 ? rounds / 10 + 1 : rounds);
    page_worker_free(w);
    return 0;
}
