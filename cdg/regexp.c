/* regexp: what a regular expression matches, on the decoded source or on the text as it is
 * read (a line for each block).  The matches are a sequence like any other.
 *
 * Most changes of a page have nothing to do with the pattern.  Where it keeps to lines, these
 * are told by searching the blocks that differ only: if each gap (blocks.c) has the same
 * matches on both sides, the whole versions have. */
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

/* The matches of one version, and what they lie in; false and why when it could not be
 * searched. */
static bool matches_of(const struct question *q, const struct cdg_version *v,
        struct str_list *ret, struct str *ret_text, const char **why)
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
    *ret_text = text;
    if (page_pattern_find(q->prepared, text, q->life, &f, &ret->all, &ret->count) == OK)
        return true;
    *why = arena_strdup(q->life, f.message);
    return false;
}

/* ---- where they stand -------------------------------------------------------------------- */

/* The node of the text a match begins in. */
static uint32_t node_at(const struct question *q, bool new_, size_t offset)
{
    const struct page_digest *d = (new_ ? q->new_ : q->old)->digest;
    const struct joined *j = joined_of(q, new_);
    uint32_t low = 0, high = d->texts;

    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (j->at[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return d->text_node[low];
}

/* A place in a source: lines that end before it, and characters of its own before it. */
struct line_at {
    size_t line, column;
};

/* Marks stand so many bytes apart: places are not asked for in order, and lines may be long. */
enum { MARK_BYTES = 4096 };

struct lines {
    struct str text;
    struct line_at *marks; /* counted as far as they are asked for */
    size_t count;
};

static struct line_at line_pass(struct line_at at, const char *bytes, size_t len)
{
    const char *last = memrchr(bytes, '\n', len);
    size_t from = last ? (size_t)(last - bytes) + 1 : 0;

    for (size_t i = 0; i < from; i++)
        at.line += bytes[i] == '\n';
    if (last)
        at.column = 0;
    for (size_t i = from; i < len; i++)
        at.column += (bytes[i] & 0xC0) != 0x80;
    return at;
}

/* "line 12, column 5", in characters. */
static struct str line_place(struct lines *l, size_t offset, struct arena *life)
{
    size_t mark = offset / MARK_BYTES;

    if (!l->marks)
        l->marks = arena_alloc(life, (l->text.len / MARK_BYTES + 1) * sizeof *l->marks);
    for (; l->count <= mark; l->count++)
        l->marks[l->count] =
                l->count == 0 ? (struct line_at){0, 0}
                              : line_pass(l->marks[l->count - 1],
                                        l->text.ptr + (l->count - 1) * MARK_BYTES, MARK_BYTES);
    struct line_at at = line_pass(
            l->marks[mark], l->text.ptr + mark * MARK_BYTES, offset - mark * MARK_BYTES);
    return str_of(arena_printf(life, "line %zu, column %zu", at.line + 1, at.column + 1));
}

struct matches {
    const struct question *q;
    struct str_list list[2];
    struct str text[2]; /* they lie in these */
};

static size_t offset_of(const struct matches *m, bool new_, uint32_t i)
{
    return (size_t)(m->list[new_].all[i].ptr - m->text[new_].ptr);
}

static void add_edit(const struct matches *m, struct answer *a, const struct diff_edit *e,
        struct lines lines[2])
{
    static const enum change_how how[] = {[DIFF_INSERT] = CHANGE_INSERTED,
            [DIFF_DELETE] = CHANGE_DELETED,
            [DIFF_UPDATE] = CHANGE_UPDATED,
            [DIFF_MOVE] = CHANGE_MOVED};
    const uint32_t at[] = {e->old, e->new_};
    struct change c = {.how = how[e->how]};
    bool listed = a->counts[c.how] < CHANGES_LISTED;

    for (int side = 0; side < 2; side++) {
        if (at[side] == LCS_NONE)
            continue;
        *(side ? &c.new_ : &c.old) = m->list[side].all[at[side]];
        if (!listed)
            continue;
        size_t offset = offset_of(m, side, at[side]);
        if (!m->q->leaf->on_text)
            c.place[side] = line_place(&lines[side], offset, m->q->cache->life);
        else if ((side ? m->q->new_ : m->q->old)->digest->texts)
            c.at[side] = node_at(m->q, side, offset) + 1;
    }
    answer_add(a, m->q->life, c);
}

/* ---- comparing --------------------------------------------------------------------------- */

static struct diff_item *items_of(struct str_list list, struct arena *life)
{
    struct diff_item *items = arena_array_of(life, list.count + 1, struct diff_item);

    for (size_t i = 0; i < list.count; i++)
        items[i].text = list.all[i];
    return items;
}

/* ---- gaps only --------------------------------------------------------------------------- */

/* The blocks of all gaps of a version, a line each. */
struct gap_lines {
    struct str text;
    size_t *ends; /* by gap */
    struct str_list matches;
};

/* Whether a search of the whole version is sure to come to its end, by far. */
static bool is_cheap(const struct page_pattern_lines *lines, const struct blocks *b, int side)
{
    enum { STEPS_AT_A_PLACE = 50000, STEPS = 20000000 };
    size_t steps = 0, bytes = 0;

    for (size_t i = 0; i < b->count[side] && steps <= STEPS; i++) {
        size_t len = b->all[side][i].len, at_a_place = lines->variants * (lines->fixed + len);
        bytes += len;
        steps += (len + 1) * at_a_place;
        if (len > STEPS_AT_A_PLACE || at_a_place > STEPS_AT_A_PLACE)
            return false;
    }
    return steps <= STEPS && bytes / lines->shortest < PAGE_MATCHES_MAX;
}

static void gap_lines_join(
        const struct question *q, const struct blocks *b, int side, struct gap_lines *ret)
{
    size_t bytes = 0;

    for (size_t g = 0; g < b->ngaps; g++)
        for (size_t i = b->gaps[g].from[side]; i < b->gaps[g].end[side]; i++)
            bytes += b->all[side][i].len + 1;
    char *text = arena_alloc(q->life, bytes + 1), *at = text;
    ret->ends = arena_alloc(q->life, (b->ngaps + 1) * sizeof *ret->ends);
    for (size_t g = 0; g < b->ngaps; g++) {
        for (size_t i = b->gaps[g].from[side]; i < b->gaps[g].end[side]; i++) {
            struct str s = block_text(b, side, i);
            memcpy(at, s.ptr, s.len);
            at += s.len;
            *at++ = '\n';
        }
        ret->ends[g] = (size_t)(at - text);
    }
    *at = 0;
    ret->text = (struct str){text, bytes};
}

/* How many matches lie before the end of a gap. */
static size_t matches_until(const struct gap_lines *l, size_t from, size_t gap)
{
    while (from < l->matches.count && l->matches.all[from].ptr < l->text.ptr + l->ends[gap])
        from++;
    return from;
}

/* Whether no gap can make a difference; false: it is not known. */
static bool gaps_are_alike(const struct question *q)
{
    struct page_pattern_lines lines;
    struct gap_lines two[2];

    if (!q->leaf->on_text || !page_pattern_is_of_lines(q->prepared, &lines))
        return false;
    const struct blocks *b = blocks_of(q);
    for (int side = 0; side < 2; side++) {
        struct str_list *found = &two[side].matches;
        if (!is_cheap(&lines, b, side))
            return false;
        gap_lines_join(q, b, side, &two[side]);
        if (page_pattern_find(q->prepared, two[side].text, q->life, NULL, &found->all,
                    &found->count) != OK)
            return false;
    }
    for (size_t g = 0, i = 0, j = 0; g < b->ngaps; g++) {
        size_t to = matches_until(&two[0], i, g), end = matches_until(&two[1], j, g);
        if (to - i != end - j)
            return false;
        for (; i < to; i++, j++)
            if (!str_equal(two[0].matches.all[i], two[1].matches.all[j]))
                return false;
    }
    return true;
}

/* ---- comparing --------------------------------------------------------------------------- */

static void compare(const struct question *q, struct answer *a)
{
    struct matches m = {.q = q};
    const char *why = NULL;
    struct diff d;

    const struct page_digest *was = q->old->digest, *is = q->new_->digest;
    if (hash128_equal(was->source, is->source) ||
            (q->leaf->on_text &&
                    hash128_equal(was->hash[PAGE_CONTENT], is->hash[PAGE_CONTENT]) &&
                    hash128_equal(was->hash[PAGE_BLOCKS], is->hash[PAGE_BLOCKS])))
        return;
    if (gaps_are_alike(q))
        return;
    if (!matches_of(q, q->old, &m.list[0], &m.text[0], &why) ||
            !matches_of(q, q->new_, &m.list[1], &m.text[1], &why)) {
        answer_unknown(a, why);
        return;
    }
    struct diff_item *from = items_of(m.list[0], q->life), *to = items_of(m.list[1], q->life);
    struct lines lines[] = {{.text = m.text[0]}, {.text = m.text[1]}};
    diff_sequences(from, m.list[0].count, to, m.list[1].count, q->life, &d);
    for (size_t i = 0; i < d.count; i++)
        add_edit(&m, a, &d.edits[i], lines);
    a->coarse |= d.coarse;
    if (a->result == CDG_C && m.list[0].count == 0)
        a->reason = "appeared";
    else if (a->result == CDG_C && m.list[1].count == 0)
        a->reason = "disappeared";
}

static struct str_list parts(const struct question *q, const struct cdg_version *v)
{
    struct str_list matches = {NULL, 0}, words = {NULL, 0};
    struct str text;
    const char *why;
    size_t bytes = 0;

    if (!matches_of(q, v, &matches, &text, &why))
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
