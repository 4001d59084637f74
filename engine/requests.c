/* Carrying out what SQL or a command asks of a running engine.
 *
 * The plan is made at once, from what the engine knows; the store commits it together with
 * the answer; then it is done here.  Requests are taken one after the other, so that each is
 * judged by what the one before it did.
 */
#include "engine/engine_int.h"
#include "base/log.h"

struct carried {
    struct list link;
    struct store_plan_job job;
    struct arena *arena;
    struct engine *engine;
    int64_t request_id;
    char *verb, *text, *owner;
    bool only_own;
    struct request_plan *plan;
};

static void know_ids(struct sentinel *made, const struct store_step *step)
{
    made->id = step->ret_id;
    made->page_id = step->ret_page_id;
    for (unsigned i = 0; made->further && i < made->further->count; i++)
        made->further->all[i].page_id = step->ret_more_ids[i];
}

static void adopt(struct engine *e, struct sentinel *made, const struct store_step *step,
        struct led_event *start, struct led_event *end)
{
    know_ids(made, step);
    directory_insert(&e->directory, made);
    life_begin(e, made, start, end);
}

static void forget(struct engine *e, struct sentinel *s)
{
    life_leave(s);
    directory_remove(&e->directory, s);
}

/* Those that begin or end a fixed time before it. */
static void follow_all(struct engine *e, struct sentinel *made)
{
    struct relation *at = NULL;
    struct sentinel *other;
    while ((other = directory_next_dependant(&e->directory, made->name, &at)))
        life_follow(other, made);
}

static void alter(struct engine *e, struct sentinel *known, struct sentinel *made,
        const struct store_step *step)
{
    bool keeps_place = sentinel_asks_the_same(made, known);
    /* The same request may have enabled, disabled or stopped it after altering it. */
    bool enabled = made->enabled, ended = made->phase == PHASE_ENDED;
    know_ids(made, step);
    life_move(known, made);
    directory_remove(&e->directory, known);
    directory_insert(&e->directory, made);
    life_altered(made, keeps_place);
    follow_all(e, made);
    life_set_enabled(made, enabled);
    if (ended)
        life_stop(made, "stopped");
}

/* What was known under the name makes room.  Whoever waits for it hangs on its events, which
 * the new one takes over; a page that stays must not be forgotten in between. */
static void replace(struct engine *e, struct sentinel *known, struct sentinel *made,
        const struct store_step *step)
{
    struct led_event *start, *end;
    struct places held = places_hold(known->life);
    life_give_events(known, &start, &end);
    forget(e, known);
    adopt(e, made, step, start, end);
    places_give_up(held);
}

static void install(struct engine *e, struct request_subject *s, const struct store_step *step)
{
    struct sentinel *made = s->made;
    s->made = NULL;
    if (s->alters) {
        alter(e, s->known, made, step);
        return;
    }
    if (s->known)
        replace(e, s->known, made, step);
    else
        adopt(e, made, step, NULL, NULL);
    follow_all(e, made);
}

static void carry_out_steps(struct engine *e, struct request_plan *plan)
{
    for (size_t i = 0; i < plan->nsteps; i++) {
        struct request_subject *s = &plan->subjects[i];
        struct store_step *step = &plan->steps[i];
        switch (step->kind) {
        case STORE_STEP_CREATE:
        case STORE_STEP_REPLACE:
            install(e, s, step);
            break;
        case STORE_STEP_STATE:
            if (s->note_end)
                s->known->ends_at = step->ends_at;
            else if (s->stop)
                life_stop(s->known, step->end_reason);
            else
                life_set_enabled(s->known, s->enable);
            break;
        case STORE_STEP_DROP:
            life_stop(s->known, "stopped"); /* its end is heard before it is gone */
            forget(e, s->known);
            break;
        case STORE_STEP_EVENT:
        case STORE_STEP_HOST:
        case STORE_STEP_POINTS:
        case STORE_STEP_OVERDUE:
            break;
        }
    }
}

/* Pages that were left are there again before anybody takes them up, and stay until the plan
 * is carried out: it may leave one and come back. */
static void carry_out(
        struct engine *e, struct request_plan *plan, const struct store_taken_up *taken_up)
{
    for (const struct store_taken_up *t = taken_up; t; t = t->next) {
        struct webpage *p = webpage_find(e, t->page.id);
        if (!p) {
            p = webpage_load(e, &t->page);
            p->is_back = true;
        }
        p->lives++;
    }
    carry_out_steps(e, plan);
    for (const struct store_taken_up *t = taken_up; t; t = t->next) {
        struct webpage *p = webpage_find(e, t->page.id);
        if (p->is_back)
            webpage_resume(p);
        p->is_back = false;
        p->lives--;
        webpage_free_if_unused(p);
    }
}

static void begin_next(struct engine *e);

static void carried_done(struct store_job *job)
{
    struct carried *c = container_of(job, struct carried, job.job);
    struct engine *e = c->engine;
    engine_answered(e);
    engine_catch_up(e);
    if (job->err == OK) {
        carry_out(e, c->plan, c->job.ret_taken_up);
        outbox_look(e->outbox); /* ends may have moved */
    } else
        log_error(
                "request %lld (%s): %s", (long long)c->request_id, c->verb, job->fault.message);
    request_plan_abandon(c->plan);
    list_remove(&c->link);
    arena_free(c->arena);
    begin_next(e);
    engine_settle(e);
}

static void begin_next(struct engine *e)
{
    struct list *first = list_first(&e->requests);
    if (!first)
        return;
    struct carried *c = list_entry(first, struct carried, link);
    struct request_context context = {
            .directory = &e->directory,
            .settings = e->settings,
            .now = engine_wall(e),
            .owner = c->owner,
            .only_own = c->only_own,
    };
    c->plan = request_plan_make(c->arena, &context, c->verb, c->text);
    c->job.job.kind = STORE_JOB_PLAN;
    c->job.job.done = carried_done;
    c->job.steps = c->plan->steps;
    c->job.nsteps = c->plan->nsteps;
    c->job.request_id = c->request_id;
    c->job.exit_code = c->plan->exit_code;
    c->job.answer = c->plan->answer;
    c->job.life = c->arena;
    engine_submit(e, &c->job.job);
}

void requests_take(struct engine *e, const struct store_request *r)
{
    struct arena *a = arena_new(NULL, "request");
    struct carried *c = arena_new_of(a, struct carried);
    c->arena = a;
    c->engine = e;
    c->request_id = r->id;
    c->verb = arena_strdup(a, r->verb);
    c->text = arena_strdup(a, r->text ? r->text : "");
    c->owner = arena_strdup(a, r->owner ? r->owner : "");
    c->only_own = r->only_own;
    bool idle = list_is_empty(&e->requests);
    list_append(&e->requests, &c->link);
    if (idle)
        begin_next(e);
}

int requests_run_now(struct engine *e, const char *verb, const char *text, struct arena *life,
        char **answer, struct request_plan **ret_plan)
{
    struct request_context context = {
            .directory = &e->directory,
            .settings = e->settings,
            .now = engine_wall(e),
            .owner = e->options.owner,
    };
    struct request_plan *plan = *ret_plan = request_plan_make(life, &context, verb, text);
    struct store_plan_job job = {.job.kind = STORE_JOB_PLAN,
            .steps = plan->steps,
            .nsteps = plan->nsteps,
            .life = life};
    struct fault f = {0};
    *answer = plan->answer;
    if (plan->exit_code)
        return plan->exit_code;
    if (plan->nsteps && store_run(e->store, &job.job, &f) != OK) {
        request_plan_abandon(plan);
        *answer = arena_printf(life, "error: %s\n%s\n", f.message, f.hint);
        return 2;
    }
    engine_catch_up(e);
    carry_out(e, plan, job.ret_taken_up);
    engine_settle(e);
    return 0;
}
