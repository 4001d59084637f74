/* When to try again, when to give up, and what an answer means. */
#include "notify/notify_int.h"
#include "tests/test.h"

TEST(grows, "waits grow from a minute to six hours, with full jitter")
{
    for (unsigned n = 0; n < 40; n++) {
        msec most = n < 9 ? MSEC_PER_MINUTE << n : 6 * MSEC_PER_HOUR;
        if (most > 6 * MSEC_PER_HOUR)
            most = 6 * MSEC_PER_HOUR;
        msec low = most, high = 0;
        uint64_t random = 88172645463325252u;
        for (int i = 0; i < 2000; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            msec wait = notify_backoff(n, 0, random);
            EXPECT(wait > 0 && wait <= most);
            low = wait < low ? wait : low;
            high = wait > high ? wait : high;
        }
        EXPECT(low < most / 100 && high > most - most / 100); /* all of it is used */
    }
    EXPECT_INT(notify_backoff(3, 5000, 99), 5000);
    EXPECT_INT(notify_backoff(0, MSEC_PER_DAY, 0), MSEC_PER_DAY);
}

TEST(hopeless, "three days since it was due, or since the receiver began to fail")
{
    const msec due = 1000, day = MSEC_PER_DAY;
    EXPECT(!notify_is_hopeless(due, MSEC_NEVER, due + 9 * day)); /* it was never tried */
    EXPECT(!notify_is_hopeless(due, due, due + 3 * day - 1));
    EXPECT(notify_is_hopeless(due, due, due + 3 * day));
    EXPECT(!notify_is_hopeless(due, due + day, due + 3 * day)); /* we were down ourselves */
    EXPECT(notify_is_hopeless(due, due + day, due + 4 * day));
    EXPECT(!notify_is_hopeless(due, due - 2 * day, due + 2 * day)); /* waited behind others */
}

TEST(quiet, "quiet hours are written as two times of day")
{
    int from, to;
    EXPECT(notify_quiet_parse("22:00-07:30", &from, &to) && from == 1320 && to == 450);
    EXPECT(notify_quiet_parse("", &from, &to) && from == to);
    EXPECT(notify_quiet_parse("00:00-24:00", &from, &to) && to == 1440);
    static const char *const wrong[] = {"22-07", "22:00", "25:00-07:00", "22:00-07:60",
            "22:00-07:00 ", "night", "22:00-24:01"};
    for (size_t i = 0; i < countof(wrong); i++)
        EXPECT(!notify_quiet_parse(wrong[i], &from, &to));
}

TEST(posts, "client errors are for good, except those that say not now; the rest may pass")
{
    for (int status = 100; status < 600; status++) {
        struct notify_answer a = {.accepted = status >= 200 && status < 300,
                .status = status,
                .reason = "x",
                .retry_after = 7};
        struct notify_result r = verdict_of_post(&a);
        bool not_now = status == 408 || status == 409 || status == 425 || status == 429;
        enum notify_outcome expected = status >= 200 && status < 300 ? NOTIFY_ACCEPTED
                                       : status >= 400 && status < 500 && !not_now
                                               ? NOTIFY_NEVER
                                               : NOTIFY_LATER;
        if (r.outcome != expected)
            test_fail(__FILE__, __LINE__, "status %d", status);
        EXPECT(r.retry_after == (expected == NOTIFY_LATER ? 7 : 0));
    }
    struct notify_answer nothing = {.reason = "timed out"};
    EXPECT(verdict_of_post(&nothing).outcome == NOTIFY_LATER);
}

TEST(mails, "a mail is given up only when its server refused it for good")
{
    struct notify_answer a = {.status = 550, .permanent = true, .reason = "no such user"};
    EXPECT(verdict_of_mail(&a).outcome == NOTIFY_NEVER);
    a = (struct notify_answer){.status = 535, .reason = "login"};
    EXPECT(verdict_of_mail(&a).outcome == NOTIFY_LATER);
    a = (struct notify_answer){.status = 451, .reason = "later"};
    EXPECT(verdict_of_mail(&a).outcome == NOTIFY_LATER);
    a = (struct notify_answer){.accepted = true, .status = 250};
    EXPECT(verdict_of_mail(&a).outcome == NOTIFY_ACCEPTED);
}

TEST(sorts, "the important first, then the newest")
{
    struct notify_item it[] = {{.id = 1, .priority = 1, .at = 5},
            {.id = 2, .priority = 9, .at = 1}, {.id = 3, .priority = 1, .at = 7},
            {.id = 4, .priority = 9, .at = 1}};
    notify_sort(it, 4);
    EXPECT(it[0].id == 4 && it[1].id == 2 && it[2].id == 3 && it[3].id == 1);
}

TEST(topics, "what has the same topic stands together, behind the most important of it")
{
    struct notify_item it[] = {{.id = 1, .priority = 1, .topic = "a"},
            {.id = 2, .priority = 9, .topic = "b"}, {.id = 3, .priority = 5},
            {.id = 4, .priority = 3, .topic = "a"}, {.id = 5, .priority = 2, .topic = "b"},
            {.id = 6, .priority = 4, .topic = ""}};
    static const int64_t expected[] = {2, 5, 3, 6, 4, 1};
    notify_sort(it, countof(it));
    for (size_t i = 0; i < countof(it); i++)
        EXPECT_INT(it[i].id, expected[i]);
}

static void expect_title(
        const struct notify_item *items, size_t n, size_t left_out, const char *expected)
{
    struct notify_message m = {.items = (struct notify_item *)items, .nitems = n};
    BUF(title, 1 << 16);
    m.left_out = left_out;
    report_title(&m, &title);
    EXPECT_TEXT(buf_text(&title), expected);
}

TEST(titles, "a title says what it is about: one thing, several of one sentinel, several")
{
    struct notify_item it[] = {{.sentinel = "news", .topic = "x", .inserted = 2, .ratio = -1},
            {.sentinel = "news", .topic = "x", .ratio = -1},
            {.sentinel = "prices", .topic = "x", .ratio = -1},
            {.sentinel = "a-rather-long-name-of-a-sentinel-that-fills-a-line", .ratio = -1},
            {.sentinel = "jobs", .ratio = -1},
            {.sentinel = "jobs", .kind = NOTIFY_ENDED, .summary = "to-reached", .ratio = -1}};
    expect_title(it, 1, 0, "[x] news: 2 inserted");
    expect_title(it, 2, 0, "[x] news: 2 changes");
    expect_title(it, 2, 40, "[x] news: 42 changes");
    expect_title(it, 3, 0, "[x] 3 changes: news, prices");
    expect_title(it, 5, 0, "5 changes: news, prices and 2 more");
    expect_title(it, 6, 0, "6 changes and notices: news, prices and 2 more");
    expect_title(it + 5, 1, 0, "jobs: has ended (to-reached)");
}

TEST(chats, "a chat service is known by its address or by the setting, and by nothing else")
{
    const char *own = "ntfy.example.org=ntfy, chat.example.org = matrix";
    static const struct {
        const char *url, *name;
    } rows[] = {{"https://hooks.slack.com/services/x", "slack"},
            {"https://discord.com/api/webhooks/1/y", "discord"},
            {"https://discord.com/other", NULL},
            {"https://acme.webhook.office.com/webhookb2/z", "teams"},
            {"https://api.telegram.org/bot1:x/sendMessage?chat_id=5", "telegram"},
            {"https://m.org/_matrix/client/v3/rooms/r/send/m.room.message", "matrix"},
            {"https://ntfy.sh/topic", "ntfy"}, {"https://a.ntfy.example.org/t", "ntfy"},
            {"https://chat.example.org/x", "matrix"},
            {"https://g.org/message?token=t", "gotify"},
            {"https://evilhooks.slack.com.example.org/", NULL},
            {"https://nothooks.slack.com/", NULL}, {"https://example.org/?u=ntfy.sh", NULL}};
    for (size_t i = 0; i < countof(rows); i++) {
        const struct chat *c = chat_find(own, rows[i].url);
        if (rows[i].name ? !c || strcmp(c->name, rows[i].name) != 0 : c != NULL)
            test_fail(__FILE__, __LINE__, "%s is %s", rows[i].url, c ? c->name : "none");
    }
}

TEST_MAIN()
