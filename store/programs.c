/* Finding the server's programs.
 *
 * Debian keeps every major version under /usr/lib/postgresql/N/bin.  A cluster can only be
 * served by the major version that made it, so an existing one decides; otherwise the
 * newest is taken.  Elsewhere (built from source) `postgres` is on PATH.
 */
#include "store/embedded.h"
#include "base/str.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char debian_root[] = "/usr/lib/postgresql";

static bool has_programs(const char *dir)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/postgres", dir);
    if (n < 0 || (size_t)n >= sizeof path || access(path, X_OK) != 0)
        return false;
    n = snprintf(path, sizeof path, "%s/initdb", dir);
    return n > 0 && (size_t)n < sizeof path && access(path, X_OK) == 0;
}

/* "postgres (PostgreSQL) 15.20 (Debian ...)" -> 15; 0 when it does not say. */
static int ask_major(const char *dir)
{
    char path[PATH_MAX], text[128] = "";
    int n = snprintf(path, sizeof path, "%s/postgres", dir);
    if (n < 0 || (size_t)n >= sizeof path)
        return 0;
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
        return 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
    char *argv[] = {path, (char[]){"--version"}, NULL}, *envp[] = {NULL};
    pid_t pid;
    int failed = posix_spawn(&pid, path, &actions, NULL, argv, envp);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    if (!failed) {
        ssize_t got = read(fds[0], text, sizeof text - 1);
        text[got > 0 ? got : 0] = 0;
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(fds[0]);
    const char *after = strstr(text, "(PostgreSQL) ");
    return after ? (int)strtol(after + strlen("(PostgreSQL) "), NULL, 10) : 0;
}

static bool take(const char *dir, int major, struct programs *ret)
{
    if (strlen(dir) >= sizeof ret->dir)
        return false;
    str_copy(ret->dir, sizeof ret->dir, dir);
    ret->major = major;
    return true;
}

static bool find_debian(int wanted, struct programs *ret)
{
    DIR *d = opendir(debian_root);
    if (!d)
        return false;
    bool found = false;
    for (struct dirent *entry; (entry = readdir(d));) {
        int64_t major;
        char dir[PATH_MAX];
        if (!str_to_int(str_of(entry->d_name), &major) || major < 1 || major > 9999)
            continue;
        snprintf(dir, sizeof dir, "%s/%s/bin", debian_root, entry->d_name);
        bool better = wanted ? major == wanted : !found || major > ret->major;
        if (better && has_programs(dir))
            found = take(dir, (int)major, ret) || found;
    }
    closedir(d);
    return found;
}

static bool find_on_path(int wanted, struct programs *ret)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t len = strcspn(path, ":");
        char dir[PATH_MAX];
        if (len > 0 && len < sizeof dir) {
            memcpy(dir, path, len);
            dir[len] = 0;
            int major = dir[0] == '/' && has_programs(dir) ? ask_major(dir) : 0;
            if (major && (!wanted || major == wanted) && take(dir, major, ret))
                return true;
        }
        path += len + (path[len] == ':');
    }
    return false;
}

static enum err missing(const char *dir, struct fault *f)
{
    enum err e = dir ? fault_set(f, ERR_IO, "there is no PostgreSQL server in \"%s\"", dir)
                     : fault_set(f, ERR_IO, "no PostgreSQL server is installed");
    fault_hint(f, "Install the Debian package postgresql, or name a server with --db.");
    return e;
}

enum err programs_find(
        const char *dir, int major, struct fault *f, struct programs *ret_programs)
{
    if (dir) {
        int here = has_programs(dir) ? ask_major(dir) : 0;
        return here && take(dir, here, ret_programs) ? OK : missing(dir, f);
    }
    if (find_debian(major, ret_programs) || find_on_path(major, ret_programs))
        return OK;
    return missing(NULL, f);
}

static int cluster_major(const char *cluster)
{
    char path[PATH_MAX], text[32] = "";
    snprintf(path, sizeof path, "%s/PG_VERSION", cluster);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    if (!fgets(text, sizeof text, file))
        text[0] = 0;
    fclose(file);
    return (int)strtol(text, NULL, 10);
}

enum err programs_find_for(
        const char *dir, const char *cluster, struct fault *f, struct programs *ret_programs)
{
    int major = cluster_major(cluster);
    if (!major)
        return programs_find(dir, 0, f, ret_programs);

    if (programs_find(dir, major, NULL, ret_programs) == OK && ret_programs->major == major)
        return OK;
    struct programs other;
    enum err e = programs_find(dir, 0, f, &other);
    if (e)
        return e;
    e = fault_set(f, ERR_IO, "\"%s\" was made by PostgreSQL %d, but PostgreSQL %d is installed",
            cluster, major, other.major);
    fault_hint(f,
            "Install the Debian package postgresql-%d; to move on, dump with it "
            "(pg_dump) and load into a new --data directory.",
            major);
    return e;
}
