/* robots -- what a site's robots.txt lets us fetch, by RFC 9309.  Pure.
 *
 * Fetching the file, caching it for a day at most, and deciding for which pages it is asked
 * at all are the caller's.
 */
#pragma once
#include "base/arena.h"

struct fetch_robots;

enum { FETCH_ROBOTS_BYTES_MAX = 512 * 1024 }; /* what is beyond is not read */

/* The rules of the groups for `product` ("vigil"), else of those for "*".  Any bytes parse;
 * what is not understood is skipped. */
struct fetch_robots *fetch_robots_parse(
        struct arena *life, const char *text, size_t len, const char *product);

/* What an answer to the request for /robots.txt means: 2xx is its text, any other answer of
 * the server up to 499 allows everything, 5xx and no answer (status 0) forbid everything. */
struct fetch_robots *fetch_robots_of_answer(
        struct arena *life, int status, const char *text, size_t len, const char *product);

/* `url` as fetch_url_normalise spells it, or a path.  *ret_rule (may be NULL) is the line
 * that decided, "Disallow: /private"; NULL when none did. */
bool fetch_robots_allows(const struct fetch_robots *r, const char *url, const char **ret_rule);
