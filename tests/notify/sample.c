#include "tests/notify/sample.h"

struct notify *sample_notify(struct arena *life, const char *from)
{
    struct notify *n;
    struct notify_options o = {.instance = "id",
            .host = "example.org",
            .from = from ? from : "v@example.org",
            .unsubscribe = "mailto:off@example.org",
            .fax_gateway = "{number}@fax.example.org",
            .has_mail = true};
    CHECK(notify_new(life, &o, NULL, &n) == OK);
    return n;
}

void sample_init(struct sample *s)
{
    *s = (struct sample){
            .lines = {{.mark = NOTIFY_INSERTED, .now = "a line"}},
            .part = {.type = "any change", .lines = s->lines, .nlines = 1},
            .item = {.id = 1,
                    .change = 2,
                    .sentinel = "s",
                    .owner = "ann",
                    .url = "http://x/",
                    .monitor = "any change",
                    .summary = "a summary",
                    .inserted = 1,
                    .ratio = -1,
                    .parts = &s->part,
                    .nparts = 1,
                    .look = NOTIFY_ONLY,
                    .last_evaluated = MSEC_NEVER,
                    .last_notified = MSEC_NEVER,
                    .last_seen = MSEC_NEVER,
                    .installed = MSEC_NEVER,
                    .ends = MSEC_NEVER},
            .m = {.key = "k",
                    .method = "webhook",
                    .target = "http://x/",
                    .owner = "ann",
                    .items = &s->item,
                    .nitems = 1,
                    .now = 1790000000000},
    };
}
