#include "tests/cdg/naive.h"
#include "base/buf.h"
#include <stdio.h>
#include <stdlib.h>

#define NONE UINT32_MAX

/* ---- lists of strings -------------------------------------------------------------------- */

struct strings {
    char **all;
    size_t count;
};

static void push(struct arena *life, struct strings *s, const char *text)
{
    if ((s->count & (s->count - 1)) == 0) { /* full */
        char **all = arena_array_of(life, 2 * s->count + 1, char *);
        if (s->count)
            memcpy(all, s->all, s->count * sizeof *all);
        s->all = all;
    }
    s->all[s->count++] = arena_strdup(life, text);
}

static struct strings words_in(struct arena *life, const char *text)
{
    struct strings s = {NULL, 0};
    struct str word;

    for (size_t at = 0; page_word_next(str_of(text), &at, &word);)
        push(life, &s, arena_strndup(life, word.ptr, word.len));
    return s;
}

static char *folded(struct arena *life, const char *word)
{
    BUF(out, 1 << 16);

    page_word_fold(str_of(word), &out);
    return arena_strdup(life, buf_text(&out));
}

static struct strings blocks_of(struct arena *life, const struct page_digest *d)
{
    struct strings s = {NULL, 0};

    for (uint32_t i = 0; i < d->texts; i++) {
        if (d->text_block[i] || s.count == 0)
            push(life, &s, page_text(d, i).ptr);
        else
            s.all[s.count - 1] =
                    arena_printf(life, "%s%s", s.all[s.count - 1], page_text(d, i).ptr);
    }
    return s;
}

static struct strings words_of(struct arena *life, const struct page_digest *d)
{
    struct strings blocks = blocks_of(life, d), s = {NULL, 0};

    s.all = arena_array_of(life, 1 << 16, char *);
    for (size_t i = 0; i < blocks.count; i++) {
        struct strings some = words_in(life, blocks.all[i]);
        for (size_t k = 0; k < some.count; k++)
            s.all[s.count++] = some.all[k];
        CHECK(s.count < 1 << 15);
    }
    return s;
}

static bool same_strings(struct strings a, struct strings b)
{
    if (a.count != b.count)
        return false;
    for (size_t i = 0; i < a.count; i++)
        if (strcmp(a.all[i], b.all[i]) != 0)
            return false;
    return true;
}

/* ---- the answer -------------------------------------------------------------------------- */

enum { INSERTED, DELETED, UPDATED, MOVED, FOUND, HOW_COUNT };

struct out {
    struct arena *life;
    struct strings lists[HOW_COUNT];
    bool changed, unknown;
};

static void tell(struct out *o, int how, const char *text)
{
    o->changed = true;
    push(o->life, &o->lists[how], text);
}

static void tell_update(struct out *o, const char *old, const char *new_)
{
    tell(o, UPDATED, arena_printf(o->life, "%s→%s", old, new_));
}

static char *written(const struct out *o)
{
    static const char *const signs[] = {"+", "−", "~", "»", "="};
    BUF(text, 1 << 24);

    if (o->unknown)
        return arena_strdup(o->life, "U");
    for (int how = 0; how < HOW_COUNT; how++)
        for (size_t i = 0; i < o->lists[how].count; i++)
            buf_printf(&text, "%s%s\n", signs[how], o->lists[how].all[i]);
    return arena_strdup(o->life, text.len ? buf_text(&text) : o->changed ? "C" : "N");
}

/* ---- sequences --------------------------------------------------------------------------- */

/* table[i][j]: the longest common subsequence of a[i..] and b[j..]. */
static uint32_t *lcs_table(struct arena *life, struct strings a, struct strings b)
{
    size_t width = b.count + 1;
    uint32_t *t = arena_array_of(life, (a.count + 1) * width, uint32_t);

    for (size_t i = a.count; i-- > 0;)
        for (size_t j = b.count; j-- > 0;) {
            uint32_t down = t[(i + 1) * width + j], right = t[i * width + j + 1];
            t[i * width + j] = strcmp(a.all[i], b.all[j]) == 0 ? t[(i + 1) * width + j + 1] + 1
                               : down > right                  ? down
                                                               : right;
        }
    return t;
}

static double ratio(struct strings a, struct strings b)
{
    SCRATCH struct arena *life = arena_new(NULL, "ratio");

    if (a.count + b.count == 0)
        return 0;
    return 1 - 2.0 * lcs_table(life, a, b)[0] / (double)(a.count + b.count);
}

struct edit {
    int how;
    uint32_t old, new_;
};

struct edits {
    struct edit *all;
    size_t count;
};

/* D.9: of equal keys the longest match with the smallest positions in the new list; in gaps
 * what shares half of its parts is updated; what is left on both sides is moved. */
static struct edits difference(struct arena *life, struct strings old, struct strings new_,
        const struct strings *old_parts, const struct strings *new_parts)
{
    struct edits e = {arena_array_of(life, old.count + new_.count + 1, struct edit), 0};
    uint32_t *match = arena_array_of(life, new_.count + 1, uint32_t);
    uint32_t *t = lcs_table(life, old, new_);
    size_t width = new_.count + 1, a = 0, b = 0, i = 0;

    for (size_t j = 0; j < new_.count; j++) {
        size_t k = i;
        while (k < old.count && strcmp(old.all[k], new_.all[j]) != 0)
            k++;
        match[j] = NONE;
        if (k < old.count && t[(k + 1) * width + j + 1] + 1 == t[i * width + j]) {
            match[j] = (uint32_t)k;
            i = k + 1;
        }
    }
    for (size_t j = 0; j <= new_.count; j++) {
        if (j < new_.count && match[j] == NONE)
            continue;
        size_t to_a = j < new_.count ? match[j] : old.count;
        for (; a < to_a; a++) {
            size_t k = b;
            while (k < j && ratio(old_parts[a], new_parts[k]) > 0.5)
                k++;
            if (k == j) {
                e.all[e.count++] = (struct edit){DELETED, (uint32_t)a, NONE};
                continue;
            }
            for (; b < k; b++)
                e.all[e.count++] = (struct edit){INSERTED, NONE, (uint32_t)b};
            e.all[e.count++] = (struct edit){UPDATED, (uint32_t)a, (uint32_t)b++};
        }
        for (; b < j; b++)
            e.all[e.count++] = (struct edit){INSERTED, NONE, (uint32_t)b};
        a = to_a + 1;
        b = j + 1;
    }
    for (size_t x = 0; x < e.count; x++)
        for (size_t y = 0; y < e.count && e.all[x].how == INSERTED; y++)
            if (e.all[y].how == DELETED &&
                    strcmp(new_.all[e.all[x].new_], old.all[e.all[y].old]) == 0) {
                e.all[x] = (struct edit){MOVED, e.all[y].old, e.all[x].new_};
                e.all[y].how = HOW_COUNT;
            }
    return e;
}

static const struct strings *parts_of(struct arena *life, struct strings s)
{
    struct strings *parts = arena_array_of(life, s.count + 1, struct strings);

    for (size_t i = 0; i < s.count; i++)
        parts[i] = words_in(life, s.all[i]);
    return parts;
}

static void tell_edits(struct out *o, struct edits e, struct strings old, struct strings new_)
{
    for (size_t i = 0; i < e.count; i++)
        if (e.all[i].how == UPDATED)
            tell_update(o, old.all[e.all[i].old], new_.all[e.all[i].new_]);
        else if (e.all[i].how == DELETED)
            tell(o, DELETED, old.all[e.all[i].old]);
        else if (e.all[i].how != HOW_COUNT)
            tell(o, e.all[i].how, new_.all[e.all[i].new_]);
}

static void tell_difference(struct out *o, struct strings old, struct strings new_)
{
    struct edits e =
            difference(o->life, old, new_, parts_of(o->life, old), parts_of(o->life, new_));
    tell_edits(o, e, old, new_);
}

/* ---- nodes ------------------------------------------------------------------------------- */

static const char *tag_of(const struct page_digest *d, uint32_t node)
{
    return page_tag_name(d, d->tags[node]).ptr;
}

static const char *attribute(const struct page_digest *d, uint32_t node, const char *name)
{
    for (uint32_t a = d->attr_at[node]; a < d->attr_at[node + 1]; a++)
        if (strcmp(page_attr_name(d, a).ptr, name) == 0)
            return page_attr_value(d, a).ptr;
    return NULL;
}

/* The texts below, a space where a block begins. */
static char *text_below(struct arena *life, const struct page_digest *d, uint32_t node)
{
    BUF(out, 1 << 22);

    for (uint32_t i = 0; i < d->texts; i++)
        if (d->text_node[i] >= node && d->text_node[i] < d->end[node])
            buf_printf(
                    &out, "%s%s", out.len && d->text_block[i] ? " " : "", page_text(d, i).ptr);
    return arena_strdup(life, buf_text(&out));
}

/* Everything about a subtree, or with `deep` false about the node alone. */
static void write_tree(struct buf *out, const struct page_digest *d, uint32_t node, bool deep)
{
    if (d->tags[node] == 0) {
        uint32_t i = 0;
        while (d->text_node[i] != node)
            i++;
        buf_printf(out, "\"%s\"", page_text(d, i).ptr);
        return;
    }
    buf_printf(out, "<%s", tag_of(d, node));
    for (uint32_t a = d->attr_at[node]; a < d->attr_at[node + 1]; a++)
        buf_printf(out, " %s=\"%s\"", page_attr_name(d, a).ptr, page_attr_value(d, a).ptr);
    buf_putc(out, '>');
    for (uint32_t c = node + 1; deep && c < d->end[node]; c = d->end[c])
        write_tree(out, d, c, true);
    if (deep)
        buf_puts(out, "</>");
}

static char *tree_text(struct arena *life, const struct page_digest *d, uint32_t node)
{
    BUF(out, 1 << 22);
    write_tree(&out, d, node, true);
    return arena_strdup(life, buf_text(&out));
}

struct elements {
    uint32_t *node;
    struct strings full, names; /* "<a href=\"x\">", "<a>" */
    struct strings *parts;      /* name, then each attribute */
};

static struct elements elements_of(struct arena *life, const struct page_digest *d)
{
    struct elements e = {.node = arena_array_of(life, d->nodes + 1, uint32_t),
            .parts = arena_array_of(life, d->nodes + 1, struct strings)};

    for (uint32_t i = 0; i < d->nodes; i++) {
        BUF(out, 1 << 16);
        if (d->tags[i] == 0)
            continue;
        write_tree(&out, d, i, false);
        e.node[e.full.count] = i;
        struct strings *parts = &e.parts[e.full.count];
        push(life, parts, tag_of(d, i));
        for (uint32_t a = d->attr_at[i]; a < d->attr_at[i + 1]; a++)
            push(life, parts,
                    arena_printf(life, "%s=\"%s\"", page_attr_name(d, a).ptr,
                            page_attr_value(d, a).ptr));
        push(life, &e.full, buf_text(&out));
        push(life, &e.names, arena_printf(life, "<%s>", tag_of(d, i)));
    }
    return e;
}

static void tell_attributes(struct out *o, const struct page_digest *old, uint32_t x,
        const struct page_digest *new_, uint32_t y)
{
    struct strings names = {NULL, 0};

    for (uint32_t a = old->attr_at[x]; a < old->attr_at[x + 1]; a++)
        push(o->life, &names, page_attr_name(old, a).ptr);
    for (uint32_t a = new_->attr_at[y]; a < new_->attr_at[y + 1]; a++)
        if (!attribute(old, x, page_attr_name(new_, a).ptr))
            push(o->life, &names, page_attr_name(new_, a).ptr);
    for (size_t i = 0; i < names.count; i++) /* by name */
        for (size_t k = i + 1; k < names.count; k++)
            if (strcmp(names.all[i], names.all[k]) > 0) {
                char *swap = names.all[i];
                names.all[i] = names.all[k];
                names.all[k] = swap;
            }
    for (size_t i = 0; i < names.count; i++) {
        const char *p = attribute(old, x, names.all[i]), *q = attribute(new_, y, names.all[i]);
        if (p && q && strcmp(p, q) == 0)
            continue;
        tell_update(o, p ? arena_printf(o->life, "%s=\"%s\"", names.all[i], p) : "",
                q ? arena_printf(o->life, "%s=\"%s\"", names.all[i], q) : "");
    }
}

static void tell_first_difference(
        struct out *o, const struct page_digest *old, const struct page_digest *new_)
{
    uint32_t i = 0;

    while (i < old->nodes && i < new_->nodes && old->children[i] == new_->children[i] &&
            strcmp(tag_of(old, i), tag_of(new_, i)) == 0)
        i++;
    tell_update(o,
            i < old->nodes ? arena_printf(o->life, "<%s> with %u children", tag_of(old, i),
                                     old->children[i])
                           : "",
            i < new_->nodes ? arena_printf(o->life, "<%s> with %u children", tag_of(new_, i),
                                      new_->children[i])
                            : "");
}

static bool has_text(const struct page_digest *d, uint32_t node)
{
    for (uint32_t i = node; i < d->end[node]; i++)
        if (d->tags[i] == 0)
            return true;
    return false;
}

/* ---- whole trees ------------------------------------------------------------------------- */

static char *whole(struct arena *life, const struct page_digest *d)
{
    BUF(out, 1 << 24);

    for (uint32_t i = 0; i < d->nodes; i = d->end[i])
        write_tree(&out, d, i, true);
    for (uint32_t i = 0; i < d->texts; i++)
        buf_printf(&out, "%d", d->text_block[i]);
    return arena_strdup(life, buf_text(&out));
}

static void any_change(
        struct out *o, const struct page_digest *old, const struct page_digest *new_)
{
    struct elements x = elements_of(o->life, old), y = elements_of(o->life, new_);

    if (strcmp(whole(o->life, old), whole(o->life, new_)) == 0)
        return;
    tell_difference(o, blocks_of(o->life, old), blocks_of(o->life, new_));
    bool text_differs = o->changed;
    struct edits e = difference(o->life, x.full, y.full, x.parts, y.parts);
    for (size_t i = 0; i < e.count; i++) {
        struct edit k = e.all[i];
        uint32_t a = k.old == NONE ? NONE : x.node[k.old];
        uint32_t b = k.new_ == NONE ? NONE : y.node[k.new_];
        if (k.how == UPDATED && strcmp(tag_of(old, a), tag_of(new_, b)) == 0) {
            tell_attributes(o, old, a, new_, b);
            continue;
        }
        bool textual = (a == NONE || has_text(old, a)) && (b == NONE || has_text(new_, b));
        if (k.how != HOW_COUNT && !(text_differs && textual))
            tell_update(
                    o, a == NONE ? "" : x.full.all[k.old], b == NONE ? "" : y.full.all[k.new_]);
    }
    if (!o->changed)
        tell_first_difference(o, old, new_);
}

/* Elements in order of their names: what came and went, and who stands where who stood. */
static struct edits align(
        struct out *o, const struct elements *x, const struct elements *y, uint32_t *match)
{
    const struct strings *p = parts_of(o->life, x->names), *q = parts_of(o->life, y->names);
    struct edits e = difference(o->life, x->names, y->names, p, q);
    bool *old_gone = arena_array_of(o->life, x->names.count + 1, bool);
    bool *new_come = arena_array_of(o->life, y->names.count + 1, bool);
    size_t a = 0;

    for (size_t i = 0; i < e.count; i++) {
        if (e.all[i].how != HOW_COUNT && e.all[i].old != NONE)
            old_gone[e.all[i].old] = true;
        if (e.all[i].how != HOW_COUNT && e.all[i].new_ != NONE)
            new_come[e.all[i].new_] = true;
    }
    for (size_t j = 0; j < y->names.count; j++) {
        match[j] = NONE;
        if (new_come[j])
            continue;
        while (a < x->names.count && old_gone[a])
            a++;
        match[j] = (uint32_t)a++;
    }
    return e;
}

static bool arrays_differ(struct arena *life, const struct page_digest *old,
        const struct page_digest *new_, const char *kind)
{
    BUF(a, 1 << 24);
    BUF(b, 1 << 24);
    const struct page_digest *both[] = {old, new_};
    struct buf *outs[] = {&a, &b};

    (void)life;
    for (int s = 0; s < 2; s++) {
        const struct page_digest *d = both[s];
        for (uint32_t i = 0; i < d->nodes; i++) {
            if (strcmp(kind, "structure") == 0)
                buf_printf(outs[s], "%u ", d->children[i]);
            if (strcmp(kind, "tags") == 0)
                buf_printf(outs[s], "%s ", tag_of(d, i));
            if (strcmp(kind, "attributes") == 0) {
                buf_putc(outs[s], '|');
                for (uint32_t k = d->attr_at[i]; k < d->attr_at[i + 1]; k++)
                    buf_printf(outs[s], "%s=%s\n", page_attr_name(d, k).ptr,
                            page_attr_value(d, k).ptr);
            }
        }
    }
    return strcmp(buf_text(&a), buf_text(&b)) != 0;
}

static void arrays(struct out *o, const struct page_digest *old, const struct page_digest *new_,
        const char *kind)
{
    struct elements x = elements_of(o->life, old), y = elements_of(o->life, new_);
    uint32_t *match = arena_array_of(o->life, y.names.count + 1, uint32_t);

    if (!arrays_differ(o->life, old, new_, kind))
        return;
    struct edits e = align(o, &x, &y, match);
    if (strcmp(kind, "attributes") != 0)
        tell_edits(o, e, x.names, y.names);
    for (size_t j = 0; j < y.names.count; j++) {
        if (match[j] == NONE)
            continue;
        uint32_t p = x.node[match[j]], q = y.node[j];
        if (strcmp(kind, "attributes") == 0)
            tell_attributes(o, old, p, new_, q);
        if (strcmp(kind, "structure") == 0 && old->children[p] != new_->children[q])
            tell_update(o, arena_printf(o->life, "%u children", old->children[p]),
                    arena_printf(o->life, "%u children", new_->children[q]));
    }
    if (!o->changed && strcmp(kind, "attributes") != 0)
        tell_first_difference(o, old, new_);
    o->changed = true;
}

static void content(
        struct out *o, const struct page_digest *old, const struct page_digest *new_)
{
    const struct page_digest *both[] = {old, new_};
    struct strings texts[2] = {{NULL, 0}, {NULL, 0}};

    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < both[s]->texts; i++)
            push(o->life, &texts[s], page_text(both[s], i).ptr);
    tell_difference(o, texts[0], texts[1]);
}

/* ---- sets -------------------------------------------------------------------------------- */

static bool is_in(struct strings s, const char *text)
{
    for (size_t i = 0; i < s.count; i++)
        if (strcmp(s.all[i], text) == 0)
            return true;
    return false;
}

static void sets(struct out *o, const struct page_digest *old, const struct page_digest *new_,
        bool images)
{
    struct strings x = {NULL, 0}, y = {NULL, 0};

    for (uint32_t i = 0; i < (images ? old->images : old->links); i++)
        push(o->life, &x, (images ? page_image(old, i) : page_link(old, i)).ptr);
    for (uint32_t i = 0; i < (images ? new_->images : new_->links); i++)
        push(o->life, &y, (images ? page_image(new_, i) : page_link(new_, i)).ptr);
    for (size_t i = 0; i < x.count; i++)
        if (!is_in(y, x.all[i]))
            tell(o, DELETED, x.all[i]);
    for (size_t i = 0; i < y.count; i++)
        if (!is_in(x, y.all[i]))
            tell(o, INSERTED, y.all[i]);
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
        tell(o, new_ > old ? INSERTED : DELETED,
                counted ? arena_printf(o->life, "%s (%u→%u)", word, old, new_) : word);
}

static void all_words(struct out *o, const struct cdg_leaf *leaf, const struct page_digest *old,
        const struct page_digest *new_)
{
    struct strings x = words_of(o->life, old), y = words_of(o->life, new_), seen = {NULL, 0};
    struct strings except = {NULL, 0};
    const struct strings *both[] = {&x, &y};

    for (size_t i = 0; i < leaf->nwords; i++)
        push(o->life, &except, folded(o->life, leaf->words[i]));
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < both[s]->count; i++) {
            const char *word = both[s]->all[i];
            if (is_in(seen, word))
                continue;
            push(o->life, &seen, word);
            if (!is_in(except, folded(o->life, word)))
                tell_counts(o, word, count_in(x, word), count_in(y, word), leaf->counted);
        }
    sort_lists(o);
}

/* ---- keywords ---------------------------------------------------------------------------- */

static bool term_fits(struct arena *life, const char *term, const char *word)
{
    size_t n = strlen(term);
    bool front = term[0] == '*', back = n > 1 && term[n - 1] == '*';
    char *core = folded(life, arena_strndup(life, term + front, n - front - back));
    size_t length = strlen(core), all = strlen(word);

    for (size_t at = 0; at + length <= all; at++)
        if (memcmp(word + at, core, length) == 0 && (front || at == 0) &&
                (back || at + length == all))
            return true;
    return false;
}

static unsigned keyword_count(struct arena *life, const char *keyword, struct strings words)
{
    struct strings terms = {NULL, 0};
    char *copy = arena_strdup(life, keyword), *rest = NULL;
    unsigned n = 0;

    for (char *t = strtok_r(copy, " ", &rest); t; t = strtok_r(NULL, " ", &rest))
        push(life, &terms, t);
    for (size_t i = 0; i + terms.count <= words.count; i++) {
        SCRATCH struct arena *scratch = arena_new(NULL, "term");
        size_t k = 0;
        while (k < terms.count && term_fits(scratch, terms.all[k], words.all[i + k]))
            k++;
        n += k == terms.count;
    }
    return n;
}

static struct strings folded_words(struct arena *life, struct strings words)
{
    for (size_t i = 0; i < words.count; i++)
        words.all[i] = folded(life, words.all[i]);
    return words;
}

static void keywords(struct out *o, const struct cdg_leaf *leaf, const struct page_digest *old,
        const struct page_digest *new_)
{
    struct strings x = folded_words(o->life, words_of(o->life, old));
    struct strings y = folded_words(o->life, words_of(o->life, new_));
    bool before = true, after = true;

    for (size_t i = 0; i < leaf->nwords; i++) {
        unsigned p = keyword_count(o->life, leaf->words[i], x),
                 q = keyword_count(o->life, leaf->words[i], y);
        before &= p > 0;
        after &= q > 0;
        if (!leaf->all || leaf->counted)
            tell_counts(o, leaf->words[i], p, q, leaf->counted);
    }
    for (size_t i = 0; i < leaf->nwords && leaf->all && !leaf->counted && before != after; i++)
        tell(o, after ? INSERTED : DELETED, leaf->words[i]);
}

/* ---- tables and lists -------------------------------------------------------------------- */

static bool is_one_of(const struct page_digest *d, uint32_t node, const char *names)
{
    BUF(name, 1 << 16);

    buf_printf(&name, " %s ", tag_of(d, node));
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
        if (leaf->text ? inside && strstr(text_below(life, d, i), leaf->text) != NULL
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
            push(life, ret, text_below(life, d, i));
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
            all.parts[all.texts.count] = words_in(life, found.all[i]);
            push(life, &all.texts, found.all[i]);
            push(life, &all.keys, found.all[i]);
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
        push(life, &all.texts, buf_text(&text));
        push(life, &all.keys, buf_text(&key));
    }
    return all;
}

static void object(struct out *o, const struct cdg_leaf *leaf, const struct page_digest *old,
        const struct page_digest *new_, bool table)
{
    const char *roots = table ? " table " : " ul ol dl ", *noun = table ? "table" : "list";
    const char *names = table ? " tr " : " li dt dd ";
    struct object x = object_of(o->life, leaf, old, roots),
                  y = object_of(o->life, leaf, new_, roots);

    if (!x.found || !y.found) {
        o->unknown = !x.found ? !y.found : leaf->text && y.count;
        if (!o->unknown)
            tell(o, y.found ? INSERTED : DELETED,
                    arena_printf(o->life, "%s %s", noun, y.found ? "appeared" : "disappeared"));
        return;
    }
    struct items a = items_of(o->life, old, x.node, roots, names, table),
                 b = items_of(o->life, new_, y.node, roots, names, table);
    struct edits e = difference(o->life, a.keys, b.keys, a.parts, b.parts);
    for (size_t i = 0; i < e.count; i++) {
        struct edit k = e.all[i];
        if (k.how != UPDATED || !table) {
            tell_edits(o, (struct edits){&k, 1}, a.texts, b.texts);
            continue;
        }
        struct strings p = a.parts[k.old], q = b.parts[k.new_];
        for (size_t c = 0; c < p.count || c < q.count; c++)
            if (c >= p.count || c >= q.count || strcmp(p.all[c], q.all[c]) != 0)
                tell_update(o, c < p.count ? p.all[c] : "", c < q.count ? q.all[c] : "");
    }
}

/* ---- patterns and passages --------------------------------------------------------------- */

static struct strings matches(
        struct arena *life, const struct cdg_leaf *leaf, const struct page_digest *d)
{
    struct strings blocks = blocks_of(life, d), found = {NULL, 0};
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
        push(life, &found, arena_strndup(life, all[i].ptr, all[i].len));
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
        char *text = text_below(life, d, i);
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
            if (same_strings((struct strings){page.all + i, need},
                        (struct strings){some.all + k, need}))
                return true;
    return false;
}

static void phrase(struct out *o, const struct cdg_leaf *leaf, const struct page_digest *old,
        const struct page_digest *new_)
{
    char *before = passage(o->life, leaf, old), *after = passage(o->life, leaf, new_);

    if (!before && !after)
        o->unknown = true;
    else if (!before)
        tell(o, INSERTED, after);
    else if (after && !same_strings(words_in(o->life, before), words_in(o->life, after)))
        tell_update(o, before, after);
    else if (!after && is_left(words_in(o->life, before), words_of(o->life, new_)))
        o->unknown = true;
    else if (!after)
        tell(o, DELETED, before);
}

/* ---- elements: D.12 ---------------------------------------------------------------------- */

struct matching {
    struct arena *life;
    const struct page_digest *d[2];
    uint32_t *match[2];
    char **text[2]; /* of the subtree */
    uint64_t *weight;
};

static bool is_free(const struct matching *m, int side, uint32_t node)
{
    return m->d[side]->tags[node] != 0 && m->match[side][node] == NONE;
}

static const char *id_of(const struct page_digest *d, uint32_t node)
{
    const char *id = attribute(d, node, "id");
    return id ? id : attribute(d, node, "xml:id");
}

static bool same_name(const struct matching *m, uint32_t old, uint32_t new_)
{
    return strcmp(tag_of(m->d[0], old), tag_of(m->d[1], new_)) == 0;
}

static void pair_up(struct matching *m, uint32_t old, uint32_t new_)
{
    m->match[0][old] = new_;
    m->match[1][new_] = old;
}

static void match_rows(struct matching *m, uint32_t from_x, uint32_t to_x, uint32_t from_y,
        uint32_t to_y, bool anonymous)
{
    for (uint32_t y = from_y; y < to_y; y = m->d[1]->end[y])
        for (uint32_t x = from_x; x < to_x && is_free(m, 1, y); x = m->d[0]->end[x])
            if (is_free(m, 0, x) && same_name(m, x, y) &&
                    !(anonymous && (id_of(m->d[0], x) || id_of(m->d[1], y))))
                pair_up(m, x, y);
}

static uint64_t weight_of(const struct page_digest *d, uint32_t node)
{
    uint64_t n = 3 * strlen(tag_of(d, node)) + 1; /* a tag opens, closes and counts */

    if (d->tags[node] == 0) {
        uint32_t i = 0;
        while (d->text_node[i] != node)
            i++;
        return page_text(d, i).len;
    }
    for (uint32_t a = d->attr_at[node]; a < d->attr_at[node + 1]; a++)
        n += page_attr_name(d, a).len + page_attr_value(d, a).len + 2;
    for (uint32_t c = node + 1; c < d->end[node]; c = d->end[c])
        n += weight_of(d, c);
    return n;
}

static void match_identical(struct matching *m)
{
    const struct page_digest *old = m->d[0], *new_ = m->d[1];
    bool *done = arena_array_of(m->life, new_->nodes + 1, bool);

    for (;;) {
        uint32_t y = NONE, best = NONE;
        for (uint32_t j = 0; j < new_->nodes; j++)
            if (is_free(m, 1, j) && !done[j] && (y == NONE || m->weight[j] > m->weight[y]))
                y = j;
        if (y == NONE)
            return;
        done[y] = true;
        uint32_t parent = new_->parent[y];
        for (uint32_t x = 0; x < old->nodes; x++) {
            if (!is_free(m, 0, x) || strcmp(m->text[0][x], m->text[1][y]) != 0)
                continue;
            bool ours = parent != NONE && m->match[1][parent] != NONE &&
                        old->parent[x] == m->match[1][parent];
            if (best == NONE || ours)
                best = x;
            if (ours)
                break;
        }
        for (uint32_t s = 0; best != NONE && s < new_->end[y] - y; s++)
            if (is_free(m, 0, best + s) && is_free(m, 1, y + s))
                pair_up(m, best + s, y + s);
    }
}

static void match_all(struct matching *m)
{
    const struct page_digest *old = m->d[0], *new_ = m->d[1];

    match_rows(m, 0, old->nodes, 0, new_->nodes, false);
    for (uint32_t y = 0; y < new_->nodes; y++)
        for (uint32_t x = 0; x < old->nodes && is_free(m, 1, y) && id_of(new_, y); x++)
            if (is_free(m, 0, x) && id_of(old, x) &&
                    strcmp(id_of(old, x), id_of(new_, y)) == 0 && same_name(m, x, y))
                pair_up(m, x, y);
    match_identical(m);
    for (uint32_t j = 0; j < new_->nodes; j++)
        for (uint32_t y = j, x = m->match[1][j]; x != NONE;) {
            x = old->parent[x];
            y = new_->parent[y];
            if (x == NONE || y == NONE || !is_free(m, 0, x) || !is_free(m, 1, y) ||
                    id_of(old, x) || id_of(new_, y) || !same_name(m, x, y))
                break;
            pair_up(m, x, y);
        }
    for (uint32_t y = 0; y < new_->nodes; y++)
        if (m->match[1][y] != NONE)
            match_rows(
                    m, m->match[1][y] + 1, old->end[m->match[1][y]], y + 1, new_->end[y], true);
}

static bool qualifies(struct arena *life, const struct cdg_leaf *leaf,
        const struct page_digest *d, uint32_t node)
{
    BUF(own, 1 << 22);

    if (d->tags[node] == 0 || strcmp(tag_of(d, node), leaf->text) != 0)
        return false;
    for (uint32_t i = 0; i < d->texts && leaf->strict; i++)
        if (d->parent[d->text_node[i]] == node)
            buf_printf(&own, "%s%s", own.len ? " " : "", page_text(d, i).ptr);
    const char *text = leaf->strict ? buf_text(&own) : text_below(life, d, node);
    return !leaf->contains ||
           keyword_count(life, leaf->contains, folded_words(life, words_in(life, text))) > 0;
}

static void element(struct out *o, const struct cdg_leaf *leaf, const struct page_digest *old,
        const struct page_digest *new_)
{
    struct matching m = {.life = o->life, .d = {old, new_}};

    for (int s = 0; s < 2; s++) {
        m.match[s] = arena_array_of(o->life, m.d[s]->nodes + 1, uint32_t);
        m.text[s] = arena_array_of(o->life, m.d[s]->nodes + 1, char *);
        memset(m.match[s], 0xFF, m.d[s]->nodes * sizeof(uint32_t));
        for (uint32_t i = 0; i < m.d[s]->nodes; i++)
            m.text[s][i] = tree_text(o->life, m.d[s], i);
    }
    m.weight = arena_array_of(o->life, new_->nodes + 1, uint64_t);
    for (uint32_t i = 0; i < new_->nodes; i++)
        m.weight[i] = weight_of(new_, i);
    match_all(&m);
    for (uint32_t y = 0; y < new_->nodes && leaf->status != CDG_DELETED; y++) {
        uint32_t x = m.match[1][y];
        bool same = x != NONE && strcmp(m.text[0][x], m.text[1][y]) == 0;
        bool wanted = leaf->status == CDG_EXISTS || (leaf->status == CDG_NEW && x == NONE) ||
                      (leaf->status == CDG_UPDATED && x != NONE && !same) ||
                      (leaf->status == CDG_UNCHANGED && same);
        if (!wanted || !qualifies(o->life, leaf, new_, y))
            continue;
        char *text = text_below(o->life, new_, y);
        if (leaf->status == CDG_UPDATED)
            tell_update(o, text_below(o->life, old, x), text);
        else
            tell(o, leaf->status == CDG_NEW ? INSERTED : FOUND, text);
    }
    for (uint32_t x = 0; x < old->nodes && leaf->status == CDG_DELETED; x++)
        if (m.match[0][x] == NONE && qualifies(o->life, leaf, old, x))
            tell(o, DELETED, text_below(o->life, old, x));
}

/* ---- all of them ------------------------------------------------------------------------- */

char *naive_answer(struct arena *life, const struct cdg_leaf *leaf,
        const struct page_digest *old, const struct page_digest *new_)
{
    const char *kind = cdg_kind_get(leaf->kind)->name;
    struct out o = {.life = life};

    if (strcmp(kind, "any change") == 0)
        any_change(&o, old, new_);
    else if (strcmp(kind, "links") == 0 || strcmp(kind, "images") == 0)
        sets(&o, old, new_, strcmp(kind, "images") == 0);
    else if (strcmp(kind, "all words") == 0)
        all_words(&o, leaf, old, new_);
    else if (strcmp(kind, "keywords") == 0)
        keywords(&o, leaf, old, new_);
    else if (strcmp(kind, "content") == 0)
        content(&o, old, new_);
    else if (strcmp(kind, "table") == 0 || strcmp(kind, "list") == 0)
        object(&o, leaf, old, new_, strcmp(kind, "table") == 0);
    else if (strcmp(kind, "regexp") == 0)
        tell_difference(&o, matches(life, leaf, old), matches(life, leaf, new_));
    else if (strcmp(kind, "element") == 0)
        element(&o, leaf, old, new_);
    else if (strcmp(kind, "phrase") == 0)
        phrase(&o, leaf, old, new_);
    else
        arrays(&o, old, new_, kind);
    return written(&o);
}
