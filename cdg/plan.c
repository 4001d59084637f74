/* Plans: what is to be compared for one new version, cut loose from the graph.
 *
 * The loop thread goes on joining and leaving while another thread compares.  So it must
 * hold that
 *  (1) a plan reads nothing of the graph but nodes it has counted, and nodes do not change,
 *  (2) a node appears once, children before parents, however many members share it, and
 *  (3) members are those of the moment the plan was taken.
 */
#include "cdg/cdg_int.h"
#include <stdlib.h>

struct taking {
    struct cdg *g;
    struct cdg_plan *p;
    const struct cdg_look *look; /* NULL seen: positions are versions */
    struct buf nodes, members, olds, held;
};

/* The number of the node in the plan, putting it and what is below it there first. */
static uint32_t take_node(struct taking *t, struct cdg_node *n)
{
    if (n->plan_mark == t->g->plan_mark) /* (2) */
        return n->plan_index;
    struct plan_node p = {.node = n};
    if (n->left)
        p.left = take_node(t, n->left);
    if (n->right)
        p.right = take_node(t, n->right);
    n->plan_mark = t->g->plan_mark;
    n->plan_index = (uint32_t)(t->nodes.len / sizeof p);
    CHECK(buf_append(&t->nodes, &p, sizeof p));
    return n->plan_index;
}

static uint32_t take_old(struct taking *t, int64_t old)
{
    const int64_t *olds = (const int64_t *)(const void *)t->olds.data;
    size_t n = t->olds.len / sizeof old;

    for (size_t i = n; i > 0; i--)
        if (olds[i - 1] == old)
            return (uint32_t)(i - 1);
    CHECK(buf_append(&t->olds, &old, sizeof old));
    return (uint32_t)n;
}

/* The page's number of what was seen at a position; 0: not known. */
static int64_t version_at(const struct cdg_look *look, int64_t position)
{
    int64_t back = look->position - position;

    if (!look->seen)
        return position;
    return back <= (int64_t)look->nseen ? look->seen[look->nseen - (size_t)back] : 0;
}

static void take_member(struct taking *t, struct member *m)
{
    int64_t old = member_old_version(m, t->look->position);

    if (old == 0)
        return;
    bool seen = m->root->plan_mark == t->g->plan_mark;
    struct plan_member p = {m->sentinel_id, take_node(t, m->root),
            take_old(t, version_at(t->look, old)), m->part};
    CHECK(buf_append(&t->members, &p, sizeof p));
    if (!seen) { /* (1): what is below a counted node is counted by it */
        m->root->refs++;
        CHECK(buf_append(&t->held, &m->root, sizeof m->root));
    }
}

struct order {
    int64_t old;
    uint32_t was;
};

static int compare_order(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    return (x->old > y->old) - (x->old < y->old);
}

/* Puts the old versions in ascending order and the members' numbers with them. */
static void sort_olds(struct cdg_plan *p)
{
    struct order *order = arena_array_of(p->life, p->nolds, struct order);
    uint32_t *now = arena_array_of(p->life, p->nolds, uint32_t);

    for (size_t i = 0; i < p->nolds; i++)
        order[i] = (struct order){p->olds[i], (uint32_t)i};
    qsort(order, p->nolds, sizeof *order, compare_order);
    for (size_t i = 0; i < p->nolds; i++) {
        p->olds[i] = order[i].old;
        now[order[i].was] = (uint32_t)i;
    }
    for (size_t i = 0; i < p->nmembers; i++)
        p->members[i].pair = now[p->members[i].pair];
}

static void *hand_over(struct buf *b, struct arena *life)
{
    size_t len;
    char *data = buf_take(b, &len);
    arena_defer(life, free, data);
    return data;
}

static void take_look(struct taking *t, const struct cdg_look *look)
{
    struct page_node *page = graph_page(t->g, look->page_id);

    if (!page)
        return;
    t->look = look;
    list_each (l, &page->groups)
        list_each (k, &list_entry(l, struct group, in_page)->members)
            take_member(t, list_entry(k, struct member, in_group)); /* (3) */
}

struct cdg_plan *cdg_plan_take_looks(struct cdg *g, const struct cdg_look *looks, size_t n)
{
    struct arena *life = arena_new(NULL, "plan");
    struct taking t = {.g = g, .p = arena_new_of(life, struct cdg_plan)};
    struct buf *all[] = {&t.nodes, &t.members, &t.olds, &t.held};
    for (size_t i = 0; i < countof(all); i++)
        buf_init(all[i], SIZE_MAX / 4);
    t.p->life = life;
    g->plan_mark++;
    for (size_t i = 0; i < n; i++)
        take_look(&t, &looks[i]);

    struct cdg_plan *p = t.p;
    p->nnodes = t.nodes.len / sizeof *p->nodes;
    p->nmembers = t.members.len / sizeof *p->members;
    p->nolds = t.olds.len / sizeof *p->olds;
    p->nheld = t.held.len / sizeof *p->held;
    p->nodes = hand_over(&t.nodes, life);
    p->last = arena_array_of(life, p->nnodes, struct node_last);
    p->members = hand_over(&t.members, life);
    p->olds = hand_over(&t.olds, life);
    p->held = hand_over(&t.held, life);
    if (p->nmembers == 0) {
        arena_free(life);
        return NULL;
    }
    sort_olds(p);
    g->nplans++;
    return p;
}

struct cdg_plan *cdg_plan_take(struct cdg *g, int64_t page_id, int64_t version)
{
    struct cdg_look look = {.page_id = page_id, .position = version};

    return graph_page(g, page_id) ? cdg_plan_take_looks(g, &look, 1) : NULL;
}

void cdg_plan_give_back(struct cdg *g, struct cdg_plan *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->nnodes; i++)
        if (p->last[i].was_asked)
            p->nodes[i].node->last = p->last[i];
    for (size_t i = 0; i < p->nheld; i++)
        node_unref(&g->nodes, p->held[i]);
    g->nplans--;
    arena_free(p->life);
}

size_t cdg_plan_needs(const struct cdg_plan *p, const int64_t **ret_versions)
{
    *ret_versions = p->olds;
    return p->nolds;
}
