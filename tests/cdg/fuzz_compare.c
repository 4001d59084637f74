/* Any two pages: the input's halves.  Every kind answers; a page is never changed against
 * itself; what changed one way has changed the other way; details are JSON. */
#define FUZZ_MUTATIONS 60
#include "tests/page/fuzz.h"
#include "cdg/cdg.h"
#include <jansson.h>
#include <string.h>

static struct cdg_version version_of(struct arena *life, const struct page_source *src)
{
    struct cdg_version v = {.number = 1, .source = src};
    struct page_digest *d;
    BUF(block, 1 << 24);

    v.body = hash128_of(src->bytes, src->len);
    if (page_digest_make(src, &block, NULL) == OK &&
            page_digest_open(
                    life, arena_memdup(life, block.data, block.len), block.len, NULL, &d) == OK)
        v.digest = d;
    return v;
}

static enum cdg_result ask(struct arena *life, const struct cdg_expr *e,
        const struct cdg_version *a, const struct cdg_version *b)
{
    const struct cdg_finding *f;
    json_t *detail;

    CHECK(cdg_compare_once(e, a, b, life, NULL, &f) == OK);
    if (f->result != CDG_C)
        return f->result;
    detail = json_loads(f->detail, 0, NULL);
    CHECK(detail && f->summary[0]);
    json_decref(detail);
    return CDG_C;
}

static void try_kind(
        struct arena *life, int kind, const struct cdg_version *a, const struct cdg_version *b)
{
    static const char *const words[] = {"a", "*t*", "one two"};
    struct cdg_expr e = {.op = CDG_LEAF,
            .leaf = {.kind = kind, .text = "p", .words = words, .nwords = countof(words)}};

    if (kind == cdg_kind_find("phrase"))
        e.leaf.nwords = 0; /* by the text it contains */
    for (int round = 0; round < 4; round++) {
        e.leaf.counted = round == 1;
        e.leaf.on_text = true;
        e.leaf.status = CDG_UPDATED;
        e.leaf.region = round == 2 ? CDG_REGION_CSS : CDG_REGION_NONE;
        e.leaf.selector = "p, li, b + i";
        e.leaf.changed_over = round == 3 && kind != cdg_kind_find("element");
        e.leaf.percent = 30;
        enum cdg_result there = ask(life, &e, a, b), back = ask(life, &e, b, a);
        CHECK(ask(life, &e, a, a) != CDG_C && ask(life, &e, b, b) != CDG_C);
        if (kind != cdg_kind_find("phrase") && kind != cdg_kind_find("table") &&
                kind != cdg_kind_find(
                                "list")) /* chosen by text, they may be lost one way only */
            CHECK((there == CDG_C) == (back == CDG_C));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SCRATCH struct arena *life = arena_new(NULL, "fuzz");
    size_t half = size / 2;
    struct page_source one = {(const char *)data, half, "text/html", "http://x.org/"};
    struct page_source two = {
            (const char *)data + half, size - half, "text/html", "http://x.org/"};
    struct cdg_version a = version_of(life, &one), b = version_of(life, &two);

    for (int kind = 0; cdg_kind_get(kind); kind++)
        try_kind(life, kind, &a, &b);
    return 0;
}
