/* Rules: order, couplings, cascades, and changing the graph while it works. */
#include "led/led.h"
#include "tests/test.h"

/* A rule that writes its letter down and then does one thing. */
struct actor {
    char letter;
    enum { NOTHING, RAISE, DELETE, DISABLE, FAIL, DELETE_EVENT } then;
    struct led_event *event;
    struct led_rule **rule;
    bool condition;
};

static struct led *led;
static char diary[4096];
static size_t written;
static int refused;

static void start(void)
{
    led = led_new(0, 0);
    written = 0;
    refused = 0;
    memset(diary, 0, sizeof diary);
}

static bool may(void *arg, const struct led_occurrence *o)
{
    (void)o;
    return ((struct actor *)arg)->condition;
}

static void act(void *arg, const struct led_occurrence *o)
{
    (void)o;
    struct actor *a = arg;
    if (written + 1 < sizeof diary)
        diary[written++] = a->letter;
    if (a->then == RAISE && led_raise(led, a->event, 0, NULL) == ERR_LIMIT)
        refused++;
    if (a->then == DELETE && *a->rule) {
        led_rule_delete(led, *a->rule);
        *a->rule = NULL;
    }
    if (a->then == DISABLE)
        led_rule_disable(led, *a->rule);
    if (a->then == FAIL)
        led_fail(led);
    if (a->then == DELETE_EVENT)
        EXPECT(led_event_delete(led, a->event, true, NULL) == OK);
}

static struct led_rule *on(
        struct led_event *e, struct actor *a, int priority, enum led_coupling coupling)
{
    struct led_rule_spec spec = {.action = act,
            .condition = may,
            .arg = a,
            .priority = priority,
            .coupling = coupling,
            .context = LED_RECENT};
    struct led_rule *r = NULL;
    a->condition = true;
    CHECK(led_rule_new(led, e, &spec, NULL, &r) == OK);
    return r;
}

TEST(condition, "a rule whose condition is false does nothing")
{
    start();
    struct led_event *e = led_primitive(led, "E");
    struct actor a = {.letter = 'a'}, b = {.letter = 'b'};
    on(e, &a, 1, LED_IMMEDIATE);
    on(e, &b, 1, LED_IMMEDIATE);
    a.condition = false;
    led_raise(led, e, 0, NULL);
    EXPECT_TEXT(diary, "b");
    led_free(led);
}

TEST(negative, "priorities may be anything, larger first")
{
    start();
    struct led_event *e = led_primitive(led, "E");
    struct actor a = {.letter = 'a'}, b = {.letter = 'b'}, c = {.letter = 'c'};
    on(e, &a, -1, LED_IMMEDIATE);
    on(e, &b, 0, LED_IMMEDIATE);
    on(e, &c, 1, LED_IMMEDIATE);
    led_raise(led, e, 0, NULL);
    EXPECT_TEXT(diary, "cba");
    led_free(led);
}

TEST(deferred, "deferred rules wait for the outermost raise and run by priority")
{
    start();
    struct led_event *e = led_primitive(led, "E"), *g = led_primitive(led, "G");
    struct actor low = {.letter = 'l'}, high = {.letter = 'h'},
                 again = {.letter = 'd', .then = RAISE, .event = g}, now = {.letter = 'n'};
    on(e, &low, 1, LED_DEFERRED);
    on(e, &again, 5, LED_DEFERRED);
    on(g, &high, 9, LED_DEFERRED);
    on(g, &now, 1, LED_IMMEDIATE);
    led_raise(led, e, 0, NULL);
    EXPECT_TEXT(diary, "dnhl");
    led_free(led);
}

TEST(detached, "detached rules run last, dependent ones only if nothing failed")
{
    start();
    struct led_event *e = led_primitive(led, "E");
    struct actor i = {.letter = 'i'}, d = {.letter = 'd'}, x = {.letter = 'x'},
                 y = {.letter = 'y'};
    on(e, &x, 9, LED_DETACHED);
    on(e, &y, 9, LED_DETACHED_DEPENDENT);
    on(e, &d, 1, LED_DEFERRED);
    on(e, &i, 1, LED_IMMEDIATE);
    led_raise(led, e, 0, NULL);
    EXPECT_TEXT(diary, "idxy");
    i.then = FAIL;
    led_raise(led, e, 0, NULL);
    EXPECT_TEXT(diary, "idxyidx");
    i.then = NOTHING;
    led_raise(led, e, 0, NULL); /* a failure is over with its raise */
    EXPECT_TEXT(diary, "idxyidxidxy");
    led_free(led);
}

static void loops(enum led_coupling coupling)
{
    start();
    struct led_event *e = led_primitive(led, "E");
    struct actor a = {.letter = 'a', .then = RAISE, .event = e};
    on(e, &a, 1, coupling);
    led_raise(led, e, 0, NULL);
    EXPECT_INT(written, 64);
    EXPECT_INT(refused, 1);
    struct led_stats s;
    led_stats_get(led, &s);
    EXPECT_INT(s.refused, 1);
    EXPECT_INT(s.occurrences, 0);
    led_raise(led, e, 0, NULL); /* and the next raise starts afresh */
    EXPECT_INT(written, 128);
    led_free(led);
}

TEST(loops, "a rule that raises its own event stops at 64, whatever its coupling")
{
    loops(LED_IMMEDIATE);
    loops(LED_DEFERRED);
    loops(LED_DETACHED);
    loops(LED_DETACHED_DEPENDENT);
}

TEST(explosion, "rules that raise each other's event twice over come to an end")
{
    start();
    struct led_event *e = led_primitive(led, "E");
    struct actor a = {.letter = 'a', .then = RAISE, .event = e},
                 b = {.letter = 'b', .then = RAISE, .event = e};
    on(e, &a, 1, LED_IMMEDIATE);
    on(e, &b, 1, LED_IMMEDIATE);
    led_raise(led, e, 0, NULL);
    struct led_stats s;
    led_stats_get(led, &s);
    EXPECT_INT(s.raised, 100000);
    EXPECT_INT(s.occurrences, 0);
    led_free(led);
}

TEST(timer_chain, "a timer is no raise: 64 raises may follow from it")
{
    start();
    struct led_event *abs, *e = led_primitive(led, "E");
    CHECK(led_absolute(led, 10, NULL, &abs) == OK);
    struct actor first = {.letter = 'f', .then = RAISE, .event = e},
                 loop = {.letter = 'l', .then = RAISE, .event = e};
    on(abs, &first, 1, LED_IMMEDIATE);
    on(e, &loop, 1, LED_IMMEDIATE);
    led_advance(led, 10, 10);
    EXPECT_INT(written, 65);
    led_free(led);
}

TEST(suicide, "a rule may delete itself, and a later one for the same occurrence")
{
    start();
    struct led_event *e = led_primitive(led, "E");
    static struct led_rule *ra, *rb;
    struct actor a = {.letter = 'a', .then = DELETE, .rule = &ra},
                 b = {.letter = 'b', .then = DELETE, .rule = &ra}, c = {.letter = 'c'};
    ra = on(e, &a, 3, LED_IMMEDIATE);
    on(e, &b, 2, LED_IMMEDIATE);
    rb = on(e, &c, 1, LED_DEFERRED);
    led_raise(led, e, 0, NULL);
    EXPECT_TEXT(diary, "abc");
    b.rule = &rb;
    led_raise(led, e, 0, NULL);
    EXPECT_TEXT(diary, "abcb");
    led_free(led);
}

TEST(disabled, "a rule disabled while it was queued is skipped")
{
    start();
    struct led_event *e = led_primitive(led, "E");
    static struct led_rule *rb;
    struct actor a = {.letter = 'a', .then = DISABLE, .rule = &rb}, b = {.letter = 'b'};
    on(e, &a, 2, LED_IMMEDIATE);
    rb = on(e, &b, 1, LED_IMMEDIATE);
    led_raise(led, e, 0, NULL);
    EXPECT_TEXT(diary, "a");
    EXPECT(!led_rule_is_enabled(rb));
    led_rule_enable(led, rb);
    a.then = NOTHING;
    led_raise(led, e, 0, NULL);
    EXPECT_TEXT(diary, "aab");
    led_free(led);
}

TEST(saw, "a rule may delete the very event that triggered it")
{
    start();
    struct led_event *a = led_primitive(led, "A"), *p;
    CHECK(led_plus(led, a, 5, NULL, &p) == OK);
    struct actor one = {.letter = '1', .then = DELETE_EVENT, .event = a}, two = {.letter = '2'};
    on(p, &one, 2, LED_IMMEDIATE);
    on(p, &two, 1, LED_IMMEDIATE);
    led_raise(led, a, 0, NULL);
    led_advance(led, 5, 5);
    EXPECT_TEXT(diary, "1");
    led_event_drop(led, p);
    led_event_drop(led, a);
    struct led_stats s;
    led_stats_get(led, &s);
    EXPECT_INT(s.events + s.nodes + s.rules + s.occurrences + s.timers, 0);
    led_free(led);
}

TEST(order, "equal priorities run in the order of detection: operands before operators")
{
    start();
    struct led_event *a = led_primitive(led, "A"), *b = led_primitive(led, "B"), *ab, *abb;
    CHECK(led_and(led, a, b, NULL, &ab) == OK);
    CHECK(led_or(led, ab, b, NULL, &abb) == OK);
    struct actor prim = {.letter = 'p'}, both = {.letter = 'c'}, any = {.letter = 'o'};
    on(abb, &any, 1, LED_IMMEDIATE);
    on(ab, &both, 1, LED_IMMEDIATE);
    on(b, &prim, 1, LED_IMMEDIATE);
    led_raise(led, a, 0, NULL);
    led_raise(led, b, 0, NULL);
    EXPECT_TEXT(diary, "pcoo");
    led_free(led);
}

TEST(enabled_anew, "a rule enabled again does not see what came before, though others do")
{
    start();
    struct led_event *a = led_primitive(led, "A"), *b = led_primitive(led, "B"), *s;
    CHECK(led_seq(led, a, b, NULL, &s) == OK);
    struct actor one = {.letter = '1'}, two = {.letter = '2'};
    struct led_rule *r = on(s, &one, 1, LED_IMMEDIATE);
    on(s, &two, 1, LED_IMMEDIATE);
    led_raise(led, a, 0, NULL);
    led_advance(led, 1, 1);
    led_rule_disable(led, r);
    led_advance(led, 2, 2);
    led_rule_enable(led, r);
    led_raise(led, b, 0, NULL);
    EXPECT_TEXT(diary, "2");
    led_free(led);
}

TEST(replayed_raise, "what a rule raises during replay happens then, not now")
{
    start();
    struct led_event *abs, *e = led_primitive(led, "E"), *p;
    CHECK(led_absolute(led, 10, NULL, &abs) == OK);
    CHECK(led_plus(led, e, 7, NULL, &p) == OK);
    struct actor first = {.letter = 'f', .then = RAISE, .event = e}, last = {.letter = 'l'};
    on(abs, &first, 1, LED_IMMEDIATE);
    on(p, &last, 1, LED_IMMEDIATE);
    EXPECT(led_wake(led, 100, 100) == MSEC_NEVER);
    EXPECT_TEXT(diary, "fl");
    led_free(led);
}

TEST(settled, "settled rules run when all that is due at the instant has happened")
{
    start();
    struct led_event *a = led_primitive(led, "A"), *end = led_primitive(led, "end(s1)"), *abs,
                     *plus;
    CHECK(led_plus(led, a, 10, NULL, &plus) == OK);
    CHECK(led_absolute(led, 10, NULL, &abs) == OK);
    struct actor first = {.letter = '1', .then = RAISE, .event = end}, other = {.letter = '2'},
                 by_end = {.letter = 'e'}, by_plus = {.letter = 'p'}, urgent = {.letter = 'u'};
    on(plus, &by_plus, 1, LED_SETTLED); /* a PLUS is due before an absolute event */
    on(end, &by_end, 1, LED_SETTLED);   /* raised inside the first end */
    on(abs, &first, 1, LED_IMMEDIATE);
    on(abs, &other, 1, LED_IMMEDIATE);
    on(abs, &urgent, 9, LED_SETTLED);
    led_raise(led, a, 0, NULL);
    led_advance(led, 10, 10);
    EXPECT_TEXT(diary, "12upe");
    led_free(led);
}

TEST(settled_late, "settled rules of different instants keep their instants in a replay")
{
    start();
    struct led_event *a = led_primitive(led, "A"), *z = led_primitive(led, "Z"), *at[3], *p;
    CHECK(led_periodic(led, a, 4, z, NULL, &p) == OK);
    struct actor starts[3] = {{.letter = 'a'}, {.letter = 'b'}, {.letter = 'c'}},
                 ends[3] = {{.letter = 'A'}, {.letter = 'B'}, {.letter = 'C'}},
                 tick = {.letter = 't'};
    for (int i = 0; i < 3; i++) {
        CHECK(led_absolute(led, 10 * (i + 1), NULL, &at[i]) == OK);
        on(at[i], &starts[i], 9, LED_SETTLED);
        on(at[i], &ends[i], 1, LED_IMMEDIATE);
    }
    on(p, &tick, 9, LED_IMMEDIATE);
    led_raise(led, a, 0, NULL);
    led_wake(led, 30, 30); /* the last instant is the end of the gap */
    EXPECT_TEXT(diary, "AaBbCct");
    led_free(led);
}

TEST(settled_raise, "a raise of the program is settled at its end, and so is what follows")
{
    start();
    struct led_event *e = led_primitive(led, "E"), *f = led_primitive(led, "F");
    static struct led_rule *victim;
    struct actor s = {.letter = 's', .then = RAISE, .event = f}, i = {.letter = 'i'},
                 d = {.letter = 'd'}, fs = {.letter = 'f'}, gone = {.letter = 'g'},
                 killer = {.letter = 'k', .then = DELETE, .rule = &victim};
    on(e, &s, 1, LED_SETTLED);
    on(e, &d, 1, LED_DEFERRED);
    on(e, &i, 1, LED_IMMEDIATE);
    on(f, &fs, 1, LED_SETTLED);
    victim = on(e, &gone, 0, LED_SETTLED);
    on(f, &killer, 1, LED_IMMEDIATE);
    led_raise(led, e, 0, NULL);
    EXPECT_TEXT(diary, "idskf");
    led_free(led);
}

TEST_MAIN()
