#include "tests/led/oracle.h"
#include <stdlib.h>

static void add(struct findings *out, struct found f)
{
    if (out->count == FOUND_MAX)
        out->overflowed = true;
    else
        out->list[out->count++] = f;
}

static struct found join(struct found a, struct found b)
{
    return (struct found){.start = a.start < b.start ? a.start : b.start,
            .end = a.end > b.end ? a.end : b.end,
            .parts = a.parts | b.parts,
            .arrival = a.arrival > b.arrival ? a.arrival : b.arrival};
}

static bool is_same(const struct found *a, const struct found *b)
{
    return a->origin == b->origin && a->start == b->start && a->parts == b->parts;
}

static uint64_t origin_of(const struct expr *e)
{
    uint64_t h = (uint64_t)e->op * 31 + (uint64_t)(e->op == O_NAME  ? e->name
                                                   : e->op == O_ANY ? e->m
                                                                    : 0);
    for (int i = 0; i < e->count; i++)
        h = (h ^ origin_of(e->kid[i])) * UINT64_C(0x100000001b3) + (uint64_t)i;
    return h;
}

/* e2 may not lie in [end of e1, start of e3], if it came before e3 was processed. */
static bool is_blocked(
        const struct found *e1, const struct findings *e2, const struct found *e3)
{
    for (int i = 0; i < e2->count; i++) {
        const struct found *n = &e2->list[i];
        if (e1->end <= n->start && n->end <= e3->start && n->arrival < e3->arrival &&
                !is_same(n, e1))
            return true;
    }
    return false;
}

/* Some e3 after e1 was processed before `e2`; closings are served first. */
static bool is_closed(const struct found *e1, const struct findings *e3, const struct found *e2)
{
    for (int i = 0; i < e3->count; i++)
        if (e1->end < e3->list[i].start && e3->list[i].arrival <= e2->arrival)
            return true;
    return false;
}

static void pairs(const struct expr *e, struct findings *k, struct findings *out)
{
    for (int i = 0; i < k[0].count; i++) {
        const struct found *x = &k[0].list[i];
        int last = e->op == O_NOT || e->op == O_ASTAR ? 2 : 1;
        for (int j = 0; j < k[last].count; j++) {
            const struct found *y = &k[last].list[j];
            if (e->op != O_AND && x->end >= y->start)
                continue;
            if (e->op == O_NOT && is_blocked(x, &k[1], y))
                continue;
            if (e->op == O_A && is_closed(x, &k[2], y))
                continue;
            add(out, join(*x, *y));
        }
    }
}

/* The first e3 after e1 closes its window, with every e2 in it. */
static void windows(struct findings *k, struct findings *out)
{
    for (int i = 0; i < k[0].count; i++) {
        const struct found *x = &k[0].list[i], *z = NULL;
        for (int j = 0; j < k[2].count; j++) {
            const struct found *c = &k[2].list[j];
            if (x->end >= c->start)
                continue;
            if (z && c->arrival == z->arrival)
                out->overflowed = true; /* two at once: which is first is not in the formula */
            if (!z || c->arrival < z->arrival)
                z = c;
        }
        struct found whole = z ? join(*x, *z) : *x;
        bool any = false;
        for (int j = 0; z && j < k[1].count; j++) {
            const struct found *y = &k[1].list[j];
            if (x->end < y->start && y->end <= z->start && y->arrival < z->arrival) {
                whole = join(whole, *y);
                any = true;
            }
        }
        if (any)
            add(out, whole);
    }
}

static void choices(const struct expr *e, struct findings *k, int from, int need,
        struct found sofar, struct findings *out)
{
    if (need == 0) {
        add(out, sofar);
        return;
    }
    for (int i = from; i < e->count; i++)
        for (int j = 0; j < k[i].count; j++)
            choices(e, k, i + 1, need - 1,
                    need == e->m ? k[i].list[j] : join(sofar, k[i].list[j]), out);
}

void oracle_run(
        const struct expr *e, const struct raise *history, int raises, struct findings *ret)
{
    ret->count = 0;
    ret->overflowed = false;
    if (e->op == O_NAME) {
        for (int i = 0; i < raises; i++)
            if (history[i].name == e->name)
                add(ret, (struct found){.start = history[i].at,
                                 .end = history[i].at,
                                 .parts = (uint64_t)1 << i,
                                 .arrival = i,
                                 .origin = origin_of(e)});
        return;
    }
    struct findings *k = calloc((size_t)e->count, sizeof *k);
    for (int i = 0; i < e->count; i++) {
        oracle_run(e->kid[i], history, raises, &k[i]);
        ret->overflowed |= k[i].overflowed;
    }
    if (ret->overflowed) {
        free(k);
        return;
    }
    if (e->op == O_ANY)
        choices(e, k, 0, e->m, (struct found){0}, ret);
    else if (e->op == O_ASTAR)
        windows(k, ret);
    else if (e->op != O_OR)
        pairs(e, k, ret);
    for (int i = 0; i < e->count && e->op == O_OR; i++)
        for (int j = 0; j < k[i].count; j++)
            add(ret, k[i].list[j]);
    bool passes_on = e->op == O_OR || (e->op == O_ANY && e->m == 1);
    for (int i = 0; i < ret->count && !passes_on; i++)
        ret->list[i].origin = origin_of(e);
    free(k);
}
