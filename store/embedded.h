/* embedded -- the private PostgreSQL of a data directory.  Inside store/ only.
 *
 * The directory: DATA/lock (who uses it), DATA/pg (the cluster), DATA/pg.log (what the
 * server said), DATA/run or a short directory elsewhere (sockets).
 *
 * Promises
 *  (1) One holder a directory: DATA/lock is locked for as long as a server of ours runs.
 *  (2) A server of ours ends with the process that started it, however that ends.
 *  (3) What answers on the socket is the server we started, not somebody else's.
 *  (4) A cluster is there whole or not at all.
 *
 * Threads: the calling thread must be the process's main one, since promise (2) ties the
 * server to the thread that forked it.
 */
#pragma once
#include "store/store.h"
#include <sys/types.h>

/* Whom the server runs as. */
struct account {
    uid_t uid;
    gid_t gid;
    char name[64];
    bool must_switch; /* we are root and it is not */
};

/* The server's programs. */
struct programs {
    char dir[256];
    int major;
};

struct server {
    const char *data, *cluster, *log, *run_dir;
    struct account account;
    struct programs programs;
    pid_t pid;        /* 0: not running */
    off_t log_offset; /* where the log of the newest start begins */
};

struct embedded {
    const struct store_options *options;
    const char *data, *run_dir, *conninfo;
    int lock_fd;         /* -1: an engine's server is used */
    bool engine_running; /* another process's engine */
    struct server server;
};

/* Opens the directory: makes, locks, starts what is needed.  On success the server accepts
 * connections at ret->conninfo. */
MUST_USE enum err embedded_open(struct arena *life, const struct store_options *o,
        struct fault *f, struct embedded **ret_embedded);
void embedded_close(struct embedded *e);

/* Sees to it that our server runs or is starting; does not wait for it. */
MUST_USE enum err embedded_ensure(struct embedded *e, struct fault *f);

/* ---- account.c ---- */
MUST_USE enum err account_choose(
        const char *data, const char *wanted, struct fault *f, struct account *ret_account);

/* ---- programs.c ---- */
/* `major` 0: the newest.  `dir` NULL: look where Debian puts them, then along PATH. */
MUST_USE enum err programs_find(
        const char *dir, int major, struct fault *f, struct programs *ret_programs);
MUST_USE enum err programs_find_for(
        const char *dir, const char *cluster, struct fault *f, struct programs *ret_programs);

/* ---- datadir.c ---- */
/* Makes the directory (and its parents) or checks an existing one. */
MUST_USE enum err datadir_prepare(const char *data, const struct account *who, struct fault *f);
char *datadir_absolute(struct arena *life, const char *data);
/* A file trouble in words, with the remedy for what people meet: ERR_IO. */
enum err datadir_fault(struct fault *f, int error, const char *doing, const char *path);
MUST_USE enum err datadir_own(const char *path, const struct account *who, struct fault *f);
void datadir_remove(const char *path); /* with all it holds; errors do not matter */

/* ---- rundir.c ---- */
/* A directory short enough for sockets, 0700, of the given user. `key` tells one database
 * from another; `preferred` (may be NULL) is taken when it is short enough. */
MUST_USE enum err rundir_prepare(struct arena *life, const char *preferred, const char *key,
        const struct account *who, struct fault *f, const char **ret_dir);
/* The same place, not made or checked. */
const char *rundir_path(struct arena *life, const char *preferred, const char *key, uid_t uid);

/* ---- dirlock.c ---- */
enum dirlock_result { DIRLOCK_MINE, DIRLOCK_ENGINE, DIRLOCK_COMMAND };

struct dirlock_holder {
    bool is_engine;
    long pid;
    char name[64];     /* the command's */
    char run_dir[256]; /* the engine's; "": it has not said yet */
};

/* One attempt.  When somebody else holds it, says who. */
MUST_USE enum err dirlock_try(
        const char *data, struct fault *f, int *ret_fd, struct dirlock_holder *ret_holder);
MUST_USE enum err dirlock_sign(int fd, const char *data, enum store_role role, const char *who,
        const char *run_dir, struct fault *f);
enum err dirlock_busy(const char *data, const struct dirlock_holder *h, struct fault *f);
void dirlock_release(int fd);

/* ---- cluster.c ---- */
MUST_USE enum err cluster_make(const struct server *s, struct fault *f);

/* ---- child.c ---- */
struct child_spec {
    const char *const *argv; /* argv[0] is the absolute path */
    const char *cwd;
    const struct account *account;
    const char *log; /* output goes to the end of this file */
    int dies_with;   /* signal when our thread ends */
};
MUST_USE enum err child_start(const struct child_spec *spec, struct fault *f, pid_t *ret_pid);
/* Has it ended?  Reaps it. */
bool child_has_ended(pid_t pid, int *ret_status);
bool child_wait(pid_t pid, msec wait, int *ret_status); /* false: still there */
void pause_ms(msec ms);

/* ---- stale.c ---- */
/* Clears away what a dead server left, so that a new one can start.
 * ERR_BUSY: something of the old one still lives; may help to try again. */
MUST_USE enum err stale_clear(const struct server *s, struct fault *f);
pid_t stale_pid_in(const char *cluster); /* postmaster.pid, first line; 0: none */

/* ---- server.c ---- */
MUST_USE enum err server_start(struct server *s, struct fault *f); /* does not wait */
/* Running?  Reaps a dead one. */
bool server_is_alive(struct server *s);
/* Has it come up as the holder of its directory? */
bool server_holds_directory(const struct server *s);
/* Why it ended, from its log. */
enum err server_last_words(const struct server *s, const char *what, struct fault *f);
void server_stop(struct server *s);
