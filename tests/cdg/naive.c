#include "tests/cdg/naive_int.h"

/* ---- lists of strings -------------------------------------------------------------------- */

void naive_push(struct arena *life, struct strings *s, const char *text)
{
    if ((s->count & (s->count - 1)) == 0) { /* full */
        char **all = arena_array_of(life, 2 * s->count + 1, char *);
        if (s->count)
            memcpy(all, s->all, s->count * sizeof *all);
        s->all = all;
    }
    s->all[s->count++] = arena_strdup(life, text);
}

struct strings naive_words_in(struct arena *life, const char *text)
{
    struct strings s = {NULL, 0};
    struct str word;

    for (size_t at = 0; page_word_next(str_of(text), &at, &word);)
        naive_push(life, &s, arena_strndup(life, word.ptr, word.len));
    return s;
}

char *naive_folded(struct arena *life, const char *word)
{
    BUF(out, 1 << 16);

    page_word_fold(str_of(word), &out);
    return arena_strdup(life, buf_text(&out));
}

struct strings naive_blocks_of(struct arena *life, const struct page_digest *d)
{
    struct strings s = {NULL, 0};

    for (uint32_t i = 0; i < d->texts; i++) {
        if (d->text_block[i] || s.count == 0)
            naive_push(life, &s, page_text(d, i).ptr);
        else
            s.all[s.count - 1] =
                    arena_printf(life, "%s%s", s.all[s.count - 1], page_text(d, i).ptr);
    }
    return s;
}

struct strings naive_words_of(struct arena *life, const struct page_digest *d)
{
    struct strings blocks = naive_blocks_of(life, d), s = {NULL, 0};

    s.all = arena_array_of(life, 1 << 16, char *);
    for (size_t i = 0; i < blocks.count; i++) {
        struct strings some = naive_words_in(life, blocks.all[i]);
        for (size_t k = 0; k < some.count; k++)
            s.all[s.count++] = some.all[k];
        CHECK(s.count < 1 << 15);
    }
    return s;
}

bool naive_same_strings(struct strings a, struct strings b)
{
    if (a.count != b.count)
        return false;
    for (size_t i = 0; i < a.count; i++)
        if (strcmp(a.all[i], b.all[i]) != 0)
            return false;
    return true;
}

/* ---- the answer -------------------------------------------------------------------------- */

void naive_tell(struct out *o, int how, const char *text)
{
    o->changed = true;
    naive_push(o->life, &o->lists[how], text);
}

void naive_tell_update(struct out *o, const char *old, const char *new_)
{
    naive_tell(o, UPDATED, arena_printf(o->life, "%s→%s", old, new_));
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

/* D.9: of equal keys the longest match with the smallest positions in the new list; in gaps
 * what shares half of its parts is updated; what is left on both sides is moved. */
struct edits naive_difference(struct arena *life, struct strings old, struct strings new_,
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

const struct strings *naive_parts_of(struct arena *life, struct strings s)
{
    struct strings *parts = arena_array_of(life, s.count + 1, struct strings);

    for (size_t i = 0; i < s.count; i++)
        parts[i] = naive_words_in(life, s.all[i]);
    return parts;
}

void naive_tell_edits(struct out *o, struct edits e, struct strings old, struct strings new_)
{
    for (size_t i = 0; i < e.count; i++)
        if (e.all[i].how == UPDATED)
            naive_tell_update(o, old.all[e.all[i].old], new_.all[e.all[i].new_]);
        else if (e.all[i].how == DELETED)
            naive_tell(o, DELETED, old.all[e.all[i].old]);
        else if (e.all[i].how != HOW_COUNT)
            naive_tell(o, e.all[i].how, new_.all[e.all[i].new_]);
}

void naive_tell_difference(struct out *o, struct strings old, struct strings new_)
{
    struct edits e = naive_difference(
            o->life, old, new_, naive_parts_of(o->life, old), naive_parts_of(o->life, new_));
    naive_tell_edits(o, e, old, new_);
}

/* ---- all of them ------------------------------------------------------------------------- */

char *naive_answer(struct arena *life, const struct cdg_leaf *leaf,
        const struct page_digest *old, const struct page_digest *new_)
{
    const char *kind = cdg_kind_get(leaf->kind)->name;
    struct out o = {.life = life};

    if (strcmp(kind, "any change") == 0)
        naive_any_change(&o, old, new_);
    else if (strcmp(kind, "links") == 0 || strcmp(kind, "images") == 0)
        naive_sets(&o, old, new_, strcmp(kind, "images") == 0);
    else if (strcmp(kind, "all words") == 0)
        naive_all_words(&o, leaf, old, new_);
    else if (strcmp(kind, "keywords") == 0)
        naive_keywords(&o, leaf, old, new_);
    else if (strcmp(kind, "content") == 0)
        naive_content(&o, old, new_);
    else if (strcmp(kind, "table") == 0 || strcmp(kind, "list") == 0)
        naive_object(&o, leaf, old, new_, strcmp(kind, "table") == 0);
    else if (strcmp(kind, "regexp") == 0)
        naive_tell_difference(
                &o, naive_matches(life, leaf, old), naive_matches(life, leaf, new_));
    else if (strcmp(kind, "element") == 0)
        naive_element(&o, leaf, old, new_);
    else if (strcmp(kind, "phrase") == 0)
        naive_phrase(&o, leaf, old, new_);
    else
        naive_arrays(&o, old, new_, kind);
    return written(&o);
}
