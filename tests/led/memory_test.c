/* Memory: what comes goes, and a run of any length needs no more than its busiest moment. */
#include "led/led.h"
#include "tests/test.h"

static long ticks;

static void tick(void *arg, const struct led_occurrence *o)
{
    (void)arg;
    (void)o;
    ticks++;
}

static size_t bytes(const struct led *led)
{
    struct led_stats s;
    led_stats_get(led, &s);
    return s.bytes;
}

/* The life of something that starts at a time, ticks, and ends: made, run, deleted. */
static void one_life(struct led *led, msec now)
{
    struct led_event *from, *ds = led_primitive(led, NULL), *de = led_primitive(led, NULL), *p,
                            *end;
    CHECK(led_absolute(led, now + 1, NULL, &from) == OK);
    CHECK(led_periodic(led, ds, 2, de, NULL, &p) == OK);
    CHECK(led_plus(led, ds, 5, NULL, &end) == OK);
    struct led_rule_spec spec = {.action = tick, .context = LED_RECENT};
    struct led_rule *r[3];
    CHECK(led_rule_new(led, from, &spec, NULL, &r[0]) == OK);
    CHECK(led_rule_new(led, p, &spec, NULL, &r[1]) == OK);
    CHECK(led_rule_new(led, end, &spec, NULL, &r[2]) == OK);
    led_raise(led, ds, 0, NULL);
    led_advance(led, now + 3, now + 3);
    if (now % 2)
        led_raise(led, de, 0, NULL);
    for (int i = 0; i < 3; i++)
        led_rule_delete(led, r[i]);
    led_event_drop(led, from);
    led_event_drop(led, p);
    led_event_drop(led, end);
    led_event_drop(led, ds);
    led_event_drop(led, de);
}

TEST(lives, "a million lives leave no trace in memory")
{
    struct led *led = led_new(0, 0);
    msec now = 0;
    ticks = 0;
    for (int i = 0; i < 1000; i++, now += 3)
        one_life(led, now);
    size_t before = bytes(led);
    for (int i = 0; i < 1000000; i++, now += 3)
        one_life(led, now);
    EXPECT_INT(bytes(led), before);
    EXPECT_INT(ticks, 2 * 1001000);
    struct led_stats s;
    led_stats_get(led, &s);
    EXPECT_INT(s.events + s.nodes + s.rules + s.occurrences + s.timers, 0);
    led_free(led);
}

TEST(raises, "a million raises through every context leave memory flat")
{
    struct led *led = led_new(0, 0);
    struct led_event *a = led_primitive(led, "A"), *b = led_primitive(led, "B"), *s, *n;
    CHECK(led_and(led, a, b, NULL, &s) == OK);
    CHECK(led_not(led, s, a, b, NULL, &n) == OK);
    struct led_rule_spec spec = {.action = tick};
    struct led_rule *r;
    for (unsigned c = LED_RECENT; c < LED_CONTEXT_COUNT; c++) {
        spec.context = (enum led_context)c;
        CHECK(led_rule_new(led, n, &spec, NULL, &r) == OK);
    }
    size_t before = 0;
    for (long i = 0; i < 1000000; i++) {
        led_advance(led, i, i);
        led_raise(led, i % 2 ? b : a, 0, NULL);
        if (i == 50000)
            before = bytes(led);
    }
    EXPECT_INT(bytes(led), before);
    led_free(led);
}

TEST(hoard, "initiators that nothing ever terminates are let go, oldest first, and counted")
{
    struct led *led = led_new(0, 0);
    struct led_event *a = led_primitive(led, "A"), *b = led_primitive(led, "B"), *s;
    CHECK(led_seq(led, a, b, NULL, &s) == OK);
    struct led_rule_spec spec = {.action = tick, .context = LED_CONTINUOUS};
    struct led_rule *r;
    CHECK(led_rule_new(led, s, &spec, NULL, &r) == OK);
    for (int i = 0; i < 10123; i++)
        led_raise(led, a, 0, NULL);
    struct led_stats st;
    led_stats_get(led, &st);
    EXPECT_INT(st.dropped, 123);
    EXPECT_INT(st.occurrences, 10000);
    ticks = 0;
    led_advance(led, 1, 1);
    led_raise(led, b, 0, NULL);
    EXPECT_INT(ticks, 10000);
    led_free(led);
}

TEST(hoard_any, "ANY keeps as many of each operand, whatever it has of the others")
{
    struct led *led = led_new(0, 0);
    struct led_event *e[] = {
            led_primitive(led, "A"), led_primitive(led, "B"), led_primitive(led, "C")};
    struct led_event *any;
    CHECK(led_any(led, 3, 3, e, NULL, &any) == OK);
    struct led_rule_spec spec = {.action = tick, .context = LED_CUMULATIVE};
    struct led_rule *r;
    CHECK(led_rule_new(led, any, &spec, NULL, &r) == OK);
    for (int i = 0; i < 10005; i++)
        led_raise(led, e[0], 0, NULL);
    for (int i = 0; i < 20; i++)
        led_raise(led, e[1], 0, NULL);
    struct led_stats st;
    led_stats_get(led, &st);
    EXPECT_INT(st.dropped, 5);
    EXPECT_INT(st.occurrences, 10020);
    led_free(led);
}

/* What `n` rules, or `n` live P with two events and a rule each, cost. */
static size_t cost(int n, bool with_p)
{
    struct led *led = led_new(0, 0);
    struct led_rule_spec spec = {.action = tick, .context = LED_RECENT};
    struct led_rule *r;
    size_t before = bytes(led);
    for (int i = 0; i < n; i++) {
        struct led_event *from = led_primitive(led, NULL), *to = led_primitive(led, NULL),
                         *e = to;
        if (with_p)
            CHECK(led_periodic(led, from, 1000, to, NULL, &e) == OK);
        CHECK(led_rule_new(led, e, &spec, NULL, &r) == OK);
        CHECK(led_raise(led, from, 0, NULL) == OK);
    }
    size_t after = bytes(led);
    led_free(led);
    return after - before;
}

TEST(small, "a live P costs at most 160 bytes, with two events and a rule of its own 300")
{
    for (int n = 100000; n < 300000; n += n / 5) { /* just after a table has grown, too */
        size_t whole = cost(n, true), rest = cost(n, false);
        EXPECT(whole <= (size_t)n * 300);
        EXPECT(whole - rest <= (size_t)n * 160);
    }
}

TEST(series, "one more series of a P costs at most 80 bytes")
{
    enum { N = 200000 };
    struct led *led = led_new(0, 0);
    struct led_rule_spec spec = {.action = tick, .context = LED_CONTINUOUS};
    struct led_rule *r;
    struct led_event *a = led_primitive(led, NULL), *z = led_primitive(led, NULL), *p;
    CHECK(led_periodic(led, a, 1000, z, NULL, &p) == OK);
    CHECK(led_rule_new(led, p, &spec, NULL, &r) == OK);
    size_t before = bytes(led);
    for (int i = 0; i < N; i++)
        CHECK(led_raise(led, a, 0, NULL) == OK);
    EXPECT((bytes(led) - before) / N <= 80);
    led_free(led);
}

TEST_MAIN()
