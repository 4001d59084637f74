/* Commands about telling people: what is owed, sending it again, and trying a receiver. */
#include "base/str.h"
#include "engine/carrier.h"
#include "engine/commands.h"
#include "engine/telling.h"
#include <string.h>

/* ---- notifications -------------------------------------------------------------------- */

static int resend(struct cli *c, struct store *s)
{
    const char *params[] = {c->resend};
    struct store_rows *rows;
    struct fault f = {0};
    int64_t id;
    if (!str_to_int(str_of(c->resend), &id)) {
        fprintf(stderr, "vigil: \"%s\" is no notification; `vigil notifications` lists them\n",
                c->resend);
        return EXIT_WRONG;
    }
    if (store_query(s, STORE_Q_RESEND, 1, params, c->life, &f, &rows) != OK)
        return cli_fail(&f);
    if (strcmp(store_rows_text(rows, 0, 0), "t") != 0) {
        fprintf(stderr,
                "vigil: there is no notification %s that could be sent; `vigil notifications` "
                "lists them\n",
                c->resend);
        return EXIT_WRONG;
    }
    printf("%s: will be sent again%s\n", c->resend,
            store_engine_is_running(s) ? "" : " when an engine runs (`vigil run`)");
    return EXIT_DONE;
}

int cmd_notifications(struct cli *c)
{
    static const char *const columns[] = {"id", "sentinel", "at", "kind", "method", "target",
            "state", "attempts", "next_try_at", "error", NULL};
    int code = EXIT_DONE;
    struct store *s = cli_store(c, STORE_COMMAND, &code);
    if (!s)
        return code;
    if (c->resend) {
        code = resend(c, s);
        store_close(s);
        return code;
    }
    const char *params[] = {c->nargs ? c->args[0] : NULL, c->dead ? "dead" : NULL};
    struct store_rows *rows;
    struct fault f = {0};
    if (store_query(s, STORE_Q_NOTIFICATIONS, 2, params, c->life, &f, &rows) != OK)
        code = cli_fail(&f);
    else if (c->json)
        cli_print_json(rows, stdout);
    else if (store_rows_count(rows))
        cli_print_table(rows, columns, stdout);
    else
        fputs(c->dead ? "no notification was given up\n" : "nobody was told anything yet\n",
                stderr);
    store_close(s);
    return code;
}

/* ---- test-notify ---------------------------------------------------------------------- */

struct trial {
    struct loop *loop;
    struct notify_result result;
    char reason[400];
};

static void answered(const struct notify_result *r, void *arg)
{
    struct trial *t = arg;
    t->result = *r;
    str_copy(t->reason, sizeof t->reason, r->reason ? r->reason : "");
    loop_stop(t->loop);
}

static struct notify_item *sample(struct arena *life, msec now)
{
    struct notify_line *lines = arena_array_of(life, 3, struct notify_line);
    struct notify_part *part = arena_new_of(life, struct notify_part);
    struct notify_item *it = arena_new_of(life, struct notify_item);
    lines[0] = (struct notify_line){.mark = NOTIFY_UPDATED,
            .old = "The quick brown fox sleeps",
            .now = "The quick red fox jumps"};
    lines[1] = (struct notify_line){
            .mark = NOTIFY_INSERTED, .now = "This line is new & has <signs> in it"};
    lines[2] = (struct notify_line){.mark = NOTIFY_DELETED, .old = "This line went"};
    *part = (struct notify_part){.type = "any change", .lines = lines, .nlines = 3};
    *it = (struct notify_item){
            .id = 1,
            .kind = NOTIFY_CHANGE,
            .change = 1,
            .sentinel = "sample",
            .owner = cli_owner(),
            .url = "https://example.org/",
            .monitor = "any change",
            .summary = "a sample of what Vigil sends",
            .priority = 1,
            .at = now,
            .old_version = 1,
            .new_version = 2,
            .inserted = 1,
            .deleted = 1,
            .updated = 1,
            .ratio = -1,
            .parts = part,
            .nparts = 1,
            .look = NOTIFY_SIDE,
            .last_evaluated = now,
            .last_notified = MSEC_NEVER,
            .last_seen = MSEC_NEVER,
            .installed = now,
            .ends = MSEC_NEVER,
            .evaluations = 1,
    };
    return it;
}

static int try_it(struct cli *c, struct loop *loop, struct carrier *carrier)
{
    struct notify_carrier hooks = carrier_hooks(carrier);
    struct notify *n;
    struct fault f = {0};
    msec now = clock_wall(&clock_system);
    const char *method = c->args[0], *target = c->nargs > 1 ? c->args[1] : "";
    struct notify_message m = {
            .key = arena_printf(c->life, "test.%lld", (long long)now),
            .method = method,
            .target = target,
            .owner = cli_owner(),
            .items = sample(c->life, now),
            .nitems = 1,
            .now = now,
    };
    if (telling_notify(c->life, &c->settings, "test", &hooks, &f, &n) != OK ||
            notify_can(n, method, target, &f) != OK)
        return cli_fail(&f);
    struct trial t = {.loop = loop};
    notify_deliver(n, &m, answered, &t);
    loop_run(loop);
    if (t.result.outcome == NOTIFY_ACCEPTED) {
        printf("accepted: %s %s\n", method, target);
        return EXIT_DONE;
    }
    fprintf(stderr, "vigil: not accepted: %s\n", t.reason);
    fputs(t.result.outcome == NOTIFY_NEVER ? "A real message would be given up at once.\n"
                                           : "A real message would be tried again.\n",
            stderr);
    return EXIT_CANNOT;
}

int cmd_test_notify(struct cli *c)
{
    struct carrier *carrier;
    struct fault f = {0};
    if (strcmp(c->args[0], "channel") == 0) {
        fputs("vigil: a channel needs no trial: listen on it with `vigil psql`\n", stderr);
        return EXIT_WRONG;
    }
    struct loop *loop = loop_new();
    struct arena *life = arena_new(NULL, "carrier");
    int code;
    if (carrier_new(life, loop, &clock_system, &c->settings, &f, &carrier) != OK) {
        code = cli_fail(&f);
    } else {
        code = try_it(c, loop, carrier);
        carrier_free(carrier);
    }
    arena_free(life);
    loop_free(loop);
    return code;
}
