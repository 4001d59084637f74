/* Pages of the shape of documentation, mutated at random: what the detectors answer, by short
 * cuts and for all who ask at once, is what a naive look at both versions says. */
#include "tests/cdg/cdg_help.h"
#include "tests/page/doc_page.h"

enum { ROUNDS = 60, SECTIONS = 6, MUTATIONS_MAX = 5 };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 12;
}

/* ---- mutations -----------------------------------------------------------------------------
 */

/* Cuts the lines from..to out, and puts them back before line `at`, or never. */
static void lines_move(struct buf *page, uint32_t *state, bool keep)
{
    BUF(out, 1 << 22);
    BUF(cut, 1 << 22);
    size_t lines = 0, from, to, at, line = 0;

    for (size_t i = 0; i < page->len; i++)
        lines += page->data[i] == '\n';
    from = 1 + next_random(state) % lines;
    to = from + 1 + next_random(state) % 3;
    at = 1 + next_random(state) % lines;
    for (int pass = 0; pass < 2; pass++, line = 0)
        for (size_t i = 0, start = 0; i < page->len; i++) {
            if (page->data[i] != '\n')
                continue;
            bool is_cut = line >= from && line < to;
            if (pass == 0 && is_cut)
                buf_append(&cut, page->data + start, i + 1 - start);
            if (pass == 1 && line == at && keep)
                buf_append(&out, buf_text(&cut), cut.len);
            if (pass == 1 && !is_cut)
                buf_append(&out, page->data + start, i + 1 - start);
            start = i + 1;
            line++;
        }
    buf_clear(page);
    buf_append(page, buf_text(&out), out.len);
}

static void word_replace(struct buf *page, uint32_t *state)
{
    static const char *const words[] = {"price", "sentinel", "newword", "Price", "caf\xC3\xA9",
            "CAF\xC3\x89", "page version", "<b>page</b> version", "<a href=/n>n</a>",
            "<img src=i.png>", "</p><p>", "", "the<br>page"};
    size_t at = page->len / 4 + next_random(state) % (page->len / 2);
    BUF(out, 1 << 22);

    while (at < page->len && page->data[at] != ' ')
        at++;
    size_t end = at + 1;
    while (end < page->len && page->data[end] != ' ' && page->data[end] != '<')
        end++;
    buf_append(&out, page->data, at + 1);
    buf_puts(&out, words[next_random(state) % countof(words)]);
    buf_append(&out, page->data + end, page->len - end);
    buf_clear(page);
    buf_append(page, out.data, out.len);
}

static void mutate(struct buf *page, uint32_t *state)
{
    unsigned n = next_random(state) % (MUTATIONS_MAX + 1);

    for (unsigned i = 0; i < n; i++)
        switch (next_random(state) % 4) {
        case 0:
            lines_move(page, state, /* keep= */ true);
            break;
        case 1:
            lines_move(page, state, /* keep= */ false);
            break;
        default:
            word_replace(page, state);
            break;
        }
}

/* ---- the naive look -------------------------------------------------------------------------
 */

struct words {
    char **all;
    size_t count;
};

static struct words words_of(struct arena *life, const struct page_digest *d, bool folded)
{
    struct page_block *blocks;
    size_t n = page_blocks(d, life, &blocks);
    struct words w = {arena_array_of(life, 1 << 16, char *), 0};

    for (size_t i = 0; i < n; i++) {
        struct str word;
        for (size_t at = 0; page_word_next(blocks[i].text, &at, &word);) {
            BUF(fold, 1 << 16);
            if (folded)
                page_word_fold(word, &fold);
            else
                buf_append(&fold, word.ptr, word.len);
            CHECK(w.count < 1 << 16);
            w.all[w.count++] = arena_strdup(life, buf_text(&fold));
        }
    }
    return w;
}

static unsigned count_row(struct words w, const char *const *row, size_t n)
{
    unsigned count = 0;

    for (size_t i = 0; i + n <= w.count; i++) {
        size_t k = 0;
        for (; k < n; k++) {
            const char *word = w.all[i + k], *want = row[k];
            bool open = want[0] == '*';
            size_t wl = strlen(word), l = strlen(want + open);
            if (wl < l || (!open && wl != l) || strcmp(word + wl - l, want + open) != 0)
                break;
        }
        count += k == n;
    }
    return count;
}

static bool sets_differ(struct words a, struct words b, bool counted)
{
    const struct words *both[] = {&a, &b};

    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < both[s]->count; i++) {
            const char *word = both[s]->all[i];
            unsigned x = count_row(a, &word, 1), y = count_row(b, &word, 1);
            if (counted ? x != y : (x > 0) != (y > 0))
                return true;
        }
    return false;
}

/* Everything a digest says, as one text. */
static char *all_of(struct arena *life, const struct page_digest *d, int what)
{
    BUF(out, 1 << 24);

    for (uint32_t i = 0; i < d->nodes; i++) {
        if (what == PAGE_CHILDREN)
            buf_printf(&out, "%u ", d->children[i]);
        if (what == PAGE_TAGS)
            buf_printf(&out, "%s ", page_tag_name(d, d->tags[i]).ptr);
        for (uint32_t a = d->attr_at[i]; a < d->attr_at[i + 1] && what == PAGE_ATTRIBUTES; a++)
            buf_printf(
                    &out, "%u %s=%s\n", i, page_attr_name(d, a).ptr, page_attr_value(d, a).ptr);
    }
    if (what == PAGE_ATTRIBUTES)
        buf_printf(&out, "%u", d->nodes);
    for (uint32_t i = 0; i < d->texts && what == PAGE_CONTENT; i++)
        buf_printf(&out, "%s\n", page_text(d, i).ptr);
    for (uint32_t i = 0; i < d->links && what == PAGE_LINKS; i++)
        buf_printf(&out, "%s\n", page_link(d, i).ptr);
    for (uint32_t i = 0; i < d->images && what == PAGE_IMAGES; i++)
        buf_printf(&out, "%s\n", page_image(d, i).ptr);
    return arena_strdup(life, buf_text(&out));
}

static bool array_differs(
        struct arena *life, const struct page_digest *a, const struct page_digest *b, int what)
{
    return strcmp(all_of(life, a, what), all_of(life, b, what)) != 0;
}

/* ---- the questions
 * ---------------------------------------------------------------------------- */

enum { QUESTIONS = 15 };

static const char *const keywords[] = {
        "newword", "caf\xC3\xA9", "*tinel", "page version", "the page", "price"};

static struct cdg_leaf question(int i)
{
    static const char *const kinds[] = {"any change", "links", "images", "structure", "tags",
            "attributes", "content", "all words", "all words", "keywords", "keywords",
            "keywords", "list", "table", "regexp"};
    struct cdg_leaf l = leaf_of(kinds[i]);

    l.counted = i == 8 || i == 10;
    l.all = i == 11;
    if (i >= 9 && i <= 11) {
        l.words = keywords;
        l.nwords = countof(keywords);
    }
    if (i == 14) {
        l.text = "Section \\d+|price";
        l.on_text = true;
    }
    return l;
}

static bool keywords_differ(
        struct arena *life, const struct page_digest *a, const struct page_digest *b, int i)
{
    static const char *const rows[][2] = {{"newword", NULL}, {"caf\xC3\xA9", NULL},
            {"*tinel", NULL}, {"page", "version"}, {"the", "page"}, {"price", NULL}};
    struct words x = words_of(life, a, true), y = words_of(life, b, true);
    bool all_before = true, all_after = true, differs = false;

    for (size_t k = 0; k < countof(rows); k++) {
        unsigned before = count_row(x, rows[k], rows[k][1] ? 2 : 1);
        unsigned after = count_row(y, rows[k], rows[k][1] ? 2 : 1);
        all_before &= before > 0;
        all_after &= after > 0;
        differs |= i == 10 ? before != after : (before > 0) != (after > 0);
    }
    return i == 11 ? all_before != all_after : differs;
}

/* CDG_U: the naive look has nothing to say. */
static enum cdg_result naive(
        struct arena *life, const struct page_digest *a, const struct page_digest *b, int i)
{
    static const int arrays[] = {0, PAGE_LINKS, PAGE_IMAGES, PAGE_CHILDREN, PAGE_TAGS,
            PAGE_ATTRIBUTES, PAGE_CONTENT};
    bool differs;

    if (i == 0)
        differs = array_differs(life, a, b, PAGE_CHILDREN) ||
                  array_differs(life, a, b, PAGE_TAGS) ||
                  array_differs(life, a, b, PAGE_ATTRIBUTES) ||
                  array_differs(life, a, b, PAGE_CONTENT);
    else if (i <= 6)
        differs = array_differs(life, a, b, arrays[i]);
    else if (i <= 8)
        differs = sets_differ(words_of(life, a, false), words_of(life, b, false), i == 8);
    else if (i <= 11)
        differs = keywords_differ(life, a, b, i);
    else
        return CDG_U;
    return differs ? CDG_C : CDG_N;
}

static const struct cdg_version *give_old(int64_t number, void *arg)
{
    (void)number;
    return arg;
}

TEST(oracle, "short cuts and sharing never change an answer")
{
    uint32_t state = 11;
    unsigned seen[2] = {0, 0};
    for (int round = 0; round < ROUNDS; round++) {
        SCRATCH struct arena *life = arena_new(NULL, "t");
        BUF(page, 1 << 22);
        doc_page(&page, SECTIONS, (struct doc_edits){.script = 1});
        mutate(&page, &state);
        struct cdg_version *old =
                version_of(life, 1, arena_strdup(life, page.data), "text/html; charset=utf-8");
        mutate(&page, &state);
        struct cdg_version *new_ =
                version_of(life, 2, arena_strdup(life, page.data), "text/html; charset=utf-8");

        struct cdg *g = cdg_new(life);
        struct cdg_expr all[QUESTIONS];
        for (int i = 0; i < QUESTIONS; i++) {
            all[i] = (struct cdg_expr){.op = CDG_LEAF, .leaf = question(i)};
            struct cdg_subscription s = {
                    .page_id = 1, .sentinel_id = i, .expr = &all[i], .base_version = 1};
            REQUIRE(cdg_join(g, &s, NULL) == OK);
        }
        const struct cdg_verdict *v;
        struct cdg_plan *p = cdg_plan_take(g, 1, 2);
        REQUIRE(cdg_plan_run(p, new_, give_old, old, life, &v) == QUESTIONS);
        for (int i = 0; i < QUESTIONS; i++) {
            int asked = (int)v[i].sentinel_id;
            const struct cdg_finding *alone;
            enum cdg_result expected = naive(life, old->digest, new_->digest, asked);
            REQUIRE(cdg_compare_once(&all[asked], old, new_, life, NULL, &alone) == OK);
            EXPECT_TEXT(show(life, v[i].finding), show(life, alone));
            if (expected == CDG_U)
                continue;
            seen[expected]++;
            if (v[i].finding->result != expected)
                test_fail(__FILE__, __LINE__, "round %d, question %d: %d, expected %d", round,
                        asked, v[i].finding->result, expected);
        }
        cdg_plan_give_back(g, p);
    }
    EXPECT(seen[CDG_C] > 100 && seen[CDG_N] > 50);
}

TEST(there_and_back, "what is inserted one way is deleted the other way")
{
    uint32_t state = 23;
    for (int round = 0; round < ROUNDS; round++) {
        SCRATCH struct arena *life = arena_new(NULL, "t");
        BUF(page, 1 << 22);
        doc_page(&page, SECTIONS, (struct doc_edits){.script = 1});
        char *before = arena_strdup(life, page.data);
        mutate(&page, &state);
        static const char *const kinds[] = {"links", "images", "all words"};
        for (size_t i = 0; i < countof(kinds); i++) {
            const struct cdg_finding *there = compare_leaf(
                    life, leaf_of(kinds[i]), before, page.data, "text/html; charset=utf-8");
            const struct cdg_finding *back = compare_leaf(
                    life, leaf_of(kinds[i]), page.data, before, "text/html; charset=utf-8");
            EXPECT_INT(there->inserted, back->deleted);
            EXPECT_INT(there->deleted, back->inserted);
        }
    }
}

TEST_MAIN()
