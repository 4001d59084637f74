/* CSS selectors: names, *, #id, .class, [attribute], :first-child and its relatives, :not(),
 * joined by space, >, + and ~; alternatives by commas. */
#include "page/selector.h"
#include <stdlib.h>

enum { PLACES_MAX = 1000000 };

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

static enum err compound(struct selector_text *t, struct step *step);

/* A whole number with its sign, or `*ret` as it was. */
static bool whole(struct selector_text *t, int *ret)
{
    char *end;

    if (*t->at != '-' && *t->at != '+' && (*t->at < '0' || *t->at > '9'))
        return false;
    long n = strtol(t->at, &end, 10);
    if (end == t->at)
        return false;
    t->at = end;
    *ret = n > PLACES_MAX ? PLACES_MAX : n < -PLACES_MAX ? -PLACES_MAX : (int)n;
    return true;
}

/* "2", "odd", "even", "3n", "-n + 4". */
static enum err number(struct selector_text *t, struct test *test)
{
    if (!selector_take(t, "("))
        return selector_error(t, "(");
    selector_skip_space(t);
    if (selector_take(t, "odd")) {
        test->every = 2;
        test->n = 1;
    } else if (selector_take(t, "even")) {
        test->every = test->n = 2;
    } else {
        int sign = *t->at == '-' ? -1 : 1;
        bool counted = whole(t, &test->n);
        t->at += !counted && (*t->at == '-' || *t->at == '+');
        if (selector_take(t, "n")) {
            test->every = counted ? test->n : sign;
            test->n = 0;
            selector_skip_space(t);
            sign = *t->at == '-' ? -1 : 1;
            if (*t->at == '-' || *t->at == '+') {
                t->at++;
                selector_skip_space(t);
                if (*t->at == '-' || *t->at == '+' || !whole(t, &test->n))
                    return selector_error(t, "a number");
                test->n *= sign;
            }
        } else if (!counted || test->n < 1) {
            return selector_error(t, "a number from 1, odd, even, or one like 2n+1");
        }
    }
    return selector_take(t, ")") ? OK : selector_error(t, ")");
}

static enum err without(struct selector_text *t, struct test *test)
{
    struct step **last = &test->without;

    if (!selector_take(t, "("))
        return selector_error(t, "(");
    do {
        *last = arena_new_of(t->life, struct step);
        selector_skip_space(t);
        enum err e = compound(t, *last);
        if (e)
            return e;
        last = &(*last)->next;
    } while (selector_take(t, ","));
    return selector_take(t, ")") ? OK : selector_error(t, ", or )");
}

static enum err place(struct selector_text *t, struct step *step)
{
    static const struct {
        const char *word;
        enum test_kind kind;
        bool from_end, takes_number;
    } words[] = {{"first-child", TEST_CHILD_NUMBER, false, false},
            {"last-child", TEST_CHILD_NUMBER, true, false},
            {"nth-child", TEST_CHILD_NUMBER, false, true},
            {"nth-last-child", TEST_CHILD_NUMBER, true, true},
            {"first-of-type", TEST_TYPE_NUMBER, false, false},
            {"last-of-type", TEST_TYPE_NUMBER, true, false},
            {"nth-of-type", TEST_TYPE_NUMBER, false, true},
            {"nth-last-of-type", TEST_TYPE_NUMBER, true, true}};
    const char *from = t->at;
    char *word = selector_name(t);

    if (word && strcmp(word, "not") == 0)
        return without(t, selector_test_add(t, step, TEST_NOT));
    for (size_t i = 0; word && i < countof(words); i++) {
        if (strcmp(word, words[i].word) != 0)
            continue;
        struct test *test = selector_test_add(t, step, words[i].kind);
        test->from_end = words[i].from_end;
        test->n = 1;
        return words[i].takes_number ? number(t, test) : OK;
    }
    t->at = from;
    return selector_error(
            t, "not(...), first-child, last-child, nth-child(n) or the same of-type");
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
