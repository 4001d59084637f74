/* Commands that only look. */
#include "engine/commands.h"
#include "engine/present.h"
#include "base/str.h"
#include "grammar/grammar.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct store_rows *query(struct cli *c, struct store *s, enum store_query q, int n,
        const char *const *params, int *ret_exit)
{
    struct store_rows *rows;
    struct fault f = {0};
    if (store_query(s, q, n, params, c->life, &f, &rows) == OK)
        return rows;
    *ret_exit = cli_fail(&f);
    return NULL;
}

int cmd_list(struct cli *c)
{
    static const char *const columns[] = {"name", "state", "url", "monitor", "fetch",
            "evaluations", "changes", "last_change_at", "error", NULL};
    static const char *const states[] = {
            "waiting", "active", "disabled", "waiting-disabled", "ended"};
    bool known = !c->state;
    for (size_t i = 0; i < countof(states); i++)
        known = known || strcmp(c->state, states[i]) == 0;
    if (!known) {
        fprintf(stderr,
                "vigil: there is no state \"%s\"; it is one of waiting, active, disabled, "
                "waiting-disabled, ended\n",
                c->state);
        return EXIT_WRONG;
    }
    int code = EXIT_DONE;
    struct store *s = cli_store(c, STORE_COMMAND, &code);
    if (!s)
        return code;
    const char *params[] = {c->state, c->user, c->topic};
    struct store_rows *rows = query(c, s, STORE_Q_LIST, 3, params, &code);
    if (rows && c->json)
        cli_print_json(rows, stdout);
    else if (rows && store_rows_count(rows))
        cli_print_table(rows, columns, stdout);
    else if (rows)
        fputs(c->state || c->user || c->topic
                        ? "no such sentinels\n"
                        : "no sentinels yet; `vigil add FILE` installs some\n",
                stderr);
    store_close(s);
    return code;
}

int cli_no_sentinel(struct cli *c, struct store *s, const char *name)
{
    int code = EXIT_WRONG;
    const char *near = NULL;
    unsigned best = 3;
    struct store_rows *names = query(c, s, STORE_Q_NAMES, 0, NULL, &code);
    for (int i = 0; names && i < store_rows_count(names); i++) {
        const char *other = store_rows_text(names, i, 0);
        unsigned d = str_distance(str_of(name), str_of(other), 2);
        if (d < best) {
            best = d;
            near = other;
        }
    }
    if (near)
        fprintf(stderr, "vigil: there is no sentinel \"%s\"; did you mean \"%s\"?\n", name,
                near);
    else
        fprintf(stderr, "vigil: there is no sentinel \"%s\"; `vigil list` shows them\n", name);
    return EXIT_WRONG;
}

int cmd_show(struct cli *c)
{
    static const char *const event_columns[] = {"at", "kind", "detail", "actual_at", NULL};
    int code = EXIT_DONE;
    struct store *s = cli_store(c, STORE_COMMAND, &code);
    if (!s)
        return code;
    const char *params[] = {c->args[0]};
    struct store_rows *rows = query(c, s, STORE_Q_SHOW, 1, params, &code);
    if (rows && !store_rows_count(rows)) {
        code = cli_no_sentinel(c, s, c->args[0]);
    } else if (rows && c->json) {
        cli_print_json(rows, stdout);
    } else if (rows) {
        cli_print_record(rows, 0, stdout);
        struct store_rows *events = query(c, s, STORE_Q_EVENTS, 1, params, &code);
        if (events && store_rows_count(events)) {
            putchar('\n');
            cli_print_table(events, event_columns, stdout);
        }
    }
    store_close(s);
    return code;
}

/* ---- changes ------------------------------------------------------------------------- */

static void print_changes(struct cli *c, const struct store_rows *rows)
{
    if (c->json)
        cli_print_json(rows, stdout);
    else
        for (int i = 0; i < store_rows_count(rows); i++)
            cli_print_change_row(rows, i, stdout);
    fflush(stdout);
}

static bool name_exists(struct cli *c, struct store *s, const char *name, int *ret_exit)
{
    const char *params[] = {name};
    struct store_rows *rows = query(c, s, STORE_Q_SHOW, 1, params, ret_exit);
    if (rows && store_rows_count(rows))
        return true;
    if (rows)
        *ret_exit = cli_no_sentinel(c, s, name);
    return false;
}

/* Shows what comes after change `last`, until `until` (monotonic; MSEC_NEVER: for good) or,
 * with --wait, until there was something.  Returns false when the connection was lost. */
static bool follow(struct cli *c, struct store *s, char last[32], msec until, bool *ret_any)
{
    const char *name = c->nargs ? c->args[0] : NULL;
    for (;;) {
        int code;
        const char *params[] = {name, last};
        struct fault f = {0};
        bool notified;
        SCRATCH struct arena *scratch = arena_new(NULL, "follow");
        struct cli round = *c;
        round.life = scratch;
        struct store_rows *rows = query(&round, s, STORE_Q_CHANGES_AFTER, 2, params, &code);
        if (!rows)
            return false;
        print_changes(c, rows);
        int n = store_rows_count(rows);
        if (n) {
            snprintf(last, 32, "%s", store_rows_get(rows, n - 1, "id"));
            *ret_any = true;
        }
        msec now = clock_mono(&clock_system);
        if ((c->wait && *ret_any) || now >= until)
            return true;
        msec patience = until == MSEC_NEVER || until - now > 10000 ? 10000 : until - now;
        if (store_listen(s, "vigil_changes", patience, &f, &notified) != OK)
            return false;
    }
}

/* NULL when `until` came first. */
static struct store *wait_for_engine(struct cli *c, msec until)
{
    bool told = false;
    for (;;) {
        SCRATCH struct arena *scratch = arena_new(NULL, "wait");
        struct store_options o = {.db = c->db,
                .data = c->data,
                .role = STORE_COMMAND,
                .who = c->command,
                .quiet = true,
                .clock = &clock_system};
        struct store *s;
        struct fault f = {0};
        struct arena *life = arena_new(c->life, "store");
        if (store_open(life, &o, &f, &s) == OK) {
            if (store_engine_is_running(s))
                return s;
            store_close(s);
        }
        arena_free(life);
        if (!told)
            fputs("vigil: no engine is running; waiting for one (`vigil run`)\n", stderr);
        told = true;
        if (clock_mono(&clock_system) >= until)
            return NULL;
        usleep(500 * 1000);
    }
}

static int changes_follow(struct cli *c, struct store *s, char last[32], msec until)
{
    bool any = false;
    while (!follow(c, s, last, until, &any)) {
        store_close(s);
        s = wait_for_engine(c, until);
        if (!s)
            return any && c->wait ? EXIT_CHANGES : EXIT_DONE;
    }
    store_close(s);
    return any && c->wait ? EXIT_CHANGES : EXIT_DONE;
}

/* --since takes what definitions take, and spans: "2 hours" ago. */
bool cli_since(struct cli *c, msec *ret_at)
{
    *ret_at = MSEC_NEVER;
    if (!c->since)
        return true;
    msec span, at;
    msec now = clock_wall(&clock_system);
    struct grammar_world world = {
            .now = now, .zone = settings_text(&c->settings, SETTING_TIME_ZONE)};
    struct fault f = {0};
    if (time_parse_span(c->since, &span))
        at = now - span;
    else if (!time_parse_iso(c->since, &at) &&
             grammar_parse_instant(c->since, &world, &f, &at) != OK) {
        fprintf(stderr,
                "vigil: --since %s: not a time; write 2026-11-16, 2026-11-16T12:00Z or a span "
                "such as \"2 hours\"\n",
                c->since);
        return false;
    }
    *ret_at = at < 0 ? 0 : at; /* nothing here is older than 1970 */
    return true;
}

static bool since_of(struct cli *c, const char **ret_text)
{
    char text[TIME_TEXT_SIZE];
    msec at;
    if (!cli_since(c, &at))
        return false;
    if (at != MSEC_NEVER)
        *ret_text = arena_strdup(c->life, time_iso(at, text));
    return true;
}

int cmd_changes(struct cli *c)
{
    const char *since = NULL, *limit = c->limit ? c->limit : "100";
    int64_t most;
    msec wait = 0;
    if (!since_of(c, &since))
        return EXIT_WRONG;
    if (!str_to_int(str_of(limit), &most) || most < 0) {
        fprintf(stderr, "vigil: --limit %s: not a number\n", limit);
        return EXIT_WRONG;
    }
    if (c->wait && !time_parse_span(c->wait, &wait)) {
        fprintf(stderr, "vigil: --wait %s: not a span; write 30s or 5 min\n", c->wait);
        return EXIT_WRONG;
    }
    int code = EXIT_DONE;
    struct store *s = cli_store(c, STORE_COMMAND, &code);
    if (!s)
        return code;
    const char *name = c->nargs ? c->args[0] : NULL;
    const char *params[] = {name, since, limit};
    char last[32] = "0";
    if (name && !name_exists(c, s, name, &code)) {
        store_close(s);
        return code;
    }
    struct store_rows *newest = query(c, s, STORE_Q_LAST_CHANGE, 0, NULL, &code);
    if (newest && store_rows_count(newest) && store_rows_text(newest, 0, 0))
        snprintf(last, sizeof last, "%s", store_rows_text(newest, 0, 0));
    struct store_rows *rows =
            newest && !c->wait ? query(c, s, STORE_Q_CHANGES, 3, params, &code) : NULL;
    if (rows)
        print_changes(c, rows);
    if (code != EXIT_DONE || !(c->follow || c->wait)) {
        store_close(s);
        return code;
    }
    msec until = c->wait ? clock_mono(&clock_system) + wait : MSEC_NEVER;
    if (!store_engine_is_running(s)) {
        /* Nothing can change, and holding the private server would keep an engine out. */
        store_close(s);
        s = wait_for_engine(c, until);
        if (!s)
            return EXIT_DONE;
    }
    return changes_follow(c, s, last, until);
}

/* What --as says, "merged" or "merged,html"; without it, what the sentinel's definition says.
 */
static bool look_of(
        struct cli *c, const char *usual, enum notify_look *ret_look, bool *ret_html)
{
    bool known = true;
    (void)notify_look_find(usual, ret_look);
    *ret_html = false;
    for (const char *word = c->as; known && word && *word;) {
        size_t len = strcspn(word, ",");
        const char *one = arena_strndup(c->life, word, len);
        if (strcmp(one, "html") == 0)
            *ret_html = true;
        else
            known = notify_look_find(one, ret_look);
        word += len + (word[len] == ',');
    }
    if (!known)
        fprintf(stderr,
                "vigil: --as %s: it is one of side, merged, only, html; with a comma a look as "
                "html: merged,html\n",
                c->as);
    return known;
}

/* The change in full: from its two versions where both are to be seen, else from its lists. */
static int print_diff(struct cli *c, struct store *s, const struct store_rows *rows)
{
    const char *params[] = {store_rows_get(rows, 0, "id")};
    int code = EXIT_DONE;
    struct store_rows *more = query(c, s, STORE_Q_PRESENTATION, 1, params, &code);
    if (!more)
        return code;
    struct notify_item item;
    bool html, known = store_rows_count(more) > 0;
    cli_change_item(c->life, rows, 0, &item);
    if (!look_of(c, known ? store_rows_text(more, 0, 1) : "only", &item.look, &html))
        return EXIT_WRONG;
    int64_t page = 0;
    if (known)
        (void)str_to_int(str_of(store_rows_text(more, 0, 0)), &page);
    if (present_wants_versions(&item))
        (void)present_versions(c->life, s, page, item.old_version, item.new_version, &item);
    cli_print_item(c, &item, html, stdout);
    return EXIT_DONE;
}

int cmd_diff(struct cli *c)
{
    int64_t id;
    if (c->nargs > 1 && !str_to_int(str_of(c->args[1]), &id)) {
        fprintf(stderr, "vigil: \"%s\" is no change; `vigil changes %s` shows their numbers\n",
                c->args[1], c->args[0]);
        return EXIT_WRONG;
    }
    int code = EXIT_DONE;
    struct store *s = cli_store(c, STORE_COMMAND, &code);
    if (!s)
        return code;
    const char *params[] = {c->args[0], c->nargs > 1 ? c->args[1] : NULL};
    struct store_rows *rows = query(c, s, STORE_Q_CHANGE, 2, params, &code);
    if (rows && store_rows_count(rows)) {
        if (c->json)
            cli_print_json(rows, stdout);
        else
            code = print_diff(c, s, rows);
    } else if (rows && name_exists(c, s, c->args[0], &code)) {
        if (c->nargs > 1) {
            fprintf(stderr, "vigil: sentinel \"%s\" has no change %s\n", c->args[0],
                    c->args[1]);
            code = EXIT_WRONG;
        } else {
            fprintf(stderr, "sentinel \"%s\" has seen no change yet\n", c->args[0]);
        }
    }
    store_close(s);
    return code;
}

/* ---- psql ---------------------------------------------------------------------------- */

int cmd_psql(struct cli *c)
{
    int code = EXIT_DONE;
    struct store *s = cli_store(c, STORE_COMMAND, &code);
    if (!s)
        return code;
    char **argv = arena_array_of(c->life, (size_t)c->nargs + 4, char *);
    int n = 0;
    argv[n++] = "psql";
    argv[n++] = "-d";
    argv[n++] = (char *)store_conninfo(s);
    for (int i = 0; i < c->nargs; i++)
        argv[n++] = c->args[i];
    fflush(stdout);
    signal(SIGINT, SIG_IGN); /* Ctrl-C cancels a query in psql; it must not end us */
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        execvp("psql", argv);
        fprintf(stderr, "vigil: cannot run psql: %s\nInstall the package postgresql-client.\n",
                strerror(errno));
        _exit(EXIT_CANNOT);
    }
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    store_close(s);
    if (pid < 0) {
        fprintf(stderr, "vigil: cannot start psql: %s\n", strerror(errno));
        return EXIT_CANNOT;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_CANNOT;
}
