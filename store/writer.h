/* writer -- the engine's writing thread, inside.
 *
 * Three files: writer.c is the loop thread's side, writer_thread.c the thread's life
 * (connecting, waiting, requests), writer_group.c how jobs are committed.
 */
#pragma once
#include "base/lock.h"
#include "store/store_int.h"

/* A request on its way to the loop thread. */
struct asked {
    struct list link;
    struct store_request request; /* its texts follow in the same block */
};

struct store_writer {
    /* constant */
    struct store *store;
    struct loop *loop;
    struct store_writer_hooks hooks;
    pthread_t thread;
    int wake_fd; /* wakes the thread */
    struct loop_waker waker;

    struct lock lock;
    pthread_cond_t changed; /* something below did */
    /* under lock */
    struct list queue;    /* jobs submitted */
    struct list finished; /* jobs to be given back */
    struct list asked;    /* requests to be told */
    bool available;
    char why[400];       /* when it is not */
    bool for_good;       /* and will not be again */
    bool wants_server;   /* the thread asks the loop thread to see to the server */
    bool server_seen_to; /* and this is the answer */
    struct fault server_fault;
    bool stopping, ended;

    /* any thread */
    atomic_bool give_up; /* stop waiting for the database */
    atomic_size_t pending;

    /* loop thread */
    bool told_available, told_for_good;
    char told_why[400];

    /* the thread */
    struct conn conn;
    int lock_backend;   /* the session that last held the engine's lock */
    int64_t job_number; /* the newest given to a group */
    bool look_for_requests;
    bool was_shared;    /* the newest commit, by several jobs, */
    msec committed_at;  /* at this instant, monotonic */
    int64_t *delivered; /* requests told and not answered yet */
    size_t ndelivered, delivered_cap;
    uint64_t jitter;
};

/* writer_thread.c */
void *writer_main(void *arg);
/* Back to a connection that may write; false: given up.  *ret_job is the number of the
 * newest group that is committed. */
MUST_USE bool writer_reconnect(struct store_writer *w, int64_t *ret_job);
void writer_unavailable(struct store_writer *w, const struct fault *why);
void writer_available(struct store_writer *w);
/* Waits 0.1 s x 2^n with jitter, up to `most`; false: given up. */
MUST_USE bool writer_back_off(struct store_writer *w, unsigned n, msec most);
void writer_stop_for_good(struct store_writer *w, const struct fault *why);
void writer_forget_request(struct store_writer *w, int64_t id);

/* writer_group.c */
/* Commits the jobs and gives them back, whatever it takes; false: given up, and those not
 * given back are still in `group`. */
MUST_USE bool writer_commit(struct store_writer *w, struct list *group);

/* writer.c */
void writer_give_back(struct store_writer *w, struct list *jobs);
