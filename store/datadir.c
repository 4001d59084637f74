/* The data directory: made when missing, otherwise looked at before it is used.
 *
 *  (1) A directory that is new or empty becomes ours: 0700, owned by the server's user.
 *  (2) A directory that holds anything is never given to somebody else, nor closed to those
 *      who used it: `--data /tmp` must not take /tmp from everybody.
 *  (3) A directory that others may write to is refused: they could swap what is in it.
 */
#include "store/embedded.h"
#include "base/str.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum err datadir_fault(struct fault *f, int error, const char *doing, const char *path)
{
    enum err e = fault_set(f, ERR_IO, "cannot %s \"%s\": %s", doing, path, strerror(error));
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        fault_hint(f, "Free some space on the disk that holds it, or give another --data.");
        break;
    case EROFS:
        fault_hint(f,
                "The disk is mounted read-only; give --data a directory that can be written.");
        break;
    case EACCES:
    case EPERM:
        fault_hint(f,
                "Give --data a directory of your own, or run as a user who may use this one.");
        break;
    case ENOTDIR:
    case EEXIST:
        fault_hint(f, "Something that is no directory is in the way; give another --data.");
        break;
    case ENAMETOOLONG:
        fault_hint(f, "Give --data a shorter path.");
        break;
    default:
        fault_hint(f, "Give --data a directory that Vigil may make and use.");
    }
    return e;
}

char *datadir_absolute(struct arena *life, const char *data)
{
    char cwd[PATH_MAX];
    size_t len = strlen(data);
    while (len > 1 && data[len - 1] == '/')
        len--;
    char *trimmed = arena_strndup(life, data, len);
    char *real = realpath(trimmed, NULL);
    if (real) {
        char *copy = arena_strdup(life, real);
        free(real);
        return copy;
    }
    if (trimmed[0] == '/' || !getcwd(cwd, sizeof cwd))
        return trimmed;
    return arena_printf(life, "%s/%s", cwd, trimmed);
}

static bool is_empty(const char *path)
{
    DIR *d = opendir(path);
    if (!d)
        return false;
    bool empty = true;
    for (struct dirent *entry; empty && (entry = readdir(d));)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(d);
    return empty;
}

/* Parents are opened for searching when root makes them, since the server's user must pass. */
static enum err make_parents(const char *data, struct fault *f)
{
    char path[PATH_MAX];
    if (strlen(data) >= sizeof path)
        return datadir_fault(f, ENAMETOOLONG, "make", data);
    for (size_t i = 1; data[i]; i++) {
        if (data[i] != '/')
            continue;
        memcpy(path, data, i);
        path[i] = 0;
        if (mkdir(path, 0700) == 0) {
            if (geteuid() == 0 && chmod(path, 0755) != 0)
                return datadir_fault(f, errno, "open to others", path);
        } else if (errno != EEXIST && access(path, F_OK) != 0) {
            return datadir_fault(f, errno, "make", path);
        }
    }
    return OK;
}

enum err datadir_own(const char *path, const struct account *who, struct fault *f)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return datadir_fault(f, errno, "look at", path);
    if (!S_ISDIR(st.st_mode))
        return datadir_fault(f, ENOTDIR, "use", path);
    if (st.st_uid != who->uid) {
        if (geteuid() != 0 || st.st_uid != 0) {
            enum err e = fault_set(
                    f, ERR_IO, "\"%s\" belongs to another user than \"%s\"", path, who->name);
            fault_hint(f, "Give another --data, or give it back with chown -R %s.", who->name);
            return e;
        }
        if (chown(path, who->uid, who->gid) != 0)
            return datadir_fault(f, errno, "hand over", path);
    }
    if ((st.st_mode & 07777) != 0700 && chmod(path, 0700) != 0)
        return datadir_fault(f, errno, "close to others", path);
    return OK;
}

enum err datadir_prepare(const char *data, const struct account *who, struct fault *f)
{
    enum err e = make_parents(data, f);
    if (e)
        return e;
    if (mkdir(data, 0700) != 0 && errno != EEXIST)
        return datadir_fault(f, errno, "make", data);

    struct stat st;
    if (stat(data, &st) != 0)
        return datadir_fault(f, errno, "look at", data);
    if (!S_ISDIR(st.st_mode))
        return datadir_fault(f, ENOTDIR, "use", data);
    if (access(data, R_OK | W_OK | X_OK) != 0)
        return datadir_fault(f, errno, "write in", data);
    if (is_empty(data))
        return datadir_own(data, who, f); /* (1) */
    if ((st.st_mode & 022) != 0) {        /* (3) */
        e = fault_set(f, ERR_IO, "others may write in the data directory \"%s\"", data);
        fault_hint(f, "Give --data a directory of its own, or chmod 0700 this one.");
        return e;
    }
    return OK; /* (2) */
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    (void)remove(path); /* what stays is met, and reported, by the next one who needs it */
    return 0;
}

void datadir_remove(const char *path)
{
    (void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
