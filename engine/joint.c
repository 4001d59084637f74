/* Conditions over several pages: what each page's versions find goes into one joint.
 *
 * The rules are cdg/joint.c's; here they meet the store and the clock.
 *  (1) What a joint collects, forgets and tells because of a version is committed with that
 *      version.  Jobs are committed in the order they are submitted, so the joint goes on at
 *      once; a version that is refused is taken out again.
 *  (2) Absence is known when its time is over and no version that belongs to it is still on
 *      its way; it is told under the newest version it is about, and dated to that time.
 *  (3) A sentinel is told once of a version, with everything that it completed.
 */
#include "engine/joint.h"
#include "engine/visit_int.h"
#include "base/log.h"

struct joint {
    struct life *life;
    struct arena *arena;
    struct cdg_joint_part *parts; /* place, conjunct, forbids; the expressions are not kept */
    size_t nparts;
    struct cdg_joint *state;
    struct led_rule *timer;

    /* while a visit is being committed */
    struct list in_visit, told;
    bool unknown;
    const char *reason;
    int64_t old_version;
    msec tick; /* the look that was taken up last was due then */
};

/* ---- the clock ----------------------------------------------------------------------- */

static void joint_watch(struct joint *j);
static void joint_fire(struct joint *j, msec now);

/* A version that may object is being looked at. */
static bool is_undecided(const struct joint *j)
{
    for (size_t i = 0; i < j->nparts; i++)
        if (j->parts[i].forbids && j->life->places[j->parts[i].place].page->visiting)
            return true;
    return false;
}

static void timer_due(void *arg, const struct led_occurrence *o)
{
    struct joint *j = arg;
    struct led_rule *r = j->timer;
    (void)o;
    j->timer = NULL;
    led_rule_delete(j->life->engine->led, r);
    joint_watch(j);
}

enum { LOOK_AGAIN_MS = 1000 };

static void joint_watch(struct joint *j)
{
    struct engine *e = j->life->engine;
    msec at = cdg_joint_deadline(j->state), now = led_wall(e->led);
    struct fault f = {0};
    if (j->timer)
        led_rule_delete(e->led, j->timer);
    j->timer = NULL;
    if (at == MSEC_NEVER)
        return;
    if (at < now && !is_undecided(j)) { /* (2) */
        joint_fire(j, now - 1);
        at = cdg_joint_deadline(j->state);
        if (at == MSEC_NEVER)
            return;
    }
    struct led_event *event;
    at = at < now ? now + LOOK_AGAIN_MS : at + 1; /* what comes at the very end belongs to it */
    CHECK(led_absolute(e->led, at, &f, &event) == OK);
    struct led_rule_spec spec = {.action = timer_due, .arg = j, .context = LED_CHRONICLE};
    CHECK(led_rule_new(e->led, event, &spec, &f, &j->timer) == OK);
    led_event_drop(e->led, event);
}

/* ---- coming and going ---------------------------------------------------------------- */

void joint_begin(
        struct life *l, const struct cdg_joint_part *parts, size_t n, msec within, bool resume)
{
    struct arena *a = arena_new(NULL, "joint");
    struct joint *j = arena_new_of(a, struct joint);
    struct list *kept = &l->sentinel->further->kept;
    j->arena = a;
    j->life = l;
    j->parts = arena_memdup(a, parts, n * sizeof *parts);
    j->nparts = n;
    j->state = cdg_joint_new(parts, n, within);
    list_init(&j->in_visit);
    list_init(&j->told);
    if (resume)
        list_each (pos, kept)
            cdg_joint_restore(j->state, list_entry(pos, struct cdg_constituent, link));
    cdg_constituents_free(kept);
    l->joint = j;
    joint_watch(j);
}

void joint_end(struct life *l)
{
    struct joint *j = l->joint;
    if (!j)
        return;
    l->joint = NULL;
    if (j->timer)
        led_rule_delete(l->engine->led, j->timer);
    list_remove(&j->in_visit);
    cdg_constituents_free(&j->told);
    cdg_joint_free(j->state);
    arena_free(j->arena);
}

/* ---- what is told -------------------------------------------------------------------- */

static const struct cdg_constituent *change_of(
        struct joint *j, struct arena *a, struct store_change *ret)
{
    struct life *l = j->life;
    const char **urls = arena_array_of(a, l->nplaces, const char *);
    for (unsigned i = 0; i < l->nplaces; i++)
        urls[i] = l->places[i].page->url;
    const struct cdg_constituent *newest = joint_merge(a, &j->told, j->parts, urls, ret);
    ret->sentinel_id = l->sentinel->id;
    return newest;
}

/* ---- with a version ------------------------------------------------------------------ */

void joint_offer(struct visit *v, struct tally *t, struct joint *j,
        const struct cdg_verdict *verdict, struct list *touched)
{
    const struct cdg_finding *found = verdict->finding;
    const struct cdg_joint_part *part = &j->parts[verdict->part];
    msec at = v->is_new ? v->source.fetched_at : v->page->last_fetch;
    if (list_is_empty(&j->in_visit)) {
        list_append(touched, &j->in_visit);
        j->unknown = false;
        j->reason = NULL;
        joint_fire(j, at - 1);
    }
    if (found->result == CDG_U) {
        j->unknown = true;
        j->reason = found->summary;
    }
    if (found->result == CDG_N || (found->result == CDG_U && !part->forbids))
        return;
    struct cdg_constituent c = {
            .part = verdict->part,
            .at = at,
            .old_version = found->old_version,
            .new_version = v->version,
            .inserted = found->inserted,
            .deleted = found->deleted,
            .updated = found->updated,
            .moved = found->moved,
            .summary = found->summary,
            .detail = part->forbids ? NULL : found->detail,
    };
    struct cdg_joint_outcome out = cdg_joint_take(j->state, &c, &j->told);
    j->old_version = found->old_version;
    j->tick = j->life->places[part->place].stream->look_due;
    tally_joint(t, j->life->sentinel->id, &c, &out, part->forbids);
}

void joint_conclude(struct visit *v, struct tally *t, struct list *touched)
{
    list_each (pos, touched) {
        struct joint *j = list_entry(pos, struct joint, in_visit);
        bool tells = !list_is_empty(&j->told);
        list_remove(pos);
        tally_evaluation(t, j->life->sentinel->id,
                tells        ? CDG_C
                : j->unknown ? CDG_U
                             : CDG_N,
                j->reason);
        if (tells) {
            struct store_change change;
            change_of(j, v->arena, &change);
            change.tick = j->tick;
            change.old_version = j->old_version; /* of this page: it completed the rest */
            tally_change(t, &change);
            cdg_constituents_free(&j->told);
        }
        joint_watch(j);
    }
}

void joint_undo(struct visit *v, const struct cdg_verdict *verdict)
{
    struct sentinel *s = directory_get(&v->engine->directory, verdict->sentinel_id);
    struct joint *j = s && s->life ? s->life->joint : NULL;
    if (j && verdict->part < j->nparts)
        cdg_joint_undo(j->state, verdict->part, v->version);
}

/* ---- without a version: absence ------------------------------------------------------- */

struct fired {
    struct store_version_job job;
    struct arena *arena;
    struct engine *engine;
    char *url;
};

static void fired_done(struct store_job *job)
{
    struct fired *fired = container_of(job, struct fired, job.job);
    struct engine *e = fired->engine;
    engine_answered(e);
    if (job->err == OK)
        visit_show(e, fired->url, &fired->job);
    else if (job->err != ERR_NAME) /* a page may be dropped meanwhile */
        log_error("that something did not change was not recorded: %s", job->fault.message);
    arena_free(fired->arena);
}

static void tell_absence(struct joint *j, unsigned conjunct, msec at)
{
    struct arena *a = arena_new(NULL, "absence");
    struct fired *fired = arena_new_of(a, struct fired);
    struct tally t = tally_new(a, 1);
    struct store_change change;
    const struct cdg_constituent *newest = change_of(j, a, &change);
    struct webpage *p = j->life->places[j->parts[newest->part].place].page;
    fired->arena = a;
    fired->engine = j->life->engine;
    fired->url = arena_strdup(a, p->url);
    tally_evaluation(&t, change.sentinel_id, CDG_C, NULL);
    change.tick = at;
    tally_change(&t, &change);
    tally_forget(&t, change.sentinel_id, conjunct, MSEC_NEVER);
    struct store_version_job *job = &fired->job;
    webpage_fetch_state(p, a, &job->fetch);
    job->job.kind = STORE_JOB_VERSION;
    job->job.done = fired_done;
    job->version = newest->new_version;
    job->exists = true;
    job->fetched_at = at;
    tally_into(&t, job, a);
    cdg_constituents_free(&j->told);
    engine_submit(fired->engine, &job->job);
}

static void joint_fire(struct joint *j, msec now)
{
    unsigned conjunct;
    msec at;
    while (cdg_joint_due(j->state, now, &j->told, &conjunct, &at))
        tell_absence(j, conjunct, at); /* (2) */
}
