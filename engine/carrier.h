/* carrier -- how notify's bytes leave the process: HTTP and SMTP through fetch, a program by
 * spawning it, a channel through the store. */
#pragma once
#include "base/loop.h"
#include "engine/settings.h"
#include "notify/notify.h"
#include "store/outbox.h"

struct carrier;

/* `outbox` may be NULL: then nothing can be published. */
MUST_USE enum err carrier_new(struct arena *life, struct loop *loop, const struct clock *clock,
        const struct settings *s, struct fault *f, struct carrier **ret_carrier);
void carrier_use(struct carrier *c, struct store_outbox *outbox);
struct notify_carrier carrier_hooks(struct carrier *c);
/* Whatever is under way is given up, unanswered. */
void carrier_free(struct carrier *c);
