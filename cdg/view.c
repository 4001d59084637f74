/* Looking at the graph, for people: who stands in which group, which nodes they share, and what
 * those were last found to be there.
 *
 * A node belongs to the whole graph, a result to a group and its pair: so it must hold that
 *  (1) a node is shown with what the group it is shown in found last, never another's, and
 *  (2) a member is not shown what was found before it came.
 */
#include "cdg/cdg_int.h"

struct seen_node {
    struct map_node by_id;
    uint64_t id;
    const struct record_entry *entry; /* NULL: there is none */
    bool is_shown, is_wanted;
    int64_t counted; /* the sentinel that was counted in last */
    struct cdg_sharers sharers;
};

struct looking {
    const struct cdg *g;
    const struct group *group;
    int64_t latest;
    const struct cdg_viewer *to;
    void *arg;
    struct arena *life;
    struct map nodes; /* struct seen_node */
};

static struct seen_node *seen_find(const struct looking *l, uint64_t id)
{
    struct map_node *n = map_first(&l->nodes, map_hash_id(id));

    while (n && container_of(n, struct seen_node, by_id)->id != id)
        n = map_next(n);
    return n ? container_of(n, struct seen_node, by_id) : NULL;
}

static struct seen_node *seen_get(struct looking *l, uint64_t id)
{
    struct seen_node *s = seen_find(l, id);

    if (s)
        return s;
    s = arena_new_of(l->life, struct seen_node);
    s->id = id;
    map_insert(&l->nodes, &s->by_id, map_hash_id(id));
    return s;
}

static void look_at_record(struct looking *l)
{
    const struct record *r = l->group->last;

    for (size_t i = 0; r && i < r->count; i++)
        if (r->entries[i].pair == l->group->last_pair)
            seen_get(l, r->entries[i].node)->entry = &r->entries[i];
}

/* False: it was not asked. */
static bool last_of(const struct looking *l, const struct cdg_node *n,
        const struct record_entry *entry, struct cdg_last *ret)
{
    const struct record *r = l->group->last;

    if (!r || (!entry && !n->is_keyed))
        return false;
    const struct record_pair *pair = &r->pairs[l->group->last_pair];
    *ret = (struct cdg_last){
            .result = entry ? (enum cdg_result)entry->result : pair->quiet,
            .reason = r->texts + (entry ? entry->why : pair->why),
            .differs = entry && entry->differs,
            .old_version = pair->old_version,
            .new_version = r->new_version,
            .at = r->at,
    };
    return true;
}

/* `was_there`: somebody it concerns was, when the record was made: (2). */
static void show_nodes(struct looking *l, const struct cdg_node *n, bool was_there)
{
    struct seen_node *s = seen_get(l, n->id);
    struct cdg_last last;

    if (s->is_shown)
        return;
    s->is_shown = true;
    if (n->left)
        show_nodes(l, n->left, was_there);
    if (n->right)
        show_nodes(l, n->right, was_there);
    struct cdg_node_view v = {
            .id = n->id,
            .op = n->op,
            .leaf = n->op == CDG_LEAF ? &n->leaf : NULL,
            .left = n->left ? n->left->id : 0,
            .right = n->right ? n->right->id : 0,
            .shared = s->is_wanted ? &s->sharers : NULL,
            .last = was_there && last_of(l, n, s->entry, &last) ? &last : NULL,
    };
    l->to->node(&v, l->arg);
}

/* Versions still to come until the next pair of a member with this base. */
static int64_t waiting(const struct group *group, int64_t base, int64_t latest)
{
    int64_t step = group->compare.n - 1;

    if (latest < base)
        return base + step - latest;
    int64_t since = latest - base;
    return group->compare.kind == CDG_EVERY ? step - since % step
           : since >= step                  ? 1
                                            : step - since;
}

static void show_member(const struct looking *l, const struct roster_entry *e)
{
    struct cdg_member_view v = {
            .sentinel_id = e->sentinel_id,
            .part = e->part,
            .waiting = waiting(l->group, e->base, l->latest),
            .base = member_needs(l->group->compare, e->base, l->latest),
            .root = e->root->id,
    };
    l->to->member(&v, l->arg);
}

/* Not the same sentinel with another part once more. */
static bool is_first_part(const struct looking *l, const struct roster_entry *e)
{
    const struct member *m =
            e->part ? member_find(l->g, l->group->page->id, e->sentinel_id) : NULL;

    for (; m; m = member_next(m))
        if (m->group->roster->all[m->number].part < e->part)
            return false;
    return true;
}

static void show_group(const struct looking *l)
{
    const struct roster *r = l->group->roster;
    struct cdg_group_view v = {.number = 1, .compare = l->group->compare};

    list_each (pos, (struct list *)&l->group->page->groups) {
        if (list_entry(pos, struct group, in_page) == l->group)
            break;
        v.number++;
    }
    for (uint32_t i = 0; i < r->count; i++)
        v.members += is_first_part(l, &r->all[i]);
    l->to->group(&v, l->arg);
}

static bool concerned(const struct looking *l, const struct roster_entry *e)
{
    return l->group->last && e->base <= l->group->last_base;
}

void cdg_view_page(const struct cdg *g, int64_t page_id, int64_t latest,
        const struct cdg_viewer *to, void *arg)
{
    const struct page_node *p = graph_page(g, page_id);

    if (!p)
        return;
    list_each (pos, (struct list *)&p->groups) {
        SCRATCH struct arena *life = arena_new(NULL, "view");
        struct looking l = {g, list_entry(pos, struct group, in_page), latest, to, arg, life,
                .nodes = {NULL, 0, 0}};
        const struct roster *r = l.group->roster;
        map_init(&l.nodes);
        look_at_record(&l);
        show_group(&l);
        for (int there = 1; there >= 0; there--) /* who was there knows more */
            for (uint32_t i = 0; i < r->count; i++)
                if (concerned(&l, &r->all[i]) == there)
                    show_nodes(&l, r->all[i].root, there);
        for (uint32_t i = 0; i < r->count; i++)
            show_member(&l, &r->all[i]);
        map_done(&l.nodes);
    }
}

/* ---- one sentinel ------------------------------------------------------------------------ */

static void want(struct looking *l, const struct cdg_node *n)
{
    seen_get(l, n->id)->is_wanted = true;
    if (n->left)
        want(l, n->left);
    if (n->right)
        want(l, n->right);
}

/* Counts a sentinel in for each wanted node it asks, once. */
static void count_in(struct looking *l, const struct cdg_node *n, int64_t sentinel_id)
{
    struct seen_node *s = seen_find(l, n->id);

    if (s && s->is_wanted && s->counted != sentinel_id) {
        struct cdg_sharers *to = &s->sharers;
        s->counted = sentinel_id;
        if (to->total < CDG_SHARERS_SHOWN)
            to->ids[to->total] = sentinel_id;
        to->total++;
    }
    if (n->left)
        count_in(l, n->left, sentinel_id);
    if (n->right)
        count_in(l, n->right, sentinel_id);
}

/* All parts of a sentinel one after the other, at the place of its first. */
static void count_sharers(struct looking *l, int64_t but)
{
    const struct roster *r = l->group->roster;

    for (uint32_t i = 0; i < r->count; i++) {
        const struct roster_entry *e = &r->all[i];
        if (e->sentinel_id == but || !is_first_part(l, e))
            continue;
        const struct member *m = member_find(l->g, l->group->page->id, e->sentinel_id);
        for (; m; m = member_next(m))
            count_in(l, m->group->roster->all[m->number].root, e->sentinel_id);
    }
}

static const struct roster_entry *part_after(
        const struct member *m, const struct roster_entry *before)
{
    const struct roster_entry *next = NULL;

    for (; m; m = member_next(m)) {
        const struct roster_entry *e = &m->group->roster->all[m->number];
        if ((!before || e->part > before->part) && (!next || e->part < next->part))
            next = e;
    }
    return next;
}

void cdg_view_sentinel(const struct cdg *g, int64_t page_id, int64_t sentinel_id,
        int64_t latest, const struct cdg_viewer *to, void *arg)
{
    SCRATCH struct arena *life = arena_new(NULL, "view");
    const struct member *first = member_find(g, page_id, sentinel_id);

    if (!first)
        return;
    struct looking l = {g, first->group, latest, to, arg, life, .nodes = {NULL, 0, 0}};
    map_init(&l.nodes);
    look_at_record(&l);
    for (const struct member *m = first; m; m = member_next(m))
        want(&l, m->group->roster->all[m->number].root);
    count_sharers(&l, sentinel_id);
    show_group(&l);
    const struct roster_entry *e = NULL;
    while ((e = part_after(first, e))) {
        show_nodes(&l, e->root, concerned(&l, e));
        show_member(&l, e);
    }
    map_done(&l.nodes);
}
