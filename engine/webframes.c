/* Framesets: a page made of frames is one page, and its frames are fetched with it.
 *
 *     frameset -> read: which frames? -> fetch what is not at hand -> one bundle -> read again:
 *     are these its frames? -> a version of all, or the newest one once more
 *
 *  (1) A version is made of exactly the frames it shows, in the order they stand there, frames
 *      of frames too.
 *  (2) A frame that cannot be had just now makes the whole page one that cannot be had: what
 *      was not seen did not change.  A frame that is not there (404, 410), or that a rule
 *      forbids us to ask for, is empty, as in a browser.
 *  (3) Frames are asked for like pages: with guards, gaps and limits, and as nobody named
 *      them, robots.txt is asked.  What logs in at the page's site is not sent to others.
 *  (4) Nothing here is written down.  A bundle has no validators, so the frameset is always
 *      asked for as a whole, and after a restart the first fetch finds its frames anew.
 */
#include "engine/engine_int.h"
#include "page/page.h"
#include <stdlib.h>

enum { ROUNDS_MOST = 8 };

struct webframe {
    char *url;
    bool is_known; /* it came, or is known not to be there */
    bool is_there;
    char *final_url, *content_type, *body;
    size_t bytes;
};

/* While they are put together, and until what comes of it is committed. */
struct webframes {
    struct arena *arena;
    struct page_part main;
    struct sha256 main_sha;
    msec fetched_at;
    struct webframe all[PAGE_FRAMES_MAX];
    size_t count;
    unsigned rounds;
    struct buf bundle;
    char type[PAGE_BUNDLE_TYPE_BYTES];
};

/* Which frames a frameset had, so that they can be asked for before it is read. */
struct webframes_seen {
    struct sha256 main_sha;
    char **urls;
    size_t count;
};

/* ---- coming and going ---------------------------------------------------------------- */

static void frame_done(struct webframe *f)
{
    free(f->url);
    free(f->final_url);
    free(f->content_type);
    free(f->body);
}

void webframes_drop(struct webpage *p)
{
    struct webframes *w = p->frames;
    if (!w)
        return;
    p->frames = NULL;
    for (size_t i = 0; i < w->count; i++)
        frame_done(&w->all[i]);
    buf_done(&w->bundle);
    arena_free(w->arena);
}

void webframes_forget(struct webpage *p)
{
    struct webframes_seen *seen = p->frames_seen;
    webframes_drop(p);
    p->frames_seen = NULL;
    for (size_t i = 0; seen && i < seen->count; i++)
        free(seen->urls[i]);
    if (seen)
        free(seen->urls);
    free(seen);
}

static void remember(struct webpage *p)
{
    const struct webframes *w = p->frames;
    struct webframes_seen *seen = calloc(1, sizeof *seen);
    CHECK(seen);
    seen->main_sha = w->main_sha;
    seen->urls = calloc(w->count + 1, sizeof *seen->urls);
    CHECK(seen->urls);
    for (; seen->count < w->count; seen->count++)
        webpage_set_text(&seen->urls[seen->count], w->all[seen->count].url);
    struct webframes *keep = p->frames;
    p->frames = NULL;
    webframes_forget(p);
    p->frames = keep;
    p->frames_seen = seen;
}

size_t webframes_urls(const struct webpage *p, const char *const **ret)
{
    const struct webframes_seen *seen = p->frames_seen;
    *ret = seen ? (const char *const *)seen->urls : NULL;
    return seen ? seen->count : 0;
}

/* ---- asking -------------------------------------------------------------------------- */

static void fetch_next(struct webpage *p);

static size_t origin_length(const char *url)
{
    const char *host = strstr(url, "://");
    return host ? (size_t)(host + 3 - url) + strcspn(host + 3, "/?#") : 0;
}

static bool is_same_site(const char *a, const char *b)
{
    size_t n = origin_length(a);
    return n && n == origin_length(b) && strncmp(a, b, n) == 0;
}

static void drop_private(struct fetch_request *r, struct arena *life)
{
    struct fetch_header *open = arena_array_of(life, r->nheaders + 1, struct fetch_header);
    size_t n = 0;
    for (size_t i = 0; i < r->nheaders; i++)
        if (!r->headers[i].is_private)
            open[n++] = r->headers[i];
    r->headers = open;
    r->nheaders = n;
}

static void give_up(struct webpage *p, const char *url, const char *reason, msec wait)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "frame");
    webpage_unreadable(p, arena_printf(scratch, "frame %s: %s", url, reason), wait);
}

static char *copied(const char *text)
{
    char *to = NULL;
    webpage_set_text(&to, text);
    return to;
}

static void frame_fetched(const struct fetch_response *r, void *arg)
{
    struct webpage *p = arg;
    struct engine *e = p->engine;
    struct webframes *w = p->frames;
    struct webframe *f = w->all;
    engine_catch_up(e);
    p->transfer = NULL;
    p->took += r->took;
    while (f->is_known)
        f++;
    if (r->outcome == FETCH_OK) {
        f->body = malloc(r->body_bytes + 1);
        CHECK(f->body);
        memcpy(f->body, r->body, r->body_bytes);
        f->bytes = r->body_bytes;
        f->content_type = copied(r->content_type);
        f->final_url = copied(r->final_url);
        f->is_there = true;
    } else if (!r->gone && !r->refused) { /* (2) */
        give_up(p, f->url, r->reason ? r->reason : "the fetch failed", r->retry_after);
        return;
    }
    f->is_known = true;
    fetch_next(p);
    engine_settle(e);
}

static void frame_ask(struct webpage *p, const char *url)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "request");
    struct fetch_request r = {.url = p->url};
    webpage_fill_request(p, scratch, &r); /* its secrets are for its own site: (3) */
    if (!is_same_site(p->url, url))
        drop_private(&r, scratch);
    r.url = url;
    r.method = r.body = NULL;
    r.render = false;
    r.is_discovered = true;
    p->transfer = fetch_start(p->engine->fetch, &r, frame_fetched, p);
}

/* ---- putting together ----------------------------------------------------------------- */

static void put_together(struct webpage *p)
{
    struct webframes *w = p->frames;
    struct page_part parts[PAGE_FRAMES_MAX + 1] = {w->main};
    size_t n = 1;
    for (size_t i = 0; i < w->count; i++) {
        const struct webframe *f = &w->all[i];
        if (f->is_there)
            parts[n++] = (struct page_part){
                    f->url, f->final_url, f->content_type, f->body, f->bytes};
    }
    buf_done(&w->bundle);
    buf_init(&w->bundle, PAGE_BODY_MAX);
    if (!page_bundle_write(parts, n, &w->bundle, w->type)) {
        SCRATCH struct arena *scratch = arena_new(NULL, "frames");
        webpage_unreadable(p,
                arena_printf(scratch, "the page and its frames have more than %d MB",
                        PAGE_BODY_MAX >> 20),
                0);
        return;
    }
    remember(p);
    struct visit_source source = {
            .body = w->bundle.data,
            .body_bytes = w->bundle.len,
            .content_type = w->type,
            .final_url = w->main.final_url,
            .fetched_at = w->fetched_at,
            .frames = (const char *const *)p->frames_seen->urls,
            .nframes = p->frames_seen->count,
            .last_modified_at = MSEC_NEVER,
    };
    webpage_arrived(p, &source);
}

static void fetch_next(struct webpage *p)
{
    struct webframes *w = p->frames;
    for (size_t i = 0; i < w->count; i++)
        if (!w->all[i].is_known) {
            frame_ask(p, w->all[i].url);
            return;
        }
    put_together(p);
}

/* The frames are these now; what came before is used again. */
static void refit(struct webframes *w, const char *const *urls, size_t n)
{
    struct webframe before[PAGE_FRAMES_MAX];
    size_t nbefore = w->count;
    memcpy(before, w->all, sizeof before);
    memset(w->all, 0, sizeof w->all);
    w->count = n < PAGE_FRAMES_MAX ? n : PAGE_FRAMES_MAX;
    for (size_t i = 0; i < w->count; i++) {
        for (size_t k = 0; k < nbefore && !w->all[i].url; k++)
            if (before[k].url && strcmp(before[k].url, urls[i]) == 0) {
                w->all[i] = before[k];
                before[k] = (struct webframe){.url = NULL};
            }
        if (!w->all[i].url)
            w->all[i].url = copied(urls[i]);
    }
    for (size_t k = 0; k < nbefore; k++)
        frame_done(&before[k]);
}

static void begin(struct webpage *p, const struct visit_source *main)
{
    struct arena *a = arena_new(NULL, "frames");
    struct webframes *w = p->frames = arena_new_of(a, struct webframes);
    w->arena = a;
    w->main = (struct page_part){
            .url = p->url,
            .final_url = arena_strdup(a, main->final_url ? main->final_url : p->url),
            .content_type = main->content_type ? arena_strdup(a, main->content_type) : NULL,
            .bytes = arena_memdup(a, main->body, main->body_bytes),
            .len = main->body_bytes,
    };
    w->main_sha = main->sha;
    w->fetched_at = main->fetched_at;
    buf_init(&w->bundle, PAGE_BODY_MAX);
}

void webframes_gather(
        struct webpage *p, const struct visit_source *main, const char *const *urls, size_t n)
{
    if (!p->frames)
        begin(p, main);
    if (++p->frames->rounds > ROUNDS_MOST) { /* frames that differ each time they are read */
        webpage_unreadable(p, "its frames show ever other frames", 0);
        return;
    }
    refit(p->frames, urls, n);
    fetch_next(p);
}

bool webframes_gather_seen(struct webpage *p, const struct visit_source *main)
{
    const struct webframes_seen *seen = p->frames_seen;
    if (!seen || !sha256_equal(&seen->main_sha, &main->sha))
        return false;
    webframes_gather(p, main, (const char *const *)seen->urls, seen->count);
    return true;
}
