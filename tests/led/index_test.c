/* How events are found, and who listens to them: many come and go in any order. */
#include "led/led.h"
#include "tests/test.h"
#include <stdio.h>

enum { MANY = 3000, ROUNDS = 60000 };

static uint32_t state;

static uint32_t dice(uint32_t sides)
{
    state = state * 1664525 + 1013904223;
    return (state >> 8) % sides;
}

static void count(void *arg, const struct led_occurrence *o)
{
    (void)o;
    ++*(long *)arg;
}

TEST(found, "an expression is found while anybody holds it, and made anew afterwards")
{
    struct led *led = led_new(0, 0);
    struct led_event *a = led_primitive(led, NULL), *of[MANY] = {NULL};
    state = 1;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t k = dice(MANY);
        struct led_event *e, *again;
        if (of[k] && dice(2)) {
            led_event_drop(led, of[k]);
            of[k] = NULL;
            continue;
        }
        CHECK(led_plus(led, a, 1 + k, NULL, &e) == OK);
        CHECK(led_plus(led, a, 1 + k, NULL, &again) == OK);
        EXPECT(e == again && (!of[k] || of[k] == e));
        EXPECT(led_event_by_id(led, led_event_id(e)) == e);
        led_event_drop(led, e);
        if (of[k])
            led_event_drop(led, again);
        of[k] = e;
    }
    struct led_stats s;
    led_stats_get(led, &s);
    size_t held = 1;
    for (int k = 0; k < MANY; k++)
        held += of[k] != NULL;
    EXPECT_INT(s.events, held);
    led_free(led);
}

TEST(names, "a primitive event is found by its name until it is gone")
{
    struct led *led = led_new(0, 0);
    struct led_event *of[MANY] = {NULL};
    char name[20];
    state = 2;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t k = dice(MANY);
        snprintf(name, sizeof name, "event %u", k);
        EXPECT(led_event_find(led, name) == of[k]);
        if (of[k])
            led_event_drop(led, of[k]);
        of[k] = of[k] ? NULL : led_primitive(led, name);
    }
    led_free(led);
}

/* AND(hub, own) each, so that all listen to one event. */
TEST(listeners, "whoever listens to a popular event hears it, and who left does not")
{
    struct led *led = led_new(0, 0);
    struct led_event *hub = led_primitive(led, "hub"), *own = led_primitive(led, "own");
    struct led_rule *rules[MANY] = {NULL};
    long heard = 0, there = 0;
    struct led_rule_spec spec = {.action = count, .arg = &heard, .context = LED_RECENT};
    state = 3;
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t k = dice(i < ROUNDS / 2 ? MANY : 40); /* first crowded, then deserted */
        if (rules[k]) {
            led_rule_delete(led, rules[k]);
            rules[k] = NULL;
            there--;
        } else {
            struct led_event *late, *both;
            CHECK(led_plus(led, own, 1 + k, NULL, &late) == OK);
            CHECK(led_or(led, hub, late, NULL, &both) == OK);
            CHECK(led_rule_new(led, both, &spec, NULL, &rules[k]) == OK);
            led_event_drop(led, late);
            led_event_drop(led, both);
            there++;
        }
        if (i % 500 == 0) {
            heard = 0;
            led_raise(led, hub, 0, NULL);
            EXPECT_INT(heard, there);
        }
    }
    for (uint32_t k = 0; k < MANY; k++)
        led_rule_delete(led, rules[k]);
    heard = 0;
    led_raise(led, hub, 0, NULL);
    EXPECT_INT(heard, 0);
    struct led_stats s;
    led_stats_get(led, &s);
    EXPECT_INT(s.nodes, 0);
    EXPECT_INT(s.events, 2);
    led_free(led);
}

static bool bind(void *ctx, struct led_rule *r, struct led_rule_spec *spec)
{
    (void)r;
    spec->action = count;
    spec->arg = ctx;
    return true;
}

TEST(restored, "a restored detector finds all that is left by name")
{
    struct led *led = led_new(0, 0), *again;
    struct led_event *of[MANY];
    char name[20];
    state = 4;
    for (uint32_t k = 0; k < MANY; k++) {
        snprintf(name, sizeof name, "event %u", k);
        of[k] = led_primitive(led, name);
    }
    for (uint32_t k = 0; k < MANY; k++) {
        if (dice(3)) {
            led_event_drop(led, of[k]);
            of[k] = NULL;
        }
    }
    BUF(bytes, 10000000);
    long heard = 0;
    CHECK(led_save(led, &bytes, NULL) == OK);
    led_free(led);
    REQUIRE(led_restore(bytes.data, bytes.len, bind, &heard, NULL, &again) == OK);
    for (uint32_t k = 0; k < MANY; k++) {
        snprintf(name, sizeof name, "event %u", k);
        struct led_event *e = led_event_find(again, name);
        EXPECT((e != NULL) == (of[k] != NULL));
        if (!e)
            e = led_primitive(again, name);
        EXPECT(led_event_by_id(again, led_event_id(e)) == e);
    }
    struct led_stats s;
    led_stats_get(again, &s);
    EXPECT_INT(s.events, MANY);
    led_free(again);
}

TEST(manners, "rules that differ in anything are not mixed up")
{
    struct led *led = led_new(0, 0);
    struct led_event *e = led_primitive(led, "E");
    long heard[200] = {0};
    struct led_rule *rules[200];
    for (int i = 0; i < 200; i++) {
        struct led_rule_spec spec = {.action = count, .arg = &heard[i], .priority = i % 7};
        CHECK(led_rule_new(led, e, &spec, NULL, &rules[i]) == OK);
    }
    for (int i = 0; i < 200; i += 2)
        led_rule_delete(led, rules[i]);
    led_raise(led, e, 0, NULL);
    for (int i = 0; i < 200; i++)
        EXPECT_INT(heard[i], i % 2);
    led_free(led);
}

TEST_MAIN()
