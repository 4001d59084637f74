/* A name that changes its mind: allowed when it is looked at, private when it is connected to.
 *
 * The resolver is this program: getaddrinfo() below stands before the C library's, so libcurl
 * looks names up in its own threads and keeps them in its own cache as it always does.  time()
 * stands there as well, since that cache goes by it.
 */
#include "tests/fetch/web.h"
#include "tests/servers/private.h"
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char allowed[] = "127.0.0.3";
static const char *const only_that[] = {"127.0.0.3/32"};

static _Atomic(const char *) second; /* what the name leads to from the second lookup on */
static atomic_uint lookups;
static atomic_long ahead; /* seconds */

typedef int lookup_fn(const char *, const char *, const struct addrinfo *, struct addrinfo **);

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
        struct addrinfo **ret)
{
    lookup_fn *real = (lookup_fn *)dlsym(RTLD_NEXT, "getaddrinfo");
    size_t len = name ? strlen(name) : 0, domain = strlen(".rebind.example");
    if (len < domain || strcmp(name + len - domain, ".rebind.example") != 0)
        return real(name, service, hints, ret);
    char address[64];
    const char *to = atomic_fetch_add(&lookups, 1) == 0 ? allowed : atomic_load(&second);
    bool is_v6 = to[0] == '[';
    snprintf(address, sizeof address, "%.*s", (int)(strlen(to) - (is_v6 ? 2 : 0)), to + is_v6);
    struct addrinfo any = *hints;
    any.ai_flags = AI_NUMERICHOST;
    any.ai_family = AF_UNSPEC;
    return real(address, service, &any, ret);
}

time_t time(time_t *ret)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += atomic_load(&ahead);
    if (ret)
        *ret = now.tv_sec;
    return now.tv_sec;
}

/* Listens at the allowed server's port, at the addresses of this machine that are not. */
struct watch {
    int fds[3];
};

static void watch_open(struct watch *w, unsigned port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
            .sin6_port = htons((uint16_t)port),
            .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    for (int i = 0; i < 3; i++) {
        w->fds[i] = socket(i < 2 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);
        v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)i);
        REQUIRE(bind(w->fds[i], i < 2 ? (void *)&v4 : (void *)&v6,
                        i < 2 ? sizeof v4 : sizeof v6) == 0);
        REQUIRE(listen(w->fds[i], 100) == 0);
    }
}

/* Whoever was connected waits in the queue of the kernel. */
static int visitors(const struct watch *w)
{
    int n = 0;
    for (int i = 0; i < 3; i++)
        for (int fd; (fd = accept(w->fds[i], NULL, NULL)) >= 0; n++)
            close(fd);
    return n;
}

static void watch_close(struct watch *w)
{
    for (int i = 0; i < 3; i++)
        close(w->fds[i]);
}

TEST(rebinding, "a name that leads elsewhere the second time leads nowhere")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    unsigned port = server_hostile(life, allowed);
    struct watch watch;
    watch_open(&watch, port);
    struct fetch_options o = web_options;
    o.allow = only_that;
    o.nallow = 1;
    WEB(w, &o);
    for (size_t i = 0; i < countof(private_addresses); i++) {
        char *url =
                arena_printf(life, "http://n%zu.rebind.example:%u/good-then-close", i, port);
        atomic_store(&second, private_addresses[i]);
        atomic_store(&lookups, 0);
        EXPECT_INT(web_get(&w, "%s", url)->outcome, FETCH_OK);
        EXPECT_INT(web_get(&w, "%s", url)->outcome, FETCH_OK);
        EXPECT_INT(atomic_load(&lookups), 1); /* what was looked up is believed for a while */

        atomic_fetch_add(&ahead, 600);
        struct answer *a = web_get(&w, "%s", url);
        EXPECT_INT(atomic_load(&lookups), 2);
        EXPECT_INT(a->status, 0);
        if (!strstr(a->reason, "is not a public address"))
            test_fail(__FILE__, __LINE__, "%s: %s", private_addresses[i], a->reason);
    }
    EXPECT_INT(visitors(&watch), 0);
    watch_close(&watch);
}

TEST(robots, "nor does it when robots.txt is looked for first")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    unsigned port = server_hostile(life, allowed);
    struct watch watch;
    watch_open(&watch, port);
    struct fetch_options o = web_options;
    o.allow = only_that;
    o.nallow = 1;
    o.robots = FETCH_ROBOTS_ALL;
    for (size_t i = 0; i < countof(private_addresses); i++) {
        WEB(w, &o);
        atomic_store(&second, private_addresses[i]);
        atomic_store(&lookups, 0);
        EXPECT_INT(web_get(&w, "http://r.rebind.example:%u/good-then-close", port)->outcome,
                FETCH_OK);
        atomic_fetch_add(&ahead, 600);
        /* Its connection is gone by now, and so is what was known of the name. */
        EXPECT_INT(web_get(&w, "http://r.rebind.example:%u/good-then-close", port)->status, 0);
        EXPECT(atomic_load(&lookups) >= 2);
    }
    EXPECT_INT(visitors(&watch), 0);
    watch_close(&watch);
}

TEST(watched, "whoever came would have been noticed")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    unsigned port = server_hostile(life, allowed);
    struct watch watch;
    watch_open(&watch, port);
    WEB(w, &web_hasty_options);
    atomic_store(&lookups, 1);
    atomic_store(&second, "127.0.0.1");
    web_get(&w, "http://a.rebind.example:%u/", port);
    atomic_store(&second, "[::1]");
    web_get(&w, "http://b.rebind.example:%u/", port);
    EXPECT_INT(visitors(&watch), 2);
    watch_close(&watch);
}

TEST_MAIN()
