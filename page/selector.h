/* selector -- selectors of CSS as selector.c evaluates them, and what reading XPath and CSS
 * have in common.
 *
 * A selector is a list of alternatives; an alternative is a row of steps, each a relation
 * to the step before, a name, and tests.  css.c reads its language into this.
 */
#pragma once
#include "page/page_int.h"

enum relation { RELATION_CHILD, RELATION_BELOW, RELATION_NEXT, RELATION_AFTER };

enum test_kind {
    TEST_CHILD_NUMBER, /* place among the elements of its parent */
    TEST_TYPE_NUMBER,  /* place among those of its name */
    TEST_NOT,          /* none of the compounds holds */
    TEST_HAS,          /* attribute is there */
    TEST_EQUALS,
    TEST_STARTS,
    TEST_ENDS,
    TEST_CONTAINS,
    TEST_WORD, /* a word of the attribute, as in class */
};

struct test {
    enum test_kind kind;
    const char *name; /* attribute */
    const char *value;
    int every, n;         /* places: n, n + every, n + 2 every ...; the first is 1 */
    bool from_end;        /* places are counted from the last */
    struct step *without; /* NOT: a list of compounds */
    struct test *next;
};

struct step {
    enum relation relation;
    const char *name; /* NULL: any */
    struct test *tests;
    struct step *next;
};

struct xpath_expr;

struct page_selector {
    struct step **alternatives; /* CSS */
    size_t count;
    struct xpath_expr *xpath; /* XPath: instead of these */
};

enum { SELECTOR_BYTES = 4096 };

/* A language's text while it is read. */
struct selector_text {
    const char *start, *at;
    struct arena *life;
    struct page_selector *s;
    struct fault *f;
};

enum err selector_error(struct selector_text *t, const char *expected);
void selector_skip_space(struct selector_text *t);
/* A name of letters, digits, - _ : . and other scripts; NULL when there is none. */
char *selector_name(struct selector_text *t);
/* A string in quotes; NULL when there is none. */
char *selector_string(struct selector_text *t);
bool selector_take(struct selector_text *t, const char *token);
struct test *selector_test_add(struct selector_text *t, struct step *s, enum test_kind kind);
void selector_alternative_add(struct selector_text *t, struct step *first);
/* Whether an HTML page has left out the element of this name that a browser puts below the
 * node (d->nodes: the document): the node then stands for it.  Where the element itself is
 * wanted, not one below it, the node may be too much for it. */
bool selector_stands_for(
        const struct page_digest *d, uint32_t node, const char *name, bool is_wanted);

enum err xpath_read(struct selector_text *t);
enum err css_read(struct selector_text *t);
