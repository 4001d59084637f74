#include "tests/led/notation.h"
#include "tests/test.h"

#define P "['P','A',10,'Z']"

TEST(window, "P does not tick at its start and does tick at its end")
{
    DETECTS(P, "recent", "A@0 Z@20 until@50", "10:(A1 @10); 20:(A1 @20)");
    DETECTS(P, "recent", "A@0 Z@19 until@50", "10:(A1 @10)");
}

TEST(restart, "in recent a new start starts the phase anew")
{
    DETECTS(P, "recent", "A@0 A@7 until@28", "17:(A2 @17); 27:(A2 @27)");
}

TEST(order, "ticks at one instant come in the order their series were opened")
{
    DETECTS(P, "continuous", "A@0 A@0 A@10 until@20",
            "10:(A1 @10); 10:(A2 @10); 20:(A1 @20); 20:(A2 @20); 20:(A3 @20)");
}

TEST(gap, "after a gap an open series ticks once and keeps its grid")
{
    DETECTS(P, "recent", "A@0 down:50@5 until@65", "50:(A1 @50) {missed=5}; 60:(A1 @60)");
    DETECTS(P, "recent", "A@0 down:9@5 until@12", "10:(A1 @10)");
    DETECTS(P, "recent", "A@0 stall:36@12 A@20 until@50",
            "10:(A1 @10); 36:(A1 @36) {missed=2}; 46:(A2 @46)");
}

TEST(gap_closed, "a series that something closed in the gap stays silent")
{
    DETECTS("['P','A',10,['PLUS','A',30]]", "recent", "A@0 down:30@5 until@60", "");
}

TEST(gap_nested, "what hangs on the tick after a gap counts from that tick")
{
    DETECTS("['PLUS',['P','A',10,'Z'],3]", "recent", "A@0 down:25@5 Z@31 until@60",
            "28:(A1 @25); 33:(A1 @30)");
}

TEST(cumulative, "cumulative has the phase of the oldest, and after a tie at the end the next")
{
    DETECTS(P, "cumulative", "A@0 A@3 until@20", "10:(A1 A2 @10); 20:(A1 A2 @20)");
    DETECTS(P, "cumulative", "A@0 A@13 Z@13 until@30", "10:(A1 @10); 23:(A2 @23)");
}

TEST(take_over, "a closing composite that leaves a younger start hands the clock on, never "
                "back in time")
{
    DETECTS("['P','C',8,['SEQ','X','Z']]", "cumulative", "C@1 X@3 C@4 Z@15 until@25",
            "9:(C1 C2 @9); 20:(C2 @20)");
}

TEST(rearm, "a learned interval counts from the last tick, but never backwards")
{
    DETECTS(P, "recent", "A@0 rearm:25@5 until@60", "25:(A1 @25); 50:(A1 @50)");
    DETECTS(P, "recent", "A@0 rearm:2@5 Z@9 until@60", "5:(A1 @5); 7:(A1 @7); 9:(A1 @9)");
    DETECTS(P, "recent", "A@0 rearm:2@19 rearm:5@19 Z@26 until@60",
            "10:(A1 @10); 19:(A1 @19); 24:(A1 @24)");
}

TEST(rearm_gap, "the grid after a gap is that of the learned interval")
{
    DETECTS(P, "recent", "A@0 rearm:4@11 down:21@12 until@28",
            "10:(A1 @10); 21:(A1 @21) {missed=2}; 22:(A1 @22); 26:(A1 @26)");
}

TEST(wall, "the wall clock does not move P")
{
    DETECTS(P, "recent", "A@0 jump:100@5 jump:-300@12 until@21", "10:(A1 @10); 20:(A1 @20)");
}

TEST(range, "an interval must be a positive span")
{
    DETECTS("['P','A',0,'Z']", "recent", "A@0", "ERR interval of 0 ms is out of range");
    DETECTS("['P','A',-5,'Z']", "recent", "A@0", "ERR interval of -5 ms is out of range");
}

TEST_MAIN()
