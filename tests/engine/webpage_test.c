/* What a page costs while nothing happens to it. */
#include "engine/engine_int.h"
#include "tests/test.h"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

TEST(memory, "a hundred thousand idle pages take less than 600 bytes each")
{
    enum { PAGES = 100000 };
    SCRATCH struct arena *scratch = arena_new(NULL, "rows");
    struct engine e = {0};
    map_init(&e.pages_by_id);
    map_init(&e.hosts);
    list_init(&e.cached);
    size_t before = mallinfo2().uordblks;
    for (int64_t i = 1; i <= PAGES; i++) {
        char url[100];
        snprintf(url, sizeof url, "https://www.example%lld.org/some/where/page%lld.html",
                (long long)i % 1000, (long long)i);
        webpage_load(&e, &(struct store_page){.id = i,
                                 .url = url,
                                 .request = "",
                                 .latest_version = 1,
                                 .etag = "\"6548d0f2-b798\"",
                                 .last_modified = "Mon, 06 Nov 2023 11:40:02 GMT",
                                 .next_fetch_at = MSEC_NEVER});
    }
    double each = (double)(mallinfo2().uordblks - before) / PAGES;
    printf("# %.0f bytes a page\n", each);
    EXPECT(each < 600);
    map_each (n, &e.pages_by_id) {
        struct webpage *p = container_of(n, struct webpage, by_id);
        map_remove(&e.pages_by_id, n);
        free(p->url);
        free(p->etag);
        free(p->last_modified);
        free(p);
    }
    map_done(&e.pages_by_id);
    webhost_free_all(&e);
}
TEST_MAIN()
