/* JSON as a tree, and what is no JSON as text. */
#include "tests/page/page_help.h"

static char *json_of(struct arena *life, const char *text)
{
    CLEANUP(made_done) struct made m = make(life, text, strlen(text), "application/json");
    return show(life, m.d);
}

#define EXPECT_JSON(text, expected)                                                            \
    do {                                                                                       \
        SCRATCH struct arena *json_life = arena_new(NULL, "json");                             \
        EXPECT_TEXT(json_of(json_life, (text)), (expected));                                   \
    } while (0)

TEST(shape, "members are elements of their name, items are items")
{
    EXPECT_JSON("{\"name\": \"tv\", \"tags\": [\"a\", 7]}",
            "json@type=\"object\"(name(\"tv\") tags@type=\"array\"(item(\"a\") "
            "item@type=\"number\"(\"7\")))");
    EXPECT_JSON("[]", "json@type=\"array\"");
    EXPECT_JSON("{}", "json@type=\"object\"");
    EXPECT_JSON(" \"x\" ", "json(\"x\")");
    EXPECT_JSON("-1.5e+3", "json@type=\"number\"(\"-1.5e+3\")");
    EXPECT_JSON("[true, false, null]",
            "json@type=\"array\"(item@type=\"boolean\"(\"true\") "
            "item@type=\"boolean\"(\"false\") item@type=\"null\"(\"null\"))");
    EXPECT_JSON("{\"\": 1}", "json@type=\"object\"(_@type=\"number\"(\"1\"))");
}

TEST(inline_keys, "keys that are names of inline elements part words all the same")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    static const char text[] = "{\"a\": \"one\", \"b\": \"two\", \"script\": \"three\"}";
    CLEANUP(made_done) struct made m = make(life, text, sizeof text - 1, "application/json");
    struct page_block *blocks;
    REQUIRE(m.d && page_blocks(m.d, life, &blocks) == 3);
    EXPECT_TEXT(blocks[1].text.ptr, "two");
}

TEST(escapes, "escapes are what they stand for")
{
    EXPECT_JSON("\"a\\n\\tb \\\"q\\\" \\/ \\\\\"", "json(\"a b \"q\" / \\\")");
    EXPECT_JSON("\"caf\\u00e9 \\ud83d\\ude00\"", "json(\"caf\xC3\xA9 \xF0\x9F\x98\x80\")");
    EXPECT_JSON("\"\\ud83d!\"", "json(\"\xEF\xBF\xBD!\")");
    EXPECT_JSON("\"\\ude00\\ud83d\\u0041\"", "json(\"\xEF\xBF\xBD\xEF\xBF\xBD"
                                             "A\")");
    EXPECT_JSON("\"a\\u0000b\"", "json(\"ab\")");
}

TEST(not_json, "what is not JSON to the end is text")
{
    static const char *const wrong[] = {"{\"a\": 1", "{\"a\" 1}", "[1,]", "[1 2]", "{a: 1}",
            "01", "1.", "\"x", "tru", "{} {}", "[1]x", "\"\\x\"", "\"\\u12\"", "{\"a\": 1,}",
            ""};
    for (size_t i = 0; i < countof(wrong); i++) {
        SCRATCH struct arena *life = arena_new(NULL, "t");
        char *tree = json_of(life, wrong[i]);
        if (strncmp(tree, "text", 4) != 0)
            test_fail(__FILE__, __LINE__, "\"%s\" became %s", wrong[i], tree);
    }
}

TEST(deep, "nesting is kept at 9,000 levels and refused at 100,000")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    for (int depth = 9000; depth <= 100000; depth += 91000) {
        BUF(page, 1 << 20);
        for (int i = 0; i < depth; i++)
            buf_putc(&page, '[');
        for (int i = 0; i < depth; i++)
            buf_putc(&page, ']');
        CLEANUP(made_done) struct made m = make(life, page.data, page.len, "application/json");
        if (depth == 9000)
            EXPECT(m.d && m.d->nodes == 9000);
        else
            EXPECT(!m.d && m.f.code == ERR_LIMIT);
    }
}

TEST(problem_types, "types that end in +json are JSON too")
{
    SCRATCH struct arena *life = arena_new(NULL, "t");
    CLEANUP(made_done) struct made m = make(life, "{\"a\":1}", 7, "application/ld+json; x=y");
    EXPECT_TEXT(show(life, m.d), "json@type=\"object\"(a@type=\"number\"(\"1\"))");
    CLEANUP(made_done) struct made old = make(life, "[1]", 3, "Text/JSON");
    EXPECT_TEXT(show(life, old.d), "json@type=\"array\"(item@type=\"number\"(\"1\"))");
    CLEANUP(made_done) struct made t = make(life, "one\n\n two  x\n", 12, "text/plain");
    EXPECT_TEXT(show(life, t.d), "text(\"one\" \"two x\")");
}

TEST_MAIN()
