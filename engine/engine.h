/* engine -- the sentinel's life: it introduces the parts to each other.
 *
 * One loop thread owns sentinels, events, pages and streams.  Pool threads parse and compare,
 * the store's thread commits; both answer through inboxes.  Whatever is not in the store did
 * not happen: at start everything here is rebuilt from it.
 */
#pragma once
#include "base/arena.h"
#include "base/fault.h"
#include "engine/settings.h"

struct engine;
struct store;

struct engine_change { /* a committed change, for whoever shows it */
    const char *sentinel, *url, *summary, *detail;
    int64_t id, old_version, new_version;
    unsigned inserted, deleted, updated, moved;
    msec at;
};

struct engine_options {
    const struct clock *clock;
    const struct settings *settings;
    struct store *store; /* opened with STORE_ENGINE */
    /* Called for each change after its commit; NULL: nobody looks. */
    void (*changed)(const struct engine_change *c, void *arg);
    void *arg;
    const char *owner;  /* of sentinels in `ensure` */
    bool once;          /* nothing is fetched but in engine_once */
    const char *reader; /* program that reads pages; NULL: this one (page/worker.h) */
    /* Taken over.  NULL: one of its own, that follows the machine's time. */
    struct loop *loop;
};

MUST_USE enum err engine_new(struct arena *life, const struct engine_options *o,
        struct fault *f, struct engine **ret_engine);

/* Installs definitions that are not there yet; the answer is for people. */
int engine_ensure(struct engine *e, const char *text, struct arena *life, char **ret_answer);

struct engine_round {
    size_t pages, done, failed;
    bool interrupted;
};

struct engine_round_hooks {
    void (*progress)(size_t done, size_t pages, void *arg);
    /* `not_before`: it was not tried, because of a pause until then; else MSEC_NEVER. */
    void (*failed)(const char *url, const char *reason, msec not_before, void *arg);
    void *arg;
};

/* Fetches the page of every active sentinel that `text` creates, now and once.  One that is
 * there already with the same definition goes on from what it saw the last time; a definition
 * that is new replaces the old one.  Returns an exit code; not 0: the answer says why. */
int engine_once(struct engine *e, const char *text, struct arena *life,
        const struct engine_round_hooks *h, struct engine_round *ret_round, char **ret_answer);

/* Runs until SIGINT, SIGTERM or engine_stop. */
void engine_run(struct engine *e);
void engine_stop(struct engine *e);
void engine_free(struct engine *e);
/* The same without a word to the database: whatever is not committed is lost, as if the
 * process had been killed. */
void engine_kill(struct engine *e);
