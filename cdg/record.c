/* Records: what one run of a plan found, kept for people until the next run.
 *
 * A node is stored once for the whole graph, but what it is found to be belongs to a group and
 * its version pair.  So each group holds the record of the plan it was last part of, and it
 * must hold that (1) a record is written where the plan is run, so that the loop thread need
 * not go through all that was asked, and is only counted and dropped on the loop thread, (2) it
 * costs a few bytes for each node that was asked, and nothing for keywords no word of the pair
 * led to, and (3) it names nodes by their numbers, which are never given twice: it keeps none
 * of them.
 */
#include "cdg/cdg_int.h"
#include <stdlib.h>

enum { REASONS_BYTES = 1 << 16 };

/* Where the reason stands among the texts, 0 being none; mostly it is the one before again. */
static uint32_t put_reason(struct buf *texts, uint32_t *before, const char *why)
{
    if (!why)
        return 0;
    if (*before && strcmp(texts->data + *before, why) == 0)
        return *before;
    size_t at = texts->len;
    if (at + strlen(why) + 1 > REASONS_BYTES)
        return 0;
    buf_append(texts, why, strlen(why) + 1);
    return *before = (uint32_t)at;
}

static size_t put_asked(struct record_entry *to, const struct asked_table *asked,
        struct buf *texts, uint32_t *before)
{
    size_t n = 0;

    for (size_t i = 0; i <= asked->mask; i++) {
        const struct asked *a = asked->slots[i];
        if (a && a->is_known)
            to[n++] = (struct record_entry){.node = a->node->id,
                    .pair = a->pair,
                    .why = put_reason(texts, before, a->result == CDG_U ? a->why : NULL),
                    .result = a->result,
                    .differs = a->differs};
    }
    return n;
}

/* One block: the record, its pairs, its entries, its texts. */
static void lay_out(struct record *r)
{
    r->pairs = (struct record_pair *)(r + 1);
    r->entries = (struct record_entry *)(r->pairs + r->npairs);
    r->texts = (char *)(r->entries + r->count);
}

struct record *record_new(const struct cdg_plan *p, const struct pair_run *pairs)
{
    BUF(texts, REASONS_BYTES);
    uint32_t before = 0;
    size_t bytes = sizeof(struct record) + p->nolds * sizeof(struct record_pair) +
                   p->asked->count * sizeof(struct record_entry);
    struct record *r = calloc(1, bytes);

    CHECK(r);
    buf_putc(&texts, 0); /* the reason nobody gave */
    r->refs = 1;
    r->new_version = p->compared;
    r->npairs = p->nolds;
    lay_out(r);
    for (size_t i = 0; i < p->nolds; i++) {
        const struct cdg_finding *quiet = pairs[i].quiet;
        r->pairs[i] = (struct record_pair){.old_version = p->olds[i],
                .quiet = quiet->result,
                .why = put_reason(
                        &texts, &before, quiet->result == CDG_U ? quiet->summary : NULL)};
    }
    r->count = put_asked(r->entries, p->asked, &texts, &before);
    r->bytes = bytes + texts.len;
    r = realloc(r, r->bytes);
    CHECK(r);
    lay_out(r);
    memcpy(r->texts, texts.data, texts.len);
    return r;
}

void record_unref(struct cdg *g, struct record *r)
{
    if (!r || --r->refs)
        return;
    if (r->is_noted)
        g->record_bytes -= r->bytes;
    free(r);
}

void cdg_plan_note(struct cdg *g, struct cdg_plan *p, msec at)
{
    struct record *r = p ? p->record : NULL;

    if (!r || r->is_noted)
        return;
    r->is_noted = true;
    r->at = at;
    g->record_bytes += r->bytes;
    for (size_t i = 0; i < p->ngroups; i++) {
        const struct plan_group *pg = &p->groups[i];
        struct group *group = pg->group;
        if (group->number != pg->number) /* it is gone */
            continue;
        record_unref(g, group->last);
        group->last = r;
        group->last_pair = pg->pair;
        group->last_base = pg->old;
        r->refs++;
    }
}
