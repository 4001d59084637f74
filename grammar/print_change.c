/* Change expressions in canonical form. */
#include "grammar/print_int.h"
#include <ctype.h>

/* May it stand in braces without quotes? */
static bool is_bare_word(const char *s)
{
    for (const char *c = s; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_*-.", *c))
            return false;
    return *s && !strstr(s, "--");
}

static void print_words(struct buf *out, const struct grammar_leaf *l)
{
    print(out, " {");
    for (unsigned i = 0; i < l->n_words; i++) {
        print(out, "%s", i ? ", " : "");
        if (is_bare_word(l->words[i].text))
            print(out, "%s", l->words[i].text);
        else
            print_quoted(out, l->words[i].text);
    }
    print(out, "}");
}

static void print_containing(struct buf *out, const char *word, const char *text)
{
    print(out, " %s ", word);
    print_quoted(out, text);
}

/* Names that would be taken for something else are quoted. */
static bool is_bare_element(const char *s)
{
    enum word w = word_find(str_of(s));
    if (!isalpha((unsigned char)*s) && *s != '_')
        return false;
    for (const char *c = s; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_:-.", *c))
            return false;
    return !strstr(s, "--") && !(word_flags(w) & RESERVED) && w != W_NEW && w != W_UPDATED &&
           w != W_DELETED && w != W_UNCHANGED && w != W_CONTAINS && w != W_STRICT &&
           w != W_IN && w != W_CHANGED;
}

static void print_element(struct buf *out, const struct grammar_leaf *l)
{
    static const char *const statuses[GRAMMAR_STATUS_COUNT] = {
            "", " new", " updated", " deleted", " unchanged"};
    print(out, "%s ", statuses[l->status]);
    if (is_bare_element(l->element))
        print(out, "%s", l->element);
    else
        print_quoted(out, l->element);
    if (l->containing)
        print_containing(out, l->strict ? "strict contains" : "contains", l->containing);
}

static void print_phrase(struct buf *out, const struct grammar_leaf *l)
{
    if (l->containing)
        print_containing(out, "containing", l->containing);
    else
        print_words(out, l);
    if (l->box != 10)
        print(out, " box %u", l->box);
    if (l->occurrence != 1)
        print(out, " occurrence %u", l->occurrence);
}

static void print_arguments(struct buf *out, const struct grammar_leaf *l)
{
    switch (l->type) {
    case GRAMMAR_ANY_CHANGE:
        print(out, "%s", l->raw ? " raw" : "");
        break;
    case GRAMMAR_ALL_WORDS:
        print(out, "%s", l->counted ? " counted" : "");
        if (l->n_words) {
            print(out, " except");
            print_words(out, l);
        }
        break;
    case GRAMMAR_KEYWORDS:
        print(out, "%s%s", l->all ? " all" : "", l->counted ? " counted" : "");
        print_words(out, l);
        break;
    case GRAMMAR_PHRASE:
        print_phrase(out, l);
        break;
    case GRAMMAR_TABLE:
    case GRAMMAR_LIST:
        if (l->containing)
            print_containing(out, "containing", l->containing);
        else if (l->number != 1)
            print(out, " %u", l->number);
        break;
    case GRAMMAR_REGEXP:
        print(out, " ");
        print_quoted(out, l->pattern);
        print(out, "%s", l->on_text ? " on text" : "");
        break;
    case GRAMMAR_ELEMENT:
        print_element(out, l);
        break;
    case GRAMMAR_LINKS:
    case GRAMMAR_IMAGES:
    case GRAMMAR_STRUCTURE:
    case GRAMMAR_TAGS:
    case GRAMMAR_ATTRIBUTES:
    case GRAMMAR_CONTENT:
    case GRAMMAR_TYPE_COUNT:
        break;
    }
}

static void print_percent(struct buf *out, unsigned ppm)
{
    print(out, "%u", ppm / 10000);
    unsigned rest = ppm % 10000;
    if (rest) {
        int digits = 4;
        for (; rest % 10 == 0; digits--)
            rest /= 10;
        print(out, ".%0*u", digits, rest);
    }
    print(out, "%%");
}

void grammar_print_leaf(struct buf *out, const struct grammar_leaf *l)
{
    print(out, "%s", grammar_type_name(l->type));
    print_arguments(out, l);
    if (l->region != GRAMMAR_WHOLE_PAGE)
        print_containing(
                out, l->region == GRAMMAR_XPATH ? "in xpath" : "in css", l->region_path);
    if (l->threshold != GRAMMAR_NO_THRESHOLD) {
        print(out, " changed %s ", l->threshold == GRAMMAR_MORE_THAN ? ">" : ">=");
        print_percent(out, l->threshold_ppm);
    }
}

static void print_kid(
        struct buf *out, const struct grammar_change *parent, const struct grammar_change *kid)
{
    bool enclosed =
            kid->op == GRAMMAR_OR || (kid->op == GRAMMAR_AND && parent->op == GRAMMAR_NOT);
    print(out, "%s", enclosed ? "(" : "");
    grammar_print_change(out, kid);
    print(out, "%s", enclosed ? ")" : "");
}

void grammar_print_change(struct buf *out, const struct grammar_change *c)
{
    if (c->op == GRAMMAR_LEAF) {
        if (c->leaf->alias)
            print(out, "%s.", c->leaf->alias);
        grammar_print_leaf(out, c->leaf);
        return;
    }
    if (c->op == GRAMMAR_NOT)
        print(out, "NOT ");
    for (unsigned i = 0; i < c->n_kids; i++) {
        if (i > 0)
            print(out, c->op == GRAMMAR_AND ? " AND " : " OR ");
        print_kid(out, c, c->kids[i]);
    }
}
