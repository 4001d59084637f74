/* Any two small pages that are nearly the same: the answers with all short cuts, for all who
 * ask at once and for each alone, are those of a naive look.
 *
 * The input is the number of edits, four bytes for each, and the pieces of the page (soup.h).
 */
#define FUZZ_MUTATIONS 20
#include "tests/page/fuzz.h"
#include "tests/cdg/oracle.h"
#include "tests/cdg/cdg_help.h"
#include "tests/cdg/soup.h"

static struct cdg_version *version_of_soup(
        struct arena *life, int64_t number, const struct soup *s)
{
    BUF(page, 1 << 20);

    soup_write(s, &page);
    return version_of(
            life, number, arena_strdup(life, buf_text(&page)), "text/html; charset=utf-8");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SCRATCH struct arena *life = arena_new(NULL, "fuzz");
    size_t edits = size ? data[0] % 6 : 0, from = 1 + 4 * edits;
    struct oracle_seen seen = {0};
    struct soup s = {.count = 0};

    if (size < from)
        return 0;
    s.count = size - from < SOUP_MAX ? size - from : SOUP_MAX;
    memcpy(s.pieces, data + from, s.count);
    struct cdg_version *old = version_of_soup(life, 1, &s);
    for (size_t i = 0; i < edits; i++)
        soup_edit(&s, data + 1 + 4 * i);
    struct cdg_version *new_ = version_of_soup(life, 2, &s);
    char *difference = oracle_difference(life, old, new_, &seen);
    if (difference)
        printf("# %s\n", difference);
    CHECK(!difference);
    return 0;
}
