/* Pages of the shape of documentation, and small ones of no shape at all, mutated at random:
 * short cuts and sharing never change an answer (oracle.h). */
#include "tests/cdg/cdg_help.h"
#include "tests/cdg/mutate.h"
#include "tests/cdg/oracle.h"
#include "tests/cdg/soup.h"
#include "tests/page/doc_page.h"

enum { ROUNDS = 60, SECTIONS = 5, MUTATIONS_MAX = 6, SOUPS = 5 /* for each */ };

static struct cdg_version *version_of_soup(
        struct arena *life, int64_t number, const struct soup *s)
{
    BUF(page, 1 << 20);

    soup_write(s, &page);
    return version_of(
            life, number, arena_strdup(life, buf_text(&page)), "text/html; charset=utf-8");
}

static void try_soup(uint32_t *state, struct oracle_seen *seen)
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    struct soup s = {.count = next_random(state) % (next_random(state) % 3 ? 30 : SOUP_MAX)};

    for (size_t i = 0; i < s.count; i++)
        s.pieces[i] = (uint8_t)next_random(state);
    struct cdg_version *old = version_of_soup(life, 1, &s);
    for (unsigned edits = next_random(state) % 5; edits > 0; edits--) {
        uint8_t edit[4];
        for (size_t i = 0; i < sizeof edit; i++)
            edit[i] = (uint8_t)next_random(state);
        soup_edit(&s, edit);
    }
    struct cdg_version *new_ = version_of_soup(life, 2, &s);
    char *difference = oracle_difference(life, old, new_, seen);
    if (difference)
        test_fail(__FILE__, __LINE__, "%s\nof\n%s\nand\n%s", difference, old->source->bytes,
                new_->source->bytes);
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
    struct oracle_seen seen = {0};
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
        char *difference = oracle_difference(life, old, new_, &seen);
        if (difference)
            test_fail(__FILE__, __LINE__, "round %d, %s", round, difference);
    }
    for (int round = 0; round < rounds * SOUPS; round++)
        try_soup(&state, &seen);
    for (size_t i = 0; i < ORACLE_QUESTIONS; i++) { /* every one has a chance to be wrong */
        const unsigned *n = seen.results[i];
        if (n[CDG_C] == 0 || n[CDG_N] + n[CDG_U] == 0)
            test_fail(__FILE__, __LINE__, "question %zu, %s: C %u, N %u, U %u", i,
                    oracle_question(i), n[CDG_C], n[CDG_N], n[CDG_U]);
    }
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
