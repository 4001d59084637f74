#include "tests/led/notation.h"
#include "tests/test.h"

TEST(closed, "what is forbidden at the instant of either end blocks if it came in time")
{
    DETECTS("['NOT','N','A','B']", "recent", "N@1 A@1 B@2", "");
    DETECTS("['NOT','N','A','B']", "recent", "A@1 N@1 B@2", "");
    DETECTS("['NOT','N','A','B']", "recent", "A@1 N@2 B@2", "");
    DETECTS("['NOT','N','A','B']", "recent", "A@1 B@2 N@2", "1-2:(A1 B1)");
    DETECTS("['NOT','N','A','B']", "recent", "N@1 A@2 B@3", "2-3:(A1 B1)");
}

TEST(interval, "what is forbidden counts only if all of it lies before the closing one starts")
{
    DETECTS("['NOT','N','A',['SEQ','B','C']]", "recent", "A@1 B@2 N@3 C@4", "1-4:(A1 B1 C1)");
    DETECTS("['NOT','N','A',['SEQ','B','C']]", "recent", "A@1 N@2 B@3 C@4", "");
    DETECTS("['NOT',['SEQ','M','N'],'A','B']", "recent", "M@1 A@2 N@3 B@4", "2-4:(A1 B1)");
    DETECTS("['NOT',['SEQ','M','N'],'A','B']", "recent", "A@1 M@2 N@3 B@4", "");
}

TEST(spoilt, "one that is spoilt does not hide a younger one, nor an older one that is not")
{
    DETECTS("['NOT','N','A','B']", "chronicle", "A@1 N@2 A@3 B@4 B@5", "3-4:(A2 B1)");
    DETECTS("['NOT','N','A',['SEQ','B','C']]", "chronicle", "A@1 B@2 N@3 A@4 C@5 B@6 C@7",
            "1-5:(A1 B1 C1); 4-7:(A2 B2 C2)");
}

TEST(deadline, "no answer within a time is a NOT that PLUS closes")
{
    DETECTS("['NOT','B','A',['PLUS','A',10]]", "continuous", "A@0 A@4 B@6 A@20 until@40",
            "20-30:(A3)");
}

TEST(same, "an event forbidden between itself and another blocks all but the newest")
{
    DETECTS("['NOT','A','A','B']", "unrestricted", "A@1 A@2 B@3", "2-3:(A2 B1)");
}

TEST(two_paths, "an occurrence that is forbidden and opens hides no other that came before it")
{
    DETECTS("['NOT',['OR','N','A'],'A','B']", "recent", "N@1 A@1 B@2 A@3 B@4", "3-4:(A2 B2)");
    DETECTS("['NOT',['OR','N',['SEQ','X','N']],'A','B']", "recent", "X@0 N@1 A@1 B@2", "");
}

TEST(forbidden_terminator, "a closing one that is also forbidden closes before it forbids")
{
    DETECTS("['NOT','B','A','B']", "recent", "A@1 B@2 B@3", "1-2:(A1 B1)");
}

TEST_MAIN()
