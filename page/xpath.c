/* XPath 1.0, read into a tree of expressions.
 *
 *     /html/body/div[2]   //table[@id='x']/tr[td = 'IBM']   //li[contains(., 'new')][last()]
 *     //h2[not(@class) and position() < 3] | //p[count(.//a) > 2]   //td[. = 'x']/../td[2]
 *
 * All of the language but namespaces, variables, comments and processing instructions.  What
 * is not there is refused by name, not misread: functions are those of a closed list, none of
 * which reads anything but the page.  A path without a slash in front may begin anywhere, as
 * a person who points at a part of a page means it.
 */
#include "page/xpath.h"
#include <stdlib.h>

enum { NESTED_MAX = 50 };

struct reading {
    struct selector_text *t;
    unsigned nested;
    enum err e;
};

static struct xpath_expr *read_or(struct reading *r);

static struct xpath_expr *wrong(struct reading *r, const char *expected)
{
    if (!r->e)
        r->e = selector_error(r->t, expected);
    return NULL;
}

static struct xpath_expr *expr_new(
        struct reading *r, enum xpath_op op, struct xpath_expr *left, struct xpath_expr *right)
{
    struct xpath_expr *e = arena_new_of(r->t->life, struct xpath_expr);

    e->op = op;
    e->left = left;
    e->right = right;
    return e;
}

/* ---- words ----------------------------------------------------------------------------------
 */

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '-' || c == '_' || c == '.' || (c & 0x80);
}

static bool take(struct reading *r, const char *token)
{
    return selector_take(r->t, token);
}

/* An operator that is a word. */
static bool take_word(struct reading *r, const char *word)
{
    selector_skip_space(r->t);
    size_t n = strlen(word);
    if (strncmp(r->t->at, word, n) != 0 || is_name_char(r->t->at[n]))
        return false;
    r->t->at += n;
    return true;
}

/* A name, with its prefix as it is written in the page. */
static const char *take_name(struct reading *r)
{
    selector_skip_space(r->t);
    const char *from = r->t->at, *at = from;

    if ((*at >= '0' && *at <= '9') || *at == '-' || *at == '.')
        return NULL;
    while (is_name_char(*at))
        at++;
    if (at > from && at[0] == ':' && at[1] != ':' && is_name_char(at[1]))
        for (at++; is_name_char(*at); at++)
            ;
    r->t->at = at;
    return at > from ? arena_strndup(r->t->life, from, (size_t)(at - from)) : NULL;
}

/* ---- steps ----------------------------------------------------------------------------------
 */

static const char *const axes[AXIS_COUNT] = {"ancestor", "ancestor-or-self", "attribute",
        "child", "descendant", "descendant-or-self", "following", "following-sibling", "parent",
        "preceding", "preceding-sibling", "self"};

static bool read_predicates(struct reading *r, struct xpath_list **last)
{
    while (!r->e && take(r, "[")) {
        *last = arena_new_of(r->t->life, struct xpath_list);
        (*last)->expr = read_or(r);
        if (!r->e && !take(r, "]"))
            wrong(r, "]");
        last = &(*last)->next;
    }
    return !r->e;
}

static void read_test(struct reading *r, struct xpath_step *s)
{
    if (take(r, "*")) {
        s->test = NODE_ANY_NAME;
    } else if (take(r, "text()")) {
        s->test = NODE_TEXT;
    } else if (take(r, "node()")) {
        s->test = NODE_ANY;
    } else if (!(s->name = take_name(r))) {
        wrong(r, "the name of an element or *");
    } else if (*r->t->at == '(') {
        wrong(r, "a function only at the beginning of a path");
    }
}

static void read_axis(struct reading *r, struct xpath_step *s)
{
    const char *before = r->t->at, *name = take_name(r);

    s->axis = AXIS_CHILD;
    if (!name || r->t->at[0] != ':' || r->t->at[1] != ':') {
        r->t->at = before;
        return;
    }
    for (int i = 0; i < AXIS_COUNT; i++)
        if (strcmp(name, axes[i]) == 0) {
            s->axis = (enum xpath_axis)i;
            r->t->at += 2;
            return;
        }
    r->t->at = before;
    wrong(r, "one of the axes but namespace");
}

static struct xpath_step *read_step(struct reading *r)
{
    struct xpath_step *s = arena_new_of(r->t->life, struct xpath_step);

    selector_skip_space(r->t);
    if (take(r, "..") || take(r, ".")) {
        s->axis = r->t->at[-1] == '.' && r->t->at - r->t->start >= 2 && r->t->at[-2] == '.'
                          ? AXIS_PARENT
                          : AXIS_SELF;
        s->test = NODE_ANY;
    } else if (take(r, "@")) {
        s->axis = AXIS_ATTRIBUTE;
        read_test(r, s);
    } else {
        read_axis(r, s);
        if (!r->e)
            read_test(r, s);
    }
    if (!r->e)
        read_predicates(r, &s->predicates);
    return s;
}

static struct xpath_step *anywhere(struct reading *r)
{
    struct xpath_step *s = arena_new_of(r->t->life, struct xpath_step);

    s->axis = AXIS_DESCENDANT_OR_SELF;
    s->test = NODE_ANY;
    return s;
}

/* Steps up to the end of the path, behind what is there already. */
static void read_steps(struct reading *r, struct xpath_step **last)
{
    for (;;) {
        *last = read_step(r);
        last = &(*last)->next;
        if (r->e)
            return;
        if (take(r, "//")) {
            *last = anywhere(r);
            last = &(*last)->next;
        } else if (!take(r, "/")) {
            return;
        }
    }
}

static bool begins_step(struct reading *r)
{
    selector_skip_space(r->t);
    char c = *r->t->at;

    return c == '*' || c == '@' || c == '.' || c == '_' || (c & 0x80) ||
           (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* ---- functions ------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    unsigned least, most;
} functions[FN_COUNT_OF] = {
        [FN_BOOLEAN] = {"boolean", 1, 1},
        [FN_CEILING] = {"ceiling", 1, 1},
        [FN_CONCAT] = {"concat", 2, 20},
        [FN_CONTAINS] = {"contains", 2, 2},
        [FN_COUNT] = {"count", 1, 1},
        [FN_FALSE] = {"false", 0, 0},
        [FN_FLOOR] = {"floor", 1, 1},
        [FN_ID] = {"id", 1, 1},
        [FN_LAST] = {"last", 0, 0},
        [FN_LOCAL_NAME] = {"local-name", 0, 1},
        [FN_NAME] = {"name", 0, 1},
        [FN_NORMALIZE_SPACE] = {"normalize-space", 0, 1},
        [FN_NOT] = {"not", 1, 1},
        [FN_NUMBER] = {"number", 0, 1},
        [FN_POSITION] = {"position", 0, 0},
        [FN_ROUND] = {"round", 1, 1},
        [FN_STARTS_WITH] = {"starts-with", 2, 2},
        [FN_STRING] = {"string", 0, 1},
        [FN_STRING_LENGTH] = {"string-length", 0, 1},
        [FN_SUBSTRING] = {"substring", 2, 3},
        [FN_SUBSTRING_AFTER] = {"substring-after", 2, 2},
        [FN_SUBSTRING_BEFORE] = {"substring-before", 2, 2},
        [FN_SUM] = {"sum", 1, 1},
        [FN_TRANSLATE] = {"translate", 3, 3},
        [FN_TRUE] = {"true", 0, 0},
};

static struct xpath_expr *read_call(struct reading *r, const char *name)
{
    struct xpath_expr *e = expr_new(r, XPATH_CALL, NULL, NULL);
    struct xpath_list **last = &e->args;
    unsigned n = 0;

    e->function = FN_BOOLEAN;
    while (e->function < FN_COUNT_OF && strcmp(name, functions[e->function].name) != 0)
        e->function++;
    if (e->function == FN_COUNT_OF)
        return wrong(r, "a function of XPath 1.0 that reads nothing but the page");
    take(r, "(");
    if (take(r, ")"))
        return functions[e->function].least == 0 ? e : wrong(r, "an argument");
    do {
        *last = arena_new_of(r->t->life, struct xpath_list);
        (*last)->expr = read_or(r);
        last = &(*last)->next;
        n++;
    } while (!r->e && take(r, ","));
    if (!r->e && !take(r, ")"))
        return wrong(r, ")");
    if (n < functions[e->function].least || n > functions[e->function].most)
        return wrong(r, "another number of arguments");
    return e;
}

/* ---- expressions ----------------------------------------------------------------------------
 */

/* A string, number, call or parenthesis; NULL and no error: it is none of these. */
static struct xpath_expr *read_primary(struct reading *r)
{
    struct xpath_expr *e;
    char *string, *end;

    selector_skip_space(r->t);
    const char *before = r->t->at;
    if (*before == '"' || *before == '\'') {
        if (!(string = selector_string(r->t)))
            return wrong(r, "the end of the string");
        e = expr_new(r, XPATH_STRING, NULL, NULL);
        e->string = string;
        return e;
    }
    if ((*before >= '0' && *before <= '9') ||
            (*before == '.' && before[1] >= '0' && before[1] <= '9')) {
        e = expr_new(r, XPATH_NUMBER, NULL, NULL);
        e->number = strtod(before, &end);
        r->t->at = end;
        return e;
    }
    if (take(r, "(")) {
        e = read_or(r);
        return r->e || take(r, ")") ? e : wrong(r, ")");
    }
    const char *name = take_name(r);
    selector_skip_space(r->t);
    if (name && *r->t->at == '(' && strcmp(name, "text") != 0 && strcmp(name, "node") != 0)
        return read_call(r, name);
    r->t->at = before;
    return NULL;
}

static struct xpath_expr *read_path(struct reading *r)
{
    struct xpath_expr *path = expr_new(r, XPATH_PATH, NULL, NULL);
    struct xpath_step **last = &path->steps;

    selector_skip_space(r->t);
    if (*r->t->at == '/') {
        path->from_root = true;
        if (take(r, "//")) {
            *last = anywhere(r);
            last = &(*last)->next;
        } else if (take(r, "/") && !begins_step(r)) {
            return path;
        }
        read_steps(r, last);
        return path;
    }
    path->filtered = read_primary(r);
    if (r->e)
        return NULL;
    if (!path->filtered) {
        if (!begins_step(r))
            return wrong(r, "a path");
        read_steps(r, last);
        return path;
    }
    if (!read_predicates(r, &path->predicates))
        return NULL;
    if (take(r, "//")) {
        *last = anywhere(r);
        read_steps(r, &(*last)->next);
    } else if (take(r, "/")) {
        read_steps(r, last);
    } else if (!path->predicates) {
        return path->filtered;
    }
    return path;
}

static struct xpath_expr *read_union(struct reading *r)
{
    struct xpath_expr *e = read_path(r);

    while (!r->e && take(r, "|"))
        e = expr_new(r, XPATH_UNION, e, read_path(r));
    return e;
}

static struct xpath_expr *read_negation(struct reading *r)
{
    if (take(r, "-"))
        return expr_new(r, XPATH_NEGATE,
                ++r->nested < NESTED_MAX ? read_negation(r) : wrong(r, "less"), NULL);
    return read_union(r);
}

static struct xpath_expr *read_product(struct reading *r)
{
    struct xpath_expr *e = read_negation(r);

    for (;;) {
        enum xpath_op op = take(r, "*")          ? XPATH_MULTIPLY
                           : take_word(r, "div") ? XPATH_DIVIDE
                           : take_word(r, "mod") ? XPATH_MODULO
                                                 : XPATH_PATH;
        if (r->e || op == XPATH_PATH)
            return e;
        e = expr_new(r, op, e, read_negation(r));
    }
}

static struct xpath_expr *read_sum(struct reading *r)
{
    struct xpath_expr *e = read_product(r);

    for (;;) {
        enum xpath_op op = take(r, "+")   ? XPATH_ADD
                           : take(r, "-") ? XPATH_SUBTRACT
                                          : XPATH_PATH;
        if (r->e || op == XPATH_PATH)
            return e;
        e = expr_new(r, op, e, read_product(r));
    }
}

static struct xpath_expr *read_relation(struct reading *r)
{
    struct xpath_expr *e = read_sum(r);

    for (;;) {
        enum xpath_op op = take(r, "<=")   ? XPATH_LESS_EQUAL
                           : take(r, ">=") ? XPATH_MORE_EQUAL
                           : take(r, "<")  ? XPATH_LESS
                           : take(r, ">")  ? XPATH_MORE
                                           : XPATH_PATH;
        if (r->e || op == XPATH_PATH)
            return e;
        e = expr_new(r, op, e, read_sum(r));
    }
}

static struct xpath_expr *read_equality(struct reading *r)
{
    struct xpath_expr *e = read_relation(r);

    for (;;) {
        enum xpath_op op = take(r, "!=")  ? XPATH_UNEQUAL
                           : take(r, "=") ? XPATH_EQUAL
                                          : XPATH_PATH;
        if (r->e || op == XPATH_PATH)
            return e;
        e = expr_new(r, op, e, read_relation(r));
    }
}

static struct xpath_expr *read_and(struct reading *r)
{
    struct xpath_expr *e = read_equality(r);

    while (!r->e && take_word(r, "and"))
        e = expr_new(r, XPATH_AND, e, read_equality(r));
    return e;
}

static struct xpath_expr *read_or(struct reading *r)
{
    if (++r->nested > NESTED_MAX)
        return wrong(r, "fewer parentheses and predicates inside each other");
    struct xpath_expr *e = read_and(r);
    while (!r->e && take_word(r, "or"))
        e = expr_new(r, XPATH_OR, e, read_and(r));
    r->nested--;
    return e;
}

/* A path that names no beginning may begin anywhere. */
static void begin_anywhere(struct reading *r, struct xpath_expr *e)
{
    if (!e || (e->op != XPATH_PATH && e->op != XPATH_UNION))
        return;
    if (e->op == XPATH_UNION) {
        begin_anywhere(r, e->left);
        begin_anywhere(r, e->right);
        return;
    }
    if (!e->from_root && !e->filtered && e->steps && e->steps->axis == AXIS_CHILD) {
        struct xpath_step *s = anywhere(r);
        s->next = e->steps;
        e->steps = s;
    }
}

static bool selects_nodes(const struct xpath_expr *e)
{
    return e->op == XPATH_PATH || e->op == XPATH_UNION ||
           (e->op == XPATH_CALL && e->function == FN_ID);
}

enum err xpath_read(struct selector_text *t)
{
    struct reading r = {.t = t};
    struct xpath_expr *e = read_or(&r);

    selector_skip_space(t);
    if (!r.e && *t->at)
        wrong(&r, "/, [, an operator or the end");
    if (!r.e && !selects_nodes(e)) {
        t->at = t->start;
        wrong(&r, "a path to elements, not a value");
    }
    if (r.e)
        return r.e;
    begin_anywhere(&r, e);
    t->s->xpath = e;
    return OK;
}
