/* When what is owed goes, and how often, in days and years of a clock of our own. */
#include "tests/engine/outbox_world.h"

/* ---- what must hold ---- */

TEST(once, "what is accepted is sent once, at once, in order")
{
    open_world();
    forget();
    struct watched a = watch("a", "http://r/", 0, false, 1);
    change(&a);
    change(&a);
    REQUIRE(nsents == 2);
    EXPECT(strcmp(sents[0].key, sents[1].key) != 0);
    EXPECT_TEXT(sents[0].items, "a:change");
    EXPECT_TEXT(states("a"), "sent 1, sent 1");
    pass(2 * MSEC_PER_DAY, MSEC_PER_DAY);
    EXPECT_INT(nsents, 2);
}

TEST(again, "503 once: the same key within a minute, and what came meanwhile follows")
{
    forget();
    rule(0, "http://r2/", NOTIFY_LATER, 0, 1);
    struct watched b = watch("b", "http://r2/", 0, false, 1);
    change(&b);
    change(&b);
    EXPECT_INT(nsents, 1);
    msec failed = w.x.clock.wall;
    pass(MSEC_PER_MINUTE, 5 * MSEC_PER_SECOND);
    REQUIRE(nsents == 3);
    EXPECT_TEXT(sents[1].key, sents[0].key);
    EXPECT(sents[1].at > failed && sents[1].at <= failed + MSEC_PER_MINUTE + 5000);
    EXPECT(strcmp(sents[2].key, sents[0].key) != 0);
    EXPECT_TEXT(states("b"), "sent 2, sent 1");
}

TEST(three_days, "503 for three days: given up then and not before, waits of at most six hours")
{
    forget();
    rule(0, "http://r3/", NOTIFY_LATER, 0, -1);
    struct watched c = watch("c", "http://r3/", 0, false, 1);
    change(&c);
    msec began = w.x.clock.wall;
    pass(3 * MSEC_PER_DAY - MSEC_PER_MINUTE, 30 * MSEC_PER_MINUTE);
    EXPECT(strncmp(states("c"), "pending", 7) == 0);
    size_t tries = nsents;
    EXPECT(tries >= 12 && tries < 80);
    for (size_t i = 1; i < nsents; i++) {
        EXPECT_TEXT(sents[i].key, sents[0].key);
        EXPECT(sents[i].at - sents[i - 1].at <= 6 * MSEC_PER_HOUR + 30 * MSEC_PER_MINUTE);
    }
    change(&c); /* this one has its own three days */
    pass(7 * MSEC_PER_HOUR, 30 * MSEC_PER_MINUTE);
    EXPECT(strncmp(states("c"), "dead", 4) == 0);
    EXPECT(strstr(states("c"), "pending") != NULL);
    EXPECT_TEXT(
            sql(&w.x, "SELECT error FROM vigil.notifications WHERE sentinel = 'c' AND state "
                      "= 'dead'"),
            "given up after three days: the test says no");
    EXPECT(sents[nsents - 1].at - began >= 3 * MSEC_PER_DAY);
    forget(); /* it is back */
    pass(7 * MSEC_PER_HOUR, 30 * MSEC_PER_MINUTE);
    EXPECT_INT(nsents, 1);
    EXPECT(strstr(states("c"), "sent") != NULL);
}

TEST(never, "a refusal for good ends that message only; the next goes at once")
{
    forget();
    rule(0, "http://r4/", NOTIFY_NEVER, 0, 1);
    struct watched d = watch("d", "http://r4/", 0, false, 1);
    change(&d);
    EXPECT_TEXT(states("d"), "dead 1");
    change(&d);
    EXPECT_TEXT(states("d"), "dead 1, sent 1");
    EXPECT_TEXT(sql(&w.x, "SELECT vigil.resend(id) FROM vigil.notifications WHERE sentinel = "
                          "'d' AND state = 'dead'"),
            "t");
    settle();
    EXPECT_TEXT(states("d"), "sent 1, sent 1");
    EXPECT_TEXT(sents[2].key, sents[0].key);
}

TEST(asked, "Retry-After is waited out exactly, and nothing overtakes")
{
    forget();
    rule(0, "http://r5/", NOTIFY_LATER, 3 * MSEC_PER_HOUR, 1);
    struct watched e = watch("e", "http://r5/", 0, false, 1);
    change(&e);
    msec failed = w.x.clock.wall;
    change(&e);
    go_to(failed + 3 * MSEC_PER_HOUR - 1);
    EXPECT_INT(nsents, 1);
    go_to(failed + 3 * MSEC_PER_HOUR);
    REQUIRE(nsents == 3);
    EXPECT_TEXT(sents[1].key, sents[0].key);
}

TEST(period, "EVERY: one message a period when there is something, counted from the start")
{
    forget();
    msec began = w.x.clock.wall;
    struct watched f = watch("f", "http://r6/", MSEC_PER_DAY, false, 1);
    go_to(began + 2 * MSEC_PER_HOUR);
    change(&f);
    go_to(began + 5 * MSEC_PER_HOUR);
    change(&f);
    EXPECT_INT(nsents, 0);
    go_to(began + MSEC_PER_DAY - 1);
    EXPECT_INT(nsents, 0);
    go_to(began + MSEC_PER_DAY);
    REQUIRE(nsents == 1);
    EXPECT_TEXT(sents[0].items, "f:change f:change");
    go_to(began + 3 * MSEC_PER_DAY - 1);
    EXPECT_INT(nsents, 1); /* nothing to say, nothing said */
    /* Found a moment after the period's last tick, by the fetch of that tick. */
    go_to(began + 3 * MSEC_PER_DAY + 40);
    change_for(&f, began + 3 * MSEC_PER_DAY);
    settle();
    EXPECT_INT(nsents, 2);
}

TEST(retried_bundle, "a summary that failed is sent again as it was, and what came since waits")
{
    forget();
    rule(0, "http://r7/", NOTIFY_LATER, MSEC_PER_MINUTE, 1);
    msec began = w.x.clock.wall;
    struct watched g = watch("g", "http://r7/", MSEC_PER_HOUR, false, 1);
    go_to(began + MSEC_PER_MINUTE);
    change(&g);
    go_to(began + 2 * MSEC_PER_MINUTE);
    change(&g);
    go_to(began + MSEC_PER_HOUR);
    REQUIRE(nsents == 1);
    EXPECT_INT(sents[0].nitems, 2);
    go_to(began + MSEC_PER_HOUR + 30 * MSEC_PER_SECOND);
    change(&g);
    go_to(began + MSEC_PER_HOUR + MSEC_PER_MINUTE);
    REQUIRE(nsents == 2);
    EXPECT_TEXT(sents[1].key, sents[0].key);
    EXPECT_TEXT(sents[1].items, sents[0].items);
    go_to(began + 2 * MSEC_PER_HOUR);
    REQUIRE(nsents == 3);
    EXPECT_TEXT(sents[2].items, "g:change");
}

static void end(struct watched *s, const char *reason, bool never)
{
    struct store_step step = {.kind = STORE_STEP_STATE,
            .sentinel_id = s->id,
            .state = "ended",
            .starts_at = 0,
            .ends_at = 0,
            .started_at = never ? MSEC_NEVER : w.x.clock.wall - 1000,
            .ended_at = w.x.clock.wall,
            .entered_at = MSEC_NEVER,
            .end_reason = reason,
            .event_kind = "end",
            .event_at = w.x.clock.wall,
            .event_actual_at = w.x.clock.wall};
    struct store_plan_job plan = {.job.kind = STORE_JOB_PLAN, .steps = &step, .nsteps = 1};
    if (store_run(w.x.store, &plan.job, &w.x.fault) != OK)
        test_fail(__FILE__, __LINE__, "%s", w.x.fault.message);
    settle();
}

TEST(flush, "at the end what was collected goes, with the notice that it ended")
{
    forget();
    struct watched h = watch("h", "http://r8/", MSEC_PER_DAY, false, 1);
    go_to(w.x.clock.wall + MSEC_PER_HOUR);
    change(&h);
    EXPECT_INT(nsents, 0);
    go_to(w.x.clock.wall + MSEC_PER_HOUR);
    end(&h, "to-reached", false);
    REQUIRE(nsents == 1);
    EXPECT_TEXT(sents[0].items, "h:ended h:change");
    struct watched i = watch("i", "http://r8/", 0, false, 1);
    end(&i, "dependency", true);
    REQUIRE(nsents == 2);
    EXPECT_TEXT(sents[1].items, "i:never started");
    struct watched k = watch("k", "http://r8/", 0, false, 1);
    end(&k, "stopped", false); /* whoever stops it knows */
    EXPECT_INT(nsents, 2);
}

static void touch(struct watched *s, int64_t failures, const char *error)
{
    struct store_touch_job t = {.job.kind = STORE_JOB_TOUCH,
            .fetch = {.page_id = s->page,
                    .last_fetch_at = w.x.clock.wall,
                    .verified_at = MSEC_NEVER,
                    .next_fetch_at = MSEC_NEVER,
                    .failures = failures,
                    .error = error}};
    if (store_run(w.x.store, &t.job, &w.x.fault) != OK)
        test_fail(__FILE__, __LINE__, "%s", w.x.fault.message);
    go_to(w.x.clock.wall + 1000);
}

TEST(failing, "a page that fails three times in a row is told once, and its return once")
{
    forget();
    struct watched l = watch("l", "http://r9/", 0, false, 1);
    for (int i = 1; i <= 5; i++) {
        touch(&l, i, "500 Internal Server Error");
        EXPECT_INT(nsents, i >= 3);
    }
    touch(&l, 0, NULL);
    touch(&l, 1, "500");
    touch(&l, 0, NULL);
    REQUIRE(nsents == 2);
    EXPECT_TEXT(sents[0].items, "l:failing");
    EXPECT_TEXT(sents[1].items, "l:recovered");
}

TEST(lost, "a phrase whose surroundings are gone is told after three looks, once")
{
    forget();
    struct watched m = watch("m", "http://r10/", 0, false, 1);
    for (int i = 1; i <= 5; i++) {
        struct version_fixture v;
        version_init(&v, m.page, m.id, i);
        v.job.fetched_at = v.job.fetch.last_fetch_at = w.x.clock.wall;
        v.job.nchanges = 0;
        v.evaluation.result = 'U';
        v.evaluation.reason = "context lost";
        v.job.evaluations = &v.evaluation;
        v.job.nevaluations = 1;
        EXPECT(store_run(w.x.store, &v.job.job, &w.x.fault) == OK);
        go_to(w.x.clock.wall + 1000);
        EXPECT_INT(nsents, i >= 3);
    }
    EXPECT_TEXT(sents[0].items, "m:context lost");
}

TEST(ending, "a day before its end the owner is told, once; a short one says nothing")
{
    forget();
    struct watched n = watch("n", "http://r11/", 0, false, 1);
    struct watched o = watch("o", "http://r11/", 0, false, 1);
    msec ends = w.x.clock.wall + 5 * MSEC_PER_DAY;
    sql(&w.x,
            arena_printf(w.life,
                    "UPDATE vigil_kb.sentinel SET ends_at = vigil_kb.ts(%lld) WHERE id = %lld",
                    (long long)ends, (long long)n.id));
    sql(&w.x,
            arena_printf(w.life,
                    "UPDATE vigil_kb.sentinel SET ends_at = vigil_kb.ts(%lld) WHERE id = %lld",
                    (long long)(w.x.clock.wall + 2 * MSEC_PER_DAY), (long long)o.id));
    go_to(ends - MSEC_PER_DAY - 1);
    EXPECT_INT(nsents, 0);
    go_to(ends - MSEC_PER_DAY);
    EXPECT_INT(nsents, 1);
    pass(12 * MSEC_PER_HOUR, MSEC_PER_HOUR);
    REQUIRE(nsents == 1);
    EXPECT_TEXT(sents[0].items, "n:ending");
    sql(&w.x, "UPDATE vigil_kb.sentinel SET state = 'disabled' WHERE name IN ('n', 'o')");
}

TEST(combined,
        "one summary for each user: several sentinels, the important first, then the newest")
{
    forget();
    rule(0, "http://r12/", NOTIFY_LATER, MSEC_PER_HOUR, 1);
    struct watched low = watch("low", "http://r12/", 0, true, 1);
    struct watched high = watch("high", "http://r12/", 0, true, 5);
    struct watched late = watch("late", "http://r12/", 0, true, 1);
    change(&low); /* fails; the rest gathers behind it */
    go_to(w.x.clock.wall + 1000);
    change(&low);
    go_to(w.x.clock.wall + 1000);
    change(&high);
    go_to(w.x.clock.wall + 1000);
    change(&late);
    EXPECT_INT(nsents, 1);
    go_to(w.x.clock.wall + MSEC_PER_HOUR);
    REQUIRE(nsents == 3);
    EXPECT_TEXT(sents[1].items, "low:change");
    EXPECT_TEXT(sents[2].items, "high:change late:change low:change");
}

TEST(quiet, "in quiet hours nothing is sent; in the morning it is one message")
{
    forget();
    set("notify.quiet=22:00-07:00");
    set("time.zone=Europe/Berlin");
    msec midnight = w.x.clock.wall - w.x.clock.wall % MSEC_PER_DAY + MSEC_PER_DAY;
    struct watched p = watch("p", "http://r13/", 0, false, 1);
    go_to(midnight + 22 * MSEC_PER_HOUR); /* 23:00 or 24:00 in Berlin */
    change(&p);
    go_to(midnight + 26 * MSEC_PER_HOUR);
    change(&p);
    EXPECT_INT(nsents, 0);
    pass(5 * MSEC_PER_HOUR, 10 * MSEC_PER_MINUTE);
    REQUIRE(nsents == 1);
    EXPECT_TEXT(sents[0].items, "p:change p:change");
    msec seven = sents[0].at % MSEC_PER_DAY;
    EXPECT(seven == 5 * MSEC_PER_HOUR || seven == 6 * MSEC_PER_HOUR); /* summer, winter */
    go_to(w.x.clock.wall + 4 * MSEC_PER_HOUR);
    change(&p);
    EXPECT_INT(nsents, 2); /* by day each goes at once again */
    set("notify.quiet=");
    set("time.zone=UTC");
}

TEST(most, "no more than so many a day to one user; the rest is one message the next day")
{
    forget();
    set("notify.max_per_day=2");
    msec midnight = w.x.clock.wall - w.x.clock.wall % MSEC_PER_DAY + MSEC_PER_DAY;
    struct watched q = watch("q", "http://r14/", 0, false, 1);
    go_to(midnight + MSEC_PER_HOUR);
    for (int i = 0; i < 5; i++) {
        change(&q);
        go_to(w.x.clock.wall + MSEC_PER_MINUTE);
    }
    EXPECT_INT(nsents, 2);
    go_to(midnight + MSEC_PER_DAY - 1);
    EXPECT_INT(nsents, 2);
    go_to(midnight + MSEC_PER_DAY);
    REQUIRE(nsents == 3);
    EXPECT_TEXT(sents[2].items, "q:change q:change q:change");
    set("notify.max_per_day=0");
}

TEST(killed, "what was under way when an engine died is sent again under its key, in order")
{
    forget();
    struct watched r = watch("r", "http://r15/", 0, false, 1);
    silent = true;
    change_for(&r, w.x.clock.wall);
    change_for(&r, w.x.clock.wall);
    settle();
    EXPECT_INT(nsents, 1);
    nwaiting = 0; /* it was never answered */
    outbox_stop(w.outbox, silent ? 0 : 3000);
    outbox_free(w.outbox);
    silent = false;
    start_outbox();
    settle();
    REQUIRE(nsents == 3);
    EXPECT_TEXT(sents[1].key, sents[0].key);
    EXPECT(strcmp(sents[2].key, sents[0].key) != 0);
    EXPECT_TEXT(states("r"), "sent 1, sent 1");
}

TEST(meanwhile, "what comes to be owed while its lane is under way is not overlooked")
{
    forget();
    struct watched u = watch("u", "http://r17/", 0, false, 1);
    rule(0, "http://r17/", NOTIFY_LATER, MSEC_PER_HOUR, 1);
    change(&u);
    silent = true;
    w.x.clock.wall += MSEC_PER_HOUR;
    w.x.clock.mono += MSEC_PER_HOUR;
    settle(); /* it is tried again */
    static const char idle[] = "SELECT claimed_by IS NOT NULL AND attempts = 0 AND next_at IS"
                               " NULL FROM vigil_kb.lane WHERE target = 'http://r17/'";
    EXPECT_TEXT(sql(&w.x, idle), "t");
    change_for(&u, w.x.clock.wall); /* writes to the lane, so it and a settling take turns */
    EXPECT_TEXT(sql(&w.x, idle), "f");
    silent = false;
    loop_timer_set(w.x.loop, &w.answers, 0);
    settle();
    EXPECT_TEXT(states("u"), "sent 2, sent 1");
}

TEST(gathered,
        "a message of several waits a little for what is being found, one of its own not")
{
    forget();
    set("notify.gather=30s");
    struct watched v = watch("v", "http://r18/", 0, true, 1);
    struct watched x = watch("x", "http://r18/", 0, true, 1);
    struct watched y = watch("y", "http://r19/", 0, false, 1);
    change(&v);
    change(&y);
    EXPECT_INT(nsents, 1);
    go_to(w.x.clock.wall + 29 * MSEC_PER_SECOND);
    change(&x);
    EXPECT_INT(nsents, 1);
    go_to(w.x.clock.wall + MSEC_PER_SECOND);
    REQUIRE(nsents == 2);
    EXPECT_TEXT(sents[1].items, "x:change v:change");
    set("notify.gather=0s");
}

TEST(long_lane, "a long queue is emptied without waiting for another reason to look")
{
    forget();
    struct watched t = watch("t", "http://r16/", 0, false, 1);
    for (int i = 0; i < 50; i++)
        change_for(&t, w.x.clock.wall);
    settle();
    EXPECT_INT(nsents, 50);
}

TEST(apart, "a receiver that is away does not keep others from what is theirs")
{
    forget();
    rule(0, "http://away/", NOTIFY_LATER, 0, -1);
    struct watched s[20];
    for (int i = 0; i < 20; i++)
        s[i] = watch(arena_printf(w.life, "s%d", i), i % 2 ? "http://here/" : "http://away/", 0,
                false, 1);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 20; i++)
            change_for(&s[i], w.x.clock.wall);
    settle();
    EXPECT_INT(sql_int(&w.x, "SELECT count(*) FROM vigil.notifications WHERE target = "
                             "'http://here/' AND state = 'sent'"),
            30);
    EXPECT_INT(sql_int(&w.x, "SELECT count(*) FROM vigil.notifications WHERE target = "
                             "'http://away/' AND state = 'pending'"),
            30);
    for (size_t i = 0; i < nsents; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(sents[k].items, sents[i].items) == 0 &&
                    strcmp(sents[i].target, "http://here/") == 0)
                EXPECT(strlen(sents[k].key) < strlen(sents[i].key) ||
                        strcmp(sents[k].key, sents[i].key) < 0);
}

/* So many lanes more to so many paths of a host, each owing what `s` has found. */
static void owe_paths(const struct watched *s, const char *host, int count)
{
    sql(&w.x, arena_printf(w.life,
                      "INSERT INTO vigil_kb.lane (owner, sentinel_id, method, target, next_at)"
                      " SELECT 'ann', %lld, 'webhook', '%s' || g, vigil_kb.ts(%lld)"
                      " FROM generate_series(1, %d) g",
                      (long long)s->id, host, (long long)w.x.clock.wall - 1000, count));
    sql(&w.x, arena_printf(w.life,
                      "INSERT INTO vigil_kb.notification (change_id, sentinel_id, at, method,"
                      " target, lane_id, state, next_try_at) SELECT (SELECT max(id) FROM"
                      " vigil_kb.change WHERE sentinel_id = %lld), %lld, l.next_at, l.method,"
                      " l.target, l.id, 'pending', l.next_at FROM vigil_kb.lane l"
                      " WHERE l.target ~ '^%s[0-9]+$'",
                      (long long)s->id, (long long)s->id, host));
}

static long long sent_to(const char *host)
{
    return sql_int(&w.x, arena_printf(w.life,
                                 "SELECT count(*) FROM vigil.notifications WHERE state ="
                                 " 'sent' AND starts_with(target, '%s')",
                                 host));
}

TEST(hanging, "a host that hangs with a thousand lanes does not delay what others get")
{
    forget();
    struct watched h = watch("beside", "http://here2/", 0, false, 1);
    change(&h);
    hanging = "http://hangs/";
    owe_paths(&h, "http://hangs/", 1000);
    settle();
    EXPECT_INT(nhung, 2 * settings_number(&w.settings, SETTING_NOTIFY_HOST_CONNECTIONS));
    for (int i = 0; i < 3; i++) {
        long long before = sent_to("http://here2/");
        change_for(&h, w.x.clock.wall);
        pass(2 * MSEC_PER_SECOND, MSEC_PER_SECOND);
        EXPECT_INT(sent_to("http://here2/"), before + 1);
        /* Those that were waiting for it give their places to others of its lanes. */
        time_out();
        pass(2 * MSEC_PER_SECOND, MSEC_PER_SECOND);
    }
    EXPECT(sql_int(&w.x, "SELECT count(*) FROM vigil_kb.lane WHERE claimed_by IS NOT NULL") <
            200);
    hanging = NULL; /* it is back */
    time_out();
    pass(3 * MSEC_PER_MINUTE, 10 * MSEC_PER_SECOND);
    EXPECT_INT(sent_to("http://hangs/"), 1000);
}

TEST(slowly, "a receiver gets no more at once than it has connections for")
{
    forget();
    struct watched k = watch("slow", "http://here3/", 0, false, 1);
    change(&k);
    silent = true;
    owe_paths(&k, "http://many/", 100);
    settle();
    EXPECT_INT(nwaiting, 2 * settings_number(&w.settings, SETTING_NOTIFY_HOST_CONNECTIONS));
    silent = false;
    loop_timer_set(w.x.loop, &w.answers, 0);
    settle();
    EXPECT_INT(sent_to("http://many/"), 100);
    EXPECT_INT(nsents, 101);
}

TEST(over, "and nothing is left behind")
{
    close_world();
}

TEST_MAIN()
