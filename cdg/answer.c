/* Answers: differences collected up to what a person could read, all of them counted. */
#include "cdg/detect_int.h"

void answer_unknown(struct answer *a, const char *reason)
{
    a->result = CDG_U;
    a->reason = reason;
}

void answer_add(struct answer *a, struct arena *life, struct change c)
{
    a->result = CDG_C;
    if (a->counts[c.how]++ >= CHANGES_LISTED)
        return;
    if (a->nchanges == a->cap) {
        size_t cap = a->cap ? 2 * a->cap : 8;
        struct change *bigger = arena_array_of(life, cap, struct change);
        if (a->nchanges)
            memcpy(bigger, a->changes, a->nchanges * sizeof *bigger);
        a->changes = bigger;
        a->cap = cap;
    }
    a->changes[a->nchanges++] = c;
}

void answer_add_items(
        struct answer *a, struct arena *life, const struct diff *d, const struct diff_input *in)
{
    static const enum change_how how[] = {[DIFF_INSERT] = CHANGE_INSERTED,
            [DIFF_DELETE] = CHANGE_DELETED,
            [DIFF_UPDATE] = CHANGE_UPDATED,
            [DIFF_MOVE] = CHANGE_MOVED};

    for (size_t i = 0; i < d->count; i++) {
        const struct diff_edit *e = &d->edits[i];
        struct change c = {.how = how[e->how]};
        if (e->old != LCS_NONE)
            c.old = in->item(in->arg, false, e->old).text;
        if (e->new_ != LCS_NONE)
            c.new_ = in->item(in->arg, true, e->new_).text;
        answer_add(a, life, c);
    }
    a->coarse |= d->coarse;
}

struct given {
    const struct diff_item *old, *new_;
};

static struct diff_item given_item(const void *arg, bool new_, size_t i)
{
    const struct given *g = arg;
    return new_ ? g->new_[i] : g->old[i];
}

void answer_add_diff(struct answer *a, struct arena *life, const struct diff *d,
        const struct diff_item *old, const struct diff_item *new_)
{
    struct given g = {old, new_};
    struct diff_input in = {.item = given_item, .arg = &g};

    answer_add_items(a, life, d, &in);
}

void answer_add_sets(struct answer *a, const struct question *q, uint32_t nold, uint32_t nnew,
        struct str (*get)(const struct page_digest *d, uint32_t i))
{
    const struct page_digest *old = q->old->digest, *new_ = q->new_->digest;
    uint32_t i = 0, j = 0;

    while (i < nold || j < nnew) {
        int c = i == nold ? 1 : j == nnew ? -1 : strcmp(get(old, i).ptr, get(new_, j).ptr);
        if (c < 0)
            answer_add(a, q->life, (struct change){CHANGE_DELETED, .old = get(old, i)});
        else if (c > 0)
            answer_add(a, q->life, (struct change){CHANGE_INSERTED, .new_ = get(new_, j)});
        i += c <= 0;
        j += c >= 0;
    }
}

static struct str kept(struct str s, struct arena *life)
{
    size_t len = s.len <= ITEM_BYTES + 4 ? s.len : ITEM_BYTES + 4; /* still seen to be cut */

    return s.ptr ? (struct str){arena_strndup(life, s.ptr, len), len} : s;
}

void answer_keep(struct answer *a, struct arena *life)
{
    a->changes = arena_memdup(
            life, a->changes ? a->changes : (void *)"", a->nchanges * sizeof *a->changes);
    a->cap = a->nchanges;
    for (size_t i = 0; i < a->nchanges; i++) {
        struct change *c = &a->changes[i];
        c->old = kept(c->old, life);
        c->new_ = kept(c->new_, life);
        c->path = c->path ? arena_strdup(life, c->path) : NULL;
    }
    if (a->reason)
        a->reason = arena_strdup(life, a->reason);
    if (a->notice)
        a->notice = arena_strdup(life, a->notice);
    if (a->state.ptr)
        a->state.ptr = arena_strndup(life, a->state.ptr, a->state.len);
}
