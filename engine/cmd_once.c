/* vigil once: one round over all targets now, for cron.
 *
 * What a page looked like the last time is in the database, which is the same one `vigil run`
 * uses: a round compares with that, remembers what it saw, and is gone.
 */
#include "engine/commands.h"
#include "engine/engine.h"
#include "base/json.h"
#include "base/log.h"
#include <unistd.h>

enum { REQUEST_MAX = 768 << 20, BAR_AFTER_MS = 1000, BAR_WIDTH = 30 };

struct once {
    struct cli *c;
    size_t changes;
    msec began, drawn; /* when the bar was last drawn; 0: it is not there */
};

/* ---- what is shown ------------------------------------------------------------------- */

static void wipe_bar(struct once *o)
{
    if (o->drawn)
        fputs("\r\033[K", stderr);
    o->drawn = 0;
}

static void progress(size_t done, size_t pages, void *arg)
{
    struct once *o = arg;
    msec now = clock_mono(&clock_system);
    if (!isatty(STDERR_FILENO) || now - o->began < BAR_AFTER_MS || now - o->drawn < 100)
        return;
    size_t full = pages ? done * BAR_WIDTH / pages : BAR_WIDTH;
    fputs("\r[", stderr);
    for (size_t i = 0; i < BAR_WIDTH; i++)
        fputc(i < full ? '#' : '.', stderr);
    fprintf(stderr, "] %zu of %zu pages\033[K", done, pages);
    o->drawn = now;
}

static void failed(const char *url, const char *reason, msec not_before, void *arg)
{
    char at[TIME_TEXT_SIZE];
    wipe_bar(arg);
    fprintf(stderr, "vigil: %s: %s", url, reason);
    if (not_before != MSEC_NEVER)
        fprintf(stderr, " (not tried again before %s)", time_iso(not_before, at));
    fputc('\n', stderr);
}

static void put_json(const struct engine_change *ch)
{
    BUF(out, 64 << 20);
    struct json j;
    char at[TIME_TEXT_SIZE];
    const struct {
        const char *key;
        int64_t n;
    } numbers[] = {{"old_version", ch->old_version}, {"new_version", ch->new_version},
            {"inserted", ch->inserted}, {"deleted", ch->deleted}, {"updated", ch->updated},
            {"moved", ch->moved}};
    json_init(&j, &out);
    json_object_begin(&j);
    json_key(&j, "id");
    json_int(&j, ch->id);
    json_key(&j, "sentinel");
    json_text(&j, ch->sentinel);
    json_key(&j, "at");
    json_text(&j, time_iso(ch->at, at));
    json_key(&j, "url");
    json_text(&j, ch->url);
    for (size_t i = 0; i < countof(numbers); i++) {
        json_key(&j, numbers[i].key);
        json_int(&j, numbers[i].n);
    }
    json_key(&j, "summary");
    json_text(&j, ch->summary);
    json_key(&j, "detail");
    if (ch->detail)
        json_raw(&j, ch->detail);
    else
        json_none(&j);
    json_object_end(&j);
    puts(buf_text(&out));
}

static void changed(const struct engine_change *ch, void *arg)
{
    struct once *o = arg;
    o->changes++;
    wipe_bar(o);
    if (o->c->json)
        put_json(ch);
    else
        cli_print_engine_change(ch);
}

/* ---- the round ----------------------------------------------------------------------- */

static int round_over(struct once *o, const struct engine_round *r)
{
    wipe_bar(o);
    if (r->interrupted) {
        fputs("vigil: interrupted; what was seen so far is kept\n", stderr);
        return EXIT_CANNOT;
    }
    return o->changes ? EXIT_CHANGES : r->failed ? EXIT_CANNOT : EXIT_DONE;
}

static int run_round(struct once *o, struct store *s, const char *request)
{
    struct cli *c = o->c;
    struct engine_options options = {
            .clock = &clock_system,
            .settings = &c->settings,
            .store = s,
            .changed = changed,
            .arg = o,
            .owner = cli_owner(),
            .once = true,
    };
    struct engine_round_hooks hooks = {.progress = progress, .failed = failed, .arg = o};
    struct engine_round r;
    struct engine *e = NULL;
    struct fault f = {0};
    char *answer = NULL;
    int code;
    if (engine_new(c->life, &options, &f, &e) != OK) {
        code = cli_fail(&f);
    } else {
        code = engine_once(e, request, c->life, &hooks, &r, &answer);
        if (code == EXIT_DONE)
            code = round_over(o, &r);
        else
            fputs(answer, c->json ? stdout : stderr);
    }
    engine_free(e);
    return code;
}

int cmd_once(struct cli *c)
{
    BUF(request, REQUEST_MAX);
    struct once o = {.c = c, .began = clock_mono(&clock_system)};
    int code = EXIT_DONE;
    if (!cli_gather_files(c, &request))
        return EXIT_WRONG;
    log_set_level(LOG_ERROR); /* what fails is told once, at the end */
    struct store *s = cli_store(c, STORE_ENGINE, &code);
    if (!s)
        return code;
    code = run_round(&o, s, buf_text(&request));
    store_close(s);
    return code;
}
