/* Bulletins as Atom files.
 *
 *  (1) A file is written beside its place and moved there whole: a reader never sees half.
 *  (2) No name becomes a path: what is not a small letter, a digit, - or _ in a user's or a
 *      topic's name is written as its number.
 *  (3) What a file holds is read from the store after the notification was committed, so
 *      writing it twice, or late, is the same as writing it once.
 */
#include "engine/feeds.h"
#include "base/inbox.h"
#include "base/str.h"
#include "engine/telling.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FEED_ITEMS = 50, FEED_BYTES = 32 << 20 };

struct feeds {
    struct loop *loop;
    struct pool *pool;
    struct store_outbox *store;
    struct notify *notify;
    const char *dir;
    struct inbox written;
    struct loop_waker waker;
};

struct writing {
    struct list link;
    struct pool_task task;
    struct arena *life;
    struct feeds *feeds;
    struct store_bulletin_job job;
    const char *owner;
    const char **topics; /* NULL first: all */
    size_t ntopics, at;
    char why[300]; /* empty: it is written */
    notify_done_fn *done;
    void *arg;
};

/* (2) */
static void put_name(struct buf *out, const char *name)
{
    for (const char *c = name; *c; c++)
        if ((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '-' || *c == '_')
            buf_putc(out, *c);
        else
            buf_printf(out, "%%%02X", (unsigned char)*c);
}

static const char *path_of(
        struct arena *life, const char *dir, const char *owner, const char *topic)
{
    BUF(name, 64 << 10);
    put_name(&name, *owner ? owner : "nobody");
    if (topic) {
        buf_putc(&name, '.');
        put_name(&name, topic);
    }
    if (name.len > 200) { /* longer than a file's name may be: its sum stands for it */
        char hex[65];
        struct sha256 sum = sha256_of(name.data, name.len);
        sha256_hex(&sum, hex);
        return arena_printf(life, "%s/%s.atom", dir, hex);
    }
    return arena_printf(life, "%s/%s.atom", dir, buf_text(&name));
}

static bool write_all(int fd, const char *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        ssize_t n = write(fd, bytes + at, len - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

/* On the pool: (1). */
static void write_file(struct pool_task *task)
{
    struct writing *w = container_of(task, struct writing, task);
    SCRATCH struct arena *scratch = arena_new(NULL, "feed");
    BUF(feed, FEED_BYTES);
    const char *topic = w->topics[w->at];
    struct notify_item *items = arena_array_of(scratch, w->job.nitems + 1, struct notify_item);
    for (size_t i = 0; i < w->job.nitems; i++)
        detail_item(scratch, &w->job.items[i], &items[i]);
    notify_feed(w->feeds->notify, w->owner, topic, items, w->job.nitems, &feed);
    const char *path = path_of(scratch, w->feeds->dir, w->owner, topic);
    const char *aside = arena_printf(scratch, "%s.new", path);
    int fd = open(aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    bool fine = fd >= 0 && write_all(fd, buf_text(&feed), feed.len);
    if (fd >= 0 && close(fd) != 0)
        fine = false;
    if (!fine || rename(aside, path) != 0)
        snprintf(w->why, sizeof w->why, "the feed %s cannot be written: %s", path,
                strerror(errno));
    inbox_push(&w->feeds->written, &w->link);
}

static void finish(struct writing *w)
{
    struct arena *life = w->life;
    struct notify_result r = {
            .outcome = w->why[0] ? NOTIFY_LATER : NOTIFY_ACCEPTED,
            .reason = w->why[0] ? w->why : NULL,
    };
    w->done(&r, w->arg);
    arena_free(life);
}

static void rows_came(struct store_job *job)
{
    struct writing *w = container_of(job, struct writing, job.job);
    if (job->err != OK) {
        str_copy(w->why, sizeof w->why, job->fault.message);
        finish(w);
        return;
    }
    w->task.run = write_file;
    pool_submit(w->feeds->pool, &w->task);
}

static void ask(struct writing *w)
{
    w->job = (struct store_bulletin_job){
            .job = {.kind = STORE_JOB_BULLETIN, .done = rows_came},
            .owner = w->owner,
            .topic = w->topics[w->at],
            .most = FEED_ITEMS,
            .life = w->life,
    };
    store_outbox_submit(w->feeds->store, &w->job.job);
}

static void written(struct loop_waker *waker)
{
    struct feeds *f = container_of(waker, struct feeds, waker);
    struct list done = LIST_INIT(done);
    inbox_take(&f->written, &done);
    list_each (l, &done) {
        struct writing *w = list_entry(l, struct writing, link);
        list_remove(l);
        if (!w->why[0] && ++w->at < w->ntopics)
            ask(w);
        else
            finish(w);
    }
}

static bool is_listed(const struct writing *w, const char *topic)
{
    for (size_t i = 1; i < w->ntopics; i++)
        if (strcmp(w->topics[i], topic) == 0)
            return true;
    return false;
}

void feeds_write(
        struct feeds *f, const struct notify_message *m, notify_done_fn *done, void *arg)
{
    struct arena *life = arena_new(NULL, "feed");
    struct writing *w = arena_new_of(life, struct writing);
    w->life = life;
    w->feeds = f;
    w->owner = arena_strdup(life, m->owner);
    w->done = done;
    w->arg = arg;
    w->topics = arena_array_of(life, m->nitems + 1, const char *);
    w->ntopics = 1;
    for (size_t i = 0; i < m->nitems; i++)
        if (m->items[i].topic && !is_listed(w, m->items[i].topic))
            w->topics[w->ntopics++] = arena_strdup(life, m->items[i].topic);
    if (*f->dir) {
        ask(w);
    } else { /* the setting was taken back: the bulletin in the database is all there is */
        w->at = w->ntopics;
        inbox_push(&f->written, &w->link);
    }
}

static void wake(void *waker)
{
    loop_waker_wake(waker);
}

enum err feeds_start(struct arena *life, struct loop *loop, struct pool *pool,
        struct store_outbox *store, struct notify *n, const char *dir, struct fault *f,
        struct feeds **ret_feeds)
{
    if (*dir && mkdir(dir, 0755) != 0 && errno != EEXIST) {
        enum err e = fault_set(
                f, ERR_IO, "notify.feeds: cannot make \"%s\": %s", dir, strerror(errno));
        fault_hint(f, "Name a directory the user Vigil runs as may write to.");
        return e;
    }
    struct feeds *feeds = arena_new_of(life, struct feeds);
    feeds->loop = loop;
    feeds->pool = pool;
    feeds->store = store;
    feeds->notify = n;
    feeds->dir = arena_strdup(life, dir);
    inbox_init(&feeds->written, wake, &feeds->waker);
    loop_waker_init(&feeds->waker, written);
    loop_waker_start(loop, &feeds->waker);
    *ret_feeds = feeds;
    return OK;
}

void feeds_stop(struct feeds *f)
{
    struct list late = LIST_INIT(late);
    loop_waker_stop(f->loop, &f->waker);
    inbox_take(&f->written, &late);
    list_each (l, &late) {
        list_remove(l);
        arena_free(list_entry(l, struct writing, link)->life);
    }
    inbox_done(&f->written);
}
