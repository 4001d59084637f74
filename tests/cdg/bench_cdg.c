/* How many sentinels a second are answered, and what grouping brings: WebCQ's experiment.
 *
 * 5,000 sentinels on pages of 30 to 60 KB with about 1,700 nodes, in groups of 1, 5, 10 and
 * 100, of one size or spread by Zipf's law.  A page has a new version; it is parsed, compared
 * with the old one, and everybody who watches it gets a verdict.  WebCQ reports 80, 351, 708
 * and 3,698 sentinels a second on the machines of its time; what can be compared is how much
 * of the possible 5, 10 and 100 times grouping brings.
 *
 * Then a million sentinels on a hundred thousand pages: bytes for each, time to install, time
 * for a version; and a hundred thousand on one page, asking the same or each for words of its
 * own.
 *
 *     bench_cdg          all of it
 *     bench_cdg small    a tenth of the sentinels
 */
#include "base/time.h"
#include "cdg/cdg.h"
#include "tests/bench/graph.h"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- pages ---------------------------------------------------------------------------- */

enum { PAGES = 20, SECTIONS = 45 };

enum edit { EDIT_NONE, EDIT_TEXT, EDIT_WORDS, EDIT_LINK, EDIT_TABLE };

struct body {
    struct buf html, digest;
};

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static void put_words(struct buf *out, unsigned *state, unsigned n)
{
    static const char *const words[] = {"change", "of", "the", "page", "version", "café", "and",
            "sentinel", "watches", "monitor", "10.50", "price", "some", "text", "whatever"};
    for (unsigned i = 0; i < n; i++)
        buf_printf(out, "%s%u ", words[next_random(state) % countof(words)],
                next_random(state) % 50);
}

/* About 38 nodes a section. */
static void put_section(struct buf *out, unsigned *state, unsigned number, enum edit edit)
{
    bool here = number == SECTIONS / 2;
    buf_printf(out, "<div class=\"section\" id=\"s%u\"><h2>Section %u</h2><p>", number, number);
    put_words(out, state, 30 + next_random(state) % 20);
    if (here && edit == EDIT_TEXT)
        buf_puts(out, "something new");
    if (here && edit == EDIT_WORDS)
        buf_puts(out, "word17 word18 word19");
    buf_puts(out, "</p><ul>");
    for (unsigned k = 0; k < 5; k++) {
        buf_printf(out, "<li><a href=\"/doc/%u/%u%s.html\">", number, k,
                here && edit == EDIT_LINK && k == 2 ? "new" : "");
        put_words(out, state, 3);
        buf_puts(out, "</a></li>");
    }
    buf_puts(out, "</ul><table>");
    for (unsigned k = 0; k < 2; k++)
        buf_printf(out, "<tr><td>%u</td><td>%u</td><td>%s</td></tr>", number, k,
                number == 0 && k == 1 && edit == EDIT_TABLE ? "new" : "old");
    buf_puts(out, "</table></div>\n");
}

static void body_make(struct body *b, unsigned number, enum edit edit)
{
    unsigned state = number * 7919 + 1;
    buf_init(&b->html, 1 << 20);
    buf_init(&b->digest, PAGE_DIGEST_MAX);
    buf_puts(&b->html, "<!DOCTYPE html><html><head><meta charset=utf-8><title>A page</title>"
                       "</head><body>\n");
    for (unsigned i = 0; i < SECTIONS; i++)
        put_section(&b->html, &state, i, edit);
    buf_puts(&b->html, "</body></html>\n");
    graph_digest(&b->html, &b->digest);
}

static void body_done(struct body *b)
{
    buf_done(&b->html);
    buf_done(&b->digest);
}

/* ---- the experiment ------------------------------------------------------------------- */

struct question_row {
    const char *name, *kind;
    enum edit edit;
};

static const struct question_row questions[] = {
        {"any change", "any change", EDIT_TEXT}, {"links", "links", EDIT_LINK},
        {"table", "table", EDIT_TABLE},
        {"digest short cut", "links", EDIT_TEXT}, /* another array differs, not this one */
};

static struct cdg_expr plain(const char *kind)
{
    struct cdg_expr e = {.op = CDG_LEAF, .leaf.kind = cdg_kind_find(kind)};
    return e;
}

static struct cdg *graph_make(struct arena *life, const struct cdg_expr *e, size_t n,
        size_t group, bool zipf, size_t *ret_pages)
{
    struct cdg *g = cdg_new(life);
    size_t pages = n / group, given = 0;
    for (size_t i = 0; i < pages; i++) {
        size_t share = zipf ? zipf_share(i, pages, n) : group;
        if (i + 1 == pages && given < n)
            share = n - given;
        for (size_t k = 0; k < share && given < n; k++)
            graph_join(g, (int64_t)i + 1, (int64_t)++given, e);
    }
    *ret_pages = pages;
    return g;
}

/* One page's new version: read back, parsed, compared, told. */
static size_t process(
        struct cdg *g, int64_t page, const struct body *old, const struct body *new_)
{
    struct cdg_plan *plan = cdg_plan_take(g, page, 2);
    if (!plan)
        return 0;
    SCRATCH struct arena *life = arena_new(NULL, "version");
    BUF(digest, PAGE_DIGEST_MAX);
    struct cdg_version before, after;
    const struct cdg_verdict *verdicts;
    graph_digest(&new_->html, &digest);
    graph_open(life, &before, 1, &old->digest);
    graph_open(life, &after, 2, &digest);
    size_t n = cdg_plan_run(plan, &after, graph_give, &before, life, &verdicts), changed = 0;
    for (size_t i = 0; i < n; i++)
        changed += verdicts[i].finding->result == CDG_C;
    cdg_plan_give_back(g, plan);
    return changed;
}

enum { GROUPS = 4, ROUNDS = 2, ENOUGH = 150, BESIDE = 4 };
static const size_t groups[GROUPS] = {1, 5, 10, 100};

struct rate {
    double a_second; /* sentinels */
    double speed_up; /* over sentinels that each have a page of their own */
};

/* The pages of one graph; every few of them, so that whoever else is busy on this machine slows
 * both alike, a page that one sentinel watches alone. */
static struct rate measure(const struct question_row *q, size_t n, size_t group, bool zipf,
        struct body *olds, struct body *news)
{
    SCRATCH struct arena *life = arena_new(NULL, "bench");
    struct cdg_expr e = plain(q->kind);
    size_t pages, single, changed = 0, told = n, nalone = 0;
    double took = 0, alone = 0;
    struct cdg *g = graph_make(life, &e, n, group, zipf, &pages);
    struct cdg *one = graph_make(life, &e, ENOUGH, 1, false, &single);
    if (!zipf && pages > ENOUGH) { /* all pages are alike: a part of them will do */
        pages = ENOUGH;
        told = pages * group;
    }
    for (size_t i = 0; i < pages; i++) {
        double begun = cpu_seconds();
        changed += process(g, (int64_t)i + 1, &olds[i % PAGES], &news[i % PAGES]);
        took += cpu_seconds() - begun;
        if (i % BESIDE)
            continue;
        begun = cpu_seconds();
        size_t k = nalone++ % single;
        process(one, (int64_t)k + 1, &olds[i % PAGES], &news[i % PAGES]);
        alone += cpu_seconds() - begun;
    }
    CHECK(changed == (strcmp(q->name, "digest short cut") ? told : 0));
    double each = took / (double)told;
    return (struct rate){1 / each, alone / (double)nalone / each};
}

/* The best of rounds in turn. */
static void measure_all(const struct question_row *q, size_t n, struct body *olds,
        struct body *news, struct rate rates[2][GROUPS])
{
    for (int round = 0; round < ROUNDS; round++)
        for (int zipf = 0; zipf < 2; zipf++)
            for (size_t i = 0; i < GROUPS; i++) {
                struct rate now = measure(q, n, groups[i], zipf, olds, news);
                if (round == 0 || now.a_second > rates[zipf][i].a_second)
                    rates[zipf][i] = now;
            }
}

static void experiment(size_t n)
{
    static const double webcq[] = {80, 351, 708, 3698}, least[] = {1, 4.8, 9.5, 80};
    struct body olds[PAGES], news[PAGES];
    printf("sentinels a second, %zu sentinels; WebCQ's machine of 2000 in the first row\n", n);
    printf("%-18s %-8s %10s %10s %10s %10s   speed-up of 5, 10, 100\n", "", "", "1", "5", "10",
            "100");
    printf("%-18s %-8s %10.0f %10.0f %10.0f %10.0f   %.1f, %.1f, %.0f\n", "WebCQ", "uniform",
            webcq[0], webcq[1], webcq[2], webcq[3], webcq[1] / webcq[0], webcq[2] / webcq[0],
            webcq[3] / webcq[0]);
    for (size_t q = 0; q < countof(questions); q++) {
        size_t bytes = 0, nodes = 0;
        for (unsigned i = 0; i < PAGES; i++) {
            SCRATCH struct arena *life = arena_new(NULL, "count");
            struct cdg_version v;
            body_make(&olds[i], i, EDIT_NONE);
            body_make(&news[i], i, questions[q].edit);
            graph_open(life, &v, 1, &olds[i].digest);
            bytes += olds[i].html.len;
            nodes += v.digest->nodes;
        }
        if (q == 0)
            printf("(pages of %zu KB, %zu nodes)\n", bytes / PAGES / 1000, nodes / PAGES);
        struct rate rates[2][GROUPS];
        measure_all(&questions[q], n, olds, news, rates);
        for (int zipf = 0; zipf < 2; zipf++) {
            const struct rate *rate = rates[zipf];
            bool low = false;
            printf("%-18s %-8s", questions[q].name, zipf ? "Zipf" : "uniform");
            for (size_t i = 0; i < countof(groups); i++) {
                printf(" %10.0f", rate[i].a_second);
                low |= rate[i].speed_up < least[i] && i > 0;
            }
            printf("   %.2f, %.2f, %.1f%s\n", rate[1].speed_up, rate[2].speed_up,
                    rate[3].speed_up, low ? "  below 4.8, 9.5, 80" : "");
            fflush(stdout);
        }
        for (unsigned i = 0; i < PAGES; i++) {
            body_done(&olds[i]);
            body_done(&news[i]);
        }
    }
}

/* ---- very many ------------------------------------------------------------------------ */

static size_t heap_bytes(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

enum asking { SAME_QUESTIONS, OWN_KEYWORDS, OWN_FORMS };

/* Another set for each: a word that many look for, and one of its own, plain or as one form. */
static struct cdg_expr *keywords(struct arena *life, size_t number, bool forms)
{
    static const char *const written[] = {"word%zu", "word%zu*", "*word%zu", "new word%zu"};
    struct cdg_expr *e = arena_new_of(life, struct cdg_expr);
    const char **words = arena_array_of(life, 2, const char *);
    words[0] = arena_printf(life, "price%zu", number % 50);
    words[1] = arena_printf(life, written[forms ? number % countof(written) : 0], number);
    *e = plain("keywords");
    e->leaf.words = words;
    e->leaf.nwords = 2;
    return e;
}

static void many(size_t sentinels, size_t pages, enum asking asking)
{
    static const char *const how[] = {"", ", own keywords", ", own keywords of all forms"};
    SCRATCH struct arena *life = arena_new(NULL, "many");
    static const char *const kinds[] = {"any change", "links", "images", "content"};
    struct body old, new_;
    size_t before = heap_bytes(), told = 0;
    double begun = cpu_seconds();
    struct cdg *g = cdg_new(life);
    for (size_t i = 0; i < sentinels; i++) {
        SCRATCH struct arena *scratch = arena_new(NULL, "expr");
        struct cdg_expr e = plain(kinds[i % countof(kinds)]);
        graph_join(g, (int64_t)(i % pages) + 1, (int64_t)i + 1,
                asking ? keywords(scratch, i, asking == OWN_FORMS) : &e);
    }
    double installed = cpu_seconds() - begun;
    double each = (double)(heap_bytes() - before) / (double)sentinels;
    body_make(&old, 1, EDIT_NONE);
    body_make(&new_, 1, EDIT_WORDS);
    size_t versions = pages < 200 ? 20 : 200;
    begun = cpu_seconds();
    for (size_t i = 0; i < versions; i++)
        told = process(g, (int64_t)(i % pages) + 1, &old, &new_);
    double took = (cpu_seconds() - begun) / (double)versions;
    printf("%zu sentinels, %zu page%s%s: %.0f bytes each, installed in %.2f s (%.2f us each), "
           "%.2f ms a version (%zu changed)\n",
            sentinels, pages, pages == 1 ? "" : "s", how[asking], each, installed,
            installed / (double)sentinels * 1e6, took * 1e3, told);
    fflush(stdout);
    body_done(&old);
    body_done(&new_);
}

int main(int argc, char **argv)
{
    size_t part = argc > 1 && strcmp(argv[1], "small") == 0 ? 10 : 1;
    page_start();
    experiment(5000 / part);
    printf("three words of a page change:\n");
    many(1000000 / part, 100000 / part, SAME_QUESTIONS);
    many(100000 / part, 1, SAME_QUESTIONS);
    many(100000 / part, 1, OWN_KEYWORDS);
    many(100000 / part, 1, OWN_FORMS);
    many(1, 1, OWN_KEYWORDS);
    return 0;
}
