/* A fetch's beginning and end.
 *
 * It lives in the caller's arena and goes with it; transfers still on their way then are
 * cancelled.  The loop must outlive it.
 */
#include "fetch/fetch_int.h"
#include <signal.h>

static void fetch_release(void *arg)
{
    struct fetch *fe = TAGGED(struct fetch, arg, FETCH_TAG);
    CHECK(list_is_empty(&fe->running)); /* transfers live in arenas below ours, gone by now */
    fetch_handles_close(fe);
    fetch_multi_close(fe);
    fetch_deadlines_close(fe);
    loop_timer_stop(fe->loop, &fe->pump_timer);
    curl_slist_free_all(fe->resolve);
    while (fe->nspare > 0)
        buf_done(&fe->spare[--fe->nspare]);
    fetch_queue_close(fe);
    fetch_sites_close(fe);
    curl_global_cleanup();
}

static void pump_expired(struct loop_timer *timer)
{
    fetch_pump(container_of(timer, struct fetch, pump_timer));
}

enum err fetch_new(struct arena *life, struct loop *loop, const struct fetch_options *o,
        struct fault *f, struct fetch **ret_fetch)
{
    struct fetch *fe = arena_new_of(life, struct fetch);
    fe->tag = FETCH_TAG;
    fe->life = life;
    fe->loop = loop;
    enum err e = fetch_options_fill(fe, o, f);
    if (e != OK)
        return e;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return fault_set(f, ERR_NET, "libcurl cannot be started");
    signal(SIGPIPE, SIG_IGN); /* libcurl without signals leaves this one to its user */

    list_init(&fe->doomed);
    list_init(&fe->running);
    list_init(&fe->render_waiting);
    loop_timer_init(&fe->pump_timer, pump_expired);
    fetch_queue_open(fe);
    fetch_sites_open(fe);
    fetch_deadlines_open(fe);
    fetch_multi_open(fe);
    fetch_handles_open(fe);
    arena_defer(life, fetch_release, fe);
    *ret_fetch = fe;
    return OK;
}

void fetch_stats_get(const struct fetch *fe, struct fetch_stats *ret_stats)
{
    *ret_stats = fe->stats;
}
