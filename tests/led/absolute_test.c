#include "tests/led/notation.h"
#include "tests/test.h"

TEST(once, "an absolute event occurs once, however the clock is set")
{
    DETECTS("['ABS',20]", "recent", "jump:-10@25 until@60", "20:(abs20)");
    DETECTS("['ABS',20]", "recent", "jump:-10@15 until@60", "30:(abs20)");
}

TEST(jumped, "a clock that jumps over it makes it occur now, late")
{
    DETECTS("['ABS',20]", "recent", "jump:30@5 until@60", "5:(abs20) {late=15}");
    DETECTS("['ABS',20]", "recent", "jump:15@5 until@60", "5:(abs20)");
    DETECTS("['OR',['ABS',30],['ABS',20]]", "recent", "jump:50@5 until@60",
            "5:(abs20) {late=35}; 5:(abs30) {late=25}");
}

TEST(down, "one that was due while we were down has the time it was due")
{
    DETECTS("['ABS',20]", "recent", "down:50@5 until@60", "20:(abs20) {late=30}");
    DETECTS("['SEQ',['ABS',20],'B']", "recent", "down:50@5 B@50 until@60", "20-50:(abs20 B1)");
}

TEST(past, "a time in the past is refused")
{
    DETECTS("['ABS',0]", "recent", "A@0", "ERR time lies in the past");
}

TEST(order, "at one instant ticks come first, then PLUS, then absolute events, then raises")
{
    DETECTS("['OR',['OR',['ABS',10],'A'],['OR',['PLUS','A',10],['P','A',10,'Z']]]", "recent",
            "A@0 A@10 until@10", "0:(A1); 10:(A1 @10); 10:(A1); 10:(abs10); 10:(A2)");
}

TEST_MAIN()
