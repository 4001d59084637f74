/* The examples of the language: what must be accepted, and what must be refused and why. */
#include "tests/grammar/world.h"

static const char *const valid[] = {
        "Create Sentinel v1 Using http://news.example.org Monitor all links AND all images "
        "Fetch every 6 hours From 12/05/26 To 03/31/27 Notify By email ann@example.org Every 2 "
        "days Compare pairwise",
        "create sentinel v2 using http://uni.example.org/timetable.html monitor keywords "
        "{db101} fetch on change from now to 12/31/2026 notify by email bo@example.org every "
        "best effort changehistory 5 presentation dual frame",
        "Create Sentinel v3 Using s1 Monitor Anychange AND (NOT) images Presentation only "
        "change",
        "CREATE SENTINEL v4 USING https://x.org MONITOR links FROM start(s1) TO end(s1)",
        "CREATE SENTINEL v5 USING https://x.org MONITOR links FROM end(s1) + 1 day TO end(s1) "
        "+ 1 week 2 days",
        "CREATE SENTINEL v6 USING https://x.org MONITOR links FROM start(s1) - 2 hours TO "
        "never",
        "CREATE SENTINEL v7 USING https://x.org MONITOR all words EXCEPT {a, an, 'the'} "
        "COMPARE every:4 FETCH on-change",
        "CREATE SENTINEL v8 USING https://x.org MONITOR (phrase 'tickets for the final go on "
        "sale' OR keywords all {final, 'sold out'}) AND NOT images COMPARE moving:3",
        "CREATE SENTINEL v9 USING https://x.org MONITOR regexp 'Rev ([0-9.]+)' ON source FETCH "
        "EVERY PT6H",
        "CREATE SENTINEL v10 USING https://x.org MONITOR table containing 'IBM' changed > 50%",
        "CREATE SENTINEL v11 USING https://a.org AS a, https://b.org AS b MONITOR a.links AND "
        "b.images WITHIN 1 hour",
        "CREATE SENTINEL v12 USING https://x.org/c.xml MONITOR element new item contains "
        "'lens' FROM 2026-12-01T08:00:00+01:00 TO 2026-12-31",
        "CREATE OR REPLACE SENTINEL s1 USING https://x.org MONITOR structure OR attributes FOR "
        "7 hours PRIORITY 3",
        "CREATE Sentinel film_week AS Sentinel Name 'film of the week' Sentinel Type regular "
        "expression Sentinel Target http://films.example.org Sentinel Object 'Film of the "
        "week.*?details' Trigger Condition 1 day Notification Condition 2 days Notification "
        "Method email (cy@example.org) Start Condition March 3, 2027 Stop Condition March 2, "
        "2028",
        "CREATE Sentinel c2 AS Sentinel Type any change Sentinel Target www.example.org "
        "Trigger Condition 2 hours Notification Condition 1 day Stop Condition "
        "7-1-2027-0-0-EST",
        "CREATE Sentinel c3 AS Sentinel Type keyword Sentinel Target 'http://x.org' Sentinel "
        "Object 'flu vaccine' Notification Method a@b.org, personalized web-bulletin Stop "
        "Condition 12/31/2027 18:30 PST",
        "subscription Team monitoring select <Touched at=URL/> where URL extends "
        "'http://lab.example.org/t/' and modified self monitoring select P from self//Person P "
        "where URL = 'http://lab.example.org/t/staff.xml' and new P continuous Citing select "
        "c/url from pages c try biweekly refresh 'http://lab.example.org/t/staff.xml' weekly "
        "report select * from notifications when notifications.count > 40",
        "subscription Lib continuous delta Borrowed select b/title from city/library l, l/book "
        "b where l/town contains \"Delft\" when daily report when immediate",
        "subscription Px monitoring select <Price/> where URL='http://shop.example.org/p.xml' "
        "and updated price continuous Rivals select r when Px.Price report when count(Price) "
        ">= 10 or weekly or each monday atmost weekly atmost 500 archive monthly",
        "subscription Mine virtual Team.Person report when daily or each January1st atmost 500",
};

static const struct {
    const char *text, *code;
} invalid[] = {
        {"Create Sentinel b1 Monitor links", "E010"},
        {"CREATE SENTINEL b2 USING https://x.org", "E014"},
        {"CREATE SENTINEL b3 USING https://x.org MONITOR links MONITOR images", "E012"},
        {"CREATE SENTINEL b4 USING https://x.org MONITOR colours", "E054"},
        {"CREATE SENTINEL b5 USING nosuch MONITOR links", "E040"},
        {"CREATE SENTINEL b6 USING https://x.org MONITOR links FROM end(old)", "E041"},
        {"CREATE OR REPLACE SENTINEL base9 USING https://x.org MONITOR links FROM end(rel)",
                "E048"},
        {"CREATE SENTINEL b8 USING https://x.org MONITOR links FROM 12/31/26 TO 12/01/26",
                "E035"},
        {"CREATE SENTINEL b9 USING https://x.org MONITOR links FROM 13/02/2027", "E031"},
        {"CREATE SENTINEL b10 USING https://x.org MONITOR links FROM 06/02/03 TO 07/02/03",
                "E033"},
        {"CREATE SENTINEL b11 USING https://x.org MONITOR links COMPARE every:1", "E056"},
        {"CREATE SENTINEL b12 USING https://x.org MONITOR links FETCH EVERY 1 month", "E023"},
        {"CREATE SENTINEL b13 USING https://x.org MONITOR links FETCH EVERY 10 seconds",
                "E024"},
        {"CREATE SENTINEL b14 USING https://x.org MONITOR regexp 'Rev ([0-9.]+'", "E053"},
        {"CREATE SENTINEL b15 USING https://x.org MONITOR links AND", "E054"},
        {"CREATE SENTINEL s1 USING https://x.org MONITOR links", "E044"},
        {"CREATE SENTINEL b17 USING https://a.org, https://b.org MONITOR links", "E046"},
        {"CREATE Sentinel b18 AS Sentinel Type phrase Sentinel Target http://x.org Sentinel "
         "Object 'too short' Stop Condition 12/31/2027",
                "E058"},
        {"subscription B19 monitoring select <P/> where new self report when daily", "E016"},
        {"subscription B20 monitoring select <P/> where URL='http://x.org/a' or new self",
                "E015"},
        {"CREATE SENTINEL b21 USING https://x.org MONITOR keywords {'x}", "E002"},
        {"CREATE SENTINEL b22 USING https://x.org MONITOR links NOTIFY BY pigeon post", "E060"},
        {"CREATE SENTINEL b23 USING https://x.org MONITOR links FROM end(rel) - 1 day", "E043"},
        {"CREATE SENTINEL b24 USING https://x.org MONITOR links FROM start(act)", "E042"},
        {"CREATE Sentinel b25 AS Sentinel Type any change Sentinel Target http://x.org Trigger "
         "Condition 2 hours Notification Condition 3 hours Stop Condition 12/31/2027",
                "E025"},
};

TEST(valid, "every valid example is accepted")
{
    for (size_t i = 0; i < countof(valid); i++) {
        SCRATCH struct arena *life = arena_new(NULL, "test");
        struct grammar_script *s = run(life, valid[i]);
        EXPECT_INT(s->n_statements, 1);
        if (s->n_errors)
            test_fail(__FILE__, __LINE__, "%s\n#   %s", valid[i], codes(life, valid[i]));
    }
    EXPECT_INT(countof(valid), 20);
}

TEST(invalid, "every invalid example is refused for its one reason")
{
    for (size_t i = 0; i < countof(invalid); i++) {
        SCRATCH struct arena *life = arena_new(NULL, "test");
        struct grammar_script *s = run(life, invalid[i].text);
        if (s->n_errors != 1 ||
                strcmp(grammar_code_name(s->diagnostics->code), invalid[i].code) != 0)
            test_fail(__FILE__, __LINE__, "%s\n#   gave %s, expected %s", invalid[i].text,
                    codes(life, invalid[i].text), invalid[i].code);
    }
    EXPECT_INT(countof(invalid), 25);
}

TEST(round_trip, "every valid example means the same after it was printed")
{
    for (size_t i = 0; i < countof(valid); i++) {
        SCRATCH struct arena *life = arena_new(NULL, "test");
        const char *once = canonical(life, valid[i]);
        EXPECT_TEXT(canonical(life, once), once);
    }
}

TEST(together, "all valid examples make one file, each statement separate")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const char *text = "";
    for (size_t i = 0; i < countof(valid); i++)
        text = arena_printf(life, "%s%s;\n", text, valid[i]);
    struct grammar_script *s = run(life, text);
    EXPECT_INT(s->n_statements, 20);
    EXPECT_TEXT(codes(life, text), "");
}

TEST(all_at_once, "all invalid examples in one file are told in one run")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const char *text = "";
    for (size_t i = 0; i < countof(invalid); i++)
        text = arena_printf(life, "%s%s;\n", text, invalid[i].text);
    struct grammar_script *s = run(life, text);
    EXPECT_INT(s->n_errors, 25);
    size_t i = 0;
    for (const struct grammar_diagnostic *d = s->diagnostics; d; d = d->next, i++) {
        EXPECT_INT(d->pos.line, i + 1);
        EXPECT_TEXT(grammar_code_name(d->code), invalid[i].code);
    }
}

TEST_MAIN()
