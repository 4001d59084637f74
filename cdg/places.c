/* Where in the page what is listed stands, as a path that an XPath tool understands.
 *
 * Change types note the node of what they list; the path is written when the list is complete,
 * and so for no more than is told.  It must hold that
 *  (1) a path is written once for a node and pair, whichever types list it, and the paths of
 *      what is around it are the beginnings of it;
 *  (2) siblings are counted once, however many of them are listed, so the time is in
 *      proportion to the page; and
 *  (3) a path that is longer than anybody reads is not written.
 *
 * A text is where the element around it is: which of several texts it is cannot be said to
 * other tools, for which white space and comments part texts that are one for us.
 */
#include "cdg/detect_int.h"

enum { PLACE_BYTES = 1000 }; /* (3) */

/* Siblings of one name, as far as they are counted. */
struct counted {
    struct counted *next; /* of the same parent */
    uint32_t tag;
    uint32_t node, place; /* the last one that was asked for; place 0: none was */
    enum { OTHERS_UNKNOWN, OTHERS, NO_OTHERS } others;
    uint32_t *all, count; /* NULL: nobody asked for one before the last */
};

struct place_entry {
    uint32_t node; /* NO_NODE: the document */
    bool written;
    struct str path; /* ptr NULL: too long; not terminated */
    struct counted below;
};

/* "/name", where it is short and XPath takes the name as it is, which most are. */
struct tag_step {
    uint8_t len; /* 0: it was not looked at; 1: it has to be spelled */
    char text[23];
};

/* The paths of one version. */
struct places {
    const struct page_digest *d;
    struct arena *life;
    uint32_t *slots; /* open addressing: number of an entry + 1 */
    uint32_t mask;
    struct place_entry *all;
    uint32_t count;
    struct tag_step *steps; /* by tag */
};

static uint32_t slot_of(const struct places *p, uint32_t node)
{
    uint32_t i = node * 0x9E3779B1u >> 7 & p->mask;

    while (p->slots[i] && p->all[p->slots[i] - 1].node != node)
        i = (i + 1) & p->mask;
    return i;
}

static void slots_make(struct places *p, uint32_t slots)
{
    struct place_entry *all = arena_alloc(p->life, slots / 2 * sizeof *all);

    if (p->count)
        memcpy(all, p->all, p->count * sizeof *all);
    p->all = all;
    p->slots = arena_array_of(p->life, slots, uint32_t);
    p->mask = slots - 1;
    for (uint32_t i = 0; i < p->count; i++)
        p->slots[slot_of(p, all[i].node)] = i + 1;
}

static struct places *places_of(const struct question *q, bool new_)
{
    struct places **slot = &q->cache->places[new_];

    if (*slot)
        return *slot;
    struct places *p = arena_new_of(q->cache->life, struct places);
    p->d = (new_ ? q->new_ : q->old)->digest;
    p->life = q->cache->life;
    p->steps = arena_array_of(p->life, p->d->tag_names + 1, struct tag_step);
    slots_make(p, 256);
    *slot = p;
    return p;
}

/* The number of the entry of a node, or of the document for NO_NODE; entries move when one is
 * made. */
static uint32_t entry_of(struct places *p, uint32_t node)
{
    uint32_t slot = slot_of(p, node);

    if (p->slots[slot])
        return p->slots[slot] - 1;
    if (p->count == (p->mask + 1) / 2) {
        slots_make(p, 2 * (p->mask + 1));
        slot = slot_of(p, node);
    }
    p->all[p->count] = (struct place_entry){.node = node};
    p->slots[slot] = ++p->count;
    return p->count - 1;
}

/* ---- steps ------------------------------------------------------------------------------- */

static struct counted *counted_of(struct places *p, struct place_entry *parent, uint32_t tag)
{
    struct counted *c = &parent->below;

    if (c->place == 0 && !c->next)
        c->tag = tag; /* the first, and mostly the only one */
    while (c && c->tag != tag)
        c = c->next;
    if (!c) {
        c = arena_new_of(p->life, struct counted);
        *c = (struct counted){.next = parent->below.next, .tag = tag};
        parent->below.next = c;
    }
    return c;
}

/* All of them, since they are not asked for in order. */
static void counted_list(
        struct places *p, struct counted *c, uint32_t from, uint32_t end, uint32_t most)
{
    const struct page_digest *d = p->d;

    c->all = arena_alloc(p->life, (size_t)most * sizeof *c->all);
    for (uint32_t at = from; at < end; at = d->end[at])
        if (d->tags[at] == c->tag)
            c->all[c->count++] = at;
}

static uint32_t counted_find(const struct counted *c, uint32_t node)
{
    uint32_t low = 0, high = c->count;

    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (c->all[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    return low + 1;
}

/* Which of the siblings with its name a node is, from 1; 0: there is no other. */
static uint32_t place_among(struct places *p, struct place_entry *around, uint32_t node)
{
    const struct page_digest *d = p->d;
    uint32_t parent = around->node, tag = d->tags[node];
    uint32_t from = parent == NO_NODE ? 0 : parent + 1,
             end = parent == NO_NODE ? d->nodes : d->end[parent];
    struct counted *c = counted_of(p, around, tag);

    if (c->place && node < c->node && !c->all)
        counted_list(p, c, from, end, parent == NO_NODE ? d->nodes : d->children[parent]);
    if (c->all) { /* (2) */
        c->place = counted_find(c, node);
    } else if (!c->place || node > c->node) {
        uint32_t at = c->place ? d->end[c->node] : from;
        for (; at < node; at = d->end[at])
            c->place += d->tags[at] == tag;
        c->place++;
    }
    c->node = node;
    if (c->place > 1)
        return c->place;
    if (c->others == OTHERS_UNKNOWN) {
        uint32_t at = d->end[node];
        while (at < end && d->tags[at] != tag)
            at = d->end[at];
        c->others = at < end ? OTHERS : NO_OTHERS;
    }
    return c->others == OTHERS;
}

/* Whether XPath takes the name as it is; keys of JSON may be anything. */
static bool is_xpath_name(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i], lower = c | 0x20;
        bool begins = (lower >= 'a' && lower <= 'z') || c == '_' || c >= 0x80;
        if (!begins && (i == 0 || !((c >= '0' && c <= '9') || (c && strchr("-.:", c)))))
            return false;
    }
    return s.len > 0;
}

/* A path that is being written. */
struct writing {
    size_t len;
    bool too_long;
    char text[PLACE_BYTES + sizeof(struct tag_step)];
};

static void put(struct writing *w, const char *bytes, size_t n)
{
    if (n > PLACE_BYTES - w->len)
        w->too_long = true;
    else
        memcpy(w->text + w->len, bytes, n);
    w->len += w->too_long ? 0 : n;
}

static void put_number(struct writing *w, uint32_t n)
{
    char digits[12];
    size_t at = sizeof digits;

    digits[--at] = ']';
    do
        digits[--at] = (char)('0' + n % 10);
    while (n /= 10);
    digits[--at] = '[';
    put(w, digits + at, sizeof digits - at);
}

/* XPath has no escapes: a name with both quotes cannot be written. */
static void put_spelled(struct writing *w, struct str name)
{
    const char *quote = memchr(name.ptr, '"', name.len) ? "'" : "\"";

    w->too_long |= *quote == '\'' && memchr(name.ptr, '\'', name.len);
    put(w, "/*[name()=", 10);
    put(w, quote, 1);
    put(w, name.ptr, name.len);
    put(w, quote, 1);
    put(w, "]", 1);
}

static void tag_step_make(struct tag_step *s, struct str name)
{
    s->len = 1;
    s->text[0] = '/';
    if (name.len < sizeof s->text && is_xpath_name(name)) {
        memcpy(s->text + 1, name.ptr, name.len);
        s->len = (uint8_t)(name.len + 1);
    }
}

static void put_long_name(struct writing *w, struct str name)
{
    if (is_xpath_name(name)) {
        put(w, "/", 1);
        put(w, name.ptr, name.len);
    } else {
        put_spelled(w, name);
    }
}

static void put_name(struct writing *w, struct places *p, uint32_t tag)
{
    struct tag_step *s = &p->steps[tag];

    if (s->len == 0)
        tag_step_make(s, page_tag_name(p->d, tag));
    if (s->len > 1 && s->len <= PLACE_BYTES - w->len) {
        memcpy(w->text + w->len, s->text, sizeof s->text); /* what is too much goes again */
        w->len += s->len;
    } else {
        put_long_name(w, page_tag_name(p->d, tag));
    }
}

static void put_step(struct writing *w, struct places *p, uint32_t around, uint32_t node)
{
    uint32_t tag = p->d->tags[node], place = place_among(p, &p->all[around], node);

    put_name(w, p, tag);
    if (place)
        put_number(w, place);
}

/* ---- paths ------------------------------------------------------------------------------- */

/* Goes up to what is written, then down again step by step. */
static struct str path_of(struct places *p, uint32_t node)
{
    enum { STEPS = PLACE_BYTES / 2 }; /* each has two bytes at least */
    uint32_t chain[STEPS], n = 0, around;
    uint16_t ends[STEPS];
    struct writing w;

    if (node == NO_NODE)
        return STR("/");
    w.len = 0;
    w.too_long = false;
    for (uint32_t at = node;; at = p->d->parent[at]) {
        around = entry_of(p, at);
        if (at == NO_NODE || p->all[around].written)
            break;
        if (n == STEPS)
            return (struct str){NULL, 0}; /* (3) */
        chain[n++] = around;
    }
    struct str front = p->all[around].path;
    if (n == 0)
        return front;
    w.too_long = p->all[around].written && !front.ptr;
    put(&w, front.ptr ? front.ptr : "", front.len);
    for (uint32_t i = n; i-- > 0; around = chain[i]) {
        put_step(&w, p, around, p->all[chain[i]].node);
        ends[i] = (uint16_t)w.len;
    }
    const char *text = w.too_long ? NULL : arena_strndup(p->life, w.text, w.len);
    for (uint32_t i = 0; i < n; i++) { /* (1) */
        struct place_entry *e = &p->all[chain[i]];
        e->written = text || i == 0; /* the others may be short enough */
        e->path = (struct str){text, text ? ends[i] : 0};
    }
    return p->all[chain[0]].path;
}

/* ---- what stands where ------------------------------------------------------------------- */

/* The block that was asked for last: of a long one many words may be listed. */
struct block_memo {
    uint32_t at, node; /* text + 1, 0: none; the element around it */
};

/* The smallest element around the block that begins with a text. */
static uint32_t block_node(const struct page_digest *d, uint32_t from)
{
    uint32_t end = from + 1, around = d->parent[d->text_node[from]];

    while (end < d->texts && !d->text_block[end])
        end++;
    while (around != NO_NODE && d->end[around] <= d->text_node[end - 1])
        around = d->parent[around];
    return around;
}

/* "/html/body/a/@href" */
static struct str attribute_path(struct str path, struct str name, struct arena *life)
{
    const char *form = is_xpath_name(name) ? "%.*s/@%.*s" : "%.*s/@*[name()=\"%.*s\"]";

    if (!path.ptr || memchr(name.ptr, '"', name.len))
        return path;
    return str_of(arena_printf(life, form, (int)path.len, path.ptr, (int)name.len, name.ptr));
}

static uint32_t node_of(
        const struct page_digest *d, const struct change *c, bool new_, struct block_memo *memo)
{
    uint32_t at = c->at[new_] - 1;

    if (!c->of_block)
        return d->tags[at] == 0 ? d->parent[at] : at;
    if (memo->at != at + 1)
        *memo = (struct block_memo){at + 1, block_node(d, at)};
    return memo->node;
}

void answer_leave_region(const struct question *inside, struct answer *a)
{
    struct block_memo memo[2] = {{0, 0}, {0, 0}};

    for (size_t i = 0; i < a->nchanges; i++) {
        struct change *c = &a->changes[i];
        for (int side = 0; side < 2; side++) {
            const struct page_digest *d = (side ? inside->new_ : inside->old)->digest;
            uint32_t node = c->at[side] ? node_of(d, c, side, &memo[side]) : NO_NODE;
            c->at[side] = node != NO_NODE && d->page_node ? d->page_node[node] + 1 : 0;
        }
        c->of_block = false;
    }
}

void answer_fill_places(const struct question *q, struct answer *a)
{
    struct block_memo memo[2] = {{0, 0}, {0, 0}};

    for (size_t i = 0; i < a->nchanges; i++) {
        struct change *c = &a->changes[i];
        for (int side = 0; side < 2; side++) {
            if (!c->at[side])
                continue;
            struct places *p = places_of(q, side);
            c->place[side] = path_of(p, node_of(p->d, c, side, &memo[side]));
            if (c->attribute.ptr && (side ? c->new_ : c->old).ptr)
                c->place[side] = attribute_path(c->place[side], c->attribute, p->life);
        }
    }
}
