/* table, list: one of them, chosen by number or by a text it contains, item by item.
 *
 * A table's items are its rows, each a sequence of cell texts; a list's items are those of
 * ul, ol and dl.  What is nested in an item belongs to its text.  It must hold that
 *  (1) an object that was there and is not any more has disappeared, unless it was chosen by
 *      a text and the page still has others: then it is lost, and that is not a change;
 *  (2) an object that neither version has cannot be compared.
 */
#include "cdg/detect_int.h"

struct object_kind {
    const char *noun;
    const char *const *roots; /* NULL-terminated names */
    const char *const *items;
    bool has_cells;
};

static const char *const table_roots[] = {"table", NULL}, *const table_rows[] = {"tr", NULL};
static const char *const table_cells[] = {"td", "th", NULL};
static const char *const list_roots[] = {"ul", "ol", "dl", NULL};
static const char *const list_items[] = {"li", "dt", "dd", NULL};

static const struct object_kind table_kind = {"table", table_roots, table_rows, true};
static const struct object_kind list_kind = {"list", list_roots, list_items, false};

/* Whether a tag's name is one of these, by number of the tag. */
static const bool *named(
        const struct page_digest *d, const char *const *names, struct arena *life)
{
    bool *is = arena_array_of(life, d->tag_names, bool);

    for (uint32_t tag = 1; tag < d->tag_names; tag++) {
        struct str name = d->tag_name_of[tag];
        for (const char *const *n = names; *n && !is[tag]; n++)
            is[tag] = name.len && (name.ptr[0] | 0x20) == **n && /* most end here */
                      str_equal_nocase(name, str_of(*n));
    }
    return is;
}

/* ---- finding it -------------------------------------------------------------------------- */

struct object {
    bool found;
    uint32_t count; /* how many there are in the page */
    uint32_t node, end;
};

static bool contains(const struct page_digest *d, uint32_t node, uint32_t end, const char *text)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "object");
    struct str all = subtree_text(d, node, end, scratch);
    return memmem(all.ptr, all.len, text, strlen(text)) != NULL;
}

/* The chosen one.  By text: the first that contains it and has none inside that does too;
 * since what is inside comes later, the search goes on inside the first that contains it. */
static struct object find(
        const struct question *q, const struct object_kind *k, const struct page_digest *d)
{
    const bool *is_root = named(d, k->roots, q->life);
    struct object o = {.found = false};
    uint32_t number = q->leaf->number ? q->leaf->number : 1, stop = d->nodes;

    for (uint32_t i = 0; i < d->nodes; i++) {
        if (!is_root[d->tags[i]])
            continue;
        o.count++;
        bool chosen = q->leaf->text ? i < stop && contains(d, i, d->end[i], q->leaf->text)
                                    : o.count == number;
        if (!chosen)
            continue;
        o.found = true;
        o.node = i;
        o.end = stop = d->end[i];
        if (!q->leaf->text)
            break; /* nobody asks how many there are */
    }
    return o;
}

/* ---- its items --------------------------------------------------------------------------- */

struct items {
    struct diff_item *all;
    uint32_t *node; /* of each */
    size_t count;
    const struct page_digest *d;
    const bool *is_cell; /* by tag */
};

static void put_cells(struct diff_item *item, struct arena *life)
{
    BUF(text, 1 << 26);
    BUF(key, 1 << 26);

    for (size_t i = 0; i < item->nparts; i++) {
        struct str cell = item->parts[i];
        if (text.len && cell.len)
            buf_putc(&text, ' ');
        buf_append(&text, cell.ptr, cell.len);
        buf_append(&key, cell.ptr, cell.len);
        buf_putc(&key, 0x1F); /* where a cell ends is part of the row */
    }
    item->text = (struct str){arena_strndup(life, buf_text(&text), text.len), text.len};
    item->key = (struct str){arena_strndup(life, buf_text(&key), key.len), key.len};
}

/* The cells of a row, not of tables inside it. */
static struct diff_item row(const struct page_digest *d, uint32_t from, uint32_t end,
        const bool *is_cell, struct arena *life)
{
    struct str *cells = arena_array_of(life, end - from + 1, struct str);
    struct diff_item item = {.parts = cells};

    for (uint32_t i = from; i < end; i++) {
        if (!is_cell[d->tags[i]])
            continue;
        cells[item.nparts++] = subtree_text(d, i, d->end[i], life);
        i = d->end[i] - 1;
    }
    put_cells(&item, life);
    return item;
}

static struct items items_of(const struct object_kind *k, const struct page_digest *d,
        const struct object *o, struct arena *life)
{
    const bool *is_root = named(d, k->roots, life), *is_item = named(d, k->items, life);
    const bool *is_cell = named(d, table_cells, life);
    struct items items = {.all = arena_array_of(life, o->end - o->node + 1, struct diff_item),
            .node = arena_alloc(life, (o->end - o->node + 1) * sizeof(uint32_t)),
            .d = d,
            .is_cell = is_cell};

    for (uint32_t i = o->node + 1; i < o->end; i++) {
        if (is_root[d->tags[i]]) { /* nested, and not inside an item */
            i = d->end[i] - 1;
            continue;
        }
        if (!is_item[d->tags[i]])
            continue;
        struct diff_item item = {.text = {NULL, 0}};
        if (k->has_cells)
            item = row(d, i + 1, d->end[i], is_cell, life);
        else
            item.text = subtree_text(d, i, d->end[i], life);
        if (!k->has_cells || item.nparts) {
            items.node[items.count] = i;
            items.all[items.count++] = item;
        }
        i = d->end[i] - 1;
    }
    return items;
}

/* ---- comparing --------------------------------------------------------------------------- */

/* The node of a row's cell; of the row, where it has none. */
static uint32_t cell_node(const struct items *items, size_t row, size_t cell)
{
    const struct page_digest *d = items->d;
    uint32_t at = items->node[row], end = d->end[at];

    for (uint32_t i = at + 1; i < end; i++) {
        if (!items->is_cell[d->tags[i]])
            continue;
        if (cell-- == 0)
            return i;
        i = d->end[i] - 1;
    }
    return at;
}

/* The cells in which two rows differ. */
static void add_cells(const struct question *q, struct answer *a, const struct items *before,
        const struct items *after, const struct diff_edit *e)
{
    const struct diff_item *old = &before->all[e->old], *new_ = &after->all[e->new_];
    size_t n = old->nparts > new_->nparts ? old->nparts : new_->nparts;

    for (size_t i = 0; i < n; i++) {
        struct str x = i < old->nparts ? old->parts[i] : (struct str){"", 0};
        struct str y = i < new_->nparts ? new_->parts[i] : (struct str){"", 0};
        if (str_equal(x, y) && i < old->nparts && i < new_->nparts)
            continue;
        struct change c = {CHANGE_UPDATED, x, y,
                arena_printf(q->life, "row %u, column %zu", e->new_ + 1, i + 1)};
        if (a->counts[CHANGE_UPDATED] < CHANGES_LISTED) {
            c.at[0] = cell_node(before, e->old, i) + 1;
            c.at[1] = cell_node(after, e->new_, i) + 1;
        }
        answer_add(a, q->life, c);
    }
}

struct items_pair {
    const struct items *old, *new_;
};

static struct diff_item pair_item(const void *arg, bool new_, size_t i)
{
    const struct items_pair *p = arg;
    return (new_ ? p->new_ : p->old)->all[i];
}

static uint32_t pair_node(const void *arg, bool new_, size_t i)
{
    const struct items_pair *p = arg;
    return (new_ ? p->new_ : p->old)->node[i];
}

static void compare_items(const struct question *q, const struct object_kind *k,
        struct answer *a, struct items old, struct items new_)
{
    struct items_pair pair = {&old, &new_};
    struct diff_input in = {.item = pair_item, .arg = &pair, .node = pair_node};
    struct diff d;

    diff_sequences(old.all, old.count, new_.all, new_.count, q->life, &d);
    if (!k->has_cells) {
        answer_add_items(a, q->life, &d, &in);
        return;
    }
    for (size_t i = 0; i < d.count; i++) {
        struct diff one = {&d.edits[i], 1, d.coarse};
        if (d.edits[i].how == DIFF_UPDATE)
            add_cells(q, a, &old, &new_, &d.edits[i]);
        else
            answer_add_items(a, q->life, &one, &in);
    }
}

static void add_whole(const struct question *q, const struct object_kind *k, struct answer *a,
        bool appeared, const struct object *o)
{
    struct str text = str_of(
            arena_printf(q->life, "%s %s", k->noun, appeared ? "appeared" : "disappeared"));
    answer_add(a, q->life,
            appeared ? (struct change){CHANGE_INSERTED, .new_ = text, .at = {0, o->node + 1}}
                     : (struct change){CHANGE_DELETED, .old = text, .at = {o->node + 1, 0}});
}

static void compare_object(
        const struct question *q, const struct object_kind *k, struct answer *a)
{
    const struct page_digest *from = q->old->digest, *to = q->new_->digest;

    bool same = hash128_equal(from->whole, to->whole);
    struct object new_ = find(q, k, to), old = same ? new_ : find(q, k, from);
    if (!old.found && !new_.found) /* (2) */
        answer_unknown(a, arena_printf(q->life, "there is no such %s", k->noun));
    else if (!old.found)
        add_whole(q, k, a, /* appeared= */ true, &new_);
    else if (!new_.found && q->leaf->text && new_.count) /* (1) */
        answer_unknown(a, arena_printf(q->life, "%s lost", k->noun));
    else if (!new_.found)
        add_whole(q, k, a, /* appeared= */ false, &old);
    else if (!same)
        compare_items(
                q, k, a, items_of(k, from, &old, q->life), items_of(k, to, &new_, q->life));
}

static struct str_list object_parts(
        const struct question *q, const struct object_kind *k, const struct cdg_version *v)
{
    struct object o = find(q, k, v->digest);
    struct str_list list = {NULL, 0};

    if (!o.found)
        return list;
    struct str text = subtree_text(v->digest, o.node, o.end, q->life), word;
    list.all = arena_array_of(q->life, text.len / 2 + 2, struct str);
    for (size_t at = 0; page_word_next(text, &at, &word);)
        list.all[list.count++] = word;
    return list;
}

static void compare_table(const struct question *q, struct answer *a)
{
    compare_object(q, &table_kind, a);
}

static void compare_list(const struct question *q, struct answer *a)
{
    compare_object(q, &list_kind, a);
}

static struct str_list table_parts(const struct question *q, const struct cdg_version *v)
{
    return object_parts(q, &table_kind, v);
}

static struct str_list list_parts(const struct question *q, const struct cdg_version *v)
{
    return object_parts(q, &list_kind, v);
}

const struct cdg_kind cdg_kind_table = {.compare = compare_table, .parts = table_parts};
const struct cdg_kind cdg_kind_list = {.compare = compare_list, .parts = list_parts};
