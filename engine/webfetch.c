/* What a fetch does: when a page is asked for, what came back, and what follows.
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

/* ---- after a fetch ------------------------------------------------------------------- */

static void apply_learned(struct webpage *p)
{
    list_each (pos, &p->streams) {
        struct stream *s = list_entry(pos, struct stream, of_page);
        if (s->period == 0)
            stream_set_interval(s, webpage_learned_interval(p));
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

void webpage_learn(struct webpage *p, bool is_new, msec last_modified)
{
    if (!has_on_change_stream(p))
        return;
    msec now = p->last_fetch;
    if (!p->learned) {
        p->learned = calloc(1, sizeof *p->learned);
        CHECK(p->learned);
        fetch_learn_baseline(p->learned, NULL, now, last_modified);
    } else if (is_new)
        fetch_learn_changed(p->learned, NULL, now, last_modified);
    else
        fetch_learn_unchanged(p->learned, NULL, now);
    apply_learned(p);
}

/* Whoever stayed only for this fetch goes.  Going may free the stream, so start anew. */
static void release_lingering(struct webpage *p)
{
again:
    list_each (pos, &p->streams) {
        list_each (m, &list_entry(pos, struct stream, of_page)->members) {
            struct place *at = list_entry(m, struct place, in_stream);
            if (at->lingers) {
                place_release(at);
                goto again;
            }
        }
    }
}

void webpage_settled(struct webpage *p)
{
    p->busy = false;
    webframes_drop(p);
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
        if (s->waiting && stream_version(s) < p->latest)
            behind = true;
        else
            s->waiting = false;
    }
    if (behind) {
        visit_start(p, NULL);
        return;
    }
    webpage_touch(p);
    webpage_settled(p);
}

static void retry_due(void *arg, const struct led_occurrence *o)
{
    (void)o;
    struct webpage *p = arg;
    webpage_retry_cancel(p);
    p->not_before = MSEC_NEVER; /* whatever the wall clock says: it may be behind a little */
    list_each (pos, &p->streams) {
        struct stream *s = list_entry(pos, struct stream, of_page);
        if (s->waiting) {
            webpage_want(p, s);
            return; /* one request serves all that wait */
        }
    }
}

/* At p->not_before, which is `wait` after the detector's present. */
static void retry_after(struct webpage *p, msec wait)
{
    struct led *led = p->engine->led;
    struct fault f = {0};
    webpage_retry_cancel(p);
    p->retry_trigger = led_primitive(led, NULL);
    CHECK(led_plus(led, p->retry_trigger, wait > 0 ? wait : 1, &f, &p->retry_event) == OK);
    struct led_rule_spec spec = {.action = retry_due, .arg = p, .context = LED_RECENT};
    CHECK(led_rule_new(led, p->retry_event, &spec, &f, &p->retry_rule) == OK);
    CHECK(led_raise(led, p->retry_trigger, 0, &f) == OK);
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

void webpage_resume(struct webpage *p)
{
    struct engine *e = p->engine;
    if (p->error && strncmp(p->error, WEBPAGE_MISSING, strlen(WEBPAGE_MISSING)) == 0)
        (void)fetch_gone_answered(&p->gone, newest_tick(p), /* gone= */ true); /* the first */
    if (p->not_before == MSEC_NEVER || list_is_empty(&p->streams))
        return;
    bool over = p->not_before <= engine_wall(e);
    if (over)
        p->not_before = MSEC_NEVER;
    list_each (pos, &p->streams) {
        struct stream *s = list_entry(pos, struct stream, of_page);
        s->waiting = true;
        if (over)
            webpage_want(p, s); /* the next try was due while nobody was there */
    }
    if (!over)
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

static void failed(struct webpage *p, const char *reason, bool is_gone, msec asked_to_wait)
{
    struct engine *e = p->engine;
    p->failures++;
    if (fetch_gone_answered(&p->gone, newest_tick(p), is_gone)) {
        log_warn("%s is gone: %s", p->url, reason);
        webpage_tell(p, "deleted", reason);
    }
    SCRATCH struct arena *scratch = arena_new(NULL, "failed");
    if (p->gone.is_gone)
        reason = arena_printf(scratch, WEBPAGE_GONE "%s", reason);
    else if (is_gone)
        reason = arena_printf(scratch, WEBPAGE_MISSING "%s", reason);
    bool news = !p->error || (!p->gone.is_gone && !is_same_reason(p->error, reason));
    webpage_set_text(&p->error, reason);
    if (news) {
        log_warn("%s: %s", p->url, reason);
        webpage_tell(p, "error", reason);
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
    if (interval != MSEC_NEVER) {
        msec wait = fetch_backoff((unsigned)p->failures, interval, until_tick, asked_to_wait);
        p->not_before = engine_wall(e) + wait;
        retry_after(p, wait);
    }
    webpage_touch(p);
    p->busy = false;
    webframes_drop(p);
    webpage_hold(p, 0);
    release_lingering(p);
    webpage_free_if_unused(p);
}

void webpage_readable(struct webpage *p, const char *etag, const char *last_modified)
{
    webpage_retry_cancel(p);
    p->not_before = MSEC_NEVER;
    p->failures = 0;
    fetch_gone_init(&p->gone);
    p->verified = p->last_fetch;
    webpage_set_text(&p->etag, etag);
    webpage_set_text(&p->last_modified, last_modified);
    if (p->error) {
        log_info("%s: recovered", p->url);
        webpage_tell(p, "recovered", NULL);
        webpage_set_text(&p->error, NULL);
    }
}

static void postpone(struct webpage *p)
{
    p->postponed = true;
    list_append(&p->engine->postponed, &p->in_postponed);
}

/* The bytes that came last and were found equal to the newest version, again?  Most fetches
 * end here, with a fast hash; it is keyed, so nobody can prepare two bodies that share it. */
static bool is_last_body(struct webpage *p, struct hash128 quick)
{
    return p->latest && p->quick_version == p->latest && hash128_equal(p->quick, quick);
}

/* Compares what came with the newest version, and finds out a server that lies: (4). */
static bool is_new_version(
        struct webpage *p, const struct visit_source *s, const struct fetch_response *r)
{
    struct fetch_identity stored = {p->etag, p->last_modified, p->body_digest, &p->body};
    struct fetch_identity arrived = {
            s->etag, s->last_modified, r ? r->body_digest : NULL, &s->sha};
    if (!fetch_is_new(p->latest ? &stored : NULL, &arrived))
        return false;
    if (p->latest && r && fetch_is_lie(&stored, &arrived))
        webhost_lied(p->engine, p->host);
    return true;
}

/* Larger than thought, and too much is on its way already: asked for again when there is
 * room. */
static void put_off(struct webpage *p)
{
    p->busy = false;
    webframes_drop(p);
    webpage_hold(p, 0);
    postpone(p);
}

/* The page is what it was; these are its validators now. */
static void unchanged(
        struct webpage *p, const char *etag, const char *last_modified, msec modified)
{
    webpage_learn(p, /* is_new= */ false, modified);
    webpage_readable(p, etag, last_modified);
    verified(p);
}

static void take_body(struct webpage *p, struct visit_source *s, const struct fetch_response *r)
{
    struct hash128 quick = hash128_keyed(s->body, s->body_bytes, p->engine->hash_key);
    bool is_new = false;
    size_t kept_free = p->held; /* when it was asked for */
    p->body_bytes = s->body_bytes;
    webpage_hold(p, s->body_bytes);
    bool fits = p->held <= kept_free || engine_has_memory(p->engine);
    if (!is_last_body(p, quick)) {
        s->sha = sha256_of(s->body, s->body_bytes);
        if (r && webframes_gather_seen(p, s))
            return;
        is_new = is_new_version(p, s, r);
        if (!is_new) {
            p->quick = quick;
            p->quick_version = p->latest;
        }
    }
    webpage_set_text(&p->body_digest, is_new || !r ? NULL : r->body_digest);
    if (!is_new)
        unchanged(p, s->etag, s->last_modified, s->last_modified_at);
    else if (p->engine->visits && !fits)
        put_off(p);
    else
        visit_start(p, s);
}

void webpage_arrived(struct webpage *p, struct visit_source *s)
{
    take_body(p, s, NULL);
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
    list_each (pos, &p->streams) {
        struct stream *s = list_entry(pos, struct stream, of_page);
        if (s->period == 0)
            s->waiting = true; /* on change means all versions, whoever asked */
    }
    if (r->outcome == FETCH_NOT_MODIFIED) { /* which need not repeat what has not changed */
        unchanged(p, r->etag ? r->etag : p->etag,
                r->last_modified ? r->last_modified : p->last_modified, r->last_modified_at);
    } else {
        struct visit_source source = {
                .body = r->body,
                .body_bytes = r->body_bytes,
                .content_type = r->content_type,
                .final_url = r->final_url,
                .etag = r->etag,
                .last_modified = r->last_modified,
                .fetched_at = p->last_fetch,
                .last_modified_at = r->last_modified_at,
        };
        take_body(p, &source, r);
    }
    engine_settle(e);
}

/* A page that was fetched but cannot be read is an error, never a version. */
void webpage_unreadable(struct webpage *p, const char *reason, msec asked_to_wait)
{
    struct engine *e = p->engine;
    failed(p, reason, /* is_gone= */ false, asked_to_wait); /* the page may be gone then */
    engine_settle(e);
}

/* Of a body that has not come yet. */
enum { BODY_GUESS = 64 << 10 };

/* ---- wanting a page ------------------------------------------------------------------ */

void webpage_fill_request(struct webpage *p, struct arena *life, struct fetch_request *r)
{
    struct fault f = {0};
    if (!p->request)
        return;
    if (webrequest_read(p->request, p->engine->secrets, life, &f, r) != OK)
        r->hindrance = arena_strdup(life, f.message);
    if (!p->jar && webrequest_wants_cookies(p->request)) {
        p->jar_life = arena_new(NULL, "cookies");
        p->jar = fetch_jar_new(p->jar_life);
    }
    r->jar = p->jar;
}

static void fetch_now(struct webpage *p)
{
    struct engine *e = p->engine;
    SCRATCH struct arena *scratch = arena_new(NULL, "request");
    bool conditional = p->latest && !fetch_is_audit(p->fetches) &&
                       fetch_trust_is_given(&p->host->trust, engine_wall(e));
    struct fetch_request r = {
            .url = p->url,
            .is_spelled = true,
            .etag = conditional ? p->etag : NULL,
            .last_modified = conditional ? p->last_modified : NULL,
    };
    webpage_fill_request(p, scratch, &r);
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
    if (e->options.once && !round_wants(p))
        return;
    if (!s->waiting)
        s->wanted = led_now(e->led);
    s->waiting = true;
    if (p->busy) {
        e->shared_fetches++; /* (1) */
        return;
    }
    if (p->postponed || e->stopping)
        return;
    if (p->not_before != MSEC_NEVER && engine_wall(e) < p->not_before)
        return; /* the server asked us to wait, or we back off; the retry will serve it */
    if (!e->options.once && is_fresh(p, s)) {
        e->shared_fetches++;
        if (stream_version(s) < p->latest)
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
