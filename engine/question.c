#include "engine/question.h"
#include "fetch/fetch.h"
#include "page/page.h"

static const enum cdg_status statuses[] = {
        [GRAMMAR_EXISTS] = CDG_EXISTS,
        [GRAMMAR_NEW] = CDG_NEW,
        [GRAMMAR_UPDATED] = CDG_UPDATED,
        [GRAMMAR_DELETED] = CDG_DELETED,
        [GRAMMAR_UNCHANGED] = CDG_UNCHANGED,
};

static const enum cdg_region regions[] = {
        [GRAMMAR_WHOLE_PAGE] = CDG_REGION_NONE,
        [GRAMMAR_XPATH] = CDG_REGION_XPATH,
        [GRAMMAR_CSS] = CDG_REGION_CSS,
};

/* What `text` means depends on the type: the grammar names each, the graph has one slot. */
static const char *leaf_text(const struct grammar_leaf *l)
{
    switch (l->type) {
    case GRAMMAR_REGEXP:
        return l->pattern;
    case GRAMMAR_ELEMENT:
        return l->element;
    default:
        return l->containing;
    }
}

static enum err leaf_of(
        struct arena *life, const struct grammar_leaf *l, struct fault *f, struct cdg_leaf *to)
{
    int kind = cdg_kind_find(grammar_type_name(l->type));
    if (kind < 0)
        return fault_set(f, ERR_UNSUPPORTED, "this Vigil cannot run the change type \"%s\" yet",
                grammar_type_name(l->type));

    const char **words = arena_array_of(life, l->n_words + 1, const char *);
    for (unsigned i = 0; i < l->n_words; i++)
        words[i] = l->words[i].text;
    *to = (struct cdg_leaf){
            .kind = kind,
            .raw = l->raw,
            .counted = l->counted,
            .all = l->all,
            .on_text = l->on_text,
            .strict = l->strict,
            .number = l->number,
            .box = l->box,
            .occurrence = l->occurrence,
            .status = statuses[l->status],
            .text = leaf_text(l),
            .contains = l->type == GRAMMAR_ELEMENT ? l->containing : NULL,
            .words = words,
            .nwords = l->n_words,
            .changed_over = l->threshold != GRAMMAR_NO_THRESHOLD,
            .at_least = l->threshold == GRAMMAR_AT_LEAST,
            .percent = l->threshold_ppm / 10000.,
            .region = regions[l->region],
            .selector = l->region_path,
    };
    return OK;
}

/* `places`: by the grammar's number of the page; NULL: there is one. */
static enum err expr_of(struct arena *life, const struct grammar_change *c,
        const unsigned *places, struct fault *f, const struct cdg_expr **ret_expr)
{
    struct cdg_expr *e = arena_new_of(life, struct cdg_expr);
    enum err err;
    switch (c->op) {
    case GRAMMAR_LEAF:
        e->op = CDG_LEAF;
        if ((err = leaf_of(life, c->leaf, f, &e->leaf)) != OK)
            return err;
        e->place = places ? places[c->leaf->page] : 0;
        break;
    case GRAMMAR_NOT:
        e->op = CDG_NOT;
        if ((err = expr_of(life, c->kids[0], places, f, &e->left)) != OK)
            return err;
        break;
    case GRAMMAR_AND:
    case GRAMMAR_OR: {
        /* The grammar's node has any number of kids, the graph's has two: a chain to the left.
         */
        const struct cdg_expr *chain;
        if ((err = expr_of(life, c->kids[0], places, f, &chain)) != OK)
            return err;
        for (unsigned i = 1; i < c->n_kids; i++) {
            struct cdg_expr *both = arena_new_of(life, struct cdg_expr);
            both->op = c->op == GRAMMAR_AND ? CDG_AND : CDG_OR;
            both->left = chain;
            if ((err = expr_of(life, c->kids[i], places, f, &both->right)) != OK)
                return err;
            chain = both;
        }
        *ret_expr = chain;
        return OK;
    }
    }
    *ret_expr = e;
    return OK;
}

enum err question_check_selector(
        enum grammar_region language, const char *text, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "selector");
    struct page_selector *selector;
    return page_selector_new(
            scratch, language == GRAMMAR_CSS ? PAGE_CSS : PAGE_XPATH, text, f, &selector);
}

enum err question_of(struct arena *life, const struct grammar_change *c, struct fault *f,
        const struct cdg_expr **ret_expr)
{
    return expr_of(life, c, NULL, f, ret_expr);
}

enum err question_pages(struct arena *life, const struct grammar_definition *d, struct fault *f,
        const char *const **ret_urls, unsigned *ret_count, unsigned *ret_wrong)
{
    const char **urls = arena_array_of(life, d->n_pages + 1, const char *);
    unsigned n = 0;
    for (unsigned i = 0; i < d->n_pages; i++) {
        char *url;
        enum err e = fetch_url_normalise(life, d->pages[i].url, f, &url);
        if (e) {
            *ret_wrong = i;
            return e;
        }
        unsigned k = 0;
        while (k < n && strcmp(urls[k], url) != 0)
            k++;
        if (k == n)
            urls[n++] = url;
    }
    *ret_urls = urls;
    *ret_count = n;
    return OK;
}

/* Which of the distinct pages each page of the definition is. */
static enum err places_of(struct arena *life, const struct grammar_definition *d,
        struct fault *f, const unsigned **ret_places)
{
    const char *const *urls;
    unsigned n, wrong, *places = arena_array_of(life, d->n_pages + 1, unsigned);
    enum err e = question_pages(life, d, f, &urls, &n, &wrong);
    for (unsigned i = 0; !e && i < d->n_pages; i++) {
        char *url;
        e = fetch_url_normalise(life, d->pages[i].url, f, &url);
        for (unsigned k = 0; !e && k < n; k++)
            if (strcmp(urls[k], url) == 0)
                places[i] = k;
    }
    *ret_places = places;
    return e;
}

enum err question_of_pages(struct arena *life, const struct grammar_definition *d,
        struct fault *f, const struct cdg_expr **ret_expr)
{
    const unsigned *places = NULL;
    enum err e = d->n_pages > 1 ? places_of(life, d, f, &places) : OK;
    return e ? e : expr_of(life, d->monitor, places, f, ret_expr);
}

struct cdg_compare question_compare(struct grammar_compare c)
{
    static const enum cdg_compare_kind kinds[] = {
            [GRAMMAR_PAIRWISE] = CDG_PAIRWISE,
            [GRAMMAR_MOVING] = CDG_MOVING,
            [GRAMMAR_EVERY] = CDG_EVERY,
    };
    return (struct cdg_compare){.kind = kinds[c.kind], .n = c.n};
}

/* ---- and back, for people -------------------------------------------------------------- */

static enum grammar_type type_of(int kind)
{
    for (unsigned t = 0; t < GRAMMAR_TYPE_COUNT; t++)
        if (cdg_kind_find(grammar_type_name((enum grammar_type)t)) == kind)
            return (enum grammar_type)t;
    CHECK(!"every kind has a type");
    return GRAMMAR_TYPE_COUNT;
}

static unsigned status_of(enum cdg_status status)
{
    unsigned i = 0;
    while (statuses[i] != status)
        i++;
    return i;
}

static unsigned region_of(enum cdg_region region)
{
    unsigned i = 0;
    while (regions[i] != region)
        i++;
    return i;
}

void question_print_leaf(struct buf *out, const struct cdg_leaf *leaf)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "leaf");
    struct grammar_leaf l = {
            .type = type_of(leaf->kind),
            .raw = leaf->raw,
            .counted = leaf->counted,
            .all = leaf->all,
            .on_text = leaf->on_text,
            .strict = leaf->strict,
            .number = leaf->number,
            .box = leaf->box,
            .occurrence = leaf->occurrence,
            .status = (enum grammar_status)status_of(leaf->status),
            .threshold = !leaf->changed_over ? GRAMMAR_NO_THRESHOLD
                         : leaf->at_least    ? GRAMMAR_AT_LEAST
                                             : GRAMMAR_MORE_THAN,
            .threshold_ppm = (unsigned)(leaf->percent * 10000 + 0.5),
            .region = (enum grammar_region)region_of(leaf->region),
            .region_path = leaf->selector,
            .n_words = (unsigned)leaf->nwords,
    };
    l.words = arena_array_of(scratch, leaf->nwords + 1, struct grammar_word);
    for (size_t i = 0; i < leaf->nwords; i++)
        l.words[i].text = leaf->words[i];
    l.pattern = l.type == GRAMMAR_REGEXP ? leaf->text : NULL;
    l.element = l.type == GRAMMAR_ELEMENT ? leaf->text : NULL;
    l.containing = l.type == GRAMMAR_ELEMENT  ? leaf->contains
                   : l.type == GRAMMAR_REGEXP ? NULL
                                              : leaf->text;
    grammar_print_leaf(out, &l);
}
