/* notify -- telling people: what a message says, how it looks, whether it arrived.
 *
 * Owns the form of every message (mail, JSON, chat, feed, text and HTML), what a receiver's
 * answer means, and when to try again.  It knows no SQL and opens no socket: the engine gives
 * it changes as plain structs and a carrier that moves bytes.  Time is always an argument.
 *
 * Promises
 *  (1) A message carries a key that is the same each time it is sent: Idempotency-Key of a
 *      webhook, Message-ID of a mail.
 *  (2) `done` is called exactly once for each notify_deliver, never from inside it.
 *  (3) Text from a page is never anything but text: it is escaped by one writer
 *      (notify/escape.h) for the place it goes to.
 *
 * Loop thread only, except for what is marked pure.
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/fault.h"
#include "base/time.h"

/* ---- what is told ------------------------------------------------------------------- */

enum notify_kind {
    NOTIFY_CHANGE,
    NOTIFY_ENDING,
    NOTIFY_ENDED,
    NOTIFY_NEVER_STARTED,
    NOTIFY_FAILING,
    NOTIFY_RECOVERED,
    NOTIFY_CONTEXT_LOST,
    NOTIFY_REPORT,
    NOTIFY_KIND_COUNT
};

const char *notify_kind_name(enum notify_kind kind); /* "change", "never started", ... */
/* NOTIFY_KIND_COUNT: there is no such kind. */
enum notify_kind notify_kind_find(const char *name);

enum notify_look {
    NOTIFY_SIDE,   /* old and new beside each other ("dual frame") */
    NOTIFY_MERGED, /* one text, what went and what came marked in it */
    NOTIFY_ONLY,   /* only what changed */
    NOTIFY_LOOK_COUNT
};

const char *notify_look_name(enum notify_look look);            /* "side", "merged", "only" */
bool notify_look_find(const char *name, enum notify_look *ret); /* also "dual frame", ... */

enum notify_mark {
    NOTIFY_SAME,
    NOTIFY_INSERTED,
    NOTIFY_DELETED,
    NOTIFY_UPDATED,
    NOTIFY_MOVED,
    NOTIFY_FOUND, /* it is there, which is what was asked for */
    NOTIFY_MARK_COUNT
};

const char *notify_mark_name(enum notify_mark mark); /* "same", "inserted", ... */

/* What a line is, so that it can be shown as that. */
enum notify_shape {
    NOTIFY_TEXT,
    NOTIFY_LINK,
    NOTIFY_IMAGE,
    NOTIFY_ROW, /* of a table: cells split by \t */
    NOTIFY_HEAD /* likewise, and it names the columns */
};

/* One line of a change. */
struct notify_line {
    enum notify_mark mark;
    enum notify_shape shape;
    const char *old, *now; /* NULL where there is none; SAME, MOVED and FOUND: only `now` */
    const char *path;      /* where in the page, if it says little without; NULL: not known */
    const char *old_place, *place; /* where in the old and in the new page; NULL: not known */
};

/* What one change type found. */
struct notify_part {
    const char *type;   /* "links", "any change" */
    const char *remark; /* NULL: none */
    struct notify_line *lines;
    size_t nlines;
    size_t left_out; /* changes that are counted and not listed */
};

/* A change or a notice, with WebCQ's summary record. */
struct notify_item {
    int64_t id, change; /* of the notification; of the change, 0: a notice */
    enum notify_kind kind;
    const char *sentinel, *owner, *url, *monitor, *summary;
    const char *topic; /* NULL: none */
    int64_t priority;
    msec at;
    int64_t old_version, new_version;
    int64_t inserted, deleted, updated, moved;
    double ratio; /* of the page's words that changed; negative: not known */
    struct notify_part *parts;
    size_t nparts;
    enum notify_look look;
    /* the record; MSEC_NEVER or NULL: none */
    const char *last_modified; /* the server's own words */
    msec last_evaluated, last_notified, last_seen, installed, ends;
    int64_t notifications, evaluations;
};

struct notify_message {
    const char *key; /* unique in the world, the same for every attempt */
    const char *method, *target, *owner;
    struct notify_item *items; /* at least one; sorted by notify_sort */
    size_t nitems;
    size_t left_out; /* further ones that are only counted */
    msec now;        /* when this attempt is made */
};

/* By topic; the topics, and what is in them, by priority, the highest first, then the newest
 * first. */
void notify_sort(struct notify_item *items, size_t n);

/* ---- delivering --------------------------------------------------------------------- */

enum notify_outcome {
    NOTIFY_ACCEPTED, /* the receiver said so */
    NOTIFY_LATER,    /* it did not, or not in a way we could see */
    NOTIFY_NEVER,    /* it said that it never will */
};

struct notify_result {
    enum notify_outcome outcome;
    const char *reason; /* for people; NULL when accepted */
    msec retry_after;   /* the receiver asked for this pause; 0: it did not */
    bool is_away;       /* LATER: there was no answer at all; others would get none either */
};

typedef void notify_done_fn(const struct notify_result *r, void *arg);

struct notify; /* what the settings say, and the carrier */

/* Renders the message for its method and sends it.  The message is borrowed for the call.
 * This is the one door to the outside: a simulation puts its own in its place at link time
 * (notify/deliver.c holds nothing else). */
void notify_deliver(
        struct notify *n, const struct notify_message *m, notify_done_fn *done, void *arg);

/* Is there a way to send by this method with these settings?  ERR_UNSUPPORTED names the
 * setting that is missing. */
MUST_USE enum err notify_can(
        const struct notify *n, const char *method, const char *target, struct fault *f);

/* ---- the carrier: how bytes leave, given by the engine --------------------------------- */

struct notify_answer {
    bool accepted;
    bool permanent; /* mail: the server refused this very message for good */
    int status;     /* HTTP or SMTP; program: exit status; 0: there was none */
    const char *reason;
    msec retry_after;
};

typedef void notify_answered_fn(const struct notify_answer *a, void *arg);

struct notify_post {
    const char *url;
    const char *method;         /* "POST" or "PUT" */
    const char *const *headers; /* "Name: value", ends with NULL; checked for line breaks */
    const char *body;
    size_t body_bytes;
};

struct notify_mail {
    const char *from, *to; /* envelope */
    const char *text;      /* headers and body, lines end with CRLF */
    size_t bytes;
};

struct notify_carrier {
    void (*post)(void *arg, const struct notify_post *p, notify_answered_fn *done, void *to);
    void (*mail)(void *arg, const struct notify_mail *m, notify_answered_fn *done, void *to);
    void (*run)(void *arg, const char *const *argv, const char *input, size_t bytes,
            notify_answered_fn *done, void *to);
    void (*publish)(void *arg, const char *channel, const char *payload,
            notify_answered_fn *done, void *to);
    void *arg;
};

/* Texts are copied; NULL or "" is not set. */
struct notify_options {
    const char *instance;    /* makes keys unique in the world */
    const char *host;        /* right of the @ in Message-ID */
    const char *from;        /* "Vigil <vigil@example.org>" */
    const char *secret;      /* signs webhooks */
    const char *link;        /* "https://vigil.example.org/change/{change}" */
    const char *unsubscribe; /* "mailto:..." or "https://...", for List-Unsubscribe */
    const char *fax_gateway, *phone_gateway; /* "{number}@fax.example.org" */
    const char *chats;                       /* "ntfy.example.org=ntfy, ..." */
    const char *program;                     /* path and arguments, by white space */
    const char *user_agent;
    bool has_mail; /* an SMTP server is set */
    struct notify_carrier carrier;
};

MUST_USE enum err notify_new(struct arena *life, const struct notify_options *o,
        struct fault *f, struct notify **ret_notify);

/* The key of a message: the number of its first notification, of this instance. */
const char *notify_key(const struct notify *n, struct arena *life, int64_t id);

/* ---- when: pure --------------------------------------------------------------------- */

/* The wait before the next attempt: 1 min x 2^failures with full jitter, at most 6 h; the
 * receiver's Retry-After (0: none) is obeyed.  `random` is any 64 bits. */
msec notify_backoff(unsigned failures, msec retry_after, uint64_t random);

#define NOTIFY_GIVE_UP_AFTER (3 * MSEC_PER_DAY)

/* Given up: not accepted for three days since it was due, or, when later, since the
 * receiver began to fail. */
bool notify_is_hopeless(msec due, msec failing_since, msec now);

/* "22:00-07:00" as minutes of a day; false: not such a text.  "" is none: both 0. */
bool notify_quiet_parse(const char *text, int *ret_from, int *ret_to);

/* ---- how it looks: pure ------------------------------------------------------------- */

enum notify_form { NOTIFY_PLAIN, NOTIFY_COLOUR, NOTIFY_HTML };

struct notify_style {
    enum notify_form form;
    unsigned width; /* of the terminal; 0: 100 */
    bool places;    /* a terminal's lines end with where in the page they stand */
};

/* One change's parts.  HTML is a fragment; notify_page wraps fragments into a page. */
void notify_show(struct buf *out, const struct notify_item *item, struct notify_style style);

/* Two versions' lines (their text in `now`) as one list: same, came, went, updated. */
void notify_compare(struct arena *life, const struct notify_line *old, size_t nold,
        const struct notify_line *now, size_t nnow, struct notify_part *part);

/* How much of the words changed: 1 - 2 x kept / (old + new). */
double notify_ratio(const struct notify_part *part);

/* Everything a message says, as text and as a page of its own. */
void notify_text(const struct notify *n, const struct notify_message *m, struct buf *out);
void notify_html(const struct notify *n, const struct notify_message *m, struct buf *out);
/* The whole mail, and a webhook's JSON. */
void notify_mime(const struct notify *n, const struct notify_message *m, struct buf *out);
void notify_json(const struct notify *n, const struct notify_message *m, struct buf *out);
/* An Atom feed of the items, newest first. */
void notify_feed(const struct notify *n, const char *user, const char *topic,
        const struct notify_item *items, size_t nitems, struct buf *out);
