/* outbox -- what is owed to people, and the engine's connection for telling them.
 *
 * A lane is one receiver's queue (see sql/0004_outbox.sql).  The engine claims lanes that are
 * due, delivers what is in them from the head, and settles: what was accepted, what is given
 * up, when a lane is to be tried again.
 *
 *  (1) A lane is claimed by one engine at a time (FOR UPDATE SKIP LOCKED), and a claim of an
 *      engine that is no more is void.
 *  (2) Settling is absolute: doing it twice is doing it once.
 *  (3) All instants come from the caller.
 *
 * Threads: as a writer's.  Jobs are submitted from the loop thread, run on the outbox's own
 * thread and connection, and come back to the loop thread.  While the database is away they
 * wait.
 */
#pragma once
#include "store/store.h"

struct store_owed { /* one notification; texts live in the claim's arena */
    int64_t id, change, sentinel_id, page_id, bundle;
    const char *kind, *words; /* words: of a notice; NULL: none */
    msec at, due;
    int64_t attempts;
    const char *sentinel, *owner, *url, *monitor, *topic, *presentation;
    int64_t priority;
    int64_t old_version, new_version, inserted, deleted, updated, moved;
    const char *summary, *detail; /* NULL: a notice, or too large to be sent along */
    const char *last_modified;
    msec last_evaluated, last_notified, last_seen, installed, ends;
    int64_t notifications, evaluations;
};

struct store_lane { /* a claimed one, with what is due in it */
    int64_t id;
    const char *owner, *method, *target;
    unsigned attempts;  /* of its head, in a row */
    msec failing_since; /* MSEC_NEVER: it is not failing */
    bool is_bundle;     /* all of it is one message */
    size_t left_out;    /* further ones of the bundle that are only counted */
    struct store_owed *owed;
    size_t nowed;
};

struct store_claim_job {
    struct store_job job;
    msec now;
    const char *zone;         /* of quiet hours and days */
    int quiet_from, quiet_to; /* minutes of the day; equal: none */
    int64_t most_a_day;       /* messages to a user; 0: any number */
    msec before_end;          /* how long before its end a sentinel's owner is told; 0: not */
    msec gather;              /* how long a message of several waits for more of them */
    unsigned most_lanes;
    const int64_t *held; /* lanes this engine still works on */
    size_t nheld;
    /* Receivers whose lanes are passed over: each what stands before the path of a target that
     * is a URL, else the method. */
    const char *const *full;
    size_t nfull;
    struct arena *life; /* for the results */
    struct store_lane *lanes;
    size_t nlanes;
    msec next_at; /* when the next lane is due; MSEC_NEVER: none is, or there may be more now */
};

enum store_fate { STORE_SENT, STORE_DEAD, STORE_AGAIN };

struct store_mark { /* what became of one notification */
    int64_t id;
    enum store_fate fate;
    int64_t attempts; /* made so far */
    const char *error;
    msec at; /* accepted or given up */
};

struct store_settled { /* what became of a lane */
    int64_t id;
    bool release;       /* the claim is over */
    unsigned attempts;  /* failures in a row */
    msec failing_since; /* MSEC_NEVER: it is not failing */
    msec not_before;    /* MSEC_NEVER: as soon as something is due */
    unsigned messages;  /* accepted, for the count of the day */
};

struct store_settle_job {
    struct store_job job;
    msec now;
    const char *zone;
    const struct store_mark *marks;
    size_t nmarks;
    const struct store_settled *lanes;
    size_t nlanes;
    bool *ret_left; /* room for nlanes: those somebody else held; settle them again */
};

/* The newest of the bulletin, for a feed; `topic` NULL: all topics. */
struct store_bulletin_job {
    struct store_job job;
    const char *owner, *topic;
    unsigned most;
    struct arena *life;
    struct store_owed *items;
    size_t nitems;
};

struct store_outbox;

struct store_outbox_hooks {
    void (*stirred)(void *arg); /* something new may be owed; loop thread */
    void *arg;
};

/* `always`: receivers of everything, chosen by the operator; `failing_after`: so many failed
 * fetches in a row are worth telling; `combined`: one lane for all of a user's sentinels, which
 * holds for those that are there already, too. */
struct store_outbox_options {
    const struct store_tell *always;
    size_t nalways;
    bool has_feeds; /* bulletins are also written outside the database */
    bool combined;
    unsigned failing_after;
};

/* Reads the instance's name into `life`, too: it makes numbers of notifications unique in the
 * world.  Blocks for a few statements. */
MUST_USE enum err store_outbox_start(struct store *s, struct loop *loop,
        const struct store_outbox_options *o, const struct store_outbox_hooks *hooks,
        struct arena *life, struct fault *f, struct store_outbox **ret_o,
        const char **ret_instance);
/* Kinds CLAIM, SETTLE, BULLETIN, PUBLISH and LOAD. */
void store_outbox_submit(struct store_outbox *o, struct store_job *job);
/* Finishes what was submitted when the database answers within `wait`, then ends. */
void store_outbox_stop(struct store_outbox *o, msec wait);

/* NOTIFY on a channel of the operator's choice. */
struct store_publish_job {
    struct store_job job;
    const char *channel, *payload;
};
