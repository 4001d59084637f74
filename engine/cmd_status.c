/* status, settings, types: what there is, at a glance. */
#include "engine/commands.h"
#include "engine/engine_int.h"
#include "base/json.h"
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- status -------------------------------------------------------------------------- */

static void put_member(const char *key, const json_t *v)
{
    if (json_is_integer(v))
        printf("  %s %lld", key, (long long)json_integer_value(v));
    else if (json_is_string(v))
        printf("  %s %s", key, json_string_value(v));
    else if (json_is_boolean(v))
        printf("  %s %s", key, json_is_true(v) ? "yes" : "no");
}

/* {"a":{"b":1}} as a line for each part. */
static void put_status(const char *text)
{
    json_t *all = json_loads(text, 0, NULL);
    const char *part, *key;
    json_t *members, *v;
    json_object_foreach(all, part, members)
    {
        printf("%-10s", part);
        json_object_foreach(members, key, v) put_member(key, v);
        putchar('\n');
    }
    json_decref(all);
}

static int status_from_store(struct cli *c)
{
    int code = EXIT_DONE;
    c->quiet = true;
    struct store *s = cli_store(c, STORE_COMMAND, &code);
    if (!s)
        return code;
    struct store_rows *rows;
    struct fault f = {0};
    BUF(out, 1 << 20);
    if (store_query(s, STORE_Q_FIGURES, 0, NULL, c->life, &f, &rows) != OK) {
        code = cli_fail(&f);
    } else if (c->json) {
        struct json j;
        json_init(&j, &out);
        json_object_begin(&j);
        json_key(&j, "engine");
        json_object_begin(&j);
        json_key(&j, "state");
        json_text(&j, "stopped");
        json_object_end(&j);
        json_key(&j, "database");
        json_object_begin(&j);
        json_key(&j, "where");
        json_text(&j, store_describe(s));
        json_key(&j, "available");
        json_bool(&j, true);
        json_object_end(&j);
        json_key(&j, "figures");
        json_object_begin(&j);
        for (int i = 0; i < store_rows_columns(rows); i++) {
            json_key(&j, store_rows_name(rows, i));
            json_raw(&j, store_rows_text(rows, 0, i) ? store_rows_text(rows, 0, i) : "null");
        }
        json_object_end(&j);
        json_object_end(&j);
        puts(buf_text(&out));
    } else {
        printf("engine     not running; `vigil run` starts it\ndatabase   %s\n",
                store_describe(s));
        cli_print_record(rows, 0, stdout);
    }
    store_close(s);
    return code;
}

static int status_of_nothing(struct cli *c)
{
    if (c->json)
        puts("{\"engine\":{\"state\":\"stopped\"},\"database\":{\"available\":false}}");
    else
        printf("engine     not running; `vigil run` starts it\ndatabase   none in %s yet\n",
                c->data);
    return EXIT_DONE;
}

int cmd_status(struct cli *c)
{
    struct fault f = {0};
    char *answer;
    const char *path = cli_control(c);
    enum err e = path ? control_ask(path, "status", c->life, &f, &answer) : ERR_NET;
    if (e == ERR_BUSY)
        return cli_fail(&f);
    if (e != OK && !cli_has_database(c))
        return status_of_nothing(c);
    if (e != OK)
        return status_from_store(c);
    if (c->json)
        fputs(answer, stdout);
    else
        put_status(answer);
    return EXIT_DONE;
}

/* ---- settings ------------------------------------------------------------------------ */

/* A running engine's settings are the ones that count. */
static void put_engine_settings(const char *lines)
{
    while (*lines) {
        size_t used = strcspn(lines, "\n");
        json_t *row = json_loadb(lines, used, 0, NULL);
        const char *value = json_string_value(json_object_get(row, "value"));
        const char *initial = json_string_value(json_object_get(row, "default"));
        const char *origin = json_string_value(json_object_get(row, "origin"));
        if (value && initial && origin)
            printf("%s = %s\n    %s\n    %s; default %s; set by %s\n",
                    json_string_value(json_object_get(row, "name")), *value ? value : "(none)",
                    json_string_value(json_object_get(row, "why")),
                    json_string_value(json_object_get(row, "unit")),
                    *initial ? initial : "(none)", origin);
        json_decref(row);
        lines += used + (lines[used] == '\n');
    }
}

void cli_take_engine_settings(struct cli *c)
{
    struct fault f = {0};
    char *answer;
    const char *path = cli_control(c);
    if (!path || control_ask(path, "settings", c->life, &f, &answer) != OK)
        return;
    for (const char *line = answer; *line;) {
        size_t used = strcspn(line, "\n");
        json_t *row = json_loadb(line, used, 0, NULL);
        const char *name = json_string_value(json_object_get(row, "name"));
        const char *value = json_string_value(json_object_get(row, "value"));
        /* An engine of another version may have a value that is none here: ours stays. */
        bool taken = name && value && settings_is_default(&c->settings, name) &&
                     settings_set(&c->settings, name, value, "the running engine", &f) == OK;
        (void)taken;
        json_decref(row);
        line += used + (line[used] == '\n');
    }
}

int cmd_settings(struct cli *c)
{
    BUF(out, 1 << 20);
    struct fault f = {0};
    char *answer;
    const char *path = cli_control(c);
    enum err e = path ? control_ask(path, "settings", c->life, &f, &answer) : ERR_NET;
    if (e == ERR_BUSY)
        return cli_fail(&f);
    if (e == OK) {
        if (c->json) {
            fputs(answer, stdout);
        } else {
            puts("of the running engine:\n");
            put_engine_settings(answer);
        }
        return EXIT_DONE;
    }
    if (c->json)
        settings_json(&c->settings, &out);
    else
        settings_print(&c->settings, &out);
    fputs(buf_text(&out), stdout);
    return EXIT_DONE;
}

/* ---- types --------------------------------------------------------------------------- */

int cmd_types(struct cli *c)
{
    const struct cdg_kind_info *k;
    for (int i = 0; (k = cdg_kind_get(i)); i++) {
        if (!c->json) {
            printf("%-20s %s\n%-20s %s\n", k->name, k->help, "", k->form);
            continue;
        }
        BUF(out, 1 << 16);
        struct json j;
        json_init(&j, &out);
        json_object_begin(&j);
        json_key(&j, "type");
        json_text(&j, k->name);
        json_key(&j, "written");
        json_text(&j, k->form);
        json_key(&j, "help");
        json_text(&j, k->help);
        json_key(&j, "changed_percent");
        json_bool(&j, cdg_kind_measures(i));
        json_object_end(&j);
        puts(buf_text(&out));
    }
    return EXIT_DONE;
}

/* ---- graph --------------------------------------------------------------------------- */

/* Lets Graphviz lay the graph out; it reads from us and writes to our standard output. */
static int draw_svg(const char *dot)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) {
        fprintf(stderr, "vigil: no pipe: %s\n", strerror(errno));
        return EXIT_CANNOT;
    }
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[0], STDIN_FILENO);
        execlp("dot", "dot", "-Tsvg", (char *)NULL);
        fprintf(stderr,
                "vigil: cannot run dot: %s\nInstall the package graphviz, or use --as dot.\n",
                strerror(errno));
        _exit(EXIT_CANNOT);
    }
    close(fds[0]);
    signal(SIGPIPE, SIG_IGN); /* dot may not be there */
    for (size_t left = strlen(dot); pid > 0 && left > 0;) {
        ssize_t n = write(fds[1], dot, left);
        if (n <= 0)
            break;
        dot += n;
        left -= (size_t)n;
    }
    close(fds[1]);
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_CANNOT;
}

int cmd_graph(struct cli *c)
{
    bool svg = c->as && strcmp(c->as, "svg") == 0;
    if (c->as && !svg && strcmp(c->as, "dot") != 0) {
        fprintf(stderr, "vigil: --as %s: write dot or svg\n", c->as);
        return EXIT_WRONG;
    }
    struct fault f = {0};
    char *dot;
    const char *path = cli_control(c);
    enum err e = path ? control_ask(path, "graph", c->life, &f, &dot)
                      : fault_set(&f, ERR_NET, "no engine answers");
    if (e != OK) {
        if (!*f.hint)
            fault_hint(&f, "The graph is that of a running engine; `vigil run` starts one.");
        return cli_fail(&f);
    }
    if (svg)
        return draw_svg(dot);
    fputs(dot, stdout);
    return EXIT_DONE;
}
