/* Spans: rows of nodes that are the same in both versions of a pair, found once.
 *
 * Versions of a page are mostly the same nodes in the same order.  Walking both at once finds
 * where they are; behind a difference the two are brought together again by looking a little
 * way ahead.  Who compares texts, blocks, elements or subtrees then passes a whole span at a
 * time.  It must hold that
 *  (1) what is in a span is the same: name, attributes, number of children, text;
 *  (2) the nodes right behind a span differ, or one of the versions ends there; and
 *  (3) looking ahead costs no more than a few looks for each node: what is left is in no span,
 *      which costs time and changes no answer.
 */
#include "cdg/detect_int.h"

enum { AHEAD = 24, ROW = 3, LOOKS = 8, LOOKS_LEAST = 2000, AT_ONCE = 64 };

struct walk {
    struct spans *s;
    struct span_place at;
    uint64_t looks;
    size_t cap;
};

static bool are_the_same(const uint32_t *map, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (map[i] != i)
            return false;
    return true;
}

static bool same_attributes(const struct spans *s, uint32_t old, uint32_t new_)
{
    const struct page_digest *x = s->d[0], *y = s->d[1];
    uint32_t a = x->attr_at[old], b = y->attr_at[new_], n = x->attr_at[old + 1] - a;

    if (y->attr_at[new_ + 1] - b != n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (s->name[x->attr_name[a + i]] != y->attr_name[b + i] ||
                !str_same(x->attr_value_of[x->attr_value[a + i]],
                        y->attr_value_of[y->attr_value[b + i]]))
            return false;
    return true;
}

bool span_element_equal(const struct spans *s, uint32_t old, uint32_t new_)
{
    return s->tag[s->d[0]->tags[old]] == s->d[1]->tags[new_] && same_attributes(s, old, new_);
}

/* Whether the nodes at a place are the same; the place may be an end. */
static bool same_here(const struct spans *s, struct span_place p)
{
    const struct page_digest *x = s->d[0], *y = s->d[1];

    if (p.node[0] >= x->nodes || p.node[1] >= y->nodes)
        return p.node[0] == x->nodes && p.node[1] == y->nodes;
    uint32_t tag = x->tags[p.node[0]];
    if (s->tag[tag] != y->tags[p.node[1]] || x->children[p.node[0]] != y->children[p.node[1]])
        return false;
    return tag == 0 ? str_same(x->text_of[p.text[0]], y->text_of[p.text[1]])
                    : same_attributes(s, p.node[0], p.node[1]);
}

/* Over one node, whatever it is. */
static void pass(const struct spans *s, struct span_place *p, int side)
{
    p->text[side] += p->node[side] < s->d[side]->nodes && s->d[side]->tags[p->node[side]] == 0;
    p->node[side]++;
}

static void pass_both(const struct spans *s, struct span_place *p)
{
    bool text = s->d[1]->tags[p->node[1]] == 0;

    for (int side = 0; side < 2; side++) {
        p->text[side] += text;
        p->node[side]++;
    }
}

static bool is_end(const struct spans *s, struct span_place p)
{
    return p.node[0] >= s->d[0]->nodes || p.node[1] >= s->d[1]->nodes;
}

static void span_add(struct walk *w, struct span_place from, struct span_place to)
{
    struct spans *s = w->s;

    if (s->count == w->cap) {
        size_t cap = w->cap ? 2 * w->cap : 64;
        struct span *all = arena_alloc(s->life, cap * sizeof *all);
        if (s->count)
            memcpy(all, s->all, s->count * sizeof *all);
        s->all = all;
        w->cap = cap;
    }
    struct span *k = &s->all[s->count++];
    *k = (struct span){.len = {to.node[1] - from.node[1], to.text[1] - from.text[1]}};
    k->len[SPAN_ELEMENTS] = k->len[SPAN_NODES] - k->len[SPAN_TEXTS];
    for (int side = 0; side < 2; side++) {
        k->at[SPAN_NODES][side] = from.node[side];
        k->at[SPAN_TEXTS][side] = from.text[side];
        k->at[SPAN_ELEMENTS][side] = from.node[side] - from.text[side];
    }
}

/* How many numbers of two rows are the same, less what is to be taken off. */
static uint32_t same_numbers(
        const uint32_t *x, const uint32_t *y, uint32_t n, uint32_t x_less, uint32_t y_less)
{
    uint32_t differ = 0, i = 0;

    if (x_less == y_less)
        differ = memcmp(x, y, n * sizeof *x) != 0;
    else
        for (uint32_t k = 0; k < n; k++) /* a plain loop, which the compiler makes a wide one */
            differ |= (x[k] - x_less) ^ (y[k] - y_less);
    if (!differ)
        return n;
    while (x[i] - x_less == y[i] - y_less)
        i++;
    return i;
}

/* Whether two values are the same, by their numbers where these can tell. */
static bool same_value(const struct spans *s, uint32_t old, uint32_t new_)
{
    const struct page_digest *x = s->d[0], *y = s->d[1];

    return (old == new_ && old < s->values_front) ||
           str_same(x->attr_value_of[old], y->attr_value_of[new_]);
}

/* How many of n nodes, whose names are the same, have the same attributes. */
static uint32_t count_attributes(const struct spans *s, struct span_place p, uint32_t n)
{
    const struct page_digest *x = s->d[0], *y = s->d[1];
    const uint32_t *at = x->attr_at + p.node[0], *other = y->attr_at + p.node[1];

    n = same_numbers(at + 1, other + 1, n, at[0], other[0]);
    uint32_t a = at[0], b = other[0], all = at[n] - a;
    if (memcmp(x->attr_name + a, y->attr_name + b, all * sizeof *at) == 0 &&
            s->values_front == x->attr_values &&
            memcmp(x->attr_value + a, y->attr_value + b, all * sizeof *at) == 0)
        return n;
    for (; a < at[n]; a++, b++) {
        if (x->attr_name[a] == y->attr_name[b] &&
                same_value(s, x->attr_value[a], y->attr_value[b]))
            continue;
        while (at[n] > a)
            n--;
    }
    return n;
}

/* The bytes of strings in a row. */
static size_t row_bytes(const struct str *all, uint32_t n)
{
    return (size_t)(all[n - 1].ptr - all[0].ptr) + all[n - 1].len;
}

static bool same_lengths(const struct str *x, const struct str *y, uint32_t n)
{
    size_t differ = 0;

    for (uint32_t i = 0; i < n; i++)
        differ |= x[i].len ^ y[i].len;
    return differ == 0;
}

/* How many of n texts are the same: what lies in a row is compared as one. */
static uint32_t count_texts(const struct spans *s, const uint32_t text[2], uint32_t n)
{
    const struct str *x = s->d[0]->text_of + text[0], *y = s->d[1]->text_of + text[1];
    uint32_t i = 0;

    if (n && s->in_row) {
        size_t bytes = row_bytes(x, n), others = row_bytes(y, n);
        size_t same = same_front(x[0].ptr, y[0].ptr, bytes < others ? bytes : others);
        const char *differ = x[0].ptr + same;
        if (same == bytes && same == others)
            i = n;
        for (uint32_t high = n - 1; i < high;) { /* the last that begins no later */
            uint32_t middle = (i + high + 1) / 2;
            if (x[middle].ptr <= differ)
                i = middle;
            else
                high = middle - 1;
        }
        if (!same_lengths(x, y, i)) /* a zero byte is in one, who knows why */
            i = 0;
    }
    while (i < n && str_same(x[i], y[i]))
        i++;
    return i;
}

/* How many texts from one on stand before a node that is near. */
static uint32_t texts_before(const struct page_digest *d, uint32_t from, uint32_t node)
{
    uint32_t low = from, high = d->texts - from > AT_ONCE ? from + AT_ONCE : d->texts;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (d->text_node[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low - from;
}

/* How many nodes of the next few are the same, where names have the same numbers. */
static uint32_t count_few(
        const struct spans *s, struct span_place p, uint32_t n, uint32_t *ret_texts)
{
    const struct page_digest *x = s->d[0], *y = s->d[1];

    n = same_numbers(x->tags + p.node[0], y->tags + p.node[1], n, 0, 0);
    n = same_numbers(x->children + p.node[0], y->children + p.node[1], n, 0, 0);
    n = count_attributes(s, p, n);
    uint32_t texts = texts_before(x, p.text[0], p.node[0] + n);
    *ret_texts = count_texts(s, p.text, texts);
    return *ret_texts == texts ? n : x->text_node[p.text[0] + *ret_texts] - p.node[0];
}

/* How many values both tables begin with. */
static uint32_t count_values(const struct spans *s)
{
    const struct page_digest *x = s->d[0], *y = s->d[1];
    uint32_t most = x->attr_values < y->attr_values ? x->attr_values : y->attr_values, n = 0;

    if (most && s->in_row) {
        size_t bytes = row_bytes(x->attr_value_of, most);
        if (bytes == row_bytes(y->attr_value_of, most) &&
                memcmp(x->attr_value_of[0].ptr, y->attr_value_of[0].ptr, bytes) == 0)
            return most;
    }
    while (n < most && str_same(x->attr_value_of[n], y->attr_value_of[n]))
        n++;
    return n;
}

/* The same where they do not. */
static uint32_t count_one_by_one(
        const struct spans *s, struct span_place p, uint32_t *ret_texts)
{
    const struct page_digest *x = s->d[0], *y = s->d[1];
    uint32_t left[2] = {x->nodes - p.node[0], y->nodes - p.node[1]}, n = 0, texts = 0;
    uint32_t most = left[0] < left[1] ? left[0] : left[1];
    const uint32_t *tags = x->tags + p.node[0], *other_tags = y->tags + p.node[1];
    const uint32_t *children = x->children + p.node[0],
                   *other_children = y->children + p.node[1];
    const struct str *text = x->text_of + p.text[0], *other_text = y->text_of + p.text[1];
    const uint32_t *attrs = x->attr_at + p.node[0], *other_attrs = y->attr_at + p.node[1];

    for (; n < most; n++) {
        if (s->tag[tags[n]] != other_tags[n] || children[n] != other_children[n])
            break;
        if (tags[n] == 0) {
            if (!str_same(text[texts], other_text[texts]))
                break;
            texts++;
        } else if ((attrs[n] != attrs[n + 1] || other_attrs[n] != other_attrs[n + 1]) &&
                   !same_attributes(s, p.node[0] + n, p.node[1] + n)) {
            break;
        }
    }
    *ret_texts = texts;
    return n;
}

/* How many nodes from a place on are the same: same_here() for the many. */
static uint32_t count_same(const struct spans *s, struct span_place p, uint32_t *ret_texts)
{
    uint32_t all = 0, all_texts = 0, n, most, texts;

    if (!s->same_numbers)
        return count_one_by_one(s, p, ret_texts);
    do {
        uint32_t left[2] = {s->d[0]->nodes - p.node[0], s->d[1]->nodes - p.node[1]};
        most = left[0] < left[1] ? left[0] : left[1];
        most = most < AT_ONCE ? most : AT_ONCE;
        n = count_few(s, p, most, &texts);
        for (int side = 0; side < 2; side++) {
            p.node[side] += n;
            p.text[side] += texts;
        }
        all += n;
        all_texts += texts;
    } while (n == most && n > 0);
    *ret_texts = all_texts;
    return all;
}

static void walk_same(struct walk *w)
{
    struct span_place from = w->at;
    uint32_t texts, n = count_same(w->s, from, &texts);

    for (int side = 0; side < 2; side++) {
        w->at.node[side] += n;
        w->at.text[side] += texts;
    }
    if (n)
        span_add(w, from, w->at);
}

/* Whether a row of nodes is the same from here on, or all that are left. */
static bool row_is_same(const struct spans *s, struct span_place p)
{
    for (unsigned i = 0; i < ROW; i++) {
        if (!same_here(s, p))
            return false;
        if (is_end(s, p))
            return true;
        pass_both(s, &p);
    }
    return true;
}

/* Behind a difference: the nearest place where both go on alike. */
static bool walk_ahead(struct walk *w)
{
    const struct spans *s = w->s;
    struct span_place at[AHEAD + 1]; /* so many nodes on, on either side */
    uint64_t most = LOOKS * ((uint64_t)s->d[0]->nodes + s->d[1]->nodes) + LOOKS_LEAST;

    at[0] = w->at;
    for (unsigned both = 1; both <= AHEAD && w->looks <= most; both++) { /* (3) */
        at[both] = at[both - 1];
        pass(s, &at[both], 0);
        pass(s, &at[both], 1);
        for (unsigned n = 0; n <= 2 * both; n++, w->looks++) {
            /* from the diagonal outwards, `both` being the larger of the two steps */
            unsigned less = both - (n + 1) / 2;
            unsigned i = n % 2 ? both : less, j = n % 2 ? less : both;
            struct span_place p = {
                    {at[i].node[0], at[j].node[1]}, {at[i].text[0], at[j].text[1]}};
            if (p.node[0] <= s->d[0]->nodes && p.node[1] <= s->d[1]->nodes &&
                    row_is_same(s, p)) {
                w->at = p;
                return true;
            }
        }
    }
    return false;
}

/* Where the walk gave up: what both end with. */
static void walk_back(struct walk *w)
{
    const struct page_digest *x = w->s->d[0], *y = w->s->d[1];
    struct span_place end = {{x->nodes, y->nodes}, {x->texts, y->texts}}, p = end;

    while (p.node[0] > w->at.node[0] && p.node[1] > w->at.node[1]) {
        struct span_place before = p;
        for (int side = 0; side < 2; side++)
            before.text[side] -= w->s->d[side]->tags[--before.node[side]] == 0;
        if (!same_here(w->s, before))
            break;
        p = before;
    }
    if (p.node[1] < end.node[1])
        span_add(w, p, end);
}

const struct spans *spans_of(const struct question *q)
{
    const struct page_digest *x = q->old->digest, *y = q->new_->digest;
    struct arena *life = q->cache->life;

    if (q->cache->spans)
        return q->cache->spans;
    struct spans *s = arena_new_of(life, struct spans);
    *s = (struct spans){.d = {x, y},
            .tag = numbers_map(
                    x->tag_name_of, x->tag_names, y->tag_name_of, y->tag_names, life),
            .name = numbers_map(
                    x->attr_name_of, x->attr_names, y->attr_name_of, y->attr_names, life),
            .life = life};
    s->same_numbers =
            are_the_same(s->tag, x->tag_names) && are_the_same(s->name, x->attr_names);
    s->in_row = x->texts_in_row && y->texts_in_row;
    s->values_front = count_values(s);
    struct walk w = {.s = s};
    do
        walk_same(&w);
    while (!is_end(s, w.at) && walk_ahead(&w));
    if (!is_end(s, w.at))
        walk_back(&w);
    q->cache->spans = s;
    return s;
}

/* ---- using them -------------------------------------------------------------------------- */

const struct span *span_at(
        const struct span *all, size_t count, enum span_of of, size_t old, size_t new_)
{
    size_t low = 0, high = count;

    while (low < high) { /* the first that ends behind it */
        size_t middle = (low + high) / 2;
        if (all[middle].at[of][1] + all[middle].len[of] <= new_)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || all[low].at[of][1] > new_ ||
            new_ - all[low].at[of][1] + all[low].at[of][0] != old)
        return NULL;
    return &all[low];
}

size_t span_run(const struct span *all, size_t count, enum span_of of, size_t old, size_t new_,
        bool (*equal)(const void *arg, size_t old, size_t new_), const void *arg)
{
    size_t from = new_;

    while (old > 0 && new_ > 0 && equal(arg, old - 1, new_ - 1)) {
        const struct span *k = span_at(all, count, of, old - 1, new_ - 1);
        size_t n = k ? new_ - k->at[of][1] : 1;
        old -= n;
        new_ -= n;
    }
    return from - new_;
}
