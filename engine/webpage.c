/* One page: when it is fetched, what came back, and what the store is told.
 *
 *  (1) One request at a time for a page, whoever wants it; a tick that comes while one is
 *      under way takes its result.
 *  (2) From the start of a fetch until everything it led to is committed the page is busy,
 *      so its versions pass through in order and never outrun the database.
 *  (3) A failed fetch is no version and no "unchanged": it is an error in the status, and
 *      whoever waited goes on waiting for the next try.
 *  (4) Validators are the server's own bytes; every sixteenth fetch asks without them, so
 *      that a server whose validators lie is found out.  A body that differs is a new
 *      version whatever the validators say.
 */
#include "engine/engine_int.h"
#include "base/log.h"
#include <ctype.h>
#include <stdlib.h>

/* ---- pages come and go --------------------------------------------------------------- */

/* "http://host:port" of a normalised URL. */
static size_t host_length(const char *url)
{
    const char *authority = strstr(url, "://");
    authority = authority ? authority + 3 : url;
    return (size_t)(authority - url) + strcspn(authority, "/?#");
}

static struct webhost *host_get(struct engine *e, const char *url)
{
    size_t len = host_length(url);
    uint64_t hash = map_hash(url, len);
    for (struct map_node *n = map_first(&e->hosts, hash); n; n = map_next(n)) {
        struct webhost *h = container_of(n, struct webhost, by_name);
        if (strlen(h->name) == len && memcmp(h->name, url, len) == 0) {
            h->pages++;
            return h;
        }
    }
    struct webhost *h = calloc(1, sizeof *h + len + 1);
    CHECK(h);
    memcpy(h->name, url, len);
    h->pages = 1;
    map_insert(&e->hosts, &h->by_name, hash);
    return h;
}

static void host_drop(struct engine *e, struct webhost *h)
{
    if (--h->pages)
        return;
    map_remove(&e->hosts, &h->by_name);
    free(h);
}

static struct webpage *webpage_new(struct engine *e, int64_t id, const char *url)
{
    struct webpage *p = calloc(1, sizeof *p);
    CHECK(p);
    p->engine = e;
    p->id = id;
    p->url = strdup(url);
    CHECK(p->url);
    p->last_fetch = p->verified = p->next_fetch = p->not_before = MSEC_NEVER;
    p->host = host_get(e, url);
    fetch_gone_init(&p->gone);
    list_init(&p->streams);
    list_init(&p->in_cached);
    list_init(&p->in_postponed);
    map_insert(&e->pages_by_id, &p->by_id, map_hash_id((uint64_t)id));
    map_insert(&e->pages_by_url, &p->by_url, map_hash_text(url));
    return p;
}

struct webpage *webpage_get(struct engine *e, int64_t id, const char *url)
{
    struct map_node *n = map_first(&e->pages_by_id, map_hash_id((uint64_t)id));
    for (; n; n = map_next(n))
        if (container_of(n, struct webpage, by_id)->id == id)
            return container_of(n, struct webpage, by_id);
    return webpage_new(e, id, url);
}

static const char gone_mark[] = "gone: ";

static void set_text(char **to, const char *from)
{
    if (*to == from)
        return;
    free(*to);
    *to = from ? strdup(from) : NULL;
    CHECK(!from || *to);
}

struct webpage *webpage_load(struct engine *e, const struct store_page *row)
{
    struct webpage *p = webpage_new(e, row->id, row->url);
    p->latest = row->latest_version;
    p->body = row->body;
    p->last_fetch = row->last_fetch_at;
    p->verified = row->verified_at;
    p->fetches = row->fetches;
    p->failures = row->failures;
    set_text(&p->etag, row->etag);
    set_text(&p->last_modified, row->last_modified);
    set_text(&p->error, row->error);
    p->gone.is_gone = row->error && strncmp(row->error, gone_mark, sizeof gone_mark - 1) == 0;
    if (p->failures && row->next_fetch_at != MSEC_NEVER)
        p->not_before = row->next_fetch_at;
    p->has_learned = row->learned && fetch_learn_read(row->learned, NULL, &p->learned) == OK;
    return p;
}

static void retry_cancel(struct webpage *p)
{
    struct led *led = p->engine->led;
    if (!p->retry_rule)
        return;
    led_rule_delete(led, p->retry_rule);
    led_event_drop(led, p->retry_event);
    led_event_drop(led, p->retry_trigger);
    p->retry_rule = NULL;
    p->retry_event = p->retry_trigger = NULL;
}

void webpage_cache(struct webpage *p, char *digest, size_t bytes)
{
    struct engine *e = p->engine;
    list_remove(&p->in_cached);
    e->cached_bytes -= p->digest_bytes;
    free(p->digest);
    p->digest = digest;
    p->digest_bytes = digest ? bytes : 0;
    if (!digest)
        return;
    e->cached_bytes += bytes;
    list_append(&e->cached, &p->in_cached);
    size_t most = (size_t)settings_number(e->settings, SETTING_CDG_CACHE);
    while (e->cached_bytes > most) {
        struct webpage *oldest = list_entry(list_first(&e->cached), struct webpage, in_cached);
        webpage_cache(oldest, NULL, 0);
    }
}

void webpage_free(struct webpage *p)
{
    struct engine *e = p->engine;
    if (p->transfer)
        fetch_cancel(p->transfer);
    retry_cancel(p);
    webpage_cache(p, NULL, 0);
    list_remove(&p->in_postponed);
    map_remove(&e->pages_by_id, &p->by_id);
    map_remove(&e->pages_by_url, &p->by_url);
    host_drop(e, p->host);
    free(p->url);
    free(p->etag);
    free(p->last_modified);
    free(p->error);
    free(p);
}

/* A page nobody watches is forgotten here once it is idle; the store keeps or drops its rows.
 */
void webpage_free_if_unused(struct webpage *p)
{
    if (!list_is_empty(&p->streams))
        return;
    if (p->transfer) {
        fetch_cancel(p->transfer);
        p->transfer = NULL;
        p->busy = false;
        webpage_hold(p, 0);
    }
    if (!p->lives && !p->busy)
        webpage_free(p);
}

/* ---- telling the store --------------------------------------------------------------- */

static msec next_fetch(const struct webpage *p)
{
    msec next = MSEC_NEVER;
    list_each (pos, (struct list *)&p->streams) {
        msec tick = stream_next_tick(list_entry(pos, struct stream, of_page));
        if (tick < next)
            next = tick;
    }
    if (p->not_before != MSEC_NEVER && p->not_before > p->last_fetch &&
            (p->not_before < next || p->failures))
        next = p->not_before;
    return next;
}

void webpage_fetch_state(struct webpage *p, struct arena *life, struct store_fetch_state *ret)
{
    *ret = (struct store_fetch_state){
            .page_id = p->id,
            .last_fetch_at = p->last_fetch,
            .verified_at = p->verified,
            .next_fetch_at = p->next_fetch = next_fetch(p),
            .etag = p->etag ? arena_strdup(life, p->etag) : NULL,
            .last_modified = p->last_modified ? arena_strdup(life, p->last_modified) : NULL,
            .error = p->error ? arena_strdup(life, p->error) : NULL,
            .learned = p->has_learned ? fetch_learn_write(&p->learned, life) : NULL,
            .fetches = p->fetches,
            .failures = p->failures,
            .took = p->took,
    };
}

struct touch {
    struct store_touch_job job;
    struct engine *engine;
    struct arena *arena;
};

static void touch_done(struct store_job *job)
{
    struct touch *t = container_of(job, struct touch, job.job);
    struct engine *e = t->engine;
    if (job->err != OK && job->err != ERR_NAME) /* a page may be dropped meanwhile */
        log_error("the outcome of a fetch was not recorded: %s", job->fault.message);
    arena_free(t->arena);
    engine_answered(e);
    webpage_resume_postponed(e);
}

static void touch(struct webpage *p)
{
    struct arena *a = arena_new(NULL, "touch");
    struct touch *t = arena_new_of(a, struct touch);
    t->arena = a;
    t->engine = p->engine;
    t->job.job.kind = STORE_JOB_TOUCH;
    t->job.job.done = touch_done;
    webpage_fetch_state(p, a, &t->job.fetch);
    engine_submit(p->engine, &t->job.job);
}

struct news {
    struct store_plan_job plan;
    struct engine *engine;
    struct arena *arena;
};

static void news_done(struct store_job *job)
{
    if (job->err != OK)
        log_error("an event was not recorded: %s", job->fault.message);
    struct news *news = container_of(job, struct news, plan.job);
    engine_answered(news->engine);
    arena_free(news->arena);
}

/* A row in the events of everybody who watches the page: it began to fail, it recovered. */
static void tell_members(struct webpage *p, const char *kind, const char *detail)
{
    size_t n = 0;
    list_each (pos, &p->streams) {
        list_each (m, &list_entry(pos, struct stream, of_page)->members)
            n++;
    }
    if (n == 0)
        return;
    struct arena *a = arena_new(NULL, "news");
    struct news *news = arena_new_of(a, struct news);
    news->arena = a;
    news->engine = p->engine;
    news->plan.job.kind = STORE_JOB_PLAN;
    news->plan.job.done = news_done;
    news->plan.steps = arena_array_of(a, n, struct store_step);
    char *text = detail ? arena_strdup(a, detail) : NULL;
    list_each (pos, &p->streams) {
        list_each (m, &list_entry(pos, struct stream, of_page)->members) {
            struct sentinel *s = list_entry(m, struct life, in_stream)->sentinel;
            news->plan.steps[news->plan.nsteps++] = (struct store_step){
                    .kind = STORE_STEP_EVENT,
                    .sentinel_id = s->id,
                    .name = arena_strdup(a, s->name),
                    .event_kind = kind,
                    .event_detail = text,
                    .event_at = engine_wall(p->engine),
                    .event_actual_at = engine_wall(p->engine),
            };
        }
    }
    engine_submit(p->engine, &news->plan.job);
}

/* ---- after a fetch ------------------------------------------------------------------- */

static void apply_learned(struct webpage *p)
{
    list_each (pos, &p->streams) {
        struct stream *s = list_entry(pos, struct stream, of_page);
        if (s->period == 0)
            stream_set_interval(s, p->learned.interval);
    }
}

static bool has_on_change_stream(const struct webpage *p)
{
    list_each (pos, (struct list *)&p->streams) {
        if (list_entry(pos, struct stream, of_page)->period == 0)
            return true;
    }
    return false;
}

static void learn(struct webpage *p, bool is_new, msec last_modified)
{
    if (!has_on_change_stream(p))
        return;
    msec now = p->last_fetch;
    if (!p->has_learned)
        fetch_learn_baseline(&p->learned, NULL, now, last_modified);
    else if (is_new)
        fetch_learn_changed(&p->learned, NULL, now, last_modified);
    else
        fetch_learn_unchanged(&p->learned, NULL, now);
    p->has_learned = true;
    apply_learned(p);
}

/* A body is kept as it came, as its digest, and in the working memory of comparing. */
enum { COPIES = 4, BODY_GUESS = 64 << 10 };

void webpage_hold(struct webpage *p, size_t body_bytes)
{
    struct engine *e = p->engine;
    e->held_bytes -= p->held;
    p->held = body_bytes * COPIES;
    e->held_bytes += p->held;
}

/* Whoever stayed only for this fetch goes.  Going may free the stream, so start anew. */
static void release_lingering(struct webpage *p)
{
again:
    list_each (pos, &p->streams) {
        list_each (m, &list_entry(pos, struct stream, of_page)->members) {
            struct life *l = list_entry(m, struct life, in_stream);
            if (l->lingers) {
                life_release(l);
                goto again;
            }
        }
    }
}

void webpage_settled(struct webpage *p)
{
    p->busy = false;
    webpage_hold(p, 0);
    release_lingering(p);
    if (list_is_empty(&p->streams)) {
        webpage_free_if_unused(p);
        return;
    }
    list_each (pos, &p->streams) {
        struct stream *s = list_entry(pos, struct stream, of_page);
        if (s->waiting && !p->busy && !p->postponed)
            webpage_want(p, s);
    }
}

/* The page as it is now equals the newest version. */
static void verified(struct webpage *p)
{
    bool behind = false;
    list_each (pos, &p->streams) {
        struct stream *s = list_entry(pos, struct stream, of_page);
        if (s->waiting && s->version < p->latest)
            behind = true;
        else
            s->waiting = false;
    }
    if (behind) {
        visit_start(p, NULL);
        return;
    }
    touch(p);
    webpage_settled(p);
}

static void retry_due(void *arg, const struct led_occurrence *o)
{
    (void)o;
    struct webpage *p = arg;
    retry_cancel(p);
    list_each (pos, &p->streams) {
        struct stream *s = list_entry(pos, struct stream, of_page);
        if (s->waiting) {
            webpage_want(p, s);
            return; /* one request serves all that wait */
        }
    }
}

static void retry_after(struct webpage *p, msec wait)
{
    struct led *led = p->engine->led;
    struct fault f = {0};
    retry_cancel(p);
    p->not_before = engine_wall(p->engine) + wait;
    p->retry_trigger = led_primitive(led, NULL);
    CHECK(led_plus(led, p->retry_trigger, wait > 0 ? wait : 1, &f, &p->retry_event) == OK);
    struct led_rule_spec spec = {.action = retry_due, .arg = p, .context = LED_RECENT};
    CHECK(led_rule_new(led, p->retry_event, &spec, &f, &p->retry_rule) == OK);
    CHECK(led_raise(led, p->retry_trigger, 0, &f) == OK);
}

void webpage_resume(struct webpage *p)
{
    struct engine *e = p->engine;
    if (p->not_before == MSEC_NEVER || list_is_empty(&p->streams))
        return;
    if (p->not_before <= engine_wall(e)) {
        p->not_before = MSEC_NEVER;
        return;
    }
    list_each (pos, &p->streams)
        list_entry(pos, struct stream, of_page)->waiting = true;
    retry_after(p, p->not_before - led_wall(e->led));
}

/* Same words but for the numbers in them: "83 bytes received" is no news after 81. */
static bool is_same_reason(const char *a, const char *b)
{
    for (;;) {
        while (isdigit((unsigned char)*a))
            a++;
        while (isdigit((unsigned char)*b))
            b++;
        if (*a != *b)
            return false;
        if (!*a)
            return true;
        a++;
        b++;
    }
}

static msec newest_tick(const struct webpage *p)
{
    msec newest = 0;
    list_each (pos, (struct list *)&p->streams) {
        const struct stream *s = list_entry(pos, struct stream, of_page);
        msec tick = s->last_tick == MSEC_NEVER ? s->opened : s->last_tick;
        if (tick > newest)
            newest = tick;
    }
    return newest;
}

static void failed(struct webpage *p, const char *reason, bool is_gone, msec asked_to_wait)
{
    struct engine *e = p->engine;
    p->failures++;
    if (fetch_gone_answered(&p->gone, newest_tick(p), is_gone)) {
        log_warn("%s is gone: %s", p->url, reason);
        tell_members(p, "deleted", reason);
    }
    SCRATCH struct arena *scratch = arena_new(NULL, "failed");
    if (p->gone.is_gone)
        reason = arena_printf(scratch, "%s%s", gone_mark, reason);
    bool news = !p->error || (!p->gone.is_gone && !is_same_reason(p->error, reason));
    set_text(&p->error, reason);
    if (news) {
        log_warn("%s: %s", p->url, reason);
        tell_members(p, "error", reason);
    }
    msec interval = MSEC_NEVER, until_tick = MSEC_NEVER;
    msec now = led_now(e->led);
    list_each (pos, &p->streams) {
        struct stream *s = list_entry(pos, struct stream, of_page);
        msec left = stream_next_tick(s) - now;
        if (s->interval < interval)
            interval = s->interval;
        if (left > 0 && left < until_tick)
            until_tick = left;
    }
    if (interval != MSEC_NEVER)
        retry_after(
                p, fetch_backoff((unsigned)p->failures, interval, until_tick, asked_to_wait));
    touch(p);
    p->busy = false;
    webpage_hold(p, 0);
    release_lingering(p);
    webpage_free_if_unused(p);
}

void webpage_readable(struct webpage *p, const char *etag, const char *last_modified)
{
    retry_cancel(p);
    p->not_before = MSEC_NEVER;
    p->failures = 0;
    fetch_gone_init(&p->gone);
    p->verified = p->last_fetch;
    set_text(&p->etag, etag);
    set_text(&p->last_modified, last_modified);
    if (p->error) {
        log_info("%s: recovered", p->url);
        tell_members(p, "recovered", NULL);
        set_text(&p->error, NULL);
    }
}

static void postpone(struct webpage *p)
{
    p->postponed = true;
    list_append(&p->engine->postponed, &p->in_postponed);
}

static bool same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* The body differs from the newest version's: do the validators say so, too? */
static bool validators_lied(const struct webpage *p, const struct fetch_response *r)
{
    if (r->etag || p->etag)
        return same_text(r->etag, p->etag);
    return same_text(r->last_modified, p->last_modified);
}

static void fetched(const struct fetch_response *r, void *arg)
{
    struct webpage *p = arg;
    struct engine *e = p->engine;
    engine_catch_up(e);
    p->transfer = NULL;
    p->fetches++;
    p->last_fetch = engine_wall(e);
    p->took = r->took;
    if (r->outcome == FETCH_FAILED) {
        failed(p, r->reason ? r->reason : "the fetch failed", r->gone, r->retry_after);
        engine_settle(e);
        return;
    }
    bool is_new = false;
    struct sha256 sha = {0};
    if (r->outcome == FETCH_OK) {
        p->body_bytes = r->body_bytes;
        webpage_hold(p, r->body_bytes);
        sha = sha256_of(r->body, r->body_bytes);
        is_new = !p->latest || !sha256_equal(&sha, &p->body); /* (4) */
        if (is_new && p->latest && validators_lied(p, r) &&
                fetch_trust_is_given(&p->host->trust, p->last_fetch)) {
            log_warn("%s: its validators stay while the page changes; not believed for 30 days",
                    p->host->name);
            fetch_trust_lied(&p->host->trust, p->last_fetch);
        }
    }
    list_each (pos, &p->streams) {
        struct stream *s = list_entry(pos, struct stream, of_page);
        if (s->period == 0)
            s->waiting = true; /* on change means all versions, whoever asked */
    }
    if (is_new && e->visits && !engine_has_memory(e)) {
        /* Too much is on its way already: this one is asked for again when there is room. */
        p->busy = false;
        webpage_hold(p, 0);
        postpone(p);
    } else if (is_new) {
        struct visit_source source = {
                .body = r->body,
                .body_bytes = r->body_bytes,
                .content_type = r->content_type,
                .final_url = r->final_url,
                .etag = r->etag,
                .last_modified = r->last_modified,
                .sha = sha,
                .fetched_at = p->last_fetch,
        };
        learn(p, is_new, r->last_modified_at);
        visit_start(p, &source);
    } else {
        /* A 304 need not repeat what has not changed. */
        learn(p, is_new, r->last_modified_at);
        bool whole = r->outcome == FETCH_OK;
        webpage_readable(p, whole || r->etag ? r->etag : p->etag,
                whole || r->last_modified ? r->last_modified : p->last_modified);
        verified(p);
    }
    engine_settle(e);
}

/* A page that was fetched but cannot be read is an error, never a version. */
void webpage_unreadable(struct webpage *p, const char *reason)
{
    struct engine *e = p->engine;
    failed(p, reason, /* is_gone= */ false, 0); /* the page may be gone after this */
    engine_settle(e);
}

/* ---- wanting a page ------------------------------------------------------------------ */

static void fetch_now(struct webpage *p)
{
    struct engine *e = p->engine;
    bool audit = p->fetches % FETCH_AUDIT_EVERY == FETCH_AUDIT_EVERY - 1;
    bool conditional =
            p->latest && !audit && fetch_trust_is_given(&p->host->trust, engine_wall(e));
    struct fetch_request r = {
            .url = p->url,
            .etag = conditional ? p->etag : NULL,
            .last_modified = conditional ? p->last_modified : NULL,
    };
    p->busy = true;
    webpage_hold(p, p->body_bytes > BODY_GUESS ? p->body_bytes : BODY_GUESS);
    p->transfer = fetch_start(e->fetch, &r, fetched, p);
}

/* A fetch by another stream a moment ago serves as well. */
static bool is_fresh(const struct webpage *p, const struct stream *s)
{
    if (!p->latest || p->verified == MSEC_NEVER || p->failures)
        return false;
    msec most =
            s->interval / 20 < 30 * MSEC_PER_SECOND ? s->interval / 20 : 30 * MSEC_PER_SECOND;
    msec age = engine_wall(p->engine) - p->verified;
    return age >= 0 && age <= most;
}

void webpage_want(struct webpage *p, struct stream *s)
{
    struct engine *e = p->engine;
    s->waiting = true;
    if (p->busy) {
        e->shared_fetches++; /* (1) */
        return;
    }
    if (p->postponed || e->stopping)
        return;
    if (p->not_before != MSEC_NEVER && engine_wall(e) < p->not_before)
        return; /* the server asked us to wait, or we back off; the retry will serve it */
    if (is_fresh(p, s)) {
        e->shared_fetches++;
        if (s->version < p->latest)
            visit_start(p, NULL);
        else
            s->waiting = false;
        return;
    }
    if (!engine_has_room(e)) {
        postpone(p);
        return;
    }
    fetch_now(p);
}

void webpage_resume_postponed(struct engine *e)
{
    while (!list_is_empty(&e->postponed) && engine_has_room(e)) {
        struct webpage *p = list_entry(list_first(&e->postponed), struct webpage, in_postponed);
        list_remove(&p->in_postponed);
        p->postponed = false;
        if (!p->busy && !list_is_empty(&p->streams))
            fetch_now(p);
    }
}
