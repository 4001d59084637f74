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
 * Each hop has a handle of its own, a copy of the pattern on which all that is the same for
 * everybody is set once.  Using a handle again would save a little more, but in libcurl
 * before 8.1.1 a second answer whose first header line is folded reads the freed headers of
 * the first (curl pull request 11103), and curl_easy_reset() does not help against that.
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
    SET(c, CURLOPT_CLOSESOCKETFUNCTION, fetch_multi_closes);
    SET(c, CURLOPT_CLOSESOCKETDATA, fe);
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
    SET(c, CURLOPT_CONNECTTIMEOUT_MS, (long)o->connect_timeout); /* for all its addresses */
    SET(c, CURLOPT_BUFFERSIZE, (long)BUFFER_BYTES);
    SET(c, CURLOPT_MAXLIFETIME_CONN, 600L);
    SET(c, CURLOPT_QUICK_EXIT, 1L); /* (6) */
    SET(c, CURLOPT_NOSIGNAL, 1L);
}

void fetch_handles_open(struct fetch *fe)
{
    CURL *c = fe->pattern = curl_easy_init();
    CHECK(c);
    set_borders(c, fe);
    set_limits(c, &fe->o);
    if (fe->o.proxy) /* hears it when it is asked for a tunnel */
        SET(c, CURLOPT_USERAGENT, fe->o.user_agent);
    SET(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    SET(c, CURLOPT_HEADERFUNCTION, fetch_on_header);
    SET(c, CURLOPT_WRITEFUNCTION, fetch_on_body);
}

void fetch_handles_close(struct fetch *fe)
{
    curl_easy_cleanup(fe->pattern);
}

static CURL *handle_new(const struct fetch_transfer *t)
{
    const struct fetch *fe = t->fetch;
    CURL *c = curl_easy_duphandle(fe->pattern);
    if (!c)
        return NULL;
    if (t->limits.connect != fe->o.connect_timeout)
        SET(c, CURLOPT_CONNECTTIMEOUT_MS, (long)t->limits.connect);
    SET(c, CURLOPT_SHARE, t->ask.jar ? fetch_jar_share(t->ask.jar) : fe->share);
    if (t->is_afresh)
        SET(c, CURLOPT_FRESH_CONNECT, 1L);
    if (t->ask.jar)
        SET(c, CURLOPT_COOKIEFILE, ""); /* no file: it only turns the cookie engine on */
    return c;
}

/* Lines in order. */
struct lines {
    struct arena *life;
    struct curl_slist *first, **end;
};

static void add_line(struct lines *lines, const char *line)
{
    struct curl_slist *l = arena_new_of(lines->life, struct curl_slist);
    l->data = (char *)line;
    *lines->end = l;
    lines->end = &l->next;
}

/* `name` with its colon and space. */
static void add_field(struct lines *lines, const char *name, const char *value)
{
    size_t before = strlen(name), len = strlen(value);
    char *line = arena_alloc(lines->life, before + len + 1);
    memcpy(line, name, before);
    memcpy(line + before, value, len + 1);
    add_line(lines, line);
}

static bool has_field(const struct lines *lines, struct str name)
{
    for (const struct curl_slist *l = lines->first; l; l = l->next)
        if (str_starts_nocase(str_of(l->data), name))
            return true;
    return false;
}

/* As lines like all others: given as an option, libcurl would spell each of them twice. */
static void add_usual(struct lines *lines, const struct fetch_transfer *t)
{
    if (has_field(lines, STR("User-Agent:")))
        ; /* that of the request */
    else if (t->ask.user_agent)
        add_field(lines, "User-Agent: ", t->ask.user_agent);
    else
        add_line(lines, t->fetch->agent_line);
    if (!has_field(lines, STR("Accept-Encoding:")))
        add_line(lines, "Accept-Encoding: " FETCH_CODINGS);
}

static void set_asked(CURL *c, const struct fetch_transfer *t, struct lines *lines)
{
    bool is_home = fetch_url_is_same_site(t->url, t->first_url);
    for (size_t i = 0; i < t->ask.nheaders; i++)
        if (is_home || !t->ask.headers[i].is_private)
            add_line(lines, t->ask.headers[i].line);
    add_usual(lines, t);
    if (!t->ask.method)
        return;
    const char *body = t->ask.body ? t->ask.body : "";
    add_line(lines, "Expect:"); /* no round trip to ask for leave */
    SET(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
    SET(c, CURLOPT_POSTFIELDS, body);
    SET(c, CURLOPT_CUSTOMREQUEST, t->ask.method);
}

static void set_request(CURL *c, struct fetch_transfer *t)
{
    struct lines lines = {.life = t->life, .end = &lines.first};
    set_asked(c, t, &lines);
    if (t->cargo)
        fetch_cargo_set(t, c);
    if (t->etag)
        add_field(&lines, "If-None-Match: ", t->etag);
    if (t->last_modified)
        add_field(&lines, "If-Modified-Since: ", t->last_modified);
    SET(c, CURLOPT_HTTPHEADER, lines.first);
    SET(c, CURLOPT_URL, t->url);
    SET(c, CURLOPT_ERRORBUFFER, t->run->curl_says);
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
}
