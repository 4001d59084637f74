/* Hostile text in every field of every sink comes out exactly as injection.golden says.
 *
 * A message is written twice, once with a harmless mark in one field and once with the
 * payload; the second must be the first with the mark replaced by the payload's form for that
 * sink, byte for byte.  So nothing of a payload can reach any other place, and nothing is lost.
 */
#include "base/log.h"
#include "tests/notify/sample.h"
#include "tests/test.h"
#include <unistd.h>

enum { PAYLOADS_MAX = 100 };
#define MARK "qQmarkQq"

/* ---- the golden file ---- */

enum form { RAW, HTML, PLAIN, JSON, CHAT, SLACK, DISCORD, DISCORD_FIRST, SUBJECT, LOG, FORMS };

static char golden[PAYLOADS_MAX][FORMS][1200];
static size_t npayloads; /* once they are loaded */

static void load(void)
{
    FILE *f = fopen("injection.golden", "r");
    char hex[2 * sizeof golden[0][0]];
    for (size_t at = 0; f && at < (size_t)PAYLOADS_MAX * FORMS; at++) {
        if (fscanf(f, "%2399s", hex) != 1)
            break;
        char *to = golden[at / FORMS][at % FORMS];
        for (const char *h = hex; *h && *h != '-'; h += 2) {
            unsigned byte;
            CHECK(sscanf(h, "%2x", &byte) == 1);
            *to++ = (char)byte;
        }
        npayloads = (at + 1) / FORMS;
    }
    if (f)
        fclose(f);
}

static size_t payloads(void)
{
    if (!npayloads)
        load();
    CHECK(npayloads >= 64);
    return npayloads;
}

/* ---- fields and sinks ---- */

enum field {
    CAME,
    WENT,
    IMAGE,
    PATH,
    TYPE,
    REMARK,
    SENTINEL,
    OWNER,
    URL,
    MONITOR,
    TOPIC,
    SUMMARY,
    FIELDS
};

struct sink {
    const char *name;
    enum form form, first; /* first: where the field begins a line */
    void (*put)(const struct notify *n, const struct sample *s, struct buf *out);
    const char *chat; /* NULL: none; a chat's title is cut, so what is in it is not looked at */
};

static void put_html(const struct notify *n, const struct sample *s, struct buf *out)
{
    notify_html(n, &s->m, out);
}

static void put_text(const struct notify *n, const struct sample *s, struct buf *out)
{
    notify_text(n, &s->m, out);
}

static void put_json(const struct notify *n, const struct sample *s, struct buf *out)
{
    notify_json(n, &s->m, out);
}

static void show(
        const struct sample *s, enum notify_look look, enum notify_form form, struct buf *out)
{
    struct notify_item it = s->item;
    it.look = look;
    notify_show(out, &it, (struct notify_style){form, 80});
}

static void put_terminal(const struct notify *n, const struct sample *s, struct buf *out)
{
    (void)n;
    show(s, NOTIFY_ONLY, NOTIFY_COLOUR, out);
    show(s, NOTIFY_MERGED, NOTIFY_COLOUR, out);
    show(s, NOTIFY_MERGED, NOTIFY_PLAIN, out);
}

static void put_looks(const struct notify *n, const struct sample *s, struct buf *out)
{
    (void)n;
    for (int look = 0; look < NOTIFY_LOOK_COUNT; look++)
        show(s, (enum notify_look)look, NOTIFY_HTML, out);
}

static const struct sink sinks[] = {
        {"mail HTML", HTML, HTML, put_html, NULL},
        {"HTML in every look", HTML, HTML, put_looks, NULL},
        {"mail text", PLAIN, PLAIN, put_text, NULL},
        {"terminal", PLAIN, PLAIN, put_terminal, NULL},
        {"webhook, program and channel", JSON, JSON, put_json, NULL},
        {"slack", SLACK, SLACK, NULL, "slack"},
        {"discord", DISCORD, DISCORD_FIRST, NULL, "discord"},
        {"teams", CHAT, CHAT, NULL, "teams"},
        {"telegram", CHAT, CHAT, NULL, "telegram"},
        {"matrix", CHAT, CHAT, NULL, "matrix"},
        {"ntfy", CHAT, CHAT, NULL, "ntfy"},
        {"gotify", CHAT, CHAT, NULL, "gotify"},
};

/* Harmless, but for one field. */
static void fill(struct sample *s, enum field which, const char *value)
{
    const char *field[FIELDS];
    for (int k = 0; k < FIELDS; k++)
        field[k] = "plain";
    field[which] = value;
    sample_init(s);
    s->lines[0] = (struct notify_line){.mark = NOTIFY_INSERTED, .now = field[CAME]};
    s->lines[1] = (struct notify_line){.mark = NOTIFY_DELETED, .old = field[WENT]};
    s->lines[2] = (struct notify_line){.mark = NOTIFY_INSERTED,
            .shape = NOTIFY_IMAGE,
            .now = field[IMAGE],
            .path = field[PATH]};
    s->part = (struct notify_part){
            .type = field[TYPE], .remark = field[REMARK], .lines = s->lines, .nlines = 3};
    s->item.sentinel = field[SENTINEL];
    s->item.owner = s->m.owner = field[OWNER];
    s->item.url = field[URL];
    s->item.monitor = s->item.last_modified = field[MONITOR];
    s->item.topic = field[TOPIC];
    s->item.summary = field[SUMMARY];
}

/* The sink's output with `value` in one field. */
static void put(const struct sink *sink, const struct notify *n, enum field field,
        const char *value, struct buf *out)
{
    struct sample s;
    fill(&s, field, value);
    if (sink->chat)
        chat_body(chat_named(sink->chat), n, &s.m, out);
    else
        sink->put(n, &s, out);
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

static size_t compared;

static void compare(
        const char *sink, int field, size_t payload, const char *actual, const char *expected)
{
    compared++;
    if (strcmp(actual, expected) != 0)
        test_fail(__FILE__, __LINE__, "%s, field %d, payload %zu:\n%s\n---\n%s", sink, field,
                payload, actual, expected);
}

static void check_field(const struct sink *sink, const struct notify *n, enum field field)
{
    bool first = field == URL || field == TYPE;
    BUF(marked, 1 << 20);
    put(sink, n, field, MARK, &marked);
    for (size_t i = 0; i < payloads(); i++) {
        BUF(actual, 1 << 20);
        BUF(expected, 1 << 20);
        put(sink, n, field, golden[i][RAW], &actual);
        replace_all(&expected, buf_text(&marked), golden[i][first ? sink->first : sink->form]);
        compare(sink->name, (int)field, i, buf_text(&actual), buf_text(&expected));
    }
}

TEST(matrix, "every payload in every field of every sink: each exactly as the golden file says")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const struct notify *n = sample_notify(life, NULL);
    compared = 0;
    for (size_t s = 0; s < countof(sinks); s++)
        for (int field = 0; field < FIELDS; field++) {
            bool in_title = field == SENTINEL || field == TOPIC;
            if (!sinks[s].chat || !in_title)
                check_field(&sinks[s], n, (enum field)field);
        }
    printf("# %zu comparisons\n", compared);
}

/* ---- feeds: a report is HTML inside XML, so it is escaped twice ---- */

static void put_feed(
        const struct notify *n, enum field field, const char *value, struct buf *out)
{
    struct sample s;
    fill(&s, field, value);
    notify_feed(n, s.item.owner, s.item.topic, &s.item, 1, out);
}

static void expected_feed(struct buf *out, const char *text, const char *once)
{
    BUF(twice, 1 << 16);
    for (const char *c = once; *c; c++)
        if (*c == '&')
            buf_puts(&twice, "&amp;");
        else
            buf_putc(&twice, *c);
    const char *content = strstr(text, "<content"), *end = strstr(text, "</content>");
    BUF(head, 1 << 20);
    BUF(body, 1 << 20);
    buf_append(&head, text, (size_t)(content - text));
    buf_append(&body, content, (size_t)(end - content));
    replace_all(out, buf_text(&head), once);
    replace_all(out, buf_text(&body), buf_text(&twice));
    replace_all(out, end, once);
}

TEST(feeds, "an Atom feed: every payload in every field")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const struct notify *n = sample_notify(life, NULL);
    for (int field = 0; field < FIELDS; field++) {
        BUF(marked, 1 << 20);
        put_feed(n, (enum field)field, MARK, &marked);
        for (size_t i = 0; i < payloads(); i++) {
            BUF(actual, 1 << 20);
            BUF(expected, 1 << 20);
            put_feed(n, (enum field)field, golden[i][RAW], &actual);
            expected_feed(&expected, buf_text(&marked), golden[i][HTML]);
            compare("feed", field, i, buf_text(&actual), buf_text(&expected));
        }
    }
}

/* ---- lines that changed, and two columns ---- */

static struct str trimmed(const char *text)
{
    return str_trim(str_of(text));
}

TEST(updates, "an update: old and new are text, whatever they say, and so are cells")
{
    for (size_t i = 0; i < payloads(); i++) {
        struct str plain = trimmed(golden[i][PLAIN]), html = trimmed(golden[i][HTML]);
        struct sample s;
        sample_init(&s);
        s.lines[0] = (struct notify_line){
                .mark = NOTIFY_UPDATED, .old = golden[i][RAW], .now = "neither"};
        s.lines[1] = (struct notify_line){.mark = NOTIFY_UPDATED,
                .shape = NOTIFY_ROW,
                .old = "one",
                .now = trimmed(golden[i][RAW]).len ? golden[i][RAW] : "-"};
        s.part.nlines = 2;
        BUF(actual, 1 << 20);
        BUF(expected, 1 << 20);
        show(&s, NOTIFY_MERGED, NOTIFY_PLAIN, &actual);
        char *end = strchr(actual.data, '\n');
        *end = 0;
        buf_puts(&expected, "  ~ ");
        if (*golden[i][RAW])
            buf_printf(&expected, plain.len ? "[-%.*s-] " : " ", (int)plain.len, plain.ptr);
        buf_puts(&expected, "{+neither+}");
        compare("merged", CAME, i, actual.data, buf_text(&expected));
        buf_clear(&actual);
        show(&s, NOTIFY_SIDE, NOTIFY_HTML, &actual);
        EXPECT(!html.len || memmem(buf_text(&actual), actual.len, html.ptr, html.len));
        for (const char *c = buf_text(&actual); (c = strchr(c, '<')); c++)
            EXPECT(strchr("dt/ia", c[1])); /* div table tr td del ins a, and their ends */
    }
}

TEST(columns, "two columns on a terminal: the text, padded, and nothing else")
{
    for (size_t i = 0; i < payloads(); i++) {
        struct sample s;
        sample_init(&s);
        s.lines[0].now = golden[i][RAW];
        s.item.look = NOTIFY_SIDE;
        BUF(actual, 1 << 20);
        BUF(expected, 1 << 20);
        notify_show(&actual, &s.item, (struct notify_style){NOTIFY_PLAIN, 1203});
        buf_printf(&expected, "%600s > %s", "", golden[i][PLAIN]);
        while (expected.data[expected.len - 1] == ' ')
            expected.len--;
        expected.data[expected.len] = 0;
        buf_putc(&expected, '\n');
        compare("side", CAME, i, buf_text(&actual), buf_text(&expected));
    }
}

/* ---- mail ---- */

TEST(subjects, "a mail's subject: every payload, byte for byte, and no header but ours")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const struct notify *n = sample_notify(life, NULL);
    for (size_t i = 0; i < payloads(); i++) {
        struct sample s;
        sample_init(&s);
        s.m.method = "email";
        s.m.target = "ann@example.org";
        s.item.kind = NOTIFY_ENDED;
        s.item.summary = golden[i][RAW];
        BUF(actual, 1 << 20);
        BUF(expected, 1 << 20);
        notify_mime(n, &s.m, &actual);
        *strstr(actual.data, "\r\n\r\n") = 0;
        buf_printf(&expected,
                "From: <v@example.org>\r\nTo: ann@example.org\r\n%s\r\n"
                "Date: Mon, 21 Sep 2026 14:13:20 +0000\r\nMessage-ID: <k@example.org>\r\n"
                "List-Unsubscribe: <mailto:off@example.org>\r\n"
                "List-ID: Vigil <vigil.example.org>\r\nAuto-Submitted: auto-generated\r\n"
                "MIME-Version: 1.0\r\nContent-Type: multipart/alternative;\r\n"
                " boundary=\"=_k\"",
                *golden[i][RAW] ? golden[i][SUBJECT] : "Subject: s: has ended");
        compare("subject", SUMMARY, i, actual.data, buf_text(&expected));
    }
}

/* ---- the log ---- */

TEST(logs, "a line of the log: every payload, byte for byte, and one line each")
{
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    REQUIRE(file && kept >= 0);
    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    for (size_t i = 0; i < payloads(); i++)
        log_error("page \"%s\" failed", golden[i][RAW]);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    char line[5000];
    for (size_t i = 0; i < payloads(); i++) {
        BUF(expected, 1 << 16);
        REQUIRE(fgets(line, sizeof line, file));
        buf_printf(&expected, "error: page \"%s\" failed\n", golden[i][LOG]);
        compare("log", CAME, i, line + strcspn(line, " ") + 1, buf_text(&expected));
    }
    EXPECT(!fgets(line, sizeof line, file));
    fclose(file);
}

/* ---- what a text cannot become ---- */

TEST(links, "an address is a link only when it is http or https")
{
    static const char *const addresses[] = {"javascript:alert(1)", "data:text/html,x", "//x",
            "JaVaScRiPt:x", "http:x", "file:///etc/passwd", "vbscript:x"};
    for (size_t i = 0; i < countof(addresses); i++) {
        struct sample s;
        sample_init(&s);
        s.lines[0].shape = NOTIFY_LINK;
        s.lines[0].now = addresses[i];
        BUF(out, 1 << 16);
        show(&s, NOTIFY_ONLY, NOTIFY_HTML, &out);
        EXPECT(!strstr(buf_text(&out), "href"));
    }
}

TEST(chats, "fields are filled once, URLs go where the service wants them, titles fit")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const struct notify *n = sample_notify(life, NULL);
    struct sample s;
    char name[500];
    sample_init(&s);
    s.m.target = "https://ntfy.sh/my-topic?x=1";
    s.item.sentinel = "{text}";
    s.lines[0].now = "{title} \"}{link} \\ \x1b";
    BUF(out, 1 << 20);
    chat_body(chat_named("ntfy"), n, &s.m, &out);
    static const char head[] = "{\"topic\":\"my-topic\",\"title\":\"{text}: 1 inserted\","
                               "\"message\":\"http://x/\\n  + {title} \\\"}{link} "
                               "\\\\ \xEF\xBF\xBD\"}";
    EXPECT(strncmp(buf_text(&out), head, sizeof head - 1) == 0);
    EXPECT_TEXT(chat_url(chat_named("ntfy"), life, &s.m), "https://ntfy.sh/");
    s.m.target = "https://m.org/_matrix/client/v3/rooms/r/send/m.room.message/?access_token=t";
    EXPECT_TEXT(chat_url(chat_named("matrix"), life, &s.m),
            "https://m.org/_matrix/client/v3/rooms/r/send/m.room.message/k?access_token=t");

    /* Discord refuses a message of more than 2000 characters for good. */
    BUF(longest, 1 << 20);
    for (int i = 0; i < 4000; i++)
        buf_putc(&longest, '*');
    memset(name, '_', sizeof name - 1);
    name[sizeof name - 1] = 0;
    s.item.sentinel = name;
    s.lines[0].now = buf_text(&longest);
    buf_clear(&out);
    chat_body(chat_named("discord"), n, &s.m, &out);
    const char *text = strstr(buf_text(&out), ":\"") + 2, *end = strstr(text, "\",\"allowed");
    size_t characters = 0;
    for (const char *c = text; c < end; c++, characters++)
        c += *c == '\\' ? 1 : utf8_length(c, 4) - 1;
    EXPECT(characters > 1900 && characters <= 2000);
}

TEST_MAIN()
