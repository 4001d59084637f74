/* Hostile text in every field of every output comes out exactly as injection.golden says.
 *
 * A message is rendered twice, once with a harmless mark in one field and once with the
 * payload; the second must be the first with the mark replaced by the payload's escaped form,
 * byte for byte.  So nothing of a payload can reach any other place, and nothing is lost.
 */
#include "notify/notify_int.h"
#include "tests/test.h"

enum { FIELDS = 12, PAYLOADS_MAX = 100 };
#define MARK "qQmarkQq"

static struct payload {
    char raw[1024], html[4096], plain[2048], json[4096];
} payloads[PAYLOADS_MAX];
static size_t npayloads;

static void from_hex(char *to, const char *hex)
{
    size_t n = 0;
    for (; *hex && *hex != '-'; hex += 2) {
        unsigned byte;
        CHECK(sscanf(hex, "%2x", &byte) == 1);
        to[n++] = (char)byte;
    }
    to[n] = 0;
}

static void load(void)
{
    static char a[2100], b[8200], c[4100], d[8200];
    FILE *f = fopen("injection.golden", "r");
    if (npayloads || !f)
        return;
    while (npayloads < PAYLOADS_MAX &&
            fscanf(f, "%2099s %8199s %4099s %8199s", a, b, c, d) == 4) {
        struct payload *p = &payloads[npayloads++];
        from_hex(p->raw, a);
        from_hex(p->html, b);
        from_hex(p->plain, c);
        from_hex(p->json, d);
    }
    fclose(f);
}

static struct notify *notify_of(struct arena *life)
{
    struct notify *n;
    struct notify_options o = {.instance = "i", .host = "example.org", .from = "v@example.org"};
    CHECK(notify_new(life, &o, NULL, &n) == OK);
    return n;
}

static void put(const struct notify *n, const char *const *field, int output, struct buf *out)
{
    struct notify_line lines[] = {{.mark = NOTIFY_INSERTED, .now = field[0]},
            {.mark = NOTIFY_DELETED, .old = field[1]},
            {.mark = NOTIFY_INSERTED,
                    .shape = NOTIFY_IMAGE,
                    .now = field[2],
                    .path = field[3]}};
    struct notify_part part = {
            .type = field[4], .remark = field[5], .lines = lines, .nlines = 3};
    struct notify_item it = {.id = 1,
            .change = 2,
            .kind = NOTIFY_CHANGE,
            .sentinel = field[6],
            .owner = field[7],
            .url = field[8],
            .monitor = field[9],
            .topic = field[10],
            .summary = field[11],
            .inserted = 1,
            .ratio = -1,
            .parts = &part,
            .nparts = 1,
            .look = NOTIFY_ONLY,
            .last_modified = field[9],
            .last_evaluated = MSEC_NEVER,
            .last_notified = MSEC_NEVER,
            .last_seen = MSEC_NEVER,
            .installed = MSEC_NEVER,
            .ends = MSEC_NEVER};
    struct notify_message m = {.key = "k",
            .method = "webhook",
            .target = "http://x/",
            .owner = field[7],
            .items = &it,
            .nitems = 1};
    switch (output) {
    case 0:
        notify_html(n, &m, out);
        break;
    case 1:
        notify_text(n, &m, out);
        break;
    case 2:
        notify_json(n, &m, out);
        break;
    case 3:
        notify_feed(n, field[7], field[10], &it, 1, out);
        break;
    case 4:
        notify_show(out, &it, (struct notify_style){NOTIFY_COLOUR, 80});
        break;
    }
}

static void replace_all(struct buf *out, const char *text, const char *by)
{
    const char *at;
    while ((at = strstr(text, MARK))) {
        buf_append(out, text, (size_t)(at - text));
        buf_puts(out, by);
        text = at + strlen(MARK);
    }
    buf_puts(out, text);
}

/* A mark in a feed's content is escaped once more, and the content begins with a tag. */
static void expected_feed(struct buf *out, const char *text, const char *once)
{
    BUF(twice, 1 << 16);
    escape_text(&twice, ESCAPE_HTML, once);
    const char *content = strstr(text, "<content"), *end = strstr(text, "</content>");
    BUF(head, 1 << 20);
    BUF(body, 1 << 20);
    buf_append(&head, text, (size_t)(content - text));
    buf_append(&body, content, (size_t)(end - content));
    replace_all(out, buf_text(&head), once);
    replace_all(out, buf_text(&body), buf_text(&twice));
    replace_all(out, end, once);
}

TEST(matrix, "64 payloads in 12 fields of 5 outputs: each exactly as the golden file says")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const struct notify *n = notify_of(life);
    size_t compared = 0;
    load();
    REQUIRE(npayloads >= 64);
    for (int output = 0; output < 5; output++)
        for (int field = 0; field < FIELDS; field++)
            for (size_t i = 0; i < npayloads; i++) {
                const struct payload *p = &payloads[i];
                const char *values[FIELDS];
                BUF(marked, 1 << 20);
                BUF(actual, 1 << 20);
                BUF(expected, 1 << 20);
                for (int k = 0; k < FIELDS; k++)
                    values[k] = "plain";
                values[field] = MARK;
                put(n, values, output, &marked);
                values[field] = p->raw;
                put(n, values, output, &actual);
                if (output == 3)
                    expected_feed(&expected, buf_text(&marked), p->html);
                else
                    replace_all(&expected, buf_text(&marked),
                            output == 0   ? p->html
                            : output == 2 ? p->json
                                          : p->plain);
                compared++;
                if (strcmp(buf_text(&actual), buf_text(&expected)) != 0)
                    test_fail(__FILE__, __LINE__,
                            "output %d, field %d, payload %zu:\n%s\n---\n%s", output, field, i,
                            buf_text(&actual), buf_text(&expected));
            }
    printf("# %zu comparisons\n", compared);
}

TEST(links, "an address is a link only when it is http or https")
{
    static const char *const addresses[] = {"javascript:alert(1)", "data:text/html,x", "//x",
            "JaVaScRiPt:x", "http:x", "file:///etc/passwd", "vbscript:x"};
    for (size_t i = 0; i < countof(addresses); i++) {
        struct notify_line line = {
                .mark = NOTIFY_INSERTED, .shape = NOTIFY_LINK, .now = addresses[i]};
        struct notify_part part = {.type = "links", .lines = &line, .nlines = 1};
        struct notify_item it = {.parts = &part, .nparts = 1, .look = NOTIFY_ONLY};
        BUF(out, 1 << 16);
        notify_show(&out, &it, (struct notify_style){NOTIFY_HTML, 0});
        EXPECT(!strstr(buf_text(&out), "href"));
    }
}

TEST(chats, "what a chat is sent is JSON, whatever the page says, and fields are filled once")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const struct notify *n = notify_of(life);
    struct notify_line line = {.mark = NOTIFY_INSERTED, .now = "{title} \"}{link} \\ \x1b"};
    struct notify_part part = {.type = "links", .lines = &line, .nlines = 1};
    struct notify_item it = {.id = 1,
            .change = 1,
            .sentinel = "{text}",
            .owner = "o",
            .url = "http://x/",
            .monitor = "links",
            .summary = "s",
            .inserted = 1,
            .ratio = -1,
            .parts = &part,
            .nparts = 1,
            .look = NOTIFY_ONLY,
            .last_evaluated = MSEC_NEVER,
            .last_notified = MSEC_NEVER,
            .last_seen = MSEC_NEVER,
            .installed = MSEC_NEVER,
            .ends = MSEC_NEVER};
    struct notify_message m = {.key = "k",
            .method = "webhook",
            .target = "https://ntfy.sh/my-topic?x=1",
            .owner = "o",
            .items = &it,
            .nitems = 1};
    BUF(out, 1 << 20);
    chat_body(chat_named("ntfy"), n, &m, &out);
    EXPECT(strncmp(buf_text(&out),
                   "{\"topic\":\"my-topic\",\"title\":\"{text}: 1 inserted\","
                   "\"message\":\"{text}: 1 inserted\\nhttp://x/\\n\\n  + {title} \\\"}{link} "
                   "\\\\ \xEF\xBF\xBD\\n",
                   120) == 0);
    EXPECT_TEXT(chat_url(chat_named("ntfy"), life, &m), "https://ntfy.sh/");
    m.target = "https://m.org/_matrix/client/v3/rooms/r/send/m.room.message/?access_token=t";
    EXPECT_TEXT(chat_url(chat_named("matrix"), life, &m),
            "https://m.org/_matrix/client/v3/rooms/r/send/m.room.message/k?access_token=t");
}

TEST_MAIN()
