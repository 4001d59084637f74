/* Whether nodes of two digests are the same: name, attributes, children, text.
 *
 * Numbers of names differ from digest to digest and are looked up once; values and texts are
 * compared as they are.  Nodes stand in preorder, so a subtree is a row of nodes, and rows
 * that were compared are remembered: it must hold that
 *  (1) what is the same up to a place is not compared again for each element around it.
 */
#include "cdg/match.h"

/* Where a name has another number, which is seldom. */
static uint32_t number_find(const struct str *all, uint32_t n, const uint32_t *slots,
        uint32_t mask, struct str name)
{
    uint32_t at = (uint32_t)hash64_keyed(name.ptr, name.len) & mask;

    for (; slots[at] != NO_NODE; at = (at + 1) & mask)
        if (slots[at] < n && str_same(all[slots[at]], name))
            return slots[at];
    return NO_NODE;
}

static uint32_t *slots_of(
        const struct str *all, uint32_t n, struct arena *life, uint32_t *ret_mask)
{
    uint32_t size = 16;
    while (size < 2 * n)
        size *= 2;
    uint32_t *slots = arena_alloc(life, size * sizeof *slots), mask = size - 1;

    memset(slots, 0xFF, size * sizeof *slots);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = (uint32_t)hash64_keyed(all[i].ptr, all[i].len) & mask;
        while (slots[at] != NO_NODE)
            at = (at + 1) & mask;
        slots[at] = i;
    }
    *ret_mask = mask;
    return slots;
}

uint32_t *numbers_map(const struct str *old, uint32_t nold, const struct str *new_,
        uint32_t nnew, struct arena *life)
{
    uint32_t *map = arena_alloc(life, (nold + 1) * sizeof *map), *slots = NULL, mask = 0;

    for (uint32_t i = 0; i < nold; i++) {
        if (i < nnew && str_same(old[i], new_[i])) {
            map[i] = i;
            continue;
        }
        if (!slots)
            slots = slots_of(new_, nnew, life, &mask);
        map[i] = number_find(new_, nnew, slots, mask, old[i]);
    }
    return map;
}

struct same same_init(
        const struct spans *spans, const uint32_t *old_texts, const uint32_t *new_texts)
{
    const struct page_digest *old = spans->d[0], *new_ = spans->d[1];
    struct same s = {.old = old,
            .new_ = new_,
            .spans = spans,
            .old_texts = old_texts,
            .new_texts = new_texts,
            .tag = spans->tag};

    s.in_row = old->texts_in_row && new_->texts_in_row && spans->same_numbers;
    for (size_t i = 0; i < RUNS_KEPT; i++)
        s.runs[i].apart = INT64_MAX;
    return s;
}

static bool same_element(const struct same *s, uint32_t old, uint32_t new_)
{
    return s->old->children[old] == s->new_->children[new_] &&
           span_element_equal(s->spans, old, new_);
}

/* Up to which old node those from here on are the same, `most` of them at most. */
static uint32_t compare_from(struct same *s, uint32_t old, uint32_t new_, uint32_t most)
{
    const struct page_digest *x = s->old, *y = s->new_;
    uint32_t t = s->old_texts[old], u = s->new_texts[new_], n = 0;

    for (; n < most; n++) {
        if (x->tags[old + n] == 0 && y->tags[new_ + n] == 0) {
            if (!str_same(x->text_of[t++], y->text_of[u++]))
                break;
        } else if (x->tags[old + n] == 0 || y->tags[new_ + n] == 0 ||
                   !same_element(s, old + n, new_ + n)) {
            break;
        }
    }
    s->work += n + 1;
    return old + n;
}

/* Whether n nodes are the same, where numbers and texts can be compared as they lie; false
 * may also mean that somebody has to look. */
static bool same_in_row(const struct same *s, uint32_t old, uint32_t new_, uint32_t n)
{
    const struct page_digest *x = s->old, *y = s->new_;
    uint32_t a = x->attr_at[old], b = y->attr_at[new_], shifted = 0;
    uint32_t attrs = x->attr_at[old + n] - a;

    if (memcmp(x->children + old, y->children + new_, n * sizeof(uint32_t)) != 0 ||
            memcmp(x->tags + old, y->tags + new_, n * sizeof(uint32_t)) != 0)
        return false;
    for (uint32_t i = 1; i <= n; i++)
        shifted |= (x->attr_at[old + i] - a) ^ (y->attr_at[new_ + i] - b);
    if (shifted || memcmp(x->attr_name + a, y->attr_name + b, attrs * sizeof(uint32_t)) != 0)
        return false;
    for (uint32_t i = 0; i < attrs; i++)
        if (!str_same(x->attr_value_of[x->attr_value[a + i]],
                    y->attr_value_of[y->attr_value[b + i]]))
            return false;
    uint32_t t = first_text(x, old), u = first_text(y, new_),
             texts = first_text(x, old + n) - t;
    if (texts == 0)
        return true;
    struct str last = x->text_of[t + texts - 1], twin = y->text_of[u + texts - 1];
    size_t bytes = (size_t)(last.ptr - x->text_of[t].ptr) + last.len;
    return (size_t)(twin.ptr - y->text_of[u].ptr) + twin.len == bytes &&
           memcmp(x->text_of[t].ptr, y->text_of[u].ptr, bytes) == 0;
}

bool same_subtrees(struct same *s, uint32_t old, uint32_t new_)
{
    uint32_t n = s->old->end[old] - old;
    int64_t apart = (int64_t)new_ - (int64_t)old;
    struct same_run *r = &s->runs[(uint64_t)apart % RUNS_KEPT];

    if (s->new_->end[new_] - new_ != n || s->tag[s->old->tags[old]] != s->new_->tags[new_])
        return false;
    const struct span *k = span_at(s->spans->all, s->spans->count, SPAN_NODES, old, new_);
    if (k) { /* the nodes behind a span differ */
        s->work++;
        return k->at[SPAN_NODES][0] + k->len[SPAN_NODES] >= old + n;
    }
    if (r->apart == apart && old >= r->old && old <= r->end) /* (1) */
        return r->end >= old + n;
    if (n > 3 && s->in_row && same_in_row(s, old, new_, n)) {
        s->work += n / 4 + 1;
        return true;
    }
    uint32_t end = compare_from(s, old, new_, n);
    if (end < old + n)
        *r = (struct same_run){apart, old, end};
    return end == old + n;
}
