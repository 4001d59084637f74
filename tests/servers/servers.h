/* servers -- real servers for tests, on free loopback ports, gone when the test is.
 *
 * A server is a child process that ends when its stdin closes or when we die, so nothing
 * is left running however a test ends.
 */
#pragma once
#include "base/arena.h"

/* Tied to the arena: stopped when it goes.  Both return the port, or stop the test
 * program with a message. */
unsigned server_hostile(struct arena *life, const char *address);

struct server_nginx {
    unsigned http, https;
    const char *root; /* a directory whose files are served */
    const char *ca;   /* the certificate that signed the server's */
};
void server_nginx(struct arena *life, struct server_nginx *ret_server);

/* A listening socket that counts who came: the canary of the tests for guarded addresses. */
struct server_canary {
    int fd;
    unsigned port;
};
void server_canary(struct arena *life, const char *address, struct server_canary *ret_canary);
unsigned server_canary_accepts(const struct server_canary *c); /* so far; none is taken twice */

/* An address that nobody listens on. */
unsigned server_free_port(void);

/* Replaces a file under a directory. */
void server_write(const char *root, const char *name, const char *text);
