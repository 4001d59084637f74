/* Making room for a dump, and taking over what it brought.
 *
 *  (1) Only a database in which Vigil keeps nothing is filled.
 *  (2) A dump of an older schema is brought up to date; one of a newer schema is taken out
 *      again.
 */
#include "store/store_int.h"
#include "base/crash.h"

static const char clear_script[] = "DROP SCHEMA IF EXISTS vigil CASCADE;"
                                   "DROP SCHEMA IF EXISTS vigil_kb CASCADE";

static enum err not_empty(const struct store *s, struct fault *f)
{
    enum err e = fault_set(
            f, ERR_BUSY, "%s holds sentinels or their history already", store_describe(s));
    fault_hint(f, "Restore into another database, or into a --data directory that is new.");
    return e;
}

enum err store_restore_begin(struct store *s, struct fault *f)
{
    RESULT there = NULL;
    RESULT used = NULL;
    CHECK(s->options.bare);
    enum err e = conn_run(&s->conn, SQL_MIGRATION_TABLE, NULL, f, &there);
    if (e || PQgetvalue(there, 0, 0)[0] != 't')
        return e;
    e = conn_run(&s->conn, SQL_RESTORE_IS_USED, NULL, f, &used);
    if (e)
        return e;
    if (PQgetvalue(used, 0, 0)[0] == 't')
        return not_empty(s, f); /* (1) */
    CRASH_POINT("before_restore_clear");
    e = conn_script(&s->conn, clear_script, f);
    CRASH_POINT("after_restore_clear");
    return e;
}

enum err store_restore_end(struct store *s, struct fault *f)
{
    enum err e = migrate(&s->conn, /* may_change= */ true, s->options.quiet,
            clock_wall(s->options.clock), f);
    if (!e)
        return migrate_set_up_roles(&s->conn, s->options.quiet, f);
    struct fault ignored;
    if (s->conn.pg && conn_script(&s->conn, clear_script, &ignored) != OK) /* (2) */
        fault_hint(f, "Drop the schemas vigil and vigil_kb before you try again.");
    return e;
}
