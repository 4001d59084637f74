/* The tools of the HTML standard's tree construction.
 *
 * Names in quotes are the standard's.  It must hold that
 *  (1) nothing that was said is lost: a text is always put somewhere;
 *  (2) time stays in proportion to the page: whatever searches the stack or the list counts
 *      its steps, and their sum has a limit; and
 *  (3) an element's attributes are sorted, each once, the first of twins.
 */
#include "page/tree.h"
#include <stdlib.h>

#define WORK_MAX ((uint64_t)400 * 1000 * 1000)

const struct tag_info tag_infos[TAG_COUNT] = {
        [TAG_OTHER] = {"", 0, CONTENT_MARKUP},
#define TAG(ident, name, flags, content) [TAG_##ident] = {name, flags, content},
#include "page/tags.def"
#undef TAG
};

enum tag_id tag_find(struct str name)
{
    unsigned low = 1, high = TAG_COUNT;

    while (low < high) {
        unsigned middle = (low + high) / 2;
        int c = strncmp(name.ptr, tag_infos[middle].name, name.len);
        if (c == 0 && tag_infos[middle].name[name.len] == 0)
            return (enum tag_id)middle;
        if (c > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return TAG_OTHER;
}

bool tree_steps(struct tree *t, uint64_t n)
{
    t->work += n;
    if (t->work > WORK_MAX) /* (2) */
        t->is_over = true;
    return !t->is_over;
}

/* ---- nodes ------------------------------------------------------------------------------- */

uint32_t tree_node_new(struct tree *t, struct tree_node n)
{
    uint32_t node = (uint32_t)(t->nodes.len / sizeof n);

    n.parent = n.first = n.last = n.next = n.previous = NO_NODE;
    if (node > PAGE_NODES_MAX)
        t->b->too_many = true;
    if (node > PAGE_NODES_MAX || !buf_push(&t->nodes, &n, sizeof n)) {
        t->b->overflowed = t->is_over = true;
        return 0;
    }
    return node;
}

void tree_init(struct tree *t, struct build *b, struct str source)
{
    size_t room = (size_t)(PAGE_NODES_MAX + 16) * sizeof(struct tree_node);

    *t = (struct tree){
            .b = b,
            .source = source,
            .head = NO_NODE,
            .body = NO_NODE,
            .form = NO_NODE,
            .quirks = true,
            .frameset_ok = true,
    };
    buf_init(&t->nodes, room);
    buf_init(&t->texts, 4 * source.len + 64);
    buf_init(&t->stack, room);
    buf_init(&t->active, room);
    buf_init(&t->tag_of, room);
    size_t guess = (source.len / 24 + 64) * sizeof(struct tree_node);
    buf_reserve(&t->nodes, guess < room ? guess : room); /* more would be refused */
    t->html = tree_node_new(t, (struct tree_node){.tag = TAG_HTML});
    number_push(&t->stack, t->html);
    t->open[TAG_HTML] = 1;
}

void tree_done(struct tree *t)
{
    buf_done(&t->nodes);
    buf_done(&t->texts);
    buf_done(&t->stack);
    buf_done(&t->active);
    buf_done(&t->tag_of);
}

void tree_detach(struct tree *t, uint32_t node)
{
    struct tree_node *n = tree_at(t, node);

    if (n->parent == NO_NODE)
        return;
    struct tree_node *p = tree_at(t, n->parent);
    if (n->previous == NO_NODE)
        p->first = n->next;
    else
        tree_at(t, n->previous)->next = n->next;
    if (n->next == NO_NODE)
        p->last = n->previous;
    else
        tree_at(t, n->next)->previous = n->previous;
    n->parent = n->next = n->previous = NO_NODE;
}

/* Under `parent`, in front of `before`; NO_NODE: as its last. */
void tree_attach(struct tree *t, uint32_t node, uint32_t parent, uint32_t before)
{
    struct tree_node *n = tree_at(t, node), *p = tree_at(t, parent);

    n->parent = parent;
    n->next = before;
    n->previous = before == NO_NODE ? p->last : tree_at(t, before)->previous;
    if (n->previous == NO_NODE)
        p->first = node;
    else
        tree_at(t, n->previous)->next = node;
    if (before == NO_NODE)
        p->last = node;
    else
        tree_at(t, before)->previous = node;
}

static bool is_table_part(const struct tree_node *n)
{
    return n->space == SPACE_HTML &&
           (n->tag == TAG_TABLE || n->tag == TAG_TBODY || n->tag == TAG_TFOOT ||
                   n->tag == TAG_THEAD || n->tag == TAG_TR);
}

/* "The appropriate place for inserting a node". */
void tree_put(struct tree *t, uint32_t node, uint32_t target)
{
    if (!t->foster || !is_table_part(tree_at(t, target))) {
        tree_attach(t, node, target, NO_NODE);
        return;
    }
    size_t i = tree_depth(t);
    while (i > 0 && !node_is(tree_at(t, tree_open_at(t, i - 1)), TAG_TABLE))
        i--;
    tree_steps(t, tree_depth(t) - i + 1);
    uint32_t table = i ? tree_open_at(t, i - 1) : t->html;
    uint32_t parent = tree_at(t, table)->parent;
    if (i == 0)
        tree_attach(t, node, t->html, NO_NODE);
    else if (parent != NO_NODE)
        tree_attach(t, node, parent, table);
    else
        tree_attach(t, node, tree_open_at(t, i - 2), NO_NODE);
}

/* ---- attributes -------------------------------------------------------------------------- */

static void attributes_take(struct tree *t, struct tree_node *n, struct tree_tag *tag)
{
    n->from = (uint32_t)(t->b->attrs.len / sizeof(struct build_attr));
    n->count = (uint32_t)build_attributes(t->b, tag->attrs, tag->nattrs); /* (3) */
}

void tree_merge_attributes(struct tree *t, uint32_t node, struct tree_tag *tag)
{
    struct tree_node *n = tree_at(t, node), late = {.from = 0};
    uint32_t had = n->count, from = n->from;

    n->written = true;
    if (had == 0) {
        attributes_take(t, n, tag);
        return;
    }
    attributes_take(t, &late, tag);
    n->from = (uint32_t)(t->b->attrs.len / sizeof(struct build_attr));
    n->count = (uint32_t)build_attributes_join(t->b, from, had, late.from, late.count);
}

/* ---- the stack of open elements ---------------------------------------------------------- */

void tree_push(struct tree *t, uint32_t node)
{
    if (tree_depth(t) > PAGE_DEPTH_MAX + 4)
        t->b->too_deep = t->is_over = true;
    if (t->is_over)
        return;
    if (!number_push(&t->stack, node)) {
        t->b->overflowed = t->is_over = true;
        return;
    }
    tree_at(t, node)->in_stack = true;
    t->open[tree_at(t, node)->tag]++;
}

void tree_pop(struct tree *t)
{
    struct tree_node *n = tree_at(t, tree_current(t));

    if (tree_depth(t) <= 1)
        return; /* html stays */
    n->in_stack = false;
    t->open[n->tag]--;
    t->stack.len -= sizeof(uint32_t);
}

void tree_pop_until(struct tree *t, enum tag_id tag)
{
    bool last = false;

    while (!last && tree_depth(t) > 1) {
        last = tree_current_is(t, tag);
        tree_pop(t);
    }
}

void tree_pop_until_node(struct tree *t, uint32_t node)
{
    bool last = false;

    while (!last && tree_depth(t) > 1) {
        last = tree_current(t) == node;
        tree_pop(t);
    }
}

void tree_remove_open(struct tree *t, uint32_t node)
{
    for (size_t i = tree_depth(t); i-- > 1;) {
        tree_steps(t, 1);
        if (tree_open_at(t, i) != node)
            continue;
        number_remove(&t->stack, i);
        tree_at(t, node)->in_stack = false;
        t->open[tree_at(t, node)->tag]--;
        return;
    }
}

uint32_t tree_insert(struct tree *t, struct tree_tag *tag, enum tree_space space)
{
    struct tree_node n = {.name = tag->name,
            .tag = (uint8_t)tag->tag,
            .space = (uint8_t)space,
            .written = true};

    attributes_take(t, &n, tag);
    uint32_t node = tree_node_new(t, n);
    if (t->is_over)
        return 0;
    tree_put(t, node, tree_current(t));
    tree_push(t, node);
    tag->inserted = true;
    return node;
}

void tree_insert_void(struct tree *t, struct tree_tag *tag)
{
    tree_insert(t, tag, SPACE_HTML);
    if (!t->is_over)
        tree_pop(t);
}

void tree_insert_implied(struct tree *t, enum tag_id tag, bool written)
{
    struct tree_tag made = {.tag = tag, .text = str_of(tag_infos[tag].name)};

    made.name = intern_get(&t->b->tag_names, made.text);
    uint32_t node = tree_insert(t, &made, SPACE_HTML);
    if (!t->is_over)
        tree_at(t, node)->written = written;
}

void tree_insert_text(struct tree *t, struct str text)
{
    bool in_source = text.ptr >= t->source.ptr && text.ptr <= t->source.ptr + t->source.len;
    struct tree_node n = {.count = (uint32_t)text.len, .in_texts = !in_source};

    if (in_source) {
        n.from = (uint32_t)(text.ptr - t->source.ptr);
    } else {
        n.from = (uint32_t)t->texts.len;
        if (!buf_push(&t->texts, text.ptr, text.len))
            t->b->overflowed = t->is_over = true;
    }
    uint32_t node = tree_node_new(t, n);
    if (!t->is_over)
        tree_put(t, node, tree_current(t)); /* (1) */
}

/* ---- scopes ------------------------------------------------------------------------------ */

static bool is_foreign_scope(const struct tree_node *n)
{
    switch (n->tag) {
    case TAG_MI:
    case TAG_MO:
    case TAG_MN:
    case TAG_MS:
    case TAG_MTEXT:
    case TAG_ANNOTATION_XML:
        return n->space == SPACE_MATH;
    case TAG_FOREIGNOBJECT:
    case TAG_DESC:
    case TAG_TITLE:
        return n->space == SPACE_SVG;
    default:
        return false;
    }
}

static bool ends_scope(const struct tree_node *n, enum tree_scope scope)
{
    if (n->space != SPACE_HTML)
        return scope != SCOPE_TABLE && is_foreign_scope(n);
    switch (scope) {
    case SCOPE_TABLE:
        return n->tag == TAG_TABLE || n->tag == TAG_HTML || n->tag == TAG_TEMPLATE;
    case SCOPE_LIST:
        if (n->tag == TAG_OL || n->tag == TAG_UL)
            return true;
        break;
    case SCOPE_BUTTON:
        if (n->tag == TAG_BUTTON)
            return true;
        break;
    case SCOPE_PLAIN:
        break;
    }
    return tag_infos[n->tag].flags & T_SCOPE;
}

bool node_is_special(const struct tree_node *n)
{
    return flags_of(n) & T_SPECIAL || (n->space != SPACE_HTML && is_foreign_scope(n));
}

bool tree_has_in_scope(struct tree *t, enum tag_id tag, enum tree_scope scope)
{
    if (t->open[tag] == 0)
        return false;
    for (size_t i = tree_depth(t); i-- > 0 && tree_steps(t, 1);) {
        const struct tree_node *n = tree_at(t, tree_open_at(t, i));
        if (node_is(n, tag))
            return true;
        if (ends_scope(n, scope))
            return false;
    }
    return false;
}

bool tree_has_node_in_scope(struct tree *t, uint32_t node)
{
    for (size_t i = tree_depth(t); i-- > 0 && tree_steps(t, 1);) {
        if (tree_open_at(t, i) == node)
            return true;
        if (ends_scope(tree_at(t, tree_open_at(t, i)), SCOPE_PLAIN))
            return false;
    }
    return false;
}

bool tree_has_heading_in_scope(struct tree *t)
{
    for (size_t i = tree_depth(t); i-- > 0 && tree_steps(t, 1);) {
        const struct tree_node *n = tree_at(t, tree_open_at(t, i));
        if (n->space == SPACE_HTML && n->tag >= TAG_H1 && n->tag <= TAG_H6)
            return true;
        if (ends_scope(n, SCOPE_PLAIN))
            return false;
    }
    return false;
}

void tree_imply_ends(struct tree *t, enum tag_id except)
{
    for (;;) {
        const struct tree_node *n = tree_at(t, tree_current(t));
        if (!(flags_of(n) & T_IMPLIED) || n->tag == except)
            return;
        tree_pop(t);
    }
}

void tree_close_p(struct tree *t)
{
    if (!tree_has_in_scope(t, TAG_P, SCOPE_BUTTON))
        return;
    tree_imply_ends(t, TAG_P);
    tree_pop_until(t, TAG_P);
}
