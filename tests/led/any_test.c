#include "tests/led/notation.h"
#include "tests/test.h"

static const char *const contexts[] = {
        "unrestricted", "recent", "chronicle", "continuous", "cumulative"};

static void same(const char *a, const char *b, const char *history)
{
    for (size_t i = 0; i < countof(contexts); i++) {
        BUF(x, 100000);
        BUF(y, 100000);
        notation_run(a, contexts[i], history, 0, &x);
        notation_run(b, contexts[i], history, 0, &y);
        EXPECT(x.len > 0);
        EXPECT_TEXT(buf_text(&x), buf_text(&y));
    }
}

TEST(one, "ANY(1, ...) is OR")
{
    same("['ANY',1,'A','B']", "['OR','A','B']", "A@1 A@2 B@3 B@4 A@5 B@6 B@7");
}

TEST(two, "ANY(2, A, B) is AND")
{
    same("['ANY',2,'A','B']", "['AND','A','B']", "A@1 A@2 B@3 B@4 A@5 B@6 B@7 A@7 A@9 B@9");
}

TEST(windows, "in continuous an arrival joins the windows that lack it")
{
    DETECTS("['ANY',3,'A','B','C','D']", "continuous", "A@1 A@2 B@3 C@4 D@5 A@6 B@7",
            "1-4:(A1 B1 C1); 2-4:(A2 B1 C1); 5-7:(D1 A3 B2)");
}

TEST(newest, "recent takes the newest of the others")
{
    DETECTS("['ANY',2,'A','B','C']", "recent", "A@1 B@2 A@3 C@4",
            "1-2:(A1 B1); 2-3:(B1 A2); 3-4:(A2 C1)");
}

TEST(refused, "ANY wants different operands, and not more than there are")
{
    DETECTS("['ANY',2,'A','A']", "recent", "A@1", "ERR operands must differ");
    DETECTS("['ANY',3,'A','B']", "recent", "A@1", "ERR ANY(3 of 2) is out of range");
    DETECTS("['ANY',0,'A','B']", "recent", "A@1", "ERR ANY(0 of 2) is out of range");
}

TEST_MAIN()
