/* Everything into one file, and back: PostgreSQL's own pg_dump and pg_restore, on the right
 * database.
 *
 *  (1) A dump is there whole, under its name, or not at all.
 *  (2) Restoring fills an empty database, in one transaction; one that holds anything is
 *      left alone.
 *  (3) Nobody else uses the database meanwhile: restoring holds it as an engine does.
 */
#include "engine/commands.h"
#include "base/str.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs a program of PostgreSQL's client; its standard output goes to `out` unless that is -1.
 * Returns its exit code, or -1 when it could not be run or was killed. */
static int run(const char *const *argv, int out)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (out >= 0)
            dup2(out, STDOUT_FILENO);
        execvp(argv[0], (char *const *)argv);
        fprintf(stderr, "vigil: cannot run %s: %s\nInstall the package postgresql-client.\n",
                argv[0], strerror(errno));
        _exit(127);
    }
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (pid < 0)
        fprintf(stderr, "vigil: cannot start %s: %s\n", argv[0], strerror(errno));
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- dump ---------------------------------------------------------------------------- */

static int dump_into(struct cli *c, struct store *s, const char *file)
{
    const char *part = arena_printf(c->life, "%s.part", file);
    const char *argv[] = {"pg_dump", "--format=custom", "--no-password", "--schema=vigil",
            "--schema=vigil_kb", "--no-owner", "--no-privileges", "--file", part, "--dbname",
            store_conninfo(s), NULL};
    if (run(argv, -1) != 0) {
        (void)unlink(part);
        fprintf(stderr, "vigil: %s was not written\n", file);
        return EXIT_CANNOT;
    }
    if (rename(part, file) != 0) { /* (1) */
        fprintf(stderr, "vigil: cannot write %s: %s\n", file, strerror(errno));
        (void)unlink(part);
        return EXIT_CANNOT;
    }
    struct stat st;
    if (stat(file, &st) == 0)
        fprintf(stderr, "%s: %lld bytes, everything in %s\n", file, (long long)st.st_size,
                store_describe(s));
    return EXIT_DONE;
}

int cmd_dump(struct cli *c)
{
    int code = EXIT_DONE;
    if (!cli_has_database(c)) {
        fprintf(stderr, "vigil: there is no database in %s to be dumped\n", c->data);
        return EXIT_WRONG;
    }
    struct store *s = cli_store(c, STORE_COMMAND, &code);
    if (!s)
        return code;
    code = dump_into(c, s, c->args[0]);
    store_close(s);
    return code;
}

/* ---- restore -------------------------------------------------------------------------- */

/* Is it one of ours?  Asked before anything is touched. */
static bool is_dump(struct cli *c, const char *file)
{
    if (access(file, R_OK) != 0) {
        fprintf(stderr, "vigil: cannot read %s: %s\n", file, strerror(errno));
        return false;
    }
    FILE *list = tmpfile();
    const char *argv[] = {"pg_restore", "--list", file, NULL};
    bool ours = false, read = list && run(argv, fileno(list)) == 0;
    char line[4096];
    if (list)
        rewind(list);
    while (read && !ours && fgets(line, sizeof line, list))
        ours = strstr(line, " TABLE vigil_kb migration ") != NULL;
    if (list)
        fclose(list);
    if (!ours)
        fprintf(stderr, "vigil: %s is no dump of Vigil's; `vigil dump FILE` makes one\n", file);
    (void)c;
    return ours;
}

static int restore_from(struct store *s, const char *file)
{
    struct fault f = {0};
    if (store_restore_begin(s, &f) != OK) { /* (2) */
        cli_fail(&f);
        return f.code == ERR_BUSY ? EXIT_WRONG : EXIT_CANNOT;
    }
    const char *argv[] = {"pg_restore", "--single-transaction", "--exit-on-error", "--no-owner",
            "--no-privileges", "--no-password", "--dbname", store_conninfo(s), file, NULL};
    if (run(argv, -1) != 0) {
        fprintf(stderr, "vigil: nothing was restored into %s\n", store_describe(s));
        return EXIT_CANNOT;
    }
    if (store_restore_end(s, &f) != OK) {
        cli_fail(&f);
        return EXIT_CANNOT;
    }
    fprintf(stderr, "%s: restored into %s\n", file, store_describe(s));
    return EXIT_DONE;
}

int cmd_restore(struct cli *c)
{
    if (!is_dump(c, c->args[0]))
        return EXIT_WRONG;
    struct store_options o = {
            .db = c->db,
            .data = c->data,
            .role = STORE_ENGINE, /* (3) */
            .bare = true,
            .who = c->command,
            .quiet = c->quiet,
            .clock = &clock_system,
    };
    struct store *s;
    struct fault f = {0};
    if (store_open(c->life, &o, &f, &s) != OK) {
        cli_fail(&f);
        return EXIT_CANNOT;
    }
    int code = restore_from(s, c->args[0]);
    store_close(s);
    return code;
}
