#include "base/list.h"
#include "tests/test.h"

struct item {
    struct list link;
    int n;
};

TEST(each_removing, "members may leave while the list is walked")
{
    struct list head = LIST_INIT(head);
    struct item items[10];
    for (int i = 0; i < 10; i++) {
        items[i].n = i;
        list_append(&head, &items[i].link);
    }
    list_each (pos, &head) {
        if (list_entry(pos, struct item, link)->n % 2)
            list_remove(pos);
    }
    int sum = 0, count = 0;
    list_each (pos, &head) {
        sum += list_entry(pos, struct item, link)->n;
        count++;
    }
    EXPECT_INT(count, 5);
    EXPECT_INT(sum, 0 + 2 + 4 + 6 + 8);
}

TEST(ends, "prepending puts a member first, removing twice does no harm")
{
    struct list head = LIST_INIT(head);
    struct item a, b;
    EXPECT(list_first(&head) == NULL);
    list_append(&head, &a.link);
    list_prepend(&head, &b.link);
    EXPECT(list_first(&head) == &b.link);
    list_remove(&b.link);
    list_remove(&b.link);
    EXPECT(list_first(&head) == &a.link);
    list_remove(&a.link);
    EXPECT(list_is_empty(&head));
}

TEST_MAIN()
