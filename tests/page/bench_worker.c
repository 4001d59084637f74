/* What the sandbox costs: a page through a reader beside the same page parsed right here, in
 * wall time, taking turns, so that a noisy machine disturbs both alike.  The reader's answer
 * is checked as the engine checks it, which the bare parse needs not. */
#include "page/worker.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void page_make(struct buf *out, size_t bytes)
{
    static const char *const words[] = {"change", "of", "the", "page", "version", "caf\xC3\xA9",
            "and", "sentinel", "&amp;", "monitor", "10.50", "price", "<b>bold</b>",
            "<i>some</i>", "text,"};
    unsigned state = 7;
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

static double here(const struct page_source *src)
{
    BUF(digest, PAGE_DIGEST_MAX);
    double from = seconds();
    CHECK(page_digest_make(src, &digest, NULL) == OK);
    return seconds() - from;
}

static double there(struct page_worker *w, const struct page_source *src)
{
    BUF(digest, PAGE_DIGEST_MAX);
    struct page_wish wish = {.source = *src, .digest = &digest};
    bool alive;
    double from = seconds();
    struct fault f = {.code = OK};
    if (page_worker_read(w, &wish, 60 * MSEC_PER_SECOND, &f, &alive) != OK) {
        fprintf(stderr, "%s\n", f.message);
        exit(1);
    }
    return seconds() - from;
}

static double check(const struct page_source *src)
{
    SCRATCH struct arena *life = arena_new(NULL, "bench");
    BUF(digest, PAGE_DIGEST_MAX);
    struct page_digest *d;
    CHECK(page_digest_make(src, &digest, NULL) == OK);
    double from = seconds();
    CHECK(page_digest_open(life, digest.data, digest.len, NULL, &d) == OK);
    return seconds() - from;
}

static void least(double *best, double spent)
{
    *best = spent < *best ? spent : *best;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {2000, 10000, 41000, 100000, 1000000};
    struct page_worker *w;
    if (page_worker_is_asked(argc, argv))
        return page_worker_main();
    unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 200;
    CHECK(page_worker_start(NULL, NULL, &w) == OK);
    printf("%10s %12s %12s %12s %8s\n", "body", "in-process", "sandboxed", "(checking)",
            "ratio");
    for (size_t i = 0; i < countof(sizes); i++) {
        BUF(page, 1 << 26);
        double bare = 1e9, boxed = 1e9, checked = 1e9;
        page_make(&page, sizes[i]);
        struct page_source src = {page.data, page.len, "text/html", "http://x.org/"};
        for (unsigned k = 0; k < (sizes[i] > 500000 ? rounds / 10 : rounds); k++) {
            least(&bare, here(&src));
            least(&boxed, there(w, &src));
            least(&checked, check(&src));
        }
        printf("%8zu B %9.0f us %9.0f us %9.0f us %8.2f\n", page.len, bare * 1e6, boxed * 1e6,
                checked * 1e6, boxed / bare);
    }
    page_worker_free(w);
    return 0;
}
