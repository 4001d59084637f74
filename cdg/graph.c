/* Pages, groups and members: who asks what of which page.
 *
 * Members of one page that compare the same version pairs form a group.  It must hold that
 *  (1) a page is in the graph while it has a group, a group while it has a member,
 *  (2) every:n members whose bases agree modulo n - 1 are one group: they meet the same
 *      pairs from now on, whenever they arrived,
 *  (3) a member is told only of pairs whose old side is its base or later, and
 *  (4) what leaves is used again: a graph that comes and goes does not grow.
 */
#include "cdg/cdg_int.h"

static void graph_release(void *arg)
{
    struct cdg *g = arg;

    map_each (m, &g->pages)
        list_each (l, &container_of(m, struct page_node, by_id)->groups) {
            struct group *group = list_entry(l, struct group, in_page);
            roster_unref(group->roster);
            record_unref(g, group->last);
        }
    node_table_done(&g->nodes);
    plan_memory_done(g);
    map_done(&g->pages);
    map_done(&g->members);
}

struct cdg *cdg_new(struct arena *life)
{
    struct cdg *g = arena_new_of(life, struct cdg);

    g->life = arena_new(life, "cdg");
    map_init(&g->pages);
    map_init(&g->members);
    node_table_init(&g->nodes);
    list_init(&g->spare_pages);
    list_init(&g->spare_groups);
    list_init(&g->spare_members);
    list_init(&g->plans);
    arena_defer(g->life, graph_release, g);
    return g;
}

/* (4): objects begin with or contain a list link that is free while they are spare. */
static void *reuse(struct list *spare, struct arena *life, size_t bytes)
{
    struct list *l = list_first(spare);

    if (!l)
        return arena_zalloc(life, bytes);
    list_remove(l);
    memset(l, 0, bytes);
    return l;
}

static void keep(struct list *spare, void *object)
{
    list_append(spare, object);
}

/* ---- checking
 * ------------------------------------------------------------------------------------ */

static enum err expr_check(const struct cdg_expr *e, unsigned depth, struct fault *f)
{
    if (depth > CDG_EXPR_DEPTH_MAX)
        return fault_set(
                f, ERR_LIMIT, "the condition is nested more than %d deep", CDG_EXPR_DEPTH_MAX);
    if (e->op == CDG_LEAF)
        return leaf_check(&e->leaf, f);
    enum err err = expr_check(e->left, depth + 1, f);
    return err || e->op == CDG_NOT ? err : expr_check(e->right, depth + 1, f);
}

bool cdg_wants_source(const struct cdg_expr *e)
{
    if (e->op == CDG_LEAF)
        return e->leaf.kind == cdg_kind_find("regexp") && !e->leaf.on_text;
    return cdg_wants_source(e->left) || (e->op != CDG_NOT && cdg_wants_source(e->right));
}

bool cdg_wants_state(const struct cdg_expr *e)
{
    if (e->op == CDG_LEAF) {
        const struct cdg_kind *kind = kind_of(e->leaf.kind);
        return kind->keeps && kind->keeps(&e->leaf);
    }
    return cdg_wants_state(e->left) || (e->op != CDG_NOT && cdg_wants_state(e->right));
}

enum err cdg_check(const struct cdg_expr *expr, struct cdg_compare compare, struct fault *f)
{
    if (compare.kind != CDG_PAIRWISE && (compare.n < 2 || compare.n > CDG_COMPARE_MAX))
        return fault_set(f, ERR_RANGE, "compare option counts %u versions, not 2 to %d",
                compare.n, CDG_COMPARE_MAX);
    return expr_check(expr, 1, f);
}

/* ---- finding
 * --------------------------------------------------------------------------------------- */

static uint64_t member_hash(int64_t page_id, int64_t sentinel_id)
{
    int64_t key[2] = {page_id, sentinel_id};
    return map_hash(key, sizeof key);
}

static struct roster_entry *entry_of(const struct member *m)
{
    return &m->group->roster->all[m->number];
}

/* The sentinel's next part behind `n`, itself included. */
static struct member *member_from(struct map_node *n, int64_t page_id, int64_t sentinel_id)
{
    for (; n; n = map_next(n)) {
        struct member *m = container_of(n, struct member, by_id);
        if (m->group->page->id == page_id && entry_of(m)->sentinel_id == sentinel_id)
            return m;
    }
    return NULL;
}

struct member *member_find(const struct cdg *g, int64_t page_id, int64_t sentinel_id)
{
    return member_from(
            map_first(&g->members, member_hash(page_id, sentinel_id)), page_id, sentinel_id);
}

struct member *member_next(const struct member *m)
{
    return member_from(map_next(&m->by_id), m->group->page->id, entry_of(m)->sentinel_id);
}

/* That part of it; NULL: it has not joined. */
static struct member *part_find(
        const struct cdg *g, int64_t page_id, int64_t sentinel_id, unsigned part)
{
    struct member *m = member_find(g, page_id, sentinel_id);

    while (m && entry_of(m)->part != part)
        m = member_next(m);
    return m;
}

struct page_node *graph_page(const struct cdg *g, int64_t page_id)
{
    struct map_node *n = map_first(&g->pages, map_hash_id((uint64_t)page_id));

    for (; n; n = map_next(n)) {
        struct page_node *p = container_of(n, struct page_node, by_id);
        if (p->id == page_id)
            return p;
    }
    return NULL;
}

static struct page_node *page_get(struct cdg *g, int64_t page_id)
{
    struct page_node *p = graph_page(g, page_id);

    if (p)
        return p;
    p = reuse(&g->spare_pages, g->life, sizeof *p);
    p->id = page_id;
    list_init(&p->groups);
    map_insert(&g->pages, &p->by_id, map_hash_id((uint64_t)page_id));
    return p;
}

static struct group *group_get(
        struct cdg *g, struct page_node *p, struct cdg_compare c, int64_t base)
{
    int64_t phase = c.kind == CDG_EVERY ? base % (int64_t)(c.n - 1) : 0; /* (2) */

    list_each (l, &p->groups) {
        struct group *group = list_entry(l, struct group, in_page);
        if (group->compare.kind == c.kind && group->compare.n == c.n && group->phase == phase)
            return group;
    }
    struct group *group = reuse(&g->spare_groups, g->life, sizeof *group);
    group->page = p;
    group->compare = c;
    group->phase = phase;
    group->number = ++g->groups_made;
    group->roster = roster_new();
    list_append(&p->groups, &group->in_page);
    g->ngroups++;
    return group;
}

/* ---- joining and leaving
 * ------------------------------------------------------------------------------ */

/* moving:2 and every:2 are pairwise. */
static struct cdg_compare compare_canonical(struct cdg_compare c)
{
    if (c.kind == CDG_PAIRWISE || c.n == 2)
        return (struct cdg_compare){CDG_PAIRWISE, 2};
    return c;
}

enum err cdg_join(struct cdg *g, const struct cdg_subscription *s, struct fault *f)
{
    enum err e = cdg_check(s->expr, s->compare, f);

    if (e)
        return e;
    CHECK(!part_find(g, s->page_id, s->sentinel_id, s->part));
    struct roster_entry entry = {
            .sentinel_id = s->sentinel_id,
            .base = s->base_version > 0 ? s->base_version : 1, /* they are counted from 1 */
            .root = node_ref_expr(&g->nodes, g->life, s->expr),
            .part = s->part,
    };
    struct member *m = reuse(&g->spare_members, g->life, sizeof *m);
    m->group = group_get(g, page_get(g, s->page_id), compare_canonical(s->compare), entry.base);
    m->number = m->group->roster->count;
    roster_add(&m->group->roster, &entry);
    map_insert(&g->members, &m->by_id, member_hash(s->page_id, s->sentinel_id));
    return OK;
}

static void group_leave_if_empty(struct cdg *g, struct group *group)
{
    struct page_node *p = group->page;

    if (group->roster->count) /* (1) */
        return;
    roster_unref(group->roster);
    record_unref(g, group->last);
    group->number = 0;
    list_remove(&group->in_page);
    keep(&g->spare_groups, group);
    g->ngroups--;
    if (!list_is_empty(&p->groups))
        return;
    map_remove(&g->pages, &p->by_id);
    keep(&g->spare_pages, p);
}

static void member_leave(struct cdg *g, struct member *m)
{
    struct group *group = m->group;
    struct cdg_node *root = entry_of(m)->root;
    uint32_t number = m->number, last = group->roster->count - 1;

    map_remove(&g->members, &m->by_id);
    if (number != last) {
        const struct roster_entry *e =
                &group->roster->all[last]; /* it takes this one's place */
        part_find(g, group->page->id, e->sentinel_id, e->part)->number = number;
    }
    roster_remove(&group->roster, number);
    node_unref(&g->nodes, root);
    group_leave_if_empty(g, group);
    keep(&g->spare_members, m);
}

void cdg_leave(struct cdg *g, int64_t page_id, int64_t sentinel_id)
{
    struct member *m;

    while ((m = member_find(g, page_id, sentinel_id)))
        member_leave(g, m);
}

bool cdg_is_member(const struct cdg *g, int64_t page_id, int64_t sentinel_id)
{
    return member_find(g, page_id, sentinel_id) != NULL;
}

/* ---- version pairs
 * -------------------------------------------------------------------------------------- */

int64_t group_old_version(const struct group *group, int64_t version)
{
    int64_t step = group->compare.n - 1, old = version - step;

    if (group->compare.kind == CDG_EVERY && (version - group->phase) % step != 0)
        return 0;
    return old > 0 ? old : 0; /* (3) is for each member */
}

int64_t member_needs(struct cdg_compare c, int64_t base, int64_t latest)
{
    int64_t step = c.n - 1;

    if (latest < base)
        return base;
    int64_t oldest = c.kind == CDG_EVERY ? latest - (latest - base) % step : latest - step + 1;
    return oldest > base ? oldest : base;
}

int64_t cdg_oldest_needed(const struct cdg *g, int64_t page_id, int64_t latest)
{
    struct page_node *p = graph_page(g, page_id);
    int64_t oldest = 0;

    if (!p)
        return 0;
    list_each (l, &p->groups) {
        const struct group *group = list_entry(l, struct group, in_page);
        for (uint32_t i = 0; i < group->roster->count; i++) {
            int64_t need = member_needs(group->compare, group->roster->all[i].base, latest);
            oldest = oldest == 0 || need < oldest ? need : oldest;
        }
    }
    return oldest;
}

int64_t cdg_oldest_needed_by(const struct cdg *g, int64_t page_id, int64_t sentinel_id,
        int64_t latest, bool *ret_all)
{
    const struct member *m = member_find(g, page_id, sentinel_id); /* its parts agree */

    if (!m)
        return 0;
    *ret_all = m->group->compare.kind != CDG_EVERY;
    return member_needs(m->group->compare, entry_of(m)->base, latest);
}

void cdg_stats_get(const struct cdg *g, struct cdg_stats *ret_stats)
{
    *ret_stats = (struct cdg_stats){.pages = g->pages.count,
            .groups = g->ngroups,
            .members = g->members.count,
            .questions = g->nodes.leaves,
            .composites = g->nodes.composites,
            .plans = g->nplans,
            .bytes = arena_bytes(g->life) + g->record_bytes};
    map_each (m, &g->pages)
        list_each (l, &container_of(m, struct page_node, by_id)->groups)
            ret_stats->bytes += roster_bytes(list_entry(l, struct group, in_page)->roster);
}
