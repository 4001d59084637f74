/* Links, images, words, tables, lists, patterns and passages. */
#include "tests/cdg/naive_int.h"

/* ---- sets -------------------------------------------------------------------------------- */

static bool is_in(struct strings s, const char *text)
{
    for (size_t i = 0; i < s.count; i++)
        if (strcmp(s.all[i], text) == 0)
            return true;
    return false;
}

void naive_sets(struct out *o, const struct page_digest *old, const struct page_digest *new_,
        bool images)
{
    struct strings x = {NULL, 0}, y = {NULL, 0};

    for (uint32_t i = 0; i < (images ? old->images : old->links); i++)
        naive_push(o->life, &x, (images ? page_image(old, i) : page_link(old, i)).ptr);
    for (uint32_t i = 0; i < (images ? new_->images : new_->links); i++)
        naive_push(o->life, &y, (images ? page_image(new_, i) : page_link(new_, i)).ptr);
    for (size_t i = 0; i < x.count; i++)
        if (!is_in(y, x.all[i]))
            naive_tell(o, DELETED, x.all[i]);
    for (size_t i = 0; i < y.count; i++)
        if (!is_in(x, y.all[i]))
            naive_tell(o, INSERTED, y.all[i]);
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted, as who looks for words finds them in an order of his own. */
static void sort_lists(struct out *o)
{
    for (int how = 0; how < HOW_COUNT; how++)
        if (o->lists[how].count)
            qsort(o->lists[how].all, o->lists[how].count, sizeof(char *), compare_text);
}

static unsigned count_in(struct strings s, const char *word)
{
    unsigned n = 0;

    for (size_t i = 0; i < s.count; i++)
        n += strcmp(s.all[i], word) == 0;
    return n;
}

static void tell_counts(
        struct out *o, const char *word, unsigned old, unsigned new_, bool counted)
{
    if (counted ? old != new_ : (old > 0) != (new_ > 0))
        naive_tell(o, new_ > old ? INSERTED : DELETED,
                counted ? arena_printf(o->life, "%s (%u→%u)", word, old, new_) : word);
}

void naive_all_words(struct out *o, const struct cdg_leaf *leaf, const struct page_digest *old,
        const struct page_digest *new_)
{
    struct strings x = naive_words_of(o->life, old), y = naive_words_of(o->life, new_),
                   seen = {NULL, 0};
    struct strings except = {NULL, 0};
    const struct strings *both[] = {&x, &y};

    for (size_t i = 0; i < leaf->nwords; i++)
        naive_push(o->life, &except, naive_folded(o->life, leaf->words[i]));
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < both[s]->count; i++) {
            const char *word = both[s]->all[i];
            if (is_in(seen, word))
                continue;
            naive_push(o->life, &seen, word);
            if (!is_in(except, naive_folded(o->life, word)))
                tell_counts(o, word, count_in(x, word), count_in(y, word), leaf->counted);
        }
    sort_lists(o);
}

/* ---- keywords ---------------------------------------------------------------------------- */

static bool term_fits(struct arena *life, const char *term, const char *word)
{
    size_t n = strlen(term);
    bool front = term[0] == '*', back = n > 1 && term[n - 1] == '*';
    char *core = naive_folded(life, arena_strndup(life, term + front, n - front - back));
    size_t length = strlen(core), all = strlen(word);

    for (size_t at = 0; at + length <= all; at++)
        if (memcmp(word + at, core, length) == 0 && (front || at == 0) &&
                (back || at + length == all))
            return true;
    return false;
}

unsigned naive_keyword_count(struct arena *life, const char *keyword, struct strings words)
{
    struct strings terms = {NULL, 0};
    char *copy = arena_strdup(life, keyword), *rest = NULL;
    unsigned n = 0;

    for (char *t = strtok_r(copy, " ", &rest); t; t = strtok_r(NULL, " ", &rest))
        naive_push(life, &terms, t);
    for (size_t i = 0; i + terms.count <= words.count; i++) {
        SCRATCH struct arena *scratch = arena_new(NULL, "term");
        size_t k = 0;
        while (k < terms.count && term_fits(scratch, terms.all[k], words.all[i + k]))
            k++;
        n += k == terms.count;
    }
    return n;
}

struct strings naive_folded_words(struct arena *life, struct strings words)
{
    for (size_t i = 0; i < words.count; i++)
        words.all[i] = naive_folded(life, words.all[i]);
    return words;
}

void naive_keywords(struct out *o, const struct cdg_leaf *leaf, const struct page_digest *old,
        const struct page_digest *new_)
{
    struct strings x = naive_folded_words(o->life, naive_words_of(o->life, old));
    struct strings y = naive_folded_words(o->life, naive_words_of(o->life, new_));
    bool before = true, after = true;

    for (size_t i = 0; i < leaf->nwords; i++) {
        unsigned p = naive_keyword_count(o->life, leaf->words[i], x),
                 q = naive_keyword_count(o->life, leaf->words[i], y);
        before &= p > 0;
        after &= q > 0;
        if (!leaf->all || leaf->counted)
            tell_counts(o, leaf->words[i], p, q, leaf->counted);
    }
    for (size_t i = 0; i < leaf->nwords && leaf->all && !leaf->counted && before != after; i++)
        naive_tell(o, after ? INSERTED : DELETED, leaf->words[i]);
}

/* ---- tables and lists -------------------------------------------------------------------- */

static bool is_one_of(const struct page_digest *d, uint32_t node, const char *names)
{
    BUF(name, 1 << 16);

    buf_printf(&name, " %s ", naive_tag_of(d, node));
    return d->tags[node] != 0 && strstr(names, buf_text(&name)) != NULL;
}

struct object {
    bool found;
    uint32_t count, node;
};

static struct object object_of(struct arena *life, const struct cdg_leaf *leaf,
        const struct page_digest *d, const char *roots)
{
    struct object o = {.found = false};

    for (uint32_t i = 0; i < d->nodes; i++) {
        if (!is_one_of(d, i, roots))
            continue;
        o.count++;
        bool inside = !o.found || !leaf->text || i < d->end[o.node];
        if (leaf->text ? inside && strstr(naive_text_below(life, d, i), leaf->text) != NULL
                       : o.count == (leaf->number ? leaf->number : 1)) {
            o.found = true;
            o.node = i;
        }
    }
    return o;
}

struct items {
    struct strings texts, keys;
    struct strings *parts;
};

static void collect(struct arena *life, const struct page_digest *d, uint32_t from,
        uint32_t end, const char *roots, const char *names, struct strings *ret,
        uint32_t *nodes)
{
    for (uint32_t i = from; i < end; i++) {
        bool nested = roots && is_one_of(d, i, roots);
        if (!nested && !is_one_of(d, i, names))
            continue;
        if (!nested) {
            nodes[ret->count] = i;
            naive_push(life, ret, naive_text_below(life, d, i));
        }
        i = d->end[i] - 1;
    }
}

static struct items items_of(struct arena *life, const struct page_digest *d, uint32_t node,
        const char *roots, const char *names, bool cells)
{
    struct items all = {.parts = arena_array_of(life, d->nodes + 1, struct strings)};
    struct strings found = {NULL, 0};
    uint32_t *at = arena_array_of(life, d->nodes + 1, uint32_t);
    uint32_t *unused = arena_array_of(life, d->nodes + 1, uint32_t);

    collect(life, d, node + 1, d->end[node], roots, names, &found, at);
    for (size_t i = 0; i < found.count; i++) {
        struct strings parts = {NULL, 0};
        BUF(text, 1 << 20);
        BUF(key, 1 << 20);
        if (!cells) {
            all.parts[all.texts.count] = naive_words_in(life, found.all[i]);
            naive_push(life, &all.texts, found.all[i]);
            naive_push(life, &all.keys, found.all[i]);
            continue;
        }
        collect(life, d, at[i] + 1, d->end[at[i]], NULL, " td th ", &parts, unused);
        for (size_t k = 0; k < parts.count; k++) {
            if (text.len && parts.all[k][0])
                buf_putc(&text, ' ');
            buf_puts(&text, parts.all[k]);
            buf_printf(&key, "%s\x1F", parts.all[k]);
        }
        if (parts.count == 0)
            continue;
        all.parts[all.texts.count] = parts;
        naive_push(life, &all.texts, buf_text(&text));
        naive_push(life, &all.keys, buf_text(&key));
    }
    return all;
}

void naive_object(struct out *o, const struct cdg_leaf *leaf, const struct page_digest *old,
        const struct page_digest *new_, bool table)
{
    const char *roots = table ? " table " : " ul ol dl ", *noun = table ? "table" : "list";
    const char *names = table ? " tr " : " li dt dd ";
    struct object x = object_of(o->life, leaf, old, roots),
                  y = object_of(o->life, leaf, new_, roots);

    if (!x.found || !y.found) {
        o->unknown = !x.found ? !y.found : leaf->text && y.count;
        if (!o->unknown)
            naive_tell(o, y.found ? INSERTED : DELETED,
                    arena_printf(o->life, "%s %s", noun, y.found ? "appeared" : "disappeared"));
        return;
    }
    struct items a = items_of(o->life, old, x.node, roots, names, table),
                 b = items_of(o->life, new_, y.node, roots, names, table);
    struct edits e = naive_difference(o->life, a.keys, b.keys, a.parts, b.parts);
    for (size_t i = 0; i < e.count; i++) {
        struct edit k = e.all[i];
        if (k.how != UPDATED || !table) {
            naive_tell_edits(o, (struct edits){&k, 1}, a.texts, b.texts);
            continue;
        }
        struct strings p = a.parts[k.old], q = b.parts[k.new_];
        for (size_t c = 0; c < p.count || c < q.count; c++)
            if (c >= p.count || c >= q.count || strcmp(p.all[c], q.all[c]) != 0)
                naive_tell_update(o, c < p.count ? p.all[c] : "", c < q.count ? q.all[c] : "");
    }
}

/* ---- patterns and passages --------------------------------------------------------------- */

struct strings naive_matches(
        struct arena *life, const struct cdg_leaf *leaf, const struct page_digest *d)
{
    struct strings blocks = naive_blocks_of(life, d), found = {NULL, 0};
    struct page_pattern *p = NULL;
    struct str *all;
    size_t n;
    BUF(text, 1 << 22);

    for (size_t i = 0; i < blocks.count; i++)
        buf_printf(&text, "%s%s", i ? "\n" : "", blocks.all[i]);
    CHECK(page_pattern_new(life, leaf->text, NULL, &p) == OK);
    CHECK(page_pattern_find(p, (struct str){buf_text(&text), text.len}, life, NULL, &all, &n) ==
            OK);
    for (size_t i = 0; i < n; i++)
        naive_push(life, &found, arena_strndup(life, all[i].ptr, all[i].len));
    return found;
}

/* The text of the smallest block element that contains the words; NULL: none does. */
static char *passage(
        struct arena *life, const struct cdg_leaf *leaf, const struct page_digest *d)
{
    char *best = NULL;
    uint32_t to = d->nodes;
    BUF(all, 1 << 22);

    for (uint32_t i = 0; i < d->texts; i++)
        buf_printf(&all, "%s%s", all.len && d->text_block[i] ? " " : "", page_text(d, i).ptr);
    if (strstr(buf_text(&all), leaf->text))
        best = arena_strdup(life, buf_text(&all));
    for (uint32_t i = 0; best && i < to;) {
        char *text = naive_text_below(life, d, i);
        if (d->tags[i] == 0 || !strstr(text, leaf->text)) {
            i = d->end[i];
            continue;
        }
        if (!page_tag_is_inline(page_tag_name(d, d->tags[i]))) {
            best = text;
            to = d->end[i];
        }
        i++;
    }
    return best;
}

static bool is_left(struct strings some, struct strings page)
{
    size_t need = some.count < 3 ? some.count : 3;

    for (size_t i = 0; need && i + need <= page.count; i++)
        for (size_t k = 0; k + need <= some.count; k++)
            if (naive_same_strings((struct strings){page.all + i, need},
                        (struct strings){some.all + k, need}))
                return true;
    return false;
}

void naive_phrase(struct out *o, const struct cdg_leaf *leaf, const struct page_digest *old,
        const struct page_digest *new_)
{
    char *before = passage(o->life, leaf, old), *after = passage(o->life, leaf, new_);

    if (!before && !after)
        o->unknown = true;
    else if (!before)
        naive_tell(o, INSERTED, after);
    else if (after && !naive_same_strings(
                              naive_words_in(o->life, before), naive_words_in(o->life, after)))
        naive_tell_update(o, before, after);
    else if (!after && is_left(naive_words_in(o->life, before), naive_words_of(o->life, new_)))
        o->unknown = true;
    else if (!after)
        naive_tell(o, DELETED, before);
}
