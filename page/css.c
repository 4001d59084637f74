/* CSS selectors: names, *, #id, .class, [attribute], :first-child and its relatives, joined
 * by space, >, + and ~; alternatives by commas. */
#include "page/selector.h"
#include <stdlib.h>

static enum err attribute(struct selector_text *t, struct step *step)
{
    static const struct {
        const char *sign;
        enum test_kind kind;
    } signs[] = {{"~=", TEST_WORD}, {"^=", TEST_STARTS}, {"$=", TEST_ENDS},
            {"*=", TEST_CONTAINS}, {"=", TEST_EQUALS}};
    struct test *test = selector_test_add(t, step, TEST_HAS);

    selector_skip_space(t);
    if (!(test->name = selector_name(t)))
        return selector_error(t, "the name of an attribute");
    for (size_t i = 0; i < countof(signs); i++) {
        if (!selector_take(t, signs[i].sign))
            continue;
        test->kind = signs[i].kind;
        selector_skip_space(t);
        test->value = selector_string(t);
        if (!test->value && !(test->value = selector_name(t)))
            return selector_error(t, "a value");
        break;
    }
    return selector_take(t, "]") ? OK : selector_error(t, "] or =");
}

static enum err number(struct selector_text *t, struct test *test)
{
    char *end;

    if (!selector_take(t, "("))
        return selector_error(t, "(");
    selector_skip_space(t);
    unsigned long n = strtoul(t->at, &end, 10);
    if (end == t->at || n == 0)
        return selector_error(t, "a number from 1");
    t->at = end;
    test->n = n < 1000000 ? (unsigned)n : 1000000;
    return selector_take(t, ")") ? OK : selector_error(t, ")");
}

static enum err place(struct selector_text *t, struct step *step)
{
    static const struct {
        const char *word;
        enum test_kind kind;
        unsigned n;
        bool takes_number;
    } words[] = {{"first-child", TEST_CHILD_NUMBER, 1, false},
            {"last-child", TEST_CHILD_NUMBER, 0, false},
            {"nth-child", TEST_CHILD_NUMBER, 0, true},
            {"first-of-type", TEST_TYPE_NUMBER, 1, false},
            {"last-of-type", TEST_TYPE_NUMBER, 0, false},
            {"nth-of-type", TEST_TYPE_NUMBER, 0, true}};
    char *word = selector_name(t);

    for (size_t i = 0; word && i < countof(words); i++) {
        if (strcmp(word, words[i].word) != 0)
            continue;
        struct test *test = selector_test_add(t, step, words[i].kind);
        test->n = words[i].n;
        return words[i].takes_number ? number(t, test) : OK;
    }
    return selector_error(t, "first-child, last-child, nth-child(n) or the same of-type");
}

static enum err hash_or_class(struct selector_text *t, struct step *step, bool is_id)
{
    struct test *test = selector_test_add(t, step, is_id ? TEST_EQUALS : TEST_WORD);

    test->name = is_id ? "id" : "class";
    test->value = selector_name(t);
    return test->value ? OK : selector_error(t, "a name");
}

/* One compound: "li.new[title]". */
static enum err compound(struct selector_text *t, struct step *step)
{
    const char *from = t->at;
    enum err e = OK;

    if (*t->at == '*')
        t->at++;
    else
        step->name = selector_name(t);
    while (!e) {
        char c = *t->at;
        if (c != '#' && c != '.' && c != '[' && c != ':')
            break;
        t->at++;
        e = c == '['   ? attribute(t, step)
            : c == ':' ? place(t, step)
                       : hash_or_class(t, step, c == '#');
    }
    return e || t->at > from ? e : selector_error(t, "a selector");
}

static enum err row(struct selector_text *t)
{
    struct step *first = NULL, **last = &first;
    enum relation relation = RELATION_BELOW;

    for (;;) {
        struct step *step = arena_new_of(t->life, struct step);
        selector_skip_space(t);
        step->relation = relation;
        enum err e = compound(t, step);
        if (e)
            return e;
        *last = step;
        last = &step->next;
        bool space = *t->at == ' ' || (*t->at >= '\t' && *t->at <= '\r');
        selector_skip_space(t);
        if (selector_take(t, ">"))
            relation = RELATION_CHILD;
        else if (selector_take(t, "+"))
            relation = RELATION_NEXT;
        else if (selector_take(t, "~"))
            relation = RELATION_AFTER;
        else if (space && *t->at && *t->at != ',')
            relation = RELATION_BELOW;
        else
            break;
    }
    selector_alternative_add(t, first);
    return OK;
}

enum err css_read(struct selector_text *t)
{
    do {
        enum err e = row(t);
        if (e)
            return e;
    } while (selector_take(t, ","));
    return *t->at ? selector_error(t, "a combinator, a comma or the end") : OK;
}
