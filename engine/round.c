/* One round for those who start Vigil now and then: the pages of some sentinels are fetched
 * now, each once, and it is over when what came back is compared and committed.
 *
 *  (1) Nobody else's page is fetched, whatever is due, and none twice, however long the round
 *      takes: webpage_want asks `round_wants`.
 *  (2) A page whose server asked us to wait, or that we owe a pause, is not tried before that
 *      is over; the round says so.
 *  (3) Counting who is through takes as long as there are pages, so it is done now and then
 *      and not after everything that happens: one part in COUNTING_SHARE of the time at most.
 */
#include "engine/engine_int.h"
#include <signal.h>

enum { LOOK_MS = 20, COUNTING_SHARE = 50, TELL_MS = 60000 };

static void want_all(struct webpage *p)
{
    list_each (pos, &p->streams)
        webpage_want(p, list_entry(pos, struct stream, of_page));
}

static void invite(struct engine *e, const struct request_plan *plan)
{
    for (size_t i = 0; i < plan->nnamed; i++) {
        struct sentinel *s = directory_find(&e->directory, plan->named[i]);
        for (unsigned k = 0; s && s->life && k < s->life->nplaces; k++)
            if (s->life->places[k].stream)
                s->life->places[k].page->in_round = true;
    }
    map_each (pos, &e->pages_by_id) {
        struct webpage *p = container_of(pos, struct webpage, by_id);
        if (p->in_round)
            want_all(p);
    }
}

static bool is_held_back(const struct webpage *p)
{
    return p->not_before != MSEC_NEVER && p->not_before > engine_wall(p->engine);
}

static bool is_fetched(const struct webpage *p)
{
    return p->last_fetch != MSEC_NEVER && p->last_fetch >= p->engine->round_began;
}

bool round_wants(const struct webpage *p)
{
    return p->in_round && (p->busy || !is_fetched(p)); /* (1) */
}

static bool is_through(const struct webpage *p)
{
    return !p->busy && !p->postponed && (is_fetched(p) || is_held_back(p)); /* (2) */
}

static void count(struct engine *e, struct engine_round *r)
{
    *r = (struct engine_round){0};
    map_each (pos, &e->pages_by_id) {
        const struct webpage *p = container_of(pos, struct webpage, by_id);
        r->pages += p->in_round;
        r->done += p->in_round && is_through(p);
    }
}

static void tell_failures(
        struct engine *e, const struct engine_round_hooks *h, struct engine_round *r)
{
    map_each (pos, &e->pages_by_id) {
        const struct webpage *p = container_of(pos, struct webpage, by_id);
        if (!p->in_round || !p->error)
            continue;
        r->failed++;
        h->failed(p->url, p->error, is_held_back(p) ? p->not_before : MSEC_NEVER, h->arg);
    }
}

struct look {
    struct loop_timer timer;
    bool due;
};

static void look_due(struct loop_timer *t)
{
    container_of(t, struct look, timer)->due = true;
}

static void interrupted(struct loop_signal *s, int signum)
{
    (void)signum;
    container_of(s, struct engine, on_int)->stopping = true;
}

static void run_round(
        struct engine *e, const struct engine_round_hooks *h, struct engine_round *r)
{
    struct look look = {0};
    loop_timer_init(&look.timer, look_due);
    for (;;) {
        msec began = clock_mono(e->clock);
        count(e, r);
        msec counting = clock_mono(e->clock) - began;
        if (h->progress)
            h->progress(r->done, r->pages, h->arg);
        if (r->done == r->pages || e->stopping)
            break;
        /* (3) */
        loop_timer_set(e->loop, &look.timer, LOOK_MS + counting * COUNTING_SHARE);
        for (look.due = false; !look.due && !e->stopping;)
            loop_run_once(e->loop);
    }
    loop_timer_stop(e->loop, &look.timer);
}

int engine_once(struct engine *e, const char *text, struct arena *life,
        const struct engine_round_hooks *h, struct engine_round *ret_round, char **ret_answer)
{
    e->round_began = engine_wall(e);
    struct request_plan *plan;
    int code = requests_run_now(e, "once", text, life, ret_answer, &plan);
    if (code)
        return code;
    signal(SIGPIPE, SIG_IGN);
    loop_signal_init(&e->on_int, interrupted);
    loop_signal_start(e->loop, &e->on_int, SIGINT);
    engine_catch_up(e);
    invite(e, plan);
    engine_settle(e);
    run_round(e, h, ret_round);
    if (!e->stopping)
        outbox_finish(e->outbox, TELL_MS);
    ret_round->interrupted = e->stopping;
    loop_signal_stop(e->loop, &e->on_int);
    tell_failures(e, h, ret_round);
    return 0;
}
