/* outbox_int -- what outbox.c (the statements) and outbox_thread.c (the thread) share. */
#pragma once
#include "store/outbox.h"
#include "store/store_int.h"

/* A job in the transaction that is open. */
MUST_USE enum err outbox_apply(struct conn *c, struct store_job *job, const char *session,
        struct arena *scratch, struct fault *f);

/* What is done once, when an engine starts. */
MUST_USE enum err outbox_prepare(struct conn *c, const struct store_outbox_options *o,
        struct arena *scratch, struct fault *f);
