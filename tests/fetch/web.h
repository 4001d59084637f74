/* web -- a fetch and a loop for tests, and one call that waits for one answer. */
#pragma once
#include "fetch/fetch.h"
#include "tests/servers/servers.h"
#include "tests/test.h"

struct web {
    struct arena *life;
    struct loop *loop;
    struct fetch *fetch;
};

/* What came, copied. */
struct answer {
    unsigned done; /* how often it was reported */
    enum fetch_outcome outcome;
    int status;
    bool gone;
    msec retry_after, last_modified_at;
    size_t body_bytes;
    uint64_t wire_bytes;
    unsigned redirects;
    char reason[400], etag[2000], last_modified[200], content_type[200], final_url[500];
    char *body; /* terminated; in the web's arena */
    struct web *web;
};

/* Loopback is allowed.  The patient ones stand a busy machine; the hasty ones are for tests
 * that wait for a time to run out. */
extern const struct fetch_options web_options, web_hasty_options;

void web_open(struct web *w, const struct fetch_options *o);
void web_close(struct web *w);
#define WEB(name, options)                                                                     \
    CLEANUP(web_close) struct web name;                                                        \
    web_open(&name, (options))

void web_start(struct web *w, struct answer *a, const struct fetch_request *r);
/* Runs the loop until `a` is reported or 15 s have passed. */
void web_wait(struct web *w, struct answer *a);
struct answer *web_get(struct web *w, const char *url_format, ...) PRINTF_LIKE(2, 3);
