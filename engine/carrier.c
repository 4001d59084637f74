/* How notify's bytes leave the process.
 *
 *  (1) Webhooks go through a fetch of their own whose policy refuses what is not public
 *      unless notify.allow says otherwise; no redirect is followed.
 *  (2) The mail server is the operator's choice, so its address may be any.
 *  (3) A program is started by its path with its arguments, never by a shell; it gets the
 *      message on standard input, an empty environment but for PATH, and a deadline.
 *  (4) Nothing is answered from inside the call that sends it.
 */
#include "engine/carrier.h"
#include "base/list.h"
#include "base/str.h"
#include "engine/telling.h"
#include "fetch/deliver.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct carrier {
    struct arena *life;
    struct loop *loop;
    const struct settings *settings;
    struct store_outbox *outbox;
    struct fetch *web, *mail;
    const char *smtp, *user, *password;
    bool need_tls, may_tls;
    msec timeout;
    struct list programs, errands;
};

/* ---- through fetch ---- */

struct errand {
    struct list link; /* in carrier.errands while fetch has it */
    notify_answered_fn *done;
    void *to;
};

static struct errand *errand_new(struct carrier *c, notify_answered_fn *done, void *to)
{
    struct errand *e = malloc(sizeof *e);
    CHECK(e);
    e->done = done;
    e->to = to;
    list_append(&c->errands, &e->link);
    return e;
}

static void delivered(const struct fetch_receipt *r, void *arg)
{
    struct errand *errand = arg, e = *errand;
    struct notify_answer a = {
            .accepted = r->accepted,
            .permanent = r->permanent,
            .status = r->status,
            .reason = r->reason,
            .retry_after = r->retry_after,
    };
    list_remove(&errand->link);
    free(errand);
    e.done(&a, e.to);
}

static void post(void *arg, const struct notify_post *p, notify_answered_fn *done, void *to)
{
    struct carrier *c = arg;
    struct fetch_parcel parcel = {
            .url = p->url,
            .method = p->method,
            .headers = p->headers,
            .body = p->body,
            .body_bytes = p->body_bytes,
    };
    fetch_deliver(c->web, &parcel, delivered, errand_new(c, done, to));
}

static void mail(void *arg, const struct notify_mail *m, notify_answered_fn *done, void *to)
{
    struct carrier *c = arg;
    struct fetch_parcel parcel = {
            .url = c->smtp,
            .body = m->text,
            .body_bytes = m->bytes,
            .from = m->from,
            .to = m->to,
            .user = c->user,
            .password = c->password,
            .need_tls = c->need_tls,
            .may_tls = c->may_tls,
    };
    fetch_deliver(c->mail, &parcel, delivered, errand_new(c, done, to));
}

/* ---- a program ---- */

struct program {
    struct list link;
    struct carrier *carrier;
    struct errand errand;
    pid_t pid;
    int fd; /* tells when it ended; -1: none */
    struct loop_io ended;
    struct loop_timer deadline; /* or, when it could not be started, at once */
    char why[200];
};

static void program_over(struct program *p, const struct notify_answer *a)
{
    struct errand e = p->errand;
    struct carrier *c = p->carrier;
    char why[sizeof p->why];
    struct notify_answer copy = *a;
    str_copy(why, sizeof why, p->why);
    copy.reason = why;
    loop_io_stop(c->loop, &p->ended);
    loop_timer_stop(c->loop, &p->deadline);
    if (p->fd >= 0)
        close(p->fd);
    list_remove(&p->link);
    free(p);
    e.done(&copy, e.to);
}

static void program_ended(struct loop_io *io, int events)
{
    (void)events;
    struct program *p = container_of(io, struct program, ended);
    int status = 0;
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    bool fine = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (WIFEXITED(status))
        snprintf(
                p->why, sizeof p->why, "the program ended with status %d", WEXITSTATUS(status));
    else
        snprintf(p->why, sizeof p->why, "the program was ended by signal %d", WTERMSIG(status));
    program_over(p, &(struct notify_answer){.accepted = fine});
}

/* Either it takes too long, or it never began. */
static void program_late(struct loop_timer *timer)
{
    struct program *p = container_of(timer, struct program, deadline);
    if (p->pid > 0) {
        char span[TIME_TEXT_SIZE];
        kill(p->pid, SIGKILL);
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
            ;
        snprintf(p->why, sizeof p->why, "the program did not end within %s",
                time_span(p->carrier->timeout, span));
    }
    program_over(p, &(struct notify_answer){.accepted = false});
}

/* The message as a file without a name, at its beginning. */
static int input_of(const char *bytes, size_t len)
{
    int fd = memfd_create("vigil-message", MFD_CLOEXEC);
    for (size_t at = 0; fd >= 0 && at < len;) {
        ssize_t n = write(fd, bytes + at, len - at);
        if (n <= 0) {
            close(fd);
            return -1;
        }
        at += (size_t)n;
    }
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

static int spawn(struct program *p, const char *const *argv, int input)
{
    char *const environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", NULL}; /* (3) */
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, input, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&how);
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &defaults);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int failed = posix_spawn(
            &p->pid, argv[0], &files, &how, (char *const *)(uintptr_t)argv, environment);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

static void run(void *arg, const char *const *argv, const char *input, size_t bytes,
        notify_answered_fn *done, void *to)
{
    struct carrier *c = arg;
    struct program *p = calloc(1, sizeof *p);
    CHECK(p);
    p->carrier = c;
    p->errand = (struct errand){.done = done, .to = to};
    p->fd = -1;
    list_append(&c->programs, &p->link);
    loop_io_init(&p->ended, program_ended);
    loop_timer_init(&p->deadline, program_late);
    int fd = input_of(input, bytes);
    int failed = fd < 0 ? errno : spawn(p, argv, fd);
    if (fd >= 0)
        close(fd);
    if (!failed)
        p->fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
    if (failed || p->fd < 0) {
        snprintf(p->why, sizeof p->why, "the program %s cannot be started: %s", argv[0],
                strerror(failed ? failed : errno));
        if (!failed) {
            kill(p->pid, SIGKILL);
            waitpid(p->pid, NULL, 0);
        }
        p->pid = 0;
        loop_timer_set(c->loop, &p->deadline, 0); /* (4) */
        return;
    }
    loop_io_set(c->loop, &p->ended, p->fd, LOOP_READ);
    loop_timer_set(c->loop, &p->deadline, c->timeout);
}

/* ---- a channel ---- */

struct publishing {
    struct store_publish_job job;
    struct errand errand;
    struct arena *life;
};

static void published(struct store_job *job)
{
    struct publishing *p = container_of(job, struct publishing, job.job);
    struct errand e = p->errand;
    struct fault f = job->fault;
    struct notify_answer a = {.accepted = job->err == OK, .reason = f.message};
    arena_free(p->life);
    e.done(&a, e.to);
}

static void publish(
        void *arg, const char *channel, const char *payload, notify_answered_fn *done, void *to)
{
    struct carrier *c = arg;
    struct arena *life = arena_new(NULL, "publish");
    struct publishing *p = arena_new_of(life, struct publishing);
    p->life = life;
    p->errand = (struct errand){.done = done, .to = to};
    p->job.job.kind = STORE_JOB_PUBLISH;
    p->job.job.done = published;
    p->job.channel = arena_strdup(life, channel);
    p->job.payload = arena_strdup(life, payload);
    store_outbox_submit(c->outbox, &p->job.job);
}

/* ---- settings ---- */

static enum err start_web(struct carrier *c, const struct clock *clock, struct fault *f)
{
    const struct settings *s = c->settings;
    const struct setting_value *own = &s->values[SETTING_NOTIFY_ALLOW];
    const char *ca;
    enum err e = settings_ca(s, SETTING_NOTIFY_CA, f, &ca);
    if (e)
        return e;
    struct fetch_options o = {
            .user_agent = settings_text(s, SETTING_FETCH_USER_AGENT),
            .allow = own->list,
            .nallow = own->nlist,
            .connect_timeout = settings_number(s, SETTING_FETCH_CONNECT_TIMEOUT),
            .first_byte_timeout = c->timeout,
            .total_timeout = c->timeout,
            .ca_file = ca,
            .max_connections = (unsigned)settings_number(s, SETTING_NOTIFY_CONNECTIONS),
            .max_host_connections =
                    (unsigned)settings_number(s, SETTING_NOTIFY_HOST_CONNECTIONS),
            .clock = clock,
    };
    return fetch_new(c->life, c->loop, &o, f, &c->web); /* (1) */
}

static enum err start_mail(struct carrier *c, const struct clock *clock, struct fault *f)
{
    static const char *const anywhere[] = {"0.0.0.0/0", "::/0"}; /* (2) */
    const struct settings *s = c->settings;
    const char *tls = settings_text(s, SETTING_NOTIFY_SMTP_TLS);
    const char *ca;
    c->smtp = settings_text(s, SETTING_NOTIFY_SMTP);
    c->user = settings_text(s, SETTING_NOTIFY_SMTP_USER);
    c->user = *c->user ? c->user : NULL;
    enum err e = telling_secret(c->life, s, SETTING_NOTIFY_SMTP_PASSWORD, f, &c->password);
    if (!e)
        e = settings_ca(s, SETTING_NOTIFY_SMTP_CA, f, &ca);
    if (e)
        return e;
    if (*c->smtp && strncmp(c->smtp, "smtp://", 7) != 0 &&
            strncmp(c->smtp, "smtps://", 8) != 0) {
        e = fault_set(f, ERR_SYNTAX, "notify.smtp \"%.100s\" is not a mail server", c->smtp);
        fault_hint(f, "Write smtp://mail.example.org:587 or smtps://mail.example.org.");
        return e;
    }
    bool never = strcmp(tls, "never") == 0, required = strcmp(tls, "required") == 0;
    if (!never && !required && strcmp(tls, "offered") != 0) {
        e = fault_set(f, ERR_RANGE, "notify.smtp_tls \"%.50s\" is not understood", tls);
        fault_hint(f, "Write required, offered or never.");
        return e;
    }
    c->need_tls = required || (c->user && !never);
    c->may_tls = !never;
    struct fetch_options o = {
            .user_agent = settings_text(s, SETTING_FETCH_USER_AGENT),
            .allow = anywhere,
            .nallow = countof(anywhere),
            .connect_timeout = settings_number(s, SETTING_FETCH_CONNECT_TIMEOUT),
            .first_byte_timeout = c->timeout,
            .total_timeout = 2 * c->timeout,
            .max_connections = 4,
            .ca_file = ca,
            .max_host_connections = 4,
            .clock = clock,
    };
    return fetch_new(c->life, c->loop, &o, f, &c->mail);
}

enum err carrier_new(struct arena *life, struct loop *loop, const struct clock *clock,
        const struct settings *s, struct fault *f, struct carrier **ret_carrier)
{
    struct arena *own = arena_new(life, "carrier");
    struct carrier *c = arena_new_of(own, struct carrier);
    c->life = own;
    c->loop = loop;
    c->settings = s;
    c->timeout = settings_number(s, SETTING_NOTIFY_TIMEOUT);
    list_init(&c->programs);
    list_init(&c->errands);
    enum err e = start_web(c, clock, f);
    if (!e)
        e = start_mail(c, clock, f);
    if (e)
        arena_free(own);
    else
        *ret_carrier = c;
    return e;
}

void carrier_use(struct carrier *c, struct store_outbox *outbox)
{
    c->outbox = outbox;
}

struct notify_carrier carrier_hooks(struct carrier *c)
{
    return (struct notify_carrier){
            .post = post, .mail = mail, .run = run, .publish = publish, .arg = c};
}

void carrier_free(struct carrier *c)
{
    list_each (l, &c->programs) {
        struct program *p = list_entry(l, struct program, link);
        list_remove(l);
        loop_io_stop(c->loop, &p->ended);
        loop_timer_stop(c->loop, &p->deadline);
        if (p->pid > 0) {
            kill(p->pid, SIGKILL);
            while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
                ;
        }
        if (p->fd >= 0)
            close(p->fd);
        free(p);
    }
    struct list unanswered = LIST_INIT(unanswered);
    list_each (l, &c->errands) {
        list_remove(l);
        list_append(&unanswered, l);
    }
    arena_free(c->life); /* fetch goes, and does not answer any more */
    list_each (l, &unanswered)
        free(list_entry(l, struct errand, link));
}
