/* Any bytes, as a digest: refused, or every question about it can be asked. */
#include "tests/page/fuzz.h"
#include "page/page.h"

static void read_all(const struct page_digest *d, struct arena *life)
{
    struct page_block *blocks;
    size_t n = page_blocks(d, life, &blocks), sum = 0;

    for (size_t i = 0; i < n; i++) {
        struct str word;
        for (size_t at = 0; page_word_next(blocks[i].text, &at, &word);)
            sum += word.len;
    }
    for (uint32_t i = 0; i < d->nodes; i++) {
        sum += page_tag_name(d, d->tags[i]).len;
        for (uint32_t a = d->attr_at[i]; a < d->attr_at[i + 1]; a++)
            sum += strlen(page_attr_name(d, a).ptr) + strlen(page_attr_value(d, a).ptr);
        if (i < 10 || i + 10 > d->nodes)
            for (uint32_t up = i; up < d->nodes; up = d->parent[up])
                sum += d->end[up];
    }
    for (uint32_t i = 0; i < d->links; i++)
        sum += page_link(d, i).len;
    for (uint32_t i = 0; i < d->images; i++)
        sum += page_image(d, i).len;
    CHECK(sum < SIZE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    SCRATCH struct arena *life = arena_new(NULL, "fuzz");
    struct page_digest *d;
    struct fault f = {.code = OK};

    if (page_digest_open(life, data, size, &f, &d) == OK)
        read_all(d, life);
    else
        CHECK(f.code != OK && f.message[0]);
    return 0;
}
