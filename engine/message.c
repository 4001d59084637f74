/* One message: built from the rows it is owed by, filled with what a mail shows, sent. */
#include "engine/message.h"
#include "base/crash.h"
#include "engine/letter.h"
#include "engine/telling.h"
#include <string.h>

/* A message on its way to be sent. */
struct dispatch {
    struct arena *life;
    struct message_doors doors;
    struct notify_message m;
    notify_done_fn *done;
    void *arg;
};

static void build(
        struct dispatch *d, const struct store_lane *of, size_t at, size_t n, msec now)
{
    d->m = (struct notify_message){
            .key = notify_key(d->doors.notify, d->life, of->owed[at].bundle),
            .method = of->method,
            .target = of->target,
            .owner = of->owner,
            .items = arena_array_of(d->life, n, struct notify_item),
            .nitems = n,
            .left_out = at == 0 ? of->left_out : 0,
            .now = now,
    };
    for (size_t i = 0; i < n; i++)
        detail_item(d->life, &of->owed[at + i], &d->m.items[i]);
}

static bool is_mail(const char *method)
{
    return strcmp(method, "email") == 0 || strcmp(method, "fax") == 0 ||
           strcmp(method, "phone") == 0;
}

/* A method whose settings are gone fails like a receiver that is away. */
static void cannot(struct dispatch *d, const struct fault *f)
{
    struct notify_result r = {.outcome = NOTIFY_LATER, .reason = f->message};
    d->done(&r, d->arg);
}

/* The message is complete. */
static void dispatch(void *arg)
{
    struct dispatch *d = arg;
    struct fault f = {0};
    notify_sort(d->m.items, d->m.nitems);
    CRASH_POINT("before_send");
    if (strcmp(d->m.method, "bulletin") == 0)
        feeds_write(d->doors.feeds, &d->m, d->done, d->arg);
    else if (notify_can(d->doors.notify, d->m.method, d->m.target, &f) != OK)
        cannot(d, &f);
    else
        notify_deliver(d->doors.notify, &d->m, d->done, d->arg);
    arena_free(d->life);
}

void message_send(const struct message_doors *doors, const struct store_lane *of, size_t at,
        size_t n, msec now, notify_done_fn *done, void *arg)
{
    struct arena *life = arena_new(NULL, "message");
    struct dispatch *d = arena_new_of(life, struct dispatch);
    d->life = life;
    d->doors = *doors;
    d->done = done;
    d->arg = arg;
    build(d, of, at, n, now);
    if (is_mail(of->method))
        letter_fill(doors->store, life, &d->m, &of->owed[at], dispatch, d);
    else
        dispatch(d);
}
