/* A headless browser as a child: started for one page, bounded, gone without a trace.
 *
 *  (1) It gets a profile of its own, empty, and deleted afterwards; no environment of ours, no
 *      descriptors of ours, and it dies with us.
 *  (2) It is a session of its own: what it started dies with it, however it ends.
 *  (3) Not a byte more than a page's cap is kept, and the transfer's own deadline ends it.
 *  (4) What it complains of is kept, up to a limit that it cannot pass, since it mostly says
 *      why it ended.
 *
 * Between fork and exec only calls that are allowed there, since the process has threads.
 */
#include "fetch/render.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 64, COMPLAINTS_BYTES_MAX = 16 * 1024 };

struct fetch_browser {
    struct fetch_transfer *transfer;
    pid_t pid;
    int out, exited; /* its standard output; a descriptor that is ready when it has ended */
    int complaints;  /* its standard error, in memory; -1: it is not kept */
    struct loop_io out_io, exited_io;
    bool is_over; /* it has ended, with `exit_code` */
    int exit_code;
    char profile[256];
};

static const char *const flags[] = {"--headless", "--disable-gpu", "--no-first-run",
        "--no-default-browser-check", "--disable-extensions", "--disable-sync",
        "--disable-background-networking", "--disable-component-update",
        "--disable-default-apps", "--disable-dev-shm-usage", "--disable-crash-reporter",
        "--metrics-recording-only", "--mute-audio", "--hide-scrollbars", "--incognito",
        "--virtual-time-budget=10000", "--dump-dom"};

/* The operator's own flags come first, between the program and ours. */
static char **arguments(
        struct arena *a, const char *command, const char *profile, const char *url)
{
    char **argv = arena_array_of(a, ARGUMENTS_MAX + countof(flags) + 3, char *);
    char *rest = arena_strdup(a, command), *word;
    size_t n = 0;
    while ((word = strsep(&rest, " ")) && n < ARGUMENTS_MAX)
        if (*word)
            argv[n++] = word;
    for (size_t i = 0; i < countof(flags); i++)
        argv[n++] = (char *)flags[i];
    argv[n++] = arena_printf(a, "--user-data-dir=%s", profile);
    argv[n++] = (char *)url;
    return argv;
}

static void NORETURN become(char **argv, char **environment, int out, int err, pid_t parent)
{
    int null = open("/dev/null", O_RDWR);
    (void)setsid(); /* (2) */
    if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err < 0 ? null : err, 2) < 0)
        _exit(126);
    (void)close_range(3, ~0U, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(126); /* (1) */
    execve(argv[0], argv, environment);
    _exit(127);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    (void)remove(path); /* what cannot go stays in a directory for passing things */
    return 0;
}

/* A file that cannot grow: the rest of what is written is lost, and nobody waits for it. */
static int complaints_open(void)
{
    int fd = memfd_create("complaints", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && (ftruncate(fd, COMPLAINTS_BYTES_MAX) != 0 ||
                           fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) != 0)) {
        close(fd);
        return -1;
    }
    return fd; /* (4) */
}

/* The last line of it; "" when there is none. */
static void last_complaint(const struct fetch_browser *b, char line[FETCH_COMPLAINT_SIZE])
{
    char all[COMPLAINTS_BYTES_MAX + 1] = "";
    if (b->complaints >= 0 && pread(b->complaints, all, COMPLAINTS_BYTES_MAX, 0) < 0)
        all[0] = 0;
    size_t len = strlen(all);
    while (len > 0 && (unsigned char)all[len - 1] <= ' ')
        all[--len] = 0;
    const char *newline = strrchr(all, '\n');
    str_copy(line, FETCH_COMPLAINT_SIZE, newline ? newline + 1 : all);
    fetch_reason_plain(line);
}

static void finish(struct fetch_browser *b)
{
    struct fetch_transfer *t = b->transfer;
    int code = b->exit_code;
    char complaint[FETCH_COMPLAINT_SIZE];
    last_complaint(b, complaint);
    fetch_render_stop(t);
    fetch_rendered(t, code, complaint);
}

/* True: there may be more. */
static bool read_some(struct fetch_browser *b)
{
    struct fetch_transfer *t = b->transfer;
    char piece[64 * 1024];
    ssize_t n = read(b->out, piece, sizeof(piece));
    if (n < 0)
        return errno == EINTR;
    t->wire_bytes += (uint64_t)n;
    if (n > 0 && !buf_append(&t->run->body, piece, (size_t)n)) {
        char size[FETCH_NUMBER_SIZE];
        snprintf(t->run->why, sizeof(t->run->why), "the page is larger than %s",
                fetch_size_text(t->body_bytes_max, size)); /* (3) */
        b->is_over = true;
        return false;
    }
    return n > 0;
}

static void out_ready(struct loop_io *io, int events)
{
    (void)events;
    struct fetch_browser *b = container_of(io, struct fetch_browser, out_io);
    if (read_some(b))
        return;
    loop_io_stop(b->transfer->fetch->loop, io); /* the end of it, or too much */
    if (b->is_over)
        finish(b);
}

static void exited_ready(struct loop_io *io, int events)
{
    (void)events;
    struct fetch_browser *b = container_of(io, struct fetch_browser, exited_io);
    siginfo_t info = {0};
    loop_io_stop(b->transfer->fetch->loop, io);
    /* Left for stop to reap: until then its number is nobody else's. */
    if (waitid(P_PID, (id_t)b->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
        b->exit_code = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
    b->is_over = true;
    kill(-b->pid, SIGKILL); /* whoever still holds its output: (2) */
    while (read_some(b))
        ;
    finish(b);
}

static void release(struct fetch_browser *b)
{
    if (b->out >= 0)
        close(b->out);
    if (b->exited >= 0)
        close(b->exited);
    if (b->complaints >= 0)
        close(b->complaints);
    nftw(b->profile, remove_one, 16, FTW_DEPTH | FTW_PHYS); /* (1) */
    free(b);
}

void fetch_browser_stop(struct fetch_browser *b)
{
    struct loop *loop = b->transfer->fetch->loop;
    loop_io_stop(loop, &b->out_io);
    loop_io_stop(loop, &b->exited_io);
    kill(-b->pid, SIGKILL);
    kill(b->pid, SIGKILL);
    while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
        ; /* it cannot refuse, so this is a matter of milliseconds */
    release(b);
}

static bool spawn(struct fetch_browser *b, char **argv, char **environment)
{
    int ends[2];
    pid_t self = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    b->pid = fork();
    if (b->pid == 0)
        become(argv, environment, ends[1], b->complaints, self);
    close(ends[1]);
    b->out = ends[0];
    if (b->pid < 0)
        return false;
    fcntl(b->out, F_SETFL, O_NONBLOCK);
    b->exited = (int)syscall(SYS_pidfd_open, b->pid, 0);
    if (b->exited >= 0)
        return true;
    kill(b->pid, SIGKILL);
    waitpid(b->pid, NULL, 0);
    return false;
}

struct fetch_browser *fetch_browser_start(struct fetch_transfer *t, const char *command,
        const char *url, char why[FETCH_WHY_SIZE])
{
    struct fetch_browser *b = calloc(1, sizeof *b);
    SCRATCH struct arena *a = arena_new(NULL, "browser");
    CHECK(b);
    b->transfer = t;
    b->out = b->exited = b->complaints = -1;
    const char *place = getenv("TMPDIR");
    snprintf(b->profile, sizeof(b->profile), "%s/vigil-render-XXXXXX",
            place && *place ? place : "/tmp");
    if (!mkdtemp(b->profile)) {
        snprintf(why, FETCH_WHY_SIZE, "no profile for the renderer can be made: %s",
                strerror(errno));
        free(b);
        return NULL;
    }
    b->complaints = complaints_open();
    char *environment[] = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", "TZ=UTC",
            arena_printf(a, "HOME=%s", b->profile), arena_printf(a, "TMPDIR=%s", b->profile),
            NULL};
    if (!spawn(b, arguments(a, command, b->profile, url), environment)) {
        snprintf(why, FETCH_WHY_SIZE, "the renderer cannot be started: %s", strerror(errno));
        release(b);
        return NULL;
    }
    buf_clear(&t->run->body);
    t->run->body.max = t->body_bytes_max;
    loop_io_init(&b->out_io, out_ready);
    loop_io_init(&b->exited_io, exited_ready);
    loop_io_set(t->fetch->loop, &b->out_io, b->out, LOOP_READ);
    loop_io_set(t->fetch->loop, &b->exited_io, b->exited, LOOP_READ);
    return b;
}
