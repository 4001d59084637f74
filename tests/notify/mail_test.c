/* A mail is well formed whatever it tells, and says the same thing each time. */
#include "tests/notify/sample.h"
#include "tests/test.h"

static void mail(const struct notify *n, const char *text, struct buf *out)
{
    struct sample s;
    sample_init(&s);
    s.lines[0].now = s.part.type = text;
    s.item.sentinel = s.item.owner = s.item.topic = s.item.summary = text;
    s.m.key = "id.7";
    s.m.method = "email";
    s.m.target = "ann@example.org";
    notify_mime(n, &s.m, out);
}

/* Names of the headers, in order: "From To Subject". */
static const char *header_names(struct arena *life, const char *text)
{
    BUF(names, 4096);
    const char *end = strstr(text, "\r\n\r\n");
    while (text < end) {
        size_t line = strcspn(text, "\r"), name = strcspn(text, ":");
        if (*text != ' ')
            buf_printf(&names, "%s%.*s", names.len ? " " : "", (int)name, text);
        text += line + 2;
    }
    return arena_strdup(life, buf_text(&names));
}

TEST(hostile, "no text makes another header, a long line, or a byte that is not ASCII")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    static const char *const texts[] = {"x", "a\r\nBcc: eve@example.org\r\n\r\nhello", "\n.\n",
            "Stra\xC3\x9F"
            "e",
            "=?UTF-8?Q?x?=", "\xff\xfe", "From me", ".", "\t", "",
            "a very long subject that goes on and on and on until it must be folded because no "
            "line of a mail may be longer than seventy-eight characters",
            "\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC"
            "\xA2"
            "\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD"
            "\x97"
            "\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97\xE6\xBC\xA2\xE5\xAD\x97",
            "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww"
            "www"};
    for (size_t i = 0; i < countof(texts); i++) {
        const struct notify *n = sample_notify(life, "Vigil <vigil@example.org>");
        BUF(out, 1 << 20);
        BUF(again, 1 << 20);
        mail(n, texts[i], &out);
        mail(n, texts[i], &again);
        EXPECT_TEXT(buf_text(&out), buf_text(&again));
        EXPECT_TEXT(header_names(life, buf_text(&out)),
                "From To Subject Date Message-ID List-Unsubscribe List-ID Auto-Submitted "
                "MIME-Version Content-Type");
        size_t column = 0;
        bool fine = true;
        for (size_t k = 0; k < out.len; k++) {
            unsigned char c = (unsigned char)out.data[k];
            bool end = c == '\r' && out.data[k + 1] == '\n';
            fine = fine && (end || (c == '\n' && out.data[k - 1] == '\r') || c == '\t' ||
                                   (c >= 0x20 && c < 0x7F));
            column = c == '\n' ? 0 : column + 1;
            fine = fine && column <= 79;
        }
        if (!fine)
            test_fail(__FILE__, __LINE__, "text %zu:\n%s", i, buf_text(&out));
    }
}

/* What a quoted-printable part says, up to the next boundary. */
static void unquote(const char *part, const char *boundary, struct buf *out)
{
    const char *at = strstr(part, "\r\n\r\n") + 4, *end = strstr(at, boundary);
    for (; at < end; at++) {
        unsigned byte;
        if (*at != '=') {
            buf_putc(out, *at);
        } else if (at[1] == '\r') {
            at += 2;
        } else {
            CHECK(sscanf(at + 1, "%2X", &byte) == 1);
            buf_putc(out, (char)byte);
            at += 2;
        }
    }
}

TEST(parts, "what is read out of a mail's parts is the text and the page, byte for byte")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const struct notify *n = sample_notify(life, NULL);
    struct sample s;
    sample_init(&s);
    s.lines[0].now = "=3D K\xC3\xA4se = \xE2\x82\xAC 3 . From me ends in a space ";
    s.m.method = "email";
    s.m.target = "ann@example.org";
    BUF(mail, 1 << 20);
    BUF(text, 1 << 20);
    BUF(html, 1 << 20);
    BUF(seen, 1 << 20);
    BUF(lines, 1 << 20);
    notify_mime(n, &s.m, &mail);
    notify_text(n, &s.m, &text);
    notify_html(n, &s.m, &html);
    const char *part = strstr(buf_text(&mail), "text/plain");
    unquote(part, "--=_k", &seen);
    for (const char *c = buf_text(&text); *c; c++) /* lines of a mail end in CRLF */
        buf_printf(&lines, *c == '\n' ? "\r%c" : "%c", *c);
    EXPECT_TEXT(buf_text(&seen), buf_text(&lines));
    buf_clear(&seen);
    unquote(strstr(part, "text/html"), "--=_k", &seen);
    EXPECT_TEXT(buf_text(&seen), buf_text(&html));
}

TEST(fixed, "the headers of a mail, byte for byte")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    BUF(out, 1 << 20);
    mail(sample_notify(life, "\"Vigil, Inc.\" <vigil@example.org>"), "K\xC3\xA4se", &out);
    char *end = strstr(out.data, "\r\n\r\n");
    REQUIRE(end);
    *end = 0;
    EXPECT_TEXT(out.data, "From: \"Vigil, Inc.\" <vigil@example.org>\r\n"
                          "To: ann@example.org\r\n"
                          "Subject: =?UTF-8?B?W0vDpHNlXSBLw6RzZTogMSBpbnNlcnRlZA==?=\r\n"
                          "Date: Mon, 21 Sep 2026 14:13:20 +0000\r\n"
                          "Message-ID: <id.7@example.org>\r\n"
                          "List-Unsubscribe: <mailto:off@example.org>\r\n"
                          "List-ID: Vigil <vigil.example.org>\r\n"
                          "Auto-Submitted: auto-generated\r\n"
                          "MIME-Version: 1.0\r\n"
                          "Content-Type: multipart/alternative;\r\n boundary=\"=_id.7\"");
}

TEST(addresses, "addresses are taken out of what people write, and nothing else is one")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    EXPECT_TEXT(mail_address(life, "Ann <ann@example.org>"), "ann@example.org");
    EXPECT_TEXT(mail_address(life, " ann@example.org "), "ann@example.org");
    EXPECT(!mail_address(life, "ann"));
    static const char *const wrong[] = {"@example.org", "ann@", "a@x,b@y", "a@x>,<b@y",
            "a@x;b@y", "\"a\"@x", "a@x (home)", "K\xC3\xA4se@example.org", "a@[::1]", "a\\b@x"};
    for (size_t i = 0; i < countof(wrong); i++)
        if (mail_address(life, wrong[i]))
            test_fail(__FILE__, __LINE__, "%s is no address", wrong[i]);
    EXPECT(!mail_address(life, "a b@example.org"));
    EXPECT(!mail_address(life, "a@b\r\nc"));
    EXPECT(!mail_address(life, ""));
    EXPECT_TEXT(
            gateway_address(life, "{number}@fax.org", "+49 (30) 1-2.3"), "+4930123@fax.org");
    EXPECT_TEXT(gateway_address(life, "sms-{number}@x.org", "0+1"), "sms-01@x.org");
    EXPECT(!gateway_address(life, "nobody@x.org", "1"));
}

TEST(settings, "settings that cannot be meant are refused, with what to write instead")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct notify *n;
    struct fault f = {0};
    struct notify_options o = {.instance = "i", .program = "tell me"};
    EXPECT(notify_new(life, &o, &f, &n) == ERR_RANGE && strstr(f.message, "absolute path"));
    o = (struct notify_options){.instance = "i", .chats = "x.org=icq"};
    EXPECT(notify_new(life, &o, &f, &n) == ERR_SYNTAX && strstr(f.hint, "matrix"));
    o = (struct notify_options){.instance = "i", .from = "a@b\r\nBcc: x"};
    EXPECT(notify_new(life, &o, &f, &n) == ERR_SYNTAX);
    o = (struct notify_options){.instance = "i"};
    REQUIRE(notify_new(life, &o, &f, &n) == OK);
    EXPECT(notify_can(n, "email", "a@b", &f) == ERR_UNSUPPORTED);
    EXPECT(notify_can(n, "fax", "123", &f) == ERR_UNSUPPORTED);
    EXPECT(notify_can(n, "program", "", &f) == ERR_UNSUPPORTED);
    EXPECT(notify_can(n, "webhook", "ftp://x/", &f) == ERR_SYNTAX);
    EXPECT(notify_can(n, "webhook", "https://x/", &f) == OK);
    EXPECT(notify_can(n, "pigeon", "x", &f) == ERR_NAME);
}

TEST_MAIN()
