/* Starting and stopping servers for tests.
 *
 *  (1) A child dies with us: its stdin is a pipe that closes, and the kernel tells it.
 *  (2) The temporary directory of a server goes with the arena.
 *  (3) Nobody sleeps until a server is there: it says so, or its socket listens before it.
 */
#include "tests/servers/servers.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

NORETURN static void give_up(const char *what)
{
    printf("Bail out! %s: %s\n", what, strerror(errno));
    exit(1);
}

struct child {
    pid_t pid;
    int to, from; /* its stdin and stdout */
    int stop_signal;
};

static void child_stop(void *arg)
{
    struct child *c = arg;
    close(c->to);
    if (c->from >= 0)
        close(c->from);
    kill(c->pid, c->stop_signal);
    waitpid(c->pid, NULL, 0);
}

static struct child *child_start(struct arena *life, const char *const *argv, int stop_signal)
{
    struct child *c = arena_new_of(life, struct child);
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        give_up("pipe");
    fflush(stdout);
    pid_t parent = getpid();
    c->pid = fork();
    if (c->pid < 0)
        give_up("fork");
    if (c->pid == 0) {
        prctl(PR_SET_PDEATHSIG, stop_signal); /* (1) */
        if (getppid() != parent)
            _exit(1);
        dup2(in[0], 0);
        dup2(out[1], 1);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    c->to = in[1];
    c->from = out[0];
    c->stop_signal = stop_signal;
    arena_defer(life, child_stop, c);
    return c;
}

static void run(const char *const *argv)
{
    int status;
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0)
        give_up("fork");
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(null, 1);
        dup2(null, 2);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        give_up(argv[0]);
}

unsigned server_hostile(struct arena *life, const char *address)
{
    const char *argv[] = {"/usr/bin/python3", "-S", SERVERS_DIR "/hostile.py", address, NULL};
    struct child *c = child_start(life, argv, SIGKILL);
    char line[16] = "";
    ssize_t n = read(c->from, line, sizeof(line) - 1);
    if (n <= 0)
        give_up("hostile.py does not start");
    return (unsigned)strtoul(line, NULL, 10);
}

static int listen_on(const char *address, unsigned *ret_port)
{
    struct sockaddr_in6 a6 = {.sin6_family = AF_INET6};
    struct sockaddr_in a4 = {.sin_family = AF_INET};
    bool v6 = strchr(address, ':') != NULL;
    struct sockaddr *sa = v6 ? (struct sockaddr *)(void *)&a6 : (struct sockaddr *)(void *)&a4;
    socklen_t len = v6 ? sizeof(a6) : sizeof(a4);
    if (v6)
        inet_pton(AF_INET6, address, &a6.sin6_addr);
    else
        inet_pton(AF_INET, address, &a4.sin_addr);
    int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, sa, len) < 0 || getsockname(fd, sa, &len) < 0)
        give_up("bind");
    *ret_port = ntohs(v6 ? a6.sin6_port : a4.sin_port);
    return fd;
}

static void close_canary(void *arg)
{
    close(((struct server_canary *)arg)->fd);
}

void server_canary(struct arena *life, const char *address, struct server_canary *ret_canary)
{
    struct server_canary *c = arena_new_of(life, struct server_canary);
    c->fd = listen_on(address, &c->port);
    if (listen(c->fd, 128) < 0)
        give_up("listen");
    arena_defer(life, close_canary, c);
    *ret_canary = *c;
}

unsigned server_canary_accepts(const struct server_canary *c)
{
    unsigned n = 0;
    for (int fd; (fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0; n++)
        close(fd);
    return n;
}

unsigned server_free_port(void)
{
    unsigned port;
    close(listen_on("127.0.0.1", &port));
    return port;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static void remove_tree(void *arg)
{
    nftw(arg, remove_one, 16, FTW_DEPTH | FTW_PHYS); /* (2) */
}

void server_write(const char *root, const char *name, const char *text)
{
    SCRATCH struct arena *a = arena_new(NULL, "path");
    FILE *f = fopen(arena_printf(a, "%s/%s", root, name), "we");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        give_up(name);
}

static const char nginx_conf[] =
        "daemon off; %4$s worker_processes 1; pid %1$s/pid; error_log "
        "%1$s/error.log;\n"
        "events { worker_connections 1024; }\n"
        "http {\n"
        "  access_log off; default_type text/html; keepalive_requests 100000;\n"
        "  client_body_temp_path %1$s/t1; proxy_temp_path %1$s/t2; fastcgi_temp_path %1$s/t3;\n"
        "  uwsgi_temp_path %1$s/t4; scgi_temp_path %1$s/t5;\n"
        "  ssl_certificate %1$s/server.pem; ssl_certificate_key %1$s/server.key;\n"
        "  server {\n"
        "    listen 127.0.0.1:%2$u; listen 127.0.0.1:%3$u ssl http2; server_name localhost;\n"
        "    root %1$s/root;\n"
        "    location /gzip/ { alias %1$s/root/; gzip on; gzip_min_length 1; gzip_types *; }\n"
        "    location /no-etag/ { alias %1$s/root/; etag off; }\n"
        "    location /chunked/ { alias %1$s/root/; ssi on; ssi_types *; }\n"
        "    location /to-http { return 302 http://127.0.0.1:%2$u/page.html; }\n"
        "    location /to-https { return 302 https://127.0.0.1:%3$u/page.html; }\n"
        "    location /moved { return 301 /page.html; }\n"
        "    location /limited { return 429; }\n"
        "    location /protocol { return 200 $server_protocol; }\n"
        "  }\n"
        "}\n";

static void make_certificates(struct arena *a, const char *dir)
{
    const char *ca_key = arena_printf(a, "%s/ca.key", dir);
    const char *ca = arena_printf(a, "%s/ca.pem", dir);
    const char *key = arena_printf(a, "%s/server.key", dir);
    const char *request = arena_printf(a, "%s/server.csr", dir);
    const char *certificate = arena_printf(a, "%s/server.pem", dir);
    const char *extensions = arena_printf(a, "%s/ext", dir);
    server_write(dir, "ext", "subjectAltName=IP:127.0.0.1,DNS:localhost\n");
    const char *openssl = "/usr/bin/openssl";
    run((const char *[]){openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=test CA", "-days", "2",
            "-keyout", ca_key, "-out", ca, NULL});
    run((const char *[]){openssl, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-out", request, NULL});
    run((const char *[]){openssl, "x509", "-req", "-in", request, "-CA", ca, "-CAkey", ca_key,
            "-CAcreateserial", "-days", "2", "-extfile", extensions, "-out", certificate,
            NULL});
}

void server_nginx(struct arena *life, struct server_nginx *ret_server)
{
    char *dir = arena_strdup(life, "/tmp/vigil-test-nginx-XXXXXX");
    if (!mkdtemp(dir))
        give_up("mkdtemp");
    arena_defer(life, remove_tree, dir);
    chmod(dir, 0755); /* nginx as root reads the files as another user */
    char *root = arena_printf(life, "%s/root", dir);
    mkdir(root, 0755);
    make_certificates(life, dir);

    struct server_nginx s = {.root = root};
    int fds[2] = {listen_on("127.0.0.1", &s.http), listen_on("127.0.0.1", &s.https)};
    for (int i = 0; i < 2; i++)
        if (listen(fds[i], 1024) < 0 || fcntl(fds[i], F_SETFD, 0) < 0)
            give_up("listen");
    /* nginx takes sockets over that already listen, so nobody has to wait for it: (3). */
    setenv("NGINX", arena_printf(life, "%d;%d;", fds[0], fds[1]), 1);
    s.ca = arena_printf(life, "%s/ca.pem", dir);
    server_write(dir, "conf",
            arena_printf(life, nginx_conf, dir, s.http, s.https,
                    geteuid() == 0 ? "user root;" : ""));
    const char *argv[] = {"/usr/sbin/nginx", "-c", arena_printf(life, "%s/conf", dir), "-p",
            dir, "-e", arena_printf(life, "%s/error.log", dir), NULL};
    child_start(life, argv, SIGTERM);
    unsetenv("NGINX");
    close(fds[0]);
    close(fds[1]);
    *ret_server = s;
}
