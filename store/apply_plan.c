/* A plan: what a request, a start or an end does to sentinels, all of it or none.
 *
 *  (1) A plan that answers a request is known by it: if the request is answered already the
 *      plan was done before, and only what it returned is looked up again.
 *  (2) A page lives as long as a sentinel watches it or has a change on it, and a body as
 *      long as a version has it.
 *  (3) What happened to a sentinel stays in vigil.events under its name when it is dropped.
 */
#include "store/apply.h"
#include "base/crash.h"
#include "base/str.h"

/* Enough to make the price of a statement small, little enough to be quick. */
enum { CREATED_AT_ONCE = 500 };

struct known {
    int64_t page_id;
    const char *name; /* in scratch */
};

static enum err get_known(
        struct conn *c, int64_t id, struct arena *scratch, struct fault *f, struct known *ret)
{
    RESULT r = NULL;
    PARAMS(p, scratch);
    params_int(&p, id);
    enum err e = conn_run(c, SQL_SENTINEL_GET, &p, f, &r);
    if (e)
        return e;
    if (PQntuples(r) == 0)
        return fault_set(
                f, ERR_NAME, "sentinel number %lld is not in the store", (long long)id);
    ret->page_id = result_int(r, 0, 0);
    ret->name = arena_strdup(scratch, PQgetvalue(r, 0, 1));
    return OK;
}

/* ---- pages ---- */

/* They are locked first: only then can nobody begin to use one that was found unused. */
enum err drop_unused_bodies(
        struct conn *c, const char *bodies, struct arena *scratch, struct fault *f)
{
    enum err e = OK;
    while (!e && strcmp(bodies, "{}") != 0) {
        RESULT bases = NULL;
        PARAMS(p, scratch);
        params_text(&p, bodies);
        e = conn_run(c, SQL_BODIES_LOCK, &p, f, NULL);
        if (!e)
            e = conn_run(c, SQL_BODIES_DROP_UNUSED, &p, f, &bases);
        if (!e) /* what they were deltas of may be unused now */
            bodies = arena_strdup(scratch, PQgetvalue(bases, 0, 0));
    }
    return e;
}

static enum err find_places(
        struct conn *c, const struct store_step *st, struct arena *scratch, struct fault *f)
{
    RESULT r = NULL;
    PARAMS(p, scratch);
    params_int(&p, st->ret_id);
    enum err e = st->nmore ? conn_run(c, SQL_PLACES_OF, &p, f, &r) : OK;
    for (size_t i = 0; !e && i < st->nmore && (int)i < PQntuples(r); i++)
        st->ret_more_ids[i] = result_int(r, (int)i, 0);
    return e;
}

static enum err drop_page_if_unused(
        struct conn *c, int64_t page_id, struct arena *scratch, struct fault *f)
{
    RESULT bodies = NULL;
    RESULT dropped = NULL;
    if (!page_id)
        return OK;
    PARAMS(p, scratch);
    params_int(&p, page_id);
    enum err e = conn_run(c, SQL_PAGE_BODIES, &p, f, &bodies);
    if (!e)
        e = conn_run(c, SQL_PAGE_DROP_UNUSED, &p, f, &dropped);
    if (e || result_affected(dropped) == 0)
        return e;
    return drop_unused_bodies(c, PQgetvalue(bodies, 0, 0), scratch, f); /* (2) */
}

static enum err replace_tells(
        struct conn *c, const struct store_step *st, struct arena *scratch, struct fault *f)
{
    PARAMS(p, scratch);
    params_int(&p, st->sentinel_id);
    enum err e = conn_run(c, SQL_TELLS_DROP, &p, f, NULL);
    return e ? e : put_tells(c, st, 1, scratch, f);
}

/* ---- steps ---- */

enum err name_taken(const char *name, struct fault *f)
{
    return fault_set(f, ERR_NAME, "sentinel \"%s\" exists already", name);
}

static bool is_duplicate(const struct conn *c)
{
    return c->trouble == CONN_REFUSED && strcmp(c->sqlstate, "23505") == 0;
}

static void params_points(struct params *p, const struct store_step *st)
{
    params_text(p, st->from_point);
    params_text(p, st->from_of);
    params_text(p, st->to_point);
    params_text(p, st->to_of);
}

static enum err step_points(
        struct conn *c, const struct store_step *st, struct arena *scratch, struct fault *f)
{
    PARAMS(p, scratch);
    params_int(&p, st->sentinel_id);
    params_points(&p, st);
    return conn_run(c, SQL_SENTINEL_POINTS, &p, f, NULL);
}

static enum err step_overdue(
        struct conn *c, const struct store_step *st, struct arena *scratch, struct fault *f)
{
    PARAMS(p, scratch);
    params_int(&p, st->page_id);
    params_time(&p, st->event_at);
    return conn_run(c, SQL_OVERDUE, &p, f, NULL);
}

/* Another definition may name other pages; those nobody watches any more go. */
static enum err replace_places(
        struct conn *c, const struct store_step *st, struct arena *scratch, struct fault *f)
{
    RESULT old = NULL;
    PARAMS(p, scratch);
    params_int(&p, st->sentinel_id);
    enum err e = conn_run(c, SQL_PLACES_DROP, &p, f, &old);
    if (!e)
        e = put_places(c, st, 1, scratch, f);
    for (int i = 0; !e && i < PQntuples(old); i++)
        e = drop_page_if_unused(c, result_int(old, i, 0), scratch, f);
    return e;
}

/* Whoever had a place has seen at least what was current when it took it. */
static enum err see_base(
        struct conn *c, const struct store_step *st, struct arena *scratch, struct fault *f)
{
    PARAMS(p, scratch);
    params_text(&p, arena_printf(scratch, "{%lld}", (long long)st->sentinel_id));
    params_int(&p, st->base_version);
    return conn_run(c, SQL_SEEN, &p, f, NULL);
}

/* A new definition may name another page, whose versions are counted anew. */
static enum err forget_versions(
        struct conn *c, const struct store_step *st, struct arena *scratch, struct fault *f)
{
    PARAMS(p, scratch);
    params_int(&p, st->sentinel_id);
    params_int(&p, st->base_version);
    return conn_run(c, SQL_SENTINEL_FORGET, &p, f, NULL);
}

static enum err step_replace(struct conn *c, struct store_step *st, const struct known *k,
        struct arena *scratch, struct fault *f)
{
    st->ret_id = st->sentinel_id;
    st->ret_page_id = k->page_id;
    enum err e = put_pages(c, st, 1, scratch, f);
    if (e)
        return e;
    PARAMS(p, scratch);
    params_int(&p, st->sentinel_id);
    params_text(&p, st->name);
    params_text(&p, st->owner);
    params_text(&p, st->definition);
    params_text(&p, st->monitor);
    params_text(&p, st->fetch);
    params_text(&p, st->compare);
    params_text(&p, st->state);
    params_id(&p, st->ret_page_id);
    params_int(&p, st->base_version);
    params_time(&p, st->installed_at);
    params_time(&p, st->starts_at);
    params_time(&p, st->ends_at);
    params_time(&p, st->started_at);
    params_time(&p, st->ended_at);
    params_text(&p, st->end_reason);
    params_time(&p, st->entered_at);
    params_points(&p, st);
    params_int(&p, st->change_history);
    e = conn_run(c, SQL_SENTINEL_REPLACE, &p, f, NULL);
    if (e)
        return is_duplicate(c) ? name_taken(st->name ? st->name : k->name, f) : e;
    e = replace_tells(c, st, scratch, f);
    if (e)
        return e;
    if (st->keeps_place)
        return find_places(c, st, scratch, f);
    e = forget_versions(c, st, scratch, f);
    if (!e)
        e = replace_places(c, st, scratch, f);
    if (e)
        return e;
    return st->ret_page_id == k->page_id ? OK : drop_page_if_unused(c, k->page_id, scratch, f);
}

static enum err step_state(
        struct conn *c, const struct store_step *st, struct arena *scratch, struct fault *f)
{
    PARAMS(p, scratch);
    params_int(&p, st->sentinel_id);
    params_text(&p, st->state);
    params_time(&p, st->started_at);
    params_time(&p, st->ended_at);
    params_int(&p, st->base_version);
    params_text(&p, st->end_reason);
    params_time(&p, st->starts_at);
    params_time(&p, st->ends_at);
    params_time(&p, st->entered_at);
    enum err e = conn_run(c, SQL_SENTINEL_STATE, &p, f, NULL);
    if (!e)
        e = st->enters ? forget_versions(c, st, scratch, f) : see_base(c, st, scratch, f);
    return e || !st->nsights ? e : put_sights(c, st->sights, st->nsights, scratch, f);
}

/* A sentinel that was replaced may have watched more pages than the last one. */
static enum err step_drop(
        struct conn *c, const struct store_step *st, struct arena *scratch, struct fault *f)
{
    RESULT pages = NULL;
    PARAMS(p, scratch);
    params_int(&p, st->sentinel_id);
    enum err e = conn_run(c, SQL_SENTINEL_PAGES, &p, f, &pages);
    if (!e)
        e = conn_run(c, SQL_SENTINEL_DROP, &p, f, NULL);
    for (int i = 0; !e && i < PQntuples(pages); i++)
        e = drop_page_if_unused(c, result_int(pages, i, 0), scratch, f);
    return e;
}

static void columns_event(struct columns *rows, const struct store_step *st, const char *name)
{
    if (!st->event_kind)
        return;
    columns_int(rows, st->kind == STORE_STEP_CREATE ? st->ret_id : st->sentinel_id);
    columns_text(rows, name);
    columns_text(rows, st->event_kind);
    columns_time(rows, st->event_at);
    columns_time(rows, st->event_actual_at);
    columns_text(rows, st->event_detail);
}

enum { EVENT_COLUMNS = 6 };

static enum err step_host(
        struct conn *c, const struct store_step *st, struct arena *scratch, struct fault *f)
{
    PARAMS(p, scratch);
    params_text(&p, st->url);
    params_time(&p, st->ends_at);
    enum err e = conn_run(c, SQL_HOST_PUT, &p, f, NULL);
    if (e)
        return e;
    PARAMS(q, scratch);
    params_time(&q, st->event_at);
    return conn_run(c, SQL_HOSTS_DROP_OLD, &q, f, NULL);
}

static enum err do_step(
        struct conn *c, struct store_step *st, struct arena *scratch, struct fault *f)
{
    struct known k = {.name = st->name};
    enum err e = OK;
    if (st->kind == STORE_STEP_HOST)
        return step_host(c, st, scratch, f);
    if (st->kind == STORE_STEP_OVERDUE)
        return step_overdue(c, st, scratch, f);
    e = get_known(c, st->sentinel_id, scratch, f, &k);
    if (e)
        return e;
    switch (st->kind) {
    case STORE_STEP_REPLACE:
        e = step_replace(c, st, &k, scratch, f);
        CRASH_POINT("after_step_replace");
        break;
    case STORE_STEP_STATE:
        e = step_state(c, st, scratch, f);
        CRASH_POINT("after_step_state");
        break;
    case STORE_STEP_DROP:
        e = step_drop(c, st, scratch, f);
        CRASH_POINT("after_step_drop");
        break;
    case STORE_STEP_POINTS:
        e = step_points(c, st, scratch, f);
        break;
    case STORE_STEP_EVENT:
    case STORE_STEP_HOST:
    case STORE_STEP_OVERDUE:
    case STORE_STEP_CREATE:
        break;
    }
    COLUMNS(event, scratch, EVENT_COLUMNS);
    columns_event(&event, st, st->name && st->kind == STORE_STEP_REPLACE ? st->name : k.name);
    if (!e)
        e = columns_run(c, SQL_EVENTS_PUT, &event, f, NULL); /* (3) */
    CRASH_POINT("after_event_row");
    return e;
}

static enum err create(struct conn *c, struct store_step *steps, size_t n,
        struct arena *scratch, struct fault *f)
{
    enum err e = create_sentinels(c, steps, n, scratch, f);
    COLUMNS(events, scratch, EVENT_COLUMNS);
    for (size_t i = 0; i < n; i++)
        columns_event(&events, &steps[i], steps[i].name);
    return e ? e : columns_run(c, SQL_EVENTS_PUT, &events, f, NULL); /* (3) */
}

/* How many from here on are sentinels to be made, up to what is made at once. */
static size_t creations(const struct store_step *steps, size_t n)
{
    size_t count = 0;
    while (count < n && count < CREATED_AT_ONCE && steps[count].kind == STORE_STEP_CREATE)
        count++;
    return count;
}

static enum err do_steps(struct conn *c, struct store_step *steps, size_t n, struct fault *f)
{
    enum err e = OK;
    for (size_t i = 0; !e && i < n;) {
        /* There may be a million of them. */
        SCRATCH struct arena *once = arena_new(NULL, "steps");
        size_t count = creations(steps + i, n - i);
        e = count ? create(c, steps + i, count, once, f) : do_step(c, &steps[i], once, f);
        i += count ? count : 1;
    }
    return e;
}

/* ---- requests ---- */

static enum err withdrawn(const struct store_plan_job *job, struct fault *f)
{
    return fault_set(f, ERR_NAME, "request %lld was withdrawn", (long long)job->request_id);
}

static enum err answer(struct conn *c, const struct store_plan_job *job, msec now,
        struct arena *scratch, struct fault *f, bool *ret_is_first)
{
    RESULT done = NULL;
    RESULT state = NULL;
    PARAMS(p, scratch);
    params_int(&p, job->request_id);
    params_int(&p, job->exit_code);
    params_text(&p, job->answer ? job->answer : "");
    params_int(&p, now);
    enum err e = conn_run(c, SQL_REQUEST_DONE, &p, f, &done);
    if (e)
        return e;
    *ret_is_first = result_affected(done) > 0;
    PARAMS(q, scratch);
    params_int(&q, job->request_id);
    if (*ret_is_first)
        return conn_run(c, SQL_REQUEST_TELL, &q, f, NULL);
    e = conn_run(c, SQL_REQUEST_STATE, &q, f, &state);
    return e ? e : PQntuples(state) ? OK : withdrawn(job, f);
}

/* The plan was done before: the numbers it gave out then. */
static enum err find_created(
        struct conn *c, struct store_step *st, struct arena *scratch, struct fault *f)
{
    if (st->kind != STORE_STEP_CREATE && st->kind != STORE_STEP_REPLACE)
        return OK;
    RESULT r = NULL;
    PARAMS(p, scratch);
    params_text(&p, st->name);
    enum err e = conn_run(c, SQL_SENTINEL_FIND, &p, f, &r);
    if (!e && PQntuples(r)) {
        st->ret_id = result_int(r, 0, 0);
        st->ret_page_id = result_int(r, 0, 1);
        e = find_places(c, st, scratch, f);
    }
    return e;
}

enum err apply_plan(struct conn *c, struct store_plan_job *job, msec now, struct arena *scratch,
        struct fault *f)
{
    bool is_first = true;
    enum err e = OK;
    if (job->request_id) {
        CRASH_POINT("before_answer");
        e = answer(c, job, now, scratch, f, &is_first); /* (1) */
        CRASH_POINT("after_answer");
    }
    if (!e && is_first) {
        e = do_steps(c, job->steps, job->nsteps, f);
        return e ? e : find_taken_up(c, job, /* all= */ false, scratch, f);
    }
    for (size_t i = 0; !e && i < job->nsteps; i++) {
        SCRATCH struct arena *once = arena_new(NULL, "step");
        e = find_created(c, &job->steps[i], once, f);
    }
    return e ? e : find_taken_up(c, job, /* all= */ true, scratch, f);
}
