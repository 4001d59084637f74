/* Each way of saying a thing, and the one way it is said back. */
#include "tests/grammar/world.h"

#define C "CREATE SENTINEL t USING http://x.org "

/* Only the MONITOR clause is compared. */
static const struct {
    const char *written, *printed;
} changes[] = {
        {"any change", "any change"},
        {"ANYCHANGE", "any change"},
        {"Any-Change RAW", "any change raw"},
        {"links", "links"},
        {"ALL Links", "links"},
        {"all images", "images"},
        {"images", "images"},
        {"allwords", "all words"},
        {"all-words counted", "all words counted"},
        {"all words EXCEPT a, an, 'the'", "all words except {a, an, the}"},
        {"all words counted except (a)", "all words counted except {a}"},
        {"keyword flu", "keywords {flu}"},
        {"keywords any {flu, 'sold out'}", "keywords {flu, 'sold out'}"},
        {"keywords all counted (a, 12)", "keywords all counted {a, 12}"},
        {"keywords counted {x}", "keywords counted {x}"},
        {"keywords {all, any, counted}", "keywords {all, any, counted}"},
        {"keywords all", "keywords {all}"},
        {"keywords all, any", "keywords {all, any}"},
        {"keywords {and, from, *art*, 3com, node.js}",
                "keywords {and, from, *art*, 3com, node.js}"},
        {"keywords {“quoted so”, \"it's\", 'it''s'}",
                "keywords {'quoted so', 'it''s', 'it''s'}"},
        {"phrase 'one two three four five'", "phrase {'one two three four five'}"},
        {"phrases {'a b c d e', 'f g h i j'} BOX 4 OCCURRENCE 2",
                "phrase {'a b c d e', 'f g h i j'} box 4 occurrence 2"},
        {"phrase containing 'x'", "phrase containing 'x'"},
        {"phrase 'a b c d e' box 10 occurrence 1", "phrase {'a b c d e'}"},
        {"table", "table"},
        {"TABLE 1", "table"},
        {"table 3", "table 3"},
        {"table containing 'IBM'", "table containing 'IBM'"},
        {"list 2", "list 2"},
        {"list containing \"CS4400\"", "list containing 'CS4400'"},
        {"regular expression 'a+' ON SOURCE", "regexp 'a+'"},
        {"regex 'a+' on text", "regexp 'a+' on text"},
        {"structure OR tags OR attributes OR content",
                "structure OR tags OR attributes OR content"},
        {"element item", "element item"},
        {"element NEW item CONTAINS 'lens'", "element new item contains 'lens'"},
        {"element updated item strict contains 'x'",
                "element updated item strict contains 'x'"},
        {"element deleted dc:title", "element deleted dc:title"},
        {"element unchanged 'new'", "element unchanged 'new'"},
        {"element new", "element 'new'"},
        {"element new contains 'x'", "element 'new' contains 'x'"},
        {"links IN xpath '//main' CHANGED > 50%", "links in xpath '//main' changed > 50%"},
        {"links in css 'div.a > p' changed >= 12.5 percent",
                "links in css 'div.a > p' changed >= 12.5%"},
        {"links changed > 0.0001%", "links changed > 0.0001%"},
        {"links AND images OR tags", "links AND images OR tags"},
        {"links AND (images OR tags)", "links AND (images OR tags)"},
        {"(links AND images) OR tags", "links AND images OR tags"},
        {"links AND (images AND tags) AND content", "links AND images AND tags AND content"},
        {"((links))", "links"},
        {"NOT links AND images", "NOT links AND images"},
        {"NOT (links AND images)", "NOT (links AND images)"},
        {"Anychange AND (NOT) images", "any change AND NOT images"},
        {"(NOT) (NOT) images", "NOT NOT images"},
        {"a.links AND B.images", "a.links AND B.images"},
        {"links -- a comment\n AND % another\n images", "links AND images"},
};

TEST(change, "every spelling of a change type has one canonical form")
{
    for (size_t i = 0; i < countof(changes); i++) {
        SCRATCH struct arena *life = arena_new(NULL, "test");
        const char *got =
                canonical(life, arena_printf(life, C "MONITOR %s", changes[i].written));
        const char *expected = arena_printf(life, C "MONITOR %s", changes[i].printed);
        if (strcmp(got, expected) != 0)
            test_fail(__FILE__, __LINE__, "%s\n#   gave %s", changes[i].written, got);
    }
}

/* Clauses after MONITOR links. */
static const struct {
    const char *written, *printed;
} clauses[] = {
        {"FETCH ON CHANGE", "FETCH on change"},
        {"fetch onchange", "FETCH on change"},
        {"fetch on-change", "FETCH on change"},
        {"fetch best effort", "FETCH on change"},
        {"fetch 6 hours", "FETCH every 6 hours"},
        {"fetch every PT6H", "FETCH every 6 hours"},
        {"fetch every pt1h30m", "FETCH every 1 hour 30 minutes"},
        {"fetch P1W", "FETCH every 1 week"},
        {"fetch every 1w 2d 3h 4min 5s",
                "FETCH every 1 week 2 days 3 hours 4 minutes 5 seconds"},
        {"fetch every 90 sec", "FETCH every 1 minute 30 seconds"},
        {"fetch every 36 h", "FETCH every 1 day 12 hours"},
        {"fetch every 7 days", "FETCH every 1 week"},
        {"FROM now", "FROM now"},
        {"FROM now + 2 days", "FROM now + 2 days"},
        {"FROM now+2d", "FROM now + 2 days"},
        {"FROM 12/05/26", "FROM 2026-12-05"},
        {"FROM 1/2/70", "FROM 1970-01-02"},
        {"FROM 1/2/69", "FROM 2069-01-02"},
        {"FROM 12/05/2026 18:30", "FROM 2026-12-05T18:30"},
        {"FROM 12/05/2026 18:30:15 UTC", "FROM 2026-12-05T18:30:15Z"},
        {"FROM 12/05/2026 8:05 PST", "FROM 12/05/2026 08:05 PST"},
        {"FROM 12/05/2026 est", "FROM 12/05/2026 EST"},
        {"FROM 12/05/2026 18:30 Europe/Berlin", "FROM 12/05/2026 18:30 Europe/Berlin"},
        {"FROM March 3, 2027", "FROM 2027-03-03"},
        {"FROM Mar 3, 2027 10:00 GMT", "FROM 2027-03-03T10:00Z"},
        {"FROM 7-1-2027-0-0-EST", "FROM 07/01/2027 00:00 EST"},
        {"FROM 2026-12-01T08:00:00+01:00", "FROM 2026-12-01T08:00+01:00"},
        {"FROM 2026-12-01T08:00:00+0100", "FROM 2026-12-01T08:00+01:00"},
        {"FROM 2026-12-01t08:00:00.250z", "FROM 2026-12-01T08:00:00.250Z"},
        {"FROM 2026-12-01T08:00+00:00", "FROM 2026-12-01T08:00Z"},
        {"FROM start( s1 )", "FROM start(s1)"},
        {"FROM END(s1) + 1 week 2 days", "FROM end(s1) + 1 week 2 days"},
        {"FROM start(s1)-2 hours", "FROM start(s1) - 2 hours"},
        {"TO NEVER", "TO never"},
        {"TO 2027-12-31", "TO 2027-12-31"},
        {"FOR 7 hours", "FOR 7 hours"},
        {"NOTIFY BY a@b.org", "NOTIFY BY email a@b.org"},
        {"notify by e-mail a@b.org", "NOTIFY BY email a@b.org"},
        {"notify by email (a@b.org), dashboard", "NOTIFY BY email a@b.org, dashboard"},
        {"notify by email 'a@b.org' immediate", "NOTIFY BY email a@b.org"},
        {"notify by webhook https://h.org/x every 2 days",
                "NOTIFY BY webhook https://h.org/x EVERY 2 days"},
        {"notify by fax '+49 (30) 12', phone '555-1234'",
                "NOTIFY BY fax '+49 (30) 12', phone '555-1234'"},
        {"notify by phone '555-1234' every best effort",
                "NOTIFY BY phone '555-1234' EVERY best effort"},
        {"notify by interactive, personalized web-bulletin",
                "NOTIFY BY interactive, personalized web-bulletin"},
        {"COMPARE pairwise", "COMPARE pairwise"},
        {"compare pair-wise", "COMPARE pairwise"},
        {"compare moving 3", "COMPARE moving:3"},
        {"compare EVERY:4", "COMPARE every:4"},
        {"changehistory 5", "CHANGEHISTORY 5"},
        {"presentation dual frame", "PRESENTATION dual frame"},
        {"presentation only change", "PRESENTATION only change"},
        {"presentation merged", "PRESENTATION merged"},
        {"within 1 hour", "WITHIN 1 hour"},
        {"priority 3", "PRIORITY 3"},
        {"topic \"stocks\"", "TOPIC 'stocks'"},
        {"with (method = post, body = 'a=1')", "WITH (method = 'POST', body = 'a=1')"},
        {"with (header 'Accept:  text/html ', HEADER 'X-A: b', follow = 5, timeout = 20 "
         "seconds)",
                "WITH (header 'Accept: text/html', header 'X-A: b', timeout = 20 seconds, "
                "follow = 5)"},
        {"with (user_agent = 'me', header 'Authorization: Bearer ${SECRET token}')",
                "WITH (user_agent = 'me', header 'Authorization: Bearer ${SECRET token}')"},
        {"PRIORITY 2 TO never FETCH on change", "FETCH on change TO never PRIORITY 2"},
};

TEST(clause, "every clause has one canonical form, and one order")
{
    for (size_t i = 0; i < countof(clauses); i++) {
        SCRATCH struct arena *life = arena_new(NULL, "test");
        const char *got =
                canonical(life, arena_printf(life, C "MONITOR links %s", clauses[i].written));
        const char *expected = arena_printf(life, C "MONITOR links %s", clauses[i].printed);
        if (strcmp(got, expected) != 0)
            test_fail(__FILE__, __LINE__, "%s\n#   gave %s", clauses[i].written, got);
    }
}

TEST(pages, "pages are URLs, bare or quoted, or earlier sentinels")
{
    EXPECT_CANONICAL("create sentinel t using www.x.org/p?q=1#f monitor links",
            "CREATE SENTINEL t USING http://www.x.org/p?q=1#f MONITOR links");
    EXPECT_CANONICAL("create sentinel t using 'https://x.org/a,b' monitor links",
            "CREATE SENTINEL t USING 'https://x.org/a,b' MONITOR links");
    EXPECT_CANONICAL("create sentinel t using http://x.org/a--b%20c monitor links",
            "CREATE SENTINEL t USING http://x.org/a--b%20c MONITOR links");
    EXPECT_CANONICAL("create sentinel t using “http://x.org” as a, s1 as b monitor a.links",
            "CREATE SENTINEL t USING http://x.org AS a, s1 AS b MONITOR a.links");
    EXPECT_CANONICAL("create sentinel t using http://[::1]:8080/ monitor links",
            "CREATE SENTINEL t USING http://[::1]:8080/ MONITOR links");
    EXPECT_CANONICAL("create sentinel t using S-1", "CREATE SENTINEL t USING S-1");
}

TEST(manage, "the short statements")
{
    EXPECT_CANONICAL(
            "enable sentinel s1; disable sentinel s1;;stop sentinel s1; show sentinel S1;"
            "drop sentinel s1; drop sentinel s1 cascade;",
            "ENABLE SENTINEL s1; DISABLE SENTINEL s1; STOP SENTINEL s1; SHOW SENTINEL S1; DROP "
            "SENTINEL s1; DROP SENTINEL s1 CASCADE");
    EXPECT_CANONICAL("alter sentinel s1 to never fetch every 2 h",
            "ALTER SENTINEL s1 FETCH every 2 hours TO never");
    EXPECT_CANONICAL("create or replace sentinel links using http://x.org monitor links",
            "CREATE OR REPLACE SENTINEL links USING http://x.org MONITOR links");
    EXPECT_CANONICAL(" -- nothing\n % at all\n ;;", "");
    EXPECT_CANONICAL("", "");
}

TEST(webcq, "the WebCQ form is translated")
{
    EXPECT_CANONICAL(
            "CREATE Sentinel film_week AS Sentinel Name 'film of the week' Sentinel Type "
            "regular "
            "expression Sentinel Target http://films.example.org Sentinel Object "
            "'Film.*?details' "
            "Trigger Condition 1 day Notification Condition 2 days Notification Method email "
            "(cy@example.org) Start Condition March 3, 2027 Stop Condition March 2, 2028",
            "CREATE SENTINEL film_week USING http://films.example.org MONITOR regexp "
            "'Film.*?details' FETCH every 1 day FROM 2027-03-03 TO 2028-03-02 NOTIFY BY email "
            "cy@example.org EVERY 2 days TOPIC 'film of the week'");
    EXPECT_CANONICAL(
            "CREATE Sentinel c AS Sentinel Type any change Sentinel Target www.x.org Trigger "
            "Condition 2 hours",
            "CREATE SENTINEL c USING http://www.x.org MONITOR any change FETCH every 2 hours "
            "NOTIFY "
            "BY dashboard EVERY 2 hours");
    EXPECT_CANONICAL("CREATE Sentinel c AS Sentinel Type keywords Sentinel Target http://x.org "
                     "Sentinel Object 'flu, sold out'",
            "CREATE SENTINEL c USING http://x.org MONITOR keywords all {flu, 'sold out'}");
    EXPECT_CANONICAL(
            "CREATE Sentinel c AS Sentinel Object 'IBM' Sentinel Target http://x.org "
            "Sentinel Type table Notification Method a@b.org, personalized web-bulletin",
            "CREATE SENTINEL c USING http://x.org MONITOR table containing 'IBM' NOTIFY BY "
            "email "
            "a@b.org, personalized web-bulletin");
    EXPECT_CANONICAL("CREATE Sentinel c AS Sentinel Type list Sentinel Target http://x.org",
            "CREATE SENTINEL c USING http://x.org MONITOR list");
    EXPECT_CANONICAL(
            "CREATE Sentinel c AS Sentinel Type all words Sentinel Target 'http://x.org'",
            "CREATE SENTINEL c USING http://x.org MONITOR all words");
    EXPECT_CANONICAL(
            "CREATE Sentinel c AS Sentinel Type phrase Sentinel Target http://x.org Sentinel "
            "Object 'one two three four five'",
            "CREATE SENTINEL c USING http://x.org MONITOR phrase {'one two three four five'}");
}

TEST(subscription, "the Xyleme form comes back in one order")
{
    EXPECT_CANONICAL(
            "subscription Team report select * -- all\n from notifications when "
            "notifications.count > 40 monitoring select <Touched at=URL note='x'/> where URL "
            "extends "
            "'http://l.org/' and modified self refresh http://l.org/s.xml weekly virtual A.b "
            "monitoring select P from self//Person P, self/b Q where URL='http://l.org/s' and "
            "new P "
            "and deleted Q and DTD = 'x' and LastUpdate >= 12/05/26 and self contains 'w' and "
            "name "
            "strict contains 'v' continuous delta C select c/url from pages c where c = 'when' "
            "try "
            "biweekly",
            "SUBSCRIPTION Team MONITORING SELECT <Touched at=URL note='x'/> WHERE URL extends "
            "'http://l.org/' AND updated self MONITORING SELECT P FROM self//Person P, self/b "
            "Q WHERE "
            "URL = 'http://l.org/s' AND new P AND deleted Q AND DTD = 'x' AND LastUpdate >= "
            "2026-12-05 AND self contains 'w' AND name strict contains 'v' CONTINUOUS delta C "
            "select "
            "c/url from pages c where c = 'when' WHEN biweekly REFRESH http://l.org/s.xml "
            "weekly "
            "VIRTUAL A.b REPORT select * from notifications WHEN count > 40");
    EXPECT_CANONICAL(
            "subscription P report when count(Price) >= 10 or weekly or each MONDAY or each "
            "january1ST or Price or immediate atmost weekly atmost 500 archive monthly",
            "SUBSCRIPTION P REPORT WHEN count(Price) >= 10 OR weekly OR each monday OR each "
            "January1st "
            "OR Price OR immediate ATMOST 500 ATMOST weekly ARCHIVE monthly");
    EXPECT_CANONICAL(
            "subscription P monitoring select <E/> where docid = 7 and dtdid = 8 and domain = "
            "'d' and filename = 'f' and LastAccessed < 2026-01-01T00:00Z and price",
            "SUBSCRIPTION P MONITORING SELECT <E/> WHERE DOCID = 7 AND DTDID = 8 AND domain = "
            "'d' AND "
            "filename = 'f' AND LastAccessed < 2026-01-01T00:00Z AND price");
}

TEST(parts, "parts of a definition print alone, as the engine keeps them")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct grammar_change *c;
    struct fault f;
    BUF(out, 1000);
    REQUIRE(grammar_parse_change(life, "a.links changed > 5% AND b.tags", &f, &c) == OK);
    grammar_print_leaf(&out, c->kids[0]->leaf);
    EXPECT_TEXT(
            buf_text(&out), "links changed > 5%"); /* the page is not part of the question */
    buf_clear(&out);
    grammar_print_fetch(&out, 90 * MSEC_PER_MINUTE);
    EXPECT_TEXT(buf_text(&out), "every 1 hour 30 minutes");
    buf_clear(&out);
    grammar_print_compare(&out, (struct grammar_compare){GRAMMAR_MOVING, 3});
    EXPECT_TEXT(buf_text(&out), "moving:3");
    EXPECT(grammar_parse_change(life, "links AND colours", &f, &c) == ERR_SYNTAX);
    EXPECT_INT(f.column, 11);
    EXPECT_TEXT(f.message, "E054: unknown change type \"colours\"");
    EXPECT(grammar_parse_change(life, "links images", &f, &c) == ERR_SYNTAX);
}

TEST(secrets, "secrets are found in a header's value by their reference")
{
    size_t at_byte = 0;
    struct str whole, name;
    const char *value = "Basic ${SECRET user}:${SECRET  pass-1 }$";
    REQUIRE(grammar_secret_next(value, &at_byte, &whole, &name));
    EXPECT(str_equal(name, STR("user")) && whole.ptr == value + 6 && whole.len == 14);
    REQUIRE(grammar_secret_next(value, &at_byte, &whole, &name));
    EXPECT(str_equal(name, STR("pass-1")));
    EXPECT(!grammar_secret_next(value, &at_byte, &whole, &name));
}

TEST_MAIN()
