/* From a page that was fetched to the page that a browser makes of it.
 *
 *  (1) At most RENDERS_MAX browsers run at once; others wait, inside their own time.
 *  (2) A service is asked by an ordinary transfer, with the same limits; only the address
 *      guard lets it pass, since the operator named it.  Its redirects are not followed.
 *  (3) What comes back is a page or an error; a browser's own error page is an error.
 */
#include "fetch/render.h"
#include <stdio.h>
#include <unistd.h>

enum { RENDERS_MAX = 2 };

static bool is_service(const char *renderer)
{
    return strncmp(renderer, "http://", 7) == 0 || strncmp(renderer, "https://", 8) == 0;
}

enum err fetch_render_check(const char *renderer, struct fault *f)
{
    SCRATCH struct arena *a = arena_new(NULL, "renderer");
    if (!renderer || !*renderer || is_service(renderer))
        return OK;
    char *program = arena_strndup(a, renderer, strcspn(renderer, " "));
    if (program[0] == '/' && access(program, X_OK) == 0)
        return OK;
    enum err e = fault_set(f, ERR_SYNTAX, "the renderer \"%.100s\" cannot be run", program);
    fault_hint(f, "Give the full path of a browser, such as /usr/bin/chromium, or a URL.");
    return e;
}

static void append_encoded(struct buf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     (c >= '0' && c <= '9') || strchr("-._~", c);
        buf_printf(out, plain ? "%c" : "%%%02X", c);
    }
}

/* "{url}" in the service's address stands for the page's; else it goes behind as ?url=. */
static char *service_url(struct fetch_transfer *t)
{
    const char *service = t->fetch->o.renderer, *place = strstr(service, "{url}");
    size_t before = place ? (size_t)(place - service) : strlen(service);
    BUF(out, 64 * 1024);
    buf_append(&out, service, before);
    if (!place)
        buf_puts(&out, strchr(service, '?') ? "&url=" : "?url=");
    append_encoded(&out, t->url);
    if (place)
        buf_puts(&out, place + strlen("{url}"));
    return arena_strdup(t->life, buf_text(&out));
}

/* (2) */
static void ask_service(struct fetch_transfer *t)
{
    struct fault f;
    char *url;
    t->rendered_url = t->url;
    fetch_queue_leave(t);
    if (fetch_url_normalise(t->life, service_url(t), &f, &url) != OK) {
        fetch_transfer_doom(t, f.message);
        return;
    }
    t->url = url;
    t->ask.nheaders = 0;
    t->ask.jar = NULL;
    t->asks_robots = false;
    t->etag = t->last_modified = NULL;
    fetch_queue_put(t, /* first= */ true);
}

static void run_browser(struct fetch_transfer *t)
{
    char *why = t->run->why;
    t->browser = fetch_browser_start(t, t->fetch->o.renderer, t->url, why);
    if (t->browser)
        t->fetch->rendering++;
    else
        fetch_transfer_report_failure(t, 0, why);
}

void fetch_render_start(struct fetch_transfer *t)
{
    struct fetch *fe = t->fetch;
    char *why = t->run->why;
    fetch_handle_close(t);
    fetch_deadline_pause(t);
    if (!fe->o.renderer) {
        snprintf(why, FETCH_WHY_SIZE, "no renderer is configured (fetch.renderer)");
        fetch_transfer_report_failure(t, 0, why);
    } else if (is_service(fe->o.renderer)) {
        ask_service(t);
    } else {
        t->phase = FETCH_RENDERING;
        list_append(&fe->render_waiting, &t->render_link);
        fetch_render_pump(fe);
    }
}

void fetch_render_pump(struct fetch *fe)
{
    while (fe->rendering < RENDERS_MAX && !list_is_empty(&fe->render_waiting)) { /* (1) */
        struct list *next = list_first(&fe->render_waiting);
        list_remove(next);
        run_browser(list_entry(next, struct fetch_transfer, render_link));
    }
}

void fetch_render_stop(struct fetch_transfer *t)
{
    list_remove(&t->render_link);
    if (!t->browser)
        return;
    fetch_browser_stop(t->browser);
    t->browser = NULL;
    t->fetch->rendering--;
    fetch_pump_soon(t->fetch);
}

/* What Chromium shows when it could not load a page. */
static bool is_error_page(const struct buf *dom)
{
    return memmem(buf_text(dom), dom->len, "id=\"main-frame-error\"", 21) != NULL;
}

void fetch_rendered(struct fetch_transfer *t, int exit_code, const char *complaint)
{
    struct fetch_run *run = t->run;
    if (run->why[0])
        ;
    else if (exit_code != 0)
        snprintf(run->why, sizeof(run->why), "the renderer ended with %d%s%s", exit_code,
                *complaint ? ": " : "", complaint);
    else if (run->body.len == 0)
        snprintf(run->why, sizeof(run->why), "the renderer gave nothing back");
    else if (is_error_page(&run->body))
        snprintf(run->why, sizeof(run->why), "the renderer could not load the page"); /* (3) */
    if (run->why[0])
        fetch_transfer_report_failure(t, 0, run->why);
    else
        fetch_transfer_report_rendered(t);
}
