/* What is refused, exactly where.  A ¤ stands before the place each message must point at. */
#include "tests/grammar/world.h"

#define X "CREATE SENTINEL t USING http://x.org MONITOR links "
#define M "CREATE SENTINEL t USING http://x.org MONITOR "

#define CQ "CREATE SENTINEL t AS SENTINEL TYPE any change SENTINEL TARGET http://x.org "

static const struct {
    const char *text, *codes;
} wrong[] = {
        /* characters and strings */
        {X "¤@", "E001"},
        {X "¤é", "E001"},
        {X "FETCH ¤& TOPIC ¤3", "E001 E010"},
        {"¤# x", "E001"},
        {M "keywords {¤'x}", "E002"},
        {X "TOPIC ¤\"open", "E002"},
        {X "TOPIC ¤“open", "E002"},
        {X "TOPIC ¤'open\nFETCH every 1 ¤month", "E002 E023"},
        {"SUBSCRIPTION s CONTINUOUS q select ¤'x WHEN daily", "E002"},

        /* the shape of statements */
        {"¤MAKE SENTINEL x", "E010"},
        {"CREATE ¤x", "E010"},
        {"CREATE OR ¤SENTINEL x", "E010"},
        {"CREATE SENTINEL ¤9lives USING http://x.org", "E010"},
        {"CREATE SENTINEL ¤'quoted' USING http://x.org", "E010"},
        {"CREATE SENTINEL t ¤MONITOR links", "E010"},
        {"CREATE SENTINEL t¤", "E010"},
        {"CREATE SENTINEL t USING ¤MONITOR links", "E010"},
        {"CREATE SENTINEL t USING http://x.org AS ¤1 MONITOR links", "E010"},
        {"ENABLE ¤s1", "E010"},
        {"ENABLE SENTINEL¤", "E010"},
        {"ALTER SENTINEL s1¤", "E010"},
        {"ALTER SENTINEL s1 ¤USING http://x.org", "E010"},
        {X "NOTIFY ¤email a@b.org", "E010"},
        {X "FETCH ¤sometimes", "E010"},
        {X "FETCH on ¤tuesdays", "E010"},
        {X "FETCH best ¤of all", "E010"},
        {X "TOPIC ¤stocks", "E010"},
        {M "links in ¤'//p'", "E010"},
        {M "links changed ¤50%", "E010"},
        {M "links changed > ¤many", "E010"},
        {M "links changed > 50¤ % comment", "E010"},
        {M "(links¤", "E010"},
        {M "regexp ¤x", "E010"},
        {M "regexp 'x' on ¤page", "E010"},
        {M "element 'a' ¤new b", "E013"},
        {M "element ¤7", "E010"},
        {M "keywords {a ¤b", "E010"},
        {X "WITH ¤method = 'GET'", "E010"},
        {X "WITH (method ¤'GET')", "E010"},
        {X "WITH (follow = 2 ¤FETCH on change", "E010"},
        {X "¤FETHC on change", "E010"},
        {X "¤MONITER images", "E010"},
        {"CREATE ¤SENTINAL t USING http://x.org MONITOR links", "E010"},
        {"CREATE SENTINEL ¤monitor USING http://x.org MONITOR links", "E011"},
        {"CREATE SENTINEL ¤NOW USING http://x.org MONITOR links", "E011"},
        {"CREATE SENTINEL t USING http://x.org AS ¤self MONITOR links", "E011"},
        {X "FROM start(¤end)", "E011"},
        {X "¤MONITOR images", "E012"},
        {X "FETCH on change ¤FETCH on change", "E012"},
        {X "TO 2027-01-01 ¤FOR 2 days", "E012"},
        {X "FOR 2 days ¤TO never", "E012"},
        {X "WITH (follow = 1, ¤follow = 2)", "E012"},
        {"CREATE SENTINEL t AS SENTINEL TYPE any change SENTINEL TARGET http://x.org ¤SENTINEL "
         "TYPE "
         "any change",
                "E012"},
        {"SUBSCRIPTION s REPORT WHEN daily ¤REPORT WHEN weekly", "E012"},
        {"ENABLE SENTINEL s1 ¤s1", "E013"},
        {"DROP SENTINEL rel CASCADE ¤now", "E013"},
        {X "¤banana", "E013"},
        {X "¤, FETCH on change", "E013"},
        {X "\n¤ENABLE SENTINEL s1", "E013"},
        {"CREATE SENTINEL ¤t USING http://x.org", "E014"},
        {"CREATE SENTINEL ¤t USING s1 AS a, http://x.org AS b", "E014"},
        {"CREATE SENTINEL ¤t AS SENTINEL TARGET http://x.org", "E014"},
        {"CREATE SENTINEL ¤t AS SENTINEL TYPE any change", "E014"},
        {"CREATE SENTINEL t AS ¤SENTINEL TYPE phrase SENTINEL TARGET http://x.org", "E014"},
        {"SUBSCRIPTION s MONITORING SELECT <P/> WHERE URL = 'http://x.org' ¤OR new self",
                "E015"},
        {"SUBSCRIPTION s MONITORING SELECT <P/> WHERE ¤new self AND unchanged self", "E016"},
        {"CREATE SENTINEL ¤"
         "a123456789b123456789c123456789d123456789e123456789f123456789g123 USING http://x.org "
         "MONITOR links",
                "E017"},

        /* the WebCQ form */
        {CQ "SENTINEL ¤COLOUR red", "E010"},
        {CQ "TRIGGER ¤WARNING 1 day", "E010"},
        {CQ "NOTIFICATION ¤DAY 1 day", "E010"},
        {CQ "SENTINEL NAME ¤film", "E010"},
        {CQ "TRIGGER CONDITION ¤often", "E010"},
        {CQ "¤banana", "E013"},
        {CQ "¤TRIGER CONDITION 1 day", "E010"},
        {CQ "\n¤ENABLE SENTINEL s1", "E013"},
        {CQ "SENTINEL NAME ¤''", "E051"},
        {CQ "SENTINEL NAME ¤'two\nlines'", "E019"},
        {CQ "NOTIFICATION METHOD ¤pigeon", "E060"},
        {CQ "START CONDITION ¤02/30/2027 STOP CONDITION ¤whenever", "E031 E030"},
        {"CREATE SENTINEL t AS SENTINEL TYPE ¤colours SENTINEL TARGET http://x.org", "E054"},
        {"CREATE SENTINEL t AS SENTINEL TYPE ¤7 SENTINEL TARGET ¤http://", "E054 E045"},
        {"CREATE SENTINEL t AS SENTINEL TYPE keywords SENTINEL TARGET http://x.org SENTINEL "
         "OBJECT "
         "¤'a,,b'",
                "E051"},
        {"CREATE SENTINEL t AS SENTINEL TYPE table SENTINEL TARGET http://x.org SENTINEL "
         "OBJECT ¤' '",
                "E051"},
        {"CREATE SENTINEL t AS SENTINEL TYPE regular expression SENTINEL TARGET http://x.org "
         "SENTINEL "
         "OBJECT ¤'(a'",
                "E053"},

        /* subscriptions */
        {"SUBSCRIPTION¤ ", "E010"},
        {"SUBSCRIPTION s¤", "E010"},
        {"SUBSCRIPTION s ¤banana", "E013"},
        {"SUBSCRIPTION s ¤REPROT WHEN daily", "E010"},
        {"SUBSCRIPTION s MONITORING ¤<P/> WHERE URL = 'http://x.org'", "E010"},
        {"SUBSCRIPTION s MONITORING SELECT <P ¤> WHERE URL = 'http://x.org'", "E010"},
        {"SUBSCRIPTION s MONITORING SELECT <P a=¤7/> WHERE URL = 'http://x.org'", "E010"},
        {"SUBSCRIPTION s MONITORING SELECT ¤<P a=X/> WHERE URL = 'http://x.org'", "E010"},
        {"SUBSCRIPTION s MONITORING SELECT ¤X FROM self//b Y WHERE URL = 'http://x.org'",
                "E010"},
        {"SUBSCRIPTION s MONITORING SELECT Y FROM ¤page//b Y WHERE URL = 'http://x.org'",
                "E010"},
        {"SUBSCRIPTION s MONITORING SELECT Y FROM self//b Y, self/c ¤y WHERE URL = "
         "'http://x.org'",
                "E012"},
        {"SUBSCRIPTION s MONITORING SELECT <P/> WHERE URL = ¤http://x.org", "E010"},
        {"SUBSCRIPTION s MONITORING SELECT <P/> WHERE URL = ¤'nowhere'", "E045"},
        {"SUBSCRIPTION s MONITORING SELECT <P/> WHERE DOCID = ¤'x'", "E010"},
        {"SUBSCRIPTION s MONITORING SELECT <P/> WHERE LastUpdate > ¤soon", "E030"},
        {"SUBSCRIPTION s MONITORING SELECT <P/> WHERE LastUpdate > 01/01/2026 ¤XYZ", "E032"},
        {"SUBSCRIPTION s MONITORING SELECT <P/> WHERE¤", "E010"},
        {"SUBSCRIPTION s CONTINUOUS q ¤WHEN daily", "E010"},
        {"SUBSCRIPTION s CONTINUOUS q select x¤", "E010"},
        {"SUBSCRIPTION s CONTINUOUS q select x WHEN daily ¤CONTINUOUS q select y WHEN daily",
                "E044"},
        {"SUBSCRIPTION s VIRTUAL ¤7", "E010"},
        {"SUBSCRIPTION s VIRTUAL Team¤", "E010"},
        {"SUBSCRIPTION a REPORT WHEN daily; SUBSCRIPTION b ¤VIRTUAL a.q", "W002"},
        {"SUBSCRIPTION s REPORT WHEN¤", "E010"},
        {"SUBSCRIPTION s REPORT WHEN count ¤< 3", "E010"},
        {"SUBSCRIPTION s REPORT WHEN notifications.¤number > 3", "E010"},
        {"SUBSCRIPTION s REPORT WHEN daily ATMOST weekly ATMOST ¤weekly", "E012"},
        {"SUBSCRIPTION s REPORT WHEN daily ATMOST 5 ATMOST ¤6", "E012"},
        {"SUBSCRIPTION s REPORT WHEN daily ARCHIVE ¤ever", "E026"},

        /* requests */
        {X "WITH (¤colour = 'red')", "E018"},
        {X "WITH (method = ¤'DELETE')", "E018"},
        {X "WITH (¤)", "E018"},
        {X "WITH (header ¤'Accept: a\nEvil: b')", "E019"},
        {X "WITH (header ¤'Accept: a\rEvil: b')", "E019"},
        {X "WITH (header ¤'Accept: a\n')", "E019"},
        {X "WITH (user_agent = ¤'a\nb')", "E019"},
        {X "WITH (header ¤'no colon')", "E019"},
        {X "WITH (header ¤'bad name: x')", "E019"},
        {X "WITH (header ¤'X: ${SECRET}')", "E019"},
        {X "WITH (header ¤'X: ${secret token}')", "E019"},
        {X "WITH (header ¤'Host: other.org')", "E019"},
        {X "TOPIC ¤'two\nlines'", "E019"},

        /* durations and numbers */
        {X "FETCH every 5 ¤parsecs", "E020"},
        {X "FETCH every 5¤", "E020"},
        {X "FETCH every 5 ¤m", "E020"},
        {X "FETCH every ¤PT6X", "E020"},
        {X "FETCH every ¤0 hours", "E021"},
        {X "FETCH every ¤-5 hours", "E021"},
        {X "WITHIN ¤0 s", "E021"},
        {X "FETCH every ¤1.5 hours", "E022"},
        {X "FETCH every ¤PT1.5H", "E022"},
        {X "FETCH every 1 ¤month", "E023"},
        {X "FETCH every 2 ¤years", "E023"},
        {X "FETCH every ¤P1M", "E023"},
        {X "FETCH every ¤P1Y", "E023"},
        {X "FETCH every 1 day 2 ¤months", "E023"},
        {X "¤FETCH every 59 seconds", "E024"},
        {"ALTER SENTINEL s1 ¤FETCH every 1 s", "E024"},
        {"CREATE SENTINEL t AS SENTINEL TYPE any change SENTINEL TARGET http://x.org TRIGGER "
         "CONDITION "
         "2 hours NOTIFICATION CONDITION ¤5 hours",
                "E025"},
        {"CREATE SENTINEL t AS SENTINEL TYPE any change SENTINEL TARGET http://x.org ¤TRIGGER "
         "CONDITION "
         "5 s",
                "E024"},
        {"SUBSCRIPTION s REFRESH http://x.org ¤yearly", "E026"},
        {"SUBSCRIPTION s REPORT WHEN daily ATMOST ¤sometimes", "E026"},
        {"SUBSCRIPTION s CONTINUOUS q select x WHEN ¤often", "E026"},
        {"SUBSCRIPTION s REPORT WHEN each ¤fullmoon", "E027"},
        {"SUBSCRIPTION s REPORT WHEN each ¤February30th", "E027"},
        {X "CHANGEHISTORY ¤0", "E028"},
        {X "PRIORITY ¤99999999999999999999", "E028"},
        {M "phrase 'a b c d e' box ¤2", "E028"},
        {M "phrase 'a b c d e' box ¤31", "E028"},
        {M "table ¤0", "E028"},
        {X "WITH (timeout = ¤1 day)", "E028"},
        {X "WITH (follow = ¤21)", "E028"},
        {X "FOR ¤99999999999 weeks", "E028"},

        /* times */
        {X "FROM ¤tomorrow", "E030"},
        {X "FROM ¤'2027-01-01'", "E030"},
        {X "TO ¤20270101", "E030"},
        {X "FROM ¤02/30/2027", "E031"},
        {X "FROM ¤13/02/2027", "E031"},
        {X "FROM ¤2027-02-29", "E031"},
        {X "FROM ¤2027-01-01T25:00", "E031"},
        {X "FROM 01/01/2027 ¤24:00", "E031"},
        {X "FROM ¤2027-01-01T10:00+25:00", "E031"},
        {X "FROM ¤February 29, 2027", "E031"},
        {X "FROM ¤7-1-2027-0-60-EST", "E031"},
        {X "FROM ¤01/02/123", "E031"},
        {X "FROM 01/01/2027 ¤XYZ", "E032"},
        {X "FROM 01/01/2027 10:00 ¤Europe/Atlantis", "E032"},
        {X "FROM 7-1-2027-0-0-¤XST", "E032"},
        {X "FROM 01/01/2027 ¤Europe/Berlin/", "E032"},
        {X "FROM ¤2026-11-15", "E033"},
        {X "FROM ¤2026-11-16T11:58:59Z", "E033"},
        {X "FROM ¤now - 2 min", "E033"},
        {X "TO ¤2026-11-15", "E034"},
        {X "TO ¤2026-11-16T12:00Z", "E034"},
        {X "FROM 2026-12-02 TO ¤2026-12-01", "E035"},
        {X "FROM 2026-12-02T10:00 TO ¤2026-12-02T10:00", "E035"},
        {X "FROM now + 2 days TO ¤now + 1 day", "E035"},

        /* names */
        {"CREATE SENTINEL t USING ¤nosuch", "E040"},
        {"SHOW SENTINEL ¤nosuch", "E040"},
        {"ALTER SENTINEL ¤nosuch PRIORITY 2", "E040"},
        {X "FROM ¤end(nosuch)", "E040"},
        {X "TO ¤start(nosuch) + 1 day", "E040"},
        {"SUBSCRIPTION s REPORT WHEN ¤count(nosuch) > 3", "E040"},
        {"SUBSCRIPTION s ¤CONTINUOUS q select x WHEN s.nosuch", "E040"},
        {X "FROM ¤end(old)", "E041"},
        {X "FROM ¤start(old) + 1000 days", "E041"},
        {"CREATE SENTINEL t ¤USING old", "E041"},
        {"CREATE SENTINEL t ¤USING old FROM now", "E041"},
        {"ENABLE SENTINEL ¤old", "E041"},
        {"ALTER SENTINEL ¤old PRIORITY 2", "E041"},
        {X "FROM ¤start(act)", "E042"},
        {X "FROM ¤start(act) + 1 day", "E042"},
        {X "TO ¤start(act) - 1 day", "E042"},
        {"ALTER SENTINEL act ¤FROM now + 1 day", "E042"},
        {X "FROM ¤end(rel) - 1 day", "E043"},
        {X "FROM ¤start(rel) - 1 day TO never", "E043"},
        {X "FROM ¤start(s1) - 20 days", "E043"},
        {"CREATE SENTINEL ¤act USING http://x.org MONITOR links", "E044"},
        {"CREATE SENTINEL ¤ACT USING http://x.org MONITOR links", "E044"},
        {X "; CREATE SENTINEL ¤T USING http://x.org MONITOR tags", "E044"},
        {"SUBSCRIPTION s REPORT WHEN daily; SUBSCRIPTION ¤s REPORT WHEN daily", "E044"},
        {"CREATE SENTINEL t USING ¤htp://x.org MONITOR links", "E045"},
        {"CREATE SENTINEL t USING ¤ftp://x.org MONITOR links", "E045"},
        {"CREATE SENTINEL t USING ¤http:// MONITOR links", "E045"},
        {"CREATE SENTINEL t USING ¤http://x.org:99999 MONITOR links", "E045"},
        {"CREATE SENTINEL t USING ¤'localhost' MONITOR links", "E045"},
        {"CREATE SENTINEL t USING ¤'http://x.org/a b' MONITOR links", "E045"},
        {"CREATE SENTINEL t USING ¤http://x.org\\evil.org MONITOR links", "E045"},
        {X "NOTIFY BY webhook ¤nowhere", "E045"},
        {"CREATE SENTINEL t USING ¤http://a.org, http://b.org MONITOR links", "E046"},
        {"CREATE SENTINEL t USING http://a.org AS a, ¤http://b.org AS A MONITOR a.links",
                "E046"},
        {"CREATE SENTINEL t USING http://a.org AS a, http://b.org AS b MONITOR ¤links", "E046"},
        {"CREATE SENTINEL t USING http://a.org AS a, ¤rel AS r MONITOR a.links", "E046"},
        {M "¤z.links", "E047"},
        {"CREATE SENTINEL t USING http://x.org AS abc MONITOR ¤abd.links", "E047"},
        {"CREATE SENTINEL t USING s1 MONITOR ¤z.links", "E047"},
        {X "FROM ¤end(t)", "E048"},
        {"CREATE OR REPLACE SENTINEL base9 USING http://x.org MONITOR links TO ¤start(rel)",
                "E048"},
        {"ALTER SENTINEL base9 FROM ¤end(rel)", "E048"},
        {M "links IN CSS '//p[' OR tags IN XPATH ¤'//p['", "E063"},
        {"SUBSCRIPTION s ¤VIRTUAL s.q", "E048"},
        {"DROP SENTINEL ¤base9", "E049"},

        /* change types and clauses */
        {M "keywords {¤}", "E050"},
        {M "keywords {a, ¤,b}", "E050"},
        {M "keywords ¤FETCH on change", "E050"},
        {M "keywords {¤''}", "E051"},
        {M "keywords {a, ¤'  '}", "E051"},
        {M "table containing ¤''", "E051"},
        {X "TOPIC ¤''", "E051"},
        {M "links changed > ¤101%", "E052"},
        {M "links changed >= ¤100.0001 percent", "E052"},
        {M "regexp ¤'Rev ([0-9.]+'", "E053"},
        {M "links AND (tags OR regexp ¤'[' ON text)", "E053"},
        {M "¤colours", "E054"},
        {M "links AND¤", "E054"},
        {M "links OR ¤FETCH on change", "E054"},
        {M "NOT¤", "E054"},
        {M "¤all colours", "E054"},
        {X "COMPARE ¤sideways", "E055"},
        {X "COMPARE every:¤1", "E056"},
        {X "COMPARE moving ¤0", "E056"},
        {X "COMPARE every:¤x", "E056"},
        {X "PRESENTATION ¤upside down", "E057"},
        {M "phrase ¤'one two three four'", "E058"},
        {M "phrase ¤'a - b - c - d'", "E058"},
        {"CREATE SENTINEL t USING http://a.org AS a, http://b.org AS b MONITOR ¤NOT a.links "
         "AND NOT "
         "b.links",
                "E059"},
        {"CREATE SENTINEL t USING http://a.org AS a, http://b.org AS b MONITOR ¤NOT (a.links "
         "OR "
         "b.links)",
                "E059"},
        {X "NOTIFY BY ¤pigeon post", "E060"},
        {X "NOTIFY BY dashboard, ¤FETCH on change", "E060"},
        {X "NOTIFY BY ¤emial a@b.org", "E060"},
        {"CREATE SENTINEL t USING http://a.org AS a, http://b.org AS b MONITOR ¤(a.links OR "
         "b.tags) "
         "AND (a.tags OR b.links) AND (a.images OR b.images) AND (a.content OR b.content) AND "
         "(a.structure OR b.structure)",
                "E061"},
        {X "NOTIFY BY email ¤a@", "E062"},
        {X "NOTIFY BY ¤a@b@c.org", "E062"},
        {X "NOTIFY BY email ¤'a b@c.org'", "E062"},
        {X "NOTIFY BY phone ¤'call me'", "E062"},
        {X "NOTIFY BY email¤, dashboard", "E062"},
        {"CREATE SENTINEL t AS SENTINEL TYPE any change SENTINEL TARGET http://x.org SENTINEL "
         "OBJECT "
         "¤'x'",
                "W001"},
        {M "links IN CSS '//p[' OR tags IN XPATH ¤'//p['", "E063"},
        {"SUBSCRIPTION s ¤VIRTUAL Team.Person", "W002"},
};

TEST(places, "every mistake is told with its code, at its place, and only once")
{
    for (size_t i = 0; i < countof(wrong); i++) {
        EXPECT_MARKED(wrong[i].text, wrong[i].codes);
    }
}

TEST(complete, "every code there is has been provoked")
{
    for (int c = 0; c < GRAMMAR_CODE_COUNT; c++) {
        const char *name = grammar_code_name(c);
        /* Too long for the table: limits_test.  For others to use: diagnostic_test. */
        bool found = c == GRAMMAR_E003 || c == GRAMMAR_E090;
        for (size_t i = 0; i < countof(wrong); i++)
            found |= strstr(wrong[i].codes, name) != NULL;
        if (!found)
            test_fail(__FILE__, __LINE__, "%s is never provoked", name);
        EXPECT(strlen(grammar_code_summary(c)) > 5);
    }
}

TEST(lines, "places are right on later lines, behind tabs and characters of several bytes")
{
    EXPECT_CODES("-- é\nCREATE SENTINEL t\n\tUSING http://x.org\n\tMONITOR keywords {'日本'} "
                 "AND colours",
            "4:30 E054");
    EXPECT_CODES("\xef\xbb\xbf"
                 "MAKE x",
            "1:1 E010"); /* a byte order mark is no character */
    EXPECT_CODES("CREATE SENTINEL t USING http://x.org MONITOR links\r\nFETCH every 1 month",
            "2:15 E023");
}

TEST(several, "mistakes that do not follow from each other are told in one run")
{
    EXPECT_CODES(
            "CREATE SENTINEL t USING http://x.org MONITOR colours FETCH every 1 month FROM "
            "13/13/2027 NOTIFY BY pigeon COMPARE sideways PRESENTATION odd WITHIN 0 s;\n"
            "ENABLE SENTINEL nosuch;\n"
            "DROP x;\n"
            "SHOW SENTINEL s1;",
            "1:46 E054 1:68 E023 1:79 E031 1:100 E060 1:115 E055 1:137 E057 1:148 E021 2:17 "
            "E040 "
            "3:6 E010");
}

TEST(both_passes, "a clause that cannot be read does not hide what is wrong with the others")
{
    EXPECT_MARKED("CREATE SENTINEL ¤s1 USING ¤nosuch MONITOR regexp ¤'(a' FETCH every 1 ¤month",
            "E044 E040 E053 E023");
    EXPECT_MARKED(M "¤colours ¤FETCH every 5 s FROM ¤06/02/03 TO 12/31/2026", "E054 E024 E033");
    EXPECT_MARKED(X "FROM ¤13/13/2027 TO ¤01/01/2020", "E031 E034");
    EXPECT_MARKED(X "FROM 2027-01-01 TO ¤soon", "E030");
    EXPECT_MARKED(M "¤linkz OR (¤imagse AND ¤all tgas) FETCH on change", "E054 E054 E054");
    EXPECT_MARKED(M "¤some colours and more FETCH every 1 ¤year", "E054 E023");
    EXPECT_MARKED("CREATE SENTINEL t USING ¤http:// MONITOR regexp ¤'[' FROM ¤end(old)",
            "E045 E053 E041");
}

TEST(follow, "who refers to a wrong definition is not blamed for it")
{
    EXPECT_CODES("CREATE SENTINEL a USING http://x.org MONITOR colours;\n"
                 "CREATE SENTINEL b USING a; CREATE SENTINEL c USING http://x.org MONITOR "
                 "links FROM "
                 "end(a); ENABLE SENTINEL a",
            "1:46 E054");
}

TEST_MAIN()
