/* Inheritance, dependencies and what statements of one file do to each other. */
#include "tests/grammar/equal.h"
#include "tests/grammar/world.h"

#define X "USING http://x.org MONITOR links "

TEST(inherits_all, "USING a sentinel copies its configuration")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const struct grammar_definition *d = effective(life, "CREATE SENTINEL t USING s1");
    REQUIRE(d);
    EXPECT_INT(d->n_pages, 1);
    EXPECT_TEXT(d->pages[0].url, "http://s1.example.org/page");
    EXPECT(!d->pages[0].sentinel);
    EXPECT(d->monitor->leaf->type == GRAMMAR_LINKS);
    EXPECT_INT(d->fetch_every, 2 * HOUR);
    EXPECT_TEXT(d->notify.methods[0].target, "owner@example.org");
    EXPECT(d->compare.kind == GRAMMAR_MOVING && d->compare.n == 3);
    EXPECT_INT(d->changehistory, 7);
    EXPECT(d->presentation == GRAMMAR_MERGED);
    EXPECT_INT(d->within, DAY);
    EXPECT_INT(d->priority, 2);
    EXPECT_TEXT(d->topic, "first");
}

TEST(links_life, "USING a sentinel links its lifespan")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const struct grammar_definition *d = effective(life, "CREATE SENTINEL t USING s1");
    REQUIRE(d);
    EXPECT(d->from.kind == GRAMMAR_TIME_START && strcmp(d->from.of, "s1") == 0);
    EXPECT(d->to.kind == GRAMMAR_TIME_END && strcmp(d->to.of, "s1") == 0);
    d = effective(life, "CREATE SENTINEL t USING act");
    REQUIRE(d); /* it runs: from now */
    EXPECT(d->from.is_now && d->to.kind == GRAMMAR_TIME_END);
    d = effective(life, "CREATE SENTINEL t USING s1 FROM now");
    REQUIRE(d); /* only one point is overridden */
    EXPECT(d->from.is_now && d->to.kind == GRAMMAR_TIME_END);
    d = effective(life, "CREATE SENTINEL t USING s1 FOR 2 days");
    REQUIRE(d);
    EXPECT(d->from.kind == GRAMMAR_TIME_START && d->to.kind == GRAMMAR_TIME_FOR);
    d = effective(life, "CREATE SENTINEL t USING old FROM now TO 2027-01-01");
    REQUIRE(d); /* an ended one, since both are given */
    EXPECT_TEXT(d->pages[0].url, "http://old.example.org/");
}

TEST(overrides, "what is written wins over what is inherited")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const struct grammar_definition *d = effective(life,
            "CREATE SENTINEL t USING s1 MONITOR any change FETCH on change NOTIFY BY dashboard "
            "COMPARE pairwise CHANGEHISTORY 3 PRESENTATION only change WITHIN 2 hours PRIORITY "
            "9 "
            "TOPIC 'mine' WITH (follow = 0)");
    REQUIRE(d);
    EXPECT(d->monitor->leaf->type == GRAMMAR_ANY_CHANGE && d->fetch_every == 0);
    EXPECT(d->notify.methods[0].kind == GRAMMAR_DASHBOARD &&
            d->compare.kind == GRAMMAR_PAIRWISE);
    EXPECT(d->changehistory == 3 && d->presentation == GRAMMAR_ONLY_CHANGE);
    EXPECT(d->within == 2 * HOUR && d->priority == 9 && d->request.follow == 0);
    EXPECT_TEXT(d->topic, "mine");
}

TEST(chains, "a chain of sentinels inherits effective values")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const struct grammar_definition *d =
            effective(life, "CREATE SENTINEL a USING s1 PRIORITY 5; CREATE SENTINEL b USING a "
                            "FETCH every 3 hours;"
                            "CREATE SENTINEL c USING B");
    REQUIRE(d);
    EXPECT(d->priority == 5 && d->fetch_every == 3 * HOUR && d->changehistory == 7);
    EXPECT_TEXT(d->from.of, "b");
}

TEST(several_pages, "pages of other sentinels may be among several")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const struct grammar_definition *d =
            effective(life, "CREATE SENTINEL t USING s1 AS a, http://x.org AS b, act AS c "
                            "MONITOR a.links AND NOT "
                            "(b.images OR c.tags)");
    REQUIRE(d);
    EXPECT_TEXT(d->pages[0].url, "http://s1.example.org/page");
    EXPECT_TEXT(d->pages[2].url, "http://act.example.org/");
    EXPECT(d->from.is_now && d->to.kind == GRAMMAR_TIME_AT); /* the lifespan is its own */
    EXPECT_INT(d->monitor->kids[0]->leaf->page, 0);
    EXPECT_INT(d->monitor->kids[1]->kids[0]->kids[1]->leaf->page, 2);
    d = effective(life, "CREATE SENTINEL t USING rel MONITOR a.tags OR b.images");
    REQUIRE(d); /* rel's own aliases */
    EXPECT(d->n_pages == 2 && d->monitor->kids[1]->leaf->page == 1);
    d = effective(life, "CREATE SENTINEL t USING s1 AS p MONITOR p.links");
    REQUIRE(d);
    EXPECT_TEXT(d->pages[0].alias, "p");
}

TEST(defaults, "nothing is left open in an effective definition")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const struct grammar_definition *d = effective(life, "CREATE SENTINEL t " X);
    REQUIRE(d);
    EXPECT_INT(d->fetch_every, 0);
    EXPECT(d->notify.n_methods == 1 && d->notify.methods[0].kind == GRAMMAR_DASHBOARD);
    EXPECT_INT(d->notify.every, 0);
    EXPECT(d->compare.kind == GRAMMAR_PAIRWISE && d->compare.n == 2);
    EXPECT_INT(d->changehistory, 10);
    EXPECT_INT(d->within, DAY);
    EXPECT_INT(d->priority, 1);
    EXPECT_TEXT(d->request.method, "GET");
    EXPECT_INT(d->request.follow, -1);
    EXPECT(!d->topic);
    d = effective(life, "CREATE SENTINEL t " X "COMPARE moving:2 WITH (body = 'x')");
    REQUIRE(d);
    EXPECT(d->compare.kind == GRAMMAR_PAIRWISE);
    EXPECT_TEXT(d->request.method, "POST");
}

TEST(presentation,
        "phrases, expressions and any change show both sides, others only the change")
{
    static const struct {
        const char *monitor;
        enum grammar_presentation expected;
    } cases[] = {
            {"any change", GRAMMAR_DUAL_FRAME},
            {"phrase 'a b c d e'", GRAMMAR_DUAL_FRAME},
            {"regexp 'x'", GRAMMAR_DUAL_FRAME},
            {"links", GRAMMAR_ONLY_CHANGE},
            {"table OR keywords x", GRAMMAR_ONLY_CHANGE},
            {"links AND regexp 'x'", GRAMMAR_DUAL_FRAME},
    };
    for (size_t i = 0; i < countof(cases); i++) {
        SCRATCH struct arena *life = arena_new(NULL, "test");
        const struct grammar_definition *d = effective(
                life, arena_printf(life, "CREATE SENTINEL t USING http://x.org MONITOR %s",
                              cases[i].monitor));
        EXPECT(d && d->presentation == cases[i].expected);
    }
}

TEST(stored, "an effective definition printed and stored is the same when it is read")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    static const char *const texts[] = {"CREATE SENTINEL t USING s1",
            "CREATE SENTINEL t USING rel FROM end(s1) + 1 day FOR 2 days",
            "CREATE SENTINEL t " X "FROM start(s1) - 2 hours TO never WITH (header 'A: b')",
            "CREATE SENTINEL t " X "NOTIFY BY a@b.org EVERY 2 days TOPIC 'it''s'"};
    for (size_t i = 0; i < countof(texts); i++) {
        const struct grammar_definition *d = effective(life, texts[i]);
        REQUIRE(d);
        BUF(once, 10000);
        BUF(twice, 10000);
        grammar_print_effective(&once, "t", d);
        d = effective(life, buf_text(&once));
        REQUIRE(d);
        grammar_print_effective(&twice, "t", d);
        EXPECT_TEXT(buf_text(&twice), buf_text(&once));
    }
    BUF(out, 10000);
    grammar_print_effective(&out, "t", effective(life, "CREATE SENTINEL t " X));
    EXPECT_TEXT(buf_text(&out),
            "CREATE SENTINEL t USING http://x.org MONITOR links FETCH on change FROM "
            "2026-11-16T12:00Z TO 2027-11-16T12:00Z NOTIFY BY dashboard COMPARE pairwise "
            "CHANGEHISTORY 10 PRESENTATION only change WITHIN 1 day PRIORITY 1");
}

TEST(load, "a stored definition is read back as it was")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    static const char *const texts[] = {"CREATE SENTINEL t USING s1",
            "CREATE SENTINEL t USING rel MONITOR NOT a.links AND b.tags FROM end(s1) + 1 day "
            "FOR 2 days",
            "CREATE SENTINEL t " X
            "FROM 03/03/2027 10:00 Europe/Berlin TO never WITH (body = 'x')"};
    for (size_t i = 0; i < countof(texts); i++) {
        const struct grammar_definition *made = effective(life, texts[i]), *loaded;
        REQUIRE(made);
        BUF(text, 10000);
        struct fault f;
        grammar_print_effective(&text, "t", made);
        REQUIRE(grammar_load(life, buf_text(&text), &f, &loaded) == OK);
        EXPECT(same_change(made->monitor, loaded->monitor));
        EXPECT(made->from.kind == loaded->from.kind && made->from.at == loaded->from.at);
        EXPECT(made->to.kind == loaded->to.kind && made->to.offset == loaded->to.offset);
        EXPECT_TEXT(loaded->request.method, made->request.method);
        if (made->n_pages > 1)
            EXPECT_INT(loaded->monitor->kids[1]->leaf->page, 1);
    }
    const struct grammar_definition *d;
    struct fault f;
    EXPECT(grammar_load(life, "SHOW SENTINEL t", &f, &d) == ERR_SYNTAX);
    EXPECT(grammar_load(life, "CREATE SENTINEL t USING s1", &f, &d) == ERR_SYNTAX);
    EXPECT(grammar_load(life, "CREATE SENTINEL t " X "FETCH nonsense", &f, &d) == ERR_SYNTAX);
    EXPECT(grammar_load(life, "", NULL, &d) == ERR_SYNTAX);
}

TEST(alter, "ALTER changes what it names and keeps the rest")
{
    SCRATCH struct arena *life = arena_new(NULL, "test");
    const struct grammar_definition *d =
            effective(life, "ALTER SENTINEL s1 FETCH every 5 hours TO 2027-02-01T00:00Z");
    REQUIRE(d);
    EXPECT(d->fetch_every == 5 * HOUR && d->changehistory == 7 && d->n_pages == 1);
    EXPECT(d->from.kind == GRAMMAR_TIME_AT && d->from.at == at("2026-12-01T00:00:00Z"));
    EXPECT(d->to.at == at("2027-02-01T00:00:00Z"));
    EXPECT_MARKED("ALTER SENTINEL s1 TO ¤2026-11-20", "E035"); /* s1 starts in December */
    EXPECT_MARKED("ALTER SENTINEL s1 FROM ¤2027-01-01", "E035");
    EXPECT_CODES("ALTER SENTINEL act TO 2027-01-01 PRIORITY 3", "");
    EXPECT_CODES("ALTER SENTINEL rel MONITOR a.tags", "");
    EXPECT_CODES("ALTER SENTINEL rel MONITOR tags", "1:28 E046");
}

TEST(cycles, "no chain of dependencies closes, over the store and the file together")
{
    EXPECT_MARKED("CREATE SENTINEL a " X "; CREATE SENTINEL b " X "FROM end(a);"
                  "CREATE OR REPLACE SENTINEL a " X "FROM ¤end(b)",
            "E048");
    EXPECT_MARKED("CREATE SENTINEL a " X "FROM end(rel); CREATE OR REPLACE SENTINEL base9 " X
                  "TO ¤start(a)",
            "E048"); /* base9 <- rel <- a */
    EXPECT_CODES("CREATE OR REPLACE SENTINEL rel " X "; CREATE OR REPLACE SENTINEL base9 " X
                 "FROM end(rel)",
            ""); /* rel no longer depends on base9 */
    EXPECT_CODES("CREATE OR REPLACE SENTINEL s1 USING s1 FROM now TO 2027-01-01", "");
    EXPECT_MARKED("CREATE OR REPLACE SENTINEL s1 ¤USING s1", "E048");
    EXPECT_MARKED("CREATE OR REPLACE SENTINEL s1 ¤USING s1 FROM now", "E048");
}

TEST(drop, "a sentinel others wait for is not dropped by accident")
{
    EXPECT_CODES("DROP SENTINEL base9", "1:15 E049");
    EXPECT_CODES("DROP SENTINEL base9 CASCADE", "");
    EXPECT_CODES("DROP SENTINEL rel; DROP SENTINEL base9", "");
    EXPECT_MARKED("CREATE SENTINEL a " X "FROM end(s1); DROP SENTINEL ¤s1", "E049");
    EXPECT_CODES("CREATE SENTINEL a " X "FROM end(s1); DROP SENTINEL a; DROP SENTINEL s1", "");
    EXPECT_CODES("DROP SENTINEL s1; CREATE SENTINEL s1 " X, "");
    EXPECT_CODES("DROP SENTINEL s1; SHOW SENTINEL s1", "1:33 E040");
    EXPECT_MARKED("DROP SENTINEL base9 CASCADE; CREATE SENTINEL a " X "FROM ¤end(rel)", "E041");
    SCRATCH struct arena *life = arena_new(NULL, "test");
    struct grammar_script *s =
            run(life, "CREATE SENTINEL a " X "FROM end(s1); CREATE SENTINEL b " X
                      "TO end(s1); DROP SENTINEL s1");
    EXPECT_TEXT(s->diagnostics->message, "2 sentinels depend on \"s1\": b, a");
}

TEST(case_of_names, "names differ by more than case")
{
    EXPECT_CODES("SHOW SENTINEL S1; CREATE SENTINEL T USING S1; SHOW SENTINEL t", "");
    EXPECT_MARKED("CREATE SENTINEL t " X "; CREATE SENTINEL ¤T " X, "E044");
}

TEST(hints, "what was probably meant is said")
{
    static const struct {
        const char *text, *hint;
    } cases[] = {
            {"CREATE SENTINEL t USING http://x.org MONITOR linsk", "Did you mean LINKS?"},
            {"CREATE SENTINEL t USING http://x.org MONITOR any chnage",
                    "Did you mean ANY CHANGE?"},
            {"CREATE SENTINEL t USING http://x.org MONITOR kewords x",
                    "Did you mean KEYWORDS?"},
            {"CREATE SENTINEL t " X "FETHC on change", "Did you mean FETCH?"},
            {"CREATE SENTINEL t " X "FETCH every 2 huors", "Did you mean hours?"},
            {"CREATE SENTINEL t " X "COMPARE pairwize", "Did you mean PAIRWISE?"},
            {"CREATE SENTINEL t " X "NOTIFY BY emial a@b.org", "Did you mean email?"},
            {"CREATE SENTINEL t " X "WITH (timout = 3 s)", "Did you mean timeout?"},
            {"CREATE SENTINEL t " X "FROM 12/12/2026 10:00 PSD", "Did you mean PST?"},
            {"CREATE SENTINEL t " X "FROM nwo", "Did you mean now?"},
            {"CRAETE SENTINEL t " X, "Did you mean CREATE?"},
            {"CREATE SENTINEL t " X "FETCH ever 2 hours", "Did you mean EVERY?"},
            {"CREATE SENTINEL t " X "TO 31/12/2027", "Did you mean 12/31/2027?"},
            {"SHOW SENTINEL bse9", "Did you mean \"base9\"?"},
            {"SHOW SENTINEL s2", "Did you mean \"s1\"?"},
            {"CREATE SENTINEL mine " X "; SHOW SENTINEL mnie", "Did you mean \"mine\"?"},
            {"CREATE SENTINEL t USING http://x.org AS page MONITOR pgae.links",
                    "Did you mean page?"},
            {"SUBSCRIPTION s REPORT WHEN daily ATMOST dayly", "Did you mean daily?"},
            {"SUBSCRIPTION s REPORT WHEN each mondya", "Did you mean monday?"},
            {"CREATE SENTINEL t " X "\nENABLE SENTINEL s1",
                    "Put a semicolon between two statements."},
    };
    for (size_t i = 0; i < countof(cases); i++) {
        SCRATCH struct arena *life = arena_new(NULL, "test");
        struct grammar_script *s = run(life, cases[i].text);
        const char *hint = s->diagnostics ? s->diagnostics->hint : NULL;
        if (!hint || strcmp(hint, cases[i].hint) != 0)
            test_fail(__FILE__, __LINE__, "%s\n#   hints \"%s\"", cases[i].text,
                    hint ? hint : "nothing");
    }
}

TEST_MAIN()
