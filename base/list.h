/* list -- an intrusive ring: the links live inside the object, inserting cannot fail.
 *
 * A list head and a member are the same struct; an empty head points at itself.
 * list_each allows removing the current member.
 */
#pragma once
#include "base/check.h"

struct list {
    struct list *next, *prev;
};

#define LIST_INIT(head)                                                                        \
    {                                                                                          \
        &(head), &(head)                                                                       \
    }

static inline void list_init(struct list *l)
{
    l->next = l->prev = l;
}

static inline bool list_is_empty(const struct list *l)
{
    return l->next == l;
}

static inline void list_append(struct list *head, struct list *member)
{
    member->prev = head->prev;
    member->next = head;
    head->prev->next = member;
    head->prev = member;
}

static inline void list_prepend(struct list *head, struct list *member)
{
    list_append(head->next, member);
}

/* Leaves the member pointing at itself, so removing twice does no harm. */
static inline void list_remove(struct list *member)
{
    member->prev->next = member->next;
    member->next->prev = member->prev;
    list_init(member);
}

static inline struct list *list_first(const struct list *head)
{
    return list_is_empty(head) ? NULL : head->next;
}

#define list_each(pos, head)                                                                   \
    for (struct list *pos = (head)->next, *pos##_next = pos->next; pos != (head);              \
            pos = pos##_next, pos##_next = pos->next)

#define list_entry(ptr, type, member) container_of(ptr, type, member)
