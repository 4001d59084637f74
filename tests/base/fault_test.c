#include "base/fault.h"
#include "tests/test.h"

TEST(set, "a fault keeps code, message and hint, and replaces an older one whole")
{
    struct fault f = {0};
    EXPECT(fault_set(&f, ERR_NAME, "no sentinel \"%s\"", "s1") == ERR_NAME);
    fault_hint(&f, "Try %s.", "vigil list");
    EXPECT_TEXT(f.message, "no sentinel \"s1\"");
    EXPECT_TEXT(f.hint, "Try vigil list.");
    EXPECT(fault_set(&f, ERR_IO, "other") == ERR_IO);
    EXPECT_TEXT(f.hint, "");
}

TEST(nobody, "a caller who only wants the code passes no fault")
{
    EXPECT(fault_set(NULL, ERR_LIMIT, "x") == ERR_LIMIT);
    fault_hint(NULL, "x");
    fault_prefix(NULL, "x");
}

TEST(longest, "a message too long is cut between characters, never inside one")
{
    struct fault f = {0};
    char text[1000];
    for (size_t i = 0; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "é", 3);
    fault_set(&f, ERR_NET, "x%s", text);
    size_t n = strlen(f.message);
    EXPECT(n >= sizeof f.message - 3 && n < sizeof f.message);
    EXPECT_TEXT(f.message + n - 2, "é");
}

TEST(prefix, "a prefix goes in front of what was said")
{
    struct fault f = {0};
    fault_set(&f, ERR_IO, "disk full");
    fault_prefix(&f, "%s: ", "store");
    EXPECT_TEXT(f.message, "store: disk full");
    EXPECT(f.code == ERR_IO);
}

TEST_MAIN()
