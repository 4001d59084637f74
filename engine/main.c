/* vigil -- one binary, one table of commands. */
#include "engine/cli.h"
#include "engine/commands.h"
#include "base/str.h"
#include "page/worker.h"
#include <string.h>

extern char **environ;

const struct command commands[] = {
        {"run", cmd_run, 0, 0, -1, "[FILE…]",
                "watch; install the definitions in the files first, those not there yet"},
        {"demo", cmd_demo, 0, 0, 0, "",
                "a small living web site and sentinels on it, to see it work"},
        {"add", cmd_add, OPT_JSON, 1, -1, "FILE…|-",
                "install all the sentinels in the files, or none"},
        {"check", cmd_check, OPT_JSON | OPT_NOW, 1, -1, "FILE…|-", "parse and verify only"},
        {"fmt", cmd_fmt, OPT_JSON, 1, -1, "FILE…|-", "print in canonical form"},
        {"list", cmd_list, OPT_JSON | OPT_STATE | OPT_USER | OPT_TOPIC, 0, 0, "",
                "the sentinels"},
        {"show", cmd_show, OPT_JSON, 1, 1, "NAME", "everything about one sentinel"},
        {"changes", cmd_changes, OPT_JSON | OPT_SINCE | OPT_FOLLOW | OPT_LIMIT | OPT_WAIT, 0, 1,
                "[NAME]", "what changed"},
        {"notifications", cmd_notifications, OPT_JSON | OPT_DEAD | OPT_RESEND, 0, 1, "[NAME]",
                "whom the changes were told to, and what became of it"},
        {"test-notify", cmd_test_notify, 0, 1, 2, "METHOD TARGET",
                "send a sample by email, webhook, fax, phone or program"},
        {"diff", cmd_diff, OPT_JSON | OPT_LOOK, 1, 2, "NAME [CHANGE]",
                "one change in full; the newest unless its number is given"},
        {"compare", cmd_compare, OPT_JSON | OPT_MONITOR | OPT_BASE, 2, 2, "OLD NEW",
                "what would be reported between two files: 0 nothing, 3 a change, 1 unknown"},
        {"enable", cmd_enable, OPT_JSON, 1, -1, "NAME…", "let sentinels look again"},
        {"disable", cmd_disable, OPT_JSON, 1, -1, "NAME…", "let sentinels pause"},
        {"stop", cmd_stop, OPT_JSON, 1, -1, "NAME…", "end sentinels now; their history stays"},
        {"drop", cmd_drop, OPT_JSON | OPT_CASCADE, 1, -1, "NAME…",
                "remove sentinels and their history"},
        {"once", cmd_once, OPT_JSON, 1, -1, "FILE…|-",
                "one round over all targets now; prints what changed since the last one"},
        {"explain", cmd_explain, OPT_JSON, 1, -1, "NAME…|FILE…",
                "events, rules, graph nodes and fetches, before or after installing"},
        {"replay", cmd_replay, OPT_JSON | OPT_SINCE, 1, -1, "FILE…|-",
                "what these definitions would have told on the stored versions of their pages"},
        {"status", cmd_status, OPT_JSON, 0, 0, "",
                "engine, database, queue and fetch figures at a glance"},
        {"graph", cmd_graph, OPT_AS, 0, 0, "",
                "the live events, rules, pages and sentinels, drawn with Graphviz"},
        {"settings", cmd_settings, OPT_JSON, 0, 0, "",
                "each setting with value, unit, default and why"},
        {"types", cmd_types, OPT_JSON, 0, 0, "", "the change types that can be monitored"},
        {"dump", cmd_dump, 0, 1, 1, "FILE",
                "write everything into one file, also while it runs"},
        {"restore", cmd_restore, 0, 1, 1, "FILE",
                "fill an empty database or data directory from a dump"},
        {"psql", cmd_psql, OPT_REST, 0, -1, "[ARGS…]", "a psql on the right database"},
        {NULL},
};

static void help(FILE *to)
{
    fputs("Vigil watches web pages for people who know exactly what they are waiting for.\n\n",
            to);
    for (const struct command *c = commands; c->name; c++)
        fprintf(to, "    vigil %-13s %s%*s %s\n", c->name, c->arguments,
                14 - (int)utf8_count(c->arguments), "", c->help);
    fputs("\nEvery command takes --db URL or --data DIR, --config FILE, --set NAME=VALUE.\n"
          "`vigil help COMMAND` says more; `man vigil` says all.\n",
            to);
}

static const struct command *command_find(const char *name)
{
    for (const struct command *c = commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *near = NULL;
    unsigned best = 3;
    for (const struct command *c = commands; c->name; c++) {
        unsigned d = str_distance(str_of(name), str_of(c->name), 2);
        if (d < best) {
            best = d;
            near = c->name;
        }
    }
    fprintf(stderr, "vigil: there is no command \"%s\"", name);
    if (near)
        fprintf(stderr, "; did you mean %s?\n", near);
    else
        fputs("; `vigil help` lists them\n", stderr);
    return EXIT_WRONG;
}

static int help_command(const char *name)
{
    const struct command *c = command_find(name);
    if (!c)
        return unknown_command(name);
    cli_help_command(c, stdout);
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    if (page_worker_is_asked(argc, argv))
        return page_worker_main();
    const char *name = argc > 1 ? argv[1] : "help";
    if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        if (argc > 2)
            return help_command(argv[2]);
        help(argc > 1 ? stdout : stderr);
        return argc > 1 ? EXIT_DONE : EXIT_WRONG;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        puts("vigil " VIGIL_VERSION);
        return EXIT_DONE;
    }
    const struct command *command = command_find(name);
    if (!command)
        return unknown_command(name);
    if (argc > 2 && strcmp(argv[2], "--help") == 0)
        return help_command(name);

    SCRATCH struct arena *life = arena_new(NULL, "command");
    struct cli c = {.life = life};
    if (!cli_parse(&c, command, argc - 2, argv + 2, environ))
        return EXIT_WRONG;
    int code = command->run(&c);
    if (fflush(stdout) != 0 && code == EXIT_DONE)
        code = EXIT_CANNOT; /* the answer did not reach anybody: a full disk, a closed pipe */
    return code;
}
