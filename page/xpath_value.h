/* xpath_value -- what XPath computes with, and on what: xpath_value.c, xpath_functions.c and
 * xpath_eval.c share it.
 *
 * A node is its number; the document is one behind the last, attributes follow behind it.
 */
#pragma once
#include "page/xpath.h"

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

/* ---- xpath_value.c ----------------------------------------------------------------------- */

/* Counts work; false once there was too much. */
bool xpath_steps(struct eval *x, uint64_t n);
uint32_t xpath_document(const struct eval *x);
bool xpath_is_attribute(const struct eval *x, uint32_t node);
uint32_t xpath_attribute_of(const struct eval *x, uint32_t node);
void xpath_nodes_add(struct eval *x, struct nodes *n, uint32_t node, struct arena *life);
/* Where a node stands: an attribute right behind its element. */ uint32_t xpath_owner_of(
        const struct eval *x, uint32_t attribute);
/* (1) */ void xpath_nodes_sort(struct eval *x, struct nodes *n);
uint32_t xpath_parent_of(const struct eval *x, uint32_t node);
struct str xpath_name_of(const struct eval *x, uint32_t node);
/* The text of a node, blocks with spaces between. */ struct str xpath_text_of(
        struct eval *x, uint32_t node, struct arena *life);
double xpath_text_number(struct str s);
struct str xpath_to_string(struct eval *x, const struct value *v, struct arena *life);
double xpath_to_number(struct eval *x, const struct value *v, struct arena *life);
bool xpath_to_boolean(const struct value *v);
struct value xpath_boolean(bool b);
struct value xpath_number(double n);
struct value xpath_string(struct str s);

/* ---- xpath_functions.c, xpath_eval.c ----------------------------------------------------- */

struct value xpath_call(struct eval *x, const struct xpath_expr *e, const struct context *c,
        struct arena *life);
struct value xpath_evaluate(struct eval *x, const struct xpath_expr *e, const struct context *c,
        struct arena *life);
