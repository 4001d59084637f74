/* Versions and all they owe, inside the transaction that is open.
 *
 *  (1) The version's row decides: if it is there already, with the same contents, the whole
 *      job was done before and nothing of it is done again.
 *  (2) A sentinel that was dropped meanwhile loses its change, not the others theirs.
 *  (3) Many versions are written with as little as one: they are taken in batches in which
 *      no page and no sentinel occurs twice, and each step is one statement for a batch.
 */
#include "store/apply.h"
#include "base/crash.h"
#include "base/map.h"

/* How far one job has come. */
struct progress {
    const struct store_version_job *job;
    struct store_version_job packed; /* with what is to be written of body and digest */
    bool is_new;                     /* its row was not there */
    bool was_done;
};

/* What a batch means for one sentinel. */
struct party {
    struct map_node node;
    struct party *next;
    int64_t sentinel_id;
    const struct progress *of;
    const struct store_evaluation *evaluation; /* NULL: shown, not evaluated */
    bool changed;
    bool shown; /* a version of its first page; else one of a further page's */
};

struct batch {
    struct conn *conn;
    struct arena *scratch;
    struct progress *all;
    size_t n;
    struct map met; /* struct party, by sentinel */
    struct party *first, **last;
};

/* ---- what goes together ---- */

static struct party *find_party(const struct batch *b, int64_t sentinel_id)
{
    for (struct map_node *n = map_first(&b->met, map_hash_id((uint64_t)sentinel_id)); n;
            n = map_next(n)) {
        struct party *p = container_of(n, struct party, node);
        if (p->sentinel_id == sentinel_id)
            return p;
    }
    return NULL;
}

static struct party *need_party(struct batch *b, const struct progress *of, int64_t sentinel_id)
{
    struct party *p = find_party(b, sentinel_id);
    if (p)
        return p;
    p = arena_new_of(b->scratch, struct party);
    p->sentinel_id = sentinel_id;
    p->of = of;
    map_insert(&b->met, &p->node, map_hash_id((uint64_t)sentinel_id));
    *b->last = p;
    b->last = &p->next;
    return p;
}

/* Does it concern a page or a sentinel that the batch has met: (3)? */
static bool is_met(const struct batch *b, const struct store_version_job *job)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->all[i].job->fetch.page_id == job->fetch.page_id)
            return true;
    bool met = false;
    for (size_t i = 0; !met && i < job->nevaluations; i++)
        met = find_party(b, job->evaluations[i].sentinel_id);
    for (size_t i = 0; !met && i < job->nchanges; i++)
        met = find_party(b, job->changes[i].sentinel_id);
    for (size_t i = 0; !met && i < job->nseen_by; i++)
        met = find_party(b, job->seen_by[i]);
    return met;
}

static void add(struct batch *b, const struct store_version_job *job)
{
    struct progress *g = &b->all[b->n++];
    *g = (struct progress){.job = job, .packed = *job, .is_new = job->exists};
    if (!job->exists && !job->packed.body)
        store_version_pack(&g->packed, b->scratch);
    for (size_t i = 0; i < job->nevaluations; i++)
        need_party(b, g, job->evaluations[i].sentinel_id)->evaluation = &job->evaluations[i];
    for (size_t i = 0; i < job->nchanges; i++)
        need_party(b, g, job->changes[i].sentinel_id)->changed = true;
    for (size_t i = 0; i < job->nseen_by; i++)
        need_party(b, g, job->seen_by[i])->shown = true;
}

/* ---- body and version ---- */

static enum err cannot_pack(const char *what, size_t bytes, struct fault *f)
{
    return fault_set(f, ERR_LIMIT, "a %s of %zu bytes cannot be compressed", what, bytes);
}

static void columns_sha256(struct columns *c, const struct sha256 *s)
{
    columns_bytes(c, s->bytes, sizeof s->bytes);
}

/* Another one of the batch brings the same body: an earlier one, or one that has it whole. */
static bool is_brought(const struct batch *b, size_t at)
{
    const struct store_version_job *job = &b->all[at].packed;
    for (size_t i = 0; i < b->n; i++) {
        const struct store_version_job *other = &b->all[i].packed;
        bool comes_first = !other->packed.of == !job->packed.of ? i < at : !other->packed.of;
        if (comes_first && !other->exists &&
                sha256_equal(&other->body_sha256, &job->body_sha256))
            return true;
    }
    return false;
}

static enum err put_bodies(struct batch *b, struct fault *f)
{
    COLUMNS(rows, b->scratch, 4);
    for (size_t i = 0; i < b->n; i++) {
        const struct store_version_job *job = &b->all[i].packed;
        const struct store_key *of = job->packed.of;
        if (job->exists || is_brought(b, i) ||
                (of && sha256_equal(&of->body_sha256, &job->body_sha256)))
            continue;
        if (!job->packed.body)
            return cannot_pack("body", job->body_bytes, f);
        columns_sha256(&rows, &job->body_sha256);
        columns_int(&rows, (int64_t)job->body_bytes);
        columns_bytes(&rows, job->packed.body, job->packed.body_bytes);
        columns_bytes(&rows, of ? of->body_sha256.bytes : NULL, sizeof of->body_sha256.bytes);
    }
    return columns_run(b->conn, SQL_BODIES_PUT, &rows, f, NULL);
}

/* The digests that those after them are differences of. */
static enum err put_keys(struct batch *b, struct fault *f)
{
    COLUMNS(rows, b->scratch, 3);
    for (size_t i = 0; i < b->n; i++) {
        const struct store_version_job *job = &b->all[i].packed;
        if (job->exists || job->packed.of || !job->digest)
            continue;
        if (!job->packed.digest)
            return cannot_pack("digest", job->digest_bytes, f);
        columns_int(&rows, job->fetch.page_id);
        columns_int(&rows, job->version);
        columns_bytes(&rows, job->packed.digest, job->packed.digest_bytes);
    }
    return columns_run(b->conn, SQL_KEYS_PUT, &rows, f, NULL);
}

/* Whose page this is; it is probably this one's. */
static struct progress *progress_of(const struct batch *b, int64_t page_id, size_t guess)
{
    for (size_t i = 0; i < b->n; i++) {
        struct progress *g = &b->all[(guess + i) % b->n];
        if (g->job->fetch.page_id == page_id)
            return g;
    }
    CHECK(!"a page of the batch");
    return NULL;
}

static enum err put_version_rows(struct batch *b, struct fault *f)
{
    RESULT r = NULL;
    COLUMNS(rows, b->scratch, 11);
    for (size_t i = 0; i < b->n; i++) {
        const struct store_version_job *job = &b->all[i].packed;
        const struct store_key *of = job->packed.of;
        if (job->exists)
            continue;
        columns_int(&rows, job->fetch.page_id);
        columns_int(&rows, job->version);
        columns_time(&rows, job->fetched_at);
        columns_text(&rows, job->media_type);
        columns_text(&rows, job->content_type);
        columns_text(&rows, job->final_url);
        columns_raw_text(&rows, job->fetch.etag);
        columns_raw_text(&rows, job->fetch.last_modified);
        columns_sha256(&rows, &job->body_sha256);
        columns_bytes(&rows,
                of            ? job->packed.digest
                : job->digest ? ""
                              : NULL,
                of ? job->packed.digest_bytes : 0); /* a key is what it is itself */
        columns_id(&rows, of ? of->version : job->digest ? job->version : 0);
    }
    enum err e = columns_run(b->conn, SQL_VERSIONS_PUT, &rows, f, &r);
    for (int row = 0; !e && r && row < PQntuples(r); row++)
        progress_of(b, result_int(r, row, 0), (size_t)row)->is_new = true;
    return e;
}

/* The row was not written: is it the same one, another one, or is there no such page? */
static enum err check_same(
        struct batch *b, const struct store_version_job *job, struct fault *f)
{
    RESULT r = NULL;
    PARAMS(p, b->scratch);
    params_int(&p, job->fetch.page_id);
    params_int(&p, job->version);
    params_bytes(&p, job->body_sha256.bytes, sizeof job->body_sha256.bytes);
    enum err e = conn_run(b->conn, SQL_VERSION_SAME, &p, f, &r);
    if (e)
        return e;
    if (PQntuples(r) == 0)
        return apply_no_page(job->fetch.page_id, f);
    if (PQgetvalue(r, 0, 0)[0] == 't')
        return OK;
    return fault_set(f, ERR_STORE,
            "version %lld of page %lld is in the store with other contents",
            (long long)job->version, (long long)job->fetch.page_id);
}

/* Rows (id, sentinel_id) of this page from *next on to where the submitter wants them; 0 for
 * those without a row: (2).  The rows stand in the order of the changes, since numbers were
 * given out in that order; those of other jobs of the same version may stand between them. */
static bool give_ids(const struct store_version_job *job, const PGresult *r, int *next)
{
    int rows = PQntuples(r);
    bool any = false;
    for (size_t i = 0; i < job->nchanges; i++) {
        int row = *next;
        while (row < rows && result_int(r, row, 1) != job->changes[i].sentinel_id)
            row++;
        job->ret_change_ids[i] = row < rows ? result_int(r, row, 0) : 0;
        if (row < rows) {
            *next = row + 1;
            any = true;
        }
    }
    return any;
}

static enum err find_changes(
        struct batch *b, const struct store_version_job *job, struct fault *f, bool *ret_any)
{
    RESULT r = NULL;
    int next = 0;
    PARAMS(p, b->scratch);
    params_int(&p, job->fetch.page_id);
    params_int(&p, job->version);
    enum err e = conn_run(b->conn, SQL_CHANGE_IDS, &p, f, &r);
    if (!e)
        *ret_any = give_ids(job, r, &next);
    return e;
}

/* Was it done before?  A version is known by its row; when that was there already and only
 * who looked at it is new, the job is known by its changes: (1). */
static enum err find_out(struct batch *b, struct progress *g, struct fault *f)
{
    const struct store_version_job *job = g->job;
    bool known = false;
    enum err e = g->is_new ? OK : check_same(b, job, f);
    if (!e && job->nchanges && (!g->is_new || job->exists))
        e = find_changes(b, job, f, &known);
    g->was_done = !g->is_new || known;
    if (!e && (!g->was_done || job->exists)) /* putting it twice is putting it once */
        e = put_constituents(b->conn, job, b->scratch, f);
    return e;
}

/* ---- changes and what is owed for them ---- */

static void column_changes(struct columns *rows, const struct store_version_job *job)
{
    for (size_t i = 0; i < job->nchanges; i++) {
        const struct store_change *ch = &job->changes[i];
        columns_int(rows, ch->sentinel_id);
        columns_int(rows, job->fetch.page_id);
        columns_int(rows, ch->old_version);
        columns_int(rows, job->version);
        columns_time(rows, job->fetched_at);
        columns_int(rows, ch->inserted);
        columns_int(rows, ch->deleted);
        columns_int(rows, ch->updated);
        columns_int(rows, ch->moved);
        columns_text(rows, ch->summary ? ch->summary : "");
        columns_json(rows, ch->detail);
    }
}

static enum err put_changes(struct batch *b, struct fault *f)
{
    RESULT r = NULL;
    int next = 0;
    COLUMNS(rows, b->scratch, 11);
    for (size_t i = 0; i < b->n; i++)
        if (!b->all[i].was_done)
            column_changes(&rows, b->all[i].job);
    enum err e = columns_run(b->conn, SQL_CHANGES_PUT, &rows, f, &r);
    for (size_t i = 0; !e && r && i < b->n; i++)
        if (!b->all[i].was_done)
            (void)give_ids(b->all[i].job, r, &next); /* none, when all who asked are gone */
    return e;
}

/* One for each receiver of each change, by what is known of the sentinels. */
static enum err owe(struct batch *b, struct fault *f)
{
    COLUMNS(rows, b->scratch, 4);
    for (size_t k = 0; k < b->n; k++) {
        const struct store_version_job *job = b->all[k].job;
        for (size_t i = 0; !b->all[k].was_done && i < job->nchanges; i++) {
            if (!job->ret_change_ids[i])
                continue; /* (2) */
            columns_int(&rows, job->changes[i].sentinel_id);
            columns_int(&rows, job->ret_change_ids[i]);
            columns_int(&rows, job->changes[i].tick ? job->changes[i].tick : job->fetched_at);
            columns_int(&rows, job->fetched_at);
        }
    }
    return columns_run(b->conn, SQL_OWE, &rows, f, NULL);
}

/* ---- what sentinels and pages know of it ---- */

static const char *result_word(const struct store_evaluation *v)
{
    return !v                 ? NULL
           : v->result == 'C' ? "changed"
           : v->result == 'N' ? "unchanged"
                              : "not computed";
}

static enum err note_parties(struct batch *b, struct fault *f)
{
    COLUMNS(rows, b->scratch, 6);
    for (const struct party *p = b->first; p; p = p->next) {
        if (p->of->was_done)
            continue;
        columns_int(&rows, p->sentinel_id);
        columns_int(&rows, p->shown ? p->of->job->version : 0);
        columns_time(&rows, p->of->job->fetched_at);
        columns_text(&rows, result_word(p->evaluation));
        columns_text(&rows, p->evaluation ? p->evaluation->reason : NULL);
        columns_int(&rows, p->changed);
    }
    return columns_run(b->conn, SQL_SENTINELS_SAW, &rows, f, NULL);
}

static enum err note_pages(struct batch *b, struct fault *f)
{
    COLUMNS(rows, b->scratch, PAGE_COLUMNS);
    for (size_t i = 0; i < b->n; i++) {
        const struct store_version_job *job = b->all[i].job;
        if (b->all[i].was_done)
            continue;
        columns_page(&rows, &job->fetch);
        columns_id(&rows, job->exists ? 0 : job->version);
        columns_bytes(&rows, job->exists ? NULL : job->body_sha256.bytes,
                sizeof job->body_sha256.bytes);
        columns_time(&rows, job->fetched_at);
    }
    return columns_run(b->conn, SQL_PAGES_SAW, &rows, f, NULL);
}

static enum err put_memories(struct batch *b, struct fault *f)
{
    enum err e = OK;
    for (size_t i = 0; !e && i < b->n; i++) {
        const struct store_version_job *job = b->all[i].job;
        if (b->all[i].was_done)
            continue;
        if (job->nnotes)
            e = put_notes(b->conn, job, b->scratch, f);
        if (!e && job->nsights)
            e = put_sights(b->conn, job->sights, job->nsights, b->scratch, f);
    }
    return e;
}

/* ---- the whole ---- */

static enum err write_batch(struct batch *b, struct fault *f)
{
    enum err e = put_bodies(b, f);
    CRASH_POINT("after_body_row");
    if (!e)
        e = put_keys(b, f);
    CRASH_POINT("after_key_row");
    if (!e)
        e = put_version_rows(b, f);
    for (size_t i = 0; !e && i < b->n; i++)
        e = find_out(b, &b->all[i], f);
    CRASH_POINT("after_version_row");
    if (!e)
        e = put_changes(b, f);
    CRASH_POINT("after_change_rows");
    if (!e)
        e = owe(b, f);
    CRASH_POINT("after_notices");
    if (!e)
        e = note_parties(b, f);
    CRASH_POINT("after_sentinel_states");
    if (!e)
        e = put_memories(b, f);
    CRASH_POINT("after_memories");
    if (!e)
        e = note_pages(b, f);
    CRASH_POINT("after_page_state");
    return e;
}

enum err apply_versions(struct conn *c, struct store_version_job *const *jobs, size_t n,
        struct arena *scratch, struct fault *f)
{
    enum err e = OK;
    for (size_t at = 0; !e && at < n;) {
        struct batch b = {.conn = c, .scratch = scratch, .last = &b.first};
        b.all = arena_array_of(scratch, n - at, struct progress);
        map_init(&b.met);
        do
            add(&b, jobs[at++]);
        while (at < n && !is_met(&b, jobs[at]));
        e = write_batch(&b, f);
        map_done(&b.met);
    }
    return e;
}
