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

TEST_MAIN()
