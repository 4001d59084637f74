#include "engine/cli.h"
#include "engine/commands.h"
#include "base/log.h"
#include "base/str.h"
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- options ------------------------------------------------------------------------- */

static const struct option {
    const char *name;
    unsigned flag; /* 0: every command takes it */
    bool takes_value;
    const char *help;
} options[] = {
        {"--db", 0, true, "a PostgreSQL (URL or conninfo) instead of the private one"},
        {"--data", 0, true, "directory of the private PostgreSQL"},
        {"--config", 0, true, "settings from an INI file"},
        {"--set", 0, true, "one setting, as name=value"},
        {"--allow", 0, true, "a network that may be fetched from though it is not public"},
        {"--json", OPT_JSON, false, "one JSON object a line"},
        {"--since", OPT_SINCE, true, "only what came after this time"},
        {"--follow", OPT_FOLLOW, false, "go on and show changes as they come"},
        {"--wait", OPT_WAIT, true, "wait this long for a change; exit 3 when there was one"},
        {"--state", OPT_STATE, true, "only sentinels in this state"},
        {"--user", OPT_USER, true, "only this owner's sentinels"},
        {"--topic", OPT_TOPIC, true, "only sentinels with this TOPIC"},
        {"--now", OPT_NOW, true, "check as if it were this time"},
        {"--cascade", OPT_CASCADE, false, "end those that wait for it, too"},
        {"--as", OPT_AS, true, "dot or svg"},
        {"--as", OPT_LOOK, true, "side, merged, only, html, or as merged,html"},
        {"--dead", OPT_DEAD, false, "only those that were given up"},
        {"--resend", OPT_RESEND, true, "send this notification again"},
        {"--monitor", OPT_MONITOR, true,
                "the change expression to try; any change if not said"},
        {"--base", OPT_BASE, true, "where links in both files are seen from"},
        {"--limit", OPT_LIMIT, true, "at most this many, the newest"},
};

static int complain(const char *fmt, ...) PRINTF_LIKE(1, 2);

static int complain(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("vigil: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    return EXIT_WRONG;
}

static const struct option *option_find(struct str name, unsigned taken)
{
    for (size_t i = 0; i < countof(options); i++)
        if (str_equal(name, str_of(options[i].name)) &&
                (!options[i].flag || (options[i].flag & taken)))
            return &options[i];
    return NULL;
}

static void unknown_option(const struct command *command, struct str name)
{
    const char *near = NULL;
    unsigned best = 3;
    for (size_t i = 0; i < countof(options); i++) {
        if (options[i].flag && !(options[i].flag & command->options))
            continue;
        unsigned d = str_distance(name, str_of(options[i].name), 2);
        if (d < best) {
            best = d;
            near = options[i].name;
        }
    }
    if (near)
        complain("%s: unknown option \"%.*s\"; did you mean %s?", command->name, (int)name.len,
                name.ptr, near);
    else
        complain("%s: unknown option \"%.*s\"; see `vigil help %s`", command->name,
                (int)name.len, name.ptr, command->name);
}

static bool take_option(
        struct cli *c, const struct option *o, const char *value, struct fault *f)
{
    if (strcmp(o->name, "--db") == 0)
        c->db = value;
    else if (strcmp(o->name, "--data") == 0)
        c->data = value;
    else if (strcmp(o->name, "--config") == 0)
        return settings_read_file(&c->settings, value, f) == OK;
    else if (strcmp(o->name, "--set") == 0)
        return settings_set_pair(&c->settings, value, f) == OK;
    else if (strcmp(o->name, "--allow") == 0)
        return settings_allow(&c->settings, value, f) == OK;
    else if (o->flag == OPT_JSON)
        c->json = true;
    else if (o->flag == OPT_FOLLOW)
        c->follow = true;
    else if (o->flag == OPT_CASCADE)
        c->cascade = true;
    else if (o->flag == OPT_SINCE)
        c->since = value;
    else if (o->flag == OPT_STATE)
        c->state = value;
    else if (o->flag == OPT_USER)
        c->user = value;
    else if (o->flag == OPT_TOPIC)
        c->topic = value;
    else if (o->flag == OPT_NOW)
        c->now = value;
    else if (o->flag == OPT_LIMIT)
        c->limit = value;
    else if (o->flag == OPT_WAIT)
        c->wait = value;
    else if (o->flag == OPT_MONITOR)
        c->monitor = value;
    else if (o->flag == OPT_BASE)
        c->base = value;
    else if (o->flag == OPT_AS || o->flag == OPT_LOOK)
        c->as = value;
    else if (o->flag == OPT_DEAD)
        c->dead = true;
    else if (o->flag == OPT_RESEND)
        c->resend = value;
    return true;
}

/* --config first and the environment before --set, whatever their order on the line. */
static int option_round(const char *name)
{
    return strcmp(name, "--config") == 0 ? 0 : 1;
}

static bool walk(struct cli *c, const struct command *command, int argc, char **argv, int round)
{
    struct fault f = {0};
    bool plain = false; /* behind "--" */
    c->nargs = 0;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        bool rest = (command->options & OPT_REST) && c->nargs > 0;
        if (plain || rest || word[0] != '-' || word[1] == 0) {
            c->args[c->nargs++] = argv[i];
            continue;
        }
        if (strcmp(word, "--") == 0) {
            plain = true;
            continue;
        }
        const char *equals = strchr(word, '=');
        struct str name = {word, equals ? (size_t)(equals - word) : strlen(word)};
        const struct option *o = option_find(name, command->options);
        if (!o && (command->options & OPT_REST)) {
            c->args[c->nargs++] = argv[i];
            continue;
        }
        if (!o) {
            unknown_option(command, name);
            return false;
        }
        const char *value = equals ? equals + 1 : NULL;
        if (o->takes_value && !value && i + 1 < argc)
            value = argv[++i];
        if (o->takes_value && (!value || !*value)) {
            complain("%s: %s needs a value: %s", command->name, o->name, o->help);
            return false;
        }
        if (!o->takes_value && equals) {
            complain("%s: %s takes no value", command->name, o->name);
            return false;
        }
        if (option_round(o->name) == round && !take_option(c, o, value, &f)) {
            cli_fail(&f);
            return false;
        }
    }
    return true;
}

bool cli_parse(struct cli *c, const struct command *command, int argc, char **argv, char **env)
{
    struct fault f = {0};
    c->command = command->name;
    c->args = arena_array_of(c->life, (size_t)argc + 1, char *);
    settings_init(&c->settings, c->life);
    if (!walk(c, command, argc, argv, 0))
        return false;
    if (settings_read_environment(&c->settings, env, &f) != OK) {
        cli_fail(&f);
        return false;
    }
    if (!walk(c, command, argc, argv, 1))
        return false;
    if (!c->db)
        c->db = getenv("VIGIL_DB");
    if (c->db && !*c->db)
        c->db = NULL;
    if (!c->data)
        c->data = getenv("VIGIL_DATA");
    if (!c->data || !*c->data)
        c->data = cli_default_data(c->life);
    log_set_level((enum log_level)settings_number(&c->settings, SETTING_LOG_LEVEL));
    if (c->nargs < command->least) {
        complain("%s: expected %s; see `vigil help %s`", command->name, command->arguments,
                command->name);
        return false;
    }
    if (command->most >= 0 && c->nargs > command->most) {
        complain("%s: \"%s\" is too much; see `vigil help %s`", command->name,
                c->args[command->most], command->name);
        return false;
    }
    return true;
}

/* ---- faults, files, who -------------------------------------------------------------- */

int cli_fail(const struct fault *f)
{
    fprintf(stderr, "vigil: %s\n", f->message);
    if (*f->hint)
        fprintf(stderr, "%s\n", f->hint);
    switch (f->code) {
    case ERR_NET:
    case ERR_STORE:
    case ERR_BUSY:
        return EXIT_CANNOT;
    case ERR_IO:
        return EXIT_CANNOT;
    default:
        return EXIT_WRONG;
    }
}

const char *cli_default_data(struct arena *life)
{
    if (geteuid() == 0)
        return "/var/lib/vigil";
    const char *xdg = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (xdg && *xdg == '/')
        return arena_printf(life, "%s/vigil", xdg);
    if (home && *home == '/')
        return arena_printf(life, "%s/.local/share/vigil", home);
    return arena_printf(life, "/tmp/vigil-%d", (int)geteuid());
}

const char *cli_owner(void)
{
    struct passwd *pw = getpwuid(getuid());
    return pw ? pw->pw_name : "unknown";
}

struct store *cli_store(struct cli *c, enum store_role role, int *ret_exit)
{
    struct store_options o = {
            .db = c->db,
            .data = c->data,
            .role = role,
            .who = c->command,
            .quiet = c->quiet,
            .clock = &clock_system,
    };
    struct store *s;
    struct fault f = {0};
    if (store_open(c->life, &o, &f, &s) == OK)
        return s;
    cli_fail(&f);
    *ret_exit = EXIT_CANNOT;
    return NULL;
}

const char *cli_control(struct cli *c)
{
    struct store_options o = {.db = c->db, .data = c->data, .role = STORE_COMMAND};
    return store_find_control(c->life, &o);
}

enum { FILE_MAX = 512 << 20 };

enum err cli_read_file(
        struct arena *life, const char *path, struct fault *f, char **ret_text, size_t *ret_len)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        int why = errno;
        if (fd >= 0)
            close(fd);
        fault_set(f, ERR_RANGE, "cannot read \"%s\": %s", path, strerror(why));
        fault_hint(f, "Give a file of sentinel definitions, or - for standard input.");
        return ERR_RANGE;
    }
    enum err err = OK;
    BUF(text, FILE_MAX);
    char part[65536];
    ssize_t n = 0;
    if (S_ISDIR(st.st_mode)) {
        err = fault_set(f, ERR_RANGE, "\"%s\" is a directory", path);
        fault_hint(f, "Give a file of sentinel definitions, or - for standard input.");
    }
    while (err == OK && (n = read(fd, part, sizeof part)) > 0) {
        if (!buf_append(&text, part, (size_t)n)) {
            err = fault_set(f, ERR_RANGE, "\"%s\" is larger than %d MiB", path, FILE_MAX >> 20);
            fault_hint(f, "Split it into several files.");
        }
    }
    if (err == OK && n < 0)
        err = fault_set(f, ERR_RANGE, "cannot read \"%s\": %s", path, strerror(errno));
    if (!is_stdin)
        close(fd);
    if (err != OK)
        return err;
    *ret_text = arena_strndup(life, buf_text(&text), text.len);
    *ret_len = text.len;
    return OK;
}

bool cli_colour(FILE *to)
{
    const char *no = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return isatty(fileno(to)) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

/* ---- help ---------------------------------------------------------------------------- */

void cli_help_command(const struct command *command, FILE *to)
{
    fprintf(to, "vigil %s %s\n    %s\n\n", command->name, command->arguments, command->help);
    for (size_t i = 0; i < countof(options); i++) {
        if (options[i].flag && !(options[i].flag & command->options))
            continue;
        fprintf(to, "    %-10s %-7s %s\n", options[i].name,
                options[i].takes_value ? "VALUE" : "", options[i].help);
    }
}
