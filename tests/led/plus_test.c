#include "tests/led/notation.h"
#include "tests/test.h"

TEST(from_end, "the delay counts from the end of what it is added to")
{
    DETECTS("['PLUS',['SEQ','A','B'],5]", "recent", "A@0 B@3 until@20", "8:(A1 B1)");
}

TEST(ties, "equal deadlines keep their order, and come before what is raised then")
{
    DETECTS("['PLUS','A',5]", "chronicle", "A@0 A@0 A@5 until@20", "5:(A1); 5:(A2); 10:(A3)");
    DETECTS("['PLUS','A',5]", "recent", "A@0 A@5 until@20", "5:(A1); 10:(A2)");
}

TEST(joins, "in cumulative later ones join the delay of the first")
{
    DETECTS("['PLUS','A',5]", "cumulative", "A@0 A@2 A@5 A@6 until@20",
            "5:(A1 A2); 10:(A3 A4)");
}

TEST(chain, "a chain slept through keeps the times it was due")
{
    DETECTS("['PLUS',['PLUS','A',10],10]", "recent", "A@0 down:100@1 until@200",
            "20:(A1) {late=80}");
}

TEST(composite_late, "a composite is as late as the occurrence that detected it")
{
    DETECTS("['SEQ','A',['PLUS','A',8]]", "recent", "A@0 down:20@5 until@40",
            "0-8:(A1) {late=12}");
    DETECTS("['SEQ',['PLUS','A',8],'B']", "recent", "A@0 down:20@5 B@20", "8-20:(A1 B1)");
    DETECTS("['SEQ','B',['P','A',10,'Z']]", "recent", "B@0 A@0 down:25@5 until@26",
            "0-25:(B1 A1 @25) {missed=2}");
}

TEST(gone, "deleting the event stops the delay")
{
    DETECTS("['PLUS','A',5]", "chronicle", "A@0 A@1 delete@3 A@4 until@20", "");
}

TEST(range, "a delay must be a positive span")
{
    DETECTS("['PLUS','A',0]", "recent", "A@0", "ERR delay of 0 ms is out of range");
}

TEST_MAIN()
