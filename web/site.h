/* site -- a small living web site to watch: what `vigil demo` shows its sentinels.
 *
 * Five pages on a loopback port that change by themselves every few seconds.  What a page
 * says is a function of the clock's wall time alone, so it goes on where it was after a
 * restart, and a test can ask for any moment.
 *
 * Its own thread, libmicrohttpd's, answers; start and stop are for one thread.
 */
#pragma once
#include "base/arena.h"
#include "base/fault.h"
#include "base/time.h"

struct web_site;

/* Listens on 127.0.0.1, on any free port when `port` is 0.  Goes with the arena, unless
 * stopped before.  The clock is read from the site's thread. */
MUST_USE enum err web_site_start(struct arena *life, const struct clock *clock, unsigned port,
        struct fault *f, struct web_site **ret_site);
const char *web_site_url(const struct web_site *s); /* "http://127.0.0.1:40123", no slash */
void web_site_stop(struct web_site *s);             /* twice is fine */
