/* XPath 1.0 on a digest.
 *
 * It must hold that
 *  (1) a node-set is in document order, each node once, and positions are counted along the
 *      axis, as the recommendation says;
 *  (2) time is bounded whatever the expression, and what a predicate needs goes with it; and
 *  (3) html, head, body, tbody and colgroup, which a page may leave out and a browser shows
 *      all the same, may be named as children where they are missing.
 */
#include "page/xpath_value.h"
#include <math.h>
#include <stdlib.h>

/* ---- steps ----------------------------------------------------------------------------------
 */

static bool names_equal(const struct eval *x, struct str name, const char *wanted)
{
    return x->d->type == PAGE_XML ? str_equal(name, str_of(wanted))
                                  : str_equal_nocase(name, str_of(wanted));
}

static bool passes(const struct eval *x, const struct xpath_step *s, uint32_t node)
{
    bool attribute = xpath_is_attribute(x, node), root = node == xpath_document(x);
    bool text = !attribute && !root && x->d->tags[node] == 0;

    switch (s->test) {
    case NODE_ANY:
        return true;
    case NODE_TEXT:
        return text;
    case NODE_ANY_NAME:
        return !text && !root && attribute == (s->axis == AXIS_ATTRIBUTE);
    case NODE_NAMED:
        return !text && !root && names_equal(x, xpath_name_of(x, node), s->name);
    }
    return false;
}

static void try_node(struct eval *x, const struct xpath_step *s, uint32_t node,
        struct nodes *to, struct arena *life)
{
    xpath_steps(x, 1);
    if (passes(x, s, node))
        xpath_nodes_add(x, to, node, life);
}

static void walk_siblings(struct eval *x, const struct xpath_step *s, uint32_t node,
        struct nodes *to, struct arena *life)
{
    uint32_t parent = xpath_parent_of(x, node);
    if (parent == NO_NODE || xpath_is_attribute(x, node))
        return;
    uint32_t at = parent == xpath_document(x) ? 0 : parent + 1;
    uint32_t end = parent == xpath_document(x) ? x->d->nodes : x->d->end[parent];
    struct nodes before = {NULL, 0, 0};

    if (s->axis == AXIS_FOLLOWING_SIBLING)
        at = x->d->end[node];
    else
        end = node;
    for (; at < end && !x->is_over; at = x->d->end[at])
        try_node(x, s, at, s->axis == AXIS_FOLLOWING_SIBLING ? to : &before, life);
    while (before.count) /* the nearest first */
        xpath_nodes_add(x, to, before.all[--before.count], life);
}

/* The nodes of the axis that pass, in the axis' order. */
static void walk_axis(struct eval *x, const struct xpath_step *s, uint32_t node,
        struct nodes *to, struct arena *life)
{
    const struct page_digest *d = x->d;
    bool root = node == xpath_document(x), attribute = xpath_is_attribute(x, node);
    uint32_t first = root ? 0 : node + 1;
    uint32_t end = root ? d->nodes : attribute ? 0 : d->end[node];

    switch (s->axis) {
    case AXIS_SELF:
        try_node(x, s, node, to, life);
        return;
    case AXIS_CHILD:
        for (uint32_t i = first; !attribute && i < end && !x->is_over; i = d->end[i])
            try_node(x, s, i, to, life);
        return;
    case AXIS_DESCENDANT_OR_SELF:
        try_node(x, s, node, to, life); /* fallthrough */
    case AXIS_DESCENDANT:
        for (uint32_t i = first; !attribute && i < end && !x->is_over; i++)
            try_node(x, s, i, to, life);
        return;
    case AXIS_PARENT:
        if (xpath_parent_of(x, node) != NO_NODE)
            try_node(x, s, xpath_parent_of(x, node), to, life);
        return;
    case AXIS_ANCESTOR_OR_SELF:
        try_node(x, s, node, to, life); /* fallthrough */
    case AXIS_ANCESTOR:
        for (uint32_t i = xpath_parent_of(x, node); i != NO_NODE && !x->is_over;
                i = xpath_parent_of(x, i))
            try_node(x, s, i, to, life);
        return;
    case AXIS_FOLLOWING_SIBLING:
    case AXIS_PRECEDING_SIBLING:
        walk_siblings(x, s, node, to, life);
        return;
    case AXIS_FOLLOWING:
        for (uint32_t i = root        ? d->nodes
                          : attribute ? xpath_owner_of(x, xpath_attribute_of(x, node)) + 1
                                      : end;
                i < d->nodes && !x->is_over; i++)
            try_node(x, s, i, to, life);
        return;
    case AXIS_PRECEDING:
        for (uint32_t i = root        ? 0
                          : attribute ? xpath_owner_of(x, xpath_attribute_of(x, node))
                                      : node;
                i-- > 0 && !x->is_over;)
            if (d->end[i] <= node || attribute)
                try_node(x, s, i, to, life);
        return;
    case AXIS_ATTRIBUTE:
        for (uint32_t a = root || attribute ? 0 : d->attr_at[node];
                !root && !attribute && a < d->attr_at[node + 1] && !x->is_over; a++)
            try_node(x, s, d->nodes + 1 + a, to, life);
        return;
    case AXIS_COUNT:
        return;
    }
}

/* Keeps what passes the predicates, one behind the other. */
static void filter(struct eval *x, const struct xpath_list *predicates, struct nodes *n)
{
    for (; predicates; predicates = predicates->next) {
        size_t kept = 0, size = n->count;
        for (size_t i = 0; i < size && !x->is_over; i++) {
            SCRATCH struct arena *scratch = arena_new(NULL, "predicate"); /* (2) */
            struct context c = {n->all[i], i + 1, size};
            xpath_steps(x, 20);
            struct value v = xpath_evaluate(x, predicates->expr, &c, scratch);
            if (v.type == VALUE_NUMBER ? v.number == (double)(i + 1) : xpath_to_boolean(&v))
                n->all[kept++] = n->all[i];
        }
        n->count = kept;
    }
}

/* (3) */
static bool stands_for(struct eval *x, const struct xpath_step *s, uint32_t node)
{
    return s->axis == AXIS_CHILD && s->test == NODE_NAMED && !xpath_is_attribute(x, node) &&
           selector_stands_for(x->d, node, s->name, !s->next);
}

static struct nodes step_all(
        struct eval *x, const struct xpath_step *s, struct nodes from, struct arena *life)
{
    struct nodes to = {NULL, 0, 0};

    for (size_t i = 0; i < from.count && !x->is_over; i++) {
        struct nodes one = {NULL, 0, 0}, *out = s->predicates ? &one : &to;
        size_t before = out->count;
        walk_axis(x, s, from.all[i], out, life);
        if (out->count == before && stands_for(x, s, from.all[i]))
            xpath_nodes_add(x, out, from.all[i], life);
        filter(x, s->predicates, &one);
        for (size_t k = 0; k < one.count; k++)
            xpath_nodes_add(x, &to, one.all[k], life);
    }
    xpath_nodes_sort(x, &to);
    return to;
}

static struct value walk_path(
        struct eval *x, const struct xpath_expr *e, const struct context *c, struct arena *life)
{
    struct value v = {.type = VALUE_NODES};

    if (e->filtered) {
        v = xpath_evaluate(x, e->filtered, c, life);
        if (v.type != VALUE_NODES)
            v = (struct value){.type = VALUE_NODES}; /* a value has no nodes */
        filter(x, e->predicates, &v.nodes);
    } else {
        xpath_nodes_add(x, &v.nodes, e->from_root ? xpath_document(x) : c->node, life);
    }
    for (const struct xpath_step *s = e->steps; s && !x->is_over; s = s->next)
        v.nodes = step_all(x, s, v.nodes, life);
    return v;
}

/* ---- comparing ------------------------------------------------------------------------------
 */

static bool compare_numbers(enum xpath_op op, double a, double b)
{
    switch (op) {
    case XPATH_EQUAL:
        return a == b;
    case XPATH_UNEQUAL:
        return a != b;
    case XPATH_LESS:
        return a < b;
    case XPATH_LESS_EQUAL:
        return a <= b;
    case XPATH_MORE:
        return a > b;
    default:
        return a >= b;
    }
}

/* Two values, neither of which is a set of nodes. */
static bool compare_plain(struct eval *x, enum xpath_op op, const struct value *a,
        const struct value *b, struct arena *life)
{
    bool order = op != XPATH_EQUAL && op != XPATH_UNEQUAL;

    if (!order && (a->type == VALUE_BOOLEAN || b->type == VALUE_BOOLEAN))
        return (xpath_to_boolean(a) == xpath_to_boolean(b)) == (op == XPATH_EQUAL);
    if (order || a->type == VALUE_NUMBER || b->type == VALUE_NUMBER)
        return compare_numbers(op, xpath_to_number(x, a, life), xpath_to_number(x, b, life));
    return str_equal(xpath_to_string(x, a, life), xpath_to_string(x, b, life)) ==
           (op == XPATH_EQUAL);
}

/* A set compares like one of its nodes does. */
static bool compare(struct eval *x, enum xpath_op op, const struct value *a,
        const struct value *b, struct arena *life)
{
    if (a->type == VALUE_NODES && b->type != VALUE_BOOLEAN) {
        for (size_t i = 0; i < a->nodes.count && !x->is_over; i++) {
            struct value one = xpath_string(xpath_text_of(x, a->nodes.all[i], life));
            if (compare(x, op, &one, b, life))
                return true;
        }
        return false;
    }
    if (b->type == VALUE_NODES && a->type != VALUE_BOOLEAN) {
        for (size_t i = 0; i < b->nodes.count && !x->is_over; i++) {
            struct value one = xpath_string(xpath_text_of(x, b->nodes.all[i], life));
            if (compare(x, op, a, &one, life))
                return true;
        }
        return false;
    }
    struct value x_ = a->type == VALUE_NODES ? xpath_boolean(xpath_to_boolean(a)) : *a;
    struct value y_ = b->type == VALUE_NODES ? xpath_boolean(xpath_to_boolean(b)) : *b;
    return compare_plain(x, op, &x_, &y_, life);
}

/* ---- all together ---------------------------------------------------------------------------
 */

static double compute(enum xpath_op op, double a, double b)
{
    switch (op) {
    case XPATH_ADD:
        return a + b;
    case XPATH_SUBTRACT:
        return a - b;
    case XPATH_MULTIPLY:
        return a * b;
    case XPATH_DIVIDE:
        return a / b;
    default:
        return fmod(a, b);
    }
}

static struct value join(struct eval *x, struct value a, struct value b, struct arena *life)
{
    for (size_t i = 0; b.type == VALUE_NODES && i < b.nodes.count; i++)
        xpath_nodes_add(x, &a.nodes, b.nodes.all[i], life);
    xpath_nodes_sort(x, &a.nodes);
    return a;
}

struct value xpath_evaluate(
        struct eval *x, const struct xpath_expr *e, const struct context *c, struct arena *life)
{
    if (!xpath_steps(x, 1))
        return xpath_boolean(false);
    switch (e->op) {
    case XPATH_NUMBER:
        return xpath_number(e->number);
    case XPATH_STRING:
        return xpath_string(str_of(e->string));
    case XPATH_CALL:
        return xpath_call(x, e, c, life);
    case XPATH_PATH:
        return walk_path(x, e, c, life);
    default:
        break;
    }
    struct value a = xpath_evaluate(x, e->left, c, life), b;
    if (e->op == XPATH_NEGATE)
        return xpath_number(-xpath_to_number(x, &a, life));
    if (e->op == XPATH_OR && xpath_to_boolean(&a))
        return xpath_boolean(true);
    if (e->op == XPATH_AND && !xpath_to_boolean(&a))
        return xpath_boolean(false);
    b = xpath_evaluate(x, e->right, c, life);
    switch (e->op) {
    case XPATH_OR:
    case XPATH_AND:
        return xpath_boolean(xpath_to_boolean(&b));
    case XPATH_UNION:
        return join(x, a, b, life);
    case XPATH_ADD:
    case XPATH_SUBTRACT:
    case XPATH_MULTIPLY:
    case XPATH_DIVIDE:
    case XPATH_MODULO:
        return xpath_number(
                compute(e->op, xpath_to_number(x, &a, life), xpath_to_number(x, &b, life)));
    default:
        return xpath_boolean(compare(x, e->op, &a, &b, life));
    }
}

enum err xpath_select(const struct xpath_expr *e, const struct page_digest *d, bool *selected,
        struct fault *f)
{
    SCRATCH struct arena *life = arena_new(NULL, "xpath");
    struct eval x = {.d = d};
    struct context c = {d->nodes, 1, 1};
    struct value v = xpath_evaluate(&x, e, &c, life);

    if (x.is_over)
        return fault_set(f, ERR_LIMIT, "the selector takes too long on this page");
    for (size_t i = 0; v.type == VALUE_NODES && i < v.nodes.count; i++) {
        uint32_t node = v.nodes.all[i];
        if (xpath_is_attribute(&x, node))
            node = xpath_owner_of(&x, xpath_attribute_of(&x, node));
        if (node < d->nodes)
            selected[node] = true;
        else
            memset(selected, true, d->nodes * sizeof *selected); /* the whole document */
    }
    return OK;
}
