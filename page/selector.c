/* Selectors: reading what both languages share, and finding the nodes.
 *
 * A step is evaluated for all elements at once, in document order, so a selector costs its
 * steps times the page, whatever it says.  It must hold that
 *  (1) html, head, body, tbody and colgroup, which a page may leave out and a browser shows
 *      all the same, may be named where they are missing: what they would be in stands for
 *      them; and
 *  (2) places among siblings are counted once, for all of them.
 */
#include "page/xpath.h"

/* ---- reading ----------------------------------------------------------------------------- */

enum err selector_error(struct selector_text *t, const char *expected)
{
    return fault_set(t->f, ERR_SYNTAX,
            "at character %zu of the selector \"%.100s\": expected %s",
            (size_t)(t->at - t->start) + 1, t->start, expected);
}

void selector_skip_space(struct selector_text *t)
{
    while (*t->at == ' ' || (*t->at >= '\t' && *t->at <= '\r'))
        t->at++;
}

char *selector_name(struct selector_text *t)
{
    const char *from = t->at;

    while ((*t->at >= 'a' && *t->at <= 'z') || (*t->at >= 'A' && *t->at <= 'Z') ||
            (*t->at >= '0' && *t->at <= '9') || *t->at == '-' || *t->at == '_' ||
            (*t->at & 0x80))
        t->at++;
    return t->at > from ? arena_strndup(t->life, from, (size_t)(t->at - from)) : NULL;
}

char *selector_string(struct selector_text *t)
{
    selector_skip_space(t);
    char quote = *t->at;
    const char *end = quote == '"' || quote == '\'' ? strchr(t->at + 1, quote) : NULL;

    if (!end)
        return NULL;
    char *s = arena_strndup(t->life, t->at + 1, (size_t)(end - t->at - 1));
    t->at = end + 1;
    return s;
}

bool selector_take(struct selector_text *t, const char *token)
{
    selector_skip_space(t);
    if (strncmp(t->at, token, strlen(token)) != 0)
        return false;
    t->at += strlen(token);
    return true;
}

struct test *selector_test_add(struct selector_text *t, struct step *s, enum test_kind kind)
{
    struct test *test = arena_new_of(t->life, struct test), **last = &s->tests;

    test->kind = kind;
    while (*last)
        last = &(*last)->next;
    *last = test;
    return test;
}

void selector_alternative_add(struct selector_text *t, struct step *first)
{
    struct step **bigger = arena_array_of(t->life, t->s->count + 1, struct step *);

    if (t->s->count)
        memcpy(bigger, t->s->alternatives, t->s->count * sizeof *bigger);
    bigger[t->s->count++] = first;
    t->s->alternatives = bigger;
}

enum err page_selector_new(struct arena *life, enum page_selector_language language,
        const char *text, struct fault *f, struct page_selector **ret_selector)
{
    struct selector_text t = {text, text, life, arena_new_of(life, struct page_selector), f};

    if (strlen(text) > SELECTOR_BYTES)
        return fault_set(f, ERR_LIMIT, "the selector is longer than %d bytes", SELECTOR_BYTES);
    enum err e = language == PAGE_XPATH ? xpath_read(&t) : css_read(&t);
    if (e)
        return e;
    *ret_selector = t.s;
    return OK;
}

/* ---- finding ----------------------------------------------------------------------------- */

/* Where an element stands among those of its parent, and among those of its name. */
struct place {
    uint32_t child, children, of_type, all_of_type;
};

struct finder {
    const struct page_digest *d;
    struct arena *life;
    const uint32_t *end;
    uint32_t *parent;           /* nodes, that is the document, for a root */
    uint32_t *siblings;         /* scratch: elements of one parent that passed so far */
    bool *now, *before, *below; /* by node, and one for the document */
    struct place *places;       /* by node; NULL until a test asks for them */
};

static struct str attribute_of(const struct page_digest *d, uint32_t node, const char *name)
{
    for (uint32_t a = d->attr_at[node]; a < d->attr_at[node + 1]; a++)
        if (str_equal_nocase(page_attr_name(d, a), str_of(name)))
            return page_attr_value(d, a);
    return (struct str){NULL, 0};
}

static bool has_word(struct str s, struct str word)
{
    for (size_t i = 0; i < s.len;) {
        size_t from = i;
        while (i < s.len && s.ptr[i] != ' ')
            i++;
        if (str_equal((struct str){s.ptr + from, i - from}, word))
            return true;
        i++;
    }
    return false;
}

static bool value_passes(const struct test *t, struct str s)
{
    struct str v = str_of(t->value ? t->value : "");

    switch (t->kind) {
    case TEST_HAS:
        return s.ptr != NULL;
    case TEST_EQUALS:
        return s.ptr && str_equal(s, v);
    case TEST_STARTS:
        return s.ptr && s.len >= v.len && memcmp(s.ptr, v.ptr, v.len) == 0;
    case TEST_ENDS:
        return s.ptr && s.len >= v.len && memcmp(s.ptr + s.len - v.len, v.ptr, v.len) == 0;
    case TEST_CONTAINS:
        return s.ptr && memmem(s.ptr, s.len, v.ptr, v.len) != NULL;
    case TEST_WORD:
        return s.ptr && has_word(s, v);
    case TEST_CHILD_NUMBER:
    case TEST_TYPE_NUMBER:
    case TEST_NOT:
        break;
    }
    return false;
}

static bool name_passes(const struct finder *x, const struct step *s, uint32_t node)
{
    struct str name = page_tag_name(x->d, x->d->tags[node]);

    if (x->d->tags[node] == 0)
        return false;
    if (!s->name)
        return true;
    return x->d->type == PAGE_XML ? str_equal(name, str_of(s->name))
                                  : str_equal_nocase(name, str_of(s->name));
}

static void count_places(struct finder *x, uint32_t parent, uint32_t *by_tag)
{
    uint32_t from = parent == x->d->nodes ? 0 : parent + 1, n = 0;
    uint32_t to = parent == x->d->nodes ? x->d->nodes : x->end[parent];

    for (uint32_t i = from; i < to; i = x->end[i]) {
        if (x->d->tags[i] == 0)
            continue;
        x->places[i].child = ++n;
        x->places[i].of_type = ++by_tag[x->d->tags[i]];
    }
    for (uint32_t i = from; i < to; i = x->end[i]) {
        x->places[i].children = n;
        x->places[i].all_of_type = by_tag[x->d->tags[i]];
    }
    for (uint32_t i = from; i < to; i = x->end[i])
        by_tag[x->d->tags[i]] = 0;
}

/* (2) */
static const struct place *place_of(struct finder *x, uint32_t node)
{
    if (!x->places) {
        uint32_t *by_tag = arena_array_of(x->life, x->d->tag_names + 1, uint32_t);
        x->places = arena_array_of(x->life, x->d->nodes, struct place);
        for (uint32_t i = 0; i <= x->d->nodes; i++)
            if (i == x->d->nodes || x->d->children[i])
                count_places(x, i, by_tag);
    }
    return &x->places[node];
}

static bool number_passes(struct finder *x, const struct test *t, uint32_t node)
{
    const struct place *p = place_of(x, node);
    bool of_type = t->kind == TEST_TYPE_NUMBER;
    int64_t place = of_type ? p->of_type : p->child;
    int64_t count = of_type ? p->all_of_type : p->children;

    place = (t->from_end ? count - place + 1 : place) - t->n;
    return t->every ? place % t->every == 0 && place / t->every >= 0 : place == 0;
}

static bool tests_pass(struct finder *x, const struct step *s, uint32_t node);

static bool test_passes(struct finder *x, const struct test *t, uint32_t node)
{
    if (t->kind == TEST_CHILD_NUMBER || t->kind == TEST_TYPE_NUMBER)
        return number_passes(x, t, node);
    if (t->kind != TEST_NOT)
        return value_passes(t, attribute_of(x->d, node, t->name));
    for (const struct step *s = t->without; s; s = s->next)
        if (name_passes(x, s, node) && tests_pass(x, s, node))
            return false;
    return true;
}

static bool tests_pass(struct finder *x, const struct step *s, uint32_t node)
{
    const struct test *t = s->tests;

    while (t && test_passes(x, t, node))
        t = t->next;
    return !t;
}

/* Whether a node may follow the step before by its place. */
static bool place_passes(const struct finder *x, enum relation r, uint32_t parent,
        uint32_t previous, bool any_before)
{
    switch (r) {
    case RELATION_CHILD:
        return x->before[parent];
    case RELATION_BELOW:
        return x->before[parent] || x->below[parent];
    case RELATION_NEXT:
        return previous != NO_NODE && x->before[previous];
    case RELATION_AFTER:
        return any_before;
    }
    return false;
}

/* Takes one step among the children of one parent. */
static void step_children(struct finder *x, const struct step *s, uint32_t parent)
{
    uint32_t from = parent == x->d->nodes ? 0 : parent + 1, n = 0, previous = NO_NODE;
    uint32_t to = parent == x->d->nodes ? x->d->nodes : x->end[parent];
    bool any_before = false;

    for (uint32_t i = from; i < to; i = x->end[i]) {
        if (x->d->tags[i] == 0)
            continue;
        if (name_passes(x, s, i) && place_passes(x, s->relation, parent, previous, any_before))
            x->siblings[n++] = i;
        any_before |= x->before[i];
        previous = i;
    }
    uint32_t all = n;
    n = 0;
    for (uint32_t i = 0; i < all; i++)
        if (tests_pass(x, s, x->siblings[i]))
            x->siblings[n++] = x->siblings[i];
    for (uint32_t i = 0; i < n; i++)
        x->now[x->siblings[i]] = true;
}

static bool is_named(const struct page_digest *d, uint32_t node, const char *name)
{
    return str_equal_nocase(page_tag_name(d, d->tags[node]), str_of(name));
}

static bool has_child(const struct page_digest *d, uint32_t node, const char *name)
{
    uint32_t end = node == d->nodes ? d->nodes : d->end[node];

    for (uint32_t i = node == d->nodes ? 0 : node + 1; i < end; i = d->end[i])
        if (is_named(d, i, name))
            return true;
    return false;
}

bool selector_stands_for(
        const struct page_digest *d, uint32_t node, const char *name, bool is_wanted)
{
    struct str s = str_of(name);
    bool is_document = node == d->nodes;
    bool colgroup = str_equal_nocase(s, STR("colgroup"));
    bool head = str_equal_nocase(s, STR("head"));

    if (d->type != PAGE_HTML || (is_wanted && (colgroup || head)))
        return false;
    if (colgroup || str_equal_nocase(s, STR("tbody")))
        return !is_document && is_named(d, node, "table") && !has_child(d, node, name);
    if (head || str_equal_nocase(s, STR("body")))
        return (is_document ? !has_child(d, node, "html") : is_named(d, node, "html")) &&
               !has_child(d, node, name);
    return is_document && str_equal_nocase(s, STR("html")) && !has_child(d, node, name);
}

/* (1) */
static void step_left_out(struct finder *x, const struct step *s)
{
    for (uint32_t i = 0; s->name && !s->tests && i <= x->d->nodes; i++) {
        bool here = x->before[i] || (s->relation == RELATION_BELOW && x->below[i]);
        if (here && selector_stands_for(x->d, i, s->name, !s->next))
            x->now[i] = true;
    }
}

static void step_all(struct finder *x, const struct step *s)
{
    uint32_t n = x->d->nodes;

    x->below[n] = false;
    for (uint32_t i = 0; i < n; i++)
        x->below[i] = x->before[x->parent[i]] || x->below[x->parent[i]];
    memset(x->now, 0, (n + 1) * sizeof *x->now);
    step_children(x, s, n);
    for (uint32_t i = 0; i < n; i++)
        if (x->d->children[i])
            step_children(x, s, i);
    if (s->relation == RELATION_CHILD || s->relation == RELATION_BELOW)
        step_left_out(x, s);
    bool *was = x->before;
    x->before = x->now;
    x->now = was;
}

static struct finder finder_new(const struct page_digest *d, struct arena *life)
{
    size_t n = (size_t)d->nodes + 1;
    struct finder x = {.d = d,
            .life = life,
            .end = d->end,
            .parent = arena_array_of(life, n, uint32_t),
            .siblings = arena_array_of(life, n, uint32_t),
            .now = arena_array_of(life, n, bool),
            .before = arena_array_of(life, n, bool),
            .below = arena_array_of(life, n, bool)};

    for (uint32_t i = 0; i < d->nodes; i++)
        x.parent[i] = d->parent[i] == NO_NODE ? d->nodes : d->parent[i];
    return x;
}

/* ---- the region as a digest -------------------------------------------------------------- */

static void copy_element(struct finder *x, struct build *b, uint32_t node, struct buf *pairs)
{
    const struct page_digest *d = x->d;

    buf_clear(pairs);
    for (uint32_t a = d->attr_at[node]; a < d->attr_at[node + 1]; a++) {
        struct pair p = {.name = page_attr_name(d, a), .value = page_attr_value(d, a)};
        buf_append(pairs, &p, sizeof p);
    }
    build_open(b, page_tag_name(d, d->tags[node]), (struct pair *)(void *)pairs->data,
            pairs->len / sizeof(struct pair));
}

static void copy_subtree(struct finder *x, struct build *b, uint32_t node, uint32_t text)
{
    const struct page_digest *d = x->d;
    BUF(pairs, PAGE_ATTRIBUTES_MAX * sizeof(struct pair));
    BUF(ends, PAGE_DEPTH_MAX * 8 * sizeof(uint32_t));

    build_break(b);
    for (uint32_t i = node; i < x->end[node]; i++) {
        while (ends.len &&
                *(uint32_t *)(void *)(ends.data + ends.len - sizeof(uint32_t)) == i) {
            ends.len -= sizeof(uint32_t);
            build_close(b);
        }
        if (d->tags[i] == 0) {
            if (d->text_block[text]) /* lines of a text have no elements to part them */
                build_break(b);
            build_text(b, page_text(d, text++));
            continue;
        }
        copy_element(x, b, i, &pairs);
        b->overflowed |= !buf_append(&ends, &x->end[i], sizeof(uint32_t));
    }
    for (; ends.len; ends.len -= sizeof(uint32_t))
        build_close(b);
    build_break(b);
}

/* Appends the numbers of the nodes it copies. */
static bool copy_selected(
        struct finder *x, const bool *selected, struct build *b, struct buf *copied)
{
    bool found = false;
    uint32_t text = 0;

    for (uint32_t i = 0; i < x->d->nodes;) {
        if (!selected[i]) {
            text += x->d->tags[i] == 0;
            i++;
            continue;
        }
        found = true;
        copy_subtree(x, b, i, text);
        for (uint32_t end = x->end[i]; i < end; i++) {
            text += x->d->tags[i] == 0;
            buf_append(copied, &i, sizeof i);
        }
    }
    return found;
}

static bool *selected_by(struct finder *x, const struct page_selector *s)
{
    size_t n = (size_t)x->d->nodes + 1;
    bool *selected = arena_array_of(x->life, n, bool);

    for (size_t i = 0; i < s->count; i++) {
        memset(x->before, 0, n * sizeof *x->before);
        x->before[x->d->nodes] = true;
        for (const struct step *step = s->alternatives[i]; step; step = step->next)
            step_all(x, step);
        for (uint32_t k = 0; k < x->d->nodes; k++)
            selected[k] |= x->before[k] || x->before[x->d->nodes];
    }
    return selected;
}

enum err page_region(const struct page_digest *d, const struct page_selector *s,
        struct arena *life, struct fault *f, struct page_digest **ret_region, bool *ret_found)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "region");
    struct finder x = finder_new(d, scratch);
    bool *selected = selected_by(&x, s);
    struct page_source src = {"", 0, NULL, page_base(d).ptr};
    BUF(block, PAGE_DIGEST_MAX);
    BUF(copied, (size_t)d->nodes * sizeof(uint32_t));

    if (s->xpath) {
        enum err wrong = xpath_select(s->xpath, d, selected, f);
        if (wrong)
            return wrong;
    }
    CLEANUP(build_done) struct build b;
    build_init(&b, PAGE_DIGEST_MAX, /* xml= */ false);
    b.drop_scripts = false; /* what had to go has gone */
    b.no_inline = d->type == PAGE_TEXT;
    bool found = copy_selected(&x, selected, &b, &copied);
    enum err e = build_finish(&b, d->type, d->malformed_xml, &src, &block, f);
    if (e)
        return e;
    struct page_digest *region;
    e = page_digest_open(
            life, arena_memdup(life, block.data, block.len), block.len, f, &region);
    if (e)
        return e;
    region->source = d->source;
    region->source_bytes = d->source_bytes;
    if (copied.len && copied.len == region->nodes * sizeof(uint32_t))
        region->page_node = arena_memdup(life, copied.data, copied.len);
    *ret_region = region;
    *ret_found = found;
    return OK;
}
