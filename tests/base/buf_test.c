#include "base/buf.h"
#include "tests/test.h"

TEST(cap, "a buffer refuses what goes over its maximum and keeps what it had")
{
    BUF(b, 10);
    EXPECT(buf_puts(&b, "12345"));
    EXPECT(!buf_puts(&b, "678901"));
    EXPECT_TEXT(buf_text(&b), "12345");
    EXPECT(b.overflowed);
    EXPECT(!buf_puts(
            &b, "6")); /* once overflowed it stays so, a later small piece is no whole */
    buf_clear(&b);
    EXPECT(buf_puts(&b, "1234567890"));
    EXPECT_INT(b.len, 10);
}

TEST(grow, "a buffer grows through many small appends and stays terminated")
{
    BUF(b, 1 << 20);
    for (int i = 0; i < 10000; i++)
        EXPECT(buf_printf(&b, "%d,", i % 10));
    EXPECT_INT(b.len, 20000);
    EXPECT(b.data[20000] == 0 && b.data[19999] == ',');
}

TEST(empty, "an empty buffer is an empty text")
{
    BUF(b, 10);
    EXPECT_TEXT(buf_text(&b), "");
    EXPECT(buf_append(&b, "", 0));
}

TEST(take, "taking the bytes leaves an empty buffer that can be used again")
{
    BUF(b, 100);
    buf_puts(&b, "mine");
    size_t len;
    char *mine = buf_take(&b, &len);
    EXPECT_TEXT(mine, "mine");
    EXPECT_INT(len, 4);
    free(mine);
    EXPECT(buf_puts(&b, "again"));
    EXPECT_TEXT(buf_text(&b), "again");
}

TEST_MAIN()
