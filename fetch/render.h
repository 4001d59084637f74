/* render -- pages that only a browser can build.  Inside fetch only.
 *
 * A page with `render` is first fetched like any other, by our own guarded transfer.  Only when
 * that came whole is its final URL handed to the renderer the operator configured, whose
 * answer is the body.  So status, robots.txt, gaps, redirects and the address of the page
 * itself are judged as always; what its scripts ask for, and what its name means to the
 * renderer's own resolver, is not.
 */
#pragma once
#include "fetch/fetch_int.h"

/* Is this a renderer that can be used: a program with its flags, or an http URL? */
MUST_USE enum err fetch_render_check(const char *renderer, struct fault *f);

/* Takes a transfer over whose page came whole; it is reported by and by. */
void fetch_render_start(struct fetch_transfer *t);
/* Starts the next that wait for a browser. */
void fetch_render_pump(struct fetch *fe);
/* Lets go of what rendering holds; nothing happens when it holds nothing. */
void fetch_render_stop(struct fetch_transfer *t);

/* browser.c: a program of which each run builds one page. */
struct fetch_browser;
struct fetch_browser *fetch_browser_start(struct fetch_transfer *t, const char *command,
        const char *url, char why[FETCH_WHY_SIZE]); /* NULL: it could not be started */
void fetch_browser_stop(struct fetch_browser *b);
/* It is through, with the body in the transfer; `complaint` is the last thing it said. */
enum { FETCH_COMPLAINT_SIZE = 300 };
void fetch_rendered(struct fetch_transfer *t, int exit_code, const char *complaint);
