/* The simulated post: fetch/deliver.h over the receivers of a scenario.
 *
 * Everybody accepts at once unless the scenario says otherwise.  What was sent is kept with its
 * key, so that a message that came twice is known, as it is to a receiver who looks.
 */
#include "tests/sim/sim.h"
#include "base/str.h"
#include "fetch/deliver.h"
#include "tests/sim/network.h"
#include <jansson.h>
#include <string.h>

struct delivery {
    struct arena *arena;
    struct loop_timer answer;
    struct fetch *fetch;
    struct sim_parcel *parcel;
    const struct sim_receiver *receiver; /* NULL: one who accepts */
    bool is_mail;
    fetch_delivered_fn *done;
    void *arg;
};

/* ---- what a message says ------------------------------------------------------------------
 */

/* "s1:2" for the change to version 2, "s1:never-started" for a notice. */
static void put_item(struct buf *out, const json_t *item)
{
    const char *kind = json_string_value(json_object_get(item, "kind"));
    buf_printf(out, "%s%s:", out->len ? "+" : "",
            json_string_value(json_object_get(item, "sentinel")));
    if (strcmp(kind, "change") == 0)
        buf_printf(out, "%lld",
                (long long)json_integer_value(json_object_get(item, "new_version")));
    else
        for (; *kind; kind++)
            buf_putc(out, *kind == ' ' ? '-' : *kind);
}

static const char *items_of(struct arena *life, const char *body)
{
    BUF(out, 1 << 20);
    json_t *all = json_loads(body, 0, NULL), *item;
    size_t i;
    json_array_foreach(json_object_get(all, "items"), i, item) put_item(&out, item);
    long long more = json_integer_value(json_object_get(all, "left_out"));
    if (more)
        buf_printf(&out, "+%lld-more", more);
    json_decref(all);
    return arena_strdup(life, buf_text(&out));
}

/* The line's text behind `name`, up to its end. */
static const char *line_behind(struct arena *life, const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? arena_strndup(life, at + strlen(name), strcspn(at + strlen(name), "\r\n")) : "";
}

static const char *key_of(struct arena *life, const struct fetch_parcel *p)
{
    for (size_t i = 0; p->headers && p->headers[i]; i++)
        if (str_starts_nocase(str_of(p->headers[i]), STR("Idempotency-Key: ")))
            return line_behind(life, p->headers[i], ": ");
    return line_behind(life, p->body, "\r\nMessage-ID: ");
}

static struct sim_parcel *keep(struct world *w, const struct fetch_parcel *p, bool is_mail)
{
    struct sim_parcel *kept = arena_new_of(w->life, struct sim_parcel);
    size_t host = strlen(SIM_HOST);
    const char *name = is_mail                                ? p->to
                       : strncmp(p->url, SIM_HOST, host) == 0 ? p->url + host
                                                              : p->url;
    *kept = (struct sim_parcel){
            .to = arena_strdup(w->life, name),
            .key = key_of(w->life, p),
            .items = is_mail ? "mail" : items_of(w->life, p->body),
            .elapsed = w->elapsed,
            .wall = w->wall,
    };
    list_append(&w->parcels, &kept->link);
    return kept;
}

/* ---- the answer ---------------------------------------------------------------------------
 */

static struct sim_receiver *receiver_of(struct world *w, const char *name)
{
    list_each (pos, &w->receivers) {
        struct sim_receiver *r = list_entry(pos, struct sim_receiver, link);
        if (strcmp(r->name, name) == 0)
            return r;
    }
    return NULL;
}

void world_put_receiver(struct world *w, struct sim_receiver *receiver)
{
    struct sim_receiver *old = receiver_of(w, receiver->name);
    if (old)
        list_remove(&old->link);
    list_append(&w->receivers, &receiver->link);
}

static void release(void *arg)
{
    struct delivery *d = arg;
    loop_timer_stop(d->fetch->loop, &d->answer);
    d->fetch->world->flying--;
}

static void answer(struct loop_timer *t)
{
    struct delivery *d = container_of(t, struct delivery, answer);
    const struct sim_receiver *r = d->receiver;
    struct fetch_receipt receipt = {.status = r ? r->status : 200};
    bool got_it = receipt.status < 400 && !(r && r->failure);
    d->parcel->is_accepted = got_it;
    receipt.accepted = got_it && !(r && r->unseen);
    receipt.permanent = d->is_mail && receipt.status >= 500;
    receipt.retry_after = r ? r->retry_after : 0;
    if (!receipt.accepted)
        receipt.reason = r->failure  ? r->failure
                         : r->unseen ? r->unseen
                                     : arena_printf(d->fetch->world->life,
                                               "the receiver answered %d", r->status);
    if (r && (r->failure || r->unseen))
        receipt.status = 0; /* no answer came */
    fetch_delivered_fn *done = d->done;
    void *arg = d->arg;
    arena_free(d->arena);
    done(&receipt, arg);
}

void fetch_deliver(
        struct fetch *fe, const struct fetch_parcel *p, fetch_delivered_fn *done, void *arg)
{
    struct arena *a = arena_new(fe->life, "delivery");
    struct delivery *d = arena_new_of(a, struct delivery);
    bool is_mail = strncmp(p->url, "smtp", 4) == 0;
    struct sim_parcel *parcel = keep(fe->world, p, is_mail);
    struct sim_receiver *r = receiver_of(fe->world, parcel->to);
    if (r && r->times > 0 && --r->times == 0)
        list_remove(&r->link); /* the next one is accepted */
    *d = (struct delivery){.arena = a,
            .fetch = fe,
            .parcel = parcel,
            .receiver = r,
            .is_mail = is_mail,
            .done = done,
            .arg = arg};
    fe->world->flying++;
    loop_timer_init(&d->answer, answer);
    arena_defer(a, release, d);
    loop_timer_set(fe->loop, &d->answer, r ? r->takes : 0);
}
