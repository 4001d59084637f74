/* Answers: differences collected up to what a person could read, all of them counted. */
#include "cdg/detect_int.h"
#include <stdlib.h>

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
        struct change *bigger = arena_alloc(life, cap * sizeof *bigger);
        if (a->nchanges)
            memcpy(bigger, a->changes, a->nchanges * sizeof *bigger);
        a->changes = bigger;
        a->cap = cap;
    }
    a->changes[a->nchanges++] = c;
}

static void note_nodes(struct change *c, const struct diff_edit *e, const struct diff_input *in)
{
    c->of_block = in->of_blocks;
    if (e->old != LCS_NONE)
        c->at[0] = in->node(in->arg, false, e->old) + 1;
    if (e->new_ != LCS_NONE)
        c->at[1] = in->node(in->arg, true, e->new_) + 1;
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
        if (in->node)
            note_nodes(&c, e, in);
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

/* ---- addresses --------------------------------------------------------------------------- */

/* Attributes that may hold one. */
static bool is_of_address(struct str name)
{
    static const char *const names[] = {"href", "src", "action", "value", "data-src"};

    for (size_t i = 0; i < countof(names); i++)
        if (str_equal(name, str_of(names[i])))
            return true;
    return false;
}

static int compare_address(const void *key, const void *change)
{
    const struct change *c = change;
    const struct str *address = key;

    return strcmp(address->ptr, (c->how == CHANGE_DELETED ? c->old : c->new_).ptr);
}

/* The elements of these nodes that have listed addresses get to be their places; how many. */
static size_t address_nodes(
        struct change *all, size_t n, const struct page_digest *d, uint32_t from, uint32_t end)
{
    bool new_ = n && all[0].how != CHANGE_DELETED;
    size_t found = 0;
    BUF(text, PAGE_DIGEST_MAX);

    for (uint32_t node = from; node < end && found < n; node++)
        for (uint32_t i = d->attr_at[node]; i < d->attr_at[node + 1]; i++) {
            if (!is_of_address(page_attr_name(d, i)))
                continue;
            buf_clear(&text);
            if (!page_url_resolve(page_base(d), page_attr_value(d, i), &text))
                continue;
            struct str address = {buf_text(&text), text.len};
            struct change *c = bsearch(&address, all, n, sizeof *all, compare_address);
            if (c && !c->at[new_]) {
                c->at[new_] = node + 1;
                found++;
            }
        }
    return found;
}

/* What is in one version alone stands where they differ, unless they have other bases. */
static void places_of_addresses(
        const struct question *q, struct answer *a, enum change_how how, bool new_)
{
    const struct page_digest *d = (new_ ? q->new_ : q->old)->digest;
    struct change *all = arena_alloc(q->life, (a->nchanges + 1) * sizeof *all);
    const struct spans *s = spans_of(q);
    size_t n = 0, found = 0;
    uint32_t at = 0;

    for (size_t i = 0; i < a->nchanges; i++) /* as sorted as the addresses of a digest are */
        if (a->changes[i].how == how)
            all[n++] = a->changes[i];
    for (size_t i = 0; i < s->count && found < n; i++) {
        const struct span *k = &s->all[i];
        found += address_nodes(all, n, d, at, k->at[SPAN_NODES][new_]);
        at = k->at[SPAN_NODES][new_] + k->len[SPAN_NODES];
    }
    if (found < n)
        found += address_nodes(all, n, d, at, d->nodes);
    if (found < n)
        (void)address_nodes(all, n, d, 0, d->nodes);
    n = 0;
    for (size_t i = 0; i < a->nchanges; i++)
        if (a->changes[i].how == how)
            a->changes[i] = all[n++];
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
    if (a->counts[CHANGE_DELETED])
        places_of_addresses(q, a, CHANGE_DELETED, /* new_= */ false);
    if (a->counts[CHANGE_INSERTED])
        places_of_addresses(q, a, CHANGE_INSERTED, /* new_= */ true);
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
