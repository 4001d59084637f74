/* Whom the server runs as.
 *
 * PostgreSQL refuses to run as root, so root needs somebody else: the owner of an existing
 * cluster, otherwise the user that Debian's package makes.  Everybody else runs it as
 * themselves.  The server asks the system for the name behind a user number (that is how
 * it knows who connects), so a number without a name cannot be used.
 */
#include "store/embedded.h"
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fill(const struct passwd *pw, struct account *a)
{
    if (!pw || strlen(pw->pw_name) >= sizeof a->name)
        return false;
    *a = (struct account){.uid = pw->pw_uid, .gid = pw->pw_gid};
    snprintf(a->name, sizeof a->name, "%s", pw->pw_name);
    a->must_switch = geteuid() == 0 && pw->pw_uid != 0;
    return true;
}

static bool by_uid(uid_t uid, struct account *ret)
{
    char space[4096];
    struct passwd pw, *found = NULL;
    return getpwuid_r(uid, &pw, space, sizeof space, &found) == 0 && fill(found, ret);
}

static bool by_name(const char *name, struct account *ret)
{
    char space[4096];
    struct passwd pw, *found = NULL;
    return getpwnam_r(name, &pw, space, sizeof space, &found) == 0 && fill(found, ret);
}

static enum err nameless(uid_t uid, struct fault *f)
{
    enum err e =
            fault_set(f, ERR_IO, "user number %u has no name on this system", (unsigned)uid);
    fault_hint(f, "Add it to /etc/passwd, or name a PostgreSQL server with --db.");
    return e;
}

enum err account_choose(
        const char *data, const char *wanted, struct fault *f, struct account *ret_account)
{
    uid_t me = geteuid();
    if (me != 0)
        return by_uid(me, ret_account) ? OK : nameless(me, f);

    char cluster[4096];
    struct stat st;
    snprintf(cluster, sizeof cluster, "%s/pg", data);
    if (stat(cluster, &st) == 0 && st.st_uid != 0)
        return by_uid(st.st_uid, ret_account) ? OK : nameless(st.st_uid, f);

    const char *name = wanted ? wanted : "postgres";
    if (by_name(name, ret_account) && ret_account->uid != 0)
        return OK;
    enum err e = fault_set(f, ERR_IO,
            "there is no user \"%s\" to run the private PostgreSQL (root must not)", name);
    fault_hint(f, "Install the Debian package postgresql, or run vigil as an ordinary user, or "
                  "name a PostgreSQL server with --db.");
    return e;
}
