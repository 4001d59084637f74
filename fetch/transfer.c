/* One transfer, from the queue to its report.
 *
 *  (1) A page is reported OK only when it is whole: status 200 or 203, every byte that
 *      was announced, the compressed stream at its end, no cap hit.
 *  (2) 304 counts only as the answer to a condition that we sent.
 *  (3) Each redirect is judged like a URL somebody typed, is counted, and never leads from
 *      https to http.
 *  (4) Timers of our own end it, whatever libcurl believes.
 *  (5) It is reported once; after that nothing of it is left.
 */
#include "fetch/fetch_int.h"
#include "fetch/date.h"
#include <stdio.h>

/* Takes it out of everything it is in; twice does no harm. */
static void detach(struct fetch_transfer *t)
{
    loop_timer_stop(t->fetch->loop, &t->phase_timer);
    loop_timer_stop(t->fetch->loop, &t->total_timer);
    if (t->run)
        fetch_handle_close(t);
    fetch_queue_leave(t);
}

/* The memory of bodies is used again: a page fits where one was before. */
static void body_take(struct fetch *fe, struct buf *ret_body)
{
    if (fe->nspare > 0)
        *ret_body = fe->spare[--fe->nspare];
    else
        buf_init(ret_body, fe->o.max_body_bytes);
}

static void body_give_back(struct fetch *fe, struct buf *body)
{
    if (body->cap == 0 || body->cap > FETCH_SPARE_BYTES_MAX ||
            fe->nspare == countof(fe->spare)) {
        buf_done(body);
        return;
    }
    buf_clear(body);
    fe->spare[fe->nspare++] = *body;
}

static void transfer_release(void *arg)
{
    struct fetch_transfer *t = TAGGED(struct fetch_transfer, arg, FETCH_TRANSFER_TAG);
    detach(t);
    if (t->cargo)
        fetch_cargo_release(t->cargo);
    if (t->run) {
        body_give_back(t->fetch, &t->run->body);
        fetch_inflate_done(&t->run->inflate);
    }
}

static void count(struct fetch *fe, const struct fetch_response *r)
{
    fe->stats.wire_bytes += r->wire_bytes;
    if (r->outcome == FETCH_OK)
        fe->stats.ok++;
    else if (r->outcome == FETCH_NOT_MODIFIED)
        fe->stats.not_modified++;
    else
        fe->stats.failed++;
}

static void report(struct fetch_transfer *t, struct fetch_response *r)
{
    detach(t);
    t->phase = FETCH_REPORTED;
    r->final_url = t->url;
    r->redirects = t->redirects;
    r->wire_bytes = t->wire_bytes;
    r->took = t->run ? clock_mono(t->fetch->o.clock) - t->began : 0;
    count(t->fetch, r);
    t->done(r, t->arg);
    arena_free(t->life); /* (5) */
}

static void report_failure(struct fetch_transfer *t, int status, const char *reason)
{
    report(t, &(struct fetch_response){.outcome = FETCH_FAILED,
                      .status = status,
                      .reason = reason,
                      .retry_after = t->doom_retry_after,
                      .last_modified_at = MSEC_NEVER});
}

void fetch_transfer_report_doomed(struct fetch_transfer *t)
{
    report_failure(t, 0, t->doom);
}

static void doom(struct fetch_transfer *t, const char *reason)
{
    t->phase = FETCH_DOOMED;
    t->doom = arena_strdup(t->life, reason);
    list_append(&t->fetch->doomed, &t->link);
    fetch_pump_soon(t->fetch);
}

static void phase_expired(struct loop_timer *timer)
{
    struct fetch_transfer *t = container_of(timer, struct fetch_transfer, phase_timer);
    fetch_reason_timeout(t, /* total= */ false, t->run->why);
    report_failure(t, t->run->headers.status, t->run->why); /* (4) */
}

static void total_expired(struct loop_timer *timer)
{
    struct fetch_transfer *t = container_of(timer, struct fetch_transfer, total_timer);
    fetch_reason_timeout(t, /* total= */ true, t->run->why);
    report_failure(t, t->run->headers.status, t->run->why); /* (4) */
}

static void run_new(struct fetch_transfer *t)
{
    t->run = arena_new_of(t->life, struct fetch_run);
    body_take(t->fetch, &t->run->body);
    fetch_inflate_init(&t->run->inflate);
    t->began = clock_mono(t->fetch->o.clock);
    loop_timer_set(t->fetch->loop, &t->total_timer, t->fetch->o.total_timeout);
}

/* The next hop starts from nothing but the time that is left. */
static void run_again(struct fetch_run *run)
{
    run->headers = (struct fetch_headers){.status = 0};
    run->header_bytes = 0;
    run->body_wire_bytes = 0;
    run->is_wanted = run->has_tried = false;
    run->refused[0] = run->why[0] = run->curl_says[0] = 0;
}

/* Its host asked to be left alone: it is not asked, and the caller learns for how long. */
static void doom_stopped(struct fetch_transfer *t, msec left)
{
    char why[FETCH_WHY_SIZE];
    fetch_reason_stopped(t->host->name, left, why);
    detach(t);
    t->doom_retry_after = left;
    doom(t, why);
}

void fetch_transfer_begin(struct fetch_transfer *t)
{
    msec stopped = fetch_queue_stopped_for(t);
    if (stopped > 0) {
        doom_stopped(t, stopped);
        return;
    }
    if (t->run)
        run_again(t->run);
    else
        run_new(t);
    t->fetch->stats.requests++;
    loop_timer_set(t->fetch->loop, &t->phase_timer, t->fetch->o.connect_timeout);
    if (!fetch_handle_open(t) || !fetch_multi_add(t)) {
        detach(t);
        doom(t, "there is not enough memory for another connection");
    }
}

static bool is_conditional(const struct fetch_transfer *t)
{
    return t->etag || t->last_modified;
}

/* Why the body is not the whole page; false when it is. */
static bool is_cut_short(const struct fetch_transfer *t, char why[FETCH_WHY_SIZE])
{
    const struct fetch_run *run = t->run;
    char got[FETCH_NUMBER_SIZE], all[FETCH_NUMBER_SIZE];
    if (run->headers.has_length && !run->headers.is_chunked &&
            run->headers.length != run->body_wire_bytes)
        snprintf(why, FETCH_WHY_SIZE, "the body ended early: %s of %s bytes",
                fetch_count_text(run->body_wire_bytes, got),
                fetch_count_text(run->headers.length, all));
    else if (run->headers.is_gzip && !fetch_inflate_is_complete(&run->inflate))
        snprintf(why, FETCH_WHY_SIZE, "the compressed body ended early, after %s bytes",
                fetch_count_text(run->body_wire_bytes, got));
    else if (run->body_wire_bytes == 0 && !run->headers.has_length &&
             !run->headers.is_chunked && !run->headers.is_framed)
        snprintf(why, FETCH_WHY_SIZE, "the connection ended before the body began");
    else
        return false;
    return true;
}

static enum fetch_outcome judge(struct fetch_transfer *t, CURLcode code)
{
    struct fetch_run *run = t->run;
    const struct fetch_headers *h = &run->headers;
    if (t->cargo)
        return fetch_cargo_judge(t, code);
    if (run->why[0])
        return FETCH_FAILED;
    if (h->is_complete && !run->is_wanted) {
        if (h->status == 304 && is_conditional(t))
            return FETCH_NOT_MODIFIED; /* (2) */
        fetch_reason_status(h->status, is_conditional(t), run->why);
        return FETCH_FAILED;
    }
    if (code != CURLE_OK) {
        fetch_reason_curl(t, code, run->why);
        return FETCH_FAILED;
    }
    if (!h->is_complete) { /* libcurl takes an end inside the headers for an empty body */
        snprintf(run->why, sizeof(run->why),
                "the connection ended in the middle of the headers");
        return FETCH_FAILED;
    }
    return is_cut_short(t, run->why) ? FETCH_FAILED : FETCH_OK; /* (1) */
}

static void report_answer(struct fetch_transfer *t, enum fetch_outcome outcome)
{
    const struct fetch_run *run = t->run;
    const struct fetch_headers *h = &run->headers;
    struct fetch_response r = {.outcome = outcome,
            .status = h->status,
            .gone = outcome == FETCH_FAILED && (h->status == 404 || h->status == 410),
            .reason = run->why,
            .etag = h->etag,
            .last_modified = h->last_modified,
            .last_modified_at = MSEC_NEVER,
            .content_type = h->content_type,
            .body_digest = h->body_digest};
    if (h->last_modified && !fetch_date_parse(h->last_modified, &r.last_modified_at))
        r.last_modified_at = MSEC_NEVER;
    if (outcome == FETCH_FAILED && h->retry_after)
        r.retry_after = fetch_retry_after(h->retry_after, clock_wall(t->fetch->o.clock));
    fetch_queue_answered(t, r.status, r.retry_after);
    if (outcome == FETCH_OK) {
        r.body = buf_text(&run->body);
        r.body_bytes = run->body.len;
    }
    report(t, &r);
}

static bool is_redirect(const struct fetch_headers *h)
{
    return h->is_complete && h->location &&
           (h->status == 301 || h->status == 302 || h->status == 303 || h->status == 307 ||
                   h->status == 308);
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Where the redirect leads, or false with the reason why we do not go there. */
static bool next_hop(struct fetch_transfer *t, char **ret_url)
{
    struct fault f;
    char *why = t->run->why;
    if (t->fetch->o.max_redirects == 0)
        snprintf(why, FETCH_WHY_SIZE, "the server redirects, and redirects are not followed");
    else if (t->redirects >= t->fetch->o.max_redirects)
        snprintf(why, FETCH_WHY_SIZE, "gave up after %u redirects", t->redirects);
    else if (fetch_url_resolve(t->life, t->url, t->run->headers.location, &f, ret_url) != OK)
        snprintf(why, FETCH_WHY_SIZE, "the server redirects, but %s",
                fetch_reason_plain(f.message));
    else if (starts_with(t->url, "https:") && starts_with(*ret_url, "http:"))
        snprintf(why, FETCH_WHY_SIZE,
                "the server redirects from https to http, which is refused");
    else
        return true;
    return false;
}

/* (3) */
static bool follow(struct fetch_transfer *t)
{
    char *url;
    if (t->cargo || t->run->why[0] || !is_redirect(&t->run->headers) || !next_hop(t, &url))
        return false;
    fetch_handle_close(t);
    loop_timer_stop(t->fetch->loop, &t->phase_timer);
    fetch_queue_leave(t);
    t->url = url;
    t->redirects++;
    fetch_queue_put(t, /* first= */ true);
    return true;
}

void fetch_transfer_ended(struct fetch_transfer *t, CURLcode code)
{
    if (!follow(t))
        report_answer(t, judge(t, code));
}

/* A validator that could smuggle a header line is not sent at all. */
static char *clean_copy(struct arena *life, const char *text)
{
    if (!text || !*text)
        return NULL;
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return NULL;
    return arena_strdup(life, text);
}

struct fetch_transfer *fetch_transfer_new(
        struct fetch *fe, struct arena *life, fetch_done_fn *done, void *arg)
{
    struct fetch_transfer *t = arena_new_of(life, struct fetch_transfer);
    t->tag = FETCH_TRANSFER_TAG;
    t->fetch = fe;
    t->life = life;
    t->done = done;
    t->arg = arg;
    list_init(&t->link);
    loop_timer_init(&t->phase_timer, phase_expired);
    loop_timer_init(&t->total_timer, total_expired);
    arena_defer(life, transfer_release, t);
    return t;
}

void fetch_transfer_put(struct fetch_transfer *t, const char *url, const char *doom_reason)
{
    t->url = arena_strdup(t->life, url);
    if (doom_reason)
        doom(t, doom_reason);
    else
        fetch_queue_put(t, /* first= */ false);
}

struct fetch_transfer *fetch_start(
        struct fetch *fe, const struct fetch_request *r, fetch_done_fn *done, void *arg)
{
    struct arena *life = arena_new(fe->life, "transfer");
    struct fetch_transfer *t = fetch_transfer_new(fe, life, done, arg);
    struct fault f;
    char *url;
    t->etag = clean_copy(life, r->etag);
    t->last_modified = clean_copy(life, r->last_modified);
    if (fetch_url_normalise(life, r->url, &f, &url) == OK)
        fetch_transfer_put(t, url, NULL);
    else
        fetch_transfer_put(t, r->url, f.message);
    return t;
}

void fetch_cancel(struct fetch_transfer *t)
{
    CHECK(t->phase != FETCH_REPORTED);
    arena_free(t->life);
}
