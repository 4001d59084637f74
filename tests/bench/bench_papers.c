/* The experiments of WebCQ (figures 9 to 16) and the page digest's claims, with our parts.
 *
 *     bench_papers
 *
 * Prints lines "series x y"; papers.py draws them.  CPU seconds, the best of several rounds,
 * all in one run.  Pages are the living site's: 30 to 60 KB and some 1,700 nodes, as WebCQ's
 * were; where size matters, pages of one shape and growing length.
 */
#include "base/hash.h"
#include "tests/bench/bare.h"
#include "tests/bench/graph.h"
#include "tests/page/doc_page.h"
#include "web/living.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PAGES = 100, ROUNDS = 5, SENTINELS = 5000, BODY_MAX = 1 << 26 };

static void point(const char *series, double x, double y)
{
    printf("%s %g %.9g\n", series, x, y);
    fflush(stdout);
}

/* ---- pages ---------------------------------------------------------------------------- */

struct version {
    struct buf html, digest;
    struct hash128 signature;
    char file[64]; /* where the body also stands, for those who load it */
};

static struct version olds[PAGES], news[PAGES];
static char directory[] = "/tmp/vigil-papers-XXXXXX";

static void version_finish(struct version *v)
{
    buf_init(&v->digest, PAGE_DIGEST_MAX);
    graph_digest(&v->html, &v->digest);
    v->signature = hash128_of(v->html.data, v->html.len);
}

static void version_write(struct version *v, int page, int number)
{
    snprintf(v->file, sizeof(v->file), "%s/%d.%d", directory, page, number);
    int fd = open(v->file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, v->html.data, v->html.len) == (ssize_t)v->html.len);
    close(fd);
}

static void pages_make(void)
{
    CHECK(mkdtemp(directory));
    for (int i = 0; i < PAGES; i++) {
        struct web_living p = {.number = (uint32_t)i + 1};
        buf_init(&olds[i].html, WEB_LIVING_BYTES_MAX);
        buf_init(&news[i].html, WEB_LIVING_BYTES_MAX);
        web_living_write(&p, &olds[i].html);
        for (int kind = 0; kind < WEB_TURNS; kind++)
            p.turns[kind]++;
        web_living_write(&p, &news[i].html);
        version_finish(&olds[i]);
        version_finish(&news[i]);
        version_write(&olds[i], i, 1);
        version_write(&news[i], i, 2);
    }
}

static void pages_done(void)
{
    for (int i = 0; i < PAGES; i++) {
        unlink(olds[i].file);
        unlink(news[i].file);
    }
    rmdir(directory);
}

static void load_file(const char *path, struct buf *out)
{
    char chunk[65536];
    ssize_t n;
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0);
    buf_clear(out);
    while ((n = read(fd, chunk, sizeof(chunk))) > 0)
        buf_append(out, chunk, (size_t)n);
    close(fd);
}

/* ---- with our graph ------------------------------------------------------------------- */

static struct cdg_expr leaf(const char *kind)
{
    return (struct cdg_expr){.op = CDG_LEAF, .leaf.kind = cdg_kind_find(kind)};
}

/* As the engine does it: the new body is parsed, the old one's digest is there. */
static size_t check(
        struct cdg *g, int64_t page, const struct version *old, const struct buf *html)
{
    BUF(block, PAGE_DIGEST_MAX);
    size_t told;
    graph_digest(html, &block);
    graph_answer(g, page, &old->digest, &block, &told);
    return told;
}

/* ---- figure 9: types by size of the page ---------------------------------------------- */

static bool signature_differs(const struct version *old, const struct buf *html)
{
    return !hash128_equal(old->signature, hash128_of(html->data, html->len));
}

static void figure_9(void)
{
    static const char *const kinds[] = {"any change", "links", "table"};
    static const char *const series[] = {"fig9-any-change", "fig9-links", "fig9-table"};
    for (unsigned sections = 12; sections <= 240; sections += 38) {
        struct version old = {.html.max = BODY_MAX}, new_ = {.html.max = BODY_MAX};
        doc_page(&old.html, sections, (struct doc_edits){.script = 1});
        doc_page(&new_.html, sections, (struct doc_edits){.script = 1, .every = 400});
        version_finish(&old);
        double kb = (double)new_.html.len / 1000;
        for (size_t k = 0; k < countof(kinds); k++) {
            SCRATCH struct arena *life = arena_new(NULL, "bench");
            struct cdg *g = cdg_new(life);
            struct cdg_expr e = leaf(kinds[k]);
            graph_join(g, 1, 1, &e);
            point(series[k], kb, BEST_OF(4 * ROUNDS, check(g, 1, &old, &new_.html)));
        }
        volatile bool differs;
        point("fig9-signature", kb,
                BEST_OF(4 * ROUNDS, for (int i = 0; i < 20; i++) differs =
                                            signature_differs(&old, &new_.html)) /
                        20);
        (void)differs;
        buf_done(&old.html);
        buf_done(&old.digest);
        buf_done(&new_.html);
    }
}

/* ---- figures 10 and 11: what grouping costs ------------------------------------------- */

static void group(size_t n, size_t size)
{
    SCRATCH struct arena *life = arena_new(NULL, "bench");
    struct cdg *g = cdg_new(life);
    struct cdg_expr e = leaf("any change");
    for (size_t i = 0; i < n; i++)
        graph_join(g, (int64_t)(i / size) + 1, (int64_t)i + 1, &e);
}

static void figures_10_11(void)
{
    static const size_t sizes[] = {1, 5, 10, 100};
    BUF(body, BODY_MAX);
    char series[40];
    for (size_t k = 0; k < countof(sizes); k++)
        for (size_t n = 10000; n <= 50000; n += 10000) {
            double took = BEST_OF(ROUNDS, group(n, sizes[k]));
            snprintf(series, sizeof(series), "fig10-%zu", sizes[k]);
            point(series, (double)n, took);
            snprintf(series, sizeof(series), "fig11-%zu", sizes[k]);
            point(series, (double)n, took / (double)n);
        }
    double load =
            BEST_OF(ROUNDS, for (int i = 0; i < PAGES; i++) load_file(olds[i].file, &body)) /
            PAGES;
    volatile uint64_t sum = 0;
    double hash = BEST_OF(ROUNDS, for (int i = 0; i < PAGES; i++) sum +=
                                  hash128_of(olds[i].html.data, olds[i].html.len).lo) /
                  PAGES;
    for (double n = 10000; n <= 50000; n += 40000) {
        point("fig11-load", n, load);
        point("fig11-signature", n, hash);
    }
}

/* ---- figures 12 to 16: executing ------------------------------------------------------ */

/* n sentinels over n / size pages, evenly or by Zipf's law; returns the pages. */
static size_t graph_fill(struct cdg *g, size_t n, size_t size, bool zipf)
{
    size_t pages = n / size, given = 0;
    struct cdg_expr e = leaf("any change");
    for (size_t i = 0; i < pages; i++) {
        size_t share = zipf ? zipf_share(i, pages, n) : size;
        if (i + 1 == pages && given < n)
            share = n - given;
        for (size_t k = 0; k < share && given < n; k++)
            graph_join(g, (int64_t)i + 1, (int64_t)++given, &e);
    }
    return pages;
}

/* The new body is loaded, as if fetched; one parse, one comparison, everybody told. */
static double execute(size_t n, size_t size, bool zipf)
{
    SCRATCH struct arena *life = arena_new(NULL, "bench");
    BUF(body, BODY_MAX);
    struct cdg *g = cdg_new(life);
    size_t pages = graph_fill(g, n, size, zipf), told = 0;
    double from = cpu_seconds();
    for (size_t i = 0; i < pages; i++) {
        load_file(news[i % PAGES].file, &body);
        told += check(g, (int64_t)i + 1, &olds[i % PAGES], &body);
    }
    CHECK(told == n);
    return cpu_seconds() - from;
}

/* Each by itself, as WebCQ's first version: both bodies loaded and parsed for every sentinel.
 */
static double execute_alone(size_t n, double *ret_loading)
{
    SCRATCH struct arena *life = arena_new(NULL, "bench");
    BUF(old, BODY_MAX);
    BUF(new_, BODY_MAX);
    struct cdg *g = cdg_new(life);
    double loading = 0;
    graph_fill(g, n, 1, false);
    double from = cpu_seconds();
    for (size_t i = 0; i < n; i++) {
        BUF(before, PAGE_DIGEST_MAX);
        double began = cpu_seconds();
        load_file(olds[i % PAGES].file, &old);
        load_file(news[i % PAGES].file, &new_);
        loading += cpu_seconds() - began;
        graph_digest(&old, &before);
        struct version v = {.digest = before};
        CHECK(check(g, (int64_t)i + 1, &v, &new_) == 1);
    }
    *ret_loading = loading;
    return cpu_seconds() - from;
}

static void figures_12_to_16(void)
{
    static const size_t sizes[] = {1, 5, 10, 100};
    char series[40];
    double loading = 0;
    for (size_t n = 1000; n <= SENTINELS; n += 2000) {
        double alone = execute_alone(n, &loading);
        point("fig12-total", (double)n, alone);
        point("fig12-load", (double)n, loading);
        for (size_t k = 0; k < countof(sizes); k++) {
            double took = BEST_OF(2, execute(n, sizes[k], false));
            snprintf(series, sizeof(series), "fig14-%zu", sizes[k]);
            point(series, (double)n, took);
            snprintf(series, sizeof(series), "fig15-%zu", sizes[k]);
            point(series, (double)n, (double)n / took);
        }
        point("fig13-zipf", (double)n, BEST_OF(2, execute(n, 10, true)));
    }
}

/* ---- the page digest against a tree --------------------------------------------------- */

struct links {
    uint64_t sum; /* of all addresses, whatever their order */
    size_t n;
};

static htmlDocPtr tree_make(const struct buf *html)
{
    htmlDocPtr doc = htmlReadMemory(html->data, (int)html->len, NULL, "utf-8",
            HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET);
    CHECK(doc);
    return doc;
}

static void tree_links(xmlNode *n, struct links *l)
{
    for (; n; n = n->next) {
        if (n->type != XML_ELEMENT_NODE)
            continue;
        for (xmlAttr *a = n->properties; a; a = a->next)
            if (strcmp((const char *)a->name, "href") == 0 && a->children) {
                const char *value = (const char *)a->children->content;
                l->sum += hash128_of(value, strlen(value)).lo;
                l->n++;
            }
        tree_links(n->children, l);
    }
}

/* Both trees are walked for their links, and the sets compared by a sum: less than a report
 * needs, so the tree has it easy. */
static bool tree_differs(htmlDocPtr old, htmlDocPtr new_)
{
    struct links a = {0}, b = {0};
    tree_links(xmlDocGetRootElement(old), &a);
    tree_links(xmlDocGetRootElement(new_), &b);
    return a.sum != b.sum || a.n != b.n;
}

static struct cdg *links_graph;
static htmlDocPtr old_trees[PAGES], new_trees[PAGES];

static void digest_whole(int i)
{
    CHECK(check(links_graph, 1, &olds[i], &news[i].html) == 1);
}

static void tree_whole(int i)
{
    htmlDocPtr a = tree_make(&olds[i].html), b = tree_make(&news[i].html);
    CHECK(tree_differs(a, b));
    xmlFreeDoc(a);
    xmlFreeDoc(b);
}

static void digest_stored(int i)
{
    SCRATCH struct arena *life = arena_new(NULL, "open");
    struct cdg_version v;
    graph_open(life, &v, 1, &olds[i].digest);
}

static void tree_stored(int i)
{
    xmlFreeDoc(tree_make(&olds[i].html));
}

static void digest_compare(int i)
{
    size_t told;
    graph_answer(links_graph, 1, &olds[i].digest, &news[i].digest, &told);
    CHECK(told == 1);
}

static void tree_compare(int i)
{
    CHECK(tree_differs(old_trees[i], new_trees[i]));
}

/* In turns, so that whoever else is busy slows both alike. */
static void digest_against_tree(void)
{
    static const struct {
        const char *series;
        void (*run)(int page);
    } rows[] = {{"digest-whole", digest_whole}, {"tree-whole", tree_whole},
            {"digest-stored", digest_stored}, {"tree-stored", tree_stored},
            {"digest-compare", digest_compare}, {"tree-compare", tree_compare}};
    SCRATCH struct arena *life = arena_new(NULL, "bench");
    struct cdg_expr e = leaf("links");
    double best[countof(rows)];
    links_graph = cdg_new(life);
    graph_join(links_graph, 1, 1, &e);
    for (int i = 0; i < PAGES; i++) {
        old_trees[i] = tree_make(&olds[i].html);
        new_trees[i] = tree_make(&news[i].html);
    }
    for (int round = 0; round < 2 * ROUNDS; round++)
        for (size_t k = 0; k < countof(rows); k++) {
            double took = BEST_OF(1, for (int i = 0; i < PAGES; i++) rows[k].run(i)) / PAGES;
            best[k] = round && best[k] < took ? best[k] : took;
        }
    for (size_t k = 0; k < countof(rows); k++)
        point(rows[k].series, 0, best[k]);
    for (int i = 0; i < PAGES; i++) {
        xmlFreeDoc(old_trees[i]);
        xmlFreeDoc(new_trees[i]);
    }
}

int main(void)
{
    page_start();
    pages_make();
    figure_9();
    figures_10_11();
    figures_12_to_16();
    digest_against_tree();
    pages_done();
    return 0;
}
