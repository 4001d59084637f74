/* What sentinels keep in mind of their pages, inside the transaction that is open. */
#include "store/store_int.h"

enum { ARRAY_MAX_BYTES = 256 << 20 };

static enum err too_big(struct fault *f, const char *what)
{
    return fault_set(f, ERR_LIMIT, "%s takes more than %d MB", what, ARRAY_MAX_BYTES >> 20);
}

static void array_numbers(struct buf *b, struct arena *scratch, const struct store_sight *s)
{
    BUF(list, ARRAY_MAX_BYTES);
    array_begin(&list);
    for (size_t i = 0; i < s->nseen; i++)
        array_int(&list, s->seen[i]);
    array_end(&list);
    array_text(b, scratch, s->nseen ? buf_text(&list) : NULL);
}

enum err put_sights(struct conn *c, const struct store_sight *sights, size_t n,
        struct arena *scratch, struct fault *f)
{
    BUF(sentinels, ARRAY_MAX_BYTES);
    BUF(places, ARRAY_MAX_BYTES);
    BUF(since, ARRAY_MAX_BYTES);
    BUF(seen, ARRAY_MAX_BYTES);
    BUF(answers, ARRAY_MAX_BYTES);
    struct buf *all[] = {&sentinels, &places, &since, &seen, &answers};
    for (size_t k = 0; k < countof(all); k++)
        array_begin(all[k]);
    for (size_t i = 0; i < n; i++) {
        const struct store_sight *s = &sights[i];
        array_int(&sentinels, s->sentinel_id);
        array_int(&places, s->place);
        array_int(&since, s->since);
        array_numbers(&seen, scratch, s);
        array_text(&answers, scratch, s->answers);
    }
    PARAMS(p, scratch);
    for (size_t k = 0; k < countof(all); k++) {
        array_end(all[k]);
        if (all[k]->overflowed)
            return too_big(f, "what sentinels remember");
        params_text(&p, buf_text(all[k]));
    }
    return conn_run(c, SQL_SIGHTS_PUT, &p, f, NULL);
}

enum err put_notes(struct conn *c, const struct store_version_job *job, struct arena *scratch,
        struct fault *f)
{
    BUF(sentinels, ARRAY_MAX_BYTES);
    BUF(kinds, ARRAY_MAX_BYTES);
    BUF(details, ARRAY_MAX_BYTES);
    struct buf *all[] = {&sentinels, &kinds, &details};
    for (size_t k = 0; k < countof(all); k++)
        array_begin(all[k]);
    for (size_t i = 0; i < job->nnotes; i++) {
        array_int(&sentinels, job->notes[i].sentinel_id);
        array_text(&kinds, scratch, job->notes[i].kind);
        array_text(&details, scratch, job->notes[i].detail);
    }
    PARAMS(p, scratch);
    params_time(&p, job->fetched_at);
    for (size_t k = 0; k < countof(all); k++) {
        array_end(all[k]);
        if (all[k]->overflowed)
            return too_big(f, "what is to be told");
        params_text(&p, buf_text(all[k]));
    }
    return conn_run(c, SQL_NOTES_PUT, &p, f, NULL);
}

/* ---- conditions over several pages ---- */

static enum err forget(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f)
{
    BUF(sentinels, ARRAY_MAX_BYTES);
    BUF(conjuncts, ARRAY_MAX_BYTES);
    BUF(parts, ARRAY_MAX_BYTES);
    BUF(before, ARRAY_MAX_BYTES);
    struct buf *all[] = {&sentinels, &conjuncts, &parts, &before};
    for (size_t k = 0; k < countof(all); k++)
        array_begin(all[k]);
    for (size_t i = 0; i < job->nforgets; i++) {
        const struct store_forget *g = &job->forgets[i];
        array_int(&sentinels, g->sentinel_id);
        array_int(&conjuncts, g->conjunct);
        array_int(&parts, -1);
        if (g->before == MSEC_NEVER)
            array_null(&before);
        else
            array_int(&before, g->before);
    }
    for (size_t i = 0; i < job->nconstituents; i++) {
        const struct store_constituent *k = &job->constituents[i];
        if (!k->forbids)
            continue;
        array_int(&sentinels, k->sentinel_id);
        array_int(&conjuncts, k->conjunct);
        array_int(&parts, k->part);
        array_null(&before);
    }
    PARAMS(p, scratch);
    for (size_t k = 0; k < countof(all); k++) {
        array_end(all[k]);
        if (all[k]->overflowed)
            return too_big(f, "what is to be forgotten");
        params_text(&p, buf_text(all[k]));
    }
    return conn_run(c, SQL_CONSTITUENTS_FORGET, &p, f, NULL);
}

enum err put_constituents(struct conn *c, const struct store_version_job *job,
        struct arena *scratch, struct fault *f)
{
    enum { NUMBERS = 11, COLUMNS = 13, FORBIDS = 3 };
    struct buf a[COLUMNS];
    enum err e = job->nforgets || job->nconstituents ? forget(c, job, scratch, f) : OK;
    if (e || !job->nconstituents)
        return e;
    PARAMS(p, scratch);
    for (int k = 0; k < COLUMNS; k++) {
        buf_init(&a[k], ARRAY_MAX_BYTES);
        array_begin(&a[k]);
        for (size_t i = 0; i < job->nconstituents; i++) {
            const struct store_constituent *s = &job->constituents[i];
            const int64_t numbers[NUMBERS] = {s->sentinel_id, s->conjunct, s->part, s->forbids,
                    s->at, s->old_version, s->new_version, s->inserted, s->deleted, s->updated,
                    s->moved};
            if (k == FORBIDS)
                array_bool(&a[k], s->forbids);
            else if (k < NUMBERS)
                array_int(&a[k], numbers[k]);
            else if (k == NUMBERS)
                array_text(&a[k], scratch, s->summary ? s->summary : "");
            else
                array_text(&a[k], scratch, s->detail ? json_clean(scratch, s->detail) : NULL);
        }
        array_end(&a[k]);
        if (a[k].overflowed)
            e = too_big(f, "what waits for other pages");
        params_text(&p, buf_text(&a[k]));
    }
    if (!e)
        e = conn_run(c, SQL_CONSTITUENTS_PUT, &p, f, NULL);
    for (int k = 0; k < COLUMNS; k++)
        buf_done(&a[k]);
    return e;
}
