/* regexp: what a regular expression matches, on the decoded source or on the text as it is
 * read (a line for each block).  The matches are a sequence like any other. */
#include "cdg/detect_int.h"

static enum err check(const struct cdg_leaf *leaf, struct fault *f)
{
    SCRATCH struct arena *scratch = arena_new(NULL, "pattern");
    struct page_pattern *p;

    if (!leaf->text)
        return fault_set(f, ERR_RANGE, "there is no pattern");
    return page_pattern_new(scratch, leaf->text, f, &p);
}

static void *prepare(const struct cdg_leaf *leaf, struct arena *life)
{
    struct page_pattern *p = NULL;

    CHECK(page_pattern_new(life, leaf->text, NULL, &p) == OK); /* it was checked */
    return p;
}

/* A line for each block. */
static struct str text_of(const struct question *q, const struct cdg_version *v)
{
    const struct joined *j = joined_of(q, v == q->new_);
    const struct page_digest *d = v->digest;
    const struct blocks *b = q->cache->blocks; /* if somebody asked for them */
    char *text = arena_strndup(q->life, j->text.ptr, j->text.len);

    for (size_t i = 1; b && i < b->count[v == q->new_]; i++)
        text[j->at[b->all[v == q->new_][i].from] - 1] = '\n';
    for (uint32_t i = 1; !b && i < d->texts; i++)
        if (d->text_block[i])
            text[j->at[i] - 1] = '\n';
    return (struct str){text, j->text.len};
}

/* The matches of one version; false and why when it could not be searched. */
static bool matches_of(const struct question *q, const struct cdg_version *v,
        struct str_list *ret, const char **why)
{
    struct fault f = {.code = OK};
    struct str text;
    BUF(source, 4 * (size_t)PAGE_BODY_MAX);

    if (q->leaf->on_text) {
        text = text_of(q, v);
    } else if (!v->source) {
        *why = arena_printf(
                q->life, "the source of version %lld is not at hand", (long long)v->number);
        return false;
    } else if (page_decode(v->source, &source, &f, NULL) == OK) {
        text = (struct str){arena_strndup(q->life, buf_text(&source), source.len), source.len};
    } else {
        *why = arena_strdup(q->life, f.message);
        return false;
    }
    if (page_pattern_find(q->prepared, text, q->life, &f, &ret->all, &ret->count) == OK)
        return true;
    *why = arena_strdup(q->life, f.message);
    return false;
}

static struct diff_item *items_of(struct str_list list, struct arena *life)
{
    struct diff_item *items = arena_array_of(life, list.count + 1, struct diff_item);

    for (size_t i = 0; i < list.count; i++)
        items[i].text = list.all[i];
    return items;
}

static void compare(const struct question *q, struct answer *a)
{
    struct str_list old = {NULL, 0}, new_ = {NULL, 0};
    const char *why = NULL;
    struct diff d;

    const struct page_digest *was = q->old->digest, *is = q->new_->digest;
    if (hash128_equal(was->source, is->source) ||
            (q->leaf->on_text &&
                    hash128_equal(was->hash[PAGE_CONTENT], is->hash[PAGE_CONTENT]) &&
                    hash128_equal(was->hash[PAGE_BLOCKS], is->hash[PAGE_BLOCKS])))
        return;
    if (!matches_of(q, q->old, &old, &why) || !matches_of(q, q->new_, &new_, &why)) {
        answer_unknown(a, why);
        return;
    }
    struct diff_item *from = items_of(old, q->life), *to = items_of(new_, q->life);
    diff_sequences(from, old.count, to, new_.count, q->life, &d);
    answer_add_diff(a, q->life, &d, from, to);
    if (a->result == CDG_C && old.count == 0)
        a->reason = "appeared";
    else if (a->result == CDG_C && new_.count == 0)
        a->reason = "disappeared";
}

static struct str_list parts(const struct question *q, const struct cdg_version *v)
{
    struct str_list matches = {NULL, 0}, words = {NULL, 0};
    const char *why;
    size_t bytes = 0;

    if (!matches_of(q, v, &matches, &why))
        return words;
    for (size_t i = 0; i < matches.count; i++)
        bytes += matches.all[i].len / 2 + 2;
    words.all = arena_array_of(q->life, bytes + 1, struct str);
    for (size_t i = 0; i < matches.count; i++) {
        struct str word;
        for (size_t at = 0; page_word_next(matches.all[i], &at, &word);)
            words.all[words.count++] = word;
    }
    return words;
}

const struct cdg_kind cdg_kind_regexp = {
        .check = check, .prepare = prepare, .compare = compare, .parts = parts};
