/* Names that blocks tell by number. */
#include "page/block.h"
#include <stdlib.h>

static const char *const common_names[] = {
#define NAME(name) name,
#include "page/names.def"
#undef NAME
};

_Static_assert(countof(common_names) <= NAME_COMMON_MAX, "too many common names");

static int compare_name(const void *key, const void *element)
{
    const struct str *name = key;
    const char *other = *(const char *const *)element;
    int c = strncmp(name->ptr, other, name->len);

    return c ? c : -(other[name->len] != 0);
}

uint32_t common_name_find(struct str name)
{
    const char *const *found = bsearch(
            &name, common_names, countof(common_names), sizeof *common_names, compare_name);

    return found ? (uint32_t)(found - common_names) + 1 : NAME_NEW;
}

const char *common_name(uint32_t number)
{
    return number > NAME_NEW && number <= countof(common_names) ? common_names[number - 1]
                                                                : NULL;
}
