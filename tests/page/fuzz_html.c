/* Any bytes, as HTML, XML or text: a digest that opens, or a fault with a reason.  What was
 * made twice of the same bytes is the same. */
#include "tests/page/fuzz.h"
#include "page/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"text/html", "application/xml", "text/plain", NULL,
            "text/html; charset=shift_jis", "application/json"};

    for (size_t i = 0; i < countof(types); i++) {
        SCRATCH struct arena *life = arena_new(NULL, "fuzz");
        struct page_source src = {(const char *)data, size, types[i], "http://x.org/d/p.html"};
        struct page_digest *d;
        struct fault f = {.code = OK};
        BUF(block, 1 << 24);
        BUF(again, 1 << 24);
        if (page_digest_make(&src, &block, &f) != OK) {
            CHECK(f.code != OK && f.message[0]);
            continue;
        }
        CHECK(page_digest_open(life, block.data, block.len, &f, &d) == OK);
        CHECK(page_digest_make(&src, &again, &f) == OK && again.len == block.len &&
                memcmp(again.data, block.data, block.len) == 0);
    }
    return 0;
}
