#include "tests/led/notation.h"
#include "tests/test.h"

TEST(empty, "A* without anything in its window is silent, and the window is closed")
{
    DETECTS("['A*','A','M','Z']", "recent", "A@1 Z@2 M@3 Z@4", "");
}

TEST(forgets, "in recent a new start forgets what was collected")
{
    DETECTS("['A*','A','M','Z']", "recent", "A@1 M@2 A@3 Z@4 A@5 M@6 Z@7", "5-7:(A3 M2 Z2)");
}

TEST(younger, "in chronicle what was collected stays for younger windows")
{
    DETECTS("['A*','A','M','Z']", "chronicle", "A@1 M@2 A@3 M@4 Z@5 Z@6",
            "1-5:(A1 M1 M2 Z1); 3-6:(A2 M2 Z2)");
}

TEST(all, "cumulative reports every start, and once")
{
    DETECTS("['A*','A','M','Z']", "cumulative", "A@1 M@2 A@3 M@4 Z@5 Z@6",
            "1-5:(A1 M1 A2 M2 Z1)");
}

TEST(interval, "what comes after the closing composite began is not in the window")
{
    DETECTS("['A*','A','M',['SEQ','X','Z']]", "recent", "A@1 M@2 X@3 M@4 Z@5",
            "1-5:(A1 M1 X1 Z1)");
}

TEST_MAIN()
