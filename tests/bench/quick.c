/* The ratios that scripts/test holds against tests/bench/recorded.
 *
 *     quick SECONDS [NAME…]
 *
 * Prints lines "name ours bare": the CPU time that a part of ours took, and that of a bare
 * loop which does not use our code, in microseconds.  For a busy machine: the two in turns for
 * so many seconds of CPU, the best of each, and both as long as each other, so that a neighbour
 * who leaves a gap for the one leaves it for the other too.  What waits for a disk, a database
 * or a network is not here; its cost is too much the machine's.
 */
#include "base/arena.h"
#include "grammar/grammar.h"
#include "led/led.h"
#include "tests/bench/bare.h"
#include "tests/bench/graph.h"
#include "tests/page/doc_page.h"
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTIONS = 50, STATEMENTS = 300, TIMERS = 20000, SENTINELS = 3000 };

static volatile uint64_t sink; /* so that nothing is optimised away */

/* ---- the bare loops ------------------------------------------------------------------- */

static struct buf old_page, new_page, script_page;

static void bare_page(void)
{
    sink += bare_walk(new_page.data, new_page.len);
}

static struct buf statements;

/* Words of the definitions, each copied to memory of its own: what any reader must do. */
static void bare_words(void)
{
    const char *p = statements.data;
    char *words[64];
    size_t n = 0;
    while (*(p += strspn(p, " \n;,"))) {
        size_t len = strcspn(p, " \n;,");
        if (n == countof(words))
            while (n)
                free(words[--n]);
        words[n++] = strndup(p, len);
        p += len;
    }
    while (n)
        free(words[--n]);
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* Due times put in order by the C library's sort: the least that a clockwork has to know. */
static void bare_timers(void)
{
    static int64_t due[TIMERS];
    for (int i = 0; i < TIMERS; i++)
        due[i] = (int64_t)i * 7919 % TIMERS;
    qsort(due, TIMERS, sizeof(*due), by_time);
    sink += (uint64_t)due[TIMERS / 2];
}

/* Numbers put into the C library's tree, which takes a block of memory for each. */
static void bare_tree(void)
{
    static int64_t numbers[SENTINELS];
    void *root = NULL;
    for (int i = 0; i < SENTINELS; i++) {
        numbers[i] = (int64_t)i * 7919 % SENTINELS;
        tsearch(&numbers[i], &root, by_time);
    }
    for (int i = 0; i < SENTINELS; i++)
        sink += tdelete(&numbers[i], &root, by_time) != NULL;
}

/* ---- ours ----------------------------------------------------------------------------- */

static struct buf old_digest, new_digest, script_digest;
static struct cdg *every_type, *any_change;

static void our_digest(void)
{
    BUF(out, PAGE_DIGEST_MAX);
    graph_digest(&new_page, &out);
    sink += out.len;
}

static void compare(struct cdg *g, const struct buf *old, const struct buf *new_)
{
    size_t told;
    sink += graph_answer(g, 1, old, new_, &told);
}

static void our_compare(void)
{
    compare(every_type, &old_digest, &new_digest);
}

/* From the new body to the verdict on `any change`, the old digest being at hand. */
static void our_changed_page(void)
{
    BUF(out, PAGE_DIGEST_MAX);
    graph_digest(&new_page, &out);
    compare(any_change, &old_digest, &out);
}

static void our_quiet_compare(void)
{
    for (int i = 0; i < 5; i++)
        compare(every_type, &old_digest, &script_digest);
}

static struct cdg_expr question(int kind)
{
    static const char *const words[] = {"sentinel", "price", "nosuchword", "page version"};
    struct cdg_expr e = {.op = CDG_LEAF, .leaf = {.kind = kind}};
    const char *name = cdg_kind_get(kind)->name;
    if (strcmp(name, "keywords") == 0) {
        e.leaf.words = words;
        e.leaf.nwords = countof(words);
    } else if (strcmp(name, "regexp") == 0) {
        e.leaf.text = "Section \\d+";
        e.leaf.on_text = true;
    } else if (strcmp(name, "element") == 0) {
        e.leaf.text = "li";
        e.leaf.status = CDG_NEW;
    } else if (strcmp(name, "phrase") == 0) {
        e.leaf.text = "Section 3";
    }
    return e;
}

static void our_joins(void)
{
    SCRATCH struct arena *life = arena_new(NULL, "bench");
    struct cdg *g = cdg_new(life);
    struct cdg_expr e = question(cdg_kind_find("links"));
    for (int i = 0; i < SENTINELS; i++)
        graph_join(g, i / 10 + 1, i + 1, &e);
}

static void our_definitions(void)
{
    SCRATCH struct arena *life = arena_new(NULL, "bench");
    struct grammar_script *s;
    struct grammar_world world = {.min_interval = MSEC_PER_MINUTE, .now = 1794830400000};
    CHECK(grammar_parse(life, "bench", statements.data, statements.len, &s) == OK);
    CHECK(grammar_check(s, &world) == OK);
    sink += s->n_statements;
}

static void fire(void *arg, const struct led_occurrence *o)
{
    (void)arg;
    sink += o->end >= 0;
}

/* As many delays as the bare loop has timers, and each tells somebody. */
static void our_delays(void)
{
    struct led *led = led_new(0, 0);
    struct led_rule_spec spec = {.action = fire,
            .context = LED_RECENT,
            .mode = LED_PREVIOUS,
            .priority = LED_PRIORITY};
    struct led_event *begin = led_primitive(led, NULL), *e;
    struct led_rule *r;
    for (int i = 0; i < TIMERS / 10; i++) {
        CHECK(led_plus(led, begin, 1 + i * 7919 % TIMERS, NULL, &e) == OK);
        CHECK(led_rule_new(led, e, &spec, NULL, &r) == OK);
    }
    for (int i = 0; i < 10; i++) {
        CHECK(led_raise(led, begin, 0, NULL) == OK);
        led_advance(led, (i + 1) * (TIMERS + 10), (i + 1) * (TIMERS + 10));
    }
    led_free(led);
}

/* ---- the table ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    void (*sides[2])(void); /* ours, bare */
} rows[] = {
        {"page-digest/sax-walk", {our_digest, bare_page}},
        {"changed-page/sax-walk", {our_changed_page, bare_page}},
        {"compare-all-types/sax-walk", {our_compare, bare_page}},
        {"compare-nothing-seen/sax-walk", {our_quiet_compare, bare_page}},
        {"joins/tree", {our_joins, bare_tree}},
        {"definitions/words", {our_definitions, bare_words}},
        {"delays/sorted-times", {our_delays, bare_timers}},
};

static double took(void (*run)(void), unsigned times)
{
    double from = cpu_seconds();
    for (unsigned i = 0; i < times; i++)
        run();
    return (cpu_seconds() - from) / times;
}

static unsigned times_to_last(double one, double other)
{
    return other > one ? (unsigned)(other / one + 0.5) : 1;
}

static void measure(const char *name, void (*const sides[2])(void), double seconds)
{
    double best[2], begun = cpu_seconds();
    unsigned times[2];
    for (int side = 0; side < 2; side++) {
        took(sides[side], 1); /* so that everything is warm */
        best[side] = took(sides[side], 1);
    }
    times[0] = times_to_last(best[0], best[1]);
    times[1] = times_to_last(best[1], best[0]);
    while (cpu_seconds() - begun < seconds)
        for (int side = 0; side < 2; side++) {
            double now = took(sides[side], times[side]);
            best[side] = now < best[side] ? now : best[side];
        }
    printf("%s %.3f %.3f\n", name, best[0] * 1e6, best[1] * 1e6);
    fflush(stdout);
}

static void prepare(void)
{
    buf_init(&old_page, 1 << 24);
    buf_init(&new_page, 1 << 24);
    buf_init(&script_page, 1 << 24);
    doc_page(&old_page, SECTIONS, (struct doc_edits){.script = 1});
    doc_page(&new_page, SECTIONS, (struct doc_edits){.script = 2, .every = 125});
    doc_page(&script_page, SECTIONS, (struct doc_edits){.script = 2});
    buf_init(&old_digest, PAGE_DIGEST_MAX);
    buf_init(&new_digest, PAGE_DIGEST_MAX);
    buf_init(&script_digest, PAGE_DIGEST_MAX);
    graph_digest(&old_page, &old_digest);
    graph_digest(&new_page, &new_digest);
    graph_digest(&script_page, &script_digest);
    every_type = cdg_new(arena_new(NULL, "quick"));
    for (int kind = 0; cdg_kind_get(kind); kind++) {
        struct cdg_expr e = question(kind);
        graph_join(every_type, 1, kind + 1, &e);
    }
    any_change = cdg_new(arena_new(NULL, "quick"));
    struct cdg_expr any = question(cdg_kind_find("any change"));
    graph_join(any_change, 1, 1, &any);
    buf_init(&statements, 1 << 24);
    for (int i = 0; i < STATEMENTS; i++)
        buf_printf(&statements,
                "CREATE SENTINEL b%d USING https://news.example.org/p/%d MONITOR all links AND "
                "all images FETCH every 6 hours FROM 12/05/26 TO 03/31/27 NOTIFY BY email "
                "ann@example.org EVERY 2 days COMPARE pairwise;\n",
                i, i);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0;
    if (seconds <= 0) {
        fprintf(stderr, "usage: quick SECONDS [NAME...]\n");
        return 1;
    }
    page_start();
    prepare();
    for (size_t i = 0; i < countof(rows); i++) {
        bool wanted = argc < 3;
        for (int k = 2; k < argc; k++)
            wanted |= strcmp(argv[k], rows[i].name) == 0;
        if (wanted)
            measure(rows[i].name, rows[i].sides, seconds);
    }
    return 0;
}
