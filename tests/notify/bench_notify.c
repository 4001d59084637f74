/* How fast a full outbox empties: 100,000 notifications of 2,000 sentinels to one webhook
 * receiver, then mails to one server.
 *
 * In rounds, a bare loop of POSTs to the same receiver before each: whoever else uses the
 * machine uses it for both.  Prints the middle of the rounds: deliveries a second and a day,
 * what they are of the bare loop's of the same round, and processor time for each, which says
 * more than seconds do where the machine is not ours alone.
 *
 *     bench_notify [NOTIFICATIONS]
 */
#include "engine/outbox.h"
#include "fetch/deliver.h"
#include "tests/bench/middle.h"
#include "tests/store/store_fixture.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 5 };

/* What a round took. */
struct took {
    double seconds, cpu, server_cpu; /* PostgreSQL's apart */
};

/* ---- receivers, in a process of their own ---- */

struct figures { /* shared with the receivers */
    _Atomic long posts, mails, connections;
};
static struct figures *figures;

struct peer {
    int fd;
    size_t len;
    bool in_data;
    char text[1 << 17];
};

static void say(int fd, const char *text)
{
    (void)!write(fd, text, strlen(text));
}

/* Answers every complete POST in the buffer. */
static void take_posts(struct peer *p)
{
    for (;;) {
        p->text[p->len] = 0;
        char *end = strstr(p->text, "\r\n\r\n");
        char *length = end ? strcasestr(p->text, "content-length:") : NULL;
        size_t all = end ? (size_t)(end - p->text) + 4 : 0;
        if (length && length < end)
            all += strtoul(length + 15, NULL, 10);
        if (!end || p->len < all)
            return;
        figures->posts++;
        say(p->fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        memmove(p->text, p->text + all, p->len - all);
        p->len -= all;
    }
}

static void take_mail(struct peer *p)
{
    for (;;) {
        p->text[p->len] = 0;
        const char *mark = p->in_data ? "\r\n.\r\n" : "\r\n";
        char *end = strstr(p->text, mark);
        if (!end) {
            if (p->in_data && p->len > 8) { /* what was seen need not be kept */
                memmove(p->text, p->text + p->len - 8, 8);
                p->len = 8;
            }
            return;
        }
        size_t all = (size_t)(end - p->text) + strlen(mark);
        if (p->in_data) {
            figures->mails++;
            p->in_data = false;
            say(p->fd, "250 kept\r\n");
        } else if (strncasecmp(p->text, "DATA", 4) == 0) {
            p->in_data = true;
            say(p->fd, "354 go on\r\n");
        } else
            say(p->fd, strncasecmp(p->text, "QUIT", 4) == 0 ? "221 bye\r\n" : "250 ok\r\n");
        memmove(p->text, p->text + all, p->len - all);
        p->len -= all;
    }
}

static void serve(int listener, bool mail)
{
    enum { PEERS = 200 };
    struct peer *peers = calloc(PEERS, sizeof *peers);
    struct pollfd fds[PEERS + 1];
    int n = 0;
    CHECK(peers);
    for (;;) {
        fds[0] = (struct pollfd){listener, POLLIN, 0};
        for (int i = 0; i < n; i++)
            fds[i + 1] = (struct pollfd){peers[i].fd, POLLIN, 0};
        if (poll(fds, (nfds_t)n + 1, -1) < 0)
            continue;
        for (int i = n; i > 0; i--) {
            if (!fds[i].revents)
                continue;
            struct peer *p = &peers[i - 1];
            ssize_t got = read(p->fd, p->text + p->len, sizeof p->text - 1 - p->len);
            if (got <= 0) {
                close(p->fd);
                peers[i - 1] = peers[--n];
                continue;
            }
            p->len += (size_t)got;
            if (mail)
                take_mail(p);
            else
                take_posts(p);
        }
        if (fds[0].revents && n < PEERS) {
            int fd = accept(listener, NULL, NULL), one = 1;
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            peers[n].fd = fd;
            peers[n].len = 0;
            peers[n].in_data = false;
            n++;
            figures->connections++;
            if (mail)
                say(fd, "220 bench\r\n");
        }
    }
}

static pid_t receiver(bool mail, unsigned *ret_port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0 && listen(fd, 128) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&a, &len) == 0);
    *ret_port = ntohs(a.sin_port);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        serve(fd, mail);
    close(fd);
    return pid;
}

/* ---- the outbox ---- */

/* Sentinels of a name of this round's own, with a lane and so many notifications each. */
static void fill(struct fixture *x, int round, int sentinels, int each, const char *method,
        const char *target)
{
    const char *name = arena_printf(x->life, "%s%d-", method, round);
    sql(x, arena_printf(x->life,
                   "WITH s AS (INSERT INTO vigil_kb.sentinel (name, owner, definition, monitor,"
                   " fetch_rule, compare, state, page_id, installed_at, started_at) SELECT "
                   "'%s' ||"
                   " g, 'ann', '', 'links', '', '', 'active', (SELECT id FROM vigil_kb.page"
                   " LIMIT 1), vigil_kb.ts(0), vigil_kb.ts(0) FROM generate_series(1, %d) g"
                   " RETURNING id), t AS (INSERT INTO vigil_kb.sentinel_state (sentinel_id)"
                   " SELECT id FROM s) SELECT vigil_kb.tell_put(id, 0, 'dashboard', '', false,"
                   " false, false) FROM s",
                   name, sentinels));
    sql(x, arena_printf(x->life,
                   "UPDATE vigil_kb.tell SET lane_id = NULL; INSERT INTO vigil_kb.lane (owner,"
                   " sentinel_id, method, target, next_at) SELECT 'ann', id, '%s', '%s',"
                   " vigil_kb.ts(1) FROM vigil_kb.sentinel WHERE name LIKE '%s%%'",
                   method, target, name));
    sql(x, arena_printf(x->life,
                   "INSERT INTO vigil_kb.change (sentinel_id, page_id, old_version, "
                   "new_version,"
                   " at, inserted, deleted, updated, moved, summary, detail) SELECT s.id,"
                   " s.page_id, g, g + 1, vigil_kb.ts(1), 1, 0, 0, 0, 'links 1 inserted',"
                   " '{\"leaves\":[{\"type\":\"links\",\"inserted\":[\"http://x.org/new\"]}]}'"
                   " FROM vigil_kb.sentinel s, generate_series(1, %d) g WHERE name LIKE '%s%%'",
                   each, name));
    sql(x, arena_printf(x->life,
                   "INSERT INTO vigil_kb.notification (change_id, sentinel_id, at, method,"
                   " target, lane_id, state, next_try_at) SELECT c.id, c.sentinel_id, c.at,"
                   " l.method, l.target, l.id, 'pending', c.at FROM vigil_kb.change c JOIN"
                   " vigil_kb.lane l ON l.sentinel_id = c.sentinel_id JOIN vigil_kb.sentinel s"
                   " ON s.id = c.sentinel_id WHERE s.name LIKE '%s%%'",
                   name));
    sql(x, "VACUUM ANALYZE"); /* now, and not at a time of the server's own */
}

static double own_cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* Of the server, of those it waited for, and of its children. */
static double server_cpu(pid_t server)
{
    DIR *all = opendir("/proc");
    unsigned long ticks = 0;
    CHECK(all);
    for (struct dirent *d; (d = readdir(all));) {
        char path[300], text[1000] = "";
        int parent = 0;
        unsigned long spent[4] = {0};
        snprintf(path, sizeof path, "/proc/%s/stat", d->d_name);
        FILE *f = atoi(d->d_name) > 0 ? fopen(path, "r") : NULL;
        const char *rest = f && fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
        if (rest &&
                sscanf(rest, ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu",
                        &parent, &spent[0], &spent[1], &spent[2], &spent[3]) == 5 &&
                (parent == server || atoi(d->d_name) == server))
            ticks += spent[0] + spent[1] + spent[2] + spent[3];
        if (f)
            fclose(f);
    }
    closedir(all);
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

static void nothing(struct loop_timer *t)
{
    (void)t;
}

/* Until everything is settled. */
static struct took empty(struct fixture *x, const struct settings *s, const char *method)
{
    pid_t server = fixture_server(x);
    struct arena *life = arena_new(NULL, "outbox");
    struct pool *pool = pool_new(1, "bench");
    struct outbox_options o = {.loop = x->loop,
            .store = x->store,
            .pool = pool,
            .clock = &x->clock.clock,
            .settings = s};
    struct outbox *outbox;
    struct outbox_stats stats;
    struct loop_timer tick;
    struct fault f = {0};
    loop_timer_init(&tick, nothing);
    msec began = clock_mono(&clock_system);
    double cpu = own_cpu(), served = server_cpu(server);
    if (outbox_start(life, &o, &f, &outbox) != OK) {
        fprintf(stderr, "%s\n", f.message);
        exit(2);
    }
    do {
        loop_timer_set(x->loop, &tick, 20);
        loop_run_once(x->loop);
        outbox_stats_get(outbox, &stats);
    } while (stats.busy);
    struct took took = {
            .seconds = (double)(clock_mono(&clock_system) - began) / 1000,
            .cpu = own_cpu() - cpu,
            .server_cpu = server_cpu(server) - served,
    };
    loop_timer_stop(x->loop, &tick);
    outbox_stop(outbox, 1000);
    pool_free(pool);
    outbox_free(outbox);
    arena_free(life);
    long long left =
            sql_int(x, arena_printf(x->life,
                               "SELECT count(*) FROM vigil.notifications WHERE state <>"
                               " 'sent' AND method = '%s'",
                               method));
    if (left)
        printf("%lld were not delivered\n", left);
    return took;
}

/* ---- the bare baseline ---- */

struct bare {
    struct fetch *fetch;
    struct loop *loop;
    const char *url;
    int left, flying;
};

static void bare_next(struct bare *b);

static void bare_done(const struct fetch_receipt *r, void *arg)
{
    struct bare *b = arg;
    CHECK(r->accepted);
    b->flying--;
    bare_next(b);
    if (!b->flying)
        loop_stop(b->loop);
}

static void bare_next(struct bare *b)
{
    static const char body[] = "{\"id\":\"x\",\"items\":[{\"sentinel\":\"s\"}]}";
    struct fetch_parcel p = {
            .url = b->url, .method = "POST", .body = body, .body_bytes = sizeof body - 1};
    while (b->left && b->flying < 64) {
        b->left--;
        b->flying++;
        fetch_deliver(b->fetch, &p, bare_done, b);
    }
}

static struct took bare(const char *url, int count)
{
    static const char *const allow[] = {"127.0.0.0/8"};
    struct arena *life = arena_new(NULL, "bare");
    struct bare b = {.loop = loop_new(), .url = url, .left = count};
    struct fetch_options o = {
            .user_agent = "bench", .allow = allow, .nallow = 1, .max_host_connections = 8};
    CHECK(fetch_new(life, b.loop, &o, NULL, &b.fetch) == OK);
    msec began = clock_mono(&clock_system);
    double cpu = own_cpu();
    bare_next(&b);
    loop_run(b.loop);
    struct took took = {.seconds = (double)(clock_mono(&clock_system) - began) / 1000,
            .cpu = own_cpu() - cpu};
    arena_free(life);
    loop_free(b.loop);
    return took;
}

/* ---- rounds of both ---- */

struct round {
    int deliveries, bare_posts; /* 0: no bare loop */
    struct took ours, bare;
};

static double rate_of(const struct round *r)
{
    return r->deliveries / r->ours.seconds;
}

static double bare_rate_of(const struct round *r)
{
    return r->bare_posts / r->bare.seconds;
}

static double part_of(const struct round *r)
{
    return rate_of(r) / bare_rate_of(r);
}

static double cpu_of(const struct round *r)
{
    return r->ours.cpu * 1e6 / r->deliveries;
}

static double server_cpu_of(const struct round *r)
{
    return r->ours.server_cpu * 1e6 / r->deliveries;
}

static double bare_cpu_of(const struct round *r)
{
    return r->bare.cpu * 1e6 / r->bare_posts;
}

static double middle_of(const struct round *all, double (*of)(const struct round *))
{
    double got[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        got[i] = of(&all[i]);
    return middle(got, ROUNDS);
}

static void report(const char *what, const struct round *all)
{
    double rate = middle_of(all, rate_of);
    printf("%-8s %7d deliveries in %d rounds: %7.0f a second, %6.1f million a day; %.0f us CPU "
           "each, PostgreSQL's %.0f us; %ld connections\n",
            what, all->deliveries * ROUNDS, ROUNDS, rate, rate * 86400 / 1e6,
            middle_of(all, cpu_of), middle_of(all, server_cpu_of), (long)figures->connections);
    if (all->bare_posts)
        printf("         bare POSTs: %.0f a second, %.0f us CPU each; the outbox reaches %.0f "
               "%% "
               "of that rate\n",
                middle_of(all, bare_rate_of), middle_of(all, bare_cpu_of),
                100 * middle_of(all, part_of));
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 100000;
    unsigned web, smtp;
    figures = mmap(
            NULL, sizeof *figures, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(figures != MAP_FAILED);
    signal(SIGPIPE, SIG_IGN);
    pid_t hook = receiver(false, &web), server = receiver(true, &smtp);
    FIXTURE(x);
    struct settings s;
    settings_init(&s, x.life);
    CHECK(settings_set_pair(&s, "notify.allow=127.0.0.0/8", NULL) == OK);
    CHECK(settings_set_pair(&s, "notify.from=v@example.org", NULL) == OK);
    CHECK(settings_set_pair(&s, arena_printf(x.life, "notify.smtp=smtp://127.0.0.1:%u", smtp),
                  NULL) == OK);
    CHECK(fixture_open(&x, STORE_ENGINE) == OK);
    x.loop = loop_new();
    int64_t page;
    add_sentinel(&x, "first", "http://x.org/", &page);
    const char *url = arena_printf(x.life, "http://127.0.0.1:%u/", web);

    /* Each round has more lanes than are claimed at once, and lanes that are claimed again. */
    struct round posts[ROUNDS], mails[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        posts[i] = (struct round){.deliveries = count / ROUNDS / 50 * 50, .bare_posts = 5000};
        fill(&x, i, count / ROUNDS / 50, 50, "webhook", url);
        posts[i].bare = bare(url, posts[i].bare_posts);
        figures->connections = 0;
        posts[i].ours = empty(&x, &s, "webhook");
    }
    report("webhook", posts);
    for (int i = 0; i < ROUNDS; i++) {
        mails[i] = (struct round){.deliveries = count / 20 / ROUNDS / 10 * 10};
        fill(&x, i, mails[i].deliveries / 10, 10, "email", "ann@example.org");
        figures->connections = 0;
        mails[i].ours = empty(&x, &s, "email");
    }
    report("email", mails);
    printf("         Xyleme reports 2.4 million notifications a day on one PC\n");
    kill(hook, SIGKILL);
    kill(server, SIGKILL);
    waitpid(hook, NULL, 0);
    waitpid(server, NULL, 0);
    return 0;
}
