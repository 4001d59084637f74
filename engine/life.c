/* A sentinel's lifespan as events and rules.
 *
 * Start(s) and End(s) are primitive events.  A definition's FROM and TO become rules that
 * raise them: on an absolute instant, on another sentinel's Start or End, or on that PLUS an
 * offset.  What starts or ends says so to the store in the same breath; if we die before it
 * is committed, the start or end is still due after the restart and happens then, with the
 * time it was due.
 *
 *  (1) Start(s) and End(s) are raised at most once each.
 *  (2) A disabled sentinel starts and ends on time, so that chains do not hang on a pause.
 *  (3) On ending it leaves the graph first, then End(s) is raised.
 */
#include "engine/engine_int.h"
#include "base/log.h"
#include "engine/question.h"
#include <stdlib.h>

/* ---- telling the store --------------------------------------------------------------- */

struct transition {
    struct store_plan_job plan;
    struct store_step step[2]; /* the second: it came late */
    struct engine *engine;
    struct arena *arena;
};

static void transition_done(struct store_job *job)
{
    struct transition *t = container_of(job, struct transition, plan.job);
    engine_answered(t->engine);
    if (job->err != OK)
        log_error("sentinel \"%s\": %s was not recorded: %s", t->step[0].name,
                t->step[0].event_kind, job->fault.message);
    else if (t->step[0].ends_at != MSEC_NEVER)
        outbox_look(t->engine->outbox); /* its owner may want to be told before its end */
    arena_free(t->arena);
}

static struct store_step came_late(const struct store_step *step, struct arena *a)
{
    char span[TIME_TEXT_SIZE];
    struct store_step late = *step;
    late.kind = STORE_STEP_EVENT;
    late.event_kind = "overdue";
    late.event_detail = arena_printf(a, "%s: %s late", step->event_kind,
            time_span(step->event_actual_at - step->event_at, span));
    return late;
}

static void record(struct sentinel *s, const char *event_kind, const char *detail, msec nominal)
{
    struct engine *e = s->life->engine;
    struct arena *a = arena_new(NULL, "transition");
    struct transition *t = arena_new_of(a, struct transition);
    t->arena = a;
    t->engine = e;
    t->step[0] = (struct store_step){
            .kind = STORE_STEP_STATE,
            .sentinel_id = s->id,
            .name = arena_strdup(a, s->name),
            .state = sentinel_state(s),
            .starts_at = s->starts_at,
            .ends_at = s->ends_at,
            .started_at = s->started_at,
            .ended_at = s->ended_at,
            .entered_at = s->entered_at,
            .base_version = s->sight.base_version,
            .end_reason = s->phase == PHASE_ENDED && detail ? arena_strdup(a, detail) : NULL,
            .event_kind = event_kind,
            .event_detail = detail ? arena_strdup(a, detail) : NULL,
            .event_at = nominal,
            .event_actual_at = engine_wall(e),
    };
    if (s->life->has_entered)
        places_begin_with(s->life, a, &t->step[0]);
    s->life->has_entered = false;
    t->plan.job.kind = STORE_JOB_PLAN;
    t->plan.job.done = transition_done;
    t->plan.steps = t->step;
    t->plan.nsteps = 1;
    if (event_kind && engine_wall(e) - nominal > OVERDUE_MS)
        t->step[t->plan.nsteps++] = came_late(t->step, a);
    engine_submit(e, &t->plan.job);
}

/* ---- starting and ending ------------------------------------------------------------- */

static void end_now(struct life *l, const char *reason, msec nominal);
static void watch_span(struct life *l);

static void rule_drop(struct engine *e, struct led_rule **rule)
{
    struct led_rule *r = *rule;
    *rule = NULL;
    if (r)
        led_rule_delete(e->led, r);
}

/* As of the instant it was due, so that what follows from it counts from there. */
static void raise(struct engine *e, struct led_event *event, msec nominal)
{
    struct fault f = {0};
    msec now = led_now(e->led), at = nominal - led_wall(e->led) + now;
    if (event && led_raise_at(e->led, event, at < now ? at : now, 0, &f) != OK)
        log_error("a chain of sentinels was cut: %s", f.message);
}

/* A point before another's start or end was turned into an instant when it was checked. */
static bool hangs_on_other(const struct point *p)
{
    return p->kind == GRAMMAR_TIME_START || p->kind == GRAMMAR_TIME_END;
}

static void start_now(struct life *l, msec nominal)
{
    struct sentinel *s = l->sentinel;
    if (s->phase != PHASE_WAITING)
        return; /* (1) */
    rule_drop(l->engine, &l->start_rule);
    s->phase = PHASE_RUNNING;
    s->started_at = nominal;
    if (s->starts_at == MSEC_NEVER)
        s->starts_at = nominal;
    if (s->to.kind == GRAMMAR_TIME_FOR) {
        s->ends_at = nominal + s->to.offset;
        rule_drop(l->engine, &l->end_rule);
        watch_span(l);
    }
    if (s->enabled) /* (2) */
        places_enter(l, /* resume= */ false, nominal);
    /* A clock that was set over the planned instant makes it late, but it was due then. */
    record(s, "start", NULL, hangs_on_other(&s->from) ? nominal : s->starts_at);
    raise(l->engine, l->start, nominal);
}

/* Those that wait for a start that can never come end, too. */
static void end_dependants(struct life *l, msec nominal)
{
    const char *name = l->sentinel->name;
    struct relation *at = NULL;
    struct sentinel *other;
    while ((other = directory_next_dependant(&l->engine->directory, name, &at))) {
        if (other->phase == PHASE_WAITING && other->life &&
                other->from.kind == GRAMMAR_TIME_START &&
                grammar_name_equal(other->from.of, name))
            end_now(other->life, "dependency", nominal);
    }
}

static void end_now(struct life *l, const char *reason, msec nominal)
{
    struct sentinel *s = l->sentinel;
    if (s->phase == PHASE_ENDED)
        return; /* (1) */
    bool never_started = s->phase == PHASE_WAITING;
    rule_drop(l->engine, &l->start_rule);
    rule_drop(l->engine, &l->end_rule);
    places_linger_or_leave(l); /* (3) */
    s->phase = PHASE_ENDED;
    s->ended_at = nominal;
    if (never_started && strcmp(reason, "to-reached") == 0)
        reason = "never-started";
    bool planned = strcmp(reason, "to-reached") == 0 && s->to.kind == GRAMMAR_TIME_AT;
    record(s, "end", reason, planned ? s->ends_at : nominal);
    raise(l->engine, l->end, nominal);
    if (never_started)
        end_dependants(l, nominal);
}

static void start_due(void *arg, const struct led_occurrence *o)
{
    struct life *l = arg;
    start_now(l, engine_wall_of(l->engine, o->end));
}

static void end_due(void *arg, const struct led_occurrence *o)
{
    struct life *l = arg;
    end_now(l, "to-reached", engine_wall_of(l->engine, o->end));
}

/* ---- what it waits for --------------------------------------------------------------- */

static struct led_event *start_event(struct life *l)
{
    if (!l->start)
        l->start = led_primitive(l->engine->led, NULL);
    return l->start;
}

static struct led_event *end_event(struct life *l)
{
    if (!l->end)
        l->end = led_primitive(l->engine->led, NULL);
    return l->end;
}

/* At one instant, ends come before starts, also those that follow from an end. */
enum { START_PRIORITY = 1, END_PRIORITY = 2 };

static struct led_rule *rule_on(
        struct life *l, struct led_event *event, led_action_fn *action, int priority)
{
    struct led_rule_spec spec = {
            .action = action,
            .arg = l,
            .priority = priority,
            .coupling = priority == START_PRIORITY ? LED_SETTLED : LED_IMMEDIATE,
            .context = LED_CHRONICLE,
            .mode = LED_PREVIOUS,
    };
    struct led_rule *rule;
    struct fault f = {0};
    CHECK(led_rule_new(l->engine->led, event, &spec, &f, &rule) == OK);
    led_event_drop(l->engine->led, event);
    return rule;
}

static struct led_rule *rule_at(struct life *l, msec at, led_action_fn *action, int priority)
{
    struct led_event *event;
    struct fault f = {0};
    if (led_absolute(l->engine->led, at, &f, &event) != OK)
        return NULL; /* the instant is over: the caller acts at once */
    return rule_on(l, event, action, priority);
}

static struct led_rule *rule_after(struct life *l, struct led_event *event, msec delay,
        led_action_fn *action, int priority)
{
    struct led_event *plus;
    struct fault f = {0};
    CHECK(led_plus(l->engine->led, event, delay, &f, &plus) == OK);
    return rule_on(l, plus, action, priority);
}

/* The rule for a point that hangs on another sentinel: on its event if that is still ahead,
 * else on the instant that follows from it.  NULL: nothing is left to wait for. */
static struct led_rule *rule_on_point(
        struct life *l, const struct point *point, led_action_fn *action, int priority)
{
    struct engine *e = l->engine;
    struct sentinel *other = directory_find(&e->directory, point->of);
    if (!other || !other->life)
        return NULL;
    bool on_start = point->kind == GRAMMAR_TIME_START;
    struct led_event *event = on_start ? start_event(other->life) : end_event(other->life);
    msec since = on_start ? other->started_at : other->ended_at;

    if (point->offset == 0 && since == MSEC_NEVER) {
        led_event_hold(event);
        return rule_on(l, event, action, priority);
    }
    if (since != MSEC_NEVER)
        return rule_at(l, since + point->offset, action, priority);
    return rule_after(l, event, point->offset, action, priority);
}

static void watch_end(struct life *l)
{
    struct sentinel *s = l->sentinel;
    if (hangs_on_other(&s->to) && directory_find(&l->engine->directory, s->to.of))
        l->end_rule = rule_on_point(l, &s->to, end_due, END_PRIORITY);
    else if (s->ends_at != MSEC_NEVER)
        l->end_rule = rule_at(l, s->ends_at, end_due, END_PRIORITY);
}

/* FOR counts the time that passes from its start, whatever the wall clock is set to. */
static void watch_span(struct life *l)
{
    l->end_rule = rule_after(l, start_event(l), l->sentinel->to.offset, end_due, END_PRIORITY);
}

static void watch_start(struct life *l)
{
    struct sentinel *s = l->sentinel;
    if (hangs_on_other(&s->from))
        l->start_rule = rule_on_point(l, &s->from, start_due, START_PRIORITY);
    else
        l->start_rule = rule_at(l, s->starts_at, start_due, START_PRIORITY);
}

/* ---- from outside -------------------------------------------------------------------- */

void life_prepare(struct engine *e, struct sentinel *s)
{
    struct life *l = calloc(1, sizeof *l);
    CHECK(l);
    l->engine = e;
    l->sentinel = s;
    s->life = l;
    places_take_up(l);
}

void life_resume(struct engine *e, struct sentinel *s)
{
    if (s->phase == PHASE_ENDED)
        return;
    watch_end(s->life);
    if (s->phase == PHASE_WAITING) {
        watch_start(s->life);
    } else if (s->enabled) {
        /* Enabled while no engine ran: it takes its place now. */
        bool resume = s->entered_at != MSEC_NEVER;
        s->life->enabled_alone = !resume;
        places_enter(s->life, resume, engine_wall(e));
        if (!resume)
            record(s, NULL, NULL, engine_wall(e));
    }
}

/* The point is an offset before another's start or end, which has a new instant. */
static bool follow_point(const struct point *p, const struct sentinel *other, msec *at)
{
    if (!p->of || hangs_on_other(p) || p->offset >= 0 ||
            !grammar_name_equal(p->of, other->name))
        return false;
    msec base = p->before_start ? other->starts_at : other->ends_at;
    if (base == MSEC_NEVER || base + p->offset == *at)
        return false;
    *at = base + p->offset;
    return true;
}

void life_follow(struct sentinel *s, const struct sentinel *other)
{
    struct life *l = s->life;
    if (s->phase == PHASE_ENDED)
        return;
    bool ends = follow_point(&s->to, other, &s->ends_at);
    bool starts = s->phase == PHASE_WAITING && follow_point(&s->from, other, &s->starts_at);
    if (ends) {
        rule_drop(l->engine, &l->end_rule);
        watch_end(l);
    }
    if (starts) {
        rule_drop(l->engine, &l->start_rule);
        watch_start(l);
    }
    if (starts || ends)
        record(s, NULL, NULL, engine_wall(l->engine));
    if (starts && s->starts_at <= led_wall(l->engine->led))
        start_now(l, s->starts_at);
    if (ends && s->ends_at <= led_wall(l->engine->led))
        end_now(l, "to-reached", s->ends_at);
}

/* Can the start it waits for still come? */
static bool is_hopeless(const struct engine *e, const struct sentinel *s)
{
    if (s->phase != PHASE_WAITING || s->from.kind != GRAMMAR_TIME_START)
        return false;
    struct sentinel *other = directory_find(&e->directory, s->from.of);
    return !other || (other->phase == PHASE_ENDED && other->started_at == MSEC_NEVER);
}

void life_give_up(struct engine *e, struct sentinel *s)
{
    if (is_hopeless(e, s))
        end_now(s->life, "dependency", engine_wall(e));
}

/* When a point that hangs on another sentinel was or is due, as far as that is known. */
static msec point_due(const struct engine *e, const struct point *p, msec absolute)
{
    if (!hangs_on_other(p))
        return absolute;
    struct sentinel *other = directory_find(&e->directory, p->of);
    if (!other)
        return absolute; /* it was dropped, and what followed from its end was noted then */
    msec since = p->kind == GRAMMAR_TIME_START ? other->started_at : other->ended_at;
    return since == MSEC_NEVER ? MSEC_NEVER : since + p->offset;
}

void life_give_events(
        struct sentinel *s, struct led_event **ret_start, struct led_event **ret_end)
{
    *ret_start = s->life->start;
    *ret_end = s->life->end;
    s->life->start = s->life->end = NULL;
}

static void end_if_due(struct life *l)
{
    struct sentinel *s = l->sentinel;
    msec ends = point_due(l->engine, &s->to, s->ends_at);
    if (ends <= led_wall(l->engine->led))
        end_now(l, "to-reached", ends);
}

/* Waits for its start and its end; what is due already happens at once. */
static void await(struct life *l)
{
    struct sentinel *s = l->sentinel;
    if (s->phase == PHASE_ENDED)
        return;
    msec starts = point_due(l->engine, &s->from, s->starts_at);
    watch_end(l);
    if (starts <= led_wall(l->engine->led))
        start_now(l, starts);
    else
        watch_start(l);
    end_if_due(l);
}

void life_begin(
        struct engine *e, struct sentinel *s, struct led_event *start, struct led_event *end)
{
    life_prepare(e, s);
    s->life->start = start;
    s->life->end = end;
    await(s->life);
}

void life_move(struct sentinel *from, struct sentinel *to)
{
    to->life = from->life;
    to->life->sentinel = to;
    from->life = NULL;
    to->enabled = from->enabled;
    sentinel_go_on(to, from);
}

void life_altered(struct sentinel *s, bool keeps_place)
{
    struct life *l = s->life;
    struct engine *e = l->engine;
    if (!keeps_place) {
        places_leave(l);
        struct places old = {l->places, l->nplaces};
        places_take_up(l);
        places_give_up(old);
    }
    rule_drop(e, &l->start_rule);
    rule_drop(e, &l->end_rule);
    if (s->phase == PHASE_RUNNING) {
        watch_end(l);
        if (!keeps_place && s->enabled) {
            places_enter(l, /* resume= */ false, engine_wall(e));
            record(s, NULL, NULL, engine_wall(e));
        }
        end_if_due(l);
    } else {
        await(l);
    }
}

msec life_due(const struct engine *e, const struct sentinel *s)
{
    if (s->phase == PHASE_ENDED)
        return MSEC_NEVER;
    msec end = point_due(e, &s->to, s->ends_at);
    msec start = s->phase == PHASE_WAITING ? point_due(e, &s->from, s->starts_at) : MSEC_NEVER;
    return start < end ? start : end;
}

void life_set_enabled(struct sentinel *s, bool enabled)
{
    if (s->enabled == enabled)
        return;
    s->enabled = enabled;
    if (s->phase != PHASE_RUNNING)
        return;
    if (enabled) {
        places_enter(s->life, /* resume= */ false, engine_wall(s->life->engine));
        record(s, NULL, NULL, engine_wall(s->life->engine)); /* base and phase it now has */
    } else {
        places_leave(s->life);
    }
}

void life_stop(struct sentinel *s, const char *reason)
{
    struct life *l = s->life;
    if (s->phase == PHASE_ENDED)
        return;
    bool never_started = s->phase == PHASE_WAITING;
    msec now = engine_wall(l->engine);
    rule_drop(l->engine, &l->start_rule);
    rule_drop(l->engine, &l->end_rule);
    places_leave(l);
    s->phase = PHASE_ENDED;
    s->ended_at = now;
    if (!reason || strcmp(reason, "dependency") != 0)
        raise(l->engine, l->end, now);
    if (never_started)
        end_dependants(l, now);
}

void life_leave(struct sentinel *s)
{
    struct life *l = s->life;
    if (!l)
        return;
    rule_drop(l->engine, &l->start_rule);
    rule_drop(l->engine, &l->end_rule);
    places_leave(l);
    led_event_drop(l->engine->led, l->start);
    led_event_drop(l->engine->led, l->end);
    s->life = NULL;
    struct places old = {l->places, l->nplaces};
    free(l);
    places_give_up(old);
}
