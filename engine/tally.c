/* What a version job says of sentinels: who was evaluated, who is told, what is collected. */
#include "engine/visit_int.h"

struct tally tally_new(struct arena *a, size_t most)
{
    return (struct tally){
            .changes = arena_array_of(a, most + 1, struct store_change),
            .evaluations = arena_array_of(a, most + 1, struct store_evaluation),
            .forgets = arena_array_of(a, most + 1, struct store_forget),
            .constituents = arena_array_of(a, most + 1, struct store_constituent),
            .notes = arena_array_of(a, most + 1, struct store_note),
    };
}

void tally_evaluation(
        struct tally *t, int64_t sentinel_id, enum cdg_result result, const char *reason)
{
    t->evaluations[t->nevaluations++] = (struct store_evaluation){
            .sentinel_id = sentinel_id,
            .result = result == CDG_C   ? 'C'
                      : result == CDG_N ? 'N'
                                        : 'U',
            .reason = result == CDG_U ? reason : NULL,
    };
}

/* Whom a change is told to is in the store, with the sentinel. */
void tally_change(struct tally *t, const struct store_change *c)
{
    t->changes[t->nchanges++] = *c;
}

void tally_verdict(struct tally *t, const struct cdg_verdict *verdict, msec tick)
{
    const struct cdg_finding *found = verdict->finding;
    tally_evaluation(t, verdict->sentinel_id, found->result, found->summary);
    if (found->result != CDG_C)
        return;
    struct store_change change = {
            .sentinel_id = verdict->sentinel_id,
            .old_version = found->old_version,
            .inserted = found->inserted,
            .deleted = found->deleted,
            .updated = found->updated,
            .moved = found->moved,
            .summary = found->summary,
            .detail = found->detail,
            .tick = tick,
    };
    tally_change(t, &change);
}

void tally_note(struct tally *t, int64_t sentinel_id, const char *sentence)
{
    t->notes[t->nnotes++] = (struct store_note){sentinel_id, "notice", sentence};
}

void tally_forget(struct tally *t, int64_t sentinel_id, unsigned conjunct, msec before)
{
    t->forgets[t->nforgets++] = (struct store_forget){sentinel_id, conjunct, before};
}

void tally_joint(struct tally *t, int64_t sentinel_id, const struct cdg_constituent *c,
        const struct cdg_joint_outcome *out, bool forbids)
{
    if (out->forget_before)
        tally_forget(t, sentinel_id, out->conjunct, out->forget_before);
    if (!out->keeps)
        return;
    t->constituents[t->nconstituents++] = (struct store_constituent){
            .sentinel_id = sentinel_id,
            .conjunct = out->conjunct,
            .part = c->part,
            .forbids = forbids,
            .at = c->at,
            .old_version = c->old_version,
            .new_version = c->new_version,
            .inserted = c->inserted,
            .deleted = c->deleted,
            .updated = c->updated,
            .moved = c->moved,
            .summary = c->summary,
            .detail = c->detail,
    };
}

void tally_into(const struct tally *t, struct store_version_job *job, struct arena *a)
{
    job->changes = t->changes;
    job->nchanges = t->nchanges;
    job->evaluations = t->evaluations;
    job->nevaluations = t->nevaluations;
    job->forgets = t->forgets;
    job->nforgets = t->nforgets;
    job->constituents = t->constituents;
    job->nconstituents = t->nconstituents;
    job->notes = t->notes;
    job->nnotes = t->nnotes;
    job->ret_change_ids = arena_array_of(a, t->nchanges + 1, int64_t);
}
