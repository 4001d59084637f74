/* A visit on the pool: the new version is compared for every stream.
 *
 * Touches nothing but the visit, which nobody else looks at meanwhile; a page's visits run one
 * after the other because they queue behind its entry in the lock hash table.
 */
#include "engine/visit_int.h"

static struct old *old_find(struct visit *v, int64_t version)
{
    for (size_t i = 0; i < v->nolds; i++)
        if (v->olds[i].version == version)
            return &v->olds[i];
    return NULL;
}

/* A stored version as the graph wants to see it. */
static void see(struct visit *v, struct cdg_version *to, const void *block, size_t bytes,
        int64_t number)
{
    struct page_digest *digest;
    struct fault f = {0};
    *to = (struct cdg_version){.number = number, .no_digest = "the stored digest is gone"};
    if (!block)
        return;
    if (page_digest_open(v->opened, block, bytes, &f, &digest) != OK) {
        to->no_digest = arena_strdup(v->arena, f.message);
        return;
    }
    to->digest = digest;
    to->body = digest->source;
}

static const struct cdg_version *give_old(int64_t number, void *arg)
{
    struct visit *v = arg;
    struct old *o = old_find(v, number);
    if (!o || !o->block)
        return NULL;
    struct cdg_version *seen = arena_new_of(v->opened, struct cdg_version);
    see(v, seen, o->block, o->bytes, number);
    seen->source = visit_text(v, &o->text);
    return seen;
}

static struct str give_state(int64_t sentinel_id, unsigned part, void *arg)
{
    const struct visit *v = arg;
    size_t low = 0, high = v->nremembered;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (v->remembered[mid].sentinel_id < sentinel_id)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == v->nremembered || v->remembered[low].sentinel_id != sentinel_id)
        return (struct str){NULL, 0};
    return answers_get(v->remembered[low].answers, part);
}

static bool read_new(struct visit *v, struct cdg_version *to)
{
    if (!v->is_new) {
        struct old *o = old_find(v, v->version);
        see(v, to, o ? o->block : NULL, o ? o->bytes : 0, v->version);
        to->source = o ? visit_text(v, &o->text) : NULL;
        return true;
    }
    see(v, to, v->digest.data, v->digest.len, v->version);
    to->source = visit_text(v, &v->text);
    if (!to->digest) /* a reader's answer is believed in nothing: (2) */
        fault_set(&v->unreadable, ERR_LIMIT, "the page could not be read: %s", to->no_digest);
    return to->digest != NULL;
}

/* The pages shown in frames, each once, in the order they stand there. */
static void list_frames(struct visit *v, const struct page_digest *d)
{
    struct page_frame *all;
    size_t n = page_frames(d, v->arena, &all);
    v->frames = arena_array_of(v->arena, n + 1, const char *);
    for (size_t i = 0; i < n && v->nframes < PAGE_FRAMES_MAX; i++) {
        const char *url = arena_strndup(v->arena, all[i].url, strcspn(all[i].url, "#"));
        size_t k = 0;
        while (k < v->nframes && strcmp(v->frames[k], url) != 0)
            k++;
        if (k == v->nframes)
            v->frames[v->nframes++] = url;
    }
}

static bool is_complete(const struct visit *v)
{
    if (v->nframes != v->source.nframes)
        return false;
    for (size_t i = 0; i < v->nframes; i++)
        if (strcmp(v->frames[i], v->source.frames[i]) != 0)
            return false;
    return true;
}

/* For the store, and here: there are more of these threads than of those that write. */
static void pack(struct visit *v)
{
    v->job.body = v->source.body;
    v->job.body_bytes = v->source.body_bytes;
    v->job.digest = v->digest.data;
    v->job.digest_bytes = v->digest.len;
    v->job.body_sha256 = v->source.sha;
    v->job.version = v->version;
    v->job.key = v->key;
    store_version_pack(&v->job, v->arena);
}

void visit_compare(struct cdg_task *task)
{
    struct visit *v = container_of(task, struct visit, task);
    SCRATCH struct arena *opened = arena_new(NULL, "opened");
    struct cdg_version now;
    v->opened = opened;
    bool is_read = read_new(v, &now);
    if (is_read && v->is_new) {
        list_frames(v, now.digest);
        v->is_incomplete = !is_complete(v);
    }
    if (is_read && !v->is_incomplete) {
        if (v->plan)
            v->nverdicts = cdg_plan_run_states(
                    v->plan, &now, give_old, give_state, v, v->arena, &v->verdicts);
        arena_freep(&opened);
        if (v->is_new)
            pack(v);
    }
    v->opened = NULL;
    inbox_push(&v->engine->compared, &v->link);
}
