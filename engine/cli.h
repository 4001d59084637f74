/* cli -- what every command shares: options, files, tables, faults on stderr.
 *
 * Exit codes: 0 done; 1 the input or the request was wrong, nothing was changed; 2 could not
 * run (database, network, disk); 3 ran, and there were changes.
 */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/fault.h"
#include "engine/settings.h"
#include "store/store.h"
#include <stdio.h>

enum { EXIT_DONE = 0, EXIT_WRONG = 1, EXIT_CANNOT = 2, EXIT_CHANGES = 3 };

enum option_flag {
    OPT_JSON = 1 << 0,
    OPT_SINCE = 1 << 1,
    OPT_FOLLOW = 1 << 2,
    OPT_STATE = 1 << 3,
    OPT_USER = 1 << 4,
    OPT_TOPIC = 1 << 11,
    OPT_NOW = 1 << 5,
    OPT_CASCADE = 1 << 6,
    OPT_LIMIT = 1 << 7,
    OPT_WAIT = 1 << 8,
    OPT_AS = 1 << 10,
    OPT_DEAD = 1 << 20,
    OPT_RESEND = 1 << 21,
    OPT_LOOK = 1 << 22,
    OPT_MONITOR = 1 << 16,
    OPT_BASE = 1 << 17,
    OPT_REST = 1 << 9, /* everything behind the command goes to another program */
};

struct cli {
    struct arena *life;
    const char *command;
    struct settings settings;
    const char *db, *data;
    bool json, follow, cascade, quiet, dead;
    const char *since, *state, *user, *topic, *now, *limit, *wait, *as, *resend, *monitor,
            *base;
    char **args;
    int nargs;
};

struct command {
    const char *name;
    int (*run)(struct cli *c);
    unsigned options; /* enum option_flag */
    int least, most;  /* arguments; most -1: any number */
    const char *arguments, *help;
};

extern const struct command commands[]; /* ends with a name of NULL */

/* Fills *c from the words behind the command's name; complains on stderr when it cannot. */
bool cli_parse(struct cli *c, const struct command *command, int argc, char **argv, char **env);

/* "vigil: message" and the hint, on stderr; returns the exit code that belongs to it. */
int cli_fail(const struct fault *f);

/* Opens the store for this command; NULL after complaining. */
struct store *cli_store(struct cli *c, enum store_role role, int *ret_exit);

/* Where a running engine would answer; NULL: there cannot be one. */
const char *cli_control(struct cli *c);

/* Where this command was told nothing, the settings of a running engine hold. */
void cli_take_engine_settings(struct cli *c);

/* Reads a file, or standard input for "-".  Files larger than 512 MiB are refused. */
MUST_USE enum err cli_read_file(struct arena *life, const char *path, struct fault *f,
        char **ret_text, size_t *ret_len);

/* Who asks: the login name. */
const char *cli_owner(void);

/* Colours only on a terminal, and never with NO_COLOR. */
bool cli_colour(FILE *to);

/* Rows as an aligned table of the named columns (all when NULL), or as one object a line. */
void cli_print_table(const struct store_rows *rows, const char *const *columns, FILE *to);
void cli_print_json(const struct store_rows *rows, FILE *to);
/* One row, a line a column, empty ones left out. */
void cli_print_record(const struct store_rows *rows, int row, FILE *to);

/* A row of vigil.changes the way people see it: one line, then what came and went. */
struct shown_change {
    const char *sentinel, *url, *summary, *detail;
    int64_t id; /* 0: it was never recorded */
    int64_t old_version, new_version;
    int64_t inserted, deleted, updated, moved;
    msec at;
};
void cli_print_change(const struct shown_change *c, FILE *to);
void cli_print_change_row(const struct store_rows *rows, int row, FILE *to);

/* The same as notify shows it, and shown: a heading, then its parts. */
struct notify_item;
void cli_change_item(struct arena *life, const struct store_rows *rows, int row,
        struct notify_item *ret_item);
void cli_print_item(struct cli *c, struct notify_item *item, bool html, FILE *to);

/* The lists of a change's detail, a line each. */
void cli_print_lists(const char *detail, FILE *to);

/* Where the embedded database is unless said otherwise. */
const char *cli_default_data(struct arena *life);
