/* notify_int -- what the files of notify/ share. */
#pragma once
#include "base/str.h"
#include "notify/notify.h"

/* ---- escape.c: the one writer of foreign text ---- */

enum escape_place {
    ESCAPE_PLAIN, /* a terminal, a text mail */
    ESCAPE_HTML,  /* text and quoted attributes of HTML and XML */
    ESCAPE_PLACE_COUNT
};

/* Writes at most `most` characters (0: all), then "…".  Controls, marks that turn the
 * direction of writing and bytes that are no UTF-8 come out as U+FFFD, line ends and tabs as
 * spaces. */
void escape(struct buf *out, enum escape_place place, struct str s, size_t most);
void escape_text(struct buf *out, enum escape_place place, const char *s);

/* A header's value from foreign text: ASCII as it is, else RFC 2047; folded.  `used` is how
 * many columns of the line are taken already. */
void escape_header(struct buf *out, const char *s, size_t used);

/* ---- words.c: what differs inside two lines ---- */

struct words_run {
    struct str text;
    bool changed;
};

struct words {
    struct words_run *runs;
    size_t n;
};

/* Runs cover the texts whole; white space belongs to the run before it. */
void words_compare(struct arena *life, struct str old, struct str now, struct words *ret_old,
        struct words *ret_now);

/* ---- chat.c: services with a form of their own ---- */

enum chat_where { CHAT_HERE, CHAT_ROOT, CHAT_KEYED };
enum chat_marks { CHAT_PLAIN, CHAT_ENTITIES, CHAT_MARKDOWN };

struct chat {
    const char *name;
    const char *host; /* of the URL, or its end after a dot; NULL: only by settings */
    const char *path; /* must be in the URL; NULL: any */
    enum chat_where where;
    const char *method; /* "POST" or "PUT" */
    const char *type;   /* Content-Type */
    enum chat_marks marks;
    const char *body; /* with {fields}, see chat.def */
};

/* NULL: an ordinary webhook.  `chats` is the setting. */
const struct chat *chat_find(const char *chats, const char *url);
const struct chat *chat_named(const char *name);
const char *chat_url(const struct chat *c, struct arena *life, const struct notify_message *m);
void chat_body(const struct chat *c, const struct notify *n, const struct notify_message *m,
        struct buf *out);

/* ---- report.c ---- */

/* "news: 2 inserted, 1 deleted", for subjects and titles; not escaped. */
void report_title(const struct notify_message *m, struct buf *out);
/* What the item says in a sentence; not escaped. */
void report_sentence(const struct notify_item *it, struct buf *out);
void report_counts(const struct notify_item *it, struct buf *out); /* "2 inserted, 1 deleted" */
/* What a chat shows below the title. */
void report_brief(const struct notify *n, const struct notify_message *m, struct buf *out);
void report_link(const struct notify *n, const struct notify_item *it, struct buf *out);

/* One line of the summary record; `value` is empty when there is nothing to say. */
enum { RECORD_LINES = 12 };
const char *record_line(const struct notify_item *it, int line, struct buf *value);

/* ---- verdict.c ---- */

struct notify_result verdict_of_post(const struct notify_answer *a);
struct notify_result verdict_of_mail(const struct notify_answer *a);
struct notify_result verdict_of_program(const struct notify_answer *a);

/* ---- method.c: a message on its way ---- */

void method_send(
        struct notify *n, const struct notify_message *m, notify_done_fn *done, void *arg);

struct flight;

struct notify {
    struct arena *life;
    struct notify_options o;
    const char **program; /* argv; NULL: none */
    struct flight *idle;  /* to be used again */
};

/* The mail's envelope addresses, out of "Name <address>"; NULL: there is none. */
const char *mail_address(struct arena *life, const char *text);
/* The mailbox of a fax or phone behind the gateway; NULL: no gateway is set. */
const char *gateway_address(struct arena *life, const char *pattern, const char *number);
/* To whom a mail of this method goes; NULL: nobody. */
const char *mail_recipient(
        const struct notify *n, struct arena *life, const char *method, const char *target);
