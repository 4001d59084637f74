/* outbox_world -- delivery under a clock of our own: days pass as fast as the database answers.
 *
 * The door to the outside, notify_deliver, is ours here: it keeps what it was given and
 * answers what the test wants.  Everything behind it is real: claims, order, bundles, waits.
 */
#pragma once
#include "engine/outbox.h"
#include "notify/notify.h"
#include "tests/store/store_fixture.h"

enum { SENT_MAX = 4096 };

/* What came out of the door, in order. */
struct sent {
    msec at;
    char key[80], target[40], owner[20];
    char items[400]; /* "a:change b:ended", in the order of the message */
    size_t nitems;
};
extern struct sent sents[SENT_MAX];
extern size_t nsents;
extern size_t nwaiting;     /* sent and not answered */
extern bool silent;         /* nobody answers any more */
extern const char *hanging; /* targets that begin like this do not answer */
extern size_t nhung;        /* sent to them */
/* What was sent to them has waited too long. */
void time_out(void);

extern struct world {
    struct fixture x;
    struct arena *life;
    struct settings settings;
    struct pool *pool;
    struct outbox *outbox;
    struct loop_timer answers;
    bool open;
} w;

struct watched {
    int64_t id, page, versions;
    const char *name;
};

void open_world(void);
void close_world(void);
void start_outbox(void);
/* Stops it and starts it again with another setting. */
void set(const char *pair);
/* Nothing was sent, and everybody accepts. */
void forget(void);
/* How a receiver answers: so many times, -1: always. */
void rule(int i, const char *target, enum notify_outcome outcome, msec retry, int times);

/* Until nothing is under way any more. */
void settle(void);
void go_to(msec at);
/* From wake-up to wake-up, so that nothing due in between is late. */
void pass(msec span, msec step);

struct watched watch(
        const char *name, const char *target, msec every, bool combined, unsigned priority);
/* A change is found now, for a tick that was due at `tick`. */
void change_for(struct watched *s, msec tick);
/* The same for a tick of this moment, and what is owed for it goes. */
void change(struct watched *s);
/* "sent 1, pending 0": what is or was owed for a sentinel. */
const char *states(const char *name);
