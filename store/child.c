/* Starting a program as somebody else, safely.
 *
 * Between fork and exec only calls that are allowed there, since the process may have
 * threads; no shell, a clean environment, and a session of its own so that a Ctrl-C at the
 * terminal reaches the engine alone, which then stops its server in order.
 *
 * The signal for "parent has died" is cleared by setuid, so it is set after; a parent that
 * died just before is noticed by asking who the parent is now.
 */
#include "store/embedded.h"
#include "base/str.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum step { STEP_USER, STEP_DIRECTORY, STEP_EXEC, STEP_ORPHAN };

struct failure {
    enum step step;
    int error;
};

static void NORETURN give_up(int pipe_fd, enum step step)
{
    struct failure why = {step, errno};
    (void)!write(pipe_fd, &why, sizeof why); /* nobody is left to tell when this fails */
    _exit(127);
}

/* First of all: what we hold of our parent's, the lock of its data directory among it, must
 * not outlive it here. */
static void close_all_but(int a, int b, int c)
{
    int keep[] = {a, b, c}, from = STDERR_FILENO + 1;
    for (int round = 0; round < 3; round++) {
        int next = -1;
        for (int i = 0; i < 3; i++)
            if (keep[i] >= from && (next < 0 || keep[i] < next))
                next = keep[i];
        if (next < 0)
            break;
        if (next > from)
            (void)close_range((unsigned)from, (unsigned)next - 1, 0);
        from = next + 1;
    }
    (void)close_range(
            (unsigned)from, ~0U, 0); /* what cannot be closed so is closed by execve */
}

static void NORETURN become(
        const struct child_spec *spec, pid_t parent, int log_fd, int in_fd, int pipe_fd)
{
    /* A server makes room for every answer anew.  By itself the C library gives more than 128
     * KB back to the kernel each time, and to get it again costs as much as to find the row. */
    static char *const environment[] = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "LC_ALL=C.UTF-8",
            "HOME=/", "MALLOC_TRIM_THRESHOLD_=1048576", "MALLOC_MMAP_THRESHOLD_=524288", NULL};
    const struct account *a = spec->account;

    close_all_but(log_fd, in_fd, pipe_fd);
    sigset_t none;
    sigemptyset(&none);
    for (int sig = 1; sig < NSIG; sig++)
        (void)signal(sig, SIG_DFL); /* a few cannot be set, and need not */
    sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setsid(); /* fails only for a group leader, which a new child is not */

    if (a->must_switch &&
            (setgroups(1, &a->gid) != 0 || setgid(a->gid) != 0 || setuid(a->uid) != 0))
        give_up(pipe_fd, STEP_USER);
    if (prctl(PR_SET_PDEATHSIG, spec->dies_with) != 0 || getppid() != parent)
        give_up(pipe_fd, STEP_ORPHAN);
    if (chdir(spec->cwd) != 0)
        give_up(pipe_fd, STEP_DIRECTORY);
    umask(077);
    dup2(in_fd, STDIN_FILENO);
    dup2(log_fd, STDOUT_FILENO);
    dup2(log_fd, STDERR_FILENO);
    execve(spec->argv[0], (char *const *)spec->argv, environment);
    give_up(pipe_fd, STEP_EXEC);
}

/* Which directory on the way is the one the user cannot enter?  Asked in a child, since
 * only the kernel knows all that decides it. */
static void name_closed_parent(
        const char *path, const struct account *a, char *closed, size_t size)
{
    str_copy(closed, size, path);
    for (size_t len = 1; len <= strlen(path); len++) {
        if (path[len] != '/' && path[len] != 0)
            continue;
        char prefix[4096];
        if (len >= sizeof prefix)
            return;
        memcpy(prefix, path, len);
        prefix[len] = 0;
        pid_t pid = fork();
        if (pid == 0) {
            if (setgroups(1, &a->gid) != 0 || setgid(a->gid) != 0 || setuid(a->uid) != 0)
                _exit(0);
            _exit(access(prefix, X_OK) == 0 ? 0 : 1);
        }
        int status = 0;
        while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 1) {
            str_copy(closed, size, prefix);
            return;
        }
    }
}

static enum err explain(
        const struct child_spec *spec, const struct failure *why, struct fault *f)
{
    char closed[256];
    enum err e = ERR_IO;
    switch (why->step) {
    case STEP_USER:
        e = fault_set(f, ERR_IO, "cannot become user \"%s\": %s", spec->account->name,
                strerror(why->error));
        break;
    case STEP_DIRECTORY:
        name_closed_parent(spec->cwd, spec->account, closed, sizeof closed);
        e = fault_set(f, ERR_IO,
                "user \"%s\", who runs the private PostgreSQL, cannot enter \"%s\"",
                spec->account->name, closed);
        fault_hint(f, "Give --data a directory below one that everybody may search, such as "
                      "/var/lib/vigil.");
        break;
    case STEP_EXEC:
        e = fault_set(f, ERR_IO, "cannot run \"%s\": %s", spec->argv[0], strerror(why->error));
        fault_hint(f,
                "Check the Debian package postgresql and the mount options of its directory.");
        break;
    case STEP_ORPHAN:
        e = fault_set(
                f, ERR_IO, "\"%s\" was started by a process that has ended", spec->argv[0]);
        break;
    }
    return e;
}

static enum err open_files(
        const struct child_spec *spec, struct fault *f, int *log_fd, int *in_fd, int fds[2])
{
    *log_fd = open(spec->log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (*log_fd < 0)
        return datadir_fault(f, errno, "write", spec->log);
    *in_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (*in_fd >= 0 && pipe2(fds, O_CLOEXEC) == 0)
        return OK;
    enum err e = datadir_fault(f, errno, "open", "/dev/null");
    close(*log_fd);
    if (*in_fd >= 0)
        close(*in_fd);
    return e;
}

enum err child_start(const struct child_spec *spec, struct fault *f, pid_t *ret_pid)
{
    int log_fd = -1, in_fd = -1, fds[2] = {-1, -1};
    enum err e = open_files(spec, f, &log_fd, &in_fd, fds);
    if (e)
        return e;

    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(spec, parent, log_fd, in_fd, fds[1]);
    int error = errno;
    close(log_fd);
    close(in_fd);
    close(fds[1]);
    struct failure why;
    ssize_t got = 0;
    if (pid > 0)
        while ((got = read(fds[0], &why, sizeof why)) < 0 && errno == EINTR)
            ;
    close(fds[0]);
    if (pid < 0)
        return fault_set(f, ERR_IO, "cannot start a process: %s", strerror(error));
    if (got != (ssize_t)sizeof why) { /* closed by exec: it runs */
        *ret_pid = pid;
        return OK;
    }
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return explain(spec, &why, f);
}

bool child_has_ended(pid_t pid, int *ret_status)
{
    int status = 0;
    pid_t got;
    do
        got = waitpid(pid, &status, WNOHANG);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        return false;
    if (ret_status)
        *ret_status = got == pid ? status : 0; /* reaped elsewhere: it is gone all the same */
    return true;
}

void pause_ms(msec ms)
{
    struct timespec span = {ms / 1000, (ms % 1000) * 1000000};
    while (nanosleep(&span, &span) != 0 && errno == EINTR)
        ;
}

bool child_wait(pid_t pid, msec wait, int *ret_status)
{
    msec until = clock_mono(&clock_system) + wait;
    for (msec nap = 1; !child_has_ended(pid, ret_status); nap = nap < 16 ? nap * 2 : nap) {
        if (clock_mono(&clock_system) >= until)
            return false;
        pause_ms(nap);
    }
    return true;
}
