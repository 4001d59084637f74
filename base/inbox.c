#include "base/inbox.h"

void inbox_init(struct inbox *in, void (*wake)(void *arg), void *wake_arg)
{
    lock_init(&in->lock, LOCK_INBOX);
    list_init(&in->messages);
    in->count = 0;
    in->wake = wake;
    in->wake_arg = wake_arg;
}

void inbox_done(struct inbox *in)
{
    CHECK(list_is_empty(&in->messages));
    lock_done(&in->lock);
}

void inbox_push(struct inbox *in, struct list *message)
{
    lock_take(&in->lock);
    bool was_empty = list_is_empty(&in->messages);
    list_append(&in->messages, message);
    in->count++;
    lock_release(&in->lock);
    if (was_empty && in->wake)
        in->wake(in->wake_arg);
}

size_t inbox_take(struct inbox *in, struct list *out)
{
    lock_take(&in->lock);
    size_t n = in->count;
    if (n) {
        in->messages.next->prev = out->prev;
        out->prev->next = in->messages.next;
        in->messages.prev->next = out;
        out->prev = in->messages.prev;
        list_init(&in->messages);
        in->count = 0;
    }
    lock_release(&in->lock);
    return n;
}

size_t inbox_count(struct inbox *in)
{
    lock_take(&in->lock);
    size_t n = in->count;
    lock_release(&in->lock);
    return n;
}
