/* Plans: what is to be compared for one new version, cut loose from the graph.
 *
 * The loop thread goes on joining and leaving while another thread compares, and it must not
 * be held up by how many watch the page.  So it must hold that
 *  (1) a plan reads nothing of the graph but rosters it has counted and nodes that were in it
 *      when it was taken: the first do not change while it is out, the second do not go,
 *  (2) members are those of the moment the plan was taken, and
 *  (3) taking it costs the groups, not their members.
 */
#include "cdg/cdg_int.h"
#include <stdlib.h>

struct taking {
    struct buf *groups, *olds;
};

static uint32_t take_old(struct taking *t, int64_t old)
{
    const int64_t *olds = (const int64_t *)(const void *)t->olds->data;
    size_t n = t->olds->len / sizeof old;

    for (size_t i = n; i > 0; i--)
        if (olds[i - 1] == old)
            return (uint32_t)(i - 1);
    CHECK(buf_append(t->olds, &old, sizeof old));
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

/* Mostly the first one is: only groups of newcomers are looked through. */
static bool concerns_somebody(const struct roster *r, int64_t old)
{
    for (uint32_t i = 0; i < r->count; i++)
        if (r->all[i].base <= old)
            return true;
    return false;
}

static void take_group(struct taking *t, const struct cdg_look *look, struct group *group)
{
    int64_t old = group_old_version(group, look->position);

    if (old == 0 || !concerns_somebody(group->roster, old))
        return;
    struct plan_group p = {group, group->number, roster_ref(group->roster), old,
            take_old(t, version_at(look, old))};
    CHECK(buf_append(t->groups, &p, sizeof p));
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

/* Puts the old versions in ascending order and the groups' numbers with them. */
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
    for (size_t i = 0; i < p->ngroups; i++)
        p->groups[i].pair = now[p->groups[i].pair];
}

static struct plan_memory memory_take(struct cdg *g)
{
    if (g->nspare)
        return g->spare[--g->nspare];
    struct plan_memory m = {arena_new(NULL, "pairs"), arena_new(NULL, "question")};
    arena_keep(m.shared, PLAN_KEPT_BYTES);
    arena_keep(m.scratch, PLAN_KEPT_BYTES);
    return m;
}

static void memory_give_back(struct cdg *g, struct plan_memory m)
{
    if (g->nspare == PLANS_SPARE) {
        arena_free(m.shared);
        arena_free(m.scratch);
        return;
    }
    g->spare[g->nspare++] = m; /* its runner emptied it */
}

void plan_memory_done(struct cdg *g)
{
    while (g->nspare) {
        arena_free(g->spare[--g->nspare].shared);
        arena_free(g->spare[g->nspare].scratch);
    }
}

static struct cdg_plan *plan_new(struct cdg *g, const struct taking *t)
{
    struct arena *life = arena_new(NULL, "plan");
    struct cdg_plan *p = arena_new_of(life, struct cdg_plan);

    p->life = life;
    p->memory = memory_take(g);
    p->ngroups = t->groups->len / sizeof *p->groups;
    p->nolds = t->olds->len / sizeof *p->olds;
    p->groups = arena_memdup(life, buf_text(t->groups), t->groups->len);
    p->olds = arena_memdup(life, buf_text(t->olds), t->olds->len);
    sort_olds(p);
    return p;
}

struct cdg_plan *cdg_plan_take_looks(struct cdg *g, const struct cdg_look *looks, size_t n)
{
    BUF(groups, SIZE_MAX / 4);
    BUF(olds, SIZE_MAX / 4);
    struct taking t = {&groups, &olds};

    for (size_t i = 0; i < n; i++) {
        struct page_node *page = graph_page(g, looks[i].page_id);
        if (!page)
            continue;
        list_each (l, &page->groups)
            take_group(&t, &looks[i], list_entry(l, struct group, in_page));
    }
    if (groups.len == 0)
        return NULL;
    struct cdg_plan *p = plan_new(g, &t);
    p->number = ++g->nodes.newest_plan;
    list_append(&g->plans, &p->in_graph);
    if (g->nodes.oldest_plan == PLAN_NONE)
        g->nodes.oldest_plan = p->number;
    g->nplans++;
    return p;
}

struct cdg_plan *cdg_plan_take(struct cdg *g, int64_t page_id, int64_t version)
{
    struct cdg_look look = {.page_id = page_id, .position = version};

    return cdg_plan_take_looks(g, &look, 1);
}

void cdg_plan_give_back(struct cdg *g, struct cdg_plan *p)
{
    if (!p)
        return;
    record_unref(g, p->record);
    for (size_t i = 0; i < p->ngroups; i++)
        roster_unref(p->groups[i].roster);
    list_remove(&p->in_graph);
    const struct list *oldest = list_first(&g->plans);
    node_table_settle(&g->nodes,
            oldest ? list_entry(oldest, struct cdg_plan, in_graph)->number : PLAN_NONE);
    g->nplans--;
    memory_give_back(g, p->memory);
    arena_free(p->life);
}

size_t cdg_plan_needs(const struct cdg_plan *p, const int64_t **ret_versions)
{
    *ret_versions = p->olds;
    return p->nolds;
}
