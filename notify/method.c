/* The methods: each renders the message its way and gives it to the carrier.
 *
 * A method is a row: its name, what it needs, how it sends, and what an answer means.
 */
#include "base/hash.h"
#include "notify/notify_int.h"

enum { MESSAGE_BYTES = 32 << 20, FLIGHT_TAG = 0x4E464C54 };

/* A message under way. */
struct flight {
    uint32_t tag;        /* FLIGHT_TAG */
    struct flight *next; /* free to be used again */
    struct notify *notify;
    const struct method *method;
    notify_done_fn *done;
    void *arg;
};

struct method {
    const char *name;
    enum err (*can)(const struct notify *n, const char *target, struct fault *f);
    void (*send)(struct notify *n, const struct notify_message *m, struct flight *flight);
    struct notify_result (*verdict)(const struct notify_answer *a);
};

static void answered(const struct notify_answer *a, void *arg)
{
    struct flight *flight = TAGGED(struct flight, arg, FLIGHT_TAG);
    struct notify_result r = flight->method->verdict(a);
    struct flight was = *flight;
    flight->tag = 0;
    flight->next = was.notify->idle;
    was.notify->idle = flight;
    was.done(&r, was.arg);
}

static enum err missing(struct fault *f, const char *what, const char *setting)
{
    enum err e = fault_set(f, ERR_UNSUPPORTED, "%s: the setting %s is empty", what, setting);
    fault_hint(f, "Set %s in the configuration, or with --set.", setting);
    return e;
}

/* ---- mail, and what goes by mail ---- */

static enum err no_address(struct fault *f, const char *text)
{
    enum err e = fault_set(f, ERR_SYNTAX, "\"%.100s\" is not a mail address", text);
    fault_hint(f, "Write one address like ann@example.org, in letters of ASCII.");
    return e;
}

static enum err can_mail(const struct notify *n, const char *target, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "mail");
    if (!n->o.has_mail)
        return missing(f, "no mail can be sent", "notify.smtp");
    if (!n->o.from)
        return missing(f, "no mail can be sent", "notify.from");
    if (!mail_address(scratch, n->o.from))
        return no_address(f, n->o.from);
    return target && !mail_address(scratch, target) ? no_address(f, target) : OK;
}

static enum err can_fax(const struct notify *n, const char *target, struct fault *f)
{
    (void)target;
    if (!n->o.fax_gateway || !strstr(n->o.fax_gateway, "{number}"))
        return missing(f, "no fax can be sent", "notify.fax_gateway");
    return can_mail(n, NULL, f);
}

static enum err can_phone(const struct notify *n, const char *target, struct fault *f)
{
    (void)target;
    if (!n->o.phone_gateway || !strstr(n->o.phone_gateway, "{number}"))
        return missing(f, "no phone can be reached", "notify.phone_gateway");
    return can_mail(n, NULL, f);
}

static void send_mail(struct notify *n, const struct notify_message *m, struct flight *flight)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "mail");
    BUF(text, MESSAGE_BYTES);
    notify_mime(n, m, &text);
    struct notify_mail mail = {
            .from = mail_address(scratch, n->o.from),
            .to = mail_recipient(n, scratch, m->method, m->target),
            .text = buf_text(&text),
            .bytes = text.len,
    };
    n->o.carrier.mail(n->o.carrier.arg, &mail, answered, flight);
}

/* ---- webhooks ---- */

static enum err can_post(const struct notify *n, const char *target, struct fault *f)
{
    (void)n;
    if (target && strncmp(target, "http://", 7) != 0 && strncmp(target, "https://", 8) != 0)
        return fault_set(f, ERR_SYNTAX, "\"%.100s\" is not an http or https URL", target);
    return OK;
}

/* sha256= and the hexadecimal HMAC of the body, as GitHub's hooks have it. */
static const char *signature(struct arena *life, const char *secret, const struct buf *body)
{
    char hex[65];
    struct sha256 mac = hmac_sha256(secret, strlen(secret), buf_text(body), body->len);
    sha256_hex(&mac, hex);
    return arena_printf(life, "X-Vigil-Signature: sha256=%s", hex);
}

static void send_post(struct notify *n, const struct notify_message *m, struct flight *flight)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "webhook");
    BUF(body, MESSAGE_BYTES);
    const char *headers[5];
    size_t k = 0;
    const struct chat *chat = chat_find(n->o.chats, m->target);
    if (chat)
        chat_body(chat, n, m, &body);
    else
        notify_json(n, m, &body);
    headers[k++] = arena_printf(
            scratch, "Content-Type: %s", chat ? chat->type : "application/json; charset=utf-8");
    headers[k++] = arena_printf(scratch, "Idempotency-Key: %s", m->key);
    if (n->o.secret && *n->o.secret)
        headers[k++] = signature(scratch, n->o.secret, &body);
    headers[k] = NULL;
    struct notify_post post = {
            .url = chat ? chat_url(chat, scratch, m) : m->target,
            .method = chat ? chat->method : "POST",
            .headers = headers,
            .body = buf_text(&body),
            .body_bytes = body.len,
    };
    n->o.carrier.post(n->o.carrier.arg, &post, answered, flight);
}

/* ---- the operator's own: a program, a channel of the database ---- */

static enum err can_run(const struct notify *n, const char *target, struct fault *f)
{
    (void)target;
    return n->program ? OK : missing(f, "no program is named", "notify.program");
}

static void send_program(
        struct notify *n, const struct notify_message *m, struct flight *flight)
{
    BUF(body, MESSAGE_BYTES);
    notify_json(n, m, &body);
    n->o.carrier.run(n->o.carrier.arg, n->program, buf_text(&body), body.len, answered, flight);
}

static enum err can_publish(const struct notify *n, const char *target, struct fault *f)
{
    (void)n, (void)target, (void)f;
    return OK;
}

/* PostgreSQL refuses a payload of 8000 bytes: what is too long goes without its lists, and at
 * last without its items. */
static void send_channel(
        struct notify *n, const struct notify_message *m, struct flight *flight)
{
    enum { PAYLOAD_BYTES = 7900 };
    BUF(body, MESSAGE_BYTES);
    SCRATCH struct arena *scratch = arena_new(NULL, "channel");
    struct notify_message less = *m;
    notify_json(n, m, &body);
    if (body.len > PAYLOAD_BYTES) {
        less.items = arena_memdup(scratch, m->items, m->nitems * sizeof *m->items);
        for (size_t i = 0; i < less.nitems; i++)
            less.items[i].nparts = 0;
        buf_clear(&body);
        notify_json(n, &less, &body);
    }
    while (body.len > PAYLOAD_BYTES && less.nitems > 1) {
        less.left_out++;
        less.nitems--;
        buf_clear(&body);
        notify_json(n, &less, &body);
    }
    if (body.len > PAYLOAD_BYTES) {
        buf_clear(&body);
        buf_printf(&body, "{\"id\":\"%s\",\"left_out\":%zu}", m->key, m->nitems + m->left_out);
    }
    n->o.carrier.publish(n->o.carrier.arg, m->target, buf_text(&body), answered, flight);
}

static const struct method methods[] = {
        {"email", can_mail, send_mail, verdict_of_mail},
        {"fax", can_fax, send_mail, verdict_of_mail},
        {"phone", can_phone, send_mail, verdict_of_mail},
        {"webhook", can_post, send_post, verdict_of_post},
        {"program", can_run, send_program, verdict_of_program},
        {"channel", can_publish, send_channel, verdict_of_program},
};

static const struct method *find(const char *name)
{
    for (size_t i = 0; i < countof(methods); i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return NULL;
}

enum err notify_can(
        const struct notify *n, const char *method, const char *target, struct fault *f)
{
    const struct method *how = find(method);
    if (how)
        return how->can(n, target, f);
    enum err e = fault_set(f, ERR_NAME, "there is no method \"%.50s\"", method);
    fault_hint(f, "There are email, webhook, fax, phone, program and channel.");
    return e;
}

void method_send(
        struct notify *n, const struct notify_message *m, notify_done_fn *done, void *arg)
{
    const struct method *how = find(m->method);
    CHECK(how && m->nitems); /* whoever owes a message by a method asked notify_can */
    struct flight *flight = n->idle;
    if (flight)
        n->idle = flight->next;
    else
        flight = arena_new_of(n->life, struct flight);
    *flight = (struct flight){
            .tag = FLIGHT_TAG, .notify = n, .method = how, .done = done, .arg = arg};
    how->send(n, m, flight);
}
