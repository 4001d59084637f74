/* The engine: builds the house, opens the doors, and shuts them in the right order.
 *
 * Start: read sentinels and pages, let the detector begin just before the earliest thing that
 * is due, put everybody back in place, then let it catch up with the present.
 * Stop: no new fetches, let what is under way be committed, then everything down.
 */
#include "engine/engine_int.h"
#include "engine/reading.h"
#include "base/log.h"
#include "page/page.h"
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>

msec engine_wall(const struct engine *e)
{
    return clock_wall(e->clock);
}

static msec engine_mono(const struct engine *e)
{
    return clock_mono(e->clock) + e->mono_shift;
}

/* Two clocks read one after the other, in whole milliseconds, disagree by one now and then;
 * that is no jump.  Only a real one moves what the detector takes for the wall clock. */
enum { JITTER_MS = 20 };

static msec steady_wall(struct engine *e, msec mono)
{
    msec offset = clock_wall(e->clock) - mono;
    msec moved = offset - e->wall_offset;
    if (moved > JITTER_MS || moved < -JITTER_MS)
        e->wall_offset = offset;
    return mono + e->wall_offset;
}

msec engine_wall_of(const struct engine *e, msec detector)
{
    return detector - led_now(e->led) + led_wall(e->led);
}

bool engine_has_memory(const struct engine *e)
{
    return e->held_bytes <
           (size_t)settings_number(e->settings, SETTING_STORE_MAX_PENDING_BYTES);
}

bool engine_has_room(const struct engine *e)
{
    const struct settings *s = e->settings;
    return e->available && !e->stopping && !e->replaying &&
           store_writer_pending(e->writer) <
                   (size_t)settings_number(s, SETTING_STORE_MAX_PENDING) &&
           engine_has_memory(e);
}

void engine_submit(struct engine *e, struct store_job *job)
{
    if (store_writer_pending(e->writer) == 0)
        e->answered_at = clock_mono(e->clock);
    store_writer_submit(e->writer, job);
}

void engine_answered(struct engine *e)
{
    e->answered_at = clock_mono(e->clock);
    webpage_resume_postponed(e); /* whatever it was, its place in the queue is free */
}

msec engine_silence(const struct engine *e)
{
    return store_writer_pending(e->writer) ? clock_mono(e->clock) - e->answered_at : 0;
}

/* ---- time ---------------------------------------------------------------------------- */

/* Later than this, the ticks in between are reported as one: the loop was blocked, or the
 * machine slept. */
enum { STALL_MS = 1000 };

void engine_catch_up(struct engine *e)
{
    msec due = led_next(e->led), now = engine_mono(e);
    msec late = due == MSEC_NEVER ? 0 : now - due;
    if (late > e->worst_lateness)
        e->worst_lateness = late;
    if (late > STALL_MS) {
        bool outermost = !e->replaying;
        e->late_wakes++;
        e->replaying = true; /* what began and ended meanwhile costs no request */
        led_wake(e->led, now, steady_wall(e, now));
        if (outermost) {
            e->replaying = false;
            webpage_resume_postponed(e);
        }
    } else {
        led_advance(e->led, now, steady_wall(e, now));
    }
}

void engine_settle(struct engine *e)
{
    msec next = led_next(e->led);
    if (next == MSEC_NEVER || e->stopping) {
        loop_timer_stop(e->loop, &e->led_timer);
        return;
    }
    msec wait = next - engine_mono(e);
    /* The wall clock may be set while we sleep; a look now and then notices. */
    if (wait > 10 * MSEC_PER_SECOND)
        wait = 10 * MSEC_PER_SECOND;
    loop_timer_set(e->loop, &e->led_timer, wait);
}

static void led_due(struct loop_timer *t)
{
    struct engine *e = container_of(t, struct engine, led_timer);
    engine_catch_up(e);
    engine_settle(e);
}

/* ---- the store's hooks --------------------------------------------------------------- */

static void requested(const struct store_request *r, void *arg)
{
    struct engine *e = arg;
    if (!e->stopping)
        requests_take(e, r);
}

static void availability(bool available, const char *why, void *arg)
{
    struct engine *e = arg;
    bool was_available = e->available;
    if (available && was_available)
        return;
    e->available = available;
    free(e->away_because);
    e->away_because = NULL;
    if (available) {
        char span[TIME_TEXT_SIZE];
        log_info("the database is back after %s; fetching goes on",
                time_span(engine_wall(e) - e->away_since, span));
        overdue_look(e);
        webpage_resume_postponed(e);
        engine_settle(e);
    } else {
        e->away_because = strdup(why ? why : "no reason given");
        if (was_available)
            e->away_since = engine_wall(e);
        log_warn("%s: %s",
                was_available ? "the database is away, fetching pauses" : "it is still away",
                e->away_because);
    }
}

static void compared(struct loop_waker *w)
{
    visit_compared(container_of(w, struct engine, compared_waker));
}

static void wake_loop(void *waker)
{
    loop_waker_wake(waker);
}

/* ---- start --------------------------------------------------------------------------- */

static void load_page(const struct store_page *row, void *arg)
{
    webpage_load(arg, row);
}

static enum err start_sweeping(struct engine *e, struct fault *f)
{
    struct store_sweep_options o = {
            .keep = settings_number(e->settings, SETTING_STORE_KEEP_DAYS) * MSEC_PER_DAY,
            .keep_bytes = settings_number(e->settings, SETTING_STORE_KEEP_BYTES),
            .every = settings_number(e->settings, SETTING_STORE_SWEEP_EVERY),
    };
    return store_sweeper_start(e->store, &o, f, &e->sweeper);
}

static const char *user_agent(struct engine *e)
{
    const char *name = settings_text(e->settings, SETTING_FETCH_USER_AGENT);
    const char *contact = settings_text(e->settings, SETTING_FETCH_CONTACT);
    return *contact ? arena_printf(e->arena, "%s (+%s)", name, contact) : name;
}

static enum err start_fetching(struct engine *e, struct fault *f)
{
    const struct settings *s = e->settings;
    const char *ca;
    enum err err = settings_ca(s, SETTING_FETCH_CA, f, &ca);
    if (err)
        return err;
    struct fetch_options o = {
            .user_agent = user_agent(e),
            .allow = s->values[SETTING_FETCH_ALLOW].list,
            .nallow = s->values[SETTING_FETCH_ALLOW].nlist,
            .max_body_bytes = (size_t)settings_number(s, SETTING_FETCH_MAX_BODY),
            .connect_timeout = settings_number(s, SETTING_FETCH_CONNECT_TIMEOUT),
            .first_byte_timeout = settings_number(s, SETTING_FETCH_FIRST_BYTE_TIMEOUT),
            .total_timeout = settings_number(s, SETTING_FETCH_TOTAL_TIMEOUT),
            .max_redirects = (unsigned)settings_number(s, SETTING_FETCH_MAX_REDIRECTS),
            .max_connections = (unsigned)settings_number(s, SETTING_FETCH_CONNECTIONS),
            .max_host_connections =
                    (unsigned)settings_number(s, SETTING_FETCH_HOST_CONNECTIONS),
            .host_gap = settings_number(s, SETTING_FETCH_HOST_GAP),
            .private_gap = settings_number(s, SETTING_FETCH_PRIVATE_GAP),
            .robots = (enum fetch_robots_use)settings_number(s, SETTING_FETCH_ROBOTS),
            .renderer = settings_text(s, SETTING_FETCH_RENDERER),
            .proxy = settings_text(s, SETTING_FETCH_PROXY),
            .ca_file = ca,
            .clock = e->clock,
    };
    return fetch_new(e->arena, e->loop, &o, f, &e->fetch);
}

static enum err start_reading(struct engine *e, struct fault *f)
{
    const struct settings *s = e->settings;
    struct readers_options o = {
            .loop = e->loop,
            .clock = e->clock,
            .most = (unsigned)settings_number(s, SETTING_PAGE_WORKERS),
            .deadline = settings_number(s, SETTING_PAGE_DEADLINE),
            .program = e->options.reader,
    };
    return readers_new(&o, f, &e->readers);
}

/* Everything due while nobody was there lies ahead of a detector that begins before it. */
static void bring_back(struct engine *e)
{
    msec now = engine_wall(e), begin = now;
    map_each (n, &e->directory.by_id) {
        msec due = life_due(e, container_of(n, struct sentinel, by_id));
        if (due <= begin)
            begin = due - 1;
    }
    e->mono_shift = now - clock_mono(e->clock);
    e->led = led_new(begin, begin);
    e->replaying = true; /* what began and ended meanwhile costs no request */
    map_each (n, &e->directory.by_id)
        life_prepare(e, container_of(n, struct sentinel, by_id));
    map_each (n, &e->directory.by_id)
        life_resume(e, container_of(n, struct sentinel, by_id));
    map_each (n, &e->pages_by_id) {
        struct webpage *p = container_of(n, struct webpage, by_id);
        if (p->lives)
            webpage_resume(p);
        else
            webpage_free_if_unused(p); /* it only keeps changes of those who went elsewhere */
    }
    msec present = engine_mono(e);
    led_wake(e->led, present, steady_wall(e, present));
    map_each (n, &e->directory.by_id)
        life_give_up(e, container_of(n, struct sentinel, by_id));
    e->replaying = false;
    webpage_resume_postponed(e);
    engine_settle(e);
}

/* Rows of an older engine do not say what they wait for. */
static enum err write_points(struct engine *e, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "points");
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN};
    plan.steps = arena_array_of(scratch, e->directory.count + 1, struct store_step);
    map_each (n, &e->directory.by_id) {
        struct sentinel *s = container_of(n, struct sentinel, by_id);
        if (!s->lacks_points)
            continue;
        struct sentinel_words words = sentinel_words(s, scratch);
        plan.steps[plan.nsteps++] = (struct store_step){
                .kind = STORE_STEP_POINTS,
                .sentinel_id = s->id,
                .from_point = words.from,
                .from_of = s->from.of,
                .to_point = words.to,
                .to_of = s->to.of,
        };
    }
    return plan.nsteps ? store_run(e->store, &plan.job, f) : OK;
}

/* A page takes some hundred kilobytes for the time of its visit, in every thread it passes.
 * What one leaves is for the next: to give it to the kernel and get it again costs as much as
 * comparing does. */
static void keep_memory(void)
{
    enum { KEPT_BYTES = 4 << 20 };
    (void)mallopt(M_MMAP_THRESHOLD, KEPT_BYTES); /* refused, it is only slower */
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

enum err engine_new(struct arena *life, const struct engine_options *o, struct fault *f,
        struct engine **ret_engine)
{
    keep_memory();
    struct arena *arena = arena_new(life, "engine");
    struct engine *e = arena_new_of(arena, struct engine);
    e->arena = arena;
    e->options = *o;
    e->clock = o->clock;
    e->settings = o->settings;
    e->store = o->store;
    e->loop = o->loop ? o->loop : loop_new();
    e->started_at = engine_wall(e);
    e->available = true;
    map_init(&e->pages_by_id);
    map_init(&e->hosts);
    list_init(&e->cached);
    list_init(&e->postponed);
    list_init(&e->requests);
    loop_timer_init(&e->led_timer, led_due);
    overdue_start(e);
    loop_waker_init(&e->compared_waker, compared);
    loop_waker_start(e->loop, &e->compared_waker);
    inbox_init(&e->compared, wake_loop, &e->compared_waker);
    directory_init(&e->directory, arena);
    CHECK(getrandom(&e->hash_key, sizeof e->hash_key, 0) == sizeof e->hash_key);
    e->secrets = secrets_new(arena, settings_text(e->settings, SETTING_FETCH_SECRETS));
    page_start();
    e->pool = pool_new((unsigned)settings_number(e->settings, SETTING_CDG_THREADS), "compare");
    e->cdg = cdg_new(arena);
    e->locks = cdg_locks_new(e->pool, 256);
    *ret_engine = e;

    struct store_writer_hooks hooks = {
            .requested = requested, .availability = availability, .arg = e};
    enum err err;
    if ((err = directory_load(&e->directory, e->store, f)) != OK ||
            (err = store_load_hosts(e->store, f, webhost_load, e)) != OK ||
            (err = write_points(e, f)) != OK ||
            (err = store_load_pages(e->store, f, load_page, e)) != OK ||
            (err = start_fetching(e, f)) != OK || (err = start_reading(e, f)) != OK ||
            (err = start_sweeping(e, f)) != OK ||
            (err = store_writer_start(e->store, e->loop, &hooks, f, &e->writer)) != OK)
        return err;
    bring_back(e);
    malloc_trim(0); /* what reading the rows took need not stay with us */
    struct outbox_options out = {
            .loop = e->loop,
            .store = e->store,
            .pool = e->pool,
            .clock = e->clock,
            .settings = e->settings,
    };
    err = outbox_start(arena, &out, f, &e->outbox);
    return err ? err : control_start(e, f);
}

int engine_ensure(struct engine *e, const char *text, struct arena *life, char **ret_answer)
{
    struct request_plan *plan;
    return requests_run_now(e, "ensure", text, life, ret_answer, &plan);
}

/* ---- run and stop -------------------------------------------------------------------- */

static void interrupted(struct loop_signal *s, int signum)
{
    (void)signum;
    engine_stop(container_of(s, struct engine, on_int));
}

static void terminated(struct loop_signal *s, int signum)
{
    (void)signum;
    engine_stop(container_of(s, struct engine, on_term));
}

void engine_run(struct engine *e)
{
    signal(SIGPIPE, SIG_IGN);
    loop_signal_init(&e->on_int, interrupted);
    loop_signal_init(&e->on_term, terminated);
    loop_signal_start(e->loop, &e->on_int, SIGINT);
    loop_signal_start(e->loop, &e->on_term, SIGTERM);
    loop_run(e->loop);
    loop_signal_stop(e->loop, &e->on_int);
    loop_signal_stop(e->loop, &e->on_term);
}

void engine_stop(struct engine *e)
{
    e->stopping = true;
    loop_stop(e->loop);
}

enum { STOP_WAIT_MS = 5000 };

static void nothing(struct loop_timer *t)
{
    (void)t;
}

/* Lets visits that are parsed or compared reach the store. */
static void drain(struct engine *e)
{
    msec until = clock_mono(e->clock) + STOP_WAIT_MS;
    map_each (n, &e->pages_by_id) {
        struct webpage *p = container_of(n, struct webpage, by_id);
        if (p->transfer)
            fetch_cancel(p->transfer);
        p->transfer = NULL;
    }
    struct loop_timer look_again;
    loop_timer_init(&look_again, nothing);
    while ((e->visits || store_writer_pending(e->writer)) && e->available &&
            clock_mono(e->clock) < until) {
        loop_timer_set(e->loop, &look_again, 50);
        loop_run_once(e->loop);
    }
    loop_timer_stop(e->loop, &look_again);
}

static void take_down(struct engine *e, msec patience)
{
    e->stopping = true;
    if (e->writer && e->led && patience)
        drain(e);
    outbox_stop(e->outbox, patience);
    control_stop(e);
    if (e->writer) {
        size_t lost = store_writer_stop(e->writer, patience);
        if (lost)
            log_warn("%zu commits were given up; what they held will be found again", lost);
    }
    store_sweeper_stop(e->sweeper);
    readers_free(e->readers);
    pool_free(e->pool); /* what it still computes lands in the inbox and is let go */
    visit_abandon(e);
    outbox_free(e->outbox);
    map_each (n, &e->directory.by_id)
        life_leave(container_of(n, struct sentinel, by_id));
    map_each (n, &e->pages_by_id)
        webpage_free(container_of(n, struct webpage, by_id));
    directory_done(&e->directory);
    map_done(&e->pages_by_id);
    webhost_free_all(e);
    led_free(e->led);
    cdg_locks_free(e->locks);
    loop_timer_stop(e->loop, &e->led_timer);
    overdue_stop(e);
    loop_waker_stop(e->loop, &e->compared_waker);
    free(e->away_because);
    struct loop *loop = e->loop;
    arena_free(e->arena); /* fetch goes with it, and wants the loop */
    loop_free(loop);
}

void engine_free(struct engine *e)
{
    if (e)
        take_down(e, STOP_WAIT_MS);
}

void engine_kill(struct engine *e)
{
    if (e)
        take_down(e, /* patience= */ 0);
}
