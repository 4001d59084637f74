/* Pages of the shape of documentation, mutated at random: what the detectors answer, by short
 * cuts and for all who ask at once, is what a naive look at both versions says (naive.c), to
 * the last item of every list. */
#include "tests/cdg/cdg_help.h"
#include "tests/cdg/mutate.h"
#include "tests/cdg/naive.h"
#include "tests/page/doc_page.h"

enum { ROUNDS = 60, SECTIONS = 5, MUTATIONS_MAX = 6 };

/* ---- the questions ----------------------------------------------------------------------- */

struct asked {
    const char *kind;
    struct cdg_leaf leaf;
};

static const char *const some_words[] = {
        "newword", "caf\xC3\xA9", "*tinel", "page version", "the page", "price", "edited125"};
static const char *const many_words[] = {"price", "th*", "*ag* *ersion", "bold some",
        "of the page", "section", "n", "10.50 price", "a b c d e f g h i j k l"};
static const char *const all_there[] = {"monitor", "newword"}, *const nearly_all[] = {
                                                                       "n", "*ric*"};
static const char *const excepted[] = {"Price", "the", "NEWWORD"};

static const struct asked questions[] = {
        {"any change", {.kind = 0}},
        {"links", {.kind = 0}},
        {"images", {.kind = 0}},
        {"structure", {.kind = 0}},
        {"tags", {.kind = 0}},
        {"attributes", {.kind = 0}},
        {"content", {.kind = 0}},
        {"all words", {.kind = 0}},
        {"all words", {.counted = true}},
        {"all words", {.words = excepted, .nwords = countof(excepted)}},
        {"keywords", {.words = some_words, .nwords = countof(some_words)}},
        {"keywords", {.words = many_words, .nwords = countof(many_words)}},
        {"keywords", {.words = some_words, .nwords = countof(some_words), .counted = true}},
        {"keywords", {.words = many_words, .nwords = countof(many_words), .counted = true}},
        {"keywords", {.words = nearly_all, .nwords = countof(nearly_all), .all = true}},
        {"keywords", {.words = all_there, .nwords = countof(all_there), .all = true}},
        {"table", {.number = 0}},
        {"table", {.number = 4}},
        {"table", {.text = "9"}},
        {"list", {.number = 2}},
        {"list", {.text = "sentinel"}},
        {"list", {.text = "another item"}},
        {"regexp", {.text = "Section \\d+|price", .on_text = true}},
        {"regexp", {.text = "(\\w+)(?= the| page)", .on_text = true}},
        {"element", {.text = "li", .status = CDG_NEW}},
        {"element", {.text = "li", .status = CDG_DELETED}},
        {"element", {.text = "p", .status = CDG_UPDATED}},
        {"element", {.text = "div", .status = CDG_UPDATED}},
        {"element", {.text = "tr", .status = CDG_UNCHANGED, .contains = "9"}},
        {"element", {.text = "td", .status = CDG_NEW}},
        {"element", {.text = "b", .status = CDG_DELETED}},
        {"element", {.text = "a", .status = CDG_NEW, .contains = "price"}},
        {"element", {.text = "p", .status = CDG_UPDATED, .contains = "*ri*", .strict = true}},
        {"element", {.text = "img"}},
        {"phrase", {.text = "Section 3"}},
        {"phrase", {.text = "price"}},
        {"phrase", {.text = "another item"}},
        {"any change", {.region = CDG_REGION_CSS, .selector = "ul"}},
        {"all words", {.region = CDG_REGION_CSS, .selector = "p"}},
        {"keywords", {.words = many_words,
                             .nwords = countof(many_words),
                             .region = CDG_REGION_CSS,
                             .selector = "li"}},
        {"element",
                {.text = "a", .status = CDG_NEW, .region = CDG_REGION_CSS, .selector = "ul"}},
};

static struct cdg_leaf question(size_t i)
{
    struct cdg_leaf l = questions[i].leaf;

    l.kind = leaf_of(questions[i].kind).kind;
    return l;
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* As naive.c writes it: a line for each change; words have no order. */
static char *show_all(struct arena *life, const struct cdg_finding *f, bool sorted)
{
    static const char *const keys[] = {"inserted", "deleted", "updated", "moved", "found"};
    static const char *const signs[] = {"+", "−", "~", "»", "="};
    BUF(out, 1 << 22);

    if (f->result != CDG_C)
        return arena_strdup(life, f->result == CDG_N ? "N" : "U");
    json_t *root = json_loads(f->detail, 0, NULL);
    CHECK(root);
    json_t *leaf = json_array_get(json_object_get(root, "leaves"), 0);
    for (size_t k = 0; k < countof(keys); k++) {
        json_t *list = json_object_get(leaf, keys[k]), *item;
        size_t n = json_array_size(list), i;
        const char **lines = arena_array_of(life, n + 1, const char *);
        json_array_foreach(list, i, item)
        {
            lines[i] = json_is_string(item)
                               ? arena_strdup(life, json_string_value(item))
                               : arena_printf(life, "%s→%s",
                                         json_string_value(json_object_get(item, "old")),
                                         json_string_value(json_object_get(item, "new")));
        }
        if (sorted && n)
            qsort(lines, n, sizeof *lines, compare_text);
        for (i = 0; i < n; i++)
            buf_printf(&out, "%s%s\n", signs[k], lines[i]);
    }
    json_decref(root);
    return arena_strdup(life, out.len ? buf_text(&out) : "C");
}

/* The digest that the question is about: the page's, or that of its region. */
static const struct page_digest *digest_for(struct arena *life, const struct cdg_leaf *leaf,
        const struct cdg_version *v, bool *ret_found)
{
    struct page_selector *s;
    struct page_digest *region = NULL;

    *ret_found = true;
    if (leaf->region == CDG_REGION_NONE)
        return v->digest;
    CHECK(page_selector_new(life, PAGE_CSS, leaf->selector, NULL, &s) == OK);
    CHECK(page_region(v->digest, s, life, NULL, &region, ret_found) == OK);
    return region;
}

static char *naive(struct arena *life, const struct cdg_leaf *leaf,
        const struct cdg_version *old, const struct cdg_version *new_)
{
    bool in_old, in_new;
    const struct page_digest *a = digest_for(life, leaf, old, &in_old),
                             *b = digest_for(life, leaf, new_, &in_new);

    return in_old || in_new ? naive_answer(life, leaf, a, b) : arena_strdup(life, "U");
}

static const struct cdg_version *give_old(int64_t number, void *arg)
{
    (void)number;
    return arg;
}

/* Everybody asks at once; then each alone; then the naive look. */
static void try_pair(struct cdg_version *old, struct cdg_version *new_, int round,
        unsigned seen[countof(questions)][3])
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct cdg *g = cdg_new(life);
    struct cdg_expr all[countof(questions)];
    const struct cdg_verdict *v;

    for (size_t i = 0; i < countof(questions); i++) {
        all[i] = (struct cdg_expr){.op = CDG_LEAF, .leaf = question(i)};
        struct cdg_subscription s = {
                .page_id = 1, .sentinel_id = (int64_t)i, .expr = &all[i], .base_version = 1};
        CHECK(cdg_join(g, &s, NULL) == OK);
    }
    struct cdg_plan *p = cdg_plan_take(g, 1, 2);
    CHECK(cdg_plan_run(p, new_, give_old, old, life, &v) == countof(questions));
    for (size_t i = 0; i < countof(questions); i++) {
        size_t asked = (size_t)v[i].sentinel_id;
        bool sorted = strcmp(questions[asked].kind, "all words") == 0;
        const struct cdg_finding *alone;
        CHECK(cdg_compare_once(&all[asked], old, new_, life, NULL, &alone) == OK);
        seen[asked][alone->result]++;
        EXPECT_TEXT(v[i].finding->summary, alone->summary);
        EXPECT_TEXT(v[i].finding->detail ? v[i].finding->detail : "",
                alone->detail ? alone->detail : "");
        char *got = show_all(life, alone, sorted);
        char *expected = naive(life, &all[asked].leaf, old, new_);
        if (strcmp(got, expected) != 0)
            test_fail(__FILE__, __LINE__, "round %d, question %zu, %s: is\n%sexpected\n%s",
                    round, asked, questions[asked].kind, got, expected);
    }
    cdg_plan_give_back(g, p);
}

/* More rounds, and others, for a night: ORACLE_ROUNDS and ORACLE_SEED. */
static uint32_t from_environment(const char *name, uint32_t otherwise)
{
    const char *value = getenv(name);
    return value ? (uint32_t)strtoul(value, NULL, 10) : otherwise;
}

TEST(oracle, "short cuts and sharing never change an answer")
{
    uint32_t state = from_environment("ORACLE_SEED", 11);
    int rounds = (int)from_environment("ORACLE_ROUNDS", ROUNDS);
    unsigned seen[countof(questions)][3] = {{0}};
    for (int round = 0; round < rounds; round++) {
        SCRATCH struct arena *life = arena_new(NULL, "t");
        BUF(page, 1 << 22);
        doc_page(&page, SECTIONS, (struct doc_edits){.script = 1});
        mutate(&page, &state, MUTATIONS_MAX);
        struct cdg_version *old =
                version_of(life, 1, arena_strdup(life, page.data), "text/html; charset=utf-8");
        mutate(&page, &state, MUTATIONS_MAX * (round % 8 == 0 ? 4 : 1));
        struct cdg_version *new_ =
                version_of(life, 2, arena_strdup(life, page.data), "text/html; charset=utf-8");
        try_pair(old, new_, round, seen);
    }
    for (size_t i = 0; i < countof(questions); i++) /* every one has a chance to be wrong */
        if (seen[i][CDG_C] == 0 || seen[i][CDG_N] + seen[i][CDG_U] == 0)
            test_fail(__FILE__, __LINE__, "question %zu, %s: C %u, N %u, U %u", i,
                    questions[i].kind, seen[i][CDG_C], seen[i][CDG_N], seen[i][CDG_U]);
}

TEST(there_and_back, "what is inserted one way is deleted the other way")
{
    uint32_t state = 23;
    for (int round = 0; round < ROUNDS; round++) {
        SCRATCH struct arena *life = arena_new(NULL, "t");
        BUF(page, 1 << 22);
        doc_page(&page, SECTIONS, (struct doc_edits){.script = 1});
        char *before = arena_strdup(life, page.data);
        mutate(&page, &state, MUTATIONS_MAX);
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
