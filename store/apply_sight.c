/* What sentinels keep in mind of their pages, inside the transaction that is open. */
#include "store/apply.h"

/* {1,2}: an array inside a column of them. */
static const char *numbers(struct arena *scratch, const int64_t *all, size_t n)
{
    enum { NUMBER_MAX = 24 };
    BUF(list, arena_array_bytes(n + 1, NUMBER_MAX));
    array_begin(&list);
    for (size_t i = 0; i < n; i++)
        array_int(&list, all[i]);
    array_end(&list);
    return n ? arena_strdup(scratch, buf_text(&list)) : NULL;
}

enum err put_sights(struct conn *c, const struct store_sight *sights, size_t n,
        struct arena *scratch, struct fault *f)
{
    COLUMNS(rows, scratch, 5);
    for (size_t i = 0; i < n; i++) {
        const struct store_sight *s = &sights[i];
        columns_int(&rows, s->sentinel_id);
        columns_int(&rows, s->place);
        columns_int(&rows, s->since);
        columns_text(&rows, numbers(scratch, s->seen, s->nseen));
        columns_text(&rows, s->answers);
    }
    return columns_run(c, SQL_SIGHTS_PUT, &rows, f, NULL);
}

enum err put_notes(struct conn *c, const struct store_version_job *job, struct arena *scratch,
        struct fault *f)
{
    COLUMNS(rows, scratch, 4);
    for (size_t i = 0; i < job->nnotes; i++) {
        columns_int(&rows, job->notes[i].sentinel_id);
        columns_text(&rows, job->notes[i].kind);
        columns_time(&rows, job->fetched_at);
        columns_text(&rows, job->notes[i].detail);
    }
    return columns_run(c, SQL_NOTES_PUT, &rows, f, NULL);
}

/* ---- conditions over several pages ---- */

static void columns_forget(
        struct columns *rows, int64_t sentinel_id, unsigned conjunct, int part, msec before)
{
    columns_int(rows, sentinel_id);
    columns_int(rows, conjunct);
    columns_int(rows, part);
    columns_time(rows, before);
}

static enum err forget(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f)
{
    COLUMNS(rows, scratch, 4);
    for (size_t i = 0; i < job->nforgets; i++) {
        const struct store_forget *g = &job->forgets[i];
        columns_forget(&rows, g->sentinel_id, g->conjunct, /* part= */ -1, g->before);
    }
    for (size_t i = 0; i < job->nconstituents; i++) {
        const struct store_constituent *k = &job->constituents[i];
        if (k->forbids)
            columns_forget(&rows, k->sentinel_id, k->conjunct, (int)k->part, MSEC_NEVER);
    }
    return columns_run(c, SQL_CONSTITUENTS_FORGET, &rows, f, NULL);
}

enum err put_constituents(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f)
{
    enum err e = forget(c, job, scratch, f);
    COLUMNS(rows, scratch, 13);
    for (size_t i = 0; i < job->nconstituents; i++) {
        const struct store_constituent *s = &job->constituents[i];
        columns_int(&rows, s->sentinel_id);
        columns_int(&rows, s->conjunct);
        columns_int(&rows, s->part);
        columns_bool(&rows, s->forbids);
        columns_int(&rows, s->at);
        columns_int(&rows, s->old_version);
        columns_int(&rows, s->new_version);
        columns_int(&rows, s->inserted);
        columns_int(&rows, s->deleted);
        columns_int(&rows, s->updated);
        columns_int(&rows, s->moved);
        columns_text(&rows, s->summary ? s->summary : "");
        columns_json(&rows, s->detail);
    }
    return e ? e : columns_run(c, SQL_CONSTITUENTS_PUT, &rows, f, NULL);
}
