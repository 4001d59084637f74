/* Overdue is never silent.
 *
 * When something could be overdue every page is looked at: a fetch that should have happened
 * two intervals ago (or a minute, whichever is more) and has not is written down, once, as an
 * event of each sentinel that waits for it and in the page's row.  The next fetch, good or bad,
 * ends it.
 *
 *  (1) A page that fails says so itself, and its next try is planned: it is not overdue.
 *  (2) While the database is away nothing can be written; what is overdue then is noticed
 *      when it is back, with the instant since when.
 */
#include "engine/engine_int.h"
#include "base/log.h"

enum { LOOK_AT_MOST_EVERY = 10 * MSEC_PER_SECOND };

static msec patience(const struct stream *s)
{
    return 2 * s->interval > OVERDUE_MS ? 2 * s->interval : OVERDUE_MS;
}

/* When the fetch that is due was due, on the detector's line; MSEC_NEVER: none is due. */
static msec due_of(const struct stream *s)
{
    return s->waiting ? s->wanted : stream_next_tick(s);
}

static msec overdue_since(const struct webpage *p)
{
    msec now = led_now(p->engine->led);
    list_each (pos, (struct list *)&p->streams) {
        const struct stream *s = list_entry(pos, struct stream, of_page);
        if (now - due_of(s) > patience(s))
            return due_of(s);
    }
    return MSEC_NEVER;
}

struct notice {
    struct store_plan_job plan;
    struct engine *engine;
    struct arena *arena;
};

static void noted(struct store_job *job)
{
    struct notice *n = container_of(job, struct notice, plan.job);
    if (job->err != OK && job->err != ERR_NAME) /* a sentinel may be dropped meanwhile */
        log_error("an overdue fetch was not recorded: %s", job->fault.message);
    engine_answered(n->engine);
    arena_free(n->arena);
}

static const char *reason(const struct webpage *p)
{
    return p->postponed  ? "the database was away or behind"
           : p->transfer ? "the fetch takes long, or waits for its turn at the host"
           : p->busy     ? "the version before it is still being looked at"
                         : "the engine was held up";
}

static void note(struct webpage *p, msec since)
{
    struct engine *e = p->engine;
    struct arena *a = arena_new(NULL, "overdue");
    struct notice *n = arena_new_of(a, struct notice);
    size_t most = 1;
    list_each (pos, &p->streams)
        list_each (m, &list_entry(pos, struct stream, of_page)->members)
            most++;
    n->arena = a;
    n->engine = e;
    n->plan.job.kind = STORE_JOB_PLAN;
    n->plan.job.done = noted;
    n->plan.steps = arena_array_of(a, most, struct store_step);
    n->plan.steps[n->plan.nsteps++] = (struct store_step){
            .kind = STORE_STEP_OVERDUE, .page_id = p->id, .event_at = engine_wall_of(e, since)};
    list_each (pos, &p->streams) {
        list_each (m, &list_entry(pos, struct stream, of_page)->members) {
            const struct sentinel *s = list_entry(m, struct place, in_stream)->life->sentinel;
            n->plan.steps[n->plan.nsteps++] = (struct store_step){
                    .kind = STORE_STEP_EVENT,
                    .sentinel_id = s->id,
                    .name = arena_strdup(a, s->name),
                    .event_kind = "overdue",
                    .event_detail = arena_printf(a, "fetch: %s", reason(p)),
                    .event_at = engine_wall_of(e, since),
                    .event_actual_at = engine_wall(e),
            };
        }
    }
    engine_submit(e, &n->plan.job);
    char at[TIME_TEXT_SIZE];
    log_warn("%s: a fetch is overdue since %s: %s", p->url,
            time_iso(engine_wall_of(e, since), at), reason(p));
}

static void look_at(struct webpage *p)
{
    msec since = p->failures ? MSEC_NEVER : overdue_since(p); /* (1) */
    if (since == MSEC_NEVER) {
        p->overdue = false;
    } else if (!p->overdue && p->engine->available) { /* (2) */
        p->overdue = true;
        note(p, since);
    }
}

static void look_now(struct loop_timer *t)
{
    struct engine *e = container_of(t, struct engine, overdue_timer);
    engine_catch_up(e);
    overdue_look(e);
    engine_settle(e);
}

void overdue_look(struct engine *e)
{
    e->overdue_look = MSEC_NEVER;
    map_each (n, &e->pages_by_id) {
        struct webpage *p = container_of(n, struct webpage, by_id);
        look_at(p);
        list_each (pos, &p->streams)
            overdue_expect(list_entry(pos, struct stream, of_page));
    }
}

void overdue_expect(const struct stream *s)
{
    struct engine *e = s->page->engine;
    msec now = led_now(e->led), at = due_of(s) + patience(s) + 1;
    if (at < now + LOOK_AT_MOST_EVERY)
        at = now + LOOK_AT_MOST_EVERY;
    if (e->overdue_look != MSEC_NEVER && e->overdue_look <= at)
        return;
    e->overdue_look = at;
    loop_timer_set(e->loop, &e->overdue_timer, at - now);
}

void overdue_start(struct engine *e)
{
    e->overdue_look = MSEC_NEVER;
    loop_timer_init(&e->overdue_timer, look_now);
}

void overdue_stop(struct engine *e)
{
    loop_timer_stop(e->loop, &e->overdue_timer);
}
