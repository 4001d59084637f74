#include "tests/led/notation.h"
#include "tests/test.h"

TEST(strict, "a sequence needs time between its parts")
{
    DETECTS("['SEQ','A','B']", "unrestricted", "A@1 B@1 A@1 B@2", "1-2:(A1 B2); 1-2:(A2 B2)");
}

TEST(interval, "a sequence needs the whole of its first part before the whole of its second")
{
    DETECTS("['SEQ','B',['SEQ','A','C']]", "recent", "A@1 B@2 C@3 A@4 C@5", "2-5:(B1 A2 C2)");
    DETECTS("['SEQ',['AND','A','B'],['AND','C','D']]", "chronicle", "A@1 C@2 B@3 C@4 D@5 D@6",
            "1-6:(A1 B1 C2 D2)");
}

TEST(newest, "in recent a newer first part that comes too late hides an older one")
{
    DETECTS("['SEQ','A','B']", "recent", "A@1 A@2 B@2 B@3", "2-3:(A2 B2)");
}

TEST(eligible, "in the other contexts it does not")
{
    DETECTS("['SEQ','A','B']", "chronicle", "A@1 A@2 B@2 B@3", "1-2:(A1 B1); 2-3:(A2 B2)");
    DETECTS("['SEQ','A','B']", "continuous", "A@1 A@2 B@2 B@3", "1-2:(A1 B1); 2-3:(A2 B2)");
    DETECTS("['SEQ','A','B']", "cumulative", "A@1 A@2 B@2 B@3", "1-2:(A1 B1); 2-3:(A2 B2)");
}

TEST(three, "a chain of three in every context")
{
    const char *expr = "['SEQ',['SEQ','A','B'],'C']", *h = "A@1 A@2 B@3 B@4 C@5 C@6";
    DETECTS(expr, "unrestricted", h,
            "1-5:(A1 B1 C1); 2-5:(A2 B1 C1); 1-5:(A1 B2 C1); 2-5:(A2 B2 C1); "
            "1-6:(A1 B1 C2); 2-6:(A2 B1 C2); 1-6:(A1 B2 C2); 2-6:(A2 B2 C2)");
    DETECTS(expr, "recent", h, "2-5:(A2 B2 C1); 2-6:(A2 B2 C2)");
    DETECTS(expr, "chronicle", h, "1-5:(A1 B1 C1); 2-6:(A2 B2 C2)");
    DETECTS(expr, "continuous", h, "1-5:(A1 B1 C1); 2-5:(A2 B1 C1)");
    DETECTS(expr, "cumulative", h, "1-5:(A1 A2 B1 C1)");
}

TEST(itself, "an occurrence closes a sequence before it opens one, never with itself")
{
    DETECTS("['SEQ','A','A']", "unrestricted", "A@1 A@2 A@3",
            "1-2:(A1 A2); 1-3:(A1 A3); 2-3:(A2 A3)");
    DETECTS("['SEQ','A','A']", "cumulative", "A@1 A@1 A@2", "1-2:(A1 A2 A3)");
}

TEST_MAIN()
