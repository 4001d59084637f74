/* site -- a small living web site to watch, for `vigil demo`, tests and measurements.
 *
 * Five pages of a small town that change every few seconds (web/pages.h), and as many living
 * pages, /living/1.html and on, as were asked for (web/living.h).  By itself, what a page
 * says is a function of the clock's wall time alone (but for a first turn that is asked for),
 * so it goes on where it was after a restart, and a test can ask for any moment.  Whoever wants
 * to decide what becomes of the living pages gives a host of its own.
 *
 * Its own thread, libmicrohttpd's, answers; start and stop are for one thread.
 */
#pragma once
#include "base/arena.h"
#include "base/fault.h"
#include "base/time.h"
#include "web/living.h"

struct web_site;

/* How a page fails instead of being shown. */
enum web_failure {
    WEB_WELL,
    WEB_500,  /* an internal error, with a page that says so */
    WEB_503,  /* overloaded */
    WEB_404,  /* not there */
    WEB_CUT,  /* the body ends half-way, though its length was promised */
    WEB_DROP, /* the connection is closed without a word */
    WEB_FAILURES
};
const char *web_failure_name(enum web_failure failure); /* "500"; NULL beyond the last */

/* Decides about living pages and hears of every answer; called from the site's thread. */
struct web_host {
    /* The state page->number is in now; `changed_at` only matters where pages have dates. */
    enum web_failure (*state)(struct web_living *page, msec *ret_changed_at, void *arg);
    /* What was answered: 200, 304, 500 …; 0 when the connection was dropped or cut. */
    void (*answered)(const struct web_living *page, unsigned status, size_t bytes, void *arg);
    void *arg;
};

struct web_site_options {
    const struct clock *clock;   /* read from the site's thread */
    unsigned port;               /* 0: any that is free */
    uint32_t living;             /* how many living pages there are */
    const struct web_host *host; /* NULL: living pages change with the clock */
    /* Without a host: a living page's next turn comes about this soon after it was first looked
     * at, once, so that who has just started sees something.  0: when the clock says. */
    msec first_turn;
};

/* Listens on 127.0.0.1.  Goes with the arena, unless stopped before. */
MUST_USE enum err web_site_start(struct arena *life, const struct web_site_options *o,
        struct fault *f, struct web_site **ret_site);
const char *web_site_url(const struct web_site *s); /* "http://127.0.0.1:40123", no slash */
void web_site_stop(struct web_site *s);             /* twice is fine */
