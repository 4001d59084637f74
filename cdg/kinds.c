/* The table of kinds, and what holds for the arguments of them all. */
#include "cdg/cdg_int.h"
#include <ctype.h>

#define KIND(ident, name_, help_) extern const struct cdg_kind cdg_kind_##ident;
#include "cdg/kinds.def"
#undef KIND

static const struct cdg_kind *const kinds[] = {
#define KIND(ident, name_, help_) &cdg_kind_##ident,
#include "cdg/kinds.def"
#undef KIND
};

static const struct cdg_kind_info infos[] = {
#define KIND(ident, name_, help_) {name_, help_},
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

const struct cdg_kind_info *cdg_kind_get(int kind)
{
    return kind >= 0 && (size_t)kind < countof(infos) ? &infos[kind] : NULL;
}

const struct cdg_kind *kind_of(int kind)
{
    CHECK(kind >= 0 && (size_t)kind < countof(kinds));
    return kinds[kind];
}

enum err leaf_check(const struct cdg_leaf *leaf, struct fault *f)
{
    const struct cdg_kind_info *info = cdg_kind_get(leaf->kind);

    if (!info)
        return fault_set(f, ERR_UNSUPPORTED, "this program does not detect that change type");
    if (leaf->region != CDG_REGION_NONE)
        return fault_set(f, ERR_UNSUPPORTED, "regions are not supported by \"%s\"", info->name);
    if (leaf->changed_over && (leaf->percent < 0 || leaf->percent > 100))
        return fault_set(f, ERR_RANGE, "the change ratio is not between 0 and 100 percent");
    const struct cdg_kind *kind = kind_of(leaf->kind);
    return kind->check ? kind->check(leaf, f) : OK;
}
