/* The table of kinds, and what holds for the arguments of them all. */
#include "cdg/detect_int.h"
#include <ctype.h>

#define KIND(ident, name_, form_, help_) extern const struct cdg_kind cdg_kind_##ident;
#include "cdg/kinds.def"
#undef KIND

static const struct cdg_kind *const kinds[] = {
#define KIND(ident, name_, form_, help_) &cdg_kind_##ident,
#include "cdg/kinds.def"
#undef KIND
};

static const struct cdg_kind_info infos[] = {
#define KIND(ident, name_, form_, help_) {name_, form_, help_},
#include "cdg/kinds.def"
#undef KIND
};

static bool same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        char x = *a == '-' || *a == '_' ? ' ' : (char)tolower((unsigned char)*a);
        char y = *b == '-' || *b == '_' ? ' ' : (char)tolower((unsigned char)*b);
        if (x != y)
            return false;
        if (!x)
            return true;
    }
}

int cdg_kind_find(const char *name)
{
    for (size_t i = 0; i < countof(infos); i++)
        if (same_name(name, infos[i].name))
            return (int)i;
    return -1;
}

bool cdg_kind_measures(int kind)
{
    return kind_of(kind)->parts != NULL;
}

const struct cdg_kind_info *cdg_kind_get(int kind)
{
    return kind >= 0 && (size_t)kind < countof(infos) ? &infos[kind] : NULL;
}

const struct cdg_kind *kind_of(int kind)
{
    CHECK(kind >= 0 && (size_t)kind < countof(kinds));
    return kinds[kind];
}

enum err leaf_region(const struct cdg_leaf *leaf, struct arena *life, struct fault *f,
        struct page_selector **ret_selector)
{
    *ret_selector = NULL;
    if (leaf->region == CDG_REGION_NONE)
        return OK;
    return page_selector_new(life, leaf->region == CDG_REGION_XPATH ? PAGE_XPATH : PAGE_CSS,
            leaf->selector ? leaf->selector : "", f, ret_selector);
}

/* A region is a part of the tree, so it cannot be asked of the bytes. */
static enum err region_check(const struct cdg_leaf *leaf, const char *name, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "region");
    struct page_selector *region;
    struct cdg_expr alone = {.op = CDG_LEAF, .leaf = *leaf};

    if (leaf->region != CDG_REGION_NONE && (leaf->raw || cdg_wants_source(&alone))) {
        enum err e = fault_set(f, ERR_UNSUPPORTED, "\"%s\" on the source has no regions", name);
        if (f)
            fault_hint(f, "Ask on the text, or leave out IN.");
        return e;
    }
    return leaf_region(leaf, scratch, f, &region);
}

enum err leaf_check(const struct cdg_leaf *leaf, struct fault *f)
{
    const struct cdg_kind_info *info = cdg_kind_get(leaf->kind);

    if (!info)
        return fault_set(f, ERR_UNSUPPORTED, "this program does not detect that change type");
    if (leaf->changed_over && (leaf->percent < 0 || leaf->percent > 100))
        return fault_set(f, ERR_RANGE, "the change ratio is not between 0 and 100 percent");
    const struct cdg_kind *kind = kind_of(leaf->kind);
    if (leaf->changed_over && (!kind->parts || leaf->raw))
        return fault_set(f, ERR_UNSUPPORTED, "CHANGED %% cannot be asked of \"%s%s\"",
                info->name, leaf->raw ? " raw" : "");
    enum err e = region_check(leaf, info->name, f);
    return e || !kind->check ? e : kind->check(leaf, f);
}
