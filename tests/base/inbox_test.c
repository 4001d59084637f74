#include "base/inbox.h"
#include "tests/test.h"

enum { SENDERS = 4, EACH = 20000 };

struct letter {
    struct list link;
    int sender, number;
};

static struct inbox box;
static struct letter letters[SENDERS][EACH];

static void *sender(void *arg)
{
    int s = *(int *)arg;
    for (int i = 0; i < EACH; i++) {
        letters[s][i].sender = s;
        letters[s][i].number = i;
        inbox_push(&box, &letters[s][i].link);
    }
    return NULL;
}

TEST(all_in_order, "every message arrives once, each sender's in its order")
{
    inbox_init(&box, NULL, NULL);
    pthread_t threads[SENDERS];
    int ids[SENDERS], next[SENDERS] = {0};
    for (int i = 0; i < SENDERS; i++) {
        ids[i] = i;
        REQUIRE(pthread_create(&threads[i], NULL, sender, &ids[i]) == 0);
    }
    size_t seen = 0;
    while (seen < (size_t)SENDERS * EACH) {
        struct list got = LIST_INIT(got);
        seen += inbox_take(&box, &got);
        list_each (pos, &got) {
            struct letter *l = list_entry(pos, struct letter, link);
            EXPECT(l->number == next[l->sender]);
            next[l->sender]++;
        }
    }
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(threads[i], NULL);
        EXPECT_INT(next[i], EACH);
    }
    EXPECT_INT(inbox_count(&box), 0);
    inbox_done(&box);
}

static void count_wake(void *arg)
{
    ++*(int *)arg;
}

TEST(wake, "the receiver is woken once for a burst, and again after it looked")
{
    struct inbox in;
    int wakes = 0;
    struct letter a, b, c;
    inbox_init(&in, count_wake, &wakes);
    inbox_push(&in, &a.link);
    inbox_push(&in, &b.link);
    EXPECT_INT(wakes, 1);
    struct list got = LIST_INIT(got);
    EXPECT_INT(inbox_take(&in, &got), 2);
    inbox_push(&in, &c.link);
    EXPECT_INT(wakes, 2);
    EXPECT_INT(inbox_take(&in, &got), 1);
    EXPECT(got.prev == &c.link && got.next == &a.link);
    inbox_done(&in);
}

TEST_MAIN()
