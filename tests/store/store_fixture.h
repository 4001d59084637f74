/* store_fixture -- a short temporary directory, a store in it, and nothing left behind.
 *
 * Everything runs on real PostgreSQL, started by the code under test.  SQL is asked over a
 * connection of its own, so that a test sees what anybody else would see.
 */
#pragma once
#include "store/store.h"
#include "tests/test.h"
#include <libpq-fe.h>
#include <sys/types.h>

struct fixture {
    char dir[64], data[96]; /* data does not exist yet, unless it is a copy */
    struct arena *life;
    struct clock_fixed clock;
    struct fault fault;
    struct store *store;
    struct loop *loop;
    struct store_writer *writer;
    PGconn *sql;
};

#define NOON ((msec)1790000000000) /* some instant of 2026 with no milliseconds */

void fixture_init(struct fixture *x);
void fixture_done(struct fixture *x); /* closes what is open, removes the directory */
#define FIXTURE(name)                                                                          \
    CLEANUP(fixture_done) struct fixture name;                                                 \
    fixture_init(&name)

/* The same with a database in `data` that was made before: most tests are not about making
 * one, which costs a second of work.  The first such test of a program makes it, by the code
 * under test; each gets a copy. */
void fixture_init_made(struct fixture *x);
#define FIXTURE_MADE(name)                                                                     \
    CLEANUP(fixture_done) struct fixture name;                                                 \
    fixture_init_made(&name)

struct store_options fixture_options(struct fixture *x, enum store_role role, const char *who);
enum err fixture_open(struct fixture *x, enum store_role role);
void fixture_close(struct fixture *x);
/* Opens another store on the same data in this process, for a moment. */
enum err fixture_open_other(struct fixture *x, struct arena *life, enum store_role role,
        const char *who, struct fault *f, struct store **ret_store);

/* The first cell of the answer, "" for null, "(error) ..." when it is refused. */
const char *sql(struct fixture *x, const char *text);
long long sql_int(struct fixture *x, const char *text);

/* The server's process, from postmaster.pid. */
pid_t fixture_server(struct fixture *x);
bool process_is_alive(pid_t pid);
/* Polls until the condition holds; false after `ms`. */
bool eventually(bool (*holds)(void *arg), void *arg, msec ms);

/* Runs `body` in a child process; returns its exit status (128 + signal when killed). */
int in_child(void (*body)(struct fixture *x), struct fixture *x);
pid_t start_child(void (*body)(struct fixture *x), struct fixture *x);
int wait_child(pid_t pid);

/* Ready-made jobs. */
struct store_step step_create(const char *name, const char *url);
int64_t add_sentinel(struct fixture *x, const char *name, const char *url, int64_t *ret_page);

struct version_fixture {
    struct store_version_job job;
    struct store_change change;
    struct store_evaluation evaluation;
    char body[64];
    int64_t change_id;
    bool done;
};
/* Version n of a page with one change (when n > 1) for one sentinel, owed to the dashboard. */
void version_init(struct version_fixture *v, int64_t page, int64_t sentinel, int64_t n);

/* Starts the writer on a loop; hooks may be NULL. */
enum err fixture_writer(struct fixture *x, const struct store_writer_hooks *hooks);
/* Runs the loop until nothing is pending; false after `ms`. */
bool fixture_drain(struct fixture *x, msec ms);
/* Runs the loop until the condition holds; false after `ms`. */
bool fixture_run_until(struct fixture *x, bool (*holds)(void *arg), void *arg, msec ms);
