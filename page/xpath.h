/* xpath -- expressions of XPath 1.0 as xpath.c reads them and xpath_eval.c evaluates them. */
#pragma once
#include "page/selector.h"

enum xpath_op {
    XPATH_OR,
    XPATH_AND,
    XPATH_EQUAL,
    XPATH_UNEQUAL,
    XPATH_LESS,
    XPATH_LESS_EQUAL,
    XPATH_MORE,
    XPATH_MORE_EQUAL,
    XPATH_ADD,
    XPATH_SUBTRACT,
    XPATH_MULTIPLY,
    XPATH_DIVIDE,
    XPATH_MODULO,
    XPATH_NEGATE,
    XPATH_UNION,
    XPATH_NUMBER,
    XPATH_STRING,
    XPATH_CALL,
    XPATH_PATH,
};

enum xpath_axis {
    AXIS_ANCESTOR,
    AXIS_ANCESTOR_OR_SELF,
    AXIS_ATTRIBUTE,
    AXIS_CHILD,
    AXIS_DESCENDANT,
    AXIS_DESCENDANT_OR_SELF,
    AXIS_FOLLOWING,
    AXIS_FOLLOWING_SIBLING,
    AXIS_PARENT,
    AXIS_PRECEDING,
    AXIS_PRECEDING_SIBLING,
    AXIS_SELF,
    AXIS_COUNT
};

/* The functions there are; what is not here is refused when the expression is read. */
enum xpath_function {
    FN_BOOLEAN,
    FN_CEILING,
    FN_CONCAT,
    FN_CONTAINS,
    FN_COUNT,
    FN_FALSE,
    FN_FLOOR,
    FN_ID,
    FN_LAST,
    FN_LOCAL_NAME,
    FN_NAME,
    FN_NORMALIZE_SPACE,
    FN_NOT,
    FN_NUMBER,
    FN_POSITION,
    FN_ROUND,
    FN_STARTS_WITH,
    FN_STRING,
    FN_STRING_LENGTH,
    FN_SUBSTRING,
    FN_SUBSTRING_AFTER,
    FN_SUBSTRING_BEFORE,
    FN_SUM,
    FN_TRANSLATE,
    FN_TRUE,
    FN_COUNT_OF
};

enum node_test { NODE_NAMED, NODE_ANY_NAME, NODE_TEXT, NODE_ANY };

struct xpath_expr;

struct xpath_list {
    struct xpath_expr *expr;
    struct xpath_list *next;
};

struct xpath_step {
    enum xpath_axis axis;
    enum node_test test;
    const char *name; /* NODE_NAMED */
    struct xpath_list *predicates;
    struct xpath_step *next;
};

struct xpath_expr {
    enum xpath_op op;
    struct xpath_expr *left, *right;
    double number;
    const char *string;
    enum xpath_function function;
    struct xpath_list *args;
    bool from_root;                /* XPATH_PATH: it begins with a slash */
    struct xpath_expr *filtered;   /* XPATH_PATH: it begins with this, or NULL */
    struct xpath_list *predicates; /* of `filtered` */
    struct xpath_step *steps;
};

/* Marks what is selected, by node.  ERR_LIMIT when it takes too long. */
MUST_USE enum err xpath_select(const struct xpath_expr *e, const struct page_digest *d,
        bool *selected, struct fault *f);
