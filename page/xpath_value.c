/* Nodes, numbers, strings and booleans of XPath, and how one becomes the other.
 *
 * It must hold that
 *  (1) time is bounded whatever the expression: every node looked at and every eighth byte of
 *      text read counts, and the sum has a limit.
 */
#include "page/xpath_value.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WORK_MAX ((uint64_t)20 * 1000 * 1000)

bool xpath_steps(struct eval *x, uint64_t n)
{
    x->work += n;
    x->is_over |= x->work > WORK_MAX; /* (1) */
    return !x->is_over;
}

/* ---- nodes ----------------------------------------------------------------------------------
 */

uint32_t xpath_document(const struct eval *x)
{
    return x->d->nodes;
}

bool xpath_is_attribute(const struct eval *x, uint32_t node)
{
    return node > x->d->nodes;
}

uint32_t xpath_attribute_of(const struct eval *x, uint32_t node)
{
    return node - x->d->nodes - 1;
}

void xpath_nodes_add(struct eval *x, struct nodes *n, uint32_t node, struct arena *life)
{
    if (!xpath_steps(x, 1))
        return;
    if (n->count == n->cap) {
        size_t cap = n->cap ? 2 * n->cap : 16;
        uint32_t *bigger = arena_alloc(life, cap * sizeof *bigger);
        if (n->count)
            memcpy(bigger, n->all, n->count * sizeof *bigger);
        n->all = bigger;
        n->cap = cap;
    }
    n->all[n->count++] = node;
}

/* Where a node stands: an attribute right behind its element. */
uint32_t xpath_owner_of(const struct eval *x, uint32_t attribute)
{
    uint32_t low = 0, high = x->d->nodes;

    while (low + 1 < high) {
        uint32_t middle = (low + high) / 2;
        if (x->d->attr_at[middle] <= attribute)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uint64_t order_of(const struct eval *x, uint32_t node)
{
    if (node == xpath_document(x))
        return 0;
    if (!xpath_is_attribute(x, node))
        return ((uint64_t)node + 1) << 32;
    return ((uint64_t)xpath_owner_of(x, xpath_attribute_of(x, node)) + 1) << 32 |
           (xpath_attribute_of(x, node) + 1);
}

static int compare_order(const void *a, const void *b, void *arg)
{
    uint64_t x = order_of(arg, *(const uint32_t *)a), y = order_of(arg, *(const uint32_t *)b);
    return (x > y) - (x < y);
}

/* (1) */
void xpath_nodes_sort(struct eval *x, struct nodes *n)
{
    bool sorted = true;
    size_t kept = 0;

    for (size_t i = 1; i < n->count && sorted; i++)
        sorted = order_of(x, n->all[i - 1]) < order_of(x, n->all[i]);
    if (sorted || !xpath_steps(x, 8 * n->count))
        return;
    qsort_r(n->all, n->count, sizeof *n->all, compare_order, x);
    for (size_t i = 0; i < n->count; i++)
        if (kept == 0 || n->all[kept - 1] != n->all[i])
            n->all[kept++] = n->all[i];
    n->count = kept;
}

uint32_t xpath_parent_of(const struct eval *x, uint32_t node)
{
    if (node == xpath_document(x))
        return NO_NODE;
    if (xpath_is_attribute(x, node))
        return xpath_owner_of(x, xpath_attribute_of(x, node));
    return x->d->parent[node] == NO_NODE ? xpath_document(x) : x->d->parent[node];
}

struct str xpath_name_of(const struct eval *x, uint32_t node)
{
    if (xpath_is_attribute(x, node))
        return page_attr_name(x->d, xpath_attribute_of(x, node));
    if (node == xpath_document(x) || x->d->tags[node] == 0)
        return (struct str){"", 0};
    return page_tag_name(x->d, x->d->tags[node]);
}

/* The text of a node, blocks with spaces between. */
struct str xpath_text_of(struct eval *x, uint32_t node, struct arena *life)
{
    const struct page_digest *d = x->d;
    uint32_t from = node == xpath_document(x) ? 0 : node, low = 0, high = d->texts;

    if (xpath_is_attribute(x, node))
        return page_attr_value(d, xpath_attribute_of(x, node));
    uint32_t end = node == xpath_document(x) ? d->nodes : d->end[node];
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (d->text_node[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t last = low;
    size_t bytes = 0, at = 0;
    for (; last < d->texts && d->text_node[last] < end; last++)
        bytes += page_text(d, last).len + 1;
    if (!xpath_steps(x, bytes / 8 + 1))
        return (struct str){"", 0};
    if (last == low + 1)
        return page_text(d, low);
    char *text = arena_alloc(life, bytes + 1);
    for (; low < last; low++) {
        struct str s = page_text(d, low);
        if (at && d->text_block[low])
            text[at++] = ' ';
        memcpy(text + at, s.ptr, s.len);
        at += s.len;
    }
    text[at] = 0;
    return (struct str){text, at};
}

/* ---- conversions ----------------------------------------------------------------------------
 */

static struct str number_text(double n, struct arena *life)
{
    if (isnan(n))
        return STR("NaN");
    if (isinf(n))
        return n > 0 ? STR("Infinity") : STR("-Infinity");
    if (n == floor(n) && fabs(n) < 1e15)
        return str_of(arena_printf(life, "%.0f", n == 0 ? 0 : n));
    return str_of(arena_printf(life, "%.15g", n));
}

double xpath_text_number(struct str s)
{
    char buffer[64], *end;

    s = str_trim(s);
    if (s.len == 0 || s.len >= sizeof buffer)
        return NAN;
    for (size_t i = 0; i < s.len; i++)
        if (!(s.ptr[i] >= '0' && s.ptr[i] <= '9') && s.ptr[i] != '.' &&
                !(i == 0 && s.ptr[i] == '-'))
            return NAN;
    memcpy(buffer, s.ptr, s.len);
    buffer[s.len] = 0;
    double n = strtod(buffer, &end);
    return *end || end == buffer ? NAN : n;
}

struct str xpath_to_string(struct eval *x, const struct value *v, struct arena *life)
{
    switch (v->type) {
    case VALUE_NODES:
        return v->nodes.count ? xpath_text_of(x, v->nodes.all[0], life) : (struct str){"", 0};
    case VALUE_NUMBER:
        return number_text(v->number, life);
    case VALUE_STRING:
        return v->string;
    case VALUE_BOOLEAN:
        break;
    }
    return v->boolean ? STR("true") : STR("false");
}

double xpath_to_number(struct eval *x, const struct value *v, struct arena *life)
{
    if (v->type == VALUE_NUMBER)
        return v->number;
    if (v->type == VALUE_BOOLEAN)
        return v->boolean;
    return xpath_text_number(xpath_to_string(x, v, life));
}

bool xpath_to_boolean(const struct value *v)
{
    switch (v->type) {
    case VALUE_NODES:
        return v->nodes.count > 0;
    case VALUE_NUMBER:
        return v->number != 0 && !isnan(v->number);
    case VALUE_STRING:
        return v->string.len > 0;
    case VALUE_BOOLEAN:
        break;
    }
    return v->boolean;
}

struct value xpath_boolean(bool b)
{
    return (struct value){.type = VALUE_BOOLEAN, .boolean = b};
}

struct value xpath_number(double n)
{
    return (struct value){.type = VALUE_NUMBER, .number = n};
}

struct value xpath_string(struct str s)
{
    return (struct value){.type = VALUE_STRING, .string = s};
}
