/* The one constructor of libcurl easy handles.
 *
 * Every promise about what leaves this process is kept by the lines below, so there is no
 * second place that makes a handle:
 *  (1) http and https, or smtp alone for a mail, and no redirect followed by libcurl: each
 *      hop is judged by us and is a request of its own;
 *  (2) no proxy, netrc, cookie, credential or environment that nobody set; what is for one
 *      site only does not go to another that it redirects to;
 *  (3) the address is decided at each connect and again before a request on a reused
 *      connection;
 *  (4) certificates and names are verified, TLS 1.2 or later;
 *  (5) bodies come undecoded except for chunks; all times are limited by deadline.c; and
 *  (6) nothing waits for a resolver thread, not even clean-up.
 *
 * Each hop has a handle of its own.  Using one again would save a tenth of a fetch, but in
 * libcurl 7.88 a second answer whose first header line is folded reads the freed headers of
 * the first, and dropped connections are counted over a handle's whole life, of which the
 * sixth is an error.
 */
#include "fetch/fetch_int.h"

enum { BUFFER_BYTES = 64 * 1024 };

/* A wrong option is a mistake of ours (or a libcurl without it), not of the web. */
#define SET(easy, option, value) CHECK(curl_easy_setopt((easy), (option), (value)) == CURLE_OK)

static void set_borders(CURL *c, struct fetch *fe)
{
    SET(c, CURLOPT_PROTOCOLS_STR, "http,https"); /* (1) */
    SET(c, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    SET(c, CURLOPT_FOLLOWLOCATION, 0L);
    SET(c, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    SET(c, CURLOPT_PROXY, fe->o.proxy ? fe->o.proxy : ""); /* (2) */
    SET(c, CURLOPT_NOPROXY, fe->o.proxy ? "" : "*");
    SET(c, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L); /* a proxy's are not the server's */
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

static void set_limits(CURL *c, const struct fetch_limits *l)
{
    SET(c, CURLOPT_HTTP_CONTENT_DECODING, 0L); /* (5) */
    SET(c, CURLOPT_HTTP09_ALLOWED, 0L);
    SET(c, CURLOPT_CONNECTTIMEOUT_MS, (long)l->connect); /* shared among several addresses */
    SET(c, CURLOPT_BUFFERSIZE, (long)BUFFER_BYTES);
    SET(c, CURLOPT_MAXLIFETIME_CONN, 600L);
    SET(c, CURLOPT_QUICK_EXIT, 1L); /* (6) */
    SET(c, CURLOPT_NOSIGNAL, 1L);
}

static CURL *handle_new(const struct fetch_transfer *t)
{
    struct fetch *fe = t->fetch;
    CURL *c = curl_easy_init();
    if (!c)
        return NULL;
    set_borders(c, fe);
    set_limits(c, &t->limits);
    SET(c, CURLOPT_SHARE, t->ask.jar ? fetch_jar_share(t->ask.jar) : fe->share);
    if (t->ask.jar)
        SET(c, CURLOPT_COOKIEFILE, ""); /* no file: it only turns the cookie engine on */
    SET(c, CURLOPT_USERAGENT, t->ask.user_agent ? t->ask.user_agent : fe->o.user_agent);
    SET(c, CURLOPT_ACCEPT_ENCODING, "gzip");
    SET(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    SET(c, CURLOPT_HEADERFUNCTION, fetch_on_header);
    SET(c, CURLOPT_WRITEFUNCTION, fetch_on_body);
    return c;
}

/* In order; the list is as long as a request's header, so walking it is fine. */
static void add_line(struct fetch_transfer *t, const char *line)
{
    struct curl_slist **last = &t->run->lines;
    while (*last)
        last = &(*last)->next;
    *last = arena_new_of(t->life, struct curl_slist);
    (*last)->data = (char *)line;
}

static void set_asked(CURL *c, struct fetch_transfer *t)
{
    bool is_home = fetch_url_is_same_site(t->url, t->first_url);
    for (size_t i = 0; i < t->ask.nheaders; i++)
        if (is_home || !t->ask.headers[i].is_private)
            add_line(t, t->ask.headers[i].line);
    if (!t->ask.method)
        return;
    const char *body = t->ask.body ? t->ask.body : "";
    add_line(t, "Expect:"); /* no round trip to ask for leave */
    SET(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
    SET(c, CURLOPT_POSTFIELDS, body);
    SET(c, CURLOPT_CUSTOMREQUEST, t->ask.method);
}

static void set_request(CURL *c, struct fetch_transfer *t)
{
    struct fetch_run *run = t->run;
    set_asked(c, t);
    if (t->cargo)
        fetch_cargo_set(t, c);
    if (t->etag)
        add_line(t, arena_printf(t->life, "If-None-Match: %s", t->etag));
    if (t->last_modified)
        add_line(t, arena_printf(t->life, "If-Modified-Since: %s", t->last_modified));
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
    CURL *c = handle_new(t);
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
    run->easy = NULL;
    run->lines = NULL;
}
