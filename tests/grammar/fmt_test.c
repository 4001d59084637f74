/* vigil fmt: a clause a line, comments kept. */
#include "tests/grammar/world.h"

static const char *formatted(struct arena *life, const char *text)
{
    BUF(out, 1 << 20);
    BUF(again, 1 << 20);
    struct grammar_script *s;
    if (grammar_fmt(life, "t", text, strlen(text), &out, &s) != OK) {
        EXPECT_INT(out.len, 0);
        return "error";
    }
    EXPECT(grammar_fmt(life, "t", buf_text(&out), out.len, &again, &s) == OK);
    EXPECT_TEXT(buf_text(&again), buf_text(&out)); /* formatting twice changes nothing */
    return arena_strdup(life, buf_text(&out));
}

#define EXPECT_FMT(text, expected)                                                             \
    do {                                                                                       \
        SCRATCH struct arena *life_ = arena_new(NULL, "fmt");                                  \
        EXPECT_TEXT(formatted(life_, (text)), (expected));                                     \
    } while (0)

TEST(shape, "a clause a line, statements apart")
{
    EXPECT_FMT("create sentinel a using x.org monitor all links fetch 2 h;enable sentinel s1;"
               "disable sentinel s1;create sentinel b using a",
            "CREATE SENTINEL a\n"
            "    USING http://x.org\n"
            "    MONITOR links\n"
            "    FETCH every 2 hours;\n"
            "\n"
            "ENABLE SENTINEL s1;\n"
            "DISABLE SENTINEL s1;\n"
            "\n"
            "CREATE SENTINEL b\n"
            "    USING a;\n");
    EXPECT_FMT("", "");
    EXPECT_FMT("subscription s report when daily refresh x.org weekly",
            "SUBSCRIPTION s\n"
            "    REFRESH http://x.org weekly\n"
            "    REPORT WHEN daily;\n");
}

TEST(comments, "every comment stays with what it is about")
{
    EXPECT_FMT("-- my pages   \n"
               "\n"
               "-- the news\n"
               "create sentinel a -- head\n"
               "  using http://x.org/a--b -- page\n"
               "  -- why links\n"
               "  -- and images\n"
               "  monitor links % kind\n"
               "  fetch 2 h; -- end\n"
               "% after\n",
            "-- my pages\n"
            "\n"
            "-- the news\n"
            "CREATE SENTINEL a -- head\n"
            "    USING http://x.org/a--b -- page\n"
            "    -- why links\n"
            "    -- and images\n"
            "    MONITOR links % kind\n"
            "    FETCH every 2 hours; -- end\n"
            "\n"
            "% after\n");
    EXPECT_FMT("-- only a comment", "-- only a comment\n");
}

TEST(moved, "comments move with their clause into canonical order")
{
    EXPECT_FMT("create sentinel a\n"
               "  using http://x.org -- here\n"
               "  fetch 2 h -- often\n"
               "  -- all of them\n"
               "  monitor links and -- both\n"
               "     images or -- or\n tags",
            "CREATE SENTINEL a\n"
            "    USING http://x.org -- here\n"
            "    -- all of them\n"
            "    -- or\n"
            "    MONITOR links AND images OR tags -- both\n"
            "    FETCH every 2 hours; -- often\n");
}

TEST(inside, "comments inside strings and addresses are none")
{
    EXPECT_FMT("create sentinel a using http://x.org/%20 monitor keywords {'-- no', \"% no\"} "
               "topic '%'",
            "CREATE SENTINEL a\n"
            "    USING http://x.org/%20\n"
            "    MONITOR keywords {'-- no', '% no'}\n"
            "    TOPIC '%';\n");
}

TEST(queries, "comments in a query stay in the file")
{
    EXPECT_FMT("subscription s continuous q -- name\n select a -- what\n from b when daily",
            "SUBSCRIPTION s\n"
            "    -- what\n"
            "    CONTINUOUS q select a from b WHEN daily; -- name\n");
    EXPECT_FMT("enable -- a\n sentinel -- b\n s1; show sentinel s1",
            "-- b\n"
            "ENABLE SENTINEL s1; -- a\n"
            "SHOW SENTINEL s1;\n");
}

TEST(errors, "nothing is written for a file with errors")
{
    EXPECT_FMT("create sentinel a using x.org monitor links; create sentinel b monitor colours",
            "error");
}

TEST_MAIN()
