/* Reading versions back for a mail.
 *
 *  (1) What cannot be read back, or is too large to be looked at, is told by its lists.
 *  (2) At most CHANGES_SHOWN changes of a message are shown so: a summary is not a book.
 */
#include "engine/letter.h"
#include "engine/present.h"

enum { CHANGES_SHOWN = 5, SHOWN_BYTES_MAX = 4 << 20 };

struct letter {
    struct store_outbox *store;
    struct arena *life;
    struct notify_message *m;
    const struct store_owed *owed;
    size_t at, shown;
    struct store_load_job load;
    struct notify_line *old;
    size_t nold;
    bool has_old;
    void (*done)(void *arg);
    void *arg;
};

static void go_on(struct letter *l);

static void ask(struct letter *l, int64_t version, void (*done)(struct store_job *job))
{
    l->load = (struct store_load_job){
            .job = {.kind = STORE_JOB_LOAD, .done = done},
            .page_id = l->owed[l->at].page_id,
            .version = version,
    };
    buf_init(&l->load.digest, SHOWN_BYTES_MAX);
    buf_init(&l->load.body, 1); /* not asked for */
    store_outbox_submit(l->store, &l->load.job);
}

/* The lines of what came; false: there is nothing to show. */
static bool lines_of(struct letter *l, struct notify_line **ret_lines, size_t *ret_n)
{
    bool found = l->load.job.err == OK && l->load.found && l->load.digest.len;
    if (found) {
        void *block = arena_memdup(l->life, l->load.digest.data, l->load.digest.len);
        *ret_n = present_lines(l->life, block, l->load.digest.len, ret_lines);
    }
    buf_done(&l->load.digest);
    buf_done(&l->load.body);
    return found;
}

static void new_came(struct store_job *job)
{
    struct letter *l = container_of(job, struct letter, load.job);
    struct notify_line *now;
    size_t nnow;
    if (lines_of(l, &now, &nnow))
        present_pair(l->life, l->old, l->nold, now, nnow, &l->m->items[l->at]);
    l->at++;
    go_on(l);
}

static void old_came(struct store_job *job)
{
    struct letter *l = container_of(job, struct letter, load.job);
    l->has_old = lines_of(l, &l->old, &l->nold);
    if (l->has_old) {
        ask(l, l->owed[l->at].new_version, new_came);
        return;
    }
    l->at = job->err == OK ? l->at + 1 : l->m->nitems; /* (1) */
    go_on(l);
}

static void go_on(struct letter *l)
{
    while (l->at < l->m->nitems) {
        const struct notify_item *it = &l->m->items[l->at];
        if (it->change && l->shown < CHANGES_SHOWN && present_wants_versions(it)) {
            l->shown++; /* (2) */
            ask(l, l->owed[l->at].old_version, old_came);
            return;
        }
        l->at++;
    }
    l->done(l->arg);
}

void letter_fill(struct store_outbox *store, struct arena *life, struct notify_message *m,
        const struct store_owed *owed, void (*done)(void *arg), void *arg)
{
    struct letter *l = arena_new_of(life, struct letter);
    l->store = store;
    l->life = life;
    l->m = m;
    l->owed = owed;
    l->done = done;
    l->arg = arg;
    go_on(l);
}
