/* Claiming and settling: the outbox's statements, each job one transaction.
 *
 *  (1) This connection never waits for a lane somebody else has locked: whoever writes a
 *      change may hold many of them, in any order, and two who wait for each other are a
 *      deadlock.
 *  (2) A lane is locked by one statement and read by the next, so that what was owed
 *      meanwhile is seen: a wake-up is never lost.
 *  (3) Held-back messages (quiet hours, a day's number) are collected into one.
 *  (4) While a lane is claimed its row says that nothing is due.  So whoever owes something
 *      meanwhile writes to the row, and waits for us if we are settling it, or makes us wait;
 *      else both could go away believing that the other sees to it.
 *  (5) What was passed over because it was locked is looked for again a second later: its
 *      holder may roll back, be somebody who owes nothing, or the last transaction of an
 *      engine that died.
 */
#include "store/outbox_int.h"
#include "base/str.h"

enum { ARRAY_BYTES = 64 << 20 };

/* Whoever lets go of a lane without owing anything in it does not tell us: (5). */
static const msec look_again = MSEC_PER_SECOND;

/* ---- rows ---- */

static const char *copy(struct arena *life, const PGresult *r, int row, int column)
{
    const char *text = result_text(r, row, column);
    return text ? arena_strdup(life, text) : NULL;
}

/* A row read from left to right: OWED_COLUMNS and what follows them. */
struct cells {
    struct arena *life;
    const PGresult *r;
    int row, at;
};

static int64_t next_int(struct cells *c)
{
    return result_int(c->r, c->row, c->at++);
}

static msec next_time(struct cells *c)
{
    return result_time(c->r, c->row, c->at++);
}

static const char *next_text(struct cells *c)
{
    return copy(c->life, c->r, c->row, c->at++);
}

enum { COLUMN_MESSAGE = 1, COLUMN_LANE = 33, COLUMN_COUNT = 34 };

static void read_owed(struct arena *life, const PGresult *r, int row, struct store_owed *o)
{
    struct cells c = {life, r, row, 0};
    o->id = next_int(&c);
    o->bundle = next_int(&c);
    o->change = next_int(&c);
    o->sentinel_id = next_int(&c);
    o->kind = next_text(&c);
    o->words = next_text(&c);
    o->at = next_time(&c);
    o->due = next_time(&c);
    o->attempts = next_int(&c);
    o->sentinel = next_text(&c);
    o->owner = next_text(&c);
    o->url = next_text(&c);
    o->monitor = next_text(&c);
    o->topic = next_text(&c);
    o->presentation = next_text(&c);
    o->priority = next_int(&c);
    o->old_version = next_int(&c);
    o->new_version = next_int(&c);
    o->inserted = next_int(&c);
    o->deleted = next_int(&c);
    o->updated = next_int(&c);
    o->moved = next_int(&c);
    o->summary = next_text(&c);
    o->detail = next_text(&c);
    o->last_modified = next_text(&c);
    o->last_evaluated = next_time(&c);
    o->last_notified = next_time(&c);
    o->installed = next_time(&c);
    o->ends = next_time(&c);
    o->notifications = next_int(&c);
    o->evaluations = next_int(&c);
    o->page_id = next_int(&c);
    o->last_seen = next_time(&c);
}

/* ---- columns of rows, as arrays ---- */

static void arrays_begin(struct buf *columns, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        buf_init(&columns[k], ARRAY_BYTES);
        array_begin(&columns[k]);
    }
}

static void arrays_end(struct buf *columns, size_t n, struct params *p)
{
    for (size_t k = 0; k < n; k++) {
        array_end(&columns[k]);
        params_text(p, buf_text(&columns[k]));
    }
}

static void arrays_done(struct buf *columns, size_t n)
{
    for (size_t k = 0; k < n; k++)
        buf_done(&columns[k]);
}

static void put_time(struct buf *column, struct arena *scratch, msec at)
{
    if (at == MSEC_NEVER)
        array_text(column, scratch, NULL);
    else
        array_int(column, at);
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
    BUF(full, ARRAY_BYTES);
    array_begin(&full);
    for (size_t i = 0; i < job->nfull; i++)
        array_text(&full, scratch, job->full[i]);
    array_end(&full);
    PARAMS(p, scratch);
    params_time(&p, job->now);
    params_text(&p, session);
    params_int(&p, job->most_lanes);
    params_int(&p, job->most_a_day);
    params_text(&p, h->day);
    params_int(&p, job->gather);
    params_text(&p, buf_text(&full));
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

/* The lanes that were claimed, or only those whose messages are of several. */
static size_t put_claimed(const struct store_claim_job *job, bool only_bundles, struct buf *ids)
{
    size_t n = 0;
    array_begin(ids);
    for (size_t i = 0; i < job->nlanes; i++)
        if (!only_bundles || job->lanes[i].is_bundle) {
            array_int(ids, job->lanes[i].id);
            n++;
        }
    array_end(ids);
    return n;
}

/* What is due in a lane of that kind becomes one message, unless one is under way. */
static enum err bundle(struct conn *c, const struct store_claim_job *job, struct arena *scratch,
        struct fault *f)
{
    BUF(ids, ARRAY_BYTES);
    if (!put_claimed(job, /* only_bundles= */ true, &ids))
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
            int64_t message = result_int(r, row, COLUMN_MESSAGE),
                    all = result_int(r, row, COLUMN_COUNT);
            int n = 0;
            while (row + n < end && result_int(r, row + n, COLUMN_MESSAGE) == message)
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
    BUF(ids, ARRAY_BYTES);
    RESULT r = NULL;
    if (!put_claimed(job, /* only_bundles= */ false, &ids))
        return OK;
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
    if (job->nlanes == job->most_lanes)
        return OK; /* there may be more now */
    PARAMS(p, scratch);
    params_time(&p, job->now);
    params_int(&p, job->before_end);
    params_int(&p, job->gather);
    params_int(&p, look_again);
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
    enum { ID, STATE, ATTEMPTS, ERROR, AT, COLUMNS };
    struct buf column[COLUMNS];
    if (!job->nmarks)
        return OK;
    PARAMS(p, scratch);
    arrays_begin(column, COLUMNS);
    for (size_t i = 0; i < job->nmarks; i++) {
        const struct store_mark *m = &job->marks[i];
        array_int(&column[ID], m->id);
        array_text(&column[STATE], scratch, words[m->fate]);
        array_int(&column[ATTEMPTS], m->attempts);
        array_text(&column[ERROR], scratch, m->error);
        array_int(&column[AT], m->at);
    }
    arrays_end(column, COLUMNS, &p);
    enum err e = conn_run(c, SQL_MARK, &p, f, NULL);
    arrays_done(column, COLUMNS);
    return e;
}

static enum err ask_lanes(struct conn *c, enum statement st, const char *ids,
        const char *session, struct arena *scratch, struct fault *f, PGresult **ret_answer)
{
    PARAMS(p, scratch);
    params_text(&p, ids);
    params_text(&p, session);
    return conn_send(c, st, &p, scratch, f, ret_answer);
}

static void note_lanes(const struct store_settle_job *job, const PGresult *r, bool *which)
{
    for (int row = 0; row < PQntuples(r); row++)
        for (size_t i = 0; i < job->nlanes; i++)
            which[i] = which[i] || job->lanes[i].id == result_int(r, row, 0);
}

/* Which of the job's lanes we have locked, and which are ours, locked by us or not: (1). */
static enum err lock_lanes(struct conn *c, const struct store_settle_job *job,
        const char *session, struct arena *scratch, struct fault *f, bool *locked, bool *there)
{
    PGresult **answers = arena_array_of(scratch, 2, PGresult *);
    BUF(ids, ARRAY_BYTES);
    array_begin(&ids);
    for (size_t i = 0; i < job->nlanes; i++)
        array_int(&ids, job->lanes[i].id);
    array_end(&ids);
    const char *text = buf_text(&ids);
    enum err e = ask_lanes(c, SQL_LANES_LOCK, text, session, scratch, f, &answers[0]);
    if (!e)
        e = ask_lanes(c, SQL_LANES_THERE, text, session, scratch, f, &answers[1]);
    if (!e)
        e = conn_settle(c, f);
    if (e)
        return e;
    note_lanes(job, answers[0], locked);
    note_lanes(job, answers[1], there);
    return OK;
}

static enum err settle_lanes(struct conn *c, const struct store_settle_job *job,
        const bool *locked, struct arena *scratch, struct fault *f)
{
    enum { ID, RELEASE, ATTEMPTS, FAILING, NOT_BEFORE, MESSAGES, COLUMNS };
    struct buf column[COLUMNS];
    PARAMS(p, scratch);
    arrays_begin(column, COLUMNS);
    for (size_t i = 0; i < job->nlanes; i++) {
        const struct store_settled *l = &job->lanes[i];
        if (!locked[i])
            continue;
        array_int(&column[ID], l->id);
        array_bool(&column[RELEASE], l->release);
        array_int(&column[ATTEMPTS], l->attempts);
        put_time(&column[FAILING], scratch, l->failing_since);
        put_time(&column[NOT_BEFORE], scratch, l->not_before);
        array_int(&column[MESSAGES], l->messages);
    }
    arrays_end(column, COLUMNS, &p);
    params_time(&p, job->now);
    enum err e = conn_run(c, SQL_LANES_SETTLE, &p, f, NULL);
    PARAMS(q, scratch);
    params_text(&q, buf_text(&column[ID]));
    params_text(&q, buf_text(&column[MESSAGES]));
    params_time(&q, job->now);
    params_text(&q, job->zone);
    if (!e)
        e = conn_run(c, SQL_TOLD, &q, f, NULL);
    arrays_done(column, COLUMNS);
    return e;
}

static enum err settle(struct conn *c, struct store_settle_job *job, const char *session,
        struct arena *scratch, struct fault *f)
{
    bool *there = arena_array_of(scratch, job->nlanes + 1, bool);
    bool *locked = arena_array_of(scratch, job->nlanes + 1, bool);
    enum err e = mark(c, job, scratch, f);
    if (!e && job->nlanes)
        e = lock_lanes(c, job, session, scratch, f, locked, there);
    if (!e && job->nlanes)
        e = settle_lanes(c, job, locked, scratch, f); /* (2) */
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
    struct store_load_job *loaded;
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
        loaded = container_of(job, struct store_load_job, job);
        return apply_loads(c, &loaded, 1, scratch, f);
    }
    CHECK(!"a kind of job of the outbox");
    return ERR_STORE;
}

/* ---- once, when an engine starts ---- */

static enum err put_operators_tells(struct conn *c, const struct store_outbox_options *o,
        struct arena *scratch, struct fault *f)
{
    enum { METHOD, TARGET, COLUMNS };
    struct buf column[COLUMNS];
    PARAMS(p, scratch);
    arrays_begin(column, COLUMNS);
    for (size_t i = 0; i < o->nalways; i++) {
        array_text(&column[METHOD], scratch, o->always[i].method);
        array_text(&column[TARGET], scratch, o->always[i].target);
    }
    arrays_end(column, COLUMNS, &p);
    enum err e = conn_run(c, SQL_OPERATOR_TELLS_DROP, &p, f, NULL);
    if (!e && o->nalways)
        e = conn_run(c, SQL_OPERATOR_TELLS_PUT, &p, f, NULL);
    arrays_done(column, COLUMNS);
    return e;
}

static enum err combine(struct conn *c, bool combined, struct arena *scratch, struct fault *f)
{
    PARAMS(p, scratch);
    params_bool(&p, combined);
    enum err e = conn_run(c, SQL_LANES_COMBINE, &p, f, NULL);
    return e ? e : conn_run(c, SQL_TELLS_COMBINE, &p, f, NULL);
}

enum err outbox_prepare(struct conn *c, const struct store_outbox_options *o,
        struct arena *scratch, struct fault *f)
{
    PARAMS(p, scratch);
    params_int(&p, o->failing_after);
    enum err e = conn_run(c, SQL_FAILING_AFTER, &p, f, NULL);
    if (!e)
        e = put_operators_tells(c, o, scratch, f);
    if (!e)
        e = combine(c, o->combined, scratch, f);
    return e || !o->has_feeds ? e : conn_run(c, SQL_BULLETIN_LANES, NULL, f, NULL);
}
