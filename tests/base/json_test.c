#include "base/json.h"
#include "tests/test.h"

TEST(nesting, "commas stand between members and nowhere else")
{
    BUF(b, 1000);
    struct json j;
    json_init(&j, &b);
    json_object_begin(&j);
    json_key(&j, "a");
    json_array_begin(&j);
    json_array_end(&j);
    json_key(&j, "b");
    json_array_begin(&j);
    json_int(&j, -1);
    json_object_begin(&j);
    json_key(&j, "c");
    json_none(&j);
    json_object_end(&j);
    json_bool(&j, true);
    json_array_end(&j);
    json_key(&j, "d");
    json_raw(&j, "{\"\xC2\x9B\x7F\xC2\xA9\":1}");
    json_object_end(&j);
    EXPECT_TEXT(buf_text(&b),
            "{\"a\":[],\"b\":[-1,{\"c\":null},true],\"d\":{\"\\u009b\\u007f\xC2\xA9\":1}}");
}

TEST(escapes, "quotes, controls and bytes that are no text come out as valid JSON")
{
    BUF(b, 1000);
    struct json j;
    json_init(&j, &b);
    json_array_begin(&j);
    json_text(&j, "a\"b\\c\n\t\x01\x7f");
    json_text(&j, "caf\xC3\xA9 \xFF\xC3");
    json_str(&j, (struct str){"x\0y", 3});
    json_text(&j, "b\xC2\x9B\x31m\xC2\xA0");
    json_text(&j, NULL);
    json_array_end(&j);
    EXPECT_TEXT(buf_text(&b),
            "[\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\",\"caf\xC3\xA9 "
            "\xEF\xBF\xBD\xEF\xBF\xBD\",\"x\\u0000y\",\"b\\u009b1m\xC2\xA0\",null]");
}

TEST(top, "several values at the top are separated too, as one object a line needs it")
{
    BUF(b, 1000);
    struct json j;
    json_init(&j, &b);
    json_object_begin(&j);
    json_key(&j, "n");
    json_number(&j, 0.25);
    json_object_end(&j);
    EXPECT_TEXT(buf_text(&b), "{\"n\":0.25}");
}

TEST(places, "a character is escaped wherever it stands in a text or key of whatever length")
{
    static const struct {
        const char *in, *out;
    } all[] = {{"\"", "\\\""}, {"\\", "\\\\"}, {"\x1F", "\\u001f"}, {"\x7F", "\\u007f"},
            {"\xC2\x80", "\\u0080"}, {"\xC3\xA9", "\xC3\xA9"}, {"\xC3", "\xEF\xBF\xBD"},
            {"~", "~"}, {" ", " "}, {"\xE2\x82\xAC", "\xE2\x82\xAC"}};

    for (size_t k = 0; k < countof(all); k++)
        for (int len = 0; len < 40; len++)
            for (int at = 0; at <= len; at++) {
                BUF(in, 100);
                BUF(expected, 200);
                BUF(b, 200);
                struct json j;
                for (int i = 0; i <= len; i++)
                    buf_puts(&in, i == at ? all[k].in : "x");
                for (int n = 0; n < 2; n++) {
                    buf_puts(&expected, n ? ":\"" : "{\"");
                    for (int i = 0; i <= len; i++)
                        buf_puts(&expected, i == at ? all[k].out : "x");
                    buf_putc(&expected, '"');
                }
                buf_putc(&expected, '}');
                json_init(&j, &b);
                json_object_begin(&j);
                json_key(&j, buf_text(&in));
                json_text(&j, buf_text(&in));
                json_object_end(&j);
                EXPECT_TEXT(buf_text(&b), buf_text(&expected));
            }
}

TEST_MAIN()
