/* graph -- what measuring programs share that ask the change-detection graph: digests made and
 * opened, sentinels put in, and how many of them each page has by Zipf's law. */
#pragma once
#include "cdg/cdg.h"

static inline void graph_digest(const struct buf *html, struct buf *out)
{
    struct page_source s = {html->data, html->len, "text/html", "http://x.org/"};
    CHECK(page_digest_make(&s, out, NULL) == OK);
}

static inline void graph_open(
        struct arena *life, struct cdg_version *v, int64_t number, const struct buf *block)
{
    struct page_digest *d;
    CHECK(page_digest_open(life, block->data, block->len, NULL, &d) == OK);
    *v = (struct cdg_version){.number = number, .digest = d, .body = d->source};
}

static inline const struct cdg_version *graph_give(int64_t number, void *arg)
{
    (void)number;
    return arg;
}

/* A page's plan over two digests; how many sentinels there were, and how many were told. */
static inline size_t graph_answer(struct cdg *g, int64_t page, const struct buf *old,
        const struct buf *new_, size_t *ret_told)
{
    SCRATCH struct arena *life = arena_new(NULL, "version");
    struct cdg_plan *plan = cdg_plan_take(g, page, 2);
    struct cdg_version before, after;
    const struct cdg_verdict *verdicts;
    *ret_told = 0;
    if (!plan)
        return 0;
    graph_open(life, &before, 1, old);
    graph_open(life, &after, 2, new_);
    size_t n = cdg_plan_run(plan, &after, graph_give, &before, life, &verdicts);
    for (size_t i = 0; i < n; i++)
        *ret_told += verdicts[i].finding->result == CDG_C;
    cdg_plan_give_back(g, plan);
    return n;
}

static inline void graph_join(
        struct cdg *g, int64_t page, int64_t sentinel, const struct cdg_expr *e)
{
    struct cdg_subscription s = {
            .page_id = page, .sentinel_id = sentinel, .expr = e, .base_version = 1};
    CHECK(cdg_join(g, &s, NULL) == OK);
}

/* How many of n sentinels page i of so many has. */
static inline size_t zipf_share(size_t i, size_t pages, size_t n)
{
    double sum = 0;
    for (size_t k = 1; k <= pages; k++)
        sum += 1.0 / (double)k;
    return (size_t)((double)n / ((double)(i + 1) * sum) + 0.5);
}
