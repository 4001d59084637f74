/* Committing jobs in groups.
 *
 *  (1) A group is one transaction, numbered; the number is written with it.  If the answer to
 *      COMMIT is lost, the number in the database says whether it happened.  Everything a job
 *      returns is read before COMMIT is sent, so nothing else is lost with that answer.
 *  (2) When a group fails because of one of its jobs, its jobs are committed one by one: the
 *      bad one reports its fault, the others are done.
 *  (3) A version that is refused is written whole, once: what it was a difference of may be
 *      gone, whatever took it.
 *  (4) What may pass (a full disk, a deadlock, a read-only server) is waited out.
 */
#include "store/writer.h"
#include "base/crash.h"
#include <string.h>

/* Trying again costs little, and whoever made room on a disk expects to see it used. */
static const msec longest_wait = 2 * MSEC_PER_SECOND;

/* A statement that times out again and again is the job's fault, not the server's. */
enum { TIMEOUTS_MAX = 5 };

/* Jobs that are written together. */
enum { SIDE_BY_SIDE = 128 };

static bool is_single(const struct list *group)
{
    return group->next == group->prev;
}

static bool only_reads(const struct list *group)
{
    list_each (l, group) {
        if (list_entry(l, struct store_job, link)->kind != STORE_JOB_LOAD)
            return false;
    }
    return true;
}

static enum err sign(
        struct store_writer *w, int64_t number, struct arena *scratch, struct fault *f)
{
    RESULT r = NULL;
    PARAMS(p, scratch);
    params_text(&p, w->store->session);
    params_int(&p, number);
    enum err e = conn_run(&w->conn, SQL_ENGINE_JOB, &p, f, &r);
    if (e || result_affected(r) == 1)
        return e;
    /* Regaining the lock on a new connection finds out who has signed instead. */
    w->conn.trouble = CONN_LOST;
    return fault_set(f, ERR_STORE, "another engine has written to the database");
}

/* Jobs of one kind that stand side by side are written together. */
static enum err apply_some(struct store_writer *w, struct store_job *const *some, size_t n,
        struct arena *scratch, struct fault *f)
{
    struct store_version_job *versions[SIDE_BY_SIDE];
    struct store_touch_job *touches[SIDE_BY_SIDE];
    struct store_load_job *loads[SIDE_BY_SIDE];
    enum err e = OK;
    switch (some[0]->kind) {
    case STORE_JOB_VERSION:
        for (size_t i = 0; i < n; i++)
            versions[i] = container_of(some[i], struct store_version_job, job);
        return apply_versions(&w->conn, versions, n, scratch, f);
    case STORE_JOB_TOUCH:
        for (size_t i = 0; i < n; i++)
            touches[i] = container_of(some[i], struct store_touch_job, job);
        return apply_touches(&w->conn, touches, n, scratch, f);
    case STORE_JOB_LOAD:
        for (size_t i = 0; i < n; i++)
            loads[i] = container_of(some[i], struct store_load_job, job);
        return apply_loads(&w->conn, loads, n, scratch, f);
    case STORE_JOB_PLAN:
    case STORE_JOB_CLAIM:
    case STORE_JOB_SETTLE:
    case STORE_JOB_BULLETIN:
    case STORE_JOB_PUBLISH:
        break;
    }
    for (size_t i = 0; !e && i < n; i++)
        e = apply(&w->conn, some[i], clock_wall(w->store->options.clock), scratch, f);
    return e;
}

/* The jobs in their order. */
static enum err apply_all(struct store_writer *w, const struct list *group,
        struct arena *scratch, struct fault *f)
{
    struct store_job *some[SIDE_BY_SIDE];
    size_t n = 0;
    enum err e = OK;
    list_each (l, group) {
        struct store_job *job = list_entry(l, struct store_job, link);
        if (n && (n == SIDE_BY_SIDE || job->kind != some[0]->kind)) {
            e = apply_some(w, some, n, scratch, f);
            n = 0;
        }
        if (e)
            break;
        some[n++] = job;
    }
    return e ? e : apply_some(w, some, n, scratch, f);
}

/* Places by what the group begins with, so that each kind of commit can be cut off. */
static void pass_commit(const struct list *group, bool is_done)
{
    switch (list_entry(group->next, struct store_job, link)->kind) {
    case STORE_JOB_VERSION:
        if (is_done)
            CRASH_POINT("after_commit_version");
        else
            CRASH_POINT("before_commit_version");
        break;
    case STORE_JOB_TOUCH:
        if (is_done)
            CRASH_POINT("after_commit_touch");
        else
            CRASH_POINT("before_commit_touch");
        break;
    case STORE_JOB_PLAN:
        if (is_done)
            CRASH_POINT("after_commit_plan");
        else
            CRASH_POINT("before_commit_plan");
        break;
    case STORE_JOB_LOAD:
    case STORE_JOB_CLAIM:
    case STORE_JOB_SETTLE:
    case STORE_JOB_BULLETIN:
    case STORE_JOB_PUBLISH:
        break; /* these only read, or are the outbox's */
    }
}

static enum err attempt_writing(
        struct store_writer *w, const struct list *group, int64_t number, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "group");
    enum err e = conn_pipeline(&w->conn, true, f);
    if (!e)
        e = conn_run(&w->conn, SQL_BEGIN, NULL, f, NULL);
    CRASH_POINT("after_begin");
    if (!e)
        e = apply_all(w, group, scratch, f);
    CRASH_POINT("in_transaction");
    if (!e)
        e = sign(w, number, scratch, f); /* reads its answer, and all before it: (1) */
    CRASH_POINT("after_sign");
    if (!e)
        e = conn_pipeline(&w->conn, false, f);
    if (e)
        return e;
    pass_commit(group, /* is_done= */ false);
    CRASH_POINT("before_commit");
    e = conn_run(&w->conn, SQL_COMMIT, NULL, f, NULL);
    CRASH_POINT("after_commit");
    pass_commit(group, /* is_done= */ true);
    return e;
}

/* Reading needs no transaction. */
static enum err attempt_reading(
        struct store_writer *w, const struct list *group, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "group");
    enum err e = is_single(group) ? OK : conn_pipeline(&w->conn, true, f);
    if (!e)
        e = apply_all(w, group, scratch, f);
    if (!e && w->conn.pipelined)
        e = conn_pipeline(&w->conn, false, f);
    return e;
}

static enum err attempt(
        struct store_writer *w, const struct list *group, int64_t number, struct fault *f)
{
    w->conn.trouble = CONN_FINE;
    return only_reads(group) ? attempt_reading(w, group, f)
                             : attempt_writing(w, group, number, f);
}

/* The page's earlier keys are somebody's business now; a difference leaves them as they are. */
static void note_version(struct store_sweeper *w, const struct store_version_job *job)
{
    sweeper_note(w, job->fetch.page_id, !job->exists && !job->packed.of && job->version > 1);
}

static void finish(struct store_writer *w, struct list *group)
{
    list_each (l, group) {
        struct store_job *job = list_entry(l, struct store_job, link);
        if (job->kind == STORE_JOB_PLAN && job->err == OK)
            writer_forget_request(w, container_of(job, struct store_plan_job, job)->request_id);
        if (job->kind == STORE_JOB_VERSION && job->err == OK && w->store->sweeper)
            note_version(w->store->sweeper, container_of(job, struct store_version_job, job));
    }
    CRASH_POINT("before_done");
    writer_give_back(w, group);
    CRASH_POINT("after_done");
}

enum outcome { DONE, REFUSED, GIVEN_UP };

/* Tries until it is clear what became of the group. */
static enum outcome settle(struct store_writer *w, const struct list *group, struct fault *f)
{
    int64_t number = ++w->job_number, committed = 0;
    int timeouts = 0;
    for (unsigned n = 0; !atomic_load(&w->give_up); n++) {
        if (attempt(w, group, number, f) == OK) {
            writer_available(w);
            return DONE;
        }
        switch (w->conn.trouble) {
        case CONN_LOST:
            writer_unavailable(w, f);
            if (!writer_reconnect(w, &committed))
                return GIVEN_UP;
            if (committed >= number) /* (1) */
                return DONE;
            n = 0;
            break;
        case CONN_WAIT: /* (4) */
            conn_roll_back(&w->conn);
            if (strcmp(w->conn.sqlstate, "57014") == 0 && ++timeouts == TIMEOUTS_MAX)
                return REFUSED;
            writer_unavailable(w, f);
            if (!writer_back_off(w, n, longest_wait))
                return GIVEN_UP;
            break;
        case CONN_REFUSED:
        case CONN_FINE:
            conn_roll_back(&w->conn);
            return REFUSED;
        }
    }
    return GIVEN_UP;
}

static bool commit_singly(struct store_writer *w, struct list *group)
{
    while (!list_is_empty(group)) {
        struct list one, *first = list_first(group);
        list_init(&one);
        list_remove(first);
        list_append(&one, first);
        if (!writer_commit(w, &one)) {
            list_remove(first);
            list_prepend(group, first);
            return false;
        }
    }
    return true;
}

/* Is it a difference, which it is no longer: (3)? */
static bool make_whole(struct store_job *job)
{
    if (job->kind != STORE_JOB_VERSION)
        return false;
    struct store_version_job *v = container_of(job, struct store_version_job, job);
    bool was_difference = v->packed.of != NULL;
    if (was_difference)
        store_version_pack_whole(v);
    return was_difference;
}

bool writer_commit(struct store_writer *w, struct list *group)
{
    struct fault why = {0};
    switch (settle(w, group, &why)) {
    case DONE:
        finish(w, group);
        return true;
    case REFUSED:
        if (!is_single(group))
            return commit_singly(w, group); /* (2) */
        struct store_job *job = list_entry(list_first(group), struct store_job, link);
        if (make_whole(job))
            return writer_commit(w, group);
        job->err = why.code;
        job->fault = why;
        finish(w, group);
        return true;
    case GIVEN_UP:
        break;
    }
    return false;
}
