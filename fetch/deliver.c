/* A transfer with cargo: a POST or a mail.
 *
 *  (1) Accepted means that a whole answer said so: headers up to their empty line with a 2xx,
 *      or the mail server's 250 behind the last dot.  What comes after that cannot take it
 *      back, and nothing less counts.
 *  (2) Not a line of a header or an envelope holds a line break, whoever wrote it.
 *  (3) A refusal is permanent only when a mail server gave it to this very mail; a login or a
 *      greeting that fails is the operator's to repair.
 */
#include "fetch/fetch_int.h"
#include <stdio.h>

#define SET(easy, option, value) CHECK(curl_easy_setopt((easy), (option), (value)) == CURLE_OK)

static void add(struct curl_slist **list, const char *text)
{
    struct curl_slist *longer = curl_slist_append(*list, text);
    CHECK(longer);
    *list = longer;
}

/* ---- what libcurl calls ---- */

static size_t read_mail(char *to, size_t size, size_t n, void *arg)
{
    struct fetch_transfer *t = TAGGED(struct fetch_transfer, arg, FETCH_TRANSFER_TAG);
    struct fetch_cargo *c = t->cargo;
    size_t room = size * n, left = c->parcel.body_bytes - c->read;
    size_t take = left < room ? left : room;
    memcpy(to, c->parcel.body + c->read, take);
    c->read += take;
    return take;
}

/* A line of the mail server's; every one is a sign of life. */
static size_t on_reply(char *data, size_t size, size_t n, void *arg)
{
    struct fetch_transfer *t = TAGGED(struct fetch_transfer, arg, FETCH_TRANSFER_TAG);
    struct fetch_cargo *c = t->cargo;
    size_t len = size * n;
    t->wire_bytes += len;
    t->run->header_bytes += len;
    if (t->run->header_bytes > t->fetch->o.max_header_bytes)
        return 0;
    int64_t code;
    if (len >= 3 && str_to_int((struct str){data, 3}, &code) && code >= 200 && code < 600) {
        c->reply = (int)code;
        size_t skip = len < 4 ? len : 4;
        struct str text = str_trim((struct str){data + skip, len - skip});
        snprintf(c->reply_text, sizeof c->reply_text, "%.*s", (int)text.len, text.ptr);
    }
    if (t->phase != FETCH_CONNECTING)
        fetch_deadline_phase(t, FETCH_WAITING);
    return len;
}

/* ---- the handle ---- */

static void set_mail(struct fetch_transfer *t, CURL *c)
{
    struct fetch_cargo *g = t->cargo;
    SET(c, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    SET(c, CURLOPT_MAIL_FROM, g->parcel.from);
    add(&g->to, g->parcel.to);
    SET(c, CURLOPT_MAIL_RCPT, g->to);
    SET(c, CURLOPT_UPLOAD, 1L);
    SET(c, CURLOPT_READFUNCTION, read_mail);
    SET(c, CURLOPT_READDATA, t);
    SET(c, CURLOPT_HEADERFUNCTION, on_reply);
    SET(c, CURLOPT_USE_SSL,
            g->parcel.need_tls  ? (long)CURLUSESSL_ALL
            : g->parcel.may_tls ? (long)CURLUSESSL_TRY
                                : (long)CURLUSESSL_NONE);
    if (g->parcel.user) {
        SET(c, CURLOPT_USERNAME, g->parcel.user);
        SET(c, CURLOPT_PASSWORD, g->parcel.password ? g->parcel.password : "");
    }
    g->read = 0;
}

/* What a POST needs is in the transfer's request already. */
void fetch_cargo_set(struct fetch_transfer *t, CURL *c)
{
    if (t->cargo->is_mail)
        set_mail(t, c);
}

void fetch_cargo_refused(const struct fetch_address *a, char why[FETCH_WHY_SIZE])
{
    char address[FETCH_ADDRESS_TEXT_SIZE], block[FETCH_CIDR_TEXT_SIZE];
    snprintf(why, FETCH_WHY_SIZE, "%s is not a public address; allow it with notify.allow = %s",
            fetch_address_text(a, address), fetch_address_block(a, block));
}

void fetch_cargo_release(struct fetch_cargo *cargo)
{
    curl_slist_free_all(cargo->to);
    cargo->to = NULL;
}

/* ---- what became of it ---- */

static enum fetch_outcome judge_mail(struct fetch_transfer *t, CURLcode code)
{
    struct fetch_cargo *g = t->cargo;
    char *why = t->run->why;
    if (code == CURLE_OK)
        return FETCH_OK; /* (1) */
    if (code == CURLE_LOGIN_DENIED)
        snprintf(why, FETCH_WHY_SIZE, "the mail server does not accept our name and password");
    else if (code == CURLE_USE_SSL_FAILED)
        snprintf(why, FETCH_WHY_SIZE, "the mail server does not offer TLS, which is required");
    else if (g->reply >= 400) {
        g->permanent = g->reply >= 500 && t->phase != FETCH_CONNECTING; /* (3) */
        snprintf(why, FETCH_WHY_SIZE, "the mail server answered %d: %s", g->reply,
                fetch_reason_plain(g->reply_text));
    } else
        fetch_reason_curl(t, code, why);
    return FETCH_FAILED;
}

enum fetch_outcome fetch_cargo_judge(struct fetch_transfer *t, CURLcode code)
{
    struct fetch_run *run = t->run;
    const struct fetch_headers *h = &run->headers;
    if (t->cargo->is_mail)
        return judge_mail(t, code);
    if (h->is_complete && h->status >= 200 && h->status < 300)
        return FETCH_OK; /* (1) */
    if (run->why[0])
        return FETCH_FAILED;
    if (h->is_complete && h->status >= 300 && h->status < 400)
        snprintf(run->why, sizeof run->why,
                "the receiver redirects (%d), and a message is never sent elsewhere",
                h->status);
    else if (h->is_complete)
        fetch_reason_status(h->status, /* was_conditional= */ false, run->why);
    else if (code != CURLE_OK)
        fetch_reason_curl(t, code, run->why);
    else
        snprintf(run->why, sizeof run->why, "the connection ended in the middle of the answer");
    return FETCH_FAILED;
}

static void delivered(const struct fetch_response *r, void *arg)
{
    struct fetch_transfer *t = TAGGED(struct fetch_transfer, arg, FETCH_TRANSFER_TAG);
    struct fetch_cargo *g = t->cargo;
    bool whole = t->run && (g->is_mail || t->run->headers.is_complete);
    struct fetch_receipt receipt = {
            .accepted = r->outcome == FETCH_OK,
            .permanent = g->permanent,
            .status = g->is_mail ? g->reply
                      : whole    ? r->status
                                 : 0,
            .reason = r->outcome == FETCH_OK ? NULL : r->reason,
            .retry_after = r->retry_after,
    };
    g->done(&receipt, g->arg);
}

/* ---- starting ---- */

static bool is_line(const char *text)
{
    return !text || !text[strcspn(text, "\r\n")];
}

/* (2) */
static bool has_line_breaks(const struct fetch_parcel *p)
{
    for (size_t i = 0; p->headers && p->headers[i]; i++)
        if (!is_line(p->headers[i]))
            return true;
    return !is_line(p->from) || !is_line(p->to) || !is_line(p->user) || !is_line(p->url);
}

static const char *copy(struct arena *life, const char *text)
{
    return text ? arena_strdup(life, text) : NULL;
}

static struct fetch_cargo *cargo_new(struct arena *life, const struct fetch_parcel *p)
{
    struct fetch_cargo *g = arena_new_of(life, struct fetch_cargo);
    g->is_mail = strncmp(p->url, "smtp", 4) == 0;
    if (!g->is_mail)
        return g;
    g->parcel = *p;
    g->parcel.body = arena_memdup(life, p->body, p->body_bytes);
    g->parcel.from = copy(life, p->from);
    g->parcel.to = copy(life, p->to);
    g->parcel.user = copy(life, p->user);
    g->parcel.password = copy(life, p->password);
    return g;
}

enum { HEADERS_MAX = 16 };

static struct fetch_request request_of(
        const struct fetch_parcel *p, struct fetch_header headers[HEADERS_MAX])
{
    struct fetch_request r = {.url = p->url};
    if (strncmp(p->url, "smtp", 4) == 0) {
        r.is_spelled = true; /* the operator's own words */
        return r;
    }
    r.method = p->method ? p->method : "POST";
    r.body = p->body;
    r.headers = headers;
    while (p->headers && p->headers[r.nheaders]) {
        CHECK(r.nheaders < HEADERS_MAX);
        headers[r.nheaders] = (struct fetch_header){.line = p->headers[r.nheaders]};
        r.nheaders++;
    }
    return r;
}

void fetch_deliver(
        struct fetch *fe, const struct fetch_parcel *p, fetch_delivered_fn *done, void *arg)
{
    struct fetch_header headers[HEADERS_MAX];
    struct fetch_request r = request_of(p, headers);
    struct fetch_transfer *t = fetch_transfer_new(fe, &r, delivered, NULL);
    t->arg = t;
    t->cargo = cargo_new(t->life, p);
    t->cargo->done = done;
    t->cargo->arg = arg;
    if (t->phase == FETCH_DOOMED)
        return; /* it is not a URL; told from the loop */
    if (has_line_breaks(p))
        fetch_transfer_doom(t, "a header, an address or the URL holds a line break");
    else
        fetch_queue_put(t, /* first= */ false); /* robots.txt is for pages */
}
