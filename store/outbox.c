/* Claiming and settling: the outbox's statements, each job one transaction.
 *
 *  (1) This connection never waits for a lane somebody else has locked: whoever writes a
 *      change may hold many of them, in any order, and two who wait for each other are a
 *      deadlock.
 *  (2) A lane is locked by one statement and read by the next, so that what was owed
 *      meanwhile is seen: a wake-up is never lost.
 *  (3) Held-back messages (quiet hours, a day's number) are collected into one.
 */
#include "store/outbox_int.h"
#include "base/str.h"

enum { ARRAY_BYTES = 64 << 20 };

/* ---- rows ---- */

static const char *copy(struct arena *life, const PGresult *r, int row, int column)
{
    const char *text = result_text(r, row, column);
    return text ? arena_strdup(life, text) : NULL;
}

enum { COLUMN_LANE = 33, COLUMN_COUNT = 34 };

static void read_owed(struct arena *life, const PGresult *r, int row, struct store_owed *o)
{
    *o = (struct store_owed){
            .id = result_int(r, row, 0),
            .bundle = result_int(r, row, 1),
            .change = result_int(r, row, 2),
            .sentinel_id = result_int(r, row, 3),
            .kind = copy(life, r, row, 4),
            .words = copy(life, r, row, 5),
            .at = result_time(r, row, 6),
            .due = result_time(r, row, 7),
            .attempts = result_int(r, row, 8),
            .sentinel = copy(life, r, row, 9),
            .owner = copy(life, r, row, 10),
            .url = copy(life, r, row, 11),
            .monitor = copy(life, r, row, 12),
            .topic = copy(life, r, row, 13),
            .presentation = copy(life, r, row, 14),
            .priority = result_int(r, row, 15),
            .old_version = result_int(r, row, 16),
            .new_version = result_int(r, row, 17),
            .inserted = result_int(r, row, 18),
            .deleted = result_int(r, row, 19),
            .updated = result_int(r, row, 20),
            .moved = result_int(r, row, 21),
            .summary = copy(life, r, row, 22),
            .detail = copy(life, r, row, 23),
            .last_modified = copy(life, r, row, 24),
            .last_evaluated = result_time(r, row, 25),
            .last_notified = result_time(r, row, 26),
            .installed = result_time(r, row, 27),
            .ends = result_time(r, row, 28),
            .notifications = result_int(r, row, 29),
            .evaluations = result_int(r, row, 30),
            .page_id = result_int(r, row, 31),
            .last_seen = result_time(r, row, 32),
    };
}

/* ---- claiming ---- */

struct hours {
    bool quiet;
    msec quiet_end, midnight;
    const char *day;
};

static enum err look_at_clock(struct conn *c, const struct store_claim_job *job,
        struct arena *scratch, struct fault *f, struct hours *ret)
{
    *ret = (struct hours){.day = NULL};
    if (job->quiet_from == job->quiet_to && job->most_a_day <= 0)
        return OK; /* nobody asks */
    RESULT r = NULL;
    PARAMS(p, scratch);
    params_time(&p, job->now);
    params_text(&p, job->zone);
    params_int(&p, job->quiet_from);
    params_int(&p, job->quiet_to);
    enum err e = conn_run(c, SQL_LOCAL_HOURS, &p, f, &r);
    if (e)
        return e;
    *ret = (struct hours){
            .quiet = *PQgetvalue(r, 0, 0) == 't',
            .quiet_end = result_time(r, 0, 1),
            .midnight = result_time(r, 0, 2),
            .day = arena_strdup(scratch, PQgetvalue(r, 0, 3)),
    };
    return OK;
}

static enum err void_claims(struct conn *c, const struct store_claim_job *job,
        const char *session, struct arena *scratch, struct fault *f)
{
    BUF(held, ARRAY_BYTES);
    array_begin(&held);
    for (size_t i = 0; i < job->nheld; i++)
        array_int(&held, job->held[i]);
    array_end(&held);
    PARAMS(p, scratch);
    params_text(&p, session);
    params_text(&p, buf_text(&held));
    return conn_run(c, SQL_CLAIMS_VOID, &p, f, NULL);
}

static enum err tell_ending(struct conn *c, const struct store_claim_job *job,
        struct arena *scratch, struct fault *f)
{
    if (job->before_end <= 0)
        return OK;
    PARAMS(p, scratch);
    params_time(&p, job->now);
    params_int(&p, job->before_end);
    return conn_run(c, SQL_TELL_ENDING, &p, f, NULL);
}

/* (3) */
static enum err collect_quiet(struct conn *c, const struct store_claim_job *job,
        struct arena *scratch, struct fault *f)
{
    PARAMS(p, scratch);
    params_time(&p, job->now);
    return conn_run(c, SQL_LANES_COLLECT, &p, f, NULL);
}

static enum err hold_full(struct conn *c, const struct store_claim_job *job,
        const struct hours *h, struct arena *scratch, struct fault *f)
{
    if (job->most_a_day <= 0)
        return OK;
    PARAMS(p, scratch);
    params_time(&p, job->now);
    params_text(&p, h->day);
    params_time(&p, h->midnight);
    params_int(&p, job->most_a_day);
    return conn_run(c, SQL_LANES_HOLD, &p, f, NULL);
}

static enum err claim_lanes(struct conn *c, struct store_claim_job *job, const struct hours *h,
        const char *session, struct arena *scratch, struct fault *f)
{
    RESULT r = NULL;
    PARAMS(p, scratch);
    params_time(&p, job->now);
    params_text(&p, session);
    params_int(&p, job->most_lanes);
    params_int(&p, job->most_a_day);
    params_text(&p, h->day);
    enum err e = conn_run(c, SQL_CLAIM, &p, f, &r);
    if (e)
        return e;
    job->nlanes = (size_t)PQntuples(r);
    job->lanes = arena_array_of(job->life, job->nlanes + 1, struct store_lane);
    for (int row = 0; row < PQntuples(r); row++)
        job->lanes[row] = (struct store_lane){
                .id = result_int(r, row, 0),
                .owner = copy(job->life, r, row, 1),
                .method = copy(job->life, r, row, 2),
                .target = copy(job->life, r, row, 3),
                .attempts = (unsigned)result_int(r, row, 4),
                .failing_since = result_time(r, row, 5),
                .is_bundle = *PQgetvalue(r, row, 6) == 't',
        };
    return OK;
}

static enum err bundle(struct conn *c, const struct store_claim_job *job, struct arena *scratch,
        struct fault *f)
{
    BUF(ids, ARRAY_BYTES);
    bool any = false;
    array_begin(&ids);
    for (size_t i = 0; i < job->nlanes; i++)
        if (job->lanes[i].is_bundle) {
            array_int(&ids, job->lanes[i].id);
            any = true;
        }
    array_end(&ids);
    if (!any)
        return OK;
    PARAMS(p, scratch);
    params_text(&p, buf_text(&ids));
    params_time(&p, job->now);
    return conn_run(c, SQL_BUNDLE, &p, f, NULL);
}

static struct store_lane *lane_find(const struct store_claim_job *job, int64_t id)
{
    for (size_t i = 0; i < job->nlanes; i++)
        if (job->lanes[i].id == id)
            return &job->lanes[i];
    return NULL;
}

/* Rows of one lane stand together.  A message that was cut by the limit is left for the next
 * claim, unless it is the lane's first: then what does not fit is counted. */
static void take_rows(struct store_claim_job *job, const PGresult *r)
{
    int rows = PQntuples(r);
    for (int row = 0; row < rows;) {
        struct store_lane *l = lane_find(job, result_int(r, row, COLUMN_LANE));
        int end = row;
        while (end < rows && result_int(r, end, COLUMN_LANE) == l->id)
            end++;
        l->owed = arena_array_of(job->life, (size_t)(end - row), struct store_owed);
        while (row < end) {
            int64_t message = result_int(r, row, 1), all = result_int(r, row, COLUMN_COUNT);
            int n = 0;
            while (row + n < end && result_int(r, row + n, 1) == message)
                n++;
            if (l->nowed > 0 && (n < all || l->is_bundle))
                break; /* what is not bundled yet will be by the next claim */
            for (int i = 0; i < n; i++)
                read_owed(job->life, r, row + i, &l->owed[l->nowed++]);
            if (n < all) {
                l->left_out = (size_t)(all - n);
                break;
            }
            row += n;
        }
        row = end;
    }
}

static enum err take(
        struct conn *c, struct store_claim_job *job, struct arena *scratch, struct fault *f)
{
    if (!job->nlanes)
        return OK;
    BUF(ids, ARRAY_BYTES);
    RESULT r = NULL;
    array_begin(&ids);
    for (size_t i = 0; i < job->nlanes; i++)
        array_int(&ids, job->lanes[i].id);
    array_end(&ids);
    PARAMS(p, scratch);
    params_text(&p, buf_text(&ids));
    params_time(&p, job->now);
    enum err e = conn_run(c, SQL_TAKE, &p, f, &r);
    if (!e)
        take_rows(job, r);
    return e;
}

static enum err find_next(
        struct conn *c, struct store_claim_job *job, struct arena *scratch, struct fault *f)
{
    RESULT r = NULL;
    PARAMS(p, scratch);
    params_time(&p, job->now);
    params_int(&p, job->before_end);
    enum err e = conn_run(c, SQL_NEXT_DUE, &p, f, &r);
    if (!e)
        job->next_at = result_time(r, 0, 0);
    return e;
}

static enum err claim(struct conn *c, struct store_claim_job *job, const char *session,
        struct arena *scratch, struct fault *f)
{
    struct hours h;
    job->nlanes = 0;
    job->next_at = MSEC_NEVER;
    enum err e = void_claims(c, job, session, scratch, f);
    if (!e)
        e = tell_ending(c, job, scratch, f);
    if (!e)
        e = look_at_clock(c, job, scratch, f, &h);
    if (!e && h.quiet) {
        job->next_at = h.quiet_end;
        return collect_quiet(c, job, scratch, f);
    }
    if (!e)
        e = hold_full(c, job, &h, scratch, f);
    if (!e)
        e = claim_lanes(c, job, &h, session, scratch, f);
    if (!e)
        e = bundle(c, job, scratch, f);
    if (!e)
        e = take(c, job, scratch, f);
    return e ? e : find_next(c, job, scratch, f);
}

/* ---- settling ---- */

static enum err mark(struct conn *c, const struct store_settle_job *job, struct arena *scratch,
        struct fault *f)
{
    static const char *const words[] = {
            [STORE_SENT] = "sent", [STORE_DEAD] = "dead", [STORE_AGAIN] = "pending"};
    struct buf a[5];
    enum err e = OK;
    if (!job->nmarks)
        return OK;
    PARAMS(p, scratch);
    for (size_t k = 0; k < countof(a); k++) {
        buf_init(&a[k], ARRAY_BYTES);
        array_begin(&a[k]);
        for (size_t i = 0; i < job->nmarks; i++) {
            const struct store_mark *m = &job->marks[i];
            if (k == 1)
                array_text(&a[k], scratch, words[m->fate]);
            else if (k == 3)
                array_text(&a[k], scratch, m->error);
            else
                array_int(&a[k], k == 0 ? m->id : k == 2 ? m->attempts : m->at);
        }
        array_end(&a[k]);
        params_text(&p, buf_text(&a[k]));
    }
    e = conn_run(c, SQL_MARK, &p, f, NULL);
    for (size_t k = 0; k < countof(a); k++)
        buf_done(&a[k]);
    return e;
}

/* Which of the job's lanes the statement names; `which` is one flag a lane. */
static enum err find_lanes(struct conn *c, enum statement st,
        const struct store_settle_job *job, const char *session, struct arena *scratch,
        struct fault *f, bool *which)
{
    BUF(ids, ARRAY_BYTES);
    RESULT r = NULL;
    array_begin(&ids);
    for (size_t i = 0; i < job->nlanes; i++)
        array_int(&ids, job->lanes[i].id);
    array_end(&ids);
    PARAMS(p, scratch);
    params_text(&p, buf_text(&ids));
    params_text(&p, session);
    enum err e = conn_run(c, st, &p, f, &r);
    for (int row = 0; !e && row < PQntuples(r); row++)
        for (size_t i = 0; i < job->nlanes; i++)
            which[i] = which[i] || job->lanes[i].id == result_int(r, row, 0);
    return e;
}

static enum err settle_lanes(struct conn *c, const struct store_settle_job *job,
        const bool *locked, struct arena *scratch, struct fault *f)
{
    struct buf a[6];
    PARAMS(p, scratch);
    for (size_t k = 0; k < countof(a); k++) {
        buf_init(&a[k], ARRAY_BYTES);
        array_begin(&a[k]);
        for (size_t i = 0; i < job->nlanes; i++) {
            const struct store_settled *l = &job->lanes[i];
            if (!locked[i])
                continue;
            msec at = k == 3 ? l->failing_since : l->not_before;
            if (k == 1)
                array_bool(&a[k], l->release);
            else if ((k == 3 || k == 4) && at == MSEC_NEVER)
                array_text(&a[k], scratch, NULL);
            else
                array_int(&a[k], k == 0   ? l->id
                                 : k == 2 ? l->attempts
                                 : k == 5 ? l->messages
                                          : at);
        }
        array_end(&a[k]);
        params_text(&p, buf_text(&a[k]));
    }
    params_time(&p, job->now);
    enum err e = conn_run(c, SQL_LANES_SETTLE, &p, f, NULL);
    PARAMS(q, scratch);
    params_text(&q, buf_text(&a[0]));
    params_text(&q, buf_text(&a[5]));
    params_time(&q, job->now);
    params_text(&q, job->zone);
    if (!e)
        e = conn_run(c, SQL_TOLD, &q, f, NULL);
    for (size_t k = 0; k < countof(a); k++)
        buf_done(&a[k]);
    return e;
}

static enum err settle(struct conn *c, struct store_settle_job *job, const char *session,
        struct arena *scratch, struct fault *f)
{
    bool *there = arena_array_of(scratch, job->nlanes + 1, bool);
    bool *locked = arena_array_of(scratch, job->nlanes + 1, bool);
    enum err e = mark(c, job, scratch, f);
    if (!e && job->nlanes)
        e = find_lanes(c, SQL_LANES_LOCK, job, session, scratch, f, locked); /* (1) */
    if (!e && job->nlanes)
        e = settle_lanes(c, job, locked, scratch, f); /* (2) */
    if (!e && job->nlanes)
        e = find_lanes(c, SQL_LANES_THERE, job, session, scratch, f, there);
    for (size_t i = 0; !e && i < job->nlanes; i++)
        job->ret_left[i] = there[i] && !locked[i]; /* one that is gone needs nothing more */
    return e;
}

/* ---- the rest ---- */

static enum err read_bulletin(
        struct conn *c, struct store_bulletin_job *job, struct arena *scratch, struct fault *f)
{
    RESULT r = NULL;
    PARAMS(p, scratch);
    params_text(&p, job->owner);
    params_text(&p, job->topic);
    params_int(&p, job->most);
    enum err e = conn_run(c, SQL_BULLETIN, &p, f, &r);
    if (e)
        return e;
    job->nitems = (size_t)PQntuples(r);
    job->items = arena_array_of(job->life, job->nitems + 1, struct store_owed);
    for (int row = 0; row < PQntuples(r); row++)
        read_owed(job->life, r, row, &job->items[row]);
    return OK;
}

static enum err publish(struct conn *c, const struct store_publish_job *job,
        struct arena *scratch, struct fault *f)
{
    PARAMS(p, scratch);
    params_text(&p, job->channel);
    params_text(&p, job->payload);
    return conn_run(c, SQL_PUBLISH, &p, f, NULL);
}

enum err outbox_apply(struct conn *c, struct store_job *job, const char *session,
        struct arena *scratch, struct fault *f)
{
    c->trouble = CONN_FINE;
    switch (job->kind) {
    case STORE_JOB_CLAIM:
        return claim(c, container_of(job, struct store_claim_job, job), session, scratch, f);
    case STORE_JOB_SETTLE:
        return settle(c, container_of(job, struct store_settle_job, job), session, scratch, f);
    case STORE_JOB_BULLETIN:
        return read_bulletin(c, container_of(job, struct store_bulletin_job, job), scratch, f);
    case STORE_JOB_PUBLISH:
        return publish(c, container_of(job, struct store_publish_job, job), scratch, f);
    case STORE_JOB_VERSION:
    case STORE_JOB_TOUCH:
    case STORE_JOB_PLAN:
        break; /* the writer's */
    case STORE_JOB_LOAD:
        return apply_load(c, container_of(job, struct store_load_job, job), scratch, f);
    }
    CHECK(!"a kind of job of the outbox");
    return ERR_STORE;
}

enum err outbox_prepare(struct conn *c, const struct store_outbox_options *o,
        struct arena *scratch, struct fault *f)
{
    BUF(methods, ARRAY_BYTES);
    BUF(targets, ARRAY_BYTES);
    array_begin(&methods);
    array_begin(&targets);
    for (size_t i = 0; i < o->nalways; i++) {
        array_text(&methods, scratch, o->always[i].method);
        array_text(&targets, scratch, o->always[i].target);
    }
    array_end(&methods);
    array_end(&targets);
    PARAMS(n, scratch);
    params_int(&n, o->failing_after);
    enum err e = conn_run(c, SQL_FAILING_AFTER, &n, f, NULL);
    PARAMS(p, scratch);
    params_text(&p, buf_text(&methods));
    params_text(&p, buf_text(&targets));
    if (!e)
        e = conn_run(c, SQL_OPERATOR_TELLS_DROP, &p, f, NULL);
    if (!e && o->nalways)
        e = conn_run(c, SQL_OPERATOR_TELLS_PUT, &p, f, NULL);
    return e || !o->has_feeds ? e : conn_run(c, SQL_BULLETIN_LANES, NULL, f, NULL);
}
