/* What reading and comparing pages costs, as ratios in one run.
 *
 *     bench_page                    the table
 *     bench_page --svg FILE         the same, and a plot of time by size up to 5 MB
 *     bench_page --parse            only parses, for a profiler
 *     bench_page --compare          only opening and comparing
 *     bench_page --changed [TYPE [ROUNDS]]  only compares a changed page, for a profiler;
 *                                   TYPE "all": every type at once
 *     bench_page FILE...            pages of your own instead of made ones
 *
 * The baseline is a bare walk of libxml2's SAX parser over the same page, which keeps
 * nothing.  Made pages have the size and shape of documentation: 41 KB, some 1,800 nodes. */
#include "cdg/cdg.h"
#include "tests/bench/bare.h"
#include "tests/page/doc_page.h"
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 60, KIND_PAGE = 50 };

/* ---- pages and their digests ------------------------------------------------------------- */

struct sample {
    struct buf page, block;
    struct page_digest *d;
    struct cdg_version version;
};

static void digest(const struct buf *page, struct buf *out)
{
    struct page_source src = {page->data, page->len, "text/html", "http://x.org/"};
    CHECK(page_digest_make(&src, out, NULL) == OK);
}

static void open_block(const struct buf *block, struct arena *life, struct page_digest **ret)
{
    CHECK(page_digest_open(life, block->data, block->len, NULL, ret) == OK);
}

static void open_once(const struct buf *block)
{
    SCRATCH struct arena *life = arena_new(NULL, "bench");
    struct page_digest *d;
    open_block(block, life, &d);
}

static void sample_finish(struct sample *s, struct arena *life, int64_t number)
{
    buf_init(&s->block, PAGE_DIGEST_MAX);
    digest(&s->page, &s->block);
    open_block(&s->block, life, &s->d);
    s->version = (struct cdg_version){.number = number, .digest = s->d, .body = s->d->source};
}

static void sample_done(struct sample *s)
{
    buf_done(&s->page);
    buf_done(&s->block);
}

/* ---- comparing --------------------------------------------------------------------------- */

/* Every type at once, as sentinels of one page would ask; or only one. */
static struct cdg *ask(struct arena *life, int only, size_t *ret_asked)
{
    static const char *const keywords[] = {"sentinel", "price", "nosuchword", "page version"};
    struct cdg *g = cdg_new(life);
    const struct cdg_kind_info *info;

    *ret_asked = 0;
    for (int kind = 0; (info = cdg_kind_get(kind)); kind++) {
        struct cdg_expr e = {.op = CDG_LEAF, .leaf = {.kind = kind}};
        if (only >= 0 && kind != only)
            continue;
        if (strcmp(info->name, "keywords") == 0) {
            e.leaf.words = keywords;
            e.leaf.nwords = countof(keywords);
        } else if (strcmp(info->name, "regexp") == 0) {
            e.leaf.text = "Section \\d+";
            e.leaf.on_text = true;
        } else if (strcmp(info->name, "element") == 0) {
            e.leaf.text = "li";
            e.leaf.status = CDG_NEW;
        } else if (strcmp(info->name, "phrase") == 0) {
            e.leaf.text = "Section 3";
        }
        struct cdg_subscription s = {
                .page_id = 1, .sentinel_id = kind + 1, .expr = &e, .base_version = 1};
        CHECK(cdg_join(g, &s, NULL) == OK);
        ++*ret_asked;
    }
    return g;
}

static const struct cdg_version *give_old(int64_t number, void *arg)
{
    (void)number;
    return arg;
}

static void compare(struct cdg *g, struct cdg_version *old, const struct cdg_version *new_)
{
    SCRATCH struct arena *life = arena_new(NULL, "bench");
    const struct cdg_verdict *v;
    struct cdg_plan *p = cdg_plan_take(g, 1, 2);
    cdg_plan_run(p, new_, give_old, old, life, &v);
    cdg_plan_give_back(g, p);
}

static double keyword_seconds(struct sample *old, struct sample *new_, size_t n)
{
    SCRATCH struct arena *life = arena_new(NULL, "bench");
    const char **words = arena_array_of(life, n, const char *);
    for (size_t i = 0; i < n; i++)
        words[i] = arena_printf(life, "keyword%zu", i * 7919);
    struct cdg_expr e = {.op = CDG_LEAF,
            .leaf = {.kind = cdg_kind_find("keywords"), .words = words, .nwords = n}};
    struct cdg_subscription s = {.page_id = 1, .sentinel_id = 1, .expr = &e, .base_version = 1};
    struct cdg *g = cdg_new(life);
    CHECK(cdg_join(g, &s, NULL) == OK);
    return BEST_OF(ROUNDS, compare(g, &old->version, &new_->version));
}

static void compare_table(void)
{
    SCRATCH struct arena *life = arena_new(NULL, "bench");
    CLEANUP(sample_done) struct sample old = {.page = {.max = 1 << 26}};
    CLEANUP(sample_done) struct sample script = {.page = {.max = 1 << 26}};
    CLEANUP(sample_done) struct sample edited = {.page = {.max = 1 << 26}};
    size_t asked;
    struct cdg *all = ask(life, -1, &asked);

    doc_page(&old.page, KIND_PAGE, (struct doc_edits){.script = 1});
    doc_page(&script.page, KIND_PAGE, (struct doc_edits){.script = 2});
    doc_page(&edited.page, KIND_PAGE, (struct doc_edits){.script = 2, .every = 125});
    sample_finish(&old, life, 1);
    sample_finish(&script, life, 2);
    sample_finish(&edited, life, 2);

    double sax = 1e9, parse = 1e9;
    for (unsigned i = 0; i < ROUNDS; i++) {
        BUF(out, PAGE_DIGEST_MAX);
        double walked = BEST_OF(1, bare_walk(old.page.data, old.page.len)),
               made = BEST_OF(1, digest(&old.page, &out));
        sax = walked < sax ? walked : sax;
        parse = made < parse ? made : parse;
    }
    double opened = BEST_OF(ROUNDS, open_once(&old.block));
    double same = BEST_OF(ROUNDS, compare(all, &old.version, &script.version));
    double changed = BEST_OF(ROUNDS, compare(all, &old.version, &edited.version));
    double ten = keyword_seconds(&old, &edited, 10);
    double many = keyword_seconds(&old, &edited, 10000);

    printf("\n%-58s %8s %10s %8s\n", "", "us", "of ours", "of SAX");
#define ROW(name, seconds)                                                                     \
    printf("%-58s %8.1f %9.1f%% %7.1f%%\n", name, (seconds)*1e6, (seconds) / parse * 100,      \
            (seconds) / sax * 100)
    ROW("a bare libxml2 SAX walk", sax);
    ROW("our parse: page to digest", parse);
    ROW("opening a stored digest", opened);
    ROW("comparing, nothing relevant changed, all types", same);
    ROW("comparing, 1 % of the nodes changed, all types", changed);
    ROW("10 keywords", ten);
    ROW("10,000 keywords", many);
    for (int kind = 0; cdg_kind_get(kind); kind++) {
        size_t one;
        struct cdg *g = ask(life, kind, &one);
        double quiet = BEST_OF(ROUNDS, compare(g, &old.version, &script.version));
        ROW(cdg_kind_get(kind)->name,
                BEST_OF(ROUNDS, compare(g, &old.version, &edited.version)));
        printf("%-58s %8.1f\n", "    the same, nothing relevant changed", quiet * 1e6);
    }
    printf("%zu types; 10,000 keywords are %.2f times 10\n", asked, many / ten);
}

/* ---- by size ----------------------------------------------------------------------------- */

struct point {
    double bytes, walk, made;
};

static struct point measure(const struct buf *page, unsigned rounds)
{
    BUF(out, PAGE_DIGEST_MAX);
    struct page_digest *d;
    SCRATCH struct arena *life = arena_new(NULL, "bench");
    struct point p = {.bytes = (double)page->len, .walk = 1e9, .made = 1e9};

    for (unsigned i = 0; i < rounds; i++) { /* in turns: the machine may be busy for a while */
        double walked = BEST_OF(1, bare_walk(page->data, page->len)),
               made = BEST_OF(1, digest(page, &out));
        p.walk = walked < p.walk ? walked : p.walk;
        p.made = made < p.made ? made : p.made;
    }
    open_block(&out, life, &d);
    printf("%8zu B %7u nodes %10.0f us %10.0f us %7.2f %12.2f\n", page->len, d->nodes,
            p.walk * 1e6, p.made * 1e6, p.made / p.walk, (double)out.len / (double)page->len);
    return p;
}

/* A picture of straight lines, if all is well. */
static void plot(const char *path, const struct point *p, size_t n)
{
    enum { WIDTH = 640, HEIGHT = 400, LEFT = 70, BOTTOM = 50, TOP = 30 };
    double x_max = p[n - 1].bytes, y_max = p[n - 1].made;
    FILE *f = fopen(path, "w");

    CHECK(f);
    for (size_t i = 0; i < n; i++)
        y_max = p[i].walk > y_max ? p[i].walk : p[i].made > y_max ? p[i].made : y_max;
    double sx = (WIDTH - LEFT - 20) / x_max, sy = (HEIGHT - TOP - BOTTOM) / y_max;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<text x=\"%d\" y=\"18\">HTML to digest, by size of the page (CPU time)</text>\n"
            "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"black\"/>\n",
            WIDTH, HEIGHT, LEFT, LEFT, TOP, HEIGHT - BOTTOM, WIDTH - 20);
    for (int i = 0; i <= 4; i++)
        fprintf(f,
                "<text x=\"%.0f\" y=\"%d\" text-anchor=\"middle\">%.1f MB</text>\n"
                "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">%.0f ms</text>\n",
                LEFT + x_max * sx * i / 4, HEIGHT - BOTTOM + 18, x_max * i / 4 / 1e6, LEFT - 6,
                HEIGHT - BOTTOM - y_max * sy * i / 4 + 4, y_max * i / 4 * 1e3);
    for (int line = 0; line < 2; line++) {
        fprintf(f, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"",
                line ? "#1f77b4" : "#999999");
        for (size_t i = 0; i < n; i++)
            fprintf(f, "%.1f,%.1f ", LEFT + p[i].bytes * sx,
                    HEIGHT - BOTTOM - (line ? p[i].made : p[i].walk) * sy);
        fprintf(f, "\"/>\n<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", LEFT + 20,
                TOP + 20 + 16 * line, line ? "#1f77b4" : "#777777",
                line ? "Vigil: page to digest" : "libxml2: SAX walk, nothing kept");
    }
    fprintf(f, "</svg>\n");
    CHECK(fclose(f) == 0);
}

static bool read_file(const char *path, struct buf *out)
{
    char chunk[65536];
    size_t n;
    FILE *f = fopen(path, "rb");

    if (!f)
        return false;
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0)
        buf_append(out, chunk, n);
    fclose(f);
    return out->len > 0;
}

static void head(void)
{
    printf("%10s %13s %13s %13s %7s %12s\n", "body", "", "SAX walk", "digest", "ratio",
            "digest/body");
}

/* For a profiler: nothing but parses. */
static void parse_only(void)
{
    BUF(page, 1 << 26);

    doc_page(&page, KIND_PAGE, (struct doc_edits){.script = 1});
    for (unsigned i = 0; i < 50 * ROUNDS; i++) {
        BUF(out, PAGE_DIGEST_MAX);
        digest(&page, &out);
    }
}

/* For a profiler: nothing but comparing, all types or one. */
static void changed_only(const char *type, unsigned rounds)
{
    SCRATCH struct arena *life = arena_new(NULL, "bench");
    CLEANUP(sample_done) struct sample old = {.page = {.max = 1 << 26}};
    CLEANUP(sample_done) struct sample edited = {.page = {.max = 1 << 26}};
    size_t asked;
    struct cdg *g =
            ask(life, type && strcmp(type, "all") != 0 ? cdg_kind_find(type) : -1, &asked);

    doc_page(&old.page, KIND_PAGE, (struct doc_edits){.script = 1});
    doc_page(&edited.page, KIND_PAGE, (struct doc_edits){.script = 2, .every = 125});
    sample_finish(&old, life, 1);
    sample_finish(&edited, life, 2);
    for (unsigned i = 0; i < rounds; i++)
        compare(g, &old.version, &edited.version);
}

int main(int argc, char **argv)
{
    static const unsigned sections[] = {5, 50, 250, 500, 1000, 2000, 3000, 4000, 5600};
    struct point points[countof(sections)];
    const char *svg = argc == 3 && strcmp(argv[1], "--svg") == 0 ? argv[2] : NULL;

    page_start();
    if (argc == 2 && strcmp(argv[1], "--parse") == 0) {
        parse_only();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--compare") == 0) {
        compare_table();
        return 0;
    }
    if (argc >= 2 && strcmp(argv[1], "--changed") == 0) {
        changed_only(argc > 2 ? argv[2] : NULL,
                argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 50 * ROUNDS);
        return 0;
    }
    head();
    for (int i = 1; i < argc && !svg; i++) {
        BUF(page, 1 << 26);
        if (read_file(argv[i], &page))
            measure(&page, ROUNDS);
    }
    if (argc > 1 && !svg)
        return 0;
    for (size_t i = 0; i < countof(sections); i++) {
        BUF(page, 1 << 26);
        doc_page(&page, sections[i], (struct doc_edits){.script = 1});
        points[i] = measure(&page, sections[i] > 500 ? 3 : ROUNDS / 2);
    }
    if (svg)
        plot(svg, points, countof(sections));
    compare_table();
    return 0;
}
