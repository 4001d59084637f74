/* run and demo: an engine in the foreground, its changes on the terminal. */
#include "engine/commands.h"
#include "engine/engine.h"
#include "engine/request.h"
#include "base/log.h"
#include "web/site.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REQUEST_MAX = 768 << 20 };

void cli_print_engine_change(const struct engine_change *c)
{
    struct shown_change shown = {
            .sentinel = c->sentinel,
            .url = c->url,
            .summary = c->summary,
            .detail = c->detail,
            .id = c->id,
            .old_version = c->old_version,
            .new_version = c->new_version,
            .inserted = c->inserted,
            .deleted = c->deleted,
            .updated = c->updated,
            .moved = c->moved,
            .at = c->at,
    };
    cli_print_change(&shown, stdout);
}

static void show_change(const struct engine_change *c, void *arg)
{
    (void)arg;
    cli_print_engine_change(c);
}

/* As a shell wants it; plain words stay as they are. */
static const char *quoted(struct arena *life, const char *s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:=@%+,";
    if (*s && s[strspn(s, plain)] == 0)
        return s;
    BUF(out, 1 << 16);
    buf_putc(&out, '\'');
    for (; *s; s++)
        if (*s == '\'')
            buf_puts(&out, "'\\''");
        else
            buf_putc(&out, *s);
    buf_putc(&out, '\'');
    return arena_strdup(life, buf_text(&out));
}

/* Commands as the user can type them again, on the directory or database we run on. */
static void print_hints(struct cli *c, const struct store *s)
{
    char exe[4096];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = 0;
    const char *vigil = n > 0 ? quoted(c->life, exe) : "vigil", *where = "";
    if (c->db)
        where = arena_printf(c->life, " --db %s", quoted(c->life, c->db));
    else if (strcmp(c->data, cli_default_data(c->life)) != 0)
        where = arena_printf(c->life, " --data %s", quoted(c->life, c->data));
    printf("  see them all     %s list%s\n", vigil, where);
    printf("  look in psql     %s psql%s -c 'SELECT name, state, evaluations, changes, "
           "last_change_at FROM vigil.status'\n",
            vigil, where);
    printf("  add a page       echo 'CREATE SENTINEL mine USING https://example.org MONITOR "
           "links;' | %s add%s -\n",
            vigil, where);
    printf("  the data is in   %s\n", store_describe(s));
    puts("  Ctrl-C stops everything; the next start goes on from here.\n");
    fflush(stdout);
}

/* Opens, installs what is missing, runs until a signal. */
static int run_engine(struct cli *c, const char *definitions, const char *greeting)
{
    int code = EXIT_DONE;
    signal(SIGPIPE, SIG_IGN);
    struct store *s = cli_store(c, STORE_ENGINE, &code);
    if (!s)
        return code;
    struct engine_options o = {
            .clock = &clock_system,
            .settings = &c->settings,
            .store = s,
            .changed = show_change,
            .owner = cli_owner(),
    };
    struct engine *e = NULL;
    struct fault f = {0};
    char *answer = NULL;
    if (engine_new(c->life, &o, &f, &e) != OK) {
        code = cli_fail(&f);
    } else if (*definitions &&
               (code = engine_ensure(e, definitions, c->life, &answer)) != EXIT_DONE) {
        fputs(answer, stderr);
    } else {
        fputs(greeting, stdout);
        if (answer)
            fputs(answer, stdout);
        putchar('\n');
        print_hints(c, s);
        engine_run(e);
        fputs("\nstopping …\n", stderr);
    }
    engine_free(e);
    store_close(s);
    return code;
}

int cmd_run(struct cli *c)
{
    BUF(text, REQUEST_MAX);
    if (!cli_gather_files(c, &text))
        return EXIT_WRONG;
    return run_engine(c, buf_text(&text), "Vigil is watching.\n");
}

/* ---- demo ---------------------------------------------------------------------------- */

enum { DEMO_LIVING = 100, DEMO_FIRST_TURN = 500 };

static const char demo_definitions[] =
        "CREATE SENTINEL headlines USING %s/news.html MONITOR any change FETCH EVERY 2 "
        "seconds;\n"
        "CREATE SENTINEL new_links USING %s/news.html MONITOR links FETCH EVERY 2 seconds;\n"
        "CREATE SENTINEL prices USING %s/prices.html MONITOR any change FETCH EVERY 1 "
        "second;\n"
        "CREATE SENTINEL weather USING %s/weather.html MONITOR any change FETCH EVERY 4 "
        "seconds;\n"
        "CREATE SENTINEL directory USING %s/links.html MONITOR links FETCH EVERY 3 seconds;\n"
        "CREATE SENTINEL bulletin USING %s/living/1.html MONITOR any change FETCH EVERY 1 "
        "second;\n"
        "CREATE SENTINEL calm USING %s/calm.html MONITOR any change FETCH EVERY 2 seconds;\n";

static char *demo_text(struct arena *life, const char *url)
{
    BUF(text, 1 << 16);
    for (const char *p = demo_definitions; *p; p++) {
        if (p[0] == '%' && p[1] == 's') {
            buf_puts(&text, url);
            p++;
        } else {
            buf_putc(&text, *p);
        }
    }
    return arena_strdup(life, buf_text(&text));
}

int cmd_demo(struct cli *c)
{
    struct fault f = {0};
    struct web_site *site;
    if (!c->db && strcmp(c->data, cli_default_data(c->life)) == 0)
        c->data = arena_printf(c->life, "%s-demo", c->data); /* never mixed with real ones */
    /* The demo's site is on this machine and changes every few seconds. */
    CHECK(settings_set(&c->settings, "fetch.min_interval", "1s", "demo", &f) == OK);
    if (settings_allow(&c->settings, "127.0.0.1", &f) != OK)
        return cli_fail(&f);
    unsigned port = (unsigned)settings_number(&c->settings, SETTING_DEMO_PORT);
    struct web_site_options o = {.clock = &clock_system,
            .port = port,
            .living = DEMO_LIVING,
            .first_turn = DEMO_FIRST_TURN};
    if (web_site_start(c->life, &o, &f, &site) != OK) {
        fault_hint(&f, "Choose another port with --set demo.port=8899.");
        return cli_fail(&f);
    }
    const char *url = web_site_url(site);
    char *greeting = arena_printf(c->life,
            "Vigil demo: a small web site at %s/ changes by itself, and these sentinels watch "
            "it.\nOne of them, calm, watches a page whose changes nobody would see: it "
            "should stay silent.\n\n",
            url);
    int code = run_engine(c, demo_text(c->life, url), greeting);
    web_site_stop(site);
    return code;
}
