/* letter -- a message that is looked at: its changes shown from the stored versions.
 *
 * The lists of a change say what changed; the versions show it where it stands.  For mail the
 * versions are read back before it is written, a few changes a message at most.
 */
#pragma once
#include "notify/notify.h"
#include "store/outbox.h"

/* Fills the items that gain by it, then calls `done`, maybe at once.  The message and the
 * owed, one for each item in the same order, must stay until then; texts go to `life`. */
void letter_fill(struct store_outbox *store, struct arena *life, struct notify_message *m,
        const struct store_owed *owed, void (*done)(void *arg), void *arg);
