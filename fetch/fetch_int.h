/* Inside fetch only: the transfer and those it passes through.
 *
 *     fetch_start -> host's queue -> [pump] -> easy handle in the multi -> done
 *                        ^                          | redirect
 *                        '--------------------------'
 */
#pragma once
#include "fetch/address.h"
#include "fetch/deliver.h"
#include "fetch/fetch.h"
#include "fetch/headers.h"
#include "fetch/inflate.h"
#include "fetch/polite.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include <curl/curl.h>

enum {
    FETCH_TAG = 0x46455443,
    FETCH_TRANSFER_TAG = 0x46545246,
    FETCH_SITE_TAG = 0x46534954,
    FETCH_JAR_TAG = 0x464a4152
};

enum { FETCH_SPARE_BYTES_MAX = 256 * 1024 };

enum fetch_phase {
    FETCH_ASKING,     /* waits for its site's robots.txt */
    FETCH_QUEUED,     /* in its host's queue */
    FETCH_DOOMED,     /* failed before it began; reported from the loop */
    FETCH_CONNECTING, /* name, connection, TLS */
    FETCH_WAITING,    /* the request is out, the headers are not in yet */
    FETCH_BODY,
    FETCH_RENDERING,
    FETCH_REPORTED,
};

/* What only a transfer on its way needs; made when it leaves the queue. */
struct fetch_run {
    CURL *easy;
    struct fetch_headers headers;
    size_t header_bytes;
    bool has_part;  /* as much of the body as was wanted; the rest was left */
    bool is_wanted; /* the body is the page, not an error's or a redirect's decoration */
    uint64_t body_wire_bytes, slow_mark; /* so far; when it was last looked at */
    struct buf body;
    struct fetch_inflate inflate;
    bool has_tried; /* to connect to `address` */
    struct fetch_address address;
    unsigned port;
    char refused[FETCH_WHY_SIZE]; /* why an address was not connected to */
    char why[FETCH_WHY_SIZE];     /* our own reason to give up; empty: none */
    char curl_says[CURL_ERROR_SIZE];
};

/* What a delivery brings along; copies. */
struct fetch_cargo {
    struct fetch_parcel parcel;
    bool is_mail;
    size_t read; /* of a mail's bytes */
    struct curl_slist *to;
    int reply; /* of a mail server, the newest; 0: none */
    char reply_text[160];
    bool permanent;
    fetch_delivered_fn *done;
    void *arg;
};

struct fetch_host {
    struct map_node node;   /* in fetch.hosts */
    struct list ready;      /* in fetch.ready while one of the queue may begin */
    struct heap_node later; /* in fetch.later while it is not yet time for anything */
    struct fetch_polite polite;
    struct list queue; /* of transfers */
    unsigned running;
    bool is_private; /* its address is not public: a network of one's own */
    char name[256];
};

struct fetch_transfer {
    uint32_t tag; /* FETCH_TRANSFER_TAG */
    enum fetch_phase phase;
    struct fetch *fetch;
    struct arena *life; /* everything about it, itself included */
    struct fetch_host *host;
    struct list link; /* in a site's or a host's queue, in fetch.doomed or in fetch.running */
    fetch_done_fn *done;
    void *arg;
    char *url, *etag, *last_modified;
    const char *first_url;         /* before any redirect */
    char *rendered_url;            /* the page's, while a rendering service is asked; or NULL */
    struct fetch_browser *browser; /* that builds its page; NULL: none */
    struct list render_link;       /* in fetch.render_waiting */
    struct fetch_request ask;      /* the rest of what was asked, copied */
    struct fetch_limits {
        msec connect, first_byte, slow, total;
    } limits;
    size_t body_bytes_max;
    bool asks_robots; /* its site's robots.txt has a say */
    bool takes_part;  /* of a body longer than that the beginning will do */
    bool is_afresh;   /* on a connection of its own, after another one's rest was in the way */
    unsigned redirects;
    uint64_t wire_bytes;
    msec began;
    const char *doom; /* why a doomed one never began */
    bool is_refused;  /* because of a rule */
    msec doom_retry_after;
    struct fetch_cargo *cargo; /* NULL: it fetches a page */
    struct fetch_run *run;
    struct heap_node deadline;     /* in fetch.deadlines: when it is looked at */
    msec phase_until, total_until; /* monotonic */
};

struct fetch {
    uint32_t tag; /* FETCH_TAG */
    struct arena *life;
    struct loop *loop;
    struct fetch_options o;
    struct fetch_policy policy;
    CURLM *multi;
    CURLSH *share; /* TLS sessions */
    CURL *pattern; /* what every handle is a copy of */
    const char *agent_line;
    struct curl_slist *resolve;
    struct loop_timer curl_timer, pump_timer, later_timer, deadline_timer;
    struct heap deadlines; /* of transfers on their way */
    msec deadline_at;      /* when the timer expires; never later than the first of them */
    bool pumps_anyway;     /* what runs now ends with a pump */
    struct fetch_socket **sockets; /* by their number; NULL: none of libcurl's */
    size_t nsockets;
    struct list free_sockets, free_hosts; /* to be used again */
    struct list doomed, running;
    struct buf spare[32]; /* bodies' memory, to be used again */
    size_t nspare;
    struct arena *spare_lives[64]; /* transfers' likewise */
    size_t nspare_lives;
    struct map hosts;
    struct list ready; /* hosts that may begin a transfer, the one served longest ago first */
    struct heap later; /* hosts whose gap is not over, or that are only remembered */
    struct list render_waiting; /* transfers, for a browser to be free */
    unsigned rendering;         /* browsers that run */
    struct map sites;           /* whose robots.txt is known or being asked for */
    struct list sites_by_age;
    struct fetch_stats stats;
};

/* options.c */
MUST_USE enum err fetch_options_fill(
        struct fetch *fe, const struct fetch_options *o, struct fault *f);

/* multi.c: libcurl's multi interface on the loop */
void fetch_multi_open(struct fetch *fe);
void fetch_multi_close(struct fetch *fe);
bool fetch_multi_add(struct fetch_transfer *t);
void fetch_multi_opened(struct fetch *fe, int fd); /* a connection */
int fetch_multi_closes(void *arg, curl_socket_t fd);

/* handle.c: the only place where an easy handle is made */
void fetch_handles_open(struct fetch *fe);
void fetch_handles_close(struct fetch *fe);
bool fetch_handle_open(struct fetch_transfer *t);
void fetch_handle_close(struct fetch_transfer *t);

/* queue.c */
struct fetch_host *fetch_host_get(struct fetch *fe, const char *url);
void fetch_queue_put(struct fetch_transfer *t, bool first);
void fetch_queue_leave(struct fetch_transfer *t); /* queued or running: it is no more */
struct fetch_transfer *fetch_queue_next(struct fetch *fe); /* NULL: nothing may begin */
void fetch_queue_open(struct fetch *fe);
void fetch_queue_close(struct fetch *fe);
/* The host of a running transfer answered. */
void fetch_queue_answered(struct fetch_transfer *t, int status, msec retry_after);
/* It is being connected to, or found connected. */
void fetch_queue_reached(struct fetch_transfer *t, const struct fetch_address *a);
msec fetch_queue_stopped_for(const struct fetch_transfer *t);
void fetch_pump_soon(struct fetch *fe);
void fetch_pump(struct fetch *fe);

/* site.c: robots.txt before the queue */
void fetch_sites_open(struct fetch *fe);
void fetch_sites_close(struct fetch *fe);
void fetch_site_pass(struct fetch_transfer *t, bool first); /* into its host's queue, or not */

/* jar.c */
CURLSH *fetch_jar_share(struct fetch_jar *jar);

/* border.c: what can be judged where somebody else connects */
bool fetch_host_is_literal(struct str name, struct fetch_address *ret_address);
bool fetch_border_allows(const struct fetch *fe, const char *url, char why[FETCH_WHY_SIZE]);

/* ask.c, deadline.c */
void fetch_ask_copy(struct fetch_transfer *t, const struct fetch_request *r);
void fetch_deadlines_open(struct fetch *fe);
void fetch_deadlines_close(struct fetch *fe);
void fetch_deadline_begin(struct fetch_transfer *t); /* the time of the whole begins */
void fetch_deadline_phase(struct fetch_transfer *t, enum fetch_phase phase);
void fetch_deadline_pause(struct fetch_transfer *t); /* between two hops */
void fetch_deadline_end(struct fetch_transfer *t);

/* transfer.c */
void fetch_transfer_report_rendered(struct fetch_transfer *t);
void fetch_transfer_report_failure(struct fetch_transfer *t, int status, const char *reason);
struct fetch_transfer *fetch_transfer_new(
        struct fetch *fe, const struct fetch_request *r, fetch_done_fn *done, void *arg);
void fetch_transfer_doom(struct fetch_transfer *t, const char *reason);
void fetch_transfer_begin(struct fetch_transfer *t);
void fetch_transfer_ended(struct fetch_transfer *t, CURLcode code); /* libcurl is through */
void fetch_transfer_report_doomed(struct fetch_transfer *t);

/* deliver.c: a transfer with cargo */
void fetch_cargo_set(struct fetch_transfer *t, CURL *c);
void fetch_cargo_refused(const struct fetch_address *a, char why[FETCH_WHY_SIZE]);
void fetch_cargo_release(struct fetch_cargo *cargo);
enum fetch_outcome fetch_cargo_judge(struct fetch_transfer *t, CURLcode code);

/* receive.c: libcurl's callbacks; `arg` is the transfer */
void fetch_body_give_back(struct fetch_transfer *t);
size_t fetch_on_header(char *data, size_t size, size_t n, void *arg);
size_t fetch_on_body(char *data, size_t size, size_t n, void *arg);
curl_socket_t fetch_on_socket_open(
        void *arg, curlsocktype purpose, struct curl_sockaddr *address);
int fetch_on_request(void *arg, char *remote, char *local, int remote_port, int local_port);

/* url.c: "http://host:port", and where a Location leads that a page at `base` (as we spell it)
 * names */
struct str fetch_url_host(const char *url);     /* of a normalised one */
size_t fetch_url_origin_bytes(const char *url); /* of a normalised one */
bool fetch_url_is_same_site(const char *a, const char *b);
MUST_USE enum err fetch_url_resolve(struct arena *life, const char *base, const char *reference,
        struct fault *f, char **ret_url);

/* reason.c: what happened, in words */
void fetch_reason_status(int status, bool was_conditional, char why[FETCH_WHY_SIZE]);
void fetch_reason_curl(const struct fetch_transfer *t, CURLcode code, char why[FETCH_WHY_SIZE]);
void fetch_reason_timeout(const struct fetch_transfer *t, bool total, char why[FETCH_WHY_SIZE]);
void fetch_reason_slow(const struct fetch_transfer *t, char why[FETCH_WHY_SIZE]);
const char *fetch_reason_plain(char *text); /* in place; returns it */
void fetch_reason_robots(
        const char *site, const char *rule, const char *hindrance, char why[FETCH_WHY_SIZE]);
void fetch_reason_stopped(const char *host, msec left, char why[FETCH_WHY_SIZE]);
void fetch_reason_refused(const struct fetch_address *a, char why[FETCH_WHY_SIZE]);
enum { FETCH_NUMBER_SIZE = 32 };
const char *fetch_size_text(uint64_t bytes, char text[FETCH_NUMBER_SIZE]);  /* "8 MiB" */
const char *fetch_count_text(uint64_t count, char text[FETCH_NUMBER_SIZE]); /* "4,096" */
