/* bench grammar: how fast definitions are parsed and checked, and what they weigh.
 *
 *     bench_grammar [statements]
 *
 * The median of five runs, by the time of the processor, so that a busy machine does not matter
 * much.  Compare numbers of one machine only.
 */
#include "grammar/grammar.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { RUNS = 5 };

static const struct {
    const char *name, *format;
} kinds[] = {
        {"reference",
                "CREATE SENTINEL b%07u USING https://news.example.org/p/%u MONITOR all links "
                "AND "
                "all images FETCH every 6 hours FROM 12/05/26 TO 03/31/27 NOTIFY BY email "
                "ann@example.org EVERY 2 days COMPARE pairwise;\n"},
        {"rich", "CREATE SENTINEL b%07u USING https://a.example.org/%u AS a, "
                 "https://b.example.org AS b "
                 "MONITOR (a.keywords {final, 'sold out'} OR a.phrase 'tickets for the final "
                 "go on "
                 "sale') AND NOT b.images FETCH on change FROM 2026-12-01T08:00:00+01:00 TO "
                 "2026-12-31 NOTIFY BY webhook https://hooks.example.org/x, dashboard WITHIN 1 "
                 "hour "
                 "WITH (header 'Accept: text/html', timeout = 20 seconds);\n"},
        {"chain", "CREATE SENTINEL b%07u USING https://x.org/%u MONITOR links FROM end(s1) + 1 "
                  "day;\n"},
        {"wrong", "CREATE SENTINEL b%07u USING https://x.org/%u MONITOR colours FETCH every 1 "
                  "month;\n"},
};

static bool find_sentinel(
        void *arg, struct arena *life, const char *name, struct grammar_known *k)
{
    (void)arg;
    (void)life;
    k->name = "s1";
    return grammar_name_equal(name, "s1");
}

static int compare(const void *a, const void *b)
{
    msec x = *(const msec *)a, y = *(const msec *)b;
    return x < y ? -1 : x > y;
}

static msec processor_time(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) < 0)
        abort();
    return t.tv_sec * MSEC_PER_SECOND + t.tv_nsec / 1000000;
}

static void measure(const char *name, const struct buf *text, unsigned n)
{
    struct grammar_world world = {
            .find_sentinel = find_sentinel, .min_interval = MSEC_PER_MINUTE};
    msec parse[RUNS], all[RUNS];
    size_t bytes = 0, statements = 0, errors = 0;
    if (!time_parse_iso("2026-11-16T12:00:00Z", &world.now))
        abort();
    for (int i = 0; i < RUNS; i++) {
        SCRATCH struct arena *life = arena_new(NULL, "bench");
        struct grammar_script *s;
        msec begin = processor_time();
        enum err parsed = grammar_parse(life, "bench", text->data, text->len, &s);
        parse[i] = processor_time() - begin;
        enum err checked = grammar_check(s, &world);
        all[i] = processor_time() - begin;
        bytes = arena_bytes(life);
        statements = s->n_statements;
        errors = parsed != OK || checked != OK ? s->n_errors : 0;
    }
    qsort(parse, RUNS, sizeof *parse, compare);
    qsort(all, RUNS, sizeof *all, compare);
    msec median = all[RUNS / 2] ? all[RUNS / 2] : 1,
         parsing = parse[RUNS / 2] ? parse[RUNS / 2] : 1;

    printf("%-10s %9zu %9zu %11zu %14zu %11lld %11lld\n", name, statements, errors,
            text->len / n, bytes / n, (long long)n * MSEC_PER_SECOND / parsing,
            (long long)n * MSEC_PER_SECOND / median);
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100000;
    printf("%-10s %9s %9s %11s %14s %11s %11s\n", "", "", "", "bytes of", "bytes of", "parsed",
            "and checked");
    printf("%-10s %9s %9s %11s %14s %11s %11s\n", "statements", "number", "errors", "text each",
            "memory each", "a second", "a second");
    for (size_t k = 0; n > 0 && k < countof(kinds); k++) {
        BUF(text, (size_t)4 << 30);
        for (unsigned i = 0; i < n; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            if (!buf_printf(&text, kinds[k].format, i, i))
                return 2;
#pragma GCC diagnostic pop
        }
        measure(kinds[k].name, &text, n);
    }
    return 0;
}
