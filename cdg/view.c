/* Looking at the graph, for people: its nodes with what they were last found to be, and who
 * stands in which group. */
#include "cdg/cdg_int.h"

static void put_words(struct buf *out, const struct cdg_leaf *l)
{
    enum { SHOWN = 5 };

    if (!l->nwords)
        return;
    buf_puts(out, " {");
    for (size_t i = 0; i < l->nwords && i < SHOWN; i++)
        buf_printf(out, "%s%.60s", i ? ", " : "", l->words[i]);
    buf_puts(out, l->nwords > SHOWN ? ", …}" : "}");
}

static void put_question(struct buf *out, const struct cdg_leaf *l)
{
    buf_puts(out, cdg_kind_get(l->kind)->name);
    buf_puts(out, l->raw ? " raw" : "");
    if (l->number)
        buf_printf(out, " %u", l->number);
    if (l->text)
        buf_printf(out, " '%.80s'", l->text);
    put_words(out, l);
    if (l->selector)
        buf_printf(out, " in '%.80s'", l->selector);
    if (l->changed_over)
        buf_printf(out, " changed %s %g%%", l->at_least ? ">=" : ">", l->percent);
}

/* Leaves that no word led to were not asked one by one; their groups know. */
static void settle_group(const struct group *group)
{
    for (uint32_t i = 0; group->last.was_asked && i < group->roster->count; i++) {
        const struct roster_entry *e = &group->roster->all[i];
        if (e->is_keyed && e->base <= group->last_base && e->root->last.plan < group->last.plan)
            e->root->last = group->last;
    }
}

void cdg_each_node(const struct cdg *g, cdg_node_fn *fn, void *arg)
{
    static const char *const words[] = {[CDG_AND] = "AND", [CDG_OR] = "OR", [CDG_NOT] = "NOT"};
    BUF(text, 1 << 16);

    map_each (p, &g->pages)
        list_each (l, &container_of(p, struct page_node, by_id)->groups)
            settle_group(list_entry(l, struct group, in_page));
    map_each (m, &g->nodes.by_key) {
        const struct cdg_node *n = container_of(m, struct cdg_node, by_key);
        buf_clear(&text);
        if (n->op == CDG_LEAF)
            put_question(&text, &n->leaf);
        struct cdg_node_view v = {
                .id = n->id,
                .op = n->op,
                .text = n->op == CDG_LEAF ? buf_text(&text) : words[n->op],
                .left = n->left ? n->left->id : 0,
                .right = n->right ? n->right->id : 0,
                .refs = n->refs,
                .was_asked = n->last.was_asked,
                .last = n->last.result,
                .last_old = n->last.old,
                .last_new = n->last.new_,
        };
        fn(&v, arg);
    }
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

void cdg_each_member(
        const struct cdg *g, int64_t page_id, int64_t latest, cdg_member_fn *fn, void *arg)
{
    const struct page_node *p = graph_page(g, page_id);
    uint64_t number = 0;

    if (!p)
        return;
    list_each (l, (struct list *)&p->groups) {
        const struct group *group = list_entry(l, struct group, in_page);
        number++;
        for (uint32_t i = 0; i < group->roster->count; i++) {
            const struct roster_entry *e = &group->roster->all[i];
            struct cdg_member_view v = {
                    .group = number,
                    .compare = group->compare,
                    .waiting = waiting(group, e->base, latest),
                    .sentinel_id = e->sentinel_id,
                    .root = e->root->id,
            };
            fn(&v, arg);
        }
    }
}
