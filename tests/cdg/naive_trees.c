/* Nodes, whole trees, and which element is which. */
#include "tests/cdg/naive_int.h"

/* ---- nodes ------------------------------------------------------------------------------- */

const char *naive_tag_of(const struct page_digest *d, uint32_t node)
{
    return page_tag_name(d, d->tags[node]).ptr;
}

static const char *attribute(const struct page_digest *d, uint32_t node, const char *name)
{
    for (uint32_t a = d->attr_at[node]; a < d->attr_at[node + 1]; a++)
        if (strcmp(page_attr_name(d, a).ptr, name) == 0)
            return page_attr_value(d, a).ptr;
    return NULL;
}

/* The texts below, a space where a block begins. */
char *naive_text_below(struct arena *life, const struct page_digest *d, uint32_t node)
{
    BUF(out, 1 << 22);

    for (uint32_t i = 0; i < d->texts; i++)
        if (d->text_node[i] >= node && d->text_node[i] < d->end[node])
            buf_printf(
                    &out, "%s%s", out.len && d->text_block[i] ? " " : "", page_text(d, i).ptr);
    return arena_strdup(life, buf_text(&out));
}

/* Everything about a subtree, or with `deep` false about the node alone. */
static void write_tree(struct buf *out, const struct page_digest *d, uint32_t node, bool deep)
{
    if (d->tags[node] == 0) {
        uint32_t i = 0;
        while (d->text_node[i] != node)
            i++;
        buf_printf(out, "\"%s\"", page_text(d, i).ptr);
        return;
    }
    buf_printf(out, "<%s", naive_tag_of(d, node));
    for (uint32_t a = d->attr_at[node]; a < d->attr_at[node + 1]; a++)
        buf_printf(out, " %s=\"%s\"", page_attr_name(d, a).ptr, page_attr_value(d, a).ptr);
    buf_putc(out, '>');
    for (uint32_t c = node + 1; deep && c < d->end[node]; c = d->end[c])
        write_tree(out, d, c, true);
    if (deep)
        buf_puts(out, "</>");
}

static char *tree_text(struct arena *life, const struct page_digest *d, uint32_t node)
{
    BUF(out, 1 << 22);
    write_tree(&out, d, node, true);
    return arena_strdup(life, buf_text(&out));
}

struct elements {
    uint32_t *node;
    struct strings full, names; /* "<a href=\"x\">", "<a>" */
    struct strings *parts;      /* name, then each attribute */
};

static struct elements elements_of(struct arena *life, const struct page_digest *d)
{
    struct elements e = {.node = arena_array_of(life, d->nodes + 1, uint32_t),
            .parts = arena_array_of(life, d->nodes + 1, struct strings)};

    for (uint32_t i = 0; i < d->nodes; i++) {
        BUF(out, 1 << 16);
        if (d->tags[i] == 0)
            continue;
        write_tree(&out, d, i, false);
        e.node[e.full.count] = i;
        struct strings *parts = &e.parts[e.full.count];
        naive_push(life, parts, naive_tag_of(d, i));
        for (uint32_t a = d->attr_at[i]; a < d->attr_at[i + 1]; a++)
            naive_push(life, parts,
                    arena_printf(life, "%s=\"%s\"", page_attr_name(d, a).ptr,
                            page_attr_value(d, a).ptr));
        naive_push(life, &e.full, buf_text(&out));
        naive_push(life, &e.names, arena_printf(life, "<%s>", naive_tag_of(d, i)));
    }
    return e;
}

static void tell_attributes(struct out *o, const struct page_digest *old, uint32_t x,
        const struct page_digest *new_, uint32_t y)
{
    struct strings names = {NULL, 0};

    for (uint32_t a = old->attr_at[x]; a < old->attr_at[x + 1]; a++)
        naive_push(o->life, &names, page_attr_name(old, a).ptr);
    for (uint32_t a = new_->attr_at[y]; a < new_->attr_at[y + 1]; a++)
        if (!attribute(old, x, page_attr_name(new_, a).ptr))
            naive_push(o->life, &names, page_attr_name(new_, a).ptr);
    for (size_t i = 0; i < names.count; i++) /* by name */
        for (size_t k = i + 1; k < names.count; k++)
            if (strcmp(names.all[i], names.all[k]) > 0) {
                char *swap = names.all[i];
                names.all[i] = names.all[k];
                names.all[k] = swap;
            }
    for (size_t i = 0; i < names.count; i++) {
        const char *p = attribute(old, x, names.all[i]), *q = attribute(new_, y, names.all[i]);
        if (p && q && strcmp(p, q) == 0)
            continue;
        naive_tell_update(o, p ? arena_printf(o->life, "%s=\"%s\"", names.all[i], p) : "",
                q ? arena_printf(o->life, "%s=\"%s\"", names.all[i], q) : "");
    }
}

static void tell_first_difference(
        struct out *o, const struct page_digest *old, const struct page_digest *new_)
{
    uint32_t i = 0;

    while (i < old->nodes && i < new_->nodes && old->children[i] == new_->children[i] &&
            strcmp(naive_tag_of(old, i), naive_tag_of(new_, i)) == 0)
        i++;
    naive_tell_update(o,
            i < old->nodes ? arena_printf(o->life, "<%s> with %u children",
                                     naive_tag_of(old, i), old->children[i])
                           : "",
            i < new_->nodes ? arena_printf(o->life, "<%s> with %u children",
                                      naive_tag_of(new_, i), new_->children[i])
                            : "");
}

static bool has_text(const struct page_digest *d, uint32_t node)
{
    for (uint32_t i = node; i < d->end[node]; i++)
        if (d->tags[i] == 0)
            return true;
    return false;
}

/* ---- whole trees ------------------------------------------------------------------------- */

static char *whole(struct arena *life, const struct page_digest *d)
{
    BUF(out, 1 << 24);

    for (uint32_t i = 0; i < d->nodes; i = d->end[i])
        write_tree(&out, d, i, true);
    for (uint32_t i = 0; i < d->texts; i++)
        buf_printf(&out, "%d", d->text_block[i]);
    return arena_strdup(life, buf_text(&out));
}

void naive_any_change(
        struct out *o, const struct page_digest *old, const struct page_digest *new_)
{
    struct elements x = elements_of(o->life, old), y = elements_of(o->life, new_);

    if (strcmp(whole(o->life, old), whole(o->life, new_)) == 0)
        return;
    naive_tell_difference(o, naive_blocks_of(o->life, old), naive_blocks_of(o->life, new_));
    bool text_differs = o->changed;
    struct edits e = naive_difference(o->life, x.full, y.full, x.parts, y.parts);
    for (size_t i = 0; i < e.count; i++) {
        struct edit k = e.all[i];
        uint32_t a = k.old == NONE ? NONE : x.node[k.old];
        uint32_t b = k.new_ == NONE ? NONE : y.node[k.new_];
        if (k.how == UPDATED && strcmp(naive_tag_of(old, a), naive_tag_of(new_, b)) == 0) {
            tell_attributes(o, old, a, new_, b);
            continue;
        }
        bool textual = (a == NONE || has_text(old, a)) && (b == NONE || has_text(new_, b));
        if (k.how != HOW_COUNT && !(text_differs && textual))
            naive_tell_update(
                    o, a == NONE ? "" : x.full.all[k.old], b == NONE ? "" : y.full.all[k.new_]);
    }
    if (!o->changed)
        tell_first_difference(o, old, new_);
}

/* Elements in order of their names: what came and went, and who stands where who stood. */
static struct edits align(
        struct out *o, const struct elements *x, const struct elements *y, uint32_t *match)
{
    const struct strings *p = naive_parts_of(o->life, x->names),
                         *q = naive_parts_of(o->life, y->names);
    struct edits e = naive_difference(o->life, x->names, y->names, p, q);
    bool *old_gone = arena_array_of(o->life, x->names.count + 1, bool);
    bool *new_come = arena_array_of(o->life, y->names.count + 1, bool);
    size_t a = 0;

    for (size_t i = 0; i < e.count; i++) {
        if (e.all[i].how != HOW_COUNT && e.all[i].old != NONE)
            old_gone[e.all[i].old] = true;
        if (e.all[i].how != HOW_COUNT && e.all[i].new_ != NONE)
            new_come[e.all[i].new_] = true;
    }
    for (size_t j = 0; j < y->names.count; j++) {
        match[j] = NONE;
        if (new_come[j])
            continue;
        while (a < x->names.count && old_gone[a])
            a++;
        match[j] = (uint32_t)a++;
    }
    return e;
}

static bool arrays_differ(struct arena *life, const struct page_digest *old,
        const struct page_digest *new_, const char *kind)
{
    BUF(a, 1 << 24);
    BUF(b, 1 << 24);
    const struct page_digest *both[] = {old, new_};
    struct buf *outs[] = {&a, &b};

    (void)life;
    for (int s = 0; s < 2; s++) {
        const struct page_digest *d = both[s];
        for (uint32_t i = 0; i < d->nodes; i++) {
            if (strcmp(kind, "structure") == 0)
                buf_printf(outs[s], "%u ", d->children[i]);
            if (strcmp(kind, "tags") == 0)
                buf_printf(outs[s], "%s ", naive_tag_of(d, i));
            if (strcmp(kind, "attributes") == 0) {
                buf_putc(outs[s], '|');
                for (uint32_t k = d->attr_at[i]; k < d->attr_at[i + 1]; k++)
                    buf_printf(outs[s], "%s=%s\n", page_attr_name(d, k).ptr,
                            page_attr_value(d, k).ptr);
            }
        }
    }
    return strcmp(buf_text(&a), buf_text(&b)) != 0;
}

void naive_arrays(struct out *o, const struct page_digest *old, const struct page_digest *new_,
        const char *kind)
{
    struct elements x = elements_of(o->life, old), y = elements_of(o->life, new_);
    uint32_t *match = arena_array_of(o->life, y.names.count + 1, uint32_t);

    if (!arrays_differ(o->life, old, new_, kind))
        return;
    struct edits e = align(o, &x, &y, match);
    if (strcmp(kind, "attributes") != 0)
        naive_tell_edits(o, e, x.names, y.names);
    for (size_t j = 0; j < y.names.count; j++) {
        if (match[j] == NONE)
            continue;
        uint32_t p = x.node[match[j]], q = y.node[j];
        if (strcmp(kind, "attributes") == 0)
            tell_attributes(o, old, p, new_, q);
        if (strcmp(kind, "structure") == 0 && old->children[p] != new_->children[q])
            naive_tell_update(o, arena_printf(o->life, "%u children", old->children[p]),
                    arena_printf(o->life, "%u children", new_->children[q]));
    }
    if (!o->changed && strcmp(kind, "attributes") != 0)
        tell_first_difference(o, old, new_);
    o->changed = true;
}

void naive_content(struct out *o, const struct page_digest *old, const struct page_digest *new_)
{
    const struct page_digest *both[] = {old, new_};
    struct strings texts[2] = {{NULL, 0}, {NULL, 0}};

    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < both[s]->texts; i++)
            naive_push(o->life, &texts[s], page_text(both[s], i).ptr);
    naive_tell_difference(o, texts[0], texts[1]);
}

/* ---- elements: D.12 ---------------------------------------------------------------------- */

struct matching {
    struct arena *life;
    const struct page_digest *d[2];
    uint32_t *match[2];
    char **text[2]; /* of the subtree */
    uint64_t *weight;
};

static bool is_free(const struct matching *m, int side, uint32_t node)
{
    return m->d[side]->tags[node] != 0 && m->match[side][node] == NONE;
}

static const char *id_of(const struct page_digest *d, uint32_t node)
{
    const char *id = attribute(d, node, "id");
    return id ? id : attribute(d, node, "xml:id");
}

static bool same_name(const struct matching *m, uint32_t old, uint32_t new_)
{
    return strcmp(naive_tag_of(m->d[0], old), naive_tag_of(m->d[1], new_)) == 0;
}

static void pair_up(struct matching *m, uint32_t old, uint32_t new_)
{
    m->match[0][old] = new_;
    m->match[1][new_] = old;
}

static void match_rows(struct matching *m, uint32_t from_x, uint32_t to_x, uint32_t from_y,
        uint32_t to_y, bool anonymous)
{
    for (uint32_t y = from_y; y < to_y; y = m->d[1]->end[y])
        for (uint32_t x = from_x; x < to_x && is_free(m, 1, y); x = m->d[0]->end[x])
            if (is_free(m, 0, x) && same_name(m, x, y) &&
                    !(anonymous && (id_of(m->d[0], x) || id_of(m->d[1], y))))
                pair_up(m, x, y);
}

static uint64_t weight_of(const struct page_digest *d, uint32_t node)
{
    uint64_t n = 3 * strlen(naive_tag_of(d, node)) + 1; /* a tag opens, closes and counts */

    if (d->tags[node] == 0) {
        uint32_t i = 0;
        while (d->text_node[i] != node)
            i++;
        return page_text(d, i).len;
    }
    for (uint32_t a = d->attr_at[node]; a < d->attr_at[node + 1]; a++)
        n += page_attr_name(d, a).len + page_attr_value(d, a).len + 2;
    for (uint32_t c = node + 1; c < d->end[node]; c = d->end[c])
        n += weight_of(d, c);
    return n;
}

static void match_identical(struct matching *m)
{
    const struct page_digest *old = m->d[0], *new_ = m->d[1];
    bool *done = arena_array_of(m->life, new_->nodes + 1, bool);

    for (;;) {
        uint32_t y = NONE, best = NONE;
        for (uint32_t j = 0; j < new_->nodes; j++)
            if (is_free(m, 1, j) && !done[j] && (y == NONE || m->weight[j] > m->weight[y]))
                y = j;
        if (y == NONE)
            return;
        done[y] = true;
        uint32_t parent = new_->parent[y];
        for (uint32_t x = 0; x < old->nodes; x++) {
            if (!is_free(m, 0, x) || strcmp(m->text[0][x], m->text[1][y]) != 0)
                continue;
            bool ours = parent != NONE && m->match[1][parent] != NONE &&
                        old->parent[x] == m->match[1][parent];
            if (best == NONE || ours)
                best = x;
            if (ours)
                break;
        }
        for (uint32_t s = 0; best != NONE && s < new_->end[y] - y; s++)
            if (is_free(m, 0, best + s) && is_free(m, 1, y + s))
                pair_up(m, best + s, y + s);
    }
}

static void match_all(struct matching *m)
{
    const struct page_digest *old = m->d[0], *new_ = m->d[1];

    match_rows(m, 0, old->nodes, 0, new_->nodes, false);
    for (uint32_t y = 0; y < new_->nodes; y++)
        for (uint32_t x = 0; x < old->nodes && is_free(m, 1, y) && id_of(new_, y); x++)
            if (is_free(m, 0, x) && id_of(old, x) &&
                    strcmp(id_of(old, x), id_of(new_, y)) == 0 && same_name(m, x, y))
                pair_up(m, x, y);
    match_identical(m);
    for (uint32_t j = 0; j < new_->nodes; j++)
        for (uint32_t y = j, x = m->match[1][j]; x != NONE;) {
            x = old->parent[x];
            y = new_->parent[y];
            if (x == NONE || y == NONE || !is_free(m, 0, x) || !is_free(m, 1, y) ||
                    id_of(old, x) || id_of(new_, y) || !same_name(m, x, y))
                break;
            pair_up(m, x, y);
        }
    for (uint32_t y = 0; y < new_->nodes; y++)
        if (m->match[1][y] != NONE)
            match_rows(
                    m, m->match[1][y] + 1, old->end[m->match[1][y]], y + 1, new_->end[y], true);
}

static bool qualifies(struct arena *life, const struct cdg_leaf *leaf,
        const struct page_digest *d, uint32_t node)
{
    BUF(own, 1 << 22);

    if (d->tags[node] == 0 || strcmp(naive_tag_of(d, node), leaf->text) != 0)
        return false;
    for (uint32_t i = 0; i < d->texts && leaf->strict; i++)
        if (d->parent[d->text_node[i]] == node)
            buf_printf(&own, "%s%s", own.len ? " " : "", page_text(d, i).ptr);
    const char *text = leaf->strict ? buf_text(&own) : naive_text_below(life, d, node);
    return !leaf->contains || naive_keyword_count(life, leaf->contains,
                                      naive_folded_words(life, naive_words_in(life, text))) > 0;
}

void naive_element(struct out *o, const struct cdg_leaf *leaf, const struct page_digest *old,
        const struct page_digest *new_)
{
    struct matching m = {.life = o->life, .d = {old, new_}};

    for (int s = 0; s < 2; s++) {
        m.match[s] = arena_array_of(o->life, m.d[s]->nodes + 1, uint32_t);
        m.text[s] = arena_array_of(o->life, m.d[s]->nodes + 1, char *);
        memset(m.match[s], 0xFF, m.d[s]->nodes * sizeof(uint32_t));
        for (uint32_t i = 0; i < m.d[s]->nodes; i++)
            m.text[s][i] = tree_text(o->life, m.d[s], i);
    }
    m.weight = arena_array_of(o->life, new_->nodes + 1, uint64_t);
    for (uint32_t i = 0; i < new_->nodes; i++)
        m.weight[i] = weight_of(new_, i);
    match_all(&m);
    for (uint32_t y = 0; y < new_->nodes && leaf->status != CDG_DELETED; y++) {
        uint32_t x = m.match[1][y];
        bool same = x != NONE && strcmp(m.text[0][x], m.text[1][y]) == 0;
        bool wanted = leaf->status == CDG_EXISTS || (leaf->status == CDG_NEW && x == NONE) ||
                      (leaf->status == CDG_UPDATED && x != NONE && !same) ||
                      (leaf->status == CDG_UNCHANGED && same);
        if (!wanted || !qualifies(o->life, leaf, new_, y))
            continue;
        char *text = naive_text_below(o->life, new_, y);
        if (leaf->status == CDG_UPDATED)
            naive_tell_update(o, naive_text_below(o->life, old, x), text);
        else
            naive_tell(o, leaf->status == CDG_NEW ? INSERTED : FOUND, text);
    }
    for (uint32_t x = 0; x < old->nodes && leaf->status == CDG_DELETED; x++)
        if (m.match[0][x] == NONE && qualifies(o->life, leaf, old, x))
            naive_tell(o, DELETED, naive_text_below(o->life, old, x));
}
