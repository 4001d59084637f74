/* inbox -- a queue from any thread to one thread.
 *
 * Messages are intrusive; a message belongs to exactly one side.  `wake` is called after
 * a push that found the inbox empty; it must be safe from any thread (loop_waker_wake is).
 */
#pragma once
#include "base/list.h"
#include "base/lock.h"

struct inbox {
    struct lock lock;
    /* under lock */
    struct list messages;
    size_t count;
    /* constant */
    void (*wake)(void *arg);
    void *wake_arg;
};

void inbox_init(struct inbox *in, void (*wake)(void *arg), void *wake_arg);
void inbox_done(struct inbox *in);
void inbox_push(struct inbox *in, struct list *message);
/* Moves everything waiting to the end of `out`, in order of arrival; returns how many. */
size_t inbox_take(struct inbox *in, struct list *out);
size_t inbox_count(struct inbox *in);
