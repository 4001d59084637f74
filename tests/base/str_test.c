#include "base/str.h"
#include "tests/test.h"

TEST(ints, "a number is the whole text and fits, or it is none")
{
    int64_t n;
    EXPECT(str_to_int(STR("-9223372036854775808"), &n) && n == INT64_MIN);
    EXPECT(str_to_int(STR("9223372036854775807"), &n) && n == INT64_MAX);
    EXPECT(!str_to_int(STR("9223372036854775808"), &n));
    EXPECT(!str_to_int(STR(""), &n) && !str_to_int(STR("-"), &n) && !str_to_int(STR("1x"), &n));
    EXPECT(!str_to_int(STR(" 1"), &n));
}

TEST(utf8, "overlong forms, surrogates, cut and too large characters are not UTF-8")
{
    EXPECT_INT(utf8_length("\xC0\x80", 2), 0);
    EXPECT_INT(utf8_length("\xE0\x80\x80", 3), 0);
    EXPECT_INT(utf8_length("\xED\xA0\x80", 3), 0);
    EXPECT_INT(utf8_length("\xF4\x90\x80\x80", 4), 0);
    EXPECT_INT(utf8_length("\xE2\x82", 2), 0);
    EXPECT_INT(utf8_length("\xE2\x82\xAC", 3), 3);
    EXPECT_INT(utf8_length("\xF0\x9F\x98\x80", 4), 4);
    EXPECT(!utf8_is_valid("ab\x80", 3) && utf8_is_valid("ab\xC3\xA9", 4));
}

TEST(utf8_round, "every character decodes to what it was encoded from")
{
    for (uint32_t c = 1; c <= 0x10FFFF; c += c < 0x900 ? 1 : 97) {
        if (c >= 0xD800 && c <= 0xDFFF)
            continue;
        char out[4];
        size_t n = utf8_encode(c, out);
        uint32_t back;
        EXPECT(utf8_decode(out, n, &back) == n && back == c);
    }
}

TEST(distance, "a slip of the finger is one step: letter missing, extra, wrong or swapped")
{
    EXPECT_INT(str_distance(STR("LINKS"), STR("links"), 2), 0);
    EXPECT_INT(str_distance(STR("lnks"), STR("links"), 2), 1);
    EXPECT_INT(str_distance(STR("lniks"), STR("links"), 2), 1);
    EXPECT_INT(str_distance(STR("limks"), STR("links"), 2), 1);
    EXPECT_INT(str_distance(STR("colours"), STR("links"), 2), 3);
    EXPECT_INT(str_distance(STR(""), STR("ab"), 2), 2);
}

TEST(copy, "copying cuts before a character that does not fit whole")
{
    char to[4];
    str_copy(to, sizeof to, "ab\xC3\xA9");
    EXPECT_TEXT(to, "ab");
    str_copy(to, sizeof to, "abc");
    EXPECT_TEXT(to, "abc");
}

TEST(valid, "text is told from other bytes wherever in it they stand")
{
    static const struct {
        const char *bytes;
        bool valid;
    } some[] = {{"\xC3\xA9", true}, {"\xE2\x82\xAC", true}, {"\xF0\x9F\x98\x80", true},
            {"\xC3", false}, {"\x80", false}, {"\xC0\x80", false}, {"\xED\xA0\x80", false},
            {"\xE2\x82", false}, {"\xF5\x80\x80\x80", false}, {"\xC3\xC3\xA9", false}};

    for (size_t i = 0; i < countof(some); i++)
        for (size_t before = 0; before < 20; before++)
            for (size_t behind = 0; behind < 20; behind++) {
                char text[48];
                size_t len = strlen(some[i].bytes);
                memset(text, 'a', sizeof text);
                memcpy(text + before, some[i].bytes, len);
                EXPECT(utf8_is_valid(text, before + len + behind) == some[i].valid);
            }
}

TEST(trim, "white space at both ends goes, inside it stays")
{
    struct str s = str_trim(STR(" \t a b\r\n"));
    EXPECT(str_equal(s, STR("a b")));
    EXPECT_INT(str_trim(STR("  ")).len, 0);
}

TEST_MAIN()
