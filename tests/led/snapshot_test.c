/* Snapshots that are damaged, cut short or from elsewhere. */
#include "led/led.h"
#include "tests/test.h"
#include <string.h>

static int fired;

static void fire(void *arg, const struct led_occurrence *o)
{
    (void)arg;
    (void)o;
    fired++;
}

static struct led_rule *last_bound;

static bool bind(void *ctx, struct led_rule *r, struct led_rule_spec *spec)
{
    last_bound = r;
    spec->action = fire;
    spec->arg = ctx;
    return spec->key < 100;
}

/* Something of everything, with state in it. */
static void build(struct buf *out)
{
    struct led *led = led_new(0, 1000);
    struct led_event *a = led_primitive(led, "A"), *b = led_primitive(led, "B"),
                     *z = led_primitive(led, NULL), *e[12];
    int n = 0;
    CHECK(led_or(led, a, b, NULL, &e[n++]) == OK);
    CHECK(led_and(led, a, z, NULL, &e[n++]) == OK);
    CHECK(led_seq(led, e[0], z, NULL, &e[n++]) == OK);
    CHECK(led_not(led, b, a, z, NULL, &e[n++]) == OK);
    struct led_event *three[] = {a, b, z};
    CHECK(led_any(led, 3, 3, three, NULL, &e[n++]) == OK);
    CHECK(led_aperiodic(led, a, b, z, NULL, &e[n++]) == OK);
    CHECK(led_aperiodic_star(led, a, b, z, NULL, &e[n++]) == OK);
    CHECK(led_periodic(led, a, 10, z, NULL, &e[n++]) == OK);
    CHECK(led_periodic_star(led, a, 10, z, NULL, &e[n++]) == OK);
    CHECK(led_plus(led, a, 50, NULL, &e[n++]) == OK);
    CHECK(led_absolute(led, 2000, NULL, &e[n++]) == OK);
    for (int i = 0; i < n; i++) {
        for (unsigned c = 0; c < LED_CONTEXT_COUNT; c++) {
            struct led_rule_spec spec = {.action = fire,
                    .key = (uint64_t)i,
                    .context = (enum led_context)c,
                    .priority = -i};
            struct led_rule *r;
            CHECK(led_rule_new(led, e[i], &spec, NULL, &r) == OK);
            if (i == 5 && c == 2)
                led_rule_disable(led, r);
        }
    }
    for (int t = 0; t < 30; t += 3) {
        led_advance(led, t, t + 1000);
        led_raise(led, t % 2 ? a : b, (uint64_t)t, NULL);
    }
    CHECK(led_event_delete(led, e[6], true, NULL) == OK); /* held, but deleted */
    CHECK(led_rearm(led, e[7], 7, NULL) == OK);
    CHECK(led_save(led, out, NULL) == OK);
    led_free(led);
}

static void find_unnamed(void *ctx, const struct led_node_view *v)
{
    if (strcmp(v->operator_name, "primitive") == 0 && !led_event_name(v->event))
        *(uint64_t *)ctx = led_event_id(v->event);
}

/* Goes on with it, so that whatever was restored is used. */
static int use(struct led *led)
{
    fired = 0;
    struct led_event *a = led_event_find(led, "A"), *b = led_event_find(led, "B");
    for (int t = 30; t < 60; t++) {
        led_advance(led, led_now(led) + 1, led_wall(led) + 1);
        if (a && b)
            led_raise(led, t % 2 ? a : b, 0, NULL);
    }
    uint64_t id = 0;
    led_each_node(led, find_unnamed, &id);
    struct led_event *z = led_event_by_id(led, id);
    if (z)
        led_raise(led, z, 0, NULL);
    return fired;
}

TEST(again, "a snapshot of a snapshot is the same")
{
    BUF(one, 10000000);
    BUF(two, 10000000);
    build(&one);
    struct led *led;
    REQUIRE(led_restore(one.data, one.len, bind, NULL, NULL, &led) == OK);
    EXPECT(led_save(led, &two, NULL) == OK);
    EXPECT(one.len == two.len && memcmp(one.data, two.data, one.len) == 0);
    EXPECT(use(led) > 100);
    led_free(led);
}

TEST(cut_short, "a snapshot cut short is refused")
{
    BUF(whole, 10000000);
    build(&whole);
    struct led *led;
    struct fault f;
    for (size_t len = 0; len < whole.len; len++) {
        if (led_restore(whole.data, len, bind, NULL, &f, &led) == OK) {
            test_fail(__FILE__, __LINE__, "accepted %zu of %zu bytes", len, whole.len);
            led_free(led);
        }
    }
    EXPECT(buf_putc(&whole, 0));
    EXPECT(led_restore(whole.data, whole.len, bind, NULL, &f, &led) == ERR_SYNTAX);
    EXPECT_TEXT(f.message, "snapshot is damaged");
}

TEST(damaged, "a damaged snapshot is refused or harmless")
{
    BUF(whole, 10000000);
    build(&whole);
    int refused = 0;
    for (size_t i = 0; i < whole.len; i++) {
        unsigned char was = (unsigned char)whole.data[i];
        static const unsigned char with[] = {0x01, 0x80, 0xff};
        for (size_t k = 0; k < countof(with); k++) {
            whole.data[i] = (char)(was ^ with[k]);
            struct led *led;
            if (led_restore(whole.data, whole.len, bind, NULL, NULL, &led)) {
                refused++;
                continue;
            }
            if (i % 16 == 0 && k == 0)
                use(led);
            led_free(led);
        }
        whole.data[i] = (char)was;
    }
    EXPECT(refused > 1000);
}

TEST(over, "an absolute event that has occurred stays over, through a snapshot and a clock set "
           "back")
{
    BUF(bytes, 100000);
    struct led *led = led_new(0, 0);
    struct led_event *abs;
    struct led_rule_spec spec = {.action = fire, .context = LED_RECENT};
    struct led_rule *r;
    CHECK(led_absolute(led, 20, NULL, &abs) == OK);
    CHECK(led_rule_new(led, abs, &spec, NULL, &r) == OK);
    fired = 0;
    led_advance(led, 25, 25);
    EXPECT_INT(fired, 1);
    led_advance(led, 26, 10);
    led_rule_disable(led, r);
    led_rule_enable(led, r);
    EXPECT(led_next(led) == MSEC_NEVER);
    led_rule_disable(led, r); /* so that the next one starts it anew */
    CHECK(led_save(led, &bytes, NULL) == OK);
    led_free(led);
    REQUIRE(led_restore(bytes.data, bytes.len, bind, NULL, NULL, &led) == OK);
    abs = led_rule_event(last_bound);
    CHECK(led_rule_new(led, abs, &spec, NULL, &r) == OK);
    EXPECT(led_advance(led, 60, 44) == MSEC_NEVER);
    EXPECT_INT(fired, 1);
    struct led_event *again;
    EXPECT(led_absolute(led, 45, NULL, &again) == OK && again != abs);
    led_free(led);
}

TEST(version, "a snapshot of another version is refused")
{
    BUF(whole, 10000000);
    build(&whole);
    whole.data[4]++;
    struct led *led;
    struct fault f;
    EXPECT(led_restore(whole.data, whole.len, bind, NULL, &f, &led) == ERR_SYNTAX);
    EXPECT_TEXT(f.message, "not a snapshot of this version");
}

TEST(too_large, "a snapshot larger than its buffer is an error, not half a snapshot")
{
    struct led *led = led_new(0, 0);
    EXPECT(led_primitive(led, "A") != NULL);
    BUF(small, 100);
    EXPECT(led_save(led, &small, NULL) == ERR_LIMIT);
    led_free(led);
}

static struct led *busy;

static void save_inside(void *arg, const struct led_occurrence *o)
{
    (void)o;
    EXPECT(led_save(busy, arg, NULL) == ERR_BUSY);
}

TEST(inside, "no snapshot is taken while a rule runs")
{
    BUF(out, 10000);
    busy = led_new(0, 0);
    struct led_event *a = led_primitive(busy, "A");
    struct led_rule_spec spec = {.action = save_inside, .arg = &out};
    struct led_rule *r;
    CHECK(led_rule_new(busy, a, &spec, NULL, &r) == OK);
    led_raise(busy, a, 0, NULL);
    EXPECT_INT(out.len, 0);
    led_free(busy);
}

TEST_MAIN()
