/* Starting and stopping the private server.
 *
 * It is a child of ours in the foreground, not a daemon: we know when it ends, and it ends
 * when we do.  What answers on the socket counts only when postmaster.pid names our child.
 * A start does not wait; who needs the server tries to connect until it answers.
 */
#include "store/embedded.h"
#include "base/str.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A log that has grown past this is put aside at the next start. */
static const off_t log_limit_bytes = 16 << 20;

static void turn_log(struct server *s)
{
    struct stat st;
    char old[4096];
    s->log_offset = 0;
    if (stat(s->log, &st) != 0)
        return;
    snprintf(old, sizeof old, "%s.old", s->log);
    if (st.st_size > log_limit_bytes && rename(s->log, old) == 0)
        return;
    s->log_offset = st.st_size;
}

enum err server_start(struct server *s, struct fault *f)
{
    CHECK(!s->pid);
    enum err e = datadir_own(s->cluster, &s->account, f);
    if (!e)
        e = stale_clear(s, f);
    if (e)
        return e;
    turn_log(s);

    char program[300], sockets[512];
    snprintf(program, sizeof program, "%s/postgres", s->programs.dir);
    snprintf(sockets, sizeof sockets, "unix_socket_directories=%s", s->run_dir);
    const char *const argv[] = {program, "-D", s->cluster, "-p", "5432", "-c",
            "listen_addresses=", "-c", sockets, "-c", "unix_socket_permissions=0700", "-c",
            "fsync=on", "-c", "full_page_writes=on", NULL};
    struct child_spec spec = {
            .argv = argv,
            .cwd = s->cluster,
            .account = &s->account,
            .log = s->log,
            .dies_with = SIGINT, /* a fast shutdown */
    };
    return child_start(&spec, f, &s->pid);
}

bool server_is_alive(struct server *s)
{
    if (s->pid && child_has_ended(s->pid, NULL))
        s->pid = 0;
    return s->pid != 0;
}

bool server_holds_directory(const struct server *s)
{
    return s->pid && stale_pid_in(s->cluster) == s->pid;
}

/* The newest line of the log that names a trouble, without its time and process. */
static void find_trouble(const char *text, char *line, size_t size)
{
    static const char *const marks[] = {"PANIC:  ", "FATAL:  ", "error: ", "ERROR:  "};
    line[0] = 0;
    for (size_t i = 0; i < countof(marks) && !line[0]; i++)
        for (const char *at = text; (at = strstr(at, marks[i])); at++) {
            const char *said = at + strlen(marks[i]);
            size_t len = strcspn(said, "\n");
            str_copy(line, len + 1 < size ? len + 1 : size, said);
        }
}

enum err server_last_words(const struct server *s, const char *what, struct fault *f)
{
    char text[16384], line[300];
    ssize_t n = 0;
    int fd = open(s->log, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        struct stat st;
        off_t from = s->log_offset;
        if (fstat(fd, &st) == 0 && st.st_size - from > (off_t)sizeof text - 1)
            from = st.st_size - (off_t)sizeof text + 1;
        n = pread(fd, text, sizeof text - 1, from);
        close(fd);
    }
    text[n > 0 ? n : 0] = 0;
    find_trouble(text, line, sizeof line);

    enum err e =
            fault_set(f, ERR_IO, "%s: %s", what, line[0] ? line : "it ended without a word");
    if (strstr(text, "No space left on device") || strstr(text, "Disk quota exceeded"))
        fault_hint(f, "Free some space on the disk that holds \"%s\".", s->data);
    else if (strstr(text, "Read-only file system"))
        fault_hint(f, "The disk that holds \"%s\" is mounted read-only.", s->data);
    else
        fault_hint(f, "More is in \"%s\".", s->log);
    return e;
}

void server_stop(struct server *s)
{
    static const struct {
        int sig;
        msec wait;
    } steps[] = {{SIGINT, 20 * MSEC_PER_SECOND}, {SIGQUIT, 5 * MSEC_PER_SECOND},
            {SIGKILL, MSEC_PER_SECOND}};

    for (size_t i = 0; i < countof(steps) && server_is_alive(s); i++) {
        kill(s->pid, steps[i].sig);
        if (child_wait(s->pid, steps[i].wait, NULL))
            s->pid = 0;
    }
}
