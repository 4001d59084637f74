/* Which page each leaf is about, and what an expression over several pages may be.
 *
 *  (1) Over several pages an expression is brought into disjunctive normal form: at most 16
 *      conjuncts, and none that only says what did not happen on different pages.
 */
#include "grammar/check_int.h"

enum { MAX_CONJUNCTS = 16 };

/* ---- aliases ------------------------------------------------------------------------ */

int page_find(const struct grammar_definition *d, const char *alias)
{
    for (unsigned i = 0; i < d->n_pages; i++)
        if (d->pages[i].alias && grammar_name_equal(d->pages[i].alias, alias))
            return (int)i;
    return -1;
}

static bool aliases_check(struct check *ck, const struct grammar_definition *d)
{
    for (unsigned i = 0; d->n_pages > 1 && i < d->n_pages; i++) {
        const struct grammar_page *page = &d->pages[i];
        if (!page->alias) {
            struct grammar_diagnostic *e =
                    check_error(ck, GRAMMAR_E046, page->pos, "several pages need AS aliases");
            report_hint(ck->script, e, "Write USING url AS a, url AS b MONITOR a.links.");
            return false;
        }
        if (page_find(d, page->alias) != (int)i) {
            check_error(
                    ck, GRAMMAR_E046, page->pos, "two pages are called \"%s\"", page->alias);
            return false;
        }
    }
    return true;
}

static bool leaf_check_page(
        struct check *ck, const struct grammar_definition *d, struct grammar_leaf *l)
{
    if (!l->alias) {
        l->page = 0;
        if (d->n_pages <= 1)
            return true;
        check_error(ck, GRAMMAR_E046, l->pos, "of several pages, which one? write alias.%s",
                grammar_type_name(l->type));
        return false;
    }
    int page = page_find(d, l->alias);
    if (page >= 0) {
        l->page = (unsigned)page;
        return true;
    }
    const char *choices[64];
    size_t n = 0;
    for (unsigned i = 0; i < d->n_pages && n < countof(choices); i++)
        if (d->pages[i].alias)
            choices[n++] = d->pages[i].alias;
    struct grammar_diagnostic *e =
            check_error(ck, GRAMMAR_E047, l->alias_pos, "unknown page alias \"%s\"", l->alias);
    report_nearest(ck->script, e, word_nearest(str_of(l->alias), choices, n));
    return false;
}

static bool leaves_check(
        struct check *ck, const struct grammar_definition *d, const struct grammar_change *c)
{
    bool ok = true;
    if (c->op == GRAMMAR_LEAF)
        return leaf_check_page(ck, d, c->leaf);
    for (unsigned i = 0; i < c->n_kids; i++)
        ok &= leaves_check(ck, d, c->kids[i]);
    return ok;
}

/* ---- normal form -------------------------------------------------------------------- */

/* The pages a conjunct asks for a change on, and those it asks for none on: bits. */
struct conjunct {
    uint64_t changed, unchanged;
};

struct normal {
    struct conjunct conjuncts[MAX_CONJUNCTS];
    unsigned n;
    bool too_many;
};

static void normal_add(struct normal *to, struct conjunct c)
{
    if (to->n == MAX_CONJUNCTS)
        to->too_many = true;
    else
        to->conjuncts[to->n++] = c;
}

static struct normal normal_and(const struct normal *a, const struct normal *b)
{
    struct normal both = {.too_many = a->too_many || b->too_many};
    for (unsigned i = 0; i < a->n; i++)
        for (unsigned k = 0; k < b->n; k++)
            normal_add(
                    &both, (struct conjunct){a->conjuncts[i].changed | b->conjuncts[k].changed,
                                   a->conjuncts[i].unchanged | b->conjuncts[k].unchanged});
    return both;
}

static struct normal normal_form(const struct grammar_change *c, bool negated)
{
    struct normal result = {0};
    if (c->op == GRAMMAR_NOT)
        return normal_form(c->kids[0], !negated);
    if (c->op == GRAMMAR_LEAF) {
        uint64_t bit = UINT64_C(1) << c->leaf->page;
        normal_add(&result, negated ? (struct conjunct){0, bit} : (struct conjunct){bit, 0});
        return result;
    }
    bool is_or = (c->op == GRAMMAR_OR) != negated;
    result = normal_form(c->kids[0], negated);
    for (unsigned i = 1; i < c->n_kids && !result.too_many; i++) {
        struct normal kid = normal_form(c->kids[i], negated);
        if (!is_or) {
            result = normal_and(&result, &kid);
            continue;
        }
        result.too_many |= kid.too_many;
        for (unsigned k = 0; k < kid.n; k++)
            normal_add(&result, kid.conjuncts[k]);
    }
    return result;
}

static bool normal_check(struct check *ck, const struct grammar_change *monitor)
{
    struct normal n = normal_form(monitor, false);
    if (n.too_many) {
        check_error(ck, GRAMMAR_E061, monitor->pos,
                "more than %d conjuncts in an expression over several pages", MAX_CONJUNCTS);
        return false;
    }
    for (unsigned i = 0; i < n.n; i++) {
        uint64_t pages = n.conjuncts[i].unchanged;
        if (n.conjuncts[i].changed || (pages & (pages - 1)) == 0)
            continue;
        check_error(ck, GRAMMAR_E059, monitor->pos,
                "a NOT over several pages needs a positive partner");
        return false;
    }
    return true;
}

bool pages_check(struct check *ck, const struct grammar_definition *eff)
{
    if (!aliases_check(ck, eff) || !eff->monitor || !leaves_check(ck, eff, eff->monitor))
        return false;
    return eff->n_pages <= 1 || normal_check(ck, eff->monitor); /* (1) */
}
