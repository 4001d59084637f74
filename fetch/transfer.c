/* One transfer, from the queue to its report.
 *
 *  (1) A page is reported OK only when it is whole: status 200 or 203, every byte that
 *      was announced, the compressed stream at its end, no cap hit.
 *  (2) 304 counts only as the answer to a condition that we sent.
 *  (3) Each redirect is judged like a URL somebody typed, is counted, and never leads from
 *      https to http.
 *  (4) It is reported once; after that nothing of it is left.
 *  (5) What a server still had to say on a kept connection is not the answer to the next
 *      question there: that is asked again, once, on a connection of its own.
 */
#include "fetch/fetch_int.h"
#include "fetch/date.h"
#include "fetch/render.h"
#include <stdio.h>

/* Takes it out of everything it is in; twice does no harm. */
static void detach(struct fetch_transfer *t)
{
    fetch_deadline_end(t);
    fetch_render_stop(t);
    if (t->run)
        fetch_handle_close(t);
    fetch_queue_leave(t);
}

static void transfer_release(void *arg)
{
    struct fetch_transfer *t = TAGGED(struct fetch_transfer, arg, FETCH_TRANSFER_TAG);
    detach(t);
    if (t->cargo)
        fetch_cargo_release(t->cargo);
    if (t->run) {
        fetch_body_give_back(t);
        fetch_inflate_done(&t->run->inflate);
    }
}

/* Its memory serves the next one. */
static void transfer_free(struct fetch_transfer *t)
{
    struct fetch *fe = t->fetch;
    struct arena *life = t->life;
    if (fe->nspare_lives == countof(fe->spare_lives)) {
        arena_free(life);
        return;
    }
    arena_reset(life);
    fe->spare_lives[fe->nspare_lives++] = life;
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
    r->final_url = t->rendered_url ? t->rendered_url : t->url;
    r->redirects = t->redirects;
    r->wire_bytes = t->wire_bytes;
    r->refused = r->outcome == FETCH_FAILED &&
                 (t->is_refused || (t->run && !t->run->has_tried && t->run->refused[0]));
    r->took = t->run ? clock_mono(t->fetch->o.clock) - t->began : 0;
    count(t->fetch, r);
    t->done(r, t->arg);
    transfer_free(t); /* (4) */
}

void fetch_transfer_report_failure(struct fetch_transfer *t, int status, const char *reason)
{
    report(t, &(struct fetch_response){.outcome = FETCH_FAILED,
                      .status = status,
                      .reason = reason,
                      .retry_after = t->doom_retry_after,
                      .last_modified_at = MSEC_NEVER});
}

void fetch_transfer_report_doomed(struct fetch_transfer *t)
{
    fetch_transfer_report_failure(t, 0, t->doom);
}

void fetch_transfer_doom(struct fetch_transfer *t, const char *reason)
{
    t->phase = FETCH_DOOMED;
    t->doom = arena_strdup(t->life, reason);
    list_append(&t->fetch->doomed, &t->link);
    fetch_pump_soon(t->fetch);
}

static void run_new(struct fetch_transfer *t)
{
    t->run = arena_new_of(t->life, struct fetch_run);
    fetch_deadline_begin(t);
}

/* The next hop starts from nothing but the time that is left. */
static void run_again(struct fetch_run *run)
{
    run->headers = (struct fetch_headers){.status = 0};
    buf_clear(&run->body);
    fetch_inflate_done(&run->inflate);
    run->header_bytes = 0;
    run->body_wire_bytes = run->slow_mark = 0;
    run->is_wanted = run->has_tried = run->has_part = false;
    run->refused[0] = run->why[0] = run->curl_says[0] = 0;
}

/* Its host asked to be left alone: it is not asked, and the caller learns for how long. */
static void doom_stopped(struct fetch_transfer *t, msec left)
{
    char why[FETCH_WHY_SIZE];
    fetch_reason_stopped(t->host->name, left, why);
    detach(t);
    t->doom_retry_after = left;
    t->fetch->stats.left_alone++;
    fetch_transfer_doom(t, why);
}

void fetch_transfer_begin(struct fetch_transfer *t)
{
    msec stopped = fetch_queue_stopped_for(t);
    if (stopped > 0) {
        doom_stopped(t, stopped);
        return;
    }
    char why[FETCH_WHY_SIZE];
    if (t->fetch->o.proxy && !t->rendered_url && !fetch_border_allows(t->fetch, t->url, why)) {
        detach(t);
        fetch_transfer_doom(t, why);
        return;
    }
    if (t->run)
        run_again(t->run);
    else
        run_new(t);
    t->fetch->stats.requests++;
    fetch_deadline_phase(t, FETCH_CONNECTING);
    if (!fetch_handle_open(t) || !fetch_multi_add(t)) {
        detach(t);
        fetch_transfer_doom(t, "there is not enough memory for another connection");
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
    else if (run->headers.coding && !fetch_inflate_is_complete(&run->inflate))
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
    if (run->has_part)
        return FETCH_OK;
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
            .body_digest = fetch_headers_body_digest(h)};
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

/* 307 and 308 repeat the request elsewhere; after any other redirect it is a GET. */
static bool keeps_method(const struct fetch_transfer *t)
{
    return t->run->headers.status == 307 || t->run->headers.status == 308;
}

/* Where the redirect leads, or false with the reason why we do not go there. */
static bool next_hop(struct fetch_transfer *t, char **ret_url)
{
    struct fault f;
    char *why = t->run->why;
    unsigned most = t->ask.has_follow ? t->ask.follow : t->fetch->o.max_redirects;
    if (most == 0)
        snprintf(why, FETCH_WHY_SIZE, "the server redirects, and redirects are not followed");
    else if (t->redirects >= most)
        snprintf(why, FETCH_WHY_SIZE, "gave up after %u redirects", t->redirects);
    else if (fetch_url_resolve(t->life, t->url, t->run->headers.location, &f, ret_url) != OK)
        snprintf(why, FETCH_WHY_SIZE, "the server redirects, but %s",
                fetch_reason_plain(f.message));
    else if (starts_with(t->url, "https:") && starts_with(*ret_url, "http:"))
        snprintf(why, FETCH_WHY_SIZE,
                "the server redirects from https to http, which is refused");
    else if (keeps_method(t) && t->ask.method && !fetch_url_is_same_site(t->url, *ret_url))
        snprintf(why, FETCH_WHY_SIZE,
                "the server redirects a %s to another site, which is refused", t->ask.method);
    else
        return true;
    return false;
}

/* Nothing of the hop counts any more, and another one waits for its turn. */
static void leave_hop(struct fetch_transfer *t)
{
    fetch_handle_close(t);
    fetch_deadline_pause(t);
    fetch_queue_leave(t);
}

/* (3) */
static bool follow(struct fetch_transfer *t)
{
    char *url;
    if (t->cargo || t->run->why[0] || t->rendered_url || !is_redirect(&t->run->headers) ||
            !next_hop(t, &url))
        return false;
    if (!keeps_method(t))
        t->ask.method = t->ask.body = NULL;
    leave_hop(t);
    t->url = url;
    t->redirects++;
    t->is_afresh = false;
    fetch_site_pass(t, /* first= */ true);
    return true;
}

/* (5): libcurl looks whether something came before it uses a connection again, but not
 * everything has come by then. */
static bool ask_afresh(struct fetch_transfer *t, CURLcode code)
{
    const struct fetch_run *run = t->run;
    bool is_nonsense = code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY;
    if (!is_nonsense || run->headers.status || run->has_tried || run->why[0] || t->is_afresh ||
            t->ask.method || t->cargo)
        return false;
    leave_hop(t);
    t->is_afresh = true;
    fetch_queue_put(t, /* first= */ true);
    return true;
}

void fetch_transfer_ended(struct fetch_transfer *t, CURLcode code)
{
    if (follow(t) || ask_afresh(t, code))
        return;
    enum fetch_outcome outcome = judge(t, code);
    if (outcome == FETCH_OK && t->ask.render && !t->rendered_url)
        fetch_render_start(t);
    else
        report_answer(t, outcome);
}

/* What a browser built has no validators. */
void fetch_transfer_report_rendered(struct fetch_transfer *t)
{
    struct fetch_response r = {.outcome = FETCH_OK,
            .status = 200,
            .last_modified_at = MSEC_NEVER,
            .content_type = "text/html; charset=utf-8",
            .body = buf_text(&t->run->body),
            .body_bytes = t->run->body.len};
    fetch_queue_answered(t, r.status, 0);
    report(t, &r);
}

struct fetch_transfer *fetch_transfer_new(
        struct fetch *fe, const struct fetch_request *r, fetch_done_fn *done, void *arg)
{
    struct arena *life = fe->nspare_lives ? fe->spare_lives[--fe->nspare_lives]
                                          : arena_new(fe->life, "transfer");
    struct fetch_transfer *t = arena_new_of(life, struct fetch_transfer);
    struct fault f;
    t->tag = FETCH_TRANSFER_TAG;
    t->fetch = fe;
    t->life = life;
    t->done = done;
    t->arg = arg;
    fetch_ask_copy(t, r);
    list_init(&t->link);
    list_init(&t->render_link);
    heap_node_init(&t->deadline);
    arena_defer(life, transfer_release, t);
    if (r->is_spelled)
        t->url = arena_strdup(life, r->url);
    else if (fetch_url_normalise(life, r->url, &f, &t->url) != OK) {
        t->url = arena_strdup(life, r->url);
        fetch_transfer_doom(t, f.message);
    }
    t->first_url = t->url;
    return t;
}

struct fetch_transfer *fetch_start(
        struct fetch *fe, const struct fetch_request *r, fetch_done_fn *done, void *arg)
{
    struct fetch_transfer *t = fetch_transfer_new(fe, r, done, arg);
    if (r->hindrance && t->phase != FETCH_DOOMED)
        fetch_transfer_doom(t, r->hindrance);
    else if (t->phase != FETCH_DOOMED)
        fetch_site_pass(t, /* first= */ false);
    return t;
}

void fetch_cancel(struct fetch_transfer *t)
{
    CHECK(t->phase != FETCH_REPORTED);
    transfer_free(t);
}
