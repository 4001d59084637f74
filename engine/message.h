/* message -- one message, from what is owed to the door it leaves by. */
#pragma once
#include "engine/feeds.h"
#include "notify/notify.h"
#include "store/outbox.h"

struct message_doors {
    struct store_outbox *store; /* what a mail shows is read through it */
    struct notify *notify;
    struct feeds *feeds;
};

/* Sends owed[at] and so many of the lane, which are one message.  `done` may be called before
 * this returns. */
void message_send(const struct message_doors *doors, const struct store_lane *of, size_t at,
        size_t n, msec now, notify_done_fn *done, void *arg);
