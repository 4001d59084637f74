/* The one door to the outside, alone in its file: see notify_deliver in notify.h. */
#include "notify/notify_int.h"

void notify_deliver(
        struct notify *n, const struct notify_message *m, notify_done_fn *done, void *arg)
{
    method_send(n, m, done, arg);
}
