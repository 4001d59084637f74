/* Making the cluster, once.
 *
 *  (1) initdb works in DATA/pg.new-XXXXXX, and only a finished cluster is renamed to DATA/pg:
 *      cut off half way it is begun anew, elsewhere, since the old one may still be busy
 *      removing what it made.
 *  (2) Nobody gets in but through the unix socket, as the server's own user, root, or whoever
 *      made it, and all of them as the role "vigil".
 *
 * The settings are small on purpose (the machine is there for fetching and comparing) and
 * stand in postgresql.conf, where an operator may change them; what must never change is
 * given on the command line at each start (server.c).
 */
#include "store/embedded.h"
#include "base/buf.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char settings[] =
        "\n"
        "# Vigil's private server.  Change what you like below; listen_addresses, the socket\n"
        "# directory, fsync and full_page_writes are set by vigil itself.\n"
        "max_connections = 30\n"
        "shared_buffers = 64MB\n"
        "work_mem = 8MB\n"
        "maintenance_work_mem = 64MB\n"
        "max_wal_size = 512MB\n"
        "wal_compression = on\n"
        "checkpoint_timeout = 10min\n"
        "max_parallel_workers_per_gather = 0\n"
        "jit = off\n"
        "autovacuum = on\n"
        "timezone = 'UTC'\n"
        "log_timezone = 'UTC'\n"
        "log_line_prefix = '%m [%p] '\n"
        "logging_collector = off\n";

static const char hba[] =
        "# Made by Vigil.  Only the unix socket, only those in pg_ident.conf.\n"
        "local all all peer map=vigil\n";

static enum err put(const char *dir, const char *name, int flags, const char *text,
        const struct account *who, struct fault *f)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (fd < 0)
        return datadir_fault(f, errno, "write", path);
    size_t len = strlen(text);
    errno = 0;
    bool good = write(fd, text, len) == (ssize_t)len && fsync(fd) == 0 &&
                (!who->must_switch || fchown(fd, who->uid, who->gid) == 0);
    int error = errno ? errno : ENOSPC;
    close(fd);
    return good ? OK : datadir_fault(f, error, "write", path);
}

static enum err put_files(const char *dir, const struct account *who, struct fault *f)
{
    BUF(ident, 4096);
    buf_puts(&ident, "# Made by Vigil: which users of this machine are the role vigil.\n");
    buf_printf(&ident, "vigil \"%s\" vigil\n", who->name);
    if (strcmp(who->name, "root") != 0)
        buf_puts(&ident, "vigil root vigil\n");
    enum err e = put(dir, "pg_hba.conf", O_TRUNC, hba, who, f);
    if (!e)
        e = put(dir, "pg_ident.conf", O_TRUNC, buf_text(&ident), who, f);
    if (!e)
        e = put(dir, "postgresql.conf", O_APPEND, settings, who, f);
    return e;
}

static enum err run_initdb(const struct server *s, const char *dir, struct fault *f)
{
    char program[300];
    snprintf(program, sizeof program, "%s/initdb", s->programs.dir);
    const char *const argv[] = {program, "-D", dir, "-U", "vigil", "-A", "peer", "-E", "UTF8",
            "--locale=C.UTF-8", NULL};
    struct child_spec spec = {
            .argv = argv,
            .cwd = s->data,
            .account = &s->account,
            .log = s->log,
            .dies_with = SIGTERM,
    };
    pid_t pid;
    enum err e = child_start(&spec, f, &pid);
    if (e)
        return e;
    int status = 0;
    while (!child_wait(pid, MSEC_PER_MINUTE, &status))
        ; /* a slow disk is no error */
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return OK;
    return server_last_words(s, "a new database could not be made", f);
}

static enum err publish(const char *from, const char *to, const char *parent, struct fault *f)
{
    if (rename(from, to) != 0)
        return datadir_fault(f, errno, "rename", from);
    int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd); /* a lost rename is made again at the next start: (1) */
        close(fd);
    }
    return OK;
}

/* Those who were cut off may be at work for another moment; what cannot be removed now is
 * removed by the next one who makes a cluster here. */
static void remove_leftovers(const char *data)
{
    DIR *d = opendir(data);
    if (!d)
        return;
    for (struct dirent *entry; (entry = readdir(d));) {
        char path[4096];
        int n = snprintf(path, sizeof path, "%s/%s", data, entry->d_name);
        if (strncmp(entry->d_name, "pg.new-", 7) == 0 && n > 0 && (size_t)n < sizeof path)
            datadir_remove(path);
    }
    closedir(d);
}

enum err cluster_make(const struct server *s, struct fault *f)
{
    char dir[4096];
    snprintf(dir, sizeof dir, "%s.new-XXXXXX", s->cluster);
    remove_leftovers(s->data);
    if (!mkdtemp(dir))
        return datadir_fault(f, errno, "make a directory in", s->data);
    enum err e = datadir_own(dir, &s->account, f);
    if (!e)
        e = run_initdb(s, dir, f);
    if (!e)
        e = put_files(dir, &s->account, f);
    if (!e)
        e = publish(dir, s->cluster, s->data, f);
    if (e)
        datadir_remove(dir);
    return e;
}
