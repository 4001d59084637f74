/* The world: starting, stopping and disturbing the engine, and letting time pass.
 *
 *  (1) Time never passes while the engine has something to do at this instant.
 *  (2) What a page or a receiver becomes at an instant is met by whoever comes at that instant.
 *  (3) The clock stops where something is due, and nowhere else: the engine's glances every
 *      few seconds are left out where they can find nothing.  The wall clock is only set by us,
 *      and the engine is made to look when we do; and nothing is overdue while nothing waits.
 */
#include "tests/sim/sim.h"
#include "engine/reading.h"
#include "engine/engine_int.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE_S = 30,                 /* real time in which an instant must be over */
    GLANCE_MS = 10 * MSEC_PER_SECOND /* how often the engine looks for what is overdue */
};

static msec wall_now(const struct clock *c)
{
    return container_of(c, struct world, clock)->wall;
}

static msec mono_now(const struct clock *c)
{
    return container_of(c, struct world, clock)->mono;
}

void world_init(struct world *w, struct arena *life)
{
    *w = (struct world){
            .clock = {.wall = wall_now, .mono = mono_now},
            .mono = 1000 * MSEC_PER_HOUR, /* the machine has been up for a while */
            .life = life,
    };
    CHECK(time_parse_iso("2026-11-16T12:00:00Z", &w->began)); /* a Monday */
    w->wall = w->began;
    settings_init(&w->settings, life);
    w->glance = MSEC_NEVER;
    /* Scenarios say when pages are fetched to the second. */
    CHECK(settings_set(&w->settings, "fetch.jitter", "0", "scenario", NULL) == OK);
    list_init(&w->pages);
    list_init(&w->coming);
    list_init(&w->fetches);
    list_init(&w->receivers);
    list_init(&w->parcels);
}

static bool broken(struct world *w, const char *what, const struct fault *f)
{
    if (!w->is_broken)
        fault_set(&w->fault, ERR_STORE, "%s%s%s", what, f ? ": " : "", f ? f->message : "");
    w->is_broken = true;
    return false;
}

/* ---- pages ---------------------------------------------------------------------------- */

void world_put_page(struct world *w, struct sim_page *page)
{
    struct sim_page *old = network_page(&w->pages, page->path);
    if (old)
        list_remove(&old->link);
    list_append(&w->pages, &page->link);
}

static void things_become(struct world *w)
{
    list_each (pos, &w->coming) {
        struct sim_coming *c = list_entry(pos, struct sim_coming, link);
        if (c->at > w->elapsed)
            continue;
        list_remove(pos);
        if (c->page)
            world_put_page(w, c->page);
        else
            world_put_receiver(w, c->receiver);
    }
}

static void pass(struct world *w, msec span)
{
    w->elapsed += span;
    w->mono += span;
    w->wall += span;
    things_become(w); /* (2) */
}

/* ---- nothing left to do at this instant ------------------------------------------------- */

/* Not everything that ends says so to the loop: a thread of the pool is busy a little longer
 * than its result, and nobody hears of a commit that waits for a lock.  So we look again. */
enum { LOOK_MS = 2, LOOKS_MAX = PATIENCE_S * 1000 / LOOK_MS };

struct pulse {
    struct loop_io io;
    int fd;
    unsigned beats;
};

static void beat(struct loop_io *io, int events)
{
    (void)events;
    struct pulse *p = container_of(io, struct pulse, io);
    uint64_t times;
    if (read(p->fd, &times, sizeof times) > 0)
        p->beats++;
}

static void pulse_begin(struct world *w, struct pulse *p)
{
    struct timespec span = {0, LOOK_MS * 1000000};
    struct itimerspec in = {.it_value = span, .it_interval = span};
    p->beats = 0;
    p->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    CHECK(p->fd >= 0 && timerfd_settime(p->fd, 0, &in, NULL) == 0);
    loop_io_init(&p->io, beat);
    loop_io_set(w->loop, &p->io, p->fd, LOOP_READ);
}

static void pulse_end(struct world *w, struct pulse *p)
{
    loop_io_stop(w->loop, &p->io);
    close(p->fd);
}

static bool nobody_computes(struct engine *e)
{
    struct pool_stats pool;
    struct readers_stats readers;
    pool_stats_get(e->pool, &pool);
    readers_stats_get(e->readers, &readers);
    return pool.busy == 0 && pool.queued == 0 && readers.busy == 0 && readers.queued == 0;
}

/* What is left waits for the database, if for anything. */
static bool is_computed(struct world *w)
{
    struct engine *e = w->engine;
    return loop_next_timer(w->loop) > w->mono && nobody_computes(e) &&
           inbox_count(&e->compared) == 0;
}

/* Whatever is told is on its way, and a receiver takes its time. */
static bool nobody_tells(struct world *w)
{
    struct outbox_stats telling;
    outbox_stats_get(w->engine->outbox, &telling);
    return !telling.asking && telling.lanes == w->flying;
}

static bool is_quiet(struct world *w)
{
    struct engine *e = w->engine;
    if (!is_computed(w))
        return false;
    if (!e->available)
        return true; /* what waits for the database waits */
    return list_is_empty(&e->requests) && store_writer_pending(e->writer) == 0 &&
           e->visits == 0 && nobody_tells(w);
}

/* Runs the loop until it holds; real time is only a guard against waiting for ever. */
static bool run_until(struct world *w, bool (*holds)(struct world *), const char *what)
{
    if (!w->engine || holds(w))
        return true;
    struct pulse pulse;
    pulse_begin(w, &pulse);
    bool held = false;
    while (pulse.beats < LOOKS_MAX && !(held = holds(w)))
        loop_run_once(w->loop);
    pulse_end(w, &pulse);
    return held ? true : broken(w, what, NULL);
}

/* The engine hears by NOTIFY that something is owed, which takes its own time: we look. */
static bool settle(struct world *w)
{
    static const char restless[] = "the engine does not come to rest";
    if (!run_until(w, is_quiet, restless))
        return false;
    if (!w->tells || !w->engine || !w->engine->available)
        return true;
    outbox_look(w->engine->outbox);
    return run_until(w, is_quiet, restless);
}

/* ---- starting and stopping --------------------------------------------------------------- */

static void nap(void)
{
    struct timespec ms = {0, 1000000};
    nanosleep(&ms, NULL);
}

static bool open_store(struct world *w, enum store_role role, struct store **ret)
{
    struct fault f = {0};
    struct store_options o = {
            .db = w->db.conninfo,
            .role = role,
            .who = "sim",
            .quiet = true,
            .clock = &w->clock,
    };
    /* The session of an engine that was here a moment ago may still be on its way out. */
    for (int tries = 0; tries < 5000; tries++, nap()) {
        enum err e = store_open(w->life, &o, &f, ret);
        if (!e)
            return true;
        if (e != ERR_BUSY)
            break;
    }
    return broken(w, "the store does not open", &f);
}

bool world_start(struct world *w)
{
    struct fault f = {0};
    if (w->engine)
        return true;
    if (!open_store(w, STORE_ENGINE, &w->store))
        return false;
    w->loop = loop_new_on_clock(&w->clock);
    struct engine_options o = {
            .clock = &w->clock,
            .settings = &w->settings,
            .store = w->store,
            .owner = "sim",
            .loop = w->loop,
    };
    if (engine_new(w->life, &o, &f, &w->engine) != OK)
        return broken(w, "the engine does not start", &f);
    return settle(w);
}

bool world_stop(struct world *w, bool kill)
{
    if (kill)
        engine_kill(w->engine);
    else
        engine_free(w->engine);
    w->engine = NULL;
    w->loop = NULL;
    store_close(w->store);
    w->store = NULL;
    return !w->is_broken;
}

void world_done(struct world *w)
{
    world_stop(w, /* kill= */ true);
    database_done(&w->db);
}

static bool is_told_away(struct world *w)
{
    return !w->engine->available;
}

static bool is_told_back(struct world *w)
{
    return w->engine->available;
}

bool world_database(struct world *w, bool is_up)
{
    if (is_up) {
        database_up(&w->db);
        return run_until(w, is_told_back, "the engine does not find the database again") &&
               settle(w);
    }
    database_down(&w->db);
    return run_until(w, is_told_away, "the engine does not notice that the database is away") &&
           settle(w);
}

/* ---- disturbing ---------------------------------------------------------------------------
 */

static bool has_lost_enough(struct world *w)
{
    return is_quiet(w) || (is_computed(w) && database_has_waiters(&w->db));
}

/* Everything this instant wants to write is lost: the engine dies before any of it is
 * committed. */
static bool lose(struct world *w)
{
    if (!run_until(w, has_lost_enough, "the engine neither rests nor writes"))
        return false;
    database_down(&w->db);
    bool ok = world_stop(w, /* kill= */ true);
    database_up(&w->db);
    database_release_writes(&w->db);
    return ok && world_start(w);
}

static bool is_disturbed(const struct world *w)
{
    return w->engine && w->disturbance != DISTURB_NOT && !w->db.is_away &&
           (w->disturb_at == 0 || w->disturb_at == w->steps);
}

static bool step(struct world *w)
{
    w->steps++;
    if (!is_disturbed(w))
        return settle(w);
    if (w->disturbance == DISTURB_LOSE) {
        database_hold_writes(&w->db);
        return lose(w);
    }
    return settle(w) && world_stop(w, w->disturbance == DISTURB_KILL) && world_start(w);
}

/* ---- time -----------------------------------------------------------------------------------
 */

/* (3): the detector's own deadline, without the glances in between. */
static void aim(struct world *w)
{
    struct engine *e = w->engine;
    msec next = led_next(e->led);
    if (next == MSEC_NEVER)
        loop_timer_stop(w->loop, &e->led_timer);
    else
        loop_timer_set(w->loop, &e->led_timer, next - w->mono - e->mono_shift);
}

/* Could anything become overdue?  Only what waits for an answer or for the database. */
static bool is_waiting(struct world *w)
{
    struct fetch_stats s;
    fetch_stats_get(w->engine->fetch, &s);
    return s.running > 0 || !w->engine->available;
}

static msec earlier(msec a, msec b)
{
    return a < b ? a : b;
}

/* When the engine has something to do next, on the line of elapsed time. */
static msec engine_due(struct world *w, bool *ret_glance)
{
    struct engine *e = w->engine;
    aim(w);
    loop_timer_stop(w->loop, &e->overdue_timer);
    msec next = loop_next_timer(w->loop);
    if (!is_waiting(w))
        w->glance = MSEC_NEVER;
    else if (w->glance == MSEC_NEVER)
        w->glance = w->mono + GLANCE_MS;
    *ret_glance = w->glance < next;
    if (*ret_glance) {
        next = w->glance;
        w->glance = MSEC_NEVER;
        loop_timer_set(w->loop, &e->overdue_timer, next - w->mono);
    }
    return next == MSEC_NEVER ? next : next - w->mono + w->elapsed;
}

static msec next_due(struct world *w, bool *ret_glance)
{
    *ret_glance = false;
    msec next = w->engine ? engine_due(w, ret_glance) : MSEC_NEVER;
    list_each (pos, &w->coming)
        next = earlier(next, list_entry(pos, struct sim_coming, link)->at);
    return next;
}

bool world_advance(struct world *w, msec span)
{
    msec until = w->elapsed + span, next;
    bool glance;
    if (!settle(w)) /* (1) */
        return false;
    while ((next = next_due(w, &glance)) <= until) {
        pass(w, next > w->elapsed ? next - w->elapsed : 0);
        if (!(glance ? settle(w) : step(w)))
            return false;
    }
    pass(w, until - w->elapsed);
    return settle(w);
}

static bool look(struct world *w)
{
    if (w->engine)
        loop_timer_set(w->loop, &w->engine->led_timer, 0);
    return settle(w);
}

bool world_sleep(struct world *w, msec span)
{
    if (!settle(w))
        return false;
    pass(w, span);
    return look(w);
}

/* The engine's newest glance at the clock is never long ago. */
bool world_set_clock(struct world *w, msec wall)
{
    if (!look(w))
        return false;
    w->wall = wall;
    return look(w);
}

/* ---- asking
 * ---------------------------------------------------------------------------------- */

struct ear {
    struct loop_io io;
    struct database *db;
};

static void heard(struct loop_io *io, int events)
{
    (void)events;
    struct ear *ear = container_of(io, struct ear, io);
    (void)PQconsumeInput(ear->db->sql); /* if it is lost, the next query says so */
}

static bool read_answer(
        struct world *w, const char *id, int *ret_exit_code, const char **ret_answer)
{
    const char *why;
    PGresult *r = database_query(&w->db,
            "SELECT exit_code, answer FROM vigil.requests WHERE id = $1 AND state = 'done'", 1,
            &id, &why);
    bool done = r && PQntuples(r) > 0;
    if (done) {
        *ret_exit_code = PQgetvalue(r, 0, 0)[0] - '0';
        *ret_answer = arena_strdup(w->life, PQgetvalue(r, 0, 1));
    }
    PQclear(r);
    return done;
}

static bool is_told(struct database *d)
{
    bool told = false;
    PGnotify *n;
    while ((n = PQnotifies(d->sql))) {
        told = true;
        PQfreemem(n);
    }
    return told;
}

static bool wait_for_answer(
        struct world *w, const char *id, int *ret_exit_code, const char **ret_answer)
{
    struct ear ear = {.db = &w->db};
    struct pulse pulse;
    pulse_begin(w, &pulse);
    loop_io_init(&ear.io, heard);
    loop_io_set(w->loop, &ear.io, PQsocket(w->db.sql), LOOP_READ);
    bool done = false;
    while (!done && pulse.beats < LOOKS_MAX) {
        if (is_told(&w->db))
            done = read_answer(w, id, ret_exit_code, ret_answer);
        else
            loop_run_once(w->loop);
    }
    loop_io_stop(w->loop, &ear.io);
    pulse_end(w, &pulse);
    return done ? settle(w) : broken(w, "the engine did not answer a request", NULL);
}

/* As `vigil add` does it when no engine runs. */
static bool ask_nobody(struct world *w, const char *verb, const char *text, int *ret_exit_code,
        const char **ret_answer)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "ask");
    struct directory directory;
    struct fault f = {0};
    struct store *store;
    if (!open_store(w, STORE_COMMAND, &store))
        return false;
    directory_init(&directory, scratch);
    enum err e = directory_load(&directory, store, &f);
    if (!e) {
        struct request_context context = {
                .directory = &directory,
                .settings = &w->settings,
                .now = w->wall,
                .owner = "sim",
        };
        struct request_plan *plan = request_plan_make(scratch, &context, verb, text);
        struct store_plan_job job = {
                .job.kind = STORE_JOB_PLAN, .steps = plan->steps, .nsteps = plan->nsteps};
        if (plan->exit_code == 0 && plan->nsteps)
            e = store_run(store, &job.job, &f);
        request_plan_abandon(plan);
        *ret_exit_code = plan->exit_code;
        *ret_answer = arena_strdup(w->life, plan->answer);
    }
    directory_done(&directory);
    store_close(store);
    return e ? broken(w, "a request without an engine", &f) : true;
}

bool world_ask(struct world *w, const char *verb, const char *text, int *ret_exit_code,
        const char **ret_answer)
{
    if (!w->engine)
        return ask_nobody(w, verb, text, ret_exit_code, ret_answer);
    static const char *const functions[][2] = {
            {"add", "SELECT vigil.create_sentinel($1)"},
            {"enable", "SELECT vigil.enable($1)"},
            {"disable", "SELECT vigil.disable($1)"},
            {"stop", "SELECT vigil.stop($1)"},
            {"drop", "SELECT vigil.drop_sentinel($1)"},
    };
    for (size_t i = 0; i < countof(functions); i++) {
        if (strcmp(functions[i][0], verb) != 0)
            continue;
        const char *why = NULL;
        PGresult *r = database_query(&w->db, functions[i][1], 1, &text, &why);
        if (!r) {
            struct fault f = {0};
            fault_set(&f, ERR_STORE, "%s", why);
            return broken(w, "a request", &f);
        }
        const char *id = arena_strdup(w->life, PQgetvalue(r, 0, 0));
        PQclear(r);
        return wait_for_answer(w, id, ret_exit_code, ret_answer);
    }
    return broken(w, "no such request", NULL);
}
