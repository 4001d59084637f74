/* The sweeper's thread: which pages have their turn, and when.
 *
 * A page that got a version is noted and seen to when things have calmed down a little; all
 * pages are seen to in a round, from time to time, since versions also grow old.  Mostly a new
 * version is a difference and only lets older ones go; digests and bodies are looked through
 * when it is the page's next key, for then what the last key was needed for may be over.
 *
 *  (1) Whoever notes a page never waits for the database.
 *  (2) What failed is not repeated at once: it will be met in the next round.
 *  (3) When more is kept than is wanted, younger versions are released too, but never what
 *      is needed.
 */
#include "base/lock.h"
#include "base/str.h"
#include "store/store_int.h"
#include <signal.h>
#include <stdlib.h>

enum { NOTES = 1 << 14, PAGES = 64 };

static const msec calm = 2 * MSEC_PER_SECOND;
static const msec longest_nap = 30 * MSEC_PER_SECOND;
static const msec patience = 6 * MSEC_PER_MINUTE;

struct note {
    int64_t page_id;
    bool is_next_key;
};

/* The pages that have their turn together, and those of them with another key. */
struct turn {
    int64_t pages[PAGES], keyed[PAGES];
    size_t n, nkeyed;
};

struct store_sweeper {
    /* constant */
    struct store *store;
    struct store_sweep_options options;
    pthread_t thread;
    atomic_bool stop;

    struct lock lock;
    pthread_cond_t changed;
    /* under lock */
    struct note notes[NOTES];
    size_t nnotes;
    bool too_many; /* notes were dropped: a round is due */
    struct store_sweep_figures figures;

    /* the thread */
    struct conn conn;
    msec keep;       /* shortened while too much is kept */
    msec next_round; /* monotonic */
    unsigned failed; /* in a row */
};

void sweeper_note(struct store_sweeper *w, int64_t page_id, bool is_next_key)
{
    lock_take(&w->lock);
    struct note *known = NULL; /* mostly the same few pages in a row */
    for (size_t i = w->nnotes; !known && i > 0 && i + 16 > w->nnotes; i--)
        if (w->notes[i - 1].page_id == page_id)
            known = &w->notes[i - 1];
    if (known)
        known->is_next_key |= is_next_key;
    else if (w->nnotes < NOTES)
        w->notes[w->nnotes++] = (struct note){page_id, is_next_key};
    else
        w->too_many = true;
    if (w->nnotes == 1)
        pthread_cond_broadcast(&w->changed);
    lock_release(&w->lock);
}

/* ---- turns ---- */

static enum err connect(struct store_sweeper *w, struct fault *f)
{
    if (w->conn.pg && PQstatus(w->conn.pg) == CONNECTION_OK)
        return OK;
    struct conn_target t;
    store_target(w->store, &t);
    t.name = "vigil sweeper";
    enum err e = conn_open(&w->conn, &t, 10 * MSEC_PER_SECOND, f);
    if (!e)
        e = conn_run(&w->conn, SQL_SWEEP_SESSION, NULL, f, NULL);
    return e;
}

static msec cutoff_of(const struct store_sweeper *w)
{
    msec now = clock_wall(w->store->options.clock);
    return w->keep == MSEC_NEVER || w->keep > now ? 0 : now - w->keep;
}

static void add_figures(struct store_sweeper *w, const struct sweep_tally *t)
{
    lock_take(&w->lock);
    w->figures.released += t->released;
    w->figures.packed += t->packed;
    w->figures.saved_bytes += t->saved_bytes;
    lock_release(&w->lock);
}

static const char *array_of(struct buf *array, const int64_t *pages, size_t n)
{
    buf_clear(array);
    array_begin(array);
    for (size_t i = 0; i < n; i++)
        array_int(array, pages[i]);
    array_end(array);
    return buf_text(array);
}

static enum err take_turn(struct store_sweeper *w, const struct turn *turn, struct fault *f)
{
    BUF(array, 1 << 20);
    struct sweep_tally t = {0};
    enum err e = sweep_release(
            &w->conn, array_of(&array, turn->pages, turn->n), cutoff_of(w), &t, f);
    if (!e && turn->nkeyed)
        e = sweep_digests(&w->conn, array_of(&array, turn->keyed, turn->nkeyed), f);
    for (size_t i = 0; !e && i < turn->nkeyed && !atomic_load(&w->stop); i++)
        e = sweep_pack(&w->conn, turn->keyed[i], &t, f);
    add_figures(w, &t);
    return e;
}

static void join_turn(struct turn *t, const struct note *note)
{
    bool known = false, is_keyed = false;
    for (size_t i = 0; !known && i < t->n; i++)
        known = t->pages[i] == note->page_id;
    if (!known)
        t->pages[t->n++] = note->page_id;
    for (size_t i = 0; !is_keyed && i < t->nkeyed; i++)
        is_keyed = t->keyed[i] == note->page_id;
    if (note->is_next_key && !is_keyed)
        t->keyed[t->nkeyed++] = note->page_id;
}

/* Some of the noted pages, each once; none when there are none. */
static void take_notes(struct store_sweeper *w, struct turn *t)
{
    t->n = t->nkeyed = 0;
    lock_take(&w->lock);
    while (w->nnotes > 0 && t->n < PAGES)
        join_turn(t, &w->notes[--w->nnotes]);
    lock_release(&w->lock);
}

/* In a round every page is looked through. */
static enum err some_pages(
        struct store_sweeper *w, int64_t after, struct fault *f, struct turn *t)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "pages");
    RESULT r = NULL;
    PARAMS(p, scratch);
    params_int(&p, after);
    params_int(&p, PAGES);
    enum err e = conn_run(&w->conn, SQL_SWEEP_PAGES, &p, f, &r);
    t->n = t->nkeyed = 0;
    for (int i = 0; !e && i < PQntuples(r); i++)
        join_turn(t, &(struct note){result_int(r, i, 0), true});
    return e;
}

static enum err all_pages(struct store_sweeper *w, struct fault *f)
{
    struct turn t = {.n = PAGES};
    int64_t after = 0;
    enum err e = OK;
    while (!e && t.n == PAGES && !atomic_load(&w->stop)) {
        e = some_pages(w, after, f, &t);
        if (!e && t.n) {
            e = take_turn(w, &t, f);
            after = t.pages[t.n - 1];
        }
    }
    return e;
}

static enum err count_bytes(
        struct store_sweeper *w, struct fault *f, int64_t *ret_bytes, msec *ret_oldest)
{
    RESULT r = NULL;
    enum err e = conn_run(&w->conn, SQL_SWEEP_BYTES, NULL, f, &r);
    if (e)
        return e;
    *ret_bytes = result_int(r, 0, 0);
    *ret_oldest = result_time(r, 0, 1);
    lock_take(&w->lock);
    w->figures.kept_bytes = *ret_bytes;
    lock_release(&w->lock);
    return OK;
}

/* (3): shortens what is kept in proportion, until it fits or nothing more may go. */
static enum err fit(struct store_sweeper *w, struct fault *f)
{
    int64_t bytes, before = INT64_MAX, most = w->options.keep_bytes;
    msec oldest;
    enum err e = count_bytes(w, f, &bytes, &oldest);
    if (!e && bytes < most / 5 * 4)
        w->keep = w->options.keep;
    while (!e && bytes > most && bytes < before && oldest != MSEC_NEVER &&
            !atomic_load(&w->stop)) {
        msec age = clock_wall(w->store->options.clock) - oldest;
        msec span = w->keep < age ? w->keep : age;
        w->keep = (msec)((double)span * (double)most / (double)bytes * 0.9);
        before = bytes;
        e = all_pages(w, f);
        if (!e)
            e = count_bytes(w, f, &bytes, &oldest);
    }
    return e;
}

static enum err whole_round(struct store_sweeper *w, struct fault *f)
{
    enum err e = all_pages(w, f);
    if (!e && w->options.keep_bytes > 0)
        e = fit(w, f);
    lock_take(&w->lock);
    w->figures.rounds += !e;
    lock_release(&w->lock);
    return e;
}

/* ---- the thread ---- */

/* Until something is noted or a round is due. */
static void wait_for_work(struct store_sweeper *w, msec least)
{
    msec begun = clock_mono(&clock_system);
    lock_take(&w->lock);
    while (!atomic_load(&w->stop)) {
        msec now = clock_mono(&clock_system), until = w->next_round;
        if (w->too_many)
            w->next_round = until = now;
        w->too_many = false;
        if (w->nnotes > 0 && until > begun + least)
            until = begun + least;
        if (until < begun + least && w->failed)
            until = begun + least;
        if (now >= until)
            break;
        lock_wait_for(&w->lock, &w->changed, until - now);
    }
    lock_release(&w->lock);
}

static enum err work(struct store_sweeper *w, struct fault *f)
{
    struct turn t;
    enum err e = connect(w, f);
    while (!e && !atomic_load(&w->stop) && (take_notes(w, &t), t.n > 0))
        e = take_turn(w, &t, f);
    if (!e && !atomic_load(&w->stop) && clock_mono(&clock_system) >= w->next_round) {
        e = whole_round(w, f);
        w->next_round = clock_mono(&clock_system) + w->options.every;
    }
    return e;
}

/* The writing thread tells when the database is away; here it is only remembered. */
static void note_outcome(struct store_sweeper *w, enum err e, const struct fault *f)
{
    lock_take(&w->lock);
    w->figures.failures += e != OK;
    str_copy(w->figures.error, sizeof w->figures.error, e ? f->message : "");
    lock_release(&w->lock);
    w->failed = e ? w->failed + 1 : 0;
    if (e && w->conn.trouble == CONN_LOST)
        conn_close(&w->conn);
}

static void *sweeper_main(void *arg)
{
    struct store_sweeper *w = arg;
    while (!atomic_load(&w->stop)) {
        struct fault f = {0};
        msec nap = w->options.every < calm ? w->options.every : calm;
        for (unsigned i = 0; i < w->failed && nap < longest_nap; i++) /* (2) */
            nap = nap * 2 + 100;
        wait_for_work(w, nap);
        if (!atomic_load(&w->stop))
            note_outcome(w, work(w, &f), &f);
    }
    conn_close(&w->conn);
    return NULL;
}

enum err store_sweeper_start(struct store *s, const struct store_sweep_options *o,
        struct fault *f, struct store_sweeper **ret_w)
{
    CHECK(s->options.role == STORE_ENGINE && !s->sweeper && !s->has_writer && o->every > 0);
    struct store_sweeper *w = calloc(1, sizeof *w);
    CHECK(w);
    w->store = s;
    w->options = *o;
    w->keep = o->keep;
    w->conn.give_up = &w->stop;
    w->conn.patience = patience;
    w->next_round = clock_mono(&clock_system) + (o->every < 10000 ? o->every : 10000);
    lock_init(&w->lock, LOCK_SWEEPER);
    CHECK(pthread_cond_init(&w->changed, NULL) == 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the loop thread's business */
    int failed = pthread_create(&w->thread, NULL, sweeper_main, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        lock_done(&w->lock);
        pthread_cond_destroy(&w->changed);
        free(w);
        return fault_set(f, ERR_IO, "cannot start the sweeper's thread: %s", strerror(failed));
    }
    s->sweeper = w;
    *ret_w = w;
    return OK;
}

void store_sweeper_figures(struct store_sweeper *w, struct store_sweep_figures *ret)
{
    lock_take(&w->lock);
    *ret = w->figures;
    lock_release(&w->lock);
}

void store_sweeper_stop(struct store_sweeper *w)
{
    if (!w)
        return;
    CHECK(!w->store->has_writer);
    atomic_store(&w->stop, true);
    lock_take(&w->lock);
    pthread_cond_broadcast(&w->changed);
    lock_release(&w->lock);
    CHECK(pthread_join(w->thread, NULL) == 0);
    w->store->sweeper = NULL;
    pthread_cond_destroy(&w->changed);
    lock_done(&w->lock);
    free(w);
}
