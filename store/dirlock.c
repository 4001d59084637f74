/* DATA/lock: one holder at a time, and its name for those who come second.
 *
 * The lock is flock's: it goes with its holder, however that ends, and programs started by
 * the holder do not inherit it (close-on-exec).  The text inside is only for people and for
 * commands that look for a running engine: "engine PID" and its socket directory, or
 * "command PID NAME".  A stale text without the lock means nothing.
 */
#include "store/embedded.h"
#include "base/str.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

static void read_holder(int fd, struct dirlock_holder *ret)
{
    char text[512];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    *ret = (struct dirlock_holder){0};

    char *end = strchr(text, '\n');
    if (!end)
        return; /* not written yet */
    *end = 0;
    char *rest = end + 1;
    if ((end = strchr(rest, '\n'))) {
        *end = 0;
        str_copy(ret->run_dir, sizeof ret->run_dir, rest);
    }
    char *space = strchr(text, ' ');
    if (!space)
        return;
    *space = 0;
    ret->is_engine = strcmp(text, "engine") == 0;
    char *name = NULL;
    ret->pid = strtol(space + 1, &name, 10);
    if (name && *name == ' ')
        str_copy(ret->name, sizeof ret->name, name + 1);
}

enum err dirlock_try(
        const char *data, struct fault *f, int *ret_fd, struct dirlock_holder *ret_holder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/lock", data);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return datadir_fault(f, errno, "write", path);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
        *ret_fd = fd;
        return OK;
    }
    int error = errno;
    read_holder(fd, ret_holder);
    close(fd);
    if (error != EWOULDBLOCK)
        return datadir_fault(f, error, "lock", path);
    return dirlock_busy(data, ret_holder, f);
}

enum err dirlock_sign(int fd, const char *data, enum store_role role, const char *who,
        const char *run_dir, struct fault *f)
{
    char text[512];
    int n = role == STORE_ENGINE
                    ? snprintf(text, sizeof text, "engine %ld\n%s\n", (long)getpid(), run_dir)
                    : snprintf(text, sizeof text, "command %ld %s\n\n", (long)getpid(),
                              who ? who : "");
    if (n < 0 || (size_t)n >= sizeof text)
        n = (int)sizeof text - 1;
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)n, 0) != n)
        return datadir_fault(f, errno ? errno : ENOSPC, "sign the lock of", data);
    return OK;
}

enum err dirlock_busy(const char *data, const struct dirlock_holder *h, struct fault *f)
{
    enum err e;
    if (!h->pid)
        e = fault_set(
                f, ERR_BUSY, "the data directory \"%s\" is in use by another vigil", data);
    else if (h->is_engine)
        e = fault_set(f, ERR_BUSY,
                "the data directory \"%s\" is in use by the engine, process %ld", data, h->pid);
    else
        e = fault_set(f, ERR_BUSY,
                "the data directory \"%s\" is in use by the command \"%s\", process %ld", data,
                h->name, h->pid);
    fault_hint(f, "Wait until it has ended, or give another --data.");
    return e;
}

void dirlock_release(int fd)
{
    if (fd < 0)
        return;
    (void)!ftruncate(
            fd, 0); /* only so that nobody reads an old name; the lock is what counts */
    close(fd);
}
