#include "tests/engine/outbox_world.h"

/* ---- the outside ---- */

struct sent sents[SENT_MAX];
size_t nsents;

static struct { /* how receivers answer; accepted when nothing is said */
    const char *target;
    enum notify_outcome outcome;
    msec retry_after;
    int times; /* so many; -1: always */
} rules[8];

static struct waiting {
    notify_done_fn *done;
    void *arg;
    struct notify_result result;
} waiting[512];
static struct waiting hung[64];
size_t nwaiting, nhung;
const char *hanging;
bool silent;
struct world w;

static void answer_all(struct loop_timer *t)
{
    (void)t;
    size_t n = silent ? 0 : nwaiting;
    struct waiting now[512];
    memcpy(now, waiting, n * sizeof *now);
    nwaiting -= n;
    for (size_t i = 0; i < n; i++)
        now[i].done(&now[i].result, now[i].arg);
}

void time_out(void)
{
    size_t n = nhung;
    struct waiting now[countof(hung)];
    memcpy(now, hung, n * sizeof *now);
    nhung = 0;
    for (size_t i = 0; i < n; i++)
        now[i].done(&now[i].result, now[i].arg);
}

/* In the place of the one in notify/deliver.c. */
void notify_deliver(
        struct notify *n, const struct notify_message *m, notify_done_fn *done, void *arg)
{
    (void)n;
    CHECK(nsents < SENT_MAX && nwaiting < countof(waiting));
    struct sent *s = &sents[nsents++];
    *s = (struct sent){.at = m->now, .nitems = m->nitems};
    snprintf(s->key, sizeof s->key, "%s", m->key);
    snprintf(s->target, sizeof s->target, "%s", m->target);
    snprintf(s->owner, sizeof s->owner, "%s", m->owner);
    for (size_t i = 0; i < m->nitems; i++) {
        size_t len = strlen(s->items);
        snprintf(s->items + len, sizeof s->items - len, "%s%s:%s", i ? " " : "",
                m->items[i].sentinel, notify_kind_name(m->items[i].kind));
    }
    if (hanging && strncmp(m->target, hanging, strlen(hanging)) == 0) {
        CHECK(nhung < countof(hung));
        hung[nhung++] = (struct waiting){.done = done,
                .arg = arg,
                .result = {.outcome = NOTIFY_LATER, .reason = "timed out", .is_away = true}};
        return;
    }
    struct waiting *a = &waiting[nwaiting++];
    *a = (struct waiting){.done = done, .arg = arg, .result.outcome = NOTIFY_ACCEPTED};
    for (size_t i = 0; i < countof(rules); i++)
        if (rules[i].target && rules[i].times && strcmp(rules[i].target, m->target) == 0) {
            rules[i].times -= rules[i].times > 0;
            a->result = (struct notify_result){.outcome = rules[i].outcome,
                    .reason = rules[i].outcome == NOTIFY_ACCEPTED ? NULL : "the test says no",
                    .retry_after = rules[i].retry_after};
            break;
        }
    loop_timer_set(w.x.loop, &w.answers, 0);
}

void forget(void)
{
    nsents = 0;
    memset(rules, 0, sizeof rules);
}

void rule(int i, const char *target, enum notify_outcome outcome, msec retry, int times)
{
    rules[i].target = target;
    rules[i].outcome = outcome;
    rules[i].retry_after = retry;
    rules[i].times = times;
}

/* ---- the inside ---- */

void start_outbox(void)
{
    struct outbox_options o = {.loop = w.x.loop,
            .store = w.x.store,
            .pool = w.pool,
            .clock = &w.x.clock.clock,
            .settings = &w.settings};
    struct fault f = {0};
    if (outbox_start(w.life, &o, &f, &w.outbox) != OK)
        test_fail(__FILE__, __LINE__, "%s", f.message);
}

void open_world(void)
{
    if (w.open)
        return;
    w.open = true;
    fixture_init(&w.x);
    w.life = arena_new(NULL, "world");
    settings_init(&w.settings, w.life);
    CHECK(settings_set_pair(&w.settings, "notify.smtp=smtp://127.0.0.1:1", NULL) == OK);
    CHECK(settings_set_pair(&w.settings, "notify.from=v@example.org", NULL) == OK);
    CHECK(settings_set_pair(&w.settings, "notify.gather=0s", NULL) == OK);
    CHECK(fixture_open(&w.x, STORE_ENGINE) == OK);
    w.x.loop = loop_new();
    w.pool = pool_new(1, "test");
    loop_timer_init(&w.answers, answer_all);
    start_outbox();
}

void set(const char *pair)
{
    struct fault f = {0};
    outbox_stop(w.outbox, silent ? 0 : 3000);
    outbox_free(w.outbox);
    if (settings_set_pair(&w.settings, pair, &f) != OK)
        test_fail(__FILE__, __LINE__, "%s", f.message);
    start_outbox();
}

static void nothing(struct loop_timer *t)
{
    (void)t;
}

/* Until nothing is under way any more. */
void settle(void)
{
    struct loop_timer tick;
    struct outbox_stats s;
    msec until = clock_mono(&clock_system) + 30000;
    loop_timer_init(&tick, nothing);
    outbox_look(w.outbox);
    do {
        loop_timer_set(w.x.loop, &tick, 5);
        loop_run_once(w.x.loop);
        outbox_stats_get(w.outbox, &s);
    } while (s.busy && !(silent && nwaiting) && !(nhung && !s.asking && s.flying == nhung) &&
             clock_mono(&clock_system) < until);
    loop_timer_stop(w.x.loop, &tick);
}

void go_to(msec at)
{
    if (at < w.x.clock.wall)
        test_fail(__FILE__, __LINE__, "time does not go back");
    w.x.clock.mono += at - w.x.clock.wall;
    w.x.clock.wall = at;
    settle();
}

/* From wake-up to wake-up, so that nothing due in between is late. */
void pass(msec span, msec step)
{
    msec end = w.x.clock.wall + span;
    while (w.x.clock.wall < end)
        go_to(w.x.clock.wall + step < end ? w.x.clock.wall + step : end);
}

struct watched watch(
        const char *name, const char *target, msec every, bool combined, unsigned priority)
{
    struct store_tell tell = {.method = "webhook", .target = target, .combined = combined};
    struct store_step step = step_create(name, arena_printf(w.life, "http://%s/", name));
    step.starts_at = step.started_at = w.x.clock.wall;
    step.tells = &tell;
    step.ntells = 1;
    step.tell_every = every;
    step.priority = priority;
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN, .steps = &step, .nsteps = 1};
    if (store_run(w.x.store, &plan.job, &w.x.fault) != OK)
        test_fail(__FILE__, __LINE__, "%s: %s", name, w.x.fault.message);
    struct watched s = {step.ret_id, step.ret_page_id, 1, name};
    return s;
}

/* A change is found now, for a tick that was due at `tick`. */
void change_for(struct watched *s, msec tick)
{
    struct version_fixture v;
    version_init(&v, s->page, s->id, ++s->versions);
    v.job.fetched_at = v.job.fetch.last_fetch_at = w.x.clock.wall;
    v.change.tick = tick;
    if (store_run(w.x.store, &v.job.job, &w.x.fault) != OK)
        test_fail(__FILE__, __LINE__, "%s: %s", s->name, w.x.fault.message);
}

void change(struct watched *s)
{
    change_for(s, w.x.clock.wall);
    settle();
}

const char *states(const char *name)
{
    return sql(&w.x, arena_printf(w.life,
                             "SELECT string_agg(state || ' ' || attempts, ', ' ORDER BY id) "
                             "FROM vigil.notifications WHERE sentinel = '%s'",
                             name));
}

void close_world(void)
{
    outbox_stop(w.outbox, silent ? 0 : 3000);
    outbox_free(w.outbox);
    loop_timer_stop(w.x.loop, &w.answers);
    pool_free(w.pool);
    EXPECT_INT(sql_int(&w.x, "SELECT count(*) FROM vigil_kb.lane WHERE claimed_by IS NOT NULL"),
            0);
    fixture_done(&w.x);
    arena_free(w.life);
}
