/* A visit on the pool: the new body is parsed once, then compared for every stream.
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

/* A stored version as the graph wants to see it, numbered by the stream's position. */
static void see(struct visit *v, struct cdg_version *to, const void *block, size_t bytes,
        int64_t number)
{
    struct page_digest *digest;
    struct fault f = {0};
    *to = (struct cdg_version){.number = number, .no_digest = "the stored digest is gone"};
    if (!block)
        return;
    if (page_digest_open(v->arena, block, bytes, &f, &digest) != OK) {
        to->no_digest = arena_strdup(v->arena, f.message);
        return;
    }
    to->digest = digest;
    to->body = digest->source;
}

struct old_request {
    struct visit *visit;
    const struct look *look;
};

static const struct cdg_version *give_old(int64_t number, void *arg)
{
    const struct old_request *r = arg;
    if (number != r->look->position - 1)
        return NULL; /* only the stream's previous position is kept */
    struct old *o = old_find(r->visit, r->look->old_version);
    if (!o || !o->block)
        return NULL;
    struct cdg_version *seen = arena_new_of(r->visit->arena, struct cdg_version);
    see(r->visit, seen, o->block, o->bytes, number);
    seen->source = o->source.bytes ? &o->source : NULL;
    return seen;
}

static bool read_new(struct visit *v, struct cdg_version *to, struct page_source *source)
{
    if (!v->is_new) {
        struct old *o = old_find(v, v->version);
        see(v, to, o ? o->block : NULL, o ? o->bytes : 0, 0);
        to->source = o && o->source.bytes ? &o->source : NULL;
        return true;
    }
    *source = (struct page_source){
            .bytes = v->source.body,
            .len = v->source.body_bytes,
            .content_type = v->source.content_type,
            .url = v->source.final_url,
    };
    if (page_digest_make(source, &v->digest, &v->unreadable) != OK)
        return false; /* (2) */
    see(v, to, v->digest.data, v->digest.len, 0);
    to->source = source;
    return true;
}

/* For the store, and here: there are more of these threads than of those that write. */
static void pack(struct visit *v)
{
    v->job.body = v->source.body;
    v->job.body_bytes = v->source.body_bytes;
    v->job.digest = v->digest.data;
    v->job.digest_bytes = v->digest.len;
    store_version_pack(&v->job, v->arena);
}

void visit_compare(struct cdg_task *task)
{
    struct visit *v = container_of(task, struct visit, task);
    struct cdg_version now;
    struct page_source source;
    if (read_new(v, &now, &source)) {
        for (size_t i = 0; i < v->nlooks; i++) {
            struct look *look = &v->looks[i];
            struct old_request r = {v, look};
            now.number = look->position;
            if (look->plan)
                look->nverdicts =
                        cdg_plan_run(look->plan, &now, give_old, &r, v->arena, &look->verdicts);
        }
        if (v->is_new)
            pack(v);
    }
    inbox_push(&v->engine->compared, &v->link);
}
