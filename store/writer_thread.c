/* The writing thread's life: connected, it commits what is queued and listens for requests;
 * disconnected, it tries again for as long as it takes.
 *
 *  (1) While the database is away nothing is dropped: jobs stay queued, in order.
 *  (2) Each request is told once in an engine's life, also when it was made before the engine
 *      started or while the connection was away.
 *  (3) A private server that died is started again before we try to connect.
 *  (4) A version that is asked for is read before what waits is written, which may take a
 *      while, unless it is among that.
 *  (5) Under load a commit waits a moment for others to share it; alone it never does.
 */
#include "store/writer.h"
#include "base/crash.h"
#include "base/str.h"
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

/* What one commit takes at most: enough to share a disk flush, little enough to be quick. */
enum { GROUP_JOBS = 128, GROUP_BYTES = 16 << 20 };

/* (5): a good part of what a commit costs the server, as much as eight versions do, is paid
 * once for all that share it.  So many are enough, and nobody notices so short a time. */
enum { GROUP_ENOUGH = 64 };
static const msec longest_linger = 40;

static const msec connect_within = 10 * MSEC_PER_SECOND;
/* It is one session that asks, however long the database is away, and all work waits for it. */
static const msec longest_back_off = MSEC_PER_SECOND;

/* ---- the state of the database ---- */

void writer_unavailable(struct store_writer *w, const struct fault *why)
{
    lock_take(&w->lock);
    bool is_news = w->available || strcmp(w->why, why->message) != 0;
    w->available = false;
    str_copy(w->why, sizeof w->why, why->message);
    lock_release(&w->lock);
    if (is_news)
        loop_waker_wake(&w->waker);
}

void writer_available(struct store_writer *w)
{
    lock_take(&w->lock);
    bool is_news = !w->available;
    w->available = true;
    w->why[0] = 0;
    lock_release(&w->lock);
    if (is_news)
        loop_waker_wake(&w->waker);
}

/* ---- waiting ---- */

static msec with_jitter(struct store_writer *w, msec span)
{
    w->jitter = w->jitter * 6364136223846793005u + 1442695040888963407u;
    return span / 2 + (msec)((w->jitter >> 33) % (uint64_t)(span / 2 + 1));
}

/* False when the span was cut short because nobody waits for us any more. */
static bool nap(struct store_writer *w, msec span)
{
    msec until = clock_mono(&clock_system) + span;
    lock_take(&w->lock);
    while (!atomic_load(&w->give_up)) {
        msec left = until - clock_mono(&clock_system);
        if (left <= 0)
            break;
        lock_wait_for(&w->lock, &w->changed, left);
    }
    lock_release(&w->lock);
    return !atomic_load(&w->give_up);
}

bool writer_back_off(struct store_writer *w, unsigned n, msec most)
{
    msec span = n < 10 ? (msec)100 << n : most;
    return nap(w, with_jitter(w, span < most ? span : most));
}

void writer_stop_for_good(struct store_writer *w, const struct fault *why)
{
    writer_unavailable(w, why);
    lock_take(&w->lock);
    w->for_good = true;
    lock_release(&w->lock);
    loop_waker_wake(&w->waker);
    while (nap(w, MSEC_PER_MINUTE))
        ;
}

/* ---- connecting ---- */

/* (3), done by the loop thread on our behalf. */
static enum err see_to_server(struct store_writer *w, struct fault *f)
{
    if (!w->store->embedded)
        return OK;
    lock_take(&w->lock);
    w->wants_server = true;
    w->server_seen_to = false;
    lock_release(&w->lock);
    loop_waker_wake(&w->waker);

    lock_take(&w->lock);
    pthread_cond_broadcast(
            &w->changed); /* the loop thread may be waiting in store_writer_stop */
    while (!w->server_seen_to && !atomic_load(&w->give_up))
        lock_wait_for(&w->lock, &w->changed, 200);
    *f = w->server_fault;
    bool seen_to = w->server_seen_to;
    lock_release(&w->lock);
    return seen_to ? f->code : fault_set(f, ERR_STORE, "the engine is stopping");
}

/* What a new connection of the thread is told before anything else. */
static enum err begin_session(struct store_writer *w, struct fault *f)
{
    enum err e = conn_write_by_key(&w->conn, /* once= */ false, f);
    return e ? e : conn_run(&w->conn, SQL_LISTEN_REQUESTS, NULL, f, NULL);
}

static enum err connect_once(struct store_writer *w, struct fault *f, int64_t *ret_job)
{
    struct conn_target t;
    store_target(w->store, &t);
    enum err e = see_to_server(w, f);
    if (!e)
        e = conn_open(&w->conn, &t, connect_within, f);
    if (!e)
        e = engine_lock_regain(&w->conn, w->store, w->lock_backend, f, ret_job);
    if (!e)
        e = begin_session(w, f);
    if (e) {
        conn_close(&w->conn);
        return e;
    }
    w->lock_backend = w->conn.backend;
    w->look_for_requests = true; /* (2) */
    return OK;
}

bool writer_reconnect(struct store_writer *w, int64_t *ret_job)
{
    struct fault why = {0};
    conn_close(&w->conn);
    for (unsigned n = 0; !atomic_load(&w->give_up); n++) {
        enum err e = connect_once(w, &why, ret_job);
        if (!e) {
            writer_available(w);
            return true;
        }
        /* A private directory that is still busy with its dead server is not another engine. */
        if (e == ERR_BUSY && !w->store->embedded) {
            writer_stop_for_good(w, &why);
            return false;
        }
        writer_unavailable(w, &why);
        if (!writer_back_off(w, n, longest_back_off))
            return false;
    }
    return false;
}

/* ---- requests ---- */

static bool is_delivered(const struct store_writer *w, int64_t id)
{
    for (size_t i = 0; i < w->ndelivered; i++)
        if (w->delivered[i] == id)
            return true;
    return false;
}

void writer_forget_request(struct store_writer *w, int64_t id)
{
    for (size_t i = 0; i < w->ndelivered; i++)
        if (w->delivered[i] == id) {
            w->delivered[i] = w->delivered[--w->ndelivered];
            return;
        }
}

static void tell_request(struct store_writer *w, const PGresult *r, int row)
{
    size_t verb = (size_t)PQgetlength(r, row, 1) + 1, text = (size_t)PQgetlength(r, row, 2) + 1,
           owner = (size_t)PQgetlength(r, row, 3) + 1;
    struct asked *a = malloc(sizeof *a + verb + text + owner);
    CHECK(a);
    char *room = (char *)(a + 1);
    memcpy(room, PQgetvalue(r, row, 1), verb);
    memcpy(room + verb, PQgetvalue(r, row, 2), text);
    memcpy(room + verb + text, PQgetvalue(r, row, 3), owner);
    a->request = (struct store_request){result_int(r, row, 0), room, room + verb,
            room + verb + text, PQgetvalue(r, row, 4)[0] == 't'};
    if (w->ndelivered == w->delivered_cap) {
        w->delivered_cap = w->delivered_cap ? w->delivered_cap * 2 : 16;
        w->delivered = realloc(w->delivered, w->delivered_cap * sizeof *w->delivered);
        CHECK(w->delivered);
    }
    CRASH_POINT("before_request_told");
    w->delivered[w->ndelivered++] = a->request.id;
    lock_take(&w->lock);
    list_append(&w->asked, &a->link);
    lock_release(&w->lock);
}

/* Everything that waits and was not told yet: (2). */
static enum err look_for_requests(struct store_writer *w, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "requests");
    BUF(told, 16 << 20);
    RESULT r = NULL;
    array_begin(&told);
    for (size_t i = 0; i < w->ndelivered; i++)
        array_int(&told, w->delivered[i]);
    array_end(&told);
    PARAMS(p, scratch);
    params_text(&p, buf_text(&told));
    enum err e = conn_run(&w->conn, SQL_REQUESTS_WAITING, &p, f, &r);
    if (e)
        return e;
    for (int row = 0; row < PQntuples(r); row++)
        if (!is_delivered(w, result_int(r, row, 0)))
            tell_request(w, r, row);
    w->look_for_requests = PQntuples(r) > 0; /* there may be more than one look holds */
    if (PQntuples(r) > 0)
        loop_waker_wake(&w->waker);
    return OK;
}

/* ---- the thread ---- */

static size_t bytes_of(const struct store_job *job)
{
    if (job->kind != STORE_JOB_VERSION)
        return 0;
    const struct store_version_job *v = container_of(job, struct store_version_job, job);
    return v->body_bytes + v->digest_bytes;
}

static void drain_wake_fd(struct store_writer *w)
{
    uint64_t count;
    (void)!read(w->wake_fd, &count, sizeof count); /* empty is fine: somebody else looked */
}

/* May it be read before those are written: (4)? */
static bool may_overtake(const struct store_job *job, const struct list *group)
{
    if (job->kind != STORE_JOB_LOAD)
        return false;
    int64_t page = container_of(job, struct store_load_job, job)->page_id;
    list_each (l, group) {
        const struct store_job *before = list_entry(l, struct store_job, link);
        if (before->kind != STORE_JOB_TOUCH &&
                (before->kind != STORE_JOB_VERSION ||
                        container_of(before, struct store_version_job, job)->fetch.page_id ==
                                page))
            return false;
    }
    return true;
}

/* Takes what is there now: one job when there is little to do, many under load. */
static void take_group(struct store_writer *w, struct list *reads, struct list *group)
{
    size_t jobs = 0, bytes = 0;
    lock_take(&w->lock);
    while (!list_is_empty(&w->queue) && jobs < GROUP_JOBS && bytes < GROUP_BYTES) {
        struct store_job *job = list_entry(list_first(&w->queue), struct store_job, link);
        list_remove(&job->link);
        list_append(may_overtake(job, group) ? reads : group, &job->link);
        jobs++;
        bytes += bytes_of(job);
    }
    lock_release(&w->lock);
}

/* Does all that waits gain by waiting for more? */
static bool is_small_group(struct store_writer *w)
{
    size_t jobs = 0;
    bool is_small = true;
    lock_take(&w->lock);
    is_small = !list_is_empty(&w->queue) && !w->stopping;
    list_each (l, &w->queue) {
        enum store_job_kind kind = list_entry(l, struct store_job, link)->kind;
        is_small = is_small && (kind == STORE_JOB_VERSION || kind == STORE_JOB_TOUCH) &&
                   ++jobs < GROUP_ENOUGH;
        if (!is_small)
            break;
    }
    lock_release(&w->lock);
    return is_small;
}

/* (5) */
static void linger(struct store_writer *w)
{
    while (w->was_shared && is_small_group(w) && !atomic_load(&w->give_up)) {
        msec left = w->committed_at + longest_linger - clock_mono(&clock_system);
        struct pollfd p = {w->wake_fd, POLLIN, 0};
        if (left <= 0 || poll(&p, 1, (int)left) <= 0)
            return;
        drain_wake_fd(w);
    }
}

static bool commit_group(struct store_writer *w, struct list *group)
{
    bool is_shared = group->next != group->prev;
    if (!writer_commit(w, group))
        return false;
    w->was_shared = is_shared;
    w->committed_at = clock_mono(&clock_system);
    return true;
}

static void put_back(struct store_writer *w, struct list *group)
{
    lock_take(&w->lock);
    while (!list_is_empty(group)) {
        struct list *last = group->prev;
        list_remove(last);
        list_prepend(&w->queue, last);
    }
    lock_release(&w->lock);
}

/* Nothing to write: requests, then sleep until a job or a notification comes. */
static enum err idle(struct store_writer *w, struct fault *f)
{
    bool notified = false;
    if (w->look_for_requests)
        return look_for_requests(w, f);
    enum err e = conn_wait(&w->conn, w->wake_fd, MSEC_NEVER, f, &notified);
    if (notified)
        w->look_for_requests = true;
    return e;
}

void *writer_main(void *arg)
{
    struct store_writer *w = arg;
    struct fault why;
    struct list reads = LIST_INIT(reads), group = LIST_INIT(group);
    int64_t committed;
    enum err e = begin_session(w, &why);
    while (!atomic_load(&w->give_up)) {
        if (e) {
            writer_unavailable(w, &why);
            if (!writer_reconnect(w, &committed))
                break;
        }
        e = OK;
        drain_wake_fd(w);
        linger(w);
        take_group(w, &reads, &group);
        if (list_is_empty(&group) && list_is_empty(&reads))
            e = idle(w, &why);
        if (!list_is_empty(&reads) && !writer_commit(w, &reads))
            break;
        if (!list_is_empty(&group) && !commit_group(w, &group))
            break;
    }
    put_back(w, &group);
    put_back(w, &reads);
    return NULL;
}
