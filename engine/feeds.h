/* feeds -- users' bulletins as Atom files: one a user, and one for each of their topics. */
#pragma once
#include "base/loop.h"
#include "base/pool.h"
#include "notify/notify.h"
#include "store/outbox.h"

struct feeds;

/* `dir` "": no files are written and every message is accepted. */
MUST_USE enum err feeds_start(struct arena *life, struct loop *loop, struct pool *pool,
        struct store_outbox *store, struct notify *n, const char *dir, struct fault *f,
        struct feeds **ret_feeds);
/* Writes the files of the message's owner anew.  As notify_deliver. */
void feeds_write(
        struct feeds *f, const struct notify_message *m, notify_done_fn *done, void *arg);
/* The store's outbox and the pool must have ended. */
void feeds_stop(struct feeds *f);
