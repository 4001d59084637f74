#include "tests/led/notation.h"
#include "tests/test.h"

#define P "['P*','A',10,'Z']"

TEST(ticks, "P* reports its ticks when the window closes, the last instant included")
{
    DETECTS(P, "recent", "A@0 Z@20 until@50", "0-20:(A1 @10 @20 Z1)");
}

TEST(none, "without a tick it is silent")
{
    DETECTS(P, "recent", "A@0 Z@9 Z@40 until@50", "");
}

TEST(gap, "the ticks of a gap are all there")
{
    DETECTS(P, "chronicle", "A@0 A@5 down:32@7 Z@33 Z@34 until@50",
            "0-33:(A1 @10 @20 @30 Z1); 5-34:(A2 @15 @25 Z2)");
}

TEST(cumulative, "cumulative lists starts and ticks in order of time")
{
    DETECTS(P, "cumulative", "A@0 A@20 Z@25", "0-25:(A1 @10 @20 A2 Z1)");
}

TEST(interval, "ticks after the closing composite began are not in the window")
{
    DETECTS("['P*','A',10,['SEQ','X','Z']]", "recent", "A@0 X@15 Z@30", "0-30:(A1 @10 X1 Z1)");
}

TEST_MAIN()
