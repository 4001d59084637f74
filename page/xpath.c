/* XPath, as far as people use it to point at a part of a page:
 *
 *     /html/body/div[2]   //table[@id='x']/tr   //li[contains(., 'new')]   //h2[last()] | //h3
 *
 * Steps by / and //, names and *, predicates on position, last(), attributes and text, joined
 * by `and` or in a row; alternatives by |.  Anything else is refused by name, not misread.
 */
#include "page/selector.h"
#include <stdlib.h>

/* A name, with its prefix as it is written in the page. */
static const char *qualified_name(struct selector_text *t)
{
    char *name = selector_name(t);

    if (!name || t->at[0] != ':' || t->at[1] == ':')
        return name;
    t->at++;
    char *local = selector_name(t);
    return local ? arena_printf(t->life, "%s:%s", name, local) : NULL;
}

/* @name, text(), or . ; what a test looks at. */
static bool operand(struct selector_text *t, struct test *test)
{
    if (selector_take(t, "@"))
        return (test->name = qualified_name(t)) != NULL;
    test->own_text = selector_take(t, "text()");
    return test->own_text || selector_take(t, ".");
}

static enum err function(struct selector_text *t, struct test *test, enum test_kind kind)
{
    test->kind = kind;
    if (!selector_take(t, "(") || !operand(t, test) || !selector_take(t, ","))
        return selector_error(t, "an attribute or text, and a comma");
    if (!(test->value = selector_string(t)) || !selector_take(t, ")"))
        return selector_error(t, "a string and )");
    return OK;
}

static enum err predicate_term(struct selector_text *t, struct step *step)
{
    struct test *test = selector_test_add(t, step, TEST_HAS);

    selector_skip_space(t);
    if (*t->at >= '0' && *t->at <= '9') {
        char *end;
        unsigned long n = strtoul(t->at, &end, 10);
        t->at = end;
        test->kind = TEST_POSITION;
        test->n = n < 1000000 ? (unsigned)n : 1000000;
        return n ? OK : selector_error(t, "a position from 1");
    }
    if (selector_take(t, "last()")) {
        test->kind = TEST_POSITION;
        return OK;
    }
    if (selector_take(t, "contains"))
        return function(t, test, TEST_CONTAINS);
    if (selector_take(t, "starts-with"))
        return function(t, test, TEST_STARTS);
    if (!operand(t, test))
        return selector_error(t, "a position, an attribute, text() or a function");
    if (selector_take(t, "=")) {
        test->kind = TEST_EQUALS;
        if (!(test->value = selector_string(t)))
            return selector_error(t, "a string");
    } else if (!test->name) {
        return selector_error(t, "= and a string");
    }
    return OK;
}

static enum err predicate(struct selector_text *t, struct step *step)
{
    do {
        enum err e = predicate_term(t, step);
        if (e)
            return e;
    } while (selector_take(t, "and "));
    return selector_take(t, "]") ? OK : selector_error(t, "]");
}

static enum err step_read(struct selector_text *t, struct step *step)
{
    if (!selector_take(t, "*") && !(step->name = qualified_name(t)))
        return selector_error(t, "the name of an element or *");
    if (*t->at == '(' || (t->at[0] == ':' && t->at[1] == ':'))
        return selector_error(t, "a plain name; functions and axes are not read");
    while (selector_take(t, "[")) {
        enum err e = predicate(t, step);
        if (e)
            return e;
    }
    return OK;
}

static enum err path_read(struct selector_text *t)
{
    struct step *first = NULL, **last = &first;

    do {
        struct step *step = arena_new_of(t->life, struct step);
        if (selector_take(t, "//") || (!first && !selector_take(t, "/")))
            step->relation = RELATION_BELOW; /* a path without a slash may begin anywhere */
        else if (first && !selector_take(t, "/"))
            break;
        enum err e = step_read(t, step);
        if (e)
            return e;
        *last = step;
        last = &step->next;
        selector_skip_space(t);
    } while (*t->at == '/');
    selector_alternative_add(t, first);
    return OK;
}

enum err xpath_read(struct selector_text *t)
{
    do {
        enum err e = path_read(t);
        if (e)
            return e;
    } while (selector_take(t, "|"));
    return *t->at ? selector_error(t, "/, [ or the end") : OK;
}
