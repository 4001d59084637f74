/* vigil replay: what definitions would have told on the versions that are stored. */
#include "engine/commands.h"
#include "engine/replay.h"
#include "engine/request.h"
#include "base/json.h"
#include "base/str.h"
#include <string.h>

enum { REQUEST_MAX = 256 << 20, LINE_MAX_BYTES = 256 << 20 };

static void print_json(const struct shown_change *c, void *arg)
{
    (void)arg;
    BUF(out, LINE_MAX_BYTES);
    struct json j;
    char at[TIME_TEXT_SIZE];
    json_init(&j, &out);
    json_object_begin(&j);
    const struct {
        const char *key, *text;
    } texts[] = {{"sentinel", c->sentinel}, {"at", time_iso(c->at, at)}, {"url", c->url}};
    for (size_t i = 0; i < countof(texts); i++) {
        json_key(&j, texts[i].key);
        json_text(&j, texts[i].text);
    }
    const struct {
        const char *key;
        int64_t n;
    } numbers[] = {{"old_version", c->old_version}, {"new_version", c->new_version},
            {"inserted", c->inserted}, {"deleted", c->deleted}, {"updated", c->updated},
            {"moved", c->moved}};
    for (size_t i = 0; i < countof(numbers); i++) {
        json_key(&j, numbers[i].key);
        json_int(&j, numbers[i].n);
    }
    json_key(&j, "summary");
    json_text(&j, c->summary);
    json_key(&j, "detail");
    json_raw(&j, c->detail ? c->detail : "null");
    json_object_end(&j);
    puts(buf_text(&out));
}

static void print_text(const struct shown_change *c, void *arg)
{
    (void)arg;
    cli_print_change(c, stdout);
}

static void print_figures(const struct sentinel *s, const struct replay_figures *g)
{
    if (g->without)
        fprintf(stderr,
                "vigil: %s: no version of %s is stored; an engine must have watched it first\n",
                s->name, g->without);
    fprintf(stderr, "%s: %zu change%s in %zu version%s", s->name, g->changes,
            g->changes == 1 ? "" : "s", g->versions, g->versions == 1 ? "" : "s");
    if (g->unknown)
        fprintf(stderr, "; %zu comparison%s could not be made: %s", g->unknown,
                g->unknown == 1 ? "" : "s", g->reason);
    fputc('\n', stderr);
}

/* What the files define is planned as if it were new, whatever is installed under its name. */
static void without_names(struct cli *c, struct directory *d, const char *text)
{
    struct grammar_script *script;
    if (grammar_parse(c->life, "", text, strlen(text), &script) != OK)
        return; /* what is wrong with it will be said by whoever plans it */
    for (struct grammar_statement *st = script->statements; st; st = st->next) {
        struct sentinel *known =
                st->verb == GRAMMAR_CREATE ? directory_find(d, st->name) : NULL;
        if (known)
            directory_remove(d, known);
    }
}

static int replay_plan(struct cli *c, struct store *s, struct request_plan *plan, msec since)
{
    struct sentinel **all = arena_array_of(c->life, plan->nsteps + 1, struct sentinel *);
    struct replay_figures *figures =
            arena_array_of(c->life, plan->nsteps + 1, struct replay_figures);
    struct replay_options o = {
            .since = since,
            .now = clock_wall(&clock_system),
            .deadline = settings_number(&c->settings, SETTING_PAGE_DEADLINE),
            .told = c->json ? print_json : print_text,
    };
    struct fault f = {0};
    size_t n = 0, changes = 0;
    for (size_t i = 0; i < plan->nsteps; i++)
        if (plan->subjects[i].made)
            all[n++] = plan->subjects[i].made;
    if (n == 0) {
        fputs("vigil: the files define no sentinel, so there is nothing to replay\n", stderr);
        return EXIT_WRONG;
    }
    if (replay(c->life, s, all, n, &o, &f, figures) != OK)
        return cli_fail(&f);
    for (size_t i = 0; i < n; i++) {
        changes += figures[i].changes;
        print_figures(all[i], &figures[i]);
    }
    return changes ? EXIT_CHANGES : EXIT_DONE;
}

int cmd_replay(struct cli *c)
{
    BUF(text, REQUEST_MAX);
    msec since;
    int code = EXIT_WRONG;
    struct fault f = {0};
    if (!cli_since(c, &since) || !cli_gather_files(c, &text))
        return EXIT_WRONG;
    if (!cli_has_database(c)) {
        fputs("vigil: there is no database yet, so no version of any page is stored\n", stderr);
        return EXIT_CANNOT;
    }
    struct store *s = cli_store(c, STORE_COMMAND, &code);
    if (!s)
        return code;
    cli_take_engine_settings(c);
    struct directory directory;
    directory_init(&directory, c->life);
    if (directory_load(&directory, s, &f) != OK) {
        code = cli_fail(&f);
    } else {
        without_names(c, &directory, buf_text(&text));
        struct request_context context = {
                .directory = &directory,
                .settings = &c->settings,
                .now = clock_wall(&clock_system),
                .owner = cli_owner(),
        };
        struct request_plan *plan =
                request_plan_make(c->life, &context, "add", buf_text(&text));
        code = plan->exit_code;
        if (code == EXIT_DONE)
            code = replay_plan(c, s, plan, since);
        else
            fputs(plan->answer, c->json ? stdout : stderr);
        request_plan_abandon(plan);
    }
    directory_done(&directory);
    store_close(s);
    return code;
}
