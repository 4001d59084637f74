#include "tests/led/notation.h"
#include "tests/test.h"

TEST(order, "AND does not care which operand comes first")
{
    DETECTS("['AND','A','B']", "recent", "B@1 A@2", "1-2:(B1 A1)");
    DETECTS("['AND','B','A']", "recent", "B@1 A@2", "1-2:(B1 A1)");
}

TEST(tie, "AND accepts both operands at one instant")
{
    DETECTS("['AND','A','B']", "chronicle", "A@1 B@1 B@1 A@1", "1:(A1 B1); 1:(B2 A2)");
}

TEST(used_up, "what detected in chronicle and continuous does not wait for a partner")
{
    DETECTS("['AND','A','B']", "chronicle", "A@1 B@2 A@3 B@4", "1-2:(A1 B1); 3-4:(A2 B2)");
    DETECTS("['AND','A','B']", "continuous", "A@1 A@2 B@3 A@4 B@5",
            "1-3:(A1 B1); 2-3:(A2 B1); 4-5:(A3 B2)");
}

TEST(same, "AND of an event with itself is refused")
{
    DETECTS("['AND','A','A']", "recent", "A@1", "ERR operands must differ");
    DETECTS("['AND',['SEQ','A','B'],['SEQ','A','B']]", "recent", "A@1",
            "ERR operands must differ");
}

TEST(two_paths, "a primitive that comes by two paths is listed once")
{
    DETECTS("['AND',['SEQ','A','B'],'B']", "recent", "A@1 B@2", "1-2:(A1 B1)");
    DETECTS("['AND',['OR','A','B'],['OR','A','C']]", "recent", "A@1 B@2",
            "1:(A1); 1-2:(A1 B1)");
}

TEST(nested, "AND of ANDs collects everything once in cumulative")
{
    DETECTS("['AND',['AND','A','B'],'C']", "cumulative", "A@1 A@2 B@3 A@4 B@5 C@6 C@7",
            "1-6:(A1 A2 B1 A3 B2 C1)");
}

TEST_MAIN()
