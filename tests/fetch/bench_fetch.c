/* How much the guards cost: fetch against a bare libcurl loop that downloads and counts.
 *
 * Same nginx, same run, same number of connections, in short turns, each of which goes first in
 * every second one.  A ratio is the middle one of the turns' ratios: the machine's others, and
 * what it can do at the moment, are the same for both sides of a turn, and not for the best of
 * many turns of each.  Pages a second and processor time are the best turn's.
 *
 *     bench_fetch [PAGES]
 */
#include "base/hash.h"
#include "base/list.h"
#include "base/str.h"
#include "fetch/fetch.h"
#include "tests/bench/middle.h"
#include "tests/servers/servers.h"
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 64, PAGE_BYTES = 47000, TURNS = 25, URLWATCH_TURNS = 5 };

struct bench {
    struct loop *loop;
    const char *url;                  /* without its number */
    const char *etag, *last_modified; /* NULL: whole bodies */
    unsigned pages, started, done, wrong;
    struct hash128 expected;
    /* fetch */
    struct fetch *fetch;
    /* bare */
    CURLM *multi;
    struct curl_slist *lines;
    struct loop_timer timer;
    struct list free_watches;
    struct arena *life;
};

struct figures {
    double pages_per_second, cpu_us;
};

/* With fetch. */

static void fetch_one(struct bench *b);

static void fetched(const struct fetch_response *r, void *arg)
{
    struct bench *b = arg;
    b->done++;
    if (b->etag)
        b->wrong += r->outcome != FETCH_NOT_MODIFIED;
    else
        b->wrong += r->outcome != FETCH_OK ||
                    !hash128_equal(hash128_of(r->body, r->body_bytes), b->expected);
    fetch_one(b);
    if (b->done == b->pages)
        loop_stop(b->loop);
}

static void fetch_one(struct bench *b)
{
    char url[200];
    if (b->started == b->pages)
        return;
    snprintf(url, sizeof(url), "%s?%u", b->url, b->started++);
    fetch_start(b->fetch,
            &(struct fetch_request){.url = url,
                    .is_spelled = true,
                    .etag = b->etag,
                    .last_modified = b->last_modified},
            fetched, b);
}

static void run_fetch(struct bench *b)
{
    for (int i = 0; i < CONNECTIONS; i++)
        fetch_one(b);
    loop_run(b->loop);
}

/* Bare. */

struct watch {
    struct list link;
    struct loop_io io;
    struct bench *bench;
    int fd;
};

static size_t count_bytes(char *data, size_t size, size_t n, void *arg)
{
    (void)data;
    *(size_t *)arg += size * n;
    return size * n;
}

static size_t bare_bytes;

static void bare_one(struct bench *b)
{
    char url[200];
    if (b->started == b->pages)
        return;
    snprintf(url, sizeof(url), "%s?%u", b->url, b->started++);
    CURL *c = curl_easy_init();
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, count_bytes);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, &bare_bytes);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    if (b->lines)
        curl_easy_setopt(c, CURLOPT_HTTPHEADER, b->lines);
    curl_multi_add_handle(b->multi, c);
}

static void bare_act(struct bench *b, curl_socket_t fd, int events)
{
    int running;
    CURLMsg *m;
    curl_multi_socket_action(b->multi, fd, events, &running);
    while ((m = curl_multi_info_read(b->multi, &running))) {
        long status;
        CURL *c = m->easy_handle;
        curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
        b->wrong += status != (b->etag ? 304 : 200);
        b->done++;
        curl_multi_remove_handle(b->multi, c);
        curl_easy_cleanup(c);
        bare_one(b);
    }
    if (b->done == b->pages)
        loop_stop(b->loop);
}

static void bare_ready(struct loop_io *io, int events)
{
    struct watch *w = container_of(io, struct watch, io);
    bare_act(w->bench, w->fd, events); /* libcurl's bits and the loop's are the same */
}

static void bare_expired(struct loop_timer *timer)
{
    bare_act(container_of(timer, struct bench, timer), CURL_SOCKET_TIMEOUT, 0);
}

static int bare_socket(CURL *c, curl_socket_t fd, int what, void *arg, void *watch)
{
    (void)c;
    struct bench *b = arg;
    struct watch *w = watch;
    if (!w) {
        w = arena_new_of(b->life, struct watch);
        w->bench = b;
        w->fd = fd;
        loop_io_init(&w->io, bare_ready);
        curl_multi_assign(b->multi, fd, w);
    }
    if (what == CURL_POLL_REMOVE) {
        loop_io_stop(b->loop, &w->io);
        curl_multi_assign(b->multi, fd, NULL);
    } else {
        loop_io_set(b->loop, &w->io, fd, what);
    }
    return 0;
}

static int bare_timer(CURLM *multi, long after, void *arg)
{
    (void)multi;
    struct bench *b = arg;
    if (after < 0)
        loop_timer_stop(b->loop, &b->timer);
    else
        loop_timer_set(b->loop, &b->timer, after);
    return 0;
}

static void run_bare(struct bench *b)
{
    b->multi = curl_multi_init();
    curl_multi_setopt(b->multi, CURLMOPT_SOCKETFUNCTION, bare_socket);
    curl_multi_setopt(b->multi, CURLMOPT_SOCKETDATA, b);
    curl_multi_setopt(b->multi, CURLMOPT_TIMERFUNCTION, bare_timer);
    curl_multi_setopt(b->multi, CURLMOPT_TIMERDATA, b);
    curl_multi_setopt(b->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS);
    loop_timer_init(&b->timer, bare_expired);
    if (b->etag) {
        b->lines = curl_slist_append(NULL, arena_printf(b->life, "If-None-Match: %s", b->etag));
        b->lines = curl_slist_append(
                b->lines, arena_printf(b->life, "If-Modified-Since: %s", b->last_modified));
    }
    for (int i = 0; i < CONNECTIONS; i++)
        bare_one(b);
    loop_run(b->loop);
    loop_timer_stop(b->loop, &b->timer);
    curl_multi_cleanup(b->multi);
    curl_slist_free_all(b->lines);
}

/* Both. */

static double cpu_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct figures measure(const struct bench *settings, void (*run)(struct bench *))
{
    SCRATCH struct arena *life = arena_new(NULL, "round");
    static const char *const loopback[] = {"127.0.0.1"};
    struct bench b = *settings;
    struct fault f;
    b.life = life;
    b.loop = loop_new();
    struct fetch_options o = {.allow = loopback,
            .nallow = 1,
            .max_connections = CONNECTIONS,
            .max_host_connections = CONNECTIONS};
    if (fetch_new(arena_new(life, "fetch"), b.loop, &o, &f, &b.fetch) != OK)
        exit(1);
    double began = seconds(), cpu = cpu_us();
    run(&b);
    struct figures got = {.cpu_us = (cpu_us() - cpu) / b.pages};
    got.pages_per_second = b.pages / (seconds() - began);
    if (b.wrong) {
        printf("Bail out! %u answers were wrong\n", b.wrong);
        exit(1);
    }
    arena_freep(&life);
    loop_free(b.loop);
    return got;
}

/* The best of several: whoever else uses the machine can only make a round worse. */
static void take_best(struct figures *best, struct figures f)
{
    if (f.pages_per_second > best->pages_per_second)
        best->pages_per_second = f.pages_per_second;
    if (best->cpu_us == 0 || f.cpu_us < best->cpu_us)
        best->cpu_us = f.cpu_us;
}

static void compare(const char *what, const struct bench *settings)
{
    struct figures best = {0}, best_bare = {0};
    double rates[TURNS], cpus[TURNS];
    for (int i = 0; i < TURNS; i++) {
        struct figures ours, bare;
        if (i % 2)
            bare = measure(settings, run_bare);
        ours = measure(settings, run_fetch);
        if (i % 2 == 0)
            bare = measure(settings, run_bare);
        rates[i] = ours.pages_per_second / bare.pages_per_second;
        cpus[i] = ours.cpu_us / bare.cpu_us;
        take_best(&best, ours);
        take_best(&best_bare, bare);
    }
    printf("%-14s fetch %7.0f pages/s %5.1f us CPU   bare %7.0f pages/s %5.1f us CPU   "
           "rate %.2f  CPU %.2f\n",
            what, best.pages_per_second, best.cpu_us, best_bare.pages_per_second,
            best_bare.cpu_us, middle(rates, TURNS), middle(cpus, TURNS));
}

struct first {
    struct loop *loop;
    char etag[100], last_modified[100];
};

static void first_came(const struct fetch_response *r, void *arg)
{
    struct first *f = arg;
    str_copy(f->etag, sizeof(f->etag), r->etag ? r->etag : "");
    str_copy(f->last_modified, sizeof(f->last_modified),
            r->last_modified ? r->last_modified : "");
    loop_stop(f->loop);
}

static struct first get_validators(const char *url)
{
    static const char *const loopback[] = {"127.0.0.1"};
    SCRATCH struct arena *life = arena_new(NULL, "first");
    struct first first = {.loop = loop_new()};
    struct fetch_options o = {.allow = loopback, .nallow = 1};
    struct fetch *fe;
    struct fault f;
    if (fetch_new(life, first.loop, &o, &f, &fe) != OK)
        exit(1);
    fetch_start(fe, &(struct fetch_request){.url = url}, first_came, &first);
    loop_run(first.loop);
    arena_freep(&life);
    loop_free(first.loop);
    return first;
}

/* urlwatch, where it is installed. */

static char *urlwatch_command(struct arena *life, const char *dir, const char *url, unsigned n)
{
    char *jobs = arena_printf(life, "%s/jobs%u.yaml", dir, n);
    FILE *f = fopen(jobs, "w");
    for (unsigned i = 0; f && i < n; i++)
        fprintf(f, "%surl: \"%s?%u\"\n", i ? "---\n" : "", url, i);
    if (f)
        fclose(f);
    return arena_printf(life,
            "cd %s && HOME=%s urlwatch --urls %s --config c.yaml --cache %u.db --hooks h.py "
            ">/dev/null 2>&1",
            dir, dir, jobs, n);
}

/* 0: it failed. */
static double command_seconds(const char *command)
{
    double began = seconds();
    return system(command) == 0 ? seconds() - began : 0;
}

/* The same pages in turns, which it knows by then, without the time that it takes with a single
 * page, which is mostly Python starting up.  Of both the middle turn. */
static void beside_urlwatch(struct arena *life, const struct bench *settings)
{
    enum { PAGES = 300 };
    char dir[] = "/tmp/vigil-urlwatch-XXXXXX";
    double rates[URLWATCH_TURNS], times[URLWATCH_TURNS];
    int n = 0;
    if (access("/usr/bin/urlwatch", X_OK) != 0 || !mkdtemp(dir))
        return;
    server_write(dir, "c.yaml",
            "display: {new: false, error: true, unchanged: false}\n"
            "report: {stdout: {enabled: true, color: false}}\n");
    const char *one = urlwatch_command(life, dir, settings->url, 1);
    const char *all = urlwatch_command(life, dir, settings->url, PAGES + 1);
    bool knows = command_seconds(one) > 0 && command_seconds(all) > 0;
    for (int i = 0; knows && i < URLWATCH_TURNS; i++) {
        double start = command_seconds(one), took = command_seconds(all);
        struct figures ours = measure(settings, run_fetch);
        if (start <= 0 || took <= start)
            continue;
        rates[n] = PAGES / (took - start);
        times[n] = ours.pages_per_second / rates[n];
        n++;
    }
    if (n)
        printf("%-14s %7.0f checks/s, start-up not counted   fetch is %.0f times as fast\n",
                "urlwatch", middle(rates, (size_t)n), middle(times, (size_t)n));
    (void)!system(arena_printf(life, "rm -r %s", dir));
}

int main(int argc, char **argv)
{
    SCRATCH struct arena *life = arena_new(NULL, "bench");
    struct server_nginx nginx;
    char *page = arena_zalloc(life, PAGE_BYTES + 1);
    for (size_t i = 0; i < PAGE_BYTES; i++)
        page[i] = (char)('a' + i * 7919 % 26);
    server_nginx(life, &nginx);
    server_write(nginx.root, "page.html", page);
    struct bench b = {.pages = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 4000,
            .url = arena_printf(life, "http://127.0.0.1:%u/page.html", nginx.http),
            .expected = hash128_of(page, PAGE_BYTES)};
    struct first first = get_validators(b.url);
    struct bench whole = b;
    compare("47 KB bodies", &whole);
    b.etag = first.etag;
    b.last_modified = first.last_modified;
    compare("304 answers", &b);
    beside_urlwatch(life, &whole);
    return 0;
}
