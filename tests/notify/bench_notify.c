/* How fast a full outbox empties: 100,000 notifications of 1,000 sentinels to one webhook
 * receiver, then mails to one server.  Prints deliveries a second and a day, connections, and
 * what a bare loop of POSTs to the same receiver does in the same run.
 *
 *     bench_notify [NOTIFICATIONS]
 */
#include "engine/outbox.h"
#include "fetch/deliver.h"
#include "tests/store/store_fixture.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

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

static void fill(
        struct fixture *x, int sentinels, int each, const char *method, const char *target)
{
    sql(x, arena_printf(x->life,
                   "WITH s AS (INSERT INTO vigil_kb.sentinel (name, owner, definition, monitor,"
                   " fetch_rule, compare, state, page_id, installed_at, started_at) SELECT "
                   "'%s' ||"
                   " g, 'ann', '', 'links', '', '', 'active', (SELECT id FROM vigil_kb.page"
                   " LIMIT 1), vigil_kb.ts(0), vigil_kb.ts(0) FROM generate_series(1, %d) g"
                   " RETURNING id), t AS (INSERT INTO vigil_kb.sentinel_state (sentinel_id)"
                   " SELECT id FROM s) SELECT vigil_kb.tell_put(id, 0, 'dashboard', '', false,"
                   " false, false) FROM s",
                   method, sentinels));
    sql(x, arena_printf(x->life,
                   "UPDATE vigil_kb.tell SET lane_id = NULL; INSERT INTO vigil_kb.lane (owner,"
                   " sentinel_id, method, target, next_at) SELECT 'ann', id, '%s', '%s',"
                   " vigil_kb.ts(1) FROM vigil_kb.sentinel WHERE name LIKE '%s%%'",
                   method, target, method));
    sql(x, arena_printf(x->life,
                   "INSERT INTO vigil_kb.change (sentinel_id, page_id, old_version, "
                   "new_version,"
                   " at, inserted, deleted, updated, moved, summary, detail) SELECT s.id,"
                   " s.page_id, g, g + 1, vigil_kb.ts(1), 1, 0, 0, 0, 'links 1 inserted',"
                   " '{\"leaves\":[{\"type\":\"links\",\"inserted\":[\"http://x.org/new\"]}]}'"
                   " FROM vigil_kb.sentinel s, generate_series(1, %d) g WHERE name LIKE '%s%%'",
                   each, method));
    sql(x, arena_printf(x->life,
                   "INSERT INTO vigil_kb.notification (change_id, sentinel_id, at, method,"
                   " target, lane_id, state, next_try_at) SELECT c.id, c.sentinel_id, c.at,"
                   " l.method, l.target, l.id, 'pending', c.at FROM vigil_kb.change c JOIN"
                   " vigil_kb.lane l ON l.sentinel_id = c.sentinel_id WHERE l.method = '%s'",
                   method));
    sql(x, "ANALYZE");
}

static void nothing(struct loop_timer *t)
{
    (void)t;
}

/* Seconds until everything is settled. */
static double empty(struct fixture *x, const struct settings *s, const char *method)
{
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
    if (outbox_start(life, &o, &f, &outbox) != OK) {
        fprintf(stderr, "%s\n", f.message);
        exit(2);
    }
    do {
        loop_timer_set(x->loop, &tick, 20);
        loop_run_once(x->loop);
        outbox_stats_get(outbox, &stats);
    } while (stats.busy);
    double took = (double)(clock_mono(&clock_system) - began) / 1000;
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

static double bare(const char *url, int count)
{
    static const char *const allow[] = {"127.0.0.0/8"};
    struct arena *life = arena_new(NULL, "bare");
    struct bare b = {.loop = loop_new(), .url = url, .left = count};
    struct fetch_options o = {
            .user_agent = "bench", .allow = allow, .nallow = 1, .max_host_connections = 8};
    CHECK(fetch_new(life, b.loop, &o, NULL, &b.fetch) == OK);
    msec began = clock_mono(&clock_system);
    bare_next(&b);
    loop_run(b.loop);
    double took = (double)(clock_mono(&clock_system) - began) / 1000;
    arena_free(life);
    loop_free(b.loop);
    return took;
}

static void report(const char *what, int count, double took, double bare_rate)
{
    printf("%-8s %7d deliveries in %6.1f s: %7.0f a second, %6.1f million a day; %ld "
           "connections\n",
            what, count, took, count / took, count / took * 86400 / 1e6,
            (long)figures->connections);
    if (bare_rate > 0)
        printf("         bare POSTs: %.0f a second; the outbox reaches %.0f %% of that\n",
                bare_rate, 100 * count / took / bare_rate);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 100000, mails = count / 20;
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

    int few = count / 5 > 1000 ? count / 5 : 1000;
    double bare_rate = few / bare(url, few);
    figures->connections = figures->posts = 0;
    fill(&x, count / 100, 100, "webhook", url);
    report("webhook", count, empty(&x, &s, "webhook"), bare_rate);
    figures->connections = 0;
    fill(&x, mails / 10, 10, "email", "ann@example.org");
    report("email", mails, empty(&x, &s, "email"), 0);
    printf("         Xyleme reports 2.4 million notifications a day on one PC\n");
    kill(hook, SIGKILL);
    kill(server, SIGKILL);
    waitpid(hook, NULL, 0);
    waitpid(server, NULL, 0);
    return 0;
}
