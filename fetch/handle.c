/* The one constructor of libcurl easy handles.
 *
 * Every promise about what leaves this process is kept by the lines below, so there is no
 * second place that makes a handle:
 *  (1) http and https (a mail goes by smtp and nothing else), and no redirect followed by
 * libcurl: each hop is judged by us and is a request of its own; (2) no proxy, netrc, cookie,
 * credential or environment that nobody set; (3) the address is decided at each connect and
 * again before a request on a reused connection; (4) certificates and names are verified,
 * TLS 1.2 or later; (5) bodies come undecoded except for chunks, and all times are limited; and
 *  (6) nothing waits for a resolver thread, not even clean-up.
 *
 * Each hop has a handle of its own.  Using them again would save a little, but libcurl 7.88
 * counts over a handle's whole life how often a kept connection was found dropped, and the
 * sixth time is an error.
 */
#include "fetch/fetch_int.h"

/* A wrong option is a mistake of ours (or a libcurl without it), not of the web. */
#define SET(easy, option, value) CHECK(curl_easy_setopt((easy), (option), (value)) == CURLE_OK)

static void set_borders(CURL *c, struct fetch *fe)
{
    SET(c, CURLOPT_PROTOCOLS_STR, "http,https"); /* (1) */
    SET(c, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    SET(c, CURLOPT_FOLLOWLOCATION, 0L);
    SET(c, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    SET(c, CURLOPT_PROXY, ""); /* (2) */
    SET(c, CURLOPT_NOPROXY, "*");
    SET(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET(c, CURLOPT_OPENSOCKETFUNCTION, fetch_on_socket_open); /* (3) */
    SET(c, CURLOPT_PREREQFUNCTION, fetch_on_request);
    SET(c, CURLOPT_SSL_VERIFYPEER, 1L); /* (4) */
    SET(c, CURLOPT_SSL_VERIFYHOST, 2L);
    SET(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    SET(c, CURLOPT_CAPATH, NULL); /* with a directory libcurl reads them for each connection */
    if (fe->o.ca_file)
        SET(c, CURLOPT_CAINFO, fe->o.ca_file);
    if (fe->resolve)
        SET(c, CURLOPT_RESOLVE, fe->resolve);
}

static void set_limits(CURL *c, const struct fetch_options *o)
{
    SET(c, CURLOPT_HTTP_CONTENT_DECODING, 0L); /* (5) */
    SET(c, CURLOPT_HTTP09_ALLOWED, 0L);
    SET(c, CURLOPT_CONNECTTIMEOUT_MS, (long)o->connect_timeout);
    SET(c, CURLOPT_TIMEOUT_MS, (long)o->total_timeout);
    SET(c, CURLOPT_LOW_SPEED_LIMIT, 100L);
    SET(c, CURLOPT_LOW_SPEED_TIME, (long)(o->slow_timeout / MSEC_PER_SECOND));
    SET(c, CURLOPT_MAXLIFETIME_CONN, 600L);
    SET(c, CURLOPT_QUICK_EXIT, 1L); /* (6) */
    SET(c, CURLOPT_NOSIGNAL, 1L);
}

static CURL *handle_new(struct fetch *fe)
{
    CURL *c = curl_easy_init();
    if (!c)
        return NULL;
    set_borders(c, fe);
    set_limits(c, &fe->o);
    SET(c, CURLOPT_SHARE, fe->share);
    SET(c, CURLOPT_USERAGENT, fe->o.user_agent);
    SET(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    SET(c, CURLOPT_HEADERFUNCTION, fetch_on_header);
    SET(c, CURLOPT_WRITEFUNCTION, fetch_on_body);
    return c;
}

static void add_line(struct curl_slist **lines, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*lines, line);
    CHECK(longer);
    *lines = longer;
}

static void set_request(CURL *c, struct fetch_transfer *t)
{
    struct fetch_run *run = t->run;
    if (t->cargo)
        fetch_cargo_set(t, c);
    else
        add_line(&run->lines, "Accept-Encoding: gzip");
    if (t->etag)
        add_line(&run->lines, arena_printf(t->life, "If-None-Match: %s", t->etag));
    if (t->last_modified)
        add_line(&run->lines, arena_printf(t->life, "If-Modified-Since: %s", t->last_modified));
    if (run->lines)
        SET(c, CURLOPT_HTTPHEADER, run->lines);
    SET(c, CURLOPT_URL, t->url);
    SET(c, CURLOPT_ERRORBUFFER, run->curl_says);
    SET(c, CURLOPT_PRIVATE, t);
    SET(c, CURLOPT_OPENSOCKETDATA, t);
    SET(c, CURLOPT_PREREQDATA, t);
    SET(c, CURLOPT_HEADERDATA, t);
    SET(c, CURLOPT_WRITEDATA, t);
}

bool fetch_handle_open(struct fetch_transfer *t)
{
    CURL *c = handle_new(t->fetch);
    if (!c)
        return false;
    t->run->easy = c;
    set_request(c, t);
    return true;
}

void fetch_handle_close(struct fetch_transfer *t)
{
    struct fetch_run *run = t->run;
    if (run->easy) {
        curl_multi_remove_handle(t->fetch->multi, run->easy); /* not being in it is fine */
        curl_easy_cleanup(run->easy);
    }
    curl_slist_free_all(run->lines);
    run->easy = NULL;
    run->lines = NULL;
}
