/* XPath 1.0 on a digest.
 *
 * It must hold that
 *  (1) a node-set is in document order, each node once, and positions are counted along the
 *      axis, as the recommendation says;
 *  (2) time is bounded whatever the expression: every node looked at and every eighth byte of
 * text read counts, and the sum has a limit; what a predicate needs goes with it; and (3) html,
 * head, body, tbody and colgroup, which a page may leave out and a browser shows all the same,
 * may be named as children where they are missing.
 *
 * A node is its number; the document is one behind the last, attributes follow behind it.
 */
#include "page/xpath.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WORK_MAX ((uint64_t)20 * 1000 * 1000)

enum value_type { VALUE_NODES, VALUE_NUMBER, VALUE_STRING, VALUE_BOOLEAN };

struct nodes {
    uint32_t *all;
    size_t count, cap;
};

struct value {
    enum value_type type;
    struct nodes nodes;
    double number;
    struct str string;
    bool boolean;
};

struct context {
    uint32_t node;
    size_t position, size;
};

struct eval {
    const struct page_digest *d;
    uint64_t work;
    bool is_over;
};

static struct value evaluate(struct eval *x, const struct xpath_expr *e,
        const struct context *c, struct arena *life);

static bool steps(struct eval *x, uint64_t n)
{
    x->work += n;
    x->is_over |= x->work > WORK_MAX; /* (2) */
    return !x->is_over;
}

/* ---- nodes ----------------------------------------------------------------------------------
 */

static uint32_t document(const struct eval *x)
{
    return x->d->nodes;
}

static bool is_attribute(const struct eval *x, uint32_t node)
{
    return node > x->d->nodes;
}

static uint32_t attribute_of(const struct eval *x, uint32_t node)
{
    return node - x->d->nodes - 1;
}

static void nodes_add(struct eval *x, struct nodes *n, uint32_t node, struct arena *life)
{
    if (!steps(x, 1))
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
static uint32_t owner_of(const struct eval *x, uint32_t attribute)
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
    if (node == document(x))
        return 0;
    if (!is_attribute(x, node))
        return ((uint64_t)node + 1) << 32;
    return ((uint64_t)owner_of(x, attribute_of(x, node)) + 1) << 32 |
           (attribute_of(x, node) + 1);
}

static int compare_order(const void *a, const void *b, void *arg)
{
    uint64_t x = order_of(arg, *(const uint32_t *)a), y = order_of(arg, *(const uint32_t *)b);
    return (x > y) - (x < y);
}

/* (1) */
static void nodes_sort(struct eval *x, struct nodes *n)
{
    bool sorted = true;
    size_t kept = 0;

    for (size_t i = 1; i < n->count && sorted; i++)
        sorted = order_of(x, n->all[i - 1]) < order_of(x, n->all[i]);
    if (sorted || !steps(x, 8 * n->count))
        return;
    qsort_r(n->all, n->count, sizeof *n->all, compare_order, x);
    for (size_t i = 0; i < n->count; i++)
        if (kept == 0 || n->all[kept - 1] != n->all[i])
            n->all[kept++] = n->all[i];
    n->count = kept;
}

static uint32_t parent_of(const struct eval *x, uint32_t node)
{
    if (node == document(x))
        return NO_NODE;
    if (is_attribute(x, node))
        return owner_of(x, attribute_of(x, node));
    return x->d->parent[node] == NO_NODE ? document(x) : x->d->parent[node];
}

static struct str name_of(const struct eval *x, uint32_t node)
{
    if (is_attribute(x, node))
        return page_attr_name(x->d, attribute_of(x, node));
    if (node == document(x) || x->d->tags[node] == 0)
        return (struct str){"", 0};
    return page_tag_name(x->d, x->d->tags[node]);
}

/* The text of a node, blocks with spaces between. */
static struct str text_of(struct eval *x, uint32_t node, struct arena *life)
{
    const struct page_digest *d = x->d;
    uint32_t from = node == document(x) ? 0 : node, low = 0, high = d->texts;

    if (is_attribute(x, node))
        return page_attr_value(d, attribute_of(x, node));
    uint32_t end = node == document(x) ? d->nodes : d->end[node];
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
    if (!steps(x, bytes / 8 + 1))
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

static double text_number(struct str s)
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

static struct str to_string(struct eval *x, const struct value *v, struct arena *life)
{
    switch (v->type) {
    case VALUE_NODES:
        return v->nodes.count ? text_of(x, v->nodes.all[0], life) : (struct str){"", 0};
    case VALUE_NUMBER:
        return number_text(v->number, life);
    case VALUE_STRING:
        return v->string;
    case VALUE_BOOLEAN:
        break;
    }
    return v->boolean ? STR("true") : STR("false");
}

static double to_number(struct eval *x, const struct value *v, struct arena *life)
{
    if (v->type == VALUE_NUMBER)
        return v->number;
    if (v->type == VALUE_BOOLEAN)
        return v->boolean;
    return text_number(to_string(x, v, life));
}

static bool to_boolean(const struct value *v)
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

static struct value boolean(bool b)
{
    return (struct value){.type = VALUE_BOOLEAN, .boolean = b};
}

static struct value number(double n)
{
    return (struct value){.type = VALUE_NUMBER, .number = n};
}

static struct value string(struct str s)
{
    return (struct value){.type = VALUE_STRING, .string = s};
}

/* ---- steps ----------------------------------------------------------------------------------
 */

static bool names_equal(const struct eval *x, struct str name, const char *wanted)
{
    return x->d->type == PAGE_XML ? str_equal(name, str_of(wanted))
                                  : str_equal_nocase(name, str_of(wanted));
}

static bool passes(const struct eval *x, const struct xpath_step *s, uint32_t node)
{
    bool attribute = is_attribute(x, node), root = node == document(x);
    bool text = !attribute && !root && x->d->tags[node] == 0;

    switch (s->test) {
    case NODE_ANY:
        return true;
    case NODE_TEXT:
        return text;
    case NODE_ANY_NAME:
        return !text && !root && attribute == (s->axis == AXIS_ATTRIBUTE);
    case NODE_NAMED:
        return !text && !root && names_equal(x, name_of(x, node), s->name);
    }
    return false;
}

static void try_node(struct eval *x, const struct xpath_step *s, uint32_t node,
        struct nodes *to, struct arena *life)
{
    steps(x, 1);
    if (passes(x, s, node))
        nodes_add(x, to, node, life);
}

static void walk_siblings(struct eval *x, const struct xpath_step *s, uint32_t node,
        struct nodes *to, struct arena *life)
{
    uint32_t parent = parent_of(x, node);
    if (parent == NO_NODE || is_attribute(x, node))
        return;
    uint32_t at = parent == document(x) ? 0 : parent + 1;
    uint32_t end = parent == document(x) ? x->d->nodes : x->d->end[parent];
    struct nodes before = {NULL, 0, 0};

    if (s->axis == AXIS_FOLLOWING_SIBLING)
        at = x->d->end[node];
    else
        end = node;
    for (; at < end && !x->is_over; at = x->d->end[at])
        try_node(x, s, at, s->axis == AXIS_FOLLOWING_SIBLING ? to : &before, life);
    while (before.count) /* the nearest first */
        nodes_add(x, to, before.all[--before.count], life);
}

/* The nodes of the axis that pass, in the axis' order. */
static void walk_axis(struct eval *x, const struct xpath_step *s, uint32_t node,
        struct nodes *to, struct arena *life)
{
    const struct page_digest *d = x->d;
    bool root = node == document(x), attribute = is_attribute(x, node);
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
        if (parent_of(x, node) != NO_NODE)
            try_node(x, s, parent_of(x, node), to, life);
        return;
    case AXIS_ANCESTOR_OR_SELF:
        try_node(x, s, node, to, life); /* fallthrough */
    case AXIS_ANCESTOR:
        for (uint32_t i = parent_of(x, node); i != NO_NODE && !x->is_over; i = parent_of(x, i))
            try_node(x, s, i, to, life);
        return;
    case AXIS_FOLLOWING_SIBLING:
    case AXIS_PRECEDING_SIBLING:
        walk_siblings(x, s, node, to, life);
        return;
    case AXIS_FOLLOWING:
        for (uint32_t i = root        ? d->nodes
                          : attribute ? owner_of(x, attribute_of(x, node)) + 1
                                      : end;
                i < d->nodes && !x->is_over; i++)
            try_node(x, s, i, to, life);
        return;
    case AXIS_PRECEDING:
        for (uint32_t i = root        ? 0
                          : attribute ? owner_of(x, attribute_of(x, node))
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
            steps(x, 20);
            struct value v = evaluate(x, predicates->expr, &c, scratch);
            if (v.type == VALUE_NUMBER ? v.number == (double)(i + 1) : to_boolean(&v))
                n->all[kept++] = n->all[i];
        }
        n->count = kept;
    }
}

/* (3) */
static bool stands_for(struct eval *x, const struct xpath_step *s, uint32_t node)
{
    return s->axis == AXIS_CHILD && s->test == NODE_NAMED && !is_attribute(x, node) &&
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
            nodes_add(x, out, from.all[i], life);
        filter(x, s->predicates, &one);
        for (size_t k = 0; k < one.count; k++)
            nodes_add(x, &to, one.all[k], life);
    }
    nodes_sort(x, &to);
    return to;
}

static struct value walk_path(
        struct eval *x, const struct xpath_expr *e, const struct context *c, struct arena *life)
{
    struct value v = {.type = VALUE_NODES};

    if (e->filtered) {
        v = evaluate(x, e->filtered, c, life);
        if (v.type != VALUE_NODES)
            v = (struct value){.type = VALUE_NODES}; /* a value has no nodes */
        filter(x, e->predicates, &v.nodes);
    } else {
        nodes_add(x, &v.nodes, e->from_root ? document(x) : c->node, life);
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
        return (to_boolean(a) == to_boolean(b)) == (op == XPATH_EQUAL);
    if (order || a->type == VALUE_NUMBER || b->type == VALUE_NUMBER)
        return compare_numbers(op, to_number(x, a, life), to_number(x, b, life));
    return str_equal(to_string(x, a, life), to_string(x, b, life)) == (op == XPATH_EQUAL);
}

/* A set compares like one of its nodes does. */
static bool compare(struct eval *x, enum xpath_op op, const struct value *a,
        const struct value *b, struct arena *life)
{
    if (a->type == VALUE_NODES && b->type != VALUE_BOOLEAN) {
        for (size_t i = 0; i < a->nodes.count && !x->is_over; i++) {
            struct value one = string(text_of(x, a->nodes.all[i], life));
            if (compare(x, op, &one, b, life))
                return true;
        }
        return false;
    }
    if (b->type == VALUE_NODES && a->type != VALUE_BOOLEAN) {
        for (size_t i = 0; i < b->nodes.count && !x->is_over; i++) {
            struct value one = string(text_of(x, b->nodes.all[i], life));
            if (compare(x, op, a, &one, life))
                return true;
        }
        return false;
    }
    struct value x_ = a->type == VALUE_NODES ? boolean(to_boolean(a)) : *a;
    struct value y_ = b->type == VALUE_NODES ? boolean(to_boolean(b)) : *b;
    return compare_plain(x, op, &x_, &y_, life);
}

/* ---- functions ------------------------------------------------------------------------------
 */

static struct str normalized(struct str s, struct arena *life)
{
    char *text = arena_alloc(life, s.len + 1);
    size_t n = 0;

    s = str_trim(s);
    for (size_t i = 0; i < s.len; i++)
        if (!is_space(s.ptr[i]) || (n && text[n - 1] != ' '))
            text[n++] = is_space(s.ptr[i]) ? ' ' : s.ptr[i];
    text[n] = 0;
    return (struct str){text, n};
}

/* Characters from..to, counted from 1, as substring() counts them. */
static struct str characters(struct str s, double from, double to)
{
    size_t at = 0, begin = s.len, end = s.len;
    double place = 1;

    for (; at < s.len; place++) {
        size_t n = utf8_length(s.ptr + at, s.len - at);
        if (begin == s.len && place >= from && place < to)
            begin = at;
        if (begin != s.len && !(place < to)) {
            end = at;
            break;
        }
        at += n ? n : 1;
    }
    return (struct str){s.ptr + begin, end - begin};
}

static struct str translated(struct str s, struct str from, struct str to, struct arena *life)
{
    BUF(out, 4 * s.len + 64);

    for (size_t i = 0, n; i < s.len; i += n) {
        n = utf8_length(s.ptr + i, s.len - i);
        n = n ? n : 1;
        size_t place = 0, at = 0, step;
        for (; at < from.len; at += step, place++) {
            step = utf8_length(from.ptr + at, from.len - at);
            step = step ? step : 1;
            if (step == n && memcmp(from.ptr + at, s.ptr + i, n) == 0)
                break;
        }
        struct str put = {s.ptr + i, n};
        if (at < from.len)
            put = characters(to, (double)place + 1, (double)place + 2);
        buf_append(&out, put.ptr, put.len);
    }
    return (struct str){arena_strndup(life, buf_text(&out), out.len), out.len};
}

static struct value by_id(struct eval *x, struct str ids, struct arena *life)
{
    struct value v = {.type = VALUE_NODES};
    const struct page_digest *d = x->d;

    for (uint32_t i = 0; i < d->nodes && steps(x, 1); i++)
        for (uint32_t a = d->attr_at[i]; a < d->attr_at[i + 1]; a++)
            if (str_equal(page_attr_name(d, a), STR("id")) &&
                    str_equal(page_attr_value(d, a), str_trim(ids)))
                nodes_add(x, &v.nodes, i, life);
    return v;
}

static struct str local_part(struct str name)
{
    const char *colon = name.len ? memchr(name.ptr, ':', name.len) : NULL;
    return colon ? (struct str){colon + 1, name.len - (size_t)(colon + 1 - name.ptr)} : name;
}

static struct value call(
        struct eval *x, const struct xpath_expr *e, const struct context *c, struct arena *life)
{
    struct value v[20];
    struct str s[3] = {{"", 0}, {"", 0}, {"", 0}};
    size_t n = 0;

    for (const struct xpath_list *a = e->args; a && n < countof(v); a = a->next)
        v[n++] = evaluate(x, a->expr, c, life);
    if (n == 0) { /* what is meant is the node at hand */
        v[0] = (struct value){.type = VALUE_NODES};
        nodes_add(x, &v[0].nodes, c->node, life);
    }
    for (size_t i = 0; i < countof(s) && (i < n || i == 0); i++)
        s[i] = to_string(x, &v[i], life);
    steps(x, (s[0].len + s[1].len) / 8 + 1);
    double from, length;
    const char *found;
    switch (e->function) {
    case FN_LAST:
        return number((double)c->size);
    case FN_POSITION:
        return number((double)c->position);
    case FN_COUNT:
        return number(v[0].type == VALUE_NODES ? (double)v[0].nodes.count : NAN);
    case FN_ID:
        return by_id(x, s[0], life);
    case FN_NAME:
    case FN_LOCAL_NAME:
        if (v[0].type != VALUE_NODES || v[0].nodes.count == 0)
            return string((struct str){"", 0});
        return string(e->function == FN_NAME ? name_of(x, v[0].nodes.all[0])
                                             : local_part(name_of(x, v[0].nodes.all[0])));
    case FN_STRING:
        return string(s[0]);
    case FN_CONCAT: {
        BUF(all, PAGE_DIGEST_MAX);
        for (size_t i = 0; i < n; i++) {
            struct str part = to_string(x, &v[i], life);
            buf_append(&all, part.ptr, part.len);
        }
        steps(x, all.len / 8);
        return string((struct str){arena_strndup(life, buf_text(&all), all.len), all.len});
    }
    case FN_STARTS_WITH:
        return boolean(s[0].len >= s[1].len && memcmp(s[0].ptr, s[1].ptr, s[1].len) == 0);
    case FN_CONTAINS:
        return boolean(s[1].len == 0 || memmem(s[0].ptr, s[0].len, s[1].ptr, s[1].len));
    case FN_SUBSTRING_BEFORE:
        found = memmem(s[0].ptr, s[0].len, s[1].ptr, s[1].len);
        return string((struct str){s[0].ptr, found ? (size_t)(found - s[0].ptr) : 0});
    case FN_SUBSTRING_AFTER:
        found = memmem(s[0].ptr, s[0].len, s[1].ptr, s[1].len);
        if (!found)
            return string((struct str){"", 0});
        found += s[1].len;
        return string((struct str){found, s[0].len - (size_t)(found - s[0].ptr)});
    case FN_SUBSTRING:
        from = round(to_number(x, &v[1], life));
        length = n > 2 ? from + round(to_number(x, &v[2], life)) : INFINITY;
        return string(characters(s[0], from, length));
    case FN_STRING_LENGTH: {
        size_t characters_ = 0;
        for (size_t i = 0; i < s[0].len; i++)
            characters_ += (s[0].ptr[i] & 0xC0) != 0x80;
        return number((double)characters_);
    }
    case FN_NORMALIZE_SPACE:
        return string(normalized(s[0], life));
    case FN_TRANSLATE:
        steps(x, (uint64_t)s[0].len * (s[1].len + s[2].len));
        return x->is_over ? string(s[0]) : string(translated(s[0], s[1], s[2], life));
    case FN_BOOLEAN:
        return boolean(to_boolean(&v[0]));
    case FN_NOT:
        return boolean(!to_boolean(&v[0]));
    case FN_TRUE:
        return boolean(true);
    case FN_FALSE:
        return boolean(false);
    case FN_NUMBER:
        return number(to_number(x, &v[0], life));
    case FN_SUM: {
        double sum = v[0].type == VALUE_NODES ? 0 : NAN;
        for (size_t i = 0; v[0].type == VALUE_NODES && i < v[0].nodes.count; i++)
            sum += text_number(text_of(x, v[0].nodes.all[i], life));
        return number(sum);
    }
    case FN_FLOOR:
        return number(floor(to_number(x, &v[0], life)));
    case FN_CEILING:
        return number(ceil(to_number(x, &v[0], life)));
    case FN_ROUND:
        return number(floor(to_number(x, &v[0], life) + 0.5));
    case FN_COUNT_OF:
        break;
    }
    return boolean(false);
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
        nodes_add(x, &a.nodes, b.nodes.all[i], life);
    nodes_sort(x, &a.nodes);
    return a;
}

static struct value evaluate(
        struct eval *x, const struct xpath_expr *e, const struct context *c, struct arena *life)
{
    if (!steps(x, 1))
        return boolean(false);
    switch (e->op) {
    case XPATH_NUMBER:
        return number(e->number);
    case XPATH_STRING:
        return string(str_of(e->string));
    case XPATH_CALL:
        return call(x, e, c, life);
    case XPATH_PATH:
        return walk_path(x, e, c, life);
    default:
        break;
    }
    struct value a = evaluate(x, e->left, c, life), b;
    if (e->op == XPATH_NEGATE)
        return number(-to_number(x, &a, life));
    if (e->op == XPATH_OR && to_boolean(&a))
        return boolean(true);
    if (e->op == XPATH_AND && !to_boolean(&a))
        return boolean(false);
    b = evaluate(x, e->right, c, life);
    switch (e->op) {
    case XPATH_OR:
    case XPATH_AND:
        return boolean(to_boolean(&b));
    case XPATH_UNION:
        return join(x, a, b, life);
    case XPATH_ADD:
    case XPATH_SUBTRACT:
    case XPATH_MULTIPLY:
    case XPATH_DIVIDE:
    case XPATH_MODULO:
        return number(compute(e->op, to_number(x, &a, life), to_number(x, &b, life)));
    default:
        return boolean(compare(x, e->op, &a, &b, life));
    }
}

enum err xpath_select(const struct xpath_expr *e, const struct page_digest *d, bool *selected,
        struct fault *f)
{
    SCRATCH struct arena *life = arena_new(NULL, "xpath");
    struct eval x = {.d = d};
    struct context c = {d->nodes, 1, 1};
    struct value v = evaluate(&x, e, &c, life);

    if (x.is_over)
        return fault_set(f, ERR_LIMIT, "the selector takes too long on this page");
    for (size_t i = 0; v.type == VALUE_NODES && i < v.nodes.count; i++) {
        uint32_t node = v.nodes.all[i];
        if (is_attribute(&x, node))
            node = owner_of(&x, attribute_of(&x, node));
        if (node < d->nodes)
            selected[node] = true;
        else
            memset(selected, true, d->nodes * sizeof *selected); /* the whole document */
    }
    return OK;
}
