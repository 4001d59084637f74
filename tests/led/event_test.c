/* Events as things: made once, held, dropped, deleted, refused. */
#include "led/led.h"
#include "tests/test.h"

struct diary {
    struct led *led;
    int count;
    msec end[32], late[32];
    uint32_t missed[32];
    uint64_t data[32]; /* of the last part */
};

static void note(void *arg, const struct led_occurrence *o)
{
    struct diary *d = arg;
    if (d->count == 32)
        return;
    d->end[d->count] = o->end;
    d->late[d->count] = o->late;
    d->missed[d->count] = o->missed;
    d->data[d->count++] = led_part(o, led_part_count(o) - 1)->data;
}

static struct led_rule *on(
        struct led *led, struct led_event *e, struct diary *d, enum led_mode mode)
{
    struct led_rule_spec spec = {
            .action = note, .arg = d, .context = LED_RECENT, .mode = mode, .priority = 1};
    struct led_rule *r = NULL;
    CHECK(led_rule_new(led, e, &spec, NULL, &r) == OK);
    return r;
}

static struct led_event *plus(struct led *led, struct led_event *of, msec delay)
{
    struct led_event *e = NULL;
    CHECK(led_plus(led, of, delay, NULL, &e) == OK);
    return e;
}

TEST(once, "equal expressions are one event")
{
    struct led *led = led_new(0, 0);
    struct led_event *a = led_primitive(led, "A"), *x, *y, *z;
    EXPECT(led_primitive(led, "A") == a);
    EXPECT(led_primitive(led, NULL) != led_primitive(led, NULL));
    EXPECT(plus(led, a, 5) == plus(led, a, 5));
    EXPECT(plus(led, a, 5) != plus(led, a, 6));
    struct led_event *b = led_primitive(led, "B");
    EXPECT(led_seq(led, a, b, NULL, &x) == OK && led_seq(led, a, b, NULL, &y) == OK);
    EXPECT(led_seq(led, b, a, NULL, &z) == OK);
    EXPECT(x == y && x != z);
    led_free(led);
}

TEST(shared, "an expression two rules share is detected once")
{
    struct led *led = led_new(0, 0);
    struct led_event *a = led_primitive(led, "A"), *e = plus(led, a, 5);
    struct diary one = {0}, two = {0};
    on(led, e, &one, LED_NOW);
    on(led, plus(led, a, 5), &two, LED_NOW);
    led_raise(led, a, 0, NULL);
    led_advance(led, 10, 10);
    struct led_stats s;
    led_stats_get(led, &s);
    EXPECT_INT(one.count, 1);
    EXPECT_INT(two.count, 1);
    EXPECT_INT(s.detected, 1);
    EXPECT_INT(s.nodes, 2);
    led_free(led);
}

TEST(lifetime, "an event goes when nobody holds it and nothing uses it")
{
    struct led *led = led_new(0, 0);
    struct led_event *a = led_primitive(led, "A"), *e = plus(led, a, 5);
    struct diary d = {0};
    struct led_rule *r = on(led, e, &d, LED_NOW);
    struct led_stats s;
    led_event_drop(led, e);
    led_event_drop(led, a);
    EXPECT(led_event_find(led, "A") == a); /* the rule keeps both */
    led_raise(led, a, 0, NULL);
    led_rule_delete(led, r);
    led_stats_get(led, &s);
    EXPECT_INT(s.events, 0);
    EXPECT_INT(s.nodes, 0);
    EXPECT_INT(s.occurrences, 0);
    EXPECT_INT(s.timers, 0);
    EXPECT(led_advance(led, 100, 100) == MSEC_NEVER);
    EXPECT_INT(d.count, 0);
    led_free(led);
}

TEST(deletion, "an event in use is deleted only together with what uses it")
{
    struct led *led = led_new(0, 0);
    struct led_event *a = led_primitive(led, "A"), *e = plus(led, a, 5);
    struct diary d = {0};
    struct fault f;
    on(led, e, &d, LED_NOW);
    EXPECT(led_event_delete(led, a, false, &f) == ERR_BUSY);
    EXPECT_TEXT(f.message, "event A is used by PLUS(A, 5)");
    EXPECT(led_event_delete(led, e, false, &f) == ERR_BUSY);
    EXPECT_TEXT(f.message, "event PLUS(A, 5) is used by a rule");
    led_raise(led, a, 0, NULL);
    EXPECT(led_event_delete(led, a, true, &f) == OK);
    EXPECT(led_raise(led, a, 0, &f) == ERR_NAME);
    EXPECT(led_event_delete(led, a, true, &f) == ERR_NAME);
    EXPECT(led_advance(led, 100, 100) == MSEC_NEVER);
    EXPECT_INT(d.count, 0);
    EXPECT(led_event_find(led, "A") == NULL);
    led_event_drop(led, e);
    led_event_drop(led, a);
    struct led_stats s;
    led_stats_get(led, &s);
    EXPECT_INT(s.events, 0);
    EXPECT_INT(s.rules, 0);
    led_free(led);
}

TEST(refusals, "what makes no sense is refused")
{
    struct led *led = led_new(1000, 5000);
    struct led_event *a = led_primitive(led, "A"), *e = NULL;
    struct fault f;
    EXPECT(led_absolute(led, 5000, &f, &e) == ERR_RANGE);
    EXPECT_TEXT(f.message, "time lies in the past");
    EXPECT(led_absolute(led, 5001, &f, &e) == OK);
    EXPECT(led_raise(led, e, 0, &f) == ERR_UNSUPPORTED);
    e = NULL;
    EXPECT(led_and(led, a, a, &f, &e) == ERR_RANGE);
    EXPECT_TEXT(f.message, "operands must differ");
    EXPECT(led_plus(led, a, -1, &f, &e) == ERR_RANGE);
    EXPECT(led_periodic(led, a, INT64_MAX, a, &f, &e) == ERR_RANGE);
    EXPECT(led_rearm(led, a, 5, &f) == ERR_UNSUPPORTED);
    EXPECT(led_raise_at(led, a, 1001, 0, &f) == ERR_RANGE);
    EXPECT(e == NULL);
    led_free(led);
}

TEST(deep, "an expression nested without end is refused")
{
    struct led *led = led_new(0, 0);
    struct led_event *e = led_primitive(led, "A");
    enum err err = OK;
    int depth = 0;
    for (; depth < 1000 && !err; depth++)
        err = led_plus(led, e, 1, NULL, &e);
    EXPECT(err == ERR_LIMIT);
    EXPECT(depth > 100);
    led_free(led);
}

TEST(text, "an expression can be read")
{
    struct led *led = led_new(0, 0);
    struct led_event *a = led_primitive(led, "A"), *b = led_primitive(led, NULL), *n, *p;
    BUF(text, 1000);
    BUF(expected, 1000);
    EXPECT(led_not(led, a, b, plus(led, a, 5), NULL, &n) == OK);
    EXPECT(led_periodic(led, n, 10, a, NULL, &p) == OK);
    led_event_text(p, &text);
    buf_printf(&expected, "P(NOT(A)[#%llu, PLUS(A, 5)], 10, A)",
            (unsigned long long)led_event_id(b));
    EXPECT_TEXT(buf_text(&text), buf_text(&expected));
    led_free(led);
}

/* ---- restart without a snapshot ---- */

TEST(resume_p, "a series resumed after a restart keeps its grid and reports what it missed")
{
    struct led *led = led_new(35, 35);
    struct led_event *ds = led_primitive(led, NULL), *de = led_primitive(led, NULL), *p;
    struct diary d = {0};
    CHECK(led_periodic(led, ds, 10, de, NULL, &p) == OK);
    EXPECT(led_resume_periodic(led, p, LED_RECENT, 4, 14, NULL) == ERR_NAME);
    on(led, p, &d, LED_PREVIOUS);
    EXPECT(led_resume_periodic(led, p, LED_RECENT, 4, 14, NULL) == OK);
    led_wake(led, 50, 50);
    led_advance(led, 64, 64);
    REQUIRE(d.count == 3);
    EXPECT_INT(d.end[0], 50);
    EXPECT_INT(d.missed[0], 3); /* 24, 34, 44 */
    EXPECT_INT(d.data[0], 44);
    EXPECT_INT(d.end[1], 54);
    EXPECT_INT(d.data[1], 54);
    EXPECT_INT(d.end[2], 64);
    EXPECT(led_raise(led, de, 0, NULL) == OK);
    EXPECT(led_next(led) == MSEC_NEVER);
    led_free(led);
}

TEST(resume_plus, "a delay resumed after a restart ends when it would have, late")
{
    struct led *led = led_new(10, 10);
    struct led_event *a = led_primitive(led, NULL), *e = plus(led, a, 20);
    struct diary d = {0};
    on(led, e, &d, LED_PREVIOUS);
    EXPECT(led_resume_plus(led, e, LED_RECENT, 3, NULL) == OK);
    EXPECT(led_resume_plus(led, e, LED_RECENT, 11, NULL) == ERR_RANGE);
    EXPECT_INT(led_next(led), 23);
    led_wake(led, 40, 40);
    REQUIRE(d.count == 1);
    EXPECT_INT(d.end[0], 23);
    EXPECT_INT(d.late[0], 17);
    led_free(led);
}

TEST(raise_at, "an event raised as of an earlier time counts from then")
{
    struct led *led = led_new(0, 0);
    struct led_event *a = led_primitive(led, "A"), *e = plus(led, a, 20);
    struct diary d = {0}, raw = {0};
    on(led, e, &d, LED_PREVIOUS);
    on(led, a, &raw, LED_PREVIOUS);
    led_advance(led, 50, 50);
    EXPECT(led_raise_at(led, a, 10, 77, NULL) == OK);
    EXPECT_INT(raw.end[0], 10);
    EXPECT_INT(raw.late[0], 40);
    EXPECT_INT(raw.data[0], 77);
    EXPECT_INT(led_now(led), 50);
    led_advance(led, 50, 50);
    REQUIRE(d.count == 1);
    EXPECT_INT(d.end[0], 30);
    EXPECT_INT(d.late[0], 20);
    led_free(led);
}

TEST(late_loop, "a loop that comes a little late delivers each tick at its time")
{
    struct led *led = led_new(0, 0);
    struct led_event *a = led_primitive(led, NULL), *z = led_primitive(led, NULL), *p;
    struct diary d = {0};
    CHECK(led_periodic(led, a, 10, z, NULL, &p) == OK);
    on(led, p, &d, LED_NOW);
    led_raise(led, a, 0, NULL);
    EXPECT_INT(led_advance(led, 23, 23), 30);
    REQUIRE(d.count == 2);
    EXPECT_INT(d.end[0], 10);
    EXPECT_INT(d.late[0], 13);
    EXPECT_INT(d.end[1], 20);
    EXPECT_INT(d.late[1], 3);
    EXPECT_INT(d.missed[1], 0);
    led_free(led);
}

TEST(back, "a monotonic clock that goes back stands still")
{
    struct led *led = led_new(100, 100);
    led_advance(led, 50, 50);
    EXPECT_INT(led_now(led), 100);
    led_free(led);
}

struct seen {
    int nodes, rules, timers;
    msec next;
};

static void look(void *ctx, const struct led_node_view *v)
{
    struct seen *s = ctx;
    s->nodes++;
    s->rules += (int)v->rules;
    s->timers += (int)v->pending_timers;
    s->next = v->next < s->next ? v->next : s->next;
    for (size_t i = 0; i < v->operand_count; i++)
        EXPECT(v->operands[i] < v->id);
}

TEST(graph, "the live graph can be walked")
{
    struct led *led = led_new(0, 1000);
    struct led_event *a = led_primitive(led, "A"), *abs, *s;
    struct diary d = {0};
    CHECK(led_absolute(led, 1090, NULL, &abs) == OK);
    CHECK(led_seq(led, plus(led, a, 5), abs, NULL, &s) == OK);
    on(led, s, &d, LED_NOW);
    led_raise(led, a, 0, NULL);
    struct seen seen = {.next = MSEC_NEVER};
    led_each_node(led, look, &seen);
    EXPECT_INT(seen.nodes, 4);
    EXPECT_INT(seen.rules, 1);
    EXPECT_INT(seen.timers, 2);
    EXPECT_INT(seen.next, 5);
    EXPECT_INT(led_advance(led, 5, 1005), 90);
    led_free(led);
}

TEST_MAIN()
