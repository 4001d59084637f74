/* A directory for sockets.
 *
 * The path of a unix socket has at most 107 bytes, a data directory may be anywhere.  So
 * the sockets live in DATA/run when that is short and plain enough, otherwise in a directory
 * named after the database under /run/user/UID or /tmp.  In /tmp anybody may have made it
 * first: it must be a real directory, of the right user, closed to others.
 */
#include "store/embedded.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* The longest name that goes into it is the server's. */
static const char longest_name[] = "/.s.PGSQL.5432";

/* Commas separate hosts for libpq and directories for the server; quotes and white space
 * would have to be escaped differently in each place that names the directory. */
static bool is_fit(const char *dir)
{
    return strlen(dir) + strlen(longest_name) < sizeof((struct sockaddr_un *)0)->sun_path &&
           !strpbrk(dir, ",'\"\\ \t\n@");
}

const char *rundir_path(struct arena *life, const char *preferred, const char *key, uid_t uid)
{
    if (preferred && is_fit(preferred))
        return preferred;
    char hex[65];
    struct sha256 sum = sha256_of(key, strlen(key));
    sha256_hex(&sum, hex);
    hex[16] = 0;

    /* Not from XDG_RUNTIME_DIR: a command started by cron must find the same place. */
    char user_dir[64];
    struct stat st;
    snprintf(user_dir, sizeof user_dir, "/run/user/%u", (unsigned)uid);
    if (uid == geteuid() && stat(user_dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == uid)
        return arena_printf(life, "%s/vigil-%s", user_dir, hex);
    return arena_printf(life, "/tmp/vigil-%u-%s", (unsigned)uid, hex);
}

static enum err not_ours(const char *dir, const char *what, struct fault *f)
{
    enum err e = fault_set(f, ERR_IO, "the socket directory \"%s\" %s", dir, what);
    fault_hint(f, "Remove it, or give a --data whose path is shorter than 90 bytes.");
    return e;
}

enum err rundir_prepare(struct arena *life, const char *preferred, const char *key,
        const struct account *who, struct fault *f, const char **ret_dir)
{
    const char *dir = rundir_path(life, preferred, key, who->uid);
    bool made = mkdir(dir, 0700) == 0;
    if (!made && errno != EEXIST)
        return datadir_fault(f, errno, "make", dir);
    struct stat st;
    if (lstat(dir, &st) != 0)
        return datadir_fault(f, errno, "look at", dir);
    if (!S_ISDIR(st.st_mode))
        return not_ours(dir, "is not a directory", f);
    if (st.st_uid != who->uid) {
        if (!made && (dir != preferred || st.st_uid != geteuid()))
            return not_ours(dir, "belongs to another user", f);
        if (chown(dir, who->uid, who->gid) != 0)
            return datadir_fault(f, errno, "hand over", dir);
    }
    if ((st.st_mode & 0777) != 0700 && chmod(dir, 0700) != 0)
        return datadir_fault(f, errno, "close to others", dir);
    *ret_dir = dir;
    return OK;
}
