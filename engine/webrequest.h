/* webrequest -- what is asked of a server beyond a plain GET, as a text and back.
 *
 * The text is part of what a page is: two sentinels whose texts (and URLs) are equal ask the
 * same and share one page.  Lines "method POST", "header Accept: text/html", "user-agent …",
 * "timeout 5000", "follow 3", "cookies NAME", "render", "discovered", and last "body" with the
 * body behind it; "" is a plain GET.  Secrets stand in it as references.
 */
#pragma once
#include "engine/secrets.h"
#include "fetch/fetch.h"
#include "grammar/grammar.h"

/* `sentinel`: whose cookies they are, where cookies are kept; such a page is not shared. */
char *webrequest_text(
        struct arena *life, const struct grammar_request *r, const char *sentinel);

/* For a page that nobody named but that belongs to one that somebody did, such as a frame of a
 * frameset: `text` is how that one is asked for.  The site's robots.txt has a say in it, and of
 * what was asked only the user agent and the patience are meant for it as well: headers,
 * cookies and secrets are for the page they were written beside. */
char *webrequest_discovered(struct arena *life, const char *text);

/* *ret_request has its URL already, which secrets may be bound to.  Fills method, body, headers
 * and so on of *ret_request, with secrets in place.  What is filled in lives in `life`, which
 * should be short. */
MUST_USE enum err webrequest_read(const char *text, struct secrets *s, struct arena *life,
        struct fault *f, struct fetch_request *ret_request);

bool webrequest_wants_cookies(const char *text);
