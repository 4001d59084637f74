/* What a definition brings, for one sentinel or for thousands in a row: its pages, its row,
 * whom it tells.
 *
 *  (1) Each step is one statement for all, so that a file of a million definitions is as many
 *      statements as a few thousand would be one by one.
 *  (2) Sentinels get their numbers in the order they stand in, and a name that is taken is
 *      told by the first that has it.
 */
#include "store/apply.h"
#include "base/crash.h"
#include <string.h>

/* ---- pages ---- */

/* A plain GET is known by its URL alone. */
static struct sha256 page_key(const char *url, const char *request, struct arena *scratch)
{
    if (request && *request)
        url = arena_printf(scratch, "%s\n%s", url, request);
    return sha256_of(url, strlen(url));
}

static void columns_url(
        struct columns *rows, struct columns *keys, const char *url, const char *request)
{
    struct sha256 key = page_key(url, request, rows->scratch);
    columns_text(rows, url);
    columns_bytes(rows, key.bytes, sizeof key.bytes);
    columns_text(rows, request ? request : "");
    columns_bytes(keys, key.bytes, sizeof key.bytes);
}

static int64_t take_page(struct store_step *st, const PGresult *ids, int row)
{
    st->ret_takes_up |= PQgetvalue(ids, row, 1)[0] == 't';
    return result_int(ids, row, 0);
}

enum err put_pages(struct conn *c, struct store_step *steps, size_t n, struct arena *scratch,
        struct fault *f)
{
    RESULT ids = NULL;
    COLUMNS(rows, scratch, 3);
    COLUMNS(keys, scratch, 1);
    for (size_t i = 0; i < n; i++) {
        if (steps[i].url)
            columns_url(&rows, &keys, steps[i].url, steps[i].request);
        for (size_t k = 0; k < steps[i].nmore; k++)
            columns_url(&rows, &keys, steps[i].more_urls[k], steps[i].request);
    }
    enum err e = columns_run(c, SQL_PAGES_PUT, &rows, f, NULL);
    CRASH_POINT("after_page_row");
    if (!e)
        e = columns_run(c, SQL_PAGES_FIND, &keys, f, &ids);
    int row = 0;
    for (size_t i = 0; !e && i < n; i++) {
        steps[i].ret_takes_up = false;
        if (steps[i].url)
            steps[i].ret_page_id = take_page(&steps[i], ids, row++);
        for (size_t k = 0; k < steps[i].nmore; k++)
            steps[i].ret_more_ids[k] = take_page(&steps[i], ids, row++);
    }
    return e;
}

enum err put_places(struct conn *c, const struct store_step *steps, size_t n,
        struct arena *scratch, struct fault *f)
{
    COLUMNS(rows, scratch, 3);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < steps[i].nmore; k++) {
            columns_int(&rows, steps[i].ret_id);
            columns_int(&rows, (int64_t)k + 1);
            columns_int(&rows, steps[i].ret_more_ids[k]);
        }
    return columns_run(c, SQL_PLACES_PUT, &rows, f, NULL);
}

/* ---- whom to tell ---- */

static void columns_tells(
        struct columns *at_commit, struct columns *in_lanes, const struct store_step *st)
{
    static const struct store_tell dashboard = {
            .method = "dashboard", .target = "", .at_commit = true};
    const struct store_tell *all = st->ntells ? st->tells : &dashboard;
    for (size_t i = 0; i < (st->ntells ? st->ntells : 1); i++) {
        const struct store_tell *t = &all[i];
        struct columns *rows = t->at_commit ? at_commit : in_lanes;
        columns_int(rows, st->ret_id);
        columns_int(rows, (int64_t)i + (t->of_operator ? 1000 : 0));
        columns_text(rows, t->method);
        columns_text(rows, t->target ? t->target : "");
        if (t->at_commit)
            continue;
        columns_bool(rows, t->combined);
        columns_bool(rows, st->tell_every > 0 && !t->of_operator);
    }
}

enum err put_tells(struct conn *c, const struct store_step *steps, size_t n,
        struct arena *scratch, struct fault *f)
{
    COLUMNS(telling, scratch, 5);
    COLUMNS(at_commit, scratch, 4);
    COLUMNS(in_lanes, scratch, 6);
    for (size_t i = 0; i < n; i++) {
        const struct store_step *st = &steps[i];
        columns_int(&telling, st->ret_id);
        columns_int(&telling, st->tell_every);
        columns_text(&telling, st->topic);
        columns_int(&telling, st->priority ? st->priority : 1);
        columns_text(&telling, st->presentation ? st->presentation : "only");
        columns_tells(&at_commit, &in_lanes, st);
    }
    enum err e = columns_run(c, SQL_TELLING_PUT, &telling, f, NULL);
    if (!e)
        e = columns_run(c, SQL_TELLS_PUT, &at_commit, f, NULL);
    return e ? e : columns_run(c, SQL_TELLS_PUT_IN_LANES, &in_lanes, f, NULL);
}

/* ---- sentinels ---- */

static void columns_sentinel(struct columns *rows, const struct store_step *st)
{
    columns_text(rows, st->name);
    columns_text(rows, st->owner ? st->owner : "");
    columns_text(rows, st->definition ? st->definition : "");
    columns_text(rows, st->monitor ? st->monitor : "");
    columns_text(rows, st->fetch ? st->fetch : "");
    columns_text(rows, st->compare ? st->compare : "");
    columns_text(rows, st->state);
    columns_id(rows, st->ret_page_id);
    columns_int(rows, st->base_version);
    columns_time(rows, st->installed_at);
    columns_time(rows, st->starts_at);
    columns_time(rows, st->ends_at);
    columns_time(rows, st->started_at);
    columns_time(rows, st->ended_at);
    columns_text(rows, st->end_reason);
    columns_time(rows, st->entered_at);
    columns_text(rows, st->from_point);
    columns_text(rows, st->from_of);
    columns_text(rows, st->to_point);
    columns_text(rows, st->to_of);
    columns_int(rows, st->change_history);
}

/* The rows that were made, (id, name) in the order of the steps: (2). */
static enum err take_ids(struct store_step *steps, size_t n, const PGresult *r,
        struct arena *scratch, struct fault *f)
{
    for (size_t i = 0; i < n; i++) {
        if ((int)i >= PQntuples(r) ||
                strcmp(PQgetvalue(r, (int)i, 1), text_clean(scratch, steps[i].name)) != 0)
            return name_taken(steps[i].name, f);
        steps[i].ret_id = result_int(r, (int)i, 0);
    }
    return OK;
}

static enum err put_sentinels(struct conn *c, struct store_step *steps, size_t n,
        struct arena *scratch, struct fault *f)
{
    RESULT r = NULL;
    COLUMNS(rows, scratch, 21);
    for (size_t i = 0; i < n; i++)
        columns_sentinel(&rows, &steps[i]);
    enum err e = columns_run(c, SQL_SENTINELS_PUT, &rows, f, &r);
    if (!e)
        e = take_ids(steps, n, r, scratch, f);
    CRASH_POINT("after_sentinel_row");
    if (e)
        return e;
    COLUMNS(ids, scratch, 1);
    for (size_t i = 0; i < n; i++)
        columns_int(&ids, steps[i].ret_id);
    return columns_run(c, SQL_SENTINEL_STATES_PUT, &ids, f, NULL);
}

enum err create_sentinels(struct conn *c, struct store_step *steps, size_t n,
        struct arena *scratch, struct fault *f)
{
    for (size_t i = 0; i < n; i++)
        steps[i].ret_page_id = 0;
    enum err e = put_pages(c, steps, n, scratch, f);
    if (!e)
        e = put_sentinels(c, steps, n, scratch, f);
    if (!e)
        e = put_places(c, steps, n, scratch, f);
    if (!e)
        e = put_tells(c, steps, n, scratch, f);
    CRASH_POINT("after_step_create");
    return e;
}
