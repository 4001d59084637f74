#include "tests/led/notation.h"
#include "tests/test.h"

static const char *const contexts[] = {
        "unrestricted", "recent", "chronicle", "continuous", "cumulative"};

TEST(either, "OR occurs whenever either operand does, in every context")
{
    for (size_t i = 0; i < countof(contexts); i++)
        DETECTS("['OR','A','B']", contexts[i], "A@1 B@1 A@2 C@3", "1:(A1); 1:(B1); 2:(A2)");
}

TEST(interval, "OR passes the interval and the parts of its operand on")
{
    DETECTS("['OR',['SEQ','A','B'],'C']", "recent", "A@1 B@4 C@5", "1-4:(A1 B1); 5:(C1)");
}

TEST(late, "OR passes lateness and missed ticks on")
{
    DETECTS("['OR',['PLUS','A',8],['P','A',10,'Z']]", "recent", "A@0 down:25@5 until@30",
            "8:(A1) {late=17}; 25:(A1 @25) {missed=2}; 30:(A1 @30)");
}

TEST_MAIN()
