/* Figures of a running engine at a glance. */
#include "engine/engine_int.h"
#include "engine/reading.h"
#include "base/json.h"
#include <stdio.h>
#include <unistd.h>

static void key_time(struct json *j, const char *key, msec at)
{
    char text[TIME_TEXT_SIZE];
    json_key(j, key);
    if (at == MSEC_NEVER)
        json_none(j);
    else
        json_text(j, time_iso(at, text));
}

static void key_int(struct json *j, const char *key, int64_t n)
{
    json_key(j, key);
    json_int(j, n);
}

static void sentinels(struct engine *e, struct json *j)
{
    static const char *const states[] = {
            "active", "waiting", "disabled", "waiting-disabled", "ended"};
    int64_t count[countof(states)] = {0};
    map_each (n, &e->directory.by_id) {
        const char *state = sentinel_state(container_of(n, struct sentinel, by_id));
        for (size_t i = 0; i < countof(states); i++)
            count[i] += strcmp(state, states[i]) == 0;
    }
    json_key(j, "sentinels");
    json_object_begin(j);
    for (size_t i = 0; i < countof(states); i++)
        key_int(j, states[i], count[i]);
    json_object_end(j);
}

static void pages(struct engine *e, struct json *j)
{
    int64_t failing = 0, busy = 0, postponed = 0, overdue = 0, watched = 0;
    msec next = MSEC_NEVER;
    map_each (n, &e->pages_by_id) {
        struct webpage *p = container_of(n, struct webpage, by_id);
        watched += p->lives > 0; /* others go when their last fetch is settled */
        failing += p->failures > 0;
        busy += p->busy;
        overdue += p->overdue;
        postponed += p->postponed;
        list_each (pos, &p->streams) {
            msec tick = stream_next_tick(list_entry(pos, struct stream, of_page));
            if (tick < next)
                next = tick;
        }
    }
    json_key(j, "pages");
    json_object_begin(j);
    key_int(j, "watched", watched);
    key_int(j, "in_memory", (int64_t)e->pages_by_id.count);
    key_int(j, "failing", failing);
    key_int(j, "busy", busy);
    key_int(j, "postponed", postponed);
    key_int(j, "overdue", overdue);
    key_time(j, "next_fetch_at", next == MSEC_NEVER ? next : engine_wall_of(e, next));
    json_object_end(j);
}

static void fetching(struct engine *e, struct json *j)
{
    struct fetch_stats s;
    fetch_stats_get(e->fetch, &s);
    json_key(j, "fetch");
    json_object_begin(j);
    key_int(j, "requests", (int64_t)s.requests);
    key_int(j, "saved_by_sharing", (int64_t)e->shared_fetches);
    key_int(j, "not_modified", (int64_t)s.not_modified);
    key_int(j, "failed", (int64_t)s.failed);
    key_int(j, "refused_by_robots", (int64_t)s.robots_refused);
    key_int(j, "left_alone", (int64_t)s.left_alone);
    key_int(j, "connections", (int64_t)s.connections);
    key_int(j, "running", s.running);
    key_int(j, "bytes", (int64_t)s.wire_bytes);
    json_object_end(j);
}

static void reading(struct engine *e, struct json *j)
{
    struct readers_stats s;
    int64_t quarantined = 0;
    readers_stats_get(e->readers, &s);
    map_each (n, &e->pages_by_id)
        quarantined += visit_is_quarantined(container_of(n, struct webpage, by_id));
    json_key(j, "read");
    json_object_begin(j);
    key_int(j, "workers", s.workers);
    key_int(j, "busy", s.busy);
    key_int(j, "queued", (int64_t)s.queued);
    key_int(j, "pages", (int64_t)s.read);
    key_int(j, "killed", (int64_t)s.killed);
    key_int(j, "quarantined", quarantined);
    json_object_end(j);
}

static void comparing(struct engine *e, struct json *j)
{
    struct pool_stats pool;
    struct cdg_locks_stats locks;
    struct cdg_stats graph;
    pool_stats_get(e->pool, &pool);
    cdg_locks_stats_get(e->locks, &locks);
    cdg_stats_get(e->cdg, &graph);
    json_key(j, "compare");
    json_object_begin(j);
    key_int(j, "threads", pool.threads);
    key_int(j, "busy", pool.busy);
    key_int(j, "queued", (int64_t)pool.queued);
    key_int(j, "waited", (int64_t)locks.waited);
    key_int(j, "groups", (int64_t)graph.groups);
    key_int(j, "members", (int64_t)graph.members);
    key_int(j, "questions", (int64_t)graph.questions);
    key_int(j, "composites", (int64_t)graph.composites);
    key_int(j, "versions", (int64_t)e->versions);
    key_int(j, "changes", (int64_t)e->changes);
    json_object_end(j);
}

static void telling(struct engine *e, struct json *j)
{
    struct outbox_stats s;
    outbox_stats_get(e->outbox, &s);
    json_key(j, "notify");
    json_object_begin(j);
    key_int(j, "accepted", (int64_t)s.accepted);
    key_int(j, "failed", (int64_t)s.failed);
    key_int(j, "given_up", (int64_t)s.dead);
    key_int(j, "under_way", (int64_t)s.flying);
    json_object_end(j);
}

static void detecting(struct engine *e, struct json *j)
{
    struct led_stats s;
    led_stats_get(e->led, &s);
    json_key(j, "events");
    json_object_begin(j);
    key_int(j, "raised", (int64_t)s.raised);
    key_int(j, "timers", (int64_t)s.timers);
    key_int(j, "rules", (int64_t)s.rules);
    key_int(j, "worst_lateness_ms", e->worst_lateness);
    key_int(j, "stalls", (int64_t)e->late_wakes);
    json_object_end(j);
}

static void keeping(struct engine *e, struct json *j)
{
    struct store_sweep_figures s;
    store_sweeper_figures(e->sweeper, &s);
    json_key(j, "versions");
    json_object_begin(j);
    key_int(j, "released", s.released);
    key_int(j, "packed", s.packed);
    key_int(j, "saved_bytes", s.saved_bytes);
    json_key(j, "error");
    json_text(j, s.error[0] ? s.error : NULL);
    json_object_end(j);
}

/* A database that has work and does not finish any for this long is as good as away. */
enum { SILENCE_MS = 5000 };

void engine_status_json(struct engine *e, struct buf *out)
{
    struct json j;
    char span[TIME_TEXT_SIZE], silent[80];
    msec silence = engine_silence(e);
    bool answers = e->available && silence < SILENCE_MS;
    json_init(&j, out);
    json_object_begin(&j);
    json_key(&j, "engine");
    json_object_begin(&j);
    json_key(&j, "state");
    json_text(&j, answers ? "running" : "paused");
    key_int(&j, "pid", getpid());
    key_time(&j, "since", e->started_at);
    json_object_end(&j);
    json_key(&j, "database");
    json_object_begin(&j);
    json_key(&j, "where");
    json_text(&j, store_describe(e->store));
    json_key(&j, "available");
    json_bool(&j, answers);
    json_key(&j, "error");
    if (e->available && !answers)
        snprintf(silent, sizeof silent, "it has not answered for %s", time_span(silence, span));
    json_text(&j, e->available && !answers ? silent : e->away_because);
    if (!e->available)
        key_time(&j, "away_since", e->away_since);
    key_int(&j, "pending_commits", (int64_t)store_writer_pending(e->writer));
    json_object_end(&j);
    sentinels(e, &j);
    pages(e, &j);
    fetching(e, &j);
    reading(e, &j);
    comparing(e, &j);
    detecting(e, &j);
    keeping(e, &j);
    telling(e, &j);
    json_object_end(&j);
    buf_putc(out, '\n');
}
