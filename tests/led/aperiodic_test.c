#include "tests/led/notation.h"
#include "tests/test.h"

TEST(window, "A's window is open at its start and closed at its end")
{
    DETECTS("['A','A','M','Z']", "recent", "A@1 M@1 Z@1 M@2 Z@3 M@3", "1-2:(A1 M2)");
    DETECTS("['A','A','M','Z']", "recent", "A@1 M@3 Z@3", "1-3:(A1 M1)");
}

TEST(fifo, "in chronicle each closing one closes the oldest window")
{
    DETECTS("['A','A','M','Z']", "chronicle", "A@1 A@2 Z@3 M@4 Z@5 M@6", "2-4:(A2 M1)");
}

TEST(nested_end, "a closing composite that started before the window does not close it")
{
    DETECTS("['A','A','M',['SEQ','X','Z']]", "recent", "X@1 A@2 Z@3 M@4 X@5 Z@6 M@7",
            "2-4:(A1 M1)");
}

TEST(terminator_first, "what ends a window by one path and is in it by another ends it first")
{
    DETECTS("['A','A','M',['OR','M','Z']]", "recent", "A@1 M@2 A@3 Z@4 M@5", "");
    DETECTS("['A','A',['OR','M','Z'],'M']", "recent", "A@1 Z@2 M@3 Z@4", "1-2:(A1 Z1)");
}

TEST(timer_end, "PLUS may close the window")
{
    DETECTS("['A','A','M',['PLUS','A',5]]", "recent", "A@0 M@3 M@5 until@9", "0-3:(A1 M1)");
}

TEST_MAIN()
