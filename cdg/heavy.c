/* Identical subtrees, the heaviest first: (3) of match.c, for who is left by settled.c.
 *
 * Who is heavier matters only between an element and what stands in it or in one identical with
 * it: others do not meet.  There it has more nodes too, so nodes are counted and nobody is
 * weighed.
 */
#include "cdg/match.h"

/* Elements still to be looked at, the largest on top, of equals the first of the page.  A
 * parent is larger than what is below it, so who lies in a subtree that found its twin never
 * gets here. */
struct queue {
    const struct tree *t;
    uint64_t *all; /* the nodes in it, and below that the node so that smaller ones are more */
    size_t count;
};

static void queue_put(struct queue *q, uint32_t node)
{
    uint64_t new_ = (uint64_t)(q->t->d->end[node] - node) << 32 | (UINT32_MAX - node);
    size_t i = q->count++;

    for (; i > 0 && new_ > q->all[(i - 1) / 2]; i = (i - 1) / 2)
        q->all[i] = q->all[(i - 1) / 2];
    q->all[i] = new_;
}

static uint32_t queue_take(struct queue *q)
{
    uint64_t top = q->all[0], last = q->all[--q->count];
    size_t i = 0, child;

    for (; (child = 2 * i + 1) < q->count; i = child) {
        child += child + 1 < q->count && q->all[child + 1] > q->all[child];
        if (q->all[child] <= last)
            break;
        q->all[i] = q->all[child];
    }
    q->all[i] = last;
    return UINT32_MAX - (uint32_t)top;
}

static void queue_put_children(struct queue *q, uint32_t from, uint32_t to)
{
    for (uint32_t c = from; c < to; c = q->t->d->end[c])
        if (q->t->d->tags[c] != 0 && !q->t->whole[c])
            queue_put(q, c);
}

/* Pairs two identical subtrees; elements stay free whose counterparts are taken. */
static void pair_subtrees(struct matching *m, uint32_t old, uint32_t new_)
{
    uint32_t n = m->new_.d->end[new_] - new_;
    const uint32_t *tags = m->new_.d->tags + new_; /* texts are texts in both */
    uint32_t *restrict old_match = m->old.match + old, *restrict match = m->new_.match + new_;
    bool whole = true, old_whole = true;

    for (uint32_t s = 0; s < n; s++) {
        if (tags[s] == 0)
            continue;
        if (match[s] != NO_NODE) {
            old_whole &= old_match[s] != NO_NODE;
        } else if (old_match[s] == NO_NODE) {
            old_match[s] = new_ + s;
            match[s] = old + s;
        } else {
            whole = false;
        }
    }
    m->old.whole[old] = old_whole;
    m->new_.whole[new_] = whole;
}

void match_identical(struct matching *m)
{
    struct queue q = {
            &m->new_, arena_alloc(m->life, (m->new_.d->nodes + 1) * sizeof(uint64_t)), 0};

    queue_put_children(&q, 0, m->new_.d->nodes);
    while (q.count) {
        uint32_t j = queue_take(&q), i = is_free(&m->new_, j) ? twin_find(m, j) : NO_NODE;
        if (i != NO_NODE)
            pair_subtrees(m, i, j);
        if (!m->new_.whole[j])
            queue_put_children(&q, j + 1, m->new_.d->end[j]);
    }
}
