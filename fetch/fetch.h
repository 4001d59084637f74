/* fetch -- HTTP with libcurl on the loop: guarded, bounded, never blocking.
 *
 * The only home of libcurl.  Knows requests and responses, nothing of sentinels, pages'
 * meaning or the store.  A response is reported once, complete or with the reason why
 * not; half a body is never handed out as a whole one.
 *
 * Loop thread only.
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/loop.h"

struct fetch;
struct fetch_transfer;
struct fetch_jar;

/* For which pages a site's robots.txt is asked. */
enum fetch_robots_use {
    FETCH_ROBOTS_DISCOVERED, /* those we found ourselves; one a user named is just fetched */
    FETCH_ROBOTS_ALL,
    FETCH_ROBOTS_OFF,
};

/* What the settings say; copied by fetch_new.  A time, size or number of connections
 * left 0 takes its default, which is in fetch/options.c.  One `struct fetch` is one policy:
 * connections are never shared between two of them. */
struct fetch_options {
    const char *user_agent;
    const char *const *allow; /* CIDR texts that may be connected to although not public */
    size_t nallow;
    size_t max_body_bytes; /* decoded */
    msec connect_timeout, first_byte_timeout, total_timeout;
    unsigned max_redirects; /* 0: none is followed */
    unsigned max_connections, max_host_connections;
    const struct clock *clock; /* NULL: clock_system */
    size_t max_header_bytes;
    msec slow_timeout; /* cut when under 100 bytes/s for this long; whole seconds */
    /* Least time between two requests to one host; a host that answers 429 or 503 is then
     * left alone as a whole, as long as it asks.  0: neither.  A host reached at an address
     * that is not public, so on a network of one's own, has a measure of its own. */
    msec host_gap, private_gap;
    enum fetch_robots_use robots;
    const char *renderer; /* a browser and its flags, or a service URL; NULL: none */
    const char *proxy;    /* "http://host:port"; NULL: none.  The address guard ends there. */
    const char *ca_file;  /* trust these certificates instead of the system's */
    const char *const *resolve; /* fixed answers to names, each "name:port:address" */
    size_t nresolve;
};

struct fetch_header {
    const char *line; /* "Name: value" */
    bool is_private;  /* for this site only: not sent along when it redirects to another */
};

/* All but the URL may be left 0: a plain GET. */
struct fetch_request {
    const char *url;           /* http or https */
    bool is_spelled;           /* the URL is as fetch_url_normalise gave it */
    const char *etag;          /* sent back as If-None-Match, byte for byte; NULL: none */
    const char *last_modified; /* likewise as If-Modified-Since */
    const char *method;        /* NULL: GET */
    const char *body;          /* NULL: none */
    const char *user_agent;    /* NULL: that of the options */
    const struct fetch_header *headers;
    size_t nheaders;
    msec timeout;    /* for the whole; 0: that of the options */
    bool has_follow; /* `follow` redirects instead of what the options say */
    unsigned follow;
    bool render;           /* by the renderer of the options, whose answer is the body */
    const char *hindrance; /* why it cannot be asked at all: reported like any failure; NULL */
    bool is_discovered;    /* found by us, not named by a user: robots.txt is asked */
    struct fetch_jar *jar; /* whose cookies are sent, and where new ones go; NULL: none */
};

enum fetch_outcome {
    FETCH_OK,           /* a complete 2xx response: body, validators */
    FETCH_NOT_MODIFIED, /* 304 to a conditional request */
    FETCH_FAILED,       /* anything else; `reason` is for people */
};

struct fetch_response {
    enum fetch_outcome outcome;
    int status;         /* HTTP status, 0 when there was none */
    bool gone;          /* 404 or 410 */
    bool refused;       /* not asked for: robots.txt or the address guard forbids it */
    const char *reason; /* "timed out after 20 s waiting for the first byte" */
    msec retry_after;   /* Retry-After as a span from now; 0: none */
    const char *etag, *last_modified; /* the server's own bytes; NULL: none */
    msec last_modified_at;            /* parsed; MSEC_NEVER: none or nonsense */
    const char *content_type;         /* NULL: none */
    const char *final_url;            /* after redirects */
    const char *body;
    size_t body_bytes;
    msec took;
    uint64_t wire_bytes;
    const char *body_digest; /* the server's own Repr-Digest or Content-MD5; NULL: none */
    unsigned redirects;      /* how many were followed */
};

/* The response is borrowed: copy what is to be kept. */
typedef void fetch_done_fn(const struct fetch_response *r, void *arg);

MUST_USE enum err fetch_new(struct arena *life, struct loop *loop,
        const struct fetch_options *o, struct fault *f, struct fetch **ret_fetch);

/* Starts a transfer; `done` is called later, never from inside this call. */
struct fetch_transfer *fetch_start(
        struct fetch *fe, const struct fetch_request *r, fetch_done_fn *done, void *arg);
void fetch_cancel(struct fetch_transfer *t); /* done is not called */

/* Cookies, kept in memory as long as the arena lives.  No transfer may use it after that. */
struct fetch_jar *fetch_jar_new(struct arena *life);

/* Is `text` a CIDR as --allow takes it: "10.0.0.0/8", "fd00::/8", or a single address? */
MUST_USE enum err fetch_cidr_check(const char *text, struct fault *f);

struct fetch_stats {
    uint64_t requests, not_modified, ok, failed, wire_bytes;
    unsigned running, waiting;
    uint64_t connections;    /* opened; requests / connections says how well they are reused */
    uint64_t robots_refused; /* not asked for because robots.txt forbids it */
    uint64_t left_alone;     /* not asked for because the host asked for silence */
};
void fetch_stats_get(const struct fetch *fe, struct fetch_stats *ret_stats);

/* The one spelling of a URL: scheme and host lower case, default port dropped, empty path
 * made "/", dot segments removed, fragment dropped, userinfo refused.  Fault when it is
 * not an http or https URL. */
MUST_USE enum err fetch_url_normalise(
        struct arena *life, const char *url, struct fault *f, char **ret_url);
