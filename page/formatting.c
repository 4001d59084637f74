/* Formatting elements: b, i, a and their like, which go on where something else closed them.
 *
 * Names in quotes are the HTML standard's.  The list of active formatting elements and the
 * adoption agency; tree.c has the stack they work on.  (1) to (3) of tree.c hold here too.
 */
#include "page/tree.h"

static bool same_element(const struct tree *t, uint32_t a, uint32_t b)
{
    const struct tree_node *x = tree_at(t, a), *y = tree_at(t, b);
    const struct build_attr *attrs = (const struct build_attr *)(const void *)t->b->attrs.data;

    if (x->tag != y->tag || x->count != y->count)
        return false;
    for (uint32_t i = 0; i < x->count; i++)
        if (attrs[x->from + i].name != attrs[y->from + i].name ||
                attrs[x->from + i].value != attrs[y->from + i].value)
            return false;
    return true;
}

/* ---- active formatting elements ---------------------------------------------------------- */

static size_t active_count(const struct tree *t)
{
    return t->active.len / sizeof(uint32_t);
}

void tree_active_remove(struct tree *t, uint32_t node)
{
    for (size_t i = active_count(t); i-- > 0;) {
        tree_steps(t, 1);
        if (tree_numbers(&t->active)[i] != node)
            continue;
        number_remove(&t->active, i);
        tree_at(t, node)->in_active = false;
        return;
    }
}

/* With at most three alike since the last marker: "the Noah's Ark clause". */
void tree_active_push(struct tree *t, uint32_t node)
{
    unsigned alike = 0;
    uint32_t earliest = NO_NODE;

    for (size_t i = active_count(t); i-- > 0 && tree_steps(t, 1);) {
        uint32_t other = tree_numbers(&t->active)[i];
        if (other == NO_NODE)
            break;
        if (same_element(t, other, node)) {
            alike++;
            earliest = other;
        }
    }
    if (alike >= 3)
        tree_active_remove(t, earliest);
    if (!number_push(&t->active, node))
        t->b->overflowed = t->is_over = true;
    tree_at(t, node)->in_active = true;
}

void tree_active_mark(struct tree *t)
{
    if (!number_push(&t->active, NO_NODE))
        t->b->overflowed = t->is_over = true;
}

void tree_active_clear(struct tree *t)
{
    while (active_count(t)) {
        uint32_t node = tree_numbers(&t->active)[active_count(t) - 1];
        t->active.len -= sizeof(uint32_t);
        if (node == NO_NODE)
            return;
        tree_at(t, node)->in_active = false;
    }
}

uint32_t tree_active_find(struct tree *t, enum tag_id tag)
{
    for (size_t i = active_count(t); i-- > 0 && tree_steps(t, 1);) {
        uint32_t node = tree_numbers(&t->active)[i];
        if (node == NO_NODE)
            break;
        if (node_is(tree_at(t, node), tag))
            return node;
    }
    return NO_NODE;
}

static uint32_t node_clone(struct tree *t, uint32_t node)
{
    struct tree_node n = *tree_at(t, node);

    n.in_stack = n.in_active = false;
    return tree_node_new(t, n);
}

void tree_reopen(struct tree *t)
{
    size_t i = active_count(t), n = i;

    while (i > 0) {
        uint32_t node = tree_numbers(&t->active)[i - 1];
        if (node == NO_NODE || tree_at(t, node)->in_stack)
            break;
        i--;
    }
    for (; i < n && tree_steps(t, 1); i++) {
        uint32_t old = tree_numbers(&t->active)[i], node = node_clone(t, old);
        if (t->is_over)
            return;
        tree_put(t, node, tree_current(t));
        tree_push(t, node);
        tree_at(t, old)->in_active = false;
        tree_at(t, node)->in_active = true;
        tree_numbers(&t->active)[i] = node;
    }
}

/* ---- the adoption agency ----------------------------------------------------------------- */

static size_t open_index(struct tree *t, uint32_t node)
{
    size_t i = tree_depth(t);

    while (i-- > 0 && tree_open_at(t, i) != node)
        ;
    tree_steps(t, tree_depth(t) - i);
    return i;
}

static size_t active_index(struct tree *t, uint32_t node)
{
    size_t i = active_count(t);

    while (i-- > 0 && tree_numbers(&t->active)[i] != node)
        ;
    tree_steps(t, active_count(t) - i);
    return i;
}

/* "The furthest block": the outermost special element inside the formatting element. */
static uint32_t furthest_block(struct tree *t, size_t formatting)
{
    for (size_t i = formatting + 1; i < tree_depth(t) && tree_steps(t, 1); i++)
        if (node_is_special(tree_at(t, tree_open_at(t, i))))
            return tree_open_at(t, i);
    return NO_NODE;
}

/* The formatting elements between the block and the one that ends are made anew around what
 * was reached so far; returns the outermost of them.  *bookmark is where the copy of the
 * one that ends belongs in the list. */
static uint32_t wrap_between(
        struct tree *t, uint32_t formatting, uint32_t block, uint32_t *bookmark)
{
    uint32_t last = block;
    size_t i = open_index(t, block);

    for (unsigned inner = 1; !t->is_over; inner++) {
        uint32_t node = tree_open_at(t, --i);
        if (node == formatting)
            return last;
        if (inner > 3 && tree_at(t, node)->in_active)
            tree_active_remove(t, node);
        if (!tree_at(t, node)->in_active) {
            number_remove(&t->stack, i);
            tree_at(t, node)->in_stack = false;
            t->open[tree_at(t, node)->tag]--;
            continue;
        }
        uint32_t copy = node_clone(t, node);
        if (t->is_over)
            break;
        tree_numbers(&t->active)[active_index(t, node)] = copy;
        tree_numbers(&t->stack)[i] = copy;
        tree_at(t, node)->in_active = tree_at(t, node)->in_stack = false;
        tree_at(t, copy)->in_active = tree_at(t, copy)->in_stack = true;
        if (last == block)
            *bookmark = copy;
        tree_detach(t, last);
        tree_attach(t, last, copy, NO_NODE);
        last = copy;
    }
    return last;
}

/* A copy of the formatting element takes over what is in the block. */
static void move_inside(struct tree *t, uint32_t formatting, uint32_t block, uint32_t bookmark)
{
    uint32_t copy = node_clone(t, formatting);

    if (t->is_over)
        return;
    for (uint32_t child; (child = tree_at(t, block)->first) != NO_NODE && tree_steps(t, 1);) {
        tree_detach(t, child);
        tree_attach(t, child, copy, NO_NODE);
    }
    tree_attach(t, copy, block, NO_NODE);
    size_t at = active_index(t, bookmark);
    if (bookmark == formatting)
        tree_numbers(&t->active)[at] = copy;
    else {
        number_put(&t->active, at + 1, copy);
        tree_active_remove(t, formatting);
    }
    tree_at(t, formatting)->in_active = false;
    tree_at(t, copy)->in_active = true;
    tree_remove_open(t, formatting);
    if (number_put(&t->stack, open_index(t, block) + 1, copy)) {
        tree_at(t, copy)->in_stack = true;
        t->open[tree_at(t, copy)->tag]++;
    }
}

bool tree_adopt(struct tree *t, enum tag_id tag)
{
    if (tree_current_is(t, tag) && !tree_at(t, tree_current(t))->in_active) {
        tree_pop(t);
        return true;
    }
    for (unsigned outer = 0; outer < 8 && !t->is_over; outer++) {
        uint32_t formatting = tree_active_find(t, tag), bookmark = formatting;
        if (formatting == NO_NODE)
            return outer > 0;
        if (!tree_at(t, formatting)->in_stack) {
            tree_active_remove(t, formatting);
            return true;
        }
        if (!tree_has_node_in_scope(t, formatting))
            return true;
        size_t i = open_index(t, formatting);
        uint32_t block = furthest_block(t, i), ancestor = tree_open_at(t, i - 1);
        if (block == NO_NODE) {
            tree_pop_until_node(t, formatting);
            tree_active_remove(t, formatting);
            return true;
        }
        uint32_t outermost = wrap_between(t, formatting, block, &bookmark);
        if (t->is_over)
            return true;
        tree_detach(t, outermost);
        tree_put(t, outermost, ancestor);
        move_inside(t, formatting, block, bookmark);
    }
    return true;
}
