/* Elements of a digest as items that can be compared, and their texts. */
#include "cdg/detect_int.h"

/* name="value" */
static struct str attribute_text(const struct page_digest *d, uint32_t attr, struct arena *life)
{
    struct str name = page_attr_name(d, attr), value = page_attr_value(d, attr);
    size_t len = name.len + value.len + 3;
    char *text = arena_alloc(life, len + 1);

    memcpy(text, name.ptr, name.len);
    memcpy(text + name.len, "=\"", 2);
    memcpy(text + name.len + 2, value.ptr, value.len);
    memcpy(text + len - 1, "\"", 2);
    return (struct str){text, len};
}

static struct diff_item item_make(
        const struct page_digest *d, uint32_t node, struct arena *life)
{
    uint32_t from = d->attr_at[node], n = d->attr_at[node + 1] - from;
    struct str *parts = arena_array_of(life, n + 1, struct str);
    struct str name = page_tag_name(d, d->tags[node]);
    size_t bytes = name.len + 3;

    parts[0] = name;
    for (uint32_t i = 0; i < n; i++) {
        parts[i + 1] = attribute_text(d, from + i, life);
        bytes += parts[i + 1].len + 1;
    }
    char *text = arena_alloc(life, bytes), *at = text;
    *at++ = '<';
    for (uint32_t i = 0; i <= n; i++) {
        if (i)
            *at++ = ' ';
        memcpy(at, parts[i].ptr, parts[i].len);
        at += parts[i].len;
    }
    *at++ = '>';
    return (struct diff_item){
            .text = {text, (size_t)(at - text)}, .parts = parts, .nparts = n + 1};
}

static struct elements elements_new(const struct page_digest *d, struct arena *life)
{
    size_t count = d->nodes - d->texts;

    return (struct elements){.d = d,
            .life = life,
            .pages = arena_array_of(life, count / ELEMENTS_PAGE + 1, struct diff_item **),
            .node = arena_alloc(life, (count + 1) * sizeof(uint32_t))};
}

static void elements_read(struct elements *e, uint32_t from, uint32_t to)
{
    const uint32_t *tags = e->d->tags;
    uint32_t *restrict node = e->node;
    size_t count = e->count;

    for (uint32_t i = from; i < to; i++) { /* the place behind the last is written too */
        node[count] = i;
        count += tags[i] != 0;
    }
    e->count = count;
}

/* The old ones from the new ones, where they lie in spans. */
static void elements_copy(
        struct elements *old, const struct elements *new_, const struct spans *s)
{
    uint32_t done = 0;

    for (size_t i = 0; i < s->count; i++) {
        const struct span *k = &s->all[i];
        elements_read(old, done, k->at[SPAN_NODES][0]);
        uint32_t behind = k->at[SPAN_NODES][1] - k->at[SPAN_NODES][0]; /* may wrap around */
        uint32_t *restrict to = old->node + old->count;
        const uint32_t *from = new_->node + k->at[SPAN_ELEMENTS][1];
        for (uint32_t n = 0; n < k->len[SPAN_ELEMENTS]; n++)
            to[n] = from[n] - behind;
        old->count += k->len[SPAN_ELEMENTS];
        done = k->at[SPAN_NODES][0] + k->len[SPAN_NODES];
    }
    elements_read(old, done, old->d->nodes);
}

const struct diff_item *element_item(const struct elements *e, size_t i)
{
    struct diff_item ***page = &e->pages[i / ELEMENTS_PAGE];

    if (!*page)
        *page = arena_array_of(e->life, ELEMENTS_PAGE, struct diff_item *);
    struct diff_item **at = &(*page)[i % ELEMENTS_PAGE];
    if (!*at) {
        struct diff_item item = item_make(e->d, e->node[i], e->life);
        *at = arena_memdup(e->life, &item, sizeof item);
    }
    return *at;
}

uint32_t first_text(const struct page_digest *d, uint32_t node)
{
    uint32_t low = 0, high = d->texts;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (d->text_node[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool element_has_text(const struct elements *e, size_t i)
{
    const struct page_digest *d = e->d;
    uint32_t text = first_text(d, e->node[i]);

    return text < d->texts && d->text_node[text] < d->end[e->node[i]];
}

/* ---- pairs ------------------------------------------------------------------------------- */

const struct element_pair *element_pair_of(const struct question *q)
{
    const struct page_digest *old = q->old->digest, *new_ = q->new_->digest;
    struct arena *life = q->cache->life;

    if (q->cache->elements)
        return q->cache->elements;
    struct element_pair *p = arena_new_of(life, struct element_pair);
    p->old = elements_new(old, life);
    p->new_ = elements_new(new_, life);
    p->spans = spans_of(q);
    elements_read(&p->new_, 0, new_->nodes);
    elements_copy(&p->old, &p->new_, p->spans);
    q->cache->elements = p;
    return p;
}

bool element_pair_same_name(const void *arg, size_t old, size_t new_)
{
    const struct element_pair *p = arg;

    return p->spans->tag[p->old.d->tags[p->old.node[old]]] ==
           p->new_.d->tags[p->new_.node[new_]];
}

bool element_pair_equal(const void *arg, size_t old, size_t new_)
{
    const struct element_pair *p = arg;

    return span_element_equal(p->spans, p->old.node[old], p->new_.node[new_]);
}

size_t element_pair_run(const void *arg, size_t old, size_t new_)
{
    const struct spans *s = ((const struct element_pair *)arg)->spans;
    return span_run(s->all, s->count, SPAN_ELEMENTS, old, new_, element_pair_equal, arg);
}

size_t element_pair_name_run(const void *arg, size_t old, size_t new_)
{
    const struct spans *s = ((const struct element_pair *)arg)->spans;
    return span_run(s->all, s->count, SPAN_ELEMENTS, old, new_, element_pair_same_name, arg);
}

size_t element_pair_known(const struct element_pair *p, size_t old, size_t new_)
{
    const struct spans *s = p->spans;
    const struct span *k = span_at(s->all, s->count, SPAN_ELEMENTS, old, new_);

    return k ? k->at[SPAN_ELEMENTS][1] + k->len[SPAN_ELEMENTS] - new_ : 0;
}

struct diff_item element_pair_item(const void *arg, bool new_, size_t i)
{
    const struct element_pair *p = arg;
    return *element_item(new_ ? &p->new_ : &p->old, i);
}

/* ---- what is told of them ---------------------------------------------------------------- */

/* The name in name="value"; only its first character may be a "=" itself. */
static struct str attribute_name(struct str part)
{
    return (struct str){part.ptr, part.len ? 1 + strcspn(part.ptr + 1, "=") : 0};
}

/* In the order the digest has them. */
static int compare_names(struct str a, struct str b)
{
    int c = memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);
    return c ? c : (a.len > b.len) - (a.len < b.len);
}

/* The attributes in which two elements of one name differ, each as an update. */
void answer_add_attributes(struct answer *a, const struct question *q,
        const struct element_pair *pair, size_t at, size_t new_at)
{
    const struct diff_item *old = element_item(&pair->old, at);
    const struct diff_item *new_ = element_item(&pair->new_, new_at);
    size_t i = 1, j = 1;

    while (i < old->nparts || j < new_->nparts) {
        struct str x = i < old->nparts ? old->parts[i] : (struct str){"", 0};
        struct str y = j < new_->nparts ? new_->parts[j] : (struct str){"", 0};
        struct str name = attribute_name(x), other = attribute_name(y);
        int c = i == old->nparts ? 1 : j == new_->nparts ? -1 : compare_names(name, other);
        struct change change = {CHANGE_UPDATED,
                .at = {pair->old.node[at] + 1, pair->new_.node[new_at] + 1}, .by_path = true};
        if (c <= 0)
            change.old = x;
        if (c >= 0)
            change.new_ = y;
        if (c != 0 || !str_equal(x, y)) {
            change.attribute = c <= 0 ? name : other;
            answer_add(a, q->life, change);
        }
        i += c <= 0;
        j += c >= 0;
    }
}

void answer_add_first_difference(struct answer *a, const struct question *q)
{
    const struct page_digest *old = q->old->digest, *new_ = q->new_->digest;
    uint32_t i = 0;

    while (i < old->nodes && i < new_->nodes && old->children[i] == new_->children[i] &&
            str_equal(page_tag_name(old, old->tags[i]), page_tag_name(new_, new_->tags[i])))
        i++;
    struct change c = {CHANGE_UPDATED, .by_path = true};
    if (i < old->nodes) {
        c.at[0] = i + 1;
        c.old = str_of(arena_printf(q->life, "<%s> with %u children",
                page_tag_name(old, old->tags[i]).ptr, old->children[i]));
    }
    if (i < new_->nodes) {
        c.at[1] = i + 1;
        c.new_ = str_of(arena_printf(q->life, "<%s> with %u children",
                page_tag_name(new_, new_->tags[i]).ptr, new_->children[i]));
    }
    if (i >= old->nodes && i >= new_->nodes)
        c.path = "/";
    answer_add(a, q->life, c);
}

struct str subtree_text(
        const struct page_digest *d, uint32_t node, uint32_t end, struct arena *life)
{
    size_t bytes = 0, at = 0;
    uint32_t low = first_text(d, node);

    for (uint32_t i = low; i < d->texts && d->text_node[i] < end; i++)
        bytes += page_text(d, i).len + 1;
    char *text = arena_alloc(life, bytes + 1);
    for (uint32_t i = low; i < d->texts && d->text_node[i] < end; i++) {
        struct str s = page_text(d, i);
        if (at && d->text_block[i])
            text[at++] = ' ';
        memcpy(text + at, s.ptr, s.len);
        at += s.len;
    }
    text[at] = 0;
    return (struct str){text, at};
}
