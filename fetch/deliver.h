/* deliver -- POST and SMTP through fetch's one constructor of handles.
 *
 * The same queue per host, the same judgement of addresses, the same limits of time as for
 * pages, and no redirect is ever followed.  Acceptance is a complete answer that says so
 * (2xx; 250 behind the last dot); everything else is reported as not accepted.
 *
 * Loop thread only.
 */
#pragma once
#include "fetch/fetch.h"

struct fetch_parcel {
    const char *url;            /* http, https, smtp or smtps */
    const char *method;         /* http: "POST" or "PUT" */
    const char *const *headers; /* http: "Name: value", ends with NULL */
    const char *body;           /* http: the body; smtp: the mail, lines end with CRLF */
    size_t body_bytes;
    /* smtp */
    const char *from, *to;
    const char *user, *password; /* NULL: no login */
    bool need_tls;               /* smtp: nothing is said before STARTTLS worked */
    bool may_tls;                /* smtp: STARTTLS when it is offered */
};

struct fetch_receipt {
    bool accepted;
    bool permanent; /* smtp: 5xx to this very message, not to us */
    int status;     /* HTTP or SMTP, 0: none came */
    const char *reason;
    msec retry_after;
};

typedef void fetch_delivered_fn(const struct fetch_receipt *r, void *arg);

/* Everything is copied; `done` is called later, never from inside this call. */
void fetch_deliver(
        struct fetch *fe, const struct fetch_parcel *p, fetch_delivered_fn *done, void *arg);
