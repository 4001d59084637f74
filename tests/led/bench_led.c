/* bench_led: what the detector costs, as ratios to a loop that only does the timer heap and
 * the hash look-ups it cannot do without.  Built with the tests, run by hand:
 *
 *     build/tests/led/bench_led [how many, 1000000]
 *
 * One line a figure: name, value, unit; the limit it is held against, if any, and whether it
 * keeps it.  Exit 1 if one does not.
 */
#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "led/led.h"
#include "tests/bench/middle.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int over_limit;
static uint64_t fired;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* a busy machine must not count */
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void report(const char *name, double value, const char *unit)
{
    printf("%-52s %12.2f %s\n", name, value, unit);
}

static void report_limit(
        const char *name, double value, const char *unit, double limit, bool at_most)
{
    bool kept = at_most ? value <= limit : value >= limit;
    printf("%-52s %12.2f %-10s %s %g: %s\n", name, value, unit,
            at_most ? "at most" : "at least", limit, kept ? "kept" : "NOT KEPT");
    over_limit |= !kept;
}

static void fire(void *arg, const struct led_occurrence *o)
{
    (void)arg;
    fired += o->end >= 0;
}

static size_t bytes(const struct led *led)
{
    struct led_stats s;
    led_stats_get(led, &s);
    return s.bytes;
}

static struct led_rule *on(struct led *led, struct led_event *e, enum led_context c)
{
    struct led_rule_spec spec = {
            .action = fire, .context = c, .mode = LED_PREVIOUS, .priority = LED_PRIORITY};
    struct led_rule *r = NULL;
    if (led_rule_new(led, e, &spec, NULL, &r))
        abort();
    return r;
}

/* ---- the loop to compare with ---- */

struct item {
    struct heap_node timer;
    struct map_node node;
};

/* Nanoseconds for one look-up, and for one timer that is due and set again. */
static void baseline(long n, double *ret_lookup, double *ret_timer)
{
    struct item *items = calloc((size_t)n, sizeof *items);
    struct heap h;
    struct map m;
    heap_init(&h);
    map_init(&m);
    for (long i = 0; i < n; i++) {
        heap_node_init(&items[i].timer);
        heap_set(&h, &items[i].timer, 1000 + i % 1000, (uint64_t)i);
        map_insert(&m, &items[i].node, (uint64_t)i);
    }
    double start = now();
    for (long i = 0; i < n; i++)
        fired += map_first(&m, (uint64_t)(i * 7919 % n)) != NULL;
    *ret_lookup = (now() - start) * 1e9 / (double)n;
    start = now();
    for (long i = 0; i < n; i++) {
        struct heap_node *t = heap_min(&h);
        heap_set(&h, t, t->at + 1000, t->order);
    }
    *ret_timer = (now() - start) * 1e9 / (double)n;
    heap_done(&h);
    map_done(&m);
    free(items);
}

/* The other structure one could have chosen: a wheel with a slot for each millisecond.  What is
 * due at one instant must come out in order of registration, so a slot is sorted in.
 */
enum { SLOTS = 4096 };

struct spoke {
    struct list link;
    msec at;
    uint64_t order;
};

static void wheel_set(struct list *slots, struct spoke *t, msec at)
{
    struct list *slot = &slots[at % SLOTS], *before = slot->prev;
    t->at = at;
    list_remove(&t->link);
    while (before != slot && list_entry(before, struct spoke, link)->order > t->order)
        before = before->prev;
    list_prepend(before, &t->link);
}

static double wheel(long n)
{
    struct list *slots = calloc(SLOTS, sizeof *slots);
    struct spoke *all = calloc((size_t)n, sizeof *all);
    for (int i = 0; i < SLOTS; i++)
        list_init(&slots[i]);
    for (long i = 0; i < n; i++) {
        list_init(&all[i].link);
        all[i].order = (uint64_t)i;
        wheel_set(slots, &all[i], 1000 + i % 1000);
    }
    long due = 0;
    double start = now();
    for (msec t = 1000; due < n; t++) {
        list_each (l, &slots[t % SLOTS]) {
            struct spoke *s = list_entry(l, struct spoke, link);
            if (s->at != t)
                continue;
            wheel_set(slots, s, t + 1000);
            due++;
        }
    }
    double ns = (now() - start) * 1e9 / (double)n;
    free(all);
    free(slots);
    return ns;
}

/* ---- raises through a graph ---- */

enum { NODES = 10000 };

/* A graph of its own in a detector that others may be in, too. */
struct web {
    struct led *led;
    struct led_event *a[NODES + 1];
    long raised;
};

static void web_make(struct web *w, struct led *led)
{
    struct led_event *e;
    w->led = led;
    w->raised = 0;
    for (int i = 0; i <= NODES; i++)
        w->a[i] = led_primitive(led, NULL);
    for (int i = 0; i < NODES; i++) {
        enum err err = i % 2 ? led_and(led, w->a[i], w->a[i + 1], NULL, &e)
                             : led_seq(led, w->a[i], w->a[i + 1], NULL, &e);
        if (err)
            abort();
        on(led, e, LED_RECENT);
    }
}

static double raise_ns(struct web *w, long raises)
{
    double start = now();
    for (long end = w->raised + raises; w->raised < end; w->raised++) {
        led_advance(w->led, w->raised / 10, w->raised / 10);
        (void)led_raise(w->led, w->a[w->raised * 7919 % (NODES + 1)], 0, NULL);
    }
    return (now() - start) * 1e9 / (double)raises;
}

/* Both in short turns, for others use the machine too, and what it can do changes from second
 * to second.  The rate is the best turn's, the ratio the middle one of the turns'. */
static void raises(long n, double lookup, double timer)
{
    enum { TURNS = 31 };
    static struct web alone, among;
    double best = 1e9, ratios[TURNS];
    web_make(&alone, led_new(0, 0));
    struct led *crowd = led_new(0, 0);
    for (long i = 0; i < n; i++) {
        struct led_event *e;
        if (led_plus(crowd, led_primitive(crowd, NULL), 1 + i, NULL, &e))
            abort();
        on(crowd, e, LED_RECENT);
    }
    web_make(&among, crowd);
    for (int i = 0; i < TURNS; i++) {
        double ns = raise_ns(&alone, n / 10);
        ratios[i] = raise_ns(&among, n / 10) / ns;
        best = ns < best ? ns : best;
    }
    led_free(alone.led);
    led_free(crowd);
    report_limit("raises through 10000 AND/SEQ nodes, recent", 1e3 / best, "M/s", 2, false);
    report("  one raise / (one look-up + one timer)", best / (lookup + timer), "times");
    report_limit("a raise among a million unrelated events / alone", middle(ratios, TURNS),
            "times", 1.5, true);
}

/* ---- a million series ---- */

static void series_bytes(long n)
{
    struct led *led = led_new(0, 0);
    struct led_event *a = led_primitive(led, NULL), *z = led_primitive(led, NULL), *p;
    if (led_periodic(led, a, 1000, z, NULL, &p))
        abort();
    on(led, p, LED_CONTINUOUS);
    size_t before = bytes(led);
    for (long i = 0; i < n; i++)
        (void)led_raise(led, a, 0, NULL);
    report_limit("a live series of P", (double)(bytes(led) - before) / (double)n, "bytes", 160,
            true);
    led_free(led);
}

struct stream {
    struct led_event *ds, *de, *p;
    struct led_rule *rule;
};

/* What the process has in memory, as the system sees it. */
static size_t resident(void)
{
    long all, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Bytes a piece since `*before`, which becomes now. */
static double more_bytes(const struct led *led, size_t *before, long n)
{
    size_t now_held = bytes(led), since = now_held - *before;
    *before = now_held;
    return (double)since / (double)n;
}

static void streams_made(struct led *led, struct stream *all, long n)
{
    size_t held = bytes(led), seen = resident();
    for (long i = 0; i < n; i++) {
        all[i].ds = led_primitive(led, NULL);
        all[i].de = led_primitive(led, NULL);
    }
    report("a primitive event", more_bytes(led, &held, n) / 2, "bytes");
    for (long i = 0; i < n; i++)
        if (led_periodic(led, all[i].ds, 1000 + i % 1000, all[i].de, NULL, &all[i].p))
            abort();
    double expression = more_bytes(led, &held, n);
    report("the expression P(DS, T, DE)", expression, "bytes");
    for (long i = 0; i < n; i++)
        all[i].rule = on(led, all[i].p, LED_RECENT);
    double node_and_rule = more_bytes(led, &held, n);
    double start = now();
    for (long i = 0; i < n; i++)
        if (led_resume_periodic(led, all[i].p, LED_RECENT, 0, MSEC_NEVER, NULL))
            abort();
    report_limit("all their series resumed", now() - start, "s", 2, true);
    double series = more_bytes(led, &held, n);
    double whole = (double)bytes(led) / (double)n,
           rss = (double)(resident() - seen) / (double)n;

    struct led_rule **more = calloc((size_t)n, sizeof *more);
    for (long i = 0; i < n; i++)
        more[i] = on(led, all[i].p, LED_RECENT);
    double rule = more_bytes(led, &held, n);
    for (long i = 0; i < n; i++)
        led_rule_delete(led, more[i]);
    free(more);
    report("a rule", rule, "bytes");
    double at_work = node_and_rule - rule + series;
    report("P at work: node, live series and timer", at_work, "bytes");
    report_limit("a live P(DS, T, DE): expression, node, series, timer", expression + at_work,
            "bytes", 160, true);
    report_limit("  the same with DS and DE and a rule of its own", whole, "bytes", 300, true);
    report("  that as the system sees it", rss, "bytes");
}

static void streams(long n, double timer)
{
    struct led *led = led_new(0, 0);
    struct stream *all = calloc((size_t)n, sizeof *all);
    memset(all, 0, (size_t)n * sizeof *all); /* touched, so that it does not count below */
    double start = now();
    streams_made(led, all, n);
    report("  made, measured and resumed", (now() - start) * 1e9 / (double)n, "ns");

    fired = 0;
    start = now();
    led_advance(led, 2000, 2000);
    double ns = (now() - start) * 1e9 / (double)fired;
    report("a tick with its rule", ns, "ns");
    report("  one tick / one timer", ns / timer, "times");

    start = now();
    for (long i = 0; i < n; i++) {
        led_rule_delete(led, all[i].rule);
        led_event_drop(led, all[i].p);
        led_event_drop(led, all[i].ds);
        led_event_drop(led, all[i].de);
    }
    report("P(DS, T, DE) with all that belongs to it, deleted",
            (now() - start) * 1e9 / (double)n, "ns");
    free(all);
    led_free(led);
}

/* The same if all of them have the same DS and DE. */
static void sharing(long n)
{
    struct led *led = led_new(0, 0);
    struct led_event *ds = led_primitive(led, NULL), *de = led_primitive(led, NULL), *p;
    struct led_rule **more = calloc((size_t)n, sizeof *more);
    size_t held = bytes(led);
    for (long i = 0; i < n; i++) {
        if (led_periodic(led, ds, 1000 + i, de, NULL, &p))
            abort();
        more[i] = on(led, p, LED_RECENT);
    }
    double start = now();
    (void)led_raise(led, ds, 0, NULL);
    double ns = (now() - start) * 1e9 / (double)n, live = more_bytes(led, &held, n);
    for (long i = 0; i < n; i++)
        on(led, led_rule_event(more[i]), LED_RECENT);
    report("a live P that shares DS and DE with all others", live - more_bytes(led, &held, n),
            "bytes");
    report("  one raise of DS, for each of them", ns, "ns");
    free(more);
    led_free(led);
}

/* What waits for an instant, and nothing else. */
static void instants(long n)
{
    struct led *led = led_new(0, 0);
    size_t held = bytes(led);
    for (long i = 0; i < n; i++) {
        struct led_event *e;
        if (led_absolute(led, 1000 + i, NULL, &e))
            abort();
        on(led, e, LED_CHRONICLE);
        led_event_drop(led, e);
    }
    report("an absolute event, pending, with its rule", more_bytes(led, &held, n), "bytes");
    led_free(led);
}

/* ---- snapshots ---- */

static bool bind(void *ctx, struct led_rule *r, struct led_rule_spec *spec)
{
    (void)ctx;
    (void)r;
    spec->action = fire;
    return true;
}

static void snapshot(struct led *led, const char *what, long n)
{
    struct buf out;
    buf_init(&out, (size_t)4 << 30);
    double start = now();
    if (led_save(led, &out, NULL))
        abort();
    led_free(led);
    printf("%s: %ld in a snapshot\n", what, n);
    report("  saved", now() - start, "s");
    report("  each", (double)out.len / (double)n, "bytes");
    start = now();
    if (led_restore(out.data, out.len, bind, NULL, NULL, &led))
        abort();
    report_limit("  restored", now() - start, "s", 2, true);
    led_free(led);
    buf_done(&out);
}

static void snapshots(long n)
{
    struct led *led = led_new(0, 0);
    struct led_event *a = led_primitive(led, "A"), *z = led_primitive(led, "Z"), *p;
    if (led_periodic(led, a, 1000, z, NULL, &p))
        abort();
    on(led, p, LED_CONTINUOUS);
    for (long i = 0; i < n; i++)
        (void)led_raise(led, a, 0, NULL);
    snapshot(led, "series of one P", n);

    led = led_new(0, 0);
    for (long i = 0; i < n; i++) {
        struct led_event *ds = led_primitive(led, NULL);
        if (led_periodic(led, ds, 1000 + i, led_primitive(led, NULL), NULL, &p))
            abort();
        on(led, p, LED_RECENT);
        (void)led_raise(led, ds, 0, NULL);
    }
    snapshot(led, "P(DS, T, DE) with everything", n);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000000;
    if (n < 1000) {
        fprintf(stderr, "usage: bench_led [how many, at least 1000]\n");
        return 2;
    }
    double lookup, timer;
    baseline(n, &lookup, &timer);
    report("one look-up in a hash of that many", lookup, "ns");
    report("one timer due and set again, in the heap", timer, "ns");
    report("the same in a wheel, at its best", wheel(n), "ns");
    raises(n, lookup, timer);
    series_bytes(n);
    streams(n, timer);
    sharing(n);
    instants(n);
    snapshots(n);
    return over_limit;
}
