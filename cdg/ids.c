/* Elements of one name and one id: (2) of match.c.
 *
 * Each new one takes the first old one that is free.  An element that lies in a span has the
 * one at its place, unless somebody outside the spans has the same id: so ids are looked up
 * only for who stands outside.
 */
#include "base/map.h"
#include "cdg/match.h"

enum { APART_MAX = 64 }; /* more of them are not compared one by one */

/* An element with an id. */
struct ided {
    uint32_t node, attr;
    uint32_t twin; /* in a span: the old one at its place */
};

struct ided_list {
    struct ided *all;
    size_t count;
};

struct id_names id_names_of(const struct page_digest *d)
{
    struct id_names n = {NO_NODE, NO_NODE};

    for (uint32_t i = 0; i < d->attr_names; i++) {
        if (str_same(d->attr_name_of[i], STR("id")))
            n.id = i;
        else if (str_same(d->attr_name_of[i], STR("xml:id")))
            n.xml_id = i;
    }
    return n;
}

uint32_t id_of(const struct tree *t, uint32_t node)
{
    const struct page_digest *d = t->d;

    for (uint32_t a = d->attr_at[node]; a < d->attr_at[node + 1]; a++)
        if (d->attr_name[a] == t->names.id || d->attr_name[a] == t->names.xml_id)
            return a; /* the first of them counts */
    return NO_NODE;
}

static uint32_t node_of(const struct page_digest *d, uint32_t attr)
{
    uint32_t low = 0, high = d->nodes;

    while (high - low > 1) { /* the last node whose attributes begin at or before it */
        uint32_t middle = low + (high - low) / 2;
        if (d->attr_at[middle] <= attr)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Those among the nodes from `from` to `to`. */
static void list_add(struct ided_list *l, const struct tree *t, uint32_t from, uint32_t to)
{
    const uint32_t *names = t->d->attr_name, end = t->d->attr_at[to];

    for (uint32_t a = t->d->attr_at[from]; a < end; a++) {
        if (names[a] != t->names.id && names[a] != t->names.xml_id)
            continue;
        uint32_t node = node_of(t->d, a);
        if (l->count == 0 || l->all[l->count - 1].node != node)
            l->all[l->count++] = (struct ided){node, a, NO_NODE};
    }
}

static struct ided_list list_new(const struct tree *t, struct arena *life)
{
    return (struct ided_list){
            .all = arena_alloc(life, (t->d->attributes + 1) * sizeof(struct ided))};
}

static struct str id_text(const struct tree *t, struct ided x)
{
    return t->d->attr_value_of[t->d->attr_value[x.attr]];
}

/* ---- in order ---------------------------------------------------------------------------- */

/* The old elements of one name and one id, in document order; ids may be given twice. */
struct with_id {
    struct map_node by_id; /* of the first */
    struct with_id *next;
    struct str id;
    uint32_t node, tag; /* tag: its number in the new version */
};

static struct with_id *row_find(
        const struct map *ids, struct str id, uint32_t tag, uint64_t hash)
{
    for (struct map_node *at = map_first(ids, hash); at; at = map_next(at)) {
        struct with_id *k = container_of(at, struct with_id, by_id);
        if (k->tag == tag && str_equal(k->id, id))
            return k;
    }
    return NULL;
}

static void ids_put(struct matching *m, struct map *ids, struct ided x)
{
    struct with_id *k = arena_new_of(m->life, struct with_id), *first;
    *k = (struct with_id){.id = id_text(&m->old, x),
            .node = x.node,
            .tag = m->same.tag[m->old.d->tags[x.node]]};
    uint64_t hash = map_hash(k->id.ptr, k->id.len);

    first = row_find(ids, k->id, k->tag, hash);
    if (!first) {
        map_insert(ids, &k->by_id, hash);
        return;
    }
    k->node =
            first->node; /* put in front: the numbers change places, the map need not change */
    k->next = first->next;
    first->node = x.node;
    first->next = k;
}

/* The first one of the row that is free, NO_NODE if none is; those before it are dropped. */
static uint32_t row_first_free(const struct matching *m, struct with_id *row)
{
    while (row->node != NO_NODE && !is_free(&m->old, row->node)) {
        struct with_id *next = row->next;
        row->node = next ? next->node : NO_NODE;
        row->next = next ? next->next : NULL;
    }
    return row->node;
}

static void match_lists(
        struct matching *m, const struct ided_list *old, const struct ided_list *new_)
{
    struct map ids;

    if (old->count == 0 || new_->count == 0)
        return;
    map_init(&ids);
    for (size_t n = old->count; n-- > 0;)
        ids_put(m, &ids, old->all[n]);
    for (size_t n = 0; n < new_->count; n++) {
        uint32_t j = new_->all[n].node;
        if (!is_free(&m->new_, j))
            continue;
        struct str id = id_text(&m->new_, new_->all[n]);
        struct with_id *row = row_find(&ids, id, m->new_.d->tags[j], map_hash(id.ptr, id.len));
        uint32_t i = row ? row_first_free(m, row) : NO_NODE;
        if (i != NO_NODE)
            pair_up(m, i, j);
    }
    map_done(&ids);
}

/* ---- in their places --------------------------------------------------------------------- */

/* Who lies in no span, of either version; who does, of the new one. */
struct ids {
    struct ided_list apart[2], inside;
};

static struct ids ids_find(struct matching *m)
{
    const struct spans *s = m->same.spans;
    const struct tree *trees[2] = {&m->old, &m->new_};
    struct ids all = {{list_new(&m->old, m->life), list_new(&m->new_, m->life)},
            list_new(&m->new_, m->life)};
    uint32_t done[2] = {0, 0};

    for (size_t i = 0; i < s->count; i++) {
        const uint32_t *at = s->all[i].at[SPAN_NODES], len = s->all[i].len[SPAN_NODES];
        for (int side = 0; side < 2; side++) {
            list_add(&all.apart[side], trees[side], done[side], at[side]);
            done[side] = at[side] + len;
        }
        size_t n = all.inside.count;
        list_add(&all.inside, &m->new_, at[1], at[1] + len);
        for (; n < all.inside.count; n++)
            all.inside.all[n].twin = all.inside.all[n].node - at[1] + at[0];
    }
    for (int side = 0; side < 2; side++)
        list_add(&all.apart[side], trees[side], done[side], trees[side]->d->nodes);
    return all;
}

static unsigned filter_of(struct str id)
{
    return id.len ? (unsigned)(id.len + 7 * (unsigned char)id.ptr[0] +
                               13 * (unsigned char)id.ptr[id.len - 1]) %
                            64
                  : 0;
}

static bool is_apart(const struct matching *m, const struct ids *all, struct str id)
{
    const struct tree *trees[2] = {&m->old, &m->new_};

    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < all->apart[side].count; i++)
            if (str_same(id_text(trees[side], all->apart[side].all[i]), id))
                return true;
    return false;
}

/* Whether somebody outside has the id of somebody inside, or may have. */
static bool ids_are_shared(const struct matching *m, const struct ids *all)
{
    const struct tree *trees[2] = {&m->old, &m->new_};
    uint64_t filter = 0;

    if (all->apart[0].count + all->apart[1].count > APART_MAX)
        return true;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < all->apart[side].count; i++)
            filter |= 1ull << filter_of(id_text(trees[side], all->apart[side].all[i]));
    for (size_t i = 0; filter && i < all->inside.count; i++) {
        struct str id = id_text(&m->new_, all->inside.all[i]);
        if (filter >> filter_of(id) & 1 && is_apart(m, all, id))
            return true;
    }
    return false;
}

static bool are_matched(const struct matching *m, const struct ided_list *inside, bool or_free)
{
    for (size_t n = 0; n < inside->count; n++) {
        uint32_t j = inside->all[n].node, i = inside->all[n].twin;
        if (m->new_.match[j] != i && !(or_free && is_free(&m->old, i) && is_free(&m->new_, j)))
            return false;
    }
    return true;
}

bool match_ids(struct matching *m)
{
    struct ids all = ids_find(m);

    /* roots are matched already, and may be in the way */
    if (are_matched(m, &all.inside, /* or_free= */ true) && !ids_are_shared(m, &all)) {
        match_lists(m, &all.apart[0], &all.apart[1]);
        for (size_t n = 0; n < all.inside.count; n++)
            pair_up(m, all.inside.all[n].twin, all.inside.all[n].node);
        return true;
    }
    all.apart[0].count = all.apart[1].count = 0;
    list_add(&all.apart[0], &m->old, 0, m->old.d->nodes);
    list_add(&all.apart[1], &m->new_, 0, m->new_.d->nodes);
    match_lists(m, &all.apart[0], &all.apart[1]);
    return are_matched(m, &all.inside, /* or_free= */ false);
}
