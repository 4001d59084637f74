/* What a dead server leaves behind, and what only looks like it.
 *
 * We hold DATA/lock, so no other vigil uses the directory; still, after a crash
 *  (1) the dead server may be a zombie that nobody reaps: PostgreSQL takes it for alive;
 *  (2) its orphans may run on for a moment: a new server must not start beside them;
 *  (3) postmaster.pid may name a process that has since got the same number: PostgreSQL
 *      takes it for a server for ever.  The lock file beside the socket has the same trouble;
 *  (4) a server may run there that somebody started by hand.
 * The files are removed only when no living PostgreSQL process stands in the cluster's
 * directory, which is where each of them has its working directory.
 */
#include "store/embedded.h"
#include "base/str.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static pid_t first_line_pid(const char *path)
{
    char text[64];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    long pid = strtol(text, NULL, 10);
    return pid > 0 && pid < INT32_MAX ? (pid_t)pid : 0;
}

pid_t stale_pid_in(const char *cluster)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/postmaster.pid", cluster);
    return first_line_pid(path);
}

/* The letter after "PID (name) " in /proc/PID/stat; 0 when there is no such process. */
static char state_of(const char *pid, char *name, size_t size)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    char *open_at = strchr(text, '('), *close_at = strrchr(text, ')');
    if (!open_at || !close_at || close_at[1] != ' ')
        return 0;
    *close_at = 0;
    str_copy(name, size, open_at + 1);
    return close_at[2];
}

/* A living PostgreSQL process whose working directory is the cluster; 0: none. */
static pid_t living_in(const struct stat *cluster)
{
    DIR *proc = opendir("/proc");
    if (!proc)
        return 0;
    pid_t found = 0;
    for (struct dirent *entry; !found && (entry = readdir(proc));) {
        int64_t pid;
        char name[64], cwd[300];
        struct stat st;
        if (!str_to_int(str_of(entry->d_name), &pid))
            continue;
        snprintf(cwd, sizeof cwd, "/proc/%s/cwd", entry->d_name);
        if (stat(cwd, &st) != 0 || st.st_dev != cluster->st_dev || st.st_ino != cluster->st_ino)
            continue;
        char state = state_of(entry->d_name, name, sizeof name);
        if (state && state != 'Z' && state != 'X' && strncmp(name, "post", 4) == 0)
            found = (pid_t)pid;
    }
    closedir(proc);
    return found;
}

enum err stale_clear(const struct server *s, struct fault *f)
{
    struct stat cluster;
    if (stat(s->cluster, &cluster) != 0)
        return datadir_fault(f, errno, "look at", s->cluster);
    pid_t alive = living_in(&cluster); /* (1): a zombie has no working directory any more */
    if (alive) {                       /* (2), (4) */
        enum err e = fault_set(f, ERR_BUSY,
                "an earlier PostgreSQL server, process %ld, still runs in \"%s\"", (long)alive,
                s->cluster);
        fault_hint(f,
                "It should end by itself in a moment; if somebody started it by hand, stop "
                "it: %s/pg_ctl -D %s stop.",
                s->programs.dir, s->cluster);
        return e;
    }

    static const char *const files[] = {
            "postmaster.pid", ".s.PGSQL.5432.lock", ".s.PGSQL.5432"};
    for (size_t i = 0; i < countof(files); i++) { /* (3) */
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", i == 0 ? s->cluster : s->run_dir, files[i]);
        if (unlink(path) != 0 && errno != ENOENT)
            return datadir_fault(f, errno, "remove", path);
    }
    return OK;
}
