/* Names of kinds, marks and looks, and the order of a report. */
#include "notify/notify_int.h"
#include <stdlib.h>

static const char *const kind_names[] = {
#define KIND(id, name, sentence) [NOTIFY_##id] = name,
#include "notify/kinds.def"
#undef KIND
};

const char *notify_kind_name(enum notify_kind kind)
{
    return kind_names[kind];
}

enum notify_kind notify_kind_find(const char *name)
{
    for (int i = 0; i < NOTIFY_KIND_COUNT; i++)
        if (strcmp(kind_names[i], name) == 0)
            return (enum notify_kind)i;
    return NOTIFY_KIND_COUNT;
}

const char *notify_mark_name(enum notify_mark mark)
{
    static const char *const names[] = {[NOTIFY_SAME] = "same",
            [NOTIFY_INSERTED] = "inserted",
            [NOTIFY_DELETED] = "deleted",
            [NOTIFY_UPDATED] = "updated",
            [NOTIFY_MOVED] = "moved",
            [NOTIFY_FOUND] = "found"};
    return names[mark];
}

static const char *const look_names[] = {
        [NOTIFY_SIDE] = "side", [NOTIFY_MERGED] = "merged", [NOTIFY_ONLY] = "only"};

const char *notify_look_name(enum notify_look look)
{
    return look_names[look];
}

bool notify_look_find(const char *name, enum notify_look *ret)
{
    for (int i = 0; i < NOTIFY_LOOK_COUNT; i++)
        if (str_equal_nocase(str_of(name), str_of(look_names[i]))) {
            *ret = (enum notify_look)i;
            return true;
        }
    return false;
}

static int by_importance(const void *x, const void *y)
{
    const struct notify_item *a = x, *b = y;
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    if (a->at != b->at)
        return a->at > b->at ? -1 : 1;
    return a->id == b->id ? 0 : a->id > b->id ? -1 : 1;
}

static bool same_topic(const struct notify_item *a, const struct notify_item *b)
{
    return strcmp(a->topic ? a->topic : "", b->topic ? b->topic : "") == 0;
}

/* Each topic follows its most important item. */
void notify_sort(struct notify_item *items, size_t n)
{
    qsort(items, n, sizeof *items, by_importance);
    for (size_t i = 1; i < n; i++) {
        size_t next = i;
        while (next < n && !same_topic(&items[i - 1], &items[next]))
            next++;
        if (next == n || next == i)
            continue;
        struct notify_item moved = items[next];
        memmove(&items[i + 1], &items[i], (next - i) * sizeof *items);
        items[i] = moved;
    }
}
