/* commands -- one function for each word after `vigil`; the table is in main.c. */
#pragma once
#include "engine/cli.h"
#include "engine/engine.h"

void cli_help_command(const struct command *command, FILE *to);

/* cmd_ask.c: reads the files named, framed for a request; complains when it cannot. */
bool cli_gather_files(struct cli *c, struct buf *text);
/* Is there a database already?  Looking and checking must not make one. */
bool cli_has_database(const struct cli *c);

/* cmd_look.c: the name is wrong; says so, with the nearest one there is. */
int cli_no_sentinel(struct cli *c, struct store *s, const char *name);

/* cmd_run.c */
void cli_print_engine_change(const struct engine_change *c);
int cmd_run(struct cli *c);
int cmd_demo(struct cli *c);

/* cmd_ask.c: what changes something */
int cmd_add(struct cli *c);
int cmd_check(struct cli *c);
int cmd_fmt(struct cli *c);
int cmd_enable(struct cli *c);
int cmd_disable(struct cli *c);
int cmd_stop(struct cli *c);
int cmd_drop(struct cli *c);

/* cmd_look.c: what only looks */
int cmd_list(struct cli *c);
int cmd_show(struct cli *c);
int cmd_changes(struct cli *c);
int cmd_diff(struct cli *c);
int cmd_psql(struct cli *c);

/* cmd_dump.c */
int cmd_dump(struct cli *c);
int cmd_restore(struct cli *c);

/* --since as a time; false after complaining.  MSEC_NEVER: it was not given. */
bool cli_since(struct cli *c, msec *ret_at);

/* cmd_replay.c */
int cmd_replay(struct cli *c);

/* cmd_compare.c: an expression tried on two files */
int cmd_compare(struct cli *c);

/* cmd_once.c */
int cmd_once(struct cli *c);

/* cmd_explain.c */
int cmd_explain(struct cli *c);

/* cmd_status.c */
int cmd_status(struct cli *c);
int cmd_settings(struct cli *c);
int cmd_types(struct cli *c);
int cmd_graph(struct cli *c);

/* cmd_notify.c: telling people */
int cmd_notifications(struct cli *c);
int cmd_test_notify(struct cli *c);
