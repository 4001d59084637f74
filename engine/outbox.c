/* From what is owed to what was accepted.
 *
 *     claim (store's thread) -> lanes -> head of each: render, send -> answer -> settle
 *
 *  (1) Of a lane only one message is under way, and the next one follows only when it was
 *      accepted or given up: the order in a lane is kept.
 *  (2) What was accepted is settled at once when nothing is being settled, and together with
 *      what was accepted meanwhile when something is; so a kill repeats little, and load does
 *      not wait for the disk.
 *  (3) A failed lane is left alone as notify_backoff says; its next message waits with it.
 *  (4) All times are the engine's clock; how long a claim is put off does not depend on
 *      somebody setting it.
 *  (5) What the database refuses (not: what it cannot do just now) is asked again, but later
 *      and later: neither is anything forgotten, nor does a message that was accepted and
 *      cannot be recorded as such go out over and over.
 *  (6) A receiver that hangs does not keep others from what is theirs: it has at most so many
 *      lanes, and when it does not answer those that wait for it are let go as if it had
 *      failed them.
 */
#include "engine/outbox.h"
#include "base/crash.h"
#include "base/list.h"
#include "base/log.h"
#include "base/str.h"
#include "engine/carrier.h"
#include "engine/feeds.h"
#include "engine/message.h"
#include "engine/receivers.h"
#include "engine/telling.h"
#include "store/outbox.h"
#include <stdio.h>
#include <sys/random.h>

/* A claim may bring a receiver as many more as it has, so a dozen of them can hang and lanes
 * are left for the others. */
enum { LANES_MAX = 2048, CLAIM_LANES = 128, RECEIVER_LANES = 64 };

/* A claim that had to pass over lanes of a receiver with its share and found no others is not
 * made again at once. */
#define FULL_NAP 100

/* The wall clock may be set while we sleep; a look now and then notices. */
#define LONGEST_NAP MSEC_PER_HOUR

/* Until a lane that somebody else has locked may be free again. */
#define LOCK_NAP 50

/* What one claim brought; goes with the last of its lanes. */
struct batch {
    struct arena *life;
    struct store_claim_job job;
    struct outbox *outbox;
    size_t left;
};

struct lane {
    struct list link; /* in outbox.lanes, until it is settled */
    struct list turn; /* in receiver.waiting; empty: it does not wait */
    struct batch *batch;
    struct receiver *receiver;
    struct store_lane *of;
    size_t at, n; /* the message under way: owed[at] and so many */
    struct store_settled settled;
    bool is_over;
};

struct settling {
    struct arena *life;
    struct store_settle_job job;
    struct lane **lanes;
    struct outbox *outbox;
};

struct outbox {
    struct arena *life;
    struct outbox_options o;
    struct store_outbox *store;
    struct carrier *carrier;
    struct notify *notify;
    struct feeds *feeds;
    int quiet_from, quiet_to;
    struct list lanes;
    size_t nlanes, flying;
    bool claiming, stirred, finishing, stopping;
    msec next_at;
    msec not_before;  /* no claim before: (5); this and the next do not go by the wall */
    msec full_until;  /* nor before this while a receiver has its share of lanes */
    unsigned refused; /* claims or settlings, in a row */
    struct loop_timer timer, settle_again;
    uint64_t random;

    struct arena *marks_life;
    struct store_mark *marks;
    size_t nmarks, marks_cap;
    struct settling *settling;
    struct receivers receivers;
    struct outbox_stats stats;
};

static msec wall(const struct outbox *o)
{
    return clock_wall(o->o.clock);
}

static uint64_t random_next(struct outbox *o)
{
    o->random = o->random * 6364136223846793005u + 1442695040888963407u;
    return o->random >> 20;
}

static void pump(struct outbox *o);
static void settle(struct outbox *o);
static void send_next(struct lane *l);
static void give_turns(struct outbox *o, struct receiver *r);

/* ---- settling ------------------------------------------------------------------------ */

static void batch_unref(struct batch *b)
{
    if (--b->left == 0)
        arena_free(b->life);
}

static void lane_free(struct lane *l)
{
    struct outbox *o = l->batch->outbox;
    list_remove(&l->link);
    list_remove(&l->turn);
    receiver_let_go(&o->receivers, l->receiver);
    o->nlanes--;
    batch_unref(l->batch);
}

static void add_mark(struct outbox *o, const struct store_mark *m)
{
    if (!o->marks_life) {
        o->marks_life = arena_new(NULL, "marks");
        o->nmarks = o->marks_cap = 0;
    }
    if (o->nmarks == o->marks_cap) {
        size_t cap = o->marks_cap ? o->marks_cap * 2 : 64;
        struct store_mark *more = arena_array_of(o->marks_life, cap, struct store_mark);
        if (o->nmarks)
            memcpy(more, o->marks, o->nmarks * sizeof *more);
        o->marks = more;
        o->marks_cap = cap;
    }
    o->marks[o->nmarks] = *m;
    if (m->error)
        o->marks[o->nmarks].error = arena_strdup(o->marks_life, m->error);
    o->nmarks++;
}

/* (5) */
static void was_refused(struct outbox *o)
{
    msec wait = MSEC_PER_SECOND << (o->refused < 6 ? o->refused : 6);
    o->refused++;
    o->not_before = clock_mono(o->o.clock) + wait;
    o->stirred = true;
}

static void settle_again(struct loop_timer *t)
{
    struct outbox *o = container_of(t, struct outbox, settle_again);
    settle(o);
    pump(o);
}

static void settled(struct store_job *job)
{
    struct settling *s = container_of(job, struct settling, job.job);
    struct outbox *o = s->outbox;
    o->settling = NULL;
    if (job->err != OK && !o->stopping)
        log_error("what was delivered could not be recorded, and will be sent again: %s",
                job->fault.message);
    if (job->err != OK)
        was_refused(o);
    else
        o->refused = 0;
    bool is_left = false;
    for (size_t i = 0; i < s->job.nlanes; i++)
        if (job->err == OK && s->job.ret_left[i] && !o->stopping)
            s->lanes[i]->is_over = is_left = true; /* somebody held it: next time */
        else
            lane_free(s->lanes[i]);
    if (s->job.nlanes)
        o->stirred = true; /* what came while they were claimed is to be found */
    arena_free(s->life);
    if (is_left)
        loop_timer_set(o->o.loop, &o->settle_again, LOCK_NAP);
    else
        settle(o);
    pump(o);
}

/* (2) */
static void settle(struct outbox *o)
{
    size_t over = 0;
    if (o->settling)
        return;
    list_each (pos, &o->lanes)
        over += list_entry(pos, struct lane, link)->is_over;
    if (!over && !o->nmarks)
        return;
    struct arena *life = o->marks_life ? o->marks_life : arena_new(NULL, "marks");
    struct settling *s = arena_new_of(life, struct settling);
    struct store_settled *lanes = arena_array_of(life, over + 1, struct store_settled);
    s->life = life;
    s->outbox = o;
    s->lanes = arena_array_of(life, over + 1, struct lane *);
    s->job = (struct store_settle_job){
            .job = {.kind = STORE_JOB_SETTLE, .done = settled},
            .now = wall(o),
            .zone = settings_text(o->o.settings, SETTING_TIME_ZONE),
            .marks = o->marks,
            .nmarks = o->nmarks,
            .lanes = lanes,
            .ret_left = arena_array_of(life, over + 1, bool),
    };
    list_each (pos, &o->lanes) {
        struct lane *l = list_entry(pos, struct lane, link);
        if (!l->is_over)
            continue;
        l->is_over = false; /* it is on its way to be settled */
        s->lanes[s->job.nlanes] = l;
        lanes[s->job.nlanes++] = l->settled;
    }
    o->marks_life = NULL;
    o->marks = NULL;
    o->nmarks = o->marks_cap = 0;
    o->settling = s;
    store_outbox_submit(o->store, &s->job.job);
}

/* ---- sending -------------------------------------------------------------------------- */

static void lane_over(struct lane *l, msec not_before)
{
    l->settled.id = l->of->id;
    l->settled.release = true;
    l->settled.not_before = not_before;
    l->is_over = true;
}

/* (6) */
static void leave_waiting(struct receiver *r, msec not_before)
{
    list_each (pos, &r->waiting) {
        struct lane *l = list_entry(pos, struct lane, turn);
        list_remove(&l->turn);
        lane_over(l, not_before);
    }
}

static void failed(struct lane *l, const struct notify_result *r, struct store_mark *mark)
{
    struct outbox *o = l->batch->outbox;
    msec now = wall(o), due = l->of->owed[l->at].due;
    bool hopeless = notify_is_hopeless(due, l->settled.failing_since, now);
    if (l->settled.failing_since == MSEC_NEVER)
        l->settled.failing_since = now;
    mark->fate = hopeless ? STORE_DEAD : STORE_AGAIN;
    if (hopeless) {
        o->stats.dead++;
        char words[500];
        snprintf(words, sizeof words, "given up after three days: %s", r->reason);
        mark->error = arena_strdup(l->batch->life, words);
    }
    msec wait = notify_backoff(l->settled.attempts, r->retry_after, random_next(o));
    l->settled.attempts++;
    o->stats.failed++;
    lane_over(l, now + wait); /* (3) */
    if (r->is_away)           /* they did not fail themselves: the shortest wait there is */
        leave_waiting(l->receiver, now + notify_backoff(0, 0, random_next(o)));
}

static void answered(const struct notify_result *r, void *arg)
{
    struct lane *l = arg;
    struct outbox *o = l->batch->outbox;
    const struct store_owed *first = &l->of->owed[l->at];
    CRASH_POINT("after_send");
    struct store_mark mark = {
            .id = first->bundle,
            .attempts = first->attempts + 1,
            .error = r->outcome == NOTIFY_ACCEPTED ? NULL : r->reason,
            .at = wall(o),
    };
    o->flying--;
    l->receiver->flying--;
    if (r->outcome == NOTIFY_LATER) {
        failed(l, r, &mark);
    } else {
        bool accepted = r->outcome == NOTIFY_ACCEPTED;
        mark.fate = accepted ? STORE_SENT : STORE_DEAD;
        o->stats.accepted += accepted;
        o->stats.dead += !accepted;
        l->settled.messages += accepted;
        l->settled.attempts = 0;
        l->settled.failing_since = MSEC_NEVER;
        l->at += l->n;
    }
    add_mark(o, &mark);
    if (!l->is_over)
        send_next(l);
    give_turns(o, l->receiver);
    settle(o);
    pump(o);
}

static void send_one(struct lane *l)
{
    struct outbox *o = l->batch->outbox;
    const struct store_lane *of = l->of;
    l->n = 1;
    while (l->at + l->n < of->nowed && of->owed[l->at + l->n].bundle == of->owed[l->at].bundle)
        l->n++;
    o->flying++;
    l->receiver->flying++;
    struct message_doors doors = {.store = o->store, .notify = o->notify, .feeds = o->feeds};
    message_send(&doors, of, l->at, l->n, wall(o), answered, l);
}

static void give_turns(struct outbox *o, struct receiver *r)
{
    struct list *first;
    while (receiver_has_room(&o->receivers, r) && (first = list_first(&r->waiting))) {
        list_remove(first);
        send_one(list_entry(first, struct lane, turn));
    }
}

/* The lane's next message is to be sent; when there is none it is over: (1). */
static void send_next(struct lane *l)
{
    struct outbox *o = l->batch->outbox;
    bool enough = l->at > 0 && settings_number(o->o.settings, SETTING_NOTIFY_MAX_PER_DAY) > 0;
    if (l->at >= l->of->nowed || enough || o->stopping)
        lane_over(l, MSEC_NEVER);
    else if (l->at) /* it goes on: so lanes end one by one, and others are claimed meanwhile */
        list_prepend(&l->receiver->waiting, &l->turn);
    else
        list_append(&l->receiver->waiting, &l->turn);
}

/* ---- claiming ------------------------------------------------------------------------- */

static void claimed(struct store_job *job)
{
    struct batch *b = container_of(job, struct batch, job.job);
    struct outbox *o = b->outbox;
    o->claiming = false;
    if (job->err != OK) {
        if (!o->stopping)
            log_error("what is owed to people cannot be read: %s", job->fault.message);
        was_refused(o);
        arena_free(b->life);
        pump(o);
        return;
    }
    o->next_at = b->job.next_at;
    if (b->job.nlanes == b->job.most_lanes)
        o->stirred = true; /* there may be more */
    b->left = b->job.nlanes + 1;
    struct lane *lanes = arena_array_of(b->life, b->job.nlanes + 1, struct lane);
    for (size_t i = 0; i < b->job.nlanes; i++) {
        struct lane *l = &lanes[i];
        *l = (struct lane){.batch = b, .of = &b->job.lanes[i]};
        list_init(&l->turn);
        l->receiver = receiver_take(&o->receivers, l->of->method, l->of->target);
        l->settled.attempts = l->of->attempts;
        l->settled.failing_since = l->of->failing_since;
        list_append(&o->lanes, &l->link);
        o->nlanes++;
    }
    if (b->job.nfull && !b->job.nlanes)
        o->full_until = clock_mono(o->o.clock) + FULL_NAP;
    for (size_t i = 0; i < b->job.nlanes; i++)
        send_next(&lanes[i]);
    for (size_t i = 0; i < b->job.nlanes; i++)
        give_turns(o, lanes[i].receiver);
    batch_unref(b);
    settle(o);
    pump(o);
}

static void claim(struct outbox *o)
{
    const struct settings *s = o->o.settings;
    struct arena *life = arena_new(NULL, "claim");
    struct batch *b = arena_new_of(life, struct batch);
    int64_t *held = arena_array_of(life, o->nlanes + 1, int64_t);
    size_t n = 0;
    list_each (pos, &o->lanes)
        held[n++] = list_entry(pos, struct lane, link)->of->id;
    b->life = life;
    b->outbox = o;
    b->job = (struct store_claim_job){
            .job = {.kind = STORE_JOB_CLAIM, .done = claimed},
            .now = wall(o),
            .zone = settings_text(s, SETTING_TIME_ZONE),
            .quiet_from = o->quiet_from,
            .quiet_to = o->quiet_to,
            .most_a_day = settings_number(s, SETTING_NOTIFY_MAX_PER_DAY),
            .before_end = settings_number(s, SETTING_NOTIFY_BEFORE_END),
            .gather = o->finishing ? 0 : settings_number(s, SETTING_NOTIFY_GATHER),
            .most_lanes = CLAIM_LANES,
            .held = held,
            .nheld = n,
            .life = life,
    };
    b->job.full = receivers_full(&o->receivers, life, &b->job.nfull);
    o->claiming = true;
    o->stirred = false;
    store_outbox_submit(o->store, &b->job.job);
}

/* How long yet: (4). */
static msec claims_are_off(const struct outbox *o)
{
    msec until = o->not_before, now = clock_mono(o->o.clock);
    if (until < o->full_until && o->receivers.full)
        until = o->full_until;
    return until > now ? until - now : 0;
}

/* Claims when something may be due and there is room; else sleeps until it may be. */
static void pump(struct outbox *o)
{
    if (o->stopping || o->claiming)
        return;
    msec now = wall(o), off = claims_are_off(o);
    msec at = o->stirred ? now : o->next_at;
    if (at < now + off)
        at = now + off;
    if (at <= now && o->nlanes < LANES_MAX) {
        claim(o);
        return;
    }
    if (at == MSEC_NEVER || at <= now) { /* told when there is something */
        loop_timer_stop(o->o.loop, &o->timer);
        return;
    }
    msec wait = at - now;
    loop_timer_set(o->o.loop, &o->timer, wait < LONGEST_NAP ? wait : LONGEST_NAP);
}

static void due(struct loop_timer *t)
{
    pump(container_of(t, struct outbox, timer));
}

static void stirred(void *arg)
{
    struct outbox *o = arg;
    o->stirred = true;
    pump(o);
}

void outbox_look(struct outbox *o)
{
    if (o)
        stirred(o);
}

/* ---- start and stop ------------------------------------------------------------------- */

static enum err read_settings(struct outbox *o, struct fault *f)
{
    const char *quiet = settings_text(o->o.settings, SETTING_NOTIFY_QUIET);
    const char *combine = settings_text(o->o.settings, SETTING_NOTIFY_COMBINE);
    enum err e = OK;
    if (!notify_quiet_parse(quiet, &o->quiet_from, &o->quiet_to)) {
        e = fault_set(f, ERR_SYNTAX, "notify.quiet \"%.50s\" is not understood", quiet);
        fault_hint(f, "Write hours as 22:00-07:00.");
    } else if (strcmp(combine, "user") != 0 && strcmp(combine, "sentinel") != 0) {
        e = fault_set(f, ERR_RANGE, "notify.combine \"%.50s\" is not understood", combine);
        fault_hint(f, "Write sentinel or user.");
    }
    return e;
}

static enum err open_store(struct outbox *o, struct fault *f)
{
    const struct settings *s = o->o.settings;
    struct store_tell always[2];
    struct store_outbox_options options = {
            .always = always,
            .nalways = telling_always(s, always),
            .has_feeds = *settings_text(s, SETTING_NOTIFY_FEEDS) != 0,
            .combined = telling_is_combined(s),
            .failing_after = (unsigned)settings_number(s, SETTING_NOTIFY_FAILING_AFTER),
    };
    struct store_outbox_hooks hooks = {.stirred = stirred, .arg = o};
    struct notify_carrier carrier = carrier_hooks(o->carrier);
    const char *instance = NULL;
    enum err e = store_outbox_start(
            o->o.store, o->o.loop, &options, &hooks, o->life, f, &o->store, &instance);
    if (!e) {
        carrier_use(o->carrier, o->store);
        e = telling_notify(o->life, s, instance, &carrier, f, &o->notify);
    }
    return e;
}

enum err outbox_start(struct arena *life, const struct outbox_options *options, struct fault *f,
        struct outbox **ret_outbox)
{
    struct outbox *o = arena_new_of(life, struct outbox);
    o->life = life;
    o->o = *options;
    o->stirred = true;
    o->next_at = MSEC_NEVER;
    list_init(&o->lanes);
    /* Enough that no connection waits for us; not more, since what hangs is only let go when it
     * was not sent: (6). */
    receivers_init(&o->receivers,
            2 * (size_t)settings_number(o->o.settings, SETTING_NOTIFY_HOST_CONNECTIONS),
            RECEIVER_LANES);
    loop_timer_init(&o->timer, due);
    loop_timer_init(&o->settle_again, settle_again);
    CHECK(getrandom(&o->random, sizeof o->random, 0) == (ssize_t)sizeof o->random);
    enum err e = read_settings(o, f);
    if (!e)
        e = carrier_new(life, o->o.loop, o->o.clock, o->o.settings, f, &o->carrier);
    if (!e)
        e = open_store(o, f);
    if (!e)
        e = feeds_start(o->life, o->o.loop, o->o.pool, o->store, o->notify,
                settings_text(o->o.settings, SETTING_NOTIFY_FEEDS), f, &o->feeds);
    *ret_outbox = o; /* also when it failed: what there is of it is to be stopped */
    if (!e)
        pump(o);
    return e;
}

static void nothing(struct loop_timer *t)
{
    (void)t;
}

static bool is_busy(const struct outbox *o)
{
    return o->nlanes || o->claiming || o->settling;
}

/* Runs the loop until `holds` does not any more, or the time is over. */
static void run_while(struct outbox *o, bool (*holds)(const struct outbox *o), msec wait)
{
    struct loop_timer look_again;
    msec until = clock_mono(o->o.clock) + wait;
    loop_timer_init(&look_again, nothing);
    while (holds(o) && clock_mono(o->o.clock) < until) {
        loop_timer_set(o->o.loop, &look_again, 20);
        loop_run_once(o->o.loop);
    }
    loop_timer_stop(o->o.loop, &look_again);
}

static bool is_flying(const struct outbox *o)
{
    return o->flying > 0;
}

void outbox_finish(struct outbox *o, msec wait)
{
    o->finishing = true; /* nobody will be there to gather more */
    outbox_look(o);
    run_while(o, is_busy, wait);
}

void outbox_stop(struct outbox *o, msec patience)
{
    if (!o)
        return;
    o->stopping = true;
    loop_timer_stop(o->o.loop, &o->timer);
    loop_timer_stop(o->o.loop, &o->settle_again);
    list_each (pos, &o->lanes) {
        struct lane *l = list_entry(pos, struct lane, link);
        if (!list_is_empty(&l->turn)) {
            list_remove(&l->turn);
            lane_over(l, MSEC_NEVER);
        }
    }
    run_while(o, is_flying, patience);
    if (o->store) {
        settle(o);
        store_outbox_stop(o->store, patience);
    }
    if (o->carrier)
        carrier_free(o->carrier);
}

void outbox_free(struct outbox *o)
{
    if (!o)
        return;
    if (o->feeds)
        feeds_stop(o->feeds);
    list_each (pos, &o->lanes)
        lane_free(list_entry(pos, struct lane, link)); /* claimed anew by the next engine */
    receivers_done(&o->receivers);
    arena_free(o->marks_life);
}

void outbox_stats_get(const struct outbox *o, struct outbox_stats *ret)
{
    *ret = o->stats;
    ret->lanes = o->nlanes;
    ret->flying = o->flying;
    ret->asking = o->claiming || o->settling;
    ret->busy = is_busy(o);
}
