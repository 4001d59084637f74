/* Replay: stored versions once more through the graph, in the order of time.
 *
 *  (1) Sentinels of one page and interval share a stream, as they would in an engine.
 *  (2) A version is read when somebody sees it and given up when nobody will compare with it
 *      any more, so a long history needs the memory of a short one.
 */
#include "engine/replay.h"
#include "engine/joint.h"
#include "engine/question.h"
#include "page/page.h"
#include "page/worker.h"
#include <stdlib.h>

struct kept_version {
    int64_t number;
    msec fetched_at;
    struct arena *arena; /* NULL: not read */
    struct cdg_version seen;
};

struct kept_page {
    const char *url, *request;
    int64_t id;
    struct kept_version *all;
    size_t count;
    bool wants_source;
};

struct replay_stream {
    int64_t id;
    struct kept_page *page;
    msec period;    /* 0: on change */
    msec beginning; /* of its ticks */
    size_t next;    /* the version it sees next */
    msec next_at;   /* and when; MSEC_NEVER: none is left */
    int64_t position;
    struct seen seen;
};

struct replay_sentinel {
    const struct sentinel *sentinel;
    struct replay_figures *figures;
    const struct cdg_joint_part *parts;
    size_t nparts;
    const char **urls; /* by place */
    const char *request;
    unsigned nplaces;
    struct cdg_joint *joint; /* NULL: one page */
    char **answers;          /* what its questions remember, by place */
    struct list told;
    int64_t old_version; /* of the part that was found last */
};

struct replaying {
    struct arena *life;
    struct store *store;
    const struct replay_options *o;
    struct cdg *cdg;
    struct page_worker *reader; /* bodies are read by nobody else; NULL: none was needed */
    struct kept_page *pages;
    struct replay_stream *streams;
    struct replay_sentinel *sentinels;
    size_t npages, nstreams, nsentinels;
};

/* ---- reading versions ---------------------------------------------------------------- */

static int64_t number_of(const char *text)
{
    int64_t n = 0;
    return text && str_to_int(str_of(text), &n) ? n : 0;
}

static enum err page_load(struct replaying *r, struct kept_page *p, struct fault *f)
{
    const char *params[] = {p->url, p->request};
    struct store_rows *rows;
    enum err e = store_query(r->store, STORE_Q_STORED, 2, params, r->life, f, &rows);
    if (e)
        return e;
    p->count = (size_t)store_rows_count(rows);
    p->all = arena_array_of(r->life, p->count + 1, struct kept_version);
    for (size_t i = 0; i < p->count; i++) {
        p->id = number_of(store_rows_get(rows, (int)i, "page_id"));
        p->all[i].number = number_of(store_rows_get(rows, (int)i, "version"));
        if (!time_parse_iso(store_rows_get(rows, (int)i, "fetched_at"), &p->all[i].fetched_at))
            p->all[i].fetched_at = 0;
    }
    return OK;
}

static enum err load(struct replaying *r, struct kept_page *p, struct kept_version *v,
        bool want_body, struct store_load_job *job, struct fault *f)
{
    *job = (struct store_load_job){
            .job.kind = STORE_JOB_LOAD,
            .page_id = p->id,
            .version = v->number,
            .want_body = want_body,
            .life = v->arena,
    };
    buf_init(&job->digest, PAGE_DIGEST_MAX);
    buf_init(&job->body, PAGE_BODY_MAX);
    return store_run(r->store, &job->job, f);
}

static void open_digest(struct kept_version *v, const struct buf *block)
{
    struct page_digest *digest;
    struct fault f = {0};
    void *copy = arena_memdup(v->arena, block->data, block->len);
    if (page_digest_open(v->arena, copy, block->len, &f, &digest) != OK) {
        v->seen.no_digest = arena_strdup(v->arena, f.message);
        return;
    }
    v->seen.digest = digest;
    v->seen.body = digest->source;
}

/* A digest that was not kept, and the text itself where somebody asks about it. */
static enum err read_body(struct replaying *r, struct kept_version *v,
        const struct store_load_job *job, bool want_text, struct fault *f)
{
    BUF(digest, PAGE_DIGEST_MAX);
    BUF(text, 4 * PAGE_BODY_MAX);
    struct page_wish wish = {
            .source = {job->body.data, job->body.len, job->content_type, job->final_url},
            .digest = v->seen.digest ? NULL : &digest,
            .text = want_text ? &text : NULL,
    };
    struct fault why = {0};
    bool alive = true;
    if (!r->reader && page_worker_start(NULL, f, &r->reader) != OK)
        return f->code;
    enum err e = page_worker_read(r->reader, &wish, r->o->deadline, &why, &alive);
    if (!alive) {
        page_worker_free(r->reader);
        r->reader = NULL;
    }
    if (e == ERR_IO) { /* there is no reader to be had */
        *f = why;
        return e;
    }
    if (e) {
        v->seen.no_digest = arena_strdup(v->arena, why.message);
        return OK;
    }
    if (!v->seen.digest)
        open_digest(v, &digest);
    struct page_source *source = arena_new_of(v->arena, struct page_source);
    *source = (struct page_source){
            .bytes = arena_memdup(v->arena, text.len ? text.data : "", text.len),
            .len = text.len,
            .content_type = "text/plain; charset=utf-8",
    };
    v->seen.source = want_text ? source : NULL;
    return OK;
}

static enum err version_read(
        struct replaying *r, struct kept_page *p, struct kept_version *v, struct fault *f)
{
    struct store_load_job job;
    if (v->arena)
        return OK;
    v->arena = arena_new(r->life, "version");
    v->seen = (struct cdg_version){.number = v->number};
    enum err e = load(r, p, v, p->wants_source, &job, f);
    if (!e && job.digest.len)
        open_digest(v, &job.digest);
    if (!e && job.found && !v->seen.digest && !p->wants_source) {
        buf_done(&job.digest);
        buf_done(&job.body);
        e = load(r, p, v, /* want_body= */ true, &job, f);
    }
    if (!e && job.want_body && job.found)
        e = read_body(r, v, &job, p->wants_source, f);
    buf_done(&job.digest);
    buf_done(&job.body);
    return e;
}

/* (2) */
static void forget_old(struct replaying *r, const struct kept_page *p)
{
    int64_t oldest = INT64_MAX;
    for (size_t i = 0; i < r->nstreams; i++) {
        const struct replay_stream *s = &r->streams[i];
        if (s->page != p || s->next_at == MSEC_NEVER)
            continue;
        int64_t need = s->seen.count ? s->seen.all[0] : 0;
        oldest = need < oldest ? need : oldest;
    }
    for (size_t i = 0; i < p->count && p->all[i].number < oldest; i++) {
        arena_free(p->all[i].arena);
        p->all[i].arena = NULL;
    }
}

/* ---- who sees what when -------------------------------------------------------------- */

/* The first tick at or after `at`. */
static msec tick_from(const struct replay_stream *s, msec at)
{
    if (at <= s->beginning || !s->period)
        return at <= s->beginning ? s->beginning : at;
    return s->beginning + (at - s->beginning + s->period - 1) / s->period * s->period;
}

/* Goes on to the next version that is current at one of its ticks. */
static void stream_advance(struct replaying *r, struct replay_stream *s)
{
    const struct kept_page *p = s->page;
    for (; s->next < p->count; s->next++) {
        msec at = tick_from(s, p->all[s->next].fetched_at);
        msec until = s->next + 1 < p->count ? p->all[s->next + 1].fetched_at : MSEC_NEVER;
        if (at < until && at <= r->o->now) {
            s->next_at = at;
            return;
        }
    }
    s->next_at = MSEC_NEVER;
}

static struct kept_page *page_of(
        struct replaying *r, const struct replay_sentinel *w, unsigned place)
{
    struct kept_page wanted = {.url = w->urls[place], .request = w->request};
    for (size_t i = 0; i < r->npages; i++)
        if (strcmp(r->pages[i].url, wanted.url) == 0 &&
                strcmp(r->pages[i].request, wanted.request) == 0)
            return &r->pages[i];
    r->pages[r->npages] = wanted;
    return &r->pages[r->npages++];
}

static struct replay_stream *stream_of(struct replaying *r, struct kept_page *p, msec period)
{
    for (size_t i = 0; i < r->nstreams; i++)
        if (r->streams[i].page == p && r->streams[i].period == period)
            return &r->streams[i]; /* (1) */
    struct replay_stream *s = &r->streams[r->nstreams++];
    *s = (struct replay_stream){.id = (int64_t)r->nstreams, .page = p, .period = period};
    return s;
}

static void streams_begin(struct replaying *r)
{
    for (size_t i = 0; i < r->nstreams; i++) {
        struct replay_stream *s = &r->streams[i];
        msec first = s->page->count ? s->page->all[0].fetched_at : 0;
        s->beginning = r->o->since == MSEC_NEVER || r->o->since < first ? first : r->o->since;
        while (s->next + 1 < s->page->count &&
                s->page->all[s->next + 1].fetched_at <= s->beginning)
            s->next++;
        stream_advance(r, s);
    }
}

/* ---- sentinels ----------------------------------------------------------------------- */

static enum err ask(struct replaying *r, struct replay_sentinel *w, unsigned place,
        const struct grammar_definition *d, struct fault *f)
{
    struct kept_page *p = page_of(r, w, place);
    struct replay_stream *s = stream_of(r, p, d->fetch_every);
    for (size_t i = 0; i < w->nparts; i++) {
        if (w->parts[i].place != place)
            continue;
        p->wants_source |= cdg_wants_source(w->parts[i].expr);
        struct cdg_subscription sub = {
                .page_id = s->id,
                .sentinel_id = w - r->sentinels,
                .part = (unsigned)i,
                .expr = w->parts[i].expr,
                .compare = question_compare(d->compare),
        };
        enum err e = cdg_join(r->cdg, &sub, f);
        if (e)
            return e;
    }
    return OK;
}

static enum err sentinel_begin(struct replaying *r, struct replay_sentinel *w, struct fault *f)
{
    const struct sentinel *s = w->sentinel;
    const struct grammar_definition *d = sentinel_parse(s, r->life);
    const struct cdg_expr *expr;
    CHECK(d); /* it was planned a moment ago */
    w->nplaces = 1 + (s->further ? s->further->count : 0);
    w->urls = arena_array_of(r->life, w->nplaces, const char *);
    w->answers = arena_array_of(r->life, w->nplaces, char *);
    w->urls[0] = s->url;
    w->request = sentinel_words(s, r->life).request;
    for (unsigned i = 1; i < w->nplaces; i++)
        w->urls[i] = s->further->all[i - 1].url;
    list_init(&w->told);
    enum err e = question_of_pages(r->life, d, f, &expr);
    if (!e && w->nplaces > 1) {
        e = cdg_joint_form(r->life, expr, f, &w->parts, &w->nparts);
        w->joint = e ? NULL : cdg_joint_new(w->parts, w->nparts, d->within);
    } else if (!e) {
        struct cdg_joint_part *whole = arena_new_of(r->life, struct cdg_joint_part);
        whole->expr = expr;
        w->parts = whole;
        w->nparts = 1;
    }
    for (unsigned i = 0; !e && i < w->nplaces; i++)
        e = ask(r, w, i, d, f);
    return e;
}

static void tell(struct replaying *r, struct replay_sentinel *w, const char *url,
        const struct store_change *c, int64_t new_version, msec at)
{
    struct shown_change shown = {
            .sentinel = w->sentinel->name,
            .url = url,
            .summary = c->summary,
            .detail = c->detail,
            .old_version = c->old_version,
            .new_version = new_version,
            .inserted = c->inserted,
            .deleted = c->deleted,
            .updated = c->updated,
            .moved = c->moved,
            .at = at,
    };
    w->figures->changes++;
    r->o->told(&shown, r->o->arg);
}

/* What was collected, filed under the newest version in it. */
static void tell_joint(struct replaying *r, struct replay_sentinel *w, msec at)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "joint");
    struct store_change change;
    if (list_is_empty(&w->told))
        return;
    const struct cdg_constituent *newest =
            joint_merge(scratch, &w->told, w->parts, w->urls, &change);
    tell(r, w, w->urls[w->parts[newest->part].place], &change, newest->new_version, at);
    cdg_constituents_free(&w->told);
}

static void pass_time(struct replaying *r, struct replay_sentinel *w, msec now)
{
    unsigned conjunct;
    msec at;
    while (w->joint && cdg_joint_due(w->joint, now, &w->told, &conjunct, &at))
        tell_joint(r, w, at);
}

static void take_verdict(
        struct replaying *r, const struct cdg_verdict *v, const char *url, msec at)
{
    struct replay_sentinel *w = &r->sentinels[v->sentinel_id];
    const struct cdg_finding *found = v->finding;
    if (v->state.ptr) {
        char **answers = &w->answers[w->parts[v->part].place], *before = *answers;
        *answers = answers_with(before, v->part, v->state);
        free(before);
    }
    if (found->result == CDG_U) {
        w->figures->unknown++;
        w->figures->reason = arena_strdup(r->life, found->summary);
    }
    if (!w->joint) {
        struct store_change c = {
                .old_version = found->old_version,
                .inserted = found->inserted,
                .deleted = found->deleted,
                .updated = found->updated,
                .moved = found->moved,
                .summary = found->summary,
                .detail = found->detail,
        };
        if (found->result == CDG_C)
            tell(r, w, url, &c, found->new_version, at);
        return;
    }
    bool forbids = cdg_joint_forbids(w->joint, v->part);
    if (found->result == CDG_N || (found->result == CDG_U && !forbids))
        return;
    struct cdg_constituent c = {
            .part = v->part,
            .at = at,
            .old_version = found->old_version,
            .new_version = found->new_version,
            .inserted = found->inserted,
            .deleted = found->deleted,
            .updated = found->updated,
            .moved = found->moved,
            .summary = found->summary,
            .detail = forbids ? NULL : found->detail,
    };
    pass_time(r, w, at - 1);
    (void)cdg_joint_take(w->joint, &c, &w->told); /* nothing of this is to be stored */
}

/* A version that is being seen. */
struct seeing {
    struct replaying *r;
    const struct kept_page *page;
};

/* ---- the run -------------------------------------------------------------------------- */

static struct str give_state(int64_t sentinel_id, unsigned part, void *arg)
{
    const struct seeing *s = arg;
    const struct replay_sentinel *w = &s->r->sentinels[sentinel_id];
    return answers_get(w->answers[w->parts[part].place], part);
}

static const struct cdg_version *give_old(int64_t number, void *arg)
{
    const struct kept_page *p = ((const struct seeing *)arg)->page;
    for (size_t i = 0; i < p->count; i++)
        if (p->all[i].number == number)
            return p->all[i].arena ? &p->all[i].seen : NULL;
    return NULL;
}

static enum err read_needed(
        struct replaying *r, struct kept_page *p, const struct cdg_plan *plan, struct fault *f)
{
    const int64_t *needs;
    size_t n = cdg_plan_needs(plan, &needs);
    enum err e = OK;
    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; !e && k < n; k++)
            if (p->all[i].number == needs[k])
                e = version_read(r, p, &p->all[i], f);
    return e;
}

static enum err see(struct replaying *r, struct replay_stream *s, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "see");
    struct kept_page *p = s->page;
    struct kept_version *v = &p->all[s->next];
    struct cdg_look look = {s->id, s->position + 1, s->seen.all, s->seen.count};
    struct cdg_plan *plan = s->position ? cdg_plan_take_looks(r->cdg, &look, 1) : NULL;
    const struct cdg_verdict *verdicts;
    enum err e = OK;
    if (plan) {
        e = version_read(r, p, v, f);
        if (!e)
            e = read_needed(r, p, plan, f);
        struct seeing seeing = {r, p};
        size_t n = e ? 0
                     : cdg_plan_run_states(plan, &v->seen, give_old, give_state, &seeing,
                               scratch, &verdicts);
        for (size_t i = 0; i < n; i++)
            take_verdict(r, &verdicts[i], p->url, s->next_at);
        for (size_t i = 0; i < r->nsentinels; i++)
            tell_joint(r, &r->sentinels[i], s->next_at);
        cdg_plan_give_back(r->cdg, plan);
    }
    seen_push(&s->seen, v->number);
    s->position++;
    int64_t oldest = cdg_oldest_needed(r->cdg, s->id, s->position);
    seen_keep(&s->seen, oldest < s->position ? (size_t)(s->position - oldest) + 1 : 1);
    s->next++;
    stream_advance(r, s);
    forget_old(r, p);
    return e;
}

static struct replay_stream *next_stream(struct replaying *r)
{
    struct replay_stream *first = NULL;
    for (size_t i = 0; i < r->nstreams; i++)
        if (r->streams[i].next_at != MSEC_NEVER &&
                (!first || r->streams[i].next_at < first->next_at))
            first = &r->streams[i];
    return first;
}

static void figures_of(struct replaying *r)
{
    for (size_t i = 0; i < r->nsentinels; i++) {
        struct replay_sentinel *w = &r->sentinels[i];
        for (unsigned k = 0; k < w->nplaces; k++) {
            struct kept_page *p = page_of(r, w, k);
            w->figures->versions += (size_t)stream_of(r, p, w->sentinel->fetch_every)->position;
            if (!p->count)
                w->figures->without = p->url;
        }
    }
}

static void replay_done(struct replaying *r)
{
    page_worker_free(r->reader);
    for (size_t i = 0; i < r->nstreams; i++)
        seen_done(&r->streams[i].seen);
    for (size_t i = 0; i < r->nsentinels; i++) {
        for (unsigned k = 0; k < r->sentinels[i].nplaces; k++)
            free(r->sentinels[i].answers[k]);
        cdg_constituents_free(&r->sentinels[i].told);
        cdg_joint_free(r->sentinels[i].joint);
    }
}

enum err replay(struct arena *life, struct store *store, struct sentinel *const *sentinels,
        size_t n, const struct replay_options *o, struct fault *f,
        struct replay_figures *figures)
{
    struct replaying r = {.life = life, .store = store, .o = o, .cdg = cdg_new(life)};
    size_t places = 0;
    enum err e = OK;
    struct replay_stream *s;
    page_start();
    for (size_t i = 0; i < n; i++)
        places += 1 + (sentinels[i]->further ? sentinels[i]->further->count : 0);
    r.pages = arena_array_of(life, places + 1, struct kept_page);
    r.streams = arena_array_of(life, places + 1, struct replay_stream);
    r.sentinels = arena_array_of(life, n + 1, struct replay_sentinel);
    for (; !e && r.nsentinels < n; r.nsentinels++) {
        struct replay_sentinel *w = &r.sentinels[r.nsentinels];
        w->sentinel = sentinels[r.nsentinels];
        w->figures = &figures[r.nsentinels];
        *w->figures = (struct replay_figures){.versions = 0};
        e = sentinel_begin(&r, w, f);
    }
    for (size_t i = 0; !e && i < r.npages; i++)
        e = page_load(&r, &r.pages[i], f);
    if (!e)
        streams_begin(&r);
    while (!e && (s = next_stream(&r)))
        e = see(&r, s, f);
    for (size_t i = 0; !e && i < n; i++)
        pass_time(&r, &r.sentinels[i], o->now);
    if (!e)
        figures_of(&r);
    replay_done(&r);
    return e;
}
